//! The page with the speed slider, and the share of the speed that slider and limiter permit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screen::page_style::{Quantities, Quantity};
use crate::screen::plot_history::History;
use outrigger::show::Snapshot;

pub(super) fn draw(snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
    const TITLE: &str = "speed slider";
    let Some(arm) = &snapshot.state else { return super::no_state(TITLE, snapshot, area, buffer) };
    let percent = |share: Option<f32>| share.map(|share| format!("{:.0} %", share * 100.0));
    let rows = vec![
        Quantity { name: "slider", values: vec![percent(arm.speed_slider)], course: Some(&history.slider) },
        Quantity { name: "in effect", values: vec![percent(arm.speed_scaling)], course: None },
    ];
    super::table(TITLE, &Quantities { titles: &["", "value"], rows, span: 5.0 }, area, buffer)
}
