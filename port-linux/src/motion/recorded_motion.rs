//! Reads a motion from a recording: the measured joint positions, thinned, from rest to rest.

use std::path::Path;

use outrigger_wire::fields::{FieldVisitor, Group, Value};

use super::{LONGEST, Motion, Row, of_rows};
use crate::exit::Failure;
use crate::feed::recorded::each_raw;
use crate::feed::{Message, Streams, WireFormat, stream_memory};

/// The time between two waypoints of a motion read from a recording \[s\]: long enough that noise of the measurement
/// causes no speed, short enough for an arm.
const STEP: f64 = 0.04;
/// The distance from its first or last recorded position within which a joint counts as being there \[rad\].
const STILL: f32 = 1e-3;
/// The maximum number of waypoints of a motion read from a recording: those of the longest motion, a day.
const MOST: usize = (LONGEST / STEP) as usize;

/// Reads a motion from the states of the most precise interface in a recording.
pub(super) fn read<const N: usize>(path: &Path) -> Result<Motion<N>, Failure> {
    let wrong = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    for port in WireFormat::STATES_BY_PRECISION {
        let rows = rows::<N>(path, port)?;
        if !rows.is_empty() {
            return of_rows(moving(&rows).map_err(wrong)?.as_slice()).map_err(|unfit| wrong(unfit.to_string()));
        }
    }
    Err(wrong(format!("found no states with the positions of {N} joints, expected those of an arm")))
}

/// Returns a waypoint of the recorded motion per [`STEP`] of the controller's clock, starting with the first state.
fn rows<const N: usize>(path: &Path, port: u16) -> Result<Vec<Row<N>>, Failure> {
    let mut memory = stream_memory();
    let Some(mut streams) = Streams::new(&mut memory) else { return Ok(vec![]) };
    let (mut rows, mut first) = (Vec::<Row<N>>::new(), None::<f64>);
    let mut wrong = None;
    each_raw(path, &[port], |raw| {
        if raw.sent {
            streams.sent(port, raw.bytes);
        } else if raw.bytes.is_empty() {
            streams.opened(port);
        } else {
            streams.received(port, raw.bytes, None, |message| {
                if !matches!(message, Message::Realtime(_) | Message::Rtde(..) | Message::Fri(_)) {
                    return;
                }
                let mut seen = RecordedState::<N>::default();
                message.visit_state(&mut seen);
                let (Some(time), Some(positions)) = (seen.time, seen.positions) else { return };
                let at = time - *first.get_or_insert(time);
                let last = rows.last().map_or(-STEP, |row| row.at);
                if at < last {
                    wrong = wrong.take().or(Some(format!(
                        "the controller's clock jumps back {last:.3} s after its \
                                                      start"
                    )));
                }
                if at >= last + STEP && rows.len() <= MOST {
                    rows.push(Row { at, positions, velocities: None, accelerations: None });
                }
            });
        }
        Ok(())
    })?;
    if rows.len() > MOST {
        wrong = wrong.or(Some(format!("found more than {LONGEST} s, expected a motion of a day at most")));
    }
    wrong.map_or(Ok(rows), |what| Err(Failure::BadInput(format!("{}: {what}", path.display()))))
}

/// Returns the rows from before the arm leaves its first position until it has reached its last one, with a row at
/// rest on both sides: a row that still counts as the first position may already be in motion.
fn moving<const N: usize>(rows: &[Row<N>]) -> Result<Vec<Row<N>>, String> {
    let near = |a: &Row<N>, b: &Row<N>| a.positions.iter().zip(b.positions).all(|(a, b)| (a - b).abs() < STILL);
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(vec![]) };
    let Some(leaves) = rows.iter().position(|row| !near(row, first)) else {
        return Err("the arm does not move in it".into());
    };
    let comes = rows.iter().rposition(|row| !near(row, last)).map_or(0, |there| there + 1);
    if leaves < 2 || comes + 2 > rows.len() {
        let which = if leaves < 2 { "begins" } else { "ends" };
        return Err(format!("it {which} with the arm in motion, expected at rest there"));
    }
    let kept = rows.get(leaves - 2..=comes + 1).unwrap_or_default();
    let begin = kept.first().map_or(0.0, |row| row.at);
    let from_there =
        |row: &Row<N>| Row { at: row.at - begin, positions: row.positions, velocities: None, accelerations: None };
    Ok(kept.iter().map(from_there).collect())
}

/// The values of a recorded state from which the motion is made.
struct RecordedState<const N: usize> {
    time: Option<f64>,
    positions: Option<[f32; N]>,
}

impl<const N: usize> Default for RecordedState<N> {
    fn default() -> Self {
        Self { time: None, positions: None }
    }
}

impl<const N: usize> FieldVisitor for RecordedState<N> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match (name, value) {
            ("time" | "timestamp", Value::F64(time)) => self.time = Some(time),
            ("time" | "timestamp", Value::F32(time)) => self.time = Some(time.into()),
            ("q_actual" | "actual_q", Value::F64s(joints)) => {
                self.positions = <[f64; N]>::try_from(joints).ok().map(|joints| joints.map(|q| q as f32));
            }
            ("msr_jnt_pos", Value::F32s(joints)) => self.positions = <[f32; N]>::try_from(joints).ok(),
            _ => {}
        }
    }

    fn begin(&mut self, _: &str, _: Group) {}

    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[(f64, f32)]) -> Vec<Row<1>> {
        let row = |(at, q): &(f64, f32)| Row { at: *at, positions: [*q], velocities: None, accelerations: None };
        times.iter().map(row).collect()
    }

    #[test]
    fn what_stands_before_and_after_a_motion_is_left_out() {
        let rows = at(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.1, 0.1), (2.2, 0.2), (2.3, 0.2), (9.0, 0.2)]);
        let kept = moving(&rows).expect("a motion");
        let kept: Vec<_> = kept.iter().map(|row| ((row.at * 10.0).round() as i32, row.positions[0])).collect();
        assert_eq!(kept, [(0, 0.0), (10, 0.0), (11, 0.1), (12, 0.2), (13, 0.2)]);
        for (times, expected) in [
            (&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)][..], "the arm does not move in it"),
            (
                &[(0.0, 0.0), (0.1, 0.1), (0.2, 0.1), (0.3, 0.1)],
                "it begins with the arm in motion, expected at rest there",
            ),
            (
                &[(0.0, 0.0), (0.1, 0.0), (0.2, 0.1), (0.3, 0.2)],
                "it ends with the arm in motion, expected at rest there",
            ),
        ] {
            assert_eq!(moving(&at(times)).err().as_deref(), Some(expected));
        }
    }
}
