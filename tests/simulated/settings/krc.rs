//! What shows each setting beside a KRC.

use outrigger_core::command::outputs::{VariableValue, Write};
use outrigger_core::engine::Input;
use outrigger_sim::krc::{Convention, Options};
use outrigger_wire::fri::ControlScheme;

use super::process::SWING;
use super::row::Row;
use super::scenes::{KRC_CALM, KrcScene};

const fn row(key: &'static str, value: &'static str, scene: KrcScene, shows: &'static str) -> Row<KrcScene> {
    Row { key, value, file: SWING, beside: "", scene, shows }
}

fn joint_impedance(options: &mut Options) {
    options.program.scheme = ControlScheme::JointImpedance;
}

fn tool_impedance(options: &mut Options) {
    options.program.scheme = ControlScheme::CartesianImpedance;
}

scenes! { KrcScene, KRC_CALM;
    STIFF "joint impedance, and somebody pushes" { faults: "hand@4500ms:2s:40", more: joint_impedance };
    SOFT_TOOL "tool impedance, and somebody pushes" { faults: "hand@4500ms:2s:40", more: tool_impedance };
    ISIR "a program of the ISIR's convention" { more: |options| options.program.convention = Convention::Isir };
    STRIDES "the program moves the arm by itself" { more: |options| {
        options.motion = ["ptp:5:5,22.9,0,-80.2,0,51.6,0", "ptp:5:0,22.9,0,-80.2,0,51.6,0"]
            .map(|step| step.parse().expect("a motion"))
            .into();
    } };
    QUIET150 "nothing for 150 ms" { faults: "silence@4500ms:150ms" };
    LOSS "measurements are lost" { faults: "drop/down@0s::3%" };
    JITTER "jitter of half a millisecond" { faults: "jitter@0s::500us" };
    LATE3 "late by 3 ms later" { faults: "delay/down@4500ms:2s:3ms" };
    RELEASED "it is released in the motion" { asks: |rig| { rig.advance(1_500); rig.input(Input::Release); } };
    RESUMED "a motion is stopped and resumed" { asks: |rig| {
        rig.advance(1_500);
        rig.input(Input::Release);
        rig.advance(1_500);
        rig.input(Input::Resume(rig.session.mode_machine().epoch()));
    }, lasts: 12 };
    SET "a variable is set" { asks: |rig| {
        rig.advance(500);
        rig.input(Input::Set(Write::Variable { index: 12, value: VariableValue::Bool(true) }));
    } };
    BITS "it is released, and the program sets truth values" { asks: |rig| {
        rig.advance(1_500);
        rig.input(Input::Release);
        rig.advance(2_000);
        rig.krc.set_inputs(0b11);
    }, lasts: 12 };
}

/// Every key that only a file for a KRC has, and those of the others that show beside one.
pub(crate) const ROWS: &[Row<KrcScene>] = &[
    row("robot.peer", "\"192.0.2.7\"", KRC_CALM, "Foreign"),
    row("robot.handshake", "\"isir\"", KRC_CALM, "Monitor"),
    row("robot.control", "\"joint-impedance\"", STIFF, "Scheme"),
    row("robot.stiffness", "300", STIFF, "Command").beside("robot.control = \"joint-impedance\""),
    row("robot.damping", "0.3", STIFF, "Command").beside("robot.control = \"joint-impedance\""),
    row("robot.torque", "5", STIFF, "Command").beside("robot.control = \"joint-impedance\""),
    row("robot.wrench", "5", SOFT_TOOL, "Command").beside("robot.control = \"tool-impedance\""),
    row("robot.left_to_krl", "[\"stiffness\"]", STIFF, "Command")
        .beside("robot.control = \"joint-impedance\"; robot.stiffness = 300"),
    row("robot.superpose", "true", STRIDES, "Arming"),
    row("robot.mirrored_frame", "\"measured\"", RESUMED, "Command").beside("robot.control = \"tool-impedance\""),
    row("robot.task_frame", "\"tool\"", SOFT_TOOL, "Command").beside("robot.control = \"tool-impedance\""),
    row("robot.silence", "0.3", QUIET150, "Silent"),
    row("variable[].at", "\"bool.16\"", KRC_CALM, "Monitor")
        .beside("variable[].at = \"bool.15\"; variable[].start = true"),
    row("variable[].start", "true", KRC_CALM, "Monitor").beside("variable[].at = \"bool.16\""),
    row("variable[].echoed", "true", SET, "Output").beside("variable[].at = \"bool.12\""),
    row("limits.position_min", "[0.15, -2, -2, -2, -2, -2, -2]", KRC_CALM, "PositionLimit"),
    row("limits.position_max", "[0.25, 2, 2, 2, 2, 2, 2]", KRC_CALM, "PositionLimit"),
    row("limits.acceleration", "0.8", KRC_CALM, "Command"),
    row("limits.braking", "0.1", KRC_CALM, "PositionLimit").beside("limits.position_max = [0.35, 2, 2, 2, 2, 2, 2]"),
    row("limits.reaction", "1.0", KRC_CALM, "PositionLimit").beside("limits.position_max = [0.31, 2, 2, 2, 2, 2, 2]"),
    row("limits.tracking_error", "0.002", STIFF, "TrackingError").beside("robot.control = \"joint-impedance\""),
    row("limits.tool_tracking_error", "0.001", SOFT_TOOL, "TrackingError").beside("robot.control = \"tool-impedance\""),
    row("limits.tool_turn_tracking_error", "0.001", SOFT_TOOL, "TrackingError")
        .beside("robot.control = \"tool-impedance\""),
    row("session.entry", "\"Perfect\"", LOSS, "GradeLow"),
    row("session.margin", "0.002", LATE3, "StateStale"),
    row("session.good_cycles", "300", KRC_CALM, "Command"),
    row("session.state_timeout", "0.2", QUIET150, "StateStale")
        .beside("session.stale_after = 0.5; session.max_misses = 1000"),
    row("session.stop_timeout", "1.0", LATE3, "StopTimeout"),
    row("session.acceptance_unknown", "true", ISIR, "Command"),
    row("session.require_remote", "true", KRC_CALM, "EvidenceMissing"),
    row("session.rise_time", "1.0", KRC_CALM, "Samples"),
    row("session.leak_ppm", "10000", LATE3, "StateStale"),
    row("session.grade.ok.misses", "0", LOSS, "").beside("session.grade.perfect.misses = 0"),
    row("session.grade.ok.jitter", "0.0001", JITTER, "").beside("session.grade.perfect.jitter = 0.0001"),
    row("standstill.window", "1.0", RELEASED, ""),
    row("operator.request_input", "0", BITS, ""),
];
