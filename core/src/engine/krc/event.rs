//! What only an engine beside a KRC reports, and counts.

use outrigger_wire::WireError;
use outrigger_wire::fri::{ControlScheme, FriState, Quality};

/// Something about the peer that an operator or a log should know.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum KrcEvent {
    /// A KRC was found; what others send is ignored from now on. Its period \[µs\].
    Found {
        /// Period of its measurements \[µs\].
        period_micros: u32,
    },
    /// Nothing was heard of it for so long that any other may be the next.
    Silent,
    /// So many datagrams of somebody else were ignored by now; told at 1, 10, 100 and so on.
    Foreign(u64),
    /// So many datagrams that are no measurements were ignored by now; told at 1, 10, 100 and so on.
    Malformed {
        /// How many.
        count: u64,
        /// What is wrong with the newest.
        error: WireError,
    },
    /// The state of the interface changed.
    State(FriState),
    /// The KRC's own rating of the link changed.
    Quality(Quality),
    /// The control scheme on the KRC changed.
    Scheme(ControlScheme),
    /// Drives were switched on or off.
    Power(bool),
    /// The KRC commands in a scheme that does not take what is sent: arming or commanding ends with
    /// [`OtherScheme`](crate::robot::Reason::OtherScheme).
    OtherScheme {
        /// The one it is in.
        krc: ControlScheme,
        /// The one of the [`Control`](super::Control) in force.
        ours: ControlScheme,
    },
}

/// What a KRC says of the link and of its drives: numbers as they came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KrcReport {
    /// Share of its last 100 measurements that were answered, 1 at best.
    pub answer_rate: f32,
    /// Mean latency of the answers \[s\].
    pub latency: f32,
    /// Mean jitter \[s\].
    pub jitter: f32,
    /// Answers missed since the interface was opened.
    pub missed: u32,
    /// Drives that are on, bit i drive i.
    pub power: u16,
    /// Drives with an error.
    pub error: u16,
    /// Drives with a warning.
    pub warning: u16,
}

/// What the engine has counted since it was made.
///
/// `measurements` is `commands + overtaken + unused`, and one more while the newest waits for its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KrcCounts {
    /// Measurements of the peer, whatever became of them.
    pub measurements: u64,
    /// Commands sent: one per measurement that was the newest when it was answered.
    pub commands: u64,
    /// Measurements that were overtaken by a newer one before they could be answered.
    pub overtaken: u64,
    /// Measurements received before, too late or not yet believed; and any whose answer could not be written.
    pub unused: u64,
    /// Datagrams that are no measurements.
    pub malformed: u64,
    /// Datagrams of somebody else.
    pub foreign: u64,
}

impl KrcCounts {
    /// A measurement gets no answer, if there is one.
    pub(super) fn unanswered(&mut self, any: bool) {
        self.unused = self.unused.saturating_add(u64::from(any));
    }
}
