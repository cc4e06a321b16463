//! The client with connections that reply, refuse, break off or are silent.

use super::*;
use outrigger_wire::robot::{ProgramState, RobotMode};
use proptest::prelude::*;

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

/// A client and a clock; its calls and events are stored as text.
struct Bench {
    client: Client<'static>,
    now: Instant,
    /// The calls by method and path, with bodies.
    calls: Vec<String>,
    events: Vec<String>,
    outputs: Vec<&'static str>,
    /// The largest number of bytes per read.
    piece: usize,
}

use std::string::String;
use std::vec::Vec;

impl Bench {
    fn new() -> Self {
        let window = Box::leak(vec![0; 512].into_boxed_slice());
        let client = Client::new(window, "10.0.0.2", Timeouts::default());
        Self { client, now: at(0), calls: vec![], events: vec![], outputs: vec![], piece: 512 }
    }

    /// Returns a client that has found an API of this version.
    fn ready(version: &str) -> Self {
        let mut bench = Self::new();
        bench.input(Input::Start);
        bench.answer(200, &format!(r#"{{"info":{{"version":"{version}"}}}}"#));
        assert_eq!(bench.events, ["Ready"]);
        bench.events.clear();
        bench.calls.clear();
        bench.outputs.clear();
        bench
    }

    fn input(&mut self, input: Input<'_>) {
        self.client.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        loop {
            let event = self.client.poll_event().map(|event| match event {
                Event::Replied { request, reply, line } => {
                    if let Reply::Done(_) = reply {
                        assert!(line.0.is_empty(), "{request:?} has the text of an earlier reply: {line:?}");
                    }
                    format!("{request:?}: {reply:?}")
                }
                other => format!("{other:?}"),
            });
            let told = event.is_some();
            self.events.extend(event);
            match self.client.poll_output() {
                Some(Output::Open { port }) => {
                    assert_eq!(port, 80);
                    self.outputs.push("open");
                }
                Some(Output::Close) => self.outputs.push("close"),
                Some(Output::Transmit(bytes)) => {
                    let text = core::str::from_utf8(bytes).unwrap();
                    let (head, body) = text.split_once("\r\n\r\n").unwrap();
                    assert!(head.contains("\r\nHost: 10.0.0.2\r\n"), "{head}");
                    let line = head.lines().next().unwrap().replace(" HTTP/1.1", "");
                    let line = line.replace("/universal-robots/robot-api", "");
                    self.calls.push(format!("{line} {body}").trim().to_owned());
                }
                None if told => {}
                None => return,
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece) {
            self.client.receive_window()[..piece.len()].copy_from_slice(piece);
            self.client.commit(piece.len(), self.now);
            self.drain();
        }
    }

    /// Establishes the requested connection and sends this reply.
    fn answer(&mut self, status: u16, body: &str) {
        self.input(Input::Opened);
        self.bytes(format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Removes and returns the last event.
    fn told(&mut self) -> String {
        self.events.pop().expect("an event")
    }
}

fn ask(kind: Request<'_>, status: u16, body: &str) -> String {
    let mut bench = Bench::ready("3.1.4");
    bench.input(Input::Request(kind));
    bench.answer(status, body);
    bench.told()
}

#[test]
fn the_description_is_asked_for_first_and_tells_the_generation() {
    let mut bench = Bench::new();
    bench.input(Input::Request(Request::RobotMode));
    assert_eq!(bench.outputs, ["open"]);
    bench.answer(200, r#"{"info":{"version":"3.1.4"}}"#);
    assert_eq!(bench.client.software(), Some(SoftwareVersion::new(10, 12)));
    assert_eq!((bench.told().as_str(), bench.outputs.as_slice()), ("Ready", ["open", "close", "open"].as_slice()));
    bench.answer(200, r#"{"mode":"POWER_OFF"}"#);
    assert_eq!(bench.calls, ["GET /openapi.json", "GET /robotstate/v1/robotmode"]);
    assert_eq!(bench.told(), format!("RobotMode: {:?}", Reply::RobotMode(RobotMode::PowerOff)));
    assert_eq!(bench.client.poll_timeout(), None);
    bench.input(Input::Start);
    assert_eq!((bench.told().as_str(), bench.outputs.len()), ("Ready", 4), "nothing is asked twice");
    assert_eq!(Bench::ready("3.0.0").client.software(), Some(SoftwareVersion::new(10, 11)));
}

#[test]
fn a_web_server_without_the_api_is_told_by_its_status() {
    for (status, body) in [(404, "no such page"), (200, "<html>"), (200, "{}")] {
        let mut bench = Bench::new();
        bench.input(Input::Start);
        bench.answer(status, body);
        assert_eq!(bench.told(), format!("{:?}", Event::NoRobotApi { request: None, status }));
        assert_eq!(bench.outputs, ["open", "close"]);
    }
}

#[test]
fn answers_are_given_in_the_words_of_a_dashboard() {
    let reply = |request, body, reply: Reply<'_>| {
        let kind = Request::kind(&request);
        assert_eq!(ask(request, 200, body), format!("{kind:?}: {reply:?}"));
    };
    use outrigger_wire::robot::SafetyMode;
    reply(Request::SafetyMode, r#"{"mode":"PROTECTIVE_STOP"}"#, Reply::Safety(SafetyMode::ProtectiveStop));
    reply(Request::IsInRemoteControl, r#"{"mode":"REMOTE"}"#, Reply::RemoteControl(true));
    reply(Request::IsInRemoteControl, r#"{"mode":"LOCAL"}"#, Reply::RemoteControl(false));
    let paused = Reply::ProgramState { state: ProgramState::Paused, program: None };
    reply(Request::ProgramState, r#"{"state":"PAUSED"}"#, paused);
    reply(Request::LoadedProgram, r#"{"name":"weld"}"#, Reply::LoadedProgram(Some(Text(b"weld"))));
    reply(Request::LoadedProgram, r#"{"name":null}"#, Reply::LoadedProgram(None));
    reply(Request::LoadedProgram, r#"{"name":""}"#, Reply::LoadedProgram(None));
    reply(Request::PowerOn, "", Reply::Done(Text(b"")));
    for body in ["", "null", "[1]", r#"{"mode":7}"#, r#"{"mode":null}"#, r#"{"other":"RUNNING"}"#] {
        reply(Request::RobotMode, body, Reply::Other(Text(body.as_bytes())));
    }
    let mut bench = Bench::ready("3.1.4");
    bench.input(Input::Request(Request::RobotModel));
    assert!(bench.told().contains("NotUnderstood") && bench.calls.is_empty());
}

#[test]
fn an_accepted_command_does_not_repeat_the_text_of_an_earlier_reply() {
    let mut bench = Bench::ready("3.1.4");
    bench.input(Input::Request(Request::ProgramState));
    bench.answer(200, r#"{"state":"PAUSED"}"#);
    bench.input(Input::Request(Request::PowerOn));
    bench.answer(200, "");
    assert_eq!(bench.events.last().unwrap(), "PowerOn: Done(\"\")");
}

#[test]
fn play_goes_on_with_a_paused_program_and_starts_any_other() {
    for (state, action) in [("PAUSED", "resume"), ("STOPPED", "play")] {
        let mut bench = Bench::ready("3.0.0");
        bench.input(Input::Request(Request::Play));
        bench.answer(200, &format!(r#"{{"state":"{state}"}}"#));
        bench.answer(200, "");
        let put = format!(r#"PUT /program/v1/state {{"action":"{action}"}}"#);
        assert_eq!(bench.calls, ["GET /program/v1/state", &put]);
        assert_eq!(bench.told(), format!("Play: {:?}", Reply::Done(Text(b""))));
    }
}

#[test]
fn a_refusal_is_put_down_to_local_control_where_the_controller_says_so() {
    let refused = |mode: Option<&str>, version| {
        let mut bench = Bench::ready(version);
        bench.input(Input::Request(Request::PowerOn));
        bench.answer(403, r#"{"message":"not now"}"#);
        match mode {
            Some(mode) => bench.answer(200, mode),
            None => bench.input(Input::Refused),
        }
        bench.told()
    };
    let words = format!("PowerOn: {:?}", Reply::Refused(Refusal::Failed(Text(b"not now (status 403)"))));
    let local = format!("PowerOn: {:?}", Reply::Refused(Refusal::NeedsRemoteControl));
    assert_eq!(refused(Some(r#"{"mode":"LOCAL"}"#), "3.1.4"), local);
    assert_eq!(refused(Some(r#"{"mode":"REMOTE"}"#), "3.1.4"), words);
    assert_eq!(refused(Some("{}"), "3.1.4"), words);
    assert_eq!(refused(None, "3.1.4"), words, "the refusal stands");
    assert_eq!(refused(None, "3.0.0"), words, "no such question");
    let plain = |words: &[u8]| format!("RobotMode: {:?}", Reply::Refused(Refusal::Failed(Text(words))));
    assert_eq!(ask(Request::RobotMode, 500, "  broken\n"), plain(b"broken (status 500)"));
    assert_eq!(ask(Request::RobotMode, 404, ""), plain(b"status 404"));
}

#[test]
fn what_gives_no_answer_is_told_with_the_request_and_the_next_one_is_put_all_the_same() {
    let mut bench = Bench::ready("3.1.4");
    let (request, waited) = (Some(RequestKind::RobotMode), Duration::from_secs(1));
    bench.input(Input::Request(Request::RobotMode));
    bench.input(Input::Request(Request::SafetyMode));
    assert_eq!(bench.told(), format!("{:?}", Event::Busy(RequestKind::SafetyMode)));
    bench.input(Input::Refused);
    assert_eq!(bench.told(), format!("{:?}", Event::NotConnected { request, waited: None }));

    bench.input(Input::Request(Request::RobotMode));
    assert_eq!(bench.client.poll_timeout(), Some(at(1_000)));
    bench.now = at(1_000);
    bench.input(Input::Tick);
    assert_eq!(bench.told(), format!("{:?}", Event::NotConnected { request, waited: Some(waited) }));

    bench.input(Input::Request(Request::RobotMode));
    bench.input(Input::Opened);
    bench.bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{");
    bench.now = at(2_000);
    bench.input(Input::Tick);
    assert_eq!(bench.told(), format!("{:?}", Event::Silent { request, waited }));
    bench.bytes(b"\"mode\":\"RUNNING\"}");
    assert!(bench.events.is_empty(), "too late");

    for (bytes, event) in [
        ("", Event::Closed { request }),
        ("HTTP/1.1 200 OK\r\n", Event::BadAnswer { request, error: HttpError::Truncated }),
    ] {
        bench.input(Input::Request(Request::RobotMode));
        bench.input(Input::Opened);
        bench.bytes(bytes.as_bytes());
        bench.input(Input::Closed);
        assert_eq!(bench.told(), format!("{event:?}"));
    }
    bench.input(Input::Request(Request::RobotMode));
    bench.input(Input::Opened);
    bench.bytes(b"SSH-2.0\r\n");
    assert_eq!(bench.told(), format!("{:?}", Event::BadAnswer { request, error: HttpError::NotHttp }));
    assert_eq!(bench.outputs.last(), Some(&"close"));
    bench.input(Input::Request(Request::RobotMode));
    bench.answer(200, r#"{"mode":"RUNNING"}"#);
    assert_eq!(bench.told(), format!("RobotMode: {:?}", Reply::RobotMode(RobotMode::Running)));
}

proptest! {
    /// For any replies, each request ends in one event, and every wait ends.
    #[test]
    fn any_answers_in_any_pieces_end_in_one_event_for_each_request(
        answers in prop::collection::vec((
            0..4_u8,
            prop::sample::select(vec![
                "HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"mode\":\"RUNNING\"}", "HTTP/1.1 403 No\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 100 C\r\n\r\n", "SSH", "",
            ]),
        ), 1..40),
        piece in 1..40_usize,
    ) {
        let mut bench = Bench::ready("3.1.4");
        bench.piece = piece;
        let mut answers = answers.iter().cycle();
        for request in [Request::RobotMode, Request::Play, Request::PowerOn] {
            let kind = request.kind();
            bench.input(Input::Request(request));
            for _ in 0..6 {
                if !bench.events.is_empty() {
                    break;
                }
                let (way, bytes) = answers.next().unwrap();
                match way {
                    0 => bench.input(Input::Refused),
                    1 => {
                        bench.now = bench.client.poll_timeout().expect("a wait that ends");
                        bench.input(Input::Tick);
                    }
                    _ => {
                        bench.input(Input::Opened);
                        bench.bytes(bytes.as_bytes());
                        bench.input(Input::Closed);
                    }
                }
            }
            prop_assert_eq!(bench.events.len(), 1, "{:?}: {:?}", kind, bench.events);
            let named = format!("{kind:?}");
            prop_assert!(bench.told().contains(&named));
            prop_assert_eq!(bench.client.poll_timeout(), None);
        }
    }
}
