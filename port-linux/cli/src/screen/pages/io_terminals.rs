//! The page with the inputs and outputs of control box and tool.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Stylize as _;
use ratatui::text::Line;

use crate::screen::page_style::{SOFT, value};
use outrigger::show::Snapshot;

pub(super) fn draw(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) -> u16 {
    const TITLE: &str = "inputs and outputs";
    let Some(terminals) = &snapshot.terminals else {
        return super::unknown(TITLE, super::why(snapshot, "no connection here reports them"), area, buffer);
    };
    let row = |name: &str, inputs: Option<String>, outputs: Option<String>, out: &'static str| {
        let inputs = inputs.map(|inputs| format!("{inputs:<17}"));
        Line::from(vec![format!("{name:<13}in ").fg(SOFT), value(inputs), format!("  {out} ").fg(SOFT), value(outputs)])
    };
    let mut lines =
        vec![Line::from(format!("{:<16}{:<23}{}", "number", "0 1 2 3 4 5 6 7", "0 1 2 3 4 5 6 7")).fg(SOFT)];
    lines.extend(terminals.digital().map(|(name, inputs, outputs)| row(name, Some(inputs), outputs, "out")));
    let pair = |pair: Option<[String; 2]>| pair.map_or((None, None), |[one, other]| (Some(one), Some(other)));
    let (inputs, outputs) = pair(terminals.analog());
    lines.push(row("analog", inputs, outputs, "out"));
    let (inputs, supply) = pair(terminals.tool_analog());
    lines.push(row("tool analog", inputs, supply, "supply"));
    super::lines(TITLE, lines, area, buffer)
}
