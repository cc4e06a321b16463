//! One direction of the network: datagrams are lost, repeated, delayed, and overtake each other.

use std::collections::VecDeque;
use std::time::Duration;

use super::fault::FaultKind;
use crate::rng::Rng;
use crate::time::SimTime;

/// The mean number of consecutive datagrams that a burst of losses drops.
const BURST: f64 = 5.0;

/// The sender of a simulated datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The simulated KRC itself.
    Krc,
    /// A sender other than the KRC, with another address or port.
    Stranger,
}

/// A datagram that the simulation sends on the network now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The sender of the datagram.
    pub sender: Sender,
    /// The bytes that the datagram contains.
    pub bytes: Vec<u8>,
}

/// The datagrams that are in transit in one direction between KRC and remote computer.
#[derive(Debug)]
pub(super) struct Channel {
    rng: Rng,
    /// `true` if a burst of datagram losses is in progress.
    bad: bool,
    /// Datagrams in order of arrival; with equal times, in the order in which they were sent.
    under_way: VecDeque<(SimTime, Vec<u8>)>,
    /// The number of datagrams that the simulated network has lost.
    pub(super) lost: u64,
}

impl Channel {
    pub(super) const fn new(rng: Rng) -> Self {
        Self { rng, bad: false, under_way: VecDeque::new(), lost: 0 }
    }

    /// Sends `datagram` into the simulated network; `faults` are the active ones of this direction.
    pub(super) fn send(
        &mut self,
        datagram: Vec<u8>,
        now: SimTime,
        period: Duration,
        faults: impl Iterator<Item = FaultKind>,
    ) {
        let (mut delay, mut lost, mut copies) = (Duration::ZERO, false, 1);
        for fault in faults {
            match fault {
                FaultKind::Drop(share) => lost |= self.rng.unit() < share,
                FaultKind::Burst(share) => lost |= self.in_burst(share),
                FaultKind::Silence => lost = true,
                FaultKind::Duplicate(share) => copies += u32::from(self.rng.unit() < share),
                FaultKind::Delay(span) => delay += span,
                FaultKind::Jitter(span) => delay += span.mul_f64(self.rng.unit()),
                FaultKind::Reorder(share) if self.rng.unit() < share => delay += period.mul_f64(1.5),
                FaultKind::Garbage(share) if self.rng.unit() < share => {
                    let garbage = self.garbage(&datagram);
                    self.put(now + delay, garbage);
                }
                _ => {}
            }
        }
        if lost {
            self.lost += 1;
            return;
        }
        for _ in 0..copies {
            self.put(now + delay, datagram.clone());
        }
    }

    fn put(&mut self, due: SimTime, datagram: Vec<u8>) {
        let at = self.under_way.partition_point(|(other, _)| *other <= due);
        self.under_way.insert(at, (due, datagram));
    }

    /// Executes the next step of Gilbert and Elliott's two-state model of bursts of losses, in which the long-run share
    /// of lost datagrams is `share`. Returns whether the present datagram is lost.
    fn in_burst(&mut self, share: f64) -> bool {
        let leave = 1.0 / BURST;
        let enter = if share < 1.0 { (share * leave / (1.0 - share)).min(1.0) } else { 1.0 };
        let change = self.rng.unit();
        self.bad = if self.bad { share >= 1.0 || change >= leave } else { change < enter };
        self.bad
    }

    /// Returns 0 to 1500 random bytes, or a copy of the datagram with an error in it.
    fn garbage(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut bytes = datagram.to_vec();
        if self.rng.unit() < 0.5 {
            bytes = vec![0; usize::try_from(self.rng.up_to(1_500)).unwrap_or(0)];
            bytes.iter_mut().for_each(|byte| *byte = self.rng.next_u64() as u8);
        } else if let Some(last) = bytes.len().checked_sub(1) {
            // Length, size and number are checked by a receiver: one of them is wrong.
            match self.rng.up_to(2) {
                0 => bytes.truncate(last),
                1 => bytes[4] ^= 0x10,
                _ => bytes[6] ^= 0x01,
            }
        }
        bytes
    }

    /// Returns the time at which the next datagram in transit arrives.
    pub(super) fn next_arrival(&self) -> SimTime {
        self.under_way.front().map_or(SimTime::MAX, |(due, _)| *due)
    }

    /// Returns the next datagram that has arrived by `now`, with the time of its arrival.
    pub(super) fn arrived(&mut self, now: SimTime) -> Option<(SimTime, Vec<u8>)> {
        if self.next_arrival() <= now { self.under_way.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(1);

    /// Returns the numbers, in order of arrival, of those of `count` datagrams that arrive while `faults` are active.
    fn through(faults: &[FaultKind], count: u64) -> Vec<u64> {
        let mut channel = Channel::new(Rng::new(7, 0));
        for number in 0..count {
            let bytes = number.to_le_bytes().to_vec();
            channel.send(bytes, SimTime::from_millis(number), PERIOD, faults.iter().copied());
        }
        let mut arrived = vec![];
        while let Some((_, bytes)) = channel.arrived(SimTime::MAX) {
            arrived.push(bytes.try_into().map_or(u64::MAX, u64::from_le_bytes));
        }
        arrived
    }

    #[test]
    fn the_share_that_is_asked_for_is_lost() {
        for (kind, expected) in [(FaultKind::Drop(0.1), 0.1), (FaultKind::Burst(0.05), 0.05)] {
            let lost = 1.0 - through(&[kind], 50_000).len() as f64 / 50_000.0;
            assert!((lost - expected).abs() < 0.01, "{kind:?}: {lost}");
        }
        assert!(through(&[FaultKind::Silence], 10).is_empty());
        assert!(through(&[FaultKind::Burst(1.0)], 10).is_empty());
    }

    #[test]
    fn bursts_have_the_length_that_is_said() {
        let arrived = through(&[FaultKind::Burst(0.05)], 50_000);
        let gaps: Vec<u64> = arrived.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|gap| *gap > 0).collect();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean - BURST).abs() < 0.5, "{mean}");
    }

    #[test]
    fn late_ones_are_overtaken_and_repeated_ones_come_twice() {
        let arrived = through(&[FaultKind::Reorder(0.1)], 1_000);
        assert_eq!(arrived.len(), 1_000);
        assert!(arrived.windows(2).any(|pair| pair[1] < pair[0]));
        assert!(through(&[FaultKind::Duplicate(1.0)], 3) == [0, 0, 1, 1, 2, 2]);
        assert_eq!(through(&[FaultKind::Delay(PERIOD)], 5), [0, 1, 2, 3, 4]);
    }
}
