//! Real-Time Data Exchange, port 30004 (`core/docs/protocol/ur-rtde.md`): on every CB3 from software 3.4 on, e-Series
//! and PolyScope X.
//!
//! A client requests variables by name once. Afterwards the controller sends their values, and accepts values of
//! inputs, in packages without names or types. In both directions a package is a length, a letter and a payload:
//!
//! | letter | [`Request`], client to controller | [`Reply`], controller to client |
//! |---|---|---|
//! | `V` | wanted protocol version | whether it is accepted |
//! | `v` | – | the controller's software |
//! | `O` | frequency (version 2), names of outputs | recipe (version 2), types |
//! | `I` | names of inputs | recipe, types |
//! | `S`, `P` | – | whether data flows, or pauses |
//! | `U` | recipe, values of inputs | recipe (version 2), values of outputs |
//! | `M` | text for the operator's log | text, mostly about violations |
//!
//! A list of requested variables is a recipe: [`rtde_recipe!`](crate::rtde_recipe) defines one at compile time,
//! [`DynamicRecipe`] at run time; both take names and types from [`registry`]. The size of a list, a text or values
//! follows from the package's length. There is no checksum and no sequence number.
//!
//! A connection begins in [`Protocol::V1`]. The letter `M` from the controller, `O`, and data have a different form in
//! each version, so the functions that read them take the version as an argument.
//!
//! ```
//! use outrigger_wire::robot::SoftwareVersion;
//! use outrigger_wire::rtde::{Package, Protocol, Reply};
//!
//! // The answer to `v`, which software is this: 5.15.2.
//! let bytes = b"\0\x13v\0\0\0\x05\0\0\0\x0f\0\0\0\x02\0\x01\x7e\xa0";
//! let package = Package::new_checked(bytes)?;
//! let Reply::ControllerVersion(version) = Reply::parse(&package, Protocol::V1)? else { panic!("another reply") };
//! assert!(version.software().at_least(5, 15));
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

mod comma_list;
mod dynamic_recipe;
mod recipe;
pub mod registry;
mod reply;
mod request;
#[cfg(test)]
mod tests;
mod text_message;
mod types;

#[doc(hidden)]
pub use comma_list::names;
pub use comma_list::{NameList, Names, TypeList, TypeWord, TypeWords};
pub use dynamic_recipe::{DynamicRecipe, Field, Presence, RecipeData, RecipeReader};
pub use recipe::{Problem, Recipe, RecipeError, types_of};
#[doc(hidden)]
pub use recipe::{absent, at, check_name, put_data, type_number, write};
pub use registry::Variable;
pub use reply::{ControllerVersion, Reply};
pub use request::Request;
pub use text_message::{Level, TextMessage};
#[doc(hidden)]
pub use types::{BytesOf, HostOf};
pub use types::{Data, DataType, Value};

use super::fields::FieldVisitor;
use super::{Put, Take, WireError, WireErrorKind};
use zerocopy::big_endian::U16;

/// The size of an RTDE package's header \[B\]: length and letter.
pub const HEADER_LEN: usize = 3;

/// The size of the longest RTDE package \[B\]: the largest number in its length field.
pub const MAX_SIZE: usize = 65_535;

/// The longest list of variable names that a controller accepts \[B\].
pub const MAX_NAMES: usize = 2048;

/// The version of the protocol on a connection, which determines the form of packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Protocol {
    /// Version 1 of the RTDE protocol, in which every connection begins.
    #[default]
    V1,
    /// Version 2: outputs have a frequency and a recipe number, texts a source.
    V2,
}

impl Protocol {
    /// Returns the number with which a client requests the version: 1 or 2.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
        }
    }
}

/// The kind of an RTDE package, by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PackageType {
    /// The package `V`: the request for a protocol version, or the answer to it.
    ProtocolVersion,
    /// The package `v`: the version of the controller's software.
    ControllerVersion,
    /// The package `M`: a text message.
    Text,
    /// The package `U`: values of inputs or outputs.
    Data,
    /// The package `O`: the setup of outputs, by their names or types.
    SetupOutputs,
    /// The package `I`: the setup of inputs, by their names or types.
    SetupInputs,
    /// The package `S`: the start of sending data packages.
    Start,
    /// The package `P`: the pause in sending data packages.
    Pause,
    /// A package with a letter that no version of RTDE defines.
    Unknown(u8),
}

impl PackageType {
    /// Returns the kind of RTDE package for this letter.
    #[must_use]
    pub const fn from_letter(letter: u8) -> Self {
        match letter {
            b'V' => Self::ProtocolVersion,
            b'v' => Self::ControllerVersion,
            b'M' => Self::Text,
            b'U' => Self::Data,
            b'O' => Self::SetupOutputs,
            b'I' => Self::SetupInputs,
            b'S' => Self::Start,
            b'P' => Self::Pause,
            other => Self::Unknown(other),
        }
    }

    /// Returns the letter by which the package's kind is transmitted.
    #[must_use]
    pub const fn letter(self) -> u8 {
        match self {
            Self::ProtocolVersion => b'V',
            Self::ControllerVersion => b'v',
            Self::Text => b'M',
            Self::Data => b'U',
            Self::SetupOutputs => b'O',
            Self::SetupInputs => b'I',
            Self::Start => b'S',
            Self::Pause => b'P',
            Self::Unknown(other) => other,
        }
    }
}

/// An RTDE package of either direction: its kind and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package<'a> {
    /// The kind of the RTDE package.
    pub package_type: PackageType,
    /// The bytes of the package after its header.
    pub payload: &'a [u8],
}

impl<'a> Package<'a> {
    /// Returns the package that fills `bytes`.
    ///
    /// # Errors
    /// `Truncated` if bytes are missing; `BadLength` if the length is below 3 or bytes remain.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut take = Take::new(bytes);
        let size = usize::from(take.value::<U16>()?);
        let letter = take.value::<u8>()?;
        if size < HEADER_LEN {
            return Err(WireError::new(WireErrorKind::BadLength, 0, HEADER_LEN, size));
        }
        if size > bytes.len() {
            return Err(WireError::new(WireErrorKind::Truncated, 0, size, bytes.len()));
        }
        if size < bytes.len() {
            return Err(WireError::new(WireErrorKind::BadLength, 0, bytes.len(), size));
        }
        Ok(Self { package_type: PackageType::from_letter(letter), payload: take.rest() })
    }

    /// Returns the size of the RTDE package, header included \[B\].
    #[must_use]
    pub const fn size(&self) -> usize {
        HEADER_LEN.saturating_add(self.payload.len())
    }

    /// Passes the size and the letter of the package to a visitor.
    fn visit_header(&self, visitor: &mut dyn FieldVisitor) {
        use super::fields::Value as Shown;
        visitor.field("package_size", Shown::Unsigned(u64::try_from(self.size()).unwrap_or(u64::MAX)));
        visitor.field("package_type", Shown::Text(&[self.package_type.letter()]));
    }
}

/// Starts an RTDE package with `payload` bytes of payload by writing its header.
fn start(out: &mut [u8], package_type: PackageType, payload: usize) -> Result<Put<'_>, WireError> {
    let size = HEADER_LEN.saturating_add(payload);
    let Ok(declared) = u16::try_from(size) else {
        return Err(WireError::new(WireErrorKind::BadLength, 0, MAX_SIZE, size));
    };
    let mut put = Put::new(out, size)?;
    put.value::<U16>(declared)?;
    put.value::<u8>(package_type.letter())?;
    Ok(put)
}

/// Returns the payload of a package; offsets of errors count from the start of the package.
fn payload<'a>(package: &Package<'a>) -> Take<'a> {
    Take { rest: package.payload, at: HEADER_LEN }
}
