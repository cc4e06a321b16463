//! The settings of a node.

use std::net::IpAddr;

use outrigger_ros2_messages::endpoint::{Distro, Names};
use outrigger_wire::rtde::MAX_NAMES;
use outrigger_wire::time::Duration;

use super::place::Place;
use super::serial;
use crate::arm::{LWR_JOINTS, UR_JOINTS};
use crate::native::Terminals;
use crate::{environment, native};
use outrigger::config::{RosSettings, Stamps, Surface};
use outrigger::exit::Failure;
use outrigger::host::target::Target;

/// Characters of a line, and of the name of its kind, at most.
const LONGEST: usize = 4_096;
const LONGEST_KEY: usize = 96;

/// A line for the log.
#[derive(Debug)]
pub(super) struct Line {
    /// The kind of which a flood is cut short: nothing of it comes from others.
    pub(super) key: String,
    /// The text.
    pub(super) text: String,
    /// The number of times that it happened.
    pub(super) count: u64,
}

/// Lines for the log.
#[derive(Debug, Default)]
pub(super) struct Remarks(pub(super) Vec<Line>);

impl Remarks {
    /// Adds a line. Its kind is what stands before the first colon: the name of a topic, a service or an action of this node.
    pub(super) fn push(&mut self, text: String) {
        let key = text.split(": ").next().unwrap_or_default().chars().take(LONGEST_KEY).collect();
        self.push_counted(key, text, 1);
    }

    /// Adds a line of this kind, for something that happened so many times.
    pub(super) fn push_counted(&mut self, key: String, text: String, count: u32) {
        let text = if text.len() > LONGEST { text.chars().take(LONGEST).collect() } else { text };
        self.0.push(Line { key, text, count: count.into() });
    }
}

impl Extend<String> for Remarks {
    fn extend<T: IntoIterator<Item = String>>(&mut self, texts: T) {
        // They are about others, whose names may be anything.
        texts.into_iter().for_each(|text| self.push_counted("others".into(), text, 1));
    }
}

/// The settings of a node.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Namespace and prefix.
    pub(super) names: Names,
    /// Layouts that differ between releases.
    pub(super) distro: Distro,
    /// `ROS_DOMAIN_ID`.
    pub(super) domain: u16,
    /// The addresses of the network interfaces by which it joins.
    pub(super) interfaces: Vec<IpAddr>,
    /// The origin of the names of topics.
    pub(super) surface: Surface,
    /// Topics that others would send once are sent again to whoever asks for that.
    pub(super) offer_reliable: bool,
    /// The names of 2015 as well.
    pub(super) legacy_names: bool,
    /// The robot is described with the meshes of `ur_description`.
    pub(super) meshes: bool,
    /// Hosts that are told of it one by one.
    pub(super) peers: Vec<String>,
    /// States of joints by names of PolyScope X stand outside of the namespace.
    pub(super) joints_at_root: bool,
    /// Joints of the arm, in its order.
    pub(super) joints: &'static [&'static str],
    /// Streamed speeds hold for this long.
    pub(super) forward_timeout: Duration,
    /// A hand that is let move the arm is renewed within this time.
    pub(super) freedrive_timeout: Duration,
    /// A goal while nothing is commanded is a request as well.
    pub(super) goals_request: bool,
    /// The topics that have inputs and outputs by names of PolyScope X.
    pub(super) terminals: Terminals,
    /// The clock of the times of states.
    pub(super) stamps: Stamps,
    /// Variables of RTDE, each with a topic of its own.
    pub(super) variables: Vec<String>,
    /// The source that takes `external_wrench`, by its name.
    pub(super) external_wrench: Option<String>,
    /// The lowest and the highest mass that `set_payload` takes \[kg\].
    pub(super) payload: [f32; 2],
}

impl Settings {
    /// Returns the settings of the node of an arm with `joints` joints: by `ros`, and by the environment where `distro` or `domain` is
    /// `None`. The controller at `target` is asked for its serial number where names are made of it. A node that may command joins by
    /// the loopback interface where `ros` names none; one that only looks joins where the environment lets it, as any node of ROS 2.
    ///
    /// # Errors
    /// [`Failure::Usage`] for what is no name, and for an environment that this node cannot heed; [`Failure::Connection`] where a
    /// serial number is not told.
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
            native::names_by_serial(namespace, prefix, &serial::serial(target)?)
        } else {
            Names::new(namespace, prefix)
        };
        let names = names.map_err(|error| usage(&error))?;
        let distro = match distro {
            Some(distro) => distro,
            None => environment::distro(&read).map_err(|error| usage(&error))?.unwrap_or_default(),
        };
        // A request of RTDE has the names joined by commas, behind the timestamp.
        let names_of = super::variables(&ros.variables).iter().map(|name| 1 + name.len()).sum::<usize>();
        if "timestamp".len() + names_of > MAX_NAMES {
            let left =
                MAX_NAMES - "timestamp".len() - super::variables(&[]).iter().map(|name| 1 + name.len()).sum::<usize>();
            let what = format!(
                "ros.expert.variables: too many, beside those of other topics a request has room for {left} bytes of names"
            );
            return Err(Failure::Usage(what));
        }
        let Place { domain, interfaces, peers } = Place::find(domain, ros.joins_by(), ros.peers.clone())?;
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
            // As a controller does, whose names these are then.
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

    /// Has the source of this name take the readings of `external_wrench`: one of six values whose input is requests.
    #[must_use]
    pub fn with_external_wrench(self, source: Option<String>) -> Self {
        Self { external_wrench: source, ..self }
    }
}
