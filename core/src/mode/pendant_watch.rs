//! The detection of stop and pause at the pendant for paths on which every cycle's text is a new program: the next text
//! would override them.
//!
//! | program state | result |
//! |---|---|
//! | PAUSING, PAUSED or RESUMING | [`TextPaused`](Pendant::TextPaused): never caused by our own text |
//! | no program, and the newest acknowledged text has [`left`](PendantConfig::left) cycles of its time or more | [`Wait`](Pendant::Wait): nothing is written for this cycle |
//! | still no program in the next fresh state | [`Stopped`](Pendant::Stopped) |
//! | a program again | the program flickers between two texts; the cycle is counted |
//!
//! If that happens in more than [`flicker`](PendantConfig::flicker) of the cycles, or if the states do not contain the
//! program at all, a stop cannot be distinguished from our own text ([`PendantWatch::sees_stops`]). Commanding ends
//! then, unless [`PendantStop::Overridden`] permits the next text to override such a stop.

use super::{Activity, Proof, TimedFact};
use crate::robot::{settings, words};
use outrigger_wire::robot::ProgramState;
use outrigger_wire::time::Instant;

/// The rule for commanding by texts (URScript) if the controller's states cannot show a stop at the pendant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum PendantStop {
    /// Commanding is refused if a stop cannot be seen:
    /// [`Reason::PendantUnseen`](crate::robot::Reason::PendantUnseen).
    #[default]
    Seen,
    /// Commanding is allowed although a stop cannot be seen, and the next command overrides a stop.
    Overridden,
}

words!(PendantStop { "seen" = Seen, "overridden" = Overridden });

settings! {
    /// The thresholds of a [`PendantWatch`]. It is not confirmed how real controllers show their programs between two
    /// command texts (URScript).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct PendantConfig in "pendant." {
        /// The rule for commanding if a stop at the pendant cannot be seen. Default seen: commanding is refused then.
        pub stop: PendantStop = PendantStop::Seen,
        /// `true` if a single state without a program counts as a stop at the pendant, once the program has run for 100
        /// cycles without a gap. Default no.
        pub at_once: bool = false,
        /// The least number of cycles that the newest acknowledged command text must have left of its time `t`: only
        /// then a missing program may be a stop at the pendant. Default 2.
        pub left: u8 [1 to 50 "cycles"] = 2,
        /// The largest share of cycles in which the program may be back after a gap \[%\]: above it a stop at the
        /// pendant cannot be distinguished from such gaps. Default 1.
        pub flicker: u8 [0 to 100 "%"] = 1,
    }
}

/// The effect of the pendant on our commands, as a state shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Pendant {
    /// The pendant shows neither a stop nor a pause: commands continue.
    #[default]
    Go,
    /// Perhaps a stop at the pendant: no command is written in this cycle, so that the next state decides.
    Wait,
    /// Our program that carries the commands is paused. Once resumed, it continues from where it is.
    Paused,
    /// The program that carries our commands was stopped at the pendant.
    Stopped,
    /// The text of the last command was paused: no part of it may continue.
    TextPaused,
}

/// The facts of one state from which [`PendantWatch`] detects a stop or a pause at the pendant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendantReading {
    /// `true` if the arm's state is young enough to be answered by motion.
    pub fresh: bool,
    /// The proof that our command text (URScript) is accepted, as of this state; `None` if there is none.
    pub accepted_by: Option<Proof>,
    /// The state of the controller's program in the packet of this state; `None` if the packet does not contain it.
    pub program: Option<ProgramState>,
    /// The program's activity by the robot mode data, ten times a second; `None` before the first report.
    pub reported: Option<TimedFact<Activity>>,
    /// `true` if the newest command text that the controller acknowledged has at least [`left`](PendantConfig::left)
    /// cycles of its time left.
    pub lasts: bool,
}

/// The least number of cycles of which the share of gaps between our programs is computed, so that a single gap does
/// not count.
const LEAST_CYCLES: u32 = 100;

/// The detector of a stop or a pause of our command text (URScript) at the pendant. One value for each arming and the
/// commanding after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct PendantWatch {
    /// The first proof that our command text is accepted, and the time of it; `None` before.
    granted: Option<(Proof, Instant)>,
    /// `true` if the previous state showed no program, and no command text was written in answer to it.
    waits: bool,
    /// `true` if the previous state showed that no program runs.
    gone: bool,
    /// The number of cycles with our command text accepted; `flickers` counts those in which a program was there again
    /// after a gap.
    cycles: u32,
    flickers: u32,
}

impl PendantWatch {
    /// Judges the newest state, read at `now`, and returns the effect of the pendant on our commands.
    pub fn observe(&mut self, config: &PendantConfig, reading: &PendantReading, now: Instant) -> Pendant {
        if self.granted.is_none() {
            self.granted = reading.accepted_by.map(|proof| (proof, now));
        }
        let Some((proof, since)) = self.granted.filter(|_| reading.fresh) else { return Pendant::Go };
        let slowly = |held: TimedFact<Activity>| held.value == Activity::Paused && held.at > since;
        let program = reading.program.filter(|_| proof == Proof::ProgramState);
        match program {
            Some(ProgramState::Pausing | ProgramState::Paused | ProgramState::Resuming) => return Pendant::TextPaused,
            _ if reading.reported.is_some_and(slowly) => return Pendant::TextPaused,
            None => return Pendant::Go,
            Some(_) => {}
        }
        self.cycles = self.cycles.saturating_add(1);
        let waited = core::mem::take(&mut self.waits);
        let ended = matches!(program, Some(ProgramState::Stopping | ProgramState::Stopped));
        if core::mem::replace(&mut self.gone, ended) && !ended {
            self.flickers = self.flickers.saturating_add(1);
        }
        match (ended, waited) {
            (true, true) => Pendant::Stopped,
            (true, false) if !self.looks(config) || !reading.lasts => Pendant::Go,
            (true, false) if config.at_once && self.flickers == 0 && self.cycles > LEAST_CYCLES => Pendant::Stopped,
            (true, false) => {
                self.waits = true;
                Pendant::Wait
            }
            (false, _) => Pendant::Go,
        }
    }

    /// Returns `true` while a stop at the pendant can be distinguished from the end of our own command text.
    #[inline(never)]
    fn looks(&self, config: &PendantConfig) -> bool {
        let most = self.cycles.max(LEAST_CYCLES).saturating_mul(u32::from(config.flicker));
        self.flickers.saturating_mul(100) <= most
    }

    /// Returns whether a stop at the pendant can be seen. If not, the next command text overrides it. `None` before a
    /// text was accepted, because it is not known then.
    #[must_use]
    pub fn sees_stops(&self, config: &PendantConfig) -> Option<bool> {
        self.granted.map(|(proof, _)| proof == Proof::ProgramState && self.looks(config))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use outrigger_wire::time::Duration;

    /// Returns all readings that a state can have in a test.
    fn readings(now: Instant) -> Vec<PendantReading> {
        let mut readings = vec![];
        let programs =
            [None, Some(ProgramState::Playing), Some(ProgramState::Stopped), Some(ProgramState::Stopping)].into_iter();
        let paused = [ProgramState::Pausing, ProgramState::Paused, ProgramState::Resuming].map(Some);
        for program in programs.chain(paused) {
            for accepted_by in [None, Some(Proof::ProgramState), Some(Proof::ProgramRunning)] {
                for (fresh, lasts, reported) in
                    [(true, true, false), (true, false, false), (false, true, false), (true, true, true)]
                {
                    let reported = reported.then(|| TimedFact::new(Activity::Paused, now));
                    readings.push(PendantReading { fresh, accepted_by, program, reported, lasts });
                }
            }
        }
        readings
    }

    /// The memory of a test's independent observer of the pendant.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    struct History {
        granted: Option<Proof>,
        /// The answer of the tested [`PendantWatch`] to the newest fresh state that contained the program state.
        last: Pendant,
        /// `true` if the newest fresh state that contained the program state showed no program.
        gone: bool,
        flickers: u8,
    }

    fn check(told: &mut History, reading: &PendantReading, said: Pendant) {
        let newly = told.granted.is_none();
        told.granted = told.granted.or(reading.accepted_by);
        let by_packet = told.granted == Some(Proof::ProgramState);
        let none = matches!(reading.program, Some(ProgramState::Stopped | ProgramState::Stopping));
        let plays = reading.program == Some(ProgramState::Playing);
        let paused_now = by_packet && !none && !plays && reading.program.is_some();
        let reported = reading.reported.is_some() && !newly && told.granted.is_some();
        let paused = reading.fresh && (paused_now || reported);
        assert_eq!(said == Pendant::TextPaused, paused, "a pause is never ours: {reading:?}, {told:?}");
        if paused {
            return;
        }
        if !(by_packet && reading.fresh && reading.program.is_some()) {
            assert_eq!(said, Pendant::Go, "where nothing is told, nothing is known: {reading:?}");
            return;
        }
        match said {
            Pendant::Stopped => assert!(none && told.last == Pendant::Wait, "a stop is seen twice: {told:?}"),
            Pendant::Wait => {
                assert!(none && reading.lasts && told.last != Pendant::Wait, "{reading:?}, {told:?}");
                assert!(told.flickers <= 1, "a program that flickers hides no stop");
            }
            Pendant::Go => {
                let off = told.flickers > 1;
                assert!(plays || off || !reading.lasts, "a stop is not overridden unseen: {reading:?}, {told:?}");
                assert!(plays || told.last != Pendant::Wait);
                told.flickers = (told.flickers + u8::from(told.gone && plays)).min(2);
            }
            Pendant::Paused | Pendant::TextPaused => unreachable!(),
        }
        told.last = said;
        told.gone = none;
    }

    #[test]
    fn every_short_sequence_of_states_is_judged_by_the_rule() {
        for stop in [PendantStop::Seen, PendantStop::Overridden] {
            let config = PendantConfig { stop, ..PendantConfig::default() };
            let mut worlds = HashSet::from([(PendantWatch::default(), History::default())]);
            for cycle in 1..=9 {
                let now = Instant::ZERO + Duration::from_millis(8 * cycle);
                let mut next = HashSet::new();
                for (watch, told) in &worlds {
                    for reading in readings(now) {
                        let (mut watch, mut told) = (*watch, *told);
                        let said = watch.observe(&config, &reading, now);
                        check(&mut told, &reading, said);
                        if matches!(said, Pendant::Go | Pendant::Wait) {
                            // The order of the proof's time matters, not its value.
                            watch.granted = watch.granted.map(|(proof, _)| (proof, Instant::ZERO));
                            next.insert((watch, told));
                        }
                    }
                }
                worlds = next;
            }
            assert!(worlds.len() > 10, "{}", worlds.len());
            assert!(worlds.iter().any(|(watch, _)| watch.sees_stops(&config) == Some(true)));
            let flickered = worlds.iter().filter(|(_, told)| told.flickers > 1);
            assert!(flickered.into_iter().all(|(watch, _)| watch.sees_stops(&config) == Some(false)));
        }
    }

    #[test]
    fn one_state_is_enough_where_that_is_configured_and_arming_has_shown_none() {
        let config = PendantConfig { at_once: true, ..PendantConfig::default() };
        let reading = |program| PendantReading {
            fresh: true,
            accepted_by: Some(Proof::ProgramState),
            program: Some(program),
            reported: None,
            lasts: true,
        };
        for (states, said) in [(50, Pendant::Wait), (150, Pendant::Stopped)] {
            let mut watch = PendantWatch::default();
            for _ in 0..states {
                let _ = watch.observe(&config, &reading(ProgramState::Playing), Instant::ZERO);
            }
            assert_eq!(watch.observe(&config, &reading(ProgramState::Stopped), Instant::ZERO), said);
        }
    }

    #[test]
    fn the_defaults_hold_their_own_check() {
        assert_eq!(PendantConfig::default().check_ranges(), Ok(()));
        assert!(PendantConfig { left: 0, ..PendantConfig::default() }.check_ranges().is_err());
        assert!(PendantConfig { flicker: 101, ..PendantConfig::default() }.check_ranges().is_err());
    }
}
