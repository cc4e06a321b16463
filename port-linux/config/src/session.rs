//! The tables `[session]`, `[program]`, `[standstill]`, `[connect]` and `[operator]`: how the session connects,
//! judges the controller, writes to it and receives requests.

use outrigger_core::command::{Limits, TorqueLimits};
use outrigger_core::engine::ConfigError;
use outrigger_core::engine::ur::{
    BufferedConfig, CommandPath, ConnectConfig, ProgramConfig, StatesFrom, TextConfig, UrConfig, UrOptions,
};
use outrigger_core::link::LinkTuning;
use outrigger_core::mode::{ModeTuning, OperatorConfig, RequestAs, StandstillConfig};
use outrigger_wire::robot::{Generation, SoftwareVersion};
use outrigger_wire::time::Duration;

use crate::expert::placed;
use crate::reader::Section;

/// The settings of the session: connection, judgement of the controller, and commands. A key that is absent has the
/// core's default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionSettings {
    /// The version of the controller's software, if the version that the controller reports is not to be used.
    pub software: Option<SoftwareVersion>,
    /// The conditions under which commanding the arm starts and ends.
    pub mode: ModeTuning,
    /// The limits by which the quality of the link to the controller is judged.
    pub link: LinkTuning,
    /// The interface by which motion commands reach the controller.
    pub path: CommandPath,
    /// The settings of the program on the controller that executes the motion, for paths that have one.
    pub program: ProgramConfig,
    /// The settings of the ring buffer in which positions wait on their way to the controller.
    pub buffered: BufferedConfig,
    /// The torque limits of an arm that is commanded by torques, from `[limits]`.
    pub torque: TorqueLimits<6>,
    /// The parameters of motion commands that are sent as script text.
    pub text: TextConfig,
    /// The measured conditions that count as standstill of the arm.
    pub standstill: StandstillConfig,
    /// The timeouts for connections to the controller, and the source of states.
    pub connect: ConnectConfig,
    /// The settings of the input lines by which an operator requests commanding, acknowledges a fallback and stops the
    /// arm. The same requests can arrive as messages.
    pub operator: OperatorConfig,
}

/// Parses the complete version of the controller's software, e.g. `5.15` or `3.15.4`.
///
/// # Errors
/// Returns a description of what was expected.
pub fn parse_software(text: &str) -> Result<SoftwareVersion, String> {
    let wrong = || "expected MAJOR.MINOR or MAJOR.MINOR.BUGFIX, e.g. 5.15".to_owned();
    let (major, rest) = text.split_once('.').ok_or_else(wrong)?;
    let (minor, bugfix) = rest.split_once('.').unwrap_or((rest, "0"));
    match (major.parse(), minor.parse(), bugfix.parse()) {
        (Ok(major), Ok(minor), Ok(bugfix)) => Ok(SoftwareVersion { major, minor, bugfix }),
        _ => Err(wrong()),
    }
}

impl SessionSettings {
    pub(crate) fn read(root: &mut Section<'_, '_>, torque: TorqueLimits<6>) -> Self {
        let mut section = root.section("session");
        let software = section
            .text("software", "the controller's software, e.g. \"3.15\"")
            .and_then(|text| parse_software(text).map_err(|expected| section.complain("software", expected)).ok());
        let (mut mode, mut link) = judging(&mut section);
        let mut text = TextConfig::default();
        text.read(&mut section);
        // An arm whose text command has expired stops by itself, and must not be commanded further.
        let default = TextConfig::default().hold;
        if text.hold < default {
            // The minimum is two periods of the fastest controller.
            let least = Duration::from_micros(2 * Generation::ESeries.period_micros());
            link.stale_after.get_or_insert(text.hold.max(least));
            mode.state_timeout.get_or_insert(text.hold.max(least));
        } else if !section.has("hold") {
            let margin = link.margin.map(|margin| margin + Duration::from_millis(8));
            let stale_after = link.stale_after.or(margin);
            let given = [stale_after, mode.state_timeout].into_iter().flatten();
            text.hold = given.fold(default, Duration::max).min(TextConfig::HOLD.most);
        }
        let path = section.choice("path", CommandPath::WORDS, CommandPath::Text);
        section.finish();
        let mut program = ProgramConfig::default();
        let mut section = root.section("program");
        program.read(&mut section);
        let mut buffered = BufferedConfig::default();
        buffered.read(&mut section);
        program.address = section.address("address", "an IPv4 address of this computer");
        section.finish();
        let mut section = root.section("connect");
        let mut connect = ConnectConfig::default();
        connect.read(&mut section);
        match (section.has("back_off_min"), section.has("back_off_max")) {
            (true, false) => connect.back_off_max = connect.back_off_max.max(connect.back_off_min),
            (false, true) => connect.back_off_min = connect.back_off_min.min(connect.back_off_max),
            _ => {}
        }
        section.finish();
        let standstill = root.section("standstill").settings(StandstillConfig::read);
        let settings = Self {
            software,
            mode: stopping(mode, &standstill),
            link,
            path,
            program,
            buffered,
            torque,
            text,
            standstill,
            connect,
            operator: root.section("operator").settings(OperatorConfig::read),
        };
        // The limits are read elsewhere, and conflicts with them are reported there.
        if let Err(error) = settings.config().check_ranges() {
            complain(root, &error);
        }
        settings
    }

    /// Raises the accelerations in motion commands that are sent as script text to the highest of the joints' limits,
    /// unless the file sets them. The one for stops is only raised if the file sets `limits.expert.braking`.
    ///
    /// The key `session.expert.own_stop`, the assumed deceleration of a stop by the controller itself, is not raised:
    /// it is measured on an arm, and braking distances are computed from it.
    pub(crate) fn follow(&mut self, root: &Section<'_, '_>, limits: &Limits<6>) {
        let highest = |limits: &[f32; 6]| limits.iter().copied().fold(0.0, f32::max);
        if !root.stands("session.acceleration") {
            self.text.acceleration = self.text.acceleration.max(highest(limits.acceleration.as_array()));
        }
        if root.stands("limits.braking") && !root.stands("session.stop_acceleration") {
            self.text.stop_acceleration = self.text.stop_acceleration.max(highest(limits.braking.as_array()));
        }
    }

    /// Returns the configuration of the control engine that these settings determine, with defaults for everything
    /// else.
    pub(crate) fn config(&self) -> UrConfig {
        let Self { software, mode, link, path, program, buffered, torque, text, standstill, connect, operator } = *self;
        UrConfig {
            peer: UrOptions { software, path, program, buffered, torque, text, connect, ..UrOptions::default() },
            mode,
            link,
            standstill,
            operator,
            ..UrConfig::default()
        }
    }
}

/// Reads the conditions for commanding, and the limits by which the link is judged. Of the two thresholds for the
/// robot's speed scaling, if the file sets only one, the other is moved so that they do not cross.
pub(crate) fn judging(section: &mut Section<'_, '_>) -> (ModeTuning, LinkTuning) {
    let (mut mode, mut link) = (ModeTuning::default(), LinkTuning::default());
    mode.read(section);
    link.read(section);
    let scaling = &mut mode.scaling;
    match (section.has("scaling_zero_below"), section.has("scaling_free_from")) {
        (true, false) => scaling.free_from = scaling.free_from.max(scaling.zero_below),
        (false, true) => scaling.zero_below = scaling.zero_below.min(scaling.free_from),
        _ => {}
    }
    (mode, link)
}

/// Raises the default of the longest time for a stop, so that standstill can be detected within it. A time that the
/// file sets is kept.
pub(crate) fn stopping(mode: ModeTuning, standstill: &StandstillConfig) -> ModeTuning {
    // The zero velocities of the slowest controller, and the way to standstill.
    let needed = standstill.window + Duration::from_secs(2);
    let longer = mode.stop_timeout.is_none() && needed > Duration::from_secs(5);
    if longer { ModeTuning { stop_timeout: Some(needed), ..mode } } else { mode }
}

/// The keys whose default value may be wrong because of other keys in the file, each with those other keys.
const BOUND: &[(&str, &[&str])] = &[
    ("session.hold", &["session.stale_after", "session.state_timeout", "session.margin"]),
    ("session.stale_after", &["session.margin"]),
    ("session.arming_timeout", &["session.good_cycles"]),
    ("session.stop_timeout", &["session.stop_cycles", "standstill.window"]),
];

/// Formats an error of the engine's configuration with the name that the setting has in files, e.g.
/// `program.expert.orders: expected …`.
#[must_use]
pub fn refusal(error: &ConfigError) -> String {
    match error {
        ConfigError::Value { section, error } => {
            format!("{}: expected {}", placed(&key_of(section, error.field)), error.expected)
        }
        ConfigError::Limits(error) => {
            format!("{}: expected {}", placed(&format!("limits.{}", error.field)), error.expected)
        }
        ConfigError::Conflict(_) | ConfigError::Sources(_) | ConfigError::Memory { .. } => error.to_string(),
    }
}

/// Returns the name that a field of the engine's configuration has as a key in files, without the table `expert`.
fn key_of(section: &str, field: &str) -> String {
    match (section, field.split_once('.')) {
        (_, Some((part @ ("following" | "scaling" | "pendant"), field))) => format!("session.{part}_{field}"),
        (_, Some(("limits", field))) => format!("session.grade.{field}"),
        (_, Some(("tracking", "joints"))) => "limits.tracking_error".into(),
        (_, Some(("tracking", "linear"))) => "limits.tool_tracking_error".into(),
        (_, Some(("tracking", "angular"))) => "limits.tool_turn_tracking_error".into(),
        (_, Some(("torque", "rise"))) => "limits.torque_rise".into(),
        (_, Some(("added", field))) => format!("limits.added_{field}"),
        (_, Some(("torque", field))) => format!("limits.{field}"),
        (_, Some(("control", field))) => format!("robot.{field}"),
        ("fri", None) => format!("robot.{field}"),
        (_, Some(_)) => field.to_owned(),
        ("connect" | "operator" | "outputs" | "program", None) => format!("{section}.{field}"),
        (_, None) => format!("session.{field}"),
    }
}

/// Records the problem that the engine rejects a setting: at its key, or, if the file does not set it, at a key in the
/// file that its default conflicts with.
pub(crate) fn complain(root: &Section<'_, '_>, error: &ConfigError) {
    match error {
        ConfigError::Value { section, error } => {
            let path = key_of(section, error.field);
            let others = BOUND.iter().find(|(key, _)| *key == path).map_or(&[][..], |(_, others)| others);
            match others.iter().find(|other| root.stands(other)) {
                Some(other) if !root.stands(&path) => {
                    root.complain_at(
                        other,
                        format!("one that goes with {}, which is {}", placed(&path), error.expected),
                    );
                }
                _ => root.complain_at(&path, error.expected),
            }
        }
        // Limits are rejected where they are read.
        ConfigError::Limits(_) => {}
        // Sensors are read, and rejected, elsewhere. Memory is not configured.
        ConfigError::Conflict(_) | ConfigError::Sources(_) | ConfigError::Memory { .. } => {
            root.complain_at("session", error.to_string());
        }
    }
}

/// Checks that no input line for requests must be held if the run requests commanding by itself, because only one of
/// both may start the arm. Called after the whole file has been read.
pub(crate) fn check_operator(root: &Section<'_, '_>, operator: &OperatorConfig) {
    if operator.start_within.is_some() && operator.is_held() {
        let key = if operator.request_pin { "device.request_pin" } else { "operator.request_input" };
        root.complain_at(
            "run.request",
            format!("\"operator\" with {}: a held request line starts by itself", placed(key)),
        );
    }
}

/// Checks the settings for operators of a board as [`check_operator`] does, and that a request by an edge can be ended
/// by a stop contact, because a board has no keyboard.
pub(crate) fn check_operator_of_board(root: &Section<'_, '_>, operator: &OperatorConfig) {
    check_operator(root, operator);
    if operator.has_edge() && !operator.can_release() {
        let pin = operator.request_pin && operator.pin_as == RequestAs::Edge;
        let key = if pin { "device.request_pin_as" } else { "operator.request_as" };
        root.complain_at(key, "\"held\", or device.stop_pin with it: an edge cannot be withdrawn");
    }
}

/// Parses the name of the interface that supplies the robot's states.
///
/// # Errors
/// Returns a text with the accepted names.
pub fn parse_states(word: &str) -> Result<StatesFrom, String> {
    let known = StatesFrom::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, states)| *states).ok_or_else(|| "expected auto, realtime or rtde".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_is_a_whole_version() {
        assert_eq!(parse_software("5.15"), Ok(SoftwareVersion::new(5, 15)));
        assert_eq!(parse_software("3.15.4"), Ok(SoftwareVersion { major: 3, minor: 15, bugfix: 4 }));
        for bad in ["", "5", "5.", "5.x", "-1.5", "5.1.2.3", "500.1"] {
            assert!(parse_software(bad).is_err(), "{bad}");
        }
    }
}
