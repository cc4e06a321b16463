//! Times between arrivals, jitter and sliding means, in integers (`core/docs/protocol/kuka-fri.md C2`).

use outrigger_wire::time::{Duration, Instant, quotient};

/// The number of cycles covered by a sliding figure, as in FRI and libfranka.
pub const WINDOW: u32 = 100;

/// The mean of the last [`WINDOW`] measured durations.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SlidingMean {
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array_serde"))]
    ring: [u32; WINDOW as usize],
    next: usize,
    len: u32,
    sum: u64,
}

impl SlidingMean {
    pub(super) const fn new() -> Self {
        Self { ring: [0; WINDOW as usize], next: 0, len: 0, sum: 0 }
    }

    pub(super) fn push(&mut self, span: Duration) {
        let new = u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        if let Some(slot) = self.ring.get_mut(self.next) {
            // Unused slots hold 0, so the oldest can always be subtracted.
            self.sum = self.sum.saturating_sub(u64::from(*slot)).saturating_add(u64::from(new));
            *slot = new;
        }
        self.next = self.next.saturating_add(1);
        if self.next >= self.ring.len() {
            self.next = 0;
        }
        self.len = self.len.saturating_add(1).min(WINDOW);
    }

    pub(super) fn mean(&self) -> Option<Duration> {
        quotient(self.sum, u64::from(self.len)).map(Duration::from_micros)
    }
}

/// The share of good cycles (a state was received) among the last [`WINDOW`], one bit each.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SlidingShare {
    bits: u128,
    len: u32,
}

impl SlidingShare {
    const MASK: u128 = (1 << WINDOW) - 1;

    /// Adds `missing` cycles that were not good, then one cycle that is good if `good` is `true`.
    pub(super) fn push(&mut self, missing: u32, good: bool) {
        let steps = missing.saturating_add(1);
        self.bits = (self.bits.checked_shl(steps).unwrap_or(0) | u128::from(good)) & Self::MASK;
        self.len = self.len.saturating_add(steps).min(WINDOW);
    }

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    /// Returns the share of good cycles in parts of 10 000; `None` before the first cycle.
    pub(super) fn per_10_000(&self) -> Option<u16> {
        // Usually all bits are set. Counting them takes some eighty instructions on a processor without an instruction
        // for it.
        if self.bits == Self::MASK && self.len == WINDOW {
            return Some(10_000);
        }
        let parts = self.bits.count_ones().saturating_mul(10_000).checked_div(self.len)?;
        u16::try_from(parts).ok()
    }
}

/// The statistics of the times between accepted states of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct InterArrival {
    /// The number of measured intervals, one for each pair of successive states.
    pub count: u64,
    /// The shortest time between two states.
    pub min: Duration,
    /// The mean time between two states.
    pub mean: Duration,
    /// The longest time between two states.
    pub max: Duration,
    /// The number of intervals between two states that were longer than 1.5 periods.
    pub long: u64,
}

/// The accumulator from which [`InterArrival`] is computed.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Intervals {
    sum: u64,
    figures: InterArrival,
}

impl Intervals {
    pub(super) fn record(&mut self, span: Duration, period: Duration) {
        let f = &mut self.figures;
        f.min = if f.count == 0 { span } else { f.min.min(span) };
        f.max = f.max.max(span);
        f.count = f.count.saturating_add(1);
        f.long = f.long.saturating_add(u64::from(span > period.percent(150)));
        self.sum = self.sum.saturating_add(span.as_micros());
    }

    /// Returns the statistics of the times between states. The mean is computed here, to avoid a division in each
    /// cycle.
    pub(super) fn figures(&self) -> InterArrival {
        let mean = Duration::from_micros(quotient(self.sum, self.figures.count).unwrap_or(0));
        InterArrival { mean, ..self.figures }
    }
}

/// Jitter by RFC 3550 6.4.1 in 16ths of a µs, with S = counter × period in place of a time stamp.
///
/// A burst, states closer together than `burst`, counts once, by its newest: on a byte stream the older ones were
/// superseded before they could be answered.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Jitter {
    burst: Duration,
    /// The newest state before the present burst of states.
    settled: Option<Transit>,
    settled_j16: u64,
    newest: Option<Transit>,
    j16: u64,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Transit {
    arrival: Instant,
    /// The sum of the states' nominal periods since the first state \[µs\].
    sent: u64,
}

impl Jitter {
    pub(super) const fn new(burst: Duration) -> Self {
        Self { burst, settled: None, settled_j16: 0, newest: None, j16: 0 }
    }

    /// Processes a state that was sent `later` than the one before; returns |D|, the change of transit time since the
    /// previous burst of states; `None` if there was none.
    pub(super) fn observe(&mut self, arrival: Instant, later: Duration) -> Option<Duration> {
        let Some(newest) = self.newest else {
            self.newest = Some(Transit { arrival, sent: 0 });
            return None;
        };
        let sent = newest.sent.saturating_add(later.as_micros());
        if self.burst == Duration::ZERO || arrival.since(newest.arrival) >= self.burst {
            self.settled = self.newest;
            self.settled_j16 = self.j16;
        }
        self.newest = Some(Transit { arrival, sent });
        let settled = self.settled?;
        let d = arrival.since(settled.arrival).as_micros().abs_diff(sent.saturating_sub(settled.sent));
        let decay = self.settled_j16.saturating_add(8) >> 4;
        self.j16 = self.settled_j16.saturating_add(d).saturating_sub(decay);
        Some(Duration::from_micros(d))
    }

    pub(super) const fn jitter(&self) -> Duration {
        Duration::from_micros(self.j16 >> 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(8);

    fn jitter_of(burst: Duration, arrivals: impl Iterator<Item = u64>) -> u64 {
        let mut jitter = Jitter::new(burst);
        for at in arrivals {
            let _ = jitter.observe(Instant::from_micros(at), PERIOD);
        }
        jitter.jitter().as_micros()
    }

    #[test]
    fn a_constant_delay_is_no_jitter() {
        assert_eq!(jitter_of(Duration::ZERO, (0..500).map(|i| 2_400 + i * 8_000)), 0);
    }

    #[test]
    fn alternating_lateness_converges_to_twice_its_amplitude() {
        let x = 500;
        let jitter = jitter_of(Duration::ZERO, (1..500).map(|i| i * 8_000 + if i % 2 == 0 { x } else { 0 } * 2 - x));
        assert!(jitter.abs_diff(2 * x) <= 10, "{jitter}");
    }

    #[test]
    fn steady_pairs_are_no_jitter_on_a_stream() {
        let pairs = (0..500).map(|i| (i / 2) * 16_000 + (i % 2) * 50);
        assert!(jitter_of(Duration::from_micros(800), pairs.clone()) < 60);
        assert!(jitter_of(Duration::ZERO, pairs) > 7_000);
    }

    #[test]
    fn the_filter_rounds_as_rfc_3550_does() {
        let mut jitter = Jitter::new(Duration::ZERO);
        for at in [0, 8_008, 16_016] {
            let _ = jitter.observe(Instant::from_micros(at), PERIOD);
        }
        // |D| = 8 twice: 8, then 8 + 8 − ((8 + 8) >> 4).
        assert_eq!(jitter.j16, 15);
    }

    #[test]
    fn intervals_keep_their_extremes_and_count_the_long_ones() {
        let mut intervals = Intervals::default();
        assert_eq!(intervals.figures(), InterArrival::default());
        for micros in [8_000, 12_000, 12_001, 7_999] {
            intervals.record(Duration::from_micros(micros), PERIOD);
        }
        let micros = Duration::from_micros;
        let expected =
            InterArrival { count: 4, min: micros(7_999), mean: micros(10_000), max: micros(12_001), long: 1 };
        assert_eq!(intervals.figures(), expected);
    }

    #[test]
    fn the_sliding_mean_forgets_what_left_the_window() {
        let mut mean = SlidingMean::new();
        assert_eq!(mean.mean(), None);
        mean.push(Duration::from_secs(10));
        for _ in 0..WINDOW {
            mean.push(Duration::from_micros(7));
        }
        assert_eq!(mean.mean(), Some(Duration::from_micros(7)));
    }

    #[test]
    fn one_of_a_hundred_missing_is_99_percent() {
        let mut share = SlidingShare::default();
        assert_eq!(share.per_10_000(), None);
        for _ in 0..200 {
            share.push(0, true);
        }
        share.push(1, true);
        assert_eq!(share.per_10_000(), Some(9_900));
        share.push(500, true);
        assert_eq!(share.per_10_000(), Some(100));
    }
}
