//! Connections to the services that power a controller of Universal Robots: its dashboard server, and the Robot API
//! of PolyScope X.

pub mod connection;
mod pendant_lock_thread;
pub mod reply_text;
mod stored_role;
pub mod transport;

use outrigger_config::RobotAddress;
use outrigger_wire::dashboard::PORT;

pub(crate) use self::pendant_lock_thread::{LockedPendant, next_news};
use self::transport::Trouble;
use crate::exit::Failure;

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Connection(trouble.0)
    }
}

/// Returns the port of the controller's Robot API: that of its web pages, or B + 16 if the address `robot` has a port
/// base B, as simulated controllers have.
pub fn robot_api_port(robot: &RobotAddress) -> u16 {
    if robot.port(PORT) == PORT { outrigger_wire::robot_api::PORT } else { robot.port(PORT + 16) }
}
