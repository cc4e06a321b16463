//! Line charts, bands and histograms as SVG text. Colours are classes, so that the page's style sheet decides.

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
pub struct Span {
    /// Lower end.
    pub from: f64,
    /// Upper end, above the lower.
    pub to: f64,
}

impl Span {
    /// From `from` to `to`; widened where that would be empty.
    #[must_use]
    pub fn new(from: f64, to: f64) -> Self {
        if to > from { Self { from, to } } else { Self { from: from - 0.5, to: from + 0.5 } }
    }

    /// The smallest span that holds every finite value and `at_least`, with a twentieth of room at both ends.
    #[must_use]
    pub fn around(values: impl IntoIterator<Item = f64>, at_least: Self) -> Self {
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
pub struct Line<'a> {
    /// What it shows, for the legend; empty for none.
    pub name: &'a str,
    /// Class of the stroke.
    pub class: &'a str,
    /// Points in the order of time. A NaN breaks the line.
    pub points: &'a [(f64, f64)],
}

/// A stretch of time behind the lines.
pub struct Band<'a> {
    /// Where.
    pub span: Span,
    /// Class of the fill.
    pub class: &'a str,
    /// What it is, shown when pointed at.
    pub name: &'a str,
}

/// A marked instant.
pub struct Mark<'a> {
    /// When.
    pub at: f64,
    /// What happened.
    pub name: &'a str,
}

/// A chart over time.
pub struct TimeChart<'a> {
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

    fn axes(&self, svg: &mut String, x_label: &str, y_label: &str, x_count: f64) {
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
        let (ticks, decimals) = self.x.ticks(x_count);
        for tick in ticks {
            let x = self.x(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/><text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{tick:.decimals$}</text>",
                bottom + 17.0
            );
        }
        let middle = f64::midpoint(TOP, bottom);
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text class=\"label\" transform=\"translate(14 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            self.height - 3.0,
            escape(x_label),
            escape(y_label)
        );
    }
}

impl TimeChart<'_> {
    /// The chart as an SVG element.
    #[must_use]
    pub fn svg(&self) -> String {
        let frame = Frame { height: self.height, x: self.time, y: self.values };
        let (bottom, top) = (self.height - BOTTOM, TOP);
        let mut svg = String::new();
        frame.begin(&mut svg, self.title);
        for band in self.bands {
            let (from, to) = (frame.x(band.span.from), frame.x(band.span.to));
            let _ = write!(
                svg,
                "<rect class=\"{}\" x=\"{from:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                band.class,
                (to - from).max(0.5),
                bottom - top,
                escape(band.name)
            );
        }
        frame.axes(&mut svg, "time [s]", self.unit, 10.0);
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
        for mark in self.marks {
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
        let at = (frame.x(*time), frame.y(*value));
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

/// A histogram of counts over bins.
pub struct Histogram<'a> {
    /// What a screen reader says.
    pub title: &'a str,
    /// Label of the horizontal axis with its unit.
    pub unit: &'a str,
    /// Lower edge, upper edge and count of each bin, ascending.
    pub bins: &'a [(f64, f64, u64)],
    /// Values marked on the axis with their names, e.g. the median.
    pub marks: &'a [Mark<'a>],
    /// Class of the bars.
    pub class: &'a str,
}

impl Histogram<'_> {
    /// The histogram as an SVG element. The vertical axis is logarithmic: what matters is in the tail.
    #[must_use]
    pub fn svg(&self) -> String {
        const HEIGHT: f64 = 300.0;
        let filled = || self.bins.iter().filter(|(_, _, count)| *count > 0);
        let from = filled().map(|bin| bin.0).fold(f64::INFINITY, f64::min);
        let to = filled().map(|bin| bin.1).fold(f64::NEG_INFINITY, f64::max);
        let most = filled().map(|bin| bin.2).max().unwrap_or(1) as f64;
        if !(from.is_finite() && to.is_finite()) {
            return "<p class=\"empty\">nothing recorded</p>".into();
        }
        let room = (to - from) / 30.0;
        let span = Span::new((from - room).max(0.0), to + room);
        // From half a count, so that a single one shows.
        let counts = Span::new(-0.301, (most * 1.4).log10().max(0.5));
        let frame = Frame { height: HEIGHT, x: span, y: counts };
        let mut svg = String::new();
        frame.begin(&mut svg, self.title);
        let bottom = HEIGHT - BOTTOM;
        let mut decade = 1.0_f64;
        while decade.log10() <= counts.to {
            let y = frame.y(decade.log10());
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                grouped(decade as u64)
            );
            decade *= 10.0;
        }
        for (low, high, count) in filled() {
            let (left, right, top) = (frame.x(*low), frame.x(*high), frame.y((*count as f64).log10()));
            let _ = write!(
                svg,
                "<rect class=\"bar {}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
                 <title>{low:.3} to {high:.3}: {}</title></rect>",
                self.class,
                (right - left - 0.6).max(0.8),
                bottom - top,
                grouped(*count)
            );
        }
        let (ticks, decimals) = span.ticks(8.0);
        for tick in ticks {
            let x = frame.x(tick);
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick:.decimals$}</text>",
                bottom + 17.0
            );
        }
        for (row, mark) in self.marks.iter().enumerate() {
            let x = frame.x(mark.at.clamp(span.from, span.to));
            // Near the right edge the name stands left of its line.
            let (dx, anchor) = if x > WIDTH * 0.72 { (-6.0, "end") } else { (6.0, "start") };
            let _ = write!(
                svg,
                "<path class=\"mark\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>\
                 <text class=\"note\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                x + dx,
                TOP + 14.0 + 17.0 * row as f64,
                escape(mark.name)
            );
        }
        let _ = write!(
            svg,
            "<path class=\"zero\" d=\"M{LEFT} {bottom:.1}H{right}\"/>\
             <text class=\"label\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text></svg>",
            HEIGHT - 3.0,
            escape(self.unit),
            right = WIDTH - RIGHT
        );
        svg
    }
}

/// 12345 as `12 345`.
#[must_use]
pub fn grouped(count: u64) -> String {
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
pub fn escape(text: &str) -> String {
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
