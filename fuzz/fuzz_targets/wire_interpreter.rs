//! Reads any bytes, in any pieces, as interpreter mode's replies to a client, and any text as the client's file.
//!
//! The first byte is the length of the file at the beginning of the rest. Behind the file each byte pair is an input,
//! or a number of bytes that are received. Checks that a reply is read as its line, that a file is sent unchanged, that
//! every wait ends, and that a finished client has no more events.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_core::client::Output;
use outrigger_core::client::interpreter::{Client, InterpreterConfig, InterpreterInput, StatementFile};
use outrigger_wire::interpreter::{Query, Reply, reason};
use outrigger_wire::time::{Duration, Instant};

/// Returns the bytes that the tested client of interpreter mode sends, and its events, if it receives at most `piece`
/// bytes at once.
fn conversation(file: StatementFile<'_>, inputs: &[u8], piece: usize) -> (Vec<u8>, Vec<String>) {
    let mut memory = [0; 96];
    let config = InterpreterConfig { unanswered: 3, clear_every: 4, ..InterpreterConfig::default() };
    let mut client = Client::new(config, file, &mut memory);
    let (mut sent, mut told, mut now, mut rest) = (vec![], vec![], Instant::from_micros(1), inputs);
    while let [what, size, after @ ..] = rest {
        rest = after;
        let input = match what % 16 {
            0 => InterpreterInput::Start,
            1 => InterpreterInput::Opened,
            2 => InterpreterInput::Refused,
            3 => InterpreterInput::Closed,
            4 | 5 => InterpreterInput::ProgramRuns,
            6 => InterpreterInput::ProgramEnded,
            7 => InterpreterInput::Cancel,
            8 => {
                now = now + Duration::from_millis(u64::from(*size) * 10);
                InterpreterInput::Tick
            }
            _ => {
                let (received, after) = rest.split_at(usize::from(*size).min(rest.len()));
                rest = after;
                // Outputs are drained between two lines, as by a port that reads the lines one by one.
                for line in received.split_inclusive(|byte| *byte == b'\n') {
                    let mut line = line;
                    while !line.is_empty() {
                        let window = client.receive_window();
                        let count = window.len().min(line.len()).min(piece);
                        assert!(count > 0, "room, for every line was taken");
                        window[..count].copy_from_slice(&line[..count]);
                        client.commit(count, now);
                        line = &line[count..];
                        drain(&mut client, &mut sent, &mut told);
                    }
                }
                continue;
            }
        };
        let over = client.outcome();
        client.handle(now, input);
        assert!(over.is_none() || over == client.outcome(), "an end stays what it is");
        drain(&mut client, &mut sent, &mut told);
    }
    (sent, told)
}

fn drain(client: &mut Client<'_, '_>, sent: &mut Vec<u8>, told: &mut Vec<String>) {
    loop {
        let event = client.poll_event();
        told.extend(event.map(|event| format!("{event:?}")));
        let over = client.outcome().is_some();
        match client.poll_output() {
            Some(Output::Transmit(bytes)) => {
                assert!(!over, "nothing is sent after the end");
                sent.extend_from_slice(bytes);
            }
            Some(Output::Open { .. } | Output::Close) => {}
            None if event.is_some() => {}
            None => break,
        }
    }
    told.extend(client.outcome().map(|outcome| format!("{outcome:?}")));
    told.dedup();
}

fuzz_target!(|bytes: &[u8]| {
    let [size, rest @ ..] = bytes else { return };
    let (text, inputs) = rest.split_at(usize::from(*size).min(rest.len()));
    for line in rest.split(|byte| *byte == b'\n') {
        match Reply::parse(line) {
            Reply::Other(text) => assert_eq!(text.0, line.trim_ascii()),
            Reply::Accepted { line: text, .. } | Reply::State { query: text, .. } => {
                assert!(line.trim_ascii().ends_with(text.0))
            }
            Reply::Discarded(text) => {
                assert!(line.trim_ascii().ends_with(text.0));
                assert!(text.0.starts_with(reason(text, b"a()").0));
            }
        }
    }
    let Ok(file) = StatementFile::new(text) else { return };
    let (sent, told) = conversation(file, inputs, usize::MAX);
    assert_eq!((&sent, &told), (&conversation(file, inputs, 1).0, &conversation(file, inputs, 3).1));
    // Every line is one of the client's own, or the next statement.
    let mut statements = file.statements();
    let whole = sent.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    for line in sent[..whole].split_inclusive(|byte| *byte == b'\n') {
        let line = std::str::from_utf8(line).expect("text");
        let ours = ["sync()\n", "skipbuffer\n", "abort\n", "clear_interpreter()\n", "end_interpreter()\n"];
        let next = statements.clone().next().map(|one| one.parts().collect::<Vec<_>>().join(" ") + "\n");
        if next.as_deref() == Some(line) {
            statements.next();
        } else {
            assert!(ours.contains(&line) || line == Query::LastExecuted.line(), "{line:?}");
        }
    }
});
