//! Describes the other participants of a domain and their endpoints as text.

use std::collections::BTreeSet;
use std::fmt;

use super::{Neighbourhood, Prefix, prefix};
use outrigger_ros2_messages::Gid;

/// The largest number of names listed at once; of further names only the count is given.
const NAMED: usize = 3;

/// A list of names as text, of which only the first few are written out.
pub(super) struct Listed<'n>(pub(super) &'n BTreeSet<String>);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<_> = self.0.iter().take(NAMED).map(String::as_str).collect();
        f.write_str(&named.join(", "))?;
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Returns the vendor of a DDS implementation by the number that the OMG has assigned.
pub(super) fn vendor(of: [u8; 2]) -> String {
    match of {
        [1, 0x01] => "RTI Connext".into(),
        [1, 0x03] => "OpenDDS".into(),
        [1, 0x0f] => "Fast DDS".into(),
        [1, 0x10] => "Cyclone DDS".into(),
        [1, 0x11] => "GurumDDS".into(),
        // This program uses RustDDS, too.
        [1, 0x12] => "RustDDS".into(),
        [a, b] => format!("DDS of vendor {a:02x}{b:02x}"),
    }
}

impl Neighbourhood {
    /// Describes, as text, every program in the domain that has announced an endpoint or a node, by its first node if
    /// that is known.
    #[must_use]
    pub(crate) fn programs(&self) -> Vec<String> {
        self.prefixes().into_iter().map(|of| self.program(of)).collect()
    }

    /// Returns the identifiers of the participants that have announced an endpoint or a node. A participant that has
    /// only announced itself is left out, because its announcement may arrive although nothing can be sent to it.
    pub(crate) fn prefixes(&self) -> BTreeSet<Prefix> {
        let nodes = self.nodes.iter().map(|nodes| nodes.prefix);
        self.endpoints.iter().map(|endpoint| prefix(endpoint.gid)).chain(nodes).collect()
    }

    /// Describes the node or program that owns the endpoint `gid`.
    pub(super) fn who(&self, gid: Gid) -> String {
        let mut nodes = self.nodes.iter().flat_map(|of| &of.nodes);
        let node = nodes.find(|(_, endpoints)| endpoints.contains(&gid));
        match node {
            Some((name, _)) => format!("node {name}{}", self.of_vendor(prefix(gid))),
            None => self.program(prefix(gid)),
        }
    }

    /// Describes a DDS participant as text: its first node of ROS 2 if it has announced one, its DDS implementation and
    /// address.
    pub(super) fn program(&self, of: Prefix) -> String {
        let first = self.nodes.iter().find(|nodes| nodes.prefix == of).and_then(|nodes| nodes.nodes.first());
        match first {
            Some((name, _)) => format!("node {name}{}", self.of_vendor(of)),
            None => format!("a program without a node name{}", self.of_vendor(of)),
        }
    }

    /// Describes the DDS implementation and the address of the participant `of`.
    pub(super) fn of_vendor(&self, of: Prefix) -> String {
        let known = self.participants.iter().find(|known| known.prefix == of);
        let at = self.endpoints.iter().filter(|endpoint| prefix(endpoint.gid) == of).find_map(|endpoint| endpoint.at);
        match (known.map(|known| vendor(known.vendor)), at) {
            (Some(vendor), Some(at)) => format!(" ({vendor}, at {at})"),
            (Some(vendor), None) => format!(" ({vendor})"),
            (None, Some(at)) => format!(" (at {at})"),
            (None, None) => String::new(),
        }
    }
}

/// Returns the name in ROS of a DDS topic: `/joint_states` for `rt/joint_states`, `/set_io` for `rq/set_ioRequest`.
pub(super) fn ros_name(topic: &str) -> String {
    let (kind, name) = topic.split_once('/').unwrap_or(("", topic));
    let name = match kind {
        "rq" => name.strip_suffix("Request").unwrap_or(name),
        "rr" => name.strip_suffix("Reply").unwrap_or(name),
        _ => name,
    };
    format!("/{name}")
}

/// Returns the type in ROS of a DDS type: `sensor_msgs/msg/JointState` for `sensor_msgs::msg::dds_::JointState_`.
pub(super) fn ros_type(kind: &str) -> String {
    let ours = kind.replace("::dds_::", "/").replace("::", "/");
    ours.strip_suffix('_').map_or_else(|| kind.to_owned(), str::to_owned)
}
