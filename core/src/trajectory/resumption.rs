//! The resumption of a stopped motion that the controller executes by itself: from rest beside its path, back onto the
//! path, and on to its end.
//!
//! | part | its waypoints |
//! |---|---|
//! | lead-in | every 50 ms or more, on the path, plus the arm's initial offset, which fades out |
//! | the rest | the remaining ones of the motion, delayed by the lead-in; slower if the lead-in requires it |
//!
//! While it stopped, the arm moved on along its path. The motion therefore resumes where its path is nearest to the
//! arm, from the time at which it was suspended up to half a second later. During the lead-in the pace of the motion's
//! time rises from zero; it is at its final value where the path is reached. The lead-in is as long as the limits
//! require: 0.6, 1.2, 2.4 or 4.8 s, at full pace if one of these suffices, else at a half, a fourth or an eighth of it.
//! A motion that was suspended just before its end, or at it, is led to its end.

use super::{Leg, Setpoint, Tolerances, Waypoint};
use crate::robot::Reason;
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};
use outrigger_wire::time::{Duration, quotient, to_f32};

/// The durations that are tried for the lead-in, the way from the arm's rest back onto the path of a suspended motion;
/// shortest first.
const RAMPS: [Duration; 4] = [
    Duration::from_millis(600),
    Duration::from_millis(1_200),
    Duration::from_millis(2_400),
    Duration::from_millis(4_800),
];
/// The factors by which a resumed motion may be slower than planned.
const SLOWER: [u16; 4] = [1, 2, 4, 8];
/// The least time between waypoints of the lead-in to a suspended motion: a controller receives no closer ones.
const STEP: Duration = Duration::from_millis(50);
/// The point nearest to the resting arm is searched in so many steps after the time of suspension, each of length
/// `LOOK`.
const AHEAD: u32 = 100;
const LOOK: Duration = Duration::from_millis(5);
/// The largest accepted offset of a joint from the suspended motion \[rad\], if there is no path tolerance.
const WITHIN: f32 = 0.2;

/// The rest of a suspended motion, from the arm's present position: a sequence of waypoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resumption<const N: usize> {
    /// The time in the suspended motion at which the lead-in begins, back onto its path: the point of suspension, or a
    /// later one nearer to the arm. `joins` is the time in the motion at which the lead-in ends on the path.
    left: Duration,
    joins: Duration,
    /// The duration of the lead-in, the way from the arm's rest back onto the path of the suspended motion.
    lasts: Duration,
    /// The number of steps, from waypoint to waypoint, of the lead-in.
    steps: u32,
    /// The factor by which the resumed motion is slower than planned.
    slower: u16,
    /// The index, from 0, of the first waypoint of the motion after the lead-in.
    next: usize,
    /// Measured minus planned joint angles at the time of resumption \[rad\].
    offset: JointPositions<N>,
}

impl<const N: usize> Resumption<N> {
    /// Computes the rest of the motion through the waypoints of `plan`, suspended at `left` in its own time. The arm
    /// rests at `measured` \[rad\]. `fits` returns an error if the arm cannot execute a leg.
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] if a joint is further from the point of resumption than its tolerance on the path, or
    /// than 0.2 rad if it has none; the error of `fits` if no lead-in fits.
    pub fn of(
        plan: &[Waypoint<N>],
        left: Duration,
        measured: &JointPositions<N>,
        tolerances: &Tolerances<N>,
        mut fits: impl FnMut(&Leg<N>) -> Result<(), Reason>,
    ) -> Result<Self, Reason> {
        let end = plan.last().map_or(Duration::ZERO, |last| last.at);
        let within = tolerances.path.map(|path| if path.is_finite() { path } else { WITHIN });
        let off = |at| measured.zip_with(on(plan, at).positions.as_array(), |q, p| q - p);
        // The largest offset of a joint as a fraction of its tolerance.
        let far = |offset: &JointPositions<N>| offset.zip_with(within.as_array(), |off, within| off / within).max_abs();
        let (mut left, mut offset) = (left.min(end), off(left));
        for _ in 0..AHEAD {
            let ahead = (left + LOOK).min(end);
            let nearer = off(ahead);
            if far(&nearer) >= far(&offset) {
                break;
            }
            (left, offset) = (ahead, nearer);
        }
        if !offset.iter().zip(within.iter()).all(|(off, within)| off.abs() <= within) {
            return Err(Reason::PathTolerance);
        }
        let mut against = Reason::PathTolerance;
        for slower in SLOWER {
            for ramp in RAMPS {
                let way = Self::lasting(plan, (left, end), ramp, slower, offset);
                let mut legs = (0..=way.steps).map_while(|step| {
                    let step = step as usize;
                    Some(Leg::between(&way.waypoint(plan, step)?, &way.waypoint(plan, step.saturating_add(1))?))
                });
                match legs.try_for_each(|leg| fits(&leg)) {
                    Ok(()) => return Ok(way),
                    Err(reason) => against = reason,
                }
            }
        }
        Err(against)
    }

    /// Creates the resumption of a motion with a lead-in of about the duration `ramp`.
    fn lasting(
        plan: &[Waypoint<N>],
        (left, end): (Duration, Duration),
        ramp: Duration,
        slower: u16,
        offset: JointPositions<N>,
    ) -> Self {
        let factor = u64::from(slower);
        // As the pace rises as 2x − x², the lead-in covers two thirds of its duration.
        let (mut joins, mut lasts) = (left + part(ramp, 2, factor.saturating_mul(3)), ramp);
        // A next waypoint too close to the end of the lead-in becomes its end.
        let behind = |at: Duration| plan.partition_point(|way| way.at <= at);
        if let Some(next) = plan.get(behind(joins)).filter(|next| (next.at - joins).times(factor) < STEP) {
            joins = next.at;
            lasts = part(joins - left, factor.saturating_mul(3), 2);
        }
        if joins >= end {
            (joins, lasts) = (end, lasts.max(ramp));
        }
        let steps = lasts.whole(STEP).and_then(|steps| u32::try_from(steps).ok()).unwrap_or(u32::MAX).max(1);
        Self { left, joins, lasts, steps, slower, next: behind(joins), offset }
    }

    /// Returns the waypoint of this number; 0 is the arm's present position at rest. `None` after the last. `plan` must
    /// be the motion passed to [`of`](Self::of).
    #[must_use]
    pub fn waypoint(&self, plan: &[Waypoint<N>], number: usize) -> Option<Waypoint<N>> {
        let pace = 1.0 / f32::from(self.slower);
        let scaled = |velocities: JointVelocities<N>| velocities.map(|v| v * pace);
        let steps = self.steps as usize;
        if let Some(behind) = number.checked_sub(steps.saturating_add(1)) {
            let planned = plan.get(self.next.checked_add(behind)?)?;
            let setpoint = Setpoint { velocities: scaled(planned.setpoint.velocities), ..planned.setpoint };
            let accelerations = planned.accelerations.map(|a| a.map(|a| a * pace * pace));
            let at = self.lasts + (planned.at - self.joins).times(u64::from(self.slower));
            return Some(Waypoint { setpoint, accelerations, at });
        }
        if number == steps {
            let planned = on(plan, self.joins);
            let setpoint = Setpoint { velocities: scaled(planned.velocities), ..planned };
            // Between two waypoints with accelerations the motion continues as planned, by a quintic.
            let accelerations = accelerations(plan, self.joins).map(|a| a.map(|a| a * pace * pace));
            return Some(Waypoint { setpoint, accelerations, at: self.lasts });
        }
        let x = number as f32 / self.steps as f32;
        let at = part(self.lasts, number as u64, u64::from(self.steps));
        let Setpoint { positions, velocities } = on(plan, self.own_time(at));
        let (left, seconds) = (1.0 - x * x * (3.0 - 2.0 * x), self.lasts.as_secs_f32());
        let fading = 6.0 * x * (x - 1.0) / seconds;
        let rate = (self.joins - self.left).as_secs_f32() * x * (3.0 - 1.5 * x) / seconds;
        let positions = positions.zip_with(self.offset.as_array(), |p, off| p + off * left);
        let velocities = velocities.zip_with(self.offset.as_array(), |v, off| v * rate + off * fading);
        Some(Waypoint { setpoint: Setpoint { positions, velocities }, accelerations: None, at })
    }

    /// Returns whether `number` is that of the resumed motion's last waypoint.
    #[must_use]
    pub const fn is_last(&self, plan: &[Waypoint<N>], number: usize) -> bool {
        let rest = plan.len().saturating_sub(self.next);
        number == (self.steps as usize).saturating_add(rest)
    }

    /// Returns the time of the motion that has passed in all, when the time `passed` has gone by since its resumption.
    #[must_use]
    pub fn own_time(&self, passed: Duration) -> Duration {
        if passed >= self.lasts {
            return self.joins + part(passed - self.lasts, 1, u64::from(self.slower));
        }
        let x = passed.as_secs_f32() / self.lasts.as_secs_f32();
        let made = to_f32((self.joins - self.left).as_micros()) * x * x * (1.5 - 0.5 * x);
        self.left + Duration::from_micros(made as u64)
    }

    /// Returns the highest joint speed in the lead-in \[rad/s\].
    #[must_use]
    pub fn fastest(&self, plan: &[Waypoint<N>]) -> f32 {
        let legs = (0..self.steps as usize).map_while(|step| {
            let (from, to) = (self.waypoint(plan, step)?, self.waypoint(plan, step.saturating_add(1))?);
            Some(Leg::between(&from, &to).peak_velocities().max_abs())
        });
        legs.fold(0.0, f32::max)
    }
}

/// Returns a part of the time `span`: `span * parts / of`.
fn part(span: Duration, parts: u64, of: u64) -> Duration {
    Duration::from_micros(quotient(span.as_micros().saturating_mul(parts), of).unwrap_or_default())
}

/// Returns the leg of `plan` at this time of the motion, and how much of the leg has passed \[s\].
fn leg<const N: usize>(plan: &[Waypoint<N>], at: Duration) -> Option<(Leg<N>, f32)> {
    let behind = plan.partition_point(|way| way.at <= at).min(plan.len().saturating_sub(1));
    let from = plan.get(behind.checked_sub(1)?)?;
    Some((Leg::between(from, plan.get(behind)?), (at - from.at).as_secs_f32()))
}

/// Returns the setpoint of `plan` at the time `at` of the motion.
pub(super) fn on<const N: usize>(plan: &[Waypoint<N>], at: Duration) -> Setpoint<N> {
    let ends =
        plan.last().filter(|last| last.at <= at).or(plan.first()).map_or_else(Setpoint::default, |way| way.setpoint);
    leg(plan, at).filter(|_| plan.last().is_some_and(|last| at < last.at)).map_or(ends, |(leg, passed)| leg.at(passed))
}

/// Returns the accelerations of `plan` at this time of the motion; `None` if the leg there is not a quintic.
fn accelerations<const N: usize>(plan: &[Waypoint<N>], at: Duration) -> Option<JointAccelerations<N>> {
    match leg(plan, at)? {
        (Leg::Quintic(quintic), passed) => Some(quintic.accelerations_at(passed)),
        (Leg::Cubic(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOLERANCES: Tolerances<2> =
        Tolerances { path: JointPositions([0.1, f32::INFINITY]), goal: JointPositions([0.1; 2]), goal_time: None };

    fn way(millis: u64, q: [f32; 2], v: [f32; 2], a: Option<[f32; 2]>) -> Waypoint<2> {
        let setpoint = Setpoint { positions: JointPositions(q), velocities: JointVelocities(v) };
        Waypoint { setpoint, accelerations: a.map(JointAccelerations), at: Duration::from_millis(millis) }
    }

    /// Returns a motion that swings one joint out and back along a cosine, and the other joint by half as much.
    fn swing(legs: u64, millis: u64, quintic: bool) -> Vec<Waypoint<2>> {
        let rate = core::f32::consts::TAU / (millis as f32 * 1e-3);
        let at = |leg: u64| {
            let phase = core::f32::consts::TAU * leg as f32 / legs as f32;
            let ends = leg == 0 || leg == legs;
            let (q, v) = (0.5 * (1.0 - phase.cos()), if ends { 0.0 } else { 0.5 * rate * phase.sin() });
            let a = 0.5 * rate * rate * phase.cos();
            way(millis * leg / legs, [q, q / 2.0], [v, v / 2.0], quintic.then_some([a, a / 2.0]))
        };
        (0..=legs).map(at).collect()
    }

    /// Returns a check of legs against these limits of speed and acceleration.
    fn held(speed: f32, acceleration: f32) -> impl Fn(&Leg<2>) -> Result<(), Reason> {
        move |leg| match (leg.peak_velocities().max_abs() <= speed, leg.peak_accelerations().max_abs() <= acceleration)
        {
            (true, true) => Ok(()),
            (false, _) => Err(Reason::VelocityLimit),
            (true, false) => Err(Reason::AccelerationLimit),
        }
    }

    fn all(way: &Resumption<2>, plan: &[Waypoint<2>]) -> Vec<Waypoint<2>> {
        (0..).map_while(|number| way.waypoint(plan, number)).collect()
    }

    /// Asserts the properties that every resumption has.
    fn judge(plan: &[Waypoint<2>], left: Duration, measured: [f32; 2], way: &Resumption<2>, most: (f32, f32)) {
        let points = all(way, plan);
        let (first, last) = (points[0], points[points.len() - 1]);
        assert_eq!((first.at, first.setpoint.velocities), (Duration::ZERO, JointVelocities::ZERO));
        assert!(first.setpoint.positions.zip_with(&measured, |q, m| q - m).max_abs() < 1e-6, "{first:?}");
        assert_eq!(last.setpoint, plan[plan.len() - 1].setpoint, "{way:?}");
        assert!(way.is_last(plan, points.len() - 1) && !way.is_last(plan, points.len() - 2), "{way:?}");
        assert_eq!(way.own_time(last.at), plan[plan.len() - 1].at, "{way:?}");
        let nearest = way.own_time(Duration::ZERO);
        let ahead = nearest - left.min(plan[plan.len() - 1].at);
        assert!(ahead <= LOOK.times(AHEAD.into()), "{ahead:?}, {way:?}");
        let closest = points.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
        let planned = plan.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
        assert!(closest >= planned.min(STEP), "{closest:?}, {way:?}");
        let stood = JointPositions(measured).zip_with(on(plan, nearest).positions.as_array(), |m, p| (m - p).abs());
        for pair in points.windows(2) {
            let leg = Leg::between(&pair[0], &pair[1]);
            assert!(leg.peak_velocities().max_abs() <= most.0 * 1.0001, "{leg:?}, {way:?}");
            assert!(leg.peak_accelerations().max_abs() <= most.1 * 1.01, "{leg:?}, {way:?}");
            let leg_seconds = (pair[1].at - pair[0].at).as_secs_f32();
            for part in 0..8 {
                let passed = (pair[1].at - pair[0].at).percent(part * 100 / 8);
                let (is, wanted) =
                    (leg.at(passed.as_secs_f32()).positions, on(plan, way.own_time(pair[0].at + passed)));
                let off = is.zip_with(wanted.positions.as_array(), |q, p| q - p);
                // A step is a cubic, whereas the plan may have a jump in acceleration.
                let bend = most.1 * (leg_seconds * leg_seconds) / 16.0 + 5e-4;
                let inside = off.iter().zip(stood.iter()).all(|(off, stood)| off.abs() <= stood + bend);
                assert!(inside, "{off:?} at {:?} + {passed:?}, {way:?}", pair[0].at);
                if pair[0].at >= way.lasts {
                    assert!(off.max_abs() < 1e-3, "{off:?} behind the lead-in, {way:?}");
                }
            }
        }
    }

    #[test]
    fn it_begins_at_rest_where_the_arm_stands_and_goes_on_along_the_plan() {
        for quintic in [false, true] {
            for legs in [2, 8, 40] {
                let plan = swing(legs, 4_000, quintic);
                for millis in [0, 10, 700, 1_000, 1_999, 2_000, 3_000, 3_700, 3_990, 4_000, 9_000] {
                    let left = Duration::from_millis(millis);
                    let planned = on(&plan, left).positions.0;
                    for off in [[0.0, 0.0], [0.09, -0.15], [-0.09, 0.0]] {
                        let measured = [planned[0] + off[0], planned[1] + off[1]];
                        let most = (1.2, 3.0);
                        let way =
                            Resumption::of(&plan, left, &JointPositions(measured), &TOLERANCES, held(most.0, most.1));
                        judge(&plan, left, measured, &way.unwrap(), most);
                    }
                }
            }
        }
    }

    #[test]
    fn an_arm_that_stands_too_far_off_is_not_led_back_and_one_without_a_tolerance_no_further_than_by_default() {
        let plan = swing(8, 4_000, false);
        let of = |millis, off: [f32; 2]| {
            let left = Duration::from_millis(millis);
            let planned = on(&plan, left).positions.0;
            let measured = JointPositions([planned[0] + off[0], planned[1] + off[1]]);
            Resumption::of(&plan, left, &measured, &TOLERANCES, |_| Ok(())).map(|way| way.left - left)
        };
        // Where the motion turns back, no later point of it is nearer.
        assert_eq!((of(2_000, [0.099, 0.0]), of(2_000, [0.0, 0.199])), (Ok(Duration::ZERO), Ok(Duration::ZERO)));
        for off in [[0.101, 0.0], [0.0, 0.201], [f32::NAN, 0.0], [0.0, f32::NAN]] {
            assert_eq!(of(2_000, off), Err(Reason::PathTolerance), "{off:?}");
        }
        assert_eq!(of(1_000, [-0.101, 0.0]), Err(Reason::PathTolerance), "behind it");
        // An arm 0.2 rad ahead on its path resumes the motion half a second later, or as much later as is searched.
        assert_eq!(of(1_000, [0.18, 0.09]).map(|ahead| ahead.as_millis() / 50), Ok(4));
        assert_eq!(of(700, [0.5, 0.25]), Err(Reason::PathTolerance), "further than is looked at");
    }

    #[test]
    fn the_lead_in_is_as_long_as_the_limits_want_it_and_the_rest_slower_only_where_no_lead_in_is_long_enough() {
        let plan = swing(40, 4_000, true);
        let (fastest, steepest) = (0.5 * core::f32::consts::FRAC_PI_2, 0.5 * core::f32::consts::FRAC_PI_2.powi(2));
        let left = Duration::from_millis(700);
        let measured = on(&plan, left).positions.map(|q| q + 0.05);
        let of = |speed, acceleration| Resumption::of(&plan, left, &measured, &TOLERANCES, held(speed, acceleration));
        let brief = of(9.0, 9.0).unwrap();
        let long = of(fastest * 1.01, steepest * 1.2).unwrap();
        assert_eq!((brief.slower, long.slower), (1, 1));
        assert!(brief.lasts < Duration::from_millis(700) && long.lasts > Duration::from_secs(1), "{brief:?} {long:?}");
        // A motion that is at its limits all the time, unlike the whole of this one.
        let slow = of(fastest * 0.8, steepest * 0.6).unwrap();
        assert_eq!(slow.slower, 2);
        assert_eq!(of(1e-4, 9.0), Err(Reason::VelocityLimit));
        let nowhere = Resumption::of(&plan, left, &measured, &TOLERANCES, |_| Err(Reason::PositionLimit));
        assert_eq!(nowhere, Err(Reason::PositionLimit));
    }

    #[test]
    fn no_plan_is_no_reason_to_panic() {
        let none = Resumption::of(&[], Duration::from_secs(1), &JointPositions([0.0; 2]), &TOLERANCES, |_| Ok(()));
        let _ = none.map(|way| (all(&way, &[]), way.fastest(&[]), way.is_last(&[], 0)));
    }

    proptest! {
        #[test]
        fn random_plans_are_gone_on_with_from_anywhere_within_their_limits(
            points in prop::collection::vec((60_u64..900, prop::array::uniform2(-0.4_f32..0.4), prop::array::uniform2(-0.5_f32..0.5),
                prop::option::of(prop::array::uniform2(-1.0_f32..1.0))), 1..8),
            share in 0.0_f32..1.1,
            off in prop::array::uniform2(-0.099_f32..0.099),
        ) {
            let mut plan = vec![way(0, [0.0; 2], [0.0; 2], None)];
            for (number, (span, q, v, a)) in points.iter().enumerate() {
                let v = if number + 1 == points.len() { [0.0; 2] } else { *v };
                plan.push(way(plan[number].at.as_millis() + span, *q, v, *a));
            }
            let (mut speed, mut acceleration) = (0.0_f32, 0.0_f32);
            for pair in plan.windows(2) {
                let leg = Leg::between(&pair[0], &pair[1]);
                speed = speed.max(leg.peak_velocities().max_abs());
                acceleration = acceleration.max(leg.peak_accelerations().max_abs());
            }
            // Uses the limits of the motion itself, but not less than an arm needs to move at all.
            let most = (speed.max(0.3), acceleration.max(1.0));
            let left = Duration::from_micros((plan[plan.len() - 1].at.as_micros() as f32 * share) as u64);
            let planned = on(&plan, left).positions.0;
            let measured = [planned[0] + off[0], planned[1] + off[1]];
            let way = Resumption::of(&plan, left, &JointPositions(measured), &TOLERANCES, held(most.0, most.1));
            prop_assert!(way.is_ok(), "{way:?}");
            let way = way.unwrap();
            judge(&plan, left, measured, &way, most);
        }
    }
}
