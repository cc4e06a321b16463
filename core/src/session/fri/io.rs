//! What goes into the engine, and what it reports.

use core::net::SocketAddr;

use crate::command::Sample;
use crate::command::outputs::Write;
use crate::mode::{Contact, Epoch};
use crate::time::Instant;
use crate::wire::WireError;
use crate::wire::fri::{ControlScheme, FriState, Quality};

/// One input.
#[derive(Clone, Copy, Debug)]
pub enum FriInput<'a> {
    /// A datagram was read.
    Datagram {
        /// Who sent it.
        from: SocketAddr,
        /// What it holds.
        bytes: &'a [u8],
        /// When it was read, taken right after the read.
        arrival: Instant,
    },
    /// No further datagram waits: what has been read is complete.
    Drained,
    /// The time that was asked for has come.
    Tick,
    /// A sensor's reading.
    Sample(Sample),
    /// An operator asks to command, by a message. The epoch is the machine's as the operator saw it; another is refused.
    Request(Epoch),
    /// The same, to go on with a suspended motion.
    Resume(Epoch),
    /// A pin of this device is high or low now, and has been for
    /// [`pin_filter`](crate::mode::OperatorConfig::pin_filter). The newest level holds until the next.
    Pin(Contact, bool),
    /// The operator takes the request back.
    Release,
    /// The operator has seen the latched reasons.
    Acknowledge,
    /// Set an output as beside a controller of Universal Robots: refused by an event. A KRL program sets outputs, by
    /// [`krl_mut`](super::FriSession::krl_mut).
    Set(Write),
    /// Stop the arm, and wait for the KRL program to leave the command state; then
    /// [`is_finished`](super::FriSession::is_finished). No request is accepted any more.
    Shutdown,
}

/// One datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// Where to.
    pub to: SocketAddr,
    /// What.
    pub bytes: &'a [u8],
}

/// Something about the peer that an operator or a log should know.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum FriEvent {
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
pub struct PeerReport {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct FriCounts {
    /// Measurements of the peer, whatever became of them.
    pub measurements: u64,
    /// Commands sent: one per measurement that was the newest when it was answered.
    pub commands: u64,
    /// Measurements that were overtaken by a newer one before they could be answered.
    pub overtaken: u64,
    /// Measurements received before, too late, or not yet believed.
    pub unused: u64,
    /// Datagrams that are no measurements.
    pub malformed: u64,
    /// Datagrams of somebody else.
    pub foreign: u64,
}

/// Whether a count is worth telling: 1, 10, 100, …
pub(super) const fn is_milestone(count: u64) -> bool {
    match count.checked_ilog10() {
        Some(digits) => count == 10_u64.saturating_pow(digits),
        None => false,
    }
}
