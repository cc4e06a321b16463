//! The rows of settings that show in a run with a controller of Universal Robots.

use std::num::NonZeroU32;
use std::time::Duration;

use outrigger_sim::external_control::{ExternalControl, NODE, PROGRAM};
use outrigger_sim::pendant::ProgramFile;

use super::laws::{AXES, SERVO, STANDOFF, TWIST};
use super::row::Row;
use super::scenes::{CALM, Reads, Scene, set_outputs};

/// A setting with which no command lasts long enough for a stop at the pendant to be noticed.
const UNSEEN_STOPS: &str = "session.expert.pendant_left = 50";
const SERVOJ: &str = "session.path = \"reverse-servoj\"";
const FETCHED: &str = "session.path = \"reverse-servoj\"; program.expert.by = \"urcap\"";
const EXTERNAL: &str = "session.path = \"external-control\"";
const TORQUES: &str = "session.path = \"reverse-torque\"";

const fn row(key: &'static str, value: &'static str, scene: Scene, shows: &'static str) -> Row<Scene> {
    Row { key, value, file: SERVO, beside: "", scene, shows }
}

scenes! { Scene, CALM;
    MUTED "its texts are ignored" { first: "mute@0s" };
    OLD "a controller of 3.1" { software: "3.1" };
    UNSEEN "no 30001 and 30002, on 3.0" { software: "3.0", first: "drop/30001@0s:90s drop/30002@0s:90s" };
    LONE "no 30001 and 30002" { first: "drop/30001@0s:90s drop/30002@0s:90s" };
    OLDER "a controller of 3.15" { software: "3.15" };
    NEWER "a controller of 5.23" { software: "5.23" };
    FOREIGN "another program runs" { first: "foreign-program@0s" };
    JITTER "jitter of 3 ms" { first: "jitter@0s::3ms" };
    JITTER1 "jitter of 1 ms" { first: "jitter@0s::1ms" };
    LATE "late by 3 ms later" { then: "delay@1s:2s:3ms" };
    LATE20 "late by 20 ms later" { then: "delay@1s:2s:20ms" };
    VERY_LATE "states are late by 150 ms later" { then: "delay/30004@1s:3s:150ms" };
    STOPPED "its program is stopped at the pendant" { then: "stop@1000.7ms" };
    FLICKERS "its program flickers once, and is stopped at the pendant" { more: |options| options.flicker = NonZeroU32::new(150), then: "stop@1000.7ms" };
    STALL30 "nothing for 30 ms" { then: "stall@1s:30ms" };
    STALL5 "nothing for five seconds" { then: "stall@1s:5s", goes_on: 9 };
    STALL5_UP "outputs are set, and nothing of ours arrives for five seconds" { then: "stall/30003/up@3s:5s", asks: |rig| {
        rig.run_for(Duration::from_secs(1));
        rig.input(outrigger_core::engine::Input::Release);
        rig.run_for(Duration::from_millis(2_500));
        set_outputs(rig);
    }, goes_on: 6 };
    SKIP "every tenth cycle is missing" { then: "skip@1s:3s:10" };
    SKIP20 "every 20th cycle is missing" { first: "skip@0s:8s:20" };
    COALESCE "four states at once" { first: "coalesce@0s::4" };
    JUMP "its clock jumps by 2 s" { then: "clock-jump@1s::2s" };
    SLIDER "the slider goes down and up" { then: "slider@1s:1s:20%" };
    CABLE "the cable is out for a while" { asks: |rig| { rig.run_for(Duration::from_secs(1)); rig.cut_cable(Some(Duration::from_secs(8))); }, goes_on: 12 };
    CB2_SLIDER "the slider goes down and up on 1.8" { software: "1.8", then: "slider@1s:1s:20%" };
    NO_PRIMARY "30001 falls silent before it is asked" { software: "3.1", first: "stall/30001@1s:60s" };
    STALL_FIRST "nothing for five seconds before it is asked" { first: "stall@300ms:5s" };
    CLEARED "a fallback, and a button for it" { then: "stall@2s:100ms digital-input@7s:200ms:1", asks: |rig| { rig.run_for(Duration::from_secs(8)); rig.request(); } };
    DEAF_AFTER_SLIDER "its texts are ignored after the slider went down and up" { then: "slider@1s:1s:5% mute@2100ms" };
    DROPS "connections are closed twice" { then: "drop@1s:3s drop@14s:3s", goes_on: 24 };
    DEAF "its texts are ignored for 70 ms" { then: "mute@1s:70ms" };
    LOCAL "local control" { then: "local@1s" };
    REFUSED "connections are refused" { first: "drop@0s:12s" };
    SILENT "nothing is ever answered" { first: "stall@0s:12s" };
    GAPS "a sensor with gaps" { reads: Reads::Gaps, goes_on: 8 };
    WILD "a sensor that jumps" { reads: Reads::Wild, goes_on: 8 };
    FROZEN "a sensor that freezes" { reads: Reads::Frozen, goes_on: 9 };
    APART "values that are not the same" { reads: Reads::Apart };
    OVER "over a workpiece" { reads: Reads::Distance, goes_on: 8 };
    SLIDER0 "the slider goes to zero for three seconds" { then: "slider@1s:3s:0" };
    SLIDER_CREEPS "the slider goes to zero and comes to a hair above it" { then: "slider@1s:500ms:0 slider@1500ms:1s:1.5%" };
    SLIDER_HAIR "the slider goes to a hair above zero" { then: "slider@1s:2s:1.5%" };
    RESTS "the limiter reads 0 while the arm rests" { more: |options| options.limiter_rests = true };
    RESTS_ON "the limiter reads 0, and the arm rests" { more: |options| options.limiter_rests = true, then: "mute@1us" };
    LINES "a line is held, let go and held again" {
        then: "digital-input@1s:3s:0 digital-input@6s:3s:0",
        asks: |rig| {
            rig.run_for(Duration::from_millis(5_500));
            rig.request();
        },
        goes_on: 8
    };
    SETS "outputs are set" { asks: set_outputs };
    RELEASES "it is released in the motion" { asks: |rig| { rig.run_for(Duration::from_secs(1)); rig.input(outrigger_core::engine::Input::Release); } };
    RESUMES "a motion is stopped and resumed" { asks: |rig| {
        rig.run_for(Duration::from_secs(1));
        rig.input(outrigger_core::engine::Input::Release);
        rig.run_for(Duration::from_secs(2));
        rig.resume();
    }, goes_on: 6 };
    URCAP "a program of the pendant with the node of the URCap is played" { more: |options| {
        let script = format!("def program():\n {NODE}\nend\n");
        options.files.programs.push(ProgramFile { script, ..ProgramFile::named(PROGRAM) });
        options.external_control = Some(ExternalControl { host: "192.168.56.1".into(), port: ExternalControl::PORT });
    } };
    URCAP_PAUSED "the same, and it is paused at the pendant" { more: URCAP.more, then: "pause@1s:2s" };
    UNHEARD "the cable is out for a moment, and it is released" { asks: |rig| {
        rig.run_for(Duration::from_secs(1));
        rig.cut_cable(Some(Duration::from_millis(400)));
        rig.input(outrigger_core::engine::Input::Release);
    } };
    HELD "this machine stands still for 30 ms" { asks: |rig| { rig.run_for(Duration::from_secs(1)); rig.pause_host(Duration::from_millis(30)); } };
}

/// The settings of a controller of Universal Robots that the engine or its law uses, each with a run in which its
/// effect shows.
pub(crate) const ROWS: &[Row<Scene>] = &[
    row("robot.model", "\"ur10\"", LONE, "speedj").of(TWIST).beside("robot.model = \"ur5\""),
    row("robot.tcp", "[0, 0, 0.2, 0, 0, 0]", OVER, "speedj").of(STANDOFF),
    row("law.relative", "false", CALM, "Arming"),
    row("law.sensor", "\"push\"", CALM, "speedj").beside("law.sensor =; law.expert.sensor_gain ="),
    row("law.expert.sensor_gain", "0.2", CALM, "speedj"),
    row("law.proportional", "10.0", CALM, "speedj"),
    row("law.expert.derivative", "0.5", CALM, "speedj"),
    row("law.expert.feed_forward", "0.5", CALM, "speedj"),
    row("law.expert.feedback", "false", CALM, "speedj"),
    row("law.expert.correction_limit", "0.001", CALM, "speedj"),
    row("law.expert.correction_deceleration", "0.001", CALM, "speedj"),
    row("law.expert.joint_speed", "0.05", CALM, "speedj"),
    row("law.path_tolerance", "0.001", SLIDER, "PathTolerance"),
    row("law.expert.resume_ramp", "2.0", RESUMES, "speedj"),
    row("law.expert.torque_gain", "0.5", NEWER, "direct_torque").beside(TORQUES),
    row("limits.expert.torque", "20.0", NEWER, "20.4").beside(TORQUES),
    row("limits.expert.torque_rise", "0.2", NEWER, "0.2856").beside(TORQUES),
    row("limits.expert.travel", "0.8", NEWER, "0.82").beside(TORQUES),
    row("law.waypoint[].at", "2.5", CALM, "speedj"),
    row("law.waypoint[].joints", "0.2", CALM, "speedj"),
    row("law.waypoint[].degrees", "10", CALM, "speedj").beside("law.waypoint[].joints =; law.waypoint[].degrees = 5"),
    row("law.waypoint[].expert.velocities", "0.1", CALM, "speedj"),
    row("law.distance", "0.06", OVER, "speedj").of(STANDOFF),
    row("law.proportional", "1.0", OVER, "speedj").of(STANDOFF),
    row("law.expert.integral", "0.0", OVER, "speedj").of(STANDOFF),
    row("law.approach_limit", "0.01", OVER, "speedj").of(STANDOFF),
    row("law.retreat_limit", "0.005", OVER, "speedj").of(STANDOFF),
    row("law.expert.deceleration", "0.01", OVER, "speedj").of(STANDOFF),
    row("law.travel", "[0.01, 0]", OVER, "speedj").of(STANDOFF),
    row("law.expert.travel_window", "0.005", OVER, "speedj").of(STANDOFF).beside("law.travel = 0.01"),
    row("law.expert.range", "[0.049, 0.051]", OVER, "").of(STANDOFF),
    row("law.longest_approach", "0.001", OVER, "").of(STANDOFF).beside("law.expert.range = [0.01, 0.06]"),
    row("law.expert.hold_gain", "1.0", OVER, "speedj").of(STANDOFF),
    row("law.expert.line_tolerance", "0.0001", OVER, "PathTolerance").of(STANDOFF).beside("law.travel = [0.05, 0]; law.expert.hold_gain = 0.1"),
    row("law.expert.turn_tolerance", "0.0001", OVER, "PathTolerance").of(STANDOFF).beside("law.travel = [0.05, 0]; law.expert.hold_gain = 0.1"),
    row("law.expert.damping", "0.2", OVER, "speedj").of(STANDOFF),
    row("law.expert.length", "0.1", OVER, "speedj").of(STANDOFF),
    row("law.expert.unreached_limit", "0.0", OVER, "Singular").of(STANDOFF),
    row("law.expert.joint_speed", "0.01", OVER, "speedj").of(STANDOFF),
    row("law.axis[].along", "\"x\"", OVER, "speedj").of(AXES),
    row("law.axis[].source", "\"other\"", CALM, "speedj").of(AXES),
    row("law.axis[].value", "2", APART, "speedj").of(AXES),
    row("law.axis[].target", "0.06", OVER, "speedj").of(AXES),
    row("law.axis[].slope", "-2.0", OVER, "speedj").of(AXES),
    row("law.axis[].range", "[0.049, 0.051]", OVER, "").of(AXES),
    row("law.axis[].expert.proportional", "1.0", OVER, "speedj").of(AXES),
    row("law.axis[].speed_limit", "0.01", OVER, "speedj").of(AXES),
    row("law.axis[].expert.deceleration", "0.01", OVER, "speedj").of(AXES),
    row("law.axis[].reach", "0.005", OVER, "PathTolerance").of(AXES),
    row("law.expert.hold_gain", "1.0", OVER, "speedj").of(AXES),
    row("law.expert.hold_tolerance", "0.0001", OVER, "PathTolerance").of(AXES).beside("law.expert.damping = 0.5; law.expert.hold_gain = 0.01; law.expert.unreached_limit = 1.0"),
    row("law.expert.frame", "\"base\"", CALM, "speedj").of(TWIST),
    row("law.expert.twist", "[0.01, 0, 0, 0, 0, 0]", CALM, "speedj").of(TWIST).beside("law.source =; law.expert.twist = [0, 0.01, 0, 0, 0, 0]"),
    row("law.source", "\"other\"", CALM, "speedj").of(TWIST),
    row("law.linear_limit", "0.01", CALM, "speedj").of(TWIST),
    row("law.angular_limit", "0.01", CALM, "speedj").of(TWIST),
    row("source[].max_age", "0.05", GAPS, "speedj"),
    row("source[].range", "[-0.01, 0.01]", CALM, "Samples"),
    row("source[].expert.max_rate", "1.0", WILD, "SourceRate"),
    row("source[].expert.stuck_after", "0.5", FROZEN, "SourceStuck"),
    row("limits.position_min", "[0.15, -6, -6, -6, -6, -6]", CALM, "PositionLimit"),
    row("limits.position_max", "[0.05, 7, 7, 7, 7, 7]", CALM, "PositionLimit"),
    row("limits.velocity", "0.02", CALM, "speedj").of(TWIST),
    row("limits.acceleration", "0.05", CALM, "speedj").of(TWIST),
    row("limits.expert.braking", "0.1", CALM, "PositionLimit").beside("limits.position_max = [0.35, 6, 6, 6, 6, 6]"),
    row("limits.expert.velocity_margin", "1.0", CALM, "VelocityLimit").of(TWIST).beside("limits.velocity = 0.16; law.expert.joint_speed = 3.0"),
    row("limits.expert.reaction", "1.0", CALM, "PositionLimit").beside("limits.position_max = [0.31, 6, 6, 6, 6, 6]"),
    row("limits.expert.longest_step", "0.001", CALM, "speedj"),
    row("session.software", "\"3.1\"", CALM, "Opening"),
    row("session.expert.form", "\"self-ending\"", CALM, "stopj("),
    row("session.expert.acceleration", "5.0", CALM, "speedj"),
    row("session.expert.stop_acceleration", "5.0", RELEASES, "speedj"),
    row("session.expert.hold", "0.06", CALM, "speedj"),
    row("session.expert.entry", "\"Perfect\"", JITTER1, "Samples"),
    row("session.expert.stale_after", "0.02", STALL30, "Age"),
    row("session.expert.max_misses", "5", STALL30, "StatesMissed"),
    row("session.expert.margin", "0.0005", LATE, "StateStale"),
    row("session.expert.stall", "0.02", HELD, "Misses"),
    row("session.expert.clock_jump", "5.0", JUMP, "Misses"),
    row("session.expert.good_cycles", "300", CALM, "Command"),
    row("session.expert.arming_timeout", "2.0", MUTED, "NotGranted"),
    row("session.expert.evidence_age", "2.0", NO_PRIMARY, "Arming"),
    row("session.expert.state_timeout", "0.02", STALL30, "StateStale"),
    row("session.expert.stop_cycles", "6", RELEASES, "stopj("),
    row("session.expert.stop_timeout", "1.0", VERY_LATE, "StopTimeout"),
    row("session.expert.program_timeout", "0.1", OLD, "ProgramEnded"),
    row("session.expert.take_over", "true", FOREIGN, "Arming"),
    row("session.expert.acceptance_unknown", "true", UNSEEN, "Arming"),
    row("session.expert.require_remote", "true", OLDER, "Arming"),
    row("session.expert.offline_after", "4.0", STALL_FIRST, "StateStale").beside("connect.expert.silence_timeout = 10.0"),
    row("session.expert.rise_time", "2.0", CALM, "Samples"),
    row("session.expert.burst", "0.0", COALESCE, "GradeLow"),
    row("session.expert.leak_ppm", "10000", LATE20, "Misses"),
    row("session.expert.shift_hold", "0.5", LATE20, "Epoch"),
    row("session.expert.following_delay", "1", LATE, "NotFollowing").beside("session.expert.following_tolerance = 0.0001; session.expert.following_relative = 0.0; session.expert.margin = 0.02; session.expert.following_patience = 3"),
    row("session.expert.following_patience", "5", LOCAL, "NotFollowing").beside(UNSEEN_STOPS),
    row("session.expert.following_late_patience", "2", CB2_SLIDER, "NotFollowing").beside("session.expert.following_patience = 2"),
    row("session.expert.following_tolerance", "0.001", LOCAL, "NotFollowing").beside(UNSEEN_STOPS),
    row("session.expert.following_relative", "0.5", LOCAL, "NotFollowing").beside(UNSEEN_STOPS),
    row("session.expert.following_ramp", "50.0", DEAF, "NotFollowing").beside(UNSEEN_STOPS),
    row("session.expert.following_scaling_rate", "0.01", DEAF_AFTER_SLIDER, "NotFollowing").beside(UNSEEN_STOPS),
    row("session.expert.grade.perfect.received", "0.9991", SKIP, "Received"),
    row("session.expert.grade.perfect.delay", "0.0001", JITTER1, "Command"),
    row("session.expert.grade.perfect.jitter", "0.0001", JITTER1, "Command"),
    row("session.expert.grade.perfect.misses", "0", SKIP, "Misses"),
    row("session.expert.grade.ok.received", "0.98", SKIP20, "Received"),
    row("session.expert.grade.ok.delay", "0.0003", JITTER, "GradeLow").beside("session.expert.grade.perfect.delay = 0.0002"),
    row("session.expert.grade.ok.jitter", "0.0003", JITTER1, "GradeLow").beside("session.expert.grade.perfect.jitter = 0.0002"),
    row("session.expert.grade.ok.misses", "2", STALL30, "Misses"),
    row("session.expert.grade.bad.received", "0.94", SKIP, "Received"),
    row("session.expert.grade.bad.delay", "0.0004", JITTER, "GradeLow").beside("session.expert.grade.perfect.delay = 0.0002; session.expert.grade.ok.delay = 0.0003"),
    row("session.expert.grade.bad.jitter", "0.0004", JITTER, "GradeLow").beside("session.expert.grade.perfect.jitter = 0.0002; session.expert.grade.ok.jitter = 0.0003"),
    row("session.expert.grade.bad.misses", "5", STALL30, "Misses"),
    row("standstill.expert.window", "1.0", RELEASES, "Samples"),
    row("standstill.expert.speed", "0.0001", RELEASES, "Released"),
    row("standstill.expert.travel", "0.0001", RELEASES, "Released"),
    row("standstill.expert.target_speed", "0.5", RELEASES, "Released").beside("session.expert.stop_acceleration = 0.2; limits.expert.braking = 0.2; standstill.expert.speed = 0.5; standstill.expert.travel = 0.1"),
    row("standstill.expert.max_gap", "0.005", OLD, "Samples"),
    row("connect.expert.states", "\"realtime\"", CALM, "Opening"),
    row("connect.expert.primary_required", "true", LONE, "Refused"),
    row("connect.expert.open_timeout", "0.2", CABLE, "OpenTimeout"),
    row("connect.expert.first_message_timeout", "0.2", SILENT, "NoGreeting"),
    row("connect.expert.silence_timeout", "0.5", STALL5, "Silent"),
    row("connect.expert.back_off_min", "0.1", REFUSED, "Refused"),
    row("connect.expert.back_off_max", "0.5", REFUSED, "Refused"),
    row("connect.expert.settled_after", "60.0", DROPS, "Closed"),
    row("connect.expert.abort_after", "0.2", STALL5_UP, "Unacknowledged"),
    row("outputs.expert.by", "\"off\"", SETS, "Off"),
    row("outputs.expert.claim", "\"digital-out\"", SETS, "Output"),
    row("outputs.expert.force", "\"push\"", CALM, "force"),
    row("operator.expert.request_input", "0", LINES, ""),
    row("operator.expert.stop_input", "2", CALM, ""),
    row("operator.expert.request_as", "\"edge\"", LINES, "").beside("operator.expert.request_input = 0"),
    row("operator.expert.low_for", "5.0", LINES, "").beside("operator.expert.request_input = 0"),
    row("operator.expert.released_for", "3.0", LINES, "").beside("operator.expert.request_input = 0"),
    row("operator.expert.low_states", "20", LINES, "").beside("operator.expert.request_input = 0"),
    row("session.expert.scaling_zero_below", "0.04", SLIDER_HAIR, "").beside("session.expert.scaling_free_from = 0.04"),
    row("session.expert.scaling_free_from", "0.04", SLIDER_CREEPS, ""),
    row("session.expert.scaling_held_states", "50", SLIDER0, ""),
    row("session.expert.scaling_begin_speed", "0.001", RESTS, ""),
    row("session.expert.scaling_begin_time", "0.02", RESTS_ON, ""),
    row("session.expert.scaling_held_timeout", "1.0", SLIDER0, ""),
    row("session.expert.pendant_stop", "\"overridden\"", OLD, "Arming").beside("session.expert.pendant_stop ="),
    row("session.expert.pendant_at_once", "true", FLICKERS, ""),
    row("session.expert.pendant_left", "50", STOPPED, "PendantOverridden"),
    row("session.expert.pendant_flicker", "0", FLICKERS, ""),
    row("session.path", "\"reverse-speedj\"", CALM, ""),
    row("program.expert.port", "50007", CALM, "50007").beside(SERVOJ),
    row("program.expert.address", "\"192.168.56.7\"", CALM, "192.168.56.7").beside(SERVOJ),
    row("program.expert.by", "\"urcap\"", CALM, "").beside(SERVOJ),
    row("program.expert.orders", "\"registers\"", CALM, "").beside(SERVOJ),
    row("program.expert.script_port", "50008", URCAP, "").beside(FETCHED),
    row("program.expert.trajectory_port", "50008", CALM, "50008").beside(EXTERNAL),
    row("program.expert.command_port", "50008", CALM, "50008").beside(EXTERNAL),
    row("program.expert.resident", "true", RELEASES, "").beside(SERVOJ),
    row("program.expert.start_timeout", "0.5", MUTED, "").beside(SERVOJ),
    row("program.expert.unanswered", "1", URCAP_PAUSED, "").beside(FETCHED),
    row("program.expert.divergence", "0.2", CALM, "0.22").beside(SERVOJ),
    row("program.expert.lookahead", "0.1", CALM, "0.1").beside(SERVOJ),
    row("program.expert.gain", "300", CALM, "300").beside(SERVOJ),
    row("program.expert.lag", "0.02", CALM, "").beside("session.path = \"buffered\""),
    row("program.expert.ring", "64", CALM, "z,z").beside("session.path = \"buffered\""),
    row("program.expert.convergence", "0.0001", CALM, "").beside("session.path = \"buffered\""),
    row("program.expert.convergence_time", "0.0", CALM, "").beside("session.path = \"buffered\"; program.expert.convergence = 0.0001"),
    row("program.expert.end_timeout", "0.3", UNHEARD, "").beside(SERVOJ),
    row("operator.expert.acknowledge_input", "1", CLEARED, "Arming"),
];
