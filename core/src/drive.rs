//! The loop every port runs, over its own sockets, clock and application (feature `async`).
//!
//! Wait for {bytes or the end of an opening on any link, the engine's deadline, the application};
//! take the time right after; hand over one input; drain. No protocol decision is made here.

mod outstanding;

use core::future::{Future, pending, poll_fn};
use core::pin::pin;
use core::task::Poll;

use embedded_io_async::{Read, Write};

use crate::law::Law;
use crate::session::{CoController, Endpoint, Event, Input, LinkId, Output};
use crate::time::{Duration, Instant};

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

    /// Resets the connection, or gives up opening it; what is queued is dropped.
    fn abort(&mut self);

    /// What the peer has not acknowledged at `now`.
    fn unacked(&mut self, now: Instant) -> Unacked;
}

/// One socket per link of a session.
#[derive(Debug)]
pub struct Sockets<'s, S> {
    /// For [`LinkId::PRIMARY`].
    pub primary: &'s mut S,
    /// For [`LinkId::REALTIME`].
    pub realtime: &'s mut S,
    /// For [`LinkId::RTDE`]; needed only where the engine was handed memory for it.
    pub rtde: Option<&'s mut S>,
}

impl<S> Sockets<'_, S> {
    fn of(&mut self, link: LinkId) -> Option<&mut S> {
        match link {
            LinkId::PRIMARY => Some(self.primary),
            LinkId::REALTIME => Some(self.realtime),
            _ => self.rtde.as_deref_mut(),
        }
    }
}

impl<'s, S> From<&'s mut [S; LinkId::COUNT]> for Sockets<'s, S> {
    fn from([primary, realtime, rtde]: &'s mut [S; LinkId::COUNT]) -> Self {
        Self { primary, realtime, rtde: Some(rtde) }
    }
}

/// What a port supplies: a clock, and one socket per link.
pub trait Net {
    /// The clock.
    type Clock: Clock;
    /// The sockets.
    type Socket: Socket;

    /// Both, borrowed apart.
    fn split(&mut self) -> (&Self::Clock, Sockets<'_, Self::Socket>);
}

/// What uses the engine: sensors, operators, reports.
pub trait Application<L: Law<6>> {
    /// The next input from outside: samples, requests. Dropping the future loses nothing.
    fn next(&mut self) -> impl Future<Output = Input>;

    /// Something happened.
    fn event(&mut self, event: Event);

    /// A state's answer has been written: so long after the state was read, whichever link it came by.
    fn answered(&mut self, turnaround: Duration) {
        let _ = turnaround;
    }

    /// Called after each drained input, before the loop sleeps.
    fn observe(&mut self, engine: &CoController<'_, L>, now: Instant) {
        let _ = (engine, now);
    }
}

/// Where a link's socket stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Opening,
    Open,
}

/// What ended the wait.
enum Woken {
    Opened(LinkId, bool),
    /// Bytes in the link's window; `None` for the end of the stream or an error.
    Read(LinkId, Option<usize>),
    Application(Input),
    Deadline,
}

/// Runs `engine` until it has finished an [`Input::Shutdown`].
///
/// `write_limit` bounds one write: a command that the socket does not take within it ends the connection, because
/// nothing may ever follow half a program.
pub async fn drive<L: Law<6>, N: Net, A: Application<L>>(
    net: &mut N,
    engine: &mut CoController<'_, L>,
    application: &mut A,
    write_limit: Duration,
) {
    let (clock, sockets) = net.split();
    let phases = [Phase::Closed; LinkId::COUNT];
    let mut run = Run { clock, sockets, phases, engine, application, write_limit };
    let mut links_first = true;

    run.input(Input::Start).await;
    while !run.engine.is_finished() {
        let woken = run.wait(links_first).await;
        // Taken right after the read: this is the arrival time that ages are judged by.
        let now = run.clock.now();
        // A flood of bytes must not starve the application, nor the other way round.
        links_first = !matches!(woken, Woken::Read(..) | Woken::Opened(..));

        run.report_unacked(now).await;
        match woken {
            Woken::Read(link, Some(n)) => {
                run.engine.commit(link, n, now, now);
                run.drain().await;
            }
            Woken::Read(link, None) => {
                run.set_phase(link, Phase::Closed);
                run.input(Input::Closed(link)).await;
            }
            Woken::Opened(link, true) => {
                run.set_phase(link, Phase::Open);
                run.input(Input::Opened(link)).await;
            }
            Woken::Opened(link, false) => {
                run.set_phase(link, Phase::Closed);
                run.input(Input::Refused(link)).await;
            }
            Woken::Application(input) => run.input(input).await,
            Woken::Deadline => run.input(Input::Tick).await,
        }
    }
}

/// Everything one run of the loop works with.
struct Run<'r, 'm, C, S, L: Law<6>, A> {
    clock: &'r C,
    sockets: Sockets<'r, S>,
    phases: [Phase; LinkId::COUNT],
    engine: &'r mut CoController<'m, L>,
    application: &'r mut A,
    write_limit: Duration,
}

impl<C: Clock, S: Socket, L: Law<6>, A: Application<L>> Run<'_, '_, C, S, L, A> {
    /// One input, then drain.
    async fn input(&mut self, input: Input) {
        self.engine.handle(self.clock.now(), input);
        self.drain().await;
    }

    /// Does everything the engine asks for, hands on its events, and shows it to the application.
    async fn drain(&mut self) {
        loop {
            let mut broken = None;
            match self.engine.poll_output() {
                None => break,
                Some(Output::Open { link, endpoint }) => {
                    if let Some(socket) = self.sockets.of(link) {
                        socket.open(endpoint);
                    }
                    self.set_phase(link, Phase::Opening);
                }
                Some(Output::Abort(link)) => self.close(link),
                Some(Output::Transmit { link, bytes }) => {
                    let limit = self.clock.now() + self.write_limit;
                    let written = match self.sockets.of(link) {
                        Some(socket) => either(socket.write_all(bytes), self.clock.sleep_until(limit)).await,
                        None => Either::Second(()),
                    };
                    if !matches!(written, Either::First(Ok(()))) {
                        broken = Some(link);
                    } else if let Some(turnaround) = self.engine.written(self.clock.now()) {
                        self.application.answered(turnaround);
                    }
                }
            }
            if let Some(link) = broken {
                self.close(link);
                self.engine.handle(self.clock.now(), Input::Closed(link));
            }
        }
        while let Some(event) = self.engine.poll_event() {
            self.application.event(event);
        }
        self.application.observe(self.engine, self.clock.now());
    }

    /// Waits for the one next thing. Futures that lose the race are dropped, which loses nothing.
    async fn wait(&mut self, links_first: bool) -> Woken {
        let [primary, realtime, rtde] = LinkId::ALL;
        let [primary_phase, realtime_phase, rtde_phase] = self.phases;
        let Sockets { primary: primary_socket, realtime: realtime_socket, rtde: rtde_socket } = &mut self.sockets;
        let deadline = self.engine.poll_timeout();
        let [primary_window, realtime_window, rtde_window] = self.engine.receive_windows();

        let mut rtde = pin!(async {
            match rtde_socket {
                Some(socket) => link_woken(rtde, rtde_phase, *socket, rtde_window).await,
                None => pending().await,
            }
        });
        let mut realtime = pin!(link_woken(realtime, realtime_phase, *realtime_socket, realtime_window));
        let mut primary = pin!(link_woken(primary, primary_phase, *primary_socket, primary_window));
        let mut application = pin!(self.application.next());
        let mut deadline = pin!(async {
            match deadline {
                Some(at) => self.clock.sleep_until(at).await,
                None => pending().await,
            }
        });
        poll_fn(|context| {
            for links in [links_first, !links_first] {
                if links {
                    // The links that carry the control cycle go first.
                    if let Poll::Ready(woken) = rtde.as_mut().poll(context) {
                        return Poll::Ready(woken);
                    }
                    if let Poll::Ready(woken) = realtime.as_mut().poll(context) {
                        return Poll::Ready(woken);
                    }
                    if let Poll::Ready(woken) = primary.as_mut().poll(context) {
                        return Poll::Ready(woken);
                    }
                } else if let Poll::Ready(input) = application.as_mut().poll(context) {
                    return Poll::Ready(Woken::Application(input));
                }
            }
            deadline.as_mut().poll(context).map(|()| Woken::Deadline)
        })
        .await
    }

    /// Tells the engine what the controller has not acknowledged, before it decides on anything else. Only the real-time
    /// link carries commands.
    async fn report_unacked(&mut self, now: Instant) {
        let link = LinkId::REALTIME;
        let [_, phase, _] = self.phases;
        if phase != Phase::Open {
            return;
        }
        let Unacked { bytes, age } = self.sockets.realtime.unacked(now);
        if bytes > 0 || self.engine.has_unacked(link) {
            self.engine.handle(now, Input::Unacked { link, bytes, age });
            self.drain().await;
        }
    }

    fn close(&mut self, link: LinkId) {
        if let Some(socket) = self.sockets.of(link) {
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

/// The end of an opening, or bytes in `window`; never for a closed link.
async fn link_woken<S: Socket>(link: LinkId, phase: Phase, socket: &mut S, window: &mut [u8]) -> Woken {
    match phase {
        Phase::Closed => pending().await,
        Phase::Opening => Woken::Opened(link, socket.opened().await),
        Phase::Open => Woken::Read(link, socket.read(window).await.ok().filter(|n| *n > 0)),
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
