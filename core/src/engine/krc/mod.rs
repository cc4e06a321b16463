//! The remote computer beside a KRC: answers each measurement of the Fast Research Interface with one command.
//!
//! | input | does |
//! |---|---|
//! | `Start` | listens for measurements |
//! | a datagram | a measurement of the KRC is judged by its counter; the newest waits to be answered |
//! | `Tick` | nothing more waits in the socket: the newest measurement is judged and answered, once |
//! | `Sample` | the newest reading of each sensor is kept for the next cycle |
//! | `Request`, `Resume`, `Release`, `Acknowledge` | an operator's edges, to the mode machine; so are those of KRL variables |
//! | `Set` | a variable that the KRL program reads is carried by every command from the next one on |
//! | `Shutdown` | the arm is brought to rest, then the KRL program is waited for |
//! | time | a stall of our own, stale measurements and silence are seen |
//!
//! The KRC owns the cycle: the engine never speaks first. What it answers by mode, where the KRC follows commands
//! ("leads": command state *and* drives on) or does not:
//!
//! | mode | the KRC follows | it does not |
//! |---|---|---|
//! | `Monitor` | the last target, unchanged | the KRC's own setpoint, mirrored |
//! | `Arming`: the KRL program is asked to start | the last target, unchanged | mirrored |
//! | `Command` | the target, moved by the approved speeds | mirrored |
//! | `Stopping` | the target, braked to rest; then the program is asked to stop | mirrored |
//!
//! Torques or a force that the law adds (feature `motions`), and those of the configuration, go out only with a motion of the law: they are
//! zero in each other case.
//!
//! A target that the arm does not reach ends commanding ([`Tracking`]), and one that is far from the measured position is not
//! begun with.
//!
//! The target is thus the mirrored setpoint whenever the KRC does not follow it, and starts again from there after
//! every fallback: nothing jumps.
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

mod bounds;
mod config;
mod control;
mod controller;
mod conversation;
mod event;
mod handshake;
mod other_scheme;
mod reading;
mod scheme;
mod sender;
mod target;
#[cfg(test)]
mod tests;
mod tool;
mod tracking;
mod variables;

pub use config::{ArmLimits, KrcConfig, KrcOptions};
pub use control::{AddedLimits, Control, ControlRefusal, JointImpedance, MirroredFrame, TaskFrame, ToolImpedance};
pub use controller::{Krc, KrcStatus};
pub use event::{KrcCounts, KrcEvent, KrcReport};
pub use handshake::{KrlConvention, Wanted};
pub use reading::pose_of;
pub use scheme::Monitoring;
pub use tracking::Tracking;
pub use variables::KrlSet;

/// The engine beside a KRC.
pub type KrcEngine<'m, L> = super::Engine<'m, 7, Krc, L>;

/// Settings of a device beside such a controller.
#[cfg(feature = "record")]
pub type KrcSettings = super::Settings<7, KrcOptions>;
