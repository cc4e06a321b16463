//! The engine: connects to one robot controller, judges its states and commands the arm, without sockets, clocks or
//! tasks.
//!
//! **One input, then drain `poll_output` and `poll_event` until both are `None`, then sleep until `poll_timeout`.**
//!
//! The answer to a state has priority. The next deadline, the displayed figures and the recorder's entries are computed
//! later: when [`written`](Engine::written) or [`poll_event`](Engine::poll_event) is called, or before the next input.
//! A call that reports an event computes them at once. No decision depends on when this happens.
//!
//! An engine reads no clock, allocates nothing and does not panic. Time is an argument, and memory is passed in when
//! the engine is made. Any bytes on any link result in a value, an event or a counted skip.
//!
//! | input | does |
//! |---|---|
//! | `Start` | opens the controller's links, or listens on them; repeats this after every loss |
//! | `Opened`, `Accepted`, `Ends`, `Refused`, `Closed` | the port's report on a link: the conversation continues, or starts again after a pause |
//! | `Unacked` | the number of bytes that the controller has not acknowledged: too many for too long end commanding |
//! | bytes | messages → facts and states; once everything received is read, the newest state is judged and answered |
//! | `Sample` | stores the newest reading of each sensor for the next cycle |
//! | `Set` | sets a value of the controller, independent of the motion; the controller's own report confirms it |
//! | `Request`, `Resume`, `Release`, `Acknowledge`, `Pin` | operator actions, judged by [`Operator`](crate::mode::Operator) |
//! | `HandBack`, `Resend` | ends our program on the controller, or sends it |
//! | `Shutdown` | brings the arm to rest, then disconnects from the controller |
//! | time | every wait has a deadline; a stall of this process is detected before the bytes received meanwhile are judged |
//!
//! ```
//! use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
//! use outrigger_core::engine::{Input, Output};
//! use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//! use outrigger_wire::time::Instant;
//!
//! let law = JointServo::<6>::new(Reference::Hold, JointServoConfig::default());
//! let memory = Memory { primary: &mut [0; 4096], realtime: &mut [0; 8192], rtde: None };
//! let mut engine = UrEngine::new(UrConfig::default(), law, memory)?;
//!
//! let now = Instant::ZERO;
//! engine.handle(now, Input::Start);
//! while let Some(output) = engine.poll_output() {
//!     match output {
//!         Output::Open { link, endpoint } => println!("connect {link:?} to {endpoint:?}"),
//!         Output::Listen { link, port } => println!("let {link:?} be connected to at {port}"),
//!         Output::Abort(link) => println!("reset {link:?}"),
//!         Output::Transmit { link, bytes, .. } => println!("write {} bytes to {link:?}", bytes.len()),
//!     }
//! }
//! while let Some(event) = engine.poll_event() {
//!     println!("{event:?}");
//! }
//! assert!(engine.poll_timeout().is_some(), "the attempt to connect has a deadline");
//! # Ok::<(), outrigger_core::engine::ConfigError>(())
//! ```

mod config;
mod controller;
mod cycle;
mod event;
#[cfg(feature = "programs")]
mod freedrive_calls;
mod io;
pub mod krc;
mod motion_calls;
#[cfg(feature = "record")]
mod record;
#[cfg(feature = "record")]
mod recording_pause;
#[cfg(feature = "record")]
mod replay;
#[cfg(feature = "record")]
mod settings;
#[cfg(feature = "record")]
mod snapshot;
mod stopping_distance;
#[cfg(any(test, feature = "test-peer"))]
#[doc(hidden)]
pub mod test_peer;
pub mod ur;
mod view;

#[cfg(test)]
pub(crate) mod tests;

use core::net::SocketAddr;

use self::controller::{Context, Judged, Received, Waiting};
use self::cycle::{CycleMemory, MotionProgress, Verdict};
use self::event::Events;
#[cfg(feature = "record")]
use self::recording_pause::Keeper;
use crate::law::{Law, MotionStatus};
use crate::mode::Mode;
#[cfg(feature = "programs")]
use crate::mode::{Channel, OperatorAction, Refusal};
#[cfg(feature = "record")]
use crate::recorder::Recorder;
#[cfg(feature = "programs")]
use crate::robot::Reason;
use crate::trajectory::Progress;
use outrigger_wire::time::{Duration, Instant, earliest};

pub use config::{Config, ConfigError, Conflict, Data, Options};
pub use controller::{ArmFacts, Controller, ControllerKind, ControllerStatus, Delegated, LinkRoles, LinkSet};
pub use event::Event;
#[cfg(feature = "programs")]
pub use freedrive_calls::GuideError;
pub use io::{Endpoint, Input, LinkId, Output};
#[cfg(feature = "record")]
pub use record::{DUMP_END_LEN, dump_end};
#[cfg(feature = "record")]
pub use recording_pause::KeptFallback;
#[cfg(feature = "record")]
pub use replay::{Outcome, ReplayError, Replayed, recorded_transitions, replay, replay_watched};
#[cfg(feature = "record")]
pub use settings::{
    Device, NoPort, PortKind, Ports, SETTINGS_FORMAT, Sensor, SensorInput, Settings, SettingsError, TelemetryTarget,
    settings_kind,
};
#[cfg(feature = "record")]
pub use snapshot::Snapshot;
pub use stopping_distance::Coast;

/// The engine for one robot with `N` joints. There is one value per robot, and any number of them can coexist.
///
/// `P` is the kind of controller, `L` the law that moves the arm. Most programs name one of
/// [`UrEngine`](ur::UrEngine) and [`KrcEngine`](krc::KrcEngine).
#[derive(Debug)]
pub struct Engine<'m, const N: usize, P: Controller<N>, L> {
    config: Config<N, P::Options>,
    peer: P,
    law: L,
    cycle: CycleMemory<N>,
    events: Events<P::Event>,
    /// The state of the arm that was judged in this call, until the controller has taken note of it.
    judged: Option<Judged>,
    /// The arrival time of the state that the command to the controller answers; `None` once the answer is written.
    answers: Option<Instant>,
    lifecycle: Lifecycle,
    /// The time at which the engine must be called next, apart from queued output.
    due: Option<Instant>,
    /// The time of the last call whose deferred work (deadlines, figures, recording) is not done yet; `None` once
    /// `account` has done it.
    owed: Option<Instant>,
    #[cfg(feature = "record")]
    recorder: Recorder<'m>,
    #[cfg(feature = "record")]
    keeper: Keeper,
    /// `true` if the engine was changed since the last input by something other than an input.
    #[cfg(feature = "record")]
    changed: bool,
    /// No recorder, because this build lacks the feature `record`.
    #[cfg(not(feature = "record"))]
    recorder: core::marker::PhantomData<&'m ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Lifecycle {
    Idle,
    Running,
    /// A shutdown is in progress. Contains the time since which the arm is neither commanded nor brought to rest;
    /// `None` before that.
    ShuttingDown(Option<Instant>),
    Finished,
}

impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// Creates an engine that waits for [`Input::Start`].
    ///
    /// # Errors
    /// The first fault of the configuration or the memory.
    pub fn new(config: Config<N, P::Options>, law: L, memory: P::Memory) -> Result<Self, ConfigError> {
        let (peer, cycle) = P::new(&config, memory)?;
        Ok(Self {
            config,
            peer,
            law,
            cycle,
            events: Events::default(),
            judged: None,
            answers: None,
            lifecycle: Lifecycle::Idle,
            due: None,
            owed: None,
            #[cfg(feature = "record")]
            recorder: Recorder::new(&mut []),
            #[cfg(feature = "record")]
            keeper: Keeper::default(),
            #[cfg(feature = "record")]
            changed: false,
            #[cfg(not(feature = "record"))]
            recorder: core::marker::PhantomData,
        })
    }

    /// Takes one input at `now`, which never goes back. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.account();
        #[cfg(feature = "record")]
        self.record_input(now, &input);
        self.wake(now);
        match input {
            Input::Start => {
                if self.lifecycle == Lifecycle::Idle {
                    self.lifecycle = Lifecycle::Running;
                    self.cycle.start(now);
                    self.pass_on(input, now);
                }
            }
            Input::Opened(_)
            | Input::Ends(..)
            | Input::Accepted(..)
            | Input::Refused(_)
            | Input::Closed(_)
            | Input::Unacked { .. }
            | Input::Set(_) => self.pass_on(input, now),
            #[cfg(feature = "programs")]
            Input::HandBack => self.word_for_program(OperatorAction::HandBack, now),
            #[cfg(feature = "programs")]
            Input::Resend => self.word_for_program(OperatorAction::Resend, now),
            // Such a build has no program on the controller.
            #[cfg(not(feature = "programs"))]
            Input::HandBack | Input::Resend => {}
            Input::Sample(sample) => self.cycle.sources_mut().observe(sample, now),
            Input::Request(epoch) => self.cycle.request(epoch, now, false, &mut self.events),
            Input::Resume(epoch) => self.cycle.request(epoch, now, true, &mut self.events),
            Input::Pin(contact, high) => {
                if self.cycle.pin(contact, high, now, &mut self.events) {
                    self.acknowledged(now);
                }
            }
            Input::Release => self.cycle.release(now, &mut self.events),
            Input::Acknowledge => {
                self.cycle.acknowledge(now, &mut self.events);
                self.acknowledged(now);
            }
            Input::Shutdown => {
                self.cycle.end(now, &mut self.events);
                if !matches!(self.lifecycle, Lifecycle::ShuttingDown(_)) {
                    self.lifecycle = Lifecycle::ShuttingDown(None);
                }
            }
            // The deadline has passed or the socket is drained, so the newest state can be judged.
            Input::Tick => self.judge(now),
        }
        self.settle(now);
    }

    /// Ends our program on the controller, or sends it again, as the operator's action `word` requests. This is done
    /// only if nothing is commanded and the arm is at rest; otherwise [`Event::Refused`] reports why not.
    #[cfg(feature = "programs")]
    fn word_for_program(&mut self, word: OperatorAction, now: Instant) {
        let rests = self.cycle.evidence().at_rest.is_some_and(|rest| rest.value);
        let free = match self.cycle.mode_now() {
            Mode::Offline => Err(Reason::LinkClosed),
            Mode::Monitor if rests && self.lifecycle == Lifecycle::Running => Ok(()),
            Mode::Monitor => Err(Reason::NotAtRest),
            Mode::Arming | Mode::Command | Mode::Stopping => Err(Reason::Commanded),
        };
        if let Err(reason) = self.peer.word_for_program(word, free, now) {
            self.events.push(Event::Refused(Refusal { word, by: Channel::Message, reason }));
        }
    }

    /// Returns the buffer for the next bytes received on `link`. It is never empty for a link that was opened. The
    /// port truncates a datagram that is longer than the buffer, and the datagram is then rejected because of its
    /// length.
    pub fn receive_window(&mut self, link: LinkId) -> &mut [u8] {
        self.peer.receive_window(link)
    }

    /// Takes `count` bytes that were received into the window of `link`. `arrival` is the time at which they were read,
    /// taken right after the read; `now`, as in [`handle`](Self::handle), is not before it.
    pub fn commit(&mut self, link: LinkId, count: usize, arrival: Instant, now: Instant) {
        self.receive(&Received { link, count, from: None, arrival }, now);
    }

    /// Takes a whole datagram from `from`, otherwise like [`commit`](Self::commit).
    pub fn commit_datagram(&mut self, link: LinkId, count: usize, from: SocketAddr, arrival: Instant, now: Instant) {
        self.receive(&Received { link, count, from: Some(from), arrival }, now);
    }

    fn receive(&mut self, received: &Received, now: Instant) {
        self.account();
        #[cfg(feature = "record")]
        self.record_received(now, received);
        self.wake(now);
        let complete = self.with_peer(now, |peer, cx| peer.commit(received, cx));
        if complete {
            self.judge(now);
        }
        self.settle(now);
    }

    /// Returns the next action for the port, the code that does the engine's I/O; `None` once all are taken.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        self.peer.poll_output(&self.config, &mut self.events)
    }

    /// Reports that the bytes of the last [`Output::Transmit`] have been written to its link, at `now`. Returns the
    /// time from the arrival of the state that caused them, on whichever link, until `now`; `None` if they answer no
    /// state.
    ///
    /// No decision depends on it, and a port may omit the call.
    pub fn written(&mut self, now: Instant) -> Option<Duration> {
        let arrival = self.answers.take();
        let turnaround = self.cycle.written(arrival, now);
        self.account();
        turnaround
    }

    /// Returns the next event for an operator or a log; `None` once all are taken.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event<P::Event>> {
        self.account();
        self.events.pop()
    }

    #[cfg(test)]
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns the latest time for the next [`Input::Tick`]. It is in the past while anything is queued, and after an
    /// answer until [`written`](Self::written) or [`poll_event`](Self::poll_event) is called. `None` while nothing is
    /// waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let queued = self.peer.waiting() != Waiting::Nothing
            || !self.events.is_empty()
            || self.cycle.is_awaited()
            || self.owed.is_some();
        if queued { Some(Instant::ZERO) } else { self.due }
    }

    /// Returns `true` once an [`Input::Shutdown`] has been carried out and every connection is closed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.lifecycle == Lifecycle::Finished && self.peer.waiting() != Waiting::Links
    }

    #[inline(always)]
    fn with_peer<T>(&mut self, now: Instant, call: impl FnOnce(&mut P, &mut Context<'_, N, P>) -> T) -> T {
        let running = self.lifecycle == Lifecycle::Running;
        let Self { config, peer, cycle, events, .. } = self;
        call(peer, &mut Context { now, config, cycle, events, running })
    }

    fn pass_on(&mut self, input: Input, now: Instant) {
        self.with_peer(now, |peer, cx| peer.handle(input, cx));
    }

    fn acknowledged(&mut self, now: Instant) {
        self.pass_on(Input::Acknowledge, now);
    }

    /// Handles every deadline that has passed by `now`, before the input itself.
    fn wake(&mut self, now: Instant) {
        self.events.begin();
        self.cycle.wake(now, self.due, &mut self.events);
        self.with_peer(now, P::wake);
    }

    /// Judges the newest of the states that arrived; [`answer`](Self::answer) sends the command for it afterwards.
    fn judge(&mut self, now: Instant) {
        let Some(arrival) = self.cycle.take_arrival() else { return };
        let facts = self.with_peer(now, P::facts);
        let executed = P::DELEGATES.then(|| match self.cycle.awaiting() {
            Some(state) => self.peer.executed(state, now),
            None => MotionProgress::default(),
        });
        if let Some(posture) = self.peer.posture() {
            self.law.use_posture(posture);
        }
        self.cycle.suspend_ended(&mut self.law);
        let acknowledged = self.cycle.judge(&self.law, &facts, executed, arrival, now, &mut self.events);
        self.judged = Some(Judged { arrival, acknowledged });
    }

    /// Finishes a call: writes the pending command, advances a shutdown, recomputes the next deadline. If the call
    /// answers a state and reports no event, the deadline, figures and recorder entries are postponed until the answer
    /// is written; otherwise they are computed at once.
    fn settle(&mut self, now: Instant) {
        // If no law needs kinematics, the code for them is not linked.
        if self.law.needs_kinematics() && self.cycle.take_learned() {
            self.cycle.set_chain(self.peer.kinematics(&self.config));
        }
        self.answer(now);
        if let Lifecycle::ShuttingDown(rest) = self.lifecycle {
            let rests = matches!(self.mode(), Mode::Offline | Mode::Monitor);
            let since = rests.then(|| rest.unwrap_or(now));
            self.lifecycle = Lifecycle::ShuttingDown(since);
            if since.is_some_and(|since| self.with_peer(now, |peer, cx| peer.leave(since, cx))) {
                self.lifecycle = Lifecycle::Finished;
            }
        }
        self.cycle.suspend_ended(&mut self.law);
        self.owed = Some(now);
        if self.answers.is_none() || !self.events.is_empty() {
            self.account();
        }
    }

    /// Does everything that the answer to a state need not wait for: the next deadline, displayed figures, the
    /// recorder.
    fn account(&mut self) {
        let Some(now) = self.owed.take() else { return };
        self.cycle.account();
        let (peer, cycle) = (self.peer.next_deadline(now, &self.config, &self.cycle), self.cycle.next_deadline(now));
        self.due = earliest(&[peer, cycle]);
        #[cfg(feature = "record")]
        self.record_outcomes(now);
    }

    /// Writes this cycle's command to the controller, and the output that follows the command.
    fn answer(&mut self, now: Instant) {
        // An answer that was never written must not be attributed to bytes that are written from now on.
        self.answers = None;
        let judged = self.judged.take();
        let prepared = self.with_peer(now, |peer, cx| peer.prepare(judged, cx));
        let answers = if prepared { self.command(now) } else { None };
        let beside = self.with_peer(now, P::conclude);
        if answers.is_some() || beside {
            let made = beside || answers == Some(true);
            self.answers = self.cycle.answered().filter(|_| made);
        }
    }

    /// Decides on the command to the controller and makes its bytes. Returns `true` if bytes were made, which answer the
    /// state, `false` if the command has none; `None` if no command is to be sent.
    fn command(&mut self, now: Instant) -> Option<bool> {
        self.cycle.suspend_ended(&mut self.law);
        if cfg!(feature = "motions") && P::DELEGATES {
            self.peer.motion_ended(MotionStatus::of(&self.law).progress == Progress::Finished);
        }
        let asked = if P::DELEGATES { self.peer.asked() } else { None };
        let written = match self.cycle.answer(&mut self.law, asked.as_ref(), now, &mut self.events) {
            Ok(verdict @ (Verdict::Silent | Verdict::Mirror)) => self.peer.write(verdict).map(|_| None),
            Ok(verdict) => self.peer.write(verdict).map(Some),
            Err(reason) => Err(reason),
        };
        written.unwrap_or_else(|reason| {
            self.cycle.fault(now, reason, &mut self.events);
            if P::LISTENS {
                // The output of another mode may be different.
                self.with_peer(now, |peer, cx| peer.prepare(None, cx));
            }
            // A fault while commanding is answered with zero velocity, or the end of a move, in this very cycle.
            let verdict = match self.cycle.answer(&mut self.law, None, now, &mut self.events) {
                Ok(verdict @ (Verdict::Hold | Verdict::Cancel(_))) => verdict,
                Ok(Verdict::Silent | Verdict::Mirror | Verdict::Stop | Verdict::Keep)
                | Ok(Verdict::Move(_) | Verdict::Start(..))
                | Err(_) => Verdict::Silent,
                #[cfg(feature = "programs")]
                Ok(Verdict::Guide(..)) => Verdict::Silent,
                #[cfg(feature = "motions")]
                Ok(Verdict::Torque(_)) => Verdict::Silent,
            };
            Some(self.peer.write(verdict).unwrap_or(false))
        })
    }

    /// Returns the part of the engine that is specific to the kind of controller, for a change that is not an input.
    fn peer_mut(&mut self) -> &mut P {
        self.account();
        self.record_change();
        &mut self.peer
    }

    /// Notes that the engine is changed by something other than an input: the recorder writes a checkpoint before the
    /// next input.
    const fn record_change(&mut self) {
        #[cfg(feature = "record")]
        {
            self.changed = true;
        }
    }
}
