//! Variables that are shared with a program on the controller, each direction its own.

/// How many there are of each kind. They are counted from 1, as the program counts them.
pub const VARIABLES: u8 = 16;

/// What a variable can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableKind {
    /// A truth value.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Real,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i32),
    /// A finite number.
    Real(f32),
}

impl VariableValue {
    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> VariableKind {
        match self {
            Self::Bool(_) => VariableKind::Bool,
            Self::Int(_) => VariableKind::Int,
            Self::Real(_) => VariableKind::Real,
        }
    }
}
