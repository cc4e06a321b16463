//! `[session]`, `[standstill]`, `[connect]` and `[operator]`: how the session connects, judges the controller, writes to
//! it, and is asked to.

use outrigger_core::engine::ur::UrOptions;
use outrigger_core::engine::ur::{ConnectConfig, FormChoice, StatesFrom, TextConfig, UrConfig};
use outrigger_core::engine::{ConfigError, FollowingTuning, GradeLimitsTuning, GradeTuning, LinkTuning, ModeTuning};
use outrigger_core::link::{Grade, LinkConfig};
use outrigger_core::mode::{
    FollowingConfig, ModeConfig, OperatorConfig, PendantConfig, RequestAs, ScalingConfig, StandstillConfig,
};
use outrigger_core::robot::{Range, SoftwareVersion};

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
    pub(crate) fn read(root: &mut Section<'_, '_>) -> Self {
        let mut section = root.section("session");
        let software = section
            .text("software", "the controller's software, e.g. \"3.15\"")
            .and_then(|text| parse_software(text).map_err(|expected| section.complain("software", expected)).ok());
        let (mode, link, text) = (mode(&mut section), link(&mut section), text(&mut section));
        section.finish();
        let settings = Self {
            software,
            mode,
            link,
            text,
            standstill: standstill(root.section("standstill")),
            connect: connect(root.section("connect")),
            operator: operator(root.section("operator")),
        };
        // Limits are read elsewhere: what stands against them is complained of there.
        if let Err(error) = settings.config().check_ranges() {
            complain(root, &error);
        }
        settings
    }

    /// Everything these tables decide, beside defaults.
    pub(crate) fn config(&self) -> UrConfig {
        let Self { software, mode, link, text, standstill, connect, operator } = *self;
        UrConfig {
            peer: UrOptions { software, text, connect, ..UrOptions::default() },
            mode,
            link,
            standstill,
            operator,
            ..UrConfig::default()
        }
    }
}

/// Complains about what the core refuses, at the key it came from.
pub(crate) fn complain(root: &Section<'_, '_>, error: &ConfigError) {
    match error {
        ConfigError::Value { section, error } => {
            let path = match (*section, error.field.split_once('.')) {
                (_, Some((part @ ("following" | "scaling" | "pendant"), field))) => format!("session.{part}_{field}"),
                (_, Some(("limits", field))) => format!("session.grade.{field}"),
                (_, Some(("tracking", "joints"))) => "limits.tracking_error".into(),
                (_, Some(("tracking", "linear"))) => "limits.tool_tracking_error".into(),
                (_, Some(("tracking", "angular"))) => "limits.tool_turn_tracking_error".into(),
                (_, Some(("control", field))) => format!("robot.{field}"),
                ("fri", None) => format!("robot.{}", error.field),
                (_, Some(_)) => error.field.to_owned(),
                ("connect" | "operator", None) => format!("{section}.{}", error.field),
                (_, None) => format!("session.{}", error.field),
            };
            root.complain_at(&path, error.expected);
        }
        // Limits and sensors are read, and refused, elsewhere; memory is not configured.
        ConfigError::Limits(_) | ConfigError::Conflict(_) | ConfigError::Sources(_) | ConfigError::Memory { .. } => {
            root.complain_at("session", error.to_string());
        }
    }
}

pub(crate) fn mode(section: &mut Section<'_, '_>) -> ModeTuning {
    let default = ModeTuning::default();
    let cycles = |section: &mut Section<'_, '_>, key, range: Range<u16>| {
        section.count(key, range).and_then(|cycles| u16::try_from(cycles).ok())
    };
    ModeTuning {
        good_cycles: section.count("good_cycles", ModeConfig::GOOD_CYCLES),
        arming_timeout: section.duration("arming_timeout", ModeConfig::ARMING_TIMEOUT),
        evidence_age: section.duration("evidence_age", ModeConfig::EVIDENCE_AGE),
        state_timeout: section.duration("state_timeout", ModeConfig::STATE_TIMEOUT),
        stop_cycles: section.count("stop_cycles", ModeConfig::STOP_CYCLES).and_then(|cycles| u8::try_from(cycles).ok()),
        stop_timeout: section.duration("stop_timeout", ModeConfig::STOP_TIMEOUT),
        program_timeout: section.duration("program_timeout", ModeConfig::PROGRAM_TIMEOUT),
        offline_after: section.duration("offline_after", ModeConfig::OFFLINE_AFTER),
        // Of remote control a session hears only that it is off: there is no word whose age could be judged.
        remote_evidence_age: None,
        take_over: section.flag("take_over", default.take_over),
        acceptance_unknown: section.flag("acceptance_unknown", default.acceptance_unknown),
        require_remote: section.flag("require_remote", default.require_remote),
        following: FollowingTuning {
            delay: section
                .count("following_delay", FollowingConfig::DELAY)
                .and_then(|cycles| u8::try_from(cycles).ok()),
            patience: cycles(section, "following_patience", FollowingConfig::PATIENCE),
            late_patience: cycles(section, "following_late_patience", FollowingConfig::LATE_PATIENCE),
            tolerance: section.number("following_tolerance", FollowingConfig::TOLERANCE),
            relative: section.number("following_relative", FollowingConfig::RELATIVE),
            ramp: section.number("following_ramp", FollowingConfig::RAMP),
            scaling_rate: section.number("following_scaling_rate", FollowingConfig::SCALING_RATE),
        },
        scaling: scaling(section),
        pendant: pendant(section),
    }
}

fn pendant(section: &mut Section<'_, '_>) -> PendantConfig {
    let default = PendantConfig::default();
    let small = |section: &mut Section<'_, '_>, key, range: Range<u8>| {
        section.count(key, range).and_then(|number| u8::try_from(number).ok())
    };
    PendantConfig {
        stops: section.flag("pendant_stops", default.stops),
        at_once: section.flag("pendant_at_once", default.at_once),
        left: small(section, "pendant_left", PendantConfig::LEFT).unwrap_or(default.left),
        flicker: small(section, "pendant_flicker", PendantConfig::FLICKER).unwrap_or(default.flicker),
    }
}

fn scaling(section: &mut Section<'_, '_>) -> ScalingConfig {
    let default = ScalingConfig::default();
    let states =
        section.count("scaling_held_states", ScalingConfig::HELD_STATES).and_then(|states| u8::try_from(states).ok());
    ScalingConfig {
        zero_below: section.number_or("scaling_zero_below", default.zero_below, ScalingConfig::ZERO_BELOW),
        free_from: section.number_or("scaling_free_from", default.free_from, ScalingConfig::FREE_FROM),
        held_states: states.unwrap_or(default.held_states),
        begin_speed: section.number_or("scaling_begin_speed", default.begin_speed, ScalingConfig::BEGIN_SPEED),
        begin_time: section.duration_or("scaling_begin_time", default.begin_time, ScalingConfig::BEGIN_TIME),
        held_timeout: section.duration_or("scaling_held_timeout", default.held_timeout, ScalingConfig::HELD_TIMEOUT),
    }
}

pub(crate) fn link(section: &mut Section<'_, '_>) -> LinkTuning {
    let grades = [Grade::Bad, Grade::Ok, Grade::Perfect].map(|grade| (grade.name(), Some(grade)));
    LinkTuning {
        entry: section.choice("entry", &grades, None),
        stale_after: section.duration("stale_after", LinkConfig::STALE_AFTER),
        max_misses: section.count("max_misses", LinkConfig::MAX_MISSES),
        margin: section.duration("margin", LinkConfig::MARGIN),
        stall: section.duration("stall", LinkConfig::STALL),
        clock_jump: section.duration("clock_jump", LinkConfig::CLOCK_JUMP),
        limits: grade(section.section("grade")),
        rise_time: section.duration("rise_time", LinkConfig::RISE_TIME),
        leak_ppm: section.count("leak_ppm", LinkConfig::LEAK_PPM),
        shift_hold: section.duration("shift_hold", LinkConfig::SHIFT_HOLD),
        burst: section.duration("burst", LinkConfig::BURST),
    }
}

fn grade(mut section: Section<'_, '_>) -> GradeTuning {
    let mut limits = |name| {
        let mut section = section.section(name);
        let limits = GradeLimitsTuning {
            received: section
                .number("received", (0.0..=f32::from(LinkConfig::RECEIVED.most) / 10_000.0, ""))
                .map(|share| (share * 10_000.0).round() as u16),
            delay: section.duration("delay", LinkConfig::DELAY),
            jitter: section.duration("jitter", LinkConfig::DELAY),
            misses: section.count("misses", LinkConfig::MISSES),
        };
        section.finish();
        limits
    };
    let tuning = GradeTuning { perfect: limits("perfect"), ok: limits("ok"), bad: limits("bad") };
    section.finish();
    tuning
}

/// What a request line means, by its word.
pub(crate) const REQUEST_AS: [(&str, RequestAs); 2] = [("held", RequestAs::Held), ("edge", RequestAs::Edge)];

pub(crate) fn operator(mut section: Section<'_, '_>) -> OperatorConfig {
    let default = OperatorConfig::default();
    let mut input = |key| section.count(key, OperatorConfig::INPUT).and_then(|bit| u8::try_from(bit).ok());
    let (request_input, acknowledge_input, stop_input) =
        (input("request_input"), input("acknowledge_input"), input("stop_input"));
    let operator = OperatorConfig {
        request_input,
        acknowledge_input,
        stop_input,
        input_as: section.choice("request_as", &REQUEST_AS, default.input_as),
        low_for: section.duration_or("low_for", default.low_for, OperatorConfig::LOW_FOR),
        released_for: section.duration_or("released_for", default.released_for, OperatorConfig::RELEASED_FOR),
        low_states: section
            .count_or("low_states", default.low_states.into(), OperatorConfig::LOW_STATES)
            .try_into()
            .unwrap_or(u8::MAX),
        ..default
    };
    section.finish();
    operator
}

/// Holds what the file says of operators together, once all of it is read.
pub(crate) fn check_operator(root: &Section<'_, '_>, operator: &OperatorConfig) {
    if operator.start_within.is_some() && operator.is_held() {
        let key = if operator.request_pin { "device.request_pin" } else { "operator.request_input" };
        root.complain_at(
            "run.request",
            format!("\"operator\" beside {key}: a request line that is held starts by itself"),
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

fn text(section: &mut Section<'_, '_>) -> TextConfig {
    let default = TextConfig::default();
    let forms =
        [("by-version", FormChoice::ByVersion), ("bare", FormChoice::Bare), ("self-ending", FormChoice::SelfEnding)];
    TextConfig {
        form: section.choice("form", &forms, default.form),
        acceleration: section.number_or("acceleration", default.acceleration, TextConfig::ACCELERATION),
        stop_acceleration: section.number_or(
            "stop_acceleration",
            default.stop_acceleration,
            TextConfig::STOP_ACCELERATION,
        ),
        own_stop: section.number_or("own_stop", default.own_stop, TextConfig::STOP_ACCELERATION),
        hold: section.duration_or("hold", default.hold, TextConfig::HOLD),
    }
}

pub(crate) fn standstill(mut section: Section<'_, '_>) -> StandstillConfig {
    let default = StandstillConfig::default();
    let standstill = StandstillConfig {
        window: section.duration_or("window", default.window, StandstillConfig::WINDOW),
        speed: section.number_or("speed", default.speed, StandstillConfig::SPEED),
        travel: section.number_or("travel", default.travel, StandstillConfig::TRAVEL),
        target_speed: section.number_or("target_speed", default.target_speed, StandstillConfig::TARGET_SPEED),
        max_gap: section.duration_or("max_gap", default.max_gap, StandstillConfig::MAX_GAP),
    };
    section.finish();
    standstill
}

/// The words for where states come from, in files and on the command line.
const STATES: [(&str, StatesFrom); 3] =
    [("auto", StatesFrom::Auto), ("realtime", StatesFrom::Realtime), ("rtde", StatesFrom::Rtde)];

/// Where states come from, by its word.
///
/// # Errors
/// What would have been one.
pub fn parse_states(word: &str) -> Result<StatesFrom, String> {
    let known = STATES.iter().find(|(known, _)| *known == word);
    known.map(|(_, states)| *states).ok_or_else(|| "expected auto, realtime or rtde".into())
}

fn connect(mut section: Section<'_, '_>) -> ConnectConfig {
    let default = ConnectConfig::default();
    let states = section.choice("states", &STATES, default.states);
    let mut wait = |key, default| section.duration_or(key, default, ConnectConfig::WAIT);
    let connect = ConnectConfig {
        states,
        open_timeout: wait("open_timeout", default.open_timeout),
        first_message_timeout: wait("first_message_timeout", default.first_message_timeout),
        silence_timeout: wait("silence_timeout", default.silence_timeout),
        back_off_min: wait("back_off_min", default.back_off_min),
        back_off_max: wait("back_off_max", default.back_off_max),
        settled_after: wait("settled_after", default.settled_after),
        abort_after: wait("abort_after", default.abort_after),
        primary_required: section.flag("primary_required", default.primary_required),
        ..default
    };
    section.finish();
    connect
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
