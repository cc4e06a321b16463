//! The mode machine: decides whether the arm may be moved. One flat machine per robot, the same for every command path.
//!
//! | state | motion on the wire ([`Action`]) | goes to |
//! |---|---|---|
//! | [`Offline`](Mode::Offline) | none | `Monitor` |
//! | [`Monitor`](Mode::Monitor) | none; the mirrored position if the controller needs one | `Arming`, `Offline` |
//! | [`Arming`](Mode::Arming) | zero velocity or the mirrored position, for every state | `Command`, `Monitor`, `Offline` |
//! | [`Command`](Mode::Command) | one command per state | `Stopping`, `Offline` |
//! | [`Stopping`](Mode::Stopping) | zero velocity `stop_cycles` times, one `stopj`, nothing | `Monitor`, `Offline` |
//!
//! | to | when |
//! |---|---|
//! | `Monitor` | from `Offline`: the link is established |
//! | | from `Arming`: released, a precondition lost, a fault, no timely state for `state_timeout`, `arming_timeout` |
//! | | from `Stopping`: standstill is measured; after `stop_timeout`, with `MotionUnknown` |
//! | `Arming` | a request **edge**, and every precondition holds |
//! | `Command` | commands are accepted **and** `good_cycles` in a row |
//! | `Stopping` | released, the first bad reason, no timely state for `state_timeout` |
//! | `Offline` | the link is lost, from `Command` and `Stopping` with `MotionUnknown`; in `Monitor` no state for `offline_after` |
//!
//! * The first reason of a fallback is latched, later ones are collected as a set. Only
//!   [`acknowledge`](ModeMachine::acknowledge) clears them; it never moves anything. `Released` is no fault and latches
//!   nothing. Losing a link while nothing was commanded latches nothing either.
//! * A request is an edge. One that is refused is consumed: nothing starts later by itself. A level that was high at
//!   boot, or is still high after a fallback, is no edge; [`Operator`] judges lines and messages.
//! * While the robot is known not to run, or its safety system not to be NORMAL or REDUCED, no motion text is sent at
//!   all: `Stopping` waits without sending.
//! * `MotionUnknown` is cleared only by measured standstill. An arm that after a reconnect still moves by our own last
//!   command gets one `stopj`, from `Monitor`.
//! * A stop or a pause at the pendant ends commanding as a release does. After a stop nothing is sent as long as the
//!   arm slows down; after a pause one `stopj` replaces the paused program.
//! * A speed slider at 0 is no fault: see [`Scaling`].
//! * While the controller executes a move by itself ([`Drive::Delegated`]) the table applies with `Start`, `Keep` and
//!   `Cancel` as the commands of a cycle: see [`delegated_moves`].
//! * Freedrive and force mode are such moves, with limits of their own, and a client that renews them: see [`freedrive_supervision`].
//! * The permission to move is a value: [`Action::Move`] and [`Action::Start`] carry an [`Authority`] that borrows the
//!   machine, so it ends before the next transition.
//!
//! ```
//! use outrigger_core::mode::{Action, Evidence, Mode, ModeConfig, ModeMachine};
//! use outrigger_core::robot::Reason;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! let mut machine = ModeMachine::new(ModeConfig::new(Duration::from_millis(8)));
//! let now = Instant::from_micros(8_000);
//! assert!(machine.established(now).is_some_and(|transition| transition.to == Mode::Monitor));
//! // Nothing is known yet: a request is refused and spent, and nothing may go out.
//! let nothing = Evidence::default();
//! assert_eq!(machine.request(now, &nothing).unwrap_err(), Reason::AcceptanceUnknown);
//! assert!(machine.unmet(&nothing, now).contains(Reason::EvidenceMissing));
//! assert!(matches!(machine.action(), Action::Silent));
//! ```

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod acceptance;
pub mod delegated_moves;
mod evidence;
pub mod freedrive_supervision;
mod input_level;
mod linear_move_corridor;
mod machine;
mod mode_machine_config;
mod move_corridor;
#[cfg(feature = "programs")]
pub mod move_end;
#[cfg(feature = "programs")]
pub mod move_request_retry;
mod move_types;
mod operator;
mod operator_input_settings;
mod pacer;
mod pendant_watch;
#[cfg(feature = "urcap")]
mod plan_progress;
mod resident_program_stop;
mod scaling;
mod session_epoch;
mod standstill;
mod target_speed_check;
mod timed_fact;

#[cfg(test)]
mod tests;

pub use acceptance::{Acceptance, Activity, Proof};
pub use evidence::Evidence;
pub use freedrive_supervision::{ClientNumber, Guide, GuideLimits};
pub use input_level::Debounce;
pub use linear_move_corridor::LineCourse;
pub use machine::ModeMachine;
pub use mode_machine_config::{ModeConfig, ModeTuning};
pub use move_corridor::{Course, CourseConfig};
#[cfg(feature = "programs")]
pub use move_end::MoveEnd;
#[cfg(feature = "programs")]
pub use move_request_retry::Offer;
pub use move_types::{DelegatedConfig, Drive, Mirrored, MoveNumber};
pub use operator::{Channel, Contact, Lapse, Operator, OperatorAction, Outcome, Refusal};
pub use operator_input_settings::{OperatorConfig, RequestAs};
pub use pacer::Pacer;
pub use pendant_watch::{Pendant, PendantConfig, PendantReading, PendantStop, PendantWatch};
#[cfg(feature = "urcap")]
pub use plan_progress::PlanProgress;
pub use resident_program_stop::{ResidentReading, ResidentWatch};
pub use scaling::{Pace, Scaling, ScalingConfig};
pub use session_epoch::{Epoch, Intent};
pub use standstill::{Standstill, StandstillConfig};
pub use target_speed_check::{Followed, Following, FollowingConfig, FollowingTuning};
pub use timed_fact::TimedFact;

use crate::robot::{Authority, Reason};
use outrigger_wire::time::Instant;

/// A mode of the mode machine, from offline to commanding the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Mode {
    /// No link to the controller is established.
    Offline,
    /// States arrive from the controller; nothing is commanded.
    Monitor,
    /// Zero velocity only, to prove to the controller and to us that commands arrive.
    Arming,
    /// The arm is commanded, and may move.
    Command,
    /// The arm is brought to rest, because commanding has ended.
    Stopping,
}

impl Mode {
    /// All modes of the mode machine, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Offline, Self::Monitor, Self::Arming, Self::Command, Self::Stopping];

    /// Returns `true` if the arm may move because of us: it is armed, commanded, or being brought to rest.
    #[must_use]
    pub const fn drives(self) -> bool {
        match self {
            Self::Offline | Self::Monitor => false,
            Self::Arming | Self::Command | Self::Stopping => true,
        }
    }

    /// Returns the name that reports use for the mode.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Offline => "Offline",
            Self::Monitor => "Monitor",
            Self::Arming => "Arming",
            Self::Command => "Command",
            Self::Stopping => "Stopping",
        }
    }
}

/// The readiness of the controller, and of the command path to it, to be commanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum PeerGate {
    /// The controller takes no commands, or there is no path on which to send commands.
    #[default]
    No,
    /// The controller cannot take our commands by the configured command path.
    Unfit,
    /// The controller reports another arm, or other software, than is configured.
    Other,
    /// A stop at the pendant cannot be seen, and the configuration does not allow that it is overridden.
    Unseen,
    /// The program that takes the commands does not run, and has to be started at the robot.
    Away,
    /// Commands may be sent to the controller. [`Acceptance`] shows whether it accepts them.
    Ready,
    /// The controller reports that it follows our commands (FRI's command state with power on).
    Granted,
}

/// The motion output that is permitted in this cycle. I/O and dashboard are not motion and need no permission here.
#[derive(Debug)]
#[must_use]
pub enum Action<'m> {
    /// No motion text is sent in this cycle.
    Silent,
    /// The controller's own setpoint is sent back unchanged, if it needs an answer to every state (FRI). A robot that
    /// holds its position without commands is sent nothing.
    Mirror,
    /// Zero velocity is sent in this cycle.
    Hold,
    /// A command that moves the arm, approved with this authority.
    Move(Authority<'m>),
    /// This move is sent, once, to the program that executes moves, approved with this authority.
    Start(Authority<'m>, MoveNumber),
    /// A keep-alive to the program that executes moves; it neither moves the arm nor ends anything.
    Keep,
    /// A message that ends this move, sent to the program that executes moves; it starts no other program.
    Cancel(MoveNumber),
    /// A `stopj` is sent, or the equivalent of the command path.
    Stop,
}

/// A transition of the mode machine from one mode to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct Transition {
    /// The mode before the transition.
    pub from: Mode,
    /// The mode after the transition.
    pub to: Mode,
    /// The reason for a transition away from commanding the arm; `None` for a step towards it.
    pub reason: Option<Reason>,
    /// The time of the transition between the modes.
    pub at: Instant,
    /// The epoch (a counter of connections and losses of authority) that requests after the transition must carry.
    pub epoch: Epoch,
}

impl Transition {
    /// Returns the reason if arming, commanding or stopping ended other than by [`Reason::Released`]: a recording is
    /// kept for it. `None` for every other transition, also for a link that is lost in `Monitor`.
    #[must_use]
    pub fn fallback(&self) -> Option<Reason> {
        self.reason.filter(|reason| self.from.drives() && *reason != Reason::Released)
    }
}
