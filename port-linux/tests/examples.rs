//! The programs of `examples/` beside simulated KRCs, in real time: each checks its own story and says so by its exit.

use std::path::Path;
use std::process::Command;

/// A machine that does not run arms and program in time proves nothing: so often it is tried.
const ATTEMPTS: u32 = 3;

/// Runs an example until it succeeds; what it printed.
fn run(name: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_outrigger")).with_file_name("examples").join(name);
    let mut said = String::new();
    for attempt in 1..=ATTEMPTS {
        let output = Command::new(&program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return said;
        }
        println!("attempt {attempt}: {said}{}", String::from_utf8_lossy(&output.stderr));
    }
    panic!("{name} did not succeed in {ATTEMPTS} attempts; the last said:\n{said}");
}

#[test]
fn two_arms_run_a_trajectory_from_one_process() {
    let said = run("two_arms");
    assert!(said.contains("left: Arming -> Command") && said.contains("right: Arming -> Command"), "{said}");
}

#[test]
fn a_hand_that_leads_one_arm_feels_what_the_other_meets() {
    let said = run("coupled_arms");
    assert!(said.contains("the follower met"), "{said}");
}

#[test]
fn a_haptic_device_leads_an_arm_feels_its_force_and_closes_its_gripper() {
    let said = run("haptic");
    assert!(said.contains("gripper closed: true; silence: fallback; again: true"), "{said}");
}
