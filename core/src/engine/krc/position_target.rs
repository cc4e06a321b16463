//! The target: approved speeds become positions, because FRI takes only positions
//! (`core/docs/protocol/kuka-fri.md A6`).
//!
//! Positions are stored in `f64`, because a cycle's share of a slow motion is below the last digit of an `f32` angle.

use super::commanded_tool_frame::Tool;
use super::target_bounds::Bounds;
use crate::command::Approved;
use crate::kinematics::Jacobian;
use crate::robot::Reason;
use outrigger_wire::fri::{Frame, JOINTS};
use outrigger_wire::math::double_conversion::to_f32;
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::time::Duration;

/// The commanded position of the arm: the joints, and the frame that leads the tool.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Target {
    /// The commanded joint positions \[rad\].
    at: [f64; JOINTS],
    /// The joint speeds of the target's last step \[rad/s\].
    speed: [f32; JOINTS],
    /// The frame that leads the tool; `None` until a setpoint was mirrored.
    tool: Option<Tool>,
}

impl Target {
    pub(super) const UNKNOWN: Self = Self { at: [0.0; JOINTS], speed: [0.0; JOINTS], tool: None };

    /// Takes the KRC's setpoint as the commanded position, because the KRC does not follow. A setpoint with NaN is not
    /// mirrored.
    pub(super) fn mirror(&mut self, setpoint: &[f32; JOINTS], frame: &Frame) {
        if setpoint.iter().chain(&frame.to_rows()).all(|value| value.is_finite()) {
            self.at = setpoint.map(f64::from);
            self.tool = Some(Tool::new(frame));
        }
        self.speed = [0.0; JOINTS];
    }

    /// Returns the commanded joint positions \[rad\] and the tool's frame; `None` while they are not known.
    pub(super) fn wanted(&self) -> Option<([f32; JOINTS], Frame)> {
        self.tool.map(|tool| (self.at.map(to_f32), tool.frame()))
    }

    /// Returns `true` if our speeds moved no joint in the last step of the commanded position.
    pub(super) fn rests(&self) -> bool {
        self.speed.iter().all(|speed| *speed == 0.0)
    }

    /// Returns the joint speeds of the commanded position in its last step \[rad/s\].
    pub(super) const fn speed(&self) -> JointVelocities<JOINTS> {
        JointVelocities(self.speed)
    }

    /// Moves the commanded position by the motion of the KRL program's own setpoint \[rad\]: commands are added to it.
    pub(super) fn carry(&mut self, moved: &[f32; JOINTS]) {
        self.at.iter_mut().zip(moved).for_each(|(at, moved)| *at += f64::from(*moved));
    }

    /// Moves the commanded position for `dt` at the speeds that the governor approved, together with a motion of the KRL
    /// program by `moved` \[rad\].
    ///
    /// # Errors
    /// `VelocityLimit` and `PositionLimit` of the arm itself, whatever the configuration permits, and of the configured
    /// ranges; nothing has moved then.
    pub(super) fn advance(
        &mut self,
        approved: Approved<'_, JOINTS>,
        dt: Duration,
        moved: &[f32; JOINTS],
        bounds: &Bounds,
        jacobian: Option<&Jacobian<JOINTS>>,
    ) -> Result<(), Reason> {
        let (JointVelocities(wanted), _authority) = approved.into_parts();
        let seconds = dt.as_secs_f32();
        let mut next = *self;
        let joints = next.at.iter_mut().zip(&mut next.speed).zip(wanted);
        let most = bounds.velocity.iter().zip(&bounds.acceleration);
        let joints = joints.zip(most).zip(moved);
        for (joint, ((((at, speed), wanted), (velocity, acceleration)), moved)) in joints.enumerate() {
            let change = acceleration * seconds;
            *speed = outrigger_wire::math::bounded(wanted, *speed - change, *speed + change);
            // With a limit of NaN no speed is within it.
            let faster = (wanted * seconds + moved).abs() > *velocity * seconds;
            if wanted.abs() > *velocity || *moved != 0.0 && faster || velocity.is_nan() {
                return Err(Reason::VelocityLimit);
            }
            *at += f64::from(*speed) * f64::from(seconds);
            let both = if *moved == 0.0 { *speed } else { *speed + moved / seconds };
            if !bounds.has_room(joint, *at, both) {
                return Err(Reason::PositionLimit);
            }
        }
        next.lead(jacobian, seconds);
        *self = next;
        Ok(())
    }

    /// Moves the tool's frame by the motion of the joints, if there is a Jacobian.
    fn lead(&mut self, jacobian: Option<&Jacobian<JOINTS>>, seconds: f32) {
        let speed = self.speed();
        if let (Some(tool), Some(jacobian)) = (&mut self.tool, jacobian) {
            tool.step(&jacobian.twist(&speed), seconds);
        }
    }

    /// Moves the commanded position for `dt` with a lower speed than before, until it is at rest; no joint leaves its
    /// range.
    pub(super) fn brake(&mut self, dt: Duration, bounds: &Bounds, jacobian: Option<&Jacobian<JOINTS>>) {
        let seconds = dt.as_secs_f32();
        let joints = self.at.iter_mut().zip(&mut self.speed).zip(&bounds.braking);
        for (joint, ((at, speed), braking)) in joints.enumerate() {
            let change = braking * seconds;
            *speed = if speed.abs() <= change { 0.0 } else { *speed - change.copysign(*speed) };
            let to = *at + f64::from(*speed) * f64::from(seconds);
            let edge = bounds.edge(joint, *at, to);
            if edge.is_some() {
                *speed = 0.0;
            }
            *at = edge.unwrap_or(to);
        }
        self.lead(jacobian, seconds);
    }
}
