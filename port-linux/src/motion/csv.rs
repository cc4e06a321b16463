//! Reads a motion from a table: one waypoint per line, with a time and the joints.
//!
//! The first line decides the separator: semicolons, else commas, else blanks or tabs. With a separator other than
//! the comma, numbers may have decimal commas. A line `sep=;` (Excel) names the separator.

use std::ops::Range;

use outrigger_core::trajectory::TrajectoryError::{NotAtRest, NotFinite, Order};

use super::read_options::{Zero, number, quoted};
use super::table_columns::{Columns, Comment, DECIMAL_COMMAS, NO_SEPARATOR, OF_UNIT, may_be};
use super::{MOST_POINTS, Motion, MotionError, Reading, Row, micros, of_rows};

/// The longest accepted line of a motion's table \[B\], far beyond that of any table. The limit is checked before the
/// line is split.
const LONGEST_LINE: usize = 1 << 16;

const OTHER_NAMES: &str = "found column names again, expected one header before the first row";

/// Reads a motion from the `text` of a table. The first line may be a header, also as a `#` comment. Blank lines and
/// remarks are skipped. A comment that seems to name columns or a unit and is not valid is rejected, because the
/// numbers could have another meaning.
pub(super) fn read<const N: usize>(text: &str, reading: Reading) -> Result<Motion<N>, String> {
    let mut rows: Vec<Row<N>> = Vec::new();
    // The line of each row, for errors that are found only in the context of other rows.
    let mut lines = Vec::new();
    let (mut separator, mut columns, mut zero) = (None, None::<(usize, Columns)>, Zero::of(reading));
    // `fewest` is the lowest number of columns that every line so far could have.
    let (mut mark, mut has_names, mut fewest) = (None, false, 0);
    // The line of a remark about degrees, until columns in degrees are known.
    let mut mentions_degrees = None;
    for (line, content) in (1..).zip(text.lines()) {
        let placed = |(column, what): (usize, String)| at(line, column, &what);
        if content.len() > LONGEST_LINE {
            let found = content.len();
            return Err(at(line, 1, &format!("found a line of {found} bytes, expected at most {LONGEST_LINE}")));
        }
        if let Some(named) = Separator::named(content).filter(|_| separator.is_none() && rows.is_empty()) {
            separator = Some(named.map_err(placed)?);
            continue;
        }
        let content = content.trim();
        if content.contains('\r') {
            let column = content.chars().take_while(|c| *c != '\r').count() + 1;
            return Err(at(line, column, "found a carriage return alone, expected lines that end in LF or CR LF"));
        }
        if content.starts_with('#') {
            // NumPy writes the header as a comment.
            let comment = content.trim_start_matches('#').trim();
            let names = Separator::of::<N>(comment).split(comment);
            match (Comment::of::<N>(comment, &names).map_err(placed)?, columns) {
                (Comment::Header(named), None) if rows.is_empty() => (columns, has_names) = (Some((line, named)), true),
                (Comment::Header(named), Some((_, known))) if named == known => {}
                (Comment::Header(_), _) => {
                    return Err(at(line, 1, OTHER_NAMES));
                }
                (Comment::Degrees, _) => mentions_degrees = mentions_degrees.or(Some(line)),
                (Comment::Remark, _) => {}
            }
            continue;
        }
        if content.is_empty() {
            continue;
        }
        if separator.is_none() && columns.is_none() && content.starts_with(['{', '[']) {
            return Err(at(line, 1, "found JSON, expected a table: rename the file to .json"));
        }
        let separator = *separator.get_or_insert_with(|| Separator::of::<N>(content));
        let fields = separator.split(content);
        let first = fields.first().copied().unwrap_or_default();
        let is_header = separator.number(first).is_none()
            && (first.is_empty() || first.starts_with(|c: char| c.is_ascii_alphabetic() || c == '"'));
        if rows.is_empty() && is_header {
            match (Columns::named::<N>(&fields), columns) {
                (named, None) => (columns, has_names) = (Some((line, named.map_err(placed)?)), true),
                (Ok(named), Some((_, known))) if named == known => {}
                (Ok(_), Some(_)) => return Err(at(line, 1, OTHER_NAMES)),
                // This is a line of units, or of text.
                (Err(_), Some(_)) => {
                    return Err(at(
                        line,
                        1,
                        &format!("{}{}", not_a_number(first), of_units(&fields).unwrap_or_default()),
                    ));
                }
            }
            continue;
        }
        if let Some(remedy) = of_units(&fields).filter(|_| rows.is_empty() && columns.is_some()) {
            return Err(at(line, 1, &format!("{}{remedy}", not_a_number(first))));
        }
        let ends_in_separator = fields.len() > 1 && fields.last().is_some_and(|last| last.is_empty());
        let (of, known) = match columns {
            Some(known) => known,
            None => {
                let remedy = if ends_in_separator && may_be::<N>(fields.len() - 1) { NO_SEPARATOR } else { "" };
                let columns_of = Columns::unnamed::<N>(fields.len());
                *columns.insert((line, columns_of.map_err(|(at, what)| placed((at, what + remedy)))?))
            }
        };
        if fields.len() != known.count {
            let (found, expected) = (fields.len(), known.count);
            let may_be_halves = separator == Separator::Comma && found > expected && !content.contains('.');
            let remedy = match (ends_in_separator && found == expected + 1, may_be_halves) {
                (true, _) => NO_SEPARATOR,
                (false, true) => DECIMAL_COMMAS,
                (false, false) => "",
            };
            return Err(at(
                line,
                found.min(expected) + 1,
                &format!("found {found} numbers, expected {expected} as in line {of}{remedy}"),
            ));
        }
        separator.one_mark(&fields, line, &mut mark).map_err(placed)?;
        let decimals = if separator == Separator::Comma { most_decimals(&fields) } else { 0 };
        fewest = fewest.max(fields.len() - decimals);
        zero.is_first |= known.is_clock;
        let degrees = known.is_degrees.map(|is_degrees| is_degrees || reading.degrees);
        let row = row(&fields, separator, &mut zero, degrees).map_err(placed)?;
        // A table that is too long takes no more memory.
        if rows.len() == MOST_POINTS {
            let what = format!("found more than {MOST_POINTS} rows, expected at most that: split the motion");
            return Err(at(line, 1, &what));
        }
        if rows.last().is_some_and(|before| micros(row.at) <= micros(before.at)) {
            if !has_names {
                not_ambiguous::<N>(&lines, fewest..known.count)?;
            }
            let number = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            return Err(at(line, 1, &MotionError::Waypoints(Order(number)).to_string()));
        }
        rows.push(row);
        lines.push(line);
    }
    if let (Some(line), Some((_, known))) = (mentions_degrees, columns)
        && !reading.degrees
        && !known.is_degrees[0]
    {
        let what = "found a comment that mentions degrees, and numbers that would be read in rad: use --degrees, name the columns \
                    with the suffix _deg, or remove the comment";
        return Err(at(line, 1, what));
    }
    if let Some((_, known)) = columns.filter(|_| !has_names) {
        not_ambiguous::<N>(&lines, fewest..known.count)?;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let (line, last) = text.lines().enumerate().last().map_or((1, ""), |(number, last)| (number + 1, last));
        if lines.last() == Some(&line) {
            // If the file was cut off inside its last number, that number would be wrong.
            let what = "found no newline at the end, expected one: is the file complete? If it is, add a newline";
            return Err(at(line, last.chars().count() + 1, what));
        }
    }
    of_rows(&rows).map_err(|unfit| {
        let place = match unfit {
            MotionError::Waypoints(Order(number) | NotFinite(number)) => Some((number, 1)),
            MotionError::Waypoints(NotAtRest { waypoint, joint }) => Some((waypoint, 2 + N + usize::from(joint))),
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

/// Rejects a table without a header whose lines could also have one of these `counts` of columns, if some of their
/// commas were decimal commas.
fn not_ambiguous<const N: usize>(lines: &[usize], mut counts: Range<usize>) -> Result<(), String> {
    match lines.first() {
        Some(line) if counts.any(may_be::<N>) => {
            let what = "found only whole numbers between commas, which may be decimal commas, expected decimal points: separate the \
                        columns by semicolons or tabs if they are; if not, write one number with a point, or write a header above them";
            Err(at(*line, 1, what))
        }
        _ => Ok(()),
    }
}

/// Returns how many commas of a line could be decimal commas at most, e.g. 1 of `1,5,2`. `fields` is the line, split at
/// every comma. A comma can always be a separator instead, so each smaller number is possible, too.
fn most_decimals(fields: &[&str]) -> usize {
    let is_digits = |field: &str| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
    // The exponent of a number with a decimal comma is after its decimals.
    let is_whole = |field: &str| match field.split_once(['e', 'E']) {
        Some((digits, exponent)) => is_digits(digits) && is_digits(unsigned(exponent)),
        None => is_digits(field),
    };
    if !fields.iter().all(|field| is_whole(unsigned(field))) {
        return 0;
    }
    let (mut decimals, mut is_free) = (0, false);
    for field in fields {
        let is_decimals = is_free && is_whole(field);
        decimals += usize::from(is_decimals);
        is_free = !is_decimals && is_digits(unsigned(field));
    }
    decimals
}

/// Returns a number of a table without its sign.
fn unsigned(number: &str) -> &str {
    number.strip_prefix(['-', '+']).unwrap_or(number)
}

/// Returns `true` if each comma in `text` is between two digits, as a decimal comma is.
fn has_decimal_commas(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |place: Option<usize>| place.and_then(|place| bytes.get(place)).is_some_and(u8::is_ascii_digit);
    let commas = bytes.iter().enumerate().filter(|(_, byte)| **byte == b',');
    commas.map(|(place, _)| place).all(|place| digit(place.checked_sub(1)) && digit(Some(place + 1)))
}

fn at(line: usize, column: usize, what: &str) -> String {
    format!("line {line}, column {column}: {what}")
}

/// A separator between the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Separator {
    Semicolon,
    Blanks,
    Comma,
}

impl Separator {
    /// Returns the separator that a line of a spreadsheet names, such as `sep=;`.
    fn named(line: &str) -> Option<Result<Self, (usize, String)>> {
        let line = line.trim_matches(['"', '\r', '\n']);
        let (name, separator) = line.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("sep"))?;
        Some(match separator {
            ";" => Ok(Self::Semicolon),
            "," => Ok(Self::Comma),
            "\t" => Ok(Self::Blanks),
            _ => {
                let separator = quoted(separator, 40);
                Err((name.len() + 2, format!("found the separator '{separator}', expected ; or , or a tab")))
            }
        })
    }

    /// Rejects a number of a table with another decimal mark than the numbers before it. `mark` is the first one, with
    /// its line.
    fn one_mark(self, fields: &[&str], line: usize, mark: &mut Option<(char, usize)>) -> Result<(), (usize, String)> {
        if self == Self::Comma {
            return Ok(());
        }
        for (column, field) in (1..).zip(fields) {
            let Some(found) = field.chars().find(|c| ['.', ','].contains(c)) else { continue };
            let (first, of) = *mark.get_or_insert((found, line));
            if found != first && self.number(field).is_some() {
                let (field, name) = (quoted(field, 40), if first == ',' { "comma" } else { "point" });
                let what = format!(
                    "found '{field}', expected a decimal {name} as in line {of}; use one decimal mark in the whole table"
                );
                return Err((column, what));
            }
        }
        Ok(())
    }

    /// Returns the column separator of a table whose first line is `line`.
    fn of<const N: usize>(line: &str) -> Self {
        let has = |separator| line.contains(separator);
        match (has(';'), has(',')) {
            (true, _) => Self::Semicolon,
            (false, false) => Self::Blanks,
            // Blanks or tabs separate numbers with decimal commas.
            (false, true) if may_be::<N>(line.split_whitespace().count()) && has_decimal_commas(line) => Self::Blanks,
            (false, true) => Self::Comma,
        }
    }

    fn split(self, line: &str) -> Vec<&str> {
        match self {
            Self::Semicolon => line.split(';').map(str::trim).collect(),
            // A cell between two tabs may be empty.
            Self::Blanks if line.contains('\t') => line.split('\t').map(str::trim).collect(),
            Self::Blanks => line.split_whitespace().collect(),
            Self::Comma => line.split(',').map(str::trim).collect(),
        }
    }

    fn number(self, field: &str) -> Option<f64> {
        field.parse().ok().or_else(|| match self {
            Self::Semicolon | Self::Blanks if !field.contains('.') && has_decimal_commas(field) => {
                field.replacen(',', ".", 1).parse().ok()
            }
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
    let parsed = |place: usize| -> Result<f64, (usize, String)> {
        let field = fields.get(place).copied().unwrap_or_default();
        separator.number(field).ok_or_else(|| (place + 1, not_a_number(field)))
    };
    let at = zero.seconds(parsed(0)?).map_err(|what| (1, what))?;
    let mut groups = [None; 3];
    for (group, (numbers, is_degrees)) in groups.iter_mut().zip(degrees).enumerate() {
        let first = 1 + group * N;
        if fields.len() <= first {
            break;
        }
        let values = numbers.insert([0.0; N]);
        for (place, value) in (first..).zip(values) {
            *value = number(parsed(place)?, is_degrees).map_err(|what| (place + 1, what))?;
        }
    }
    let [positions, velocities, accelerations] = groups;
    let positions = positions.ok_or_else(|| (1, "found no angles".to_owned()))?;
    Ok(Row { at, positions, velocities, accelerations })
}

/// Returns the advice for a line of a table that consists of units. `None` for any other line.
fn of_units(fields: &[&str]) -> Option<String> {
    let (mut are_read, mut has_brackets) = (true, true);
    for field in fields {
        let unit = field.trim_matches(['"', '[', ']', '(', ')', ' ']).to_lowercase();
        are_read &= ["s", "sec", "seconds", "rad", "radians", "rad/s", "rad/s²", "rad/s^2"].contains(&unit.as_str());
        has_brackets &= field.trim_start_matches('"').starts_with(['[', '(']);
    }
    match (are_read, has_brackets) {
        (true, _) => Some("; remove the line of units".into()),
        (false, true) => Some(format!("; {OF_UNIT}, and remove the line of units")),
        (false, false) => None,
    }
}

fn not_a_number(field: &str) -> String {
    let more = if field.contains(|c: char| c.is_whitespace()) {
        "; separate all columns by commas, or all by semicolons or blanks"
    } else if field.starts_with('"') {
        " without quotation marks"
    } else {
        ""
    };
    format!("found '{}', expected a number{more}", quoted(field, 40))
}
