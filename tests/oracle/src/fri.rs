//! An independent reader and writer of FRI datagrams, from rows to cells and back.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Cell, Malformed, Table, Value, read};

/// Returns the tables of the FRI datagrams `measurement` and `command`, with the layouts of KUKA's specification.
pub fn tables() -> &'static BTreeMap<&'static str, Table> {
    static TABLES: LazyLock<BTreeMap<&'static str, Table>> = LazyLock::new(|| read(include_str!("../fri.tsv")));
    &TABLES
}

/// Decodes an FRI datagram by the table of this name, `measurement` or `command`.
pub fn decode(name: &str, bytes: &[u8]) -> Result<Vec<Cell>, Malformed> {
    let table = &tables()[name];
    let mut cells = Vec::new();
    let mut at = 0;
    for row in &table.rows {
        assert!(row.offset.parse() == Ok(at), "gap before {}", row.name);
        for _ in 0..row.count.parse().expect("a count") {
            let end = at + width(&row.kind);
            let raw = bytes.get(at..end).ok_or(Malformed(row.name.clone()))?;
            let number = raw.iter().rev().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
            let value = match row.kind.as_str() {
                "f32" => Value::F32(number),
                "i32" => Value::Integer(number.cast_signed().into()),
                _ => Value::Integer(number.into()),
            };
            cells.push(Cell { at, end, name: row.name.clone(), value });
            at = end;
        }
    }
    if at == bytes.len() { Ok(cells) } else { Err(Malformed("length".into())) }
}

/// Returns the FRI datagram that consists of the values `cells`, which must be consecutive.
pub fn encode(cells: &[Cell]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for cell in cells {
        let number = match &cell.value {
            Value::F32(bits) => *bits,
            Value::Integer(number) => *number as u32,
            other => panic!("{other:?} is in no datagram"),
        };
        bytes.extend(&number.to_le_bytes()[..cell.end - cell.at]);
    }
    bytes
}

fn width(kind: &str) -> usize {
    match kind {
        "u16" => 2,
        "u32" | "i32" | "f32" => 4,
        other => panic!("no type {other}"),
    }
}
