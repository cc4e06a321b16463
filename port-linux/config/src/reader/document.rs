//! The TOML document of a configuration while it is read, and the problems found in it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::ops::Range;

use toml::de::DeTable;

use super::{Key, Section};

/// A problem in a configuration document: its place, what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the configuration document that has the problem, from 1.
    pub line: usize,
    /// The full name of the key, e.g. `limits.velocity`. Empty for the document as a whole.
    pub key: String,
    /// The faulty value found in the configuration document; `nothing` for a missing key.
    pub found: String,
    /// A description of a value that would be accepted.
    pub expected: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, key, found, expected } = self;
        let colon = if key.is_empty() { "" } else { ": " };
        // Keys and values are text from a file. In a terminal, control characters could act as commands or fake
        // output.
        for c in format!("line {line}: {key}{colon}found {found}, expected {expected}").chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
        }
        Ok(())
    }
}

/// A TOML document of a configuration that is being read. Problems are collected, not returned one by one.
pub(crate) struct Document<'i> {
    source: &'i str,
    table: DeTable<'i>,
    problems: RefCell<Vec<(usize, Problem)>>,
    pub(super) keys: RefCell<BTreeSet<Key>>,
    /// The full names of the expert keys that the document sets and the reader has read, by their byte position in the
    /// document.
    pub(super) experts: RefCell<BTreeMap<usize, String>>,
}

impl<'i> Document<'i> {
    /// Parses the text `source` of a TOML document.
    ///
    /// # Errors
    /// Returns one problem, with the parser's message, if `source` is not TOML.
    pub(crate) fn parse(source: &'i str) -> Result<Self, Problem> {
        match DeTable::parse(source) {
            Ok(table) => {
                let (problems, keys, experts) = Default::default();
                Ok(Self { source, table: table.into_inner(), problems, keys, experts })
            }
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let found = source.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
                let found = if found.is_empty() { "the end of the line".into() } else { quoted(found) };
                let message = error.message().lines().collect::<Vec<_>>().join(", ");
                let expected = format!("TOML: {message}");
                Err(Problem { line: line_of(source, at), key: String::new(), found, expected })
            }
        }
    }

    /// Returns the top-level table of the configuration document.
    pub(crate) fn root(&self) -> Section<'_, 'i> {
        Section::new(self, String::new(), 0..0, Some(&self.table), false)
    }

    /// Returns every problem found so far, in the order of the document.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|(at, _)| *at);
        problems.into_iter().map(|(_, problem)| problem).collect()
    }

    /// Returns every key that the reader looked for, with the values that it accepts, whether or not the document has
    /// it.
    pub(crate) fn into_keys(self) -> Vec<Key> {
        self.keys.into_inner().into_iter().collect()
    }

    /// Returns the expert keys that the document sets and the reader has read, in the order of the document. Each
    /// pair is the line of the key and its full name.
    pub(crate) fn into_experts(self) -> Vec<(usize, String)> {
        let experts = self.experts.into_inner();
        experts.into_iter().map(|(at, name)| (line_of(self.source, at), name)).collect()
    }

    pub(super) fn complain(&self, at: &Range<usize>, key: String, found: String, expected: String) {
        let line = line_of(self.source, at.start);
        self.problems.borrow_mut().push((at.start, Problem { line, key, found, expected }));
    }

    /// Returns the source text in the byte range `at`, shortened for the "found" part of a problem.
    pub(super) fn text(&self, at: &Range<usize>) -> String {
        let text = self.source.get(at.clone()).unwrap_or_default();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default().trim();
        if lines.next().is_some() || first.chars().count() > 40 {
            return format!("{}…", first.chars().take(40).collect::<String>());
        }
        first.into()
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(40).collect::<String>())
}

fn line_of(source: &str, at: usize) -> usize {
    source.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}
