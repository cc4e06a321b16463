//! A control law that holds the tool at a distance from a surface, by a distance sensor along the tool's z axis.
//!
//! The law keeps the tool's orientation and the line along its z axis as they were at arming. The sensor controls the
//! position along the line; the arm's own kinematics control the position across it. The line may travel sideways, so
//! that the tool follows the surface at a distance, for a seam or a scan.
//!
//! Along the line `v = P·e + I·∫e`, with `e` the measured minus the desired distance, limited to the approach and
//! retreat speeds, and far from the desired distance to the speed from which the arm can brake in time. The integral
//! does not change while the limits are active, and follows a surface that recedes steadily. Across the line and about
//! it, speed is proportional to the error.
//!
//! A beam that misses the surface reads a large distance, which would be followed for ever. A reading above the range
//! therefore does not count as seeing the surface: the tool approaches by at most a given distance, as measured by its
//! kinematics, until a reading is in range again; otherwise commanding ends. A reading below the range ends commanding
//! at once.

use super::closing_speed::closing_speed;
use super::hold_correction::{Displacement, Hold};
use super::twist_to_joint_speeds::ToolSpace;
use super::{Law, Start, ToolSpaceConfig, Unit, Value, Values};
use crate::command::Samples;
use crate::kinematics::Posture;
use crate::robot::{BadValue, Range, Reason, range_of, settings};
use outrigger_wire::math::{Frame, Rotation, Vector3, add, bounded};
use outrigger_wire::robot::{JointVelocities, State, Twist};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

settings! {
    /// Settings of a [`Standoff`]; by default without travel, with at most 50 mm/s towards the surface and 100 mm/s
    /// away from it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct StandoffConfig in "" by new(source: SourceId, distance: f32) {
        /// The sensor: one value, the distance \[m\] to the surface along the tool's z axis.
        pub source nowhere: SourceId = source,
        /// The distance from the surface to hold, as the sensor measures it \[m\].
        pub distance nowhere: f32 [Self::DISTANCE] = distance,
        /// The least and the greatest reading that count as seeing the surface \[m\], with `distance` between them.
        /// Default 0 to 0.2 m beyond the distance.
        pub range nowhere: [f32; 2] [Self::RANGE] = [0.0, distance + 0.2],
        /// The greatest distance by which the tool may approach the surface without a reading in range \[m\]; beyond it
        /// commanding ends. Default 0.05.
        pub longest_approach: f32 [0.001 to 1.0 "m"] = 0.05,
        /// The speed along the tool's z axis per error in the distance from the surface \[1/s\].
        pub proportional: f32 [0.01 to 100.0 "1/s"] = 5.0,
        /// The growth of the speed along the tool's z axis per error in the distance from the surface \[1/s²\]; 0 for
        /// none.
        pub integral: f32 [0.0 to 100.0 "1/s²"] = 5.0,
        /// The highest speed of the tool towards the surface \[m/s\].
        pub approach_limit: f32 [0.0001 to 1.0 "m/s"] = 0.05,
        /// The highest speed of the tool away from the surface \[m/s\].
        pub retreat_limit: f32 [0.0001 to 1.0 "m/s"] = 0.1,
        /// The deceleration with which the tool approaches the desired distance \[m/s²\]. If the joints cannot reach it
        /// within their acceleration limits, the tool oscillates.
        pub deceleration: f32 [0.001 to 10.0 "m/s²"] = 0.2,
        /// The speeds at which the line that the tool is held on moves, along the tool's x and y axes at arming
        /// \[m/s\].
        pub travel: [f32; 2] [-1.0 to 1.0 "m/s"] = [0.0; 2],
        /// The distance error at which the motion of the line has slowed to zero \[m\]: the tool does not run ahead of
        /// the surface that it follows.
        pub travel_window: f32 [0.0001 to 1.0 "m"] = 0.01,
        /// The speed of the tool per distance from the line that it is held on \[1/s\], and per rotation from its
        /// orientation at arming \[rad/s per rad\].
        pub hold_gain: f32 [0.01 to 100.0 "1/s"] = 5.0,
        /// The distance of the tool from the line that it is held on at which commanding ends \[m\].
        pub line_tolerance: f32 [0.0001 to 1.0 "m"] = 0.02,
        /// The deviation of the tool from its orientation at arming at which commanding ends \[rad\].
        pub turn_tolerance: f32 [0.0001 to 1.5 "rad"] = 0.1,
        /// The settings of the conversion from the tool's twist to joint speeds.
        pub tool_space here: ToolSpaceConfig = ToolSpaceConfig::default(),
    }
}

impl StandoffConfig {
    /// The range of the distance from the surface to hold, [`distance`](Self::distance) \[m\].
    pub const DISTANCE: Range<f32> = range_of!(0.001 to 2.0 "m");
    /// The range of the least and the greatest valid reading, [`range`](Self::range) \[m\].
    pub const RANGE: Range<f32> = range_of!(0.0 to 10.0 "m");

    /// Checks that a [`Standoff`] can hold the tool with these settings.
    ///
    /// # Errors
    /// Returns the first setting that is out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        let [least, most] = self.range;
        let within = least < self.distance && self.distance < most;
        BadValue::unless(within, "range", "two distances with the wanted one between them")?;
        self.tool_space.check()
    }
}

/// The longest time over which one step of the law integrates the distance error and moves the line that the tool is
/// held on \[s\]: lost states are not made up for.
const LONGEST_STEP_SECONDS: f32 = 0.1;

/// A control law that holds the tool at a distance from a surface, as a sensor measures it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Standoff<const N: usize> {
    config: StandoffConfig,
    tool_space: ToolSpace<N>,
    /// The pose of the tool at arming, when the law began to command the arm: its z axis is the line that the tool is
    /// held on. `None` before.
    line: Option<Frame>,
    /// The distances that the tool's line has travelled along the tool's x and y axes at arming \[nm\]: integers, so
    /// that the sums stay exact.
    travelled: [i64; 2],
    /// The position of the tool along its line when the sensor last measured a distance within its range \[m\]; 0 at
    /// arming.
    seen_at: f32,
    /// The part of the tool's speed along the line that comes from the integral of the distance error \[m/s\].
    trend: f32,
    error: f32,
}

impl<const N: usize> Standoff<N> {
    /// Creates the law that holds the tool at a distance, with these settings; it cannot be armed before the arm's
    /// kinematics are known.
    #[must_use]
    pub const fn new(config: StandoffConfig) -> Self {
        let tool_space = ToolSpace::new(config.tool_space);
        Self { config, tool_space, line: None, travelled: [0; 2], seen_at: 0.0, trend: 0.0, error: 0.0 }
    }

    /// Returns the measured minus the desired distance from the surface at the last step \[m\].
    #[must_use]
    pub const fn error(&self) -> f32 {
        self.error
    }

    /// Returns the speed to command along the tool's z axis, positive towards the surface \[m/s\].
    fn along(&mut self, error: f32, seconds: f32, most_feedback: f32) -> f32 {
        let StandoffConfig { proportional, integral, approach_limit, retreat_limit, .. } = self.config;
        let trend = bounded(self.trend + integral * error * seconds, -retreat_limit, approach_limit);
        let wanted = closing_speed(error, bounded(proportional, 0.0, most_feedback), self.config.deceleration) + trend;
        let speed = bounded(wanted, -retreat_limit, approach_limit);
        // While a limit is active, further integration in that direction would have to be undone later.
        if (wanted - speed) * error <= 0.0 {
            self.trend = trend;
        }
        speed
    }

    /// Moves the line that the tool is held on by its travel in `seconds` \[s\], and returns its speeds along its x and
    /// y axes \[m/s\].
    fn travel(&mut self, error: f32, seconds: f32) -> [f32; 2] {
        let part = (1.0 - error.abs() / self.config.travel_window).max(0.0);
        let speeds = self.config.travel.map(|v| v * part);
        for (travelled, speed) in self.travelled.iter_mut().zip(speeds) {
            // Below 2³¹ nm for any tool: the conversion to `i32` is one instruction on a microcontroller.
            *travelled = travelled.saturating_add(i64::from((speed * seconds * 1e9) as i32));
        }
        speeds
    }

    /// Returns the twist that holds the tool's orientation and its position on the line, with the given speeds along
    /// the line's axes \[m/s\].
    fn hold(&self, axes: &Rotation, off: &Displacement, speeds: Vector3, most_feedback: f32) -> Result<Twist, Reason> {
        let [moved_x, moved_y, _] = off.moved;
        let [ahead_x, ahead_y] = self.travelled.map(|nanometres| nanometres as f32 * 1e-9);
        let across = [ahead_x - moved_x, ahead_y - moved_y, 0.0];
        let StandoffConfig { hold_gain, line_tolerance, turn_tolerance, .. } = self.config;
        let hold = Hold { gain: hold_gain, distance: line_tolerance, turn: turn_tolerance };
        let back = hold.correct(off, across, off.turn_back, most_feedback)?;
        Ok(Twist { linear: axes.apply(add(speeds, back.linear)), angular: back.angular })
    }
}

impl<const N: usize> Law<N> for Standoff<N> {
    fn use_posture(&mut self, posture: &Posture<N>) {
        self.tool_space.set_posture(posture);
    }

    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        if let Some(chain) = start.kinematics {
            self.tool_space.set_chain(chain);
        }
        self.line = Some(self.tool_space.posture(start.state, &mut None)?.tcp);
        self.travelled = [0; 2];
        self.seen_at = 0.0;
        self.trend = 0.0;
        Ok(())
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        let line = self.line.ok_or(Reason::Internal)?;
        let room = &mut None;
        let sample = samples.of(self.config.source).ok_or(Reason::SourceStale)?;
        let error = sample.value.first() - self.config.distance;
        if !error.is_finite() {
            return Err(Reason::NotFinite);
        }
        self.error = error;
        // A paused or slowed robot moves less than commanded: the integral must not wind up meanwhile.
        let seconds = dt.as_secs_f32().min(LONGEST_STEP_SECONDS) * state.scaling();
        let toward = self.along(error, seconds, samples.most_feedback());
        let [x, y] = self.travel(error, seconds);
        let posture = self.tool_space.posture(state, room)?;
        let [least, most] = self.config.range;
        let off = Displacement::between(&line, &posture.tcp);
        let [.., come] = off.moved;
        if sample.value.first() < least {
            return Err(Reason::SourceOutOfRange);
        } else if sample.value.first() <= most {
            self.seen_at = come;
        } else if come - self.seen_at > self.config.longest_approach {
            return Err(Reason::SourceOutOfRange);
        }
        let twist = self.hold(&line.rotation, &off, [x, y, toward], samples.most_feedback())?;
        self.tool_space.realise(posture, &twist)
    }

    fn sources(&self) -> &[SourceId] {
        core::slice::from_ref(&self.config.source)
    }

    fn values(&self) -> Values {
        let value = Value { name: "standoff_error", part: None, unit: Unit::Metre, value: Some(self.error) };
        Values::from_iter([value])
    }
}

super::recordable!(Standoff);

#[cfg(test)]
mod tests;
