//! URScript functions of lists and matrices (external control, 5.3).

use super::super::error::FaultKind;
use super::super::limits::Limits;
use super::super::value::Value;
use super::{Outcome, arg, whole};

fn items<'v>(operation: &'static str, args: &'v [Value], index: usize) -> Result<&'v [Value], FaultKind> {
    match arg(args, index) {
        Value::List(items) => Ok(items),
        other => Err(FaultKind::Type { operation, found: other.kind() }),
    }
}

fn bounded(list: Vec<Value>, limits: &Limits) -> Outcome {
    let list = Value::List(list);
    if list.fits(limits) { Ok(list) } else { Err(FaultKind::Limit("list")) }
}

pub(crate) fn get_list_length(args: &[Value], _: &Limits) -> Outcome {
    whole("get_list_length", items("get_list_length", args, 0)?.len() as f64)
}

/// Returns the number of elements of a list, or of characters of a text.
pub(crate) fn length(args: &[Value], _: &Limits) -> Outcome {
    match arg(args, 0) {
        Value::String(text) => whole("length", text.chars().count() as f64),
        _ => whole("length", items("length", args, 0)?.len() as f64),
    }
}

/// Returns the number of elements of a list, or of characters of a text; for a matrix the numbers of its rows and
/// columns.
pub(crate) fn size(args: &[Value], limits: &Limits) -> Outcome {
    match arg(args, 0) {
        Value::List(rows) => match rows.first() {
            Some(Value::List(row)) => {
                Ok(Value::List(vec![whole("size", rows.len() as f64)?, whole("size", row.len() as f64)?]))
            }
            _ => whole("size", rows.len() as f64),
        },
        _ => length(args, limits),
    }
}

/// Makes a list. Arguments: the number of elements, their value, and a capacity, which is ignored.
pub(crate) fn make_list(args: &[Value], limits: &Limits) -> Outcome {
    let count = arg(args, 0);
    let number = count.whole().ok_or(FaultKind::Type { operation: "make_list", found: count.kind() })?;
    let number = usize::try_from(number).map_err(|_| FaultKind::Domain("make_list"))?;
    let value = arg(args, 1);
    if number.saturating_mul(value.weight()) > limits.list_weight {
        return Err(FaultKind::Limit("list"));
    }
    bounded(vec![value.clone(); number], limits)
}

/// Exchanges rows and columns of a matrix. A plain list is a row and becomes a column; a column becomes a plain
/// list.
pub(crate) fn transpose(args: &[Value], limits: &Limits) -> Outcome {
    let rows = items("transpose", args, 0)?;
    let fault = |found: &Value| FaultKind::Type { operation: "transpose", found: found.kind() };
    if !matches!(rows.first(), Some(Value::List(_))) {
        return bounded(rows.iter().map(|item| Value::List(vec![item.clone()])).collect(), limits);
    }
    let mut columns: Vec<Vec<Value>> = Vec::new();
    for row in rows {
        let Value::List(row) = row else { return Err(fault(row)) };
        columns.resize_with(columns.len().max(row.len()), Vec::new);
        for (column, item) in columns.iter_mut().zip(row) {
            column.push(item.clone());
        }
    }
    if let Some(short) = columns.iter().find(|column| column.len() != rows.len()) {
        return Err(FaultKind::Length { operation: "transpose", left: rows.len(), right: short.len() });
    }
    if columns.len() == 1 {
        return bounded(columns.pop().unwrap_or_default(), limits);
    }
    bounded(columns.into_iter().map(Value::List).collect(), limits)
}

/// Converts a whole number into a list of 32 booleans, the least significant bit first.
pub(crate) fn integer_to_binary_list(args: &[Value], limits: &Limits) -> Outcome {
    let value = arg(args, 0);
    let number = value.whole().ok_or(FaultKind::Type { operation: "integer_to_binary_list", found: value.kind() })?;
    let bits = number.cast_unsigned();
    bounded((0..32).map(|bit| Value::Bool(bits.checked_shr(bit).unwrap_or(0) & 1 == 1)).collect(), limits)
}

/// Converts a list into a whole number. Argument: at most 32 booleans, the least significant bit first.
pub(crate) fn binary_list_to_integer(args: &[Value], _: &Limits) -> Outcome {
    let items = items("binary_list_to_integer", args, 0)?;
    if items.len() > 32 {
        return Err(FaultKind::Length { operation: "binary_list_to_integer", left: items.len(), right: 32 });
    }
    let mut bits = 0_u32;
    for (item, bit) in items.iter().zip(0..) {
        let Value::Bool(set) = item else {
            return Err(FaultKind::Type { operation: "binary_list_to_integer", found: item.kind() });
        };
        bits |= u32::from(*set).checked_shl(bit).unwrap_or(0);
    }
    Ok(Value::Int(bits.cast_signed()))
}

/// Returns the argument, a list of numbers, scaled to a vector of length 1.
pub(crate) fn normalize(args: &[Value], limits: &Limits) -> Outcome {
    let items = items("normalize", args, 0)?;
    let number = |item: &Value| item.number().ok_or(FaultKind::Type { operation: "normalize", found: item.kind() });
    let values = items.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    if length == 0.0 {
        return Err(FaultKind::Domain("normalize"));
    }
    bounded(values.into_iter().map(|value| Value::Float(value / length)).collect(), limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ints(values: &[i32]) -> Value {
        Value::List(values.iter().copied().map(Value::Int).collect())
    }

    #[test]
    fn sizes_and_transposes_are_those_of_the_manual() {
        let limits = Limits::default();
        let matrix = Value::List(vec![ints(&[1, 2]), ints(&[3, 4]), ints(&[5, 6])]);
        assert_eq!(size(core::slice::from_ref(&matrix), &limits), Ok(ints(&[3, 2])));
        assert_eq!(size(&[ints(&[1, 2])], &limits), Ok(Value::Int(2)));
        assert_eq!(size(&[Value::String("abc".into())], &limits), Ok(Value::Int(3)));
        let column = Value::List(vec![ints(&[1]), ints(&[2]), ints(&[3])]);
        assert_eq!(transpose(&[ints(&[1, 2, 3])], &limits), Ok(column.clone()));
        assert_eq!(transpose(&[column], &limits), Ok(ints(&[1, 2, 3])));
        assert_eq!(transpose(&[matrix], &limits), Ok(Value::List(vec![ints(&[1, 3, 5]), ints(&[2, 4, 6])])));
        let ragged = Value::List(vec![ints(&[1, 2]), ints(&[3])]);
        assert!(transpose(&[ragged], &limits).is_err());
    }

    #[test]
    fn a_list_is_made_within_its_limit() {
        let limits = Limits::default();
        assert_eq!(make_list(&[Value::Int(2), Value::Int(7)], &limits), Ok(ints(&[7, 7])));
        assert_eq!(make_list(&[Value::Int(1_000_000), Value::Int(0)], &limits), Err(FaultKind::Limit("list")));
        assert_eq!(make_list(&[Value::Int(-1), Value::Int(0)], &limits), Err(FaultKind::Domain("make_list")));
    }

    #[test]
    fn a_direction_has_length_one() {
        let found = normalize(&[ints(&[3, 0, -4])], &Limits::default()).unwrap();
        assert_eq!(found.vector(), Some([0.6, 0.0, -0.8]));
        assert!(normalize(&[ints(&[0, 0])], &Limits::default()).is_err());
    }

    proptest! {
        #[test]
        fn bits_come_back_as_the_number_they_came_from(number: i32) {
            let limits = Limits::default();
            let bits = integer_to_binary_list(&[Value::Int(number)], &limits).unwrap();
            prop_assert_eq!(binary_list_to_integer(&[bits], &limits), Ok(Value::Int(number)));
        }

        #[test]
        fn a_matrix_transposed_twice_is_itself(rows in 2..6_usize, columns in 2..6_usize) {
            let limits = Limits::default();
            let row = |row: usize| Value::List((0..columns).map(|column| Value::Float((row * 10 + column) as f64)).collect());
            let matrix = Value::List((0..rows).map(row).collect());
            let once = transpose(core::slice::from_ref(&matrix), &limits).unwrap();
            prop_assert_eq!(transpose(&[once], &limits), Ok(matrix));
        }
    }
}
