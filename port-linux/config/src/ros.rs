//! The table `[ros]`: the settings of the ROS 2 node.

use std::net::{IpAddr, Ipv4Addr};

use outrigger_core::law::Forward;
use outrigger_core::{settings, words};
use outrigger_wire::time::Duration;

use crate::reader::Section;
use crate::run::wrong_variable;

settings! {
    /// The settings of the ROS 2 node that `outrigger ros2 CONFIG.toml` starts.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RosSettings in "ros." {
        /// `true` accepts service calls, goals and commands from ROS 2, under the same preconditions as any other
        /// request.
        pub command: bool = false,
        /// A goal that arrives while the arm is not commanded is also a request to command, unless a stop is latched.
        pub goals_request: bool = false,
        /// Time for which a streamed speed is valid without a successor. After it the arm stops.
        pub forward_timeout: Duration [Forward::<6>::HOLDS] = Forward::<6>::DRIVER_HOLDS,
        /// Time within which freedrive must be renewed; otherwise commanding ends. UR's driver calls it
        /// `inactive_timeout`.
        pub freedrive_timeout: Duration [0.05 to 60.0 "s"] = Duration::from_secs(1),
        /// The address of the network interface that the node uses. Without one, a node that only reads uses the
        /// interfaces that the environment variables of ROS 2 permit, by default all, and a node that commands uses
        /// 127.0.0.1.
        pub interface nowhere: Option<IpAddr> = None,
        /// The set of names for the node's topics and services: those of UR's driver, of PolyScope X, or both.
        pub surface: Surface = Surface::Driver,
        /// The native topics of states, which a controller sends best effort, are offered as reliable: lost messages
        /// are sent again to readers that request it.
        pub offer_reliable: bool = true,
        /// The names of UR's ROS driver of 2015 are offered in addition to those of the ROS 2 driver.
        pub legacy_names: bool = false,
        /// The robot description refers to the meshes of the package `ur_description`, if the arm's model is known.
        pub meshes: bool = false,
        /// The lowest payload mass that the service `set_payload` accepts \[kg\].
        pub min_payload: f32 [0.0 to 1000.0 "kg"] = 0.0,
        /// The highest payload mass that the service `set_payload` accepts \[kg\].
        pub max_payload: f32 [0.0 to 1000.0 "kg"] = 1000.0,
        /// The grouping of inputs and outputs into topics with names of PolyScope X.
        pub terminals: Terminals = Terminals::Grouped,
        /// The clock from which the published robot states have their time stamps.
        pub stamps: Stamps = Stamps::Arrival,
        /// The RTDE variables that are published, each on a topic of its own.
        pub variables nowhere: Vec<String> = Vec::new(),
        /// The hosts that the node is announced to individually, because multicast does not reach them.
        pub peers nowhere: Vec<String> = Vec::new(),
        /// The prefix of topics, services and actions. Empty for none. `{serial}` stands for the arm's serial number,
        /// and `serial` alone is that number.
        pub namespace nowhere: String = String::new(),
        /// The prefix of the names of joints and frames. Empty for none.
        pub tf_prefix nowhere: String = String::new(),
    }
}

/// The sets of names that the ROS 2 node uses for its topics and services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The topic and service names of UR's driver for ROS 2.
    Driver,
    /// The topic and service names that a controller with PolyScope X offers by itself.
    Native,
    /// Both the names of UR's driver and those of PolyScope X.
    Both,
}

words!(Surface { "driver" = Driver, "native" = Native, "both" = Both });

/// The grouping of inputs and outputs into topics with names of PolyScope X.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminals {
    /// One topic for all terminals of the control box and one for the tool's, as from PolyScope X 10.7 on.
    #[default]
    Grouped,
    /// A topic for each port, as UR's paper on ROS 2 lists them.
    Ports,
}

words!(Terminals { "grouped" = Grouped, "ports" = Ports });

/// The clock from which the published robot states have their time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// The time at which the robot's state arrived at this computer.
    Arrival,
    /// The controller's time of the state, converted to the clock of this computer.
    Controller,
}

words!(Stamps { "arrival" = Arrival, "controller" = Controller });

impl Surface {
    /// Returns `true` if the node offers topics and services under the names of UR's driver.
    #[must_use]
    pub const fn has_driver(self) -> bool {
        matches!(self, Self::Driver | Self::Both)
    }

    /// Returns `true` if the node offers topics and services under the names of PolyScope X.
    #[must_use]
    pub const fn has_native(self) -> bool {
        matches!(self, Self::Native | Self::Both)
    }
}

impl RosSettings {
    /// Returns the address of the network interface that the node uses, or `None` if the environment decides. A node
    /// that may command uses only an interface that is named, or 127.0.0.1.
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
