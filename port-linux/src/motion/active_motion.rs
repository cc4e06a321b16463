//! The motion requested by a client, in addition to the control law's own: started, fed with waypoints, cancelled and
//! reported here.

use std::any::Any;

use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::{FeedError, Forwarding, Law, Motion};
use outrigger_core::mode::{ClientNumber, Mode};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{MAX_WAYPOINTS, Progress, Setpoint, Tolerances, Waypoint};
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

use super::begins_beside;
use super::requested_motion::{PreparedExecution, Ready};
use super::stage::{MotionReport, MotionStage};
use super::waypoint_feed::{Task, WaypointFeed};

/// A reason why a requested motion is not started, or not cancelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MotionRefusal {
    /// The requested motion is rejected for this reason of the control engine.
    Reason(Reason),
    /// Another motion is active, with the state given here.
    Busy(MotionReport),
    /// The requested motion is rejected, because freedrive or force mode moves the arm.
    Guided,
    /// The control law of this session follows no joint motion.
    Law,
    /// The control law does not accept the motion, for this reason.
    Feed(FeedError),
    /// A joint of the arm is not at the start of the motion, or the control law is just moving the arm away from there.
    Elsewhere,
    /// No motion is active that could be cancelled.
    Nothing,
}

impl MotionRefusal {
    /// Returns the word for the motion's rejection in answers to clients.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reason(_) => "Refused",
            Self::Busy(_) => "Busy",
            Self::Guided => "Guided",
            Self::Law => "NoJointLaw",
            Self::Feed(_) => "NotTaken",
            Self::Elsewhere => "Elsewhere",
            Self::Nothing => "NoMotion",
        }
    }
}

/// The state of the requested motion that was started last.
#[derive(Debug)]
struct Started<const N: usize> {
    asker: Option<ClientNumber>,
    standing: MotionReport,
    whole: Duration,
    /// The joint positions at which a move to one goal started \[rad\].
    from: Option<JointPositions<N>>,
    cancelled: bool,
    /// The reason for an exceeded tolerance of the motion itself. `None` if none was exceeded.
    missed: Option<Reason>,
}

/// The active motion, and the waypoints that are fed to the engine.
#[derive(Debug)]
pub(crate) struct ActiveMotion<const N: usize> {
    task: Option<Task<N>>,
    begun: Option<Started<N>>,
    /// `true` if the session was started for one motion of its own, and accepts no other.
    own: bool,
    count: u32,
    /// The sender of memory that is no longer needed, such as the waypoints of a finished motion, to another thread.
    /// That thread frees the memory, because this takes time. `None` if this thread frees it.
    spent: Option<UnboundedSender<Box<dyn Any + Send>>>,
}

impl<const N: usize> ActiveMotion<N> {
    /// Creates the state of a session with its own motion `task`, or without one.
    pub(crate) fn new(task: Option<Task<N>>) -> Self {
        let own = task.is_some();
        let whole = task.as_ref().map_or(Duration::ZERO, Task::whole);
        let begun = own.then(|| Started::new(1, None, whole));
        Self { task, begun, own, count: u32::from(own), spent: None }
    }

    /// Makes the memory of finished motions be sent to `to`, which frees it.
    pub(crate) fn spending(&mut self, to: UnboundedSender<Box<dyn Any + Send>>) {
        self.spent = Some(to);
    }

    /// Returns the state of the motion that was started last in the session. `None` before the first motion.
    pub(crate) fn standing(&self) -> Option<MotionReport> {
        self.begun.as_ref().map(|begun| begun.standing)
    }

    /// Returns the current setpoint (joint positions and speeds) of the active motion. `None` if it is unknown.
    pub(crate) fn wanted<P: Controller<N>, L: Law<N>>(&self, engine: &Engine<'_, N, P, L>) -> Option<Setpoint<N>> {
        match self.task.as_ref()? {
            Task::Feed(_) => engine.law().motion().and_then(Motion::setpoint).copied(),
            Task::Play(playing) => playing.wanted(),
            Task::Give(_) => None,
        }
    }

    /// Returns `true` if a client has started a motion in place of the control law's own.
    pub(crate) const fn is_asked(&self) -> bool {
        !self.own && self.count > 0
    }

    /// Returns `true` if the motion that was started last was cancelled on request.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.cancelled)
    }

    /// Returns `true` if a motion is active, or if the session is for a single motion.
    pub(crate) fn is_busy(&self) -> bool {
        self.standing().is_some_and(|standing| self.own || standing.stage.goes_on())
    }

    /// Drops a suspended motion for good, because the law follows another reference from now on.
    pub(crate) fn give_up(&mut self) {
        if let Some(begun) = self.begun.as_mut().filter(|begun| begun.standing.stage == MotionStage::Suspended) {
            begun.standing.stage = MotionStage::Stopped;
            self.end_task();
        }
    }

    /// Starts a prepared motion on behalf of the client `asker`. Returns the number of the motion.
    ///
    /// # Errors
    /// Returns the reason for a rejection. The session then continues as before.
    pub(crate) fn begin<P: Controller<N>, L: Law<N>>(
        &mut self,
        ready: Ready<N>,
        asker: ClientNumber,
        engine: &mut Engine<'_, N, P, L>,
    ) -> Result<u32, MotionRefusal> {
        if let Err(against) = self.may_begin(&ready, engine) {
            self.spend(ready);
            return Err(against);
        }
        let Ready { how, whole, .. } = ready;
        let (task, from) = match how {
            PreparedExecution::Follow { waypoints, begins, tolerances } => match follow(waypoints, begins, engine) {
                Ok(feeding) => (Task::Feed(feeding.held_to(tolerances)), None),
                Err((against, waypoints)) => {
                    self.spend(waypoints);
                    return Err(against);
                }
            },
            PreparedExecution::Play(playing) => (Task::Play(*playing), None),
            PreparedExecution::Give { giving, from } => (Task::Give(giving), Some(from)),
            // The law's own motion moves the arm away.
            PreparedExecution::Stay if engine.motion_status().progress == Progress::Running => {
                return Err(MotionRefusal::Elsewhere);
            }
            // The motion is done at once, and nothing is sent.
            PreparedExecution::Stay => {
                self.end_task();
                self.count = self.count.wrapping_add(1);
                self.begun = Some(Started::made(self.count));
                return Ok(self.count);
            }
        };
        self.end_task();
        self.count = self.count.wrapping_add(1);
        self.task = Some(task);
        self.begun = Some(Started { from, ..Started::new(self.count, Some(asker), whole) });
        Ok(self.count)
    }

    fn may_begin<P: Controller<N>, L: Law<N>>(
        &self,
        ready: &Ready<N>,
        engine: &Engine<'_, N, P, L>,
    ) -> Result<(), MotionRefusal> {
        // A motion that the law follows may be replaced at its current setpoint.
        let follows = matches!((&ready.how, &self.task), (PreparedExecution::Follow { .. }, Some(Task::Feed(_))));
        let goes_on = |standing: &MotionReport| standing.stage.goes_on() && !(ready.replaces && follows);
        let standing = self.standing().filter(|standing| self.own || goes_on(standing));
        match standing {
            Some(standing) => Err(MotionRefusal::Busy(standing)),
            None if engine.mode() != Mode::Command => Err(MotionRefusal::Reason(Reason::NotCommanding)),
            None if engine.is_guided() => Err(MotionRefusal::Guided),
            None if engine.motion_status().forwarding != Forwarding::Idle => {
                Err(MotionRefusal::Feed(FeedError::Forwarded))
            }
            None => Ok(()),
        }
    }

    /// Brings the active motion to rest. The arm is still commanded.
    ///
    /// # Errors
    /// Returns [`MotionRefusal::Nothing`] if there is no active motion, [`MotionRefusal::Feed`] if the law does not cancel it.
    pub(crate) fn cancel<P: Controller<N>, L: Law<N>>(
        &mut self,
        engine: &mut Engine<'_, N, P, L>,
        now: Instant,
    ) -> Result<(), MotionRefusal> {
        let (Some(begun), Some(task)) = (&mut self.begun, &mut self.task) else { return Err(MotionRefusal::Nothing) };
        if begun.cancelled {
            return Ok(());
        }
        if engine.mode() != Mode::Command || !begun.standing.stage.goes_on() {
            return Err(MotionRefusal::Nothing);
        }
        match task {
            Task::Feed(feeding) => {
                engine.cancel().map_err(MotionRefusal::Feed)?;
                feeding.cancel();
            }
            Task::Give(giving) => {
                giving.cancel();
                // A move that was not given to the controller yet cannot be ended there.
                let _ = engine.end_move(now);
            }
            Task::Play(playing) => {
                playing.cancel();
                let _ = engine.end_move(now);
            }
        }
        begun.cancelled = true;
        Ok(())
    }

    /// Records a contact of the tool, which ends motions that the controller executes.
    pub(crate) const fn touch(&mut self) {
        match &mut self.task {
            Some(Task::Give(giving)) => giving.touch(),
            Some(Task::Play(playing)) => playing.touch(),
            Some(Task::Feed(_)) | None => {}
        }
    }

    /// Cancels the motion of a client that has disconnected. A suspended motion belongs to the client that resumes
    /// it.
    pub(crate) fn gone<P: Controller<N>, L: Law<N>>(
        &mut self,
        asker: ClientNumber,
        engine: &mut Engine<'_, N, P, L>,
        now: Instant,
    ) {
        if self.begun.as_ref().is_some_and(|begun| begun.asker == Some(asker)) {
            let _ = self.cancel(engine, now);
        }
    }

    /// Observes the engine after each of its inputs, and gives it the next waypoints of the motion, as many as it has
    /// room for.
    pub(crate) fn observe<P: Controller<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let (Some(task), Some(begun)) = (&mut self.task, &mut self.begun) else { return };
        match task {
            Task::Give(giving) => giving.observe(engine, now),
            Task::Play(playing) => playing.observe(engine, now),
            Task::Feed(feeding) => {
                feeding.observe(engine, now);
                if begun.missed.is_none() && feeding.missed().is_some() {
                    begun.missed = feeding.missed();
                    // A motion that is at its end needs no further way to rest.
                    if engine.cancel().is_ok() {
                        feeding.cancel();
                    }
                }
            }
        }
        begun.look(task, engine);
        let over = !begun.standing.stage.goes_on() && begun.standing.stage != MotionStage::Suspended;
        if over && !self.own {
            self.end_task();
        } else if begun.standing.stage == MotionStage::Suspended {
            // It belongs to the client that resumes it.
            begun.asker = None;
        }
    }

    fn end_task(&mut self) {
        if let Some(task) = self.task.take() {
            self.spend(task);
        }
    }

    fn spend(&self, what: impl Any + Send) {
        if let Some(spent) = &self.spent {
            // At the end there is no receiver any more.
            let _ = spent.send(Box::new(what));
        }
    }
}

impl<const N: usize> Started<N> {
    const fn new(number: u32, asker: Option<ClientNumber>, whole: Duration) -> Self {
        let tenths = whole.as_micros() / 100_000;
        let tenths = if tenths > u32::MAX as u64 { u32::MAX } else { tenths as u32 };
        let standing = MotionReport { number, stage: MotionStage::Waits, percent: 0, tenths };
        Self { asker, standing, whole, from: None, cancelled: false, missed: None }
    }

    /// Creates the state of a motion without length (all waypoints at the arm's position), which is done at once.
    const fn made(number: u32) -> Self {
        let mut begun = Self::new(number, None, Duration::ZERO);
        (begun.standing.stage, begun.standing.percent) = (MotionStage::Done, 100);
        begun
    }

    fn look<P: Controller<N>, L: Law<N>>(&mut self, task: &Task<N>, engine: &Engine<'_, N, P, L>) {
        let (mode, before) = (engine.mode(), self.standing.stage);
        let commands = mode == Mode::Command;
        let goal = if let Task::Give(giving) = task { giving.goal() } else { None };
        let (stage, elapsed) = match task {
            Task::Feed(feeding) => match (commands, engine.motion_status().progress, self.missed) {
                (true, Progress::Finished, Some(reason)) => (MotionStage::Missed(reason), None),
                (true, Progress::Finished, None) if self.cancelled => (MotionStage::Cancelled, None),
                (true, Progress::Finished, None) if feeding.has_arrived() => (MotionStage::Done, Some(self.whole)),
                (true, Progress::Running, _) => (MotionStage::Runs, Some(engine.motion_status().elapsed)),
                (false, Progress::Suspended, _) if self.cancelled => (MotionStage::Cancelled, None),
                (false, Progress::Suspended, _) => (MotionStage::Suspended, None),
                _ => (before, None),
            },
            Task::Play(playing) => {
                let (stage, elapsed) = playing.stands(commands);
                (stage, Some(elapsed))
            }
            Task::Give(giving) => (giving.stands(commands), None),
        };
        self.standing.stage =
            if self.cancelled && matches!(stage, MotionStage::Done | MotionStage::Stopped | MotionStage::Refused(_)) {
                MotionStage::Cancelled
            } else {
                stage
            };
        let share = match (&self.from, stage, elapsed, engine.state()) {
            (_, MotionStage::Done, ..) => 1.0,
            // From now on the motion's own time is that of its way to rest.
            _ if self.cancelled => return,
            (Some(from), MotionStage::Runs, _, Some(state)) => {
                let Some(to) = goal else { return };
                let way = |from: &JointPositions<N>| to.zip_with(from.as_array(), |to, from| to - from).max_abs();
                1.0 - way(&state.positions) / way(from)
            }
            (None, _, Some(elapsed), _) if self.whole > Duration::ZERO => {
                elapsed.as_secs_f32() / self.whole.as_secs_f32()
            }
            _ => return,
        };
        self.standing.percent = (share.clamp(0.0, 1.0) * 100.0) as u8;
    }
}

/// Makes the law follow these waypoints in place of its current motion. Returns the waypoints if the law does not
/// accept them.
fn follow<const N: usize, P: Controller<N>, L: Law<N>>(
    waypoints: Vec<Waypoint<N>>,
    begins: Option<JointPositions<N>>,
    engine: &mut Engine<'_, N, P, L>,
) -> Result<WaypointFeed<N>, (MotionRefusal, Vec<Waypoint<N>>)> {
    let wanted = engine.law().motion().and_then(Motion::setpoint).map(|setpoint| setpoint.positions);
    let first = waypoints.get(..waypoints.len().min(MAX_WAYPOINTS - 1)).unwrap_or_default();
    let (next, last) = (first.len(), first.len() == waypoints.len());
    let against = match (wanted, begins) {
        (None, _) => Some(MotionRefusal::Law),
        (Some(wanted), Some(begins)) if begins_beside(&wanted, &begins, &Tolerances::DEFAULT).is_some() => {
            Some(MotionRefusal::Elsewhere)
        }
        _ => engine.replace(first, last).err().map(MotionRefusal::Feed),
    };
    match against {
        Some(against) => Err((against, waypoints)),
        None => Ok(WaypointFeed::new(waypoints, next, None)),
    }
}

#[cfg(test)]
mod tests;
