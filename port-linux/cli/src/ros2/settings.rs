//! What a node is to be.

use std::net::IpAddr;

use outrigger_config::Surface;
use outrigger_ros2_messages::endpoint::{Distro, Names};
use outrigger_wire::time::Duration;

/// What is said in the log.
pub(super) type Remarks = Vec<String>;

/// What is said where nothing is commanded.
pub(super) const ONLY_LOOKS: &str =
    "this node commands nothing: say command = true in [ros] of a configuration, and run `outrigger ros2` with it";

/// What a node is to be.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Namespace and prefix.
    pub(crate) names: Names,
    /// Layouts that differ between releases.
    pub(crate) distro: Distro,
    /// `ROS_DOMAIN_ID`.
    pub(crate) domain: u16,
    /// By which it joins.
    pub(crate) interface: IpAddr,
    /// Whose names topics have.
    pub(crate) surface: Surface,
    /// What others would send once is sent again to whoever asks for that.
    pub(crate) offer_reliable: bool,
    /// The names of 2015 as well.
    pub(crate) legacy_names: bool,
    /// Hosts that are told of it one by one.
    pub(crate) peers: Vec<String>,
    /// States of joints by names of PolyScope X stand outside of the namespace.
    pub(crate) joints_at_root: bool,
    /// Joints of the arm, in its order.
    pub(crate) joints: &'static [&'static str],
    /// Streamed speeds hold for this long.
    pub(crate) forward_timeout: Duration,
    /// A goal while nothing is commanded is a request as well.
    pub(crate) goals_request: bool,
}
