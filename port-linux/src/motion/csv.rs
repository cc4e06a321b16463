//! A motion as a table: `t,q0…[,qd0…][,qdd0…]`, a waypoint a line.

use super::{LONGEST, Motion, Row, Unfit, of_rows};

/// Reads a table. A first line of names, blank lines, and lines that begin with `#` are left out.
pub(super) fn read<const N: usize>(text: &str) -> Result<Motion<N>, String> {
    let mut rows: Vec<Row<N>> = Vec::new();
    // The line of each row, for what is wrong only beside the others.
    let mut lines = Vec::new();
    let mut columns = None;
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        let is_names = rows.is_empty() && content.starts_with(|c: char| c.is_ascii_alphabetic());
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = content.split(',').map(str::trim).collect();
        if is_names && columns.is_none() && fields.iter().all(|field| field.parse::<f64>().is_err()) {
            columns = Some((line, check_names::<N>(&fields).map_err(|what| format!("line {line}: {what}"))?));
            continue;
        }
        let (of, count) = *columns.get_or_insert((line, fields.len()));
        check_count::<N>(count).map_err(|what| format!("line {of}: {what}"))?;
        if fields.len() != count {
            return Err(format!("line {line}: found {} numbers, expected {count} as in line {of}", fields.len()));
        }
        rows.push(row(&fields).map_err(|what| format!("line {line}: {what}"))?);
        lines.push(line);
    }
    if !text.is_empty() && !text.ends_with('\n') && lines.last() == Some(&text.lines().count()) {
        // Whoever cuts a file off in the middle of its last number gets another number.
        return Err(format!(
            "line {}: found no end of this line, expected one: is the file whole?",
            text.lines().count()
        ));
    }
    of_rows(&rows).map_err(|unfit| match unfit {
        Unfit::Waypoints(error) => match place(error).and_then(|number| lines.get(number)) {
            Some(line) => format!("line {line}: {error}"),
            None => error.to_string(),
        },
        Unfit::Empty => "found no waypoint, expected lines of t,q0,…".into(),
        Unfit::Beyond { .. } => unfit.to_string(),
    })
}

fn place(error: outrigger_core::trajectory::TrajectoryError) -> Option<usize> {
    use outrigger_core::trajectory::TrajectoryError::{NotAtRest, NotFinite, Order};
    match error {
        Order(number) | NotFinite(number) | NotAtRest { waypoint: number, .. } => usize::try_from(number).ok(),
        _ => None,
    }
}

/// Whether these are the names of a table's columns, in order: how many.
fn check_names<const N: usize>(names: &[&str]) -> Result<usize, String> {
    let joints = |prefix: &'static str| (0..N).map(move |joint| format!("{prefix}{joint}"));
    let expected = std::iter::once("t".to_owned()).chain(joints("q")).chain(joints("qd")).chain(joints("qdd"));
    for (found, expected) in names.iter().zip(expected) {
        if *found != expected {
            return Err(format!("found column '{found}', expected '{expected}'"));
        }
    }
    check_count::<N>(names.len()).map(|()| names.len())
}

fn check_count<const N: usize>(count: usize) -> Result<(), String> {
    let [positions, speeds, accelerations] = [1 + N, 1 + 2 * N, 1 + 3 * N];
    if [positions, speeds, accelerations].contains(&count) {
        return Ok(());
    }
    Err(format!(
        "found {count} columns, expected {positions} (t and {N} angles), {speeds} (and {N} speeds) or {accelerations} \
         (and {N} accelerations)"
    ))
}

fn row<const N: usize>(fields: &[&str]) -> Result<Row<N>, String> {
    let number = |column: usize| -> Result<f64, String> {
        let field = fields.get(column).copied().unwrap_or_default();
        let number: f64 =
            field.parse().map_err(|_| format!("found '{field}' in column {}, expected a number", column + 1))?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(format!("found {field} in column {}, expected a finite number", column + 1))
        }
    };
    let at = number(0)?;
    if !(0.0..=LONGEST).contains(&at) {
        return Err(format!("found time {at}, expected 0 to {LONGEST} s"));
    }
    let group = |first: usize| -> Result<Option<[f32; N]>, String> {
        if fields.len() <= first {
            return Ok(None);
        }
        let mut numbers = [0.0; N];
        for (joint, n) in numbers.iter_mut().enumerate() {
            *n = number(first + joint)? as f32;
        }
        Ok(Some(numbers))
    };
    let positions = group(1)?.ok_or("found no angles")?;
    Ok(Row { at, positions, velocities: group(1 + N)?, accelerations: group(1 + 2 * N)? })
}
