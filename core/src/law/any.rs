//! The law a configuration asks for, as one type.

use super::{CartesianTwist, CartesianTwistConfig, JointServo, JointServoConfig, Law, Reference};
use super::{Standoff, StandoffConfig};
use crate::command::{Samples, SourceId};
use crate::kinematics::{KinematicChain, Posture};
use crate::robot::{BadValue, JointVelocities, Reason, State};
use crate::time::Duration;
use crate::trajectory::Progress;

/// Which law, with its settings.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
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
}

impl<const N: usize> LawConfig<N> {
    /// The law's name in configurations and reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::JointServo { .. } => "joint-servo",
            Self::CartesianTwist(_) => "twist",
            Self::Standoff(_) => "standoff",
        }
    }
}

/// Any of the laws.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum AnyLaw<const N: usize> {
    /// A [`JointServo`].
    JointServo(JointServo<N>),
    /// A [`CartesianTwist`].
    CartesianTwist(CartesianTwist<N>),
    /// A [`Standoff`].
    Standoff(Standoff<N>),
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
        }
    };
}

impl<const N: usize> Law<N> for AnyLaw<N> {
    fn use_kinematics(&mut self, chain: &KinematicChain<N>) {
        each!(self, law => law.use_kinematics(chain));
    }

    fn use_posture(&mut self, posture: &Posture<N>) {
        each!(self, law => law.use_posture(posture));
    }

    fn arm(&mut self, state: &State<N>) -> Result<(), Reason> {
        each!(self, law => law.arm(state))
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

    fn resume(&mut self, state: &State<N>) -> Result<(), Reason> {
        each!(self, law => law.resume(state))
    }

    fn progress(&self) -> Progress {
        each!(self, law => Law::<N>::progress(law))
    }

    super::recordable!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{TwistFrame, TwistInput};
    use crate::robot::Twist;

    #[test]
    fn settings_no_law_can_work_with_are_named() {
        let field = |config: LawConfig<6>| AnyLaw::new(config).err().map(|e| e.field);
        let servo = |change: fn(&mut JointServoConfig)| {
            let mut config = JointServoConfig::default();
            change(&mut config);
            field(LawConfig::JointServo { reference: Reference::Hold, config })
        };
        assert_eq!(servo(|_| {}), None);
        assert_eq!(servo(|c| c.proportional = f32::NAN), Some("proportional"));
        assert_eq!(servo(|c| c.derivative = -1.0), Some("derivative"));
        assert_eq!(servo(|c| c.feed_forward = 1.5), Some("feed_forward"));
        assert_eq!(servo(|c| c.correction_limit = 0.0), Some("correction_limit"));
        assert_eq!(servo(|c| c.path_tolerance = 0.0), Some("path_tolerance"));

        let standoff = |change: fn(&mut StandoffConfig)| {
            let mut config = StandoffConfig::new(SourceId(1), 0.1);
            change(&mut config);
            field(LawConfig::Standoff(config))
        };
        assert_eq!(standoff(|_| {}), None);
        assert_eq!(standoff(|c| c.distance = -0.1), Some("distance"));
        assert_eq!(standoff(|c| c.approach_limit = f32::INFINITY), Some("approach_limit"));
        assert_eq!(standoff(|c| c.travel[1] = f32::NAN), Some("travel"));
        assert_eq!(standoff(|c| c.tool_space.joint_speed = 0.0), Some("joint_speed"));
        assert_eq!(standoff(|c| c.tool_space.solver.damping = 0.0), Some("damping"));

        let twist = Twist { linear: [f32::NAN, 0.0, 0.0], angular: [0.0; 3] };
        let config = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Constant(twist));
        assert_eq!(field(LawConfig::CartesianTwist(config)), Some("twist"));
    }

    #[test]
    fn it_asks_for_the_sources_of_the_law_it_is() {
        let standoff = AnyLaw::<6>::new(LawConfig::Standoff(StandoffConfig::new(SourceId(7), 0.1))).unwrap();
        assert_eq!(standoff.sources(), [SourceId(7)]);
        let servo = LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() };
        assert_eq!(AnyLaw::<6>::new(servo).unwrap().sources(), []);
    }
}
