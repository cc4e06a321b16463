//! The command `outrigger dashboard`: controls power, brakes, stops and programs of a robot, and shows what it
//! reports about them.

mod args;
mod conversation;

use std::net::SocketAddr;

use outrigger::dashboard::connection::{Connection, LINE_MEMORY};
use outrigger::dashboard::robot_api_port;
use outrigger::exit::{Failure, Outcome};
use outrigger::host::clock::Clock;
use outrigger::host::target::Target;
use outrigger_core::client::dashboard::{Client, Timeouts};
use outrigger_core::client::robot_api;
use outrigger_wire::dashboard::PORT;

pub(crate) use self::args::{Command, DashboardArgs};
use self::conversation::Conversation;

/// Runs `outrigger dashboard`.
///
/// # Errors
/// [`Failure::Usage`] for requests that this software does not support, [`Failure::Connection`] if there is no
/// answer, [`Failure::Fault`] if the controller refuses or a goal is not reached.
pub(crate) fn run(args: &DashboardArgs) -> Outcome {
    let clock = Clock::start();
    let target = Target::resolve(&args.robot)?;
    outrigger::host::runtime::one_threaded()?.block_on(async {
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
            (Err(neither), _) => Err(Failure::Connection(format!("{nobody}. No Robot API either: {neither}"))),
            (Ok(()), None) => Err(Failure::Connection(nobody.to_string())),
        }
    })
}
