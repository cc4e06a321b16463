//! The time at which a call is accounted: when the answer is written, with the events or before the next input. No
//! decision, output or recording depends on it.

use super::bench::{Accounts, Bench, Sent};
use crate::engine::ur::{UrConfig, UrEvent};
use crate::engine::{Event, Input, LinkId};
use crate::mode::Mode;
use outrigger_wire::time::Duration;

const ALL: [Accounts; 3] = [Accounts::Written, Accounts::Events, Accounts::Late];

/// The time from a request until the arm is commanded \[ms\].
#[cfg(feature = "record")]
const ARMING: u64 = 700;

/// An event in the explored sequences of a session.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "record"), expect(dead_code, reason = "only recorded runs are explored with each"))]
enum Step {
    Cycles(u64),
    Request,
    Release,
    Acknowledge,
    Unacked,
    Stall(bool),
    Close,
    Safety(u8),
    Sleep,
    Shutdown,
}

#[cfg(feature = "record")]
const STEPS: [Step; 9] = [
    Step::Cycles(2),
    Step::Cycles(40),
    Step::Release,
    Step::Acknowledge,
    Step::Unacked,
    Step::Stall(true),
    Step::Close,
    Step::Safety(3),
    Step::Sleep,
];

fn take(bench: &mut Bench, step: Step) {
    match step {
        Step::Cycles(millis) => bench.run(millis),
        Step::Request => bench.request(),
        Step::Release => bench.input(Input::Release),
        Step::Acknowledge => bench.input(Input::Acknowledge),
        Step::Unacked => {
            bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 80, age: Duration::from_millis(30) });
        }
        Step::Stall(stalled) => bench.stalled = stalled,
        Step::Close => bench.close(LinkId::REALTIME),
        Step::Safety(mode) => bench.peer.safety = mode,
        Step::Sleep => {
            bench.sleep_through(40);
            bench.deliver();
        }
        Step::Shutdown => bench.input(Input::Shutdown),
    }
}

/// The results of a session on a bench: the sent texts, the events, the last mode, and the recording.
type Done = (Vec<Sent>, Vec<Event<UrEvent>>, Mode, Vec<u8>);

fn done(mut bench: Bench, steps: &[Step]) -> Done {
    steps.iter().for_each(|step| take(&mut bench, *step));
    // A late effect becomes visible in the next cycles.
    bench.run(10);
    take(&mut bench, Step::Shutdown);
    bench.run(10);
    #[cfg(feature = "record")]
    let recorded = bench.dump();
    #[cfg(not(feature = "record"))]
    let recorded = Vec::new();
    (bench.sent, bench.events, bench.engine.mode(), recorded)
}

fn accounted(mut bench: Bench, accounts: Accounts) -> Bench {
    bench.accounts = accounts;
    bench
}

/// Runs the steps on three new benches, one for each time of the engine's deferred work. Asserts that the results are
/// equal, and returns the number of sent texts.
fn compare(make: impl Fn(Accounts) -> Bench, steps: &[Step]) -> usize {
    let [written, events, late] = ALL.map(|accounts| done(make(accounts), steps));
    assert!(written == events && events == late, "{steps:?}: {:?}, {:?}, {:?}", written.2, events.2, late.2);
    #[cfg(feature = "record")]
    assert!(written.3.len() > 10_000, "{steps:?}: {} B of a recording", written.3.len());
    written.0.len()
}

#[cfg(feature = "record")]
#[test]
fn no_order_of_short_sequences_makes_a_difference() {
    let ready = Bench::ready(5, 15);
    let mut armed = ready.forked();
    armed.request();
    armed.run(ARMING);
    assert_eq!(armed.engine.mode(), Mode::Command);
    let mut sent = 0;
    for first in STEPS {
        for second in STEPS {
            for third in STEPS {
                let steps = [Step::Request, Step::Cycles(ARMING), first, second, third];
                sent += compare(|accounts| accounted(ready.forked(), accounts), &steps);
            }
        }
    }
    assert!(sent > 10_000, "{sent} texts");
}

#[test]
fn a_whole_session_is_recorded_to_the_same_bytes() {
    let makes: [fn(u8, u8, UrConfig) -> Bench; 2] = [Bench::new, Bench::with_rtde];
    for (major, minor) in [(1, 8), (3, 15), (5, 15)] {
        for make in makes {
            let make = |accounts| accounted(make(major, minor, UrConfig::default()), accounts).started().commanding();
            for steps in [
                [Step::Cycles(40), Step::Stall(true), Step::Cycles(40), Step::Stall(false)],
                [Step::Cycles(40), Step::Close, Step::Cycles(2_000), Step::Acknowledge],
                [Step::Safety(3), Step::Cycles(40), Step::Safety(1), Step::Acknowledge],
                [Step::Sleep, Step::Cycles(40), Step::Acknowledge, Step::Request],
            ] {
                assert!(compare(make, &steps) > 100, "{steps:?}");
            }
        }
    }
}

#[test]
fn a_deadline_is_due_until_the_account_is_made() {
    let mut bench = accounted(Bench::moving(5, 15), Accounts::Late);
    let before = bench.sent.len();
    while bench.sent.len() == before {
        bench.peer.cycle();
        bench.now = bench.now + Duration::from_micros(bench.peer.period());
        bench.deliver();
    }
    let now = bench.now;
    assert!(bench.engine.poll_timeout().is_some_and(|at| at < now), "an account is owed");
    #[cfg(feature = "record")]
    assert!(bench.engine.snapshot(&mut [0; 8192]).is_none(), "not before it is made");
    assert_eq!(bench.engine.poll_event(), None);
    assert!(bench.engine.poll_timeout().is_none_or(|at| at > now));
}

#[test]
fn a_lost_connection_leaves_no_answer_for_what_is_written_later() {
    let mut bench = accounted(Bench::moving(5, 15), Accounts::Late);
    let before = bench.sent.len();
    while bench.sent.len() == before {
        bench.run(1);
    }
    // The write of that text failed.
    bench.close(LinkId::REALTIME);
    let later = bench.now + Duration::from_secs(5);
    assert_eq!(bench.engine.written(later), None);
}
