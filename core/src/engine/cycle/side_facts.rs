//! Inputs of a cycle: its thresholds, and the facts that a state does not carry.

use super::pendant_stop_rule::PendantSight;
use crate::link::LinkConfig;
use crate::mode::{Activity, FollowingConfig, Mirrored, ModeConfig, PeerGate, PendantConfig, ScalingConfig, TimedFact};
use outrigger_wire::robot::{MasterSafetyState, RobotMode, Safety};
use outrigger_wire::time::Duration;

/// Facts about the controller that its newest state packet does not carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct SideFacts {
    /// The robot mode as another message reported it, used if the state packet does not contain it; `None` if unknown.
    pub(in crate::engine) robot_mode: Option<TimedFact<RobotMode>>,
    /// The safety mode as another message reported it, used if the state packet does not contain it; `None` if unknown.
    pub(in crate::engine) safety: Option<TimedFact<Safety>>,
    pub(in crate::engine) master_safety: Option<TimedFact<MasterSafetyState>>,
    pub(in crate::engine) remote: Option<TimedFact<bool>>,
    pub(in crate::engine) program: Option<TimedFact<Activity>>,
    /// The position of the speed slider, 0 … 1, as another message reported it; `None` if the state packet contains it,
    /// or if it is unknown.
    pub(in crate::engine) speed_slider: Option<TimedFact<f32>>,
    /// `true` if the meaning of the program state's number in the packet is confirmed; otherwise it is used only if no
    /// other source is available.
    pub(in crate::engine) program_state_known: bool,
    /// `true` if the path for commands to the controller is open: on a UR, text can be sent to it.
    pub(in crate::engine) path_open: bool,
    /// `true` if the commanded position, or the one that commanding would start from, is too far from the measured
    /// one (FRI).
    pub(in crate::engine) strays: bool,
    /// The controller's own readiness to be commanded, or the condition that forbids it; `None` if neither is known.
    pub(in crate::engine) gate: Option<PeerGate>,
    /// The age of the oldest text to the controller that is not acknowledged; zero if all texts are.
    pub(in crate::engine) unacked: Duration,
    /// The status of the program of ours that carries the commands; `None` if no program is to carry them.
    #[cfg(feature = "programs")]
    pub(in crate::engine) resident: Option<Resident>,
}

/// The status of a program of ours on the controller that carries the commands.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "programs"), expect(dead_code, reason = "nobody has such a connection then"))]
pub(in crate::engine) struct Resident {
    /// `true` if the program's connection is established and the greeting has been exchanged.
    pub(in crate::engine) connected: bool,
    /// `true` if the program mirrors (reports back) the commands that it receives, with the time when it last did.
    pub(in crate::engine) mirrors: TimedFact<bool>,
}

/// The progress of a motion that the controller executes by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionProgress {
    /// The report of the program that executes moves (idle, running or ended, with the number of the move), with the
    /// time when it last showed that it is running.
    pub(in crate::engine) mirrored: Option<TimedFact<Mirrored>>,
    /// `true` if the program is paused, and with it the motion that it executes.
    pub(in crate::engine) paused: bool,
    /// `true` if the controller's target in the newest state is on the planned course of the move.
    pub(in crate::engine) on_course: bool,
}

/// The thresholds of a control cycle, for one controller and its period.
#[cfg_attr(not(feature = "record"), expect(unreachable_pub, reason = "the trait of recordings names it"))]
#[derive(Clone, Copy, Debug)]
pub struct CycleConfig {
    pub(in crate::engine) link: LinkConfig,
    pub(in crate::engine) mode: ModeConfig,
    pub(in crate::engine) following: FollowingConfig,
    pub(in crate::engine) scaling: ScalingConfig,
    pub(in crate::engine) pendant: PendantConfig,
    pub(in crate::engine) sight: PendantSight,
    /// The time for which a command remains in force if no other follows.
    pub(in crate::engine) hold: Duration,
    /// The highest feedback gain, speed per error, that a law may use \[1/s\].
    #[cfg(feature = "programs")]
    pub(in crate::engine) most_feedback: f32,
}
