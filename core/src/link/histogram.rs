//! A histogram of times with logarithmic bins, in fixed memory.

use outrigger_wire::time::Duration;

/// The number of bins of a [`Histogram`]; 0 without the feature `histograms`.
pub const BINS: usize = if cfg!(feature = "histograms") { 64 } else { 0 };

/// A histogram of times in 64 bins: 1 µs wide up to 4 µs, then four to an octave (at most 25 % wide), the last one open
/// from 114.688 ms on. 272 bytes, or 16 without its bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    bins: [u32; BINS],
    count: u64,
    longest: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: [0; BINS], count: 0, longest: Duration::ZERO }
    }
}

/// One bin of the histogram: durations from `from` up to, not including, `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The shortest duration that is counted in this bin of the histogram.
    pub from: Duration,
    /// The shortest duration that is counted in the next bin of the histogram; [`Duration::MAX`] for the last bin.
    pub to: Duration,
    /// The number of durations counted in this bin of the histogram.
    pub count: u32,
}

impl Histogram {
    /// Counts the time `span` in the histogram bin that it belongs to.
    pub fn record(&mut self, span: Duration) {
        if let Some(bin) = self.bins.get_mut(bin_of(span)) {
            *bin = bin.saturating_add(1);
        }
        self.count = self.count.saturating_add(1);
        self.longest = self.longest.max(span);
    }

    /// Returns the number of durations that the histogram has counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the longest duration that the histogram has counted, not rounded to the edge of a bin.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// Iterates over the histogram's bins, shortest times first.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        self.bins.iter().zip(0_usize..).map(|(count, at)| Bin {
            from: lower_edge(at),
            to: if at.saturating_add(1) == BINS { Duration::MAX } else { lower_edge(at.saturating_add(1)) },
            count: *count,
        })
    }

    /// Returns a duration that `share` parts in 10 000 of the counted ones do not exceed: the upper edge of its bin, at
    /// most the longest counted duration; `None` if none was counted.
    #[must_use]
    pub fn quantile(&self, share: u16) -> Option<Duration> {
        if self.count == 0 {
            return None;
        }
        let wanted = u128::from(self.count).saturating_mul(u128::from(share.min(10_000))).div_ceil(10_000);
        let mut below = 0_u128;
        for bin in self.bins() {
            below = below.saturating_add(u128::from(bin.count));
            if below >= wanted && bin.count > 0 {
                return Some(bin.to.min(self.longest));
            }
        }
        Some(self.longest)
    }

    /// Discards all counts of the histogram.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

fn bin_of(span: Duration) -> usize {
    let micros = span.as_micros();
    let octave = micros.checked_ilog2().unwrap_or(0);
    if octave < 2 {
        return micros as usize;
    }
    // The two bits below the leading one choose the quarter of the octave.
    let quarter = (micros >> octave.saturating_sub(2)) & 3;
    let bin = u64::from(octave).saturating_sub(1).saturating_mul(4).saturating_add(quarter);
    (bin as usize).min(BINS.saturating_sub(1))
}

fn lower_edge(bin: usize) -> Duration {
    let bin = bin as u64;
    let (octave, quarter) = (bin / 4, bin % 4);
    if octave == 0 {
        return Duration::from_micros(quarter);
    }
    let shift = u32::try_from(octave).unwrap_or(0).saturating_sub(1);
    Duration::from_micros(quarter.saturating_add(4).checked_shl(shift).unwrap_or(u64::MAX))
}

#[cfg(all(test, feature = "histograms"))]
mod tests {
    use super::*;

    #[test]
    fn each_bin_begins_where_the_one_before_ends() {
        let bins: Vec<Bin> = Histogram::default().bins().collect();
        assert_eq!(bins.len(), BINS);
        for pair in bins.windows(2) {
            assert_eq!(pair[0].to, pair[1].from);
            assert!(pair[0].from < pair[0].to);
        }
        assert_eq!(bins[BINS - 1].from, Duration::from_micros(114_688));
    }

    #[test]
    fn every_span_falls_into_the_bin_that_contains_it() {
        for micros in (0..200_000).chain([u64::MAX / 2, u64::MAX - 1]) {
            let span = Duration::from_micros(micros);
            let mut histogram = Histogram::default();
            histogram.record(span);
            let bin = histogram.bins().find(|b| b.count == 1).expect("one bin counts it");
            assert!(bin.from <= span && span < bin.to, "{micros} in {bin:?}");
        }
    }

    #[test]
    fn quantiles_are_within_one_bin_and_never_above_the_longest() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(5_000), None);
        for micros in 1..=1_000 {
            histogram.record(Duration::from_micros(micros));
        }
        let median = histogram.quantile(5_000).expect("counted").as_micros();
        assert!((500..=640).contains(&median), "{median}");
        assert_eq!(histogram.quantile(10_000), Some(Duration::from_micros(1_000)));
        assert_eq!(histogram.count(), 1_000);
    }
}
