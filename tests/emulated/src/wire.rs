//! One direction of a network of Ethernet frames with faults, from a seed and in virtual time.

use std::time::Duration;

use outrigger_sim::rng::Rng;
use outrigger_sim::time::SimTime;

/// The way in which a simulated network cable loses frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// The wire loses no frames.
    #[default]
    None,
    /// An independent loss of this share of the frames (0 … 1).
    Share(f64),
    /// A loss in bursts: within one, every frame is lost.
    Bursts {
        /// The probability that a frame begins a burst.
        begin: f64,
        /// The probability that a burst ends with a frame: a burst is 1/`end` frames long on average.
        end: f64,
    },
}

/// The conditions on a simulated network cable for frames that are sent from now on. The default is a perfect cable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The constant delay of every frame.
    pub delay: Duration,
    /// An additional random delay of at most this; frames stay in order.
    pub jitter: Duration,
    /// The way in which frames are lost.
    pub loss: Loss,
    /// The share of frames that arrive twice (0 … 1).
    pub duplicate: f64,
    /// The share of frames that are delayed further (0 … 1), and this delay; later frames overtake them.
    pub reorder: Option<(f64, Duration)>,
    /// The share of frames that arrive with one bit flipped (0 … 1).
    pub corrupt: f64,
}

/// The effect of a temporary disturbance of a simulated network cable on the frames sent while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Frames that are sent during the disturbance do not arrive before its end.
    Hold,
    /// Frames that are sent during the disturbance are lost.
    Lose,
}

/// Numbers of frames by what happened to them on a simulated network cable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of frames given to the wire.
    pub sent: u64,
    /// Number of frames that were lost.
    pub lost: u64,
    /// Number of frames delivered a second time.
    pub duplicated: u64,
    /// Number of frames delayed so that later ones could overtake.
    pub reordered: u64,
    /// Number of frames delivered with a flipped bit.
    pub corrupted: u64,
}

/// One direction of a simulated network cable.
#[derive(Debug)]
pub struct Wire {
    conditions: Conditions,
    rng: Rng,
    windows: Vec<(SimTime, SimTime, Trouble)>,
    in_burst: bool,
    /// The frames in transit with arrival time and running number, unordered.
    on_the_way: Vec<(SimTime, u64, Vec<u8>)>,
    last_arrival: SimTime,
    number: u64,
    counts: Counts,
}

impl Wire {
    /// Creates a perfect wire; `seed` determines all random decisions under other conditions.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            conditions: Conditions::default(),
            rng: Rng::new(seed, 0x317E),
            windows: vec![],
            in_burst: false,
            on_the_way: vec![],
            last_arrival: SimTime::ZERO,
            number: 0,
            counts: Counts::default(),
        }
    }

    /// Creates a wire under these conditions; `seed` determines all random decisions.
    #[must_use]
    pub fn under(seed: u64, conditions: Conditions) -> Self {
        Self { conditions, ..Self::new(seed) }
    }

    /// Sets the conditions for frames sent from now on.
    pub fn set(&mut self, conditions: Conditions) {
        self.conditions = conditions;
        self.in_burst = false;
    }

    /// Holds frames back that are sent from `from` until `until`: they do not arrive before `until`.
    pub fn stall(&mut self, from: SimTime, until: SimTime) {
        self.windows.push((from, until, Trouble::Hold));
    }

    /// Drops frames sent from `from` until `until`, as if the cable were unplugged.
    pub fn cut(&mut self, from: SimTime, until: SimTime) {
        self.windows.push((from, until, Trouble::Lose));
    }

    /// Returns the numbers of frames so far, by what happened to them.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Sends a frame on the wire at the time `now`.
    pub fn send(&mut self, now: SimTime, frame: &[u8]) {
        self.counts.sent += 1;
        let trouble = self.windows.iter().find(|(from, until, _)| (*from..*until).contains(&now)).copied();
        if self.lost() || matches!(trouble, Some((_, _, Trouble::Lose))) {
            self.counts.lost += 1;
            return;
        }
        let mut bytes = frame.to_vec();
        if self.happens(self.conditions.corrupt) && !bytes.is_empty() {
            self.flip_a_bit(&mut bytes);
            self.counts.corrupted += 1;
        }
        let mut arrives = now + self.conditions.delay + self.jitter();
        if let Some((_, until, Trouble::Hold)) = trouble {
            arrives = arrives.max(until);
        }
        let (share, held) = self.conditions.reorder.unwrap_or_default();
        if self.happens(share) {
            self.counts.reordered += 1;
            arrives = arrives + held;
        } else {
            arrives = arrives.max(self.last_arrival);
            self.last_arrival = arrives;
        }
        if self.happens(self.conditions.duplicate) {
            self.counts.duplicated += 1;
            self.put(arrives, bytes.clone());
        }
        self.put(arrives, bytes);
    }

    /// Returns the next frame that has arrived by `now`.
    pub fn receive(&mut self, now: SimTime) -> Option<Vec<u8>> {
        let (index, (arrives, ..)) =
            self.on_the_way.iter().enumerate().min_by_key(|(_, (arrives, number, _))| (*arrives, *number))?;
        (*arrives <= now).then(|| self.on_the_way.swap_remove(index).2)
    }

    /// Returns the time at which the next frame arrives; [`SimTime::MAX`] if none is in transit.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        self.on_the_way.iter().map(|(arrives, ..)| *arrives).min().unwrap_or(SimTime::MAX)
    }

    fn put(&mut self, arrives: SimTime, bytes: Vec<u8>) {
        self.number += 1;
        self.on_the_way.push((arrives, self.number, bytes));
    }

    fn lost(&mut self) -> bool {
        match self.conditions.loss {
            Loss::None => false,
            Loss::Share(share) => self.happens(share),
            Loss::Bursts { begin, end } => {
                let lost = self.in_burst || self.happens(begin);
                self.in_burst = lost && !self.happens(end);
                lost
            }
        }
    }

    fn jitter(&mut self) -> Duration {
        let most = u64::try_from(self.conditions.jitter.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(if most == 0 { 0 } else { self.rng.up_to(most) })
    }

    /// Returns `true` with probability `share`. Uses a random number only if `share` is positive, so that one condition
    /// does not change the results of another.
    fn happens(&mut self, share: f64) -> bool {
        share > 0.0 && self.rng.unit() < share
    }

    fn flip_a_bit(&mut self, bytes: &mut [u8]) {
        let bits = bytes.len() as u64 * 8;
        let bit = self.rng.up_to(bits - 1);
        if let Some(byte) = usize::try_from(bit / 8).ok().and_then(|index| bytes.get_mut(index)) {
            *byte ^= 1 << (bit % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> SimTime {
        SimTime::from_millis(millis)
    }

    /// Sends frames 0, 1, … one per ms on the tested `wire` and returns when each arrives, as (ms, frame).
    fn arrivals(wire: &mut Wire, count: u8) -> Vec<(u64, u8)> {
        let mut seen = vec![];
        for millis in 0..1000 {
            if millis < u64::from(count) {
                wire.send(ms(millis), &[millis as u8]);
            }
            while let Some(frame) = wire.receive(ms(millis)) {
                seen.push((millis, frame[0]));
            }
        }
        assert_eq!(wire.next_event(), SimTime::MAX, "nothing is left on the way");
        seen
    }

    #[test]
    fn a_perfect_wire_delivers_each_frame_at_once_and_in_order() {
        assert_eq!(arrivals(&mut Wire::new(1), 3), [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn delay_and_jitter_keep_the_order() {
        let conditions =
            Conditions { delay: Duration::from_millis(5), jitter: Duration::from_millis(20), ..Conditions::default() };
        let seen = arrivals(&mut Wire::under(1, conditions), 200);
        assert!(seen.iter().map(|(_, frame)| *frame).eq(0..200));
        assert!(seen.iter().all(|(at, frame)| (5..=25).contains(&(at - u64::from(*frame)))));
    }

    #[test]
    fn the_share_asked_for_is_lost_and_the_same_seed_loses_the_same_frames() {
        let lossy = Conditions { loss: Loss::Share(0.3), ..Conditions::default() };
        let seen = arrivals(&mut Wire::under(7, lossy), 200);
        assert!((120..160).contains(&seen.len()), "{} of 200 arrived", seen.len());
        assert_eq!(seen, arrivals(&mut Wire::under(7, lossy), 200));
        assert_ne!(seen, arrivals(&mut Wire::under(8, lossy), 200));
    }

    #[test]
    fn bursts_lose_frames_that_stand_together() {
        let bursty = Conditions { loss: Loss::Bursts { begin: 0.05, end: 0.25 }, ..Conditions::default() };
        let mut wire = Wire::under(3, bursty);
        let seen: Vec<u8> = arrivals(&mut wire, 250).into_iter().map(|(_, frame)| frame).collect();
        let longest = seen.windows(2).map(|pair| pair[1] - pair[0] - 1).max().unwrap();
        let bursts = seen.windows(2).filter(|pair| pair[1] - pair[0] > 1).count() as u64;
        assert!(longest >= 4, "the longest burst lost {longest} frames");
        assert!(wire.counts().lost > 2 * bursts, "{} frames lost in {bursts} bursts", wire.counts().lost);
    }

    #[test]
    fn a_frame_held_back_is_overtaken_and_a_doubled_one_arrives_twice() {
        let reorder = Some((0.2, Duration::from_millis(3)));
        let mut wire = Wire::under(2, Conditions { reorder, duplicate: 0.2, ..Conditions::default() });
        let seen = arrivals(&mut wire, 100);
        let counts = wire.counts();
        assert!(counts.reordered > 10 && counts.duplicated > 10, "{counts:?}");
        assert_eq!(seen.len() as u64, 100 + counts.duplicated);
        assert!(seen.windows(2).any(|pair| pair[1].1 < pair[0].1), "no frame was overtaken");
        assert!((0..100).all(|frame| seen.iter().any(|(_, seen)| *seen == frame)), "nothing is lost");
    }

    #[test]
    fn a_stall_delivers_everything_at_its_end_and_a_cut_delivers_nothing() {
        let mut wire = Wire::new(1);
        wire.stall(ms(2), ms(6));
        wire.cut(ms(8), ms(10));
        assert_eq!(arrivals(&mut wire, 11), [(0, 0), (1, 1), (6, 2), (6, 3), (6, 4), (6, 5), (6, 6), (7, 7), (10, 10)]);
    }

    #[test]
    fn a_corrupted_frame_differs_in_one_bit() {
        let mut wire = Wire::under(1, Conditions { corrupt: 1.0, ..Conditions::default() });
        wire.send(ms(0), &[0; 64]);
        let frame = wire.receive(ms(0)).unwrap();
        assert_eq!(frame.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
}
