//! What comes in by the network controller, before the stack sees it: how many frames, and what was heard from the robot's
//! address. The stack itself does not tell why a connection does not come about.
//!
//! ```
//! use core::net::Ipv4Addr;
//!
//! use outrigger_embassy::heard::{Ear, Heard};
//!
//! let ear = Ear::new(Ipv4Addr::new(192, 168, 56, 101));
//! // `neighbour::Guarded` passes it every frame that comes in.
//! ear.take(&[0; 60]);
//! assert_eq!((ear.frames(), ear.heard()), (1, Heard::Others));
//! ```

use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::claim::Claim;

/// Of an Ethernet frame.
const TYPE: usize = 12;
const CONTENT: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
/// Where the sender's address stands in IP (RFC 791).
const IP_SENDER: usize = CONTENT + 12;

/// Traffic from the robot's address since the start: how far a connection that fails has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Heard {
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

/// What was counted.
#[derive(Debug)]
pub struct Ear {
    robot: Ipv4Addr,
    frames: AtomicU32,
    heard: AtomicU8,
}

/// What may be heard, the least first.
const ALL: [Heard; 4] = [Heard::Silence, Heard::Others, Heard::Address, Heard::Packets];

impl Ear {
    /// Nothing was heard yet. An unspecified `robot` is anybody.
    #[must_use]
    pub const fn new(robot: Ipv4Addr) -> Self {
        Self { robot, frames: AtomicU32::new(0), heard: AtomicU8::new(0) }
    }

    /// Frames that came in.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.frames.load(Ordering::Relaxed)
    }

    /// What was heard from the robot's address.
    #[must_use]
    pub fn heard(&self) -> Heard {
        ALL.get(usize::from(self.heard.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// A frame came in.
    pub fn take(&self, frame: &[u8]) {
        // One task takes the frames: what it reads is what it wrote.
        self.frames.store(self.frames().wrapping_add(1), Ordering::Relaxed);
        let is_robots = |from: Ipv4Addr| self.robot.is_unspecified() || from == self.robot;
        let packet = frame.get(TYPE..CONTENT).is_some_and(|kind| kind == IPV4);
        let sender = frame.get(IP_SENDER..).and_then(|rest| rest.first_chunk::<4>()).filter(|_| packet);
        let told = if sender.is_some_and(|sender| is_robots(Ipv4Addr::from(*sender))) {
            Heard::Packets
        } else if Claim::of(frame).is_some_and(|claim| is_robots(claim.sender)) {
            Heard::Address
        } else {
            Heard::Others
        };
        if told as u8 > self.heard() as u8 {
            self.heard.store(told as u8, Ordering::Relaxed);
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
        let ear = Ear::new(ROBOT);
        let mut expected = Heard::Silence;
        assert_eq!(ear.heard(), expected);
        for (frame, then) in [
            (arp(other), Heard::Others),
            (ip(other), Heard::Others),
            (arp(ROBOT), Heard::Address),
            (arp(other), Heard::Address),
            (ip(ROBOT), Heard::Packets),
            (arp(ROBOT), Heard::Packets),
        ] {
            ear.take(&frame);
            expected = then;
            assert_eq!(ear.heard(), expected);
        }
        assert_eq!(ear.frames(), 6);
    }

    #[test]
    fn where_the_one_who_speaks_first_is_believed_anybody_is_the_robot() {
        let ear = Ear::new(Ipv4Addr::UNSPECIFIED);
        ear.take(&ip(ROBOT));
        assert_eq!(ear.heard(), Heard::Packets);
    }

    #[test]
    fn a_frame_of_any_length_is_one_of_somebody() {
        for whole in [arp(ROBOT), ip(ROBOT)] {
            for length in 0..whole.len() {
                let ear = Ear::new(ROBOT);
                ear.take(&whole[..length]);
                assert_ne!(ear.heard(), Heard::Silence);
            }
        }
    }
}
