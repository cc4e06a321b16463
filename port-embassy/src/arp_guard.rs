//! A guard of the robot's address on this network, against forged and conflicting ARP packets.
//!
//! The stack accepts every ARP packet to this device and updates its table (smoltcp 0.13.1, `iface/interface/ipv4.rs`,
//! `process_arp`); an entry is valid for a minute (`iface/neighbor.rs`, `ENTRY_LIFETIME`). After one forged reply, or a
//! packet of a second device with the robot's address, all packets of this device go to the wrong receiver until then.
//! The guard rejects a second claim of the address, unless the stack itself sent a request.
//!
//! ```
//! use core::net::Ipv4Addr;
//!
//! use embassy_net_driver::Driver;
//! use outrigger_embassy::arp_guard::{ArpGuard, Guarded};
//! use outrigger_embassy::frame_monitor::FrameMonitor;
//!
//! /// The driver to be given to `embassy_net::new` in place of `mac`.
//! fn guarded<D: Driver>(mac: D, robot: Ipv4Addr, monitor: &'static FrameMonitor) -> Guarded<D> {
//!     let own = (Ipv4Addr::new(192, 168, 56, 60), 24);
//!     Guarded::new(mac, ArpGuard::toward(robot, own, None), monitor)
//! }
//! ```

use core::cell::Cell;
use core::net::Ipv4Addr;
use core::task::Context;

use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};

use crate::arp_claim::ArpClaim;
use crate::frame_monitor::FrameMonitor;

/// The guard of one IP address: its owner is the first device that claims it, until the stack requests it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArpGuard {
    address: Ipv4Addr,
    holder: Option<[u8; 6]>,
    /// `true` if the stack has sent an ARP request for the address that is not answered yet.
    asked: bool,
    refused: u32,
}

impl ArpGuard {
    /// Creates the guard of the IP address `address`. For an unspecified address it rejects nothing.
    #[must_use]
    pub const fn new(address: Ipv4Addr) -> Self {
        Self { address, holder: None, asked: false, refused: 0 }
    }

    /// Returns the guard for the robot's address, or for that of the gateway to it, on a device with this address and
    /// prefix length.
    #[must_use]
    pub fn toward(robot: Ipv4Addr, (own, prefix): (Ipv4Addr, u8), gateway: Option<Ipv4Addr>) -> Self {
        let network = |address: Ipv4Addr| address.to_bits().checked_shr(32_u32.wrapping_sub(prefix.into()));
        let near = network(robot) == network(own);
        Self::new(if near { robot } else { gateway.unwrap_or(robot) })
    }

    /// Examines a frame that the network controller has received. Returns `false`, and counts a rejected claim, if it
    /// claims the address for another device than the owner and no request of the stack is unanswered; the stack must
    /// not get that frame.
    pub fn receive(&mut self, frame: &[u8]) -> bool {
        let Some(claim) = ArpClaim::of(frame).filter(|claim| self.is_about(claim.sender)) else { return true };
        if self.asked || self.holder.is_none_or(|holder| holder == claim.hardware) {
            self.holder = Some(claim.hardware);
            self.asked = false;
            return true;
        }
        self.refused = self.refused.saturating_add(1);
        false
    }

    /// Examines a frame that the stack sends: an ARP request for the address permits another owner. The stack sends one
    /// if it knows no owner of the address, or if its table entry is a minute old.
    pub fn transmit(&mut self, frame: &[u8]) {
        self.asked |= ArpClaim::of(frame).is_some_and(|claim| claim.request && self.is_about(claim.target));
    }

    /// Returns the number of rejected claims of the IP address since the guard was created.
    #[must_use]
    pub const fn refused(&self) -> u32 {
        self.refused
    }

    fn is_about(&self, address: Ipv4Addr) -> bool {
        address == self.address && !address.is_unspecified()
    }
}

/// A network controller whose received frames are monitored, and filtered before the stack gets them.
#[derive(Debug)]
pub struct Guarded<D> {
    driver: D,
    guard: Cell<ArpGuard>,
    monitor: &'static FrameMonitor,
}

impl<D: Driver> Guarded<D> {
    /// Wraps `driver`, so that only one device has the address of `guard`.
    pub const fn new(driver: D, guard: ArpGuard, monitor: &'static FrameMonitor) -> Self {
        Self { driver, guard: Cell::new(guard), monitor }
    }
}

impl<D: Driver> Driver for Guarded<D> {
    type RxToken<'a>
        = Received<'a, D::RxToken<'a>>
    where
        Self: 'a;
    type TxToken<'a>
        = Transmit<'a, D::TxToken<'a>>
    where
        Self: 'a;

    fn receive(&mut self, cx: &mut Context<'_>) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        let Self { driver, guard, monitor } = self;
        let (received, transmit) = driver.receive(cx)?;
        Some((Received(received, guard, monitor), Transmit(transmit, guard)))
    }

    fn transmit(&mut self, cx: &mut Context<'_>) -> Option<Self::TxToken<'_>> {
        Some(Transmit(self.driver.transmit(cx)?, &self.guard))
    }

    fn link_state(&mut self, cx: &mut Context<'_>) -> LinkState {
        self.driver.link_state(cx)
    }

    fn capabilities(&self) -> Capabilities {
        self.driver.capabilities()
    }

    fn hardware_address(&self) -> HardwareAddress {
        self.driver.hardware_address()
    }
}

/// A received frame of the wrapped network controller, which the guard examines before the stack gets it.
pub struct Received<'a, T>(T, &'a Cell<ArpGuard>, &'a FrameMonitor);

impl<T: RxToken> RxToken for Received<'_, T> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, f: F) -> R {
        let Self(token, guard, monitor) = self;
        token.consume(|frame| {
            monitor.take(frame);
            let mut known = guard.get();
            let believed = known.receive(frame);
            guard.set(known);
            if believed {
                return f(frame);
            }
            tell(&known, frame);
            // Too short for any content: the stack drops it.
            f(&mut [])
        })
    }
}

/// Logs the first, second, fourth, … rejected claim of the IP address, because a claim may be repeated for a long time.
fn tell(guard: &ArpGuard, frame: &[u8]) {
    if let Some(claim) = ArpClaim::of(frame).filter(|_| guard.refused().is_power_of_two()) {
        let [a, b, c, d] = claim.sender.octets();
        let times = guard.refused();
        #[cfg(feature = "defmt")]
        defmt::info!(
            "network: {=[u8; 6]:02x} says that it has {}.{}.{}.{}, which another has; not believed ({})",
            claim.hardware,
            a,
            b,
            c,
            d,
            times
        );
        #[cfg(not(feature = "defmt"))]
        let _ = (claim.hardware, a, b, c, d, times);
    }
}

/// A buffer of the wrapped network controller for a frame to be sent, which the guard examines.
pub struct Transmit<'a, T>(T, &'a Cell<ArpGuard>);

impl<T: TxToken> TxToken for Transmit<'_, T> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let Self(token, guard) = self;
        token.consume(len, |frame| {
            let result = f(frame);
            let mut known = guard.get();
            known.transmit(frame);
            guard.set(known);
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arp_claim::{ARP, KINDS};

    const ROBOT: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
    const BOARD: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
    const FIRST: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const SECOND: [u8; 6] = [2, 0, 0, 0, 0, 2];

    /// Returns an ARP packet according to RFC 826, behind an Ethernet header.
    fn arp(request: bool, hardware: [u8; 6], sender: Ipv4Addr, target: Ipv4Addr) -> Vec<u8> {
        let mut frame = [&[0xff; 6][..], &hardware, &ARP, &KINDS, &[0, if request { 1 } else { 2 }]].concat();
        frame.extend([&hardware[..], &sender.octets(), &[0; 6], &target.octets()].concat());
        frame
    }

    fn claims(hardware: [u8; 6]) -> Vec<u8> {
        arp(false, hardware, ROBOT, BOARD)
    }

    fn asks() -> Vec<u8> {
        arp(true, [2, 0, 10, 0, 2, 15], BOARD, ROBOT)
    }

    #[test]
    fn the_first_keeps_the_address_and_is_heard_on() {
        let mut robot = ArpGuard::new(ROBOT);
        robot.transmit(&asks());
        assert!(robot.receive(&claims(FIRST)));
        assert!(!robot.receive(&claims(SECOND)) && !robot.receive(&arp(true, SECOND, ROBOT, BOARD)));
        assert!(robot.receive(&claims(FIRST)) && robot.receive(&arp(true, FIRST, ROBOT, BOARD)));
        assert_eq!(robot.refused(), 2);
    }

    #[test]
    fn where_the_stack_asks_anew_another_may_have_it_and_the_first_answer_counts() {
        let mut robot = ArpGuard::new(ROBOT);
        assert!(robot.receive(&arp(true, FIRST, ROBOT, BOARD)), "who speaks first, unasked");
        robot.transmit(&asks());
        assert!(robot.receive(&claims(SECOND)) && !robot.receive(&claims(FIRST)));
        robot.transmit(&arp(true, [9; 6], BOARD, Ipv4Addr::new(10, 0, 2, 3)));
        robot.transmit(&arp(false, [9; 6], BOARD, ROBOT));
        assert!(!robot.receive(&claims(FIRST)), "neither asks for the robot");
    }

    #[test]
    fn nothing_else_is_kept_from_the_stack() {
        let mut robot = ArpGuard::new(ROBOT);
        assert!(robot.receive(&claims(FIRST)));
        let other = arp(false, SECOND, Ipv4Addr::new(10, 0, 2, 3), BOARD);
        assert!(robot.receive(&other));
        let forged = claims(SECOND);
        for length in 0..forged.len() {
            assert!(robot.receive(&forged[..length]), "{length} bytes are no claim");
        }
        for index in 12..20 {
            let mut bent = forged.clone();
            bent[index] ^= 0x40;
            assert!(robot.receive(&bent), "byte {index}");
        }
        assert!(!robot.receive(&[&forged[..], &[0; 18]].concat()), "padded to the shortest frame");
        let mut nobody = ArpGuard::new(Ipv4Addr::UNSPECIFIED);
        let of_nobody = |hardware| arp(true, hardware, Ipv4Addr::UNSPECIFIED, BOARD);
        assert!(nobody.receive(&of_nobody(FIRST)) && nobody.receive(&of_nobody(SECOND)));
    }

    #[test]
    fn beyond_a_gateway_it_is_the_gateway_that_counts() {
        let gateway = Ipv4Addr::new(10, 0, 2, 1);
        let far = Ipv4Addr::new(10, 0, 3, 2);
        assert_eq!(ArpGuard::toward(ROBOT, (BOARD, 24), Some(gateway)), ArpGuard::new(ROBOT));
        assert_eq!(ArpGuard::toward(far, (BOARD, 24), Some(gateway)), ArpGuard::new(gateway));
        assert_eq!(ArpGuard::toward(far, (BOARD, 24), None), ArpGuard::new(far));
    }
}
