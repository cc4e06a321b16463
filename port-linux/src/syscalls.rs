//! The few kernel calls for which the crates in use have no function. The only `unsafe` of this package.

#![expect(unsafe_code, reason = "raw kernel calls: each is one call with arguments owned by the caller")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rustix::ioctl::{Getter, ioctl};
use tokio::io::unix::AsyncFd;

/// `SIOCOUTQ` of `linux/sockios.h`, the same number as `TIOCOUTQ`.
const SIOCOUTQ: rustix::ioctl::Opcode = libc::TIOCOUTQ as rustix::ioctl::Opcode;

/// How the kernel schedules a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
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
pub fn scheduling() -> io::Result<Scheduling> {
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

/// Bytes written to a TCP socket that the peer has not acknowledged.
///
/// # Errors
/// Those of the kernel; `EINVAL` where the socket is not connected.
pub fn unacknowledged(socket: impl AsFd) -> io::Result<usize> {
    // SAFETY: `SIOCOUTQ` writes one `int`, as the getter declares.
    let bytes: libc::c_int = unsafe { ioctl(socket.as_fd(), Getter::<SIOCOUTQ, libc::c_int>::new()) }?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Lets reads of `socket` poll the network device for up to `micros` µs before they sleep (`SO_BUSY_POLL`).
///
/// # Errors
/// `EPERM` where raising it needs `CAP_NET_ADMIN`; `ENOPROTOOPT` where the kernel is built without it.
pub fn set_busy_poll(socket: impl AsFd, micros: u32) -> io::Result<()> {
    let value = libc::c_int::try_from(micros).unwrap_or(libc::c_int::MAX);
    // SAFETY: the option takes one `int`, which outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BUSY_POLL,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// For how long reads of `socket` poll the network device before they sleep \[µs\].
///
/// # Errors
/// Those of the kernel; `ENOPROTOOPT` where it is built without it.
pub fn busy_poll(socket: impl AsFd) -> io::Result<u32> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the option gives one `int` into `value`, whose size `length` says; both outlive the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BUSY_POLL,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(u32::try_from(value).unwrap_or_default()) } else { Err(io::Error::last_os_error()) }
}

/// A descriptor that the runtime of the calling thread watches.
///
/// # Errors
/// Those of the kernel.
pub fn watched(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor stays open, and the same, for as long as it is owned.
    unsafe { AsyncFd::register(descriptor) }.map_err(Into::into)
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
