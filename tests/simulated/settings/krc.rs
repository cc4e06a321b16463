//! The rows of settings that show in a run with a KRC.

use outrigger_core::command::outputs::{VariableValue, Write};
use outrigger_core::engine::Input;
use outrigger_sim::krc::{Convention, Options};
use outrigger_wire::fri::ControlScheme;

use super::laws::ADDS;
use super::process::SWING;
use super::row::Row;
use super::scenes::{KRC_CALM, KrcScene};

const fn row(key: &'static str, value: &'static str, scene: KrcScene, shows: &'static str) -> Row<KrcScene> {
    Row { key, value, file: SWING, beside: "", scene, shows }
}

const TORQUES: &str = "law.expert.sensor_adds = \"torques\"";
const WRENCH: &str = "law.expert.sensor_adds = \"wrench\"; robot.expert.control = \"tool-impedance\"";

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

/// The settings that only a configuration file for a KRC has, and the others that change a run with a KRC, each with a
/// run in which its effect shows.
pub(crate) const ROWS: &[Row<KrcScene>] = &[
    row("robot.peer", "\"192.0.2.7\"", KRC_CALM, "Foreign"),
    row("robot.handshake", "\"isir\"", KRC_CALM, "Monitor"),
    row("robot.expert.control", "\"joint-impedance\"", STIFF, "Scheme"),
    row("robot.expert.stiffness", "300", STIFF, "Command").beside("robot.expert.control = \"joint-impedance\""),
    row("robot.expert.damping", "0.3", STIFF, "Command").beside("robot.expert.control = \"joint-impedance\""),
    row("robot.expert.torque", "5", STIFF, "Command").beside("robot.expert.control = \"joint-impedance\""),
    row("robot.expert.wrench", "5", SOFT_TOOL, "Command").beside("robot.expert.control = \"tool-impedance\""),
    row("robot.expert.left_to_krl", "[\"stiffness\"]", STIFF, "Command")
        .beside("robot.expert.control = \"joint-impedance\"; robot.expert.stiffness = 300"),
    row("robot.expert.superpose", "true", STRIDES, "Arming"),
    row("robot.expert.mirrored_frame", "\"measured\"", RESUMED, "Command")
        .beside("robot.expert.control = \"tool-impedance\""),
    row("robot.expert.task_frame", "\"tool\"", SOFT_TOOL, "Command")
        .beside("robot.expert.control = \"tool-impedance\""),
    row("robot.expert.silence", "0.3", QUIET150, "Silent"),
    row("variable[].expert.at", "\"bool.16\"", KRC_CALM, "Monitor")
        .beside("variable[].expert.at = \"bool.15\"; variable[].expert.start = true"),
    row("variable[].expert.start", "true", KRC_CALM, "Monitor").beside("variable[].expert.at = \"bool.16\""),
    row("variable[].expert.echoed", "true", SET, "Output").beside("variable[].expert.at = \"bool.12\""),
    row("limits.position_min", "[0.15, -2, -2, -2, -2, -2, -2]", KRC_CALM, "PositionLimit"),
    row("limits.position_max", "[0.25, 2, 2, 2, 2, 2, 2]", KRC_CALM, "PositionLimit"),
    row("limits.acceleration", "0.8", KRC_CALM, "Command"),
    row("limits.expert.braking", "0.1", KRC_CALM, "PositionLimit")
        .beside("limits.position_max = [0.35, 2, 2, 2, 2, 2, 2]"),
    row("limits.expert.reaction", "1.0", KRC_CALM, "PositionLimit")
        .beside("limits.position_max = [0.31, 2, 2, 2, 2, 2, 2]"),
    row("limits.expert.tracking_error", "0.002", STIFF, "TrackingError")
        .beside("robot.expert.control = \"joint-impedance\""),
    row("limits.expert.tool_tracking_error", "0.001", SOFT_TOOL, "TrackingError")
        .beside("robot.expert.control = \"tool-impedance\""),
    row("limits.expert.tool_turn_tracking_error", "0.001", SOFT_TOOL, "TrackingError")
        .beside("robot.expert.control = \"tool-impedance\""),
    row("limits.expert.added_torque", "2.0", STIFF, "Command").of(ADDS).beside(TORQUES),
    row("limits.expert.added_wrench", "2.0", SOFT_TOOL, "Command").of(ADDS).beside(WRENCH),
    row("limits.expert.added_rise", "5.0", STIFF, "Command")
        .of(ADDS)
        .beside("law.expert.sensor_adds = \"torques\"; limits.expert.added_torque = 6"),
    row("law.expert.sensor_adds", "\"torques\"", STIFF, "Command").of(ADDS).beside("law.expert.sensor_gain = 1"),
    row("session.expert.entry", "\"Perfect\"", LOSS, "GradeLow"),
    row("session.expert.margin", "0.002", LATE3, "StateStale"),
    row("session.expert.good_cycles", "300", KRC_CALM, "Command"),
    row("session.expert.state_timeout", "0.2", QUIET150, "StateStale")
        .beside("session.expert.stale_after = 0.5; session.expert.max_misses = 1000"),
    row("session.expert.stop_timeout", "1.0", LATE3, "StopTimeout"),
    row("session.expert.acceptance_unknown", "true", ISIR, "Command"),
    row("session.expert.require_remote", "true", KRC_CALM, "EvidenceMissing"),
    row("session.expert.rise_time", "1.0", KRC_CALM, "Samples"),
    row("session.expert.leak_ppm", "10000", LATE3, "StateStale"),
    row("session.expert.grade.ok.misses", "0", LOSS, "").beside("session.expert.grade.perfect.misses = 0"),
    row("session.expert.grade.ok.jitter", "0.0001", JITTER, "").beside("session.expert.grade.perfect.jitter = 0.0001"),
    row("standstill.expert.window", "1.0", RELEASED, ""),
    row("operator.expert.request_input", "0", BITS, ""),
];
