//! The client that sends statements to a controller whose program is in interpreter mode.

use super::pending_statements::{AHEAD, Ahead, OTHERS, Pending, Sent, UNANSWERED};
use super::statement_file::{StatementFile, Statements};
use super::statement_queue::{Line, Lines};
use super::{InterpreterConfig, InterpreterEvent, InterpreterInput, InterpreterOutcome};
use crate::client::Output;
use heapless::Deque;
use outrigger_wire::frame::LineAssembler;
use outrigger_wire::interpreter::{PORT, Query, Reply, reason};
use outrigger_wire::robot::Text;
use outrigger_wire::time::{Duration, Instant};

/// A statement without effect, the probe: its execution shows that the program accepts statements.
const PROBE: &str = "sync()\n";
/// The time between a rejected probe (a `sync()` statement) and the next one.
const AGAIN: Duration = Duration::from_millis(100);
/// The time after which an accepted probe that was not executed is assumed to have been dropped when the program
/// entered interpreter mode.
const DROPPED: Duration = Duration::from_millis(500);
const CLEAR: &str = "clear_interpreter()\n";
const END: &str = "end_interpreter()\n";
/// The largest number of events that one input of the client causes: one for each sent line that waits for a reply,
/// and one for the input itself.
const EVENTS: usize = UNANSWERED + OTHERS + 1;
/// The lines sent for [`InterpreterInput::Cancel`]: pending statements are skipped before the present one is aborted.
const CANCEL: [(&str, Sent<'static>); 4] =
    [("skipbuffer\n", Sent::Other), ("abort\n", Sent::Other), (CLEAR, Sent::Other), (END, Sent::Other)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientState {
    Idle,
    Opening {
        until: Instant,
    },
    /// The connection to port 30020 is established; the program does not run yet.
    Connected,
    /// The program runs. Probes (`sync()` statements) are sent until it executes one, which shows that it accepts
    /// statements.
    Entering {
        until: Instant,
        probe: Instant,
    },
    /// The program accepts statements: those of the statement file are sent, and their execution is awaited.
    Sending,
    /// `end_interpreter()` was sent, by the client or as a statement of the file; the end of the program is awaited.
    Ending {
        until: Instant,
    },
    Cancelling {
        until: Instant,
    },
}

/// The client of a controller's port 30020, which sends statements to a program in interpreter mode.
///
/// | stage | continues with | otherwise |
/// |---|---|---|
/// | idle | `Start`: [`Output::Open`] | |
/// | opening | `Opened`: [`InterpreterEvent::Connected`] | [`Refused`](InterpreterOutcome::Refused), [`NoConnection`](InterpreterOutcome::NoConnection) |
/// | connected | `ProgramRuns` | |
/// | entering | a `sync()` that is executed: [`InterpreterEvent::Entered`] | [`NotEntered`](InterpreterOutcome::NotEntered) |
/// | sending | all are executed, or one is discarded: `end_interpreter()` | [`Silent`](InterpreterOutcome::Silent) |
/// | ending, cancelling | `ProgramEnded` | [`NotEnded`](InterpreterOutcome::NotEnded), [`Cancelled`](InterpreterOutcome::Cancelled) |
///
/// Once connected, the client ends in every stage if the connection closes or the program ends; [`Self::outcome`]
/// returns the cause.
#[derive(Debug)]
pub struct Client<'t, 'm> {
    config: InterpreterConfig,
    replies: LineAssembler<'m>,
    statements: Statements<'t>,
    /// `true` while statements of the statement file are to be sent: `false` after the last one, a discarded one, or
    /// one that ends interpreter mode.
    more: bool,
    /// `true` once a statement of the file that ends interpreter mode was sent.
    ends: bool,
    lines: Lines<'t>,
    pending: Pending<'t>,
    stage: ClientState,
    /// The time of the newest input that the client processed.
    now: Instant,
    /// The time of the next query of the last executed statement.
    poll: Instant,
    /// The number that the controller gave the last accepted probe (a `sync()` statement); `None` without one.
    probe: Option<u32>,
    /// The number of statements sent since the last `clear_interpreter()`.
    kept: u32,
    /// `true` once a statement has defined something: the controller's memory is no longer cleared.
    defined: bool,
    /// The controller's reason for discarding the last discarded probe (a `sync()` statement); empty if it discarded none.
    reason: Text<128>,
    discarded: Option<(u32, Text<128>)>,
    events: Deque<InterpreterEvent, EVENTS>,
    outcome: Option<InterpreterOutcome>,
    open: bool,
    connected: bool,
}

impl<'t, 'm> Client<'t, 'm> {
    /// Returns a client that is not connected yet. `memory` must be large enough for the longest reply, which repeats
    /// its line: the longest statement and 200 bytes more.
    #[must_use]
    pub fn new(config: InterpreterConfig, file: StatementFile<'t>, memory: &'m mut [u8]) -> Self {
        let config = InterpreterConfig {
            unanswered: config.unanswered.clamp(1, UNANSWERED),
            ahead: config.ahead.clamp(1, AHEAD),
            clear_every: config.clear_every.max(1),
            ..config
        };
        Self {
            config,
            replies: LineAssembler::new(memory),
            statements: file.statements(),
            more: true,
            ends: false,
            lines: Lines::new(),
            pending: Pending::new(),
            stage: ClientState::Idle,
            now: Instant::ZERO,
            poll: Instant::ZERO,
            probe: None,
            kept: 0,
            defined: false,
            reason: Text::from_bytes(b""),
            discarded: None,
            events: Deque::new(),
            outcome: None,
            open: false,
            connected: false,
        }
    }

    /// Processes one input at `now`, which must never decrease. Drain [`poll_event`](Self::poll_event) and
    /// [`poll_output`](Self::poll_output) after it.
    pub fn handle(&mut self, now: Instant, input: InterpreterInput) {
        self.now = now;
        if self.outcome.is_some() {
            return;
        }
        match (input, self.stage) {
            (InterpreterInput::Start, ClientState::Idle) => {
                self.stage = ClientState::Opening { until: now + self.config.opening };
                (self.open, self.connected) = (true, true);
            }
            (InterpreterInput::Opened, ClientState::Opening { .. }) => {
                self.replies.reset();
                self.stage = ClientState::Connected;
                self.tell(InterpreterEvent::Connected);
            }
            (InterpreterInput::Refused, ClientState::Opening { .. }) => {
                self.connected = false;
                self.decide(InterpreterOutcome::Refused);
            }
            (InterpreterInput::Closed, ClientState::Cancelling { .. }) => {
                self.connected = false;
                self.decide(InterpreterOutcome::Cancelled { ended: false });
            }
            (InterpreterInput::Closed, stage) if !matches!(stage, ClientState::Idle | ClientState::Opening { .. }) => {
                self.connected = false;
                self.decide(InterpreterOutcome::Closed { line: self.pending.lines().map(|(first, _)| first) });
            }
            (InterpreterInput::ProgramRuns, ClientState::Connected) => {
                self.stage = ClientState::Entering { until: now + self.config.entering, probe: now };
            }
            (InterpreterInput::ProgramEnded, stage) => self.program_ended(stage),
            (InterpreterInput::Cancel, stage) => self.cancel(stage),
            _ => {}
        }
        self.go_on();
    }

    /// Returns the buffer for the next bytes received from the controller.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.replies.window()
    }

    /// Processes `count` bytes that were received into the [window](Self::receive_window).
    pub fn commit(&mut self, count: usize, now: Instant) {
        self.now = now;
        self.replies.commit(count);
        while let Some(line) = self.replies.next_line() {
            if self.outcome.is_some() {
                continue;
            }
            // A line without a request is not a reply.
            let Some(sent) = self.pending.replied() else { continue };
            match line {
                Ok(line) => match Answer::of(Reply::parse(line), sent).ok_or_else(|| Text::from_bytes(line)) {
                    Ok(answer) => self.answered(answer),
                    Err(reply) => self.decide(InterpreterOutcome::WrongService { reply }),
                },
                Err(_) => self.decide(InterpreterOutcome::ReplyTooLong { line: sent.line() }),
            }
        }
        if self.outcome.is_none() {
            self.go_on();
        }
    }

    /// Returns the next action that the caller has to carry out on the connection; `None` if there is none.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if self.outcome.is_some() {
            self.lines.clear();
            return core::mem::take(&mut self.connected).then_some(Output::Close);
        }
        if core::mem::take(&mut self.open) {
            return Some(Output::Open { port: PORT });
        }
        self.lines.next().map(|piece| Output::Transmit(piece.as_bytes()))
    }

    /// Returns the next event of this client of interpreter mode; `None` if there is none. After that,
    /// [`Self::outcome`] returns whether the client has ended.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<InterpreterEvent> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        while let Some(Ahead { line, id, clears }) = self.pending.next_executed() {
            match line {
                Some(line) => return Some(InterpreterEvent::Executed { line, id }),
                None if clears => return Some(InterpreterEvent::Cleared { id }),
                None => {}
            }
        }
        None
    }

    /// Returns the time at which [`InterpreterInput::Tick`] is due; `None` while only an input from the peer or the
    /// program is awaited, and after the end.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.outcome.is_some() {
            return None;
        }
        let reply = self.pending.oldest(self.config.reply).map(|(_, until)| until);
        let poll = (self.waits() && !self.pending.asks()).then_some(self.poll);
        let stage = match self.stage {
            ClientState::Idle | ClientState::Connected | ClientState::Sending => None,
            ClientState::Opening { until } | ClientState::Ending { until } => Some(until),
            ClientState::Cancelling { until } => return Some(until),
            ClientState::Entering { until, .. } if self.pending.unanswered() > 0 => Some(until),
            ClientState::Entering { until, probe } => Some(until.min(probe)),
        };
        [reply, poll, stage].into_iter().flatten().min()
    }

    /// Returns the outcome of the statement file once the client has ended; `None` before.
    #[must_use]
    pub const fn outcome(&self) -> Option<InterpreterOutcome> {
        self.outcome
    }

    fn tell(&mut self, event: InterpreterEvent) {
        // The queue never overflows if events are taken after each input.
        let _ = self.events.push_back(event);
    }

    fn decide(&mut self, outcome: InterpreterOutcome) {
        self.outcome.get_or_insert(outcome);
    }

    fn send(&mut self, line: Line<'t>, sent: Sent<'t>) {
        if self.lines.push(line) {
            // The queue of lines and that of pending replies have the same size.
            let _ = self.pending.sent(sent, self.now);
        }
    }

    /// Returns whether a statement that the controller accepted waits for its execution: a probe (`sync()`) or, once
    /// the program accepts statements, one of the file or a `clear_interpreter()`.
    fn waits(&self) -> bool {
        match self.stage {
            ClientState::Entering { .. } => self.probe.is_some(),
            ClientState::Sending => self.pending.waiting() > 0,
            _ => false,
        }
    }

    fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Accepted { line, id } => {
                self.pending.accepted(Ahead { line: Some(line), id, clears: false });
                self.tell(InterpreterEvent::Accepted { line, id });
            }
            Answer::Clears { id } => self.pending.accepted(Ahead { line: None, id, clears: true }),
            Answer::Probed { id } => {
                self.probe = Some(id);
                self.poll = self.now;
                if let ClientState::Entering { probe, .. } = &mut self.stage {
                    *probe = self.now + DROPPED;
                }
            }
            Answer::Discarded { line, reason } => {
                self.more = false;
                self.discarded.get_or_insert((line, reason));
                self.tell(InterpreterEvent::Discarded { line, reason });
            }
            Answer::NotProbed { reason } => {
                self.reason = reason;
                if let ClientState::Entering { probe, .. } = &mut self.stage {
                    *probe = self.now + AGAIN;
                }
            }
            Answer::Executed(id) => match self.stage {
                ClientState::Entering { .. } if self.probe == Some(id) => {
                    self.stage = ClientState::Sending;
                    self.tell(InterpreterEvent::Entered);
                }
                ClientState::Entering { .. } => {}
                _ => self.pending.executed(id),
            },
            Answer::Nothing => {}
        }
    }

    fn program_ended(&mut self, stage: ClientState) {
        let all = !self.more && self.pending.unanswered() == 0;
        match stage {
            ClientState::Idle | ClientState::Opening { .. } => {}
            ClientState::Cancelling { .. } => self.decide(InterpreterOutcome::Cancelled { ended: true }),
            ClientState::Ending { .. } => self.end(),
            ClientState::Sending if all && self.ends => self.end(),
            ClientState::Connected | ClientState::Entering { .. } | ClientState::Sending => {
                self.decide(InterpreterOutcome::ProgramEnded { lines: self.pending.lines() });
            }
        }
    }

    /// Ends the client because the program has ended: all statements count as executed, except a discarded one.
    fn end(&mut self) {
        self.pending.all_executed();
        self.decide(match self.discarded {
            Some((line, reason)) => InterpreterOutcome::Discarded { line, reason },
            None => InterpreterOutcome::Done,
        });
    }

    fn cancel(&mut self, stage: ClientState) {
        match stage {
            ClientState::Cancelling { .. } => {}
            ClientState::Idle | ClientState::Opening { .. } | ClientState::Connected => {
                self.decide(InterpreterOutcome::Cancelled { ended: true });
            }
            ClientState::Entering { .. } | ClientState::Sending | ClientState::Ending { .. } => {
                self.stage = ClientState::Cancelling { until: self.now + self.config.ending };
                for (line, sent) in CANCEL {
                    self.send(Line::Own(line), sent);
                }
            }
        }
    }

    /// Sends the statements and queries that are due now, and ends the client if the time for a reply or a stage is
    /// over.
    fn go_on(&mut self) {
        if self.outcome.is_some() {
            return;
        }
        let now = self.now;
        match self.stage {
            ClientState::Opening { until } if now >= until => self.decide(InterpreterOutcome::NoConnection),
            ClientState::Ending { until } if now >= until => self.decide(InterpreterOutcome::NotEnded),
            ClientState::Cancelling { until } if now >= until => {
                self.decide(InterpreterOutcome::Cancelled { ended: false });
            }
            ClientState::Cancelling { .. } => return,
            ClientState::Entering { until, .. } if now >= until => {
                self.decide(InterpreterOutcome::NotEntered { reason: self.reason });
            }
            ClientState::Entering { probe, .. } if now >= probe && self.pending.unanswered() == 0 => {
                self.probe = None;
                self.send(Line::Own(PROBE), Sent::Probe);
            }
            ClientState::Sending => self.send_statements(),
            _ => {}
        }
        if self.waits() && now >= self.poll && !self.pending.asks() {
            self.poll = now + self.config.poll;
            self.send(Line::Own(Query::LastExecuted.line()), Sent::Query);
        }
        if let Some((sent, _)) = self.pending.oldest(self.config.reply).filter(|(_, until)| now >= *until) {
            self.decide(InterpreterOutcome::Silent { line: sent.line() });
        }
    }

    fn send_statements(&mut self) {
        while self.more
            && self.pending.unanswered() < self.config.unanswered
            && self.pending.waiting().saturating_add(self.pending.unanswered()) < self.config.ahead
        {
            if self.kept >= self.config.clear_every && !self.defined {
                self.kept = 0;
                self.send(Line::Own(CLEAR), Sent::Clear);
                continue;
            }
            let Some(statement) = self.statements.next() else {
                self.more = false;
                break;
            };
            let part = statement.split_part().map_or("", |(part, _)| part);
            self.kept = self.kept.saturating_add(1);
            self.defined |= statement.defines();
            if part.starts_with("end_interpreter") {
                (self.ends, self.more) = (true, false);
            }
            self.send(Line::Statement(statement), Sent::Statement { line: statement.line, part });
        }
        if !self.more && self.pending.unanswered() == 0 && self.pending.waiting() == 0 {
            self.stage = ClientState::Ending { until: self.now + self.config.ending };
            if !self.ends || self.discarded.is_some() {
                self.send(Line::Own(END), Sent::Other);
            }
        }
    }
}

/// The meaning of a controller's reply for the line that it answers.
enum Answer {
    Accepted { line: u32, id: u32 },
    Clears { id: u32 },
    Probed { id: u32 },
    Discarded { line: u32, reason: Text<128> },
    NotProbed { reason: Text<128> },
    Executed(u32),
    Nothing,
}

impl Answer {
    /// Interprets a reply to the line that was `sent`; returns `None` if it does not match.
    fn of(reply: Reply<'_>, sent: Sent<'_>) -> Option<Self> {
        Some(match (reply, sent) {
            (Reply::Accepted { id: Some(id), .. }, Sent::Statement { line, .. }) => Self::Accepted { line, id },
            (Reply::Accepted { id: Some(id), .. }, Sent::Clear) => Self::Clears { id },
            (Reply::Accepted { id: Some(id), .. }, Sent::Probe) => Self::Probed { id },
            (Reply::Discarded(text), Sent::Statement { line, part }) => {
                Self::Discarded { line, reason: Text::from_bytes(reason(text, part.as_bytes()).0) }
            }
            (Reply::Discarded(text), Sent::Probe) => {
                Self::NotProbed { reason: Text::from_bytes(reason(text, PROBE.as_bytes()).0) }
            }
            (Reply::Discarded(_), Sent::Clear) | (Reply::Accepted { .. } | Reply::Discarded(_), Sent::Other) => {
                Self::Nothing
            }
            (Reply::State { value, .. }, Sent::Query) => Self::Executed(value),
            _ => return None,
        })
    }
}
