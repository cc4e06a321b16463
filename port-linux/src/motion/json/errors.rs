//! Translates errors of the JSON reader for users: the types and phrases of its library are those of a programmer.

use std::fmt::{self, Write as _};

use super::super::read_options::quoted;
use super::AROUND;

/// The longest excerpt of an error text that repeats parts of the file \[characters\].
const EXCERPT: usize = 400;

/// The maximum length of each end of a JSON error text that is kept, its middle being removed \[B\].
const MOST_OF_ENDS: usize = 2048;

/// Returns the text of a JSON error with line and column first and advice last, limited to the length of a message.
pub(super) fn placed(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let what = excerpt(error);
    let what = what.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&what);
    let (what, remedy) = in_words(what);
    format!("line {line}, column {}: {}{remedy}", column.max(1), quoted(&what, EXCERPT))
}

/// The first and the last characters of an error text, without those between.
#[derive(Default)]
struct Ends {
    first: String,
    last: String,
}

impl fmt::Write for Ends {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = if self.last.is_empty() { MOST_OF_ENDS.saturating_sub(self.first.len()) } else { 0 };
        let split = text.floor_char_boundary(left);
        let (first, last) = text.split_at(split);
        self.first.push_str(first);
        self.last.push_str(&last[last.ceil_char_boundary(last.len().saturating_sub(MOST_OF_ENDS))..]);
        let surplus = self.last.ceil_char_boundary(self.last.len().saturating_sub(MOST_OF_ENDS));
        self.last.drain(..surplus);
        Ok(())
    }
}

/// Returns the text of a JSON error, without the middle of a long text. An error can repeat a text as long as the file.
fn excerpt(error: &impl fmt::Display) -> String {
    let mut ends = Ends::default();
    // Writing to memory does not fail.
    let _ = write!(ends, "{error}");
    ends.first + &ends.last
}

/// Translates an error of the JSON library for users, and returns a remedy.
fn in_words(what: &str) -> (String, &'static str) {
    if let Some(types) = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: ")) {
        // Text of the file is in the first part, so that the last part contains none of it.
        let (found, expected) = types.rsplit_once(", expected ").unwrap_or((types, "another value"));
        return of_another_type(found, expected);
    }
    if let Some(inside) = what.strip_prefix("EOF while parsing ") {
        let inside = inside.trim_start_matches("an ").trim_start_matches("a ");
        return (
            format!("found the end of the file inside {}, expected the rest", noun(inside)),
            "; is the file complete?",
        );
    }
    let field = |rest: &str| rest.replacen('`', "'", 2);
    if let Some(rest) = what.strip_prefix("unknown field ") {
        // Of the many fields of such an object, only those that contain the points are listed.
        if let Some((name, _)) = rest.rsplit_once(", expected one of `goal`") {
            let (name, around) = (quoted(name.trim_matches('`'), 40), AROUND.join(", "));
            let what = format!("found the unknown field '{name}', expected 'points', or one of {around}");
            return (what, "; correct its name, or remove it");
        }
        let rest = field(rest).replace(", there are no fields", ", expected none");
        return (format!("found the unknown field {rest}"), "; correct its name, or remove it");
    }
    if let Some(rest) = what.strip_prefix("duplicate field ") {
        return (format!("found the field {} twice, expected it once", field(rest)), "; remove one");
    }
    if let Some(rest) = what.strip_prefix("missing field ") {
        return (format!("found an object without the field {}, expected one with it", field(rest)), "; add the field");
    }
    let (words, remedy) = match what {
        "trailing characters" => ("found text after the end of the object, expected none", "; remove it"),
        "trailing comma" => ("found a comma before a closing bracket, expected none", "; remove it"),
        "expected value" | "expected ident" | "invalid number" => (
            "found text that is not a value, expected a number, a text in double quotation marks, a list or an \
             object",
            "; JSON has no NaN, no comments, and no numbers like .5, 5. or 05",
        ),
        "key must be a string" => {
            ("found another character, expected the name of a field in double quotation marks", "; correct it")
        }
        "number out of range" => {
            ("found a number out of range, expected at most 300 digits before the point", "; correct it")
        }
        "recursion limit exceeded" => ("found more than 127 nested objects and lists, expected fewer", ""),
        _ => match what.strip_prefix("expected ") {
            Some(expected) => return (format!("found another character, expected {expected}"), "; correct it"),
            None => (what, ""),
        },
    };
    (words.to_owned(), remedy)
}

/// Translates the error that a value in JSON has another type than expected, and returns a remedy.
fn of_another_type(found: &str, expected: &str) -> (String, &'static str) {
    let is_text = found.starts_with("string ");
    let expected = noun(expected);
    let remedy = match expected {
        "a number" | "a whole number" if is_text => "; write it without quotation marks",
        "a list" => "; write it in [ ]",
        "an object" => "; write its fields in { }",
        "a text" => "; write it in double quotation marks",
        _ => "; correct it",
    };
    let found = match found.split_once(' ') {
        Some(("string", text)) => format!("the text {text}"),
        Some(("integer" | "boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`').to_owned(),
        _ => noun(found).to_owned(),
    };
    (format!("found {found}, expected {expected}"), remedy)
}

/// Returns the word that users know for a JSON type.
fn noun(name: &str) -> &str {
    match name {
        "f64" => "a number",
        "i64" => "a whole number",
        "sequence" | "a sequence" | "list" => "a list",
        "map" | "object" => "an object",
        "string" | "a string" => "a text",
        "value" => "a value",
        "null" | "unit value" => "null",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_OF_ENDS, excerpt, in_words};

    #[test]
    fn the_middle_of_a_long_error_is_left_out() {
        let long = format!("invalid type: string \"{}\", expected f64", "é".repeat(1 << 20));
        let short = excerpt(&long);
        assert!(short.len() <= 2 * MOST_OF_ENDS && short.ends_with("é\", expected f64"), "{} bytes", short.len());
        assert!(short.starts_with("invalid type: string \"é"));
        assert_eq!(excerpt(&format_args!("{}{}", "a", 5)), "a5");
    }

    #[test]
    fn phrases_of_the_library_become_those_of_a_user() {
        for (phrase, words) in [
            (
                "invalid type: string \"5\", expected f64",
                "found the text \"5\", expected a number; write it without quotation marks",
            ),
            (
                "invalid type: string \"a, expected b\", expected a list",
                "found the text \"a, expected b\", expected a list; write it in [ ]",
            ),
            (
                "invalid type: integer `3`, expected a string",
                "found 3, expected a text; write it in double quotation marks",
            ),
            ("invalid type: floating point `1.5`, expected i64", "found 1.5, expected a whole number; correct it"),
            ("invalid type: boolean `true`, expected f64", "found true, expected a number; correct it"),
            ("invalid type: null, expected f64", "found null, expected a number; correct it"),
            ("invalid type: sequence, expected an object", "found a list, expected an object; write its fields in { }"),
            (
                "EOF while parsing a list",
                "found the end of the file inside a list, expected the rest; is the file complete?",
            ),
            (
                "unknown field `a`, expected `b`",
                "found the unknown field 'a', expected `b`; correct its name, or remove it",
            ),
            (
                "unknown field `a`, expected one of `goal`, `motion_plan_response`, `header`",
                "found the unknown field 'a', expected 'points', or one of goal, motion_plan_response, solution, \
                 planned_trajectory, executed_trajectory, trajectory, joint_trajectory; correct its name, or remove it",
            ),
            ("duplicate field `a`", "found the field 'a' twice, expected it once; remove one"),
            ("missing field `val`", "found an object without the field 'val', expected one with it; add the field"),
            ("trailing comma", "found a comma before a closing bracket, expected none; remove it"),
            ("expected `,` or `]`", "found another character, expected `,` or `]`; correct it"),
        ] {
            let (what, remedy) = in_words(phrase);
            assert_eq!(format!("{what}{remedy}"), words);
        }
    }
}
