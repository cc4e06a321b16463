//! Where the state of every cycle comes from and why, and what that connection has counted.

use outrigger_core::client::rtde::{Cadence, RtdeCounts};
use outrigger_core::engine::LinkId;
use outrigger_core::engine::ur::link_name;
use outrigger_wire::frame::StreamCounts;

use crate::json::Json;

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

impl States {
    /// Puts its keys into an object of `json`.
    pub(crate) fn json(&self, json: &mut Json) {
        json.key("states_by").text(link_name(self.by)).key("states_why").text(&self.why);
        json.key("states").begin_object();
        json.key("messages").integer(self.stream.messages).key("malformed").integer(self.stream.malformed);
        json.key("unknown").integer(self.stream.unknown).key("oversize").integer(self.stream.oversize);
        json.key("lost_sync").integer(self.stream.lost_sync).key("dropped_bytes").integer(self.dropped_bytes);
        if let Some((counts, cadence)) = &self.rtde {
            json.key("cycles").integer(counts.data).key("missing").integer(cadence.missing);
            json.key("longest_gap").integer(cadence.longest_gap).key("repeated").integer(cadence.repeated);
            json.key("late").integer(cadence.late).key("restarts").integer(cadence.restarts);
            json.key("texts").integer(counts.texts).key("unexpected").integer(counts.unexpected);
            json.key("unknown_recipes").integer(counts.unknown_recipes);
        }
        json.end_object();
    }

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
