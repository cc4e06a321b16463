//! Connects to the service of a controller that accepts dashboard requests: its dashboard server, or the Robot API of
//! PolyScope X.

use std::net::SocketAddr;

use outrigger_core::client::dashboard::{Client, Timeouts};
use outrigger_core::client::robot_api;
use outrigger_wire::dashboard::{Reply, Request};
use outrigger_wire::primary::Text;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

use outrigger::dashboard::connection::{Connection, LINE_MEMORY};
use outrigger::dashboard::transport::{Transport, Trouble, software};
use outrigger::host::clock::Clock;

/// The timeouts of each step of a conversation with a dashboard server or Robot API. The caller limits the time of the
/// whole conversation.
const TIMEOUTS: Timeouts = Timeouts {
    opening: Duration::from_secs(3),
    greeting: Duration::from_secs(2),
    ordinary: Duration::from_secs(5),
    power: Duration::from_secs(10),
    program: Duration::from_secs(20),
    report: Duration::from_secs(900),
};

/// The addresses of a controller's dashboard server and Robot API, and the process's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceAddresses {
    pub(super) dashboard: SocketAddr,
    pub(super) robot_api: SocketAddr,
    pub(super) clock: Clock,
}

/// The buffers of a connection to a dashboard server or Robot API.
#[derive(Debug, Default)]
pub(super) struct Memory {
    line: Vec<u8>,
    window: Vec<u8>,
    host: String,
}

/// A connected service of a controller: its dashboard server or its Robot API.
#[derive(Debug)]
pub(super) enum Reached<'m> {
    Server(Box<Connection<Client<'m>>>),
    RobotApi(Box<Connection<robot_api::Client<'m>>>),
}

impl ServiceAddresses {
    /// Connects to the dashboard server or else the Robot API, and returns the connection with the controller's
    /// software version. For PolyScope X it is the oldest version with such an API.
    ///
    /// # Errors
    /// [`Trouble`] if neither service answers, or if the dashboard server does not report its software.
    pub(super) async fn reach<'m>(&self, memory: &'m mut Memory) -> Result<(Reached<'m>, SoftwareVersion), Trouble> {
        let Memory { line, window, host } = memory;
        line.resize(LINE_MEMORY, 0);
        let mut server = Connection::new(self.dashboard, self.clock, Client::new(line, TIMEOUTS));
        let nobody = match server.connect().await {
            Ok(()) => {
                let software = software(&mut server).await?;
                return Ok((Reached::Server(Box::new(server)), software));
            }
            Err(trouble) => trouble,
        };
        window.resize(LINE_MEMORY, 0);
        *host = self.robot_api.to_string();
        let client = robot_api::Client::new(window, host, TIMEOUTS);
        let mut api = Connection::new(self.robot_api, self.clock, client).over_http();
        let connected = api.connect().await;
        match (connected, api.service().software()) {
            (Ok(()), Some(software)) => Ok((Reached::RobotApi(Box::new(api)), software)),
            (Err(neither), _) => Err(Trouble(format!("{nobody}. No Robot API either: {neither}"))),
            (Ok(()), None) => Err(nobody),
        }
    }
}

impl Transport for Reached<'_> {
    fn ask(&mut self, request: Request<'_>) {
        match self {
            Self::Server(connection) => connection.ask(request),
            Self::RobotApi(connection) => connection.ask(request),
        }
    }

    async fn answer_with_line<R>(&mut self, read: impl FnOnce(&Reply<'_>, Text<'_>) -> R) -> Result<R, Trouble> {
        match self {
            Self::Server(connection) => connection.answer_with_line(read).await,
            Self::RobotApi(connection) => connection.answer_with_line(read).await,
        }
    }
}
