//! Relays bytes in both directions between the robot's end of the tool's serial line and the local end.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use outrigger_wire::time::Duration;
use tokio::net::TcpStream;

use super::Turn;
use super::local::{Local, watch};
use crate::exit::Failure;
use crate::host::clock::std_duration;
use crate::net::cannot_connect;
use crate::script::{Carried, ready};

/// The size of each read \[B\]. Bytes that one end has not accepted yet are kept, and no more are read for that end
/// meanwhile.
const ROOM: usize = 4096;
/// The longest time to wait for the connection to the robot's end of the tool line.
pub(super) const OPENING: Duration = Duration::from_secs(3);

/// A reason why the relay of the tool's serial line has ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The user has interrupted the relay, e.g. by the signal with this name.
    Interrupted(&'static str),
    /// The connection to the robot's end is lost, for this reason.
    Lost(String),
}

/// Connects to the robot's end of the tool's serial line.
///
/// # Errors
/// Returns [`Failure::Connection`] with advice if there is no connection within 3 s.
pub(super) async fn connect(at: SocketAddr) -> Result<TcpStream, Failure> {
    let connecting = tokio::time::timeout(std_duration(OPENING), TcpStream::connect(at)).await;
    let connected = connecting.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()));
    let connected = connected.and_then(|stream| {
        stream.set_nodelay(true)?;
        watch(&stream)?;
        Ok(stream)
    });
    connected.map_err(|error| {
        Failure::Connection(match error.kind() {
            ErrorKind::ConnectionRefused => format!(
                "nothing listens at {at}: expected UR's URCap \"Tool Communication Forwarder\" (on PolyScope 5: rs485), which relays the \
                 tool line. Install it, and on PolyScope X switch forwarding on in its screen; see port-linux/docs/tool-line.md"
            ),
            ErrorKind::TimedOut => format!(
                "no answer from {at}, where UR's URCap \"Tool Communication Forwarder\" would listen: on PolyScope 5 the security \
                 settings can block the port (Settings, Security, General, Inbound connections)"
            ),
            _ => cannot_connect(at, &error),
        })
    })
}

/// Discards the bytes that the tool has sent so far. They were sent before a client could request them, or with
/// other settings of the line.
pub(super) fn drop_received(stream: &TcpStream) {
    let mut room = [0; ROOM];
    // A connection that was closed, or has failed, is noticed by the relay.
    while matches!(stream.try_read(&mut room), Ok(1..)) {}
}

/// Relays bytes until the connection to the robot's end is lost, or until `interrupted` returns the name of an
/// interruption.
///
/// # Errors
/// Returns [`Failure::BadInput`] if the local end fails.
pub(super) async fn relay(
    robot: &TcpStream,
    local: &mut Local,
    tell: &mut impl FnMut(&str),
    mut interrupted: impl AsyncFnMut() -> &'static str,
) -> Result<Ended, Failure> {
    let (mut to_robot, mut to_client): (Vec<u8>, Vec<u8>) = (vec![], vec![]);
    let mut room = [0; ROOM];
    loop {
        let turn = tokio::select! {
            by = interrupted() => return Ok(Ended::Interrupted(by)),
            turn = local.turn(to_robot.is_empty(), !to_client.is_empty()) => Some(turn?),
            // What the client has not taken keeps the rest in the robot's socket.
            ready = ready(Some(robot), !to_robot.is_empty()), if to_client.is_empty() => {
                match ready.carry(&mut room, &mut to_robot) {
                    Carried::Received(count) if local.has_client() => to_client.extend_from_slice(&room[..count]),
                    Carried::Received(_) | Carried::Nothing => {}
                    Carried::Closed => return Ok(Ended::Lost("the connection was closed".into())),
                }
                None
            }
            () = writable(robot), if !to_client.is_empty() && !to_robot.is_empty() => {
                match robot.try_write(&to_robot) {
                    Ok(count) => drop(to_robot.drain(..count)),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Ok(Ended::Lost(error.to_string())),
                }
                None
            }
        };
        match turn {
            None | Some(Turn::Nothing) => {}
            Some(Turn::Came(who)) => tell(&format!("Client {who} connected")),
            Some(Turn::Refused(who)) => {
                tell(&format!("Refused {who}: another client is connected, and the line is for one at a time"));
            }
            Some(Turn::Readable) => match local.read(&mut room) {
                Ok(0) => gone(local, &mut to_client, tell),
                Ok(count) => to_robot.extend_from_slice(&room[..count]),
                Err(error) if is_nothing(&error) => {}
                Err(_) => gone(local, &mut to_client, tell),
            },
            Some(Turn::Writable) => match local.write(&to_client) {
                Ok(count) => drop(to_client.drain(..count)),
                Err(error) if is_nothing(&error) => {}
                Err(_) => gone(local, &mut to_client, tell),
            },
            Some(Turn::Unread) => {
                to_client.clear();
                // What has come meanwhile is as old. The end of the robot's connection shows again in the next read.
                while robot.try_read(&mut room).is_ok_and(|count| count > 0) {}
                tell("No program reads the pseudo-terminal: data from the tool is dropped");
            }
        }
    }
}

/// Closes the connection of a client that has disconnected, and discards the bytes that were to be sent to it. Bytes
/// that the client has sent are still passed on to the tool.
fn gone(local: &mut Local, to_client: &mut Vec<u8>, tell: &mut impl FnMut(&str)) {
    to_client.clear();
    if let Some(who) = local.hang_up() {
        tell(&format!("Client {who} disconnected"));
    }
}

async fn writable(stream: &TcpStream) {
    // An error of the socket shows in the write.
    let _ = stream.writable().await;
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
