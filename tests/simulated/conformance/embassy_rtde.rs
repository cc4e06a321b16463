//! States by RTDE through the stack of `port-embassy`, checked frame by frame.

use outrigger_core::engine::ur::UrEvent;
use std::time::Duration;

use outrigger_core::engine::{Event, LinkId};
use outrigger_core::robot::Reason;
use outrigger_embassy::Buffers;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_tests::board::{Network, Segment, UrRig, Way};
use outrigger_tests::cosim::Setup;
use outrigger_wire::robot::SoftwareVersion;

const SOFTWARE: [SoftwareVersion; 2] = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
/// The smallest buffer for RTDE \[B\]: the answers to its requests, and four states.
const LEAST: usize = 512 + 4 * 432;

/// Returns a simulated board that commands a moving arm and receives states over RTDE.
fn in_motion<const REALTIME: usize, const RTDE: usize>(
    software: SoftwareVersion,
    buffers: Buffers<REALTIME, RTDE>,
) -> UrRig {
    moving(Setup::to_and_fro(software, 0.5), buffers, LinkId::RTDE)
}

/// Returns a simulated board that commands a moving arm and receives states over the link `states`.
fn moving<const REALTIME: usize, const RTDE: usize>(
    setup: Setup,
    buffers: Buffers<REALTIME, RTDE>,
    states: LinkId,
) -> UrRig {
    let mut rig = UrRig::with_buffers(setup, &Network::default(), buffers);
    rig.command();
    assert_eq!(sessions(&rig), [states]);
    rig
}

#[test]
fn every_state_by_rtde_is_answered_by_one_command_for_half_a_minute() {
    for software in SOFTWARE {
        let mut rig = in_motion(software, Buffers::with_rtde());
        let (states, texts) = (rig.commanded(), rig.record().commands.len());
        rig.run_for(Duration::from_secs(30));
        let (states, texts) = (rig.commanded() - states, rig.record().commands.len() - texts);
        let cycles = 30_000_000 / rig.controller().period().as_micros() as u64;
        assert_eq!((states, texts as u64), (cycles, cycles), "{software}");
        assert_eq!(rig.record().fallbacks(), []);
    }
}

#[test]
fn a_state_by_rtde_that_is_lost_is_sent_again_behind_three_more_and_commanding_goes_on() {
    for software in SOFTWARE {
        one_is_lost(in_motion(software, Buffers::with_rtde()));
        one_is_lost(in_motion(software, Buffers::<8192, LEAST>::of_size()));
    }
}

/// Loses one frame with RTDE data. Checks that no pause between two states is longer than four periods, and that
/// commanding continues.
fn one_is_lost(mut rig: UrRig) {
    let (at, period) = (rig.now() + Duration::from_millis(500), rig.controller().period());
    let mut lost = false;
    rig.lose(move |way, now, frame| {
        let rtde = |segment: Segment<'_>| segment.from == Port::Rtde.number() && !segment.payload.is_empty();
        let hit = !lost && way == Way::Down && now >= at && Segment::of(frame).is_some_and(rtde);
        lost |= hit;
        hit
    });
    rig.run_for(Duration::from_secs(1));
    let gaps = rig.states().windows(2).map(|pair| pair[1].since(pair[0])).filter(|gap| *gap > period * 2).collect();
    let [gap]: [Duration; 1] = Vec::try_into(gaps).expect("one gap");
    assert!(gap <= period * 4 + Duration::from_millis(1), "{gap:?}");
    assert_eq!(rig.record().fallbacks(), []);
}

#[test]
fn after_a_stall_states_go_on_and_the_board_commands_again_when_asked() {
    for software in SOFTWARE {
        // Shorter than the time for which the sockets have room, and longer.
        for stall in [60, 300].map(Duration::from_millis) {
            stalls(in_motion(software, Buffers::with_rtde()), stall, LinkId::RTDE);

            let mut without = Setup::to_and_fro(software, 0.5);
            let closed = Fault::new(FaultKind::Drop, SimTime::ZERO, None);
            without.controller.faults.push(Fault { port: Some(Port::Rtde), ..closed });
            stalls(moving(without, Buffers::with_rtde(), LinkId::REALTIME), stall, LinkId::REALTIME);
        }
    }
}

/// Stalls the network for the time `stall`, then delivers all frames for which the board has room. Checks that
/// commanding ends, that the arm rests, and that commanding begins again on request.
fn stalls(mut rig: UrRig, stall: Duration, by: LinkId) {
    let (at, period) = (rig.now(), rig.controller().period());
    let (up, down) = rig.wires();
    up.stall(at, at + stall);
    down.stall(at, at + stall);
    rig.run_for(stall + Duration::from_millis(700));

    let fallbacks = rig.record().fallbacks();
    let late = [Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged];
    assert!(matches!(fallbacks.as_slice(), [reason] if late.contains(reason)), "{stall:?}: {fallbacks:?}");
    // Expired text is dropped with its connection: delayed text moves nothing when the wire works again.
    let rest = rig.record().rest_after(at);
    assert!(
        rest.is_some_and(|rest| rest < Duration::from_millis(300)),
        "{stall:?}: {rest:?}\n{}",
        rig.record().story()
    );
    rig.wait("states go on", |rig| rig.states().last().is_some_and(|newest| rig.now().since(*newest) <= period));
    // By then standstill was measured in the present session.
    rig.run_for(Duration::from_millis(700));
    acknowledge_and_command(&mut rig);
    // Commanding ends after 40 ms, and zero velocities follow for three cycles. A stall that lasts longer ends the
    // connection as well.
    let dropped = stall > Duration::from_millis(40) + period * 3;
    assert_eq!(sessions(&rig), vec![by; 1 + usize::from(dropped)], "{stall:?}");
    if !dropped {
        // The delayed states have arrived, and theirs is the only pause.
        let pauses = rig.states().windows(2).filter(|pair| pair[1].since(pair[0]) > period * 2).count();
        assert_eq!(pauses, 1, "{stall:?}");
    }
}

#[test]
fn a_controller_that_drops_rtde_ends_commanding_and_a_new_session_takes_its_states_from_where_there_are_some() {
    for software in SOFTWARE {
        // In the first case the port is open again before the next session begins; in the second it is not.
        for (away, states) in [(100, LinkId::RTDE), (700, LinkId::REALTIME)] {
            let mut rig = in_motion(software, Buffers::with_rtde());
            let at = rig.now();
            let drop = Fault::new(FaultKind::Drop, at, Some(Duration::from_millis(away)));
            rig.peer().controller_mut().inject(Fault { port: Some(Port::Rtde), ..drop });
            rig.wait("another session", |rig| sessions(rig).len() == 2);
            assert_eq!(rig.record().fallbacks(), [Reason::LinkClosed], "{software}");
            assert!(rig.record().rest_after(at).is_some(), "{}", rig.record().story());
            assert_eq!(sessions(&rig), [LinkId::RTDE, states], "{software}, {away} ms");
            rig.run_for(Duration::from_secs(1));
            acknowledge_and_command(&mut rig);
        }
    }
}

/// Returns the link over which states were received, for each session.
fn sessions(rig: &UrRig) -> Vec<LinkId> {
    let source = |(_, event): &(SimTime, Event<UrEvent>)| match event {
        Event::Peer(UrEvent::Established(identity)) => Some(identity.states),
        _ => None,
    };
    rig.record().events.iter().filter_map(source).collect()
}

/// Checks that nothing moves until an operator has acknowledged and requested, and that every state is answered
/// afterwards.
fn acknowledge_and_command(rig: &mut UrRig) {
    let (at, latched) = (rig.now(), rig.latch());
    assert!(latched.is_some(), "{}", rig.record().story());
    rig.handle().acknowledge();
    rig.run_for(Duration::from_millis(500));
    assert_eq!(rig.record().commands_since(at).count(), 0, "{}", rig.record().story());
    rig.command();
    let (states, cycle) = (rig.commanded(), rig.controller().period());
    rig.run_for(cycle * 100);
    assert_eq!(rig.commanded() - states, 100);
}
