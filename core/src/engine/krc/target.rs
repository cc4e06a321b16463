//! The target: approved speeds become positions, which is all that FRI takes (`core/docs/protocol/kuka-fri.md A6`).
//!
//! Kept in `f64`: a cycle's share of a slow motion is below the last place of an `f32` angle.

use super::bounds::Bounds;
use super::tool::Tool;
use crate::command::Approved;
use crate::kinematics::Jacobian;
use crate::robot::Reason;
use outrigger_wire::fri::{Frame, JOINTS};
use outrigger_wire::math::double::to_f32;
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::time::Duration;

/// Where the arm is commanded to be: joints, and the frame that leads the tool.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Target {
    /// \[rad\]
    at: [f64; JOINTS],
    /// The speed of the last step \[rad/s\].
    speed: [f32; JOINTS],
    /// The frame that leads the tool; `None` until a setpoint was mirrored.
    tool: Option<Tool>,
}

impl Target {
    pub(super) const UNKNOWN: Self = Self { at: [0.0; JOINTS], speed: [0.0; JOINTS], tool: None };

    /// The KRC does not follow: its setpoint is the target. What is no number is not mirrored.
    pub(super) fn mirror(&mut self, setpoint: &[f32; JOINTS], frame: &Frame) {
        if setpoint.iter().chain(&frame.to_rows()).all(|value| value.is_finite()) {
            self.at = setpoint.map(f64::from);
            self.tool = Some(Tool::new(frame));
        }
        self.speed = [0.0; JOINTS];
    }

    /// Where the arm is to be \[rad\], and its tool; `None` while that is not known.
    pub(super) fn wanted(&self) -> Option<([f32; JOINTS], Frame)> {
        self.tool.map(|tool| (self.at.map(to_f32), tool.frame()))
    }

    /// Whether the last step moved nothing.
    pub(super) fn rests(&self) -> bool {
        self.speed.iter().all(|speed| *speed == 0.0)
    }

    /// The speed of the last step \[rad/s\].
    pub(super) const fn speed(&self) -> JointVelocities<JOINTS> {
        JointVelocities(self.speed)
    }

    /// The KRL program has moved its own setpoint by so much \[rad\]: commands are on top of it.
    pub(super) fn carry(&mut self, moved: &[f32; JOINTS]) {
        self.at.iter_mut().zip(moved).for_each(|(at, moved)| *at += f64::from(*moved));
    }

    /// A step of `dt` at the approved speeds, for which the authority is spent, beside a motion of the KRL program by `moved`
    /// \[rad\].
    ///
    /// # Errors
    /// `VelocityLimit` and `PositionLimit` of the arm itself, whatever the configuration allows, and of the configured
    /// ranges; then nothing moved.
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
            // A limit that is no number has no speed within it.
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

    /// The tool's frame goes where the joints go, where a Jacobian says how.
    fn lead(&mut self, jacobian: Option<&Jacobian<JOINTS>>, seconds: f32) {
        let speed = self.speed();
        if let (Some(tool), Some(jacobian)) = (&mut self.tool, jacobian) {
            tool.step(&jacobian.twist(&speed), seconds);
        }
    }

    /// A step of `dt` with less speed than the one before, until there is none; no joint leaves its range.
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
