//! A control law that holds the joints on a reference: their positions at arming, a trajectory, or [streamed
//! positions](super::Forward); or that moves them by streamed speeds or torques.
//!
//! For each joint `v = f·v_ref + clamp(P·(q_ref − q) + D·(s·v_ref − v_measured), ±c) + g·sensor`, with the robot's
//! speed scaling `s`. P = 20 /s and D = 0.1 are the gains of Andersen's report of 2015. Far from the reference the P
//! term is limited so that the arm can be braked before it.
//!
//! On a path that accepts torques, each joint gets its highest torque times `G·(v − v_measured)`: a spring with a
//! damper about the reference.

#[cfg(feature = "trajectories")]
use super::Replaced;
use super::closing_speed::closing_speed;
#[cfg(feature = "motions")]
use super::feed_forward::add;
use super::feed_forward::{SensorAdds, SensorFeedForward};
#[cfg(feature = "motions")]
use super::streamed_commands::{Forward, ForwardError, Forwarded, Forwarding, Lead, Stream};
use super::{Excess, FeedError, Law, Motion, MotionStatus, Start, survey};
#[cfg(feature = "motions")]
use crate::command::towards;
use crate::command::{Limits, Samples};
use crate::robot::{BadValue, OfMotions, Reason, settings};
use crate::trajectory::{Leg, Progress, Sampler, Setpoint, Trajectory, Waypoint, within};
#[cfg(feature = "trajectories")]
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::math::bounded;
use outrigger_wire::robot::{JointPositions, JointVelocities, State};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// The position or motion that a [`JointServo`] follows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Reference<const N: usize> {
    /// The joint position that was measured at arming, when the law began to command the arm, and is held \[rad\].
    Hold,
    /// A motion in absolute joint angles; when first armed, the arm must be near the beginning of the motion.
    Absolute(Trajectory<N>),
    /// A motion relative to the joint position measured when first armed.
    Relative(Trajectory<N>),
}

impl<const N: usize> Reference<N> {
    /// Checks that an arm with these limits can execute the reference motion as far as it is known, without a reserve
    /// for feedback. Positions of a relative motion are not known beforehand and not checked.
    ///
    /// # Errors
    /// Returns the number, from 0, of the waypoint on the way to which the motion exceeds a limit, and the excess.
    pub fn check(&self, limits: &Limits<N>) -> Result<(), (u32, Excess)> {
        let (trajectory, origin) = match self {
            Self::Hold => return Ok(()),
            Self::Absolute(trajectory) => (trajectory, Some(&JointPositions::ZERO)),
            Self::Relative(trajectory) => (trajectory, None),
        };
        (1..)
            .zip(trajectory.legs())
            .try_for_each(|(to, leg)| survey(&leg, limits, origin).map_err(|excess| (to, excess)))
    }
}

settings! {
    /// The gains and limits of a [`JointServo`].
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct JointServoConfig in "" {
        /// The speed per position error \[1/s\]; 0 for a motion without feedback. At most a quarter of an error is
        /// corrected in one cycle: at 125 Hz this limits the gain to 31 /s, in cycles of 50 ms to 5 /s. On paths that
        /// send positions, an error about a resting reference is corrected by at most half within the time until the
        /// arm shows it: on the buffered path of a CB3 this limits the gain to 4.4 /s.
        pub proportional: f32 [0.0 to 100.0 "1/s"] = 20.0,
        /// The commanded speed of a joint per error in its speed, without unit.
        pub derivative: f32 [0.0 to 10.0] = 0.1,
        /// The part of the reference's own speed that is commanded, 0 to 1.
        pub feed_forward: f32 [0.0 to 1.0] = 1.0,
        /// The highest speed of each joint that feedback may request \[rad/s\].
        pub correction_limit: f32 [0.001 to 6.0 "rad/s"] = 1.0,
        /// The deceleration with which feedback approaches the reference \[rad/s²\]: must be well below the arm's
        /// acceleration limit, or the arm oscillates after a push. Infinite: not limited.
        pub correction_deceleration: f32 [0.001 to 50.0 "rad/s²"] or f32::INFINITY = 1.0,
        /// The speed of one joint up to which feedback may add to the reference's own \[rad/s\]: not above the arm's
        /// velocity limit, or catching up after a disturbance is refused there. Infinite: not limited.
        pub joint_speed: f32 [0.001 to 6.3 "rad/s"] or f32::INFINITY = f32::INFINITY,
        /// The distance of one joint from its reference at which commanding ends \[rad\].
        pub path_tolerance: f32 [0.001 to 6.3 "rad"] = 0.2,
        /// The time to reach full speed after a suspended motion was resumed.
        pub resume_ramp: Duration [0.0 to 60.0 "s"] = Duration::from_millis(500),
        /// The torque on a path that accepts torques, as a fraction of the joint's limit for each rad/s by which the
        /// joint is slower than requested \[s/rad\]: the damping of each joint, and with
        /// [`proportional`](Self::proportional) its stiffness.
        pub torque_gain: f32 [0.0 to 100.0 "s/rad"] = 2.0,
        /// The additional joint speeds, torques or wrench from a sensor; `None` for none.
        pub sensor nowhere: Option<SensorFeedForward> = None,
        /// The quantity that the numbers of that sensor are added to; a build without feature `motions` adds speeds.
        pub sensor_adds nowhere: OfMotions<SensorAdds> = OfMotions::<SensorAdds>::default(),
    }
}

impl JointServoConfig {
    /// Checks that a [`JointServo`] can work with these gains and limits.
    ///
    /// # Errors
    /// Returns the first setting that is out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        self.sensor.map_or(Ok(()), |sensor| SensorFeedForward::GAIN.check(sensor.gain, "sensor_gain"))
    }
}

/// The largest part of a joint's error that is corrected in one cycle: an arm shows the effect of a command two cycles
/// later at the soonest, and would oscillate about its reference.
const MOST_CORRECTED: f32 = 0.25;

/// A control law that holds the joints on a reference: a position, a motion, or streamed commands.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct JointServo<const N: usize> {
    config: JointServoConfig,
    motion: Option<Course<N>>,
    /// The tolerances of each joint's motion; `None` if [`JointServoConfig::path_tolerance`] applies to all joints.
    watch: Option<Watched<N>>,
    /// The streamed command that replaces the motion; `None` without one.
    stream: Option<Streamed<N>>,
    /// The joint position to hold while no motion runs \[rad\].
    hold: JointPositions<N>,
    /// The setpoint of the joints in the last step.
    setpoint: Setpoint<N>,
}

#[cfg(feature = "trajectories")]
type Watched<const N: usize> = Watch<N>;
/// A type without values for a motion's tolerances: without feature `trajectories` there are none, and they take no
/// memory.
#[cfg(not(feature = "trajectories"))]
type Watched<const N: usize> = crate::trajectory::Never;

#[cfg(feature = "motions")]
type Streamed<const N: usize> = Stream<N>;
/// A type without values for a stream of commands: without feature `motions` there are none, and they take no memory.
#[cfg(not(feature = "motions"))]
type Streamed<const N: usize> = crate::trajectory::Never;

#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Course<const N: usize> {
    sampler: Sampler<N>,
    relative: bool,
}

impl<const N: usize> JointServo<N> {
    /// Creates a servo whose joints follow `reference`.
    #[must_use]
    pub fn new(reference: Reference<N>, config: JointServoConfig) -> Self {
        let motion = |trajectory, relative| Course { sampler: Sampler::new(trajectory, config.resume_ramp), relative };
        let motion = match reference {
            Reference::Hold => None,
            Reference::Absolute(trajectory) => Some(motion(trajectory, false)),
            Reference::Relative(trajectory) => Some(motion(trajectory, true)),
        };
        Self { config, motion, watch: None, stream: None, hold: JointPositions::ZERO, setpoint: Setpoint::default() }
    }

    /// Returns the servo with tolerances for each joint of its motion, in place of one path tolerance for all. The
    /// motion is finished once every joint is within its goal's tolerance. At the beginning of the motion, and when it
    /// is resumed, the arm has to be within [`JointServoConfig::path_tolerance`] as well.
    #[cfg(feature = "trajectories")]
    #[must_use]
    pub const fn with_tolerances(mut self, tolerances: Tolerances<N>) -> Self {
        self.watch = Some(Watch::new(tolerances));
        self
    }

    /// Returns the gains and limits of the joint servo.
    #[must_use]
    pub const fn config(&self) -> &JointServoConfig {
        &self.config
    }

    /// Returns the present setpoint of the joints, from which a motion can be replaced or cancelled. Its speeds are in
    /// the motion's own time, without the robot's speed scaling.
    #[cfg(feature = "trajectories")]
    fn wanted_now(&self) -> Result<Setpoint<N>, FeedError> {
        #[cfg(feature = "motions")]
        if self.forwarding() != Forwarding::Idle {
            return Err(FeedError::Forwarded);
        }
        match (&self.motion, self.progress()) {
            (_, Progress::Waiting) => Err(FeedError::NotCommanding),
            (Some(motion), Progress::Running | Progress::Finished) => Ok(motion.sampler.standing()),
            // Also if there is a suspended motion: nobody has requested to resume it.
            (Some(_) | None, _) => Ok(Setpoint { positions: self.hold, velocities: JointVelocities::ZERO }),
        }
    }

    /// Returns the state of the stream of speeds, positions or torques.
    #[cfg(feature = "motions")]
    fn forwarding(&self) -> Forwarding {
        self.stream.as_ref().map_or(Forwarding::Idle, Stream::stage)
    }

    /// Returns the elapsed part of the joints' motion, in its own time, which the robot's speed scaling slows down.
    fn elapsed(&self) -> Duration {
        self.motion.as_ref().map_or(Duration::ZERO, |motion| motion.sampler.elapsed())
    }

    /// Returns the progress of the joints' motion: finished only once the arm itself has reached the goal.
    fn progress(&self) -> Progress {
        match self.motion.as_ref().map_or(Progress::Endless, |motion| motion.sampler.progress()) {
            Progress::Finished if !self.has_arrived() => Progress::Running,
            progress => progress,
        }
    }

    /// Resumes a suspended motion of the joints; does nothing if there is none. Fails if the arm in `state` is too far
    /// from the path.
    fn resume(&mut self, state: &State<N>) -> Result<(), Reason> {
        #[cfg(feature = "trajectories")]
        if let (Some(motion), Some(watch)) = (&self.motion, &self.watch)
            && motion.sampler.progress() == Progress::Suspended
        {
            let left = motion.sampler.on_path().positions;
            watch.allows(&state.positions.zip_with(left.as_array(), |q, p| q - p))?;
        }
        self.motion.as_mut().map_or(Ok(()), |m| m.sampler.resume(&state.positions, self.config.path_tolerance))
    }

    /// Checks that the joints are near enough to the reference in this step: `error` is their distance from it \[rad\].
    fn judge(&mut self, error: &JointPositions<N>, dt: Duration, scaling: f32) -> Result<(), Reason> {
        #[cfg(feature = "trajectories")]
        if let (Some(watch), Some(motion)) = (&mut self.watch, &self.motion) {
            return watch.observe(error, motion.sampler.progress() == Progress::Finished, dt, scaling);
        }
        #[cfg(feature = "motions")]
        if self.forwarding() == Forwarding::Positions {
            // Twice the distance of one command: the arm may still move the other way when it is sent back.
            return within(error, 2.0 * self.config.path_tolerance);
        }
        let _ = (dt, scaling);
        within(error, self.config.path_tolerance)
    }

    /// Returns whether every joint has been within its goal tolerance since the end of the motion; always `true` if the
    /// motion has no tolerances for each joint.
    fn has_arrived(&self) -> bool {
        #[cfg(feature = "trajectories")]
        return self.watch.as_ref().is_none_or(Watch::has_arrived);
        #[cfg(not(feature = "trajectories"))]
        self.watch.is_none()
    }

    /// Returns the setpoint of the joints in this step; advances a running motion by `dt`.
    fn reference(&mut self, dt: Duration, scaling: f32) -> Setpoint<N> {
        match &mut self.motion {
            // A finished motion is held at its end, not at the arm's present position.
            Some(motion) if matches!(motion.sampler.progress(), Progress::Running | Progress::Finished) => {
                motion.sampler.advance(dt, scaling)
            }
            Some(_) | None => Setpoint { positions: self.hold, velocities: JointVelocities::ZERO },
        }
    }

    /// Computes the joint speeds to command in this step \[rad/s\].
    #[inline(always)]
    fn speeds(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        if !(state.positions.is_finite() && state.velocities.is_finite()) {
            return Err(Reason::NotFinite);
        }
        #[cfg(feature = "motions")]
        let fastest = match self.stream.as_mut().map_or(Lead::Own, |stream| stream.step(state, dt)) {
            Lead::Own => None,
            Lead::Speeds(speeds) => {
                self.setpoint = Setpoint { positions: state.positions, velocities: speeds };
                return Ok(speeds);
            }
            Lead::Positions(positions, fastest) => {
                self.hold = positions;
                Some(fastest)
            }
            Lead::Rests => {
                self.hold = state.positions;
                None
            }
        };
        let scaling = state.scaling();
        self.setpoint = self.reference(dt, scaling);
        if self.motion.as_ref().is_some_and(|m| m.sampler.is_starved() && m.sampler.progress() == Progress::Running) {
            return Err(Reason::Starved);
        }
        let Setpoint { positions, velocities } = self.setpoint;
        let error = positions.zip_with(state.positions.as_array(), |r, q| r - q);
        self.judge(&error, dt, scaling)?;

        let JointServoConfig { derivative, feed_forward, joint_speed, .. } = self.config;
        let proportional = bounded(self.config.proportional, 0.0, MOST_CORRECTED / dt.as_secs_f32());
        // An arm that shows the effect of commands late would oscillate about its rest. While the reference moves, the
        // same gain compensates a part of that delay.
        let at_rest = bounded(proportional, 0.0, samples.most_feedback());
        let (limit, deceleration) = (self.config.correction_limit.abs(), self.config.correction_deceleration);
        let mut wanted = velocities;
        let measured = error.iter().zip(state.velocities.iter());
        for (v, (error, speed)) in wanted.0.iter_mut().zip(measured) {
            let closing = closing_speed(error, if *v == 0.0 { at_rest } else { proportional }, deceleration);
            let correction = closing + derivative * (scaling * *v - speed);
            let own = feed_forward * *v;
            // A reference that is itself too fast is not hidden: the governor refuses it.
            let bound = if own.abs() > joint_speed { own.abs() } else { joint_speed };
            *v = bounded(own + bounded(correction, -limit, limit), -bound, bound);
        }
        #[cfg(feature = "motions")]
        if let Some(fastest) = fastest {
            // Feedback alone may request more than the governor permits.
            wanted = wanted.zip_with(fastest.as_array(), |v, most| bounded(v, -*most, *most));
        }
        if let Some(SensorFeedForward { source, gain }) = self.config.sensor {
            let sample = samples.of(source).ok_or(Reason::SourceStale)?;
            #[cfg(feature = "motions")]
            if self.config.sensor_adds != SensorAdds::Speeds {
                add(self.config.sensor_adds, gain, sample.value.as_slice(), samples)?;
                return if wanted.is_finite() { Ok(wanted) } else { Err(Reason::NotFinite) };
            }
            for (v, s) in wanted.0.iter_mut().zip(sample.value.as_slice()) {
                *v += gain * s;
            }
        }
        if wanted.is_finite() { Ok(wanted) } else { Err(Reason::NotFinite) }
    }
}

impl<const N: usize> Law<N> for JointServo<N> {
    fn needs_kinematics(&self) -> bool {
        false
    }

    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        let state = start.state;
        if !state.positions.is_finite() {
            return Err(Reason::NotFinite);
        }
        self.stream = None;
        if let Some(motion) = &mut self.motion {
            match motion.sampler.progress() {
                Progress::Waiting if motion.relative => motion.sampler.start(state.positions),
                Progress::Waiting => {
                    let first = motion.sampler.trajectory().at_nanos(0).positions;
                    let off = state.positions.zip_with(first.as_array(), |q, f| q - f);
                    within(&off, self.config.path_tolerance)?;
                    #[cfg(feature = "trajectories")]
                    if let Some(watch) = &self.watch {
                        watch.allows(&off)?;
                    }
                    motion.sampler.start(JointPositions::ZERO);
                }
                // After a fallback the arm is not pulled back to the end of a finished motion.
                Progress::Finished => self.motion = None,
                Progress::Suspended | Progress::Running | Progress::Endless => {}
            }
        }
        self.hold = state.positions;
        if start.resume { self.resume(state) } else { Ok(()) }
    }

    #[cfg(feature = "motions")]
    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        let wanted = self.speeds(state, samples, dt)?;
        if let Some(torques) = self.stream.as_ref().and_then(Stream::torques) {
            if samples.torque_limits::<N>().is_some() {
                return samples.command_torques(torques);
            }
            // The arm is led nowhere, and yields to them.
            samples.add_torques(torques)?;
            return Ok(JointVelocities::ZERO);
        }
        let Some(most) = samples.torque_limits() else { return Ok(wanted) };
        samples.command_torques(&towards(&wanted, &state.velocities, &most, self.config.torque_gain))
    }

    #[cfg(not(feature = "motions"))]
    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        self.speeds(state, samples, dt)
    }

    fn sources(&self) -> &[SourceId] {
        self.config.sensor.as_ref().map_or(&[], |s| core::slice::from_ref(&s.source))
    }

    fn suspend(&mut self) {
        self.stream = None;
        #[cfg(feature = "trajectories")]
        let arrived = self.has_arrived();
        if let Some(motion) = &mut self.motion {
            #[cfg(feature = "trajectories")]
            if !arrived {
                motion.sampler.go_on_at_end();
            }
            motion.sampler.suspend();
        }
    }

    fn motion(&self) -> Option<&dyn Motion<N>> {
        Some(self)
    }

    fn motion_mut(&mut self) -> Option<&mut dyn Motion<N>> {
        Some(self)
    }
}

impl<const N: usize> Motion<N> for JointServo<N> {
    fn begins_at(&self) -> Option<(JointPositions<N>, f32)> {
        let waits = |motion: &&Course<N>| !motion.relative && motion.sampler.progress() == Progress::Waiting;
        let motion = self.motion.as_ref().filter(waits)?;
        Some((motion.sampler.trajectory().at_nanos(0).positions, self.config.path_tolerance))
    }

    fn status(&self) -> MotionStatus {
        MotionStatus {
            progress: self.progress(),
            elapsed: self.elapsed(),
            room: self.motion.as_ref().map_or(0, |motion| motion.sampler.room()),
            #[cfg(feature = "motions")]
            forwarding: self.forwarding(),
        }
    }

    fn setpoint(&self) -> Option<&Setpoint<N>> {
        Some(&self.setpoint)
    }

    fn feed(&mut self, waypoint: &Waypoint<N>, last: bool, limits: &Limits<N>) -> Result<(), FeedError> {
        let motion = self.motion.as_mut().ok_or(FeedError::NoMotion)?;
        let origin = motion.sampler.origin();
        // The positions of a relative motion are unknown before it has begun.
        let known = !(motion.relative && motion.sampler.progress() == Progress::Waiting);
        if let Some(from) = motion.sampler.trajectory().last().filter(|from| from.at < waypoint.at) {
            survey(&Leg::between(from, waypoint), limits, known.then_some(&origin)).map_err(FeedError::Beyond)?;
        }
        motion.sampler.feed(*waypoint, last).map_err(FeedError::Waypoint)
    }

    #[cfg(feature = "trajectories")]
    fn replace(&mut self, waypoints: &[Waypoint<N>], last: bool, limits: &Limits<N>) -> Result<Replaced, FeedError> {
        let replaced = Replaced { progress: self.progress(), elapsed: self.elapsed() };
        let now = self.wanted_now()?;
        let trajectory = Trajectory::going_on(now, waypoints, last).map_err(FeedError::Waypoint)?;
        let allowed = |leg: Leg<N>| survey(&leg, limits, Some(&JointPositions::ZERO));
        trajectory.legs().try_for_each(allowed).map_err(FeedError::Beyond)?;
        let mut sampler = Sampler::new(trajectory, self.config.resume_ramp);
        sampler.start(JointPositions::ZERO);
        if let Some(before) = &self.motion {
            sampler.scaled_like(&before.sampler);
        }
        self.motion = Some(Course { sampler, relative: false });
        if let Some(watch) = &mut self.watch {
            *watch = Watch::new(*watch.tolerances());
        }
        Ok(replaced)
    }

    #[cfg(feature = "trajectories")]
    fn cancel(&mut self, limits: &Limits<N>) -> Result<Replaced, FeedError> {
        let Setpoint { positions, velocities } = self.wanted_now()?;
        let slowest = velocities.iter().zip(limits.acceleration.iter()).map(|(speed, most)| speed.abs() / most);
        // Twice as long, for feedback and the controller's own filters; at rest a minimum time passes.
        let seconds = slowest.fold(0.001_f32, f32::max) * 2.0;
        let micros = if seconds < 100.0 { (seconds * 1e6) as u64 } else { 100_000_000 };
        let at = Duration::from_micros(micros);
        let half = at.as_secs_f32() * 0.5;
        let positions = positions.zip_with(velocities.as_array(), |q, v| q + v * half);
        let setpoint = Setpoint { positions, velocities: JointVelocities::ZERO };
        self.replace(&[Waypoint { setpoint, accelerations: None, at }], true, limits)
    }

    #[cfg(feature = "motions")]
    fn forward(&mut self, forward: &Forward<N>, state: &State<N>, limits: &Limits<N>) -> Result<(), ForwardError> {
        if self.config.sensor.is_some() {
            return Err(ForwardError::Sensor);
        }
        if matches!(self.progress(), Progress::Waiting | Progress::Running) {
            return Err(ForwardError::MotionUnderWay);
        }
        if matches!(forward.what, Forwarded::Positions(_)) && self.config.proportional == 0.0 {
            return Err(ForwardError::NoFeedback);
        }
        let mut stream = self.stream.unwrap_or_default();
        stream.take(forward, state, limits, self.config.path_tolerance)?;
        self.stream = Some(stream);
        // A motion that is over, or was suspended, is not continued from another position.
        self.motion = None;
        Ok(())
    }

    #[cfg(feature = "motions")]
    fn stand(&mut self, dt: Duration) {
        if let Some(stream) = &mut self.stream {
            stream.stand(dt);
        }
    }
}

super::recordable!(JointServo);

#[cfg(test)]
mod tests;
