//! The configuration of an engine for a controller of Universal Robots, in addition to the
//! [common](crate::engine::Config) thresholds.

use super::command_path::{BufferedConfig, CommandPath, Delivery, Orders, ProgramConfig, SETTLING, Unfit};
use super::primary::ArmConfiguration;
use super::script_text::{TextConfig, TextPath};
use crate::client::rtde::{Claim, Claims};
use crate::command::outputs::OutputsConfig;
use crate::command::{Limits, MAX_SOURCES, PathTiming, SourceConfig, TorqueLimits};
use crate::engine::config::{Config, ConfigError, Conflict, Options};
use crate::engine::cycle::{CycleConfig, PendantSight};
use crate::engine::stopping_distance::Coast;
use crate::link::LinkTuning;
use crate::mode::{FollowingConfig, ModeConfig, ModeTuning, OperatorConfig, StandstillConfig};
use crate::robot::{BadValue, OfMotions, settings, wording, words};
use outrigger_wire::robot::{Generation, Pose, RobotModel, SoftwareVersion};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The configuration of an engine for a controller of Universal Robots.
pub type UrConfig = Config<6, UrOptions>;

/// The settings that only a controller of Universal Robots has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct UrOptions {
    /// The settings for connecting to the controller: ports, sources and timeouts.
    pub connect: ConnectConfig,
    /// The controller's software version, if its own version message is not to be used. This version then decides the
    /// form of every text.
    pub software: Option<SoftwareVersion>,
    /// The model of the arm, whose nominal kinematics are used if the controller sends none.
    pub model: Option<RobotModel>,
    /// The tool centre point in the flange frame, for use in place of the controller's own (3.1 and later); `None`
    /// uses the controller's.
    pub tcp: Option<Pose>,
    /// The way in which motion reaches the controller.
    pub path: CommandPath,
    /// The settings of the program that carries the motion, for paths with a program.
    pub program: ProgramConfig,
    /// The settings of the ring on the controller in which positions wait.
    pub buffered: OfMotions<BufferedConfig>,
    /// The limits of an arm that is commanded by torques.
    pub torque: OfMotions<TorqueLimits<6>>,
    /// The form and the accelerations of the text that moves the arm, and of the messages to a program.
    pub text: TextConfig,
    /// The timeouts for setting an output of the controller.
    pub outputs: OutputsConfig,
    /// The sensor, of six channels \[N, Nm\], whose readings a program gets as its force; [`Claim::Force`] has to be
    /// claimed.
    ///
    /// Every state is answered by the newest reading that the sensor's monitor accepts. If there is none, a force of
    /// zero is sent once and then nothing until there is a reading again: an old force is never repeated, and
    /// `rtde_set_watchdog` on `external_force_torque` in that program pauses or stops it.
    pub force: Option<SourceId>,
}

/// A difference between what a controller reports and what is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The controller's software version differs from the configured one.
    Software {
        /// The configured value of `session.software`.
        configured: SoftwareVersion,
        /// The software version that the controller reports, in its version message or by RTDE.
        reported: SoftwareVersion,
    },
    /// The model of the arm differs from the configured one.
    Model {
        /// The configured value of `robot.model`.
        configured: RobotModel,
        /// The arms that match the controller's configuration data.
        reported: &'static [RobotModel],
    },
}

impl core::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Software { configured, reported } => {
                write!(f, "the controller reports software {reported}, but session.software is {configured}")
            }
            Self::Model { configured, reported } => {
                f.write_str("the controller reports ")?;
                for (at, model) in reported.iter().enumerate() {
                    write!(f, "{}{}", if at == 0 { "" } else { " or " }, model.name())?;
                }
                write!(f, ", but robot.model is {}", configured.name())
            }
        }
    }
}

impl UrOptions {
    /// Returns the number of positions for which the ring on the controller has room.
    pub(super) const fn ring(&self) -> u16 {
        #[cfg(feature = "motions")]
        let places = self.buffered.ring;
        #[cfg(not(feature = "motions"))]
        let places = ProgramConfig::RING;
        places
    }
}

impl Options for UrOptions {
    const KIND: u8 = b'U';
}

impl Default for UrConfig {
    fn default() -> Self {
        Self {
            peer: UrOptions::default(),
            link: LinkTuning::default(),
            mode: ModeTuning::default(),
            standstill: StandstillConfig::default(),
            limits: Limits::default(),
            sources: [None; MAX_SOURCES],
            operator: OperatorConfig::default(),
        }
    }
}

impl UrOptions {
    /// Returns the reason for which a controller with this software cannot be commanded as configured here; `None` if
    /// it can.
    #[must_use]
    pub fn unfit(&self, software: SoftwareVersion) -> Option<Unfit> {
        self.program.unfit(self.path, software)
    }

    /// Returns the first difference between the controller's version message or configuration data and the
    /// configuration here. A value that the controller does not report, or that is not configured, is not compared.
    #[must_use]
    pub fn mismatch(
        &self,
        software: Option<SoftwareVersion>,
        arm: Option<&ArmConfiguration>,
        generation: Generation,
    ) -> Option<Mismatch> {
        if let (Some(configured), Some(reported)) = (self.software, software) {
            // A configuration may omit the last number.
            let bugfix = configured.bugfix == 0 || configured.bugfix == reported.bugfix;
            if (configured.major, configured.minor) != (reported.major, reported.minor) || !bugfix {
                return Some(Mismatch::Software { configured, reported });
            }
        }
        let (configured, reported) = (self.model?, arm?.models(generation));
        let other = !reported.is_empty() && !reported.contains(&configured);
        other.then_some(Mismatch::Model { configured, reported })
    }

    /// Returns the groups of RTDE inputs that the session requests to own, including the group in which a program
    /// receives its orders.
    pub(super) const fn claims(&self) -> Claims {
        let claims = self.connect.claims;
        if self.program.by_registers(self.path) { claims.with(Claim::Program) } else { claims }
    }
}

impl UrConfig {
    /// Checks that every field of the configuration is in its range, for controllers of either period, and that no
    /// limit of acceleration or braking conflicts with another setting.
    ///
    /// # Errors
    /// The first fault.
    #[inline(never)]
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let mut first = Ok(());
        self.conflicts(|conflict| first = first.and(Err(ConfigError::Conflict(conflict))));
        first
    }

    /// Checks that every field of the configuration is in its range, for controllers of either period.
    ///
    /// # Errors
    /// The first field that is not.
    #[inline(never)]
    pub fn check_ranges(&self) -> Result<(), ConfigError> {
        let value = ConfigError::of;
        let UrOptions { connect, software, text, outputs, force, path, .. } = &self.peer;
        connect.check().map_err(value("connect"))?;
        self.check_given(Duration::from_micros(Generation::ESeries.period_micros()))?;
        for generation in [Generation::Cb3, Generation::ESeries] {
            let cycle = self.cycle(Duration::from_micros(generation.period_micros()), false);
            self.check_common(&cycle)?;
            if cfg!(feature = "programs") {
                cycle.mode.delegated.check(cycle.mode.cycle).map_err(value("mode"))?;
            }
            // An arm whose text has expired stops by itself, and must not be commanded any further.
            let outlasted = cycle.link.stale_after.max(cycle.mode.state_timeout) <= text.hold;
            BadValue::unless(outlasted, "hold", "at least stale_after and state_timeout, 0.04 s each by default")
                .map_err(value("text"))?;
        }
        text.check(*software).map_err(value("text"))?;
        if cfg!(feature = "outputs") {
            outputs.check_ranges().map_err(value("outputs"))?;
        }
        if cfg!(feature = "programs") {
            self.check_program()?;
        }
        let fits = path.is_built() && software.is_none_or(|software| path.fits(software));
        let expected = if path.is_torques() {
            "another: torques need software 5.23, or 10.11 on PolyScope X, and a build that has them"
        } else {
            "one that this software and this build have"
        };
        BadValue::unless(fits, "path", expected).map_err(value("session"))?;
        let feeds = |source: &SourceConfig| Some(source.id) == *force && source.channels == 6;
        // A build without RTDE cannot send it.
        let rtde = cfg!(feature = "rtde");
        let fed = force.is_none() || (rtde && self.sources.iter().flatten().any(feeds));
        let claimed = force.is_none() || (rtde && connect.claims.has(Claim::Force));
        BadValue::unless(fed, "force", "a source of six channels").map_err(value("outputs"))?;
        BadValue::unless(claimed, "claim", "force among them, where a force is given").map_err(value("outputs"))
    }

    fn check_program(&self) -> Result<(), ConfigError> {
        let value = ConfigError::of;
        let UrOptions { text, path, program, connect, software, .. } = &self.peer;
        program.check_ranges().map_err(value("program"))?;
        #[cfg(feature = "motions")]
        {
            self.peer.buffered.check_ranges().map_err(value("program"))?;
            self.peer.torque.check_ranges().map_err(value("limits"))?;
        }
        let silence = !path.is_resident() || text.hold <= CommandPath::LONGEST_SILENCE;
        BadValue::unless(silence, "hold", "at most 0.2 s if a program takes the commands").map_err(value("text"))?;
        let fetched = cfg!(feature = "urcap") || program.by != Delivery::UrCap;
        BadValue::unless(fetched, "by", "text: this build has no URCap to answer").map_err(value("program"))?;
        BadValue::unless(
            program.lag <= ProgramConfig::longest_lag(self.peer.ring()),
            "lag",
            "at most 0.04 s for each 30 places of the ring, less two",
        )
        .map_err(value("program"))?;
        let registers = program.by_registers(*path);
        BadValue::unless(
            path.can_use_registers() || !path.is_resident() || program.orders == Orders::Socket,
            "orders",
            "socket: this path has no other",
        )
        .map_err(value("program"))?;
        let sent = !registers || program.by == Delivery::Text;
        BadValue::unless(sent, "orders", "socket, if the URCap brings the program").map_err(value("program"))?;
        let by_rtde = !registers || (cfg!(feature = "rtde") && connect.states != StatesFrom::Realtime);
        BadValue::unless(by_rtde, "orders", "socket, or states by RTDE").map_err(value("program"))?;
        let has_them = software.is_none_or(|software| !registers || program.unfit(*path, software).is_none());
        BadValue::unless(has_them, "orders", "socket: software before 3.9 and 5.3 has no such registers")
            .map_err(value("program"))?;
        let bounded = program.by != Delivery::Nobody || *path != CommandPath::ExternalTorque;
        BadValue::unless(bounded, "by", "text or urcap: UR's own program does not apply our torque limits")
            .map_err(value("program"))?;
        let brought = program.by != Delivery::Nobody || path.is_external();
        BadValue::unless(brought, "by", "text or urcap: our program is uploaded").map_err(value("program"))
    }

    /// Returns the control cycle's thresholds for a controller of this period; `by_rtde` is `true` if states come by
    /// RTDE, `false` by 30003.
    pub(in crate::engine) fn cycle(&self, period: Duration, by_rtde: bool) -> CycleConfig {
        CycleConfig {
            link: self.link.stream(period),
            mode: self.mode_config(period),
            following: self.following(period),
            scaling: self.mode.scaling,
            pendant: self.mode.pendant,
            sight: match self.sees_pendant_stops(by_rtde, period) {
                true if self.peer.path.is_resident() => PendantSight::Always,
                true => PendantSight::ByStates,
                false => PendantSight::Never,
            },
            hold: self.peer.text.hold,
            #[cfg(feature = "programs")]
            most_feedback: self.most_feedback(period),
        }
    }

    /// Returns the highest feedback gain, speed per error, that a law may use \[1/s\]. If positions are sent, at most half of
    /// an error is corrected in the time that passes until the arm shows it; on other paths the gain is not limited.
    #[cfg(feature = "programs")]
    fn most_feedback(&self, period: Duration) -> f32 {
        let program = &self.peer.program;
        match self.peer.path {
            path if !path.is_positions() => f32::INFINITY,
            path => 0.5 / (program.waits(path) + program.lookahead + period.times(3)).as_secs_f32(),
        }
    }

    /// Returns the tolerances for comparing the controller's target with the commands. A position shows in the target
    /// later than a speed, by the time in the ring buffer on the controller and by the filter of `servoj`.
    fn following(&self, period: Duration) -> FollowingConfig {
        let mut tuning = self.mode.following;
        if self.peer.path.is_positions() {
            let program = &self.peer.program;
            let late = program.waits(self.peer.path) + program.lookahead + SETTLING + Duration::from_millis(24);
            let cycles = late.whole_up(period);
            let delay = u8::try_from(cycles).unwrap_or(u8::MAX).clamp(2, 31);
            // The part of the delay that the hull of the newest commands does not cover is added to the patience.
            const LONGEST: u16 = 1_000;
            let usual = FollowingConfig::new(period);
            let patience = u16::try_from(cycles).unwrap_or(u16::MAX).max(usual.patience).min(LONGEST);
            // With a longer lag the target may differ from the newest commands by the speed that a joint gains
            // meanwhile.
            let more = (program.waits(self.peer.path) - ProgramConfig::USUAL_WAIT).as_secs_f32();
            if tuning.tolerance.is_none() && more > 0.0 {
                let fastest = self.limits.acceleration.iter().fold(0.0, f32::max);
                tuning.tolerance = Some((usual.tolerance + fastest * more).min(0.5));
            }
            tuning.delay = tuning.delay.or(Some(delay));
            let patience = tuning.patience.unwrap_or(tuning.late_patience.map_or(patience, |late| patience.min(late)));
            tuning.patience = Some(patience);
            tuning.late_patience =
                tuning.late_patience.or(Some(patience.max(FollowingConfig::new(period).late_patience)));
        }
        tuning.of(period)
    }

    /// Returns the mode machine's thresholds for a controller whose states have this period.
    #[must_use]
    pub fn mode_config(&self, period: Duration) -> ModeConfig {
        ModeConfig { rest_window: self.standstill.window, ..self.mode.of(period) }
    }

    /// Returns `true` if a stop at the pendant can be seen, with states `by_rtde` or not in this period. The state of
    /// every cycle must contain the program state, and one command must outlast the cycles that are needed to look. If
    /// it cannot be seen, or if the program flickers between two texts, nothing is commanded
    /// ([`Reason::PendantUnseen`](crate::robot::Reason::PendantUnseen)), unless
    /// [`PendantStop::Overridden`](crate::mode::PendantStop::Overridden) permits it. A program of ours that carries the
    /// commands ends with such a stop in any case.
    #[must_use]
    pub fn sees_pendant_stops(&self, by_rtde: bool, period: Duration) -> bool {
        if self.peer.path.is_resident() {
            return true;
        }
        // A command that is not acknowledged is up to two cycles old, and older by the delay of the states.
        let cycles = u64::from(self.mode.pendant.left).saturating_add(3);
        by_rtde && period.times(cycles) <= self.peer.text.hold
    }

    /// Reports every limit that the commands, or the controller itself, would not respect, with the first joint that it
    /// concerns.
    pub fn conflicts(&self, mut tell: impl FnMut(Conflict)) {
        let TextConfig { acceleration, stop_acceleration, own_stop, .. } = self.peer.text;
        let mut at_most = |key, values: &[f32; 6], most: f32, other, why| {
            if let Some((joint, found)) = (0_u8..).zip(values).find(|(_, found)| **found > most) {
                let [key, unit, other, why] = [key, "rad/s²", other, why].map(wording);
                tell(Conflict { key, joint, found: *found, most, unit, other, why });
            }
        };
        let braking = self.limits.braking.as_array();
        let why = "the stop that is sent";
        at_most("limits.expert.braking", braking, stop_acceleration, "session.expert.stop_acceleration", why);
        if self.leaves_stops_to_the_controller(self.peer.software) {
            let why = "what the controller's own stop is taken to reach";
            at_most("limits.expert.braking", braking, own_stop, "session.expert.own_stop", why);
        }
        let why = "the ramp of each speedj, or the arm lags behind what was approved";
        at_most(
            "limits.acceleration",
            self.limits.acceleration.as_array(),
            acceleration,
            "session.expert.acceleration",
            why,
        );
    }

    /// Returns the upper bounds of the timing of commands to a controller with this software, whose states have this
    /// period.
    #[must_use]
    pub fn path_timing(&self, software: SoftwareVersion, period: Duration) -> PathTiming {
        let answered = period + self.link.stream(period).margin;
        if self.peer.path.is_resident() {
            // As below; then the thread that reads passes the command to the thread that moves, which ends its step
            // first. A read times out at the end of a cycle, and the present step ends before the stop begins.
            let waits = self.peer.program.waits(self.peer.path);
            let filter = if self.peer.path.is_positions() { self.peer.program.lookahead } else { Duration::ZERO };
            let latency = answered.times(2) + period.times(3) + waits + filter;
            return PathTiming { latency, hold: self.peer.text.hold + period.times(2) };
        }
        // A state is answered at this age by a clock that omits the shortest delay. The acknowledgement, which is
        // checked once per cycle, bounds both directions together. Then the controller takes the text in its next
        // cycle.
        let latency = answered.times(2) + period.times(2);
        // One-line programs end a cycle late. Without t, `sleep` begins when the speed is reached.
        let ramp = self.limits.longest_step.min(latency + self.peer.text.hold) + period;
        let ramp = if TextPath::omits_time(software) { ramp } else { Duration::ZERO };
        PathTiming { latency, hold: self.peer.text.hold + period + ramp }
    }

    /// Returns the upper bounds of the timing of a stop. Positions that wait in a ring buffer on the controller do not
    /// delay the stop: the ring drops them, as does a program that ends.
    fn stop_timing(&self, software: SoftwareVersion, period: Duration) -> PathTiming {
        let PathTiming { latency, hold } = self.path_timing(software, period);
        PathTiming { latency: latency - self.peer.program.waits(self.peer.path), hold }
    }

    /// Returns the limits of the arm for commands to a controller with this software, whose states have this period:
    /// see [`Limits::carried_by`].
    #[must_use]
    pub fn limits_on(&self, software: SoftwareVersion, period: Duration) -> Limits<6> {
        self.limits.carried_by(self.path_timing(software, period))
    }

    /// Returns the worst-case stopping distance of the arm on a controller with this software, for any fault that can
    /// be detected: a state or a sensor's reading becomes stale, and the last command, sent just before, holds to its
    /// end.
    #[must_use]
    pub fn worst_coast(&self, software: SoftwareVersion) -> Coast<6> {
        let period = period_of(software);
        let PathTiming { latency, hold } = self.stop_timing(software, period);
        let stale = self.link.stream(period).stale_after.max(self.mode.of(period).state_timeout);
        let seen = stale.max(self.oldest_reading(period)) + period;
        Coast::of(&self.limits, seen + latency + hold + self.limits.reaction, self.stop_on(software))
    }

    /// Returns the worst-case stopping distance of the arm if this device itself fails: the last command, which may
    /// still be on its way, holds to its end. `None` if nothing ends it then, because the text is bare and the arm is
    /// not recorded to stop by itself.
    #[must_use]
    pub fn coast_without_us(&self, software: SoftwareVersion) -> Option<Coast<6>> {
        let PathTiming { latency, hold } = self.stop_timing(software, period_of(software));
        let ends = self.peer.path.is_resident() || TextPath::new(self.peer.text, software).ends_without_us();
        ends.then(|| Coast::of(&self.limits, latency + hold + self.limits.reaction, self.stop_on(software)))
    }

    /// Returns `true` if the controller may choose the deceleration of a stop by itself; its `software` may be unknown. A
    /// program of ours ends in `stopj`, but one that is killed from elsewhere does not.
    fn leaves_stops_to_the_controller(&self, software: Option<SoftwareVersion>) -> bool {
        self.peer.path.is_resident() || self.peer.text.leaves_stops_to_the_controller(software)
    }

    /// Returns the deceleration of the weakest stop \[rad/s²\] on a controller with this software.
    fn stop_on(&self, software: SoftwareVersion) -> f32 {
        let TextConfig { stop_acceleration, own_stop, .. } = self.peer.text;
        let own = self.leaves_stops_to_the_controller(Some(software));
        if own && own_stop < stop_acceleration { own_stop } else { stop_acceleration }
    }
}

fn period_of(software: SoftwareVersion) -> Duration {
    Duration::from_micros(software.generation().period_micros())
}

/// The TCP ports of the controller, by the numbers that it has for them. The code that opens the connections adds its
/// configured port base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Ports {
    /// The port of the primary interface: version, robot messages, robot state. Default 30001.
    pub primary: Option<u16>,
    /// The secondary interface, which is tried if the primary one does not answer. Default 30002.
    pub secondary: Option<u16>,
    /// The real-time interface: it takes text, and delivers the state of every cycle unless RTDE does. Default 30003.
    pub realtime: u16,
    /// The port of Real-Time Data Exchange. Default 30004.
    pub rtde: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self { primary: Some(30_001), secondary: Some(30_002), realtime: 30_003, rtde: 30_004 }
    }
}

/// The source of the state of every cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum StatesFrom {
    /// RTDE delivers the states if the software has it (from 3.4) and there is memory for it. Otherwise, or if RTDE is
    /// closed or lacks a needed variable, the real-time interface delivers them.
    #[default]
    Auto,
    /// The real-time interface delivers the states, even if the software has RTDE.
    Realtime,
    /// RTDE alone delivers the states: there is no session if it is not available.
    Rtde,
}

words!(StatesFrom { "auto" = Auto, "realtime" = Realtime, "rtde" = Rtde });

/// The way in which outputs of the controller are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum OutputsBy {
    /// Outputs are set by the RTDE inputs that are claimed and owned, otherwise by text.
    #[default]
    Auto,
    /// Outputs are set by text, even if RTDE inputs are owned.
    Text,
    /// Outputs are set by RTDE inputs only.
    Rtde,
    /// Outputs of the controller cannot be set by requests.
    Off,
}

words!(OutputsBy { "auto" = Auto, "text" = Text, "rtde" = Rtde, "off" = Off });

settings! {
    /// The settings for connecting a session with the controller.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ConnectConfig in "" {
        /// The TCP ports of the controller.
        pub ports nowhere: Ports = Ports::default(),
        /// Fail a session that has neither the primary nor the secondary interface. Without both, only the packet's own
        /// program state can prove that commands are accepted. Default `false`.
        pub primary_required: bool = false,
        /// The source of the state of every cycle. Default: RTDE if available.
        pub states: StatesFrom = StatesFrom::Auto,
        /// The way in which outputs are set. Default: by text, as nothing is claimed.
        pub outputs nowhere: OutputsBy = OutputsBy::Auto,
        /// The RTDE inputs that are claimed if states come by RTDE. The memory that is passed in must have room for
        /// them ([`RtdeMemory`](super::rtde::RtdeMemory)). Default: none.
        pub claims nowhere: Claims = Claims::NONE,
        /// The longest wait for a connection to a port of the controller. Default 1 s.
        pub open_timeout: Duration [0.01 to 60.0 "s"] = Duration::from_secs(1),
        /// The longest wait for the first understood message on a connection. Default 2 s.
        pub first_message_timeout: Duration [0.01 to 60.0 "s"] = Duration::from_secs(2),
        /// The time without a message after which a link counts as lost. Default 2 s.
        pub silence_timeout: Duration [0.01 to 60.0 "s"] = Duration::from_secs(2),
        /// The wait after the first failed attempt to connect; doubled after each further one. Default 250 ms.
        pub back_off_min: Duration [0.01 to 60.0 "s"] = Duration::from_millis(250),
        /// The longest wait between two attempts to connect. Default 8 s.
        pub back_off_max: Duration [0.01 to 60.0 "s"] = Duration::from_secs(8),
        /// The duration of a session after which the wait between attempts to connect begins at its minimum again.
        /// Default 5 s.
        pub settled_after: Duration [0.01 to 60.0 "s"] = Duration::from_secs(5),
        /// The time without acknowledgement of sent bytes after which the link is reset. Default 500 ms.
        pub abort_after: Duration [0.01 to 60.0 "s"] = Duration::from_millis(500),
    }
}

impl ConnectConfig {
    /// Returns the wait before the next attempt to connect to the controller, if `failures` attempts in a row had failed
    /// before the newest failure.
    #[inline(never)]
    pub(super) fn back_off(&self, failures: u32) -> Duration {
        let factor = 1_u64.checked_shl(failures.min(62)).unwrap_or(u64::MAX);
        self.back_off_min.times(factor).min(self.back_off_max)
    }

    /// Checks every field of the settings for connecting to the controller.
    ///
    /// # Errors
    /// The first field outside its range.
    #[inline(never)]
    pub fn check(&self) -> Result<(), BadValue> {
        BadValue::unless(self.ports.realtime != 0, "ports.realtime", "a port number")?;
        BadValue::unless(self.ports.rtde != 0, "ports.rtde", "a port number")?;
        BadValue::unless(
            !self.primary_required || self.ports.primary.or(self.ports.secondary).is_some(),
            "primary_required",
            "false if neither ports.primary nor ports.secondary is set",
        )?;
        self.check_ranges()?;
        BadValue::unless(self.back_off_min <= self.back_off_max, "back_off_min", "at most back_off_max")
    }
}

#[cfg(test)]
mod tests;
