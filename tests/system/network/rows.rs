//! The rows of the table: the conditions of the packets, and their permitted effect.

use std::time::Duration;

use outrigger_core::robot::Reason;
use outrigger_emulated::wire::{Conditions, Counts, Loss};

use super::peer::Beside;

/// A row of the table of network conditions: what happens to the packets in one test, and the permitted effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// The conditions of the network from the start on.
    pub(super) path: Conditions,
    /// Further conditions of the network from the first command on.
    pub(super) trouble: Conditions,
    /// The time for which every packet is lost. It begins while the arm is fast; `None` for no such loss.
    pub(super) cut: Option<Duration>,
    /// The permitted effect of the conditions on commanding.
    pub(super) ends: Ends,
}

/// The permitted effect of the conditions on commanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Commanding must not end.
    Never,
    /// Commanding may end, with a reason that names the network.
    Maybe,
    /// Commanding must end.
    Always,
}

const NOTHING: Conditions = Conditions {
    delay: Duration::ZERO,
    jitter: Duration::ZERO,
    loss: Loss::None,
    duplicate: 0.0,
    reorder: None,
    corrupt: 0.0,
};

const fn delay(millis: u64) -> Conditions {
    Conditions { delay: Duration::from_millis(millis), ..NOTHING }
}

const fn loss(share: f64) -> Conditions {
    Conditions { loss: Loss::Share(share), ..NOTHING }
}

const CLEAN: Row = Row { name: "nothing", path: NOTHING, trouble: NOTHING, cut: None, ends: Ends::Never };

const fn path(name: &'static str, path: Conditions, ends: Ends) -> Row {
    Row { name, path, ends, ..CLEAN }
}

const fn trouble(name: &'static str, trouble: Conditions, ends: Ends) -> Row {
    Row { name, trouble, ends, ..CLEAN }
}

const fn cut(name: &'static str, millis: u64) -> Row {
    Row { name, cut: Some(Duration::from_millis(millis)), ends: Ends::Always, ..CLEAN }
}

const JITTER: Conditions = Conditions { jitter: Duration::from_millis(2), ..NOTHING };
/// The share of packets that are held back, and the time for which they are: longer than a cycle of each controller.
const REORDER: Option<(f64, Duration)> = Some((0.02, Duration::from_millis(9)));

/// The rows of the table of network conditions, in their order.
pub(super) const ROWS: [Row; 14] = [
    CLEAN,
    path("delay of 1 ms each way", delay(1), Ends::Never),
    path("delay of 5 ms each way", delay(5), Ends::Maybe),
    path("delay of 20 ms each way", delay(20), Ends::Maybe),
    path("jitter of 0 to 2 ms", JITTER, Ends::Maybe),
    trouble("0.1 % lost", loss(0.001), Ends::Maybe),
    trouble("1 % lost", loss(0.01), Ends::Maybe),
    trouble("3 % lost", loss(0.03), Ends::Maybe),
    cut("all lost for 100 ms", 100),
    cut("all lost for 300 ms", 300),
    cut("all lost for 1 s", 1000),
    trouble("2 % held back for 9 ms", Conditions { reorder: REORDER, ..NOTHING }, Ends::Never),
    trouble("10 % doubled", Conditions { duplicate: 0.1, ..NOTHING }, Ends::Never),
    Row {
        name: "all of it: 1 ms, 0 to 1 ms, 1 % lost, 2 % held back, 5 % doubled, 0.5 % with a wrong bit",
        path: Conditions { jitter: Duration::from_millis(1), ..delay(1) },
        trouble: Conditions { loss: Loss::Share(0.01), duplicate: 0.05, reorder: REORDER, corrupt: 0.005, ..NOTHING },
        cut: None,
        ends: Ends::Maybe,
    },
];

impl Row {
    /// Returns the permitted effect of the row beside this controller. A KRC grades the link in both directions by
    /// itself, so that with delay or jitter commanding need not begin.
    pub(super) fn ends(&self, beside: Beside) -> Ends {
        let longer = !self.path.delay.is_zero() || !self.path.jitter.is_zero();
        if longer && beside == Beside::Krc { Ends::Maybe } else { self.ends }
    }

    /// Returns the conditions of the network once commanding has begun.
    pub(super) fn troubled(&self) -> Conditions {
        Conditions { delay: self.path.delay, jitter: self.path.jitter, ..self.trouble }
    }

    /// Returns `true` if packets are lost at random.
    pub(super) fn loses(&self) -> bool {
        self.trouble.loss != Loss::None
    }

    /// Returns `true` if each condition of the row has affected at least one packet.
    pub(super) fn has_happened(&self, counts: &Counts) -> bool {
        let Conditions { loss, duplicate, reorder, corrupt, .. } = self.trouble;
        counts.sent > 0
            && ((loss == Loss::None && self.cut.is_none()) || counts.lost > 0)
            && (duplicate == 0.0 || counts.duplicated > 0)
            && (reorder.is_none() || counts.reordered > 0)
            && (corrupt == 0.0 || counts.corrupted > 0)
    }
}

/// Returns `true` if this reason for the end of commanding correctly names the network as the cause.
pub(super) const fn names_the_network(reason: Reason, beside: Beside) -> bool {
    match reason {
        Reason::StateStale | Reason::StatesMissed | Reason::GradeLow => true,
        Reason::Unacknowledged | Reason::LinkClosed => !matches!(beside, Beside::Krc),
        // A KRC judges the answers by itself, and ends commanding if too few arrive in time.
        Reason::LeftCommand => matches!(beside, Beside::Krc),
        _ => false,
    }
}
