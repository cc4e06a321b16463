//! What comes in by the network controller, before the stack sees it: how many frames, and what was heard from the robot's
//! address. The stack itself does not tell why a connection does not come about.

use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use outrigger_core::telemetry::Heard;

/// Of an Ethernet frame.
const TYPE: usize = 12;
const CONTENT: usize = 14;
const ARP: [u8; 2] = [0x08, 0x06];
const IPV4: [u8; 2] = [0x08, 0x00];
/// Where the sender's address stands in ARP (RFC 826), and in IP (RFC 791).
const ARP_SENDER: usize = CONTENT + 14;
const IP_SENDER: usize = CONTENT + 12;

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

    // One task takes the frames: what it reads is what it wrote.
    /// A frame came in.
    pub(crate) fn take(&self, frame: &[u8]) {
        self.frames.store(self.frames().wrapping_add(1), Ordering::Relaxed);
        let robot = self.robot.octets();
        let anybodys = self.robot.is_unspecified();
        let is_robots = |at: usize| frame.get(at..at + robot.len()).is_some_and(|from| anybodys || from == robot);
        let told = match frame.get(TYPE..CONTENT) {
            Some(kind) if kind == IPV4 && is_robots(IP_SENDER) => Heard::Packets,
            Some(kind) if kind == ARP && is_robots(ARP_SENDER) => Heard::Address,
            _ => Heard::Others,
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

    fn frame(kind: [u8; 2], sender_at: usize, sender: Ipv4Addr) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[TYPE..CONTENT].copy_from_slice(&kind);
        frame[sender_at..sender_at + 4].copy_from_slice(&sender.octets());
        frame
    }

    #[test]
    fn what_is_known_of_the_robot_grows_and_is_never_forgotten() {
        let other = Ipv4Addr::new(192, 168, 56, 7);
        let ear = Ear::new(ROBOT);
        let mut expected = Heard::Silence;
        assert_eq!(ear.heard(), expected);
        for (frame, then) in [
            (frame(ARP, ARP_SENDER, other), Heard::Others),
            (frame(IPV4, IP_SENDER, other), Heard::Others),
            (frame(ARP, ARP_SENDER, ROBOT), Heard::Address),
            (frame(ARP, ARP_SENDER, other), Heard::Address),
            (frame(IPV4, IP_SENDER, ROBOT), Heard::Packets),
            (frame(ARP, ARP_SENDER, ROBOT), Heard::Packets),
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
        ear.take(&frame(IPV4, IP_SENDER, ROBOT));
        assert_eq!(ear.heard(), Heard::Packets);
    }

    #[test]
    fn a_frame_of_any_length_is_one_of_somebody() {
        for whole in [frame(ARP, ARP_SENDER, ROBOT), frame(IPV4, IP_SENDER, ROBOT)] {
            for length in 0..whole.len() {
                let ear = Ear::new(ROBOT);
                ear.take(&whole[..length]);
                assert_ne!(ear.heard(), Heard::Silence);
            }
        }
    }
}
