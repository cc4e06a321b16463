//! Macros that turn the specification's table of a message's fields into code.

use crate::math::double_conversion::{is_nan, scaled};

use zerocopy::big_endian::F64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A truth value that occupies one byte of a message.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Flag(u8);

impl From<Flag> for bool {
    fn from(flag: Flag) -> Self {
        flag.0 != 0
    }
}

impl From<bool> for Flag {
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

/// A bit mask that is transmitted as a double (`core/docs/protocol/ur-client-interfaces.md 2.5`).
///
/// Some sources read the eight bytes as an integer. Both forms are accepted: a double of at least 1 has exponent bits
/// set, and no mask reaches bit 52.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Mask(F64);

impl From<Mask> for u64 {
    fn from(mask: Mask) -> Self {
        let value = mask.0.get();
        let raw = value.to_bits();
        // Negative numbers and NaN become 0; a number that is too large becomes all ones.
        if raw >> 52 == 0 {
            raw
        } else if is_nan(value) || value.is_sign_negative() {
            0
        } else {
            scaled(value, 1)
        }
    }
}

impl From<u64> for Mask {
    fn from(bits: u64) -> Self {
        Self(F64::new(bits as f64))
    }
}

/// Expands to the type in the host's memory into which a field of the given type on the wire is converted.
#[rustfmt::skip]
macro_rules! host {
    ([$wire:tt; $n:literal]) => { [$crate::layout::host!($wire); $n] };
    (F64) => { f64 };
    (F32) => { f32 };
    (U64) => { u64 };
    (U32) => { u32 };
    (U16) => { u16 };
    (I32) => { i32 };
    (I16) => { i16 };
    (Flag) => { bool };
    (Mask) => { u64 };
    (JointRecord) => { $crate::primary::Joint };
    (LimitsRecord) => { $crate::primary::JointLimits };
    (DynamicsRecord) => { $crate::primary::JointDynamics };
    (FrameField) => { $crate::fri::Frame };
    (VectorField) => { $crate::fri::CartesianVector };
    (JacobianField) => { $crate::fri::Jacobian };
    (MassField) => { $crate::fri::MassMatrix };
    (KrlField) => { $crate::fri::KrlVariables };
    (MeasurementEnvelope) => { $crate::fri::MeasurementEnvelope };
    (CommandEnvelope) => { $crate::fri::CommandEnvelope };
    ($other:tt) => { $other };
}

/// Defines the types of a message's body from the table of its fields: a view of received bytes, a `Repr` with the
/// values in host order, the conversions between them, and the call of a visitor for each field.
///
/// The body is a sequence of blocks. A block without a condition always exists. A block with `when` exists if its
/// condition holds; the condition can use the size and the blocks before it. In the `tail`, a field exists if its end
/// is within the message. Each line is `offset name: type, unit, meaning;`, and the offset is checked.
macro_rules! layout {
    (
        $(#[$view_doc:meta])* view $View:ident;
        $(#[$repr_doc:meta])* repr $Repr:ident;
        size $size:ident;
        $( block $block:ident: $Block:ident at $start:literal $(when $cond:expr)?; {
            $( $at:literal $field:ident $(as $name:literal)?: $ty:tt, $unit:literal, $meaning:literal; )+
        } )+
        $( tail $Tail:ident at $tail_start:literal; {
            $( $tail_at:literal $tail_field:ident: $tail_ty:tt, $tail_unit:literal, $tail_meaning:literal; )+
        } )?
    ) => {
        $(
            #[derive(
                Clone, Copy, Debug,
                zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::Unaligned,
            )]
            #[repr(C)]
            struct $Block { $( $field: $ty, )+ }

            #[allow(clippy::arithmetic_side_effects, reason = "evaluated when compiling")]
            const _: () = {
                $( assert!($start + core::mem::offset_of!($Block, $field) == $at, stringify!($field)); )+
            };
        )+
        $(
            #[derive(
                Clone, Copy, Debug,
                zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::Unaligned,
            )]
            #[repr(C)]
            struct $Tail { $( $tail_field: $tail_ty, )+ }

            #[allow(clippy::arithmetic_side_effects, reason = "evaluated when compiling")]
            const _: () = {
                $( assert!($tail_start + core::mem::offset_of!($Tail, $tail_field) == $tail_at, stringify!($tail_field)); )+
            };
        )?

        $(#[$view_doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $View<'a> {
            $size: usize,
            $( $block: $crate::layout::held!('a $Block [$($cond)?]), )+
            tail: &'a [u8],
        }

        $(#[$repr_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $Repr {
            $( $(
                #[doc = concat!($meaning, " \\[", $unit, "\\], offset ", $at, ".")]
                pub $field: $crate::layout::host!($ty),
            )+ )+
            $( $(
                #[doc = concat!($tail_meaning, " \\[", $tail_unit, "\\], offset ", $tail_at, ".")]
                pub $tail_field: $crate::layout::host!($tail_ty),
            )+ )?
        }

        impl<'a> $View<'a> {
            /// Reads the message's blocks after the header from a cursor that ends with the message.
            pub(crate) fn body($size: usize, mut bytes: $crate::Take<'a>) -> Result<Self, $crate::WireError> {
                $( let $block = $crate::layout::take!(bytes, $Block [$($cond)?]); )+
                Ok(Self { $size, $( $block, )+ tail: bytes.rest() })
            }

            $( $crate::layout::getters! { [$($cond)?] $block {
                $( $at $field: $ty, $unit, $meaning; )+
            } } )+
            $( $(
                #[doc = concat!($tail_meaning, " \\[", $tail_unit, "\\], offset ", $tail_at, "; absent from shorter messages.")]
                #[must_use]
                pub fn $tail_field(&self) -> Option<$crate::layout::host!($tail_ty)> {
                    let field = self.tail.get(core::mem::offset_of!($Tail, $tail_field)..)?;
                    let (field, _) = <$tail_ty as zerocopy::FromBytes>::ref_from_prefix(field).ok()?;
                    Some($crate::fields::Wire::host(field))
                }
            )+ )?

            /// Returns the bytes of the message behind the last known field: software newer than this table appends
            /// fields.
            #[must_use]
            pub fn trailing(&self) -> &'a [u8] {
                let known = 0 $( + size_of::<$Tail>() )?;
                self.tail.get(known..).unwrap_or_default()
            }

            /// Returns all fields of the message in host order; absent ones are zero.
            #[must_use]
            pub fn to_repr(&self) -> $Repr {
                let mut repr = $Repr::default();
                $( $crate::layout::fill!(repr, self.$block, [$($cond)?] $( $field )+); )+
                $( $( if let Some(value) = self.$tail_field() { repr.$tail_field = value; } )+ )?
                repr
            }

            /// Calls `visitor` for each field that exists in the message's body, in wire order.
            fn visit_body(&self, visitor: &mut dyn $crate::fields::FieldVisitor) {
                $( $crate::layout::show!(visitor, self.$block, [$($cond)?] $( $field $(as $name)?: $ty; )+); )+
                $( $(
                    if let Some(value) = self.$tail_field() {
                        <$tail_ty as $crate::fields::Wire>::visit(value, stringify!($tail_field), visitor);
                    }
                )+ )?
            }
        }

        impl $Repr {
            /// Writes the message's blocks after the header, and zeros up to the end of the message.
            fn emit_body(&self, $size: usize, mut put: $crate::Put<'_>) -> Result<(), $crate::WireError> {
                $(
                    let $block = $Block { $( $field: $crate::fields::Wire::wire(self.$field), )+ };
                    let $block = $crate::layout::put!(put, $block [$($cond)?]);
                )+
                // A table without conditions uses neither.
                let _ = ($size, $( $block, )+);
                $( $(
                    if put.space() >= size_of::<$tail_ty>() {
                        put.layout(&<$tail_ty as $crate::fields::Wire>::wire(self.$tail_field))?;
                    } else {
                        put.zeros();
                        return Ok(());
                    }
                )+ )?
                put.zeros();
                Ok(())
            }
        }
    };
}

/// Defines a record that repeats once per joint: the wire struct, its host-order twin, and a visitor that reports one
/// array per field instead of one group per joint.
macro_rules! record {
    (
        $Record:ident, $size:literal bytes;
        $(#[$doc:meta])* $Host:ident;
        $( $at:literal $field:ident: $ty:tt, $unit:literal, $meaning:literal; )+
    ) => {
        #[derive(
            Clone, Copy, Debug,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::Unaligned,
        )]
        #[repr(C)]
        pub(crate) struct $Record { $( $field: $ty, )+ }

        const _: () = {
            $( assert!(core::mem::offset_of!($Record, $field) == $at, stringify!($field)); )+
            assert!(size_of::<$Record>() == $size);
        };

        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $Host {
            $(
                #[doc = concat!($meaning, " \\[", $unit, "\\], offset ", $at, " of the record.")]
                pub $field: $crate::layout::host!($ty),
            )+
        }

        impl<const N: usize> $crate::fields::Wire for [$Record; N] {
            type Host = [$Host; N];
            fn host(&self) -> [$Host; N] {
                self.each_ref().map(|record| $Host { $( $field: $crate::fields::Wire::host(&record.$field), )+ })
            }
            fn wire(host: [$Host; N]) -> Self {
                host.map(|host| $Record { $( $field: $crate::fields::Wire::wire(host.$field), )+ })
            }
            fn visit(host: [$Host; N], _: &str, visitor: &mut dyn $crate::fields::FieldVisitor) {
                $( <[$ty; N] as $crate::fields::Wire>::visit(host.map(|h| h.$field), stringify!($field), visitor); )+
            }
        }
    };
}

/// Checks at compile time that a header of this size and these blocks add up to the message size in the specification.
macro_rules! total {
    ($( $size:literal = $header:literal $(+ $Block:ident)+; )+) => {
        #[allow(clippy::arithmetic_side_effects, reason = "evaluated when compiling")]
        const _: () = {
            $( assert!($header $(+ size_of::<$Block>())+ == $size); )+
        };
    };
}

macro_rules! held {
    ($life:lifetime $Block:ident []) => { &$life $Block };
    ($life:lifetime $Block:ident [$cond:expr]) => { Option<&$life $Block> };
}

macro_rules! take {
    ($bytes:ident, $Block:ident []) => {
        $bytes.layout::<$Block>()?
    };
    ($bytes:ident, $Block:ident [$cond:expr]) => {
        if $cond { Some($bytes.layout::<$Block>()?) } else { None }
    };
}

macro_rules! put {
    ($put:ident, $block:ident []) => {{
        $put.layout(&$block)?;
        $block
    }};
    ($put:ident, $block:ident [$cond:expr]) => {
        if $cond {
            $put.layout(&$block)?;
            Some($block)
        } else {
            None
        }
    };
}

macro_rules! getters {
    ([] $block:ident { $( $at:literal $field:ident: $ty:tt, $unit:literal, $meaning:literal; )+ }) => { $(
        #[doc = concat!($meaning, " \\[", $unit, "\\], offset ", $at, ".")]
        #[must_use]
        pub fn $field(&self) -> $crate::layout::host!($ty) {
            $crate::fields::Wire::host(&self.$block.$field)
        }
    )+ };
    ([$cond:expr] $block:ident { $( $at:literal $field:ident: $ty:tt, $unit:literal, $meaning:literal; )+ }) => { $(
        #[doc = concat!($meaning, " \\[", $unit, "\\], offset ", $at, "; absent from the other layouts.")]
        #[must_use]
        pub fn $field(&self) -> Option<$crate::layout::host!($ty)> {
            self.$block.map(|block| $crate::fields::Wire::host(&block.$field))
        }
    )+ };
}

macro_rules! fill {
    ($repr:ident, $block:expr, [] $( $field:ident )+) => {
        $( $repr.$field = $crate::fields::Wire::host(&$block.$field); )+
    };
    ($repr:ident, $block:expr, [$cond:expr] $( $field:ident )+) => {
        if let Some(block) = $block {
            $( $repr.$field = $crate::fields::Wire::host(&block.$field); )+
        }
    };
}

macro_rules! show {
    ($visitor:ident, $block:expr, [] $( $field:ident $(as $name:literal)?: $ty:tt; )+) => { $(
        <$ty as $crate::fields::Wire>::visit(
            $crate::fields::Wire::host(&$block.$field),
            $crate::layout::name!($field $($name)?),
            $visitor,
        );
    )+ };
    ($visitor:ident, $block:expr, [$cond:expr] $( $field:ident $(as $name:literal)?: $ty:tt; )+) => {
        if let Some(block) = $block {
            $crate::layout::show!($visitor, block, [] $( $field $(as $name)?: $ty; )+);
        }
    };
}

macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

pub(super) use {fill, getters, held, host, layout, name, put, record, show, take, total};
