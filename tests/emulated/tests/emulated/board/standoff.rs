//! The whole story on each machine, judged as the program for people judges it.

use super::*;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        timed("the_closed_loop_by_rtde_holds_and_both_faults_end_in_rest_at_125_hz", BOARD, || {
            plays(Machine::An386, SLOW);
        }),
        timed("the_closed_loop_by_rtde_holds_and_both_faults_end_in_rest_at_500_hz_on_a_cortex_m7", BOARD, || {
            plays(Machine::An500, FAST);
        }),
    ]
}

fn plays(machine: Machine, software: SoftwareVersion) {
    let plan = Plan { software, span: Duration::from_secs(24), seed: 7 };
    let report = closed_loop::play(firmware(machine, software), &plan, Box::new(|_, _| {})).expect("QEMU starts");
    let failed: Vec<_> = report.failed().collect();
    assert!(failed.is_empty(), "{failed:#?}\n{:#?}", report.figures);
}
