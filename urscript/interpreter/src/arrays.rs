//! Arithmetic of lists and matrices, from 3.14 and 5.9 on (external control 5.1).
//!
//! | operands | `+ - / %` | `*` |
//! |---|---|---|
//! | list and list of the same length | by element | by element |
//! | list or matrix and number, in either order | by element | by element |
//! | matrix and matrix of the same shape | by element | product, if columns and rows agree |
//! | matrix and list | – | product: a list with an element for each row |
//!
//! A matrix is a list of lists of the same length.

use super::compiled_code::Binary;
use super::error::FaultKind;
use super::value::Value;

/// The greatest number of multiplications in one product of matrices, because the work of one instruction is bounded.
const PRODUCT: usize = 1 << 20;

impl Binary {
    /// Returns the operator's result for operands of which at least one is a list, and the number of multiplications,
    /// to be subtracted from the budget of instructions.
    pub(super) fn arrays(self, left: &Value, right: &Value) -> Result<(Value, usize), FaultKind> {
        if self == Self::Multiply
            && let Some((a, rows, inner)) = matrix(left)
        {
            if let Some((b, others, columns)) = matrix(right) {
                return self.product(&a, &b, [rows, inner, others, columns]);
            }
            if let Value::List(items) = right {
                let column: Vec<&Value> = items.iter().collect();
                let (product, work) = self.product(&a, &column, [rows, inner, items.len(), 1])?;
                return Ok((flat(product), work));
            }
        }
        Ok((self.by_element(left, right)?, 0))
    }

    /// Applies the operator by element to lists, through the levels of a matrix; not deeper than values may be nested.
    fn by_element(self, left: &Value, right: &Value) -> Result<Value, FaultKind> {
        let list = match (left, right) {
            (Value::List(left), Value::List(right)) => {
                if left.len() != right.len() {
                    return Err(FaultKind::Length { operation: self.sign(), left: left.len(), right: right.len() });
                }
                left.iter().zip(right).map(|(left, right)| self.by_element(left, right)).collect::<Result<_, _>>()?
            }
            (Value::List(items), scalar) if scalar.number().is_some() => {
                items.iter().map(|item| self.by_element(item, scalar)).collect::<Result<_, _>>()?
            }
            (scalar, Value::List(items)) if scalar.number().is_some() => {
                items.iter().map(|item| self.by_element(scalar, item)).collect::<Result<_, _>>()?
            }
            _ => return self.scalars(left, right),
        };
        Ok(Value::List(list))
    }

    /// Returns the product of two matrices, which are given row by row, and the number of its multiplications. `shape`
    /// contains rows and columns of `a`, then of `b`.
    fn product(self, a: &[&Value], b: &[&Value], shape: [usize; 4]) -> Result<(Value, usize), FaultKind> {
        let [rows, inner, others, columns] = shape;
        if inner != others {
            return Err(FaultKind::Length { operation: self.sign(), left: inner, right: others });
        }
        let work = rows.saturating_mul(inner).saturating_mul(columns);
        if work > PRODUCT {
            return Err(FaultKind::Limit("product"));
        }
        let mut result = Vec::with_capacity(rows);
        for row in a.chunks(inner.max(1)) {
            let mut line = Vec::with_capacity(columns);
            for column in 0..columns {
                let mut sum = Value::Int(0);
                for (value, other) in row.iter().zip(b.iter().skip(column).step_by(columns.max(1))) {
                    sum = Self::Add.scalars(&sum, &self.scalars(value, other)?)?;
                }
                line.push(sum);
            }
            result.push(Value::List(line));
        }
        Ok((Value::List(result), work))
    }
}

/// Returns the elements of a matrix row by row, with the numbers of rows and columns; `None` if `value` is no matrix.
fn matrix(value: &Value) -> Option<(Vec<&Value>, usize, usize)> {
    let Value::List(rows) = value else { return None };
    let mut elements = Vec::new();
    let mut columns = None;
    for row in rows {
        let Value::List(row) = row else { return None };
        if *columns.get_or_insert(row.len()) != row.len() {
            return None;
        }
        elements.extend(row);
    }
    Some((elements, rows.len(), columns?))
}

/// Converts a matrix of one column to a list; returns a value that is not a list unchanged.
fn flat(value: Value) -> Value {
    let Value::List(rows) = value else { return value };
    let first = |row| if let Value::List(mut row) = row { row.pop().unwrap_or_default() } else { row };
    Value::List(rows.into_iter().map(first).collect())
}
