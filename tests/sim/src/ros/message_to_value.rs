//! The conversion of a ROS 2 message to a script's value: a struct with the message's members in their order.

use outrigger_interpreter::Value;
use serde::ser::{Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeTuple, Serializer};

use super::type_mismatch::Mismatch;
use super::types::NOTHING;

/// The largest length of a text in a script \[characters\].
pub(crate) const TEXT: usize = 1023;

/// A serializer that produces a script's value from a message.
#[derive(Clone, Copy)]
pub(super) struct AsValue;

/// The members of a message struct that were serialized so far.
pub(super) struct Members(Vec<(String, Value)>);

/// The items of a message list that were serialized so far.
pub(super) struct Items(Vec<Value>);

type No = Impossible<Value, Mismatch>;

fn none<T>(what: &str) -> Result<T, Mismatch> {
    Err(Mismatch::new(format_args!("{what} is in no message")))
}

impl Serializer for AsValue {
    type Ok = Value;
    type Error = Mismatch;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = Members;
    type SerializeStructVariant = No;

    fn serialize_bool(self, value: bool) -> Result<Value, Mismatch> {
        Ok(Value::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<Value, Mismatch> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Result<Value, Mismatch> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Result<Value, Mismatch> {
        Ok(Value::Int(value))
    }

    /// Converts an integer of 64 bits to the lower 32 bits of it, because scripts have no longer ones.
    fn serialize_i64(self, value: i64) -> Result<Value, Mismatch> {
        Ok(Value::Int(value as i32))
    }

    fn serialize_u8(self, value: u8) -> Result<Value, Mismatch> {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result<Value, Mismatch> {
        Ok(Value::Int(value.into()))
    }

    /// Converts an unsigned integer to the signed one with equal bits, because scripts have no unsigned ones.
    fn serialize_u32(self, value: u32) -> Result<Value, Mismatch> {
        Ok(Value::Int(value.cast_signed()))
    }

    /// Converts an unsigned integer of 64 bits to the lower 32 bits of it, because scripts have no longer ones.
    fn serialize_u64(self, value: u64) -> Result<Value, Mismatch> {
        Ok(Value::Int(value as i32))
    }

    fn serialize_f32(self, value: f32) -> Result<Value, Mismatch> {
        Ok(Value::Float(value.into()))
    }

    fn serialize_f64(self, value: f64) -> Result<Value, Mismatch> {
        Ok(Value::Float(value))
    }

    fn serialize_char(self, _: char) -> Result<Value, Mismatch> {
        none("a character")
    }

    /// Converts a text to a script's text, in which each byte is a character; a longer one is cut to [`TEXT`].
    fn serialize_str(self, text: &str) -> Result<Value, Mismatch> {
        Ok(Value::String(text.bytes().take(TEXT).map(char::from).collect()))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, Mismatch> {
        Ok(Value::List(bytes.iter().map(|byte| Value::Int((*byte).into())).collect()))
    }

    fn serialize_none(self) -> Result<Value, Mismatch> {
        none("an option")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<Value, Mismatch> {
        none("an option")
    }

    fn serialize_unit(self) -> Result<Value, Mismatch> {
        none("a unit")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Mismatch> {
        none("a unit")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<Value, Mismatch> {
        none("a variant")
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Value, Mismatch> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Value, Mismatch> {
        none("a variant")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items, Mismatch> {
        Ok(Items(vec![]))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items, Mismatch> {
        Ok(Items(vec![]))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<No, Mismatch> {
        none("a tuple")
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<No, Mismatch> {
        none("a variant")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<No, Mismatch> {
        none("a map")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Mismatch> {
        Ok(Members(vec![]))
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<No, Mismatch> {
        none("a variant")
    }
}

impl SerializeStruct for Members {
    type Ok = Value;
    type Error = Mismatch;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Mismatch> {
        if name != NOTHING {
            self.0.push((name.to_owned(), value.serialize(AsValue)?));
        }
        Ok(())
    }

    fn end(self) -> Result<Value, Mismatch> {
        Ok(Value::Struct(self.0))
    }
}

impl SerializeSeq for Items {
    type Ok = Value;
    type Error = Mismatch;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        self.0.push(value.serialize(AsValue)?);
        Ok(())
    }

    fn end(self) -> Result<Value, Mismatch> {
        Ok(Value::List(self.0))
    }
}

impl SerializeTuple for Items {
    type Ok = Value;
    type Error = Mismatch;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Mismatch> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<Value, Mismatch> {
        SerializeSeq::end(self)
    }
}
