//! What is shown of a session: everything an output needs, taken from the engine at one instant.

use outrigger_core::law::{Law, Motion, Value};
use outrigger_core::link::{Bin, Figures, SequenceTotals};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, Payload, Pose, ProgramState, State, Twist, Wrench};
use outrigger_wire::time::{Duration, Instant};
use serde::{Serialize, Serializer};

use super::words::{self, Observer};
use super::{States, Terminals, Variables, grade};
use crate::json::{self, Number};

/// A session at one instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When, since the start of the process.
    pub at: Instant,
    /// Where the robot is.
    pub robot: String,
    /// It is this machine: no network lies between.
    pub here: bool,
    /// The side that judges the link.
    pub observer: Observer,
    /// What it is, e.g. `ur5e, software 5.15.0`; `None` until it has said so.
    pub identity: Option<String>,
    /// Mode of the machine.
    pub mode: Mode,
    /// The next command overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// The latched reason of the last fallback.
    pub latch: Option<Reason>,
    /// The reason that was latched last, acknowledged or not.
    pub last_fallback: Option<Reason>,
    /// What keeps commanding from beginning.
    pub unmet: ReasonSet,
    /// The arm, by its newest state.
    pub state: Option<Arm>,
    /// Figures of the link that brings states.
    pub figures: Option<Figures>,
    /// Where states come from, where that is known here.
    pub states: Option<States>,
    /// Time between states, over the link's life: bins that are not empty.
    pub intervals: Vec<Bin>,
    /// States per second since the snapshot before.
    pub rate: f32,
    /// What went wrong last on a link that is down.
    pub trouble: Option<String>,
    /// Further values for people, with their names.
    pub values: Vec<(String, String)>,
    /// Further counters for scripts, with their keys.
    pub counters: Vec<(&'static str, u64)>,
    /// What a program on the controller sends, where it shares variables.
    pub variables: Option<Variables>,
    /// Inputs and outputs, where the controller shows them.
    pub terminals: Option<Terminals>,
    /// Of the motors, base joint first \[°C\], where they are seen here.
    pub temperatures: Option<Vec<f32>>,
    /// How far the arm is from what the law wants, while it commands.
    pub law_error: Option<LawError>,
}

#[cfg(test)]
impl Snapshot {
    /// A snapshot of `arm` alone.
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

/// How far the arm is from what a law wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LawError {
    /// The largest difference of a joint from where it is to be \[rad\].
    Joint(f32),
    /// The largest of the numbers that the law shows in the unit of the first: numbers of different units cannot be compared.
    Value(Value),
}

impl LawError {
    /// That of `law` at `state`; `None` for a law that holds neither readings nor positions.
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

/// An arm of any number of joints.
#[derive(Clone, Debug, Default)]
pub struct Arm {
    /// The controller's clock, where it is told.
    pub controller_time: Option<ControllerTime>,
    /// Of each joint, base joint first.
    pub joints: Vec<Joint>,
    /// Tool centre point.
    pub tcp_pose: Option<Pose>,
    /// Its speed in the base frame.
    pub tcp_speed: Option<Twist>,
    /// Force and torque at it.
    pub tcp_force: Option<Wrench>,
    /// Payload in force.
    pub payload: Option<Payload>,
    /// Where the speed slider stands, 0 … 1.
    pub speed_slider: Option<f32>,
    /// Factor on speeds by slider and limiter, 0 … 1.
    pub speed_scaling: Option<f32>,
    /// The program on the controller.
    pub program: Option<ProgramState>,
    /// What the controller says of itself.
    pub words: Vec<Word>,
}

/// A joint, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joint {
    /// Measured angle \[rad\].
    pub angle: f32,
    /// The angle that the controller steers to \[rad\], where the arm is steered by angles.
    pub setpoint: Option<f32>,
    /// Measured speed \[rad/s\].
    pub speed: Option<f32>,
    /// The speed that it is to have \[rad/s\].
    pub target_speed: Option<f32>,
}

/// One value of a joint.
pub type Field = fn(&Joint) -> Option<f32>;

/// Something the controller says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// For scripts.
    pub key: &'static str,
    /// For people.
    pub name: &'static str,
    /// The controller's own name for the value; `None` for a number without a name here.
    pub value: Option<&'static str>,
    /// The number, where the value has no name.
    pub number: i64,
}

impl Word {
    /// A value with a name.
    #[must_use]
    pub const fn named(key: &'static str, name: &'static str, value: &'static str) -> Self {
        Self { key, name, value: Some(value), number: 0 }
    }

    /// The value for people and scripts: its name, or `UNKNOWN` and its number.
    #[must_use]
    pub fn said(&self) -> String {
        self.value.map_or_else(|| format!("UNKNOWN {}", self.number), str::to_owned)
    }
}

impl Arm {
    /// What `state` says of an arm that is steered by speeds, and `words`.
    #[must_use]
    pub fn new<const N: usize>(state: &State<N>, words: Vec<Word>) -> Self {
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

    /// With the angles that the controller steers to \[rad\].
    #[must_use]
    pub fn with_setpoints(mut self, angles: impl IntoIterator<Item = f32>) -> Self {
        for (joint, angle) in self.joints.iter_mut().zip(angles) {
            joint.setpoint = Some(angle);
        }
        self
    }
}

impl Snapshot {
    /// The reason why a request would be refused, with its figures where it is the link, and what to do.
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

    /// The thing to do about `reason`.
    pub const fn advice(&self, reason: Reason) -> &'static str {
        match self.observer {
            Observer::Process => words::advice(reason, self.here),
            Observer::Board | Observer::Recorded => reason.advice(),
        }
    }

    /// Age of the newest state.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        self.figures.and_then(|figures| figures.age)
    }

    /// Name of the grade; `-` while there is no link.
    #[must_use]
    pub fn grade(&self) -> &'static str {
        self.figures.map_or("-", |figures| figures.grade.name())
    }

    /// One line for people.
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
        let words: Vec<_> = state.words.iter().map(Word::said).collect();
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

/// A snapshot as scripts read it.
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

/// The link that brings states.
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

/// The arm. A value that is not known of every joint is `None`.
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
