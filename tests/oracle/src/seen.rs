//! Converts the fields that the core's field visitor shows to the form of the oracle's cells, and compares the two.

use std::collections::BTreeMap;

use outrigger_wire::fields::{FieldVisitor, Group, Value as Shown};

use super::{Cell, Value};

/// A scalar or text that `outrigger_wire` decoded, with the path of its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The names of the groups that contain the field, and of the field itself, as `outrigger_wire` writes them.
    pub path: Vec<String>,
    /// The decoded value of the field.
    pub value: Value,
    /// The permitted difference between this value and the one of the tests' own decoder.
    pub kind: Kind,
}

impl Seen {
    /// Returns the name of the decoded field; an element of a list has the list's name.
    pub fn name(&self) -> &str {
        self.path.iter().rfind(|name| !name.is_empty()).map_or("", String::as_str)
    }
}

/// The permitted difference between a value that `outrigger_wire` decoded and the one of the tests' own decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The value must be equal in both decoders.
    Plain,
    /// The value is a bit mask, which may be sent as a double.
    Mask,
    /// The value is a truth value: every number except 0 is true.
    Flag,
}

/// Collects the fields that a message passes to a [`FieldVisitor`], for comparison with the tests' own decoder. The
/// elements of an array are consecutive, as there.
#[derive(Debug, Default)]
pub struct Collector {
    groups: Vec<String>,
    /// The fields collected so far.
    pub seen: Vec<Seen>,
}

impl FieldVisitor for Collector {
    fn field(&mut self, name: &str, value: Shown<'_>) {
        let integers = |all: &mut dyn Iterator<Item = i128>| all.map(Value::Integer).collect::<Vec<_>>();
        let values = match value {
            Shown::Bool(flag) => vec![Value::Integer(flag.into())],
            Shown::Unsigned(number) | Shown::Mask(number) => vec![Value::Integer(number.into())],
            Shown::Signed(number) => vec![Value::Integer(number.into())],
            Shown::F32(number) => vec![Value::F32(number.to_bits())],
            Shown::F64(number) => vec![Value::F64(number.to_bits())],
            Shown::Bytes(all) => integers(&mut all.iter().map(|v| (*v).into())),
            Shown::U32s(all) => integers(&mut all.iter().map(|v| (*v).into())),
            Shown::I32s(all) => integers(&mut all.iter().map(|v| (*v).into())),
            Shown::F32s(all) => all.iter().map(|v| Value::F32(v.to_bits())).collect(),
            Shown::F64s(all) => all.iter().map(|v| Value::F64(v.to_bits())).collect(),
            Shown::Text(text) => vec![Value::Text(text.to_vec())],
            Shown::Nothing => vec![],
            other => panic!("{name}: {other:?} is new to the oracle"),
        };
        let mut path = self.groups.clone();
        path.push(name.to_owned());
        let kind = match value {
            Shown::Mask(_) => Kind::Mask,
            Shown::Bool(_) => Kind::Flag,
            _ => Kind::Plain,
        };
        self.seen.extend(values.into_iter().map(|value| Seen { path: path.clone(), value, kind }));
    }

    fn begin(&mut self, name: &str, _: Group) {
        self.groups.push(name.to_owned());
    }

    fn end(&mut self) {
        self.groups.pop().expect("a group ends that began");
    }
}

/// Returns the first difference between the fields that `outrigger_wire` (`core`) and the tests' own decoder (`oracle`)
/// found in a message, as a sentence. Fields of the same name are compared in wire order, because `outrigger_wire`
/// shows fields that the specification repeats for each joint as one array.
pub fn difference(core: &[Seen], oracle: &[Cell]) -> Option<String> {
    let mut ours = BTreeMap::<String, Vec<&Seen>>::new();
    for seen in core {
        ours.entry(common_name(seen.name())).or_default().push(seen);
    }
    let mut theirs = BTreeMap::<String, Vec<&Cell>>::new();
    for cell in oracle {
        theirs.entry(common_name(&cell.name)).or_default().push(cell);
    }
    if let Some(only) = ours.keys().find(|name| !theirs.contains_key(*name)) {
        return Some(format!("only the core shows {only}"));
    }
    for (name, cells) in theirs {
        let seen = ours.remove(&name).unwrap_or_default();
        if seen.len() != cells.len() {
            return Some(format!("core shows {} of {name}, the specification has {}", seen.len(), cells.len()));
        }
        if let Some((seen, cell)) = seen.into_iter().zip(cells).find(|(seen, cell)| !same_value(seen, &cell.value)) {
            return Some(format!("core shows {seen:?}, the specification has {cell:?}"));
        }
    }
    None
}

/// Returns the form of a field's name in which the specification (`robotVoltage48V`, `q target`, `analogInput1`) and
/// `outrigger_wire` agree: letters and digits in lower case, without the number that distinguishes elements.
pub fn common_name(name: &str) -> String {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    plain.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()
}

fn same_value(seen: &Seen, value: &Value) -> bool {
    match (seen.kind, value) {
        // core/docs/protocol/ur-client-interfaces.md 2.5: a mask is a double, or (by some accounts) an integer that never reaches bit 52.
        (Kind::Mask, Value::F64(raw)) => {
            let number = f64::from_bits(*raw);
            let mask = if *raw >> 52 == 0 { *raw } else { number.round() as u64 };
            // No mask is that large, so the conversion of such a number does not matter.
            number >= f64::powi(2.0, 52) || seen.value == Value::Integer(mask.into())
        }
        (Kind::Flag, Value::Integer(number)) => seen.value == Value::Integer((*number != 0).into()),
        (_, other) => seen.value == *other,
    }
}
