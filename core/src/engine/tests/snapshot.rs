//! Engines that continue from a snapshot of another one.

use super::bench::{Bench, Sent, turning};
use crate::engine::ur::Ur;
use crate::engine::ur::UrEvent;
use crate::engine::ur::{Memory, UrConfig};
use crate::engine::{Event, Input, LinkId, ReplayError};
use crate::mode::Mode;

/// Runs a session: commanded, disconnected in the middle of it, connected again, commanded again.
fn live(bench: &mut Bench) -> (Vec<Sent>, Vec<Event<UrEvent>>) {
    let from = (bench.sent.len(), bench.events.len());
    bench.request();
    bench.run(2_000);
    assert_eq!(bench.engine.mode(), Mode::Command);
    bench.close(LinkId::REALTIME);
    bench.run(6_000);
    bench.input(Input::Acknowledge);
    bench.run(200);
    bench.request();
    bench.run(2_000);
    assert_eq!(bench.engine.mode(), Mode::Command);
    (bench.sent[from.0..].to_vec(), bench.events[from.1..].to_vec())
}

#[test]
fn an_engine_that_goes_on_from_a_snapshot_says_and_does_what_the_first_one_does() {
    for (major, minor) in [(1, 8), (3, 1), (3, 15), (5, 15)] {
        for mut bench in [Bench::new, Bench::with_rtde].map(|new| new(major, minor, UrConfig::default()).started()) {
            let mut fork = bench.forked();
            let (there, here) = (live(&mut fork), live(&mut bench));
            assert_eq!(there.0, here.0, "texts, {major}.{minor}");
            assert_eq!(there.1, here.1, "events, {major}.{minor}");
        }
    }
}

#[test]
fn before_a_connection_stands_an_engine_goes_on_as_well() {
    let mut bench = Bench::new(5, 15, UrConfig::default());
    bench.refused = vec![30_003];
    bench.input(Input::Start);
    bench.run(700);
    let mut fork = bench.forked();
    for bench in [&mut bench, &mut fork] {
        bench.refused.clear();
        bench.run(10_000);
    }
    assert_eq!((fork.engine.mode(), fork.unmet()), (Mode::Monitor, vec![]));
    assert_eq!(bench.events[bench.events.len() - fork.events.len()..], fork.events);
}

#[test]
fn there_is_no_snapshot_of_what_may_move_nor_of_what_is_not_drained() {
    let room = &mut [0; 8192];
    let mut bench = Bench::ready(5, 15);
    bench.request();
    let mut seen = vec![];
    for millis in 0..3_000 {
        let mode = bench.engine.mode();
        if !seen.contains(&mode) {
            seen.push(mode);
        }
        assert_eq!(bench.engine.snapshot(room).is_some(), mode == Mode::Monitor, "{mode:?}");
        if millis == 1_500 {
            bench.input(Input::Release);
        }
        bench.run(1);
    }
    assert_eq!(seen, [Mode::Arming, Mode::Command, Mode::Stopping, Mode::Monitor]);
    // A connection is to be opened, and the port has not taken that yet.
    let mut bench = Bench::new(5, 15, UrConfig::default());
    assert!(bench.engine.snapshot(room).is_some());
    bench.engine.handle(bench.now, Input::Start);
    assert!(bench.engine.snapshot(room).is_none());
    bench.input(Input::Tick);
    assert!(bench.engine.snapshot(room).is_some());
}

#[test]
fn too_little_room_or_memory_is_told() {
    let bench = Bench::ready(5, 15);
    assert!(bench.engine.snapshot(&mut [0; 256]).is_none());
    let room = &mut [0; 8192];
    let snapshot = bench.engine.snapshot(room).unwrap();
    let memory = Memory { primary: &mut [0; 4096], realtime: &mut [0; 4096], rtde: None };
    let refused = snapshot.engine::<Ur<'_>>(turning(), memory).err();
    assert_eq!(refused, Some(ReplayError::Memory { expected: [4096, 8192, 0, 0] }));
}
