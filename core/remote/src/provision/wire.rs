//! The requests and answers, and their frames: `core/docs/protocol/outrigger-provision.md` 2–5.

use heapless::Vec;

use outrigger_core::mode::Mode;
use outrigger_core::packed;
use outrigger_wire::checksum::crc32;
use outrigger_wire::stuffing::{self, CONTENT_MAX};

/// The version of the protocol.
pub const VERSION: u8 = 1;
/// The longest frame \[B\]: the zero before it, a byte of stuffing, its content, its zero.
pub const FRAME_MAX: usize = 1 + 1 + CONTENT_MAX + 1;
/// The most bytes of one [`Request::Chunk`].
pub const CHUNK_MAX: usize = 192;

/// The length of a frame's head: version, turn.
const HEAD_LEN: usize = 1 + 2;
const SUM_LEN: usize = 4;
/// The longest names and reasons \[B\]; longer ones are truncated.
const NAME_MAX: usize = 48;
const WHY_MAX: usize = 96;

pub(super) type Frame = Vec<u8, FRAME_MAX>;

/// The identity of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// The length of the image \[B\].
    pub length: u32,
    /// The CRC-32 of the image.
    pub crc: u32,
}

impl Fingerprint {
    /// Returns the fingerprint of `image`.
    #[must_use]
    pub fn of(image: &[u8]) -> Self {
        Self { length: u32::try_from(image.len()).unwrap_or(u32::MAX), crc: crc32(image) }
    }
}

/// A request to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Request<'a> {
    /// Asks for the board's identity and the settings in force.
    Hello,
    /// Announces an image. A repetition changes nothing.
    Begin(Fingerprint),
    /// A piece of the announced image. A repetition changes nothing.
    Chunk {
        /// The offset of the first byte \[B\].
        offset: u32,
        /// The bytes of the piece, at most [`CHUNK_MAX`].
        bytes: &'a [u8],
    },
    /// Ends the image: check it, write it, restart.
    Commit(Fingerprint),
    /// Erases the written copies, and restarts with the compiled-in settings.
    Erase,
}

/// An answer of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Answer<'a> {
    /// The answer to a hello.
    #[serde(borrow)]
    Here(Here<'a>),
    /// The answer to a begin and to each piece: this many bytes were received without a gap from the beginning.
    Received(u32),
    /// The answer to a commit and an erase: it will be carried out, which takes a while; no other request is answered
    /// meanwhile.
    Writing,
    /// The image was written; the board restarts.
    Kept {
        /// The index of the copy.
        copy: u8,
        /// The sequence number of the copy.
        sequence: u32,
    },
    /// The copies were erased; the board restarts.
    Erased,
    /// The request was refused.
    #[serde(borrow)]
    Refused(Refused<'a>),
}

/// The identity of a board, and the settings in force on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Here<'a> {
    /// The board's name, as given by its firmware.
    pub board: &'a str,
    /// The build of its firmware.
    pub build: &'a str,
    /// A random number that differs after each start.
    pub boot: u32,
    /// The kind of controller that the firmware supports, numbered as in settings.
    pub kind: u8,
    /// The format of settings that the firmware reads.
    pub format: u8,
    /// The longest image that the board has room for \[B\].
    pub room: u32,
    /// `true` if the firmware can accept requests over the network.
    pub requests: bool,
    /// `true` if the firmware can feed a long motion.
    pub motion: bool,
    /// The mode of its control loop.
    pub mode: Mode,
    /// The origin of the image in force.
    pub origin: Origin,
    /// The fingerprint of the image in force.
    pub in_force: Fingerprint,
    /// The states of the two copies in flash.
    pub copies: [Copy; 2],
    /// The reason for which a copy was rejected at the start; empty if none was.
    pub why: &'a str,
}

impl Default for Here<'_> {
    fn default() -> Self {
        Self {
            board: "",
            build: "",
            boot: 0,
            kind: 0,
            format: 0,
            room: 0,
            requests: false,
            motion: false,
            mode: Mode::Offline,
            origin: Origin::CompiledIn,
            in_force: Fingerprint::default(),
            copies: [Copy::Empty; 2],
            why: "",
        }
    }
}

/// The origin of the image in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Origin {
    /// The settings compiled into the firmware.
    CompiledIn,
    /// A copy in flash, 0 or 1.
    Flash {
        /// The index of the copy.
        copy: u8,
        /// The sequence number of the copy: each copy written later has the next one, wrapping.
        sequence: u32,
    },
}

/// The state of a copy in flash at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Copy {
    /// Never written, or erased.
    #[default]
    Empty,
    /// Incomplete, changed, or not readable.
    Damaged,
    /// Complete, but this firmware cannot run it.
    Refused,
    /// Complete, but not the newest that can be run.
    Older,
    /// The copy in force.
    InForce,
}

/// A refusal and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused<'a> {
    /// The reason.
    pub why: Refusal,
    /// The board's own text with details; may be empty.
    pub text: &'a str,
}

/// A reason to refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// A request of another version.
    OtherVersion {
        /// The version of the request.
        found: u8,
        /// The version of the board.
        expected: u8,
    },
    /// A request that this version does not know.
    NoRequest,
    /// The arm is commanded, being armed, or being stopped: nothing is written in this mode.
    Commanding(Mode),
    /// More bytes than there is room for, or than were announced.
    TooLong {
        /// The length found.
        found: u32,
        /// The greatest length accepted.
        expected: u32,
    },
    /// A piece or an end of an image that was not announced: the board restarted, or another image was begun.
    NoBegin,
    /// A piece after a gap.
    Gap {
        /// The offset found.
        found: u32,
        /// The greatest offset accepted.
        expected: u32,
    },
    /// The end, before all bytes were received.
    Incomplete {
        /// The number of bytes received.
        found: u32,
        /// The number of bytes announced.
        expected: u32,
    },
    /// All bytes were received, but the checksum differs.
    Damaged {
        /// The CRC-32 of the received bytes.
        found: u32,
        /// The announced CRC-32.
        expected: u32,
    },
    /// The bytes are no image.
    NoImage,
    /// The settings are for a device with another kind of controller.
    OtherKind {
        /// The kind of the settings.
        found: u8,
        /// The kind that the firmware supports.
        expected: u8,
    },
    /// The settings are in another format.
    OtherFormat {
        /// The format of the settings.
        found: u8,
        /// The format that the firmware reads.
        expected: u8,
    },
    /// The bytes are not settings, or not of this version.
    NoSettings,
    /// The settings cannot be run; the text has the cause.
    Unfit,
    /// The image has a port for requests, which the firmware does not support.
    NoRequests,
    /// The image has a motion longer than the engine's memory, and the firmware does not support feeding one.
    NoMotion,
    /// Writing to the flash failed: after the restart the same settings are in force as before.
    Flash {
        /// The address \[B\] relative to the beginning of the region.
        at: u32,
    },
}

/// The error for a frame that cannot be interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A frame of another version.
    OtherVersion {
        /// The turn, which is at the same position in every version.
        turn: u16,
        /// The version of the frame.
        found: u8,
    },
    /// A frame of this version with unknown content.
    Malformed {
        /// The turn of the frame.
        turn: u16,
    },
    /// A frame shorter than any message.
    TooShort,
}

impl<'a> Request<'a> {
    /// Reads a request and its turn from the content of a frame.
    ///
    /// # Errors
    /// [`Unread`] if it is not valid.
    pub fn from_content(content: &'a [u8]) -> Result<(u16, Self), Unread> {
        read(content)
    }

    /// Returns the frame, preceded by a zero that ends earlier bytes on the line; `None` if a piece is too long.
    #[must_use]
    pub fn to_frame(&self, turn: u16) -> Option<Vec<u8, FRAME_MAX>> {
        written(turn, self)
    }
}

impl<'a> Answer<'a> {
    /// Reads an answer and the turn of its request from the content of a frame.
    ///
    /// # Errors
    /// [`Unread`] if it is not valid.
    pub fn from_content(content: &'a [u8]) -> Result<(u16, Self), Unread> {
        read(content)
    }

    /// Returns the frame, as [`Request::to_frame`]; texts that are too long are truncated.
    #[must_use]
    pub fn to_frame(&self, turn: u16) -> Option<Vec<u8, FRAME_MAX>> {
        let clipped = match *self {
            Self::Here(here) => {
                let (board, build, why) =
                    (clip(here.board, NAME_MAX), clip(here.build, NAME_MAX), clip(here.why, WHY_MAX));
                Answer::Here(Here { board, build, why, ..here })
            }
            Self::Refused(Refused { why, text }) => Answer::Refused(Refused { why, text: clip(text, WHY_MAX) }),
            other => other,
        };
        written(turn, &clipped)
    }
}

#[inline(never)]
fn clip(text: &str, length: usize) -> &str {
    text.get(..text.floor_char_boundary(length)).unwrap_or_default()
}

fn written<T: serde::Serialize>(turn: u16, said: &T) -> Option<Frame> {
    let mut content = [0; CONTENT_MAX];
    let (head, rest) = content.split_first_chunk_mut::<HEAD_LEN>()?;
    let [low, high] = turn.to_le_bytes();
    *head = [VERSION, low, high];
    let room = rest.len().checked_sub(SUM_LEN)?;
    let length = packed::to_slice(said, rest.get_mut(..room)?)?.len().checked_add(HEAD_LEN)?;
    let (said, behind) = content.split_at_mut_checked(length)?;
    let (to, _) = behind.split_first_chunk_mut()?;
    *to = crc32(said).to_le_bytes();
    let stuffed: Vec<u8, { FRAME_MAX - 1 }> = stuffing::framed(content.get(..length.checked_add(SUM_LEN)?)?)?;
    let mut frame = Frame::new();
    frame.push(0).ok()?;
    frame.extend_from_slice(&stuffed).ok()?;
    Some(frame)
}

fn read<'a, T: serde::Deserialize<'a>>(content: &'a [u8]) -> Result<(u16, T), Unread> {
    let ([version, low, high], said) = content.split_first_chunk().ok_or(Unread::TooShort)?;
    let turn = u16::from_le_bytes([*low, *high]);
    if *version != VERSION {
        return Err(Unread::OtherVersion { turn, found: *version });
    }
    packed::from_bytes(said).map(|said| (turn, said)).ok_or(Unread::Malformed { turn })
}
