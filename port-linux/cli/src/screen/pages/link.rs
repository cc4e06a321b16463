//! The page with the figures of the link that brings states, and the time between them.

use outrigger_core::link::{Bin, Figures};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use super::millis;
use crate::screen::page_style::{SOFT, Severity, is_within, panel, wrapped};
use outrigger::show::{Snapshot, grade};

/// The largest number of rows for the histogram of the times between the robot's states. It is enough on most links.
const BINS: u16 = 12;

pub(super) fn draw(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) -> u16 {
    let mut lines = figures(snapshot, Detail::Everything);
    // On the first page this is shown beside the mode.
    lines.extend(snapshot.trouble.as_deref().filter(|_| snapshot.figures.is_some()).map(Line::from));
    let figures = super::lines("link quality", lines, area, buffer);
    let rest = Rect { y: area.y + figures, height: area.height - figures, ..area };
    let bins = u16::try_from(snapshot.intervals.len()).unwrap_or(BINS).min(BINS);
    let height = bins.saturating_add(2).min(rest.height);
    if bins == 0 || height < 4 {
        return figures;
    }
    histogram(snapshot, Rect { height, ..rest }, buffer);
    figures + height
}

/// The detail in which the quality grade of the link is shown, from the most to the least.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The figure that lowered the link's grade, the condition for the next better grade, and advice.
    Everything,
    /// The figure that lowered the link's grade, and the condition for the next better grade.
    Next,
    /// The figure that lowered the link's grade, alone.
    Fall,
    /// The grade of the link, and the one that commanding needs.
    Grade,
}

/// Draws the figures of the link into `area`, with as many details about the link's grade as fit.
pub(super) fn draw_figures(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) {
    let block = panel("link quality");
    let room = block.inner(area);
    let lines = [Detail::Everything, Detail::Next, Detail::Fall]
        .into_iter()
        .map(|detail| figures(snapshot, detail))
        .find(|lines| is_within(lines, room))
        .unwrap_or_else(|| figures(snapshot, Detail::Grade));
    wrapped(lines).block(block).render(area, buffer);
}

/// Returns the lines about the quality grade of the link, and the reason why it is not better, in this detail.
fn grade_lines(snapshot: &Snapshot, figures: &Figures, detail: Detail) -> Vec<Line<'static>> {
    let low = figures.grade_low();
    let mut head = vec![Severity::of_grade(figures.grade).says(figures.grade.name())];
    if low.grade < low.needed {
        head.push(Span::from(format!("   needs {}", low.needed.name())));
    }
    let mut lines = vec![Line::from(head)];
    // While the grade is the best one, the last fall is of no interest.
    let Some(next) = grade::next_grade(&low).filter(|_| detail != Detail::Grade) else { return lines };
    lines.extend(low.fell.map(|fell| Line::from(grade::fell(&fell, snapshot.observer))));
    if matches!(detail, Detail::Everything | Detail::Next) {
        lines.push(Line::from(next));
    }
    if detail == Detail::Everything && low.grade < low.needed {
        lines.push(Line::from(grade::remedy(&low, snapshot.here, snapshot.observer)).fg(SOFT));
    }
    lines
}

fn figures(snapshot: &Snapshot, detail: Detail) -> Vec<Line<'_>> {
    let Some(figures) = &snapshot.figures else {
        let no_link = Line::from(Severity::Bad.says("no link"));
        return std::iter::once(no_link).chain(snapshot.trouble.as_deref().map(Line::from)).collect();
    };
    let sequence = figures.sequence;
    let mut lines = grade_lines(snapshot, figures, detail);
    let age = figures.age.map_or_else(|| "unknown".into(), millis);
    lines.push(Line::from(format!("age {age}   jitter {}", millis(figures.jitter))));
    lines.extend(figures.answers.map(|answers| {
        let trip = answers.round_trip.map_or_else(String::new, |trip| format!("   round trip {}", millis(trip)));
        // These numbers are of the last hundred states.
        Line::from(format!("answered {} %{trip}", answers.rate / 100))
    }));
    lines.extend(snapshot.states.as_ref().map(|states| Line::from(states.line())));
    lines.extend([
        Line::from(format!("states {}   longest gap {}", sequence.accepted, millis(figures.interval.max))),
        Line::from(format!("lost {}   late {}   duplicate {}", sequence.lost, figures.late, sequence.duplicates)),
        Line::from(format!(
            "reordered {}   epoch {}   own stalls {}",
            sequence.reordered, figures.epoch, figures.local_stalls
        )),
    ]);
    // This is only seen if something else answers at the controller's address.
    lines.extend((figures.impossible > 0).then(|| Line::from(format!("impossible {}", figures.impossible))));
    lines
}

/// Draws a histogram of the times between the robot's states: a bar with its count for each interval. If there are too
/// few rows, only the intervals with the highest counts are shown, in their order.
pub(super) fn histogram(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) {
    const LABEL: usize = 8;
    const COUNT: usize = 10;
    let block = panel("time between states (log scale)");
    let inner = block.inner(area);
    block.render(area, buffer);
    let mut bins: Vec<Bin> = snapshot.intervals.iter().filter(|bin| bin.count > 0).copied().collect();
    while bins.len() > usize::from(inner.height) {
        let least = bins.iter().enumerate().min_by_key(|(_, bin)| bin.count).map(|(at, _)| at);
        bins.remove(least.unwrap_or(0));
    }
    let logarithm = |count: u32| f64::from(count).log2() + 1.0;
    let most = bins.iter().map(|bin| logarithm(bin.count)).fold(1.0, f64::max);
    let room = usize::from(inner.width).saturating_sub(LABEL + COUNT + 5);
    for (row, bin) in (inner.y..inner.bottom()).zip(&bins) {
        let from = bin.from.as_secs_f64() * 1e3;
        let label = if from < 10.0 { format!("{from:.2}") } else { format!("{from:.0}") };
        let bar = "█".repeat((logarithm(bin.count) / most * room as f64).round() as usize);
        let line = vec![
            Span::from(format!("{label:>5} ms ")),
            Span::from(bar).fg(Color::Cyan),
            Span::from(format!(" {}", bin.count)),
        ];
        Line::from(line).render(Rect { y: row, height: 1, ..inner }, buffer);
    }
}
