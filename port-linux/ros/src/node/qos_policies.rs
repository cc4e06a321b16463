//! Converts a topic's quality of service to and from the policies of DDS.

use outrigger_ros2_messages::endpoint::Qos;
use rustdds::policy::{Durability, History, Reliability};
use rustdds::{QosPolicies, QosPolicyBuilder};

/// The smallest number of samples kept for readers of a topic that is not latched: with one, a busy machine loses some
/// (measured).
const KEPT: i32 = 10;

/// Returns the policies of DDS for the quality of service of an endpoint.
pub(super) fn policies(qos: Qos) -> QosPolicies {
    // With a blocking time of zero, samples that a stalled reader does not take are dropped for it.
    let reliable = Reliability::Reliable { max_blocking_time: rustdds::Duration::ZERO };
    let depth = if qos.latched { i32::from(qos.depth) } else { KEPT.max(i32::from(qos.depth)) };
    QosPolicyBuilder::new()
        .reliability(if qos.reliable { reliable } else { Reliability::BestEffort })
        .durability(if qos.latched { Durability::TransientLocal } else { Durability::Volatile })
        .history(History::KeepLast { depth })
        .build()
}

/// Returns the quality of service with the reliability and durability of DDS policies; its depth is 0.
pub(super) fn quality(of: &QosPolicies) -> Qos {
    let reliable = matches!(of.reliability(), Some(Reliability::Reliable { .. }));
    let latched = of.durability().is_some_and(|durability| durability > Durability::Volatile);
    Qos { reliable, latched, depth: 0 }
}
