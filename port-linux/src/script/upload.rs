//! Uploads one program to a controller over one connection.

use std::io;
use std::net::SocketAddr;

use outrigger_core::client::Output;
use outrigger_core::client::script::{ScriptFile, Upload, UploadConfig, UploadEvent, UploadInput, UploadOutcome};
use tokio::net::TcpStream;

use crate::exit::{Failure, Outcome};
use crate::host::clock::Clock;
use crate::net::cannot_connect;

/// The size of the receive buffer for the controller's messages during an upload \[B\]: a first robot state, pop-ups
/// and variables. Longer messages are skipped.
const MEMORY: usize = 64 * 1024;

/// An observer of a program's upload, which may also end it.
pub trait UploadListener {
    /// Receives an event of the program's upload.
    fn event(&mut self, event: &UploadEvent<'_>);

    /// Receives the operating system's error of the upload's connection.
    fn trouble(&mut self, trouble: String);

    /// Decides whether the program may be sent. Called once, before any of it is sent.
    ///
    /// # Errors
    /// Returns the reason why it must not be sent.
    fn may_send(&mut self) -> Outcome {
        Ok(())
    }

    /// Decides whether the upload continues. Called often.
    ///
    /// # Errors
    /// Returns the result with which the upload ends instead.
    fn goes_on(&mut self) -> Outcome {
        Ok(())
    }
}

/// Transfers bytes between the engine of an upload and one connection until the result is known. `interrupted` may
/// return the name of a signal, which ends the upload.
///
/// # Errors
/// Returns [`Failure::BadInput`] for a configuration that is not valid, [`Failure::Fault`] if it was interrupted, and
/// the errors of `hears`.
pub async fn upload(
    config: UploadConfig,
    file: ScriptFile<'_>,
    at: SocketAddr,
    hears: &mut impl UploadListener,
    mut interrupted: impl AsyncFnMut() -> &'static str,
) -> Result<UploadOutcome, Failure> {
    let clock = Clock::start();
    let mut memory = vec![0; MEMORY];
    let mut engine = Upload::new(config, file, &mut memory).map_err(|error| Failure::BadInput(error.to_string()))?;
    let mut connecting = Box::pin(TcpStream::connect(at));
    let mut stream: Option<TcpStream> = None;
    let (mut unsent, mut sent) = (Vec::new(), false);
    engine.handle(clock.now(), UploadInput::Start);
    loop {
        loop {
            let event = engine.poll_event();
            let told = event.is_some();
            event.iter().for_each(|event| hears.event(event));
            match engine.poll_output() {
                Some(Output::Transmit(bytes)) => {
                    if !sent {
                        hears.may_send()?;
                    }
                    unsent.extend_from_slice(bytes);
                    sent = true;
                }
                Some(Output::Open { .. } | Output::Close) => {}
                None if told => {}
                None => break,
            }
        }
        hears.goes_on()?;
        if let Some(outcome) = engine.outcome() {
            return Ok(outcome);
        }
        let deadline = async {
            match engine.poll_timeout() {
                Some(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
                None => std::future::pending().await,
            }
        };
        let input = tokio::select! {
            by = interrupted() => return Err(was_interrupted(by, sent)),
            result = &mut connecting, if stream.is_none() => match result.and_then(|s| s.set_nodelay(true).map(|()| s)) {
                Ok(connected) => {
                    stream = Some(connected);
                    UploadInput::Opened
                }
                Err(error) => {
                    hears.trouble(cannot_connect(at, &error));
                    UploadInput::Refused
                }
            },
            ready = ready(stream.as_ref(), !unsent.is_empty()) => match ready.carry(engine.receive_window(), &mut unsent) {
                Carried::Received(count) => {
                    engine.commit(count, clock.now());
                    continue;
                }
                Carried::Nothing => UploadInput::Tick,
                Carried::Closed => UploadInput::Closed,
            },
            () = deadline => UploadInput::Tick,
        };
        engine.handle(clock.now(), input);
    }
}

fn was_interrupted(by: &str, sent: bool) -> Failure {
    let what =
        if sent { "no longer watched; this does not stop the program on the controller" } else { "nothing was sent" };
    Failure::Fault(format!("{by}: {what}"))
}

/// The readiness of a connection's socket: it can receive or send.
#[derive(Clone, Copy)]
pub(crate) enum Ready<'s> {
    ToRead(&'s TcpStream),
    ToWrite(&'s TcpStream),
}

/// The result of one read or write of a socket that was [`Ready`].
pub(crate) enum Carried {
    /// The number of bytes that the socket has received.
    Received(usize),
    /// No bytes were received from the socket. Some may have been sent.
    Nothing,
    /// The connection was closed by the controller, or has failed.
    Closed,
}

impl Ready<'_> {
    /// Receives bytes into `window` if the socket can receive, otherwise sends as much of `unsent` as possible.
    pub(crate) fn carry(self, window: &mut [u8], unsent: &mut Vec<u8>) -> Carried {
        let done = match self {
            Self::ToRead(stream) => stream.try_read(window),
            Self::ToWrite(stream) => stream.try_write(unsent).inspect(|count| drop(unsent.drain(..*count))),
        };
        match (self, done) {
            (Self::ToRead(_), Ok(0)) => Carried::Closed,
            (Self::ToRead(_), Ok(count)) => Carried::Received(count),
            (Self::ToWrite(_), Ok(_)) => Carried::Nothing,
            (_, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => Carried::Nothing,
            (_, Err(_)) => Carried::Closed,
        }
    }
}

/// Waits until `stream` can receive, or send if `writing` is `true`, and returns which. Never returns without a
/// stream.
pub(crate) async fn ready(stream: Option<&TcpStream>, writing: bool) -> Ready<'_> {
    let Some(stream) = stream else { return std::future::pending().await };
    tokio::select! {
        _ = stream.readable() => Ready::ToRead(stream),
        _ = stream.writable(), if writing => Ready::ToWrite(stream),
    }
}
