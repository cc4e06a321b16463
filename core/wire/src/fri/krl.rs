//! The variables that a KRL program and the remote computer share (`core/docs/protocol/kuka-fri.md A4`).

use zerocopy::little_endian::{F32, I32, U16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::fields::{FieldVisitor, Value, Wire};

/// The number of KRL variables of each type.
const COUNT: usize = 16;

/// The index of a variable that a KRL program shares by FRI: each type (real, integer, boolean) has sixteen. It is
/// 0 … 15 in the datagram and 1 … 16 in KRL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KrlIndex(u8);

impl KrlIndex {
    /// Returns the index from its value in the datagram, 0 … 15; `None` beyond that range.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if (index as usize) < COUNT { Some(Self(index)) } else { None }
    }

    /// Returns the index from its value in a KRL program, 1 … 16; `None` beyond that range.
    #[must_use]
    pub const fn from_krl(index: u8) -> Option<Self> {
        match index.checked_sub(1) {
            Some(index) => Self::new(index),
            None => None,
        }
    }

    /// Returns the index of the KRL variable in the datagram, 0 … 15.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the index of the variable in a KRL program, 1 … 16.
    #[must_use]
    pub const fn krl(self) -> u8 {
        self.0.saturating_add(1)
    }

    /// Returns the sixteen indices of KRL variables.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..COUNT as u8).map(Self)
    }
}

/// The shared variables of one direction: in a measurement the values that the KRL program set (`$FRI_TO_…`), in a
/// command the values that the program will read (`$FRI_FRM_…`).
///
/// They are a mirrored memory without a handshake: a value is repeated in each datagram until it is changed, and a
/// program reads it every 12 ms to 50 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KrlVariables {
    /// The KRL variables of type real, `$FRI_…_REA[1]` … `[16]`.
    pub reals: [f32; COUNT],
    /// The KRL variables of type integer, `$FRI_…_INT[1]` … `[16]`.
    pub ints: [i32; COUNT],
    /// The KRL variables of type boolean, `$FRI_…_BOOL[1]` … `[16]`; bit 0 is the first.
    pub bools: u16,
}

impl KrlVariables {
    /// Returns the KRL variable of type real at this index.
    #[must_use]
    pub fn real(&self, at: KrlIndex) -> f32 {
        self.reals.get(at.index()).copied().unwrap_or_default()
    }

    /// Returns the KRL variable of type integer at this index.
    #[must_use]
    pub fn int(&self, at: KrlIndex) -> i32 {
        self.ints.get(at.index()).copied().unwrap_or_default()
    }

    /// Returns the KRL variable of type boolean at this index.
    #[must_use]
    pub const fn bool(&self, at: KrlIndex) -> bool {
        self.bools >> at.0 & 1 != 0
    }

    /// Sets the KRL variable of type real at this index.
    pub fn set_real(&mut self, at: KrlIndex, value: f32) {
        if let Some(real) = self.reals.get_mut(at.index()) {
            *real = value;
        }
    }

    /// Sets the KRL variable of type integer at this index.
    pub fn set_int(&mut self, at: KrlIndex, value: i32) {
        if let Some(int) = self.ints.get_mut(at.index()) {
            *int = value;
        }
    }

    /// Sets the KRL variable of type boolean at this index.
    pub const fn set_bool(&mut self, at: KrlIndex, value: bool) {
        let bit = 1 << at.0;
        self.bools = if value { self.bools | bit } else { self.bools & !bit };
    }
}

/// The KRL variables, [`KrlVariables`], in the form in which they are transmitted.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct KrlField {
    reals: [F32; COUNT],
    ints: [I32; COUNT],
    bools: U16,
}

impl Wire for KrlField {
    type Host = KrlVariables;
    fn host(&self) -> KrlVariables {
        KrlVariables { reals: self.reals.host(), ints: self.ints.host(), bools: self.bools.get() }
    }
    fn wire(host: KrlVariables) -> Self {
        Self { reals: Wire::wire(host.reals), ints: Wire::wire(host.ints), bools: U16::new(host.bools) }
    }
    fn visit(host: KrlVariables, _: &str, visitor: &mut dyn FieldVisitor) {
        visitor.field("real_data", Value::F32s(&host.reals));
        visitor.field("int_data", Value::I32s(&host.ints));
        visitor.field("bool_data", Value::Mask(host.bools.into()));
    }
}
