//! The few kernel calls for which the crates in use have no function. The only `unsafe` of this package.

#![expect(unsafe_code, reason = "raw kernel calls: each is one call with arguments owned by the caller")]

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::ioctl::{Getter, ioctl};

/// `SIOCOUTQ` of `linux/sockios.h`, the same number as `TIOCOUTQ`.
const SIOCOUTQ: rustix::ioctl::Opcode = libc::TIOCOUTQ as rustix::ioctl::Opcode;

/// How the kernel schedules a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// The time-sharing scheduler.
    Other,
    /// `SCHED_FIFO` with this priority, 1 … 99.
    Fifo(u8),
    /// Another policy, by its number.
    Policy(i32),
}

/// Puts the calling thread under `SCHED_FIFO` with `priority`.
///
/// # Errors
/// `EPERM` without the right to it, `EINVAL` for a priority outside 1 … 99.
pub fn set_fifo(priority: u8) -> io::Result<()> {
    set_scheduling(libc::SCHED_FIFO, priority)
}

/// Puts the calling thread under the time-sharing scheduler.
///
/// # Errors
/// `EPERM` where the kernel does not let it out of its present class.
pub(crate) fn set_other() -> io::Result<()> {
    set_scheduling(libc::SCHED_OTHER, 0)
}

/// Puts the calling thread under `SCHED_BATCH`, which needs no right.
#[cfg(test)]
pub(crate) fn set_batch() -> io::Result<()> {
    set_scheduling(libc::SCHED_BATCH, 0)
}

fn set_scheduling(policy: libc::c_int, priority: u8) -> io::Result<()> {
    // SAFETY: an all-zero `sched_param` is valid: it is a plain C struct of integers.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = i32::from(priority);
    // SAFETY: `param` outlives the call; 0 names the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const param) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// How the calling thread is scheduled.
///
/// # Errors
/// Those of the kernel.
pub(crate) fn scheduling() -> io::Result<Scheduling> {
    // SAFETY: an all-zero `sched_param` is valid: it is a plain C struct of integers.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: 0 names the calling thread; `param` is writable and outlives the call.
    let (policy, result) = unsafe { (libc::sched_getscheduler(0), libc::sched_getparam(0, &raw mut param)) };
    if policy < 0 || result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(match policy {
        libc::SCHED_OTHER => Scheduling::Other,
        libc::SCHED_FIFO => Scheduling::Fifo(u8::try_from(param.sched_priority).unwrap_or(0)),
        other => Scheduling::Policy(other),
    })
}

/// Bytes written to a TCP socket that the peer has not acknowledged, or to a serial device that have not left.
///
/// # Errors
/// Those of the kernel; `EINVAL` where the socket is not connected.
pub(crate) fn unacknowledged(socket: impl AsFd) -> io::Result<usize> {
    // SAFETY: `SIOCOUTQ` writes one `int`, as the getter declares.
    let bytes: libc::c_int = unsafe { ioctl(socket.as_fd(), Getter::<SIOCOUTQ, libc::c_int>::new()) }?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Waits until one of `descriptors` is ready, or for so long; without end where no time is given. How many are ready.
///
/// # Errors
/// `EINTR` where a signal came first.
pub(crate) fn poll(descriptors: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the slice and the time outlive the call; a number that is no descriptor's is told as such.
    let ready =
        unsafe { libc::ppoll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, timeout, std::ptr::null()) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_the_peer_has_acknowledged_is_no_longer_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback listener");
        let mut near = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        let (mut far, _) = listener.accept().expect("the other end");
        near.write_all(b"ping").expect("room for four bytes");
        far.read_exact(&mut [0; 4]).expect("the four bytes");
        // On loopback the acknowledgement is delivered within the write.
        assert_eq!(unacknowledged(&near).expect("a connected socket"), 0);
    }

    #[test]
    fn the_policy_in_force_can_be_read() {
        assert!(matches!(
            scheduling().expect("a policy"),
            Scheduling::Other | Scheduling::Fifo(_) | Scheduling::Policy(_)
        ));
    }
}
