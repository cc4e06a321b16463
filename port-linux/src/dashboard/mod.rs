//! Connections to what powers a controller of Universal Robots: its dashboard server, and the Robot API of PolyScope X.

pub mod answer;
pub mod connection;
mod kept;
mod lock;
pub mod transport;

use outrigger_config::RobotAddress;
use outrigger_wire::dashboard::PORT;

pub(crate) use self::lock::{LockedPendant, next_news};
use self::transport::Trouble;
use crate::exit::Failure;

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Connection(trouble.0)
    }
}

/// Where a controller serves its Robot API: as any web page; with a port base B at B + 16.
pub fn robot_api_port(robot: &RobotAddress) -> u16 {
    if robot.port(PORT) == PORT { outrigger_wire::robot_api::PORT } else { robot.port(PORT + 16) }
}
