//! Passes the speeds, positions or torques that a client streams to the control loop, through a slot for the newest
//! command, without a queue and without answers.

use std::fmt;
use std::sync::{Arc, Mutex};

use outrigger_core::law::{Forward, ForwardError, Forwarding};
use outrigger_core::mode::Epoch;
use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

/// A speed, position or torque command that a client has streamed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Streamed<const N: usize> {
    pub(super) forward: Forward<N>,
    /// The session's epoch (a counter of connections and losses of authority) that the sender had seen.
    pub(super) epoch: Epoch,
    pub(super) at: Instant,
}

/// The slot for the newest streamed command, until the control loop takes it.
#[derive(Clone, Debug)]
pub(super) struct LatestCommand<const N: usize>(Arc<Mutex<Option<Streamed<N>>>>);

impl<const N: usize> Default for LatestCommand<N> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<const N: usize> LatestCommand<N> {
    /// Stores a client's streamed command in the slot, in place of an earlier one.
    pub(super) fn put(&self, streamed: Streamed<N>) {
        // No code that holds the lock can panic.
        if let Ok(mut slot) = self.0.lock() {
            *slot = Some(streamed);
        }
    }

    /// Takes the newest streamed command out of the slot. Returns `None` if there is none, and while one is being
    /// stored; the thread that stores it then wakes the control loop.
    pub(super) fn take(&self) -> Option<Streamed<N>> {
        self.0.try_lock().ok()?.take()
    }
}

/// A reason why a command that a client has streamed is ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StreamRejection {
    /// The control law rejects the streamed command, for this reason.
    Law(ForwardError),
    /// The streamed command is ignored, because a motion is active, or the run is for a single motion.
    Motion,
    /// The streamed command is ignored while freedrive or force mode moves the arm.
    Guided,
    /// The session's epoch (a counter of connections and losses of authority) has changed since the client sent the
    /// streamed command.
    Epoch,
    /// The validity of the streamed command has expired before the control loop took it.
    Late,
}

impl StreamRejection {
    /// Returns the name of the reason for the rejection in status messages.
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

impl fmt::Display for StreamRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Law(ForwardError::NotCommanding) => f.write_str(Reason::NotCommanding.text()),
            Self::Law(error) => error.fmt(f),
            Self::Motion => ForwardError::MotionUnderWay.fmt(f),
            Self::Guided => f.write_str("freedrive or force mode is active"),
            Self::Epoch => f.write_str("the mode changed after it was sent"),
            Self::Late => f.write_str("it waited longer than it is valid"),
        }
    }
}

/// The progress of the clients' streams of commands: the active one, the expired ones (lapses) and the rejections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Streaming {
    /// The state of the clients' stream of commands: idle, active (by its kind), or lapsed.
    pub stage: Forwarding,
    /// The number of times that a stream has lapsed: the newest command expired before another one arrived, and the arm
    /// was brought to rest.
    pub lapses: u32,
    /// The number of streamed commands that were rejected.
    pub refused: u32,
    /// The reason for which the last rejected command of a stream was rejected.
    pub why: Option<StreamRejection>,
}

impl Streaming {
    pub(super) fn refuse(&mut self, why: StreamRejection) {
        self.refused = self.refused.saturating_add(1);
        self.why = Some(why);
    }

    /// Records the kind of stream that the control law follows at present, and counts streams that have lapsed (the
    /// newest command expired before another one arrived).
    pub(super) fn look(&mut self, stage: Forwarding) {
        if stage == Forwarding::Lapsed && self.stage != Forwarding::Lapsed {
            self.lapses = self.lapses.saturating_add(1);
        }
        self.stage = stage;
    }
}
