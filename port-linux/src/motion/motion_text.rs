//! The form in which a client sends a motion to a run (a process that commands the robot): pieces of text, with a
//! beginning, rows of waypoints, and an end.
//!
//! `begin=COUNT` has the number of waypoints, and tolerances if the motion has its own. `rows=` has waypoints
//! separated by blanks, each `time,angles,speeds` or `time,angles,speeds,accelerations`. `end` confirms that these
//! were all. Numbers are preserved exactly.

use std::fmt::Write as _;
use std::iter::from_fn;

use outrigger_core::trajectory::{Setpoint, Tolerances, Waypoint};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};
use outrigger_wire::time::Duration;

use super::read_options::{number, quoted, short};
use super::{LONGEST, MOST_POINTS, Motion, micros};

/// The longest piece of a motion \[B\]. A request of 1024 bytes has room for it and for its other keys.
const LONGEST_PIECE: usize = 900;
/// The number of characters of a motion's piece that an error message repeats.
const SHOWN: usize = 40;

/// The first piece of a motion: the number of waypoints, and the tolerances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heading<const N: usize> {
    /// The number of waypoints that follow in further pieces.
    pub(crate) count: usize,
    /// The joint tolerances of the motion.
    pub(crate) tolerances: Tolerances<N>,
}

/// A piece of a motion that a client sends in several lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece<'t, const N: usize> {
    /// The beginning of a motion, before its waypoints.
    Begin(Heading<N>),
    /// Waypoints of a motion, separated by blanks. See [`waypoint`].
    Rows(&'t str),
    /// The end of a motion, after its waypoints.
    End,
}

impl<'t, const N: usize> Piece<'t, N> {
    /// Parses a line with a piece of a motion that a client sends. Returns `None` for any other text.
    ///
    /// # Errors
    /// Returns what was expected, for a beginning that is not valid.
    pub(crate) fn of(text: &'t str) -> Option<Result<Self, String>> {
        if text.starts_with("begin=") {
            Some(Heading::of(text).map(Self::Begin))
        } else if let Some(rows) = text.strip_prefix("rows=") {
            Some(Ok(Self::Rows(rows)))
        } else {
            (text == "end").then_some(Ok(Self::End))
        }
    }
}

impl<const N: usize> Heading<N> {
    fn of(text: &str) -> Result<Self, String> {
        let (mut count, mut tolerances) = (0, Tolerances::DEFAULT);
        for word in text.split_ascii_whitespace() {
            match word.split_once('=') {
                Some(("begin", value)) => {
                    let known = value.parse().ok().filter(|count| (1..=MOST_POINTS).contains(count));
                    let expected = || format!("begin: expected 1 to {MOST_POINTS} waypoints, found '{}'", shown(value));
                    count = known.ok_or_else(expected)?;
                }
                Some((name @ "path", value)) => tolerances.path = angles(name, value)?,
                Some((name @ "goal", value)) => tolerances.goal = angles(name, value)?,
                Some(("goal-time", value)) => tolerances.goal_time = Some(seconds(value)?),
                _ => return Err(format!("expected begin=, path=, goal= and goal-time=, found '{}'", shown(word))),
            }
        }
        tolerances.check().map_err(|error| error.to_string())?;
        Ok(Self { count, tolerances })
    }
}

fn shown(text: &str) -> String {
    quoted(text, SHOWN)
}

fn angles<const N: usize>(name: &str, value: &str) -> Result<JointPositions<N>, String> {
    let each = value.split(',').map(|angle| angle.parse().ok());
    let angles = each.collect::<Option<Vec<f32>>>().and_then(|angles| angles.try_into().ok());
    angles.map(JointPositions).ok_or_else(|| format!("{name}: expected {N} angles in rad, found '{}'", shown(value)))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let known = text.parse::<f64>().map_err(|_| format!("found time '{}', expected a number", shown(text)))?;
    if !(0.0..=LONGEST).contains(&known) {
        return Err(format!("found time {} s, expected 0 to {LONGEST} s", short(known)));
    }
    Ok(micros(known))
}

/// Parses a waypoint of a motion that a client sends: `time,angles,speeds` or `time,angles,speeds,accelerations`.
///
/// # Errors
/// Returns what was found, and what was expected.
pub(crate) fn waypoint<const N: usize>(row: &str) -> Result<Waypoint<N>, String> {
    let (count, without, with) = (row.split(',').count(), 1 + 2 * N, 1 + 3 * N);
    if count != without && count != with {
        return Err(format!(
            "found {count} numbers in '{}', expected {without} (time, {N} angles, {N} speeds) or {with} (and {N} accelerations)",
            shown(row)
        ));
    }
    let mut numbers = row.split(',');
    let at = seconds(numbers.next().unwrap_or_default())?;
    let mut next = || {
        let mut some = [0.0; N];
        for place in &mut some {
            let text = numbers.next().unwrap_or_default();
            let known = text.parse::<f32>().map_err(|_| format!("found '{}', expected a number", shown(text)))?;
            *place = number(f64::from(known), false)?;
        }
        Ok::<_, String>(some)
    };
    let setpoint = Setpoint { positions: JointPositions(next()?), velocities: JointVelocities(next()?) };
    let accelerations = (count == with).then(|| next().map(JointAccelerations)).transpose()?;
    Ok(Waypoint { setpoint, accelerations, at })
}

/// A motion as the sequence of text pieces in which a client sends it.
pub struct Pieces {
    /// The first piece of the motion: the number of waypoints, and the tolerances.
    pub begin: String,
    /// The text pieces between [`begin`](Self::begin) and [`END`](Self::END): they contain the motion's waypoints. They
    /// are created on demand.
    pub rows: Box<dyn Iterator<Item = String>>,
}

impl Pieces {
    /// The last piece of every motion, which contains no waypoints.
    pub const END: &'static str = "end";

    /// Creates the text pieces in which a motion is sent.
    ///
    /// # Errors
    /// Returns a message for more waypoints than a run accepts.
    pub fn of<const N: usize>(motion: Motion<N>) -> Result<Self, String> {
        let count = motion.waypoints().len();
        if count > MOST_POINTS {
            return Err(format!("found {count} waypoints, expected at most {MOST_POINTS}: split the motion"));
        }
        let mut begin = format!("begin={count}");
        let Tolerances { path, goal, goal_time } = *motion.tolerances();
        if *motion.tolerances() != Tolerances::DEFAULT {
            for (name, angles) in [("path", path), ("goal", goal)] {
                begin.push_str(&format!(" {name}="));
                put(&mut begin, angles.iter());
            }
            if let Some(time) = goal_time {
                begin.push_str(" goal-time=");
                put_seconds(&mut begin, time);
            }
        }
        let (mut waypoints, mut next) = (motion.into_waypoints().into_iter(), String::new());
        let rows = from_fn(move || {
            let mut piece = String::with_capacity(LONGEST_PIECE);
            piece.push_str("rows=");
            loop {
                if next.is_empty() {
                    match waypoints.next() {
                        Some(waypoint) => put_waypoint(&mut next, &waypoint),
                        None => break,
                    }
                }
                let is_first = piece.ends_with('=');
                if !is_first && piece.len() + 1 + next.len() > LONGEST_PIECE {
                    break;
                }
                if !is_first {
                    piece.push(' ');
                }
                piece.push_str(&next);
                next.clear();
            }
            (!piece.ends_with('=')).then_some(piece)
        });
        Ok(Self { begin, rows: Box::new(rows) })
    }
}

/// Appends numbers, separated by commas, each with the fewest digits that read back as the same number.
fn put(to: &mut String, numbers: impl Iterator<Item = f32>) {
    for (index, number) in numbers.enumerate() {
        let comma = if index > 0 { "," } else { "" };
        // Writing to a string does not fail.
        let _ = write!(to, "{comma}{number:?}");
    }
}

fn put_seconds(to: &mut String, time: Duration) {
    let _ = write!(to, "{}.{:06}", time.as_micros() / 1_000_000, time.as_micros() % 1_000_000);
}

fn put_waypoint<const N: usize>(to: &mut String, waypoint: &Waypoint<N>) {
    let Setpoint { positions, velocities } = &waypoint.setpoint;
    put_seconds(to, waypoint.at);
    let accelerations = waypoint.accelerations.iter().flat_map(JointAccelerations::iter);
    to.push(',');
    put(to, positions.iter().chain(velocities.iter()).chain(accelerations));
}

#[cfg(test)]
mod tests {
    use outrigger_remote::request::LINE_MAX;

    use super::*;

    fn sent<const N: usize>(motion: &Motion<N>) -> Motion<N> {
        let Pieces { begin, rows } = Pieces::of(motion.clone()).expect("few enough");
        let Some(Ok(Piece::<N>::Begin(heading))) = Piece::of(&begin) else { panic!("{begin}") };
        let mut waypoints = vec![];
        for piece in rows {
            assert!(piece.len() <= LONGEST_PIECE, "{piece}");
            let Some(Ok(Piece::<N>::Rows(rows))) = Piece::of(&piece) else { panic!("{piece}") };
            waypoints.extend(rows.split(' ').map(|row| waypoint::<N>(row).expect("one")));
        }
        assert_eq!(heading.count, waypoints.len());
        Motion::through(waypoints).expect("a motion").with_tolerances(heading.tolerances)
    }

    #[test]
    fn a_motion_in_pieces_reads_back_to_the_last_bit() {
        // These numbers have the longest texts, with either sign.
        let worst = [-1.234_567_8e-38_f32, 99_999.99, -0.000_012_345_678, 1e-45, -999_999.9, 2.345_678_3, 1.0 / 3.0];
        let row = |at: u64, accelerations| Waypoint {
            setpoint: Setpoint { positions: JointPositions(worst), velocities: JointVelocities(worst) },
            accelerations,
            at: Duration::from_micros(at),
        };
        let full = Some(JointAccelerations(worst));
        let mut rows: Vec<_> = (1..400).map(|i| row(i * i * 539_999, full.filter(|_| i % 3 > 0))).collect();
        let mut last = row(86_400_000_000, None);
        last.setpoint.velocities = JointVelocities::ZERO;
        rows.push(last);
        let motion = Motion::through(rows).expect("a motion");
        assert_eq!(sent(&motion), motion);
        let tolerances = Tolerances {
            path: JointPositions([f32::INFINITY, 0.1, 0.2, 0.3, 0.4, 0.5, 6.3]),
            goal: JointPositions([1.0 / 3.0; 7]),
            goal_time: Some(Duration::from_micros(1_500_001)),
        };
        let strict = motion.with_tolerances(tolerances);
        assert_eq!(sent(&strict), strict);
    }

    #[test]
    fn the_longest_piece_fits_into_a_line_of_a_request() {
        use outrigger_core::mode::Epoch;
        use outrigger_remote::request::{ClientRequest, Message};

        let how = "r".repeat(LONGEST_PIECE);
        let ask = ClientRequest::Move { epoch: Epoch::from_number(u32::MAX), how: &how };
        let challenge = Some(outrigger_remote::request::Challenge::from_number(u32::MAX));
        assert!(Message { id: Some(u32::MAX), challenge, ask }.to_string().len() <= LINE_MAX);
    }

    #[test]
    fn what_is_no_piece_is_told_with_what_was_expected() {
        for text in ["", "ends", "file=/a.csv", "q=0,1", "begin", "rows"] {
            assert_eq!(Piece::<2>::of(text), None, "{text}");
        }
        for (text, said) in [
            ("begin=", "begin: expected 1 to 2000000 waypoints, found ''"),
            ("begin=0", "begin: expected 1 to 2000000 waypoints, found '0'"),
            ("begin=2000001", "begin: expected 1 to 2000000 waypoints, found '2000001'"),
            ("begin=1 path=0.1", "path: expected 2 angles in rad, found '0.1'"),
            ("begin=1 goal=0.1,x", "goal: expected 2 angles in rad, found '0.1,x'"),
            ("begin=1 goal-time=-1", "found time -1 s, expected 0 to 86400 s"),
            ("begin=1 hurry", "expected begin=, path=, goal= and goal-time=, found 'hurry'"),
        ] {
            assert_eq!(Piece::<2>::of(text), Some(Err(said.into())), "{text}");
        }
        assert!(Piece::<2>::of("begin=1 path=0,0.1").is_some_and(|piece| piece.is_err()), "below the range");
        assert!(Piece::<2>::of("begin=1 path=nan,0.1").is_some_and(|piece| piece.is_err()));
        for (row, said) in [
            ("", "found 1 numbers in '', expected 5 (time, 2 angles, 2 speeds) or 7 (and 2 accelerations)"),
            ("0,1,2", "found 3 numbers in '0,1,2'"),
            ("0,1,2,3,4,5", "found 6 numbers"),
            ("x,1,2,3,4", "found time 'x', expected a number"),
            ("nan,1,2,3,4", "found time NaN s, expected 0 to 86400 s"),
            ("86401,1,2,3,4", "found time 86401 s"),
            ("0,inf,2,3,4", "found inf, expected a finite number"),
            ("0,1,2,3,1e39", "found inf, expected a finite number"),
            ("0,1,2,3,4,5,1e7", "found 1e7, expected a number from -1e6 to 1e6"),
            ("0,1,,3,4", "found '', expected a number"),
        ] {
            let error = waypoint::<2>(row).expect_err("no waypoint");
            assert!(error.starts_with(said), "{row}: {error}");
        }
    }
}
