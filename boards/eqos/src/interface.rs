//! The Ethernet interface: started, supervised, and polled by `embassy-net`.

use core::task::Context;

use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};

use crate::board_traits::{Bus, Cells};
use crate::memory::BUFFER;
use crate::phy::{Failure, LinkMode, Phy, Progress};
use crate::receive::ReceiveRing;
use crate::registers::{
    DMACIER, DMACRXCR, DMACRXCR_PBL_1, DMACRXCR_RBSZ, DMACRXCR_SR, DMACTXCR, DMACTXCR_PBL_1, DMACTXCR_ST, DMADSR,
    DMADSR_RPS0, DMAMR, DMAMR_SWR, MAC1USTCR, MACA0HR, MACA0LR, MACCR, MACCR_ACS, MACCR_CST, MACCR_DM, MACCR_FES,
    MACCR_RE, MACCR_TE, MACPFR, MACPFR_PM, MMC_RX_ALL, MMC_RX_INTERRUPT_MASK, MMC_TX_ALL, MMC_TX_INTERRUPT_MASK,
    MTLRXQOMR, MTLRXQOMR_RSF, MTLTXQOMR, MTLTXQOMR_FTQ, MTLTXQOMR_TSF, STOPPED,
};
use crate::shared::{ALERT, Cause, Fault, News, Shared};
use crate::transmit::TransmitRing;

/// The length of the longest Ethernet frame without its check sequence \[B\]: header and 1 500 bytes.
const MAX_FRAME: usize = 1_514;
/// The number of Ethernet frames received before other tasks run: a flood must not starve them.
const BURST: u8 = 8;
/// The shortest time between the beginnings of two starts of the Ethernet interface \[µs\].
const AGAIN: u64 = 1_000_000;
/// The time limit for the Ethernet controller to end its reset \[µs\].
const RESET: u64 = 500_000;
/// The time between two reads of the reset bit of the Ethernet controller \[µs\].
const RESET_LOOK: u64 = 1_000;
/// The time between two checks of a running Ethernet interface \[µs\].
const LOOK: u64 = 100_000;
/// The time limit for the transmission of a frame while there is a link \[µs\]: a frame takes 1.2 ms at 10 Mbit/s.
const SENDING: u64 = 2_000_000;

/// The progress of the Ethernet interface's start.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The interface waits for its next start, not before this time \[µs\].
    Idle { not_before: u64 },
    /// The Ethernet controller is in reset, until this time \[µs\] at the latest.
    Resetting { until: u64 },
    /// The Ethernet transceiver is being searched for.
    Finding,
    /// The start is complete: the DMA sends and receives frames by its two rings.
    Running,
}

/// A network interface, the [`Driver`] that `embassy-net` polls; its rings are in `T` (transmit) and `R` (receive).
///
/// Polling it starts the controller, finds the transceiver and follows the link; a start that fails is repeated once a second.
/// The interface is down until there is a link. Frames are of at most 1 514 bytes without check sequence; checksums of
/// IP, TCP and UDP are left to the stack.
pub struct Interface<'s, B, T, R> {
    bus: B,
    shared: &'s Shared,
    address: [u8; 6],
    megahertz: u32,
    clock_range: u8,
    transmit: TransmitRing<T>,
    receive: ReceiveRing<R>,
    phy: Phy,
    phase: Phase,
    /// The number of the Ethernet interface's starts in a row that failed.
    failed: u32,
    started: u64,
    link: Option<LinkMode>,
    /// The number of frames that had been sent at the last check of the interface.
    sent: u32,
    /// The time since which no frame was sent although some waited \[µs\]; `None` if none waits or frames are sent.
    stuck_since: Option<u64>,
    checked: u64,
    /// The number of frames received since other tasks last ran.
    burst: u8,
}

impl<'s, B: Bus, T: Cells, R: Cells> Interface<'s, B, T, R> {
    /// Returns an interface that its first poll will start.
    ///
    /// * `shared`: counters and log of this interface; its interrupt handler calls [`Shared::interrupt`] of the same one.
    /// * `address`: the hardware address, first byte first.
    /// * `megahertz`: the rate of the bus that the controller is clocked by \[MHz\], 35 to 250 (on the STM32H7: HCLK). The
    ///   clock of the transfers to the transceiver is divided from it, and is at most 2.5 MHz.
    /// * `transmit`, `receive`: the memory of the rings. One descriptor of each stays unused: with 4 and 8, three frames can
    ///   wait to be sent, and seven to be received.
    pub fn new(bus: B, shared: &'s Shared, address: [u8; 6], megahertz: u32, transmit: T, receive: R) -> Self {
        // Dividers that make at most 2.5 MHz of it: 26, 42, 62, 102.
        let clock_range = match megahertz {
            0..=59 => 3,
            60..=99 => 0,
            100..=149 => 1,
            _ => 4,
        };
        Self {
            bus,
            shared,
            address,
            megahertz,
            clock_range,
            transmit: TransmitRing::new(transmit),
            receive: ReceiveRing::new(receive),
            phy: Phy::new(clock_range),
            phase: Phase::Idle { not_before: 0 },
            failed: 0,
            started: 0,
            link: None,
            sent: 0,
            stuck_since: None,
            checked: 0,
            burst: 0,
        }
    }

    /// Continues the start of the interface, or checks a running one. Returns the time of the next call \[µs\].
    /// Never waits: the call makes a few dozen accesses, and one pass over the descriptors when the rings are
    /// started.
    fn advance(&mut self) -> u64 {
        let now = self.bus.now();
        match self.phase {
            Phase::Idle { not_before } if now < not_before => not_before,
            Phase::Idle { .. } => {
                // Causes from before the reset are obsolete.
                let _ = self.shared.take_cause();
                self.started = now;
                self.bus.enable();
                self.bus.write(DMAMR, DMAMR_SWR);
                self.phase = Phase::Resetting { until: now + RESET };
                now + RESET_LOOK
            }
            Phase::Resetting { until } => {
                if self.bus.read(DMAMR) & DMAMR_SWR == 0 {
                    self.phy = Phy::new(self.clock_range);
                    self.phase = Phase::Finding;
                    return now;
                }
                if now >= until {
                    return self.fail(Fault::NoReferenceClock);
                }
                now + RESET_LOOK
            }
            Phase::Finding => match self.phy.poll(&self.bus) {
                Progress::At(at) => at,
                Progress::Ready { address, identifier } => {
                    self.run();
                    self.failed = 0;
                    self.shared.report(News::Started { phy: address, identifier });
                    now
                }
                Progress::Failed(Failure::None) => self.fail(Fault::NoPhy),
                Progress::Failed(Failure::TransferStuck) => self.fail(Fault::TransferStuck),
                Progress::Failed(Failure::ResetStuck(address)) => self.fail(Fault::PhyResetStuck(address)),
                // The link is not read before the transceiver is ready.
                Progress::Link(_) => now,
            },
            Phase::Running => self.supervise(now),
        }
    }

    fn supervise(&mut self, now: u64) -> u64 {
        if let Some(cause) = self.shared.take_cause() {
            return self.restart(cause);
        }
        if now >= self.checked + LOOK {
            self.checked = now;
            if let Some(cause) = self.health(now) {
                return self.restart(cause);
            }
        }
        let next = match self.phy.poll(&self.bus) {
            Progress::Link(link) => {
                if link != self.link {
                    if self.link.is_some() && link.is_none() {
                        self.shared.count_link_loss();
                    }
                    self.link = link;
                    self.stuck_since = None;
                    self.set_mode();
                    self.shared.report(News::Link(link));
                }
                now
            }
            Progress::At(at) => at,
            Progress::Failed(_) => return self.restart(Cause::TransferStuck),
            Progress::Ready { .. } => now,
        };
        next.min(self.checked + LOOK)
    }

    /// Checks reception and transmission, wakes a DMA that is suspended although it has work, and updates the counts.
    /// Returns the reason for a restart of the interface, `None` if both work.
    fn health(&mut self, now: u64) -> Option<Cause> {
        if self.bus.read(DMADSR) >> DMADSR_RPS0 & 0xf == STOPPED {
            return Some(Cause::Stopped);
        }
        let _ = self.transmit.has_room(&self.bus);
        let asleep = [self.receive.wake_if_asleep(&self.bus), self.transmit.wake_if_asleep(&self.bus)];
        asleep.into_iter().filter(|asleep| *asleep).for_each(|_| self.shared.count_asleep());
        self.shared.set_losses(self.receive.bad(), self.transmit.failed());
        let sent = self.transmit.sent().wrapping_add(self.transmit.failed());
        if self.link.is_none() || self.transmit.waiting() == 0 || sent != self.sent {
            self.stuck_since = None;
        }
        self.sent = sent;
        if self.link.is_some() && self.transmit.waiting() > 0 {
            let since = *self.stuck_since.get_or_insert(now);
            return (now - since >= SENDING).then_some(Cause::TransmissionStuck);
        }
        None
    }

    /// Sets up the MAC and the DMA, and starts the transmit and receive rings.
    fn run(&mut self) {
        let Self { bus, .. } = self;
        bus.write(MAC1USTCR, self.megahertz.saturating_sub(1));
        bus.write(MACPFR, MACPFR_PM);
        let [a, b, c, d, e, f] = self.address;
        // The low half makes both valid.
        bus.write(MACA0HR, u32::from_le_bytes([e, f, 0, 0]));
        bus.write(MACA0LR, u32::from_le_bytes([a, b, c, d]));
        // Counters that are never read would interrupt when they are half full.
        bus.write(MMC_RX_INTERRUPT_MASK, MMC_RX_ALL);
        bus.write(MMC_TX_INTERRUPT_MASK, MMC_TX_ALL);
        set(bus, MTLRXQOMR, MTLRXQOMR_RSF);
        set(bus, MTLTXQOMR, MTLTXQOMR_TSF | MTLTXQOMR_FTQ);
        bus.write(DMACTXCR, DMACTXCR_PBL_1);
        bus.write(DMACRXCR, DMACRXCR_PBL_1 | (BUFFER as u32 * DMACRXCR_RBSZ));
        self.receive.start(bus);
        self.transmit.start(bus);
        set(bus, DMACTXCR, DMACTXCR_ST);
        set(bus, DMACRXCR, DMACRXCR_SR);
        self.set_mode();
        // A restart requested meanwhile has been done.
        let _ = self.shared.take_cause();
        let now = self.bus.now();
        self.phase = Phase::Running;
        (self.checked, self.stuck_since, self.sent, self.burst) = (now, None, 0, 0);
        self.bus.write(DMACIER, ALERT);
    }

    /// Sets speed and duplex as negotiated, or without a link to 100 Mbit/s full duplex. The MAC is stopped while they change.
    fn set_mode(&self) {
        let mode = self.link.unwrap_or(LinkMode { fast: true, full_duplex: true });
        let bits = [(mode.fast, MACCR_FES), (mode.full_duplex, MACCR_DM), (true, MACCR_ACS | MACCR_CST)];
        let bits = bits.iter().fold(0, |bits, (is, bit)| if *is { bits | bit } else { bits });
        let rest = self.bus.read(MACCR) & !(MACCR_FES | MACCR_DM | MACCR_RE | MACCR_TE);
        self.bus.write(MACCR, rest | bits);
        self.bus.write(MACCR, rest | bits | MACCR_RE | MACCR_TE);
    }

    fn fail(&mut self, fault: Fault) -> u64 {
        self.failed = self.failed.saturating_add(1);
        self.shared.count_failure();
        // Not each of them: one a second would fill the log.
        if self.failed.is_power_of_two() {
            self.shared.report(News::Failed(fault, self.failed));
        }
        self.idle()
    }

    fn restart(&mut self, cause: Cause) -> u64 {
        self.shared.count_restart(cause);
        self.shared.report(News::Restarted(cause));
        self.idle()
    }

    /// Stops the interface until its next start, which is at least a second after the last one. Returns the time of
    /// the next start \[µs\].
    fn idle(&mut self) -> u64 {
        let not_before = self.started + AGAIN;
        self.bus.write(DMACIER, 0);
        self.link = None;
        self.phase = Phase::Idle { not_before };
        not_before.max(self.bus.now())
    }

    const fn runs(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }
}

/// Sets `bits` of a register of the Ethernet controller and keeps its other bits, whose values from the reset matter.
fn set(bus: &impl Bus, register: usize, bits: u32) {
    bus.write(register, bus.read(register) | bits);
}

impl<B: Bus, T: Cells, R: Cells> Driver for Interface<'_, B, T, R> {
    type RxToken<'a>
        = ReceiveToken<'a, B, R>
    where
        Self: 'a;
    type TxToken<'a>
        = TransmitToken<'a, B, T>
    where
        Self: 'a;

    fn receive(&mut self, context: &mut Context<'_>) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        // First, so that no later event is missed.
        self.shared.waker.register(context.waker());
        if !self.runs() {
            return None;
        }
        if self.burst >= BURST {
            self.burst = 0;
            context.waker().wake_by_ref();
            return None;
        }
        // Frames wait until a reply has room; the interrupt of transmission is always enabled.
        if !self.transmit.has_room(&self.bus) {
            return None;
        }
        let Some(length) = self.receive.look(&self.bus) else {
            self.burst = 0;
            // A frame that arrived meanwhile has set its bit, and interrupts at once.
            self.bus.write(DMACIER, ALERT);
            return None;
        };
        self.burst += 1;
        let Self { bus, shared, receive, transmit, .. } = self;
        Some((ReceiveToken { bus, shared, ring: receive, length }, TransmitToken { bus, ring: transmit }))
    }

    fn transmit(&mut self, context: &mut Context<'_>) -> Option<Self::TxToken<'_>> {
        self.shared.waker.register(context.waker());
        let Self { bus, transmit, phase: Phase::Running, .. } = self else { return None };
        transmit.has_room(bus).then_some(TransmitToken { bus, ring: transmit })
    }

    fn link_state(&mut self, context: &mut Context<'_>) -> LinkState {
        let next = self.advance();
        self.bus.wake_at(next, context.waker());
        if self.runs() && self.link.is_some() { LinkState::Up } else { LinkState::Down }
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = MAX_FRAME;
        // No burst size: the stack would limit its receive window to as many packets, which transmit buffers do not limit.
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(self.address)
    }
}

/// A received frame, without its check sequence. If it is dropped unconsumed, it stays the next frame to be
/// received.
pub struct ReceiveToken<'a, B, R> {
    bus: &'a B,
    shared: &'a Shared,
    ring: &'a mut ReceiveRing<R>,
    length: usize,
}

impl<B: Bus, R: Cells> RxToken for ReceiveToken<'_, B, R> {
    fn consume<V, F: FnOnce(&mut [u8]) -> V>(self, f: F) -> V {
        self.shared.count_received();
        self.ring.take(self.bus, self.length, f)
    }
}

/// Room for one frame to be sent, of at most 1 514 bytes. [`consume`](TxToken::consume) panics above [`BUFFER`] bytes.
pub struct TransmitToken<'a, B, T> {
    bus: &'a B,
    ring: &'a mut TransmitRing<T>,
}

impl<B: Bus, T: Cells> TxToken for TransmitToken<'_, B, T> {
    fn consume<V, F: FnOnce(&mut [u8]) -> V>(self, len: usize, f: F) -> V {
        self.ring.send(self.bus, len, f)
    }
}
