//! The controller's own clock, as the time since the controller's start.

use crate::math::double_conversion::scaled;
use crate::time::Duration;

/// A time on the controller's own clock, in µs since the controller was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControllerTime(u64);

impl ControllerTime {
    /// Returns the time `micros` µs after the controller's start.
    #[must_use]
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the time from seconds, the unit of the real-time packet; `None` for NaN, negative numbers, and 10¹² s or
    /// more.
    #[must_use]
    pub fn from_secs(secs: f64) -> Option<Self> {
        Self::inlined_from_secs(secs)
    }

    /// Converts seconds as [`Self::from_secs`] does, but is inlined: the head of every real-time packet is read with it, and
    /// a call would take six more instructions each time.
    #[inline]
    pub(crate) fn inlined_from_secs(secs: f64) -> Option<Self> {
        let bits = secs.to_bits();
        // Non-negative doubles have the order of their bits; the bits of negative ones are larger.
        (bits < 1e12_f64.to_bits() || bits << 1 == 0).then(|| Self(scaled(secs, 1_000_000)))
    }

    /// Returns the time since the controller's start \[µs\].
    #[must_use]
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Returns the time from `earlier` to `self`; zero if `earlier` is later.
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
