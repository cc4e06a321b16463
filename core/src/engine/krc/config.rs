//! The thresholds of a session with a KRC, with their defaults.

use core::net::IpAddr;

use super::control_schemes::{AddedLimits, Control, TaskFrame};
use super::krl_convention::KrlConvention;
use super::krl_variables::KrlSet;
use super::tracking_error_limits::Tracking;
use crate::command::outputs::OutputsConfig;
use crate::command::{Limits, MAX_SOURCES};
use crate::engine::config::{Config, ConfigError, Conflict, Options};
use crate::engine::cycle::{CycleConfig, PendantSight};
use crate::engine::stopping_distance::Coast;
use crate::link::LinkTuning;
use crate::mode::{ModeConfig, ModeTuning, OperatorConfig, StandstillConfig};
use crate::robot::{BadValue, OfMotions, settings, wording};
use outrigger_wire::fri::{DEFAULT_PORT, JOINTS, KrlVariables};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};
use outrigger_wire::time::Duration;

/// The shortest period of measurements that FRI has.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest period of measurements that FRI has.
const LONGEST: Duration = Duration::from_millis(100);

/// The limits of the arm itself, at a scale of 1. No configuration makes a command exceed them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ArmLimits {
    /// The largest angle of each joint from zero, in both directions \[rad\].
    pub position: [f32; JOINTS],
    /// The distance that commands keep from the largest angle \[rad\]. Default half a degree.
    pub margin: f32,
    /// The highest speed of each joint of the arm \[rad/s\].
    pub velocity: [f32; JOINTS],
    /// The highest acceleration of each joint of the arm \[rad/s²\].
    pub acceleration: [f32; JOINTS],
    /// The deceleration of each joint of the arm in a stop \[rad/s²\].
    pub braking: [f32; JOINTS],
}

impl Default for ArmLimits {
    /// Returns the limits of an LWR 4+ (`core/docs/protocol/kuka-fri.md A11`): the lower of the published speeds;
    /// braking at 5 rad/s², which is not published.
    fn default() -> Self {
        let radians = |degrees: [f32; JOINTS]| degrees.map(f32::to_radians);
        Self {
            position: radians([170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 170.0]),
            margin: 0.5_f32.to_radians(),
            velocity: radians([110.0, 110.0, 128.0, 128.0, 204.0, 184.0, 184.0]),
            acceleration: radians([1200.0, 1200.0, 1600.0, 1600.0, 2500.0, 4400.0, 4400.0]),
            braking: [5.0; JOINTS],
        }
    }
}

impl ArmLimits {
    /// Checks that every limit of the arm is in its range.
    ///
    /// # Errors
    /// Returns the first field that is out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        let positive = |values: &[f32; JOINTS]| values.iter().all(|value| value.is_finite() && *value > 0.0);
        let each = "a finite number above 0 for every joint";
        BadValue::unless(positive(&self.position), "arm.position", each)?;
        BadValue::unless(positive(&self.velocity), "arm.velocity", each)?;
        BadValue::unless(positive(&self.acceleration), "arm.acceleration", each)?;
        BadValue::unless(positive(&self.braking), "arm.braking", each)?;
        let braked = self.braking.iter().zip(&self.acceleration).all(|(braking, most)| braking <= most);
        BadValue::unless(braked, "arm.braking", "at most arm.acceleration")?;
        BadValue::unless((0.0..=0.5).contains(&self.margin), "arm.margin", "0 to 0.5 rad")
    }
}

/// The configuration of an engine for a KRC.
pub type KrcConfig = Config<7, KrcOptions>;

settings! {
    /// The settings that only an engine for a KRC has.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct KrcOptions in "" {
        /// The UDP port of this device that receives measurements. Default 49938.
        pub port nowhere: u16 = DEFAULT_PORT,
        /// The KRC's address; without one, the first sender of a measurement is accepted.
        pub address nowhere: Option<IpAddr> = None,
        /// The convention by which the KRL program is requested to start and to stop.
        pub handshake: KrlConvention = KrlConvention::default(),
        /// The time without a measurement, at least ten periods, after which the KRC counts as lost. Default 100 ms.
        pub silence: Duration [0.01 to 10.0 "s"] = Duration::from_millis(100),
        /// The counter of the first command that is sent to the KRC.
        pub first_counter nowhere: u16 = 1,
        /// The control scheme that is in force at the start.
        pub control nowhere: Control = Control::Position,
        /// Add commands to the motion that the KRL program makes by itself. Laws see the arm without that motion, as if
        /// the program held it where it was in the first measurement, and their commands are an offset to the motion.
        /// Limits apply to both together. Without it, commanding holds the arm against the program's own motion.
        /// Default false.
        pub superpose: bool = false,
        /// The task frame that the KRL program has set: the frame of the Jacobian and of the force in a measurement.
        pub task_frame: TaskFrame = TaskFrame::default(),
        /// The limits of the arm itself. The common limits, which apply to laws, must be within them.
        pub arm nowhere: ArmLimits = ArmLimits::default(),
        /// The largest permitted distance of the arm's target from its measured position: of each joint \[rad\] and of
        /// the tool \[m, rad\].
        pub tracking nowhere: Tracking = Tracking::default(),
        /// The limits of the torques \[Nm\] or forces \[N\] that our law adds to the KRC's own control in each cycle.
        pub added nowhere: OfMotions<AddedLimits> = OfMotions::<AddedLimits>::default(),
        /// The variables that the KRL program reads from the first command on, until they are changed. The handshake overwrites
        /// those that it uses.
        pub variables nowhere: KrlVariables = KrlVariables::default(),
        /// The variables that the KRL program copies to the variable of the same kind and index that it sends, which
        /// confirms them.
        pub echoed nowhere: KrlSet = KrlSet::NONE,
        /// The timeouts for setting variables of the KRL program.
        pub outputs nowhere: OutputsConfig = OutputsConfig::default(),
    }
}

impl KrcOptions {
    /// Returns the time without a measurement after which a KRC of this period counts as lost.
    pub(super) fn silence_of(&self, period: Duration) -> Duration {
        self.silence.max(period.times(10))
    }
}

impl Options for KrcOptions {
    const KIND: u8 = b'K';
}

impl Default for KrcConfig {
    fn default() -> Self {
        let arm = ArmLimits::default();
        let lowest = arm.position.map(|limit| -limit);
        Self {
            peer: KrcOptions::default(),
            link: LinkTuning::default(),
            mode: ModeTuning::default(),
            standstill: StandstillConfig::default(),
            limits: Limits {
                position_min: JointPositions(lowest),
                position_max: JointPositions(arm.position),
                velocity: JointVelocities([1.0; JOINTS]),
                acceleration: JointAccelerations([2.0; JOINTS]),
                braking: JointAccelerations(arm.braking),
                ..Limits::default()
            },
            sources: [None; MAX_SOURCES],
            operator: OperatorConfig::default(),
        }
    }
}

impl KrcConfig {
    /// Checks that every field of the configuration for a KRC is in its range, for every period of FRI, and that no
    /// limit of speed, acceleration or braking exceeds the arm's own.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let mut first = Ok(());
        self.conflicts(|conflict| first = first.and(Err(ConfigError::Conflict(conflict))));
        first
    }

    /// Reports each of the limits of speed, acceleration and braking that exceeds the arm's own, with the first joint
    /// that it concerns.
    pub fn conflicts(&self, mut tell: impl FnMut(Conflict)) {
        let (limits, arm) = (&self.limits, &self.peer.arm);
        let mut at_most = |key, values: &[f32; JOINTS], most: &[f32; JOINTS], unit, other| {
            let mut pairs = (0_u8..).zip(values.iter().zip(most));
            if let Some((joint, (found, most))) = pairs.find(|(_, (found, most))| found > most) {
                let [key, unit, other, why] = [key, unit, other, "what the arm does"].map(wording);
                tell(Conflict { key, joint, found: *found, most: *most, unit, other, why });
            }
        };
        at_most("limits.velocity", &limits.velocity.0, &arm.velocity, "rad/s", "arm.velocity");
        at_most("limits.acceleration", &limits.acceleration.0, &arm.acceleration, "rad/s²", "arm.acceleration");
        at_most("limits.expert.braking", &limits.braking.0, &arm.braking, "rad/s²", "arm.braking");
    }

    /// Returns the time for which a KRC of this period is assumed to continue by itself when answers are missing: as
    /// long as missing measurements are tolerated. The time that it really bridges is not published
    /// (`core/docs/protocol/kuka-fri.md A11`).
    pub(super) fn bridged(&self, period: Duration) -> Duration {
        period.times(u64::from(self.of(period).link.max_misses).saturating_add(1))
    }

    /// Returns the worst-case stopping distance of the arm on a KRC of this period, for any fault that can be detected:
    /// a measurement or a sensor's reading becomes stale, then the target is braked, as scaled by `friStart`.
    #[must_use]
    pub fn worst_coast(&self, period: Duration) -> Coast<JOINTS> {
        let CycleConfig { link, mode, .. } = self.of(period);
        let seen = link.stale_after.max(mode.state_timeout).max(self.oldest_reading(period));
        let time = seen + period.times(2) + self.bridged(period) + self.limits.reaction;
        let mut limits = self.limits;
        let arms = self.peer.arm.braking.iter().zip(&self.peer.arm.velocity);
        for ((braking, v), (most, fastest)) in limits.braking.0.iter_mut().zip(&limits.velocity.0).zip(arms) {
            // A lower scale brakes less, down to the one that forbids the speed.
            *braking = braking.min(most * (v / fastest).min(1.0));
        }
        Coast::of(&limits, time, f32::INFINITY)
    }

    /// Checks that every field of the configuration for a KRC is in its range, for every period of FRI.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check_ranges(&self) -> Result<(), ConfigError> {
        let value = ConfigError::of;
        let KrcOptions { control, arm, tracking, superpose, variables, outputs, .. } = &self.peer;
        self.peer.check_ranges().map_err(value("fri"))?;
        let joints = !(*superpose && matches!(control, Control::ToolImpedance(_)));
        let schemes = "false with control = \"tool-impedance\": joints can be on top of a motion, frames not";
        BadValue::unless(joints, "superpose", schemes).map_err(value("fri"))?;
        control.check().map_err(value("fri"))?;
        arm.check().map_err(value("fri"))?;
        #[cfg(feature = "motions")]
        self.peer.added.check().map_err(value("limits"))?;
        #[cfg(feature = "motions")]
        self.peer.added.check_constant(control).map_err(value("limits"))?;
        let finite = variables.reals.iter().all(|real| real.is_finite());
        BadValue::unless(finite, "variables", "finite numbers").map_err(value("fri"))?;
        if cfg!(feature = "outputs") {
            outputs.check_ranges().map_err(value("outputs"))?;
        }
        self.check_given(SHORTEST)?;
        for period in [SHORTEST, LONGEST] {
            self.check_common(&self.of(period))?;
        }
        tracking.check_ranges().map_err(value("fri"))
    }

    /// Returns the thresholds of the control cycle for a KRC of this period.
    pub(super) fn of(&self, period: Duration) -> CycleConfig {
        let mode = self.mode.of(period);
        let needed = period.times(u64::from(mode.good_cycles));
        let (usual, longest) = (ModeConfig::new(period).arming_timeout, Duration::from_secs(60));
        CycleConfig {
            link: self.link.datagram(period),
            mode: ModeConfig {
                mirrors: true,
                // The program polls, and waits for its own rating of the link.
                arming_timeout: self.mode.arming_timeout.unwrap_or((usual + needed).min(longest)),
                rest_window: self.standstill.window,
                ..mode
            },
            following: self.mode.following.of(period),
            scaling: self.mode.scaling,
            pendant: self.mode.pendant,
            sight: PendantSight::Always,
            hold: Duration::ZERO,
            #[cfg(feature = "programs")]
            most_feedback: f32::INFINITY,
        }
    }

    /// Returns the thresholds of the arm's standstill, with a gap that even measurements of the longest period do not
    /// exceed.
    pub(super) fn rest(&self) -> StandstillConfig {
        StandstillConfig { max_gap: self.standstill.max_gap.max(LONGEST.times(2)), ..self.standstill }
    }
}

/// Returns the period in a measurement; `None` if it is no period of FRI: 1 … 100 ms, in whole microseconds.
pub(super) fn period_of(seconds: f32) -> Option<Duration> {
    let micros = seconds * 1e6 + 0.5;
    (1_000.0..100_001.0).contains(&micros).then_some(Duration::from_micros(micros as u64))
}
