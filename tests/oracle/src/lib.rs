//! An independent reader of controller traffic: the specification's tables as data, and a codec without other
//! knowledge.
//!
//! It shares no code and no table with the core, so a mistake in one of them shows as a difference.

#![forbid(unsafe_code)]

mod codec;
pub mod fri;
pub mod generate;
pub mod noise;
pub mod readings;
pub mod rtde;
mod seen;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use codec::{Cell, Malformed, Value, decode, decode_realtime};
pub use seen::{Collector, Kind, Seen, common_name, difference};

/// A table of a protocol's specification: the rows of one message, sub-package or datagram, or of a list of types.
#[derive(Debug)]
pub struct Table {
    /// The total size \[B\], of real-time packets the largest one; `None` if it varies.
    pub bytes: Option<usize>,
    /// The versions of software or protocol that have this message, as text.
    pub software: String,
    /// The rows of the table, in order.
    pub rows: Vec<Row>,
}

/// A row of a specification's table, such as one field of a message, as described at the head of `tables.tsv`.
#[derive(Debug)]
pub struct Row {
    offset: String,
    kind: String,
    count: String,
    name: String,
    condition: Option<(String, i64)>,
}

/// Returns the specification's tables for ports 30001, 30002 and 30003, by key (`realtime_cb3`, `3/75`, `20/6`).
pub fn tables() -> &'static BTreeMap<&'static str, Table> {
    static TABLES: LazyLock<BTreeMap<&'static str, Table>> = LazyLock::new(|| read(include_str!("../tables.tsv")));
    &TABLES
}

fn read(text: &'static str) -> BTreeMap<&'static str, Table> {
    let mut tables = BTreeMap::new();
    let mut current = "";
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let ["", offset, kind, count, name, _unit, ref rest @ ..] = columns[..] {
            let condition = rest.first().and_then(|c| c.split_once('='));
            let condition = condition.map(|(field, value)| (field.into(), value.parse().expect("a number")));
            let [offset, kind, count, name] = [offset, kind, count, name].map(String::from);
            let table: &mut Table = tables.get_mut(current).expect("rows follow a table");
            table.rows.push(Row { offset, kind, count, name, condition });
        } else if let [key, bytes, software] = columns[..] {
            current = key;
            let old = tables.insert(key, Table { bytes: bytes.parse().ok(), software: software.into(), rows: vec![] });
            assert!(old.is_none(), "two tables {key}");
        }
    }
    tables
}

/// Splits a primary or secondary stream into its messages, each with its 4-byte size in front.
pub fn messages(stream: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    sized(stream, 5)
}

/// Splits a robot-state message into its sub-packages.
pub fn sub_packages(message: &[u8]) -> Result<Vec<&[u8]>, Malformed> {
    sized(message.get(5..).ok_or(Malformed("header".into()))?, 5)
}

fn sized(mut bytes: &[u8], least: usize) -> Result<Vec<&[u8]>, Malformed> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let size = bytes.first_chunk().map(|s| i32::from_be_bytes(*s)).and_then(|s| usize::try_from(s).ok());
        let size = size.filter(|s| (least..=bytes.len()).contains(s)).ok_or(Malformed("size".into()))?;
        let (part, rest) = bytes.split_at(size);
        parts.push(part);
        bytes = rest;
    }
    Ok(parts)
}

/// Returns the key of the specification's table for a sub-package of this type and size, for example `3/75`.
pub fn key_of(sub_package: &[u8]) -> String {
    format!("{}/{}", sub_package[4], sub_package.len())
}
