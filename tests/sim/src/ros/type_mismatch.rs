//! The error that a program's value does not fit the type of a ROS 2 message.

use std::fmt;

/// An error: a value does not fit a message type, with the member in which the difference occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch(Box<Found>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    /// The path to the member, which consists of the names of members from the outside in, such as `header.stamp`;
    /// empty for the whole value.
    at: String,
    what: String,
}

impl Mismatch {
    pub(super) fn new(what: impl fmt::Display) -> Self {
        Self(Box::new(Found { at: String::new(), what: what.to_string() }))
    }

    /// Returns this error with the member `name` prepended to the path of the mismatch in the message.
    #[cold]
    #[inline(never)]
    pub(super) fn within(mut self, name: &str) -> Self {
        let at = &mut self.0.at;
        *at = if at.is_empty() { name.to_owned() } else { format!("{name}.{at}") };
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.at.is_empty() {
            write!(f, "{}: ", self.0.at)?;
        }
        f.write_str(&self.0.what)
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
