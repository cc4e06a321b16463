#![doc = include_str!("../README.md")]
//!
//! A host's file is a [`Configuration`], beside a KRC a [`KrcConfiguration`]; a board's file is a [`Board`] or a [`KrcBoard`].
//! What is common to both ([`Control`]) is read by the same code, and [`AnyConfiguration`] reads any of them: a vendor, crossed with
//! what it [`RunsOn`]. A board's build
//! script compiles its file into the bytes of its settings with [`firmware::compile_in`].

mod address;
mod any;
mod awaited;
mod control;
mod device;
mod expert;
pub mod files;
pub mod firmware;
mod follows;
mod host;
pub mod key;
mod krc;
mod law;
mod limits;
mod outputs;
mod reader;
mod ros;
mod run;
mod serve;
mod session;
mod sources;
#[cfg(test)]
mod tests;
mod variables;

use std::path::{Path, PathBuf};

use outrigger_core::engine::Device;
use outrigger_core::engine::ur::UrSettings;
use outrigger_core::trajectory::Waypoint;
use outrigger_remote::provision::Image;

pub use address::{FIRST_PORT, RobotAddress};
pub use any::{AnyConfiguration, RunsOn, Vendor};
pub use awaited::{Awaited, Place};
pub use control::{Control, RobotSettings};
pub use device::{BoardInput, DeviceSettings, Pins, RequestPort};
pub use expert::{EXPERT, ExpertKey, SetExpertKey, placed};
pub use host::HostSettings;
pub use krc::{KrcBoard, KrcConfiguration};
pub use outputs::{OutputsSettings, parse_outputs_by};
pub use reader::{Key, Problem, Takes, Written};
pub use ros::{RosSettings, Stamps, Surface, Terminals};
pub use run::{End, RunSettings, Start, wrong_variable};
pub use serve::ServeSettings;
pub use session::{SessionSettings, parse_software, parse_states, refusal};
pub use sources::{Format, SourceInput, SourceSettings};
pub use variables::VariableSettings;

use self::any::vendor;
use self::reader::{Document, Section, without_indices};

/// Why a file is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// It says something that cannot be.
    #[error("{}", lines(path, problems))]
    Faulty {
        /// The file.
        path: PathBuf,
        /// Every problem, in the order of the file; never empty.
        problems: Vec<Problem>,
    },
    /// The key that it names is none.
    #[error(transparent)]
    Key(#[from] key::KeyFailure),
}

fn lines(path: &Path, problems: &[Problem]) -> String {
    let lines: Vec<_> = problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
    lines.join("\n")
}

/// Everything the file of a host's process says.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The robot, and how it is steered.
    pub control: Control,
    /// When a run begins and ends.
    pub run: RunSettings,
    /// What is asked of the operating system.
    pub host: HostSettings,
    /// Who may read what this process reads.
    pub serve: ServeSettings,
    /// The robot as a node of ROS 2.
    pub ros: RosSettings,
}

impl Configuration {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn load(path: &Path) -> Result<Self, Failure> {
        load(path, Self::parse)
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Every problem, in the order of the document; never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        read(source, Self::read)
    }

    fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        root.refuse("device", "no such table: it is for a board's file, and this one is for a host");
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

/// Everything a board's file says.
#[derive(Clone, Debug)]
pub struct Board {
    /// The robot, and how it is steered.
    pub control: Control<BoardInput>,
    /// What is around the engine.
    pub device: DeviceSettings,
}

impl Board {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn load(path: &Path) -> Result<Self, Failure> {
        load(path, Self::parse)
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Every problem, in the order of the document; never empty.
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
            root.complain_at("robot.address", "the robot's IPv4 address: a board asks no name server");
        }
        board.filter(|board| board.robot().is_some())
    }

    /// What is compiled into the firmware; `None` where the robot has a name instead of an address.
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

/// What ROS 2 asks for goes the way of all requests.
fn refuse_unasked(root: &mut Section<'_, '_>, ros: &RosSettings, run: &RunSettings) {
    if ros.command && !run.requests {
        root.complain_at(
            "ros.command",
            "false, or run.expert.requests = true: what ROS 2 asks for is a request like any other",
        );
    }
}

fn refuse_tables_of_hosts(root: &mut Section<'_, '_>) {
    for table in ["run", "host", "serve", "ros"] {
        root.refuse(table, "no such table: it is for a host's file, and this one, with [device], is for a board");
    }
}

/// Every key that a file of the same kind as `source` may have, as far as it is for what `source` chooses: a law, an
/// input. What is wrong in `source` is not told here.
///
/// # Errors
/// Where it is no TOML, or for neither kind of robot.
pub fn keys(source: &str) -> Result<Vec<Key>, Vec<Problem>> {
    Ok(examined(source)?.into_keys())
}

/// The keys of tables `expert` that stand in `source`, in its order: the line of each, its full name and the key.
///
/// # Errors
/// Where it is no TOML, or for neither kind of robot.
pub fn expert_keys(source: &str) -> Result<Vec<SetExpertKey>, Vec<Problem>> {
    let stand = examined(source)?.into_experts().into_iter();
    Ok(stand
        .filter_map(|(line, name)| Some((line, name.clone(), ExpertKey::named(&without_indices(&name))?)))
        .collect())
}

/// A document whose every key was looked for.
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

/// What a board's build script compiles in.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The vendor of the controller beside the board.
    pub vendor: Vendor,
    /// What is around the engine, as the settings say it.
    pub device: Device,
    /// What [`KrcSettings::from_postcard`](outrigger_core::engine::krc::KrcSettings::from_postcard) reads beside a KRC, and
    /// [`UrSettings::from_postcard`] beside any other robot.
    pub bytes: Vec<u8>,
    /// Where requests are taken, and from who has this key. It is not part of the settings: telemetry shows those.
    pub requests: Option<(u16, [u8; 32])>,
    /// The file that the key was in.
    pub key_file: Option<PathBuf>,
    /// What the law's motion has behind the waypoints of the settings, as
    /// [`Stored`](outrigger_core::trajectory::Stored) reads it; empty where there is no more.
    pub motion: Vec<u8>,
}

/// The settings that the board's file at `path` says.
///
/// # Errors
/// [`Failure`].
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
        // A file is read as a board's only where the robot has an address, and no settings are as long.
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
    /// All of it, as a board is told it: compiled in, or over a serial line.
    #[must_use]
    pub fn image(&self) -> Vec<u8> {
        let requests = self.requests.map(|(port, key)| [&port.to_be_bytes()[..], &key].concat()).unwrap_or_default();
        let image = Image { settings: &self.bytes, requests: &requests, motion: &self.motion };
        let mut bytes = vec![0; image.length()];
        // It has room for exactly that.
        let _ = image.to_bytes(&mut bytes);
        bytes
    }
}

impl RequestPort {
    /// The key, as the configuration at `path` names it.
    ///
    /// # Errors
    /// Where the file is none.
    pub fn key(&self, path: &Path) -> Result<[u8; 32], key::KeyFailure> {
        key::load(&self.beside(path))
    }

    fn beside(&self, path: &Path) -> PathBuf {
        path.parent().unwrap_or(Path::new("")).join(&self.key_file)
    }
}

fn load<T>(path: &Path, parse: impl Fn(&str) -> Result<T, Vec<Problem>>) -> Result<T, Failure> {
    let source = files::read_text(path, files::CONFIGURATION)
        .map_err(|error| Failure::Unreadable { path: path.to_path_buf(), error })?;
    parse(&source).map_err(|problems| Failure::Faulty { path: path.to_path_buf(), problems })
}

/// Reads a whole document by `take`, which returns `None` only where it has complained.
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
