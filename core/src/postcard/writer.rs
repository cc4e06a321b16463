//! The encoder of values in postcard's format.

use serde::Serialize;
use serde::ser::{self, Serializer};

use super::Error;

/// Writes the encoded `value` to the start of `out` and returns the written bytes; `None` if there is too little room.
pub fn to_slice<'b, T: Serialize + ?Sized>(value: &T, out: &'b mut [u8]) -> Option<&'b mut [u8]> {
    let mut writer = Writer { out: &mut *out, written: 0, fits: true };
    value.serialize(&mut writer).ok()?;
    let Writer { written, fits, .. } = writer;
    if fits { out.get_mut(..written) } else { None }
}

struct Writer<'b> {
    out: &'b mut [u8],
    written: usize,
    /// `true` while all encoded values so far had room in the output; after that nothing more is written.
    fits: bool,
}

impl Writer<'_> {
    #[inline(never)]
    fn bytes(&mut self, bytes: &[u8]) {
        let end = self.written.saturating_add(bytes.len());
        match self.out.get_mut(self.written..end) {
            Some(room) if self.fits => {
                room.copy_from_slice(bytes);
                self.written = end;
            }
            _ => self.fits = false,
        }
    }

    #[inline(never)]
    fn byte(&mut self, byte: u8) {
        self.bytes(&[byte]);
    }

    #[inline(never)]
    fn none(&mut self) {
        self.byte(0);
    }

    #[inline(never)]
    fn some(&mut self) {
        self.byte(1);
    }

    /// Writes an integer with seven bits in each byte, the least significant first; the highest bit is set if another
    /// byte follows.
    #[inline(never)]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            // The bits cut off here are written next.
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    #[inline(never)]
    fn large(&mut self, mut number: u128) {
        while number > u128::from(u64::MAX) {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.number(number as u64);
    }

    #[inline(never)]
    fn short(&mut self, number: u32) {
        self.number(u64::from(number));
    }

    #[inline(never)]
    fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    #[inline(never)]
    fn single(&mut self, number: f32) {
        self.bytes(&number.to_le_bytes());
    }

    #[inline(never)]
    fn double(&mut self, number: f64) {
        self.bytes(&number.to_le_bytes());
    }

    #[inline(never)]
    fn counted(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes(bytes);
    }
}

/// Generates the `serialize_x(self, value)` methods of simple types, each by a writing function of this file.
macro_rules! leaves {
    ($($name:ident $type:ty => |$writer:ident, $value:ident| $call:expr),* $(,)?) => {
        $(#[inline]
        fn $name(self, $value: $type) -> Result<(), Error> {
            let $writer = self;
            $call;
            Ok(())
        })*
    };
}

impl<'b> Serializer for &mut Writer<'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = ser::Impossible<(), Error>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    leaves! {
        serialize_bool bool => |w, v| w.byte(u8::from(v)),
        serialize_u8 u8 => |w, v| w.byte(v),
        serialize_u16 u16 => |w, v| w.short(u32::from(v)),
        serialize_u32 u32 => |w, v| w.short(v),
        serialize_u64 u64 => |w, v| w.number(v),
        serialize_u128 u128 => |w, v| w.large(v),
        serialize_i8 i8 => |w, v| w.byte(v.cast_unsigned()),
        serialize_i16 i16 => |w, v| w.signed(i64::from(v)),
        serialize_i32 i32 => |w, v| w.signed(i64::from(v)),
        serialize_i64 i64 => |w, v| w.signed(v),
        serialize_f32 f32 => |w, v| w.single(v),
        serialize_f64 f64 => |w, v| w.double(v),
        serialize_char char => |w, v| w.counted(v.encode_utf8(&mut [0; 4]).as_bytes()),
        serialize_str &str => |w, v| w.counted(v.as_bytes()),
        serialize_bytes &[u8] => |w, v| w.counted(v),
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Error> {
        self.none();
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.some();
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Error> {
        self.short(index);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.short(index);
        value.serialize(self)
    }

    #[inline]
    fn serialize_seq(self, count: Option<usize>) -> Result<Self, Error> {
        self.number(count.ok_or(Error)? as u64);
        Ok(self)
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_variant(self, _: &'static str, index: u32, _: &'static str, _: usize) -> Result<Self, Error> {
        self.short(index);
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        Err(Error)
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(self, _: &'static str, index: u32, _: &'static str, _: usize) -> Result<Self, Error> {
        self.short(index);
        Ok(self)
    }

    fn collect_str<T: core::fmt::Display + ?Sized>(self, _: &T) -> Result<(), Error> {
        Err(Error)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Implements serde's traits for types with several parts: the parts are written one after the other, without an end
/// mark.
macro_rules! compounds {
    ($($trait:ident $element:ident $(($($key:ident: $type:ty),*))?),* $(,)?) => {
        $(impl ser::$trait for &mut Writer<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $element<T: Serialize + ?Sized>(&mut self, $($($key: $type,)*)? value: &T) -> Result<(), Error> {
                value.serialize(&mut **self)
            }

            #[inline]
            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        })*
    };
}

compounds! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
    SerializeStruct serialize_field (_key: &'static str),
    SerializeStructVariant serialize_field (_key: &'static str),
}
