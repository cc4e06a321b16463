//! The engine for controllers of Universal Robots: CB2, CB3, e-Series, PolyScope X.
//!
//! ```
//! use outrigger_core::engine::ur::UrConfig;
//! use outrigger_wire::robot::SoftwareVersion;
//!
//! // How far the base joint goes on at worst after a fault, at 1 rad/s, on a CB3 and on an e-Series.
//! let config = UrConfig::default();
//! let [cb3, e_series] = [(3, 15), (5, 15)].map(|(major, minor)| SoftwareVersion::new(major, minor));
//! println!("{:.3} rad, {:.3} rad", config.worst_coast(cb3).joints[0], config.worst_coast(e_series).joints[0]);
//! // And when this device itself dies: `None` would be an arm that nothing stops.
//! assert!(config.coast_without_us(cb3).is_some());
//! ```

mod command_path;
mod config;
mod connector;
mod controller;
mod event;
mod foreign_program_end;
mod identity;
mod io_terminals;
mod links;
mod memory;
mod motion_command_text;
mod outbox;
mod outputs;
mod primary;
mod realtime;
mod refusal_detector;
#[cfg_attr(not(feature = "programs"), expect(dead_code, reason = "nobody has such a connection then"))]
mod reverse;
pub mod rtde;
mod script_text;

pub use command_path::{BufferedConfig, CommandPath, Delivery, Orders, ProgramConfig, Unfit};
pub use config::{ConnectConfig, Mismatch, OutputsBy, Ports, StatesFrom, UrConfig, UrOptions};
pub use controller::{Ur, UrStatus};
pub use event::{DownCause, Next, ProgramEvent, UrEvent};
pub use identity::{Identity, VersionSource, oldest_software};
pub use io_terminals::{BoardIo, ToolIo};
pub use links::{LINKS, link_name};
pub use memory::Memory;
pub use primary::{ArmConfiguration, Geometry, PrimaryFacts};
pub use script_text::{FormChoice, TextConfig, TextPath};

/// The engine for a controller of Universal Robots.
pub type UrEngine<'m, L> = super::Engine<'m, 6, Ur<'m>, L>;

/// The settings of a board for a controller of Universal Robots.
#[cfg(feature = "record")]
pub type UrSettings = super::Settings<6, UrOptions>;
