//! `outrigger script`: a program file to the controller, and what became of it.
//!
//! What the controller's messages mean is the core's to say ([`outrigger_core::client::script`]); here bytes are moved.

mod words;

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use outrigger_core::client::Output;
use outrigger_core::client::script::{ScriptFile, Upload, UploadConfig, UploadInput, UploadOutcome};
use outrigger_core::time::Duration;
use tokio::net::TcpStream;

use self::words::Words;
use crate::args::ScriptArgs;
use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::net::cannot_connect;
use crate::signals::{Leaves, Signals};
use crate::target::Target;

/// A first robot state, pop-ups, variables; longer messages are skipped.
const MEMORY: usize = 64 * 1024;

/// Runs the command.
///
/// # Errors
/// [`Failure::BadInput`] for a file that is no program, [`Failure::Connection`] where the controller cannot be reached
/// or takes no programs, [`Failure::Fault`] where the program failed or was replaced.
pub(crate) fn run(args: &ScriptArgs) -> Outcome {
    let bytes = read(&args.file)?;
    let shown = args.file.display().to_string();
    let file = ScriptFile::new(&bytes).map_err(|error| Failure::BadInput(format!("{shown}: {error}")))?;
    file.warnings(|warning| eprintln!("{shown}:{}: warning: {}", warning.line, warning.kind.text()));
    let target = Target::resolve(&args.robot)?;
    let at = target.socket(Upload::PORT);
    let mut config = UploadConfig { wait: args.wait, ..UploadConfig::default() };
    if let Some(seconds) = args.timeout {
        config.verdict = Duration::from_secs(seconds);
    }
    let mut words = Words::new(args.json, shown, at, file);
    let outcome = crate::runtime()?.block_on(upload(config, file, at, &mut words))?;
    words.outcome(outcome)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") {
        io::read_to_string(io::stdin()).map(String::into_bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", path.display())))
}

/// Moves bytes between the engine and one connection until the outcome is known.
async fn upload(
    config: UploadConfig,
    file: ScriptFile<'_>,
    at: SocketAddr,
    words: &mut Words<'_>,
) -> Result<UploadOutcome, Failure> {
    let clock = Clock::start();
    let mut memory = vec![0; MEMORY];
    let mut engine = Upload::new(config, file, &mut memory).map_err(|error| Failure::BadInput(error.to_string()))?;
    let mut signals = Signals::listen(Leaves::Nothing)?;
    let mut connecting = Box::pin(TcpStream::connect(at));
    let mut stream: Option<TcpStream> = None;
    let (mut unsent, mut sent) = (Vec::new(), false);
    engine.handle(clock.now(), UploadInput::Start);
    loop {
        loop {
            let event = engine.poll_event();
            let told = event.is_some();
            event.iter().for_each(|event| words.event(event));
            match engine.poll_output() {
                Some(Output::Transmit(bytes)) => {
                    unsent.extend_from_slice(bytes);
                    sent = true;
                }
                Some(Output::Open { .. } | Output::Close) => {}
                None if told => {}
                None => break,
            }
        }
        words.broken_pipe()?;
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
            by = signals.next() => return Err(interrupted(by, sent)),
            result = &mut connecting, if stream.is_none() => match result.and_then(|s| s.set_nodelay(true).map(|()| s)) {
                Ok(connected) => {
                    stream = Some(connected);
                    UploadInput::Opened
                }
                Err(error) => {
                    words.trouble(cannot_connect(at, &error));
                    UploadInput::Refused
                }
            },
            ready = ready(stream.as_ref(), !unsent.is_empty()) => match ready {
                Ready::ToRead(stream) => match stream.try_read(engine.receive_window()) {
                    Ok(0) => UploadInput::Closed,
                    Ok(count) => {
                        engine.commit(count, clock.now());
                        continue;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => UploadInput::Tick,
                    Err(_) => UploadInput::Closed,
                },
                Ready::ToWrite(stream) => match stream.try_write(&unsent) {
                    Ok(count) => {
                        unsent.drain(..count);
                        UploadInput::Tick
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => UploadInput::Tick,
                    Err(_) => UploadInput::Closed,
                },
            },
            () = deadline => UploadInput::Tick,
        };
        engine.handle(clock.now(), input);
    }
}

fn interrupted(by: &str, sent: bool) -> Failure {
    let what = if sent { "no longer watched; that stops no program on the controller" } else { "nothing was sent" };
    Failure::Fault(format!("{by}: {what}"))
}

enum Ready<'s> {
    ToRead(&'s TcpStream),
    ToWrite(&'s TcpStream),
}

/// What `stream` can do next, where there is one.
async fn ready(stream: Option<&TcpStream>, writing: bool) -> Ready<'_> {
    let Some(stream) = stream else { return std::future::pending().await };
    tokio::select! {
        _ = stream.readable() => Ready::ToRead(stream),
        _ = stream.writable(), if writing => Ready::ToWrite(stream),
    }
}
