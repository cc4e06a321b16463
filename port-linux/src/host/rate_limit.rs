//! A limit on the rate of repeated actions, such as requests.

use std::time::Duration as StdDuration;

use outrigger_wire::time::Instant;

/// A token bucket: permits a number of actions per second, and some more after a pause.
#[derive(Debug)]
pub struct Pace {
    per_second: f32,
    at_once: f32,
    tokens: f32,
    at: Instant,
}

impl Pace {
    /// Creates a rate limit of `per_second` actions in the long run, and of `at_once` actions after a pause.
    pub const fn new(per_second: f32, at_once: f32, now: Instant) -> Self {
        Self { per_second, at_once, tokens: at_once, at: now }
    }

    /// Takes a token, which permits one action, if there is one. Returns `false` if the rate limit is exceeded.
    pub fn take_now(&mut self, now: Instant) -> bool {
        let gained = now.since(self.at).as_secs_f32() * self.per_second;
        self.tokens = (self.tokens + gained).min(self.at_once);
        self.at = now;
        let has = self.tokens >= 1.0;
        if has {
            self.tokens -= 1.0;
        }
        has
    }

    /// Takes a token, which permits one action. Returns the time to wait before that action, zero within the rate
    /// limit.
    pub(crate) fn take(&mut self, now: Instant) -> StdDuration {
        let gained = now.since(self.at).as_secs_f32() * self.per_second;
        self.tokens = (self.tokens + gained).min(self.at_once) - 1.0;
        self.at = now;
        StdDuration::from_secs_f32((-self.tokens).max(0.0) / self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_lets_a_burst_through_and_then_so_many_per_second() {
        let mut pace = Pace::new(200.0, 50.0, Instant::ZERO);
        let waits: Vec<_> = (0..60).map(|_| pace.take(Instant::ZERO).as_micros()).collect();
        assert!(waits[..50].iter().all(|wait| *wait == 0), "{waits:?}");
        assert_eq!((waits[50], waits[59]), (5_000, 50_000));
        assert_eq!(pace.take(Instant::from_micros(10_000_000)).as_micros(), 0);
    }
}
