//! The loop that runs the engine on every port, with the port's sockets, clock and application (feature `async`).
//!
//! It waits for bytes or the end of an opening on any link, the engine's deadline, or the application. It takes the
//! time right afterwards, passes one input to the engine, and drains its outputs. It makes no protocol decision.
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

mod net;
mod oldest_unacked;

use core::future::{Future, pending, poll_fn};
use core::net::SocketAddr;
use core::pin::pin;
use core::task::{Context, Poll};

use crate::engine::{Controller, Engine, Event, Input, LinkId, LinkRoles, Output};
use crate::law::Law;
use outrigger_wire::time::{Duration, Instant};

pub use net::{Clock, Datagrams, Net, NoSocket, Socket, Sockets, Unacked};
pub use oldest_unacked::Outstanding;

/// The user of the engine: it supplies inputs of sensors and operators, and receives reports.
pub trait Application<const N: usize, P: Controller<N>, L: Law<N>> {
    /// Returns the next input to the engine from outside: samples, requests. Dropping the future loses nothing.
    fn next(&mut self) -> impl Future<Output = Input>;

    /// Receives a notification just before the engine handles the input returned by [`next`](Self::next). Inputs from
    /// other sources may have been handled since `next` returned. Events up to the following [`observe`](Self::observe)
    /// result from this input.
    fn handed_over(&mut self) {}

    /// Receives an event that the engine reports.
    fn event(&mut self, event: Event<P::Event>);

    /// Receives a notification that the command that answers a robot state has been written. `turnaround` is the time
    /// since the state was read, on whichever link.
    fn answered(&mut self, turnaround: Duration) {
        let _ = turnaround;
    }

    /// Receives the engine after each input and the outputs and events that it caused, before the loop sleeps.
    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let _ = (engine, now);
    }
}

/// The state of the socket of a link to the controller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Opening,
    Listening,
    Open,
}

/// The event that ended the loop's wait for sockets, application and time.
enum Woken {
    Opened(LinkId, bool),
    Accepted(LinkId, Option<SocketAddr>),
    /// The number of bytes that were read into the link's window; `None` for the end of the stream or an error.
    Read(LinkId, Option<usize>),
    Datagram(LinkId, usize, SocketAddr),
    Application(Input),
    Deadline,
}

/// Runs `engine` until it has finished an [`Input::Shutdown`].
///
/// `write_limit` bounds one write. A command that the socket does not take within it ends the connection, because
/// nothing may follow half a program.
pub async fn drive<const N: usize, P: Controller<N>, L: Law<N>, M: Net, A: Application<N, P, L>>(
    net: &mut M,
    engine: &mut Engine<'_, N, P, L>,
    application: &mut A,
    write_limit: Duration,
) {
    let (clock, sockets) = net.split();
    let phases = [Phase::Closed; LinkId::MOST];
    let mut run = Run { clock, sockets, phases, engine, application, write_limit };
    let mut links_first = true;

    run.engine.handle(run.clock.now(), Input::Start);
    run.drain().await;
    while !run.engine.is_finished() {
        let woken = run.wait(links_first).await;
        // Taken right after the read: this is the arrival time from which ages are computed.
        let now = run.clock.now();
        // A flood of bytes must not starve the application, nor the other way round.
        links_first = matches!(woken, Woken::Application(_) | Woken::Deadline);

        run.report_unacked(now).await;
        run.take(woken, now);
        run.drain().await;
    }
}

/// The clock, sockets, engine and application that one run of the loop works with.
struct Run<'r, 'm, const N: usize, P: Controller<N>, L: Law<N>, C, S, D, A> {
    clock: &'r C,
    sockets: Sockets<'r, S, D>,
    phases: [Phase; LinkId::MOST],
    engine: &'r mut Engine<'m, N, P, L>,
    application: &'r mut A,
    write_limit: Duration,
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
    /// Passes the event that ended the wait at `now` to the engine.
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

    /// Carries out all outputs of the engine, passes its events on, and calls the application.
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
                    // With a controller whose links are all opened by us, the loop has no code for others.
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
                    self.written();
                }
                Some(Output::Transmit { link, to: None, bytes }) => {
                    let limit = self.clock.now() + self.write_limit;
                    let written = match streams.get_mut(link.index()) {
                        Some(socket) => either(socket.write_all(bytes), self.clock.sleep_until(limit)).await,
                        None => FirstReady::Second(()),
                    };
                    if matches!(written, FirstReady::First(Ok(()))) {
                        self.written();
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

    fn written(&mut self) {
        if let Some(turnaround) = self.engine.written(self.clock.now()) {
            self.application.answered(turnaround);
        }
    }

    /// Waits for the next event of sockets, application or clock. Futures that lose the race are dropped, which loses
    /// nothing.
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
                    // The links that carry the control cycle are opened last, and come first here.
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

    /// Reports to the engine the bytes that the controller has not acknowledged, before any other decision.
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

/// Polls a link to the controller for the end of an opening, or bytes in its window; never for a closed link.
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

enum FirstReady<A, B> {
    First(A),
    Second(B),
}

/// Returns the result of the future that is ready first; `a` if both are.
async fn either<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> FirstReady<A, B> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|context| {
        if let Poll::Ready(a) = a.as_mut().poll(context) {
            return Poll::Ready(FirstReady::First(a));
        }
        b.as_mut().poll(context).map(FirstReady::Second)
    })
    .await
}

#[cfg(test)]
mod tests;
