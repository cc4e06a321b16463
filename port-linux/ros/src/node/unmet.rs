//! A node that has met nobody: it listens to announcements for the first seconds, and then says who was heard and what to do.

use outrigger_wire::time::{Duration, Instant};

use super::probe::Probe;
use crate::neighbours::{Seen, surroundings};

/// A node that has met nobody for so long says so. Others announce themselves every 3 s (Fast DDS), 8 s (Cyclone DDS) or 10 s
/// (RustDDS), and answer at once where they hear of somebody new.
const PATIENCE: Duration = Duration::from_secs(10);

/// The wait of a node for the first other program of ROS 2.
#[derive(Debug)]
pub(super) struct Unmet {
    /// The announcements, until the wait is over.
    probe: Option<Probe>,
    until: Instant,
    seen: Seen,
}

impl Unmet {
    /// Returns the wait that begins at `now`.
    pub(super) fn new(probe: Probe, now: Instant) -> Self {
        Self { probe: Some(probe), until: now + PATIENCE, seen: Seen::default() }
    }

    /// Takes what is known of others, where that has changed. Returns whether one of them was met: it has told of a reader or writer,
    /// and so has heard of this node.
    pub(super) fn meets(&mut self, seen: Option<Seen>) -> bool {
        if let Some(seen) = seen {
            self.seen = seen;
        }
        !self.seen.prefixes().is_empty()
    }

    /// Takes what was announced. Returns what to tell, once, when the wait is over.
    pub(super) fn look(&mut self, now: Instant, peers: &[String]) -> Vec<String> {
        let Some(probe) = &mut self.probe else { return vec![] };
        probe.look();
        if now < self.until {
            return vec![];
        }
        let found = surroundings(&probe.surroundings(peers), &self.seen);
        self.probe = None;
        found.into_iter().map(|finding| finding.text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_meets_nobody_says_where_it_listens_and_what_to_do() {
        let start = Instant::from_micros(5_000_000);
        let here = [std::net::IpAddr::from([127, 0, 0, 1])];
        let mut unmet = Unmet::new(Probe::start(99, &here, [9; 12]), start);
        assert_eq!(unmet.look(start + PATIENCE - Duration::from_millis(1), &[]), Vec::<String>::new());
        assert!(!unmet.meets(None));
        let told = unmet.look(start + PATIENCE, &[]);
        assert!(
            told.iter().any(|text| text.contains("is heard in domain 99 at 127.0.0.1") && text.contains("--interface")),
            "{told:?}"
        );
        assert_eq!(unmet.look(start + PATIENCE + PATIENCE, &[]), Vec::<String>::new());
    }
}
