//! Runs one future on one thread, with one system call in which the thread waits for everything.
//!
//! In each poll the future states anew which descriptors it waits for, and until when. Then the thread sleeps in one
//! `ppoll` with the earliest of those times as its timeout, and polls the future again. Nothing is registered with
//! the kernel, and only descriptors that `ppoll` has reported are read. Other threads wake it through a `Waker`, as
//! channels do.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use outrigger_wire::time::Instant;
use rustix::fd::AsFd;

use crate::host::clock::{Clock, std_now};
use crate::host::os::{self, Descriptor, Event, POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, descriptor, pollfd};

/// The kind of readiness of a descriptor that a future waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The descriptor has received bytes or a new connection, or its stream has ended.
    Reading,
    /// The descriptor has room for bytes, or its attempt to connect has ended.
    Writing,
    /// The connection has ended. Bytes that arrive before its end are ignored.
    Ending,
}

impl Readiness {
    const fn flags(self) -> i16 {
        match self {
            Self::Reading => POLLIN,
            Self::Ending => os::ENDING,
            Self::Writing => POLLOUT,
        }
    }
}

/// The state of this thread's wait: the descriptors and times that the future waits for, and the kernel's last
/// answer.
struct Turn {
    /// The descriptors that the future has requested since the last system call.
    asked: Vec<pollfd>,
    /// The ready descriptors that the last system call reported. Each entry is used once.
    ready: Vec<pollfd>,
    due: Option<StdInstant>,
    /// The interval in which the thread polls its sockets without sleeping.
    awake: Option<(StdInstant, StdInstant)>,
    /// The time since which the thread polls in that interval; `None` while it sleeps.
    polls_since: Option<StdInstant>,
    polled: Polled,
    /// `true` if the thread's last sleep was skipped without a system call.
    skipped: bool,
    /// The number of times that the thread has polled its future.
    number: u64,
    /// `true` if a waker was used since the previous poll, or may have been. Always `true` outside of [`block_on`].
    woken: bool,
    /// The index of the first entry of [`asked`](Self::asked) that a later request for the same descriptor may be
    /// merged with.
    joins: usize,
}

/// The polling of this thread since it was last asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Polled {
    /// The processor time that was spent on polling.
    pub(crate) time: StdDuration,
    /// The delay with which the thread began to poll, after the time at which it was to be awake.
    pub(crate) overslept: StdDuration,
    /// `true` if the thread was polling when the last event arrived.
    pub(crate) caught: bool,
}

thread_local! {
    static TURN: RefCell<Turn> =
        const {
            RefCell::new(Turn {
                asked: Vec::new(),
                ready: Vec::new(),
                due: None,
                awake: None,
                polls_since: None,
                polled: Polled { time: StdDuration::ZERO, overslept: StdDuration::ZERO, caught: false },
                skipped: false,
                number: 0,
                woken: true,
                joins: 0,
            })
        };
}

/// Runs `future` to its end on this thread. It may only wait by functions of this module, or by wakers such as those
/// of channels.
///
/// # Errors
/// Returns the error of the operating system.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let bell = Arc::new(WakeUp { event: Event::new()?, rung: AtomicBool::new(false), asleep: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        TURN.with_borrow_mut(|turn| {
            turn.asked.clear();
            (turn.due, turn.number) = (None, turn.number.wrapping_add(1));
            turn.ask(bell.event.descriptor(), Readiness::Reading);
        });
        let polled = future.as_mut().poll(&mut context);
        let slept = TURN.with_borrow_mut(|turn| {
            turn.woken = true;
            if polled.is_pending() { turn.sleep(&bell) } else { Ok(()) }
        });
        if let Poll::Ready(output) = polled {
            return Ok(output);
        }
        slept?;
    }
}

/// A wake-up event by which other threads end the sleep of this one.
struct WakeUp {
    event: Event,
    rung: AtomicBool,
    asleep: AtomicBool,
}

impl Wake for WakeUp {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) {
            self.event.ring();
        }
    }
}

impl Turn {
    fn ask(&mut self, fd: Descriptor, flags: Readiness) {
        let known = self.asked.iter_mut().skip(self.joins).find(|known| known.fd == fd);
        match known {
            Some(known) => known.events |= flags.flags(),
            None => self.asked.push(pollfd { fd, events: flags.flags(), revents: 0 }),
        }
    }

    fn take(&mut self, fd: Descriptor, flags: Readiness) -> bool {
        let mask = flags.flags() | POLLERR | POLLHUP | POLLNVAL;
        let said = self.ready.iter_mut().find(|ready| ready.fd == fd && ready.revents & mask != 0);
        said.map(|ready| ready.revents &= !mask).is_some()
    }

    /// Sleeps until a descriptor is ready, another thread wakes this one or a time is due. If this thread was woken
    /// already, mostly because of what the future itself passed on, the kernel is called only every second time. So
    /// descriptors are served even if this thread is woken all the time.
    fn sleep(&mut self, bell: &WakeUp) -> io::Result<()> {
        std::mem::swap(&mut self.asked, &mut self.ready);
        loop {
            bell.asleep.store(true, Ordering::SeqCst);
            let rung = bell.rung.swap(false, Ordering::SeqCst);
            self.skipped = rung && !self.skipped;
            if self.skipped {
                bell.asleep.store(false, Ordering::SeqCst);
                return Ok(());
            }
            let (timeout, over) = if rung { (Some(StdDuration::ZERO), true) } else { self.patience() };
            let woken = os::poll(&mut self.ready, timeout);
            bell.asleep.store(false, Ordering::SeqCst);
            if over || !matches!(woken, Ok(0)) {
                self.end_polling();
            }
            match woken {
                Ok(0) if !over => continue,
                Ok(_) => {}
                // A signal arrived. Nothing is known about any descriptor.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.ready.iter_mut().for_each(|ready| ready.revents = 0);
                }
                Err(error) => return Err(error),
            }
            let by_event = self.take(bell.event.descriptor(), Readiness::Reading);
            if by_event {
                bell.event.clear();
                bell.rung.store(false, Ordering::SeqCst);
            }
            self.woken = rung || by_event;
            return Ok(());
        }
    }

    /// Returns the longest time of the next sleep (`None`: no limit), and `true` if the future is polled after it.
    /// `false` if the thread then waits on without sleeping, in the interval [`awake`](Self::awake).
    fn patience(&mut self) -> (Option<StdDuration>, bool) {
        let first = match (self.due, self.awake) {
            (None, None) => return (None, true),
            (due, awake) => (due, awake, std_now()),
        };
        match first {
            (due, Some((from, until)), now) if now < until => {
                let sleeps = from.saturating_duration_since(now);
                if sleeps.is_zero() && self.polls_since.is_none() {
                    self.polls_since = Some(now);
                    self.polled.overslept = now.saturating_duration_since(from);
                }
                match due.map(|due| due.saturating_duration_since(now)) {
                    Some(due) if due <= sleeps => (Some(due), true),
                    _ => (Some(sleeps), false),
                }
            }
            (due, _, now) => {
                self.end_polling_at(now);
                (due.map(|due| due.saturating_duration_since(now)), true)
            }
        }
    }

    /// Records that an event has ended the wait, and whether the thread was polling.
    fn end_polling(&mut self) {
        self.polled.caught = self.polls_since.is_some();
        if self.polled.caught {
            self.end_polling_at(std_now());
        }
    }

    fn end_polling_at(&mut self, now: StdInstant) {
        if let Some(since) = self.polls_since.take() {
            self.polled.time += now.saturating_duration_since(since);
        }
    }
}

/// The number of file descriptors that [`when_called`] stores for a future.
const REMEMBERED: usize = 8;

/// The descriptors and the time that a future waited for when it was last polled.
struct Waits {
    /// The number of the poll of the whole future in which these were recorded.
    number: u64,
    asked: [pollfd; REMEMBERED],
    count: usize,
    due: Option<StdInstant>,
}

/// Waits for `future`, but polls it only after an event of its own: a waker was used, the kernel has reported one of
/// its descriptors, or its time is due.
///
/// The future must wait for nothing else. It is polled unconditionally if it was not polled the last time.
pub(crate) async fn when_called<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut waits: Option<Waits> = None;
    poll_fn(|context| {
        if let Some(waits) = &mut waits
            && TURN.with_borrow_mut(|turn| turn.still_waits(waits))
        {
            return Poll::Pending;
        }
        let (due, joins) = TURN.with_borrow_mut(|turn| {
            let joins = std::mem::replace(&mut turn.joins, turn.asked.len());
            (turn.due.take(), joins)
        });
        let polled = future.as_mut().poll(context);
        waits = TURN.with_borrow_mut(|turn| turn.waits(due, joins));
        polled
    })
    .await
}

impl Turn {
    /// Returns `true` if none of the awaited events in `waits` has happened, and requests them once more.
    fn still_waits(&mut self, waits: &mut Waits) -> bool {
        let asked = waits.asked.get(..waits.count).unwrap_or_default();
        let named = |ready: &pollfd| ready.revents != 0 && asked.iter().any(|asked| asked.fd == ready.fd);
        if self.woken
            || waits.number.wrapping_add(1) != self.number
            || self.ready.iter().any(named)
            || waits.due.is_some_and(|due| std_now() >= due)
        {
            return false;
        }
        self.asked.extend_from_slice(asked);
        self.due = self.due.into_iter().chain(waits.due).min();
        waits.number = self.number;
        true
    }

    /// Returns the descriptors and the time that a future has requested in its last poll, or `None` if there are more
    /// descriptors than [`REMEMBERED`]. Restores `due` and `joins` to their values before that poll.
    fn waits(&mut self, due: Option<StdInstant>, joins: usize) -> Option<Waits> {
        let from = std::mem::replace(&mut self.joins, joins);
        let own = self.due;
        self.due = own.into_iter().chain(due).min();
        let entries = self.asked.get(from..).unwrap_or_default();
        let mut asked = [pollfd { fd: 0, events: 0, revents: 0 }; REMEMBERED];
        let count = entries.len();
        let remembered = asked.get_mut(..count).map(|asked| asked.copy_from_slice(entries));
        self.join(from);
        remembered.map(|()| Waits { number: self.number, asked, count, due: own })
    }

    /// Merges the requests to wait for a descriptor after the index `from` with earlier ones for the same descriptor.
    /// So a future that is created several times during one poll requests no more than one that is created once.
    fn join(&mut self, from: usize) {
        let mut kept = from;
        for at in from..self.asked.len() {
            let Some(entry) = self.asked.get(at).copied() else { break };
            let before = self.asked.get_mut(self.joins..from).unwrap_or_default();
            match before.iter_mut().find(|known| known.fd == entry.fd) {
                Some(known) => known.events |= entry.events,
                None => {
                    self.asked.swap(kept, at);
                    kept += 1;
                }
            }
        }
        self.asked.truncate(kept);
    }
}

/// Makes this thread poll its sockets without sleeping from `from` to `until`.
pub(crate) fn stay_awake(clock: Clock, from: Instant, until: Instant) {
    TURN.with_borrow_mut(|turn| turn.awake = Some((clock.std_instant(from), clock.std_instant(until))));
}

/// Makes this thread sleep until something arrives, instead of polling.
pub(crate) fn sleep_in_time() {
    TURN.with_borrow_mut(|turn| turn.awake = None);
}

/// Returns how this thread has polled its sockets since the last call.
pub(crate) fn take_polled() -> Polled {
    TURN.with_borrow_mut(|turn| std::mem::take(&mut turn.polled))
}

/// Waits until `at`, or returns immediately if it has passed. The kernel may wake this thread later.
pub async fn sleep_until(clock: Clock, at: Instant) {
    let at = clock.std_instant(at);
    poll_fn(|_| {
        if std_now() >= at {
            return Poll::Ready(());
        }
        TURN.with_borrow_mut(|turn| turn.due = Some(turn.due.map_or(at, |due| due.min(at))));
        Poll::Pending
    })
    .await;
}

/// Waits until the time `at`. Never returns if `at` is `None`.
pub async fn sleep_until_some(clock: Clock, at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(clock, at).await,
        None => std::future::pending().await,
    }
}

/// A non-blocking descriptor that the thread waits for together with all others.
#[derive(Debug)]
pub struct Watched<T>(T);

impl<T> Deref for Watched<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: AsFd> Watched<T> {
    /// Wraps a `descriptor` to wait for, whose reads and writes must not block.
    pub const fn new(descriptor: T) -> Self {
        Self(descriptor)
    }

    /// Performs the I/O operation `call` as soon as the kernel has reported the descriptor as ready.
    ///
    /// # Errors
    /// Returns the errors of `call`.
    pub fn poll_io<R>(&self, flags: Readiness, mut call: impl FnMut(&T) -> io::Result<R>) -> Poll<io::Result<R>> {
        let fd = descriptor(&self.0);
        if TURN.with_borrow_mut(|turn| turn.take(fd, flags)) {
            match call(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
        TURN.with_borrow_mut(|turn| turn.ask(fd, flags));
        Poll::Pending
    }

    /// Takes the kernel's report that the descriptor is ready. Returns `true` if there is one, once for each report.
    /// Also makes the thread's next wait include the descriptor.
    pub(crate) fn is_named(&self, flags: Readiness) -> bool {
        let fd = descriptor(&self.0);
        TURN.with_borrow_mut(|turn| {
            turn.ask(fd, flags);
            turn.take(fd, flags)
        })
    }

    /// Makes [`poll_io`](Self::poll_io) try the descriptor once more before the thread sleeps, because it may have
    /// more data.
    pub fn again(&self) {
        let (fd, revents) = (descriptor(&self.0), POLLIN);
        TURN.with_borrow_mut(|turn| match turn.ready.iter_mut().find(|ready| ready.fd == fd) {
            Some(ready) => ready.revents |= revents,
            None => turn.ready.push(pollfd { fd, events: POLLIN, revents }),
        });
    }
}

/// A UDP socket that a future of this thread can wait for.
pub type Datagrams = Watched<std::net::UdpSocket>;

impl Datagrams {
    /// Binds a non-blocking UDP socket at the local address `at`.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn bind(at: std::net::SocketAddr) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(at)?;
        socket.set_nonblocking(true)?;
        Ok(Self::new(socket))
    }

    /// Waits for the next datagram. Returns its length, cut to the size of `room`, and its sender. Dropping the
    /// future loses nothing.
    ///
    /// # Errors
    /// Returns the error of the operating system, each for one datagram.
    pub async fn next(&self, room: &mut [u8]) -> io::Result<(usize, std::net::SocketAddr)> {
        poll_fn(|_| self.poll_io(Readiness::Reading, |socket| socket.recv_from(room))).await
    }
}

/// Lets all other tasks on this thread run once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use outrigger_wire::time::Duration;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    #[test]
    fn it_wakes_never_early_and_one_time_may_be_given_up_for_another() {
        let clock = Clock::start();
        block_on(async {
            let far = clock.now() + Duration::from_secs(3_600);
            for micros in [300, 700, 0, 1_500] {
                let at = clock.now() + Duration::from_micros(micros);
                tokio::select! {
                    biased;
                    () = sleep_until(clock, far) => panic!("an hour is not over"),
                    () = sleep_until(clock, at) => assert!(clock.now() >= at),
                }
            }
        })
        .expect("a reactor");
    }

    #[test]
    fn a_datagram_a_thread_and_a_time_end_the_same_sleep() {
        let clock = Clock::start();
        let socket = Datagrams::bind(HERE).expect("a socket");
        let to = socket.local_addr().expect("an address");
        let (tell, mut told) = unbounded_channel();
        let sender = std::thread::spawn(move || {
            let near = std::net::UdpSocket::bind(HERE).expect("a socket");
            for number in 0..100_u8 {
                near.send_to(&[number], to).expect("room");
                tell.send(number).expect("heard");
                std::thread::yield_now();
            }
        });
        let (mut datagrams, mut words, mut times) = (0, 0, 0);
        block_on(async {
            let mut room = [0; 8];
            while datagrams < 100 || words < 100 || times < 10 {
                let soon = clock.now() + Duration::from_millis(2);
                tokio::select! {
                    got = socket.next(&mut room) => {
                        assert_eq!((got.expect("a datagram").0, room[0]), (1, datagrams));
                        datagrams += 1;
                    }
                    Some(word) = told.recv() => {
                        assert_eq!(word, words);
                        words += 1;
                    }
                    () = sleep_until(clock, soon) => times += 1,
                }
            }
        })
        .expect("a reactor");
        sender.join().expect("no panic");
    }

    #[test]
    fn a_future_that_rings_all_the_time_still_hears_a_datagram_and_a_time() {
        let clock = Clock::start();
        let socket = Datagrams::bind(HERE).expect("a socket");
        let near = std::net::UdpSocket::bind(HERE).expect("a socket");
        near.send_to(&[7], socket.local_addr().expect("an address")).expect("room");
        block_on(async {
            let (mut room, mut turns) = ([0; 8], 0_u64);
            let restless = poll_fn(|context| {
                turns += 1;
                context.waker().wake_by_ref();
                Poll::<()>::Pending
            });
            let later = clock.now() + Duration::from_millis(2);
            let both = async {
                assert_eq!(socket.next(&mut room).await.expect("a datagram").0, 1);
                sleep_until(clock, later).await;
            };
            tokio::select! {
                biased;
                () = restless => panic!("it never ends"),
                () = both => {}
            }
            assert!(turns > 2, "{turns}");
        })
        .expect("a reactor");
    }

    #[test]
    fn a_future_made_anew_in_one_turn_asks_for_each_descriptor_once() {
        let sockets = [(); 2].map(|()| Datagrams::bind(HERE).expect("a socket"));
        block_on(poll_fn(|context| {
            for _ in 0..100 {
                for socket in &sockets {
                    let mut room = [0; 8];
                    assert!(pin!(when_called(socket.next(&mut room))).poll(context).is_pending());
                }
            }
            // These two, and the event for other threads.
            assert_eq!(TURN.with_borrow(|turn| turn.asked.len()), 3);
            Poll::Ready(())
        }))
        .expect("a reactor");
    }

    #[test]
    fn a_future_is_polled_only_for_what_is_its_own() {
        let clock = Clock::start();
        let [own, other] = [(); 2].map(|()| Datagrams::bind(HERE).expect("a socket"));
        let near = std::net::UdpSocket::bind(HERE).expect("a socket");
        let send = |to: &Datagrams| near.send_to(&[7], to.local_addr().expect("an address")).expect("room");
        let (tell, mut told) = unbounded_channel();
        let mut polls = 0;
        block_on(async {
            let mut room = [0; 8];
            let own_turn = async {
                let later = clock.now() + Duration::from_millis(40);
                for word in ["datagram", "word", "time"] {
                    tokio::select! {
                        got = own.next(&mut room) => assert_eq!((got.expect("a datagram").0, word), (1, "datagram")),
                        Some(()) = told.recv() => assert_eq!(word, "word"),
                        () = sleep_until(clock, later) => assert_eq!(word, "time"),
                    }
                }
            };
            let mut own_turn = pin!(own_turn);
            let mut watched = pin!(when_called(poll_fn(|context| {
                polls += 1;
                own_turn.as_mut().poll(context)
            })));
            let mut turns = 0;
            let rest = async {
                let mut room = [0; 8];
                loop {
                    match turns {
                        10 => drop(send(&own)),
                        20 => tell.send(()).expect("heard"),
                        _ => {}
                    }
                    turns += 1;
                    send(&other);
                    assert_eq!(other.next(&mut room).await.expect("a datagram").0, 1);
                }
            };
            tokio::select! {
                biased;
                () = &mut watched => {}
                () = rest => {}
            }
            assert!(turns > 30, "{turns}");
        })
        .expect("a reactor");
        assert!((3..15).contains(&polls), "{polls}");
    }

    #[test]
    fn awake_it_is_as_late_as_a_look_takes_and_still_hears_what_is_due() {
        let clock = Clock::start();
        block_on(async {
            let (start, span) = (clock.now(), Duration::from_millis(4));
            stay_awake(clock, start, start + span);
            sleep_until(clock, start + Duration::from_millis(1)).await;
            assert!(clock.now() >= start + Duration::from_millis(1));
            sleep_until(clock, start + span + span).await;
            assert!(clock.now() >= start + span + span);
        })
        .expect("a reactor");
    }
}
