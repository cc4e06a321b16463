//! The robot-state message (type 16) as a sequence of sub-packages (`core/docs/protocol/ur-client-interfaces.md 3.1`).

use super::hardware::{self, MasterboardData, MasterboardDataCb2, ToolCommunicationInfo, ToolData, ToolModeInfo};
use super::kinematics_packages::{ConfigurationData, KinematicsInfo};
use super::package::{self, SubPackageRepr};
use super::status::{
    AdditionalInfo, CalibrationData, CartesianInfo, ForceModeData, JointData, RobotModeData, SafetyData,
    SingularityInfo,
};
use super::{HEADER_LEN, ROBOT_STATE};
use crate::fields::{FieldVisitor, Group, Value};
use crate::robot::SoftwareVersion;
use crate::{Put, WireError, WireErrorKind};
use zerocopy::big_endian::I32;

macro_rules! sub_packages {
    ($( $variant:ident $name:literal; )+) => {
        /// A sub-package of a robot state.
        #[derive(Clone, Copy, Debug)]
        pub enum SubPackage<'a> {
            $( #[doc = concat!("`", $name, "`.")] $variant($variant<'a>), )+
            /// A sub-package of a type that this version of Outrigger does not know.
            Unknown {
                /// The type byte of the unknown sub-package.
                package_type: u8,
                /// The whole unknown sub-package, header included.
                bytes: &'a [u8],
            },
        }

        impl SubPackage<'_> {
            /// Returns the name of the sub-package in the specification, in snake_case; `unknown` if there is none.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $name, )+
                    Self::Unknown { .. } => "unknown",
                }
            }

            /// Returns the type byte of the sub-package.
            #[must_use]
            pub const fn package_type(&self) -> u8 {
                match self {
                    $( Self::$variant(_) => $variant::TYPE, )+
                    Self::Unknown { package_type, .. } => *package_type,
                }
            }

            /// Calls `visitor` for each field of the sub-package, in wire order, without a group around them.
            pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
                match self {
                    $( Self::$variant(package) => package.visit(visitor), )+
                    Self::Unknown { package_type, bytes } => {
                        package::visit_header(bytes.len(), *package_type, visitor);
                        visitor.field("payload", Value::Bytes(bytes.get(package::HEADER_LEN..).unwrap_or_default()));
                    }
                }
            }
        }
    };
}

sub_packages! {
    RobotModeData "robot_mode_data";
    JointData "joint_data";
    ToolData "tool_data";
    MasterboardDataCb2 "masterboard_data";
    MasterboardData "masterboard_data";
    CartesianInfo "cartesian_info";
    KinematicsInfo "kinematics_info";
    ConfigurationData "configuration_data";
    ForceModeData "force_mode_data";
    AdditionalInfo "additional_info";
    CalibrationData "calibration_data";
    SafetyData "safety_data";
    ToolCommunicationInfo "tool_communication_info";
    ToolModeInfo "tool_mode_info";
    SingularityInfo "singularity_info";
}

impl<'a> SubPackage<'a> {
    /// Returns the sub-package that fills `bytes` to the end.
    ///
    /// # Errors
    /// `Truncated` if bytes are missing; `BadLength` if the size field differs from the length of `bytes`.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, WireError> {
        let (size, package_type, payload) = package::open(bytes)?;
        Ok(match package_type {
            RobotModeData::TYPE => Self::RobotModeData(RobotModeData::body(size, payload)?),
            JointData::TYPE => Self::JointData(JointData::body(size, payload)?),
            ToolData::TYPE => Self::ToolData(ToolData::body(size, payload)?),
            MasterboardData::TYPE if hardware::is_cb2_masterboard(bytes) => {
                Self::MasterboardDataCb2(MasterboardDataCb2::body(size, payload)?)
            }
            MasterboardData::TYPE => Self::MasterboardData(MasterboardData::body(size, payload)?),
            CartesianInfo::TYPE => Self::CartesianInfo(CartesianInfo::body(size, payload)?),
            KinematicsInfo::TYPE => Self::KinematicsInfo(KinematicsInfo::body(size, payload)?),
            ConfigurationData::TYPE => Self::ConfigurationData(ConfigurationData::body(size, payload)?),
            ForceModeData::TYPE => Self::ForceModeData(ForceModeData::body(size, payload)?),
            AdditionalInfo::TYPE => Self::AdditionalInfo(AdditionalInfo::body(size, payload)?),
            CalibrationData::TYPE => Self::CalibrationData(CalibrationData::body(size, payload)?),
            SafetyData::TYPE => Self::SafetyData(SafetyData::body(size, payload)?),
            ToolCommunicationInfo::TYPE => Self::ToolCommunicationInfo(ToolCommunicationInfo::body(size, payload)?),
            ToolModeInfo::TYPE => Self::ToolModeInfo(ToolModeInfo::body(size, payload)?),
            SingularityInfo::TYPE => Self::SingularityInfo(SingularityInfo::body(size, payload)?),
            _ => Self::Unknown { package_type, bytes },
        })
    }
}

/// Iterates over the sub-packages of a robot state, in the order of the message.
///
/// A malformed sub-package is an error with its offset in the message, and the iteration continues with the next one.
/// If a size field is invalid, the error is the last item.
#[derive(Clone, Copy, Debug)]
pub struct SubPackages<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> SubPackages<'a> {
    /// Starts the iteration over the sub-packages; `body` is the robot-state message without its header.
    pub(super) const fn new(body: &'a [u8]) -> Self {
        Self { rest: body, at: HEADER_LEN }
    }

    /// Calls `visitor` for each sub-package as a record under the sub-package's name. Sub-packages of unknown types
    /// follow in a list `unknown_sub_packages` of records.
    ///
    /// # Errors
    /// The first error of the iteration; the known sub-packages before it have been visited.
    pub fn visit(&self, visitor: &mut dyn FieldVisitor) -> Result<(), WireError> {
        let mut unknown = 0_usize;
        for package in *self {
            let package = package?;
            if matches!(package, SubPackage::Unknown { .. }) {
                unknown = unknown.saturating_add(1);
                continue;
            }
            visitor.begin(package.name(), Group::Record);
            package.visit(visitor);
            visitor.end();
        }
        if unknown == 0 {
            return Ok(());
        }
        visitor.begin("unknown_sub_packages", Group::List);
        for package in self.flatten().filter(|package| matches!(package, SubPackage::Unknown { .. })) {
            visitor.begin("", Group::Record);
            package.visit(visitor);
            visitor.end();
        }
        visitor.end();
        Ok(())
    }
}

impl<'a> Iterator for SubPackages<'a> {
    type Item = Result<SubPackage<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let base = self.at;
        let split = package::header(self.rest).map(|(size, _)| self.rest.split_at_checked(size).unwrap_or_default());
        let package = match split {
            Ok((package, rest)) => {
                self.rest = rest;
                self.at = base.saturating_add(package.len());
                SubPackage::new_checked(package)
            }
            Err(error) => {
                self.rest = &[];
                Err(error)
            }
        };
        Some(package.map_err(|error| error.offset_by(base)))
    }
}

/// Writes a robot-state message, one sub-package after the other.
#[derive(Debug)]
pub struct RobotStateWriter<'b> {
    out: &'b mut [u8],
    written: usize,
}

impl<'b> RobotStateWriter<'b> {
    /// Starts a robot-state message without sub-packages at the start of `out`.
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the header.
    pub fn new(out: &'b mut [u8]) -> Result<Self, WireError> {
        let mut put = Put::new(out, HEADER_LEN)?;
        put.value::<I32>(0)?;
        put.value::<u8>(ROBOT_STATE)?;
        Ok(Self { out, written: HEADER_LEN })
    }

    /// Appends the sub-package `package` in the layout that has `size` bytes.
    ///
    /// # Errors
    /// The errors of [`SubPackageRepr::emit`]; the message is then unchanged.
    pub fn add<P: SubPackageRepr>(&mut self, package: &P, size: usize) -> Result<(), WireError> {
        let place = self.out.get_mut(self.written..).unwrap_or_default();
        let written = package.emit(size, place).map_err(|error| self.grown(error))?;
        self.written = self.written.saturating_add(written);
        Ok(())
    }

    /// Appends the sub-package `package` with the bytes `extra` behind its last field, as newer software does.
    ///
    /// # Errors
    /// The errors of [`SubPackageRepr::emit`]; the message is then unchanged.
    pub fn add_extended<P: SubPackageRepr>(&mut self, package: &P, size: usize, extra: &[u8]) -> Result<(), WireError> {
        let total = size.saturating_add(extra.len());
        let start = self.written;
        // Written in its own layout first, because the total size could be that of another layout.
        self.add(package, size)?;
        let patched = self.patch(start, size, total, extra);
        if patched.is_err() {
            self.written = start;
        }
        patched
    }

    /// Appends a sub-package of any type from its payload.
    ///
    /// # Errors
    /// `BufferTooSmall` if the rest of the buffer is too small; the message is then unchanged.
    pub fn add_raw(&mut self, package_type: u8, payload: &[u8]) -> Result<(), WireError> {
        let size = payload.len().saturating_add(package::HEADER_LEN);
        let place = self.out.get_mut(self.written..).unwrap_or_default();
        let result = package::start(place, size, package_type).and_then(|mut put| put.bytes(payload));
        result.map_err(|error| self.grown(error))?;
        self.written = self.written.saturating_add(size);
        Ok(())
    }

    /// Writes the robot-state message's length and returns it \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if the buffer is shorter than the message's header; [`Self::new`] has excluded this.
    pub fn finish(self) -> Result<usize, WireError> {
        let mut put = Put::new(self.out, HEADER_LEN)?;
        put.value::<I32>(i32::try_from(self.written).unwrap_or(i32::MAX))?;
        Ok(self.written)
    }

    fn patch(&mut self, start: usize, size: usize, total: usize, extra: &[u8]) -> Result<(), WireError> {
        let place = self.out.get_mut(start..).unwrap_or_default();
        let have = place.len();
        let short = WireError::new(WireErrorKind::BufferTooSmall, start, total, have);
        let (head, tail) = place.split_at_mut_checked(size).ok_or(short)?;
        Put::new(tail, extra.len()).and_then(|mut put| put.bytes(extra)).map_err(|_| short)?;
        Put::new(head, 4)?.value::<I32>(i32::try_from(total).unwrap_or(i32::MAX))?;
        self.written = start.saturating_add(total);
        Ok(())
    }

    /// Converts the `error` of writing a sub-package to one of the whole message: its offset, and the number of bytes
    /// needed, then count from the start of the message's buffer.
    fn grown(&self, error: WireError) -> WireError {
        match error.kind {
            WireErrorKind::BufferTooSmall => {
                let need = self.written.saturating_add(error.need.into());
                WireError::new(error.kind, self.written, need, self.out.len())
            }
            _ => error.offset_by(self.written),
        }
    }
}

/// Returns the size of sub-package `package_type` on controllers with this software, without Euromap 67; `None` if they
/// do not send it (`core/docs/protocol/ur-client-interfaces.md 3.1`). Types 5 and 6 are not sent in every message: only in
/// the first one, and after changes.
///
/// If the specification only says that a size changed "later", the first release after the observed one is used.
#[must_use]
pub const fn size_for(package_type: u8, software: SoftwareVersion) -> Option<usize> {
    let size = match (package_type, software.major, software.minor) {
        (0, 0..=2, _) => 29,
        (0, 3, 0..=1) => 38,
        (0, 3, 2..=4) => 46,
        (0, ..) => 47,
        (1, ..) => 251,
        (2, ..) => 37,
        (3, 0, _) | (3, 1, 0..=5) => 61,
        (3, 1..=2, _) => 64,
        (3, 3, 0..=1) => 72,
        (3, 3, 2..=4) => 74,
        (3, ..) => 75,
        (4, 0..=2, _) | (4, 3, 0) => 53,
        (4, ..) => 101,
        (5, 0, _) | (5, 1, 0..=5) => 29,
        (5, 3.., _) => 225,
        (6, 1, 8..) | (6, 2, _) => 469,
        (6, 3.., _) => 445,
        (7, 1, 6..) | (7, 2.., _) => 61,
        (8, 1, 6..=7) => 10,
        (8, 1, 8..) | (8, 2, _) | (8, 3, 0..=1) => 7,
        (8, 3, 2..=4) => 8,
        (8, 3.., _) => 9,
        (9, 1, 8..) | (9, 2.., _) => 53,
        (10, 3, 5) | (10, 5, 0) => 41,
        (10, 3, 6..) | (10, 4.., _) => 43,
        (11, 5.., _) => 26,
        (12, 5, 1..) | (12, 6.., _) => 8,
        (13, 5, 9..) | (13, 6.., _) => 7,
        _ => return None,
    };
    Some(size)
}
