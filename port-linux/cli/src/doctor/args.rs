//! The arguments of `outrigger doctor`.

use std::path::{Path, PathBuf};

use clap::{Args, FromArgMatches as _};
use outrigger_config::parse_states;
use outrigger_core::engine::ur::StatesFrom;
use outrigger_wire::robot::RobotModel;

use crate::args::{ControllerArgs, parse_model};
#[cfg(feature = "ros2")]
use crate::ros2::JoinArgs;
use outrigger::exit::Failure;

/// The arguments of `outrigger doctor`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorArgs {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999; or the configuration of a
    /// host, which names its robot
    #[arg(value_name = "ROBOT|CONFIG.toml")]
    pub robot: String,
    /// The options for the kind of the robot's controller.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// A configuration for this robot; its limits and session settings are checked, and the warnings of check-config
    /// shown
    #[arg(long, value_name = "CONFIG.toml")]
    pub config: Option<PathBuf>,
    /// Source of states: auto, realtime (30003) or rtde (30004); default auto, or the configuration's
    /// connect.expert.states
    #[arg(long, value_name = "SOURCE", value_parser = parse_states)]
    pub states: Option<StatesFrom>,
    /// Model of the arm, e.g. ur10e, for the worst-case stopping distance of its tool
    #[arg(long, value_name = "MODEL", value_parser = parse_model)]
    pub model: Option<RobotModel>,
    /// Duration of the check of the link to the robot
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
    /// Check for conflicts between `outrigger ros2` and the ROS 2 programs that are present
    #[cfg(feature = "ros2")]
    #[arg(long)]
    pub ros2: bool,
    /// The options by which the node of ROS 2 would join its domain.
    #[cfg(feature = "ros2")]
    #[command(flatten, next_help_heading = "With --ros2, as for `outrigger ros2`")]
    pub joins: JoinArgs,
}

impl DoctorArgs {
    /// Returns the arguments of `outrigger doctor CONFIG.toml --duration N`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a duration that is out of range.
    pub(crate) fn of(config: &Path, seconds: u64) -> Result<Self, Failure> {
        let usage = |error: clap::Error| Failure::Usage(error.to_string());
        let words = ["doctor".into(), config.as_os_str().to_owned(), "--duration".into(), seconds.to_string().into()];
        let read = Self::augment_args(clap::Command::new("doctor")).try_get_matches_from(words).map_err(usage)?;
        Self::from_arg_matches(&read).map_err(usage)
    }

    /// Returns the path of the configuration if one is given in place of the robot; `None` if the robot is given by
    /// its address.
    fn named(&self) -> Option<&Path> {
        let path = Path::new(&self.robot);
        path.extension().is_some_and(|extension| extension == "toml").then_some(path)
    }

    /// Returns the path of the configuration, whether it is given in place of the robot or by `--config`.
    ///
    /// # Errors
    /// [`Failure::Usage`] if both are given.
    pub(crate) fn file(&self) -> Result<Option<&Path>, Failure> {
        match (self.named(), self.config.as_deref()) {
            (Some(named), Some(config)) => Err(Failure::Usage(format!(
                "found two configurations, {} and {}: omit --config, or give the robot's address",
                named.display(),
                config.display()
            ))),
            (named, config) => Ok(named.or(config)),
        }
    }

    /// Returns `true` if the argument for the robot is a configuration, so that the robot to check is the one named in
    /// it.
    pub(crate) fn is_of_file(&self) -> bool {
        self.named().is_some()
    }
}
