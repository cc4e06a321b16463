//! Suggestions for misspelled keys and values in a configuration: the most similar accepted name.

/// Formats a list of accepted names, "one of a, b, c", and adds the suggestion `near` if there is one.
pub(super) fn one_of(names: &[String], near: Option<&str>) -> String {
    let list = names.join(", ");
    match near {
        Some(near) => format!("one of {list}; did you mean `{near}`?"),
        None => format!("one of {list}"),
    }
}

/// Returns the accepted name most similar to `text`, for a suggestion; `None` if none is similar enough.
pub(crate) fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (strsim::jaro_winkler(text, name), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
