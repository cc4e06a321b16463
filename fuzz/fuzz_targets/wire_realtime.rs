//! Reads any bytes as a real-time packet. Checks that core and oracle agree, and that a packet is written back
//! unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_tests::oracle::{self, Collector, difference};
use outrigger_wire::realtime::{MAX_SIZE, Packet};

fuzz_target!(|bytes: &[u8]| {
    let Ok(packet) = Packet::new_checked(bytes) else { return };
    assert_eq!(packet.size(), bytes.len());
    assert!(bytes.len() <= MAX_SIZE);

    let mut core = Collector::default();
    packet.visit(&mut core);
    let table = if bytes.len() <= 812 { "realtime_cb2" } else { "realtime_cb3" };
    let cells = oracle::decode_realtime(&oracle::tables()[table], bytes);
    assert_eq!(difference(&core.seen, &cells), None);

    let mut written = vec![0xa5; bytes.len()];
    assert_eq!(packet.to_repr().emit(bytes.len(), &mut written), Ok(bytes.len()));
    let mut again = Collector::default();
    Packet::new_checked(&written).expect("a packet is written as a packet").visit(&mut again);
    assert_eq!(format!("{:?}", core.seen), format!("{:?}", again.seen));

    if let Ok(state) = packet.to_state() {
        assert!(packet.time().is_finite() && packet.time() >= 0.0);
        assert_eq!(state.digital_inputs, packet.digital_input_bits());
    }
});
