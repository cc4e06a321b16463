//! What is shown of a session: everything an output needs, taken from the engine at one instant.

use outrigger_core::law::{Law, ToolAxis};
use outrigger_core::link::{Bin, Figures};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, Payload, Pose, ProgramState, State, Twist, Wrench};
use outrigger_wire::time::{Duration, Instant};

use super::words::{self, Observer};
use super::{States, Terminals, Variables, grade};
use crate::json::Json;
use crate::law::sensed;

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
    /// Measured minus wanted distance to the workpiece \[m\].
    Distance(f32),
    /// The largest difference of a joint from where it is to be \[rad\].
    Joint(f32),
    /// Of the tool's axes that sensors move, the one that has furthest to go \[m, rad\], a radian as far as a metre.
    Axis(ToolAxis, f32),
}

impl LawError {
    /// That of `law` at `state`; `None` for a law that holds neither readings nor positions.
    #[must_use]
    pub fn of<const N: usize>(law: &impl Law<N>, state: &State<N>) -> Option<Self> {
        let joints = || {
            let differences = law.setpoint()?.positions.iter().zip(state.positions.iter()).map(|(to, is)| is - to);
            differences.max_by(|one, other| one.abs().total_cmp(&other.abs())).map(Self::Joint)
        };
        let axes = || {
            let furthest = sensed(law.axis_errors()).max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()));
            furthest.map(|(axis, error)| Self::Axis(axis, error))
        };
        law.standoff_error().map(Self::Distance).or_else(axes).or_else(joints)
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

    /// Puts one object into `json`.
    pub fn json(&self, json: &mut Json) {
        json.begin_object().key("type").text("status");
        json.key("time").float(self.at.as_micros() as f64 / 1e6).key("robot").text(&self.robot);
        json.key("identity");
        text_or_null(json, self.identity.as_deref());
        json.key("mode").text(self.mode.name()).key("grade").text(self.grade());
        json.key("overrides_pendant").boolean(self.overrides_pendant);
        json.key("latch");
        text_or_null(json, self.latch.map(Reason::name));
        json.key("last_fallback");
        text_or_null(json, self.last_fallback.map(Reason::name));
        json.key("unmet").begin_array();
        for reason in self.unmet.iter() {
            json.text(reason.name());
        }
        json.end_array().key("rate_hz").single(self.rate);
        if let Some(figures) = &self.figures {
            grade::json(&figures.grade_low(), self.observer, json);
            link(json, figures);
        }
        if let Some(states) = &self.states {
            states.json(json);
        }
        if let Some(state) = &self.state {
            if let Some(time) = state.controller_time {
                json.key("controller_time").float(time.as_micros() as f64 / 1e6);
            }
            let fields: [(_, Field); 4] = [
                ("q_actual", |joint| Some(joint.angle)),
                ("q_target", |joint| joint.setpoint),
                ("qd_actual", |joint| joint.speed),
                ("qd_target", |joint| joint.target_speed),
            ];
            for (key, field) in fields {
                // What is known of all joints, or of none.
                let Some(values) = state.joints.iter().map(field).collect::<Option<Vec<_>>>() else { continue };
                json.key(key).begin_array();
                for value in values {
                    json.single(value);
                }
                json.end_array();
            }
            if let Some(pose) = state.tcp_pose {
                json.key("tcp_pose").begin_array();
                for value in pose.position.into_iter().chain(pose.rotation) {
                    json.single(value);
                }
                json.end_array();
            }
        }
        for word in self.state.iter().flat_map(|state| &state.words) {
            json.key(word.key).text(&word.said());
        }
        for (name, value) in &self.counters {
            json.key(name).integer(*value);
        }
        if let Some(variables) = &self.variables {
            variables.json(json.key("variables"));
        }
        json.key("trouble");
        text_or_null(json, self.trouble.as_deref());
        json.end_object();
    }
}

fn link(json: &mut Json, figures: &Figures) {
    let ms = |span: Duration| span.as_micros() as f64 / 1e3;
    json.key("age_ms");
    match figures.age {
        Some(age) => json.float(ms(age)),
        None => json.null(),
    };
    json.key("jitter_ms").float(ms(figures.jitter));
    json.key("accepted").integer(figures.sequence.accepted).key("lost").integer(figures.sequence.lost);
    json.key("duplicates").integer(figures.sequence.duplicates).key("reordered").integer(figures.sequence.reordered);
    json.key("impossible").integer(figures.impossible);
    json.key("late").integer(figures.late).key("consecutive_misses").integer(figures.consecutive_misses);
    json.key("epoch").integer(figures.epoch).key("local_stalls").integer(figures.local_stalls);
    if let Some(answers) = figures.answers {
        json.key("answered_per_10000").integer(answers.rate).key("round_trip_ms");
        match answers.round_trip {
            Some(span) => json.float(ms(span)),
            None => json.null(),
        };
    }
}

fn text_or_null(json: &mut Json, text: Option<&str>) {
    match text {
        Some(text) => json.text(text),
        None => json.null(),
    };
}

#[cfg(test)]
mod tests;
