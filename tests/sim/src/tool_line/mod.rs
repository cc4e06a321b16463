//! The tool's serial line (`core/docs/protocol/ur-client-interfaces.md` 10), as UR's URCap relays it to port 54321, and the device
//! at its end.
//!
//! The device hears what is sent with its own baud rate, parity and stop bits, while the line is enabled and its supply is on.
//! Otherwise nothing comes back.

mod gripper;

use std::collections::VecDeque;
use std::time::Duration;

pub use gripper::{OPENING, POSITION, SPEED, TARGET, TOP_SPEED, ToolGripper};

use crate::io::Io;
use crate::time::SimTime;
use gripper::Gripper;

/// Bytes that are taken from a client before the line has sent them.
const BACKLOG: usize = 4096;
/// Data bits of a character, and its start bit.
const BITS: u32 = 1 + 8;

/// The form of characters on a serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial {
    /// The baud rate \[baud\].
    pub baud_rate: u32,
    /// 0 none, 1 odd, 2 even.
    pub parity: u8,
    /// 1 or 2.
    pub stop_bits: u8,
}

impl Serial {
    /// 115200 baud, no parity, one stop bit.
    pub const DEFAULT: Self = Self { baud_rate: 115_200, parity: 0, stop_bits: 1 };

    /// Returns how long so many characters take.
    fn time_of(self, characters: f64) -> Duration {
        let bits = BITS + u32::from(self.parity != 0) + u32::from(self.stop_bits);
        Duration::from_secs_f64(characters * f64::from(bits) / f64::from(self.baud_rate.max(1)))
    }
}

/// The settings of the line at the controller's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCommunication {
    /// The line is on.
    pub enabled: bool,
    /// The form of its characters.
    pub serial: Serial,
    /// Silence after which what was received is passed on, in characters.
    pub rx_idle_chars: f32,
    /// Silence before a transmission, in characters.
    pub tx_idle_chars: f32,
}

impl Default for ToolCommunication {
    /// Off, with the settings that were recorded (`core/docs/protocol/ur-client-interfaces.md` 3.11).
    fn default() -> Self {
        Self { enabled: false, serial: Serial::DEFAULT, rx_idle_chars: 1.5, tx_idle_chars: 3.5 }
    }
}

/// The line and its device.
#[derive(Debug)]
pub(crate) struct ToolLine {
    device: Gripper,
    /// Bytes on their way to the device, with the time when they are there as a whole and the settings they are sent with.
    out: VecDeque<(SimTime, Serial, Vec<u8>)>,
    /// Bytes on their way from the device, and when the controller passes them on.
    back: VecDeque<(SimTime, Vec<u8>)>,
    /// The time from which the line is silent.
    silent: SimTime,
}

impl ToolLine {
    pub(crate) fn new(device: ToolGripper) -> Self {
        Self { device: Gripper::new(device), out: VecDeque::new(), back: VecDeque::new(), silent: SimTime::ZERO }
    }

    /// The device's jaws \[0.1 mm apart\].
    pub(crate) fn opening(&self, now: SimTime) -> f64 {
        self.device.opening(now)
    }

    /// Returns how many bytes a client may send now.
    pub(crate) fn room(&self) -> usize {
        BACKLOG.saturating_sub(self.out.iter().map(|(.., bytes)| bytes.len()).sum())
    }

    /// A client sends these bytes.
    pub(crate) fn send(&mut self, now: SimTime, io: &Io, bytes: Vec<u8>) {
        let line = io.tool_communication;
        if !line.enabled {
            return;
        }
        // What follows at once belongs to the same transmission.
        let idle = if self.silent < now { f64::from(line.tx_idle_chars) } else { 0.0 };
        let there = self.silent.max(now) + line.serial.time_of(idle + bytes.len() as f64);
        self.out.push_back((there, line.serial, bytes));
        self.silent = there;
    }

    /// Lives on to `now`, where the arm has power or not; returns what has come back until then.
    pub(crate) fn advance(&mut self, now: SimTime, io: &Io, powered: bool) -> Vec<u8> {
        self.device.supply(now, if powered { io.tool_voltage } else { 0 });
        while let Some((at, serial, bytes)) = self.out.pop_front_if(|(at, ..)| *at <= now) {
            let line = io.tool_communication;
            let Some(reply) = self.device.receive(at, serial, &bytes) else { continue };
            if !line.enabled || line.serial != serial {
                continue;
            }
            let passed_on = at + line.serial.time_of(reply.len() as f64 + f64::from(line.rx_idle_chars));
            self.silent = self.silent.max(passed_on);
            self.back.push_back((passed_on, reply));
        }
        let mut come = vec![];
        while let Some((_, bytes)) = self.back.pop_front_if(|(at, _)| *at <= now) {
            come.extend(bytes);
        }
        come
    }

    /// Returns when something happens by itself.
    pub(crate) fn next_event(&self) -> SimTime {
        let out = self.out.front().map_or(SimTime::MAX, |(at, ..)| *at);
        self.back.front().map_or(out, |(at, _)| out.min(*at))
    }
}
