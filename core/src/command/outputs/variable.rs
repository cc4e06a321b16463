//! Variables that are shared with a program on the controller; each has one direction.

/// The number of variables of each type that are shared with a program on the controller. They are counted from 1, as
/// in the program.
pub const VARIABLES: u8 = 16;

/// The type of a variable shared with a program on the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableKind {
    /// The shared variable is a Boolean.
    Bool,
    /// The shared variable is an integer.
    Int,
    /// The shared variable is a floating-point number.
    Real,
}

/// The value of a variable shared with a program on the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VariableValue {
    /// A Boolean value of the shared variable.
    Bool(bool),
    /// An integer value of the shared variable.
    Int(i32),
    /// A floating-point value of the shared variable; finite.
    Real(f32),
}

impl VariableValue {
    /// Returns the type of the variable that can hold this value.
    #[must_use]
    pub const fn kind(&self) -> VariableKind {
        match self {
            Self::Bool(_) => VariableKind::Bool,
            Self::Int(_) => VariableKind::Int,
            Self::Real(_) => VariableKind::Real,
        }
    }
}
