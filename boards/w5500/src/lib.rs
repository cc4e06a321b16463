//! A WIZnet W5500 as a bare MAC under `embassy-net`.
//!
//! The chip has a TCP/IP of its own, which is not used: it hands over whole frames (its mode MACRAW), over SPI, into 16 KiB
//! for each direction.
//!
//! * **What is to be sent goes first.** Before each received frame is taken, all that the stack has waiting is sent: a command
//!   waits for the transfer of one frame at most, however many arrive.
//! * **Every wait ends.** For a frame before, 100 ms; for a command of the chip, 10 ms; for the chip after its reset, 100 ms.
//!   While a frame waits, frames are received, and the loss of the link is seen.
//! * **A frame is a frame.** Nothing empty goes to the stack, and a length that cannot be makes an error, not an index.
//! * **What was meant for earlier is not sent later.** Without a link frames are thrown away, and with the link what the chip
//!   holds of them.
//! * **A chip that forgets is set up again.** Ten times a second its settings are read. It is reset at most once a second,
//!   and after resets in vain every 8 s. Each error is a [`Trouble`] and counted in [`Counts`].
//!
//! The interrupt is a level, acknowledged before the chip is emptied. Where it fails, the chip is looked at every millisecond.
//!
//! From what is known of the chip: the maker's `ioLibrary_Driver`, Linux' `w5100.c`, Zephyr's `eth_w5500.c`, ESP-IDF's
//! `esp_eth_mac_w5500.c` and `embassy-net-wiznet`, whose rules are followed where they agree. Nobody has run it on a chip yet.
#![no_std]
#![deny(unsafe_code)]

mod care;
mod chip;
mod registers;
mod runner;
mod trouble;

use embassy_net_driver_channel as channel;
use embassy_net_driver_channel::driver::HardwareAddress;
use embedded_hal::digital::OutputPin;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;

pub use registers::Command;
pub use runner::{Runner, Watch};
pub use trouble::{Counts, Setting, Trouble};

use chip::Chip;
use trouble::Tally;

/// The longest frame, without its check sequence.
const LONGEST: usize = 1_514;

/// The shortest that Ethernet has, likewise.
const SHORTEST: usize = 60;

/// The interface as the stack sees it.
pub type Device<'d> = channel::Device<'d, LONGEST>;

/// Frames between driver and stack, `RX` and `TX` of them, 1 520 bytes each.
pub struct State<const RX: usize, const TX: usize> {
    channel: channel::State<LONGEST, RX, TX>,
    tally: Tally,
}

impl<const RX: usize, const TX: usize> State<RX, TX> {
    /// Without a frame.
    #[must_use]
    pub const fn new() -> Self {
        Self { channel: channel::State::new(), tally: Tally::new() }
    }
}

impl<const RX: usize, const TX: usize> Default for State<RX, TX> {
    fn default() -> Self {
        Self::new()
    }
}

/// A driver of the chip that is selected by `spi`, with its interrupt and reset lines, both active low. It has this hardware
/// address.
///
/// Nothing happens before [`Runner::run`]; until the chip is there and has a link, the interface has none.
pub fn new<'d, const RX: usize, const TX: usize, SPI: SpiDevice, INT: Wait, RST: OutputPin>(
    address: [u8; 6],
    state: &'d mut State<RX, TX>,
    spi: SPI,
    interrupt: INT,
    reset: RST,
) -> (Device<'d>, Runner<'d, SPI, INT, RST>, Watch<'d>) {
    let State { channel, tally } = state;
    let (runner, device) = channel::new(channel, HardwareAddress::Ethernet(address));
    let tally = &*tally;
    (device, Runner::new(Chip::new(spi, tally, address), runner, (interrupt, reset), tally), Watch(tally))
}
