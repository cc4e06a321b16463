//! The client: a stream that is cut into packages, and a conversation that understands them.

use super::cadence::Cadence;
use super::config::ClientConfig;
use super::conversation::{Conversation, Inputs, RtdeCounts, WriteError};
use super::event::Event;
use crate::frame::{Assembler, Framing};
#[cfg(feature = "postcard")]
use crate::recorder::{Loader, Saver};
use crate::robot::BadValue;
use crate::time::Instant;
use crate::wire::WireError;
use crate::wire::rtde::{DynamicRecipe, Level, Protocol, Value};

/// Memory of one client, from the caller.
#[derive(Debug)]
pub struct ClientMemory<'m> {
    /// What is received into: a package longer than it is skipped. 1 KiB holds 100 variables and the longest texts.
    pub receive: &'m mut [u8],
    /// What is transmitted from: a set-up is as long as its list of names and 11 bytes, data as its values and 4.
    pub transmit: &'m mut [u8],
}

/// A client that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ClientError {
    /// A threshold outside its range.
    Config(BadValue),
    /// Too little memory to receive into.
    Memory(WireError),
    /// More recipes of inputs than a controller numbers: 255.
    TooManyInputs,
}

impl core::fmt::Display for ClientError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::Memory(error) => write!(f, "receive memory: {error}"),
            Self::TooManyInputs => f.write_str("more than 255 recipes of inputs"),
        }
    }
}

impl core::error::Error for ClientError {}

/// See the module.
#[derive(Debug)]
pub struct Client<'n, 'm> {
    assembler: Assembler<'m>,
    conversation: Conversation<'n, 'm>,
}

impl<'n, 'm> Client<'n, 'm> {
    /// A client that waits for [`Self::opened`]; `outputs` are one recipe, `inputs` any number of them.
    ///
    /// # Errors
    /// What is wrong with the configuration or the memory.
    pub fn new(
        config: ClientConfig,
        outputs: DynamicRecipe<'n, 'm>,
        inputs: &'m mut [Inputs<'n, 'm>],
        memory: ClientMemory<'m>,
    ) -> Result<Self, ClientError> {
        config.check().map_err(ClientError::Config)?;
        if inputs.len() > u8::MAX.into() {
            return Err(ClientError::TooManyInputs);
        }
        let assembler = Assembler::new(Framing::Rtde, memory.receive).map_err(ClientError::Memory)?;
        Ok(Self { assembler, conversation: Conversation::new(config, outputs, inputs, memory.transmit) })
    }

    /// A connection stands: everything is negotiated, whatever was known before.
    pub fn opened(&mut self, now: Instant) {
        self.assembler.reset();
        self.conversation.open(now);
    }

    /// The connection is gone.
    pub fn closed(&mut self) {
        self.conversation.close();
    }

    /// Where the next bytes received go; never empty.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.assembler.window()
    }

    /// `count` bytes were received into the window. `arrival` is when they were read, taken right after the read; `now`
    /// is not before it.
    pub fn commit(&mut self, count: usize, arrival: Instant, now: Instant, mut on_event: impl FnMut(Event<'_, 'n>)) {
        self.take(count, arrival, now, &mut on_event);
    }

    fn take(&mut self, count: usize, arrival: Instant, now: Instant, on_event: &mut dyn FnMut(Event<'_, 'n>)) {
        let Self { assembler, conversation } = self;
        assembler.commit(count);
        while let Some(frame) = assembler.next_frame() {
            match frame {
                Ok(package) => conversation.take(package, arrival, now, on_event),
                Err(error) => conversation.skip(error, on_event),
            }
        }
    }

    /// Time has passed. Always harmless.
    pub fn tick(&mut self, now: Instant, mut on_event: impl FnMut(Event<'_, 'n>)) {
        self.conversation.tick(now, &mut on_event);
    }

    /// Whole packages to be written, in order; `None` once all are taken.
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        self.conversation.poll_transmit()
    }

    /// When [`Self::tick`] is due at the latest: in the past while bytes wait to be written, `None` while nothing is
    /// waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.has_output() { Some(Instant::ZERO) } else { self.next_deadline() }
    }

    pub(crate) const fn has_output(&self) -> bool {
        self.conversation.has_output()
    }

    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.conversation.next_deadline()
    }

    /// Data shall flow again after [`Self::pause`]; the answer is [`Event::Started`]. Nothing where it is not paused.
    pub fn start(&mut self, now: Instant, mut on_event: impl FnMut(Event<'_, 'n>)) {
        self.conversation.start(now, &mut on_event);
    }

    /// Data shall not flow; the answer is [`Event::Paused`]. Nothing where it does not flow.
    pub fn pause(&mut self, now: Instant, mut on_event: impl FnMut(Event<'_, 'n>)) {
        self.conversation.pause(now, &mut on_event);
    }

    /// Writes a recipe of inputs, all of its values in order, those of absent inputs left out.
    ///
    /// # Errors
    /// See [`WriteError`]. Nothing is written then.
    pub fn write(&mut self, recipe: usize, values: &[Value]) -> Result<(), WriteError> {
        self.conversation.write(recipe, |inputs, id, out| inputs.emit_data(id, values, out))
    }

    /// Writes a recipe of inputs whose names are those of an [`rtde_recipe!`](crate::rtde_recipe): `emit` is its method
    /// of this name.
    ///
    /// # Errors
    /// See [`WriteError`]. Nothing is written then.
    pub fn write_with(
        &mut self,
        recipe: usize,
        emit: impl FnOnce(u8, &mut [u8]) -> Result<usize, WireError>,
    ) -> Result<(), WriteError> {
        self.conversation.write(recipe, |_, id, out| emit(id, out))
    }

    /// Writes a text to the controller's log; of each text the first 255 bytes.
    ///
    /// # Errors
    /// [`WriteError::NotConnected`]; [`WriteError::Values`] where the transmit memory has no room for it.
    pub fn say(&mut self, level: Level, message: &str, source: &str) -> Result<(), WriteError> {
        self.conversation.say(level, message.as_bytes(), source.as_bytes())
    }

    /// Whether data flows.
    #[must_use]
    pub const fn is_flowing(&self) -> bool {
        self.conversation.is_flowing()
    }

    /// The form that packages have.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        self.conversation.protocol()
    }

    /// The outputs, with what is known of each.
    #[must_use]
    pub const fn outputs(&self) -> &DynamicRecipe<'n, 'm> {
        self.conversation.outputs()
    }

    /// The recipes of inputs.
    #[must_use]
    pub const fn inputs(&self) -> &[Inputs<'n, 'm>] {
        self.conversation.inputs()
    }

    /// Packages of this connection.
    #[must_use]
    pub const fn counts(&self) -> &RtdeCounts {
        self.conversation.counts()
    }

    /// What was missing and late in this connection.
    #[must_use]
    pub const fn cadence(&self) -> &Cadence {
        self.conversation.cadence()
    }

    /// Bytes of this connection that were skipped.
    #[must_use]
    pub const fn dropped_bytes(&self) -> u64 {
        self.assembler.dropped()
    }
}

/// For recordings.
#[cfg(feature = "postcard")]
impl Client<'_, '_> {
    pub(crate) const fn memory_size(&self) -> usize {
        self.assembler.memory_size()
    }

    pub(crate) fn shrink(&mut self, size: usize) -> Option<()> {
        self.assembler.shrink(size)
    }

    pub(crate) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&self.assembler.pending())?;
        self.conversation.save(to)
    }

    pub(crate) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.assembler.restore(&from.take()?)?;
        self.conversation.load(from)
    }
}
