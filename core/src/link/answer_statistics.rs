//! The answer rate and the round trip of links whose peer returns our counters (`core/docs/protocol/kuka-fri.md C2`).

use super::sequence::Counter;
use super::timing::{SlidingMean, WINDOW};
use outrigger_wire::time::{Duration, Instant};

const RING: usize = 128;

/// A tracker of the packets that we sent, until the peer reflects their counters. Needed only on links whose peer
/// reflects counters.
///
/// Only the first reflection of a packet counts: repetitions add no information about the round trip.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Answers<C> {
    deadline: Duration,
    newest: Option<C>,
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array_serde"))]
    sent_at: [Instant; RING],
    /// The index of the newest sent packet in `sent_at`.
    at: usize,
    sent: u64,
    /// Bit i: the packet sent i packets before the newest was answered in time.
    in_time: u128,
    /// Bit i: the packet sent i packets before the newest was reflected, in time or late.
    reflected: u128,
    late: u64,
    round_trip: SlidingMean,
    variation: SlidingMean,
    shortest: Option<Duration>,
    last: Option<Duration>,
}

/// The figures that [`Answers`] returns: answer rate, losses and round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct AnswerFigures {
    /// The share of packets answered in time, in parts of 10 000, of the last 100 packets that are answered or whose
    /// deadline has passed.
    pub rate: u16,
    /// The number of packets from which the answer rate is computed, 0 … 100.
    pub judged: u32,
    /// The number of consecutive packets of ours without an answer in time, up to the newest of those from which the
    /// answer rate is computed.
    pub consecutive_misses: u32,
    /// The number of answers to our packets that arrived after the deadline, but within 16 times the deadline.
    pub late: u64,
    /// The mean round trip of the last 100 packets of ours that were answered.
    pub round_trip: Option<Duration>,
    /// The shortest round trip of a packet of ours since the start of the measurement; `None` before the first answer.
    pub shortest: Option<Duration>,
    /// FRI-style jitter: mean |latency − previous latency| over 100 answers. Not RFC 3550's.
    pub latency_variation: Option<Duration>,
}

impl<C: Counter> Answers<C> {
    /// Creates a tracker for which answers are in time within `deadline`, usually one period.
    #[must_use]
    pub fn new(deadline: Duration) -> Self {
        Self {
            deadline,
            newest: None,
            sent_at: [Instant::ZERO; RING],
            at: 0,
            sent: 0,
            in_time: 0,
            reflected: 0,
            late: 0,
            round_trip: SlidingMean::new(),
            variation: SlidingMean::new(),
            shortest: None,
            last: None,
        }
    }

    /// Records that the packet with `counter` was sent; counters increase by one.
    pub fn sent(&mut self, counter: C, now: Instant) {
        self.newest = Some(counter);
        self.at = self.at.saturating_add(1) % RING;
        if let Some(slot) = self.sent_at.get_mut(self.at) {
            *slot = now;
        }
        self.sent = self.sent.saturating_add(1);
        self.in_time <<= 1;
        self.reflected <<= 1;
    }

    /// Records that the peer reflected `counter`. Returns the round trip if this is the first reflection of a packet
    /// that is still tracked.
    pub fn reflected(&mut self, counter: C, now: Instant) -> Option<Duration> {
        let behind = u64::try_from(self.newest?.ahead_of(counter)).ok()?;
        let behind = usize::try_from(behind).ok().filter(|b| *b < RING)?;
        let bit = 1_u128.checked_shl(u32::try_from(behind).ok()?)?;
        if self.reflected & bit != 0 || behind as u64 >= self.sent {
            return None;
        }
        let took = now.since(self.time_of(behind)?);
        if took > self.deadline.times(16) {
            return None;
        }
        self.reflected |= bit;
        if took <= self.deadline {
            self.in_time |= bit;
        } else {
            self.late = self.late.saturating_add(1);
        }
        self.round_trip.push(took);
        if let Some(last) = self.last.replace(took) {
            self.variation.push(Duration::from_micros(took.as_micros().abs_diff(last.as_micros())));
        }
        self.shortest = Some(self.shortest.map_or(took, |s| s.min(took)));
        Some(took)
    }

    /// Returns the answer rate, losses and round trip of our packets as of `now`.
    #[must_use]
    pub fn figures(&self, now: Instant) -> AnswerFigures {
        // Packets that can still be answered in time are not judged yet.
        let (mut open, since) = (0_u32, now - self.deadline);
        for behind in 0..RING {
            let bit = 1_u128.checked_shl(open).unwrap_or(0);
            match self.time_of(behind) {
                Some(sent) if sent >= since && self.reflected & bit == 0 => {
                    open = open.saturating_add(1);
                }
                Some(_) | None => break,
            }
        }
        let closed = self.sent.saturating_sub(u64::from(open)).min(u64::from(WINDOW));
        let judged = u32::try_from(closed).unwrap_or(WINDOW);
        let mask = 1_u128.checked_shl(judged).unwrap_or(0).saturating_sub(1);
        let answered = self.in_time.checked_shr(open).unwrap_or(0) & mask;
        let rate = answered.count_ones().saturating_mul(10_000).checked_div(judged).unwrap_or(0);
        AnswerFigures {
            rate: u16::try_from(rate).unwrap_or(10_000),
            judged,
            consecutive_misses: answered.trailing_zeros().min(judged),
            late: self.late,
            round_trip: self.round_trip.mean(),
            shortest: self.shortest,
            latency_variation: self.variation.mean(),
        }
    }

    /// Discards all tracked packets and figures, as needed after a restart of the peer.
    pub fn clear(&mut self) {
        *self = Self::new(self.deadline);
    }

    fn time_of(&self, behind: usize) -> Option<Instant> {
        let at = self.at.saturating_add(RING).saturating_sub(behind) % RING;
        self.sent_at.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_000;

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    fn answers() -> Answers<u16> {
        Answers::new(Duration::from_micros(T))
    }

    #[test]
    fn a_fixed_delay_is_the_round_trip_and_no_variation() {
        let mut link = answers();
        for cycle in 0..300_u64 {
            let counter = (65_400 + cycle) as u16;
            link.sent(counter, at(cycle * T));
            assert_eq!(link.reflected(counter, at(cycle * T + 300)), Some(Duration::from_micros(300)));
        }
        let figures = link.figures(at(300 * T));
        assert_eq!((figures.rate, figures.judged, figures.consecutive_misses), (10_000, 100, 0));
        assert_eq!(figures.round_trip, Some(Duration::from_micros(300)));
        assert_eq!(figures.latency_variation, Some(Duration::ZERO));
    }

    #[test]
    fn a_repeated_reflection_is_no_second_sample() {
        let mut link = answers();
        link.sent(7, at(0));
        assert!(link.reflected(7, at(200)).is_some());
        assert_eq!(link.reflected(7, at(900)), None);
        assert_eq!(link.figures(at(2 * T)).round_trip, Some(Duration::from_micros(200)));
    }

    #[test]
    fn what_can_still_be_answered_is_not_yet_a_miss() {
        let mut link = answers();
        link.sent(1, at(0));
        assert_eq!(link.figures(at(T)).judged, 0);
        let figures = link.figures(at(T + 1));
        assert_eq!((figures.judged, figures.consecutive_misses, figures.rate), (1, 1, 0));
    }

    #[test]
    fn a_late_answer_is_counted_as_late_and_not_as_answered() {
        let mut link = answers();
        link.sent(1, at(0));
        assert!(link.reflected(1, at(3 * T)).is_some());
        let figures = link.figures(at(3 * T));
        assert_eq!((figures.late, figures.rate), (1, 0));
    }

    #[test]
    fn counters_never_sent_and_forgotten_ones_are_ignored() {
        let mut link = answers();
        assert_eq!(link.reflected(3, at(0)), None);
        for counter in 0..200_u16 {
            link.sent(counter, at(u64::from(counter)));
        }
        assert_eq!(link.reflected(200, at(200)), None);
        assert_eq!(link.reflected(71, at(200)), None);
        assert!(link.reflected(72, at(200)).is_some());
    }

    #[test]
    fn a_counter_from_before_the_first_is_no_answer() {
        let mut link = answers();
        link.sent(5, at(100));
        assert_eq!(link.reflected(4, at(200)), None);
        assert_eq!(link.figures(at(200)).round_trip, None);
    }

    #[test]
    fn an_answer_after_sixteen_deadlines_is_none() {
        let mut link = answers();
        link.sent(5, at(0));
        assert_eq!(link.reflected(5, at(16 * T + 1)), None);
        assert!(link.reflected(5, at(16 * T)).is_some());
    }

    #[test]
    fn latency_variation_is_the_mean_change_from_answer_to_answer() {
        let mut link = answers();
        for cycle in 0..50_u64 {
            link.sent(cycle as u16, at(cycle * T));
            assert!(link.reflected(cycle as u16, at(cycle * T + 200 + cycle % 2 * 100)).is_some());
        }
        assert_eq!(link.figures(at(50 * T)).latency_variation, Some(Duration::from_micros(100)));
        assert_eq!(link.figures(at(50 * T)).shortest, Some(Duration::from_micros(200)));
    }

    #[test]
    fn five_of_a_hundred_unanswered_is_95_percent() {
        let mut link = answers();
        for cycle in 0..100_u64 {
            link.sent(cycle as u16, at(cycle * T));
            if cycle % 20 != 0 {
                assert!(link.reflected(cycle as u16, at(cycle * T + 10)).is_some());
            }
        }
        assert_eq!(link.figures(at(200 * T)).rate, 9_500);
    }
}
