//! The types of settings that depend on features of the build.

use core::marker::PhantomData;

/// The type of a setting that only builds with feature `motions` use: here `T`, in all other builds [`Unused`].
#[cfg(feature = "motions")]
pub type OfMotions<T> = T;
/// The type of a setting that only builds with feature `motions` use: here [`Unused`], in builds with that feature
/// `T`.
#[cfg(not(feature = "motions"))]
pub type OfMotions<T> = Unused<T>;

/// Settings that this build does not use. They take no memory, but keep their position in the formats of settings and
/// recordings: they are skipped when read, and the defaults are written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Unused<T>(PhantomData<T>);

#[cfg(feature = "record")]
impl<T: Default + serde::Serialize> serde::Serialize for Unused<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        T::default().serialize(serializer)
    }
}

#[cfg(feature = "record")]
impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Unused<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|_| Self(PhantomData))
    }
}

#[cfg(all(test, feature = "record"))]
mod tests {
    use super::*;
    use crate::command::TorqueLimits;
    use crate::postcard;

    #[test]
    fn unused_settings_have_the_bytes_of_used_ones() {
        let used = TorqueLimits::<6> { travel: 0.5, ..TorqueLimits::default() };
        let (mut kept, mut dropped) = ([0; 64], [0; 64]);
        let kept = &*postcard::to_slice(&(used, 7_u8), &mut kept).expect("enough room");
        let (read, behind) = postcard::from_bytes::<(Unused<TorqueLimits<6>>, u8)>(kept).expect("the same format");
        assert_eq!((size_of_val(&read), behind), (0, 7));
        let dropped = &*postcard::to_slice(&(read, behind), &mut dropped).expect("enough room");
        let default = postcard::from_bytes::<(TorqueLimits<6>, u8)>(dropped).expect("the same format");
        assert_eq!((default, dropped.len()), ((TorqueLimits::default(), 7), kept.len()));
    }
}
