//! Draws charts of lines over time, as SVG.

use std::fmt::Write as _;

use super::{Band, ChartMedium, Frame, LEFT, Line, Mark, Span, TOP, escape};

/// A limit in a chart, drawn as a horizontal line.
pub(crate) struct Limit<'a> {
    /// The value of the limit, in the unit of the vertical axis.
    pub at: f64,
    /// The name of the limit, as shown in the chart; empty for none.
    pub name: &'a str,
}

/// A line chart of values over time.
pub(crate) struct TimeChart<'a> {
    /// The title of the chart, for a screen reader.
    pub title: &'a str,
    /// The label of the vertical axis with its unit.
    pub unit: &'a str,
    /// The height of the chart in its own units, of about one pixel.
    pub height: f64,
    /// The interval of time on the horizontal axis \[s\].
    pub time: Span,
    /// The interval of values on the vertical axis.
    pub values: Span,
    /// The coloured periods of time behind all lines of the chart.
    pub bands: &'a [Band<'a>],
    /// The instants that are drawn in the chart as vertical lines.
    pub marks: &'a [Mark<'a>],
    /// The instants whose names are shown in the chart.
    pub named: &'a [Mark<'a>],
    /// The limits of the values, drawn as dashed horizontal lines with their names.
    pub limits: &'a [Limit<'a>],
    /// The lines of the chart; the first one is drawn behind the others.
    pub lines: &'a [Line<'a>],
}

impl TimeChart<'_> {
    /// Returns the chart as an SVG element. The area inside the axes is an SVG element of its own, so that a script
    /// can enlarge a part of it.
    #[must_use]
    pub(crate) fn svg(&self, paper: ChartMedium) -> String {
        let frame = Frame { paper, height: self.height, x: self.time, y: self.values };
        let (left, right, top, bottom) = (LEFT, frame.right(), TOP, frame.bottom());
        let mut svg = String::new();
        let axes = format!(
            " data-time=\"{} {}\" data-values=\"{} {}\" data-frame=\"{left} {right} {top} {bottom}\" data-times=\"{}\"",
            self.time.from,
            self.time.to,
            self.values.from,
            self.values.to,
            paper.times()
        );
        frame.begin(&mut svg, self.title, &axes);
        frame.value_axis(&mut svg, self.unit);
        frame.time_axis(&mut svg, "time [s]");
        let (width, height) = (right - left, bottom - top);
        let _ = write!(
            svg,
            "<svg class=\"data\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height:.1}\" \
             viewBox=\"{left} {top} {width} {height:.1}\" preserveAspectRatio=\"none\">"
        );
        self.draw_bands(&mut svg, &frame);
        for limit in self.limits.iter().filter(|limit| self.holds(limit.at)) {
            let y = frame.y(limit.at);
            let _ = write!(svg, "<path class=\"limit\" d=\"M{left} {y:.1}H{right}\"/>");
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
        for mark in self.marks.iter().filter(|mark| self.shows(mark)) {
            let x = frame.x(mark.at);
            let _ = write!(
                svg,
                "<path class=\"mark\" d=\"M{x:.1} {top}V{bottom:.1}\"><title>{:.3} s: {}</title></path>",
                mark.at,
                escape(mark.name)
            );
        }
        svg.push_str("</svg>");
        self.draw_names(&mut svg, &frame);
        svg.push_str("</svg>");
        svg
    }

    fn holds(&self, value: f64) -> bool {
        (self.values.from..=self.values.to).contains(&value)
    }

    fn shows(&self, mark: &Mark<'_>) -> bool {
        (self.time.from..=self.time.to).contains(&mark.at)
    }

    fn draw_bands(&self, svg: &mut String, frame: &Frame) {
        for band in self.bands {
            let (from, to) = (band.span.from.max(self.time.from), band.span.to.min(self.time.to));
            if to <= from {
                continue;
            }
            let (from, to) = (frame.x(from), frame.x(to));
            let _ = write!(
                svg,
                "<rect class=\"{}\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                band.class,
                (to - from).max(0.5),
                frame.bottom() - TOP,
                escape(band.name)
            );
        }
    }

    /// Draws the names of limits at the right, and those of instants from the top.
    fn draw_names(&self, svg: &mut String, frame: &Frame) {
        for limit in self.limits.iter().filter(|limit| self.holds(limit.at)) {
            let _ = write!(
                svg,
                "<text class=\"note limit-name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                frame.right() - 6.0,
                frame.y(limit.at) - 5.0,
                escape(limit.name)
            );
        }
        for (row, mark) in self.named.iter().filter(|mark| self.shows(mark)).enumerate() {
            let x = frame.x(mark.at);
            // The name is placed on the side with more space.
            let (dx, anchor) = if x > f64::midpoint(LEFT, frame.right()) { (-5.0, "end") } else { (5.0, "start") };
            let _ = write!(
                svg,
                "<text class=\"note fault-name\" data-at=\"{}\" x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"{anchor}\">{}</text>",
                mark.at,
                x + dx,
                TOP + 15.0 + 17.0 * (row % 3) as f64,
                escape(mark.name)
            );
        }
    }
}

/// Returns an SVG path through `points`: for each column of the picture at most its first, lowest, highest and last
/// value, so that a spike of one cycle stays visible whatever the length of the run.
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
        // A line that leaves the picture continues along its edge.
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

/// Adds a point to those kept for one column of the chart: the first, the extremes, the last.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_of_one_cycle_survives_any_length() {
        let mut points: Vec<_> = (0..1_000_000).map(|i| (f64::from(i) / 1e4, 0.0)).collect();
        points[654_321].1 = 1.0;
        let frame = Frame { paper: ChartMedium::Wide, height: 200.0, x: Span::new(0.0, 100.0), y: Span::new(0.0, 1.0) };
        let d = path(&frame, &points);
        assert!(d.contains(&format!(" {:.1}", frame.y(1.0))), "the spike is gone");
        assert!(d.len() < 200_000, "{} bytes", d.len());
    }

    #[test]
    fn a_missing_value_breaks_the_line() {
        let frame = Frame { paper: ChartMedium::Wide, height: 200.0, x: Span::new(0.0, 4.0), y: Span::new(0.0, 1.0) };
        let d = path(&frame, &[(0.0, 0.0), (1.0, 0.0), (2.0, f64::NAN), (3.0, 0.0), (4.0, 0.0)]);
        assert_eq!(d.matches('M').count(), 2);
    }
}
