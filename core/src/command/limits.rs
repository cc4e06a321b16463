//! What the arm may do.

use crate::robot::{JointAccelerations, JointPositions, JointVelocities, Range, range, seconds};
use crate::time::Duration;

/// Limits of one arm. The program on the controller checks its own as well.
///
/// Positions are held by braking distance: a speed is refused from which the arm could not come to rest,
/// at [`braking`](Self::braking), inside the position range.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Limits<const N: usize> {
    /// Lowest joint angles \[rad\].
    pub position_min: JointPositions<N>,
    /// Highest joint angles \[rad\].
    pub position_max: JointPositions<N>,
    /// Highest joint speeds, either way \[rad/s\].
    pub velocity: JointVelocities<N>,
    /// Highest change of the commanded joint speeds \[rad/s²\].
    pub acceleration: JointAccelerations<N>,
    /// Deceleration of the stop that the braking distance is reckoned with \[rad/s²\]: not more than the
    /// controller's stop really reaches. All joints are taken to come to rest together, as a stop that is led by one
    /// axis makes them.
    pub braking: JointAccelerations<N>,
    /// How far beyond [`velocity`](Self::velocity) a wanted speed may lie and still be scaled down to it,
    /// as a fraction of the limit. What lies further out is refused: a law that asks for it is wrong.
    pub velocity_margin: f32,
    /// Time the arm needs to react to a command that the controller has taken up (drive lag).
    pub reaction: Duration,
    /// Longest time between two commands that counts for the change of speed: after lost states a command
    /// may not catch up in one step.
    pub longest_step: Duration,
}

impl<const N: usize> Default for Limits<N> {
    /// ±2π, 1 rad/s and 2 rad/s² for every joint: slow enough to look at, to be widened by configuration.
    fn default() -> Self {
        Self {
            position_min: JointPositions([-core::f32::consts::TAU; N]),
            position_max: JointPositions([core::f32::consts::TAU; N]),
            velocity: JointVelocities([1.0; N]),
            acceleration: JointAccelerations([2.0; N]),
            braking: JointAccelerations([2.0; N]),
            velocity_margin: 0.05,
            reaction: Duration::from_millis(20),
            longest_step: Duration::from_millis(40),
        }
    }
}

/// Which field of [`Limits`] is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LimitField {
    /// `position_min` or `position_max`: finite, the lower below the higher.
    Position,
    /// `velocity`: finite, above zero.
    Velocity,
    /// `acceleration`: finite, above zero.
    Acceleration,
    /// `braking`: finite, above zero.
    Braking,
    /// `velocity_margin`: 0 … 1.
    VelocityMargin,
    /// `reaction`: at most 1 s.
    Reaction,
    /// `longest_step`: above zero, at most 1 s.
    LongestStep,
}

impl LimitField {
    /// The field's name in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Position => "position_min/position_max",
            Self::Velocity => "velocity",
            Self::Acceleration => "acceleration",
            Self::Braking => "braking",
            Self::VelocityMargin => "velocity_margin",
            Self::Reaction => "reaction",
            Self::LongestStep => "longest_step",
        }
    }

    /// What the field must be.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Position => "angles within two turns, each lowest below its highest",
            Self::Velocity => Limits::<0>::VELOCITY.text,
            Self::Acceleration | Self::Braking => Limits::<0>::ACCELERATION.text,
            Self::VelocityMargin => Limits::<0>::VELOCITY_MARGIN.text,
            Self::Reaction => Limits::<0>::REACTION.text,
            Self::LongestStep => Limits::<0>::LONGEST_STEP.text,
        }
    }
}

/// Limits that cannot be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LimitsError {
    /// The wrong field.
    pub field: LimitField,
    /// The joint, base first, where the field has one value per joint.
    pub joint: Option<u8>,
}

impl core::fmt::Display for LimitsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.field.name())?;
        if let Some(joint) = self.joint {
            write!(f, " of joint {}", joint.saturating_add(1))?;
        }
        write!(f, ": expected {}", self.field.expected())
    }
}

impl core::error::Error for LimitsError {}

/// The first joint whose value is not in `range`.
fn first_outside(range: &Range<f32>, values: impl Iterator<Item = f32>) -> Option<u8> {
    (0_u8..).zip(values).find(|(_, v)| !range.contains(*v)).map(|(joint, _)| joint)
}

impl<const N: usize> Limits<N> {
    /// Range of each angle of [`position_min`](Self::position_min) and [`position_max`](Self::position_max).
    pub const POSITION: Range<f32> =
        Range { least: -2.0 * core::f32::consts::TAU, most: 2.0 * core::f32::consts::TAU, text: "-4π to 4π rad" };
    /// Range of each [`velocity`](Self::velocity).
    pub const VELOCITY: Range<f32> = Range { least: 0.001, most: core::f32::consts::TAU, text: "0.001 to 2π rad/s" };
    /// Range of each [`acceleration`](Self::acceleration) and [`braking`](Self::braking).
    pub const ACCELERATION: Range<f32> = range!(0.01, 50.0, " rad/s²");
    /// Range of [`velocity_margin`](Self::velocity_margin).
    pub const VELOCITY_MARGIN: Range<f32> = range!(0.0, 1.0, "");
    /// Range of [`reaction`](Self::reaction).
    pub const REACTION: Range<Duration> = seconds!(0.0, 1.0);
    /// Range of [`longest_step`](Self::longest_step).
    pub const LONGEST_STEP: Range<Duration> = seconds!(0.001, 1.0);

    /// Whether these limits can be held.
    ///
    /// # Errors
    /// The first field, in the order of the structure, that is out of its range.
    pub fn check(&self) -> Result<(), LimitsError> {
        let wrong = |field, joint| Err(LimitsError { field, joint });
        for ((joint, min), max) in (0_u8..).zip(self.position_min.iter()).zip(self.position_max.iter()) {
            if !(Self::POSITION.contains_all([min, max]) && min < max) {
                return wrong(LimitField::Position, Some(joint));
            }
        }
        if let Some(joint) = first_outside(&Self::VELOCITY, self.velocity.iter()) {
            return wrong(LimitField::Velocity, Some(joint));
        }
        if let Some(joint) = first_outside(&Self::ACCELERATION, self.acceleration.iter()) {
            return wrong(LimitField::Acceleration, Some(joint));
        }
        if let Some(joint) = first_outside(&Self::ACCELERATION, self.braking.iter()) {
            return wrong(LimitField::Braking, Some(joint));
        }
        if !Self::VELOCITY_MARGIN.contains(self.velocity_margin) {
            return wrong(LimitField::VelocityMargin, None);
        }
        if !Self::REACTION.contains(self.reaction) {
            return wrong(LimitField::Reaction, None);
        }
        if !Self::LONGEST_STEP.contains(self.longest_step) {
            return wrong(LimitField::LongestStep, None);
        }
        Ok(())
    }
}

/// How a path carries commands, at its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PathTiming {
    /// From when a state was measured to when the controller takes up the command that answers it.
    pub latency: Duration,
    /// For how long a command holds that nothing follows.
    pub hold: Duration,
}

impl<const N: usize> Limits<N> {
    /// The limits to hold on a path with this timing, so that the arm stays in its range whatever is lost after a command:
    /// the command holds to its end before the arm brakes ([`reaction`](Self::reaction) grows by the timing), and what is
    /// still on its way when a state is measured may be faster than what is decided on it, as far as
    /// [`acceleration`](Self::acceleration) lets it (the range shrinks).
    #[must_use]
    pub fn carried_by(&self, path: PathTiming) -> Self {
        let PathTiming { latency, hold } = path;
        let seconds = |span: Duration| span.as_secs_f32();
        // A command that comes later than this finds the one before at its end.
        let step = seconds(self.longest_step.min(latency + hold));
        let under_way = seconds(latency + self.reaction);
        let slack = (under_way + step) * under_way + 0.5 * step * step;
        let mut limits = *self;
        let ranges = limits.position_min.0.iter_mut().zip(&mut limits.position_max.0);
        for ((min, max), (acceleration, fastest)) in ranges.zip(self.acceleration.iter().zip(self.velocity.iter())) {
            // Nor is it faster than the limit.
            let slack = (acceleration * slack).min(fastest * (under_way + 0.5 * step));
            *min += slack;
            *max -= slack;
        }
        limits.reaction = self.reaction + latency + hold;
        limits
    }

    /// How far each joint travels at most \[rad\] where every joint has its highest speed, goes on for `time`, and then
    /// brakes, no joint harder than [`braking`](Self::braking) nor than `deceleration` \[rad/s²\]. The joint that takes the
    /// longest leads, and all come to rest with it.
    #[must_use]
    pub fn farthest(&self, time: Duration, deceleration: f32) -> [f32; N] {
        let stops = self.velocity.iter().zip(self.braking.iter()).map(|(v, braking)| {
            // Whatever is not below the other, NaN among it, is not the weaker one.
            v / if braking < deceleration { braking } else { deceleration }
        });
        let seconds = time.as_secs_f32() + 0.5 * stops.fold(0.0, f32::max);
        self.velocity.map(|v| v * seconds).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_can_be_held() {
        assert_eq!(Limits::<6>::default().check(), Ok(()));
        assert_eq!(Limits::<7>::default().check(), Ok(()));
    }

    #[test]
    fn a_wrong_limit_is_named_with_its_joint() {
        let with = |change: fn(&mut Limits<6>)| {
            let mut limits = Limits::default();
            change(&mut limits);
            limits.check().map_err(|e| (e.field, e.joint))
        };
        assert_eq!(with(|l| l.position_min.0[2] = 7.0), Err((LimitField::Position, Some(2))));
        assert_eq!(with(|l| l.position_max.0[0] = f32::NAN), Err((LimitField::Position, Some(0))));
        assert_eq!(with(|l| l.velocity.0[5] = 0.0), Err((LimitField::Velocity, Some(5))));
        assert_eq!(with(|l| l.acceleration.0[1] = f32::INFINITY), Err((LimitField::Acceleration, Some(1))));
        assert_eq!(with(|l| l.braking.0[1] = -1.0), Err((LimitField::Braking, Some(1))));
        assert_eq!(with(|l| l.velocity_margin = f32::NAN), Err((LimitField::VelocityMargin, None)));
        assert_eq!(with(|l| l.reaction = Duration::from_secs(2)), Err((LimitField::Reaction, None)));
        assert_eq!(with(|l| l.longest_step = Duration::ZERO), Err((LimitField::LongestStep, None)));
    }

    #[test]
    fn an_error_reads_as_a_sentence_for_people() {
        let error = LimitsError { field: LimitField::Velocity, joint: Some(0) };
        assert_eq!(error.to_string(), "velocity of joint 1: expected 0.001 to 2π rad/s");
    }
}
