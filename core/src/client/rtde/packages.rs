//! The division of a received RTDE stream into packages, and the protocol that processes them.

use super::config::ClientConfig;
use super::conversation::{Conversation, Sink};
use super::inputs::Inputs;
use super::memory::{ClientError, ClientMemory};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::frame::{Assembler, Framing};
use outrigger_wire::rtde::DynamicRecipe;
use outrigger_wire::time::Instant;

/// The RTDE packages of one connection, from received bytes to events.
#[derive(Debug)]
pub(super) struct Packages<'n, 'm> {
    pub(super) assembler: Assembler<'m>,
    pub(super) conversation: Conversation<'n, 'm>,
}

impl<'n, 'm> Packages<'n, 'm> {
    pub(super) fn new(
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

    pub(super) fn opened(&mut self, now: Instant) {
        self.assembler.reset();
        self.conversation.open(now);
    }

    pub(super) fn closed(&mut self) {
        self.conversation.close();
    }

    pub(super) fn window(&mut self) -> &mut [u8] {
        self.assembler.window()
    }

    /// Processes the next RTDE package and returns its size \[B\], or 0 if the stream contains no package there; `None`
    /// if more bytes are needed.
    pub(super) fn step(&mut self, arrival: Instant, now: Instant, on: Sink<'_, 'n>) -> Option<usize> {
        let Self { assembler, conversation } = self;
        Some(match assembler.next_frame()? {
            Ok(package) => {
                conversation.take(package, arrival, now, on);
                package.len()
            }
            Err(error) => {
                conversation.skip(error, on);
                0
            }
        })
    }

    pub(super) fn tick(&mut self, now: Instant, on: Sink<'_, 'n>) {
        self.conversation.tick(now, on);
    }

    pub(super) fn poll_transmit(&mut self) -> Option<&[u8]> {
        self.conversation.poll_transmit()
    }

    pub(super) const fn has_output(&self) -> bool {
        self.conversation.has_output()
    }

    pub(super) const fn next_deadline(&self) -> Option<Instant> {
        self.conversation.next_deadline()
    }
}

/// The saving and loading of received RTDE bytes and of the RTDE protocol's state, for recordings of a session.
#[cfg(feature = "record")]
impl Packages<'_, '_> {
    pub(super) const fn memory_size(&self) -> usize {
        self.assembler.memory_size()
    }

    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&self.assembler.pending())?;
        self.conversation.save(to)
    }

    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.assembler.restore(&from.take()?)?;
        self.conversation.load(from)
    }
}
