//! Sends any bytes to the request lines of a process. Checks that the result is the same in any pieces, that memory is
//! bounded, that each accepted message is also JSON for another reader, and that a written message is read back
//! unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_remote::request::{Fault, LINE_MAX, Lines};

/// Passes `stream` to the tested `Lines` in pieces of this size, as a client of a run would. Returns the request
/// messages and errors in it, and `true` if `Lines` closed the connection.
fn read(stream: &[u8], piece: usize) -> (Vec<Result<String, String>>, bool) {
    let (mut lines, mut said, mut rest) = (Lines::new(), Vec::new(), stream);
    loop {
        while let Some(line) = lines.poll_message() {
            said.push(match line {
                Ok(message) => Ok(message.to_string()),
                Err(fault) => {
                    assert!(fault.at <= LINE_MAX && fault.found.len() <= Fault::FOUND_MAX);
                    Err(format!("{fault:?}"))
                }
            });
        }
        let window = lines.receive_window();
        let count = piece.max(1).min(window.len()).min(rest.len());
        if count == 0 {
            assert!(rest.is_empty() || lines.is_closed(), "nothing waits for ever");
            return (said, lines.is_closed());
        }
        window[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        lines.commit(count);
    }
}

// The size of the pieces, and a stream.
fuzz_target!(|bytes: &[u8]| {
    let [piece, stream @ ..] = bytes else { return };
    let (said, closed) = read(stream, usize::MAX);
    assert_eq!((&said, closed), (&read(stream, usize::from(*piece)).0, closed), "the same in any pieces");
    let mut of_stream = stream.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for line in &said {
        let theirs = of_stream.next().expect("one line, one answer");
        let Ok(written) = line else { continue };
        let foreign: serde_json::Value = serde_json::from_slice(theirs).expect("JSON to another reader");
        let again: serde_json::Value = serde_json::from_str(written).expect("what is written is JSON");
        for key in ["do", "id", "seq", "output", "source", "how", "challenge", "what"] {
            assert_eq!(foreign.get(key), again.get(key), "{key}");
        }
        // An escaped control character takes more bytes than the character, so a message with many can be too long to
        // be sent again.
        if written.len() <= LINE_MAX {
            let again = read(format!("{written}\n").as_bytes(), usize::MAX).0;
            assert_eq!(again, [Ok(written.clone())], "read back as the same");
        }
    }
});
