//! A WIZnet W5500 with its socket 0 as a bare MAC: registers and buffers behind SPI, in virtual time, deterministic.
//!
//! ```text
//!  driver ─ SpiDevice, Wait, OutputPin ─ Pins ─ bytes with the times they pass the bus at ─ Chip ─ frames
//! ```
//!
//! The model combines the statements of several drivers about the chip: WIZnet's `ioLibrary_Driver` (`w5500.h` quotes
//! the data sheet for every register), Linux' `w5100.c`, Zephyr's `eth_w5500.c`, ESP-IDF's `esp_eth_mac_w5500.c`,
//! `embassy-net-wiznet`, and the reset values in the register simulation of `w5500-rs`. Neither the data sheet nor a
//! chip was available.
//!
//! It models framing by the select line, address, control byte, consecutive bytes; the two 16-bit pointers of each
//! buffer, which wrap with it inside one access, and begin anywhere; numbers that change between their two bytes;
//! frames after two bytes of length; the interrupt as a level made of latched bits and masks; commands that are taken
//! after a time; sending at 100 Mbit/s, one frame per command; overflow that drops frames; filtering by hardware
//! address; link, reset line, soft reset. The possible faults are listed in [`Faults`].
//!
//! It does not model: how long silicon takes for a command, whether it really begins its pointers at zero, what a
//! second SEND does during the first (here it follows it, and [`Seen::overlapping_sends`] counts), whether SENDOK shows
//! while it is masked, what SEND does without a link (here it waits for one), whether short frames are padded (here
//! they are not), INTLEVEL, sleeping, half duplex, every other mode and socket, and everything electrical.

mod chip;
mod pins;

pub use chip::{Chip, Faults, Seen, Timing};
pub use pins::{BusError, Interrupt, Line, Pins, Rate, Reset, Spi};
