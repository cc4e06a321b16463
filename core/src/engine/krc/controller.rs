//! The conversation with a KRC: each measurement is answered by one command.

use core::net::SocketAddr;

use super::config::{KrcConfig, KrcOptions, period_of};
use super::control_schemes::Control;
use super::conversation::{Conversation, Listening};
use super::event::{KrcCounts, KrcEvent, KrcReport};
use super::position_target::Target;
use crate::engine::config::{ConfigError, Options as _};
use crate::engine::controller::{
    ArmFacts, Context, Controller, ControllerKind, ControllerStatus, Delegated, Judged, LinkRoles, Received, Waiting,
    sealed::Sealed,
};
#[cfg(feature = "record")]
use crate::engine::controller::{MemorySizes, Recorded};
#[cfg(feature = "record")]
use crate::engine::cycle::CycleConfig;
use crate::engine::cycle::{CycleMemory, SideFacts, Verdict};
use crate::engine::event::{Events, is_milestone};
use crate::engine::io::{Input, LinkId, Output};

use crate::kinematics::Posture;
use crate::link::Histogram;
#[cfg(feature = "motions")]
use crate::mode::Mode;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::Reason;
use outrigger_wire::fri::{ControlScheme, FriState, KrlVariables, MEASUREMENT_LEN, Measurement, Quality};
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::time::{Duration, Instant};
use outrigger_wire::{WireError, WireErrorKind};

impl LinkId {
    /// The only link to a KRC: the flow of datagrams of its Fast Research Interface.
    pub const FRI: Self = Self::of(0);
}

/// The offset of the period of the commands, `desired_cmd_sample_time`, in a measurement \[B\].
const PERIOD_AT: usize = 152;
/// The longest wait, once the arm rests, for the KRL program to leave the command state: some programs decide by
/// themselves.
const LEAVING: Duration = Duration::from_secs(2);
/// The wait before a UDP port that cannot be listened on is tried again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// The number of datagrams, from any sender, that are received at most before the newest measurement among them is
/// answered, so that a flood delays it no longer.
const BURST: u32 = 64;

/// The engine's side of the conversation with one KRC.
#[derive(Debug)]
pub struct Krc {
    window: [u8; WINDOW],
    talk: Conversation,
}

/// The size of the receive window \[B\]: longer than any measurement, so that one that is too long is detected.
const WINDOW: usize = MEASUREMENT_LEN + 1;

/// The status of the conversation with the KRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KrcStatus {
    /// The period of the KRC's measurements; `None` while none arrive.
    pub period: Option<Duration>,
    /// The state of FRI on the KRC: monitor or command; `None` while it is not known.
    pub state: Option<FriState>,
    /// The KRC's own rating of the link.
    pub quality: Option<Quality>,
    /// The control scheme that the KRC reports.
    pub scheme: Option<ControlScheme>,
    /// The counts of measurements, commands and foreign datagrams.
    pub counts: KrcCounts,
}

impl ControllerStatus for KrcStatus {
    const KIND: u8 = KrcOptions::KIND;
}

type Cx<'c> = Context<'c, 7, Krc>;

/// The status of a KRC that an application can query.
impl Krc {
    /// Returns the histogram of the times from each command to the measurement that reflects it, which include the KRC's
    /// wait for its next cycle.
    #[must_use]
    pub const fn round_trips(&self) -> &Histogram {
        &self.talk.round_trips
    }

    /// Returns the histogram of the changes of the network delay from measurement to measurement, in either direction: RFC
    /// 3550's jitter is their mean.
    #[must_use]
    pub const fn jitters(&self) -> &Histogram {
        &self.talk.jitters
    }

    /// Returns the counts of measurements, commands and foreign datagrams.
    #[must_use]
    pub const fn counts(&self) -> KrcCounts {
        self.talk.counts
    }

    /// Returns the state of FRI on the KRC (monitor or command), from the newest measurement; `None` without a KRC.
    #[must_use]
    pub fn state(&self) -> Option<FriState> {
        self.talk.newest.as_ref().map(|newest| newest.status.state)
    }

    /// Returns the KRC's own rating of the link, from the newest measurement; `None` without a KRC.
    #[must_use]
    pub fn quality(&self) -> Option<Quality> {
        self.talk.newest.as_ref().map(|newest| newest.status.quality)
    }

    /// Returns the KRC's report on the link and on its drives, from the newest measurement; `None` without a KRC.
    #[must_use]
    pub fn report(&self) -> Option<KrcReport> {
        self.talk.newest.as_ref().map(|newest| newest.report)
    }

    /// Returns the control scheme that the KRC reported in its newest measurement; `None` without a KRC.
    #[must_use]
    pub fn scheme(&self) -> Option<ControlScheme> {
        self.talk.newest.as_ref().map(|newest| newest.status.scheme)
    }

    /// Returns the period of the KRC's measurements; `None` without a KRC.
    #[must_use]
    pub const fn period(&self) -> Option<Duration> {
        self.talk.period
    }

    /// Returns the address of the KRC; `None` while there is none.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.talk.sender.address()
    }

    /// Returns the variables that the KRL program wrote last; `None` without a measurement.
    #[must_use]
    pub fn krl(&self) -> Option<&KrlVariables> {
        self.talk.newest.as_ref().map(|newest| &newest.krl)
    }

    /// Returns our control scheme in force and its parameters.
    #[must_use]
    pub const fn control(&self) -> &Control {
        &self.talk.control
    }

    pub(super) const fn control_mut(&mut self) -> &mut Control {
        &mut self.talk.control
    }

    pub(super) const fn krl_to_send_mut(&mut self) -> &mut KrlVariables {
        &mut self.talk.variables.sent
    }

    /// Returns `true` if the KRC is in monitor state, or no measurement of it is known.
    pub(super) fn monitors(&self) -> bool {
        self.talk.newest.is_none_or(|newest| newest.status.state == FriState::Monitor)
    }
}

impl Sealed for Krc {}

impl ControllerKind for Krc {
    type Event = KrcEvent;
    type Options = KrcOptions;
    type Status = KrcStatus;
    type Memory = ();
}

/// The defaults for delegated moves, because a KRC executes none by itself.
impl Delegated<7> for Krc {}

impl ArmFacts<7> for Krc {
    fn posture(&self) -> Option<&Posture<7>> {
        self.talk.newest.as_ref().filter(|_| self.talk.period.is_some()).map(|newest| &newest.posture)
    }

    fn commanded(&self) -> Option<JointVelocities<7>> {
        Some(self.talk.target.speed())
    }
}

impl Controller<7> for Krc {
    fn new(config: &KrcConfig, (): ()) -> Result<(Self, CycleMemory<7>), ConfigError> {
        config.check()?;
        // The period is known once a measurement has arrived; nothing is judged before.
        let period = Duration::from_millis(1);
        let sources = config.monitors()?;
        let peer = Self { window: [0; WINDOW], talk: Conversation::new(config, period) };
        Ok((peer, CycleMemory::new(config.of(period), config.rest(), config.limits, sources, config.operator)))
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        #[cfg(feature = "record")]
        {
            self.talk.new = false;
        }
        if matches!(self.talk.listening, Listening::Again(at) if at <= cx.now) {
            self.talk.listening = Listening::Wanted;
        }
        let silent_at =
            self.talk.period.and_then(|period| self.talk.sender.silent_at(cx.config.peer.silence_of(period)));
        if silent_at.is_some_and(|at| cx.now >= at) {
            self.talk.sender.forget();
            self.talk.period = None;
            self.talk.newest = None;
            self.talk.counts.unanswered(core::mem::take(&mut self.talk.waiting));
            cx.cycle.take_arrival();
            self.talk.target = Target::UNKNOWN;
            cx.events.push_peer(KrcEvent::Silent);
            cx.cycle.link_lost(cx.now, Reason::StateStale, cx.events);
        }
        let there = self.talk.period.is_some();
        self.talk.variables.tick(&cx.config.peer.outputs, there, cx.now, cx.events);
    }

    fn handle(&mut self, input: Input, cx: &mut Cx<'_>) {
        match input {
            Input::Start => self.talk.listening = Listening::Wanted,
            Input::Refused(_) | Input::Closed(_) => self.talk.listening = Listening::Again(cx.now + LISTEN_AGAIN),
            Input::Set(write) => {
                let (there, handshake) = (self.talk.period.is_some(), cx.config.peer.handshake);
                self.talk.variables.set(write, there, handshake, cx.now, cx.events);
            }
            // No acknowledgement has an effect here; the engine handles the other inputs.
            _ => {}
        }
    }

    fn receive_window(&mut self, _: LinkId) -> &mut [u8] {
        &mut self.window
    }

    /// Takes a datagram from any sender; only a measurement of the KRC is used.
    fn commit(&mut self, received: &Received, cx: &mut Cx<'_>) -> bool {
        let Received { count, from: Some(from), arrival, .. } = *received else { return false };
        self.talk.burst = self.talk.burst.saturating_add(1);
        let overdue = self.talk.burst >= BURST;
        if !self.talk.sender.admits(from) {
            self.talk.counts.foreign = self.talk.counts.foreign.saturating_add(1);
            if is_milestone(self.talk.counts.foreign) {
                cx.events.push_peer(KrcEvent::Foreign(self.talk.counts.foreign));
            }
            return self.talk.waiting && overdue;
        }
        let read = Measurement::new_checked(self.window.get(..count).unwrap_or_default()).and_then(|measurement| {
            let period = period_of(measurement.desired_cmd_sample_time());
            let period = period.ok_or(WireError::new(WireErrorKind::BadValue, PERIOD_AT, 0, 0))?;
            Ok((measurement, period))
        });
        match read {
            Ok((measurement, period)) => {
                if self.talk.measured(from, &measurement, period, arrival, cx) {
                    cx.cycle.arrived(arrival);
                    self.talk.counts.overtaken =
                        self.talk.counts.overtaken.saturating_add(u64::from(self.talk.waiting));
                    self.talk.waiting = true;
                }
            }
            Err(error) => {
                self.talk.counts.malformed = self.talk.counts.malformed.saturating_add(1);
                let count = self.talk.counts.malformed;
                if is_milestone(count) {
                    cx.events.push_peer(KrcEvent::Malformed { count, error });
                }
            }
        }
        self.talk.waiting && overdue
    }

    fn facts(&mut self, cx: &mut Cx<'_>) -> SideFacts {
        (self.talk.waiting, self.talk.burst) = (false, 0);
        let (Some(newest), Some(period)) = (self.talk.newest, self.talk.period) else { return SideFacts::default() };
        self.talk.watch(newest.status, cx);
        self.talk.limit(newest.scale, period, cx);
        SideFacts {
            path_open: true,
            gate: Some(newest.status.gate(&self.talk.control)),
            strays: self.talk.strays(&cx.config.peer),
            ..SideFacts::default()
        }
    }

    fn prepare(&mut self, judged: Option<Judged>, cx: &mut Cx<'_>) -> bool {
        if judged.is_some() {
            self.talk.judged(cx.config);
            #[cfg(feature = "motions")]
            cx.cycle.set_added(self.talk.control.added(&cx.config.peer.added));
        }
        self.talk.step.is_some()
    }

    fn write(&mut self, verdict: Verdict<'_, 7>) -> Result<bool, Reason> {
        let Conversation { step: Some(step), target, bounds, newest, .. } = &mut self.talk else { return Ok(false) };
        let tool = newest.as_ref().filter(|_| step.tool).map(|newest| &newest.posture.jacobian);
        // Once for each measurement, whatever verdict follows.
        if !core::mem::replace(&mut step.carried, true) {
            target.carry(&step.moved);
        }
        match verdict {
            Verdict::Move(approved) if step.leads => {
                target.advance(approved, step.dt, &step.moved, bounds, tool)?;
                #[cfg(feature = "motions")]
                {
                    step.moves = true;
                }
            }
            Verdict::Move(_) => return Err(Reason::NotGranted),
            // Every measurement is answered, for any verdict. If the KRC does not follow, its own setpoint is mirrored;
            // if it still follows, the target comes to rest first, and the KRC's setpoint becomes that position.
            Verdict::Mirror | Verdict::Silent | Verdict::Hold | Verdict::Stop => target.brake(step.dt, bounds, tool),
            // A KRC executes no moves.
            Verdict::Start(..) | Verdict::Keep | Verdict::Cancel(_) => return Err(Reason::Internal),
            #[cfg(feature = "programs")]
            Verdict::Guide(..) => return Err(Reason::Internal),
            #[cfg(feature = "motions")]
            Verdict::Torque(_) => return Err(Reason::Internal),
        }
        Ok(false)
    }

    fn conclude(&mut self, cx: &mut Cx<'_>) -> bool {
        let (Some(step), Some(newest)) = (self.talk.step.take(), self.talk.newest) else { return false };
        if !step.leads {
            let frame = self.talk.mirrored_frame(&newest);
            self.talk.target.mirror(&newest.setpoint, &frame);
        }
        #[cfg(feature = "motions")]
        if !step.moves && cx.cycle.mode_now() == Mode::Command {
            cx.cycle.hold_added(step.dt);
        }
        self.talk.send(&newest, &step.lead, cx)
    }

    /// Returns `true` once the KRL program has ended the command state, or 2 s after `rest`. Measurements are still answered
    /// afterwards, because that moves nothing.
    fn leave(&mut self, rest: Instant, cx: &mut Cx<'_>) -> bool {
        self.state() != Some(FriState::Command) || cx.now.since(rest) >= LEAVING
    }

    fn is_established(&self) -> bool {
        self.talk.period.is_some()
    }

    fn waiting(&self) -> Waiting {
        let waits = self.talk.queued || self.talk.listening == Listening::Wanted;
        if waits { Waiting::Bytes } else { Waiting::Nothing }
    }

    fn poll_output(&mut self, config: &KrcConfig, _: &mut Events<KrcEvent>) -> Option<Output<'_>> {
        if self.talk.listening == Listening::Wanted {
            self.talk.listening = Listening::Requested;
            return Some(Output::Listen { link: LinkId::FRI, port: config.peer.port });
        }
        let to = self.talk.sender.address()?;
        core::mem::take(&mut self.talk.queued).then_some(Output::Transmit {
            link: LinkId::FRI,
            to: Some(to),
            bytes: &self.talk.out,
        })
    }

    fn next_deadline(&self, _: Instant, config: &KrcConfig, _: &CycleMemory<7>) -> Option<Instant> {
        let silent = self.talk.period.and_then(|period| self.talk.sender.silent_at(config.peer.silence_of(period)));
        let again = if let Listening::Again(at) = self.talk.listening { Some(at) } else { None };
        let variables = self.talk.variables.next_deadline(&config.peer.outputs, self.talk.period.is_some());
        [silent, again, variables].into_iter().flatten().min()
    }

    fn links(&self) -> LinkRoles {
        LinkRoles::default()
    }

    fn status(&self) -> KrcStatus {
        KrcStatus {
            period: self.talk.period,
            state: self.state(),
            quality: self.quality(),
            scheme: self.scheme(),
            counts: self.talk.counts,
        }
    }
}

#[cfg(feature = "record")]
impl Recorded<7> for Krc {
    fn received(&mut self, _: LinkId, count: usize) -> &[u8] {
        self.window.get(..count).unwrap_or_default()
    }

    fn memory_sizes(&self) -> MemorySizes {
        MemorySizes::default()
    }

    fn exactly((): (), _: MemorySizes) -> Option<()> {
        Some(())
    }

    fn made(&self) -> [&[u8]; 3] {
        [if self.talk.new { &self.talk.out } else { &[] }, &[], &[]]
    }

    fn next_made(&mut self) -> Option<&[u8]> {
        core::mem::take(&mut self.talk.queued).then_some(&self.talk.out)
    }

    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        self.talk.save(to)
    }

    fn load(&mut self, from: &mut Loader<'_>, config: &KrcConfig) -> Option<CycleConfig> {
        let period = self.talk.load(from, config)?;
        Some(config.of(period))
    }
}
