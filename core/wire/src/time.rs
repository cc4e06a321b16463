//! Instants and spans of time in microseconds, on a clock that the caller reads.
//!
//! All arithmetic saturates, so no input can make a deadline wrap or panic.
//!
//! ```
//! use outrigger_wire::time::{Duration, Instant};
//!
//! let now = Instant::from_micros(5_000); // whatever the caller's monotonic clock says
//! let deadline = now + Duration::from_millis(40);
//! assert_eq!(deadline.since(now).as_millis(), 40);
//! assert_eq!(now.since(deadline), Duration::ZERO);
//! ```

/// A point on the caller's monotonic clock, in µs since an epoch that the port chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Instant(u64);

/// A span of time in µs, 0 … 2⁶⁴ − 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Duration(u64);

impl Instant {
    /// The instant at which the clock reads zero, its epoch.
    pub const ZERO: Self = Self(0);

    /// Returns the instant `micros` µs after the clock's epoch.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the time since the clock's epoch \[µs\].
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Returns the time from `earlier` to `self`; zero if `earlier` is later.
    // Not inlined, like `times`: it has a hundred callers and would take 12 B in each.
    #[must_use]
    #[inline(never)]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl core::ops::Add<Duration> for Instant {
    type Output = Self;
    #[cfg_attr(not(target_os = "none"), inline)]
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl core::ops::Sub<Duration> for Instant {
    type Output = Self;
    #[cfg_attr(not(target_os = "none"), inline)]
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

/// Returns the earliest of `deadlines`; `None` if there is none.
#[doc(hidden)]
#[cfg_attr(not(target_os = "none"), inline)]
pub fn earliest(deadlines: &[Option<Instant>]) -> Option<Instant> {
    let mut first = None;
    for at in deadlines.iter().flatten() {
        first = Some(first.map_or(*at, |first| (*at).min(first)));
    }
    first
}

impl Duration {
    /// The time span of zero length.
    pub const ZERO: Self = Self(0);
    /// The longest time span that can be represented.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a time span of `micros` µs.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns a time span of `millis` ms.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Returns a time span of `secs` s.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// Returns the length of the time span \[µs\].
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Returns the length of the time span in whole ms, rounded down.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn as_millis(self) -> u64 {
        divided(self.0, 1_000)
    }

    /// Returns the length of the time span \[s\] as an `f32`, for control laws.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn as_secs_f32(self) -> f32 {
        to_f32(self.0) * 1e-6
    }

    /// Returns the length of the time span \[s\] as an `f64`, for reports.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Returns `factor` times the time span.
    // Not inlined: a product of 64 bits that saturates takes 30 B in each of its callers.
    #[must_use]
    #[inline(never)]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// Returns `percent` hundredths of the time span.
    #[must_use]
    #[inline]
    pub const fn percent(self, percent: u64) -> Self {
        match percent {
            // Called about twenty times in every cycle with these constants; the general division by 100 takes 64 bits
            // on a board.
            50 => Self(self.0 / 2),
            150 => Self(self.0.saturating_add(self.0 / 2)),
            _ => Self(divided(self.0.saturating_mul(percent), 100)),
        }
    }

    /// Returns the whole number of times that span `other` fits into this time span; `None` if `other` is zero.
    #[must_use]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn whole(self, other: Self) -> Option<u64> {
        quotient(self.0, other.0)
    }

    /// Returns the smallest number of time spans `other` that together are at least as long as this span; a zero
    /// `other` counts as a microsecond.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub const fn whole_up(self, other: Self) -> u64 {
        let other = if other.0 == 0 { 1 } else { other.0 };
        let whole = divided(self.0, other);
        whole.saturating_add((whole.wrapping_mul(other) != self.0) as u64)
    }
}

impl core::ops::Add for Duration {
    type Output = Self;
    // Not inlined: it has thirty callers and would take 12 B in each.
    #[inline(never)]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl core::ops::Sub for Duration {
    type Output = Self;
    #[cfg_attr(not(target_os = "none"), inline)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Returns the nearest `f32` for numbers below 2³², and one of the two nearest for larger ones. Uses only conversions
/// that a microcontroller does without a library routine.
#[doc(hidden)]
#[cfg_attr(not(target_os = "none"), inline)]
pub const fn to_f32(value: u64) -> f32 {
    let (high, low) = ((value >> 32) as u32, value as u32);
    high as f32 * 4_294_967_296.0 + low as f32
}

/// Returns `dividend / divisor`, rounded down; `None` if the divisor is zero. Spans mostly fit 32 bits, which a
/// microcontroller divides in one instruction.
#[doc(hidden)]
#[cfg_attr(not(target_os = "none"), inline)]
pub const fn quotient(dividend: u64, divisor: u64) -> Option<u64> {
    if (dividend | divisor) >> 32 != 0 {
        return if divisor == 0 { None } else { Some(long_quotient(dividend, divisor)) };
    }
    match (dividend as u32).checked_div(divisor as u32) {
        Some(quotient) => Some(quotient as u64),
        None => None,
    }
}

/// Returns `dividend / divisor`, for a divisor that is not zero.
#[doc(hidden)]
#[cfg_attr(not(target_os = "none"), inline)]
pub const fn divided(dividend: u64, divisor: u64) -> u64 {
    match quotient(dividend, divisor) {
        Some(quotient) => quotient,
        None => 0,
    }
}

/// Returns `dividend / divisor` bit by bit. It is rarely needed, and has a tenth of the size of the compiler's routine.
#[cold]
#[inline(never)]
const fn long_quotient(dividend: u64, divisor: u64) -> u64 {
    let (mut rest, mut quotient, mut bit) = (0_u64, 0_u64, 64_u32);
    while bit > 0 {
        bit = bit.wrapping_sub(1);
        // The bit that is shifted out of `rest` is above its 64 bits; if it is set, the divisor fits in any case.
        let above = rest >> 63 != 0;
        rest = rest << 1 | dividend >> bit & 1;
        quotient <<= 1;
        if above || rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            quotient |= 1;
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Instant::ZERO - Duration::from_secs(1), Instant::ZERO);
        assert_eq!(Instant::from_micros(u64::MAX) + Duration::MAX, Instant::from_micros(u64::MAX));
        assert_eq!(Instant::ZERO.since(Instant::from_micros(5)), Duration::ZERO);
        assert_eq!(Duration::MAX.times(2), Duration::MAX);
    }

    #[test]
    fn halves_are_the_percentages_they_stand_for() {
        for micros in [0, 1, 2, 3, 2_001, 8_000] {
            let span = Duration(micros);
            assert_eq!((span.percent(50).0, span.percent(150).0), (micros * 50 / 100, micros * 150 / 100));
        }
        assert_eq!(Duration::MAX.percent(150), Duration::MAX);
    }

    #[test]
    fn a_quotient_is_the_same_in_32_bits_and_in_64() {
        let ends = [0, 1, 99, 100, 0xffff_ffff, 0x1_0000_0000, 0x1_0000_0001, u64::MAX];
        for (dividend, divisor) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))) {
            assert_eq!(quotient(dividend, divisor), dividend.checked_div(divisor), "{dividend} / {divisor}");
            let covers = Duration(dividend).whole_up(Duration(divisor));
            assert_eq!(covers, dividend.div_ceil(divisor.max(1)), "{divisor} over {dividend}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_long_quotient_is_the_one_that_a_processor_of_64_bits_gives(dividend: u64, divisor: u64, narrow in 0_u32..64) {
            let divisor = (divisor >> narrow).max(1);
            proptest::prop_assert_eq!(long_quotient(dividend, divisor), dividend / divisor);
        }
    }
}
