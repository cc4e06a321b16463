//! Draws histograms: the number of occurrences of each value, as SVG.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{BOTTOM, ChartMedium, Frame, LEFT, Mark, Span, TOP, escape, grouped};

/// A histogram of positive values over a logarithmic axis, so that usual values and rare ones that are far larger fit
/// into one chart.
pub(crate) struct Histogram<'a> {
    /// The title of the histogram, for a screen reader.
    pub title: &'a str,
    /// The label of the horizontal axis with its unit.
    pub unit: &'a str,
    /// The values that are counted; values that are not above zero are left out.
    pub values: &'a [f64],
    /// The values marked on the axis with their names, e.g. the median.
    pub marks: &'a [Mark<'a>],
}

impl Histogram<'_> {
    /// The number of bins of the histogram per doubling of the value.
    const FINENESS: f64 = 12.0;
    const HEIGHT: f64 = 320.0;

    /// Returns the histogram as an SVG element. The counts are on a logarithmic axis, too, because the tail is of
    /// interest.
    #[must_use]
    pub(crate) fn svg(&self, paper: ChartMedium) -> String {
        let mut bins = BTreeMap::<i64, u64>::new();
        for value in self.values.iter().filter(|value| **value > 0.0 && value.is_finite()) {
            *bins.entry((value.log2() * Self::FINENESS).floor() as i64).or_default() += 1;
        }
        let (Some((first, _)), Some((last, _))) = (bins.first_key_value(), bins.last_key_value()) else {
            return "<p class=\"empty\">No data was recorded.</p>".into();
        };
        // The axis has at least three octaves, so that one narrow peak does not fill the picture.
        let missing = (3.0 * Self::FINENESS - (last - first) as f64).max(0.0) / 2.0;
        let edge = |bin: f64| bin / Self::FINENESS;
        let span = Span::new(edge(*first as f64 - missing - 1.0), edge(*last as f64 + missing + 2.0));
        let most = bins.values().copied().max().unwrap_or(1) as f64;
        // The axis begins at half a count, so that a single one is visible.
        let frame = Frame { paper, height: Self::HEIGHT, x: span, y: Span::new(0.5_f64.log10(), (most * 1.5).log10()) };
        let bottom = Self::HEIGHT - BOTTOM;

        let mut svg = String::new();
        frame.begin(&mut svg, self.title, "");
        for decade in (0..=9).map(|n| 10_u64.pow(n)).filter(|n| (*n as f64) <= most * 1.5) {
            let y = frame.y((decade as f64).log10());
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                frame.right(),
                LEFT - 8.0,
                y + 4.0,
                grouped(decade)
            );
        }
        self.draw_ticks(&mut svg, &frame, bottom);
        for (bin, count) in &bins {
            let (low, high) = (edge(*bin as f64), edge(*bin as f64 + 1.0));
            let (left, right, top) = (frame.x(low), frame.x(high), frame.y((*count as f64).log10()));
            let _ = write!(
                svg,
                "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
                 <title>{:.3} to {:.3}: {}</title></rect>",
                (right - left - 0.8).max(0.8),
                bottom - top,
                low.exp2(),
                high.exp2(),
                grouped(*count)
            );
        }
        self.draw_marks(&mut svg, &frame, bottom);
        let _ = write!(
            svg,
            "<path class=\"zero\" d=\"M{LEFT} {bottom:.1}H{right}\"/>\
             <text class=\"label\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text class=\"label\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">cycles</text></svg>",
            Self::HEIGHT - 3.0,
            escape(self.unit),
            f64::midpoint(TOP, bottom),
            right = frame.right()
        );
        svg
    }

    /// Draws ticks of the logarithmic axis at 1, 2 and 5 of every decade.
    fn draw_ticks(&self, svg: &mut String, frame: &Frame, bottom: f64) {
        for (decade, step) in (-6..=6).flat_map(|decade| [1.0, 2.0, 5.0].map(|step| (decade, step))) {
            let value = step * 10_f64.powi(decade);
            if !(frame.x.from..=frame.x.to).contains(&value.log2()) {
                continue;
            }
            let (x, decimals) = (frame.x(value.log2()), usize::try_from(-decade).unwrap_or(0));
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/><text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{value:.decimals$}</text>",
                bottom + 17.0
            );
        }
    }

    fn draw_marks(&self, svg: &mut String, frame: &Frame, bottom: f64) {
        for (row, mark) in self.marks.iter().enumerate() {
            let x = frame.x(mark.at.log2().clamp(frame.x.from, frame.x.to));
            // Near the right edge the name is placed to the left of its line.
            let (dx, anchor) = if x > frame.right() * 0.72 { (-6.0, "end") } else { (6.0, "start") };
            let _ = write!(
                svg,
                "<path class=\"mark\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>\
                 <text class=\"note\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                x + dx,
                TOP + 14.0 + 18.0 * row as f64,
                escape(mark.name)
            );
        }
    }
}
