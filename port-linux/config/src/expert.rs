//! The expert keys: keys that few files need. Each is in the table `expert` of its section, with a sentence about the
//! damage that a wrong value can do.
//!
//! [`EXPERT`] lists them by the name without `expert`, which is where files of earlier releases have them. [`placed`]
//! converts such a name to the one in current files.

use std::collections::HashSet;
use std::iter::successors;
use std::sync::LazyLock;

/// A configuration key that is in the table `expert` of its section, with the damage that a wrong value can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpertKey {
    /// The name of the key without the table `expert`, e.g. `session.hold` or `source[].stuck_after`.
    pub name: &'static str,
    /// A sentence about the damage that a wrong value of the key can do.
    pub breaks: &'static str,
}

/// An expert key that a file sets: its line in the file, its full name there, and its entry in [`EXPERT`].
pub type SetExpertKey = (usize, String, &'static ExpertKey);

impl ExpertKey {
    /// Returns the name of the expert key as written in a configuration file, e.g. `session.expert.hold`.
    #[must_use]
    pub fn place(&self) -> String {
        placed(self.name)
    }

    /// Returns the expert key with this name, which may be given with or without the table `expert`. `None` if no
    /// expert key has this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.replace(".expert.", ".");
        EXPERT.iter().find(|key| key.name == name)
    }
}

/// Returns the name that the key `name` has in a file, e.g. `session.expert.hold` for `session.hold`. The name of any
/// other key is returned unchanged.
#[must_use]
pub fn placed(name: &str) -> String {
    if !is_expert(name) {
        return name.into();
    }
    // The section is the last table of an array, or the table of the document.
    let section = name.rfind("[]").map_or_else(|| name.find('.').unwrap_or(name.len()), |at| at + "[]".len());
    let (section, key) = name.split_at(section);
    format!("{section}.expert{key}")
}

/// Returns `true` for an expert key, and for a table of expert keys such as `session.grade`.
pub(crate) fn is_expert(name: &str) -> bool {
    // A table of the document or of an array contains a table `expert`, and is itself in none.
    let parent = name.rsplit_once('.').filter(|_| !name.ends_with("[]"));
    parent.is_some_and(|(parent, _)| NAMES.contains(name) || is_expert(parent))
}

/// The names of all expert keys, and of the tables that contain them.
static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let with_tables = |key: &ExpertKey| successors(Some(key.name), |name| Some(name.rsplit_once('.')?.0));
    EXPERT.iter().flat_map(with_tables).collect()
});

const fn expert(name: &'static str, breaks: &'static str) -> ExpertKey {
    ExpertKey { name, breaks }
}

const GRADE_PERFECT: &str = "looser, links that are not Perfect are rated so; tighter, none is";
const GRADE_OK: &str = "looser, commanding begins over a worse link; tighter, it may never begin";
const GRADE_BAD: &str = "looser, commanding continues over a link that loses states; tighter, it ends without need";
const JITTER_LATE: &str = "a longer time accepts states that are too old for commanding; a shorter one ends \
                           commanding on a usual network";
const SIMULATED: &str = "a simulated reading moves a real arm if the file is used with one";
const FOLLOWING: &str =
    "looser, another commander or a killed program is seen later; tighter, commanding ends in ordinary motion";
const BACK_OFF: &str = "shorter, a controller that restarts is flooded with attempts; longer, the session returns late";
const IMPEDANCE: &str = "a wrong value makes the arm yield, sag or swing under its load";
const SUPERIMPOSED: &str = "the arm is pushed by this much as soon as it is commanded";
const PORT: &str = "a port that the program or the firewall does not expect: the program never connects";
const FORMAT: &str = "it converts voltages to forces: a wrong value moves the arm by forces that do not exist";

/// Every expert key of a configuration, in the order of the sections.
pub const EXPERT: &[ExpertKey] = &[
    expert(
        "robot.control",
        "a scheme that the KRL program has not chosen is refused by the KRC, or makes the arm yield",
    ),
    expert("robot.stiffness", IMPEDANCE),
    expert("robot.damping", IMPEDANCE),
    expert("robot.torque", SUPERIMPOSED),
    expert("robot.wrench", SUPERIMPOSED),
    expert("robot.left_to_krl", "a field that no side sets keeps its last value"),
    expert("robot.superpose", "the law no longer sees the motion that the KRL program makes, and adds to it"),
    expert(
        "robot.mirrored_frame",
        "with a frame that the KRC does not expect it refuses to start, or jumps at the start",
    ),
    expert("robot.task_frame", "stiffness and wrench act along the axes of another frame"),
    expert("robot.silence", JITTER_LATE),
    expert("limits.braking", "higher than what the arm reaches, it overruns its position limits"),
    expert("limits.velocity_margin", "higher, far too high commands of a law are scaled down instead of rejected"),
    expert("limits.reaction", "shorter than the drives' lag, the arm overruns its position limits"),
    expert("limits.longest_step", "longer, the speed may jump after a pause between two commands"),
    expert("limits.tracking_error", "higher, an arm that is held or collides is pushed on for longer"),
    expert("limits.tool_tracking_error", "higher, a tool that is held or collides is pushed on for longer"),
    expert("limits.tool_turn_tracking_error", "higher, a tool that is held or collides is turned on for longer"),
    expert(
        "limits.torque",
        "higher, the arm is faster before its speed is measured, and pushes harder against an obstacle",
    ),
    expert(
        "limits.torque_rise",
        "shorter, torques start with a jerk, and the arm is faster before its speed is measured",
    ),
    expert("limits.travel", "longer, an arm that torques accelerate moves farther before it is stopped"),
    expert("limits.added_torque", "higher, a law bends the arm farther and pushes harder against an obstacle"),
    expert("limits.added_wrench", "higher, a law moves the tool farther and presses harder on what it touches"),
    expert(
        "limits.added_rise",
        "shorter, added torques and forces start with a jerk; longer, they remain when the law commands none",
    ),
    expert("law.range", "wider, a reading of something else counts as the surface"),
    expert("law.integral", "higher, the tool swings about the distance"),
    expert("law.deceleration", "higher than what the arm reaches, the tool overshoots towards the surface"),
    expert("law.travel_window", "wider, the tool travels on while it is at the wrong distance"),
    expert("law.hold_gain", "higher, the tool swings across its line"),
    expert("law.line_tolerance", "wider, the tool leaves its line farther before commanding ends"),
    expert("law.turn_tolerance", "wider, the tool turns farther before commanding ends"),
    expert("law.hold_tolerance", "wider, the tool drifts farther before commanding ends"),
    expert("law.damping", "lower, joints are fast near a singular pose; higher, the tool lags behind its law"),
    expert(
        "law.length",
        "another weight between turning and moving: the tool turns where it should move, or the reverse",
    ),
    expert("law.unreached_limit", "higher, the tool leaves its path near a singular pose before commanding ends"),
    expert(
        "law.joint_speed",
        "higher than limits.velocity, the law's commands are clipped joint by joint and the tool leaves its path",
    ),
    expert("law.derivative", "higher, noise of the measured speeds shakes the arm"),
    expert("law.feed_forward", "below 1 the arm lags behind its motion"),
    expert("law.feedback", "without it the arm drifts by the errors of its drives"),
    expert("law.correction_limit", "higher, the arm returns to its motion faster after it was held"),
    expert("law.correction_deceleration", "higher than what the arm reaches, joints overshoot their motion"),
    expert("law.resume_ramp", "shorter, a suspended motion resumes with a jerk"),
    expert("law.torque_gain", "higher, a joint with a small load oscillates about its target speed"),
    expert("law.sensor_adds", "numbers intended as speeds push the arm as torques or forces, or the reverse"),
    expert("law.sensor_gain", "a wrong sign or size moves the arm against its sensor"),
    expert("law.frame", "the twist acts along the axes of another frame"),
    expert("law.twist", "the tool moves by it without a sensor, until a limit or an operator stops it"),
    expert("law.axis[].proportional", "higher, the axis swings about its target"),
    expert("law.axis[].deceleration", "higher than what the arm reaches, the axis overshoots its target"),
    expert(
        "law.waypoint[].velocities",
        "a speed that does not fit the neighbours makes the motion swing between its waypoints",
    ),
    expert("source[].offset", "a wrong value shifts all readings"),
    expert("source[].max_rate", "lower than its readings really change, good ones are a fault"),
    expert("source[].stuck_after", "shorter than the sensor repeats a value at rest, commanding ends without need"),
    expert("source[].mean", SIMULATED),
    expert("source[].amplitude", SIMULATED),
    expert("source[].period", SIMULATED),
    expert("source[].rate", "faster than the sensor or its bus, readings are lost; slower, they are old"),
    expert("source[].port", "the law follows another input than the sensor's"),
    expert("source[].matrix", FORMAT),
    expert("source[].unloaded", FORMAT),
    expert(
        "session.form",
        "a form of text that the software does not know is ignored, or moves the arm on after the last command",
    ),
    expert("session.acceleration", "lower than limits.acceleration, the arm lags behind its commands"),
    expert("session.stop_acceleration", "lower, the stopping distance is longer; higher, the arm stops with a jerk"),
    expert("session.own_stop", "higher than what the controller reaches, the arm overruns its position limits"),
    expert("session.hold", "longer, the arm moves on for longer after our last command"),
    expert("session.entry", "\"Bad\" begins commanding over a link that loses states; \"Perfect\" may never begin"),
    expert("session.stale_after", JITTER_LATE),
    expert("session.max_misses", "more, commanding continues without states; fewer, it ends on a usual network"),
    expert("session.margin", JITTER_LATE),
    expert("session.stall", "longer, a pause of this process counts as one of the network"),
    expert("session.clock_jump", "shorter, a long pause passes for a restart of the controller"),
    expert("session.good_cycles", "fewer, commanding begins over a link of unknown quality"),
    expert("session.arming_timeout", "shorter than the controller takes, a request is never granted"),
    expert("session.evidence_age", "longer, the arm may be commanded by an outdated fact"),
    expert("session.state_timeout", JITTER_LATE),
    expert("session.stop_cycles", "fewer, a lost packet leaves the arm moving until its text runs out"),
    expert("session.stop_timeout", "shorter than the arm takes to rest, every stop is latched as MotionUnknown"),
    expert(
        "session.program_timeout",
        "longer, a killed program is seen later; shorter, commanding ends on old software",
    ),
    expert("session.take_over", "another client's program is ended when commanding begins"),
    expert("session.acceptance_unknown", "the arm may accept no command without any sign of it"),
    expert(
        "session.require_remote",
        "no controller gives evidence of remote control in a session: nothing is commanded",
    ),
    expert("session.offline_after", "shorter, a session is given up in a pause of the network"),
    expert(
        "session.rise_time",
        "shorter, the link quality flickers, and commanding begins over a link that has just been bad",
    ),
    expert("session.burst", "longer, jitter is not seen; shorter, states in one packet pass for jitter"),
    expert("session.leak_ppm", "lower than the drift of both clocks, states pass for older and older"),
    expert("session.shift_hold", "shorter, states that are late for a while pass for timely"),
    expert("session.following_delay", FOLLOWING),
    expert("session.following_patience", FOLLOWING),
    expert("session.following_late_patience", FOLLOWING),
    expert("session.following_tolerance", FOLLOWING),
    expert("session.following_relative", FOLLOWING),
    expert("session.following_ramp", FOLLOWING),
    expert("session.following_scaling_rate", FOLLOWING),
    expert("session.scaling_zero_below", "higher, the arm is held while its slider is only low"),
    expert(
        "session.scaling_free_from",
        "near scaling_zero_below, law and arm begin and end with every flicker of the slider",
    ),
    expert(
        "session.scaling_held_states",
        "fewer, one wrong state holds the arm; more, the law continues while the arm is at standstill",
    ),
    expert("session.scaling_begin_speed", "higher, the arm leaves rest with a jerk"),
    expert("session.scaling_begin_time", "longer, a law continues although the arm is held"),
    expert("session.scaling_held_timeout", "longer, the arm moves again by itself after a long hold"),
    expert("session.pendant_stop", "\"overridden\": a stop pressed at the pendant is overridden by the next command"),
    expert("session.pendant_at_once", "a single state without a program ends commanding"),
    expert("session.pendant_left", "fewer, a stop at the pendant is seen late; more, commanding has gaps"),
    expert("session.pendant_flicker", "higher, a stop at the pendant passes for a flicker"),
    expert("session.grade.perfect.received", GRADE_PERFECT),
    expert("session.grade.perfect.delay", GRADE_PERFECT),
    expert("session.grade.perfect.jitter", GRADE_PERFECT),
    expert("session.grade.perfect.misses", GRADE_PERFECT),
    expert("session.grade.ok.received", GRADE_OK),
    expert("session.grade.ok.delay", GRADE_OK),
    expert("session.grade.ok.jitter", GRADE_OK),
    expert("session.grade.ok.misses", GRADE_OK),
    expert("session.grade.bad.received", GRADE_BAD),
    expert("session.grade.bad.delay", GRADE_BAD),
    expert("session.grade.bad.jitter", GRADE_BAD),
    expert("session.grade.bad.misses", GRADE_BAD),
    expert("standstill.window", "shorter, an arm that only pauses counts as at rest"),
    expert("standstill.speed", "higher, a moving arm counts as at rest; below its noise, it never rests"),
    expert("standstill.travel", "higher, a creeping arm counts as at rest"),
    expert("standstill.target_speed", "higher, an arm that is still commanded to move counts as at rest"),
    expert("standstill.max_gap", "longer, rest is assumed from states that were not received"),
    expert("program.by", "a transfer that the robot is not set up for: the program never arrives"),
    expert("program.orders", "\"registers\" collides with another client of registers 24 to 31"),
    expert("program.port", PORT),
    expert("program.script_port", PORT),
    expert("program.trajectory_port", PORT),
    expert("program.command_port", PORT),
    expert("program.resident", "the program stays on the controller, and no other can be started there"),
    expert("program.address", "an address that the robot cannot reach: the program never connects"),
    expert("program.start_timeout", "shorter than the controller takes, the program is sent again and again"),
    expert("program.unanswered", "fewer, orders are held back on a slow controller"),
    expert("program.divergence", "wider, an arm that is held is pushed on for longer"),
    expert("program.lookahead", "shorter, the arm follows with jerks; longer, it lags"),
    expert("program.gain", "lower, the arm lags behind its target"),
    expert("program.lag", "shorter, jitter of the network reaches the arm; longer, the arm follows later"),
    expert("program.ring", "more places, a longer text for the controller, and room for a longer lag"),
    expert("program.convergence", "narrower than the arm can hold, each motion ends only after `convergence_time`"),
    expert("program.convergence_time", "0 ends a motion while the arm is still on its way to the last position"),
    expert("program.end_timeout", "shorter, a program that is about to end is ended by stopj"),
    expert("connect.states", "\"realtime\" cannot see a stop at the pendant; \"rtde\" does not exist before 3.4"),
    expert("connect.primary_required", "no session if a firewall closes 30001 and 30002"),
    expert("connect.open_timeout", BACK_OFF),
    expert("connect.first_message_timeout", BACK_OFF),
    expert("connect.silence_timeout", BACK_OFF),
    expert("connect.back_off_min", BACK_OFF),
    expert("connect.back_off_max", BACK_OFF),
    expert("connect.settled_after", BACK_OFF),
    expert("connect.abort_after", "longer, old commands wait in a dead connection; shorter, a lost packet closes it"),
    expert("outputs.by", "outputs without an interface are refused"),
    expert("outputs.claim", "a second client that owns the same inputs ends the session, or loses its own"),
    expert("outputs.force", "a program on the controller regulates by this sensor in place of the robot's own"),
    expert("operator.request_input", "whoever drives this input moves the arm"),
    expert("operator.request_as", "\"edge\": releasing the line does not stop the arm"),
    expert("operator.acknowledge_input", "whoever drives this input clears the reason of a stop"),
    expert("operator.stop_input", "an unconnected input refuses every request"),
    expert("operator.low_for", "shorter, a chattering contact requests again"),
    expert("operator.released_for", "shorter, a chattering contact requests again after a release"),
    expert("operator.low_states", "more, releasing the line stops the arm later; fewer, a flicker does"),
    expert("variable[].name", "a request with this name sets a variable that its sender does not mean"),
    expert("variable[].at", "the KRL program reads another variable than the one that is set"),
    expert("variable[].start", "the KRL program acts on it with the first command"),
    expert("variable[].echoed", "if the KRL program does not copy it, no request for it is ever confirmed"),
    expert("run.start_within", "longer, the arm may start by itself unexpectedly late"),
    expert("run.settle", "shorter, the run ends before the arm has settled at the end of its motion"),
    expert("run.requests", "false: `outrigger ctl` can neither stop the arm nor show its status"),
    expert("run.lock_pendant", "a process that is killed leaves the pendant locked"),
    expert("run.recordings_kept", "fewer, the recording of the relevant stop is lost"),
    expert("run.recordings_bytes", "less, the recording of the relevant stop is lost; more, the disk fills"),
    expert("run.record_variables", "an RTDE connection more; a controller that is short of them closes one"),
    expert("serve.readers", "more readers take more memory and time of this machine"),
    expert("ros.command", "whoever can send on this network can move the arm"),
    expert("ros.goals_request", "a goal alone begins to command"),
    expert("ros.forward_timeout", "longer, the arm moves on for longer after its last streamed speed"),
    expert("ros.freedrive_timeout", "longer, freedrive lasts longer after its publisher has gone"),
    expert("ros.interface", "whoever is on that network reads what the node publishes, and commands where it may"),
    expert("ros.surface", "programs that expect the other names find nothing"),
    expert("ros.offer_reliable", "RViz receives no native states"),
    expert("ros.legacy_names", "two sets of names for one thing"),
    expert("ros.meshes", "programs without the package ur_description cannot load the description's shapes"),
    expert("ros.min_payload", "too high, a payload that is taken off stays set, and the arm sags or rises"),
    expert(
        "ros.max_payload",
        "too low, a load that is picked up is refused; too high, one that the arm cannot carry is not",
    ),
    expert("ros.terminals", "programs that expect the other topics find no inputs and outputs"),
    expert(
        "ros.stamps",
        "\"controller\": times of a controller whose clock jumps are wrong until the link has measured it again",
    ),
    expert("ros.variables", "each adds a message for every state; nothing is published if the controller lacks it"),
    expert("ros.peers", "a host that is not named does not find the node if multicast does not reach it"),
    expert("ros.namespace", "two arms with one namespace receive each other's goals"),
    expert("ros.tf_prefix", "two arms with one prefix share frames"),
    expert(
        "host.priority",
        "above that of the network's interrupts the loop waits for packets that it keeps from arriving",
    ),
    expert("host.lock_memory", "a limit on locked memory refuses the start"),
    expert(
        "host.busy_poll",
        "\"always\": a processor is busy all the time; \"off\": the loop answers later by the time that waking it takes",
    ),
    expert("device.gateway", "a wrong one: robot or listener in another network is never reached"),
    expert("device.mac", "two devices with one address: both lose packets"),
    expert("device.telemetry_also", "each listener takes its share of the board's network"),
    expert("device.telemetry_period", "shorter, telemetry takes its share of the board's network"),
    expert("device.request_pin_as", "\"edge\": opening the contact does not stop the arm"),
    expert("device.pin_filter", "shorter, a chattering contact counts; longer, a stop is seen later"),
    expert("device.brake_release_pin", "a closed contact releases the brakes of an idle arm"),
    expert("device.requests", "whoever has the key can move the arm over the network"),
    expert("device.key_file", "whoever has the key can move the arm over the network"),
    expert("device.recorder", "too much, and the firmware has no memory left; too little, and a recording is short"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_placed_in_its_own_section() {
        for (name, place) in [
            ("session.hold", "session.expert.hold"),
            ("session.grade.ok.delay", "session.expert.grade.ok.delay"),
            ("session.grade", "session.expert.grade"),
            ("source[].stuck_after", "source[].expert.stuck_after"),
            ("law.axis[].deceleration", "law.axis[].expert.deceleration"),
            ("limits.velocity", "limits.velocity"),
            ("session", "session"),
            ("law.axis", "law.axis"),
        ] {
            assert_eq!(placed(name), place);
        }
    }

    #[test]
    fn each_name_stands_once_and_says_what_it_breaks() {
        for (number, key) in EXPERT.iter().enumerate() {
            assert!(EXPERT[..number].iter().all(|other| other.name != key.name), "{} stands twice", key.name);
            assert!(key.breaks.len() > 10 && !key.breaks.ends_with('.'), "{}: {}", key.name, key.breaks);
            assert_eq!(ExpertKey::named(&key.place()), Some(key));
        }
    }
}
