//! How far the arm can coast, at worst, after something went wrong.

use crate::command::Limits;
use crate::time::Duration;

/// The farthest the arm travels after a fault, by its limits: v·(t_detect + t) + v²/2a for each joint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coast<const N: usize> {
    /// Travel of each joint \[rad\].
    pub joints: [f32; N],
}

impl<const N: usize> Coast<N> {
    /// For an arm within `limits`, where a fault is seen after `detection` and the last command holds for `hold` more.
    #[must_use]
    pub fn of(limits: &Limits<N>, detection: Duration, hold: Duration) -> Self {
        let seconds = (detection + hold).as_secs_f32();
        let braking = limits.braking_distance(&limits.velocity);
        let mut joints = [0.0; N];
        for (joint, (v, braking)) in joints.iter_mut().zip(limits.velocity.iter().zip(braking)) {
            *joint = v * seconds + braking;
        }
        Self { joints }
    }

    /// The farthest a point of the arm travels \[m\], where `reach` is its greatest distance from each joint's axis
    /// \[m\]: every joint coasts at once, and always in the direction that adds up.
    #[must_use]
    pub fn at_reach(&self, reach: &[f32; N]) -> f32 {
        self.joints.iter().zip(reach).map(|(joint, reach)| joint * reach).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robot::{JointAccelerations, JointVelocities};

    #[test]
    fn coast_is_reaction_and_braking() {
        let limits = Limits::<2> {
            velocity: JointVelocities([1.0, 2.0]),
            braking: JointAccelerations([2.0, 4.0]),
            ..Limits::default()
        };
        let coast = Coast::of(&limits, Duration::from_millis(60), Duration::from_millis(40));
        // 1·0.1 + 1/4 and 2·0.1 + 4/8.
        assert!((coast.joints[0] - 0.35).abs() < 1e-6 && (coast.joints[1] - 0.7).abs() < 1e-6);
        assert!((coast.at_reach(&[1.0, 0.5]) - 0.7).abs() < 1e-6);
    }
}
