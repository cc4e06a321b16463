//! Limits the output that datagrams with the address of one board may cause: lines, files, and memory for pieces.
//!
//! Anybody on the network can send them. Data that exceeds a limit is dropped and counted; the first drop is
//! reported, the second, the fourth and so on.

use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

use super::say;
use outrigger::host::rate_limit::Pace;
use outrigger::record::fallbacks::{BEFORE_RESET, Kept, RecordingOwner};
use outrigger::show::Notice;

/// The longest recording that is stored \[B\]: boards have 64 KiB for it.
pub(super) const RECORDING_MOST: u32 = 1 << 20;
/// The longest settings of a board that are stored \[B\].
pub(super) const SETTINGS_MOST: u32 = 64 << 10;
/// The number of a board's recordings that may be written in quick succession. A board takes four seconds to send one.
const AT_ONCE: f32 = 16.0;
/// The interval at which one more recording of a board may be written, beyond [`AT_ONCE`] \[s\].
const SECONDS_EACH: f32 = 10.0;
/// The number of output lines about a board that may be printed at once. A board sends an event every 5 ms at most.
const LINES_AT_ONCE: f32 = 500.0;
/// The number of output lines about a board per second, beyond those that may be printed at once.
const LINES_PER_SECOND: f32 = 200.0;

/// Returns the limit on the files with recordings of one board: their number and their total size.
pub(super) const fn kept(of: std::net::IpAddr) -> Kept {
    Kept { files: 100, bytes: 100 << 20, whose: RecordingOwner::Board(of) }
}

/// The allowances for a board's output lines and recordings that remain at present, and the numbers of lines,
/// recordings and pieces that were dropped.
#[derive(Debug)]
pub(super) struct Bounds {
    lines: Pace,
    files: Pace,
    unsaid: u64,
    unwritten: u64,
    pieces: u64,
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self {
            lines: Pace::new(LINES_PER_SECOND, LINES_AT_ONCE, Instant::ZERO),
            files: Pace::new(1.0 / SECONDS_EACH, AT_ONCE, Instant::ZERO),
            unsaid: 0,
            unwritten: 0,
            pieces: 0,
        }
    }

    /// Removes those of the `notices` that exceed the limit on output lines about a board.
    pub(super) fn lines(&mut self, notices: &mut Vec<Notice>, now: Instant) {
        let Self { lines, unsaid, .. } = self;
        let mut report = None;
        notices.retain(|_| {
            let fits = lines.take_now(now);
            if !fits && count(unsaid) {
                report.get_or_insert(*unsaid);
            }
            fits
        });
        notices.extend(report.map(|count| {
            let text =
                format!("suppressed lines of it: {count} so far; a board sends at most {LINES_PER_SECOND} a second");
            say(now, "limit", text)
        }));
    }

    /// Takes one recording of the board from the allowance, so that it may be written.
    ///
    /// # Errors
    /// Returns an error if the allowance is used up, with the notice to show, if one is due.
    pub(super) fn file(&mut self, now: Instant) -> Result<(), Option<Notice>> {
        if self.files.take_now(now) {
            return Ok(());
        }
        let report = count(&mut self.unwritten);
        let text = format!(
            "recordings of it that are not written: {} so far; at most one in {SECONDS_EACH} s is written",
            self.unwritten
        );
        Err(report.then(|| say(now, "limit", text)))
    }

    /// Counts pieces of the board's recordings and settings that were dropped. Returns the notice to show about them;
    /// `None` unless their number is a power of two.
    pub(super) fn dropped_pieces(&mut self, now: Instant) -> Option<Notice> {
        let report = count(&mut self.pieces);
        let text = format!("dropped inconsistent, too long or late pieces of it, {} times so far", self.pieces);
        report.then(|| say(now, "limit", text))
    }
}

/// Increases a counter. Returns `true` if the new number is to be reported, which is each power of two.
fn count(counted: &mut u64) -> bool {
    *counted = counted.saturating_add(1);
    counted.is_power_of_two()
}

/// Returns the part of a recording's file name that names the reason of the recorded fallback; without a reason, the
/// part for a run that ended in a restart of the board.
pub(super) fn name(reason: Option<Reason>) -> &'static str {
    reason.map_or(BEFORE_RESET, |reason| reason.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::time::Duration;

    #[test]
    fn lines_are_bounded_per_second_and_what_is_dropped_is_reported_rarely() {
        let (mut bounds, mut shown, mut reports) = (Bounds::new(), 0, vec![]);
        for millis in 0..15_000 {
            let now = Instant::from_micros(1_000 * millis);
            let mut notices: Vec<_> = (0..60).map(|_| say(now, "restart", String::new())).collect();
            bounds.lines(&mut notices, now);
            shown += notices.iter().filter(|notice| notice.kind == "restart").count();
            reports.extend(notices.into_iter().filter(|notice| notice.kind == "limit"));
        }
        assert!((3_400..=3_501).contains(&shown), "{shown}");
        assert!(reports.len() <= 20 && reports[0].text.contains(": 1 so far"), "{reports:?}");
    }

    #[test]
    fn recordings_are_bounded_per_time() {
        let (mut bounds, mut reports) = (Bounds::new(), 0);
        let written = (0..900_000).filter(|millis| {
            let file = bounds.file(Instant::ZERO + Duration::from_millis(*millis));
            reports += u32::from(matches!(&file, Err(Some(_))));
            file.is_ok()
        });
        // Tokens are single-precision numbers.
        assert!((105..=107).contains(&written.count()));
        assert!(reports <= 20, "{reports}");
    }
}
