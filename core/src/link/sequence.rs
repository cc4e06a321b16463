//! The classification of counters: in order, lost, duplicate, reordered, restarted
//! (`core/docs/protocol/kuka-fri.md C2`).

/// A wrapping counter of the packets or cycles of a link: FRI counts in `u16`, the cycle number derived from a
/// controller's clock is `u64`.
pub trait Counter: Copy {
    /// Returns the distance from `base` to `self` modulo the counter's range: positive if `self` is ahead.
    fn ahead_of(self, base: Self) -> i64;
    /// Returns the counter that is `steps` ahead of this one, modulo the counter's range.
    #[must_use]
    fn forward(self, steps: u64) -> Self;
    /// Returns the low bits of an `extended` counter, which does not wrap, as a counter of this type.
    fn low_bits_of(extended: u64) -> Self;
}

macro_rules! counter {
    ($($unsigned:ty as $signed:ty),+) => {
        $(impl Counter for $unsigned {
            fn ahead_of(self, base: Self) -> i64 {
                i64::from(self.wrapping_sub(base) as $signed)
            }
            fn forward(self, steps: u64) -> Self {
                self.wrapping_add(steps as Self)
            }
            fn low_bits_of(extended: u64) -> Self {
                extended as Self
            }
        })+
    };
}

counter!(u8 as i8, u16 as i16, u32 as i32, u64 as i64);

/// The position of one counter relative to the counters received before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Sequence {
    /// The first counter of the connection, with nothing to compare it with.
    First,
    /// The counter is the one that was expected next.
    InOrder,
    /// The counter is ahead of the expected one: this many are missing.
    Lost(u32),
    /// The counter was received before.
    Duplicate,
    /// A counter that was counted as lost earlier and is received now. Its packet is never used for control.
    Reordered,
    /// A counter too far ahead to count as a loss or too far behind to count as late, and not confirmed by successors
    /// yet. Its packet is not used.
    Suspect,
    /// The counter restarted: measurements from before do not apply any more.
    NewEpoch,
}

impl Sequence {
    /// Returns whether this is the newest state and may be used for control.
    #[must_use]
    pub const fn is_newest(self) -> bool {
        match self {
            Self::First | Self::InOrder | Self::Lost(_) | Self::NewEpoch => true,
            Self::Duplicate | Self::Reordered | Self::Suspect => false,
        }
    }
}

/// The limits that distinguish loss, reordering and restart of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct SequenceRules {
    /// The largest gap that counts as loss, by default about 1 s of counters; a larger one is a restart.
    pub max_dropout: u32,
    /// The greatest distance behind the newest at which a late counter is accepted, 0 … 63. 0 for a byte stream, which
    /// cannot reorder: there a counter that goes back is a restart.
    pub reorder: u32,
    /// The number of consecutive counters needed to confirm a restart, ≥ 1.
    pub restart_after: u32,
}

/// Totals of a [`SequenceJudge`] since the first counter or the last restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct SequenceTotals {
    /// The number of counters accepted, in order or after a gap.
    pub accepted: u64,
    /// The number of counters missing, without those that arrived late.
    pub lost: u64,
    /// The largest number of consecutive missing counters.
    pub longest_gap: u32,
    /// The number of counters received more than once.
    pub duplicates: u64,
    /// The number of counters received after a later one.
    pub reordered: u64,
}

/// A classifier of the counters of one direction of one link.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct SequenceJudge<C> {
    rules: SequenceRules,
    highest: Option<C>,
    /// Bit i: the counter that is i below the highest was received.
    received: u64,
    suspect: Option<(C, u32)>,
    totals: SequenceTotals,
}

impl<C: Counter> SequenceJudge<C> {
    /// Creates a classifier that has seen no counter.
    #[must_use]
    pub const fn new(rules: SequenceRules) -> Self {
        Self {
            rules,
            highest: None,
            received: 0,
            suspect: None,
            totals: SequenceTotals { accepted: 0, lost: 0, longest_gap: 0, duplicates: 0, reordered: 0 },
        }
    }

    /// Returns the newest accepted counter; `None` before the first.
    #[must_use]
    pub const fn highest(&self) -> Option<C> {
        self.highest
    }

    /// Returns the totals of counters since the last restart.
    #[must_use]
    pub const fn totals(&self) -> SequenceTotals {
        self.totals
    }

    /// Classifies the next counter that was received.
    #[must_use]
    pub fn observe(&mut self, counter: C) -> Sequence {
        let Some(highest) = self.highest else {
            self.restart_at(counter);
            return Sequence::First;
        };
        let ahead = counter.ahead_of(highest);
        if ahead > 0 && ahead.unsigned_abs() <= u64::from(self.rules.max_dropout).saturating_add(1) {
            return self.advance(counter, ahead.unsigned_abs());
        }
        if ahead <= 0 && (ahead == 0 || ahead.unsigned_abs() <= u64::from(self.rules.reorder)) {
            return self.look_back(ahead.unsigned_abs());
        }
        self.suspect(counter)
    }

    /// Starts to count anew at `counter`, as after a restart of the sender's counter.
    pub fn restart_at(&mut self, counter: C) {
        self.highest = Some(counter);
        // Counters before the first are unknown: they are treated as received, so that a late one changes no count.
        self.received = u64::MAX;
        self.suspect = None;
        self.totals = SequenceTotals { accepted: 1, ..SequenceTotals::default() };
    }

    fn advance(&mut self, counter: C, steps: u64) -> Sequence {
        let shift = u32::try_from(steps).unwrap_or(u32::MAX);
        self.received = self.received.checked_shl(shift).unwrap_or(0) | 1;
        self.highest = Some(counter);
        self.suspect = None;
        self.totals.accepted = self.totals.accepted.saturating_add(1);
        let missing = shift.saturating_sub(1);
        if missing == 0 {
            return Sequence::InOrder;
        }
        self.totals.lost = self.totals.lost.saturating_add(u64::from(missing));
        self.totals.longest_gap = self.totals.longest_gap.max(missing);
        Sequence::Lost(missing)
    }

    fn look_back(&mut self, behind: u64) -> Sequence {
        let bit = u32::try_from(behind).ok().and_then(|shift| 1_u64.checked_shl(shift));
        match bit {
            Some(bit) if self.received & bit == 0 => {
                self.received |= bit;
                self.totals.lost = self.totals.lost.saturating_sub(1);
                self.totals.reordered = self.totals.reordered.saturating_add(1);
                Sequence::Reordered
            }
            Some(_) | None => {
                self.totals.duplicates = self.totals.duplicates.saturating_add(1);
                Sequence::Duplicate
            }
        }
    }

    fn suspect(&mut self, counter: C) -> Sequence {
        let run = match self.suspect {
            Some((expected, run)) if counter.ahead_of(expected) == 0 => run.saturating_add(1),
            Some(_) | None => 1,
        };
        if run >= self.rules.restart_after {
            self.restart_at(counter);
            return Sequence::NewEpoch;
        }
        self.suspect = Some((counter.forward(1), run));
        Sequence::Suspect
    }
}

#[cfg(test)]
mod tests {
    use super::Sequence::{Duplicate, First, InOrder, Lost, NewEpoch, Reordered, Suspect};
    use super::*;

    const DATAGRAMS: SequenceRules = SequenceRules { max_dropout: 1_000, reorder: 63, restart_after: 2 };
    const STREAM: SequenceRules = SequenceRules { max_dropout: 125, reorder: 0, restart_after: 1 };

    fn judged<C: Counter>(rules: SequenceRules, counters: &[C]) -> (Vec<Sequence>, SequenceTotals) {
        let mut judge = SequenceJudge::new(rules);
        (counters.iter().map(|c| judge.observe(*c)).collect(), judge.totals())
    }

    #[test]
    fn a_wrapping_counter_loses_nothing() {
        let counters: Vec<u16> = (0..12).map(|i| 65_530_u16.wrapping_add(i)).collect();
        let (seen, totals) = judged(DATAGRAMS, &counters);
        assert_eq!(seen[0], First);
        assert!(seen[1..].iter().all(|s| *s == InOrder));
        assert_eq!((totals.accepted, totals.lost), (12, 0));
    }

    #[test]
    fn a_gap_is_counted_with_its_length_even_across_the_wrap() {
        let (seen, totals) = judged::<u8>(SequenceRules { max_dropout: 60, ..DATAGRAMS }, &[254, 255, 3]);
        assert_eq!(seen, [First, InOrder, Lost(3)]);
        assert_eq!((totals.lost, totals.longest_gap), (3, 3));
    }

    #[test]
    fn a_late_one_is_taken_back_from_the_lost_and_not_used() {
        let (seen, totals) = judged::<u16>(DATAGRAMS, &[10, 12, 11, 13]);
        assert_eq!(seen, [First, Lost(1), Reordered, InOrder]);
        assert_eq!((totals.lost, totals.reordered), (0, 1));
        assert!(!Reordered.is_newest());
    }

    #[test]
    fn a_repeated_one_is_a_duplicate_however_late() {
        let (seen, totals) = judged::<u16>(DATAGRAMS, &[10, 11, 11, 10, 12, 9]);
        assert_eq!(seen, [First, InOrder, Duplicate, Duplicate, InOrder, Duplicate]);
        assert_eq!(totals.duplicates, 3);
    }

    #[test]
    fn a_restart_is_believed_after_two_consecutive_datagrams() {
        let (seen, totals) = judged::<u16>(DATAGRAMS, &[40_000, 1, 40_001, 1, 2, 3]);
        assert_eq!(seen, [First, Suspect, InOrder, Suspect, NewEpoch, InOrder]);
        assert_eq!(totals.accepted, 2);
    }

    #[test]
    fn a_restart_needs_consecutive_counters_without_another_between() {
        let (seen, _) = judged::<u16>(DATAGRAMS, &[40_000, 1, 40_001, 2, 3]);
        assert_eq!(seen, [First, Suspect, InOrder, Suspect, NewEpoch]);
        let (seen, _) = judged::<u16>(DATAGRAMS, &[40_000, 1, 100, 7_000, 1]);
        assert_eq!(seen, [First, Suspect, Suspect, Suspect, Suspect]);
    }

    #[test]
    fn a_stream_that_goes_back_is_a_restart_at_once() {
        let (seen, _) = judged::<u64>(STREAM, &[1_000, 1_001, 999, 1_000]);
        assert_eq!(seen, [First, InOrder, NewEpoch, InOrder]);
    }

    #[test]
    fn a_gap_beyond_the_limit_is_a_restart() {
        let (seen, _) = judged::<u64>(STREAM, &[0, 126, 253]);
        assert_eq!(seen, [First, Lost(125), NewEpoch]);
    }

    #[test]
    fn only_what_is_newest_moves_the_highest() {
        for rules in [DATAGRAMS, STREAM] {
            let mut judge = SequenceJudge::<u16>::new(rules);
            // A full-period generator: every `u16` occurs, in pseudo-random order, each followed by its successor.
            let mut x = 1_u16;
            for _ in 0..65_536_u32 {
                for counter in [x, x.wrapping_add(1)] {
                    let before = judge.highest();
                    let newest = judge.observe(counter).is_newest();
                    assert_eq!(judge.highest(), if newest { Some(counter) } else { before });
                }
                x = x.wrapping_mul(25_173).wrapping_add(13_849);
            }
        }
    }
}
