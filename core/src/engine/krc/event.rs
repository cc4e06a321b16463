//! The events and counts that only an engine for a KRC reports.

use outrigger_wire::WireError;
use outrigger_wire::fri::{ControlScheme, FriState, Quality};

/// An event of the KRC for an operator or a log.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum KrcEvent {
    /// A KRC was found, or the period of its measurements changed. Datagrams from other senders are ignored.
    Found {
        /// The period of the KRC's measurements \[µs\].
        period_micros: u32,
    },
    /// No measurement arrived for the configured `silence`: the KRC counts as lost. The next sender of a measurement is
    /// accepted, if it has the configured address or none is configured.
    Silent,
    /// The number of datagrams from foreign senders that were ignored so far; reported at 1, 10, 100 and so on.
    Foreign(u64),
    /// A datagram that is no measurement was ignored; reported for the first, the 10th, the 100th and so on.
    Malformed {
        /// The number of malformed datagrams so far.
        count: u64,
        /// The error in the newest malformed datagram.
        error: WireError,
    },
    /// The state of FRI on the KRC, monitor or command, changed.
    State(FriState),
    /// The KRC's own rating of the link changed.
    Quality(Quality),
    /// The control scheme that the KRC uses changed.
    Scheme(ControlScheme),
    /// The drives of the arm were switched on (`true`) or off.
    Power(bool),
    /// The KRC commands in a control scheme in which the arm does not follow our commands: arming or commanding ends
    /// with [`OtherScheme`](crate::robot::Reason::OtherScheme).
    OtherScheme {
        /// The control scheme that the KRC uses.
        krc: ControlScheme,
        /// The control scheme of the [`Control`](super::Control) in force here.
        ours: ControlScheme,
    },
}

/// The KRC's report on the link and on its drives: the numbers as received.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KrcReport {
    /// The share of the KRC's last 100 measurements that were answered, 1 at best.
    pub answer_rate: f32,
    /// The mean latency of our answers, as the KRC measures it \[s\].
    pub latency: f32,
    /// The mean jitter of our answers, as the KRC measures it \[s\].
    pub jitter: f32,
    /// The number of answers that the KRC missed since the interface was opened.
    pub missed: u32,
    /// The drives that are switched on, bit i for drive i.
    pub power: u16,
    /// The drives with an error, bit i for drive i.
    pub error: u16,
    /// The drives with a warning, bit i for drive i.
    pub warning: u16,
}

/// The counts of measurements, commands and foreign datagrams since the engine was made.
///
/// `measurements` is `commands + overtaken + unused`, and one more while the newest waits for its answer. Measurements
/// without a known setpoint are in none of the three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct KrcCounts {
    /// The number of all measurements received from the KRC.
    pub measurements: u64,
    /// The number of commands sent: one for each measurement that was the newest when it was answered.
    pub commands: u64,
    /// The number of measurements that were replaced by a newer one before they could be answered.
    pub overtaken: u64,
    /// The number of measurements that were duplicates, too late, impossible for this arm or not yet trusted, and of
    /// those that were not answered, because the KRC fell silent or the answer could not be written.
    pub unused: u64,
    /// The number of received datagrams that are no measurements.
    pub malformed: u64,
    /// The number of datagrams received from senders other than the KRC.
    pub foreign: u64,
}

impl KrcCounts {
    /// Adds a measurement that gets no answer to the counts, if there is one (`any`).
    pub(super) fn unanswered(&mut self, any: bool) {
        self.unused = self.unused.saturating_add(u64::from(any));
    }
}
