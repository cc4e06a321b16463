//! Functions of texts. Positions count bytes from 0 (external control, 5.3).

use super::super::error::FaultKind;
use super::super::limits::Limits;
use super::super::value::Value;
use super::{Outcome, arg, whole};

fn text(text: String, limits: &Limits) -> Outcome {
    if text.chars().count() > limits.text { Err(FaultKind::Limit("text")) } else { Ok(Value::String(text)) }
}

fn taken<'v>(operation: &'static str, args: &'v [Value], index: usize) -> Result<&'v str, FaultKind> {
    let value = arg(args, index);
    value.text().ok_or(FaultKind::Type { operation, found: value.kind() })
}

/// Returns an argument that is a position in a text of length `len`. Rejects a position beyond `len`.
fn place(operation: &'static str, args: &[Value], index: usize, len: usize) -> Result<usize, FaultKind> {
    let value = arg(args, index);
    let at = value.whole().ok_or(FaultKind::Type { operation, found: value.kind() })?;
    usize::try_from(at).ok().filter(|at| *at <= len).ok_or(FaultKind::IndexOutOfRange { index: at, len })
}

/// Returns the length of a URScript text \[B\]: the number of its characters, because a text stores each byte of the
/// program as one character.
fn bytes(source: &str) -> usize {
    source.chars().count()
}

/// Returns the bytes of a text from position `from` up to, not including, `to`.
fn part(source: &str, from: usize, to: usize) -> String {
    source.chars().skip(from).take(to.saturating_sub(from)).collect()
}

pub(crate) fn str_cat(args: &[Value], limits: &Limits) -> Outcome {
    text(format!("{}{}", arg(args, 0), arg(args, 1)), limits)
}

pub(crate) fn to_str(args: &[Value], limits: &Limits) -> Outcome {
    text(arg(args, 0).to_string(), limits)
}

/// Returns the character of a text at a position. Arguments: text and position.
pub(crate) fn str_at(args: &[Value], limits: &Limits) -> Outcome {
    let source = taken("str_at", args, 0)?;
    let len = bytes(source);
    let at = place("str_at", args, 1, len)?;
    if at == len {
        return Err(FaultKind::IndexOutOfRange { index: i32::try_from(at).unwrap_or(i32::MAX), len });
    }
    text(part(source, at, at.saturating_add(1)), limits)
}

pub(crate) fn str_empty(args: &[Value], _: &Limits) -> Outcome {
    Ok(Value::Bool(taken("str_empty", args, 0)?.is_empty()))
}

/// Returns the position of a text within another one, −1 if there is none. Arguments: text, the text to be found,
/// and the position to start from.
pub(crate) fn str_find(args: &[Value], _: &Limits) -> Outcome {
    let source = taken("str_find", args, 0)?;
    let target = taken("str_find", args, 1)?;
    let from = place("str_find", args, 2, bytes(source))?;
    let begin = source.char_indices().nth(from).map_or(source.len(), |(at, _)| at);
    let rest = source.get(begin..).unwrap_or_default();
    let found = rest.find(target).map(|at| bytes(rest.get(..at).unwrap_or_default()));
    found.map_or(Ok(Value::Int(-1)), |at| whole("str_find", at.saturating_add(from) as f64))
}

pub(crate) fn str_len(args: &[Value], _: &Limits) -> Outcome {
    whole("str_len", bytes(taken("str_len", args, 0)?) as f64)
}

/// Returns a part of a text. Arguments: text, position, and number of bytes; −1 for all that follow.
pub(crate) fn str_sub(args: &[Value], limits: &Limits) -> Outcome {
    let source = taken("str_sub", args, 0)?;
    let len = bytes(source);
    let from = place("str_sub", args, 1, len)?;
    let count = arg(args, 2).whole().ok_or(FaultKind::Type { operation: "str_sub", found: arg(args, 2).kind() })?;
    let to = usize::try_from(count).map_or(len, |count| from.saturating_add(count).min(len));
    text(part(source, from, to), limits)
}

/// Converts a text into a number: a whole number if the text has no point and no exponent.
pub(crate) fn to_num(args: &[Value], _: &Limits) -> Outcome {
    let source = taken("to_num", args, 0)?.trim();
    if let Ok(whole) = source.parse() {
        return Ok(Value::Int(whole));
    }
    let number = source.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    let value = number.then(|| source.parse().ok()).flatten().filter(|value: &f64| value.is_finite());
    value.map(Value::Float).ok_or(FaultKind::Domain("to_num"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Value {
        Value::String(text.into())
    }

    #[test]
    fn texts_join_as_the_manual_shows_and_stay_below_their_limit() {
        let limits = Limits::default();
        let bools = Value::List(vec![Value::Bool(true), Value::Bool(false), Value::Bool(true)]);
        let ints = Value::List(vec![Value::Int(1), Value::Int(0), Value::Int(1)]);
        assert_eq!(str_cat(&[bools, ints], &limits), Ok(string("[True, False, True][1, 0, 1]")));
        let half = Value::String("x".repeat(512));
        assert_eq!(str_cat(&[half.clone(), half], &limits), Err(FaultKind::Limit("text")));
        let pose = Value::Pose([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(str_cat(&[string(""), pose], &limits), Ok(string("p[1, 2, 3, 4, 5, 6]")));
    }

    #[test]
    fn parts_of_a_text_are_found_and_cut() {
        let limits = Limits::default();
        let source = string("Hello");
        assert_eq!(str_at(&[source.clone(), Value::Int(1)], &limits), Ok(string("e")));
        assert_eq!(
            str_at(&[source.clone(), Value::Int(5)], &limits),
            Err(FaultKind::IndexOutOfRange { index: 5, len: 5 })
        );
        assert_eq!(str_find(&[source.clone(), string("l"), Value::Int(0)], &limits), Ok(Value::Int(2)));
        assert_eq!(str_find(&[source.clone(), string("l"), Value::Int(4)], &limits), Ok(Value::Int(-1)));
        assert_eq!(str_sub(&[source.clone(), Value::Int(1), Value::Int(3)], &limits), Ok(string("ell")));
        assert_eq!(str_sub(&[source.clone(), Value::Int(3), Value::Int(-1)], &limits), Ok(string("lo")));
        assert_eq!(str_len(core::slice::from_ref(&source), &limits), Ok(Value::Int(5)));
        assert_eq!(str_empty(&[string("")], &limits), Ok(Value::Bool(true)));
        assert!(str_sub(&[source, Value::Int(9), Value::Int(1)], &limits).is_err());
    }

    #[test]
    fn places_count_bytes_outside_ascii_too() {
        let limits = Limits::default();
        // One character for each byte of "Größe" in UTF-8.
        let source = Value::String("Größe".bytes().map(char::from).collect());
        assert_eq!(str_len(core::slice::from_ref(&source), &limits), Ok(Value::Int(7)));
        assert_eq!(str_at(&[source.clone(), Value::Int(3)], &limits), Ok(string("\u{b6}")));
        assert_eq!(str_find(&[source.clone(), string("e"), Value::Int(3)], &limits), Ok(Value::Int(6)));
        assert_eq!(str_sub(&[source.clone(), Value::Int(6), Value::Int(-1)], &limits), Ok(string("e")));
        let long = Value::String("\u{c3}".repeat(1023));
        assert!(str_cat(&[long.clone(), string("")], &limits).is_ok());
        assert_eq!(str_cat(&[long, string("e")], &limits), Err(FaultKind::Limit("text")));
    }

    #[test]
    fn numbers_are_read_whole_where_they_are() {
        let limits = Limits::default();
        assert_eq!(to_num(&[string("42")], &limits), Ok(Value::Int(42)));
        assert_eq!(to_num(&[string("-2.5e1")], &limits), Ok(Value::Float(-25.0)));
        for bad in ["", "ten", "1.2.3", "inf", "0x10"] {
            assert_eq!(to_num(&[string(bad)], &limits), Err(FaultKind::Domain("to_num")), "{bad}");
        }
    }
}
