//! A separate connection to port 30004 for the recorder, beside the session: it receives every variable that the
//! controller has, or named ones.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use outrigger_core::client::Output;
use outrigger_core::client::rtde::{Client, ClientConfig, ClientMemory, Event, Input};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::registry::{Direction, Variable, exists};
use outrigger_wire::rtde::{self, DynamicRecipe, Field};
use outrigger_wire::time::Instant;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

use crate::feed::{Feed, Tap, VARIABLES, name_of};
use crate::host::clock::Clock;
use crate::net::cannot_connect;
use crate::vendor::Wanted;

/// The controller's port for RTDE (Real-Time Data Exchange).
pub(super) const PORT: u16 = 30_004;
/// The variable that every RTDE request for outputs contains.
const TIMESTAMP: &str = "timestamp";
/// The longest time for a connection, and for writing a request to the socket.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);
/// The times between attempts to connect to RTDE: the first, and the longest.
const BACK_OFF: (std::time::Duration, std::time::Duration) =
    (std::time::Duration::from_secs(1), std::time::Duration::from_secs(30));

impl Wanted {
    /// Returns the number of the stream in a feed that receives the recorder's RTDE data.
    const fn port(&self) -> u16 {
        match self {
            Self::Everything => PORT,
            Self::Variables(_) => VARIABLES,
        }
    }
}

/// The parameters of the recorder's RTDE connection: its address, the data to receive and the receivers of it.
pub(super) struct Following {
    /// The address of the controller's RTDE port 30004.
    pub(super) at: SocketAddr,
    pub(super) wanted: Wanted,
    pub(super) clock: Clock,
    pub(super) feed: Feed,
    /// The software version of the controller, as soon as the session knows it.
    pub(super) software: watch::Receiver<Option<SoftwareVersion>>,
    /// The sender of messages for people about the RTDE connection.
    pub(super) remarks: mpsc::UnboundedSender<String>,
}

/// Keeps a connection to RTDE (port 30004) open for as long as this is polled, and puts the received data into the
/// feed. Without RTDE in the software of the controller, none is opened.
pub(super) async fn follow(mut following: Following) -> Infallible {
    let (shortest, longest) = BACK_OFF;
    let (mut wait, mut last) = (shortest, String::new());
    let name = name_of(following.wanted.port());
    loop {
        let known = following.software.wait_for(Option::is_some).await.map(|known| *known);
        let Ok(Some(software)) = known else { return std::future::pending().await };
        if !exists(software) {
            if let Wanted::Variables(_) = following.wanted {
                let _ = following
                    .remarks
                    .send(format!("software {software} has no RTDE: no further variables are recorded"));
            }
            if following.software.changed().await.is_err() {
                return std::future::pending().await;
            }
            continue;
        }
        let (flowed, why) = converse(&following, software).await;
        if flowed {
            wait = shortest;
        }
        // A failure that repeats at every attempt is reported once.
        if flowed || why != last {
            let _ = following.remarks.send(format!("{name}: {why}; retrying in {} s", wait.as_secs()));
            last = why;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(longest);
    }
}

/// Opens a connection to RTDE and receives data until the connection ends. Returns `true` if the controller had started
/// to send data, and the reason for the end.
async fn converse(following: &Following, software: SoftwareVersion) -> (bool, String) {
    let Following { at, wanted, clock, feed, remarks, .. } = following;
    let name = name_of(wanted.port());
    let connected = match tokio::time::timeout(PATIENCE, TcpStream::connect(at)).await {
        Ok(connected) => connected,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    let mut stream = match connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
        Ok(stream) => stream,
        Err(error) => return (false, cannot_connect(*at, &error)),
    };
    let optional = match wanted {
        Wanted::Everything => everything(software),
        Wanted::Variables(names) => names.join(","),
    };
    let mut fields = vec![Field::EMPTY; 1 + optional.split(',').count()];
    let (mut receive, mut transmit) = (vec![0; 2 * rtde::MAX_SIZE], vec![0; rtde::MAX_NAMES + 64]);
    let memory = ClientMemory { receive: &mut receive, transmit: &mut transmit };
    let recipe = DynamicRecipe::with_optional(TIMESTAMP, &optional, Direction::Output, &mut fields);
    let mut client = match recipe.map_err(|error| error.to_string()).and_then(|recipe| {
        Client::new(ClientConfig::default(), recipe, &mut [], memory).map_err(|error| error.to_string())
    }) {
        Ok(client) => client,
        Err(error) => return (false, error),
    };
    let mut tap = Tap::new(feed.clone());
    tap.opened(clock.now(), wanted.port());
    client.handle(clock.now(), Input::Opened);
    let (mut flowed, mut absent) = (false, vec![]);
    let why = loop {
        let mut failed = None;
        while let Some(event) = client.poll_event() {
            match event {
                Event::Absent(error) => absent.push(error.name.to_owned()),
                Event::Started => {
                    flowed = true;
                    let _ = remarks.send(format!("{name}: {}", flows(wanted, &absent)));
                }
                Event::Failed(failure) => failed = Some(failure.to_string()),
                _ => {}
            }
        }
        if let Some(failure) = failed {
            break failure;
        }
        if let Err(error) = write(&mut stream, &mut client, &mut tap, *clock).await {
            break error.to_string();
        }
        let deadline = client.poll_timeout();
        tokio::select! {
            readable = stream.readable() => {
                let read = readable.and_then(|()| stream.try_read(client.receive_window()));
                let now = clock.now();
                match read {
                    Ok(0) => break "the controller closed the connection".to_owned(),
                    Ok(count) => {
                        tap.received(now, client.receive_window().get(..count).unwrap_or_default());
                        client.commit(count, now, now);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => break error.to_string(),
                }
            }
            () = until(*clock, deadline) => client.handle(clock.now(), Input::Tick),
        }
    };
    tap.closed(clock.now());
    (flowed, why)
}

/// Describes the RTDE variables that are received, and those that the controller's software does not have.
fn flows(wanted: &Wanted, absent: &[String]) -> String {
    let Wanted::Variables(names) = wanted else {
        return format!("data received; {} variables are not in this software", absent.len());
    };
    let present: Vec<_> = names.iter().filter(|name| !absent.contains(name)).map(String::as_str).collect();
    let recorded = if present.is_empty() { "the timestamp alone".to_owned() } else { present.join(", ") };
    if absent.is_empty() {
        return format!("data received; recorded: {recorded}");
    }
    format!("data received; not in this controller's software: {}; recorded: {recorded}", absent.join(", "))
}

async fn write(stream: &mut TcpStream, client: &mut Client<'_, '_>, tap: &mut Tap, clock: Clock) -> io::Result<()> {
    while let Some(output) = client.poll_output() {
        let Output::Transmit(bytes) = output else { continue };
        tokio::time::timeout(PATIENCE, stream.write_all(bytes)).await??;
        tap.sent(clock.now(), bytes);
    }
    Ok(())
}

async fn until(clock: Clock, deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
        None => std::future::pending().await,
    }
}

/// Returns the names of every variable that this software may have, joined by commas: first all that are not
/// registers, then as many registers, from the lowest, as fit into one request.
fn everything(software: SoftwareVersion) -> String {
    let mut variables: Vec<Variable> = Variable::all(Direction::Output)
        .filter(|variable| variable.since().reached(software) != Some(false) && variable.to_string() != TIMESTAMP)
        .collect();
    variables.sort_by_key(|variable| variable.register().map_or(0, |number| 1 + u16::from(number)));
    let mut names = String::new();
    for variable in variables {
        let name = variable.to_string();
        if TIMESTAMP.len() + 1 + names.len() + 1 + name.len() > rtde::MAX_NAMES {
            break;
        }
        if !names.is_empty() {
            names.push(',');
        }
        names.push_str(&name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_every_variable_and_as_many_registers_as_fit() {
        let names = everything(SoftwareVersion::new(5, 15));
        let has = |name: &str| names.split(',').any(|n| n == name);
        assert!(names.len() + TIMESTAMP.len() < rtde::MAX_NAMES, "{}", names.len());
        for variable in Variable::all(Direction::Output).filter(|variable| variable.register().is_none()) {
            let wanted = variable.since().reached(SoftwareVersion::new(5, 15)) != Some(false);
            let name = variable.to_string();
            assert_eq!(has(&name), wanted && name != TIMESTAMP, "{name}");
        }
        assert!(has("output_double_register_0") && has("output_int_register_0"), "{names}");
    }
}
