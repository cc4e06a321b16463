//! The RTDE client: it receives packages and reports the results as events to be polled.

use heapless::Deque;

use super::config::ClientConfig;
use super::conversation::RtdeCounts;
use super::event::{Data, Event};
use super::inputs::{Inputs, WriteError};
use super::memory::{ClientError, ClientMemory};
use super::package_monitor::Cadence;
use super::packages::Packages;
use crate::client::Output;
use crate::link::Sequence;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::WireError;
use outrigger_wire::rtde::{DynamicRecipe, Level, Protocol, Value};
use outrigger_wire::time::Instant;

/// An input of an RTDE [`Client`]: a change of its connection, start or pause of data, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Input {
    /// A connection to port 30004 is established: the whole set-up of RTDE is negotiated anew.
    Opened,
    /// The RTDE connection has ended. The caller need not report this if the client closed it by [`Output::Close`].
    Closed,
    /// The order to resume the controller's data after [`Self::Pause`]; answered by [`Event::Started`]. No effect if it
    /// is not paused.
    Start,
    /// The order to pause the controller's data; answered by [`Event::Paused`]. No effect if no data flows.
    Pause,
    /// The time returned by `poll_timeout` has come: passed deadlines are processed. Permitted at any time.
    Tick,
}

/// An event of the RTDE client that waits to be polled. Values and texts are not copied into it: they are read from the
/// receive memory when it is polled.
#[derive(Clone, Copy, Debug)]
enum Pending<'n> {
    /// The values of the newest RTDE data package are ready to be polled.
    Data {
        sequence: Option<Sequence>,
        late: bool,
    },
    /// The text of the newest text message is ready to be polled.
    Text,
    /// One event for each output that the controller does not provide, from this index in the list of such outputs on.
    Absent(usize),
    /// One event for each output that has another type on the controller, from this index in the list of such outputs
    /// on.
    OtherType(usize),
    Other(Event<'n, 'n>),
}

/// A client of Real-Time Data Exchange that is used for any number of successive connections.
///
/// The caller connects to TCP port 30004 and reports [`Input::Opened`]; [`Output::Close`] follows [`Event::Failed`].
#[derive(Debug)]
pub struct Client<'n, 'm> {
    packages: Packages<'n, 'm>,
    /// The events that one package or another input caused: at most four.
    events: Deque<Pending<'n>, 8>,
    /// The time at which the newest bytes were read from the connection; `now` is the time of the newest input.
    arrival: Instant,
    now: Instant,
    /// The size of the package to which the events refer \[B\].
    package: usize,
    close: bool,
}

impl<'n, 'm> Client<'n, 'm> {
    /// Creates a client that waits for [`Input::Opened`]; `outputs` is one recipe, `inputs` any number of them.
    ///
    /// # Errors
    /// Returns the fault of the configuration or the memory.
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

    /// Processes one input at `now`, which must never decrease. Drain [`poll_output`](Self::poll_output) and
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

    /// Returns the buffer for the next bytes received; never empty after events were drained.
    pub fn receive_window(&mut self) -> &mut [u8] {
        // The package is moved or overwritten.
        self.package = 0;
        self.packages.window()
    }

    /// Records that `count` bytes were received into the window. `arrival` is the time right after they were read;
    /// `now`, as in [`handle`](Self::handle), is not before it.
    pub fn commit(&mut self, count: usize, arrival: Instant, now: Instant) {
        (self.arrival, self.now) = (arrival, now);
        self.packages.assembler.commit(count);
    }

    /// Returns the next action that the caller has to carry out on the connection; `None` if there is none. Transmitted
    /// bytes are whole packages.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if core::mem::take(&mut self.close) {
            return Some(Output::Close);
        }
        self.packages.poll_transmit().map(Output::Transmit)
    }

    /// Returns the next event of the RTDE connection; `None` if there is none. Each call parses further packages as
    /// needed.
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

    /// Returns the latest time of the next [`Input::Tick`]: in the past while anything is queued, `None` while no
    /// deadline runs.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.packages.has_output() || self.close || !self.events.is_empty() {
            return Some(Instant::ZERO);
        }
        self.next_deadline()
    }

    /// Returns the latest time of the next [`Input::Tick`] without regard to queued outputs and events; `None` while no
    /// deadline runs.
    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.packages.next_deadline()
    }

    /// Returns whether RTDE packages wait to be written to the connection.
    pub(crate) const fn has_packages(&self) -> bool {
        self.packages.has_output()
    }

    /// Writes the recipe of inputs with the index `recipe`: all of its values in order, without those of absent inputs,
    /// which the controller does not have.
    ///
    /// # Errors
    /// [`WriteError`]; nothing is written then.
    pub fn write(&mut self, recipe: usize, values: &[Value]) -> Result<(), WriteError> {
        self.packages.conversation.write(recipe, |inputs, id, out| inputs.emit_data(id, values, out))
    }

    /// Writes the recipe of inputs with the index `recipe`, whose names are those of an
    /// [`rtde_recipe!`](outrigger_wire::rtde_recipe); `emit` is that type's method of the same name.
    ///
    /// # Errors
    /// [`WriteError`]; nothing is written then.
    pub fn write_with(
        &mut self,
        recipe: usize,
        emit: impl FnOnce(u8, &mut [u8]) -> Result<usize, WireError>,
    ) -> Result<(), WriteError> {
        self.packages.conversation.write(recipe, |_, id, out| emit(id, out))
    }

    /// Writes a text to the controller's log; of `message` and `source` the first 255 bytes each.
    ///
    /// # Errors
    /// [`WriteError::NotConnected`]; [`WriteError::Values`] if the transmit memory has no room for it.
    pub fn say(&mut self, level: Level, message: &str, source: &str) -> Result<(), WriteError> {
        self.packages.conversation.say(level, message.as_bytes(), source.as_bytes())
    }

    /// Returns whether the controller sends RTDE data at present.
    #[must_use]
    pub const fn is_flowing(&self) -> bool {
        self.packages.conversation.is_flowing()
    }

    /// Returns the version of RTDE in use on this connection.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.packages.conversation.protocol()
    }

    /// Returns the requested RTDE outputs, each with its state on this connection.
    #[must_use]
    pub const fn outputs(&self) -> &DynamicRecipe<'n, 'm> {
        self.packages.conversation.outputs()
    }

    /// Returns the recipes of RTDE inputs, each written as a whole.
    #[must_use]
    pub const fn inputs(&self) -> &[Inputs<'n, 'm>] {
        self.packages.conversation.inputs()
    }

    /// Returns the counts of RTDE packages received on this connection.
    #[must_use]
    pub const fn counts(&self) -> &RtdeCounts {
        self.packages.conversation.counts()
    }

    /// Returns the statistics of missing and late data packages of this connection.
    #[must_use]
    pub const fn cadence(&self) -> &Cadence {
        self.packages.conversation.cadence()
    }

    /// Returns the number of bytes received on this connection that were skipped.
    #[must_use]
    pub const fn dropped_bytes(&self) -> u64 {
        self.packages.assembler.dropped()
    }
}

/// The saving and loading of the RTDE client's state for recordings of a session: permitted only between two inputs,
/// after everything was polled.
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

/// Queues an event of the RTDE client. Of several absent outputs, or outputs of another type, one entry is queued for
/// all.
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
    // The queue has room for more events than one input causes.
    let _ = events.push_back(pending);
}
