//! Force and torque at the tool: what pushes, what a client measures with a sensor of its own, and the zero of it all.
//!
//! Frames are not told apart: forces are along the axes they are given in, and go out along the same ones. Payload and
//! acceleration cause none.

/// What the controller takes for the force at the tool. Wrenches are \[N, Nm\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Force {
    /// What really acts on the tool.
    pub push: [f64; 6],
    /// What a client of RTDE measures (`external_force_torque`).
    pub external: [f64; 6],
    /// Whether a program wants the client's value in place of the arm's own.
    pub uses_external: bool,
    /// Whether the software takes the client's torques with the wrong sign (before 3.14.1 and 5.9.1).
    pub wrong_torques: bool,
    /// What was measured when the sensor was zeroed.
    zero: [f64; 6],
}

impl Force {
    /// Nothing pushes; whether the software takes a client's torques with the wrong sign.
    #[must_use]
    pub fn new(wrong_torques: bool) -> Self {
        Self { wrong_torques, ..Self::default() }
    }

    /// What the sensor in use says, whatever its zero.
    #[must_use]
    pub fn raw(&self) -> [f64; 6] {
        let [fx, fy, fz, tx, ty, tz] = self.external;
        match (self.uses_external, self.wrong_torques) {
            (false, _) => self.push,
            (true, false) => self.external,
            (true, true) => [fx, fy, fz, -tx, -ty, -tz],
        }
    }

    /// What is published, and what programs get.
    #[must_use]
    pub fn measured(&self) -> [f64; 6] {
        let raw = self.raw();
        std::array::from_fn(|axis| raw[axis] - self.zero[axis])
    }

    /// What is measured now becomes zero.
    pub fn zero(&mut self) {
        self.zero = self.raw();
    }

    /// Length of the force alone \[N\].
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
    fn zeroing_moves_what_is_published_and_not_the_raw_value() {
        let mut force = Force { push: WRENCH, ..Force::default() };
        force.zero();
        assert_eq!((force.measured(), force.raw()), ([0.0; 6], WRENCH));
        force.push[0] = 4.0;
        assert_eq!(force.measured()[0], 3.0);
    }
}
