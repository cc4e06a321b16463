//! The page of a test that failed: the motion of the simulated arm, and the events of its controller.

use std::fmt::Write as _;

use outrigger_sim::controller::Moment;
use outrigger_sim::history::{History, PastEvent};

use super::plot::{Line, Mark, STYLE, Span, TimeChart, escape};
use super::{HOW_TO_READ, JOINTS, end, figure, key};

const CLASSES: [&str; 6] = ["j0", "j1", "j2", "j3", "j4", "j5"];
const AXES: [&str; 3] = ["x", "y", "z"];
/// The joint speed below which a joint counts as being at rest \[rad/s\].
const REST: f64 = 1e-3;
/// The space for labels above the lines of a chart, as a share of the lines' height.
const HEADROOM: f64 = 0.32;
/// Events that are closer than this share of the time axis have one label.
const LABEL: f64 = 0.03;

/// A run of a simulated arm, as the page shows it.
#[derive(Debug)]
pub struct SimulatedRun<'a> {
    /// The heading of the page, usually the name of the test.
    pub title: &'a str,
    /// The simulated controller in words.
    pub robot: &'a str,
    /// The failure of the test; empty for none.
    pub failure: &'a str,
    /// The motion of the arm and the events.
    pub history: &'a History,
}

impl SimulatedRun<'_> {
    /// Returns the page as one HTML file, which loads nothing.
    #[must_use]
    pub fn html(&self) -> String {
        let title = escape(self.title);
        let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        let _ = write!(page, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n");
        let _ = write!(page, "<header><h1>{title}</h1><p class=\"lead\">{}</p>", escape(self.robot));
        page.push_str(if self.failure.is_empty() { "" } else { "<p class=\"verdict bad\">✗ failed</p>" });
        page.push_str("</header>\n");
        self.tiles(&mut page);
        if !self.failure.is_empty() {
            let _ = writeln!(page, "<section><h2>Failure</h2><pre>{}</pre></section>", escape(self.failure));
        }
        self.charts(&mut page);
        self.events(&mut page);
        page.push_str(
            "<footer>A simulated arm: how it moves says nothing about a real arm in its cell.</footer>\n</main>\n",
        );
        end(&mut page);
        page
    }

    fn tiles(&self, page: &mut String) {
        let speed = |moment: &Moment| moment.qd.iter().fold(0.0_f64, |most, qd| most.max(qd.abs()));
        let fastest = self.history.moments().map(speed).fold(0.0, f64::max);
        let last = self.history.moments().last();
        let rest = match last.map(speed) {
            Some(speed) if speed < REST => ("at rest", String::new()),
            Some(speed) => ("moving", format!("{speed:.2} rad/s")),
            None => ("unknown", String::new()),
        };
        page.push_str("<div class=\"tiles\">");
        for (value, unit, name) in [
            (rest.0.to_owned(), rest.1.as_str(), "the arm at the end"),
            (
                format!("{:.2}", last.map_or(0.0, |moment| moment.at.as_secs_f64())),
                "s",
                "from the controller's start to the end",
            ),
            (format!("{fastest:.2}"), "rad/s", "highest speed of a joint"),
        ] {
            let _ = write!(
                page,
                "<div class=\"tile\"><div class=\"value\">{value}<small>{unit}</small></div><div class=\"name\">{name}</div></div>"
            );
        }
        page.push_str("</div>\n");
    }

    fn charts(&self, page: &mut String) {
        let _ = writeln!(
            page,
            "<section><h2>Motion</h2><p>The true state of the simulated arm, at most the last 60 s. Dotted lines are \
             events, with their numbers in the list below. {HOW_TO_READ}</p>"
        );
        let joints = JOINTS.iter().copied().zip(CLASSES);
        let axes = || AXES.iter().copied().zip(CLASSES);
        self.chart(page, "Joint angles", "angle [rad]", 0.01, joints.clone(), |moment| moment.q);
        self.chart(page, "Joint speeds", "speed [rad/s]", 0.01, joints, |moment| moment.qd);
        self.chart(page, "Tool position in the base frame", "position [m]", 0.001, axes(), |moment| {
            moment.tool.position
        });
        self.chart(page, "Force on the tool in the base frame", "force [N]", 1.0, axes(), |moment| {
            let [x, y, z, ..] = moment.force;
            [x, y, z]
        });
        page.push_str("</section>\n");
    }

    /// Adds a chart with a line for each of the named values of the arm. The vertical axis is at least ±`least` around
    /// a value.
    fn chart<'n, const N: usize>(
        &self,
        page: &mut String,
        title: &str,
        unit: &str,
        least: f64,
        names: impl Iterator<Item = (&'n str, &'n str)>,
        values: impl Fn(&Moment) -> [f64; N],
    ) {
        let names: Vec<_> = names.collect();
        let mut series = [const { Vec::<(f64, f64)>::new() }; N];
        for moment in self.history.moments() {
            for (points, value) in series.iter_mut().zip(values(moment)) {
                points.push((moment.at.as_secs_f64(), value));
            }
        }
        let all = series.iter().flatten().map(|(_, value)| *value);
        let first = all.clone().next().unwrap_or_default();
        let drawn = Span::around(all, Span::new(first - least, first + least));
        let values = Span { to: drawn.to + (drawn.to - drawn.from) * HEADROOM, ..drawn };
        let time = self.time();
        let (marks, numbers) = (self.marks(), self.numbers());
        let named: Vec<_> = numbers.iter().map(|(at, name)| Mark { at: *at, name }).collect();
        let lines: Vec<_> =
            names.iter().zip(&series).map(|((name, class), points)| Line { name, class, points }).collect();
        let chart = TimeChart {
            title,
            unit,
            height: 270.0,
            time,
            values,
            bands: &[],
            marks: &marks,
            named: &named,
            limits: &[],
            lines: &lines,
        };
        let keys: String = names.iter().map(|(name, class)| key(class, name)).collect();
        figure(page, title, &keys, |paper| chart.svg(paper));
    }

    fn time(&self) -> Span {
        let at = |moment: Option<&Moment>| moment.map_or(0.0, |moment| moment.at.as_secs_f64());
        let first = at(self.history.moments().next());
        // The first state is that after the first cycle; a client may have connected before.
        let first = if first <= History::INTERVAL.as_secs_f64() { 0.0 } else { first };
        Span::new(first, at(self.history.moments().last()))
    }

    fn marks(&self) -> Vec<Mark<'_>> {
        self.history.events().map(|event| Mark { at: event.at.as_secs_f64(), name: &event.text }).collect()
    }

    /// Returns the labels of the events in the charts: their numbers in the list.
    fn numbers(&self) -> Vec<(f64, String)> {
        let time = self.time();
        let apart = (time.to - time.from) * LABEL;
        let mut groups: Vec<(f64, usize, usize)> = vec![];
        let shown = |event: &PastEvent| (time.from..=time.to).contains(&event.at.as_secs_f64());
        for (number, event) in (1..).zip(self.history.events()).filter(|(_, event)| shown(event)) {
            let at = event.at.as_secs_f64();
            match groups.last_mut() {
                Some((first, _, last)) if at - *first < apart => *last = number,
                _ => groups.push((at, number, number)),
            }
        }
        let label =
            |(at, first, last)| (at, if first == last { format!("{first}") } else { format!("{first}–{last}") });
        groups.into_iter().map(label).collect()
    }

    fn events(&self, page: &mut String) {
        page.push_str("<section><h2>Events</h2>");
        if self.history.left_out() > 0 {
            let _ = write!(page, "<p>{} earlier ones are not stored.</p>", self.history.left_out());
        }
        page.push_str("<div class=\"card\"><table>");
        for (number, event) in (1..).zip(self.history.events()) {
            let times = if event.times > 1 { format!(", {} times in a row", event.times) } else { String::new() };
            let _ = write!(
                page,
                "<tr><td class=\"time\">{number}</td><td class=\"time\">{:.3} s</td><td>{}{times}</td></tr>",
                event.at.as_secs_f64(),
                escape(&event.text)
            );
        }
        if self.history.events().len() == 0 {
            page.push_str("<tr><td>None: no client connected.</td></tr>");
        }
        page.push_str("</table></div></section>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_sim::controller::{Controller, Options};
    use outrigger_sim::port::Port;
    use outrigger_sim::time::SimTime;

    #[test]
    fn the_page_has_the_failure_four_charts_and_numbered_events() {
        let faults = vec!["protective-stop@2s".parse().unwrap()];
        let mut controller = Controller::new(Options { faults, ..Options::default() }).unwrap();
        let mut history = History::new(&mut controller);
        let client = controller.connect(Port::Primary).unwrap();
        controller.write(client, b"speedj([0.3, 0, 0, 0, 0, 0], 1, 9)\n");
        controller.advance_to(SimTime::from_secs(4));
        history.collect(&mut controller);
        let run =
            SimulatedRun { title: "test_a[<x>]", robot: "ur5e", failure: "assert 1 < 0 & more", history: &history };
        let page = run.html();
        assert!(page.contains("<h1>test_a[&lt;x&gt;]</h1>") && page.contains("assert 1 &lt; 0 &amp; more"));
        assert_eq!(page.matches("<figure>").count(), 4);
        assert!(
            page.contains("<td class=\"time\">2</td><td class=\"time\">0.000 s</td><td>statement `speedj` received")
        );
        assert_eq!(run.numbers().iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), ["1–2", "3–5"], "{page}");
        assert!(page.contains("at rest") && page.contains(">0.30<small>rad/s"), "{page}");
    }

    #[test]
    fn a_run_that_has_not_begun_has_a_page() {
        let mut controller = Controller::new(Options::default()).unwrap();
        let history = History::new(&mut controller);
        let page = SimulatedRun { title: "t", robot: "r", failure: "", history: &history }.html();
        assert!(page.contains("None: no client connected.") && !page.contains("NaN"), "{page}");
    }
}
