//! What an engine needs of one kind of controller: its conversation, what it knows, and how commands become bytes.

use core::net::SocketAddr;

use super::config::{Config, ConfigError, Data, Options};
use super::cycle::{Beside, Cycle, Executed, Verdict};
use super::event::Events;
use super::io::{Input, LinkId, Output};
#[cfg(feature = "programs")]
use crate::command::Guidance;
use crate::command::JointMove;
#[cfg(feature = "motions")]
use crate::command::{Destination, LocateError, MoveTarget};
use crate::law::{FeedError, Law};
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::mode::Word;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::Reason;
use crate::trajectory::{Leg, Waypoint};
#[cfg(feature = "motions")]
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

/// One kind of controller: [`Ur`](super::ur::Ur) or [`Krc`](super::krc::Krc).
///
/// Sealed: an engine trusts its peer with the bytes that move an arm.
pub trait Peer<const N: usize>: Sized + sealed::Sealed {
    /// What only this kind of controller reports.
    type Event: Data;
    /// What only this kind of controller needs to be told of.
    type Options: Options;
    /// What only this kind of controller has to show.
    type Status: PeerStatus;
    /// Memory that it receives into.
    type Memory;

    /// The link whose bytes the controller has not acknowledged are to be reported by [`Input::Unacked`]: it carries commands.
    const ACKNOWLEDGED: Option<LinkId>;

    /// That link, where it is another one now.
    fn acknowledged_link(&self) -> Option<LinkId> {
        Self::ACKNOWLEDGED
    }

    /// Whether one of its links waits for connections (datagrams aside). Where none does, a loop leaves out what only that
    /// needs.
    const LISTENS: bool = false;

    /// Whether the controller is given moves to execute by itself. Where it is not, [`executed`](Self::executed) and its
    /// neighbours are never called, and left out; where it is, [`new`](Self::new) checks the thresholds of moves.
    const DELEGATES: bool = false;

    /// A conversation that has not begun.
    ///
    /// # Errors
    /// What is wrong with the configuration or the memory.
    fn new<L: Law<N>>(
        config: &Config<N, Self::Options>,
        memory: Self::Memory,
        law: L,
    ) -> Result<(Self, Cycle<N, L>), ConfigError>;

    /// Time has passed: what it alone decides.
    fn wake<L: Law<N>>(&mut self, cx: &mut Context<'_, N, Self, L>);

    /// An input about links, or about what is set beside the motion; the others are the engine's own.
    fn handle<L: Law<N>>(&mut self, input: Input, cx: &mut Context<'_, N, Self, L>);

    /// A word for the program of ours on the controller, which is carried out where that is `free` to be done.
    ///
    /// # Errors
    /// Why it is not: what is not `free`, or that there is no such program.
    #[cfg(feature = "programs")]
    fn word_for_program(&mut self, word: Word, free: Result<(), Reason>, now: Instant) -> Result<(), Reason> {
        let _ = (word, free, now);
        Err(Reason::NoSuchProgram)
    }

    /// Where the next bytes received on `link` go.
    fn receive_window(&mut self, link: LinkId) -> &mut [u8];

    /// Bytes were received into the window. Whether they complete what is to be judged; otherwise it waits for the next
    /// tick.
    fn commit<L: Law<N>>(&mut self, received: &Received, cx: &mut Context<'_, N, Self, L>) -> bool;

    /// What is known beside the newest state, which is judged now.
    fn beside<L: Law<N>>(&mut self, cx: &mut Context<'_, N, Self, L>) -> Beside;

    /// What is known of motion that the controller executes, beside `state`, which is judged now.
    fn executed(&mut self, state: &State<N>, now: Instant) -> Executed {
        let _ = (state, now);
        Executed::default()
    }

    /// The controller is to execute `asked` by this number, from `state` on: by `Verdict::Start`, once.
    fn delegated(&mut self, number: MoveNumber, asked: JointMove<N>, state: &State<N>) {
        let _ = (number, asked, state);
    }

    /// The controller is to say where this is.
    ///
    /// # Errors
    /// That no program of ours can be asked.
    #[cfg(feature = "motions")]
    fn locate(&mut self, target: MoveTarget<N>) -> Result<(), Reason> {
        let _ = target;
        Err(Reason::NoSuchProgram)
    }

    /// What it has said of that; `None` before.
    #[cfg(feature = "motions")]
    fn located(&self) -> Option<Result<Destination<N>, LocateError>> {
        None
    }

    /// The move that was given to [`delegated`](Self::delegated) last.
    fn asked(&self) -> Option<JointMove<N>> {
        None
    }

    /// Whether a program of ours lets a hand or a force move the arm.
    ///
    /// # Errors
    /// That there is none.
    #[cfg(feature = "programs")]
    fn can_guide(&self) -> Result<(), Reason> {
        Err(Reason::NoSuchProgram)
    }

    /// The arm is to give way so: by `Verdict::Guide`, once, or beside the move that it executes, from the next `Verdict::Keep`
    /// on.
    #[cfg(feature = "programs")]
    fn guided(&mut self, what: Guidance, beside: bool) {
        let _ = (what, beside);
    }

    /// The move that the controller executes comes to rest from now on, wherever that is.
    #[cfg(feature = "programs")]
    fn move_ends(&mut self) {}

    /// Whether a contact of the tool is to end what the controller executes.
    ///
    /// # Errors
    /// Why that cannot be.
    #[cfg(feature = "programs")]
    fn stop_at_contact(&mut self, stops: bool) -> Result<(), Reason> {
        let _ = stops;
        Err(Reason::NoSuchProgram)
    }

    /// How many waypoints can be taken now for the move that leads on.
    fn leg_room(&self) -> usize {
        0
    }

    /// The leg from the last waypoint of the move that leads on to this one, which is to be the `last` or not.
    ///
    /// # Errors
    /// What is wrong with it.
    fn leg_to(&self, to: &Waypoint<N>, last: bool) -> Result<Leg<N>, FeedError> {
        let _ = (to, last);
        Err(FeedError::NoMotion)
    }

    /// The move leads on to this waypoint, within the limits, and ends there where it is the `last`.
    fn lead_on(&mut self, to: &Waypoint<N>, last: bool) {
        let _ = (to, last);
    }

    /// How much of its own time the move that leads on has made, as its program shows.
    fn led(&self) -> Option<Duration> {
        None
    }

    /// The move that leads on is to be held to these.
    ///
    /// # Errors
    /// That there is none.
    #[cfg(feature = "motions")]
    fn hold_to(&mut self, tolerances: Tolerances<N>) -> Result<(), FeedError> {
        let _ = tolerances;
        Err(FeedError::NoMotion)
    }

    /// How the move that leads on is held to its tolerances, where it is.
    #[cfg(feature = "motions")]
    fn tolerated(&self) -> Option<&Watch<N>> {
        None
    }

    /// The newest state, which arrived at `arrival`, has been judged.
    fn judged<L: Law<N>>(&mut self, arrival: Instant, cx: &mut Context<'_, N, Self, L>);

    /// Somebody has acknowledged.
    fn acknowledged<L: Law<N>>(&mut self, cx: &mut Context<'_, N, Self, L>);

    /// Whether the cycle is asked what goes out now.
    fn prepare<L: Law<N>>(&mut self, now: Instant, cycle: &Cycle<N, L>) -> bool;

    /// Makes bytes of what the cycle decided: the only place where they are made. Whether there are any.
    ///
    /// # Errors
    /// What ends commanding instead.
    fn write(&mut self, verdict: Verdict<'_, N>) -> Result<bool, Reason>;

    /// What goes out beside it, or all the same. Whether bytes were made that answer the state.
    fn conclude<L: Law<N>>(&mut self, cx: &mut Context<'_, N, Self, L>) -> bool;

    /// After a shutdown, with the arm at rest since then: whether nothing is waited for any more.
    fn has_left(&self, rest: Instant, now: Instant) -> bool;

    /// Everything is closed.
    fn shut_down<L: Law<N>>(&mut self, cx: &mut Context<'_, N, Self, L>);

    /// Whether a controller is there whose states are judged.
    fn is_established(&self) -> bool;

    /// Whether links are still to be opened or closed.
    fn has_link_output(&self) -> bool;

    /// Whether there is anything for the port to do.
    fn has_output(&self) -> bool;

    /// The next thing for the port to do.
    fn poll_output(
        &mut self,
        config: &Config<N, Self::Options>,
        events: &mut Events<Self::Event>,
    ) -> Option<Output<'_>>;

    /// When it wants to be woken at the latest.
    fn next_deadline<L: Law<N>>(
        &self,
        now: Instant,
        config: &Config<N, Self::Options>,
        cycle: &Cycle<N, L>,
    ) -> Option<Instant>;

    /// Whether what the link brings can be read some 50 ms late: states, and what answers commands, come by others.
    fn can_wait(&self, link: LinkId) -> bool {
        let _ = link;
        false
    }

    /// Whether bytes of the link were reported as not acknowledged.
    fn has_unacked(&self, link: LinkId) -> bool;

    /// The speeds that are commanded, where they are not those that were approved \[rad/s\].
    fn commanded(&self) -> Option<JointVelocities<N>>;

    /// What there is to show now.
    fn status(&self) -> Self::Status;

    /// What it receives into.
    #[cfg(feature = "record")]
    fn received(&mut self, link: LinkId, count: usize) -> &[u8];

    /// How much it receives into \[B\], by link.
    #[cfg(feature = "record")]
    fn memory_sizes(&self) -> MemorySizes;

    /// Exactly so much of `memory`; `None` where there is less.
    #[cfg(feature = "record")]
    fn exactly(memory: Self::Memory, sizes: MemorySizes) -> Option<Self::Memory>;

    /// What went out in this call, in the order of the writing; empty where nothing did.
    #[cfg(feature = "record")]
    fn made(&self) -> [&[u8]; 3];

    /// The next bytes that the last input made, with everything else left out.
    #[cfg(feature = "record")]
    fn next_made(&mut self) -> Option<&[u8]>;

    /// Everything that decides what follows, except the configuration.
    #[cfg(feature = "record")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()>;

    /// Goes on from what was saved.
    #[cfg(feature = "record")]
    fn load(&mut self, from: &mut Loader<'_>, config: &Config<N, Self::Options>) -> Option<()>;
}

/// What only one kind of controller has to show.
pub trait PeerStatus: Data {
    /// The letter that tells telemetry of this kind apart.
    const KIND: u8;
}

/// What receive memory each link has \[B\]; 0 where there is none.
#[cfg(feature = "record")]
pub(super) type MemorySizes = [u32; 4];

/// What a peer works with in one call of the engine.
#[derive(Debug)]
pub struct Context<'c, const N: usize, P: Peer<N>, L> {
    pub(super) now: Instant,
    pub(super) config: &'c Config<N, P::Options>,
    pub(super) cycle: &'c mut Cycle<N, L>,
    pub(super) events: &'c mut Events<P::Event>,
    /// The engine was started and not told to shut down.
    pub(super) running: bool,
}

/// Bytes that were received.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    pub(super) link: LinkId,
    pub(super) count: usize,
    /// Whose datagram it is; `None` for a connection.
    pub(super) from: Option<SocketAddr>,
    /// When they were read.
    pub(super) arrival: Instant,
}

pub(super) mod sealed {
    pub trait Sealed {}
}
