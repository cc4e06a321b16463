//! Direct torques and the functions of the arm's model (`core/docs/protocol/ur-external-control.md 4.3, 5.3`).

use outrigger_sim::arm::ForceOptions;
use outrigger_sim::controller::{Conn, Options};
use outrigger_sim::port::Port;

use crate::common::{Bench, ideal};

fn started(options: Options, lines: &[&str]) -> (Bench, Conn) {
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Primary);
    let body: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    bench.send(conn, &format!("def torques():\n{body}end\n"));
    (bench, conn)
}

#[test]
fn a_torque_turns_its_joint_and_the_arm_rests_when_the_calls_end() {
    for (software, line) in [((5, 23), "direct_torque([2,0,0,0,0,0])"), ((5, 22), "torque_command([2,0,0,0,0,0])")] {
        let (mut bench, conn) =
            started(ideal(software.0, software.1), &["i = 0", "while i < 250:", line, "i = i + 1", "end", "sleep(5)"]);
        bench.run(510);
        let told = bench.told(conn);
        let qd = bench.controller.truth().qd[0];
        assert!(qd > 0.1, "{line}: {qd} rad/s, {told:?}");
        bench.run(1_000);
        assert!(bench.controller.truth().at_rest(), "{line}: {:?}", bench.controller.truth().qd);
    }
}

#[test]
fn without_friction_and_torque_the_energy_stays_for_a_second() {
    let force = ForceOptions { friction: [[0.0; 6]; 2], ..ForceOptions::default() };
    let lines = [
        "i = 0",
        "while i < 100:",
        "direct_torque([4,2,-2,0.1,0.1,0.1])",
        "i = i + 1",
        "end",
        "while True:",
        "direct_torque([0,0,0,0,0,0])",
        "end",
    ];
    let (mut bench, conn) = started(Options { force, ..ideal(5, 23) }, &lines);
    bench.run(250);
    let energy = |bench: &Bench| {
        let arm = bench.controller.truth();
        arm.dynamics().energy(&arm.q, &arm.qd, &arm.payload)
    };
    let before = energy(&bench);
    assert!(before > 0.05, "{before} J, {:?}", bench.told(conn));
    bench.run(1_000);
    let after = energy(&bench);
    assert!((after / before - 1.0).abs() < 0.01, "{before} J became {after} J");
}

#[test]
fn friction_that_is_not_made_up_for_brakes() {
    let speed = |arguments: &str| {
        let line = format!("direct_torque([12,0,0,0,0,0]{arguments})");
        let (mut bench, _) = started(ideal(5, 23), &["while True:", &line, "end"]);
        bench.run(500);
        bench.controller.truth().qd[0]
    };
    let (all, usual, none) = (
        speed(", viscous_scale=[1,1,1,1,1,1], coulomb_scale=[1,1,1,1,1,1]"),
        speed(""),
        speed(", friction_comp=False"),
    );
    assert!(all > usual && usual > none && none > 0.0, "{all}, {usual}, {none}");
}

#[test]
fn programs_read_the_model_of_the_arm() {
    let (mut bench, conn) = started(
        ideal(5, 22),
        &[
            "m = get_mass_matrix()",
            "j = get_jacobian()",
            "d = get_jacobian_time_derivative()",
            "c = get_coriolis_and_centrifugal_torques([0,-1,-1,-1,1,0],[1,0,0,0,0,0])",
            "textmsg(\"symmetric=\", norm(m[0,1] - m[1,0]) < 0.000001 and m[0,0] > 0)",
            "textmsg(\"turns=\", norm(j[5,0] - 1) < 0.000001)",
            "textmsg(\"still=\", norm(d[0,0]) < 0.000001)",
            "textmsg(\"centrifugal=\", norm(c[1]) > 0.001)",
        ],
    );
    bench.run(200);
    let told = bench.told(conn);
    for line in ["symmetric=True", "turns=True", "still=True", "centrifugal=True"] {
        assert!(told.iter().any(|text| text.contains(line)), "{line}: {told:?}");
    }
}

#[test]
fn a_joint_that_a_torque_made_too_fast_is_braked_by_the_protective_stop() {
    let (mut bench, _) = started(ideal(5, 23), &["while True:", " direct_torque([0,0,0,0,0,12])", "end"]);
    bench.run(1_500);
    let arm = bench.controller.truth();
    assert!(!bench.controller.robot().may_move() && arm.at_rest(), "{:?}", arm.qd);
}
