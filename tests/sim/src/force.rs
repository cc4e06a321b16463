//! Force and torque at the tool: the true wrench, the one that a client measures with its own sensor, and their zero.
//!
//! Forces act at the tool centre point, along the axes of the base; a client's values do, too. A sensor in the wrist
//! measures their torque about the flange (`core/docs/protocol/ur-rtde.md`, `actual_TCP_force` and `ft_raw_wrench`).
//! Payload and acceleration cause no force.

use std::collections::VecDeque;

use crate::kinematics::{Rotation, Vec3, add, cross, dot, norm, scale};
use crate::surface::Surface;

/// The number of past control cycles that are searched for the beginning of a contact (assumed).
const HISTORY: usize = 5000;
/// The share of the least force of a contact at which the contact counts as begun (assumed).
const BEGINNING: f64 = 0.2;

/// The force at the tool as the controller measures it. Wrenches are force and torque \[N, Nm\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Force {
    /// The true external force and torque on the tool \[N, Nm\].
    pub push: [f64; 6],
    /// The surface that the tool centre point can touch; `None` for no surface.
    pub surface: Option<Surface>,
    /// The part of the force and torque on the tool that a person's hand causes \[N, Nm\].
    hand: [f64; 6],
    /// Forces that the sensor measured in the last control cycles, the newest last \[N\].
    history: VecDeque<Vec3>,
    /// The force and torque that an RTDE client measures and sends as `external_force_torque` \[N, Nm\].
    pub external: [f64; 6],
    /// `true` if a program uses the client's value in place of the arm's own.
    pub uses_external: bool,
    /// `true` if the software reads the client's torques with the wrong sign (before 3.14.1 and 5.9.1).
    pub wrong_torques: bool,
    /// The raw force and torque at the time at which the sensor was last zeroed \[N, Nm\].
    zero: [f64; 6],
    /// The vector from the flange to the tool centre point, along the axes of the base \[m\]; zero without a sensor
    /// in the wrist.
    pub lever: Vec3,
    /// The orientation of the flange in the robot's base frame.
    pub flange: Rotation,
}

impl Force {
    /// Returns the state of the forces at a tool on which nothing acts yet. `wrong_torques` is whether the software
    /// reads a client's torques with the wrong sign.
    #[must_use]
    pub fn new(wrong_torques: bool, surface: Option<Surface>) -> Self {
        Self { wrong_torques, surface, ..Self::default() }
    }

    /// Returns the force and torque of the sensor in use, before its zero is subtracted.
    #[must_use]
    pub fn raw(&self) -> [f64; 6] {
        let [fx, fy, fz, tx, ty, tz] = self.external;
        match (self.uses_external, self.wrong_torques) {
            (false, _) => self.push,
            (true, false) => self.external,
            (true, true) => [fx, fy, fz, -tx, -ty, -tz],
        }
    }

    /// Returns the force and torque at the tool centre point, less the value at which the sensor was zeroed.
    #[must_use]
    pub fn measured(&self) -> [f64; 6] {
        let raw = self.raw();
        std::array::from_fn(|axis| raw[axis] - self.zero[axis])
    }

    /// Returns the force and torque that is published and that programs read. The torque is about the flange for a
    /// sensor in the wrist, at the tool centre point for any other.
    #[must_use]
    pub fn published(&self) -> [f64; 6] {
        let [fx, fy, fz, tx, ty, tz] = self.measured();
        let lever = if self.uses_external { [0.0; 3] } else { self.lever };
        let [tx, ty, tz] = add([tx, ty, tz], cross(lever, [fx, fy, fz]));
        [fx, fy, fz, tx, ty, tz]
    }

    /// Returns the force and torque of the sensor in the wrist before its zero is subtracted. The torque is about the
    /// flange; both are along the flange's axes. A client's sensor is returned as the client sends it (assumed).
    #[must_use]
    pub fn raw_at_flange(&self) -> [f64; 6] {
        if self.uses_external {
            return self.raw();
        }
        let [fx, fy, fz, tx, ty, tz] = self.raw();
        let torque = add([tx, ty, tz], cross(self.lever, [fx, fy, fz]));
        let to_flange = self.flange.inverse();
        let ([fx, fy, fz], [tx, ty, tz]) = (to_flange.turn([fx, fy, fz]), to_flange.turn(torque));
        [fx, fy, fz, tx, ty, tz]
    }

    /// Sets the force and torque on the tool that a person's hand causes. The value remains until the next call.
    pub fn push_by_hand(&mut self, wrench: [f64; 6]) {
        self.push = std::array::from_fn(|axis| self.push[axis] - self.hand[axis] + wrench[axis]);
        self.hand = wrench;
    }

    /// Executes one control cycle: computes the forces on the tool. `tool` returns the position \[m\] and the speed
    /// \[m/s\] of the tool; it is called only if there is a surface.
    pub fn feel(&mut self, tool: impl FnOnce() -> (Vec3, Vec3)) {
        self.push = self.hand;
        if let Some(surface) = &self.surface {
            let (position, speed) = tool();
            self.push.iter_mut().zip(surface.force(position, speed)).for_each(|(sum, push)| *sum += push);
        }
        let [x, y, z, ..] = self.measured();
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back([x, y, z]);
    }

    /// Returns the number of control cycles since just before the present contact began; 0 without a contact. A
    /// contact is a force of `least` \[N\] against `direction`, or from anywhere if that is `None`.
    #[must_use]
    pub fn contact(&self, direction: Option<Vec3>, least: f64) -> usize {
        let against = |force: &Vec3| match direction {
            Some(direction) => -dot(scale(direction, 1.0 / norm(direction)), *force),
            None => norm(*force),
        };
        if self.history.back().is_none_or(|force| against(force) < least) {
            return 0;
        }
        self.history.iter().rev().take_while(|force| against(force) > BEGINNING * least).count()
    }

    /// Zeroes the sensor: the present raw force and torque are subtracted from later ones.
    pub fn zero(&mut self) {
        self.zero = self.raw();
    }

    /// Returns the magnitude of the force at the tool, without the torque \[N\].
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        let [fx, fy, fz, ..] = self.measured();
        (fx * fx + fy * fy + fz * fz).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRENCH: [f64; 6] = [1.0, 2.0, 2.0, 0.1, 0.2, 0.3];

    #[test]
    fn a_clients_sensor_counts_only_where_a_program_wants_it() {
        let mut force = Force { external: WRENCH, push: [5.0; 6], ..Force::default() };
        assert_eq!(force.measured(), [5.0; 6]);
        force.uses_external = true;
        assert_eq!((force.measured(), force.magnitude()), (WRENCH, 3.0));
        force.wrong_torques = true;
        assert_eq!(force.measured(), [1.0, 2.0, 2.0, -0.1, -0.2, -0.3]);
    }

    #[test]
    fn a_contact_is_told_from_when_it_began_and_from_where_it_comes() {
        let mut force = Force { surface: Surface::new([0.0; 3], [0.0, 0.0, 1.0], 1e4, 0.0), ..Force::default() };
        for step in 0..20 {
            force.feel(|| ([0.0, 0.0, 1.05e-3 - 1e-4 * f64::from(step)], [0.0; 3]));
        }
        assert_eq!(force.contact(None, 5.0), 8, "deeper than 0.1 mm: steps 12 to 19");
        assert_eq!(force.contact(Some([0.0, 0.0, -0.3]), 5.0), 8);
        assert_eq!((force.contact(Some([0.0, 0.0, 1.0]), 5.0), force.contact(None, 50.0)), (0, 0));
    }

    #[test]
    fn a_sensor_in_the_wrist_tells_the_torque_about_the_flange() {
        let mut force = Force { push: [0.0, 0.0, -20.0, 0.0, 0.0, 0.0], lever: [0.1, 0.0, 0.2], ..Force::default() };
        assert_eq!(force.published(), [0.0, 0.0, -20.0, 0.0, 2.0, 0.0]);
        assert_eq!(force.measured(), force.push, "at the tool centre point");
        (force.uses_external, force.external) = (true, force.push);
        assert_eq!(force.published(), force.push, "a client's sensor is at the tool centre point");
    }

    #[test]
    fn the_raw_value_is_about_the_flange_and_along_its_axes_whatever_the_zero() {
        // The flange's x axis is the base's y axis.
        let flange = Rotation::about([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
        let push = [0.0, 10.0, -20.0, 0.0, 0.0, 1.0];
        let mut force = Force { push, lever: [0.1, 0.0, 0.2], flange, ..Force::default() };
        force.zero();
        // About the flange, in the base: (-2, 2, 2) Nm.
        let expected = [10.0, 0.0, -20.0, 2.0, 2.0, 2.0];
        let raw = force.raw_at_flange();
        assert!(raw.iter().zip(expected).all(|(raw, expected)| (raw - expected).abs() < 1e-12), "{raw:?}");
        (force.uses_external, force.external) = (true, WRENCH);
        assert_eq!(force.raw_at_flange(), WRENCH, "as the client sends it");
    }

    #[test]
    fn zeroing_moves_what_is_published_and_not_the_raw_value() {
        let mut force = Force { push: WRENCH, ..Force::default() };
        force.zero();
        assert_eq!((force.measured(), force.raw()), ([0.0; 6], WRENCH));
        force.push[0] = 4.0;
        assert_eq!(force.measured()[0], 3.0);
    }
}
