//! The tool's serial line of a Universal Robots arm as a local TCP port or pseudo-terminal.
//!
//! [`outrigger_core::client::tool_line`] sets the line up and reads it back; bytes are moved here. UR's URCap relays the line to one
//! client at a time, and so does this: `core/docs/protocol/ur-client-interfaces.md 10`.

mod local;
#[cfg(unix)]
mod pty;
mod relay;
mod setup;
#[cfg(test)]
mod tests;
mod words;

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

/// The distance of the line's port from a port base: its own would leave no room for most bases.
const WITH_BASE: u16 = 17;

/// The local end of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A pseudo-terminal with this name.
    Pty(PathBuf),
}

/// The next thing to do at the local end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// A client has connected.
    Came(SocketAddr),
    /// A client beside the one that is there was closed.
    Refused(SocketAddr),
    /// The client has sent something, or is gone.
    Readable,
    /// The client takes something.
    Writable,
    /// The client has taken nothing for a while, and will not.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no pseudo-terminals"))]
    Unread,
    /// No client after all: it has passed by.
    Nothing,
}

/// The line as it is to be, and where its ends are.
#[derive(Clone, Debug)]
pub struct Forwarding {
    /// The robot.
    pub robot: Target,
    /// The settings of the line.
    pub line: ToolCommunication,
    /// The local end.
    pub place: Place,
    /// Time between two attempts to reach the robot again. 1 s is usual.
    pub retry: Duration,
}

/// Returns where a controller serves the line: at its own port, with a port base B at B + 17.
#[must_use]
pub fn tool_line_port(robot: &RobotAddress) -> u16 {
    let first = outrigger_config::FIRST_PORT;
    if robot.port(first) == first { PORT } else { robot.port(first + WITH_BASE) }
}

/// Sets the line up, makes the local end and relays bytes until somebody interrupts it, by a name. A robot that is lost is connected to
/// again, and the line is set up again; what local clients write meanwhile is dropped.
///
/// # Errors
/// [`Failure::Usage`] for settings that do not exist, [`Failure::BadInput`] for a local end that cannot be made, and
/// [`Failure::Connection`] where the robot cannot be reached, has no such line, does not take the settings or has no URCap that relays it.
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
            tell(&format!("Client {who} disconnected: the robot is gone"));
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

/// Connects to the line and sets it up.
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
