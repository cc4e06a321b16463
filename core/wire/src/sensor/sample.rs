//! A reading of a sensor with its source and the time at which it was taken.

use crate::time::Instant;

/// The number by which the configuration identifies a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SourceId(pub u8);

/// The one to six numbers of a sensor's reading, in the sensor's unit; after a [`Scale`](super::Scale) in the SI unit
/// that the control law requires.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SampleValue {
    channels: [f32; Self::CAPACITY],
    len: u8,
}

impl SampleValue {
    /// The greatest number of values in one sample.
    pub const CAPACITY: usize = 6;

    /// Returns a sensor value with these numbers; `None` for no number or more than six. NaN is accepted as a
    /// measurement; the code that uses it must reject it.
    #[must_use]
    pub fn new(channels: &[f32]) -> Option<Self> {
        let mut value = Self { channels: [0.0; Self::CAPACITY], len: u8::try_from(channels.len()).ok()? };
        value.channels.get_mut(..channels.len())?.copy_from_slice(channels);
        (!channels.is_empty()).then_some(value)
    }

    /// Returns a sensor value that consists of a single number.
    #[must_use]
    pub const fn scalar(value: f32) -> Self {
        Self { channels: [value, 0.0, 0.0, 0.0, 0.0, 0.0], len: 1 }
    }

    /// Returns the numbers of the sensor value, one per channel.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        self.channels.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// Returns the first number of the sensor value; every value has one.
    #[must_use]
    pub const fn first(&self) -> f32 {
        let [first, ..] = self.channels;
        first
    }

    /// Returns the sensor value with each number replaced by the result of `each`.
    #[must_use]
    pub fn map(mut self, mut each: impl FnMut(f32) -> f32) -> Self {
        for number in self.channels.iter_mut().take(usize::from(self.len)) {
            *number = each(*number);
        }
        self
    }

    /// Returns whether both sensor values have the same bits. Repeated bits show a frozen sensor: the noise of a
    /// working one changes them.
    #[must_use]
    pub fn same_bits(&self, other: &Self) -> bool {
        self.len == other.len && self.channels.iter().zip(&other.channels).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

/// A reading of one sensor, with its source and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sample {
    /// The sensor that sent the reading.
    pub source: SourceId,
    /// The numbers of the sensor's reading, one per channel.
    pub value: SampleValue,
    /// The sensor's own counter, which increases by one with each reading, wrapping.
    pub seq: u32,
    /// The time at which the reading was received or measured, on the caller's clock.
    pub taken_at: Instant,
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
