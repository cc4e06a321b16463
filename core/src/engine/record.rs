//! The recording of an engine's inputs and outputs.
//!
//! A *dump* consists of a [header](Engine::dump_header), the two [halves](crate::recorder::Recorder::halves) of the
//! recorder and an [end mark](Engine::dump_end), without which it is incomplete. The header has the configuration and
//! the sizes of the receive memory, which decide how many bytes are read at a time.

use super::Engine;
use super::config::Options as _;
use super::controller::{Controller, Received};
use super::io::Input;
use super::recording_pause::{Keeper, KeptFallback};
#[cfg(feature = "motions")]
use crate::law::Forward;
use crate::law::Law;
use crate::mode::Mode;
use crate::postcard;
use crate::recorder::{Kind, Loader, Recorder, Saver};
use crate::trajectory::Waypoint;
use outrigger_wire::time::{Duration, Instant};

/// The first bytes of every dump of a recording; the last one is the number of the format.
pub(super) const MAGIC: &[u8; 10] = b"OUTRIGGER\x14";

/// The first bytes of the end mark of a recording's dump; the length of everything before the mark follows,
/// little-endian.
const END_MAGIC: &[u8; 8] = b"WHOLE\x0d\x0a\x00";

/// A flag in the kind of controller in a dump's header: the recorded engine has the feature `programs`, so its
/// checkpoints contain more.
pub(super) const PROGRAMS: u8 = 0x80;
pub(super) const WITH_PROGRAMS: u8 = if cfg!(feature = "programs") { PROGRAMS } else { 0 };

/// The length of the end mark of a recording's dump \[B\].
pub const DUMP_END_LEN: usize = END_MAGIC.len() + 4;

/// The room reserved for the outcomes of one input \[B\], in addition to its payload: transitions, one motion text, one
/// text that sets outputs.
const ROOM_FOR_OUTCOMES: usize = 1280;
/// The maximum number of entries for one input: the input, its transitions and its texts.
const ENTRIES_OF_ONE_INPUT: usize = 11;

impl<'m, const N: usize, P: Controller<N>, L: Law<N>> Engine<'m, N, P, L> {
    /// Records in `memory` from now on. Call it before the first input. A useful size is 64 KiB or more; a second of a
    /// 500 Hz stream takes 0.7 MiB.
    #[must_use]
    pub fn with_recorder(mut self, memory: &'m mut [u8]) -> Self {
        self.recorder = Recorder::new(memory);
        self
    }

    /// Records in `memory`, which a reset has left unchanged. While it contains the [recording](Recorder::holding) of
    /// an earlier run, this is kept and can be sent, and nothing is recorded until arming begins; then it is
    /// overwritten.
    #[must_use]
    pub fn with_earlier_recording(mut self, memory: &'m mut [u8]) -> Self {
        self.recorder = Recorder::holding(memory);
        self
    }

    /// Pauses recording for `hold` after each fallback (an end of arming or commanding that no operator requested),
    /// from when the arm is at rest again or the memory full. The recording of the fallback stays unchanged meanwhile,
    /// and a slow port can send it. Fallbacks during the pause are not recorded. Without this call recording never
    /// pauses.
    #[must_use]
    pub fn keeping_fallbacks(mut self, hold: Duration) -> Self {
        self.keeper = Keeper::new(hold);
        self
    }

    /// Returns the fallback (an end of arming or commanding that no operator requested) whose recording is complete and is not
    /// overwritten at present; `None` while recording does not pause.
    #[must_use]
    pub fn kept_fallback(&self) -> Option<KeptFallback> {
        self.keeper.kept()
    }

    /// Returns the recorder of the engine's inputs and outcomes.
    #[must_use]
    pub const fn recorder(&self) -> &Recorder<'m> {
        &self.recorder
    }

    /// Writes the beginning of a dump to `out` and returns its length; `None` if `out` is too small (1 KiB is enough).
    /// The recorder's two halves follow it, and then [`dump_end`](Self::dump_end).
    #[must_use]
    pub fn dump_header(&self, out: &mut [u8]) -> Option<usize> {
        let mut header = Saver::new(out);
        header.put_with(|room| {
            room.get_mut(..MAGIC.len())?.copy_from_slice(MAGIC);
            Some(MAGIC.len())
        })?;
        header.put(&(P::Options::KIND | WITH_PROGRAMS, self.peer.memory_sizes()))?;
        header.put_with(|room| {
            let (length, room) = room.split_first_chunk_mut()?;
            let config = postcard::to_slice(self.config(), room)?.len();
            *length = u32::try_from(config).ok()?.to_le_bytes();
            config.checked_add(length.len())
        })?;
        Some(header.written())
    }

    /// Returns the end mark of a recording's dump whose header has `header` bytes.
    #[must_use]
    pub fn dump_end(&self, header: usize) -> [u8; DUMP_END_LEN] {
        let length = self.recorder.halves().iter().fold(header, |length, half| length.saturating_add(half.len()));
        dump_end(length)
    }

    /// Records an input, before it is handled: makes room and writes the input.
    pub(super) fn record_input(&mut self, now: Instant, input: &Input) {
        if !self.make_room(now, 128) {
            return;
        }
        let mut bytes = [0; 128];
        if let Some(bytes) = postcard::to_slice(input, &mut bytes) {
            self.recorder.append(Kind::Input, now, &[bytes]);
        }
    }

    /// Records bytes that a link received, before they are handled.
    pub(super) fn record_received(&mut self, now: Instant, received: &Received) {
        let Received { link, count, from, arrival } = *received;
        if !self.make_room(now, count.saturating_add(64)) {
            return;
        }
        let mut head = [0; 64];
        let Some(head) = postcard::to_slice(&(link, arrival, from), &mut head) else { return };
        self.recorder.append(Kind::Received, now, &[head, self.peer.received(link, count)]);
    }

    /// Records a waypoint that the application passes, before it is handled.
    pub(super) fn record_waypoint(&mut self, now: Instant, waypoint: &Waypoint<N>, last: bool) {
        let mut bytes = [0; 160];
        if self.make_room(now, bytes.len())
            && let Some(bytes) = postcard::to_slice(&(last, waypoint), &mut bytes)
        {
            self.recorder.append(Kind::Waypoint, now, &[bytes]);
        }
    }

    /// Records the speeds, positions or torques that the application passes to [`forward`](Self::forward), before they
    /// are handled.
    #[cfg(feature = "motions")]
    pub(super) fn record_forward(&mut self, now: Instant, forward: &Forward<N>) {
        let mut bytes = [0; 64];
        if self.make_room(now, bytes.len())
            && let Some(bytes) = postcard::to_slice(forward, &mut bytes)
        {
            self.recorder.append(Kind::Forward, now, &[bytes]);
        }
    }

    /// Records the outcomes that an input had (transitions between modes, bytes for the controller), after it is
    /// handled.
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
            if let Some(bytes) = postcard::to_slice(transition, &mut bytes) {
                self.recorder.append(Kind::Transition, now, &[bytes]);
            }
        }
        for bytes in self.peer.made().into_iter().filter(|bytes| !bytes.is_empty()) {
            self.recorder.append(Kind::Transmitted, now, &[bytes]);
        }
    }

    /// Makes room for an entry of the recording, and writes the checkpoint that is due before it. Returns `false` if
    /// nothing is recorded: without a recorder, or while the recording of a fallback (an end of arming or commanding
    /// that no operator requested) is kept.
    fn make_room(&mut self, now: Instant, payload: usize) -> bool {
        if !matches!(self.cycle.mode().mode(), Mode::Offline | Mode::Monitor) {
            self.recorder.begin();
        }
        if !self.recorder.is_enabled() {
            return false;
        }
        if self.keeper.pauses(now) {
            // The next checkpoint contains the effect of what is missing.
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
        // The recorder is taken out and put back, because the checkpoint covers everything else.
        let mut recorder = core::mem::replace(&mut self.recorder, Recorder::new(&mut []));
        let save = |room: &mut [u8]| self.save(room);
        if full || !recorder.append_with(Kind::Checkpoint, now, save) {
            recorder.turn_over(now, save);
        }
        self.recorder = recorder;
        true
    }

    /// Saves the state of the engine for a checkpoint, and returns its length \[B\]: all that decides its further behaviour,
    /// except the configuration. `None` if `room` is too small, or the law cannot be saved.
    pub(super) fn save(&self, room: &mut [u8]) -> Option<usize> {
        let mut to = Saver::new(room);
        to.put(&(&self.lifecycle, &self.due))?;
        self.peer.save(&mut to)?;
        self.cycle.save(&mut to)?;
        // The law is last, because only the law knows its length.
        self.law.save(&mut to)?;
        Some(to.written())
    }

    pub(super) fn load(&mut self, bytes: &[u8]) -> Option<()> {
        let mut from = Loader::new(bytes);
        (self.lifecycle, self.due) = from.take()?;
        let session = self.peer.load(&mut from, &self.config)?;
        self.cycle.load(&mut from, &session)?;
        self.law.load(&mut from)?;
        if !from.rest().is_empty() {
            return None;
        }
        self.answers = None;
        Some(())
    }
}

/// Returns the end mark of a dump with `length` bytes before it, for a dump that is assembled from the parts of a
/// recorder.
#[must_use]
pub fn dump_end(length: usize) -> [u8; DUMP_END_LEN] {
    let mut mark = [0; DUMP_END_LEN];
    if let Some((magic, count)) = mark.split_first_chunk_mut() {
        *magic = *END_MAGIC;
        count.copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    mark
}
