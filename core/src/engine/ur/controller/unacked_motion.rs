//! The data that the controller has not acknowledged on the link that carries the motion.

use super::super::config::UrOptions;
use super::super::event::DownCause;
use super::super::links::WATCHED;
use super::super::reverse::{Reverse, shared};
use super::{Cx, Ur, ended, unacked_config};
use crate::engine::cycle::CycleMemory;
use crate::engine::io::LinkId;

use crate::link::Unacked;
use outrigger_wire::time::{Duration, Instant, earliest};

impl Ur<'_> {
    /// Returns the age of the oldest data that the controller has not acknowledged, on the link that carries the
    /// motion; zero if all is acknowledged.
    pub(super) fn unacked_age(&self, now: Instant) -> Duration {
        let link = self.carrying();
        self.unacked.get(link.index()).map_or(Duration::ZERO, |unacked| unacked.age(now))
    }

    /// Returns the link that carries the motion commands.
    pub(super) fn carrying(&self) -> LinkId {
        match shared(&self.program) {
            Some(program) if !program.carries() => LinkId::REALTIME,
            Some(program) if program.by_registers() => LinkId::RTDE,
            Some(_) => LinkId::REVERSE,
            None => LinkId::REALTIME,
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.unacked.iter().any(Unacked::is_waiting)
    }

    pub(super) fn judge_unacked(&mut self, cx: &mut Cx<'_, '_>) {
        // The usual case: nothing waits.
        if !self.is_waiting() {
            return;
        }
        for link in WATCHED.iter().copied() {
            let Some(unacked) = self.unacked.get(link.index()) else { continue };
            if link == LinkId::REVERSE {
                if !shared(&self.program).is_some_and(Reverse::carries) {
                    continue;
                }
            } else if !self.connector.is_connected(link) {
                continue;
            }
            let config = unacked_config(link, &cx.config.peer, cx.cycle);
            let verdict = unacked.judge(&config, ended(cx.cycle), cx.now);
            // A paused program does not answer, so there is no reply to carry the acknowledgement, which TCP then
            // delays.
            let is_paused = cfg!(feature = "programs") && link == LinkId::REVERSE && {
                let age = cx.cycle.mode().config().evidence_age;
                cx.cycle.evidence().has_paused_program(cx.now, age)
            };
            if let Some(reason) = verdict.fault.filter(|_| !is_paused) {
                cx.cycle.fault(cx.now, reason, cx.events);
            }
            if verdict.drop {
                self.lost(link, DownCause::Unacknowledged, cx);
            }
        }
    }

    /// Returns the next time at which unacknowledged bytes have a consequence; `None` if there are none.
    pub(super) fn unacked_deadline(
        &self,
        now: Instant,
        options: &UrOptions,
        cycle: &CycleMemory<6>,
    ) -> Option<Instant> {
        if !self.is_waiting() {
            return None;
        }
        let mut first = None;
        for (link, unacked) in WATCHED.iter().copied().zip(&self.unacked) {
            let config = unacked_config(link, options, cycle);
            first = earliest(&[first, unacked.next_deadline(&config, ended(cycle), now)]);
        }
        first
    }
}
