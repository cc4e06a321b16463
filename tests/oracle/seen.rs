//! What the core's field visitor shows, in the shape of the oracle's cells, and the comparison of the two.

use outrigger_core::wire::fields::{FieldVisitor, Group, Value as Shown};

use super::{Cell, Value};

/// One scalar or text the core showed, under the path of its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Names of the groups and of the field, as the core writes them.
    pub path: Vec<String>,
    /// What it holds.
    pub value: Value,
    /// Whether the core read a bit mask out of a double.
    pub mask: bool,
}

/// Collects what the core shows; elements of arrays follow each other, as in the oracle.
#[derive(Debug, Default)]
pub struct Collector {
    groups: Vec<String>,
    /// Everything shown so far.
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
            other => panic!("{name}: {other:?} is new to the oracle"),
        };
        let mut path = self.groups.clone();
        path.push(name.to_owned());
        let mask = matches!(value, Shown::Mask(_));
        self.seen.extend(values.into_iter().map(|value| Seen { path: path.clone(), value, mask }));
    }

    fn begin(&mut self, name: &str, _: Group) {
        self.groups.push(name.to_owned());
    }

    fn end(&mut self) {
        self.groups.pop().expect("a group ends that began");
    }
}

/// Where the core and the oracle first differ, as a sentence.
pub fn difference(core: &[Seen], oracle: &[Cell]) -> Option<String> {
    for (seen, cell) in core.iter().zip(oracle) {
        if !same_name(&seen.path, cell) || !same_value(seen, &cell.value) {
            return Some(format!("core shows {seen:?}, the specification has {cell:?}"));
        }
    }
    match core.len().cmp(&oracle.len()) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(format!("core also shows {:?}", core[oracle.len()])),
        std::cmp::Ordering::Less => Some(format!("core does not show {:?}", oracle[core.len()])),
    }
}

/// Letters and digits alone, in lower case: the specification's `robotVoltage48V` and `q target` as the core has them.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The last names agree. A name the specification uses several times in one table carries a number in the core.
fn same_name(path: &[String], cell: &Cell) -> bool {
    let ours = plain(path.iter().rfind(|p| !p.is_empty()).map_or("", String::as_str));
    ours.strip_prefix(&plain(&cell.name)).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

fn same_value(seen: &Seen, value: &Value) -> bool {
    match value {
        // Section 2.5: a mask is a double, or (by some accounts) an integer that never reaches bit 52.
        Value::F64(raw) if seen.mask => {
            let number = f64::from_bits(*raw);
            let mask = if *raw >> 52 == 0 { *raw } else { number.round() as u64 };
            // No mask is that large: what is made of such a number is nobody's business.
            number >= f64::powi(2.0, 52) || seen.value == Value::Integer(mask.into())
        }
        other => seen.value == *other,
    }
}
