//! Stores two copies of an image of settings in flash. If writing one copy is interrupted, the other one is complete.
//!
//! The flash is used as two halves. Each has a header in its first page and the image behind it. To store an image, the
//! copy that is not in effect is erased; then the image is written and read back, and at last its header is written in
//! one write of 32 bytes. Before that the copy is invalid. Every unit is written once between two erasures, as flash
//! with error correction requires. Layout: `core/docs/protocol/outrigger-provision.md` 7.

use embedded_storage::nor_flash::NorFlash;
use outrigger_remote::provision::{Copy, Fingerprint};
use outrigger_wire::checksum::crc32;

/// The first bytes of the header of a copy of the settings. The digit is the version of this layout.
const MAGIC: [u8; 4] = *b"ORS1";
/// The length of the header of a copy of the settings \[B\]: magic, sequence number, length and checksum of the image,
/// checksum of all these; the rest is unused.
const HEADER_LEN: usize = 32;
/// The size of a page \[B\], the largest piece that is written at once. The header of a copy has a page of its own
/// before the image, because it is written last.
const PAGE: usize = 256;

/// A store of two copies of the settings in a separate flash, whose capacity is twice a whole number of erasable units.
#[derive(Debug)]
pub(super) struct Store<F> {
    pub(super) flash: F,
}

/// The content of the header of one copy of the settings in flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// A sequence number that increases with each copy that is written, wrapping.
    pub(super) sequence: u32,
    /// The fingerprint of the image of settings in the copy.
    pub(super) image: Fingerprint,
}

/// The error of a flash that failed to write or erase, with the flash address of the failure \[B\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotTaken(pub(super) u32);

impl<F: NorFlash> Store<F> {
    /// Creates the store of two copies of the settings in `flash`.
    pub(super) const fn new(flash: F) -> Self {
        const {
            assert!(F::READ_SIZE == 1, "a flash that is read in bytes");
            assert!(PAGE.is_multiple_of(F::WRITE_SIZE) && F::ERASE_SIZE.is_multiple_of(PAGE), "pages of whole units");
        }
        Self { flash }
    }

    /// Returns the length of the longest image of settings that fits into one copy \[B\].
    pub(super) fn room(&self) -> usize {
        self.half().saturating_sub(PAGE)
    }

    fn half(&self) -> usize {
        let half = self.flash.capacity() / 2;
        half - half % F::ERASE_SIZE
    }

    /// Returns the address at which the copy of the settings begins in flash.
    fn begin(&self, copy: u8) -> u32 {
        number(usize::from(copy & 1) * self.half())
    }

    /// Reads a copy of the settings from flash to the beginning of `memory`.
    ///
    /// # Errors
    /// The state of a copy that is not complete. A copy that the flash cannot read is damaged; this can result from an
    /// interrupted write.
    pub(super) fn load(&mut self, copy: u8, memory: &mut [u8]) -> Result<Header, Copy> {
        let begin = self.begin(copy);
        let mut bytes = [0; HEADER_LEN];
        self.flash.read(begin, &mut bytes).map_err(|_| Copy::Damaged)?;
        if bytes == [0xff; HEADER_LEN] {
            return Err(Copy::Empty);
        }
        let header = Header::from_bytes(&bytes).ok_or(Copy::Damaged)?;
        let length = header.image.length as usize;
        let image = memory.get_mut(..length).filter(|_| length <= self.room()).ok_or(Copy::Damaged)?;
        self.flash.read(begin + number(PAGE), image).map_err(|_| Copy::Damaged)?;
        if crc32(image) == header.image.crc { Ok(header) } else { Err(Copy::Damaged) }
    }

    /// Writes the image of settings `image` to flash as this copy and replaces the copy's previous content.
    ///
    /// # Errors
    /// [`NotTaken`] with the address at which the flash rejected the write, or has different content afterwards; with
    /// the begin of the copy if it could not be erased, or the image is too long. The other copy is unchanged.
    pub(super) fn keep(&mut self, copy: u8, sequence: u32, image: &[u8]) -> Result<(), NotTaken> {
        let begin = self.begin(copy);
        if image.len() > self.room() {
            return Err(NotTaken(begin));
        }
        self.clear(copy)?;
        let mut at = begin + number(PAGE);
        for piece in image.chunks(PAGE) {
            self.write(at, piece)?;
            at += number(PAGE);
        }
        self.write(begin, &Header { sequence, image: Fingerprint::of(image) }.to_bytes())
    }

    /// Erases both copies of the settings in flash, and the one in effect last, so that it remains in effect until it
    /// is erased.
    ///
    /// # Errors
    /// [`NotTaken`] with the address at which the flash rejected the erasure.
    pub(super) fn erase(&mut self, last: u8) -> Result<(), NotTaken> {
        self.clear(last ^ 1)?;
        self.clear(last)
    }

    fn clear(&mut self, copy: u8) -> Result<(), NotTaken> {
        let begin = self.begin(copy);
        self.flash.erase(begin, begin + number(self.half())).map_err(|_| NotTaken(begin))
    }

    /// Writes at most a page to flash, padded to whole units, and reads it back.
    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), NotTaken> {
        let mut page = [0xff; PAGE];
        page[..bytes.len()].copy_from_slice(bytes);
        let units = &page[..bytes.len().next_multiple_of(F::WRITE_SIZE)];
        self.flash.write(at, units).map_err(|_| NotTaken(at))?;
        let mut found = [0; PAGE];
        let found = &mut found[..units.len()];
        self.flash.read(at, found).map_err(|_| NotTaken(at))?;
        if found == units { Ok(()) } else { Err(NotTaken(at)) }
    }
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0xff; HEADER_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.image.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.image.crc.to_le_bytes());
        let sum = crc32(&bytes[..16]);
        bytes[16..20].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let [magic, sequence, length, crc, sum, rest @ ..] = words else { return None };
        let good = *magic == MAGIC
            && crc32(&bytes[..16]) == u32::from_le_bytes(*sum)
            && rest.iter().all(|word| *word == [0xff; 4]);
        let [sequence, length, crc] = [*sequence, *length, *crc].map(u32::from_le_bytes);
        good.then_some(Self { sequence, image: Fingerprint { length, crc } })
    }

    /// Returns `true` if this copy of the settings in flash was written after `other`.
    pub(super) const fn is_newer_than(&self, other: &Self) -> bool {
        self.sequence.wrapping_sub(other.sequence).cast_signed() > 0
    }
}

fn number(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
