//! The engine for a KRC: answers each measurement of the Fast Research Interface with one command.
//!
//! | input | does |
//! |---|---|
//! | `Start` | listens for measurements |
//! | a datagram | judges a measurement of the KRC by its counter; the newest waits to be answered |
//! | `Tick` | no more data waits in the socket: judges and answers the newest measurement, once |
//! | `Sample` | stores the newest reading of each sensor for the next cycle |
//! | `Request`, `Resume`, `Release`, `Acknowledge` | passes an operator's edge to the mode machine, like those of KRL variables |
//! | `Set` | sets a variable that the KRL program reads; every command from the next one on carries it |
//! | `Shutdown` | brings the arm to rest, then waits for the KRL program to leave the command state |
//! | time | detects a stall of this process, stale measurements and silence |
//!
//! The KRC owns the cycle: the engine never sends first. The table has its answer in each mode, for a KRC that follows
//! commands ("leads": command state *and* drives on) and for one that does not:
//!
//! | mode | the KRC follows | the KRC does not follow |
//! |---|---|---|
//! | `Monitor` | the last target, unchanged | the KRC's own setpoint, mirrored |
//! | `Arming`: the KRL program is requested to start | the last target, unchanged | mirrored |
//! | `Command` | the target, moved by the approved speeds | mirrored |
//! | `Stopping` | the target, braked to rest; then the program is requested to stop | mirrored |
//!
//! A torque or force that is added to the KRC's control law is sent in `Command` alone, and is zero in every other mode. The value that a law
//! adds (feature `motions`) changes no faster than its limit allows, in a cycle without a motion towards the configured constant.
//!
//! A target that the arm does not reach ends commanding ([`Tracking`]). One that is far from the measured position
//! prevents the start.
//!
//! The target is thus the mirrored setpoint whenever the KRC does not follow it, and starts there again after every
//! fallback, so that the setpoint never jumps.
//!
//! ```
//! use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
//! use outrigger_core::engine::{Input, Output};
//! use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//! use outrigger_wire::time::Instant;
//!
//! let law = JointServo::<7>::new(Reference::Hold, JointServoConfig::default());
//! let mut engine = KrcEngine::new(KrcConfig::default(), law, ())?;
//! engine.handle(Instant::ZERO, Input::Start);
//! assert!(matches!(engine.poll_output(), Some(Output::Listen { port: 49_938, .. })));
//! # Ok::<(), outrigger_core::engine::ConfigError>(())
//! ```

mod commanded_tool_frame;
mod config;
mod control_schemes;
mod controller;
mod conversation;
mod event;
mod krl_convention;
mod krl_variables;
mod position_target;
mod scheme_change;
mod scheme_mismatch;
mod sender_filter;
mod state_conversion;
mod target_bounds;
#[cfg(test)]
mod tests;
mod tracking_error_limits;

pub use config::{ArmLimits, KrcConfig, KrcOptions};
pub use control_schemes::{
    AddedLimits, Control, ControlRefusal, JointImpedance, MirroredFrame, TaskFrame, ToolImpedance,
};
pub use controller::{Krc, KrcStatus};
pub use event::{KrcCounts, KrcEvent, KrcReport};
pub use krl_convention::{KrlConvention, Wanted};
pub use krl_variables::KrlSet;
pub use scheme_change::Monitoring;
pub use state_conversion::pose_of;
pub use tracking_error_limits::Tracking;

/// The engine for a KRC.
pub type KrcEngine<'m, L> = super::Engine<'m, 7, Krc, L>;

/// The settings of a board for a KRC.
#[cfg(feature = "record")]
pub type KrcSettings = super::Settings<7, KrcOptions>;
