//! One process per robot: an advisory lock that names its holder.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener, UnixStream};

use rustix::net::sockopt::socket_peercred;

use crate::exit::Failure;

/// The right to command one robot from this machine.
///
/// It is a name in the kernel's abstract socket namespace: nothing is left on disk, whoever may run, and the
/// kernel gives it back when the process ends in whatever way.
#[derive(Debug)]
pub(crate) struct RobotLock {
    _name: UnixListener,
}

impl RobotLock {
    /// Takes the lock of the robot whose real-time port is `realtime`.
    ///
    /// # Errors
    /// [`Failure::Connection`] naming the process that holds it; [`Failure::BadInput`] where the kernel refuses
    /// for another reason.
    pub(crate) fn take(realtime: SocketAddr) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::BadInput(format!("cannot take the lock of {realtime}: {error}"));
        let name = UnixAddr::from_abstract_name(format!("outrigger/{realtime}")).map_err(failed)?;
        match UnixListener::bind_addr(&name) {
            Ok(listener) => Ok(Self { _name: listener }),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let holder = holder_of(&name).unwrap_or_else(|| "another process".into());
                Err(Failure::Connection(format!(
                    "the robot at {realtime} is already commanded from this machine by {holder}; stop that first"
                )))
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// The process behind a name, by the credentials the kernel keeps for it.
fn holder_of(name: &UnixAddr) -> Option<String> {
    let stream = UnixStream::connect_addr(name).ok()?;
    let pid = socket_peercred(&stream).ok()?.pid.as_raw_nonzero();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(format!("process {pid} ({})", command.trim_end()))
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
