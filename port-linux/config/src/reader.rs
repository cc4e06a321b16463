//! Reads a TOML document by type. Every problem names line, key, what was found and what was expected, and all
//! problems are reported together.

mod document;
mod problem_reports;
mod spelling_suggestions;
mod value_kinds;
mod values;

use std::ops::Range;

use outrigger_core::robot::{Key as Setting, Range as CoreRange, Table};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::expert::is_expert;

pub(crate) use self::document::Document;
pub use self::document::Problem;
pub(crate) use self::spelling_suggestions::nearest;
pub use self::value_kinds::{Key, ValueKind, Written};

/// A table of the TOML document. Its keys are read by name; [`Section::finish`] reports the keys that were not read.
pub(crate) struct Section<'d, 'i> {
    document: &'d Document<'i>,
    path: String,
    /// The prefix of the names of all keys that are being read, while a nested group of settings is read. Empty
    /// otherwise.
    prefix: &'static str,
    /// The description of the key that is being read, for the list of all keys. Empty if it has none.
    doc: &'static str,
    at: Range<usize>,
    table: Option<&'d DeTable<'i>>,
    /// The table `expert` of this section, if the document has one.
    expert: Option<&'d DeTable<'i>>,
    /// `true` if this section is itself the table `expert` of another section.
    is_in_expert: bool,
    known: Vec<String>,
    known_expert: Vec<String>,
    refused: Vec<String>,
}

/// The name of a section's table for the keys that few files need.
const EXPERT: &str = "expert";

impl<'d, 'i> Section<'d, 'i> {
    fn new(
        document: &'d Document<'i>,
        path: String,
        at: Range<usize>,
        table: Option<&'d DeTable<'i>>,
        is_in_expert: bool,
    ) -> Self {
        let within = table.filter(|_| !is_in_expert && !path.is_empty()).and_then(|table| table.get(EXPERT));
        let expert = within.and_then(|value| value.get_ref().as_table());
        let (known, known_expert, refused) = Default::default();
        Self { document, path, prefix: "", doc: "", at, table, expert, is_in_expert, known, known_expert, refused }
    }

    /// Returns `true` if the section has `key`. The key still counts as unread, so that [`finish`](Self::finish) may
    /// report it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns `true` if `key` is one of the keys that must be in the table `expert` of this section.
    fn is_expert(&self, key: &str) -> bool {
        !self.is_in_expert && !self.path.is_empty() && is_expert(&without_indices(&format!("{}.{key}", self.path)))
    }

    /// Returns the value at `key`. If `key` is missing from the table in which it belongs (the section, or its table
    /// `expert`), tries the other one: [`finish`](Self::finish) then rejects that place, and the key is not also
    /// reported as missing.
    fn get(&self, key: &str) -> Option<&'d Spanned<DeValue<'i>>> {
        let tables = if self.is_expert(key) { [self.expert, self.table] } else { [self.table, self.expert] };
        tables.into_iter().flatten().find_map(|table| table.get(key))
    }

    /// Returns the full name that `key` of this section has in a file, with the path of the section.
    fn name(&self, key: &str) -> String {
        match (self.path.as_str(), self.is_expert(key)) {
            ("", _) => key.into(),
            (path, true) => format!("{path}.{EXPERT}.{key}"),
            (path, false) => format!("{path}.{key}"),
        }
    }

    /// Reads the value of the setting `key` by `read`, which receives its name. Meanwhile the setting's description is
    /// stored for the list of all keys.
    fn asked<T>(&mut self, key: Setting, read: impl FnOnce(&mut Self, &str) -> Option<T>) -> Option<T> {
        self.doc = key.doc;
        let value = read(self, &format!("{}{}", self.prefix, key.name));
        self.doc = "";
        value
    }

    fn take(&mut self, key: &str, takes: ValueKind) -> Option<&'d Spanned<DeValue<'i>>> {
        self.take_within(key, takes, None)
    }

    fn take_within(&mut self, key: &str, takes: ValueKind, range: Option<Written>) -> Option<&'d Spanned<DeValue<'i>>> {
        let (full, is_expert) = (self.name(key), self.is_in_expert || self.is_expert(key));
        let value = self.descend(key);
        if let Some(value) = value.filter(|_| is_expert) {
            self.document.experts.borrow_mut().insert(value.span().start, full.clone());
        }
        self.document.keys.borrow_mut().insert(Key { name: without_indices(&full), takes, range, doc: self.doc });
        value
    }

    fn descend(&mut self, key: &str) -> Option<&'d Spanned<DeValue<'i>>> {
        let known = if self.is_expert(key) { &mut self.known_expert } else { &mut self.known };
        known.push(key.to_owned());
        self.get(key)
    }

    /// Returns the table `key` of this section. An absent table reads as empty.
    pub(crate) fn section(&mut self, key: &str) -> Self {
        let (path, is_in_expert) = (self.name(key), self.is_in_expert || self.is_expert(key));
        let (table, at) = match self.descend(key) {
            None => (None, self.at.clone()),
            Some(value) => match value.get_ref() {
                DeValue::Table(table) => (Some(table), value.span()),
                _ => {
                    self.mistyped(key, value, format!("a table: [{path}]"));
                    (None, value.span())
                }
            },
        };
        Self::new(self.document, path, at, table, is_in_expert)
    }

    /// Returns the tables of the array `key`. An absent array reads as empty.
    pub(crate) fn sections(&mut self, key: &str) -> Vec<Self> {
        let path = self.name(key);
        let Some(value) = self.descend(key) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else {
            self.mistyped(key, value, format!("an array of tables: [[{path}]]"));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.get_ref() {
                DeValue::Table(table) => {
                    let path = format!("{path}[{index}]");
                    sections.push(Self::new(self.document, path, item.span(), Some(table), false));
                }
                _ => self.mistyped(key, item, format!("an array of tables: [[{path}]]")),
            }
        }
        sections
    }

    /// Reads a table of settings: `read` changes the defaults to the values in the table.
    pub(crate) fn settings<T: Default>(mut self, read: impl FnOnce(&mut T, &mut Self)) -> T {
        let mut settings = T::default();
        read(&mut settings, &mut self);
        self.finish();
        settings
    }
}

impl Table for Section<'_, '_> {
    fn flag(&mut self, key: Setting) -> Option<bool> {
        self.asked(key, |section, name| {
            let value = section.take(name, ValueKind::Flag)?;
            let flag = value.get_ref().as_bool();
            if flag.is_none() {
                section.mistyped(name, value, "true or false");
            }
            flag
        })
    }

    fn whole(&mut self, key: Setting, range: CoreRange<i64>) -> Option<i64> {
        self.asked(key, |section, name| section.integer(name, None, range))
    }

    fn number(&mut self, key: Setting, range: CoreRange<f32>) -> Option<f32> {
        self.asked(key, |section, name| section.number(name, range))
    }

    fn numbers<const N: usize>(&mut self, key: Setting, range: CoreRange<f32>) -> Option<[f32; N]> {
        self.asked(key, |section, name| section.numbers(name, range))
    }

    fn word<T: Copy>(&mut self, key: Setting, words: &[(&'static str, T)]) -> Option<T> {
        self.asked(key, |section, name| section.one_of(name, words))
    }

    fn table(&mut self, name: &'static str, read: impl FnOnce(&mut Self)) {
        let mut section = self.section(name);
        read(&mut section);
        section.finish();
    }

    fn prefixed(&mut self, prefix: &'static str, read: impl FnOnce(&mut Self)) {
        self.prefix = prefix;
        read(self);
        self.prefix = "";
    }
}

/// Removes the array indices from the full name of a key: `source[3].name` becomes `source[].name`.
pub(crate) fn without_indices(name: &str) -> String {
    let mut parts = name.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + "[" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}
