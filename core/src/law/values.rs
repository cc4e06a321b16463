//! The values that a control law displays: names, units and numbers, which terminals and pages show without knowing the
//! law.

/// The unit of a [`Value`] that a control law displays to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// The displayed value has no unit.
    One,
    /// The displayed value is in metres.
    Metre,
    /// The displayed value is in radians.
    Radian,
    /// The displayed value is in newtons.
    Newton,
    /// The displayed value is in newton metres.
    NewtonMetre,
}

impl Unit {
    /// Returns the symbol of the displayed value's unit.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Metre => "m",
            Self::Radian => "rad",
            Self::Newton => "N",
            Self::NewtonMetre => "Nm",
        }
    }
}

/// A number that a control law displays to people, with its name and unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The name of the displayed value, in lower case with underscores.
    pub name: &'static str,
    /// The component, if several values have one name: an axis of the tool, or a joint.
    pub part: Option<&'static str>,
    /// The unit of the displayed number.
    pub unit: Unit,
    /// The number to display; `None` while it is unknown.
    pub value: Option<f32>,
}

/// The largest number of values that a control law displays to people.
pub const MAX_VALUES: usize = 8;

/// The values that a control law displays to people, in the order in which they are shown.
///
/// ```
/// use outrigger_core::law::{Unit, Value, Values};
///
/// let offset = Value { name: "seam_offset", part: None, unit: Unit::Metre, value: Some(0.002) };
/// let values = Values::from_iter([offset]);
/// assert_eq!(values.iter().next(), Some(&offset));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values([Option<Value>; MAX_VALUES]);

impl Values {
    /// An empty list of values, for laws that display none.
    pub const NONE: Self = Self([None; MAX_VALUES]);

    /// Iterates over a law's values in the order in which they are displayed.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().flatten()
    }
}

impl FromIterator<Value> for Values {
    /// Collects the first [`MAX_VALUES`] values of a law and ignores the others.
    fn from_iter<T: IntoIterator<Item = Value>>(values: T) -> Self {
        let mut taken = Self::NONE;
        taken.0.iter_mut().zip(values).for_each(|(place, value)| *place = Some(value));
        taken
    }
}
