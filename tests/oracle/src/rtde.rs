//! RTDE in the oracle: variables and packages of the specification as data, and values by the generic codec.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Cell, Malformed, Row, Table, decode, read};

/// An RTDE variable of the protocol's specification; each register is a separate one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name of the RTDE variable.
    pub name: String,
    /// `true` if clients can write the variable.
    pub input: bool,
    /// `true` if controllers can send the variable.
    pub output: bool,
    /// The name of the variable's RTDE type, such as `VECTOR6D`.
    pub word: &'static str,
    /// The unit of the variable, as text.
    pub unit: &'static str,
    /// The first software versions that have the variable, in the form described at the head of `rtde_variables.tsv`.
    pub since: &'static str,
}

impl Variable {
    /// Returns whether software `major.minor.bugfix` has the variable; `None` if the specification does not confirm it.
    pub fn in_software(&self, software: (u8, u8, u32)) -> Option<bool> {
        if software < (3, 4, 0) {
            return Some(false);
        }
        if self.since.starts_with('?') {
            return None;
        }
        let generation = usize::from(software.0 >= 5) + usize::from(software.0 >= 10);
        let Some(first) = self.since.split(' ').nth(generation).filter(|_| self.since != "-") else {
            return Some(true);
        };
        let mut numbers = first.split('.').map_while(|number| number.parse::<u32>().ok());
        let Some(major) = numbers.next() else { return Some(false) };
        let [minor, bugfix] = [(); 2].map(|()| numbers.next().expect("three numbers"));
        Some((u32::from(software.0), u32::from(software.1), software.2) >= (major, minor, bugfix))
    }
}

/// Returns all RTDE variables, in the order of the specification.
pub fn variables() -> &'static [Variable] {
    static VARIABLES: LazyLock<Vec<Variable>> = LazyLock::new(|| {
        let lines = include_str!("../rtde_variables.tsv").lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(registers).collect()
    });
    &VARIABLES
}

/// Returns the RTDE variables of one line of `rtde_variables.tsv`, which may stand for a range of registers.
fn registers(line: &'static str) -> Vec<Variable> {
    let columns: Vec<&'static str> = line.split('\t').collect();
    let [direction, name, first, last, word, unit, since] = columns[..] else { panic!("seven columns: {line}") };
    let variable = |name| Variable {
        name,
        input: matches!(direction, "in" | "both"),
        output: matches!(direction, "out" | "both"),
        word,
        unit,
        since,
    };
    let Ok(first) = first.parse::<u8>() else { return vec![variable(name.to_owned())] };
    let last: u8 = last.parse().expect("a last register");
    (first..=last).map(|number| variable(format!("{name}{number}"))).collect()
}

/// Returns the tables of RTDE packages. A key has `request` or `reply`, the package's letter and the protocol version
/// (`reply U 2`); the key `types` has the RTDE types.
fn packages() -> &'static BTreeMap<&'static str, Table> {
    static PACKAGES: LazyLock<BTreeMap<&'static str, Table>> =
        LazyLock::new(|| read(include_str!("../rtde_packages.tsv")));
    &PACKAGES
}

/// Decodes one RTDE package of `side` (`request` or `reply`) on a connection with this protocol version.
pub fn decode_package(side: &str, version: u8, bytes: &[u8]) -> Result<Vec<Cell>, Malformed> {
    let letter = char::from(*bytes.get(2).ok_or(Malformed("header".into()))?);
    // A form without a version is that of version 1.
    let form = |version: u8| packages().get(format!("{side} {letter} {version}").as_str());
    let table = form(version).or_else(|| form(1)).ok_or(Malformed(format!("letter {letter}")))?;
    decode(table, None, bytes)
}

/// Decodes the values in an RTDE data package. `recipe` has the names of the variables with those of their types.
pub fn decode_values(recipe: &[(&str, &str)], bytes: &[u8]) -> Result<Vec<Cell>, Malformed> {
    let row = |(name, word): &(&str, &str)| {
        let of_type = packages()["types"].rows.iter().find(|row| row.name == *word).ok_or(Malformed((*word).into()))?;
        let [offset, kind, count] = [&of_type.offset, &of_type.kind, &of_type.count].map(Clone::clone);
        Ok(Row { offset, kind, count, name: (*name).to_owned(), condition: None })
    };
    let rows = recipe.iter().map(row).collect::<Result<_, Malformed>>()?;
    decode(&Table { bytes: None, software: String::new(), rows }, None, bytes)
}
