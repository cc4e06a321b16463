//! Errors of the W5500 chip and its bus, and their counts.

use core::cell::Cell;

use embedded_hal::spi::ErrorKind;

use crate::registers::Command;

/// An error of the W5500 chip, its bus or its pins. The driver recovers from each by itself; the last one is in
/// [`Counts::last`].
// Numbered from one: `None` of it is all zeros then, and a static `State` takes no flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Trouble {
    /// The SPI bus reported an error of this kind.
    Bus(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] ErrorKind) = 1,
    /// The W5500's reset pin could not be set.
    ResetPin,
    /// The W5500 chip did not accept a command within 10 ms.
    NotTaken(Command),
    /// No W5500 chip answers within 100 ms after its reset.
    NotThere {
        /// The content of the version register, 4 in a W5500; 0 or 255 if no chip drives the bus.
        version: u8,
    },
    /// A register of the W5500 chip has lost its value: the chip was reset by something else, or the bus changes bytes.
    Forgotten {
        /// The W5500's register that has lost its value.
        setting: Setting,
        /// The value that the driver wrote to the register.
        expected: u8,
        /// The value that was read from the register.
        found: u8,
    },
    /// The W5500 chip reported an impossible length of a frame, or number of received bytes.
    Length {
        /// The length of the frame by its prefix \[B\], the prefix's two bytes included; 0 if none was read.
        frame: u16,
        /// The number of received bytes \[B\], prefixes included; at most 16 384 is possible.
        waiting: u16,
    },
    /// The W5500's number of received bytes changed with every one of 64 readings.
    Unsettled,
    /// A frame was not sent within 100 ms although there is a link.
    NotSent,
    /// The firmware requested a reset of the W5500 chip by [`Watch::restart`](crate::Watch::restart), for example
    /// because no frames arrive.
    Silent,
}

/// A register of the W5500 chip that keeps its value; all of them are compared ten times a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Setting {
    /// The register with the W5500's version (VERSIONR), which never changes.
    Version,
    /// The register with the hardware address (SHAR).
    Address,
    /// The register with the mask of sockets that interrupt (SIMR).
    Interrupts,
    /// The register with the mode of socket 0 (S0_MR).
    Mode,
    /// The register with the state of socket 0 (S0_SR).
    State,
    /// The register with the mask of socket 0's events that interrupt (S0_IMR).
    InterruptMask,
    /// The registers with the buffer sizes of socket 0 (S0_RXBUF_SIZE, S0_TXBUF_SIZE).
    Buffers,
}

/// The part of the W5500 chip that an error puts in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Doubt {
    /// The W5500's socket: it is closed and opened, and the link stays.
    Socket,
    /// All of the W5500 chip: it is reset, and the link is lost for some seconds.
    Chip,
}

impl Trouble {
    /// Returns the part of the W5500 chip that this error puts in doubt.
    pub(crate) const fn doubt(self) -> Doubt {
        match self {
            Self::Bus(_) | Self::NotTaken(_) | Self::Length { .. } | Self::Unsettled | Self::NotSent => Doubt::Socket,
            Self::ResetPin | Self::NotThere { .. } | Self::Forgotten { .. } | Self::Silent => Doubt::Chip,
        }
    }
}

/// The counts of a driver of the W5500 since it was made. Each stops at `u32::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counts {
    /// The number of accesses to the W5500 chip: transactions of the SPI bus.
    pub accesses: u32,
    /// The number of received frames that were passed to the network stack.
    pub received: u32,
    /// The number of frames that the W5500 chip was commanded to send.
    pub sent: u32,
    /// The number of the stack's frames that were dropped: there was no link, or no chip.
    pub unsent: u32,
    /// The number of times that a frame waited because the one before it was still being sent.
    pub waited: u32,
    /// The number of received frames of more than 1 514 bytes, which were dropped.
    pub oversized: u32,
    /// The number of polls of the W5500 chip without an interrupt.
    pub looks: u32,
    /// The number of polls without an interrupt that found frames: a few by chance, all if the interrupt line does not
    /// work.
    pub unannounced: u32,
    /// The number of the W5500's interrupts without a received frame.
    pub fruitless: u32,
    /// The number of transactions in which the SPI bus reported an error, [`Trouble::Bus`].
    pub bus: u32,
    /// The number of commands that the W5500 chip did not accept in time, [`Trouble::NotTaken`].
    pub not_taken: u32,
    /// The number of resets after which no chip answered, [`Trouble::NotThere`], or whose pin failed,
    /// [`Trouble::ResetPin`].
    pub not_there: u32,
    /// The number of times that a register had lost its value, [`Trouble::Forgotten`].
    pub forgotten: u32,
    /// The number of impossible lengths, [`Trouble::Length`], and of byte counts that did not settle,
    /// [`Trouble::Unsettled`].
    pub lengths: u32,
    /// The number of frames that were not sent in time although there was a link, [`Trouble::NotSent`].
    pub not_sent: u32,
    /// The number of resets that [`Watch::restart`](crate::Watch::restart) requested, [`Trouble::Silent`].
    pub silent: u32,
    /// The number of times that the W5500's socket was closed and opened.
    pub reopened: u32,
    /// The number of resets of the W5500 chip, the first one included.
    pub resets: u32,
    /// The number of times that the Ethernet link was lost.
    pub link_lost: u32,
    /// The last error of the W5500 chip, its bus or its pins; `None` if there was none.
    pub last: Option<Trouble>,
}

impl Counts {
    /// Returns the number of timeouts: of a command, of a transmission, and of the W5500 after its reset; a failed
    /// reset pin counts as one.
    #[must_use]
    pub fn timeouts(&self) -> u32 {
        self.not_taken.saturating_add(self.not_sent).saturating_add(self.not_there)
    }
}

/// The counts and the requested restart, shared by driver and [`Watch`](crate::Watch).
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: Cell<Counts>,
    restart: Cell<bool>,
}

impl Tally {
    pub(crate) const fn new() -> Self {
        let counts = Counts {
            accesses: 0,
            received: 0,
            sent: 0,
            unsent: 0,
            waited: 0,
            oversized: 0,
            looks: 0,
            unannounced: 0,
            fruitless: 0,
            bus: 0,
            not_taken: 0,
            not_there: 0,
            forgotten: 0,
            lengths: 0,
            not_sent: 0,
            silent: 0,
            reopened: 0,
            resets: 0,
            link_lost: 0,
            last: None,
        };
        Self { counts: Cell::new(counts), restart: Cell::new(false) }
    }

    pub(crate) fn get(&self) -> Counts {
        self.counts.get()
    }

    /// Requests a reset of the W5500 chip by the driver's task.
    pub(crate) fn request_restart(&self) {
        self.restart.set(true);
    }

    /// Takes the request for a reset of the W5500 chip; returns whether there was one.
    pub(crate) fn take_restart(&self) -> bool {
        self.restart.take()
    }

    /// Increments the count of the driver that `which` selects.
    pub(crate) fn one(&self, which: fn(&mut Counts) -> &mut u32) {
        let mut counts = self.counts.get();
        let number = which(&mut counts);
        *number = number.saturating_add(1);
        self.counts.set(counts);
    }

    pub(crate) fn trouble(&self, trouble: Trouble) {
        self.one(match trouble {
            Trouble::Bus(_) => |counts| &mut counts.bus,
            Trouble::NotTaken(_) => |counts| &mut counts.not_taken,
            Trouble::NotThere { .. } | Trouble::ResetPin => |counts| &mut counts.not_there,
            Trouble::Forgotten { .. } => |counts| &mut counts.forgotten,
            Trouble::Length { .. } | Trouble::Unsettled => |counts| &mut counts.lengths,
            Trouble::NotSent => |counts| &mut counts.not_sent,
            Trouble::Silent => |counts| &mut counts.silent,
        });
        let counts = self.counts.get();
        self.counts.set(Counts { last: Some(trouble), ..counts });
    }
}
