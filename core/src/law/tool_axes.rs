//! A control law that moves each axis of the tool by a sensor of its own, and holds the other axes at their pose at
//! arming.
//!
//! The axes are x, y and z of the tool at arming, through its centre point, and rx, ry and rz about them. For an axis
//! with a sensor the law is given the *slope*: the change of the reading for each metre that the tool moves along the
//! axis, or for each radian that it turns about it. The difference between the target and the reading, divided by the
//! slope, is the remaining distance or angle, in the same unit whatever the sensor measures:
//!
//! | axis | sensor | slope |
//! |---|---|---|
//! | z | distance to a surface that the tool points at, in m | −1: 1 mm nearer reads 1 mm less |
//! | x | force along x, in N, against something that yields by 1 mm for 5 N | 5000 or −5000, by the sensor's own sign |
//! | rx | inclination about x, in rad | 1 |
//!
//! Along and about an axis, `v = P·remaining`, within the speed limit, and far away no faster than can be braked. This
//! is stable if the actual slope has the same sign as the given one and is not larger. A sensor that has nothing to
//! measure yet, such as a force sensor before contact, moves its axis steadily: by at most `reach`, beyond which
//! commanding ends.
//!
//! Held axes behave like those of [`Standoff`](super::Standoff): speed is proportional to the error.

use heapless::Vec;

use super::closing_speed::closing_speed;
use super::hold_correction::{Displacement, Hold};
use super::twist_to_joint_speeds::ToolSpace;
use super::{Law, Start, ToolSpaceConfig, Unit, Value, Values};
use crate::command::{MAX_SOURCES, Samples};
use crate::kinematics::Posture;
use crate::robot::{BadValue, Range, Reason, range_of, settings, words};
use outrigger_wire::math::{Frame, add, bounded, dot, sin_cos};
use outrigger_wire::robot::{JointVelocities, State, Twist};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

/// An axis of the tool, to move along or to turn about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ToolAxis {
    /// The tool moves along its x axis.
    X,
    /// The tool moves along its y axis.
    Y,
    /// The tool moves along its z axis.
    Z,
    /// The tool turns about its x axis.
    Rx,
    /// The tool turns about its y axis.
    Ry,
    /// The tool turns about its z axis.
    Rz,
}

words!(ToolAxis { "x" = X, "y" = Y, "z" = Z, "rx" = Rx, "ry" = Ry, "rz" = Rz });

impl ToolAxis {
    /// Returns the name of the tool's axis in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
            Self::Rx => "rx",
            Self::Ry => "ry",
            Self::Rz => "rz",
        }
    }

    /// Returns `true` if the tool turns about the axis, `false` if it moves along it.
    #[must_use]
    pub const fn turns(self) -> bool {
        matches!(self, Self::Rx | Self::Ry | Self::Rz)
    }
}

/// A value for each axis of a tool, in the order x, y, z, rx, ry, rz of [`ToolAxis::WORDS`].
pub type PerAxis<T> = [T; 6];

settings! {
    /// The settings of one axis of the tool that follows a sensor.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct AxisConfig in "" by new(source: SourceId, target: f32, slope: f32) {
        /// The sensor whose reading moves the tool's axis.
        pub source nowhere: SourceId = source,
        /// The number of the value within the sensor's reading, from 1.
        pub value: u8 [1 to 6] = 1,
        /// The sensor reading to reach by moving the tool along or about the axis, in the reading's unit.
        pub target nowhere: f32 [Self::READING] = target,
        /// The change of the sensor's reading for each metre along the axis or radian about it, in the reading's unit
        /// per m or rad. If it varies, its largest value: the axis is then slower where the reading changes less.
        pub slope nowhere: f32 [Self::READING] = slope,
        /// The least and the greatest sensor reading to follow, with the target between them; a reading outside ends
        /// commanding. Default `None`: readings are not limited.
        pub range nowhere: Option<[f32; 2]> [Self::READING] = None,
        /// The speed of the tool's axis for each remaining metre or radian to the target \[1/s\].
        pub proportional: f32 [0.01 to 100.0 "1/s"] = 2.0,
        /// The highest speed of the tool's axis in both directions \[m/s, rad/s\].
        pub speed_limit: f32 [0.0001 to 1.0 "m/s, rad/s"] = 0.05,
        /// The deceleration with which the tool's axis approaches the target \[m/s², rad/s²\]: the joints must be
        /// capable of it.
        pub deceleration: f32 [0.001 to 10.0 "m/s², rad/s²"] = 0.2,
        /// The displacement of the tool along or about the axis, from its pose at arming, at which commanding ends, in
        /// both directions \[m, rad\]; at most 0.5 rad.
        pub reach: f32 [0.001 to 1.0 "m, rad"] = 0.05,
    }
}

impl AxisConfig {
    /// The range of the readings and slopes in [`target`](Self::target), [`slope`](Self::slope) and
    /// [`range`](Self::range).
    pub const READING: Range<f32> = range_of!(-1000000000.0 to 1000000000.0);
    /// The least magnitude of the change of a sensor's reading for each metre or radian of the tool.
    const LEAST_SLOPE: f32 = 1e-6;
    /// The greatest rotation of the tool for which its axes at arming and its present axes are nearly the same \[rad\].
    const MOST_TURN: f32 = 0.5;

    /// Checks that this axis of the tool can be moved with these settings.
    ///
    /// # Errors
    /// Returns the first setting that is out of its range.
    pub fn check(&self, axis: ToolAxis) -> Result<(), BadValue> {
        self.check_ranges()?;
        let steep = self.slope.abs() >= Self::LEAST_SLOPE;
        BadValue::unless(steep, "slope", "a change of the reading for each m or rad, at least 0.000001 either way")?;
        let within = self.range.is_none_or(|[least, most]| least < self.target && self.target < most);
        BadValue::unless(within, "range", "two readings with the target between them")?;
        BadValue::unless(!axis.turns() || self.reach <= Self::MOST_TURN, "reach", "at most 0.5 rad about an axis")
    }

    /// Returns the distance or angle by which the tool has to move along or about the axis to reach its target, by the
    /// axis's sensor reading in `samples` \[m, rad\].
    fn way(&self, samples: &Samples<'_>) -> Result<f32, Reason> {
        let sample = samples.of(self.source).ok_or(Reason::SourceStale)?;
        let number = usize::from(self.value).wrapping_sub(1);
        let reading = *sample.value.as_slice().get(number).ok_or(Reason::SourceOutOfRange)?;
        let way = (self.target - reading) / self.slope;
        if !way.is_finite() {
            return Err(Reason::NotFinite);
        }
        if self.range.is_some_and(|[least, most]| reading < least || reading > most) {
            return Err(Reason::SourceOutOfRange);
        }
        Ok(way)
    }

    /// Returns the speed of the tool's axis for this remaining distance or angle \[m/s, rad/s\].
    fn speed(&self, way: f32, most_feedback: f32) -> f32 {
        let gain = bounded(self.proportional, 0.0, most_feedback);
        bounded(closing_speed(way, gain, self.deceleration), -self.speed_limit, self.speed_limit)
    }
}

settings! {
    /// Settings of a [`ToolAxes`]; the default has no sensor and is not valid yet.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ToolAxesConfig in "" {
        /// Settings of each axis that follows a sensor; `None` for a held axis.
        pub axes nowhere: PerAxis<Option<AxisConfig>> = [None; 6],
        /// The speed of the tool's held axes for each metre or radian of error \[1/s\].
        pub hold_gain: f32 [0.01 to 100.0 "1/s"] = 5.0,
        /// The displacement along the tool's held axes at which commanding ends \[m\].
        pub hold_tolerance: f32 [0.0001 to 1.0 "m"] = 0.02,
        /// The rotation about the tool's held axes at which commanding ends \[rad\].
        pub turn_tolerance: f32 [0.0001 to 1.5 "rad"] = 0.1,
        /// The settings of the conversion from the tool's twist to joint speeds.
        pub tool_space here: ToolSpaceConfig = ToolSpaceConfig::default(),
    }
}

impl ToolAxesConfig {
    /// Checks that a [`ToolAxes`] law can move the tool with these settings.
    ///
    /// # Errors
    /// Returns the first setting that is out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        for ((_, name), axis) in ToolAxis::WORDS.iter().zip(&self.axes) {
            if let Some(axis) = axis {
                axis.check(*name)?;
            }
        }
        let sources = self.sources();
        let few = sources.is_some_and(|sources| !sources.is_empty());
        BadValue::unless(few, "axis", "at least one axis with a sensor, and at most 4 sensors")?;
        self.tool_space.check()
    }

    /// Returns the sensors that move axes of the tool, each once; `None` if there are more than an engine supports.
    fn sources(&self) -> Option<Vec<SourceId, MAX_SOURCES>> {
        let mut sources = Vec::new();
        for axis in self.axes.iter().flatten() {
            if !sources.contains(&axis.source) {
                sources.push(axis.source).ok()?;
            }
        }
        Some(sources)
    }
}

/// A control law that moves the tool along and about some of its axes by sensors; for the other axes it holds the pose
/// in which it began to command the arm.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolAxes<const N: usize> {
    config: ToolAxesConfig,
    tool_space: ToolSpace<N>,
    sources: Vec<SourceId, MAX_SOURCES>,
    /// The pose of the tool at arming, when the law began to command the arm; `None` before.
    stood: Option<Frame>,
    /// The remaining distance or angle of each axis of the tool at the last step \[m, rad\]; `None` for held axes.
    ways: PerAxis<Option<f32>>,
}

impl<const N: usize> ToolAxes<N> {
    /// Creates the law that moves axes of the tool by sensors, with these settings; it cannot be armed before the arm's
    /// kinematics are known.
    #[must_use]
    pub fn new(config: ToolAxesConfig) -> Self {
        let tool_space = ToolSpace::new(config.tool_space);
        let ways = config.axes.map(|axis| axis.map(|_| 0.0));
        Self { config, tool_space, sources: config.sources().unwrap_or_default(), stood: None, ways }
    }
}

impl<const N: usize> Law<N> for ToolAxes<N> {
    fn use_posture(&mut self, posture: &Posture<N>) {
        self.tool_space.set_posture(posture);
    }

    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        if let Some(chain) = start.kinematics {
            self.tool_space.set_chain(chain);
        }
        self.stood = Some(self.tool_space.posture(start.state, &mut None)?.tcp);
        Ok(())
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<N>, Reason> {
        let stood = self.stood.ok_or(Reason::Internal)?;
        let room = &mut None;
        let posture = self.tool_space.posture(state, room)?;
        let axes = &stood.rotation;
        let off = Displacement::between(&stood, &posture.tcp);
        let [x, y, z] = off.moved;
        let [rx, ry, rz] = [axes.x, axes.y, axes.z].map(|axis| -dot(off.turn_back, axis));
        let most_feedback = samples.most_feedback();
        // For each axis the speed by its sensor, or, if it is held, the displacement to correct.
        let (mut speeds, mut back) = ([0.0; 6], [0.0; 6]);
        let moved = ToolAxis::WORDS.iter().zip([x, y, z, rx, ry, rz]);
        let places = self.config.axes.iter().zip(&mut self.ways).zip(speeds.iter_mut().zip(&mut back));
        for (((_, name), moved), ((axis, told), (speed, back))) in moved.zip(places) {
            let Some(axis) = axis else {
                *back = -moved;
                continue;
            };
            let way = axis.way(samples)?;
            *told = Some(way);
            // For rotations the sine of the angle is known.
            let reach = if name.turns() { sin_cos(axis.reach).0 } else { axis.reach };
            if moved.abs() > reach {
                return Err(Reason::PathTolerance);
            }
            *speed = axis.speed(way, most_feedback);
        }
        let ([x, y, z, rx, ry, rz], [back_x, back_y, back_z, back_rx, back_ry, back_rz]) = (speeds, back);
        let ToolAxesConfig { hold_gain, hold_tolerance, turn_tolerance, .. } = self.config;
        let hold = Hold { gain: hold_gain, distance: hold_tolerance, turn: turn_tolerance };
        let held = hold.correct(&off, [back_x, back_y, back_z], [back_rx, back_ry, back_rz], most_feedback)?;
        let twist = Twist {
            linear: axes.apply(add([x, y, z], held.linear)),
            angular: axes.apply(add([rx, ry, rz], held.angular)),
        };
        self.tool_space.realise(posture, &twist)
    }

    fn sources(&self) -> &[SourceId] {
        &self.sources
    }

    fn values(&self) -> Values {
        let axes = ToolAxis::WORDS.iter().zip(self.ways).filter(|(_, way)| way.is_some());
        let shown = axes.map(|((part, axis), value)| {
            let unit = if axis.turns() { Unit::Radian } else { Unit::Metre };
            Value { name: "axis_errors", part: Some(part), unit, value }
        });
        shown.collect()
    }
}

super::recordable!(ToolAxes);

#[cfg(test)]
mod tests;
