#![doc = include_str!("../README.md")]
//!
//! # Rules of the driver
//!
//! The chip passes whole frames (its mode MACRAW) through 16 KiB of memory for each direction.
//!
//! * **Frames to send go first.** All frames that the stack has waiting are sent before each received one is read: a frame to send
//!   waits for the transfer of one received frame at most, however many arrive.
//! * **Every wait has a timeout.** A frame waits 100 ms for the one before it, a command of the chip has 10 ms, the chip after its
//!   reset 100 ms. While a frame waits, others are received, and the loss of the link is noticed.
//! * **Lengths are checked.** No empty frame reaches the stack, and an impossible length is an error, not an index.
//! * **Late frames are dropped.** Without a link the stack's frames are dropped, and on its loss those in the chip.
//! * **A chip that lost its settings is set up again.** They are compared ten times a second. A reset comes at most once a second,
//!   and only every 8 s after several in vain. Each error is a [`Trouble`] and counted in [`Counts`].
//!
//! The interrupt is a level, acknowledged before the chip is emptied.
//!
//! Sources: WIZnet's `ioLibrary_Driver`, Linux' `w5100.c`, Zephyr's `eth_w5500.c`, ESP-IDF's `esp_eth_mac_w5500.c` and
//! `embassy-net-wiznet`, whose rules are followed where they agree.
#![no_std]
#![deny(unsafe_code)]

mod chip;
mod chip_errors;
mod recovery_rule;
mod registers;
mod runner;

use embassy_net_driver_channel as channel;
use embassy_net_driver_channel::driver::HardwareAddress;
use embedded_hal::digital::OutputPin;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;

pub use chip_errors::{Counts, Setting, Trouble};
pub use registers::Command;
pub use runner::{Runner, Watch};

use chip::Chip;
use chip_errors::Tally;

/// The length of the longest Ethernet frame without its check sequence \[B\].
const LONGEST: usize = 1_514;

/// The length of the shortest frame of Ethernet without its check sequence \[B\].
const SHORTEST: usize = 60;

/// The network interface: the `Driver` that `embassy-net` is given. Passes Ethernet frames of at most 1 514 bytes,
/// without check sequence.
pub type Device<'d> = channel::Device<'d, LONGEST>;

/// The memory of frames between driver and stack: `RX` received ones and `TX` to be sent, 1 520 bytes each, at least one of each.
///
/// Kept in a static, or by the function that runs the driver. It is zeros at the start and takes no flash.
pub struct State<const RX: usize, const TX: usize> {
    channel: channel::State<LONGEST, RX, TX>,
    tally: Tally,
}

impl<const RX: usize, const TX: usize> State<RX, TX> {
    /// Returns memory for frames between driver and stack that contains none.
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

/// Creates a driver of the W5500 chip that `spi` selects.
///
/// * `address`: the hardware address, first byte first. The chip has none of its own.
/// * `spi`: the bus with the chip's select line, mode 0.
/// * `interrupt`, `reset`: the chip's lines INTn and RSTn, both active low.
///
/// Returns the interface for the stack, the task that must run for anything to happen, and a handle that shows counts. Does
/// not access the chip: until [`Runner::run`] has found it and it has a link, the interface is down.
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
