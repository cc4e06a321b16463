//! Writes a table with one row per state and one column per number.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use outrigger_wire::fields::{FieldVisitor, Group, Value};

use super::units::with_unit;

/// The names of the first columns of an exported table: the time since the first robot state \[s\], and the time at which
/// a state arrived \[s since 1970\].
const TIMES: [&str; 2] = ["t", "arrival_time"];

/// A table of the robot's states in CSV that is being written.
pub(super) struct Table<W: Write> {
    to: W,
    /// The indices of the columns by name. A vector has a column for each number, `name_0` and on.
    columns: HashMap<String, usize>,
    cells: Vec<String>,
    line: String,
    rows: u64,
    unplaced: u64,
    /// The time at which the first robot state arrived \[ns since 1970\].
    begin: u64,
}

impl<W: Write> Table<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, columns: HashMap::new(), cells: vec![], line: String::new(), rows: 0, unplaced: 0, begin: 0 }
    }

    /// Returns the number of states that were written to the table as rows.
    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of values that were left out of the table, because the first state did not have them and so
    /// determined no column.
    pub(super) const fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// Adds a row for a robot state that arrived `nanos` ns after 1970 began. The first state determines the columns, and
    /// the time zero of `t`; a column that a later state lacks is empty.
    pub(super) fn row(&mut self, nanos: u64, visit: &dyn Fn(&mut dyn FieldVisitor)) -> io::Result<()> {
        if self.rows == 0 {
            let mut names = vec![];
            visit(&mut Columns { each: &mut |name, _| names.push(name.to_owned()), open: vec![] });
            // Some names are taken from the recording. Characters are replaced so that each name is one cell of one
            // line.
            let named = |name: &str| with_unit(&name.replace(breaks_a_cell, "_"));
            let [zero, arrival] = TIMES;
            let head: Vec<String> =
                std::iter::once(arrival).chain(names.iter().map(String::as_str)).map(named).collect();
            writeln!(self.to, "{zero},{}", head.join(","))?;
            self.begin = nanos;
            self.columns = names.iter().enumerate().map(|(n, name)| (name.clone(), n)).collect();
            self.cells = vec![String::new(); names.len()];
        }
        let Self { columns, cells, unplaced, .. } = self;
        cells.iter_mut().for_each(String::clear);
        let mut each = |name: &str, cell: Cell<'_>| match columns.get(name).and_then(|n| cells.get_mut(*n)) {
            Some(slot) => cell.print(slot),
            None => *unplaced += 1,
        };
        visit(&mut Columns { each: &mut each, open: vec![] });
        self.line.clear();
        // Writing to a `String` cannot fail.
        let since = nanos.saturating_sub(self.begin);
        for (place, nanos) in [since, nanos].into_iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let _ = write!(self.line, "{comma}{}.{:06}", nanos / 1_000_000_000, nanos / 1_000 % 1_000_000);
        }
        for cell in &self.cells {
            self.line.push(',');
            self.line.push_str(cell);
        }
        self.rows += 1;
        writeln!(self.to, "{}", self.line)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn breaks_a_cell(c: char) -> bool {
    c.is_control() || matches!(c, ',' | '"')
}

/// The content of one cell of the table: a number or a text.
enum Cell<'a> {
    Integer(i128),
    Single(f32),
    Double(f64),
    Text(&'a [u8]),
}

impl Cell<'_> {
    fn print(&self, to: &mut String) {
        // Writing to a `String` cannot fail.
        let _ = match self {
            Self::Integer(value) => write!(to, "{value}"),
            Self::Single(value) => write!(to, "{value}"),
            Self::Double(value) => write!(to, "{value}"),
            Self::Text(bytes) => {
                let text: String = bytes.iter().map(|byte| char::from(*byte)).filter(|c| !c.is_control()).collect();
                write!(to, "\"{}\"", text.replace('"', "\"\""))
            }
        };
    }
}

/// A visitor of a robot state that passes every number and text on, with the name of its column.
struct Columns<'e> {
    each: &'e mut dyn FnMut(&str, Cell<'_>),
    /// The names of the enclosing groups of values, each with the index of the next item if the group is a list.
    open: Vec<(String, Option<usize>)>,
}

impl Columns<'_> {
    /// Returns the full name of the column for the next value of the state.
    fn name(&mut self, name: &str) -> String {
        let Some((outer, next)) = self.open.last_mut() else { return name.to_owned() };
        match next {
            Some(n) => {
                *n += 1;
                format!("{outer}_{}", *n - 1)
            }
            None => format!("{outer}_{name}"),
        }
    }
}

impl FieldVisitor for Columns<'_> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let name = self.name(name);
        let mut several = |cells: &mut dyn Iterator<Item = Cell<'_>>| {
            cells.enumerate().for_each(|(n, cell)| (self.each)(&format!("{name}_{n}"), cell));
        };
        match value {
            Value::Bytes(values) => several(&mut values.iter().map(|v| Cell::Integer((*v).into()))),
            Value::U32s(values) => several(&mut values.iter().map(|v| Cell::Integer((*v).into()))),
            Value::I32s(values) => several(&mut values.iter().map(|v| Cell::Integer((*v).into()))),
            Value::F32s(values) => several(&mut values.iter().map(|v| Cell::Single(*v))),
            Value::F64s(values) => several(&mut values.iter().map(|v| Cell::Double(*v))),
            Value::Bool(value) => (self.each)(&name, Cell::Integer(value.into())),
            Value::Unsigned(value) | Value::Mask(value) => (self.each)(&name, Cell::Integer(value.into())),
            Value::Signed(value) => (self.each)(&name, Cell::Integer(value.into())),
            Value::F32(value) => (self.each)(&name, Cell::Single(value)),
            Value::F64(value) => (self.each)(&name, Cell::Double(value)),
            Value::Text(bytes) => (self.each)(&name, Cell::Text(bytes)),
            _ => {}
        }
    }

    fn begin(&mut self, name: &str, group: Group) {
        let name = self.name(name);
        self.open.push((name, matches!(group, Group::List).then_some(0)));
    }

    fn end(&mut self) {
        self.open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the documented column names, from the table in `recording-reference.md`, without dots.
    fn documented() -> Vec<String> {
        let page = include_str!("../../../docs/recording-reference.md");
        let table = page.split("| fields of 30003 | unit |").nth(1).expect("the table");
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let names = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
        names.map(str::to_owned).collect()
    }

    #[test]
    fn the_page_has_the_columns_of_30003_and_no_others() {
        use outrigger_wire::realtime::{Packet, SIZES};
        let documented = documented();
        let mut units: Vec<&str> = super::super::units::suffixes().collect();
        units.sort_by_key(|unit| std::cmp::Reverse(unit.len()));
        let mut seen = vec![];
        for size in SIZES {
            let mut bytes = vec![0; size];
            bytes[..4].copy_from_slice(&i32::try_from(size).unwrap().to_be_bytes());
            let packet = Packet::new_checked(&bytes).unwrap();
            let (text, _) = table(&[&|visitor| packet.visit(visitor)]);
            for column in text.lines().next().unwrap().split(',').skip(2) {
                let unit = units.iter().find(|unit| column.ends_with(&format!("_{unit}")));
                let plain = unit.map_or(column, |unit| &column[..column.len() - unit.len() - 1]);
                // Each number of a vector has a column, including `reserved_820_0`.
                let name = match plain.strip_prefix("reserved_") {
                    Some(_) => "reserved_OFFSET",
                    None => plain.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'),
                };
                assert!(documented.iter().any(|known| known == name), "{column} is not on the page");
                seen.push(name.to_owned());
            }
        }
        let missing: Vec<_> = documented.iter().filter(|name| !seen.contains(name)).collect();
        assert_eq!(missing, [""; 0], "on the page, and no column");
    }

    #[test]
    fn the_page_has_the_units_of_the_columns_of_30003() {
        let page = include_str!("../../../docs/recording-reference.md");
        let table = page.split("| fields of 30003 | unit |").nth(1).expect("the table");
        let mut compared = 0;
        for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
            let [_, fields, units, ..] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let fields: Vec<&str> = fields.split('`').skip(1).step_by(2).collect();
            let units: Vec<&str> = units.trim().split(", ").collect();
            for (number, field) in fields.iter().enumerate() {
                // One unit for each field, or one for all of them; of a vector the first.
                let unit = if units.len() == fields.len() { units[number] } else { units[0] };
                let unit = unit.split([';', ' ']).next().unwrap_or_default();
                let Some(suffix) = super::super::units::suffix(unit) else { continue };
                let (scalar, vector) = (with_unit(field), with_unit(&format!("{field}_0")));
                let named = scalar == format!("{field}_{suffix}") || vector == format!("{field}_0_{suffix}");
                assert!(named, "{field} has the unit {unit} on the page; the column is {scalar} or {vector}");
                compared += 1;
            }
        }
        assert!(compared > 25, "{compared} fields");
    }

    type State<'a> = &'a dyn Fn(&mut dyn FieldVisitor);

    fn table(states: &[State<'_>]) -> (String, u64) {
        let mut bytes = vec![];
        let mut table = Table::new(&mut bytes);
        for (n, state) in states.iter().enumerate() {
            table.row(1_500_000_000 + n as u64 * 2_000_000, state).unwrap();
        }
        let unplaced = table.unplaced();
        table.finish().unwrap();
        (String::from_utf8(bytes).unwrap(), unplaced)
    }

    #[test]
    fn vectors_have_a_column_for_each_number() {
        let (text, unplaced) = table(&[&|visitor| {
            visitor.field("time", Value::F64(1.5));
            visitor.field("q", Value::F64s(&[0.25, f64::NAN]));
            visitor.field("bits", Value::Mask(5));
            visitor.field("name", Value::Text(b"a\"b,c\n"));
        }]);
        assert_eq!(text, "t,arrival_time_s,time_s,q_0,q_1,bits,name\n0.000000,1.500000,1.5,0.25,NaN,5,\"a\"\"b,c\"\n");
        assert_eq!(unplaced, 0);
    }

    #[test]
    fn a_name_of_a_column_is_one_cell_of_one_line() {
        let (text, _) = table(&[&|visitor| {
            visitor.field("a,b\"c\nd\u{1b}", Value::F64(1.0));
            visitor.field("q", Value::F64s(&[2.0]));
        }]);
        assert_eq!(text, "t,arrival_time_s,a_b_c_d_,q_0\n0.000000,1.500000,1,2\n");
    }

    #[test]
    fn later_states_fill_the_columns_of_the_first() {
        let full: State<'_> = &|visitor| {
            visitor.field("time", Value::F64(1.0));
            visitor.field("mode", Value::Signed(7));
        };
        let less: State<'_> = &|visitor| visitor.field("time", Value::F64(2.0));
        let other: State<'_> = &|visitor| visitor.field("extra", Value::F64(3.0));
        let (text, unplaced) = table(&[full, less, other]);
        assert_eq!(
            text,
            "t,arrival_time_s,time_s,mode\n0.000000,1.500000,1,7\n0.002000,1.502000,2,\n0.004000,1.504000,,\n"
        );
        assert_eq!(unplaced, 1);
    }
}
