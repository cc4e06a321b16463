//! Line charts, bands and histograms as SVG text. Colours are classes defined by the page's style sheet.

mod histogram;
mod line_chart;
mod timeline_chart;

use std::fmt::Write as _;

pub(crate) use histogram::Histogram;
pub(crate) use line_chart::{Limit, TimeChart};
pub(crate) use timeline_chart::Strips;

/// The style sheet of a page with charts: the colours that it shares with the live page, dark on a dark screen, and
/// its own rules.
pub(crate) const STYLE: &str = concat!(
    include_str!("palette.css"),
    "@media screen and (prefers-color-scheme: dark) { :root {\n",
    include_str!("dark.css"),
    "} }\n",
    include_str!("../style.css")
);
/// The script of an HTML page with charts: it shows a crosshair, and zooms.
pub(crate) const SCRIPT: &str = concat!(include_str!("plot.js"), include_str!("../page.js"));

/// The space on the left of a chart for the labels of the vertical axis, in the chart's units.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;

/// The medium that a chart is drawn for. One unit of the chart is about one pixel, so that its text is readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChartMedium {
    /// A page on the screen of a computer, with space for a wide chart.
    Wide,
    /// The screen of a telephone held upright, with space for a narrow chart.
    Phone,
}

impl ChartMedium {
    /// Every medium for charts, with the name of its CSS class.
    pub(crate) const ALL: [(Self, &str); 2] = [(Self::Wide, "on-wide"), (Self::Phone, "on-phone")];

    /// Returns the width of a chart for this medium in the chart's units.
    pub(crate) const fn width(self) -> f64 {
        match self {
            Self::Wide => 960.0,
            Self::Phone => 400.0,
        }
    }

    /// Returns the approximate number of labelled times on the axis below a chart.
    const fn times(self) -> f64 {
        match self {
            Self::Wide => 10.0,
            Self::Phone => 4.0,
        }
    }
}

/// A closed interval of values on one axis of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    /// The lower end of the interval.
    pub from: f64,
    /// The upper end of the interval, above the lower one.
    pub to: f64,
}

impl Span {
    /// Creates the interval from `from` to `to`, widened if it would be empty.
    #[must_use]
    pub(crate) fn new(from: f64, to: f64) -> Self {
        if to > from { Self { from, to } } else { Self { from: from - 0.5, to: from + 0.5 } }
    }

    /// Returns the smallest interval that contains every finite value and `at_least`, with a margin of a twentieth
    /// at both ends.
    #[must_use]
    pub(crate) fn around(values: impl IntoIterator<Item = f64>, at_least: Self) -> Self {
        let held = values
            .into_iter()
            .filter(|v| v.is_finite())
            .fold(at_least, |span, value| Self { from: span.from.min(value), to: span.to.max(value) });
        let room = (held.to - held.from) / 20.0;
        Self::new(held.from - room, held.to + room)
    }

    pub(super) fn fraction(self, value: f64) -> f64 {
        (value - self.from) / (self.to - self.from)
    }

    /// Returns round values inside the interval for labels, about `count` of them, and the number of decimals they
    /// need, like `ticks` of `plot.js`.
    pub(crate) fn ticks(self, count: f64) -> (Vec<f64>, usize) {
        let raw = (self.to - self.from) / count;
        let exponent = raw.log10().floor();
        let steps = [1.0, 2.0, 5.0, 10.0].map(|most| (most, most * 10_f64.powf(exponent)));
        let (most, step) = steps.into_iter().find(|(_, step)| *step >= raw * (1.0 - 1e-9)).unwrap_or((1.0, raw));
        let decimals = (-exponent - if most == 10.0 { 1.0 } else { 0.0 }).clamp(0.0, 9.0) as usize;
        // An end that is a tick is included in spite of rounding errors.
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        ((first..=last.min(first + 50)).map(|i| i as f64 * step).collect(), decimals)
    }
}

/// One line of a chart.
pub(crate) struct Line<'a> {
    /// The name of the line for the legend; empty for none.
    pub name: &'a str,
    /// The CSS class of the line's stroke.
    pub class: &'a str,
    /// The points (time, value) in the order of time. A NaN interrupts the line.
    pub points: &'a [(f64, f64)],
}

/// A coloured period of time behind the lines of a chart.
pub(crate) struct Band<'a> {
    /// The period of time that is coloured \[s\].
    pub span: Span,
    /// The CSS class of the band's fill.
    pub class: &'a str,
    /// The name of the period, shown at the mouse pointer.
    pub name: &'a str,
}

/// A marked instant or value on an axis of a chart.
pub(crate) struct Mark<'a> {
    /// The position of the mark on the axis, in the unit of the axis.
    pub at: f64,
    /// The description of the marked instant or value.
    pub name: &'a str,
}

/// The mapping of times and values to positions in a chart.
struct Frame {
    paper: ChartMedium,
    height: f64,
    x: Span,
    y: Span,
}

impl Frame {
    fn right(&self) -> f64 {
        self.paper.width() - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.height - BOTTOM
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.fraction(value) * (self.right() - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        let bottom = self.height - BOTTOM;
        bottom - self.y.fraction(value) * (bottom - TOP)
    }

    /// Begins the SVG of a chart. `more` are further attributes of it, each with a space before it.
    fn begin(&self, svg: &mut String, title: &str, more: &str) {
        let _ = write!(
            svg,
            "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"{}\"{more}>",
            self.paper.width(),
            self.height,
            escape(title)
        );
    }

    fn value_axis(&self, svg: &mut String, label: &str) {
        let (bottom, right) = (self.height - BOTTOM, self.right());
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

    fn time_axis(&self, svg: &mut String, label: &str) {
        let (bottom, right) = (self.height - BOTTOM, self.right());
        let (ticks, decimals) = self.x.ticks(self.paper.times());
        svg.push_str("<g class=\"times\">");
        for tick in ticks {
            let x = self.x(tick);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/><text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{tick:.decimals$}</text>",
                bottom + 17.0
            );
        }
        svg.push_str("</g>");
        let _ = write!(
            svg,
            "<text class=\"label\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            self.height - 3.0,
            escape(label)
        );
    }
}

/// Formats a number with spaces between groups of three digits: `12 345`.
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

/// Escapes text as character data of HTML.
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
    fn text_from_outside_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
