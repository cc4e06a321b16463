//! Reads any bytes, in any pieces, as the dashboard's reply to any request.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_wire::dashboard::{Argument, Reply, Request, RequestKind, is_greeting};
use outrigger_wire::frame::{FrameError, LineAssembler};

/// Returns the lines that the tested `LineAssembler` extracts from a stream in pieces of these sizes in turn, and the
/// number of bytes that remain.
fn lines(memory: usize, stream: &[u8], pieces: &[usize]) -> (Vec<Result<Vec<u8>, FrameError>>, usize) {
    let mut memory = vec![0xa5; memory];
    let mut assembler = LineAssembler::new(&mut memory);
    let (mut found, mut rest, mut sizes) = (Vec::new(), stream, pieces.iter().cycle());
    while !rest.is_empty() {
        let window = assembler.window();
        let size = sizes.next().map_or(1, |size| (*size).clamp(1, window.len().min(rest.len())));
        let (piece, after) = rest.split_at(size);
        window[..size].copy_from_slice(piece);
        assembler.commit(size);
        rest = after;
        while let Some(line) = assembler.next_line() {
            found.push(line.map(<[u8]>::to_vec));
        }
    }
    (found, assembler.waiting())
}

// The size of the memory, the size of the pieces, and a stream.
fuzz_target!(|bytes: &[u8]| {
    let [memory, piece, stream @ ..] = bytes else { return };
    let memory = usize::from(*memory).max(2);
    let (found, waiting) = lines(memory, stream, &[usize::from(*piece), 3]);
    assert_eq!((&found, waiting), (&lines(memory, stream, &[usize::MAX]).0, lines(memory, stream, &[1]).1));
    assert_eq!(found.len(), stream.iter().filter(|byte| **byte == b'\n').count(), "a line per line feed");
    for line in found.iter().flatten() {
        let _ = is_greeting(line);
        for kind in RequestKind::ALL {
            if let Reply::Other(text) = Reply::parse(*kind, line) {
                assert_eq!(text.0, line.trim_ascii());
            }
        }
    }
    if let Ok(request) = std::str::from_utf8(stream).map_err(drop).and_then(|text| Request::parse(text).map_err(drop)) {
        let mut line = [0xa5; Request::MAX_LEN];
        let size = request.emit(&mut line).expect("room for any request");
        let emitted = std::str::from_utf8(&line[..size]).expect("ASCII");
        assert_eq!(Request::parse(emitted), Ok(request));
    }
    if let Some(argument) = std::str::from_utf8(stream).ok().and_then(|text| Argument::new(text).ok()) {
        for request in [Request::Load(argument), Request::Popup(argument), Request::GenerateSupportFile(argument)] {
            let mut line = [0xa5; Request::MAX_LEN];
            let size = request.emit(&mut line).expect("room for any request");
            let expected = format!("{} {}\n", request.kind().words(), argument.as_str());
            assert_eq!(line[..size], *expected.as_bytes());
        }
    }
});
