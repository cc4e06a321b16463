//! The repetition of the last position of a motion until the arm has reached it, for positions that wait in a ring
//! buffer on the controller.

use super::Reverse;
use crate::engine::ur::command_path::BufferedConfig;
use crate::engine::ur::event::ProgramEvent;
use crate::mode::Mode;
use outrigger_wire::program_messages::Kind;
use outrigger_wire::time::Instant;

/// The convergence of the arm to the last position of a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Convergence {
    config: BufferedConfig,
    memory: Memory,
}

/// The part of the supervision of the arm's convergence that is kept from cycle to cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Memory {
    /// The time at which the motion ended; `None` while it continues.
    since: Option<Instant>,
    /// `true` once the arm has converged to the last position of a motion, or the time for it is over.
    over: bool,
    /// The result, until it is reported: `true` if the arm converged, and its distance from the last position \[µrad\].
    news: Option<(bool, u32)>,
}

impl Convergence {
    /// Creates the supervision of the arm's convergence, before any motion.
    pub(super) fn new(config: BufferedConfig) -> Self {
        Self { config, memory: Memory::default() }
    }

    /// Returns the part of the supervision that is saved in a checkpoint.
    #[cfg(feature = "record")]
    pub(super) const fn saved(&self) -> &Memory {
        &self.memory
    }

    /// Restores the part of the supervision that was [saved](Self::saved) in a checkpoint.
    #[cfg(feature = "record")]
    pub(super) const fn resume(&mut self, memory: Memory) {
        self.memory = memory;
    }
}

impl Reverse {
    /// Records whether the motion of the control law has `ended`. The last position is sent in each cycle until the arm
    /// has converged.
    pub(in crate::engine::ur) fn motion_ended(&mut self, ended: bool) {
        if self.kind != Kind::Buffered {
            return;
        }
        let now = self.moment.now;
        let state = self.moment.state.filter(|_| ended && self.moment.mode == Mode::Command);
        let Some(state) = state else {
            self.convergence.memory = Memory { news: self.convergence.memory.news, ..Memory::default() };
            return;
        };
        if self.convergence.memory.over {
            return;
        }
        if self.moment.pause.halts {
            // A paused program repeats nothing, and its time does not count.
            self.convergence.memory.since = self.convergence.memory.since.map(|_| now);
            return;
        }
        let since = *self.convergence.memory.since.get_or_insert(now);
        let off = self.positions.off(&state);
        let converged = off <= self.convergence.config.convergence;
        if converged || now.since(since) >= self.convergence.config.convergence_time {
            self.convergence.memory.over = true;
            self.convergence.memory.news = Some((converged, (off * 1e6) as u32));
        }
    }

    /// Returns `true` once the arm has reached the end of a motion, or the time for it is over; always except while
    /// positions in a ring buffer on the controller command the arm.
    pub(in crate::engine::ur) fn has_converged(&self) -> bool {
        self.kind != Kind::Buffered || self.moment.mode != Mode::Command || self.convergence.memory.over
    }

    /// Returns the event with the result of the arm's convergence, once for each result; `None` if there is no new
    /// result.
    pub(in crate::engine::ur) fn convergence(&mut self) -> Option<ProgramEvent> {
        let (converged, off) = self.convergence.memory.news.take()?;
        Some(ProgramEvent::Converged { converged, off })
    }
}

#[cfg(all(test, feature = "programs"))]
mod tests {
    use super::super::Pause;
    use super::*;
    use crate::command::Limits;
    use crate::engine::ur::command_path::CommandPath;
    use crate::engine::ur::config::UrOptions;
    use outrigger_wire::robot::State;
    use outrigger_wire::time::Duration;

    /// Returns the driver's side of a program on this `path`, with 0 as the commanded position of each joint.
    fn reverse(path: CommandPath) -> Reverse {
        Reverse::new(&UrOptions { path, ..UrOptions::default() }, Limits::default())
    }

    /// Passes a state to `program`, `millis` after the beginning, with a joint at `off` \[rad\] from its commanded
    /// position 0. Returns the event about the convergence, if any.
    fn state(program: &mut Reverse, millis: u64, mode: Mode, off: f32, ended: bool) -> Option<ProgramEvent> {
        let mut state = State::default();
        state.positions.0[3] = off;
        program.prepare(Instant::ZERO + Duration::from_millis(millis), mode, Some(&state), Pause::default());
        program.motion_ended(ended);
        program.convergence()
    }

    #[test]
    fn a_motion_is_over_once_the_arm_has_come_to_its_last_position() {
        let mut program = reverse(CommandPath::Buffered);
        assert_eq!(state(&mut program, 0, Mode::Command, 0.5, false), None);
        assert!(!program.has_converged());
        assert_eq!(state(&mut program, 8, Mode::Command, -0.01, true), None);
        assert!(!program.has_converged());
        let news = state(&mut program, 16, Mode::Command, -0.001, true);
        assert_eq!(news, Some(ProgramEvent::Converged { converged: true, off: 1_000 }));
        assert!(program.has_converged());
        assert_eq!(state(&mut program, 24, Mode::Command, 0.1, true), None, "said once");
        // Another motion in the same commanding.
        assert_eq!(state(&mut program, 32, Mode::Command, 0.1, false), None);
        assert!(!program.has_converged());
    }

    #[test]
    fn an_arm_that_does_not_come_there_is_waited_for_no_longer_than_configured_and_never_beside_commanding() {
        let mut program = reverse(CommandPath::Buffered);
        assert_eq!(state(&mut program, 100, Mode::Command, 0.01, true), None);
        assert_eq!(state(&mut program, 599, Mode::Command, f32::NAN, true), None);
        let news = state(&mut program, 600, Mode::Command, 0.01, true);
        assert_eq!(news, Some(ProgramEvent::Converged { converged: false, off: 10_000 }));
        assert!(program.has_converged());

        let mut stopped = reverse(CommandPath::Buffered);
        assert_eq!(state(&mut stopped, 0, Mode::Command, 0.01, true), None);
        assert_eq!(state(&mut stopped, 8, Mode::Stopping, 0.01, true), None);
        assert!(stopped.has_converged(), "a stop waits for nothing");

        let mut unbuffered = reverse(CommandPath::ReverseServoJ);
        assert_eq!(state(&mut unbuffered, 0, Mode::Command, 0.5, true), None);
        assert!(unbuffered.has_converged());
    }
}
