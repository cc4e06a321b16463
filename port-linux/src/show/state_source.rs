//! The source of the robot's states, the reason for its choice, and the counters of that connection.

use outrigger_core::client::rtde::{Cadence, RtdeCounts};
use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::link_name;
use outrigger_wire::frame::StreamCounts;

use serde::{Serialize, Serializer};

/// The connection that carries robot states, the reason for its choice, and its counters of messages.
#[derive(Clone, Debug)]
pub struct States {
    /// The connection that carries robot states: the real-time interface or RTDE.
    pub by: LinkId,
    /// The reason why this connection carries the robot states.
    pub why: String,
    /// The counters of messages on the current connection for robot states.
    pub stream: StreamCounts,
    /// The number of bytes that were skipped on the connection for robot states, because they were part of no valid
    /// message.
    pub dropped_bytes: u64,
    /// For RTDE: the counters of packages by kind, and of missing and late cycles by the controller's clock.
    pub rtde: Option<(RtdeCounts, Cadence)>,
}

/// The JSON members for the connection that carries robot states.
#[derive(Serialize)]
struct Members<'s> {
    states_by: &'static str,
    states_why: &'s str,
    states: Counts,
}

#[derive(Serialize)]
struct Counts {
    messages: u64,
    malformed: u32,
    unknown: u32,
    oversize: u32,
    lost_sync: u32,
    dropped_bytes: u64,
    #[serde(flatten)]
    rtde: Option<OfRtde>,
}

#[derive(Serialize)]
struct OfRtde {
    cycles: u64,
    missing: u64,
    longest_gap: u32,
    repeated: u32,
    late: u32,
    restarts: u32,
    texts: u32,
    unexpected: u32,
    unknown_recipes: u32,
}

impl Serialize for States {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { by, why, stream, dropped_bytes, rtde } = self;
        let StreamCounts { messages, malformed, oversize, lost_sync, unknown } = *stream;
        let rtde = rtde.map(|(RtdeCounts { data, texts, unexpected, unknown_recipes, .. }, cadence)| {
            let Cadence { missing, longest_gap, repeated, late, restarts, .. } = cadence;
            OfRtde { cycles: data, missing, longest_gap, repeated, late, restarts, texts, unexpected, unknown_recipes }
        });
        let states = Counts { messages, malformed, unknown, oversize, lost_sync, dropped_bytes: *dropped_bytes, rtde };
        Members { states_by: link_name(*by), states_why: why, states }.serialize(serializer)
    }
}

impl States {
    /// Formats the connection that carries robot states as one line for people: the counters of RTDE, or the reason why
    /// port 30003 is used.
    pub fn line(&self) -> String {
        match &self.rtde {
            // These counters of one connection, by the controller's clock, differ from those of the link, and so have
            // other names.
            Some((_, cadence)) => {
                format!("RTDE: skips {}, delays {}, repeats {}", cadence.missing, cadence.late, cadence.repeated)
            }
            None => format!("by 30003: {}", self.why),
        }
    }
}
