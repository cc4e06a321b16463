//! RTDE replies, the packages that controllers send (`core/docs/protocol/ur-rtde.md 3`).

use super::text_message::TextMessage;
use super::{Package, PackageType, Protocol, TypeList, payload, start};
use crate::WireError;
use crate::fields::{FieldVisitor, Group, Value as Shown};
use crate::robot::SoftwareVersion;
use zerocopy::big_endian::U32;

/// The version of the controller's software, as the controller reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ControllerVersion {
    /// The major version of the software: 3, 5 or 10.
    pub major: u32,
    /// The minor version of the software: 15 of 5.15.
    pub minor: u32,
    /// The bug-fix version of the software: 2 of 5.12.2.
    pub bugfix: u32,
    /// The build number of the software.
    pub build: u32,
}

impl ControllerVersion {
    /// Returns the software version without the build number. Numbers that do not fit saturate.
    #[must_use]
    pub fn software(&self) -> SoftwareVersion {
        let byte = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        SoftwareVersion { major: byte(self.major), minor: byte(self.minor), bugfix: self.bugfix }
    }
}

/// An RTDE package from a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply<'a> {
    /// The package `V`: the answer to a requested protocol version.
    ProtocolVersion {
        /// `true` if the requested protocol version is in use from now on.
        accepted: bool,
    },
    /// The package `v`: the version of the controller's software.
    ControllerVersion(ControllerVersion),
    /// The package `M`: a text message; can arrive at any time.
    Text(TextMessage<'a>),
    /// The package `O`: the types of the requested outputs.
    Outputs {
        /// The number of the output recipe; `None` in version 1.
        recipe: Option<u8>,
        /// The list with one type word for each requested name. A `NOT_FOUND` among them makes the recipe invalid.
        types: TypeList<'a>,
    },
    /// The package `I`: the types of the requested inputs.
    Inputs {
        /// The number of the input recipe, 1 … 255; 0 if the recipe is rejected.
        recipe: u8,
        /// The list with one type word for each requested name.
        types: TypeList<'a>,
    },
    /// The package `S`: the answer to a request to start data.
    Start {
        /// `true` if data packages are sent from now on.
        accepted: bool,
    },
    /// The package `P`: the answer to a request to pause data.
    Pause {
        /// `true` if no data packages are sent from now on.
        accepted: bool,
    },
    /// The package `U`: the values of outputs.
    Data {
        /// The number of the recipe to which the values belong; `None` in version 1.
        recipe: Option<u8>,
        /// The undecoded values of the outputs, in the order of the recipe.
        values: &'a [u8],
    },
    /// A package with a letter that no version of RTDE defines.
    Unknown {
        /// The letter of the unknown package.
        letter: u8,
        /// The payload of the unknown package.
        payload: &'a [u8],
    },
}

impl<'a> Reply<'a> {
    /// Reads a package from a controller, on a connection with this version of the protocol.
    ///
    /// # Errors
    /// `Truncated` if the payload is too short for its letter. A longer payload is accepted.
    pub fn parse(package: &Package<'a>, protocol: Protocol) -> Result<Self, WireError> {
        let mut bytes = payload(package);
        let numbered = protocol == Protocol::V2;
        Ok(match package.package_type {
            PackageType::ProtocolVersion => Self::ProtocolVersion { accepted: bytes.value::<u8>()? != 0 },
            PackageType::ControllerVersion => {
                let [major, minor, bugfix, build] = bytes.value::<[U32; 4]>()?;
                Self::ControllerVersion(ControllerVersion { major, minor, bugfix, build })
            }
            PackageType::Text => Self::Text(TextMessage::from_controller(package, protocol)?),
            PackageType::SetupOutputs => {
                let recipe = if numbered { Some(bytes.value::<u8>()?) } else { None };
                Self::Outputs { recipe, types: TypeList(bytes.rest()) }
            }
            PackageType::SetupInputs => Self::Inputs { recipe: bytes.value::<u8>()?, types: TypeList(bytes.rest()) },
            PackageType::Start => Self::Start { accepted: bytes.value::<u8>()? != 0 },
            PackageType::Pause => Self::Pause { accepted: bytes.value::<u8>()? != 0 },
            PackageType::Data => {
                let recipe = if numbered { Some(bytes.value::<u8>()?) } else { None };
                Self::Data { recipe, values: bytes.rest() }
            }
            PackageType::Unknown(letter) => Self::Unknown { letter, payload: bytes.rest() },
        })
    }

    /// Writes the RTDE reply and returns its length \[B\]. It has the form of version 2 if outputs or data have a
    /// recipe number, or a text has a source.
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter; `BadLength` if a text or the package exceeds its length field.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        match self {
            Self::ProtocolVersion { accepted } => yes_or_no(PackageType::ProtocolVersion, *accepted, out),
            Self::ControllerVersion(version) => {
                let ControllerVersion { major, minor, bugfix, build } = *version;
                let mut put = start(out, PackageType::ControllerVersion, 16)?;
                put.value::<[U32; 4]>([major, minor, bugfix, build])?;
                Ok(put.written())
            }
            Self::Text(text) => text.emit(out),
            Self::Outputs { recipe, types } => list(PackageType::SetupOutputs, *recipe, types.0, out),
            Self::Inputs { recipe, types } => list(PackageType::SetupInputs, Some(*recipe), types.0, out),
            Self::Start { accepted } => yes_or_no(PackageType::Start, *accepted, out),
            Self::Pause { accepted } => yes_or_no(PackageType::Pause, *accepted, out),
            Self::Data { recipe, values } => list(PackageType::Data, *recipe, values, out),
            Self::Unknown { letter, payload } => list(PackageType::Unknown(*letter), None, payload, out),
        }
    }

    /// Calls `visitor` for each field of the reply's package, in wire order. The values of data are shown as one run of
    /// bytes.
    pub fn visit(&self, package: &Package<'_>, visitor: &mut dyn FieldVisitor) {
        package.visit_header(visitor);
        match self {
            Self::ProtocolVersion { accepted } | Self::Start { accepted } | Self::Pause { accepted } => {
                visitor.field("accepted", Shown::Bool(*accepted));
            }
            Self::ControllerVersion(version) => {
                visitor.field("major", Shown::Unsigned(version.major.into()));
                visitor.field("minor", Shown::Unsigned(version.minor.into()));
                visitor.field("bugfix", Shown::Unsigned(version.bugfix.into()));
                visitor.field("build", Shown::Unsigned(version.build.into()));
            }
            Self::Text(text) => {
                visitor.field("message", Shown::Text(text.message));
                if let Some(source) = text.source {
                    visitor.field("source", Shown::Text(source));
                }
                visitor.field("warning_level", Shown::Unsigned(text.level.raw().into()));
            }
            Self::Outputs { recipe, types } => {
                show_recipe(*recipe, visitor);
                show_words(*types, visitor);
            }
            Self::Inputs { recipe, types } => {
                show_recipe(Some(*recipe), visitor);
                show_words(*types, visitor);
            }
            Self::Data { recipe, values } => {
                show_recipe(*recipe, visitor);
                visitor.field("values", Shown::Bytes(values));
            }
            Self::Unknown { payload, .. } => visitor.field("payload", Shown::Bytes(payload)),
        }
    }
}

fn yes_or_no(package_type: PackageType, accepted: bool, out: &mut [u8]) -> Result<usize, WireError> {
    let mut put = start(out, package_type, 1)?;
    put.value::<u8>(accepted.into())?;
    Ok(put.written())
}

/// Writes an RTDE package of this type with the number of a recipe, if there is one, and then `bytes`: type words or
/// values.
fn list(package_type: PackageType, recipe: Option<u8>, bytes: &[u8], out: &mut [u8]) -> Result<usize, WireError> {
    let head = usize::from(recipe.is_some());
    let mut put = start(out, package_type, bytes.len().saturating_add(head))?;
    if let Some(recipe) = recipe {
        put.value::<u8>(recipe)?;
    }
    put.bytes(bytes)?;
    Ok(put.written())
}

fn show_recipe(recipe: Option<u8>, visitor: &mut dyn FieldVisitor) {
    if let Some(recipe) = recipe {
        visitor.field("recipe_id", Shown::Unsigned(recipe.into()));
    }
}

fn show_words(types: TypeList<'_>, visitor: &mut dyn FieldVisitor) {
    visitor.begin("types", Group::List);
    for word in super::NameList(types.0) {
        visitor.field("", Shown::Text(word));
    }
    visitor.end();
}
