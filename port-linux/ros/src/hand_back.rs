//! The steps of `hand_back_control`: a commanded arm is released, and once it is at rest Outrigger's program on the
//! controller ends, so that the pendant's program after it continues.
//!
//! UR's driver lets its program return at once (`core/docs/protocol/ros2-surface.md` 2). Outrigger's program ends
//! only at standstill.

use outrigger_core::mode::{Epoch, Mode};
use outrigger_wire::time::{Duration, Instant};

/// The longest time from a call of `hand_back_control` to the end of Outrigger's program, or to the refusal of the
/// call. A stop takes 5 s at most unless configured otherwise.
pub const WITHIN: Duration = Duration::from_secs(10);

/// The facts about a session that decide the next step of a call of `hand_back_control`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionState {
    /// The session's epoch, a counter that each new connection and each end of commanding increments.
    pub epoch: Epoch,
    /// The session's mode, e.g. whether the arm is commanded.
    pub mode: Mode,
    /// `true` if there is no sign that the arm moves.
    pub rests: bool,
}

/// The next step of a call of `hand_back_control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// No step is due, so the call of `hand_back_control` waits.
    Wait,
    /// The arm is to be brought to standstill, and commanding is to end.
    Release,
    /// Outrigger's program on the controller is to end, so that the pendant's program continues. The session reports
    /// any precondition that is not met.
    HandBack,
    /// The call of `hand_back_control` is to end without success, for this reason.
    GiveUp(&'static str),
}

/// The reason why a call of `hand_back_control` fails after another request has begun to command the arm again.
const COMMANDED_AGAIN: &str = "the arm was stopped, and another request commands it again";
/// The reason why a call of `hand_back_control` fails for an arm whose standstill is not measured in time.
const NOT_STOPPED: &str = "the arm was stopped, but standstill was not measured within 10 s";

/// A call of `hand_back_control` that is in progress.
#[derive(Clone, Copy, Debug)]
pub struct HandBack {
    until: Instant,
    /// The session's epoch at the time when this call ended commanding; `None` before that.
    released: Option<Epoch>,
}

impl HandBack {
    /// Creates a call of `hand_back_control` that starts at `now`.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { until: now + WITHIN, released: None }
    }

    /// Returns `true` if the call has ended the commanding of the arm.
    #[must_use]
    pub const fn has_released(&self) -> bool {
        self.released.is_some()
    }

    /// Returns the next step of the call of `hand_back_control` and records it as done.
    pub fn step(&mut self, SessionState { epoch, mode, rests }: SessionState, now: Instant) -> Next {
        let over = now >= self.until;
        match (mode, self.released) {
            (Mode::Arming | Mode::Command, None) => {
                self.released = Some(epoch);
                Next::Release
            }
            // A release ends an epoch, so another epoch means that another client has requested.
            (Mode::Arming | Mode::Command, Some(released)) if released != epoch => Next::GiveUp(COMMANDED_AGAIN),
            (Mode::Arming | Mode::Command | Mode::Stopping, _) if over => Next::GiveUp(NOT_STOPPED),
            (Mode::Arming | Mode::Command | Mode::Stopping, _) => Next::Wait,
            (Mode::Monitor, _) if !rests && !over => Next::Wait,
            (Mode::Monitor | Mode::Offline, _) => Next::HandBack,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(epoch: u32, mode: Mode, rests: bool) -> SessionState {
        SessionState { epoch: Epoch::from_number(epoch), mode, rests }
    }

    #[test]
    fn a_commanded_arm_is_released_once_and_handed_back_at_rest() {
        let (mut call, now) = (HandBack::new(Instant::ZERO), Instant::ZERO);
        assert_eq!(call.step(seen(3, Mode::Command, false), now), Next::Release);
        // The status may be older than the release.
        assert_eq!(call.step(seen(3, Mode::Command, false), now), Next::Wait);
        assert_eq!(call.step(seen(4, Mode::Stopping, false), now), Next::Wait);
        assert_eq!(call.step(seen(4, Mode::Monitor, false), now), Next::Wait);
        assert_eq!(call.step(seen(4, Mode::Monitor, true), now), Next::HandBack);
        assert!(call.has_released());
    }

    #[test]
    fn an_arm_at_rest_is_handed_back_at_once_and_without_a_session_the_session_refuses() {
        for mode in [Mode::Monitor, Mode::Offline] {
            let mut call = HandBack::new(Instant::ZERO);
            assert_eq!(call.step(seen(1, mode, true), Instant::ZERO), Next::HandBack, "{mode:?}");
            assert!(!call.has_released());
        }
    }

    #[test]
    fn another_request_ends_the_call_and_so_does_time() {
        let (begin, end) = (Instant::ZERO, Instant::ZERO + WITHIN);
        let mut call = HandBack::new(begin);
        assert_eq!(call.step(seen(3, Mode::Arming, false), begin), Next::Release);
        assert_eq!(call.step(seen(4, Mode::Arming, true), begin), Next::GiveUp(COMMANDED_AGAIN));
        let mut call = HandBack::new(begin);
        assert_eq!(call.step(seen(3, Mode::Command, false), begin), Next::Release);
        assert_eq!(call.step(seen(4, Mode::Stopping, false), end), Next::GiveUp(NOT_STOPPED));
        // The session reports what is missing in that case.
        let mut call = HandBack::new(begin);
        assert_eq!(call.step(seen(4, Mode::Monitor, false), begin), Next::Wait);
        assert_eq!(call.step(seen(4, Mode::Monitor, false), end), Next::HandBack);
    }
}
