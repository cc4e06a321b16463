//! The messages of both sides, little-endian: states of one length, and messages that begin with their length.

use crate::mode::{Mirrored, MoveNumber};

/// The length of a state message of the test robot \[B\].
pub const SHOWN_LEN: usize = 48;
/// The number of points of the way that a move is sent with.
pub(super) const POINTS: usize = 16;
/// The length of the longest message to the test robot \[B\]: the start of a move.
pub(super) const LONGEST: usize = 3 + 12 + POINTS * 8;

/// A state of the test robot: all values that it reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Shown {
    /// The robot's clock \[µs\].
    pub micros: u64,
    /// The measured joint angles \[rad\].
    pub positions: [f32; 2],
    /// The target joint angles \[rad\].
    pub targets: [f32; 2],
    /// The target joint speeds \[rad/s\].
    pub speeds: [f32; 2],
    /// A counter that increases in every cycle of the program that executes moves, and stops while that is paused.
    pub beat: u32,
    /// The number of the move that is executed, or was; 0 for none.
    pub number: u32,
    /// `true` if the move with that `number` is executed now.
    pub runs: bool,
    /// The progress of the move, 0 … 1; NaN if the program does not report it.
    pub progress: f32,
    /// `true` if the program that executes moves runs and carries out the messages to it.
    pub granted: bool,
    /// `true` if the program that executes moves is paused.
    pub paused: bool,
    /// `true` if the robot's own safety system has stopped the robot.
    pub stopped: bool,
}

impl Shown {
    /// Encodes the test robot's state as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; SHOWN_LEN] {
        let flags = [self.runs, self.granted, self.paused, self.stopped];
        let flags = flags.iter().rev().fold(0_u32, |bits, flag| (bits << 1) | u32::from(*flag));
        let ([q0, q1], [t0, t1], [v0, v1]) = (self.positions, self.targets, self.speeds);
        let words = [q0, q1, t0, t1, v0, v1, self.progress].map(f32::to_bits);
        let mut bytes = [0; SHOWN_LEN];
        let (clock, rest) = bytes.split_at_mut(8);
        clock.copy_from_slice(&self.micros.to_le_bytes());
        let words = words.into_iter().chain([self.beat, self.number, flags]);
        rest.chunks_exact_mut(4).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Reads the test robot's state from bytes; any bytes are a state.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; SHOWN_LEN]) -> Self {
        let mut words = bytes.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_le_bytes));
        let mut next = || words.next().unwrap_or_default();
        let micros = u64::from(next()) | u64::from(next()) << 32;
        let mut pair = || [f32::from_bits(next()), f32::from_bits(next())];
        let (positions, targets, speeds) = (pair(), pair(), pair());
        let progress = f32::from_bits(next());
        let (beat, number, flags) = (next(), next(), next());
        let [runs, granted, paused, stopped] = [1, 2, 4, 8].map(|bit| flags & bit != 0);
        Self { micros, positions, targets, speeds, beat, number, runs, progress, granted, paused, stopped }
    }

    /// Returns the status of moves in the test robot's state: waiting, executing a move, or done with it.
    #[must_use]
    pub const fn mirrored(&self) -> Mirrored {
        match MoveNumber::new(self.number) {
            Some(number) if self.runs => Mirrored::Running(number),
            Some(number) => Mirrored::Ended(number),
            None => Mirrored::Idle,
        }
    }
}

/// A message from us to the test robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    /// Sets the joint speeds that apply while no move is executed to zero, until a message with other speeds.
    Hold,
    /// Moves at these joint speeds \[rad/s\] while no move is executed, until a message with other speeds or a stop.
    Speeds([f32; 2]),
    /// Starts this move: its number, the speed \[rad/s\] and acceleration \[rad/s²\] of the joint with the longest way,
    /// and the points of the way \[rad\].
    Start(u32, [f32; 2], [[f32; 2]; POINTS]),
    /// A keep-alive, which neither moves the arm nor ends a move.
    Keep,
    /// Ends the move with this number.
    Cancel(u32),
    /// Stops the arm, and ends any move.
    Stop,
}

impl Message {
    /// Writes the message to `out`, and returns its length \[B\].
    pub(super) fn emit(&self, out: &mut [u8; LONGEST]) -> usize {
        let [tag, low, high, rest @ ..] = out;
        let mut words = rest.chunks_exact_mut(4);
        let mut count = 0_u16;
        let mut put = |word: u32| {
            if let Some(to) = words.next() {
                to.copy_from_slice(&word.to_le_bytes());
                count = count.saturating_add(4);
            }
        };
        *tag = match self {
            Self::Hold => b'H',
            Self::Keep => b'K',
            Self::Stop => b'T',
            Self::Speeds(speeds) => {
                speeds.iter().for_each(|v| put(v.to_bits()));
                b'V'
            }
            Self::Cancel(number) => {
                put(*number);
                b'C'
            }
            Self::Start(number, fastest, points) => {
                put(*number);
                fastest.iter().chain(points.as_flattened()).for_each(|v| put(v.to_bits()));
                b'M'
            }
        };
        [*low, *high] = count.to_le_bytes();
        usize::from(count).saturating_add(3)
    }

    /// Returns the message at the beginning of `bytes`, and its length; `None` while it is incomplete. Anything else
    /// panics, because this is test code.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let ([tag, low, high], rest) = bytes.split_first_chunk()?;
        let count = usize::from(u16::from_le_bytes([*low, *high]));
        let mut words = rest.get(..count)?.chunks_exact(4).map(|word| word.try_into().map_or(0, u32::from_le_bytes));
        let mut next = || words.next().unwrap_or_default();
        let message = match tag {
            b'H' => Self::Hold,
            b'K' => Self::Keep,
            b'T' => Self::Stop,
            b'V' => Self::Speeds([(); 2].map(|()| f32::from_bits(next()))),
            b'C' => Self::Cancel(next()),
            b'M' => {
                let number = next();
                let mut pair = || [(); 2].map(|()| f32::from_bits(next()));
                Self::Start(number, pair(), [(); POINTS].map(|()| pair()))
            }
            _ => unreachable!("no message: {bytes:02x?}"),
        };
        Some((message, count.saturating_add(3)))
    }
}
