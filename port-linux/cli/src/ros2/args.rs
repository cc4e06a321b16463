//! The arguments of `outrigger ros2`.

use std::net::IpAddr;
use std::path::Path;

use clap::Args;
use outrigger_config::{RosSettings, Surface, parse_states};
use outrigger_core::engine::ur::StatesFrom;
use outrigger_ros2::node::Settings;
use outrigger_ros2_messages::endpoint::Distro;

use crate::args::{ControllerArgs, RunArgs};
use outrigger::exit::Failure;
use outrigger::host::target::Target;

/// The arguments of `outrigger ros2`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Ros2Args {
    /// HOST[:PORT-BASE]; with port base B, the controller's port p is at B + p - 29999; this robot is not commanded;
    /// or CONFIG.toml, which is run as by `run`, with a node beside it
    #[arg(value_name = "ROBOT|CONFIG.toml")]
    pub robot: String,
    /// The options for the kind of the robot's controller.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// The options by which the node joins a ROS 2 domain.
    #[command(flatten)]
    pub joins: JoinArgs,
    /// Source of states: auto, realtime (30003) or rtde (30004)
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = parse_states)]
    pub states: StatesFrom,
    /// End after this many seconds
    #[arg(long = "duration", alias = "seconds", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// One JSON object per line instead of text
    #[arg(short = 'j', long)]
    pub json: bool,
}

impl Ros2Args {
    /// Returns the arguments of `outrigger run` for the configuration at `path`.
    ///
    /// # Errors
    /// [`Failure::Usage`] for options that are not permitted with a configuration.
    pub(crate) fn run(&self, path: &Path) -> Result<RunArgs, Failure> {
        if self.controller != ControllerArgs::default() || self.seconds.is_some() {
            let what = "--kind, --listen and --duration are for a ROBOT without a configuration: leave them out";
            return Err(Failure::Usage(what.into()));
        }
        let states = (self.states != StatesFrom::default()).then_some(self.states);
        let (robot, record, web, seconds) = (None, None, None, None);
        Ok(RunArgs { config: path.to_owned(), robot, record, web, foxglove: None, seconds, states, json: self.json })
    }
}

/// The options by which a node joins a ROS 2 domain.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinArgs {
    /// Prefix of the names of topics, services and actions: /cell/arm1; or serial: /UR and the arm's serial number,
    /// as a controller with PolyScope X; {serial} within a name is that number
    #[arg(long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Prefix of the names of joints and frames: arm1_
    #[arg(long, value_name = "PREFIX")]
    pub tf_prefix: Option<String>,
    /// Naming of topics: driver (as UR's driver for ROS 2), native (as PolyScope X) or both
    #[arg(long, value_name = "NAMES", value_parser = parse_surface)]
    pub surface: Option<Surface>,
    /// Release of ROS 2 that other nodes use: humble, jazzy, kilted, lyrical or rolling; default: ROS_DISTRO, or
    /// jazzy
    #[arg(long, value_name = "DISTRO", value_parser = parse_distro)]
    pub distro: Option<Distro>,
    /// Domain, 0 to 232; default: ROS_DOMAIN_ID, or 0
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=232))]
    pub domain: Option<u16>,
    /// Address of the network interface to join by; default: every one if the node does not command
    /// (ROS_AUTOMATIC_DISCOVERY_RANGE and ROS_LOCALHOST_ONLY decide), and 127.0.0.1 if it commands. Every host on
    /// that network can read what is published
    #[arg(long, value_name = "ADDR")]
    pub interface: Option<IpAddr>,
    /// Host to announce the node to individually, if multicast does not reach it; repeat for each host; also:
    /// ROS_STATIC_PEERS
    #[arg(long = "peer", value_name = "HOST")]
    pub peers: Vec<String>,
}

impl JoinArgs {
    /// Returns the settings of the node of an arm with `joints` joints: from these options, then from the
    /// configuration, then from the environment. The controller at `target` is queried for its serial number if names
    /// are made from it.
    ///
    /// # Errors
    /// The errors of [`Settings::new`].
    pub(crate) fn settings(
        &self,
        ros: &RosSettings,
        joints: usize,
        target: Option<&Target>,
    ) -> Result<Settings, Failure> {
        let mut ros = ros.clone();
        if let Some(namespace) = &self.namespace {
            ros.namespace.clone_from(namespace);
        }
        if let Some(prefix) = &self.tf_prefix {
            ros.tf_prefix.clone_from(prefix);
        }
        if !self.peers.is_empty() {
            ros.peers.clone_from(&self.peers);
        }
        ros.interface = self.interface.or(ros.interface);
        ros.surface = self.surface.unwrap_or(ros.surface);
        Settings::new(&ros, self.distro, self.domain, joints, target)
    }
}

fn parse_distro(text: &str) -> Result<Distro, String> {
    Distro::from_name(text).ok_or_else(|| {
        let names: Vec<_> = Distro::ALL.iter().map(|distro| distro.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_surface(text: &str) -> Result<Surface, String> {
    match text {
        "driver" => Ok(Surface::Driver),
        "native" => Ok(Surface::Native),
        "both" => Ok(Surface::Both),
        _ => Err("expected driver, native or both".into()),
    }
}
