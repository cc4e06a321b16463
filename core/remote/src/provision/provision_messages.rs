//! The provisioning requests and answers, and their frames: `core/docs/protocol/outrigger-provision.md` 2–5.

use heapless::Vec;

use outrigger_core::mode::Mode;
use outrigger_core::postcard;
use outrigger_wire::checksum::crc32;
use outrigger_wire::cobs::{self, CONTENT_MAX};

/// The version of the provisioning protocol.
pub const VERSION: u8 = 1;
/// The length of the longest provisioning frame \[B\]: the zero before it, a byte of stuffing, its content, and its
/// final zero.
pub const FRAME_MAX: usize = 1 + 1 + CONTENT_MAX + 1;
/// The most bytes of the settings image in one [`Request::Chunk`].
pub const CHUNK_MAX: usize = 192;

/// The length of a provisioning frame's head \[B\]: version, and the turn that pairs request and answer.
const HEAD_LEN: usize = 1 + 2;
const SUM_LEN: usize = 4;
/// The length of the longest names in a board's answer \[B\]; longer ones are truncated.
const NAME_MAX: usize = 48;
const WHY_MAX: usize = 96;

pub(super) type Frame = Vec<u8, FRAME_MAX>;

/// The identity of an image of settings, by its length and checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// The length of the settings image \[B\].
    pub length: u32,
    /// The CRC-32 checksum of the settings image.
    pub crc: u32,
}

impl Fingerprint {
    /// Returns the length and checksum of `image`.
    #[must_use]
    pub fn of(image: &[u8]) -> Self {
        Self { length: u32::try_from(image.len()).unwrap_or(u32::MAX), crc: crc32(image) }
    }
}

/// A provisioning request to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Request<'a> {
    /// Asks for the board's identity and the settings in force.
    Hello,
    /// Announces a settings image by its length and checksum. A repetition changes nothing.
    Begin(Fingerprint),
    /// A part of the announced settings image. A repetition changes nothing.
    Chunk {
        /// The offset of the part's first byte in the settings image \[B\].
        offset: u32,
        /// The bytes of the image's part, at most [`CHUNK_MAX`].
        bytes: &'a [u8],
    },
    /// Ends the settings image: the board is to check it, write it to its flash, and restart.
    Commit(Fingerprint),
    /// Erases the copies of the settings in the board's flash, and restarts the board with the compiled-in settings.
    Erase,
}

/// An answer of a board to a provisioning request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Answer<'a> {
    /// The answer to [`Request::Hello`]: the board's identity and the settings in force.
    #[serde(borrow)]
    Here(BootInfo<'a>),
    /// The answer to [`Request::Begin`] and to each part of the settings image: this many bytes were received without a
    /// gap from the beginning.
    Received(u32),
    /// The answer to [`Request::Commit`] and [`Request::Erase`]: the request will be carried out, which takes a
    /// while. No other request is answered meanwhile.
    Writing,
    /// The settings image was written to the flash; the board restarts.
    Kept {
        /// The index of the written copy of the settings in the flash, 0 or 1.
        copy: u8,
        /// The sequence number of the written copy of the settings.
        sequence: u32,
    },
    /// The copies of the settings in the flash were erased; the board restarts.
    Erased,
    /// The board refused the provisioning request.
    #[serde(borrow)]
    Refused(Refused<'a>),
}

/// The identity of a board, and the settings in force on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BootInfo<'a> {
    /// The name of the board, as given by its firmware.
    pub board: &'a str,
    /// The identifier of the build of the board's firmware.
    pub build: &'a str,
    /// A random number that differs after each start of the board.
    pub boot: u32,
    /// The kind of controller that the firmware supports, by the number that the header of settings contains for it.
    pub kind: u8,
    /// The number of the format of settings that the firmware reads.
    pub format: u8,
    /// The length of the longest settings image that the board has room for \[B\].
    pub room: u32,
    /// `true` if the firmware can accept requests over the network to command the arm.
    pub requests: bool,
    /// `true` if the firmware can execute a motion that is longer than the engine's memory, by feeding it in parts.
    pub motion: bool,
    /// The mode of the board's control loop.
    pub mode: Mode,
    /// The origin of the settings in force: the firmware, or a copy in the flash.
    pub origin: Origin,
    /// The length and checksum of the settings in force.
    pub in_force: Fingerprint,
    /// The states of the two copies of the settings in flash.
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
    /// The settings in force are those compiled into the firmware.
    CompiledIn,
    /// The settings in force are those of a copy in the flash.
    Flash {
        /// The index of the copy of the settings in the flash, 0 or 1.
        copy: u8,
        /// The sequence number of the copy of the settings: each copy written later has the next one, wrapping.
        sequence: u32,
    },
}

/// The state of one of the two copies of the settings in flash when the board started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Copy {
    /// The copy of the settings was never written, or was erased.
    #[default]
    Empty,
    /// The copy of the settings is incomplete, changed, or not readable.
    Damaged,
    /// The copy of the settings is complete, but this firmware cannot run them.
    Refused,
    /// The copy of the settings is complete, but not the newest that can be run.
    Older,
    /// The settings of this copy are in force on the board.
    InForce,
}

/// A board's refusal of a provisioning request, with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused<'a> {
    /// The reason for which the board refused the request.
    pub why: Refusal,
    /// The board's own text with details of the refusal; may be empty.
    pub text: &'a str,
}

/// A reason of a board to refuse a provisioning request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// The request is of another version of the provisioning protocol.
    OtherVersion {
        /// The version of the provisioning protocol that the request has.
        found: u8,
        /// The version of the provisioning protocol that the board supports.
        expected: u8,
    },
    /// The request is not defined in this version of the provisioning protocol.
    NoRequest,
    /// The arm is commanded, being armed, or being stopped: nothing is written to the flash in this mode.
    Commanding(Mode),
    /// The settings image has more bytes than there is room for, or than were announced.
    TooLong {
        /// The number of bytes of the settings image that were sent or announced.
        found: u32,
        /// The greatest number of bytes of the settings image that is accepted.
        expected: u32,
    },
    /// A part or the end of a settings image arrived that was not announced: the board restarted, or another image was
    /// begun.
    NoBegin,
    /// A part of the settings image arrived that does not follow the bytes received so far.
    Gap {
        /// The offset of the arrived part in the settings image \[B\].
        found: u32,
        /// The greatest offset in the settings image that is accepted for the part \[B\].
        expected: u32,
    },
    /// The end of the settings image arrived before all of its bytes.
    Incomplete {
        /// The number of bytes of the settings image that were received.
        found: u32,
        /// The number of bytes of the settings image that were announced.
        expected: u32,
    },
    /// All bytes of the settings image were received, but their checksum differs from the announced one.
    Damaged {
        /// The CRC-32 checksum of the received settings image.
        found: u32,
        /// The CRC-32 checksum that was announced for the settings image.
        expected: u32,
    },
    /// The received bytes are not an image of settings.
    NoImage,
    /// The settings are for a device with another kind of controller.
    OtherKind {
        /// The kind of controller that the settings are for.
        found: u8,
        /// The kind of controller that the firmware supports.
        expected: u8,
    },
    /// The settings in the image are in another format than the firmware reads.
    OtherFormat {
        /// The number of the format that the settings in the image have.
        found: u8,
        /// The number of the format of settings that the firmware reads.
        expected: u8,
    },
    /// The bytes of the settings cannot be read, or are those of another version.
    NoSettings,
    /// The settings cannot be run on this board; the text of the refusal has the cause.
    Unfit,
    /// The settings image has a port for requests over the network, which the firmware does not support.
    NoRequests,
    /// The settings image has a motion longer than the engine's memory, and the firmware does not support feeding one.
    NoMotion,
    /// Writing to the flash failed: after the restart the same settings are in force as before.
    Flash {
        /// The flash address of the failed write \[B\], relative to the beginning of the region for settings.
        at: u32,
    },
}

/// The error for a provisioning frame that cannot be interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The frame is of another version of the provisioning protocol.
    OtherVersion {
        /// The turn of the frame, which is at the same position in every version. A turn is the number that pairs a
        /// request with its answer.
        turn: u16,
        /// The version of the provisioning protocol in the frame's head.
        found: u8,
    },
    /// The frame is of this version of the provisioning protocol, but its content is unknown.
    Malformed {
        /// The turn of the frame: the number that pairs a request with its answer.
        turn: u16,
    },
    /// The frame is shorter than any provisioning message.
    TooShort,
}

impl<'a> Request<'a> {
    /// Reads a provisioning request, and the turn that pairs it with its answer, from the content of a frame.
    ///
    /// # Errors
    /// [`Unread`] if it is not valid.
    pub fn from_content(content: &'a [u8]) -> Result<(u16, Self), Unread> {
        read(content)
    }

    /// Returns the request as a frame, preceded by a zero that ends earlier bytes on the line; `None` if a part of the
    /// image is too long.
    #[must_use]
    pub fn to_frame(&self, turn: u16) -> Option<Vec<u8, FRAME_MAX>> {
        written(turn, self)
    }
}

impl<'a> Answer<'a> {
    /// Reads a board's answer and the turn of its request from the content of a frame.
    ///
    /// # Errors
    /// [`Unread`] if it is not valid.
    pub fn from_content(content: &'a [u8]) -> Result<(u16, Self), Unread> {
        read(content)
    }

    /// Returns the board's answer as a frame, like [`Request::to_frame`]; texts that are too long are truncated.
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
