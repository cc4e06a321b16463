//! The page with the states of the controller and its program, and the variables that a program shares.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Stylize as _;
use ratatui::text::Line;

use crate::screen::page_style::{SOFT, value};
use outrigger::show::{Snapshot, Variables};

pub(super) fn draw(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) -> u16 {
    const TITLE: &str = "program on the controller";
    let Some(arm) = &snapshot.state else { return super::no_state(TITLE, snapshot, area, buffer) };
    let named = |name: &str, text: Option<String>| Line::from(vec![format!("{name}: ").fg(SOFT), value(text)]);
    let mut lines = vec![named("program", arm.program.map(|program| program.to_string()))];
    lines.extend(arm.words.iter().map(|word| named(word.name, Some(word.said()))));
    lines.push(named("identity", snapshot.identity.clone()));
    let time = arm.controller_time.map(|time| format!("{:.1} s", time.as_micros() as f64 / 1e6));
    lines.push(named("controller's clock", time));
    if let Some(variables) = &snapshot.variables {
        lines.push(named("variables", Some(Variables::text(variables).unwrap_or_else(|| "all 0".into()))));
    }
    super::lines(TITLE, lines, area, buffer)
}
