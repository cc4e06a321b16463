//! A flat surface that a tool can touch, for every simulated arm.

use crate::kinematics::{Vec3, dot, norm, scale, sub};

/// A flat surface that pushes back: a spring and a damper along its normal, without friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// A point on the surface, in the robot's base frame \[m\].
    pub point: Vec3,
    /// The outward normal of the surface, of length 1.
    pub normal: Vec3,
    /// Stiffness of the surface's spring \[N/m\].
    pub stiffness: f64,
    /// Damping along the surface's normal \[N·s/m\].
    pub damping: f64,
}

impl Surface {
    /// Returns a surface with the normal scaled to length 1. `None` if the normal has no direction, a number is not
    /// finite, the stiffness is not positive, or the damping is negative.
    #[must_use]
    pub fn new(point: Vec3, normal: Vec3, stiffness: f64, damping: f64) -> Option<Self> {
        let length = norm(normal);
        let sound = point.iter().chain(&normal).all(|x| x.is_finite()) && length.is_finite() && length > 1e-9;
        let positive = stiffness.is_finite() && stiffness > 0.0 && damping.is_finite() && damping >= 0.0;
        (sound && positive).then(|| Self { point, normal: scale(normal, 1.0 / length), stiffness, damping })
    }

    /// Returns the distance of `position` in front of the surface \[m\]; negative inside it.
    #[must_use]
    pub fn distance(&self, position: Vec3) -> f64 {
        dot(self.normal, sub(position, self.point))
    }

    /// Returns the distance to the surface from `position` along the unit vector `direction` \[m\]; negative from
    /// inside it. `None` if the line is parallel to the surface or leads away from it.
    #[must_use]
    pub fn distance_along(&self, position: Vec3, direction: Vec3) -> Option<f64> {
        let approach = -dot(self.normal, direction);
        (approach > 1e-9).then(|| self.distance(position) / approach)
    }

    /// Returns the force of the surface on a point at `position` with `speed` \[m/s\], in the base \[N\]. A surface
    /// pushes and never pulls.
    #[must_use]
    pub fn force(&self, position: Vec3, speed: Vec3) -> Vec3 {
        let depth = -self.distance(position);
        if depth <= 0.0 {
            return [0.0; 3];
        }
        let push = self.stiffness * depth - self.damping * dot(self.normal, speed);
        scale(self.normal, push.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor() -> Surface {
        Surface::new([0.0, 0.0, 0.5], [0.0, 0.0, 2.0], 10_000.0, 100.0).expect("sound")
    }

    #[test]
    fn a_surface_pushes_by_depth_and_by_the_speed_into_it() {
        assert_eq!(floor().force([9.0, -3.0, 0.501], [0.0, 0.0, -1.0]), [0.0; 3], "in front of it");
        let [x, y, z] = floor().force([9.0, -3.0, 0.499], [1.0, 1.0, -0.05]);
        assert!(x == 0.0 && y == 0.0 && (z - 15.0).abs() < 1e-9, "10 N of the spring, 5 N of the damper: {z}");
    }

    #[test]
    fn a_surface_never_pulls() {
        assert_eq!(floor().force([0.0, 0.0, 0.499], [0.0, 0.0, 5.0]), [0.0; 3]);
    }

    #[test]
    fn the_way_to_a_surface_is_longer_on_a_slant_and_none_away_from_it() {
        let slant = [0.6, 0.0, -0.8];
        let way = floor().distance_along([0.0, 0.0, 0.9], slant).expect("it points to the floor");
        assert!((way - 0.5).abs() < 1e-12, "{way}");
        assert_eq!(floor().distance_along([0.0, 0.0, 0.9], [0.0, 0.0, 1.0]), None);
    }

    #[test]
    fn a_surface_without_direction_or_stiffness_is_none() {
        assert_eq!(Surface::new([0.0; 3], [0.0; 3], 1e4, 0.0), None);
        assert_eq!(Surface::new([0.0; 3], [0.0, 0.0, 1.0], 0.0, 0.0), None);
        assert_eq!(Surface::new([f64::NAN; 3], [0.0, 0.0, 1.0], 1e4, 0.0), None);
    }
}
