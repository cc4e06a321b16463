//! The dynamic model of the six-joint arms: mass, Coriolis and centrifugal torques by Newton and Euler, link by link.
//!
//! Masses and shapes are **assumed**: each link is a solid cylinder between the points of the chain it joins, and
//! each motor a flywheel on its own axis. The figures are round ones for the arm's size. The results are consistent:
//! one function computes the torques of a motion, and all others use it.

use crate::kinematics::{Chain, Vec3, add, cross, dot, norm, scale, sub};
use crate::linear_solver::solve;
use crate::model::Lengths;

/// A symmetric matrix with one row and one column per joint \[kg·m²\], `[row][column]`.
pub type MassMatrix = [[f64; 6]; 6];

/// A link of the arm as a solid cylinder, at the zero pose.
#[derive(Clone, Copy, Debug)]
struct Link {
    mass: f64,
    centre: Vec3,
    /// The unit vector along the axis of the cylinder that models a link.
    along: Vec3,
    /// The moment of inertia of the link about the axis of its cylinder \[kg·m²\]; `across` is the one about a
    /// perpendicular axis through its centre.
    about: f64,
    across: f64,
}

impl Link {
    fn cylinder(mass: f64, radius: f64, from: Vec3, to: Vec3) -> Self {
        let (way, length) = (sub(to, from), norm(sub(to, from)));
        let along = if length > 0.0 { scale(way, 1.0 / length) } else { [0.0, 0.0, 1.0] };
        let about = 0.5 * mass * radius * radius;
        let across = mass * (3.0 * radius * radius + length * length) / 12.0;
        Self { mass, centre: scale(add(from, to), 0.5), along, about, across }
    }
}

/// The masses and sizes of the arm's links and motors. All figures are *assumed*.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Masses {
    /// Mass of each link of the arm \[kg\].
    pub links: [f64; 6],
    /// Radius of each link of the arm \[m\].
    pub radius: [f64; 6],
    /// Inertia of each motor's rotor, converted to its joint \[kg·m²\].
    pub rotors: [f64; 6],
}

impl Masses {
    /// Returns the masses of an arm with these lengths, scaled by the length of upper arm and forearm together: an arm
    /// with 0.82 m of that weighs 18 kg without its base.
    #[must_use]
    pub fn of(lengths: &Lengths) -> Self {
        let size = (lengths.a2 + lengths.a3).abs() / 0.8172;
        let by_volume = size.powi(2);
        Self {
            links: [4.0, 8.0, 3.0, 1.4, 1.3, 0.4].map(|mass| mass * by_volume),
            radius: [0.06, 0.06, 0.05, 0.04, 0.04, 0.03].map(|radius| radius * size),
            rotors: [1.0, 1.0, 1.0, 0.2, 0.2, 0.2].map(|inertia| inertia * by_volume),
        }
    }
}

/// The payload of the tool: a mass at a point in the flange's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Payload {
    /// Mass of the payload \[kg\].
    pub mass: f64,
    /// Position of the payload's centre of mass in the flange's frame \[m\].
    pub centre: Vec3,
}

/// The dynamic model of one arm: its moving links and motors. The payload is an argument of each function.
#[derive(Clone, Debug)]
pub struct Dynamics {
    chain: Chain,
    links: [Link; 6],
    rotors: [f64; 6],
}

impl Dynamics {
    /// Returns the dynamic model of an arm with these link lengths and masses.
    #[must_use]
    pub fn new(lengths: Lengths, masses: &Masses) -> Self {
        let l = lengths;
        let reach = l.a2 + l.a3;
        let points = [
            [0.0; 3],
            [0.0, 0.0, l.d1],
            [l.a2, 0.0, l.d1],
            [reach, 0.0, l.d1],
            [reach, -l.d4, l.d1],
            [reach, -l.d4, l.d1 - l.d5],
            [reach, -l.d4 - l.d6, l.d1 - l.d5],
        ];
        let link = |n: usize| Link::cylinder(masses.links[n], masses.radius[n], points[n], points[n + 1]);
        Self { chain: Chain::new(lengths), links: std::array::from_fn(link), rotors: masses.rotors }
    }

    /// Returns the joint torques \[Nm\] that a motion needs at `q` \[rad\] with `qd` \[rad/s\] and `qdd` \[rad/s²\],
    /// without gravity and without the inertia of the motors.
    #[must_use]
    pub fn torques(&self, q: &[f64; 6], qd: &[f64; 6], qdd: &[f64; 6], payload: &Payload) -> [f64; 6] {
        let lines = self.chain.axis_lines(q);
        let (mut spin, mut spin_up) = ([0.0; 3], [0.0; 3]);
        let (mut origin, mut acceleration) = ([0.0; 3], [0.0; 3]);
        // Force and moment of each link, at its centre.
        let mut loads = [([0.0; 3], [0.0; 3], [0.0; 3]); 7];
        for joint in 0..6 {
            let (axis, point) = lines[joint];
            acceleration = add(acceleration, carried(spin, spin_up, sub(point, origin)));
            origin = point;
            let turn = scale(axis, qd[joint]);
            spin_up = add(spin_up, add(scale(axis, qdd[joint]), cross(spin, turn)));
            spin = add(spin, turn);
            let link = &self.links[joint];
            let frame = self.chain.body(q, joint + 1, link.centre);
            let along = frame.rotation.turn(link.along);
            let inertia =
                |v: Vec3| add(scale(v, link.across), scale(along, (link.about - link.across) * dot(along, v)));
            let force = scale(add(acceleration, carried(spin, spin_up, sub(frame.position, origin))), link.mass);
            let moment = add(inertia(spin_up), cross(spin, inertia(spin)));
            loads[joint] = (frame.position, force, moment);
        }
        let [x, y, z] = payload.centre;
        let held = self.chain.tool(q, &[x, y, z, 0.0, 0.0, 0.0]).position;
        let force = scale(add(acceleration, carried(spin, spin_up, sub(held, origin))), payload.mass);
        loads[6] = (held, force, [0.0; 3]);
        std::array::from_fn(|joint| {
            let (axis, point) = lines[joint];
            let moment =
                |(centre, force, moment): &(Vec3, Vec3, Vec3)| add(*moment, cross(sub(*centre, point), *force));
            loads.iter().skip(joint).map(|load| dot(axis, moment(load))).sum()
        })
    }

    /// Returns the mass matrix of the arm at the joint positions `q` \[rad\]. `rotors` selects whether it includes
    /// the inertia of the motors.
    #[must_use]
    pub fn mass_matrix(&self, q: &[f64; 6], payload: &Payload, rotors: bool) -> MassMatrix {
        std::array::from_fn(|joint| {
            let mut one = [0.0; 6];
            one[joint] = 1.0;
            let mut row = self.torques(q, &[0.0; 6], &one, payload);
            row[joint] += if rotors { self.rotors[joint] } else { 0.0 };
            row
        })
    }

    /// Returns the Coriolis and centrifugal torques \[Nm\] at the joint positions `q` \[rad\] and joint speeds `qd`
    /// \[rad/s\].
    #[must_use]
    pub fn coriolis(&self, q: &[f64; 6], qd: &[f64; 6], payload: &Payload) -> [f64; 6] {
        self.torques(q, qd, &[0.0; 6], payload)
    }

    /// Returns the joint accelerations \[rad/s²\] that the joint torques `torque` \[Nm\] cause, with the inertia of
    /// the motors and without gravity.
    #[must_use]
    pub fn accelerations(&self, q: &[f64; 6], qd: &[f64; 6], torque: &[f64; 6], payload: &Payload) -> [f64; 6] {
        let bias = self.coriolis(q, qd, payload);
        let free = std::array::from_fn(|joint| torque[joint] - bias[joint]);
        // The rotors keep the matrix positive definite, so that there is always a solution.
        solve(self.mass_matrix(q, payload, true), free).unwrap_or_default()
    }

    /// Integrates the joint positions `q` \[rad\] and speeds `qd` \[rad/s\] over the time `dt` \[s\] under the joint
    /// torques `torque` \[Nm\], by the fourth-order method of Runge and Kutta.
    pub fn advance(&self, q: &mut [f64; 6], qd: &mut [f64; 6], torque: &[f64; 6], payload: &Payload, dt: f64) {
        let along = |start: &[f64; 6], slope: &[f64; 6], time: f64| std::array::from_fn(|j| start[j] + time * slope[j]);
        let slope = |q: [f64; 6], qd: [f64; 6]| (qd, self.accelerations(&q, &qd, torque, payload));
        let first = slope(*q, *qd);
        let second = slope(along(q, &first.0, dt / 2.0), along(qd, &first.1, dt / 2.0));
        let third = slope(along(q, &second.0, dt / 2.0), along(qd, &second.1, dt / 2.0));
        let fourth = slope(along(q, &third.0, dt), along(qd, &third.1, dt));
        let mean = |[a, b, c, d]: [f64; 4]| (a + 2.0 * b + 2.0 * c + d) / 6.0;
        for joint in 0..6 {
            q[joint] += dt * mean([&first, &second, &third, &fourth].map(|(speed, _)| speed[joint]));
            qd[joint] += dt * mean([&first, &second, &third, &fourth].map(|(_, acceleration)| acceleration[joint]));
        }
    }

    /// Returns the kinetic energy of the arm, its payload and its motors \[J\].
    #[must_use]
    pub fn energy(&self, q: &[f64; 6], qd: &[f64; 6], payload: &Payload) -> f64 {
        let mass = self.mass_matrix(q, payload, true);
        0.5 * mass
            .iter()
            .zip(qd)
            .map(|(row, qd_i)| qd_i * row.iter().zip(qd).map(|(m, v)| m * v).sum::<f64>())
            .sum::<f64>()
    }
}

/// Returns the acceleration, relative to the origin of a rigid body, of the body's point at `arm` from that origin. The
/// body turns with the angular speed `spin` and the angular acceleration `spin_up`.
fn carried(spin: Vec3, spin_up: Vec3, arm: Vec3) -> Vec3 {
    add(cross(spin_up, arm), cross(spin, cross(spin, arm)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ArmModel;
    use crate::rng::Rng;
    use outrigger_wire::robot::RobotModel;

    const HELD: Payload = Payload { mass: 2.0, centre: [0.02, 0.0, 0.1] };

    fn arms() -> impl Iterator<Item = (RobotModel, Dynamics)> {
        RobotModel::ALL.iter().map(|model| {
            let lengths = ArmModel::of(*model).lengths;
            (*model, Dynamics::new(lengths, &Masses::of(&lengths)))
        })
    }

    fn any(rng: &mut Rng, reach: f64) -> [f64; 6] {
        std::array::from_fn(|_| (rng.unit() * 2.0 - 1.0) * reach)
    }

    #[test]
    fn the_mass_matrix_of_every_arm_is_symmetric_and_every_motion_has_energy() {
        let mut rng = Rng::new(7, 0);
        for (model, dynamics) in arms() {
            for _ in 0..20 {
                let q = any(&mut rng, 3.0);
                let mass = dynamics.mass_matrix(&q, &HELD, false);
                for (i, j) in (0..36).map(|n| (n / 6, n % 6)) {
                    let (there, back) = (mass[i][j], mass[j][i]);
                    assert!((there - back).abs() < 1e-9, "{model:?} [{i}][{j}]: {there} is not {back}");
                }
                // Cholesky finds a root of every pivot exactly where the matrix is positive definite.
                let mut lower = [[0.0; 6]; 6];
                for (i, j) in (0..36).map(|n| (n / 6, n % 6)).filter(|(i, j)| j <= i) {
                    let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
                    let rest: f64 = mass[i][j] - known;
                    assert!(i != j || rest > 0.0, "{model:?} at {q:?}: pivot {i} is {rest}");
                    lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
                }
            }
        }
    }

    #[test]
    fn without_torque_the_energy_stays() {
        let mut rng = Rng::new(8, 0);
        for (model, dynamics) in arms() {
            let (mut q, mut qd) = (any(&mut rng, 2.0), any(&mut rng, 1.5));
            let before = dynamics.energy(&q, &qd, &HELD);
            (0..500).for_each(|_| dynamics.advance(&mut q, &mut qd, &[0.0; 6], &HELD, 0.002));
            let after = dynamics.energy(&q, &qd, &HELD);
            assert!((after / before - 1.0).abs() < 1e-4, "{model:?}: {before} J became {after} J in a second");
        }
    }

    #[test]
    fn a_motion_needs_the_torques_that_cause_it() {
        let mut rng = Rng::new(9, 0);
        for (model, dynamics) in arms() {
            let (q, qd, torque) = (any(&mut rng, 2.0), any(&mut rng, 1.0), any(&mut rng, 10.0));
            let qdd = dynamics.accelerations(&q, &qd, &torque, &HELD);
            let found = dynamics.torques(&q, &qd, &qdd, &HELD);
            for joint in 0..6 {
                let needed = found[joint] + dynamics.rotors[joint] * qdd[joint];
                assert!((needed - torque[joint]).abs() < 1e-8, "{model:?}, joint {joint}: {needed}");
            }
        }
    }
}
