#![doc = include_str!("../README.md")]
//!
//! A host's file is a [`Configuration`], or a [`KrcConfiguration`] for a KRC. A board's file is a [`Board`] or a
//! [`KrcBoard`]. The same code reads the common part of both ([`Control`]). [`AnyConfiguration`] reads any of the
//! four: it has a vendor, and the target that the file [`RunsOn`]. A board's build script compiles its file into the
//! bytes of its settings by [`firmware_build::compile_in`].

mod address;
mod any_vendor;
pub mod bounded_file_read;
mod common_settings;
mod derived_defaults;
mod device;
mod expert;
pub mod firmware_build;
mod host;
mod krc;
mod krl_variables;
mod law;
mod limits;
mod outputs;
mod reader;
mod ros;
mod run;
pub mod secret_key;
mod serve;
mod session;
mod source_input_formats;
mod sources;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use outrigger_core::engine::Device;
use outrigger_core::engine::ur::UrSettings;
use outrigger_core::trajectory::Waypoint;
use outrigger_remote::provision::Image;

pub use address::{FIRST_PORT, RobotAddress, local_socket};
pub use any_vendor::{AnyConfiguration, RunsOn, Vendor};
pub use common_settings::{Control, RobotSettings};
pub use device::{BoardInput, DeviceSettings, Pins, RequestPort};
pub use expert::{EXPERT, ExpertKey, SetExpertKey, placed};
pub use host::{BusyPoll, HostSettings};
pub use krc::{KrcBoard, KrcConfiguration};
pub use krl_variables::VariableSettings;
pub use outputs::{OutputsSettings, parse_outputs_by};
pub use reader::{Key, Problem, ValueKind, Written};
pub use ros::{RosSettings, Stamps, Surface, Terminals};
pub use run::{End, RunSettings, Start, wrong_variable};
pub use serve::ServeSettings;
pub use session::{SessionSettings, parse_software, parse_states, refusal};
pub use source_input_formats::{Awaited, SourcePort};
pub use sources::{Format, SourceInput, SourceSettings};

use self::any_vendor::vendor;
use self::reader::{Document, Section, without_indices};

/// A reason why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The path of the configuration file.
        path: PathBuf,
        /// The error of reading the configuration file: the operating system's, a file that is too large, or no UTF-8.
        error: std::io::Error,
    },
    /// The configuration file can be read, but its content is not a valid configuration.
    #[error("{}", lines(path, problems))]
    Faulty {
        /// The path of the configuration file.
        path: PathBuf,
        /// Every problem of the file, in the order of its lines. Never empty.
        problems: Vec<Problem>,
    },
    /// The key file for requests that the configuration names cannot be used.
    #[error(transparent)]
    Key(#[from] secret_key::KeyFailure),
}

fn lines(path: &Path, problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
    lines.join("\n")
}

/// The configuration of a process on a host that controls an arm of Universal Robots.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The robot and how it is controlled: address, limits, law, sensors and session.
    pub control: Control,
    /// The conditions on which a run starts and ends, and its recordings.
    pub run: RunSettings,
    /// The scheduling and memory that the process requests from the operating system.
    pub host: HostSettings,
    /// The TCP port at which other programs read the session's states and events.
    pub serve: ServeSettings,
    /// The settings of the ROS 2 node.
    pub ros: RosSettings,
}

impl Configuration {
    /// Reads the configuration file at `path`.
    ///
    /// # Errors
    /// Returns [`Failure`] if the file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        load(path, Self::parse)
    }

    /// Parses the TOML text of a configuration for a host that controls an arm of Universal Robots.
    ///
    /// # Errors
    /// Returns every problem, in the order of the document. The list is never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        read(source, Self::read)
    }

    fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        root.refuse("device", "no such table: it is for a board's file, but this file is for a host");
        let control = Control::read(root);
        let run = RunSettings::of(root.section("run"));
        let host = HostSettings::of(root.section("host"));
        let serve = ServeSettings::of(root.section("serve"));
        let ros = RosSettings::of(root.section("ros"));
        refuse_unasked(root, &ros, &run);
        let mut control = control?;
        law::refuse_long_motion(root, &control.rest);
        control.session.operator.start_within = run.asks_within();
        session::check_operator(root, &control.session.operator);
        if let Some(expected) = run.unlockable(control.session.software, control.robot.model) {
            root.complain_at("run.lock_pendant", expected);
        }
        Some(Self { control, run, host, serve, ros })
    }
}

/// The configuration of a board that controls an arm of Universal Robots.
#[derive(Clone, Debug)]
pub struct Board {
    /// The robot and how it is controlled: address, limits, law, sensors and session.
    pub control: Control<BoardInput>,
    /// The settings of the board outside its control engine: network, telemetry, pins, recorder and requests.
    pub device: DeviceSettings,
}

impl Board {
    /// Reads the configuration file at `path`.
    ///
    /// # Errors
    /// Returns [`Failure`] if the file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        load(path, Self::parse)
    }

    /// Parses the TOML text of a configuration for a board that controls an arm of Universal Robots.
    ///
    /// # Errors
    /// Returns every problem, in the order of the document. The list is never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        read(source, Self::read)
    }

    fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        refuse_tables_of_hosts(root);
        let control = Control::read(root);
        let device = DeviceSettings::read(root.section("device"));
        let board = control.zip(device).map(|(mut control, device)| {
            device.pins.write(&mut control.session.operator);
            session::check_operator_of_board(root, &control.session.operator);
            Self { control, device }
        });
        if board.as_ref().is_some_and(|board| board.robot().is_none()) {
            root.complain_at("robot.address", "the robot's IPv4 address: a board does not use DNS");
        }
        board.filter(|board| board.robot().is_some())
    }

    /// Returns the settings that are compiled into the firmware. `None` if the robot has a name instead of an IPv4
    /// address.
    #[must_use]
    pub fn settings(&self) -> Option<UrSettings> {
        let Self { control, device } = self;
        let mut config = control.engine();
        let ports = &mut config.peer.connect.ports;
        ports.realtime = control.robot.address.port(ports.realtime);
        for port in [&mut ports.primary, &mut ports.secondary].into_iter().flatten() {
            *port = control.robot.address.port(*port);
        }
        let law = control.law.clone();
        Some(UrSettings { robot: self.robot()?, config, law, device: device.device(&control.sources) })
    }

    fn robot(&self) -> Option<std::net::Ipv4Addr> {
        self.control.robot.address.host().parse().ok()
    }
}

/// Rejects the setting `ros.expert.command` without `run.expert.requests`, because commands from ROS 2 are handled as
/// requests.
fn refuse_unasked(root: &mut Section<'_, '_>, ros: &RosSettings, run: &RunSettings) {
    if ros.command && !run.requests {
        root.complain_at("ros.command", "false, or run.expert.requests = true: commands by ROS 2 are requests");
    }
}

fn refuse_tables_of_hosts(root: &mut Section<'_, '_>) {
    for table in ["run", "host", "serve", "ros"] {
        root.refuse(table, "no such table: it is for a host's file, but this file, with [device], is for a board");
    }
}

/// Returns every key that a file like `source` may have. Keys that belong to a law or an input are included only if
/// `source` chooses that law or input. Problems in `source` are not reported here.
///
/// # Errors
/// Returns an error if `source` is not TOML, or is for no known kind of robot.
pub fn keys(source: &str) -> Result<Vec<Key>, Vec<Problem>> {
    Ok(examined(source)?.into_keys())
}

/// Returns the keys of tables `expert` that `source` sets, in its order: the line of each, its full name and the key.
///
/// # Errors
/// Returns an error if `source` is not TOML, or is for no known kind of robot.
pub fn expert_keys(source: &str) -> Result<Vec<SetExpertKey>, Vec<Problem>> {
    let stand = examined(source)?.into_experts().into_iter();
    Ok(stand
        .filter_map(|(line, name)| Some((line, name.clone(), ExpertKey::named(&without_indices(&name))?)))
        .collect())
}

/// Reads a configuration document to its end, so that the returned document lists every key that it sets or could set.
/// Wrong values in it are no error here.
fn examined(source: &str) -> Result<Document<'_>, Vec<Problem>> {
    let document = Document::parse(source).map_err(|problem| vec![problem])?;
    let mut root = document.root();
    match (vendor(source)?, root.has("device")) {
        (Vendor::Ur, false) => drop(Configuration::read(&mut root)),
        (Vendor::Ur, true) => drop(Board::read(&mut root)),
        (Vendor::Krc, false) => drop(KrcConfiguration::read(&mut root)),
        (Vendor::Krc, true) => drop(KrcBoard::read(&mut root)),
    }
    drop(root);
    Ok(document)
}

/// The result of compiling a board's configuration: its settings as bytes for the firmware.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The vendor of the controller that the board commands.
    pub vendor: Vendor,
    /// The settings of the board outside its control engine, in the board's own form. They are also part of `bytes`.
    pub device: Device,
    /// The encoded settings of the board. They are decoded by
    /// [`KrcSettings::from_postcard`](outrigger_core::engine::krc::KrcSettings::from_postcard) for a KRC, and by
    /// [`UrSettings::from_postcard`] for any other robot.
    pub bytes: Vec<u8>,
    /// The UDP port at which the board accepts requests, and the secret key that authenticates them. `None` if it
    /// accepts none. They are not part of the settings, because telemetry shows those.
    pub requests: Option<(u16, [u8; 32])>,
    /// The path of the file from which the key for requests was read. `None` if the board accepts no requests.
    pub key_file: Option<PathBuf>,
    /// The waypoints of the control law's motion beyond those in the settings, encoded for
    /// [`Stored`](outrigger_core::trajectory::Stored). Empty if the settings have all of them.
    pub motion: Vec<u8>,
}

/// Compiles the board's configuration at `path`.
///
/// # Errors
/// Returns [`Failure`] if the file or its key cannot be read or is not valid.
pub fn compile(path: &Path) -> Result<Compiled, Failure> {
    let (mut compiled, requests) = load(path, |source| {
        let vendor = vendor(source)?;
        let mut bytes = vec![0; 64 << 10];
        let (length, device, requests, motion) = match vendor {
            Vendor::Krc => {
                let board = KrcBoard::parse(source)?;
                let motion = board.rest.iter().flat_map(Waypoint::stored).collect();
                let (settings, device) = (board.settings(), board.device.device(&board.sources));
                (settings.to_postcard(&mut bytes), device, board.device.requests, motion)
            }
            Vendor::Ur => {
                let board = Board::parse(source)?;
                let motion = board.control.rest.iter().flat_map(Waypoint::stored).collect();
                let length = board.settings().and_then(|settings| settings.to_postcard(&mut bytes));
                (length, board.device.device(&board.control.sources), board.device.requests, motion)
            }
        };
        // A board's file is accepted only if the robot has an address, and the buffer is larger than any settings.
        bytes.truncate(length.unwrap_or_default());
        Ok((Compiled { vendor, device, bytes, requests: None, key_file: None, motion }, requests))
    })?;
    if let Some(requests) = requests {
        compiled.requests = Some((requests.port, requests.key(path)?));
        compiled.key_file = Some(requests.beside(path));
    }
    Ok(compiled)
}

impl Compiled {
    /// Returns the settings, the port and key for requests, and the motion as one image, the form in which the board
    /// receives them: compiled in, or over a serial line.
    #[must_use]
    pub fn image(&self) -> Vec<u8> {
        let requests = self.requests.map(|(port, key)| [&port.to_be_bytes()[..], &key].concat()).unwrap_or_default();
        let image = Image { settings: &self.bytes, requests: &requests, motion: &self.motion };
        let mut bytes = vec![0; image.length()];
        // The buffer has exactly the length of the image.
        let _ = image.to_bytes(&mut bytes);
        bytes
    }
}

impl RequestPort {
    /// Reads the key file of requests that the configuration names; `path` is the path of the configuration.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a key.
    pub fn key(&self, path: &Path) -> Result<[u8; 32], secret_key::KeyFailure> {
        secret_key::load(&self.beside(path))
    }

    fn beside(&self, path: &Path) -> PathBuf {
        path.parent().unwrap_or(Path::new("")).join(&self.key_file)
    }
}

fn load<T>(path: &Path, parse: impl Fn(&str) -> Result<T, Vec<Problem>>) -> Result<T, Failure> {
    let source = bounded_file_read::read_text(path, bounded_file_read::CONFIGURATION)
        .map_err(|error| Failure::Unreadable { path: path.to_path_buf(), error })?;
    parse(&source).map_err(|problems| Failure::Faulty { path: path.to_path_buf(), problems })
}

/// Reads a whole configuration document by `take`, and returns its result or every problem. `take` returns `None` only
/// after it has recorded a problem.
fn read<T>(source: &str, take: impl FnOnce(&mut Section<'_, '_>) -> Option<T>) -> Result<T, Vec<Problem>> {
    let document = Document::parse(source).map_err(|problem| vec![problem])?;
    let mut root = document.root();
    let taken = take(&mut root);
    root.finish();
    match (taken, document.into_problems()) {
        (Some(taken), problems) if problems.is_empty() => Ok(taken),
        (_, problems) => Err(problems),
    }
}
