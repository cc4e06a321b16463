//! Engines that speak with one controller, without sockets, clocks or tasks.
//!
//! **One input, then drain `poll_output` and `poll_event` until both are `None`, then sleep until `poll_timeout`.**
//!
//! An engine reads no clock, allocates nothing and does not panic: time is an argument, memory is handed in when it is
//! made, and any bytes on any link end in a value, an event or a counted skip.

mod co_controller;
mod coast;
mod config;
mod connector;
mod cycle;
mod event;
pub mod fri;
mod identity;
mod intake;
mod io;
#[cfg(feature = "postcard")]
mod keep;
mod outputs;
mod path;
mod primary;
mod realtime;
#[cfg(feature = "postcard")]
mod record;
pub mod rtde;
#[cfg(feature = "postcard")]
mod settings;
#[cfg(feature = "postcard")]
mod snapshot;
mod terminals;
mod view;

#[cfg(test)]
pub(crate) mod tests;

pub use co_controller::{CoController, Memory};
pub use coast::Coast;
pub use config::{
    Config, ConfigError, Conflict, ConnectConfig, FollowingTuning, GradeLimitsTuning, GradeTuning, LinkTuning,
    ModeTuning, OutputsBy, Ports, StatesFrom,
};
pub use event::{DownCause, Event, Next};
pub use identity::{Identity, KnownBy, oldest_software};
pub use io::{Endpoint, Input, LinkId, Output};
#[cfg(feature = "postcard")]
pub use keep::KeptFallback;
pub use path::{FormChoice, TextConfig, TextPath};
pub use primary::{ArmConfiguration, Facts, Geometry};
#[cfg(feature = "postcard")]
pub use record::{DUMP_END_LEN, Outcome, ReplayError, Replayed, recorded_config, recorded_transitions, replay};
#[cfg(feature = "postcard")]
pub use settings::{Device, KrcSettings, Sensor, SensorInput, Settings, SettingsError, TelemetryTarget};
#[cfg(feature = "postcard")]
pub use snapshot::Snapshot;
pub use terminals::{BoardIo, ToolIo};

pub use crate::frame::{Found, StreamCounts};
pub use crate::wire::primary::{Report, ReportKind};
