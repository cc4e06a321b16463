//! Enumerations of the wire. Every number is preserved: one without a name is `Unknown(raw)` and displayed with that
//! number, because controllers extend these lists between releases.

/// Defines an enumeration of values that are transmitted as numbers of the given integer type. Each value has its
/// number, the controller's own name and, if the name is not self-explanatory, a meaning for the documentation.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident: $raw:ty { $($variant:ident = $value:literal $text:literal $($meaning:literal)?),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`, ", stringify!($value) $(, ": ", $meaning)?, ".")] $variant,)+
            /// A transmitted number for which this version of Outrigger has no name.
            Unknown($raw),
        }

        impl $name {
            /// The named values of the enumeration with the numbers that transmit them, in the order of the
            /// specification.
            pub const NAMED: &'static [(Self, $raw)] = &[$((Self::$variant, $value)),+];

            /// Returns the value of the enumeration that is transmitted as the number `raw`.
            #[must_use]
            pub const fn from_raw(raw: $raw) -> Self {
                match raw {
                    $($value => Self::$variant,)+
                    other => Self::Unknown(other),
                }
            }

            /// Returns the number by which the value of the enumeration is transmitted.
            #[must_use]
            pub const fn raw(self) -> $raw {
                match self {
                    $(Self::$variant => $value,)+
                    Self::Unknown(raw) => raw,
                }
            }

            /// Returns the name of the value in the protocol; `None` for a number without one. Displaying the value
            /// shows that number.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($text),)+
                    Self::Unknown(_) => None,
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                $crate::robot::wire_enum::display(f, self.name(), self.raw())
            }
        }
    };
}

/// Writes the name of a value in the protocol, or `UNKNOWN` and the value's number.
pub(crate) fn display(
    f: &mut core::fmt::Formatter<'_>,
    name: Option<&str>,
    raw: impl core::fmt::Display,
) -> core::fmt::Result {
    match name {
        Some(name) => f.pad(name),
        None => write!(f, "UNKNOWN {raw}"),
    }
}

pub(crate) use wire_enum;
