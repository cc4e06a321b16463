//! Requests to a simulated controller: any bytes, in any pieces, to the dashboard, the Robot API and RTDE.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

/// The services of the simulated controller that are tested: the port, and the major and minor version of a software
/// that has it.
const SERVICES: [(Port, u8, u8); 5] = [
    (Port::Dashboard, 1, 8),
    (Port::Dashboard, 5, 25),
    (Port::RobotApi, 10, 11),
    (Port::RobotApi, 10, 12),
    (Port::Rtde, 5, 15),
];
/// The simulated time at which answers are read. Requests that take longer, such as loading a program, have no answer
/// by then.
const LASTS: SimTime = SimTime::from_millis(200);

/// Returns the answers of a simulated controller's service to a stream that arrives in pieces of this size, and `true`
/// if the connection is still open.
fn answers((port, major, minor): (Port, u8, u8), stream: &[u8], piece: usize) -> (Vec<u8>, bool) {
    let mut controller = Controller::new(Options::for_software(SoftwareVersion::new(major, minor))).expect("options");
    let conn = controller.connect(port).expect("a connection");
    for bytes in stream.chunks(piece.max(1)) {
        controller.write(conn, bytes);
    }
    controller.advance_to(LASTS);
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let size = controller.read(conn, &mut buffer);
        if size == 0 {
            return (answer, controller.is_open(conn));
        }
        answer.extend_from_slice(&buffer[..size]);
    }
}

// The service, the size of the pieces, and a stream.
fuzz_target!(|bytes: &[u8]| {
    let [service, piece, stream @ ..] = bytes else { return };
    let service = SERVICES[usize::from(*service) % SERVICES.len()];
    let whole = answers(service, stream, usize::MAX);
    assert_eq!(whole, answers(service, stream, usize::from(*piece)), "the same in any pieces");
    if service.0 == Port::Dashboard {
        assert_eq!(whole.0.last(), Some(&b'\n'), "whole lines");
    }
});
