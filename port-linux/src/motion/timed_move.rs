//! Moves to one goal in a given time, like UR's `movej` with `t`.
//!
//! A law follows a cubic of that duration. The controller's own motion is given the speed and the acceleration that
//! result in it.

use outrigger_core::command::Limits;
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

use super::controller_move::MoveRequest;

/// The longest duration of a move \[s\], as for motions from files.
const LONGEST: f64 = 86_400.0;
/// The lowest speed of a move in a given time \[rad/s\]. At lower speeds the resolution of the sent numbers, a
/// millionth, would be noticeable.
const SLOWEST: f64 = 1e-4;
/// The lowest acceleration of a move that has to take a given time \[rad/s²\].
const GENTLEST: f64 = 1e-5;
/// The usual acceleration of a move in a given time, if it does not need more \[rad/s²\].
const RAMP: f64 = 0.8;

/// Parses the requested duration of a move \[s\].
///
/// # Errors
/// Returns a description of what was expected.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= LONGEST);
    let number = number.ok_or_else(|| format!("expected a number above 0 and at most {LONGEST}, found '{text}'"))?;
    Ok(Duration::from_micros((number * 1e6).round() as u64))
}

impl<const N: usize> MoveRequest<N> {
    /// Sets the requested duration of the move at full speed. `None` leaves it to the requested speed and acceleration.
    #[must_use]
    pub const fn lasting(self, time: Option<Duration>) -> Self {
        Self { time, ..self }
    }

    /// Checks that the arm can move from `from` to the goal in the requested [time](Self::time).
    ///
    /// # Errors
    /// Returns the shortest or the longest possible time of the move, as text for people.
    pub(crate) fn check_time(&self, from: &JointPositions<N>, limits: &Limits<N>) -> Result<(), String> {
        let (Some(time), Some(destination)) = (self.time, self.target.known()) else { return Ok(()) };
        let way = destination.joints.zip_with(from.as_array(), |to, from| (to - from).abs());
        let (time, longest) = (time.as_secs_f64(), f64::from(way.max_abs()));
        let most = limits.velocity.iter().zip(limits.acceleration.iter());
        // The minimum for the cubic from rest to rest. It is a little longer than that of ramps with a constant speed
        // between them.
        let least = way.iter().zip(most).map(|(way, (fastest, steepest))| {
            let [way, fastest, steepest] = [way, fastest, steepest].map(f64::from);
            (1.5 * way / fastest).max((6.0 * way / steepest).sqrt())
        });
        let least = least.fold(0.0, f64::max);
        if time < least {
            let least = (least * 1e3).ceil() / 1e3;
            return Err(format!("time: expected at least {least:.3} s, by the limits, found {time:.3} s"));
        }
        let slowest = longest / SLOWEST;
        if time > slowest {
            return Err(format!("time: expected at most {slowest:.3} s for so short a distance, found {time:.3} s"));
        }
        Ok(())
    }

    /// Returns the speed and acceleration with which the controller's own motion takes the requested time, if the
    /// longest way of a joint is `longest` \[rad\]. Without a requested time, returns the requested speed and
    /// acceleration.
    pub(super) fn pace(&self, longest: f32) -> [f32; 2] {
        let Some(time) = self.time else { return [self.speed, self.acceleration] };
        let (time, way) = (time.as_secs_f64(), f64::from(longest));
        // Each ramp takes a quarter of the time, or less if the acceleration permits.
        let steepest = (16.0 * way / (3.0 * time * time)).max(RAMP);
        let speed = 2.0 * way / (time + (time * time - 4.0 * way / steepest).max(0.0).sqrt());
        // Orders contain whole millionths. The speed is rounded up, and longer ramps compensate for it.
        let speed = (speed * 1e6).ceil() / 1e6;
        let acceleration = (speed / (time - way / speed).max(1e-6)).max(GENTLEST);
        [speed as f32, acceleration as f32]
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::MoveTarget;
    use outrigger_wire::robot::Pose;

    use super::*;
    use crate::motion::requested_motion::{
        ArmMotionState, MotionExecutor, MotionRequest, Moving, PreparedExecution, Ready, RejectedMotions, ready,
    };

    const GOAL: JointPositions<6> = JointPositions([0.3, 0.0, 0.0, 0.0, 0.0, 0.0]);

    #[test]
    fn a_move_in_a_given_time_takes_it_to_a_millisecond_within_the_limits_or_is_refused_with_the_least() {
        let limits = Limits::<6>::default();
        let asked =
            |to: MoveTarget<6>, millis| MoveRequest::new(to, None, None).lasting(Some(Duration::from_millis(millis)));
        for way in [0.01_f32, 0.3, 1.5, 6.0] {
            let to = MoveTarget::joints(JointPositions([way, 0.0, 0.0, 0.0, 0.0, -0.5 * way]));
            let refused = asked(to, 1).check_time(&JointPositions::ZERO, &limits).expect_err("too soon");
            let least = refused.strip_prefix("time: expected at least ").and_then(|said| {
                said.split_once(
                    " s, by the \
                    limits",
                )
            });
            let (least, found) = least.unwrap_or_else(|| panic!("{refused}"));
            assert!(found.ends_with("found 0.001 s"), "{refused}");
            let least = (least.parse::<f64>().expect("a number") * 1e3).round() as u64;
            assert!(
                asked(to, least - 1).check_time(&JointPositions::ZERO, &limits).is_err(),
                "{way} rad in {least} ms"
            );
            for millis in [least, least + 7, 2 * least, 10 * least, 40 * least] {
                let asked = asked(to, millis);
                assert_eq!(asked.check_time(&JointPositions::ZERO, &limits), Ok(()), "{way} rad in {millis} ms");
                let [speed, acceleration] = asked.pace(way);
                // The result is within the governor's limits, and has the values that the controller receives.
                assert!(speed <= limits.velocity.0[0] && acceleration <= limits.acceleration.0[0].max(0.8));
                let [v, a] = [speed, acceleration].map(|value| (f64::from(value) * 1e6).round() / 1e6);
                let takes = f64::from(way) / v + v / a;
                assert!(f64::from(way) >= v * v / a * 0.999, "it reaches its speed: {way} rad in {millis} ms");
                let off = (takes * 1e3 - millis as f64).abs();
                assert!(off < 1.0, "{way} rad in {millis} ms take {takes} s");
            }
        }
        let slow = asked(MoveTarget::joints(GOAL), 3_001_000).check_time(&JointPositions::ZERO, &limits);
        assert_eq!(slow.unwrap_err(), "time: expected at most 3000.000 s for so short a distance, found 3001.000 s");
        for target in [MoveTarget::joints(GOAL).linear(), MoveTarget::pose(Pose::default())] {
            let refused = asked(target, 1_000).check(&limits).expect_err("its length is not known");
            assert!(refused.starts_with("time: expected only with q="), "{refused}");
        }
        assert_eq!(asked(MoveTarget::joints(GOAL), 1_000).check(&limits), Ok(()));
    }

    #[test]
    fn a_time_is_a_number_of_seconds_without_a_speed_beside_it() {
        for (words, expected) in [
            ("time=0", "time: expected a number above 0 and at most 86400, found '0'"),
            ("time=86401", "time: expected a number above 0 and at most 86400, found '86401'"),
            ("time=inf", "time: expected a number above 0 and at most 86400, found 'inf'"),
            ("time=nan", "time: expected a number above 0 and at most 86400, found 'nan'"),
            ("time=2s", "time: expected a number above 0 and at most 86400, found '2s'"),
            ("time=2 speed=1", "time: expected no speed= and no acceleration= with it"),
            ("time=2 acceleration=1", "time: expected no speed= and no acceleration= with it"),
        ] {
            assert_eq!(MotionRequest::<6>::of(&format!("q=0,0,0,0,0,0 {words}")), Err(expected.into()));
        }
    }

    #[test]
    fn a_law_follows_a_cubic_of_the_time_that_is_asked_for_and_a_controller_gets_it_too() {
        let stands = ArmMotionState::<6> { at: Some(JointPositions::ZERO), ..ArmMotionState::default() };
        for by in [MotionExecutor::Law, MotionExecutor::Controller] {
            let moving = Moving { limits: Limits::default(), by, refuses: RejectedMotions::default() };
            let wish = |words: &str| MotionRequest::of(&format!("q=0.6,0,0,0,0,-0.3 {words}"));
            let of = |words: &str| wish(words).and_then(|wish| ready(wish, &moving, &stands));
            // The limits are 1 rad/s and 2 rad/s²: √(6·0.6/2) s.
            let soon = of("time=1.341").expect_err("no joint gains speed like that");
            assert_eq!(soon, "time: expected at least 1.342 s, by the limits, found 1.341 s");
            for (words, micros) in [("time=1.342", 1_342_000), ("time=7.0005", 7_000_500)] {
                let Ready { how, whole, .. } = of(words).expect("it can be made");
                assert_eq!(whole, Duration::from_micros(micros), "{by:?} {words}");
                match (by, how) {
                    (MotionExecutor::Law, PreparedExecution::Follow { waypoints, .. }) => {
                        assert_eq!(waypoints[0].at, whole, "{words}");
                    }
                    (MotionExecutor::Controller, PreparedExecution::Give { .. }) => {}
                    (_, how) => panic!("{by:?} {words}: {how:?}"),
                }
            }
            let line = of("linear time=2").expect_err("its length is not known");
            assert!(line.starts_with("time: expected only with q="), "{line}");
        }
    }
}
