//! What all sub-packages of the robot-state message share: the five-byte header and the two directions.

use crate::{Put, Take, WireError, WireErrorKind};
use zerocopy::big_endian::I32;

/// Bytes before the payload of a sub-package: size and type.
pub(super) const HEADER_LEN: usize = 5;

/// A sub-package that can be written.
pub trait SubPackageRepr {
    /// The package type on the wire.
    const TYPE: u8;

    /// Writes the sub-package in the layout that has `size` bytes and returns `size`. Fields that belong to
    /// other sizes are not written; bytes after the last known field are zero.
    ///
    /// # Errors
    /// `BadLength` where the layout needs more than `size` bytes, `BufferTooSmall` where `out` is shorter.
    fn emit(&self, size: usize, out: &mut [u8]) -> Result<usize, WireError>;
}

/// Size and type of the sub-package at the start of `bytes`, which may go on after it.
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

/// Size, type and payload of the sub-package that fills `bytes`.
pub(super) fn open(bytes: &[u8]) -> Result<(usize, u8, Take<'_>), WireError> {
    let (size, package_type) = header(bytes)?;
    if size != bytes.len() {
        return Err(WireError::new(WireErrorKind::BadLength, 0, bytes.len(), size));
    }
    let mut payload = Take::new(bytes);
    payload.bytes(HEADER_LEN)?;
    Ok((size, package_type, payload))
}

/// The same, of type `expected`.
pub(super) fn open_as(bytes: &[u8], expected: u8) -> Result<(usize, Take<'_>), WireError> {
    let (_, package_type) = header(bytes)?;
    if package_type != expected {
        return Err(WireError::new(WireErrorKind::BadType, 4, expected.into(), package_type.into()));
    }
    open(bytes).map(|(size, _, payload)| (size, payload))
}

/// A sub-package of `size` bytes with its header written.
pub(super) fn start(out: &mut [u8], size: usize, package_type: u8) -> Result<Put<'_>, WireError> {
    let mut put = Put::new(out, size)?;
    put.value::<I32>(i32::try_from(size).unwrap_or(i32::MAX))
        .and_then(|()| put.value::<u8>(package_type))
        .map_err(too_short)?;
    Ok(put)
}

/// Where the fields do not fit a size that the caller chose, the size is wrong, not the buffer.
pub(super) fn too_short(error: WireError) -> WireError {
    WireError { kind: WireErrorKind::BadLength, ..error }
}

/// A sub-package from its table: [`layout!`](crate::layout) plus the header.
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
            /// The package type on the wire.
            pub const TYPE: u8 = $kind;

            /// One sub-package with its header, which must fill `bytes` to the end.
            ///
            /// # Errors
            /// `Truncated` where bytes are missing, `BadType` where it is another sub-package, `BadLength` where
            /// the size field is not that of `bytes`.
            pub fn new_checked(bytes: &'a [u8]) -> Result<Self, $crate::WireError> {
                let (size, payload) = $crate::primary::package::open_as(bytes, $kind)?;
                Self::body(size, payload)
            }

            /// Length of the sub-package with its header \[B\].
            #[must_use]
            pub const fn size(&self) -> usize {
                self.size
            }

            /// Calls `visitor` for each field that exists, in wire order, size and type first.
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
