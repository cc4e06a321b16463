//! The simulated KRC behind kernel UDP: one thread, non-blocking sockets, absolute deadlines.
//!
//! Simulated time is the time since the server started. A command that waited while this process was not scheduled
//! counts as arrived just before the next cycle, because a real KRC is never delayed in this way.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::krc::{Krc, Sender};
use crate::tcp::Clock;
use crate::time::SimTime;

/// A size of the receive buffer that is larger than any datagram of the Fast Research Interface \[bytes\].
const CHUNK: usize = 2048;

/// A simulated KRC with its UDP sockets, ready to be run.
#[derive(Debug)]
pub struct Server {
    krc: Arc<Mutex<Krc>>,
    socket: UdpSocket,
    /// The socket of the second sender, which a fault causes to send measurements as well.
    stranger: UdpSocket,
    remote: SocketAddr,
    held_up: Arc<HeldUp>,
}

/// The count and the duration of delays of this process. A delay looks to the remote computer like a fault of the
/// KRC.
#[derive(Debug, Default)]
pub struct HeldUp {
    cycles: AtomicU64,
    longest_micros: AtomicU64,
}

impl HeldUp {
    /// Returns the number of times that the simulation was more than half a millisecond late for its next step: a
    /// millisecond of the KRC, or a datagram's arrival.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles.load(Ordering::Relaxed)
    }

    /// Returns the longest delay with which the simulation executed a step: a millisecond of the KRC, or a datagram's
    /// arrival.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_micros(self.longest_micros.load(Ordering::Relaxed))
    }

    fn note(&self, late: Duration) {
        self.cycles.fetch_add(u64::from(late > Duration::from_micros(500)), Ordering::Relaxed);
        self.longest_micros.fetch_max(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Server {
    /// Binds the simulated KRC to `local`, sends to the remote computer at `remote`, and accepts datagrams from its
    /// address only.
    ///
    /// # Errors
    /// Returns the system's error for the local address.
    pub fn bind(krc: Krc, local: SocketAddr, remote: SocketAddr) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.set_nonblocking(true)?;
        let stranger = UdpSocket::bind(SocketAddr::new(local.ip(), 0))?;
        stranger.set_nonblocking(true)?;
        Ok(Self { krc: Arc::new(Mutex::new(krc)), socket, stranger, remote, held_up: Arc::default() })
    }

    /// Returns the address from which measurements are sent.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn local(&self) -> std::io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Runs the simulated KRC on a separate thread.
    ///
    /// # Errors
    /// Returns an error if the system could not start a thread.
    pub fn spawn(self) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let (krc, until, held_up) = (Arc::clone(&self.krc), Arc::clone(&stop), Arc::clone(&self.held_up));
        let thread = std::thread::Builder::new().name("krc".into()).spawn(move || self.run(&until))?;
        Ok(Running { krc, stop, held_up, thread: Some(thread) })
    }

    /// Runs the simulated KRC on the calling thread until `stop` is set.
    pub fn run(self, stop: &AtomicBool) {
        crate::os::wake_promptly();
        let clock = Clock::start();
        while !stop.load(Ordering::Relaxed) {
            let next = self.turn(&clock);
            let longest = SimTime::from_micros(clock.now().as_micros().saturating_add(100_000));
            self.wait(next.min(longest).since(clock.now()));
        }
    }

    /// Exchanges datagrams with the sockets and advances the KRC to the present. Returns the time of the next event.
    fn turn(&self, clock: &Clock) -> SimTime {
        let mut krc = lock(&self.krc);
        let mut buffer = [0; CHUNK];
        let peer: IpAddr = self.remote.ip();
        loop {
            match self.socket.recv_from(&mut buffer) {
                Ok((size, from)) if from.ip() == peer => {
                    let before_next = SimTime::from_micros(krc.next_event().as_micros().saturating_sub(1));
                    krc.advance_to(clock.now().min(before_next));
                    krc.receive(buffer.get(..size).unwrap_or_default());
                }
                // Another sender, or the answer to a datagram that was sent while no process listened.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let now = clock.now();
        self.held_up.note(now.since(krc.next_event()));
        krc.advance_to(now);
        while let Some(transmit) = krc.poll_transmit() {
            let socket = match transmit.sender {
                Sender::Krc => &self.socket,
                Sender::Stranger => &self.stranger,
            };
            // A datagram that cannot be sent is lost, as on any network.
            let _ = socket.send_to(&transmit.bytes, self.remote);
        }
        krc.next_event()
    }

    /// Sleeps until a datagram arrives, at most for the duration `longest`.
    fn wait(&self, longest: Duration) {
        // Interrupted or not, the next turn processes everything.
        let timeout = Timespec::try_from(longest).ok();
        let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], timeout.as_ref());
    }
}

/// A simulated KRC on a thread of its own; the thread stops when this value is dropped.
#[derive(Debug)]
pub struct Running {
    krc: Arc<Mutex<Krc>>,
    stop: Arc<AtomicBool>,
    held_up: Arc<HeldUp>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Locks the KRC between two of its steps of a millisecond; its time does not advance while the lock is held.
    pub fn krc(&self) -> MutexGuard<'_, Krc> {
        lock(&self.krc)
    }

    /// Returns the count and the longest of the delays of this process, by which the simulated KRC was late.
    #[must_use]
    pub fn held_up(&self) -> &HeldUp {
        &self.held_up
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed by then; there is nothing to add.
            drop(thread.join());
        }
    }
}

/// Locks the KRC. A holder that panicked leaves a consistent KRC, because every change is made by one call.
fn lock(krc: &Mutex<Krc>) -> MutexGuard<'_, Krc> {
    krc.lock().unwrap_or_else(PoisonError::into_inner)
}
