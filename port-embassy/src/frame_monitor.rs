//! Counts received frames and classifies traffic from the robot's address below the IP stack, to explain why a connection fails.
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

/// The place of the type in an Ethernet frame.
const TYPE: usize = 12;
const CONTENT: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
/// The place of the sender's address in an IP packet's frame (RFC 791).
const IP_SENDER: usize = CONTENT + 12;

/// Traffic from the robot's address since the start: how far a connection that fails has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LinkActivity {
    /// No frame at all has come in.
    #[default]
    Silence,
    /// Frames of other senders only.
    Others,
    /// An ARP packet: a device has that address.
    Address,
    /// IP packets.
    Packets,
}

/// Counts and classifies received frames.
#[derive(Debug)]
pub struct FrameMonitor {
    robot: Ipv4Addr,
    frames: AtomicU32,
    activity: AtomicU8,
}

/// All kinds of activity, the least first.
const ALL: [LinkActivity; 4] =
    [LinkActivity::Silence, LinkActivity::Others, LinkActivity::Address, LinkActivity::Packets];

impl FrameMonitor {
    /// Creates a monitor that has received nothing. An unspecified `robot` is anybody.
    #[must_use]
    pub const fn new(robot: Ipv4Addr) -> Self {
        Self { robot, frames: AtomicU32::new(0), activity: AtomicU8::new(0) }
    }

    /// Frames that came in.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Returns the traffic from the robot's address.
    #[must_use]
    pub fn activity(&self) -> LinkActivity {
        ALL.get(usize::from(self.activity.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// Counts and classifies a received frame.
    pub fn take(&self, frame: &[u8]) {
        // One task takes the frames: what it reads is what it wrote.
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

    /// An Ethernet header, and what `content` has behind it.
    fn frame(kind: [u8; 2], content: &[u8], sender: Ipv4Addr) -> Vec<u8> {
        let mut frame = [&[0xff; 12][..], &kind, content, &sender.octets()].concat();
        frame.resize(60, 0);
        frame
    }

    /// Of RFC 826: Ethernet and IPv4, an answer, and the sender's hardware address.
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
