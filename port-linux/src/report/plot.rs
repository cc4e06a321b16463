//! Line charts, bands and histograms as SVG text. Colours are classes, so that the page's style sheet decides.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Width of every chart in its own units; the page scales it.
const WIDTH: f64 = 960.0;
/// Room for the labels of the vertical axis.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;

/// A closed interval of one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// Lower end.
    pub from: f64,
    /// Upper end, above the lower.
    pub to: f64,
}

impl Span {
    /// From `from` to `to`; widened where that would be empty.
    #[must_use]
    pub(crate) fn new(from: f64, to: f64) -> Self {
        if to > from { Self { from, to } } else { Self { from: from - 0.5, to: from + 0.5 } }
    }

    /// The smallest span that holds every finite value and `at_least`, with a twentieth of room at both ends.
    #[must_use]
    pub(crate) fn around(values: impl IntoIterator<Item = f64>, at_least: Self) -> Self {
        let held = values
            .into_iter()
            .filter(|v| v.is_finite())
            .fold(at_least, |span, value| Self { from: span.from.min(value), to: span.to.max(value) });
        let room = (held.to - held.from) / 20.0;
        Self::new(held.from - room, held.to + room)
    }

    fn fraction(self, value: f64) -> f64 {
        (value - self.from) / (self.to - self.from)
    }

    /// Round values inside the span, about `count` of them, and the number of decimals they need.
    fn ticks(self, count: f64) -> (Vec<f64>, usize) {
        let raw = (self.to - self.from) / count;
        let magnitude = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * magnitude).into_iter().find(|s| *s >= raw).unwrap_or(raw);
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        ((first..=last.min(first + 50)).map(|i| i as f64 * step).collect(), decimals)
    }
}

/// One line of a chart.
pub(crate) struct Line<'a> {
    /// What it shows, for the legend; empty for none.
    pub name: &'a str,
    /// Class of the stroke.
    pub class: &'a str,
    /// Points in the order of time. A NaN breaks the line.
    pub points: &'a [(f64, f64)],
}

/// A stretch of time behind the lines.
pub(crate) struct Band<'a> {
    /// Where.
    pub span: Span,
    /// Class of the fill.
    pub class: &'a str,
    /// What it is, shown when pointed at.
    pub name: &'a str,
}

/// Rows of coloured stretches over a common time, each stretch with its name where there is room.
pub(crate) struct Strips<'a> {
    /// What a screen reader says.
    pub title: &'a str,
    /// The horizontal axis \[s\].
    pub time: Span,
    /// The rows with their names.
    pub rows: &'a [(&'a str, Vec<Band<'a>>)],
}

impl Strips<'_> {
    const ROW: f64 = 30.0;

    /// The rows as an SVG element.
    #[must_use]
    pub(crate) fn svg(&self) -> String {
        let height = TOP + Self::ROW * self.rows.len() as f64 + BOTTOM;
        let frame = Frame { height, x: self.time, y: Span::new(0.0, 1.0) };
        let mut svg = String::new();
        frame.begin(&mut svg, self.title);
        frame.time_axis(&mut svg, "time [s]", 10.0);
        for (row, (name, bands)) in self.rows.iter().enumerate() {
            let top = TOP + Self::ROW * row as f64;
            let middle = top + Self::ROW / 2.0 + 2.5;
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                escape(name)
            );
            for band in bands {
                let (from, to) = (frame.x(band.span.from), frame.x(band.span.to));
                let _ = write!(
                    svg,
                    "<rect class=\"{} solid\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\">\
                     <title>{}: {:.3} s to {:.3} s</title></rect>",
                    band.class,
                    (to - from - 1.0).max(1.0),
                    Self::ROW - 5.0,
                    escape(band.name),
                    band.span.from,
                    band.span.to
                );
                if to - from > 8.0 * band.name.len() as f64 + 10.0 {
                    let _ = write!(
                        svg,
                        "<text class=\"strip\" x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"middle\">{}</text>",
                        f64::midpoint(from, to),
                        escape(band.name)
                    );
                }
            }
        }
        svg.push_str("</svg>");
        svg
    }
}

/// A marked instant.
pub(crate) struct Mark<'a> {
    /// When.
    pub at: f64,
    /// What happened.
    pub name: &'a str,
}

/// A chart over time.
pub(crate) struct TimeChart<'a> {
    /// What a screen reader says.
    pub title: &'a str,
    /// Label of the vertical axis with its unit.
    pub unit: &'a str,
    /// Height in the chart's units.
    pub height: f64,
    /// The horizontal axis \[s\].
    pub time: Span,
    /// The vertical axis.
    pub values: Span,
    /// Behind everything.
    pub bands: &'a [Band<'a>],
    /// Instants, as vertical lines.
    pub marks: &'a [Mark<'a>],
    /// Horizontal limits, dashed.
    pub limits: &'a [f64],
    /// The lines, first at the back.
    pub lines: &'a [Line<'a>],
}

struct Frame {
    height: f64,
    x: Span,
    y: Span,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.fraction(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let bottom = self.height - BOTTOM;
        bottom - self.y.fraction(value) * (bottom - TOP)
    }

    fn begin(&self, svg: &mut String, title: &str) {
        let _ = write!(
            svg,
            "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">",
            self.height,
            escape(title)
        );
    }

    fn value_axis(&self, svg: &mut String, label: &str) {
        let (bottom, right) = (self.height - BOTTOM, WIDTH - RIGHT);
        let (ticks, decimals) = self.y.ticks((self.height / 44.0).max(2.0));
        for tick in ticks {
            let y = self.y(tick);
            let class = if tick == 0.0 { "zero" } else { "grid" };
            let _ = write!(
                svg,
                "<path class=\"{class}\" d=\"M{LEFT} {y:.1}H{right}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{tick:.decimals$}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = write!(
            svg,
            "<text class=\"label\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(TOP, bottom),
            escape(label)
        );
    }

    fn time_axis(&self, svg: &mut String, label: &str, count: f64) {
        let (bottom, right) = (self.height - BOTTOM, WIDTH - RIGHT);
        let (ticks, decimals) = self.x.ticks(count);
        for tick in ticks {
            let x = self.x(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/><text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{tick:.decimals$}</text>",
                bottom + 17.0
            );
        }
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            self.height - 3.0,
            escape(label)
        );
    }
}

impl TimeChart<'_> {
    /// The chart as an SVG element.
    #[must_use]
    pub(crate) fn svg(&self) -> String {
        let frame = Frame { height: self.height, x: self.time, y: self.values };
        let (bottom, top) = (self.height - BOTTOM, TOP);
        let mut svg = String::new();
        frame.begin(&mut svg, self.title);
        for band in self.bands {
            let (from, to) = (band.span.from.max(self.time.from), band.span.to.min(self.time.to));
            if to <= from {
                continue;
            }
            let (from, to) = (frame.x(from), frame.x(to));
            let _ = write!(
                svg,
                "<rect class=\"{}\" x=\"{from:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                band.class,
                (to - from).max(0.5),
                bottom - top,
                escape(band.name)
            );
        }
        frame.value_axis(&mut svg, self.unit);
        frame.time_axis(&mut svg, "time [s]", 10.0);
        for limit in self.limits {
            let y = frame.y(*limit);
            let _ = write!(svg, "<path class=\"limit\" d=\"M{LEFT} {y:.1}H{}\"/>", WIDTH - RIGHT);
        }
        for line in self.lines {
            let d = path(&frame, line.points);
            let _ = write!(
                svg,
                "<path class=\"line {}\" d=\"{d}\"><title>{}</title></path>",
                line.class,
                escape(line.name)
            );
        }
        for mark in self.marks.iter().filter(|mark| (self.time.from..=self.time.to).contains(&mark.at)) {
            let x = frame.x(mark.at);
            let _ = write!(
                svg,
                "<path class=\"mark\" d=\"M{x:.1} {top}V{bottom:.1}\"><title>{:.3} s: {}</title></path>",
                mark.at,
                escape(mark.name)
            );
        }
        svg.push_str("</svg>");
        svg
    }
}

/// A line through `points`: per column of the picture at most its first, least, greatest and last value, so that
/// a spike of one cycle stays visible whatever the length of the run.
fn path(frame: &Frame, points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    let mut pen_down = false;
    let mut column: Option<(i64, Vec<(f64, f64)>)> = None;
    let mut flush = |column: &mut Option<(i64, Vec<(f64, f64)>)>, pen_down: &mut bool| {
        for (x, y) in column.take().map(|(_, kept)| kept).unwrap_or_default() {
            let command = if *pen_down { 'L' } else { 'M' };
            let _ = write!(d, "{command}{x:.1} {y:.1}");
            *pen_down = true;
        }
    };
    for (time, value) in points {
        if !value.is_finite() {
            flush(&mut column, &mut pen_down);
            pen_down = false;
            continue;
        }
        if !(frame.x.from..=frame.x.to).contains(time) {
            continue;
        }
        // What leaves the picture runs along its edge.
        let at = (frame.x(*time), frame.y(value.clamp(frame.y.from, frame.y.to)));
        let index = (at.0 * 2.0) as i64;
        match &mut column {
            Some((current, kept)) if *current == index => keep(kept, at),
            _ => {
                flush(&mut column, &mut pen_down);
                column = Some((index, vec![at]));
            }
        }
    }
    flush(&mut column, &mut pen_down);
    d
}

/// Adds `at` to what a column keeps: first, extremes, last.
fn keep(kept: &mut Vec<(f64, f64)>, at: (f64, f64)) {
    kept.push(at);
    if kept.len() <= 4 {
        return;
    }
    let inner = kept.get(1..kept.len() - 1).unwrap_or_default();
    let least = inner.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a });
    let greatest = inner.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
    let first = kept.first().copied();
    *kept = [first, least, greatest, Some(at)].into_iter().flatten().collect();
}

/// A histogram of positive values over a logarithmic axis: a cycle and a stall fit on one picture.
pub(crate) struct Histogram<'a> {
    /// What a screen reader says.
    pub title: &'a str,
    /// Label of the horizontal axis with its unit.
    pub unit: &'a str,
    /// What is counted; values that are not above zero are left out.
    pub values: &'a [f64],
    /// Values marked on the axis with their names, e.g. the median.
    pub marks: &'a [Mark<'a>],
}

impl Histogram<'_> {
    /// Bins to an octave.
    const FINENESS: f64 = 12.0;
    const HEIGHT: f64 = 320.0;

    /// The histogram as an SVG element. The counts are on a logarithmic axis too: what matters is in the tail.
    #[must_use]
    pub(crate) fn svg(&self) -> String {
        let mut bins = BTreeMap::<i64, u64>::new();
        for value in self.values.iter().filter(|value| **value > 0.0 && value.is_finite()) {
            *bins.entry((value.log2() * Self::FINENESS).floor() as i64).or_default() += 1;
        }
        let (Some((first, _)), Some((last, _))) = (bins.first_key_value(), bins.last_key_value()) else {
            return "<p class=\"empty\">Nothing was recorded.</p>".into();
        };
        // At least three octaves, so that one narrow peak is not the whole picture.
        let missing = (3.0 * Self::FINENESS - (last - first) as f64).max(0.0) / 2.0;
        let edge = |bin: f64| bin / Self::FINENESS;
        let span = Span::new(edge(*first as f64 - missing - 1.0), edge(*last as f64 + missing + 2.0));
        let most = bins.values().copied().max().unwrap_or(1) as f64;
        // From half a count, so that a single one shows.
        let frame = Frame { height: Self::HEIGHT, x: span, y: Span::new(0.5_f64.log10(), (most * 1.5).log10()) };
        let bottom = Self::HEIGHT - BOTTOM;

        let mut svg = String::new();
        frame.begin(&mut svg, self.title);
        for decade in (0..=9).map(|n| 10_u64.pow(n)).filter(|n| (*n as f64) <= most * 1.5) {
            let y = frame.y((decade as f64).log10());
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
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
            right = WIDTH - RIGHT
        );
        svg
    }

    /// 1, 2 and 5 of every decade.
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
            // Near the right edge the name stands left of its line.
            let (dx, anchor) = if x > WIDTH * 0.72 { (-6.0, "end") } else { (6.0, "start") };
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

/// 12345 as `12 345`.
#[must_use]
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Text as HTML character data.
#[must_use]
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            Span::new(0.0, 50.0).ticks(10.0),
            (vec![0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0], 0)
        );
        let (ticks, decimals) = Span::new(-0.13, 0.31).ticks(5.0);
        assert_eq!((ticks.len(), decimals), (5, 1));
    }

    #[test]
    fn a_spike_of_one_cycle_survives_any_length() {
        let mut points: Vec<_> = (0..1_000_000).map(|i| (f64::from(i) / 1e4, 0.0)).collect();
        points[654_321].1 = 1.0;
        let frame = Frame { height: 200.0, x: Span::new(0.0, 100.0), y: Span::new(0.0, 1.0) };
        let d = path(&frame, &points);
        assert!(d.contains(&format!(" {:.1}", frame.y(1.0))), "the spike is gone");
        assert!(d.len() < 200_000, "{} bytes", d.len());
    }

    #[test]
    fn a_missing_value_breaks_the_line() {
        let frame = Frame { height: 200.0, x: Span::new(0.0, 4.0), y: Span::new(0.0, 1.0) };
        let d = path(&frame, &[(0.0, 0.0), (1.0, 0.0), (2.0, f64::NAN), (3.0, 0.0), (4.0, 0.0)]);
        assert_eq!(d.matches('M').count(), 2);
    }

    #[test]
    fn text_from_outside_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
