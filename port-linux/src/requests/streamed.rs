//! Speeds, positions or torques that a client streams, on their way to the loop: a slot with the newest, no queue, and no answer to each.

use std::fmt;
use std::sync::{Arc, Mutex};

use outrigger_core::law::{Forward, ForwardError, Forwarding};
use outrigger_core::mode::Epoch;
use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

/// A command, as it was put there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Streamed<const N: usize> {
    pub(super) forward: Forward<N>,
    /// As its sender saw the run.
    pub(super) epoch: Epoch,
    pub(super) at: Instant,
}

/// The newest command, until the loop has it.
#[derive(Clone, Debug)]
pub(super) struct Newest<const N: usize>(Arc<Mutex<Option<Streamed<N>>>>);

impl<const N: usize> Default for Newest<N> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<const N: usize> Newest<N> {
    /// In place of one that waits there.
    pub(super) fn put(&self, streamed: Streamed<N>) {
        // Nothing that holds it can panic.
        if let Ok(mut slot) = self.0.lock() {
            *slot = Some(streamed);
        }
    }

    /// The one that waits. Not while somebody puts another one there, who rings then.
    pub(super) fn take(&self) -> Option<Streamed<N>> {
        self.0.try_lock().ok()?.take()
    }
}

/// Why a command is not heeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unheeded {
    /// The law refuses it.
    Law(ForwardError),
    /// A motion is under way, or the run is for one alone.
    Motion,
    /// A hand or a force moves the arm.
    Guided,
    /// It was sent before the mode changed.
    Epoch,
    /// It lay here for longer than it holds.
    Late,
}

impl Unheeded {
    /// As it stands in figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Law(error) => error.name(),
            Self::Motion => "MotionUnderWay",
            Self::Guided => "Guided",
            Self::Epoch => "WrongEpoch",
            Self::Late => "Late",
        }
    }
}

impl fmt::Display for Unheeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Law(ForwardError::NotCommanding) => f.write_str(Reason::NotCommanding.text()),
            Self::Law(error) => error.fmt(f),
            Self::Motion => ForwardError::MotionUnderWay.fmt(f),
            Self::Guided => f.write_str("a hand or a force moves the arm"),
            Self::Epoch => f.write_str("the mode has changed since it was sent"),
            Self::Late => f.write_str("it waited here for longer than it holds"),
        }
    }
}

/// How streams have gone so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Streaming {
    /// What is under way.
    pub stage: Forwarding,
    /// The number of times that speeds or torques have lapsed.
    pub lapses: u32,
    /// How many commands were refused, and why the last one.
    pub refused: u32,
    /// The reason for which the last command was refused.
    pub why: Option<Unheeded>,
}

impl Streaming {
    pub(super) fn refuse(&mut self, why: Unheeded) {
        self.refused = self.refused.saturating_add(1);
        self.why = Some(why);
    }

    /// The law stands so.
    pub(super) fn look(&mut self, stage: Forwarding) {
        if stage == Forwarding::Lapsed && self.stage != Forwarding::Lapsed {
            self.lapses = self.lapses.saturating_add(1);
        }
        self.stage = stage;
    }
}
