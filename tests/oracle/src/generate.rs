//! Generates messages from the tables and seeded noise: messages that a controller could send, though probably never
//! did.

use super::{Row, Table, tables};
use crate::noise::Noise;

/// The greatest depth of nested lists of values in a generated message.
const DEPTH: usize = 3;

/// Returns a random message of port 30001, with its size in front. `key` names its table, such as `20/6 3` or `25/1`;
/// `values` is the table of types for typed values, which are sent with a type number.
pub fn message(key: &str, values: Option<&Table>, noise: &mut Noise) -> Vec<u8> {
    let mut writer = Writer { bytes: Vec::new(), integers: Vec::new(), values, noise };
    writer.rows(&tables()[key].rows);
    let mut bytes = writer.bytes;
    let kind = key.split(' ').next().expect("a word");
    let (message_type, subtype) = kind.split_once('/').expect("a type and a kind");
    bytes[4] = message_type.parse().expect("a number");
    // Type 20 has a source before its kind, type 25 has none.
    bytes[if message_type == "20" { 14 } else { 13 }] = subtype.parse().expect("a number");
    sized(bytes)
}

/// Returns the message `bytes` with the size in its first 4 bytes set to its true length.
pub fn sized(mut bytes: Vec<u8>) -> Vec<u8> {
    let size = i32::try_from(bytes.len()).expect("a small message");
    bytes[..4].copy_from_slice(&size.to_be_bytes());
    bytes
}

struct Writer<'a> {
    bytes: Vec<u8>,
    /// The fields of the generated message that were given the value which the condition of a later row demands.
    integers: Vec<(String, i64)>,
    values: Option<&'a Table>,
    noise: &'a mut Noise,
}

impl Writer<'_> {
    fn rows(&mut self, rows: &[Row]) {
        for (i, row) in rows.iter().enumerate() {
            if row.kind == "repeat" {
                for _ in 0..self.noise.below(4) {
                    self.rows(&rows[i + 1..]);
                }
                return;
            }
            let holds = |(field, value): &(String, i64)| {
                self.integers.iter().rfind(|i| &i.0 == field).map(|i| i.1) == Some(*value)
            };
            if row.condition.as_ref().is_none_or(holds) {
                let wanted = rows.iter().filter_map(|r| r.condition.as_ref()).find(|(field, _)| *field == row.name);
                self.row(row, wanted.map(|(_, value)| *value));
            }
        }
    }

    fn row(&mut self, row: &Row, wanted: Option<i64>) {
        match (row.name.as_str(), wanted) {
            ("newline", _) => self.bytes.push(b'\n'),
            // Distinguished from a date by its size and from a later form by its first byte:
            // core/docs/protocol/ur-client-interfaces.md 4.3.1.
            ("buildNumber", _) => self.bytes.extend([0, 0, 1, 2]),
            ("buildDate", _) => self.bytes.extend(b"03-05-2019, 06:39:00"),
            ("scriptLineNumber", _) => self.bytes.extend([0, 0, 0, 7]),
            (name, Some(value)) if self.noise.below(2) == 0 => {
                self.bytes.extend(u32::try_from(value).expect("an unsigned value").to_be_bytes());
                self.integers.push((name.to_owned(), value));
            }
            _ => self.item(&row.kind, &row.count, DEPTH),
        }
    }

    fn item(&mut self, kind: &str, count: &str, depth: usize) {
        let many = self.noise.below(if kind == "value" { 4 } else { 24 });
        match count {
            "u8" => self.bytes.push(many as u8),
            "u16" => self.bytes.extend((many as u16).to_be_bytes()),
            "i32" => self.bytes.extend((many as i32).to_be_bytes()),
            "u16*u16" => self.bytes.extend([0, many as u8, 0, 1]),
            _ => {}
        }
        let many = count.parse().unwrap_or(many);
        match kind {
            "none" => {}
            "char" => {
                for _ in 0..many {
                    let letter = b' ' + self.noise.below(95) as u8;
                    self.bytes.push(letter);
                }
            }
            "line" => self.bytes.extend(b"variable\n"),
            "value" => (0..many).for_each(|_| self.value(depth)),
            "u8" | "i8" | "bool" => self.bytes.extend(self.noise.bytes(many)),
            "u16" | "i16" => self.bytes.extend(self.noise.bytes(2 * many)),
            "u32" | "i32" | "f32" => self.bytes.extend(self.noise.bytes(4 * many)),
            "u64" | "f64" => self.bytes.extend(self.noise.bytes(8 * many)),
            other => panic!("no type {other}"),
        }
    }

    fn value(&mut self, depth: usize) {
        let kinds = &self.values.expect("a numbering of values").rows;
        let row = &kinds[self.noise.below(kinds.len())];
        let nested = row.kind == "value";
        if nested && depth == 0 {
            return self.value(depth); // something else
        }
        self.bytes.push(row.offset.parse().expect("a type number"));
        self.item(&row.kind, &row.count, depth - usize::from(nested));
    }
}
