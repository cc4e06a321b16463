//! What is done about a chip that is in doubt, and how often.

use embassy_time::{Duration, Instant};

use crate::trouble::Doubt;

/// What comes within so long after a remedy has not been remedied by it.
const EFFECT: Duration = Duration::from_millis(100);

/// A reset comes no sooner than so long after the one before, and twice that after one more, up to [`LONGEST`]: the chip
/// takes seconds to make its link anew, and one that is reset more often has none, ever.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);

/// A chip that was well for so long begins anew with [`SHORTEST`].
const WELL: Duration = Duration::from_secs(10);

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The socket is closed, set up and opened, at once.
    Reopen,
    /// The chip is reset, not before this time.
    Reset(Instant),
}

/// Remembers what was done, and decides what is next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Care {
    /// When a remedy was last chosen, or the reset to come was due.
    remedied: Option<Instant>,
    reset: Option<Instant>,
    /// Between that reset and the next one.
    pause: Option<Duration>,
}

impl Care {
    /// Of a chip that nothing was done to yet.
    pub(crate) const fn new() -> Self {
        Self { remedied: None, reset: None, pause: None }
    }

    /// What is to be done at `now` about this doubt. A remedy is taken to be carried out as it is chosen.
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
            let Remedy::Reset(next) = care.remedy(Doubt::Chip, now) else { panic!("it is not there") };
            *pause = (next - now).as_millis();
            now = next;
        }
        assert_eq!(pauses, [0, 1_000, 2_000, 4_000, 8_000, 8_000]);
        // It was well for a while.
        assert_eq!(care.remedy(Doubt::Chip, now + LONGEST + WELL), Remedy::Reset(now + LONGEST + WELL));
        let Remedy::Reset(next) = care.remedy(Doubt::Chip, now + LONGEST + WELL) else { panic!("it is not there") };
        assert_eq!(next, now + LONGEST + WELL + SHORTEST);
    }

    /// Whatever goes wrong at whatever times, in steps of 50 ms over ten of them, from every state that the first ten lead to.
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
