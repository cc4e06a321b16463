//! Events in words that do not depend on the names of their types.

use outrigger_core::command::outputs::{Write, WriteOutcome};
use outrigger_core::engine::krc::KrcEvent;
use outrigger_core::engine::ur::{DownCause, Next, UrEvent, VersionSource, link_name};
use outrigger_core::engine::{Event, Input};
use outrigger_core::link::Metric;
use outrigger_core::mode::{Contact, Lapse, Transition};
use outrigger_wire::frame::Found;
use outrigger_wire::primary::{Report, ReportKind};
use outrigger_wire::time::Duration;

/// Returns the kind of an event from its text: the first word.
pub(crate) fn kind(text: &str) -> &str {
    text.split_once(' ').map_or(text, |(kind, _)| kind)
}

/// The events that only one kind of controller reports.
pub(crate) trait PeerEvent: std::fmt::Debug {
    /// Returns the event as text for the records of regression runs: its kind, then its values.
    fn words(&self) -> String;
}

impl PeerEvent for UrEvent {
    fn words(&self) -> String {
        match self {
            Self::Opening { link, endpoint } => format!("opening {} {}", link_name(*link), endpoint.port),
            Self::Opened(link) => format!("opened {}", link_name(*link)),
            Self::Down { link, endpoint, cause, next } => {
                format!("down {} {} {} {}", link_name(*link), endpoint.port, down(cause), after(next))
            }
            Self::Established(identity) => {
                let by = match identity.known_by {
                    VersionSource::Message => "message",
                    VersionSource::Configuration => "configuration",
                    VersionSource::Packet => "packet",
                };
                let (software, size, period) = (identity.software, identity.packet_size, micros(identity.period));
                format!(
                    "established {software} by {by}, {size} B, {period} us, states by {}",
                    link_name(identity.states)
                )
            }
            Self::UnownedInput(input) => format!("not-ours {input}"),
            Self::Report(report) => said(report),
            Self::Skipped { link, error } => format!("skipped {} {error}", link_name(*link)),
            Self::Malformed { link, error } => format!("malformed {} {error}", link_name(*link)),
            other => panic!("{other:?} has no words"),
        }
    }
}

impl PeerEvent for KrcEvent {
    fn words(&self) -> String {
        of_krc(self)
    }
}

/// Returns an event as text for the records of regression runs: its kind, then its values.
pub(crate) fn of<E: PeerEvent>(event: &Event<E>) -> String {
    match event {
        Event::Transition(change) => transition(change),
        Event::Refused(refusal) => {
            format!("refused {} by {} {}", refusal.word.name(), refusal.by.name(), refusal.reason.name())
        }
        Event::Grade(change) => {
            // The two directions are not distinguished here.
            let cause = match change.cause.metric {
                Metric::Answered => Metric::Received,
                Metric::Unanswered => Metric::Misses,
                metric => metric,
            };
            format!("grade {} {} {}", change.from.name(), change.to.name(), cause.name())
        }
        Event::ClockJump(count) => format!("clock-jump {count}"),
        Event::LocalStall { .. } => "local-stall".into(),
        Event::Bridged(bridged) => {
            format!("bridged source {} cycle {}", bridged.source.0, bridged.cycle)
        }
        Event::Output { write, news } => format!("output {} {}", set(write), became(news)),
        Event::Peer(event) => event.words(),
        Event::Lost(count) => format!("lost {count}"),
        Event::Held(held) => format!("held {held:?}"),
        Event::Lapsed(lapse) => match lapse {
            Lapse::TooLate => "lapsed too-late".into(),
            Lapse::Latched => "lapsed latched".into(),
        },
        Event::PendantOverridden => "pendant-overridden".into(),
        Event::Impossible(count) => format!("impossible {count}"),
        other => panic!("{other:?} has no words"),
    }
}

/// Returns an event of a KRC as text for the records of regression runs.
fn of_krc(event: &KrcEvent) -> String {
    match event {
        KrcEvent::Found { period_micros } => format!("krc-found {period_micros} us"),
        KrcEvent::Silent => "krc-silent".into(),
        KrcEvent::Foreign(count) => format!("krc-foreign {count}"),
        KrcEvent::Malformed { count, error } => format!("krc-malformed {count} {error}"),
        KrcEvent::State(state) => format!("krc-state {} {state}", state.raw()),
        KrcEvent::Quality(quality) => format!("krc-quality {} {quality}", quality.raw()),
        KrcEvent::Scheme(scheme) => format!("krc-scheme {} {scheme}", scheme.raw()),
        KrcEvent::Power(on) => format!("krc-power {on}"),
        KrcEvent::OtherScheme { krc, ours } => format!("krc-other-scheme {} {}", krc.raw(), ours.raw()),
    }
}

fn transition(change: &Transition) -> String {
    let reason = change.reason.map_or("-", outrigger_core::robot::Reason::name);
    format!("mode {} {} {reason} epoch {}", change.from.name(), change.to.name(), change.epoch.number())
}

fn micros(span: Duration) -> u64 {
    span.as_micros()
}

fn down(cause: &DownCause) -> String {
    let found = |found: &Found| match found {
        Found::Realtime => "realtime",
        Found::Primary => "primary",
        Found::Text => "text",
        Found::Unknown => "unknown",
    };
    match cause {
        DownCause::Refused => "refused".into(),
        DownCause::OpenTimeout => "open-timeout".into(),
        DownCause::NoGreeting => "no-greeting".into(),
        DownCause::WrongService(service) => format!("wrong-service {}", found(service)),
        DownCause::Closed => "closed".into(),
        DownCause::Silent => "silent".into(),
        DownCause::Unacknowledged => "unacknowledged".into(),
        DownCause::OtherController => "other-controller".into(),
        DownCause::LocalControl => "local-control".into(),
        DownCause::Rtde(unusable) => format!("rtde {unusable}"),
    }
}

fn after(next: &Next) -> String {
    match next {
        Next::OtherPort => "other-port".into(),
        Next::Without => "without".into(),
        Next::Retry(span) => format!("retry {}", micros(*span)),
        Next::NewSession(span) => format!("new-session {}", micros(*span)),
        Next::Nothing => "nothing".into(),
    }
}

fn said(report: &Report) -> String {
    let kind = match report.kind {
        ReportKind::Text => "text".into(),
        ReportKind::Popup => "popup".into(),
        ReportKind::Safety(mode) => format!("safety {}", mode.map_or("-".into(), |mode| mode.to_string())),
        ReportKind::Error => "error".into(),
        ReportKind::Key => "key".into(),
        ReportKind::RuntimeException(at) => format!("exception {at:?}"),
        _ => "other".into(),
    };
    format!("report {kind} {} {} {}", report.code, report.argument, report.text)
}

/// Returns an output write as text for the records of regression runs: numbers and names of the terminals.
pub(crate) fn set(write: &Write) -> String {
    match write {
        Write::Digital { output, high } => format!("digital {output:?} {high}"),
        Write::Analog { index, domain, level } => format!("analog {index} {domain:?} {level}"),
        Write::ToolVoltage(voltage) => format!("tool-voltage {voltage:?}"),
        Write::Flag { index, value } => format!("flag {index} {value}"),
        Write::Payload { mass, center_of_gravity } => format!("payload {mass} {center_of_gravity:?}"),
        Write::TargetPayload { mass, center_of_gravity, inertia, transition_time } => {
            format!("target-payload {mass} {center_of_gravity:?} {inertia:?} {} us", transition_time.as_micros())
        }
        Write::SpeedSlider(position) => format!("slider {position}"),
        Write::ZeroForceTorqueSensor => "zero-force-torque".into(),
        Write::Tcp(pose) => format!("tcp {:?} {:?}", pose.position, pose.rotation),
        Write::Gravity(gravity) => format!("gravity {gravity:?}"),
        Write::Variable { index, value } => format!("variable {index} {value:?}"),
    }
}

/// Returns the result of an output write as text for the records of regression runs.
pub(crate) fn became(news: &WriteOutcome) -> String {
    match news {
        WriteOutcome::Sent => "sent".into(),
        WriteOutcome::Confirmed(after) => format!("confirmed {}", micros(*after)),
        WriteOutcome::NeverShown => "never-shown".into(),
        WriteOutcome::NotConfirmed => "not-confirmed".into(),
        WriteOutcome::Superseded => "superseded".into(),
        WriteOutcome::Overwritten => "overwritten".into(),
        WriteOutcome::Refused(refusal) => format!("refused: {refusal}"),
    }
}

/// Returns an input as text for the records of regression runs. A request passed as an input is an old one; a present
/// request is a separate action.
pub(crate) const fn input(input: &Input) -> &'static str {
    match input {
        Input::Request(_) => "old-request",
        Input::Resume(_) => "resume",
        Input::Release => "release",
        Input::Acknowledge => "acknowledge",
        Input::Shutdown => "shutdown",
        Input::Pin(Contact::Request, true) => "request-pin high",
        Input::Pin(Contact::Request, false) => "request-pin low",
        Input::Pin(Contact::Acknowledge, true) => "acknowledge-pin high",
        Input::Pin(Contact::Acknowledge, false) => "acknowledge-pin low",
        Input::Pin(Contact::Stop, true) => "stop-pin high",
        Input::Pin(Contact::Stop, false) => "stop-pin low",
        Input::Set(_) => "set",
        Input::Sample(_) => "sample",
        _ => "other",
    }
}
