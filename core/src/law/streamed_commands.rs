//! The joint speeds, positions or torques that a client streams to a law, in place of a motion
//! (`core/docs/protocol/ros2-surface.md` 7.4 and 7.9).
//!
//! The source of the first command has exclusive use of the law until the arm is at rest again; the newest command
//! counts.
//!
//! | phase | command | next state | next phase |
//! |---|---|---|---|
//! | `Idle` | speeds, positions, torques | | `Speeds`, `Positions`, `Torques` |
//! | `Speeds` | speeds | they are commanded for [`Forward::holds`], from the first state on | `Speeds` |
//! | `Speeds` | none in time | zero is commanded: the speeds have lapsed | `Lapsed` |
//! | `Torques` | torques | they are commanded for [`Forward::holds`], from the first state on | `Torques` |
//! | `Torques` | none in time | zero speed is commanded: the torques have lapsed | `Lapsed` |
//! | `Lapsed` | speeds, torques | | `Speeds`, `Torques` |
//! | `Lapsed` | none | zero speed is commanded until the arm is at rest | `Idle`, held there |
//! | `Positions` | positions | the newest are followed by feedback | `Positions` |
//! | `Positions` | none in time | the last are followed until the arm rests there, or after a second elsewhere | `Idle`, held there |
//!
//! Torques are sent only on a path that accepts them: [`Forwarded::fits`]. After they have lapsed, they decay to zero
//! within [`TorqueLimits::rise`], and a joint gets only the torque that brakes it.
//!
//! Other commands are refused, and the previous one remains in force until its own end. Nothing is extrapolated. While
//! the robot's speed scaling is 0 the law makes no steps, but the time of a command continues: see
//! [`Motion::stand`](super::Motion::stand).
//!
//! ```
//! use outrigger_core::command::Limits;
//! use outrigger_core::law::{Forward, Forwarded, JointServo, JointServoConfig, Law, Motion, Reference, Start};
//! use outrigger_core::{Duration, JointVelocities, State};
//!
//! let (state, limits) = (State::<6>::default(), Limits::default());
//! let mut law = JointServo::new(Reference::Hold, JointServoConfig::default());
//! law.arm(&Start::at(&state)).unwrap();
//! let speeds = JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
//! let forward = Forward { what: Forwarded::Speeds(speeds), holds: Duration::from_millis(40) };
//! law.forward(&forward, &state, &limits)?;
//! let fast = Forward { what: Forwarded::Speeds(speeds.map(|v| 4.0 * v)), ..forward };
//! let refused = law.forward(&fast, &state, &limits).unwrap_err();
//! assert_eq!(refused.to_string(), "joint 6 would reach 2.000 rad/s; its limit is 1.000 rad/s");
//! # Ok::<(), outrigger_core::law::ForwardError>(())
//! ```

use core::fmt;

use super::limit_check::{Excess, Quantity};
use crate::command::Limits;
use crate::robot::{BadValue, Range, range_of};
use outrigger_wire::robot::{JointPositions, JointTorques, JointVelocities, State};
use outrigger_wire::time::Duration;

/// The values of a streamed command: speeds, positions or torques.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Forwarded<const N: usize> {
    /// The streamed speed of each joint \[rad/s\].
    Speeds(JointVelocities<N>),
    /// The streamed angle of each joint \[rad\].
    Positions(JointPositions<N>),
    /// The streamed torque of each joint, in addition to the torque that holds the arm against gravity \[Nm\].
    Torques(JointTorques<N>),
}

impl<const N: usize> Forwarded<N> {
    /// Checks that streamed torques are within `limits`, or, with `None`, refuses them because the way of commanding
    /// accepts none. Speeds and positions are accepted; the law checks them.
    ///
    /// # Errors
    /// [`ForwardError::NoTorques`], [`ForwardError::NotFinite`] or [`ForwardError::Torque`].
    pub fn fits(&self, limits: Option<&JointTorques<N>>) -> Result<(), ForwardError> {
        let Self::Torques(torques) = self else { return Ok(()) };
        let limits = limits.ok_or(ForwardError::NoTorques)?;
        judge(&torques.0, &limits.0, |joint, sent, allowed| ForwardError::Torque { joint, sent, allowed })
    }
}

/// A command of a stream of speeds, positions or torques, with the time for which it is valid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Forward<const N: usize> {
    /// The joint speeds, positions or torques that the command requests.
    pub what: Forwarded<N>,
    /// The time, by the controller's clock, for which the command is in force if no other follows: at least one step of
    /// the law.
    pub holds: Duration,
}

impl<const N: usize> Forward<N> {
    /// The range of the time for which a command is in force, [`holds`](Self::holds) \[s\].
    pub const HOLDS: Range<Duration> = range_of!(0.002 to 0.2 "s");
    /// The time for which UR's own driver keeps a streamed command in force if no other follows.
    pub const DRIVER_HOLDS: Duration = Duration::from_millis(40);
}

/// The state of a stream of joint speeds, positions or torques that a control law follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Forwarding {
    /// No stream of speeds, positions or torques to the law is active.
    #[default]
    Idle,
    /// The arm follows streamed joint speeds.
    Speeds,
    /// The last speeds or torques of the stream expired, or positions while the robot's speed scaling was 0 or the
    /// program that executes the commands was paused: the arm comes to rest.
    Lapsed,
    /// The arm follows streamed joint positions.
    Positions,
    /// The arm follows streamed joint torques.
    Torques,
}

/// The reason for which a streamed speed, position or torque command is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ForwardError {
    /// The law is not commanding the arm now, and accepts no stream.
    NotCommanding,
    /// The configured law does not follow streamed joint commands.
    NoJointLaw,
    /// The law is controlled by a sensor and accepts no stream of commands.
    Sensor,
    /// A motion is in progress; it has to be ended or cancelled first.
    MotionUnderWay,
    /// A number of the streamed command is NaN or infinite.
    NotFinite,
    /// The duration [`Forward::holds`] of the streamed command is out of its range.
    Holds(BadValue),
    /// The streamed command would exceed a limit of the arm.
    Beyond(Excess),
    /// A streamed position would move a joint further from its present position than one command may.
    Far {
        /// The joint that the command would move too far, counted from 0.
        joint: u8,
        /// The distance of the command from the joint's present position \[rad\].
        off: f32,
        /// The largest permitted distance of the command from the joint's present position \[rad\].
        allowed: f32,
    },
    /// The streamed command is of another kind than the stream that the arm follows now.
    OtherKind,
    /// Positions were streamed to a law whose feedback is off.
    NoFeedback,
    /// Torques were streamed, but the controller is commanded in a way that accepts none.
    NoTorques,
    /// The torque streamed for a joint is above its limit.
    Torque {
        /// The joint whose torque is too high, counted from 0.
        joint: u8,
        /// The torque that was sent for the joint \[Nm\].
        sent: f32,
        /// The highest permitted torque of the joint \[Nm\], with the sign of the torque that was sent.
        allowed: f32,
    },
}

impl ForwardError {
    /// Returns the name of the reason for which a streamed command is refused, as figures and logs use it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotCommanding => "NotCommanding",
            Self::NoJointLaw => "NoJointLaw",
            Self::Sensor => "Sensor",
            Self::MotionUnderWay => "MotionUnderWay",
            Self::NotFinite => "NotFinite",
            Self::Holds(_) => "Holds",
            Self::Beyond(_) => "Beyond",
            Self::Far { .. } => "Far",
            Self::OtherKind => "OtherKind",
            Self::NoFeedback => "NoFeedback",
            Self::NoTorques => "NoTorques",
            Self::Torque { .. } => "TorqueLimit",
        }
    }
}

impl fmt::Display for ForwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCommanding => f.write_str("nothing is commanded now"),
            Self::NoJointLaw => f.write_str("this run's law follows no joint commands"),
            Self::Sensor => f.write_str("a sensor moves the arm by this law"),
            Self::MotionUnderWay => f.write_str("a motion is active: wait for its end, or cancel it"),
            Self::NotFinite => f.write_str("a number is NaN or infinite"),
            Self::Holds(error) => error.fmt(f),
            Self::Beyond(excess) => excess.fmt(f),
            Self::Far { joint, off, allowed } => {
                let joint = joint.saturating_add(1);
                write!(f, "joint {joint} is {off:.3} rad from there, and {allowed:.3} rad are allowed")
            }
            Self::OtherKind => f.write_str("the arm moves by commands of another kind: wait for standstill"),
            Self::NoFeedback => f.write_str("the law's feedback is off (proportional = 0): it follows no positions"),
            Self::Torque { joint, sent, allowed } => {
                write!(f, "joint {} would get {sent:.3} Nm; its limit is {allowed:.3} Nm", joint.saturating_add(1))
            }
            Self::NoTorques => f.write_str(
                "this path takes no torques: a UR controller takes them from 5.23 and 10.11 on, with session.path = \"reverse-torque\" or \"external-torque\"; \
                 a KUKA LWR with robot.expert.control = \"joint-impedance\"",
            ),
        }
    }
}

impl core::error::Error for ForwardError {}

/// The joint speed below which an arm counts as at rest \[rad/s\].
const AT_REST: f32 = 0.02;
/// The distance below which a joint counts as being at its streamed position \[rad\].
const THERE: f32 = 0.01;
/// The joint speed below which an arm counts as stopped away from its streamed position by an obstacle \[rad/s\]: a
/// slow approach is faster.
const STANDS: f32 = 0.002;
/// The wait after the last streamed position expired before a stopped arm counts as stopped by an obstacle: at first it
/// may only be about to move.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// A streamed command, the time for which it is valid, and how long it has been in force.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Held<T> {
    what: T,
    holds: Duration,
    /// The time since the first robot state that the streamed command answered; `None` before.
    age: Option<Duration>,
}

impl<T> Held<T> {
    const fn new(what: T, holds: Duration) -> Self {
        Self { what, holds, age: None }
    }

    /// Adds `dt`, the time since the last robot state. Returns how long ago the streamed command expired; `None` if it
    /// is still in force.
    fn overdue(&mut self, dt: Duration) -> Option<Duration> {
        let age = self.age.map_or(Duration::ZERO, |age| age + dt);
        self.age = Some(age);
        (age >= self.holds).then_some(age - self.holds)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Phase<const N: usize> {
    #[default]
    Idle,
    Speeds(Held<JointVelocities<N>>),
    Lapsed,
    /// The streamed position command, with the highest speed of each joint on the way \[rad/s\].
    Positions(Held<JointPositions<N>>, JointVelocities<N>),
    Torques(Held<JointTorques<N>>),
}

/// The behaviour of a joint servo in one step, as the stream of commands to it determines it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lead<const N: usize> {
    /// The law follows its own reference, a position or a motion, because no stream of commands is active.
    Own,
    /// These joint speeds are commanded \[rad/s\]; while [torques](Stream::torques) are in force, these are the
    /// measured speeds.
    Speeds(JointVelocities<N>),
    /// The law's feedback moves the joints to these positions \[rad\], with at most these speeds \[rad/s\].
    Positions(JointPositions<N>, JointVelocities<N>),
    /// The arm is at rest: it is held there, and the stream of commands ends.
    Rests,
}

/// The state of a stream of commands to a law: its present command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Stream<const N: usize> {
    phase: Phase<N>,
}

impl<const N: usize> Stream<N> {
    /// Accepts a streamed command for an arm in `state`, each of whose joints may be moved by at most `reach` \[rad\].
    /// Torques have to be checked before by [`Forwarded::fits`].
    ///
    /// # Errors
    /// Returns the reason of a refusal; the previous command remains in force.
    pub(super) fn take(
        &mut self,
        forward: &Forward<N>,
        state: &State<N>,
        limits: &Limits<N>,
        reach: f32,
    ) -> Result<(), ForwardError> {
        let Forward { what, holds } = *forward;
        Forward::<N>::HOLDS.check(holds, "holds").map_err(ForwardError::Holds)?;
        self.phase = match (what, self.phase) {
            (Forwarded::Speeds(_), Phase::Positions(..) | Phase::Torques(_))
            | (Forwarded::Positions(_), Phase::Speeds(_) | Phase::Torques(_) | Phase::Lapsed)
            | (Forwarded::Torques(_), Phase::Speeds(_) | Phase::Positions(..)) => return Err(ForwardError::OtherKind),
            (Forwarded::Speeds(speeds), Phase::Idle | Phase::Speeds(_) | Phase::Lapsed) => {
                judge(&speeds.0, &limits.velocity.0, |joint, reached, allowed| {
                    ForwardError::Beyond(Excess { joint, quantity: Quantity::Velocity, reached, allowed })
                })?;
                Phase::Speeds(Held::new(speeds, holds))
            }
            (Forwarded::Positions(positions), Phase::Idle | Phase::Positions(..)) => {
                judge_positions(&positions, state, limits, reach)?;
                Phase::Positions(Held::new(positions, holds), limits.velocity)
            }
            (Forwarded::Torques(torques), Phase::Idle | Phase::Torques(_) | Phase::Lapsed) => {
                Phase::Torques(Held::new(torques, holds))
            }
        };
        Ok(())
    }

    /// Processes a state of the arm, `dt` after the last one; returns the law's behaviour in this step.
    pub(super) fn step(&mut self, state: &State<N>, dt: Duration) -> Lead<N> {
        let speed = state.velocities.max_abs();
        match &mut self.phase {
            Phase::Idle => Lead::Own,
            Phase::Speeds(held) => {
                if held.overdue(dt).is_none() {
                    return Lead::Speeds(held.what);
                }
                self.phase = Phase::Lapsed;
                Lead::Speeds(JointVelocities::ZERO)
            }
            Phase::Torques(held) => {
                if held.overdue(dt).is_none() {
                    return Lead::Speeds(state.velocities);
                }
                self.phase = Phase::Lapsed;
                Lead::Speeds(JointVelocities::ZERO)
            }
            Phase::Lapsed if speed < AT_REST => {
                self.phase = Phase::Idle;
                Lead::Rests
            }
            Phase::Lapsed => Lead::Speeds(JointVelocities::ZERO),
            Phase::Positions(held, fastest) => {
                let lead = Lead::Positions(held.what, *fastest);
                let off = held.what.zip_with(state.positions.as_array(), |to, at| to - at).max_abs();
                let Some(overdue) = held.overdue(dt) else { return lead };
                if speed < AT_REST && off < THERE {
                    self.phase = Phase::Idle;
                } else if speed < STANDS && overdue > ON_ITS_WAY {
                    self.phase = Phase::Idle;
                    return Lead::Rests;
                }
                lead
            }
        }
    }

    /// Processes a robot state at which the law makes no step, because the robot's speed scaling is 0 or the program
    /// that executes the commands was paused. A streamed command that expires meanwhile does not continue afterwards:
    /// the arm comes to rest.
    pub(super) fn stand(&mut self, dt: Duration) {
        let overdue = match &mut self.phase {
            Phase::Idle | Phase::Lapsed => return,
            Phase::Speeds(held) => held.overdue(dt),
            Phase::Positions(held, _) => held.overdue(dt),
            Phase::Torques(held) => held.overdue(dt),
        };
        if overdue.is_some() {
            self.phase = Phase::Lapsed;
        }
    }

    pub(super) const fn stage(&self) -> Forwarding {
        match self.phase {
            Phase::Idle => Forwarding::Idle,
            Phase::Speeds(_) => Forwarding::Speeds,
            Phase::Lapsed => Forwarding::Lapsed,
            Phase::Positions(..) => Forwarding::Positions,
            Phase::Torques(_) => Forwarding::Torques,
        }
    }

    /// Returns the streamed joint torques in force at the state of the last [`step`](Self::step) \[Nm\]; `None` if
    /// there are none.
    pub(super) const fn torques(&self) -> Option<&JointTorques<N>> {
        match &self.phase {
            Phase::Torques(held) => Some(&held.what),
            Phase::Idle | Phase::Speeds(_) | Phase::Lapsed | Phase::Positions(..) => None,
        }
    }
}

/// Checks that each joint's command is finite and not above `most` in magnitude. For the first joint whose command is
/// above it, returns the error that `beyond` creates from joint, command and limit.
fn judge<const N: usize>(
    commands: &[f32; N],
    most: &[f32; N],
    beyond: impl FnOnce(u8, f32, f32) -> ForwardError,
) -> Result<(), ForwardError> {
    if !commands.iter().all(|command| command.is_finite()) {
        return Err(ForwardError::NotFinite);
    }
    let pairs = (0..).zip(commands.iter().zip(most));
    let first = pairs.into_iter().find(|(_, (command, most))| command.abs() > **most);
    first.map_or(Ok(()), |(joint, (&reached, &most))| Err(beyond(joint, reached, most.copysign(reached))))
}

fn judge_positions<const N: usize>(
    positions: &JointPositions<N>,
    state: &State<N>,
    limits: &Limits<N>,
    reach: f32,
) -> Result<(), ForwardError> {
    if !(positions.is_finite() && state.positions.is_finite()) {
        return Err(ForwardError::NotFinite);
    }
    let ranges = limits.position_min.iter().zip(limits.position_max.iter());
    for (joint, (reached, (least, most))) in (0..).zip(positions.iter().zip(ranges)) {
        let allowed = if reached < least { least } else { most };
        if !(least..=most).contains(&reached) {
            return Err(ForwardError::Beyond(Excess { joint, quantity: Quantity::Position, reached, allowed }));
        }
    }
    for (joint, (to, at)) in (0..).zip(positions.iter().zip(state.positions.iter())) {
        let off = (to - at).abs();
        if off > reach {
            return Err(ForwardError::Far { joint, off, allowed: reach });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
