//! States that are impossible for this arm, among good ones.

use super::bench::{Bench, Sent};
use crate::engine::Event;
use crate::engine::ur::UrConfig;
use crate::mode::Mode;
use crate::robot::Reason;

/// Runs for `cycles` of 2 ms in which the states show an arm at zero, and at rest.
fn zeros(bench: &mut Bench, cycles: u64) {
    let before = (bench.peer.q, bench.peer.qd);
    for _ in 0..cycles {
        (bench.peer.q, bench.peer.qd) = ([0.0; 6], [0.0; 6]);
        bench.run(2);
    }
    (bench.peer.q, bench.peer.qd) = before;
}

/// Returns the counts of impossible states that the engine reported.
fn counts(bench: &Bench) -> Vec<u32> {
    let count = |event: &Event<_>| if let Event::Impossible(count) = event { Some(*count) } else { None };
    bench.events.iter().filter_map(count).collect()
}

#[test]
fn a_single_one_is_as_good_as_lost_and_counted() {
    for mut bench in [Bench::moving(5, 15), Bench::with_rtde(5, 15, UrConfig::default()).started().commanding()] {
        let (from, lost) = (bench.now, bench.engine.figures(bench.now).sequence.lost);
        zeros(&mut bench, 1);
        let shown = bench.engine.state().unwrap().positions.0;
        assert!(shown[1] < -1.0, "{shown:?}");
        bench.run(200);
        assert_eq!(bench.engine.mode(), Mode::Command, "{:?}", bench.transitions());
        let figures = bench.engine.figures(bench.now);
        assert_eq!((figures.impossible, figures.sequence.lost), (1, lost + 1));
        assert_eq!(counts(&bench), [1]);
        // No output was computed from it: the base continues to turn at its pace.
        let speeds: Vec<f64> = bench.sent_since(from).iter().filter_map(|sent| Some(sent.speeds()?[0])).collect();
        assert!(speeds.len() > 90 && speeds.iter().all(|speed| (0.1..0.5).contains(speed)), "{speeds:?}");
    }
}

#[test]
fn sixty_in_a_row_end_commanding_by_their_own_reason() {
    let mut bench = Bench::moving(5, 15);
    let from = bench.now;
    zeros(&mut bench, 60);
    let ended = bench.transitions().into_iter().find(|t| t.from == Mode::Command).unwrap();
    assert_eq!(ended.reason, Some(Reason::ImpossibleState));
    assert!(ended.at.since(from).as_millis() <= 42, "{ended:?}");
    let last = bench.sent_since(from).into_iter().filter(Sent::is_moving).map(|sent| sent.at).max();
    assert!(last.is_none_or(|last| last.since(from).as_millis() <= 2), "{last:?}");
}

#[test]
fn one_false_first_state_locks_nobody_out() {
    let mut bench = Bench::new(5, 15, UrConfig::default());
    bench.input(crate::engine::Input::Start);
    for _ in 0..2_000 {
        zeros(&mut bench, 1);
        if bench.engine.state().is_some() {
            break;
        }
    }
    assert_eq!(bench.engine.state().map(|state| state.positions.0), Some([0.0; 6]), "it is the first that is used");
    bench.run(4_000);
    assert_eq!((bench.unmet(), bench.engine.state().unwrap().positions.0[1] < -1.0), (vec![], true));
    let mut bench = bench.commanding();
    // After a gap in the controller's own time as well.
    let from = bench.now;
    bench.peer.micros += 100_000;
    zeros(&mut bench, 1);
    assert!(bench.sent_since(from).iter().filter_map(Sent::speeds).all(|speeds| speeds[1..] == [0.0; 5]));
    bench.run(3_000);
    bench.input(crate::engine::Input::Acknowledge);
    bench.request();
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Command);
}

#[test]
fn a_number_that_is_none_reaches_no_law() {
    let mut bench = Bench::moving(5, 15);
    let from = bench.now;
    bench.peer.qd[3] = f64::NAN;
    bench.run(4);
    bench.peer.qd[3] = 0.0;
    bench.peer.q[3] = -1.5;
    bench.run(100);
    assert_eq!(bench.engine.mode(), Mode::Command, "{:?}", bench.transitions());
    assert!(bench.sent_since(from).iter().all(|sent| sent.speeds().is_some_and(|s| s.iter().all(|v| v.is_finite()))));
}
