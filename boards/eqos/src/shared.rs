//! The state that the interrupt handler, the driver and the application share: counters, log, requested restart.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::waitqueue::AtomicWaker;

use crate::board_traits::Bus;
use crate::phy::LinkMode;
use crate::registers::{AIS, CLEARABLE, DMACIER, DMACSR, FBE, NIS, RBU, RI, RPS, TI, TPS};

/// The interrupts that are enabled while the driver waits for received frames.
pub(crate) const ALERT: u32 = NIS | AIS | TI | RI | RBU | RPS | FBE;
/// The interrupts that are enabled while the driver takes received frames: a flood must not interrupt for every
/// frame.
const BUSY: u32 = NIS | AIS | TI | RPS | FBE;
/// The DMA's interrupt events after which its reception or its transmission remains stopped.
const DEADLY: u32 = FBE | RPS | TPS;

/// A reason why a start of the Ethernet interface failed. The start is repeated after a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The Ethernet controller does not end its reset within 500 ms: the reference clock of the transceiver is missing.
    NoReferenceClock,
    /// No Ethernet transceiver answers at any of the 32 addresses.
    NoPhy,
    /// A register transfer to the transceiver does not end within 10 ms.
    TransferStuck,
    /// The transceiver at this address, 0 to 31, does not end its reset within 600 ms.
    PhyResetStuck(u8),
}

/// A reason why a running Ethernet interface is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The bus refused an access of the DMA (bit FBE of DMACSR).
    BusError,
    /// The DMA's reception or transmission has stopped (RPS, TPS).
    Stopped,
    /// Frames wait to be sent, and none was sent for 2 s although there is a link.
    TransmissionStuck,
    /// Register transfers to the transceiver no longer end.
    TransferStuck,
    /// The firmware requested the restart by [`Shared::restart`].
    Asked,
}

/// An event of the Ethernet interface for the log. With feature `defmt` it formats itself as a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The Ethernet interface runs; its transceiver was found and negotiates the link.
    Started {
        /// The address of the transceiver, 0 to 31.
        phy: u8,
        /// The identifier of the transceiver: register 2 in the upper half, register 3 in the lower.
        identifier: u32,
    },
    /// The last starts have failed, the newest for this reason; the number counts the failed starts in a row. Only
    /// the first, second, fourth, eighth and so on are reported.
    Failed(Fault, u32),
    /// The mode of the Ethernet link changed; `None` if the link was lost.
    Link(Option<LinkMode>),
    /// The Ethernet interface is being restarted, for this reason.
    Restarted(Cause),
}

#[cfg(feature = "defmt")]
impl defmt::Format for News {
    fn format(&self, f: defmt::Formatter<'_>) {
        match self {
            Self::Started { phy, identifier } => {
                defmt::write!(f, "PHY {=u8} ({=u32:#010x}) negotiates", phy, identifier);
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
                    Cause::Asked => "requested",
                };
                defmt::write!(f, "interface restarted: {=str}", why);
            }
        }
    }
}

/// The counts of an Ethernet interface since boot. They stop at `u32::MAX`, except `received`, which wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of received frames that the network stack has taken.
    pub received: u32,
    /// The number of received frames that were damaged, in pieces or too long.
    pub bad: u32,
    /// The number of frames not sent: given up by the controller, or lost in a restart.
    pub unsent: u32,
    /// The number of times the DMA had no receive buffer left (RBU).
    pub starved: u32,
    /// The number of times the DMA was suspended with work to do, and was woken by another write of the tail pointer.
    pub asleep: u32,
    /// The number of restarts of the Ethernet interface while it was running.
    pub restarts: u32,
    /// The number of times that the running Ethernet interface lost its link.
    pub link_losses: u32,
    /// The number of timeouts of Ethernet controller and transceiver, at the start and later.
    pub timeouts: u32,
    /// The number of times the bus refused an access of the DMA, or the DMA stopped.
    pub bus_errors: u32,
}

/// The state of one Ethernet interface that its driver, its interrupt handler and the application share; kept in a
/// static.
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
    /// Returns the state of the Ethernet interface at boot: all counts zero, no events for the log.
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

    /// Handles the Ethernet controller's interrupt: call it from the handler. Clears the bits that it has read, wakes
    /// the driver. Three accesses of registers at most.
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

    /// Requests a restart of the Ethernet interface. Its next poll begins it, at most one a second; the link is lost
    /// meanwhile.
    ///
    /// Useful where frames should arrive and none does: the driver cannot tell such silence from a quiet network.
    pub fn restart(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Returns the next event of the interface for the log, oldest first; `None` if there is none. Eight events are
    /// stored; later ones are lost until one is fetched.
    pub fn news(&self) -> Option<News> {
        self.news.try_receive().ok()
    }

    /// Returns the interface's counts since boot. `bad`, `unsent` and `asleep` are updated ten times a second.
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

    pub(crate) fn report(&self, news: News) {
        // Lost where the channel is full: nobody reads the log.
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

    /// Counts a failed start of the Ethernet interface. Each failure is a timeout.
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

    /// Takes the cause, since the last call, for which the interface must be restarted; `None` if there is none.
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
