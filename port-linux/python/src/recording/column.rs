//! A column of a table: the values of one field, in the type that holds all of them.

use serde_json::Value;

/// One column. Rows that were not put yet, or have no value, are gaps.
pub(super) struct Column {
    pub(super) data: Data,
    /// The number of values in each row. `None` for a column of single values.
    pub(super) width: Option<usize>,
    pub(super) rows: usize,
    /// True while no row has a value, so that type and width are open.
    is_open: bool,
}

/// The values of a column.
pub(super) enum Data {
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

/// The kind of a number, the most general last.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Kind {
    Bool,
    Integer,
    Float,
}

/// A value, or several, for one row.
pub(super) enum Cell {
    /// Numbers of this kind, as floats and as integers; `true` if they are the values of a vector.
    Numbers(Kind, Vec<f64>, Vec<i64>, bool),
    Text(String),
    Bytes(Vec<u8>),
    Nothing,
}

/// Returns a value that is not an object as the content of a cell. A list that is not of numbers is text, as JSON.
pub(super) fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Nothing,
        Value::String(text) => Cell::Text(text),
        Value::Array(items) => {
            let numbers: Option<Vec<_>> = items.iter().map(number).collect();
            match numbers {
                Some(numbers) => of_numbers(&numbers, true),
                None => Cell::Text(Value::Array(items).to_string()),
            }
        }
        value => number(&value).map_or(Cell::Nothing, |value| of_numbers(&[value], false)),
    }
}

fn of_numbers(numbers: &[(Kind, f64, i64)], is_vector: bool) -> Cell {
    let kind = numbers.iter().fold(Kind::Bool, |most, (kind, ..)| if *kind > most { *kind } else { most });
    let floats = numbers.iter().map(|(_, float, _)| *float).collect();
    Cell::Numbers(kind, floats, numbers.iter().map(|(.., integer)| *integer).collect(), is_vector)
}

/// Returns kind and value of a number; `null` stands for one that JSON has no form for.
fn number(value: &Value) -> Option<(Kind, f64, i64)> {
    match value {
        Value::Null => Some((Kind::Float, f64::NAN, 0)),
        Value::Bool(value) => Some((Kind::Bool, f64::from(u8::from(*value)), (*value).into())),
        Value::Number(value) => Some(match value.as_i64() {
            Some(integer) => (Kind::Integer, integer as f64, integer),
            None => (Kind::Float, value.as_f64().unwrap_or(f64::NAN), 0),
        }),
        _ => None,
    }
}

impl Default for Column {
    fn default() -> Self {
        Self { data: Data::Bools(vec![]), width: None, rows: 0, is_open: true }
    }
}

impl Column {
    /// Creates a column of bytes.
    pub(super) const fn of_bytes() -> Self {
        Self { data: Data::Bytes(vec![]), width: None, rows: 0, is_open: false }
    }

    /// Returns an upper bound of the memory that a cell in this row needs \[B\].
    pub(super) fn cost(&self, row: usize, cell: &Cell) -> usize {
        let gaps = row.saturating_sub(self.rows);
        let width = self.width.unwrap_or(1);
        match cell {
            Cell::Bytes(bytes) => gaps.saturating_add(1).saturating_mul(24).saturating_add(bytes.len()),
            Cell::Text(text) => gaps.saturating_add(1).saturating_mul(24).saturating_add(text.len()),
            Cell::Nothing => gaps.saturating_add(1).saturating_mul(width.max(3)).saturating_mul(8),
            Cell::Numbers(_, floats, ..) => {
                let (new, rows) = (width.max(floats.len()), row.saturating_add(1));
                let added = rows.saturating_mul(new).saturating_sub(self.rows.saturating_mul(width));
                added.saturating_mul(8)
            }
        }
    }

    /// Adds gaps up to this row.
    pub(super) fn fill(&mut self, row: usize) {
        while self.rows < row {
            self.push(Cell::Nothing);
        }
    }

    pub(super) fn push(&mut self, cell: Cell) {
        match cell {
            Cell::Nothing => {
                if matches!(self.data, Data::Bools(_) | Data::Integers(_)) {
                    self.generalise(Kind::Float);
                }
                match &mut self.data {
                    Data::Floats(values) => values.extend(std::iter::repeat_n(f64::NAN, self.width.unwrap_or(1))),
                    Data::Texts(values) => values.push(None),
                    Data::Bytes(values) => values.push(None),
                    Data::Bools(_) | Data::Integers(_) => {}
                }
            }
            Cell::Bytes(bytes) => {
                if let Data::Bytes(values) = &mut self.data {
                    values.push(Some(bytes));
                }
            }
            Cell::Text(text) => {
                self.is_open = false;
                self.make_texts();
                if let Data::Texts(values) = &mut self.data {
                    values.push(Some(text));
                }
            }
            Cell::Numbers(kind, floats, integers, is_vector) => {
                if self.is_open {
                    self.is_open = false;
                    self.width = is_vector.then_some(integers.len());
                    let gaps = vec![f64::NAN; self.rows * self.width.unwrap_or(1)];
                    self.data = if self.rows == 0 { Data::Bools(vec![]) } else { Data::Floats(gaps) };
                }
                if is_vector != self.width.is_some() {
                    self.make_texts();
                }
                self.numbers(kind, floats, &integers);
            }
        }
        self.rows += 1;
    }

    fn numbers(&mut self, kind: Kind, mut floats: Vec<f64>, integers: &[i64]) {
        if let Data::Texts(values) = &mut self.data {
            values.push(Some(as_text(&floats)));
            return;
        }
        let width = self.width.unwrap_or(1);
        if floats.len() > width {
            self.widen(floats.len());
        } else if floats.len() < width {
            self.generalise(Kind::Float);
            floats.resize(width, f64::NAN);
        }
        self.generalise(kind);
        match &mut self.data {
            Data::Bools(values) => values.extend(integers.iter().map(|value| *value != 0)),
            Data::Integers(values) => values.extend(integers),
            Data::Floats(values) => values.extend(floats),
            Data::Texts(_) | Data::Bytes(_) => {}
        }
    }

    /// Makes all rows of the column as long as `to`.
    fn widen(&mut self, to: usize) {
        let from = self.width.unwrap_or(1);
        self.width = Some(to);
        if self.rows == 0 {
            return;
        }
        self.generalise(Kind::Float);
        if let Data::Floats(values) = &mut self.data {
            let mut wider = Vec::with_capacity(self.rows * to);
            for row in 0..self.rows {
                wider.extend((0..to).map(|n| {
                    let value = if n < from { values.get(row * from + n) } else { None };
                    value.copied().unwrap_or(f64::NAN)
                }));
            }
            *values = wider;
        }
    }

    /// Converts the column, if necessary, so that it can hold numbers of this kind.
    fn generalise(&mut self, kind: Kind) {
        match (&mut self.data, kind) {
            (Data::Bools(values), Kind::Integer) => {
                self.data = Data::Integers(values.iter().map(|value| i64::from(*value)).collect());
            }
            (Data::Bools(values), Kind::Float) => {
                self.data = Data::Floats(values.iter().map(|value| f64::from(u8::from(*value))).collect());
            }
            (Data::Integers(values), Kind::Float) => {
                self.data = Data::Floats(values.iter().map(|value| *value as f64).collect());
            }
            _ => {}
        }
    }

    /// Converts the column to texts.
    fn make_texts(&mut self) {
        if matches!(self.data, Data::Texts(_) | Data::Bytes(_)) {
            return;
        }
        self.generalise(Kind::Float);
        let Data::Floats(values) = &self.data else { return };
        let texts = match self.width {
            None => values.iter().map(|value| (!value.is_nan()).then(|| value.to_string())).collect(),
            Some(0) => vec![Some(as_text(&[])); self.rows],
            Some(width) => values.chunks(width).map(|row| Some(as_text(row))).collect(),
        };
        (self.data, self.width) = (Data::Texts(texts), None);
    }
}

fn as_text(numbers: &[f64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(f64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}
