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
pub mod dashboard;
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
mod probe;
mod realtime;
#[cfg(feature = "postcard")]
mod record;
mod report;
pub mod rtde;
pub mod script;
#[cfg(feature = "postcard")]
mod settings;
#[cfg(feature = "postcard")]
mod snapshot;
mod terminals;
mod text;
mod view;

#[cfg(test)]
pub(crate) mod tests;

#[cfg(test)]
#[path = "../../examples/peer/mod.rs"]
pub(crate) mod peer;

pub use co_controller::{CoController, Memory};
pub use coast::Coast;
pub use config::{
    Config, ConfigError, Conflict, ConnectConfig, FollowingTuning, GradeLimitsTuning, GradeTuning, LinkTuning,
    ModeTuning, OutputsBy, Ports, StatesFrom,
};
pub use event::{DownCause, Event, Found, Next};
pub use identity::{Identity, KnownBy, oldest_software};
pub use io::{Endpoint, Input, LinkId, Output};
#[cfg(feature = "postcard")]
pub use keep::KeptFallback;
pub use path::{FormChoice, TextConfig, TextPath};
pub use primary::{ArmConfiguration, Facts, Geometry};
pub use realtime::StreamCounts;
#[cfg(feature = "postcard")]
pub use record::{DUMP_END_LEN, Outcome, ReplayError, Replayed, recorded_config, recorded_transitions, replay};
pub use report::{Report, ReportKind};
#[cfg(feature = "postcard")]
pub use settings::{Device, KrcSettings, Sensor, SensorInput, Settings, SettingsError, TelemetryTarget};
#[cfg(feature = "postcard")]
pub use snapshot::Snapshot;
pub use terminals::{BoardIo, ToolIo};
pub use text::Text;
