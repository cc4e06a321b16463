//! Random orders of inputs, bytes, faults and time: nothing panics, and the bench's invariants hold after each input.

use crate::engine::ur::LINKS;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::bench::{Bench, Sent};
use crate::engine::ur::UrConfig;
use crate::engine::{Input, LinkId};
use crate::mode::{Mode, Transition};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

/// An event of a random session: an input of the engine, or a change of its surroundings.
#[derive(Clone, Debug)]
enum Op {
    Run(u16),
    Input(Plain),
    Unacked(usize, u16),
    Sample(f32, u32),
    Bytes(usize, Vec<u8>),
    Close(usize),
    /// A report of the port that was not requested.
    Stray(usize, bool),
    Stall(bool),
    Sleep(u16),
    Safety(u8),
    Local(bool),
    Foreign(bool),
    Jump(i64),
    Pieces(u16),
    Refuse(bool),
}

#[derive(Clone, Copy, Debug)]
enum Plain {
    Start,
    Request,
    Resume,
    Release,
    Acknowledge,
    Shutdown,
    Tick,
}

fn op() -> impl Strategy<Value = Op> {
    let plain = prop_oneof![
        1 => Just(Plain::Start),
        6 => Just(Plain::Request),
        2 => Just(Plain::Resume),
        2 => Just(Plain::Release),
        4 => Just(Plain::Acknowledge),
        1 => Just(Plain::Shutdown),
        2 => Just(Plain::Tick),
    ];
    prop_oneof![
        8 => (1_u16..1_500).prop_map(Op::Run),
        8 => plain.prop_map(Op::Input),
        2 => (0..LINKS.len(), 0_u16..800).prop_map(|(l, age)| Op::Unacked(l, age)),
        1 => (any::<f32>(), any::<u32>()).prop_map(|(v, seq)| Op::Sample(v, seq)),
        2 => (0..LINKS.len(), prop::collection::vec(any::<u8>(), 0..3_000)).prop_map(|(l, b)| Op::Bytes(l, b)),
        1 => (0..LINKS.len()).prop_map(Op::Close),
        1 => (0..LINKS.len(), any::<bool>()).prop_map(|(l, o)| Op::Stray(l, o)),
        2 => any::<bool>().prop_map(Op::Stall),
        1 => (1_u16..2_000).prop_map(Op::Sleep),
        2 => (0_u8..12).prop_map(Op::Safety),
        1 => any::<bool>().prop_map(Op::Local),
        1 => any::<bool>().prop_map(Op::Foreign),
        1 => (-2_000_000_i64..5_000_000).prop_map(Op::Jump),
        1 => (1_u16..2_000).prop_map(Op::Pieces),
        1 => any::<bool>().prop_map(Op::Refuse),
    ]
}

fn link(index: usize) -> LinkId {
    LINKS[index]
}

fn apply(bench: &mut Bench, op: &Op) {
    match op {
        Op::Run(millis) => bench.run(u64::from(*millis)),
        Op::Input(plain) => bench.input(match plain {
            Plain::Start => Input::Start,
            Plain::Request => Input::Request(bench.engine.mode_machine().epoch()),
            Plain::Resume => Input::Resume(bench.engine.mode_machine().epoch()),
            Plain::Release => Input::Release,
            Plain::Acknowledge => Input::Acknowledge,
            Plain::Shutdown => Input::Shutdown,
            Plain::Tick => Input::Tick,
        }),
        Op::Unacked(index, millis) => {
            let age = Duration::from_millis(u64::from(*millis));
            bench.input(Input::Unacked { link: link(*index), bytes: u32::from(*millis) / 2, age });
        }
        Op::Sample(value, seq) => {
            let taken_at = Instant::from_micros(u64::from(*seq));
            let sample = Sample { source: SourceId(1), value: SampleValue::scalar(*value), seq: *seq, taken_at };
            bench.input(Input::Sample(sample));
        }
        Op::Bytes(index, bytes) => {
            // A link that is never opened has no receive memory.
            if link(*index) != LinkId::RTDE || bench.engine.peer().rtde().is_some() {
                bench.bytes(link(*index), bytes);
            }
        }
        Op::Close(index) => bench.close(link(*index)),
        Op::Stray(index, opened) => {
            let link = link(*index);
            if !bench.open[link.index()] {
                bench.input(if *opened { Input::Refused(link) } else { Input::Closed(link) });
            }
        }
        Op::Stall(stalled) => bench.stalled = *stalled,
        Op::Sleep(millis) => {
            bench.sleep_through(u64::from(*millis));
            bench.deliver();
        }
        Op::Safety(mode) => bench.peer.safety = *mode,
        Op::Local(local) => bench.peer.local = *local,
        Op::Foreign(foreign) => bench.peer.foreign = *foreign,
        Op::Jump(micros) => bench.peer.micros = bench.peer.micros.saturating_add_signed(*micros),
        Op::Pieces(most) => bench.read_most = usize::from(*most),
        Op::Refuse(refuse) => bench.refused = if *refuse { vec![30_001, 30_002, 30_003, 30_004] } else { Vec::new() },
    }
}

const FIRMWARES: [(u8, u8); 4] = [(1, 8), (3, 1), (3, 15), (5, 15)];

fn bench(which: usize, rtde: bool) -> Bench {
    let (major, minor) = FIRMWARES[which];
    let make = if rtde { Bench::with_rtde } else { Bench::new };
    make(major, minor, UrConfig::default())
}

/// Returns the output and the decisions of a session over RTDE, with `read_most` bytes per read at most.
fn decided(read_most: usize) -> (Vec<Sent>, Vec<Transition>) {
    let mut bench = Bench::with_rtde(5, 15, UrConfig::default());
    bench.read_most = read_most;
    let mut bench = bench.started().commanding();
    bench.run(100);
    bench.rtde_stalled = true;
    bench.run(100);
    bench.rtde_stalled = false;
    bench.run(500);
    let transitions = bench.transitions();
    (bench.sent, transitions)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn a_session_over_rtde_cut_anywhere_sends_and_decides_the_same(read_most in 1_usize..600) {
        prop_assert_eq!(decided(read_most), decided(usize::MAX));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_events_breaks_a_session(
        which in 0..FIRMWARES.len(),
        rtde in any::<bool>(),
        ops in prop::collection::vec(op(), 1..40),
    ) {
        let mut bench = bench(which, rtde);
        bench.input(Input::Start);
        bench.run(1_000);
        ops.iter().for_each(|op| apply(&mut bench, op));
        #[cfg(feature = "record")]
        prop_assert!(bench.replay().is_ok(), "{:?}", bench.replay());
    }

    #[test]
    fn no_order_of_events_breaks_a_moving_arm(
        which in 0..FIRMWARES.len(),
        rtde in any::<bool>(),
        ops in prop::collection::vec(op(), 1..12),
    ) {
        let mut bench = bench(which, rtde).started().commanding();
        ops.iter().for_each(|op| apply(&mut bench, op));
        // After a long enough time without events, an arm that is no longer commanded is at rest: by our text, or by
        // its own end.
        if !matches!(bench.engine.mode(), Mode::Arming | Mode::Command) && !bench.peer.foreign {
            bench.run(3_000);
            if !matches!(bench.engine.mode(), Mode::Arming | Mode::Command) {
                prop_assert_eq!(bench.peer.qd, [0.0; 6]);
            }
        }
        #[cfg(feature = "record")]
        prop_assert!(bench.replay().is_ok(), "{:?}", bench.replay());
    }
}
