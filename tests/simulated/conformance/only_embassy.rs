//! Tests of `port-embassy` that need a look at single frames.

use outrigger_core::engine::ur::{LINKS, UrEvent};
use std::net::Ipv4Addr;
use std::time::Duration;

use outrigger_core::engine::ur::DownCause;
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_embassy::ConnectionFault;
use outrigger_emulated::peer::PeerOptions;
use outrigger_emulated::wire::{Conditions, Loss};
use outrigger_sim::controller::Action;
use outrigger_sim::rng::Rng;
use outrigger_tests::board::{Network, Segment, UrRig, Way};
use outrigger_tests::cosim::Setup;
use outrigger_wire::robot::SoftwareVersion;

use crate::bench::{E_SERIES, slow_turn};

const SOFTWARE: [SoftwareVersion; 3] = [SoftwareVersion::new(1, 8), SoftwareVersion::new(3, 15), E_SERIES];

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn downs(rig: &UrRig, of: LinkId) -> Vec<DownCause> {
    let cause = |(_, event): &(_, Event<UrEvent>)| match event {
        Event::Peer(UrEvent::Down { link, cause, .. }) if *link == of => Some(*cause),
        _ => None,
    };
    rig.record().events.iter().filter_map(cause).collect()
}

#[test]
fn every_state_is_answered_by_one_command_for_a_minute() {
    for software in SOFTWARE {
        let mut rig = UrRig::new(Setup::to_and_fro(software, 0.5), &Network::default());
        rig.command();
        let (states, texts) = (rig.commanded(), rig.record().commands.len());
        rig.run_for(secs(60));
        let (states, texts) = (rig.commanded() - states, rig.record().commands.len() - texts);
        let cycles = 60_000_000 / rig.controller().period().as_micros() as u64;
        assert_eq!((states, texts as u64), (cycles, cycles), "{software}");
        assert_eq!(rig.record().fallbacks(), []);
    }
}

#[test]
fn a_controller_that_waits_for_acknowledgements_is_not_kept_waiting() {
    for software in SOFTWARE {
        let peer = PeerOptions { nagle: true, ..PeerOptions::default() };
        let mut rig = UrRig::new(Setup::to_and_fro(software, 0.5), &Network { peer, ..Network::default() });
        rig.command();
        let period = rig.controller().period();
        let late = rig.states().windows(2).skip(10).filter(|pair| pair[1].since(pair[0]) != period).count();
        assert_eq!(late, 0, "{software}: states come when they are made, commanding or not");
    }
}

#[test]
fn while_commanding_one_frame_leaves_the_board_for_each_state() {
    let mut rig = UrRig::new(Setup::to_and_fro(E_SERIES, 0.5), &Network::default());
    rig.command();
    let (frames, seen) = std::sync::mpsc::channel();
    rig.lose(move |way, _, frame| {
        if let (Way::Up, Some(segment)) = (way, Segment::of(frame)) {
            frames.send((segment.to, segment.payload.len())).unwrap();
        }
        false
    });
    rig.run_for(secs(10));
    let realtime: Vec<usize> = seen.try_iter().filter(|(to, _)| *to == 30_003).map(|(_, length)| length).collect();
    assert_eq!(realtime.len(), 5_000);
    assert!(realtime.iter().all(|length| *length > 50), "each carries a command");
}

#[test]
fn the_same_seed_gives_the_same_run_over_a_bad_wire() {
    let conditions = Conditions {
        jitter: Duration::from_millis(1),
        loss: Loss::Share(0.01),
        duplicate: 0.02,
        reorder: Some((0.02, Duration::from_millis(3))),
        corrupt: 0.005,
        ..Conditions::default()
    };
    let run = |seed| {
        let mut rig = UrRig::new(Setup::to_and_fro(E_SERIES, 0.5), &Network { seed, conditions, ..Network::default() });
        rig.run_for(secs(20));
        let texts = rig.record().commands.iter().map(|command| (command.at, command.text.clone()));
        (rig.record().story(), texts.collect::<Vec<_>>())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn an_abort_resets_the_connection_and_the_next_one_comes_from_another_port() {
    let mut rig = UrRig::new(slow_turn(E_SERIES), &Network::default());
    let (frames, seen) = std::sync::mpsc::channel();
    rig.command();
    // No frame of the robot arrives for three seconds: the engine gives both links up, and reconnects.
    let until = rig.now() + secs(3);
    rig.lose(move |way, now, frame| {
        if let (Way::Up, Some(segment)) = (way, Segment::of(frame)) {
            frames.send((segment.from, segment.syn, segment.rst)).unwrap();
        }
        way == Way::Down && now < until
    });
    rig.wait("a new session", |rig| rig.record().modes().last() == Some(&Mode::Monitor));
    let segments: Vec<(u16, bool, bool)> = seen.try_iter().collect();
    let mut opened: Vec<u16> = segments.iter().filter(|(_, syn, _)| *syn).map(|(port, ..)| *port).collect();
    opened.dedup();
    let reset: Vec<u16> = segments.iter().filter(|(.., rst)| *rst).map(|(port, ..)| *port).collect();
    assert!(reset.len() >= 2, "both connections are reset, not forgotten: {segments:?}");
    assert!(opened.len() >= 2 && opened.iter().all(|port| !reset[..2].contains(port)), "{opened:?} after {reset:?}");
    let mut unique = opened.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), opened.len(), "no local port is used twice: {opened:?}");
}

#[test]
fn a_shutdown_ends_with_resets_on_the_wire() {
    let mut rig = UrRig::new(slow_turn(E_SERIES), &Network::default());
    rig.command();
    rig.handle().shutdown();
    rig.wait("the end of the task", UrRig::is_finished);
    rig.run_for(Duration::from_millis(1));
    assert_eq!(rig.controller().clients(), 0);
}

#[test]
fn a_robot_whose_stack_has_forgotten_the_connection_resets_it_and_a_new_session_follows() {
    let mut rig = UrRig::new(slow_turn(E_SERIES), &Network::default());
    rig.command();
    rig.forget_connections();
    rig.wait("a fallback", |rig| rig.mode() != Mode::Command);
    assert_eq!(rig.record().fallbacks(), [Reason::LinkClosed]);
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), Some(ConnectionFault::Reset));
    rig.wait("a new session", |rig| rig.mode() == Mode::Monitor);
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), None);
}

#[test]
fn a_wrong_address_is_told_as_no_answer_and_tried_on_with_pauses() {
    let network = Network { robot: Ipv4Addr::new(10, 0, 2, 77), ..Network::default() };
    let mut rig = UrRig::new(slow_turn(E_SERIES), &network);
    rig.run_for(secs(60));
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), Some(ConnectionFault::NoAnswer));
    let attempts = downs(&rig, LinkId::REALTIME);
    assert!(attempts.iter().all(|cause| *cause == DownCause::OpenTimeout), "{attempts:?}");
    assert!((4..20).contains(&attempts.len()), "{} attempts in a minute", attempts.len());
    assert_eq!(rig.mode(), Mode::Offline);
}

#[test]
fn an_address_outside_the_network_is_told_as_no_route() {
    let network = Network { robot: Ipv4Addr::new(192, 168, 1, 2), ..Network::default() };
    let mut rig = UrRig::new(slow_turn(E_SERIES), &network);
    rig.run_for(secs(20));
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), Some(ConnectionFault::NoRoute));
}

#[test]
fn a_closed_port_is_told_as_refused() {
    let mut rig = UrRig::new(slow_turn(E_SERIES), &Network::default());
    rig.peer().controller_mut().act(Action::Restart(secs(10)));
    rig.run_for(secs(5));
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), Some(ConnectionFault::Refused));
    assert!(downs(&rig, LinkId::REALTIME).contains(&DownCause::Refused));
    rig.wait("a session", |rig| rig.mode() == Mode::Monitor);
    assert_eq!(LINKS.map(|link| rig.handle().trouble(link)), [None; LINKS.len()]);
}

#[test]
fn a_pulled_cable_is_told_as_no_link_and_found_again_when_it_is_back() {
    let mut rig = UrRig::new(slow_turn(E_SERIES), &Network::default());
    rig.plug(false);
    rig.run_for(secs(10));
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), Some(ConnectionFault::NoLink));
    rig.plug(true);
    rig.command();
    rig.plug(false);
    rig.wait("a fallback", |rig| rig.mode() != Mode::Command);
    assert_eq!(rig.record().fallbacks().len(), 1);
    rig.run_for(secs(5));
    assert_eq!(rig.handle().trouble(LinkId::REALTIME), Some(ConnectionFault::NoLink));
    rig.plug(true);
    rig.wait("a new session", |rig| rig.mode() == Mode::Monitor);
}

/// Returns a complete IPv4 frame for the board with a random protocol and content. Only its checksums are valid.
fn stray(rng: &mut Rng) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 15, 0x52, 0x55, 0x0a, 0, 2, 2, 0x08, 0x00];
    let payload: Vec<u8> = (0..rng.up_to(64)).map(|_| rng.up_to(255) as u8).collect();
    let protocol = [1, 6, 17, rng.up_to(255) as u8][rng.up_to(3) as usize];
    let length = (20 + payload.len() as u16).to_be_bytes();
    let mut header = [0x45, 0, length[0], length[1], 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 2, 2, 10, 0, 2, 15];
    let sum = header.chunks_exact(2).fold(0_u32, |sum, pair| sum + u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let folded = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    frame.extend(header.into_iter().chain(payload));
    frame
}

#[test]
fn frames_that_mean_nothing_change_nothing() {
    let mut rig = UrRig::new(Setup::to_and_fro(E_SERIES, 0.5), &Network::default());
    rig.command();
    let (states, texts) = (rig.commanded(), rig.record().commands.len());
    let mut rng = Rng::new(1, 0);
    for _ in 0..2_000 {
        rig.deliver((0..rng.up_to(1_514)).map(|_| rng.up_to(255) as u8).collect());
        rig.deliver(stray(&mut rng));
        rig.run_for(Duration::from_millis(1));
    }
    let (states, texts) = (rig.commanded() - states, rig.record().commands.len() - texts);
    assert_eq!((states, texts), (1_000, 1_000));
    assert_eq!(rig.record().fallbacks(), []);
}
