//! The loop every port runs, over its own sockets, clock and application (feature `async`).
//!
//! Wait for {bytes or the end of an opening on any link, the engine's deadline, the application};
//! take the time right after; hand over one input; drain. No protocol decision is made here.
//!
//! ```
//! use outrigger_core::drive::{Clock, Datagrams};
//! use outrigger_wire::time::Instant;
//!
//! // What a port gives the loop: a clock, sockets, an application. Here a clock that is always on time.
//! struct Simulated(core::cell::Cell<Instant>);
//!
//! impl Clock for Simulated {
//!     fn now(&self) -> Instant {
//!         self.0.get()
//!     }
//!     async fn sleep_until(&self, at: Instant) {
//!         self.0.set(at.max(self.0.get()));
//!     }
//! }
//! // A port without UDP.
//! assert!(!().listen(49_938));
//! ```

mod outstanding;

use core::future::{Future, pending, poll_fn};
use core::net::{IpAddr, SocketAddr};
use core::pin::pin;
use core::task::{Context, Poll};

use embedded_io_async::{Read, Write};

use crate::engine::{Controller, Endpoint, Engine, Event, Input, LinkId, LinkRoles, Output};
use crate::law::Law;
use outrigger_wire::time::{Duration, Instant};

pub use outstanding::Outstanding;

/// The port's monotonic clock.
pub trait Clock {
    /// Now, in µs since an epoch that stays the same for the life of the engine.
    fn now(&self) -> Instant;

    /// Resolves at `at`, or as soon after it as the platform allows; at once where `at` has passed.
    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()>;
}

/// What waits for the peer's acknowledgement on one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unacked {
    /// Bytes written and not acknowledged; 0 where the platform cannot tell.
    pub bytes: u32,
    /// Time since the oldest of them was written.
    pub age: Duration,
}

/// One TCP socket, used for one connection after another.
///
/// `read` must lose nothing when its future is dropped before it is ready: the loop drops it at every other input.
pub trait Socket: Read + Write {
    /// Begins to connect to `endpoint` of the robot and returns at once.
    fn open(&mut self, endpoint: Endpoint);

    /// Resolves when the attempt has ended: `true` where the connection stands. Dropping the future loses nothing.
    fn opened(&mut self) -> impl Future<Output = bool>;

    /// Begins to wait for one connection to our `port` and returns at once.
    fn listen(&mut self, port: u16) {
        let _ = port;
    }

    /// Resolves when a connection has come, with who made it; `None` where nobody can listen there. Dropping the future
    /// loses nothing.
    fn accepted(&mut self) -> impl Future<Output = Option<SocketAddr>> {
        async { None }
    }

    /// The two ends of the connection that stands: our address and the controller's.
    fn ends(&self) -> Option<(IpAddr, IpAddr)> {
        None
    }

    /// Resets the connection, gives up opening it or listening; what is queued is dropped.
    fn abort(&mut self);

    /// What the peer has not acknowledged at `now`.
    fn unacked(&mut self, now: Instant) -> Unacked;

    /// Whether it makes use of [`put_off`](Self::put_off).
    const PUTS_OFF: bool = false;

    /// The states of the cycle come by another connection: what this one brings may be read some 50 ms late. Its end may not.
    fn put_off(&mut self, off: bool) {
        let _ = off;
    }
}

/// One UDP socket.
pub trait Datagrams {
    /// Receives at our `port` from now on; `false` where that cannot be.
    fn listen(&mut self, port: u16) -> bool;

    /// Resolves with the next datagram, written to `window` as far as it fits: its length, and who sent it. Dropping the
    /// future loses nothing.
    fn receive(&mut self, window: &mut [u8]) -> impl Future<Output = (usize, SocketAddr)>;

    /// Sends one, at once or never: what finds no room is lost, as on any network.
    fn send(&mut self, bytes: &[u8], to: SocketAddr);
}

/// No datagrams.
impl Datagrams for () {
    fn listen(&mut self, _: u16) -> bool {
        false
    }

    fn receive(&mut self, _: &mut [u8]) -> impl Future<Output = (usize, SocketAddr)> {
        pending()
    }

    fn send(&mut self, _: &[u8], _: SocketAddr) {}
}

/// No socket: for a peer without connections.
#[derive(Debug)]
pub enum NoSocket {}

impl embedded_io_async::ErrorType for NoSocket {
    type Error = core::convert::Infallible;
}

impl Read for NoSocket {
    async fn read(&mut self, _: &mut [u8]) -> Result<usize, Self::Error> {
        match *self {}
    }
}

impl Write for NoSocket {
    async fn write(&mut self, _: &[u8]) -> Result<usize, Self::Error> {
        match *self {}
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        match *self {}
    }
}

impl Socket for NoSocket {
    fn open(&mut self, _: Endpoint) {
        match *self {}
    }

    async fn opened(&mut self) -> bool {
        match *self {}
    }

    fn abort(&mut self) {
        match *self {}
    }

    fn unacked(&mut self, _: Instant) -> Unacked {
        match *self {}
    }
}

/// The sockets of a peer's links: those of its connections, in the order of the links' numbers, then the flow of datagrams.
#[derive(Debug)]
pub struct Sockets<'s, S, D> {
    /// One for each connection.
    pub streams: &'s mut [S],
    /// For the link behind them, where the peer has one.
    pub datagrams: Option<&'s mut D>,
}

/// What a port supplies: a clock, and the sockets.
pub trait Net {
    /// The clock.
    type Clock: Clock;
    /// A socket for connections.
    type Socket: Socket;
    /// The socket for datagrams; `()` where there is none.
    type Datagrams: Datagrams;

    /// The turns of the executor until a task beside the loop has sent what was written: the loop lets it go first, and makes the
    /// engine's account then. 0 where writing sends.
    const TURNS: u32 = 0;

    /// All of it, borrowed apart.
    fn split(&mut self) -> (&Self::Clock, Sockets<'_, Self::Socket, Self::Datagrams>);
}

/// What uses the engine: sensors, operators, reports.
pub trait Application<const N: usize, P: Controller<N>, L: Law<N>> {
    /// The next input from outside: samples, requests. Dropping the future loses nothing.
    fn next(&mut self) -> impl Future<Output = Input>;

    /// What [`next`](Self::next) gave goes to the engine now. Other inputs may have been drained since then; what follows, up to
    /// [`observe`](Self::observe), comes of this one.
    fn handed_over(&mut self) {}

    /// Something happened.
    fn event(&mut self, event: Event<P::Event>);

    /// A state's answer has been written: so long after the state was read, whichever link it came by.
    fn answered(&mut self, turnaround: Duration) {
        let _ = turnaround;
    }

    /// Called after each drained input, before the loop sleeps.
    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let _ = (engine, now);
    }
}

/// Where a link's socket stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Opening,
    Listening,
    Open,
}

/// What ended the wait.
enum Woken {
    Opened(LinkId, bool),
    Accepted(LinkId, Option<SocketAddr>),
    /// Bytes in the link's window; `None` for the end of the stream or an error.
    Read(LinkId, Option<usize>),
    Datagram(LinkId, usize, SocketAddr),
    Application(Input),
    Deadline,
}

/// Runs `engine` until it has finished an [`Input::Shutdown`].
///
/// `write_limit` bounds one write: a command that the socket does not take within it ends the connection, because
/// nothing may ever follow half a program.
pub async fn drive<const N: usize, P: Controller<N>, L: Law<N>, M: Net, A: Application<N, P, L>>(
    net: &mut M,
    engine: &mut Engine<'_, N, P, L>,
    application: &mut A,
    write_limit: Duration,
) {
    let (clock, sockets) = net.split();
    let phases = [Phase::Closed; LinkId::MOST];
    let mut run = Run { clock, sockets, phases, engine, application, write_limit, turns: M::TURNS };
    let mut links_first = true;

    run.engine.handle(run.clock.now(), Input::Start);
    run.drain().await;
    while !run.engine.is_finished() {
        let woken = run.wait(links_first).await;
        // Taken right after the read: this is the arrival time that ages are judged by.
        let now = run.clock.now();
        // A flood of bytes must not starve the application, nor the other way round.
        links_first = matches!(woken, Woken::Application(_) | Woken::Deadline);

        run.report_unacked(now).await;
        run.take(woken, now);
        run.drain().await;
    }
}

/// Waits for one turn of the executor.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if core::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Everything one run of the loop works with.
struct Run<'r, 'm, const N: usize, P: Controller<N>, L: Law<N>, C, S, D, A> {
    clock: &'r C,
    sockets: Sockets<'r, S, D>,
    phases: [Phase; LinkId::MOST],
    engine: &'r mut Engine<'m, N, P, L>,
    application: &'r mut A,
    write_limit: Duration,
    /// Those of [`Net::TURNS`].
    turns: u32,
}

impl<const N: usize, P, L, C, S, D, A> Run<'_, '_, N, P, L, C, S, D, A>
where
    P: Controller<N>,
    L: Law<N>,
    C: Clock,
    S: Socket,
    D: Datagrams,
    A: Application<N, P, L>,
{
    /// One input of the engine, of what ended the wait at `now`.
    fn take(&mut self, woken: Woken, now: Instant) {
        let input = match woken {
            Woken::Read(link, Some(n)) => return self.engine.commit(link, n, now, now),
            Woken::Datagram(link, n, from) => return self.engine.commit_datagram(link, n, from, now, now),
            Woken::Read(link, None) => {
                self.set_phase(link, Phase::Closed);
                Input::Closed(link)
            }
            Woken::Opened(link, true) => {
                self.set_phase(link, Phase::Open);
                let ends = self.sockets.streams.get(link.index()).filter(|_| P::LISTENS).and_then(Socket::ends);
                if let Some((ours, theirs)) = ends {
                    self.engine.handle(self.clock.now(), Input::Ends(link, ours, theirs));
                }
                Input::Opened(link)
            }
            Woken::Accepted(link, Some(from)) => {
                self.set_phase(link, Phase::Open);
                Input::Accepted(link, from)
            }
            Woken::Opened(link, false) | Woken::Accepted(link, None) => {
                self.set_phase(link, Phase::Closed);
                Input::Refused(link)
            }
            Woken::Application(input) => {
                self.application.handed_over();
                input
            }
            Woken::Deadline => Input::Tick,
        };
        self.engine.handle(self.clock.now(), input);
    }

    /// Does everything the engine asks for, hands on its events, and shows it to the application.
    async fn drain(&mut self) {
        loop {
            let mut told = None;
            let streams = &mut *self.sockets.streams;
            match self.engine.poll_output() {
                None => break,
                Some(Output::Open { link, endpoint }) => {
                    if let Some(socket) = streams.get_mut(link.index()) {
                        socket.open(endpoint);
                    }
                    self.set_phase(link, Phase::Opening);
                }
                Some(Output::Listen { link, port }) => {
                    // A loop beside a peer whose connections are all its own has no code for others.
                    let socket = if P::LISTENS { streams.get_mut(link.index()) } else { None };
                    let (phase, input) = if let Some(socket) = socket {
                        socket.listen(port);
                        (Phase::Listening, None)
                    } else if self.sockets.datagrams.as_deref_mut().is_some_and(|socket| socket.listen(port)) {
                        (Phase::Open, Some(Input::Opened(link)))
                    } else {
                        (Phase::Closed, Some(Input::Refused(link)))
                    };
                    self.set_phase(link, phase);
                    told = input;
                }
                Some(Output::Abort(link)) => self.close(link),
                Some(Output::Transmit { link, to: Some(to), bytes }) => {
                    if let Some(socket) = &mut self.sockets.datagrams {
                        socket.send(bytes, to);
                    }
                    let _ = link;
                    self.written().await;
                }
                Some(Output::Transmit { link, to: None, bytes }) => {
                    let limit = self.clock.now() + self.write_limit;
                    let written = match streams.get_mut(link.index()) {
                        Some(socket) => either(socket.write_all(bytes), self.clock.sleep_until(limit)).await,
                        None => Either::Second(()),
                    };
                    if matches!(written, Either::First(Ok(()))) {
                        self.written().await;
                    } else {
                        self.close(link);
                        told = Some(Input::Closed(link));
                    }
                }
            }
            if let Some(input) = told {
                self.engine.handle(self.clock.now(), input);
            }
        }
        while let Some(event) = self.engine.poll_event() {
            self.application.event(event);
        }
        if S::PUTS_OFF {
            let late = self.engine.peer().links().late;
            for (index, socket) in (0..).zip(self.sockets.streams.iter_mut()) {
                socket.put_off(LinkId::new(index).is_some_and(|link| late.has(link)));
            }
        }
        self.application.observe(self.engine, self.clock.now());
    }

    async fn written(&mut self) {
        let now = self.clock.now();
        for _ in 0..self.turns {
            yield_now().await;
        }
        if let Some(turnaround) = self.engine.written(now) {
            self.application.answered(turnaround);
        }
    }

    /// Waits for the one next thing. Futures that lose the race are dropped, which loses nothing.
    async fn wait(&mut self, links_first: bool) -> Woken {
        let Self { clock, sockets, phases, engine, application, .. } = self;
        let deadline = engine.poll_timeout();
        let mut application = pin!(application.next());
        let mut deadline = pin!(async {
            match deadline {
                Some(at) => clock.sleep_until(at).await,
                None => pending().await,
            }
        });
        poll_fn(|context| {
            for links in [links_first, !links_first] {
                if links {
                    // The links that carry the control cycle are opened last, and go first.
                    for (index, phase) in (0..LinkId::MOST as u8).zip(phases.iter()).rev() {
                        if *phase == Phase::Closed {
                            continue;
                        }
                        let Some(link) = LinkId::new(index) else { continue };
                        if let Poll::Ready(woken) = poll_link(link, *phase, sockets, engine, context) {
                            return Poll::Ready(woken);
                        }
                    }
                } else if let Poll::Ready(input) = application.as_mut().poll(context) {
                    return Poll::Ready(Woken::Application(input));
                }
            }
            deadline.as_mut().poll(context).map(|()| Woken::Deadline)
        })
        .await
    }

    /// Tells the engine what the controller has not acknowledged, before it decides on anything else.
    async fn report_unacked(&mut self, now: Instant) {
        let LinkRoles { commands: Some(link), unacked, .. } = self.engine.peer().links() else { return };
        if self.phases.get(link.index()) != Some(&Phase::Open) {
            return;
        }
        let Some(socket) = self.sockets.streams.get_mut(link.index()) else { return };
        let Unacked { bytes, age } = socket.unacked(now);
        if bytes > 0 || unacked.has(link) {
            self.engine.handle(now, Input::Unacked { link, bytes, age });
            self.drain().await;
        }
    }

    fn close(&mut self, link: LinkId) {
        if let Some(socket) = self.sockets.streams.get_mut(link.index()) {
            socket.abort();
        }
        self.set_phase(link, Phase::Closed);
    }

    fn set_phase(&mut self, link: LinkId, to: Phase) {
        if let Some(phase) = self.phases.get_mut(link.index()) {
            *phase = to;
        }
    }
}

/// The end of an opening, or bytes in the link's window; never for a closed link.
fn poll_link<const N: usize, P: Controller<N>, L: Law<N>, S: Socket, D: Datagrams>(
    link: LinkId,
    phase: Phase,
    sockets: &mut Sockets<'_, S, D>,
    engine: &mut Engine<'_, N, P, L>,
    context: &mut Context<'_>,
) -> Poll<Woken> {
    let stream = sockets.streams.get_mut(link.index());
    match (phase, stream) {
        (Phase::Closed, _) => Poll::Pending,
        (Phase::Opening, Some(socket)) => pin!(socket.opened()).poll(context).map(|stands| Woken::Opened(link, stands)),
        (Phase::Listening, Some(socket)) if P::LISTENS => {
            pin!(socket.accepted()).poll(context).map(|from| Woken::Accepted(link, from))
        }
        (Phase::Open, Some(socket)) => {
            let read = pin!(socket.read(engine.receive_window(link))).poll(context);
            read.map(|read| Woken::Read(link, read.ok().filter(|n| *n > 0)))
        }
        (Phase::Open, None) => match &mut sockets.datagrams {
            Some(socket) => pin!(socket.receive(engine.receive_window(link)))
                .poll(context)
                .map(|(length, from)| Woken::Datagram(link, length, from)),
            None => Poll::Pending,
        },
        (Phase::Opening, None) | (Phase::Listening, _) => Poll::Pending,
    }
}

enum Either<A, B> {
    First(A),
    Second(B),
}

/// Whichever future is ready first; `a` where both are.
async fn either<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> Either<A, B> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|context| {
        if let Poll::Ready(a) = a.as_mut().poll(context) {
            return Poll::Ready(Either::First(a));
        }
        b.as_mut().poll(context).map(Either::Second)
    })
    .await
}

#[cfg(test)]
mod tests;
