//! The demo as a moving picture: one SVG file that plays repeatedly without a script.

use std::fmt::Write as _;

use outrigger_core::mode::Mode;

use super::plot::escape;
use super::scene::{Drawn, Scene, View, points};

/// The contents of a moving picture of the demo, in the order of time.
pub(crate) struct Picture {
    /// The frames of the moving picture, [`FRAMES_PER_SECOND`] of them for each second.
    pub frames: Vec<Frame>,
    /// The distance from the surface that the control law is to hold \[m\].
    pub wanted: f64,
}

/// A frame of the moving picture of the demo.
pub(crate) struct Frame {
    /// The time since the start of the run \[s\].
    pub at: f64,
    /// The arm, the workpiece and the sensor's ray that are drawn in this frame.
    pub scene: Scene,
    /// The mode of Outrigger's control state machine at the time of this frame.
    pub mode: Mode,
    /// The text of the last event before this frame; empty if there was none.
    pub event: String,
}

/// The number of frames per second of the demo's moving picture. With fewer, the slow motion of the arm would show
/// jumps.
pub(crate) const FRAMES_PER_SECOND: f64 = 10.0;
const WIDTH: f64 = 880.0;
const HEIGHT: f64 = 470.0;
/// The edges of the plot of the distance in the moving picture, in SVG units: left, top, right, bottom.
const PLOT: [f64; 4] = [470.0, 308.0, 850.0, 426.0];
/// The lowest and highest distance in the plot, relative to the distance that is to be held \[m\].
const SHOWN: [f64; 2] = [-0.006, 0.022];

const STYLE: &str = "\
svg { font: 15px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
.page { fill: #fbfaf7; } .inset { fill: #fff; stroke: #e4e2db; }
.link { fill: none; stroke: #0b6e8f; stroke-width: 13; stroke-linecap: round; stroke-linejoin: round; }
.ray { fill: none; stroke: #d9822b; stroke-width: 2.5; stroke-dasharray: 6 4; }
.workpiece { fill: #d9d6cc; stroke: #8d96a6; stroke-width: 1.5; }
.curve { fill: none; stroke: #0b6e8f; stroke-width: 2.4; stroke-linejoin: round; }
.wanted { fill: none; stroke: #b3261e; stroke-dasharray: 5 4; }
.now { stroke: #1d2433; stroke-width: 1.5; }
text { fill: #1d2433; } .soft { fill: #5b6577; font-size: 13.5px; } .mode { font-size: 25px; font-weight: 650; }
.Offline { fill: #e7e5df; } .Monitor { fill: #dfe8f3; } .Arming { fill: #fbeecb; } .Command { fill: #d9eddf; } .Stopping { fill: #f8d9d2; }
@media (prefers-color-scheme: dark) {
.page { fill: #12161d; } .inset { fill: #1a1f29; stroke: #2a3140; } .link, .curve { stroke: #53b5d6; } .ray { stroke: #f0a35c; }
.workpiece { fill: #303846; stroke: #737e90; } .wanted { stroke: #ff8a7a; } .now { stroke: #e6e9ef; }
text { fill: #e6e9ef; } .soft { fill: #a3adbd; }
.Offline { fill: #262b36; } .Monitor { fill: #1c2a3d; } .Arming { fill: #3a3018; } .Command { fill: #17301f; } .Stopping { fill: #4a241d; }
}
";

impl Picture {
    /// Returns the moving picture as an animated SVG; `None` without frames.
    pub(crate) fn svg(&self) -> Option<String> {
        let first = self.frames.first()?;
        let (whole, close) =
            (first.scene.whole([20.0, 92.0], [420.0, 356.0]), first.scene.close([470.0, 92.0], [380.0, 156.0]));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><title>A simulated arm holds its \
             tool above a moving workpiece, loses its link, stops, and continues when it is started again.</title><style>{STYLE}</style>\
             <rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"
        );
        self.headline(&mut svg);
        for view in [&whole, &close] {
            self.view(&mut svg, view);
        }
        self.plot(&mut svg);
        let _ = writeln!(
            svg,
            "<text class=\"soft\" x=\"34\" y=\"116\">simulated UR5e, from the side</text>\
             <text class=\"soft\" x=\"470\" y=\"268\">its tool, close up; dashed: the sensor's beam</text>\
             <text class=\"soft\" x=\"470\" y=\"300\">distance to the workpiece; dashed: setpoint, {:.0} mm</text></svg>",
            self.wanted * 1e3
        );
        Some(svg)
    }

    fn seconds(&self) -> f64 {
        self.frames.len() as f64 / FRAMES_PER_SECOND
    }

    /// Draws the mode of the session and its last event at the top of the moving picture: texts that replace each other
    /// over time.
    fn headline(&self, svg: &mut String) {
        self.shown_while(
            svg,
            |frame| frame.mode.name().to_owned(),
            |svg, name| {
                let _ = write!(
                    svg,
                    "<rect class=\"{name}\" x=\"20\" y=\"18\" width=\"170\" height=\"54\" rx=\"10\"/>\
                 <text class=\"mode\" x=\"105\" y=\"54\" text-anchor=\"middle\">{name}</text>"
                );
            },
        );
        self.shown_while(
            svg,
            |frame| frame.event.clone(),
            |svg, event| {
                let _ = write!(svg, "<text x=\"210\" y=\"51\">{}</text>", escape(event));
            },
        );
    }

    /// Draws by `draw` the text that `of` returns for the frames, visible during the frames to which it belongs.
    /// Consecutive frames with the same text share a drawing; an empty text is not drawn.
    fn shown_while(&self, svg: &mut String, of: impl Fn(&Frame) -> String, draw: impl Fn(&mut String, &str)) {
        let texts: Vec<_> = self.frames.iter().map(of).collect();
        let count = texts.len() as f64;
        let mut from = 0;
        for stretch in texts.chunk_by(|a, b| a == b) {
            let (begin, end) = (from as f64 / count, (from + stretch.len()) as f64 / count);
            from += stretch.len();
            let Some(text) = stretch.first().filter(|text| !text.is_empty()) else { continue };
            let (times, values) = match (begin > 0.0, end < 1.0) {
                (false, false) => ("0".to_owned(), "visible"),
                (false, true) => (format!("0;{end:.4}"), "visible;hidden"),
                (true, false) => (format!("0;{begin:.4}"), "hidden;visible"),
                (true, true) => (format!("0;{begin:.4};{end:.4}"), "hidden;visible;hidden"),
            };
            let _ = write!(
                svg,
                "<g visibility=\"hidden\"><animate attributeName=\"visibility\" calcMode=\"discrete\" dur=\"{:.1}s\" \
                 repeatCount=\"indefinite\" keyTimes=\"{times}\" values=\"{values}\"/>",
                self.seconds()
            );
            draw(svg, text);
            svg.push_str("</g>");
        }
    }

    fn view(&self, svg: &mut String, view: &View) {
        view.begin(svg, "");
        let drawn: Vec<Drawn> = self.frames.iter().map(|frame| frame.scene.drawn(view)).collect();
        self.moving(svg, "polygon", "workpiece", drawn.iter().map(|drawn| points(&view.filled(&drawn.workpiece))));
        self.moving(svg, "polyline", "ray", drawn.iter().map(|drawn| points(&drawn.ray)));
        self.moving(svg, "polyline", "link", drawn.iter().map(|drawn| points(&drawn.arm)));
        svg.push_str("</svg>");
    }

    /// Draws an SVG shape, a polyline or a polygon as `element` selects, whose points change from frame to frame.
    fn moving(&self, svg: &mut String, element: &str, class: &str, values: impl Iterator<Item = String>) {
        let values: Vec<_> = values.collect();
        let first = values.first().cloned().unwrap_or_default();
        let _ = write!(
            svg,
            "<{element} class=\"{class}\" points=\"{first}\"><animate attributeName=\"points\" dur=\"{:.1}s\" \
             repeatCount=\"indefinite\" values=\"{}\"/></{element}>",
            self.seconds(),
            values.join(";")
        );
    }

    fn plot(&self, svg: &mut String) {
        let [left, top, right, bottom] = PLOT;
        let count = self.frames.len().max(2) as f64;
        let x = |index: usize| left + (right - left) * index as f64 / (count - 1.0);
        let y = |error: f64| {
            let [low, high] = SHOWN;
            bottom - (error.clamp(low, high) - low) / (high - low) * (bottom - top)
        };
        let mut from = 0;
        for stretch in self.frames.chunk_by(|a, b| a.mode == b.mode) {
            let end = from + stretch.len();
            let (begins, ends) = (x(from), x(end.min(self.frames.len() - 1)));
            let name = stretch.first().map_or("", |frame| frame.mode.name());
            let _ = write!(
                svg,
                "<rect class=\"{name}\" x=\"{begins:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{}\"/>",
                ends - begins,
                bottom - top
            );
            from = end;
        }
        let curve: Vec<_> =
            self.frames.iter().enumerate().map(|(i, frame)| [x(i), y(frame.scene.distance - self.wanted)]).collect();
        let _ = write!(
            svg,
            "<path class=\"wanted\" d=\"M{left} {wanted:.1}H{right}\"/><polyline class=\"curve\" points=\"{}\"/>\
             <g><path class=\"now\" d=\"M{left} {top}V{bottom}\"/><animateTransform attributeName=\"transform\" type=\"translate\" \
             dur=\"{:.1}s\" repeatCount=\"indefinite\" values=\"0;{}\"/></g>",
            points(&curve),
            self.seconds(),
            right - left,
            wanted = y(0.0)
        );
        for (millimetres, anchor) in [(0.0, "0"), (10.0, "+10 mm"), (20.0, "+20 mm")] {
            let _ = write!(
                svg,
                "<text class=\"soft\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"start\">{anchor}</text>",
                left + 4.0,
                y(millimetres * 1e-3) + if millimetres > 10.0 { 12.0 } else { -3.0 }
            );
        }
        let seconds = self.frames.last().zip(self.frames.first()).map_or(0.0, |(last, first)| last.at - first.at);
        let _ = write!(
            svg,
            "<text class=\"soft\" x=\"{right}\" y=\"{:.0}\" text-anchor=\"end\">{seconds:.0} seconds, in real time</text>",
            bottom + 20.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(frames: usize) -> Picture {
        let scene = |distance| Scene {
            arm: vec![[0.0; 3], [0.0, 0.0, 0.2], [0.5, 0.0, 0.15]],
            workpiece: (0..61).map(|i| [0.2 + 0.01 * f64::from(i), 0.0, 0.1]).collect(),
            distance,
            looks: [0.0, 0.0, -1.0],
        };
        let frame = |index: usize| Frame {
            at: index as f64 / FRAMES_PER_SECOND,
            scene: scene(0.05),
            mode: if index < frames / 2 { Mode::Monitor } else { Mode::Command },
            event: if index < 2 { String::new() } else { "a < b".into() },
        };
        Picture { frames: (0..frames).map(frame).collect(), wanted: 0.05 }
    }

    #[test]
    fn it_plays_by_itself_and_stays_small() {
        let svg = picture(250).svg().unwrap();
        assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
        assert!(svg.contains("dur=\"25.0s\""), "ten frames are a second");
        assert!(svg.contains("a &lt; b"), "text from outside is no markup");
        assert!(!svg.contains("<script") && !svg.contains("href"), "it needs nothing else");
    }

    #[test]
    fn each_word_is_seen_while_it_holds() {
        let svg = picture(10).svg().unwrap();
        assert!(svg.contains("keyTimes=\"0;0.5000\" values=\"visible;hidden\""), "Monitor in the first half");
        assert!(svg.contains("keyTimes=\"0;0.5000\" values=\"hidden;visible\""), "Command in the second");
        assert!(Picture { frames: vec![], wanted: 0.05 }.svg().is_none());
    }
}
