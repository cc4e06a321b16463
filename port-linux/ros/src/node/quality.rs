//! Quality of service, as DDS has it.

use outrigger_ros2_messages::endpoint::Qos;
use rustdds::policy::{Durability, History, Reliability};
use rustdds::{QosPolicies, QosPolicyBuilder};

/// At least so many samples are kept for readers, whatever is offered: with one, a busy machine loses some (measured).
const KEPT: i32 = 10;

/// What is offered, or asked for.
pub(super) fn policies(qos: Qos) -> QosPolicies {
    // Where a reader stands still, what it does not take is dropped for it.
    let reliable = Reliability::Reliable { max_blocking_time: rustdds::Duration::ZERO };
    let depth = if qos.latched { i32::from(qos.depth) } else { KEPT.max(i32::from(qos.depth)) };
    QosPolicyBuilder::new()
        .reliability(if qos.reliable { reliable } else { Reliability::BestEffort })
        .durability(if qos.latched { Durability::TransientLocal } else { Durability::Volatile })
        .history(History::KeepLast { depth })
        .build()
}

/// What matters here of a quality of service.
pub(super) fn quality(of: &QosPolicies) -> Qos {
    let reliable = matches!(of.reliability(), Some(Reliability::Reliable { .. }));
    let latched = of.durability().is_some_and(|durability| durability > Durability::Volatile);
    Qos { reliable, latched, depth: 0 }
}
