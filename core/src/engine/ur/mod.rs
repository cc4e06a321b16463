//! Beside a controller of Universal Robots: CB2, CB3, e-Series, PolyScope X.

mod config;
mod connector;
mod event;
mod identity;
mod links;
mod memory;
mod motion;
mod outbox;
mod outputs;
mod peer;
mod primary;
mod realtime;
mod refusal;
pub mod rtde;
mod takeover;
mod terminals;
mod text;

pub use config::{ConnectConfig, OutputsBy, Ports, StatesFrom, UrConfig, UrOptions};
pub use event::{DownCause, Next, UrEvent};
pub use identity::{Identity, KnownBy, oldest_software};
pub use links::{LINKS, link_name};
pub use memory::Memory;
pub use peer::{Ur, UrStatus};
pub use primary::{ArmConfiguration, Facts, Geometry};
pub use terminals::{BoardIo, ToolIo};
pub use text::{FormChoice, TextConfig, TextPath};

/// The engine beside a controller of Universal Robots.
pub type UrEngine<'m, L> = super::Engine<'m, 6, Ur<'m>, L>;

/// Settings of a device beside such a controller.
#[cfg(feature = "postcard")]
pub type UrSettings = super::Settings<6, UrOptions>;
