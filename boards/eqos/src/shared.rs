//! What the interrupt, the driver and others know of an interface.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::waitqueue::AtomicWaker;

use crate::bus::Bus;
use crate::phy::LinkMode;
use crate::registers::{AIS, CLEARABLE, DMACIER, DMACSR, FBE, NIS, RBU, RI, RPS, TI, TPS};

/// What raises the interrupt while received frames are waited for.
pub(crate) const ALERT: u32 = NIS | AIS | TI | RI | RBU | RPS | FBE;
/// And while they are being taken: a flood must not interrupt for every frame of it.
const BUSY: u32 = NIS | AIS | TI | RPS | FBE;
/// After these the DMA does nothing more.
const DEADLY: u32 = FBE | RPS | TPS;

/// Why a start failed. It is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The controller does not come out of its reset: the reference clock that the transceiver gives is missing.
    NoReferenceClock,
    /// No transceiver answers at any of the 32 addresses.
    NoPhy,
    /// A transfer to the transceiver does not end.
    TransferStuck,
    /// The transceiver at this address does not come back from its reset.
    PhyResetStuck(u8),
}

/// Why an interface that ran is started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The bus refused an access of the DMA.
    BusError,
    /// The DMA's reception or transmission has stopped.
    Stopped,
    /// Frames wait to be sent, and none is.
    TransmissionStuck,
    /// Transfers to the transceiver no longer end.
    TransferStuck,
    /// Somebody wanted it.
    Asked,
}

/// Something for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The interface runs, with a transceiver at this address.
    Started {
        /// Its address.
        phy: u8,
        /// Its identifier, registers 2 and 3.
        identifier: u32,
    },
    /// It could not be started, for the how manyth time in a row: the first, second, fourth, eighth time and so on.
    Failed(Fault, u32),
    /// There is a link, or none.
    Link(Option<LinkMode>),
    /// It is started anew.
    Restarted(Cause),
}

#[cfg(feature = "defmt")]
impl defmt::Format for News {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self {
            Self::Started { phy, identifier } => {
                defmt::write!(f, "PHY {=u8} ({=u32:#010x}) negotiates", phy, identifier)
            }
            Self::Failed(Fault::NoReferenceClock, times) => {
                defmt::write!(f, "no 50 MHz reference clock from the PHY, the MAC stays in reset ({=u32})", times);
            }
            Self::Failed(Fault::NoPhy, times) => defmt::write!(f, "no PHY at any of 32 addresses ({=u32})", times),
            Self::Failed(Fault::TransferStuck, times) => defmt::write!(f, "SMI transfers do not end ({=u32})", times),
            Self::Failed(Fault::PhyResetStuck(phy), times) => {
                defmt::write!(f, "PHY {=u8} does not end its reset ({=u32})", phy, times);
            }
            Self::Link(None) => defmt::write!(f, "PHY: no link"),
            Self::Link(Some(LinkMode { fast, full_duplex })) => {
                let (rate, duplex) = (if *fast { 100_u8 } else { 10 }, if *full_duplex { "full" } else { "half" });
                defmt::write!(f, "PHY: {=u8} Mbit/s, {=str} duplex", rate, duplex);
            }
            Self::Restarted(cause) => {
                let why = match cause {
                    Cause::BusError => "bus error of the DMA",
                    Cause::Stopped => "the DMA has stopped",
                    Cause::TransmissionStuck => "nothing is sent any more",
                    Cause::TransferStuck => "SMI transfers do not end",
                    Cause::Asked => "nothing was received for long",
                };
                defmt::write!(f, "interface restarted: {=str}", why);
            }
        }
    }
}

/// Counts since boot; they stop at their largest value, except `received`, which wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that were passed on.
    pub received: u32,
    /// Frames that could not be used.
    pub bad: u32,
    /// Frames that could not be sent: given up by the controller, or lost in a restart.
    pub unsent: u32,
    /// How often the DMA had no buffer left.
    pub starved: u32,
    /// How often the DMA slept with buffers, and was woken by hand.
    pub asleep: u32,
    /// How often a running interface was started anew.
    pub restarts: u32,
    /// How often a running interface lost its link.
    pub link_losses: u32,
    /// Waits for the controller or the transceiver that ran out.
    pub timeouts: u32,
    /// How often the bus refused an access of the DMA, or the DMA stopped.
    pub bus_errors: u32,
}

/// One of an interface, in a static: its interrupt and its driver both have it.
pub struct Shared {
    pub(crate) waker: AtomicWaker,
    deadly: AtomicU32,
    asked: AtomicBool,
    received: AtomicU32,
    bad: AtomicU32,
    unsent: AtomicU32,
    starved: AtomicU32,
    asleep: AtomicU32,
    restarts: AtomicU32,
    link_losses: AtomicU32,
    timeouts: AtomicU32,
    bus_errors: AtomicU32,
    news: Channel<CriticalSectionRawMutex, News, 8>,
}

impl Shared {
    /// Nothing has happened.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            waker: AtomicWaker::new(),
            deadly: AtomicU32::new(0),
            asked: AtomicBool::new(false),
            received: AtomicU32::new(0),
            bad: AtomicU32::new(0),
            unsent: AtomicU32::new(0),
            starved: AtomicU32::new(0),
            asleep: AtomicU32::new(0),
            restarts: AtomicU32::new(0),
            link_losses: AtomicU32::new(0),
            timeouts: AtomicU32::new(0),
            bus_errors: AtomicU32::new(0),
            news: Channel::new(),
        }
    }

    /// The controller's interrupt. Each bit that was seen is cleared, and no other.
    pub fn interrupt(&self, bus: &impl Bus) {
        let seen = bus.read(DMACSR);
        bus.write(DMACSR, seen & CLEARABLE);
        if seen & (RI | RBU) != 0 {
            bus.write(DMACIER, BUSY);
        }
        if seen & RBU != 0 {
            add(&self.starved);
        }
        self.deadly.fetch_or(seen & DEADLY, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Wishes that the interface is started anew; it is at its next poll, at most once a second.
    pub fn restart(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// The next line for the log. Lines that nobody fetches are lost when there are eight.
    pub fn news(&self) -> Option<News> {
        self.news.try_receive().ok()
    }

    /// What was counted since boot.
    pub fn counters(&self) -> Counters {
        let get = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        Counters {
            received: get(&self.received),
            bad: get(&self.bad),
            unsent: get(&self.unsent),
            starved: get(&self.starved),
            asleep: get(&self.asleep),
            restarts: get(&self.restarts),
            link_losses: get(&self.link_losses),
            timeouts: get(&self.timeouts),
            bus_errors: get(&self.bus_errors),
        }
    }

    pub(crate) fn tell(&self, news: News) {
        // A full channel is a log that nobody reads.
        let _ = self.news.try_send(news);
    }

    pub(crate) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_asleep(&self) {
        add(&self.asleep);
    }

    pub(crate) fn count_restart(&self, cause: Cause) {
        add(&self.restarts);
        match cause {
            Cause::BusError | Cause::Stopped => add(&self.bus_errors),
            Cause::TransmissionStuck | Cause::TransferStuck => add(&self.timeouts),
            Cause::Asked => {}
        }
    }

    /// A start failed. Each failure is a wait that ran out.
    pub(crate) fn count_failure(&self) {
        add(&self.timeouts);
    }

    pub(crate) fn count_link_loss(&self) {
        add(&self.link_losses);
    }

    pub(crate) fn set_losses(&self, bad: u32, unsent: u32) {
        self.bad.store(bad, Ordering::Relaxed);
        self.unsent.store(unsent, Ordering::Relaxed);
    }

    /// What ended the DMA since this was asked last, or who wants it ended.
    pub(crate) fn take_cause(&self) -> Option<Cause> {
        let deadly = self.deadly.swap(0, Ordering::Relaxed);
        let asked = self.asked.swap(false, Ordering::Relaxed);
        match deadly {
            _ if deadly & FBE != 0 => Some(Cause::BusError),
            0 => asked.then_some(Cause::Asked),
            _ => Some(Cause::Stopped),
        }
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

fn add(counter: &AtomicU32) {
    // One writer at a time: the interrupt, or the driver.
    counter.store(counter.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
}
