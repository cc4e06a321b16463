//! What a setting may be: the one place where it stands, for checks, messages and documentation.

use super::BadValue;
use outrigger_wire::time::Duration;

/// From the least to the most that a setting may be, both of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    /// The least.
    pub least: T,
    /// The most.
    pub most: T,
    /// The same in words, with the unit.
    pub text: &'static str,
}

impl<T: PartialOrd> Range<T> {
    /// Whether `value` is in it; what is no number is not.
    pub fn contains(&self, value: T) -> bool {
        self.least <= value && value <= self.most
    }

    /// Whether each of `values` is in it.
    pub fn contains_all(&self, values: impl IntoIterator<Item = T>) -> bool {
        values.into_iter().all(|value| self.contains(value))
    }

    /// `Err` for `field` unless `value` is in it.
    ///
    /// # Errors
    /// The field and the range.
    pub fn check(&self, value: T, field: &'static str) -> Result<(), BadValue> {
        BadValue::unless(self.contains(value), field, self.text)
    }
}

/// Seconds as they are written.
#[must_use]
pub const fn time(seconds: f64) -> Duration {
    Duration::from_micros((seconds * 1e6 + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robot::range_of;

    #[cfg(feature = "texts")]
    #[test]
    fn both_ends_belong_to_it_and_what_is_no_number_does_not() {
        const TOLERANCE: Range<f32> = range_of!(0.5 to 2.0 "rad");
        assert_eq!([0.5, 2.0, 0.49, 2.01, f32::NAN].map(|v| TOLERANCE.contains(v)), [true, true, false, false, false]);
        let told = TOLERANCE.check(3.0, "tolerance").map_err(|error| ToString::to_string(&error));
        assert_eq!(told, Err("tolerance: expected 0.5 to 2.0 rad".into()));
    }

    #[test]
    fn times_are_what_is_written_to_the_microsecond() {
        const WAIT: Range<Duration> = range_of!(0.0002 to 86_400.0 "s");
        assert_eq!((WAIT.least.as_micros(), WAIT.most.as_micros()), (200, 86_400_000_000));
        assert_eq!(WAIT.text, "0.0002 to 86400.0 s");
    }
}
