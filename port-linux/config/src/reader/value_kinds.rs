//! The kind and the range of the value that a key accepts.

use std::fmt;
use std::ops::RangeInclusive;

use outrigger_core::robot::Range as CoreRange;
use outrigger_wire::time::Duration;
use toml::de::{DeArray, DeValue};

/// A key of a configuration that the reader looks for, with the values that it accepts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The full name of the key, e.g. `limits.velocity`. In an array of tables it has no index, e.g.
    /// `source[].name`.
    pub name: String,
    /// The kind of value that the configuration key accepts.
    pub takes: ValueKind,
    /// The range of a number. `None` if the value is not a number.
    pub range: Option<Written>,
    /// The purpose of the key, from its declaration. Empty if the declaration has none.
    pub doc: &'static str,
}

/// The accepted range of a numeric key, as text for documentation pages and error messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// The lowest number that the key accepts, as text.
    pub least: String,
    /// The highest number that the key accepts, as text.
    pub most: String,
    /// The lowest and the highest accepted number with their unit, as in error messages.
    pub text: String,
}

/// The accepted range of a number in a configuration: the core's [`CoreRange`] for values that the core checks,
/// otherwise the reader's own.
pub(crate) struct Span<T> {
    least: T,
    most: T,
    pub(super) text: String,
}

impl<T: PartialOrd + fmt::Display> Span<T> {
    pub(super) fn contains(&self, value: &T) -> bool {
        self.least <= *value && *value <= self.most
    }

    pub(super) fn written(&self) -> Written {
        let Self { least, most, text } = self;
        Written { least: least.to_string(), most: most.to_string(), text: text.clone() }
    }
}

impl From<(RangeInclusive<f32>, &str)> for Span<f32> {
    fn from((range, unit): (RangeInclusive<f32>, &str)) -> Self {
        let text = range_text(&range, unit);
        Self { least: *range.start(), most: *range.end(), text }
    }
}

impl From<CoreRange<f32>> for Span<f32> {
    fn from(CoreRange { least, most, text }: CoreRange<f32>) -> Self {
        Self { least, most, text: text.into() }
    }
}

/// Converts a range of durations to a range of numbers of seconds, as they are given in configurations.
impl From<CoreRange<Duration>> for Span<f32> {
    fn from(CoreRange { least, most, text }: CoreRange<Duration>) -> Self {
        Self { least: least.as_secs_f32(), most: most.as_secs_f32(), text: text.into() }
    }
}

impl From<RangeInclusive<i64>> for Span<i64> {
    fn from(range: RangeInclusive<i64>) -> Self {
        let (least, most) = range.into_inner();
        Self { least, most, text: format!("{least} to {most}") }
    }
}

impl<T: Into<i64>> From<CoreRange<T>> for Span<i64> {
    fn from(CoreRange { least, most, text }: CoreRange<T>) -> Self {
        Self { least: least.into(), most: most.into(), text: text.into() }
    }
}

/// The kind of value that a configuration key accepts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// Any string. The reader of the key checks its content.
    Text,
    /// A list of strings of any length.
    Texts,
    /// A string out of this list.
    Words(Vec<&'static str>),
    /// A boolean: `true` or `false`.
    Flag,
    /// An integer within the key's range.
    Whole,
    /// A real number within the key's range.
    Number,
    /// A list of this many numbers. For some keys a single number stands for all.
    Numbers(usize),
    /// A matrix of numbers with this many rows and columns.
    Rows(usize, usize),
}

pub(super) fn exactly<const N: usize>(items: &DeArray<'_>, range: &Span<f32>) -> Option<[f32; N]> {
    let mut numbers = [0.0; N];
    if items.len() != N {
        return None;
    }
    for (number, item) in numbers.iter_mut().zip(items.iter()) {
        *number = as_number(item.get_ref()).filter(|n| range.contains(n))?;
    }
    Some(numbers)
}

pub(super) fn as_number(value: &DeValue<'_>) -> Option<f32> {
    match value {
        // The parser has checked the form and removed the underscores.
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) => i32::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f32),
        _ => None,
    }
}

fn range_text(range: &RangeInclusive<f32>, unit: &str) -> String {
    format!("{} to {} {unit}", range.start(), range.end()).trim_end().into()
}
