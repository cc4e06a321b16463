//! Formats lines about the effect of a configuration, for people.

/// A line about a configuration's effect: a name, and a text.
pub type Line = (&'static str, String);

/// Formats one value per joint, or a single value if all joints have the same.
pub(crate) fn joints(values: &[f32]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => format!("{values:?}"),
    }
}
