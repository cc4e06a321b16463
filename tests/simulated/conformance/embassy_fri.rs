//! FRI through the stack of `port-embassy`, compared byte by byte.
//!
//! The same engine with the same simulated KRC and without a port is in `tests/simulated/fri`; `port-linux` over
//! kernel sockets is in its own tests. These tests find faults of a board's socket, mailbox and timer.

use outrigger_core::engine::Output;
use outrigger_tests::fri::receive;
use std::net::SocketAddr;
use std::time::Duration;

use outrigger_core::engine::krc::{KrcConfig, KrcEngine, KrcEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_emulated::wire::{Conditions, Loss};
use outrigger_sim::krc::Options;
use outrigger_sim::time::SimTime;
use outrigger_tests::board::KrcRig;
use outrigger_tests::fri::Swing;
use outrigger_wire::fri::{Command, FriState};
use outrigger_wire::time::Instant;

const KRC: ([u8; 4], u16) = ([10, 0, 2, 2], 49_938);
/// The highest speed of a joint that the engine's configuration permits \[rad/s\].
const HIGHEST: f64 = 1.0;
const NEARBY: Conditions = Conditions {
    delay: Duration::from_micros(100),
    jitter: Duration::ZERO,
    loss: Loss::None,
    duplicate: 0.0,
    reorder: None,
    corrupt: 0.0,
};

fn law() -> Swing {
    Swing::new(0.3, 2.0)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Creates a board with a KRC with this period \[ms\], with these faults.
fn rig(period: u64, faults: &[&str]) -> KrcRig {
    let faults = faults.iter().map(|spec| spec.parse().expect("a fault")).collect();
    let options = Options { period: millis(period), faults, ..Options::default() };
    KrcRig::new(options, KrcConfig::default(), law(), NEARBY)
}

/// Checks the properties that must hold regardless of losses: no measurement is answered twice, no command is sent
/// without a measurement, and no step is too long.
fn holds(rig: &KrcRig) {
    assert_eq!(rig.answers().unasked(), 0, "{}", rig.story());
    let steps = rig.answers().steps(HIGHEST);
    assert!(steps.looked_at > 0 && steps.longest <= 1.0, "{steps:?}\n{}", rig.story());
}

#[test]
fn each_measurement_has_one_answer_at_every_period() {
    for period in [1, 2, 5, 12] {
        let mut rig = rig(period, &[]);
        rig.command();
        let begun = rig.now();
        rig.run_for(millis(10_000));
        // The answer to the last measurement is still in transit.
        let (sent, answered) = rig.answers().between(begun, SimTime::from_micros(rig.now().as_micros() - 200));
        assert!(sent as u64 >= 10_000 / period - 1, "{period} ms: {sent} measurements");
        assert_eq!(answered, sent, "{period} ms\n{}", rig.story());
        assert_eq!((rig.mode(), rig.fallbacks()), (Mode::Command, vec![]), "{period} ms\n{}", rig.story());
        let counts = rig.counts();
        assert_eq!((counts.commands, counts.overtaken, counts.unused), (counts.measurements, 0, 0), "{period} ms");
        holds(&rig);
    }
}

#[test]
fn after_a_loss_either_way_only_an_acknowledgement_and_a_request_command_again() {
    for (way, reason) in [("up", Reason::LeftCommand), ("down", Reason::StateStale)] {
        let mut rig = rig(2, &[]);
        rig.command();
        rig.run_for(millis(1_000));
        let (from, until) = (rig.now(), rig.now() + millis(300));
        let wire = if way == "up" { &mut rig.up } else { &mut rig.down };
        wire.cut(from, until);
        rig.run_for(millis(2_000));
        assert_eq!((rig.mode(), rig.latch()), (Mode::Monitor, Some(reason)), "{way}\n{}", rig.story());
        assert_eq!(rig.fallbacks(), [reason], "{way}: nothing resumed by itself");
        rig.handle().request(rig.handle().epoch());
        rig.run_for(millis(500));
        assert_eq!(rig.mode(), Mode::Monitor, "{way}: not before an acknowledgement");
        let refused = |(at, event): &(SimTime, Event<KrcEvent>)| {
            *at > until && *event == outrigger_tests::refused(Reason::Latched)
        };
        assert!(rig.events().iter().any(refused), "{way}\n{}", rig.story());
        rig.handle().acknowledge();
        rig.run_for(millis(500));
        assert_eq!((rig.mode(), rig.latch()), (Mode::Monitor, None), "{way}: an acknowledgement asks for nothing");
        rig.command();
        rig.run_for(millis(1_000));
        assert_eq!(rig.mode(), Mode::Command, "{way}\n{}", rig.story());
        holds(&rig);
    }
}

#[test]
fn a_second_sender_is_ignored_counted_and_never_answered() {
    let mut rig = rig(1, &["second-sender@1s:5s"]);
    rig.command();
    rig.run_for(millis(8_000));
    assert_eq!((rig.mode(), rig.fallbacks()), (Mode::Command, vec![]), "{}", rig.story());
    let strangers = rig.arrived().iter().filter(|arrived| arrived.from != SocketAddr::from(KRC)).count();
    assert_eq!((strangers, rig.counts().foreign), (5_000, 5_000));
    let told = rig.events().iter().filter(|(_, event)| matches!(event, Event::Peer(KrcEvent::Foreign(_)))).count();
    assert_eq!(told, 4, "at 1, 10, 100 and 1000");
    assert!(rig.sent().iter().all(|(to, _)| *to == SocketAddr::from(KRC)), "the KRC alone is answered");
    holds(&rig);
}

#[test]
fn measurements_that_come_together_are_read_together_and_the_newest_is_answered() {
    let mut rig = rig(1, &[]);
    rig.run_for(millis(1_000));
    let (from, until) = (rig.now(), rig.now() + millis(5));
    rig.down.stall(from, until);
    let before = rig.counts();
    rig.run_for(millis(100));
    let together = rig.arrived().iter().filter(|arrived| arrived.at == until).count() as u64;
    let after = rig.counts();
    assert!(together >= 4, "{together}");
    assert_eq!(after.overtaken - before.overtaken, together - 1);
    assert_eq!(after.commands + after.overtaken + after.unused, after.measurements);
    assert_eq!(rig.answers().unasked(), 0);
}

#[test]
fn a_pulled_cable_ends_the_session_and_another_begins_when_it_is_back() {
    let mut rig = rig(2, &[]);
    rig.command();
    rig.plug(false);
    rig.run_for(millis(1_000));
    assert_eq!((rig.mode(), rig.fallbacks()), (Mode::Offline, vec![Reason::StateStale]), "{}", rig.story());
    rig.plug(true);
    rig.run_for(millis(1_000));
    assert_eq!(rig.mode(), Mode::Monitor, "nothing resumes by itself\n{}", rig.story());
    rig.command();
    holds(&rig);
}

#[test]
fn a_shutdown_rests_the_arm_and_hands_it_back_before_the_task_ends() {
    let mut rig = rig(2, &[]);
    rig.command();
    rig.run_for(millis(700));
    rig.handle().shutdown();
    rig.wait("the end of the task", KrcRig::is_finished);
    assert_eq!(rig.krc().state(), FriState::Monitor);
    assert!(rig.krc().truth().qd.iter().all(|speed| speed.abs() < 0.02), "{:?}", rig.krc().truth());
    holds(&rig);
}

/// An operator's input, with its time.
type Edge = (SimTime, Input);

/// Runs a board with a KRC over a bad network, with an operator who requests motion repeatedly. Returns the board, and
/// the operator's inputs.
fn hard_run(seed: u64) -> (KrcRig, Vec<Edge>) {
    let conditions = Conditions {
        jitter: Duration::from_micros(50),
        loss: Loss::Share(0.005),
        duplicate: 0.02,
        reorder: Some((0.002, millis(3))),
        ..NEARBY
    };
    let first_counter = 65_536_u64.wrapping_sub(seed * 900) as u16;
    let options = Options { seed, first_counter, period: millis(seed % 3 + 1), ..Options::default() };
    let mut rig = KrcRig::new(options, KrcConfig::default(), law(), conditions);
    let mut edges = vec![];
    for turn in 0..60 {
        rig.run_for(millis(100));
        let now = rig.now();
        match turn {
            40 => rig.down.cut(now, now + millis(250)),
            // Some datagrams arrive together.
            7 | 14 | 55 => rig.down.stall(now, now + millis(8)),
            _ => {}
        }
        rig.handle().acknowledge();
        let epoch = rig.handle().epoch();
        rig.handle().request(epoch);
        edges.extend([Input::Acknowledge, Input::Request(epoch)].map(|edge| (rig.now(), edge)));
    }
    rig.run_for(millis(100));
    (rig, edges)
}

/// Returns all that the engine sends if it receives the datagrams of the board in the manner of a host's loop: all
/// datagrams that wait, then a tick, with the engine's own deadlines in between. It runs on another clock.
fn host(rig: &KrcRig, edges: &[Edge]) -> Vec<(SocketAddr, Vec<u8>)> {
    const UPTIME: u64 = 123_456_789;
    let instant = |at: SimTime| Instant::from_micros(UPTIME + at.as_micros());
    let mut session = KrcEngine::new(KrcConfig::default(), law(), ()).expect("a session");
    session.handle(instant(SimTime::ZERO), Input::Start);
    let mut sent = vec![];
    let mut give = |session: &mut KrcEngine<'_, Swing>, now: Instant, input: Input| {
        session.handle(now, input);
        while let Some(output) = session.poll_output() {
            if let Output::Transmit { to: Some(to), bytes, .. } = output {
                sent.push((to, bytes.to_vec()));
            }
        }
        while session.poll_event().is_some() {}
    };
    let mut edges = edges.iter().peekable();
    for group in rig.arrived().chunk_by(|a, b| a.at == b.at) {
        let now = instant(group[0].at);
        loop {
            let edge = edges.peek().map(|(at, _)| instant(*at)).filter(|at| *at < now);
            match session.poll_timeout().filter(|due| *due < now && edge.is_none_or(|edge| *due <= edge)) {
                Some(due) => give(&mut session, due, Input::Tick),
                None if edge.is_some() => {
                    let (at, input) = edges.next().expect("seen above");
                    give(&mut session, instant(*at), *input);
                }
                None => break,
            }
        }
        for arrived in group {
            receive(&mut session, arrived.from, &arrived.bytes, now);
        }
        give(&mut session, now, Input::Tick);
    }
    sent
}

#[test]
fn a_board_sends_the_bytes_that_a_host_sends_for_the_same_datagrams() {
    let mut fallbacks = 0;
    for seed in 1..=6 {
        let (rig, edges) = hard_run(seed);
        let (board, host) = (rig.sent(), host(&rig, &edges));
        let differs = board.iter().zip(&host).position(|(board, host)| board != host);
        assert_eq!((differs, board.len()), (None, host.len()), "seed {seed}\n{}", rig.story());
        assert!(board.len() > 1_500, "seed {seed}: {}", board.len());
        let answered = |(_, bytes): &(_, Vec<u8>)| Command::new_checked(bytes).expect("a command").refl_seq_count();
        let newer = |pair: &[(_, Vec<u8>)]| answered(&pair[1]).wrapping_sub(answered(&pair[0])) as i16 > 0;
        assert!(board.windows(2).all(newer), "seed {seed}: none is answered twice, and each answer is to a newer one");
        fallbacks += rig.fallbacks().len();
    }
    assert!(fallbacks >= 6, "the wires were bad: {fallbacks}");
}
