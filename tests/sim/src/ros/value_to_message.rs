//! The conversion of a script's value to a ROS 2 message. The value is a struct with exactly the message's members,
//! in any order.

use outrigger_interpreter::Value;
use serde::de::value::SeqDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::type_mismatch::Mismatch;
use super::types::NOTHING;

/// A script's value, or a part of one, that is converted to a ROS 2 message.
#[derive(Clone, Copy)]
pub(super) struct Part<'v>(pub(super) &'v Value);

/// Decodes a text of a program, whose characters are bytes, as UTF-8.
fn utf8(text: &str) -> Result<String, Mismatch> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    let bytes = bytes.unwrap_or_else(|| text.as_bytes().to_vec());
    String::from_utf8(bytes).map_err(|_| Mismatch::new("expected a text of UTF-8, found other bytes"))
}

impl<'de> IntoDeserializer<'de, Mismatch> for Part<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Part<'de> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i32(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(text) => visitor.visit_string(utf8(text)?),
            Value::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Part))),
            other => Err(Mismatch::new(format_args!("expected a value of the message, found {}", other.kind()))),
        }
    }

    /// Converts a signed integer of a script to an unsigned one with equal bits.
    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Int(value) => visitor.visit_u32(value.cast_unsigned()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Int(value) => visitor.visit_u64(value.cast_unsigned().into()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_map(Members::of(self.0, fields)?)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The members of a struct in the order in which the message contains them.
struct Members<'v> {
    members: &'v [(String, Value)],
    fields: &'static [&'static str],
    at: usize,
}

/// The value of the byte [`NOTHING`] of a message without members if the script has not set it.
static UNNAMED: Value = Value::Int(0);

impl<'v> Members<'v> {
    /// Returns the members of the struct `value`. This function is compiled once, and not for each type of messages.
    ///
    /// # Errors
    /// Returns an error if the value is no struct, or has not exactly these `fields`.
    #[inline(never)]
    fn of(value: &'v Value, fields: &'static [&'static str]) -> Result<Self, Mismatch> {
        let Value::Struct(members) = value else {
            let message = format_args!("expected struct({}=…), found {}", fields.join("=…, "), value.kind());
            return Err(Mismatch::new(message));
        };
        let unknown = members.iter().find(|(name, _)| !fields.contains(&name.as_str()));
        if let Some((name, _)) = unknown {
            let message = format_args!("'{name}' is no member of the message, which has {}", fields.join(", "));
            return Err(Mismatch::new(message));
        }
        let given = |field: &str| members.iter().any(|(name, _)| name == field);
        if let Some(missing) = fields.iter().find(|field| **field != NOTHING && !given(field)) {
            return Err(Mismatch::new(format_args!("member '{missing}' is missing")));
        }
        Ok(Self { members, fields, at: 0 })
    }

    /// Returns the name and the value of the struct's next member, in the order of the message.
    #[inline(never)]
    fn next(&mut self) -> (&'static str, &'v Value) {
        let field = self.fields.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        let given = self.members.iter().find(|(name, _)| name == field);
        (field, given.map_or(&UNNAMED, |(_, value)| value))
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        let Some(field) = self.fields.get(self.at) else { return Ok(None) };
        seed.deserialize((*field).into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mismatch> {
        let (field, value) = self.next();
        seed.deserialize(Part(value)).map_err(|mismatch| mismatch.within(field))
    }
}
