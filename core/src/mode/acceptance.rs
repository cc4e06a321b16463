//! The proof that the controller accepts commands. Zero velocity proves nothing, because local mode drops text without
//! a reply.

use super::timed_fact::TimedFact;
use outrigger_wire::time::{Duration, Instant};

/// The activity of the controller's program interpreter, as one fact of [`Acceptance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Activity {
    /// No program runs on the controller.
    Stopped,
    /// A program runs on the controller.
    Running,
    /// A program on the controller is paused; this is not a fault.
    Paused,
}

/// A kind of proof that the controller accepts commands, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Proof {
    /// The controller's own state reports that it follows our commands.
    PeerState,
    /// The controller mirrors the counter that our commands carry.
    MirroredCounter,
    /// The program state in the controller's packet of each cycle shows that our program runs.
    ProgramState,
    /// The field `isProgramRunning` of the robot mode data, sent ten times a second, shows that our program runs.
    ProgramRunning,
}

impl Proof {
    /// Returns the name that reports use for the proof.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PeerState => "peer state",
            Self::MirroredCounter => "mirrored counter",
            Self::ProgramState => "program state in the packet",
            Self::ProgramRunning => "isProgramRunning",
        }
    }
}

/// The facts that can prove that the controller accepts commands. A field is `None` if this firmware, or this command
/// path, does not have it.
///
/// Set `program_state` only if its numbers are known to mean what they seem to
/// (`core/docs/protocol/ur-client-interfaces.md 2.5`: unconfirmed on 30003). The best proof that exists decides, and a
/// wrong one blocks commanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Acceptance {
    /// `true` if the program on the controller mirrors (reports back) the counters of our commands, with the time when
    /// it last did.
    pub mirrored_counter: Option<TimedFact<bool>>,
    /// The activity of the controller's program, in the packet of each cycle.
    pub program_state: Option<TimedFact<Activity>>,
    /// The program state by the fields `isProgramRunning` and `isProgramPaused` of the robot mode data.
    pub program_running: Option<TimedFact<Activity>>,
}

/// The result of evaluating the proofs that commands are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Commands are accepted; this proof last showed it at this time.
    Accepted(Proof, Instant),
    /// The best proof does not show yet that commands are accepted.
    NotYet,
    /// No proof exists, or none that could distinguish our program from the program that ran before it.
    Unknown,
}

/// The proofs that showed a foreign program when arming began, and so prove nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Baseline {
    program_state: bool,
    program_running: bool,
}

impl Baseline {
    pub(super) const IDLE: Self = Self { program_state: false, program_running: false };

    /// Updates the proofs that count as occupied by a foreign program: one that has shown no program since `since` is
    /// free, and can show our program from now on.
    pub(super) fn observe(&mut self, known: &Acceptance, since: Instant) {
        let idle =
            |held: Option<TimedFact<Activity>>| held.is_some_and(|h| h.value == Activity::Stopped && h.at > since);
        self.program_state &= !idle(known.program_state);
        self.program_running &= !idle(known.program_running);
    }
}

impl Acceptance {
    /// Returns `true` if a program runs or is paused, by any fact at most `max_age` old; `None` if there is no such
    /// fact.
    #[must_use]
    pub fn program(&self, now: Instant, max_age: Duration) -> Option<bool> {
        let fresh = |held: Option<TimedFact<Activity>>| held.and_then(|h| h.fresh(now, max_age));
        let (packet, slow) = (fresh(self.program_state), fresh(self.program_running));
        let alive = |activity| !matches!(activity, Activity::Stopped);
        match (packet, slow) {
            (None, None) => None,
            (a, b) => Some(a.is_some_and(alive) || b.is_some_and(alive)),
        }
    }

    /// Returns `true` if a fact shows, learned after `since`, that no program runs.
    pub(super) fn is_stopped_since(&self, since: Instant) -> bool {
        [self.program_state, self.program_running]
            .iter()
            .flatten()
            .any(|held| held.value == Activity::Stopped && held.at > since)
    }

    /// Returns the activity of the program by the program state in the packet, or else by the robot mode data; `None`
    /// if the fact does not exist, or was not learned after `since`.
    pub(super) fn newest_since(&self, since: Instant) -> Option<Activity> {
        self.program_state.or(self.program_running).filter(|held| held.at > since).map(|held| held.value)
    }

    pub(super) fn baseline(&self) -> Baseline {
        let busy = |held: Option<TimedFact<Activity>>| held.is_some_and(|h| h.value != Activity::Stopped);
        Baseline { program_state: busy(self.program_state), program_running: busy(self.program_running) }
    }

    /// Returns `true` if there is a proof that could distinguish our program from one that runs now. With `take_over`
    /// the command path ends the other program before it starts ours.
    pub(super) fn can_prove(&self, take_over: bool) -> bool {
        let baseline = if take_over { Baseline::IDLE } else { self.baseline() };
        self.mirrored_counter.is_some()
            || (self.program_state.is_some() && !baseline.program_state)
            || (self.program_running.is_some() && !baseline.program_running)
    }

    /// Returns whether commands are accepted, by the best proof that exists and that `baseline` does not exclude, and
    /// by facts that were learned after `since` and are at most `max_age` old.
    pub(super) fn verdict(&self, baseline: Baseline, since: Instant, now: Instant, max_age: Duration) -> Verdict {
        let after = |at: Instant| at > since && now.since(at) <= max_age;
        if let Some(mirrored) = self.mirrored_counter {
            return if mirrored.value && after(mirrored.at) {
                Verdict::Accepted(Proof::MirroredCounter, mirrored.at)
            } else {
                Verdict::NotYet
            };
        }
        let ranked = [
            (Proof::ProgramState, self.program_state, baseline.program_state),
            (Proof::ProgramRunning, self.program_running, baseline.program_running),
        ];
        for (proof, held, was_busy) in ranked {
            match held {
                Some(held) if !was_busy => {
                    let shows = held.value == Activity::Running && after(held.at);
                    return if shows { Verdict::Accepted(proof, held.at) } else { Verdict::NotYet };
                }
                Some(_) | None => {}
            }
        }
        Verdict::Unknown
    }

    /// Returns the time at which `proof` last showed that our commands are accepted. A paused program is still ours.
    /// `None` if the proof does not exist or shows the opposite.
    #[must_use]
    pub fn shown_at(&self, proof: Proof) -> Option<Instant> {
        let alive = |held: Option<TimedFact<Activity>>| held.filter(|h| h.value != Activity::Stopped).map(|h| h.at);
        match proof {
            Proof::PeerState => None,
            Proof::MirroredCounter => self.mirrored_counter.filter(|h| h.value).map(|h| h.at),
            Proof::ProgramState => alive(self.program_state),
            Proof::ProgramRunning => alive(self.program_running),
        }
    }

    /// Returns the time at which the fact for `proof` was learned last, whether it shows acceptance or not; `None` if
    /// there is none.
    pub(super) fn heard_at(&self, proof: Proof) -> Option<Instant> {
        match proof {
            Proof::PeerState => None,
            Proof::MirroredCounter => self.mirrored_counter.map(|h| h.at),
            Proof::ProgramState => self.program_state.map(|h| h.at),
            Proof::ProgramRunning => self.program_running.map(|h| h.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_millis(300);
    const START: Instant = Instant::from_micros(1_000_000);
    const NOW: Instant = Instant::from_micros(1_200_000);

    fn held<T>(value: T, millis: u64) -> Option<TimedFact<T>> {
        Some(TimedFact::new(value, Instant::from_micros(1_000_000 + millis * 1_000)))
    }

    #[test]
    fn the_best_proof_there_is_decides() {
        let mut known = Acceptance { program_running: held(Activity::Running, 100), ..Acceptance::default() };
        let verdict = |known: &Acceptance| known.verdict(Baseline::default(), START, NOW, AGE);
        assert!(matches!(verdict(&known), Verdict::Accepted(Proof::ProgramRunning, _)));
        known.program_state = held(Activity::Stopped, 199);
        assert_eq!(verdict(&known), Verdict::NotYet);
        known.program_state = held(Activity::Running, 199);
        assert!(matches!(verdict(&known), Verdict::Accepted(Proof::ProgramState, _)));
        known.mirrored_counter = Some(TimedFact::new(true, START));
        assert_eq!(verdict(&known), Verdict::NotYet, "mirrored before we began");
        known.mirrored_counter = held(false, 199);
        assert_eq!(verdict(&known), Verdict::NotYet);
        known.mirrored_counter = held(true, 199);
        assert!(matches!(verdict(&known), Verdict::Accepted(Proof::MirroredCounter, _)));
    }

    #[test]
    fn what_was_known_before_arming_proves_nothing() {
        let known =
            Acceptance { program_running: Some(TimedFact::new(Activity::Running, START)), ..Acceptance::default() };
        assert_eq!(known.verdict(Baseline::default(), START, NOW, AGE), Verdict::NotYet);
    }

    #[test]
    fn a_program_that_ran_before_ours_makes_running_ambiguous() {
        let before = Acceptance { program_running: held(Activity::Running, 0), ..Acceptance::default() };
        let after = Acceptance { program_running: held(Activity::Running, 100), ..Acceptance::default() };
        assert_eq!(after.verdict(before.baseline(), START, NOW, AGE), Verdict::Unknown);
        assert!(!before.can_prove(false));
        let busy = Acceptance { program_state: held(Activity::Paused, 0), ..before };
        assert!(!busy.can_prove(false));
        assert!(busy.can_prove(true), "the other program is ended first");
        assert!(Acceptance { mirrored_counter: held(false, 0), ..busy }.can_prove(false));
        assert!(Acceptance { program_state: held(Activity::Stopped, 0), ..busy }.can_prove(false));
    }

    #[test]
    fn a_program_that_was_seen_to_end_makes_the_next_one_ours() {
        let before = Acceptance { program_running: held(Activity::Running, 0), ..Acceptance::default() };
        let mut baseline = before.baseline();
        let mut see = |activity, millis| {
            let known = Acceptance { program_running: held(activity, millis), ..Acceptance::default() };
            baseline.observe(&known, START);
            known.verdict(baseline, START, NOW, AGE)
        };
        assert_eq!(see(Activity::Running, 10), Verdict::Unknown);
        assert_eq!(see(Activity::Stopped, 100), Verdict::NotYet);
        assert!(matches!(see(Activity::Running, 200), Verdict::Accepted(Proof::ProgramRunning, _)));
    }

    #[test]
    fn no_proof_is_unknown_and_an_old_one_is_none() {
        assert_eq!(Acceptance::default().verdict(Baseline::default(), START, NOW, AGE), Verdict::Unknown);
        let old = Acceptance { program_running: held(Activity::Running, 100), ..Acceptance::default() };
        assert_eq!(old.verdict(Baseline::default(), START, NOW + AGE, AGE), Verdict::NotYet);
    }
}
