//! Every threshold of a session, with its default.

use outrigger_urscript::Decimal;

use super::coast::Coast;
use super::path::{TextConfig, TextPath};
use crate::client::rtde::{Claim, Claims};
use crate::command::outputs::OutputsConfig;
use crate::command::{Limits, LimitsError, MAX_SOURCES, PathTiming, SourceConfig, SourceId, Sources, SourcesError};
use crate::link::{Grade, GradeLimits, GradeTable, LinkConfig};
use crate::mode::{FollowingConfig, ModeConfig, OperatorConfig, PendantConfig, ScalingConfig, StandstillConfig};
use crate::robot::{BadValue, Generation, Pose, Range, RobotModel, SoftwareVersion, seconds};
use crate::time::Duration;

/// Everything a session can be told. Thresholds that depend on the controller's period, which is only known once it is
/// connected, are given as [tuning](LinkTuning) of their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Config {
    /// Links and waits.
    pub connect: ConnectConfig,
    /// Software of the controller, where its own version message is not to be relied on. It then decides the form of
    /// every text.
    pub software: Option<SoftwareVersion>,
    /// Model of the arm, whose nominal kinematics are used where the controller sends none.
    pub model: Option<RobotModel>,
    /// Tool centre point in the flange frame, where the controller's own (3.1 and later) is not to be used.
    pub tcp: Option<Pose>,
    /// Link monitor.
    pub link: LinkTuning,
    /// Mode machine.
    pub mode: ModeTuning,
    /// What counts as rest.
    pub standstill: StandstillConfig,
    /// What the arm may do.
    pub limits: Limits<6>,
    /// Sensors.
    pub sources: [Option<SourceConfig>; MAX_SOURCES],
    /// Form of the text.
    pub text: TextConfig,
    /// Where an operator speaks beside messages: the robot's digital inputs, pins, and a request at the start.
    pub operator: OperatorConfig,
    /// How long setting an output may take.
    pub outputs: OutputsConfig,
    /// The sensor, of six channels \[N, Nm\], whose readings a program gets as its force; [`Claim::Force`] has to be claimed.
    ///
    /// Every state is answered by the newest reading that the sensor's judge lets pass. Where there is none, a force of zero
    /// goes out once and then nothing until there is one again: an old force is never repeated, and `rtde_set_watchdog`
    /// on `external_force_torque` in that program pauses or stops it.
    pub force: Option<SourceId>,
}

impl Config {
    /// Whether every field is in its range, for controllers of either period, and none stands against another.
    ///
    /// # Errors
    /// The first that is not, or does.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let mut first = Ok(());
        self.conflicts(|conflict| first = first.and(Err(ConfigError::Conflict(conflict))));
        first
    }

    /// Whether every field is in its range, for controllers of either period.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check_ranges(&self) -> Result<(), ConfigError> {
        let value = |section| move |error| ConfigError::Value { section, error };
        self.connect.check().map_err(value("connect"))?;
        for generation in [Generation::Cb3, Generation::ESeries] {
            let period = Duration::from_micros(generation.period_micros());
            self.link.of(period).check().map_err(value("link"))?;
            self.mode_config(period).check().map_err(value("mode"))?;
            self.mode.following.of(period).check().map_err(value("mode"))?;
            // An arm whose text has run out stops by itself, and is not to be commanded on.
            let outlasted = self.link.of(period).stale_after.max(self.mode.of(period).state_timeout) <= self.text.hold;
            BadValue::unless(outlasted, "hold", "at least stale_after and state_timeout, 0.04 s each by default")
                .map_err(value("text"))?;
        }
        self.mode.scaling.check().map_err(value("mode"))?;
        self.mode.pendant.check().map_err(value("mode"))?;
        self.standstill.check().map_err(value("mode"))?;
        self.limits.check().map_err(ConfigError::Limits)?;
        self.text.check(self.software).map_err(value("text"))?;
        self.operator.check().map_err(value("operator"))?;
        self.outputs.check().map_err(value("outputs"))?;
        let force = |source: &SourceConfig| Some(source.id) == self.force && source.channels == 6;
        let fed = self.force.is_none() || self.sources.iter().flatten().any(force);
        let field = BadValue::unless(fed, "force", "a source of six channels");
        let claimed = self.force.is_none() || self.connect.claims.has(Claim::Force);
        field.map_err(value("outputs"))?;
        BadValue::unless(claimed, "claim", "force among them, where a force is given").map_err(value("outputs"))?;
        self.sources().map(|_| ()).map_err(ConfigError::Sources)
    }

    /// The mode machine's thresholds for a controller of this period.
    #[must_use]
    pub fn mode_config(&self, period: Duration) -> ModeConfig {
        ModeConfig { rest_window: self.standstill.window, ..self.mode.of(period) }
    }

    /// Monitors for the configured sensors.
    pub(super) fn sources(&self) -> Result<Sources, SourcesError> {
        let mut configs: heapless::Vec<SourceConfig, MAX_SOURCES> = heapless::Vec::new();
        for source in self.sources.iter().flatten() {
            configs.push(*source).map_err(|_| SourcesError::TooMany)?;
        }
        Sources::new(&configs)
    }

    /// Whether a stop at the pendant can be seen, where states come `by_rtde` in this period: the state of every cycle has to
    /// tell of the program, and one command has to outlast the cycles that are needed to look. Where not, or where the
    /// program flickers between two texts, the next text overrides such a stop.
    #[must_use]
    pub fn sees_pendant_stops(&self, by_rtde: bool, period: Duration) -> bool {
        let PendantConfig { stops, left, .. } = self.mode.pendant;
        stops && by_rtde && period.times(u64::from(left).saturating_add(1)) <= self.text.hold
    }

    /// Tells every limit that what is sent, or the controller by itself, would not keep, by its first joint.
    pub fn conflicts(&self, mut tell: impl FnMut(Conflict)) {
        let TextConfig { acceleration, stop_acceleration, own_stop, .. } = self.text;
        let mut at_most = |key, values: &[f32; 6], most: f32, other, why| {
            if let Some((joint, found)) = (0_u8..).zip(values).find(|(_, found)| **found > most) {
                tell(Conflict { key, joint, found: *found, most, unit: "rad/s²", other, why });
            }
        };
        let braking = self.limits.braking.as_array();
        let why = "the stop that is sent";
        at_most("limits.braking", braking, stop_acceleration, "session.stop_acceleration", why);
        if self.text.leaves_stops_to_the_controller(self.software) {
            let why = "what the controller's own stop is taken to reach";
            at_most("limits.braking", braking, own_stop, "session.own_stop", why);
        }
        let why = "the ramp of each speedj, or the arm lags behind what was approved";
        at_most("limits.acceleration", self.limits.acceleration.as_array(), acceleration, "session.acceleration", why);
    }

    /// How text reaches a controller with this software, at its bounds, where its states have this period.
    #[must_use]
    pub fn path_timing(&self, software: SoftwareVersion, period: Duration) -> PathTiming {
        let answered = period + self.link.of(period).margin;
        // A state is answered at this age by a clock that leaves out the shortest way; both ways together are bounded by
        // the acknowledgement, which is looked at once in a cycle. Then the controller takes the text up in its next one.
        let latency = answered.times(2) + period.times(2);
        // One-line programs end a cycle late. Without t, `sleep` begins where the speed is reached.
        let ramp = self.limits.longest_step.min(latency + self.text.hold) + period;
        let ramp = if TextPath::omits_time(software) { ramp } else { Duration::ZERO };
        PathTiming { latency, hold: self.text.hold + period + ramp }
    }

    /// The limits that hold on such a controller ([`Limits::carried_by`]).
    #[must_use]
    pub fn limits_on(&self, software: SoftwareVersion, period: Duration) -> Limits<6> {
        self.limits.carried_by(self.path_timing(software, period))
    }

    /// How far the arm coasts at worst on a controller with this software, whatever we can see going wrong: a state or a
    /// sensor's reading grows stale, and the last command, sent just before, holds to its end.
    #[must_use]
    pub fn worst_coast(&self, software: SoftwareVersion) -> Coast<6> {
        let period = period_of(software);
        let PathTiming { latency, hold } = self.path_timing(software, period);
        let stale = self.link.of(period).stale_after.max(self.mode.of(period).state_timeout);
        let silent = self.sources.iter().flatten().map(|source| {
            // What is bridged still moves the arm.
            source.max_age + period.times(u64::from(source.bridge_cycles))
        });
        let seen = silent.fold(stale, Duration::max) + period;
        Coast::of(&self.limits, seen + latency + hold + self.limits.reaction, self.stop_on(software))
    }

    /// How far the arm coasts at worst when this device itself dies: the last command, which may still be on its way, holds
    /// to its end; `None` where nothing ends it then, because the text is bare and the arm is not recorded to stop by itself.
    #[must_use]
    pub fn coast_without_us(&self, software: SoftwareVersion) -> Option<Coast<6>> {
        let PathTiming { latency, hold } = self.path_timing(software, period_of(software));
        let ends = TextPath::new(self.text, software).ends_without_us();
        ends.then(|| Coast::of(&self.limits, latency + hold + self.limits.reaction, self.stop_on(software)))
    }

    /// The weakest stop \[rad/s²\] on a controller with this software.
    fn stop_on(&self, software: SoftwareVersion) -> f32 {
        let TextConfig { stop_acceleration, own_stop, .. } = self.text;
        let own = self.text.leaves_stops_to_the_controller(Some(software));
        if own && own_stop < stop_acceleration { own_stop } else { stop_acceleration }
    }
}

fn period_of(software: SoftwareVersion) -> Duration {
    Duration::from_micros(software.generation().period_micros())
}

/// A limit that something else in the configuration would break.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Conflict {
    /// The limit's name in configurations.
    pub key: &'static str,
    /// The joint, from 0.
    pub joint: u8,
    /// Its value.
    pub found: f32,
    /// The most that would be kept.
    pub most: f32,
    /// The unit of both.
    pub unit: &'static str,
    /// Name of the other setting.
    pub other: &'static str,
    /// What the other setting is, as a clause.
    pub why: &'static str,
}

impl core::fmt::Display for Conflict {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { key, joint, found, most, unit, other, why } = self;
        let joint = joint.saturating_add(1);
        let (found, most) = (Decimal(*found), Decimal(*most));
        write!(f, "{key} of joint {joint}: found {found} {unit}, expected at most {most}, {other}: {why}")
    }
}

/// A configuration that cannot be run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConfigError {
    /// A value outside its range.
    Value {
        /// Part of [`Config`].
        section: &'static str,
        /// The field and what it must be.
        error: BadValue,
    },
    /// Limits that cannot be held.
    Limits(LimitsError),
    /// A limit that would not be kept.
    Conflict(Conflict),
    /// Sensors that cannot be watched.
    Sources(SourcesError),
    /// A memory handed in is too small.
    Memory {
        /// Field of [`Memory`](super::Memory).
        field: &'static str,
        /// Bytes it has.
        found: usize,
        /// Bytes it needs.
        expected: usize,
    },
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Value { section, error } => write!(f, "{section}.{error}"),
            Self::Limits(error) => write!(f, "limits.{error}"),
            Self::Conflict(conflict) => write!(f, "{conflict}"),
            Self::Sources(error) => write!(f, "sources: {error}"),
            Self::Memory { field, found, expected } => {
                write!(f, "memory.{field}: {found} bytes, expected at least {expected}")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

/// Ports of the controller, as it numbers them; a port base is applied by the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Ports {
    /// Primary interface: version, robot messages, robot state. Default 30001.
    pub primary: Option<u16>,
    /// Secondary interface, tried where the primary one does not answer. Default 30002.
    pub secondary: Option<u16>,
    /// Real-time interface: the way for text, and the state of every cycle unless RTDE gives it. Default 30003.
    pub realtime: u16,
    /// Real-Time Data Exchange. Default 30004.
    pub rtde: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self { primary: Some(30_001), secondary: Some(30_002), realtime: 30_003, rtde: 30_004 }
    }
}

/// Where the state of every cycle comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum StatesFrom {
    /// RTDE where the software has it (from 3.4) and there is memory for it; the real-time interface where it has not,
    /// where the service is closed, and where it lacks what is needed.
    #[default]
    Auto,
    /// The real-time interface.
    Realtime,
    /// RTDE, or there is no session.
    Rtde,
}

/// How outputs are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum OutputsBy {
    /// By those inputs of RTDE that are claimed and ours, else by text.
    #[default]
    Auto,
    /// By text.
    Text,
    /// By inputs of RTDE, or not at all.
    Rtde,
    /// Not at all.
    Off,
}

/// How a session connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct ConnectConfig {
    /// The ports.
    pub ports: Ports,
    /// Whether there is no session without the primary or secondary interface. Without either, nothing but the packet's
    /// own program state can prove that commands are accepted. Default `false`.
    pub primary_required: bool,
    /// Where states come from. Default: RTDE where there is one.
    pub states: StatesFrom,
    /// How outputs are set. Default: by text, as nothing is claimed.
    pub outputs: OutputsBy,
    /// Inputs of RTDE that are claimed, where states come from there; the memory handed in has to have their recipes
    /// ([`ClaimedInputs`](crate::client::rtde::ClaimedInputs)). Default: none.
    pub claims: Claims,
    /// Longest wait for a connection. Default 1 s.
    pub open_timeout: Duration,
    /// Longest wait for the first understood message on a connection. Default 2 s.
    pub first_message_timeout: Duration,
    /// A link silent for this long is given up. Default 2 s.
    pub silence_timeout: Duration,
    /// Wait after the first failed attempt; doubled after each further one. Default 250 ms.
    pub back_off_min: Duration,
    /// Longest wait between two attempts. Default 8 s.
    pub back_off_max: Duration,
    /// A session that lasted this long makes the next back-off start anew. Default 5 s.
    pub settled_after: Duration,
    /// Bytes un-acknowledged for this long make the link be reset. Default 500 ms.
    pub abort_after: Duration,
}

impl Default for ConnectConfig {
    fn default() -> Self {
        Self {
            ports: Ports::default(),
            primary_required: false,
            states: StatesFrom::Auto,
            outputs: OutputsBy::Auto,
            claims: Claims::NONE,
            open_timeout: Duration::from_secs(1),
            first_message_timeout: Duration::from_secs(2),
            silence_timeout: Duration::from_secs(2),
            back_off_min: Duration::from_millis(250),
            back_off_max: Duration::from_secs(8),
            settled_after: Duration::from_secs(5),
            abort_after: Duration::from_millis(500),
        }
    }
}

impl ConnectConfig {
    /// The wait after `failures` earlier ones.
    pub(super) fn back_off(&self, failures: u32) -> Duration {
        let factor = 1_u64.checked_shl(failures.min(62)).unwrap_or(u64::MAX);
        self.back_off_min.times(factor).min(self.back_off_max)
    }
}

impl ConnectConfig {
    /// Range of each wait.
    pub const WAIT: Range<Duration> = seconds!(0.01, 60.0);

    /// Whether every wait is one.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn check(&self) -> Result<(), BadValue> {
        let wait = |value: Duration, field| Self::WAIT.check(value, field);
        BadValue::unless(self.ports.realtime != 0, "ports.realtime", "a port number")?;
        BadValue::unless(self.ports.rtde != 0, "ports.rtde", "a port number")?;
        BadValue::unless(
            !self.primary_required || self.ports.primary.or(self.ports.secondary).is_some(),
            "primary_required",
            "false where neither ports.primary nor ports.secondary is set",
        )?;
        wait(self.open_timeout, "open_timeout")?;
        wait(self.first_message_timeout, "first_message_timeout")?;
        wait(self.silence_timeout, "silence_timeout")?;
        wait(self.back_off_min, "back_off_min")?;
        wait(self.back_off_max, "back_off_max")?;
        BadValue::unless(self.back_off_min <= self.back_off_max, "back_off_min", "at most back_off_max")?;
        wait(self.settled_after, "settled_after")?;
        wait(self.abort_after, "abort_after")
    }
}

/// Thresholds of the link monitor that differ from its defaults, which depend on the controller's period
/// ([`LinkConfig::stream`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkTuning {
    /// Grade needed to begin commanding.
    pub entry: Option<Grade>,
    /// The newest state is stale when older than this.
    pub stale_after: Option<Duration>,
    /// Consecutive misses that end commanding when exceeded.
    pub max_misses: Option<u32>,
    /// A moving command answers only a state younger than one period and this.
    pub margin: Option<Duration>,
    /// Woken this much later than was asked for, this device itself has stalled.
    pub stall: Option<Duration>,
    /// A controller clock that jumps ahead by more than this has started a new epoch.
    pub clock_jump: Option<Duration>,
    /// Limits of the grades.
    pub limits: GradeTuning,
    /// A grade rises at most once in this time.
    pub rise_time: Option<Duration>,
    /// How fast the mapped clock forgets a fast packet \[ppm\].
    pub leak_ppm: Option<u32>,
    /// States late by an equal amount for this long mean that the controller's clock stood still.
    pub shift_hold: Option<Duration>,
    /// Arrivals closer together are one burst.
    pub burst: Option<Duration>,
}

impl LinkTuning {
    /// The thresholds for a controller of this period, over a byte stream.
    #[must_use]
    pub fn of(&self, period: Duration) -> LinkConfig {
        self.over(LinkConfig::stream(period))
    }

    /// The thresholds where these are the defaults.
    #[must_use]
    pub fn over(&self, base: LinkConfig) -> LinkConfig {
        let stale_after = self.stale_after.unwrap_or(base.stale_after);
        LinkConfig {
            entry: self.entry.unwrap_or(base.entry),
            stale_after,
            max_misses: self.max_misses.unwrap_or(base.max_misses),
            margin: self.margin.unwrap_or(base.margin),
            stall: self.stall.unwrap_or(stale_after),
            clock_jump: self.clock_jump.unwrap_or(base.clock_jump),
            limits: self.limits.of(base.limits),
            rise_time: self.rise_time.unwrap_or(base.rise_time),
            leak_ppm: self.leak_ppm.unwrap_or(base.leak_ppm),
            shift_hold: self.shift_hold.unwrap_or(base.shift_hold),
            burst: self.burst.unwrap_or(base.burst),
            kind: base.kind,
            period: base.period,
        }
    }
}

/// Limits of the three grades above `Unacceptable` that differ from their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeTuning {
    /// For [`Grade::Perfect`].
    pub perfect: GradeLimitsTuning,
    /// For [`Grade::Ok`].
    pub ok: GradeLimitsTuning,
    /// For [`Grade::Bad`].
    pub bad: GradeLimitsTuning,
}

impl GradeTuning {
    fn of(&self, base: GradeTable) -> GradeTable {
        let Self { perfect, ok, bad } = self;
        GradeTable { perfect: perfect.of(base.perfect), ok: ok.of(base.ok), bad: bad.of(base.bad) }
    }
}

/// What one grade asks for where it differs from its default ([`GradeLimits`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct GradeLimitsTuning {
    /// At least this many cycles in 10 000, over 100.
    pub received: Option<u16>,
    /// Mean delay at most this.
    pub delay: Option<Duration>,
    /// Jitter at most this.
    pub jitter: Option<Duration>,
    /// Consecutive misses at most this.
    pub misses: Option<u32>,
}

impl GradeLimitsTuning {
    fn of(&self, base: GradeLimits) -> GradeLimits {
        GradeLimits {
            received: self.received.unwrap_or(base.received),
            delay: self.delay.unwrap_or(base.delay),
            jitter: self.jitter.unwrap_or(base.jitter),
            misses: self.misses.unwrap_or(base.misses),
        }
    }
}

/// Thresholds of the mode machine that differ from its defaults, which depend on the controller's period
/// ([`ModeConfig::new`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct ModeTuning {
    /// Good cycles in a row before `Command`.
    pub good_cycles: Option<u32>,
    /// Longest time in `Arming`.
    pub arming_timeout: Option<Duration>,
    /// A fact older than this is not held.
    pub evidence_age: Option<Duration>,
    /// Longest time without a timely state in `Arming` and `Command`.
    pub state_timeout: Option<Duration>,
    /// Zero velocities before the `stopj`.
    pub stop_cycles: Option<u8>,
    /// Longest wait for standstill in `Stopping`.
    pub stop_timeout: Option<Duration>,
    /// How long the accepting program may be invisible in `Command`.
    pub program_timeout: Option<Duration>,
    /// Longest time in `Monitor` without any state.
    pub offline_after: Option<Duration>,
    /// Evidence of remote control older than this is not held.
    pub remote_evidence_age: Option<Duration>,
    /// Arm although another program runs; it is ended first.
    pub take_over: bool,
    /// Arm although nothing shows that commands are accepted.
    pub acceptance_unknown: bool,
    /// Arm only with evidence of remote control.
    pub require_remote: bool,
    /// Comparison of the controller's target with what was sent.
    pub following: FollowingTuning,
    /// What the robot's speed scaling lets go out; the same for every period.
    pub scaling: ScalingConfig,
    /// Stop and pause at the pendant.
    pub pendant: PendantConfig,
}

impl ModeTuning {
    /// The thresholds for a controller of this period.
    #[must_use]
    pub fn of(&self, period: Duration) -> ModeConfig {
        let base = ModeConfig::new(period);
        ModeConfig {
            good_cycles: self.good_cycles.unwrap_or(base.good_cycles),
            arming_timeout: self.arming_timeout.unwrap_or(base.arming_timeout),
            evidence_age: self.evidence_age.unwrap_or(base.evidence_age),
            state_timeout: self.state_timeout.unwrap_or(base.state_timeout),
            stop_cycles: self.stop_cycles.unwrap_or(base.stop_cycles),
            stop_timeout: self.stop_timeout.unwrap_or(base.stop_timeout),
            program_timeout: self.program_timeout.unwrap_or(base.program_timeout),
            offline_after: self.offline_after.unwrap_or(base.offline_after),
            remote_evidence_age: self.remote_evidence_age.unwrap_or(base.remote_evidence_age),
            take_over: self.take_over,
            acceptance_unknown: self.acceptance_unknown,
            require_remote: self.require_remote,
            ..base
        }
    }
}

/// Tolerances of the comparison that differ from its defaults ([`FollowingConfig::new`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct FollowingTuning {
    /// A command shows in the target after 0 … this many cycles.
    pub delay: Option<u8>,
    /// Consecutive cycles outside before it is lost.
    pub patience: Option<u16>,
    /// The same while the scaling is only reported now and then; see [`FollowingConfig::late_patience`].
    pub late_patience: Option<u16>,
    /// Absolute tolerance \[rad/s\].
    pub tolerance: Option<f32>,
    /// Tolerance relative to the command.
    pub relative: Option<f32>,
    /// A target that comes closer at least this fast is on its ramp, not lost \[rad/s²\].
    pub ramp: Option<f32>,
    /// How fast the controller's speed scaling may rise \[1/s\].
    pub scaling_rate: Option<f32>,
}

impl FollowingTuning {
    /// The tolerances for a controller of this period.
    #[must_use]
    pub fn of(&self, period: Duration) -> FollowingConfig {
        let base = FollowingConfig::new(period);
        FollowingConfig {
            delay: self.delay.unwrap_or(base.delay),
            patience: self.patience.unwrap_or(base.patience),
            tolerance: self.tolerance.unwrap_or(base.tolerance),
            relative: self.relative.unwrap_or(base.relative),
            ramp: self.ramp.unwrap_or(base.ramp),
            scaling_rate: self.scaling_rate.unwrap_or(base.scaling_rate),
            late_patience: self.late_patience.unwrap_or(base.late_patience),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_can_be_run() {
        assert_eq!(Config::default().check(), Ok(()));
    }

    #[test]
    fn a_wrong_value_is_named_with_its_section() {
        let text = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check().map_err(|error| error.to_string())
        };
        assert_eq!(
            text(|c| c.connect.open_timeout = Duration::ZERO),
            Err("connect.open_timeout: expected 0.01 to 60.0 s".into())
        );
        assert_eq!(text(|c| c.text.hold = Duration::from_secs(2)), Err("text.hold: expected 0.002 to 1.0 s".into()));
        assert_eq!(text(|c| c.mode.good_cycles = Some(0)), Err("mode.good_cycles: expected 1 to 60000".into()));
        assert!(
            text(|c| c.limits.velocity.0[1] = f32::NAN).is_err_and(|e| e.starts_with("limits.velocity of joint 2"))
        );
        assert!(text(|c| c.link.stale_after = Some(Duration::ZERO)).is_err_and(|e| e.starts_with("link.stale_after")));
    }

    #[test]
    fn a_limit_that_what_is_sent_would_break_is_told_with_both_settings() {
        let told = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            let mut told = Vec::new();
            config.conflicts(|conflict| told.push(conflict.to_string()));
            assert_eq!(config.check().is_err(), !told.is_empty());
            told
        };
        let reported = told(|c| {
            c.limits.braking.0 = [8.0; 6];
            c.text.stop_acceleration = 1.0;
        });
        let own = "limits.braking of joint 1: found 8 rad/s², expected at most 2, session.own_stop: what the \
                   controller's own stop is taken to reach";
        let sent = "limits.braking of joint 1: found 8 rad/s², expected at most 1, session.stop_acceleration: the \
                    stop that is sent";
        assert_eq!(reported, [sent, own]);
        assert_eq!(told(|c| c.limits.acceleration.0[3] = 10.5).len(), 1);
        assert_eq!(told(|c| c.limits.acceleration.0[3] = 10.0), [""; 0], "the bound itself is kept");
        // A stop that is sent, and obeyed, needs no word of the controller.
        assert_eq!(
            told(|c| {
                c.limits.braking.0 = [8.0; 6];
                c.text.form = crate::session::FormChoice::SelfEnding;
                c.software = Some(SoftwareVersion::new(3, 2));
            }),
            [""; 0]
        );
    }

    #[test]
    fn text_must_outlast_the_time_after_which_states_are_stale_and_something_must_end_it() {
        let error = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check().map_err(|error| error.to_string())
        };
        assert!(
            error(|c| c.link.stale_after = Some(Duration::from_millis(50))).is_err_and(|e| e.starts_with("text.hold"))
        );
        assert!(
            error(|c| c.mode.state_timeout = Some(Duration::from_millis(50)))
                .is_err_and(|e| e.starts_with("text.hold"))
        );
        let bare = |software| {
            let text = TextConfig { form: crate::session::FormChoice::Bare, ..TextConfig::default() };
            Config { text, software, ..Config::default() }.check().map_err(|error| error.to_string())
        };
        assert!(bare(Some(SoftwareVersion::new(3, 4))).is_err_and(|e| e.starts_with("text.form")));
        assert_eq!((bare(Some(SoftwareVersion::new(3, 5))), bare(None)), (Ok(()), Ok(())));
    }

    #[test]
    fn an_arm_that_keeps_moving_has_no_bound_for_our_death_with_bare_text() {
        let (old, new) = (SoftwareVersion::new(3, 1), SoftwareVersion::new(5, 15));
        let bare = Config {
            text: TextConfig { form: crate::session::FormChoice::Bare, ..TextConfig::default() },
            ..Config::default()
        };
        assert!(bare.coast_without_us(old).is_none() && bare.coast_without_us(new).is_some());
        let coast = Config::default().coast_without_us(old).map(|coast| coast.joints[0]);
        // 1 rad/s for 2·(8 + 4) + 2·8 ms on the way, 40 + 8 ms of the text, which sleeps after up to 40 + 8 ms of its ramp,
        // and 20 ms of the drives; then 1²/(2·2).
        assert!(coast.is_some_and(|rad| (rad - 0.406).abs() < 1e-6), "{coast:?}");
    }
}
