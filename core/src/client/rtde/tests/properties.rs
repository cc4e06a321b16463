//! Properties that hold for any data from a service, and any segmentation of it.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::bench::{Bench, Seen};
use crate::client::rtde::Input;
use outrigger_wire::rtde::{Level, Reply, TextMessage};
use outrigger_wire::time::Duration;

/// Returns the events of a client in a conversation with all kinds of RTDE packages, read in pieces of at most these
/// lengths.
fn conversation(pieces: &[usize]) -> Vec<Seen> {
    let mut bench = Bench::new("timestamp,actual_q", "payload,robot_mode", &["input_int_register_24"]);
    bench.service.missing = vec!["payload"];
    let mut pieces = pieces.iter().copied().cycle();
    bench.read_most = pieces.next().unwrap_or(usize::MAX);
    bench.open();
    for i in 0..40 {
        bench.read_most = pieces.next().unwrap_or(usize::MAX);
        if i % 7 == 0 {
            let text = TextMessage { level: Level::Info, message: b"still here", source: Some(b"RTDE") };
            bench.service.send(&Reply::Text(text));
            bench.service.send(&Reply::Data { recipe: Some(99), values: &[i; 31] });
        }
        bench.cycle();
    }
    bench.events
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(30_004), cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_session_cut_anywhere_tells_the_same(pieces in prop::collection::vec(1_usize..300, 1..20)) {
        prop_assert_eq!(conversation(&pieces), conversation(&[]));
    }

    #[test]
    fn any_bytes_at_any_time_end_in_values_and_events(
        questions in 0_usize..7,
        bytes in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..80)), 0..40),
        framed in any::<bool>(),
    ) {
        let mut bench = Bench::new("timestamp,actual_q", "robot_mode", &["input_int_register_24"]);
        bench.service.silent_on = b"VvOIS".get(questions..).unwrap_or_default().to_vec();
        bench.open();
        for (letter, payload) in bytes {
            let letter = b"VvMUOISP?"[usize::from(letter) % 9];
            let size = u16::try_from(payload.len() + 3).unwrap();
            let head = [&size.to_be_bytes()[..], &[letter]].concat();
            bench.service.out.extend(if framed { head } else { Vec::new() });
            bench.service.out.extend(&payload);
            bench.exchange();
            bench.now = bench.now + Duration::from_millis(300);
            bench.handle(Input::Tick);
            bench.drain();
        }
        let counts = *bench.client.counts();
        let data = bench.events.iter().filter(|event| matches!(event, Seen::Data { .. })).count();
        prop_assert_eq!(counts.data, data as u64);
        prop_assert!(counts.data + u64::from(counts.texts + counts.unexpected) <= counts.stream.messages);
    }
}
