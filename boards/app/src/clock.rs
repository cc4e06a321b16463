//! Which clock a board runs on.

/// Ages of states are judged on it. An oscillator of a chip is off by up to a hundredth, a crystal by some millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ClockSource {
    /// As the board is made: a crystal, or another clock from outside.
    #[default]
    External,
    /// The chip's own oscillator, because the one from outside did not come.
    Internal,
}

impl ClockSource {
    /// A word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::External => "external",
            Self::Internal => "internal",
        }
    }
}
