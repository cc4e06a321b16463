//! The help over a page: the glossary, and the meanings of the values, codes and keys on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Widget as _};

use super::glossary::{self, LEARNED, Term};
use super::page_style::{SOFT, broken, panel};
use crate::screen::page_state::ScrollState;

/// The largest width of the column of explained terms in the help \[characters\]. In a narrow help the column has a
/// third of the width.
const WORD: usize = 24;

/// Draws over `area` the help for the page: first the glossary, then the explanation of what else is in the whole
/// `buffer`: of the `page`, of names in the events below it, and of the rows around both. The address `url` of the live
/// page in a browser, if given, precedes them.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, page: Rect, place: &ScrollState, url: Option<&str>) {
    let symbols: Vec<_> = buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect();
    let rows: Vec<_> = symbols.chunks(usize::from(buffer.area.width).max(1)).map(<[&str]>::concat).collect();
    let of = |wanted: &dyn Fn(u16) -> bool| {
        let rows = (0..).zip(&rows).filter(|(at, _)| wanted(*at)).map(|(_, row)| row.clone());
        glossary::find(&rows.collect::<Vec<_>>()).terms
    };
    let mut terms = of(&|at| page.top() <= at && at < page.bottom());
    let events = of(&|at| page.bottom() <= at && at < area.bottom());
    // Events are sentences, of which only names need an explanation.
    let names = events.into_iter().filter(|term| term.word.contains(char::is_uppercase));
    let around = of(&|at| at < area.top() || area.bottom() <= at);
    for term in names.chain(around) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms.retain(|term| !LEARNED.contains(term));
    let block = panel("help");
    let inner = block.inner(area);
    let address = url.map(|url| Line::from(vec![Span::from("in a browser  ").bold(), Span::from(url.to_owned())]));
    let width = usize::from(inner.width);
    let heading = (!terms.is_empty()).then(|| Line::from("on this page".fg(SOFT)));
    let lines = address.into_iter().chain(explained(LEARNED, width)).chain(heading);
    let lines: Vec<_> = lines.chain(explained(&terms, width)).collect();
    let most = lines.len().saturating_sub(usize::from(inner.height));
    let scrolled = place.scrolled(u16::try_from(most).unwrap_or(u16::MAX));
    let below = most.saturating_sub(usize::from(scrolled));
    let further = Line::from(format!(" ↓ {below} more ")).right_aligned();
    let block = if below > 0 { block.title_bottom(further) } else { block };
    Clear.render(area, buffer);
    Paragraph::new(lines).scroll((scrolled, 0)).block(block).render(area, buffer);
}

/// Returns the lines of the explanation: each term with its meaning beside it.
fn explained(terms: &[Term], width: usize) -> Vec<Line<'static>> {
    let word = WORD.min(width / 3);
    let mut lines = vec![];
    for term in terms {
        let mut name = term.word.to_owned();
        // A word that is longer than its column has a row of its own.
        if name.chars().count() > word {
            lines.push(Line::from(name).bold());
            name = String::new();
        }
        for meaning in broken(&term.meaning(), width.saturating_sub(word + 2)) {
            let named = format!("{:<word$}  ", std::mem::take(&mut name));
            lines.push(Line::from(vec![Span::from(named).bold(), Span::from(meaning)]));
        }
    }
    lines
}
