//! The comparison as one self-contained HTML file.

use std::fmt::Write as _;

use outrigger_tests::comparison::{COLUMNS, Mechanism, Mechanisms, Mode, NUMBERS, Row, Sample};

use crate::plot::{ChartMedium, Line, Mark, SCRIPT, STYLE as SHARED, Span, TimeChart, escape};

/// The contents of the HTML page that compares methods of commanding an arm.
pub(crate) struct Page<'a> {
    /// The compared methods of commanding (modes), with the figures of their runs.
    pub(crate) rows: &'a [Row],
    /// The change of the arm's reaction time \[ms\] if one mechanism is switched off, for some modes and each
    /// mechanism.
    pub(crate) without: Vec<(Mode, Vec<f64>)>,
    /// The mechanisms that make the simulated arm late or inexact in the runs.
    pub(crate) mechanisms: Mechanisms,
    /// The number of runs of each mode.
    pub(crate) runs: u64,
}

/// The CSS classes of the strokes of a chart's curves, in the order of the curves.
const CLASSES: [&str; 6] = ["j0", "j1", "j2", "j3", "j4", "j5"];

const STYLE: &str = "
main { max-width: 1240px; }
.dense table { font-size: 13px; } .dense td, .dense th { padding: 6px 10px 6px 0; font-variant-numeric: tabular-nums; }
.dense th { white-space: normal; vertical-align: bottom; } .dense tr:first-child th { font-size: 12px; color: var(--dim); }
.dense td:first-child { min-width: 14em; } .dense td:last-child:not(.number) { min-width: 11em; } .dense td.number, .dense th.number { text-align: right; padding-right: 14px; }
code { font: 0.93em ui-monospace, \"DejaVu Sans Mono\", monospace; }
svg .line.reference { stroke: var(--ink); stroke-dasharray: 5 4; opacity: 0.7; }
.key i.reference { background: repeating-linear-gradient(90deg, var(--ink) 0 5px, transparent 5px 8px); }
";

/// A curve of a chart on the page.
struct Curve<'a> {
    name: String,
    class: &'a str,
    points: Vec<(f64, f64)>,
}

impl Page<'_> {
    /// Returns the page as HTML.
    pub(crate) fn html(&self) -> String {
        let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.push_str("<title>Half a turn and back</title>\n<style>\n");
        page.push_str(SHARED);
        page.push_str(STYLE);
        page.push_str("</style>\n</head>\n<body>\n<main>\n");
        self.head(&mut page);
        self.differences(&mut page);
        self.motion(&mut page);
        self.look_ahead(&mut page);
        self.speeds(&mut page);
        self.player(&mut page);
        self.slider(&mut page);
        self.long(&mut page);
        self.mechanisms(&mut page);
        page.push_str(
            "<footer>Everything here is simulated, in virtual time and from seeds: the same command makes the same page. The figures \
             of the report are from a real arm. Outrigger performs no safety function.</footer>\n</main>\n<script>\n",
        );
        page.push_str(SCRIPT);
        page.push_str("</script>\n</body>\n</html>\n");
        page
    }

    fn head(&self, page: &mut String) {
        let away: Vec<&str> =
            Mechanism::NAMED.iter().filter(|(known, _)| !self.mechanisms.has(*known)).map(|(_, name)| *name).collect();
        let away = if away.is_empty() { String::new() } else { format!(" Taken away: {}.", away.join(", ")) };
        let _ = write!(
            page,
            "<header><h1>Half a turn and back in 4 s</h1><p class=\"lead\">The base joint goes to −180° in 2 s and back in 2 s, by \
             every way in which arms of Universal Robots' have been commanded since 2015: simulated, {} runs of each, beside what \
             Andersen's report of 2015 measured on a real arm.{away}</p></header>\n<section><h2>The table</h2><p>Times are the \
             mean of the runs and how far one was from it at most, the rest is the worst run. <b>First motion</b>: from when the \
             client is asked until the joint moves at all; for Outrigger's paths from the state that the first command of the \
             motion answers, when its program has long been there. <b>Reaction</b>: how much later than its reference the joint is one \
             degree on its way. <b>Delay</b>: the shift in time of the whole motion that fits it best; negative where the joint is \
             ahead. <b>Tracking error</b>: largest distance from the reference, as it is and shifted by that delay. <b>Final \
             error</b>: one second after the end. <b>Ripple</b>: root mean square of how far the speed is from its own mean over \
             80 ms. <b>End deceleration</b>: largest from a tenth of a second before the reference's end on; the reference's own is \
             4.7 rad/s². Outrigger's <code>servoj</code> and closed-loop <code>speedj</code> have the law's feedback (P = 20 /s, \
             D = 0.1), which makes up for the delay and a little \
             more.</p>\n",
            self.runs
        );
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.cells(self.rows)).collect();
        table(page, &COLUMNS.map(str::to_owned), &rows, NUMBERS);
        page.push_str("</section>\n");
    }

    fn differences(&self, page: &mut String) {
        page.push_str(
            "<section><h2>Where simulation and report disagree</h2><p>By how much, and what is assumed where they do. No way has a delay of its own: \
             each comes from mechanisms that act on all ways (see below). One figure, that of <code>halting</code>, was chosen with a \
             look at the report.</p>\n",
        );
        let reported = self.rows.iter().filter(|row| row.mode.reported.is_some());
        let rows: Vec<Vec<String>> = reported
            .map(|row| {
                let words = row.mode.reported.map_or("", |reported| reported.words);
                let differences = row.differences(self.rows);
                let differences = if differences.is_empty() { "no figure".to_owned() } else { differences.join("; ") };
                let software = row.mode.software();
                let name = format!("{} ({}.{})", row.mode.about, software.major, software.minor);
                vec![name, words.to_owned(), differences, row.assumed().to_owned()]
            })
            .collect();
        let columns = ["way", "report of 2015", "simulation less report", "what is assumed"].map(str::to_owned);
        table(page, &columns, &rows, 0..0);
        page.push_str("</section>\n");
    }

    fn motion(&self, page: &mut String) {
        page.push_str(
            "<section><h2>The ways of 2015</h2><p>The first run of each. Dashed: the reference. Point at a line for its \
             name.</p>\n",
        );
        let names = [
            "lines",
            "precomputed",
            "threaded-1.8-0.08-uploaded",
            "threaded-1.8-0.008-uploaded",
            "speedj",
            "closed-loop",
        ];
        let whole = Span::new(0.0, 5.2);
        self.angles(page, "Angle of the joint", &names, whole, Span::new(-185.0, 5.0));
        self.angles(page, "The beginning", &names, Span::new(0.0, 0.6), Span::new(-40.0, 2.0));
        self.angles(page, "The turn", &names, Span::new(1.85, 2.4), Span::new(-181.5, -157.0));
        self.angles(page, "The end", &names, Span::new(3.75, 4.6), Span::new(-24.0, 1.5));
        self.errors(page, "Distance from the reference", &names, whole);
        self.of(page, "Speed of the joint", "speed [°/s]", &names, whole, |sample| sample.qd.to_degrees());
        page.push_str("</section>\n");
    }

    fn look_ahead(&self, page: &mut String) {
        page.push_str(
            "<section><h2><code>servoj</code> and its look-ahead</h2><p>Time of a call and look-ahead of a program that is there \
             before, and Outrigger's own program. A call of 80 ms takes no position while it lasts: the arm goes in \
             steps.</p>\n",
        );
        let names = [
            "threaded-0.08-0.1-resident",
            "threaded-0.008-0.1-resident",
            "threaded-0.08-0.03-resident",
            "threaded-0.008-0.03-resident",
            "reverse-servoj",
            "buffered",
        ];
        let whole = Span::new(0.0, 5.2);
        self.errors(page, "Distance from the reference", &names, whole);
        self.of(page, "Speed of the joint", "speed [°/s]", &names, Span::new(0.0, 1.0), |sample| {
            sample.qd.to_degrees()
        });
        page.push_str("</section>\n");
    }

    fn speeds(&self, page: &mut String) {
        page.push_str(
            "<section><h2><code>speedj</code></h2><p>Without the measured joint the drive's error of speed stays, until the way back \
             takes it away again. Feedback leaves none, and makes up for the delay.</p>\n",
        );
        let names = ["speedj", "speedj-there", "reverse-speedj", "closed-loop", "closed-loop-there", "closed-loop-e"];
        self.errors(page, "Distance from the reference", &names, Span::new(0.0, 5.2));
        page.push_str("</section>\n");
    }

    fn player(&self, page: &mut String) {
        page.push_str(
            "<section><h2>Outrigger's player</h2><p>The controller makes the motion by itself, by its own <code>movej</code>: even \
             acceleration, even speed, even deceleration, −180° in 2 s, which is its reference here. It is the second of two moves: \
             before the first, the arm must have stood for 0.2 s.</p>\n",
        );
        let names = ["player", "player-e"];
        let time = Span::new(0.0, 3.2);
        self.errors(page, "Distance from the reference", &names, time);
        self.of(page, "Speed of the joint", "speed [°/s]", &names, time, |sample| sample.qd.to_degrees());
        page.push_str("</section>\n");
    }

    fn slider(&self, page: &mut String) {
        page.push_str(
            "<section><h2>While the speed slider moves</h2><p>A client that knows nothing of it sends on in its own time; when the slider \
             goes up again, the arm is to catch up at once, and the controller stops it. Outrigger's reference slows down with the \
             scaling: dashed, that of the unbuffered run.</p>\n",
        );
        let names = ["threaded-slider", "reverse-servoj-slider", "buffered-slider"];
        let time = Span::new(0.0, 7.5);
        let mut curves = self.curves(&names, |_, sample| sample.q.to_degrees());
        if let Some(row) = self.row("reverse-servoj-slider") {
            curves.insert(0, reference(row));
        }
        chart(page, "Angle of the joint", "angle [°]", time, Some(Span::new(-190.0, 10.0)), &curves);
        self.errors(page, "Distance from the reference, in the motion's own time", &names[1..], time);
        let mut scaling = self.curves(&["reverse-servoj-slider"], |_, sample| sample.scaling * 100.0);
        scaling.iter_mut().for_each(|curve| curve.name = "the same in every run".to_owned());
        chart(page, "Speed scaling", "speed scaling [%]", time, Some(Span::new(0.0, 105.0)), &scaling);
        page.push_str("</section>\n");
    }

    fn long(&self, page: &mut String) {
        let Some(row) = self.row("long") else { return };
        let seconds = row.mode.wanted().length();
        let _ = writeln!(
            page,
            "<section><h2>{seconds} s of <code>speedj</code> without feedback</h2><p>The shoulder goes to and fro by ±45° in 6 s. \
             Distance from the reference as it is, and shifted by the delay.</p>"
        );
        let delay = row.shown.figures().delay * 1e-3;
        let off = |delay: f64| {
            move |row: &Row, sample: &Sample| (sample.q - row.mode.wanted().at(sample.own - delay)).to_degrees()
        };
        let parts = [("All of it", 0.0, seconds), ("Its last minute", seconds - 60.0, seconds)];
        for (title, from, to) in parts.into_iter().take(if seconds > 60.0 { 2 } else { 1 }) {
            let mut curves = self.curves(&["long"], off(0.0));
            curves.extend(self.curves(&["long"], off(delay)));
            if let [before, after] = &mut curves[..] {
                before.name = "as it is".to_owned();
                (after.name, after.class) = ("shifted by the delay".to_owned(), "j1");
            }
            chart(page, title, "distance [°]", Span::new(from, to), None, &curves);
        }
        page.push_str("</section>\n");
    }

    fn mechanisms(&self, page: &mut String) {
        page.push_str(
            "<section><h2>What makes the arm late</h2><p>The mechanisms of the simulation; <code>--without NAME</code> takes one away. \
             Nobody has published the figures that are called assumed.</p>\n",
        );
        let about: Vec<Vec<String>> = Mechanism::NAMED
            .iter()
            .map(|(mechanism, name)| vec![format!("`{name}`"), mechanism.about().to_owned()])
            .collect();
        table(page, &["name", "what it does"].map(str::to_owned), &about, 0..0);
        page.push_str(
            "<p style=\"margin-top:18px\">By how many ms the reaction changes where one is taken away, in the mean of the runs in \
             which the joint got on its way. Empty: by less than a twentieth. A mechanism that draws random numbers leaves others to the rest, so that a text may come a \
             cycle sooner or later. <code>nagle</code> delays nothing here: no client of 2015 waits for a state, and \
             Outrigger acknowledges what it reads.</p>\n",
        );
        let columns: Vec<String> =
            ["way".to_owned()].into_iter().chain(Mechanism::NAMED.iter().map(|(_, name)| (*name).to_owned())).collect();
        let rows: Vec<Vec<String>> = self
            .without
            .iter()
            .map(|(mode, changes)| {
                let software = mode.software();
                let name = format!("{} ({}.{})", mode.about, software.major, software.minor);
                let changes = changes.iter().map(|change| {
                    if change.is_nan() {
                        "no motion".to_owned()
                    } else if change.abs() < 0.05 {
                        String::new()
                    } else {
                        format!("{change:+.1}").replace('-', "−")
                    }
                });
                std::iter::once(name).chain(changes).collect()
            })
            .collect();
        table(page, &columns, &rows, 1..columns.len());
        page.push_str("</section>\n");
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.mode.name == name)
    }

    fn curves(&self, names: &[&str], value: impl Fn(&Row, &Sample) -> f64) -> Vec<Curve<'static>> {
        let rows = names.iter().filter_map(|name| self.row(name));
        rows.zip(CLASSES)
            .map(|(row, class)| {
                let software = row.mode.software();
                let name = format!("{} ({}.{})", row.mode.about, software.major, software.minor);
                let samples = row.shown.samples.iter().filter(|sample| sample.t >= -0.1);
                Curve { name, class, points: samples.map(|sample| (sample.t, value(row, sample))).collect() }
            })
            .collect()
    }

    fn angles(&self, page: &mut String, title: &str, names: &[&str], time: Span, values: Span) {
        let mut curves = self.curves(names, |_, sample| sample.q.to_degrees());
        curves.extend(self.row("closed-loop").map(reference));
        chart(page, title, "angle [°]", time, Some(values), &curves);
    }

    fn errors(&self, page: &mut String, title: &str, names: &[&str], time: Span) {
        let curves = self.curves(names, |row, sample| (sample.q - row.mode.wanted().at(sample.own)).to_degrees());
        chart(page, title, "distance [°]", time, None, &curves);
    }

    fn of(
        &self,
        page: &mut String,
        title: &str,
        unit: &str,
        names: &[&str],
        time: Span,
        value: impl Fn(&Sample) -> f64,
    ) {
        let curves = self.curves(names, |_, sample| value(sample));
        chart(page, title, unit, time, None, &curves);
    }
}

/// Returns the reference motion of a run as a curve over time.
fn reference(row: &Row) -> Curve<'static> {
    let samples = row.shown.samples.iter().filter(|sample| sample.t >= -0.1);
    let points = samples.map(|sample| (sample.t, row.mode.wanted().at(sample.own).to_degrees())).collect();
    Curve { name: "reference".to_owned(), class: "reference", points }
}

fn chart(page: &mut String, title: &str, unit: &str, time: Span, values: Option<Span>, curves: &[Curve<'_>]) {
    let shown = |at: &f64| (time.from..=time.to).contains(at);
    let all = curves.iter().flat_map(|curve| curve.points.iter().filter(|(at, _)| shown(at)).map(|(_, value)| *value));
    let values = values.unwrap_or_else(|| Span::around(all, Span::new(-0.1, 0.1)));
    let lines: Vec<Line<'_>> =
        curves.iter().map(|curve| Line { name: &curve.name, class: curve.class, points: &curve.points }).collect();
    let marks: &[Mark<'_>] = &[];
    let chart = TimeChart {
        title,
        unit,
        height: 340.0,
        time,
        values,
        bands: &[],
        marks,
        named: &[],
        limits: &[],
        lines: &lines,
    };
    let key = |curve: &Curve<'_>| {
        format!("<span class=\"key\"><i class=\"{}\"></i>{}</span>", curve.class, marked_up(&curve.name))
    };
    let keys: String = curves.iter().map(key).collect();
    let _ = write!(page, "<figure><figcaption><b>{}</b>{keys}</figcaption>", escape(title));
    for (paper, class) in ChartMedium::ALL {
        let _ = write!(page, "<div class=\"{class}\">{}</div>", chart.svg(paper));
    }
    page.push_str("</figure>\n");
}

/// Adds a table; the cells of the columns in `numbers` are aligned to the right.
fn table(page: &mut String, columns: &[String], rows: &[Vec<String>], numbers: std::ops::Range<usize>) {
    page.push_str("<div class=\"card dense\"><table><tr>");
    let class = |at: usize| if numbers.contains(&at) { " class=\"number\"" } else { "" };
    for (at, column) in columns.iter().enumerate() {
        let _ = write!(page, "<th{}>{}</th>", class(at), marked_up(column));
    }
    page.push_str("</tr>\n");
    for row in rows {
        page.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            // A figure and its spread stay on one line.
            let text = marked_up(cell).replace(" ± ", "&nbsp;±&nbsp;").replace(" / ", "&nbsp;/&nbsp;");
            let _ = write!(page, "<td{}>{text}</td>", class(at));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

/// Returns text as HTML. Text between two backticks is code.
fn marked_up(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let part = escape(part);
        if at % 2 == 1 { format!("<code>{part}</code>") } else { part }
    });
    parts.collect()
}
