//! What is recorded is kept for a while after a fallback, so that a port whose only way out is a slow one can send it.

use crate::mode::{Mode, Transition};
use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

/// A fallback whose recording is complete and stays as it is for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeptFallback {
    /// Counted from 1 since the engine was made; fallbacks while another one was kept are counted and not recorded.
    pub number: u32,
    /// Why.
    pub reason: Reason,
    /// When.
    pub at: Instant,
}

/// Decides when recording pauses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keeper {
    /// How long; zero never pauses.
    hold: Duration,
    number: u32,
    /// The newest that is recorded, until it was kept for long enough.
    fallback: Option<KeptFallback>,
    until: Option<Instant>,
}

impl Keeper {
    pub(super) fn new(hold: Duration) -> Self {
        Self { hold, ..Self::default() }
    }

    /// What is kept now.
    pub(super) fn kept(&self) -> Option<KeptFallback> {
        self.fallback.filter(|_| self.until.is_some())
    }

    /// Whether recording pauses at `now`.
    pub(super) fn pauses(&mut self, now: Instant) -> bool {
        if self.until.is_some_and(|until| now >= until) {
            self.until = None;
            self.fallback = None;
        }
        self.until.is_some()
    }

    /// The memory is full, and what is oldest would be forgotten: that is not done to a fallback. Whether recording
    /// pauses instead.
    pub(super) fn is_full(&mut self, now: Instant) -> bool {
        self.begin(now);
        self.until.is_some()
    }

    /// What an input made, all of it recorded.
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
