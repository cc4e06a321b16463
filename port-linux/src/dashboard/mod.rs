//! `outrigger dashboard`: power, brakes, stops and programs of a robot, and what it tells of them.

mod answer;
mod args;
mod conversation;
mod tcp;
mod transport;

pub use args::{Command, DashboardArgs, Mode};
pub use tcp::{LINE_MEMORY, TcpDashboard};
pub use transport::{Ended, Transport, Trouble, run as run_sequence};

use outrigger_core::session::dashboard::Timeouts;
use outrigger_core::wire::dashboard::PORT;

use crate::clock::Clock;
use crate::exit::{Failure, Outcome};
use crate::panel::Target;
use conversation::Conversation;

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
pub fn run(args: &DashboardArgs) -> Outcome {
    let clock = Clock::start();
    let target = Target::resolve(&args.robot)?;
    crate::runtime()?.block_on(async {
        let mut memory = vec![0; LINE_MEMORY];
        let mut dashboard = TcpDashboard::new(target.socket(PORT), clock, Timeouts::default(), &mut memory);
        dashboard.connect().await?;
        Conversation::begin(dashboard, clock, args).await?.command().await
    })
}
