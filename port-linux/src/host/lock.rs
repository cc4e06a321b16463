//! One process per robot: an advisory lock that names its holder.

use std::net::SocketAddr;

use crate::exit::Failure;
use crate::host::os::Name;

/// The right to command one robot from this machine. It ends with the process, in whatever way that ends.
#[derive(Debug)]
pub(crate) struct RobotLock {
    _name: Name,
}

impl RobotLock {
    /// Takes the lock of the robot whose real-time port is `realtime`.
    ///
    /// # Errors
    /// [`Failure::Connection`] naming the process that holds it; [`Failure::BadInput`] where the kernel refuses
    /// for another reason, and where no arm is commanded from this system.
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
        // A documentation address: no robot of anybody's.
        let robot = SocketAddr::from(([192, 0, 2, 77], 30_003));
        let first = RobotLock::take(robot).expect("nobody else commands a documentation address");
        let Err(refusal) = RobotLock::take(robot) else { panic!("two holders") };
        assert!(refusal.to_string().contains(&format!("process {}", std::process::id())), "{refusal}");
        drop(first);
        RobotLock::take(robot).expect("free again");
    }
}
