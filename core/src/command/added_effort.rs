//! The governor of added torques and wrenches: of those that a law of this driver adds to the controller's own control
//! law, for the joints or for the tool.
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
//! "Towards": all numbers together, and none changes faster than from zero to its limit in [`AddedBounds::rise`]. The
//! limits apply to the numbers as the law gave them; the decay of a bridged reading scales them afterwards. A refusal
//! ends commanding, and then nothing is added any more.

use core::cell::Cell;

use super::torque_governor::{MOST_JOINTS, approach, gather, spread};
use crate::robot::Reason;
use outrigger_wire::robot::{JointTorques, Wrench};
use outrigger_wire::time::Duration;

/// The numbers that are added to the controller's control law: a torque of each joint \[Nm\], or the six values of a
/// wrench (force and torque) at the tool \[N, Nm\] and a zero.
pub(crate) type Numbers = JointTorques<MOST_JOINTS>;

/// The quantity that a controller adds to its control law: joint torques, or a wrench at the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Torques,
    Wrench,
}

/// The bounds of the torques, or of the wrench, that are added to the controller's control law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AddedBounds {
    kind: Kind,
    /// The highest magnitude of each added torque or force \[N, Nm\]; greater than zero.
    most: Numbers,
    /// The time in which an added torque or force may rise from zero to its limit.
    rise: Duration,
    /// The constant torques or wrench of the configuration, which are added while this driver's law gives none.
    constant: Numbers,
}

impl AddedBounds {
    /// Returns the bounds of the joint torques that a law of this driver adds to the controller's control law.
    pub(crate) const fn of_torques(most: [f32; MOST_JOINTS], rise: Duration, constant: [f32; MOST_JOINTS]) -> Self {
        Self { kind: Kind::Torques, most: JointTorques(most), rise, constant: JointTorques(constant) }
    }

    /// Returns the bounds of the force and torque at the tool that a law of this driver adds to the controller's
    /// control law.
    pub(crate) const fn of_wrench(most: &Wrench, rise: Duration, constant: &Wrench) -> Self {
        let (mut most, constant) = (numbers_of(most), numbers_of(constant));
        // A wrench has no seventh number: it stays zero, and a bound above zero avoids the division 0 / 0.
        let [.., unused] = &mut most.0;
        *unused = 1.0;
        Self { kind: Kind::Wrench, most, rise, constant }
    }
}

const fn numbers_of(wrench: &Wrench) -> Numbers {
    let Wrench { force: [x, y, z], torque: [rx, ry, rz] } = *wrench;
    JointTorques([x, y, z, rx, ry, rz, 0.0])
}

/// The torques or the wrench that were added last to the controller's own control law, as sent to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum AddedPhase {
    /// No added torques or wrench were sent, because the arm did not follow commands.
    #[default]
    Idle,
    /// The constant added torques or wrench of the configuration were sent.
    Constant,
    /// These added torques or this wrench were sent, because this driver's law gives some now or gave some before.
    Given(Numbers),
}

/// The governor of added torques or wrenches: their bounds, and those that were sent last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AddedGovernor {
    /// The bounds of added torques or wrenches in force; `None` if the controller adds nothing to its control law.
    bounds: Option<AddedBounds>,
    phase: AddedPhase,
}

impl AddedGovernor {
    /// Sets the bounds of the added torques or wrenches; `None` if the controller adds nothing to its control law.
    pub(crate) const fn set_bounds(&mut self, bounds: Option<AddedBounds>) {
        self.bounds = bounds;
    }

    /// Returns the highest torque of each joint \[Nm\] that a law of this driver may add to the controller's control
    /// law; `None` if the controller adds no torques.
    #[must_use]
    pub(crate) fn most_torques<const N: usize>(&self) -> Option<JointTorques<N>> {
        self.bounds.filter(|bounds| bounds.kind == Kind::Torques).map(|bounds| gather(&bounds.most.0))
    }

    /// Records that no added torques or wrench are sent, because the arm does not follow commands.
    pub(crate) const fn reset(&mut self) {
        self.phase = AddedPhase::Idle;
    }

    /// Returns the state of the governor for a [checkpoint](crate::recorder::Checkpoint) in a recording: the added
    /// torques or wrench that were sent last, without the bounds.
    #[cfg(feature = "record")]
    pub(crate) const fn saved(&self) -> &AddedPhase {
        &self.phase
    }

    /// Restores the added torques or wrench sent last, which were [saved](Self::saved) in a checkpoint of a recording.
    #[cfg(feature = "record")]
    pub(crate) const fn resume(&mut self, phase: AddedPhase) {
        self.phase = phase;
    }

    /// Returns an empty slot for the torques or the wrench that this driver's law adds in one step; `None` if the
    /// controller adds nothing to its control law.
    #[must_use]
    pub(crate) fn slot(&self) -> Option<AddedSlot> {
        self.bounds.map(|AddedBounds { kind, .. }| AddedSlot { kind, given: Cell::new(None) })
    }

    /// Approves, limits or refuses the torques or the wrench to add that this driver's law gave, `dt` after the last
    /// command by the controller's clock. `scale`, from 0 to 1, is the share of them that remains while a sensor
    /// reading that is too old is still used.
    ///
    /// # Errors
    /// See the table of this module; the numbers that were sent last do not change.
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

    /// Returns the added torques or wrench to send in place of the configuration's constant; `None` if the constant
    /// applies, or the arm does not follow commands.
    #[must_use]
    pub(crate) const fn sent(&self) -> Option<&[f32; MOST_JOINTS]> {
        match &self.phase {
            AddedPhase::Given(JointTorques(numbers)) => Some(numbers),
            AddedPhase::Idle | AddedPhase::Constant => None,
        }
    }
}

/// The slot in which a law of this driver stores the torques or the wrench that the controller is to add to its own
/// control law in one step.
#[derive(Debug)]
pub(crate) struct AddedSlot {
    kind: Kind,
    given: Cell<Option<Numbers>>,
}

impl AddedSlot {
    /// Stores added joint torques \[Nm\] in the slot, in place of earlier ones.
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] if the controller adds a wrench.
    pub(super) fn put_torques<const N: usize>(&self, torques: &JointTorques<N>) -> Result<(), Reason> {
        self.put(Kind::Torques, gather(&spread(torques)))
    }

    /// Stores an added force and torque at the tool \[N, Nm\] in the slot, in place of earlier ones.
    ///
    /// # Errors
    /// [`Reason::PathUnfit`] if the controller adds joint torques.
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

    /// Removes and returns the torques or the wrench to add in the slot; `None` if this driver's law has stored none.
    #[must_use]
    pub(crate) fn take(&self) -> Option<Numbers> {
        self.given.take()
    }
}

#[cfg(test)]
mod tests;
