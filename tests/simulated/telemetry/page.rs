//! Checks the page on the wire format against the datagrams sent. `OUTRIGGER_BLESS=1` writes its enumerations anew.

use std::collections::BTreeMap;

use outrigger_core::engine::ur::Ur;
use outrigger_core::link::{Grade, Metric};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_tests::require::{committed, workspace};
use outrigger_wire::robot::{MasterSafetyState, MessageSource, SafetyMode};
use outrigger_wire::time::Instant;

use outrigger_remote::telemetry::{Hello, Message, PeerDatagram};

const PAGE: &str = "core/remote/docs/telemetry.md";
/// The number of columns of a line of the page on the telemetry's wire format.
const WIDTH: usize = 120;

fn page() -> String {
    std::fs::read_to_string(workspace().join(PAGE)).expect("the page")
}

/// Writes the names of an enumeration into its item of the page on the wire format, in the order of their numbers.
fn list(page: &mut String, name: &str, values: Vec<(&str, usize)>) {
    let begin = format!("* **{name}**: ");
    let at = page.find(&begin).unwrap_or_else(|| panic!("no item {name}"));
    let end = ["\n* ", "\n\n"].iter().filter_map(|end| page[at..].find(end)).min().expect("an end");
    let unknown = page[at..at + end].find(", and last").map(|tail| page[at + tail..at + end].to_owned());
    let names: BTreeMap<usize, &str> = values.iter().map(|(text, number)| (*number, *text)).collect();
    assert!(names.keys().copied().eq(0..values.len()), "{name}: {names:?}");
    let text = names.into_values().collect::<Vec<_>>().join(", ") + &unknown.unwrap_or_default();
    let (mut item, mut column) = (begin.trim_end().to_owned(), begin.chars().count() - 1);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        column = if column + 1 + length > WIDTH {
            item += "\n ";
            2 + length
        } else {
            column + 1 + length
        };
        item += " ";
        item += word;
    }
    page.replace_range(at..at + end, &item);
}

/// Returns the number that a value of an enumeration is encoded as.
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
    let mut made = page();
    let mut check = |name: &str, values: Vec<(&str, usize)>| list(&mut made, name, values);
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
    committed::hold(PAGE, &made);
}
