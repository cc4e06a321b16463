//! The freshness of requests: each answer carries a number, which makes one request fresh within two seconds.
//!
//! A request that is delayed and delivered later carries a number that has expired or was used, and is refused. As with
//! the Echo option of RFC 9175, the service issues a value, and determines by its own clock the age of a request that
//! returns it (`core/docs/protocol/outrigger-requests.md` 4).

use outrigger_wire::time::{Duration, Instant};

/// The longest time from the issue of a challenge to the arrival of the request that carries it, for the request to
/// count as fresh.
pub const FRESH_FOR: Duration = Duration::from_secs(2);

/// A number issued with each answer. A request that [causes motion](super::ClientRequest::causes_motion) has to carry it, as
/// proof that the request is recent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Challenge(u32);

impl Challenge {
    /// Returns the challenge with this number, as read from an answer.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number by which answers and requests transmit the challenge.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The newest `N` challenges that were issued to one client or session. No other client can use them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Challenges<const N: usize> {
    next: u32,
    /// The expiry of each challenge, newest first; zero if none was issued, or it was used.
    until: [Instant; N],
}

impl<const N: usize> Challenges<N> {
    /// Creates an empty memory of challenges; the first one issued will have the number `first`.
    #[must_use]
    pub const fn new(first: u32) -> Self {
        Self { next: first, until: [Instant::ZERO; N] }
    }

    /// Issues a challenge for a later request. If `N` are outstanding, the oldest expires.
    pub fn issue(&mut self, now: Instant) -> Challenge {
        let issued = Challenge(self.next);
        self.next = self.next.wrapping_add(1);
        self.until.rotate_right(1);
        if let Some(newest) = self.until.first_mut() {
            *newest = now + FRESH_FOR;
        }
        issued
    }

    /// Uses a challenge up, so that it is accepted only once. Returns the time at which it expires; `None` if it has
    /// expired, was used before, or was not issued.
    pub fn spend(&mut self, challenge: Challenge, now: Instant) -> Option<Instant> {
        let age = self.next.wrapping_sub(1).wrapping_sub(challenge.0);
        let until = self.until.get_mut(usize::try_from(age).ok()?)?;
        let until = core::mem::replace(until, Instant::ZERO);
        (until > Instant::ZERO && now <= until).then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUED: Instant = Instant::from_micros(7_000_000);

    #[test]
    fn a_challenge_is_good_once_and_for_two_seconds() {
        for (after, good) in [(0, true), (2_000_000, true), (2_000_001, false), (3_600_000_000, false)] {
            let now = ISSUED + Duration::from_micros(after);
            let mut challenges = Challenges::<1>::new(9);
            let issued = challenges.issue(ISSUED);
            assert_eq!(challenges.spend(issued, now), good.then_some(ISSUED + FRESH_FOR), "after {after} µs");
            assert_eq!(challenges.spend(issued, ISSUED), None, "once");
        }
    }

    #[test]
    fn numbers_that_were_not_issued_are_good_at_no_time() {
        for first in [0, 1, u32::MAX - 1, u32::MAX] {
            let mut challenges = Challenges::<2>::new(first);
            for number in [0, 1, 2, u32::MAX, u32::MAX - 1, u32::MAX - 2] {
                assert_eq!(challenges.spend(Challenge(number), Instant::ZERO), None);
            }
            let issued = [(); 3].map(|()| challenges.issue(Instant::ZERO));
            assert_eq!(challenges.spend(Challenge(first.wrapping_add(3)), Instant::ZERO), None, "the next one");
            let good = issued.map(|one| challenges.spend(one, Instant::ZERO).is_some());
            assert_eq!(good, [false, true, true], "the newest two");
        }
    }

    #[test]
    fn every_short_history_of_issues_uses_and_delays_is_judged_as_by_a_list() {
        // In each step: issue, use one of the newest four, or let 0.7 s or 2.1 s pass.
        type World = (Challenges<3>, Vec<(Challenge, Instant, bool)>, Instant);
        fn explore((challenges, issued, now): &World, depth: usize, uses: &mut (u32, u32)) {
            if depth == 0 {
                return;
            }
            for op in 0..7_usize {
                let (mut challenges, mut issued, mut now) = (*challenges, issued.clone(), *now);
                match op {
                    0 => {
                        let new = challenges.issue(now);
                        issued.push((new, now, false));
                    }
                    1 => now = now + Duration::from_millis(700),
                    2 => now = now + Duration::from_millis(2_100),
                    _ => {
                        let Some(at) = issued.len().checked_sub(op - 2) else { continue };
                        let kept = at + 3 >= issued.len();
                        let (challenge, when, used) = &mut issued[at];
                        let good = !std::mem::replace(used, true) && kept && now.since(*when) <= FRESH_FOR;
                        assert_eq!(challenges.spend(*challenge, now).is_some(), good);
                        if good { uses.0 += 1 } else { uses.1 += 1 }
                    }
                }
                explore(&(challenges, issued, now), depth - 1, uses);
            }
        }
        let mut uses = (0, 0);
        explore(&(Challenges::new(u32::MAX), vec![], ISSUED), 8, &mut uses);
        assert!(uses.0 > 10_000 && uses.1 > 10_000, "{uses:?}");
    }
}
