//! The interface: started, looked after, and polled by `embassy-net`.

use core::task::Context;

use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};

use crate::bus::{Bus, Cells};
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

/// An Ethernet frame without its check sequence: header and 1 500 bytes.
const MAX_FRAME: usize = 1_514;
/// Frames taken before other tasks have their turn: a flood must not starve the control loop.
const BURST: u8 = 8;
/// Time from one start to the next \[µs\], at least.
const AGAIN: u64 = 1_000_000;
/// The controller's reset ends within this time, or never does \[µs\].
const RESET: u64 = 500_000;
/// How often it is looked at \[µs\].
const RESET_LOOK: u64 = 1_000;
/// How often a running interface is looked at \[µs\].
const LOOK: u64 = 100_000;
/// Frames that wait with a link are sent within this time \[µs\]: a frame takes 1.2 ms at 10 Mbit/s.
const SENDING: u64 = 2_000_000;

/// How far the start has come.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// To be begun.
    Idle { not_before: u64 },
    /// The controller resets itself.
    Resetting { until: u64 },
    /// The transceiver is looked for.
    Finding,
    /// Both rings run.
    Running,
}

/// An interface with rings in `T` and `R`.
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
    /// Starts that failed, in a row.
    failed: u32,
    started: u64,
    link: Option<LinkMode>,
    /// Frames sent when transmission was looked at, and since when none was while some waited.
    sent: u32,
    stuck_since: Option<u64>,
    looked: u64,
    /// Frames taken since other tasks had their turn.
    burst: u8,
}

impl<'s, B: Bus, T: Cells, R: Cells> Interface<'s, B, T, R> {
    /// Not started: the first poll begins with that. `megahertz` is the rate of the controller's bus, 35 to 250 MHz.
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
            looked: 0,
            burst: 0,
        }
    }

    /// Goes on with the start, or looks after what runs; when to be called again \[µs\]. Never waits: a few dozen accesses, and
    /// one pass over the descriptors when the rings are started.
    fn tend(&mut self) -> u64 {
        let now = self.bus.now();
        match self.phase {
            Phase::Idle { not_before } if now < not_before => not_before,
            Phase::Idle { .. } => {
                // What was said of the DMA before its reset is of no interest any more.
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
                    self.shared.tell(News::Started { phy: address, identifier });
                    now
                }
                Progress::Failed(Failure::None) => self.fail(Fault::NoPhy),
                Progress::Failed(Failure::TransferStuck) => self.fail(Fault::TransferStuck),
                Progress::Failed(Failure::ResetStuck(address)) => self.fail(Fault::PhyResetStuck(address)),
                // It is not asked before the transceiver is ready.
                Progress::Link(_) => now,
            },
            Phase::Running => self.look_after(now),
        }
    }

    fn look_after(&mut self, now: u64) -> u64 {
        if let Some(cause) = self.shared.take_cause() {
            return self.restart(cause);
        }
        if now >= self.looked + LOOK {
            self.looked = now;
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
                    self.shared.tell(News::Link(link));
                }
                now
            }
            Progress::At(at) => at,
            Progress::Failed(_) => return self.restart(Cause::TransferStuck),
            Progress::Ready { .. } => now,
        };
        next.min(self.looked + LOOK)
    }

    /// Whether both processes of the DMA do what they should.
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

    /// Sets MAC and DMA up, and lets both rings run.
    fn run(&mut self) {
        let Self { bus, .. } = self;
        bus.write(MAC1USTCR, self.megahertz.saturating_sub(1));
        bus.write(MACPFR, MACPFR_PM);
        let [a, b, c, d, e, f] = self.address;
        // The low half makes both valid.
        bus.write(MACA0HR, u32::from_le_bytes([e, f, 0, 0]));
        bus.write(MACA0LR, u32::from_le_bytes([a, b, c, d]));
        // Counters that nobody reads would interrupt when they are half full.
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
        // Who asked for a start meanwhile has got it.
        let _ = self.shared.take_cause();
        let now = self.bus.now();
        self.phase = Phase::Running;
        (self.looked, self.stuck_since, self.sent, self.burst) = (now, None, 0, 0);
        self.bus.write(DMACIER, ALERT);
    }

    /// Speed and duplex as negotiated; without a link, what most links have. The MAC stands while they change.
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
        // Once a second for ever would be a log of nothing else.
        if self.failed.is_power_of_two() {
            self.shared.tell(News::Failed(fault, self.failed));
        }
        self.idle()
    }

    fn restart(&mut self, cause: Cause) -> u64 {
        self.shared.count_restart(cause);
        self.shared.tell(News::Restarted(cause));
        self.idle()
    }

    /// Nothing runs until the next start, which is a second after the last one at the earliest.
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

/// Reads, and writes with these bits set: the others have values from the reset that matter.
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
        // First, so that what happens from here on is not missed.
        self.shared.waker.register(context.waker());
        if !self.runs() {
            return None;
        }
        if self.burst >= BURST {
            self.burst = 0;
            context.waker().wake_by_ref();
            return None;
        }
        // Frames wait until an answer has room; its interrupt is on all the time.
        if !self.transmit.has_room(&self.bus) {
            return None;
        }
        let Some(length) = self.receive.look(&self.bus) else {
            self.burst = 0;
            // A frame that came meanwhile has left its bit, and interrupts at once.
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
        let next = self.tend();
        self.bus.wake_at(next, context.waker());
        if self.runs() && self.link.is_some() { LinkState::Up } else { LinkState::Down }
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = MAX_FRAME;
        // No burst size: the stack would announce a window of no more packets than that, and the transmit buffers say nothing of those.
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(self.address)
    }
}

/// A received frame.
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

/// Room for a frame to be sent, of at most 1 514 bytes.
pub struct TransmitToken<'a, B, T> {
    bus: &'a B,
    ring: &'a mut TransmitRing<T>,
}

impl<B: Bus, T: Cells> TxToken for TransmitToken<'_, B, T> {
    fn consume<V, F: FnOnce(&mut [u8]) -> V>(self, len: usize, f: F) -> V {
        self.ring.send(self.bus, len, f)
    }
}
