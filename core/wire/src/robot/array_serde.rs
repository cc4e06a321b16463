//! Serde support for arrays of any length; serde itself has arrays up to 32 and no const parameter.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeTuple, Serializer};

/// Writes the array of `N` elements as a tuple, for the attribute `serde(with)` of a field.
///
/// # Errors
/// The errors of the serializer.
pub fn serialize<T: Serialize, S: Serializer, const N: usize>(values: &[T; N], to: S) -> Result<S::Ok, S::Error> {
    let mut tuple = to.serialize_tuple(N)?;
    values.iter().try_for_each(|value| tuple.serialize_element(value))?;
    tuple.end()
}

/// Reads an array of `N` elements that was written as a tuple.
///
/// # Errors
/// The errors of the deserializer, and an error if there are fewer elements.
pub fn deserialize<'de, T, D, const N: usize>(from: D) -> Result<[T; N], D::Error>
where
    T: Deserialize<'de> + Default + Copy,
    D: Deserializer<'de>,
{
    from.deserialize_tuple(N, Elements(PhantomData))
}

struct Elements<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default + Copy, const N: usize> Visitor<'de> for Elements<T, N> {
    type Value = [T; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{N} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<[T; N], A::Error> {
        let mut values = [T::default(); N];
        for (index, value) in values.iter_mut().enumerate() {
            *value = elements.next_element()?.ok_or_else(|| A::Error::invalid_length(index, &self))?;
        }
        Ok(values)
    }
}
