//! Variables that are shared with a program on the controller; each has one direction.

/// The number of variables of each kind. They are counted from 1, as in the program.
pub const VARIABLES: u8 = 16;

/// The type of a shared variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableKind {
    /// A Boolean.
    Bool,
    /// An integer.
    Int,
    /// A floating-point number.
    Real,
}

/// The value of a shared variable.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableValue {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i32),
    /// A finite floating-point number.
    Real(f32),
}

impl VariableValue {
    /// Returns the type of the value.
    #[must_use]
    pub const fn kind(&self) -> VariableKind {
        match self {
            Self::Bool(_) => VariableKind::Bool,
            Self::Int(_) => VariableKind::Int,
            Self::Real(_) => VariableKind::Real,
        }
    }
}
