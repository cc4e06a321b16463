//! A short text stored by value: a controller's message, cut to the available length.

/// A text of at most `N` bytes of ASCII, and at most 255. Bytes that are not printable ASCII become `?`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: u8,
}

impl<const N: usize> Text<N> {
    /// Returns a text of fixed capacity with the beginning of `bytes`, cut to `N` bytes, or to 255 if `N` is larger.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut text = Self { bytes: [0; N], len: 0 };
        for (to, from) in text.bytes.iter_mut().zip(bytes) {
            *to = if from.is_ascii_graphic() || *from == b' ' { *from } else { b'?' };
            text.len = text.len.saturating_add(1);
        }
        text
    }

    /// Returns the stored text as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only ASCII is stored, so neither fallback is used.
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl<const N: usize> core::fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> core::fmt::Display for Text<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "defmt")]
impl<const N: usize> defmt::Format for Text<N> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}", self.as_str());
    }
}

/// Serializes as a string, without the unused rest of the memory.
#[cfg(feature = "serde")]
impl<const N: usize> serde::Serialize for Text<N> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de, const N: usize> serde::Deserialize<'de> for Text<N> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&str>::deserialize(deserializer).map(|text| Self::from_bytes(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_foreign_text_is_cut_and_made_printable() {
        assert_eq!(Text::<8>::from_bytes(b"C210A0: local").as_str(), "C210A0: ");
        assert_eq!(Text::<8>::from_bytes(b"a\n\xffb").as_str(), "a??b");
        assert_eq!(Text::<300>::from_bytes(&[b'x'; 300]).as_str().len(), 255);
    }
}
