//! Reads any bytes as telemetry. Checks that they are rejected, or written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_core::engine::krc::{KrcEvent, KrcSettings, KrcStatus};
use outrigger_core::engine::ur::{UrEvent, UrSettings, UrStatus};
use outrigger_core::engine::{ControllerStatus, Data};
use outrigger_remote::telemetry::{DATAGRAM_MAX, Datagram, MAGIC};

fn a_datagram<const N: usize, S: ControllerStatus, E: Data>(bytes: &[u8]) {
    let Ok(datagram) = Datagram::<N, S, E>::decode(bytes) else { return };
    let mut out = [0xa5; 2 * DATAGRAM_MAX];
    // Varints may be longer than necessary; the shortest form is written back.
    let Some(length) = datagram.encode(&mut out) else {
        assert!(bytes.len() > out.len());
        return;
    };
    let again = Datagram::<N, S, E>::decode(&out[..length]).expect("what was written is read");
    // NaN differs from itself, so the written bytes are compared.
    let mut twice = [0x5a; 2 * DATAGRAM_MAX];
    let longer = again.encode(&mut twice).expect("no longer than before");
    assert_eq!(out[..length], twice[..longer]);
}

fuzz_target!(|bytes: &[u8]| {
    a_datagram::<6, UrStatus, UrEvent>(bytes);
    a_datagram::<6, UrStatus, UrEvent>(&[&MAGIC[..], b"U", bytes].concat());
    a_datagram::<7, KrcStatus, KrcEvent>(&[&MAGIC[..], b"K", bytes].concat());
    let _ = (UrSettings::from_postcard(bytes), KrcSettings::from_postcard(bytes));
});
