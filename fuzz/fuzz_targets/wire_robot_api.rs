//! Reads any bytes as a response of the Robot API, over HTTP in any pieces and as any JSON text. Compares with another
//! JSON reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_wire::dashboard::RequestKind;
use outrigger_wire::robot_api::{Call, HttpError, Member, Response, Value, WITH_QUESTIONS, member};

/// The results of reading a response of the Robot API, which do not depend on the pieces in which it arrives.
#[derive(Debug, PartialEq)]
struct Read {
    whole: Result<bool, HttpError>,
    ended: Result<(), HttpError>,
    status: u16,
    /// The extracted text and `true` if it was cut; `Some(None)` if the member is `null`, `None` if it was not
    /// found.
    value: Option<Option<(Vec<u8>, bool)>>,
    excerpt: Vec<u8>,
}

fn read(member: Member, stream: &[u8], piece: usize) -> Read {
    let mut response = Response::new(member);
    let mut whole = Ok(false);
    for piece in stream.chunks(piece) {
        whole = response.take(piece);
        if whole != Ok(false) {
            break;
        }
    }
    let ended = response.end();
    let value = response.value().map(|value| match value {
        Value::Text { bytes, cut } => Some((bytes.to_vec(), cut)),
        Value::Null => None,
    });
    assert!(response.excerpt().len() <= 200, "more than is kept");
    Read { whole, ended, status: response.status(), value, excerpt: response.excerpt().to_vec() }
}

// The request, the size of the pieces, and a response; then the same bytes as the body of a response.
fuzz_target!(|case: &[u8]| {
    let [request, piece, bytes @ ..] = case else { return };
    let (kind, key) =
        [(RequestKind::RobotMode, "mode"), (RequestKind::ProgramState, "state"), (RequestKind::LoadedProgram, "name")]
            [usize::from(request % 3)];
    let Some(member) = member(kind) else { panic!("a question has an answer") };
    let piece = usize::from(*piece).max(1);
    assert_eq!(read(member, bytes, piece), read(member, bytes, usize::MAX));

    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len()).into_bytes();
    answer.extend_from_slice(bytes);
    let found = read(member, &answer, piece);
    assert_eq!((found.whole, found.ended, found.status), (Ok(true), Ok(()), 200));
    let mut chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in bytes.chunks(piece) {
        chunked.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(read(member, &chunked, piece), found, "chunks are the same body");
    if let Ok(json) = serde_json::from_slice::<serde_json::Value>(bytes) {
        let shallow = bytes.iter().filter(|byte| matches!(byte, b'{' | b'[')).count() <= 64;
        let known = json.as_object().and_then(|object| object.get(key));
        let expected = known.and_then(|value| match value {
            serde_json::Value::String(text) => Some(Some((text.as_bytes(), false))),
            serde_json::Value::Null => Some(None),
            _ => None,
        });
        let ours = found.value.as_ref().map(|value| value.as_ref().map(|(bytes, cut)| (bytes.as_slice(), *cut)));
        match (ours, expected) {
            (Some(Some((text, true))), Some(Some((whole, _)))) => assert!(whole.starts_with(text)),
            (ours, expected) => assert!(ours == expected || !shallow, "{ours:?}, and not {expected:?}"),
        }
    }
    if let Ok(name) = std::str::from_utf8(bytes) {
        let mut out = [0; Call::MAX_LEN];
        let call = Call::of(RequestKind::Load, name, WITH_QUESTIONS).expect("a program can be loaded");
        if let Ok(size) = call.emit("robot", &mut out) {
            let text = std::str::from_utf8(&out[..size]).expect("text");
            let (_, body) = text.split_once("\r\n\r\n").expect("a head and a body");
            assert!(text.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{text}");
            let json: serde_json::Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(json, serde_json::json!({ "name": name }));
        }
    }
});
