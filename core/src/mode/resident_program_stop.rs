//! The detection of stop and pause at the pendant, and of the program's end, if a program of ours carries the commands.
//!
//! | finding, once the program has answered in this arming | result |
//! |---|---|
//! | the state shows PAUSING, PAUSED or RESUMING, or the slow report a pause | [`Paused`](Pendant::Paused) |
//! | its connection is established | [`Go`](Pendant::Go) |
//! | its connection is lost, and the state shows that no program runs | [`Stopped`](Pendant::Stopped) |
//! | its connection is lost for more fresh states than [`GRACE`](ResidentWatch::GRACE) | [`ResidentWatch::has_ended`] |
//! | its connection is lost | [`Wait`](Pendant::Wait): nothing is written, the next state decides |
//!
//! A program that is stopped loses its connection at once, whatever the state shows meanwhile. One whose connection the
//! network has cut ends by itself, a little later.

use super::{Activity, Pendant, TimedFact};
use outrigger_wire::robot::ProgramState;
use outrigger_wire::time::Instant;

/// The facts of one state from which [`ResidentWatch`] detects a stop, a pause or the end of the program that carries
/// our commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidentReading {
    /// `true` if the arm's state is young enough to be answered by motion.
    pub fresh: bool,
    /// `true` if the program's connection is established and the greeting has been exchanged.
    pub connected: bool,
    /// The state of the controller's program in the packet of this state; `None` if the packet does not contain it.
    pub program: Option<ProgramState>,
    /// The program's activity by the robot mode data, ten times a second; `None` before the first report.
    pub reported: Option<TimedFact<Activity>>,
}

/// The detector of a stop, a pause or the end of the program that carries our commands; one value for each arming and
/// the commanding after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ResidentWatch {
    /// The time at which the program's connection was first seen in this arming.
    since: Option<Instant>,
    /// The number of consecutive fresh states without a connection of the program.
    missing: u8,
}

impl ResidentWatch {
    /// The number of fresh states for which a lost connection may still be a stop at the pendant.
    pub const GRACE: u8 = 2;

    /// Judges the newest state, read at `now`, and returns the effect of the pendant on our commands.
    pub fn observe(&mut self, reading: &ResidentReading, now: Instant) -> Pendant {
        if reading.connected && self.since.is_none() {
            self.since = Some(now);
        }
        let Some(since) = self.since.filter(|_| reading.fresh) else { return Pendant::Go };
        let slowly = |held: TimedFact<Activity>| held.value == Activity::Paused && held.at > since;
        match reading.program {
            Some(ProgramState::Pausing | ProgramState::Paused | ProgramState::Resuming) => return Pendant::Paused,
            _ if reading.reported.is_some_and(slowly) => return Pendant::Paused,
            _ if reading.connected => {
                self.missing = 0;
                return Pendant::Go;
            }
            Some(ProgramState::Stopping | ProgramState::Stopped) => return Pendant::Stopped,
            Some(ProgramState::Playing | ProgramState::Unknown(_)) | None => {}
        }
        self.missing = self.missing.saturating_add(1);
        Pendant::Wait
    }

    /// Returns `true` if the program's connection is lost for more than [`GRACE`](Self::GRACE) fresh states, so that it
    /// was not stopped at the pendant but has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.missing > Self::GRACE
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use outrigger_wire::time::Duration;

    const PROGRAMS: [Option<ProgramState>; 7] = [
        None,
        Some(ProgramState::Playing),
        Some(ProgramState::Stopping),
        Some(ProgramState::Stopped),
        Some(ProgramState::Pausing),
        Some(ProgramState::Paused),
        Some(ProgramState::Resuming),
    ];

    #[test]
    fn every_short_sequence_of_states_is_judged_by_the_rule() {
        // The watch, whether the program has answered, and the number of fresh states without its connection.
        let mut worlds = HashSet::from([(ResidentWatch::default(), false, 0_u8)]);
        for cycle in 1..=8 {
            let now = Instant::ZERO + Duration::from_millis(2 * cycle);
            let mut next = HashSet::new();
            for (watch, answered, gone) in worlds {
                for program in PROGRAMS {
                    for (fresh, connected, pause) in (0..8_u8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
                        let mut watch = watch;
                        let reported = pause.then(|| TimedFact::new(Activity::Paused, now));
                        let said = watch.observe(&ResidentReading { fresh, connected, program, reported }, now);
                        // A pause reported at this very moment precedes the program's answer.
                        let newly = !answered && connected;
                        let answered = answered || connected;
                        let stopped = matches!(program, Some(ProgramState::Stopping | ProgramState::Stopped));
                        let plays = stopped || matches!(program, None | Some(ProgramState::Playing));
                        let paused = !plays || (pause && !newly);
                        let gone = if answered && fresh && !paused && !stopped {
                            if connected { 0 } else { (gone + 1).min(9) }
                        } else if answered && fresh && !paused && connected {
                            0
                        } else {
                            gone
                        };
                        let expected = match () {
                            () if !answered || !fresh => Pendant::Go,
                            () if paused => Pendant::Paused,
                            () if connected => Pendant::Go,
                            () if stopped => Pendant::Stopped,
                            () => Pendant::Wait,
                        };
                        assert_eq!(said, expected, "{program:?} {fresh} {connected} {pause} {watch:?}");
                        assert_eq!(watch.has_ended(), gone > ResidentWatch::GRACE, "{watch:?}");
                        // The order of the answer's time matters, not its value; commanding is over once the program
                        // has ended.
                        watch.since = watch.since.map(|_| Instant::ZERO);
                        if matches!(said, Pendant::Go | Pendant::Wait) && !watch.has_ended() {
                            next.insert((watch, answered, gone));
                        }
                    }
                }
            }
            worlds = next;
        }
        assert!(worlds.len() > 3, "{}", worlds.len());
    }
}
