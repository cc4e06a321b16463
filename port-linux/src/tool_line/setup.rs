//! Sets the parameters of the tool's serial line once, and connects to the line.

use std::net::SocketAddr;

use outrigger_core::client::Output;
use outrigger_core::client::tool_line::{Setup, SetupConfig, SetupInput, ToolCommunication};
use tokio::net::TcpStream;

use super::relay::{OPENING, connect, drop_received};
use super::setup_report;
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::host::target::Target;
use crate::net::cannot_connect;
use crate::script::{Carried, ready};

/// The size of the receive buffer for the controller's messages \[B\]: a first robot state, pop-ups and variables.
/// Longer messages are skipped.
const MEMORY: usize = 64 * 1024;

/// Sets the parameters of the tool's serial line, and connects to the URCap that serves it at `relay`. Returns the
/// connection, and a description of what was done. The connection is opened before the parameters are sent, so that
/// nothing is sent to a robot without such a URCap.
///
/// # Errors
/// [`Failure::Connection`] if the robot cannot be reached, has no such line, does not relay it or does not accept
/// the parameters.
pub(super) async fn set_up(
    robot: &Target,
    line: &ToolCommunication,
    relay: SocketAddr,
) -> Result<(TcpStream, String), Failure> {
    let at = robot.socket(Setup::PORT);
    let clock = Clock::start();
    let mut memory = vec![0; MEMORY];
    // The connection to the URCap is made while the engine waits for the new settings already.
    let usual = SetupConfig::default();
    let config = SetupConfig { verdict: usual.verdict + OPENING, ..usual };
    let mut engine = Setup::new(config, *line, &mut memory).map_err(|error| Failure::BadInput(error.to_string()))?;
    let mut connecting = Box::pin(TcpStream::connect(at));
    let (mut stream, mut trouble): (Option<TcpStream>, Option<String>) = (None, None);
    let (mut unsent, mut relayed) = (vec![], None);
    engine.handle(clock.now(), SetupInput::Start);
    loop {
        while let Some(output) = engine.poll_output() {
            if let Output::Transmit(bytes) = output {
                unsent.extend_from_slice(bytes);
            }
        }
        while engine.poll_event().is_some() {}
        if !unsent.is_empty() && relayed.is_none() {
            relayed = Some(connect(relay).await?);
        }
        if let Some(outcome) = engine.outcome() {
            let said = engine.said().map(|text| text.as_str().to_owned());
            let done = setup_report::outcome(&outcome, line, at, trouble.or(said))?;
            let relayed = match relayed {
                Some(relayed) => relayed,
                None => connect(relay).await?,
            };
            drop_received(&relayed);
            return Ok((relayed, done));
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
