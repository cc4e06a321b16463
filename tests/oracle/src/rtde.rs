//! RTDE in the oracle: variables and packages of the specification as data, and values by the generic codec.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::{Cell, Malformed, Row, Table, decode, read};

/// One variable; each register is a separate one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable's name.
    pub name: String,
    /// `true` if clients write it.
    pub input: bool,
    /// `true` if controllers send it.
    pub output: bool,
    /// The word for its type.
    pub word: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// The first software, as in the table.
    pub since: &'static str,
}

impl Variable {
    /// Returns whether software `major.minor.bugfix` has it; `None` if the specification does not confirm it.
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

/// Returns all variables, in the order of the specification.
pub fn variables() -> &'static [Variable] {
    static VARIABLES: LazyLock<Vec<Variable>> = LazyLock::new(|| {
        let lines = include_str!("../rtde_variables.tsv").lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(registers).collect()
    });
    &VARIABLES
}

/// Returns the variables of one line.
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

/// Returns the tables of packages by `request` or `reply`, letter and version; `types` has the type words.
fn packages() -> &'static BTreeMap<&'static str, Table> {
    static PACKAGES: LazyLock<BTreeMap<&'static str, Table>> =
        LazyLock::new(|| read(include_str!("../rtde_packages.tsv")));
    &PACKAGES
}

/// Reads one package of `side` (`request` or `reply`) on a connection with this protocol version.
pub fn decode_package(side: &str, version: u8, bytes: &[u8]) -> Result<Vec<Cell>, Malformed> {
    let letter = char::from(*bytes.get(2).ok_or(Malformed("header".into()))?);
    // A form without a version is that of version 1.
    let form = |version: u8| packages().get(format!("{side} {letter} {version}").as_str());
    let table = form(version).or_else(|| form(1)).ok_or(Malformed(format!("letter {letter}")))?;
    decode(table, None, bytes)
}

/// Reads the values of a recipe, given as names with their type words.
pub fn decode_values(recipe: &[(&str, &str)], bytes: &[u8]) -> Result<Vec<Cell>, Malformed> {
    let row = |(name, word): &(&str, &str)| {
        let of_type = packages()["types"].rows.iter().find(|row| row.name == *word).ok_or(Malformed((*word).into()))?;
        let [offset, kind, count] = [&of_type.offset, &of_type.kind, &of_type.count].map(Clone::clone);
        Ok(Row { offset, kind, count, name: (*name).to_owned(), condition: None })
    };
    let rows = recipe.iter().map(row).collect::<Result<_, Malformed>>()?;
    decode(&Table { bytes: None, software: String::new(), rows }, None, bytes)
}
