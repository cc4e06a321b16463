//! The worst-case stopping distance of the arm after a fault.

use crate::command::Limits;
use outrigger_wire::time::Duration;

/// The farthest distance that the arm travels after a fault: v·t + v·T/2 for each joint, with its speed v, the time t
/// until the stop begins, and the braking time T of the joint that takes the longest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coast<const N: usize> {
    /// The travel of each joint from a fault to standstill \[rad\].
    pub joints: [f32; N],
}

impl<const N: usize> Coast<N> {
    /// Computes the distance for an arm within `limits` that continues for `time` after the fault and is then stopped
    /// at `deceleration` \[rad/s²\], or at the limits' own braking if that is lower.
    #[must_use]
    pub fn of(limits: &Limits<N>, time: Duration, deceleration: f32) -> Self {
        Self { joints: limits.farthest(time, deceleration) }
    }

    /// Returns the farthest that a point of the arm travels \[m\]. `reach` is its greatest distance from each joint's
    /// axis \[m\]. The result assumes that all joints coast at once, in the directions that add up.
    #[must_use]
    pub fn at_reach(&self, reach: &[f32; N]) -> f32 {
        self.joints.iter().zip(reach).map(|(joint, reach)| joint * reach).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::{JointAccelerations, JointVelocities};

    #[test]
    fn coast_is_reaction_and_braking() {
        let limits = Limits::<2> {
            velocity: JointVelocities([1.0, 2.0]),
            braking: JointAccelerations([2.0, 4.0]),
            ..Limits::default()
        };
        let time = Duration::from_millis(100);
        let coast = Coast::of(&limits, time, 10.0);
        // Both brake for 0.5 s: 1·(0.1 + 0.25) and 2·(0.1 + 0.25).
        assert!((coast.joints[0] - 0.35).abs() < 1e-6 && (coast.joints[1] - 0.7).abs() < 1e-6);
        assert!((coast.at_reach(&[1.0, 0.5]) - 0.7).abs() < 1e-6);
        // A stop of 1 rad/s² takes 2 s.
        let weak = Coast::of(&limits, time, 1.0);
        assert!((weak.joints[0] - 1.1).abs() < 1e-6 && (weak.joints[1] - 2.2).abs() < 1e-6);
    }

    #[test]
    fn a_slow_joint_brakes_for_as_long_as_the_fastest() {
        let limits = Limits::<2> { velocity: JointVelocities([0.1, 2.0]), ..Limits::default() };
        let coast = Coast::of(&limits, Duration::ZERO, 10.0);
        assert!((coast.joints[0] - 0.05).abs() < 1e-6, "{coast:?}");
    }
}
