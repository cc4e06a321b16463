//! A motion as a table: one waypoint per line, with a time and the joints.
//!
//! The first line decides the separator: semicolons, else commas, else blanks or tabs. With a separator other than the comma, numbers
//! may have decimal commas.

use outrigger_core::trajectory::TrajectoryError::{NotAtRest, NotFinite, Order};

use super::columns::{Columns, may_be};
use super::reading::Zero;
use super::{Motion, Reading, Row, Unfit, of_rows};

/// Reads a table. The first line may be a header, also as a `#` comment; blank lines and other comments are skipped.
pub(super) fn read<const N: usize>(text: &str, reading: Reading) -> Result<Motion<N>, String> {
    let mut rows: Vec<Row<N>> = Vec::new();
    // The line of each row, for what is wrong only beside the others.
    let mut lines = Vec::new();
    let (mut separator, mut columns, mut zero) = (None, None, Zero::of(reading));
    for (line, content) in (1..).zip(text.lines()) {
        let placed = |(column, what): (usize, String)| at(line, column, &what);
        let content = content.trim();
        if let Some(comment) = content.strip_prefix('#') {
            // NumPy writes the header as a comment.
            if columns.is_none() && rows.is_empty() {
                let names = Separator::of::<N>(comment.trim());
                if let Ok(named) = Columns::named::<N>(&names.split(comment.trim())) {
                    columns = Some((line, named));
                }
            }
            continue;
        }
        if content.is_empty() {
            continue;
        }
        if separator.is_none() && content.starts_with(['{', '[']) {
            return Err(at(line, 1, "found JSON, expected a table: rename the file to .json"));
        }
        let separator = *separator.get_or_insert_with(|| Separator::of::<N>(content));
        let fields = separator.split(content);
        if rows.is_empty() && columns.is_none() && content.starts_with(|c: char| c.is_ascii_alphabetic() || c == '"') {
            columns = Some((line, Columns::named::<N>(&fields).map_err(placed)?));
            continue;
        }
        let (of, known) = match columns {
            Some(known) => known,
            None => *columns.insert((line, Columns::unnamed::<N>(fields.len()).map_err(placed)?)),
        };
        if fields.len() != known.count {
            let (found, expected) = (fields.len(), known.count);
            return Err(at(
                line,
                found.min(expected) + 1,
                &format!("found {found} numbers, expected {expected} as in line {of}"),
            ));
        }
        zero.is_first |= known.is_clock;
        let degrees = known.is_degrees.map(|is_degrees| is_degrees || reading.degrees);
        rows.push(row(&fields, separator, &mut zero, degrees).map_err(placed)?);
        lines.push(line);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let (line, last) = text.lines().enumerate().last().map_or((1, ""), |(number, last)| (number + 1, last));
        if lines.last() == Some(&line) {
            // A file cut off inside its last number would yield another number.
            let what = "found no end of this line, expected one: is the file whole? If it is, add a newline";
            return Err(at(line, last.chars().count() + 1, what));
        }
    }
    of_rows(&rows).map_err(|unfit| {
        let place = match unfit {
            Unfit::Waypoints(Order(number) | NotFinite(number)) => Some((number, 1)),
            Unfit::Waypoints(NotAtRest { waypoint, joint }) => Some((waypoint, 2 + N + usize::from(joint))),
            _ => None,
        };
        let line = place.and_then(|(number, column)| Some((lines.get(usize::try_from(number).ok()?)?, column)));
        match line {
            Some((line, column)) => at(*line, column, &unfit.to_string()),
            None if rows.is_empty() => "found no waypoint, expected lines of t,q0,…".into(),
            None => unfit.to_string(),
        }
    })
}

fn at(line: usize, column: usize, what: &str) -> String {
    format!("line {line}, column {column}: {what}")
}

/// A column separator.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Separator {
    Semicolon,
    Blanks,
    Comma,
}

impl Separator {
    /// Returns the separator of a table with this first line.
    fn of<const N: usize>(line: &str) -> Self {
        let has = |separator| line.contains(separator);
        match (has(';'), has(',')) {
            (true, _) => Self::Semicolon,
            (false, false) => Self::Blanks,
            // Tabs between numbers with decimal commas.
            (false, true) if has('\t') && may_be::<N>(line.split_whitespace().count()) && !line.contains(",\t") => {
                Self::Blanks
            }
            (false, true) => Self::Comma,
        }
    }

    fn split(self, line: &str) -> Vec<&str> {
        match self {
            Self::Semicolon => line.split(';').map(str::trim).collect(),
            Self::Blanks => line.split_whitespace().collect(),
            Self::Comma => line.split(',').map(str::trim).collect(),
        }
    }

    fn number(self, field: &str) -> Option<f64> {
        field.parse().ok().or_else(|| match self {
            Self::Semicolon | Self::Blanks if !field.contains('.') => field.replacen(',', ".", 1).parse().ok(),
            _ => None,
        })
    }
}

fn row<const N: usize>(
    fields: &[&str],
    separator: Separator,
    zero: &mut Zero,
    degrees: [bool; 3],
) -> Result<Row<N>, (usize, String)> {
    let number = |place: usize| -> Result<f64, (usize, String)> {
        let field = fields.get(place).copied().unwrap_or_default();
        let number = separator.number(field).ok_or_else(|| (place + 1, not_a_number(field)))?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err((place + 1, format!("found {field}, expected a finite number")))
        }
    };
    let at = zero.seconds(number(0)?).map_err(|what| (1, what))?;
    let mut groups = [None; 3];
    for (group, (numbers, is_degrees)) in groups.iter_mut().zip(degrees).enumerate() {
        let first = 1 + group * N;
        if fields.len() <= first {
            break;
        }
        let values = numbers.insert([0.0; N]);
        for (joint, value) in values.iter_mut().enumerate() {
            let found = number(first + joint)?;
            *value = if is_degrees { found.to_radians() } else { found } as f32;
            if !value.is_finite() {
                return Err((
                    first + joint + 1,
                    format!("found {found:e}, expected a number that fits 32-bit floating point"),
                ));
            }
        }
    }
    let [positions, velocities, accelerations] = groups;
    let positions = positions.ok_or_else(|| (1, "found no angles".to_owned()))?;
    Ok(Row { at, positions, velocities, accelerations })
}

fn not_a_number(field: &str) -> String {
    let more = if field.contains(|c: char| c.is_whitespace()) {
        "; separate all columns by commas, or all by semicolons or blanks"
    } else if field.starts_with('"') {
        " without quotation marks"
    } else {
        ""
    };
    format!("found '{field}', expected a number{more}")
}
