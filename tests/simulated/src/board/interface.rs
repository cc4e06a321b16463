//! The network interface between the board's stack and the cable.

use embassy_net::{Stack, StackResources};
use outrigger_emulated::executor::{Task, leak};
use outrigger_emulated::w5500::{Chip, Pins, Rate, Timing};
use outrigger_sim::time::SimTime;

use super::cable::{Cable, MAC, address};

/// The network interface of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// An interface in memory that holds at most this many bytes of frames until the board takes them; a frame that
    /// does not fit is lost. It takes no time.
    Memory(usize),
    /// A W5500 on an SPI bus at 25 MHz, with the driver of the boards that have one.
    W5500,
}

/// The network interface of a board during a run: a cable in memory, or the pins of a simulated W5500.
pub(super) enum Attachment {
    Cable(Cable),
    Chip(Pins),
}

impl Attachment {
    /// Creates the interface with the board's stack on it, and the tasks of both.
    pub(super) fn new<const SOCKETS: usize>(
        interface: Interface,
        resources: &'static mut StackResources<SOCKETS>,
        seed: u64,
    ) -> (Stack<'static>, Self, Vec<Task>) {
        match interface {
            Interface::Memory(room) => {
                let cable = Cable::new(room);
                let (stack, mut runner) = embassy_net::new(cable.clone(), address(), resources, seed);
                (stack, Self::Cable(cable), vec![Task::new(async move { runner.run().await })])
            }
            Interface::W5500 => {
                let pins = Pins::new(Chip::new(Timing::default(), seed as u16), Rate::default());
                let state = leak(outrigger_w5500::State::<8, 8>::new());
                let (spi, interrupt, reset) = (pins.spi(), pins.interrupt(), pins.reset());
                let (device, driver, _) = outrigger_w5500::new(MAC, state, spi, interrupt, reset);
                let (stack, mut runner) = embassy_net::new(device, address(), resources, seed);
                let tasks = vec![
                    Task::new(async move {
                        driver.run().await;
                    }),
                    Task::new(async move { runner.run().await }),
                ];
                (stack, Self::Chip(pins), tasks)
            }
        }
    }

    /// Delivers a frame to the board.
    pub(super) fn deliver(&self, frame: Vec<u8>) {
        match self {
            Self::Cable(cable) => cable.deliver(frame),
            Self::Chip(pins) => pins.deliver(frame),
        }
    }

    /// Takes the next frame that the board has sent.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        match self {
            Self::Cable(cable) => cable.take(),
            Self::Chip(pins) => pins.take().map(|(_, frame)| frame),
        }
    }

    /// Plugs the network cable into the interface, or pulls it.
    pub(super) fn plug(&self, plugged: bool) {
        match self {
            Self::Cable(cable) => cable.plug(plugged),
            Self::Chip(pins) => pins.plug(plugged),
        }
    }

    /// Advances the interface to the time `now`.
    pub(super) fn advance(&self, now: SimTime) {
        if let Self::Chip(pins) = self {
            pins.advance(now);
        }
    }

    /// Returns the time of the interface's next event, [`SimTime::MAX`] if none is due.
    pub(super) fn next_event(&self) -> SimTime {
        self.pins().map_or(SimTime::MAX, Pins::next_event)
    }

    pub(super) fn pins(&self) -> Option<&Pins> {
        match self {
            Self::Cable(_) => None,
            Self::Chip(pins) => Some(pins),
        }
    }
}
