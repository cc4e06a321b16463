//! Lists joined by commas: names in requests, type words in replies (`core/docs/protocol/ur-rtde.md 3.4, 3.5`).
//!
//! A comma after the last item is ignored, as controllers do.

use super::DataType;

/// Splits a list of names joined by commas. `str::split` is not used, because it would add code that can panic to the
/// program.
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list;
    core::iter::from_fn(move || {
        let comma = rest.bytes().position(|byte| byte == b',').unwrap_or(rest.len());
        let name = rest.get(..comma).filter(|_| !rest.is_empty())?;
        rest = rest.get(comma.saturating_add(1)..).unwrap_or_default();
        Some(name)
    })
}

/// A list of names of RTDE variables in their wire form, joined by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameList<'a>(pub &'a [u8]);

impl<'a> NameList<'a> {
    /// Iterates over the names of the variables, in the order of the list.
    #[must_use]
    pub fn iter(&self) -> Names<'a> {
        Names { rest: items(self.0) }
    }
}

impl<'a> IntoIterator for NameList<'a> {
    type Item = &'a [u8];
    type IntoIter = Names<'a>;
    fn into_iter(self) -> Names<'a> {
        self.iter()
    }
}

/// An iterator over the names of a [`NameList`]; between two commas in a row is an empty name.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Names<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        next(&mut self.rest)
    }
}

/// A controller's type words for requested variables in their wire form, joined by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeList<'a>(pub &'a [u8]);

impl<'a> TypeList<'a> {
    /// Iterates over the type words of the variables, in the order of the list.
    #[must_use]
    pub fn iter(&self) -> TypeWords<'a> {
        TypeWords { rest: items(self.0) }
    }
}

impl<'a> IntoIterator for TypeList<'a> {
    type Item = TypeWord<'a>;
    type IntoIter = TypeWords<'a>;
    fn into_iter(self) -> TypeWords<'a> {
        self.iter()
    }
}

/// An iterator over the words of a [`TypeList`].
#[derive(Clone, Debug)]
pub struct TypeWords<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for TypeWords<'a> {
    type Item = TypeWord<'a>;
    fn next(&mut self) -> Option<TypeWord<'a>> {
        next(&mut self.rest).map(TypeWord::of)
    }
}

/// A controller's answer for one requested RTDE variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeWord<'a> {
    /// The requested RTDE variable exists, and its values have this type.
    Type(DataType),
    /// The controller's software does not have the variable.
    NotFound,
    /// The requested input is owned by another client or a fieldbus.
    InUse,
    /// An unknown type word, such as a type of later software.
    Other(&'a [u8]),
}

impl<'a> TypeWord<'a> {
    /// Converts a type word of a controller's answer into its meaning.
    #[must_use]
    pub fn of(word: &'a [u8]) -> Self {
        match word {
            b"NOT_FOUND" => Self::NotFound,
            b"IN_USE" => Self::InUse,
            _ => DataType::from_word(word).map_or(Self::Other(word), Self::Type),
        }
    }
}

/// Returns the list of names or type words, to be split at its commas; `None` if it is empty.
fn items(list: &[u8]) -> Option<&[u8]> {
    (!list.is_empty()).then_some(list)
}

fn next<'a>(rest: &mut Option<&'a [u8]>) -> Option<&'a [u8]> {
    let list = rest.take()?;
    let mut parts = list.splitn(2, |byte| *byte == b',');
    let item = parts.next()?;
    *rest = parts.next().and_then(items);
    Some(item)
}
