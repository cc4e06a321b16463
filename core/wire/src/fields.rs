//! A visitor for every field of a message, by the field's name in the specification in snake_case.
//!
//! `visit` of a view calls [`FieldVisitor::field`] once per field that exists, in wire order. Names are those of
//! `core/docs/protocol/ur-client-interfaces.md` in snake_case; where a layout has several reserved fields, their names
//! contain the offset (`reserved_820`). This is sufficient for a printer and for a comparison with an independent
//! decoder.
//!
//! ```
//! # const PACKET: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/realtime-5.15.bin"));
//! use outrigger_wire::fields::{FieldVisitor, Group, Value};
//! use outrigger_wire::realtime::Packet;
//!
//! struct Names(Vec<String>);
//!
//! impl FieldVisitor for Names {
//!     fn field(&mut self, name: &str, _: Value<'_>) {
//!         self.0.push(name.to_owned());
//!     }
//!     fn begin(&mut self, _: &str, _: Group) {}
//!     fn end(&mut self) {}
//! }
//! let mut names = Names(Vec::new());
//! Packet::new_checked(PACKET)?.visit(&mut names);
//! assert!(names.0.iter().any(|name| name == "q_actual"));
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

use super::layout::{Flag, Mask};
use zerocopy::big_endian::{F32, F64, I16, I32, U16, U32, U64};
use zerocopy::little_endian;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The value of one field of a message, in host order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value of the field: a variable of the robot program that the program has not set.
    Nothing,
    /// A truth value that occupies one byte of the message: every number except 0 is true.
    Bool(bool),
    /// An unsigned integer as the field's value, whatever its width in the message.
    Unsigned(u64),
    /// A signed integer as the field's value, whatever its width in the message.
    Signed(i64),
    /// A bit mask as the field's value, even if the message transmits it as a double.
    Mask(u64),
    /// A single-precision number (`f32`) as the field's value.
    F32(f32),
    /// A double-precision number (`f64`) as the field's value.
    F64(f64),
    /// Several bytes as the field's value: separate numbers, or content of the message that is not decoded.
    Bytes(&'a [u8]),
    /// Several unsigned 32-bit numbers as the field's value.
    U32s(&'a [u32]),
    /// Several signed 32-bit numbers as the field's value.
    I32s(&'a [i32]),
    /// Several single-precision numbers (`f32`) as the field's value.
    F32s(&'a [f32]),
    /// Several double-precision numbers (`f64`) as the field's value.
    F64s(&'a [f64]),
    /// A text in the controller's extended ASCII as the field's value.
    Text(&'a [u8]),
}

/// The kind of a group of fields in a message: a record, whose members have names, or a list, whose members have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A group of fields and further groups, each with a name.
    Record,
    /// A group of fields and further groups without names, in order; a visitor receives empty names.
    List,
}

/// Receives the fields of a message from the message's `visit`. If that ends with an error, groups may remain open.
pub trait FieldVisitor {
    /// Receives one field of the message. In a [`Group::List`] the name is empty.
    fn field(&mut self, name: &str, value: Value<'_>);
    /// Opens a group of fields of the message. In a [`Group::List`] the name is empty.
    fn begin(&mut self, name: &str, group: Group);
    /// Closes the group of fields that was opened last.
    fn end(&mut self);
}

/// A type of field in a message: the form on the wire, with conversions to and from the value in host order.
pub(super) trait Wire: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Copy {
    type Host;
    fn host(&self) -> Self::Host;
    fn wire(host: Self::Host) -> Self;
    fn visit(host: Self::Host, name: &str, visitor: &mut dyn FieldVisitor);
}

macro_rules! numbers {
    ($($wire:ty, $host:ty, $value:ident as $wide:ty;)+) => {$(
        impl Wire for $wire {
            type Host = $host;
            fn host(&self) -> $host {
                (*self).into()
            }
            fn wire(host: $host) -> Self {
                host.into()
            }
            fn visit(host: $host, name: &str, visitor: &mut dyn FieldVisitor) {
                visitor.field(name, Value::$value(<$wide>::from(host)));
            }
        }
    )+};
}

numbers! {
    u8, u8, Unsigned as u64;
    i8, i8, Signed as i64;
    U16, u16, Unsigned as u64;
    U32, u32, Unsigned as u64;
    U64, u64, Unsigned as u64;
    I16, i16, Signed as i64;
    I32, i32, Signed as i64;
    F32, f32, F32 as f32;
    F64, f64, F64 as f64;
    little_endian::U16, u16, Unsigned as u64;
    little_endian::U32, u32, Unsigned as u64;
    little_endian::F32, f32, F32 as f32;
    Flag, bool, Bool as bool;
    Mask, u64, Mask as u64;
}

macro_rules! vectors {
    ($($wire:ty, $host:ty, $value:ident;)+) => {$(
        impl<const N: usize> Wire for [$wire; N] {
            type Host = [$host; N];
            fn host(&self) -> [$host; N] {
                self.each_ref().map(|value| (*value).into())
            }
            fn wire(host: [$host; N]) -> Self {
                host.map(Into::into)
            }
            fn visit(host: [$host; N], name: &str, visitor: &mut dyn FieldVisitor) {
                visitor.field(name, Value::$value(&host));
            }
        }
    )+};
}

vectors! {
    u8, u8, Bytes;
    U32, u32, U32s;
    I32, i32, I32s;
    F32, f32, F32s;
    F64, f64, F64s;
    little_endian::I32, i32, I32s;
    little_endian::F32, f32, F32s;
}
