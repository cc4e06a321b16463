//! Engines that speak with one controller, without sockets, clocks or tasks.
//!
//! **One input, then drain `poll_output` and `poll_event` until both are `None`, then sleep until `poll_timeout`.**
//!
//! An engine reads no clock, allocates nothing and does not panic: time is an argument, memory is handed in when it is
//! made, and any bytes on any link end in a value, an event or a counted skip.
//!
//! | input | does |
//! |---|---|
//! | `Start` | the peer's links are opened, or listened on; again after every loss |
//! | bytes | messages → facts and states; the newest state, once all that has arrived is read, is judged and answered |
//! | `Sample` | the newest reading of each sensor is kept for the next cycle |
//! | `Set` | a value of the controller is set beside the motion, and confirmed by what the controller shows |
//! | `Request`, `Resume`, `Release`, `Acknowledge`, `Pin` | what an operator asks for, judged by [`Operator`] |
//! | `Shutdown` | the arm is brought to rest, then the controller is left |
//! | time | every wait has a deadline; a stall of our own is seen before the bytes that waited meanwhile |
//!
//! ```
//! use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
//! use outrigger_core::engine::{Input, Output};
//! use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//! use outrigger_core::time::Instant;
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

mod coast;
mod config;
mod cycle;
mod event;
#[cfg(feature = "reverse")]
mod guide;
mod io;
#[cfg(feature = "postcard")]
mod keep;
pub mod krc;
mod peer;
#[cfg(feature = "postcard")]
mod record;
#[cfg(feature = "postcard")]
mod replay;
#[cfg(feature = "postcard")]
mod settings;
#[cfg(feature = "postcard")]
mod snapshot;
#[cfg(any(test, feature = "test-peer"))]
#[doc(hidden)]
pub mod test_peer;
pub mod ur;

#[cfg(test)]
pub(crate) mod tests;

use core::net::SocketAddr;

use self::cycle::{Cycle, Verdict};
use self::event::Events;
#[cfg(feature = "postcard")]
use self::keep::Keeper;
use self::peer::{Context, Received};
#[cfg(feature = "tool-moves")]
use crate::command::{Destination, LocateError, MoveTarget};
use crate::command::{JointMove, Sources};
use crate::kinematics::KinematicChain;
#[cfg(feature = "trajectories")]
use crate::law::Replaced;
use crate::law::{FeedError, Law, survey};
#[cfg(feature = "forward")]
use crate::law::{Forward, ForwardError};
use crate::link::{Figures, Grade, Histograms};
#[cfg(feature = "reverse")]
use crate::mode::{Channel, Refusal, Word};
use crate::mode::{Evidence, Mode, ModeMachine, MoveNumber, Operator, Pace};
#[cfg(feature = "postcard")]
use crate::recorder::Recorder;
use crate::robot::{JointPositions, JointVelocities, Reason, ReasonSet, State};
use crate::time::{Duration, Instant, earliest};
use crate::trajectory::Waypoint;
#[cfg(feature = "tolerances")]
use crate::trajectory::{Tolerances, Watch};

pub use coast::Coast;
pub use config::{Config, ConfigError, Conflict, Data, Options};
pub use event::Event;
#[cfg(feature = "reverse")]
pub use guide::GuideError;
pub use io::{Endpoint, Input, LinkId, Output};
#[cfg(feature = "postcard")]
pub use keep::KeptFallback;
pub use peer::{Peer, PeerStatus};
#[cfg(feature = "postcard")]
pub use record::{DUMP_END_LEN, dump_end};
#[cfg(feature = "postcard")]
pub use replay::{Outcome, ReplayError, Replayed, recorded_transitions, replay, replay_watched};
#[cfg(feature = "postcard")]
pub use settings::{
    Device, NoPort, PortKind, Ports, SETTINGS_FORMAT, Sensor, SensorInput, Settings, SettingsError, TelemetryTarget,
    settings_kind,
};
#[cfg(feature = "postcard")]
pub use snapshot::Snapshot;

/// The engine beside one robot with `N` joints. One value per robot; any number of them live side by side.
///
/// `P` is the kind of controller, `L` the law that moves the arm. Most programs name one of
/// [`UrEngine`](ur::UrEngine) and [`KrcEngine`](krc::KrcEngine).
#[derive(Debug)]
pub struct Engine<'m, const N: usize, P: Peer<N>, L> {
    config: Config<N, P::Options>,
    peer: P,
    cycle: Cycle<N, L>,
    events: Events<P::Event>,
    /// When the state arrived that is being answered, until the answer is written.
    answers: Option<Instant>,
    lifecycle: Lifecycle,
    /// When the engine asked to be called at the latest, queued output aside.
    due: Option<Instant>,
    #[cfg(feature = "postcard")]
    recorder: Recorder<'m>,
    #[cfg(feature = "postcard")]
    keeper: Keeper,
    /// Something else than an input changed the engine since the last one.
    #[cfg(feature = "postcard")]
    changed: bool,
    /// Without the feature nothing is recorded.
    #[cfg(not(feature = "postcard"))]
    recorder: core::marker::PhantomData<&'m ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
enum Lifecycle {
    Idle,
    Running,
    /// The arm rests since then, if it does.
    ShuttingDown(Option<Instant>),
    Finished,
}

impl<const N: usize, P: Peer<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// An engine that waits for [`Input::Start`].
    ///
    /// # Errors
    /// What is wrong with the configuration or the memory.
    pub fn new(config: Config<N, P::Options>, law: L, memory: P::Memory) -> Result<Self, ConfigError> {
        let (peer, cycle) = P::new(&config, memory, law)?;
        Ok(Self {
            config,
            peer,
            cycle,
            events: Events::default(),
            answers: None,
            lifecycle: Lifecycle::Idle,
            due: None,
            #[cfg(feature = "postcard")]
            recorder: Recorder::new(&mut []),
            #[cfg(feature = "postcard")]
            keeper: Keeper::default(),
            #[cfg(feature = "postcard")]
            changed: false,
            #[cfg(not(feature = "postcard"))]
            recorder: core::marker::PhantomData,
        })
    }

    /// Takes one input at `now`, which never goes back. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: Input) {
        #[cfg(feature = "postcard")]
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
            #[cfg(feature = "reverse")]
            Input::HandBack => self.word_for_program(Word::HandBack, now),
            #[cfg(feature = "reverse")]
            Input::Resend => self.word_for_program(Word::Resend, now),
            // There is no program of ours in such a build.
            #[cfg(not(feature = "reverse"))]
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
            // Waking up is all there is to it, except that no more bytes came: what arrived is complete.
            Input::Tick => self.judge(now),
        }
        self.settle(now);
    }

    /// A word for the program of ours on the controller: heeded where nothing is commanded and the arm is at rest.
    #[cfg(feature = "reverse")]
    fn word_for_program(&mut self, word: Word, now: Instant) {
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

    /// Where the next bytes received on `link` go; never empty for a link that was opened. A datagram longer than this is
    /// cut by the port, and refused as too long by its length.
    pub fn receive_window(&mut self, link: LinkId) -> &mut [u8] {
        self.peer.receive_window(link)
    }

    /// `count` bytes were received into the window of `link`. `arrival` is when they were read, taken right after the
    /// read; `now`, as in [`handle`](Self::handle), is not before it.
    pub fn commit(&mut self, link: LinkId, count: usize, arrival: Instant, now: Instant) {
        self.receive(&Received { link, count, from: None, arrival }, now);
    }

    /// The same of a datagram that `from` has sent, whole.
    pub fn commit_datagram(&mut self, link: LinkId, count: usize, from: SocketAddr, arrival: Instant, now: Instant) {
        self.receive(&Received { link, count, from: Some(from), arrival }, now);
    }

    fn receive(&mut self, received: &Received, now: Instant) {
        #[cfg(feature = "postcard")]
        self.record_received(now, received);
        self.wake(now);
        let complete = self.with_peer(now, |peer, cx| peer.commit(received, cx));
        if complete {
            self.judge(now);
        }
        self.settle(now);
    }

    /// The next thing the port must do; `None` once all is done.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        self.peer.poll_output(&self.config, &mut self.events)
    }

    /// The bytes of the last [`Output::Transmit`] have been written to its link, at `now`. From the arrival of the state
    /// that caused them, on whatever link, to there; `None` for what answers no state.
    ///
    /// For figures: nothing else follows from it, and a port may leave it out.
    pub fn written(&mut self, now: Instant) -> Option<Duration> {
        let arrival = self.answers.take();
        self.cycle.written(arrival, now)
    }

    /// The controller is to execute `asked` by itself, from where the arm rests: the number that the program which executes
    /// it will mirror. From now on the law rests, and nothing begins with what it was about to do. The move goes out with a
    /// later state; see [`ModeMachine::delegate`]. In place of an input: call it between two of them.
    ///
    /// Does not compile beside a kind of controller that is given no moves.
    ///
    /// # Errors
    /// The first reason against, and nothing changes: one of [`ModeMachine::delegate`]'s, or a limit that the move would
    /// not hold.
    pub fn delegate(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        const { assert!(P::DELEGATES, "this kind of controller is given no moves") };
        self.give(asked, now)
    }

    /// The same for programs that are beside any kind of controller.
    ///
    /// # Errors
    /// As above, and [`Reason::NoSuchProgram`] beside a kind of controller that is given no moves.
    pub fn offer(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        if P::DELEGATES { self.give(asked, now) } else { Err(Reason::NoSuchProgram) }
    }

    /// The controller is to say where `target` is in the other measure, which takes some states; nothing moves. What was asked for
    /// before is forgotten. With the [answer](Self::located), [`JointMove::towards`] makes the move for
    /// [`delegate`](Self::delegate). In place of an input, like that.
    ///
    /// # Errors
    /// [`Reason::NotCommanding`] in any mode but `Command`, [`Reason::NotFinite`], and where no program of ours can be asked
    /// [`Reason::NoSuchProgram`] or [`Reason::ProgramAway`].
    #[cfg(feature = "tool-moves")]
    pub fn locate(&mut self, target: MoveTarget<N>) -> Result<(), Reason> {
        if self.mode() != Mode::Command {
            return Err(Reason::NotCommanding);
        }
        if !target.is_finite() {
            return Err(Reason::NotFinite);
        }
        self.peer.locate(target)?;
        self.record_change();
        Ok(())
    }

    /// What the controller says of the target that was given to [`locate`](Self::locate) last; `None` before it has.
    #[cfg(feature = "tool-moves")]
    #[must_use]
    pub fn located(&self) -> Option<Result<Destination<N>, LocateError>> {
        self.peer.located()
    }

    /// One waypoint more for the move that leads on ([`JointMove::along`]), from the last one or, at first, from where it
    /// begins; the move ends there where it is the `last`. In place of an input, like [`delegate`](Self::delegate). Where the
    /// next one comes late, the controller brings the arm to rest, and the move has ended.
    ///
    /// # Errors
    /// Why it is not taken: no such move, no room ([`leg_room`](Self::leg_room)), a time that does not rise, or a limit that the
    /// arm would exceed on the way there. Nothing changes then.
    pub fn lead_on(&mut self, to: &Waypoint<N>, last: bool) -> Result<(), FeedError> {
        let leg = self.peer.leg_to(to, last)?;
        survey(&leg, &self.config.limits, Some(&JointPositions::ZERO)).map_err(FeedError::Beyond)?;
        self.record_change();
        self.peer.lead_on(to, last);
        Ok(())
    }

    /// How many waypoints [`lead_on`](Self::lead_on) takes now.
    #[must_use]
    pub fn leg_room(&self) -> usize {
        self.peer.leg_room()
    }

    /// How much of its own time the move that leads on has made, as the program shows that makes it; `None` where none does.
    #[must_use]
    pub fn led(&self) -> Option<Duration> {
        self.peer.led()
    }

    /// The move that leads on is held to these tolerances from now on, in its own time: its target and the measured joints to `path`
    /// where the program says that it is, and after its end to `goal`. Where one does not hold, commanding ends by that name. In
    /// place of an input, like [`delegate`](Self::delegate), after which it is called.
    ///
    /// # Errors
    /// [`FeedError::NoMotion`] where there is no such move.
    #[cfg(feature = "tolerances")]
    pub fn hold_to(&mut self, tolerances: Tolerances<N>) -> Result<(), FeedError> {
        self.record_change();
        self.peer.hold_to(tolerances)
    }

    /// Whether the move that leads on has come to its goal, and how late it is: `None` where it is held to no tolerances.
    #[cfg(feature = "tolerances")]
    #[must_use]
    pub fn tolerated(&self) -> Option<&Watch<N>> {
        self.peer.tolerated()
    }

    /// Whether whoever asked last to command has asked to go on with what a stop had suspended, and nothing has begun since that
    /// a controller makes by itself.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.cycle.goes_on()
    }

    fn give(&mut self, asked: JointMove<N>, now: Instant) -> Result<MoveNumber, Reason> {
        let number = self.cycle.delegate(&asked, now)?;
        self.record_change();
        if let Some(state) = self.cycle.state() {
            self.peer.delegated(number, asked, state);
        }
        Ok(number)
    }

    /// The law is to make the motion again, beginning from where the arm rests: see [`ModeMachine::stream`]. In place of an
    /// input, like [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// Why not; nothing changes then.
    pub fn stream(&mut self, now: Instant) -> Result<(), Reason> {
        const { assert!(P::DELEGATES, "this kind of controller is given no moves") };
        self.cycle.stream(now)?;
        self.record_change();
        Ok(())
    }

    /// One waypoint more for the motion that the law follows; the motion ends there where it is the `last`. In place of an
    /// input: call it between two of them. `law().room()` says how many are taken now.
    ///
    /// # Errors
    /// Why it is not taken: what is wrong with it, or a limit that the arm would exceed on the way there. Nothing changes
    /// then.
    pub fn feed(&mut self, waypoint: &Waypoint<N>, last: bool, now: Instant) -> Result<(), FeedError> {
        #[cfg(feature = "postcard")]
        self.record_waypoint(now, waypoint, last);
        self.wake(now);
        let taken = self.cycle.feed(waypoint, last);
        self.settle(now);
        taken
    }

    /// From the next state on the law follows the motion through these `waypoints`, in place of the one it follows: smoothly, from
    /// where that wants the joints now. Positions are the joints' own, and times count from now on. What became of the other
    /// motion is returned: its waypoints are forgotten, and it is never gone on with. In place of an input, like
    /// [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// Why not, and the motion goes on as before: [`FeedError::NotCommanding`] in any mode but `Command`; what is wrong with a
    /// waypoint; a limit that the arm would exceed, also on its way to the first of them.
    #[cfg(feature = "trajectories")]
    pub fn replace(&mut self, waypoints: &[Waypoint<N>], last: bool) -> Result<Replaced, FeedError> {
        let replaced = self.cycle.replace(waypoints, last)?;
        self.record_change();
        Ok(replaced)
    }

    /// The motion that the law follows comes to rest from now on, within the acceleration limits and in the direction in which the
    /// joints go, and is finished there: the arm is held, and can be given another motion. What became of it is returned. A
    /// [release](Input::Release) stops harder, by the controller's own means. In place of an input, like [`replace`](Self::replace).
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace); the motion goes on as before.
    #[cfg(feature = "trajectories")]
    pub fn cancel(&mut self) -> Result<Replaced, FeedError> {
        let cancelled = self.cycle.cancel()?;
        self.record_change();
        Ok(cancelled)
    }

    /// From the next state on the law follows these speeds or positions, in place of a motion, for as long as they
    /// [hold](Forward::holds). In place of an input, like [`feed`](Self::feed). `law().forwarding()` says how it stands.
    ///
    /// # Errors
    /// Why not, and what was commanded before goes on: [`ForwardError::NotCommanding`] in any mode but `Command`, and while the
    /// controller moves the arm by itself; those of [`Law::forward`].
    #[cfg(feature = "forward")]
    pub fn forward(&mut self, forward: &Forward<N>, now: Instant) -> Result<(), ForwardError> {
        #[cfg(feature = "postcard")]
        self.record_forward(now, forward);
        self.wake(now);
        let taken = self.cycle.forward(forward);
        self.settle(now);
        taken
    }

    /// The next event; `None` once all are taken.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event<P::Event>> {
        self.events.pop()
    }

    /// When [`Input::Tick`] is due at the latest: in the past while anything is queued, `None` while nothing is waited
    /// for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let queued = self.peer.has_output() || !self.events.is_empty() || self.cycle.is_awaited();
        if queued { Some(Instant::ZERO) } else { self.due }
    }

    /// Whether a [`Input::Shutdown`] has been carried out and every connection is closed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.lifecycle == Lifecycle::Finished && !self.peer.has_link_output()
    }

    #[inline(always)]
    fn with_peer<T>(&mut self, now: Instant, call: impl FnOnce(&mut P, &mut Context<'_, N, P, L>) -> T) -> T {
        let running = self.lifecycle == Lifecycle::Running;
        let Self { config, peer, cycle, events, .. } = self;
        call(peer, &mut Context { now, config, cycle, events, running })
    }

    fn pass_on(&mut self, input: Input, now: Instant) {
        self.with_peer(now, |peer, cx| peer.handle(input, cx));
    }

    fn acknowledged(&mut self, now: Instant) {
        self.with_peer(now, P::acknowledged);
    }

    /// Everything that time alone decides, before anything else is looked at.
    fn wake(&mut self, now: Instant) {
        self.events.begin();
        self.cycle.wake(now, self.due, &mut self.events);
        self.with_peer(now, P::wake);
    }

    /// Judges the newest of the states that arrived.
    fn judge(&mut self, now: Instant) {
        let Some(arrival) = self.cycle.take_arrival() else { return };
        let beside = self.with_peer(now, P::beside);
        let peer = &mut self.peer;
        let executed = |state: &State<N>| if P::DELEGATES { Some(peer.executed(state, now)) } else { None };
        let acknowledged = self.cycle.judge(arrival, now, &beside, executed, &mut self.events);
        self.with_peer(now, |peer, cx| peer.judged(arrival, cx));
        if acknowledged {
            self.acknowledged(now);
        }
    }

    /// The end of every call: what follows from it, and when to be called again.
    fn settle(&mut self, now: Instant) {
        self.answer(now);
        if let Lifecycle::ShuttingDown(rest) = self.lifecycle {
            let rests = matches!(self.mode(), Mode::Offline | Mode::Monitor);
            let since = rests.then(|| rest.unwrap_or(now));
            self.lifecycle = Lifecycle::ShuttingDown(since);
            if since.is_some_and(|since| self.peer.has_left(since, now)) {
                self.lifecycle = Lifecycle::Finished;
                self.with_peer(now, P::shut_down);
            }
        }
        let (peer, cycle) = (self.peer.next_deadline(now, &self.config, &self.cycle), self.cycle.next_deadline(now));
        self.due = earliest(&[peer, cycle]);
        #[cfg(feature = "postcard")]
        self.record_outcomes(now);
    }

    /// Puts on the wire what the cycle decides.
    fn answer(&mut self, now: Instant) {
        let mut answers = None;
        if self.peer.prepare(now, &self.cycle) {
            let asked = if P::DELEGATES { self.peer.asked() } else { None };
            let written = match self.cycle.answer(asked.as_ref(), now, &mut self.events) {
                Ok(verdict @ (Verdict::Silent | Verdict::Mirror)) => self.peer.write(verdict).map(|_| None),
                Ok(verdict) => self.peer.write(verdict).map(Some),
                Err(reason) => Err(reason),
            };
            answers = written.unwrap_or_else(|reason| {
                self.cycle.fault(now, reason, &mut self.events);
                if P::LISTENS {
                    // What is said in another mode may be something else.
                    self.peer.prepare(now, &self.cycle);
                }
                // The answer to a fault while commanding is zero velocity, or the end of a move, in this very cycle.
                let verdict = match self.cycle.answer(None, now, &mut self.events) {
                    Ok(verdict @ (Verdict::Hold | Verdict::Cancel(_))) => verdict,
                    Ok(Verdict::Silent | Verdict::Mirror | Verdict::Stop | Verdict::Keep)
                    | Ok(Verdict::Move(_) | Verdict::Start(..))
                    | Err(_) => Verdict::Silent,
                    #[cfg(feature = "reverse")]
                    Ok(Verdict::Guide(..)) => Verdict::Silent,
                };
                Some(self.peer.write(verdict).unwrap_or(false))
            });
        }
        let all_the_same = self.with_peer(now, P::conclude);
        if answers.is_some() || all_the_same {
            let made = all_the_same || answers == Some(true);
            self.answers = self.cycle.answered().filter(|_| made);
        }
    }
}

/// What can be seen of an engine from outside.
impl<const N: usize, P: Peer<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// What only this kind of controller has to show.
    #[must_use]
    pub const fn peer(&self) -> &P {
        &self.peer
    }

    /// The same, to be changed by something else than an input.
    const fn peer_mut(&mut self) -> &mut P {
        self.record_change();
        &mut self.peer
    }

    /// The mode now.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.cycle.mode().mode()
    }

    /// The mode machine: epoch, latch, proof of acceptance, good cycles.
    #[must_use]
    pub const fn mode_machine(&self) -> &ModeMachine {
        self.cycle.mode()
    }

    /// What operators' words are judged by.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        self.cycle.operator()
    }

    /// The first reason since the last acknowledge.
    #[must_use]
    pub const fn latch(&self) -> Option<Reason> {
        self.cycle.mode().latch()
    }

    /// Everything a request would be refused for now.
    #[must_use]
    pub fn unmet(&self, now: Instant) -> ReasonSet {
        self.cycle.unmet(now)
    }

    /// Grade of the link that states come from.
    #[must_use]
    pub const fn grade(&self) -> Grade {
        self.cycle.link().grade()
    }

    /// Figures of the link that states come from at `now`.
    #[must_use]
    pub fn figures(&self, now: Instant) -> Figures {
        self.cycle.link().figures(now)
    }

    /// Histograms of the link that states come from.
    #[must_use]
    pub const fn histograms(&self) -> &Histograms {
        self.cycle.link().histograms()
    }

    /// The newest state of this session.
    #[must_use]
    pub fn state(&self) -> Option<&State<N>> {
        self.cycle.state().filter(|_| self.peer.is_established())
    }

    /// What the mode machine decides by, as of the newest state.
    #[must_use]
    pub const fn evidence(&self) -> &Evidence {
        self.cycle.evidence()
    }

    /// The joint speeds that were approved last \[rad/s\]; `None` unless commanding.
    #[must_use]
    pub fn approved(&self) -> Option<JointVelocities<N>> {
        (self.mode() == Mode::Command).then(|| self.cycle.approved())
    }

    /// The joint speeds that are commanded now \[rad/s\]: the approved ones, or those of a target that is being braked.
    #[must_use]
    pub fn commanded(&self) -> JointVelocities<N> {
        self.peer.commanded().or(self.approved()).unwrap_or(JointVelocities::ZERO)
    }

    /// Whether the robot's speed scaling is 0 while commanding, so that zero velocity goes out and the law stands.
    #[must_use]
    pub fn is_held_by_scaling(&self) -> bool {
        self.mode() == Mode::Command && self.cycle.pace() == Pace::Held
    }

    /// Whether bytes of the link were reported as not acknowledged.
    #[must_use]
    pub fn has_unacked(&self, link: LinkId) -> bool {
        self.peer.has_unacked(link)
    }

    /// The sensors and what was counted of them.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        self.cycle.sources()
    }

    /// The law.
    #[must_use]
    pub const fn law(&self) -> &L {
        self.cycle.law()
    }

    /// The law, to give it another motion. What it asks for is held to the limits like before.
    pub fn law_mut(&mut self) -> &mut L {
        self.record_change();
        self.cycle.law_mut()
    }

    /// The arm's kinematics as the law gets them at the next arming: from the controller, else of the configured model.
    #[must_use]
    pub const fn kinematics(&self) -> Option<&KinematicChain<N>> {
        self.cycle.chain()
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config<N, P::Options> {
        &self.config
    }

    /// Something else than an input changes the engine: the next input recorded begins with a checkpoint.
    const fn record_change(&mut self) {
        #[cfg(feature = "postcard")]
        {
            self.changed = true;
        }
    }
}
