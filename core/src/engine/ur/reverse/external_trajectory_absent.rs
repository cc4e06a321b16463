//! The replacement for trajectories by External Control in a build without them.

use super::Reverse;
use crate::engine::io::LinkId;
use crate::engine::ur::event::ProgramEvent;
use outrigger_wire::time::Instant;

impl Reverse {
    pub(super) const fn has_points(&self) -> bool {
        false
    }

    pub(in crate::engine::ur) const fn result_window(&mut self) -> &mut [u8] {
        self.ignored()
    }

    pub(in crate::engine::ur) const fn commit_foreign(
        &mut self,
        _: LinkId,
        _: usize,
        _: Instant,
    ) -> Option<ProgramEvent> {
        None
    }

    pub(in crate::engine::ur) const fn lateness(&mut self) -> Option<ProgramEvent> {
        None
    }
}
