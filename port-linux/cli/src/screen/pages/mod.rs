//! Draws the pages of the full-screen view, each about one topic.

mod force;
mod io_terminals;
mod joints;
mod link;
mod main;
mod program;
mod slider;
mod temperature;
mod tool_pose;

use outrigger_wire::time::Duration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Widget as _};

use super::page_style::{Quantities, SOFT, Severity, badge, panel};
use super::plot_history::History;
use outrigger::show::Snapshot;

/// A page of the full-screen view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Main,
    Link,
    Joints,
    Tool,
    Force,
    Temperature,
    Slider,
    Program,
    Terminals,
}

impl Page {
    /// Every page of the view, in the order of their numbers.
    pub(super) const ALL: [Self; 9] = [
        Self::Main,
        Self::Link,
        Self::Joints,
        Self::Tool,
        Self::Force,
        Self::Temperature,
        Self::Slider,
        Self::Program,
        Self::Terminals,
    ];

    /// Returns the page with this number, which is 0 for the first one; the first one for a number without a page.
    pub(super) fn of(number: u16) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Main)
    }

    /// Returns the name of the page that is shown beside its key.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Link => "link",
            Self::Joints => "joints",
            Self::Tool => "TCP",
            Self::Force => "force",
            Self::Temperature => "temperature",
            Self::Slider => "slider",
            Self::Program => "program",
            Self::Terminals => "I/O",
        }
    }

    /// Draws the page into `area`, and returns the number of rows used.
    pub(super) fn draw(self, snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
        if self == Self::Main {
            return main::draw(snapshot, history, area, buffer);
        }
        let row = Rect { height: area.height.min(1), ..area };
        standing(snapshot, row.width).render(row, buffer);
        let rest = Rect { y: area.y + row.height, height: area.height - row.height, ..area };
        row.height
            + match self {
                Self::Main => 0,
                Self::Link => link::draw(snapshot, rest, buffer),
                Self::Joints => joints::draw(snapshot, history, rest, buffer),
                Self::Tool => tool_pose::draw(snapshot, history, rest, buffer),
                Self::Force => force::draw(snapshot, history, rest, buffer),
                Self::Temperature => temperature::draw(snapshot, history, rest, buffer),
                Self::Slider => slider::draw(snapshot, history, rest, buffer),
                Self::Program => program::draw(snapshot, rest, buffer),
                Self::Terminals => io_terminals::draw(snapshot, rest, buffer),
            }
    }
}

/// Returns one row that shows, as far as it fits, the mode, a fault or an undetected pendant stop, the link's grade,
/// the age of the values, and the controller's states.
fn standing(snapshot: &Snapshot, width: u16) -> Line<'static> {
    let mut parts = vec![];
    parts.extend(snapshot.overrides_pendant.then(|| Severity::Doubtful.says("pendant stop undetected")));
    parts.extend(snapshot.latch.map(|reason| Severity::Bad.says(&format!("fault: {}", reason.name()))));
    match &snapshot.figures {
        Some(figures) => {
            parts.push(Severity::of_grade(figures.grade).says(figures.grade.name()));
            let age = figures.age.map_or_else(|| "unknown".into(), millis);
            parts.push(Span::from(format!("age {age}")));
        }
        None => parts.push(Severity::Bad.says("no link")),
    }
    let words = snapshot.state.iter().flat_map(|arm| &arm.words);
    parts.extend(words.map(|word| Span::from(format!("{} {}", word.name, word.said()))));
    let mut line = Line::from(vec![Span::from(" "), badge(snapshot.mode)]);
    for part in parts {
        if line.width() + part.width() + 2 <= usize::from(width) {
            line.extend([Span::from("  "), part]);
        }
    }
    line
}

/// Formats a duration as text in milliseconds, from ten seconds on in seconds.
fn millis(span: Duration) -> String {
    let millis = span.as_secs_f64() * 1e3;
    match millis {
        ..10.0 => format!("{millis:.2} ms"),
        ..10_000.0 => format!("{millis:.1} ms"),
        _ => format!("{:.0} s", millis / 1e3),
    }
}

/// Returns a frame with this title around `rows` rows, and the number of rows that it needs. If the whole frame does
/// not fit into `most` rows, only its title is drawn.
fn framed(title: &str, rows: u16, most: u16) -> (Block<'_>, u16) {
    if rows.saturating_add(2) <= most {
        return (panel(title), rows + 2);
    }
    (panel(title).borders(Borders::TOP), rows.saturating_add(1).min(most))
}

/// Draws a panel with a table of quantities, and returns the number of screen rows used.
fn table(title: &str, quantities: &Quantities<'_>, area: Rect, buffer: &mut Buffer) -> u16 {
    let (block, height) = framed(title, quantities.height(), area.height);
    let area = Rect { height, ..area };
    let inner = block.inner(area);
    block.render(area, buffer);
    quantities.draw(inner, buffer);
    height
}

/// Draws a panel with these lines of text, and returns the number of screen rows used.
fn lines(title: &str, lines: Vec<Line<'_>>, area: Rect, buffer: &mut Buffer) -> u16 {
    let paragraph = super::page_style::wrapped(lines);
    let rows = rows_of(&paragraph, area.width.saturating_sub(4));
    let (block, height) = framed(title, rows, area.height);
    paragraph.block(block).render(Rect { height, ..area }, buffer);
    height
}

/// Returns the number of rows that `paragraph` needs if it is `width` characters wide, 60 at most.
fn rows_of(paragraph: &Paragraph<'_>, width: u16) -> u16 {
    const MOST: u16 = 60;
    let mut room = Buffer::empty(Rect::new(0, 0, width, MOST));
    paragraph.clone().render(room.area, &mut room);
    let mut cells = room.content().chunks(usize::from(width).max(1));
    let last = cells.rposition(|row| row.iter().any(|cell| cell.symbol() != " "));
    last.map_or(0, |at| u16::try_from(at).unwrap_or(MOST) + 1)
}

/// Draws a panel which shows that its values are unknown, with the reason `why`. Returns the number of screen rows
/// used.
fn unknown(title: &str, why: &str, area: Rect, buffer: &mut Buffer) -> u16 {
    let text = vec![Line::from(vec![super::page_style::value(None), format!(": {why}").fg(SOFT)])];
    lines(title, text, area, buffer)
}

/// Draws the panel of a page whose values are unknown, because there is no state of the arm. Returns the number of
/// screen rows used.
fn no_state(title: &str, snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) -> u16 {
    unknown(title, why(snapshot, "no robot state received yet"), area, buffer)
}

/// Returns the reason why a value is unknown: there is no link, or `otherwise`.
const fn why(snapshot: &Snapshot, otherwise: &'static str) -> &'static str {
    if snapshot.figures.is_some() { otherwise } else { "not connected to the robot" }
}
