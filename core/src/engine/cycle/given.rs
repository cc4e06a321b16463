//! Inputs of a cycle: its thresholds, and the facts that a state does not carry.

use super::pendant::PendantSight;
use crate::link::LinkConfig;
use crate::mode::{Activity, FollowingConfig, Held, Mirrored, ModeConfig, PeerGate, PendantConfig, ScalingConfig};
use outrigger_wire::robot::{MasterSafetyState, RobotMode, Safety};
use outrigger_wire::time::Duration;

/// Facts about the controller that the newest state does not carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct SideFacts {
    /// Where the packet does not have it.
    pub(in crate::engine) robot_mode: Option<Held<RobotMode>>,
    /// Where the packet does not have it.
    pub(in crate::engine) safety: Option<Held<Safety>>,
    pub(in crate::engine) master_safety: Option<Held<MasterSafetyState>>,
    pub(in crate::engine) remote: Option<Held<bool>>,
    pub(in crate::engine) program: Option<Held<Activity>>,
    /// The speed slider, where the packet does not have it.
    pub(in crate::engine) speed_slider: Option<Held<f32>>,
    /// Whether the state's program state means what it says.
    pub(in crate::engine) program_state_known: bool,
    /// Whether text can be sent.
    pub(in crate::engine) path_open: bool,
    /// What is commanded, or would be at the beginning, is too far from what is measured (FRI).
    pub(in crate::engine) strays: bool,
    /// What the peer says of itself, where it does.
    pub(in crate::engine) gate: Option<PeerGate>,
    /// For how long the oldest text waits to be acknowledged; zero where none does.
    pub(in crate::engine) unacked: Duration,
    /// What is known of a program of ours that carries the commands, where one is to.
    #[cfg(feature = "programs")]
    pub(in crate::engine) resident: Option<Resident>,
}

/// A program of ours that carries the commands.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "programs"), expect(dead_code, reason = "nobody has such a connection then"))]
pub(in crate::engine) struct Resident {
    /// Its connection stands, and it has been greeted.
    pub(in crate::engine) connected: bool,
    /// Whether it mirrors what it is sent, and when it last did.
    pub(in crate::engine) mirrors: Held<bool>,
}

/// Progress of a motion that the controller executes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Executed {
    /// What the program that executes moves shows, and when it last showed that it lives.
    pub(in crate::engine) mirrored: Option<Held<Mirrored>>,
    /// The program is paused, and what it executes with it.
    pub(in crate::engine) paused: bool,
    /// The target of the newest state is where the move may take it.
    pub(in crate::engine) on_course: bool,
}

/// Thresholds of a cycle.
#[cfg_attr(not(feature = "record"), expect(unreachable_pub, reason = "the trait of recordings names it"))]
#[derive(Clone, Copy, Debug)]
pub struct CycleConfig {
    pub(in crate::engine) link: LinkConfig,
    pub(in crate::engine) mode: ModeConfig,
    pub(in crate::engine) following: FollowingConfig,
    pub(in crate::engine) scaling: ScalingConfig,
    pub(in crate::engine) pendant: PendantConfig,
    pub(in crate::engine) sight: PendantSight,
    /// For how long a command holds without a successor.
    pub(in crate::engine) hold: Duration,
    /// Most speed for an error that a law may ask for \[1/s\].
    #[cfg(feature = "programs")]
    pub(in crate::engine) most_feedback: f32,
}
