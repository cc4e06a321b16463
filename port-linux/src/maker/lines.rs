//! Lines that say what a configuration would put in force.

/// A line: its name, and what is said of it.
pub type Line = (&'static str, String);

/// A value of each joint; once, where all have the same.
pub(crate) fn joints(values: &[f32]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => format!("{values:?}"),
    }
}
