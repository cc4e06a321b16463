//! Finds the other participants of a DDS domain and their conflicts with our node
//! (`core/docs/protocol/ros2-surface.md` 6).
//!
//! The input is the other participants and our node's endpoints; the output is findings as text, each with a fault
//! and a remedy. The code with a transport fills [`Neighbourhood`].

mod discovery_network;
mod participant_text;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

pub(crate) use self::discovery_network::{Announcement, Multicast, Surroundings, surroundings};
#[cfg(feature = "node")]
pub(crate) use self::discovery_network::{discovery_port, listed};
use self::participant_text::{Listed, ros_name, ros_type};
use outrigger_ros2_messages::cdr::{CdrError, decode, encode};
use outrigger_ros2_messages::endpoint::{Distro, Qos};
use outrigger_ros2_messages::type_hash;
use outrigger_ros2_messages::{Gid, NodeEntities, ParticipantEntities, WideGid};

/// The first bytes of a [`Gid`]: they identify a participant of the domain, which is one program or a part of it.
pub(crate) type Prefix = [u8; 12];

/// The direction of a DDS endpoint: reader or writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The endpoint reads messages of its topic.
    Reads,
    /// The endpoint writes messages of its topic.
    Writes,
}

/// A DDS endpoint of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnEndpoint {
    /// The direction of this node's endpoint: reader or writer.
    pub(crate) side: Side,
    /// The topic's name on DDS, such as `rt/joint_states`.
    pub(crate) topic: String,
    /// The type's name on DDS, such as `sensor_msgs::msg::dds_::JointState_`.
    pub(crate) kind: String,
    /// The quality of service that this node's endpoint requests or offers.
    pub(crate) qos: Qos,
}

/// The name, release and endpoints of this node, which may not be running yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offered {
    /// The node's absolute name, such as `/cell/arm1/outrigger`.
    pub(crate) node: String,
    /// The release of ROS 2 whose message layouts the node uses.
    pub(crate) distro: Distro,
    /// All DDS endpoints of the node.
    pub(crate) endpoints: Vec<OwnEndpoint>,
}

/// A DDS endpoint of another participant of the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The identifier of the other participant's endpoint.
    pub(crate) gid: Gid,
    /// The direction of the other participant's endpoint: reader or writer.
    pub(crate) side: Side,
    /// The name that the endpoint's topic has on DDS, such as `rt/joint_states`.
    pub(crate) topic: String,
    /// The name that the topic's type has on DDS, such as `sensor_msgs::msg::dds_::JointState_`.
    pub(crate) kind: String,
    /// The quality of service that the other participant's endpoint requests or offers; its depth is not announced.
    pub(crate) qos: Qos,
    /// The hash of the type, `RIHS01_…`, which releases from Iron on announce.
    pub(crate) type_hash: Option<String>,
    /// The network address at which the endpoint is reached; `None` if it is not known.
    pub(crate) at: Option<IpAddr>,
}

/// Another participant of the DDS domain, which is one program or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Participant {
    /// The identifier of the other participant.
    pub(crate) prefix: Prefix,
    /// The registered identifier of the vendor of the other participant's DDS implementation.
    pub(crate) vendor: [u8; 2],
}

/// The width of the identifiers by which a participant describes its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// The identifiers have 24 bytes, as in Humble and before.
    Wide,
    /// The identifiers have 16 bytes, as from Iron on.
    Narrow,
}

/// The nodes of another participant, as it announces them in `ros_discovery_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nodes {
    /// The identifier of the participant that has these nodes.
    pub(crate) prefix: Prefix,
    /// The width of the identifiers in the participant's announcement of its nodes.
    pub(crate) width: Width,
    /// The absolute name of each node, with the identifiers of its endpoints.
    pub(crate) nodes: Vec<(String, Vec<Gid>)>,
}

impl Nodes {
    /// Reads a message of `ros_discovery_info` with identifiers of either width; the type of the message does not
    /// tell which.
    ///
    /// # Errors
    /// [`CdrError`] if the bytes are a message of neither width.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, CdrError> {
        // A message has another length in the other width. The transport may pad it to a multiple of four bytes.
        let is_all = |length: usize| bytes.len().checked_sub(length).is_some_and(|rest| rest < 4);
        if let Ok(told) = decode::<ParticipantEntities<Gid>>(bytes)
            && is_all(encode(&told).len())
        {
            return Ok(Self::of(told, Width::Narrow));
        }
        let told = decode::<ParticipantEntities<WideGid>>(bytes)?;
        if is_all(encode(&told).len()) {
            return Ok(Self::of(told, Width::Wide));
        }
        Err(CdrError::Content {
            name: <ParticipantEntities<WideGid> as outrigger_ros2_messages::Message>::TYPE,
            what: "more than is told, with numbers of 16 bytes and of 24".into(),
            length: bytes.len(),
        })
    }

    fn of<G: Copy + Into<Gid>>(told: ParticipantEntities<G>, width: Width) -> Self {
        let node = |of: NodeEntities<G>| {
            let endpoints = of.reader_gid_seq.into_iter().chain(of.writer_gid_seq).map(Into::into).collect();
            (node_name(&of.node_namespace, &of.node_name), endpoints)
        };
        let nodes = told.node_entities_info_seq.into_iter().map(node).collect();
        Self { prefix: prefix(told.gid.into()), width, nodes }
    }
}

/// The other participants of the DDS domain, with their endpoints and nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbourhood {
    /// The other participants of the domain, each once.
    pub(crate) participants: Vec<Participant>,
    /// The endpoints of all other participants.
    pub(crate) endpoints: Vec<Endpoint>,
    /// The nodes of those other participants that belong to ROS.
    pub(crate) nodes: Vec<Nodes>,
}

/// The subject of a finding about other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// Two nodes in the domain have the same name.
    SameName,
    /// Another node publishes or serves something that this node also publishes or serves.
    SecondProvider,
    /// The qualities of service of two endpoints do not match, so messages between them are never delivered.
    Qos,
    /// A name is used with two types, or with two layouts of one type.
    Type,
    /// Another node uses another release of ROS 2 than this node.
    Distro,
    /// Discovery of other nodes may not work on this machine or network.
    Discovery,
}

/// A finding about other nodes or the network, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The subject of the finding, e.g. two nodes with one name.
    pub(crate) about: About,
    /// `true` for a fault that is to be fixed; `false` for a note.
    pub(crate) fix: bool,
    /// A description of the fault, the node that causes it, and the remedy.
    pub(crate) text: String,
}

impl Finding {
    pub(crate) const fn fix(about: About, text: String) -> Self {
        Self { about, fix: true, text }
    }

    pub(crate) const fn note(about: About, text: String) -> Self {
        Self { about, fix: false, text }
    }
}

/// The topics that many nodes publish at the same time, each with its own part of the content. Another publisher of
/// such a topic is not a conflict.
const SHARED: &[&str] =
    &["rt/tf", "rt/tf_static", "rt/rosout", "rt/diagnostics", "rt/parameter_events", "ros_discovery_info"];

/// Returns the conflicts between this node and the others, in the order of [`About`].
#[must_use]
pub(crate) fn findings(offered: &Offered, seen: &Neighbourhood) -> Vec<Finding> {
    let mut found = providers(offered, seen);
    found.extend(qualities(offered, seen));
    found.extend(types(offered, seen));
    found.extend(payloads(offered, seen));
    found.extend(releases(offered, seen));
    found
}

/// Returns the conflicts with nodes that have the name of this node, and with nodes that publish or serve something
/// that this node also publishes or serves. A running node reports these conflicts as well.
#[must_use]
pub(crate) fn providers(offered: &Offered, seen: &Neighbourhood) -> Vec<Finding> {
    let mut found = vec![];
    for of in &seen.nodes {
        if of.nodes.iter().any(|(name, _)| *name == offered.node) {
            let who = seen.of_vendor(of.prefix);
            found.push(Finding::fix(
                About::SameName,
                format!(
                    "a node named {} already runs{who}. ROS 2 tools treat two nodes of one name as one, and mix what \
                     the two publish. Stop that one, or give this one another name: --namespace /other_name. If that one \
                     was killed, it is still listed for up to a minute: wait, then check again",
                    offered.node
                ),
            ));
        }
    }
    let mut by_whom: BTreeMap<Prefix, (Gid, BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for theirs in &seen.endpoints {
        let same = offered.endpoints.iter().any(|ours| ours.topic == theirs.topic && ours.side == theirs.side);
        if !same || SHARED.contains(&theirs.topic.as_str()) {
            continue;
        }
        let (_, served, published) =
            by_whom.entry(prefix(theirs.gid)).or_insert((theirs.gid, <_>::default(), <_>::default()));
        match (theirs.side, theirs.topic.starts_with("rq/")) {
            (Side::Reads, true) => served.insert(ros_name(&theirs.topic)),
            (Side::Writes, _) if theirs.topic.starts_with("rt/") => published.insert(ros_name(&theirs.topic)),
            // Nodes that only subscribe to the same topics take nothing away, and responses belong to their service.
            _ => false,
        };
    }
    for (gid, served, published) in by_whom.into_values() {
        let who = seen.who(gid);
        let text = if !served.is_empty() {
            format!(
                "{who} offers the same service{} as this node: {}. Each call reaches both: two computers command one robot, or a call \
                 for one robot is carried out by another as well. Stop that one, or give this one other names: \
                 --namespace /other_name",
                if served.len() > 1 { "s" } else { "" },
                Listed(&served)
            )
        } else if !published.is_empty() {
            format!(
                "{who} publishes on the same topic{} as this node: {}. Subscribers receive the messages of both, mixed. If it shows the same \
                 robot, stop one of the two; if it shows another robot, give this one other names: --namespace \
                 /other_name --tf-prefix other_",
                if published.len() > 1 { "s" } else { "" },
                Listed(&published)
            )
        } else {
            continue;
        };
        found.push(Finding::fix(About::SecondProvider, text));
    }
    found
}

/// Finds readers that receive nothing and writers whose messages are not received because the qualities of service
/// differ.
fn qualities(offered: &Offered, seen: &Neighbourhood) -> Vec<Finding> {
    let mut found = vec![];
    let mut pairs: BTreeSet<(Prefix, &str, Side)> = BTreeSet::new();
    for theirs in &seen.endpoints {
        for ours in offered.endpoints.iter().filter(|ours| ours.topic == theirs.topic && ours.kind == theirs.kind) {
            let (asked, given) = match (theirs.side, ours.side) {
                (Side::Reads, Side::Writes) => (theirs.qos, ours.qos),
                (Side::Writes, Side::Reads) => (ours.qos, theirs.qos),
                _ => continue,
            };
            let lost = asked.reliable && !given.reliable;
            let late = asked.latched && !given.latched;
            if !(lost || late) || !pairs.insert((prefix(theirs.gid), &theirs.topic, theirs.side)) {
                continue;
            }
            let (who, topic) = (seen.who(theirs.gid), ros_name(&theirs.topic));
            let text = match theirs.side {
                Side::Reads => {
                    let (asks, offers) = if lost {
                        ("retransmission (reliable)", "sends each message once (best effort)")
                    } else {
                        ("earlier messages (transient local)", "stores none (volatile)")
                    };
                    let remedy = if lost {
                        "Set that reader to best effort, or set offer_reliable = true under [ros.expert] in this node's configuration"
                    } else {
                        "Set that reader to volatile"
                    };
                    format!(
                        "{who} subscribes to {topic} and requires {asks}, but this node {offers}: it would receive nothing, and ROS 2 \
                         reports no error. {remedy}"
                    )
                }
                Side::Writes => {
                    let remedy = if lost { "reliable" } else { "transient local" };
                    format!(
                        "{who} sends {topic} with a weaker QoS than this node requires: no message would arrive, and ROS 2 reports \
                         no error. Set that sender to {remedy}"
                    )
                }
            };
            found.push(Finding::fix(About::Qos, text));
        }
    }
    found
}

/// Finds endpoints of other participants that use a topic of this node with another type, or with another layout of the
/// same type.
fn types(offered: &Offered, seen: &Neighbourhood) -> Vec<Finding> {
    let mut found = vec![];
    let mut said = BTreeSet::new();
    for theirs in &seen.endpoints {
        let Some(ours) = offered.endpoints.iter().find(|ours| ours.topic == theirs.topic) else { continue };
        if offered.endpoints.iter().any(|ours| ours.topic == theirs.topic && ours.kind == theirs.kind) {
            let hash = theirs.type_hash.as_deref().zip(type_hash::of(&ours.kind));
            if let Some((hash, known)) = hash
                && hash != known
                && said.insert((prefix(theirs.gid), &theirs.kind))
            {
                let text = format!(
                    "{} has another definition of the message {} than this node (on {}, {hash}): values would be misread \
                     without any error. If it uses another release of ROS 2, set --distro to that; if it uses the same, \
                     update its package {}",
                    seen.who(theirs.gid),
                    ros_type(&theirs.kind),
                    ros_name(&theirs.topic),
                    ros_type(&theirs.kind).split('/').next().unwrap_or_default()
                );
                found.push(Finding::fix(About::Type, text));
            }
            continue;
        }
        if said.insert((prefix(theirs.gid), &theirs.topic)) {
            let does = match theirs.topic.split_once('/') {
                Some(("rq" | "rr", _)) => "uses the service",
                _ if theirs.side == Side::Reads => "reads",
                _ => "publishes",
            };
            let text = format!(
                "{} {does} {} with the message type {}, but for this node it is {}: no message would pass between them, and ROS 2 \
                 reports no error. Change the type in that program, or give this node other names: --namespace /other_name{}",
                seen.who(theirs.gid),
                ros_name(&theirs.topic),
                ros_type(&theirs.kind),
                ros_type(&ours.kind),
                if theirs.kind.starts_with("urinterfaces::") || ours.kind.starts_with("urinterfaces::") {
                    ", or the names of the other kind: --surface driver or --surface native"
                } else {
                    ""
                }
            );
            found.push(Finding::fix(About::Type, text));
        }
    }
    found
}

/// Finds programs of another release of ROS 2 than this node, as far as announcements show that: Humble and older
/// differ in them from Iron and newer.
fn releases(offered: &Offered, seen: &Neighbourhood) -> Vec<Finding> {
    let here = if offered.distro == Distro::Humble { Width::Wide } else { Width::Narrow };
    let mut others: Vec<_> = seen.nodes.iter().filter(|of| of.width != here).map(|of| of.prefix).collect();
    if here == Width::Wide {
        // A program that announces the hash of a type is not of Humble.
        let hashed = seen.endpoints.iter().filter(|theirs| theirs.type_hash.is_some());
        others.extend(hashed.map(|theirs| prefix(theirs.gid)));
    }
    others.sort_unstable();
    others.dedup();
    let Some(first) = others.first() else { return vec![] };
    let (release, remedy) = match here {
        Width::Narrow => ("Humble or older", "Set --distro humble"),
        Width::Wide => ("Iron or newer", "Set --distro jazzy, kilted or lyrical, whichever it uses"),
    };
    let more = match others.len() {
        1 => String::new(),
        many => format!(" (and {} more)", many - 1),
    };
    vec![Finding::fix(
        About::Distro,
        format!(
            "{}{more} uses ROS 2 {release}, but this node is set to {}. `ros2 node list` would not show this node there, and \
             messages whose fields differ between the two (SetPayload, FollowJointTrajectory and others) would be misread \
             without any error. {remedy}",
            seen.program(*first),
            offered.distro.name()
        ),
    )]
}

/// Finds callers of SetPayload, whose fields differ between releases; nothing announces which layout a caller uses.
fn payloads(offered: &Offered, seen: &Neighbourhood) -> Vec<Finding> {
    let is_call = |theirs: &&Endpoint| theirs.side == Side::Writes && theirs.kind == SET_PAYLOAD;
    let is_ours = |theirs: &&Endpoint| offered.endpoints.iter().any(|ours| ours.topic == theirs.topic);
    let callers: BTreeSet<_> =
        seen.endpoints.iter().filter(is_call).filter(is_ours).map(|theirs| seen.who(theirs.gid)).collect();
    if callers.is_empty() {
        return vec![];
    }
    let fields = if offered.distro >= Distro::Rolling {
        "one field payload with mass, center of gravity and inertia"
    } else {
        "mass, center_of_gravity and, in newer releases, six numbers of inertia"
    };
    vec![Finding::note(
        About::Type,
        format!(
            "{} can call set_payload, whose fields differ between releases of ROS 2 under the same name; the network does not \
             show which it uses. This node expects those of {}: {fields}. Check with `ros2 interface show ur_msgs/srv/SetPayload` \
             there, and set --distro if it differs",
            Listed(&callers),
            offered.distro.name()
        ),
    )]
}

/// The name on DDS of the type of requests of the service SetPayload.
const SET_PAYLOAD: &str = "ur_msgs::srv::dds_::SetPayload_Request_";

/// Returns the identifier of the participant that the endpoint `gid` belongs to.
#[must_use]
pub(crate) fn prefix(gid: Gid) -> Prefix {
    let mut prefix = Prefix::default();
    prefix.iter_mut().zip(gid.0).for_each(|(to, from)| *to = from);
    prefix
}

/// Returns the absolute name of the node `name` in `namespace`.
#[must_use]
pub(crate) fn node_name(namespace: &str, name: &str) -> String {
    format!("{}/{name}", namespace.trim_end_matches('/'))
}
