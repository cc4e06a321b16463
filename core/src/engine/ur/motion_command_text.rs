//! The text that moves, holds and stops the arm: the command of a cycle, as a program of one line.

use super::foreign_program_end::{Opening, TakeOver};
use super::outbox::Outbox;
use super::script_text::{TextConfig, TextPath};
use crate::engine::cycle::Verdict;
use crate::robot::Reason;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{Duration, Instant};

/// The motion text of one session with a controller, and the text that must precede it if another program runs.
#[derive(Debug)]
pub(super) struct MotionText {
    path: Option<TextPath>,
    take_over: TakeOver,
    /// While arming: `true` if another program runs, the longest wait for its end, and the present time.
    arming: Option<(bool, Duration, Instant)>,
    text: Outbox<{ TextPath::MAX_LEN }>,
}

impl MotionText {
    pub(super) const NONE: Self = Self { path: None, take_over: TakeOver::Untried, arming: None, text: Outbox::EMPTY };

    /// Opens the path for motion text to a controller with this software.
    pub(super) fn open(&mut self, config: TextConfig, software: SoftwareVersion) {
        self.path = Some(TextPath::new(config, software));
    }

    /// Closes the path for motion text: no text is sent any more.
    pub(super) const fn close(&mut self) {
        self.text.clear();
        self.path = None;
    }

    /// Returns `true` if a session is open in which motion text can be sent.
    pub(super) const fn is_open(&self) -> bool {
        self.path.is_some()
    }

    /// Prepares the motion text of this cycle. `arming` is `Some` in the mode `Arming` only: see the field.
    pub(super) fn prepare(&mut self, arming: Option<(bool, Duration, Instant)>) {
        self.arming = arming;
        if arming.is_none() {
            self.take_over = TakeOver::default();
        }
    }

    /// Marks the beginning of a call of the engine: no motion text was made in it yet.
    #[cfg(feature = "record")]
    pub(super) const fn begin(&mut self) {
        self.text.begin();
    }

    /// Replaces the motion text that waits to be sent by the one for `verdict`, the command of this cycle. Returns
    /// `true` if the command has a text.
    pub(super) fn write(&mut self, verdict: Verdict<'_, 6>) -> Result<bool, Reason> {
        let Self { path: Some(path), take_over, arming, text } = self else { return Ok(false) };
        let written = match verdict {
            // A robot without commands holds its position: there is no position to mirror.
            Verdict::Silent | Verdict::Mirror => return Ok(false),
            // No program of ours that would execute moves runs there.
            Verdict::Start(..) | Verdict::Keep | Verdict::Cancel(_) => return Ok(false),
            #[cfg(feature = "programs")]
            Verdict::Guide(..) => return Ok(false),
            #[cfg(feature = "motions")]
            Verdict::Torque(_) => return Ok(false),
            Verdict::Hold => match arming.map(|(runs, patience, now)| take_over.next(runs, patience, now)) {
                Some(Opening::EndOther) => text.put(|out| path.render_stop(out)),
                Some(Opening::Wait) => text.put(|_| Ok(0)),
                Some(Opening::Zero) | None => text.put(|out| path.render_hold(out)),
            },
            Verdict::Stop => text.put(|out| path.render_stop(out)),
            Verdict::Move(approved) => text.put(|out| path.render_move(approved, out)),
        };
        written.map(|len| len > 0)
    }

    pub(super) const fn is_waiting(&self) -> bool {
        !self.text.is_empty()
    }

    pub(super) fn take(&mut self) -> &[u8] {
        self.text.take()
    }

    /// Returns the motion text that was made in this call of the engine.
    #[cfg(feature = "record")]
    pub(super) fn made(&self) -> &[u8] {
        self.text.made()
    }

    /// Returns how far the ending of another program on the controller has come, for the checkpoint of a recording.
    #[cfg(feature = "record")]
    pub(super) const fn take_over(&self) -> TakeOver {
        self.take_over
    }

    /// Restores a saved progress of ending another program on the controller, with no text waiting.
    #[cfg(feature = "record")]
    pub(super) fn restore(&mut self, take_over: TakeOver, config: TextConfig, software: Option<SoftwareVersion>) {
        *self = Self { path: software.map(|software| TextPath::new(config, software)), take_over, ..Self::NONE };
    }
}
