//! The common parts of all sub-packages of the robot-state message: the five-byte header, reading and writing.

use crate::{Put, Take, WireError, WireErrorKind};
use zerocopy::big_endian::I32;

/// The size of a sub-package's header \[B\]: size and type.
pub(super) const HEADER_LEN: usize = 5;

/// A sub-package of a robot-state message that can be written.
pub trait SubPackageRepr {
    /// The type byte of the sub-package.
    const TYPE: u8;

    /// Writes the sub-package in the layout that has `size` bytes and returns `size`. Fields that belong to other sizes
    /// are not written; bytes after the last known field are zero.
    ///
    /// # Errors
    /// `BadLength` if the layout needs more than `size` bytes; `BufferTooSmall` if `out` is shorter.
    fn emit(&self, size: usize, out: &mut [u8]) -> Result<usize, WireError>;
}

/// Returns size and type of the sub-package at the start of `bytes`; other bytes may follow it.
pub(super) fn header(bytes: &[u8]) -> Result<(usize, u8), WireError> {
    let mut head = Take::new(bytes);
    let declared = head.value::<I32>()?;
    let package_type = head.value::<u8>()?;
    let size = usize::try_from(declared).unwrap_or(0);
    if size < HEADER_LEN {
        return Err(WireError::new(WireErrorKind::BadLength, 0, HEADER_LEN, size));
    }
    if size > bytes.len() {
        return Err(WireError::new(WireErrorKind::Truncated, 0, size, bytes.len()));
    }
    Ok((size, package_type))
}

/// Returns size, type and payload of the sub-package that fills `bytes`.
pub(super) fn open(bytes: &[u8]) -> Result<(usize, u8, Take<'_>), WireError> {
    let (size, package_type) = header(bytes)?;
    if size != bytes.len() {
        return Err(WireError::new(WireErrorKind::BadLength, 0, bytes.len(), size));
    }
    let mut payload = Take::new(bytes);
    payload.bytes(HEADER_LEN)?;
    Ok((size, package_type, payload))
}

/// Returns size and payload of the sub-package of type `expected` that fills `bytes`.
pub(super) fn open_as(bytes: &[u8], expected: u8) -> Result<(usize, Take<'_>), WireError> {
    let (_, package_type) = header(bytes)?;
    if package_type != expected {
        return Err(WireError::new(WireErrorKind::BadType, 4, expected.into(), package_type.into()));
    }
    open(bytes).map(|(size, _, payload)| (size, payload))
}

/// Starts a sub-package of `size` bytes by writing its header.
pub(super) fn start(out: &mut [u8], size: usize, package_type: u8) -> Result<Put<'_>, WireError> {
    let mut put = Put::new(out, size)?;
    put.value::<I32>(i32::try_from(size).unwrap_or(i32::MAX))
        .and_then(|()| put.value::<u8>(package_type))
        .map_err(too_short)?;
    Ok(put)
}

/// Converts an error of writing a sub-package to `BadLength`: if the fields exceed the size that the caller chose, the
/// size is wrong, not the buffer.
pub(super) fn too_short(error: WireError) -> WireError {
    WireError { kind: WireErrorKind::BadLength, ..error }
}

/// Defines the types of a sub-package of a robot-state message from the table of its fields, as
/// [`layout!`](crate::layout) does, and adds the reading and writing of the header.
macro_rules! sub_package {
    (
        type $kind:literal;
        $(#[$view_doc:meta])* view $View:ident;
        $(#[$repr_doc:meta])* repr $Repr:ident;
        $($table:tt)+
    ) => {
        $crate::layout::layout! {
            $(#[$view_doc])* view $View;
            $(#[$repr_doc])* repr $Repr;
            $($table)+
        }

        impl<'a> $View<'a> {
            /// The type byte of the sub-package.
            pub const TYPE: u8 = $kind;

            /// Returns the sub-package that fills `bytes` to the end, header included.
            ///
            /// # Errors
            /// `Truncated` if bytes are missing; `BadType` if the type is another one; `BadLength` if the size field
            /// differs from the length of `bytes`.
            pub fn new_checked(bytes: &'a [u8]) -> Result<Self, $crate::WireError> {
                let (size, payload) = $crate::primary::package::open_as(bytes, $kind)?;
                Self::body(size, payload)
            }

            /// Returns the length of the sub-package, header included \[B\].
            #[must_use]
            pub const fn size(&self) -> usize {
                self.size
            }

            /// Calls `visitor` for size and type of the sub-package, then for each field that exists in it, in wire
            /// order.
            pub fn visit(&self, visitor: &mut dyn $crate::fields::FieldVisitor) {
                $crate::primary::package::visit_header(self.size, $kind, visitor);
                self.visit_body(visitor);
            }
        }

        impl $crate::primary::SubPackageRepr for $Repr {
            const TYPE: u8 = $kind;

            fn emit(&self, size: usize, out: &mut [u8]) -> Result<usize, $crate::WireError> {
                let put = $crate::primary::package::start(out, size, $kind)?;
                self.emit_body(size, put).map_err($crate::primary::package::too_short)?;
                Ok(size)
            }
        }
    };
}

pub(super) fn visit_header(size: usize, package_type: u8, visitor: &mut dyn crate::fields::FieldVisitor) {
    use crate::fields::Value;
    visitor.field("package_size", Value::Signed(i64::try_from(size).unwrap_or(i64::MAX)));
    visitor.field("package_type", Value::Unsigned(package_type.into()));
}

pub(super) use sub_package;
