//! Checks that for any fault and any source of states, once commanding has ended, nothing moves without a new
//! command.

use std::time::Duration;

use outrigger_core::engine::{Event, Input};
use outrigger_core::mode::Mode;
use outrigger_sim::fault::Fault;
use outrigger_tests::cosim::{Buffers, Command, REST, Rig, Setup, sim_time};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::SoftwareVersion;

use super::{ms, secs};

const SOFTWARE: [SoftwareVersion; 4] =
    [SoftwareVersion::new(3, 4), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 9), SoftwareVersion::new(5, 15)];
const SELECTORS: [&str; 6] = ["", "/30003", "/30004", "/30004/down", "/30003/up", "/30001"];
/// The number of runs of each kind of fault with each source of states.
const RUNS: u64 = 3;
/// The time from the end of commanding to rest, with the longest delay of text by a fault and the longest braking.
const BRAKED: Duration = secs(3);

/// Returns the names of all kinds of faults.
fn kinds() -> Vec<String> {
    let help = Fault::help();
    let name = |line: &str| Some(line.strip_prefix("  ")?.split_whitespace().next()?.to_owned());
    help.lines().filter_map(name).collect()
}

/// Returns a fault of this kind with its default argument, at a random place and a random time within a cycle from
/// `now` on.
fn fault(kind: &str, noise: &mut Noise, now: Duration) -> Fault {
    let micros = now.as_micros() + noise.below(20_000) as u128 + 1;
    let at = micros as f64 / 1e3;
    // A protective stop is locked for 5 s.
    let lasting = if kind == "protective-stop" { 6_000 } else { 200 + noise.below(5_000) };
    let spec = |selector: &str| format!("{kind}{selector}@{at}ms:{lasting}ms");
    let selected = Fault::parse(&spec(SELECTORS[noise.below(SELECTORS.len())]));
    selected.or_else(|_| Fault::parse(&spec(""))).or_else(|_| Fault::parse(&format!("{kind}@{at}ms"))).unwrap()
}

/// Runs a motion with one fault of this kind and another of any kind. If commanding ends, checks that the arm does not
/// move again, and that neither a request nor an acknowledgement alone starts it.
fn run(kind: &str, with_rtde: bool, seed: u64) {
    let mut noise = Noise::seeded(seed);
    let software = SOFTWARE[noise.below(SOFTWARE.len())];
    let mut buffers = if with_rtde { Buffers::with_rtde() } else { Buffers::default() };
    let mut setup = Setup::sweep(software, 0.5);
    setup.controller.seed = seed;
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    rig.run_for(secs(1));
    let kinds = kinds();
    let other = &kinds[noise.below(kinds.len())];
    let begun = rig.now();
    let faults = [kind, other.as_str()].map(|kind| fault(kind, &mut noise, Duration::from_micros(begun.as_micros())));
    faults.into_iter().for_each(|fault| rig.controller.inject(fault));
    // Too short to reach the end of the joint's range.
    rig.run_for(secs(7));
    let what = format!("{software}, rtde {with_rtde}, seed {seed}: {faults:?}\n{}", rig.record().story());
    let fell = rig.record().transitions().find(|t| t.from == Mode::Command).map(|t| sim_time(t.at));
    let Some(fell) = fell else {
        assert_eq!(rig.engine().mode(), Mode::Command, "{what}");
        return;
    };
    // The rules of the rig reject every text that moves. Here the true motion of the arm is checked; our joint is the
    // base.
    assert!(!rig.record().commands_since(fell).any(Command::moves), "{what}");
    let moved = rig.record().motion.iter().find(|motion| motion.at > fell + BRAKED && motion.qd[0].abs() > REST);
    assert!(moved.is_none(), "{moved:?} after a fall at {fell}, {what}");

    // A stop or a pause at the pendant is not a fault, and there was no request since.
    if rig.engine().latch().is_none() {
        assert!(rig.record().fallbacks().iter().all(|reason| reason.is_release()), "{what}");
        assert_eq!(rig.record().modes().iter().filter(|mode| **mode == Mode::Arming).count(), 1, "{what}");
        return;
    }

    // A request alone is rejected until an operator has acknowledged, and an acknowledgement alone moves nothing.
    rig.run_for(secs(8));
    assert!(rig.engine().latch().is_some(), "{what}");
    rig.request();
    assert!(matches!(rig.record().events.last(), Some((_, Event::Refused(_)))), "{what}");
    rig.input(Input::Acknowledge);
    rig.run_for(ms(500));
    assert!(!matches!(rig.engine().mode(), Mode::Arming | Mode::Command), "{what}");
}

fn all(with_rtde: bool) {
    for (number, kind) in (0..).zip(kinds()) {
        (0..RUNS).for_each(|run_number| run(&kind, with_rtde, number * RUNS + run_number + 1));
    }
}

#[test]
fn no_fault_leads_to_motion_without_an_acknowledge_where_states_come_over_30003() {
    all(false);
}

#[test]
fn no_fault_leads_to_motion_without_an_acknowledge_where_states_come_over_rtde() {
    all(true);
}
