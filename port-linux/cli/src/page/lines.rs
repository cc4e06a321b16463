//! What a browser is sent: lines of JSON, in messages of Server-Sent Events.
//!
//! A state is two lines: the first is what `outrigger monitor --json` prints, with the same keys; the second (`"type":"live"`) has
//! what only a picture needs.

use std::collections::VecDeque;
use std::sync::Arc;

use outrigger_core::kinematics::KinematicChain;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_wire::robot::JointPositions;

use super::About;
use super::outline::{outline, tool_axis};
use outrigger::companion::{Frame, SessionView, Settled, Views};
use outrigger::feed::{Item, Reader, What};
use outrigger::json::Json;
use outrigger::law::sensed;
use outrigger::show::{Arm, Notice, Snapshot, words};

/// Events that whoever comes later is told.
const REMEMBERED: usize = 128;

/// Points along each side of a workpiece.
pub(crate) const SIDE: usize = 9;

/// What lies before the tool: heights over a square, for a picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Workpiece {
    /// The square's middle, in the base frame \[m\].
    pub(crate) origin: [f64; 3],
    /// Its two sides and the way up, unit vectors.
    pub(crate) axes: [[f64; 3]; 3],
    /// Length of a side \[m\].
    pub(crate) side: f64,
    /// Heights \[m\], row by row along the first side.
    pub(crate) heights: [[f64; SIDE]; SIDE],
}

/// A message, and its number among those of its kind.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) text: Arc<str>,
}

/// Where messages are made.
pub(super) trait Messages: Send {
    /// What is told first of all.
    fn about(&self) -> Arc<str>;

    /// The newest state, where there is a new one. While it is not `watched`, none is made.
    fn state(&mut self, watched: bool) -> Option<Numbered>;

    /// Returns how many states were not made because another one was being taken.
    fn left_out(&self) -> u64;

    /// The next event, `None` where there is none yet.
    fn event(&mut self) -> Option<Numbered>;

    /// Whether the session is over, and with it everything.
    fn is_over(&self) -> bool;

    /// The newest events, oldest first.
    fn remembered(&self) -> &VecDeque<Numbered>;
}

/// Messages of a session with `N` joints.
pub(super) struct Lines<const N: usize> {
    about: About,
    views: Option<Views<N>>,
    reader: Reader,
    json: Json,
    states: u64,
    events: u64,
    /// The controller runs on this machine.
    here: bool,
    remembered: VecDeque<Numbered>,
}

impl<const N: usize> Lines<N> {
    pub(super) fn new(about: About, views: Option<Views<N>>, reader: Reader) -> Self {
        let (json, remembered) = (Json::default(), VecDeque::with_capacity(REMEMBERED));
        Self { about, views, reader, json, states: 0, events: 0, here: false, remembered }
    }
}

impl<const N: usize> Messages for Lines<N> {
    fn about(&self) -> Arc<str> {
        let mut json = Json::default();
        json.begin_object().key("type").text("about").key("command").text(self.about.command);
        json.key("version").text(env!("CARGO_PKG_VERSION")).key("joints").begin_array();
        words::joint_names(N).iter().for_each(|name| {
            json.text(name);
        });
        json.end_array().end_object();
        format!("data: {}\n\n", json.as_str()).into()
    }

    fn state(&mut self, watched: bool) -> Option<Numbered> {
        let views = self.views.as_mut()?;
        views.want(watched);
        let SessionView { snapshot, frame, settled, .. } = views.take()?;
        (self.states, self.here) = (self.states + 1, snapshot.here);
        let Self { json, about, .. } = self;
        json.clear();
        snapshot.json(json);
        let mut text = format!("data: {}\n", json.as_str());
        json.clear();
        let workpiece = about.workpiece.as_mut().and_then(|look| look());
        live(json, (&frame, &settled), &snapshot, &about.sources, workpiece.as_ref());
        text.push_str(&format!("data: {}\n", json.as_str()));
        Some(Numbered { number: self.states, text: text.into() })
    }

    fn left_out(&self) -> u64 {
        self.views.as_ref().map_or(0, Views::left_out)
    }

    fn event(&mut self) -> Option<Numbered> {
        loop {
            match self.reader.next_now()? {
                Item::Entry(entry) => {
                    let What::Notice(notice) = entry.what else { continue };
                    self.json.clear();
                    event(&mut self.json, notice, self.here);
                }
                Item::Lost(count) => {
                    self.json.clear();
                    self.json.begin_object().key("type").text("event").key("kind").text("events-lost");
                    self.json
                        .key("text")
                        .text(&format!("{count} events were lost before the page saw them"))
                        .end_object();
                }
            }
            self.events += 1;
            let text = format!("data: {}\n\n", self.json.as_str()).into();
            let message = Numbered { number: self.events, text };
            if self.remembered.len() == REMEMBERED {
                self.remembered.pop_front();
            }
            self.remembered.push_back(message.clone());
            return Some(message);
        }
    }

    fn is_over(&self) -> bool {
        self.reader.is_over()
    }

    fn remembered(&self) -> &VecDeque<Numbered> {
        &self.remembered
    }
}

/// An event as `monitor --json` prints it, and what a person can do about its reason.
fn event(json: &mut Json, mut notice: Notice, here: bool) {
    let named = |name: &str| Reason::ALL.iter().copied().find(|reason| reason.name() == name);
    let reason = notice.fields.iter().find(|(key, _)| *key == "reason").and_then(|(_, name)| named(name));
    // A refusal's text has it already.
    if let Some(reason) = reason.filter(|reason| !reason.is_release() && notice.kind == "transition") {
        notice.fields.push(("remedy", words::advice(reason, here).into()));
    }
    notice.json(json);
}

fn reason(json: &mut Json, reason: Reason, text: &str, remedy: &str) {
    json.begin_object().key("name").text(reason.name()).key("text").text(text);
    json.key("remedy").text(remedy).end_object();
}

/// What only a picture needs.
fn live<const N: usize>(
    json: &mut Json,
    (frame, settled): (&Frame<N>, &Settled<N>),
    snapshot: &Snapshot,
    sources: &[String],
    workpiece: Option<&Workpiece>,
) {
    let at = snapshot.at;
    let Settled { fastest, .. } = settled;
    json.begin_object().key("type").text("live").key("time").float(at.as_micros() as f64 / 1e6);
    json.key("age_limit_ms").float(settled.oldest_state.as_micros() as f64 / 1e3);
    json.key("speed_limit").array(fastest.as_array(), |json, value| json.single(value));
    let commands = snapshot.mode == Mode::Command;
    if commands {
        json.key("qd_command").array(frame.commanded.as_array(), |json, value| json.single(value));
    }
    json.key("commands").boolean(commands);
    if let Some(held) = frame.held_by {
        json.key("held_by").text(words::of_hold(held));
    }
    if let Some(latch) = snapshot.latch {
        reason(json.key("latched"), latch, latch.text(), snapshot.advice(latch));
    }
    json.key("not_met").begin_array();
    for unmet in words::causes_first(snapshot.unmet) {
        let (text, remedy) = snapshot.why(unmet);
        reason(json, unmet, &text, &remedy);
    }
    json.end_array();
    if let Some(error) = frame.standoff_error {
        json.key("standoff_error").single(error);
    }
    if frame.axis_errors.iter().any(Option::is_some) {
        json.key("axis_errors").begin_object();
        for (axis, error) in sensed(frame.axis_errors) {
            json.key(axis.name()).single(error);
        }
        json.end_object();
    }
    json.key("sources").begin_array();
    for (number, (config, newest)) in settled.sources.iter().flatten().zip(&frame.samples).enumerate() {
        json.begin_object().key("name");
        match sources.get(number) {
            Some(name) => json.text(name),
            None => json.text(&format!("source {number}")),
        };
        json.key("min").single(config.min).key("max").single(config.max);
        json.key("max_age_ms").float(config.max_age.as_micros() as f64 / 1e3);
        if let Some(sample) = newest {
            json.key("age_ms").float(at.since(sample.taken_at).as_micros() as f64 / 1e3);
            json.key("value").array(sample.value.as_slice(), |json, value| json.single(value));
        }
        json.end_object();
    }
    json.end_array();
    if let Some(arm) = &snapshot.state {
        of_arm(json, frame, settled.chain.as_ref(), arm);
    }
    if let Some(workpiece) = workpiece {
        lies_before(json.key("workpiece"), workpiece);
    }
    json.end_object();
}

fn of_arm<const N: usize>(json: &mut Json, frame: &Frame<N>, chain: Option<&KinematicChain<N>>, arm: &Arm) {
    let mut q = JointPositions::<N>::ZERO;
    q.0.iter_mut().zip(&arm.joints).for_each(|(q, joint)| *q = joint.angle);
    if let Some(wanted) = &frame.wanted {
        let error = wanted.zip_with(q.as_array(), |wanted, q| wanted - q);
        json.key("tracking_error").array(error.as_array(), |json, value| json.single(value));
    }
    if let Some(wrench) = arm.tcp_force {
        json.key("tcp_force").array(&wrench.force, |json, value| json.single(value));
        json.key("tcp_torque").array(&wrench.torque, |json, value| json.single(value));
    }
    if let Some(slider) = arm.speed_slider {
        json.key("speed_slider").single(slider);
    }
    if let Some(scaling) = arm.speed_scaling {
        json.key("speed_scaling").single(scaling);
    }
    if let Some(program) = arm.program {
        json.key("program_state").text(&program.to_string());
    }
    if let Some(chain) = chain {
        json.key("arm").begin_array();
        for point in outline(chain, &q) {
            json.array(&point, |json, value| json.single((value * 1e5).round() / 1e5));
        }
        json.end_array();
        json.key("tool_axis").array(&tool_axis(chain, &q), |json, value| json.single(value));
    }
}

fn lies_before(json: &mut Json, workpiece: &Workpiece) {
    // To a tenth of a millimetre: it is a picture.
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let Workpiece { origin, axes, side, heights } = workpiece;
    json.begin_object().key("origin").array(origin, |json, value| json.float(rounded(value)));
    json.key("axes").begin_array();
    for axis in axes {
        json.array(axis, |json, value| json.float(rounded(value)));
    }
    json.end_array().key("side").float(*side).key("points").integer(SIDE as u64);
    json.key("heights").array(heights.as_flattened(), |json, value| json.float(rounded(value)));
    json.end_object();
}

#[cfg(test)]
mod tests;
