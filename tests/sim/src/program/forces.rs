//! The functions of a program for force, contact, hand guiding, torques and dynamics
//! (`core/docs/protocol/ur-external-control.md 1.7, 5.3`).

use outrigger_interpreter::{Call, CallResult, Value};

use super::host::{ProgramHost, done, joints, list, pose};
use crate::arm::{Compliance, ForceFrame, ForceMode, Motion};
use crate::kinematics::{Jacobian, torques_of};

/// The default shares of friction that `direct_torque` compensates, for each joint: viscous friction, then Coulomb
/// friction.
const FRICTION_SHARES: [[f64; 6]; 2] = [[0.9, 0.9, 0.8, 0.9, 0.9, 0.9], [0.8, 0.8, 0.7, 0.8, 0.8, 0.8]];

/// The URScript functions that command motion of the arm, except `stopj` and `stopl`; a program cannot call them in
/// freedrive.
pub(super) const MOTIONS: [&str; 12] = [
    "movej",
    "movel",
    "movep",
    "movec",
    "optimovej",
    "optimovel",
    "servoj",
    "servoc",
    "speedj",
    "speedl",
    "direct_torque",
    "torque_command",
];

/// Returns whether this file implements the URScript function `name`.
pub(super) fn knows(name: &str) -> bool {
    matches!(
        name,
        "force_mode"
            | "end_force_mode"
            | "force_mode_set_damping"
            | "force_mode_set_gain_scaling"
            | "freedrive_mode"
            | "end_freedrive_mode"
            | "teach_mode"
            | "end_teach_mode"
            | "get_freedrive_status"
            | "tool_contact"
            | "zero_ftsensor"
            | "get_tcp_force"
            | "force"
            | "get_joint_torques"
            | "protective_stop"
            | "direct_torque"
            | "torque_command"
            | "get_mass_matrix"
            | "get_coriolis_and_centrifugal_torques"
            | "get_jacobian"
            | "get_jacobian_time_derivative"
    )
}

impl ProgramHost<'_> {
    pub(super) fn forces(&mut self, call: &Call<'_>) -> Option<CallResult> {
        match call.name {
            "force_mode" => self.force_mode(call),
            "end_force_mode" if matches!(self.plant.arm.compliance, Compliance::Force(_)) => self.stiffen(),
            "force_mode_set_damping" => self.force_mode_set_damping(call),
            "force_mode_set_gain_scaling" => self.force_mode_set_gain_scaling(call),
            "freedrive_mode" => self.freedrive_mode(call),
            "teach_mode" => self.comply(Compliance::Freedrive),
            "end_freedrive_mode" | "end_teach_mode" if self.plant.arm.compliance.is_freedrive() => self.stiffen(),
            // No compliance is active.
            "end_force_mode" | "end_freedrive_mode" | "end_teach_mode" => Some(done()),
            "get_freedrive_status" => {
                Some(CallResult::Value(Value::Int(i32::from(self.plant.arm.compliance.is_freedrive()))))
            }
            "tool_contact" => self.tool_contact(call),
            "zero_ftsensor" => {
                self.plant.force.zero();
                Some(done())
            }
            "get_tcp_force" => Some(list(self.plant.force.published())),
            "force" => Some(CallResult::Value(Value::Float(self.plant.force.magnitude()))),
            // The torques that external forces cause, without those that the arm itself needs. The sign is assumed.
            "get_joint_torques" => {
                let arm = &self.plant.arm;
                Some(list(torques_of(&arm.jacobian(), &self.plant.force.push)))
            }
            "protective_stop" => self.protective_stop(),
            "direct_torque" | "torque_command" => self.direct_torque(call),
            _ => self.dynamics(call),
        }
    }

    /// Returns an error if the URScript function `name` moves the arm while a hand guides it in freedrive, else `None`.
    /// The reaction of a real controller is not documented; that the program ends with an error is assumed.
    pub(super) fn guided_by_hand(&self, name: &str) -> Option<CallResult> {
        let guided = self.plant.arm.compliance.is_freedrive() && MOTIONS.contains(&name);
        guided.then(|| CallResult::Error(format!("{name}: not possible in freedrive mode")))
    }

    fn comply(&mut self, compliance: Compliance) -> Option<CallResult> {
        self.plant.arm.comply(compliance);
        Some(done())
    }

    fn stiffen(&mut self) -> Option<CallResult> {
        self.comply(Compliance::None)
    }

    /// Executes `force_mode(task_frame, selection_vector, wrench, type, limits)`. A second call replaces the first.
    fn force_mode(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let frame = pose(call.arg(0))?;
        let compliant = joints(call.arg(1))?.map(|axis| axis != 0.0);
        let wrench = joints(call.arg(2))?;
        let kind = call.arg(3).whole()?;
        let limits = joints(call.arg(4))?.map(f64::abs);
        let Some(moves) = ForceFrame::from_number(kind) else {
            return Some(CallResult::Error(format!("force_mode: type {kind} is none of 1, 2, 3")));
        };
        self.comply(Compliance::Force(ForceMode { frame, compliant, wrench, moves, limits }))
    }

    /// Returns the argument of a URScript function that sets a property of force mode, or an error if it is not within
    /// 0 … `most`. `None` if it is not a number.
    fn setting(call: &Call<'_>, most: f64) -> Option<Result<f64, CallResult>> {
        let value = call.arg(0).number()?;
        let error = || CallResult::Error(format!("{}: {value} is not within 0 and {most}", call.name));
        Some(if (0.0..=most).contains(&value) { Ok(value) } else { Err(error()) })
    }

    fn force_mode_set_damping(&mut self, call: &Call<'_>) -> Option<CallResult> {
        Some(match Self::setting(call, 1.0)? {
            Ok(damping) => {
                self.plant.arm.damping = damping;
                done()
            }
            Err(error) => error,
        })
    }

    fn force_mode_set_gain_scaling(&mut self, call: &Call<'_>) -> Option<CallResult> {
        Some(match Self::setting(call, 2.0)? {
            Ok(scaling) => {
                self.plant.arm.gain_scaling = scaling;
                done()
            }
            Err(error) => error,
        })
    }

    /// Executes `freedrive_mode(freeAxes, feature)`: a hand can move all axes, or chosen axes of a frame, which is
    /// `"base"`, `"tool"` or a pose.
    fn freedrive_mode(&mut self, call: &Call<'_>) -> Option<CallResult> {
        if *call.arg(0) == Value::None {
            return self.comply(Compliance::Freedrive);
        }
        let axes = joints(call.arg(0))?.map(|axis| axis != 0.0);
        let feature = match call.arg(1).text() {
            Some("tool") => None,
            Some("base") => Some([0.0; 6]),
            Some(_) => return None,
            None if *call.arg(1) == Value::None => Some([0.0; 6]),
            None => Some(pose(call.arg(1))?),
        };
        let all = axes == [true; 6];
        self.comply(if all { Compliance::Freedrive } else { Compliance::FreedriveAlong { axes, feature } })
    }

    /// Executes `tool_contact(direction)`: returns the control steps since just before the contact, 0 for none.
    fn tool_contact(&self, call: &Call<'_>) -> Option<CallResult> {
        let direction = match call.arg(0) {
            Value::None => [0.0; 6],
            given => given.vector::<6>().filter(|direction| direction.iter().all(|x| x.is_finite()))?,
        };
        let [x, y, z, ..] = direction;
        let wanted = (direction != [0.0; 6] && [x, y, z] != [0.0; 3]).then_some([x, y, z]);
        let steps = self.plant.force.contact(wanted, self.plant.contact_force);
        Some(CallResult::Value(Value::Int(i32::try_from(steps).unwrap_or(i32::MAX))))
    }

    /// Executes URScript's `protective_stop()`: requests a stop of the arm, which pauses the program at the end of this
    /// cycle. A program that reaches its end before then ends normally.
    fn protective_stop(&mut self) -> Option<CallResult> {
        self.plant.asks_protective_stop = true;
        Some(done())
    }

    /// Executes `direct_torque(tau, friction_comp, viscous_scale, coulomb_scale)` and `torque_command(tau,
    /// friction_comp)` for one control cycle. The reaction to a missing next call is assumed: the arm comes to rest.
    fn direct_torque(&mut self, call: &Call<'_>) -> Option<CallResult> {
        let torque = joints(call.arg(0))?;
        let compensates = if *call.arg(1) == Value::None { true } else { call.arg(1).truth()? };
        let share = |kind: usize| match call.arg(2 + kind) {
            _ if !compensates => Some([0.0; 6]),
            Value::None => Some(FRICTION_SHARES[kind]),
            given => joints(given).filter(|shares| shares.iter().all(|share| (0.0..=1.0).contains(share))),
        };
        let compensation = [share(0)?, share(1)?];
        self.moves = true;
        if call.repeat > 0 {
            return Some(done());
        }
        self.plant.arm.motion = Motion::Torque { torque, compensation, fresh: true };
        Some(CallResult::Again)
    }

    /// Executes the functions that return values of the arm's dynamic model, at the arm's position or at given
    /// joints.
    fn dynamics(&self, call: &Call<'_>) -> Option<CallResult> {
        let arm = &self.plant.arm;
        let or = |index: usize, own: [f64; 6]| match call.arg(index) {
            Value::None => Some(own),
            given => joints(given),
        };
        let tool = |index: usize| match call.arg(index) {
            Value::None => Some(arm.tcp),
            given => pose(given),
        };
        let q = or(0, arm.q)?;
        Some(match call.name {
            "get_mass_matrix" => {
                let rotors = call.arg(1).truth()?;
                matrix(arm.dynamics().mass_matrix(&q, &arm.payload, rotors))
            }
            "get_coriolis_and_centrifugal_torques" => list(arm.dynamics().coriolis(&q, &or(1, arm.qd)?, &arm.payload)),
            "get_jacobian" => matrix(rows(&arm.chain().jacobian(&q, &tool(1)?))),
            "get_jacobian_time_derivative" => {
                matrix(rows(&arm.chain().jacobian_time_derivative(&q, &or(1, arm.qd)?, &tool(2)?)))
            }
            _ => CallResult::Unknown,
        })
    }
}

/// Returns the Jacobian by rows, one per direction of the tool, instead of by columns.
fn rows(columns: &Jacobian) -> [[f64; 6]; 6] {
    std::array::from_fn(|axis| columns.map(|column| column[axis]))
}

fn matrix(rows: [[f64; 6]; 6]) -> CallResult {
    CallResult::Value(Value::List(rows.map(|row| Value::List(row.map(Value::Float).to_vec())).to_vec()))
}
