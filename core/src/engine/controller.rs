//! The interface between the engine and one kind of controller.
//!
//! A controller turns bytes into states of the arm, facts about the robot and faults, and commands into bytes. It knows
//! neither the law that moves the arm nor how a command is decided. The engine calls it in this order for a state:
//!
//! | call | returns |
//! |---|---|
//! | [`Controller::commit`] | `true` if a state is to be judged at once |
//! | [`Controller::facts`] | the facts that the state does not carry |
//! | [`Controller::prepare`] | `true` if a command can be sent |
//! | [`Controller::write`] | `true` if the command became bytes; otherwise it may be stored for `conclude` |
//! | [`Controller::conclude`] | `true` if the output that is independent of the command answers the state; a KRC's one answer to the measurement is made here |

mod controller_arguments;
mod link_roles;

use super::config::{Config, ConfigError, Data, Options};
#[cfg(feature = "record")]
use super::cycle::CycleConfig;
use super::cycle::{CycleMemory, MotionProgress, SideFacts, Verdict};
use super::event::Events;
use super::io::{Input, LinkId, Output};
#[cfg(feature = "programs")]
use crate::command::Guidance;
use crate::command::JointMove;
#[cfg(feature = "motions")]
use crate::command::{Destination, LocateError, MoveTarget};
use crate::kinematics::{KinematicChain, Posture};
use crate::law::FeedError;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::mode::OperatorAction;
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::Reason;
use crate::trajectory::{Leg, Waypoint};
#[cfg(feature = "motions")]
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::{Duration, Instant};

pub(super) use controller_arguments::{Context, Judged, Received};
pub(super) use link_roles::Waiting;
pub use link_roles::{LinkRoles, LinkSet};

/// The types and the abilities of one kind of controller.
pub trait ControllerKind: Sized + sealed::Sealed {
    /// An event that only this kind of controller reports.
    type Event: Data;
    /// The settings that only this kind of controller has.
    type Options: Options;
    /// The status that only this kind of controller shows in telemetry.
    type Status: ControllerStatus;
    /// The memory that the controller receives into, passed in when the engine is made.
    type Memory;

    /// `true` if a link of the controller listens for connections, apart from datagrams. Otherwise a loop omits the
    /// code for it.
    const LISTENS: bool = false;

    /// `true` if the controller can execute moves by itself. Otherwise its progress is never queried, and requests
    /// for moves are rejected by the defaults of [`Delegated`].
    const DELEGATES: bool = false;
}

/// One kind of controller: [`Ur`](super::ur::Ur) or [`Krc`](super::krc::Krc).
///
/// Sealed: an engine trusts its controller with the bytes that move an arm.
pub trait Controller<const N: usize>: ControllerKind + Delegated<N> + ArmFacts<N> + Recorded<N> {
    /// Creates a controller to which nothing has been sent, and the cycle's memory with the thresholds for this
    /// controller. If moves are [delegated](ControllerKind::DELEGATES), their thresholds are checked here.
    ///
    /// # Errors
    /// The first fault of the configuration or the memory.
    fn new(config: &Config<N, Self::Options>, memory: Self::Memory) -> Result<(Self, CycleMemory<N>), ConfigError>;

    /// Handles every deadline of the conversation with the controller that has passed.
    fn wake(&mut self, cx: &mut Context<'_, N, Self>);

    /// Handles an input about links or about an output, the start, or an acknowledgement. The engine handles all others.
    fn handle(&mut self, input: Input, cx: &mut Context<'_, N, Self>);

    /// Returns the memory into which the next bytes from `link` are received.
    fn receive_window(&mut self, link: LinkId) -> &mut [u8];

    /// Takes bytes that were received into the receive window of a link. Returns `true` if a state of the arm that has
    /// arrived is to be judged at once; otherwise it is judged at the next tick.
    fn commit(&mut self, received: &Received, cx: &mut Context<'_, N, Self>) -> bool;

    /// Returns the facts about the controller, such as its modes, that the packet of the newest state does not carry,
    /// right before the engine decides on this state whether the arm may be commanded.
    fn facts(&mut self, cx: &mut Context<'_, N, Self>) -> SideFacts;

    /// Takes note of the state if the engine has just `judged` one, then prepares the path on which commands are sent.
    /// Returns `false` if no command can be sent in this call. It is called a second time, without a state, if the command is
    /// rejected and the controller [listens](ControllerKind::LISTENS).
    fn prepare(&mut self, judged: Option<Judged>, cx: &mut Context<'_, N, Self>) -> bool;

    /// Makes the bytes of this cycle's command to the controller. Returns `true` if there are any.
    ///
    /// # Errors
    /// The reason that ends commanding instead.
    fn write(&mut self, verdict: Verdict<'_, N>) -> Result<bool, Reason>;

    /// Makes the output to the controller that follows the command: text that sets outputs (UR), the datagram with the
    /// command (KRC). Returns `true` if this output answers the state.
    fn conclude(&mut self, cx: &mut Context<'_, N, Self>) -> bool;

    /// Disconnects after a shutdown, with the arm at rest since `rest`, once no program on the controller is awaited to end
    /// any more. Returns `true` when done.
    fn leave(&mut self, rest: Instant, cx: &mut Context<'_, N, Self>) -> bool;

    /// Returns `true` while a session with the controller is established, so that the engine uses its states.
    fn is_established(&self) -> bool;

    /// Returns the kind of output (bytes to write, or links to open or close) that the port, the code that does the
    /// engine's I/O, has to carry out next, if any.
    fn waiting(&self) -> Waiting;

    /// Returns the next output that the port, the code that does the engine's I/O, has to carry out; `None` once all
    /// are taken.
    fn poll_output(
        &mut self,
        config: &Config<N, Self::Options>,
        events: &mut Events<Self::Event>,
    ) -> Option<Output<'_>>;

    /// Returns the latest time at which [`wake`](Self::wake) must be called next; `None` if nothing is waited for.
    fn next_deadline(&self, now: Instant, config: &Config<N, Self::Options>, cycle: &CycleMemory<N>)
    -> Option<Instant>;

    /// Returns the roles that the controller's links have at present.
    fn links(&self) -> LinkRoles;

    /// Returns the status of the controller that telemetry and displays show.
    fn status(&self) -> Self::Status;
}

/// Motion that a controller executes by itself, by a program that we have sent to the controller.
pub trait Delegated<const N: usize>: ControllerKind {
    /// Ends our program on the controller, or sends it again, on behalf of an operator (`word`), unless `free` contains
    /// a reason against it.
    ///
    /// # Errors
    /// [`Reason::NoSuchProgram`] if this session has no such program, the reason in `free`, [`Reason::ProgramAway`] if
    /// no program runs that could be ended, [`Reason::ProgramRuns`] if it is running already.
    #[cfg(feature = "programs")]
    fn word_for_program(&mut self, word: OperatorAction, free: Result<(), Reason>, now: Instant) -> Result<(), Reason> {
        let _ = (word, free, now);
        Err(Reason::NoSuchProgram)
    }

    /// Returns the progress of the motion that the controller executes, as of the newest `state`.
    fn executed(&mut self, state: &State<N>, now: Instant) -> MotionProgress {
        let _ = (state, now);
        MotionProgress::default()
    }

    /// Stores the move that the controller is to execute under this number, from `state` on. The cycle's command to
    /// start a move (`Verdict::Start`) sends it, once.
    fn delegated(&mut self, number: MoveNumber, asked: JointMove<N>, state: &State<N>) {
        let _ = (number, asked, state);
    }

    /// Returns the move that was passed last to [`delegated`](Self::delegated); `None` if there is none.
    fn asked(&self) -> Option<JointMove<N>> {
        None
    }

    /// Asks the controller for the joint positions of a pose, or the pose of joint positions.
    ///
    /// # Errors
    /// [`Reason::NoSuchProgram`] if no program of ours can answer.
    #[cfg(feature = "motions")]
    fn locate(&mut self, target: MoveTarget<N>) -> Result<(), Reason> {
        let _ = target;
        Err(Reason::NoSuchProgram)
    }

    /// Returns the joint positions or the pose that [`locate`](Self::locate) requested, or the error for which there are
    /// none; `None` before the answer arrives.
    #[cfg(feature = "motions")]
    fn located(&self) -> Option<Result<Destination<N>, LocateError>> {
        None
    }

    /// Checks that a program of ours supports freedrive and force mode.
    ///
    /// # Errors
    /// [`Reason::NoSuchProgram`] if none can.
    #[cfg(feature = "programs")]
    fn can_guide(&self) -> Result<(), Reason> {
        Err(Reason::NoSuchProgram)
    }

    /// Stores the parameters of freedrive or force mode. The cycle's command to start it (`Verdict::Guide`) sends them.
    /// For force mode `beside` a move that the controller executes, the next keep-alive (`Verdict::Keep`) sends them.
    #[cfg(feature = "programs")]
    fn guided(&mut self, what: Guidance, beside: bool) {
        let _ = (what, beside);
    }

    /// Records that the move which the controller executes is to come to rest from now on, wherever the arm is.
    #[cfg(feature = "programs")]
    fn move_ends(&mut self) {}

    /// Sets whether a contact of the tool ends the motion that the controller executes.
    ///
    /// # Errors
    /// The reason for which it is not possible.
    #[cfg(feature = "programs")]
    fn stop_at_contact(&mut self, stops: bool) -> Result<(), Reason> {
        let _ = stops;
        Err(Reason::NoSuchProgram)
    }

    /// Returns the number of waypoints that can be appended now to the move along waypoints.
    fn leg_room(&self) -> usize {
        0
    }

    /// Returns the leg from the last waypoint of the move along waypoints to this one, with the end of the move there
    /// if it is the `last`.
    ///
    /// # Errors
    /// The fault of the waypoint.
    fn leg_to(&self, to: &Waypoint<N>, last: bool) -> Result<Leg<N>, FeedError> {
        let _ = (to, last);
        Err(FeedError::NoMotion)
    }

    /// Appends this waypoint, within the limits, to the move along waypoints; the move ends there if it is the `last`.
    fn lead_on(&mut self, to: &Waypoint<N>, last: bool) {
        let _ = (to, last);
    }

    /// Returns the time since the beginning of the move along waypoints, in the move's own time (which a lower speed
    /// scaling slows down), as its program reports it; `None` if none is reported.
    fn led(&self) -> Option<Duration> {
        None
    }

    /// Sets the tolerances of the move along waypoints.
    ///
    /// # Errors
    /// [`FeedError::NoMotion`] if there is no such move.
    #[cfg(feature = "motions")]
    fn hold_to(&mut self, tolerances: Tolerances<N>) -> Result<(), FeedError> {
        let _ = tolerances;
        Err(FeedError::NoMotion)
    }

    /// Returns the tolerances of the move along waypoints, and how well the move keeps them; `None` if it has none.
    #[cfg(feature = "motions")]
    fn tolerated(&self) -> Option<&Watch<N>> {
        None
    }
}

/// The facts about the arm that only some kinds of controller have.
pub trait ArmFacts<const N: usize>: ControllerKind {
    /// Returns the arm's kinematics, as far as they are known by now; `None` if they are unknown.
    fn kinematics(&self, config: &Config<N, Self::Options>) -> Option<KinematicChain<N>> {
        let _ = config;
        None
    }

    /// Returns the tool's pose and the Jacobian of the newest state; `None` if the controller does not measure them, or
    /// if there is no state.
    fn posture(&self) -> Option<&Posture<N>> {
        None
    }

    /// Records, before each command, whether the motion of the control law has `ended`.
    fn motion_ended(&mut self, _ended: bool) {}

    /// Returns `true` once the arm has reached the end of a motion, or if the controller does not wait for that.
    fn has_converged(&self) -> bool {
        true
    }

    /// Returns the commanded joint speeds \[rad/s\]; `None` if they are the speeds that the governor approved.
    fn commanded(&self) -> Option<JointVelocities<N>> {
        None
    }
}

/// The functions of a controller that recordings and their checkpoints need.
#[cfg(feature = "record")]
pub trait Recorded<const N: usize>: ControllerKind {
    /// Returns the `count` bytes that were received into the window of `link`, before they are committed.
    fn received(&mut self, link: LinkId, count: usize) -> &[u8];

    /// Returns the size of the memory into which each link receives \[B\].
    fn memory_sizes(&self) -> MemorySizes;

    /// Shortens the receive `memory` of the links to the recorded `sizes` \[B\]; `None` if the memory is smaller.
    fn exactly(memory: Self::Memory, sizes: MemorySizes) -> Option<Self::Memory>;

    /// Returns the bytes for the controller that were made in this call of the engine, in the order of writing; empty
    /// if none were made.
    fn made(&self) -> [&[u8]; 3];

    /// Returns the next bytes for the controller that the last input made. Other outputs, such as those about links,
    /// are skipped.
    fn next_made(&mut self) -> Option<&[u8]>;

    /// Saves everything that decides the controller's further behaviour in a checkpoint, except the configuration;
    /// `None` if the room is too small.
    fn save(&self, to: &mut Saver<'_>) -> Option<()>;

    /// Restores the state of this controller that was saved by [`save`](Self::save). Returns the thresholds of the
    /// control cycle in the session at that time, or those before the first session; `None` if it cannot be read.
    fn load(&mut self, from: &mut Loader<'_>, config: &Config<N, Self::Options>) -> Option<CycleConfig>;
}

/// The functions of a controller that recordings need: none, because this build does not record.
#[cfg(not(feature = "record"))]
pub trait Recorded<const N: usize>: ControllerKind {}

#[cfg(not(feature = "record"))]
impl<const N: usize, C: ControllerKind> Recorded<N> for C {}

/// The status that only one kind of controller shows in telemetry.
pub trait ControllerStatus: Data {
    /// The letter of this kind of controller in telemetry.
    const KIND: u8;
}

/// The size of the receive memory of each link \[B\]; 0 if there is none.
#[cfg(feature = "record")]
pub(super) type MemorySizes = [u32; 4];

pub(super) mod sealed {
    pub trait Sealed {}
}
