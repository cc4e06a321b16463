//! The named values of a control law, for people and for scripts.

use outrigger_core::law::{Unit, Value, Values};
use serde::Serialize;

use crate::json::Number;

/// Returns the name of a law's value for people, such as `standoff error`.
#[must_use]
pub fn label(value: &Value) -> String {
    value.name.replace('_', " ")
}

/// Returns the factor that converts a control law's value in `unit` to the unit displayed to people (mm for m, mrad for
/// rad), and the symbol of that unit.
#[must_use]
pub const fn shown(unit: Unit) -> (f32, &'static str) {
    match unit {
        Unit::Metre => (1e3, "mm"),
        Unit::Radian => (1e3, "mrad"),
        _ => (1.0, unit.symbol()),
    }
}

/// Formats a control law's value for people, after the name of its component (an axis or a joint) if it has one:
/// `+0.120 mm`, `rx -1.200 mrad`. Returns `None` if the value is unknown.
#[must_use]
pub fn worded(value: &Value) -> Option<String> {
    let (factor, symbol) = shown(value.unit);
    let number = format!("{:+.3} {symbol}", value.value? * factor);
    Some(value.part.map_or_else(|| number.trim_end().to_owned(), |part| format!("{part} {}", number.trim_end())))
}

/// Formats a control law's values for people. Those with the same name are on one line.
#[must_use]
pub fn lines(values: &Values) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = vec![];
    for value in values.iter() {
        let (name, Some(text)) = (label(value), worded(value)) else { continue };
        match lines.last_mut().filter(|(last, _)| *last == name) {
            Some((_, all)) => *all = format!("{all}, {text}"),
            None => lines.push((name, text)),
        }
    }
    lines
}

/// Returns the numbers of a control law's values with the name `name`, each with the name of its component (an axis or
/// a joint) if it has one.
pub fn named<'v>(values: &'v Values, name: &'static str) -> impl Iterator<Item = (Option<&'static str>, f32)> + 'v {
    values.iter().filter(move |value| value.name == name).filter_map(|value| Some((value.part, value.value?)))
}

/// A named value of a control law as a JSON object for scripts.
#[derive(Debug, Serialize)]
pub struct ScriptValue {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
    unit: &'static str,
    value: Option<Number<f32>>,
}

impl ScriptValue {
    /// Returns the JSON objects of a control law's values.
    #[must_use]
    pub fn all(values: &Values) -> Vec<Self> {
        let object = |value: &Value| Self {
            name: value.name,
            part: value.part,
            unit: value.unit.symbol(),
            value: value.value.map(Number),
        };
        values.iter().map(object).collect()
    }
}
