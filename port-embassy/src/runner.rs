//! The task of one robot: `core::drive` with the mailbox as its application.

use core::net::Ipv4Addr;

use outrigger_core::drive::{Application, Net, drive};
use outrigger_core::engine::ur::{Ur, UrEngine};
use outrigger_core::engine::{Controller, Engine, Event, Input};
use outrigger_core::law::Law;
use outrigger_wire::time::{Duration, Instant};

use crate::memory::Buffers;
use crate::net::{Connections, Flush, Stack};
use crate::robot_mailbox::{Handle, Shared};

/// The longest time to write one command into the socket. The socket always has room, unless the controller
/// acknowledges nothing.
const WRITE_LIMIT: Duration = Duration::from_millis(20);
/// The longest wait at the end of the robot's task until the connections' resets are sent.
const FLUSH_LIMIT: Duration = Duration::from_millis(500);

/// Observes a robot's task, for telemetry, a status lamp, or a pin that is toggled in every cycle.
///
/// It is called by the control loop between two states, so it must return within a few µs.
pub trait Observer<const N: usize, P: Controller<N>, L> {
    /// Receives an event of the engine.
    fn event(&mut self, event: Event<P::Event>);

    /// Observes the engine, once after each of its inputs and all consequences.
    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant);
}

/// An observer that ignores every event and state of the engine.
impl<const N: usize, P: Controller<N>, L> Observer<N, P, L> for () {
    fn event(&mut self, _: Event<P::Event>) {}
    fn observe(&mut self, _: &mut Engine<'_, N, P, L>, _: Instant) {}
}

/// Connects `engine` to the controller of Universal Robots at `robot`. Returns a handle for messages to the engine, and
/// the task to be run.
///
/// Uses two of the stack's sockets for as long as the runner lives, three if `buffers` have room for RTDE, and four if
/// they have room for a program's connection.
///
/// # Panics
/// In the stack, if it has too few sockets left.
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

/// The task that runs the engine of a robot with a controller of Universal Robots.
pub type UrRunner<'d, 'm, L> = Runner<'d, 'm, 6, Ur<'m>, L, Connections<'d>>;

/// The task of one robot: [`Runner::run`] executes the engine's decisions on the sockets.
#[derive(Debug)]
pub struct Runner<'d, 'm, const N: usize, P: Controller<N>, L, M> {
    pub(crate) net: M,
    pub(crate) engine: &'d mut Engine<'m, N, P, L>,
    pub(crate) shared: &'d Shared,
}

impl<const N: usize, P: Controller<N>, L: Law<N>, M: Net + Flush> Runner<'_, '_, N, P, L, M> {
    /// Runs the robot's task: connects, or listens, repeats this after every loss of a connection, and executes the
    /// engine's decisions. Returns after a [`shutdown`](crate::Handle::shutdown) has been executed.
    ///
    /// If the future is dropped earlier, the connections stay open until the `Runner` is dropped, and the arm does what
    /// its controller does without commands.
    pub async fn run(&mut self, observer: &mut impl Observer<N, P, L>) {
        let mut desk = RunnerApplication { shared: self.shared, observer };
        drive(&mut self.net, self.engine, &mut desk, WRITE_LIMIT).await;
        self.net.flush(FLUSH_LIMIT).await;
    }
}

/// The application of the loop `core::drive`: takes inputs from the mailbox and passes all else to the observer.
struct RunnerApplication<'r, O> {
    shared: &'r Shared,
    observer: &'r mut O,
}

impl<const N: usize, P: Controller<N>, L: Law<N>, O: Observer<N, P, L>> Application<N, P, L>
    for RunnerApplication<'_, O>
{
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
