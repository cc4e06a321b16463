//! Writes values as JSON through serde: one object per line.
//!
//! Numbers have the fewest digits that read back as the same number. Numbers without a JSON form are `null`, or, as a
//! [`Number`], the strings `"NaN"`, `"Infinity"` and `"-Infinity"`. No information is lost: `float()` of Python and
//! `Number()` of JavaScript read them back. Control characters are always escaped, so that text from a robot cannot
//! control a terminal.

pub mod fields;

use std::io::{self, Write};

use outrigger_wire::time::{Duration, Instant};
use serde::{Serialize, Serializer};
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// Returns `value` as one line of JSON, without the line end.
///
/// Returns `null` for a value that serde cannot write as JSON, such as a map whose keys are not strings. A line is
/// never cut off.
#[must_use]
pub fn text(value: &impl Serialize) -> String {
    let mut text = vec![];
    append(&mut text, value);
    // Only text is ever appended.
    String::from_utf8(text).unwrap_or_default()
}

/// Appends `value` to `text` as JSON, or `null` if it has no JSON form.
fn append(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let before = text.len();
    if value.serialize(&mut serde_json::Serializer::with_formatter(&mut *text, Format)).is_err() {
        text.truncate(before);
        text.extend_from_slice(b"null");
    }
}

/// The format of numbers and strings in JSON output of one object per line.
struct Format;

impl Formatter for Format {
    fn write_f32<W: Write + ?Sized>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        write!(writer, "{value:?}")
    }

    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:?}")
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        // DEL and C1: serde escapes only C0.
        while let Some((at, control)) = rest.char_indices().find(|(_, c)| c.is_control()) {
            let (before, after) = rest.split_at(at);
            write!(writer, "{before}\\u{:04x}", u32::from(control))?;
            rest = after.get(control.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: Write + ?Sized>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        let escape = match escape {
            CharEscape::Backspace => CharEscape::AsciiControl(0x08),
            CharEscape::FormFeed => CharEscape::AsciiControl(0x0c),
            other => other,
        };
        CompactFormatter.write_char_escape(writer, escape)
    }
}

/// A number that is written to JSON as a string if it has no JSON form (NaN, infinity).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number<T>(pub T);

impl Serialize for Number<f32> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f32(self.0)
        } else {
            Number(f64::from(self.0)).serialize(serializer)
        }
    }
}

impl Serialize for Number<f64> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.is_nan() => serializer.serialize_str("NaN"),
            f64::INFINITY => serializer.serialize_str("Infinity"),
            f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
            value => serializer.serialize_f64(value),
        }
    }
}

impl<T> Serialize for Number<&[T]>
where
    T: Copy,
    Number<T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|value| Number(*value)))
    }
}

/// Writes pairs of keys and values as the members of a JSON object, in their order.
///
/// # Errors
/// Returns the errors of the serializer.
pub fn members<K, V, A, S>(of: &A, serializer: S) -> Result<S::Ok, S::Error>
where
    K: Serialize,
    V: Serialize,
    A: AsRef<[(K, V)]> + ?Sized,
    S: Serializer,
{
    serializer.collect_map(of.as_ref().iter().map(|(key, value)| (key, value)))
}

/// Writes a time as JSON in [`seconds`] since the start of the process.
///
/// # Errors
/// Returns the errors of the serializer.
pub fn time<S: Serializer>(at: &Instant, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(seconds(*at))
}

/// Converts a time to seconds since the start of the process.
#[must_use]
pub const fn seconds(at: Instant) -> f64 {
    at.as_micros() as f64 / 1e6
}

/// Converts a duration to milliseconds, for JSON output.
#[must_use]
pub const fn millis(span: Duration) -> f64 {
    span.as_micros() as f64 / 1e3
}

/// Decodes text from a controller: one byte per character, "extended ASCII" (Latin-1).
#[must_use]
pub fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_has_no_form_for_keep_their_value_or_are_null() {
        let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -0.0, 1e-5, 1e16, 0.1];
        assert_eq!(text(&numbers.map(Number)), r#"["NaN","Infinity","-Infinity",1e300,-0.0,1e-5,1e16,0.1]"#);
        assert_eq!(text(&numbers), "[null,null,null,1e300,-0.0,1e-5,1e16,0.1]");
        assert_eq!(text(&[Number(f32::NEG_INFINITY), Number(0.1), Number(1e20)]), r#"["-Infinity",0.1,1e20]"#);
        assert_eq!(text(&(u64::MAX, i64::MIN)), "[18446744073709551615,-9223372036854775808]");
    }

    #[test]
    fn a_value_that_has_no_form_in_json_is_null_and_cuts_no_line_off() {
        let map = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert_eq!(text(&map), "null");
        assert_eq!(text(&[1].map(|_| &map)), "null");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let said = latin1(b"a\"\\\n\r\t\x08\x0c\x1b\x7f\x80\x9bz\xe9/");
        let expected = "\"a\\\"\\\\\\n\\r\\t\\u0008\\u000c\\u001b\\u007f\\u0080\\u009bz\u{e9}/\"";
        assert_eq!(text(&said), expected);
    }

    #[test]
    fn members_have_their_order_among_those_of_a_table() {
        #[derive(Serialize)]
        #[serde(tag = "type", rename = "table")]
        struct Table {
            #[serde(serialize_with = "time")]
            time: Instant,
            #[serde(flatten, serialize_with = "members")]
            rest: Vec<(&'static str, Option<u8>)>,
            last: bool,
        }
        let table = Table { time: Instant::from_micros(7), rest: vec![("b", Some(1)), ("a", None)], last: true };
        assert_eq!(text(&table), r#"{"type":"table","time":7e-6,"b":1,"a":null,"last":true}"#);
    }
}
