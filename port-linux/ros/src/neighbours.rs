//! Who else is in a domain, and what of it does not go together with a node of ours (`core/docs/protocol/ros2-surface.md` 6).
//!
//! What was seen and what is offered go in, findings in words come out: what is wrong, and what to do. Who has a transport fills
//! [`Seen`].

mod about;
mod net;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use self::about::{Listed, ros_name, ros_type};
pub(crate) use self::net::{Heard, Multicast, Surroundings, surroundings};
#[cfg(feature = "node")]
pub(crate) use self::net::{discovery_port, listed};
use outrigger_ros2_messages::cdr::{CdrError, decode, encode};
use outrigger_ros2_messages::endpoint::{Distro, Qos};
use outrigger_ros2_messages::type_hash;
use outrigger_ros2_messages::{Gid, NodeEntities, ParticipantEntities, WideGid};

/// First bytes of a [`Gid`]: which participant of the domain, which is one program or a part of it.
pub(crate) type Prefix = [u8; 12];

/// Which way messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
}

/// An endpoint of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ours {
    /// Which way.
    pub(crate) side: Side,
    /// Name on DDS: `rt/joint_states`.
    pub(crate) topic: String,
    /// Type on DDS: `sensor_msgs::msg::dds_::JointState_`.
    pub(crate) kind: String,
    /// How messages travel.
    pub(crate) qos: Qos,
}

/// What this node is, or is to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offered {
    /// Its whole name: `/cell/arm1/outrigger`.
    pub(crate) node: String,
    /// Layouts that it speaks.
    pub(crate) distro: Distro,
    /// Everything that it offers.
    pub(crate) endpoints: Vec<Ours>,
}

/// An endpoint of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Which one.
    pub(crate) gid: Gid,
    /// Which way.
    pub(crate) side: Side,
    /// Name on DDS.
    pub(crate) topic: String,
    /// Type on DDS.
    pub(crate) kind: String,
    /// What it asks for, or offers; the depth is not told.
    pub(crate) qos: Qos,
    /// `RIHS01_…`, from Iron on.
    pub(crate) type_hash: Option<String>,
    /// Where it is reached.
    pub(crate) at: Option<IpAddr>,
}

/// Somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Participant {
    /// Which one.
    pub(crate) prefix: Prefix,
    /// Who made its implementation of DDS, as registered.
    pub(crate) vendor: [u8; 2],
}

/// How a participant tells of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// 24 bytes: Humble and before.
    Wide,
    /// 16 bytes: from Iron on.
    Narrow,
}

/// Nodes of a participant, as it tells of them in `ros_discovery_info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nodes {
    /// Whose.
    pub(crate) prefix: Prefix,
    /// How it told.
    pub(crate) width: Width,
    /// The whole name of each, and its endpoints.
    pub(crate) nodes: Vec<(String, Vec<Gid>)>,
}

impl Nodes {
    /// What a message of `ros_discovery_info` tells: in either width, which the type does not say.
    ///
    /// # Errors
    /// Bytes that are neither.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, CdrError> {
        // In the other width it has another length. What carries it may fill up four bytes.
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

/// Everybody else in the domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Each once.
    pub(crate) participants: Vec<Participant>,
    /// Of all of them.
    pub(crate) endpoints: Vec<Endpoint>,
    /// Of those that are of ROS.
    pub(crate) nodes: Vec<Nodes>,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum About {
    /// Two nodes with one name.
    SameName,
    /// Somebody else publishes or serves what this node does.
    SecondProvider,
    /// Quality of service: messages that are never delivered.
    Qos,
    /// One name, and two types or two layouts of one.
    Type,
    /// Another release of ROS 2.
    Distro,
    /// Whether anybody can be found.
    Discovery,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What it is about.
    pub(crate) about: About,
    /// Whether it is to be put right; else it is worth knowing.
    pub(crate) fix: bool,
    /// What, who, and what to do.
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

/// What many nodes publish, each its own part.
const SHARED: &[&str] =
    &["rt/tf", "rt/tf_static", "rt/rosout", "rt/diagnostics", "rt/parameter_events", "ros_discovery_info"];

/// What does not go together, in the order of [`About`].
#[must_use]
pub(crate) fn findings(offered: &Offered, seen: &Seen) -> Vec<Finding> {
    let mut found = providers(offered, seen);
    found.extend(qualities(offered, seen));
    found.extend(types(offered, seen));
    found.extend(payloads(offered, seen));
    found.extend(releases(offered, seen));
    found
}

/// Nodes of the same name, and others that publish or serve the same: what a node that runs says of its neighbours, too.
#[must_use]
pub(crate) fn providers(offered: &Offered, seen: &Seen) -> Vec<Finding> {
    let mut found = vec![];
    for of in &seen.nodes {
        if of.nodes.iter().any(|(name, _)| *name == offered.node) {
            let who = seen.of_vendor(of.prefix);
            found.push(Finding::fix(
                About::SameName,
                format!(
                    "a node called {} runs already{who}. Tools of ROS 2 take two nodes of one name for one, and mix what \
                     the two say. Stop that one, or start this one under another name: --namespace /other_name. If that one \
                     was killed, it is still listed for up to a minute: wait, and look again",
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
            // Whoever listens to what this node listens to takes nothing from it, and answers belong to their service.
            _ => false,
        };
    }
    for (gid, served, published) in by_whom.into_values() {
        let who = seen.who(gid);
        let text = if !served.is_empty() {
            format!(
                "{who} offers the same service{} as this node: {}. Each call reaches both: two computers command one robot, or a call \
                 for one robot is carried out by another as well. Stop that one, or give this one names of its own: \
                 --namespace /other_name",
                if served.len() > 1 { "s" } else { "" },
                Listed(&served)
            )
        } else if !published.is_empty() {
            format!(
                "{who} publishes on the same topic{} as this node: {}. Whoever reads that gets the messages of both, mixed. If it shows the same \
                 robot, stop one of the two; if it shows another robot, give this one names of its own: --namespace \
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

/// Readers that get nothing, and writers that are not heard, for what they ask or offer.
fn qualities(offered: &Offered, seen: &Seen) -> Vec<Finding> {
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
                        ("that lost messages are sent again (reliable)", "sends each message once (best effort)")
                    } else {
                        ("for messages from before it came (transient local)", "keeps none of them (volatile)")
                    };
                    let remedy = if lost {
                        "Set that reader to best effort, or say offer_reliable = true under [ros.expert] in this node's configuration"
                    } else {
                        "Set that reader to volatile"
                    };
                    format!(
                        "{who} reads {topic} and asks {asks}, but this node {offers}: the reader would get nothing, and ROS 2 \
                         reports no error. {remedy}"
                    )
                }
                Side::Writes => {
                    let remedy = if lost { "reliable" } else { "transient local" };
                    format!(
                        "{who} sends {topic} with less than this node asks for: nothing of it would arrive, and ROS 2 reports \
                         no error. Set that sender to {remedy}"
                    )
                }
            };
            found.push(Finding::fix(About::Qos, text));
        }
    }
    found
}

/// The same name with other types, or with another layout of the same.
fn types(offered: &Offered, seen: &Seen) -> Vec<Finding> {
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
                     without any error. If it has another release of ROS 2, say which with --distro; if it has the same, \
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
                "{} {does} {} with the message type {}, but for this node it is {}: nothing would pass between them, and ROS 2 \
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

/// Programs of a release that this node does not speak.
fn releases(offered: &Offered, seen: &Seen) -> Vec<Finding> {
    let here = if offered.distro == Distro::Humble { Width::Wide } else { Width::Narrow };
    let mut others: Vec<_> = seen.nodes.iter().filter(|of| of.width != here).map(|of| of.prefix).collect();
    if here == Width::Wide {
        // Whoever says a hash of a type is not of Humble.
        let hashed = seen.endpoints.iter().filter(|theirs| theirs.type_hash.is_some());
        others.extend(hashed.map(|theirs| prefix(theirs.gid)));
    }
    others.sort_unstable();
    others.dedup();
    let Some(first) = others.first() else { return vec![] };
    let (release, remedy) = match here {
        Width::Narrow => ("Humble or older", "Say --distro humble"),
        Width::Wide => ("Iron or newer", "Say --distro jazzy, kilted or lyrical, whichever it is"),
    };
    let more = match others.len() {
        1 => String::new(),
        many => format!(" (and {} more)", many - 1),
    };
    vec![Finding::fix(
        About::Distro,
        format!(
            "{}{more} is of ROS 2 {release}, but this node is set to {}. `ros2 node list` would not show this node there, and \
             messages whose fields differ between the two (SetPayload, FollowJointTrajectory and others) would be misread \
             without any error. {remedy}",
            seen.program(*first),
            offered.distro.name()
        ),
    )]
}

/// Callers of SetPayload, whose fields differ between releases while nothing tells which a caller has.
fn payloads(offered: &Offered, seen: &Seen) -> Vec<Finding> {
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
        "mass, center_of_gravity and, where it has them, six numbers of inertia"
    };
    vec![Finding::note(
        About::Type,
        format!(
            "{} can call set_payload, whose fields differ between releases of ROS 2 under the same name; nothing on the network \
             tells which it has. This node expects those of {}: {fields}. Check with `ros2 interface show ur_msgs/srv/SetPayload` \
             there, and say --distro if it differs",
            Listed(&callers),
            offered.distro.name()
        ),
    )]
}

/// The request of SetPayload on DDS.
const SET_PAYLOAD: &str = "ur_msgs::srv::dds_::SetPayload_Request_";

/// The participant of an endpoint.
#[must_use]
pub(crate) fn prefix(gid: Gid) -> Prefix {
    let mut prefix = Prefix::default();
    prefix.iter_mut().zip(gid.0).for_each(|(to, from)| *to = from);
    prefix
}

/// The whole name of a node.
#[must_use]
pub(crate) fn node_name(namespace: &str, name: &str) -> String {
    format!("{}/{name}", namespace.trim_end_matches('/'))
}
