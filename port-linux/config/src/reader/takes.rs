//! What may stand at a key: of which kind, and which numbers.

use std::fmt;
use std::ops::RangeInclusive;

use outrigger_core::robot::Range as CoreRange;
use outrigger_wire::time::Duration;
use toml::de::{DeArray, DeValue};

/// A key that the reader looks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Its full name, e.g. `limits.velocity`; in an array of tables that of every table, e.g. `source[].name`.
    pub name: String,
    /// What may stand there.
    pub takes: Takes,
    /// What a number there may be.
    pub range: Option<Written>,
    /// What it is for, where its declaration says so.
    pub doc: &'static str,
}

/// What a number may be, as it can be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// The least.
    pub least: String,
    /// The most.
    pub most: String,
    /// Both, with the unit, as complaints tell it.
    pub text: String,
}

/// What a number may be: the core's [`CoreRange`] for what the core judges, else the reader's own.
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

/// In seconds.
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

/// What may stand at a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Takes {
    /// Any text, judged by what it says.
    Text,
    /// Any number of texts.
    Texts,
    /// One of these.
    Words(Vec<&'static str>),
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// So many numbers; where it says so, one stands for all.
    Numbers(usize),
    /// So many rows of so many numbers.
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
