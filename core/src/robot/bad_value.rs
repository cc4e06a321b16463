//! What is wrong with a configuration value.

/// A configuration field outside its range. The one who read the configuration knows what was found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BadValue {
    /// Name of the field, with its parents where it has any: `limits.ok.jitter`.
    pub field: &'static str,
    /// What is accepted, as a clause.
    pub expected: &'static str,
    /// Of several values the first that is wrong, from 0, where only some are.
    pub at: Option<u8>,
}

impl BadValue {
    /// `Err` for `field` unless `holds`.
    ///
    /// # Errors
    /// The value itself, where `holds` is false.
    pub const fn unless(holds: bool, field: &'static str, expected: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { field, expected, at: None }) }
    }
}

impl core::fmt::Display for BadValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: expected {}", self.field, self.expected)
    }
}

impl core::error::Error for BadValue {}
