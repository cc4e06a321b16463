//! An operator at the robot's digital inputs.

use super::bench::Bench;
use crate::mode::Mode;
use crate::robot::Reason;
use crate::session::{Config, Event, Input, LinkId, OperatorInputs};
#[cfg(feature = "postcard")]
use crate::time::Duration;

const REQUEST: u64 = 1;
const ACKNOWLEDGE: u64 = 1 << 17;

fn config() -> Config {
    Config { operator: OperatorInputs { request: Some(0), acknowledge: Some(17) }, ..Config::default() }
}

fn ready(major: u8, minor: u8) -> Bench {
    Bench::ready_with(major, minor, config())
}

/// The arm is in motion, and the request input is still high.
fn moving() -> Bench {
    let mut bench = ready(5, 15);
    press(&mut bench, REQUEST);
    bench.run_until(12_000, |b| b.engine.mode() == Mode::Command);
    bench.run(500);
    bench
}

fn press(bench: &mut Bench, levels: u64) {
    bench.peer.digital_inputs = levels;
    bench.run(50);
}

fn stale(bench: &mut Bench) {
    bench.stalled = true;
    bench.run(120);
    bench.stalled = false;
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Monitor);
    bench.run_until(5_000, |b| b.unmet() == [Reason::Latched]);
}

#[test]
fn a_rising_input_arms_every_generation() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15)] {
        let mut bench = ready(major, minor);
        press(&mut bench, REQUEST);
        assert_eq!(bench.engine.mode(), Mode::Arming, "{major}.{minor}");
        press(&mut bench, 0);
        assert_eq!(bench.engine.mode(), Mode::Arming, "letting go takes nothing back");
    }
}

#[test]
fn an_input_that_is_nobodys_asks_for_nothing() {
    let mut bench = ready(5, 15);
    press(&mut bench, !(REQUEST | ACKNOWLEDGE));
    assert_eq!((bench.engine.mode(), bench.transitions().len()), (Mode::Monitor, 1));
    let mut without = Bench::ready(5, 15);
    press(&mut without, u64::MAX);
    assert_eq!(without.engine.mode(), Mode::Monitor);
}

#[test]
fn high_at_boot_and_at_every_connection_is_no_request() {
    let mut bench = Bench::new(5, 15, config());
    bench.peer.digital_inputs = REQUEST;
    bench.input(Input::Start);
    bench.run_until(10_000, |b| b.engine.mode() == Mode::Monitor && b.unmet().is_empty());
    bench.run(1_000);
    press(&mut bench, 0);
    bench.close(LinkId::REALTIME);
    bench.peer.digital_inputs = REQUEST;
    bench.run_until(10_000, |b| b.engine.mode() == Mode::Monitor && b.unmet().is_empty());
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    press(&mut bench, 0);
    press(&mut bench, REQUEST);
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn high_across_a_fallback_is_no_request_and_an_acknowledgement_is_none_either() {
    let mut bench = moving();
    stale(&mut bench);
    let fallen = bench.transitions().len();
    press(&mut bench, REQUEST | ACKNOWLEDGE);
    assert_eq!(bench.engine.latch(), None);
    bench.run(1_000);
    assert_eq!((bench.engine.mode(), bench.transitions().len()), (Mode::Monitor, fallen), "nothing resumes by itself");
    press(&mut bench, 0);
    press(&mut bench, REQUEST);
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn a_request_before_the_acknowledgement_is_refused_and_spent() {
    let mut bench = moving();
    stale(&mut bench);
    press(&mut bench, 0);
    press(&mut bench, REQUEST);
    assert_eq!(bench.events.last(), Some(&Event::Refused(Reason::Latched)));
    press(&mut bench, REQUEST | ACKNOWLEDGE);
    bench.run(1_000);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Monitor, None));
}

#[test]
fn both_inputs_rising_in_one_state_acknowledge_only() {
    let mut bench = moving();
    stale(&mut bench);
    press(&mut bench, 0);
    press(&mut bench, REQUEST | ACKNOWLEDGE);
    bench.run(1_000);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Monitor, None));
}

#[test]
fn what_rises_while_states_do_not_arrive_is_no_request() {
    let mut bench = ready(5, 15);
    bench.stalled = true;
    bench.run(100);
    bench.peer.digital_inputs = REQUEST;
    bench.run(100);
    bench.stalled = false;
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    let refused = bench.events.iter().any(|event| matches!(event, Event::Refused(_)));
    assert!(!refused, "it was no request, so none was refused");
}

#[cfg(feature = "postcard")]
#[test]
fn the_inputs_are_replayed() {
    let mut bench = moving();
    stale(&mut bench);
    press(&mut bench, ACKNOWLEDGE);
    press(&mut bench, REQUEST);
    let replayed = bench.replay().expect("the same run");
    assert!(replayed.to.since(replayed.from) > Duration::from_millis(200));
    assert_eq!(bench.engine.mode(), Mode::Arming);
}
