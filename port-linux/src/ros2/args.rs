//! What `outrigger ros2` takes.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;
use outrigger_core::engine::ur::StatesFrom;
use outrigger_ros::endpoint::Distro;

use crate::args::ControllerArgs;
use crate::config::{RobotAddress, parse_states};

/// `outrigger ros2`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Ros2Args {
    /// HOST[:PORT-BASE]: nothing is commanded
    pub robot: RobotAddress,
    /// What kind of controller it is.
    #[command(flatten)]
    pub controller: ControllerArgs,
    /// How the node joins.
    #[command(flatten)]
    pub joins: JoinArgs,
    /// Where states come from: auto, realtime (30003) or rtde (30004)
    #[arg(long, value_name = "SOURCE", default_value = "auto", value_parser = parse_states)]
    pub states: StatesFrom,
    /// End after this many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// One JSON object per line instead of text
    #[arg(long)]
    pub json: bool,
}

/// How a node joins.
#[derive(Args, Clone, Debug)]
pub(crate) struct JoinArgs {
    /// Before the names of topics, services and actions: /cell/arm1
    #[arg(long, value_name = "NAMESPACE", default_value = "")]
    pub namespace: String,
    /// Before the names of joints and frames: arm1_
    #[arg(long, value_name = "PREFIX", default_value = "")]
    pub tf_prefix: String,
    /// Release of ROS 2 that the others have: humble, jazzy, kilted, lyrical or rolling; default: ROS_DISTRO, or jazzy
    #[arg(long, value_name = "DISTRO", value_parser = parse_distro)]
    pub distro: Option<Distro>,
    /// Domain, 0 to 232; default: ROS_DOMAIN_ID, or 0
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=232))]
    pub domain: Option<u16>,
    /// Address of the network interface to join by: anybody there can read what is published
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub interface: IpAddr,
}

fn parse_distro(text: &str) -> Result<Distro, String> {
    Distro::from_name(text).ok_or_else(|| {
        let names: Vec<_> = Distro::ALL.iter().map(|distro| distro.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}
