//! The identity of the controller, by its version message or by the form of its packets.

use crate::engine::io::LinkId;
use outrigger_wire::robot::{Generation, SoftwareVersion};
use outrigger_wire::time::Duration;

/// The source from which the controller's software version is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum VersionSource {
    /// The controller itself: its version message, or its reply by RTDE.
    Message,
    /// The value of `session.software` in our configuration.
    Configuration,
    /// The size of the real-time packet and the step of its clock; the version is the oldest that sends such packets.
    Packet,
}

/// The identity of a session's controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Identity {
    /// The software version of the controller; if known by the packet, the oldest that fits.
    pub software: SoftwareVersion,
    /// The source from which the software version is known.
    pub known_by: VersionSource,
    /// The size of the controller's real-time packet \[B\].
    pub packet_size: u16,
    /// The nominal period of the controller's states, 8 ms or 2 ms, found from the steps of its clock between packets.
    pub period: Duration,
    /// The link that delivers the state of every cycle: [`LinkId::REALTIME`] or [`LinkId::RTDE`].
    pub states: LinkId,
}

impl Identity {
    /// Returns the generation of the controller: CB2, CB3, e-Series or PolyScope X.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.software.generation()
    }
}

/// A major and a minor version of the controller's software.
type Release = (u8, u8);

/// Packet sizes with the oldest software that sends them, at a period of 8 ms and of 2 ms
/// (`core/docs/protocol/ur-client-interfaces.md 2.1`); in the order of size.
const OLDEST: [(usize, Release, Release); 9] = [
    (756, (1, 5), (1, 5)),
    (764, (1, 7), (1, 7)),
    (812, (1, 8), (1, 8)),
    (1044, (3, 0), (3, 0)),
    (1060, (3, 2), (3, 2)),
    (1108, (3, 5), (5, 0)),
    (1116, (3, 10), (5, 4)),
    (1140, (3, 14), (5, 9)),
    (1220, (3, 14), (5, 10)),
];

/// Returns the oldest software whose packets contain at least what one of `size` bytes does; `None` below the smallest
/// packet.
#[must_use]
pub fn oldest_software(size: usize, period: Duration) -> Option<SoftwareVersion> {
    let fast = period < Duration::from_micros(Generation::ESeries.period_micros()).times(2);
    let (_, slow_version, fast_version) = OLDEST.iter().rev().find(|(least, ..)| *least <= size)?;
    let (major, minor) = if fast { *fast_version } else { *slow_version };
    Some(SoftwareVersion::new(major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_shared_by_two_generations_is_told_apart_by_the_clock() {
        let (slow, fast) = (Duration::from_millis(8), Duration::from_millis(2));
        assert_eq!(oldest_software(1116, slow), Some(SoftwareVersion::new(3, 10)));
        assert_eq!(oldest_software(1116, fast), Some(SoftwareVersion::new(5, 4)));
        assert_eq!(oldest_software(1220, fast), Some(SoftwareVersion::new(5, 10)));
        assert_eq!(oldest_software(812, slow), Some(SoftwareVersion::new(1, 8)));
        assert_eq!(oldest_software(755, slow), None);
    }

    #[test]
    fn an_unlisted_size_counts_to_the_layout_it_contains() {
        assert_eq!(oldest_software(1052, Duration::from_millis(8)), Some(SoftwareVersion::new(3, 0)));
        assert_eq!(oldest_software(2000, Duration::from_millis(2)), Some(SoftwareVersion::new(5, 10)));
    }
}
