//! The types for motion that the controller executes: a move's number, the drive, the mirror of a program, and
//! thresholds.

use core::num::NonZeroU32;

use crate::robot::{BadValue, settings};
use outrigger_wire::time::Duration;

/// The number of a move, which the program that executes the move reports back: 1 … 2³¹ − 1, so that it fits a register
/// and a socket message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveNumber(NonZeroU32);

impl MoveNumber {
    pub(super) const FIRST: Self = Self(NonZeroU32::MIN);
    const LAST: u32 = i32::MAX as u32;

    /// Creates a move's number; `None` for 0, which stands for no move, and for a value out of range.
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) if number.get() <= Self::LAST => Some(Self(number)),
            Some(_) | None => None,
        }
    }

    /// Returns the move's number as an integer.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// Returns the number of the next move; after the last number, the first.
    #[must_use]
    pub const fn next(self) -> Self {
        match Self::new(self.get().saturating_add(1)) {
            Some(next) => next,
            None => Self::FIRST,
        }
    }
}

/// The source of the motion while commanding: the control law or the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Drive {
    /// The control law moves the arm, by one command per state.
    #[default]
    Streamed,
    /// The controller moves the arm: it executes this move, is about to, or has executed it.
    Delegated(MoveNumber),
}

/// The status of moves that the program on the controller reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Mirrored {
    /// The program on the controller waits for a move.
    Idle,
    /// The program on the controller executes this move.
    Running(MoveNumber),
    /// The program has executed this move, or ended it early, and waits.
    Ended(MoveNumber),
}

settings! {
    /// The thresholds of moves that the controller executes by itself.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct DelegatedConfig in "delegated." by new(cycle: Duration) {
        /// The highest age of the program's report on a move with which commanding may continue. Default 100 ms, at
        /// least two cycles.
        pub mirror_age: Duration [0.002 to 2.0 "s"] = Duration::from_millis(100).max(cycle.times(2)),
        /// The longest time without a timely state while a move may run; the program's own read timeout must not be
        /// longer. Default 200 ms, at least two cycles.
        pub state_timeout: Duration [0.002 to 2.0 "s"] = Duration::from_millis(200).max(cycle.times(2)),
        /// The longest time from sending a move to the program on the controller until the program reports that move.
        /// Default 500 ms.
        pub start_timeout: Duration [0.002 to 60.0 "s"] = Duration::from_millis(500),
        /// The longest time in which the target of a cancelled move neither becomes slower nor rests; then a `stopj` is
        /// sent. Default 100 ms, at least two cycles.
        pub cancel_timeout: Duration [0.002 to 2.0 "s"] = Duration::from_millis(100).max(cycle.times(2)),
        /// The longest pause at the pendant, or time with a speed slider at 0, after which a move may continue. Default
        /// 10 s.
        pub pause_timeout: Duration [0.0 to 3600.0 "s"] = Duration::from_secs(10),
        /// `true` if a program of ours stays on the controller after commanding has ended: in `Monitor` every state is
        /// answered by a keep-alive to it. Default no.
        pub resident: bool = false,
    }
}

impl DelegatedConfig {
    /// Checks every threshold of moves, for states of period `cycle`.
    ///
    /// # Errors
    /// The first field outside its range, or too short for the cycle.
    pub fn check(&self, cycle: Duration) -> Result<(), BadValue> {
        self.check_ranges()?;
        for (value, field) in [
            (self.mirror_age, "delegated.mirror_age"),
            (self.state_timeout, "delegated.state_timeout"),
            (self.cancel_timeout, "delegated.cancel_timeout"),
        ] {
            BadValue::unless(value >= cycle.times(2), field, "at least two cycles")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round_without_zero() {
        assert_eq!(MoveNumber::new(0), None);
        assert_eq!(MoveNumber::new(1 << 31), None);
        let last = MoveNumber::new((1 << 31) - 1).unwrap();
        assert_eq!((last.next().get(), last.next().next().get()), (1, 2));
    }
}
