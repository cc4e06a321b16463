//! The image of a board's settings: the format in which they are transmitted and stored.

/// The version of the layout of a settings image.
const VERSION: u8 = 1;
/// The length of a settings image's header \[B\]: the version, then the lengths of its first two parts, little-endian.
const HEAD_LEN: usize = 1 + 4 + 4;

/// The length of [`Image::requests`] if it is not empty: a port and a key \[B\].
pub const REQUESTS_LEN: usize = 2 + 32;

/// The contents of a settings image, the bytes that are sent to a board and stored in its flash: the settings, the port
/// and key for requests, and the rest of a long motion.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Image<'a> {
    /// The board's [`Settings`](outrigger_core::engine::Settings) in their encoded form.
    pub settings: &'a [u8],
    /// The UDP port for requests (2 bytes, big-endian) and the key (32); empty if requests are not accepted.
    pub requests: &'a [u8],
    /// The waypoints of the configured motion that follow those in the settings, in the form that
    /// [`Stored`](outrigger_core::trajectory::Stored) reads; empty if there are no more.
    pub motion: &'a [u8],
}

impl<'a> Image<'a> {
    /// Returns the length of the encoded settings image \[B\].
    #[must_use]
    pub const fn length(&self) -> usize {
        let Self { settings, requests, motion } = self;
        HEAD_LEN.saturating_add(settings.len()).saturating_add(requests.len()).saturating_add(motion.len())
    }

    /// Writes the settings image to `out` and returns its length \[B\]; `None` if `out` is too small.
    #[must_use]
    pub fn to_bytes(&self, out: &mut [u8]) -> Option<usize> {
        let Self { settings, requests, motion } = self;
        let length = |part: &[u8]| u32::try_from(part.len()).ok().map(u32::to_le_bytes);
        let lengths = [length(settings)?, length(requests)?];
        let mut rest = out;
        for part in [&[VERSION], lengths.as_flattened(), settings, requests, motion] {
            let (to, behind) = rest.split_at_mut_checked(part.len())?;
            to.copy_from_slice(part);
            rest = behind;
        }
        Some(self.length())
    }

    /// Reads a settings image that occupies all of `bytes`; `None` if they are no settings image, or one of another
    /// version.
    #[must_use]
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let ([VERSION], rest) = bytes.split_first_chunk()? else { return None };
        let (settings, rest) = rest.split_first_chunk()?;
        let (requests, rest) = rest.split_first_chunk()?;
        let length = |bytes: [u8; 4]| usize::try_from(u32::from_le_bytes(bytes)).ok();
        let (settings, rest) = rest.split_at_checked(length(*settings)?)?;
        let (requests, motion) = rest.split_at_checked(length(*requests)?)?;
        let image = Self { settings, requests, motion };
        [0, REQUESTS_LEN].contains(&requests.len()).then_some(image)
    }
}

impl core::fmt::Debug for Image<'_> {
    /// Prints only the lengths of the settings image's parts, so that the key is not shown.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { settings, requests, motion } = self;
        f.debug_struct("Image")
            .field("settings", &settings.len())
            .field("requests", &requests.len())
            .field("motion", &motion.len())
            .finish()
    }
}
