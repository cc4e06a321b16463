//! `outrigger ros2`: the robot as a node of ROS 2, without an installation of it.

mod action;
mod args;
mod bytes;
mod census;
mod dashboard;
mod dds;
mod doctor;
mod face;
mod followed;
mod forward;
mod health;
mod learned;
mod listing;
mod node;
mod offers;
mod origin;
mod outcome;
mod parameters;
mod peers;
mod pendant;
mod place;
mod probe;
mod quality;
mod remarked;
mod script;
mod scripts;
mod serial;
mod settings;
mod surface;
mod touch;
mod wanted;

use std::sync::Arc;

use outrigger_config::RosSettings;
use outrigger_ros2::native;

pub(crate) use self::args::{JoinArgs, Ros2Args};
pub(crate) use self::doctor::Watching;
pub(crate) use self::node::Beside;
pub(crate) use self::scripts::{Scripts, ScriptsArgs};
use outrigger::companion::Companion;
use outrigger::exit::Failure;
use outrigger::maker::Controller;
use outrigger::run::Look;
use outrigger::show::Format;

/// Variables of RTDE that Surface D is filled by, beside those of Surface N.
const OF_DRIVER: &[&str] =
    &["actual_current", "tool_analog_input_types", "standard_analog_input0", "standard_analog_input1", "tool_mode"];

/// Returns the variables of a controller that are asked for beside those of a session.
fn variables() -> Vec<String> {
    // The controller's time comes with any of them: twice, a table of a recording would have it twice.
    let ours = OF_DRIVER.iter().chain(native::VARIABLES).filter(|name| **name != "timestamp");
    let mut names: Vec<String> = vec![];
    for name in ours {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
    }
    names
}

/// Returns how the command looks at `controller`: with a node beside it that asks nothing of it.
///
/// # Errors
/// [`Failure::Usage`] and [`Failure::BadInput`] for how it is to join.
pub(crate) fn look<const N: usize, C: Controller<N>>(controller: &C, args: &Ros2Args) -> Result<Look<N>, Failure> {
    let settings = args.joins.settings(&RosSettings::default(), N, controller.target().as_ref())?;
    let node: Arc<dyn Companion<N>> = Arc::new(Beside::an_onlooker(settings));
    let (format, seconds) = (Format::choose(args.json), args.seconds);
    Ok(Look { title: "ros2", format, seconds, for_a_reader: false, companions: vec![node] })
}
