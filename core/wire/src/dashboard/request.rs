//! The arguments of dashboard requests, and the lines that carry the requests.

use super::{Request, RequestKind};
use crate::{Put, WireError};

/// A file name or a text within a request: printable ASCII with at least one character that is not a blank.
///
/// Line breaks are rejected, because one would end the request and make the rest of the text another request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Argument<'a>(&'a str);

impl<'a> Argument<'a> {
    /// The length of the longest argument of a dashboard request \[B\]. It fits into a line of [`Request::MAX_LEN`].
    pub const MAX_LEN: usize = 400;

    /// Returns `text` as an argument.
    ///
    /// # Errors
    /// [`BadArgument`] if `text` cannot be part of a request line.
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

    /// Returns the text of the dashboard request's argument, unchanged.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

/// The reason why a text cannot be an [`Argument`] of a dashboard request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BadArgument {
    /// The argument is empty or consists of blanks.
    Empty,
    /// The argument is longer than [`Argument::MAX_LEN`].
    TooLong {
        /// The length of the rejected argument \[B\].
        len: usize,
    },
    /// The argument contains a line feed or carriage return.
    LineBreak {
        /// The offset of the line break in the argument \[B\].
        at: usize,
    },
    /// The argument contains a character that is not printable ASCII.
    NotAscii {
        /// The offset of the rejected character in the argument \[B\].
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

/// A reason why a line is no dashboard request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRequest {
    /// The line begins with the words of no known dashboard request.
    Unknown,
    /// The name or text after the words of the dashboard request cannot be sent.
    Argument(BadArgument),
    /// The dashboard request has another argument than one of its words, or one although it has none.
    Word(RequestKind),
}

impl core::fmt::Display for BadRequest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unknown => f.write_str("expected a request of a dashboard server, e.g. \"power on\""),
            Self::Argument(bad) => bad.fmt(f),
            Self::Word(RequestKind::SetUserRole) => one_of(f, UserRole::ALL.iter().map(|role| role.word())),
            Self::Word(RequestKind::SetOperationalMode) => {
                one_of(f, OperationalMode::ALL.iter().map(|mode| mode.word()))
            }
            Self::Word(RequestKind::GenerateFlightReport) => {
                one_of(f, FlightReport::ALL.iter().map(|about| about.word()))
            }
            Self::Word(kind) => write!(f, "expected nothing after \"{}\"", kind.words()),
        }
    }
}

fn one_of(f: &mut core::fmt::Formatter<'_>, mut words: impl Iterator<Item = &'static str>) -> core::fmt::Result {
    f.write_str("expected one of")?;
    words.try_for_each(|word| write!(f, " \"{word}\""))
}

impl core::error::Error for BadRequest {}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// The list of all values of this type of dashboard argument, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word by which dashboard requests and replies name this value.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Returns the value that dashboard requests and replies name by `word`, in upper or lower case; `None` if
            /// no value has this name.
            #[must_use]
            pub fn from_word(word: &[u8]) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.word().as_bytes().eq_ignore_ascii_case(word))
            }
        }
    };
}

words! {
    /// The user role of a CB3 controller: what a person at the pendant may do.
    UserRole {
        /// The role with full access; no password is requested.
        Programmer "programmer",
        /// The role in which programs may be run but not changed.
        Operator "operator",
        /// No role is set: the passwords that are configured at the pendant apply.
        None "none",
        /// The role in which no action is allowed.
        Locked "locked",
        /// The role with fewer rights than an operator; exists in late releases of software 3.x.
        Restricted "restricted",
    }
}

words! {
    /// The operational mode of an e-Series controller.
    OperationalMode {
        /// The manual mode, in which a person may jog the arm and change programs.
        Manual "manual",
        /// The automatic mode, in which programs run; the pendant cannot move the arm.
        Automatic "automatic",
    }
}

words! {
    /// The subject of a flight report.
    FlightReport {
        /// A report about the controller alone.
        Controller "controller",
        /// A report about the user interface alone.
        Software "software",
        /// A report about the controller and the user interface.
        System "system",
    }
}

impl<'a> Request<'a> {
    /// An upper bound for the length of dashboard request lines \[B\], including the line feed; the longest has 423 bytes.
    pub const MAX_LEN: usize = 432;

    /// Returns the argument of the dashboard request as it is sent; `None` if the request has none.
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

    /// Parses a request line, without its line feed, e.g. `power on` or `load weld.urp`.
    ///
    /// # Errors
    /// Returns [`BadRequest`] if the line is no known request, or has a wrong argument.
    pub fn parse(line: &'a str) -> Result<Self, BadRequest> {
        let line = line.trim();
        let begins = |kind: &RequestKind| {
            line.strip_prefix(kind.words()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        // The longest, because "load installation" begins with "load".
        let kind = RequestKind::ALL.iter().copied().filter(begins).max_by_key(|kind| kind.words().len());
        let kind = kind.ok_or(BadRequest::Unknown)?;
        let text = line.strip_prefix(kind.words()).unwrap_or_default().trim_start();
        let argument = || Argument::new(text).map_err(BadRequest::Argument);
        let word = || BadRequest::Word(kind);
        Ok(match kind {
            RequestKind::Load => Self::Load(argument()?),
            RequestKind::LoadInstallation => Self::LoadInstallation(argument()?),
            RequestKind::Popup => Self::Popup(argument()?),
            RequestKind::AddToLog => Self::AddToLog(argument()?),
            RequestKind::GenerateSupportFile => Self::GenerateSupportFile(argument()?),
            RequestKind::SetUserRole => Self::SetUserRole(UserRole::from_word(text.as_bytes()).ok_or_else(word)?),
            RequestKind::SetOperationalMode => {
                Self::SetOperationalMode(OperationalMode::from_word(text.as_bytes()).ok_or_else(word)?)
            }
            RequestKind::GenerateFlightReport if text.is_empty() => Self::GenerateFlightReport(None),
            RequestKind::GenerateFlightReport => {
                Self::GenerateFlightReport(Some(FlightReport::from_word(text.as_bytes()).ok_or_else(word)?))
            }
            plain if text.is_empty() => plain.plain().ok_or_else(word)?,
            _ => return Err(word()),
        })
    }

    /// Writes the request line with its line feed to the start of `out` and returns its length \[B\].
    ///
    /// # Errors
    /// `BufferTooSmall` if `out` is shorter than the line; [`Request::MAX_LEN`] bytes hold any request.
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
