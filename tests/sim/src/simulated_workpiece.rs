//! A simulated workpiece: a surface, and a distance sensor that looks along the tool's z axis.
//!
//! All functions depend on the tool frame and on time only, so the same world serves a demonstration in real time and
//! a test in virtual time.

use crate::kinematics::{Frame, Vec3, add, cross, dot, norm, scale, sub};
use crate::rng::Rng;
use crate::time::SimTime;

/// The surface of a workpiece: a plane with waves, which may move up and down as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// A point of the surface's plane, in the robot's base frame \[m\].
    pub origin: Vec3,
    /// The outward normal of the surface's plane; any length but zero.
    pub normal: Vec3,
    /// Waves on the plane, which do not move along it; their slopes should add up to less than about 1/2.
    pub waves: Vec<Wave>,
    /// Motion of the whole surface along the normal: amplitude \[m\] and period \[s\].
    pub heave: Option<(f64, f64)>,
}

/// One wave of the surface's profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// Amplitude of the wave \[m\].
    pub amplitude: f64,
    /// Wavelength of the wave \[m\].
    pub length: f64,
    /// Direction of the wave in the surface's plane \[rad\].
    pub direction: f64,
}

impl Surface {
    /// Returns a flat surface that does not move.
    #[must_use]
    pub fn plane(origin: Vec3, normal: Vec3) -> Self {
        Self { origin, normal, waves: vec![], heave: None }
    }

    /// Returns the unit normal of the surface, and two unit vectors in its plane.
    #[must_use]
    pub fn basis(&self) -> [Vec3; 3] {
        let n = scale(self.normal, 1.0 / norm(self.normal));
        let away = if n[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let u = cross(away, n);
        let u = scale(u, 1.0 / norm(u));
        [n, u, cross(n, u)]
    }

    /// Returns the height of the surface over its plane at (u, v) along the vectors of [`basis`](Self::basis) from
    /// the origin \[m\].
    #[must_use]
    pub fn height(&self, u: f64, v: f64, now: SimTime) -> f64 {
        let waves: f64 = self
            .waves
            .iter()
            .map(|wave| {
                let along = u * wave.direction.cos() + v * wave.direction.sin();
                wave.amplitude * (std::f64::consts::TAU * along / wave.length).sin()
            })
            .sum();
        let heave = self
            .heave
            .map_or(0.0, |(amplitude, period)| amplitude * (std::f64::consts::TAU * now.as_secs_f64() / period).sin());
        waves + heave
    }

    /// Returns the distance to the surface from `from` along the unit vector `direction` \[m\]. `None` if the surface
    /// is not ahead, or the direction meets its plane at an angle below about 6°.
    #[must_use]
    pub fn distance(&self, from: Vec3, direction: Vec3, now: SimTime) -> Option<f64> {
        let [n, u, v] = self.basis();
        let approach = dot(n, direction);
        if approach > -0.1 {
            return None;
        }
        let mut along = 0.0;
        // Each round moves the point onto the height found in the last one; gentle slopes converge quickly.
        for _ in 0..40 {
            let relative = sub(add(from, scale(direction, along)), self.origin);
            let miss = dot(n, relative) - self.height(dot(u, relative), dot(v, relative), now);
            along -= miss / approach;
            if miss.abs() < 1e-9 {
                break;
            }
        }
        (along >= 0.0).then_some(along)
    }
}

/// A distance sensor at the tool centre point, looking along the tool's z axis.
#[derive(Clone, Debug)]
pub struct DistanceSensor {
    /// The nearest and the farthest distance that the sensor can measure \[m\].
    pub range: (f64, f64),
    /// The standard deviation of the noise of the measured distance \[m\].
    pub noise: f64,
    rng: Rng,
}

impl DistanceSensor {
    /// Returns a sensor with a range of 20 … 500 mm and 50 µm of noise.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { range: (0.02, 0.5), noise: 5e-5, rng: Rng::new(seed, 0xD157) }
    }

    /// Returns the reading of the sensor \[m\] with the tool at `tool`; `None` if no surface is ahead or it is out of
    /// range.
    pub fn read(&mut self, surface: &Surface, tool: Frame, now: SimTime) -> Option<f64> {
        let noise = self.noise * self.rng.normal();
        let distance = surface.distance(tool.position, tool.z_axis(), now)? + noise;
        (self.range.0..=self.range.1).contains(&distance).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinematics::Rotation;

    /// Returns the pose of a tool that points down, at z = 0.3 m in the robot's base frame.
    fn tool() -> Frame {
        let down = Rotation::about([1.0, 0.0, 0.0], std::f64::consts::PI);
        Frame { position: [0.4, 0.1, 0.3], rotation: down }
    }

    #[test]
    fn measures_along_the_tool_axis_to_a_flat_and_to_a_tilted_plane() {
        let mut sensor = DistanceSensor { noise: 0.0, ..DistanceSensor::new(1) };
        let table = Surface::plane([0.0, 0.0, 0.1], [0.0, 0.0, 1.0]);
        assert!((sensor.read(&table, tool(), SimTime::ZERO).unwrap() - 0.2).abs() < 1e-9);
        let ramp = Surface::plane([0.4, 0.1, 0.1], [0.3, 0.0, 1.0]);
        assert!((sensor.read(&ramp, tool(), SimTime::ZERO).unwrap() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn waves_and_heave_change_the_distance_by_their_height() {
        let mut table = Surface::plane([0.0, 0.0, 0.1], [0.0, 0.0, 1.0]);
        table.heave = Some((0.01, 4.0));
        let at =
            |table: &Surface, millis| table.distance([0.4, 0.1, 0.3], [0.0, 0.0, -1.0], SimTime::from_millis(millis));
        assert!((at(&table, 1000).unwrap() - 0.19).abs() < 1e-9);
        table.waves.push(Wave { amplitude: 0.005, length: 0.2, direction: 0.3 });
        let slanted = table.distance([0.4, 0.1, 0.3], [0.6, 0.0, -0.8], SimTime::ZERO).unwrap();
        let hit = add([0.4, 0.1, 0.3], scale([0.6, 0.0, -0.8], slanted));
        let [_, u, v] = table.basis();
        let relative = sub(hit, table.origin);
        let height = table.height(dot(u, relative), dot(v, relative), SimTime::ZERO);
        assert!((hit[2] - 0.1 - height).abs() < 1e-8, "the point found lies on the surface");
    }

    #[test]
    fn nothing_is_measured_out_of_range_or_looking_away() {
        let mut sensor = DistanceSensor::new(1);
        let far = Surface::plane([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]);
        assert_eq!(sensor.read(&far, tool(), SimTime::ZERO), None);
        let up = Frame { rotation: Rotation::IDENTITY, ..tool() };
        assert_eq!(sensor.read(&Surface::plane([0.0; 3], [0.0, 0.0, 1.0]), up, SimTime::ZERO), None);
    }

    #[test]
    fn noise_is_seeded() {
        let table = Surface::plane([0.0, 0.0, 0.1], [0.0, 0.0, 1.0]);
        let draw = |seed| DistanceSensor::new(seed).read(&table, tool(), SimTime::ZERO);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
