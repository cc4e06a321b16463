//! The supervision of bytes that the peer has not acknowledged on one link: when they end commanding, and when the link
//! is dropped.
//!
//! | unacknowledged bytes | verdict |
//! |---|---|
//! | for [`fault_after`](UnackedConfig::fault_after), on a link that carries motion | [`fault`](UnackedVerdict::fault) |
//! | since before commanding ended, past [`hold`](UnackedConfig::hold) and [`zeros`](UnackedConfig::zeros) | [`drop`](UnackedVerdict::drop) |
//! | for [`abort_after`](UnackedConfig::abort_after) | `drop` |
//!
//! Commanding ends because it is unknown whether the arm receives commands. Text of a motion that is over is discarded
//! by dropping the link: if the network delivered it later, it would move an arm at rest.
//!
//! This module uses no clock and no link. The port reports the number of unacknowledged bytes of its network stack;
//! without such reports there is never a verdict.

use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant, earliest};

/// The thresholds for the unacknowledged bytes of one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnackedConfig {
    /// Commanding ends when bytes are unacknowledged for this long. `None` on a link that carries no motion: then only
    /// `abort_after` applies.
    pub fault_after: Option<Duration>,
    /// The link is dropped when bytes are unacknowledged for this long.
    pub abort_after: Duration,
    /// The time for which one command remains in force on the controller.
    pub hold: Duration,
    /// The time from the end of commanding until the zero velocities that bring the arm to rest have been sent.
    pub zeros: Duration,
}

/// The consequence that unacknowledged bytes of a link have at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct UnackedVerdict {
    /// The reason for which commanding ends, to be carried out before the link is dropped; `None` if it may continue.
    pub fault: Option<Reason>,
    /// `true` if the link is to be dropped, with all data queued on it.
    pub drop: bool,
}

/// The bytes of one link that the peer has not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Unacked {
    bytes: u32,
    /// The time at which the oldest unacknowledged byte was sent.
    since: Instant,
}

impl Unacked {
    /// Stores the report of the platform's TCP stack at `now`: `bytes` are not acknowledged, and the oldest of them was
    /// sent `age` ago.
    pub fn report(&mut self, bytes: u32, age: Duration, now: Instant) {
        *self = Self { bytes, since: now - age };
    }

    /// Discards the report of unacknowledged bytes, because the link was replaced.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns whether any bytes of the link are unacknowledged.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.bytes > 0
    }

    /// Returns how long the oldest byte has been unacknowledged; zero if there is none.
    #[must_use]
    pub const fn age(&self, now: Instant) -> Duration {
        if self.bytes > 0 { now.since(self.since) } else { Duration::ZERO }
    }

    /// Returns the consequence of unacknowledged bytes at `now`. `ended` is the time since which the arm has not been
    /// commanded, except to come to rest; `None` while it is armed or commanded, and without a link.
    pub fn judge(&self, config: &UnackedConfig, ended: Option<Instant>, now: Instant) -> UnackedVerdict {
        if self.bytes == 0 {
            return UnackedVerdict::default();
        }
        let age = now.since(self.since);
        let late = config.fault_after.is_some_and(|limit| age >= limit);
        let outdated = self.outdated_at(config, ended).is_some_and(|at| now >= at);
        UnackedVerdict { fault: late.then_some(Reason::Unacknowledged), drop: outdated || age >= config.abort_after }
    }

    /// Returns the time at which the verdict will change next; `None` if no byte is unacknowledged, or nothing more
    /// will change.
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
    /// Returns the time from which unacknowledged text that was sent before the end of commanding is outdated, so that
    /// the link is dropped; `None` if there is no such text.
    fn outdated_at(&self, config: &UnackedConfig, ended: Option<Instant>) -> Option<Instant> {
        let ended = ended.filter(|ended| config.fault_after.is_some() && self.since < *ended)?;
        Some((self.since + config.hold).max(ended + config.zeros))
    }
}

#[cfg(test)]
mod tests {
    //! Explores every short sequence of writes by the engine, acknowledgements by the network and passing time, and
    //! compares the verdicts with a model that queues the texts themselves.

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
        /// One millisecond passes. Then, as after each event, the port reports its unacknowledged bytes.
        Pass,
        /// The engine writes text: motion while commanding, otherwise text that moves nothing.
        Write,
        /// The peer acknowledges the oldest unacknowledged text; with `AcknowledgeAll`, all of them.
        Acknowledge,
        AcknowledgeAll,
        /// Commanding ends; with `Begin` it begins again.
        End,
        Begin,
    }

    const EVENTS: [Event; 6] =
        [Event::Pass, Event::Write, Event::Acknowledge, Event::AcknowledgeAll, Event::End, Event::Begin];

    /// The model that [`Unacked`] is compared with: the texts that the peer has not acknowledged, oldest first, each
    /// with the time of writing and `true` if it moves the arm.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct World {
        unacked: Unacked,
        now: Instant,
        queue: Vec<(Instant, bool)>,
        ended: Option<Instant>,
        /// `true` if the link was dropped in the sequence of events so far.
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

        /// Asserts that between two inputs the verdict does not change before the deadline.
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
