//! The page with force and torque at the tool centre point, and the payload that the controller takes into account.

use outrigger_wire::robot::Payload;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Stylize as _;
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use crate::screen::page_style::{Quantities, Quantity, SOFT, value};
use crate::screen::plot_history::History;
use outrigger::show::Snapshot;

pub(super) fn draw(snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
    const TITLE: &str = "force at the TCP";
    let Some(arm) = &snapshot.state else { return super::no_state(TITLE, snapshot, area, buffer) };
    let force = arm.tcp_force;
    let of = |number: usize| {
        let wrench = force?;
        let value = if number < 3 { wrench.force[number] } else { wrench.torque[number - 3] };
        Some(format!("{value:+.2}"))
    };
    let names = ["x N", "y N", "z N", "x Nm", "y Nm", "z Nm"];
    let row = |(number, name)| Quantity { name, values: vec![of(number)], course: history.force.get(number) };
    let quantities =
        Quantities { titles: &["", "force"], rows: names.into_iter().enumerate().map(row).collect(), span: 2.0 };
    // One row is reserved for the payload.
    let above = Rect { height: area.height.saturating_sub(1), ..area };
    let taken = super::table(TITLE, &quantities, above, buffer);
    let payload = arm.payload.map(|Payload { mass, center_of_gravity: [x, y, z] }| {
        format!("{mass:.3} kg, centre of gravity at {x:.3}, {y:.3}, {z:.3} m from the flange")
    });
    let row = Rect { y: area.y + taken, height: 1.min(area.height - taken), ..area };
    Line::from(vec![" payload: ".fg(SOFT), value(payload)]).render(row, buffer);
    taken + row.height
}
