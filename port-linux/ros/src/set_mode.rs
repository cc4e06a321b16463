//! The action `SetMode` (`core/docs/protocol/ros2-surface.md` 3): stops a program, brings power and brakes to a mode,
//! and starts a program, each only if the goal requests it.
//!
//! [`ModeChange`] is a [`Sequence`] of the core: its requests go to a dashboard server or a Robot API alike, and its
//! steps provide the feedback. Unlike UR's driver it clears no stop: in a protective stop, a violation or a fault it
//! ends and reports that. `RUNNING` is reached by the core's own [`BringUp`].

mod power;
mod program;
#[cfg(test)]
mod tests;

use outrigger_core::client::dashboard::{BringUp, BringUpConfig, Progress, Sequence, SequenceEvent, SequenceInput};
use outrigger_wire::dashboard::Request;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Instant;

use self::power::Power;
use self::program::Program;
use crate::driver_services::{Refused, wrong};
use crate::readings::robot_mode_number;
use outrigger_ros2_messages::endpoint::Task;
use outrigger_ros2_messages::{Action as _, SetMode, SetModeFeedback, SetModeGoal, SetModeResult};

/// The action by which a client requests a robot mode: its name, type and effect.
pub static SET_MODE: Task = Task {
    name: "ur_robot_state_helper/set_mode",
    action: SetMode::TYPE,
    does: "3 POWER_OFF, 5 IDLE or 7 RUNNING; stop_program first, play_program after RUNNING, which moves the arm; stops are not \
           cleared; CB 3.0, e-Series, PolyScope X 10.12",
};

/// The robot mode that a goal of `SetMode` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Robot mode 3: the arm is without power.
    PowerOff,
    /// Robot mode 5: the arm has power, its brakes are engaged.
    Idle,
    /// Robot mode 7: the arm has power, its brakes are released.
    Running,
}

impl Target {
    /// Returns the robot mode that `goal` requests.
    ///
    /// # Errors
    /// [`Refused`] for a mode that cannot be requested.
    pub fn of(goal: &SetModeGoal) -> Result<Self, Refused> {
        match goal.target_robot_mode {
            3 => Ok(Self::PowerOff),
            5 => Ok(Self::Idle),
            7 => Ok(Self::Running),
            other => wrong("target_robot_mode", "3 (POWER_OFF), 5 (IDLE) or 7 (RUNNING)", other),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::PowerOff => "POWER_OFF",
            Self::Idle => "IDLE",
            Self::Running => "RUNNING",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModeChangeStage {
    Stop,
    Mode,
    Play,
}

/// The course of one goal of the action `SetMode`, from its acceptance to its result. When it is dropped, it sends no
/// more requests and undoes nothing.
pub struct ModeChange {
    software: SoftwareVersion,
    target: Target,
    play: bool,
    stage: ModeChangeStage,
    current: Box<dyn Sequence + Send>,
    robot_mode: Option<i8>,
    safety_mode: Option<i8>,
}

impl ModeChange {
    /// Creates the course of a goal of `SetMode` for a controller with the software version `software`.
    ///
    /// # Errors
    /// The errors of [`Target::of`].
    pub fn new(goal: &SetModeGoal, software: SoftwareVersion) -> Result<Self, Refused> {
        let target = Target::of(goal)?;
        let (stage, current): (_, Box<dyn Sequence + Send>) = if goal.stop_program {
            (ModeChangeStage::Stop, Box::new(Program::stop(software)))
        } else {
            (ModeChangeStage::Mode, mode(target, software))
        };
        // No program starts while the brakes are engaged, so it is not attempted.
        let play = goal.play_program && target == Target::Running;
        Ok(Self { software, target, play, stage, current, robot_mode: None, safety_mode: None })
    }

    /// Returns the feedback for the goal; `None` until both the robot mode and the safety mode have been reported.
    #[must_use]
    pub fn feedback(&self) -> Option<SetModeFeedback> {
        Some(SetModeFeedback { current_robot_mode: self.robot_mode?, current_safety_mode: self.safety_mode? })
    }

    /// Returns the result of the goal: the mode is reached, or the reason as text if it is not.
    #[must_use]
    pub fn result(&self, end: Result<(), String>) -> SetModeResult {
        match end {
            Ok(()) => {
                let program = if self.play { ", the program runs" } else { "" };
                SetModeResult { success: true, message: format!("{} is reached{program}", self.target.name()) }
            }
            Err(message) => SetModeResult { success: false, message },
        }
    }

    fn note(&mut self, progress: Progress) {
        match progress {
            Progress::RobotMode(mode) => self.robot_mode = robot_mode_number(mode),
            Progress::Safety(mode) => self.safety_mode = i8::try_from(mode.raw()).ok(),
            _ => {}
        }
    }

    /// Starts the next stage of the goal of `SetMode`: after the stop of the program the change of the robot mode, then
    /// the start of a program if requested. Returns `false` if no stage is left.
    fn go_on(&mut self) -> bool {
        match self.stage {
            ModeChangeStage::Stop => {
                (self.stage, self.current) = (ModeChangeStage::Mode, mode(self.target, self.software));
            }
            ModeChangeStage::Mode if self.play => {
                self.stage = ModeChangeStage::Play;
                self.current = Box::new(Program::play(self.software));
            }
            ModeChangeStage::Mode | ModeChangeStage::Play => return false,
        }
        true
    }
}

fn mode(target: Target, software: SoftwareVersion) -> Box<dyn Sequence + Send> {
    match target {
        Target::PowerOff => Box::new(Power::off(software)),
        Target::Idle => Box::new(Power::idle(software)),
        Target::Running => Box::new(BringUp::new(software, BringUpConfig::default())),
    }
}

impl Sequence for ModeChange {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        self.current.handle(now, input);
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        self.current.poll_output()
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        loop {
            match self.current.poll_event()? {
                SequenceEvent::Progress(progress) => {
                    self.note(progress);
                    return Some(SequenceEvent::Progress(progress));
                }
                SequenceEvent::Done if self.go_on() => {}
                end => return Some(end),
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.current.poll_timeout()
    }
}
