//! The messages for a browser: lines of JSON in Server-Sent Events.
//!
//! A state is two lines. The first is what `outrigger monitor --json` prints, with the same keys; the second
//! (`"type":"live"`) has the values that only a picture needs.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;

use outrigger_core::kinematics::KinematicChain;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_wire::robot::{JointPositions, Pose, SoftwareVersion};
use serde::Serialize;

use super::About;
use super::arm_polyline::{outline, tool_axis};
use super::arm_shape::ArmShape;
use super::past_states::PastStates;
use super::serial_number::is_reported;
use outrigger::companion::{Frame, SessionView, Settled, Views};
use outrigger::feed::{EntryContent, Item, Reader};
use outrigger::json::{self, Number};
use outrigger::show::law_values::{ScriptValue, named};
use outrigger::show::{Arm, Notice, Snapshot, reason_text};

/// The number of events that are stored for browsers that open the live page later.
const REMEMBERED: usize = 128;

/// The number of calls of [`Messages::state`] for each state that is produced while nobody watches, for the states that
/// are stored for later. The calls are 1/60 s apart.
const UNWATCHED: u64 = 6;

/// The number of points along each side of the square over which a workpiece's heights are given.
pub(crate) const SIDE: usize = 9;

/// The surface of a workpiece in front of the tool, as heights over a square, for the picture on the live page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Workpiece {
    /// The centre of the square over which the heights are given, in the base frame \[m\].
    pub(crate) origin: [f64; 3],
    /// The directions of the square's two sides and of the height, as unit vectors in the base frame.
    pub(crate) axes: [[f64; 3]; 3],
    /// The length of a side of the square over which the heights are given \[m\].
    pub(crate) side: f64,
    /// The heights above the square \[m\], row by row along the first side.
    pub(crate) heights: [[f64; SIDE]; SIDE],
}

/// A message for the live page in a browser, and its number among the messages of its kind (states or events), from 1.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) text: Arc<str>,
}

/// A source of messages for the live page: a description of the session, states and events.
pub(super) trait Messages: Send {
    /// Returns the first message for a browser that opens the live page, which describes the session.
    fn about(&self) -> Arc<str>;

    /// Returns the newest state of the session for the live page, if there is a new one. Unless `watched` is `true`,
    /// only ten states a second are produced, for browsers that open the page later.
    fn state(&mut self, watched: bool) -> Option<Numbered>;

    /// Returns the newest description of the robot: its model, serial number and shape.
    fn robot(&self) -> Numbered;

    /// Returns `false` if the controller is known to report no serial number of the arm.
    fn may_report_serial(&self) -> bool;

    /// Stores the serial number that the controller reports.
    fn identify(&mut self, serial: String);

    /// Returns the number of robot states for which no message was produced, because the live page was still reading an
    /// earlier state.
    fn left_out(&self) -> u64;

    /// Returns the next event of the session for the live page; `None` if there is none yet.
    fn event(&mut self) -> Option<Numbered>;

    /// Returns `true` if the session is over, after which there are no more messages.
    fn is_over(&self) -> bool;

    /// Returns the events that are stored for browsers that open the live page later, oldest first.
    fn remembered(&self) -> &VecDeque<Numbered>;

    /// Returns the states that are stored for browsers that open the live page later, oldest first.
    fn past(&self) -> &PastStates;
}

/// The messages of a session with `N` joints, for the live page.
pub(super) struct Lines<const N: usize> {
    about: About,
    views: Option<Views<N>>,
    reader: Reader,
    session: String,
    states: u64,
    events: u64,
    /// `true` if the robot's controller runs on this machine. The advice for a stop or refusal depends on that.
    here: bool,
    remembered: VecDeque<Numbered>,
    past: PastStates,
    /// The number of calls of [`Messages::state`].
    calls: u64,
    /// `true` while a state is awaited that nobody watches.
    awaited: bool,
    /// The kinematics of the shape in `robot`.
    chain: Option<KinematicChain<N>>,
    serial: Option<String>,
    /// The software of a UR controller, once it is known.
    software: Option<SoftwareVersion>,
    robot: Numbered,
}

impl<const N: usize> Lines<N> {
    pub(super) fn new(about: About, views: Option<Views<N>>, reader: Reader) -> Self {
        let mut lines = Self {
            about,
            views,
            reader,
            // A hasher of the standard library has a random state.
            session: format!("{:016x}", RandomState::new().build_hasher().finish()),
            states: 0,
            events: 0,
            here: false,
            remembered: VecDeque::with_capacity(REMEMBERED),
            past: PastStates::default(),
            calls: 0,
            awaited: false,
            chain: None,
            serial: None,
            software: None,
            robot: Numbered { number: 0, text: "".into() },
        };
        lines.describe();
        lines
    }

    /// Makes the description of the robot anew.
    fn describe(&mut self) {
        let (serial, shape) = (self.serial.as_deref(), ArmShape::of(self.chain.as_ref()));
        let text = format!("data: {}\n\n", json::text(&Robot { serial, shape })).into();
        self.robot = Numbered { number: self.robot.number + 1, text };
    }
}

impl<const N: usize> Messages for Lines<N> {
    fn about(&self) -> Arc<str> {
        let (command, version) = (self.about.command, env!("CARGO_PKG_VERSION"));
        let first = First { command, version, session: &self.session, joints: reason_text::joint_names(N) };
        format!("data: {}\n\n", json::text(&first)).into()
    }

    fn state(&mut self, watched: bool) -> Option<Numbered> {
        let views = self.views.as_mut()?;
        self.awaited |= self.calls.is_multiple_of(UNWATCHED);
        self.calls += 1;
        views.want(watched || self.awaited);
        let SessionView { snapshot, frame, mut settled, .. } = views.take()?;
        self.awaited = false;
        (self.states, self.here) = (self.states + 1, snapshot.here);
        self.software = snapshot.terminals.as_ref().map(|terminals| terminals.software).or(self.software);
        // A tool centre point that is not a number differs from itself, and cannot be drawn.
        settled.chain = settled.chain.filter(is_finite);
        if settled.chain != self.chain {
            self.chain = settled.chain;
            self.describe();
        }
        let workpiece = self.about.workpiece.as_mut().and_then(|look| look());
        let live = Live::of((&frame, &settled), &snapshot, &self.about.sources, workpiece.as_ref());
        let text = format!("data: {}\ndata: {}\n", json::text(&snapshot), json::text(&live));
        let text = text.into();
        self.past.put(snapshot.at, &text);
        Some(Numbered { number: self.states, text })
    }

    fn robot(&self) -> Numbered {
        self.robot.clone()
    }

    fn may_report_serial(&self) -> bool {
        self.software.is_none_or(is_reported)
    }

    fn identify(&mut self, serial: String) {
        self.serial = Some(serial);
        self.describe();
    }

    fn left_out(&self) -> u64 {
        self.views.as_ref().map_or(0, Views::left_out)
    }

    fn event(&mut self) -> Option<Numbered> {
        loop {
            let line = match self.reader.next_now()? {
                Item::Entry(entry) => {
                    let EntryContent::Notice(notice) = entry.what else { continue };
                    json::text(&event(notice, self.here))
                }
                Item::Lost(count) => lost(&format!("{count} events lost before they reached the page")),
            };
            self.events += 1;
            let text = format!("data: {line}\n\n").into();
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

    fn past(&self) -> &PastStates {
        &self.past
    }
}

/// Returns `true` if all places of the arm are finite numbers.
fn is_finite<const N: usize>(chain: &KinematicChain<N>) -> bool {
    let Pose { position, rotation } = chain.forward(&JointPositions::ZERO);
    position.iter().chain(&rotation).all(|value| value.is_finite())
}

/// The first message that a browser receives, which describes the session, as a JSON object.
#[derive(Serialize)]
#[serde(tag = "type", rename = "about")]
struct First<'f> {
    command: &'static str,
    version: &'static str,
    /// A number that no other session has, so that a page that connects again knows whether it is still this one.
    session: &'f str,
    joints: &'static [&'static str],
}

/// The description of the robot as a JSON object.
#[derive(Serialize)]
#[serde(tag = "type", rename = "robot")]
struct Robot<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<ArmShape>,
}

/// Returns an event, as JSON, that reports that earlier events are missing.
pub(super) fn lost(text: &str) -> String {
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "event")]
    struct Lost<'l> {
        kind: &'static str,
        text: &'l str,
    }
    json::text(&Lost { kind: "events-lost", text })
}

/// Returns an event of the session as `monitor --json` prints it, and adds to an end of commanding the remedy for its
/// reason.
fn event(mut notice: Notice, here: bool) -> Notice {
    let named = |name: &str| Reason::ALL.iter().copied().find(|reason| reason.name() == name);
    let reason = notice.fields.iter().find(|(key, _)| *key == "reason").and_then(|(_, name)| named(name));
    // The text of a refusal contains the remedy already.
    if let Some(reason) = reason.filter(|reason| !reason.is_release() && notice.kind == "transition") {
        notice.fields.push(("remedy", reason_text::advice(reason, here).into()));
    }
    notice
}

/// The values of a robot state that only the live page needs, beside those of `monitor --json`, as a JSON object.
/// Members that are `None` are left out.
#[derive(Serialize)]
#[serde(tag = "type", rename = "live")]
struct Live<'l> {
    time: f64,
    age_limit_ms: f64,
    speed_limit: Vec<Number<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qd_command: Option<Vec<Number<f32>>>,
    commands: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latched: Option<ReasonObject>,
    not_met: Vec<ReasonObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standoff_error: Option<Number<f32>>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "json::members")]
    axis_errors: Vec<(&'static str, Number<f32>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ScriptValue>,
    sources: Vec<Source<'l>>,
    #[serde(flatten)]
    arm: Option<OfArm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workpiece: Option<Before>,
}

/// A reason for which the arm is not commanded, with advice, as a JSON object.
#[derive(Serialize)]
struct ReasonObject {
    name: &'static str,
    text: String,
    remedy: String,
}

/// A sensor and its newest reading, as a JSON object.
#[derive(Serialize)]
struct Source<'l> {
    name: Cow<'l, str>,
    min: Number<f32>,
    max: Number<f32>,
    max_age_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Vec<Number<f32>>>,
}

#[derive(Serialize)]
struct OfArm {
    #[serde(skip_serializing_if = "Option::is_none")]
    tracking_error: Option<Vec<Number<f32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_force: Option<[Number<f32>; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_torque: Option<[Number<f32>; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_slider: Option<Number<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_scaling: Option<Number<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    program_state: Option<String>,
    #[serde(rename = "arm", skip_serializing_if = "Option::is_none")]
    outline: Option<Vec<[Number<f32>; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_axis: Option<[Number<f32>; 3]>,
}

/// The surface in front of the tool as a JSON object, rounded to a tenth of a millimetre.
#[derive(Serialize)]
struct Before {
    origin: [Number<f64>; 3],
    axes: [[Number<f64>; 3]; 3],
    side: Number<f64>,
    points: usize,
    heights: Vec<Number<f64>>,
}

fn numbers(values: &[f32]) -> Vec<Number<f32>> {
    values.iter().copied().map(Number).collect()
}

impl<'l> Live<'l> {
    fn of<const N: usize>(
        (frame, settled): (&Frame<N>, &Settled<N>),
        snapshot: &Snapshot,
        sources: &'l [String],
        workpiece: Option<&Workpiece>,
    ) -> Self {
        let (at, commands) = (snapshot.at, snapshot.mode == Mode::Command);
        let why = |(name, text, remedy): (Reason, String, String)| ReasonObject { name: name.name(), text, remedy };
        let latched = snapshot.latch.map(|latch| (latch, latch.text().to_owned(), snapshot.advice(latch).to_owned()));
        let not_met = reason_text::causes_first(snapshot.unmet).into_iter().map(|unmet| {
            let (text, remedy) = snapshot.why(unmet);
            (unmet, text, remedy)
        });
        let of_sources = settled.sources.iter().flatten().zip(&frame.samples).enumerate();
        Self {
            time: json::seconds(at),
            age_limit_ms: json::millis(settled.oldest_state),
            speed_limit: numbers(settled.fastest.as_array()),
            qd_command: commands.then(|| numbers(frame.commanded.as_array())),
            commands,
            held_by: frame.held_by.map(reason_text::of_hold),
            latched: latched.map(why),
            not_met: not_met.map(why).collect(),
            standoff_error: named(&frame.values, "standoff_error").next().map(|(_, error)| Number(error)),
            axis_errors: named(&frame.values, "axis_errors")
                .filter_map(|(axis, error)| Some((axis?, Number(error))))
                .collect(),
            values: ScriptValue::all(&frame.values),
            sources: of_sources
                .map(|(number, (config, newest))| Source {
                    name: sources.get(number).map_or_else(|| format!("source {number}").into(), Into::into),
                    min: Number(config.min),
                    max: Number(config.max),
                    max_age_ms: json::millis(config.max_age),
                    age_ms: newest.map(|sample| json::millis(at.since(sample.taken_at))),
                    value: newest.map(|sample| numbers(sample.value.as_slice())),
                })
                .collect(),
            arm: snapshot.state.as_ref().map(|arm| OfArm::of(frame, settled.chain.as_ref(), arm)),
            workpiece: workpiece.map(Before::of),
        }
    }
}

impl OfArm {
    fn of<const N: usize>(frame: &Frame<N>, chain: Option<&KinematicChain<N>>, arm: &Arm) -> Self {
        let mut q = JointPositions::<N>::ZERO;
        q.0.iter_mut().zip(&arm.joints).for_each(|(q, joint)| *q = joint.angle);
        let rounded = |value: f32| Number((value * 1e5).round() / 1e5);
        let error = frame.wanted.map(|wanted| wanted.zip_with(q.as_array(), |wanted, q| wanted - q));
        Self {
            tracking_error: error.map(|error| numbers(error.as_array())),
            tcp_force: arm.tcp_force.map(|wrench| wrench.force.map(Number)),
            tcp_torque: arm.tcp_force.map(|wrench| wrench.torque.map(Number)),
            speed_slider: arm.speed_slider.map(Number),
            speed_scaling: arm.speed_scaling.map(Number),
            program_state: arm.program.map(|program| program.to_string()),
            outline: chain.map(|chain| outline(chain, &q).into_iter().map(|point| point.map(rounded)).collect()),
            tool_axis: chain.map(|chain| tool_axis(chain, &q).map(Number)),
        }
    }
}

impl Before {
    fn of(workpiece: &Workpiece) -> Self {
        let rounded = |value: f64| Number((value * 1e4).round() / 1e4);
        let Workpiece { origin, axes, side, heights } = workpiece;
        Self {
            origin: origin.map(rounded),
            axes: axes.map(|axis| axis.map(rounded)),
            side: Number(*side),
            points: SIDE,
            heights: heights.as_flattened().iter().copied().map(rounded).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
