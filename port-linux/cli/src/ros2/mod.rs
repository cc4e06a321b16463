//! The command `outrigger ros2`: shows the robot as a node of ROS 2, without an installation of it.

mod args;
mod script_endpoints;

use std::sync::Arc;

use outrigger_config::RosSettings;
use outrigger_ros2::node::Node;

pub(crate) use self::args::{JoinArgs, Ros2Args};
pub(crate) use self::script_endpoints::{Scripts, ScriptsArgs};
use outrigger::companion::Companion;
use outrigger::exit::Failure;
use outrigger::run::ObservationSettings;
use outrigger::show::Format;
use outrigger::vendor::Vendor;

/// Returns the settings with which `outrigger ros2` observes `controller`: with a ROS 2 node that runs beside the
/// session (a companion), and sends no requests.
///
/// # Errors
/// [`Failure::Usage`] and [`Failure::BadInput`] for the options by which it joins.
pub(crate) fn look<const N: usize, C: Vendor<N>>(
    controller: &C,
    args: &Ros2Args,
) -> Result<ObservationSettings<N>, Failure> {
    let settings = args.joins.settings(&RosSettings::default(), N, controller.target().as_ref())?;
    let node: Arc<dyn Companion<N>> = Arc::new(Node::onlooker(settings));
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    Ok(ObservationSettings { title: "ros2", format, seconds, for_a_reader: false, companions: vec![node] })
}
