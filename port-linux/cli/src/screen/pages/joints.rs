//! The page with angles and speeds of the joints, and beside them the time between states if there is space.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use crate::screen::page_style::{Quantities, Quantity, panel};
use crate::screen::plot_history::History;
use outrigger::show::snapshot::Field;
use outrigger::show::{Snapshot, reason_text};

/// The smallest range of an angle that fills the height of its plot \[°\]. Smaller changes are drawn with a part of the
/// height.
const STILL: f32 = 0.5;

/// The columns of the table of joints, each with its title. A column without any value is left out, except the speed.
const COLUMNS: [(&str, Field); 4] = [
    ("angle °", |joint| Some(joint.angle)),
    ("setpoint °", |joint| joint.setpoint),
    ("speed °/s", |joint| joint.speed),
    ("target °/s", |joint| joint.target_speed),
];

pub(super) fn draw(snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
    let Some(arm) = &snapshot.state else { return super::no_state("joints", snapshot, area, buffer) };
    let names = reason_text::joint_names(arm.joints.len());
    // A column without any value is left out, except the speed, which every arm has.
    let told = |(title, field): &(&str, Field)| *title == "speed °/s" || arm.joints.iter().any(|j| field(j).is_some());
    let columns: Vec<_> = COLUMNS.into_iter().filter(told).collect();
    let titles: Vec<_> = std::iter::once("joint").chain(columns.iter().map(|(title, _)| *title)).collect();
    let rows = names.iter().zip(&arm.joints).enumerate().map(|(number, (name, joint))| {
        let values = columns.iter().map(|(title, field)| {
            let degrees = field(joint)?.to_degrees();
            Some(if title.ends_with("/s") { format!("{degrees:+.3}") } else { format!("{degrees:.3}") })
        });
        Quantity { name, values: values.collect(), course: history.joints.get(number) }
    });
    let quantities = Quantities { titles: &titles, rows: rows.collect(), span: STILL };
    super::table("joints", &quantities, area, buffer)
}

/// The number of rows of the panel that shows the joint angles only.
pub(super) const ANGLES: u16 = 3;

/// Draws only the joint angles, in one row from the base to the tool, if there is no space for more.
pub(super) fn draw_angles(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) {
    let Some(arm) = &snapshot.state else { return };
    let block = panel("joints: angle °");
    let inner = block.inner(area);
    block.render(area, buffer);
    let angles: Vec<_> = arm.joints.iter().map(|joint| format!("{:.2}", joint.angle.to_degrees())).collect();
    let column = usize::from(inner.width) / angles.len().max(1);
    let row: String = angles.iter().map(|angle| format!("{angle:>column$}")).collect();
    Line::from(row).render(inner, buffer);
}
