//! Renders a template with any values. Checks that it is rejected, or results in the same text in pieces of any size,
//! none longer than the buffer.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use outrigger_urscript::{ScriptText, ScriptValue, Version};

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    template: &'a str,
    head: Option<&'a str>,
    names: [&'a str; 3],
    integer: i32,
    decimal: f32,
    address: [u8; 4],
    text: &'a str,
    version: (u8, u8),
    rooms: [u8; 4],
}

fuzz_target!(|case: Case<'_>| {
    let values = [
        (case.names[0], ScriptValue::Integer(case.integer)),
        (case.names[1], ScriptValue::Decimal(case.decimal)),
        (case.names[2], ScriptValue::Text(case.text)),
        ("A", ScriptValue::Address(case.address.into())),
    ];
    let version = Version::new(case.version.0, case.version.1);
    let text = match case.head {
        Some(head) => ScriptText::within(head, case.template, &values, version),
        None => ScriptText::new(case.template, &values, version),
    };
    let Ok(text) = text else { return };

    let mut whole = vec![0xa5; text.len() + 16];
    assert_eq!(text.clone().read(&mut whole), text.len());
    assert!(whole.split_off(text.len()).iter().all(|b| *b == 0xa5), "wrote past the length it returned");

    let (mut pieces, mut at) = (text.clone(), 0);
    for room in case.rooms.iter().cycle() {
        let mut piece = [0xa5; 256];
        let room = 1 + usize::from(*room);
        let n = pieces.read(&mut piece[..room]);
        assert!(n == room || at + n == whole.len(), "a piece is full except the last");
        assert_eq!(piece[..n], whole[at..at + n]);
        assert!(piece[n..].iter().all(|b| *b == 0xa5), "wrote past the length it returned");
        at += n;
        if n < room {
            break;
        }
    }
    assert_eq!(at, whole.len());

    // Comments and indentation are removed. Lines that begin with a placeholder are not checked, because its value is
    // unchanged.
    if !case.template.contains("{{") && !case.head.is_some_and(|head| head.contains("{{")) {
        for line in whole.split(|b| *b == b'\n') {
            let line = line.strip_prefix(b" ").unwrap_or(line);
            assert!(!line.starts_with(b" ") && !line.starts_with(b"\t"), "a second blank at the beginning");
            assert!(line.starts_with(b"# HEADER_") || !line.starts_with(b"#"), "a comment");
        }
    }
});
