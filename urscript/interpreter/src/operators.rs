//! Applies operators to values.
//!
//! Whole numbers have 32 bits, and a result beyond them is an error. `/` is always real division. Arithmetic of lists
//! is in `super::arrays`.

use core::cmp::Ordering;

use super::compiled_code::{Binary, Unary};
use super::error::FaultKind;
use super::value::Value;

impl Unary {
    pub(super) fn apply(self, value: &Value) -> Result<Value, FaultKind> {
        let fault = |operation| FaultKind::Type { operation, found: value.kind() };
        match (self, value) {
            (Self::Negate, Value::Int(value)) => value.checked_neg().map(Value::Int).ok_or(FaultKind::Overflow("-")),
            (Self::Negate, Value::Float(value)) => Ok(Value::Float(-value)),
            (Self::Negate, _) => Err(fault("-")),
            (Self::Plus, Value::Int(_) | Value::Float(_)) => Ok(value.clone()),
            (Self::Plus, _) => Err(fault("+")),
            (Self::Not, _) => value.truth().map(|truth| Value::Bool(!truth)).ok_or_else(|| fault("not")),
            (Self::Truth, _) => value.truth().map(Value::Bool).ok_or_else(|| fault("condition")),
        }
    }
}

impl Binary {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Xor => "xor",
        }
    }

    pub(super) fn is_arithmetic(self) -> bool {
        matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder)
    }

    pub(super) fn apply(self, left: &Value, right: &Value) -> Result<Value, FaultKind> {
        match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder => self.scalars(left, right),
            Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => self.order(left, right),
            Self::Equal => Ok(Value::Bool(equal(left, right))),
            Self::NotEqual => Ok(Value::Bool(!equal(left, right))),
            Self::Xor => match (left.truth(), right.truth()) {
                (Some(left), Some(right)) => Ok(Value::Bool(left != right)),
                _ => Err(self.fault(left, right)),
            },
        }
    }

    /// Applies an arithmetic operator to two numbers.
    pub(super) fn scalars(self, left: &Value, right: &Value) -> Result<Value, FaultKind> {
        if let (Value::Int(left), Value::Int(right)) = (left, right) {
            let whole = match self {
                Self::Add => left.checked_add(*right),
                Self::Subtract => left.checked_sub(*right),
                Self::Multiply => left.checked_mul(*right),
                Self::Remainder if *right == 0 => return Err(FaultKind::Domain("%")),
                Self::Remainder => Some(left.checked_rem(*right).unwrap_or(0)),
                _ => return self.real(f64::from(*left), f64::from(*right)),
            };
            return whole.map(Value::Int).ok_or(FaultKind::Overflow(self.sign()));
        }
        match (left.number(), right.number()) {
            (Some(left), Some(right)) => self.real(left, right),
            _ => Err(self.fault(left, right)),
        }
    }

    /// Applies an operator to two floats, as [`apply`](Self::apply) does; `None` if that is an error, or not of floats.
    #[inline]
    #[expect(clippy::float_cmp, reason = "the language compares so")]
    pub(super) fn floats(self, left: f64, right: f64) -> Option<Value> {
        Some(match self {
            Self::Add => Value::Float(left + right),
            Self::Subtract => Value::Float(left - right),
            Self::Multiply => Value::Float(left * right),
            Self::Divide if right != 0.0 => Value::Float(left / right),
            Self::Less => Value::Bool(left < right),
            Self::LessEqual => Value::Bool(left <= right),
            Self::Greater => Value::Bool(left > right),
            Self::GreaterEqual => Value::Bool(left >= right),
            Self::Equal => Value::Bool(left == right),
            Self::NotEqual => Value::Bool(left != right),
            Self::Divide | Self::Remainder | Self::Xor => return None,
        })
    }

    fn real(self, left: f64, right: f64) -> Result<Value, FaultKind> {
        if matches!(self, Self::Divide | Self::Remainder) && right == 0.0 {
            return Err(FaultKind::Domain(self.sign()));
        }
        Ok(Value::Float(match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            _ => left % right,
        }))
    }

    fn order(self, left: &Value, right: &Value) -> Result<Value, FaultKind> {
        let (Some(a), Some(b)) = (left.number(), right.number()) else { return Err(self.fault(left, right)) };
        // NaN is not ordered: every comparison with it is false.
        let order = a.partial_cmp(&b);
        Ok(Value::Bool(match self {
            Self::Less => order == Some(Ordering::Less),
            Self::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }))
    }

    /// Returns the error for an operand that the operator does not accept: the left one, unless that is a number.
    fn fault(self, left: &Value, right: &Value) -> FaultKind {
        let found = if left.number().is_some() { right.kind() } else { left.kind() };
        FaultKind::Type { operation: self.sign(), found }
    }
}

/// Returns whether two values are equal. Lists are equal if all their elements are; values of different kinds are not
/// equal, except numbers.
#[expect(clippy::float_cmp, reason = "the language compares so")]
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        _ => match (left.number(), right.number()) {
            (Some(left), Some(right)) => left == right,
            _ => left == right,
        },
    }
}

/// Returns the element of `base` that `indices` select, one level of lists or structs for each index.
pub(super) fn element<'v>(base: &'v Value, indices: &[Value]) -> Result<Element<'v>, FaultKind> {
    let mut found = Element::Value(base);
    for index in indices {
        found = match found {
            Element::Value(Value::List(items)) => Element::Value(at(items, index)?),
            Element::Value(Value::Pose(values)) => Element::Number(*at(values, index)?),
            Element::Value(Value::Struct(members)) => {
                let at = member(members, index)?;
                Element::Value(members.get(at).map(|(_, value)| value).ok_or(FaultKind::NotAssigned)?)
            }
            Element::Value(other) => return Err(FaultKind::Type { operation: "[]", found: other.kind() }),
            Element::Number(_) => return Err(FaultKind::Type { operation: "[]", found: "Float" }),
        };
    }
    Ok(found)
}

/// An element of a list, pose or struct; borrowed if it is stored as a separate value.
#[derive(Debug)]
pub(super) enum Element<'v> {
    Value(&'v Value),
    /// A number of a pose, which is not stored as a separate value.
    Number(f64),
}

impl Element<'_> {
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Value(value) => value.copied(),
            Self::Number(value) => Value::Float(*value),
        }
    }
}

/// Replaces the element of the list, matrix, pose or struct `base` that `indices` select.
pub(super) fn set_element(base: &mut Value, indices: &[Value], new: Value) -> Result<(), FaultKind> {
    let Some((index, deeper)) = indices.split_first() else {
        *base = new;
        return Ok(());
    };
    // The recursion is limited by the number of indices in the text and by the depth of lists.
    match base {
        Value::List(items) => set_element(at_mut(items, index)?, deeper, new),
        Value::Struct(members) => {
            let at = member(members, index)?;
            let (_, old) = members.get_mut(at).ok_or(FaultKind::NotAssigned)?;
            // A member keeps its type.
            let new = match (&*old, new) {
                (Value::Float(_), Value::Int(whole)) if deeper.is_empty() => Value::Float(f64::from(whole)),
                (_, new) => new,
            };
            if deeper.is_empty() && old.kind() != new.kind() {
                return Err(FaultKind::Type { operation: "member", found: new.kind() });
            }
            set_element(old, deeper, new)
        }
        Value::Pose(values) if deeper.is_empty() => {
            let value = new.number().ok_or(FaultKind::Type { operation: "p[]", found: new.kind() })?;
            *at_mut(values, index)? = value;
            Ok(())
        }
        other => Err(FaultKind::Type { operation: "[]", found: other.kind() }),
    }
}

/// Returns the position of the struct's member that an index selects by name or by number.
fn member(members: &[(String, Value)], index: &Value) -> Result<usize, FaultKind> {
    let Value::String(name) = index else { return position(index, members.len()) };
    let found = members.iter().position(|(known, _)| known == name);
    found.ok_or_else(|| FaultKind::NoMember(name.clone()))
}

fn position(index: &Value, len: usize) -> Result<usize, FaultKind> {
    let whole = index.whole().ok_or_else(|| FaultKind::Type { operation: "index", found: index.kind() })?;
    let at = usize::try_from(whole).ok().filter(|at| *at < len);
    at.ok_or(FaultKind::IndexOutOfRange { index: whole, len })
}

fn at<'v, T>(items: &'v [T], index: &Value) -> Result<&'v T, FaultKind> {
    let len = items.len();
    items.get(position(index, len)?).ok_or(FaultKind::IndexOutOfRange { index: -1, len })
}

fn at_mut<'v, T>(items: &'v mut [T], index: &Value) -> Result<&'v mut T, FaultKind> {
    let len = items.len();
    items.get_mut(position(index, len)?).ok_or(FaultKind::IndexOutOfRange { index: -1, len })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_of_whole_numbers_is_real() {
        assert_eq!(Binary::Divide.apply(&Value::Int(1), &Value::Int(2)), Ok(Value::Float(0.5)));
        assert_eq!(Binary::Remainder.apply(&Value::Int(7), &Value::Int(3)), Ok(Value::Int(1)));
        assert_eq!(Binary::Remainder.apply(&Value::Float(5.5), &Value::Float(5.0)), Ok(Value::Float(0.5)));
        for zero in [Value::Int(0), Value::Float(0.0)] {
            assert_eq!(Binary::Divide.apply(&Value::Int(1), &zero), Err(FaultKind::Domain("/")));
            assert_eq!(Binary::Remainder.apply(&Value::Int(1), &zero), Err(FaultKind::Domain("%")));
        }
    }

    #[test]
    fn two_floats_are_combined_as_any_two_numbers() {
        let all = [0.0, -0.0, 1.5, -2.25, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX];
        let operators = [
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::Divide,
            Binary::Less,
            Binary::LessEqual,
            Binary::Greater,
            Binary::GreaterEqual,
            Binary::Equal,
            Binary::NotEqual,
            Binary::Remainder,
            Binary::Xor,
        ];
        for operator in operators {
            let has = !matches!(operator, Binary::Remainder | Binary::Xor);
            for left in all {
                for right in all {
                    let quick = operator.floats(left, right);
                    assert_eq!(quick.is_some(), has && !(operator == Binary::Divide && right == 0.0));
                    if let Some(quick) = quick {
                        let slow = operator.apply(&Value::Float(left), &Value::Float(right)).unwrap();
                        // NaN is not equal to itself.
                        assert_eq!(format!("{quick:?}"), format!("{slow:?}"), "{left} {operator:?} {right}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_numbers_beyond_32_bits_are_an_error() {
        let [least, most] = [i32::MIN, i32::MAX].map(Value::Int);
        assert_eq!(Binary::Add.apply(&most, &Value::Int(1)), Err(FaultKind::Overflow("+")));
        assert_eq!(Binary::Subtract.apply(&least, &Value::Int(1)), Err(FaultKind::Overflow("-")));
        assert_eq!(Binary::Multiply.apply(&most, &Value::Int(2)), Err(FaultKind::Overflow("*")));
        assert_eq!(Binary::Remainder.apply(&least, &Value::Int(-1)), Ok(Value::Int(0)));
        assert_eq!(Unary::Negate.apply(&least), Err(FaultKind::Overflow("-")));
        assert_eq!(Binary::Add.apply(&most, &Value::Float(1.0)), Ok(Value::Float(2_147_483_648.0)));
    }

    #[test]
    fn lists_compare_element_by_element() {
        let a = Value::List(vec![Value::Int(1), Value::Float(2.0)]);
        let b = Value::List(vec![Value::Float(1.0), Value::Int(2)]);
        assert_eq!(Binary::Equal.apply(&a, &b), Ok(Value::Bool(true)));
        assert_eq!(Binary::NotEqual.apply(&a, &Value::None), Ok(Value::Bool(true)));
        assert_eq!(Binary::Equal.apply(&Value::None, &Value::None), Ok(Value::Bool(true)));
    }

    #[test]
    fn a_fault_names_the_operand_that_does_not_fit() {
        let text = Value::String("a".into());
        for (left, right) in [(&text, &Value::Int(1)), (&Value::Int(1), &text)] {
            assert_eq!(Binary::Add.apply(left, right), Err(FaultKind::Type { operation: "+", found: "String" }));
        }
        assert!(Unary::Truth.apply(&Value::List(vec![])).is_err());
    }

    #[test]
    fn elements_are_read_and_written_in_place() {
        let mut matrix = Value::List(vec![Value::List(vec![Value::Int(1), Value::Int(2)]); 2]);
        let at = |row, column| [Value::Int(row), Value::Int(column)];
        set_element(&mut matrix, &at(1, 0), Value::Int(9)).unwrap();
        assert_eq!(element(&matrix, &at(1, 0)).unwrap().to_value(), Value::Int(9));
        assert_eq!(element(&matrix, &at(0, 0)).unwrap().to_value(), Value::Int(1));
        let fault = element(&matrix, &at(0, 2)).unwrap_err();
        assert_eq!(fault, FaultKind::IndexOutOfRange { index: 2, len: 2 });
        let mut pose = Value::Pose([0.0; 6]);
        set_element(&mut pose, &[Value::Int(5)], Value::Int(1)).unwrap();
        assert_eq!(element(&pose, &[Value::Int(5)]).unwrap().to_value(), Value::Float(1.0));
        assert!(set_element(&mut pose, &at(0, 0), Value::Int(1)).is_err());
    }
}
