//! The program that speaks External Control's wire on the controller: its template and what is filled in.

use core::net::Ipv4Addr;

use super::error::{Argument, Range, RenderError};
use super::motion::{ServoJ, SpeedJ, StopJ};
use super::program::{ScriptError, ScriptText, ScriptValue};
use super::version::Version;

/// Settings of the program that speaks the wire of External Control (`urscript/programs/external_control.script`): the
/// robot's side, with a computer that runs a driver for it on the other.
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
    /// The computer.
    pub host: Ipv4Addr,
    /// Its port for control messages.
    pub reverse_port: u16,
    /// Its port for points of trajectories.
    pub trajectory_port: u16,
    /// Its port for commands that are done once.
    pub command_port: u16,
    /// Look-ahead time of `servoj` \[s\]; [`ServoJ::LOOKAHEAD`].
    pub lookahead: f32,
    /// Gain of `servoj`; [`ServoJ::GAIN`].
    pub gain: u16,
    /// Acceleration of the leading joint where speeds are ordered \[rad/s²\]; [`SpeedJ::ACCELERATION`].
    pub acceleration: f32,
    /// Deceleration of every stop \[rad/s²\]; [`StopJ::DECELERATION`].
    pub stop_deceleration: f32,
    /// How fast each joint may turn \[rad/s\]; [`ExternalControlProgram::JOINT_SPEED`].
    pub joint_speeds: [f32; 6],
    /// Limits in the mode of torques.
    pub torque: TorqueBounds,
    /// A number from 1 on by which the computer knows this text: the program sends it, big-endian, as the first four bytes of each
    /// of its connections, and takes a point of a trajectory only if its last number is the token less the number of its kind.
    /// Without one it does neither, as UR's own program.
    pub token: Option<i32>,
}

/// Limits of an arm that moves by torques: beyond one of them the program brings it to rest and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorqueBounds {
    /// Highest torque of each joint \[Nm\].
    pub torque: [f32; 6],
    /// Highest change of each torque in a second \[Nm/s\]: a larger change comes later.
    pub rate: [f32; 6],
    /// Distance of each joint from where torques began \[rad\]; it has to come to rest before.
    pub travel: f32,
    /// Lowest angle of each joint \[rad\]; it has to come to rest before.
    pub lowest: [f32; 6],
    /// Highest angle of each joint \[rad\].
    pub highest: [f32; 6],
    /// Deceleration that the ways to rest are reckoned with \[rad/s²\].
    pub braking: f32,
}

impl TorqueBounds {
    /// More than any arm has, as UR's own program, which knows no limits.
    pub const WIDE: Self = Self {
        torque: [1000.0; 6],
        rate: [1_000_000.0; 6],
        travel: 1000.0,
        lowest: [-1000.0; 6],
        highest: [1000.0; 6],
        braking: 50.0,
    };

    /// Range of every torque \[Nm\], angle and travel \[rad\].
    pub const RANGE: Range = Range::new(-1100.0, 1100.0);
    /// Range of every rate \[Nm/s\].
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

/// What the places of the template become.
pub type ExternalControlValues = [(&'static str, ScriptValue<'static>); 42];

impl ExternalControlProgram {
    /// The text that is rendered, with its places.
    pub const TEMPLATE: &str = include_str!("../../programs/external_control.script");
    /// Speeds that a joint may be held to \[rad/s\]; the program ignores positions that would need more than 20.
    pub const JOINT_SPEED: Range = Range::new(0.01, 20.0);

    /// The ports and numbers that UR's driver has, and no limit of a joint below the 20 rad/s that its program has.
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

    /// What is filled in.
    ///
    /// # Errors
    /// A number that is not finite or out of its range.
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

    /// The text for the URCap's node: definitions between `# HEADER_BEGIN` and `# HEADER_END`, then what stands in place of the
    /// node.
    ///
    /// # Errors
    /// None with values of [`ExternalControlProgram::values`].
    pub fn node<'a>(values: &'a [(&'a str, ScriptValue<'a>)], version: Version) -> Result<ScriptText<'a>, ScriptError> {
        ScriptText::new(Self::TEMPLATE, values, version)
    }

    /// The whole program, to be sent to a port that runs programs.
    ///
    /// # Errors
    /// None with values of [`ExternalControlProgram::values`].
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
