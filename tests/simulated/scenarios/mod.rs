//! Whole runs in virtual time: co-controller, network, controller and arm, on every generation of software.

mod acceptance;
mod axes;
mod checkpoints;
mod driving;
mod faults;
mod faults_rtde;
mod forward;
mod guided;
mod histories;
mod host;
mod imposters;
mod motion_histories;
pub(crate) mod motions;
mod nothing_by_itself;
mod operator;
mod outputs;
mod pendant;
pub(crate) mod played;
mod player;
mod player_histories;
mod player_legs;
mod player_resumed;
mod player_tool;
mod registers;
mod reverse;
mod robot;
mod scaling;
mod streamed;
mod torques;

use std::time::Duration;

use outrigger_wire::robot::SoftwareVersion;

/// The tested versions of CB2, CB3 and e-Series, on either side of each change in the execution of text.
const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
];

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}
