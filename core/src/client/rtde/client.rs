//! The client: packages in, and what came of them as events to be polled.

use heapless::Deque;

use super::cadence::Cadence;
use super::config::ClientConfig;
use super::conversation::RtdeCounts;
use super::event::{Data, Event};
use super::inputs::{Inputs, WriteError};
use super::memory::{ClientError, ClientMemory};
use super::packages::Packages;
use crate::client::Output;
use crate::link::Sequence;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::WireError;
use outrigger_wire::rtde::{DynamicRecipe, Level, Protocol, Value};
use outrigger_wire::time::Instant;

/// What happened outside a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Input {
    /// A connection to port 30004 stands: everything is negotiated, whatever was known before.
    Opened,
    /// The connection is gone. Not needed after [`Output::Close`].
    Closed,
    /// Data shall flow again after [`Self::Pause`]; the answer is [`Event::Started`]. Nothing where it is not paused.
    Start,
    /// Data shall not flow; the answer is [`Event::Paused`]. Nothing where it does not flow.
    Pause,
    /// Time has passed: the instant of `poll_timeout` is here. Always harmless.
    Tick,
}

/// An event without what lies in memory of the client.
#[derive(Clone, Copy, Debug)]
enum Pending<'n> {
    /// The values of the newest package.
    Data {
        sequence: Option<Sequence>,
        late: bool,
    },
    /// The text of the newest package.
    Text,
    /// The absent outputs, from this one on.
    Absent(usize),
    /// The outputs of another type, from this one on.
    OtherType(usize),
    Other(Event<'n, 'n>),
}

/// One client of Real-Time Data Exchange, from one connection to the next.
///
/// The port connects to 30004 and reports [`Input::Opened`]; [`Output::Close`] follows [`Event::Failed`].
#[derive(Debug)]
pub struct Client<'n, 'm> {
    packages: Packages<'n, 'm>,
    /// What one package, or another input, brings: four at most.
    events: Deque<Pending<'n>, 8>,
    /// When the newest bytes were read, and the instant of the newest input.
    arrival: Instant,
    now: Instant,
    /// Size of the package that events are about \[B\].
    package: usize,
    close: bool,
}

impl<'n, 'm> Client<'n, 'm> {
    /// A client that waits for [`Input::Opened`]; `outputs` are one recipe, `inputs` any number of them.
    ///
    /// # Errors
    /// What is wrong with the configuration or the memory.
    pub fn new(
        config: ClientConfig,
        outputs: DynamicRecipe<'n, 'm>,
        inputs: &'m mut [Inputs<'n, 'm>],
        memory: ClientMemory<'m>,
    ) -> Result<Self, ClientError> {
        let (arrival, now) = (Instant::ZERO, Instant::ZERO);
        let packages = Packages::new(config, outputs, inputs, memory)?;
        Ok(Self { packages, events: Deque::new(), arrival, now, package: 0, close: false })
    }

    /// Takes one input at `now`, which never goes back. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.now = now;
        let Self { packages, events, close, .. } = self;
        match input {
            Input::Opened | Input::Closed => {
                events.clear();
                *close = false;
                if input == Input::Opened { packages.opened(now) } else { packages.closed() }
            }
            Input::Start => packages.conversation.start(now, &mut |event| keep(events, close, event)),
            Input::Pause => packages.conversation.pause(now, &mut |event| keep(events, close, event)),
            Input::Tick => packages.tick(now, &mut |event| keep(events, close, event)),
        }
    }

    /// Where the next bytes received go; never empty once events were drained.
    pub fn receive_window(&mut self) -> &mut [u8] {
        // The package is moved, or written over.
        self.package = 0;
        self.packages.window()
    }

    /// `count` bytes were received into the window. `arrival` is when they were read, taken right after the read; `now`,
    /// as in [`handle`](Self::handle), is not before it.
    pub fn commit(&mut self, count: usize, arrival: Instant, now: Instant) {
        (self.arrival, self.now) = (arrival, now);
        self.packages.assembler.commit(count);
    }

    /// The next thing that the port must do; `None` once all is done. Bytes are whole packages.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if core::mem::take(&mut self.close) {
            return Some(Output::Close);
        }
        self.packages.poll_transmit().map(Output::Transmit)
    }

    /// The next event; `None` once all are taken. Packages are understood one by one as events are asked for.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event<'_, 'n>> {
        let pending = loop {
            match self.events.pop_front() {
                None => {
                    let Self { packages, events, arrival, now, close, .. } = self;
                    self.package = packages.step(*arrival, *now, &mut |event| keep(events, close, event))?;
                }
                Some(Pending::Absent(at)) => {
                    if let Some(error) = self.packages.conversation.outputs().absent().nth(at) {
                        let _ = self.events.push_front(Pending::Absent(at.saturating_add(1)));
                        return Some(Event::Absent(error));
                    }
                }
                Some(Pending::OtherType(at)) => {
                    if let Some((name, expected, answered)) = self.packages.conversation.other_types().nth(at) {
                        let _ = self.events.push_front(Pending::OtherType(at.saturating_add(1)));
                        return Some(Event::OtherType { name, expected, answered });
                    }
                }
                Some(Pending::Other(event)) => return Some(event),
                Some(pending) => break pending,
            }
        };
        let package = self.packages.assembler.taken(self.package);
        let conversation = &self.packages.conversation;
        match pending {
            Pending::Data { sequence, late } => {
                let values = conversation.values(package)?;
                Some(Event::Data(Data { values, sequence, late }))
            }
            _ => conversation.text(package).map(Event::Text),
        }
    }

    /// When [`Input::Tick`] is due at the latest: in the past while anything is queued, `None` while nothing is waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.packages.has_output() || self.close || !self.events.is_empty() {
            return Some(Instant::ZERO);
        }
        self.next_deadline()
    }

    /// The same, whatever is queued.
    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.packages.next_deadline()
    }

    /// Whether packages wait to be written.
    pub(crate) const fn has_packages(&self) -> bool {
        self.packages.has_output()
    }

    /// Writes a recipe of inputs, all of its values in order, those of absent inputs left out.
    ///
    /// # Errors
    /// [`WriteError`]: nothing is written then.
    pub fn write(&mut self, recipe: usize, values: &[Value]) -> Result<(), WriteError> {
        self.packages.conversation.write(recipe, |inputs, id, out| inputs.emit_data(id, values, out))
    }

    /// Writes a recipe of inputs whose names are those of an [`rtde_recipe!`](outrigger_wire::rtde_recipe): `emit` is its method
    /// of this name.
    ///
    /// # Errors
    /// [`WriteError`]: nothing is written then.
    pub fn write_with(
        &mut self,
        recipe: usize,
        emit: impl FnOnce(u8, &mut [u8]) -> Result<usize, WireError>,
    ) -> Result<(), WriteError> {
        self.packages.conversation.write(recipe, |_, id, out| emit(id, out))
    }

    /// Writes a text to the controller's log; of each text the first 255 bytes.
    ///
    /// # Errors
    /// [`WriteError::NotConnected`]; [`WriteError::Values`] where the transmit memory has no room for it.
    pub fn say(&mut self, level: Level, message: &str, source: &str) -> Result<(), WriteError> {
        self.packages.conversation.say(level, message.as_bytes(), source.as_bytes())
    }

    /// Whether data flows.
    #[must_use]
    pub const fn is_flowing(&self) -> bool {
        self.packages.conversation.is_flowing()
    }

    /// The form that packages have.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.packages.conversation.protocol()
    }

    /// The outputs, with what is known of each.
    #[must_use]
    pub const fn outputs(&self) -> &DynamicRecipe<'n, 'm> {
        self.packages.conversation.outputs()
    }

    /// The recipes of inputs.
    #[must_use]
    pub const fn inputs(&self) -> &[Inputs<'n, 'm>] {
        self.packages.conversation.inputs()
    }

    /// Packages of this connection.
    #[must_use]
    pub const fn counts(&self) -> &RtdeCounts {
        self.packages.conversation.counts()
    }

    /// What was missing and late in this connection.
    #[must_use]
    pub const fn cadence(&self) -> &Cadence {
        self.packages.conversation.cadence()
    }

    /// Bytes of this connection that were skipped.
    #[must_use]
    pub const fn dropped_bytes(&self) -> u64 {
        self.packages.assembler.dropped()
    }
}

/// For recordings: between two inputs, once everything was polled.
#[cfg(feature = "record")]
impl Client<'_, '_> {
    pub(crate) const fn memory_size(&self) -> usize {
        self.packages.memory_size()
    }

    pub(crate) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        self.packages.save(to)
    }

    pub(crate) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.events.clear();
        (self.package, self.close) = (0, false);
        self.packages.load(from)
    }
}

/// Queues what an event is, and where it is one of many, that there are some.
fn keep<'n>(events: &mut Deque<Pending<'n>, 8>, close: &mut bool, event: Event<'_, 'n>) {
    let pending = match event {
        Event::Data(Data { sequence, late, .. }) => Pending::Data { sequence, late },
        Event::Text(_) => Pending::Text,
        Event::Absent(_) if matches!(events.back(), Some(Pending::Absent(_))) => return,
        Event::Absent(_) => Pending::Absent(0),
        Event::OtherType { .. } if matches!(events.back(), Some(Pending::OtherType(_))) => return,
        Event::OtherType { .. } => Pending::OtherType(0),
        other => match other.kept() {
            Some(event) => Pending::Other(event),
            None => return,
        },
    };
    *close |= matches!(event, Event::Failed(_));
    // There is room for more than one input brings.
    let _ = events.push_back(pending);
}
