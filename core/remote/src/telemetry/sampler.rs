//! The conversion of an engine's state to datagrams: data is copied when due, and encoded when a datagram is requested.

use heapless::Deque;

use super::message::{
    Boot, CHUNK_MAX, Chunk, Hello, HistogramKind, HistogramReport, LinkActivity, Message, Motion, NetworkCounts,
    PortReport, Recording, Status, as_many_as_fit,
};
use super::{DATAGRAM_MAX, Datagram};
use outrigger_core::command::SourceMonitor;
use outrigger_core::engine::{Controller, ControllerKind, DUMP_END_LEN, Engine, Event, LinkId, dump_end};
use outrigger_core::law::Law;
use outrigger_core::link::Histograms;
use outrigger_core::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

/// The most events of the engine that may wait to be sent; an end of commanding after a fault causes fewer.
const EVENTS: usize = 16;

const _: () = assert!(CHUNK_MAX + 128 <= DATAGRAM_MAX, "a chunk fits with everything around it");

/// The identity and settings of the device that sends telemetry.
#[derive(Clone, Copy, Debug)]
pub struct Device<'s> {
    /// The name of the device's board.
    pub board: &'s str,
    /// The build of the board's firmware.
    pub build: &'s str,
    /// A number that differs after each start of the device.
    pub boot: u32,
    /// The encoded settings in force on the device; empty if there are none.
    pub settings: &'s [u8],
}

/// The times between telemetry messages of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time between two datagrams of [`Status`], and of [`Motion`].
    pub repeat: Duration,
    /// The time between two datagrams of each of [`Hello`], [`PortReport`], [`Boot`] and [`HistogramReport`].
    pub slow: Duration,
    /// The time between two transmissions of the complete settings.
    pub settings: Duration,
    /// The least time between two parts of a recording or of the settings, and between two events.
    pub gap: Duration,
    /// The number of times that a recording is sent, so that parts lost on the network arrive in a later repetition.
    pub passes: u8,
    /// The time between two later transmissions of an earlier run's recording, after the first `passes`: for listeners
    /// that connect later.
    pub again: Duration,
}

impl Pace {
    /// Returns the default times between messages, with `repeat` as the time between two datagrams of [`Status`] and of
    /// [`Motion`].
    #[must_use]
    pub fn every(repeat: Duration) -> Self {
        Self { repeat, ..Self::default() }
    }

    /// Returns how long a recorder of `memory` bytes has to [keep](Engine::keeping_fallbacks) the recording of a
    /// fallback (an end of commanding after a fault) so that it can be sent as many times as configured, if the engine
    /// is called at least every 8 ms, or once per [`gap`](Self::gap) if that is longer.
    #[must_use]
    pub fn recording_time(&self, memory: usize) -> Duration {
        let pieces = memory.div_ceil(CHUNK_MAX).saturating_add(3);
        let pieces = u64::try_from(pieces).unwrap_or(u64::MAX).saturating_mul(u64::from(self.passes));
        // Twice the time it takes, for an engine that is called every 8 ms, and a second more.
        self.gap.max(Duration::from_millis(8)).times(pieces.saturating_mul(2)) + Duration::from_secs(1)
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            repeat: Duration::from_millis(100),
            slow: Duration::from_secs(1),
            settings: Duration::from_secs(10),
            gap: Duration::from_millis(5),
            passes: 3,
            again: Duration::from_secs(30),
        }
    }
}

/// The source of a device's telemetry, which copies the engine's data when it is due to be sent. Occupies about 4 KiB.
#[derive(Debug)]
pub struct Sampler<'s, const N: usize, P: Controller<N>> {
    device: Device<'s>,
    pace: Pace,
    sequence: u32,
    /// The engine's events that wait to be sent, with their times; the newest `unstamped` ones have no time yet.
    events: Deque<(Instant, Event<P::Event>), EVENTS>,
    unstamped: usize,
    events_lost: u32,
    next_event: Instant,
    copied: Copied<N, P::Status>,
    copied_at: Instant,
    next_status: Instant,
    next_motion: Instant,
    next_histogram: Instant,
    histogram: HistogramKind,
    next_hello: Instant,
    port: PortReport<'s>,
    next_port: Instant,
    boot: Option<Boot<'s>>,
    next_boot: Instant,
    settings_at: usize,
    next_settings: Instant,
    transfer: Transfer,
    /// The progress in sending an earlier run's recording, which resets have left in memory.
    left_transfer: Transfer,
}

/// A telemetry message of a device with this kind of controller.
type OwnMessage<'s, const N: usize, P> = Message<'s, N, <P as ControllerKind>::Status, <P as ControllerKind>::Event>;

/// The data of the engine that was copied and waits to be encoded as telemetry: at most one item.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it, and no heap to put the large ones on")]
enum Copied<const N: usize, S> {
    Nothing,
    Status(Status<S>),
    Motion(Motion<N>),
    Histogram(HistogramReport),
    Recording(Piece),
}

/// A part of a recording that fits into one datagram.
#[derive(Debug)]
struct Piece {
    number: u32,
    reason: Option<Reason>,
    pass: u8,
    length: u32,
    offset: u32,
    used: usize,
    bytes: [u8; CHUNK_MAX],
}

/// The progress in sending a recording as telemetry.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    /// The number of the fallback, an end of commanding after a fault, whose recording is sent; 0 before the first, and for
    /// the recording of an earlier run.
    number: u32,
    pass: u8,
    /// The length of the recording's header \[B\].
    header: usize,
    /// The offset of the recording's next part to send \[B\].
    offset: usize,
    next: Instant,
}

impl Transfer {
    const NONE: Self = Self { number: 0, pass: 0, header: 0, offset: 0, next: Instant::ZERO };
}

impl<'s, const N: usize, P: Controller<N>> Sampler<'s, N, P> {
    /// Creates a telemetry sampler that has observed no engine and no event.
    #[must_use]
    pub const fn new(device: Device<'s>, pace: Pace) -> Self {
        let port = PortReport {
            sensors: outrigger_wire::sensor::Figures { readings: 0, refused: 0, garbage: 0 },
            strangers: 0,
            unsent: 0,
            troubles: [None; LinkId::MOST],
            sensor_faults: 0,
            network: NetworkCounts { bad: 0, unsent: 0, link_losses: 0, timeouts: 0, bus_errors: 0, restarts: 0 },
            stack_unused: None,
            frames: 0,
            interface_restarts: 0,
            activity: LinkActivity::Silence,
            brake_release: None,
        };
        Self {
            device,
            pace,
            sequence: 0,
            events: Deque::new(),
            unstamped: 0,
            events_lost: 0,
            next_event: Instant::ZERO,
            copied: Copied::Nothing,
            copied_at: Instant::ZERO,
            next_status: Instant::ZERO,
            next_motion: Instant::ZERO,
            next_histogram: Instant::ZERO,
            histogram: HistogramKind::Interval,
            next_hello: Instant::ZERO,
            port,
            next_port: Instant::ZERO,
            boot: None,
            next_boot: Instant::ZERO,
            settings_at: 0,
            next_settings: Instant::ZERO,
            transfer: Transfer::NONE,
            left_transfer: Transfer::NONE,
        }
    }

    /// Queues an event of the engine. [`observe`](Self::observe) must follow, which gives it its time.
    pub fn event(&mut self, event: Event<P::Event>) {
        if self.events.push_back((Instant::ZERO, event)).is_ok() {
            self.unstamped = self.unstamped.saturating_add(1);
        } else {
            self.events_lost = self.events_lost.saturating_add(1);
        }
    }

    /// Sets the counts and observations of the port, the program around the engine, that are sent from now on.
    pub const fn port(&mut self, report: PortReport<'s>) {
        self.port = report;
    }

    /// Sets the history of the device's start that is sent from now on.
    pub const fn boot(&mut self, boot: Boot<'s>) {
        self.boot = Some(boot);
    }

    /// Copies at most one item of the engine's data that is due to be sent, after an input at `now`, and gives queued
    /// events their time.
    pub fn observe<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant) {
        self.stamp(now);
        if !matches!(self.copied, Copied::Nothing) {
            return;
        }
        if now >= self.next_motion
            && let Some(motion) = motion(engine)
        {
            self.next_motion = now + self.pace.repeat;
            self.copied = Copied::Motion(motion);
        } else if now >= self.next_status {
            self.next_status = now + self.pace.repeat;
            self.copied = Copied::Status(status(engine, now, self.events_lost));
        } else if now >= self.next_histogram {
            self.next_histogram = now + self.pace.slow;
            self.copied = Copied::Histogram(self.next_histogram(engine.histograms()));
        } else if now >= self.transfer.next
            && let Some(piece) = self.next_piece(engine, now)
        {
            self.copied = Copied::Recording(piece);
        } else if now >= self.left_transfer.next {
            self.copied = self.next_left(engine, now).map_or(Copied::Nothing, Copied::Recording);
        }
        self.copied_at = now;
    }

    /// Sets the time of the engine's events that were queued since the last call.
    fn stamp(&mut self, now: Instant) {
        let stamped = self.events.len().saturating_sub(self.unstamped);
        self.events.iter_mut().skip(stamped).for_each(|(at, _)| *at = now);
        self.unstamped = 0;
    }

    /// Writes the next datagram to `out` ([`DATAGRAM_MAX`] is enough) and returns its length. Returns `None` if none is
    /// due: call it again after the next input, or after some milliseconds.
    pub fn poll(&mut self, now: Instant, out: &mut [u8]) -> Option<usize> {
        if let Some((at, message)) = self.next_of_its_own(now) {
            return self.encode(at, message, out);
        }
        let at = self.copied_at;
        match core::mem::replace(&mut self.copied, Copied::Nothing) {
            Copied::Status(status) => self.encode(at, Message::Status(status), out),
            Copied::Motion(motion) => self.encode(at, Message::Motion(motion), out),
            Copied::Histogram(report) => self.encode(at, Message::Histogram(report), out),
            Copied::Recording(Piece { number, reason, pass, length, offset, used, bytes }) => {
                let chunk = Chunk { length, offset, bytes: bytes.get(..used).unwrap_or_default() };
                self.encode(at, Message::Recording(Recording { number, reason, pass, chunk }), out)
            }
            Copied::Nothing => {
                let settings = self.next_settings(now)?;
                self.encode(now, Message::Settings(settings), out)
            }
        }
    }

    /// Returns the next message of those that need no data copied from the engine (event, hello, port, boot), with its
    /// time; `None` if none is due. These messages have priority.
    fn next_of_its_own(&mut self, now: Instant) -> Option<(Instant, OwnMessage<'s, N, P>)> {
        if let Some((at, event)) = self.next_event(now) {
            return Some((at, Message::Event(event)));
        }
        if now >= self.next_hello {
            self.next_hello = now + self.pace.slow;
            let Device { board, build, .. } = self.device;
            return Some((now, Message::Hello(Hello { board, build, version: env!("CARGO_PKG_VERSION") })));
        }
        if now >= self.next_port {
            self.next_port = now + self.pace.slow;
            return Some((now, Message::Port(self.port)));
        }
        let boot = self.boot.filter(|_| now >= self.next_boot)?;
        self.next_boot = now + self.pace.slow;
        Some((now, Message::Boot(boot)))
    }

    fn encode(&mut self, at: Instant, message: OwnMessage<'_, N, P>, out: &mut [u8]) -> Option<usize> {
        let datagram = Datagram { boot: self.device.boot, sequence: self.sequence, at, message };
        self.sequence = self.sequence.wrapping_add(1);
        datagram.encode(out)
    }

    /// Returns the oldest event that has a time, if its turn to be sent has come; otherwise `None`.
    fn next_event(&mut self, now: Instant) -> Option<(Instant, Event<P::Event>)> {
        if now < self.next_event || self.events.len() <= self.unstamped {
            return None;
        }
        self.next_event = now + self.pace.gap;
        self.events.pop_front()
    }

    fn next_settings(&mut self, now: Instant) -> Option<Chunk<'s>> {
        let settings = self.device.settings;
        if now < self.next_settings || settings.is_empty() {
            return None;
        }
        let (offset, rest) = (self.settings_at, settings.get(self.settings_at..)?);
        let bytes = rest.get(..CHUNK_MAX).unwrap_or(rest);
        let last = bytes.len() == rest.len();
        self.settings_at = if last { 0 } else { offset.saturating_add(bytes.len()) };
        self.next_settings = now + if last { self.pace.settings } else { self.pace.gap };
        Some(Chunk { length: u32::try_from(settings.len()).ok()?, offset: u32::try_from(offset).ok()?, bytes })
    }

    fn next_histogram(&mut self, histograms: &Histograms) -> HistogramReport {
        let kind = self.histogram;
        let (histogram, next) = match kind {
            HistogramKind::Interval => (&histograms.interval, HistogramKind::Age),
            HistogramKind::Age => (&histograms.age, HistogramKind::Turnaround),
            HistogramKind::Turnaround => (&histograms.turnaround, HistogramKind::Interval),
        };
        self.histogram = next;
        HistogramReport::of(kind, histogram)
    }

    /// Returns the next part to send of the recording of a fallback, an end of commanding after a fault, that the
    /// engine keeps; `None` if there is none, or it was sent as many times as configured.
    fn next_piece<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant) -> Option<Piece> {
        let kept = engine.kept_fallback()?;
        if kept.number != self.transfer.number {
            self.transfer = Transfer { number: kept.number, ..Transfer::NONE };
        }
        if self.transfer.pass >= self.pace.passes {
            return None;
        }
        let piece = self.transfer.piece(engine, engine.recorder().halves(), Some(kept.reason))?;
        self.transfer.next = now + self.pace.gap;
        Some(piece)
    }

    /// Returns the next part of an earlier run's recording, from the memory of the engine's recorder; `None` if there
    /// is none. Its number as a recording is 0.
    fn next_left<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant) -> Option<Piece> {
        let piece = self.left_transfer.piece(engine, engine.recorder().earlier()?, None)?;
        let waits = self.left_transfer.offset == 0 && self.left_transfer.pass >= self.pace.passes;
        self.left_transfer.next = now + if waits { self.pace.again } else { self.pace.gap };
        Some(piece)
    }
}

impl Transfer {
    /// Returns the next part of a recording to send: of its header, of the two halves of the recorder's memory, or of
    /// its end mark.
    fn piece<const N: usize, P: Controller<N>, L: Law<N>>(
        &mut self,
        engine: &Engine<'_, N, P, L>,
        [older, newer]: [&[u8]; 2],
        reason: Option<Reason>,
    ) -> Option<Piece> {
        let mut bytes = [0; CHUNK_MAX];
        let offset = self.offset;
        let used = if offset == 0 {
            self.header = engine.dump_header(&mut bytes)?;
            self.header
        } else {
            let at = offset.checked_sub(self.header)?;
            let end = dump_end(self.header.saturating_add(older.len()).saturating_add(newer.len()));
            let part = match at.checked_sub(older.len()) {
                None => older.get(at..)?,
                Some(at) => match at.checked_sub(newer.len()) {
                    None => newer.get(at..)?,
                    Some(at) => end.get(at..)?,
                },
            };
            let piece = part.get(..CHUNK_MAX).unwrap_or(part);
            bytes.get_mut(..piece.len())?.copy_from_slice(piece);
            piece.len()
        };
        let length = self.header.checked_add(older.len())?.checked_add(newer.len())?.checked_add(DUMP_END_LEN)?;
        let end = offset.saturating_add(used);
        let pass = self.pass;
        self.offset = if end < length { end } else { 0 };
        self.pass = if end < length { pass } else { pass.saturating_add(1) };
        let (length, offset) = (u32::try_from(length).ok()?, u32::try_from(offset).ok()?);
        Some(Piece { number: self.number, reason, pass, length, offset, used, bytes })
    }
}

fn motion<const N: usize, P: Controller<N>, L: Law<N>>(engine: &Engine<'_, N, P, L>) -> Option<Motion<N>> {
    let (state, monitors) = (engine.state()?, engine.sources().monitors());
    Some(Motion {
        controller_time: state.controller_time,
        positions: state.positions,
        velocities: state.velocities,
        target_velocities: state.target_velocities,
        approved: engine.approved(),
        commanded: engine.commanded(),
        tcp_pose: state.tcp_pose,
        speed_scaling: state.speed_scaling,
        digital_inputs: state.digital_inputs,
        samples: as_many_as_fit(monitors.iter().filter_map(|monitor| monitor.newest().copied())),
    })
}

fn status<const N: usize, P: Controller<N>, L: Law<N>>(
    engine: &Engine<'_, N, P, L>,
    now: Instant,
    events_lost: u32,
) -> Status<P::Status> {
    let machine = engine.mode_machine();
    Status {
        mode: machine.mode(),
        since: machine.entered(),
        epoch: machine.epoch(),
        latch: machine.latch(),
        reasons: machine.reasons(),
        unmet: engine.unmet(now),
        motion_unknown: machine.is_motion_unknown(),
        overrides_pendant: engine.overrides_pendant(),
        good_cycles: machine.good_cycles(),
        accepted_by: machine.accepted_by(),
        evidence: *engine.evidence(),
        link: engine.figures(now),
        sources: as_many_as_fit(engine.sources().monitors().iter().map(SourceMonitor::figures)),
        unknown_readings: engine.sources().unknown(),
        recorder_lost: engine.recorder().lost(),
        events_lost,
        peer: engine.peer().status(),
    }
}
