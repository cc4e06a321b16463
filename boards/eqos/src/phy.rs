//! The transceiver, by the registers that every one has (IEEE 802.3, clause 22).
//!
//! One transfer takes some 33 µs. It is begun in one poll and looked at in a later one: nothing waits for it.

use crate::bus::Bus;
use crate::registers::{MACMDIOAR, MACMDIOAR_MB, MACMDIOAR_READ, MACMDIOAR_WRITE, MACMDIODR};

/// A transfer takes 64 bits at 2 MHz; one that takes so long \[µs\] never ends.
const TRANSFER: u64 = 10_000;
/// When to look at a transfer \[µs\].
const LOOK: u64 = 50;
/// A reset takes at most half a second (clause 22.2.4.1.1) \[µs\].
const RESET: u64 = 600_000;
/// How often it is looked at, the reset and later the link \[µs\].
const RESET_LOOK: u64 = 10_000;
const LINK_LOOK: u64 = 100_000;

const CONTROL: u8 = 0;
const STATUS: u8 = 1;
const IDENTIFIER: u8 = 2;
const IDENTIFIER_LOW: u8 = 3;
const ADVERTISED: u8 = 4;
const PARTNER: u8 = 5;

const CONTROL_RESET: u16 = 1 << 15;
/// 100 Mbit/s, full duplex; both only until there is a partner to negotiate with.
const NEGOTIATE: u16 = 1 << 13 | 1 << 12 | 1 << 9 | 1 << 8;
const NEGOTIATED: u16 = 1 << 5;
const LINKED: u16 = 1 << 2;
/// IEEE 802.3, and 10 and 100 Mbit/s in both duplexes.
const ABILITIES: u16 = 0x01e1;

/// What was negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkMode {
    /// 100 Mbit/s, not 10.
    pub fast: bool,
    /// Both directions at once.
    pub full_duplex: bool,
}

impl LinkMode {
    /// The best that we and the partner, which has said `partner`, can do. A partner that does not negotiate is shown with
    /// the one ability that was seen of it, without full duplex.
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

/// What the transceiver cannot be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A transfer does not end: the controller's own clock stands.
    TransferStuck,
    /// None at any of the 32 addresses.
    None,
    /// The one at this address does not come back from its reset.
    ResetStuck(u8),
}

/// What became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There is nothing to do before this time \[µs\].
    At(u64),
    /// It was found, and negotiates.
    Ready {
        /// Its address.
        address: u8,
        /// Its identifier, register 2 above register 3.
        identifier: u32,
    },
    /// How the link is.
    Link(Option<LinkMode>),
    /// It cannot be used.
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

/// A transceiver that is looked for, set up, and looked after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phy {
    address: u8,
    high: u16,
    low: u16,
    step: Step,
    /// When the transfer that is under way was begun.
    begun: Option<u64>,
    /// Nothing is begun before.
    next: u64,
    /// Part of [`MACMDIOAR`] that sets the rate.
    clock: u32,
}

impl Phy {
    /// Not looked for yet. `clock_range` is the field CR of [`MACMDIOAR`]: 4 for a bus of 150 to 250 MHz.
    pub(crate) const fn new(clock_range: u8) -> Self {
        let clock = (clock_range as u32 & 0xf) << 8;
        Self { address: 0, high: 0, low: 0, step: Step::Find, begun: None, next: 0, clock }
    }

    /// Goes on by one transfer at most. Never waits.
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

    /// The transfer of this step.
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

    /// What follows it.
    fn ended(&mut self, value: u16, now: u64) -> Progress {
        let step = match self.step {
            // Nobody drives the line: it is pulled up; or down, where the pull-up is missing.
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
            Step::Status | Step::Partner => return self.looked(value, now),
        };
        self.step = step;
        Progress::At(self.next)
    }

    /// How the link is: what the partner can do is asked each time that it is there.
    fn looked(&mut self, value: u16, now: u64) -> Progress {
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
