//! The full-screen view.

use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::Duration as StdDuration;

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;
use outrigger_core::time::{Duration, Instant};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Bar, BarChart, BarGroup, Block, BorderType, Cell, Padding, Paragraph, Row, Table, Wrap};
use tokio::sync::mpsc::UnboundedSender;

use super::{Key, Message, Notice, Snapshot, next, notice_line};

/// Events that stay on the screen.
const EVENTS: usize = 50;
const JOINTS: [&str; 6] = ["base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"];
/// As KRL names them.
const LWR_JOINTS: [&str; 7] = ["A1", "A2", "E1", "A3", "A4", "A5", "A6"];
const SOFT: Color = Color::DarkGray;

/// Shows messages until the sender is gone.
pub(super) fn run(title: &str, messages: &Receiver<Message>, keys: &UnboundedSender<Key>) {
    let Ok(mut terminal) = ratatui::try_init() else {
        let _ = keys.send(Key::Quit);
        eprintln!("outrigger: cannot open the full-screen view; pipe the output (| cat) for plain lines");
        return;
    };
    let mut screen = Screen { title, snapshot: None, events: VecDeque::new() };
    // Every message is taken at once; the screen follows at the pace of snapshots.
    while let Ok(message) = next(messages, StdDuration::from_millis(50)) {
        match message {
            Some(Message::Snapshot(snapshot)) => screen.snapshot = Some(snapshot),
            Some(Message::Notice(notice)) => screen.note(notice),
            None => {}
        }
        while event::poll(StdDuration::ZERO).unwrap_or(false) {
            if let Ok(Event::Key(key)) = event::read()
                && key.kind == KeyEventKind::Press
                && let Some(key) = meaning(key.code, key.modifiers)
            {
                let _ = keys.send(key);
            }
        }
        if terminal.draw(|frame| screen.draw(frame)).is_err() {
            break;
        }
    }
    ratatui::restore();
    // The last words of a run stay readable where the view was.
    for notice in screen.events.iter().rev().take(12).rev() {
        println!("{}", notice_line(notice));
    }
}

fn meaning(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    match code {
        KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
        KeyCode::Char('r') => Some(Key::Request),
        KeyCode::Char('c') => Some(Key::Resume),
        KeyCode::Char('s') | KeyCode::Char(' ') => Some(Key::Release),
        KeyCode::Char('a') => Some(Key::Acknowledge),
        _ => None,
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
        let [head, top, middle, bottom, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(8),
            Constraint::Length(10),
            Constraint::Min(3),
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
        let [joints, histogram] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(middle);
        draw_joints(frame, joints, snapshot);
        draw_histogram(frame, histogram, snapshot);
        self.draw_events(frame, bottom);
        // What only listens takes no requests.
        let keys = match self.title {
            "monitor" | "watch" => " q quit",
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
            Span::from(format!("{identity}   {:.0} Hz   {seconds:.0} s", snapshot.rate)),
        ]);
        frame.render_widget(Paragraph::new(line), area);
    }

    fn draw_events(&self, frame: &mut Frame<'_>, area: Rect) {
        let room = usize::from(area.height.saturating_sub(2));
        let lines: Vec<_> = self.events.iter().rev().take(room).rev().map(|n| Line::from(notice_line(n))).collect();
        frame.render_widget(Paragraph::new(lines).block(panel("events")), area);
    }
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

fn draw_mode(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
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
    if let Some(reason) = snapshot.latch {
        lines.push(Line::from(vec![
            "latched: ".red().bold(),
            reason.text().into(),
            " - ".into(),
            reason.advice().into(),
        ]));
    }
    let unmet: Vec<_> = snapshot.unmet.iter().collect();
    for reason in &unmet {
        lines.push(Line::from(vec!["not met: ".fg(Color::Yellow), reason.text().into()]));
    }
    if unmet.is_empty() && snapshot.state.is_some() && snapshot.mode == Mode::Monitor {
        lines.push(Line::from("every precondition is met").green());
    }
    if let Some(trouble) = &snapshot.trouble {
        lines.push(Line::from(trouble.as_str()).red());
    }
    for (name, value) in &snapshot.values {
        lines.push(Line::from(vec![format!("{name}: ").fg(SOFT), value.as_str().into()]));
    }
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }).block(panel("mode")), area);
}

fn draw_link(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let Some(figures) = &snapshot.figures else {
        frame.render_widget(Paragraph::new("no link").fg(SOFT).block(panel("link")), area);
        return;
    };
    let ms = |span: Duration| format!("{:.2} ms", span.as_secs_f64() * 1e3);
    let sequence = figures.sequence;
    let mut lines = vec![
        Line::from(vec![
            Span::from(figures.grade.name()).fg(grade_color(figures.grade)).bold(),
            Span::from(format!("   held by {}", figures.held_by.name())).fg(SOFT),
        ]),
        Line::from(format!("age     {:>10}     jitter {}", figures.age.map_or("-".into(), ms), ms(figures.jitter))),
        Line::from(format!("states  {:>10}     longest gap {}", sequence.accepted, ms(figures.interval.max))),
        Line::from(format!(
            "lost {}   late {}   duplicate {}   reordered {}",
            sequence.lost, figures.late, sequence.duplicates, sequence.reordered
        )),
        Line::from(format!("epoch {}   own stalls {}", figures.epoch, figures.local_stalls)),
    ];
    lines.extend(snapshot.states.as_ref().map(|states| Line::from(states.line())));
    frame.render_widget(Paragraph::new(lines).block(panel("link")), area);
}

fn draw_joints(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let Some(state) = &snapshot.state else {
        frame.render_widget(Paragraph::new("no state yet").fg(SOFT).block(panel("joints")), area);
        return;
    };
    let right = |text: String| Cell::from(Line::from(text).right_aligned());
    let names: &[&str] = if state.joints.len() == LWR_JOINTS.len() { &LWR_JOINTS } else { &JOINTS };
    let rows = names.iter().zip(&state.joints).map(|(name, [q, qd, target])| {
        Row::new([
            Cell::from(*name),
            right(format!("{:.3}°", q.to_degrees())),
            right(format!("{:+.3}", qd.to_degrees())),
            right(format!("{:+.3}", target.to_degrees())),
        ])
    });
    let widths = [Constraint::Length(10), Constraint::Length(12), Constraint::Length(12), Constraint::Length(12)];
    let titles =
        Row::new([Cell::from("joint"), right("angle".into()), right("°/s".into()), right("target °/s".into())]);
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
