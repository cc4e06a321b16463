//! One connection: requests, replies, and lines that are not replies.

use super::super::*;
use super::bench::{GREETING, REMOTE, at, greet, outputs, receive};
use outrigger_wire::dashboard::{Refusal, Reply, Request, RequestKind};
use outrigger_wire::robot::RobotMode;
use outrigger_wire::time::Duration;

#[test]
fn a_request_waits_for_connection_and_greeting_and_the_next_one_for_the_answer() {
    let mut memory = [0; 128];
    let mut client = Client::new(&mut memory, Timeouts::default());
    client.handle(at(0), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(0), Input::Request(Request::Running));
    assert_eq!(client.poll_event(), Some(Event::Busy(RequestKind::Running)));
    client.handle(at(1), Input::Opened);
    assert_eq!(outputs(&mut client), [] as [&str; 0]);
    receive(&mut client, GREETING);
    assert_eq!(client.poll_event(), Some(Event::Ready));
    assert_eq!(client.poll_event(), None);
    assert_eq!(outputs(&mut client), ["robotmode\n"]);
    client.handle(at(6), Input::Request(Request::RobotMode));
    assert_eq!(client.poll_event(), Some(Event::Busy(RequestKind::RobotMode)));
    assert_eq!(outputs(&mut client), [] as [&str; 0]);
    receive(&mut client, b"Robotmode: RUN");
    assert_eq!(client.poll_event(), None);
    receive(&mut client, b"NING\r\n");
    let Some(Event::Replied { request, reply, line }) = client.poll_event() else { panic!("an answer") };
    assert_eq!((request, reply), (RequestKind::RobotMode, Reply::RobotMode(RobotMode::Running)));
    assert_eq!(line.0, b"Robotmode: RUNNING");
    assert!(client.is_ready());
}

#[test]
fn a_connection_that_is_refused_or_not_made_in_time_is_told_with_the_request_that_waited() {
    let mut memory = [0; 128];
    let mut client = Client::new(&mut memory, Timeouts::default());
    client.handle(at(0), Input::Start);
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(0), Input::Refused);
    assert_eq!(client.poll_event(), Some(Event::NotConnected { request: None, waited: None }));
    client.handle(at(10), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    assert_eq!(client.poll_timeout(), Some(at(5_010)));
    client.handle(at(5_009), Input::Tick);
    assert_eq!(client.poll_event(), None);
    client.handle(at(5_010), Input::Tick);
    let event = Event::NotConnected { request: Some(RequestKind::RobotMode), waited: Some(Duration::from_secs(5)) };
    assert_eq!(client.poll_event(), Some(event));
    assert_eq!(outputs(&mut client), ["(close)"]);
    client.handle(at(5_011), Input::Opened);
    assert_eq!(client.poll_event(), None, "it was given up");
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn an_answer_that_comes_too_late_ends_the_connection_and_answers_nothing() {
    let mut memory = [0; 128];
    let mut client = Client::new(&mut memory, Timeouts::default());
    greet(&mut client);
    client.handle(at(10), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["robotmode\n"]);
    assert_eq!(client.poll_timeout(), Some(at(1_010)));
    client.handle(at(1_009), Input::Tick);
    assert_eq!(client.poll_event(), None);
    client.handle(at(1_010), Input::Tick);
    let silent = Event::Silent { request: Some(RequestKind::RobotMode), waited: Duration::from_secs(1) };
    assert_eq!(client.poll_event(), Some(silent));
    assert_eq!(outputs(&mut client), ["(close)"]);
    receive(&mut client, b"Robotmode: RUNNING\n");
    assert_eq!(client.poll_event(), None);
    client.handle(at(2_000), Input::Start);
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(2_000), Input::Opened);
    assert_eq!(client.poll_event(), None, "nothing is left of it");
    assert_eq!(client.poll_timeout(), Some(at(4_000)));
}

#[test]
fn permission_is_of_the_connection_so_after_a_refusal_for_want_of_it_the_next_request_connects_anew() {
    let mut memory = [0; 256];
    let mut client = Client::new(&mut memory, Timeouts::default());
    greet(&mut client);
    client.handle(at(0), Input::Request(Request::PowerOn));
    assert_eq!(outputs(&mut client), ["power on\n"]);
    receive(&mut client, format!("{REMOTE}\n").as_bytes());
    let reply = client.poll_event();
    assert!(matches!(reply, Some(Event::Replied { reply: Reply::Refused(Refusal::NeedsRemoteControl), .. })));
    client.handle(at(0), Input::Request(Request::PowerOn));
    assert_eq!(outputs(&mut client), ["(close)", "(open 29999)"]);
}

#[test]
fn another_service_an_unasked_line_and_an_endless_one_are_told_apart() {
    let mut memory = [0; 64];
    let mut client = Client::new(&mut memory, Timeouts::default());
    client.handle(at(0), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(0), Input::Opened);
    receive(&mut client, b"SSH-2.0-OpenSSH_9.6\r\n");
    let text = outrigger_wire::primary::Text(b"SSH-2.0-OpenSSH_9.6");
    let wrong = Event::WrongService { request: Some(RequestKind::RobotMode), text };
    assert_eq!(client.poll_event(), Some(wrong));
    assert_eq!(outputs(&mut client), ["(close)"]);

    greet(&mut client);
    receive(&mut client, b"Program running: true\n");
    assert!(matches!(client.poll_event(), Some(Event::Unasked(_))));
    client.handle(at(0), Input::Request(Request::LoadedProgram));
    for _ in 0..8 {
        receive(&mut client, &[b'x'; 16]);
        assert_eq!(client.poll_event(), None);
    }
    receive(&mut client, b"\n");
    let event = client.poll_event();
    assert!(matches!(event, Some(Event::TooLong { request: Some(RequestKind::LoadedProgram), .. })), "{event:?}");
    assert!(client.is_ready());
    client.handle(at(0), Input::Request(Request::RobotMode));
    client.handle(at(0), Input::Closed);
    assert_eq!(client.poll_event(), Some(Event::Closed { request: Some(RequestKind::RobotMode) }));
}
