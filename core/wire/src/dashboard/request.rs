//! What clients send.

use super::Request;
use crate::{Put, WireError};

/// A file name or a text within a request: printable ASCII, at least one character that is not a blank.
///
/// A line break would end the request, and what followed would be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Argument<'a>(&'a str);

impl<'a> Argument<'a> {
    /// The longest argument \[B\]: what fits into a line of [`Request::MAX_LEN`].
    pub const MAX_LEN: usize = 400;

    /// `text` as an argument.
    ///
    /// # Errors
    /// [`BadArgument`] where a line cannot carry it.
    pub fn new(text: &'a str) -> Result<Self, BadArgument> {
        if text.len() > Self::MAX_LEN {
            return Err(BadArgument::TooLong { len: text.len() });
        }
        match text.char_indices().find(|(_, c)| !matches!(c, ' '..='~')) {
            Some((at, '\n' | '\r')) => Err(BadArgument::LineBreak { at }),
            Some((at, _)) => Err(BadArgument::NotAscii { at }),
            None if text.trim_ascii().is_empty() => Err(BadArgument::Empty),
            None => Ok(Self(text)),
        }
    }

    /// As it was given.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

/// Why a text is no [`Argument`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BadArgument {
    /// Nothing, or blanks.
    Empty,
    /// More than [`Argument::MAX_LEN`].
    TooLong {
        /// Its length \[B\].
        len: usize,
    },
    /// A line feed or carriage return.
    LineBreak {
        /// At this byte.
        at: usize,
    },
    /// A character that the line cannot carry.
    NotAscii {
        /// At this byte.
        at: usize,
    },
}

impl core::fmt::Display for BadArgument {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Empty => f.write_str("expected a name or a text, found none"),
            Self::TooLong { len } => write!(f, "expected at most {} bytes, found {len}", Argument::MAX_LEN),
            Self::LineBreak { at } => write!(f, "expected one line, found its end at byte {at}"),
            Self::NotAscii { at } => {
                write!(f, "expected printable ASCII, found something else at byte {at}: the line cannot carry it")
            }
        }
    }
}

impl core::error::Error for BadArgument {}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in a request.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The one with this word, in any case.
            #[must_use]
            pub fn from_word(word: &[u8]) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.word().as_bytes().eq_ignore_ascii_case(word))
            }
        }
    };
}

words! {
    /// What a person at the pendant of a CB3 may do.
    UserRole {
        /// Everything; no password is asked for.
        Programmer "programmer",
        /// Run programs, not change them.
        Operator "operator",
        /// What passwords allow: the pendant's own rule.
        None "none",
        /// Nothing.
        Locked "locked",
        /// Less than an operator; late 3.x.
        Restricted "restricted",
    }
}

words! {
    /// Operational mode of an e-Series controller.
    OperationalMode {
        /// A person may jog the arm and change programs.
        Manual "manual",
        /// Programs run; the pendant does not move the arm.
        Automatic "automatic",
    }
}

words! {
    /// What a flight report is about.
    FlightReport {
        /// The controller.
        Controller "controller",
        /// The user interface.
        Software "software",
        /// All of it.
        System "system",
    }
}

impl<'a> Request<'a> {
    /// The longest line \[B\], with its line feed.
    pub const MAX_LEN: usize = 432;

    /// Its argument, as it is sent.
    #[must_use]
    pub const fn argument(&self) -> Option<&'a str> {
        match self {
            Self::Load(text)
            | Self::LoadInstallation(text)
            | Self::Popup(text)
            | Self::AddToLog(text)
            | Self::GenerateSupportFile(text) => Some(text.as_str()),
            Self::SetUserRole(role) => Some(role.word()),
            Self::SetOperationalMode(mode) => Some(mode.word()),
            Self::GenerateFlightReport(Some(about)) => Some(about.word()),
            _ => None,
        }
    }

    /// Writes the line with its line feed and says how long it is.
    ///
    /// # Errors
    /// `BufferTooSmall`; [`Request::MAX_LEN`] bytes hold any request.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let words = self.kind().words().as_bytes();
        let argument = self.argument().map(str::as_bytes);
        let size = words.len().saturating_add(argument.map_or(1, |text| text.len().saturating_add(2)));
        let mut put = Put::new(out, size)?;
        put.bytes(words)?;
        if let Some(argument) = argument {
            put.bytes(b" ")?;
            put.bytes(argument)?;
        }
        put.bytes(b"\n")?;
        Ok(put.written())
    }
}
