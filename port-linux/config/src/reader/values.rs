//! Reads the values of a section of a configuration: texts, names from a list, numbers and their arrays.

use std::net::Ipv4Addr;

use outrigger_wire::time::Duration;
use toml::Spanned;
use toml::de::DeValue;

use super::Section;
use super::spelling_suggestions::{nearest, one_of};
use super::value_kinds::{Span, ValueKind, as_number, exactly};

impl<'d> Section<'d, '_> {
    /// Reads the string at `key`. Returns `None` if it is absent, or if the value is no string or empty, which is
    /// recorded as a problem. `what` describes the expected string.
    pub(crate) fn text(&mut self, key: &str, what: &str) -> Option<&'d str> {
        let value = self.take(key, ValueKind::Text)?;
        let text = value.get_ref().as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.mistyped(key, value, format!("{what}, as a string"));
        }
        text
    }

    /// Reads the list of strings at `key`; empty if it is absent. `problem` receives the strings accepted so far and
    /// the next one, and returns a description of what is expected instead if that one is wrong.
    pub(crate) fn texts(
        &mut self,
        key: &str,
        what: &str,
        mut problem: impl FnMut(&[String], &str) -> Option<String>,
    ) -> Vec<String> {
        let Some(value) = self.take(key, ValueKind::Texts) else { return vec![] };
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

    /// Reads and parses the string at `key`. Returns `None` if it is absent, or if it cannot be parsed, which is
    /// recorded as a problem. `what` describes the expected string.
    pub(crate) fn parsed<T: std::str::FromStr<Err = String>>(&mut self, key: &str, what: &str) -> Option<T> {
        let text = self.text(key, what)?;
        text.parse().map_err(|expected: String| self.complain(key, format!("{what} ({expected})"))).ok()
    }

    /// Reads the Boolean at `key`. Returns `default` if it is absent or not a Boolean; the latter is recorded as a
    /// problem.
    pub(crate) fn flag(&mut self, key: &str, default: bool) -> bool {
        let Some(value) = self.take(key, ValueKind::Flag) else { return default };
        value.get_ref().as_bool().unwrap_or_else(|| {
            self.mistyped(key, value, "true or false");
            default
        })
    }

    /// Returns the choice that the text at `key` names. Returns `default` if the key is absent, or names none of
    /// `choices`, which is recorded as a problem.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, choices: &[(&'static str, T)], default: T) -> T {
        self.one_of(key, choices).unwrap_or(default)
    }

    pub(super) fn one_of<T: Copy>(&mut self, key: &str, choices: &[(&'static str, T)]) -> Option<T> {
        let value = self.take(key, ValueKind::Words(choices.iter().map(|(name, _)| *name).collect()))?;
        let text = value.get_ref().as_str().unwrap_or_default();
        if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*chosen);
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        self.mistyped(key, value, one_of(&names, nearest(text, choices.iter().map(|(name, _)| *name))));
        None
    }

    /// Reads the integer at `key`. Returns `default` if the key is absent, or if its value is no integer in `range`,
    /// which is recorded as a problem.
    pub(crate) fn integer(&mut self, key: &str, default: Option<i64>, range: impl Into<Span<i64>>) -> Option<i64> {
        let range = range.into();
        let Some(value) = self.take_within(key, ValueKind::Whole, Some(range.written())) else { return default };
        let number = value.get_ref().as_integer().and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok());
        number.filter(|n| range.contains(n)).or_else(|| {
            self.mistyped(key, value, format!("a whole number in {}", range.text));
            default
        })
    }

    /// Reads the number at `key`. Returns `None` if the key is absent, or if its value is no number in `range`, which
    /// is recorded as a problem.
    pub(crate) fn number(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<f32> {
        let range = range.into();
        let value = self.take_within(key, ValueKind::Number, Some(range.written()))?;
        let number = as_number(value.get_ref()).filter(|n| range.contains(n));
        if number.is_none() {
            self.mistyped(key, value, format!("a number in {}", range.text));
        }
        number
    }

    /// Reads the number at `key`. Returns `default` if the key is absent, or if its value is no number in `range`,
    /// which is recorded as a problem.
    pub(crate) fn number_or(&mut self, key: &str, default: f32, range: impl Into<Span<f32>>) -> f32 {
        self.number(key, range).unwrap_or(default)
    }

    /// Reads the non-negative integer at `key`. Returns `None` if the key is absent, or if its value is no integer in
    /// `range`, which is recorded as a problem.
    pub(crate) fn count(&mut self, key: &str, range: impl Into<Span<i64>>) -> Option<u32> {
        self.integer(key, None, range).and_then(|count| u32::try_from(count).ok())
    }

    /// Reads the non-negative integer at `key`. Returns `default` if the key is absent, or if its value is no integer
    /// in `range`, which is recorded as a problem.
    pub(crate) fn count_or(&mut self, key: &str, default: u32, range: impl Into<Span<i64>>) -> u32 {
        self.count(key, range).unwrap_or(default)
    }

    /// Reads the IPv4 address at `key`. Returns `None` if the key is absent, or if its value is no address, which is
    /// recorded as a problem. `what` describes the expected address.
    pub(crate) fn address(&mut self, key: &str, what: &str) -> Option<Ipv4Addr> {
        let parsed = self.text(key, what)?.parse().ok();
        if parsed.is_none() {
            self.complain(key, what);
        }
        parsed
    }

    /// Reads the duration at `key` \[s\]. Returns `None` if the key is absent, or if its value is not in `range`, which
    /// is recorded as a problem.
    pub(crate) fn duration(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<Duration> {
        self.number(key, range).map(seconds)
    }

    /// Reads the duration at `key` \[s\]. Returns `default` if the key is absent, or if its value is not in `range`,
    /// which is recorded as a problem.
    pub(crate) fn duration_or(&mut self, key: &str, default: Duration, range: impl Into<Span<f32>>) -> Duration {
        self.duration(key, range).unwrap_or(default)
    }

    /// Reads the array of `N` numbers at `key`; a single number applies to all `N`. Returns `None` if the key is
    /// absent, or if the value has another form or a number is not in `range`, which is recorded as a problem.
    pub(crate) fn numbers<const N: usize>(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<[f32; N]> {
        let range = range.into();
        let value = self.take_within(key, ValueKind::Numbers(N), Some(range.written()))?;
        let numbers = match value.get_ref() {
            DeValue::Array(items) => exactly(items, &range),
            single => as_number(single).filter(|n| range.contains(n)).map(|n| [n; N]),
        };
        if numbers.is_none() {
            self.mistyped(key, value, format!("one number or {N} in {}", range.text));
        }
        numbers
    }

    /// Reads `N` angles at `key` like [`numbers`](Self::numbers), in the unit of `range` \[rad or °\]. `endless` names
    /// a joint by its index, with the largest magnitude of its angle, which replaces `range` for this joint.
    pub(crate) fn angles<const N: usize>(
        &mut self,
        key: &str,
        range: impl Into<Span<f32>>,
        endless: Option<(usize, f32)>,
    ) -> Option<[f32; N]> {
        let range = range.into();
        let value = self.take_within(key, ValueKind::Numbers(N), Some(range.written()))?;
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

    /// Reads the array of `R` rows of `C` numbers at `key`. Returns `None` if the key is absent, or if its value has
    /// another form, which is recorded as a problem. The caller checks the numbers' range.
    pub(crate) fn rows<const R: usize, const C: usize>(&mut self, key: &str, expected: &str) -> Option<[[f32; C]; R]> {
        let value = self.take(key, ValueKind::Rows(R, C))?;
        let any = (f32::MIN..=f32::MAX, "").into();
        let row = |item: &Spanned<DeValue<'_>>| exactly(item.get_ref().as_array()?, &any);
        let rows = value.get_ref().as_array();
        let rows = rows.and_then(|rows| rows.iter().map(row).collect::<Option<Vec<_>>>()?.try_into().ok());
        if rows.is_none() {
            self.mistyped(key, value, expected);
        }
        rows
    }

    /// Reads the array of two numbers at `key`, both in `range`, the first lower than the second. Returns `None` if the
    /// key is absent, or if its value is another one, which is recorded as a problem.
    pub(crate) fn span(&mut self, key: &str, range: impl Into<Span<f32>>) -> Option<[f32; 2]> {
        let range = range.into();
        let value = self.take_within(key, ValueKind::Numbers(2), Some(range.written()))?;
        let numbers = value.get_ref().as_array().and_then(|items| exactly::<2>(items, &range)).filter(|[a, b]| a < b);
        if numbers.is_none() {
            self.mistyped(key, value, format!("[low, high] in {}", range.text));
        }
        numbers
    }
}

/// Converts a time in a configuration \[s\] to a `Duration`. Callers accept no negative or unbounded time.
fn seconds(seconds: f32) -> Duration {
    Duration::from_micros((f64::from(seconds) * 1e6).round() as u64)
}
