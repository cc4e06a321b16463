//! The pace of a streamed motion: [`Scaling`] with its thresholds, and the share of the control law's speeds that is
//! sent at the beginning.

use super::{Pace, Scaling, ScalingConfig};
use crate::robot::Reason;
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::time::Duration;

/// The pace of a streamed motion: the speed scaling and the limit at its beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacer {
    config: ScalingConfig,
    scaling: Scaling,
    /// The share, 0 … 1, of the control law's last speeds that [`Pace::Begin`] permitted.
    share: f32,
    /// `true` if a pause of the program holds the arm; `false` if the speed scaling does.
    paused: bool,
}

impl Pacer {
    /// Creates the pacer of a streamed motion that has seen no state.
    #[must_use]
    pub const fn new(config: ScalingConfig) -> Self {
        Self { config, scaling: Scaling::BEGIN, share: 1.0, paused: false }
    }

    /// Returns the thresholds of the speed scaling.
    #[must_use]
    pub const fn config(&self) -> &ScalingConfig {
        &self.config
    }

    /// Replaces the thresholds of the speed scaling.
    pub const fn set_config(&mut self, config: ScalingConfig) {
        self.config = config;
    }

    /// Resets the pace to [`Pace::Begin`], as each time that commanding begins.
    pub const fn restart(&mut self) {
        (self.scaling, self.share, self.paused) = (Scaling::BEGIN, 1.0, false);
    }

    /// Returns the pace that the robot's speed scaling, or a pause of the program, permits as of the newest state.
    #[must_use]
    pub const fn pace(&self) -> Pace {
        self.scaling.pace()
    }

    /// Returns the reason that holds the arm; `None` if it is not held.
    #[must_use]
    pub fn held_by(&self) -> Option<Reason> {
        match self.pace() {
            Pace::Held if cfg!(feature = "programs") && self.paused => Some(Reason::ProgramPaused),
            Pace::Held => Some(Reason::HeldByScaling),
            Pace::Begin | Pace::Free => None,
        }
    }

    /// Updates the pace by a state, with the arguments of [`Scaling::observe`]. Returns `true` if
    /// [`held_by`](Self::held_by) has changed.
    pub fn observe(&mut self, scaling: f32, slider: Option<f32>, dt: Duration, moving: impl FnOnce() -> bool) -> bool {
        let before = self.pace() == Pace::Held;
        let paused = cfg!(feature = "programs") && core::mem::take(&mut self.paused);
        let held = self.scaling.observe(&self.config, scaling, slider, dt, moving) == Pace::Held;
        held != before || (held && paused)
    }

    /// Updates the pace by a state during a pause, `dt` after the one before. Returns `true` if
    /// [`held_by`](Self::held_by) has changed.
    pub fn observe_paused(&mut self, dt: Duration) -> bool {
        let before = self.held_by();
        self.paused = true;
        self.scaling.observe_paused(dt);
        self.held_by() != before
    }

    /// Returns `true` if the speed scaling or a pause has held the arm for longer than [`ScalingConfig::held_timeout`].
    #[must_use]
    pub fn is_overdue(&self) -> bool {
        self.scaling.is_overdue(&self.config)
    }

    /// Returns `true` while zero velocity is sent, because a speed scaling of 0 or a pause holds the arm.
    ///
    /// # Errors
    /// [`Reason::HeldByScaling`] after [`ScalingConfig::held_timeout`].
    pub fn is_held(&self) -> Result<bool, Reason> {
        if self.is_overdue() { Err(Reason::HeldByScaling) } else { Ok(self.pace() == Pace::Held) }
    }

    /// Returns the speed scaling for the control law: in [`Pace::Begin`] the share of its speeds that was sent last, so
    /// that the law's time runs as fast as the arm is commanded to move; afterwards the `reported` one.
    #[must_use]
    pub fn scaling_of_law(&self, reported: Option<f32>) -> Option<f32> {
        if self.pace() == Pace::Begin { Some(self.share) } else { reported }
    }

    /// Returns the speeds to send for those that the control law wants: at the beginning [`ScalingConfig::begin_speed`]
    /// at most.
    pub fn limit<const N: usize>(&mut self, wanted: JointVelocities<N>) -> JointVelocities<N> {
        if self.pace() != Pace::Begin {
            return wanted;
        }
        let (fastest, most) = (wanted.max_abs(), self.config.begin_speed);
        self.share = if fastest > most { most / fastest } else { 1.0 };
        wanted.map(|v| v * self.share)
    }

    /// Returns the state of the pacer, without the thresholds, for one of the recorder's checkpoints.
    #[cfg(feature = "record")]
    #[must_use]
    pub const fn saved(&self) -> (Scaling, f32, bool) {
        let Self { config: _, scaling, share, paused } = self;
        (*scaling, *share, *paused)
    }

    /// Restores a state of the pacer that was [saved](Self::saved) in one of the recorder's checkpoints.
    #[cfg(feature = "record")]
    pub const fn resume(&mut self, (scaling, share, paused): (Scaling, f32, bool)) {
        (self.scaling, self.share, self.paused) = (scaling, share, paused);
    }
}
