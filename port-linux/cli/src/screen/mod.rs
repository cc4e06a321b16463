//! The full-screen view: pages above the events, and an explanation of the words on the page.

mod feed_values;
mod glossary;
mod help_overlay;
mod keys;
mod page_state;
mod page_style;
mod pages;
mod plot_history;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration as StdDuration;

use outrigger::host::worker::Worker;
use outrigger::show::{Key, Message, Messages, Notice, Snapshot, complain, notice_line, say};
use outrigger_core::mode::Epoch;
use outrigger_wire::time::Instant;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Borders, Paragraph};
use tokio::sync::mpsc::UnboundedSender;

use self::feed_values::TemperatureReader;
use self::page_state::ScrollState;
use self::page_style::{SOFT, broken, panel};
use self::pages::Page;
use self::plot_history::History;
use crate::terminal;
use outrigger::feed::{Streams, stream_memory};

#[cfg(test)]
mod tests;

/// The number of pages of the full-screen view.
const PAGES: u16 = Page::ALL.len() as u16;

/// The largest number of events that the full-screen view keeps, the newest ones.
const EVENTS: usize = 100;
/// The number of rows that the page leaves to the panel of events. On a screen with fewer than [`SMALL`] rows it is one
/// less.
const EVENTS_LEAST: u16 = 4;
/// The number of rows for page and events together from which on the panel of events has at least [`EVENTS_LEAST`]
/// rows.
const SMALL: u16 = 16;
/// The name of the command in whose view the user may start, continue, stop and reset by keys.
const OPERATED: &str = "run";
/// The kind of the event that names the live page in a browser.
const PAGE: &str = "page";

/// The full-screen view of this process, which commands use to display sessions.
#[derive(Debug)]
pub(crate) struct FullScreen;

impl outrigger::show::Screen for FullScreen {
    fn start(&self, title: &str, messages: Messages, keys: UnboundedSender<Key>) -> io::Result<Worker> {
        let (title, place) = (title.to_owned(), Arc::new(ScrollState::default()));
        if keys::listen(keys.clone(), Arc::clone(&place)).is_err() {
            // Without keys, the user could not stop an arm.
            let _ = keys.send(Key::HangUp);
        }
        Worker::start("output", move || run(&title, &messages, &keys, &place))
    }

    fn give_back(&self) {
        terminal::give_back();
    }
}

/// Draws the messages of a session on the full screen until there are no more.
fn run(title: &str, messages: &Messages, keys: &UnboundedSender<Key>, place: &ScrollState) {
    let Ok(mut terminal) = terminal::take() else {
        terminal::leave();
        let _ = keys.send(Key::HangUp);
        complain("cannot open the full-screen view; for plain lines, pipe the output (| cat)");
        return;
    };
    let mut screen = Screen::new(title);
    let mut memory = stream_memory();
    let mut overheard = TemperatureReader::new(Streams::new(&mut memory));
    // Every message is taken at once; the screen is redrawn at the pace of snapshots.
    let mut gone = false;
    let mut newest = Epoch::default();
    while let Ok(message) = messages.next(StdDuration::from_millis(50)) {
        let message = message.map(|(epoch, message)| {
            newest = epoch;
            message
        });
        match message {
            Some(Message::Snapshot(mut snapshot)) => {
                overheard.look();
                snapshot.temperatures = overheard.temperatures(snapshot.at).filter(|_| snapshot.figures.is_some());
                screen.look(snapshot);
            }
            Some(Message::Feed(reader)) => overheard.listen(reader),
            Some(Message::Notice(notice)) => screen.note(notice),
            Some(Message::Text(_)) | None => {}
        }
        gone = terminal::is_gone() || terminal.draw(|frame| screen.draw(frame, place)).is_err();
        if gone {
            break;
        }
        messages.show(newest);
    }
    let _ = terminal.show_cursor();
    terminal::leave();
    // The terminal may be closed by now, and its keys may have ended the command before this thread noticed. Dropping
    // the terminal would then print an error to it and panic.
    std::mem::forget(terminal);
    if gone {
        // The user no longer sees the screen and cannot stop the arm by a key.
        let _ = keys.send(Key::HangUp);
        while messages.next(StdDuration::from_secs(1)).is_ok() {}
        return;
    }
    // The last messages of a run stay readable where the view was.
    for notice in screen.events.iter().rev().take(12).rev() {
        say!("{}", notice_line(notice));
    }
}

struct Screen<'t> {
    title: &'t str,
    snapshot: Option<Box<Snapshot>>,
    events: VecDeque<Notice>,
    history: History,
    /// The address of the live page in a browser; `None` if there is none.
    page: Option<String>,
}

impl<'t> Screen<'t> {
    fn new(title: &'t str) -> Self {
        Self { title, snapshot: None, events: VecDeque::new(), history: History::default(), page: None }
    }

    fn look(&mut self, snapshot: Box<Snapshot>) {
        self.history.note(&snapshot);
        self.snapshot = Some(snapshot);
    }

    fn note(&mut self, notice: Notice) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        if notice.kind == PAGE {
            self.page = notice.fields.iter().find(|(name, _)| *name == "url").map(|(_, url)| url.clone());
        }
        self.events.push_back(notice);
    }

    fn draw(&self, frame: &mut Frame<'_>, place: &ScrollState) {
        let [head, tabs, body, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let Some(snapshot) = &self.snapshot else {
            frame.render_widget(Paragraph::new(format!(" {}: starting", self.title)).bold(), head);
            return;
        };
        self.draw_head(frame, head, snapshot);
        let page = Page::of(place.page());
        frame.render_widget(Paragraph::new(tab_row(page, tabs.width)), tabs);
        // The events have the rows that the page does not use.
        let events = if body.height < SMALL { EVENTS_LEAST - 1 } else { EVENTS_LEAST };
        let most = Rect { height: body.height.saturating_sub(events), ..body };
        let taken = page.draw(snapshot, &self.history, most, frame.buffer_mut());
        self.draw_events(frame, Rect { y: body.y + taken, height: body.height - taken, ..body });
        let explains = place.explains();
        frame.render_widget(Paragraph::new(keys(self.title, explains, foot.width)), foot);
        if explains {
            help_overlay::draw(frame.buffer_mut(), body, Rect { height: taken, ..body }, place, self.page.as_deref());
        }
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
        let page = self.page.as_ref().map_or_else(String::new, |page| format!("   {page}"));
        let at = u16::try_from(page.chars().count()).unwrap_or(u16::MAX);
        let [who, at, how] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(at), Constraint::Length(width)]).areas(area);
        frame.render_widget(Paragraph::new(line), who);
        frame.render_widget(Paragraph::new(page), at);
        frame.render_widget(Paragraph::new(pace), how);
    }

    fn draw_events(&self, frame: &mut Frame<'_>, area: Rect) {
        // With few rows, none is used for a frame.
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

/// Returns the names of the pages with their keys, the selected one in brackets; only the selected one if they do
/// not fit.
fn tab_row(page: Page, width: u16) -> Line<'static> {
    let mut spans = vec![];
    let mut before = " ";
    for (number, each) in (1..).zip(Page::ALL) {
        let text = format!("{number} {}", each.name());
        if each == page {
            spans.extend([Span::from("["), Span::from(text).bold().reversed()]);
            before = "]";
        } else {
            spans.extend([Span::from(before), Span::from(text)]);
            before = " ";
        }
    }
    spans.push(Span::from(before));
    let all = Line::from(spans);
    if all.width() <= usize::from(width) {
        return all;
    }
    let number = Page::ALL.iter().position(|each| *each == page).unwrap_or(0) + 1;
    Line::from(vec![
        Span::from("["),
        Span::from(format!("{number} {}", page.name())).bold().reversed(),
        Span::from(format!("]  page {number}/{PAGES}   ← → tab 1-{PAGES} other pages")),
    ])
}

/// Returns the explanation of the keys, as detailed as the width permits.
fn keys(title: &str, explains: bool, width: u16) -> Line<'static> {
    // Every other command ignores the keys of an operator.
    let listens = title != OPERATED;
    let fit: &[&str] = match (explains, listens) {
        (true, true) => &[" ? or esc close   ↑ ↓ more   q quit"],
        (true, false) => &[" ? or esc close   ↑ ↓ more   q quit   s stop"],
        (false, true) => &[" q quit   ? help   tab next page"],
        (false, false) => &[
            " q quit   r start   c continue   s stop   a reset   ? help   tab next page",
            " q quit r start c continue s stop a reset ? help",
        ],
    };
    let fits = |text: &&&str| text.chars().count() <= usize::from(width);
    Line::from(fit.iter().find(fits).or(fit.last()).copied().unwrap_or_default()).fg(SOFT)
}
