//! What is done to the packets, and what may come of it.

use std::time::Duration;

use outrigger_core::robot::Reason;
use outrigger_emulated::wire::{Conditions, Counts, Loss};

use super::peer::Beside;

/// What happens to the packets in one row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// From the start.
    pub(super) path: Conditions,
    /// From the first command on, with the above.
    pub(super) trouble: Conditions,
    /// Nothing arrives for so long, while the arm is fast.
    pub(super) cut: Option<Duration>,
    /// What may come of it.
    pub(super) ends: Ends,
}

/// Whether it may end commanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Nothing may.
    Never,
    /// It may, with a reason that names the network.
    Maybe,
    /// It does.
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
/// Held back for longer than a cycle of each controller.
const REORDER: Option<(f64, Duration)> = Some((0.02, Duration::from_millis(9)));

/// Every row, in the order of the table.
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
    /// What may come of it beside this controller: a KRC grades the way there and back by itself, and need not begin.
    pub(super) fn ends(&self, beside: Beside) -> Ends {
        let longer = !self.path.delay.is_zero() || !self.path.jitter.is_zero();
        if longer && beside == Beside::Krc { Ends::Maybe } else { self.ends }
    }

    /// What holds once commanding has begun.
    pub(super) fn troubled(&self) -> Conditions {
        Conditions { delay: self.path.delay, jitter: self.path.jitter, ..self.trouble }
    }

    /// Whether packets are lost at random.
    pub(super) fn loses(&self) -> bool {
        self.trouble.loss != Loss::None
    }

    /// Whether the packets have seen everything that the row is about.
    pub(super) fn has_happened(&self, counts: &Counts) -> bool {
        let Conditions { loss, duplicate, reorder, corrupt, .. } = self.trouble;
        counts.sent > 0
            && ((loss == Loss::None && self.cut.is_none()) || counts.lost > 0)
            && (duplicate == 0.0 || counts.duplicated > 0)
            && (reorder.is_none() || counts.reordered > 0)
            && (corrupt == 0.0 || counts.corrupted > 0)
    }
}

/// Reasons for the end of commanding that name the network as what it is.
pub(super) const fn names_the_network(reason: Reason, beside: Beside) -> bool {
    match reason {
        Reason::StateStale | Reason::StatesMissed | Reason::GradeLow => true,
        Reason::Unacknowledged | Reason::LinkClosed => !matches!(beside, Beside::Krc),
        // The KRC judges answers by itself, and ends commanding where too few come in time.
        Reason::LeftCommand => matches!(beside, Beside::Krc),
        _ => false,
    }
}
