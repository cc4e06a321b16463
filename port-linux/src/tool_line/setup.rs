//! One set-up over one connection.

use outrigger_core::client::Output;
use outrigger_core::client::tool_line::{Setup, SetupConfig, SetupInput, ToolCommunication};
use tokio::net::TcpStream;

use super::words;
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::host::target::Target;
use crate::net::cannot_connect;
use crate::script::{Carried, ready};

/// A first robot state, pop-ups, variables; longer messages are skipped.
const MEMORY: usize = 64 * 1024;

/// Sets the line up; returns what was done, in words.
///
/// # Errors
/// [`Failure::Connection`] where the robot cannot be reached, has no such line or does not take the settings.
pub(super) async fn set_up(robot: &Target, line: &ToolCommunication) -> Result<String, Failure> {
    let at = robot.socket(Setup::PORT);
    let clock = Clock::start();
    let mut memory = vec![0; MEMORY];
    let mut engine =
        Setup::new(SetupConfig::default(), *line, &mut memory).map_err(|error| Failure::BadInput(error.to_string()))?;
    let mut connecting = Box::pin(TcpStream::connect(at));
    let (mut stream, mut trouble): (Option<TcpStream>, Option<String>) = (None, None);
    let mut unsent = vec![];
    engine.handle(clock.now(), SetupInput::Start);
    loop {
        while let Some(output) = engine.poll_output() {
            if let Output::Transmit(bytes) = output {
                unsent.extend_from_slice(bytes);
            }
        }
        while engine.poll_event().is_some() {}
        if let Some(outcome) = engine.outcome() {
            let said = engine.said().map(|text| text.as_str().to_owned());
            return words::outcome(&outcome, line, at, trouble.or(said));
        }
        let deadline = async {
            match engine.poll_timeout() {
                Some(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
                None => std::future::pending().await,
            }
        };
        let input = tokio::select! {
            result = &mut connecting, if stream.is_none() => match result.and_then(|s| s.set_nodelay(true).map(|()| s)) {
                Ok(connected) => {
                    stream = Some(connected);
                    SetupInput::Opened
                }
                Err(error) => {
                    trouble = Some(cannot_connect(at, &error));
                    SetupInput::Refused
                }
            },
            ready = ready(stream.as_ref(), !unsent.is_empty()) => match ready.carry(engine.receive_window(), &mut unsent) {
                Carried::Received(count) => {
                    engine.commit(count, clock.now());
                    continue;
                }
                Carried::Nothing => SetupInput::Tick,
                Carried::Closed => SetupInput::Closed,
            },
            () = deadline => SetupInput::Tick,
        };
        engine.handle(clock.now(), input);
    }
}
