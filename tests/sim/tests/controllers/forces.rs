//! Force mode, contact and force against a surface (`core/docs/protocol/ur-external-control.md 1.7, 5.3`).

use outrigger_sim::arm::{Drive, FREE_DAMPING, ForceOptions};
use outrigger_sim::controller::{Action, Conn, Options};
use outrigger_sim::port::Port;
use outrigger_sim::surface::Surface;

use crate::common::{Bench, ideal};

/// One software of each generation that has force mode with all its functions.
const SOFTWARE: [(u8, u8); 3] = [(3, 15), (5, 15), (10, 11)];

/// Returns a bench with a level surface this far below the tool \[m\], and a client of 30001.
fn above(software: (u8, u8), distance: f64) -> (Bench, Conn) {
    over(ideal(software.0, software.1), distance)
}

fn over(options: Options, distance: f64) -> (Bench, Conn) {
    let [x, y, z] = Bench::new(options.clone()).controller.truth().tool().position;
    let surface = Surface::new([x, y, z - distance], [0.0, 0.0, 1.0], 20_000.0, 100.0);
    let mut bench = Bench::new(Options { surface, ..options });
    let conn = bench.connect(Port::Primary);
    bench.run(10);
    (bench, conn)
}

fn start(bench: &mut Bench, conn: Conn, lines: &[&str]) {
    let body: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    bench.send(conn, &format!("def forces():\n{body}end\n"));
}

fn height(bench: &Bench) -> f64 {
    bench.controller.truth().tool().position[2]
}

const DOWN: &str = "force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,-20,0,0,0], 2, [0.1,0.1,0.15,0.3,0.3,0.3])";

#[test]
fn a_surface_is_pressed_with_the_wanted_force_on_every_generation() {
    for software in SOFTWARE {
        // With the drives' latency and lag, because they make a contact bounce.
        let (mut bench, conn) = over(Options { drive: Drive::default(), ..ideal(software.0, software.1) }, 0.004);
        start(&mut bench, conn, &[DOWN, "sleep(20)"]);
        bench.run(4_000);
        for _ in 0..50 {
            bench.run(20);
            let force = bench.controller.force().measured();
            assert!((force[2] - 20.0).abs() < 3.0, "{software:?}: {force:?}");
        }
        assert!(bench.controller.program().0, "{software:?}: {:?}", bench.told(conn));
    }
}

#[test]
fn in_free_air_a_compliant_axis_moves_no_faster_than_its_limit_and_the_others_stay() {
    let (mut bench, conn) = above((5, 15), 1.0);
    let pull = "force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,500,0,0,0], 2, [0.1,0.1,0.05,0.3,0.3,0.3])";
    start(&mut bench, conn, &[pull, "sleep(20)"]);
    bench.run(200);
    let before = bench.controller.truth().tool().to_pose();
    for _ in 0..50 {
        bench.run(10);
        let [.., speed, _, _, _] = bench.controller.truth().tool_speed();
        assert!(speed < 0.0501, "{speed} m/s");
    }
    let after = bench.controller.truth().tool().to_pose();
    assert!((after[2] - before[2] - 0.025).abs() < 1e-3, "half a second at 0.05 m/s: {}", after[2] - before[2]);
    assert!((0..2).all(|axis| (after[axis] - before[axis]).abs() < 1e-4), "{before:?} became {after:?}");
}

/// Returns the motion in free air under 10 N upwards in 0.6 s \[m\], by the damping option \[N·s/m\].
fn yielded_in_free_air(software: (u8, u8), free_damping: f64) -> f64 {
    let options = ideal(software.0, software.1);
    let force = ForceOptions { free_damping, ..options.force };
    let (mut bench, conn) = over(Options { force, drive: Drive::default(), ..options }, 1.0);
    let before = height(&bench);
    let up = "force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,10,0,0,0], 2, [2,2,1.5,1,1,1])";
    start(&mut bench, conn, &[up, "sleep(0.6)"]);
    bench.run(1_500);
    height(&bench) - before
}

#[test]
fn in_free_air_ten_newtons_move_the_arm_as_far_as_the_damping_lets_them() {
    for software in SOFTWARE {
        let by_default = yielded_in_free_air(software, FREE_DAMPING);
        assert!((0.025..0.035).contains(&by_default), "{software:?}: {by_default} m");
        let damped = yielded_in_free_air(software, 2.0 * FREE_DAMPING);
        assert!((damped / by_default - 0.5).abs() < 0.03, "{software:?}: {damped} m of {by_default} m");
    }
}

#[test]
fn force_mode_ends_with_its_program_and_the_arm_stays() {
    let (mut bench, conn) = above((5, 15), 0.5);
    start(&mut bench, conn, &[DOWN, "sleep(0.5)"]);
    bench.run(1_000);
    assert!(!bench.controller.program().0);
    let before = height(&bench);
    bench.run(1_000);
    assert!((height(&bench) - before).abs() < 1e-5, "{} m", height(&bench) - before);
}

#[test]
fn force_mode_acts_while_a_move_runs_and_takes_its_axis_from_it() {
    let (mut bench, conn) = above((5, 15), 0.002);
    start(&mut bench, conn, &[DOWN, "sleep(2)", "speedj([0.1,0,0,0,0,0], 1, 2)", "sleep(20)"]);
    bench.run(2_100);
    let turned = bench.controller.truth().q[0];
    for _ in 0..15 {
        bench.run(100);
        let force = bench.controller.force().measured();
        assert!((force[2] - 20.0).abs() < 3.0, "{force:?}");
    }
    assert!(bench.controller.truth().q[0] - turned > 0.13, "it turned by {}", bench.controller.truth().q[0] - turned);
}

#[test]
fn damping_and_gain_scaling_slow_the_arm_down_and_outlast_the_program() {
    let moved = |setting: &str| {
        let (mut bench, conn) = above((5, 15), 0.5);
        start(&mut bench, conn, &[setting]);
        bench.run(100);
        let before = height(&bench);
        start(&mut bench, conn, &[DOWN, "sleep(1)"]);
        bench.run(1_000);
        before - height(&bench)
    };
    let plain = moved("sync()");
    assert!(moved("force_mode_set_damping(1)") < 0.2 * plain, "of {plain}");
    let halved = moved("force_mode_set_gain_scaling(0.5)");
    assert!((halved / plain - 0.5).abs() < 0.05, "{halved} of {plain}");
}

#[test]
fn wrong_arguments_of_force_mode_end_the_program_with_a_position() {
    for (line, says) in [
        ("force_mode(p[0,0,0,0,0,0],[0,0,1,0,0,0],[0,0,1,0,0,0],4,[1,1,1,1,1,1])", "type 4 is none of 1, 2, 3"),
        ("force_mode([0,0,0,0,0,0],[0,0,1,0,0,0],[0,0,1,0,0,0],2,[1,1,1,1,1,1])", "type_error:force_mode"),
        ("force_mode_set_damping(1.5)", "1.5 is not within 0 and 1"),
        ("force_mode_set_gain_scaling(-1)", "-1 is not within 0 and 2"),
    ] {
        let (mut bench, conn) = above((5, 15), 0.5);
        start(&mut bench, conn, &[line]);
        bench.run(200);
        let told = bench.told(conn);
        assert!(told.iter().any(|text| text.contains(says)), "{line}: {told:?}");
    }
}

#[test]
fn tool_contact_says_how_long_ago_it_began() {
    let (mut bench, conn) = above((5, 15), 0.01);
    start(
        &mut bench,
        conn,
        &[
            "textmsg(\"before=\", tool_contact([0,0,-1,0,0,0]))",
            DOWN,
            "while tool_contact([0,0,-1,0,0,0]) == 0:",
            "  sync()",
            "end",
            "textmsg(\"below=\", tool_contact([0,0,-1,0,0,0]))",
            "textmsg(\"above=\", tool_contact([0,0,1,0,0,0]))",
            "textmsg(\"any=\", tool_contact())",
        ],
    );
    bench.run(4_000);
    let told = bench.told(conn);
    let steps = |name: &str| -> i32 {
        let text = told.iter().find_map(|text| text.split_once(name).map(|(_, steps)| steps.to_owned()));
        text.and_then(|steps| steps.trim().parse().ok()).unwrap_or_else(|| panic!("{name} in {told:?}"))
    };
    assert_eq!((steps("before="), steps("above=")), (0, 0));
    assert!((1..100).contains(&steps("below=")), "{told:?}");
    assert_eq!(steps("any="), steps("below="));
}

#[test]
fn zeroing_the_sensor_moves_what_programs_read() {
    let (mut bench, conn) = above((5, 15), 0.5);
    bench.controller.act(Action::Push([0.0, 3.0, 4.0, 0.0, 0.0, 0.0]));
    start(&mut bench, conn, &["textmsg(\"f=\", force())", "zero_ftsensor()", "textmsg(\"g=\", force())"]);
    bench.run(200);
    let told = bench.told(conn);
    assert!(told.iter().any(|text| text.contains("f=5")) && told.iter().any(|text| text.contains("g=0")), "{told:?}");
}

#[test]
fn a_program_that_stops_itself_goes_on_when_the_operator_lets_it() {
    for software in SOFTWARE {
        let (mut bench, conn) = above(software, 0.5);
        start(&mut bench, conn, &["protective_stop()", "textmsg(\"went on\")", "sleep(5)"]);
        bench.run(200);
        assert!(!bench.controller.robot().may_move() && bench.controller.program() == (true, true), "{software:?}");
        bench.run(6_000);
        bench.controller.act(Action::UnlockProtectiveStop);
        bench.controller.act(Action::ResumeProgram);
        bench.run(200);
        assert!(bench.told(conn).iter().any(|text| text.contains("went on")), "{software:?}");
    }
}

/// The statements with which a tested program may continue when a move was followed by force mode in free air. None of
/// them may send the arm back to the end of the move.
const AFTER_A_MOVE: [&[&str]; 5] = [
    &["end_force_mode()"],
    &["force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,-10,0,0,0], 2, [2,2,1.5,1,1,1])", "sleep(0.3)"],
    &["movel(pose_add(get_actual_tcp_pose(), p[0.02,0,0,0,0,0]), 0.5, 0.1)"],
    &["freedrive_mode()", "sleep(0.1)", "end_freedrive_mode()"],
    &["end_force_mode()", "q = get_actual_joint_positions()", "servoj(q, 0, 0, 0.1, 0.1, 300)"],
];

#[test]
fn force_mode_after_a_move_ends_and_begins_again_where_the_arm_is() {
    for software in SOFTWARE {
        let (major, minor) = software;
        for moved in ["movej(q, 1, 1)", "movel(pose_add(get_actual_tcp_pose(), p[0,0,0.02,0,0,0]), 0.5, 0.1)"] {
            for next in AFTER_A_MOVE {
                let (mut bench, conn) = over(Options { drive: Drive::default(), ..ideal(major, minor) }, 1.0);
                let begin = ["q = get_actual_joint_positions()", "q[0] = q[0] + 0.1", moved, DOWN, "sleep(0.6)"];
                start(&mut bench, conn, &[begin.as_slice(), next, &["sleep(1)", "textmsg(\"over\")"]].concat());
                bench.run(1_000);
                let before = height(&bench);
                bench.run(4_000);
                let told = bench.told(conn);
                let case = format!("{software:?}, {moved}, {next:?}: {told:?}");
                assert!(bench.controller.robot().may_move(), "{case}");
                assert!(told.iter().any(|text| text.contains("over")), "{case}");
                assert!(height(&bench) < before + 0.05, "{case}: it went back to where the move had ended");
            }
        }
    }
}

#[test]
fn force_mode_that_is_renewed_in_every_cycle_keeps_the_arm_where_it_yielded() {
    for software in SOFTWARE {
        let (mut bench, conn) = above(software, 1.0);
        let lines = [
            "movej(get_actual_joint_positions(), 1, 1)",
            "n = 0",
            "while n < 250:",
            "  force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,-10,0,0,0], 2, [2,2,1.5,1,1,1])",
            "  sync()",
            "  n = n + 1",
            "end",
            "textmsg(\"down\")",
            "sleep(0.5)",
            "end_force_mode()",
            "sleep(1)",
        ];
        start(&mut bench, conn, &lines);
        let before = height(&bench);
        bench.run(1_200);
        let down = height(&bench);
        bench.run(3_000);
        assert!(bench.controller.robot().may_move(), "{software:?}: {:?}", bench.told(conn));
        assert!(
            down < before - 1e-3 && height(&bench) < down + 1e-3,
            "{software:?}: {before}, {down}, {}",
            height(&bench)
        );
    }
}

#[test]
fn torques_in_force_mode_begin_where_the_arm_has_yielded_to() {
    let (mut bench, conn) = above((5, 25), 1.0);
    let first = height(&bench);
    start(&mut bench, conn, &[DOWN, "sleep(0.6)", "direct_torque([0,0,0,0,0,0])", "sleep(0.5)"]);
    bench.run(600);
    let before = height(&bench);
    bench.run(300);
    assert!(bench.controller.robot().may_move(), "{:?}", bench.told(conn));
    let (yielded, then) = (first - before, before - height(&bench));
    assert!(then < 0.75 * yielded, "{yielded} m in 0.6 s, and {then} m in the next 0.3 s");
}
