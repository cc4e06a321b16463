//! Provides the serial line at the tool of a Universal Robots arm as a local TCP port or pseudo-terminal.
//!
//! [`outrigger_core::client::tool_line`] sets the line's parameters and reads them back; this module moves the
//! bytes. UR's URCap relays the line to one client at a time, and this module does so, too:
//! `core/docs/protocol/ur-client-interfaces.md 10`.

mod local;
#[cfg(unix)]
mod pty;
mod relay;
mod setup;
mod setup_report;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;

use outrigger_config::RobotAddress;
use outrigger_core::client::tool_line::{PORT, Setup, ToolCommunication};
use outrigger_wire::time::Duration;

use self::local::Local;
use self::relay::{Ended, relay};
use self::setup::set_up;
use crate::exit::{Failure, Outcome};
use crate::host::clock::std_duration;
use crate::host::target::Target;

/// The distance from a port base to the port of the tool's serial line. The distance between the usual ports of a
/// controller, 29999 and 54321, would be too large for most bases.
const WITH_BASE: u16 = 17;

/// The kind and place of the local end of the tool's serial line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalEnd {
    /// A TCP port at this local address, which clients connect to.
    Tcp(SocketAddr),
    /// A pseudo-terminal at the local end, with a symbolic link of this name.
    Pty(PathBuf),
}

/// An event at the local end of the tool's serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// A client at this address has connected to the local end.
    Came(SocketAddr),
    /// A client at this address was rejected, because another client is connected.
    Refused(SocketAddr),
    /// The client at the local end has sent bytes, or has disconnected.
    Readable,
    /// The connection of the client at the local end has room for bytes.
    Writable,
    /// The reader of the pseudo-terminal has accepted no bytes for 1 s, so bytes for it are discarded.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no pseudo-terminals"))]
    Unread,
    /// No event for the relay: a connection was closed before it was accepted.
    Nothing,
}

/// The settings for forwarding the tool's serial line: robot, line parameters and local end.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The address of the robot with the tool.
    pub robot: Target,
    /// The parameters of the serial line: rate, parity, stop bits and tool voltage.
    pub line: ToolCommunication,
    /// The local end at which clients use the tool's serial line.
    pub place: LocalEnd,
    /// The time between two attempts to reach the robot again. 1 s is usual.
    pub retry: Duration,
}

/// Returns the port at which a controller's URCap serves the tool's serial line: its usual port, or B + 17 with a
/// port base B.
#[must_use]
pub fn tool_line_port(robot: &RobotAddress) -> u16 {
    let first = outrigger_config::FIRST_PORT;
    if robot.port(first) == first { PORT } else { robot.port(first + WITH_BASE) }
}

/// Opens the local end, sets the parameters of the tool's serial line and relays bytes until `interrupted` returns the
/// name of an interruption. If the connection to the robot is lost, connects again and sets the parameters again; bytes
/// that local clients write meanwhile are discarded.
///
/// # Errors
/// [`Failure::Usage`] for line parameters that do not exist, [`Failure::BadInput`] if the local end cannot be
/// opened, and [`Failure::Connection`] if the robot cannot be reached, has no such line, does not accept the
/// parameters or has no URCap that relays the line.
pub async fn forward(
    forwarding: &Forwarding,
    tell: &mut impl FnMut(&str),
    mut interrupted: impl AsyncFnMut() -> &'static str,
) -> Outcome {
    let Forwarding { robot, line, place, retry } = forwarding;
    Setup::check(line).map_err(|error| Failure::Usage(error.to_string()))?;
    let mut local = Local::make(place).await?;
    let at = SocketAddr::new(robot.ip, tool_line_port(&robot.address));
    let mut said = vec![];
    let mut keep = |text: &str| said.push(text.to_owned());
    let reached = tokio::select! {
        by = interrupted() => return end(by, tell),
        reached = reach(robot, line, at, &mut keep) => reached,
        failed = local.refuse_all(tell) => return Err(failed),
    };
    said.iter().for_each(|text| tell(text));
    let mut stream = reached?;
    tell(&local.ready());
    loop {
        let why = match relay(&stream, &mut local, tell, &mut interrupted).await? {
            Ended::Interrupted(by) => return end(by, tell),
            Ended::Lost(why) => why,
        };
        if let Some(who) = local.hang_up() {
            tell(&format!("Client {who} disconnected: no connection to the robot"));
        }
        tell(&format!("Lost the tool line at {at}: {why}; connecting again"));
        let mut last = String::new();
        stream = loop {
            let again = async {
                tokio::time::sleep(std_duration(*retry)).await;
                let mut said = vec![];
                reach(robot, line, at, &mut |text: &str| said.push(text.to_owned())).await.map(|stream| (stream, said))
            };
            let reached = tokio::select! {
                by = interrupted() => return end(by, tell),
                reached = again => reached,
                failed = local.refuse_all(tell) => return Err(failed),
            };
            match reached {
                Ok((stream, said)) => {
                    said.iter().for_each(|text| tell(text));
                    break stream;
                }
                Err(error) if error.to_string() == last => {}
                Err(error) => {
                    last = error.to_string();
                    tell(&format!("Not yet: {last}"));
                }
            }
        };
    }
}

/// Sets the parameters of the line, and connects to the URCap that relays it. Reports both steps to `tell`.
async fn reach(
    robot: &Target,
    line: &ToolCommunication,
    at: SocketAddr,
    tell: &mut impl FnMut(&str),
) -> Result<tokio::net::TcpStream, Failure> {
    let (stream, done) = set_up(robot, line, at).await?;
    tell(&done);
    tell(&format!("Connected to the tool line at {at}"));
    Ok(stream)
}

fn end(by: &str, tell: &mut impl FnMut(&str)) -> Outcome {
    tell(&format!("{by}: the tool line is no longer forwarded; its settings stay as they are"));
    Ok(())
}
