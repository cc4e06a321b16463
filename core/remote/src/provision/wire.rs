//! The requests and answers, and their frames: `core/docs/protocol/outrigger-provision.md` 2–5.

use heapless::Vec;

use outrigger_core::mode::Mode;
use outrigger_core::postcard;
use outrigger_wire::checksum::crc32;
use outrigger_wire::cobs::{self, CONTENT_MAX};

/// The version of the provisioning protocol.
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

/// The identity of an image of settings, by its length and checksum.
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
        /// The offset of the piece's first byte in the image \[B\].
        offset: u32,
        /// The bytes of the piece, at most [`CHUNK_MAX`].
        bytes: &'a [u8],
    },
    /// Ends the image: the board is to check it, write it to its flash, and restart.
    Commit(Fingerprint),
    /// Erases the copies written to the flash, and restarts with the compiled-in settings.
    Erase,
}

/// An answer of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Answer<'a> {
    /// The answer to [`Request::Hello`].
    #[serde(borrow)]
    Here(BootInfo<'a>),
    /// The answer to [`Request::Begin`] and to each piece: this many bytes were received without a gap from the
    /// beginning.
    Received(u32),
    /// The answer to [`Request::Commit`] and [`Request::Erase`]: the request will be carried out, which takes a
    /// while. No other request is answered meanwhile.
    Writing,
    /// The image was written to the flash; the board restarts.
    Kept {
        /// The index of the copy in the flash, 0 or 1.
        copy: u8,
        /// The sequence number of the copy.
        sequence: u32,
    },
    /// The copies in the flash were erased; the board restarts.
    Erased,
    /// The request was refused.
    #[serde(borrow)]
    Refused(Refused<'a>),
}

/// The identity of a board, and the settings in force on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BootInfo<'a> {
    /// The board's name, as given by its firmware.
    pub board: &'a str,
    /// The build of the board's firmware.
    pub build: &'a str,
    /// A random number that differs after each start of the board.
    pub boot: u32,
    /// The kind of controller that the firmware supports, by the number that the header of settings contains for it.
    pub kind: u8,
    /// The number of the format of settings that the firmware reads.
    pub format: u8,
    /// The longest image that the board has room for \[B\].
    pub room: u32,
    /// `true` if the firmware can accept requests to command over the network.
    pub requests: bool,
    /// `true` if the firmware can feed a motion that is longer than the engine's memory.
    pub motion: bool,
    /// The mode of the board's control loop.
    pub mode: Mode,
    /// The origin of the settings in force.
    pub origin: Origin,
    /// The fingerprint of the settings in force.
    pub in_force: Fingerprint,
    /// The states of the two copies in flash.
    pub copies: [Copy; 2],
    /// The reason for which a copy in flash was rejected at the start; empty if none was.
    pub why: &'a str,
}

impl Default for BootInfo<'_> {
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

/// The origin of the settings in force on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Origin {
    /// The settings compiled into the firmware.
    CompiledIn,
    /// A copy in the flash.
    Flash {
        /// The index of the copy, 0 or 1.
        copy: u8,
        /// The sequence number of the copy: each copy written later has the next one, wrapping.
        sequence: u32,
    },
}

/// The state of a copy in flash at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Copy {
    /// The copy was never written, or was erased.
    #[default]
    Empty,
    /// The copy is incomplete, changed, or not readable.
    Damaged,
    /// The copy is complete, but this firmware cannot run its settings.
    Refused,
    /// The copy is complete, but not the newest that can be run.
    Older,
    /// The settings of this copy are in force.
    InForce,
}

/// A refusal and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused<'a> {
    /// The reason for the refusal.
    pub why: Refusal,
    /// The board's own text with details; may be empty.
    pub text: &'a str,
}

/// A reason to refuse a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// The request is of another version of the protocol.
    OtherVersion {
        /// The version of the request.
        found: u8,
        /// The version of the board.
        expected: u8,
    },
    /// The request is not defined in this version of the protocol.
    NoRequest,
    /// The arm is commanded, being armed, or being stopped: nothing is written in this mode.
    Commanding(Mode),
    /// The image has more bytes than there is room for, or than were announced.
    TooLong {
        /// The number of bytes that were sent or announced.
        found: u32,
        /// The greatest number of bytes accepted.
        expected: u32,
    },
    /// A piece or the end of an image arrived that was not announced: the board restarted, or another image was
    /// begun.
    NoBegin,
    /// A piece arrived that does not follow the bytes received so far.
    Gap {
        /// The offset of the piece \[B\].
        found: u32,
        /// The greatest offset accepted \[B\].
        expected: u32,
    },
    /// The end of the image arrived before all of its bytes.
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
    /// The received bytes are not an image.
    NoImage,
    /// The settings are for a device with another kind of controller.
    OtherKind {
        /// The kind of controller that the settings are for.
        found: u8,
        /// The kind of controller that the firmware supports.
        expected: u8,
    },
    /// The settings are in another format.
    OtherFormat {
        /// The number of the settings' format.
        found: u8,
        /// The number of the format that the firmware reads.
        expected: u8,
    },
    /// The bytes of the settings cannot be read, or are those of another version.
    NoSettings,
    /// The settings cannot be run on this board; the text of the refusal has the cause.
    Unfit,
    /// The image has a port for requests, which the firmware does not support.
    NoRequests,
    /// The image has a motion longer than the engine's memory, and the firmware does not support feeding one.
    NoMotion,
    /// Writing to the flash failed: after the restart the same settings are in force as before.
    Flash {
        /// The address of the failed write \[B\], relative to the beginning of the region for settings.
        at: u32,
    },
}

/// The error for a frame that cannot be interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A frame of another version.
    OtherVersion {
        /// The turn of the frame, which is at the same position in every version. A turn is the number that pairs a
        /// request with its answer.
        turn: u16,
        /// The version of the protocol in the frame.
        found: u8,
    },
    /// A frame of this version with unknown content.
    Malformed {
        /// The turn of the frame: the number that pairs a request with its answer.
        turn: u16,
    },
    /// A frame shorter than any message.
    TooShort,
}

impl<'a> Request<'a> {
    /// Reads a request, and the turn that pairs it with its answer, from the content of a frame.
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
                Answer::Here(BootInfo { board, build, why, ..here })
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
    let length = postcard::to_slice(said, rest.get_mut(..room)?)?.len().checked_add(HEAD_LEN)?;
    let (said, behind) = content.split_at_mut_checked(length)?;
    let (to, _) = behind.split_first_chunk_mut()?;
    *to = crc32(said).to_le_bytes();
    let stuffed: Vec<u8, { FRAME_MAX - 1 }> = cobs::framed(content.get(..length.checked_add(SUM_LEN)?)?)?;
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
    postcard::from_bytes(said).map(|said| (turn, said)).ok_or(Unread::Malformed { turn })
}
