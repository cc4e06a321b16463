//! The configuration file: TOML in which an unknown key is an error, and every error says line, key, what
//! was found and what was expected. All errors come at once.

mod host;
mod law;
mod limits;
mod reader;
mod run;
mod session;
mod sources;
#[cfg(test)]
mod tests;

use std::path::Path;

use outrigger_core::command::Limits;
use outrigger_core::law::LawConfig;
use outrigger_core::robot::{Pose, RobotModel};
use outrigger_core::session::Config;

pub use host::HostSettings;
pub use reader::Problem;
pub use run::{End, RunSettings, Start};
pub use session::SessionSettings;
pub use sources::{Format, SourceInput, SourceSettings};

use self::law::Surroundings;
use self::reader::{Document, Section};
use crate::address::RobotAddress;
use crate::exit::Failure;

/// Everything a configuration file says.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The robot.
    pub robot: RobotSettings,
    /// What the arm may do.
    pub limits: Limits<6>,
    /// What moves it.
    pub law: LawConfig<6>,
    /// The sensors; a source's index is its number in the engine.
    pub sources: Vec<SourceSettings>,
    /// How the session judges and writes.
    pub session: SessionSettings,
    /// When it begins and ends.
    pub run: RunSettings,
    /// What is asked of the operating system.
    pub host: HostSettings,
}

/// `[robot]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotSettings {
    /// Where it is.
    pub address: RobotAddress,
    /// What it is, for controllers that do not send their kinematics.
    pub model: Option<RobotModel>,
    /// Its tool centre point in the flange frame, where the controller's own is not to be used.
    pub tcp: Option<Pose>,
}

impl Configuration {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] with one line per problem.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let source = std::fs::read_to_string(path)
            .map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", path.display())))?;
        Self::parse(&source).map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect();
            Failure::BadInput(lines.join("\n"))
        })
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Every problem, in the order of the document; never empty.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        let document = Document::parse(source).map_err(|problem| vec![problem])?;
        let mut root = document.root();
        let robot = RobotSettings::read(root.section("robot"));
        let limits = limits::read(root.section("limits"));
        let sources = SourceSettings::read_all(root.sections("source"));
        let law = law::read(root.section("law"), &Surroundings { sources: &sources, limits: &limits });
        let session = SessionSettings::read(&mut root);
        let run = RunSettings::read(root.section("run"));
        let host = HostSettings::read(root.section("host"));
        root.finish();
        match (robot, law, sources.into_iter().collect(), document.into_problems()) {
            (Some(robot), Some(law), Some(sources), problems) if problems.is_empty() => {
                Ok(Self { robot, limits, law, sources, session, run, host })
            }
            (.., problems) => Err(problems),
        }
    }
}

impl Configuration {
    /// What the engine is told.
    #[must_use]
    pub fn engine(&self) -> Config {
        let mut config =
            Config { model: self.robot.model, tcp: self.robot.tcp, limits: self.limits, ..self.session.config() };
        for ((index, slot), source) in (0..).zip(&mut config.sources).zip(&self.sources) {
            *slot = Some(source.engine(index));
        }
        config
    }
}

impl RobotSettings {
    fn read(mut section: Section<'_, '_>) -> Option<Self> {
        let address = section.parsed("address", "the robot as \"host\" or \"host:port-base\"");
        if !section.has("address") {
            section.complain("address", "the robot as \"host\" or \"host:port-base\"");
        }
        let models: Vec<_> = RobotModel::ALL.iter().map(|model| (model.name(), Some(*model))).collect();
        let model = section.choice("model", &models, None);
        let tcp = section.numbers("tcp", -10.0..=10.0, "m, rad");
        let tcp = tcp.map(|[x, y, z, rx, ry, rz]| Pose { position: [x, y, z], rotation: [rx, ry, rz] });
        section.finish();
        Some(Self { address: address?, model, tcp })
    }
}
