//! The task of one robot: `core::drive` with the mailbox as its application.

use core::net::Ipv4Addr;

use outrigger_core::drive::{Application, Net, drive};
use outrigger_core::engine::ur::{Ur, UrEngine};
use outrigger_core::engine::{Controller, Engine, Event, Input};
use outrigger_core::law::Law;
use outrigger_wire::time::{Duration, Instant};

use crate::handle::{Handle, Shared};
use crate::memory::Buffers;
use crate::net::{Connections, Flush, Stack};

/// Longest time one command may take to get into the socket. It always finds room, unless the controller acknowledges
/// nothing.
const WRITE_LIMIT: Duration = Duration::from_millis(20);
/// Longest wait, in the end, for resets to be on the wire.
const FLUSH_LIMIT: Duration = Duration::from_millis(500);

/// Listens to a robot's task: telemetry, a status lamp, a pin toggled in every cycle.
///
/// Called by the loop, between a state and the next: what it does must be done in a few µs.
pub trait Observer<const N: usize, P: Controller<N>, L> {
    /// Takes an event of the engine.
    fn event(&mut self, event: Event<P::Event>);

    /// Looks at the engine, once after each input and all that follows from it.
    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant);
}

/// Nobody listens.
impl<const N: usize, P: Controller<N>, L> Observer<N, P, L> for () {
    fn event(&mut self, _: Event<P::Event>) {}
    fn observe(&mut self, _: &mut Engine<'_, N, P, L>, _: Instant) {}
}

/// Puts `engine` beside the controller of Universal Robots at `robot`: a handle to speak to it, and its task to be run.
///
/// Takes two of the stack's sockets for as long as the runner lives, a third where `buffers` have room for RTDE, and a fourth
/// where they have room for a program's connection.
///
/// # Panics
/// In the stack, where it has not so many left.
pub fn new<'d, 'm, L: Law<6>, const REALTIME: usize, const RTDE: usize, const REVERSE: usize>(
    stack: Stack<'d>,
    robot: Ipv4Addr,
    engine: &'d mut UrEngine<'m, L>,
    buffers: &'d mut Buffers<REALTIME, RTDE, REVERSE>,
    shared: &'d Shared,
) -> (Handle<'d>, UrRunner<'d, 'm, L>) {
    let net = Connections::new(stack, robot, buffers, shared);
    (Handle::new(shared), Runner { net, engine, shared })
}

/// The task beside a controller of Universal Robots.
pub type UrRunner<'d, 'm, L> = Runner<'d, 'm, 6, Ur<'m>, L, Connections<'d>>;

/// The task of one robot.
#[derive(Debug)]
pub struct Runner<'d, 'm, const N: usize, P: Controller<N>, L, M> {
    pub(crate) net: M,
    pub(crate) engine: &'d mut Engine<'m, N, P, L>,
    pub(crate) shared: &'d Shared,
}

impl<const N: usize, P: Controller<N>, L: Law<N>, M: Net + Flush> Runner<'_, '_, N, P, L, M> {
    /// Connects, or listens, goes on with it after every loss, and does what the engine decides; ends once a
    /// [`shutdown`](crate::Handle::shutdown) has been carried out.
    ///
    /// Dropping the future before leaves the connections open until the `Runner` is dropped, and the arm to what the
    /// controller does without commands.
    pub async fn run(&mut self, observer: &mut impl Observer<N, P, L>) {
        let mut desk = Desk { shared: self.shared, observer };
        drive(&mut self.net, self.engine, &mut desk, WRITE_LIMIT).await;
        self.net.flush(FLUSH_LIMIT).await;
    }
}

/// The application of the loop: inputs from the mailbox, everything else to the observer.
struct Desk<'r, O> {
    shared: &'r Shared,
    observer: &'r mut O,
}

impl<const N: usize, P: Controller<N>, L: Law<N>, O: Observer<N, P, L>> Application<N, P, L> for Desk<'_, O> {
    async fn next(&mut self) -> Input {
        self.shared.next().await.into()
    }

    fn event(&mut self, event: Event<P::Event>) {
        self.observer.event(event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        self.shared.set_epoch(engine.mode_machine().epoch());
        self.observer.observe(engine, now);
    }
}
