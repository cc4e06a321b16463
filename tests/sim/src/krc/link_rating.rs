//! The KRC's measurement of its link: the answers to its measurements, their latency, and the resulting quality.

use std::collections::VecDeque;
use std::time::Duration;

use outrigger_wire::fri::Quality;

use super::options::{QualityLimits, Rating};
use crate::time::SimTime;

/// The number of cycles that the link statistics cover.
const WINDOW: usize = 100;
/// The number of past FRI measurement messages of the KRC whose time of sending is stored.
const REMEMBERED: usize = 256;

/// The link statistics that an FRI measurement message of the KRC contains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The share, 0 … 1, of the KRC's last 100 FRI messages that the remote computer answered in time.
    pub answer_rate: f64,
    /// The mean time from an FRI message of the KRC to the remote computer's answer \[s\].
    pub latency: f64,
    /// The mean change of the latency from one answer of the remote computer to the next \[s\].
    pub jitter: f64,
    /// The number of the remote computer's missing answers since the Fast Research Interface was opened.
    pub missed: u32,
}

/// The FRI measurement messages of the last cycles, the answers to them, and the resulting link quality.
#[derive(Debug)]
pub(super) struct LinkRating {
    rating: Rating,
    period: Duration,
    sent: VecDeque<(u16, SimTime)>,
    answered: VecDeque<bool>,
    latencies: VecDeque<f64>,
    changes: VecDeque<f64>,
    last_latency: Option<f64>,
    missed: u32,
    quality: Quality,
    /// The number of consecutive cycles in which the link was good enough for a higher quality.
    better_for: u32,
}

fn push<T>(ring: &mut VecDeque<T>, value: T, length: usize) {
    if ring.len() == length {
        ring.pop_front();
    }
    ring.push_back(value);
}

fn mean(ring: &VecDeque<f64>) -> f64 {
    if ring.is_empty() { 0.0 } else { ring.iter().sum::<f64>() / ring.len() as f64 }
}

impl LinkRating {
    pub(super) fn new(rating: Rating, period: Duration) -> Self {
        Self {
            rating,
            period,
            sent: VecDeque::new(),
            answered: VecDeque::new(),
            latencies: VecDeque::new(),
            changes: VecDeque::new(),
            last_latency: None,
            missed: 0,
            quality: Quality::Unacceptable,
            better_for: 0,
        }
    }

    /// Stores the time at which the FRI measurement message with this `counter` was sent.
    pub(super) fn sent(&mut self, counter: u16, now: SimTime) {
        push(&mut self.sent, (counter, now), REMEMBERED);
    }

    /// Adds the latency of the remote computer's command that answers the FRI measurement message with this `counter` to
    /// the link statistics.
    pub(super) fn received(&mut self, counter: u16, now: SimTime) {
        let Some((_, at)) = self.sent.iter().rev().find(|(sent, _)| *sent == counter) else { return };
        let latency = now.since(*at).as_secs_f64();
        push(&mut self.latencies, latency, WINDOW);
        if let Some(last) = self.last_latency.replace(latency) {
            push(&mut self.changes, (latency - last).abs(), WINDOW);
        }
    }

    /// Ends a cycle and rates the link. `in_time` is `true` if the KRC's previous FRI message was answered in time.
    pub(super) fn judge(&mut self, in_time: bool) {
        push(&mut self.answered, in_time, WINDOW);
        if !in_time {
            self.missed = self.missed.saturating_add(1);
        }
        let reached = self.reached();
        if rank(reached) < rank(self.quality) {
            self.quality = reached;
            self.better_for = 0;
        } else if rank(reached) > rank(self.quality) {
            self.better_for += 1;
            if self.better_for >= self.rating.rise_after {
                self.quality = Quality::from_raw(rank(self.quality) + 1);
                self.better_for = 0;
            }
        } else {
            self.better_for = 0;
        }
    }

    fn reached(&self) -> Quality {
        if self.answered.len() < WINDOW {
            return Quality::Unacceptable;
        }
        let (figures, period) = (self.statistics(), self.period.as_secs_f64());
        let holds = |limits: &QualityLimits| {
            figures.answer_rate >= limits.answer_rate
                && figures.latency <= limits.latency * period
                && figures.jitter <= limits.jitter * period
        };
        let steps = self.rating.limits.iter().take_while(|limits| holds(limits)).count();
        Quality::from_raw(u16::try_from(steps).unwrap_or(0))
    }

    pub(super) const fn quality(&self) -> Quality {
        self.quality
    }

    pub(super) fn statistics(&self) -> Statistics {
        let answered = self.answered.iter().filter(|answered| **answered).count() as f64;
        Statistics {
            answer_rate: if self.answered.is_empty() { 0.0 } else { answered / self.answered.len() as f64 },
            latency: mean(&self.latencies),
            jitter: mean(&self.changes),
            missed: self.missed,
        }
    }
}

/// Returns a number that orders link qualities from worst to best.
pub(super) const fn rank(quality: Quality) -> u16 {
    quality.raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(1);

    /// Executes cycles of a link rating whose answers arrive `latency` \[µs\] late, except those for which `lost`
    /// returns `true`. Returns the rating, and the link quality after each cycle.
    fn rated(cycles: u16, latency: u64, lost: impl Fn(u16) -> bool) -> (LinkRating, Vec<Quality>) {
        let mut rating = LinkRating::new(Rating::default(), PERIOD);
        let mut seen = vec![];
        for cycle in 0..cycles {
            let at = SimTime::from_millis(cycle.into());
            rating.sent(cycle, at);
            if !lost(cycle) {
                rating.received(cycle, at + Duration::from_micros(latency));
            }
            rating.judge(!lost(cycle));
            seen.push(rating.quality());
        }
        (rating, seen)
    }

    #[test]
    fn quality_rises_one_step_a_window_and_never_before_the_first() {
        let (rating, seen) = rated(400, 300, |_| false);
        let first = |quality| seen.iter().position(|q| *q == quality).unwrap();
        assert_eq!((first(Quality::Bad), first(Quality::Ok), first(Quality::Perfect)), (198, 298, 398));
        let figures = rating.statistics();
        assert!((figures.latency - 0.0003).abs() < 1e-9 && figures.jitter < 1e-9);
        assert_eq!((figures.answer_rate, figures.missed), (1.0, 0));
    }

    #[test]
    fn lost_answers_show_in_rate_and_count_and_lower_the_quality_at_once() {
        let (rating, seen) = rated(600, 300, |cycle| cycle >= 450 && cycle % 10 == 0);
        assert_eq!(rating.statistics().missed, 15);
        assert!((rating.statistics().answer_rate - 0.9).abs() < 1e-9);
        assert_eq!(seen[445], Quality::Perfect);
        assert_eq!(seen[599], Quality::Bad);
    }

    #[test]
    fn slow_answers_are_never_perfect() {
        let (_, seen) = rated(1000, 700, |_| false);
        assert_eq!(seen.last(), Some(&Quality::Ok));
    }
}
