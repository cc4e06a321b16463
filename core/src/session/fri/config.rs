//! Every threshold of a session with a KRC, with its default.

use core::net::IpAddr;

use super::control::{Control, TaskFrame};
use super::tracking::Tracking;
use crate::command::{Limits, MAX_SOURCES, SourceConfig, Sources, SourcesError};
use crate::link::LinkConfig;
use crate::mode::{ModeConfig, OperatorConfig, StandstillConfig};
use crate::robot::{BadValue, JointAccelerations, JointPositions, JointVelocities, Range, seconds};
use crate::session::coast::Coast;
use crate::session::config::{ConfigError, Conflict, LinkTuning, ModeTuning};
use crate::session::cycle::CycleConfig;
use crate::time::Duration;
use crate::wire::fri::JOINTS;

/// The shortest period of FRI.
const SHORTEST: Duration = Duration::from_millis(1);
/// The longest.
const LONGEST: Duration = Duration::from_millis(100);

/// What the arm itself can do, at a scale of 1. No configuration makes a command exceed it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct ArmLimits {
    /// Farthest from zero, either way \[rad\].
    pub position: [f32; JOINTS],
    /// Distance that is kept from it \[rad\]. Default half a degree.
    pub margin: f32,
    /// Highest speed \[rad/s\].
    pub velocity: [f32; JOINTS],
    /// Highest acceleration \[rad/s²\].
    pub acceleration: [f32; JOINTS],
    /// Deceleration of a stop \[rad/s²\].
    pub braking: [f32; JOINTS],
}

impl Default for ArmLimits {
    /// An LWR 4+ (`kuka-fri` A11): the lower of the published speeds; braking at 5 rad/s², which nobody has published.
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
    /// Whether every limit is one.
    ///
    /// # Errors
    /// The first field that is not.
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

/// Everything a session with a KRC can be told. Thresholds that depend on the period, which the KRC chooses, are given
/// as tuning of their defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct FriConfig {
    /// The KRC's address; where there is none, the first that sends a measurement is believed.
    pub peer: Option<IpAddr>,
    /// A KRC silent for this long, or for ten periods, is gone. Default 100 ms.
    pub silence: Duration,
    /// Counter of the first command.
    pub first_counter: u16,
    /// Control scheme at the start.
    pub control: Control,
    /// What the KRL program has made of the task frame.
    pub task_frame: TaskFrame,
    /// Link monitor, over [`LinkConfig::datagram`].
    pub link: LinkTuning,
    /// Mode machine.
    pub mode: ModeTuning,
    /// What counts as rest.
    pub standstill: StandstillConfig,
    /// What laws may ask for: inside of what the arm can do.
    pub limits: Limits<JOINTS>,
    /// What the arm can do.
    pub arm: ArmLimits,
    /// How far the target may be from what is measured.
    pub tracking: Tracking,
    /// Sensors.
    pub sources: [Option<SourceConfig>; MAX_SOURCES],
    /// Where an operator speaks beside messages: KRL truth values, bit 0 `BOOL[1]`, pins, and a request at the start.
    pub operator: OperatorConfig,
}

impl Default for FriConfig {
    fn default() -> Self {
        let arm = ArmLimits::default();
        let lowest = arm.position.map(|limit| -limit);
        Self {
            peer: None,
            silence: Duration::from_millis(100),
            first_counter: 1,
            control: Control::Position,
            task_frame: TaskFrame::default(),
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
            arm,
            tracking: Tracking::default(),
            sources: [None; MAX_SOURCES],
            operator: OperatorConfig::default(),
        }
    }
}

impl FriConfig {
    /// Whether every field is in its range, for every period there is, and none stands against another.
    ///
    /// # Errors
    /// The first that is not, or does.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let mut first = Ok(());
        self.conflicts(|conflict| first = first.and(Err(ConfigError::Conflict(conflict))));
        first
    }

    /// Tells every limit beyond what the arm itself does, by its first joint.
    pub fn conflicts(&self, mut tell: impl FnMut(Conflict)) {
        let Self { limits, arm, .. } = self;
        let mut at_most = |key, values: &[f32; JOINTS], most: &[f32; JOINTS], unit, other| {
            let mut pairs = (0_u8..).zip(values.iter().zip(most));
            if let Some((joint, (found, most))) = pairs.find(|(_, (found, most))| found > most) {
                tell(Conflict { key, joint, found: *found, most: *most, unit, other, why: "what the arm does" });
            }
        };
        at_most("limits.velocity", &limits.velocity.0, &arm.velocity, "rad/s", "arm.velocity");
        at_most("limits.acceleration", &limits.acceleration.0, &arm.acceleration, "rad/s²", "arm.acceleration");
        at_most("limits.braking", &limits.braking.0, &arm.braking, "rad/s²", "arm.braking");
    }

    /// For how long a KRC of this period is taken to go on by itself when answers are missing: as long as missing
    /// measurements are forgiven. What it really bridges is not published (`kuka-fri` A11).
    pub(super) fn bridged(&self, period: Duration) -> Duration {
        period.times(u64::from(self.of(period).link.max_misses).saturating_add(1))
    }

    /// How far the arm coasts at worst beside a KRC of this period, whatever we can see going wrong: a measurement or a
    /// sensor's reading grows stale, then the target is braked, as `friStart` scales it.
    #[must_use]
    pub fn worst_coast(&self, period: Duration) -> Coast<JOINTS> {
        let CycleConfig { link, mode, .. } = self.of(period);
        let silent = self.sources.iter().flatten().map(|source| {
            // What is bridged still moves the arm.
            source.max_age + period.times(u64::from(source.bridge_cycles))
        });
        let seen = silent.fold(link.stale_after.max(mode.state_timeout), Duration::max);
        let time = seen + period.times(2) + self.bridged(period) + self.limits.reaction;
        let mut limits = self.limits;
        let arms = self.arm.braking.iter().zip(&self.arm.velocity);
        for ((braking, v), (most, fastest)) in limits.braking.0.iter_mut().zip(&limits.velocity.0).zip(arms) {
            // Less scale brakes less, down to the one that forbids the speed.
            *braking = braking.min(most * (v / fastest).min(1.0));
        }
        Coast::of(&limits, time, f32::INFINITY)
    }

    /// Range of [`silence`](Self::silence).
    pub const SILENCE: Range<Duration> = seconds!(0.01, 10.0);

    /// Whether every field is in its range, for every period there is.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check_ranges(&self) -> Result<(), ConfigError> {
        let value = |section| move |error| ConfigError::Value { section, error };
        Self::SILENCE.check(self.silence, "silence").map_err(value("fri"))?;
        self.control.check().map_err(value("fri"))?;
        self.arm.check().map_err(value("fri"))?;
        for period in [SHORTEST, LONGEST] {
            let CycleConfig { link, mode, following, scaling, .. } = self.of(period);
            link.check().map_err(value("link"))?;
            mode.check().map_err(value("mode"))?;
            following.check().map_err(value("mode"))?;
            scaling.check().map_err(value("mode"))?;
        }
        self.standstill.check().map_err(value("mode"))?;
        self.limits.check().map_err(ConfigError::Limits)?;
        self.tracking.check().map_err(value("fri"))?;
        self.operator.check().map_err(value("operator"))?;
        self.watched().map(|_| ()).map_err(ConfigError::Sources)
    }

    /// The thresholds for a KRC of this period.
    pub(super) fn of(&self, period: Duration) -> CycleConfig {
        let mode = self.mode.of(period);
        let needed = period.times(u64::from(mode.good_cycles));
        let longest = Duration::from_secs(60);
        CycleConfig {
            link: self.link.over(LinkConfig::datagram(period)),
            mode: ModeConfig {
                mirrors: true,
                // The program polls, and waits for its own rating of the link.
                arming_timeout: self.mode.arming_timeout.unwrap_or((mode.arming_timeout + needed).min(longest)),
                rest_window: self.standstill.window,
                ..mode
            },
            following: self.mode.following.of(period),
            scaling: self.mode.scaling,
            pendant: self.mode.pendant,
            hold: Duration::ZERO,
        }
    }

    /// What counts as rest, whatever the period: between two measurements of the longest one nothing is missing.
    pub(super) fn rest(&self) -> StandstillConfig {
        StandstillConfig { max_gap: self.standstill.max_gap.max(LONGEST.times(2)), ..self.standstill }
    }

    /// How long a KRC of this period may be silent.
    pub(super) fn silence_of(&self, period: Duration) -> Duration {
        self.silence.max(period.times(10))
    }

    pub(super) fn watched(&self) -> Result<Sources, SourcesError> {
        let mut configs: heapless::Vec<SourceConfig, MAX_SOURCES> = heapless::Vec::new();
        for source in self.sources.iter().flatten() {
            configs.push(*source).map_err(|_| SourcesError::TooMany)?;
        }
        Sources::new(&configs)
    }
}

/// The period a measurement names, where FRI has such a one: 1 … 100 ms, in whole microseconds.
pub(super) fn period_of(seconds: f32) -> Option<Duration> {
    let micros = seconds * 1e6 + 0.5;
    (1_000.0..100_001.0).contains(&micros).then_some(Duration::from_micros(micros as u64))
}
