//! Outputs of the controller: writes that are waiting, sent or confirmed.
//!
//! | a write is | and then |
//! |---|---|
//! | waiting | *sent*, when the link accepts it; *superseded* by a later one for its output; *refused* after too long |
//! | sent | *confirmed* by a later message that shows it; *not confirmed* after too long |
//! | | *never shown* after too long, if this controller does not publish such an output |
//! | confirmed | *overwritten* by another writer, if the controller shows another value |
//!
//! Writes that would change motion, see [`Write::needs_rest`], are refused while the arm is commanded.
//!
//! Only requested writes are ever sent: outputs set by another writer are not touched, and no write is repeated.
//!
//! ```
//! use outrigger_core::command::outputs::{DigitalOutput, Outputs, Write};
//! use outrigger_wire::time::Instant;
//!
//! let mut outputs = Outputs::default();
//! let write = Write::Digital { output: DigitalOutput::Standard(3), high: true };
//! outputs.set(write, Instant::ZERO).expect("room for it");
//! assert_eq!(outputs.send(Instant::ZERO).as_slice(), [write]);
//! assert!(!outputs.is_idle(), "the controller has not shown it yet");
//! ```

mod reported_outputs;
#[cfg(all(test, feature = "outputs"))]
mod tests;
mod variable;
mod write;
mod written_outputs;

use heapless::Vec;
pub use outrigger_urscript::{AnalogDomain, DigitalOutput, ToolVoltage};

pub use reported_outputs::{ReportedOutputs, ShownAnalog, digital_bit, digital_levels};
pub use variable::{VARIABLES, VariableKind, VariableValue};
pub use write::{Write, WriteOutcome, WriteRefusal};
pub use written_outputs::Image;

use crate::robot::settings;
use outrigger_wire::time::{Duration, Instant};

/// The largest number of writes of the controller's outputs that wait to be sent or confirmed at a time.
pub const MAX_WRITES: usize = if cfg!(feature = "outputs") { 16 } else { 1 };
/// The largest number of writes of outputs that are sent together.
pub const BATCH: usize = 4;

settings! {
    /// The timeouts and tolerances for writing outputs of the controller.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct OutputsConfig in "" {
        /// A write that the link does not accept within this time is refused. Default 500 ms.
        pub send_within: Duration [0.01 to 60.0 "s"] = Duration::from_millis(500),
        /// A write that the controller does not show within this time after it was sent is reported as not confirmed.
        /// Most outputs are published only ten times a second. Default 1 s.
        pub confirm_within: Duration [0.01 to 60.0 "s"] = Duration::from_secs(1),
        /// The largest difference between the published and the sent level of an analog output that counts as
        /// confirmed. Default 0.02.
        pub analog_tolerance: f32 [0.0 to 1.0] = 0.02,
    }
}

/// The writes of the controller's outputs that are not confirmed yet, and the values written so far in this session.
/// Default: none.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Outputs {
    /// The pending writes of outputs, in the order in which they were requested.
    entries: Vec<Entry, MAX_WRITES>,
    image: Image,
    /// The kinds of output that this controller has published so far; see [`Measured`].
    seen: Measured,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    write: Write,
    stage: OutputState,
    /// The time at which the write was queued (stage `Waiting`) or sent (stage `Sent`).
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum OutputState {
    Waiting,
    Sent,
}

/// The kinds of output that the controller publishes. If it does not publish a kind, its absence from a message means
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Measured {
    digital: bool,
    analog: bool,
    tool_voltage: bool,
    speed_slider: bool,
    payload: bool,
    tcp: bool,
}

impl Measured {
    fn take_in(&mut self, shown: &ReportedOutputs) {
        self.digital |= shown.digital.is_some();
        self.analog |= shown.analog.is_some();
        self.tool_voltage |= shown.tool_voltage.is_some();
        self.speed_slider |= shown.speed_slider.is_some();
        self.payload |= shown.payload.is_some();
        self.tcp |= shown.tcp.is_some();
    }

    const fn has(self, write: &Write) -> bool {
        match write {
            Write::Digital { .. } => self.digital,
            Write::Analog { .. } => self.analog,
            Write::ToolVoltage(_) => self.tool_voltage,
            Write::SpeedSlider(_) => self.speed_slider,
            Write::Payload { .. } => self.payload,
            #[cfg(feature = "motions")]
            Write::TargetPayload { .. } => self.payload,
            Write::Tcp(_) => self.tcp,
            Write::Flag { .. } | Write::ZeroForceTorqueSensor | Write::Gravity(_) | Write::Variable { .. } => false,
        }
    }
}

impl Outputs {
    /// Returns the values of the controller's outputs that this session has written.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// Returns whether no write of an output is pending, and none was sent in this session: published values need not
    /// be compared then.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.entries.is_empty() && self.image.is_empty()
    }

    /// Returns the number of writes of outputs that wait to be sent or confirmed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.entries.len()
    }

    /// Queues `write`, the new value of an output. It replaces an earlier one for the same output that is not confirmed
    /// yet, which is returned: that one is [superseded](WriteOutcome::Superseded).
    ///
    /// # Errors
    /// [`WriteRefusal::Full`] if there is no room.
    pub fn set(&mut self, write: Write, now: Instant) -> Result<Option<Write>, WriteRefusal> {
        let superseded = self.take(|entry| entry.write.sets_the_same(&write));
        let entry = Entry { write, stage: OutputState::Waiting, since: now };
        self.entries.push(entry).map_err(|_| WriteRefusal::Full)?;
        Ok(superseded.map(|entry| entry.write))
    }

    /// Returns the writes of outputs to send now, in the order in which they were requested: several statements of one
    /// program, or one that [must be sent alone](Write::goes_alone). They count as [sent](WriteOutcome::Sent) from now
    /// on.
    pub fn send(&mut self, now: Instant) -> Vec<Write, BATCH> {
        let mut batch = Vec::new();
        for entry in &mut self.entries {
            if entry.stage != OutputState::Waiting {
                continue;
            }
            let alone = entry.write.goes_alone();
            if batch.is_full() || (alone && !batch.is_empty()) || batch.push(entry.write).is_err() {
                break;
            }
            (entry.stage, entry.since) = (OutputState::Sent, now);
            self.image.write(&entry.write);
            if alone {
                break;
            }
        }
        batch
    }

    /// Compares the pending writes of outputs, and the confirmed ones, with the values that the controller published in
    /// a message that arrived at `arrival`. Returns the outcome of one write; call it until it returns `None`.
    pub fn observe(
        &mut self,
        config: &OutputsConfig,
        shown: &ReportedOutputs,
        arrival: Instant,
    ) -> Option<(Write, WriteOutcome)> {
        self.seen.take_in(shown);
        let tolerance = config.analog_tolerance;
        // Checked first, so that a message that confirms a write does not contradict it as well.
        if let Some(write) = self.image.overwritten(shown, tolerance) {
            return Some((write, WriteOutcome::Overwritten));
        }
        let confirmed = self.take(|entry| {
            // A message that arrived together with the sending, or before it, was composed before it.
            let after = entry.stage == OutputState::Sent && arrival > entry.since;
            after && shown.shows(&entry.write, tolerance) == Some(true)
        })?;
        self.image.confirm(&confirmed.write);
        Some((confirmed.write, WriteOutcome::Confirmed(arrival.since(confirmed.since))))
    }

    /// Returns the outcome of one write of an output whose time to be sent or confirmed is over; call it until it
    /// returns `None`.
    pub fn overdue(&mut self, config: &OutputsConfig, now: Instant) -> Option<(Write, WriteOutcome)> {
        let entry = self.take(|entry| now >= entry.due(config))?;
        let news = match entry.stage {
            OutputState::Waiting => WriteOutcome::Refused(WriteRefusal::LinkStale),
            OutputState::Sent if self.seen.has(&entry.write) => WriteOutcome::NotConfirmed,
            OutputState::Sent => WriteOutcome::NeverShown,
        };
        Some((entry.write, news))
    }

    /// Returns the earliest time at which [`overdue`](Self::overdue) will return a write; `None` if no write is
    /// pending.
    #[must_use]
    pub fn next_deadline(&self, config: &OutputsConfig) -> Option<Instant> {
        self.entries.iter().map(|entry| entry.due(config)).min()
    }

    /// Removes and returns the first unsent write that [needs the arm at rest](Write::needs_rest), because the arm is
    /// commanded by now; `None` if there is none.
    pub fn take_back(&mut self) -> Option<Write> {
        self.take(|entry| entry.stage == OutputState::Waiting && entry.write.needs_rest()).map(|entry| entry.write)
    }

    /// Removes and returns the first pending write of an output for which `concerned` returns `true`, because it will
    /// have no effect; `None` if there is none.
    pub fn withdraw(&mut self, concerned: impl Fn(&Write) -> bool) -> Option<Write> {
        self.take(|entry| concerned(&entry.write)).map(|entry| entry.write)
    }

    /// Discards all writes and values of outputs at the end of a session, because the outputs may change unnoticed from
    /// then on.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn take(&mut self, is: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let at = self.entries.iter().position(is)?;
        self.remove(at)
    }

    #[inline(never)]
    fn remove(&mut self, at: usize) -> Option<Entry> {
        let taken = *self.entries.get(at)?;
        let mut place = 0..;
        self.entries.retain(|_| place.next() != Some(at));
        Some(taken)
    }
}

impl Entry {
    fn due(&self, config: &OutputsConfig) -> Instant {
        self.since
            + match self.stage {
                OutputState::Waiting => config.send_within,
                OutputState::Sent => config.confirm_within + self.write.takes(),
            }
    }
}
