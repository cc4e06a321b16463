//! A gripper that speaks Modbus RTU (`core/docs/protocol/ur-client-interfaces.md` 10.5).
//!
//! | register | what | unit | range | |
//! |---|---|---|---|---|
//! | 0 | target | 0.1 mm | 0 to 1000 | read and write |
//! | 1 | position | 0.1 mm | 0 to 1000 | read only |
//! | 2 | speed | mm/s | 1 to 200 | read and write |

use std::ops::Range;
use std::time::Duration;

use crc::{CRC_16_MODBUS, Crc};

use super::Serial;
use crate::time::SimTime;

/// The Modbus register with the opening that the jaws move to \[0.1 mm\].
pub const TARGET: u16 = 0;
/// The Modbus register with the present opening of the jaws \[0.1 mm\].
pub const POSITION: u16 = 1;
/// The Modbus register with the speed of the gripper's jaws \[mm/s\].
pub const SPEED: u16 = 2;
/// The widest opening of the gripper's jaws \[0.1 mm\].
pub const OPENING: u16 = 1000;
/// The highest speed of the gripper's jaws \[mm/s\].
pub const TOP_SPEED: u16 = 200;

const REGISTERS: u16 = 3;
const READ: u8 = 0x03;
const WRITE_ONE: u8 = 0x06;
const WRITE_SEVERAL: u8 = 0x10;
/// The bit that an exception reply sets in the Modbus function code.
const EXCEPTION: u8 = 0x80;
const ILLEGAL_FUNCTION: u8 = 1;
const ILLEGAL_ADDRESS: u8 = 2;
const ILLEGAL_VALUE: u8 = 3;
/// The Modbus address of all devices: every device executes such a request, and none answers.
const BROADCAST: u8 = 0;
/// The length of the longest Modbus message \[bytes\].
const LONGEST: usize = 256;
const CHECKSUM: Crc<u16> = Crc::<u16>::new(&CRC_16_MODBUS);

/// The properties of a simulated gripper at the tool connector. The default is its state of delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolGripper {
    /// The settings of the gripper's serial line.
    pub serial: Serial,
    /// The supply voltage that the gripper needs \[V\].
    pub voltage: u8,
    /// The gripper's Modbus address, 1 to 247.
    pub address: u8,
    /// The time without a byte after which the gripper discards an incomplete message. A standard device waits for 1.5
    /// characters, but longer gaps occur in a message that is relayed over TCP.
    pub patience: Duration,
}

impl Default for ToolGripper {
    /// Returns a gripper with 115200 baud, no parity, one stop bit, 24 V, address 1 and a timeout for incomplete
    /// messages of 1 s.
    fn default() -> Self {
        Self { serial: Serial::DEFAULT, voltage: 24, address: 1, patience: Duration::from_secs(1) }
    }
}

/// The simulated gripper: its jaws, and the message that it is receiving.
#[derive(Debug)]
pub(super) struct Gripper {
    options: ToolGripper,
    powered: bool,
    /// The opening of the jaws at the time `since` \[0.1 mm\].
    from: f64,
    since: SimTime,
    target: u16,
    speed: u16,
    /// The received bytes of a Modbus message that is not complete; `last` is the time at which bytes arrived last.
    message: Vec<u8>,
    last: SimTime,
}

impl Gripper {
    pub(super) fn new(options: ToolGripper) -> Self {
        Self {
            options,
            powered: false,
            from: f64::from(OPENING),
            since: SimTime::ZERO,
            target: OPENING,
            speed: 50,
            message: vec![],
            last: SimTime::ZERO,
        }
    }

    /// Returns the opening of the gripper's jaws at `now` \[0.1 mm\].
    pub(super) fn opening(&self, now: SimTime) -> f64 {
        let (target, speed) = (f64::from(self.target), 10.0 * f64::from(self.speed));
        let way = if self.powered { speed * now.since(self.since).as_secs_f64() } else { 0.0 };
        if (target - self.from).abs() <= way { target } else { self.from + way.copysign(target - self.from) }
    }

    /// Sets the supply voltage of the gripper. Without the voltage that it needs, the jaws stop where they are.
    pub(super) fn supply(&mut self, now: SimTime, volts: u8) {
        let powered = volts == self.options.voltage;
        if powered == self.powered {
            return;
        }
        (self.from, self.since) = (self.opening(now), now);
        self.target = self.from.round() as u16;
        self.powered = powered;
        self.message.clear();
    }

    /// Processes bytes that were sent with the settings `serial`. Returns the answers to the messages that they
    /// complete; `None` if there are none.
    pub(super) fn receive(&mut self, at: SimTime, serial: Serial, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.powered || serial != self.options.serial {
            return None;
        }
        if at.since(self.last) > self.options.patience {
            self.message.clear();
        }
        self.last = at;
        self.message.extend_from_slice(bytes);
        let mut answers = vec![];
        while let Some(length) = length(&self.message).filter(|length| *length <= self.message.len()) {
            let message: Vec<u8> = self.message.drain(..length).collect();
            let Some(body) = checked(&message) else {
                // Where the next one begins is known after a silence only.
                self.message.clear();
                break;
            };
            answers.extend(self.answer(at, body).unwrap_or_default());
        }
        if self.message.len() > LONGEST {
            self.message.clear();
        }
        (!answers.is_empty()).then_some(answers)
    }

    fn answer(&mut self, at: SimTime, body: &[u8]) -> Option<Vec<u8>> {
        let [address, function, rest @ ..] = body else { return None };
        if ![self.options.address, BROADCAST].contains(address) {
            return None;
        }
        let answer = match self.execute(at, *function, rest) {
            Ok(answer) => [&[*address, *function], &answer[..]].concat(),
            Err(code) => vec![*address, *function | EXCEPTION, code],
        };
        (*address != BROADCAST).then(|| sealed(answer))
    }

    /// Executes a Modbus function. Returns the part of the answer after address and function code, or the code of an
    /// exception.
    fn execute(&mut self, at: SimTime, function: u8, rest: &[u8]) -> Result<Vec<u8>, u8> {
        let word = |index: usize| rest.get(index..index + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
        let (first, second) = (word(0).ok_or(ILLEGAL_VALUE)?, word(2).ok_or(ILLEGAL_VALUE)?);
        match function {
            READ => {
                let values: Vec<u8> = registers(first, second)?.flat_map(|n| self.read(at, n).to_be_bytes()).collect();
                Ok([&[values.len() as u8], &values[..]].concat())
            }
            WRITE_ONE => {
                self.may_write(first, second)?;
                self.write(at, first, second);
                Ok(rest.to_vec())
            }
            WRITE_SEVERAL => {
                let values: Vec<u16> = rest
                    .get(5..)
                    .unwrap_or_default()
                    .chunks_exact(2)
                    .map(|b| u16::from_be_bytes([b[0], b[1]]))
                    .collect();
                let registers = registers(first, second)?;
                if values.len() != usize::from(second) {
                    return Err(ILLEGAL_VALUE);
                }
                registers.clone().zip(&values).try_for_each(|(n, value)| self.may_write(n, *value))?;
                registers.zip(&values).for_each(|(n, value)| self.write(at, n, *value));
                Ok(rest.get(..4).unwrap_or_default().to_vec())
            }
            _ => Err(ILLEGAL_FUNCTION),
        }
    }

    fn read(&self, at: SimTime, register: u16) -> u16 {
        match register {
            TARGET => self.target,
            POSITION => self.opening(at).round() as u16,
            _ => self.speed,
        }
    }

    fn may_write(&self, register: u16, value: u16) -> Result<(), u8> {
        let known = match register {
            TARGET => value <= OPENING,
            SPEED => (1..=TOP_SPEED).contains(&value),
            _ => return Err(ILLEGAL_ADDRESS),
        };
        if known { Ok(()) } else { Err(ILLEGAL_VALUE) }
    }

    fn write(&mut self, at: SimTime, register: u16, value: u16) {
        (self.from, self.since) = (self.opening(at), at);
        *(if register == TARGET { &mut self.target } else { &mut self.speed }) = value;
    }
}

/// Returns the range of registers that a request names, or the code of an exception.
fn registers(first: u16, count: u16) -> Result<Range<u16>, u8> {
    match first.checked_add(count) {
        _ if count == 0 => Err(ILLEGAL_VALUE),
        Some(end) if end <= REGISTERS => Ok(first..end),
        _ => Err(ILLEGAL_ADDRESS),
    }
}

/// Returns the length of the Modbus message that begins with these bytes; `None` if too few have arrived to determine
/// it.
fn length(message: &[u8]) -> Option<usize> {
    match *message {
        [_, READ | WRITE_ONE, ..] => Some(8),
        [_, WRITE_SEVERAL, _, _, _, _, count, ..] => Some(9 + usize::from(count)),
        [_, WRITE_SEVERAL, ..] => None,
        // Of other functions nothing says how long they are: they end where the checksum fits.
        [_, _, ..] => checked(message).map(|_| message.len()),
        _ => None,
    }
}

/// Returns a Modbus message without its checksum; `None` if the checksum is wrong.
fn checked(message: &[u8]) -> Option<&[u8]> {
    let (body, sum) = message.split_last_chunk::<2>()?;
    (!body.is_empty() && CHECKSUM.checksum(body) == u16::from_le_bytes(*sum)).then_some(body)
}

/// Appends the checksum to a Modbus message, its low byte first.
fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    body.extend(CHECKSUM.checksum(&body).to_le_bytes());
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SimTime {
        SimTime::from_millis(millis)
    }

    fn powered() -> Gripper {
        let mut gripper = Gripper::new(ToolGripper::default());
        gripper.supply(at(0), 24);
        gripper
    }

    #[test]
    fn a_request_has_the_checksum_of_a_published_example() {
        assert_eq!(sealed(vec![1, 3, 0, 2, 0, 1]), [1, 3, 0, 2, 0, 1, 0x25, 0xCA]);
    }

    #[test]
    fn the_jaws_close_at_their_speed_and_say_where_they_are() {
        let mut gripper = powered();
        let mut ask = |at, body: &[u8]| gripper.receive(at, Serial::DEFAULT, &sealed(body.to_vec()));
        let both = [1, 16, 0, 0, 0, 1, 2, 0, 0];
        assert_eq!(ask(at(0), &both), Some(sealed(vec![1, 16, 0, 0, 0, 1])));
        // 50 mm/s: half open after a second.
        assert_eq!(ask(at(1_000), &[1, 3, 0, 1, 0, 1]), Some(sealed(vec![1, 3, 2, 1, 244])));
        assert_eq!(ask(at(1_000), &[1, 6, 0, 2, 0, 200]), Some(sealed(vec![1, 6, 0, 2, 0, 200])));
        assert_eq!(ask(at(1_200), &[1, 3, 0, 0, 0, 3]), Some(sealed(vec![1, 3, 6, 0, 0, 0, 100, 0, 200])));
        assert_eq!(ask(at(9_000), &[1, 3, 0, 1, 0, 1]), Some(sealed(vec![1, 3, 2, 0, 0])));
    }

    #[test]
    fn requests_in_pieces_and_several_at_once_are_answered_and_broken_ones_are_not() {
        let mut gripper = powered();
        let read = sealed(vec![1, 3, 0, 1, 0, 1]);
        let pieces = read.iter().map(|byte| gripper.receive(at(0), Serial::DEFAULT, &[*byte]));
        assert_eq!(pieces.flatten().count(), 1);
        let mut broken = read.clone();
        broken[3] ^= 1;
        assert_eq!(gripper.receive(at(1), Serial::DEFAULT, &broken), None);
        assert_eq!(gripper.receive(at(2), Serial::DEFAULT, &read[..4]), None);
        assert!(gripper.receive(at(1_100), Serial::DEFAULT, &read).is_some(), "half a message is forgotten in time");
    }

    #[test]
    fn what_the_device_does_not_have_is_an_exception_and_another_address_is_silence() {
        let mut gripper = powered();
        let mut ask = |body: &[u8]| gripper.receive(at(0), Serial::DEFAULT, &sealed(body.to_vec()));
        for (request, code) in [
            (&[1, 4, 0, 0, 0, 1][..], ILLEGAL_FUNCTION),
            (&[1, 3, 0, 2, 0, 2], ILLEGAL_ADDRESS),
            (&[1, 3, 0, 0, 0, 0], ILLEGAL_VALUE),
            (&[1, 6, 0, 1, 0, 0], ILLEGAL_ADDRESS),
            (&[1, 6, 0, 0, 3, 233], ILLEGAL_VALUE),
            (&[1, 16, 0, 2, 0, 1, 2, 0, 201], ILLEGAL_VALUE),
        ] {
            assert_eq!(ask(request), Some(sealed(vec![1, request[1] | EXCEPTION, code])), "{request:?}");
        }
        assert_eq!(ask(&[2, 3, 0, 0, 0, 1]), None);
        assert_eq!(ask(&[BROADCAST, 6, 0, 0, 0, 0]), None);
        assert_eq!(ask(&[1, 3, 0, 0, 0, 1]), Some(sealed(vec![1, 3, 2, 0, 0])), "a broadcast is obeyed");
    }

    #[test]
    fn without_its_supply_it_is_silent_and_the_jaws_stay_where_they_are() {
        let mut gripper = powered();
        let close = sealed(vec![1, 6, 0, 0, 0, 0]);
        gripper.receive(at(0), Serial::DEFAULT, &close);
        gripper.supply(at(1_000), 12);
        assert_eq!(gripper.receive(at(1_000), Serial::DEFAULT, &close), None);
        assert_eq!(gripper.opening(at(5_000)), 500.0);
        gripper.supply(at(6_000), 24);
        assert_eq!(gripper.opening(at(9_000)), 500.0);
    }
}
