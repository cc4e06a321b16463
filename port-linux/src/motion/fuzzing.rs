//! Checks of motions for the fuzz targets in `fuzz/host`. Compiled by cargo-fuzz only, and not part of the API.

use std::path::PathBuf;

use outrigger_core::command::Limits;
use outrigger_core::trajectory::{Spacing, Waypoint};
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

use super::motion_text::{Piece, Pieces, waypoint};
use super::motion_thinning::thinned;
use super::{Motion, Reading};

/// The maximum length of a text for people that a fuzz target accepts \[characters\].
const LONGEST_ERROR: usize = 8_192;

/// The largest number in a motion up to which a fuzz target converts the motion to other forms and compares the result.
/// A file has no larger numbers, but speeds that are computed from it may be larger.
const LARGEST_NUMBER: f32 = 1e6;

/// Returns the path of a scratch file of this process, for readers that need a file.
pub fn scratch(kind: &str) -> PathBuf {
    std::env::temp_dir().join(format!("outrigger-fuzz-{}.{kind}", std::process::id()))
}

/// Writes these bytes to a scratch file for fuzzing, and returns its path.
pub fn file(kind: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch(kind);
    std::fs::write(&path, bytes).expect("room for a file");
    path
}

/// Asserts that a text for people is one line of reasonable length, without control characters.
pub fn assert_line(text: &str) {
    assert!(!text.is_empty() && text.chars().count() <= LONGEST_ERROR, "{} bytes: {text:.200}", text.len());
    assert!(!text.chars().any(char::is_control), "a control character: {text:?}");
}

/// Reads a motion as a table or as JSON. The first byte selects the form, the number of joints and the options.
///
/// Asserts that a motion is finite, in the order of time, ends at rest, and is the same after a conversion to the
/// pieces of a request and to a table. Asserts that an error is one line, and that an error about a table names a
/// line of it.
pub fn motion(bytes: &[u8]) {
    let Some((how, bytes)) = bytes.split_first() else { return };
    match (how >> 3) % 3 {
        0 => motion_of::<6>(*how, bytes),
        1 => motion_of::<7>(*how, bytes),
        _ => motion_of::<2>(*how, bytes),
    }
}

fn motion_of<const N: usize>(how: u8, bytes: &[u8]) {
    let [is_json, degrees, from_first_time] = [1, 2, 4].map(|bit| how & bit != 0);
    let reading = Reading { degrees, from_first_time };
    let read = if reading == Reading::default() {
        Motion::<N>::parse(bytes, is_json)
    } else {
        let path = file(if is_json { "json" } else { "csv" }, bytes);
        Motion::<N>::read_as(&path, reading).map_err(|failure| {
            let text = failure.to_string();
            let what = text.strip_prefix(&format!("{}: ", path.display()));
            what.unwrap_or_else(|| panic!("no file: {text}")).to_owned()
        })
    };
    match read {
        Ok(motion) => assert_motion(&motion),
        Err(what) => {
            assert_line(&what);
            let is_placed = what.split_once(", column ").is_some_and(|(line, rest)| {
                let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
                let line = line.strip_prefix("line ").and_then(number);
                let column = rest.split_once(": ").and_then(|(column, _)| number(column));
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
                column.is_some() && line.is_some_and(|line| line <= lines)
            });
            let is_whole = is_json || what.starts_with("found no waypoint, ") || what.starts_with("found a byte 0, ");
            assert!(is_placed || is_whole, "no place: {what}");
        }
    }
}

/// Asserts the properties of every motion that is accepted from a file.
pub fn assert_motion<const N: usize>(motion: &Motion<N>) {
    let waypoints = motion.waypoints();
    let (first, last) = (waypoints.first().expect("a waypoint"), waypoints.last().expect("a waypoint"));
    assert!(waypoints.windows(2).all(|pair| pair[0].at < pair[1].at), "in order");
    assert!(last.at <= Duration::from_secs(86_400), "a day at most");
    let speeds = |at: &Waypoint<N>| at.setpoint.velocities.iter().any(|speed| speed != 0.0);
    assert!(!speeds(last) && (first.at > Duration::ZERO || !speeds(first)), "it ends, and begins, at rest");
    motion.tolerances().check().expect("tolerances in range");
    let numbers = || {
        waypoints.iter().flat_map(|at| {
            let accelerations = at.accelerations.iter().flat_map(|accelerations| accelerations.iter());
            at.setpoint.positions.iter().chain(at.setpoint.velocities.iter()).chain(accelerations)
        })
    };
    assert!(numbers().all(f32::is_finite));

    if let Err(unfit) = motion.check(&Limits::default()) {
        assert_line(&unfit.with_remedy());
    }
    let from_rest = motion.clone().from_rest_at(JointPositions::ZERO);
    if from_rest.waypoints().len() > 1 {
        let (_, count) = from_rest.beginning().expect("waypoints of a motion");
        assert!((2..=from_rest.waypoints().len()).contains(&count));
    }
    if let Ok(spaced) = motion.clone().spaced(&Spacing::for_cycle(Duration::from_millis(100), 0.1)) {
        assert_eq!((spaced.goal(), spaced.duration()), (motion.goal(), motion.duration()));
    }
    if let Ok(kept) = thinned(waypoints.to_vec()) {
        assert_eq!(kept.last(), Some(last));
    }

    // Speeds that are not given are computed from slopes, which may be larger than the numbers accepted in a file.
    if numbers().any(|number| number.abs() > LARGEST_NUMBER) {
        return;
    }
    let Pieces { begin, rows } = Pieces::of(motion.clone()).expect("few enough");
    let Some(Ok(Piece::<N>::Begin(heading))) = Piece::of(&begin) else { panic!("{begin}") };
    let mut sent = vec![];
    for piece in rows {
        let Some(Ok(Piece::<N>::Rows(rows))) = Piece::of(&piece) else { panic!("{piece}") };
        sent.extend(rows.split(' ').map(|row| waypoint::<N>(row).unwrap_or_else(|what| panic!("{row}: {what}"))));
    }
    assert_eq!(heading.count, sent.len());
    let again = Motion::through(sent).expect("a motion").with_tolerances(heading.tolerances);
    assert_eq!(again, *motion, "the same in pieces");

    let accelerations = waypoints.iter().filter(|at| at.accelerations.is_some()).count();
    // A table has accelerations in every row or in none, no tolerances, and starts within a minute.
    if (accelerations == 0 || accelerations == waypoints.len()) && first.at <= Duration::from_secs(60) {
        let again = Motion::<N>::parse(table(motion, accelerations > 0).as_bytes(), false);
        assert_eq!(again.map(|again| again.with_tolerances(*motion.tolerances())).as_ref(), Ok(motion), "as a table");
    }
}

/// Formats a motion as a table of waypoints.
fn table<const N: usize>(motion: &Motion<N>, has_accelerations: bool) -> String {
    let groups = if has_accelerations { &["q", "qd", "qdd"][..] } else { &["q", "qd"] };
    let mut text = String::from("t");
    for group in groups {
        (0..N).for_each(|joint| text.push_str(&format!(",{group}{joint}")));
    }
    text.push('\n');
    for at in motion.waypoints() {
        let micros = at.at.as_micros();
        text.push_str(&format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000));
        let accelerations = at.accelerations.iter().flat_map(|accelerations| accelerations.iter());
        for number in at.setpoint.positions.iter().chain(at.setpoint.velocities.iter()).chain(accelerations) {
            text.push_str(&format!(",{:e}", f64::from(number)));
        }
        text.push('\n');
    }
    text
}
