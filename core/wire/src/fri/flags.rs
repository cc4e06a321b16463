//! The flags that select the fields of a command (`core/docs/protocol/kuka-fri.md A6, A8`).

use super::ControlScheme;

/// A set of fields of an FRI command. The KRC ignores a field whose flag is not set and uses the value that its own
/// program configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(alias = "cmdFlags")]
pub struct CommandFlags(u32);

impl CommandFlags {
    /// The empty set: no field of the command is in effect.
    pub const NONE: Self = Self(0);
    /// The flag of an FRI command that has joint positions; in Cartesian impedance control they set the posture in the
    /// null space.
    pub const JOINT_POSITION: Self = Self(0x0001);
    /// The flag of a command that has the joint torques, which are added to those of the control law.
    pub const JOINT_TORQUE: Self = Self(0x0004);
    /// The flag of a command that has the joints' stiffness.
    pub const JOINT_STIFFNESS: Self = Self(0x0010);
    /// The flag of a command that has the joints' damping.
    pub const JOINT_DAMPING: Self = Self(0x0020);
    /// The flag of a command that has the Cartesian position of the tool.
    pub const CARTESIAN_POSITION: Self = Self(0x0100);
    /// The flag of a command that has the force and torque at the tool, which are added to those of the control law.
    pub const TOOL_WRENCH: Self = Self(0x0400);
    /// The flag of a command that has the stiffness along and about the Cartesian axes.
    pub const CARTESIAN_STIFFNESS: Self = Self(0x1000);
    /// The flag of a command that has the damping along and about the Cartesian axes.
    pub const CARTESIAN_DAMPING: Self = Self(0x2000);

    const JOINT_IMPEDANCE: Self =
        Self::JOINT_POSITION.with(Self::JOINT_TORQUE).with(Self::JOINT_STIFFNESS).with(Self::JOINT_DAMPING);
    const CARTESIAN_IMPEDANCE: Self = Self::CARTESIAN_POSITION
        .with(Self::TOOL_WRENCH)
        .with(Self::CARTESIAN_STIFFNESS)
        .with(Self::CARTESIAN_DAMPING)
        .with(Self::JOINT_POSITION)
        .with(Self::JOINT_STIFFNESS)
        .with(Self::JOINT_DAMPING);

    /// Returns the set of command flags with these bits. Bits without a name are kept.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits that transmit the set of command flags.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the union of this set of command flags and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns this set of command flags without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns whether this set contains every command flag of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the command fields that the KRC uses while `scheme` is active; the empty set if the scheme accepts no
    /// commands.
    #[must_use]
    pub const fn usable(scheme: ControlScheme) -> Self {
        match scheme {
            ControlScheme::Position => Self::JOINT_POSITION,
            ControlScheme::JointImpedance => Self::JOINT_IMPEDANCE,
            ControlScheme::CartesianImpedance => Self::CARTESIAN_IMPEDANCE,
            ControlScheme::Other | ControlScheme::Unknown(_) => Self::NONE,
        }
    }
}
