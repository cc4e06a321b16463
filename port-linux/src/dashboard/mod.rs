//! `outrigger dashboard`: power, brakes, stops and programs of a robot, and what it tells of them.

pub(crate) mod answer;
mod args;
pub(crate) mod connection;
mod conversation;
mod kept;
mod lock;
pub(crate) mod transport;

pub(crate) use args::{Command, DashboardArgs};
pub(crate) use lock::{LockedPendant, next_news};

use std::net::SocketAddr;

use outrigger_config::RobotAddress;
use outrigger_core::client::dashboard::{Client, Timeouts};
use outrigger_core::client::robot_api;
use outrigger_wire::dashboard::PORT;

use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::target::Target;
use connection::{Connection, LINE_MEMORY};
use conversation::Conversation;
use transport::Trouble;

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Connection(trouble.0)
    }
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] for what this software does not know, [`Failure::Connection`] where nobody answers,
/// [`Failure::Fault`] where the controller refuses or a goal is not reached.
pub(crate) fn run(args: &DashboardArgs) -> Outcome {
    let clock = Clock::start();
    let target = Target::resolve(&args.robot)?;
    crate::runtime::one_threaded()?.block_on(async {
        let timeouts = Timeouts::default();
        let mut memory = vec![0; LINE_MEMORY];
        let mut dashboard = Connection::new(target.socket(PORT), clock, Client::new(&mut memory, timeouts));
        let nobody = match dashboard.connect().await {
            Ok(()) => return Conversation::begin(dashboard, clock, args).await?.command().await,
            Err(trouble) => trouble,
        };
        // PolyScope X has no dashboard server.
        let port = args.robot_api_port.unwrap_or_else(|| robot_api_port(&args.robot));
        let at = SocketAddr::new(target.ip, port);
        let (host, mut window) = (at.to_string(), vec![0; LINE_MEMORY]);
        let mut api = Connection::new(at, clock, robot_api::Client::new(&mut window, &host, timeouts)).over_http();
        let connected = api.connect().await;
        match (connected, api.service().software()) {
            (Ok(()), Some(software)) => Conversation::with(api, software, clock, args).command().await,
            (Err(neither), _) => Err(Failure::Connection(format!("{nobody}. Nor a Robot API: {neither}"))),
            (Ok(()), None) => Err(Failure::Connection(nobody.to_string())),
        }
    })
}

/// Where a controller serves its Robot API: as any web page; with a port base B at B + 16.
pub(crate) fn robot_api_port(robot: &RobotAddress) -> u16 {
    if robot.port(PORT) == PORT { outrigger_wire::robot_api::PORT } else { robot.port(PORT + 16) }
}
