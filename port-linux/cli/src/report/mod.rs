//! The report page of a run of the demo: one self-contained HTML file.

pub(crate) mod animated_svg;
pub(crate) mod plot;
pub(crate) mod scene;
#[doc(hidden)]
pub mod simulated_run;

use std::fmt::Write as _;

use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;

use self::plot::{Band, ChartMedium, Histogram, Limit, Line, Mark, Span, Strips, TimeChart, escape};
use self::scene::Scene;

/// The names of the joints, base first, as Universal Robots calls them.
pub(crate) const JOINTS: [&str; 6] = ["base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"];

/// A self-check of a run of the demo, with its outcome.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// The checked property, as a short name that scripts can rely on.
    pub name: &'static str,
    /// The outcome of the self-check.
    pub verdict: Verdict,
    /// The explanation of the self-check's outcome as text, usually the measured value and its limit.
    pub detail: String,
}

/// The outcome of one self-check of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The checked property was measured within its bound.
    Holds,
    /// The checked property was measured outside its bound, or could not be measured.
    Failed,
    /// Pauses of this machine ended commanding, and the consequences were within their bounds. The check neither passes
    /// nor fails; it shows the number of such ends.
    Counted,
}

impl Verdict {
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Failed }
    }

    /// Returns the word for the outcome in six characters, which is printed in front of the check.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Holds => "ok    ",
            Self::Failed => "FAILED",
            Self::Counted => "paused",
        }
    }
}

impl Check {
    pub(crate) fn failed(&self) -> bool {
        self.verdict == Verdict::Failed
    }

    pub(crate) fn holds(&self) -> bool {
        self.verdict == Verdict::Holds
    }
}

/// A number with its unit and name, shown in a large font.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// The number to show, formatted as text.
    pub value: String,
    /// The unit of the number that is shown.
    pub unit: &'static str,
    /// The name of the quantity that the number measures.
    pub name: String,
}

/// The contents of the report page. Times are seconds since the start of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// A sentence that describes the run, at the top of the page.
    pub lead: String,
    /// The self-checks of the run.
    pub checks: Vec<Check>,
    /// The most important numbers of the run, shown in a large font.
    pub figures: Vec<Figure>,
    /// The times at which the mode of Outrigger's control state machine changed, with the new mode; the last mode
    /// continues to the end of the run.
    pub modes: Vec<(f64, Mode)>,
    /// The times at which the quality of the link to the robot changed, with the new grade of FRI's four.
    pub grades: Vec<(f64, Grade)>,
    /// The time at which each fault began or ended, with a short description; the first one is shown in detail.
    pub faults: Vec<(f64, &'static str)>,
    /// The instants to be drawn: time, description, and the arm with its surroundings.
    pub moments: Vec<(f64, &'static str, Scene)>,
    /// The events of the run: their times and texts.
    pub events: Vec<(f64, String)>,
    /// The error of the distance from tool to surface over time: pairs of time \[s\] and error \[mm\].
    pub error: Vec<(f64, f64)>,
    /// The largest accepted error of the distance from tool to surface \[mm\].
    pub error_bound: f64,
    /// The true joint speeds of the simulated arm over time \[rad/s\], base first.
    pub speeds: [Vec<(f64, f64)>; 6],
    /// The age of the robot's newest state over time, after the engine has handled it \[ms\].
    pub ages: Vec<(f64, f64)>,
    /// The age of the robot's newest state at which commanding ends \[ms\].
    pub age_limit: f64,
    /// The highest of the joints' speed limits \[rad/s\].
    pub speed_limit: f64,
    /// The intervals between the arrivals of successive robot states \[ms\].
    pub intervals: Vec<f64>,
    /// The times from the arrival of a robot state to the command that answers it \[ms\].
    pub turnarounds: Vec<f64>,
    /// The names and values of facts about the run, such as versions, host and seed.
    pub facts: Vec<(&'static str, String)>,
    /// The length of the run \[s\].
    pub seconds: f64,
}

impl Report {
    /// Returns the report of the run as an HTML page.
    #[must_use]
    pub(crate) fn html(&self) -> String {
        let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.push_str("<title>Outrigger demo</title>\n<style>\n");
        page.push_str(plot::STYLE);
        page.push_str("</style>\n</head>\n<body>\n<main>\n");
        self.head(&mut page);
        self.pictures(&mut page);
        self.timeline(&mut page);
        self.link(&mut page);
        self.tables(&mut page);
        page.push_str(
            "<footer>Outrigger performs no safety function. What is shown here was measured on one machine, over its \
             loopback network, with a simulated controller.</footer>\n</main>\n",
        );
        end(&mut page);
        page
    }

    fn head(&self, page: &mut String) {
        let failed = self.checks.iter().filter(|check| check.failed()).count();
        let (class, verdict) = match failed {
            0 => ("good", format!("✓ all {} checks passed", self.checks.iter().filter(|check| check.holds()).count())),
            n => ("bad", format!("✗ {n} of {} checks failed", self.checks.len())),
        };
        let _ = write!(
            page,
            "<header><h1>Outrigger demo</h1><p class=\"lead\">{}</p>\
             <p class=\"verdict {class}\">{verdict}</p></header>\n<div class=\"tiles\">",
            escape(&self.lead)
        );
        for figure in &self.figures {
            let _ = write!(
                page,
                "<div class=\"tile\"><div class=\"value\">{}<small>{}</small></div><div class=\"name\">{}</div></div>",
                escape(&figure.value),
                escape(figure.unit),
                escape(&figure.name)
            );
        }
        page.push_str("</div>\n");
    }

    /// Adds drawings of arm, workpiece and sensor at the important instants to the page.
    fn pictures(&self, page: &mut String) {
        if self.moments.is_empty() {
            return;
        }
        page.push_str(
            "<section><h2>Picture</h2><p>The simulated arm from the side, and its tool close up. The dashed line is the \
             distance sensor's beam.</p><div class=\"moments\">\n",
        );
        for (at, what, scene) in &self.moments {
            let _ = writeln!(
                page,
                "<figure><figcaption><b>{at:.1} s</b> {}</figcaption>{}</figure>",
                escape(what),
                scene.svg(what)
            );
        }
        page.push_str("</div></section>\n");
    }

    fn time(&self) -> Span {
        Span::new(0.0, self.seconds)
    }

    /// Returns the periods of the modes of Outrigger's control state machine, as coloured bands for charts.
    fn bands(&self) -> Vec<Band<'static>> {
        stretches(&self.modes, self.seconds, |mode| (mode_class(mode), mode.name()))
    }

    fn timeline(&self, page: &mut String) {
        let _ = writeln!(
            page,
            "<section><h2>The run</h2><p>The background shows the mode of this program; dotted lines are \
             events. {HOW_TO_READ}</p>"
        );
        let bands = self.bands();
        let grades = stretches(&self.grades, self.seconds, |grade| (grade_class(grade), grade.name()));
        let rows = [("mode", self.bands()), ("link", grades)];
        let strips = Strips { title: "Mode and link quality over time", time: self.time(), rows: &rows };
        figure(page, "Mode and link quality", "", |paper| strips.svg(paper));
        self.standoff(page, self.time(), &bands);
        self.joint_speeds(page, self.time(), &bands);
        self.state_age(page, self.time(), &bands);
        page.push_str("</section>\n");
        let Some((at, _)) = self.faults.first() else { return };
        page.push_str(
            "<section><h2>The fault, close up</h2><p>The network stalls. The newest state ages, commanding ends \
             at the limit, and the arm stops although no state arrives any longer.</p>\n",
        );
        let close = Span::new(at - 0.15, at + 0.85);
        self.state_age(page, close, &bands);
        self.joint_speeds(page, close, &bands);
        page.push_str("</section>\n");
    }

    fn marks(&self) -> Vec<Mark<'_>> {
        self.events.iter().map(|(at, name)| Mark { at: *at, name }).collect()
    }

    fn named(&self) -> Vec<Mark<'_>> {
        self.faults.iter().map(|(at, name)| Mark { at: *at, name }).collect()
    }

    fn standoff(&self, page: &mut String, time: Span, bands: &[Band<'_>]) {
        let bound = self.error_bound;
        let chart = TimeChart {
            title: "Standoff error over time",
            unit: "standoff error [mm]",
            height: 330.0,
            time,
            // The approach from a distance is cut off at the edge, because the range around the bound is of interest.
            values: Span::new(-4.0 * bound, 4.0 * bound),
            bands,
            marks: &self.marks(),
            named: &self.named(),
            limits: &[Limit { at: bound, name: "limit once settled" }, Limit { at: -bound, name: "" }],
            lines: &[Line { name: "standoff error", class: "wide", points: &self.error }],
        };
        let keys: String = Mode::ALL.map(|mode| key(&format!("{} area", mode_class(mode)), mode.name())).concat();
        figure(page, "Standoff error", &format!("<span>limit ±{bound} mm</span>{keys}"), |paper| chart.svg(paper));
    }

    fn joint_speeds(&self, page: &mut String, time: Span, bands: &[Band<'_>]) {
        const CLASSES: [&str; 6] = ["j0", "j1", "j2", "j3", "j4", "j5"];
        let speeds = self.speeds.iter().flatten().filter(|(at, _)| (time.from..=time.to).contains(at));
        let lines: Vec<_> = JOINTS
            .iter()
            .zip(CLASSES)
            .zip(&self.speeds)
            .map(|((name, class), points)| Line { name, class, points })
            .collect();
        let chart = TimeChart {
            title: "Joint speeds over time",
            unit: "joint speed [rad/s]",
            height: 330.0,
            time,
            values: Span::around(speeds.map(|(_, value)| *value), Span::new(-0.01, 0.01)),
            bands,
            marks: &self.marks(),
            named: &self.named(),
            limits: &[Limit { at: self.speed_limit, name: "speed limit" }, Limit { at: -self.speed_limit, name: "" }],
            lines: &lines,
        };
        let keys: String = JOINTS.iter().zip(CLASSES).map(|(name, class)| key(class, name)).collect();
        let limit = format!("<span>joint speed limit {:.2} rad/s</span>{keys}", self.speed_limit);
        figure(page, "Joint speeds of the simulated arm", &limit, |paper| chart.svg(paper));
    }

    fn state_age(&self, page: &mut String, time: Span, bands: &[Band<'_>]) {
        let ages = self.ages.iter().filter(|(at, _)| (time.from..=time.to).contains(at)).map(|(_, value)| *value);
        let chart = TimeChart {
            title: "Age of the robot's state over time",
            unit: "age [ms]",
            height: 230.0,
            time,
            values: Span { from: 0.0, ..Span::around(ages, Span::new(0.0, self.age_limit * 1.1)) },
            bands,
            marks: &self.marks(),
            named: &self.named(),
            limits: &[Limit { at: self.age_limit, name: "limit: commanding ends" }],
            lines: &[Line { name: "age of the newest state", class: "", points: &self.ages }],
        };
        figure(page, "Age of the newest state", "", |paper| chart.svg(paper));
    }

    fn link(&self, page: &mut String) {
        page.push_str(
            "<section><h2>The link</h2><p>Both axes are logarithmic: one late cycle in ten thousand is visible.</p>\n",
        );
        for (title, values) in [
            ("Time between states", &self.intervals),
            ("Turnaround: from reading a state to writing its command", &self.turnarounds),
        ] {
            let quantiles = [(0.5, "median"), (0.99, "99 %"), (1.0, "longest")];
            let names: Vec<_> = quantiles
                .into_iter()
                .filter_map(|(share, name)| quantile(values, share).map(|v| (v, format!("{name} {v:.3} ms"))))
                .collect();
            let marks: Vec<_> = names.iter().map(|(at, name)| Mark { at: *at, name }).collect();
            let histogram = Histogram { title, unit: "ms", values, marks: &marks };
            let count = format!("{} cycles", plot::grouped(values.len() as u64));
            figure(page, title, &count, |paper| histogram.svg(paper));
        }
        page.push_str("</section>\n");
    }

    fn tables(&self, page: &mut String) {
        page.push_str("<section><h2>Checks</h2><div class=\"card\"><table>");
        for check in &self.checks {
            let (class, word) = match check.verdict {
                Verdict::Holds => ("good", "passed"),
                Verdict::Failed => ("bad", "failed"),
                Verdict::Counted => ("", "paused"),
            };
            let _ = write!(
                page,
                "<tr><td class=\"state {class}\">{word}</td><th>{}</th><td>{}</td></tr>",
                escape(check.name),
                escape(&check.detail)
            );
        }
        page.push_str("</table></div></section>\n<section><h2>Events</h2><div class=\"card\"><table>");
        for (at, event) in &self.events {
            let _ = write!(page, "<tr><td class=\"time\">{at:.3} s</td><td>{}</td></tr>", escape(event));
        }
        page.push_str("</table></div></section>\n<section><h2>What ran</h2><div class=\"card\"><table>");
        for (name, value) in &self.facts {
            let _ = write!(page, "<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value));
        }
        page.push_str("</table></div></section>\n");
    }
}

/// Adds a chart with its title to the page. It is drawn for each medium, and the style sheet shows the drawing that
/// fits the screen.
pub(crate) fn figure(page: &mut String, title: &str, keys: &str, draw: impl Fn(ChartMedium) -> String) {
    let _ = write!(page, "<figure><figcaption><b>{}</b>{keys}</figcaption>", escape(title));
    for (paper, class) in ChartMedium::ALL {
        let _ = write!(page, "<div class=\"{class}\">{}</div>", draw(paper));
    }
    page.push_str("</figure>\n");
}

/// The text that explains to a reader how to use the charts of a page.
pub(crate) const HOW_TO_READ: &str = "Point at a chart for its values. Drag over it or pinch to zoom; double-click or double-tap resets \
                                      the zoom. Ctrl and the wheel zoom, Shift and the wheel scroll. Keys: ← → + − 0.";

/// Adds the end of an HTML page with charts: its script and closing tags.
pub(crate) fn end(page: &mut String) {
    page.push_str("<script>\n");
    page.push_str(plot::SCRIPT);
    page.push_str("</script>\n</body>\n</html>\n");
}

pub(crate) fn key(class: &str, name: &str) -> String {
    format!("<span class=\"key\"><i class=\"{class}\"></i>{}</span>", escape(name))
}

/// Returns a coloured band for each value in `changes`, from the time of the change up to the next one or to `end`.
/// `look` returns the CSS class and the name for a value.
fn stretches<'a, T: Copy>(changes: &[(f64, T)], end: f64, look: impl Fn(T) -> (&'a str, &'a str)) -> Vec<Band<'a>> {
    let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([end]);
    let stretch = |((from, value), to): (&(f64, T), f64)| {
        let (class, name) = look(*value);
        Band { span: Span { from: *from, to }, class, name }
    };
    changes.iter().zip(ends).filter(|((from, _), to)| to > from).map(stretch).collect()
}

const fn grade_class(grade: Grade) -> &'static str {
    match grade {
        Grade::Unacceptable => "unacceptable",
        Grade::Bad => "poor",
        Grade::Ok => "fair",
        Grade::Perfect => "perfect",
    }
}

const fn mode_class(mode: Mode) -> &'static str {
    match mode {
        Mode::Offline => "offline",
        Mode::Monitor => "monitor",
        Mode::Arming => "arming",
        Mode::Command => "command",
        Mode::Stopping => "stopping",
    }
}

/// Returns the quantile of the finite `values`: the smallest one that at least the fraction `share` of them does not
/// exceed; `None` if no value is finite.
#[must_use]
pub(crate) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted: Vec<_> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}
