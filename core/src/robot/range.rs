//! The range of a setting, defined once for checks, messages and documentation.

use super::BadValue;
use outrigger_wire::time::Duration;

/// A closed range: the least and the greatest accepted value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    /// The least value of the range.
    pub least: T,
    /// The greatest value of the range.
    pub most: T,
    /// The range as text for messages and documentation, with the unit.
    pub text: &'static str,
}

impl<T: PartialOrd> Range<T> {
    /// Returns whether `value` is in the range; `false` for NaN.
    pub fn contains(&self, value: T) -> bool {
        self.least <= value && value <= self.most
    }

    /// Returns whether each of `values` is in the range.
    pub fn contains_all(&self, values: impl IntoIterator<Item = T>) -> bool {
        values.into_iter().all(|value| self.contains(value))
    }

    /// Checks that `value` is in the range.
    ///
    /// # Errors
    /// Returns `field` and the text of the range if `value` is outside.
    pub fn check(&self, value: T, field: &'static str) -> Result<(), BadValue> {
        BadValue::unless(self.contains(value), field, self.text)
    }
}

/// Converts seconds to a [`Duration`], rounded to the microsecond.
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
