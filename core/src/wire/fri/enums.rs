//! Enumerations of FRI (`kuka-fri` A7). A number without a name is kept as `Unknown(raw)`.

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $value:literal $text:literal $meaning:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`, ", stringify!($value), ": ", $meaning)] $variant,)+
            /// A number this version of Outrigger has no name for.
            Unknown(u16),
        }

        impl $name {
            /// The named values with their numbers.
            pub const NAMED: &'static [(Self, u16)] = &[$((Self::$variant, $value)),+];

            /// The value with this number.
            #[must_use]
            pub const fn from_raw(raw: u16) -> Self {
                match raw {
                    $($value => Self::$variant,)+
                    other => Self::Unknown(other),
                }
            }

            /// The number on the wire.
            #[must_use]
            pub const fn raw(self) -> u16 {
                match self {
                    $(Self::$variant => $value,)+
                    Self::Unknown(raw) => raw,
                }
            }

            /// The name used in reports; `UNKNOWN` where there is none.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Unknown(_) => "UNKNOWN",
                }
            }
        }
    };
}

wire_enum! {
    /// What the KRC does with commands.
    #[doc(alias = "FRI_STATE")]
    FriState {
        Off = 0 "OFF" "the interface is closed; never meaningful on the wire.",
        Monitor = 1 "MON" "commands are received and rated, not carried out.",
        Command = 2 "CMD" "commands are carried out, as long as the drives are on.",
    }
}

wire_enum! {
    /// How the KRC itself rates the link.
    #[doc(alias = "FRI_QUALITY")]
    Quality {
        Unacceptable = 0 "UNACCEPTABLE" "commanding is not allowed.",
        Bad = 1 "BAD" "commanding is allowed.",
        Ok = 2 "OK" "commanding is allowed.",
        Perfect = 3 "PERFECT" "commanding is allowed.",
    }
}

impl Quality {
    /// Whether the KRC commands the arm at this quality; a number without a name is no permission.
    #[must_use]
    pub const fn permits_command(self) -> bool {
        matches!(self, Self::Bad | Self::Ok | Self::Perfect)
    }
}

wire_enum! {
    /// The control scheme that is active on the KRC.
    #[doc(alias = "FRI_CTRL")]
    ControlScheme {
        Other = 0 "OTHER" "one that takes no commands of FRI.",
        Position = 1 "POSITION" "joint position.",
        CartesianImpedance = 2 "CART_IMP" "Cartesian impedance.",
        JointImpedance = 3 "JNT_IMP" "joint impedance.",
    }
}

impl ControlScheme {
    /// What a KRL program writes to `$stiffness.strategy` for this scheme; `None` where it is not known.
    #[must_use]
    pub const fn strategy(self) -> Option<i32> {
        match self {
            Self::Position => Some(10),
            Self::CartesianImpedance => Some(20),
            Self::JointImpedance => Some(30),
            Self::Other | Self::Unknown(_) => None,
        }
    }

    /// The scheme that `$stiffness.strategy` asks for; `None` for a number that asks for none of FRI.
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
