//! Ensures that one process at a time commands a robot: an advisory lock that names its holder.

use std::net::SocketAddr;

use crate::exit::Failure;
use crate::host::os::Name;

/// The exclusive right to command one robot from this machine. It ends with the process, however the process ends.
#[derive(Debug)]
pub(crate) struct RobotLock {
    _name: Name,
}

impl RobotLock {
    /// Takes the lock of the robot that the address `realtime` identifies: its real-time port, or, for a KRC, the local
    /// address that receives its measurements.
    ///
    /// # Errors
    /// Returns [`Failure::Connection`] with the process that holds the lock; [`Failure::BadInput`] if the operating
    /// system refuses for another reason, or if this system cannot command an arm.
    pub(crate) fn take(realtime: SocketAddr) -> Result<Self, Failure> {
        let failed = |error| Failure::BadInput(format!("cannot take the lock of {realtime}: {error}"));
        match Name::take(&format!("outrigger/{realtime}")).map_err(failed)? {
            Ok(name) => Ok(Self { _name: name }),
            Err(holder) => {
                let holder = holder.unwrap_or_else(|| "another process".into());
                Err(Failure::Connection(format!(
                    "the robot at {realtime} is already commanded from this machine by {holder}; stop that first"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_refused_and_told_who_the_first_is() {
        // An address for documentation: no real robot has it.
        let robot = SocketAddr::from(([192, 0, 2, 77], 30_003));
        let first = RobotLock::take(robot).expect("nobody else commands a documentation address");
        let Err(refusal) = RobotLock::take(robot) else { panic!("two holders") };
        assert!(refusal.to_string().contains(&format!("process {}", std::process::id())), "{refusal}");
        drop(first);
        RobotLock::take(robot).expect("free again");
    }
}
