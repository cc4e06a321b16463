//! The enumerations of FRI: interface state, link quality and control scheme (`core/docs/protocol/kuka-fri.md A7`).

use crate::robot::wire_enum;

wire_enum! {
    /// The state of the FRI interface: what the KRC (KUKA's controller) does with commands.
    #[doc(alias = "FRI_STATE")]
    FriState: u16 {
        Off = 0 "OFF" "the interface is closed; never meaningful on the wire",
        Monitor = 1 "MON" "commands are received and rated, not carried out",
        Command = 2 "CMD" "commands are carried out, as long as the drives are on",
    }
}

wire_enum! {
    /// The KRC's own rating of the link to the remote computer.
    #[doc(alias = "FRI_QUALITY")]
    Quality: u16 {
        Unacceptable = 0 "UNACCEPTABLE" "commanding is not allowed",
        Bad = 1 "BAD" "commanding is allowed",
        Ok = 2 "OK" "commanding is allowed",
        Perfect = 3 "PERFECT" "commanding is allowed",
    }
}

impl Quality {
    /// Returns whether the KRC lets the remote computer command the arm at this link quality. `false` for a number
    /// without a name.
    #[must_use]
    pub const fn permits_command(self) -> bool {
        matches!(self, Self::Bad | Self::Ok | Self::Perfect)
    }
}

wire_enum! {
    /// The control scheme that is active on the KRC (KUKA's controller).
    #[doc(alias = "FRI_CTRL")]
    ControlScheme: u16 {
        Other = 0 "OTHER" "one that takes no commands of FRI",
        Position = 1 "POSITION" "joint position",
        CartesianImpedance = 2 "CART_IMP" "Cartesian impedance",
        JointImpedance = 3 "JNT_IMP" "joint impedance",
    }
}

impl ControlScheme {
    /// Returns the number that a KRL program writes to `$stiffness.strategy` for this scheme; `None` if it is not
    /// known.
    #[must_use]
    pub const fn strategy(self) -> Option<i32> {
        match self {
            Self::Position => Some(10),
            Self::CartesianImpedance => Some(20),
            Self::JointImpedance => Some(30),
            Self::Other | Self::Unknown(_) => None,
        }
    }

    /// Returns the scheme that a value of `$stiffness.strategy` selects; `None` if the value is not a scheme of FRI.
    #[must_use]
    pub const fn from_strategy(strategy: i32) -> Option<Self> {
        match strategy {
            10 => Some(Self::Position),
            20 => Some(Self::CartesianImpedance),
            30 => Some(Self::JointImpedance),
            _ => None,
        }
    }
}
