//! Motions of any length: read from a file, checked, followed, and recorded for display.

mod active_motion;
mod controller_move;
mod csv;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod impedance;
mod json;
mod motion_start;
pub mod motion_text;
mod motion_thinning;
mod playback;
mod read_options;
mod recorded_motion;
pub mod requested_motion;
mod stage;
mod table_columns;
mod timed_move;
mod tracking_trace;
mod waypoint_feed;

use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration as StdDuration;

use outrigger_core::command::{Governor, Limits};
use outrigger_core::law::{Excess, Quantity, survey};
use outrigger_core::trajectory::{Leg, MAX_WAYPOINTS, Setpoint, Tolerances, Trajectory, TrajectoryError, Waypoint};
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

pub(crate) use self::active_motion::{ActiveMotion, MotionRefusal};
pub use self::controller_move::MoveProgress;
pub use self::controller_move::MoveRequest;
pub use self::controller_move::MoveStep;
pub(crate) use self::controller_move::{MoveExecutor, Off, is_within};
#[cfg(feature = "record")]
pub(crate) use self::json::UR as UR_JOINTS;
pub use self::motion_start::Start;
pub(crate) use self::motion_start::{SAME, rests};
pub(crate) use self::motion_thinning::thinned;
pub(crate) use self::playback::{PlaybackExecutor, PlaybackProgress};
pub use self::read_options::Reading;
pub(crate) use self::stage::MotionReport;
pub use self::stage::MotionStage;
pub use self::timed_move::seconds;
pub use self::tracking_trace::Moment;
pub use self::tracking_trace::Trace;
pub(crate) use self::waypoint_feed::{Task, WaypointFeed};
use crate::exit::Failure;

/// A motion through any number of waypoints. Each waypoint is a setpoint with the time at which it is due.
///
/// Between two waypoints with accelerations the motion is quintic, otherwise cubic. If the first waypoint is due
/// later than 0 s, the motion starts at the current position of the arm. If all waypoints are at one position, the
/// motion has no length: it is done at once if the arm is there, within 0.02 rad and the goal tolerance, and rejected
/// otherwise. The tolerances are [`Tolerances::DEFAULT`], those of the file, or others.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion<const N: usize> {
    waypoints: Vec<Waypoint<N>>,
    tolerances: Tolerances<N>,
}

/// A reason why waypoints are not a motion that an arm can follow.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionError {
    /// The motion's list of waypoints is empty.
    Empty,
    /// The waypoints are not a trajectory, for this reason.
    Waypoints(TrajectoryError),
    /// On the way to waypoint `to`, counted from 0, the arm would exceed a limit.
    Beyond {
        /// The number of the waypoint on the way to which a limit is exceeded, counted from 0.
        to: u32,
        /// The limit that would be exceeded, with the joint and the value.
        excess: Excess,
    },
}

impl fmt::Display for MotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("found no waypoint, expected at least one"),
            Self::Waypoints(error) => error.fmt(f),
            Self::Beyond { to, excess } => write!(f, "on the way to waypoint {to} {excess}"),
        }
    }
}

impl std::error::Error for MotionError {}

impl MotionError {
    /// Returns the reason why the motion is not possible as text for people, with advice.
    pub fn with_remedy(&self) -> String {
        match self {
            Self::Empty | Self::Waypoints(_) => self.to_string(),
            Self::Beyond { excess, .. } => match excess.quantity {
                Quantity::Position => format!("{self}{}", beyond_position(excess.reached)),
                Quantity::Velocity | Quantity::Acceleration => {
                    format!("{self}; give it more time there, or raise the limit in the configuration")
                }
            },
        }
    }
}

/// Returns the advice for an angle beyond the limits of its joint \[rad\].
pub(crate) fn beyond_position(angle: f32) -> &'static str {
    if angle.abs() > std::f32::consts::TAU {
        ". Are these degrees?"
    } else {
        "; choose angles within the limits, or change `limits.position_min` and `position_max` in the configuration"
    }
}

impl<const N: usize> Motion<N> {
    /// Creates the motion through `waypoints`. It must be at rest at its end and, if it starts at 0 s, at its start.
    /// A speed below [`REST_SPEED`](outrigger_core::trajectory::REST_SPEED) counts as rest.
    ///
    /// # Errors
    /// Returns [`MotionError::Empty`], or [`MotionError::Waypoints`] with the first waypoint that is not valid.
    pub fn through(mut waypoints: Vec<Waypoint<N>>) -> Result<Self, MotionError> {
        let mut before = None;
        for (number, waypoint) in (0..).zip(&waypoints) {
            if !is_finite(waypoint) {
                return Err(MotionError::Waypoints(TrajectoryError::NotFinite(number)));
            }
            if before.is_some_and(|before| waypoint.at <= before) {
                return Err(MotionError::Waypoints(TrajectoryError::Order(number)));
            }
            before = Some(waypoint.at);
        }
        if let Some(first) = waypoints.first_mut().filter(|first| first.at == Duration::ZERO) {
            *first = first.at_rest(0).map_err(MotionError::Waypoints)?;
        }
        let end = u32::try_from(waypoints.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let last = waypoints.last_mut().ok_or(MotionError::Empty)?;
        *last = last.at_rest(end).map_err(MotionError::Waypoints)?;
        Ok(Self { waypoints, tolerances: Tolerances::DEFAULT })
    }

    /// Reads the motion in a file: a table (`.csv`), JSON with the fields of `FollowJointTrajectory` (`.json`), or a
    /// recording of Outrigger (`.mcap`), whose measured motion of the arm is used. See `port-linux/docs/motions.md`.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] with the line and what was expected there.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        Self::read_as(path, Reading::default())
    }

    /// Reads a motion from a file, with options for the unit of angles and the start of times.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read), and [`Failure::Usage`] for options that do not apply to a
    /// recording.
    pub fn read_as(path: &Path, reading: Reading) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
        let unread = |error| wrong(format!("cannot be read: {error}"));
        let is = |name| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
        if is("mcap") {
            if reading != Reading::default() {
                let what = "a recording is in rad and starts when the arm starts to move: remove --degrees and --from-first-time";
                return Err(Failure::Usage(what.into()));
            }
            return recorded_motion::read(path);
        }
        // A device or a pipe does not report its length.
        let mut text = vec![];
        let mut file = std::fs::File::open(path).map_err(unread)?;
        (&mut file).take(BEGINNING).read_to_end(&mut text).map_err(unread)?;
        // Text contains no such byte. A device or a sparse file may contain nothing else.
        if text.contains(&0) && !is_wide(&text) {
            return Err(wrong("found a byte 0, expected text".into()));
        }
        if !is_wide(&text) {
            file.take(LARGEST + 1 - BEGINNING).read_to_end(&mut text).map_err(unread)?;
        }
        if text.len() as u64 > LARGEST {
            return Err(wrong(format!("found more than {LARGEST} bytes, expected at most that: split the motion")));
        }
        Self::parse_as(&text, is("json"), reading).map_err(wrong)
    }

    /// Reads a motion from the bytes of a file: JSON or a table.
    ///
    /// # Errors
    /// Returns what is wrong, and where.
    pub fn parse(bytes: &[u8], is_json: bool) -> Result<Self, String> {
        Self::parse_as(bytes, is_json, Reading::default())
    }

    fn parse_as(bytes: &[u8], is_json: bool, reading: Reading) -> Result<Self, String> {
        if is_wide(bytes) {
            return Err(
                "line 1, column 1: found UTF-16, expected UTF-8: save it so, as \"CSV UTF-8\" in a spreadsheet".into(),
            );
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before =
                bytes.get(..error.valid_up_to()).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
            let (line, column) =
                (before.split('\n').count(), before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1);
            format!("line {line}, column {column}: found bytes that are not text, expected numbers")
        })?;
        // Spreadsheets write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if is_json { json::read(text, reading) } else { csv::read(text, reading) }
    }

    /// Returns the waypoints of the motion, in the order of time.
    #[must_use]
    pub fn waypoints(&self) -> &[Waypoint<N>] {
        &self.waypoints
    }

    /// Returns the tolerances of the joints, by which a motion is judged.
    #[must_use]
    pub const fn tolerances(&self) -> &Tolerances<N> {
        &self.tolerances
    }

    /// Replaces the tolerances of the joints in this motion.
    #[must_use]
    pub const fn with_tolerances(mut self, tolerances: Tolerances<N>) -> Self {
        self.tolerances = tolerances;
        self
    }

    /// Returns the duration of the motion from start to end, at full speed.
    #[must_use]
    pub fn duration(&self) -> StdDuration {
        StdDuration::from_micros(self.waypoints.last().map_or(0, |last| last.at.as_micros()))
    }

    /// Returns the joint positions at the end of the motion \[rad\].
    #[must_use]
    pub fn goal(&self) -> JointPositions<N> {
        self.waypoints.last().map_or(JointPositions::ZERO, |last| last.setpoint.positions)
    }

    /// Checks that an arm with these limits can follow the whole motion. No margin is kept for feedback.
    ///
    /// # Errors
    /// Returns the first limit that it would exceed, and where.
    pub fn check(&self, limits: &Limits<N>) -> Result<(), MotionError> {
        if let [only] = self.waypoints.as_slice() {
            let setpoint = Setpoint { positions: only.setpoint.positions, ..Setpoint::default() };
            let stands = |at| Waypoint { setpoint, accelerations: None, at };
            let stands = Leg::between(&stands(Duration::ZERO), &stands(Duration::from_secs(1)));
            let held = survey(&stands, limits, Some(&JointPositions::ZERO));
            held.map_err(|excess| MotionError::Beyond { to: 0, excess })?;
        }
        let legs = self.waypoints.windows(2).map(|pair| match pair {
            [from, to] => survey(&Leg::between(from, to), limits, Some(&JointPositions::ZERO)),
            _ => Ok(()),
        });
        (1..).zip(legs).try_for_each(|(to, held)| held.map_err(|excess| MotionError::Beyond { to, excess }))
    }

    /// Adds a waypoint at 0 s with the `positions` of an arm at rest, unless the motion has a waypoint at 0 s.
    #[must_use]
    pub fn from_rest_at(mut self, positions: JointPositions<N>) -> Self {
        if self.waypoints.first().is_some_and(|first| first.at > Duration::ZERO) {
            let setpoint = Setpoint { positions, ..Setpoint::default() };
            self.waypoints.insert(0, Waypoint { setpoint, accelerations: None, at: Duration::ZERO });
        }
        self
    }

    pub(crate) fn into_waypoints(self) -> Vec<Waypoint<N>> {
        self.waypoints
    }

    /// Returns the part of the motion that an engine receives at once, and its number of waypoints.
    pub(crate) fn beginning(&self) -> Result<(Trajectory<N>, usize), MotionError> {
        if self.waypoints.len() <= MAX_WAYPOINTS {
            let whole = Trajectory::through(&self.waypoints).map_err(MotionError::Waypoints)?;
            return Ok((whole, self.waypoints.len()));
        }
        let first = self.waypoints.get(..MAX_WAYPOINTS).unwrap_or_default();
        Ok((Trajectory::beginning(first).map_err(MotionError::Waypoints)?, MAX_WAYPOINTS))
    }
}

/// Returns an error text if a joint is too far from the start of a motion, with the worst joint. The allowed distance
/// is [`Governor::BEGINS_WITHIN`] for every kind of motion, or the path tolerance if that is smaller.
pub(crate) fn begins_beside<const N: usize>(
    at: &JointPositions<N>,
    begins: &JointPositions<N>,
    tolerances: &Tolerances<N>,
) -> Option<String> {
    let off = at.zip_with(begins.as_array(), |q, b| (q - b).abs());
    let most = tolerances.path.map(|path| path.min(Governor::<N>::BEGINS_WITHIN));
    let beside = (1..).zip(off.iter().zip(most.iter())).filter(|(_, (off, most))| off.is_nan() || off > most);
    let (joint, (off, most)) = beside.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    Some(format!(
        "joint {joint} is {off:.3} rad from the start of the motion, and {most} rad are allowed; move there first, \
         or give the first waypoint a time > 0 s to start from the current pose"
    ))
}

/// Returns `true` if text starts with a byte order mark of UTF-16.
const fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

fn is_finite<const N: usize>(waypoint: &Waypoint<N>) -> bool {
    let Setpoint { positions, velocities } = &waypoint.setpoint;
    let accelerations = waypoint.accelerations.is_none_or(|accelerations| accelerations.is_finite());
    positions.is_finite() && velocities.is_finite() && accelerations
}

/// A waypoint of a motion as files and other sources give it: time and joint positions, and optionally speed and
/// acceleration.
pub struct Row<const N: usize> {
    /// The time of the waypoint since the start of the motion \[s\].
    pub at: f64,
    /// The joint positions at the waypoint \[rad\].
    pub positions: [f32; N],
    /// The joint speeds at the waypoint \[rad/s\], if they are given.
    pub velocities: Option<[f32; N]>,
    /// The joint accelerations at the waypoint \[rad/s²\], if they are given.
    pub accelerations: Option<[f32; N]>,
}

/// The size of the largest motion file that is read as text \[B\]: more than a million waypoints with all numbers.
const LARGEST: u64 = 512 << 20;

/// The number of bytes of a motion file that are checked before more of it is read.
const BEGINNING: u64 = 64 << 10;

/// The maximum number of waypoints in a text file, and in a client's motion: those of the largest JSON file with
/// positions and speeds.
const MOST_POINTS: usize = 2_000_000;

/// The longest duration of a motion \[s\]: a day.
const LONGEST: f64 = 86_400.0;

/// Converts a waypoint's time in seconds to microseconds, the resolution of waypoints.
fn micros(seconds: f64) -> Duration {
    Duration::from_micros((seconds * 1e6).round() as u64)
}

/// Creates the motion of these rows. A speed that is not given is the mean of the slopes on both sides, each weighted
/// by the time on the other side. It is zero at both ends, and where a joint reverses.
pub fn of_rows<const N: usize>(rows: &[Row<N>]) -> Result<Motion<N>, MotionError> {
    let slope = |a: &Row<N>, b: &Row<N>, joint: usize| {
        let span = b.at - a.at;
        let way = f64::from(b.positions[joint]) - f64::from(a.positions[joint]);
        // Two rows with the same time are rejected later, with their number.
        if span > 0.0 { way / span } else { 0.0 }
    };
    let velocities = |i: usize, row: &Row<N>| {
        row.velocities.unwrap_or_else(|| {
            let (Some(before), Some(after)) = (i.checked_sub(1).and_then(|i| rows.get(i)), rows.get(i + 1)) else {
                return [0.0; N];
            };
            std::array::from_fn(|joint| {
                let (into, out) = (slope(before, row, joint), slope(row, after, joint));
                let (left, right) = (row.at - before.at, after.at - row.at);
                if into * out <= 0.0 { 0.0 } else { ((into * right + out * left) / (left + right)) as f32 }
            })
        })
    };
    let waypoint = |(i, row): (usize, &Row<N>)| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions(row.positions),
            velocities: outrigger_wire::robot::JointVelocities(velocities(i, row)),
        },
        accelerations: row.accelerations.map(outrigger_wire::robot::JointAccelerations),
        at: micros(row.at),
    };
    Motion::through(rows.iter().enumerate().map(waypoint).collect())
}

#[cfg(test)]
mod tests;
