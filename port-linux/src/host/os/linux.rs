//! System calls of Linux.

#![expect(unsafe_code, reason = "raw kernel calls: each is one call with arguments owned by the caller")]

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener, UnixStream};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use rustix::ioctl::{Getter, ioctl};
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::net::sockopt::{set_tcp_quickack, socket_peercred};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::pty::OpenptFlags;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::Scheduling;

/// The flag of `poll` for the end of a connection by the peer.
pub(crate) const ENDING: i16 = libc::POLLRDHUP;

/// The flags for opening a pseudo terminal.
pub(crate) const PSEUDO_TERMINAL: OpenptFlags =
    OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// The upper bound of the numbers of a machine's processors.
pub(crate) const MOST_PROCESSORS: usize = CpuSet::MAX_CPU;

/// The request code of `ioctl` for the number of bytes of a TCP socket that the peer has not acknowledged, `SIOCOUTQ`
/// of `linux/sockios.h`. `TIOCOUTQ`, for the bytes that a serial device has not sent, has the same number.
const SIOCOUTQ: rustix::ioctl::Opcode = libc::TIOCOUTQ as rustix::ioctl::Opcode;

/// Puts the calling thread under `SCHED_FIFO` with `priority`.
///
/// # Errors
/// Returns `EPERM` without the required privilege, `EINVAL` for a priority outside 1 … 99.
pub fn set_fifo(priority: u8) -> io::Result<()> {
    set_scheduling(libc::SCHED_FIFO, priority)
}

/// Puts the calling thread under the time-sharing scheduler.
///
/// # Errors
/// Returns `EPERM` if the kernel does not let the thread leave its current class.
pub(crate) fn set_other() -> io::Result<()> {
    set_scheduling(libc::SCHED_OTHER, 0)
}

/// Puts the calling thread under the scheduler `SCHED_BATCH`, which needs no privilege, for tests of what a thread
/// inherits.
#[cfg(test)]
pub(crate) fn set_batch() -> io::Result<()> {
    set_scheduling(libc::SCHED_BATCH, 0)
}

fn set_scheduling(policy: libc::c_int, priority: u8) -> io::Result<()> {
    // SAFETY: an all-zero `sched_param` is valid: it is a plain C struct of integers.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    param.sched_priority = i32::from(priority);
    // The kernel is called directly, because musl's function always refuses.
    // SAFETY: `param` outlives the call; 0 names the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const param) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the scheduling of the calling thread.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn scheduling() -> io::Result<Scheduling> {
    // SAFETY: an all-zero `sched_param` is valid: it is a plain C struct of integers.
    let mut param: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: 0 names the calling thread; `param` is writable and outlives the call.
    let (policy, result) = unsafe {
        (libc::syscall(libc::SYS_sched_getscheduler, 0), libc::syscall(libc::SYS_sched_getparam, 0, &raw mut param))
    };
    if policy < 0 || result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(match i32::try_from(policy).unwrap_or(-1) {
        libc::SCHED_OTHER => Scheduling::Other,
        libc::SCHED_FIFO => Scheduling::Fifo(u8::try_from(param.sched_priority).unwrap_or(0)),
        libc::SCHED_RR => Scheduling::Named("SCHED_RR"),
        libc::SCHED_BATCH => Scheduling::Named("SCHED_BATCH"),
        libc::SCHED_IDLE => Scheduling::Named("SCHED_IDLE"),
        libc::SCHED_DEADLINE => Scheduling::Named("SCHED_DEADLINE"),
        other => Scheduling::Policy(other),
    })
}

/// Returns the number of bytes written to a TCP socket and not yet acknowledged by the peer, or written to a serial
/// device and not yet transmitted.
///
/// # Errors
/// Returns the error of the operating system; `EINVAL` for a listening socket.
pub(crate) fn unacknowledged(socket: impl AsFd) -> io::Result<usize> {
    // SAFETY: `SIOCOUTQ` writes one `int`, as the getter declares.
    let bytes: libc::c_int = unsafe { ioctl(socket.as_fd(), Getter::<SIOCOUTQ, libc::c_int>::new()) }?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Returns the system's monotonic clock \[ns\], for [`Clock`](crate::host::clock::Clock) only. It is the clock that
/// [`std::time::Instant`] reads, as a number.
pub(crate) fn monotonic_nanos() -> Option<u64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one `timespec`, which outlives it.
    let refused = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let secs = u64::try_from(now.tv_sec).ok().filter(|_| refused == 0)?;
    secs.checked_mul(1_000_000_000)?.checked_add(u64::try_from(now.tv_nsec).ok()?)
}

/// Waits until one of `descriptors` is ready, or until the timeout if there is one. Returns the number of ready
/// descriptors.
///
/// # Errors
/// Returns `EINTR` if a signal arrived first.
pub(crate) fn poll(descriptors: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i32::MAX.into()),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the slice and the time outlive the call; an invalid descriptor is reported as such.
    let ready =
        unsafe { libc::ppoll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, timeout, std::ptr::null()) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

/// An event that one thread waits for by `poll`, and that other threads trigger.
#[derive(Debug)]
pub(crate) struct Event(OwnedFd);

impl Event {
    /// Creates an event that is not triggered.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Returns the descriptor that `poll` waits for to notice the event.
    pub(crate) fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Triggers the event. A failure to do so is ignored, because it means that the event was triggered already.
    pub(crate) fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Resets the event, so that `poll` waits for it again.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// Creates a non-blocking TCP socket that child processes do not inherit.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

/// Makes the socket acknowledge the next received data immediately.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn acknowledge_at_once(socket: impl AsFd) -> io::Result<()> {
    Ok(set_tcp_quickack(socket, true)?)
}

/// Returns the process at the other end of a local socket: its id if the kernel reports it, and its user id.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn peer_of(stream: &UnixStream) -> io::Result<(Option<i32>, u32)> {
    let peer = socket_peercred(stream)?;
    Ok((Some(peer.pid.as_raw_nonzero().get()), peer.uid.as_raw()))
}

thread_local! {
    /// The processors that this thread could use before it was pinned to one.
    static BEFORE_PIN: Cell<Option<CpuSet>> = const { Cell::new(None) };
}

/// Binds the calling thread to one processor.
///
/// # Errors
/// Returns `EINVAL` if there is no processor of this number, or this process may not use it.
pub(crate) fn pin(processor: usize) -> io::Result<()> {
    // This fails if the machine has more processors than the set can hold. Then threads started later share the
    // processor.
    let before = sched_getaffinity(None).ok();
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set)?;
    BEFORE_PIN.set(BEFORE_PIN.get().or(before));
    Ok(())
}

/// The processors that a thread could use before [`pin`], for the threads that it starts. Otherwise they would
/// inherit its single processor.
#[derive(Clone, Copy)]
pub(crate) struct Unpinned(Option<CpuSet>);

impl Unpinned {
    /// Returns the processors that the calling thread could use before [`pin`].
    pub(crate) fn of_caller() -> Self {
        Self(BEFORE_PIN.get())
    }

    /// Lets the calling thread use these processors. Does nothing if the thread from which they were read is not
    /// pinned.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn apply(self) -> io::Result<()> {
        self.0.map_or(Ok(()), |set| Ok(sched_setaffinity(None, &set)?))
    }
}

/// Returns the processors that the calling thread may use. Empty if the kernel does not report them.
pub(crate) fn processors() -> Vec<usize> {
    sched_getaffinity(None)
        .map(|set| (0..MOST_PROCESSORS).filter(|processor| set.is_set(*processor)).collect())
        .unwrap_or_default()
}

/// Prevents all memory of this process, present and future, from being swapped out.
///
/// # Errors
/// Returns `ENOMEM` or `EPERM` without the right to lock that much.
pub(crate) fn lock_memory() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)?)
}

/// A name that one process of this machine can hold, in the kernel's abstract socket namespace. It uses no file, is
/// the same for all users, and the kernel releases it when the process ends in any way.
#[derive(Debug)]
pub(crate) struct Name {
    _listener: UnixListener,
}

impl Name {
    /// Takes the name for this process. If another process holds it, returns a description of that process as far as
    /// the kernel reports it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn take(name: &str) -> io::Result<Result<Self, Option<String>>> {
        let name = UnixAddr::from_abstract_name(name)?;
        match UnixListener::bind_addr(&name) {
            Ok(listener) => Ok(Ok(Self { _listener: listener })),
            Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(Err(holder_of(&name))),
            Err(error) => Err(error),
        }
    }
}

/// Returns a description of the process that holds a name, from the credentials stored in the kernel.
fn holder_of(name: &UnixAddr) -> Option<String> {
    let stream = UnixStream::connect_addr(name).ok()?;
    let pid = socket_peercred(&stream).ok()?.pid.as_raw_nonzero();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(format!("process {pid} ({})", command.trim_end()))
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
        // On loopback the acknowledgement arrives during the write.
        assert_eq!(unacknowledged(&near).expect("a connected socket"), 0);
    }

    #[test]
    fn the_policy_in_force_can_be_read() {
        assert!(matches!(
            scheduling().expect("a policy"),
            Scheduling::Other | Scheduling::Fifo(_) | Scheduling::Named(_) | Scheduling::Policy(_)
        ));
    }
}
