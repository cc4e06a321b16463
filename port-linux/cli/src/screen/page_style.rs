//! Defines the common appearance of all pages: frames, colours, unknown values, and tables with a plot in the last
//! column.

use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Block, BorderType, Cell, Padding, Paragraph, Row, Sparkline, SparklineBar, Table, Widget, Wrap,
};

use super::plot_history::Course;

/// The colour of frames, column titles and secondary text on all pages.
pub(super) const SOFT: Color = Color::DarkGray;
/// The text that a page shows in place of an unknown value.
pub(super) const UNKNOWN: &str = "unknown";

/// The assessment of a value or state on a page: good, doubtful or bad. Each has its own sign beside its colour, and
/// the colours can be distinguished by people with red-green colour blindness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    Good,
    Doubtful,
    Bad,
}

impl Severity {
    pub(super) const fn color(self) -> Color {
        match self {
            Self::Good => Color::Cyan,
            Self::Doubtful => Color::Yellow,
            Self::Bad => Color::LightRed,
        }
    }

    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Doubtful => "!",
            Self::Bad => "✗",
        }
    }

    /// Returns `text` in the colour of this assessment, with its sign in front.
    pub(super) fn says(self, text: &str) -> Span<'static> {
        Span::from(format!("{} {text}", self.sign())).fg(self.color()).bold()
    }

    pub(super) const fn of_grade(grade: Grade) -> Self {
        match grade {
            Grade::Unacceptable => Self::Bad,
            Grade::Bad | Grade::Ok => Self::Doubtful,
            Grade::Perfect => Self::Good,
        }
    }
}

/// Returns the name of the session's mode as a coloured badge for the screen.
pub(super) fn badge(mode: Mode) -> Span<'static> {
    let color = match mode {
        Mode::Offline => Color::Gray,
        Mode::Monitor => Color::LightBlue,
        Mode::Arming => Color::Yellow,
        Mode::Command => Color::Cyan,
        Mode::Stopping => Color::LightRed,
    };
    Span::styled(format!(" {} ", mode.name()), Style::new().fg(Color::Black).bg(color).add_modifier(Modifier::BOLD))
}

pub(super) fn panel(title: &str) -> Block<'_> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(Style::new().fg(SOFT))
        .title(Span::from(format!(" {title} ")).bold())
        .padding(Padding::horizontal(1))
}

pub(super) fn wrapped(lines: Vec<Line<'_>>) -> Paragraph<'_> {
    Paragraph::new(lines).wrap(Wrap { trim: true })
}

/// Returns `true` if the lines, wrapped at the width of the area `room`, fit into it.
pub(super) fn is_within(lines: &[Line<'_>], room: Rect) -> bool {
    let mut buffer = Buffer::empty(Rect::new(0, 0, room.width, room.height.saturating_add(1)));
    wrapped(lines.to_vec()).render(buffer.area, &mut buffer);
    let below = usize::from(room.width) * usize::from(room.height);
    buffer.content().iter().skip(below).all(|cell| cell.symbol() == " ")
}

/// Breaks `text` at spaces into rows of at most `width` characters; each row except the first is indented.
pub(super) fn broken(text: &str, width: usize) -> Vec<String> {
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

/// Returns the `text` of a value in the form that a page shows, or [`UNKNOWN`] for `None`.
pub(super) fn value(text: Option<String>) -> Span<'static> {
    text.map_or_else(|| Span::from(UNKNOWN).fg(SOFT).italic(), Span::from)
}

/// A table of measured quantities, one in each row, with plots of their recent values if there is space.
pub(super) struct Quantities<'a> {
    /// The titles of the table's columns: the name of a quantity, and each value.
    pub(super) titles: &'a [&'a str],
    pub(super) rows: Vec<Quantity<'a>>,
    /// The smallest range of values that fills the height of a plot, in the unit of the quantities. Smaller changes are
    /// drawn with a part of the height.
    pub(super) span: f32,
}

pub(super) struct Quantity<'a> {
    pub(super) name: &'a str,
    /// The texts of the quantity's values, one for each title except the first; `None` if unknown.
    pub(super) values: Vec<Option<String>>,
    pub(super) course: Option<&'a Course>,
}

/// The width of a column of values in a table \[characters\].
const COLUMN: u16 = 10;
/// The smallest width of a plot in a table \[characters\].
const COURSE: u16 = 12;

impl Quantities<'_> {
    /// Returns the number of rows that the table needs, with its titles.
    pub(super) fn height(&self) -> u16 {
        u16::try_from(self.rows.len()).unwrap_or(u16::MAX).saturating_add(1)
    }

    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let names = self.rows.iter().map(|row| row.name).chain(self.titles.first().copied());
        let name = names.map(|name| name.chars().count()).max().unwrap_or(0);
        let name = u16::try_from(name).unwrap_or(u16::MAX);
        let fit = usize::from(area.width.saturating_sub(name) / (COLUMN + 1));
        let columns = fit.min(self.titles.len().saturating_sub(1));
        let taken = name + u16::try_from(columns).unwrap_or(0) * (COLUMN + 1);
        let room = area.width.saturating_sub(taken + 2);
        let room = if room >= COURSE { room.min(Course::COLUMNS) } else { 0 };
        let right = |span: Span<'static>| Cell::from(Line::from(span).right_aligned());
        let rows = self.rows.iter().map(|row| {
            let values = row.values.iter().take(columns).map(|text| right(value(text.clone())));
            Row::new(std::iter::once(Cell::from(row.name)).chain(values))
        });
        let widths = std::iter::once(name).chain(std::iter::repeat_n(COLUMN, columns)).map(Constraint::Length);
        let mut titles: Vec<_> = self.titles.iter().take(1).map(|title| Cell::from(*title)).collect();
        let of_values = self.titles.iter().skip(1).take(columns);
        titles.extend(of_values.map(|title| right(Span::from((*title).to_owned()))));
        let table = Table::new(rows, widths).header(Row::new(titles).fg(SOFT));
        let [table_area, right_of] =
            [Rect { width: taken.min(area.width), ..area }, Rect { x: area.x + taken + 2, width: room, ..area }];
        Widget::render(table, table_area, buffer);
        if room == 0 || !self.rows.iter().filter_map(|row| row.course).any(Course::is_known) {
            return;
        }
        let title = Line::from(format!("last {} s", Course::seconds(room))).fg(SOFT);
        title.render(Rect { height: right_of.height.min(1), ..right_of }, buffer);
        for (at, row) in (1..).zip(&self.rows) {
            if let Some(course) = row.course.filter(|_| at < area.height) {
                course.draw(self.span, Rect { y: area.y + at, height: 1, ..right_of }, buffer);
            }
        }
    }
}

impl Course {
    /// Draws a plot of the quantity's newest columns, as many as fit into `area`. It reaches from the lowest value in
    /// them up to the highest, or to `span` above the lowest if that is more. A constant value is drawn at the bottom.
    pub(super) fn draw(&self, span: f32, area: Rect, buffer: &mut Buffer) {
        let steps = u64::from(area.height) * 8;
        let bars = self.levels(usize::from(area.width), span, steps);
        let bars = bars.into_iter().map(|level| SparklineBar::from(level).style(Style::new().fg(Color::Cyan)));
        Sparkline::default()
            .data(bars)
            .max(steps)
            .absent_value_symbol("·")
            .absent_value_style(SOFT)
            .render(area, buffer);
    }
}
