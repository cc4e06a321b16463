//! Outputs of the controller: what waits to be set, what is on its way, what the controller shows of it.
//!
//! | a write is | and then |
//! |---|---|
//! | waiting | *sent*, where the link takes it; *superseded* by a later one for the same output; *refused* after too long |
//! | sent | *confirmed* by a message that came after it and shows it; *not confirmed* after too long |
//! | | *never shown* after too long, where this controller shows no such thing |
//! | confirmed | *overwritten* by somebody else, where the controller shows something else |
//!
//! What would change motion, by [`Write::needs_rest`], is refused while the arm is commanded.
//!
//! Only what was asked for is ever sent: an output that another writer sets is left to it, and nothing is repeated.
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

mod image;
mod shown;
#[cfg(all(test, feature = "outputs"))]
mod tests;
mod variable;
mod write;

use heapless::Vec;
pub use outrigger_urscript::{AnalogDomain, DigitalOutput, ToolVoltage};

pub use image::Image;
pub use shown::{Shown, ShownAnalog, digital_bit, digital_levels};
pub use variable::{VARIABLES, VariableKind, VariableValue};
pub use write::{Write, WriteNews, WriteRefusal};

use crate::robot::settings;
use outrigger_wire::time::{Duration, Instant};

/// Writes that may wait to be sent or confirmed at a time.
pub const MAX_WRITES: usize = if cfg!(feature = "outputs") { 16 } else { 1 };
/// Writes that go out together at most.
pub const BATCH: usize = 4;

settings! {
    /// How long writes may take.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct OutputsConfig in "" {
        /// One that the link does not take within this time is refused. Default 500 ms.
        pub send_within: Duration [0.01 to 60.0 "s"] = Duration::from_millis(500),
        /// One that the controller does not show within this time of being sent is not confirmed. Most outputs are shown
        /// ten times a second only. Default 1 s.
        pub confirm_within: Duration [0.01 to 60.0 "s"] = Duration::from_secs(1),
        /// Level of an analog output that is shown may differ by this much from the one that was sent. Default 0.02.
        pub analog_tolerance: f32 [0.0 to 1.0] = 0.02,
    }
}

/// What was asked for and is not confirmed yet. Default: nothing waits, nothing was written.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Outputs {
    /// In the order in which they were asked for.
    entries: Vec<Entry, MAX_WRITES>,
    image: Image,
    /// What this controller has shown so far; see [`Seen`].
    seen: Seen,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    write: Write,
    stage: Stage,
    /// When the stage began.
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    Waiting,
    Sent,
}

/// Which kinds of output the controller publishes: that one of them is not shown means nothing otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Seen {
    digital: bool,
    analog: bool,
    tool_voltage: bool,
    speed_slider: bool,
    payload: bool,
    tcp: bool,
}

impl Seen {
    fn take_in(&mut self, shown: &Shown) {
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
    /// What we wrote in this session.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// Nothing was asked for since the start: whatever the controller shows is not about us.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.entries.is_empty() && self.image.is_empty()
    }

    /// How many wait to be sent or confirmed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.entries.len()
    }

    /// `write` is to be set. It takes the place of an earlier one for the same output that is not confirmed yet, which is
    /// given back: that one is [superseded](WriteNews::Superseded).
    ///
    /// # Errors
    /// [`WriteRefusal::Full`].
    pub fn set(&mut self, write: Write, now: Instant) -> Result<Option<Write>, WriteRefusal> {
        let superseded = self.take(|entry| entry.write.sets_the_same(&write));
        let entry = Entry { write, stage: Stage::Waiting, since: now };
        self.entries.push(entry).map_err(|_| WriteRefusal::Full)?;
        Ok(superseded.map(|entry| entry.write))
    }

    /// Returns what goes out now, in the order in which it was asked for: some statements of one program, or one that
    /// [goes alone](Write::goes_alone). Each of them is [sent](WriteNews::Sent) by that.
    pub fn send(&mut self, now: Instant) -> Vec<Write, BATCH> {
        let mut batch = Vec::new();
        for entry in &mut self.entries {
            if entry.stage != Stage::Waiting {
                continue;
            }
            let alone = entry.write.goes_alone();
            if batch.is_full() || (alone && !batch.is_empty()) || batch.push(entry.write).is_err() {
                break;
            }
            (entry.stage, entry.since) = (Stage::Sent, now);
            self.image.write(&entry.write);
            if alone {
                break;
            }
        }
        batch
    }

    /// What follows for one write from what the controller shows, in a message that arrived at `arrival`: to be asked until
    /// it is `None`.
    pub fn observe(&mut self, config: &OutputsConfig, shown: &Shown, arrival: Instant) -> Option<(Write, WriteNews)> {
        self.seen.take_in(shown);
        let tolerance = config.analog_tolerance;
        // First, so that a message that confirms does not contradict as well.
        if let Some(write) = self.image.overwritten(shown, tolerance) {
            return Some((write, WriteNews::Overwritten));
        }
        let confirmed = self.take(|entry| {
            // What arrived with the answer, or before it, was said before it.
            let after = entry.stage == Stage::Sent && arrival > entry.since;
            after && shown.shows(&entry.write, tolerance) == Some(true)
        })?;
        self.image.confirm(&confirmed.write);
        Some((confirmed.write, WriteNews::Confirmed(arrival.since(confirmed.since))))
    }

    /// What follows for one write from the time that has passed: to be asked until it is `None`.
    pub fn overdue(&mut self, config: &OutputsConfig, now: Instant) -> Option<(Write, WriteNews)> {
        let entry = self.take(|entry| now >= entry.due(config))?;
        let news = match entry.stage {
            Stage::Waiting => WriteNews::Refused(WriteRefusal::LinkStale),
            Stage::Sent if self.seen.has(&entry.write) => WriteNews::NotConfirmed,
            Stage::Sent => WriteNews::NeverShown,
        };
        Some((entry.write, news))
    }

    /// When [`overdue`](Self::overdue) has something to say.
    #[must_use]
    pub fn next_deadline(&self, config: &OutputsConfig) -> Option<Instant> {
        self.entries.iter().map(|entry| entry.due(config)).min()
    }

    /// Takes out the first of what waits to be sent that [needs rest](Write::needs_rest), where the arm is commanded by now.
    pub fn take_back(&mut self) -> Option<Write> {
        self.take(|entry| entry.stage == Stage::Waiting && entry.write.needs_rest()).map(|entry| entry.write)
    }

    /// Takes out the first of what waits or is on its way that is `concerned`: it will have no effect.
    pub fn withdraw(&mut self, concerned: impl Fn(&Write) -> bool) -> Option<Write> {
        self.take(|entry| concerned(&entry.write)).map(|entry| entry.write)
    }

    /// The session is over: what the outputs are is not known any more.
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
                Stage::Waiting => config.send_within,
                Stage::Sent => config.confirm_within + self.write.takes(),
            }
    }
}
