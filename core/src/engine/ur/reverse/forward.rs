//! Motion that a program of External Control makes by itself (`core/docs/protocol/ur-external-control.md 1.3, 1.5`): it is begun and
//! ended by control messages, its points go over the trajectory connection, and of its end the program tells there.
//!
//! | phase | what goes out | goes on |
//! |---|---|---|
//! | `Rests` | NOOP, so that the program lives | a move is to begin: `Asked` |
//! | `Asked` | NOOP until enough of it is known | `STREAM_START` and the first points: `Runs`; of a motion to one place RECEIVE |
//! | `Runs` | points, once all are out `STREAM_END`, else NOOP | the program tells of success: `Rests`; of anything else: `Broken` |
//! | `Broken` | CANCEL, with how many points were written | `Ends` |
//! | `Ends` | NOOP, once a second CANCEL again | the program tells that it is cancelled: `Rests` |
//!
//! * The program mirrors no number. What is shown of a move is concluded: it runs from its start until the program tells of its end
//!   **and**, where that was no success, has read away every point of it in answer to our CANCEL. Its points carry no number either:
//!   were the next move begun before, it would be made of what is left of this one.
//! * How far it is follows from the robot's speed scaling and from where the controller's target is ([`Pursuit`]).

use super::units::micro;
use super::{Moment, Reverse, Wrote};
use crate::command::{ApprovedMove, JointMove};
use crate::engine::cycle::{Executed, Verdict};
use crate::engine::ur::event::ProgramNews;
use crate::engine::ur::outbox::Outbox;
use crate::mode::{CourseConfig, Held, Mirrored, MoveNumber, Pursuit};
use crate::robot::{ControllerTime, Reason, State};
use crate::time::{Duration, Instant};
use crate::trajectory::Waypoint;
use crate::wire::external_control::ControlMode;
use crate::wire::forward::{Instruction, SplineKind, TrajectoryPoint, TrajectoryPointRepr, TrajectoryResult};

/// Points that go out at a time.
const AT_ONCE: usize = 4;
/// It begins once so many periods of it are known, or all of it.
const AHEAD: u64 = 5;
/// What was passed is remembered for so long, in the move's own time \[µs\]: the arm may turn out to be behind.
const BEHIND: u64 = 100_000;
/// The program is told so often that we are there.
const ALIVE: Duration = Duration::from_millis(40);
/// A cancelled move whose end is not told is cancelled again after this time.
const AGAIN: Duration = Duration::from_secs(1);
/// A target below this is as good as at rest \[rad/s\].
const SLOW: f32 = 0.001;
/// What a move may be behind: of its own time, of what has passed \[%\], and in periods for each of its points, since parts of a
/// spline last whole control cycles.
#[derive(Clone, Copy)]
struct Allowance {
    least: Duration,
    percent: u64,
    periods: u64,
}

/// Behind by more, it is told of once.
const LATE: Allowance = Allowance { least: Duration::from_millis(100), percent: 5, periods: 1 };
/// Behind by more, it is not on its course any more.
const LOST: Allowance = Allowance { least: Duration::from_millis(400), percent: 20, periods: 2 };

/// How far a move is; see the table of this module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Rests,
    Asked(MoveNumber),
    Runs(MoveNumber),
    Broken(MoveNumber),
    Ends(MoveNumber, Instant),
}

/// What is known of such motion.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Account {
    phase: Phase,
    shown: Mirrored,
    /// The newest move that was taken up.
    newest_move: Option<MoveNumber>,
    /// Points that were written since it began, and whether the program knows that they are all.
    written: u32,
    told_all: bool,
    pursuit: Pursuit,
    /// The newest state.
    newest: Option<ControllerTime>,
    /// That it is late was told, or is to be told.
    late: bool,
    tell_late: bool,
    /// When the program was told anything last.
    told: Instant,
    /// What has come of a result.
    said: [u8; TrajectoryResult::LEN],
    filled: u8,
}

/// Such motion, and its points that wait to be written.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) account: Account,
    pub(super) points: Outbox<{ AT_ONCE * TrajectoryPoint::LEN }>,
}

impl Forward {
    pub(super) const NOTHING: Self = Self { account: Account::NOTHING, points: Outbox::EMPTY };

    /// Nothing is known of a program any more.
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
        pursuit: Pursuit::NOT_BEGUN,
        newest: None,
        late: false,
        tell_late: false,
        told: Instant::ZERO,
        said: [0; TrajectoryResult::LEN],
        filled: 0,
    };

    fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Runs(_))
    }

    fn rest_after(&mut self, number: MoveNumber) {
        (self.phase, self.shown) = (Phase::Rests, Mirrored::Ended(number));
    }
}

impl Allowance {
    /// How much that is of a move of which so much can have passed \[µs\], with so many points.
    fn of(self, elapsed: u64, points: u32, period: Duration) -> Duration {
        let each = period.times(self.periods).times(points.into());
        self.least + Duration::from_micros(elapsed).percent(self.percent) + each
    }
}

impl Reverse {
    /// Carries out a verdict about a move; the only function that makes points of one.
    ///
    /// # Errors
    /// `GoalTolerance` where the program has not told of its end in time.
    pub(super) fn forward(&mut self, verdict: Verdict<'_, 6>) -> Result<Wrote, Reason> {
        let Moment { now, paused, .. } = self.moment;
        if !self.is_ready() {
            return Ok(Wrote::Order(false));
        }
        // It goes by what it was told last, and by when.
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

    /// The approved move: to one place at once, along waypoints once there are some.
    fn take_up(&mut self, approved: ApprovedMove<'_, 6>, number: MoveNumber) -> bool {
        let (asked, _authority) = approved.into_parts();
        let (now, account) = (self.moment.now, &mut self.forward.account);
        (account.phase, account.newest_move) = (Phase::Asked(number), Some(number));
        (account.written, account.told_all) = (0, false);
        (account.pursuit, account.late, account.tell_late) = (Pursuit::NOT_BEGUN, false, false);
        if asked.leads_on() {
            return self.noop(now);
        }
        let (speed, acceleration) = (micro(asked.speed()), micro(asked.acceleration()));
        let point = TrajectoryPointRepr::move_j(asked.to().0.map(micro), speed, acceleration);
        let _ = self.forward.points.put(|out| point.emit(out));
        let account = &mut self.forward.account;
        (account.phase, account.shown) = (Phase::Runs(number), Mirrored::Running(number));
        (account.written, account.told_all) = (1, true);
        self.instruct(Instruction::Receive, 1, now)
    }

    /// Whether so much is known of the move that what follows need not come at once.
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
            let (legs, account, most) = (&self.player.legs, &self.forward.account, self.config.goal_time);
            let overdue = legs.is_whole() && account.pursuit.beyond(legs.end()) > most;
            if most > Duration::ZERO && overdue {
                return Err(Reason::GoalTolerance);
            }
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
        // Of a program that is paused none would be read before it goes on.
        let due = !self.moment.paused && now.since(self.forward.account.told) >= ALIVE;
        due && self.instruct(Instruction::Noop, 0, now)
    }

    fn instruct(&mut self, instruction: Instruction, count: u32, now: Instant) -> bool {
        self.forward.account.told = now;
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.control(ControlMode::Forward, [instruction.raw(), count, 0, 0, 0, 0])
    }

    /// Writes what is known of the move beyond what was written; whether anything.
    fn write_points(&mut self) -> bool {
        let Self { forward: Forward { account, points }, player, .. } = self;
        if !points.is_empty() {
            return false;
        }
        let wrote = points.put(|out| {
            let mut filled = 0_usize;
            let mut rest = out;
            while let Some((from, to, _)) = player.legs.next_leg() {
                let Ok(len) = spline(from, to).emit(rest) else { break };
                rest = rest.get_mut(len..).unwrap_or_default();
                filled = filled.saturating_add(len);
                player.legs.went();
                account.written = account.written.saturating_add(1);
            }
            Ok::<_, ()>(filled)
        });
        wrote.is_ok_and(|len| len > 0)
    }

    /// The newest state: what is known of the move that was asked for last.
    pub(super) fn executed_forward(&mut self, state: &State<6>, now: Instant) -> Executed {
        let asked = self.asked_move();
        let (period, paused) = (self.period, self.moment.paused);
        let stands = self.is_ready() && self.has_trajectories();
        let Self { forward: Forward { account, .. }, player, .. } = self;
        let dt = account.newest.replace(state.controller_time).map(|before| state.controller_time.since(before));
        let config = CourseConfig::default();
        let on_course = match (asked, player.course()) {
            (Some(asked), Some(course)) if asked.leads_on() && account.is_running() => {
                // A pause is reported for a while after it is over.
                let stands_still = paused && state.target_velocities.max_abs() <= SLOW;
                let scaling = if stands_still { 0.0 } else { state.scaling() };
                let passed = dt.unwrap_or_default().min(Duration::from_secs(1)).as_secs_f32() * scaling;
                let passed = Duration::from_micros((passed * 1e6 + 0.5) as u64);
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
        let mirrored = stands.then(|| Held::new(account.shown, now));
        Executed { mirrored, paused: false, on_course }
    }

    /// How much of its own time the move has made.
    pub(super) fn led_forward(&self) -> Option<Duration> {
        self.asked_move().filter(JointMove::leads_on)?;
        let account = &self.forward.account;
        let begun = account.written > 0 && account.newest_move == self.player.number();
        begun.then(|| Duration::from_micros(account.pursuit.reached()))
    }

    /// That the move is late, once.
    pub(in crate::engine::ur) fn lateness(&mut self) -> Option<ProgramNews> {
        let account = &mut self.forward.account;
        let late = account.pursuit.late(self.player.legs.end());
        core::mem::take(&mut account.tell_late).then_some(ProgramNews::Late(late))
    }

    /// Where what the program says on the trajectory connection goes.
    pub(in crate::engine::ur) fn result_window(&mut self) -> &mut [u8] {
        let account = &mut self.forward.account;
        account.said.get_mut(usize::from(account.filled)..).unwrap_or_default()
    }

    /// So many bytes were received there.
    pub(in crate::engine::ur) fn commit_result(&mut self, count: usize) -> Option<ProgramNews> {
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
            // It was over when it was cancelled, or before that was heard: what is left of it is still read away.
            (Phase::Rests | Phase::Asked(_) | Phase::Broken(_) | Phase::Ends(..), _) => {}
        }
        Some(ProgramNews::Trajectory(result))
    }
}

/// A leg as the program takes it.
fn spline(from: &Waypoint<6>, to: &Waypoint<6>) -> TrajectoryPointRepr {
    let duration = u32::try_from((to.at - from.at).as_micros()).unwrap_or(u32::MAX);
    let (target, speeds) = (to.setpoint.positions.0.map(micro), to.setpoint.velocities.0.map(micro));
    #[cfg(feature = "trajectories")]
    if let (Some(_), Some(stop)) = (from.accelerations, to.accelerations) {
        return TrajectoryPointRepr::spline(SplineKind::Quintic, target, speeds, stop.0.map(micro), duration);
    }
    TrajectoryPointRepr::spline(SplineKind::Cubic, target, speeds, [0; 6], duration)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::ur::config::{UrConfig, UrOptions};
    use crate::engine::ur::path::CommandPath;
    use crate::engine::ur::reverse::Stage;
    use crate::mode::Mode;
    use crate::robot::{JointAccelerations, JointPositions, JointVelocities};
    use crate::trajectory::Setpoint;
    use crate::wire::external_control::Control;

    const NOW: Instant = Instant::from_micros(5_000_000);

    /// A program that runs this move through half a second per waypoint, of which nothing went out yet.
    fn asked(waypoints: u64) -> (Reverse, MoveNumber) {
        let peer = UrOptions { path: CommandPath::ExternalControl, ..UrOptions::default() };
        let config = UrConfig { peer, ..UrConfig::default() };
        let mut reverse = Reverse::new(&config.peer, config.limits);
        (reverse.stage, reverse.period) = (Stage::Ready, Duration::from_millis(8));
        let number = MoveNumber::new(1).unwrap();
        let begin = JointMove::along(JointPositions::ZERO, 1.0).unwrap();
        reverse.delegated(number, begin, &State::default());
        for i in 1..=waypoints {
            let setpoint = Setpoint { positions: JointPositions([0.01 * i as f32; 6]), ..Setpoint::default() };
            let accelerations = Some(JointAccelerations::ZERO);
            let to = Waypoint { setpoint, accelerations, at: Duration::from_millis(500 * i) };
            reverse.lead_on(&to, i == waypoints);
        }
        (reverse.forward.account.phase, reverse.forward.account.newest_move) = (Phase::Asked(number), Some(number));
        at(&mut reverse, NOW);
        (reverse, number)
    }

    fn at(reverse: &mut Reverse, now: Instant) {
        reverse.prepare(now, Mode::Command, None, false);
    }

    /// What a verdict says to the program, and how many points with it.
    fn says(reverse: &mut Reverse, verdict: Verdict<'_, 6>) -> (Option<(Instruction, i32)>, usize) {
        assert!(reverse.write(verdict).is_ok());
        let order = reverse.order.take();
        let said = (!order.is_empty()).then(|| {
            let control = Control::new_checked(order).unwrap().repr();
            assert_eq!((control.mode, control.timeout), (ControlMode::Forward, 200));
            (Instruction::from_raw(control.values[0]), control.values[1])
        });
        (said, reverse.forward.points.take().len() / TrajectoryPoint::LEN)
    }

    fn told(reverse: &mut Reverse, result: TrajectoryResult) {
        reverse.result_window().copy_from_slice(&result.to_bytes());
        assert_eq!(reverse.commit_result(4), Some(ProgramNews::Trajectory(result)));
    }

    fn shown(reverse: &Reverse) -> Mirrored {
        reverse.forward.account.shown
    }

    #[test]
    fn a_stream_is_begun_with_its_points_counted_at_its_end_and_over_when_the_program_says_so() {
        let (mut reverse, number) = asked(6);
        assert_eq!(says(&mut reverse, Verdict::Keep), (Some((Instruction::StreamStart, 0)), AT_ONCE));
        assert_eq!(shown(&reverse), Mirrored::Running(number));
        assert_eq!(says(&mut reverse, Verdict::Keep), (Some((Instruction::StreamEnd, 6)), 2));
        assert_eq!(says(&mut reverse, Verdict::Keep), (None, 0), "it has just been told something");
        at(&mut reverse, NOW + ALIVE);
        assert_eq!(says(&mut reverse, Verdict::Keep), (Some((Instruction::Noop, 0)), 0));
        told(&mut reverse, TrajectoryResult::Success);
        assert_eq!((shown(&reverse), reverse.led()), (Mirrored::Ended(number), Some(Duration::from_secs(3))));
    }

    #[test]
    fn what_ends_without_success_is_shown_as_ended_when_its_points_are_read_away() {
        for result in [TrajectoryResult::Failure, TrajectoryResult::Canceled, TrajectoryResult::Unknown(9)] {
            let (mut reverse, number) = asked(3);
            says(&mut reverse, Verdict::Keep);
            told(&mut reverse, result);
            assert_eq!(shown(&reverse), Mirrored::Running(number));
            assert_eq!(says(&mut reverse, Verdict::Keep).0, Some((Instruction::Cancel, 3)));
            // What was on its way when it was cancelled.
            told(&mut reverse, TrajectoryResult::Failure);
            told(&mut reverse, TrajectoryResult::Success);
            assert_eq!(shown(&reverse), Mirrored::Running(number));
            at(&mut reverse, NOW + AGAIN + ALIVE);
            assert_eq!(says(&mut reverse, Verdict::Keep).0, Some((Instruction::Cancel, 3)), "it is not answered");
            told(&mut reverse, TrajectoryResult::Canceled);
            assert_eq!(shown(&reverse), Mirrored::Ended(number));
        }
    }

    #[test]
    fn a_cancelled_one_is_cancelled_once_and_one_that_has_not_begun_not_at_all() {
        let (mut reverse, number) = asked(3);
        assert_eq!(says(&mut reverse, Verdict::Cancel(number)), (Some((Instruction::Noop, 0)), 0));
        assert_eq!(shown(&reverse), Mirrored::Ended(number));
        let (mut reverse, number) = asked(3);
        says(&mut reverse, Verdict::Keep);
        assert_eq!(says(&mut reverse, Verdict::Cancel(number)).0, Some((Instruction::Cancel, 3)));
        assert_eq!(says(&mut reverse, Verdict::Cancel(number)), (None, 0));
        told(&mut reverse, TrajectoryResult::Canceled);
        assert_eq!(shown(&reverse), Mirrored::Ended(number));
    }

    #[test]
    fn an_arm_that_does_not_set_out_is_late_once_and_then_not_on_its_course() {
        let (mut reverse, _) = asked(6);
        says(&mut reverse, Verdict::Keep);
        let mut late = vec![];
        let lost = (0..1_000_u64).position(|cycle| {
            let controller_time = ControllerTime::from_micros(7_000_000 + 8_000 * cycle);
            let state = State { controller_time, ..State::default() };
            let executed = reverse.executed(&state, NOW);
            assert_eq!(executed.mirrored, None, "there is no connection for trajectories");
            late.extend(reverse.lateness());
            !executed.on_course
        });
        // 0.1 s and 0.4 s, 5 and 20 % of what has passed, a period and two for each of four points.
        let lost = lost.map(|cycles| cycles * 8);
        assert!(lost.is_some_and(|millis| (560..620).contains(&millis)), "{lost:?}");
        assert!(matches!(late[..], [ProgramNews::Late(by)] if by.as_millis().abs_diff(140) <= 8), "{late:?}");
    }

    #[cfg(feature = "trajectories")]
    #[test]
    fn a_leg_is_quintic_for_as_long_as_all_before_it_were() {
        let (mut reverse, _) = asked(1);
        reverse.player.legs.begin(JointPositions::ZERO);
        reverse.player.legs.begin_with_accelerations();
        for (i, known) in (1..).zip([true, true, false, true]) {
            let setpoint = Setpoint { velocities: JointVelocities([0.1; 6]), ..Setpoint::default() };
            let accelerations = known.then_some(JointAccelerations([0.5; 6]));
            reverse.lead_on(&Waypoint { setpoint, accelerations, at: Duration::from_millis(50 * i) }, false);
        }
        let mut kinds = vec![];
        while let Some((from, to, _)) = reverse.player.legs.next_leg() {
            let point = spline(from, to);
            assert_eq!((point.second, point.duration), ([100_000; 6], 50_000));
            kinds.push((point.blend, point.third[0]));
            reverse.player.legs.went();
        }
        assert_eq!(kinds, [(2, 500_000), (2, 500_000), (1, 0), (1, 0)]);
    }

    proptest! {
        #[test]
        fn results_in_any_pieces_are_the_same(results in prop::collection::vec(-1..4_i32, 1..8), cuts in prop::collection::vec(1..5_usize, 1..40)) {
            let bytes: Vec<u8> = results.iter().flat_map(|raw| raw.to_be_bytes()).collect();
            let (mut reverse, _) = asked(1);
            let (mut told, mut rest, mut cuts) = (vec![], &bytes[..], cuts.into_iter().cycle());
            while !rest.is_empty() {
                let window = reverse.result_window();
                let count = cuts.next().unwrap_or(1).min(window.len()).min(rest.len());
                window[..count].copy_from_slice(&rest[..count]);
                rest = &rest[count..];
                told.extend(reverse.commit_result(count));
            }
            let expected = results.iter().map(|raw| ProgramNews::Trajectory(TrajectoryResult::from_raw(*raw)));
            prop_assert_eq!(told, expected.collect::<Vec<_>>());
        }
    }
}
