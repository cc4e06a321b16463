//! Where the state of every cycle comes from and why, and what that connection has counted.

use outrigger_core::client::rtde::{Cadence, RtdeCounts};
use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::link_name;
use outrigger_wire::frame::StreamCounts;

use serde::{Serialize, Serializer};

/// Which connection brings the states, why that one, and what it has counted.
#[derive(Clone, Debug)]
pub struct States {
    /// The real-time interface or RTDE.
    pub by: LinkId,
    /// Why that one.
    pub why: String,
    /// Messages of its present connection.
    pub stream: StreamCounts,
    /// Bytes of it that were skipped.
    pub dropped_bytes: u64,
    /// By RTDE: its packages by kind, and what was missing and late by its own clock.
    pub rtde: Option<(RtdeCounts, Cadence)>,
}

/// The members that scripts read.
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
    /// One line for people.
    pub fn line(&self) -> String {
        match &self.rtde {
            // Of this connection, by the controller's clock: other counts than those of the link beside it, so other names.
            Some((_, cadence)) => {
                format!("RTDE: skips {}, delays {}, repeats {}", cadence.missing, cadence.late, cadence.repeated)
            }
            None => format!("by 30003: {}", self.why),
        }
    }
}
