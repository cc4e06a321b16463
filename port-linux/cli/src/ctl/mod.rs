//! The command `outrigger ctl`: sends requests to a run in another process, or to a board, and prints the answers.

mod answer_text;
mod args;
mod board_client;
mod commanding_run_check;
mod motion;

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;

use outrigger_core::mode::Epoch;
use outrigger_remote::request::{Challenge, ClientRequest, FRESH_FOR, Message};
use outrigger_wire::sensor::SampleValue;
use outrigger_wire::time::{Duration, Instant};
use serde_json::Value;

pub(crate) use self::args::CtlArgs;
use self::args::{AskCommand, Wanted};
use self::board_client::Board;
pub(crate) use self::commanding_run_check::check_no_run_commands;
use crate::dispatch;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::host::clock::{Clock, std_duration};
use outrigger::host::os::local::{Client, connect};
use outrigger::host::signals::{OnSignal, Signals};
use outrigger::released::ReleasedBy;
use outrigger::requests::{causes_motion, failure_text};

/// The longest line that a run (process of `outrigger run`) may send as an answer \[B\]; a longer one is an error.
const LONGEST_ANSWER: usize = 1 << 20;

/// The times for a run that closes this connection in favour of another client, because the number of clients is
/// limited: the longest time for which the requests are repeated, and the pause between two attempts.
const NO_PLACE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_millis(50));

/// The interval at which signals to this process are checked while an answer is awaited.
const LOOK: Duration = Duration::from_millis(100);

/// The longest wait of `outrigger ctl` for the answer to the withdrawal of a request that it had sent before.
const WITHDRAWAL: Duration = Duration::from_secs(2);

/// Runs `outrigger ctl`.
///
/// # Errors
/// [`Failure::Usage`] for arguments that do not fit together, [`Failure::Connection`] if there is no run for this
/// robot or it does not answer, [`Failure::BadInput`] for requests that the run does not understand or support,
/// [`Failure::Fault`] if it refuses.
pub(crate) fn run(args: &CtlArgs) -> Outcome {
    let wanted = args.wanted()?;
    // The file is read before connecting, because that may take long and the run must not wait.
    let pieces = || match &wanted {
        Wanted::Along(file) => dispatch::pieces(&args.robot, &args.controller, file).map(Some),
        _ => Ok(None),
    };
    let mut read = pieces()?;
    let clock = Clock::start();
    let (longest, pause) = NO_PLACE;
    let until = clock.now() + longest;
    loop {
        let mut run = Conversation::new(args)?;
        let outcome = match (&wanted, read.take()) {
            (Wanted::Along(file), Some(pieces)) => run.along(pieces, file),
            _ => run.say(&wanted),
        };
        if !run.may_be_repeated() || clock.now() >= until {
            return outcome;
        }
        std::thread::sleep(std_duration(pause));
        read = pieces()?;
    }
}

impl Conversation<'_> {
    /// Sends the request that the command line describes, and waits for its outcome.
    fn say(&mut self, wanted: &Wanted) -> Outcome {
        let run = self;
        match wanted {
            // A motion from a file is sent in pieces by `along`.
            Wanted::Along(_) => Ok(()),
            Wanted::Plain(AskCommand::Status) => run.ask(&[ClientRequest::Status]),
            Wanted::Plain(AskCommand::Watch) => run.watch(),
            Wanted::Plain(AskCommand::Renew) => run.ask(&[ClientRequest::Renew]),
            Wanted::Plain(AskCommand::Cancel) => run.ask(&[ClientRequest::Cancel]),
            Wanted::Move(how) => {
                let epoch = run.epoch()?;
                run.follow(ClientRequest::Move { epoch, how })
            }
            Wanted::Plain(AskCommand::Stiffen) => run.ask(&[ClientRequest::Stiffen]),
            Wanted::Plain(AskCommand::Acknowledge) => run.ask(&[ClientRequest::Acknowledge]),
            Wanted::Plain(AskCommand::Release) => {
                run.ask(&[ClientRequest::Release])?;
                run.wait_for("standstill", |mode| Some(matches!(mode, "monitor" | "offline")).filter(|rests| *rests))
            }
            Wanted::Plain(word) => {
                let epoch = run.epoch()?;
                let ask = match word {
                    AskCommand::HandBack => return run.ask(&[ClientRequest::HandBack(epoch)]),
                    AskCommand::Resend => return run.ask(&[ClientRequest::Resend(epoch)]),
                    AskCommand::Resume => ClientRequest::Resume(epoch),
                    _ => ClientRequest::Request(epoch),
                };
                // From here on, giving up withdraws the request.
                run.listen()?;
                run.ask(&[ask])?;
                run.wait_for("the start", |mode| match mode {
                    "command" => Some(true),
                    "arming" => None,
                    _ => Some(false),
                })
            }
            Wanted::Guide { hand, how, every } => {
                let epoch = run.epoch()?;
                run.ask(&[if *hand {
                    ClientRequest::Freedrive { epoch, how }
                } else {
                    ClientRequest::Force { epoch, how }
                }])?;
                run.renew(*every)
            }
            Wanted::ToolContact(how) => {
                let epoch = run.epoch()?;
                run.ask(&[ClientRequest::ToolContact { epoch, how }])
            }
            Wanted::Dashboard(readying) => {
                let epoch = run.epoch()?;
                run.ask(&[ClientRequest::Dashboard { epoch, how: readying.word() }])
            }
            Wanted::Set(settings) => {
                let epoch = run.epoch()?;
                let asks: Vec<_> = settings.iter().map(|output| ClientRequest::Set { epoch, output }).collect();
                run.ask(&asks)
            }
            Wanted::Impedance(output) => {
                let epoch = run.epoch()?;
                run.ask(&[ClientRequest::Set { epoch, output }])
            }
            Wanted::Sample { source, values, seq } => {
                let epoch = run.epoch()?;
                let values = SampleValue::new(values).ok_or_else(|| Failure::Usage("sample: 1 to 6 values".into()))?;
                run.ask(&[ClientRequest::Sample { epoch, source, values, seq: *seq }])
            }
        }
    }
}

/// A connection of `outrigger ctl` to a run (process of `outrigger run`) or to a board that commands a robot, with the
/// state of the request in progress.
struct Conversation<'a> {
    args: &'a CtlArgs,
    clock: Clock,
    way: RequestConnection,
    /// The time at which waiting for answers ends; `None` for no limit.
    until: Option<Instant>,
    /// The time at which this command was started.
    began: Instant,
    next_id: u32,
    /// The beginning of a line received from the run that is not complete yet.
    begun: String,
    /// The lines that were received while the answer to another request was awaited. They are returned next.
    passed_over: VecDeque<String>,
    /// The challenge in the run's newest status, and the time when that status was requested. A request that causes
    /// motion must contain a recent challenge, which proves that it was not delayed.
    challenge: Option<(Challenge, Instant)>,
    /// The `id` of the request that is withdrawn if this command stops waiting for its answer.
    withdrawable: Option<u32>,
    /// The signals to this process, if they are handled by this command.
    signals: Option<Signals>,
    /// `true` once a request has been sent that must not be sent a second time.
    acted: bool,
    /// `true` once the run has closed this connection in favour of another client, because the number of clients is
    /// limited.
    gave_way: bool,
    /// `true` once this command's output could not be written, e.g. because its reader has closed the pipe (`| head`).
    unread: Cell<bool>,
}

/// The result of waiting for the next line that a run (process of `outrigger run`) or a board sends.
enum LineResult {
    Line(String),
    /// No line of the run or the board arrived within the time.
    Nothing,
    /// The run has ended the connection.
    Gone,
}

/// The connection to a run or a board over which requests are sent.
enum RequestConnection {
    /// A connection to a run, with the number of the run's process and its user as the kernel reports them.
    Run(BufReader<Client>, (Option<i32>, u32)),
    Board(Box<Board>),
}

impl<'a> Conversation<'a> {
    fn new(args: &'a CtlArgs) -> Result<Self, Failure> {
        let clock = Clock::start();
        let until = clock.now() + Duration::from_secs(args.timeout);
        let way = match &args.key_file {
            Some(key) => RequestConnection::Board(Box::new(Board::begin(&args.robot, key, clock, until)?)),
            None => {
                let (client, process) = connect(dispatch::seat(&args.robot, &args.controller)?)?;
                // The time limit also applies to a run that no longer reads.
                let longest = Some(std_duration(Duration::from_secs(args.timeout)));
                client.set_write_timeout(longest).map_err(|error| Failure::Connection(error.to_string()))?;
                RequestConnection::Run(BufReader::new(client), process)
            }
        };
        Ok(Self::by(args, clock, way, until))
    }

    fn by(args: &'a CtlArgs, clock: Clock, way: RequestConnection, until: Instant) -> Self {
        Self {
            args,
            clock,
            way,
            until: Some(until),
            began: clock.now(),
            next_id: 1,
            begun: String::new(),
            passed_over: VecDeque::new(),
            challenge: None,
            withdrawable: None,
            signals: None,
            acted: false,
            gave_way: false,
            unread: Cell::new(false),
        }
    }

    /// Handles signals to this process, such as SIGINT, from now on, instead of being ended by them.
    fn listen(&mut self) -> Result<(), Failure> {
        self.signals = Some(Signals::listen(OnSignal::Nothing)?);
        Ok(())
    }

    /// Returns the epoch for a request: the one given on the command line, or that of a status requested now. The epoch
    /// is a number that increases at each connection, failed arming and end of commanding; a request for an earlier one
    /// is refused.
    fn epoch(&mut self) -> Result<Epoch, Failure> {
        match self.args.epoch {
            Some(epoch) => Ok(Epoch::from_number(epoch)),
            None => self.look(),
        }
    }

    /// Requests the run's status. Returns the session's epoch in it, and stores the challenge in it for the next
    /// request that causes motion.
    fn look(&mut self) -> Result<Epoch, Failure> {
        let (id, asked) = (self.next_id, self.clock.now());
        self.send(ClientRequest::Status)?;
        let mut others = VecDeque::new();
        let status = loop {
            let (line, status) = self.answer()?;
            if number(&status, "id").is_none_or(|other| other == id) {
                break status;
            }
            others.push_back(line);
        };
        self.passed_over.append(&mut others);
        self.challenge = number(&status, "challenge").map(|number| (Challenge::from_number(number), asked));
        number(&status, "epoch").map(Epoch::from_number).ok_or_else(|| odd(&status))
    }

    /// Returns a challenge of the run that is recent enough to be sent in a request now; the status is requested if
    /// there is none. `None` for a board, whose challenges belong to its session.
    fn challenge(&mut self) -> Result<Option<Challenge>, Failure> {
        let young = |asked: Instant, now: Instant| now.since(asked) + now.since(asked) <= FRESH_FOR;
        if matches!(self.way, RequestConnection::Run(..))
            && self.challenge.is_none_or(|(_, at)| !young(at, self.clock.now()))
        {
            self.look()?;
        }
        Ok(self.challenge.take().map(|(challenge, _)| challenge))
    }

    /// Sends a request and returns its answer. If the answer is that the request arrived too late to be executed, it is
    /// repeated once, provided that this command was started within the last two seconds.
    fn exchange(&mut self, ask: ClientRequest<'_>) -> Result<(String, Value), Failure> {
        for last in [false, true] {
            self.send(ask)?;
            let answered = self.answer();
            if answered.is_err() && causes_motion(&ask) && !self.gave_way {
                return answered.map_err(|failure| self.give_up(failure));
            }
            let (line, answer) = answered?;
            let late = answer.get("error").is_some_and(|error| failure_text::text(error, "what") == "NotFresh");
            let asked = self.clock.now();
            if last || !late || asked.since(self.began) > FRESH_FOR {
                return Ok((line, answer));
            }
            self.challenge = number(&answer, "challenge").map(|number| (Challenge::from_number(number), asked));
        }
        Err(Failure::Connection("the run does not answer".into()))
    }

    /// Withdraws the pending request, because this command stops waiting for it. Returns the failure, extended by the
    /// outcome of the withdrawal.
    fn give_up(&mut self, failure: Failure) -> Failure {
        let Some(what) = self.withdrawable.take() else { return failure };
        // A second signal ends this process.
        self.signals = None;
        self.until = Some(self.clock.now() + WITHDRAWAL);
        let id = self.next_id;
        let withdrawn = self.send(ClientRequest::Withdraw { what }).and_then(|()| {
            loop {
                let (_, answer) = self.answer()?;
                if number(&answer, "id") == Some(id) {
                    return failure_text::failure(&answer)
                        .map_or_else(|| Ok(failure_text::text(&answer, "effect").to_owned()), Err);
                }
            }
        });
        let what = match withdrawn.as_deref() {
            Ok("released") => "the request was withdrawn, and the arm is being stopped",
            Ok("none") => "the request was withdrawn, without an effect: check `status`",
            Ok(_) => "the request was withdrawn",
            Err(_) => {
                "the request may have been executed, and its withdrawal is not answered either: check `status`, or \
                 `stop`"
            }
        };
        match failure {
            Failure::Connection(why) => Failure::Connection(format!("{why}; {what}")),
            Failure::Fault(why) => Failure::Fault(format!("{why}; {what}")),
            Failure::Interrupted(why) => Failure::Interrupted(format!("{why}; {what}")),
            other => other,
        }
    }

    /// Sends requests and prints the answer to each. Requests that cause motion are sent one by one, because each
    /// needs a challenge of its own.
    fn ask(&mut self, asks: &[ClientRequest<'_>]) -> Outcome {
        if asks.iter().any(causes_motion) {
            let mut outcome = Ok(());
            for ask in asks {
                let (line, answer) = self.exchange(*ask)?;
                outcome = outcome.and(self.tell(&line, &answer));
            }
            return outcome;
        }
        let first = self.next_id;
        asks.iter().try_for_each(|ask| self.send(*ask))?;
        let (mut failure, mut missing) = (Ok(()), asks.len());
        while missing > 0 {
            let (line, answer) = self.answer()?;
            let id = answer.get("id").and_then(Value::as_u64);
            let ours = id.is_some_and(|id| (u64::from(first)..u64::from(self.next_id)).contains(&id));
            let outcome = self.tell(&line, &answer);
            // A line without an id is about the connection itself.
            if !ours && id.is_none() {
                return outcome;
            }
            missing -= usize::from(ours);
            failure = failure.and(outcome);
        }
        failure
    }

    /// With `--wait`, watches the run's mode until `over` returns a value for it: `Some(true)` if the mode is the
    /// awaited one, `Some(false)` if it cannot be reached any more. `None` continues to wait. `what` names the awaited
    /// mode in errors.
    fn wait_for(&mut self, what: &str, over: impl Fn(&str) -> Option<bool>) -> Outcome {
        if !self.args.wait {
            return Ok(());
        }
        let watched = self.send(ClientRequest::Watch);
        watched.map_err(|failure| self.give_up(failure))?;
        loop {
            let answered = self.answer().map_err(|failure| match failure {
                Failure::Connection(why) => Failure::Fault(format!("waited for {what}: {why}")),
                other => other,
            });
            let (line, status) = answered.map_err(|failure| self.give_up(failure))?;
            let Some(good) = status.get("mode").and_then(Value::as_str).and_then(&over) else { continue };
            self.tell(&line, &status)?;
            return if good { Ok(()) } else { Err(Failure::Fault(format!("waited for {what}, which did not happen"))) };
        }
    }

    /// Renews freedrive or force mode at the interval `every`, and ends it once the requested time is over. Returns the
    /// failure if a renewal is refused.
    fn renew(&mut self, every: Duration) -> Outcome {
        let end = self.args.seconds.map(|seconds| self.clock.now() + Duration::from_secs(seconds));
        loop {
            let left = end.map_or(every, |end| end.since(self.clock.now()).min(every));
            std::thread::sleep(std_duration(left));
            self.until = Some(self.clock.now() + Duration::from_secs(self.args.timeout));
            if end.is_some_and(|end| self.clock.now() >= end) {
                return self.ask(&[ClientRequest::Stiffen]);
            }
            let (line, answer) = self.exchange(ClientRequest::Renew)?;
            if failure_text::failure(&answer).is_some() {
                let refused = self.tell(&line, &answer);
                return self.end_of_commanding().unwrap_or(refused);
            }
        }
    }

    /// Requests the run's status. Returns the failure with the reason why commanding ended; `None` if it has not ended,
    /// or the reason is unknown.
    fn end_of_commanding(&mut self) -> Option<Outcome> {
        self.send(ClientRequest::Status).ok()?;
        let (_, status) = self.answer().ok()?;
        let why = answer_text::end_of_commanding(&status)?;
        Some(Err(Failure::Fault(format!("{why}; freedrive or force mode has ended"))))
    }

    /// Prints each change of the run's status until the run ends.
    fn watch(&mut self) -> Outcome {
        self.send(ClientRequest::Watch)?;
        self.until = None;
        loop {
            match self.line()? {
                Some(line) => {
                    let answer = parsed(&line)?;
                    self.tell(&line, &answer)?;
                }
                None if self.args.json => return Ok(()),
                None => return self.print("the run has ended\n"),
            }
            if self.unread.get() {
                return Ok(());
            }
        }
    }

    /// Prints an answer of the run or the board: with `--json` every answer, otherwise only one that reports no
    /// failure. Returns the failure that the answer reports.
    fn tell(&self, line: &str, answer: &Value) -> Outcome {
        if self.args.json {
            self.print(line)?;
        }
        if let Some(failure) = failure_text::failure(answer) {
            return Err(failure);
        }
        if self.args.json {
            return Ok(());
        }
        let by = match self.way {
            RequestConnection::Run(_, process) => answer_text::answered_by(answer, process),
            RequestConnection::Board(_) => None,
        };
        self.print(&(answer_text::of(answer) + &by.unwrap_or_default()))
    }

    fn print(&self, text: &str) -> Outcome {
        let mut out = std::io::stdout();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).or_else(|error| {
            self.unread.set(true);
            output_closed(&error)
        })
    }

    fn send(&mut self, ask: ClientRequest<'_>) -> Outcome {
        let challenge = if causes_motion(&ask) { self.challenge()? } else { None };
        let id = self.next_id;
        self.next_id += 1;
        // A request with an epoch is executed once or refused. A release and a query may be repeated.
        self.acted |= !matches!(
            ask,
            ClientRequest::Status | ClientRequest::Watch | ClientRequest::Release | ClientRequest::Cancel
        );
        // A board takes back only what arms the arm.
        if matches!(ask, ClientRequest::Request(_) | ClientRequest::Resume(_))
            || causes_motion(&ask) && matches!(self.way, RequestConnection::Run(..))
        {
            self.withdrawable = Some(id);
        }
        let stream = match &mut self.way {
            RequestConnection::Run(stream, _) => stream.get_mut(),
            RequestConnection::Board(board) => {
                let patience = self.clock.now() + Duration::from_secs(self.args.timeout);
                let asked = board.ask(id, ask, self.until.unwrap_or(patience), &mut self.signals);
                return asked.map_err(|failure| if ask.causes_motion() { self.give_up(failure) } else { failure });
            }
        };
        let line = format!("{}\n", Message { id: Some(id), challenge, ask });
        // Lines that the run sent before it ended are still read.
        if stream.write_all(line.as_bytes()).is_err() {
            let _ = stream.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    /// Returns the time up to which the answer to a request sent now is awaited, by `--timeout`.
    fn patience(&self) -> Instant {
        self.clock.now() + Duration::from_secs(self.args.timeout)
    }

    fn answer(&mut self) -> Result<(String, Value), Failure> {
        let gone = || Failure::Connection("the run ended before it answered".into());
        let line = self.line()?.ok_or_else(gone)?;
        let answer = parsed(&line)?;
        if answer.get("error").is_some_and(|error| failure_text::text(error, "what") == "NoPlace") {
            self.gave_way = true;
            return Err(failure_text::failure(&answer).unwrap_or_else(gone));
        }
        Ok((line, answer))
    }

    /// Returns `true` if the run has closed the connection in favour of another client, and no request was sent that
    /// must not be sent a second time.
    const fn may_be_repeated(&self) -> bool {
        self.gave_way && !self.acted
    }

    /// Returns the next line of the run or the board with its line end; `None` if the run has closed the connection.
    fn line(&mut self) -> Result<Option<String>, Failure> {
        if let Some(line) = self.passed_over.pop_front() {
            return Ok(Some(line));
        }
        loop {
            // If signals are handled, they are checked at intervals.
            let until = self.signals.as_ref().map(|_| self.clock.now() + LOOK);
            let until = until.map_or(self.until, |look| Some(self.until.map_or(look, |until| until.min(look))));
            match self.hear(until)? {
                LineResult::Line(line) => return Ok(Some(line)),
                LineResult::Gone => return Ok(None),
                LineResult::Nothing => {}
            }
            if let Some(who) = self.signals.as_mut().and_then(Signals::heard) {
                return Err(interrupted(who));
            }
            if self.until.is_some_and(|until| self.clock.now() >= until) {
                return Err(Failure::Connection(format!("the run does not answer within {} s", self.args.timeout)));
            }
        }
    }

    /// Returns the next line of the run or the board, if one arrives before `until`.
    fn hear(&mut self, until: Option<Instant>) -> Result<LineResult, Failure> {
        let failed = |error: std::io::Error| Failure::Connection(format!("cannot read the run's answer: {error}"));
        let patience = until.map(|until| until.since(self.clock.now()));
        if patience.is_some_and(|left| left == Duration::ZERO) {
            return Ok(LineResult::Nothing);
        }
        let stream = match &mut self.way {
            RequestConnection::Run(stream, _) => stream,
            RequestConnection::Board(board) => {
                let line = board.line(until, &mut self.signals)?;
                return Ok(line.map_or(LineResult::Nothing, LineResult::Line));
            }
        };
        stream.get_ref().set_read_timeout(patience.map(std_duration)).map_err(failed)?;
        let room = LONGEST_ANSWER.saturating_sub(self.begun.len());
        match stream.take(room as u64).read_line(&mut self.begun) {
            Ok(_) if self.begun.len() >= LONGEST_ANSWER && !self.begun.ends_with('\n') => {
                Err(Failure::Connection(format!("the run answers with a line of more than {LONGEST_ANSWER} bytes")))
            }
            Ok(0) => Ok(LineResult::Gone),
            Ok(_) => Ok(LineResult::Line(std::mem::take(&mut self.begun))),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(LineResult::Nothing),
                ErrorKind::ConnectionReset => Ok(LineResult::Gone),
                _ => Err(failed(error)),
            },
        }
    }
}

/// Returns the number with the name `key` in a JSON answer; `None` if there is none.
fn number(of: &Value, key: &str) -> Option<u32> {
    of.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}

/// Returns the failure for a wait that was ended by the process signal with the name `who`.
fn interrupted(who: &'static str) -> Failure {
    let by = ReleasedBy::of_signal(who);
    let text = format!("{by}: stopped waiting for the answer");
    if by.is_interrupt() { Failure::Interrupted(text) } else { Failure::Fault(text) }
}

fn parsed(line: &str) -> Result<Value, Failure> {
    serde_json::from_str(line).map_err(|_| odd(&Value::String(line.into())))
}

/// Returns the failure for an answer of the run that this program does not understand, probably because their versions
/// differ.
fn odd(answer: &Value) -> Failure {
    Failure::Connection(format!("the run sent an unknown answer: {answer}; is it of the same version?"))
}

#[cfg(all(test, unix))]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        ask: CtlArgs,
    }

    /// Executes `outrigger ctl` with the arguments `words`, connected to a simulated run that sends `answers` and
    /// nothing more. Returns the outcome, `true` if the requests may be sent again, and the lines that were sent to the
    /// run.
    fn spoken(words: &[&str], answers: &str) -> (Outcome, bool, Vec<Value>) {
        let args = Words::parse_from([&["ask", "127.0.0.1"], words].concat()).ask;
        let (client, mut run) = Client::pair().expect("a pair");
        run.write_all(answers.as_bytes()).expect("room");
        run.shutdown(Shutdown::Write).expect("it is there");
        let (clock, way) = (Clock::start(), RequestConnection::Run(BufReader::new(client), (None, 0)));
        let mut talk = Conversation::by(&args, clock, way, clock.now() + Duration::from_secs(60));
        let outcome = talk.say(&args.wanted().expect("words that fit"));
        let again = talk.may_be_repeated();
        drop(talk);
        let lines: Result<Vec<_>, _> = BufReader::new(run).lines().collect();
        let sent = lines.expect("text").iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        (outcome, again, sent)
    }

    /// Executes `outrigger ctl` with the arguments `words`, connected to a simulated run that sends `answers`. Returns
    /// the outcome, and `true` if the requests may be sent again.
    fn said(words: &[&str], answers: &str) -> (Outcome, bool) {
        let (outcome, again, _) = spoken(words, answers);
        (outcome, again)
    }

    #[test]
    fn what_may_be_done_twice_is_said_again_where_the_run_has_no_place() {
        let no_place = "{\"id\":null,\"ok\":false,\"error\":{\"what\":\"NoPlace\",\"text\":\"t\"}}\n";
        for words in [&["status"][..], &["release"], &["request"], &["move", "--to", "q=0"]] {
            let (outcome, again) = said(words, no_place);
            let failure = outcome.expect_err("it is not done");
            assert!(again && failure.code() == 3, "{words:?}: {failure}");
        }
        let status = "{\"id\":1,\"ok\":true,\"epoch\":3,\"mode\":\"monitor\",\"do\":\"status\",\"challenge\":9}\n";
        let (outcome, again) = said(&["request"], &(status.to_owned() + no_place));
        assert!(outcome.is_err() && !again, "the request itself may have been granted");
        let (outcome, again) = said(&["release"], "");
        assert!(outcome.is_err() && !again, "there is no run");
    }

    /// Executes `outrigger ctl` with the arguments `words`, connected to a simulated run that sends `answers`. Returns
    /// the outcome, and the lines that were sent to the run.
    fn sent(words: &[&str], answers: &str) -> (Outcome, Vec<Value>) {
        let (outcome, _, sent) = spoken(words, answers);
        (outcome, sent)
    }

    #[test]
    fn who_asks_for_motion_takes_a_challenge_first_and_withdraws_by_id_when_it_gives_up() {
        let status = "{\"id\":1,\"ok\":true,\"epoch\":3,\"mode\":\"monitor\",\"do\":\"status\",\"challenge\":77}\n";
        for word in ["request", "resume"] {
            let (outcome, lines) = sent(&[word], status);
            let words: Vec<_> = lines.iter().map(|line| failure_text::text(line, "do")).collect();
            assert_eq!(words, ["status", word, "withdraw"]);
            assert_eq!((number(&lines[1], "challenge"), number(&lines[1], "epoch")), (Some(77), Some(3)));
            assert_eq!((number(&lines[2], "what"), number(&lines[1], "id")), (Some(2), Some(2)));
            let failure = outcome.expect_err("no answer");
            assert!(failure.to_string().contains("its withdrawal is not answered either"), "{failure}");
            // It gives up while it waits for the arm to be commanded.
            let granted = format!("{{\"id\":2,\"ok\":true,\"epoch\":3,\"mode\":\"arming\",\"do\":\"{word}\"}}\n");
            let (outcome, lines) = sent(&[word, "--wait"], &(status.to_owned() + &granted));
            let words: Vec<_> = lines.iter().map(|line| failure_text::text(line, "do")).collect();
            assert_eq!(words, ["status", word, "watch", "withdraw"], "{outcome:?}");
        }
        // The same holds with an epoch that was seen before.
        let (_, lines) = sent(&["request", "--epoch", "2"], status);
        assert_eq!((number(&lines[1], "challenge"), number(&lines[1], "epoch")), (Some(77), Some(2)));
        // A request that stops the arm needs no challenge, and is not withdrawn.
        let (_, lines) = sent(&["release"], "");
        assert_eq!(lines.iter().map(|line| failure_text::text(line, "do")).collect::<Vec<_>>(), ["release"]);
    }

    #[test]
    fn what_came_late_is_asked_once_more_with_the_challenge_of_the_refusal() {
        let status = "{\"id\":1,\"ok\":true,\"epoch\":3,\"mode\":\"monitor\",\"do\":\"status\",\"challenge\":77}\n";
        let late = |id: u32, challenge: u32| {
            let error = "\"error\":{\"what\":\"NotFresh\",\"text\":\"t\"}";
            format!(
                "{{\"id\":{id},\"ok\":false,\"epoch\":3,\"mode\":\"monitor\",\"do\":\"request\",\"challenge\":{challenge},{error}}}\n"
            )
        };
        let (outcome, lines) = sent(&["request"], &(status.to_owned() + &late(2, 78) + &late(3, 79)));
        let asked: Vec<_> =
            lines.iter().map(|line| (failure_text::text(line, "do"), number(line, "challenge"))).collect();
        assert_eq!(asked[..2], [("status", None), ("request", Some(77))]);
        // It is not repeated if this machine was suspended for too long meanwhile.
        assert!(asked[2..].iter().all(|again| *again == ("request", Some(78))) && asked.len() <= 3, "{asked:?}");
        assert_eq!(outcome.expect_err("it is refused").code(), 4);
    }

    #[test]
    fn an_answer_without_an_end_is_read_no_further_than_its_limit() {
        let (client, mut run) = Client::pair().expect("a pair");
        // The writing thread ends when the reader is dropped.
        let babble = std::thread::spawn(move || while run.write_all(&[b'y'; 4096]).is_ok() {});
        let args = Words::parse_from(["ask", "127.0.0.1", "status"]).ask;
        let (clock, way) = (Clock::start(), RequestConnection::Run(BufReader::new(client), (None, 0)));
        let mut talk = Conversation::by(&args, clock, way, clock.now() + Duration::from_secs(600));
        let failure = talk.say(&Wanted::Plain(AskCommand::Status)).expect_err("no answer");
        assert!(failure.to_string().contains("a line of more than 1048576 bytes"), "{failure}");
        drop(talk);
        babble.join().expect("no panic");
    }
}
