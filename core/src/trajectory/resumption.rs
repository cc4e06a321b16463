//! How a motion that was stopped is gone on with by a controller that makes it by itself: from rest beside its path, onto it, and on to
//! its end.
//!
//! | part | its waypoints |
//! |---|---|
//! | lead-in | every 50 ms or more: on the path, as fast as the time of the motion goes, and beside it by what the arm stood off, which fades out |
//! | the rest | those of the motion that are still to come, later by what the lead-in took; slower where it could not be led onto at full speed |
//!
//! While it came to rest the arm went on along its path: the motion is gone on with where it is nearest to the arm, from where it was
//! left up to half a second later. In the lead-in the time of the motion begins to go from rest, and reaches its pace where the path is reached. It lasts as long as
//! it has to for the limits to hold: 0.6, 1.2, 2.4 or 4.8 s, at full pace if that is possible with one of them, else at a half, a
//! fourth, an eighth. A motion that is left just before its end, or at it, is led to its end.

use super::{Leg, Setpoint, Tolerances, Waypoint};
use crate::robot::Reason;
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};
use outrigger_wire::time::{Duration, quotient, to_f32};

/// How long a lead-in may last, shortest first.
const RAMPS: [Duration; 4] = [
    Duration::from_millis(600),
    Duration::from_millis(1_200),
    Duration::from_millis(2_400),
    Duration::from_millis(4_800),
];
/// How many times slower than planned a motion may be gone on with.
const SLOWER: [u16; 4] = [1, 2, 4, 8];
/// Its waypoints are so far apart at least: a controller is given no closer ones.
const STEP: Duration = Duration::from_millis(50);
/// An arm that comes to rest is looked for so far ahead of where its motion was left, in steps of this size.
const AHEAD: u32 = 100;
const LOOK: Duration = Duration::from_millis(5);
/// Of a joint without a tolerance on its path \[rad\].
const WITHIN: f32 = 0.2;

/// The motion that goes on with another from where the arm stands: its waypoints, in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resumption<const N: usize> {
    /// Where the motion is gone on with, and where the lead-in reaches it, in the motion's own time.
    left: Duration,
    joins: Duration,
    /// How long the lead-in lasts.
    lasts: Duration,
    /// In so many steps.
    steps: u32,
    /// How many times slower than planned it goes on.
    slower: u16,
    /// The first waypoint of the motion behind the lead-in, from 0.
    next: usize,
    /// Measured minus planned, where it is gone on with.
    offset: JointPositions<N>,
}

impl<const N: usize> Resumption<N> {
    /// The way on with the motion through the waypoints of `plan`, `left` in its own time, from `measured` \[rad\], where the arm
    /// rests; `fits` says whether the arm can go a leg of it.
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] where a joint is further from where it is gone on with than its tolerance on the path, or than 0.2 rad
    /// where it has none; what `fits` says where no lead-in fits.
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
        // The joint that is off by most of its tolerance counts.
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

    /// With a lead-in of about this length.
    fn lasting(
        plan: &[Waypoint<N>],
        (left, end): (Duration, Duration),
        ramp: Duration,
        slower: u16,
        offset: JointPositions<N>,
    ) -> Self {
        let factor = u64::from(slower);
        // At a pace that rises as 2x − x², two thirds of the time of the lead-in are made.
        let (mut joins, mut lasts) = (left + part(ramp, 2, factor.saturating_mul(3)), ramp);
        // The next waypoint would be too close: it is reached by the lead-in.
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

    /// Its waypoint of this number, from 0, where the arm stands at rest; `None` behind the last. `plan` is the motion it was made
    /// for.
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
            // Between two waypoints with accelerations it goes on as it was planned: a quintic.
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

    /// Whether `number` is that of its last waypoint.
    #[must_use]
    pub const fn is_last(&self, plan: &[Waypoint<N>], number: usize) -> bool {
        let rest = plan.len().saturating_sub(self.next);
        number == (self.steps as usize).saturating_add(rest)
    }

    /// How much of the motion's own time has passed, so long after it was gone on with.
    #[must_use]
    pub fn own_time(&self, passed: Duration) -> Duration {
        if passed >= self.lasts {
            return self.joins + part(passed - self.lasts, 1, u64::from(self.slower));
        }
        let x = passed.as_secs_f32() / self.lasts.as_secs_f32();
        let made = to_f32((self.joins - self.left).as_micros()) * x * x * (1.5 - 0.5 * x);
        self.left + Duration::from_micros(made as u64)
    }

    /// The speed of the fastest joint in the lead-in \[rad/s\].
    #[must_use]
    pub fn fastest(&self, plan: &[Waypoint<N>]) -> f32 {
        let legs = (0..self.steps as usize).map_while(|step| {
            let (from, to) = (self.waypoint(plan, step)?, self.waypoint(plan, step.saturating_add(1))?);
            Some(Leg::between(&from, &to).peak_velocities().max_abs())
        });
        legs.fold(0.0, f32::max)
    }
}

/// So many of so many parts of it.
fn part(span: Duration, parts: u64, of: u64) -> Duration {
    Duration::from_micros(quotient(span.as_micros().saturating_mul(parts), of).unwrap_or_default())
}

/// The leg of `plan` that is under way at this time, and how much of it has passed \[s\].
fn leg<const N: usize>(plan: &[Waypoint<N>], at: Duration) -> Option<(Leg<N>, f32)> {
    let behind = plan.partition_point(|way| way.at <= at).min(plan.len().saturating_sub(1));
    let from = plan.get(behind.checked_sub(1)?)?;
    Some((Leg::between(from, plan.get(behind)?), (at - from.at).as_secs_f32()))
}

/// Where `plan` wants the joints at this time of its own, and how fast.
pub(super) fn on<const N: usize>(plan: &[Waypoint<N>], at: Duration) -> Setpoint<N> {
    let ends =
        plan.last().filter(|last| last.at <= at).or(plan.first()).map_or_else(Setpoint::default, |way| way.setpoint);
    leg(plan, at).filter(|_| plan.last().is_some_and(|last| at < last.at)).map_or(ends, |(leg, passed)| leg.at(passed))
}

/// The accelerations there, where it goes on by a quintic.
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

    /// A swing of one joint and back by a cosine, and half of it with the other.
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

    /// Against these limits of speed and acceleration.
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

    /// What holds of each of them.
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
                // A step is a cubic where the plan may have a bend.
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
        // Where it turns back, nothing of it is nearer.
        assert_eq!((of(2_000, [0.099, 0.0]), of(2_000, [0.0, 0.199])), (Ok(Duration::ZERO), Ok(Duration::ZERO)));
        for off in [[0.101, 0.0], [0.0, 0.201], [f32::NAN, 0.0], [0.0, f32::NAN]] {
            assert_eq!(of(2_000, off), Err(Reason::PathTolerance), "{off:?}");
        }
        assert_eq!(of(1_000, [-0.101, 0.0]), Err(Reason::PathTolerance), "behind it");
        // 0.2 rad ahead on the same way it is the motion half a second later, or as much of it as is looked at.
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
        // A way that is at its limits all the time, as the whole of this one is nowhere.
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
            // At the limits that it has itself, and no slower than an arm that goes anywhere.
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
