//! The simulated drives of the joints: actual positions follow the targets late, smoothed and with a small error.

use std::collections::VecDeque;
use std::time::Duration;

use crate::rng::Rng;

/// The differences between the simulated joint drives and ideal ones: delay and error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Number of control cycles between a joint target and the first movement that it causes.
    pub latency_cycles: usize,
    /// Time constant of the first-order lag with which a joint follows its target.
    pub lag: Duration,
    /// Relative error of the joint speed, per joint with a sign drawn from the seed: 0.005 is 0.5 %. The position
    /// error that it causes during a velocity-controlled move stays; position-controlled moves correct it, also after
    /// their end.
    pub velocity_error: f64,
}

impl Drive {
    /// Drives whose joints follow the controller's targets exactly, in the same cycle.
    pub const IDEAL: Self = Self { latency_cycles: 0, lag: Duration::ZERO, velocity_error: 0.0 };
}

impl Default for Drive {
    /// Returns drives with one cycle of latency, 10 ms of lag and 0.5 % velocity error.
    fn default() -> Self {
        Self { latency_cycles: 1, lag: Duration::from_millis(10), velocity_error: 0.005 }
    }
}

impl std::fmt::Display for Drive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::IDEAL {
            return write!(f, "ideal drive");
        }
        let Self { latency_cycles, lag, velocity_error } = self;
        let lag_ms = lag.as_secs_f64() * 1e3;
        let percent = velocity_error * 100.0;
        write!(f, "drive: {latency_cycles} cycle(s) latency, {lag_ms} ms lag, {percent} % velocity error")
    }
}

/// Gain with which a drive corrects the joint's position error while a position is commanded \[1/s\].
const POSITION_GAIN: f64 = 20.0;
/// The distance \[rad\] and the speed \[rad/s\] below which a joint counts as being at rest at a position target.
const REACHED: f64 = 1e-5;
/// The speed below which a joint with a zero velocity target counts as being at rest \[rad/s\].
const STANDING: f64 = 1e-7;

/// The joint drives of one arm, with their state.
#[derive(Clone, Debug)]
pub(super) struct Motors {
    on_the_way: VecDeque<[f64; 6]>,
    factor: [f64; 6],
    smoothing: f64,
    /// Actual joint speeds of the arm \[rad/s\].
    pub(super) qd: [f64; 6],
}

impl Motors {
    pub(super) fn new(drive: &Drive, dt: f64, rng: &mut Rng) -> Self {
        let lag = drive.lag.as_secs_f64();
        Self {
            on_the_way: VecDeque::from(vec![[0.0; 6]; drive.latency_cycles]),
            factor: std::array::from_fn(|_| {
                let sign = if rng.up_to(1) == 0 { -1.0 } else { 1.0 };
                1.0 + sign * drive.velocity_error
            }),
            smoothing: if lag > 0.0 { 1.0 - (-dt / lag).exp() } else { 1.0 },
            qd: [0.0; 6],
        }
    }

    /// Executes one control cycle of the drives: updates the joint positions `q` \[rad\] for the velocity targets
    /// `qd_target` \[rad/s\]. If `hold` has a position target, the drives also correct towards it.
    pub(super) fn step(&mut self, q: &mut [f64; 6], qd_target: [f64; 6], hold: Option<&[f64; 6]>, dt: f64) {
        self.on_the_way.push_back(qd_target);
        let asked = self.on_the_way.pop_front().unwrap_or(qd_target);
        for joint in 0..6 {
            let mut wanted = asked[joint] * self.factor[joint];
            if let Some(position) = hold {
                wanted += POSITION_GAIN * (position[joint] - q[joint]);
            }
            let before = self.qd[joint];
            self.qd[joint] += (wanted - before) * self.smoothing;
            if wanted == 0.0 && self.qd[joint].abs() < STANDING {
                self.qd[joint] = 0.0;
            }
            q[joint] += 0.5 * (before + self.qd[joint]) * dt;
            if let Some(position) = hold
                && asked[joint] == 0.0
                && (position[joint] - q[joint]).abs() < REACHED
                && self.qd[joint].abs() < REACHED
            {
                (q[joint], self.qd[joint]) = (position[joint], 0.0);
            }
        }
    }

    /// Closes the brakes: no joint moves, and targets that the drives have not executed yet have no effect.
    pub(super) fn block(&mut self) {
        self.on_the_way.iter_mut().for_each(|asked| *asked = [0.0; 6]);
        self.qd = [0.0; 6];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ideal_drive_moves_exactly_as_asked() {
        let mut motors = Motors::new(&Drive::IDEAL, 0.002, &mut Rng::new(1, 0));
        let mut q = [0.0; 6];
        motors.step(&mut q, [0.3; 6], None, 0.002);
        assert_eq!(motors.qd, [0.3; 6]);
    }

    #[test]
    fn the_default_drive_starts_a_cycle_late_lags_and_ends_half_a_percent_off() {
        let dt = 0.008;
        let mut motors = Motors::new(&Drive::default(), dt, &mut Rng::new(1, 0));
        let mut q = [0.0; 6];
        motors.step(&mut q, [1.0; 6], None, dt);
        assert_eq!(motors.qd, [0.0; 6], "latency");
        motors.step(&mut q, [1.0; 6], None, dt);
        assert!(motors.qd.iter().all(|v| (0.5..0.6).contains(v)), "one cycle of a 10 ms lag: {:?}", motors.qd);
        (0..100).for_each(|_| motors.step(&mut q, [1.0; 6], None, dt));
        assert!(motors.qd.iter().all(|v| ((v - 1.0).abs() - 0.005).abs() < 1e-9), "{:?}", motors.qd);
    }
}
