//! The page with the position and speed of the tool centre point.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screen::page_style::{Quantities, Quantity};
use crate::screen::plot_history::History;
use outrigger::show::Snapshot;

pub(super) fn draw(snapshot: &Snapshot, history: &History, area: Rect, buffer: &mut Buffer) -> u16 {
    const TITLE: &str = "TCP in the base frame";
    let Some(arm) = &snapshot.state else { return super::no_state(TITLE, snapshot, area, buffer) };
    let [position, turn] = [arm.tcp_pose.map(|pose| pose.position), arm.tcp_pose.map(|pose| pose.rotation)];
    let [linear, angular] = [arm.tcp_speed.map(|speed| speed.linear), arm.tcp_speed.map(|speed| speed.angular)];
    let mut rows = vec![];
    for (number, name) in ["x mm", "y mm", "z mm"].into_iter().enumerate() {
        let values = vec![
            position.map(|position| format!("{:.2}", position[number] * 1e3)),
            linear.map(|speed| format!("{:+.2}", speed[number] * 1e3)),
        ];
        rows.push(Quantity { name, values, course: history.pose.get(number) });
    }
    for (number, name) in ["rx rad", "ry rad", "rz rad"].into_iter().enumerate() {
        let values = vec![
            turn.map(|turn| format!("{:.4}", turn[number])),
            angular.map(|speed| format!("{:+.4}", speed[number])),
        ];
        rows.push(Quantity { name, values, course: history.pose.get(number + 3) });
    }
    let quantities = Quantities { titles: &["", "pose", "per second"], rows, span: 0.5 };
    super::table(TITLE, &quantities, area, buffer)
}
