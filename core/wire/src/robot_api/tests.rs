use proptest::prelude::*;

use super::*;
use crate::dashboard::Argument;

fn emitted(call: &Call<'_>) -> String {
    let mut out = [0; Call::MAX_LEN];
    let len = call.emit("192.168.56.101", &mut out).unwrap();
    String::from_utf8(out[..len].to_vec()).unwrap()
}

/// Returns the member that is extracted from a response with this body: its text, `Some(None)` for null.
fn read(member: Member, body: &str) -> Option<Option<String>> {
    let mut response = Response::new(member);
    let whole = response.take(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    assert_eq!(whole, Ok(true), "{body}");
    response.value().map(|value| match value {
        Value::Text { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Null => None,
    })
}

const MODE: Member = Member { path: &[("", "mode")] };

fn text(text: &str) -> Option<Option<String>> {
    Some(Some(text.to_owned()))
}

#[test]
fn a_call_is_one_request_that_tells_its_length_and_closes_the_connection() {
    let expected = "GET /universal-robots/robot-api/openapi.json HTTP/1.1\r\nHost: 192.168.56.101\r\nAccept: \
                    application/json\r\nConnection: close\r\n\r\n";
    assert_eq!(emitted(&Call::DESCRIPTION), expected);
    let put = emitted(&Call::RESUME);
    assert!(put.starts_with("PUT /universal-robots/robot-api/program/v1/state HTTP/1.1\r\n"), "{put}");
    assert!(put.contains("\r\nContent-Type: application/json\r\nContent-Length: 19\r\n"), "{put}");
    assert!(put.ends_with("\r\n\r\n{\"action\":\"resume\"}"), "{put}");
}

#[test]
fn a_program_is_loaded_by_the_generations_own_path_and_quotes_stay_within_the_name() {
    let body = |software| {
        let text = emitted(&Call::of(RequestKind::Load, "a \"b\\c\".urpx", software).unwrap());
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
    };
    let base = |path| format!("{BASE}{path}");
    assert_eq!(body(WITH_QUESTIONS), (base("/program/v1/loaded"), r#"{"name":"a \"b\\c\".urpx"}"#.to_owned()));
    assert_eq!(body(FIRST), (base("/program/v1/load"), r#"{"programName":"a \"b\\c\".urpx"}"#.to_owned()));
    let longest = "\"".repeat(Argument::MAX_LEN);
    assert!(emitted(&Call::of(RequestKind::Load, &longest, FIRST).unwrap()).len() + 64 < Call::MAX_LEN);
    let call = Call::Put { path: "/x", key: "name", value: "a\nb" };
    assert!(call.emit("h", &mut [0; 900]).is_err() && Call::DESCRIPTION.emit("h", &mut [0; 40]).is_err());
}

/// Checks that an HTTP call of the Robot API exists for exactly the requests that `RequestKind::check` permits.
#[test]
fn there_is_a_call_for_every_request_that_the_core_knows_of() {
    for request in RequestKind::ALL.iter().copied() {
        let known = request.check(WITH_QUESTIONS).is_ok();
        assert_eq!(Call::of(request, "x", WITH_QUESTIONS).is_some(), known, "{request:?}");
    }
}

#[test]
fn the_generation_is_told_by_the_version_of_the_description() {
    let of =
        |version: &str| read(VERSION, &format!(r#"{{"openapi":"3.0","info":{{"title":"x","version":"{version}"}}}}"#));
    let of = |version| of(version).flatten().and_then(|text| software(text.as_bytes()));
    assert_eq!(
        (of("3.1.4"), of("4.0"), of("3.2.0-beta")),
        (Some(WITH_QUESTIONS), Some(WITH_QUESTIONS), Some(WITH_QUESTIONS))
    );
    assert_eq!((of("3.1.3"), of("2.9.9"), of("1")), (Some(FIRST), Some(FIRST), Some(FIRST)));
    assert_eq!((of("x"), of("")), (None, None));
    for body in
        ["", "{}", "<html>", r#"{"info":{"version":3}}"#, r#"{"version":"3.1.4"}"#, r#"[{"info":{"version":"4"}}]"#]
    {
        assert_eq!(read(VERSION, body), None, "{body}");
    }
}

#[test]
fn one_member_of_the_outermost_object_is_read_and_the_last_of_its_name_counts() {
    assert_eq!(
        read(MODE, r#" {"a":[1,{"mode":"no"}],"b":{"mode":"no"},"mode" : "RUNNING" , "c":-1.5e+3,"d":true} "#),
        text("RUNNING")
    );
    assert_eq!(read(MODE, r#"{"mode":"A","mode":"B"}"#), text("B"));
    assert_eq!(read(MODE, r#"{"mode":"A","mode":7}"#), None);
    assert_eq!(read(MODE, r#"{"mode":null}"#), Some(None));
    assert_eq!(read(MODE, r#"{"mode":"\u00e4\ud83d\ude00\"\\\/\n"}"#), text("ä😀\"\\/\n"));
    assert_eq!(read(MODE, r#"{"m\u006fde":"escaped"}"#), text("escaped"));
    let invalid = [
        "",
        "null",
        "[1]",
        r#"{"mode":"RUNNING""#,
        r#"{"mode":"RUNNING"}}"#,
        r#"{"mode":"\ud83d"}"#,
        r#"{"mode":"\ude00"}"#,
        r#"{"mode":"\ud83d\u0041"}"#,
        r#"{"mode":"\x"}"#,
        "{\"mode\":\"a\nb\"}",
        r#"{"mode":tru}"#,
        r#"{"mode":"a",}"#,
        r#"{"mode" "a"}"#,
        r#"{"modes":"a"}"#,
        r#"{"mode":"a"]"#,
        r#"{mode:"a"}"#,
    ];
    for body in invalid {
        assert_eq!(read(MODE, body), None, "{body}");
    }
    let deep = format!(r#"{{"mode":"a","x":{}{}}}"#, "[".repeat(63), "]".repeat(63));
    assert_eq!(read(MODE, &deep), text("a"));
    assert_eq!(read(MODE, &deep.replace("[]", "[[]]")), None, "deeper than is read");
    let long = format!(r#"{{"mode":"{}"}}"#, "x".repeat(600));
    assert_eq!(read(MODE, &long).flatten().map(|text| text.len()), Some(512));
}

#[test]
fn a_refusal_is_in_the_first_member_with_words_whatever_form_it_has() {
    let refusal = |body: &str| {
        let mut response = Response::new(MODE);
        let head = format!("HTTP/1.1 409 Conflict\r\ncontent-length:{}\r\n\r\n{body}", body.len());
        assert_eq!(response.take(head.as_bytes()), Ok(true));
        assert_eq!((response.status(), response.is_success()), (409, false));
        match response.value() {
            Some(Value::Text { bytes, .. }) => String::from_utf8_lossy(bytes).into_owned(),
            _ => format!("({})", String::from_utf8_lossy(response.excerpt())),
        }
    };
    assert_eq!(refusal(r#"{"message":"not in remote"}"#), "not in remote");
    assert_eq!(refusal(r#"{"title":"refused","status":409,"detail":"in local control"}"#), "in local control");
    assert_eq!(refusal("  broken\n"), "(broken)");
    assert_eq!(refusal(r#"{"message":{"nested":1}}"#), r#"({"message":{"nested":1}})"#);
    assert_eq!(refusal(r#"{"message":null,"error":"no"}"#), "no");
}

#[test]
fn bodies_end_by_their_length_their_chunks_or_the_connection() {
    let whole = |text: &str| {
        let mut response = Response::new(MODE);
        let whole = response.take(text.as_bytes());
        let ended = response.end();
        (whole, ended, response.value().is_some())
    };
    let body = r#"{"mode":"RUNNING"}"#;
    assert_eq!(whole(&format!("HTTP/1.1 200 OK\r\n\r\n{body}")), (Ok(false), Ok(()), true));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
    assert_eq!(
        whole(&format!("{chunked}8;x=y\r\n{{\"mode\":\r\na\r\n\"RUNNING\"}}\r\n0\r\nTrailer: 1\r\n\r\n")),
        (Ok(true), Ok(()), true)
    );
    let continued = format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\nContent-Length: 18\n\n{body}more");
    assert_eq!(whole(&continued), (Ok(true), Ok(()), true));
    assert_eq!(whole("HTTP/1.1 204 No Content\r\n\r\n"), (Ok(true), Ok(()), false));
    let cut = format!("HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{body}");
    assert_eq!(whole(&cut), (Ok(false), Err(HttpError::Truncated), true));
    assert_eq!(whole(""), (Ok(false), Err(HttpError::Truncated), false));
}

#[test]
fn what_is_hostile_ends_in_an_error_and_in_bounded_memory() {
    let error = |text: &str| Response::new(MODE).take(text.as_bytes()).unwrap_err();
    assert_eq!(error("SSH-2.0-OpenSSH_9.6\r\n"), HttpError::NotHttp);
    assert_eq!(error("Connected: Universal Robots Dashboard Server\n"), HttpError::NotHttp);
    assert_eq!(error("HTTP/1.1 OK\r\n"), HttpError::NotHttp);
    assert_eq!(error("HTTP/1.1 999 OK\r\n"), HttpError::NotHttp);
    assert_eq!(error(&format!("HTTP/1.1 200 {}", "x".repeat(20_000))), HttpError::HeadTooLong);
    assert_eq!(error(&format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(5_000))), HttpError::HeadTooLong);
    let ok = |headers: &str, body: &str| error(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n{body}"));
    for length in ["", "-1", "1 2", "0x10", "99999999999999999999", "+3"] {
        assert_eq!(ok(&format!("Content-Length: {length}"), ""), HttpError::BadLength, "{length}");
    }
    assert_eq!(ok("Content-Length: 1\r\nContent-Length: 2", ""), HttpError::BadLength);
    assert_eq!(ok("Content-Length: 1\r\nTransfer-Encoding: chunked", ""), HttpError::BadLength);
    assert_eq!(ok("Content-Length: 16777217", ""), HttpError::BodyTooLong);
    assert_eq!(ok("Transfer-Encoding: gzip, chunked", ""), HttpError::Encoding);
    assert_eq!(ok("Transfer-Encoding: chunked", "x\r\n"), HttpError::BadChunk);
    assert_eq!(ok("Transfer-Encoding: chunked", "2\r\nabc\r\n"), HttpError::BadChunk);
    assert_eq!(ok("Transfer-Encoding: chunked", "fffffffffffffffff\r\n"), HttpError::BadChunk);
    let mut endless = Response::new(MODE);
    assert_eq!(endless.take(b"HTTP/1.1 200 OK\r\n\r\n"), Ok(false));
    let ended = (0..).find_map(|_| endless.take(&[b'x'; 1 << 16]).err());
    assert_eq!(ended, Some(HttpError::BodyTooLong));
}

proptest! {
    #[test]
    fn any_name_is_read_back_from_the_call_that_carries_it(name in "[ -~]{1,200}") {
        let call = emitted(&Call::of(RequestKind::Load, &name, WITH_QUESTIONS).unwrap());
        let (_, body) = call.split_once("\r\n\r\n").unwrap();
        prop_assert_eq!(read(Member { path: &[("", "name")] }, body), Some(Some(name)));
    }

    #[test]
    fn an_answer_cut_anywhere_is_the_same_answer(
        noise in prop::collection::vec(any::<u8>(), 0..200),
        lines in prop::collection::vec(prop::sample::select(vec![
            "HTTP/1.1 200 OK\r\n", "HTTP/1.1 404 No\r\n", "Content-Length: 18\r\n", "Transfer-Encoding: chunked\r\n", "\r\n", "12\r\n",
            "{\"mode\":\"RUNNING\"}", "{\"message\":\"\\u00e4\"}", "0\r\n\r\n",
        ]), 0..8),
        cuts in prop::collection::vec(1..9_usize, 1..12),
    ) {
        let stream = [lines.concat().as_bytes(), &noise].concat();
        let mut whole = Response::new(MODE);
        let at_once = whole.take(&stream);
        let (mut pieces, mut rest, mut cuts, mut result) = (Response::new(MODE), stream.as_slice(), cuts.iter().cycle(), Ok(false));
        while !rest.is_empty() && result == Ok(false) {
            let (piece, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            rest = after;
            result = pieces.take(piece);
        }
        prop_assert_eq!(result, at_once);
        prop_assert_eq!((pieces.status(), pieces.value(), pieces.excerpt()), (whole.status(), whole.value(), whole.excerpt()));
    }
}
