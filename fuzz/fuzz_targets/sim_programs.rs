//! Sends any bytes to programs on a simulated controller: lines of interpreter mode, and data from a server that a
//! program has connected to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

const INTERPRETER: &[u8] =
    b"def main():\n x = 0\n def f():\n  interpreter_mode()\n end\n while True:\n  f()\n  sync()\n end\nend\n";

/// A URScript program that calls each function that reads from a socket in turn, and sends the results back.
const READER: &[u8] = b"def main():\n socket_open(\"server\", 1)\n while True:\n  \
    socket_send_line(socket_read_binary_integer(2, \"socket_0\", 0.004))\n  \
    socket_send_line(socket_read_ascii_float(3, \"socket_0\", 0.004))\n  \
    socket_send_line(socket_read_string(\"socket_0\", \"<\", \"\\n\", True, 0.004))\n  \
    socket_send_line(socket_read_byte_list(5, \"socket_0\", 0.004))\n  \
    socket_send_line(socket_read_line(\"socket_0\", 0.004))\n  \
    socket_send_line(socket_get_var(\"x\"))\n end\nend\n";

fn controller(program: &[u8]) -> Controller {
    let mut controller = Controller::new(Options::for_software(SoftwareVersion::new(5, 15))).expect("options");
    let primary = controller.connect(Port::Primary).expect("a connection");
    controller.write(primary, program);
    controller.advance_to(SimTime::from_millis(20));
    controller
}

fn read(controller: &mut Controller, conn: Conn) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let size = controller.read(conn, &mut buffer);
        if size == 0 {
            return all;
        }
        all.extend_from_slice(&buffer[..size]);
    }
}

/// Returns the replies of interpreter mode to a stream in pieces of this size, with a cycle between two of them if
/// `slow`.
fn interpret(stream: &[u8], piece: usize, slow: bool) -> Vec<u8> {
    let mut controller = controller(INTERPRETER);
    let conn = controller.connect(Port::Interpreter).expect("a connection");
    for bytes in stream.chunks(piece.max(1)) {
        controller.write(conn, bytes);
        if slow {
            let next = controller.next_event();
            controller.advance_to(next);
        }
    }
    let end = controller.now() + std::time::Duration::from_millis(50);
    controller.advance_to(end);
    read(&mut controller, conn)
}

/// Runs `READER` on a simulated controller, with a server whose bytes arrive in pieces of this size, one piece per
/// cycle. Checks that the program continues in spite of these bytes and of the end of the connection.
fn serve(stream: &[u8], piece: usize) {
    let mut controller = controller(READER);
    let call = controller.poll_dial().expect("the program calls");
    controller.dialled(call.conn, Ok(()));
    for bytes in stream.chunks(piece.max(1)) {
        assert_eq!(controller.write(call.conn, bytes), bytes.len(), "it is read as it comes, or waits");
        let next = controller.next_event();
        controller.advance_to(next);
        read(&mut controller, call.conn);
    }
    let end = controller.now() + std::time::Duration::from_millis(100);
    controller.advance_to(end);
    assert!(controller.program().0, "no bytes of a server end a program");
    controller.disconnect(call.conn);
    controller.advance_to(end + std::time::Duration::from_millis(100));
    assert!(controller.program().0, "nor does its end");
}

// The kind of input, the size of the pieces, and a stream.
fuzz_target!(|bytes: &[u8]| {
    let [way, piece, stream @ ..] = bytes else { return };
    let piece = usize::from(*piece);
    if way % 2 == 0 {
        let whole = interpret(stream, usize::MAX, false);
        let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines(&whole), lines(stream), "one answer to every line");
        assert_eq!(whole, interpret(stream, piece, false), "the same in any pieces");
        assert_eq!(lines(&interpret(stream, piece, true)), lines(stream), "also while statements run");
    } else {
        serve(stream, piece);
    }
});
