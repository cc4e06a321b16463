//! Reads readings from a file: a table with times, or lines as a sensor sends them.

use std::time::Duration;

use outrigger_sim::sensor::{Row, Rows, VALUES_MAX};
use outrigger_wire::sensor::Reading;

/// Parses a file of readings: a table if the first line of `text` with content begins with a column `t`, else lines,
/// which are due at `rate` \[Hz\]. If `again` is `true`, the readings are repeated from the beginning after their end.
///
/// # Errors
/// Returns a description of the error, with the number of the line.
pub(super) fn read(text: &str, rate: Option<f64>, again: bool) -> Result<Rows, String> {
    let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
    let head = lines.peek().map(|(_, line)| columns(line).collect::<Vec<_>>()).unwrap_or_default();
    let is_table = head.first().is_some_and(|first| *first == "t");
    let mut rows = Vec::new();
    let period = Duration::from_secs_f64(1.0 / rate.unwrap_or(super::RATE));
    if is_table {
        if rate.is_some() {
            return Err("a table contains its times: omit --rate".into());
        }
        let (number, _) = lines.next().unwrap_or_default();
        let table = Table::of(&head).map_err(|problem| format!("line {number}: {problem}"))?;
        for (number, line) in lines {
            rows.push(table.row(line, rows.last()).map_err(|problem| format!("line {number}: {problem}"))?);
        }
        let first = rows.first().map(|row: &Row| row.at).unwrap_or_default();
        rows.iter_mut().for_each(|row| row.at = row.at.saturating_sub(first));
    } else {
        for (number, line) in lines {
            let at = period.saturating_mul(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let row = of_line(line, at, rows.last()).map_err(|problem| format!("line {number}: {problem}"))?;
            rows.push(row);
        }
    }
    let Some(last) = rows.last() else { return Err("the file contains no reading".into()) };
    // The repetition follows the last row after the same time as that row follows the one before.
    let before = rows.len().checked_sub(2).and_then(|place| rows.get(place));
    let lasts = before.map_or(period, |before| last.at.saturating_sub(before.at));
    let again = again.then(|| last.at + lasts);
    if again.is_some_and(|again| again.is_zero()) {
        return Err("all times are equal: the file cannot be looped".into());
    }
    Ok(Rows { rows, own_unit: !is_table, again })
}

fn columns(line: &str) -> impl Iterator<Item = &str> {
    line.split([',', ';', '\t']).map(|word| word.trim().trim_matches('"'))
}

/// The columns of a table of readings: `t`, then `seq` if there is one, then one to six values.
struct Table {
    columns: usize,
    seq: bool,
}

impl Table {
    fn of(head: &[&str]) -> Result<Self, String> {
        let seq = head.get(1).is_some_and(|second| *second == "seq");
        let values = head.len().saturating_sub(1 + usize::from(seq));
        if (1..=VALUES_MAX).contains(&values) {
            Ok(Self { columns: head.len(), seq })
        } else {
            Err(format!("{values} columns of values, expected 1 to {VALUES_MAX}: t,v0,... or t,seq,v0,..."))
        }
    }

    fn row(&self, line: &str, before: Option<&Row>) -> Result<Row, String> {
        let words: Vec<&str> = columns(line).collect();
        if words.len() != self.columns {
            return Err(format!("{} columns, expected {} as in the first line", words.len(), self.columns));
        }
        let number = |word: &str| word.parse::<f64>().map_err(|_| format!("'{word}' is not a number"));
        let mut words = words.into_iter();
        let time = words.next().unwrap_or_default();
        let at = Duration::try_from_secs_f64(number(time)?)
            .map_err(|_| format!("'{time}' is not a time in s of at least 0"))?;
        if before.is_some_and(|before| at < before.at) {
            return Err(format!("t goes back to {time} s"));
        }
        let seq = self.seq.then(|| words.next().unwrap_or_default());
        let seq = seq.map(|word| word.parse().map_err(|_| format!("'{word}' is not a sequence number"))).transpose()?;
        Ok(Row { at, seq, values: words.map(number).collect::<Result<_, _>>()? })
    }
}

fn of_line(line: &str, at: Duration, before: Option<&Row>) -> Result<Row, String> {
    let reading = Reading::from_line(line.as_bytes(), 0).map_err(|why| format!("{why}: '{line}'"))?;
    let reading = reading.ok_or("nothing")?;
    let seq = line.starts_with("seq=").then_some(reading.seq);
    let values: Vec<f64> = reading.value.as_slice().iter().copied().map(f64::from).collect();
    let same = before.is_none_or(|before| before.values.len() == values.len() && before.seq.is_some() == seq.is_some());
    if !same {
        return Err("the number of values changed, or only some lines have seq=".into());
    }
    Ok(Row { at, seq, values })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(millis: u64, seq: Option<u32>, values: &[f64]) -> Row {
        Row { at: Duration::from_millis(millis), seq, values: values.to_vec() }
    }

    #[test]
    fn a_table_has_times_of_its_own_from_its_first_row_on() {
        let text = "# made on a bench\nt,fx,fy\n100.5,1,-2\n100.504,1.5,nan\n\n100.512,2,3\n";
        let rows = read(text, None, true).expect("a table");
        assert_eq!(rows.rows[0], row(0, None, &[1.0, -2.0]));
        assert!(
            rows.rows[1].values[1].is_nan()
                && rows.rows[1].at.abs_diff(Duration::from_millis(4)) < Duration::from_micros(1)
        );
        assert!(!rows.own_unit);
        let again = rows.again.expect("looped");
        assert!(again.abs_diff(Duration::from_millis(20)) < Duration::from_micros(1), "{again:?}");
        let numbered = read("t;seq;v\n0;7;1\n", None, false).expect("a table");
        assert_eq!((numbered.rows, numbered.again), (vec![row(0, Some(7), &[1.0])], None));
    }

    #[test]
    fn lines_are_readings_as_a_sensor_sends_them() {
        let rows = read("seq=7 50.25\r\n# warm\nseq=9 50.5\n", Some(50.0), true).expect("lines");
        assert_eq!(rows.rows, [row(0, Some(7), &[50.25]), row(20, Some(9), &[50.5])]);
        assert_eq!((rows.own_unit, rows.again), (true, Some(Duration::from_millis(40))));
        assert_eq!(read("1 2 3\n", None, false).expect("a line").rows, [row(0, None, &[1.0, 2.0, 3.0])]);
    }

    #[test]
    fn what_cannot_be_replayed_is_told_with_its_line() {
        for (text, expected) in [
            ("", "the file contains no reading"),
            ("t,v\n", "the file contains no reading"),
            ("t\n0\n", "line 1: 0 columns of values"),
            ("t,a,b,c,d,e,f,g\n", "line 1: 7 columns of values"),
            ("t,v\n0,1\n1\n", "line 3: 1 columns, expected 2"),
            ("t,v\n0,1\n1,x\n", "line 3: 'x' is not a number"),
            ("t,v\n1,1\n0.5,1\n", "line 3: t goes back to 0.5 s"),
            ("t,v\n-1,1\n", "line 2: '-1' is not a time"),
            ("t,seq,v\n0,-1,1\n", "line 2: '-1' is not a sequence number"),
            ("1\n1 2\n", "line 2: the number of values changed"),
            ("seq=1 1\n2\n", "line 2: the number of values changed"),
            ("0.05\n12 mm\n", "line 2: word 2 is not a number: '12 mm'"),
        ] {
            let error = read(text, None, false).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(read("t,v\n0,1\n", Some(10.0), false).expect_err("two times").contains("omit --rate"));
        assert!(read("t,v\n0,1\n0,2\n", None, true).expect_err("no time").contains("cannot be looped"));
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "(t,v0\n|seq=|[0-9.,e \n;-]|nan|\\PC){0,40}", again: bool) {
            let _ = read(&text, None, again);
        }
    }
}
