//! A random source of settings. The code that reads a configuration file reads from it instead of from a file, so
//! that no setting can be forgotten.

use std::collections::BTreeSet;

use outrigger_core::robot::{Key, Range, Table};

use super::draw::Draw;

/// A random configuration file: each key is present with the same probability, with a value in its range.
pub(crate) struct Drawn<'a> {
    draw: &'a mut Draw,
    /// The probability that a key is present in the file.
    share: f64,
    section: String,
    /// The keys that were read; `stood` has those of them that were present.
    pub(crate) asked: BTreeSet<String>,
    pub(crate) stood: BTreeSet<String>,
}

impl<'a> Drawn<'a> {
    /// Creates a random configuration file with few or many keys.
    pub(crate) fn new(draw: &'a mut Draw) -> Self {
        let share = draw.magnitude(0.01, 0.3);
        Self { draw, share, section: String::new(), asked: BTreeSet::new(), stood: BTreeSet::new() }
    }

    /// Calls `read` for the keys of the section `name` of the random configuration file.
    pub(crate) fn section<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.section.len();
        self.section.push_str(name);
        let read = read(self);
        self.section.truncate(length);
        read
    }

    /// Draws whether this key is present in the file, and records the key.
    pub(crate) fn stands(&mut self, key: &str) -> bool {
        let name = format!("{}{key}", self.section);
        let stands = self.draw.unit() < self.share;
        if stands {
            self.stood.insert(name.clone());
        }
        self.asked.insert(name);
        stands
    }

    /// Returns a random number in a range: one of its ends, or any number between. If the range begins above 0, all
    /// orders of magnitude are equally likely.
    pub(crate) fn within(&mut self, least: f64, most: f64) -> f64 {
        match (self.draw.one_in(8), least > 0.0) {
            (true, _) => self.draw.of(&[least, most]),
            (false, true) => self.draw.magnitude(least, most),
            (false, false) => self.draw.between(least, most),
        }
        .clamp(least, most)
    }

    pub(crate) fn draw(&mut self) -> &mut Draw {
        self.draw
    }
}

impl Table for Drawn<'_> {
    fn flag(&mut self, key: Key) -> Option<bool> {
        self.stands(key.name).then(|| self.draw.one_in(2))
    }

    fn whole(&mut self, key: Key, range: Range<i64>) -> Option<i64> {
        self.stands(key.name).then(|| self.within(range.least as f64, range.most as f64).round() as i64)
    }

    fn number(&mut self, key: Key, range: Range<f32>) -> Option<f32> {
        let number = self.stands(key.name).then(|| self.within(range.least.into(), range.most.into()) as f32);
        number.map(|number| number.clamp(range.least, range.most))
    }

    fn numbers<const N: usize>(&mut self, key: Key, range: Range<f32>) -> Option<[f32; N]> {
        self.stands(key.name).then(|| {
            let one = self.within(range.least.into(), range.most.into());
            let alike = self.draw.one_in(2);
            std::array::from_fn(|_| {
                let number = if alike { one } else { self.within(range.least.into(), range.most.into()) };
                (number as f32).clamp(range.least, range.most)
            })
        })
    }

    fn word<T: Copy>(&mut self, key: Key, words: &[(&'static str, T)]) -> Option<T> {
        let count = words.len();
        self.stands(key.name).then(|| words[(self.draw.unit() * count as f64) as usize % count].1)
    }

    fn table(&mut self, name: &'static str, read: impl FnOnce(&mut Self)) {
        self.section(&format!("{name}."), read);
    }

    fn prefixed(&mut self, prefix: &'static str, read: impl FnOnce(&mut Self)) {
        self.section(prefix, read);
    }
}
