//! Stop and pause at the pendant, and the end of the program, where a program of ours carries the commands.
//!
//! | what is seen, once the program has answered in this arming | what follows |
//! |---|---|
//! | the state says PAUSING, PAUSED or RESUMING, or the slow report a pause | [`Paused`](Pendant::Paused) |
//! | its connection stands | [`Go`](Pendant::Go) |
//! | its connection is gone, and the state says that no program runs | [`Stopped`](Pendant::Stopped) |
//! | its connection is gone for more fresh states than [`GRACE`](ResidentWatch::GRACE) | [`ResidentWatch::has_ended`] |
//! | its connection is gone | [`Wait`](Pendant::Wait): nothing is written, the next state tells |
//!
//! A program that is stopped loses its connection at once, whatever the state in between says; one whose connection the network
//! has cut ends by itself, a little later.

use super::{Activity, Held, Pendant};
use outrigger_wire::robot::ProgramState;
use outrigger_wire::time::Instant;

/// One state, as the watch sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidentReading {
    /// The state is young enough to be answered by motion.
    pub fresh: bool,
    /// The program's connection stands, and it has been greeted.
    pub connected: bool,
    /// The program, where the packet of the cycle has it.
    pub program: Option<ProgramState>,
    /// The program by the slow report.
    pub reported: Option<Held<Activity>>,
}

/// What became of the program that carries our commands; one value for each arming and the commanding behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ResidentWatch {
    /// When its connection was first seen.
    since: Option<Instant>,
    /// Fresh states in a row without it.
    missing: u8,
}

impl ResidentWatch {
    /// Fresh states for which a lost connection may still be a stop at the pendant.
    pub const GRACE: u8 = 2;

    /// Takes the newest state, read at `now`.
    pub fn observe(&mut self, reading: &ResidentReading, now: Instant) -> Pendant {
        if reading.connected && self.since.is_none() {
            self.since = Some(now);
        }
        let Some(since) = self.since.filter(|_| reading.fresh) else { return Pendant::Go };
        let slowly = |held: Held<Activity>| held.value == Activity::Paused && held.at > since;
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

    /// Whether its connection is gone for longer than a stop at the pendant takes to show.
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
        // The watch, whether the program has answered, and for how many fresh states its connection is gone.
        let mut worlds = HashSet::from([(ResidentWatch::default(), false, 0_u8)]);
        for cycle in 1..=8 {
            let now = Instant::ZERO + Duration::from_millis(2 * cycle);
            let mut next = HashSet::new();
            for (watch, answered, gone) in worlds {
                for program in PROGRAMS {
                    for (fresh, connected, pause) in (0..8_u8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
                        let mut watch = watch;
                        let reported = pause.then(|| Held::new(Activity::Paused, now));
                        let said = watch.observe(&ResidentReading { fresh, connected, program, reported }, now);
                        // What is reported as of this very moment was so before the program answered.
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
                        // When it answered matters by its order alone; commanding is over where it has ended.
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
