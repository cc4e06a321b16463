//! `[ros]`: the robot as a node of ROS 2.

use std::net::{IpAddr, Ipv4Addr};

use outrigger_core::law::Forward;
use outrigger_core::{settings, words};
use outrigger_wire::time::Duration;

use crate::reader::Section;
use crate::run::wrong_variable;

settings! {
    /// The robot as a node of ROS 2, for `outrigger ros2 CONFIG.toml`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RosSettings in "ros." {
        /// Calls, goals and commands of ROS 2 are heeded, by the same preconditions as anybody's.
        pub command: bool = false,
        /// A goal while nothing is commanded is a request as well, where nothing is latched.
        pub goals_request: bool = false,
        /// Streamed speeds hold for this long without a successor; then the arm comes to rest.
        pub forward_timeout: Duration [Forward::<6>::HOLDS] = Forward::<6>::DRIVER_HOLDS,
        /// A hand that is let move the arm is renewed within this time; without, commanding ends. UR's driver calls it `inactive_timeout`.
        pub freedrive_timeout: Duration [0.05 to 60.0 "s"] = Duration::from_secs(1),
        /// The address of the network interface by which it joins. Without one a node that only looks joins where ROS 2's
        /// variables of the environment let it, by themselves everywhere, and one that commands joins by 127.0.0.1.
        pub interface nowhere: Option<IpAddr> = None,
        /// Whose names its topics and services have.
        pub surface: Surface = Surface::Driver,
        /// Surface N's topics of states, which a controller sends once, are sent again to whoever asks for that.
        pub offer_reliable: bool = true,
        /// Beside those of UR's driver for ROS 2, the names that its predecessors of 2015 had.
        pub legacy_names: bool = false,
        /// The description of the robot refers to the meshes of the package `ur_description`, where the arm's model is known.
        pub meshes: bool = false,
        /// The lowest mass that `set_payload` takes \[kg\].
        pub min_payload: f32 [0.0 to 1000.0 "kg"] = 0.0,
        /// The highest mass that `set_payload` takes \[kg\].
        pub max_payload: f32 [0.0 to 1000.0 "kg"] = 1000.0,
        /// The topics that have inputs and outputs by names of PolyScope X.
        pub terminals: Terminals = Terminals::Grouped,
        /// The clock of the times of states.
        pub stamps: Stamps = Stamps::Arrival,
        /// Variables of RTDE, each with a topic of its own.
        pub variables nowhere: Vec<String> = Vec::new(),
        /// Hosts that are told of it one by one, for multicast does not reach them.
        pub peers nowhere: Vec<String> = Vec::new(),
        /// Before the names of topics, services and actions; empty: none. With `{serial}` for the arm's serial number, or `serial`.
        pub namespace nowhere: String = String::new(),
        /// Before the names of joints and frames; empty: none.
        pub tf_prefix nowhere: String = String::new(),
    }
}

/// Whose names topics and services have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Those of UR's driver for ROS 2.
    Driver,
    /// Those that a controller with PolyScope X has by itself.
    Native,
    /// Both.
    Both,
}

words!(Surface { "driver" = Driver, "native" = Native, "both" = Both });

/// The topics that have inputs and outputs by names of PolyScope X.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminals {
    /// A topic for the control box and one for the tool, as from PolyScope X 10.7 on.
    #[default]
    Grouped,
    /// A topic for each port, as UR's paper on ROS 2 lists them.
    Ports,
}

words!(Terminals { "grouped" = Grouped, "ports" = Ports });

/// The clock of the times of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// The time at which a state was read.
    Arrival,
    /// The controller's time of the state, on the clock of this computer.
    Controller,
}

words!(Stamps { "arrival" = Arrival, "controller" = Controller });

impl Surface {
    /// Whether the names of UR's driver are among them.
    #[must_use]
    pub const fn has_driver(self) -> bool {
        matches!(self, Self::Driver | Self::Both)
    }

    /// Whether those of PolyScope X are among them.
    #[must_use]
    pub const fn has_native(self) -> bool {
        matches!(self, Self::Native | Self::Both)
    }
}

impl RosSettings {
    /// Returns the address of the interface by which the node joins, or `None` where the environment decides: a node that may command
    /// joins no network that is not named.
    #[must_use]
    pub fn joins_by(&self) -> Option<IpAddr> {
        self.interface.or(self.command.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)))
    }

    pub(crate) fn of(section: Section<'_, '_>) -> Self {
        section.settings(|ros: &mut Self, section| {
            let what = "the address of a network interface of this machine, e.g. \"192.168.1.20\"";
            if let Some(text) = section.text("interface", what) {
                match text.parse() {
                    Ok(address) => ros.interface = Some(address),
                    Err(_) => section.complain("interface", what),
                }
            }
            ros.peers = section.texts("peers", "addresses or names of hosts, e.g. [\"192.168.1.30\"]", |_, text| {
                let is_host = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == ';' || c == ':');
                (!is_host).then(|| "the address or the name of a host, without a port".into())
            });
            let what = "variables of RTDE that the controller sends, e.g. \"actual_TCP_pose\"";
            ros.variables = section.texts("variables", what, wrong_variable);
            let names = "letters, digits and '_', no digit first, e.g.";
            if let Some(text) = section.text("namespace", &format!("{names} \"/cell/arm1\", or \"serial\"")) {
                ros.namespace = text.into();
            }
            if let Some(text) = section.text("tf_prefix", &format!("{names} \"arm1_\"")) {
                ros.tf_prefix = text.into();
            }
            ros.read(section);
            if ros.min_payload > ros.max_payload {
                section.complain("min_payload", format!("at most max_payload, {} kg", ros.max_payload));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_commands_joins_no_network_that_is_not_named() {
        let network = Some(IpAddr::from([192, 168, 1, 20]));
        let of = |command, interface| RosSettings { command, interface, ..RosSettings::default() }.joins_by();
        assert_eq!(of(false, None), None);
        assert_eq!(of(true, None), Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        assert_eq!((of(false, network), of(true, network)), (network, network));
    }
}
