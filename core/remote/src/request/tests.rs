//! Complete and divided lines, valid and invalid ones.

use proptest::prelude::*;

use super::*;
use outrigger_core::mode::Epoch;
use outrigger_wire::sensor::SampleValue;

/// Reads a stream of request lines in pieces of these sizes. Returns each request or fault as text, and whether the
/// reader is closed.
fn read(stream: &[u8], pieces: &[usize]) -> (Vec<String>, bool) {
    let (mut lines, mut said, mut rest) = (Lines::new(), vec![], stream);
    let mut pieces = pieces.iter().copied().chain(core::iter::repeat(usize::MAX));
    loop {
        while let Some(line) = lines.poll_message() {
            said.push(line.map_or_else(|fault| format!("{fault:?} {fault}"), |message| message.to_string()));
        }
        let window = lines.receive_window();
        let count = pieces.next().unwrap_or(1).max(1).min(window.len()).min(rest.len());
        if count == 0 {
            return (said, lines.is_closed());
        }
        window[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        lines.commit(count);
    }
}

/// Returns the fault that the reader finds in a request line: its kind, position, key and the bytes found there.
fn fault(line: &str) -> (FaultKind, usize, Option<Key>, String) {
    let mut lines = Lines::new();
    let bytes = format!("{line}\n");
    lines.receive_window()[..bytes.len()].copy_from_slice(bytes.as_bytes());
    lines.commit(bytes.len());
    let fault = lines.poll_message().expect("a line").expect_err(line);
    assert!(!fault.expected.is_empty());
    (fault.kind, fault.at, fault.key, String::from_utf8_lossy(fault.found).into_owned())
}

#[test]
fn each_message_is_read_whatever_the_order_of_its_keys_and_its_blanks() {
    for (line, rendered) in [
        (r#"{"do":"status"}"#, r#"{"do":"status"}"#),
        (r#" { "do" : "watch" , "id" : 4294967295 } "#, r#"{"id":4294967295,"do":"watch"}"#),
        ("{\"epoch\":3,\"do\":\"request\"}\r", r#"{"do":"request","epoch":3}"#),
        (r#"{"do":"resume","epoch":0,"id":1}"#, r#"{"id":1,"do":"resume","epoch":0}"#),
        // An epoch is permitted where none is needed: a stop is not refused because of it.
        (r#"{"do":"release","epoch":9}"#, r#"{"do":"release"}"#),
        (r#"{"do":"acknowledge"}"#, r#"{"do":"acknowledge"}"#),
        (r#"{"epoch":2,"do":"hand-back"}"#, r#"{"do":"hand-back","epoch":2}"#),
        (r#"{"id":4,"epoch":2,"do":"resend"}"#, r#"{"id":4,"do":"resend","epoch":2}"#),
        (r#"{"do":"freedrive","epoch":5}"#, r#"{"do":"freedrive","epoch":5}"#),
        (
            r#"{"do":"freedrive","how":"deviation=0.2","epoch":5}"#,
            r#"{"do":"freedrive","epoch":5,"how":"deviation=0.2"}"#,
        ),
        (r#"{"how":"z=-20","epoch":5,"do":"force"}"#, r#"{"do":"force","epoch":5,"how":"z=-20"}"#),
        (r#"{"how":"on","epoch":5,"do":"tool-contact"}"#, r#"{"do":"tool-contact","epoch":5,"how":"on"}"#),
        (r#"{"do":"renew","id":8}"#, r#"{"id":8,"do":"renew"}"#),
        (r#"{"do":"stiffen","epoch":1}"#, r#"{"do":"stiffen"}"#),
        (r#"{"how":"file=/a b.csv","epoch":5,"do":"move"}"#, r#"{"do":"move","epoch":5,"how":"file=/a b.csv"}"#),
        (
            r#"{"how":"brake-release","epoch":5,"do":"dashboard"}"#,
            r#"{"do":"dashboard","epoch":5,"how":"brake-release"}"#,
        ),
        (r#"{"do":"cancel","epoch":1,"id":3}"#, r#"{"id":3,"do":"cancel"}"#),
        (r#"{"what":7,"do":"withdraw","id":8}"#, r#"{"id":8,"do":"withdraw","what":7}"#),
        (
            r#"{"challenge":4294967295,"do":"request","epoch":3}"#,
            r#"{"do":"request","epoch":3,"challenge":4294967295}"#,
        ),
        // A challenge is permitted as well.
        (r#"{"do":"release","challenge":1}"#, r#"{"do":"release","challenge":1}"#),
        (
            r#"{"output":"digital-out.3=on","do":"set","epoch":1}"#,
            r#"{"do":"set","epoch":1,"output":"digital-out.3=on"}"#,
        ),
        (
            r#"{"do":"sample","epoch":1,"source":"seam","values":[1e-3, -0.0,2],"seq":7}"#,
            r#"{"do":"sample","epoch":1,"source":"seam","values":[0.001,-0.0,2.0],"seq":7}"#,
        ),
        (
            r#"{"d\u006f":"sample","epoch":1,"source":"\"\\\/\b\u00e9\ud83e\uddbe","values":[0]}"#,
            "{\"do\":\"sample\",\"epoch\":1,\"source\":\"\\\"\\\\/\\u0008é🦾\",\"values\":[0.0]}",
        ),
    ] {
        assert_eq!(read(format!("{line}\n").as_bytes(), &[]).0, [rendered], "{line}");
    }
    assert_eq!(read(b"\n \r\n\t\n", &[]).0, [] as [&str; 0], "blank lines are nothing");
    assert_eq!(read(b"{\"do\":\"status\"}", &[]).0, [] as [&str; 0], "not complete");
}

#[test]
fn every_fault_is_told_with_its_place_and_what_stands_there() {
    use FaultKind::*;
    for (line, kind, at, key, found) in [
        ("status", Syntax, 0, None, "status"),
        ("[]", Syntax, 0, None, "["),
        ("{", Syntax, 1, None, ""),
        ("{do:1}", Syntax, 1, None, "do"),
        (r#"{"do" "status"}"#, Syntax, 6, None, r#""status""#),
        (r#"{"do":}"#, Syntax, 6, Some(Key::Do), "}"),
        (r#"{"do":"status",}"#, Syntax, 15, None, "}"),
        (r#"{"do":"status"} x"#, Syntax, 16, None, "x"),
        (r#"{"do":"status"#, Syntax, 13, Some(Key::Do), ""),
        (r#"{"do":"sta\tus\x"}"#, Syntax, 14, Some(Key::Do), r"\x"),
        (r#"{"do":"\ud800"}"#, Syntax, 7, Some(Key::Do), r"\u"),
        (r#"{"id":01,"do":"status"}"#, Syntax, 6, Some(Key::Id), "01"),
        (r#"{"id":1.,"do":"status"}"#, Syntax, 6, Some(Key::Id), "1."),
        (r#"{"id":+1,"do":"status"}"#, Syntax, 6, Some(Key::Id), "+1"),
        (r#"{"do":"status","ip":4}"#, UnknownKey, 15, None, "ip"),
        (r#"{"do":"status","do":"release"}"#, RepeatedKey, 15, Some(Key::Do), ""),
        (r#"{"do":"release","values":[1]}"#, UnexpectedKey, 16, Some(Key::Values), ""),
        (r#"{}"#, MissingKey, 1, Some(Key::Do), ""),
        (r#"{"do":"request"}"#, MissingKey, 15, Some(Key::Epoch), ""),
        (r#"{"do":"hand-back"}"#, MissingKey, 17, Some(Key::Epoch), ""),
        (r#"{"do":"resend","epoch":1,"output":"x"}"#, UnexpectedKey, 25, Some(Key::Output), ""),
        (r#"{"do":"set","epoch":1}"#, MissingKey, 21, Some(Key::Output), ""),
        (r#"{"do":"force","epoch":1}"#, MissingKey, 23, Some(Key::How), ""),
        (r#"{"do":"force","how":"z=1"}"#, MissingKey, 25, Some(Key::Epoch), ""),
        (r#"{"do":"dashboard","epoch":1}"#, MissingKey, 27, Some(Key::How), ""),
        (r#"{"do":"renew","how":"z=1"}"#, UnexpectedKey, 14, Some(Key::How), ""),
        (r#"{"do":"freedrive","epoch":1,"how":""}"#, OutOfRange, 34, Some(Key::How), ""),
        (r#"{"do":"request","epoch":"3"}"#, WrongType, 24, Some(Key::Epoch), r#""3""#),
        (r#"{"do":"request","epoch":3.0}"#, WrongType, 24, Some(Key::Epoch), "3.0"),
        (r#"{"do":"request","epoch":null}"#, WrongType, 24, Some(Key::Epoch), "null"),
        (r#"{"do":{"do":"status"}}"#, WrongType, 6, Some(Key::Do), "{\"do\""),
        (r#"{"do":"sample","epoch":1,"source":"a","values":1}"#, WrongType, 47, Some(Key::Values), "1"),
        (r#"{"do":"sample","epoch":1,"source":"a","values":[1,"2"]}"#, WrongType, 50, Some(Key::Values), r#""2""#),
        (r#"{"do":"request","epoch":-1}"#, OutOfRange, 24, Some(Key::Epoch), "-1"),
        (r#"{"do":"request","epoch":4294967296}"#, OutOfRange, 24, Some(Key::Epoch), "4294967296"),
        (r#"{"do":"sample","epoch":1,"source":"a","values":[]}"#, OutOfRange, 47, Some(Key::Values), ""),
        (r#"{"do":"sample","epoch":1,"source":"a","values":[1e39]}"#, OutOfRange, 48, Some(Key::Values), "1e39"),
        (r#"{"do":"sample","epoch":1,"source":"a","values":[1,2,3,4,5,6,7]}"#, OutOfRange, 60, Some(Key::Values), "7"),
        (r#"{"do":"sample","epoch":1,"source":"","values":[1]}"#, OutOfRange, 34, Some(Key::Source), ""),
        (r#"{"do":"dance"}"#, UnknownWord, 6, Some(Key::Do), "dance"),
        (r#"{"do":"move","epoch":1}"#, MissingKey, 22, Some(Key::How), ""),
        (r#"{"do":"move","how":"q=0"}"#, MissingKey, 24, Some(Key::Epoch), ""),
        (r#"{"do":"cancel","how":"now"}"#, UnexpectedKey, 15, Some(Key::How), ""),
        (r#"{"do":"withdraw"}"#, MissingKey, 16, Some(Key::What), ""),
        (r#"{"do":"cancel","what":7}"#, UnexpectedKey, 15, Some(Key::What), ""),
        (r#"{"do":"request","challenge":-1}"#, OutOfRange, 28, Some(Key::Challenge), "-1"),
        (r#"{"do":"request","challenge":"9"}"#, WrongType, 28, Some(Key::Challenge), r#""9""#),
    ] {
        assert_eq!(fault(line), (kind, at, key, found.to_owned()), "{line}");
    }
    let (said, closed) = read(b"{\"do\":\"\xff\"}\n{\"do\":\"status\"}\n", &[]);
    assert!(said[0].contains("kind: NotText, at: 7"), "{said:?}");
    assert!(said.len() == 2 && !closed, "the next line is one again: {said:?}");
    let id = read(b"{\"id\":5,\"do\":\"dance\"}\n", &[]).0;
    assert!(id[0].contains("id: Some(5)") && id[0].contains("one of \"status\""), "{id:?}");
}

#[test]
fn what_moves_the_arm_needs_a_challenge_and_what_stops_it_none() {
    let epoch = Epoch::from_number(3);
    let moving = |how| ClientRequest::Move { epoch, how };
    let set = |output| ClientRequest::Set { epoch, output };
    for ask in [
        ClientRequest::Request(epoch),
        ClientRequest::Resume(epoch),
        ClientRequest::HandBack(epoch),
        ClientRequest::Freedrive { epoch, how: "" },
        ClientRequest::Force { epoch, how: "z=-20" },
        ClientRequest::Renew,
        moving("q=0,-1.57,-1.57,-1.57,1.57,0"),
        moving("end"),
        ClientRequest::Dashboard { epoch, how: "brake-release" },
        set("speed-slider=1"),
    ] {
        assert!(ask.causes_motion(), "{ask:?}");
    }
    let values = SampleValue::scalar(1.0);
    for ask in [
        ClientRequest::Release,
        ClientRequest::Cancel,
        ClientRequest::Stiffen,
        ClientRequest::Acknowledge,
        ClientRequest::Withdraw { what: 7 },
        ClientRequest::Status,
        ClientRequest::Watch,
        ClientRequest::Resend(epoch),
        ClientRequest::ToolContact { epoch, how: "on" },
        ClientRequest::Sample { epoch, source: "seam", values, seq: None },
        moving("begin=3"),
        moving("rows=0,0,0,0,0,0,0,0,0,0,0,0,0"),
        set("digital-out.3=on"),
    ] {
        assert!(!ask.causes_motion(), "{ask:?}");
    }
}

#[test]
fn a_line_of_1024_bytes_is_read_and_a_longer_one_is_the_last() {
    let padded = |length: usize| format!("{{\"do\":\"status\"}}{}\n{{\"do\":\"watch\"}}\n", " ".repeat(length - 15));
    assert_eq!(read(padded(1024).as_bytes(), &[]).0, [r#"{"do":"status"}"#, r#"{"do":"watch"}"#]);
    for pieces in [&[][..], &[1; 2000], &[1024], &[1025], &[700, 324, 1]] {
        let (said, closed) = read(padded(1025).as_bytes(), pieces);
        assert!(closed && said.len() == 1 && said[0].contains("kind: TooLong, at: 1024"), "{said:?}");
    }
    assert!(read(&[b'x'; 100_000], &[]).1, "it takes no more memory");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z.=0-9-]{1,24}",
        "\\PC{1,24}",
        prop::collection::vec(any::<char>(), 1..24).prop_map(String::from_iter)
    ]
}

prop_compose! {
    fn a_sample()(
        epoch: u32,
        source in text(),
        values in prop::collection::vec(any::<f32>().prop_filter("JSON has no others", |value| value.is_finite()), 1..=6),
        seq: Option<u32>,
    ) -> (u32, String, Vec<f32>, Option<u32>) {
        (epoch, source, values, seq)
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(
        id: Option<u32>, challenge: Option<u32>, word in 0..19_usize, output in text(), sample in a_sample(), cut in 0..500_usize,
    ) {
        let (number, source, values, seq) = &sample;
        let epoch = Epoch::from_number(*number);
        let ask = match word {
            0 => ClientRequest::Status,
            1 => ClientRequest::Watch,
            2 => ClientRequest::Request(epoch),
            3 => ClientRequest::Resume(epoch),
            4 => ClientRequest::Release,
            5 => ClientRequest::Acknowledge,
            6 => ClientRequest::Set { epoch, output: &output },
            7 => ClientRequest::HandBack(epoch),
            8 => ClientRequest::Resend(epoch),
            9 => ClientRequest::Freedrive { epoch, how: if seq.is_some() { &output } else { "" } },
            10 => ClientRequest::Force { epoch, how: &output },
            11 => ClientRequest::ToolContact { epoch, how: &output },
            12 => ClientRequest::Renew,
            13 => ClientRequest::Stiffen,
            14 => ClientRequest::Move { epoch, how: &output },
            15 => ClientRequest::Cancel,
            16 => ClientRequest::Dashboard { epoch, how: &output },
            17 => ClientRequest::Withdraw { what: *number },
            _ => ClientRequest::Sample { epoch, source, values: SampleValue::new(values).expect("1 to 6"), seq: *seq },
        };
        let message = Message { id, challenge: challenge.map(Challenge::from_number), ask };
        let line = format!("{message}\n");
        prop_assert!(line.len() <= LINE_MAX);
        let mut lines = Lines::new();
        for piece in [&line.as_bytes()[..cut.min(line.len())], &line.as_bytes()[cut.min(line.len())..]] {
            lines.receive_window()[..piece.len()].copy_from_slice(piece);
            lines.commit(piece.len());
        }
        prop_assert_eq!(lines.poll_message(), Some(Ok(message)));
        prop_assert_eq!(lines.poll_message(), None);
    }

    #[test]
    fn a_stream_cut_in_any_way_says_the_same(
        parts in prop::collection::vec(prop_oneof![
            Just("{\"do\":\"status\"}\n".as_bytes().to_vec()),
            Just("{\"id\":3,\"do\":\"sample\",\"epoch\":1,\"source\":\"\\u00e9\",\"values\":[1,2.5e-3]}\n".as_bytes().to_vec()),
            Just("{\"do\":\"request\",\"epoch\":\n".as_bytes().to_vec()),
            Just([b' '; 600].to_vec()),
            Just(b"\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..40),
            "[{}\":,a-z0-9\\\\\\[\\]\n]{0,40}".prop_map(String::into_bytes),
        ], 0..12),
        pieces in prop::collection::vec(1..300_usize, 0..40),
    ) {
        let stream = parts.concat();
        prop_assert_eq!(read(&stream, &pieces), read(&stream, &[]));
    }
}
