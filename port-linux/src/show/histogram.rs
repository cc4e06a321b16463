//! A histogram of durations as text.

use outrigger_core::link::Histogram;
use outrigger_wire::time::Duration;
use serde::Serialize;

/// Formats a duration as text, in µs below 1 ms and otherwise in ms.
#[must_use]
pub fn span(span: Duration) -> String {
    let micros = span.as_micros();
    if micros < 1_000 { format!("{micros} µs") } else { format!("{:.2} ms", micros as f64 / 1e3) }
}

/// Formats the median, the 99th percentile, the maximum and the count of a histogram.
#[must_use]
pub fn quantiles(histogram: &Histogram) -> String {
    let at = |share| histogram.quantile(share).map_or_else(|| "-".into(), span);
    format!("p50 {}, p99 {}, most {} ({} times)", at(5_000), at(9_900), span(histogram.longest()), histogram.count())
}

/// The quantiles of a histogram for scripts \[µs\]. Zero if nothing was counted.
#[derive(Debug, Serialize)]
pub struct Quantiles {
    count: u64,
    p50_us: u64,
    p99_us: u64,
    max_us: u64,
}

impl Quantiles {
    /// Returns the count and the quantiles of the durations in `histogram`.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        let at = |share| histogram.quantile(share).map_or(0, Duration::as_micros);
        Self { count: histogram.count(), p50_us: at(5_000), p99_us: at(9_900), max_us: at(10_000) }
    }
}

/// Formats a histogram with one line for each bin that is not empty.
#[must_use]
pub fn bars(histogram: &Histogram) -> String {
    let most = histogram.bins().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let bars = histogram.bins().filter(|bin| bin.count > 0).map(|bin| {
        let length = (u64::from(bin.count) * 40).div_ceil(u64::from(most));
        format!("    {:>10} {:<40} {}\n", span(bin.from), "█".repeat(usize::try_from(length).unwrap_or(0)), bin.count)
    });
    bars.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_one_per_bin_and_the_fullest_is_the_longest() {
        let mut histogram = Histogram::default();
        (0..80).for_each(|_| histogram.record(Duration::from_millis(2)));
        histogram.record(Duration::from_millis(9));
        let text = bars(&histogram);
        let widths: Vec<_> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(widths, [40, 1]);
    }

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        assert_eq!([999, 1_000, 12_345].map(|us| span(Duration::from_micros(us))), ["999 µs", "1.00 ms", "12.35 ms"]);
    }
}
