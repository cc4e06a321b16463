//! The tool's serial line (`core/docs/protocol/ur-client-interfaces.md` 10), as UR's URCap relays it to port 54321, and the device
//! at its end.
//!
//! The device receives only bytes that are sent with its own baud rate, parity and stop bits, while the line is
//! enabled and the device is supplied with its voltage. Otherwise the device does not answer.

mod gripper;

use std::collections::VecDeque;
use std::time::Duration;

pub use gripper::{OPENING, POSITION, SPEED, TARGET, TOP_SPEED, ToolGripper};

use crate::io::Io;
use crate::time::SimTime;
use gripper::Gripper;

/// The largest number of bytes from clients that may wait to be sent over the tool's serial line.
const BACKLOG: usize = 4096;
/// The number of bits of a character without parity and stop bits: the start bit and the data bits.
const BITS: u32 = 1 + 8;

/// The settings of a serial line: baud rate, parity and stop bits. A character has eight data bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serial {
    /// The baud rate of the serial line \[baud\].
    pub baud_rate: u32,
    /// The parity of each character: 0 none, 1 odd, 2 even.
    pub parity: u8,
    /// The number of stop bits of each character, 1 or 2.
    pub stop_bits: u8,
}

impl Serial {
    /// The default format: 115200 baud, no parity, one stop bit.
    pub const DEFAULT: Self = Self { baud_rate: 115_200, parity: 0, stop_bits: 1 };

    /// Returns the duration of the transmission of this number of characters.
    fn time_of(self, characters: f64) -> Duration {
        let bits = BITS + u32::from(self.parity != 0) + u32::from(self.stop_bits);
        Duration::from_secs_f64(characters * f64::from(bits) / f64::from(self.baud_rate.max(1)))
    }
}

/// The settings of the tool's serial line at the controller's end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCommunication {
    /// `true` if the controller has enabled the tool's serial line.
    pub enabled: bool,
    /// The format of characters on the tool's serial line.
    pub serial: Serial,
    /// The time of silence after which received bytes are passed on, in characters.
    pub rx_idle_chars: f32,
    /// The silence that the line keeps before a transmission, in characters.
    pub tx_idle_chars: f32,
}

impl Default for ToolCommunication {
    /// Returns a disabled line with the settings that were recorded (`core/docs/protocol/ur-client-interfaces.md`
    /// 3.11).
    fn default() -> Self {
        Self { enabled: false, serial: Serial::DEFAULT, rx_idle_chars: 1.5, tx_idle_chars: 3.5 }
    }
}

/// The tool's serial line and the device at its end.
#[derive(Debug)]
pub(crate) struct ToolLine {
    device: Gripper,
    /// Bytes in transit to the device, with the time at which they have arrived completely and the settings that they
    /// are sent with.
    out: VecDeque<(SimTime, Serial, Vec<u8>)>,
    /// Bytes in transit from the device, with the time at which the controller passes them on.
    back: VecDeque<(SimTime, Vec<u8>)>,
    /// The time at which the last transmission on the line ends.
    silent: SimTime,
}

impl ToolLine {
    pub(crate) fn new(device: ToolGripper) -> Self {
        Self { device: Gripper::new(device), out: VecDeque::new(), back: VecDeque::new(), silent: SimTime::ZERO }
    }

    /// Returns the opening of the jaws of the gripper at the tool at `now` \[0.1 mm\].
    pub(crate) fn opening(&self, now: SimTime) -> f64 {
        self.device.opening(now)
    }

    /// Returns the number of bytes that a client may send to the tool's serial line now.
    pub(crate) fn room(&self) -> usize {
        BACKLOG.saturating_sub(self.out.iter().map(|(.., bytes)| bytes.len()).sum())
    }

    /// Sends a client's bytes over the tool's serial line to the device; drops them while the line is disabled.
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

    /// Advances the line and its device to `now`. `powered` is `true` if the arm has power. Returns the bytes that
    /// the device has sent until then.
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

    /// Returns the time of the next event on the tool's serial line.
    pub(crate) fn next_event(&self) -> SimTime {
        let out = self.out.front().map_or(SimTime::MAX, |(at, ..)| *at);
        self.back.front().map_or(out, |(at, _)| out.min(*at))
    }
}
