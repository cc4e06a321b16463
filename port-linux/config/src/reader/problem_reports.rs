//! Reports the problems of a document: a value is wrong, or a key is missing, has moved or does not exist.

use std::ops::Range;

use outrigger_core::engine::Conflict;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::spelling_suggestions::{nearest, one_of};
use super::{EXPERT, Section};
use crate::expert::placed;

impl<'i> Section<'_, 'i> {
    /// Records the problem that the key with the full name `path`, e.g. `command.hold`, must be as `expected`. If the
    /// document lacks the key, the problem is placed at the nearest table above it.
    pub(crate) fn complain_at(&self, path: &str, expected: impl Into<String>) {
        let place = placed(path);
        // A key in its former place is reported there.
        let at_old_place = !self.has_at(&place) && self.has_at(path);
        let path = if at_old_place { path } else { &place };
        let mut table = self.table;
        let (mut at, mut found) = (self.at.clone(), "nothing".to_owned());
        for key in path.split('.') {
            let Some(value) = table.and_then(|table| table.get(key)) else { break };
            at = value.span();
            table = value.get_ref().as_table();
            found = if table.is_some() { "nothing".into() } else { self.document.text(&value.span()) };
        }
        self.document.complain(&at, place, found, expected.into());
    }

    /// Returns `true` if the document has the key with the full name `path`, in its current or its former place. `path`
    /// is given without the table `expert`.
    pub(crate) fn stands(&self, path: &str) -> bool {
        self.has_at(&placed(path)) || self.has_at(path)
    }

    fn has_at(&self, place: &str) -> bool {
        let (tables, key) = place.rsplit_once('.').unwrap_or(("", place));
        let table = tables.split('.').try_fold(self.table, |table, name| Some(table?.get(name)?.get_ref().as_table()));
        table.flatten().is_some_and(|table| table.get(key).is_some())
    }

    /// Records the problem that a limit of the configuration is too high for another setting. It is placed at the
    /// limit, or at the other setting if the document sets only that one.
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

    /// Records the problem that the value of `key` in this section is wrong, or that `key` is missing; `expected`
    /// describes an accepted value.
    pub(crate) fn complain(&self, key: &str, expected: impl Into<String>) {
        let (at, found) = self
            .get(key)
            .map_or_else(|| (self.at.clone(), "nothing".into()), |v| (v.span(), self.document.text(&v.span())));
        self.document.complain(&at, self.name(key), found, expected.into());
    }

    pub(super) fn mistyped(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: impl Into<String>) {
        let found = self.document.text(&value.span());
        self.document.complain(&value.span(), self.name(key), found, expected.into());
    }

    /// Rejects `key` if this section has it, because the key is known but belongs elsewhere.
    pub(crate) fn refuse(&mut self, key: &str, expected: &str) {
        if let Some(value) = self.get(key) {
            self.refused.push(key.to_owned());
            let is_table = matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_));
            let found = if is_table { "a table".into() } else { self.document.text(&value.span()) };
            self.document.complain(&value.span(), self.name(key), found, expected.into());
        }
    }

    /// Ends the reading of this section: records a problem for every key that was not read, with its current place if
    /// the key has moved, otherwise with the most similar existing name.
    pub(crate) fn finish(self) {
        let mut known = self.known.clone();
        if !self.known_expert.is_empty() {
            known.push(EXPERT.into());
            let value = self.table.and_then(|table| table.get(EXPERT));
            if let Some(value) = value.filter(|_| self.expert.is_none()) {
                let name = format!("{}.{EXPERT}", self.path);
                let (found, expected) = (self.document.text(&value.span()), format!("a table: [{name}]"));
                self.document.complain(&value.span(), name, found, expected);
            }
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

    /// Records a problem for every key of `table` that is not among the `known` ones. `moved` returns the current place
    /// of a key that has moved.
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

    /// Records the problem that the key `old` has moved to `place`. For a table, each of its keys is reported.
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
