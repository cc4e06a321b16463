//! The limits of an arm: positions, speeds, accelerations and torques.

use core::f32::consts::TAU;

use crate::robot::{BadValue, Range, Wording, range_of, settings};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointTorques, JointVelocities};
use outrigger_wire::time::Duration;

settings! {
    /// Limits of one arm: by default ±2π, 1 rad/s and 2 rad/s² for every joint, slow enough to observe, to be widened
    /// in the configuration. The program on the controller applies limits of its own as well.
    ///
    /// Position limits take the braking distance into account: a speed is refused if the arm could not come to rest
    /// from it, at [`braking`](Self::braking), inside the position range.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct Limits<const N: usize> in "" {
        /// The lowest joint angles \[rad\]: [`NONE`](Self::NONE) below zero for a joint that turns without end.
        pub position_min nowhere: JointPositions<N> [Self::POSITION] = JointPositions([-TAU; N]),
        /// The highest joint angles \[rad\]: [`NONE`](Self::NONE) for a joint that turns without end.
        pub position_max nowhere: JointPositions<N> [Self::POSITION] = JointPositions([TAU; N]),
        /// The highest joint speeds in both directions \[rad/s\].
        pub velocity: JointVelocities<N> [Self::VELOCITY] = JointVelocities([1.0; N]),
        /// The greatest change of the commanded joint speeds per second \[rad/s²\].
        pub acceleration: JointAccelerations<N> [Self::ACCELERATION] = JointAccelerations([2.0; N]),
        /// The deceleration from which the stopping distance is computed \[rad/s²\]: not more than the controller's
        /// stop really reaches. All joints are assumed to come to rest together, as in a stop in which one axis is
        /// decisive.
        pub braking: JointAccelerations<N> [Self::ACCELERATION] = JointAccelerations([2.0; N]),
        /// The excess over [`velocity`](Self::velocity) up to which a requested speed is scaled down to the limit, as a
        /// fraction of the limit. Higher speeds are refused, because a law that requests them is wrong.
        pub velocity_margin: f32 [0.0 to 1.0] = 0.05,
        /// The time that the arm needs to react to a command that the controller has accepted (drive lag).
        pub reaction: Duration [0.0 to 1.0 "s"] = Duration::from_millis(20),
        /// The longest time between two commands that counts for the change of speed: after lost states a command
        /// must not make up for the missed changes in one step.
        pub longest_step: Duration [0.001 to 1.0 "s"] = Duration::from_millis(40),
    }
}

/// The error for limits of an arm that are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LimitsError {
    /// The name of the limit that is invalid.
    pub field: Wording,
    /// The accepted values of the invalid limit, as a clause.
    pub expected: Wording,
    /// The joint, counted from 0 at the base, if the field has one value per joint; otherwise `None`.
    pub joint: Option<u8>,
}

impl core::fmt::Display for LimitsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.field)?;
        if let Some(joint) = self.joint {
            write!(f, " of joint {}", joint.saturating_add(1))?;
        }
        write!(f, ": expected {}", self.expected)
    }
}

impl core::error::Error for LimitsError {}

impl<const N: usize> Limits<N> {
    /// The angle that means no limit \[rad\]: 100 turns. At that angle neighbouring `f32` numbers are still only 0.06
    /// mrad apart; beyond it they are too coarse for commands.
    pub const NONE: f32 = 100.0 * TAU;
    /// The range \[rad\] of each angle of [`position_min`](Self::position_min) and
    /// [`position_max`](Self::position_max).
    pub const POSITION: Range<f32> = Range { least: -Self::NONE, most: Self::NONE, text: "-200π to 200π rad" };
    /// The range of the lowest and highest angles \[rad\] in configuration files, except of a joint that turns without
    /// end.
    pub const BOUNDED: Range<f32> = Range { least: -2.0 * TAU, most: 2.0 * TAU, text: "-4π to 4π rad" };
    /// The range of each joint's [`velocity`](Self::velocity) \[rad/s\].
    pub const VELOCITY: Range<f32> = Range { least: 0.001, most: TAU, text: "0.001 to 2π rad/s" };
    /// The range of each joint's [`acceleration`](Self::acceleration) and [`braking`](Self::braking) \[rad/s²\].
    pub const ACCELERATION: Range<f32> = range_of!(0.01 to 50.0 "rad/s²");

    /// Checks that every limit of the arm is in its range, and each joint's lowest angle below its highest.
    ///
    /// # Errors
    /// Returns the first field, in the order of the structure, that is out of its range.
    #[inline(never)]
    pub fn check(&self) -> Result<(), LimitsError> {
        let told = |BadValue { field, expected, at }| LimitsError { field, expected, joint: at };
        self.check_ranges().map_err(told)?;
        let mut ranges = (0_u8..).zip(self.position_min.iter().zip(self.position_max.iter()));
        ranges.find(|(_, (min, max))| min >= max).map_or(Ok(()), |(joint, _)| {
            let expected = "each lowest angle below its highest";
            Err(told(BadValue::new("position_min", expected, Some(joint))))
        })
    }
}

/// The worst-case timing of commands on the way from this driver to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PathTiming {
    /// The time from the measurement of a robot state until the controller accepts the command that answers it.
    pub latency: Duration,
    /// The time for which a command remains in force on the controller if no other follows.
    pub hold: Duration,
}

impl<const N: usize> Limits<N> {
    /// Returns the limits to apply if commands have this timing on the way to the controller, so that the arm stays in
    /// its range even if everything after a command is lost. The command then remains in force for its full time before
    /// the arm brakes: [`reaction`](Self::reaction) grows by the timing. Commands still on their way when a state is
    /// measured may be faster than the one computed from it, by as much as [`acceleration`](Self::acceleration)
    /// permits: the position range shrinks.
    #[must_use]
    pub fn carried_by(&self, path: PathTiming) -> Self {
        let PathTiming { latency, hold } = path;
        let seconds = |span: Duration| span.as_secs_f32();
        // A command that arrives later than this finds the previous one expired.
        let step = seconds(self.longest_step.min(latency + hold));
        let under_way = seconds(latency + self.reaction);
        let slack = (under_way + step) * under_way + 0.5 * step * step;
        let mut limits = *self;
        let ranges = limits.position_min.0.iter_mut().zip(&mut limits.position_max.0);
        for ((min, max), (acceleration, fastest)) in ranges.zip(self.acceleration.iter().zip(self.velocity.iter())) {
            // The speed limit bounds the distance as well.
            let slack = (acceleration * slack).min(fastest * (under_way + 0.5 * step));
            *min += slack;
            *max -= slack;
        }
        limits.reaction = self.reaction + latency + hold;
        limits
    }

    /// Returns the longest distance of each joint \[rad\] if every joint continues at its highest speed for `time` and
    /// then brakes, no joint harder than [`braking`](Self::braking) nor than `deceleration` \[rad/s²\]. The joint that
    /// takes longest is decisive, and all come to rest with it.
    #[must_use]
    pub fn farthest(&self, time: Duration, deceleration: f32) -> [f32; N] {
        let stops = self.velocity.iter().zip(self.braking.iter()).map(|(v, braking)| {
            // Any deceleration that is not below the other, including NaN, is not the weaker one.
            v / if braking < deceleration { braking } else { deceleration }
        });
        let seconds = time.as_secs_f32() + 0.5 * stops.fold(0.0, f32::max);
        self.velocity.map(|v| v * seconds).0
    }
}

settings! {
    /// Limits of an arm that is commanded by torques, in addition to [`Limits`]. In files they are in the same table.
    /// The program on the controller applies the same limits.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct TorqueLimits<const N: usize> in "torque." {
        /// The highest torque of each joint, in addition to the torque that holds the arm against gravity, in both
        /// directions \[Nm\]. Default: half the rated torques of the smallest arm.
        pub torque: JointTorques<N> [Self::TORQUE] = JointTorques(core::array::from_fn(smallest)),
        /// The time in which a torque may rise from zero to its limit: no change is faster.
        pub rise at "torque_rise": Duration [0.002 to 5.0 "s"] = Duration::from_millis(100),
        /// The distance of a joint from its position when torque commands began at which commanding ends \[rad\]. The
        /// joint has to come to rest within it.
        pub travel: f32 [0.01 to 12.6 "rad"] = 1.0,
    }
}

/// Returns half the rated torque of the joint with this index, from 0, of a UR3, the smallest arm \[Nm\].
const fn smallest(joint: usize) -> f32 {
    match joint {
        0 | 1 => 28.0,
        2 => 14.0,
        _ => 6.0,
    }
}

impl<const N: usize> TorqueLimits<N> {
    /// The range of each joint's [`torque`](Self::torque) \[Nm\]: up to the rated torque of the largest joint of any
    /// arm.
    pub const TORQUE: Range<f32> = range_of!(0.01 to 1000.0 "Nm");

    /// Returns the largest change of each joint's torque permitted in `dt` \[Nm\].
    #[must_use]
    pub fn change_in(&self, dt: Duration) -> JointTorques<N> {
        let share = dt.as_secs_f32() / self.rise.as_secs_f32();
        self.torque.map(|most| most * share)
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
    fn an_angle_of_no_limit_is_known_to_a_tenth_of_a_milliradian() {
        let none = Limits::<6>::NONE;
        assert!(f32::from_bits(none.to_bits() + 1) - none < 1e-4);
        let mut limits = Limits::<6>::default();
        (limits.position_min.0[5], limits.position_max.0[5]) = (-none, none);
        assert_eq!(limits.check(), Ok(()));
        limits.position_max.0[5] = f32::INFINITY;
        assert!(limits.check().is_err(), "the arm would be commanded to angles that 32 bits do not tell apart");
    }

    #[test]
    fn a_wrong_limit_is_named_with_its_joint() {
        let with = |change: fn(&mut Limits<6>)| {
            let mut limits = Limits::default();
            change(&mut limits);
            limits.check().map_err(|e| (e.field, e.joint))
        };
        let named = |field, joint| {
            let BadValue { field, at, .. } = BadValue::new(field, "", joint);
            Err((field, at))
        };
        assert_eq!(with(|l| l.position_min.0[2] = 7.0), named("position_min", Some(2)));
        assert_eq!(with(|l| l.position_max.0[0] = f32::NAN), named("position_max", Some(0)));
        assert_eq!(with(|l| l.velocity.0[5] = 0.0), named("velocity", Some(5)));
        assert_eq!(with(|l| l.acceleration.0[1] = f32::INFINITY), named("acceleration", Some(1)));
        assert_eq!(with(|l| l.braking.0[1] = -1.0), named("braking", Some(1)));
        assert_eq!(with(|l| l.velocity_margin = f32::NAN), named("velocity_margin", None));
        assert_eq!(with(|l| l.reaction = Duration::from_secs(2)), named("reaction", None));
        assert_eq!(with(|l| l.longest_step = Duration::ZERO), named("longest_step", None));
    }

    #[cfg(feature = "texts")]
    #[test]
    fn an_error_reads_as_a_sentence_for_people() {
        let limits = Limits::<6> { velocity: JointVelocities([0.0; 6]), ..Limits::default() };
        let error = limits.check().expect_err("too slow");
        assert_eq!(error.to_string(), "velocity of joint 1: expected 0.001 to 2π rad/s");
    }
}
