//! What is shown of a session: everything an output needs, taken from the engine at one instant.

use outrigger_core::link::{Bin, Figures};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet, Safety, State};
use outrigger_core::time::{Duration, Instant};

use super::states::States;
use crate::json::Json;

/// A session at one instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When, since the start of the process.
    pub at: Instant,
    /// Where the robot is.
    pub robot: String,
    /// What it is, e.g. `ur5e, software 5.15.0`; `None` until it has said so.
    pub identity: Option<String>,
    /// Mode of the machine.
    pub mode: Mode,
    /// The latched reason of the last fallback.
    pub latch: Option<Reason>,
    /// What keeps commanding from beginning.
    pub unmet: ReasonSet,
    /// The newest state.
    pub state: Option<State<6>>,
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
}

impl Snapshot {
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

    /// Robot mode and safety, as the controller names them.
    #[must_use]
    pub fn robot_words(&self) -> Option<(&'static str, &'static str)> {
        let state = self.state.as_ref()?;
        let safety = match state.safety {
            Safety::Mode(mode) => mode.name(),
            Safety::FromRobotMode(mode) => mode.name(),
            Safety::Unknown => "UNKNOWN",
        };
        Some((state.robot_mode.map_or("UNKNOWN", |mode| mode.name()), safety))
    }

    /// One line for people.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("{:9.3} s  {:<8}", self.at.since(Instant::ZERO).as_secs_f64(), self.mode.name());
        let Some(state) = &self.state else {
            line.push_str("  no state yet");
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
        }
        if let Some((mode, safety)) = self.robot_words() {
            line.push_str(&format!("  {mode}/{safety}"));
        }
        line.push_str("  q ");
        let degrees: Vec<_> = state.positions.iter().map(|q| format!("{:.2}", q.to_degrees())).collect();
        line.push_str(&degrees.join(" "));
        line.push('°');
        for (name, value) in &self.values {
            line.push_str(&format!("  {name} {value}"));
        }
        if let Some(reason) = self.latch {
            line.push_str(&format!("  latched {}", reason.name()));
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
        json.key("latch");
        text_or_null(json, self.latch.map(Reason::name));
        json.key("unmet").begin_array();
        for reason in self.unmet.iter() {
            json.text(reason.name());
        }
        json.end_array().key("rate_hz").single(self.rate);
        if let Some(figures) = &self.figures {
            link(json, figures);
        }
        if let Some(states) = &self.states {
            states.json(json);
        }
        if let Some(state) = &self.state {
            json.key("controller_time").float(state.controller_time.as_micros() as f64 / 1e6);
            json.key("q_actual").array(state.positions.as_array(), |json, v| json.single(v));
            json.key("qd_actual").array(state.velocities.as_array(), |json, v| json.single(v));
            json.key("qd_target").array(state.target_velocities.as_array(), |json, v| json.single(v));
            if let Some(pose) = state.tcp_pose {
                json.key("tcp_pose").begin_array();
                for value in pose.position.into_iter().chain(pose.rotation) {
                    json.single(value);
                }
                json.end_array();
            }
        }
        if let Some((mode, safety)) = self.robot_words() {
            json.key("robot_mode").text(mode).key("safety").text(safety);
        }
        for (name, value) in &self.counters {
            json.key(name).integer(*value);
        }
        json.key("trouble");
        text_or_null(json, self.trouble.as_deref());
        json.end_object();
    }
}

fn link(json: &mut Json, figures: &Figures) {
    let ms = |span: Duration| span.as_micros() as f64 / 1e3;
    json.key("held_by").text(figures.held_by.name()).key("age_ms");
    match figures.age {
        Some(age) => json.float(ms(age)),
        None => json.null(),
    };
    json.key("jitter_ms").float(ms(figures.jitter));
    json.key("accepted").integer(figures.sequence.accepted).key("lost").integer(figures.sequence.lost);
    json.key("duplicates").integer(figures.sequence.duplicates).key("reordered").integer(figures.sequence.reordered);
    json.key("late").integer(figures.late).key("consecutive_misses").integer(figures.consecutive_misses);
    json.key("epoch").integer(figures.epoch).key("local_stalls").integer(figures.local_stalls);
}

fn text_or_null(json: &mut Json, text: Option<&str>) {
    match text {
        Some(text) => json.text(text),
        None => json.null(),
    };
}
