//! Counts received frames and classifies traffic from the robot's address below the IP stack, to explain why a
//! connection fails.
//!
//! ```
//! use core::net::Ipv4Addr;
//!
//! use outrigger_embassy::frame_monitor::{FrameMonitor, LinkActivity};
//!
//! let monitor = FrameMonitor::new(Ipv4Addr::new(192, 168, 56, 101));
//! // `arp_guard::Guarded` passes it every frame that comes in.
//! monitor.take(&[0; 60]);
//! assert_eq!((monitor.frames(), monitor.activity()), (1, LinkActivity::Others));
//! ```

use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::arp_claim::ArpClaim;

/// The offset of the type field in an Ethernet frame \[B\].
const TYPE: usize = 12;
const CONTENT: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
/// The offset of the sender's address in the frame of an IP packet (RFC 791) \[B\].
const IP_SENDER: usize = CONTENT + 12;

/// The traffic received from the robot's address since the start. It shows how far a failing connection gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkActivity {
    /// No network frame has been received since the start.
    #[default]
    Silence,
    /// Only network frames of senders other than the robot have been received.
    Others,
    /// An ARP packet from the robot's address has been received: a device has that address.
    Address,
    /// IP packets from the robot's address have been received.
    Packets,
}

/// Counts and classifies the received frames of one network interface.
#[derive(Debug)]
pub struct FrameMonitor {
    robot: Ipv4Addr,
    frames: AtomicU32,
    activity: AtomicU8,
}

/// All kinds of traffic from the robot, from silence up to IP packets.
const ALL: [LinkActivity; 4] =
    [LinkActivity::Silence, LinkActivity::Others, LinkActivity::Address, LinkActivity::Packets];

impl FrameMonitor {
    /// Creates a monitor that has received no frame. With an unspecified `robot` every sender counts as the robot.
    #[must_use]
    pub const fn new(robot: Ipv4Addr) -> Self {
        Self { robot, frames: AtomicU32::new(0), activity: AtomicU8::new(0) }
    }

    /// Returns the number of network frames received since the start; it wraps.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Returns the kind of traffic received from the robot's address since the start.
    #[must_use]
    pub fn activity(&self) -> LinkActivity {
        ALL.get(usize::from(self.activity.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// Counts a received Ethernet frame and classifies it by its sender.
    pub fn take(&self, frame: &[u8]) {
        // Only one task processes frames, so a load and a store are sufficient.
        self.frames.store(self.frames().wrapping_add(1), Ordering::Relaxed);
        let is_robots = |from: Ipv4Addr| self.robot.is_unspecified() || from == self.robot;
        let packet = frame.get(TYPE..CONTENT).is_some_and(|kind| kind == IPV4);
        let sender = frame.get(IP_SENDER..).and_then(|rest| rest.first_chunk::<4>()).filter(|_| packet);
        let told = if sender.is_some_and(|sender| is_robots(Ipv4Addr::from(*sender))) {
            LinkActivity::Packets
        } else if ArpClaim::of(frame).is_some_and(|claim| is_robots(claim.sender)) {
            LinkActivity::Address
        } else {
            LinkActivity::Others
        };
        if told as u8 > self.activity() as u8 {
            self.activity.store(told as u8, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROBOT: Ipv4Addr = Ipv4Addr::new(192, 168, 56, 101);

    /// Returns an Ethernet header followed by `content` and the sender's IP address.
    fn frame(kind: [u8; 2], content: &[u8], sender: Ipv4Addr) -> Vec<u8> {
        let mut frame = [&[0xff; 12][..], &kind, content, &sender.octets()].concat();
        frame.resize(60, 0);
        frame
    }

    /// Returns an ARP reply (RFC 826) for Ethernet and IPv4, with the sender's hardware address.
    fn arp(sender: Ipv4Addr) -> Vec<u8> {
        frame([0x08, 0x06], &[0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1], sender)
    }

    fn ip(sender: Ipv4Addr) -> Vec<u8> {
        frame(IPV4, &[0x45; 12], sender)
    }

    #[test]
    fn what_is_known_of_the_robot_grows_and_is_never_forgotten() {
        let other = Ipv4Addr::new(192, 168, 56, 7);
        let monitor = FrameMonitor::new(ROBOT);
        let mut expected = LinkActivity::Silence;
        assert_eq!(monitor.activity(), expected);
        for (frame, then) in [
            (arp(other), LinkActivity::Others),
            (ip(other), LinkActivity::Others),
            (arp(ROBOT), LinkActivity::Address),
            (arp(other), LinkActivity::Address),
            (ip(ROBOT), LinkActivity::Packets),
            (arp(ROBOT), LinkActivity::Packets),
        ] {
            monitor.take(&frame);
            expected = then;
            assert_eq!(monitor.activity(), expected);
        }
        assert_eq!(monitor.frames(), 6);
    }

    #[test]
    fn where_the_one_who_speaks_first_is_believed_anybody_is_the_robot() {
        let monitor = FrameMonitor::new(Ipv4Addr::UNSPECIFIED);
        monitor.take(&ip(ROBOT));
        assert_eq!(monitor.activity(), LinkActivity::Packets);
    }

    #[test]
    fn a_frame_of_any_length_is_one_of_somebody() {
        for whole in [arp(ROBOT), ip(ROBOT)] {
            for length in 0..whole.len() {
                let monitor = FrameMonitor::new(ROBOT);
                monitor.take(&whole[..length]);
                assert_ne!(monitor.activity(), LinkActivity::Silence);
            }
        }
    }
}
