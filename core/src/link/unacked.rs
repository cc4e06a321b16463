//! Bytes that the peer has not acknowledged, on one link: when they end commanding, and when the link is dropped.
//!
//! | bytes wait | verdict |
//! |---|---|
//! | for [`fault_after`](UnackedConfig::fault_after), where motion goes out | [`fault`](UnackedVerdict::fault) |
//! | since before commanding ended, past [`hold`](UnackedConfig::hold) and [`zeros`](UnackedConfig::zeros) | [`drop`](UnackedVerdict::drop) |
//! | for [`abort_after`](UnackedConfig::abort_after) | `drop` |
//!
//! Commanding ends because nobody knows whether the arm hears us. Text of a motion that is over is dropped with its link: a
//! network that lets it through later would move an arm that rests.
//!
//! Pure: no clock, no link. The port reports what its stack knows; where none does, nothing is ever waited for.

use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant, earliest};

/// Thresholds of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnackedConfig {
    /// Commanding ends when bytes wait for this long. `None` on a link that carries no motion: then only `abort_after`
    /// counts.
    pub fault_after: Option<Duration>,
    /// The link is dropped when they wait for this long.
    pub abort_after: Duration,
    /// For how long one command holds.
    pub hold: Duration,
    /// How long it takes after the end of commanding until the zero velocities have gone out.
    pub zeros: Duration,
}

/// What un-acknowledged bytes mean now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct UnackedVerdict {
    /// What ends commanding; to be carried out first.
    pub fault: Option<Reason>,
    /// The link is to be dropped, with everything that waits on it.
    pub drop: bool,
}

/// What waits on one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Unacked {
    bytes: u32,
    /// When the oldest of them was sent.
    since: Instant,
}

impl Unacked {
    /// The port's report of `now`: so many `bytes` wait, the oldest for `age`.
    pub fn report(&mut self, bytes: u32, age: Duration, now: Instant) {
        *self = Self { bytes, since: now - age };
    }

    /// The link is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether bytes wait.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.bytes > 0
    }

    /// For how long the oldest waits; zero where none does.
    #[must_use]
    pub const fn age(&self, now: Instant) -> Duration {
        if self.bytes > 0 { now.since(self.since) } else { Duration::ZERO }
    }

    /// What they mean at `now`. `ended`: when commanding ended; `None` while it goes on.
    pub fn judge(&self, config: &UnackedConfig, ended: Option<Instant>, now: Instant) -> UnackedVerdict {
        if self.bytes == 0 {
            return UnackedVerdict::default();
        }
        let age = now.since(self.since);
        let late = config.fault_after.is_some_and(|limit| age >= limit);
        let outdated = self.outdated_at(config, ended).is_some_and(|at| now >= at);
        UnackedVerdict { fault: late.then_some(Reason::Unacknowledged), drop: outdated || age >= config.abort_after }
    }

    /// When they will next mean something else; `None` where nothing waits.
    #[must_use]
    pub fn next_deadline(&self, config: &UnackedConfig, ended: Option<Instant>, now: Instant) -> Option<Instant> {
        if self.bytes == 0 {
            return None;
        }
        let ahead = |at: &Instant| *at > now;
        let fault = config.fault_after.map(|limit| self.since + limit).filter(ahead);
        let abort = Some(self.since + config.abort_after).filter(ahead);
        earliest(&[fault, abort, self.outdated_at(config, ended).filter(ahead)])
    }

    #[inline(never)]
    /// When text that waits since before commanding ended asks for what is over.
    fn outdated_at(&self, config: &UnackedConfig, ended: Option<Instant>) -> Option<Instant> {
        let ended = ended.filter(|ended| config.fault_after.is_some() && self.since < *ended)?;
        Some((self.since + config.hold).max(ended + config.zeros))
    }
}

#[cfg(test)]
mod tests {
    //! Every short sequence of what an engine writes, a network acknowledges and time does, against a queue of the texts
    //! themselves.

    use std::collections::HashSet;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn config() -> UnackedConfig {
        UnackedConfig {
            fault_after: Some(MS.times(3)),
            abort_after: MS.times(8),
            hold: MS.times(4),
            zeros: MS.times(2),
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Event {
        /// A millisecond passes; the port reports.
        Pass,
        /// The engine writes: motion while commanding, else nothing that moves.
        Write,
        /// The peer acknowledges the oldest text, or all.
        Acknowledge,
        AcknowledgeAll,
        /// Commanding ends, or begins again.
        End,
        Begin,
    }

    const EVENTS: [Event; 6] =
        [Event::Pass, Event::Write, Event::Acknowledge, Event::AcknowledgeAll, Event::End, Event::Begin];

    /// What is really queued, oldest first: when it was written, and whether it moves.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct World {
        unacked: Unacked,
        now: Instant,
        queue: Vec<(Instant, bool)>,
        ended: Option<Instant>,
        /// The link was dropped.
        dropped: bool,
    }

    impl World {
        fn step(&mut self, event: Event) {
            let before = (self.unacked, self.now, self.ended);
            match event {
                Event::Pass => self.now = self.now + MS,
                Event::Write => self.queue.push((self.now, self.ended.is_none())),
                Event::Acknowledge if !self.queue.is_empty() => {
                    self.queue.remove(0);
                }
                Event::Acknowledge => {}
                Event::AcknowledgeAll => self.queue.clear(),
                Event::End => self.ended = self.ended.or(Some(self.now)),
                Event::Begin => self.ended = None,
            }
            self.check_deadline(before);
            let oldest = self.queue.first().map(|(at, _)| *at);
            let age = oldest.map_or(Duration::ZERO, |at| self.now.since(at));
            self.unacked.report(self.queue.len() as u32, age, self.now);
            self.check(oldest);
        }

        /// Between two inputs nothing changes before the deadline.
        fn check_deadline(&self, (unacked, then, ended): (Unacked, Instant, Option<Instant>)) {
            let config = config();
            let deadline = unacked.next_deadline(&config, ended, then);
            let was = unacked.judge(&config, ended, then);
            assert!(deadline.is_none_or(|at| at > then), "a deadline that has passed");
            for later in 1..=12 {
                let at = then + MS.times(later);
                if deadline.is_none_or(|deadline| at < deadline) {
                    assert_eq!(unacked.judge(&config, ended, at), was, "before the deadline, at {at:?}");
                }
            }
            if let Some(at) = deadline {
                assert_ne!(unacked.judge(&config, ended, at), was, "a deadline at which nothing changes");
            }
        }

        fn check(&mut self, oldest: Option<Instant>) {
            let config = config();
            let verdict = self.unacked.judge(&config, self.ended, self.now);
            let Some(oldest) = oldest else {
                assert_eq!(verdict, UnackedVerdict::default(), "everything is acknowledged");
                assert_eq!(self.unacked.age(self.now), Duration::ZERO);
                return;
            };
            let age = self.now.since(oldest);
            assert_eq!(self.unacked.age(self.now), age);
            assert_eq!(verdict.fault.is_some(), age >= MS.times(3), "commanding ends after 3 ms without a word");
            let moves = self.queue.iter().any(|(at, moves)| *moves && self.ended.is_some_and(|ended| *at < ended));
            let over = self.now.since(oldest) >= config.hold;
            let stopped = self.ended.is_some_and(|ended| self.now.since(ended) >= config.zeros);
            if moves && over && stopped {
                assert!(verdict.drop, "motion that nobody wants any more waits in the network");
            }
            if age >= config.abort_after {
                assert!(verdict.drop, "a link that is of no use");
            } else if verdict.drop {
                assert!(self.ended.is_some_and(|ended| oldest < ended), "dropped while it is wanted");
                assert!(over, "dropped while it may still be in time");
                assert!(stopped, "dropped before the zero velocities behind it have gone out");
            }
            if verdict.drop {
                self.queue.clear();
                self.unacked.clear();
                assert!(!self.unacked.is_waiting());
                self.dropped = true;
            }
        }
    }

    #[test]
    fn every_short_sequence_keeps_the_rules() {
        let start = World {
            unacked: Unacked::default(),
            now: Instant::from_micros(1_000_000),
            queue: Vec::new(),
            ended: None,
            dropped: false,
        };
        let mut known = HashSet::from([start.clone()]);
        let mut frontier = vec![start];
        let mut dropped = 0;
        for _ in 0..14 {
            let mut next = Vec::new();
            for world in frontier {
                for event in EVENTS {
                    let mut after = world.clone();
                    after.step(event);
                    dropped += usize::from(after.dropped && !world.dropped);
                    if after.queue.len() <= 3 && known.insert(after.clone()) {
                        next.push(after);
                    }
                }
            }
            frontier = next;
        }
        assert!(known.len() > 10_000, "{} worlds", known.len());
        assert!(dropped > 100, "{dropped} links dropped");
    }

    #[test]
    fn a_link_without_motion_is_dropped_for_being_of_no_use_alone() {
        let config = UnackedConfig { fault_after: None, ..config() };
        let (mut unacked, start) = (Unacked::default(), Instant::from_micros(1_000_000));
        unacked.report(1, Duration::ZERO, start);
        for millis in 0..8 {
            let now = start + MS.times(millis);
            assert_eq!(unacked.judge(&config, Some(start + MS), now), UnackedVerdict::default());
            assert_eq!(unacked.next_deadline(&config, Some(start + MS), now), Some(start + MS.times(8)));
        }
        let verdict = unacked.judge(&config, None, start + MS.times(8));
        assert_eq!(verdict, UnackedVerdict { fault: None, drop: true });
    }
}
