//! The Ethernet transceiver, by the registers that every one has (IEEE 802.3, clause 22): found, reset, negotiated,
//! polled.
//!
//! A transfer takes some 33 µs. One poll begins it and a later one reads its result: nothing waits for it.

use crate::board_traits::Bus;
use crate::registers::{MACMDIOAR, MACMDIOAR_MB, MACMDIOAR_READ, MACMDIOAR_WRITE, MACMDIODR};

/// The time limit of a register transfer to the transceiver \[µs\]; a transfer is 64 bits at 2 MHz.
const TRANSFER: u64 = 10_000;
/// The time between two reads of the state of a register transfer to the transceiver \[µs\].
const LOOK: u64 = 50;
/// The time limit of the transceiver's reset \[µs\]: at most half a second by clause 22.2.4.1.1.
const RESET: u64 = 600_000;
/// The time between two reads of the transceiver's reset bit \[µs\].
const RESET_LOOK: u64 = 10_000;
/// The time between two reads of the state of the Ethernet link \[µs\].
const LINK_LOOK: u64 = 100_000;

const CONTROL: u8 = 0;
const STATUS: u8 = 1;
const IDENTIFIER: u8 = 2;
const IDENTIFIER_LOW: u8 = 3;
const ADVERTISED: u8 = 4;
const PARTNER: u8 = 5;

const CONTROL_RESET: u16 = 1 << 15;
/// The content of the transceiver's control register that starts a negotiation of the link. 100 Mbit/s and full duplex
/// in it apply only until there is a partner to negotiate with.
const NEGOTIATE: u16 = 1 << 13 | 1 << 12 | 1 << 9 | 1 << 8;
/// The bit of the transceiver's status register that is set once the negotiation of the link has ended.
const NEGOTIATED: u16 = 1 << 5;
const LINKED: u16 = 1 << 2;
/// The abilities that the transceiver advertises: IEEE 802.3, and 10 and 100 Mbit/s in both duplexes.
const ABILITIES: u16 = 0x01e1;

/// The speed and duplex of an Ethernet link, as negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkMode {
    /// `true` for a link of 100 Mbit/s, `false` for 10 Mbit/s.
    pub fast: bool,
    /// `true` for a link in full duplex, `false` for half duplex.
    pub full_duplex: bool,
}

impl LinkMode {
    /// Returns the best mode that both sides of the link have, `None` if they have none in common. `partner` is the
    /// transceiver's register 5, the partner's abilities. A partner that does not negotiate appears there with the one
    /// ability that was detected, without full duplex.
    pub(crate) const fn best(partner: u16) -> Option<Self> {
        let both = partner & ABILITIES;
        Some(match both {
            _ if both & 1 << 8 != 0 => Self { fast: true, full_duplex: true },
            _ if both & 1 << 7 != 0 => Self { fast: true, full_duplex: false },
            _ if both & 1 << 6 != 0 => Self { fast: false, full_duplex: true },
            _ if both & 1 << 5 != 0 => Self { fast: false, full_duplex: false },
            _ => return None,
        })
    }
}

/// A reason why the Ethernet transceiver cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A register transfer to the transceiver does not end: the controller's own clock does not run.
    TransferStuck,
    /// No transceiver answers at any of the 32 addresses.
    None,
    /// The transceiver at this address, 0 to 31, does not end its reset.
    ResetStuck(u8),
}

/// The result of one poll of the Ethernet transceiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The transceiver needs no poll before this time \[µs\].
    At(u64),
    /// The transceiver was found and negotiates the mode of the link.
    Ready {
        /// The address of the transceiver, 0 to 31.
        address: u8,
        /// The identifier of the transceiver: register 2 in the upper half, register 3 in the lower.
        identifier: u32,
    },
    /// The mode of the Ethernet link, as just read; `None` without a link.
    Link(Option<LinkMode>),
    /// The transceiver cannot be used, for this reason.
    Failed(Failure),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Find,
    Identify,
    Reset,
    ResetDone { until: u64 },
    Advertise,
    Negotiate,
    Status,
    Partner,
}

/// The state of the search for the transceiver, its setup and its link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phy {
    address: u8,
    high: u16,
    low: u16,
    step: Step,
    /// The start of the transfer to the transceiver that is under way \[µs\].
    begun: Option<u64>,
    /// The earliest time of the next transfer to the transceiver \[µs\].
    next: u64,
    /// The field of [`MACMDIOAR`] that sets the clock rate of transfers to the transceiver.
    clock: u32,
}

impl Phy {
    /// Returns the state before the search for the transceiver. `clock_range` is the field CR of [`MACMDIOAR`]: 4
    /// for a bus of 150 to 250 MHz.
    pub(crate) const fn new(clock_range: u8) -> Self {
        let clock = (clock_range as u32 & 0xf) << 8;
        Self { address: 0, high: 0, low: 0, step: Step::Find, begun: None, next: 0, clock }
    }

    /// Begins at most one transfer to the transceiver, or ends one. Never waits.
    pub(crate) fn poll(&mut self, bus: &impl Bus) -> Progress {
        let now = bus.now();
        let Some(begun) = self.begun else {
            if now < self.next {
                return Progress::At(self.next);
            }
            self.begin(bus);
            self.begun = Some(now);
            return Progress::At(now + LOOK);
        };
        if bus.read(MACMDIOAR) & MACMDIOAR_MB != 0 {
            if now.saturating_sub(begun) > TRANSFER {
                return Progress::Failed(Failure::TransferStuck);
            }
            return Progress::At(now + LOOK);
        }
        self.begun = None;
        self.next = now;
        self.ended(bus.read(MACMDIODR) as u16, now)
    }

    /// Begins the register transfer that the current step of the transceiver's setup requires.
    fn begin(&self, bus: &impl Bus) {
        let (register, value) = match self.step {
            Step::Find => (IDENTIFIER, None),
            Step::Identify => (IDENTIFIER_LOW, None),
            Step::Reset => (CONTROL, Some(CONTROL_RESET)),
            Step::ResetDone { .. } => (CONTROL, None),
            Step::Advertise => (ADVERTISED, Some(ABILITIES)),
            Step::Negotiate => (CONTROL, Some(NEGOTIATE)),
            Step::Status => (STATUS, None),
            Step::Partner => (PARTNER, None),
        };
        if let Some(value) = value {
            bus.write(MACMDIODR, value.into());
        }
        let kind = if value.is_some() { MACMDIOAR_WRITE } else { MACMDIOAR_READ };
        let whom = u32::from(self.address) << 21 | u32::from(register) << 16;
        bus.write(MACMDIOAR, whom | self.clock | kind | MACMDIOAR_MB);
    }

    /// Handles the end of a register transfer to the transceiver that has read `value`, and chooses the next one.
    fn ended(&mut self, value: u16, now: u64) -> Progress {
        let step = match self.step {
            // No transceiver drives the line: it is pulled up, or low where the pull-up is missing.
            Step::Find if matches!(value, 0 | u16::MAX) => {
                if self.address == 31 {
                    return Progress::Failed(Failure::None);
                }
                self.address += 1;
                Step::Find
            }
            Step::Find => {
                self.high = value;
                Step::Identify
            }
            Step::Identify => {
                self.low = value;
                Step::Reset
            }
            Step::Reset => {
                self.next = now + RESET_LOOK;
                Step::ResetDone { until: now + RESET }
            }
            Step::ResetDone { until } if value & CONTROL_RESET != 0 => {
                if now >= until {
                    return Progress::Failed(Failure::ResetStuck(self.address));
                }
                self.next = now + RESET_LOOK;
                Step::ResetDone { until }
            }
            Step::ResetDone { .. } => Step::Advertise,
            Step::Advertise => Step::Negotiate,
            Step::Negotiate => {
                self.step = Step::Status;
                let identifier = u32::from(self.high) << 16 | u32::from(self.low);
                return Progress::Ready { address: self.address, identifier };
            }
            Step::Status | Step::Partner => return self.evaluate(value, now),
        };
        self.step = step;
        Progress::At(self.next)
    }

    /// Evaluates the state of the Ethernet link that was read, and reads the partner's abilities each time that there
    /// is a link.
    fn evaluate(&mut self, value: u16, now: u64) -> Progress {
        let link = match self.step {
            // A transceiver that is gone reads as all ones.
            Step::Status if value & (LINKED | NEGOTIATED) == LINKED | NEGOTIATED && value != u16::MAX => {
                self.step = Step::Partner;
                return Progress::At(self.next);
            }
            Step::Partner => LinkMode::best(value),
            _ => None,
        };
        self.step = Step::Status;
        self.next = now + LINK_LOOK;
        Progress::Link(link)
    }
}
