//! Recording what goes into an engine and what comes out, and running it again.
//!
//! A *dump* is a [header](Engine::dump_header) with the configuration and the sizes of the receive memory, which
//! decide what is read at a time, then the two [halves](crate::recorder::Recorder::halves) of the recorder, and an
//! [end mark](Engine::dump_end), without which it is not whole. [`replay`] runs the engine again from the first
//! checkpoint: every input, in order, must give the same transitions and the same texts.

use core::net::SocketAddr;

use super::Engine;
use super::config::{Config, ConfigError, Options as _};
use super::event::Event;
use super::io::{Input, LinkId};
use super::keep::{Keeper, KeptFallback};
use super::peer::{MemorySizes, Peer, Received};
#[cfg(feature = "forward")]
use crate::law::Forward;
use crate::law::Law;
use crate::mode::Transition;
use crate::packed;
use crate::recorder::{Entry, Kind, Loader, Recorder, Saver, entries};
use crate::robot::Text;
use crate::time::{Duration, Instant};
use crate::trajectory::Waypoint;

/// What every dump begins with; the last byte counts the formats.
const MAGIC: &[u8; 10] = b"OUTRIGGER\x0d";

/// What every dump ends with; the length of everything before it follows, little-endian.
const END_MAGIC: &[u8; 8] = b"WHOLE\x0d\x0a\x00";

/// In the kind of a dump: its engine has feature `reverse`, and a checkpoint more in it.
const REVERSE: u8 = 0x80;
const WITH_REVERSE: u8 = if cfg!(feature = "reverse") { REVERSE } else { 0 };

/// Length of the end mark of a dump \[B\].
pub const DUMP_END_LEN: usize = END_MAGIC.len() + 4;

/// Room kept for what one input makes, beside its own payload: transitions, one text that moves, one that sets outputs.
const ROOM_FOR_OUTCOMES: usize = 1280;
/// Entries that one input makes at most: itself, its transitions, its texts.
const ENTRIES_OF_ONE_INPUT: usize = 11;

/// Something an input made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The mode changed.
    Transition(Transition),
    /// A text went out.
    Text {
        /// Offset of the first byte that differs \[B\].
        at: u16,
        /// The text from there.
        rest: Text<40>,
    },
}

/// What a replay ran through without finding a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Inputs, received bytes among them.
    pub inputs: u32,
    /// Transitions, each the same.
    pub transitions: u32,
    /// Texts, each the same to the byte.
    pub texts: u32,
    /// When the first entry was recorded.
    pub from: Instant,
    /// When the last one was.
    pub to: Instant,
}

/// Why a dump was not replayed to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplayError {
    /// The bytes are no dump.
    NoDump,
    /// A dump of another format: this one.
    OtherFormat(u8),
    /// A dump of which the end is missing, or something in between.
    CutOff,
    /// The recorded configuration is refused by this version of the engine.
    Config(ConfigError),
    /// The memory handed in is smaller than the recorded engine's.
    Memory {
        /// What that had for each link \[B\]; 0 where it was not used.
        expected: MemorySizes,
    },
    /// The dump is of an engine beside another kind of controller.
    OtherKind,
    /// The dump is of an engine built with feature `reverse` and this one is without it, or the other way round: what a
    /// checkpoint holds is different then.
    OtherFeatures {
        /// The recorded engine had it.
        reverse: bool,
    },
    /// Entry number `entry`, from 0, cannot be read; a checkpoint also where its law is of another kind.
    BadEntry {
        /// Its number.
        entry: u32,
    },
    /// The engine did something else than it did then.
    Diverged {
        /// Number of the entry, from 0, where the difference shows.
        entry: u32,
        /// When the input before it was recorded.
        at: Instant,
        /// What was recorded.
        recorded: Option<Outcome>,
        /// What the engine did now.
        now: Option<Outcome>,
    },
}

impl core::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoDump => f.write_str("these bytes are no dump"),
            Self::OtherFormat(found) => {
                let [.., expected] = MAGIC;
                write!(f, "a dump of format {found}, and this version reads format {expected}")
            }
            Self::CutOff => {
                f.write_str("it is not whole: its end is missing, as after a full disk or a copy that broke off")
            }
            Self::Memory { expected: [a, b, c, d] } => {
                write!(f, "the recorded engine received into {a}, {b}, {c} and {d} bytes: as many are needed")
            }
            Self::OtherKind => f.write_str("the recorded engine stood beside another kind of controller"),
            Self::OtherFeatures { reverse } => {
                let (recorded, this) = if *reverse { ("with", "without") } else { ("without", "with") };
                write!(
                    f,
                    "the recorded engine was built {recorded} feature `reverse`, this one {this}: build this one alike"
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

impl<'m, const N: usize, P: Peer<N>, L: Law<N>> Engine<'m, N, P, L> {
    /// Records in `memory` from now on: to be called before the first input. From 64 KiB on it is of use; a second of a
    /// 500 Hz stream takes 0.7 MiB.
    #[must_use]
    pub fn with_recorder(mut self, memory: &'m mut [u8]) -> Self {
        self.recorder = Recorder::new(memory);
        self
    }

    /// After each fallback nothing more is recorded for `hold`, from when the arm is at rest again or the memory full: what
    /// led to it stays as it is, and a slow port can send it. Fallbacks in that time are not recorded. Without this,
    /// recording never pauses.
    #[must_use]
    pub fn keeping_fallbacks(mut self, hold: Duration) -> Self {
        self.keeper = Keeper::new(hold);
        self
    }

    /// The fallback whose recording is complete and stays as it is for now.
    #[must_use]
    pub fn kept_fallback(&self) -> Option<KeptFallback> {
        self.keeper.kept()
    }

    /// The recorder.
    #[must_use]
    pub const fn recorder(&self) -> &Recorder<'m> {
        &self.recorder
    }

    /// Writes the beginning of a dump to `out` and returns its length; `None` where `out` is too small (1 KiB is
    /// enough). The recorder's two halves follow it, and then [`dump_end`](Self::dump_end).
    #[must_use]
    pub fn dump_header(&self, out: &mut [u8]) -> Option<usize> {
        let mut header = Saver::new(out);
        header.put_with(|room| {
            room.get_mut(..MAGIC.len())?.copy_from_slice(MAGIC);
            Some(MAGIC.len())
        })?;
        header.put(&(P::Options::KIND | WITH_REVERSE, self.peer.memory_sizes()))?;
        header.put_with(|room| {
            let (length, room) = room.split_first_chunk_mut()?;
            let config = packed::to_slice(self.config(), room)?.len();
            *length = u32::try_from(config).ok()?.to_le_bytes();
            config.checked_add(length.len())
        })?;
        Some(header.written())
    }

    /// The end mark of a dump whose header has `header` bytes.
    #[must_use]
    pub fn dump_end(&self, header: usize) -> [u8; DUMP_END_LEN] {
        let length = self.recorder.halves().iter().fold(header, |length, half| length.saturating_add(half.len()));
        dump_end(length)
    }

    /// Before an input is looked at: makes room, and writes the input down.
    pub(super) fn record_input(&mut self, now: Instant, input: &Input) {
        if !self.make_room(now, 128) {
            return;
        }
        let mut bytes = [0; 128];
        if let Some(bytes) = packed::to_slice(input, &mut bytes) {
            self.recorder.append(Kind::Input, now, &[bytes]);
        }
    }

    /// Before received bytes are looked at.
    pub(super) fn record_received(&mut self, now: Instant, received: &Received) {
        let Received { link, count, from, arrival } = *received;
        if !self.make_room(now, count.saturating_add(64)) {
            return;
        }
        let mut head = [0; 64];
        let Some(head) = packed::to_slice(&(link, arrival, from), &mut head) else { return };
        self.recorder.append(Kind::Received, now, &[head, self.peer.received(link, count)]);
    }

    /// Before a waypoint is looked at.
    pub(super) fn record_waypoint(&mut self, now: Instant, waypoint: &Waypoint<N>, last: bool) {
        let mut bytes = [0; 160];
        if self.make_room(now, bytes.len())
            && let Some(bytes) = packed::to_slice(&(last, waypoint), &mut bytes)
        {
            self.recorder.append(Kind::Waypoint, now, &[bytes]);
        }
    }

    /// Before a command of a stream is looked at.
    #[cfg(feature = "forward")]
    pub(super) fn record_forward(&mut self, now: Instant, forward: &Forward<N>) {
        let mut bytes = [0; 64];
        if self.make_room(now, bytes.len())
            && let Some(bytes) = packed::to_slice(forward, &mut bytes)
        {
            self.recorder.append(Kind::Forward, now, &[bytes]);
        }
    }

    /// After an input: what came of it.
    pub(super) fn record_outcomes(&mut self, now: Instant) {
        if !self.recorder.is_enabled() {
            return;
        }
        if self.keeper.kept().is_none() {
            self.append_outcomes(now);
        }
        self.keeper.observe(self.events.transitions(), self.cycle.mode().mode(), now);
    }

    fn append_outcomes(&mut self, now: Instant) {
        for transition in self.events.transitions() {
            let mut bytes = [0; 32];
            if let Some(bytes) = packed::to_slice(transition, &mut bytes) {
                self.recorder.append(Kind::Transition, now, &[bytes]);
            }
        }
        for bytes in self.peer.made().into_iter().filter(|bytes| !bytes.is_empty()) {
            self.recorder.append(Kind::Transmitted, now, &[bytes]);
        }
    }

    /// Whether there is any: not while what is there is to be kept.
    fn make_room(&mut self, now: Instant, payload: usize) -> bool {
        if !self.recorder.is_enabled() {
            return false;
        }
        if self.keeper.pauses(now) {
            // What is missed meanwhile, the next checkpoint knows.
            self.changed = true;
            return false;
        }
        let first = self.recorder.entries().next().is_none();
        let full = !self.recorder.has_room(ENTRIES_OF_ONE_INPUT, payload.saturating_add(ROOM_FOR_OUTCOMES));
        if full && self.keeper.is_full(now) {
            self.changed = true;
            return false;
        }
        if !(first || full || core::mem::take(&mut self.changed)) {
            return true;
        }
        // Taken out and put back, because the checkpoint is of everything else.
        let mut recorder = core::mem::replace(&mut self.recorder, Recorder::new(&mut []));
        let save = |room: &mut [u8]| self.save(room);
        if full || !recorder.append_with(Kind::Checkpoint, now, save) {
            recorder.turn_over(now, save);
        }
        self.recorder = recorder;
        true
    }

    /// Everything that decides what follows, except the configuration.
    pub(super) fn save(&self, room: &mut [u8]) -> Option<usize> {
        let mut to = Saver::new(room);
        to.put(&(&self.lifecycle, &self.due))?;
        self.peer.save(&mut to)?;
        self.cycle.save(&mut to)?;
        Some(to.written())
    }

    pub(super) fn load(&mut self, bytes: &[u8]) -> Option<()> {
        let mut from = Loader::new(bytes);
        (self.lifecycle, self.due) = from.take()?;
        self.peer.load(&mut from, &self.config)?;
        self.cycle.load(&mut from)?;
        self.answers = None;
        Some(())
    }

    /// Puts a recorded input in again. `None` where the entry is none, or does not fit.
    fn put_in(&mut self, entry: &Entry<'_>) -> Option<()> {
        match entry.kind {
            Kind::Checkpoint => self.load(entry.payload),
            Kind::Input => {
                self.handle(entry.at, packed::from_bytes(entry.payload)?);
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
                let (last, waypoint) = packed::from_bytes(entry.payload)?;
                // What was refused then is refused again.
                let _ = self.feed(&waypoint, last, entry.at);
                Some(())
            }
            #[cfg(feature = "forward")]
            Kind::Forward => {
                let forward = packed::from_bytes(entry.payload)?;
                let _ = self.forward(&forward, entry.at);
                Some(())
            }
            #[cfg(not(feature = "forward"))]
            Kind::Forward => None,
            Kind::Transmitted | Kind::Transition => None,
        }
    }

    /// Whether the engine does now what `entry` says it did, after `transitions` other transitions: what each of them
    /// has, where not.
    fn compare(&mut self, entry: &Entry<'_>, transitions: usize) -> Result<(), [Option<Outcome>; 2]> {
        if entry.kind == Kind::Transition {
            let recorded = packed::from_bytes(entry.payload);
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

    /// Something the last input made beside what was compared: `transitions` transitions, and every text.
    fn left_over(&mut self, transitions: usize) -> Option<Outcome> {
        let transition = self.events.transitions().get(transitions).copied().map(Outcome::Transition);
        transition.or_else(|| self.peer.next_made().and_then(|text| text_from(text, 0)))
    }
}

/// The end mark of a dump that has `length` bytes before it: of one that is put together from what a recorder had.
#[must_use]
pub fn dump_end(length: usize) -> [u8; DUMP_END_LEN] {
    let mut mark = [0; DUMP_END_LEN];
    if let Some((magic, count)) = mark.split_first_chunk_mut() {
        *magic = *END_MAGIC;
        count.copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    mark
}

/// What is between the first bytes of `dump` and its end mark.
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

/// What a dump begins with, behind its magic, and the entries.
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

    fn config<const N: usize, P: Peer<N>>(&self) -> Result<Config<N, P::Options>, ReplayError> {
        if self.kind & !REVERSE != P::Options::KIND {
            return Err(ReplayError::OtherKind);
        }
        if self.kind & REVERSE != WITH_REVERSE {
            return Err(ReplayError::OtherFeatures { reverse: self.kind & REVERSE != 0 });
        }
        packed::from_bytes(self.config).ok_or(ReplayError::NoDump)
    }
}

/// The transitions in `dump`, in order, as they were recorded; none for bytes that are no whole dump.
pub fn recorded_transitions(dump: &[u8]) -> impl Iterator<Item = Transition> + '_ {
    let recorded = Header::read(dump).map_or(&[][..], |header| header.entries);
    let transitions = entries(recorded).filter(|entry| entry.kind == Kind::Transition);
    transitions.filter_map(|entry| packed::from_bytes(entry.payload))
}

/// Runs the engine again through everything in `dump`, in `memory` at least as large as the recorded engine's. `law`
/// is any law of the recorded kind: what it was is in the dump.
///
/// # Errors
/// See [`ReplayError`].
pub fn replay<const N: usize, P: Peer<N>, L: Law<N>>(
    dump: &[u8],
    law: L,
    memory: P::Memory,
) -> Result<Replayed, ReplayError> {
    replay_watched::<N, P, L>(dump, law, memory, |_, _, _| {})
}

/// The same, and `watch` is shown the engine after each input, when that was, and what it reported.
///
/// # Errors
/// See [`ReplayError`].
pub fn replay_watched<const N: usize, P: Peer<N>, L: Law<N>>(
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
        // At the end of a half, what the last input made may not have been written any more.
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

/// A new engine that receives into exactly `sizes` of `memory`, which decide what is read at a time.
pub(super) fn in_memory<'m, const N: usize, P: Peer<N>, L: Law<N>>(
    sizes: MemorySizes,
    config: Config<N, P::Options>,
    law: L,
    memory: P::Memory,
) -> Result<Engine<'m, N, P, L>, ReplayError> {
    let memory = P::exactly(memory, sizes).ok_or(ReplayError::Memory { expected: sizes })?;
    Engine::new(config, law, memory).map_err(ReplayError::Config)
}
