//! Where the state of every cycle comes from, and why.

use outrigger_core::engine::ur::{StatesFrom, Ur};
use outrigger_core::engine::{Engine, LinkId};
use outrigger_core::law::Law;

use crate::show::States;

/// Those of a session that stands; `done_without` is why RTDE is done without, where it was asked in vain.
#[must_use]
pub(super) fn states<L: Law<6>>(engine: &Engine<'_, 6, Ur<'_>, L>, done_without: Option<&str>) -> Option<States> {
    let identity = engine.peer().identity()?;
    let by = identity.states;
    let wanted = engine.config().peer.connect.states;
    let why = match (by, done_without) {
        (LinkId::RTDE, _) if wanted == StatesFrom::Rtde => "asked for".to_owned(),
        (LinkId::RTDE, _) => format!("software {} has it", identity.software),
        _ if wanted == StatesFrom::Realtime => "asked for".to_owned(),
        (_, Some(why)) => why.to_owned(),
        (_, None) => format!("software {} has no RTDE", identity.software),
    };
    let rtde = engine.peer().rtde().filter(|_| by == LinkId::RTDE).map(|rtde| (*rtde.counts(), *rtde.cadence()));
    Some(States { by, why, stream: *engine.peer().counts(by), dropped_bytes: engine.peer().dropped_bytes(by), rtde })
}
