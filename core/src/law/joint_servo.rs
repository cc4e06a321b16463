//! Holds the joints on a reference: where they were at arming, or a trajectory.
//!
//! For each joint `v = f·v_ref + clamp(P·(q_ref − q) + D·(s·v_ref − v_measured), ±c) + g·sensor`, with the
//! robot's speed scaling `s`. P = 20 /s and D = 0.1 are the gains of Andersen's report of 2015. Far from the
//! reference the P term is kept so small that the arm can be braked in front of it.

use super::closing::closing_speed;
use super::{Law, LawConfigError};
use crate::command::{Limits, Samples, SourceId};
use crate::math::bounded;
use crate::robot::{JointPositions, JointVelocities, Range, Reason, State, range, seconds};
use crate::time::Duration;
use crate::trajectory::{Progress, Sampler, Setpoint, Trajectory, within};

/// What a [`JointServo`] follows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum Reference<const N: usize> {
    /// The measured position at arming.
    Hold,
    /// A motion given in joint angles; the arm must stand near its beginning when first armed.
    Absolute(Trajectory<N>),
    /// A motion added to the position measured when first armed.
    Relative(Trajectory<N>),
}

impl<const N: usize> Reference<N> {
    /// Whether an arm with these limits can make the motion, with nothing to spare for feedback. Where a
    /// relative motion ends up is not known beforehand.
    ///
    /// # Errors
    /// What the motion exceeds.
    pub fn check(&self, limits: &Limits<N>) -> Result<(), LawConfigError> {
        let (trajectory, absolute) = match self {
            Self::Hold => return Ok(()),
            Self::Absolute(trajectory) => (trajectory, true),
            Self::Relative(trajectory) => (trajectory, false),
        };
        let below = |a: &[f32; N], b: &[f32; N]| a.iter().zip(b).all(|(a, b)| a <= b);
        let fast = below(trajectory.peak_velocities().as_array(), limits.velocity.as_array());
        LawConfigError::unless(fast, "waypoint", "a motion within the velocity limits")?;
        let steep = below(trajectory.peak_accelerations().as_array(), limits.acceleration.as_array());
        LawConfigError::unless(steep, "waypoint", "a motion within the acceleration limits")?;
        let (lowest, highest) = trajectory.extent();
        let inside = below(limits.position_min.as_array(), lowest.as_array())
            && below(highest.as_array(), limits.position_max.as_array());
        LawConfigError::unless(inside || !absolute, "waypoint", "a motion within the position limits")
    }
}

/// Joint speeds \[rad/s\] from a sensor, added to the servo's: number i of the sample moves joint i.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct SensorFeedForward {
    /// The sensor.
    pub source: SourceId,
    /// Factor on its numbers.
    pub gain: f32,
}

/// Gains and bounds of a [`JointServo`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct JointServoConfig {
    /// Speed per position error \[1/s\]; 0 for a motion without feedback.
    pub proportional: f32,
    /// Speed per speed error \[1\].
    pub derivative: f32,
    /// Part of the reference's own speed that is commanded, 0 … 1.
    pub feed_forward: f32,
    /// Most speed of one joint that feedback may ask for \[rad/s\].
    pub correction_limit: f32,
    /// Deceleration with which feedback nears the reference \[rad/s²\]: well below the arm's acceleration limit,
    /// or a push is answered by swinging to and fro. Infinite: not minded.
    pub correction_deceleration: f32,
    /// Speed of one joint up to which feedback may add to the reference's own \[rad/s\]: not above the arm's
    /// velocity limit, or catching up after a disturbance is refused there. Infinite: not limited.
    pub joint_speed: f32,
    /// Distance of one joint from its reference that ends commanding \[rad\].
    pub path_tolerance: f32,
    /// Time to full speed when a suspended motion is resumed.
    pub resume_ramp: Duration,
    /// Added speeds from a sensor.
    pub sensor: Option<SensorFeedForward>,
}

impl SensorFeedForward {
    /// Range of [`gain`](Self::gain).
    pub const GAIN: Range<f32> = range!(-1000.0, 1000.0, "");
}

impl Default for JointServoConfig {
    fn default() -> Self {
        Self {
            proportional: 20.0,
            derivative: 0.1,
            feed_forward: 1.0,
            correction_limit: 1.0,
            correction_deceleration: 1.0,
            joint_speed: f32::INFINITY,
            path_tolerance: 0.2,
            resume_ramp: Duration::from_millis(500),
            sensor: None,
        }
    }
}

impl JointServoConfig {
    /// Range of [`proportional`](Self::proportional).
    pub const PROPORTIONAL: Range<f32> = range!(0.0, 100.0, " 1/s");
    /// Range of [`derivative`](Self::derivative).
    pub const DERIVATIVE: Range<f32> = range!(0.0, 10.0, "");
    /// Range of [`feed_forward`](Self::feed_forward).
    pub const FEED_FORWARD: Range<f32> = range!(0.0, 1.0, "");
    /// Range of [`correction_limit`](Self::correction_limit).
    pub const CORRECTION_LIMIT: Range<f32> = range!(0.001, 6.0, " rad/s");
    /// Range of [`correction_deceleration`](Self::correction_deceleration), infinity aside.
    pub const CORRECTION_DECELERATION: Range<f32> = range!(0.001, 50.0, " rad/s²");
    /// Range of [`joint_speed`](Self::joint_speed), infinity aside.
    pub const JOINT_SPEED: Range<f32> = range!(0.001, 6.3, " rad/s");
    /// Range of [`path_tolerance`](Self::path_tolerance).
    pub const PATH_TOLERANCE: Range<f32> = range!(0.001, 6.3, " rad");
    /// Range of [`resume_ramp`](Self::resume_ramp).
    pub const RESUME_RAMP: Range<Duration> = seconds!(0.0, 60.0);

    /// Whether a law can work with these settings.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn check(&self) -> Result<(), LawConfigError> {
        LawConfigError::outside(Self::PROPORTIONAL, self.proportional, "proportional")?;
        LawConfigError::outside(Self::DERIVATIVE, self.derivative, "derivative")?;
        LawConfigError::outside(Self::FEED_FORWARD, self.feed_forward, "feed_forward")?;
        LawConfigError::outside(Self::CORRECTION_LIMIT, self.correction_limit, "correction_limit")?;
        if self.correction_deceleration != f32::INFINITY {
            let range = Self::CORRECTION_DECELERATION;
            LawConfigError::outside(range, self.correction_deceleration, "correction_deceleration")?;
        }
        if self.joint_speed != f32::INFINITY {
            LawConfigError::outside(Self::JOINT_SPEED, self.joint_speed, "joint_speed")?;
        }
        LawConfigError::outside(Self::PATH_TOLERANCE, self.path_tolerance, "path_tolerance")?;
        LawConfigError::outside(Self::RESUME_RAMP, self.resume_ramp, "resume_ramp")?;
        self.sensor.map_or(Ok(()), |s| LawConfigError::outside(SensorFeedForward::GAIN, s.gain, "sensor_gain"))
    }
}

/// Position servo of the joints.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct JointServo<const N: usize> {
    config: JointServoConfig,
    motion: Option<Motion<N>>,
    /// Where to stand while no motion runs.
    hold: JointPositions<N>,
    /// What the last step was reckoned with.
    setpoint: Setpoint<N>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
struct Motion<const N: usize> {
    sampler: Sampler<N>,
    relative: bool,
}

impl<const N: usize> JointServo<N> {
    /// A servo on `reference`.
    #[must_use]
    pub fn new(reference: Reference<N>, config: JointServoConfig) -> Self {
        let motion = |trajectory, relative| Motion { sampler: Sampler::new(trajectory, config.resume_ramp), relative };
        let motion = match reference {
            Reference::Hold => None,
            Reference::Absolute(trajectory) => Some(motion(trajectory, false)),
            Reference::Relative(trajectory) => Some(motion(trajectory, true)),
        };
        Self { config, motion, hold: JointPositions::ZERO, setpoint: Setpoint::default() }
    }

    /// Gains and bounds.
    #[must_use]
    pub const fn config(&self) -> &JointServoConfig {
        &self.config
    }

    /// Where the joints were to be in the last step, and how fast; all zero before the first.
    #[must_use]
    pub const fn setpoint(&self) -> &Setpoint<N> {
        &self.setpoint
    }

    /// Where the joints should be now, and how fast: advances a running motion.
    fn reference(&mut self, dt: Duration, scaling: f32) -> Setpoint<N> {
        match &mut self.motion {
            Some(motion) if motion.sampler.progress() == Progress::Running => motion.sampler.advance(dt, scaling),
            // At its end a motion is held where it ends, not where the arm happened to be.
            Some(motion) if motion.sampler.progress() == Progress::Finished => motion.sampler.advance(dt, scaling),
            Some(_) | None => Setpoint { positions: self.hold, velocities: JointVelocities::ZERO },
        }
    }
}

impl<const N: usize> Law<N> for JointServo<N> {
    fn arm(&mut self, state: &State<N>) -> Result<(), Reason> {
        if !state.positions.is_finite() {
            return Err(Reason::NotFinite);
        }
        if let Some(motion) = &mut self.motion {
            match motion.sampler.progress() {
                Progress::Waiting if motion.relative => motion.sampler.start(state.positions),
                Progress::Waiting => {
                    let first = motion.sampler.trajectory().at_nanos(0).positions;
                    within(&state.positions.zip_with(first.as_array(), |q, f| q - f), self.config.path_tolerance)?;
                    motion.sampler.start(JointPositions::ZERO);
                }
                // A motion that is over is not pulled back to its end after a fallback.
                Progress::Finished => self.motion = None,
                Progress::Suspended | Progress::Running | Progress::Endless => {}
            }
        }
        self.hold = state.positions;
        Ok(())
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        if !(state.positions.is_finite() && state.velocities.is_finite()) {
            return Err(Reason::NotFinite);
        }
        let scaling = state.scaling();
        self.setpoint = self.reference(dt, scaling);
        let Setpoint { positions, velocities } = self.setpoint;
        let error = positions.zip_with(state.positions.as_array(), |r, q| r - q);
        within(&error, self.config.path_tolerance)?;

        let JointServoConfig { proportional, derivative, feed_forward, joint_speed, .. } = self.config;
        let (limit, deceleration) = (self.config.correction_limit.abs(), self.config.correction_deceleration);
        let mut wanted = velocities;
        let measured = error.iter().zip(state.velocities.iter());
        for (v, (error, speed)) in wanted.0.iter_mut().zip(measured) {
            let closing = closing_speed(error, proportional, deceleration);
            let correction = closing + derivative * (scaling * *v - speed);
            let own = feed_forward * *v;
            // A reference that is itself too fast is not hidden: the governor refuses it.
            let bound = if own.abs() > joint_speed { own.abs() } else { joint_speed };
            *v = bounded(own + bounded(correction, -limit, limit), -bound, bound);
        }
        if let Some(SensorFeedForward { source, gain }) = self.config.sensor {
            let sample = samples.of(source).ok_or(Reason::SourceStale)?;
            for (v, s) in wanted.0.iter_mut().zip(sample.value.as_slice()) {
                *v += gain * s;
            }
        }
        if wanted.is_finite() { Ok(wanted) } else { Err(Reason::NotFinite) }
    }

    fn sources(&self) -> &[SourceId] {
        self.config.sensor.as_ref().map_or(&[], |s| core::slice::from_ref(&s.source))
    }

    fn suspend(&mut self) {
        if let Some(motion) = &mut self.motion {
            motion.sampler.suspend();
        }
    }

    fn resume(&mut self, state: &State<N>) -> Result<(), Reason> {
        self.arm(state)?;
        self.motion.as_mut().map_or(Ok(()), |m| m.sampler.resume(&state.positions, self.config.path_tolerance))
    }

    fn progress(&self) -> Progress {
        self.motion.as_ref().map_or(Progress::Endless, |m| m.sampler.progress())
    }

    super::recordable!();
}

#[cfg(test)]
mod tests;
