//! `[session]`, `[program]`, `[standstill]`, `[connect]` and `[operator]`: how the session connects, judges the controller, writes to
//! it, and is asked to.

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

/// How the session connects, judges the controller and writes to it; absent is the core's default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SessionSettings {
    /// The controller's software, where its own word is not to be relied on.
    pub software: Option<SoftwareVersion>,
    /// What begins and ends commanding.
    pub mode: ModeTuning,
    /// How the link is judged.
    pub link: LinkTuning,
    /// How motion reaches the controller.
    pub path: CommandPath,
    /// The program that carries it there, where one does.
    pub program: ProgramConfig,
    /// The ring in which positions wait on their way to the controller.
    pub buffered: BufferedConfig,
    /// Limits of an arm that is commanded by torques, from `[limits]`.
    pub torque: TorqueLimits<6>,
    /// How text is written.
    pub text: TextConfig,
    /// What counts as rest.
    pub standstill: StandstillConfig,
    /// How long is waited for what.
    pub connect: ConnectConfig,
    /// Where an operator speaks beside messages.
    pub operator: OperatorConfig,
}

/// A whole version, e.g. `5.15` or `3.15.4`.
///
/// # Errors
/// What was expected.
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
        // An arm whose text has run out stops by itself, and is not to be commanded on.
        let default = TextConfig::default().hold;
        if text.hold < default {
            // Two periods of the fastest controller are the least.
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
        // Limits are read elsewhere: what stands against them is complained of there.
        if let Err(error) = settings.config().check_ranges() {
            complain(root, &error);
        }
        settings
    }

    /// Raises the accelerations of the text that the file does not give to what the limits ask of them.
    ///
    /// `own_stop` does not follow: it is measured on an arm, and braking distances are reckoned with it.
    pub(crate) fn follow(&mut self, root: &Section<'_, '_>, limits: &Limits<6>) {
        let highest = |limits: &[f32; 6]| limits.iter().copied().fold(0.0, f32::max);
        if !root.stands("session.acceleration") {
            self.text.acceleration = self.text.acceleration.max(highest(limits.acceleration.as_array()));
        }
        if root.stands("limits.braking") && !root.stands("session.stop_acceleration") {
            self.text.stop_acceleration = self.text.stop_acceleration.max(highest(limits.braking.as_array()));
        }
    }

    /// Everything these tables decide, beside defaults.
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

/// Reads what begins and ends commanding, and how the link is judged. Of two thresholds that bound each other, the one that the file
/// does not give follows the other.
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

/// A stop may take as long as rest needs to be seen, where the file does not say how long it may take.
pub(crate) fn stopping(mode: ModeTuning, standstill: &StandstillConfig) -> ModeTuning {
    // The zero velocities of the slowest controller, and the way to rest.
    let needed = standstill.window + Duration::from_secs(2);
    let longer = mode.stop_timeout.is_none() && needed > Duration::from_secs(5);
    if longer { ModeTuning { stop_timeout: Some(needed), ..mode } } else { mode }
}

/// Keys whose default is held against others, with those.
const BOUND: &[(&str, &[&str])] = &[
    ("session.hold", &["session.stale_after", "session.state_timeout", "session.margin"]),
    ("session.stale_after", &["session.margin"]),
    ("session.arming_timeout", &["session.good_cycles"]),
    ("session.stop_timeout", &["session.stop_cycles", "standstill.window"]),
];

/// Returns the core's refusal with the name that its key has in files, e.g. `program.expert.orders: expected …`.
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

/// Returns the key, without the table `expert`, of a field in a section of the core's configuration.
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

/// Complains about what the core refuses, at the key it came from, or at the one in the file that it does not go with.
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
        // They were refused where they were read.
        ConfigError::Limits(_) => {}
        // Sensors are read, and refused, elsewhere; memory is not configured.
        ConfigError::Conflict(_) | ConfigError::Sources(_) | ConfigError::Memory { .. } => {
            root.complain_at("session", error.to_string());
        }
    }
}

/// Holds what the file says of operators together, once all of it is read.
pub(crate) fn check_operator(root: &Section<'_, '_>, operator: &OperatorConfig) {
    if operator.start_within.is_some() && operator.is_held() {
        let key = if operator.request_pin { "device.request_pin" } else { "operator.request_input" };
        root.complain_at(
            "run.request",
            format!("\"operator\" beside {}: a request line that is held starts by itself", placed(key)),
        );
    }
}

/// The same for a board, where nobody can release by a key.
pub(crate) fn check_operator_of_board(root: &Section<'_, '_>, operator: &OperatorConfig) {
    check_operator(root, operator);
    if operator.has_edge() && !operator.can_release() {
        let pin = operator.request_pin && operator.pin_as == RequestAs::Edge;
        let key = if pin { "device.request_pin_as" } else { "operator.request_as" };
        root.complain_at(key, "\"held\", or device.stop_pin beside it: an edge cannot be taken back");
    }
}

/// Where states come from, by its word.
///
/// # Errors
/// What would have been one.
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
