//! The layout of the datagrams of keyed requests, `core/docs/protocol/outrigger-requests.md` 2–5.

use zerocopy::byteorder::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The length \[B\] of the longest keyed datagram, which is one that is authenticated with a shared key.
pub const DATAGRAM_MAX: usize = 512;
/// The length of a hello, which requests a session, and of the welcome that answers it \[B\].
pub const HELLO_LEN: usize = size_of::<Hello>() + TAG_LEN;
/// The length of an answer \[B\], which is also that of the shortest request: no answer is longer than its request.
pub const ANSWER_LEN: usize = size_of::<Turn>() + size_of::<Body>() + TAG_LEN;
/// The length of the longest line of a keyed request \[B\].
pub const BODY_MAX: usize = DATAGRAM_MAX - size_of::<Turn>() - TAG_LEN;
/// The least length of the request line in a keyed datagram \[B\]: a shorter line is padded with blanks.
pub(super) const BODY_MIN: usize = size_of::<Body>();
/// The length of the authentication tag at the end of every datagram \[B\].
pub(super) const TAG_LEN: usize = 32;

/// The beginning of every keyed datagram; the digit is the version of this layout.
pub(super) const MAGIC: [u8; 4] = *b"ORQ2";
/// The beginning of a keyed datagram of layout 1, which had no challenges: a request in it may be of any age.
pub(super) const OUTDATED: [u8; 4] = *b"ORQ1";

/// The kind of a keyed datagram, and its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The datagram with which a client requests a session from the service.
    Hello = 1,
    /// The datagram with which the service answers a hello: a session for the client is open.
    Welcome = 2,
    /// The datagram with a client's request to the process that commands the robot, in an open session.
    Request = 3,
    /// The datagram with which the service answers a client's request.
    Answer = 4,
}

/// A random number of 16 bytes that is used only once, against replayed datagrams.
pub(super) type Nonce = [u8; 16];

/// The beginning of every keyed datagram: its magic bytes and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct Head {
    pub(super) magic: [u8; 4], // ORQ2
    pub(super) kind: u8,       // Kind
    pub(super) zero: [u8; 3],
}

impl Head {
    pub(super) const fn of(kind: Kind) -> Self {
        Self { magic: MAGIC, kind: kind as u8, zero: [0; 3] }
    }
}

/// A hello datagram, by which a client requests a session, without its authentication tag.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct Hello {
    pub(super) head: Head,
    pub(super) nonce: Nonce,   // the caller's
    pub(super) zero: [u8; 16], // a welcome is no longer than this
}

/// A welcome datagram, by which the service opens a session, without its authentication tag.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct Welcome {
    pub(super) head: Head,
    pub(super) session: U64,
    pub(super) nonce: Nonce, // the service's
    pub(super) epoch: U32,   // the present one
    pub(super) zero: [u8; 4],
}

/// The beginning of request and answer datagrams: session, counter, epoch and challenge.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct Turn {
    pub(super) head: Head,
    pub(super) session: U64,
    pub(super) counter: U32,   // from 1, strictly increasing; an answer has its request's
    pub(super) epoch: U32,     // request: the one that was seen; answer: the present one
    pub(super) challenge: U32, // answer: a new one; request that causes motion: that of a recent answer
}

/// The content of an answer datagram: the outcome and the state of the control loop.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct Body {
    pub(super) verdict: u8,
    pub(super) detail: u8,      // Refused: reason; Output: news; Fault: kind; Dashboard: outcome
    pub(super) mode: u8,        // 0 offline … 4 stopping
    pub(super) grade: u8,       // 0 unacceptable … 3 perfect
    pub(super) latch: u8,       // reason, 0xff: none
    pub(super) flags: u8,       // bit 0: ending
    pub(super) at: U16,         // Fault: byte in the line
    pub(super) unmet: U64,      // a bit per reason, of the first 64
    pub(super) after: U32,      // Output, confirmed: µs after it was sent
    pub(super) unmet_more: U32, // a bit per reason, of those behind
}

const _: () = assert!(size_of::<Hello>() == size_of::<Welcome>(), "nothing is amplified");
const _: () = assert!(HELLO_LEN == 72 && ANSWER_LEN == 84 && BODY_MAX == 452);
