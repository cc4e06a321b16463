//! What is wrong with a configuration value.

/// Words of what is wrong: text; without the feature `texts` [`Untold`].
#[cfg(feature = "texts")]
pub type Wording = &'static str;
/// Words of what is wrong: with the feature `texts` text, and here none.
#[cfg(not(feature = "texts"))]
pub type Wording = Untold;

/// No words: a board that leaves them out keeps the verdict. `outrigger check-config` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Untold;

impl core::fmt::Display for Untold {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("(see outrigger check-config)")
    }
}

/// `text`, where texts are kept.
#[cfg(feature = "texts")]
pub(crate) const fn wording(text: &'static str) -> Wording {
    text
}

/// Nothing: texts are left out.
#[cfg(not(feature = "texts"))]
pub(crate) const fn wording(_: &'static str) -> Wording {
    Untold
}

/// A configuration field outside its range. The one who read the configuration knows what was found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BadValue {
    /// Name of the field, with its parents where it has any: `limits.ok.jitter`.
    pub field: Wording,
    /// What is accepted, as a clause.
    pub expected: Wording,
    /// The index, from 0, of the first invalid value where there are several; always `None` without the feature `texts`.
    pub at: Option<u8>,
}

impl BadValue {
    /// That `field` is not what is `expected`, of several values that `at` this place.
    #[must_use]
    pub const fn new(field: &'static str, expected: &'static str, at: Option<u8>) -> Self {
        let at = if cfg!(feature = "texts") { at } else { None };
        Self { field: wording(field), expected: wording(expected), at }
    }

    /// `Err` for `field` unless `holds`.
    ///
    /// # Errors
    /// The value itself, where `holds` is false.
    pub const fn unless(holds: bool, field: &'static str, expected: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(field, expected, None)) }
    }
}

impl core::fmt::Display for BadValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: expected {}", self.field, self.expected)
    }
}

impl core::error::Error for BadValue {}
