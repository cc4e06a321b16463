//! What the page on the wire format says is what is sent.
#![cfg(feature = "record")]

use std::path::Path;

use outrigger_core::engine::ur::Ur;
use outrigger_core::link::{Grade, Metric};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_remote::telemetry::{Hello, Message, PeerDatagram};
use outrigger_wire::robot::{MasterSafetyState, MessageSource, SafetyMode};
use outrigger_wire::time::Instant;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/telemetry.md");
    std::fs::read_to_string(path).expect("the page")
}

/// The names listed for an enumeration, in order.
fn listed(page: &str, name: &str) -> Vec<String> {
    let list = page.split(&format!("* **{name}**: ")).nth(1).expect("listed");
    let list = list.split("\n*").next().expect("an item").split("\n\n").next().expect("an end");
    let list = list.split(", and last").next().expect("names");
    list.split(',').map(|name| name.trim().to_owned()).collect()
}

/// The number that a value is encoded as.
fn number(value: &impl serde::Serialize) -> usize {
    let mut bytes = [0; 8];
    let bytes = postcard::to_slice(value, &mut bytes).expect("room");
    assert!(bytes[0] < 0x80, "one byte");
    bytes[0].into()
}

#[test]
fn the_example_is_what_is_sent() {
    let page = page();
    let example = page.rsplit("```").nth(1).expect("the example");
    let bytes: Vec<u8> = example
        .lines()
        .flat_map(|line| line.split("   ").next().unwrap_or_default().split_whitespace())
        .map(|byte| u8::from_str_radix(byte, 16).expect("a byte"))
        .collect();
    let message = Message::Hello(Hello { board: "b", build: "1", version: "0.1.0" });
    let datagram = PeerDatagram::<6, Ur<'_>> { boot: 300, sequence: 7, at: Instant::from_micros(1_500_000), message };
    assert_eq!(PeerDatagram::<6, Ur<'_>>::decode(&bytes), Ok(datagram.clone()));
    let mut out = [0; 64];
    let length = datagram.encode(&mut out).expect("room");
    assert_eq!(out[..length], bytes);
}

#[test]
fn every_enumeration_is_numbered_as_listed() {
    let page = page();
    let check = |name: &str, values: Vec<(&str, usize)>| {
        let listed = listed(&page, name);
        assert_eq!(listed.len(), values.len(), "{name}");
        for (text, number) in values {
            assert_eq!(listed.get(number).map(String::as_str), Some(text), "{name} {number}");
        }
    };
    check("Mode", Mode::ALL.iter().map(|mode| (mode.name(), number(mode))).collect());
    check("Grade", Grade::ALL.iter().map(|grade| (grade.name(), number(grade))).collect());
    check("Reason", Reason::ALL.iter().map(|reason| (reason.name(), number(reason))).collect());
    check("SafetyMode", SafetyMode::NAMED.iter().map(|(mode, _)| (mode.name().unwrap(), number(mode))).collect());
    check(
        "MasterSafety",
        MasterSafetyState::NAMED.iter().map(|(state, _)| (state.name().unwrap(), number(state))).collect(),
    );
    check(
        "MessageSource",
        MessageSource::NAMED.iter().map(|(source, _)| (source.name().unwrap(), number(source))).collect(),
    );
    check("Metric", Metric::ALL.iter().map(|metric| (metric.name(), number(metric))).collect());
}
