//! Tracks requests that cause motion until the control loop takes them. Each is valid for two seconds, and its client
//! may withdraw it until then.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use outrigger_core::mode::ClientNumber;
use outrigger_remote::request::{Challenge, Challenges};
use outrigger_wire::time::Instant;

use super::answer::Verdict;

/// The number of challenges of one client that are valid at the same time. A challenge is a number that makes one later
/// request for motion valid.
const CHALLENGES: usize = 4;
/// The number of requests that one client can withdraw: its newest.
const REMEMBERED: usize = 32;

/// The state of a motion request that waits for the control loop.
const WAITS: u8 = 0;
/// The state of a motion request that the control loop has taken.
const TAKEN: u8 = 1;
/// The state of a motion request that its client has withdrawn.
const WITHDRAWN: u8 = 2;

/// The identity of a client's request: the number of its client, and its own number among the requests of that client.
pub(super) type Named = (ClientNumber, u32);

/// A client's request that causes motion, with its state and the end of its validity.
#[derive(Clone, Debug)]
pub(super) struct MotionClaim {
    pub(super) named: Named,
    /// The time at which the client's request becomes invalid. `None` after the validity was checked.
    until: Option<Instant>,
    state: Arc<AtomicU8>,
}

impl MotionClaim {
    pub(super) fn new(named: Named, until: Instant) -> Self {
        Self { named, until: Some(until), state: Arc::new(AtomicU8::new(WAITS)) }
    }

    /// Checks that the motion request is still valid, and returns it without a time limit, because the checks that
    /// follow take time.
    pub(super) fn judged(self, now: Instant) -> Result<Self, Verdict> {
        if self.until.is_some_and(|until| now > until) {
            return Err(Verdict::NotFresh);
        }
        Ok(Self { until: None, ..self })
    }

    /// Takes the motion request for the control loop. After that its client cannot withdraw it any more.
    ///
    /// # Errors
    /// Returns [`Verdict::Withdrawn`] or [`Verdict::NotFresh`].
    pub(super) fn take(&self, now: Instant) -> Result<(), Verdict> {
        self.state
            .compare_exchange(WAITS, TAKEN, Ordering::AcqRel, Ordering::Acquire)
            .map_err(|_| Verdict::Withdrawn)?;
        if self.until.is_some_and(|until| now > until) { Err(Verdict::NotFresh) } else { Ok(()) }
    }

    /// Withdraws the client's motion request. Returns `false` if it is too late, because the control loop has taken the
    /// request.
    fn withdraw(&self) -> bool {
        self.state.compare_exchange(WAITS, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire) != Err(TAKEN)
    }
}

/// The challenges that were issued to one client. Each is a number that makes one later request that causes motion
/// valid.
#[derive(Debug)]
pub(super) struct Issued(Mutex<Challenges<CHALLENGES>>);

impl Issued {
    /// Creates the challenges of a client. The first number is different for each client, so that a number of an
    /// earlier connection is not valid.
    pub(super) fn new(asker: ClientNumber, now: Instant) -> Self {
        let mixed = (u64::from(asker.0) << 32 | now.as_micros() & 0xffff_ffff).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Mutex::new(Challenges::new((mixed >> 32) as u32)))
    }

    /// Issues a challenge, which makes one later motion request of the client valid.
    pub(super) fn issue(&self, now: Instant) -> Challenge {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).issue(now)
    }

    fn spend(&self, challenge: Challenge, now: Instant) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spend(challenge, now)
    }
}

/// The result of a client's withdrawal of a request that causes motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Withdrawal {
    /// The request was still queued, and is not carried out.
    TakenBack,
    /// The control loop has already taken this request, and decides about its withdrawal.
    AtTheLoop(Named),
    /// The client has no such request: it causes no motion, was rejected at once, is older than the newest 32, or was
    /// sent by another client.
    Unknown,
}

/// The list of one client's newest requests that cause motion.
#[derive(Debug)]
pub(super) struct Claims<'c> {
    asker: ClientNumber,
    issued: &'c Issued,
    next: u32,
    /// The newest requests of the client that cause motion, with the `id` of each.
    newest: VecDeque<(Option<u32>, MotionClaim)>,
}

impl<'c> Claims<'c> {
    pub(super) const fn new(asker: ClientNumber, issued: &'c Issued) -> Self {
        Self { asker, issued, next: 0, newest: VecDeque::new() }
    }

    /// Issues a challenge, which makes one later motion request of the client valid.
    pub(super) fn issue(&self, now: Instant) -> Challenge {
        self.issued.issue(now)
    }

    /// Accepts a request that causes motion and was received at `at`. Returns `None` if its challenge is not valid.
    pub(super) fn accept(&mut self, id: Option<u32>, challenge: Option<Challenge>, at: Instant) -> Option<MotionClaim> {
        let until = self.issued.spend(challenge?, at)?;
        let claim = MotionClaim::new((self.asker, self.next), until);
        self.next = self.next.wrapping_add(1);
        if self.newest.len() >= REMEMBERED {
            self.newest.pop_front();
        }
        self.newest.push_back((id, claim.clone()));
        Some(claim)
    }

    /// Withdraws the client's newest request with the `id` in `what`.
    pub(super) fn withdraw(&self, what: u32) -> Withdrawal {
        match self.newest.iter().rev().find(|(id, _)| *id == Some(what)) {
            None => Withdrawal::Unknown,
            Some((_, claim)) if claim.withdraw() => Withdrawal::TakenBack,
            Some((_, claim)) => Withdrawal::AtTheLoop(claim.named),
        }
    }
}

#[cfg(test)]
mod tests {
    use outrigger_wire::time::Duration;

    use super::*;

    const NOW: Instant = Instant::from_micros(1_000_000);

    #[test]
    fn a_request_is_accepted_once_by_a_challenge_of_its_own_client() {
        let (ours, theirs) = (Issued::new(ClientNumber(0), NOW), Issued::new(ClientNumber(1), NOW));
        let (mut one, mut other) = (Claims::new(ClientNumber(0), &ours), Claims::new(ClientNumber(1), &theirs));
        let challenge = one.issue(NOW);
        assert!(other.accept(Some(7), Some(challenge), NOW).is_none() && one.accept(Some(7), None, NOW).is_none());
        assert!(one.accept(Some(7), Some(challenge), NOW).is_some());
        assert!(one.accept(Some(7), Some(challenge), NOW).is_none(), "once");
        // Requests of another client use up none of its challenges.
        let kept = one.issue(NOW);
        (0..1_000).for_each(|_| assert_ne!(other.issue(NOW), kept));
        assert!(one.accept(None, Some(kept), NOW + Duration::from_secs(2)).is_some());
    }

    #[test]
    fn a_request_that_waits_is_taken_back_and_one_that_the_loop_has_is_named() {
        let issued = Issued::new(ClientNumber(3), NOW);
        let mut claims = Claims::new(ClientNumber(3), &issued);
        let accept = |claims: &mut Claims<'_>, id| {
            let challenge = claims.issue(NOW);
            claims.accept(Some(id), Some(challenge), NOW).expect("it is fresh")
        };
        let (waits, taken) = (accept(&mut claims, 7), accept(&mut claims, 8));
        assert_eq!(taken.take(NOW), Ok(()));
        assert_eq!(claims.withdraw(7), Withdrawal::TakenBack);
        assert_eq!(claims.withdraw(7), Withdrawal::TakenBack, "again");
        assert_eq!(waits.take(NOW), Err(Verdict::Withdrawn));
        assert_eq!(claims.withdraw(8), Withdrawal::AtTheLoop((ClientNumber(3), 1)));
        assert_eq!(claims.withdraw(9), Withdrawal::Unknown);
        (0..100).for_each(|id| drop(accept(&mut claims, id)));
        assert_eq!(claims.newest.len(), REMEMBERED, "in bounded memory");
    }

    #[test]
    fn a_request_that_waited_for_too_long_is_not_fresh_unless_it_was_judged_before_its_checks() {
        let late = NOW + Duration::from_millis(2_001);
        let claim = || MotionClaim::new((ClientNumber(0), 0), NOW + Duration::from_secs(2));
        assert_eq!(claim().take(late), Err(Verdict::NotFresh));
        assert_eq!(claim().judged(late).map(|_| ()), Err(Verdict::NotFresh));
        assert_eq!(claim().judged(NOW).and_then(|claim| claim.take(late)), Ok(()));
    }
}
