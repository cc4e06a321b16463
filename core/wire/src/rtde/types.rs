//! The types of RTDE variables (`core/docs/protocol/ur-rtde.md 4`).

use crate::fields::{FieldVisitor, Wire};
use crate::layout::Flag;
use crate::{Put, Take, WireError};
use zerocopy::FromBytes;
use zerocopy::big_endian::{F64, I32, U32, U64};

/// A type of RTDE values, with its form in host order and its size.
///
/// Implemented only for the ten types of the specification.
pub trait Data: Copy + Default + core::fmt::Debug + sealed::Sealed {
    /// The RTDE type as a value of [`DataType`].
    const TYPE: DataType;
    /// An array of as many bytes as a value of the RTDE type has.
    type Bytes;

    /// Returns the RTDE value at the start of `bytes`; `None` if there are too few bytes.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Returns the value together with its RTDE type.
    fn value(self) -> Value;
}

mod sealed {
    pub trait Sealed {}
}

/// A marker for the RTDE type with this index in [`DataType::ALL`]; its [`Typed::Host`] is the host's type of the
/// values.
#[derive(Debug)]
pub struct Numbered<const TYPE: u8>;

/// Maps an RTDE type's number, its index in [`DataType::ALL`], to the type of its values in host order.
pub trait Typed {
    /// The host's type for values of this RTDE type.
    type Host: Data;
}

/// The host's type for values of the RTDE type with this index in [`DataType::ALL`].
pub type HostOf<const TYPE: u8> = <Numbered<TYPE> as Typed>::Host;

/// An array of as many bytes as a value of the RTDE type with this index in [`DataType::ALL`] has.
pub type BytesOf<const TYPE: u8> = <HostOf<TYPE> as Data>::Bytes;

macro_rules! types {
    ($($variant:ident $word:literal, $bytes:literal bytes, $host:ty as $wire:ty;)+) => {
        /// The type of an RTDE variable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum DataType { $(#[doc = concat!("`", $word, "`, ", $bytes, " bytes.")] $variant,)+ }

        impl DataType {
            /// The list of all RTDE types.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word by which replies to setup requests name the type.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Returns the size of an RTDE value of this type \[B\].
            #[must_use]
            pub const fn size(self) -> usize {
                match self { $(Self::$variant => size_of::<$wire>()),+ }
            }
        }

        /// A value of any RTDE type, in host order.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Value { $(#[doc = concat!("`", $word, "`.")] $variant($host),)+ }

        impl Value {
            /// Returns the RTDE type of the value.
            #[must_use]
            pub const fn data_type(&self) -> DataType {
                match self { $(Self::$variant(_) => DataType::$variant),+ }
            }

            /// Returns the RTDE value of this type at the start of `bytes`; `None` if there are too few bytes.
            #[must_use]
            pub fn read(data_type: DataType, bytes: &[u8]) -> Option<Self> {
                Self::take(data_type, &mut Take::new(bytes)).ok()
            }

            /// Reads the next value of a data package, which has this type.
            pub(super) fn take(data_type: DataType, bytes: &mut Take<'_>) -> Result<Self, WireError> {
                Ok(match data_type { $(DataType::$variant => Self::$variant(bytes.value::<$wire>()?)),+ })
            }

            pub(super) fn put(self, put: &mut Put<'_>) -> Result<(), WireError> {
                match self { $(Self::$variant(value) => put.value::<$wire>(value)),+ }
            }

            /// Passes the RTDE value to `visitor` under this name.
            pub fn visit(self, name: &str, visitor: &mut dyn FieldVisitor) {
                match self { $(Self::$variant(value) => <$wire as Wire>::visit(value, name, visitor)),+ }
            }
        }

        const _: () = { $(assert!(size_of::<$wire>() == $bytes, $word);)+ };

        $(
            impl sealed::Sealed for $host {}

            impl Data for $host {
                const TYPE: DataType = DataType::$variant;
                type Bytes = [u8; $bytes];

                fn read(bytes: &[u8]) -> Option<Self> {
                    let (value, _) = <$wire>::read_from_prefix(bytes).ok()?;
                    Some(Wire::host(&value))
                }
                fn value(self) -> Value {
                    Value::$variant(self)
                }
            }

            impl Typed for Numbered<{ DataType::$variant as u8 }> {
                type Host = $host;
            }
        )+
    };
}

types! {
    Bool "BOOL", 1 bytes, bool as Flag;
    Uint8 "UINT8", 1 bytes, u8 as u8;
    Uint32 "UINT32", 4 bytes, u32 as U32;
    Uint64 "UINT64", 8 bytes, u64 as U64;
    Int32 "INT32", 4 bytes, i32 as I32;
    Double "DOUBLE", 8 bytes, f64 as F64;
    Vector3d "VECTOR3D", 24 bytes, [f64; 3] as [F64; 3];
    Vector6d "VECTOR6D", 48 bytes, [f64; 6] as [F64; 6];
    Vector6Int32 "VECTOR6INT32", 24 bytes, [i32; 6] as [I32; 6];
    Vector6Uint32 "VECTOR6UINT32", 24 bytes, [u32; 6] as [U32; 6];
}

impl DataType {
    /// Returns the RTDE type that replies name by this word; `None` if there is none.
    #[must_use]
    pub fn from_word(word: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.word().as_bytes() == word)
    }
}
