//! The complete sequence of the closed loop on each machine, with the same checks as the program for users.

use super::*;

pub(crate) fn tests() -> Vec<Timed> {
    vec![timed("the_closed_loop_by_rtde_holds_and_both_faults_end_in_rest_at_125_hz", BOARD, |machine| {
        plays(machine, SLOW);
    })]
}

/// Returns the test of the closed loop at 500 Hz on a third emulated machine, a Cortex-M7. No other test runs there.
pub(crate) fn on_a_cortex_m7() -> Trial {
    let name = "the_closed_loop_by_rtde_holds_and_both_faults_end_in_rest_at_500_hz_on_a_cortex_m7";
    test(name, BOARD, move || together(name, || attempt(name, || plays(Machine::An500, FAST))))
}

fn plays(machine: Machine, software: SoftwareVersion) {
    let plan = Plan { software, span: Duration::from_secs(24), seed: 7 };
    let report = closed_loop::play(firmware(machine, software), &plan, Box::new(|_, _| {})).expect("QEMU starts");
    let failed: Vec<_> = report.failed().collect();
    assert!(failed.is_empty(), "{failed:#?}\n{:#?}", report.figures);
}
