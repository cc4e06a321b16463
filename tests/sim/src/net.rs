//! The network between one client and the controller, for one direction of a TCP connection: bytes arrive complete
//! and in order, but late, cut, joined, or in bursts. The module contains no port number and no protocol; time is an
//! argument.
//!
//! A segment passes the sender (Nagle, coalescing), the wire (splitting, delay, jitter, loss with retransmission,
//! backlog) and the receiver (stall).

use std::collections::VecDeque;
use std::time::Duration;

use crate::rng::Rng;
use crate::time::SimTime;

/// The present conditions of the network in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Constant delay of all data on the network.
    pub delay: Duration,
    /// Upper limit of a random delay that is added to the constant one.
    pub jitter: Duration,
    /// Cuts each TCP segment into pieces; `None` for no cutting.
    pub split: Option<Split>,
    /// Joins this many messages into one TCP segment.
    pub coalesce: Option<usize>,
    /// Holds sent data until the data before them are acknowledged. The peer acknowledges after this time, or with
    /// its next data. Held packets leave together, in pairs, as was observed on old controllers.
    pub nagle: Option<Duration>,
    /// Loses a share of the segments (0 … 1). Each lost segment arrives after the retransmission time; the following
    /// ones wait for it.
    pub loss: Option<(f64, Duration)>,
    /// Delays all segments; the queue empties afterwards.
    pub backlog: Option<Backlog>,
    /// Stops all arrivals; the retained data arrive at once when the stall ends.
    pub stalled: bool,
}

/// The rule for cutting segments into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Number of bytes in each piece of a segment.
    pub bytes: usize,
    /// Time between the arrival of a segment's first piece and of its last.
    pub spread: Duration,
}

/// A queue in the network that delays data between sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Delay of every segment by the queue.
    pub lag: Duration,
    /// Time between two arriving segments while the queue empties.
    pub drain_gap: Duration,
}

#[derive(Debug)]
struct Segment {
    arrives: SimTime,
    bytes: Vec<u8>,
}

/// The simulated network in one direction of one connection.
#[derive(Debug)]
pub struct Link {
    conditions: Conditions,
    rng: Rng,
    /// Bytes that the application has written and that are not sent yet.
    held: Vec<u8>,
    held_messages: usize,
    /// The time at which the peer acknowledges the data in transit (Nagle).
    acknowledged_at: Option<SimTime>,
    on_the_way: VecDeque<Segment>,
    last_arrival: SimTime,
    drain_gap: Duration,
}

impl Link {
    /// Returns a perfect network direction, with its own source of random numbers.
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        Self {
            conditions: Conditions::default(),
            rng,
            held: Vec::new(),
            held_messages: 0,
            acknowledged_at: None,
            on_the_way: VecDeque::new(),
            last_arrival: SimTime::ZERO,
            drain_gap: Duration::ZERO,
        }
    }

    /// Sets the network conditions from `now` on. Data that a condition retained are sent when the condition ends.
    pub fn set_conditions(&mut self, now: SimTime, conditions: &Conditions) {
        if self.conditions == *conditions {
            return;
        }
        let was_stalled = self.conditions.stalled;
        self.conditions = conditions.clone();
        if was_stalled && !conditions.stalled {
            self.release_burst(now);
        }
        if conditions.nagle.is_none() && conditions.coalesce.is_none() {
            self.flush(now);
        }
    }

    /// Sends one message of the application, such as a state message, into the network.
    pub fn send(&mut self, now: SimTime, message: &[u8]) {
        self.advance(now);
        self.held.extend_from_slice(message);
        self.held_messages += 1;
        let waits_for_ack = self.conditions.nagle.is_some() && self.acknowledged_at.is_some();
        let waits_for_more = self.conditions.coalesce.is_some_and(|count| self.held_messages < count);
        if !(waits_for_ack || waits_for_more) {
            self.flush(now);
        }
    }

    /// Processes the arrival of data from the peer. They contain its TCP acknowledgement, which releases the data that
    /// Nagle's algorithm holds.
    pub fn peer_sent(&mut self, now: SimTime) {
        if self.acknowledged_at.take().is_some() {
            self.flush(now);
        }
    }

    /// Sends the data that wait for a TCP acknowledgement of earlier data (Nagle), if the peer acknowledges by `now`.
    pub fn advance(&mut self, now: SimTime) {
        while let Some(at) = self.acknowledged_at.filter(|at| *at <= now) {
            self.acknowledged_at = None;
            self.flush(at);
        }
    }

    /// Returns the next segment that has arrived by `now`, shortened to at most `room` bytes.
    pub fn receive(&mut self, now: SimTime, room: usize) -> Option<Vec<u8>> {
        self.advance(now);
        if self.conditions.stalled {
            return None;
        }
        let front = self.on_the_way.front_mut().filter(|segment| segment.arrives <= now)?;
        if front.bytes.len() <= room {
            return self.on_the_way.pop_front().map(|segment| segment.bytes);
        }
        let rest = front.bytes.split_off(room);
        Some(std::mem::replace(&mut front.bytes, rest))
    }

    /// Returns the number of bytes that have arrived and are not read yet.
    #[must_use]
    pub fn arrived(&self, now: SimTime) -> usize {
        if self.conditions.stalled {
            return 0;
        }
        self.on_the_way.iter().take_while(|segment| segment.arrives <= now).map(|segment| segment.bytes.len()).sum()
    }

    /// Returns the number of bytes that were sent and are not read by the peer yet.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.held.len() + self.on_the_way.iter().map(|segment| segment.bytes.len()).sum::<usize>()
    }

    /// Returns the time of the next event without further calls: an arrival, or an acknowledgement that releases held
    /// data. [`SimTime::MAX`] if there is none.
    #[must_use]
    pub fn next_event(&self, now: SimTime) -> SimTime {
        let acknowledged = self.acknowledged_at.unwrap_or(SimTime::MAX);
        if self.conditions.stalled {
            return acknowledged;
        }
        let arrival = self.on_the_way.iter().map(|segment| segment.arrives).find(|at| *at > now);
        arrival.map_or(acknowledged, |at| at.min(acknowledged))
    }

    /// Returns whether nothing is in transit, so that [`receive`](Self::receive) has nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.on_the_way.is_empty() && self.acknowledged_at.is_none()
    }

    fn flush(&mut self, now: SimTime) {
        self.held_messages = 0;
        if self.held.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.held);
        self.put_on_the_way(now, &bytes);
        if let Some(ack_delay) = self.conditions.nagle {
            self.acknowledged_at = Some(now + ack_delay);
        }
    }

    fn put_on_the_way(&mut self, now: SimTime, bytes: &[u8]) {
        let split = self.conditions.split.unwrap_or(Split { bytes: bytes.len(), spread: Duration::ZERO });
        let pieces = u32::try_from(bytes.len().div_ceil(split.bytes.max(1))).unwrap_or(u32::MAX).max(1);
        let gap = split.spread / pieces;
        for (index, piece) in (0u32..).zip(bytes.chunks(split.bytes.max(1))) {
            let arrives = self.arrival(now + gap * index);
            self.last_arrival = arrives;
            self.on_the_way.push_back(Segment { arrives, bytes: piece.to_vec() });
        }
    }

    fn arrival(&mut self, sent: SimTime) -> SimTime {
        let mut travel = self.conditions.delay;
        let jitter = u64::try_from(self.conditions.jitter.as_micros()).unwrap_or(u64::MAX);
        if jitter > 0 {
            travel += Duration::from_micros(self.rng.up_to(jitter));
        }
        if let Some((share, retransmission)) = self.conditions.loss
            && self.rng.unit() < share
        {
            travel += retransmission;
        }
        if let Some(backlog) = self.conditions.backlog {
            travel += backlog.lag;
            self.drain_gap = backlog.drain_gap;
        }
        let natural = sent + travel;
        if natural > self.last_arrival {
            if self.conditions.backlog.is_none() {
                self.drain_gap = Duration::ZERO;
            }
            natural
        } else {
            self.last_arrival + self.drain_gap
        }
    }

    /// Joins the data that a stall retained into one segment that arrives at `now`.
    fn release_burst(&mut self, now: SimTime) {
        let mut burst = Vec::new();
        while let Some(segment) = self.on_the_way.pop_front_if(|segment| segment.arrives <= now) {
            burst.extend_from_slice(&segment.bytes);
        }
        if !burst.is_empty() {
            self.on_the_way.push_front(Segment { arrives: now, bytes: burst });
            self.last_arrival = self.last_arrival.max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> SimTime {
        SimTime::from_millis(millis)
    }

    fn link(conditions: &Conditions) -> Link {
        let mut link = Link::new(Rng::new(1, 0));
        link.set_conditions(SimTime::ZERO, conditions);
        link
    }

    /// Returns the arrivals of `count` messages of 8 B, one per `period`, read as soon as they arrive: (time, bytes).
    fn arrivals(link: &mut Link, count: u64, period: u64) -> Vec<(u64, usize)> {
        let mut seen = vec![];
        for micros in (0..(count + 100) * period * 1000).step_by(100) {
            let now = SimTime::from_micros(micros);
            if micros % (period * 1000) == 0 && micros / (period * 1000) < count {
                link.send(now, b"8 bytes!");
            }
            while let Some(bytes) = link.receive(now, usize::MAX) {
                seen.push((micros, bytes.len()));
            }
        }
        seen
    }

    #[test]
    fn a_perfect_link_delivers_each_message_at_once_as_one_segment() {
        assert_eq!(arrivals(&mut link(&Conditions::default()), 3, 8), [(0, 8), (8_000, 8), (16_000, 8)]);
    }

    #[test]
    fn nagle_with_a_delayed_acknowledgement_makes_pairs() {
        let nagle = Conditions { nagle: Some(Duration::from_millis(16)), ..Conditions::default() };
        let seen = arrivals(&mut link(&nagle), 7, 8);
        assert_eq!(seen, [(0, 8), (16_000, 8), (32_000, 16), (48_000, 16), (64_000, 8)]);
    }

    #[test]
    fn data_of_the_peer_releases_what_nagle_holds() {
        let nagle = Conditions { nagle: Some(Duration::from_millis(40)), ..Conditions::default() };
        let mut link = link(&nagle);
        link.send(ms(0), b"a");
        link.send(ms(1), b"b");
        assert_eq!(link.receive(ms(2), 9), Some(b"a".to_vec()));
        assert_eq!(link.receive(ms(2), 9), None);
        link.peer_sent(ms(3));
        assert_eq!(link.receive(ms(3), 9), Some(b"b".to_vec()));
    }

    #[test]
    fn a_stall_holds_everything_and_ends_in_one_burst() {
        let mut link = link(&Conditions { stalled: true, ..Conditions::default() });
        link.send(ms(1), b"one ");
        link.send(ms(2), b"two");
        assert_eq!((link.receive(ms(3), 99), link.next_event(ms(3))), (None, SimTime::MAX));
        link.set_conditions(ms(4), &Conditions::default());
        assert_eq!(link.receive(ms(4), 99), Some(b"one two".to_vec()));
    }

    #[test]
    fn splitting_cuts_within_the_spread_and_loses_nothing() {
        let split = Some(Split { bytes: 3, spread: Duration::from_millis(1) });
        let mut link = link(&Conditions { split, ..Conditions::default() });
        assert_eq!(arrivals(&mut link, 1, 8), [(0, 3), (400, 3), (700, 2)]);
    }

    #[test]
    fn coalescing_waits_for_the_last_message_and_lets_go_when_it_ends() {
        let mut link = link(&Conditions { coalesce: Some(3), ..Conditions::default() });
        (0..4).for_each(|n| link.send(ms(n), &[b'0' + n as u8]));
        assert_eq!(link.receive(ms(4), 9), Some(b"012".to_vec()));
        assert_eq!(link.receive(ms(4), 9), None);
        link.set_conditions(ms(5), &Conditions::default());
        assert_eq!(link.receive(ms(5), 9), Some(b"3".to_vec()));
    }

    #[test]
    fn jitter_and_loss_never_reorder_and_every_byte_arrives() {
        let conditions = Conditions {
            delay: Duration::from_millis(2),
            jitter: Duration::from_millis(20),
            loss: Some((0.3, Duration::from_millis(50))),
            ..Conditions::default()
        };
        let mut link = link(&conditions);
        (0..200u8).for_each(|n| link.send(ms(u64::from(n)), &[n]));
        let mut all = vec![];
        while let Some(bytes) = link.receive(ms(10_000), 9) {
            all.extend(bytes);
        }
        assert_eq!(all, (0..200u8).collect::<Vec<_>>());
    }

    #[test]
    fn a_backlog_runs_late_and_is_worked_off_at_its_own_pace() {
        let backlog = Some(Backlog { lag: Duration::from_millis(100), drain_gap: Duration::from_millis(4) });
        let mut link = link(&Conditions { backlog, ..Conditions::default() });
        (0..10).for_each(|n| link.send(ms(n * 8), &[0]));
        link.set_conditions(ms(80), &Conditions::default());
        (10..60).for_each(|n| link.send(ms(n * 8), &[0]));
        let mut lateness = vec![];
        for now in 0..1000 {
            while link.receive(ms(now), 9).is_some() {
                lateness.push(now - lateness.len() as u64 * 8);
            }
        }
        assert_eq!(lateness[..10], [100; 10]);
        assert!(lateness[10..].windows(2).all(|pair| pair[1] <= pair[0]), "{lateness:?}");
        assert_eq!(lateness.last(), Some(&0));
    }

    #[test]
    fn a_small_read_leaves_the_rest_of_the_segment() {
        let mut link = link(&Conditions::default());
        link.send(ms(0), b"abcdef");
        assert_eq!(link.receive(ms(0), 4), Some(b"abcd".to_vec()));
        assert_eq!((link.arrived(ms(0)), link.queued()), (2, 2));
        assert_eq!(link.receive(ms(0), 4), Some(b"ef".to_vec()));
    }
}
