//! The schedule of all faults of a run: the times at which they begin and end, which cause actions once, and the
//! network conditions while they are active.

use std::time::Duration;

use super::{Direction, Fault, FaultKind};
use crate::net::{Backlog, Conditions, Split};
use crate::port::Port;
use crate::time::SimTime;

/// The delay after which a lost segment is retransmitted: the smallest retransmission timeout of common stacks.
const RETRANSMISSION: Duration = Duration::from_millis(200);
/// The number of cycles until a lost segment is retransmitted if one segment is sent per cycle: three later ones show
/// that it is missing, and the retransmission arrives in the next.
const QUICK_RETRANSMISSION: u32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Pending,
    On,
    Over,
}

/// All faults of a simulation, with the times at which they begin and end.
#[derive(Debug)]
pub(crate) struct Schedule {
    faults: Vec<(Fault, Phase)>,
}

/// A fault of the schedule that began or ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Edge {
    Begins(Fault),
    Ends(Fault),
}

impl Schedule {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self { faults: faults.into_iter().map(|fault| (fault, Phase::Pending)).collect() }
    }

    pub(crate) fn add(&mut self, fault: Fault) {
        self.faults.push((fault, Phase::Pending));
    }

    /// Returns the faults that have begun or ended by `now` and were not returned before.
    pub(crate) fn edges(&mut self, now: SimTime) -> Vec<Edge> {
        let mut edges = vec![];
        for (fault, phase) in &mut self.faults {
            if *phase == Phase::Pending && fault.start <= now {
                *phase = Phase::On;
                edges.push(Edge::Begins(*fault));
            }
            if *phase == Phase::On && fault.end() <= now {
                *phase = Phase::Over;
                edges.push(Edge::Ends(*fault));
            }
        }
        edges
    }

    /// Returns the next time at which a scheduled fault begins or ends.
    pub(crate) fn next_edge(&self) -> SimTime {
        let due = self.faults.iter().map(|(fault, phase)| match phase {
            Phase::Pending => fault.start,
            Phase::On => fault.end(),
            Phase::Over => SimTime::MAX,
        });
        due.min().unwrap_or(SimTime::MAX)
    }

    /// Returns the kinds of the faults that are active on this port at `now`.
    pub(crate) fn on(&self, now: SimTime, port: Port) -> impl Iterator<Item = FaultKind> {
        self.faults
            .iter()
            .map(|(fault, _)| fault)
            .filter(move |fault| fault.active(now) && fault.port.is_none_or(|only| only == port))
            .map(|fault| fault.kind)
    }

    /// Returns the network conditions that the active faults cause in one direction of a connection. `port` is `None`
    /// for a connection that the controller has opened; `period` is the control cycle.
    pub(crate) fn conditions(
        &self,
        now: SimTime,
        port: Option<Port>,
        direction: Direction,
        period: Duration,
    ) -> Conditions {
        let mut conditions = Conditions::default();
        for (fault, _) in &self.faults {
            let here = fault.port.is_none_or(|only| Some(only) == port)
                && fault.direction.is_none_or(|only| only == direction);
            if !fault.active(now) || !here {
                continue;
            }
            match fault.kind {
                FaultKind::Split(bytes) => conditions.split = Some(Split { bytes, spread: period / 4 }),
                FaultKind::Coalesce(count) => conditions.coalesce = Some(count),
                FaultKind::Delay(delay) => conditions.delay += delay,
                FaultKind::Jitter(jitter) => conditions.jitter += jitter,
                FaultKind::Stall => conditions.stalled = true,
                FaultKind::Backlog(lag) => conditions.backlog = Some(Backlog { lag, drain_gap: period / 2 }),
                // The controller itself uses Nagle's algorithm: only bytes that it sends are held.
                FaultKind::Nagle(late) if direction == Direction::Down => conditions.nagle = Some(late),
                FaultKind::Loss(share) => conditions.loss = Some((share, RETRANSMISSION)),
                FaultKind::QuickLoss(share) => conditions.loss = Some((share, period * QUICK_RETRANSMISSION)),
                _ => {}
            }
        }
        conditions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_begins_and_ends_once_even_if_it_lasts_no_time() {
        let fault = Fault::new(FaultKind::Drop, SimTime::from_secs(1), Some(Duration::ZERO));
        let mut schedule = Schedule::new(vec![fault]);
        assert!(schedule.edges(SimTime::from_millis(999)).is_empty());
        assert_eq!(schedule.next_edge(), SimTime::from_secs(1));
        let edges = schedule.edges(SimTime::from_secs(2));
        assert_eq!(edges, [Edge::Begins(fault), Edge::Ends(fault)]);
        assert_eq!((schedule.edges(SimTime::from_secs(3)), schedule.next_edge()), (vec![], SimTime::MAX));
    }

    #[test]
    fn a_selector_limits_a_fault_to_its_port_and_direction() {
        let schedule = Schedule::new(vec![Fault::parse("stall/30003/up@0").unwrap()]);
        let period = Duration::from_millis(8);
        let stalled = |port, direction| schedule.conditions(SimTime::ZERO, Some(port), direction, period).stalled;
        assert!(stalled(Port::Realtime, Direction::Up));
        assert!(!stalled(Port::Realtime, Direction::Down) && !stalled(Port::Primary, Direction::Up));
    }
}
