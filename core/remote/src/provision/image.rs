//! The image of a board's settings, as one run of bytes.

/// The version of this layout.
const VERSION: u8 = 1;
/// Before the parts: version, and the lengths of the first two, little-endian.
const HEAD_LEN: usize = 1 + 4 + 4;

/// Length of [`Image::requests`], where there is one: a port and a key \[B\].
pub const REQUESTS_LEN: usize = 2 + 32;

/// The settings of a board, and parts beside them because not everybody may read them, or they are long.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Image<'a> {
    /// [`Settings`](outrigger_core::engine::Settings), as they are written.
    pub settings: &'a [u8],
    /// UDP port for requests (2 bytes, big-endian) and the key (32); empty where none are taken.
    pub requests: &'a [u8],
    /// The waypoints of the law's motion behind those of the settings, as [`Stored`](outrigger_core::trajectory::Stored) reads it;
    /// empty where there is no more.
    pub motion: &'a [u8],
}

impl<'a> Image<'a> {
    /// Returns the length \[B\].
    #[must_use]
    pub const fn length(&self) -> usize {
        let Self { settings, requests, motion } = self;
        HEAD_LEN.saturating_add(settings.len()).saturating_add(requests.len()).saturating_add(motion.len())
    }

    /// Writes it to `out` and returns its length; `None` where `out` is too small.
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

    /// Reads the image in `bytes`, exactly; `None` where they are none, or of another version.
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
    /// Lengths: a key is shown to nobody.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { settings, requests, motion } = self;
        f.debug_struct("Image")
            .field("settings", &settings.len())
            .field("requests", &requests.len())
            .field("motion", &motion.len())
            .finish()
    }
}
