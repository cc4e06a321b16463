//! Tests the server of the live page over sockets of the loopback.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use outrigger_wire::time::Instant;

use super::*;
use crate::page::past_states::PastStates;

/// The number of the call of [`Messages::state`] that stores the first state.
const FIRST: u64 = 6;

/// A session that has one state, after a while, and ends when it is told to.
struct OneState {
    calls: u64,
    past: PastStates,
    remembered: VecDeque<Numbered>,
    may_report_serial: bool,
}

impl OneState {
    fn new(may_report_serial: bool) -> Self {
        Self { calls: 0, past: PastStates::default(), remembered: VecDeque::new(), may_report_serial }
    }
}

impl Messages for OneState {
    fn about(&self) -> Arc<str> {
        "data: {\"type\":\"about\"}\n\n".into()
    }

    fn state(&mut self, _: bool) -> Option<Numbered> {
        self.calls += 1;
        if self.calls == FIRST {
            self.past.put(Instant::from_micros(1), &"data: {\"stored\":1}\n".into());
        }
        None
    }

    fn robot(&self) -> Numbered {
        Numbered { number: 1, text: "data: {\"type\":\"robot\"}\n\n".into() }
    }

    fn may_report_serial(&self) -> bool {
        self.may_report_serial
    }

    fn identify(&mut self, _: String) {}

    fn left_out(&self) -> u64 {
        0
    }

    fn event(&mut self) -> Option<Numbered> {
        None
    }

    fn is_over(&self) -> bool {
        false
    }

    fn remembered(&self) -> &VecDeque<Numbered> {
        &self.remembered
    }

    fn past(&self) -> &PastStates {
        &self.past
    }
}

/// Opens the stream of a session, 500 ms after it has connected to its server. Returns what it received until the
/// session ended, and whether the serial number was asked before the request and at the end.
fn streamed(may_report_serial: bool) -> (String, [bool; 2]) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    let address = listener.local_addr().expect("bound");
    let (shared, asked) = (Arc::new(Shared::default()), Arc::new(AtomicBool::new(false)));
    let (theirs, sets) = (Arc::clone(&shared), Arc::clone(&asked));
    let server = thread::spawn(move || {
        let serial = async move {
            sets.store(true, Ordering::Release);
            None
        };
        let runtime = outrigger::host::runtime::one_threaded().expect("a runtime");
        runtime.block_on(serve(listener, theirs, &mut OneState::new(may_report_serial), serial)).expect("served");
    });
    let mut stream = TcpStream::connect(address).expect("the server");
    thread::sleep(Duration::from_millis(500));
    let before = asked.load(Ordering::Acquire);
    write!(stream, "GET /stream HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("a request");
    thread::sleep(Duration::from_millis(200));
    shared.end();
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("UTF-8 to the end");
    server.join().expect("no panic");
    (text, [before, asked.load(Ordering::Acquire)])
}

#[test]
fn a_stream_begins_with_the_states_from_before_its_request() {
    let (text, _) = streamed(true);
    let past = text.find("data: {\"type\":\"past\"}\ndata: {\"stored\":1}\n\n");
    let [about, end] = ["\"about\"", "\"end\""].map(|word| text.find(word));
    assert!(about.is_some() && about < past && past < end, "{text}");
}

#[test]
fn the_serial_number_is_asked_when_the_page_is_opened_and_only_where_it_may_be_reported() {
    assert_eq!(streamed(true).1, [false, true]);
    assert_eq!(streamed(false).1, [false, false]);
}

#[test]
fn counts_are_told_to_scripts_under_their_keys() {
    let counts = Counts { opened: 1, sent: 2, dropped: 3, refused: 4, asleep: 5 };
    assert_eq!(counts.json(), r#"{"type":"page","opened":1,"sent":2,"dropped":3,"asleep":5,"refused":4}"#);
}
