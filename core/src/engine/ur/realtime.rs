//! The real-time link (30003): takes bytes, returns states, and identifies the controller by the stream.

use super::identity::oldest_software;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use outrigger_wire::WireError;
use outrigger_wire::frame::{Assembler, Found, FrameError, Framing, Probe, StreamCounts, count_one};
use outrigger_wire::realtime::Packet;
use outrigger_wire::robot::{Generation, SoftwareVersion, State};
use outrigger_wire::time::Duration;

/// The number of consecutive packets, of one size and with a running clock, after which the stream is identified.
const PACKETS_TO_KNOW: u32 = 6;

/// An item received on the real-time link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RealtimeEvent<'s> {
    /// A state of the arm, in the order of sending.
    State(&'s State<6>),
    /// The received bytes are not a sequence of packets, or are one again after a search.
    Frame(FrameError),
    /// A packet that cannot be used, for this reason.
    Malformed(WireError),
}

/// The intake of packets of 30003, and the findings about the controller.
#[derive(Debug)]
pub(super) struct Realtime<'m> {
    assembler: Assembler<'m>,
    probe: Probe,
    known: Stream,
    counts: StreamCounts,
}

/// The size and the clock step of the real-time packets, from which the controller is identified.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Stream {
    size: usize,
    last_micros: u64,
    /// The smallest step of the controller's clock between packets \[µs\].
    step: u64,
    packets: u32,
}

impl Stream {
    fn observe(&mut self, size: usize, micros: u64) {
        if size == self.size && micros == self.last_micros && self.packets > 0 {
            // Sent more often than the clock steps; the stream is valid all the same.
            return;
        }
        let step = micros.saturating_sub(self.last_micros);
        if size != self.size || step == 0 || self.packets == 0 {
            *self = Self { size, last_micros: micros, step: u64::MAX, packets: 1 };
            return;
        }
        self.last_micros = micros;
        self.step = self.step.min(step);
        self.packets = self.packets.saturating_add(1);
    }

    /// Returns the period of the controller's packets. The smallest step of its clock is nearest to it: packets may be
    /// missing, never doubled.
    fn period(&self) -> Option<Duration> {
        let [slow, fast] = [Generation::Cb3, Generation::ESeries].map(Generation::period_micros);
        let period = if self.step < slow.midpoint(fast) { fast } else { slow };
        (self.packets >= PACKETS_TO_KNOW).then_some(Duration::from_micros(period))
    }
}

impl<'m> Realtime<'m> {
    /// Creates the intake of the real-time link; `None` if `memory` is too short.
    pub(super) fn new(memory: &'m mut [u8]) -> Option<Self> {
        let assembler = Assembler::new(Framing::Realtime, memory).ok()?;
        let (probe, known) = (Probe::default(), Stream::default());
        Some(Self { assembler, probe, known, counts: StreamCounts::default() })
    }

    /// Prepares the intake for a new connection of the real-time link.
    pub(super) fn reset(&mut self) {
        self.assembler.reset();
        self.probe = Probe::default();
        self.known = Stream::default();
        self.counts = StreamCounts::default();
    }

    pub(super) fn window(&mut self) -> &mut [u8] {
        self.assembler.window()
    }

    /// Takes the `count` bytes in the window and calls `heard` for each item that they complete.
    pub(super) fn commit(&mut self, count: usize, mut heard: impl FnMut(RealtimeEvent<'_>)) {
        if let Some(bytes) = self.assembler.window().get(..count) {
            self.probe.take(bytes);
        }
        self.assembler.commit(count);
        while let Some(frame) = self.assembler.next_frame() {
            let bytes = match frame {
                Ok(bytes) => bytes,
                Err(error) => {
                    match error {
                        FrameError::Oversize { .. } => count_one(&mut self.counts.oversize),
                        FrameError::LostSync { .. } => count_one(&mut self.counts.lost_sync),
                        FrameError::Resynchronised { .. } => {}
                    }
                    heard(RealtimeEvent::Frame(error));
                    continue;
                }
            };
            match Packet::new_checked(bytes).and_then(|packet| packet.to_state()) {
                Ok(state) => {
                    self.known.observe(bytes.len(), state.controller_time.as_micros());
                    self.counts.messages = self.counts.messages.saturating_add(1);
                    heard(RealtimeEvent::State(&state));
                }
                Err(error) => {
                    count_one(&mut self.counts.malformed);
                    heard(RealtimeEvent::Malformed(error));
                }
            }
        }
    }

    /// Returns the packet size \[B\], the period, and the oldest software that sends such packets; `None` before enough
    /// of them have arrived.
    pub(super) fn known(&self) -> Option<(u16, Duration, SoftwareVersion)> {
        let period = self.known.period()?;
        let software = oldest_software(self.known.size, period)?;
        Some((u16::try_from(self.known.size).ok()?, period, software))
    }

    /// Returns the service that answers on the connection, found in its first bytes; `None` if it is the expected
    /// real-time interface or not known.
    pub(super) fn wrong_service(&self) -> Option<Found> {
        self.probe.instead_of_realtime()
    }

    /// Returns the number of bytes that were skipped on this connection.
    pub(super) const fn dropped(&self) -> u64 {
        self.assembler.dropped()
    }

    /// Returns the size of the memory that the real-time link receives into \[B\].
    #[cfg(feature = "record")]
    pub(super) const fn memory_size(&self) -> usize {
        self.assembler.memory_size()
    }

    pub(super) const fn counts(&self) -> &StreamCounts {
        &self.counts
    }

    /// Returns the bytes received into the window, before they are committed.
    #[cfg(feature = "record")]
    pub(super) fn received(&mut self, count: usize) -> &[u8] {
        self.assembler.window().get(..count).unwrap_or_default()
    }

    #[cfg(feature = "record")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        let Self { assembler, probe, known, counts } = self;
        to.put(&assembler.pending())?;
        to.put(&(probe, known, counts))
    }

    #[cfg(feature = "record")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.assembler.restore(&from.take()?)?;
        (self.probe, self.known, self.counts) = from.take()?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the period that is found from packets of one size, with the clock at these times \[µs\].
    fn period(micros: impl Iterator<Item = u64>) -> Option<u64> {
        let mut stream = Stream::default();
        micros.for_each(|micros| stream.observe(1220, micros));
        stream.period().map(Duration::as_micros)
    }

    #[test]
    fn a_stream_that_repeats_each_state_is_known_by_its_clock() {
        // 5 kHz, of a controller whose clock steps at 500 Hz; then one whose clock also steps at 5 kHz.
        assert_eq!(period((0..100).map(|n| n / 10 * 2_000)), Some(2_000));
        assert_eq!(period((0..100).map(|n| n * 200)), Some(2_000));
        assert_eq!(period((0..100).map(|n| n / 3 * 8_000)), Some(8_000));
        assert_eq!(period((0..100).map(|_| 8_000)), None, "a clock that stands");
        assert_eq!(period((0..100).map(|n| 1_000_000 - n * 2_000)), None, "or runs backwards");
    }
}
