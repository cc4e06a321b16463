//! Requests and answers, and their frames: `core/docs/protocol/outrigger-provision.md` 2–5.

use heapless::Vec;

use outrigger_core::mode::Mode;
use outrigger_core::packed;
use outrigger_wire::checksum::crc32;
use outrigger_wire::stuffing::{self, CONTENT_MAX};

/// The version of what is said.
pub const VERSION: u8 = 1;
/// The longest frame \[B\]: the zero before it, a byte of stuffing, its content, its zero.
pub const FRAME_MAX: usize = 1 + 1 + CONTENT_MAX + 1;
/// Most bytes of one [`Request::Chunk`].
pub const CHUNK_MAX: usize = 192;

/// The length of a frame's head: version, turn.
const HEAD_LEN: usize = 1 + 2;
const SUM_LEN: usize = 4;
/// Longest names and reasons \[B\]; what is longer is cut off.
const NAME_MAX: usize = 48;
const WHY_MAX: usize = 96;

pub(super) type Frame = Vec<u8, FRAME_MAX>;

/// The identity of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint {
    /// Its length \[B\].
    pub length: u32,
    /// Its CRC-32.
    pub crc: u32,
}

impl Fingerprint {
    /// Returns that of `image`.
    #[must_use]
    pub fn of(image: &[u8]) -> Self {
        Self { length: u32::try_from(image.len()).unwrap_or(u32::MAX), crc: crc32(image) }
    }
}

/// A request to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Request<'a> {
    /// A question for the board and what is in force.
    Hello,
    /// An image follows. The same again changes nothing.
    Begin(Fingerprint),
    /// A piece of it. The same again changes nothing.
    Chunk {
        /// The offset of its first byte \[B\].
        offset: u32,
        /// At most [`CHUNK_MAX`] bytes.
        bytes: &'a [u8],
    },
    /// The end of the image: judge it, write it, restart.
    Commit(Fingerprint),
    /// Erase what was written, and start anew with what was compiled in.
    Erase,
}

/// An answer of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Answer<'a> {
    /// To a hello.
    #[serde(borrow)]
    Here(Here<'a>),
    /// To a begin and to each piece: so many bytes are there from the beginning on.
    Received(u32),
    /// To a commit and an erase: it will be done, and takes a while; nothing is answered meanwhile.
    Writing,
    /// The image is written; the board restarts.
    Kept {
        /// The index of the copy.
        copy: u8,
        /// Its number.
        sequence: u32,
    },
    /// The copies are erased; the board restarts.
    Erased,
    /// No.
    #[serde(borrow)]
    Refused(Refused<'a>),
}

/// A board, and what is in force on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Here<'a> {
    /// The board's name, in the words of its firmware.
    pub board: &'a str,
    /// The build of its firmware.
    pub build: &'a str,
    /// Random, one number from one start to the next.
    pub boot: u32,
    /// The kind of controller that the firmware is for, as settings name it.
    pub kind: u8,
    /// The format of settings that it reads.
    pub format: u8,
    /// The longest image that there is room for \[B\].
    pub room: u32,
    /// The firmware can take requests over the network.
    pub requests: bool,
    /// The firmware can feed a long motion.
    pub motion: bool,
    /// The mode of its control loop.
    pub mode: Mode,
    /// The origin of the image in force.
    pub origin: Origin,
    /// The fingerprint of the image in force.
    pub in_force: Fingerprint,
    /// The two copies in flash.
    pub copies: [Copy; 2],
    /// The reason for which a copy was refused at the start; empty where none was.
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
    /// From the firmware itself.
    CompiledIn,
    /// From this copy in flash, 0 or 1.
    Flash {
        /// The index of the copy.
        copy: u8,
        /// Its number: a copy that was written later has the next one, wrapping.
        sequence: u32,
    },
}

/// The state of a copy in flash at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Copy {
    /// Empty: never written, or erased.
    #[default]
    Empty,
    /// Not whole: it was not written to its end, or was changed, or cannot be read.
    Damaged,
    /// Whole, and this firmware cannot run it.
    Refused,
    /// Whole, and not the newest that can be run.
    Older,
    /// This is what runs.
    InForce,
}

/// A refusal and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused<'a> {
    /// The reason.
    pub why: Refusal,
    /// The board's own words, where it knows more.
    pub text: &'a str,
}

/// A reason to refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// A request of another version.
    OtherVersion {
        /// Theirs.
        found: u8,
        /// The version of the board.
        expected: u8,
    },
    /// No request that this version knows.
    NoRequest,
    /// The arm is, or is about to be, or was just commanded: in this mode nothing is written.
    Commanding(Mode),
    /// More bytes than there is room for, or than were announced.
    TooLong {
        /// The length found.
        found: u32,
        /// At most.
        expected: u32,
    },
    /// A piece or an end of an image that was not announced: the board started anew, or another began.
    NoBegin,
    /// A piece that leaves a gap.
    Gap {
        /// The offset found.
        found: u32,
        /// The greatest offset accepted.
        expected: u32,
    },
    /// The end, before all of it was there.
    Incomplete {
        /// The number of bytes that are there.
        found: u32,
        /// The number of bytes that were announced.
        expected: u32,
    },
    /// All of it is there, and not what was announced.
    Damaged {
        /// Its CRC-32.
        found: u32,
        /// The announced one.
        expected: u32,
    },
    /// The bytes are no image.
    NoImage,
    /// The settings are for a device beside another kind of controller.
    OtherKind {
        /// Theirs.
        found: u8,
        /// The format of the firmware.
        expected: u8,
    },
    /// The settings are of another format.
    OtherFormat {
        /// Theirs.
        found: u8,
        /// The one that the firmware reads.
        expected: u8,
    },
    /// The bytes are no settings, or not of this version.
    NoSettings,
    /// The settings say something that cannot be run; the text says what.
    Unfit,
    /// The image has a port for requests, and the firmware was built without.
    NoRequests,
    /// The image has a motion that is longer than the engine's memory, and the firmware was built without what feeds it.
    NoMotion,
    /// The flash did not take it: what was in force before is in force after the start.
    Flash {
        /// The address \[B\], from the beginning of the region.
        at: u32,
    },
}

/// An error in a frame that means nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// A frame of another version.
    OtherVersion {
        /// Its turn, which every version has in the same place.
        turn: u16,
        /// The version.
        found: u8,
    },
    /// A frame of this version with unknown content.
    Malformed {
        /// Its turn.
        turn: u16,
    },
    /// A frame shorter than any message.
    TooShort,
}

impl<'a> Request<'a> {
    /// Reads the request, and its turn, in the content of a frame.
    ///
    /// # Errors
    /// [`Unread`].
    pub fn from_content(content: &'a [u8]) -> Result<(u16, Self), Unread> {
        read(content)
    }

    /// Returns its frame, after a zero that ends whatever stood on the line before; `None` where a piece is too long.
    #[must_use]
    pub fn to_frame(&self, turn: u16) -> Option<Vec<u8, FRAME_MAX>> {
        written(turn, self)
    }
}

impl<'a> Answer<'a> {
    /// Reads the answer, and the turn of the request, in the content of a frame.
    ///
    /// # Errors
    /// [`Unread`].
    pub fn from_content(content: &'a [u8]) -> Result<(u16, Self), Unread> {
        read(content)
    }

    /// Returns its frame, as [`Request::to_frame`]; of texts that are too long their beginning.
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
