//! Control laws: algorithms that compute the joint speeds of the next cycle from the arm's state and local sensors.
//!
//! A law runs inside the engine, once for each fresh state, and reads no clock: `dt` is the time between states by the
//! controller's clock. The governor of [`command`](crate::command) then holds the speeds to the limits. The engine
//! calls, in this order:
//!
//! | call | when |
//! |---|---|
//! | [`Law::use_posture`] | in every mode, before a state is used, if the controller measures tool and Jacobian: with a KRC |
//! | [`Law::arm`] | before the first step of each `Command`, and before the first one after a motion executed by the controller |
//! | [`Law::step`] | for each state in `Command` that the law answers: not while the robot's speed scaling is 0 |
//! | [`Law::suspend`] | `Command` ended for any reason, or the controller executes a motion by itself after the law was armed |
//!
//! ```
//! use outrigger_core::command::Samples;
//! use outrigger_core::{Checkpoint, Duration, JointVelocities, Law, Reason, State};
//!
//! /// Turns the last joint.
//! struct Spin(f32);
//!
//! impl Checkpoint for Spin {}
//! impl Law<6> for Spin {
//!     fn step(&mut self, _: &State<6>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<6>, Reason> {
//!         Ok(JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, self.0]))
//!     }
//! }
//! assert_eq!(Spin(0.1).step(&State::default(), &Samples::NONE, Duration::ZERO).unwrap().0[5], 0.1);
//! ```

mod cartesian_twist;
mod closing_speed;
mod feed_forward;
mod hold_correction;
mod joint_servo;
mod limit_check;
mod motion;
mod standoff;
#[cfg(feature = "motions")]
mod streamed_commands;
#[cfg(test)]
mod test_arm;
mod tool_axes;
mod twist_to_joint_speeds;
mod values;

pub use cartesian_twist::{CartesianTwist, CartesianTwistConfig, TwistFrame, TwistInput};
pub use feed_forward::{SensorAdds, SensorFeedForward};
pub use joint_servo::{JointServo, JointServoConfig, Reference};
pub use limit_check::{Excess, FeedError, Quantity, survey};
#[cfg(feature = "trajectories")]
pub use motion::Replaced;
pub use motion::{Motion, MotionStatus};
pub use standoff::{Standoff, StandoffConfig};
#[cfg(feature = "motions")]
pub use streamed_commands::{Forward, ForwardError, Forwarded, Forwarding};
pub use tool_axes::{AxisConfig, PerAxis, ToolAxes, ToolAxesConfig, ToolAxis};
pub use twist_to_joint_speeds::ToolSpaceConfig;
pub use values::{MAX_VALUES, Unit, Value, Values};

use crate::command::Samples;
use crate::kinematics::{KinematicChain, Posture};
use crate::recorder::Checkpoint;
use crate::robot::{BadValue, Reason};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The state of the arm from which a control law begins to command it, with the arm's kinematics if these are known.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Start<'a, const N: usize> {
    /// The newest state of the arm, from which the law begins.
    pub state: &'a State<N>,
    /// The arm's kinematics, if known by now. Without them a law keeps those of an earlier start.
    pub kinematics: Option<&'a KinematicChain<N>>,
    /// `true` if a person requested that a suspended motion be resumed. A law without a suspended motion begins anew.
    pub resume: bool,
}

impl<'a, const N: usize> Start<'a, N> {
    /// Returns the start of a law at the arm's `state`, without kinematics.
    #[must_use]
    pub const fn at(state: &'a State<N>) -> Self {
        Self { state, kinematics: None, resume: false }
    }

    /// Returns the start of the law with the arm's kinematics added.
    #[must_use]
    pub const fn with_kinematics(self, chain: &'a KinematicChain<N>) -> Self {
        Self { kinematics: Some(chain), ..self }
    }

    /// Returns the start of the law, marked as the resumption of a suspended motion.
    #[must_use]
    pub const fn resuming(self) -> Self {
        Self { resume: true, ..self }
    }
}

/// A control law for an arm with `N` joints.
pub trait Law<const N: usize>: Checkpoint {
    /// Returns whether the law uses the arm's kinematics in any of its states, which is the default. If not, the engine
    /// does not determine them, and firmware is smaller.
    fn needs_kinematics(&self) -> bool {
        true
    }

    /// Provides the tool's pose and the Jacobian of the state that is used next, in place of kinematics: the controller
    /// of a KUKA arm (KRC) measures both.
    fn use_posture(&mut self, posture: &Posture<N>) {
        let _ = posture;
    }

    /// Initialises the law with the state of `start`, before the first step of each period in which the law commands
    /// the arm, so that this step commands no jump. The default, for laws without memory, does nothing.
    ///
    /// # Errors
    /// Returns the reason why the law cannot begin: [`Reason::KinematicsUnknown`] if it uses kinematics and has none,
    /// [`Reason::PathTolerance`] if the arm is too far from where its motion begins or was suspended.
    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        let _ = start;
        Ok(())
    }

    /// Computes the joint speeds for the present cycle \[rad/s\]. `dt` is zero if the controller's clock did not
    /// advance, and may be long after lost states.
    ///
    /// # Errors
    /// Returns the reason why the law cannot continue; commanding ends with it.
    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason>;

    /// Returns the sensors whose readings the law needs in each step; none by default.
    fn sources(&self) -> &[SourceId] {
        &[]
    }

    /// Notifies the law that its output is no longer sent, until the law is armed again: a motion with an end is
    /// suspended at its present time. May be called even if the law was not armed since commanding began.
    fn suspend(&mut self) {}

    /// Returns the motion of a law that follows a trajectory, or streamed positions and speeds; `None` for other laws.
    fn motion(&self) -> Option<&dyn Motion<N>> {
        None
    }

    /// Returns the law's [motion](Self::motion), to feed, replace or end it; `None` for a law without one.
    fn motion_mut(&mut self) -> Option<&mut dyn Motion<N>> {
        None
    }

    /// Returns the values that are displayed to people for the law while it commands, as of the last step; none by
    /// default.
    fn values(&self) -> Values {
        Values::NONE
    }
}

/// Implements [`Checkpoint`] for a law whose state postcard can encode.
macro_rules! recordable {
    ($law:ident) => {
        impl<const N: usize> crate::recorder::Checkpoint for $law<N> {
            #[cfg(feature = "record")]
            fn save(&self, to: &mut crate::recorder::Saver<'_>) -> Option<()> {
                to.put(self)
            }

            #[cfg(feature = "record")]
            fn load(&mut self, from: &mut crate::recorder::Loader<'_>) -> Option<()> {
                *self = from.take()?;
                Some(())
            }
        }
    };
}
use recordable;

/// The choice of a built-in law, with its settings.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum LawConfig<const N: usize> {
    /// The law [`JointServo`], which holds or moves the joints, with its settings.
    JointServo {
        /// The position or the motion that the joint servo follows.
        reference: Reference<N>,
        /// The gains and limits of the joint servo.
        config: JointServoConfig,
    },
    /// The law [`CartesianTwist`], which moves the tool by a twist, with its settings.
    CartesianTwist(CartesianTwistConfig),
    /// The law [`Standoff`], which holds the tool at a distance from a surface, with its settings.
    Standoff(StandoffConfig),
    /// The law [`ToolAxes`], which moves axes of the tool by sensors, with its settings.
    ToolAxes(ToolAxesConfig),
}

/// The kinds of built-in laws, without their settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawKind {
    /// The law [`JointServo`], which holds or moves the joints.
    JointServo,
    /// The law [`CartesianTwist`], which moves the tool by a twist.
    CartesianTwist,
    /// The law [`Standoff`], which holds the tool at a distance from a surface.
    Standoff,
    /// The law [`ToolAxes`], which moves axes of the tool by sensors.
    ToolAxes,
}

impl LawKind {
    /// The built-in laws, each once: configurations offer these, and checks of documentation and settings search for
    /// each.
    pub const ALL: &'static [Self] = &[Self::JointServo, Self::CartesianTwist, Self::Standoff, Self::ToolAxes];

    /// Returns `true` for a law that commands joint torques if the way of commanding accepts them; other laws command
    /// speeds.
    #[must_use]
    pub const fn commands_torques(self) -> bool {
        matches!(self, Self::JointServo)
    }

    /// Returns the name of the law in configurations and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::JointServo => "joint-servo",
            Self::CartesianTwist => "twist",
            Self::Standoff => "standoff",
            Self::ToolAxes => "axes",
        }
    }
}

impl<const N: usize> LawConfig<N> {
    /// Returns the kind of law that these settings are for.
    #[must_use]
    pub const fn kind(&self) -> LawKind {
        match self {
            Self::JointServo { .. } => LawKind::JointServo,
            Self::CartesianTwist(_) => LawKind::CartesianTwist,
            Self::Standoff(_) => LawKind::Standoff,
            Self::ToolAxes(_) => LawKind::ToolAxes,
        }
    }

    /// Returns the law's name in configurations and reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }
}

/// A control law of any of the built-in kinds, which calls the law that it contains.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::large_enum_variant, reason = "of any arm the joint servo is larger: it holds waypoints of each joint")]
pub enum AnyLaw<const N: usize> {
    /// The law [`JointServo`], which holds or moves the joints.
    JointServo(JointServo<N>),
    /// The law [`CartesianTwist`], which moves the tool by a twist.
    CartesianTwist(CartesianTwist<N>),
    /// The law [`Standoff`], which holds the tool at a distance from a surface.
    Standoff(Standoff<N>),
    /// The law [`ToolAxes`], which moves axes of the tool by sensors.
    ToolAxes(ToolAxes<N>),
}

impl<const N: usize> AnyLaw<N> {
    /// Creates the built-in law of this configuration, with its settings.
    ///
    /// # Errors
    /// Returns the first setting that is invalid.
    pub fn new(config: LawConfig<N>) -> Result<Self, BadValue> {
        Ok(match config {
            LawConfig::JointServo { reference, config } => {
                config.check()?;
                Self::JointServo(JointServo::new(reference, config))
            }
            LawConfig::CartesianTwist(config) => {
                config.check()?;
                Self::CartesianTwist(CartesianTwist::new(config))
            }
            LawConfig::Standoff(config) => {
                config.check()?;
                Self::Standoff(Standoff::new(config))
            }
            LawConfig::ToolAxes(config) => {
                config.check()?;
                Self::ToolAxes(ToolAxes::new(config))
            }
        })
    }
}

/// Calls the same method of the law in every variant of [`AnyLaw`].
macro_rules! each {
    ($any:expr, $law:ident => $call:expr) => {
        match $any {
            AnyLaw::JointServo($law) => $call,
            AnyLaw::CartesianTwist($law) => $call,
            AnyLaw::Standoff($law) => $call,
            AnyLaw::ToolAxes($law) => $call,
        }
    };
}

#[warn(clippy::missing_trait_methods)]
impl<const N: usize> Law<N> for AnyLaw<N> {
    fn needs_kinematics(&self) -> bool {
        each!(self, law => Law::<N>::needs_kinematics(law))
    }

    fn use_posture(&mut self, posture: &Posture<N>) {
        each!(self, law => law.use_posture(posture));
    }

    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        each!(self, law => law.arm(start))
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        each!(self, law => law.step(state, samples, dt))
    }

    fn sources(&self) -> &[SourceId] {
        each!(self, law => Law::<N>::sources(law))
    }

    fn suspend(&mut self) {
        each!(self, law => Law::<N>::suspend(law));
    }

    fn motion(&self) -> Option<&dyn Motion<N>> {
        each!(self, law => law.motion())
    }

    fn motion_mut(&mut self) -> Option<&mut dyn Motion<N>> {
        each!(self, law => law.motion_mut())
    }

    fn values(&self) -> Values {
        each!(self, law => Law::<N>::values(law))
    }
}

recordable!(AnyLaw);

#[cfg(test)]
mod tests;
