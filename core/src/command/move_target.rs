//! The target of a motion executed by the controller: joint angles, or a pose of the tool; with all joints moving
//! together, or the tool on a straight line.
//!
//! The controller knows its own geometry and tool best. The missing part of a target is therefore requested from the
//! controller while the arm is at rest, so that the move can be checked against the limits before it begins:
//!
//! | target | requested from the controller | then it moves by |
//! |---|---|---|
//! | joint angles | nothing | `movej` |
//! | joint angles, linear | the pose of the tool there | `movel` |
//! | a pose | the joint angles there | `movej` |
//! | a pose, linear | the joint angles there | `movel` |
//!
//! ```
//! use outrigger_core::command::{ArmPosition, JointMove, MoveTarget};
//! use outrigger_wire::robot::{JointPositions, Pose};
//!
//! let pose = Pose { position: [0.4, -0.1, 0.3], rotation: [0.0, 3.14, 0.0] };
//! let target = MoveTarget::pose(pose).linear();
//! assert_eq!(target.question(), Some(ArmPosition::Pose(pose)));
//! // The controller's answer: the joint angles of the pose.
//! let destination = target.found([0.0, -1.6, -1.4, -1.7, 1.6, 0.0]);
//! # #[cfg(feature = "motions")] {
//! let asked = JointMove::towards(destination, 0.1, 0.5).expect("finite numbers, and speeds above 0");
//! assert_eq!((asked.to().0[1], asked.line()), (-1.6, Some(&pose)));
//! # }
//! ```

use core::fmt;

use outrigger_wire::robot::{JointPositions, Pose};

/// A position of an arm with `N` joints, as joint angles \[rad\] or as a pose \[m, rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum ArmPosition<const N: usize> {
    /// The angle of each joint at this position of the arm \[rad\].
    Joints(JointPositions<N>),
    /// The pose of the tool centre point set on the robot, in the base frame \[m, rotation vector in rad\].
    Pose(Pose),
}

/// The target of a motion executed by the controller, and whether the tool moves there on a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveTarget<const N: usize> {
    place: ArmPosition<N>,
    linear: bool,
}

/// The end of a move of the controller, with all data needed to check it against the limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Destination<const N: usize> {
    /// The joint angles at the end of the move \[rad\]. At the end of a line the controller may choose others for the
    /// same pose.
    pub joints: JointPositions<N>,
    /// The pose of the tool at the end of the move \[m, rad\]; `None` unless the tool moves on a straight line.
    pub line: Option<Pose>,
}

/// The reason for which the controller did not convert a target's joint angles to a pose, or its pose to joint angles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum LocateError {
    /// The controller reports that the arm cannot reach the target pose.
    OutOfReach,
    /// The program on the controller that converts the target ended without a result. Software before 3.15, and 5.0 to
    /// 5.9, ends it if the arm cannot reach the pose.
    ProgramEnded,
}

impl LocateError {
    /// Returns the name of the reason for which a move's target was not converted between pose and joint angles, as one
    /// word for machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfReach => "OutOfReach",
            Self::ProgramEnded => "ProgramEnded",
        }
    }

    /// Returns a description of the reason for which a move's target was not converted between pose and joint angles,
    /// as a clause that starts in lower case.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::OutOfReach => "the controller finds no joint angles for the pose: the arm does not reach it",
            Self::ProgramEnded => {
                "the program on the controller ended while it looked for the joint angles of the pose, as it does \
                 before software 3.15 and 5.10 if the arm does not reach it"
            }
        }
    }

    /// Returns a hint at what a person can do next if the controller did not convert a move's target between pose and
    /// joint angles.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        "choose a pose nearer to the base, or another orientation; it is in m and rad, in the base frame, for the tool centre \
         point that is set on the robot"
    }
}

impl fmt::Display for LocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for LocateError {}

impl<const N: usize> MoveTarget<N> {
    /// Creates a target of joint angles \[rad\], with all joints moving together.
    #[must_use]
    pub const fn joints(to: JointPositions<N>) -> Self {
        Self { place: ArmPosition::Joints(to), linear: false }
    }

    /// Creates a target from this pose of the tool centre point in the base frame \[m, rotation vector in rad\], with
    /// all joints moving together.
    #[must_use]
    pub const fn pose(to: Pose) -> Self {
        Self { place: ArmPosition::Pose(to), linear: false }
    }

    /// Returns the same target of a move with the tool moving on a straight line at an even rate of rotation.
    #[must_use]
    pub const fn linear(self) -> Self {
        Self { linear: true, ..self }
    }

    /// Returns whether the tool moves to the target on a straight line.
    #[must_use]
    pub const fn is_linear(&self) -> bool {
        self.linear
    }

    /// Returns the position of the target in the form in which it was requested: joint angles or a pose.
    #[must_use]
    pub const fn place(&self) -> &ArmPosition<N> {
        &self.place
    }

    /// Returns whether all angles, or all numbers of the pose, of the target are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        match &self.place {
            ArmPosition::Joints(joints) => joints.is_finite(),
            ArmPosition::Pose(pose) => pose.is_finite(),
        }
    }

    /// Returns the position that the controller has to convert to the other form, joint angles or pose; `None` for
    /// joint angles that are not reached on a straight line.
    #[must_use]
    pub fn question(&self) -> Option<ArmPosition<N>> {
        let is_known = matches!(self.place, ArmPosition::Joints(_)) && !self.linear;
        (!is_known).then_some(self.place)
    }

    /// Returns the destination of the move if its target needs no conversion by the controller, that is, for joint
    /// angles without a straight line; otherwise `None`.
    #[must_use]
    pub const fn known(&self) -> Option<Destination<N>> {
        match self.place {
            ArmPosition::Joints(joints) if !self.linear => Some(Destination { joints, line: None }),
            ArmPosition::Joints(_) | ArmPosition::Pose(_) => None,
        }
    }
}

impl MoveTarget<6> {
    /// Returns the destination of the move, given the controller's answer to the [`question`](Self::question): the
    /// joint angles of a pose \[rad\], or the pose of joint angles as x, y, z, rx, ry, rz \[m, rad\].
    #[must_use]
    pub fn found(&self, values: [f32; 6]) -> Destination<6> {
        let [x, y, z, rx, ry, rz] = values;
        match self.place {
            ArmPosition::Joints(joints) => {
                let there = Pose { position: [x, y, z], rotation: [rx, ry, rz] };
                Destination { joints, line: self.linear.then_some(there) }
            }
            ArmPosition::Pose(pose) => {
                Destination { joints: JointPositions(values), line: self.linear.then_some(pose) }
            }
        }
    }
}

impl<const N: usize> From<JointPositions<N>> for MoveTarget<N> {
    fn from(to: JointPositions<N>) -> Self {
        Self::joints(to)
    }
}

impl<const N: usize> From<Pose> for MoveTarget<N> {
    fn from(to: Pose) -> Self {
        Self::pose(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_and_what_is_found_follow_the_table() {
        let (q, pose) = (JointPositions([0.5; 6]), Pose { position: [0.1, 0.2, 0.3], rotation: [1.0, 0.0, 0.5] });
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let there = Pose { position: [1.0, 2.0, 3.0], rotation: [4.0, 5.0, 6.0] };
        for (target, question, joints, line) in [
            (MoveTarget::from(q), None, q, None),
            (MoveTarget::from(q).linear(), Some(ArmPosition::Joints(q)), q, Some(there)),
            (MoveTarget::from(pose), Some(ArmPosition::Pose(pose)), JointPositions(values), None),
            (MoveTarget::from(pose).linear(), Some(ArmPosition::Pose(pose)), JointPositions(values), Some(pose)),
        ] {
            assert_eq!(target.question(), question);
            assert_eq!(target.found(values), Destination { joints, line });
            assert_eq!(target.known().is_some(), question.is_none());
        }
    }

    #[test]
    fn a_place_with_a_number_that_is_none_is_told() {
        assert!(MoveTarget::from(JointPositions([0.0; 6])).is_finite());
        assert!(!MoveTarget::from(JointPositions([f32::NAN; 6])).is_finite());
        let pose = Pose { position: [0.0; 3], rotation: [0.0, f32::INFINITY, 0.0] };
        assert!(!MoveTarget::<6>::from(pose).is_finite());
    }
}
