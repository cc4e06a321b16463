//! Enumerations as they stand on the wire. Every number survives: what is not known is kept as `Unknown(raw)`, because
//! controllers extend these lists between releases.

/// An enumeration by its numbers of the type named, each with the controller's own name and, where that does not say it, its
/// meaning.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident: $raw:ty { $($variant:ident = $value:literal $text:literal $($meaning:literal)?),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`, ", stringify!($value) $(, ": ", $meaning)?, ".")] $variant,)+
            /// A number this version of Outrigger has no name for.
            Unknown($raw),
        }

        impl $name {
            /// The named values with their numbers, in the order of the specification.
            pub const NAMED: &'static [(Self, $raw)] = &[$((Self::$variant, $value)),+];

            /// The value with this number.
            #[must_use]
            pub const fn from_raw(raw: $raw) -> Self {
                match raw {
                    $($value => Self::$variant,)+
                    other => Self::Unknown(other),
                }
            }

            /// The number on the wire.
            #[must_use]
            pub const fn raw(self) -> $raw {
                match self {
                    $(Self::$variant => $value,)+
                    Self::Unknown(raw) => raw,
                }
            }

            /// The controller's own name, as reports have it; `UNKNOWN` where there is none.
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

pub(crate) use wire_enum;
