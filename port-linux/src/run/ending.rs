//! The end of a run, and the causes of its releases (requested ends of commanding).

use std::fmt;

use outrigger_core::engine::Input;
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;

use crate::released::ReleasedBy;

/// The cause for which a run (a process that commands a robot) ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The run ends for this cause: its end was requested, or the motion is done.
    By(ReleasedBy),
    /// The run ends with its first fallback (end of commanding by a fault).
    Fallback,
    /// The run ends with its first requested release of the arm.
    Release,
    /// The run ends because its single request to command was not granted.
    NotGranted,
}

impl Ending {
    /// Returns the cause of the run's end as the cause of a release. [`ReleasedBy::Program`] if the end follows from a
    /// fallback, another release or a request that was not granted.
    pub(super) const fn by(self) -> ReleasedBy {
        match self {
            Self::By(by) => by,
            Self::Fallback | Self::Release | Self::NotGranted => ReleasedBy::Program,
        }
    }

    /// Returns the name of the cause of the run's end for machine-readable output.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::By(by) => by.name(),
            Self::Fallback => "fallback",
            Self::Release => "release",
            Self::NotGranted => "not-granted",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(ReleasedBy::Finished) => f.write_str("motion complete"),
            Self::By(by) => by.fmt(f),
            Self::Fallback => f.write_str("a fault ended commanding"),
            Self::Release => f.write_str("the arm was stopped"),
            Self::NotGranted => f.write_str("the start was not granted"),
        }
    }
}

/// The tracker of the cause of each release (requested end of commanding), by the input that it results from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Releases {
    /// The cause of the releasing input that is about to be given to the engine. `None` for any other input.
    waiting: Option<ReleasedBy>,
    /// The cause of the releasing input that the engine is handling. `None` for any other input.
    handled: Option<ReleasedBy>,
    /// The cause of the last release (requested end of commanding) since commanding started. `None` if there was none.
    last: Option<ReleasedBy>,
}

impl Releases {
    /// Records that `input` is about to be given to the engine. `by` is its cause if it releases the arm.
    pub(super) fn pass_on(&mut self, input: &Input, by: Option<ReleasedBy>) {
        self.waiting = by.filter(|_| matches!(input, Input::Release | Input::Shutdown));
    }

    /// Records that the engine handles the input that was passed on last.
    pub(super) const fn handed_over(&mut self) {
        self.handled = self.waiting.take();
    }

    /// Records that the engine has handled its last input.
    pub(super) const fn looked(&mut self) {
        self.handled = None;
    }

    /// Returns the cause of the mode change `transition`, if it is a release.
    pub(super) fn of(&mut self, transition: &Transition) -> Option<ReleasedBy> {
        if matches!(transition.to, Mode::Arming | Mode::Command) {
            self.last = None;
        }
        let reason = transition.reason.filter(|reason| reason.is_release())?;
        let pendant = (reason != Reason::Released).then_some(ReleasedBy::Pendant(reason));
        let by = pendant.or(self.handled);
        match transition.from {
            // Without a cause it was an input at the robot, or at this device.
            Mode::Arming | Mode::Command => Some(*self.last.insert(by.unwrap_or(ReleasedBy::Input))),
            // A later release only repeats the first one.
            Mode::Stopping => self.last.or(by),
            Mode::Monitor | Mode::Offline => by,
        }
    }

    /// Returns the cause of the last release (requested end of commanding) since commanding started. `None` if there
    /// was none.
    pub(super) const fn since_commanding(&self) -> Option<ReleasedBy> {
        self.last
    }

    /// Returns the cause of the last release (requested end of commanding) since commanding started, otherwise the
    /// cause of the run's end.
    pub(super) fn last(&self, ending: Option<Ending>) -> ReleasedBy {
        self.last.or(ending.map(Ending::by)).unwrap_or(ReleasedBy::Program)
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::mode::{ModeConfig, ModeMachine};
    use outrigger_wire::time::{Duration, Instant};

    use super::*;

    fn transition(to: Mode, reason: Option<Reason>) -> Transition {
        let epoch = ModeMachine::new(ModeConfig::new(Duration::from_millis(8))).epoch();
        Transition { at: Instant::ZERO, from: Mode::Command, to, reason, epoch }
    }

    const RELEASED: Option<Reason> = Some(Reason::Released);

    #[test]
    fn a_release_is_that_of_the_input_which_it_follows_from() {
        let mut releases = Releases::default();
        releases.pass_on(&Input::Release, Some(ReleasedBy::Request));
        // Another input is handled first, during which an input at the robot releases.
        assert_eq!(releases.of(&transition(Mode::Stopping, RELEASED)), Some(ReleasedBy::Input));
        releases.looked();
        assert_eq!(releases.of(&transition(Mode::Command, None)), None);
        releases.handed_over();
        assert_eq!(releases.of(&transition(Mode::Stopping, RELEASED)), Some(ReleasedBy::Request));
        releases.looked();
        assert_eq!(releases.last(Some(Ending::By(ReleasedBy::Finished))), ReleasedBy::Request);
        // The ends of the stop and of the session are not releases of their own.
        let stopped = Transition { from: Mode::Stopping, ..transition(Mode::Monitor, RELEASED) };
        assert_eq!(releases.of(&stopped), Some(ReleasedBy::Request));
        let over = Transition { from: Mode::Monitor, ..transition(Mode::Offline, RELEASED) };
        assert_eq!(releases.of(&over), None);
    }

    #[test]
    fn a_release_that_released_nothing_is_not_blamed_for_a_later_one() {
        let mut releases = Releases::default();
        releases.pass_on(&Input::Release, Some(ReleasedBy::Key));
        releases.handed_over();
        releases.looked();
        assert_eq!(releases.of(&transition(Mode::Stopping, RELEASED)), Some(ReleasedBy::Input));
    }

    #[test]
    fn a_stop_at_the_pendant_is_told_apart_from_a_release_here_and_a_fault_is_neither() {
        let mut releases = Releases::default();
        let paused = Some(Reason::ProgramPaused);
        assert_eq!(releases.of(&transition(Mode::Stopping, paused)), Some(ReleasedBy::Pendant(Reason::ProgramPaused)));
        assert_eq!(releases.of(&transition(Mode::Command, None)), None);
        assert_eq!(releases.of(&transition(Mode::Stopping, Some(Reason::ProtectiveStop))), None);
        assert_eq!(releases.last(Some(Ending::By(ReleasedBy::Signal("SIGTERM")))), ReleasedBy::Signal("SIGTERM"));
    }
}
