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

use outrigger_config::{RosSettings, Surface};
use outrigger_ros2::arm::{LWR_JOINTS, UR_JOINTS};
use outrigger_ros2::{environment, native};
use outrigger_ros2_messages::endpoint::Names;

pub(crate) use self::args::{JoinArgs, Ros2Args};
pub(crate) use self::doctor::Watching;
pub(crate) use self::node::Beside;
use self::place::Place;
pub(crate) use self::scripts::{Scripts, ScriptsArgs};
pub(crate) use self::settings::Settings;
use outrigger::companion::Companion;
use outrigger::exit::Failure;
use outrigger::host::target::Target;
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

impl JoinArgs {
    /// The node of an arm with `joints` joints: by these words, then by the configuration, then by the environment. The controller at
    /// `target` is asked for its serial number where names are made of it.
    ///
    /// # Errors
    /// [`Failure::Usage`] for what is no name, and for an environment that this node cannot heed; [`Failure::Connection`] where a
    /// serial number is not told.
    pub(crate) fn settings(
        &self,
        ros: &RosSettings,
        joints: usize,
        target: Option<&Target>,
    ) -> Result<Settings, Failure> {
        let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        let read = |name: &str| std::env::var(name).ok();
        let namespace = self.namespace.as_ref().unwrap_or(&ros.namespace);
        let prefix = self.tf_prefix.as_ref().unwrap_or(&ros.tf_prefix);
        let by_serial = native::by_serial(namespace, prefix);
        let names = if by_serial {
            native::names_by_serial(namespace, prefix, &serial::serial(target)?)
        } else {
            Names::new(namespace, prefix)
        };
        let names = names.map_err(|error| usage(&error))?;
        let distro = match self.distro {
            Some(distro) => distro,
            None => environment::distro(&read).map_err(|error| usage(&error))?.unwrap_or_default(),
        };
        let interface = self.interface.unwrap_or(ros.interface);
        let surface = self.surface.unwrap_or(ros.surface);
        let peers = if self.peers.is_empty() { ros.peers.clone() } else { self.peers.clone() };
        let Place { domain, interface, peers } = Place::find(self.domain, interface, peers)?;
        let joints: &[&str] = if joints == LWR_JOINTS.len() { &LWR_JOINTS } else { &UR_JOINTS };
        Ok(Settings {
            names,
            distro,
            domain,
            interface,
            surface,
            offer_reliable: ros.offer_reliable,
            legacy_names: ros.legacy_names,
            peers,
            // As a controller does, whose names these are then.
            joints_at_root: by_serial && surface == Surface::Native,
            joints,
            forward_timeout: ros.forward_timeout,
            goals_request: ros.goals_request,
        })
    }
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
