//! The governor of what a law adds to the control law of a controller: joint torques, or force and torque at the tool.
//!
//! | phase | given | goes out | next phase |
//! |---|---|---|---|
//! | any | NaN or infinite | nothing: refused, [`Reason::NotFinite`] | the same |
//! | any | more than [`AddedBounds::most`] | nothing: refused, [`Reason::TorqueLimit`] | the same |
//! | `Idle` | within it | from zero towards it | `Given` |
//! | `Constant` | within it | from the constant towards it | `Given` |
//! | `Given` | within it | from the last towards it | `Given` |
//! | `Idle`, `Constant` | none | the constant of the configuration | `Constant` |
//! | `Given` | none | from the last towards the constant | `Given`; `Constant` once it is there |
//! | any | the arm does not follow | nothing | `Idle` |
//!
//! "Towards": all numbers together, and none changes faster than from zero to its limit in [`AddedBounds::rise`]. What is given is
//! judged as the law gave it; only then does the decay of a bridged reading scale it. Whatever is refused ends commanding, and with it
//! nothing is added any more.

use core::cell::Cell;

use super::torque::{MOST_JOINTS, approach, gather, spread};
use crate::robot::Reason;
use outrigger_wire::robot::{JointTorques, Wrench};
use outrigger_wire::time::Duration;

/// The numbers that are added: a torque for each joint \[Nm\], or the six of a force and a torque at the tool \[N, Nm\] and a zero.
pub(crate) type Numbers = JointTorques<MOST_JOINTS>;

/// The kind of numbers that a controller adds to its control law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Torques,
    Wrench,
}

/// The bounds of what is added, of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AddedBounds {
    kind: Kind,
    /// The most of each number, either way, above zero.
    most: Numbers,
    /// The time in which a number may rise from zero to its limit.
    rise: Duration,
    /// The constant that the configuration adds while the law gives nothing.
    constant: Numbers,
}

impl AddedBounds {
    /// Returns the bounds of joint torques.
    pub(crate) const fn of_torques(most: [f32; MOST_JOINTS], rise: Duration, constant: [f32; MOST_JOINTS]) -> Self {
        Self { kind: Kind::Torques, most: JointTorques(most), rise, constant: JointTorques(constant) }
    }

    /// Returns the bounds of force and torque at the tool.
    pub(crate) const fn of_wrench(most: &Wrench, rise: Duration, constant: &Wrench) -> Self {
        let (mut most, constant) = (numbers_of(most), numbers_of(constant));
        // The number that a wrench has not stays zero.
        let [.., unused] = &mut most.0;
        *unused = 1.0;
        Self { kind: Kind::Wrench, most, rise, constant }
    }
}

const fn numbers_of(wrench: &Wrench) -> Numbers {
    let Wrench { force: [x, y, z], torque: [rx, ry, rz] } = *wrench;
    JointTorques([x, y, z, rx, ry, rz, 0.0])
}

/// The last output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum AddedPhase {
    /// No output.
    #[default]
    Idle,
    /// The constant.
    Constant,
    /// These numbers, because the law gives some or gave some before.
    Given(Numbers),
}

/// Holds the bounds, and what went out last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AddedGovernor {
    /// `None` where the controller adds nothing.
    bounds: Option<AddedBounds>,
    phase: AddedPhase,
}

impl AddedGovernor {
    /// Sets the bounds; `None` where the controller adds nothing.
    pub(crate) const fn set_bounds(&mut self, bounds: Option<AddedBounds>) {
        self.bounds = bounds;
    }

    /// Returns the highest torque of each joint; `None` where no torques are added.
    #[must_use]
    pub(crate) fn most_torques<const N: usize>(&self) -> Option<JointTorques<N>> {
        self.bounds.filter(|bounds| bounds.kind == Kind::Torques).map(|bounds| gather(&bounds.most.0))
    }

    /// Takes note that nothing goes out: the arm does not follow.
    pub(crate) const fn reset(&mut self) {
        self.phase = AddedPhase::Idle;
    }

    /// Returns all that decides what follows, except the bounds.
    #[cfg(feature = "record")]
    pub(crate) const fn saved(&self) -> &AddedPhase {
        &self.phase
    }

    /// Goes on from what was [saved](Self::saved).
    #[cfg(feature = "record")]
    pub(crate) const fn resume(&mut self, phase: AddedPhase) {
        self.phase = phase;
    }

    /// Returns the place for what a law gives in one step; `None` where the controller adds nothing.
    #[must_use]
    pub(crate) fn slot(&self) -> Option<AddedSlot> {
        self.bounds.map(|AddedBounds { kind, .. }| AddedSlot { kind, given: Cell::new(None) })
    }

    /// Approves, shapes or refuses what the law gave, `dt` after the last command by the controller's clock. `scale` is the share of it
    /// that is left while a late reading is bridged.
    ///
    /// # Errors
    /// See the table of this module; what went out last stays as it was.
    pub(crate) fn step(&mut self, given: Option<Numbers>, scale: f32, dt: Duration) -> Result<(), Reason> {
        let Some(AddedBounds { kind: _, most, rise, constant }) = &self.bounds else { return Ok(()) };
        if let Some(given) = &given {
            if !given.is_finite() {
                return Err(Reason::NotFinite);
            }
            if given.iter().zip(most.iter()).any(|(number, most)| number.abs() > most) {
                return Err(Reason::TorqueLimit);
            }
        }
        let last = match (self.phase, given) {
            (AddedPhase::Given(last), _) => last,
            (AddedPhase::Idle, Some(_)) => Numbers::ZERO,
            (AddedPhase::Constant, Some(_)) => *constant,
            (AddedPhase::Idle | AddedPhase::Constant, None) => {
                self.phase = AddedPhase::Constant;
                return Ok(());
            }
        };
        let wanted = given.map_or(*constant, |given| given.map(|number| number * scale));
        let share = dt.as_secs_f32() / rise.as_secs_f32();
        let next = approach(&last, &wanted, &most.map(|most| most * share));
        let back = given.is_none() && next == *constant;
        self.phase = if back { AddedPhase::Constant } else { AddedPhase::Given(next) };
        Ok(())
    }

    /// Returns what goes out in place of the constant; `None` where the constant does.
    #[must_use]
    pub(crate) const fn sent(&self) -> Option<&[f32; MOST_JOINTS]> {
        match &self.phase {
            AddedPhase::Given(JointTorques(numbers)) => Some(numbers),
            AddedPhase::Idle | AddedPhase::Constant => None,
        }
    }
}

/// The place where a law puts what is to be added, in one step beside a controller that adds it.
#[derive(Debug)]
pub(crate) struct AddedSlot {
    kind: Kind,
    given: Cell<Option<Numbers>>,
}

impl AddedSlot {
    /// Puts torques there, in place of any before.
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] where a wrench is added.
    pub(super) fn put_torques<const N: usize>(&self, torques: &JointTorques<N>) -> Result<(), Reason> {
        self.put(Kind::Torques, gather(&spread(torques)))
    }

    /// Puts a wrench there, in place of any before.
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] where torques are added.
    pub(super) fn put_wrench(&self, wrench: &Wrench) -> Result<(), Reason> {
        self.put(Kind::Wrench, numbers_of(wrench))
    }

    fn put(&self, kind: Kind, numbers: Numbers) -> Result<(), Reason> {
        if kind != self.kind {
            return Err(Reason::PathUnfit);
        }
        self.given.set(Some(numbers));
        Ok(())
    }

    /// Returns what the law has put there, and empties it.
    #[must_use]
    pub(crate) fn take(&self) -> Option<Numbers> {
        self.given.take()
    }
}

#[cfg(test)]
mod tests;
