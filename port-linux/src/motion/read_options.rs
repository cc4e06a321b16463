//! Options for reading a file of waypoints: the unit of angles, and the start of its times.

use super::LONGEST;

/// Options for reading a motion file that does not specify them itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// `true` if angles, speeds and accelerations in the file are in degrees.
    pub degrees: bool,
    /// `true` if the motion starts at the first waypoint, whatever its time.
    pub from_first_time: bool,
}

/// A first waypoint that is later than this counts as a clock time \[s\], because no arm needs as long to move there.
const SOON: f64 = 60.0;

/// The largest accepted angle, speed or acceleration \[rad, rad/s, rad/s²\], far beyond any arm. Sums and slopes of
/// such numbers are finite.
const MOST: f64 = 1e6;

/// Converts a number of a motion file to an angle, speed or acceleration \[rad, rad/s, rad/s²\].
///
/// # Errors
/// Returns a message if it is not finite or larger than [`MOST`].
pub(super) fn number(found: f64, is_degrees: bool) -> Result<f32, String> {
    if !found.is_finite() {
        return Err(format!("found {found}, expected a finite number"));
    }
    if found.abs() > MOST {
        return Err(format!("found {found:e}, expected a number from -{MOST:e} to {MOST:e}"));
    }
    Ok(if is_degrees { found.to_radians() } else { found } as f32)
}

/// Formats a number of a motion file for an error message, without hundreds of digits.
pub(super) fn short(found: f64) -> String {
    let is_short = found == 0.0 || (1e-9..1e15).contains(&found.abs()) || !found.is_finite();
    if is_short { found.to_string() } else { format!("{found:e}") }
}

/// Letters and symbols without a glyph that [`char::escape_debug`] treats as printable.
const BLANK: [char; 5] = ['\u{115f}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{ffa0}'];

/// Formats text of a motion file for an error message: at most `most` characters. Characters that are invisible or move
/// others are escaped.
pub(super) fn quoted(text: &str, most: usize) -> String {
    let escaped = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ if BLANK.contains(&c) => c.escape_unicode().to_string(),
        _ => c.escape_debug().to_string(),
    };
    let mut shown: String = text.chars().take(most).map(escaped).collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// The time in a motion file from which the times of its waypoints are counted \[s\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Zero {
    /// `true` if times in the file are counted from the first one.
    pub(super) is_first: bool,
    first: Option<f64>,
}

impl Zero {
    pub(super) const fn of(reading: Reading) -> Self {
        Self { is_first: reading.from_first_time, first: None }
    }

    /// Converts the time of the next waypoint to a time since the start of the motion \[s\].
    ///
    /// # Errors
    /// Returns a message if the time is out of range, or seems to be a clock time.
    pub(super) fn seconds(&mut self, time: f64) -> Result<f64, String> {
        let is_first = self.first.is_none();
        let first = *self.first.get_or_insert(time);
        let at = if self.is_first { time - first } else { time };
        let clock = "if these are clock times, subtract the first from all (`outrigger move --from-first-time` does)";
        if self.is_first && at < 0.0 {
            return Err(format!(
                "found time {} s, expected none before the first time, {} s",
                short(time),
                short(first)
            ));
        }
        if !(0.0..=LONGEST).contains(&at) {
            let hint = if is_first { format!("; {clock}") } else { String::new() };
            let from = if self.is_first { " after the first" } else { "" };
            return Err(format!("found time {} s{from}, expected 0 to {LONGEST} s{hint}", short(at)));
        }
        if is_first && at > SOON {
            return Err(format!(
                "the first waypoint is due at {time} s, and the arm would take that long to get there from its \
                 current position; {clock}; if this is intended, add a waypoint at 0 s with the current position"
            ));
        }
        Ok(at)
    }
}
