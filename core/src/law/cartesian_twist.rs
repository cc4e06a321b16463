//! A law that moves the tool by a twist, constant or from a sensor (a joystick, visual servoing, an external force
//! controller).

use super::twist_to_joint_speeds::ToolSpace;
use super::{Law, Start, ToolSpaceConfig};
use crate::command::Samples;
use crate::kinematics::Posture;
use crate::robot::{BadValue, Range, Reason, range_of, settings, words};
use outrigger_wire::math::{norm, scale};
use outrigger_wire::robot::{JointVelocities, State, Twist};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The frame whose axes a twist of the tool is expressed in. Its reference point is the tool centre point in both
/// cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum TwistFrame {
    /// The twist is expressed in the robot's base frame.
    Base,
    /// The twist is expressed in the frame of the tool in its present orientation.
    Tool,
}

words!(TwistFrame { "base" = Base, "tool" = Tool });

/// The source of the twist that the tool is moved by.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum TwistInput {
    /// A constant twist of the tool \[m/s, rad/s\], along and about the axes of the chosen frame.
    Constant(Twist),
    /// A twist of the tool from a sensor of six values: vx, vy, vz \[m/s\], ωx, ωy, ωz \[rad/s\].
    Source(SourceId),
}

settings! {
    /// Settings of a [`CartesianTwist`]; by default at most 0.1 m/s and 0.5 rad/s.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct CartesianTwistConfig in "" by new(frame: TwistFrame, input: TwistInput) {
        /// The frame whose axes the tool's twist is expressed in.
        pub frame: TwistFrame = frame,
        /// The source of the tool's twist: a constant or a sensor.
        pub input nowhere: TwistInput = input,
        /// The highest speed of the tool centre point \[m/s\]: a faster twist is scaled down as a whole.
        pub linear_limit: f32 [0.0001 to 2.0 "m/s"] = 0.1,
        /// The highest angular speed of the tool \[rad/s\]: a faster twist is scaled down as a whole.
        pub angular_limit: f32 [0.0001 to 6.0 "rad/s"] = 0.5,
        /// The settings of the conversion from the twist to joint speeds.
        pub tool_space here: ToolSpaceConfig = ToolSpaceConfig::default(),
    }
}

impl CartesianTwistConfig {
    /// The range of each number of a [constant](TwistInput::Constant) twist of the tool \[m/s, rad/s\].
    pub const TWIST: Range<f32> = range_of!(-2.0 to 2.0 "m/s, rad/s");
    /// Checks that a [`CartesianTwist`] can move the tool with these settings.
    ///
    /// # Errors
    /// Returns the first setting that is out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        if let TwistInput::Constant(twist) = self.input {
            let all = twist.linear.into_iter().chain(twist.angular);
            BadValue::unless(Self::TWIST.contains_all(all), "twist", Self::TWIST.text)?;
        }
        self.check_ranges()?;
        self.tool_space.check()
    }
}

/// A control law that moves the tool by a twist: a linear and an angular velocity.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct CartesianTwist<const N: usize> {
    config: CartesianTwistConfig,
    tool_space: ToolSpace<N>,
}

impl<const N: usize> CartesianTwist<N> {
    /// Creates the law that moves the tool by a twist, with these settings; it cannot be armed before the arm's
    /// kinematics are known.
    #[must_use]
    pub const fn new(config: CartesianTwistConfig) -> Self {
        Self { config, tool_space: ToolSpace::new(config.tool_space) }
    }

    fn wanted(&self, samples: &Samples<'_>) -> Result<Twist, Reason> {
        let twist = match self.config.input {
            TwistInput::Constant(twist) => twist,
            TwistInput::Source(source) => {
                let sample = samples.of(source).ok_or(Reason::SourceStale)?;
                let [vx, vy, vz, wx, wy, wz] = sample.value.as_slice() else {
                    return Err(Reason::SourceOutOfRange);
                };
                Twist { linear: [*vx, *vy, *vz], angular: [*wx, *wy, *wz] }
            }
        };
        let excess =
            (norm(twist.linear) / self.config.linear_limit).max(norm(twist.angular) / self.config.angular_limit);
        if excess <= 1.0 {
            return Ok(twist);
        }
        let slower = 1.0 / excess;
        Ok(Twist { linear: scale(twist.linear, slower), angular: scale(twist.angular, slower) })
    }
}

impl<const N: usize> Law<N> for CartesianTwist<N> {
    fn use_posture(&mut self, posture: &Posture<N>) {
        self.tool_space.set_posture(posture);
    }

    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        if let Some(chain) = start.kinematics {
            self.tool_space.set_chain(chain);
        }
        self.tool_space.posture(start.state, &mut None).map(|_| ())
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<N>, Reason> {
        let room = &mut None;
        let posture = self.tool_space.posture(state, room)?;
        let wanted = self.wanted(samples)?;
        let twist = match self.config.frame {
            TwistFrame::Base => wanted,
            TwistFrame::Tool => Twist {
                linear: posture.tcp.rotation.apply(wanted.linear),
                angular: posture.tcp.rotation.apply(wanted.angular),
            },
        };
        self.tool_space.realise(posture, &twist)
    }

    fn sources(&self) -> &[SourceId] {
        match &self.config.input {
            TwistInput::Constant(_) => &[],
            TwistInput::Source(source) => core::slice::from_ref(source),
        }
    }
}

super::recordable!(CartesianTwist);

#[cfg(test)]
mod tests;
