//! The controller's own clock.

use crate::math::double::scaled;
use crate::time::Duration;

/// The controller's own clock, in µs since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControllerTime(u64);

impl ControllerTime {
    /// `micros` µs after the controller's start.
    #[must_use]
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// From seconds as the real-time packet has them; `None` for NaN, negative or beyond 10¹² s.
    #[must_use]
    pub fn from_secs(secs: f64) -> Option<Self> {
        Self::inlined_from_secs(secs)
    }

    /// Returns [`Self::from_secs`] without a call, for the head of every packet: a call costs six instructions of a budget.
    #[inline]
    pub(crate) fn inlined_from_secs(secs: f64) -> Option<Self> {
        let bits = secs.to_bits();
        // Doubles that are not negative are ordered as their bits are; negative ones come after them all.
        (bits < 1e12_f64.to_bits() || bits << 1 == 0).then(|| Self(scaled(secs, 1_000_000)))
    }

    /// µs since the controller's start.
    #[must_use]
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero where `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_time_refuses_what_is_no_time() {
        assert_eq!(ControllerTime::from_secs(1504.032).map(ControllerTime::as_micros), Some(1_504_032_000));
        for bad in [f64::NAN, f64::INFINITY, -0.001, 1e13] {
            assert_eq!(ControllerTime::from_secs(bad), None);
        }
    }
}
