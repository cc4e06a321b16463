//! A sampler of trajectories whose time advances by the robot's speed scaling.
//!
//! | state | time | left when |
//! |---|---|---|
//! | `Waiting` | at zero | started |
//! | `Running` | advances by scaling (0 = frozen, not a fault), which rises ≤ 2.5 /s | end reached; suspended |
//! | `Suspended` | frozen, whatever the robot does | resumed explicitly, with the arm near enough |
//! | `Finished` | at its end | started again |

use super::{Setpoint, Trajectory, TrajectoryError, Waypoint};
use crate::robot::Reason;
use outrigger_wire::math::bounded;
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

/// The progress of a motion of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Progress {
    /// The control law has no end: it continues until commanding ends.
    Endless,
    /// The motion has not started yet.
    Waiting,
    /// The motion is being executed.
    Running,
    /// The motion is suspended: it continues only when it is resumed explicitly.
    Suspended,
    /// The motion has reached its end.
    Finished,
}

/// The greatest rate at which the time of a motion accelerates when the robot's scaling rises \[1/s\]. The arm follows
/// later than the reported scaling, by its own lag and by queued positions. If the motion continued at full pace at
/// once, the arm would catch up at the highest speed it is allowed.
const RISE: f32 = 2.5;

/// A sampler that evaluates a trajectory cycle by cycle.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Sampler<const N: usize> {
    trajectory: Trajectory<N>,
    /// The offset added to every position \[rad\]: zero, or the position where a relative motion started.
    origin: JointPositions<N>,
    progress: Progress,
    /// The trajectory's elapsed time \[ns\]: an integer, so that the sum of a day of small steps stays exact.
    elapsed_nanos: u64,
    /// `true` while the motion waits at the last known waypoint although it is not the last of the motion.
    starved: bool,
    /// The sampler's own factor on the speed, 0 … 1; rises after a resume.
    pace: f32,
    /// The robot's speed scaling as last applied, 0 … 1.
    scaling: f32,
    /// The time for the pace to rise from 0 to 1 after a resume.
    ramp: Duration,
    /// Measured minus reference positions at the time of resuming \[rad\]; fades out as the pace rises.
    offset: JointPositions<N>,
}

impl<const N: usize> Sampler<N> {
    /// Creates a sampler that waits at the beginning; `ramp` is the time to full speed after a resume.
    #[must_use]
    pub const fn new(trajectory: Trajectory<N>, ramp: Duration) -> Self {
        Self {
            trajectory,
            origin: JointPositions::ZERO,
            progress: Progress::Waiting,
            elapsed_nanos: 0,
            starved: false,
            pace: 1.0,
            scaling: 1.0,
            ramp,
            offset: JointPositions::ZERO,
        }
    }

    /// Returns the progress of the sampled motion.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// Returns the time of the trajectory that has elapsed.
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        Duration::from_micros(self.elapsed_nanos / 1_000)
    }

    /// Appends a waypoint to the motion; `last` is `true` if the motion ends there.
    ///
    /// # Errors
    /// Those of [`Trajectory::feed`]; nothing changes then.
    pub fn feed(&mut self, waypoint: Waypoint<N>, last: bool) -> Result<(), TrajectoryError> {
        self.trajectory.feed(waypoint, last, self.elapsed_nanos)
    }

    /// Returns the number of waypoints of the motion that can be fed now.
    #[must_use]
    pub fn room(&self) -> usize {
        self.trajectory.room(self.elapsed_nanos)
    }

    /// Returns whether the next waypoint is late: the motion has not ended, but waits at the last known waypoint.
    #[must_use]
    pub const fn is_starved(&self) -> bool {
        cfg!(feature = "trajectories") && self.starved
    }

    /// Returns the offset that is added to every joint position of the trajectory \[rad\].
    #[must_use]
    pub const fn origin(&self) -> JointPositions<N> {
        self.origin
    }

    /// Returns the trajectory that is sampled.
    #[must_use]
    pub const fn trajectory(&self) -> &Trajectory<N> {
        &self.trajectory
    }

    /// Starts the motion from its beginning, with `origin` added to every position of the trajectory.
    pub const fn start(&mut self, origin: JointPositions<N>) {
        self.origin = origin;
        self.progress = Progress::Running;
        self.elapsed_nanos = 0;
        self.pace = 1.0;
        self.offset = JointPositions::ZERO;
    }

    /// Sets a finished motion whose goal is not yet reached back to running, so that it can be suspended.
    #[cfg(feature = "trajectories")]
    pub(crate) fn go_on_at_end(&mut self) {
        if self.progress == Progress::Finished {
            self.progress = Progress::Running;
        }
    }

    /// Takes over the scaling of the motion that this one replaces, because it may still be rising.
    #[cfg(feature = "trajectories")]
    pub(crate) const fn scaled_like(&mut self, other: &Self) {
        self.scaling = other.scaling;
    }

    /// Returns the present setpoint, with the offset and pace of a resume; the speeds are those without slowing by the
    /// robot's speed scaling.
    #[cfg(feature = "trajectories")]
    pub(crate) fn standing(&self) -> Setpoint<N> {
        let Setpoint { positions, velocities } = self.on_path();
        let fading = 1.0 - self.pace;
        let positions = positions.zip_with(self.offset.as_array(), |q, o| q + o * fading);
        let pace = if self.progress == Progress::Running { self.pace } else { 0.0 };
        Setpoint { positions, velocities: velocities.map(|v| v * pace) }
    }

    /// Suspends a running motion at its present time, until it is resumed.
    pub fn suspend(&mut self) {
        if self.progress == Progress::Running {
            self.progress = Progress::Suspended;
        }
    }

    /// Resumes a suspended motion from the arm's position, slowly at first. Does nothing in other states.
    ///
    /// # Errors
    /// [`Reason::PathTolerance`] if a joint is further than `tolerance` \[rad\] from where the motion was suspended.
    pub fn resume(&mut self, measured: &JointPositions<N>, tolerance: f32) -> Result<(), Reason> {
        if self.progress != Progress::Suspended {
            return Ok(());
        }
        let path = self.on_path().positions;
        let offset = measured.zip_with(path.as_array(), |m, p| m - p);
        within(&offset, tolerance)?;
        self.offset = offset;
        (self.pace, self.scaling) = (0.0, 1.0);
        self.progress = Progress::Running;
        Ok(())
    }

    /// Advances the motion by `dt`, slowed by the robot's `scaling` (0 … 1; NaN freezes it), and returns the new
    /// setpoint. If the scaling rises, the rate of time rises by at most 2.5 /s.
    ///
    /// The returned speeds are those of unslowed time, because the controller multiplies received speeds by the same
    /// scaling. While time is frozen they are zero.
    pub fn advance(&mut self, dt: Duration, scaling: f32) -> Setpoint<N> {
        // NaN is not above 0.
        let scaling = if scaling > 0.0 { bounded(scaling, 0.0, 1.0) } else { 0.0 };
        let mut share = 1.0;
        if self.progress == Progress::Running {
            if cfg!(feature = "trajectories") {
                self.starved = false;
            }
            let dt = bounded(dt.as_secs_f32(), 0.0, 1.0);
            let risen = self.scaling + RISE * dt;
            self.scaling = scaling;
            if risen < scaling {
                (self.scaling, share) = (risen, risen / scaling);
            }
            let seconds = dt * self.scaling;
            // Below 2³² for up to a second: the conversion to `u32` is one instruction on a microcontroller.
            let nanos = (seconds * self.pace * 1e9) as u32;
            self.elapsed_nanos = self.elapsed_nanos.saturating_add(u64::from(nanos));
            let rise = seconds / self.ramp.as_secs_f32();
            self.pace = if rise.is_finite() { (self.pace + rise).min(1.0) } else { 1.0 };
            if self.elapsed_nanos >= self.trajectory.duration().as_micros().saturating_mul(1_000) {
                if self.trajectory.is_complete() {
                    // A motion resumed just before its end has ended only when the initial offset has faded out.
                    if !cfg!(feature = "trajectories") || self.pace >= 1.0 {
                        self.progress = Progress::Finished;
                    }
                } else {
                    // The motion continues from here once the late waypoint arrives, without catching up.
                    self.starved = true;
                    self.elapsed_nanos = self.trajectory.duration().as_micros().saturating_mul(1_000);
                }
            }
        }
        let mut setpoint = self.on_path();
        let fading = 1.0 - self.pace;
        if fading > 0.0 {
            setpoint.positions = setpoint.positions.zip_with(self.offset.as_array(), |q, o| q + o * fading);
        }
        let speed = if self.progress == Progress::Running && scaling > 0.0 { self.pace * share } else { 0.0 };
        if speed < 1.0 {
            setpoint.velocities = setpoint.velocities.map(|v| v * speed);
        }
        setpoint
    }

    /// Returns the setpoint on the trajectory itself, without the offset and pace of a resume.
    pub(crate) fn on_path(&self) -> Setpoint<N> {
        let mut setpoint = self.trajectory.at_nanos(self.elapsed_nanos);
        setpoint.positions = setpoint.positions.zip_with(self.origin.as_array(), |q, o| q + o);
        setpoint
    }
}

/// Checks that no joint is off its place on the path by more than `tolerance` \[rad\].
pub(crate) fn within<const N: usize>(error: &JointPositions<N>, tolerance: f32) -> Result<(), Reason> {
    if error.max_abs() <= tolerance { Ok(()) } else { Err(Reason::PathTolerance) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::JointVelocities;

    const CYCLE: Duration = Duration::from_millis(8);
    const HERE: JointPositions<1> = JointPositions::ZERO;

    fn one_radian_in_a_second() -> Sampler<1> {
        let waypoint = |q, millis| Waypoint {
            setpoint: Setpoint { positions: JointPositions([q]), velocities: JointVelocities::ZERO },
            accelerations: None,
            at: Duration::from_millis(millis),
        };
        let trajectory = Trajectory::through(&[waypoint(0.0, 0), waypoint(1.0, 1_000)]).unwrap();
        Sampler::new(trajectory, Duration::from_millis(200))
    }

    fn run(sampler: &mut Sampler<1>, cycles: usize, scaling: f32) -> Setpoint<1> {
        (0..cycles).fold(Setpoint::default(), |_, _| sampler.advance(CYCLE, scaling))
    }

    #[test]
    fn it_waits_until_started_and_ends_at_its_end() {
        let mut sampler = one_radian_in_a_second();
        assert_eq!(run(&mut sampler, 50, 1.0), Setpoint::default());
        sampler.start(HERE);
        assert_eq!(sampler.progress(), Progress::Running);
        let end = run(&mut sampler, 125, 1.0);
        assert_eq!((end.positions.0[0], end.velocities.0[0]), (1.0, 0.0));
        assert_eq!(sampler.progress(), Progress::Finished);
    }

    #[test]
    fn time_follows_the_speed_slider_and_freezes_at_zero() {
        let mut sampler = one_radian_in_a_second();
        sampler.start(HERE);
        run(&mut sampler, 50, 0.5);
        assert!(sampler.elapsed().as_micros().abs_diff(200_000) < 10, "{:?}", sampler.elapsed());
        for nothing in [0.0, -1.0, f32::NAN] {
            let frozen = run(&mut sampler, 1_000, nothing);
            assert!(sampler.elapsed().as_micros().abs_diff(200_000) < 10);
            assert_eq!(frozen.velocities, JointVelocities::ZERO);
            assert_eq!(sampler.progress(), Progress::Running, "a pause is no fault");
        }
        run(&mut sampler, 30, 0.5);
        let (moving, at) = (sampler.advance(CYCLE, 0.5), sampler.elapsed().as_secs_f32());
        let full_speed = 6.0 * at * (1.0 - at);
        assert!((moving.velocities.0[0] - full_speed).abs() < 1e-3, "speeds are those of unslowed time: {moving:?}");
    }

    #[test]
    fn where_the_scaling_rises_time_gathers_speed_and_where_it_falls_it_follows_at_once() {
        for scaling in [1.0, 0.3] {
            let mut sampler = one_radian_in_a_second();
            sampler.start(HERE);
            run(&mut sampler, 25, 1.0);
            run(&mut sampler, 2, 0.0);
            for cycle in 1..60 {
                let before = sampler.elapsed().as_secs_f32();
                let moving = sampler.advance(CYCLE, scaling);
                let at = sampler.elapsed().as_secs_f32();
                let used = (cycle as f32 * 0.02).min(scaling);
                assert!((at - before - 0.008 * used).abs() < 2e-6, "{scaling}, {cycle}: {before} to {at}");
                let speed = 6.0 * at * (1.0 - at) * used;
                assert!((moving.velocities.0[0] * scaling - speed).abs() < 1e-4, "{scaling}, {cycle}: {moving:?}");
            }
            let before = sampler.elapsed().as_secs_f32();
            sampler.advance(CYCLE, 0.1);
            let passed = sampler.elapsed().as_secs_f32() - before;
            assert!((passed - 0.000_8).abs() < 2e-6, "{scaling}: {passed}");
        }
    }

    #[test]
    fn a_suspended_motion_stands_until_resumed() {
        let mut sampler = one_radian_in_a_second();
        sampler.start(HERE);
        let left = run(&mut sampler, 60, 1.0);
        sampler.suspend();
        let standing = run(&mut sampler, 500, 1.0);
        assert_eq!((standing.positions, standing.velocities), (left.positions, JointVelocities::ZERO));
        assert_eq!(sampler.progress(), Progress::Suspended);
        sampler.resume(&left.positions, 0.05).unwrap();
        assert_eq!(run(&mut sampler, 125, 1.0).positions, JointPositions([1.0]));
    }

    #[test]
    fn resuming_far_from_the_path_is_refused_and_changes_nothing() {
        let mut sampler = one_radian_in_a_second();
        sampler.start(HERE);
        let left = run(&mut sampler, 60, 1.0).positions;
        sampler.suspend();
        for off in [0.06, -0.06, f32::NAN] {
            assert_eq!(sampler.resume(&left.map(|q| q + off), 0.05), Err(Reason::PathTolerance));
            assert_eq!(sampler.progress(), Progress::Suspended);
        }
    }

    #[test]
    fn a_resumed_motion_begins_where_the_arm_is_and_gathers_speed() {
        let mut sampler = one_radian_in_a_second();
        sampler.start(HERE);
        let left = run(&mut sampler, 60, 1.0);
        sampler.suspend();
        let measured = left.positions.map(|q| q - 0.03);
        sampler.resume(&measured, 0.05).unwrap();
        let mut before = Setpoint { positions: measured, velocities: JointVelocities::ZERO };
        for _ in 0..40 {
            let now = sampler.advance(CYCLE, 1.0);
            let step = (now.positions.0[0] - before.positions.0[0]).abs();
            assert!(step < 2.0 * 0.008, "a jump of {step}");
            assert!((now.velocities.0[0] - before.velocities.0[0]).abs() < 0.1, "{now:?} after {before:?}");
            before = now;
        }
        let path = sampler.trajectory().at_nanos(sampler.elapsed().as_micros() * 1_000).positions;
        assert!((before.positions.0[0] - path.0[0]).abs() < 1e-4, "the offset has faded");
    }

    #[cfg(feature = "trajectories")]
    #[test]
    fn a_motion_that_is_resumed_just_before_its_end_ends_at_its_end_and_not_beside_it() {
        let mut sampler = one_radian_in_a_second();
        sampler.start(HERE);
        run(&mut sampler, 123, 1.0);
        sampler.suspend();
        sampler.resume(&JointPositions([0.97]), 0.05).unwrap();
        let first = run(&mut sampler, 1, 1.0).positions.0[0];
        assert!((first - 0.97).abs() < 2e-3, "{first}");
        run(&mut sampler, 10, 1.0);
        assert_eq!(sampler.progress(), Progress::Running);
        let end = run(&mut sampler, 30, 1.0);
        assert_eq!(
            (sampler.progress(), end.positions, end.velocities),
            (Progress::Finished, JointPositions([1.0]), JointVelocities::ZERO)
        );
    }

    #[test]
    fn a_relative_motion_begins_at_its_origin() {
        let mut sampler = one_radian_in_a_second();
        sampler.start(JointPositions([-2.0]));
        assert_eq!(sampler.advance(Duration::ZERO, 1.0).positions, JointPositions([-2.0]));
        assert_eq!(run(&mut sampler, 200, 1.0).positions, JointPositions([-1.0]));
    }

    #[cfg(feature = "trajectories")]
    #[test]
    fn a_motion_without_its_next_waypoint_stands_at_the_last_and_has_not_ended() {
        let waypoint = |q, v, millis| Waypoint {
            setpoint: Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) },
            accelerations: None,
            at: Duration::from_millis(millis),
        };
        let beginning = Trajectory::beginning(&[waypoint(0.0, 0.0, 0), waypoint(0.5, 1.0, 500)]).unwrap();
        let mut sampler = Sampler::new(beginning, Duration::ZERO);
        sampler.start(HERE);
        run(&mut sampler, 62, 1.0);
        assert!(!sampler.is_starved());
        run(&mut sampler, 10, 1.0);
        assert!(sampler.is_starved());
        assert_eq!((sampler.progress(), sampler.elapsed()), (Progress::Running, Duration::from_millis(500)));
        sampler.feed(waypoint(1.0, 0.0, 1_000), true).unwrap();
        run(&mut sampler, 1, 1.0);
        assert!(!sampler.is_starved());
        assert_eq!(run(&mut sampler, 62, 1.0).positions, JointPositions([1.0]));
        assert_eq!((sampler.progress(), sampler.room()), (Progress::Finished, 0));
    }
}
