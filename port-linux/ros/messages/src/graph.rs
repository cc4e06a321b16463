//! The messages of `rmw_dds_common`, which state the endpoints of each node for `ros2 node` and similar tools.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Message;

/// The identifier of a DDS endpoint or participant: 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gid(pub [u8; 16]);

/// The identifier of an endpoint or a participant in Humble's layout: 24 bytes, of which the last 8 are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WideGid(pub [u8; 16]);

impl Serialize for WideGid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0, [0_u8; 8]).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WideGid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (gid, _) = <([u8; 16], [u8; 8])>::deserialize(deserializer)?;
        Ok(Self(gid))
    }
}

impl From<Gid> for WideGid {
    fn from(gid: Gid) -> Self {
        Self(gid.0)
    }
}

impl From<WideGid> for Gid {
    fn from(gid: WideGid) -> Self {
        Self(gid.0)
    }
}

/// A node of ROS 2 with the identifiers of its endpoints, `rmw_dds_common/msg/NodeEntitiesInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "what a field is stands in the definition, under its name")]
pub struct NodeEntities<G> {
    pub node_namespace: String,
    pub node_name: String,
    pub reader_gid_seq: Vec<G>,
    pub writer_gid_seq: Vec<G>,
}

/// A DDS participant with the nodes of ROS 2 that it contains, `rmw_dds_common/msg/ParticipantEntitiesInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "what a field is stands in the definition, under its name")]
pub struct ParticipantEntities<G> {
    pub gid: G,
    pub node_entities_info_seq: Vec<NodeEntities<G>>,
}

impl Message for ParticipantEntities<Gid> {
    const TYPE: &'static str = "rmw_dds_common/msg/ParticipantEntitiesInfo";
}

impl Message for ParticipantEntities<WideGid> {
    const TYPE: &'static str = "rmw_dds_common/msg/ParticipantEntitiesInfo";
}
