//! Readings of sensors, as the port hands them in.

use crate::robot::Reason;
use crate::time::Instant;

/// A sensor, by the number its configuration gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct SourceId(pub u8);

/// One to six numbers, in the unit the law that uses them names.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct SampleValue {
    channels: [f32; Self::CAPACITY],
    len: u8,
}

impl SampleValue {
    /// Most numbers of one sample.
    pub const CAPACITY: usize = 6;

    /// The value with these numbers; `None` for no number or more than six. NaN is a measurement: who uses
    /// it refuses it.
    #[must_use]
    pub fn new(channels: &[f32]) -> Option<Self> {
        let mut value = Self { channels: [0.0; Self::CAPACITY], len: u8::try_from(channels.len()).ok()? };
        value.channels.get_mut(..channels.len())?.copy_from_slice(channels);
        (!channels.is_empty()).then_some(value)
    }

    /// A single number.
    #[must_use]
    pub const fn scalar(value: f32) -> Self {
        Self { channels: [value, 0.0, 0.0, 0.0, 0.0, 0.0], len: 1 }
    }

    /// The numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        self.channels.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// The first number; there always is one.
    #[must_use]
    pub const fn first(&self) -> f32 {
        let [first, ..] = self.channels;
        first
    }

    /// The value with each of its numbers replaced.
    #[must_use]
    pub fn map(mut self, mut each: impl FnMut(f32) -> f32) -> Self {
        for number in self.channels.iter_mut().take(usize::from(self.len)) {
            *number = each(*number);
        }
        self
    }

    /// Whether both have the same bits: a frozen sensor repeats even its noise.
    #[must_use]
    pub fn same_bits(&self, other: &Self) -> bool {
        self.len == other.len && self.channels.iter().zip(&other.channels).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

/// One reading of one sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Sample {
    /// The sensor.
    pub source: SourceId,
    /// What it read.
    pub value: SampleValue,
    /// The sensor's own count, one more for each reading, wrapping.
    pub seq: u32,
    /// When it was read, on the port's clock.
    pub taken_at: Instant,
}

/// The newest readings that a law may use in this cycle, and how its feedback may answer them.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    readings: &'a [Sample],
    #[cfg(feature = "reverse")]
    most_feedback: f32,
}

impl<'a> Samples<'a> {
    /// No reading: for laws that need none.
    pub const NONE: Samples<'static> = Samples::new(&[]);

    /// These readings, one per source.
    #[must_use]
    pub const fn new(samples: &'a [Sample]) -> Self {
        Self {
            readings: samples,
            #[cfg(feature = "reverse")]
            most_feedback: f32::INFINITY,
        }
    }

    /// The same where no more feedback is granted than this.
    #[cfg(feature = "reverse")]
    pub(crate) const fn with_most_feedback(mut self, most: f32) -> Self {
        self.most_feedback = most;
        self
    }

    /// Most speed for an error, in what is measured of the arm or by it, that a law may ask for \[1/s\]: an arm to which positions
    /// are sent shows late what came of them, and would swing about its reference with more. Infinite where speeds are sent.
    #[must_use]
    pub const fn most_feedback(&self) -> f32 {
        #[cfg(feature = "reverse")]
        return self.most_feedback;
        #[cfg(not(feature = "reverse"))]
        f32::INFINITY
    }

    /// The reading of this source.
    #[must_use]
    pub fn of(&self, source: SourceId) -> Option<&'a Sample> {
        self.readings.iter().find(|s| s.source == source)
    }

    /// The first number of this source's reading.
    ///
    /// # Errors
    /// [`Reason::SourceStale`] where there is none.
    pub fn first(&self, source: SourceId) -> Result<f32, Reason> {
        self.of(source).map(|sample| sample.value.first()).ok_or(Reason::SourceStale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_to_six_numbers() {
        assert_eq!(SampleValue::new(&[]), None);
        assert_eq!(SampleValue::new(&[0.0; 7]), None);
        let value = SampleValue::new(&[1.0, 2.0]).unwrap();
        assert_eq!((value.as_slice(), value.first()), (&[1.0, 2.0][..], 1.0));
        assert_eq!(SampleValue::scalar(3.0).as_slice(), [3.0]);
    }

    #[test]
    fn sameness_is_of_bits_not_of_numbers() {
        assert!(SampleValue::scalar(f32::NAN).same_bits(&SampleValue::scalar(f32::NAN)));
        assert!(!SampleValue::scalar(0.0).same_bits(&SampleValue::scalar(-0.0)));
        assert!(!SampleValue::scalar(0.0).same_bits(&SampleValue::new(&[0.0, 0.0]).unwrap()));
    }
}
