//! Holds the tool at a distance from a surface, by a distance sensor along the tool's z axis.
//!
//! The line along which the tool stood at arming is kept, and so is its orientation: along the line the
//! sensor decides, across it the arm's own kinematics do. The line may travel sideways, so that the tool
//! follows the surface at a distance, for a seam or a scan.
//!
//! Along the line `v = P·e + I·∫e`, with `e` the measured minus the wanted distance, limited to the approach
//! and retreat speeds, and far from the wanted distance to what the arm can brake in time; the integral stands still while the limits hold, and follows a surface that recedes
//! steadily. Across it and about it, speed is proportional to the error.
//!
//! A beam that misses the surface reads far, and would be followed for ever. A reading beyond the range is
//! therefore no sight of it: the tool nears at most a given way farther, as its kinematics measure it, until a
//! reading is in range again, or commanding ends. One below the range ends it at once.

use super::closing::closing_speed;
use super::hold::{Displacement, Hold};
use super::tool_space::ToolSpace;
use super::{Law, Start, ToolSpaceConfig, Unit, Value, Values};
use crate::command::Samples;
use crate::kinematics::Posture;
use crate::robot::{BadValue, Range, Reason, range_of, settings};
use outrigger_wire::math::{Frame, Rotation, Vector3, add, bounded};
use outrigger_wire::robot::{JointVelocities, State, Twist};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

settings! {
    /// Settings of a [`Standoff`]; by default without travel, at most 50 mm/s near and 100 mm/s away.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct StandoffConfig in "" by new(source: SourceId, distance: f32) {
        /// The sensor: one number, the distance \[m\] to the surface along the tool's z axis.
        pub source nowhere: SourceId = source,
        /// The distance to hold, as the sensor measures it \[m\].
        pub distance nowhere: f32 [Self::DISTANCE] = distance,
        /// The least and the greatest reading that is a sight of the surface \[m\], with `distance` between them. Default 0
        /// to 0.2 m beyond the distance.
        pub range nowhere: [f32; 2] [Self::RANGE] = [0.0, distance + 0.2],
        /// How far the tool may near the surface without a reading in range \[m\]. Default 0.05.
        pub longest_approach: f32 [0.001 to 1.0 "m"] = 0.05,
        /// Speed along the axis per distance error \[1/s\].
        pub proportional: f32 [0.01 to 100.0 "1/s"] = 5.0,
        /// Growth of that speed per distance error \[1/s²\]; 0 for none.
        pub integral: f32 [0.0 to 100.0 "1/s²"] = 5.0,
        /// Highest speed towards the surface \[m/s\].
        pub approach_limit: f32 [0.0001 to 1.0 "m/s"] = 0.05,
        /// Highest speed away from it \[m/s\].
        pub retreat_limit: f32 [0.0001 to 1.0 "m/s"] = 0.1,
        /// Deceleration with which the wanted distance is neared \[m/s²\]: one the joints can make within their
        /// acceleration limits, or the tool swings to and fro.
        pub deceleration: f32 [0.001 to 10.0 "m/s²"] = 0.2,
        /// Speeds of the line along the tool's x and y axes as they stood at arming \[m/s\].
        pub travel: [f32; 2] [-1.0 to 1.0 "m/s"] = [0.0; 2],
        /// Distance error at which travel has slowed to nothing \[m\]: the tool does not run ahead of what it follows.
        pub travel_window: f32 [0.0001 to 1.0 "m"] = 0.01,
        /// Speed per error across the line \[1/s\] and about it \[rad/s per rad\].
        pub hold_gain: f32 [0.01 to 100.0 "1/s"] = 5.0,
        /// Distance from the line that ends commanding \[m\].
        pub line_tolerance: f32 [0.0001 to 1.0 "m"] = 0.02,
        /// Turn away from the orientation at arming that ends commanding \[rad\].
        pub turn_tolerance: f32 [0.0001 to 3.0 "rad"] = 0.1,
        /// How the joints are moved.
        pub tool_space here: ToolSpaceConfig = ToolSpaceConfig::default(),
    }
}

impl StandoffConfig {
    /// Range of [`distance`](Self::distance).
    pub const DISTANCE: Range<f32> = range_of!(0.001 to 2.0 "m");
    /// Range of [`range`](Self::range).
    pub const RANGE: Range<f32> = range_of!(0.0 to 10.0 "m");

    /// Whether a law can work with these settings.
    ///
    /// # Errors
    /// The first setting that is out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        let [least, most] = self.range;
        let within = least < self.distance && self.distance < most;
        BadValue::unless(within, "range", "two distances with the wanted one between them")?;
        self.tool_space.check()
    }
}

/// Longest time one step integrates over: lost states are not made up for.
const LONGEST_STEP_SECONDS: f32 = 0.1;

/// Holds the tool at a distance.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Standoff<const N: usize> {
    config: StandoffConfig,
    tool_space: ToolSpace<N>,
    /// Where the tool stood at arming.
    line: Option<Frame>,
    /// How far the line has travelled since, along its x and y axes \[nm\]: an integrator that loses nothing.
    travelled: [i64; 2],
    /// How far the tool had come along its line when the surface was seen last \[m\].
    seen_at: f32,
    /// Speed from the integral \[m/s\].
    trend: f32,
    error: f32,
}

impl<const N: usize> Standoff<N> {
    /// The law with these settings; it cannot be armed before it knows the arm's kinematics.
    #[must_use]
    pub const fn new(config: StandoffConfig) -> Self {
        let tool_space = ToolSpace::new(config.tool_space);
        Self { config, tool_space, line: None, travelled: [0; 2], seen_at: 0.0, trend: 0.0, error: 0.0 }
    }

    /// Measured minus wanted distance at the last step \[m\].
    #[must_use]
    pub const fn error(&self) -> f32 {
        self.error
    }

    /// Speed along the axis, positive towards the surface.
    fn along(&mut self, error: f32, seconds: f32, most_feedback: f32) -> f32 {
        let StandoffConfig { proportional, integral, approach_limit, retreat_limit, .. } = self.config;
        let trend = bounded(self.trend + integral * error * seconds, -retreat_limit, approach_limit);
        let wanted = closing_speed(error, bounded(proportional, 0.0, most_feedback), self.config.deceleration) + trend;
        let speed = bounded(wanted, -retreat_limit, approach_limit);
        // While a limit holds, integrating further that way would only have to be undone.
        if (wanted - speed) * error <= 0.0 {
            self.trend = trend;
        }
        speed
    }

    /// Lets the line travel and gives its speed along its x and y axes.
    fn travel(&mut self, error: f32, seconds: f32) -> [f32; 2] {
        let part = (1.0 - error.abs() / self.config.travel_window).max(0.0);
        let speeds = self.config.travel.map(|v| v * part);
        for (travelled, speed) in self.travelled.iter_mut().zip(speeds) {
            // Below 2³¹ nm for any tool: the narrow conversion is one instruction on a microcontroller.
            *travelled = travelled.saturating_add(i64::from((speed * seconds * 1e9) as i32));
        }
        speeds
    }

    /// The twist that holds orientation and line, with the given speeds along the line's axes.
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
        // A paused or slowed robot moves less than it is asked to: nothing is to wind up meanwhile.
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
