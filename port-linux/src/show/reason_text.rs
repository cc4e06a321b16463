//! Descriptions of reasons (why commanding is rejected or ended), of holds of a motion, and of outputs of the
//! controller.

use outrigger_core::command::outputs::{
    AnalogDomain, DigitalOutput, ToolVoltage, VariableValue, Write, WriteOutcome, WriteRefusal,
};
use outrigger_core::link::GradeLow;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::Pose;
use outrigger_wire::time::Duration;

use super::grade;
pub use super::reason_advice::{Observer, advice, of_metric};

/// Returns the name of a request on the command line; `word` is its name in JSON.
pub(crate) fn command_name(word: &str) -> &str {
    match word {
        "request" => "start",
        "release" => "stop",
        "acknowledge" => "reset",
        word => word,
    }
}

/// Describes a motion that is held (paused) for `reason`, e.g. by the speed slider at 0, and how it can continue.
#[must_use]
pub fn of_hold(reason: Reason) -> &'static str {
    match reason {
        Reason::HeldByScaling => "held by the robot's speed slider: the arm continues when it is raised",
        Reason::ProgramPaused => "paused at the pendant: the arm continues when the program is resumed there",
        other => other.text(),
    }
}

/// Orders the reasons of a set by cause: those from which others follow are first. An emergency stop precedes a robot
/// that does not run.
#[must_use]
pub fn causes_first(reasons: ReasonSet) -> Vec<Reason> {
    const fn rank(reason: Reason) -> u8 {
        match reason {
            Reason::LinkClosed => 0,
            Reason::EmergencyStop | Reason::SafetyFault | Reason::ProtectiveStop | Reason::SafeguardStop => 1,
            Reason::RobotNotRunning | Reason::NotRemote => 2,
            Reason::LocalStall | Reason::ClockJump => 3,
            Reason::StateStale | Reason::StatesMissed | Reason::Unacknowledged => 4,
            Reason::GradeLow => 5,
            Reason::EvidenceMissing | Reason::MotionUnknown | Reason::NotGranted => 7,
            Reason::NotAtRest => 8,
            Reason::Latched => 9,
            _ => 6,
        }
    }
    let mut reasons: Vec<Reason> = reasons.iter().collect();
    reasons.sort_by_key(|reason| rank(*reason));
    reasons
}

/// Formats one line for each unmet precondition of commanding, causes first.
#[must_use]
pub(crate) fn of_unmet(unmet: ReasonSet, low: Option<&GradeLow>, observer: Observer, here: bool) -> Vec<String> {
    let line = |reason: Reason| {
        let text = of_reason(reason, low, observer);
        format!("Not ready: {text} ({}); {}", reason.name(), advice(reason, here))
    };
    causes_first(unmet).into_iter().map(line).collect()
}

/// Formats lines of text that follow a colon: a single one in the same line, several below it.
pub(crate) fn one_per_line(lines: &[String]) -> String {
    match lines {
        [only] => format!(" {only}"),
        several => several.iter().map(|line| format!("\n  {line}")).collect(),
    }
}

/// Describes a reason, for which commanding is rejected or ended. If it is the low grade of the link, the figures of
/// `low` explain it.
pub fn of_reason(reason: Reason, low: Option<&GradeLow>, observer: Observer) -> String {
    match low {
        Some(low) if reason == Reason::GradeLow => grade::of_link(low, observer),
        Some(_) | None => reason.text().to_owned(),
    }
}

/// Formats an assignment of an output, like on the command line of `io`.
#[must_use]
pub fn of_write(write: &Write) -> String {
    let level = |high| if high { "on" } else { "off" };
    match *write {
        Write::Digital { output: DigitalOutput::Standard(index), high } => {
            format!("digital-out.{index}={}", level(high))
        }
        Write::Digital { output: DigitalOutput::Configurable(index), high } => {
            format!("configurable-out.{index}={}", level(high))
        }
        Write::Digital { output: DigitalOutput::Tool(index), high } => format!("tool-out.{index}={}", level(high)),
        Write::Analog { index, domain: Some(AnalogDomain::Voltage), level } => {
            format!("analog-out.{index}={}V", rounded(level * 10.0))
        }
        Write::Analog { index, domain: Some(AnalogDomain::Current), level } => {
            format!("analog-out.{index}={}mA", rounded(level.mul_add(16.0, 4.0)))
        }
        Write::Analog { index, domain: None, level } => format!("analog-out.{index}={level}"),
        Write::ToolVoltage(ToolVoltage::Off) => "tool-voltage=0".into(),
        Write::ToolVoltage(ToolVoltage::V12) => "tool-voltage=12".into(),
        Write::ToolVoltage(ToolVoltage::V24) => "tool-voltage=24".into(),
        Write::Flag { index, value } => format!("flag.{index}={}", level(value)),
        Write::Payload { mass, center_of_gravity: None } => format!("payload={mass}"),
        Write::Payload { mass, center_of_gravity: Some([x, y, z]) } => format!("payload={mass}@{x},{y},{z}"),
        Write::TargetPayload { mass, center_of_gravity: [x, y, z], inertia, transition_time } => {
            let [xx, yy, zz, xy, xz, yz] = inertia;
            let passes = match transition_time {
                Duration::ZERO => String::new(),
                time => format!(" within {} s", time.as_secs_f64()),
            };
            format!("payload={mass}@{x},{y},{z}/{xx},{yy},{zz},{xy},{xz},{yz}{passes}")
        }
        Write::SpeedSlider(position) => format!("speed-slider={position}"),
        Write::ZeroForceTorqueSensor => "zero-force-torque".into(),
        Write::Tcp(Pose { position: [x, y, z], rotation: [rx, ry, rz] }) => format!("tcp={x},{y},{z},{rx},{ry},{rz}"),
        Write::Gravity([x, y, z]) => format!("gravity={x},{y},{z}"),
        Write::Variable { index, value: VariableValue::Bool(value) } => format!("krl-bool.{index}={}", level(value)),
        Write::Variable { index, value: VariableValue::Int(value) } => format!("krl-int.{index}={value}"),
        Write::Variable { index, value: VariableValue::Real(value) } => format!("krl-real.{index}={value}"),
    }
}

/// Rounds the level of an analog output to 0.0001 V or mA, so that it reads as it was requested, in spite of the
/// limited precision of `f32`.
fn rounded(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}

/// Describes the result of setting an output of the controller, for people.
#[must_use]
pub fn of_news(news: &WriteOutcome) -> String {
    match news {
        WriteOutcome::Sent => "sent".into(),
        WriteOutcome::Confirmed(after) => format!("confirmed after {:.0} ms", after.as_micros() as f64 / 1e3),
        WriteOutcome::NeverShown => "sent; this controller does not report it".into(),
        WriteOutcome::NotConfirmed => "not confirmed: the controller reports another value".into(),
        WriteOutcome::Superseded => "replaced by a later one".into(),
        WriteOutcome::Overwritten => "changed by another client or the controller".into(),
        WriteOutcome::Refused(refusal) => format!("refused: {refusal}"),
    }
}

/// Returns the name of the result of setting an output, for scripts.
#[must_use]
pub const fn name_of_news(news: &WriteOutcome) -> &'static str {
    match news {
        WriteOutcome::Sent => "sent",
        WriteOutcome::Confirmed(_) => "confirmed",
        WriteOutcome::NeverShown => "never-shown",
        WriteOutcome::NotConfirmed => "not-confirmed",
        WriteOutcome::Superseded => "superseded",
        WriteOutcome::Overwritten => "overwritten",
        WriteOutcome::Refused(refusal) => match refusal {
            WriteRefusal::NotConnected => "refused-not-connected",
            WriteRefusal::Full => "refused-full",
            WriteRefusal::Impossible(_) => "refused-impossible",
            WriteRefusal::LocalControl => "refused-local-control",
            WriteRefusal::NoInput => "refused-no-input",
            WriteRefusal::Off => "refused-off",
            WriteRefusal::LinkStale => "refused-link-stale",
            WriteRefusal::Commanding => "refused-commanding",
            WriteRefusal::NoSuchOutput => "refused-no-such-output",
            WriteRefusal::Reserved => "refused-reserved",
            WriteRefusal::NotFinite => "refused-not-finite",
            _ => "refused",
        },
    }
}

/// Returns the vendor's names of an arm's joints, base first. For a KUKA LWR they are the names in KRL.
pub fn joint_names(joints: usize) -> &'static [&'static str] {
    match joints {
        7 => &["A1", "A2", "E1", "A3", "A4", "A5", "A6"],
        _ => &["base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmet_preconditions_are_a_line_each_with_the_cause_first() {
        let unmet = [Reason::RobotNotRunning, Reason::EmergencyStop, Reason::Latched, Reason::NotAtRest];
        let unmet: ReasonSet = unmet.into_iter().collect();
        let causes = [Reason::EmergencyStop, Reason::RobotNotRunning, Reason::NotAtRest, Reason::Latched];
        assert_eq!(causes_first(unmet), causes);
        let lines = of_unmet(unmet, None, Observer::Process, false);
        assert!(lines.iter().zip(causes).all(|(line, reason)| line.contains(reason.name())), "{lines:?}");
        assert_eq!(one_per_line(&lines).lines().skip(1).map(str::trim).collect::<Vec<_>>(), lines);
        assert_eq!(one_per_line(&lines[..1]), format!(" {}", lines[0]));
        assert_eq!(causes_first(Reason::ALL.iter().copied().collect()).len(), Reason::ALL.len());
    }
}
