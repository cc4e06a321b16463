//! May the arm be moved? One flat machine per robot, the same for every command path.
//!
//! | state | motion on the wire ([`Action`]) | goes to |
//! |---|---|---|
//! | [`Offline`](Mode::Offline) | none | `Monitor` |
//! | [`Monitor`](Mode::Monitor) | none; the mirrored position where the peer needs one | `Arming`, `Offline` |
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
//! * The first reason of a fallback is latched, later ones are kept as a set. Only
//!   [`acknowledge`](ModeMachine::acknowledge) clears them; it never moves anything. `Released` is no fault
//!   and latches nothing, and neither does losing a link over which nothing was commanded.
//! * A request is an edge. One that is refused is spent: nothing begins later by itself. A level that was high
//!   at boot, or is still high after a fallback, is no edge; what lines and messages say is judged by [`Operator`].
//! * While the robot is known not to run, or its safety system not to be NORMAL or REDUCED, no motion text is
//!   sent at all: `Stopping` waits in silence.
//! * `MotionUnknown` is cleared by measured standstill alone. An arm that after a reconnect still moves by our
//!   own last command gets one `stopj`, from `Monitor`.
//! * A stop or a pause at the pendant ends commanding as a release does. After a stop nothing is said as long as the arm
//!   slows down; after a pause one `stopj` takes the paused program's place.
//! * A slider at 0 is no fault: see [`Scaling`].
//! * While the controller executes a move by itself ([`Drive::Delegated`]) the table holds, with `Start`, `Keep` and
//!   `Cancel` for the commands of a cycle: see [`delegated`].
//! * A hand or a force that moves the arm is such a move, with limits of its own, and somebody who renews it: see [`guide`].
//! * The right to move is a value: [`Action::Move`] and [`Action::Start`] carry an [`Authority`] that borrows the machine, so it
//!   is gone before the next transition.
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
mod config;
mod course;
pub mod delegated;
mod evidence;
mod following;
pub mod guide;
mod held;
mod line;
mod line_course;
mod machine;
#[cfg(feature = "programs")]
pub mod move_end;
mod moves;
#[cfg(feature = "programs")]
pub mod offer;
mod operator;
mod operator_config;
mod pacer;
mod pendant;
#[cfg(feature = "urcap")]
mod pursuit;
mod request;
mod resident;
mod scaling;
mod standstill;

#[cfg(test)]
mod tests;

pub use acceptance::{Acceptance, Activity, Proof};
pub use config::{ModeConfig, ModeTuning};
pub use course::{Course, CourseConfig};
pub use evidence::Evidence;
pub use following::{Followed, Following, FollowingConfig, FollowingTuning};
pub use guide::{Asker, Guide, GuideLimits};
pub use held::Held;
pub use line::Debounce;
pub use line_course::LineCourse;
pub use machine::ModeMachine;
#[cfg(feature = "programs")]
pub use move_end::MoveEnd;
pub use moves::{DelegatedConfig, Drive, Mirrored, MoveNumber};
#[cfg(feature = "programs")]
pub use offer::Offer;
pub use operator::{Channel, Contact, Lapse, Operator, Outcome, Refusal, Word};
pub use operator_config::{OperatorConfig, RequestAs};
pub use pacer::Pacer;
pub use pendant::{Pendant, PendantConfig, PendantReading, PendantStop, PendantWatch};
#[cfg(feature = "urcap")]
pub use pursuit::Pursuit;
pub use request::{Epoch, Intent};
pub use resident::{ResidentReading, ResidentWatch};
pub use scaling::{Pace, Scaling, ScalingConfig};
pub use standstill::{Standstill, StandstillConfig};

use crate::robot::{Authority, Reason};
use outrigger_wire::time::Instant;

/// State of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Mode {
    /// No link.
    Offline,
    /// States arrive; nothing is commanded.
    Monitor,
    /// Showing the peer, and ourselves, that commands arrive: zero velocity only.
    Arming,
    /// Commanding.
    Command,
    /// Bringing the arm to rest.
    Stopping,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [Self::Offline, Self::Monitor, Self::Arming, Self::Command, Self::Stopping];

    /// Whether the arm may move by our doing: it is armed, commanded, or being brought to rest.
    #[must_use]
    pub const fn drives(self) -> bool {
        match self {
            Self::Offline | Self::Monitor => false,
            Self::Arming | Self::Command | Self::Stopping => true,
        }
    }

    /// The name used in reports.
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

/// What the peer itself says about being commanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum PeerGate {
    /// It takes no commands, or there is no path to send them.
    #[default]
    No,
    /// It cannot take them in the way that is configured.
    Unfit,
    /// The controller reports another arm, or other software, than is configured.
    Other,
    /// A stop at the pendant cannot be seen, and the configuration does not allow that it is overridden.
    Unseen,
    /// The program that takes them does not run, and somebody at the robot has to start it.
    Away,
    /// Commands may be sent. Whether they are accepted is for [`Acceptance`] to show.
    Ready,
    /// It reports that it follows our commands (FRI's command state with power on).
    Granted,
}

/// What this cycle may put on the wire. I/O and dashboard are not motion and not asked about here.
#[derive(Debug)]
#[must_use]
pub enum Action<'m> {
    /// No motion text.
    Silent,
    /// The peer's own setpoint, unchanged, where it needs an answer to every state (FRI). A robot that stays where it is
    /// without being told is sent nothing.
    Mirror,
    /// Zero velocity.
    Hold,
    /// A moving command, approved with this authority.
    Move(Authority<'m>),
    /// This move is given to the program that executes it, approved with this authority: once.
    Start(Authority<'m>, MoveNumber),
    /// A keep-alive to that program, which moves nothing and ends nothing.
    Keep,
    /// That program is told to end this move, if it executes it: a message, never a program of its own.
    Cancel(MoveNumber),
    /// `stopj`, or what the path has for it.
    Stop,
}

/// The machine went from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct Transition {
    /// Before.
    pub from: Mode,
    /// After.
    pub to: Mode,
    /// Why, on the way down; `None` on the way up.
    pub reason: Option<Reason>,
    /// When.
    pub at: Instant,
    /// The epoch from now on: the one that a request must carry.
    pub epoch: Epoch,
}

impl Transition {
    /// Why arming, commanding or stopping ended as nobody had asked for: what a recording is kept of. A link that is lost in
    /// `Monitor`, and a release, are none.
    #[must_use]
    pub fn fallback(&self) -> Option<Reason> {
        self.reason.filter(|reason| self.from.drives() && *reason != Reason::Released)
    }
}
