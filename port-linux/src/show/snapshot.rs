//! A snapshot of a session for display: all data for any output, taken from the engine at one instant.

use outrigger_core::law::{Law, Motion, Value};
use outrigger_core::link::{Bin, Figures, SequenceTotals};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, Payload, Pose, ProgramState, State, Twist, Wrench};
use outrigger_wire::time::{Duration, Instant};
use serde::{Serialize, Serializer};

use super::reason_text::{self, Observer};
use super::{States, Terminals, Variables, grade};
use crate::json::{self, Number};

/// The data of a session at one instant for displays: mode, reasons, link, arm and terminals.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The time of the snapshot since the start of the process.
    pub at: Instant,
    /// The address of the robot, as given by the user.
    pub robot: String,
    /// `true` if the controller runs on this machine, without a network in between.
    pub here: bool,
    /// The program that judges the link: a command, a microcontroller board, or one of them whose recording is
    /// analysed.
    pub observer: Observer,
    /// The identity of the controller, e.g. `ur5e, software 5.15.0`. `None` until it was reported.
    pub identity: Option<String>,
    /// The mode of the control state machine, e.g. monitor or command.
    pub mode: Mode,
    /// `true` if the next command overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// The first reason that was latched since the last acknowledgement: it prevents commanding until it is
    /// acknowledged. A release (requested end of commanding) is never latched. `None` if there is none.
    pub latch: Option<Reason>,
    /// The reason that was latched last (prevented commanding until acknowledged), even if it was acknowledged since.
    /// `None` if there was none.
    pub last_fallback: Option<Reason>,
    /// The unmet preconditions of commanding the arm. Empty while commanding.
    pub unmet: ReasonSet,
    /// The arm in the newest robot state. `None` without a state.
    pub state: Option<Arm>,
    /// The figures of the link that carries robot states, such as losses and intervals. `None` without a session.
    pub figures: Option<Figures>,
    /// The connection that carries robot states. `None` without a session, for a KRC (it has only one connection), and
    /// for a session of a microcontroller board.
    pub states: Option<States>,
    /// The histogram of the time between robot states since the start of the link: bins that are not empty.
    pub intervals: Vec<Bin>,
    /// The number of robot states per second since the previous snapshot.
    pub rate: f32,
    /// The reason why there is no session with the controller or no data from the microcontroller board. `None` if
    /// there is none or it is not known.
    pub trouble: Option<String>,
    /// Further named values of the session, for people.
    pub values: Vec<(String, String)>,
    /// Further named counters of the session for scripts, with their JSON keys.
    pub counters: Vec<(&'static str, u64)>,
    /// The variables that a program on the controller sends. `None` if this kind of controller shares none, or has sent
    /// none yet.
    pub variables: Option<Variables>,
    /// The controller's electrical inputs and outputs. `None` if they are not reported.
    pub terminals: Option<Terminals>,
    /// The temperatures of the motors, base joint first \[°C\]. `None` if they are not known to this program.
    pub temperatures: Option<Vec<f32>>,
    /// The distance of the arm from the control law's setpoint. `None` while the arm is not commanded, and for a law
    /// without a setpoint and errors.
    pub law_error: Option<LawError>,
}

#[cfg(test)]
impl Snapshot {
    /// Creates a snapshot of a session that contains only `arm`.
    pub(crate) fn of(arm: Arm) -> Self {
        Self {
            at: Instant::ZERO,
            robot: "192.168.56.101".into(),
            here: false,
            observer: Observer::Process,
            identity: None,
            mode: Mode::Monitor,
            overrides_pendant: false,
            latch: None,
            last_fallback: None,
            unmet: ReasonSet::EMPTY,
            state: Some(arm),
            figures: None,
            states: None,
            intervals: vec![],
            rate: 0.0,
            trouble: None,
            values: vec![],
            counters: vec![],
            variables: None,
            terminals: None,
            temperatures: None,
            law_error: None,
        }
    }
}

/// The control error of a control law: how far the arm is from the law's setpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LawError {
    /// The largest difference of a joint position from its setpoint \[rad\].
    Joint(f32),
    /// The largest of the control law's errors that have the unit of the first one. Values in different units cannot be
    /// compared.
    Value(Value),
}

impl LawError {
    /// Returns the control error of `law` at the robot state `state`. `None` for a law that controls neither readings
    /// nor positions.
    #[must_use]
    pub fn of<const N: usize>(law: &impl Law<N>, state: &State<N>) -> Option<Self> {
        let joints = || {
            let differences = law
                .motion()
                .and_then(Motion::setpoint)?
                .positions
                .iter()
                .zip(state.positions.iter())
                .map(|(to, is)| is - to);
            differences.max_by(|one, other| one.abs().total_cmp(&other.abs())).map(Self::Joint)
        };
        let size = |value: &Value| value.value.unwrap_or(0.0).abs();
        let values = law.values();
        let unit = values.iter().next().map(|first| first.unit);
        let known = values.iter().filter(|value| value.value.is_some() && Some(value.unit) == unit);
        let largest = known.max_by(|one, other| size(one).total_cmp(&size(other)));
        largest.copied().map(Self::Value).or_else(joints)
    }
}

/// The state of an arm with any number of joints, for display.
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// The time of the state by the controller's clock, if it is reported.
    pub controller_time: Option<ControllerTime>,
    /// The joints of the arm, base joint first.
    pub joints: Vec<Joint>,
    /// The pose of the tool centre point in the base frame \[m, rad\].
    pub tcp_pose: Option<Pose>,
    /// The speed of the tool centre point in the base frame \[m/s, rad/s\].
    pub tcp_speed: Option<Twist>,
    /// The force and torque at the tool centre point \[N, Nm\].
    pub tcp_force: Option<Wrench>,
    /// The mass and the centre of gravity of the payload that the controller takes into account.
    pub payload: Option<Payload>,
    /// The position of the controller's speed slider, 0 … 1.
    pub speed_slider: Option<f32>,
    /// The factor by which speed slider and limiter reduce the arm's speeds, 0 … 1.
    pub speed_scaling: Option<f32>,
    /// The state of the program on the controller, if it is known.
    pub program: Option<ProgramState>,
    /// The modes that the controller reports, such as its safety mode.
    pub words: Vec<ReportedState>,
}

/// The known values of one joint of the arm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joint {
    /// The measured angle of the joint \[rad\].
    pub angle: f32,
    /// The angle that the controller moves to \[rad\], if the arm is commanded by angles.
    pub setpoint: Option<f32>,
    /// The measured speed of the joint \[rad/s\].
    pub speed: Option<f32>,
    /// The speed that the controller commands to the joint \[rad/s\].
    pub target_speed: Option<f32>,
}

/// A function that returns one value of a joint, such as its speed.
pub type Field = fn(&Joint) -> Option<f32>;

/// A mode or a state of the robot that the controller reports, by name.
#[derive(Clone, Copy, Debug)]
pub struct ReportedState {
    /// The key of the mode or state in JSON for scripts.
    pub key: &'static str,
    /// The name of the mode or state for people.
    pub name: &'static str,
    /// The controller's own name for the current value. `None` if the number has no known name.
    pub value: Option<&'static str>,
    /// The current value of the mode as a number, if it has no name.
    pub number: i64,
}

impl ReportedState {
    /// Creates a reported mode whose current value has a name.
    #[must_use]
    pub const fn named(key: &'static str, name: &'static str, value: &'static str) -> Self {
        Self { key, name, value: Some(value), number: 0 }
    }

    /// Returns the current value for people and scripts: its name, or `UNKNOWN` and its number.
    #[must_use]
    pub fn said(&self) -> String {
        self.value.map_or_else(|| format!("UNKNOWN {}", self.number), str::to_owned)
    }
}

impl Arm {
    /// Creates the displayed state of an arm from the robot state `state`, without joint setpoints (an arm that is
    /// commanded by speeds). `words` are the modes that the controller reports.
    #[must_use]
    pub fn new<const N: usize>(state: &State<N>, words: Vec<ReportedState>) -> Self {
        let joints = state.positions.iter().zip(state.velocities.iter()).zip(state.target_velocities.iter());
        let joints = joints.map(|((angle, speed), target)| Joint {
            angle,
            setpoint: None,
            speed: Some(speed),
            target_speed: Some(target),
        });
        Self {
            controller_time: Some(state.controller_time),
            joints: joints.collect(),
            tcp_pose: state.tcp_pose,
            tcp_speed: state.tcp_speed,
            tcp_force: state.tcp_force,
            payload: state.payload,
            speed_slider: state.speed_slider,
            speed_scaling: state.speed_scaling,
            program: state.program_state,
            words,
        }
    }

    /// Adds the joint angles that the controller moves to \[rad\].
    #[must_use]
    pub fn with_setpoints(mut self, angles: impl IntoIterator<Item = f32>) -> Self {
        for (joint, angle) in self.joints.iter_mut().zip(angles) {
            joint.setpoint = Some(angle);
        }
        self
    }
}

impl Snapshot {
    /// Returns the text of a reason for which a request to command would be rejected, with figures if it is the low
    /// grade of the link, and advice.
    pub fn why(&self, reason: Reason) -> (String, String) {
        let (here, observer) = (self.here, self.observer);
        match self.figures {
            Some(figures) if reason == Reason::GradeLow => {
                let low = figures.grade_low();
                let remedy = grade::remedy(&low, here, observer);
                let cause = Some(grade::cause(&low, observer)).filter(|cause| !cause.is_empty());
                (grade::quality(&low), cause.map_or_else(|| remedy.into(), |cause| format!("{cause}; {remedy}")))
            }
            _ => (reason.text().to_owned(), self.advice(reason).to_owned()),
        }
    }

    /// Returns advice about `reason`, which depends on the observer, and on whether the controller runs on this machine
    /// or is reached over a network.
    pub const fn advice(&self, reason: Reason) -> &'static str {
        match self.observer {
            Observer::Process => reason_text::advice(reason, self.here),
            Observer::Board | Observer::Recorded => reason.advice(),
        }
    }

    /// Returns the age of the newest state of the robot, by its time stamp.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        self.figures.and_then(|figures| figures.age)
    }

    /// Returns the name of the link's grade (quality). `-` without a link.
    #[must_use]
    pub fn grade(&self) -> &'static str {
        self.figures.map_or("-", |figures| figures.grade.name())
    }

    /// Formats the snapshot of the session as one line for people.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("{:9.3} s  {:<8}", self.at.since(Instant::ZERO).as_secs_f64(), self.mode.name());
        let Some(state) = &self.state else {
            line.push_str("  no state");
            if let Some(trouble) = &self.trouble {
                line.push_str(": ");
                line.push_str(trouble);
            }
            return line;
        };
        line.push_str(&format!("  {:<12}  {:5.1} Hz", self.grade(), self.rate));
        if let Some(age) = self.age() {
            line.push_str(&format!("  age {:6.1} ms", age.as_secs_f64() * 1e3));
        }
        if let Some(figures) = self.figures {
            line.push_str(&format!(
                "  jitter {:5.2} ms  lost {}",
                figures.jitter.as_secs_f64() * 1e3,
                figures.sequence.lost
            ));
            if let Some(answers) = figures.answers {
                line.push_str(&format!("  {} % answered", answers.rate / 100));
            }
            if let Some(trip) = figures.answers.and_then(|answers| answers.round_trip) {
                line.push_str(&format!("  round trip {:.2} ms", trip.as_secs_f64() * 1e3));
            }
        }
        let words: Vec<_> = state.words.iter().map(ReportedState::said).collect();
        line.push_str(&format!("  {}  q ", words.join("/")));
        let degrees: Vec<_> = state.joints.iter().map(|joint| format!("{:.2}", joint.angle.to_degrees())).collect();
        line.push_str(&degrees.join(" "));
        line.push('°');
        for (name, value) in &self.values {
            line.push_str(&format!("  {name} {value}"));
        }
        if self.overrides_pendant {
            line.push_str("  a stop at the pendant would be overridden");
        }
        if let Some(reason) = self.latch {
            line.push_str(&format!("  latched {}", reason.name()));
        }
        if let Some(trouble) = self.trouble.as_ref().filter(|_| self.figures.is_none()) {
            line.push_str(&format!("  {trouble}"));
        }
        line
    }
}

/// The JSON object of a session's snapshot, for scripts.
#[derive(Serialize)]
#[serde(tag = "type", rename = "status")]
struct Status<'s> {
    time: f64,
    robot: &'s str,
    identity: Option<&'s str>,
    mode: &'static str,
    grade: &'static str,
    overrides_pendant: bool,
    latch: Option<&'static str>,
    last_fallback: Option<&'static str>,
    unmet: Vec<&'static str>,
    rate_hz: Number<f32>,
    #[serde(flatten)]
    link: Option<Link>,
    #[serde(flatten)]
    states: Option<&'s States>,
    #[serde(flatten)]
    arm: Option<Joints>,
    #[serde(flatten, serialize_with = "json::members")]
    words: Vec<(&'static str, String)>,
    #[serde(flatten, serialize_with = "json::members")]
    counters: &'s [(&'static str, u64)],
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<&'s Variables>,
    trouble: Option<&'s str>,
}

/// The JSON members for the link that carries robot states.
#[derive(Serialize)]
struct Link {
    #[serde(flatten)]
    grade: grade::Members,
    age_ms: Option<f64>,
    jitter_ms: f64,
    accepted: u64,
    lost: u64,
    duplicates: u64,
    reordered: u64,
    impossible: u32,
    late: u64,
    consecutive_misses: u32,
    epoch: u32,
    local_stalls: u32,
    #[serde(flatten)]
    answers: Option<Answers>,
}

#[derive(Serialize)]
struct Answers {
    answered_per_10000: u16,
    round_trip_ms: Option<f64>,
}

impl Link {
    fn of(figures: &Figures, observer: Observer) -> Self {
        let SequenceTotals { accepted, lost, duplicates, reordered, .. } = figures.sequence;
        Self {
            grade: grade::Members::of(&figures.grade_low(), observer),
            age_ms: figures.age.map(json::millis),
            jitter_ms: json::millis(figures.jitter),
            accepted,
            lost,
            duplicates,
            reordered,
            impossible: figures.impossible,
            late: figures.late,
            consecutive_misses: figures.consecutive_misses,
            epoch: figures.epoch,
            local_stalls: figures.local_stalls,
            answers: figures.answers.map(|answers| Answers {
                answered_per_10000: answers.rate,
                round_trip_ms: answers.round_trip.map(json::millis),
            }),
        }
    }
}

/// The JSON members for the joints of an arm. A value that is not known for every joint is `None`.
#[derive(Serialize)]
struct Joints {
    #[serde(skip_serializing_if = "Option::is_none")]
    controller_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q_actual: Option<Vec<Number<f32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q_target: Option<Vec<Number<f32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qd_actual: Option<Vec<Number<f32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qd_target: Option<Vec<Number<f32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_pose: Option<[Number<f32>; 6]>,
}

impl Joints {
    fn of(arm: &Arm) -> Self {
        let all = |field: Field| arm.joints.iter().map(|joint| field(joint).map(Number)).collect();
        Self {
            controller_time: arm.controller_time.map(|time| time.as_micros() as f64 / 1e6),
            q_actual: all(|joint| Some(joint.angle)),
            q_target: all(|joint| joint.setpoint),
            qd_actual: all(|joint| joint.speed),
            qd_target: all(|joint| joint.target_speed),
            tcp_pose: arm
                .tcp_pose
                .map(|Pose { position: [x, y, z], rotation: [rx, ry, rz] }| [x, y, z, rx, ry, rz].map(Number)),
        }
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.state.iter().flat_map(|state| &state.words);
        let status = Status {
            time: json::seconds(self.at),
            robot: &self.robot,
            identity: self.identity.as_deref(),
            mode: self.mode.name(),
            grade: self.grade(),
            overrides_pendant: self.overrides_pendant,
            latch: self.latch.map(Reason::name),
            last_fallback: self.last_fallback.map(Reason::name),
            unmet: self.unmet.iter().map(Reason::name).collect(),
            rate_hz: Number(self.rate),
            link: self.figures.as_ref().map(|figures| Link::of(figures, self.observer)),
            states: self.states.as_ref(),
            arm: self.state.as_ref().map(Joints::of),
            words: words.map(|word| (word.key, word.said())).collect(),
            counters: &self.counters,
            variables: self.variables.as_ref(),
            trouble: self.trouble.as_deref(),
        };
        status.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
