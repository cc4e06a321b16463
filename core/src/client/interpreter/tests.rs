use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::client::Output;
use outrigger_wire::time::Instant;

/// A simulated controller in interpreter mode, with the lines and events of the client.
struct World<'t, 'm> {
    client: Client<'t, 'm>,
    now: Instant,
    /// The bytes of a line that is not complete.
    partial: Vec<u8>,
    lines: Vec<String>,
    events: Vec<InterpreterEvent>,
    /// The statements that are accepted but not executed.
    queue: VecDeque<(u32, String)>,
    id: u32,
    executed: u32,
    /// `true` if the program accepts statements.
    interprets: bool,
    /// `true` if the program executes statements.
    executes: bool,
    /// `true` if the controller replies.
    answers: bool,
    /// The number of bytes that are received at once.
    piece: usize,
    opened: bool,
    closed: bool,
}

impl<'t, 'm> World<'t, 'm> {
    fn new(config: InterpreterConfig, text: &'t str, memory: &'m mut [u8]) -> Self {
        let file = StatementFile::new(text.as_bytes()).unwrap();
        Self {
            client: Client::new(config, file, memory),
            now: Instant::ZERO,
            partial: vec![],
            lines: vec![],
            events: vec![],
            queue: VecDeque::new(),
            id: 0,
            executed: 0,
            interprets: true,
            executes: true,
            answers: true,
            piece: usize::MAX,
            opened: false,
            closed: false,
        }
    }

    /// Returns a connected client with a running program.
    fn running(config: InterpreterConfig, text: &'t str, memory: &'m mut [u8]) -> Self {
        let mut world = Self::new(config, text, memory);
        for input in [InterpreterInput::Start, InterpreterInput::Opened, InterpreterInput::ProgramRuns] {
            world.input(input);
        }
        world
    }

    fn input(&mut self, input: InterpreterInput) {
        self.client.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        loop {
            let mut any = false;
            while let Some(event) = self.client.poll_event() {
                self.events.push(event);
                any = true;
            }
            let mut received = vec![];
            match self.client.poll_output() {
                Some(Output::Open { port }) => {
                    assert_eq!(port, 30_020);
                    self.opened = true;
                }
                Some(Output::Transmit(bytes)) => received = bytes.to_vec(),
                Some(Output::Close) => self.closed = true,
                None if any => continue,
                None => return,
            }
            for byte in received {
                if byte == b'\n' {
                    let line = String::from_utf8(std::mem::take(&mut self.partial)).unwrap();
                    self.take(&line);
                } else {
                    self.partial.push(byte);
                }
            }
        }
    }

    fn take(&mut self, line: &str) {
        self.lines.push(line.to_owned());
        if !self.answers {
            return;
        }
        let reply = match line {
            "statelastexecuted" => format!("state: {}: {line}", self.executed),
            "abort" | "skipbuffer" => {
                if line == "skipbuffer" {
                    self.queue.clear();
                }
                format!("ack: 0: {line}")
            }
            _ if !self.interprets => format!("discard: Program is in an invalid state: {line}"),
            _ if line.starts_with("bad") => format!("discard: Compile error: {line}"),
            _ => {
                self.id += 1;
                self.queue.push_back((self.id, line.to_owned()));
                format!("ack: {}: {line}", self.id)
            }
        };
        self.receive(format!("{reply}\n").as_bytes());
    }

    fn receive(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let window = self.client.receive_window();
            let count = window.len().min(rest.len()).min(self.piece);
            window[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            self.client.commit(count, self.now);
        }
    }

    /// Lets time pass; a statement is executed every 30 ms.
    fn run(&mut self, millis: u64) {
        for _ in 0..millis / 10 {
            self.now = self.now + Duration::from_millis(10);
            if self.executes
                && self.now.as_micros().is_multiple_of(30_000)
                && let Some((id, line)) = self.queue.pop_front()
            {
                self.executed = id;
                if line == "end_interpreter()" {
                    self.input(InterpreterInput::ProgramEnded);
                }
            }
            if self.client.poll_timeout().is_some_and(|at| self.now >= at) {
                self.input(InterpreterInput::Tick);
            }
            self.drain();
        }
    }

    fn said(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).filter(|line| !line.starts_with("state")).collect()
    }
}

fn config() -> InterpreterConfig {
    InterpreterConfig::default()
}

#[test]
fn statements_go_out_one_after_the_other_and_are_followed_to_their_end() {
    let mut memory = [0; 256];
    let mut world = World::new(config(), "# moves\nif a:\n  movej(q)\nend\n\nstopj(2)", &mut memory);
    world.input(InterpreterInput::Start);
    assert!(world.opened && world.lines.is_empty());
    world.input(InterpreterInput::Opened);
    assert_eq!(world.events, [InterpreterEvent::Connected]);
    assert!(world.lines.is_empty(), "the program is not there yet");
    world.input(InterpreterInput::ProgramRuns);
    world.run(1000);
    assert_eq!(world.said(), ["sync()", "if a: movej(q) end", "stopj(2)", "end_interpreter()"]);
    let expected = [
        InterpreterEvent::Connected,
        InterpreterEvent::Entered,
        InterpreterEvent::Accepted { line: 2, id: 2 },
        InterpreterEvent::Accepted { line: 6, id: 3 },
        InterpreterEvent::Executed { line: 2, id: 2 },
        InterpreterEvent::Executed { line: 6, id: 3 },
    ];
    assert_eq!(world.events, expected);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Done));
    assert!(world.closed);
}

#[test]
fn a_statement_that_is_discarded_is_named_by_its_line_and_those_before_it_are_executed() {
    let mut memory = [0; 256];
    let mut world = World::running(config(), "a()\nb()\n\nbad(\n)\nc()\n", &mut memory);
    world.run(1000);
    assert_eq!(world.said(), ["sync()", "a()", "b()", "bad( )", "end_interpreter()"]);
    let reason = Text::from_bytes(b"Compile error");
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Discarded { line: 4, reason }));
    assert_eq!(world.events.last(), Some(&InterpreterEvent::Executed { line: 2, id: 3 }), "{:?}", world.events);
}

#[test]
fn statements_wait_until_the_program_executes_one_whatever_it_drops_before() {
    let mut memory = [0; 256];
    let mut world = World::running(config(), "a()\n", &mut memory);
    (world.interprets, world.executes) = (false, false);
    world.run(300);
    world.interprets = true;
    world.run(200);
    assert!(!world.lines.iter().any(|line| line == "a()"));
    // Statements that were accepted before interpreter mode was entered are dropped.
    world.queue.clear();
    world.executes = true;
    world.run(1200);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Done));

    let mut memory = [0; 256];
    let mut world = World::new(config(), "a()\n", &mut memory);
    world.interprets = false;
    for input in [InterpreterInput::Start, InterpreterInput::Opened, InterpreterInput::ProgramRuns] {
        world.input(input);
    }
    world.run(6000);
    let reason = Text::from_bytes(b"Program is in an invalid state");
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::NotEntered { reason }));
    assert!(!world.lines.iter().any(|line| line == "a()"));
}

#[test]
fn no_more_than_asked_for_is_without_a_reply_or_waits_for_its_execution() {
    let text = "a()\n".repeat(30);
    let mut memory = [0; 256];
    let mut world = World::running(InterpreterConfig { unanswered: 3, ahead: 5, ..config() }, &text, &mut memory);
    world.run(100);
    world.executes = false;
    world.run(1000);
    assert_eq!(world.queue.len(), 5);
    world.answers = false;
    world.executes = true;
    let sent = world.said().len();
    world.run(100);
    assert_eq!(world.said().len(), sent, "a question waits as well");
    world.answers = true;
    let state = format!("state: {}: statelastexecuted\n", world.executed);
    world.answers = false;
    world.receive(state.as_bytes());
    world.drain();
    assert_eq!(world.said().len(), sent + 3);
    world.run(2500);
    let Some(InterpreterOutcome::Silent { line: Some(_) }) = world.client.outcome() else {
        panic!("{:?}", world.client.outcome());
    };
}

#[test]
fn what_was_executed_is_cleared_unless_something_was_defined() {
    let text = "a()\n".repeat(7);
    let mut memory = [0; 256];
    let mut world = World::running(InterpreterConfig { clear_every: 3, ..config() }, &text, &mut memory);
    world.run(2000);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Done));
    assert_eq!(world.lines.iter().filter(|line| *line == "clear_interpreter()").count(), 2);
    assert_eq!(world.events.iter().filter(|event| matches!(event, InterpreterEvent::Cleared { .. })).count(), 2);

    let text = format!("x = 1\n{text}");
    let mut memory = [0; 256];
    let mut world = World::running(InterpreterConfig { clear_every: 3, ..config() }, &text, &mut memory);
    world.run(2000);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Done));
    assert!(!world.lines.iter().any(|line| line == "clear_interpreter()"));
}

#[test]
fn a_cancel_drops_what_waits_before_it_stops_what_moves() {
    let text = "movej(q)\n".repeat(10);
    let mut memory = [0; 256];
    let mut world = World::running(config(), &text, &mut memory);
    world.run(100);
    world.executes = false;
    world.run(100);
    let before = world.said().len();
    world.input(InterpreterInput::Cancel);
    let said: Vec<String> = world.said().split_off(before).into_iter().map(str::to_owned).collect();
    assert_eq!(said, ["skipbuffer", "abort", "clear_interpreter()", "end_interpreter()"]);
    world.executes = true;
    world.run(300);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Cancelled { ended: true }));

    // A statement that `abort` does not end.
    let mut memory = [0; 256];
    let mut world = World::running(config(), &text, &mut memory);
    world.run(100);
    world.executes = false;
    world.input(InterpreterInput::Cancel);
    world.run(3100);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Cancelled { ended: false }));
}

#[test]
fn an_end_that_the_file_asks_for_is_no_error_and_any_other_names_the_statement() {
    let mut memory = [0; 256];
    let mut world = World::running(config(), "a()\nend_interpreter()\nb()\n", &mut memory);
    world.run(1000);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Done));
    assert_eq!(world.said(), ["sync()", "a()", "end_interpreter()"]);

    let ends = [
        (InterpreterInput::ProgramEnded, InterpreterOutcome::ProgramEnded { lines: Some((3, 4)) }),
        (InterpreterInput::Closed, InterpreterOutcome::Closed { line: Some(3) }),
    ];
    for (input, outcome) in ends {
        let mut memory = [0; 256];
        let config = InterpreterConfig { poll: Duration::from_millis(10), ..config() };
        let mut world = World::running(config, "a()\n\nb()\nc()\n", &mut memory);
        while !world.events.contains(&InterpreterEvent::Executed { line: 1, id: 2 }) {
            world.run(10);
        }
        world.input(input);
        assert_eq!(world.client.outcome(), Some(outcome), "{:?}", world.queue);
    }
}

#[test]
fn every_wait_for_a_connection_and_a_reply_ends() {
    let mut memory = [0; 64];
    let mut world = World::new(config(), "a()\n", &mut memory);
    world.input(InterpreterInput::Start);
    world.run(3100);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::NoConnection));

    let mut memory = [0; 64];
    let mut world = World::new(config(), "a()\n", &mut memory);
    world.input(InterpreterInput::Start);
    world.input(InterpreterInput::Refused);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::Refused));

    let mut memory = [0; 64];
    let long = format!("textmsg(\"{}\")\n", "x".repeat(80));
    let mut world = World::running(config(), &long, &mut memory);
    world.run(1000);
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::ReplyTooLong { line: Some(1) }));

    let mut memory = [0; 64];
    let mut world = World::new(config(), "a()\n", &mut memory);
    world.answers = false;
    for input in [InterpreterInput::Start, InterpreterInput::Opened, InterpreterInput::ProgramRuns] {
        world.input(input);
    }
    world.receive(b"Bad request\n");
    let reply = Text::from_bytes(b"Bad request");
    assert_eq!(world.client.outcome(), Some(InterpreterOutcome::WrongService { reply }));
}

proptest! {
    #[test]
    fn replies_in_any_pieces_tell_the_same(piece in 1_usize..40, unanswered in 1_usize..8, count in 1_usize..40) {
        let text = "a()\nb(\n1)\n".repeat(count);
        let config = InterpreterConfig { unanswered, clear_every: 7, ..config() };
        let run = |piece| {
            let mut memory = [0; 64];
            let mut world = World::running(config, &text, &mut memory);
            world.piece = piece;
            world.run(6000);
            (world.lines, world.events, world.client.outcome())
        };
        let whole = run(usize::MAX);
        prop_assert_eq!(whole.2, Some(InterpreterOutcome::Done));
        prop_assert_eq!(run(piece), whole);
    }

    #[test]
    fn any_replies_at_any_time_end_or_leave_every_wait_bounded(
        inputs in prop::collection::vec((0_u8..10, 0_u64..4000), 1..80), unanswered in 0_usize..20,
    ) {
        let text = "a()\nx = 1\nb()\n".repeat(20);
        let mut memory = [0; 64];
        let config = InterpreterConfig { unanswered, ahead: 100, clear_every: 2, ..config() };
        let mut world = World::running(config, &text, &mut memory);
        world.answers = false;
        for (what, value) in inputs {
            match what {
                0 => world.receive(format!("ack: {value}: a()\n").as_bytes()),
                1 => world.receive(b"discard: no: a()\n"),
                2 => world.receive(format!("state: {value}: statelastexecuted\n").as_bytes()),
                3 => world.receive(b"\n"),
                4 => world.input(InterpreterInput::Cancel),
                5 => world.input(InterpreterInput::ProgramEnded),
                6 => world.answers = !world.answers,
                _ => world.run(value),
            }
            world.drain();
            let waits = world.client.poll_timeout().is_some();
            prop_assert!(waits || world.client.outcome().is_some(), "{:?}", world.client);
        }
    }
}
