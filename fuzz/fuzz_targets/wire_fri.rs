//! Reads any bytes as FRI datagrams. Checks that core and oracle agree, and that datagrams are written back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_tests::oracle::{Collector, difference, fri};
use outrigger_wire::WireErrorKind;
use outrigger_wire::fri::{COMMAND_LEN, Command, Datagram, MEASUREMENT_LEN, Measurement};

fn measurement(bytes: &[u8]) {
    let Ok(read) = Measurement::new_checked(bytes) else { return };
    let mut core = Collector::default();
    read.visit(&mut core);
    assert_eq!(difference(&core.seen, &fri::decode("measurement", bytes).expect("whole")), None);
    let mut written = [0xa5; MEASUREMENT_LEN];
    assert_eq!(read.to_repr().emit(&mut written), Ok(bytes.len()));
    assert_eq!(written, bytes);
}

fn command(bytes: &[u8]) {
    let Ok(read) = Command::new_checked(bytes) else { return };
    let mut core = Collector::default();
    read.visit(&mut core);
    assert_eq!(difference(&core.seen, &fri::decode("command", bytes).expect("whole")), None);
    let mut written = [0xa5; COMMAND_LEN];
    match read.to_repr().emit(&mut written) {
        Ok(size) => assert_eq!(written[..size], *bytes),
        Err(error) => {
            assert_eq!(error.kind, WireErrorKind::BadValue);
            let at = usize::from(error.at);
            let number = f32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            assert!(!number.is_finite() && written == [0; COMMAND_LEN]);
        }
    }
}

// Reads the bytes as they are, and again with a header that makes them a datagram, so that all of it is tested.
fuzz_target!(|bytes: &[u8]| {
    measurement(bytes);
    command(bytes);
    if let Some(header) = bytes.first_chunk()
        && let Ok(datagram) = Datagram::of(header)
    {
        let whole = bytes.len() == datagram.size();
        assert_eq!(Measurement::new_checked(bytes).is_ok(), whole && datagram == Datagram::Measurement);
        assert_eq!(Command::new_checked(bytes).is_ok(), whole && datagram == Datagram::Command);
    }
    let headed = |size: usize, id: u16| {
        let mut datagram = bytes.to_vec();
        datagram.resize(size, 0);
        datagram[4..6].copy_from_slice(&(size as u16).to_le_bytes());
        datagram[6..8].copy_from_slice(&id.to_le_bytes());
        datagram
    };
    measurement(&headed(MEASUREMENT_LEN, 0x2006));
    command(&headed(COMMAND_LEN, 0x1005));
});
