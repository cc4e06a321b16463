//! Tests the lines that readers of the TCP server `[serve]` receive.

use outrigger_core::link::{LinkConfig, LinkMonitor};
use outrigger_emulated::require::committed::hold;
use outrigger_wire::fri::MeasurementRepr;
use outrigger_wire::time::Instant;

use super::*;
use outrigger::feed::{Entry, FRI, VARIABLES, stream_memory};
use outrigger::show::Notice;

#[test]
fn the_lines_are_those_that_are_committed() {
    let mut memory = stream_memory();
    let mut lines = Lines::new(Streams::new(&mut memory).expect("memory"), 1_700_000_000_123_456_789);
    let mut measurement = [0; 916];
    let repr = MeasurementRepr { send_seq_count: 7, desired_msr_sample_time: 0.005, ..MeasurementRepr::default() };
    repr.emit(&mut measurement).expect("room");
    let figures = LinkMonitor::new(LinkConfig::datagram(Duration::from_millis(5))).figures(Instant::ZERO);
    let mut known = figures;
    (known.age, known.jitter) = (Some(Duration::from_micros(1_234)), Duration::from_micros(56));
    let notice = Notice {
        at: Instant::from_micros(1_500_000),
        kind: "transition",
        text: "Monitor \u{2192} Arming".into(),
        fields: vec![("from", "Monitor".into())],
    };
    let entries = [
        EntryContent::Opened { port: 30_003 },
        EntryContent::Opened { port: VARIABLES },
        EntryContent::Closed { port: 30_003 },
        EntryContent::Received { port: FRI, bytes: measurement.into(), first_start: Some(0) },
        EntryContent::Notice(notice),
        EntryContent::Link { mode: Mode::Command, figures: Box::new(figures) },
        EntryContent::Link { mode: Mode::Monitor, figures: Box::new(known) },
    ];
    let items = entries.map(|what| Item::Entry(Entry { at: Instant::from_micros(2_000_001), what }));
    let mut text = String::new();
    for item in items.iter().chain(&[Item::Lost(17)]) {
        lines.make(item, true, &mut |line| text += &format!("{line}\n"));
    }
    hold(concat!(env!("CARGO_MANIFEST_DIR"), "/src/serve/golden/lines.jsonl"), &text);
}
