//! Control schemes with the fields each of them takes (`core/docs/protocol/kuka-fri.md A8`). Flags are not chosen, they
//! follow from the scheme.

use crate::math::{Rotation, Vector3};
use crate::robot::{BadValue, JointVelocities, Wrench, settings, words};
use crate::wire::fri::{CartesianVector, CommandFlags, CommandRepr, ControlScheme, Frame, JOINTS};

settings! {
    /// Joint impedance.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
    pub struct JointImpedance in "control." {
        /// Stiffness \[Nm/rad\].
        pub stiffness: [f32; JOINTS] [0.0 to 5000.0 "Nm/rad"] = [1000.0; JOINTS],
        /// Damping, normalised: 0.7 is usual.
        pub damping: [f32; JOINTS] [0.0 to 1.0] = [0.7; JOINTS],
        /// Torques added to those of the control law \[Nm\].
        pub torque nowhere: [f32; JOINTS] = [0.0; JOINTS],
    }
}

settings! {
    /// Cartesian impedance.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
    pub struct ToolImpedance in "control." {
        /// Stiffness \[N/m, Nm/rad\].
        pub stiffness: CartesianVector [0.0 to 5000.0 "N/m, Nm/rad"] = CartesianVector::uniform(2000.0, 200.0),
        /// Damping, normalised: 0.7 is usual.
        pub damping: CartesianVector [0.0 to 1.0] = CartesianVector::uniform(0.7, 0.7),
        /// Force and torque added to those of the control law.
        pub wrench nowhere: Wrench = Wrench::default(),
        /// The frame that is sent where nothing is commanded.
        pub mirrors at "mirrored_frame": MirroredFrame = MirroredFrame::default(),
    }
}

/// Which frame a KRC expects back before it starts: not known
/// (`core/docs/protocol/kuka-fri.md A10.2`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum MirroredFrame {
    /// Its setpoint, as of the joints: the frame that it commands itself, moved by the offset that FRI has left. Positions
    /// are added, the offset's rotation is the first. Without an offset, or with one that is no frame, it is
    /// [`Commanded`](Self::Commanded).
    #[default]
    Setpoint,
    /// The one it commands itself, whatever FRI has added before.
    Commanded,
    /// The measured one.
    Measured,
}

words!(MirroredFrame { "setpoint" = Setpoint, "commanded" = Commanded, "measured" = Measured });

/// The frame in which a KRC gives its Jacobian and the force at the tool: `$STIFFNESS.TASKFRAME` of the KRL program
/// (`core/docs/protocol/kuka-fri.md A5`). Nothing on the wire says which it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum TaskFrame {
    /// Along the axes of the base.
    #[default]
    Base,
    /// Along those of the tool.
    Tool,
}

words!(TaskFrame { "base" = Base, "tool" = Tool });

impl TaskFrame {
    /// A vector of this frame, along the axes of the base.
    pub(super) fn to_base(self, tool: &Rotation, vector: Vector3) -> Vector3 {
        match self {
            Self::Base => vector,
            Self::Tool => tool.apply(vector),
        }
    }
}

/// A control scheme and its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum Control {
    /// Joint position.
    #[default]
    Position,
    /// Joint impedance.
    JointImpedance(JointImpedance),
    /// Cartesian impedance: the tool is led by a frame, the joints' target is the posture of the null space.
    ToolImpedance(ToolImpedance),
}

impl Control {
    /// What the KRL program has to select.
    #[must_use]
    pub const fn scheme(&self) -> ControlScheme {
        match self {
            Self::Position => ControlScheme::Position,
            Self::JointImpedance(_) => ControlScheme::JointImpedance,
            Self::ToolImpedance(_) => ControlScheme::CartesianImpedance,
        }
    }

    /// The fields that are sent, in every cycle the same.
    #[must_use]
    pub const fn flags(&self) -> CommandFlags {
        match self {
            Self::Position => CommandFlags::JOINT_POSITION,
            Self::JointImpedance(_) => CommandFlags::JOINT_POSITION
                .with(CommandFlags::JOINT_STIFFNESS)
                .with(CommandFlags::JOINT_DAMPING)
                .with(CommandFlags::JOINT_TORQUE),
            Self::ToolImpedance(_) => CommandFlags::CARTESIAN_POSITION
                .with(CommandFlags::CARTESIAN_STIFFNESS)
                .with(CommandFlags::CARTESIAN_DAMPING)
                .with(CommandFlags::TOOL_WRENCH)
                .with(CommandFlags::JOINT_POSITION),
        }
    }

    /// Whether the arm goes where these fields say while `scheme` is active on the KRC: it takes each of them, and what
    /// leads there, joints or tool, is led. Joint positions lead in joint impedance too, as stiff as the KRL program says.
    pub(super) const fn leads_in(&self, scheme: ControlScheme) -> bool {
        let by_tool = matches!(scheme, ControlScheme::CartesianImpedance);
        by_tool == matches!(self, Self::ToolImpedance(_)) && CommandFlags::usable(scheme).contains(self.flags())
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first outside its range.
    pub fn check(&self) -> Result<(), BadValue> {
        match self {
            Self::Position => Ok(()),
            Self::JointImpedance(impedance) => {
                impedance.check_ranges()?;
                BadValue::unless(JointVelocities(impedance.torque).is_finite(), "control.torque", "finite numbers")
            }
            Self::ToolImpedance(impedance) => {
                impedance.check_ranges()?;
                let Wrench { force, torque } = &impedance.wrench;
                let finite = force.iter().chain(torque).all(|value| value.is_finite());
                BadValue::unless(finite, "control.wrench", "finite numbers")
            }
        }
    }

    /// Writes flags and parameters; `frame` leads the tool. Torque and force are added only where the KRC `follows`:
    /// elsewhere it wants to be mirrored (`core/docs/protocol/kuka-fri.md A10.2`).
    pub(super) fn write(&self, frame: Frame, follows: bool, command: &mut CommandRepr) {
        command.cmd_flags = self.flags().bits();
        // A frame that was never set is an error on the KRC, whether it counts or not.
        command.cart_pos = frame;
        match self {
            Self::Position => {}
            Self::JointImpedance(impedance) => {
                command.jnt_stiffness = impedance.stiffness;
                command.jnt_damping = impedance.damping;
                command.add_jnt_trq = if follows { impedance.torque } else { [0.0; JOINTS] };
            }
            Self::ToolImpedance(impedance) => {
                command.cart_stiffness = impedance.stiffness;
                command.cart_damping = impedance.damping;
                command.add_tcp_ft = if follows { impedance.wrench } else { Wrench::default() }.into();
            }
        }
    }
}
