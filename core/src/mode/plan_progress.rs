//! The progress of an arm along its plan, for a controller that does not report it. It is derived from the elapsed
//! time, scaled by the robot's speed scaling, and from the place on the plan that is nearest to the controller's
//! target.
//!
//! | | |
//! |---|---|
//! | elapsed | grows by the time between two states times the speed scaling: the farthest that the arm can be. While the scaling falls, the arm slows down later than the scaling: elapsed is then as far as the target is seen to be |
//! | reached | the place on the plan, near the previous one and not beyond elapsed, that is nearest to the target |
//! | late | elapsed, limited to the end of the plan, minus reached: the time that the order took on its way, and the time that the controller has lost |

use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

/// The difference in distance below which two places on the plan are equally near \[rad\]. The later one counts then:
/// where the plan rests, time continues.
const SAME: f32 = 1e-4;
/// The places on the plan that are compared with the target, in periods around the expected one.
const AROUND: [i64; 7] = [-3, -2, -1, 0, 1, 2, 3];

/// The progress of an arm along a plan, in the plan's own time, which the robot's speed scaling slows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanProgress {
    /// The largest time of the plan that can have elapsed \[µs\].
    elapsed: u64,
    /// The place on the plan that the arm has reached, as a plan time \[µs\].
    reached: u64,
}

impl PlanProgress {
    /// The state at the beginning of the plan: no time has elapsed.
    pub const NOT_BEGUN: Self = Self { elapsed: 0, reached: 0 };

    /// Takes the newest state, with the controller's `target` \[rad\]. `passed` is the plan's time since the state
    /// before according to the speed scaling, and `at_most` its highest value while the scaling falls. `plan` returns
    /// the joint positions at a time of the plan \[µs\], whose end is `end` \[µs\]. States arrive once in a `period`.
    ///
    /// Returns the distance of the target from the place that was reached, the largest of all joints \[rad\]; infinite
    /// if there is no plan, or for NaN.
    pub fn observe<const N: usize>(
        &mut self,
        target: &JointPositions<N>,
        [passed, at_most]: [Duration; 2],
        period: Duration,
        end: u64,
        plan: impl Fn(u64) -> Option<JointPositions<N>>,
    ) -> f32 {
        self.elapsed = self.elapsed.saturating_add(passed.as_micros());
        let expected = self.reached.saturating_add(passed.as_micros());
        // A state is at most one period older than the elapsed time.
        let falls = at_most.as_micros().saturating_sub(passed.as_micros());
        let most = self.elapsed.saturating_add(period.as_micros()).saturating_add(falls).min(end);
        let mut nearest = f32::INFINITY;
        for step in AROUND {
            let way = period.as_micros().saturating_mul(step.unsigned_abs());
            let at = if step < 0 { expected.saturating_sub(way) } else { expected.saturating_add(way) }.min(most);
            let Some(planned) = plan(at) else { return f32::INFINITY };
            let off = target.zip_with(planned.as_array(), |at, planned| at - planned).max_abs();
            if off <= nearest + SAME {
                self.reached = at;
                nearest = nearest.min(off);
            }
        }
        self.elapsed = self.elapsed.max(self.reached.saturating_sub(period.as_micros()));
        nearest
    }

    /// Returns the place on the plan that the arm has reached, as a time of the plan \[µs\].
    #[must_use]
    pub const fn reached(&self) -> u64 {
        self.reached
    }

    /// Returns the largest time of the plan that can have elapsed \[µs\].
    #[must_use]
    pub const fn elapsed(&self) -> u64 {
        self.elapsed
    }

    /// Records that the arm reached the end of the plan, at the plan time `end` \[µs\].
    pub const fn arrive(&mut self, end: u64) {
        self.reached = end;
    }

    /// Returns how far the arm is behind the elapsed time of the plan, in the plan's own time, which the robot's speed
    /// scaling slows; `end` is the end of the plan \[µs\].
    #[must_use]
    pub fn late(&self, end: u64) -> Duration {
        Duration::from_micros(self.elapsed.min(end).saturating_sub(self.reached))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(8);
    const END: u64 = 4_000_000;

    /// Returns the test plan's joint angles at the time `at` \[µs\]: 0.5 s of rest, 2 s away, 0.5 s of rest, 1 s back.
    fn plan(at: u64) -> Option<JointPositions<2>> {
        let t = at as f32 * 1e-6;
        let away = (t - 0.5).clamp(0.0, 2.0) - 2.0 * (t - 3.0).clamp(0.0, 1.0);
        Some(JointPositions([0.5 * away, -away]))
    }

    /// Simulates an arm that follows the test's plan `behind` \[µs\] late, slowed by `scaling`. Returns the largest
    /// distance of its target from the plan, the largest delay that the tested [`PlanProgress`] shows, and that
    /// progress at the end.
    fn follow(behind: u64, scaling: f32) -> (f32, Duration, PlanProgress) {
        let mut pursuit = PlanProgress::NOT_BEGUN;
        let passed = Duration::from_micros((PERIOD.as_micros() as f32 * scaling) as u64);
        let (mut worst, mut at, mut late) = (0.0_f32, 0, Duration::ZERO);
        while at < END + behind {
            at += passed.as_micros();
            let target = plan(at.saturating_sub(behind).min(END)).unwrap();
            worst = worst.max(pursuit.observe(&target, [passed; 2], PERIOD, END, plan));
            if plan(at) != plan(at + 50_000) && at > behind + 1_000_000 && at < 2_000_000 {
                late = late.max(pursuit.late(END));
            }
        }
        (worst, late, pursuit)
    }

    #[test]
    fn an_arm_that_is_late_is_found_where_it_is_and_by_how_much() {
        for scaling in [1.0, 0.3] {
            for behind in [0, 24_000, 120_000, 400_000] {
                let (worst, late, pursuit) = follow(behind, scaling);
                assert!(worst < 5e-3, "{behind} {scaling}: {worst}");
                assert!(late.as_micros().abs_diff(behind) <= 10_000, "{behind} {scaling}: {late:?}");
                assert!(END - pursuit.reached() <= 10_000, "{behind} {scaling}: {pursuit:?}");
            }
        }
    }

    #[test]
    fn an_arm_that_stands_or_strays_is_not_where_it_is_to_be() {
        let mut stands = PlanProgress::NOT_BEGUN;
        let here = JointPositions([0.0, 0.0]);
        for _ in 0..100 {
            stands.observe(&here, [PERIOD; 2], PERIOD, END, plan);
        }
        assert!(stands.late(END) > Duration::from_millis(200), "{stands:?}");
        assert!(stands.late(END) < Duration::from_millis(350), "it rests for half a second: {stands:?}");
        let mut strays = PlanProgress::NOT_BEGUN;
        assert!(strays.observe(&JointPositions([0.0, 0.1]), [PERIOD; 2], PERIOD, END, plan) > 0.09);
        assert!(strays.observe(&JointPositions([0.0, f32::NAN]), [PERIOD; 2], PERIOD, END, plan).is_infinite());
        assert!(strays.observe(&here, [PERIOD; 2], PERIOD, END, |_| None).is_infinite());
    }

    /// The scaling drops to 0 at once and the arm needs a quarter of a second to rest, repeatedly.
    #[test]
    fn an_arm_that_slows_down_later_than_the_scaling_is_followed_and_is_not_late() {
        let mut pursuit = PlanProgress::NOT_BEGUN;
        let (mut at, mut worst) = (500_000.0_f32, 0.0_f32);
        for _ in 0..63 {
            pursuit.observe(&plan(0).unwrap(), [PERIOD; 2], PERIOD, END, plan);
        }
        for cycle in 0..200_u32 {
            let stopping = cycle % 50 >= 25;
            let still = if stopping { 1.0 - (cycle % 25) as f32 / 25.0 } else { 1.0 };
            at += 8_000.0 * still;
            let share = |share: f32| Duration::from_micros((8_000.0 * share) as u64);
            let passed = if stopping { [Duration::ZERO, share(still)] } else { [PERIOD; 2] };
            worst = worst.max(pursuit.observe(&plan(at as u64).unwrap(), passed, PERIOD, END, plan));
        }
        assert!(worst < 5e-3 && pursuit.late(END) < Duration::from_millis(30), "{worst} {pursuit:?}");
    }

    #[test]
    fn nothing_is_reached_before_its_time() {
        let mut early = PlanProgress::NOT_BEGUN;
        let off = (0..50).map(|i| early.observe(&plan(500_000 + i * 16_000).unwrap(), [PERIOD; 2], PERIOD, END, plan));
        assert!(off.fold(0.0, f32::max) > 0.1, "{early:?}");
        assert_eq!(early.late(END), Duration::ZERO);
        assert_eq!(early.elapsed(), 400_000);
    }
}
