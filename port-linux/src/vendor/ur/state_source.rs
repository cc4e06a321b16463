//! The source of the robot's states, and the reason why it was chosen.

use outrigger_core::client::rtde::{Cadence, RtdeCounts};
use outrigger_core::engine::ur::{StatesFrom, Ur};
use outrigger_core::engine::{Engine, LinkId};
use outrigger_core::law::Law;
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::robot::SoftwareVersion;

use crate::show::States;

/// The connection that carries states in a session, and its counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenStates {
    pub(super) by: LinkId,
    pub(super) wanted: StatesFrom,
    pub(super) software: SoftwareVersion,
    pub(super) stream: StreamCounts,
    pub(super) dropped_bytes: u64,
    pub(super) rtde: Option<(RtdeCounts, Cadence)>,
}

impl SeenStates {
    /// Returns the connection that carries states, with its counters. `None` without a session.
    #[must_use]
    pub(super) fn of<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>) -> Option<Self> {
        let (peer, identity) = (engine.peer(), engine.peer().identity()?);
        let by = identity.states;
        Some(Self {
            by,
            wanted: engine.config().peer.connect.states,
            software: identity.software,
            stream: *peer.counts(by),
            dropped_bytes: peer.dropped_bytes(by),
            rtde: peer.rtde().filter(|_| by == LinkId::RTDE).map(|rtde| (*rtde.counts(), *rtde.cadence())),
        })
    }

    /// Returns the source of states with its description for users. `done_without` is the reason why the session
    /// runs without RTDE, if RTDE was tried.
    #[must_use]
    pub(super) fn told(self, done_without: Option<&str>) -> States {
        let Self { by, wanted, software, stream, dropped_bytes, rtde } = self;
        let why = match (by, done_without) {
            (LinkId::RTDE, _) if wanted == StatesFrom::Rtde => "asked for".to_owned(),
            (LinkId::RTDE, _) => format!("software {software} has it"),
            _ if wanted == StatesFrom::Realtime => "asked for".to_owned(),
            (_, Some(why)) => why.to_owned(),
            (_, None) => format!("software {software} has no RTDE"),
        };
        States { by, why, stream, dropped_bytes, rtde }
    }
}
