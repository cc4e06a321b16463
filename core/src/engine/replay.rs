//! The replay of a dump: from the first checkpoint on, every input, in order, must cause the same transitions and the
//! same texts.

use core::net::SocketAddr;

use super::Engine;
use super::config::{Config, ConfigError, Options as _};
use super::controller::{Controller, MemorySizes};
use super::event::Event;
use super::io::LinkId;
use super::record::{MAGIC, PROGRAMS, WITH_PROGRAMS, dump_end};
use crate::law::Law;
use crate::mode::Transition;
use crate::postcard;
use crate::recorder::{Entry, Kind, Loader, entries};
use outrigger_wire::robot::Text;
use outrigger_wire::time::Instant;

/// An effect of an input in a recording or a replay: a transition between modes or a text to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The mode of the mode machine changed.
    Transition(Transition),
    /// A text was sent to the controller.
    Text {
        /// The offset of the first byte of the text to the controller that differs \[B\].
        at: u16,
        /// The text to the controller from its first byte that differs on.
        rest: Text<40>,
    },
}

/// The counts of a replay that found no difference from the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The number of replayed inputs, including received bytes.
    pub inputs: u32,
    /// The number of transitions of the mode; each was equal to the recorded one.
    pub transitions: u32,
    /// The number of texts to the controller; each was equal to the recorded one.
    pub texts: u32,
    /// The recorded time of the first replayed entry.
    pub from: Instant,
    /// The recorded time of the last replayed entry.
    pub to: Instant,
}

/// The reason for which a replay of a recording ended early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplayError {
    /// The bytes are not a recording's dump, or the dump contains no input.
    NoDump,
    /// The recording's dump has another format, with this number.
    OtherFormat(u8),
    /// The end of the dump, or a part of it, is missing.
    CutOff,
    /// This version of the engine rejects the recorded configuration.
    Config(ConfigError),
    /// The memory that was passed in is smaller than the recorded engine's.
    Memory {
        /// The recorded engine's memory for each link \[B\]; 0 for an unused link.
        expected: MemorySizes,
    },
    /// The recording is of an engine for another kind of controller.
    OtherKind,
    /// The dump is of an engine built with the feature `programs` and this one is without it, or the other way round.
    /// Their checkpoints differ.
    OtherFeatures {
        /// `true` if the recorded engine had the feature `programs`.
        programs: bool,
    },
    /// Entry number `entry`, from 0, cannot be read, or it is a checkpoint with a control law of another kind.
    BadEntry {
        /// The number of the entry in the recording, from 0.
        entry: u32,
    },
    /// The replayed engine behaved differently from the recording.
    Diverged {
        /// The number of the entry, from 0, at which the difference was found.
        entry: u32,
        /// The time of the input after which the engine behaved differently.
        at: Instant,
        /// The effect in the recording; `None` if it has no further one.
        recorded: Option<Outcome>,
        /// The effect in this replay; `None` if there was no further one.
        now: Option<Outcome>,
    },
}

impl core::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoDump => f.write_str("this is not a dump"),
            Self::OtherFormat(found) => {
                let [.., expected] = MAGIC;
                write!(f, "a dump of format {found}, and this version reads format {expected}")
            }
            Self::CutOff => f.write_str(
                "it is incomplete: its end is missing, as after a full disk or a broken \
                                         copy",
            ),
            Self::Memory { expected: [a, b, c, d] } => {
                write!(f, "the recorded engine received into {a}, {b}, {c} and {d} bytes: as many are needed")
            }
            Self::OtherKind => f.write_str("the recorded engine was for another kind of controller"),
            Self::OtherFeatures { programs } => {
                let (recorded, this) = if *programs { ("with", "without") } else { ("without", "with") };
                write!(
                    f,
                    "the recorded engine was built {recorded} feature `programs`, this one {this}: build it alike"
                )
            }
            Self::Config(error) => write!(f, "the recorded configuration is refused: {error}"),
            Self::BadEntry { entry } => write!(f, "entry {entry} cannot be read"),
            Self::Diverged { entry, at, recorded, now } => {
                let micros = at.as_micros();
                write!(f, "entry {entry} ({micros} µs): recorded {recorded:?}, the engine now did {now:?}")
            }
        }
    }
}

impl core::error::Error for ReplayError {}

impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// Applies a recorded input to the engine, or loads a checkpoint. Returns `None` if the entry is of another kind,
    /// cannot be decoded, or does not fit into the receive window of its link.
    fn put_in(&mut self, entry: &Entry<'_>) -> Option<()> {
        match entry.kind {
            Kind::Checkpoint => self.load(entry.payload),
            Kind::Input => {
                self.handle(entry.at, postcard::from_bytes(entry.payload)?);
                Some(())
            }
            Kind::Received => {
                let mut payload = Loader::new(entry.payload);
                let (link, arrival, from): (LinkId, Instant, Option<SocketAddr>) = payload.take()?;
                let bytes = payload.rest();
                self.receive_window(link).get_mut(..bytes.len())?.copy_from_slice(bytes);
                match from {
                    Some(from) => self.commit_datagram(link, bytes.len(), from, arrival, entry.at),
                    None => self.commit(link, bytes.len(), arrival, entry.at),
                }
                Some(())
            }
            Kind::Waypoint => {
                let (last, waypoint) = postcard::from_bytes(entry.payload)?;
                // A waypoint that was rejected then is rejected again.
                let _ = self.feed(&waypoint, last, entry.at);
                Some(())
            }
            #[cfg(feature = "motions")]
            Kind::Forward => {
                let forward = postcard::from_bytes(entry.payload)?;
                let _ = self.forward(&forward, entry.at);
                Some(())
            }
            #[cfg(not(feature = "motions"))]
            Kind::Forward => None,
            Kind::Transmitted | Kind::Transition => None,
        }
    }

    /// Compares the engine's effect with the recorded one in `entry`, after `transitions` other transitions. If they
    /// differ, the error has both: the recorded effect and the one in this replay.
    fn compare(&mut self, entry: &Entry<'_>, transitions: usize) -> Result<(), [Option<Outcome>; 2]> {
        if entry.kind == Kind::Transition {
            let recorded = postcard::from_bytes(entry.payload);
            let now = self.events.transitions().get(transitions).copied();
            return if now == recorded { Ok(()) } else { Err([recorded, now].map(|t| t.map(Outcome::Transition))) };
        }
        match self.peer.next_made() {
            Some(now) if now == entry.payload => Ok(()),
            Some(now) => {
                let same = now.iter().zip(entry.payload).take_while(|(a, b)| a == b).count();
                Err([text_from(entry.payload, same), text_from(now, same)])
            }
            None => Err([text_from(entry.payload, 0), None]),
        }
    }

    /// Returns an effect of the last input that the recording has no entry for: a transition after the first
    /// `transitions`, or a text.
    fn left_over(&mut self, transitions: usize) -> Option<Outcome> {
        let transition = self.events.transitions().get(transitions).copied().map(Outcome::Transition);
        transition.or_else(|| self.peer.next_made().and_then(|text| text_from(text, 0)))
    }
}

/// Returns the part of `dump` between its first bytes and its end mark.
fn body(dump: &[u8]) -> Result<&[u8], ReplayError> {
    let ([name @ .., found], rest) = dump.split_first_chunk::<10>().ok_or(ReplayError::NoDump)?;
    let [ours @ .., expected] = MAGIC;
    if name != ours {
        return Err(ReplayError::NoDump);
    }
    if found != expected {
        return Err(ReplayError::OtherFormat(*found));
    }
    let (body, mark) = rest.split_last_chunk().ok_or(ReplayError::CutOff)?;
    let length = MAGIC.len().saturating_add(body.len());
    if *mark == dump_end(length) { Ok(body) } else { Err(ReplayError::CutOff) }
}

fn text_from(text: &[u8], at: usize) -> Option<Outcome> {
    let rest = Text::from_bytes(text.get(at..).unwrap_or_default());
    Some(Outcome::Text { at: u16::try_from(at).unwrap_or(u16::MAX), rest })
}

/// The header of a recording's dump without its first bytes, and the entries after it.
struct Header<'d> {
    kind: u8,
    sizes: MemorySizes,
    config: &'d [u8],
    entries: &'d [u8],
}

impl<'d> Header<'d> {
    fn read(dump: &'d [u8]) -> Result<Self, ReplayError> {
        let mut body = Loader::new(body(dump)?);
        let (kind, sizes) = body.take().ok_or(ReplayError::NoDump)?;
        let (length, rest) = body.rest().split_first_chunk().ok_or(ReplayError::NoDump)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (config, entries) = rest.split_at_checked(length).ok_or(ReplayError::NoDump)?;
        Ok(Self { kind, sizes, config, entries })
    }

    fn config<const N: usize, P: Controller<N>>(&self) -> Result<Config<N, P::Options>, ReplayError> {
        if self.kind & !PROGRAMS != P::Options::KIND {
            return Err(ReplayError::OtherKind);
        }
        if self.kind & PROGRAMS != WITH_PROGRAMS {
            return Err(ReplayError::OtherFeatures { programs: self.kind & PROGRAMS != 0 });
        }
        postcard::from_bytes(self.config).ok_or(ReplayError::NoDump)
    }
}

/// Returns the changes of the mode in the recording `dump`, in order, as they were recorded; none if the bytes are not
/// a complete dump.
pub fn recorded_transitions(dump: &[u8]) -> impl Iterator<Item = Transition> + '_ {
    let recorded = Header::read(dump).map_or(&[][..], |header| header.entries);
    let transitions = entries(recorded).filter(|entry| entry.kind == Kind::Transition);
    transitions.filter_map(|entry| postcard::from_bytes(entry.payload))
}

/// Replays the recording `dump` with a new engine, in `memory` at least as large as the recorded engine's. `law` is any
/// control law of the recorded kind; its state is in the dump.
///
/// # Errors
/// See [`ReplayError`].
pub fn replay<const N: usize, P: Controller<N>, L: Law<N>>(
    dump: &[u8],
    law: L,
    memory: P::Memory,
) -> Result<Replayed, ReplayError> {
    replay_watched::<N, P, L>(dump, law, memory, |_, _, _| {})
}

/// Replays `dump` like [`replay`]. After each input, `watch` is called with the engine, the time of the input and each
/// event that it caused, and then once more with `None`.
///
/// # Errors
/// See [`ReplayError`].
pub fn replay_watched<const N: usize, P: Controller<N>, L: Law<N>>(
    dump: &[u8],
    law: L,
    memory: P::Memory,
    mut watch: impl FnMut(&Engine<'_, N, P, L>, Instant, Option<Event<P::Event>>),
) -> Result<Replayed, ReplayError> {
    let header = Header::read(dump)?;
    let mut engine = in_memory::<N, P, L>(header.sizes, header.config::<N, P>()?, law, memory)?;

    let mut replayed = Replayed::default();
    let mut recorded = (0_u32..).zip(entries(header.entries)).peekable();
    while let Some((number, entry)) = recorded.next() {
        engine.put_in(&entry).ok_or(ReplayError::BadEntry { entry: number })?;
        if replayed.inputs == 0 && replayed.from == Instant::ZERO {
            replayed.from = entry.at;
        }
        replayed.to = entry.at;
        if entry.kind == Kind::Checkpoint {
            continue;
        }
        replayed.inputs = replayed.inputs.saturating_add(1);
        let at = entry.at;
        let mut transitions = 0_usize;
        let is_outcome = |entry: &Entry<'_>| matches!(entry.kind, Kind::Transition | Kind::Transmitted);
        while let Some((entry, before)) = recorded.next_if(|(_, next)| is_outcome(next)) {
            let compared = engine.compare(&before, transitions);
            compared.map_err(|[recorded, now]| ReplayError::Diverged { entry, at, recorded, now })?;
            if before.kind == Kind::Transition {
                transitions = transitions.saturating_add(1);
                replayed.transitions = replayed.transitions.saturating_add(1);
            } else {
                replayed.texts = replayed.texts.saturating_add(1);
            }
        }
        let left_over = engine.left_over(transitions);
        // At the end of a half, the effects of the last input may not have been written.
        let complete = recorded.peek().is_some_and(|(_, next)| next.kind != Kind::Checkpoint);
        if left_over.is_some() && complete {
            let entry = number.saturating_add(1);
            return Err(ReplayError::Diverged { entry, at, recorded: None, now: left_over });
        }
        while let Some(event) = engine.poll_event() {
            watch(&engine, at, Some(event));
        }
        watch(&engine, at, None);
    }
    if replayed.inputs == 0 {
        return Err(ReplayError::NoDump);
    }
    Ok(replayed)
}

/// Creates an engine whose links receive into exactly `sizes` bytes of `memory`, as those of the first engine did: the
/// size decides how many bytes are read at a time.
pub(super) fn in_memory<'m, const N: usize, P: Controller<N>, L: Law<N>>(
    sizes: MemorySizes,
    config: Config<N, P::Options>,
    law: L,
    memory: P::Memory,
) -> Result<Engine<'m, N, P, L>, ReplayError> {
    let memory = P::exactly(memory, sizes).ok_or(ReplayError::Memory { expected: sizes })?;
    Engine::new(config, law, memory).map_err(ReplayError::Config)
}
