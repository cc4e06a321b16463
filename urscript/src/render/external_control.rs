//! The program for the controller that implements the protocol of External Control: its template and its settings.

use core::net::Ipv4Addr;

use super::error::{Argument, Range, RenderError};
use super::motion::{ServoJ, SpeedJ, StopJ};
use super::program::{ScriptError, ScriptText, ScriptValue};
use super::version::Version;

/// The settings of the program that implements the protocol of External Control on the robot
/// (`urscript/programs/external_control.script`). Its counterpart is a driver on a computer.
///
/// ```
/// use outrigger_urscript::{ExternalControlProgram, Version};
///
/// let program = ExternalControlProgram::new("192.168.56.1".parse().unwrap());
/// let values = program.values().unwrap();
/// let mut text = ExternalControlProgram::headless(&values, Version::new(5, 15)).unwrap();
/// let mut piece = [0; 512];
/// let n = text.read(&mut piece);
/// assert!(piece[..n].starts_with(b"def externalControl():\n # HEADER_BEGIN\n"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalControlProgram {
    /// The IP address of the computer that controls the arm.
    pub host: Ipv4Addr,
    /// The computer's TCP port for control messages.
    pub reverse_port: u16,
    /// The computer's TCP port for trajectory points.
    pub trajectory_port: u16,
    /// The computer's TCP port for one-time commands.
    pub command_port: u16,
    /// The look-ahead time of `servoj` \[s\]; must be in [`ServoJ::LOOKAHEAD`].
    pub lookahead: f32,
    /// The gain of `servoj`; must be in [`ServoJ::GAIN`].
    pub gain: u16,
    /// The acceleration of the leading joint in modes that command speeds \[rad/s²\]; must be in
    /// [`SpeedJ::ACCELERATION`].
    pub acceleration: f32,
    /// The deceleration of every `stopj` of the program \[rad/s²\]; must be in [`StopJ::DECELERATION`]. Only the stop
    /// at a contact of the tool is a `stopl(3.0)`.
    pub stop_deceleration: f32,
    /// The highest speed of each joint \[rad/s\]; must be in [`ExternalControlProgram::JOINT_SPEED`].
    pub joint_speeds: [f32; 6],
    /// The limits in torque mode, beyond which the program brings the arm to rest and ends.
    pub torque: TorqueBounds,
    /// A number from 1 on that identifies this text to the computer. The program sends it, big-endian, as the first
    /// four bytes of each connection, and accepts a trajectory point only if its last number is the token minus the
    /// number of its motion type. With `None` it does neither, like UR's own program.
    pub token: Option<i32>,
}

/// Limits in torque mode. If one of them is exceeded, the program brings the arm to rest and ends; only a change of
/// torque above `rate` is delayed instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorqueBounds {
    /// The highest allowed torque of each joint \[Nm\].
    pub torque: [f32; 6],
    /// The highest rate of change of each joint's torque \[Nm/s\]; a larger change is delayed.
    pub rate: [f32; 6],
    /// The greatest distance of each joint from its position at the start of torque mode \[rad\]. The joint must come
    /// to rest within it.
    pub travel: f32,
    /// The lowest position of each joint \[rad\]. The joint must come to rest above it.
    pub lowest: [f32; 6],
    /// The highest position of each joint \[rad\]. The joint must come to rest below it.
    pub highest: [f32; 6],
    /// The deceleration that is assumed for the joints' stopping distances \[rad/s²\].
    pub braking: f32,
}

impl TorqueBounds {
    /// Limits beyond those of any arm, for the behaviour of UR's own program, which has no limits.
    pub const WIDE: Self = Self {
        torque: [1000.0; 6],
        rate: [1_000_000.0; 6],
        travel: 1000.0,
        lowest: [-1000.0; 6],
        highest: [1000.0; 6],
        braking: 50.0,
    };

    /// The range of every torque limit \[Nm\], position limit and travel limit \[rad\].
    pub const RANGE: Range = Range::new(-1100.0, 1100.0);
    /// The range of every limit on a torque's rate of change \[Nm/s\].
    pub const RATE: Range = Range::new(0.001, 1_000_000.0);

    fn check(&self) -> Result<(), RenderError> {
        Self::RANGE.check_each(Argument::Torque, &self.torque)?;
        Self::RATE.check_each(Argument::Torque, &self.rate)?;
        Self::RANGE.check(Argument::Travel, self.travel)?;
        Self::RANGE.check_each(Argument::Position, &self.lowest)?;
        Self::RANGE.check_each(Argument::Position, &self.highest)?;
        StopJ::DECELERATION.check(Argument::StopAcceleration, self.braking)
    }
}

/// The name and the value of each placeholder in the template of the external control program.
pub type ExternalControlValues = [(&'static str, ScriptValue<'static>); 42];

impl ExternalControlProgram {
    /// The template of the external control program, with placeholders.
    pub const TEMPLATE: &str = include_str!("../../programs/external_control.script");
    /// The range of the highest speed of a joint \[rad/s\]. The program ignores positions that would need a
    /// higher speed than 20 rad/s.
    pub const JOINT_SPEED: Range = Range::new(0.01, 20.0);

    /// Returns settings with the TCP ports and the other values that UR's driver uses. The speed of each joint is
    /// limited to 20 rad/s, as in UR's program.
    #[must_use]
    pub const fn new(host: Ipv4Addr) -> Self {
        Self {
            host,
            reverse_port: 50_001,
            trajectory_port: 50_003,
            command_port: 50_004,
            lookahead: 0.03,
            gain: 2000,
            acceleration: 40.0,
            stop_deceleration: 4.0,
            joint_speeds: [20.0; 6],
            torque: TorqueBounds::WIDE,
            token: None,
        }
    }

    /// Returns the values for the placeholders of the external control program's template.
    ///
    /// # Errors
    /// [`RenderError::Number`] if a number is not finite or out of its range.
    pub fn values(&self) -> Result<ExternalControlValues, RenderError> {
        ServoJ::LOOKAHEAD.check(Argument::Lookahead, self.lookahead)?;
        ServoJ::GAIN.check(Argument::Gain, f32::from(self.gain))?;
        SpeedJ::ACCELERATION.check(Argument::Acceleration, self.acceleration)?;
        StopJ::DECELERATION.check(Argument::StopAcceleration, self.stop_deceleration)?;
        Self::JOINT_SPEED.check_each(Argument::Velocity, &self.joint_speeds)?;
        self.torque.check()?;
        let [s0, s1, s2, s3, s4, s5] = self.joint_speeds.map(ScriptValue::Decimal);
        let TorqueBounds { torque, rate, travel, lowest, highest, braking } = self.torque;
        let [t0, t1, t2, t3, t4, t5] = torque.map(ScriptValue::Decimal);
        let [r0, r1, r2, r3, r4, r5] = rate.map(ScriptValue::Decimal);
        let [l0, l1, l2, l3, l4, l5] = lowest.map(ScriptValue::Decimal);
        let [h0, h1, h2, h3, h4, h5] = highest.map(ScriptValue::Decimal);
        Ok([
            ("BEGIN", ScriptValue::Text("")),
            ("HOST", ScriptValue::Address(self.host)),
            ("REVERSE_PORT", ScriptValue::Integer(self.reverse_port.into())),
            ("TRAJECTORY_PORT", ScriptValue::Integer(self.trajectory_port.into())),
            ("COMMAND_PORT", ScriptValue::Integer(self.command_port.into())),
            ("LOOKAHEAD", ScriptValue::Decimal(self.lookahead)),
            ("GAIN", ScriptValue::Integer(self.gain.into())),
            ("ACCELERATION", ScriptValue::Decimal(self.acceleration)),
            ("STOP", ScriptValue::Decimal(self.stop_deceleration)),
            ("SPEED_0", s0),
            ("SPEED_1", s1),
            ("SPEED_2", s2),
            ("SPEED_3", s3),
            ("SPEED_4", s4),
            ("SPEED_5", s5),
            ("TRAVEL", ScriptValue::Decimal(travel)),
            ("BRAKING", ScriptValue::Decimal(braking * 2.0)),
            ("TORQUE_0", t0),
            ("TORQUE_1", t1),
            ("TORQUE_2", t2),
            ("TORQUE_3", t3),
            ("TORQUE_4", t4),
            ("TORQUE_5", t5),
            ("RATE_0", r0),
            ("RATE_1", r1),
            ("RATE_2", r2),
            ("RATE_3", r3),
            ("RATE_4", r4),
            ("RATE_5", r5),
            ("LOWEST_0", l0),
            ("LOWEST_1", l1),
            ("LOWEST_2", l2),
            ("LOWEST_3", l3),
            ("LOWEST_4", l4),
            ("LOWEST_5", l5),
            ("HIGHEST_0", h0),
            ("HIGHEST_1", h1),
            ("HIGHEST_2", h2),
            ("HIGHEST_3", h3),
            ("HIGHEST_4", h4),
            ("HIGHEST_5", h5),
            ("TOKEN", ScriptValue::Integer(self.token.unwrap_or(0))),
        ])
    }

    /// Returns the text for the URCap's program node: definitions between `# HEADER_BEGIN` and `# HEADER_END`, then the
    /// statements that replace the node.
    ///
    /// # Errors
    /// No error occurs with values returned by [`ExternalControlProgram::values`].
    pub fn node<'a>(values: &'a [(&'a str, ScriptValue<'a>)], version: Version) -> Result<ScriptText<'a>, ScriptError> {
        ScriptText::new(Self::TEMPLATE, values, version)
    }

    /// Returns the whole external control program, for a port that runs programs.
    ///
    /// # Errors
    /// No error occurs with values returned by [`ExternalControlProgram::values`].
    pub fn headless<'a>(
        values: &'a [(&'a str, ScriptValue<'a>)],
        version: Version,
    ) -> Result<ScriptText<'a>, ScriptError> {
        ScriptText::within("def externalControl():\n", Self::TEMPLATE, values, version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_template_has_a_value_whatever_the_software() {
        let values = ExternalControlProgram::new(Ipv4Addr::LOCALHOST).values().unwrap();
        for version in (0..=30).flat_map(|minor| [1, 3, 5, 10].map(|major| Version::new(major, minor))) {
            let node = ExternalControlProgram::node(&values, version).unwrap();
            let headless = ExternalControlProgram::headless(&values, version).unwrap();
            assert!(headless.len() > node.len(), "{version}");
        }
    }

    #[test]
    fn numbers_outside_their_ranges_are_refused() {
        let good = ExternalControlProgram::new(Ipv4Addr::LOCALHOST);
        let speeds = |at: usize, speed| {
            let mut joint_speeds = good.joint_speeds;
            joint_speeds[at] = speed;
            ExternalControlProgram { joint_speeds, ..good }
        };
        for wrong in [
            ExternalControlProgram { lookahead: 0.02, ..good },
            ExternalControlProgram { gain: 99, ..good },
            ExternalControlProgram { acceleration: 0.0, ..good },
            ExternalControlProgram { stop_deceleration: f32::NAN, ..good },
            speeds(0, 0.0),
            speeds(5, 20.1),
            speeds(3, f32::NAN),
        ] {
            assert!(matches!(wrong.values(), Err(RenderError::Number { .. })), "{wrong:?}");
        }
        assert!(speeds(2, 0.01).values().is_ok());
    }
}
