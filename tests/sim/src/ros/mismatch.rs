//! Why a value of a program is no message.

use std::fmt;

/// What does not fit, and in which member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Members and indices from outside in, `header.stamp`; empty for the whole.
    at: String,
    what: String,
}

impl Mismatch {
    pub(super) fn new(what: impl fmt::Display) -> Self {
        Self { at: String::new(), what: what.to_string() }
    }

    /// The same, seen from what has it as member `name`.
    pub(super) fn within(mut self, name: &str) -> Self {
        self.at = if self.at.is_empty() { name.to_owned() } else { format!("{name}.{}", self.at) };
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Mismatch {}

impl serde::de::Error for Mismatch {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::new(what)
    }
}

impl serde::ser::Error for Mismatch {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::new(what)
    }
}
