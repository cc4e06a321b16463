//! The conversion from a twist of the tool centre point to joint speeds, shared by all laws that move the tool.

use crate::kinematics::{DampedLeastSquares, KinematicChain, Posture};
use crate::robot::{BadValue, Reason, settings};
use outrigger_wire::robot::{JointVelocities, State, Twist};

settings! {
    /// Settings of the conversion from a twist of the tool to joint speeds.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ToolSpaceConfig in "" {
        /// The settings of the damped least squares solver for joint speeds.
        pub solver here: DampedLeastSquares = DampedLeastSquares::default(),
        /// The part of the tool's twist that may remain unreached near a singular pose, 0 … 1; beyond it commanding
        /// ends.
        pub unreached_limit: f32 [0.0 to 1.0] = 0.2,
        /// The highest speed of any joint \[rad/s\]: a twist that needs more is slowed without a change of direction.
        pub joint_speed: f32 [0.001 to 6.3 "rad/s"] = 1.0,
    }
}

impl ToolSpaceConfig {
    pub(super) fn check(&self) -> Result<(), BadValue> {
        self.solver.check_ranges()?;
        self.check_ranges()
    }
}

/// The available knowledge of an arm's kinematics.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Kinematics<const N: usize> {
    Unknown,
    /// The dimensions of the arm are known, from which the pose of every state can be computed.
    Chain(KinematicChain<N>),
    /// The controller has measured tool pose and Jacobian, valid for the newest state only.
    Measured(Posture<N>),
}

/// A converter from twists to joint speeds, with the arm's kinematics once they are known.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ToolSpace<const N: usize> {
    config: ToolSpaceConfig,
    kinematics: Kinematics<N>,
}

impl<const N: usize> ToolSpace<N> {
    pub(super) const fn new(config: ToolSpaceConfig) -> Self {
        Self { config, kinematics: Kinematics::Unknown }
    }

    pub(super) const fn set_chain(&mut self, chain: &KinematicChain<N>) {
        self.kinematics = Kinematics::Chain(*chain);
    }

    pub(super) const fn set_posture(&mut self, posture: &Posture<N>) {
        self.kinematics = Kinematics::Measured(*posture);
    }

    /// Returns the tool's pose and the Jacobian for the newest state. `room` stores them if they are computed, so that
    /// nothing is copied.
    pub(super) fn posture<'p>(
        &'p self,
        state: &State<N>,
        room: &'p mut Option<Posture<N>>,
    ) -> Result<&'p Posture<N>, Reason> {
        if !state.positions.is_finite() {
            return Err(Reason::NotFinite);
        }
        match &self.kinematics {
            Kinematics::Unknown => Err(Reason::KinematicsUnknown),
            Kinematics::Chain(chain) => Ok(room.insert(chain.posture(&state.positions))),
            Kinematics::Measured(posture) => Ok(posture),
        }
    }

    /// Returns the joint speeds \[rad/s\] that move the tool by `twist` \[m/s, rad/s\], given in the base frame: all
    /// scaled down if one exceeds [`ToolSpaceConfig::joint_speed`].
    pub(super) fn realise(&self, posture: &Posture<N>, twist: &Twist) -> Result<JointVelocities<N>, Reason> {
        let solution = self.config.solver.solve(&posture.jacobian, twist);
        if !(solution.velocities.is_finite() && solution.unreached.is_finite()) {
            return Err(Reason::NotFinite);
        }
        if solution.unreached > self.config.unreached_limit {
            return Err(Reason::Singular);
        }
        let fastest = solution.velocities.max_abs();
        if fastest <= self.config.joint_speed {
            return Ok(solution.velocities);
        }
        let slower = self.config.joint_speed / fastest;
        Ok(solution.velocities.map(|v| v * slower))
    }
}
