//! The settings of the node of ROS 2, and the lines that it writes to the log.

use std::net::IpAddr;

use outrigger_core::mode::GuideLimits;
use outrigger_ros2_messages::endpoint::{Distro, Names};
use outrigger_wire::rtde::MAX_NAMES;
use outrigger_wire::time::Duration;

use super::arm_serial_number;
use super::domain_selection::Domain;
use crate::arm::{LWR_JOINTS, UR_JOINTS};
use crate::native::Terminals;
use crate::{environment, native};
use outrigger::config::{RosSettings, Stamps, Surface};
use outrigger::exit::Failure;
use outrigger::host::target::Target;

/// The longest line that the node writes to the log \[characters\].
const LONGEST: usize = 4_096;
/// The longest name of a kind of log line \[characters\].
const LONGEST_KEY: usize = 96;

/// A line that the node writes to the log.
#[derive(Debug)]
pub(super) struct Line {
    /// The kind of line, by which a flood is limited. It contains nothing that others send.
    pub(super) key: String,
    /// The text that is written to the log.
    pub(super) text: String,
    /// The number of occurrences that the log line stands for.
    pub(super) count: u64,
}

/// The lines for the log that one step of the node has produced.
#[derive(Debug, Default)]
pub(super) struct Remarks(pub(super) Vec<Line>);

impl Remarks {
    /// Adds a log line. Its kind is the text before the first colon: the name of a topic, a service or an action of
    /// this node.
    pub(super) fn push(&mut self, text: String) {
        let key = text.split(": ").next().unwrap_or_default().chars().take(LONGEST_KEY).collect();
        self.push_counted(key, text, 1);
    }

    /// Adds a log line of the kind `key`, which stands for `count` occurrences.
    pub(super) fn push_counted(&mut self, key: String, text: String, count: u32) {
        let text = if text.len() > LONGEST { text.chars().take(LONGEST).collect() } else { text };
        self.0.push(Line { key, text, count: count.into() });
    }
}

impl Extend<String> for Remarks {
    fn extend<T: IntoIterator<Item = String>>(&mut self, texts: T) {
        // These texts are about other nodes, whose names may be anything.
        texts.into_iter().for_each(|text| self.push_counted("others".into(), text, 1));
    }
}

/// The settings of the node of ROS 2.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of the node, and the prefix of joint and frame names.
    pub(super) names: Names,
    /// The release of ROS 2 whose message layouts are used.
    pub(super) distro: Distro,
    /// The number of the DDS domain, `ROS_DOMAIN_ID`.
    pub(super) domain: u16,
    /// The addresses of the network interfaces through which the node joins the domain.
    pub(super) interfaces: Vec<IpAddr>,
    /// The set of topic names that is used: those of UR's driver, of PolyScope X, or both.
    pub(super) surface: Surface,
    /// `true` if topics that a PolyScope X controller publishes without reliability are offered as reliable.
    pub(super) offer_reliable: bool,
    /// `true` if the topic names of `ur_modern_driver`, the driver of 2015, are offered as well.
    pub(super) legacy_names: bool,
    /// `true` if the robot description uses the meshes of the package `ur_description`.
    pub(super) meshes: bool,
    /// The hosts to which the node announces itself individually, beside multicast.
    pub(super) peers: Vec<String>,
    /// `true` if the topics of joint states are outside the node's namespace, as on a PolyScope X controller. They are
    /// then named `/joint_states`, for example.
    pub(super) joints_at_root: bool,
    /// The names of the arm's joints, in the order of the arm.
    pub(super) joints: &'static [&'static str],
    /// The time for which a streamed joint command is valid without a successor. Then the arm is brought to standstill.
    /// If the stream consists of positions, the arm comes to rest at the last one.
    pub(super) forward_timeout: Duration,
    /// The time within which a client must publish on the topic of freedrive again, else freedrive ends.
    pub(super) freedrive_timeout: Duration,
    /// `true` if a goal while the arm is not commanded also counts as a request to command it.
    pub(super) goals_request: bool,
    /// The grouping of inputs and outputs into topics under names of PolyScope X: one topic for the control box and one
    /// for the tool, or one for each port.
    pub(super) terminals: Terminals,
    /// The clock from which the published robot states have their stamps.
    pub(super) stamps: Stamps,
    /// The RTDE variables that are published on topics of their own.
    pub(super) variables: Vec<String>,
    /// The name of the configured sensor (source) that takes the readings of the topic `external_wrench`; `None` if
    /// there is none.
    pub(super) external_wrench: Option<String>,
    /// The lowest and the highest payload mass that `set_payload` accepts \[kg\].
    pub(super) payload: [f32; 2],
}

impl Settings {
    /// Creates the settings of the node of an arm with `joints` joints from `ros`, and from the environment if
    /// `distro` or `domain` is `None`. The controller at `target` is queried for its serial number if names are made
    /// from it. A node that may command joins through the loopback interface if `ros` names none; one that does not
    /// command joins as the environment permits, like any node of ROS 2.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an invalid name, and for an environment that this node cannot follow;
    /// [`Failure::Connection`] if a serial number is needed and not reported.
    pub fn new(
        ros: &RosSettings,
        distro: Option<Distro>,
        domain: Option<u16>,
        joints: usize,
        target: Option<&Target>,
    ) -> Result<Self, Failure> {
        let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        let read = |name: &str| std::env::var(name).ok();
        let (namespace, prefix) = (&ros.namespace, &ros.tf_prefix);
        let by_serial = native::by_serial(namespace, prefix);
        let names = if by_serial {
            native::names_by_serial(namespace, prefix, &arm_serial_number::serial(target)?)
        } else {
            Names::new(namespace, prefix)
        };
        let names = names.map_err(|error| usage(&error))?;
        let distro = match distro {
            Some(distro) => distro,
            None => environment::distro(&read).map_err(|error| usage(&error))?.unwrap_or_default(),
        };
        // An RTDE request has the names joined by commas, after the timestamp.
        let names_of = super::variables(&ros.variables).iter().map(|name| 1 + name.len()).sum::<usize>();
        if "timestamp".len() + names_of > MAX_NAMES {
            let left =
                MAX_NAMES - "timestamp".len() - super::variables(&[]).iter().map(|name| 1 + name.len()).sum::<usize>();
            let what =
                format!("ros.expert.variables: too many; with those of other topics {left} bytes of names are left");
            return Err(Failure::Usage(what));
        }
        let Domain { domain, interfaces, peers } = Domain::find(domain, ros.joins_by(), ros.peers.clone())?;
        let joints: &[&str] = if joints == LWR_JOINTS.len() { &LWR_JOINTS } else { &UR_JOINTS };
        Ok(Self {
            names,
            distro,
            domain,
            interfaces,
            surface: ros.surface,
            offer_reliable: ros.offer_reliable,
            legacy_names: ros.legacy_names,
            meshes: ros.meshes,
            peers,
            // Follows the controller whose names are used.
            joints_at_root: by_serial && ros.surface == Surface::Native,
            joints,
            forward_timeout: ros.forward_timeout,
            freedrive_timeout: ros.freedrive_timeout,
            goals_request: ros.goals_request,
            terminals: match ros.terminals {
                outrigger::config::Terminals::Grouped => Terminals::Grouped,
                outrigger::config::Terminals::Ports => Terminals::Ports,
            },
            stamps: ros.stamps,
            variables: ros.variables.clone(),
            external_wrench: None,
            payload: [ros.min_payload, ros.max_payload],
        })
    }

    /// Returns the limits of freedrive. A client that stops publishing ends it after the configured time.
    pub(super) fn freedrive(&self) -> GuideLimits {
        GuideLimits { renew_within: self.freedrive_timeout, ..GuideLimits::default() }
    }

    /// Sets the name of the configured sensor (source) that takes the readings of the topic `external_wrench`. In the
    /// configuration it has `input = "requests"` and `values = 6`.
    #[must_use]
    pub fn with_external_wrench(self, source: Option<String>) -> Self {
        Self { external_wrench: source, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freedrive_is_renewed_within_the_time_of_the_configuration() {
        for seconds in [1, 3] {
            let timeout = Duration::from_secs(seconds);
            let ros = RosSettings { freedrive_timeout: timeout, command: true, ..RosSettings::default() };
            let settings = Settings::new(&ros, Some(Distro::Jazzy), Some(7), 6, None).expect("settings");
            assert_eq!(settings.freedrive(), GuideLimits { renew_within: timeout, ..GuideLimits::default() });
        }
    }
}
