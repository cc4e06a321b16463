//! The decoder of values in postcard's format.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, SeqAccess, VariantAccess, Visitor};

use super::Error;

/// Returns the decoded value at the start of `bytes` and the bytes after it; `None` if no such value is there.
pub(crate) fn take<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Option<(T, &'de [u8])> {
    let mut reader = Reader { rest: bytes, good: true };
    let value = T::deserialize(&mut reader).ok()?;
    if reader.good { Some((value, reader.rest)) } else { None }
}

/// A decoder of postcard's format. Missing or invalid values are read as zero, and `good` becomes `false`.
struct Reader<'de> {
    rest: &'de [u8],
    good: bool,
}

impl<'de> Reader<'de> {
    #[inline(never)]
    fn bytes(&mut self, count: usize) -> &'de [u8] {
        let (bytes, rest) = self.rest.split_at_checked(count).unwrap_or_else(|| {
            self.good = false;
            Default::default()
        });
        self.rest = rest;
        bytes
    }

    #[inline(never)]
    fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// Reads a byte of postcard's format that must be 0 or 1, as a Boolean.
    #[inline(never)]
    fn choice(&mut self) -> bool {
        let byte = self.byte();
        self.good &= byte <= 1;
        byte == 1
    }

    /// Reads an encoded integer of at most `bits` bits: seven in each byte, the least significant first.
    #[inline(never)]
    fn number(&mut self, bits: u32) -> u128 {
        let (mut number, mut shift) = (0_u128, 0_u32);
        loop {
            let byte = self.byte();
            let part = u128::from(byte & 0x7F);
            let left = bits.saturating_sub(shift);
            // At most as many bits as the type has, and no more bytes than those bits need.
            if left == 0 || (left < 7 && part >> left != 0) {
                self.good = false;
                return 0;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return number;
            }
            shift = shift.saturating_add(7);
        }
    }

    #[inline(never)]
    fn half(&mut self) -> u16 {
        self.number(16) as u16
    }

    #[inline(never)]
    fn short(&mut self) -> u32 {
        self.number(32) as u32
    }

    /// Reads an encoded integer of at most 64 bits. Most numbers are read by this; a call is much smaller than one that
    /// returns 128 bits.
    #[inline(never)]
    fn long(&mut self) -> u64 {
        self.number(64) as u64
    }

    #[inline(never)]
    fn signed(&mut self, bits: u32) -> i64 {
        let number = self.number(bits) as u64;
        (number >> 1).cast_signed() ^ (number & 1).cast_signed().wrapping_neg()
    }

    #[inline(never)]
    fn single(&mut self) -> f32 {
        f32::from_le_bytes(self.bytes(4).try_into().unwrap_or_default())
    }

    #[inline(never)]
    fn double(&mut self) -> f64 {
        f64::from_le_bytes(self.bytes(8).try_into().unwrap_or_default())
    }

    #[inline(never)]
    fn counted(&mut self) -> &'de [u8] {
        let count = self.count();
        self.bytes(count)
    }

    fn count(&mut self) -> usize {
        self.number(usize::BITS) as usize
    }

    #[inline(never)]
    fn text(&mut self) -> &'de str {
        core::str::from_utf8(self.counted()).unwrap_or_else(|_| {
            self.good = false;
            ""
        })
    }
}

/// Generates the `deserialize_x(self, visitor)` methods of simple types, each by a reading function of this file.
macro_rules! leaves {
    ($($name:ident $visit:ident => |$reader:ident| $value:expr),* $(,)?) => {
        $(#[inline]
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let $reader = self;
            visitor.$visit($value)
        })*
    };
}

/// Generates the methods for types that postcard's format cannot decode because it does not store what follows.
macro_rules! unsaid {
    ($($name:ident),*) => {
        $(fn $name<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    leaves! {
        deserialize_bool visit_bool => |r| r.choice(),
        deserialize_u8 visit_u8 => |r| r.byte(),
        deserialize_u16 visit_u16 => |r| r.half(),
        deserialize_u32 visit_u32 => |r| r.short(),
        deserialize_u64 visit_u64 => |r| r.long(),
        deserialize_u128 visit_u128 => |r| r.number(128),
        deserialize_i8 visit_i8 => |r| r.byte().cast_signed(),
        deserialize_i16 visit_i16 => |r| r.signed(16) as i16,
        deserialize_i32 visit_i32 => |r| r.signed(32) as i32,
        deserialize_i64 visit_i64 => |r| r.signed(64),
        deserialize_f32 visit_f32 => |r| r.single(),
        deserialize_f64 visit_f64 => |r| r.double(),
        deserialize_str visit_borrowed_str => |r| r.text(),
        deserialize_string visit_borrowed_str => |r| r.text(),
        deserialize_bytes visit_borrowed_bytes => |r| r.counted(),
        deserialize_byte_buf visit_borrowed_bytes => |r| r.counted(),
    }

    unsaid! { deserialize_any, deserialize_char, deserialize_identifier, deserialize_ignored_any, deserialize_map }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.choice() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.count();
        visitor.visit_seq(Counted { reader: self, left })
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts(self))
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts(self))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts(self))
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The elements of an encoded value with a fixed number of parts; the decoded type itself asks for no more.
struct Parts<'r, 'de>(&'r mut Reader<'de>);

impl<'de> SeqAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        seed.deserialize(&mut *self.0).map(Some)
    }
}

/// The elements of a postcard sequence whose length is encoded before it.
struct Counted<'r, 'de> {
    reader: &'r mut Reader<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Counted<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        // After the end of the bytes no element follows, whatever the encoded length.
        if !self.reader.good {
            return Err(Error);
        }
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> EnumAccess<'de> for &mut Reader<'de> {
    type Error = Error;
    type Variant = Self;

    #[inline]
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let index: serde::de::value::U32Deserializer<Error> = self.short().into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Reader<'de> {
    type Error = Error;

    #[inline]
    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts(self))
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts(self))
    }
}
