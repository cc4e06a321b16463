//! Whichever service a controller has for requests: its dashboard server, or the Robot API of PolyScope X.

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

/// For each step of a conversation. What the whole of it may take is the caller's to say.
const TIMEOUTS: Timeouts = Timeouts {
    opening: Duration::from_secs(3),
    greeting: Duration::from_secs(2),
    ordinary: Duration::from_secs(5),
    power: Duration::from_secs(10),
    program: Duration::from_secs(20),
    report: Duration::from_secs(900),
};

/// Where a controller has its services.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) dashboard: SocketAddr,
    pub(super) robot_api: SocketAddr,
    pub(super) clock: Clock,
}

/// What a connection keeps its bytes in.
#[derive(Debug, Default)]
pub(super) struct Memory {
    line: Vec<u8>,
    window: Vec<u8>,
    host: String,
}

/// A service that answers.
#[derive(Debug)]
pub(super) enum Reached<'m> {
    Server(Box<Connection<Client<'m>>>),
    RobotApi(Box<Connection<robot_api::Client<'m>>>),
}

impl Place {
    /// Connects to whichever is there, and asks for the software: of PolyScope X the oldest with such an API.
    ///
    /// # Errors
    /// [`Trouble`] where neither answers, or the first one does not tell its software.
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
            (Err(neither), _) => Err(Trouble(format!("{nobody}. Nor a Robot API: {neither}"))),
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
