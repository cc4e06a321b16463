//! The key of keyed requests, and the tags computed with it, `core/docs/protocol/outrigger-requests.md` 6.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zerocopy::IntoBytes as _;
use zerocopy::byteorder::big_endian::U64;

use super::datagram_layout::{Kind, Nonce, TAG_LEN};
use outrigger_wire::time::Instant;

/// A key of 32 bytes that client and service share, prepared for computing the authentication tags of datagrams.
/// `Debug` does not print it.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Creates an authentication key from these bytes.
    #[must_use]
    pub fn new(bytes: &[u8; 32]) -> Self {
        // HMAC pads a key shorter than its block with zeros: RFC 2104.
        let mut block = [0; 64];
        if let Some((begin, _)) = block.split_first_chunk_mut() {
            *begin = *bytes;
        }
        Self(Hmac::new(&block.into()))
    }

    /// Parses a key as it is stored in files: 64 hexadecimal digits, with blanks and line ends around them. `None` for any
    /// other text.
    #[must_use]
    pub fn bytes_of(text: &str) -> Option<[u8; 32]> {
        let digits = text.trim_ascii().as_bytes();
        let (pairs, []) = digits.as_chunks::<2>() else { return None };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
            *byte = u8::try_from(high? << 4 | low?).ok()?;
        }
        Some(bytes)
    }

    /// Returns the authentication tag over the `parts` of a datagram, in this order.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; TAG_LEN] {
        self.of(parts).finalize().into_bytes().into()
    }

    /// Returns `true` if `tag` is the authentication tag of the datagram's `parts`; the comparison takes constant time.
    pub(super) fn holds(&self, parts: &[&[u8]], tag: &[u8; TAG_LEN]) -> bool {
        self.of(parts).verify(&(*tag).into()).is_ok()
    }

    fn of(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac
    }

    /// Returns a new session number and a nonce of the service, which cannot be predicted without the key and the seed.
    pub(super) fn fresh(&self, seed: &[u8; 32], made: u64, now: Instant, theirs: &Nonce) -> (u64, Nonce) {
        let (made, now) = (U64::new(made), U64::new(now.as_micros()));
        let tag = self.tag(&[b"keyed nonce     ", seed, made.as_bytes(), now.as_bytes(), theirs]);
        let (mut session, mut nonce) = ([0; 8], [0; 16]);
        for (to, from) in session.iter_mut().chain(&mut nonce).zip(tag) {
            *to = from;
        }
        (u64::from_be_bytes(session), nonce)
    }
}

/// Returns the bytes that precede the content in the tag of a datagram of this kind. They prevent a datagram from being
/// used in another direction, or for another purpose of the key.
pub(super) const fn label(kind: Kind) -> &'static [u8; 16] {
    match kind {
        Kind::Hello => b"keyed hello     ",
        Kind::Welcome => b"keyed welcome   ",
        Kind::Request => b"keyed request   ",
        Kind::Answer => b"keyed answer    ",
    }
}
