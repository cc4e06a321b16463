//! The programs of `examples/` beside simulated KRCs, in real time. Each checks its own results and reports them by
//! its exit code.

use std::path::Path;
use std::process::Command;

use outrigger_emulated::clock::Clock;
use outrigger_emulated::tries::{attempt_first, in_time};
use outrigger_sim::time::SimTime;

/// Runs an example and returns its output. If it fails and this machine stood still meanwhile, the test is repeated.
fn run(name: &str) -> String {
    let program = Path::new(outrigger_system::program()).with_file_name("examples").join(name);
    let clock = Clock::start();
    let output = Command::new(&program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    in_time(clock.window(SimTime::ZERO, clock.now()), output.status.success(), || {
        format!("{name} did not succeed:\n{said}{}", String::from_utf8_lossy(&output.stderr))
    });
    said
}

#[test]
fn two_arms_run_a_trajectory_from_one_process() {
    attempt_first(|| {
        let said = run("two_arms");
        assert!(said.contains("left: Arming -> Command") && said.contains("right: Arming -> Command"), "{said}");
    });
}

#[test]
fn a_hand_that_leads_one_arm_feels_what_the_other_meets() {
    attempt_first(|| {
        let said = run("coupled_arms");
        assert!(said.contains("the follower met"), "{said}");
    });
}

#[test]
fn a_haptic_device_leads_an_arm_feels_its_force_and_closes_its_gripper() {
    attempt_first(|| {
        let said = run("haptic");
        assert!(said.contains("gripper closed: true; silence: fallback; again: true"), "{said}");
    });
}
