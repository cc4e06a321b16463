//! The engine beside one robot: links, detection, cycle and text put together.
//!
//! | input | does |
//! |---|---|
//! | `Start` | opens 30001 (else 30002), learns the version, opens 30003 and, where states come from RTDE, 30004; again after every loss, with back-off |
//! | bytes | messages → facts and states; the newest state, once all that has arrived is read, is judged and answered |
//! | `Unacked` | a peer that acknowledges nothing ends commanding, later the connection |
//! | `Sample` | the newest reading of each sensor is kept for the next cycle |
//! | `Set` | an output is set beside the motion, and confirmed by what the controller shows |
//! | `Request`, `Resume`, `Release`, `Acknowledge`, `Pin` | an operator's words, judged by [`Operator`](crate::mode::Operator); so are those of the robot's inputs |
//! | `Shutdown` | the arm is brought to rest, then everything is closed |
//! | time | every wait has a deadline; a stall of our own is seen before the bytes that waited meanwhile |

use outrigger_urscript::{Sec, SpeedSlider};

use super::config::{Config, ConfigError, StatesFrom};
use super::connector::Connector;
use super::cycle::{Beside, Cycle, CycleConfig, Verdict};
use super::event::{DownCause, Event, Events, Next};
use super::identity::Identity;
use super::io::{Input, LinkId, Output};
#[cfg(feature = "postcard")]
use super::keep::Keeper;
use super::path::{Opening, TakeOver, TextPath};
use super::primary::Primary;
use super::realtime::Realtime;
use super::rtde::StateLink;
use crate::command::outputs::{BATCH, Outputs};
use crate::law::Law;
use crate::mode::{Epoch, Held, Mode};
#[cfg(feature = "postcard")]
use crate::recorder::Recorder;
use crate::robot::{Generation, Reason, SoftwareVersion};
use crate::time::{Duration, Instant};

/// Memory of one session, from the caller.
#[derive(Debug)]
pub struct Memory<'m> {
    /// Receive memory of the primary link, at least [`LEAST_PRIMARY`](Self::LEAST_PRIMARY): a message longer than it is
    /// skipped with an event.
    pub primary: &'m mut [u8],
    /// Receive memory of the real-time link, at least [`LEAST_REALTIME`](Self::LEAST_REALTIME); 8 KiB hold a backlog of
    /// six packets.
    pub realtime: &'m mut [u8],
    /// RTDE, an [`RtdeStates`](super::rtde::RtdeStates); without it states come from the real-time link.
    pub rtde: Option<&'m mut dyn StateLink>,
}

impl Memory<'_> {
    /// Holds the longest robot state seen in the wild with room to spare \[B\].
    pub const LEAST_PRIMARY: usize = 2048;
    /// Holds the longest packet known, 1220 B, and a quarter more for those to come; more lets one read take in more of
    /// a backlog \[B\].
    pub const LEAST_REALTIME: usize = 1536;
    /// Holds a state by RTDE with all its values twice, and the longest texts; more lets one read take in more of a
    /// backlog \[B\].
    pub const LEAST_RTDE: usize = 1024;
}

/// A refusal this long after our own text is of somebody else's.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);

/// Bytes of the longest text that sets outputs.
const BESIDE_LEN: usize = Sec::max_len(BATCH);
const _: () = assert!(BESIDE_LEN >= SpeedSlider::MAX_LEN);

/// See the module. One value per robot; any number of them live side by side.
#[derive(Debug)]
pub struct CoController<'m, L> {
    pub(super) config: Config,
    pub(super) connector: Connector,
    pub(super) primary: Primary<'m>,
    pub(super) realtime: Realtime<'m>,
    pub(super) rtde: Option<&'m mut dyn StateLink>,
    pub(super) identity: Option<Identity>,
    /// What RTDE has told of the software, before there is a session.
    pub(super) told_software: Option<SoftwareVersion>,
    pub(super) cycle: Cycle<6, L>,
    pub(super) path: Option<TextPath>,
    pub(super) take_over: TakeOver,
    pub(super) text: Outbox<{ TextPath::MAX_LEN }>,
    /// When the state arrived that this text answers, until the text is written.
    answers: Option<Instant>,
    /// What is set beside the motion, and the text that waits to set it.
    pub(super) outputs: Outputs,
    pub(super) beside: Outbox<BESIDE_LEN>,
    /// A state was judged after which such text may go out.
    pub(super) outputs_due: bool,
    /// The force that a program reads is a reading of ours.
    pub(super) force_given: bool,
    pub(super) events: Events,
    pub(super) unacked: [Unacked; LinkId::COUNT],
    /// When text of ours went out last, and when the controller last refused text that may have been ours.
    pub(super) texted_at: Option<Instant>,
    pub(super) refused_at: Option<Instant>,
    /// States arrived that are not judged yet, because more bytes are likely to wait.
    pub(super) arrived: Option<Instant>,
    pub(super) lifecycle: Lifecycle,
    /// When the engine asked to be called at the latest, queued output aside.
    pub(super) due: Option<Instant>,
    #[cfg(feature = "postcard")]
    pub(super) recorder: Recorder<'m>,
    #[cfg(feature = "postcard")]
    pub(super) keeper: Keeper,
    /// Something else than an input changed the engine since the last one.
    #[cfg(feature = "postcard")]
    pub(super) changed: bool,
}

/// The one text that waits to be transmitted.
#[derive(Debug)]
pub(super) struct Outbox<const N: usize> {
    pub(super) bytes: [u8; N],
    pub(super) len: usize,
}

impl<const N: usize> Outbox<N> {
    const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// The text, empty where none waits.
    #[cfg(feature = "postcard")]
    pub(super) fn waiting(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The same, and then none waits any more.
    fn take(&mut self) -> &[u8] {
        let len = core::mem::take(&mut self.len);
        self.bytes.get(..len).unwrap_or_default()
    }
}

/// The newest report about bytes the peer has not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Unacked {
    pub(super) bytes: u32,
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Lifecycle {
    Idle,
    Running,
    ShuttingDown,
    Finished,
}

impl<'m, L: Law<6>> CoController<'m, L> {
    /// An engine that waits for [`Input::Start`].
    ///
    /// # Errors
    /// What is wrong with the configuration or the memory.
    pub fn new(config: Config, law: L, memory: Memory<'m>) -> Result<Self, ConfigError> {
        config.check()?;
        let too_small = |field, found, expected| ConfigError::Memory { field, found, expected };
        let (primary_len, realtime_len) = (memory.primary.len(), memory.realtime.len());
        let (primary_min, realtime_min) = (Memory::LEAST_PRIMARY, Memory::LEAST_REALTIME);
        let primary = Primary::new(memory.primary).filter(|_| primary_len >= primary_min);
        let realtime = Realtime::new(memory.realtime).filter(|_| realtime_len >= realtime_min);
        if memory.rtde.is_none() && config.connect.states == StatesFrom::Rtde {
            return Err(too_small("rtde", 0, Memory::LEAST_RTDE));
        }
        let sources = config.sources().map_err(ConfigError::Sources)?;
        // The period is known once a controller is connected; nothing is judged before.
        let cycle_config = cycle_config(&config, Duration::from_micros(Generation::Cb3.period_micros()));
        Ok(Self {
            connector: Connector::new(config.connect),
            primary: primary.ok_or(too_small("primary", primary_len, primary_min))?,
            realtime: realtime.ok_or(too_small("realtime", realtime_len, realtime_min))?,
            rtde: memory.rtde,
            identity: None,
            told_software: None,
            cycle: Cycle::new(cycle_config, config.standstill, config.limits, sources, config.operator, law),
            path: None,
            take_over: TakeOver::default(),
            text: Outbox::EMPTY,
            answers: None,
            outputs: Outputs::new(config.outputs),
            beside: Outbox::EMPTY,
            outputs_due: false,
            force_given: false,
            events: Events::default(),
            unacked: [Unacked::default(); LinkId::COUNT],
            texted_at: None,
            refused_at: None,
            arrived: None,
            lifecycle: Lifecycle::Idle,
            due: None,
            #[cfg(feature = "postcard")]
            recorder: Recorder::new(&mut []),
            #[cfg(feature = "postcard")]
            keeper: Keeper::default(),
            #[cfg(feature = "postcard")]
            changed: false,
            config,
        })
    }

    /// Takes one input at `now`, which never goes back. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.record_input(now, &input);
        self.wake(now);
        match input {
            Input::Start => {
                if self.lifecycle == Lifecycle::Idle {
                    self.lifecycle = Lifecycle::Running;
                    self.cycle.start(now);
                    self.connector.start(now);
                }
            }
            Input::Opened(link) => self.opened(link, now),
            Input::Refused(link) => self.lost(link, DownCause::Refused, now),
            Input::Closed(link) => self.lost(link, DownCause::Closed, now),
            Input::Unacked { link, bytes, age } => self.take_unacked(link, bytes, age, now),
            Input::Sample(sample) => self.cycle.sources_mut().observe(sample, now),
            Input::Set(write) => self.set(write, now),
            Input::Request(epoch) => self.request(epoch, false, now),
            Input::Resume(epoch) => self.request(epoch, true, now),
            Input::Pin(contact, high) => {
                if self.cycle.pin(contact, high, now, &mut self.events) {
                    self.acknowledged(now);
                }
            }
            Input::Release => self.cycle.release(now, &mut self.events),
            Input::Acknowledge => self.acknowledge(now),
            Input::Shutdown => {
                self.cycle.end(now, &mut self.events);
                self.lifecycle = Lifecycle::ShuttingDown;
            }
            // Waking up is all there is to it, except that no more bytes came: what arrived is complete.
            Input::Tick => self.judge(now),
        }
        self.settle(now);
    }

    /// Where the next bytes received on `link` go; never empty for a link that was opened.
    pub fn receive_window(&mut self, link: LinkId) -> &mut [u8] {
        let [primary, realtime, rtde] = self.receive_windows();
        match link {
            LinkId::PRIMARY => primary,
            LinkId::REALTIME => realtime,
            _ => rtde,
        }
    }

    /// The windows of all links, in the order of [`LinkId::ALL`].
    pub fn receive_windows(&mut self) -> [&mut [u8]; LinkId::COUNT] {
        let rtde = self.rtde.as_deref_mut().map(StateLink::window).unwrap_or_default();
        [self.primary.window(), self.realtime.window(), rtde]
    }

    /// `count` bytes were received into the window of `link`. `arrival` is when they were read, taken right after the
    /// read; `now`, as in [`handle`](Self::handle), is not before it.
    pub fn commit(&mut self, link: LinkId, count: usize, arrival: Instant, now: Instant) {
        self.record_received(now, link, count, arrival);
        self.wake(now);
        if self.connector.is_connected(link) {
            match link {
                LinkId::PRIMARY => self.take_primary(count, now),
                LinkId::REALTIME => self.take_realtime(count, arrival, now),
                _ => self.take_rtde(Some((count, arrival)), now),
            }
        }
        self.settle(now);
    }

    /// The next thing the port must do; `None` once all is done.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if let Some(output) = self.connector.poll_output() {
            if let Output::Open { link, endpoint } = output {
                self.events.push(Event::Opening { link, endpoint });
            }
            return Some(output);
        }
        // Motion first: what is set beside it must not delay it, nor do questions.
        if self.text.len > 0 || self.beside.len > 0 {
            let bytes = if self.text.len > 0 { self.text.take() } else { self.beside.take() };
            return Some(Output::Transmit { link: LinkId::REALTIME, bytes });
        }
        let bytes = self.rtde.as_deref_mut()?.poll_transmit()?;
        Some(Output::Transmit { link: LinkId::RTDE, bytes })
    }

    /// The bytes of the last [`Output::Transmit`] have been written to its link, at `now`. From the arrival of the state
    /// that caused them, on whatever link, to there; `None` for what answers no state.
    ///
    /// For figures: nothing else follows from it, and a port may leave it out.
    pub fn written(&mut self, now: Instant) -> Option<Duration> {
        let arrival = self.answers.take();
        self.cycle.written(arrival, now)
    }

    /// The next event; `None` once all are taken.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// When [`Input::Tick`] is due at the latest: in the past while anything is queued, `None` while nothing is waited
    /// for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let text = self.text.len > 0 || self.beside.len > 0;
        let asks = self.rtde.as_deref().is_some_and(StateLink::has_output);
        let queued = self.connector.has_output() || text || asks || !self.events.is_empty();
        if queued || self.arrived.is_some() { Some(Instant::ZERO) } else { self.due }
    }

    /// Whether a [`Input::Shutdown`] has been carried out and everything is closed.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.lifecycle == Lifecycle::Finished && !self.connector.has_output()
    }

    /// Everything that time alone decides, before anything else is looked at.
    fn wake(&mut self, now: Instant) {
        self.events.begin();
        self.cycle.wake(now, self.due, &mut self.events);
        if self.rtde_deadline().is_some_and(|at| at <= now) {
            self.take_rtde(None, now);
        }
        // Bounded: each link has one deadline, and it moves on when it has passed.
        for _ in LinkId::ALL {
            let Some((link, cause)) = self.connector.tick(now) else { break };
            self.lost(link, cause, now);
        }
        self.judge_unacked(now);
        self.tick_outputs(now);
    }

    /// The end of every call: what follows from it, and when to be called again.
    fn settle(&mut self, now: Instant) {
        let answered = self.answer(now);
        self.feed_force(now);
        let answered = [answered, self.write_outputs(now)];
        if self.text.len > 0 || self.beside.len > 0 {
            self.texted_at = Some(now);
        }
        let at_rest = matches!(self.mode(), Mode::Offline | Mode::Monitor);
        if self.lifecycle == Lifecycle::ShuttingDown && at_rest {
            self.lifecycle = Lifecycle::Finished;
            self.cycle.link_lost(now, Reason::Released, &mut self.events);
            self.connector.shut_down();
            self.forget_session();
        }
        let deadlines = [
            self.connector.next_deadline(),
            if self.identity.is_some() { self.cycle.next_deadline(now) } else { None },
            self.unacked_deadline(now),
            self.outputs.next_deadline(),
            self.rtde_deadline(),
        ];
        self.due = deadlines.into_iter().flatten().min();
        self.record_outcomes(now, answered);
    }

    fn opened(&mut self, link: LinkId, now: Instant) {
        if !self.connector.opened(link, now) {
            return;
        }
        match link {
            LinkId::PRIMARY => {
                self.primary.reset();
                self.refused_at = None;
            }
            LinkId::REALTIME => self.realtime.reset(),
            _ => self.rtde.iter_mut().for_each(|rtde| rtde.opened(now)),
        }
        self.clear_unacked(link);
        self.events.push(Event::Opened(link));
    }

    /// A link is gone, or is given up.
    pub(super) fn lost(&mut self, link: LinkId, cause: DownCause, now: Instant) {
        let Some((endpoint, next)) = self.connector.lost(link, cause, now) else { return };
        self.events.push(Event::Down { link, endpoint, cause, next });
        self.clear_unacked(link);
        if link == LinkId::PRIMARY {
            // In Monitor the other witness may speak from now on; while commanding, silence is to be noticed as such.
            if matches!(self.mode(), Mode::Offline | Mode::Monitor) {
                self.primary.reset();
                self.refused_at = None;
            }
            return;
        }
        if link == LinkId::RTDE && next == Next::Without {
            self.rtde.iter_mut().for_each(|rtde| rtde.closed());
            return self.establish(LinkId::REALTIME, now);
        }
        self.forget_session();
        self.cycle.link_lost(now, cause.reason(), &mut self.events);
    }

    /// When the link of RTDE has something to say of its own.
    fn rtde_deadline(&self) -> Option<Instant> {
        self.rtde.as_deref().and_then(StateLink::next_deadline)
    }

    /// The path belongs to the identity, and is not saved with it.
    #[cfg(feature = "postcard")]
    pub(super) fn restore_path(&mut self) {
        self.path = self.identity.map(|identity| TextPath::new(self.config.text, identity.software));
        self.text.len = 0;
        self.answers = None;
        self.beside.len = 0;
    }

    fn forget_session(&mut self) {
        self.rtde.iter_mut().for_each(|rtde| rtde.closed());
        self.text.len = 0;
        self.answers = None;
        self.forget_outputs();
        self.path = None;
        self.identity = None;
        self.arrived = None;
    }

    /// Judges the newest of the states that arrived.
    pub(super) fn judge(&mut self, now: Instant) {
        let Some(arrival) = self.arrived.take() else { return };
        let remote = self.remote(now);
        let facts = self.primary.facts();
        let beside = Beside {
            robot_mode: facts.robot_mode,
            safety: facts.safety,
            master_safety: facts.master_safety,
            remote,
            program: facts.program,
            // Both come in one sub-package.
            speed_slider: facts.speed_slider.zip(facts.robot_mode).map(|(slider, mode)| Held::new(slider, mode.at)),
            program_state_known: self.identity.is_some_and(|identity| identity.states == LinkId::RTDE),
            path_open: self.path.is_some() && self.connector.is_connected(LinkId::REALTIME),
            strays: false,
            gate: None,
            unacked: self.unacked_age(LinkId::REALTIME, now),
        };
        let acknowledged = self.cycle.judge(arrival, now, &beside, &mut self.events);
        self.observe_state_outputs(arrival);
        self.admit_outputs(now);
        if acknowledged {
            self.acknowledged(now);
        }
    }

    /// The controller refuses text, as it does in local control. It says so to everybody, whoever wrote the text.
    pub(super) fn take_refusal(&mut self, now: Instant) {
        if self.texted_at.is_some_and(|at| now.since(at) <= REFUSED_WITHIN) {
            self.refused_at = Some(now);
            self.refuse_outputs();
        } else if self.refused_at.is_none() {
            self.primary.deny_local_control();
        }
    }

    /// Evidence of remote control: what was refused speaks against it, unless our own text is seen to run afterwards.
    fn remote(&mut self, now: Instant) -> Option<Held<bool>> {
        let local = self.primary.facts().local_control.then(|| Held::new(false, now));
        let (Some(_), Some(refused), Some(identity)) = (local, self.refused_at, self.identity) else { return local };
        let machine = self.cycle.mode();
        let accepted = machine.accepted_by().filter(|_| matches!(machine.mode(), Mode::Arming | Mode::Command));
        let Some(proof) = accepted else { return local };
        // Until then what was sent before may still run.
        let over = refused + self.config.text.hold + identity.period.times(2);
        if self.cycle.evidence().acceptance.shown_at(proof).is_some_and(|shown| shown > over) {
            self.refused_at = None;
            self.primary.deny_local_control();
            return None;
        }
        local.filter(|_| now > over + machine.config().evidence_age)
    }

    /// Puts on the wire what the cycle decides: the only place where text is made.
    ///
    /// Whether there was any.
    fn answer(&mut self, now: Instant) -> bool {
        let Some(path) = self.path else { return false };
        if self.mode() != Mode::Arming {
            self.take_over = TakeOver::default();
        }
        let arming = self.mode() == Mode::Arming;
        let written = match self.cycle.answer(now, &mut self.events) {
            // A robot that is told nothing stays where it is: there is no position to mirror.
            Ok(Verdict::Silent | Verdict::Mirror) => return false,
            Ok(Verdict::Hold) if arming => self.arming_text(path, now),
            Ok(Verdict::Hold) => path.render_hold(&mut self.text.bytes),
            Ok(Verdict::Stop) => path.render_stop(&mut self.text.bytes),
            Ok(Verdict::Move(approved)) => path.render_move(approved, &mut self.text.bytes),
            Err(reason) => Err(reason),
        };
        self.text.len = written.unwrap_or_else(|reason| {
            self.cycle.fault(now, reason, &mut self.events);
            // The answer to a fault while commanding is zero velocity, in this very cycle.
            match self.cycle.answer(now, &mut self.events) {
                Ok(Verdict::Hold) => path.render_hold(&mut self.text.bytes).unwrap_or(0),
                Ok(Verdict::Silent | Verdict::Mirror | Verdict::Stop | Verdict::Move(_)) | Err(_) => 0,
            }
        });
        self.answers = self.cycle.answered().filter(|_| self.text.len > 0);
        self.text.len > 0
    }

    /// Zero velocity, or what has to come before it where another program runs.
    fn arming_text(&mut self, path: TextPath, now: Instant) -> Result<usize, Reason> {
        let patience = self.cycle.mode().config().evidence_age;
        let program_runs = self.cycle.program_runs(now);
        match self.take_over.next(program_runs, patience, now) {
            Opening::EndOther => path.render_stop(&mut self.text.bytes),
            Opening::Wait => Ok(0),
            Opening::Zero => path.render_hold(&mut self.text.bytes),
        }
    }

    fn request(&mut self, epoch: Epoch, resume: bool, now: Instant) {
        self.cycle.request(epoch, now, resume, &mut self.events);
    }

    fn acknowledge(&mut self, now: Instant) {
        self.cycle.acknowledge(now, &mut self.events);
        self.acknowledged(now);
    }

    /// Somebody did.
    fn acknowledged(&mut self, now: Instant) {
        let resting = self.mode() == Mode::Monitor;
        if resting && self.primary.facts().local_control {
            // Connections made in local control stay deaf to text after it.
            self.lost(LinkId::REALTIME, DownCause::LocalControl, now);
        }
    }

    fn take_unacked(&mut self, link: LinkId, bytes: u32, age: Duration, now: Instant) {
        if let Some(unacked) = self.unacked.get_mut(link.index()) {
            *unacked = Unacked { bytes, since: now - age };
        }
        self.judge_unacked(now);
    }

    fn clear_unacked(&mut self, link: LinkId) {
        if let Some(unacked) = self.unacked.get_mut(link.index()) {
            *unacked = Unacked::default();
        }
    }

    pub(super) fn unacked_age(&self, link: LinkId, now: Instant) -> Duration {
        let waiting = self.unacked.get(link.index()).filter(|unacked| unacked.bytes > 0);
        waiting.map_or(Duration::ZERO, |unacked| now.since(unacked.since))
    }

    /// Whether bytes wait on any link; mostly none do.
    fn is_waiting(&self) -> bool {
        LinkId::ALL.into_iter().any(|link| self.has_unacked(link))
    }

    fn judge_unacked(&mut self, now: Instant) {
        if !self.is_waiting() {
            return;
        }
        let limit = self.cycle.link().config().stale_after;
        for (link, unacked) in LinkId::ALL.into_iter().zip(self.unacked) {
            if unacked.bytes == 0 || !self.connector.is_connected(link) {
                continue;
            }
            let age = now.since(unacked.since);
            if age >= limit && link == LinkId::REALTIME {
                self.cycle.fault(now, Reason::Unacknowledged, &mut self.events);
            }
            let outdated = self.outdated_at(link, unacked.since).is_some_and(|at| now >= at);
            if outdated || age >= self.config.connect.abort_after {
                self.lost(link, DownCause::Unacknowledged, now);
            }
        }
    }

    /// When text that has waited since before commanding ended is dropped with its connection: what it asks for is over by
    /// then, and a network that lets it through later would move an arm that rests. The zero velocities behind it have
    /// gone out before.
    fn outdated_at(&self, link: LinkId, since: Instant) -> Option<Instant> {
        let machine = self.mode_machine();
        let ended = matches!(machine.mode(), Mode::Stopping | Mode::Monitor) && since < machine.entered();
        let config = machine.config();
        let zeros = self.cycle.link().config().period.times(u64::from(config.stop_cycles));
        let at = (since + self.config.text.hold).max(machine.entered() + zeros);
        (ended && link == LinkId::REALTIME).then_some(at)
    }

    /// When un-acknowledged bytes will next mean something.
    fn unacked_deadline(&self, now: Instant) -> Option<Instant> {
        if !self.is_waiting() {
            return None;
        }
        let limits = [self.cycle.link().config().stale_after, self.config.connect.abort_after];
        let waiting = LinkId::ALL.into_iter().zip(self.unacked).filter(|(_, unacked)| unacked.bytes > 0);
        let deadlines = waiting.flat_map(|(link, unacked)| {
            limits.map(|limit| unacked.since + limit).into_iter().chain(self.outdated_at(link, unacked.since))
        });
        deadlines.filter(|at| *at > now).min()
    }
}

/// Without the feature nothing is recorded.
#[cfg(not(feature = "postcard"))]
impl<L> CoController<'_, L> {
    const fn record_input(&self, _: Instant, _: &Input) {}
    const fn record_received(&self, _: Instant, _: LinkId, _: usize, _: Instant) {}
    const fn record_outcomes(&self, _: Instant, _: [bool; 2]) {}
    pub(super) const fn record_change(&self) {}
}

pub(super) fn cycle_config(config: &Config, period: Duration) -> CycleConfig {
    CycleConfig {
        link: config.link.of(period),
        mode: config.mode_config(period),
        following: config.mode.following.of(period),
        scaling: config.mode.scaling,
        pendant: config.mode.pendant,
        hold: config.text.hold,
    }
}
