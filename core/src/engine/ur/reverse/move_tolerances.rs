//! The tolerances of a move along waypoints, in its own time: compares its target and the measured joints with the plan
//! at the place that the program reports, and with the goal after its end.
//!
//! The report may be three cycles old, and the arm is some cycles behind. The error of a joint is its distance from the
//! range of planned positions within three cycles of the reported place.

use super::segment_queue::SegmentQueue;
use crate::robot::Reason;
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::robot::{ControllerTime, State};
use outrigger_wire::time::Duration;

/// The highest age of the program's report of its place on the plan, which the comparison with the plan allows for
/// \[cycles\].
const OLD: u64 = 3;

/// The tolerances of a move along waypoints, and how well it keeps them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Tolerated {
    watch: Watch<6>,
    /// The move's own time that it could have covered since it started \[ns\], and the controller's time of its
    /// newest state.
    passed: Option<(u64, ControllerTime)>,
}

impl Tolerated {
    /// Creates the supervision of a move's tolerances, before it has started.
    pub(super) const fn new(tolerances: Tolerances<6>) -> Self {
        Self { watch: Watch::new(tolerances), passed: None }
    }

    pub(super) const fn watch(&self) -> &Watch<6> {
        &self.watch
    }

    /// Takes a state while the program reports `elapsed` µs of the move along `legs`, of which `could` µs can have
    /// passed since it started, in cycles of `period`. While it is `paused`, its time does not count.
    ///
    /// # Errors
    /// The tolerance that is violated.
    pub(super) fn observe(
        &mut self,
        legs: &SegmentQueue,
        [elapsed, could]: [u64; 2],
        period: Duration,
        state: &State<6>,
        paused: bool,
    ) -> Result<(), Reason> {
        let late = period.times(OLD);
        for positions in [&state.positions, &state.target_positions] {
            self.watch.allows(&legs.off(elapsed, late, positions).ok_or(Reason::Internal)?)?;
        }
        let Some(whole) = legs.whole() else { return Ok(()) };
        let scaling = if paused { 0.0 } else { state.scaling() };
        let (passed, at) = self.passed.unwrap_or((could.saturating_mul(1_000), state.controller_time));
        let dt = state.controller_time.since(at);
        let nanos = (dt.as_secs_f32().min(1.0) * scaling * 1e9) as u32;
        let passed = passed.saturating_add(u64::from(nanos));
        if elapsed > 0 {
            self.passed = Some((passed, state.controller_time));
        }
        let (ends, overdue) = (whole.as_micros(), passed > (whole + late).as_micros().saturating_mul(1_000));
        let goal = legs.planned(ends).ok_or(Reason::Internal)?;
        let error = state.positions.zip_with(goal.as_array(), |q, goal| q - goal);
        if elapsed >= ends {
            self.watch.observe_goal(&error, dt, scaling)
        } else if overdue {
            // The move has not reported its end: the arm may be near its goal, but the move is not over.
            self.watch.is_late(dt, scaling)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::{Setpoint, Waypoint};
    use outrigger_wire::robot::{JointPositions, JointVelocities};

    const PERIOD: Duration = Duration::from_millis(8);
    const TOLERANCES: Tolerances<6> = Tolerances {
        path: JointPositions([0.02; 6]),
        goal: JointPositions([0.01; 6]),
        goal_time: Some(Duration::from_millis(100)),
    };

    /// Returns legs from 0 to 1 rad with each joint in 2 s.
    fn legs() -> SegmentQueue {
        let mut legs = SegmentQueue::default();
        legs.begin(JointPositions::ZERO);
        let setpoint = Setpoint { positions: JointPositions([1.0; 6]), velocities: JointVelocities::ZERO };
        legs.put(&Waypoint { setpoint, accelerations: None, at: Duration::from_secs(2) }, true);
        legs
    }

    fn state(cycle: u64, measured: f32, target: f32, scaling: f32) -> State<6> {
        State {
            controller_time: ControllerTime::from_micros(PERIOD.times(cycle).as_micros()),
            positions: JointPositions([measured; 6]),
            target_positions: JointPositions([target; 6]),
            speed_scaling: Some(scaling),
            ..State::default()
        }
    }

    #[test]
    fn measured_joints_and_targets_are_held_to_where_the_plan_may_be_by_now() {
        let legs = legs();
        // In the middle: 0.5 rad, at 0.75 rad/s; 18 mrad in three cycles.
        let judged = |measured, target| {
            let mut tolerated = Tolerated::new(TOLERANCES);
            tolerated.observe(&legs, [1_000_000; 2], PERIOD, &state(1, measured, target, 1.0), false)
        };
        for (measured, target) in [(0.5, 0.5), (0.463, 0.5), (0.5, 0.537), (0.537, 0.463)] {
            assert_eq!(judged(measured, target), Ok(()), "{measured} {target}");
        }
        for (measured, target) in [(0.46, 0.5), (0.5, 0.54), (0.5, 0.46), (f32::NAN, 0.5), (0.5, f32::NAN)] {
            assert_eq!(judged(measured, target), Err(Reason::PathTolerance), "{measured} {target}");
        }
    }

    /// Returns the number of cycles until the move violates a tolerance, with the program at `elapsed` µs and the arm
    /// at `measured` all the time.
    fn lasts(elapsed: u64, measured: f32, scaling: f32, paused: bool) -> Option<u64> {
        let (legs, mut tolerated) = (legs(), Tolerated::new(TOLERANCES));
        (0..2_000).find(|cycle| {
            let state = state(*cycle, measured, measured, scaling);
            tolerated.observe(&legs, [elapsed; 2], PERIOD, &state, paused) == Err(Reason::GoalTolerance)
        })
    }

    #[test]
    fn what_is_late_after_its_end_or_does_not_come_to_it_ends_by_its_own_time() {
        assert!(lasts(2_000_000, 0.985, 1.0, false).is_some_and(|cycles| cycles.abs_diff(13) <= 1));
        assert!(lasts(2_000_000, 0.985, 0.5, false).is_some_and(|cycles| cycles.abs_diff(26) <= 1));
        assert_eq!(lasts(2_000_000, 0.985, 0.0, false), None);
        assert_eq!(lasts(2_000_000, 0.985, 1.0, true), None, "paused");
        assert_eq!(lasts(2_000_000, 0.995, 1.0, false), None, "it is there");
        // The program stays at 1.95 s: 50 ms, three cycles and the permitted time.
        assert!(lasts(1_950_000, 0.998, 1.0, false).is_some_and(|cycles| cycles.abs_diff(22) <= 1));
        assert_eq!(lasts(0, 0.0, 1.0, false), None, "it has not gone on its way");
        // A move that is a second behind its possible time does not get that second again.
        let mut behind = Tolerated::new(TOLERANCES);
        let judged =
            |cycle| behind.observe(&legs(), [1_500_000, 2_500_000], PERIOD, &state(cycle, 0.844, 0.844, 1.0), false);
        assert!((0..50).map(judged).position(|judged| judged.is_err()).is_some_and(|cycles| cycles.abs_diff(13) <= 1));
    }
}
