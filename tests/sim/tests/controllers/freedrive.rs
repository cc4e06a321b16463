//! Hand guiding: freedrive and teach mode (`core/docs/protocol/ur-external-control.md 5.3`).

use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::port::Port;

use crate::common::{Bench, i32_at, ideal};

fn started(software: (u8, u8), lines: &[&str]) -> (Bench, Conn) {
    let mut bench = Bench::new(ideal(software.0, software.1));
    let conn = bench.connect(Port::Primary);
    let body: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    bench.send(conn, &format!("def guided():\n{body}end\n"));
    bench.run(200);
    (bench, conn)
}

const HAND: [f64; 6] = [0.0, 0.0, 40.0, 0.0, 0.0, 0.0];

#[test]
fn the_arm_follows_a_hand_and_stays_where_it_lets_go() {
    for (software, on) in [((3, 15), "freedrive_mode()"), ((3, 15), "teach_mode()"), ((5, 15), "freedrive_mode()")] {
        let (mut bench, _) = started(software, &[on, "sleep(60)"]);
        let before = bench.controller.truth().tool().position;
        bench.controller.act(Action::Push(HAND));
        bench.run(500);
        bench.controller.act(Action::Push([0.0; 6]));
        bench.run(500);
        let after = bench.controller.truth().tool().position;
        assert!(after[2] - before[2] > 0.02, "{on}: {before:?} became {after:?}");
        bench.run(1_000);
        let later = bench.controller.truth().tool().position;
        assert!((0..3).all(|n| (later[n] - after[n]).abs() < 1e-4), "{on}: {later:?}");
    }
}

#[test]
fn a_hand_moves_nothing_before_and_after() {
    let (mut bench, _) = started((5, 15), &["freedrive_mode()", "end_freedrive_mode()", "sleep(60)"]);
    let before = bench.controller.truth().q;
    bench.controller.act(Action::Push(HAND));
    bench.run(1_000);
    assert_eq!(bench.controller.truth().q, before);
}

#[test]
fn freedrive_ends_with_its_program() {
    let (mut bench, _) = started((5, 15), &["freedrive_mode()", "sleep(0.1)"]);
    bench.run(500);
    let before = bench.controller.truth().q;
    bench.controller.act(Action::Push(HAND));
    bench.run(500);
    assert_eq!(bench.controller.truth().q, before);
}

#[test]
fn a_hand_can_come_as_a_fault_over_time() {
    let mut options = ideal(5, 15);
    options.faults = vec!["hand@300ms:400ms:30".parse().expect("a fault")];
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Primary);
    bench.send(conn, "def guided():\n freedrive_mode()\n sleep(60)\nend\n");
    let heights = [250, 500, 200, 500].map(|millis| {
        bench.run(millis);
        bench.controller.truth().tool().position[2]
    });
    assert!(heights[0] - heights[1] > 0.02, "{heights:?}");
    assert!((heights[1] - heights[3]).abs() < 1e-3, "it stays where it was let go: {heights:?}");
}

#[test]
fn only_the_free_axes_follow() {
    let (mut bench, _) = started((5, 15), &["freedrive_mode([0,0,1,0,0,0], p[0,0,0,0,0,0])", "sleep(60)"]);
    let before = bench.controller.truth().tool().to_pose();
    bench.controller.act(Action::Push([40.0, 40.0, 10.0, 2.0, 2.0, 2.0]));
    bench.run(500);
    let after = bench.controller.truth().tool().to_pose();
    assert!((after[2] - before[2] - 0.025).abs() < 2e-3, "0.05 m/s along z: {}", after[2] - before[2]);
    assert!((0..2).all(|axis| (after[axis] - before[axis]).abs() < 1e-3), "{before:?} became {after:?}");
}

#[test]
fn a_trajectory_is_impossible_in_freedrive() {
    for on in ["freedrive_mode()", "teach_mode()"] {
        let (mut bench, conn) = started((5, 15), &[on, "movej([0,-1,-1,-1,1,0])"]);
        let told = bench.told(conn);
        assert!(told.iter().any(|text| text.contains("movej: not possible in freedrive mode")), "{told:?}");
        assert!(!bench.controller.program().0);
    }
}

/// Returns the robot mode and the byte that 30001 sends after it: from 3.0 on the control mode
/// (`core/docs/protocol/ur-client-interfaces.md 3.2, 3.13`).
fn modes(bench: &mut Bench, conn: Conn) -> (u8, u8) {
    bench.messages(conn);
    bench.run(200);
    let messages = bench.messages(conn);
    let state = messages.iter().rfind(|message| message[4] == 16).expect("a state message");
    let mut rest = &state[5..];
    while rest[4] != 0 {
        rest = &rest[i32_at(rest, 0) as usize..];
    }
    (rest[20], rest[21])
}

#[test]
fn what_gives_way_is_told_as_the_mode_that_the_software_has_for_it() {
    // RUNNING is 0 on CB2 and 7 later; only CB2 has a robot mode for hand guiding.
    const FORCE: &str = "force_mode(p[0,0,0,0,0,0],[0,0,1,0,0,0],[0,0,1,0,0,0],2,[1,1,1,1,1,1])";
    for (software, line, robot_mode, control_mode) in [
        ((1, 8), "sync()", 0, None),
        ((1, 8), "freedrive_mode()", 1, None),
        ((3, 15), "sync()", 7, Some(0)),
        ((3, 15), "teach_mode()", 7, Some(1)),
        ((5, 15), "freedrive_mode()", 7, Some(1)),
        ((5, 15), FORCE, 7, Some(2)),
        ((5, 23), "while True:\n direct_torque([0,0,0,0,0,0])\n end", 7, Some(3)),
    ] {
        let (mut bench, conn) = started(software, &[line, "sleep(60)"]);
        let told = modes(&mut bench, conn);
        assert_eq!(told.0, robot_mode, "{software:?} {line}");
        assert!(control_mode.is_none_or(|mode| mode == told.1), "{software:?} {line}: control mode {}", told.1);
    }
}

#[test]
fn the_arm_is_steady_in_position_mode_alone() {
    let (mut bench, conn) = started(
        (5, 15),
        &[
            "sleep(1)",
            "textmsg(\"before=\", is_steady())",
            "freedrive_mode()",
            "sleep(1)",
            "textmsg(\"during=\", is_steady())",
            "end_freedrive_mode()",
            "sleep(1)",
            "textmsg(\"after=\", is_steady())",
        ],
    );
    bench.run(4_000);
    let told = bench.told(conn);
    for line in ["before=True", "during=False", "after=True"] {
        assert!(told.iter().any(|text| text.contains(line)), "{line}: {told:?}");
    }
}

#[test]
fn a_program_knows_whether_its_arm_gives_way() {
    let (mut bench, conn) = started(
        (5, 15),
        &[
            "textmsg(get_freedrive_status())",
            "freedrive_mode()",
            "textmsg(get_freedrive_status())",
            "end_freedrive_mode()",
            "textmsg(get_freedrive_status())",
            "teach_mode()",
            "end_teach_mode()",
            "textmsg(get_freedrive_status())",
            "speedj([0.1,0,0,0,0,0], 1, 0.1)",
            "textmsg(\"moved\")",
        ],
    );
    bench.run(500);
    let told = bench.told(conn);
    assert_eq!(told.last().map(String::as_str), Some("moved"), "{told:?}");
    let states = &told[told.len() - 5..told.len() - 1];
    assert!(states[0] == states[2] && states[2] == states[3] && states[0] != states[1], "{told:?}");
}
