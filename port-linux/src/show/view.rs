//! The full-screen view.

use std::collections::VecDeque;
use std::io::Write as _;
use std::sync::mpsc::Receiver;
use std::time::Duration as StdDuration;

use outrigger_core::link::Grade;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::Reason;
use outrigger_core::time::{Duration, Instant};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Bar, BarChart, BarGroup, Block, BorderType, Borders, Cell, Padding, Paragraph, Row, Table, Widget as _, Wrap,
};
use tokio::sync::mpsc::UnboundedSender;

use super::snapshot::Field;
use super::{Dated, Key, Message, Notice, Snapshot, complain, grade, next, notice_line, shown, words};
use crate::terminal;

#[cfg(test)]
mod tests;

/// Events that stay on the screen.
const EVENTS: usize = 50;
/// Rows of the panel of events, at least, where the screen is 24 rows high.
const EVENTS_LEAST: u16 = 4;
/// Rows of the panels of mode and link, at least.
const TOP_LEAST: u16 = 8;
const SOFT: Color = Color::DarkGray;

/// Shows messages until the sender is gone.
pub(super) fn run(title: &str, messages: &Receiver<Dated>, keys: &UnboundedSender<Key>) {
    let Ok(mut terminal) = terminal::take() else {
        terminal::leave();
        let _ = keys.send(Key::HangUp);
        complain("cannot open the full-screen view; pipe the output (| cat) for plain lines");
        return;
    };
    let mut screen = Screen { title, snapshot: None, events: VecDeque::new() };
    // Every message is taken at once; the screen follows at the pace of snapshots.
    let mut gone = false;
    let mut newest = Epoch::default();
    while let Ok(message) = next(messages, StdDuration::from_millis(50)) {
        let message = message.map(|(epoch, message)| {
            newest = epoch;
            message
        });
        match message {
            Some(Message::Snapshot(snapshot)) => screen.snapshot = Some(snapshot),
            Some(Message::Notice(notice)) => screen.note(notice),
            Some(Message::Text(_)) | None => {}
        }
        gone = terminal::is_gone(&std::io::stdin()) || terminal.draw(|frame| screen.draw(frame)).is_err();
        if gone {
            break;
        }
        shown::show(newest);
    }
    let _ = terminal.show_cursor();
    terminal::leave();
    // It may have been closed by now, and the command ended by its keys before this thread saw that. Dropped, the terminal
    // would say on itself that it is gone, and panic.
    std::mem::forget(terminal);
    if gone {
        // Nobody looks any more, and nobody can stop the arm by a key.
        let _ = keys.send(Key::HangUp);
        for _ in messages {}
        return;
    }
    // The last words of a run stay readable where the view was.
    for notice in screen.events.iter().rev().take(12).rev() {
        let _ = writeln!(std::io::stdout(), "{}", notice_line(notice));
    }
}

struct Screen<'t> {
    title: &'t str,
    snapshot: Option<Box<Snapshot>>,
    events: VecDeque<Notice>,
}

impl Screen<'_> {
    fn note(&mut self, notice: Notice) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(notice);
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        // Border, titles and a row for each joint; what is left beside the events is for what there is to say.
        let joints = self.snapshot.iter().filter_map(|snapshot| snapshot.state.as_ref()).map(|arm| arm.joints.len());
        let middle = u16::try_from(joints.max().unwrap_or(6)).unwrap_or(u16::MAX).saturating_add(3);
        let height = frame.area().height;
        // Where there is no room for all, joints and intervals go first: what there is to say, and the keys, stay.
        let middle = if height < middle.saturating_add(TOP_LEAST + EVENTS_LEAST + 2) { 0 } else { middle };
        let above = height.saturating_sub(EVENTS_LEAST + 2);
        let top = above.saturating_sub(middle).clamp(TOP_LEAST, TOP_LEAST + 2).min(above);
        let [head, top, middle, bottom, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(top),
            Constraint::Length(middle),
            Constraint::Min(EVENTS_LEAST),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let Some(snapshot) = &self.snapshot else {
            frame.render_widget(Paragraph::new(format!(" {}: starting", self.title)).bold(), head);
            return;
        };
        self.draw_head(frame, head, snapshot);
        let [mode, link] = Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(top);
        draw_mode(frame, mode, snapshot);
        draw_link(frame, link, snapshot);
        if middle.height > 0 {
            let [joints, histogram] =
                Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(middle);
            draw_joints(frame, joints, snapshot);
            draw_histogram(frame, histogram, snapshot);
        }
        self.draw_events(frame, bottom);
        // What only listens takes no requests.
        let keys = match self.title {
            "monitor" | "record" | "watch" => " q quit",
            _ => " q quit   r request   c continue   s stop   a acknowledge",
        };
        frame.render_widget(Paragraph::new(keys).fg(SOFT), foot);
    }

    fn draw_head(&self, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
        let seconds = snapshot.at.since(Instant::ZERO).as_secs_f64();
        let identity = snapshot.identity.as_deref().unwrap_or("not identified yet");
        let line = Line::from(vec![
            Span::from(format!(" {} ", self.title)).bold().reversed(),
            Span::from(format!("  {}  ", snapshot.robot)).bold(),
            Span::from(identity),
        ]);
        let pace = format!("   {:.0} Hz   {seconds:.0} s ", snapshot.rate);
        let width = u16::try_from(pace.len()).unwrap_or(u16::MAX);
        let [who, how] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]).areas(area);
        frame.render_widget(Paragraph::new(line), who);
        frame.render_widget(Paragraph::new(pace), how);
    }

    fn draw_events(&self, frame: &mut Frame<'_>, area: Rect) {
        // Of few rows none is for a frame.
        let block = panel("events");
        let block = if area.height > EVENTS_LEAST + 1 { block } else { block.borders(Borders::TOP) };
        let inner = block.inner(area);
        let (width, mut room) = (usize::from(inner.width), usize::from(inner.height));
        let mut rows = VecDeque::new();
        for notice in self.events.iter().rev() {
            let lines = broken(&notice_line(notice), width);
            if lines.len() > room {
                if rows.is_empty() {
                    rows.extend(lines.into_iter().map(Line::from));
                }
                break;
            }
            room -= lines.len();
            lines.into_iter().rev().for_each(|line| rows.push_front(Line::from(line)));
        }
        frame.render_widget(Paragraph::new(Vec::from(rows)).block(block), area);
    }
}

/// `text` in rows of at most `width` characters, broken at spaces; each but the first begins with a little room.
fn broken(text: &str, width: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let mut rows = vec![];
    let mut rest = text;
    while !rest.is_empty() {
        let indent = if rows.is_empty() { "" } else { INDENT };
        let room = width.saturating_sub(indent.len()).max(1);
        let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
        let whole = end == rest.len();
        let space = rest.get(..=end).and_then(|row| row.rfind(' ')).filter(|at| !whole && *at > 0);
        let (row, more) = rest.split_at(space.unwrap_or(end));
        rows.push(format!("{indent}{}", row.trim_end()));
        rest = more.trim_start();
    }
    rows
}

fn panel(title: &str) -> Block<'_> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(Style::new().fg(SOFT))
        .title(Span::from(format!(" {title} ")).bold())
        .padding(Padding::horizontal(1))
}

const fn mode_color(mode: Mode) -> Color {
    match mode {
        Mode::Offline => Color::DarkGray,
        Mode::Monitor => Color::Blue,
        Mode::Arming => Color::Yellow,
        Mode::Command => Color::Green,
        Mode::Stopping => Color::Red,
    }
}

const fn grade_color(grade: Grade) -> Color {
    match grade {
        Grade::Unacceptable => Color::Red,
        Grade::Bad => Color::LightRed,
        Grade::Ok => Color::Yellow,
        Grade::Perfect => Color::Green,
    }
}

/// How much is said of reasons.
#[derive(Clone, Copy)]
enum Detail {
    /// What happened, what to do, and everything that is not met.
    Everything,
    /// The same without advice.
    NoAdvice,
    /// The most important by name, in one row; the events have said the rest.
    Names,
}

/// Says as much as fits: figures below the reasons are not pushed off.
fn draw_mode(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let block = panel("mode");
    let room = block.inner(area);
    let lines = [Detail::Everything, Detail::NoAdvice]
        .into_iter()
        .map(|detail| mode_lines(snapshot, detail))
        .find(|lines| is_within(lines, room))
        .unwrap_or_else(|| mode_lines(snapshot, Detail::Names));
    frame.render_widget(wrapped(lines).block(block), area);
}

fn wrapped(lines: Vec<Line<'_>>) -> Paragraph<'_> {
    Paragraph::new(lines).wrap(Wrap { trim: true })
}

/// Whether nothing is left for a row below `room`.
fn is_within(lines: &[Line<'_>], room: Rect) -> bool {
    let mut buffer = Buffer::empty(Rect::new(0, 0, room.width, room.height.saturating_add(1)));
    wrapped(lines.to_vec()).render(buffer.area, &mut buffer);
    let below = usize::from(room.width) * usize::from(room.height);
    buffer.content().iter().skip(below).all(|cell| cell.symbol() == " ")
}

fn mode_lines(snapshot: &Snapshot, detail: Detail) -> Vec<Line<'_>> {
    let name = format!(" {} ", snapshot.mode.name());
    let badge =
        Span::styled(name, Style::new().fg(Color::Black).bg(mode_color(snapshot.mode)).add_modifier(Modifier::BOLD));
    let mut head = vec![badge];
    let words: Vec<_> = snapshot
        .state
        .iter()
        .flat_map(|state| &state.words)
        .map(|word| format!("{} {}", word.name, word.value))
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
    if let Some(trouble) = &snapshot.trouble {
        lines.push(Line::from(trouble.as_str()).red());
    }
    for (name, value) in &snapshot.values {
        lines.push(Line::from(vec![format!("{name}: ").fg(SOFT), value.as_str().into()]));
    }
    lines
}

/// What a request would be refused for, beside the latch, which is named by itself.
fn unmet(snapshot: &Snapshot) -> Vec<Reason> {
    snapshot.unmet.iter().filter(|reason| snapshot.latch.is_none() || *reason != Reason::Latched).collect()
}

fn is_ready(snapshot: &Snapshot) -> bool {
    snapshot.unmet.is_empty() && snapshot.state.is_some() && snapshot.mode == Mode::Monitor
}

/// A line for each reason.
fn reasons(snapshot: &Snapshot, advice: bool) -> Vec<Line<'_>> {
    let mut lines = vec![];
    if let Some(reason) = snapshot.latch {
        let mut line = vec!["latched: ".red().bold(), reason.text().into()];
        if advice {
            line.extend([" - ".into(), words::advice(reason, snapshot.here).into()]);
        }
        lines.push(Line::from(line));
    }
    if let Some(reason) = snapshot.last_fallback.filter(|_| snapshot.latch.is_none()) {
        lines.push(Line::from(vec!["last fallback: ".fg(SOFT), reason.text().into()]));
    }
    let unmet = unmet(snapshot).into_iter();
    lines.extend(unmet.map(|reason| Line::from(vec!["not met: ".fg(Color::Yellow), reason.text().into()])));
    if is_ready(snapshot) {
        lines.push(Line::from("every precondition is met").green());
    }
    lines
}

/// The reason that matters most, in a row.
fn names(snapshot: &Snapshot) -> Option<Line<'_>> {
    let unmet = unmet(snapshot);
    if let Some(reason) = snapshot.latch {
        let more = if unmet.is_empty() { String::new() } else { format!(", {} unmet", unmet.len()) };
        return Some(Line::from(vec!["latched: ".red().bold(), reason.name().into(), more.into()]));
    }
    if !unmet.is_empty() {
        let names: Vec<_> = unmet.iter().map(|reason| reason.name()).collect();
        return Some(Line::from(vec!["not met: ".fg(Color::Yellow), names.join(", ").into()]));
    }
    let met = is_ready(snapshot).then(|| ", all met".green());
    let fallback =
        |reason: Reason| Line::from_iter(["fallback: ".fg(SOFT), reason.name().into()].into_iter().chain(met));
    snapshot.last_fallback.map(fallback)
}

fn draw_link(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let Some(figures) = &snapshot.figures else {
        frame.render_widget(Paragraph::new("no link").fg(SOFT).block(panel("link")), area);
        return;
    };
    let ms = |span: Duration| {
        let millis = span.as_secs_f64() * 1e3;
        if millis < 10.0 { format!("{millis:.2} ms") } else { format!("{millis:.1} ms") }
    };
    let sequence = figures.sequence;
    let mut lines = vec![
        Line::from(vec![
            Span::from(figures.grade.name()).fg(grade_color(figures.grade)).bold(),
            Span::from(format!("   held by {}", grade::in_short(&figures.held_by))).fg(SOFT),
        ]),
        Line::from(format!("age {}   jitter {}", figures.age.map_or("-".into(), ms), ms(figures.jitter))),
    ];
    lines.extend(figures.answers.map(|answers| {
        let trip = answers.round_trip.map_or_else(String::new, |trip| format!("   round trip {}", ms(trip)));
        // Of the last hundred.
        Line::from(format!("answered {} %{trip}", answers.rate / 100))
    }));
    lines.extend(snapshot.states.as_ref().map(|states| Line::from(states.line())));
    lines.extend([
        Line::from(format!("states {}   longest gap {}", sequence.accepted, ms(figures.interval.max))),
        Line::from(format!("lost {}   late {}   duplicate {}", sequence.lost, figures.late, sequence.duplicates)),
        Line::from(format!(
            "reordered {}   epoch {}   own stalls {}",
            sequence.reordered, figures.epoch, figures.local_stalls
        )),
    ]);
    let block = panel("link");
    let meaning = words::of_metric(figures.held_by.metric, snapshot.here);
    if figures.grade != Grade::Perfect {
        let mut explained = lines.clone();
        explained.insert(1, Line::from(meaning).fg(SOFT));
        if is_within(&explained, block.inner(area)) {
            lines = explained;
        }
    }
    frame.render_widget(wrapped(lines).block(block), area);
}

fn draw_joints(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    const COLUMNS: [(&str, Field); 4] = [
        ("angle °", |joint| Some(joint.angle)),
        ("setpoint", |joint| joint.setpoint),
        ("°/s", |joint| joint.speed),
        ("set °/s", |joint| joint.target_speed),
    ];
    let Some(state) = &snapshot.state else {
        frame.render_widget(Paragraph::new("no state yet").fg(SOFT).block(panel("joints")), area);
        return;
    };
    let names = words::joint_names(state.joints.len());
    // Columns of what is known, as many as fit.
    let name = names.iter().map(|name| name.len()).max().unwrap_or(0).max("joint".len());
    let room = usize::from(area.width.saturating_sub(4)).saturating_sub(name) / 9;
    let known = COLUMNS.into_iter().filter(|(_, value)| state.joints.iter().all(|joint| value(joint).is_some()));
    let columns: Vec<_> = known.take(room).collect();
    let right = |text: String| Cell::from(Line::from(text).right_aligned());
    let rows = names.iter().zip(&state.joints).map(|(name, joint)| {
        let values = columns.iter().map(|(title, value)| {
            let degrees = value(joint).unwrap_or_default().to_degrees();
            right(if title.ends_with("/s") { format!("{degrees:+.3}") } else { format!("{degrees:.3}") })
        });
        Row::new(std::iter::once(Cell::from(*name)).chain(values))
    });
    let widths = std::iter::once(name).chain(columns.iter().map(|_| 8));
    let widths = widths.map(|width| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
    let titles = columns.iter().map(|(title, _)| right((*title).into()));
    let titles = Row::new(std::iter::once(Cell::from("joint")).chain(titles));
    frame.render_widget(Table::new(rows, widths).header(titles.fg(SOFT)).block(panel("joints")), area);
}

fn draw_histogram(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let block = panel("time between states [ms], logarithmic");
    // As many of the fullest bins as fit, in their order.
    let room = usize::from(area.width.saturating_sub(4)) / 6;
    let mut bins: Vec<_> = snapshot.intervals.iter().filter(|bin| bin.count > 0).copied().collect();
    while bins.len() > room.max(1) {
        let least = bins.iter().enumerate().min_by_key(|(_, bin)| bin.count).map(|(at, _)| at);
        bins.remove(least.unwrap_or(0));
    }
    let bars: Vec<_> = bins
        .iter()
        .map(|bin| {
            let height = (f64::from(bin.count).log2() * 8.0) as u64 + 4;
            let from = bin.from.as_secs_f64() * 1e3;
            let label = if from < 10.0 { format!("{from:.2}") } else { format!("{from:.0}") };
            Bar::default().value(height).text_value(short(bin.count)).label(Line::from(label))
        })
        .collect();
    let chart = BarChart::default()
        .data(BarGroup::default().bars(&bars))
        .bar_width(5)
        .bar_gap(1)
        .bar_style(Style::new().fg(Color::Cyan))
        .value_style(Style::new().fg(Color::Black).bg(Color::Cyan))
        .block(block);
    frame.render_widget(chart, area);
}

/// A count in at most five characters.
fn short(count: u32) -> String {
    match count {
        0..100_000 => count.to_string(),
        100_000..10_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}
