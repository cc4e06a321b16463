//! Typed reading of a TOML document in which every complaint names line, key, what was found and what
//! was expected, and all complaints come at once.

mod nearest;
mod takes;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::net::Ipv4Addr;
use std::ops::Range;

use outrigger_core::engine::Conflict;
use outrigger_core::robot::{Key as Setting, Range as CoreRange, Table};
use outrigger_wire::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::expert::{is_expert, placed};

pub(crate) use self::nearest::nearest;
use self::nearest::one_of;
pub use self::takes::{Key, Takes, Written};
use self::takes::{Span, as_number, exactly};

/// One thing wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line in the document, from 1.
    pub line: usize,
    /// Full name of the key, e.g. `limits.velocity`; empty for the document as a whole.
    pub key: String,
    /// What stands there.
    pub found: String,
    /// What should stand there.
    pub expected: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, key, found, expected } = self;
        let colon = if key.is_empty() { "" } else { ": " };
        // Keys and values are a file's: in a terminal they could be commands, or lines that nobody wrote.
        for c in format!("line {line}: {key}{colon}found {found}, expected {expected}").chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { f.write_char(c)? }
        }
        Ok(())
    }
}

/// A document being read. Problems are collected, not returned one by one.
pub(crate) struct Document<'i> {
    source: &'i str,
    table: DeTable<'i>,
    problems: RefCell<Vec<(usize, Problem)>>,
    keys: RefCell<BTreeSet<Key>>,
    /// The keys of tables `expert` that stand in the document, by where each does.
    experts: RefCell<BTreeMap<usize, String>>,
}

impl<'i> Document<'i> {
    /// Parses `source`.
    ///
    /// # Errors
    /// Where it is not TOML: one problem with the parser's message.
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

    /// The document's top level.
    pub(crate) fn root(&self) -> Section<'_, 'i> {
        Section::new(self, String::new(), 0..0, Some(&self.table), false)
    }

    /// Every problem so far, in the order of the document.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|(at, _)| *at);
        problems.into_iter().map(|(_, problem)| problem).collect()
    }

    /// Every key that was looked for, whether or not it is there.
    pub(crate) fn into_keys(self) -> Vec<Key> {
        self.keys.into_inner().into_iter().collect()
    }

    /// The keys of tables `expert` that stand in the document and were asked for, in its order, each with its line.
    pub(crate) fn into_experts(self) -> Vec<(usize, String)> {
        let experts = self.experts.into_inner();
        experts.into_iter().map(|(at, name)| (line_of(self.source, at), name)).collect()
    }

    fn complain(&self, at: &Range<usize>, key: String, found: String, expected: String) {
        let line = line_of(self.source, at.start);
        self.problems.borrow_mut().push((at.start, Problem { line, key, found, expected }));
    }

    /// The text between `at`, for "found".
    fn text(&self, at: &Range<usize>) -> String {
        let text = self.source.get(at.clone()).unwrap_or_default();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default().trim();
        if lines.next().is_some() || first.chars().count() > 40 {
            return format!("{}…", first.chars().take(40).collect::<String>());
        }
        first.into()
    }
}

/// One table of the document. Keys are taken by name; [`Section::finish`] complains about the rest.
pub(crate) struct Section<'d, 'i> {
    document: &'d Document<'i>,
    path: String,
    /// What every key begins with that is asked for now.
    prefix: &'static str,
    /// What the key is for that is asked for now.
    doc: &'static str,
    at: Range<usize>,
    table: Option<&'d DeTable<'i>>,
    /// Its table `expert`.
    expert: Option<&'d DeTable<'i>>,
    /// `true` in a table `expert` itself.
    is_in_expert: bool,
    known: Vec<String>,
    known_expert: Vec<String>,
    refused: Vec<String>,
}

/// The table of a section for the keys that few files need.
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
        let expert = within.and_then(|value| {
            let table = value.get_ref().as_table();
            if table.is_none() {
                let (found, name) = (document.text(&value.span()), format!("{path}.{EXPERT}"));
                document.complain(&value.span(), name, found, "a table".into());
            }
            table
        });
        let (known, known_expert, refused) = Default::default();
        Self { document, path, prefix: "", doc: "", at, table, expert, is_in_expert, known, known_expert, refused }
    }

    /// Returns whether the section has `key`. Does not count as reading it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns whether `key` stands in the table `expert` of this section.
    fn is_expert(&self, key: &str) -> bool {
        !self.is_in_expert && !self.path.is_empty() && is_expert(&without_indices(&format!("{}.{key}", self.path)))
    }

    /// Returns the value at `key`, from the table that is for it.
    fn get(&self, key: &str) -> Option<&'d Spanned<DeValue<'i>>> {
        let table = if self.is_expert(key) { self.expert } else { self.table };
        table.and_then(|table| table.get(key))
    }

    /// The full name of `key`.
    fn name(&self, key: &str) -> String {
        match (self.path.as_str(), self.is_expert(key)) {
            ("", _) => key.into(),
            (path, true) => format!("{path}.{EXPERT}.{key}"),
            (path, false) => format!("{path}.{key}"),
        }
    }

    /// Reads a setting by its full name in this table.
    fn asked<T>(&mut self, key: Setting, read: impl FnOnce(&mut Self, &str) -> Option<T>) -> Option<T> {
        self.doc = key.doc;
        let value = read(self, &format!("{}{}", self.prefix, key.name));
        self.doc = "";
        value
    }

    fn take(&mut self, key: &str, takes: Takes) -> Option<&'d Spanned<DeValue<'i>>> {
        self.take_within(key, takes, None)
    }

    fn take_within(&mut self, key: &str, takes: Takes, range: Option<Written>) -> Option<&'d Spanned<DeValue<'i>>> {
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

    /// Complains about what stands at `path`, e.g. `command.hold`, or at the nearest table above it.
    pub(crate) fn complain_at(&self, path: &str, expected: impl Into<String>) {
        let path = placed(path);
        let mut table = self.table;
        let (mut at, mut found) = (self.at.clone(), "nothing".to_owned());
        for key in path.split('.') {
            let Some(value) = table.and_then(|table| table.get(key)) else { break };
            at = value.span();
            table = value.get_ref().as_table();
            found = if table.is_some() { "nothing".into() } else { self.document.text(&value.span()) };
        }
        self.document.complain(&at, path, found, expected.into());
    }

    /// Returns whether the document has `path`, a key of one of its tables, e.g. `session.hold`.
    pub(crate) fn stands(&self, path: &str) -> bool {
        let path = placed(path);
        let (tables, key) = path.rsplit_once('.').unwrap_or(("", &path));
        let table = tables.split('.').try_fold(self.table, |table, name| Some(table?.get(name)?.get_ref().as_table()));
        table.flatten().is_some_and(|table| table.get(key).is_some())
    }

    /// Complains about a limit that another setting would break, at whichever of both stands in the document.
    pub(crate) fn complain_of(&self, conflict: &Conflict) {
        let Conflict { key, joint, found, most, unit, other, why } = conflict;
        let joint = joint + 1;
        if self.stands(key) || !self.stands(other) {
            let other = placed(other);
            self.complain_at(key, format!("at most {most} {unit} for joint {joint}: {other}, {why}"));
        } else {
            let (key, other) = (placed(key), *other);
            self.complain_at(
                other,
                format!("at least {found} {unit}: {key} of joint {joint} is that, and this is {why}"),
            );
        }
    }

    /// Complains about the value of `key`, or about its absence.
    pub(crate) fn complain(&self, key: &str, expected: impl Into<String>) {
        let (at, found) = self
            .get(key)
            .map_or_else(|| (self.at.clone(), "nothing".into()), |v| (v.span(), self.document.text(&v.span())));
        self.document.complain(&at, self.name(key), found, expected.into());
    }

    fn mistyped(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: impl Into<String>) {
        let found = self.document.text(&value.span());
        self.document.complain(&value.span(), self.name(key), found, expected.into());
    }

    /// Complains about `key` where it is there: it is known, and belongs elsewhere.
    pub(crate) fn refuse(&mut self, key: &str, expected: &str) {
        if let Some(value) = self.get(key) {
            self.refused.push(key.to_owned());
            self.document.complain(&value.span(), self.name(key), "a table".into(), expected.into());
        }
    }

    /// The table `key`; an absent one reads as empty.
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

    /// The tables of the array `key`; an absent one reads as empty.
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

    /// The string `key`, if it is there.
    pub(crate) fn text(&mut self, key: &str, what: &str) -> Option<&'d str> {
        let value = self.take(key, Takes::Text)?;
        let text = value.get_ref().as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.mistyped(key, value, format!("{what}, as a string"));
        }
        text
    }

    /// The strings of `key`, if it is there; `problem` says what is expected in place of one, after those before it.
    pub(crate) fn texts(
        &mut self,
        key: &str,
        what: &str,
        mut problem: impl FnMut(&[String], &str) -> Option<String>,
    ) -> Vec<String> {
        let Some(value) = self.take(key, Takes::Texts) else { return vec![] };
        let DeValue::Array(items) = value.get_ref() else {
            self.mistyped(key, value, format!("{what}, as an array of strings"));
            return vec![];
        };
        let mut texts: Vec<String> = vec![];
        for item in items.iter() {
            let Some(text) = item.get_ref().as_str() else {
                self.mistyped(key, item, format!("{what}, as a string"));
                continue;
            };
            match problem(&texts, text) {
                None => texts.push(text.to_owned()),
                Some(expected) => self.mistyped(key, item, expected),
            }
        }
        texts
    }

    /// The string `key`, parsed; `None` and a complaint where that fails.
    pub(crate) fn parsed<T: std::str::FromStr<Err = String>>(&mut self, key: &str, what: &str) -> Option<T> {
        let text = self.text(key, what)?;
        text.parse().map_err(|expected: String| self.complain(key, format!("{what} ({expected})"))).ok()
    }

    /// The truth value `key`, or `default`.
    pub(crate) fn flag(&mut self, key: &str, default: bool) -> bool {
        let Some(value) = self.take(key, Takes::Flag) else { return default };
        value.get_ref().as_bool().unwrap_or_else(|| {
            self.mistyped(key, value, "true or false");
            default
        })
    }

    /// One of `choices`, or the first of them where the key is absent.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, choices: &[(&'static str, T)], default: T) -> T {
        self.one_of(key, choices).unwrap_or(default)
    }

    fn one_of<T: Copy>(&mut self, key: &str, choices: &[(&'static str, T)]) -> Option<T> {
        let value = self.take(key, Takes::Words(choices.iter().map(|(name, _)| *name).collect()))?;
        let text = value.get_ref().as_str().unwrap_or_default();
        if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*chosen);
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        self.mistyped(key, value, one_of(&names, nearest(text, choices.iter().map(|(name, _)| *name))));
        None
    }

    /// The whole number `key`, or `default`.
    pub(crate) fn integer(&mut self, key: &str, default: Option<i64>, range: impl Into<Span<i64>>) -> Option<i64> {
        let range = range.into();
        let Some(value) = self.take_within(key, Takes::Whole, Some(range.written())) else { return default };
        let number = value.get_ref().as_integer().and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok());
        number.filter(|n| range.contains(n)).or_else(|| {
            self.mistyped(key, value, format!("a whole number in {}", range.text));
            default
        })
    }

    /// The number `key`, if it is there and in `range`.
    pub(crate) fn number(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<f32> {
        let range = range.into();
        let value = self.take_within(key, Takes::Number, Some(range.written()))?;
        let number = as_number(value.get_ref()).filter(|n| range.contains(n));
        if number.is_none() {
            self.mistyped(key, value, format!("a number in {}", range.text));
        }
        number
    }

    /// The number `key`, or `default`.
    pub(crate) fn number_or(&mut self, key: &str, default: f32, range: impl Into<Span<f32>>) -> f32 {
        self.number(key, range).unwrap_or(default)
    }

    /// The whole number `key`, if it is there and in `range`.
    pub(crate) fn count(&mut self, key: &str, range: impl Into<Span<i64>>) -> Option<u32> {
        self.integer(key, None, range).and_then(|count| u32::try_from(count).ok())
    }

    /// The whole number `key`, or `default`.
    pub(crate) fn count_or(&mut self, key: &str, default: u32, range: impl Into<Span<i64>>) -> u32 {
        self.count(key, range).unwrap_or(default)
    }

    /// The IPv4 address `key`, if it is there.
    pub(crate) fn address(&mut self, key: &str, what: &str) -> Option<Ipv4Addr> {
        let parsed = self.text(key, what)?.parse().ok();
        if parsed.is_none() {
            self.complain(key, what);
        }
        parsed
    }

    /// The time `key` in seconds, if it is there and in `range`.
    pub(crate) fn duration(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<Duration> {
        self.number(key, range).map(seconds)
    }

    /// The time `key` in seconds, or `default`.
    pub(crate) fn duration_or(&mut self, key: &str, default: Duration, range: impl Into<Span<f32>>) -> Duration {
        self.duration(key, range).unwrap_or(default)
    }

    /// `N` numbers, if the key is there; a single number stands for all of them.
    pub(crate) fn numbers<const N: usize>(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<[f32; N]> {
        let range = range.into();
        let value = self.take_within(key, Takes::Numbers(N), Some(range.written()))?;
        let numbers = match value.get_ref() {
            DeValue::Array(items) => exactly(items, &range),
            single => as_number(single).filter(|n| range.contains(n)).map(|n| [n; N]),
        };
        if numbers.is_none() {
            self.mistyped(key, value, format!("one number or {N} in {}", range.text));
        }
        numbers
    }

    /// `N` numbers like [`numbers`](Self::numbers), of which the joint `endless.0` may be at most `endless.1` either way.
    pub(crate) fn angles<const N: usize>(
        &mut self,
        key: &str,
        range: impl Into<Span<f32>>,
        endless: Option<(usize, f32)>,
    ) -> Option<[f32; N]> {
        let range = range.into();
        let value = self.take_within(key, Takes::Numbers(N), Some(range.written()))?;
        let within = |joint: usize, angle: f32| match endless {
            Some((endless, most)) if endless == joint => angle.abs() <= most,
            _ => range.contains(&angle),
        };
        let any = (f32::NEG_INFINITY..=f32::INFINITY, "").into();
        let angles: Option<[f32; N]> = match value.get_ref() {
            DeValue::Array(items) => exactly(items, &any),
            single => as_number(single).map(|n| [n; N]),
        };
        let angles = angles.filter(|angles| (0..).zip(angles).all(|(joint, angle)| within(joint, *angle)));
        if angles.is_none() {
            let more = match endless {
                Some((joint, _)) => format!(", joint {} at any number of turns", joint + 1),
                None if N == 6 => "; more for the last where `robot.model` is \"ur3\" or \"ur3e\"".into(),
                None => String::new(),
            };
            self.mistyped(key, value, format!("one number or {N} in {}{more}", range.text));
        }
        angles
    }

    /// `R` rows of `C` numbers, if the key is there. Which numbers they may be is judged by who knows what they are for.
    pub(crate) fn rows<const R: usize, const C: usize>(&mut self, key: &str, expected: &str) -> Option<[[f32; C]; R]> {
        let value = self.take(key, Takes::Rows(R, C))?;
        let any = (f32::MIN..=f32::MAX, "").into();
        let row = |item: &Spanned<DeValue<'_>>| exactly(item.get_ref().as_array()?, &any);
        let rows = value.get_ref().as_array();
        let rows = rows.and_then(|rows| rows.iter().map(row).collect::<Option<Vec<_>>>()?.try_into().ok());
        if rows.is_none() {
            self.mistyped(key, value, expected);
        }
        rows
    }

    /// Two numbers, the first below the second.
    pub(crate) fn span(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<[f32; 2]> {
        let range = range.into();
        let value = self.take_within(key, Takes::Numbers(2), Some(range.written()))?;
        let numbers = value.get_ref().as_array().and_then(|items| exactly::<2>(items, &range)).filter(|[a, b]| a < b);
        if numbers.is_none() {
            self.mistyped(key, value, format!("[low, high] in {}", range.text));
        }
        numbers
    }

    /// A whole table of settings: what stands there, over the defaults.
    pub(crate) fn settings<T: Default>(mut self, read: impl FnOnce(&mut T, &mut Self)) -> T {
        let mut settings = T::default();
        read(&mut settings, &mut self);
        self.finish();
        settings
    }

    /// Complains about every key that was not asked for, with its place where it has another one, or the nearest name that exists.
    pub(crate) fn finish(self) {
        let mut known = self.known.clone();
        if !self.known_expert.is_empty() {
            known.push(EXPERT.into());
        }
        self.unknown((&self.path, self.table), &known, |name| {
            let is_expert = self.known_expert.iter().any(|known| known == name);
            is_expert.then(|| format!("{}.{EXPERT}.{name}", self.path))
        });
        if !self.known_expert.is_empty() {
            self.unknown((&format!("{}.{EXPERT}", self.path), self.expert), &self.known_expert, |name| {
                self.known.iter().any(|known| known == name).then(|| format!("{}.{name}", self.path))
            });
        }
    }

    /// Complains about every key of `table` that is not `known`; `moved` says where another one stands.
    fn unknown(
        &self,
        (path, table): (&str, Option<&DeTable<'i>>),
        known: &[String],
        moved: impl Fn(&str) -> Option<String>,
    ) {
        for (key, value) in table.into_iter().flat_map(|table| table.iter()) {
            let name: &str = key.get_ref();
            if known.iter().chain(&self.refused).any(|known| known == name) {
                continue;
            }
            let full = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            if let Some(place) = moved(name) {
                self.moved(&full, &key.span(), value.get_ref(), &place);
                continue;
            }
            let names: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
            let near = nearest(name, known.iter().chain(&self.known_expert).map(String::as_str));
            let near = near.map(|near| {
                if known.iter().any(|known| known == near) { near.into() } else { format!("{EXPERT}.{near}") }
            });
            let expected = one_of(&names, near.as_deref());
            self.document.complain(&key.span(), full, "an unknown key".into(), expected);
        }
    }

    /// Complains about a key that stands at another place than `place`; of a table about each of its keys.
    fn moved(&self, old: &str, at: &Range<usize>, value: &DeValue<'_>, place: &str) {
        match value {
            DeValue::Table(table) if !table.is_empty() => {
                for (key, value) in table.iter() {
                    let name: &str = key.get_ref();
                    self.moved(&format!("{old}.{name}"), &key.span(), value.get_ref(), &format!("{place}.{name}"));
                }
            }
            _ => self.document.complain(at, old.into(), "a key that has moved".into(), place.into()),
        }
    }
}

impl Table for Section<'_, '_> {
    fn flag(&mut self, key: Setting) -> Option<bool> {
        self.asked(key, |section, name| {
            let value = section.take(name, Takes::Flag)?;
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

/// `source[].name` for `source[3].name`.
pub(crate) fn without_indices(name: &str) -> String {
    let mut parts = name.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + "[" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Seconds of the document; ranges admit no negative or unbounded time.
fn seconds(seconds: f32) -> Duration {
    Duration::from_micros((f64::from(seconds) * 1e6).round() as u64)
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(40).collect::<String>())
}

fn line_of(source: &str, at: usize) -> usize {
    source.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}
