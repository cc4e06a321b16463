//! Draws the page with the temperatures of the joints' motors.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screen::page_style::{Quantities, Quantity};
use crate::screen::plot_history::History;
use outrigger::show::{Snapshot, reason_text};

pub(super) fn draw(snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
    const TITLE: &str = "temperature of the motors";
    let Some(temperatures) = &snapshot.temperatures else {
        return super::unknown(TITLE, super::why(snapshot, "no connection here reports it"), area, buffer);
    };
    let names = reason_text::joint_names(temperatures.len());
    let rows = names.iter().zip(temperatures).enumerate().map(|(number, (name, degrees))| Quantity {
        name,
        values: vec![Some(format!("{degrees:.1}"))],
        course: history.temperatures.get(number),
    });
    super::table(TITLE, &Quantities { titles: &["motor", "°C"], rows: rows.collect(), span: 2.0 }, area, buffer)
}
