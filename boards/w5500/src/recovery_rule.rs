//! The rule of recovery of the W5500 chip: the remedy for an error, and the shortest time between two resets.

use embassy_time::{Duration, Instant};

use crate::chip_errors::Doubt;

/// The time after a remedy within which another error of the W5500 chip shows that the remedy did not help.
const EFFECT: Duration = Duration::from_millis(100);

/// The shortest time between two resets. It doubles with each reset, up to [`LONGEST`]: the W5500 chip takes seconds to
/// establish its link, and never has one if it is reset more often.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);

/// The time without an error after which the pause between resets of the W5500 chip is [`SHORTEST`] again.
const WELL: Duration = Duration::from_secs(10);

/// A remedy for an error of the W5500 chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The W5500's socket 0 is to be closed, set up and opened at once.
    Reopen,
    /// The W5500 chip is to be reset, not before this time.
    Reset(Instant),
}

/// The history of remedies for the W5500's errors, which chooses the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Care {
    /// The time of the last remedy for an error of the W5500, or of its next reset if one is due.
    remedied: Option<Instant>,
    reset: Option<Instant>,
    /// The shortest time between the last reset of the W5500 chip and the next one; `None` before the first.
    pause: Option<Duration>,
}

impl Care {
    /// Returns a history without remedies for the W5500's errors.
    pub(crate) const fn new() -> Self {
        Self { remedied: None, reset: None, pause: None }
    }

    /// Returns the remedy at `now` for an error that puts the part `doubt` of the W5500 chip in doubt, and records the
    /// remedy as carried out.
    pub(crate) fn remedy(&mut self, doubt: Doubt, now: Instant) -> Remedy {
        let in_vain = self.remedied.is_some_and(|at| now < at.saturating_add(EFFECT));
        if doubt == Doubt::Socket && !in_vain {
            self.remedied = Some(now);
            return Remedy::Reopen;
        }
        let (at, pause) = match (self.reset, self.pause) {
            (Some(reset), Some(pause)) if now < reset.saturating_add(pause).saturating_add(WELL) => {
                (now.max(reset.saturating_add(pause)), LONGEST.min(pause * 2))
            }
            _ => (now, SHORTEST),
        };
        (self.remedied, self.reset, self.pause) = (Some(at), Some(at), Some(pause));
        Remedy::Reset(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_socket_in_doubt_is_opened_anew_and_where_that_does_not_help_the_chip_is_reset() {
        let mut care = Care::new();
        assert_eq!(care.remedy(Doubt::Socket, at(5_000)), Remedy::Reopen);
        assert_eq!(care.remedy(Doubt::Socket, at(5_100)), Remedy::Reopen);
        assert_eq!(care.remedy(Doubt::Socket, at(5_199)), Remedy::Reset(at(5_199)));
        assert_eq!(care.remedy(Doubt::Socket, at(5_298)), Remedy::Reset(at(6_199)));
        assert_eq!(care.remedy(Doubt::Socket, at(6_299)), Remedy::Reopen);
    }

    #[test]
    fn resets_that_do_not_help_come_less_and_less_often() {
        let (mut care, mut now) = (Care::new(), at(0));
        let mut pauses = [0; 6];
        for pause in &mut pauses {
            let Remedy::Reset(next) = care.remedy(Doubt::Chip, now) else { panic!("no reset") };
            *pause = (next - now).as_millis();
            now = next;
        }
        assert_eq!(pauses, [0, 1_000, 2_000, 4_000, 8_000, 8_000]);
        // No error for a while.
        assert_eq!(care.remedy(Doubt::Chip, now + LONGEST + WELL), Remedy::Reset(now + LONGEST + WELL));
        let Remedy::Reset(next) = care.remedy(Doubt::Chip, now + LONGEST + WELL) else { panic!("no reset") };
        assert_eq!(next, now + LONGEST + WELL + SHORTEST);
    }

    /// Explores every sequence of ten steps, 50 ms apart: each has no error, an error of the socket, or one of the
    /// chip.
    #[test]
    fn no_sequence_of_troubles_resets_more_often_than_once_a_second_or_puts_one_off_for_longer_than_8_s() {
        for story in 0..3_u32.pow(10) {
            let (mut care, mut last, mut rest) = (Care::new(), None::<Instant>, story);
            let mut now = at(1_000);
            for _ in 0..10 {
                let doubt = match rest % 3 {
                    0 => None,
                    1 => Some(Doubt::Socket),
                    _ => Some(Doubt::Chip),
                };
                rest /= 3;
                now += Duration::from_millis(50);
                let Some(doubt) = doubt else { continue };
                let Remedy::Reset(next) = care.remedy(doubt, now) else {
                    assert_eq!(doubt, Doubt::Socket, "a chip that forgot is reset");
                    continue;
                };
                assert!(next >= now && next - now <= LONGEST, "{story}");
                assert!(last.is_none_or(|last| next >= last + SHORTEST), "{story}");
                (last, now) = (Some(next), next);
            }
        }
    }
}
