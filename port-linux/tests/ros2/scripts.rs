//! Scripts in a simulated PolyScope X that speak with the node beside it, and with Cyclone DDS.

use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;

use crate::cell::{Program, domain, file, judge_by, node, test};

/// A simulator on a port base that is free; that base.
fn simulator(domain: u16) -> (Program, u16) {
    for base in (56_000..60_000).step_by(50) {
        let path = file(".log");
        let log = std::fs::File::create(&path).expect("room");
        let simulator = Command::new(env!("CARGO_BIN_EXE_outrigger"))
            .args(["sim", "ur", "--software", "10.12", "--ros", "--domain", &domain.to_string()])
            .args(["--port-base", &base.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::from(log))
            .stderr(Stdio::null())
            .spawn();
        let mut simulator = Program(simulator.expect("it was built"));
        while matches!(simulator.0.try_wait(), Ok(None)) {
            if std::fs::read_to_string(&path).is_ok_and(|said| said.contains("ROS 2: scripts speak")) {
                return (simulator, base);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    panic!("no port base is free");
}

fn speak_with_others() {
    let domain = domain();
    let (_simulator, base) = simulator(domain);
    let _node = node(domain, &format!("127.0.0.1:{base}"));
    let primary = base + 2;
    let found = judge_by("judge_scripts.py", &[&domain.to_string(), &primary.to_string()], |_| {});
    assert_eq!(found["done"], "yes");
    assert!(found["refused"].contains("commands nothing"), "{found:#?}");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![test("scripts_of_a_polyscope_x_speak_with_others", &[Need::Python], speak_with_others)]
}
