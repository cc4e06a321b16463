//! The generic codec, from rows to cells. It knows the types at the head of the tables, and no field of any robot.

use super::{Row, Table};

/// A value that was decoded from a message: an integer, a float or a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer or flag.
    Integer(i128),
    /// The bits of a 32-bit float, so that NaN can be compared.
    F32(u32),
    /// The bits of a 64-bit float.
    F64(u64),
    /// The text as it was sent.
    Text(Vec<u8>),
}

/// A value that was decoded from a message, with its position there and its name in the protocol's specification. The
/// elements of an array are consecutive cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The offset of the value's first byte \[B\], from the start of the message or sub-package.
    pub at: usize,
    /// The offset behind the value's last byte \[B\].
    pub end: usize,
    /// The name of the value in the protocol's specification.
    pub name: String,
    /// The decoded value itself.
    pub value: Value,
}

/// The error for bytes that do not fit the tables of the protocol's specification. The text names the table's row, or
/// the part of the message, at which decoding failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// Decodes the message or sub-package `bytes` by the rows of `table`. `values` is the table of types for typed values,
/// which are sent with a type number, in message `25/1` only.
pub fn decode(table: &Table, values: Option<&Table>, bytes: &[u8]) -> Result<Vec<Cell>, Malformed> {
    let mut reader = Reader { bytes, at: 0, cells: Vec::new(), values };
    reader.rows(&table.rows)?;
    Ok(reader.cells)
}

/// Decodes a packet of the real-time port 30003 by the rows of `table`: all fields that end within `bytes`.
pub fn decode_realtime(table: &Table, bytes: &[u8]) -> Vec<Cell> {
    let mut reader = Reader { bytes, at: 0, cells: Vec::new(), values: None };
    for row in &table.rows {
        let complete = reader.cells.len();
        if reader.row(row).is_err() {
            reader.cells.truncate(complete);
            break;
        }
    }
    reader.cells
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    cells: Vec<Cell>,
    values: Option<&'a Table>,
}

impl Reader<'_> {
    fn rows(&mut self, rows: &[Row]) -> Result<(), Malformed> {
        for (i, row) in rows.iter().enumerate() {
            if row.kind == "repeat" {
                while self.at < self.bytes.len() {
                    self.rows(&rows[i + 1..])?;
                }
                return Ok(());
            }
            let holds = |(field, value): &(String, i64)| {
                self.cells.iter().any(|c| &c.name == field && c.value == Value::Integer((*value).into()))
            };
            if row.condition.as_ref().is_none_or(holds) {
                self.row(row)?;
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &Row) -> Result<(), Malformed> {
        assert!(row.offset.parse().is_ok_and(|o: usize| o == self.at) || row.offset == "+", "gap before {}", row.name);
        self.item(&row.kind, &row.count, &row.name)
    }

    fn item(&mut self, kind: &str, count: &str, name: &str) -> Result<(), Malformed> {
        let rest = self.bytes.len() - self.at;
        let count = match (count, kind) {
            ("*", _) => rest,
            (_, "line") => self.bytes[self.at..].iter().position(|b| *b == b'\n').ok_or(Malformed(name.into()))?,
            ("u16*u16", _) => self.integer("u16", name)? as usize * self.integer("u16", name)? as usize,
            ("u8" | "u16" | "i32", _) => self.integer(count, name)?.try_into().map_err(|_| Malformed(name.into()))?,
            _ => count.parse().expect("a count"),
        };
        if let "char" | "line" = kind {
            let at = self.at;
            let text = self.take(count, name)?.to_vec();
            self.at += usize::from(kind == "line");
            self.push(at, name, Value::Text(text));
            return Ok(());
        }
        for _ in 0..count {
            let at = self.at;
            let value = match kind {
                "none" => return Ok(()),
                "value" => {
                    self.value(name)?;
                    continue;
                }
                "f32" => Value::F32(self.integer("u32", name)? as u32),
                "f64" => Value::F64(self.integer("u64", name)? as u64),
                integer => Value::Integer(self.integer(integer, name)?),
            };
            self.push(at, name, value);
        }
        Ok(())
    }

    fn push(&mut self, at: usize, name: &str, value: Value) {
        self.cells.push(Cell { at, end: self.at, name: name.into(), value });
    }

    fn value(&mut self, name: &str) -> Result<(), Malformed> {
        let number = self.integer("u8", name)?.to_string();
        let kinds = self.values.ok_or(Malformed(name.into()))?;
        let row = kinds.rows.iter().find(|r| r.offset == number).ok_or(Malformed(name.into()))?;
        self.item(&row.kind, &row.count, &row.name)
    }

    fn integer(&mut self, kind: &str, name: &str) -> Result<i128, Malformed> {
        let bytes = match kind {
            "u8" | "i8" | "bool" => 1,
            "u16" | "i16" => 2,
            "u32" | "i32" => 4,
            "u64" => 8,
            other => panic!("no type {other}"),
        };
        let raw = self.take(bytes, name)?.iter().fold(0, |sum, b| sum << 8 | i128::from(*b));
        Ok(if kind.starts_with('i') && raw >> (8 * bytes - 1) != 0 { raw - (1 << (8 * bytes)) } else { raw })
    }

    fn take(&mut self, count: usize, name: &str) -> Result<&[u8], Malformed> {
        let taken = self.bytes.get(self.at..).and_then(|b| b.get(..count)).ok_or(Malformed(name.into()))?;
        self.at += count;
        Ok(taken)
    }
}
