//! The motion that a program of External Control executes by itself
//! (`core/docs/protocol/ur-external-control.md 1.3, 1.5`). Control messages start and end it, its points are sent over
//! the trajectory connection, and the program reports its result there.
//!
//! | phase | output | next phase |
//! |---|---|---|
//! | `Rests` | NOOP as a keep-alive | a move is requested: `Asked` |
//! | `Asked` | NOOP until enough of the move is known | `STREAM_START` and the first points: `Runs`; for a motion to one place RECEIVE |
//! | `Runs` | points, once all are sent `STREAM_END`, else NOOP | the program reports success: `Rests`; any other result: `Broken` |
//! | `Broken` | CANCEL, with the number of points that were written | `Ends` |
//! | `Ends` | NOOP, and CANCEL again after a second | the program reports that it is cancelled: `Rests` |
//!
//! * The program mirrors no number. The shown state of a move is inferred: it runs from its start until the program
//!   reports its result **and**, if that was no success, has discarded every point of it in answer to our CANCEL. The
//!   points have no number either: if the next move started before, it would include the remaining points of this one.
//! * Its progress follows from the robot's speed scaling and from the position of the controller's target
//!   ([`PlanProgress`]).

use super::order_units::micro;
use super::program_text::Made;
use super::{Moment, Pause, Reverse, Wrote};
use crate::command::{ApprovedMove, JointMove};
use crate::engine::cycle::{MotionProgress, Verdict};
use crate::engine::ur::event::ProgramEvent;
use crate::engine::ur::outbox::Outbox;
use crate::mode::{CourseConfig, Mirrored, MoveNumber, PlanProgress, TimedFact};
use crate::robot::Reason;
use crate::trajectory::Waypoint;
use outrigger_wire::external_control::ControlMode;
use outrigger_wire::robot::{ControllerTime, State};
use outrigger_wire::time::{Duration, Instant};
use outrigger_wire::trajectory_messages::{
    Instruction, MotionType, SplineKind, TrajectoryPoint, TrajectoryPointRepr, TrajectoryResult,
};

/// The number of points of a trajectory that are sent at a time.
const AT_ONCE: usize = 4;
/// The number of periods of a move along waypoints that must be known before it starts, unless all of it is known.
const AHEAD: u64 = 5;
/// The time for which passed waypoints are remembered, in the move's own time \[µs\]: the arm may turn out to be
/// behind.
const BEHIND: u64 = 100_000;
/// The interval of keep-alives to the program of External Control.
const ALIVE: Duration = Duration::from_millis(40);
/// The time after which a cancelled move without a result is cancelled again.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest time in which an arm comes to rest after its speed slider was moved to 0 \[s\].
const FALL: f32 = 0.5;
/// The target speed up to which the arm counts as being at rest \[rad/s\].
const SLOW: f32 = 0.001;
/// The permitted delay of a move: a time, a share of the elapsed time \[%\], and a number of periods for each of its
/// points, because the parts of a spline last whole control cycles.
#[derive(Clone, Copy)]
struct Allowance {
    least: Duration,
    percent: u64,
    periods: u64,
}

/// The delay of the arm behind the plan of its move above which the move is reported as late, once.
const LATE: Allowance = Allowance { least: Duration::from_millis(100), percent: 5, periods: 1 };
/// The delay of the arm behind the plan of its move above which the move is no longer on its course.
const LOST: Allowance = Allowance { least: Duration::from_millis(400), percent: 20, periods: 2 };

/// The phase of a move that External Control executes; see the table of this module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Rests,
    Asked(MoveNumber),
    Runs(MoveNumber),
    Broken(MoveNumber),
    Ends(MoveNumber, Instant),
}

/// The known facts about a motion that a program of External Control executes by itself.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Account {
    phase: Phase,
    shown: Mirrored,
    /// The number of the newest move that was requested from the program, whether its start was sent or not.
    newest_move: Option<MoveNumber>,
    /// The number of points that were written since the move began; `told_all` is `true` once the program knows that
    /// these are all of its points.
    written: u32,
    told_all: bool,
    pursuit: PlanProgress,
    /// The highest speed scaling, 0 … 1, that the arm may still have while it slows down after the speed slider was
    /// lowered.
    scaling: f32,
    /// The controller's time in the newest state of the arm.
    newest: Option<ControllerTime>,
    /// `late`: the delay of the move was reported, or is to be; `tell_late`: it is to be reported.
    late: bool,
    tell_late: bool,
    /// The time at which the last control message about a trajectory was sent to the program.
    told: Instant,
    /// The received part of the result of a trajectory.
    said: [u8; TrajectoryResult::LEN],
    filled: u8,
}

/// A motion that a program of External Control executes, and its points that wait to be written.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) account: Account,
    pub(super) points: Outbox<{ AT_ONCE * TrajectoryPoint::LEN }>,
}

impl Forward {
    pub(super) const NOTHING: Self = Self { account: Account::NOTHING, points: Outbox::EMPTY };

    /// Discards a partly received result, which another connection does not complete.
    pub(super) const fn forget_part(&mut self) {
        self.account.filled = 0;
    }

    /// Discards all data about the motion of an earlier program, when it has ended or another one connects.
    pub(super) fn forget(&mut self) {
        *self = Self::NOTHING;
    }
}

impl Account {
    const NOTHING: Self = Self {
        phase: Phase::Rests,
        shown: Mirrored::Idle,
        newest_move: None,
        written: 0,
        told_all: false,
        pursuit: PlanProgress::NOT_BEGUN,
        scaling: 0.0,
        newest: None,
        late: false,
        tell_late: false,
        told: Instant::ZERO,
        said: [0; TrajectoryResult::LEN],
        filled: 0,
    };

    /// Returns the buffer that receives the result of a trajectory from the program.
    pub(super) const fn said(&self) -> &[u8] {
        &self.said
    }

    fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Runs(_))
    }

    fn rest_after(&mut self, number: MoveNumber) {
        (self.phase, self.shown) = (Phase::Rests, Mirrored::Ended(number));
    }
}

impl Allowance {
    /// Returns the permitted delay of a move with this number of points and this time elapsed \[µs\].
    fn of(self, elapsed: u64, points: u32, period: Duration) -> Duration {
        let each = period.times(self.periods).times(points.into());
        self.least + Duration::from_micros(elapsed).percent(self.percent) + each
    }
}

impl Reverse {
    /// Returns `true` if the program has established its connection for trajectories.
    const fn has_trajectories(&self) -> bool {
        let [trajectory, _] = &self.beside;
        trajectory.is_taken()
    }

    /// Returns `true` if points of a trajectory wait to be written.
    pub(super) const fn has_points(&self) -> bool {
        !self.forward.points.is_empty()
    }

    /// Carries out the command of one cycle that is about a move, by control messages and points. Points of a
    /// trajectory are made for no other command.
    ///
    /// # Errors
    /// No error occurs at present; the type of the result is that of [`write`](Self::write).
    pub(super) fn forward(&mut self, verdict: Verdict<'_, 6>) -> Result<Wrote, Reason> {
        let Moment { now, pause: Pause { stands: paused, .. }, .. } = self.moment;
        if !self.is_ready() {
            return Ok(Wrote::Order(false));
        }
        // The program's timeout counts from its last message.
        self.spoke = now;
        let made = match verdict {
            Verdict::Start(approved, number) => self.take_up(approved, number),
            Verdict::Cancel(number) if self.forward.account.phase == Phase::Asked(number) => {
                self.forward.account.rest_after(number);
                self.noop(now)
            }
            Verdict::Cancel(_) => match self.forward.account.phase {
                Phase::Runs(number) | Phase::Broken(number) => self.give_up(number, now),
                Phase::Ends(number, since) if !paused && now.since(since) > AGAIN => self.give_up(number, now),
                Phase::Rests | Phase::Asked(_) | Phase::Ends(..) => self.noop(now),
            },
            _ => match self.forward.account.phase {
                Phase::Asked(number) if self.is_enough_known() => self.set_out(number, now),
                Phase::Runs(_) => self.go_on(now)?,
                Phase::Broken(number) => self.give_up(number, now),
                Phase::Ends(number, since) if !paused && now.since(since) > AGAIN => self.give_up(number, now),
                Phase::Rests | Phase::Asked(_) | Phase::Ends(..) => self.noop(now),
            },
        };
        Ok(Wrote::Order(made))
    }

    /// Takes up the approved move. If it goes to one place, it is started at once; along waypoints it starts once
    /// enough of them are known. Returns `true` if a control message was made.
    fn take_up(&mut self, approved: ApprovedMove<'_, 6>, number: MoveNumber) -> bool {
        let (asked, _authority) = approved.into_parts();
        let (now, account) = (self.moment.now, &mut self.forward.account);
        (account.phase, account.newest_move) = (Phase::Asked(number), Some(number));
        (account.written, account.told_all) = (0, false);
        (account.pursuit, account.late, account.tell_late) = (PlanProgress::NOT_BEGUN, false, false);
        if asked.leads_on() {
            return self.noop(now);
        }
        let (speed, acceleration) = (micro(asked.speed()), micro(asked.acceleration()));
        let point = TrajectoryPointRepr::move_j(asked.to().0.map(micro), speed, acceleration);
        let point = marked(point, self.made);
        let _ = self.forward.points.put(|out| point.emit(out));
        let account = &mut self.forward.account;
        (account.phase, account.shown) = (Phase::Runs(number), Mirrored::Running(number));
        (account.written, account.told_all) = (1, true);
        self.instruct(Instruction::Receive, 1, now)
    }

    /// Returns `true` if so much of the move along waypoints is known that it can start, although the next waypoint may
    /// arrive a little later.
    fn is_enough_known(&self) -> bool {
        let legs = &self.player.legs;
        legs.is_whole() || (legs.next_leg().is_some() && legs.end() >= self.period.times(AHEAD).as_micros())
    }

    fn set_out(&mut self, number: MoveNumber, now: Instant) -> bool {
        let account = &mut self.forward.account;
        (account.phase, account.shown) = (Phase::Runs(number), Mirrored::Running(number));
        self.write_points();
        self.instruct(Instruction::StreamStart, 0, now)
    }

    fn go_on(&mut self, now: Instant) -> Result<bool, Reason> {
        if self.asked_move().is_some_and(|asked| asked.leads_on()) {
            let wrote = self.write_points();
            let account = &mut self.forward.account;
            if self.player.legs.is_all_sent() && !account.told_all {
                account.told_all = true;
                let written = account.written;
                return Ok(self.instruct(Instruction::StreamEnd, written, now));
            }
            return Ok(self.noop(now) || wrote);
        }
        Ok(self.noop(now))
    }

    fn give_up(&mut self, number: MoveNumber, now: Instant) -> bool {
        self.forward.account.phase = Phase::Ends(number, now);
        let written = self.forward.account.written;
        self.instruct(Instruction::Cancel, written, now)
    }

    fn noop(&mut self, now: Instant) -> bool {
        // A paused program would read none before it is resumed.
        let due = !self.moment.pause.stands && now.since(self.forward.account.told) >= ALIVE;
        due && self.instruct(Instruction::Noop, 0, now)
    }

    fn instruct(&mut self, instruction: Instruction, count: u32, now: Instant) -> bool {
        self.forward.account.told = now;
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.control(ControlMode::Forward, [instruction.raw(), count, 0, 0, 0, 0])
    }

    /// Writes the known points of the move that were not written yet. Returns `true` if there were any.
    fn write_points(&mut self) -> bool {
        let Self { forward: Forward { account, points }, player, made, .. } = self;
        if !points.is_empty() {
            return false;
        }
        let wrote = points.put(|out| {
            let mut filled = 0_usize;
            let mut rest = out;
            while let Some((from, to, _)) = player.legs.next_leg() {
                let Ok(len) = marked(spline(from, to), *made).emit(rest) else { break };
                rest = rest.get_mut(len..).unwrap_or_default();
                filled = filled.saturating_add(len);
                player.legs.went();
                account.written = account.written.saturating_add(1);
            }
            Ok::<_, ()>(filled)
        });
        wrote.is_ok_and(|len| len > 0)
    }

    /// Takes the newest state of the arm. Returns the progress of the move that was requested last from External Control.
    pub(super) fn executed_forward(&mut self, state: &State<6>, now: Instant) -> MotionProgress {
        let asked = self.asked_move();
        let (period, paused) = (self.period, self.moment.pause.stands);
        let stands = self.is_ready() && self.has_trajectories();
        let Self { forward: Forward { account, .. }, player, .. } = self;
        let dt = account.newest.replace(state.controller_time).map(|before| state.controller_time.since(before));
        let config = CourseConfig::default();
        let on_course = match (asked, player.course()) {
            (Some(asked), Some(course)) if asked.leads_on() && account.is_running() => {
                // A pause is still reported for a while after it is over.
                let stands_still = paused && state.target_velocities.max_abs() <= SLOW;
                let scaling = if stands_still { 0.0 } else { state.scaling() };
                let dt = dt.unwrap_or_default().min(Duration::from_secs(1)).as_secs_f32();
                // The slider is reported where it is, and the arm slows down after it.
                let slowing = if state.target_velocities.max_abs() <= SLOW { 0.0 } else { account.scaling - dt / FALL };
                account.scaling = scaling.max(slowing);
                let passed =
                    [scaling, account.scaling].map(|share| Duration::from_micros((dt * share * 1e6 + 0.5) as u64));
                let (end, legs) = (player.legs.end(), &mut player.legs);
                let off = account.pursuit.observe(&state.target_positions, passed, period, end, |at| legs.planned(at));
                let (late, elapsed, points) = (account.pursuit.late(end), account.pursuit.elapsed(), account.written);
                if late > LATE.of(elapsed, points, period) && !account.late {
                    (account.late, account.tell_late) = (true, true);
                }
                legs.passed(account.pursuit.reached().saturating_sub(BEHIND));
                off <= config.position
                    && course.is_slow_enough(state, &config)
                    && late <= LOST.of(elapsed, points, period)
            }
            (Some(asked), Some(course)) if asked.leads_on() => course.is_slow_enough(state, &config),
            (_, Some(course)) => course.holds(state, &config),
            (_, None) => false,
        };
        let mirrored = stands.then(|| TimedFact::new(account.shown, now));
        MotionProgress { mirrored, paused: false, on_course }
    }

    /// Returns the time on the plan of the move along waypoints that the arm has reached, in the move's own time;
    /// `None` if no such move has begun.
    pub(super) fn led_forward(&self) -> Option<Duration> {
        self.asked_move().filter(JointMove::leads_on)?;
        let account = &self.forward.account;
        let begun = account.written > 0 && account.newest_move == self.player.number();
        begun.then(|| Duration::from_micros(account.pursuit.reached()))
    }

    /// Returns the part of a move's own time \[µs\] that can have passed since its start, at most; `None` unless External
    /// Control executes moves.
    #[cfg(feature = "motions")]
    pub(super) fn could_have_led(&self) -> Option<u64> {
        self.is_foreign().then(|| self.forward.account.pursuit.elapsed())
    }

    /// Returns the event that the move is late, once for each move; `None` at other times.
    pub(in crate::engine::ur) fn lateness(&mut self) -> Option<ProgramEvent> {
        let account = &mut self.forward.account;
        let late = account.pursuit.late(self.player.legs.end());
        core::mem::take(&mut account.tell_late).then_some(ProgramEvent::Late(late))
    }

    /// Returns the buffer for the program's bytes on the trajectory connection.
    pub(in crate::engine::ur) fn result_window(&mut self) -> &mut [u8] {
        let account = &mut self.forward.account;
        account.said.get_mut(usize::from(account.filled)..).unwrap_or_default()
    }

    /// Takes `count` bytes of a result that were received on the trajectory connection. Returns the event with the
    /// result once it is complete.
    pub(super) fn commit_result(&mut self, count: usize) -> Option<ProgramEvent> {
        let account = &mut self.forward.account;
        let filled = usize::from(account.filled).saturating_add(count).min(TrajectoryResult::LEN);
        account.filled = filled as u8;
        if filled < TrajectoryResult::LEN {
            return None;
        }
        account.filled = 0;
        let result = TrajectoryResult::from_bytes(account.said);
        match (account.phase, result) {
            (Phase::Runs(number), TrajectoryResult::Success) => {
                account.pursuit.arrive(self.player.legs.end());
                account.rest_after(number);
            }
            (Phase::Runs(number), _) => account.phase = Phase::Broken(number),
            (Phase::Ends(number, _), TrajectoryResult::Canceled) => account.rest_after(number),
            // The move was over when it was cancelled, or before the CANCEL arrived: its remaining points are still
            // discarded.
            (Phase::Rests | Phase::Asked(_) | Phase::Broken(_) | Phase::Ends(..), _) => {}
        }
        Some(ProgramEvent::Trajectory(result))
    }
}

/// Returns the point with its last number, the kind of motion, replaced by the token of our program (`made`) minus that
/// kind. So our program recognises a point of which a part was lost, and any point read after it. UR's own program
/// (`made` is `None`) gets the kind.
pub(super) fn marked(point: TrajectoryPointRepr, made: Option<Made>) -> TrajectoryPointRepr {
    let raw = point.motion.raw();
    let motion = made.map_or(point.motion, |made| MotionType::from_raw(made.token.wrapping_sub(raw)));
    TrajectoryPointRepr { motion, ..point }
}

/// Returns the leg between two waypoints in the form that External Control takes.
fn spline(from: &Waypoint<6>, to: &Waypoint<6>) -> TrajectoryPointRepr {
    let duration = u32::try_from((to.at - from.at).as_micros()).unwrap_or(u32::MAX);
    let (target, speeds) = (to.setpoint.positions.0.map(micro), to.setpoint.velocities.0.map(micro));
    #[cfg(feature = "trajectories")]
    if let (Some(_), Some(stop)) = (from.accelerations, to.accelerations) {
        return TrajectoryPointRepr::spline(SplineKind::Quintic, target, speeds, stop.0.map(micro), duration);
    }
    TrajectoryPointRepr::spline(SplineKind::Cubic, target, speeds, [0; 6], duration)
}

#[cfg(all(test, feature = "trajectories"))]
mod tests;
