//! The control loop's side of requests: converts requests to inputs of the engine, and the engine's reactions to
//! answers.
//!
//! Nothing here waits, except for the next request. The place for an answer is reserved before its request is queued,
//! so that sending it always succeeds.

use std::any::Any;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use outrigger_core::command::outputs::{MAX_WRITES, Write, WriteOutcome};
use outrigger_core::engine::{Controller, Engine, Event, GuideError, Input};
use outrigger_core::law::{FeedError, Forwarding, Law};
use outrigger_core::link::{Grade, GradeLow};
use outrigger_core::mode::{Channel, Epoch, Mode, OperatorAction, Refusal, Transition};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::trajectory::Setpoint;
use outrigger_remote::request::Armed;
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::answer::{Effect, Verdict};
use super::envelope::{Envelope, Reply, RequestKind};
use super::loop_wakeup::Notify;
use super::motion_claim::Named;
use super::run_status::{Contacts, LatestStatus, Status};
use super::streamed_commands::{LatestCommand, StreamRejection, Streamed, Streaming};
use super::upload_permit::UploadPermits;
use crate::host::clock::Clock;
use crate::motion::impedance::{Impedance, ImpedanceRefusal};
use crate::motion::requested_motion::{ArmMotionState, Ready};
use crate::motion::{ActiveMotion, MotionRefusal, MotionReport};
use crate::released::ReleasedBy;
use crate::show::Variables;

/// The interval for updating the unmet preconditions of commanding if nothing else changes.
const UNMET: Duration = Duration::from_millis(50);
/// The longest wait for the result of setting an output of the controller. It is longer than the engine's own timeout.
const NEWS: Duration = Duration::from_secs(10);

/// The memory of a finished or rejected motion, which is freed on another thread.
pub(super) type Spent = Box<dyn Any + Send>;

/// The pending answer to a client's assignment to an output of the controller: the engine has the assignment, and its
/// result is not known yet.
#[derive(Debug)]
struct PendingReply {
    write: Write,
    reply: Reply,
    until: Instant,
}

/// The control loop's queue of requests, and the requests that are not answered yet.
#[derive(Debug)]
pub(crate) struct RequestQueue<const N: usize> {
    clock: Clock,
    releases: Receiver<Envelope<N>>,
    asks: Receiver<Envelope<N>>,
    /// The flag that is set for each new request of a client, and the waker that it uses.
    bell: Notify,
    waker: Option<Waker>,
    slot: LatestStatus,
    /// The status of the run after the engine's last input. `told` is `true` if it has been published to clients.
    status: Status,
    told: bool,
    /// The time of the next update of the unmet preconditions of commanding.
    look_at: Instant,
    /// The request of a client whose input is about to be given to the engine, or was given since the last observation
    /// of the engine.
    deciding: Option<(RequestKind, Reply)>,
    /// The identity of the request in `deciding`, and `true` if the arm was already commanded before it.
    requests: Option<(Named, bool)>,
    /// The identity of the client's request that started commanding.
    armed: Armed<Named>,
    /// The motion that the request in `deciding` starts.
    motion: Option<Ready<N>>,
    /// The position of the arm and the period of its states, and the controller's time of the newest state.
    seen: (ArmMotionState<N>, Option<ControllerTime>),
    stands: Arc<Mutex<ArmMotionState<N>>>,
    spent: UnboundedSender<Spent>,
    /// `true` if the input of the request in `deciding` was passed to the engine.
    handed_over: bool,
    newest: LatestCommand<N>,
    /// A streamed command, and `true` if the engine has received an input since the command was taken.
    streamed: (Option<Streamed<N>>, bool),
    streaming: Streaming,
    refused: Option<Refusal>,
    /// The result of the request in `deciding`, if it is not an input of the engine.
    acted: Verdict,
    owed: Vec<PendingReply>,
    /// The permit of clients to upload programs. `given` is `true` while a client may have an unused permit.
    upload_permits: UploadPermits,
    given: bool,
    /// `true` if this run may start to command without a request of a client.
    begins_unasked: bool,
}

impl<const N: usize> RequestQueue<N> {
    pub(super) fn new(
        releases: Receiver<Envelope<N>>,
        asks: Receiver<Envelope<N>>,
        clock: Clock,
    ) -> (Self, UnboundedReceiver<Spent>) {
        let (spent, dropped) = unbounded_channel();
        let desk = Self {
            clock,
            releases,
            asks,
            bell: Notify::default(),
            waker: None,
            slot: LatestStatus::default(),
            status: Status::default(),
            told: true,
            look_at: Instant::ZERO,
            deciding: None,
            requests: None,
            armed: Armed::new(),
            motion: None,
            seen: Default::default(),
            stands: Arc::default(),
            spent,
            handed_over: false,
            newest: LatestCommand::default(),
            streamed: (None, false),
            streaming: Streaming::default(),
            refused: None,
            acted: Verdict::Done,
            owed: Vec::with_capacity(MAX_WRITES),
            upload_permits: UploadPermits::default(),
            given: false,
            begins_unasked: false,
        };
        (desk, dropped)
    }

    pub(super) fn stands(&self) -> Arc<Mutex<ArmMotionState<N>>> {
        self.stands.clone()
    }

    pub(super) fn upload_permits(&self) -> UploadPermits {
        self.upload_permits.clone()
    }

    /// Records that this run may start commanding by itself, or by a hardware input. From then on no client may
    /// upload a program.
    pub(crate) const fn begins_unasked(&mut self) {
        self.begins_unasked = true;
    }

    /// Returns `true` while a client uploads a program. Commanding cannot start in that time.
    pub(crate) fn waits_for_a_program(&self) -> bool {
        self.upload_permits.is_used()
    }

    /// Returns the sender to which memory of finished motions is passed, so that another thread frees it.
    pub(crate) fn spent(&self) -> UnboundedSender<Spent> {
        self.spent.clone()
    }

    pub(super) fn slot(&self) -> LatestStatus {
        self.slot.clone()
    }

    pub(super) fn bell(&self) -> Notify {
        self.bell.clone()
    }

    pub(super) fn newest(&self) -> LatestCommand<N> {
        self.newest.clone()
    }

    /// Returns the engine input for a queued release (requested end of commanding), which precedes any other request.
    /// `None` if none is queued.
    pub(crate) fn release(&mut self) -> Option<Input> {
        if !self.bell.is_rung() {
            return None;
        }
        let letter = self.releases.try_recv().ok()?;
        self.take(letter)
    }

    /// Returns the cause of the release (requested end of commanding) that is about to be given to the engine, if there
    /// is one.
    pub(crate) fn releases(&self) -> Option<ReleasedBy> {
        match self.deciding.as_ref()?.0 {
            RequestKind::Release(by) => Some(by),
            RequestKind::Withdraw(_) => Some(ReleasedBy::Withdrawn),
            _ => None,
        }
    }

    /// Records that `input` is passed to the engine from another source than a client. If it is a request to
    /// command, no client can any longer end commanding by withdrawing a request.
    pub(crate) fn taken_over(&mut self, input: &Input) {
        if matches!(input, Input::Request(_) | Input::Resume(_)) {
            self.armed.taken_over(self.status.epoch);
        }
    }

    /// Waits for the next input of the engine from a client: from a request or a streamed command. Dropping the future
    /// loses nothing.
    async fn next(&mut self) -> Input {
        poll_fn(|context| {
            self.bell.wake(&mut self.waker, context);
            let rung = self.bell.is_rung();
            while let Some(letter) = self.letter() {
                if let Some(input) = self.take(letter) {
                    return Poll::Ready(input);
                }
            }
            if rung && let Some(streamed) = self.newest.take() {
                self.streamed = (Some(streamed), false);
                return Poll::Ready(Input::Tick);
            }
            Poll::Pending
        })
        .await
    }

    /// Returns the next queued request of a client for the control loop, releases first.
    fn letter(&mut self) -> Option<Envelope<N>> {
        if !self.bell.is_rung() {
            return None;
        }
        let mut take = || self.releases.try_recv().or_else(|_| self.asks.try_recv()).ok();
        take().or_else(|| {
            self.bell.still();
            let letter = take();
            // There may be another one behind it.
            if letter.is_some() {
                self.bell.ring();
            }
            letter
        })
    }

    /// Converts a queued request to an input of the engine. Returns `None` if the request is answered at once, without
    /// an input.
    fn take(&mut self, Envelope { asked, reply, motion, claim }: Envelope<N>) -> Option<Input> {
        let status = self.status;
        let commanded = matches!(status.mode, Mode::Arming | Mode::Command);
        self.requests = claim.as_ref().map(|claim| (claim.named, commanded));
        if let Err(verdict) = claim.map_or(Ok(()), |claim| claim.take(self.clock.now())) {
            motion.into_iter().for_each(|motion| drop(self.spent.send(Box::new(motion))));
            reply.give(asked.word(), status, verdict);
            return None;
        }
        if let Some(seen) = asked.epoch().filter(|seen| *seen != status.epoch) {
            motion.into_iter().for_each(|motion| drop(self.spent.send(Box::new(motion))));
            reply.give(asked.word(), status, Verdict::WrongEpoch(seen));
            return None;
        }
        let input = match asked {
            RequestKind::Request(_) | RequestKind::Resume(_) | RequestKind::Resend(_) if self.waits_for_a_program() => {
                reply.give(asked.word(), status, Verdict::Refused(Reason::ForeignProgram, ReasonSet::EMPTY));
                return None;
            }
            RequestKind::Request(epoch) => Input::Request(epoch),
            RequestKind::Resume(epoch) => Input::Resume(epoch),
            RequestKind::Release(_) => Input::Release,
            RequestKind::Withdraw(named) if commanded && self.armed.is_by(&named, status.epoch) => Input::Release,
            RequestKind::Withdraw(_) => {
                reply.give(asked.word(), status, Verdict::Withdrew(Effect::Nothing));
                return None;
            }
            RequestKind::Acknowledge => Input::Acknowledge,
            RequestKind::HandBack(_) => Input::HandBack,
            RequestKind::Resend(_) => Input::Resend,
            // Carried out together with the input that is given to the engine: see `act`.
            RequestKind::Guide(..) | RequestKind::ToolContact(..) | RequestKind::Renew(_) | RequestKind::Stiffen => {
                Input::Tick
            }
            RequestKind::Move(..)
            | RequestKind::Cancel
            | RequestKind::Gone(_)
            | RequestKind::Script(_)
            | RequestKind::Impedance(..) => Input::Tick,
            RequestKind::Set(..) if self.owed.len() >= MAX_WRITES => {
                reply.give(asked.word(), status, Verdict::Full);
                return None;
            }
            RequestKind::Set(_, write) => Input::Set(write),
            RequestKind::Sample(_, sample) => {
                // The engine judges it like any other reading.
                reply.give(asked.word(), status, Verdict::Done);
                return Some(Input::Sample(sample));
            }
        };
        (self.deciding, self.motion) = (Some((asked, reply)), motion);
        Some(input)
    }

    /// Records that the input from [`next`](Self::next) is given to the engine. Must be called each time.
    pub(crate) fn handed_over(&mut self) {
        self.handed_over = self.deciding.is_some();
        self.streamed.1 = true;
        self.refused = None;
    }

    /// Carries out requests of clients that are not inputs of the engine (e.g. starting a motion), after
    /// [`handed_over`](Self::handed_over).
    pub(crate) fn act<P: Controller<N>, L: Law<N>>(
        &mut self,
        engine: &mut Engine<'_, N, P, L>,
        under_way: &mut ActiveMotion<N>,
        set_impedance: impl FnOnce(&mut Engine<'_, N, P, L>, &Impedance) -> Result<(), ImpedanceRefusal>,
        now: Instant,
    ) {
        if let (Some(streamed), true) = self.streamed {
            self.streamed = (None, false);
            if let Err(why) = self.stream(&streamed, engine, under_way, now) {
                self.streaming.refuse(why);
            }
        }
        let Some((asked, _)) = self.deciding.as_ref().filter(|_| self.handed_over) else { return };
        let moved = |against| match against {
            MotionRefusal::Reason(reason) => Verdict::Refused(reason, ReasonSet::EMPTY),
            against => Verdict::Motion(against),
        };
        let acted = match *asked {
            RequestKind::Move(_, asker) => {
                let Some(motion) = self.motion.take() else { return };
                let begun = under_way.begin(motion, asker, engine);
                self.acted = begun.map_or_else(moved, |_| Verdict::Moves);
                return;
            }
            RequestKind::Cancel => {
                self.acted = under_way.cancel(engine, now).map_or_else(moved, |()| Verdict::Done);
                return;
            }
            RequestKind::Gone(asker) => return under_way.gone(asker, engine, now),
            RequestKind::Impedance(_, asked) => {
                self.acted = Verdict::Impedance(set_impedance(engine, &asked));
                return;
            }
            RequestKind::Guide(..) if engine.motion_status().forwarding != Forwarding::Idle => {
                self.acted = Verdict::Motion(MotionRefusal::Feed(FeedError::Forwarded));
                return;
            }
            RequestKind::Guide(_, asker, what, limits) => match engine.guide(what, asker, limits, now) {
                Ok(_) => Ok(()),
                Err(GuideError::Refused(reason)) => Err(reason),
                // These were checked before the request was queued.
                Err(GuideError::Force(_) | GuideError::Limits(_)) => Err(Reason::Internal),
            },
            RequestKind::ToolContact(_, stops) => engine.stop_at_contact(stops).map(|()| {
                self.status.contacts.watched = stops;
                self.told = false;
            }),
            RequestKind::Renew(asker) => engine.renew_guide(asker, now),
            RequestKind::Stiffen => engine.end_guide(),
            _ => return,
        };
        self.acted = acted.map_or_else(|reason| Verdict::Refused(reason, ReasonSet::EMPTY), |()| Verdict::Done);
    }

    /// Passes a client's streamed command to the control law. Returns the reason if it is rejected.
    fn stream<P: Controller<N>, L: Law<N>>(
        &self,
        streamed: &Streamed<N>,
        engine: &mut Engine<'_, N, P, L>,
        under_way: &mut ActiveMotion<N>,
        now: Instant,
    ) -> Result<(), StreamRejection> {
        let Streamed { forward, epoch, at } = streamed;
        if now.since(*at) > forward.holds {
            return Err(StreamRejection::Late);
        }
        if *epoch != engine.mode_machine().epoch() {
            return Err(StreamRejection::Epoch);
        }
        if engine.is_guided() {
            return Err(StreamRejection::Guided);
        }
        if under_way.is_busy() {
            return Err(StreamRejection::Motion);
        }
        engine.forward(forward, now).map_err(StreamRejection::Law)?;
        under_way.give_up();
        Ok(())
    }

    /// Observes the joint positions of the arm, the period of robot states, and the clients' streams of commands.
    pub(crate) fn look<P: Controller<N>, L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>) {
        self.streaming.look(engine.motion_status().forwarding);
        let (stands, newest) = &mut self.seen;
        let Some(state) = engine.state() else {
            self.seen = Default::default();
            return;
        };
        stands.at = Some(state.positions);
        stands.speed = state.velocities;
        if let Some(before) = newest.replace(state.controller_time) {
            let passed = state.controller_time.since(before);
            // A lost state makes the interval longer, never shorter.
            if passed > Duration::ZERO {
                stands.cycle = Some(stands.cycle.map_or(passed, |cycle| cycle.min(passed)));
            }
        }
    }

    /// Records an event of the engine. `released` is the cause if the event is a release (requested end of commanding).
    pub(crate) fn event<P>(&mut self, event: &Event<P>, released: Option<ReleasedBy>) {
        match event {
            Event::Refused(refusal) if refusal.by == Channel::Message => self.refused = Some(*refusal),
            Event::Output { write, news } => self.news(write, news),
            Event::Transition(Transition { from: Mode::Command, reason: Some(reason), .. }) => {
                // The reason is published with the mode that it led to.
                (self.status.left, self.status.released) = (Some(*reason), released);
                self.told = false;
            }
            _ => {}
        }
    }

    /// Records a contact of the tool that ended a motion of the program on the controller.
    pub(crate) const fn touched(&mut self) {
        self.status.contacts.seen = self.status.contacts.seen.wrapping_add(1);
        self.told = false;
    }

    fn news(&mut self, write: &Write, news: &WriteOutcome) {
        if matches!(news, WriteOutcome::Sent | WriteOutcome::Overwritten) {
            return;
        }
        let status = self.status;
        // The output may have been rejected at once.
        if let Some((asked, reply)) =
            self.deciding.take_if(|(asked, _)| matches!(asked, RequestKind::Set(_, set) if set == write))
        {
            reply.give(asked.word(), status, Verdict::Output(*write, *news));
        } else if let Some(at) = self.owed.iter().position(|owed| owed.write == *write) {
            self.owed.remove(at).reply.give("set", status, Verdict::Output(*write, *news));
        }
    }

    /// Publishes the status of the run after an input of the engine, and answers the request that the input belongs to.
    /// `unmet` returns the unmet preconditions of commanding, `low` the cause of a low link grade, and `variables` the
    /// variables of a program on the controller.
    pub(crate) fn observe(
        &mut self,
        now: Instant,
        (epoch, mode, grade, latch, overrides_pendant): (Epoch, Mode, Grade, Option<Reason>, bool),
        ending: bool,
        (motion, held, wanted): (Option<MotionReport>, Option<Reason>, impl FnOnce() -> Option<Setpoint<N>>),
        unmet: impl Fn() -> ReasonSet,
        (low, variables): (impl FnOnce() -> GradeLow, impl FnOnce() -> Option<Variables>),
    ) {
        // A program that starts anew does not watch for contacts.
        let Contacts { watched, seen } = self.status.contacts;
        let contacts = Contacts { watched: watched && matches!(mode, Mode::Arming | Mode::Command), seen };
        let streaming = self.streaming;
        let before = self.status;
        let status = Status {
            epoch,
            mode,
            grade,
            latch,
            overrides_pendant,
            ending,
            motion,
            held,
            contacts,
            streaming,
            ..before
        };
        if self.given && mode != Mode::Monitor {
            self.upload_permits.revoke();
            self.given = false;
        }
        if status != self.status || now >= self.look_at {
            self.look_at = now + UNMET;
            // If a reader holds the lock, the next time is early enough.
            if let Ok(mut stands) = self.stands.try_lock() {
                *stands = ArmMotionState { wanted: wanted(), ..self.seen.0 };
            }
            // The unmet preconditions are relevant only while nothing is commanded.
            let unmet = if matches!(mode, Mode::Offline | Mode::Monitor) { unmet() } else { ReasonSet::EMPTY };
            let low = unmet.contains(Reason::GradeLow).then(low);
            let status = Status { unmet, low, variables: variables(), ..status };
            self.told &= status == self.status;
            self.status = status;
        }
        if !self.told {
            self.told = self.slot.put(self.status);
        }
        if std::mem::take(&mut self.handed_over)
            && let Some((asked, reply)) = self.deciding.take()
        {
            self.decided(asked, reply, now, unmet);
        }
        if self.owed.first().is_some_and(|owed| now >= owed.until) {
            self.owed.remove(0).reply.give("set", self.status, Verdict::NoNews);
        }
    }

    /// Answers the client's request that belongs to the engine's last input.
    fn decided(&mut self, asked: RequestKind, reply: Reply, now: Instant, unmet: impl Fn() -> ReasonSet) {
        let status = self.status;
        let refused =
            |word| self.refused.filter(|refusal: &Refusal| refusal.word == word).map(|refusal| refusal.reason);
        let commanded = matches!(status.mode, Mode::Arming | Mode::Command);
        let unless = |word| refused(word).map_or(Verdict::Done, |reason| Verdict::Refused(reason, ReasonSet::EMPTY));
        let verdict = match asked {
            RequestKind::Set(_, write) => return self.owed.push(PendingReply { write, reply, until: now + NEWS }),
            RequestKind::Request(_) | RequestKind::Resume(_) => match refused(OperatorAction::Request) {
                Some(reason) => Verdict::Refused(reason, unmet()),
                None if commanded => {
                    match self.requests.take() {
                        Some((named, before)) => self.armed.granted(named, status.epoch, before),
                        None => self.armed.taken_over(status.epoch),
                    }
                    Verdict::Done
                }
                None => Verdict::Ending,
            },
            RequestKind::Acknowledge => unless(OperatorAction::Acknowledge),
            RequestKind::Guide(..) | RequestKind::ToolContact(..) | RequestKind::Renew(_) | RequestKind::Stiffen => {
                std::mem::replace(&mut self.acted, Verdict::Done)
            }
            RequestKind::Move(..) | RequestKind::Cancel | RequestKind::Impedance(..) => {
                std::mem::replace(&mut self.acted, Verdict::Done)
            }
            RequestKind::Gone(_) => Verdict::Done,
            RequestKind::Script(_) => {
                let verdict = self.leave();
                self.given |= verdict == Verdict::Done;
                verdict
            }
            RequestKind::HandBack(_) => unless(OperatorAction::HandBack),
            RequestKind::Resend(_) => unless(OperatorAction::Resend),
            RequestKind::Withdraw(_) => Verdict::Withdrew(Effect::Released),
            RequestKind::Release(_) | RequestKind::Sample(..) => Verdict::Done,
        };
        reply.give(asked.word(), status, verdict);
    }

    /// Grants a client the permit to upload a program, unless the state of the run or another upload prevents that.
    /// Returns the verdict for the client's answer.
    fn leave(&self) -> Verdict {
        let refused = |reason| Verdict::Refused(reason, ReasonSet::EMPTY);
        match self.status.mode {
            Mode::Arming | Mode::Command | Mode::Stopping => refused(Reason::Commanded),
            // The motion of the arm is unknown.
            Mode::Offline => refused(Reason::EvidenceMissing),
            Mode::Monitor if self.status.ending => Verdict::Ending,
            Mode::Monitor if self.begins_unasked => Verdict::BeginsUnasked,
            Mode::Monitor if self.upload_permits.grant() => Verdict::Done,
            Mode::Monitor => refused(Reason::ForeignProgram),
        }
    }
}

/// Waits for the next input of the engine from a client's request. Never returns if requests are not accepted.
pub(crate) async fn next_asked<const N: usize>(desk: &mut Option<RequestQueue<N>>) -> Input {
    match desk {
        Some(desk) => desk.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
