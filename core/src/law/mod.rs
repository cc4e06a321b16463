//! Laws: from the arm's state and local sensors to the joint speeds of the next cycle.
//!
//! A law runs inside the engine, once for each fresh state, and holds no clock: `dt` is the time between
//! states by the controller's clock. What it wants is then held to the limits by the governor of
//! [`command`](crate::command). The engine calls, in this order:
//!
//! | call | when |
//! |---|---|
//! | [`Law::use_posture`] | in every mode, before a state is judged, where the controller measures tool and Jacobian: beside a KRC |
//! | [`Law::arm`] | before the first step of each `Command`, and before the first one after a motion that the controller made |
//! | [`Law::step`] | each state in `Command` that is answered by motion of the law: not while the robot's speed scaling holds the arm |
//! | [`Law::suspend`] | `Command` ended, for whatever reason, or the controller makes a motion by itself after the law was armed |
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
mod closing;
mod feed_forward;
#[cfg(feature = "motions")]
mod forward;
mod hold;
mod joint_servo;
mod motion;
#[cfg(test)]
mod plant;
mod standoff;
mod survey;
mod tool_axes;
mod tool_space;
mod values;

pub use cartesian_twist::{CartesianTwist, CartesianTwistConfig, TwistFrame, TwistInput};
pub use feed_forward::{SensorAdds, SensorFeedForward};
#[cfg(feature = "motions")]
pub use forward::{Forward, ForwardError, Forwarded, Forwarding};
pub use joint_servo::{JointServo, JointServoConfig, Reference};
#[cfg(feature = "trajectories")]
pub use motion::Replaced;
pub use motion::{Motion, MotionStatus};
pub use standoff::{Standoff, StandoffConfig};
pub use survey::{Excess, FeedError, Quantity, survey};
pub use tool_axes::{AxisConfig, PerAxis, ToolAxes, ToolAxesConfig, ToolAxis};
pub use tool_space::ToolSpaceConfig;
pub use values::{MAX_VALUES, Unit, Value, Values};

use crate::command::Samples;
use crate::kinematics::{KinematicChain, Posture};
use crate::recorder::Checkpoint;
use crate::robot::{BadValue, Reason};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The place from which a law begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Start<'a, const N: usize> {
    /// The newest state of the arm.
    pub state: &'a State<N>,
    /// The arm's kinematics, where they are known by now. A law without them keeps those of an earlier start.
    pub kinematics: Option<&'a KinematicChain<N>>,
    /// Set where a person asked to go on with a suspended motion. A law that has none begins anew.
    pub resume: bool,
}

impl<'a, const N: usize> Start<'a, N> {
    /// Returns a new beginning at `state`, without kinematics.
    #[must_use]
    pub const fn at(state: &'a State<N>) -> Self {
        Self { state, kinematics: None, resume: false }
    }

    /// Returns the same with the arm's kinematics.
    #[must_use]
    pub const fn with_kinematics(self, chain: &'a KinematicChain<N>) -> Self {
        Self { kinematics: Some(chain), ..self }
    }

    /// Returns the same for a law that is to go on with a suspended motion.
    #[must_use]
    pub const fn resuming(self) -> Self {
        Self { resume: true, ..self }
    }
}

/// A control law for an arm with `N` joints.
pub trait Law<const N: usize>: Checkpoint {
    /// Whether the law works with the arm's kinematics, whatever its state. Where not, they are not learned, and firmware
    /// is smaller.
    fn needs_kinematics(&self) -> bool {
        true
    }

    /// Takes tool and Jacobian of the state that is judged next, in place of kinematics: a KRC measures both.
    fn use_posture(&mut self, posture: &Posture<N>) {
        let _ = posture;
    }

    /// Takes the state of `start` as the place to begin from, so that the first step asks for no jump. A law that remembers
    /// nothing has nothing to take.
    ///
    /// # Errors
    /// Why the law cannot begin here: [`Reason::KinematicsUnknown`] for one that works with kinematics and has none,
    /// [`Reason::PathTolerance`] where the arm is too far from where its motion begins or was left.
    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        let _ = start;
        Ok(())
    }

    /// The joint speeds wanted now \[rad/s\]. `dt` is zero where the controller's clock stood still and may
    /// be long after lost states.
    ///
    /// # Errors
    /// Why the law cannot go on; commanding ends with this reason.
    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason>;

    /// The sources that each step needs.
    fn sources(&self) -> &[SourceId] {
        &[]
    }

    /// Takes note that nothing of the law goes out before it is armed again: a motion with an end is kept where it is. The law
    /// may never have been armed in this `Command`.
    fn suspend(&mut self) {}

    /// Returns the motion of a law that follows a trajectory, or positions and speeds that somebody streams.
    fn motion(&self) -> Option<&dyn Motion<N>> {
        None
    }

    /// Returns the [motion](Self::motion) to be fed, replaced or ended.
    fn motion_mut(&mut self) -> Option<&mut dyn Motion<N>> {
        None
    }

    /// Returns the numbers that are shown of the law while it commands, as of the last step.
    fn values(&self) -> Values {
        Values::NONE
    }
}

/// [`Checkpoint`] of a law that postcard can write.
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

/// Which law, with its settings.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum LawConfig<const N: usize> {
    /// A [`JointServo`].
    JointServo {
        /// What it follows.
        reference: Reference<N>,
        /// Its settings.
        config: JointServoConfig,
    },
    /// A [`CartesianTwist`].
    CartesianTwist(CartesianTwistConfig),
    /// A [`Standoff`].
    Standoff(StandoffConfig),
    /// A [`ToolAxes`].
    ToolAxes(ToolAxesConfig),
}

/// The built-in laws by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawKind {
    /// [`JointServo`].
    JointServo,
    /// [`CartesianTwist`].
    CartesianTwist,
    /// [`Standoff`].
    Standoff,
    /// [`ToolAxes`].
    ToolAxes,
}

impl LawKind {
    /// All built-in laws, each once: configurations offer these, and checks of documentation and settings look for each.
    pub const ALL: &'static [Self] = &[Self::JointServo, Self::CartesianTwist, Self::Standoff, Self::ToolAxes];

    /// Returns `true` for a law that commands torques on a path that takes them.
    #[must_use]
    pub const fn commands_torques(self) -> bool {
        matches!(self, Self::JointServo)
    }

    /// Returns the name in configurations and reports.
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
    /// Returns the law that these settings are for.
    #[must_use]
    pub const fn kind(&self) -> LawKind {
        match self {
            Self::JointServo { .. } => LawKind::JointServo,
            Self::CartesianTwist(_) => LawKind::CartesianTwist,
            Self::Standoff(_) => LawKind::Standoff,
            Self::ToolAxes(_) => LawKind::ToolAxes,
        }
    }

    /// The law's name in configurations and reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }
}

/// Any of the laws.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::large_enum_variant, reason = "of any arm the joint servo is larger: it holds waypoints of each joint")]
pub enum AnyLaw<const N: usize> {
    /// A [`JointServo`].
    JointServo(JointServo<N>),
    /// A [`CartesianTwist`].
    CartesianTwist(CartesianTwist<N>),
    /// A [`Standoff`].
    Standoff(Standoff<N>),
    /// A [`ToolAxes`].
    ToolAxes(ToolAxes<N>),
}

impl<const N: usize> AnyLaw<N> {
    /// The law of this configuration.
    ///
    /// # Errors
    /// The first setting it cannot work with.
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

/// The same call on whichever law it is.
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
