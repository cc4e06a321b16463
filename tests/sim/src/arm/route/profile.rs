//! The speed profile of a move: the distance that it has covered, as a function of time.

/// The speed of a move over time: a trapezoid, or a triangle if the path is too short, from rest to rest; or a ramp
/// from the present speed to rest, for a move that only brakes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Profile {
    /// Length of the path of the move.
    length: f64,
    /// Highest speed that the move reaches along its path.
    speed: f64,
    /// Durations of acceleration and of deceleration \[s\]; the first is 0 for a move that only brakes.
    ramps: [f64; 2],
    duration: f64,
}

/// The share of the acceleration in the time of a move with a given duration. The move accelerates for a third of it,
/// keeps its speed for a third and decelerates for a third. Assumed.
const RAMP_SHARE: f64 = 1.0 / 3.0;

impl Profile {
    /// Returns the speed profile of a move along a path of this `length`, with this highest speed and acceleration, in
    /// the unit of `length`.
    pub(super) fn of_speed(length: f64, speed: f64, acceleration: f64) -> Self {
        let speed = speed.min((length * acceleration).sqrt());
        if speed <= 0.0 {
            return Self { length, speed: 0.0, ramps: [0.0; 2], duration: 0.0 };
        }
        let ramp = speed / acceleration;
        Self { length, speed, ramps: [ramp; 2], duration: length / speed + ramp }
    }

    /// Returns the speed profile of a move along a path of this `length` that takes `duration` \[s\].
    pub(super) fn of_time(length: f64, duration: f64) -> Self {
        let ramp = duration * RAMP_SHARE;
        Self { length, speed: length / (duration - ramp), ramps: [ramp; 2], duration }
    }

    /// Returns the speed profile of a move that only brakes, from `speed` to rest.
    pub(super) fn braking(speed: f64, deceleration: f64) -> Self {
        let ramp = speed / deceleration;
        Self { length: 0.5 * speed * ramp, speed, ramps: [0.0, ramp], duration: ramp }
    }

    pub(super) fn duration(&self) -> f64 {
        self.duration
    }

    pub(super) fn length(&self) -> f64 {
        self.length
    }

    /// Returns the distance along the move's path that is covered `time` \[s\] after the beginning of the move.
    pub(super) fn covered(&self, time: f64) -> f64 {
        if time >= self.duration {
            return self.length;
        }
        let [up, down] = self.ramps;
        let left = self.duration - time;
        if time < up {
            0.5 * self.speed * time * time / up
        } else if left < down {
            self.length - 0.5 * self.speed * left * left / down
        } else {
            self.speed * (time - 0.5 * up)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn a_long_way_has_a_middle_at_full_speed_and_a_short_one_has_none() {
        let long = Profile::of_speed(2.0, 0.5, 1.0);
        near(long.duration(), 4.5);
        near(long.covered(0.5), 0.125);
        near(long.covered(2.0), 0.875);
        near(long.covered(4.5), 2.0);
        let short = Profile::of_speed(0.01, 0.5, 1.0);
        near(short.duration(), 0.2);
        near(short.covered(0.1), 0.005);
    }

    #[test]
    fn a_time_that_is_given_is_kept() {
        let profile = Profile::of_time(1.0, 3.0);
        near(profile.duration(), 3.0);
        near(profile.covered(1.5), 0.5);
        near(profile.covered(3.0), 1.0);
    }

    #[test]
    fn braking_covers_half_of_what_the_speed_would() {
        let profile = Profile::braking(1.0, 4.0);
        near(profile.duration(), 0.25);
        near(profile.length(), 0.125);
        near(profile.covered(0.125), 0.093_75);
    }

    #[test]
    fn no_way_takes_no_time() {
        near(Profile::of_speed(0.0, 0.5, 1.0).duration(), 0.0);
        near(Profile::of_speed(0.0, 0.5, 1.0).covered(0.0), 0.0);
    }
}
