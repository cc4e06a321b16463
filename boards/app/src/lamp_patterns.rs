//! The patterns of the status lamp, for a person next to the arm.
//!
//! | lamp | means |
//! |---|---|
//! | one flash every 2 s | no network |
//! | two flashes every 2 s | network, no controller |
//! | slow blinking (1 Hz) | states arrive; a request would arm, or the telemetry states why not |
//! | fast blinking (5 Hz) | commanding ended by a fault that an operator has not acknowledged yet |
//! | dark once a second | arming |
//! | on | commanding |
//! | off, or permanently on without motion | this device is not running |

use outrigger_core::mode::Mode;
use outrigger_wire::time::Instant;

/// The device's status that its lamp shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    /// `true` if the network interface is connected.
    pub(crate) linked: bool,
    /// The mode of the engine, for example monitor or command.
    pub(crate) mode: Mode,
    /// `true` if commanding ended by a fault that an operator has not acknowledged yet.
    pub(crate) latched: bool,
}

impl Status {
    /// The status of a device that knows nothing yet: no network, engine offline, no fault to be acknowledged.
    pub(crate) const DARK: Self = Self { linked: false, mode: Mode::Offline, latched: false };

    /// Returns whether the lamp's blinking pattern is lit at `now`.
    #[must_use]
    pub(crate) fn lit(self, now: Instant) -> bool {
        let tenth = now.as_micros() / 100_000 % SLOTS;
        self.pattern() >> tenth & 1 != 0
    }

    /// Returns the pattern of the lamp: one bit for each tenth of 2 s, the first in the lowest bit.
    const fn pattern(self) -> u32 {
        match (self.mode, self.latched, self.linked) {
            (Mode::Command, _, _) => 0b1111_1111_1111_1111_1111,
            (Mode::Arming, _, _) => 0b0111_1111_1101_1111_1111,
            (Mode::Stopping, _, _) | (_, true, _) => 0b0101_0101_0101_0101_0101,
            (Mode::Monitor, false, _) => 0b0000_0111_1100_0001_1111,
            (Mode::Offline, false, true) => 0b0000_0000_0000_0000_0101,
            (Mode::Offline, false, false) => 0b0000_0000_0000_0000_0001,
        }
    }
}

const SLOTS: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn flashes(status: Status) -> usize {
        let lit = |slot: u64| status.lit(Instant::from_micros(slot * 100_000 + 1));
        (0..SLOTS).filter(|slot| lit(*slot) && !lit(slot + SLOTS - 1)).count()
    }

    #[test]
    fn each_thing_to_know_looks_different() {
        let mut seen = Vec::new();
        for status in [
            Status::DARK,
            Status { linked: true, ..Status::DARK },
            Status { linked: true, mode: Mode::Monitor, latched: false },
            Status { linked: true, mode: Mode::Monitor, latched: true },
            Status { linked: true, mode: Mode::Arming, latched: false },
            Status { linked: true, mode: Mode::Command, latched: false },
        ] {
            assert!(!seen.contains(&status.pattern()), "{status:?}");
            seen.push(status.pattern());
        }
    }

    #[test]
    fn a_missing_cable_flashes_once_and_a_missing_controller_twice() {
        assert_eq!(flashes(Status::DARK), 1);
        assert_eq!(flashes(Status { linked: true, ..Status::DARK }), 2);
    }

    #[test]
    fn a_latch_blinks_whatever_else_is_missing() {
        for mode in [Mode::Offline, Mode::Monitor] {
            for linked in [false, true] {
                assert_eq!(flashes(Status { linked, mode, latched: true }), 10);
            }
        }
    }

    #[test]
    fn commanding_is_never_dark() {
        let status = Status { linked: true, mode: Mode::Command, latched: false };
        assert!((0..100).all(|tenth| status.lit(Instant::from_micros(tenth * 100_000))));
    }
}
