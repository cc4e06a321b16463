//! Script text on a client interface: one short program per cycle, each replacing the one before.
//!
//! [`TextPath::render_move`] is the only function of Outrigger that turns an approved command into bytes. It takes the
//! command, and the authority inside it, by value: bytes that move the arm cannot be made twice from one approval, nor
//! outside the engine call in which the mode machine granted it.

use outrigger_urscript::{Dialect, RenderError, SpeedJ, SpeedJForm, StopJ, TimeArgument, Version};

use crate::command::Approved;
use crate::robot::{BadValue, Range, Reason, range_of, settings, words};
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};
use outrigger_wire::time::Duration;

/// The form of the script text that moves the arm by `speedj`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum FormChoice {
    /// The self-ending program, if the controller's software is not known to stop the arm at the end of the `t` of
    /// `speedj`; otherwise the bare `speedj` statement.
    #[default]
    ByVersion,
    /// Always the bare `speedj` statement, which does not stop the arm at its end on every version.
    Bare,
    /// Always the short program that moves the arm by `speedj` and ends in `stopj`.
    SelfEnding,
}

words!(FormChoice { "by-version" = ByVersion, "bare" = Bare, "self-ending" = SelfEnding });

settings! {
    /// The settings of the script text that commands the arm.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct TextConfig in "" {
        /// The form of the text of a moving `speedj`. Default: by version.
        pub form: FormChoice = FormChoice::ByVersion,
        /// The `a` of a moving `speedj` \[rad/s²\]: the ramp towards each commanded speed, on the leading axis. It must
        /// exceed the governor's limit, or the arm lags behind the approved command. Default 10.
        pub acceleration: f32 [Self::ACCELERATION] = 10.0,
        /// The `a` of a zero-velocity `speedj`, and the deceleration of every `stopj` \[rad/s²\]. Default 10.
        pub stop_acceleration: f32 [Self::STOP_ACCELERATION] = 10.0,
        /// The deceleration that the controller is assumed to reach \[rad/s²\] if it chooses by itself: at the end of a
        /// bare text, and in every `stopj` before 3.2. Neither value is published: raise it to the one that was
        /// measured on the arm. Default 2.
        pub own_stop: f32 [Self::STOP_ACCELERATION] = 2.0,
        /// `t`: the time for which one command holds without a successor. Default 40 ms.
        pub hold: Duration [Self::HOLD] = Duration::from_millis(40),
    }
}

// Every accepted value can be written.
const _: () = {
    let (acceleration, stop) = (TextConfig::ACCELERATION, TextConfig::STOP_ACCELERATION);
    assert!(acceleration.least >= SpeedJ::ACCELERATION.min && acceleration.most <= SpeedJ::ACCELERATION.max);
    assert!(stop.least >= StopJ::DECELERATION.min && stop.most <= StopJ::DECELERATION.max);
};

impl TextConfig {
    /// The range of values that [`acceleration`](Self::acceleration) accepts.
    pub const ACCELERATION: Range<f32> = range_of!(0.001 to 150.0 "rad/s²");
    /// The range of values that [`stop_acceleration`](Self::stop_acceleration) and [`own_stop`](Self::own_stop) accept.
    pub const STOP_ACCELERATION: Range<f32> = range_of!(0.01 to 150.0 "rad/s²");

    /// The range of values that [`hold`](Self::hold) accepts.
    pub const HOLD: Range<Duration> = range_of!(0.002 to 1.0 "s");

    /// Checks that every value of the settings can be written as text, and that the arm stops by itself after each text
    /// on a controller with this `software`, if the version is known.
    ///
    /// # Errors
    /// The first value that fails.
    pub fn check(&self, software: Option<SoftwareVersion>) -> Result<(), BadValue> {
        self.check_ranges()?;
        let ends = self.form != FormChoice::Bare || software.is_none_or(stops_by_itself);
        BadValue::unless(ends, "form", "by-version or self-ending: nothing ends a bare text on this software")
    }
}

impl TextConfig {
    /// Returns `true` if the controller may choose the deceleration of a stop by itself, as at the end of a bare text and in
    /// a `stopj` before 3.2; also if its `software` is unknown.
    pub(in crate::engine) fn leaves_stops_to_the_controller(&self, software: Option<SoftwareVersion>) -> bool {
        let bare = match self.form {
            FormChoice::ByVersion => software.is_none_or(stops_by_itself),
            FormChoice::Bare => true,
            FormChoice::SelfEnding => false,
        };
        bare || !software.is_some_and(|software| software.at_least(3, 2))
    }
}

/// Returns `true` if the arm is recorded to stop by itself when the `t` of a one-line `speedj` has passed
/// (`core/docs/protocol/ur-client-interfaces.md 5.4`): from 3.5 on. On 1.x to 3.1 it is recorded to keep its speed;
/// there is no record in between.
fn stops_by_itself(software: SoftwareVersion) -> bool {
    software.at_least(3, 5)
}

/// The writer of the motion text of one session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextPath {
    config: TextConfig,
    form: SpeedJForm,
    stops_by_itself: bool,
    version: Version,
}

impl TextPath {
    /// The length of the longest motion text \[B\].
    pub const MAX_LEN: usize = SpeedJ::MAX_LEN;

    /// Creates the writer of motion text for a controller with this software.
    #[must_use]
    pub fn new(config: TextConfig, software: SoftwareVersion) -> Self {
        let bare = match config.form {
            FormChoice::ByVersion => stops_by_itself(software),
            FormChoice::Bare => true,
            FormChoice::SelfEnding => false,
        };
        let form = if bare {
            SpeedJForm::Bare
        } else {
            SpeedJForm::SelfEnding { stop_acceleration: config.stop_acceleration }
        };
        let version = Version::new(software.major, software.minor);
        Self { config, form, stops_by_itself: stops_by_itself(software), version }
    }

    /// Returns `true` if the `t` of `speedj` is omitted on controllers with this software.
    #[must_use]
    pub fn omits_time(software: SoftwareVersion) -> bool {
        let dialect = Dialect::from(Version::new(software.major, software.minor));
        dialect.speedj_time == TimeArgument::Omitted
    }

    /// Returns `true` if the text brings the arm to rest by itself when nothing follows it.
    #[must_use]
    pub const fn is_self_ending(&self) -> bool {
        matches!(self.form, SpeedJForm::SelfEnding { .. })
    }

    /// Returns `true` if the arm comes to rest when we stop sending: by the text itself, or because this software is
    /// recorded to stop the arm.
    #[must_use]
    pub fn ends_without_us(&self) -> bool {
        self.is_self_ending() || self.stops_by_itself
    }

    /// Writes the approved joint speeds \[rad/s\] as text for the controller.
    ///
    /// # Errors
    /// [`Reason::VelocityLimit`] or [`Reason::NotFinite`] for a command that no governor should have approved,
    /// [`Reason::Internal`] if `out` is shorter than [`TextPath::MAX_LEN`].
    pub fn render_move(&self, approved: Approved<'_, 6>, out: &mut [u8]) -> Result<usize, Reason> {
        let (velocities, _authority) = approved.into_parts();
        self.render_speeds(velocities, self.config.acceleration, out)
    }

    /// Writes a text with zero velocity, which proves in `Arming` that text is executed, and brakes in `Stopping`.
    ///
    /// # Errors
    /// [`Reason::Internal`] if `out` is shorter than [`TextPath::MAX_LEN`].
    pub fn render_hold(&self, out: &mut [u8]) -> Result<usize, Reason> {
        self.render_speeds(JointVelocities::ZERO, self.config.stop_acceleration, out)
    }

    /// Writes the text `stopj`, which ends any program, ours or not, with the arm at rest.
    ///
    /// # Errors
    /// [`Reason::Internal`] if `out` is shorter than [`TextPath::MAX_LEN`].
    pub fn render_stop(&self, out: &mut [u8]) -> Result<usize, Reason> {
        StopJ { deceleration: self.config.stop_acceleration }.render(out).map_err(|_| Reason::Internal)
    }

    fn render_speeds(&self, speeds: JointVelocities<6>, acceleration: f32, out: &mut [u8]) -> Result<usize, Reason> {
        let time = Some(self.config.hold.as_secs_f32());
        let statement = SpeedJ { velocities: speeds.0, acceleration, time };
        statement.render(self.form, self.version, out).map_err(|error| match error {
            RenderError::Number { found, .. } if !found.is_finite() => Reason::NotFinite,
            RenderError::Number { .. } => Reason::VelocityLimit,
            _ => Reason::Internal,
        })
    }
}
