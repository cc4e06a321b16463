//! A pause of the recorder after a fallback, an end of arming or commanding that no operator requested. A port with a
//! slow connection then has time to send the recording.

use crate::mode::{Mode, Transition};
use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

/// A fallback, an end of arming or commanding that no operator requested, whose recording is complete and is not
/// overwritten at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeptFallback {
    /// The number of the fallback, from 1 since the engine was made. Fallbacks during the pause are counted and not
    /// recorded.
    pub number: u32,
    /// The reason for which the fallback ended arming or commanding.
    pub reason: Reason,
    /// The time at which arming or commanding ended.
    pub at: Instant,
}

/// Decides when recording pauses to keep the entries about a fallback, an end of arming or commanding that no operator
/// requested.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keeper {
    /// The duration of the pause of the recorder after a fallback; at zero recording never pauses.
    hold: Duration,
    number: u32,
    /// The first fallback that was recorded since the last pause ended: the one that the next or present pause keeps.
    fallback: Option<KeptFallback>,
    until: Option<Instant>,
}

impl Keeper {
    pub(super) fn new(hold: Duration) -> Self {
        Self { hold, ..Self::default() }
    }

    /// Returns the [fallback](KeptFallback) whose recording is kept now; `None` while recording does not pause.
    pub(super) fn kept(&self) -> Option<KeptFallback> {
        self.fallback.filter(|_| self.until.is_some())
    }

    /// Returns `true` if recording pauses at the time `now`; a pause whose time has passed is ended.
    pub(super) fn pauses(&mut self, now: Instant) -> bool {
        if self.until.is_some_and(|until| now >= until) {
            self.until = None;
            self.fallback = None;
        }
        self.until.is_some()
    }

    /// Handles a full memory of the recorder: starts the pause if a [fallback](KeptFallback) is recorded, because its
    /// oldest entries would be overwritten otherwise. Returns `true` if recording pauses.
    pub(super) fn is_full(&mut self, now: Instant) -> bool {
        self.begin(now);
        self.until.is_some()
    }

    /// Takes the changes of the mode that one input caused, once all of them are in the recording, and starts the pause
    /// once the arm is at rest after a [fallback](KeptFallback).
    pub(super) fn observe(&mut self, transitions: &[Transition], mode: Mode, now: Instant) {
        for transition in transitions {
            let commanding = matches!(transition.from, Mode::Arming | Mode::Command);
            let reason = transition.reason.filter(|reason| commanding && !reason.is_release());
            let Some(reason) = reason else { continue };
            self.number = self.number.saturating_add(1);
            let fallback = KeptFallback { number: self.number, reason, at: transition.at };
            let _ = self.fallback.get_or_insert(fallback);
        }
        if matches!(mode, Mode::Monitor | Mode::Offline) {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        if self.fallback.is_some() && self.until.is_none() && self.hold > Duration::ZERO {
            self.until = Some(now + self.hold);
        }
    }
}
