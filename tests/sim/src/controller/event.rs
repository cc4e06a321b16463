//! Events of a controller for display: clients, programs and faults, in a queue of bounded length.

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;

use super::Controller;
use crate::fault::Fault;
use crate::port::Port;
use crate::program::Notice;
use crate::time::SimTime;

/// The number of events that are stored until they are taken; further ones are only counted.
const KEPT: usize = 1024;
/// The number of characters of a program's name that an event stores.
const NAME: usize = 64;
/// The number of characters of a program error, or of another message, that an event stores.
const TEXT: usize = 200;

/// An event of the simulated controller with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The virtual time of the event.
    pub at: SimTime,
    /// The kind and the details of the event.
    pub kind: EventKind,
}

/// The kind of an event with its details. `Display` gives one line without a time.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A client connected to a port of the controller.
    Connected {
        /// The client's IP address; `None` if the caller that connected the client did not pass it.
        peer: Option<IpAddr>,
        /// The port that the client connected to.
        port: Port,
    },
    /// A client's connection ended, whichever side closed it.
    Disconnected {
        /// The client's IP address; `None` if the caller that connected the client did not pass it.
        peer: Option<IpAddr>,
        /// The port that the client was connected to.
        port: Port,
    },
    /// A complete program or a single statement arrived: from a client, or fetched from the computer by External
    /// Control nodes.
    Program {
        /// The IP address of the program's sender, if it is known.
        peer: Option<IpAddr>,
        /// The program's name, which follows `def` or `sec`; for a single statement, the function that it calls.
        name: String,
        /// The number of the program's lines that are not blank; `None` for a single statement.
        lines: Option<usize>,
        /// The reason for which the controller ignores the program; `None` if it does not.
        ignored: Option<&'static str>,
    },
    /// A program failed: its text does not compile, or a statement failed while it ran. Port 30001 reports it to its
    /// clients as well.
    ProgramError {
        /// The line of the failed statement, from 1.
        line: i32,
        /// The column of the failed statement, from 1.
        column: i32,
        /// The reason of the program's failure, in words.
        text: String,
    },
    /// The controller reports something else to clients of port 30001: a named program began or ended, a program's
    /// `textmsg` or `popup`, a new safety mode, an error code.
    Message(String),
    /// An injected fault begins.
    FaultStarts(Fault),
    /// An injected fault ends.
    FaultEnds(Fault),
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected { peer, port } => write!(f, "{} connected to port {}", Client(*peer), port.number()),
            Self::Disconnected { peer, port } => {
                write!(f, "{} disconnected from port {}", Client(*peer), port.number())
            }
            Self::Program { peer, name, lines, ignored } => {
                let what = if lines.is_some() { "program" } else { "statement" };
                write!(f, "{what} `{name}` received")?;
                if let Some(peer) = peer {
                    write!(f, " from {peer}")?;
                }
                match lines {
                    Some(1) => f.write_str(", 1 line")?,
                    Some(lines) => write!(f, ", {lines} lines")?,
                    None => {}
                }
                ignored.map_or(Ok(()), |why| write!(f, ", ignored: {why}"))
            }
            Self::ProgramError { line, column, text } => {
                write!(f, "program error at line {line}, column {column}: {text}")
            }
            Self::Message(text) => f.write_str(text),
            Self::FaultStarts(fault) => write!(f, "fault `{}` starts", fault.name()),
            Self::FaultEnds(fault) => write!(f, "fault `{}` ends", fault.name()),
        }
    }
}

/// A client as an event displays it: its address, if that is known.
struct Client(Option<IpAddr>);

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(peer) => write!(f, "client {peer}"),
            None => f.write_str("a client"),
        }
    }
}

/// The stored events of the controller that have not been taken yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<Event>,
    left_out: u64,
}

impl Controller {
    /// Makes the controller store events (of clients, programs and faults) from now on, at most 1024 until they are
    /// taken.
    pub fn keep_events(&mut self) {
        self.events.get_or_insert_default();
    }

    /// Takes the events since the last call, and the number of further ones that were not stored because too many
    /// waited.
    pub fn take_events(&mut self) -> (Vec<Event>, u64) {
        let Some(events) = &mut self.events else { return (vec![], 0) };
        (events.queue.drain(..).collect(), std::mem::take(&mut events.left_out))
    }

    /// Stores an event of the controller if [`keep_events`](Self::keep_events) was called; `kind` is evaluated only
    /// then.
    pub(super) fn event(&mut self, kind: impl FnOnce() -> EventKind) {
        let Some(events) = &mut self.events else { return };
        if events.queue.len() < KEPT {
            events.queue.push_back(Event { at: self.now, kind: kind() });
        } else {
            events.left_out += 1;
        }
    }

    /// Stores an event for each of the notices that were not published yet.
    pub(super) fn notice_events(&mut self) {
        if self.events.is_none() {
            return;
        }
        let events: Vec<EventKind> = self.notices.iter().filter_map(event_of).collect();
        events.into_iter().for_each(|event| self.event(|| event));
    }

    /// Stores the arrival of a program's `text` as an event, if [`keep_events`](Self::keep_events) was called.
    pub(super) fn program_event(&mut self, peer: Option<IpAddr>, text: &str, ignored: Option<&'static str>) {
        self.event(|| {
            let (name, lines) = describe(text);
            EventKind::Program { peer, name, lines, ignored }
        });
    }
}

/// Returns the event of a notice; `None` for the begin and end of a single statement, whose arrival is an event already.
fn event_of(notice: &Notice) -> Option<EventKind> {
    let shown = |text: &str| -> String {
        crate::program_text_bytes::shown(text).chars().filter(|c| !c.is_control()).take(TEXT).collect()
    };
    let message = match notice {
        Notice::Exception { line, column, text } => {
            return Some(EventKind::ProgramError { line: *line, column: *column, text: shown(text) });
        }
        Notice::Started(name) | Notice::Stopped(name) if name.is_empty() => return None,
        Notice::Started(name) => format!("program `{}` starts", shown(name)),
        Notice::Stopped(name) => format!("program `{}` ends", shown(name)),
        Notice::Text(text) => format!("message: {}", shown(text)),
        Notice::Popup { text, title, .. } => format!("popup `{}`: {}", shown(title), shown(text)),
        Notice::Safety(mode) => format!("safety mode {}", mode.name().unwrap_or("unknown")),
        Notice::Code { code, .. } => format!("error code C{}A{}", code.code, code.argument),
    };
    Some(EventKind::Message(message))
}

/// Returns the name of a program and the number of its lines that are not blank, or the function that a single
/// statement calls. Characters that cannot be part of a name are omitted, because a terminal displays the name.
fn describe(text: &str) -> (String, Option<usize>) {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let block = ["def ", "sec "].into_iter().find_map(|head| first.strip_prefix(head));
    let name = block.unwrap_or(first).trim_start();
    let name = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').take(NAME).collect();
    (name, block.map(|_| text.lines().filter(|line| !line.trim().is_empty()).count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Options;
    use std::time::Duration;

    fn lines(controller: &mut Controller) -> Vec<String> {
        let (events, left_out) = controller.take_events();
        assert_eq!(left_out, 0);
        events.into_iter().map(|event| format!("{}: {}", event.at, event.kind)).collect()
    }

    #[test]
    fn clients_programs_and_faults_are_events_with_their_times() {
        let faults = vec![Fault::parse("stall/30001@1s:500ms").unwrap(), Fault::parse("drop@2s").unwrap()];
        let mut controller = Controller::new(Options { faults, ..Options::default() }).unwrap();
        controller.keep_events();
        let peer: IpAddr = "192.168.56.1".parse().unwrap();
        let conn = controller.connect_from(Port::Primary, Some(peer)).unwrap();
        controller.connect(Port::Rtde).unwrap();
        controller.write(conn, b"def weld():\n  sleep(9)\n\nend\nset_digital_out(3, True)\n");
        controller.advance_to(SimTime::from_millis(100));
        let expected = [
            "0.000 s: client 192.168.56.1 connected to port 30001",
            "0.000 s: a client connected to port 30004",
            "0.000 s: program `weld` received from 192.168.56.1, 3 lines",
            "0.000 s: statement `set_digital_out` received from 192.168.56.1",
            "0.004 s: program `weld` starts",
            "0.006 s: program `weld` ends",
        ];
        assert_eq!(lines(&mut controller), expected);
        controller.advance_to(SimTime::from_secs(3));
        let expected = [
            "1.000 s: fault `stall/30001` starts",
            "1.500 s: fault `stall/30001` ends",
            "2.000 s: fault `drop` starts",
            "2.000 s: fault `drop` ends",
            "2.000 s: client 192.168.56.1 disconnected from port 30001",
            "2.000 s: a client disconnected from port 30004",
        ];
        assert_eq!(lines(&mut controller), expected);
    }

    #[test]
    fn a_program_that_fails_is_an_event_with_line_column_and_reason() {
        let mut controller = Controller::new(Options::default()).unwrap();
        controller.keep_events();
        let conn = controller.connect(Port::Primary).unwrap();
        controller.write(conn, b"def first():\n  x = 1 +\nend\n");
        controller.advance_to(SimTime::from_secs(1));
        controller
            .write(conn, b"def second():\n  sleep(0.1)\n  nothing\x1b[2J()\nend\ndef third():\n  x = 1 / 0\nend\n");
        controller.advance_to(SimTime::from_secs(3));
        let told = lines(&mut controller);
        let errors: Vec<_> = told.iter().filter(|line| line.contains("program error")).collect();
        let expected = [
            "0.004 s: program error at line 3, column 1: compile_error_syntax:expected a value, found end:",
            "1.004 s: program error at line 3, column 10: compile_error_syntax:expected a statement, found \\u{1b}:",
            "1.004 s: program error at line 2, column 9: domain_error:/:",
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn a_program_in_local_control_is_reported_as_ignored() {
        let options = Options { state: crate::controller::StartState::Local, ..Options::default() };
        let mut controller = Controller::new(options).unwrap();
        controller.keep_events();
        let conn = controller.connect(Port::Secondary).unwrap();
        controller.write(conn, b"def a\x1b[2J():\nend\n");
        let told = lines(&mut controller);
        assert_eq!(told[1], "0.000 s: program `a` received, 2 lines, ignored: local control");
    }

    #[test]
    fn events_that_nobody_takes_are_bounded_and_counted() {
        let mut controller = Controller::new(Options::default()).unwrap();
        controller.connect(Port::Rtde).unwrap();
        assert_eq!(controller.take_events(), (vec![], 0), "nobody wants them");
        controller.keep_events();
        for _ in 0..KEPT {
            let conn = controller.connect(Port::Rtde).unwrap();
            controller.reset(conn);
        }
        let (events, left_out) = controller.take_events();
        assert_eq!((events.len(), left_out), (KEPT, KEPT as u64));
        controller.advance_to(SimTime::ZERO + Duration::from_secs(1));
        assert_eq!(controller.take_events(), (vec![], 0));
    }
}
