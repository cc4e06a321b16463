//! The error for an invalid configuration value.

/// The text of an error: a string; without the feature `texts` [`NoText`].
#[cfg(feature = "texts")]
pub type Wording = &'static str;
/// The text of an error: a string with the feature `texts`, and [`NoText`] without it as here.
#[cfg(not(feature = "texts"))]
pub type Wording = NoText;

/// A placeholder for error texts in builds that omit them, such as a small board's. `outrigger check-config` prints the
/// full text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoText;

impl core::fmt::Display for NoText {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("(see outrigger check-config)")
    }
}

/// Returns `text`, because this build has texts.
#[cfg(feature = "texts")]
pub(crate) const fn wording(text: &'static str) -> Wording {
    text
}

/// Discards the text, because this build omits texts.
#[cfg(not(feature = "texts"))]
pub(crate) const fn wording(_: &'static str) -> Wording {
    NoText
}

/// A configuration field with an invalid value. The value itself is not included: the reader of the configuration has
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BadValue {
    /// The name of the field, with its parents if there are any: `limits.ok.jitter`.
    pub field: Wording,
    /// The accepted values of the field, as a clause.
    pub expected: Wording,
    /// The index, from 0, of the first invalid value if the field has several; always `None` without the feature
    /// `texts`.
    pub at: Option<u8>,
}

impl BadValue {
    /// Creates the error that `field` is not as `expected`. `at` is the index of the invalid value if the field has
    /// several.
    #[must_use]
    pub const fn new(field: &'static str, expected: &'static str, at: Option<u8>) -> Self {
        let at = if cfg!(feature = "texts") { at } else { None };
        Self { field: wording(field), expected: wording(expected), at }
    }

    /// Checks a condition on a configuration field, which the caller has evaluated: `holds` is `true` if the field is
    /// valid.
    ///
    /// # Errors
    /// Returns an error for `field` if `holds` is `false`.
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
