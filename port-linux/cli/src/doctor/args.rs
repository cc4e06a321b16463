//! What `outrigger doctor` is told.

use std::path::{Path, PathBuf};

use clap::{Args, FromArgMatches as _};
use outrigger_config::parse_states;
use outrigger_core::engine::ur::StatesFrom;
use outrigger_wire::robot::RobotModel;

use crate::args::{ControllerArgs, parse_model};
#[cfg(feature = "ros2")]
use crate::ros2::JoinArgs;
use outrigger::exit::Failure;

/// `outrigger doctor`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorArgs {
    /// HOST[:PORT-BASE], or the configuration of a host, which names its robot
    #[arg(value_name = "ROBOT|CONFIG.toml")]
    pub robot: String,
    /// What kind of controller it is.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// A configuration for this robot: judged by its limits and session settings, and what check-config warns of is told
    #[arg(long, value_name = "CONFIG.toml")]
    pub config: Option<PathBuf>,
    /// The source of states: auto, realtime (30003) or rtde (30004); default auto, or the configuration's connect.expert.states
    #[arg(long, value_name = "SOURCE", value_parser = parse_states)]
    pub states: Option<StatesFrom>,
    /// The arm, e.g. ur10e: for the worst-case travel of its tool
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// How long the link is looked at
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
    /// Also say what would keep `outrigger ros2` from working with the programs of ROS 2 that are there
    #[cfg(feature = "ros2")]
    #[arg(long)]
    pub ros2: bool,
    /// How the node would join.
    #[cfg(feature = "ros2")]
    #[command(flatten, next_help_heading = "With --ros2, as for `outrigger ros2`")]
    pub joins: JoinArgs,
}

impl DoctorArgs {
    /// Those of `outrigger doctor CONFIG.toml --seconds N`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a time that it does not take.
    pub(crate) fn of(config: &Path, seconds: u64) -> Result<Self, Failure> {
        let usage = |error: clap::Error| Failure::Usage(error.to_string());
        let words = ["doctor".into(), config.as_os_str().to_owned(), "--seconds".into(), seconds.to_string().into()];
        let read = Self::augment_args(clap::Command::new("doctor")).try_get_matches_from(words).map_err(usage)?;
        Self::from_arg_matches(&read).map_err(usage)
    }

    /// The configuration in the place of the robot, where it is there.
    fn named(&self) -> Option<&Path> {
        let path = Path::new(&self.robot);
        path.extension().is_some_and(|extension| extension == "toml").then_some(path)
    }

    /// The configuration, wherever it is said.
    ///
    /// # Errors
    /// [`Failure::Usage`] for two of them.
    pub(crate) fn file(&self) -> Result<Option<&Path>, Failure> {
        match (self.named(), self.config.as_deref()) {
            (Some(named), Some(config)) => Err(Failure::Usage(format!(
                "found two configurations, {} and {}: leave --config out, or name the robot by its address",
                named.display(),
                config.display()
            ))),
            (named, config) => Ok(named.or(config)),
        }
    }

    /// Whether the robot is the one that the configuration names.
    pub(crate) fn is_of_file(&self) -> bool {
        self.named().is_some()
    }
}
