//! What can go wrong with the chip, and how often it has.

use core::cell::Cell;

use embedded_hal::spi::ErrorKind;

use crate::registers::Command;

/// What went wrong.
// Numbered from one: none of it is zeros then, and frames in a static do not lie in flash as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Trouble {
    /// The bus reported an error.
    Bus(#[cfg_attr(feature = "defmt", defmt(Debug2Format))] ErrorKind) = 1,
    /// The pin that resets the chip could not be set.
    ResetPin,
    /// A command was not taken within 10 ms.
    NotTaken(Command),
    /// Nothing answers that is a W5500, 100 ms after its reset.
    NotThere {
        /// What stands where a W5500 says 4.
        version: u8,
    },
    /// A register is not as it was set: the chip was reset by something else, or the bus changes bytes.
    Forgotten {
        /// Which one.
        setting: Setting,
        /// What was written there.
        expected: u8,
        /// What stands there.
        found: u8,
    },
    /// The chip says of what it has received what cannot be: a frame's length, or how many bytes there are.
    Length {
        /// Length of the frame by its header, with the two bytes of the header; 0 where none was read.
        frame: u16,
        /// Bytes that wait, headers among them.
        waiting: u16,
    },
    /// The number of received bytes changed whenever it was read.
    Unsettled,
    /// A frame was not sent within 100 ms although there is a link.
    NotSent,
    /// Somebody asked for the chip to be started anew: nothing came in for too long.
    Silent,
}

/// A register that keeps what it was set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Setting {
    /// The chip's version, which is no setting and never changes.
    Version,
    /// The hardware address.
    Address,
    /// That socket 0 may interrupt.
    Interrupts,
    /// That socket 0 is for bare frames.
    Mode,
    /// That it is open.
    State,
    /// That it interrupts where a frame was received.
    InterruptMask,
    /// The sizes of its buffers.
    Buffers,
}

/// How much of the chip is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Doubt {
    /// What its socket holds: to be closed and opened. The link stays.
    Socket,
    /// All of it: to be reset. The link is made anew, which takes its time.
    Chip,
}

impl Trouble {
    /// What of the chip it puts in doubt.
    pub(crate) const fn doubt(self) -> Doubt {
        match self {
            Self::Bus(_) | Self::NotTaken(_) | Self::Length { .. } | Self::Unsettled | Self::NotSent => Doubt::Socket,
            Self::ResetPin | Self::NotThere { .. } | Self::Forgotten { .. } | Self::Silent => Doubt::Chip,
        }
    }
}

/// What has happened since the driver began. Every number stays at its end where it would exceed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counts {
    /// Accesses to the chip.
    pub accesses: u32,
    /// Frames handed to the stack.
    pub received: u32,
    /// Frames of the stack that the chip was told to send.
    pub sent: u32,
    /// Frames of the stack that were thrown away: there was no link, or no chip.
    pub unsent: u32,
    /// Times that a frame found the one before it still being sent, and waited.
    pub waited: u32,
    /// Received frames that are longer than 1 514 bytes, and were passed over.
    pub oversized: u32,
    /// Times that the chip was looked at without an interrupt.
    pub looks: u32,
    /// How many of these found frames: a few by chance, all where the interrupt does not work.
    pub unannounced: u32,
    /// Interrupts that nothing was found behind.
    pub fruitless: u32,
    /// [`Trouble::Bus`].
    pub bus: u32,
    /// [`Trouble::NotTaken`].
    pub not_taken: u32,
    /// [`Trouble::NotThere`] and [`Trouble::ResetPin`].
    pub not_there: u32,
    /// [`Trouble::Forgotten`].
    pub forgotten: u32,
    /// [`Trouble::Length`] and [`Trouble::Unsettled`].
    pub lengths: u32,
    /// [`Trouble::NotSent`].
    pub not_sent: u32,
    /// [`Trouble::Silent`].
    pub silent: u32,
    /// Times that the socket was closed and opened.
    pub reopened: u32,
    /// Times that the chip was reset, the first one among them.
    pub resets: u32,
    /// Times that the link was lost.
    pub link_lost: u32,
    /// What went wrong last.
    pub last: Option<Trouble>,
}

impl Counts {
    /// Waits that ran out: for a command, for a frame to be sent, for the chip after its reset.
    #[must_use]
    pub fn timeouts(&self) -> u32 {
        self.not_taken.saturating_add(self.not_sent).saturating_add(self.not_there)
    }
}

/// Counts that the driver and whoever shows them share, and what the driver is asked for.
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

    /// The chip is to be reset, whatever it says of itself.
    pub(crate) fn ask_for_restart(&self) {
        self.restart.set(true);
    }

    /// Whether that was asked for since this was called last.
    pub(crate) fn is_restart_asked(&self) -> bool {
        self.restart.take()
    }

    /// One more of what `which` names.
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
