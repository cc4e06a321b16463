//! The first page: whether this program may move the arm, the reason if not, and the quality of the link; joints and
//! other values if there is space.

use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;

use super::{joints, link};
use crate::screen::page_style::{SOFT, Severity, badge, is_within, panel, value, wrapped};
use crate::screen::plot_history::{History, shown_error};
use outrigger::show::law_values::{label, worded};
use outrigger::show::{LawError, Snapshot, reason_text};

/// The number of rows of the panels that show the mode and the link.
const TOP: u16 = 10;
/// The smallest range of a control error that fills the height of its plot \[mm or °\]. Smaller changes are drawn with
/// a part of the height.
const STILL: f32 = 0.2;
const ERROR: u16 = 3;

pub(super) fn draw(snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
    let joints_of = snapshot.state.as_ref().map_or(6, |arm| arm.joints.len());
    let middle = u16::try_from(joints_of).unwrap_or(u16::MAX).saturating_add(3);
    // A panel that does not fit is left out as a whole.
    let mut left = area.height.saturating_sub(TOP);
    let mut room_for = |wanted: u16| {
        let taken = if wanted <= left { wanted } else { 0 };
        left -= taken;
        taken
    };
    // Once there was an error its panel stays, so that the page does not jump when the mode changes.
    let has_error = snapshot.law_error.is_some() || history.error.is_known();
    let error = room_for(if has_error { ERROR } else { 0 });
    let middle = room_for(middle);
    let angles = room_for(if middle == 0 && snapshot.state.is_some() { joints::ANGLES } else { 0 });
    // On the smallest screen that row is for the newest event.
    let top = TOP.min(area.height.saturating_sub(1));
    let mut at = area.y;
    let mut rows = |height: u16| {
        let rows = Rect { y: at, height, ..area };
        at += height;
        rows
    };
    let halves = Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]);
    let [mode, figures] = halves.areas(rows(top));
    draw_mode(snapshot, mode, buffer);
    link::draw_figures(snapshot, figures, buffer);
    if error > 0 {
        draw_error(snapshot.law_error, history, rows(error), buffer);
    }
    if middle > 0 {
        let [left, right] = halves.areas(rows(middle));
        joints::draw(snapshot, history, left, buffer);
        link::histogram(snapshot, right, buffer);
    }
    if angles > 0 {
        joints::draw_angles(snapshot, rows(angles), buffer);
    }
    top + error + middle + angles
}

/// Draws the remaining error of the control law and a plot of it; the error is unknown while the arm is not commanded.
fn draw_error(error: Option<LawError>, history: &History, area: Rect, buffer: &mut Buffer) {
    let block = panel("control error");
    let inner = block.inner(area);
    block.render(area, buffer);
    let text = error.map(|error| match error {
        LawError::Joint(_) => format!("{:+.4} ° worst joint", shown_error(error)),
        LawError::Value(value) => {
            let text = worded(&value).unwrap_or_default();
            if value.part.is_some() { text } else { format!("{} {text}", label(&value)) }
        }
    });
    let [text_area, course] = Layout::horizontal([Constraint::Length(32), Constraint::Fill(1)]).areas(inner);
    Line::from(value(text)).render(text_area, buffer);
    history.error.draw(STILL, Rect { width: course.width.min(120), ..course }, buffer);
}

/// The detail in which the panel of the mode shows why the arm is not commanded.
#[derive(Clone, Copy)]
enum Detail {
    /// The event that ended commanding, its remedy, and every unmet precondition.
    Everything,
    /// The event that ended commanding and every unmet precondition, without remedies.
    NoAdvice,
    /// The names of the most important reasons why the arm is not commanded, in one row; the events contain the rest.
    Names,
}

/// Draws the panel of the session's mode. Its reasons are shortened until the values below them fit, too.
fn draw_mode(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) {
    let block = panel("mode");
    let room = block.inner(area);
    let lines = [Detail::Everything, Detail::NoAdvice]
        .into_iter()
        .map(|detail| mode_lines(snapshot, detail))
        .find(|lines| is_within(lines, room))
        .unwrap_or_else(|| mode_lines(snapshot, Detail::Names));
    wrapped(lines).block(block).render(area, buffer);
}

fn mode_lines(snapshot: &Snapshot, detail: Detail) -> Vec<Line<'_>> {
    let mut head = vec![badge(snapshot.mode)];
    let words: Vec<_> = snapshot
        .state
        .iter()
        .flat_map(|state| &state.words)
        .map(|word| format!("{} {}", word.name, word.said()))
        .collect();
    if !words.is_empty() {
        head.push(Span::from(format!("   {}", words.join(", "))));
    }
    let mut lines = vec![Line::from(head)];
    match detail {
        Detail::Everything => lines.extend(reasons(snapshot, true)),
        Detail::NoAdvice => lines.extend(reasons(snapshot, false)),
        Detail::Names => lines.extend(names(snapshot)),
    }
    // Without a link this is shown in the panel of the link.
    if let Some(trouble) = snapshot.trouble.as_ref().filter(|_| snapshot.figures.is_some()) {
        lines.push(Line::from(trouble.as_str()).fg(Severity::Bad.color()));
    }
    for (name, value) in &snapshot.values {
        lines.push(Line::from(vec![format!("{name}: ").fg(SOFT), value.as_str().into()]));
    }
    lines
}

/// Returns the reasons for which a request to command would be refused, causes before their consequences. A fault that
/// must be acknowledged is left out, because it is shown separately.
fn unmet(snapshot: &Snapshot) -> Vec<Reason> {
    let mut unmet = reason_text::causes_first(snapshot.unmet);
    unmet.retain(|reason| snapshot.latch.is_none() || *reason != Reason::Latched);
    unmet
}

fn is_ready(snapshot: &Snapshot) -> bool {
    snapshot.unmet.is_empty() && snapshot.state.is_some() && snapshot.mode == Mode::Monitor
}

/// Returns the lines about a stop at the pendant that would be overridden, the fault that must be acknowledged or the
/// last stop, and the unmet preconditions of commanding. If `advice` is `true`, the lines about the stop at the pendant
/// and the fault contain advice.
fn reasons(snapshot: &Snapshot, advice: bool) -> Vec<Line<'_>> {
    let mut lines = vec![];
    if snapshot.overrides_pendant {
        let mut line = vec![Severity::Doubtful.says("a stop at the pendant would be overridden")];
        if advice {
            line.push(": stop here, by a stop input, or by the emergency stop".into());
        }
        lines.push(Line::from(line));
    }
    if let Some(reason) = snapshot.latch {
        let mut line = vec![Severity::Bad.says("fault: "), reason.text().into()];
        if advice {
            line.extend([" - ".into(), snapshot.advice(reason).into()]);
        }
        lines.push(Line::from(line));
    }
    // An arm that is commanded again has no stop to explain.
    let stopped = snapshot.latch.is_none() && snapshot.mode != Mode::Command;
    if let Some(reason) = snapshot.last_fallback.filter(|_| stopped) {
        lines.push(Line::from(vec!["stop reason: ".fg(SOFT), reason.text().into()]));
    }
    let unmet = unmet(snapshot).into_iter();
    lines.extend(
        unmet.map(|reason| Line::from(vec![Severity::Doubtful.says("Not ready: "), snapshot.why(reason).0.into()])),
    );
    if is_ready(snapshot) {
        lines.push(Line::from(Severity::Good.says("Ready to command")));
    }
    lines
}

/// Returns one row with the names of the most important reasons why the arm is not commanded. `None` if there are none.
fn names(snapshot: &Snapshot) -> Option<Line<'_>> {
    let unmet = unmet(snapshot);
    if snapshot.overrides_pendant {
        return Some(Line::from(Severity::Doubtful.says("pendant stop undetected")));
    }
    if let Some(reason) = snapshot.latch {
        let more = if unmet.is_empty() { String::new() } else { format!(", {} more", unmet.len()) };
        return Some(Line::from(vec![Severity::Bad.says("fault: "), reason.name().into(), more.into()]));
    }
    if !unmet.is_empty() {
        let names: Vec<_> = unmet.iter().map(|reason| reason.name()).collect();
        return Some(Line::from(vec![Severity::Doubtful.says("Not ready: "), names.join(", ").into()]));
    }
    let met = is_ready(snapshot).then(|| ", Ready".fg(Color::Cyan));
    let fallback =
        |reason: Reason| Line::from_iter(["stop reason: ".fg(SOFT), reason.name().into()].into_iter().chain(met));
    snapshot.last_fallback.filter(|_| snapshot.mode != Mode::Command).map(fallback)
}
