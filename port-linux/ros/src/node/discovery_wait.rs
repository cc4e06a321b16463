//! Waits for the first other ROS 2 program. If none is discovered within the first seconds, the log reports the
//! announcements received and the remedy.

use outrigger_wire::time::{Duration, Instant};

use super::discovery_probe::Probe;
use super::domain_selection::Domain;
use crate::neighbours::{Neighbourhood, Prefix, surroundings};

/// The time without a discovery of another program after which the node reports that. Others announce themselves
/// every 3 s (Fast DDS), 8 s (Cyclone DDS) or 10 s (RustDDS), and answer at once when they discover a new
/// participant.
const PATIENCE: Duration = Duration::from_secs(10);

/// The wait of the node until another ROS 2 program is discovered.
#[derive(Debug)]
pub(super) struct DiscoveryWait {
    place: Domain,
    seen: Neighbourhood,
    /// The identifier of this participant, and the probe that receives the announcements of others; `None` once the end
    /// of the wait has been reported.
    probe: Option<(Prefix, Probe)>,
    until: Instant,
}

impl DiscoveryWait {
    /// Starts the wait for other programs at `now`, in the name of the participant `own`.
    pub(super) fn new(place: Domain, own: Prefix, now: Instant) -> Self {
        let probe = Probe::start(place.domain, &place.interfaces, own);
        Self { place, seen: Neighbourhood::default(), probe: Some((own, probe)), until: now + PATIENCE }
    }

    /// Records the other participants if `seen` contains them. Returns `true` if one of them has announced an endpoint
    /// or a node, and thus has discovered this node.
    pub(super) fn meets(&mut self, seen: Option<Neighbourhood>) -> bool {
        if let Some(seen) = seen {
            self.seen = seen;
        }
        !self.seen.prefixes().is_empty()
    }

    /// Takes the announcements that have arrived. Returns the texts to log, once, when the wait is over. The wait
    /// begins again if the participant `own` has replaced another one of this node.
    pub(super) fn look(&mut self, own: Prefix, now: Instant) -> Vec<String> {
        let Some((of, probe)) = &mut self.probe else { return vec![] };
        if *of != own {
            *self = Self::new(self.place.clone(), own, now);
            return vec![];
        }
        probe.look();
        if now < self.until {
            return vec![];
        }
        let found = surroundings(&probe.surroundings(&self.place.peers), &self.seen);
        self.probe = None;
        found.into_iter().map(|finding| finding.text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Prefix = [9; 12];

    #[test]
    fn a_node_that_meets_nobody_says_where_it_listens_and_what_to_do() {
        let start = Instant::from_micros(5_000_000);
        let nothing = Vec::<String>::new();
        let place = Domain { domain: 99, interfaces: vec![std::net::IpAddr::from([127, 0, 0, 1])], peers: vec![] };
        let mut wait = DiscoveryWait::new(place, OWN, start);
        assert_eq!(wait.look(OWN, start + PATIENCE - Duration::from_millis(1)), nothing);
        // The participant has joined again.
        let own = [8; 12];
        let again = start + PATIENCE;
        assert_eq!(wait.look(own, again), nothing);
        assert!(!wait.meets(None));
        assert_eq!(wait.look(own, again + PATIENCE - Duration::from_millis(1)), nothing);
        let told = wait.look(own, again + PATIENCE);
        assert!(
            told.iter().any(|text| text.contains("found in domain 99 at 127.0.0.1") && text.contains("--interface")),
            "{told:?}"
        );
        assert_eq!(wait.look(own, again + PATIENCE + PATIENCE), nothing);
    }
}
