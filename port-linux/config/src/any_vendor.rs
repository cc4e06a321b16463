//! A configuration for a controller of any vendor, on a host or on a board.

use std::path::Path;

use outrigger_core::engine::krc::KrcConfig;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::law::LawConfig;

use crate::reader::Document;
use crate::{
    Board, Configuration, Failure, KrcBoard, KrcConfiguration, Problem, RosSettings, SetExpertKey, SourceSettings,
    expert_keys, load,
};

/// The vendors of controllers that a configuration file may be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// A controller of Universal Robots.
    Ur,
    /// A controller of KUKA, selected by `robot.kind = "krc"`.
    Krc,
}

/// A configuration for either target: a process on a host (`H`) or a board (`B`).
#[derive(Clone, Debug)]
pub enum RunsOn<H, B> {
    /// The settings of a process on a host.
    Host(Box<H>),
    /// The settings of a board, from a file with the table `[device]`.
    Board(Box<B>),
}

impl<H, B> RunsOn<H, B> {
    /// Reads a configuration by `host`, the reader of a host's file, or by `board`, that of a board's file, as
    /// `is_for_a_board` selects.
    fn read<E>(
        is_for_a_board: bool,
        host: impl FnOnce() -> Result<H, E>,
        board: impl FnOnce() -> Result<B, E>,
    ) -> Result<Self, E> {
        Ok(if is_for_a_board { Self::Board(Box::new(board()?)) } else { Self::Host(Box::new(host()?)) })
    }

    /// Returns `true` if the configuration is for a board, not for a process on a host.
    #[must_use]
    pub const fn is_board(&self) -> bool {
        matches!(self, Self::Board(_))
    }
}

impl RunsOn<Configuration, Board> {
    /// Returns the settings of the control engine for a Universal Robots arm.
    #[must_use]
    pub fn engine(&self) -> UrConfig {
        match self {
            Self::Host(host) => host.control.engine(),
            Self::Board(board) => board.control.engine(),
        }
    }

    /// Returns the settings of the control law that moves the Universal Robots arm.
    #[must_use]
    pub fn law(&self) -> &LawConfig<6> {
        match self {
            Self::Host(host) => &host.control.law,
            Self::Board(board) => &board.control.law,
        }
    }
}

impl RunsOn<KrcConfiguration, KrcBoard> {
    /// Returns the settings of the control engine for a KUKA robot controller (KRC).
    #[must_use]
    pub fn engine(&self) -> KrcConfig {
        match self {
            Self::Host(host) => host.engine,
            Self::Board(board) => board.engine,
        }
    }

    /// Returns the settings of the control law that moves the KUKA LWR.
    #[must_use]
    pub fn law(&self) -> &LawConfig<7> {
        match self {
            Self::Host(host) => &host.law,
            Self::Board(board) => &board.law,
        }
    }
}

/// A configuration for a robot controller of any vendor, for a host or a board.
#[derive(Clone, Debug)]
pub enum AnyConfiguration {
    /// The configuration is for a controller of Universal Robots.
    Ur(RunsOn<Configuration, Board>),
    /// The configuration is for a KUKA LWR's controller (KRC).
    Krc(RunsOn<KrcConfiguration, KrcBoard>),
}

impl AnyConfiguration {
    /// Returns the vendor of the controller that the configuration file is for.
    #[must_use]
    pub const fn vendor(&self) -> Vendor {
        match self {
            Self::Ur(_) => Vendor::Ur,
            Self::Krc(_) => Vendor::Krc,
        }
    }

    /// Returns `true` if the configuration is for a board, for any vendor.
    #[must_use]
    pub const fn is_for_a_board(&self) -> bool {
        match self {
            Self::Ur(target) => target.is_board(),
            Self::Krc(target) => target.is_board(),
        }
    }

    /// Returns the settings of the ROS 2 node. `None` for a board's file, which has none.
    #[must_use]
    pub fn ros(&self) -> Option<&RosSettings> {
        match self {
            Self::Ur(RunsOn::Host(host)) => Some(&host.ros),
            Self::Krc(RunsOn::Host(host)) => Some(&host.ros),
            Self::Ur(RunsOn::Board(_)) | Self::Krc(RunsOn::Board(_)) => None,
        }
    }

    /// Returns the sensors of a host's file. Empty for a board's file, because its sensors are wired to the board.
    #[must_use]
    pub fn sources_of_host(&self) -> &[SourceSettings] {
        match self {
            Self::Ur(RunsOn::Host(host)) => &host.control.sources,
            Self::Krc(RunsOn::Host(host)) => &host.sources,
            Self::Ur(RunsOn::Board(_)) | Self::Krc(RunsOn::Board(_)) => &[],
        }
    }

    /// Reads the configuration file at `path`.
    ///
    /// # Errors
    /// Returns [`Failure`] if the file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        load(path, Self::parse)
    }

    /// Reads the file at `path` once, and returns it with the expert keys that it sets. See [`expert_keys`].
    ///
    /// # Errors
    /// Returns [`Failure`] if the file cannot be read or is not valid.
    pub fn load_with_expert_keys(path: &Path) -> Result<(Self, Vec<SetExpertKey>), Failure> {
        load(path, |source| Ok((Self::parse(source)?, expert_keys(source)?)))
    }

    /// Parses the TOML text of a configuration for a controller of any vendor, for a host or for a board.
    ///
    /// # Errors
    /// Returns every problem, in the order of the document. The list is never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        let document = Document::parse(source).map_err(|problem| vec![problem])?;
        let is_for_a_board = document.root().has("device");
        Ok(match vendor(source)? {
            Vendor::Ur => {
                Self::Ur(RunsOn::read(is_for_a_board, || Configuration::parse(source), || Board::parse(source))?)
            }
            Vendor::Krc => {
                Self::Krc(RunsOn::read(is_for_a_board, || KrcConfiguration::parse(source), || KrcBoard::parse(source))?)
            }
        })
    }
}

/// Returns the vendor of the controller that a file is for. If the file names another vendor, only that is reported:
/// the meaning of its other keys is unknown. All other problems are reported by the reader of the whole file.
pub(crate) fn vendor(source: &str) -> Result<Vendor, Vec<Problem>> {
    let document = Document::parse(source).map_err(|problem| vec![problem])?;
    let vendors = [("ur", Vendor::Ur), ("krc", Vendor::Krc)];
    let vendor = document.root().section("robot").choice("kind", &vendors, Vendor::Ur);
    let mut problems = document.into_problems();
    problems.retain(|problem| problem.key == "robot.kind");
    if problems.is_empty() { Ok(vendor) } else { Err(problems) }
}
