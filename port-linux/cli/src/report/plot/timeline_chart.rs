//! Draws charts with rows of coloured periods of time, as SVG.

use std::fmt::Write as _;

use super::{BOTTOM, Band, ChartMedium, Frame, LEFT, Span, TOP, escape};

/// A chart of rows of coloured periods over a common time axis, each period with its name if there is space.
pub(crate) struct Strips<'a> {
    /// The title of the chart, for a screen reader.
    pub title: &'a str,
    /// The interval of time on the horizontal axis \[s\].
    pub time: Span,
    /// The rows of the chart, each with its name and its coloured periods.
    pub rows: &'a [(&'a str, Vec<Band<'a>>)],
}

impl Strips<'_> {
    const ROW: f64 = 30.0;

    /// Returns the chart of rows as an SVG element.
    #[must_use]
    pub(crate) fn svg(&self, paper: ChartMedium) -> String {
        let height = TOP + Self::ROW * self.rows.len() as f64 + BOTTOM;
        let frame = Frame { paper, height, x: self.time, y: Span::new(0.0, 1.0) };
        let mut svg = String::new();
        frame.begin(&mut svg, self.title, "");
        frame.time_axis(&mut svg, "time [s]");
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
