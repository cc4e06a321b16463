//! A row for each setting of the process itself and of its sensors. The suite `settings_of_the_process` of
//! `tests/system` runs the program with and without each.

use outrigger_tests::settings::File;

/// The observation of the running program or its sensors that a setting changes; `tests/system/settings/seen.rs` makes
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown {
    Identity,
    Listens,
    ByItself,
    Ending,
    Held,
    Asked,
    Locked,
    Recordings,
    Kept,
    Recorded,
    Variables,
    Served,
    Readers,
    Node,
    InForce,
    Sleeps,
    Opened,
    Listening,
    First,
    Speed,
    Sine,
}

/// A setting of the process, and the observation that differs between a file with it and a file without it.
#[derive(Clone, Copy)]
pub(crate) struct ProcessRow {
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
    /// Further settings of both files, the one with the setting and the one without it.
    pub(crate) beside: &'static str,
    #[allow(dead_code, reason = "the suite in tests/system reads it")]
    pub(crate) shown: Shown,
}

const fn row(key: &'static str, value: &'static str, beside: &'static str, shown: Shown) -> ProcessRow {
    ProcessRow { key, value, beside, shown }
}

/// The configuration of a short motion, with a link that tolerates the delays of a busy machine.
pub(crate) const SHORT: &str = r#"
[robot]
address = "127.0.0.1"
[law]
kind = "joint-servo"
relative = true
[[law.waypoint]]
at = 0
joints = 0
[[law.waypoint]]
at = 0.5
joints = 0.02
[session]
expert.good_cycles = 20
expert.entry = "Bad"
expert.stale_after = 0.5
expert.max_misses = 1000
expert.margin = 0.1
expert.evidence_age = 2.0
expert.state_timeout = 0.5
expert.hold = 0.5
expert.following_patience = 1000
expert.following_late_patience = 1000
"#;

/// A configuration file for a KRC whose law makes its seven joints follow a motion.
pub(crate) const SWING: &str = r#"
[robot]
kind = "krc"
[limits]
velocity = 0.5
[law]
kind = "joint-servo"
relative = true
[[law.waypoint]]
at = 0
joints = 0
[[law.waypoint]]
at = 1.5
joints = [0.3, 0.2, 0, 0.1, 0, 0, 0]
expert.velocities = 0.05
[[law.waypoint]]
at = 4.0
joints = 0.1
"#;

/// A configuration file with a sensor that sends its values over UDP.
pub(crate) const SENSOR: &str = r#"
[robot]
address = "127.0.0.1"
[law]
kind = "joint-servo"
[[source]]
name = "sensor"
input = "udp"
listen = "127.0.0.1:0"
"#;

/// Returns the configuration file in which the row of this key sets the key.
pub(crate) fn base(key: &str) -> File {
    File::new(match key {
        "robot.listen" => SWING,
        key if key.starts_with("source") => SENSOR,
        _ => SHORT,
    })
}

const SINE: &str =
    "source[].input = \"simulated\"; source[].listen =; source[].expert.mean = 0.1; source[].expert.amplitude = 0.1";
const DUMPS: &str = "run.recordings = \"FOLDER/dumps\"";
const BY_ITSELF: &str = "run.request = \"start\"";
const ENDS: &str = "run.request = \"start\"; run.end = \"done\"";

/// The settings that the process itself or its sensors use, each with the observation in which its effect shows.
pub(crate) const ROWS: &[ProcessRow] = &[
    row("robot.address", "\"OTHER\"", "", Shown::Identity),
    row("robot.listen", "\"127.0.0.1:47118\"", "", Shown::Listens),
    row("run.request", "\"start\"", "", Shown::ByItself),
    row("run.expert.start_within", "0.1", BY_ITSELF, Shown::ByItself),
    row("run.end", "\"done\"", BY_ITSELF, Shown::Ending),
    row("run.expert.settle", "2.0", ENDS, Shown::Held),
    row("run.expert.requests", "false", "", Shown::Asked),
    row("run.expert.lock_pendant", "true", "", Shown::Locked),
    row("run.recordings", "\"FOLDER/dumps\"", "", Shown::Recordings),
    row("run.expert.recordings_kept", "2", DUMPS, Shown::Kept),
    row("run.expert.recordings_bytes", "16000000", DUMPS, Shown::Kept),
    row("run.record", "\"FOLDER/all.mcap\"", "", Shown::Recorded),
    row("run.expert.record_variables", "[\"target_moment\"]", "run.record = \"FOLDER/all.mcap\"", Shown::Variables),
    row("serve.listen", "\"127.0.0.1:0\"", "", Shown::Served),
    row("serve.expert.readers", "2", "serve.listen = \"127.0.0.1:0\"", Shown::Readers),
    row("ros.expert.command", "true", "", Shown::Node),
    row("ros.expert.goals_request", "true", "", Shown::Node),
    row("ros.expert.forward_timeout", "0.1", "", Shown::Node),
    row("ros.expert.freedrive_timeout", "3.0", "", Shown::Node),
    row("ros.expert.interface", "\"127.0.0.2\"", "", Shown::Node),
    row("ros.expert.surface", "\"native\"", "", Shown::Node),
    row("ros.expert.offer_reliable", "false", "", Shown::Node),
    row("ros.expert.legacy_names", "true", "", Shown::Node),
    row("ros.expert.meshes", "true", "", Shown::Node),
    row("ros.expert.min_payload", "0.5", "", Shown::Node),
    row("ros.expert.max_payload", "5.0", "", Shown::Node),
    row("ros.expert.terminals", "\"ports\"", "", Shown::Node),
    row("ros.expert.stamps", "\"controller\"", "", Shown::Node),
    row("ros.expert.variables", "[\"actual_momentum\"]", "", Shown::Node),
    row("ros.expert.peers", "[\"192.168.1.30\"]", "", Shown::Node),
    row("ros.expert.namespace", "\"/cell\"", "", Shown::Node),
    row("ros.expert.tf_prefix", "\"left_\"", "", Shown::Node),
    row("host.scheduling", "\"fifo\"", "", Shown::InForce),
    row("host.expert.priority", "7", "host.scheduling = \"fifo\"", Shown::InForce),
    row("host.expert.lock_memory", "true", "", Shown::InForce),
    row("host.cpu", "0", "", Shown::InForce),
    row("host.expert.busy_poll", "\"always\"", "", Shown::Sleeps),
    row(
        "source[].name",
        "\"other\"",
        "source[].input = \"serial\"; source[].listen =; source[].device = \"/nowhere\"",
        Shown::Opened,
    ),
    row(
        "source[].input",
        "\"serial\"
device = \"/nowhere\"",
        "source[].input = \"simulated\"; source[].listen =",
        Shown::Opened,
    ),
    row("source[].listen", "\"127.0.0.1:47117\"", "", Shown::Listening),
    row("source[].from", "\"127.0.0.3\"", "", Shown::First),
    row("source[].format", "\"postcard\"", "", Shown::First),
    row("source[].values", "2", "", Shown::First),
    row("source[].scale", "0.5", "", Shown::First),
    row("source[].expert.offset", "0.5", "", Shown::First),
    row(
        "source[].device",
        "\"/elsewhere\"",
        "source[].input = \"serial\"; source[].listen =; source[].device = \"/nowhere\"",
        Shown::Opened,
    ),
    row(
        "source[].baud",
        "9600",
        "source[].input = \"serial\"; source[].listen =; source[].device = \"PTY\"",
        Shown::Speed,
    ),
    row("source[].expert.mean", "0.7", SINE, Shown::Sine),
    row("source[].expert.amplitude", "0.7", SINE, Shown::Sine),
    row("source[].expert.period", "0.5", SINE, Shown::Sine),
    row("source[].expert.rate", "4.0", SINE, Shown::Sine),
];
