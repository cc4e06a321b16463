//! The motion of the simulated arm under each control scheme, one millisecond at a time
//! (`core/docs/protocol/kuka-fri.md A8`).
//!
//! | scheme | law |
//! |---|---|
//! | joint position | the arm follows the setpoint, with a lag |
//! | joint impedance | τ = k(q_FRI − q) + D + τ_FRI, gravity compensated |
//! | Cartesian impedance | τ = Jᵀ(k(x_FRI − x) + D + F_FRI), and a posture in the null space |
//!
//! Stiffness and damping are integrated implicitly, so that a step of a millisecond is stable for any value of them.
//! Coriolis forces are omitted.

use std::time::Duration;

use outrigger_wire::fri::ControlScheme;

use super::model::{self, JOINTS, Joints, Spatial};
use crate::kinematics::{Frame, sub};
use crate::linear_solver::solve;
use crate::surface::Surface;

/// The time step of the arm's simulation \[s\].
const STEP: f64 = 1e-3;

/// Stiffness and damping of the impedance controllers. A KRL program configures them, and commands may change them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impedance {
    /// Stiffness of each joint in joint impedance control \[Nm/rad\].
    pub joint_stiffness: Joints,
    /// Damping ratio of each joint in joint impedance control; 0.7 is typical.
    pub joint_damping: Joints,
    /// Stiffness of the flange in Cartesian impedance control \[N/m, Nm/rad\].
    pub cartesian_stiffness: Spatial,
    /// Damping ratio of the flange in Cartesian impedance control; 0.7 is typical.
    pub cartesian_damping: Spatial,
}

impl Default for Impedance {
    fn default() -> Self {
        Self {
            joint_stiffness: [1000.0; JOINTS],
            joint_damping: [0.7; JOINTS],
            cartesian_stiffness: [2000.0, 2000.0, 2000.0, 200.0, 200.0, 200.0],
            cartesian_damping: [0.7; 6],
        }
    }
}

/// The properties of the simulated KRC's arm that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmOptions {
    /// Time constant of the lag in joint position control; zero for none.
    pub lag: Duration,
    /// Deceleration of the joints in a stop \[rad/s²\]. Not published; the default is 8.
    pub stop_deceleration: f64,
    /// Stiffness and damping that the KRL program configured.
    pub impedance: Impedance,
    /// A surface that the flange can touch; `None` for none.
    pub contact: Option<Surface>,
}

impl Default for ArmOptions {
    fn default() -> Self {
        Self { lag: Duration::from_millis(4), stop_deceleration: 8.0, impedance: Impedance::default(), contact: None }
    }
}

/// The target to which the KRC's active control scheme moves the arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) scheme: ControlScheme,
    pub(super) joints: Joints,
    pub(super) frame: Frame,
    pub(super) torque: Joints,
    pub(super) wrench: Spatial,
    pub(super) impedance: Impedance,
}

/// The state of the arm's seven joints and the forces on them.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    options: ArmOptions,
    pub(super) q: Joints,
    pub(super) qd: Joints,
    /// Force and torque of a person's hand at the flange \[N, Nm\], in the base's directions.
    pub(super) hand: Spatial,
    external: Joints,
    measured: Joints,
}

impl Arm {
    pub(super) fn new(options: ArmOptions, q: Joints) -> Self {
        let measured = model::gravity(&q);
        Self { options, q, qd: [0.0; JOINTS], hand: [0.0; 6], external: [0.0; JOINTS], measured }
    }

    /// Returns the torques that external forces cause at the joints \[Nm\].
    pub(super) const fn external(&self) -> &Joints {
        &self.external
    }

    /// Returns the torques of the drives \[Nm\], as the sensors behind the gears measure them.
    pub(super) const fn measured(&self) -> &Joints {
        &self.measured
    }

    /// Executes one millisecond of the arm with the drives off and the brakes closed.
    pub(super) fn hold(&mut self) {
        self.qd = [0.0; JOINTS];
        self.feel(&self.qd.clone());
    }

    /// Executes one millisecond in which the arm moves towards `target`.
    pub(super) fn step(&mut self, target: &Target) {
        let before = self.qd;
        self.qd = match target.scheme {
            ControlScheme::JointImpedance => self.joint_impedance(target),
            ControlScheme::CartesianImpedance => self.cartesian_impedance(target),
            ControlScheme::Position | ControlScheme::Other | ControlScheme::Unknown(_) => {
                let lag = self.options.lag.as_secs_f64();
                let share = if lag > 0.0 { 1.0 - (-STEP / lag).exp() } else { 1.0 };
                each(|j| (target.joints[j] - self.q[j]) * share / STEP)
            }
        };
        self.q = each(|j| self.q[j] + self.qd[j] * STEP);
        let acceleration = each(|j| (self.qd[j] - before[j]) / STEP);
        self.feel(&acceleration);
    }

    /// Updates external and measured torques at the arm's present pose and this joint `acceleration` \[rad/s²\]: both
    /// sides of M·q̈ + g = τ + τ_ext.
    fn feel(&mut self, acceleration: &Joints) {
        self.external = self.external_torques(&model::jacobian(&self.q));
        let gravity = model::gravity(&self.q);
        let still = acceleration.iter().all(|a| *a == 0.0);
        let inertial = if still { [0.0; JOINTS] } else { times(&model::mass_matrix(&self.q), acceleration) };
        self.measured = each(|j| inertial[j] + gravity[j] - self.external[j]);
    }

    fn external_torques(&self, jacobian: &[Spatial; JOINTS]) -> Joints {
        let mut wrench = self.hand;
        if let Some(contact) = self.options.contact {
            let [x, y, z, ..] = model::speed_of(jacobian, &self.qd);
            let force = contact.force(model::flange(&self.q).position, [x, y, z]);
            wrench.iter_mut().zip(force).for_each(|(sum, push)| *sum += push);
        }
        model::torques_of(jacobian, &wrench)
    }

    fn joint_impedance(&self, target: &Target) -> Joints {
        let external = self.external_torques(&model::jacobian(&self.q));
        let mut mass = model::mass_matrix(&self.q);
        let mut momentum = times(&mass, &self.qd);
        for j in 0..JOINTS {
            let stiffness = target.impedance.joint_stiffness[j];
            let damping = 2.0 * target.impedance.joint_damping[j] * (stiffness * mass[j][j]).sqrt();
            let torque = stiffness * (target.joints[j] - self.q[j]) + target.torque[j] + external[j];
            momentum[j] += STEP * torque;
            mass[j][j] += STEP * damping + STEP * STEP * stiffness;
        }
        solve(mass, momentum).unwrap_or_default()
    }

    fn cartesian_impedance(&self, target: &Target) -> Joints {
        let jacobian = model::jacobian(&self.q);
        let mut mass = model::mass_matrix(&self.q);
        let mut momentum = times(&mass, &self.qd);
        let here = model::flange(&self.q);
        let away = sub(target.frame.position, here.position);
        let turned = target.frame.rotation.after(here.rotation.inverse()).to_vector();
        let error = [away[0], away[1], away[2], turned[0], turned[1], turned[2]];
        let impedance = &target.impedance;
        let mut wrench = target.wrench;
        for axis in 0..6 {
            let stiffness = impedance.cartesian_stiffness[axis];
            wrench[axis] += stiffness * error[axis];
            // The effective inertia along the axis, as if the joints were not coupled.
            let mobility: f64 = (0..JOINTS).map(|j| jacobian[j][axis].powi(2) / mass[j][j]).sum();
            let felt = 1.0 / mobility.max(0.05);
            let damping = 2.0 * impedance.cartesian_damping[axis] * (stiffness * felt).sqrt();
            for i in 0..JOINTS {
                for j in 0..JOINTS {
                    let both = jacobian[i][axis] * jacobian[j][axis];
                    mass[i][j] += both * (STEP * damping + STEP * STEP * stiffness);
                }
            }
        }
        let external = self.external_torques(&jacobian);
        let torque = model::torques_of(&jacobian, &wrench);
        let posture = self.posture(target, &jacobian);
        for j in 0..JOINTS {
            momentum[j] += STEP * (torque[j] + posture[j] + external[j]);
            mass[j][j] += STEP * 2.0;
        }
        solve(mass, momentum).unwrap_or_default()
    }

    /// Returns joint torques towards the commanded posture that have no effect on the flange (motion in the null
    /// space).
    fn posture(&self, target: &Target, jacobian: &[Spatial; JOINTS]) -> Joints {
        // Softer than the task, whatever the joint stiffness, so that the null space does not disturb the task.
        let wanted: Joints = each(|j| 0.05 * target.impedance.joint_stiffness[j] * (target.joints[j] - self.q[j]));
        let felt = model::torques_of(jacobian, &model::wrench_of(jacobian, &wanted));
        each(|j| wanted[j] - felt[j])
    }
}

fn each(f: impl Fn(usize) -> f64) -> Joints {
    std::array::from_fn(f)
}

fn times(matrix: &[Joints; JOINTS], vector: &Joints) -> Joints {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Joints = [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0];

    fn target(scheme: ControlScheme) -> Target {
        Target {
            scheme,
            joints: START,
            frame: model::flange(&START),
            torque: [0.0; JOINTS],
            wrench: [0.0; 6],
            impedance: Impedance::default(),
        }
    }

    fn settled(options: ArmOptions, target: &Target, hand: Spatial) -> Arm {
        let mut arm = Arm::new(options, START);
        arm.hand = hand;
        for _ in 0..4000 {
            arm.step(target);
        }
        assert!(arm.qd.iter().all(|qd| qd.abs() < 1e-3), "at rest: {:?}", arm.qd);
        arm
    }

    fn estimated(arm: &Arm) -> Spatial {
        model::wrench_of(&model::jacobian(&arm.q), arm.external())
    }

    #[test]
    fn under_position_control_a_hand_is_felt_and_moves_nothing() {
        let hand = [0.0, 30.0, -20.0, 0.0, 0.0, 0.0];
        let arm = settled(ArmOptions::default(), &target(ControlScheme::Position), hand);
        assert!(arm.q.iter().zip(START).all(|(q, start)| (q - start).abs() < 1e-9));
        assert!(estimated(&arm).iter().zip(hand).all(|(e, h)| (e - h).abs() < 0.1), "{:?}", estimated(&arm));
    }

    #[test]
    fn under_joint_impedance_the_arm_gives_way_as_its_stiffness_says() {
        let arm =
            settled(ArmOptions::default(), &target(ControlScheme::JointImpedance), [0.0, 0.0, -40.0, 0.0, 0.0, 0.0]);
        for (j, start) in START.iter().enumerate() {
            let spring = 1000.0 * (start - arm.q[j]);
            assert!((spring + arm.external()[j]).abs() < 0.05, "joint {j}: {spring} against {}", arm.external()[j]);
        }
    }

    #[test]
    fn an_added_torque_moves_the_arm_like_a_hand() {
        let mut pushed = target(ControlScheme::JointImpedance);
        pushed.torque[3] = 10.0;
        let arm = settled(ArmOptions::default(), &pushed, [0.0; 6]);
        assert!((arm.q[3] - START[3] - 0.01).abs() < 1e-4, "{}", arm.q[3]);
    }

    #[test]
    fn under_cartesian_impedance_the_tool_gives_way_as_its_stiffness_says() {
        let hand = [20.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let arm = settled(ArmOptions::default(), &target(ControlScheme::CartesianImpedance), hand);
        let moved = model::flange(&arm.q).position[0] - model::flange(&START).position[0];
        assert!((moved - 0.01).abs() < 5e-4, "20 N at 2000 N/m moved it by {moved} m");
    }

    #[test]
    fn a_surface_is_pressed_with_the_force_of_the_spring_behind_it() {
        let here = model::flange(&START).position;
        let contact = Surface {
            point: [here[0], here[1], here[2] - 0.01],
            normal: [0.0, 0.0, 1.0],
            stiffness: 20_000.0,
            damping: 100.0,
        };
        let mut pressed = target(ControlScheme::CartesianImpedance);
        pressed.frame.position[2] -= 0.03;
        let arm = settled(ArmOptions { contact: Some(contact), ..ArmOptions::default() }, &pressed, [0.0; 6]);
        // Two springs in series, 20 mm together: 2000 and 20 000 N/m.
        let force = estimated(&arm)[2];
        assert!((force - 0.02 / (1.0 / 2_000.0 + 1.0 / 20_000.0)).abs() < 2.0, "{force} N");
    }

    #[test]
    fn drives_hold_gravity_and_what_pushes() {
        let arm = settled(ArmOptions::default(), &target(ControlScheme::Position), [0.0; 6]);
        assert!(arm.measured().iter().zip(model::gravity(&arm.q)).all(|(m, g)| (m - g).abs() < 0.1));
    }
}
