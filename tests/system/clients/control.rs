//! Motion through ur_rtde: questions, moves, streamed speeds and positions, and jogs of its control interface.
//! [`super::contact`] has contact, guiding by hand and the ends of the control script.
//!
//! The client uploads a control script of 1100 to 1300 lines and exchanges commands and results with it through
//! registers (core/docs/protocol/ur-external-control.md 4). The tests judge the position of the arm, read over a
//! second connection, not the values that the calls return.

use outrigger_sim::tcp::Running;
use outrigger_wire::robot::SoftwareVersion;

use super::{Q, Understood, read, serve};

const MOTION: &str = "ur_rtde_control.py";
/// The tolerance for the position of the arm at rest: joint angles \[rad\] and poses \[m, rad\].
const NEAR: f64 = 1e-3;

/// The range of RTDE registers that the control script of ur_rtde reads and writes.
#[derive(Clone, Copy)]
pub(super) enum Range {
    Lower,
    Upper,
}

/// Runs one part of a Python script that uses ur_rtde against the simulated controller, and returns the values that the
/// script printed. Checks that ur_rtde could connect.
pub(super) fn part(server: &Running, range: Range, script: &str, part: &str) -> Understood {
    let frequency = (1.0 / server.controller().period().as_secs_f64()).round();
    let range = match range {
        Range::Lower => "lower",
        Range::Upper => "upper",
    };
    let understood = read(server, script, &[&frequency.to_string(), range, part]);
    understood.is("connected", &[1.0]);
    understood
}

pub(super) fn near(understood: &Understood, name: &str, truth: &[f64], tolerance: f64) {
    let found = understood.get(name);
    let same = found.len() == truth.len() && found.iter().zip(truth).all(|(a, b)| (a - b).abs() < tolerance);
    assert!(same, "{name}: {found:?} is not {truth:?} within {tolerance}");
}

/// Checks the position of the arm at rest in the printed line `name`: its first six values are the joint angles, its
/// last six the pose.
fn rests_at(understood: &Understood, name: &str, joints: Option<&[f64]>, pose: Option<&[f64]>) {
    let found = understood.get(name);
    assert_eq!(found.len(), 12, "{name}");
    for (part, truth) in [(0..6, joints), (6..12, pose)] {
        let Some(truth) = truth else { continue };
        let same = found[part.clone()].iter().zip(truth).all(|(a, b)| (a - b).abs() < NEAR);
        assert!(same, "{name}: {:?} is not {truth:?}", &found[part]);
    }
}

fn below(understood: &Understood, name: &str, limit: f64) {
    let value = understood.get(name)[0];
    assert!(value < limit, "{name}: {value} is not below {limit}");
}

pub(super) fn yes(understood: &Understood, names: &[&str]) {
    for name in names {
        assert!(understood.get(name).iter().all(|value| *value == 1.0), "{name}: {:?}", understood.get(name));
    }
}

/// Checks that ur_rtde's answers about kinematics, limits and set-up agree with the geometry of the simulated arm.
pub(super) fn answers_questions(software: SoftwareVersion, range: Range) {
    let server = serve(software);
    let told = part(&server, range, MOTION, "questions");
    let (q, pose) = (told.get("q"), told.get("pose"));
    near(&told, "q", &Q, NEAR);
    // The control script for CB3 lacks these two calls. The client would return the previous contents of the
    // registers.
    if software.at_least(5, 0) {
        told.is("step_time", &[server.controller().period().as_secs_f64()]);
        near(&told, "history", q, NEAR);
    }
    yes(&told, &["steady", "gravity", "zeroed", "payload"]);
    near(&told, "forward", pose, NEAR);
    near(&told, "inverse", q, NEAR);
    near(&told, "inverse_near", q, NEAR);
    told.is("solutions", &[1.0, 1.0, 0.0, 0.0]);
    told.is("within", &[1.0, 0.0, 1.0, 0.0]);
    assert_eq!(told.get("torques").len(), 6);
    near(&told, "tcp", &[0.0, 0.0, 0.12, 0.0, 0.0, 0.0], 1e-9);
    near(&told, "flange", pose, NEAR);
    let moved = told.get("pose_with_tcp").iter().zip(pose).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    assert!((moved - 0.12).abs() < NEAR, "the tool centre point moved by {moved} m");
    let trans = told.get("trans").iter().zip(pose).take(3).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    assert!((trans - 0.1).abs() < NEAR, "{trans} m");
    let controller = server.controller();
    assert_eq!((controller.io().payload, controller.io().payload_cog), (1.25, [0.01, 0.02, 0.03]));
}

/// Checks that ur_rtde's Jacobian is that of the simulated arm, that its mass matrix is symmetric and grows with the
/// payload, and that a torque on a joint, which its control script applies from 5.26 on, turns only that joint.
pub(super) fn knows_the_dynamics(software: SoftwareVersion) {
    let server = serve(software);
    let controller = server.controller();
    let columns = controller.truth().jacobian();
    drop(controller);
    let told = part(&server, Range::Lower, MOTION, "dynamics");
    // The client's control script writes the matrix column by column.
    near(&told, "jacobian", columns.as_flattened(), NEAR);
    near(&told, "jacobian.change", &[0.0; 36], NEAR);
    near(&told, "coriolis", &[0.0; 6], NEAR);
    near(&told, "accelerations", &[0.0; 6], NEAR);
    let (mass, loaded) = (told.get("mass"), told.get("mass.loaded"));
    for (row, column) in (0..6).flat_map(|row| (0..6).map(move |column| (row, column))) {
        let difference = mass[6 * row + column] - mass[6 * column + row];
        assert!(difference.abs() < 1e-9, "{row}, {column}: {mass:?} is not symmetric");
    }
    assert!((0..6).all(|joint| mass[7 * joint] > 0.0 && loaded[7 * joint] > mass[7 * joint]), "{mass:?} {loaded:?}");
    yes(&told, &["payload"]);
    let turned = told.get("turned");
    // The client's control script applies torques from 5.26 on, and on PolyScope X.
    assert_eq!(turned[5] > 0.05, software.major >= 10, "{turned:?}");
    assert!(turned[..5].iter().all(|joint| joint.abs() < 0.02), "{turned:?}");
}

/// Checks that every kind of move of ur_rtde ends at its goal, that lines are straight, that corners are blended, and
/// that an asynchronous move can be stopped.
pub(super) fn makes_every_move(software: SoftwareVersion, range: Range) {
    let server = serve(software);
    let told = part(&server, range, MOTION, "moves");
    let [goal, pose, line, q] = ["goal", "pose", "line", "q"].map(|name| Some(told.get(name)));
    rests_at(&told, "moveJ.at", goal, None);
    rests_at(&told, "moveJ_IK.at", goal, pose);
    rests_at(&told, "moveL.at", None, line);
    rests_at(&told, "moveL_FK.at", goal, pose);
    ["moveL.off", "moveL_FK.off"].iter().for_each(|name| below(&told, name, 0.5e-3));
    rests_at(&told, "moveL_path.at", None, Some(told.get("end")));
    let corner = told.get("moveL_path.corner")[0];
    assert!((1e-3..0.02).contains(&corner), "a blend of 20 mm passes the corner at {corner} m");
    rests_at(&told, "moveJ_path.at", goal, None);
    rests_at(&told, "movePath.at", None, Some(told.get("over")));
    assert!(told.get("movePath.passed").iter().all(|distance| *distance < 2e-3), "{:?}", told.get("movePath.passed"));
    for name in ["asyncJ", "asyncL"] {
        below(&told, &format!("{name}.returned"), 0.4);
        yes(&told, &[&format!("{name}.running"), &format!("{name}.rests"), &format!("{name}.over")]);
    }
    yes(&told, &["asyncJ_to_end", "asyncJ_to_end.over"]);
    rests_at(&told, "asyncJ_to_end.at", q, None);
}

/// Checks that the arm reaches the speeds and follows the positions that ur_rtde streams, and that both can be stopped.
pub(super) fn streams_speeds_and_positions(software: SoftwareVersion, range: Range) {
    let server = serve(software);
    let told = part(&server, range, MOTION, "speeds");
    // A real arm is slightly slower than commanded. The simulated one is slower by 0.5 %.
    near(&told, "speedJ", told.get("qd"), 0.01);
    near(&told, "speedL", told.get("xd"), 0.005);
    below(&told, "speedL.off", 1e-3);
    yes(&told, &["speedJ.rests", "servoJ.rests", "servoC.rests"]);
    below(&told, "servoJ.error", 0.02);
    let way = told.get("servoJ.way")[0];
    assert!((0.05..0.11).contains(&way), "{way} rad");
    rests_at(&told, "servoL.at", None, Some(told.get("servo_goal")));
    near(&told, "servoC.at", told.get("servoC_goal"), 0.005);
}

/// Checks that a jog of ur_rtde in the base frame moves the tool along that frame's axis, and that a jog in the tool
/// frame moves it.
pub(super) fn jogs(software: SoftwareVersion, range: Range) {
    let server = serve(software);
    let told = part(&server, range, MOTION, "jogging");
    let jogged = |name: &str| {
        let from = told.get(&format!("{name}.from"));
        let at = &told.get(&format!("{name}.at"))[6..];
        [at[0] - from[0], at[1] - from[1], at[2] - from[2]]
    };
    let [x, y, z] = jogged("jog_base");
    assert!(x.abs() < NEAR && y.abs() < NEAR && (-0.05..-0.01).contains(&z), "{x} {y} {z}");
    let way = jogged("jog_tool").iter().map(|d| d * d).sum::<f64>().sqrt();
    assert!((0.01..0.05).contains(&way), "{way}");
}
