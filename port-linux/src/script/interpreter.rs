//! Sends statements to a program in interpreter mode: the program over port 30001, its statements over 30020.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::net::SocketAddr;

use outrigger_core::client::Output;
use outrigger_core::client::interpreter::{
    Client, InterpreterConfig, InterpreterEvent, InterpreterInput, InterpreterOutcome, PROGRAM, StatementFile,
};
use outrigger_core::client::script::{ScriptFile, UploadConfig, UploadEvent, UploadOutcome};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::upload::{Carried, UploadListener, ready, upload};
use crate::exit::{Failure, Outcome};
use crate::host::clock::Clock;
use crate::net::cannot_connect;

/// The size of the receive buffer for one reply of interpreter mode \[B\]: the text before a statement, and the
/// statement, which the controller repeats.
const MEMORY: usize = StatementFile::LONGEST + 1024;
/// A program that stops the arm, if the program in interpreter mode does not end. It replaces that program.
const STOP: &[u8] = b"stopj(2.0)\n";

/// The addresses of the two ports of a controller that interpreter mode needs.
#[derive(Clone, Copy, Debug)]
pub struct InterpreterPorts {
    /// The address of the controller's primary interface, port 30001.
    pub program: SocketAddr,
    /// The address of the controller's interpreter mode, port 30020.
    pub statements: SocketAddr,
}

/// An observer of a program in interpreter mode, and of its statements.
pub trait InterpreterObserver {
    /// Receives an event of the connection over which statements are sent.
    fn statements(&mut self, event: &InterpreterEvent);

    /// Receives an event of the connection over which the program is sent.
    fn program(&mut self, event: &UploadEvent<'_>);

    /// Receives the operating system's error of one of the two connections.
    fn trouble(&mut self, trouble: String);

    /// Decides whether the execution continues. Called often.
    ///
    /// # Errors
    /// Returns the result with which the execution ends instead.
    fn goes_on(&mut self) -> Outcome {
        Ok(())
    }
}

/// The result of a program in interpreter mode, and of its statements.
#[derive(Clone, Copy, Debug)]
pub struct Interpreted {
    /// The result of executing the statements in interpreter mode.
    pub statements: InterpreterOutcome,
    /// The result of the program in interpreter mode. `None` if it was not sent, or did not end; in the latter case
    /// another program has replaced it and stopped the arm.
    pub program: Option<UploadOutcome>,
    /// The name of the signal that cancelled the execution. `None` if it was not cancelled.
    pub by: Option<&'static str>,
}

/// The notifications between the tasks of the program's connection and of the statements' connection.
#[derive(Default)]
struct Between {
    /// The signal that the connection to port 30020 is established, so that the program can be sent.
    send: Notify,
    /// The signal that the program in interpreter mode runs.
    runs: Notify,
    /// The signal that the program in interpreter mode has ended.
    over: Notify,
}

/// Starts interpreter mode, sends the statements of `file` and follows them to their end. `interrupted` may return
/// the name of a signal: then the motion is aborted, and all waiting statements are cleared.
///
/// # Errors
/// Returns the errors of `observer`, and [`Failure::BadInput`] for a configuration that is not valid.
pub async fn interpret(
    config: InterpreterConfig,
    uploads: UploadConfig,
    file: StatementFile<'_>,
    at: InterpreterPorts,
    observer: &mut impl InterpreterObserver,
    interrupted: impl AsyncFnMut() -> &'static str,
) -> Result<Interpreted, Failure> {
    let between = Between::default();
    let sent = Cell::new(false);
    let observer = RefCell::new(observer);
    let mut watcher = ConnectionObserver { observer: &observer, runs: Some(&between.runs), sent: Some(&sent) };
    let mut program = None;
    let followed = {
        let mut uploading = Box::pin(async {
            between.send.notified().await;
            let config = UploadConfig { wait: true, ..uploads };
            upload(config, script(PROGRAM.as_bytes())?, at.program, &mut watcher, async || pending().await).await
        });
        let mut followed = Box::pin(follow(config, file, at.statements, &observer, &between, interrupted));
        loop {
            tokio::select! {
                ended = &mut uploading, if program.is_none() => {
                    program = Some(ended);
                    between.over.notify_one();
                }
                followed = &mut followed => break followed,
            }
        }
    };
    let mut program = program.transpose();
    if sent.get() && !matches!(program, Ok(Some(ref ended)) if is_over(ended)) {
        // A program that accepts statements, or still executes one, is always stopped, whatever else has failed.
        let mut watcher = ConnectionObserver { observer: &observer, runs: None, sent: None };
        let stopped = upload(uploads, script(STOP)?, at.program, &mut watcher, async || pending().await).await?;
        let stands =
            is_over(&stopped) || matches!(stopped, UploadOutcome::Started(_) | UploadOutcome::NoResultExpected);
        if let (Ok(None), false) = (&program, stands) {
            program = Ok(Some(stopped));
        }
    }
    let (statements, by) = followed?;
    Ok(Interpreted { statements, program: program?, by })
}

/// Returns `true` if the result of an upload shows that the uploaded program has ended.
const fn is_over(program: &UploadOutcome) -> bool {
    matches!(program, UploadOutcome::Ended(_) | UploadOutcome::Failed { .. } | UploadOutcome::Replaced)
}

fn script(text: &[u8]) -> Result<ScriptFile<'_>, Failure> {
    ScriptFile::new(text).map_err(|error| Failure::BadInput(error.to_string()))
}

/// The observer of the connection over which a program is sent: the one in interpreter mode, or the one that stops the
/// arm in its place.
struct ConnectionObserver<'a, 'o, O> {
    observer: &'a RefCell<&'o mut O>,
    runs: Option<&'a Notify>,
    sent: Option<&'a Cell<bool>>,
}

impl<O: InterpreterObserver> UploadListener for ConnectionObserver<'_, '_, O> {
    fn event(&mut self, event: &UploadEvent<'_>) {
        if let (UploadEvent::Started(_), Some(runs)) = (event, self.runs) {
            runs.notify_one();
        }
        if self.runs.is_some() || matches!(event, UploadEvent::Message(_)) {
            self.observer.borrow_mut().program(event);
        }
    }

    fn trouble(&mut self, trouble: String) {
        self.observer.borrow_mut().trouble(trouble);
    }

    fn may_send(&mut self) -> Outcome {
        self.sent.iter().for_each(|sent| sent.set(true));
        Ok(())
    }
}

/// Sends the statements and follows them. Returns their result, and the name of a signal that interrupted them.
async fn follow<O: InterpreterObserver>(
    config: InterpreterConfig,
    file: StatementFile<'_>,
    at: SocketAddr,
    observer: &RefCell<&mut O>,
    between: &Between,
    mut interrupted: impl AsyncFnMut() -> &'static str,
) -> Result<(InterpreterOutcome, Option<&'static str>), Failure> {
    let clock = Clock::start();
    let mut memory = vec![0; MEMORY];
    let mut client = Client::new(config, file, &mut memory);
    let mut connecting = Box::pin(TcpStream::connect(at));
    let mut stream: Option<TcpStream> = None;
    let (mut unsent, mut by, mut failure) = (Vec::new(), None, None);
    client.handle(clock.now(), InterpreterInput::Start);
    loop {
        loop {
            let event = client.poll_event();
            if let Some(event) = &event {
                if *event == InterpreterEvent::Connected {
                    between.send.notify_one();
                }
                observer.borrow_mut().statements(event);
            }
            match client.poll_output() {
                Some(Output::Transmit(bytes)) => unsent.extend_from_slice(bytes),
                Some(Output::Open { .. } | Output::Close) => {}
                None if event.is_some() => {}
                None => break,
            }
        }
        if let Some(outcome) = client.outcome() {
            return failure.map_or(Ok((outcome, by)), Err);
        }
        let goes_on = observer.borrow_mut().goes_on();
        if let (Err(error), None) = (goes_on, &failure) {
            failure = Some(error);
            client.handle(clock.now(), InterpreterInput::Cancel);
            continue;
        }
        let deadline = async {
            match client.poll_timeout() {
                Some(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
                None => pending().await,
            }
        };
        let input = tokio::select! {
            who = interrupted(), if by.is_none() => {
                by = Some(who);
                InterpreterInput::Cancel
            }
            () = between.over.notified() => InterpreterInput::ProgramEnded,
            () = between.runs.notified() => InterpreterInput::ProgramRuns,
            result = &mut connecting, if stream.is_none() => match result.and_then(|s| s.set_nodelay(true).map(|()| s)) {
                Ok(connected) => {
                    stream = Some(connected);
                    InterpreterInput::Opened
                }
                Err(error) => {
                    observer.borrow_mut().trouble(cannot_connect(at, &error));
                    InterpreterInput::Refused
                }
            },
            ready = ready(stream.as_ref(), !unsent.is_empty()) => match ready.carry(client.receive_window(), &mut unsent) {
                Carried::Received(count) => {
                    client.commit(count, clock.now());
                    continue;
                }
                Carried::Nothing => InterpreterInput::Tick,
                Carried::Closed => InterpreterInput::Closed,
            },
            () = deadline => InterpreterInput::Tick,
        };
        client.handle(clock.now(), input);
    }
}
