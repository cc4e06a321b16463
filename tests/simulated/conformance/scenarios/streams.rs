//! Bytes in tiny pieces, and floods.

use outrigger_core::engine::ur::UrEvent;
use outrigger_core::engine::{Event, Input};
use outrigger_core::mode::Mode;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::Setup;
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::Instant;

use crate::Bench;
use crate::bench::{E_SERIES, TextKind, slow_turn};

fn with(kinds: &[FaultKind]) -> Setup {
    let mut setup = slow_turn(E_SERIES);
    setup.controller.faults = kinds.iter().map(|kind| Fault::new(*kind, SimTime::ZERO, None)).collect();
    setup
}

pub(crate) fn bytes_that_come_in_tiny_pieces_lose_nothing<B: Bench>() {
    let mut bench = B::start(with(&[FaultKind::Split(97)]));
    bench.command();
    bench.wait("100 moving commands", |look| look.said(TextKind::Move) >= 100);
    bench.look(|look| {
        let broken = |event: &&Event<UrEvent>| {
            matches!(event, Event::Peer(UrEvent::Skipped { .. }) | Event::Peer(UrEvent::Malformed { .. }))
        };
        assert_eq!(look.events.iter().filter(broken).count(), 0, "{}", look.story());
        assert_eq!((look.sessions(), look.fallbacks()), (1, vec![]));
    });
}

pub(crate) fn a_flood_of_bytes_that_mean_nothing_does_not_hold_up_the_control_path<B: Bench>() {
    // Messages longer than any buffer, messages of unknown types, and repeated states.
    let mut bench = B::start(with(&[FaultKind::Oversize(60_000), FaultKind::Unknown, FaultKind::Repeat(50)]));
    bench.command();
    bench.wait("100 moving commands", |look| look.said(TextKind::Move) >= 100);
    bench.tell(Input::Release);
    bench.wait("standstill", |look| look.mode == Mode::Monitor);
    bench.look(|look| {
        assert_eq!(look.sessions(), 1);
        assert_eq!(look.texts.last(), Some(&TextKind::Stop));
    });
}

pub(crate) fn a_flood_of_samples_does_not_hold_up_the_control_path<B: Bench>() {
    let mut bench = B::start(slow_turn(E_SERIES));
    bench.command();
    let moves = bench.look(|look| look.said(TextKind::Move));
    let mut seq = 0_u32;
    let mut flood = |bench: &mut B| {
        for _ in 0..5_000 {
            seq = seq.wrapping_add(1);
            let source = SourceId((seq % 8) as u8);
            let sample = Sample { source, value: SampleValue::scalar(0.0), seq, taken_at: Instant::ZERO };
            bench.tell(Input::Sample(sample));
        }
    };
    for more in 1..=20 {
        flood(&mut bench);
        bench.wait("the next moving command", |look| look.said(TextKind::Move) >= moves + more);
    }
    flood(&mut bench);
    bench.tell(Input::Release);
    flood(&mut bench);
    bench.wait("standstill", |look| look.mode == Mode::Monitor);
    bench.look(|look| assert_eq!(look.texts.last(), Some(&TextKind::Stop)));
}
