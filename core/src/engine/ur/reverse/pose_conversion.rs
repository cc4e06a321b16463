//! The conversion of a place between joint positions and pose by the controller. It is asked for one value at a time,
//! in orders that do not change the motion.
//!
//! | state | condition for the next state |
//! |---|---|
//! | no question | a target is set whose answer is not known yet |
//! | a value is due | an order is sent that can carry the question |
//! | a value is requested | the report on that very order arrives: the value, or that there is none; the next one is due |
//! | known | after the last value, if there is none, and if the program ends |

use super::order_units::micro;
use crate::command::{ArmPosition, Destination, LocateError, MoveTarget};
use outrigger_wire::player_messages::{PlayerOrderRepr, PlayerReport};
use outrigger_wire::program_messages::What;
use outrigger_wire::robot::Pose;

/// The number of values of a place (joint positions or a pose); the controller is asked for one value at a time.
const VALUES: u8 = 6;

/// The question to the controller about the joint positions or the pose of a place, and the values that the program has
/// returned.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Locating {
    target: Option<MoveTarget<6>>,
    /// The number of values of the converted place (joint positions or a pose) that the program has returned so far.
    known: u8,
    values: [f32; 6],
    /// The counter of the order with the question about the next value of the place (joint positions or a pose); `None`
    /// if none is on its way.
    asked: Option<u16>,
    outcome: Option<Result<Destination<6>, LocateError>>,
}

impl Locating {
    /// Starts to have the controller convert the place `target`, and drops an earlier place.
    pub(super) fn begin(&mut self, target: MoveTarget<6>) {
        // A late answer to an earlier question must not be taken for this one's.
        *self = Self { target: Some(target), outcome: target.known().map(Ok), ..Self::default() };
    }

    /// Returns the result for the newest place: the converted place, or the error for which there is none; `None` before
    /// the result is known.
    pub(super) const fn outcome(&self) -> Option<Result<Destination<6>, LocateError>> {
        self.outcome
    }

    /// Records that the program has ended, so that no answer about a place will arrive.
    pub(super) const fn forget(&mut self) {
        if self.outcome.is_none() && self.target.is_some() {
            self.outcome = Some(Err(LocateError::ProgramEnded));
        }
        self.asked = None;
    }

    /// Adds the question about the next value of the place (joint positions or a pose) to this order, if it is due and
    /// the order can carry it.
    pub(super) fn ride(&mut self, order: PlayerOrderRepr) -> PlayerOrderRepr {
        let due = self.asked.is_none() && self.outcome.is_none();
        let question = self.target.filter(|_| due).and_then(|target| target.question());
        let (Some(place), What::Values | What::Keep) = (question, order.what) else { return order };
        self.asked = Some(order.counter);
        match place {
            ArmPosition::Joints(angles) => order.asking(angles.0.map(micro), true, self.known),
            ArmPosition::Pose(Pose { position: [x, y, z], rotation: [rx, ry, rz] }) => {
                order.asking([x, y, z, rx, ry, rz].map(micro), false, self.known)
            }
        }
    }

    /// Takes a report of the program. Returns `true` if it answers the question about a place (joint positions or a
    /// pose).
    pub(super) fn observe(&mut self, said: &PlayerReport) -> bool {
        let (Some(target), Some(counter)) = (&self.target, self.asked) else { return false };
        if said.report.counter != counter {
            return false;
        }
        self.asked = None;
        if said.progress == PlayerReport::OUT_OF_REACH {
            self.outcome = Some(Err(LocateError::OutOfReach));
        } else if let Some(value) = self.values.get_mut(usize::from(self.known)) {
            *value = said.progress as f32 * 1e-6;
            self.known = self.known.saturating_add(1);
            if self.known == VALUES {
                self.outcome = Some(Ok(target.found(self.values)));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::program_messages::{Ending, Report};
    use outrigger_wire::robot::JointPositions;

    fn said(counter: u16, progress: i32) -> PlayerReport {
        PlayerReport { report: Report { counter, ending: Ending::None, lag: 0 }, shown: 0, progress }
    }

    const POSE: Pose = Pose { position: [0.4, -0.1, 0.3], rotation: [0.0, 3.0, 0.0] };

    #[test]
    fn each_value_is_asked_for_once_and_taken_from_the_report_of_its_own_order() {
        let mut locating = Locating::default();
        let keep = PlayerOrderRepr::keep;
        assert_eq!(locating.ride(keep(1)), keep(1), "nothing is to be located");
        locating.begin(MoveTarget::pose(POSE).linear());
        for index in 0..6_u8 {
            let counter = 10 + u16::from(index) * 3;
            let rest = PlayerOrderRepr { what: What::Rest, ..keep(counter) };
            assert_eq!(locating.ride(rest), rest, "nobody asks beside it");
            let asking = locating.ride(keep(counter + 1));
            assert_eq!(asking.begin[0], i32::from(index) + 1);
            assert_eq!(asking.velocities, [400_000, -100_000, 300_000, 0, 3_000_000, 0]);
            assert_eq!(locating.ride(keep(counter + 2)), keep(counter + 2), "one at a time");
            assert!(!locating.observe(&said(counter, 77)), "the report of another order");
            assert_eq!(locating.outcome(), None);
            assert!(locating.observe(&said(counter + 1, i32::from(index) * -100_000)));
            assert!(!locating.observe(&said(counter + 1, 5)), "it was answered");
        }
        let found = locating.outcome().expect("known").expect("found");
        assert_eq!(found.line, Some(POSE));
        assert!(found.joints.iter().zip([0.0, -0.1, -0.2, -0.3, -0.4, -0.5]).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!(locating.ride(keep(99)), keep(99), "nothing more to ask");
        locating.forget();
        assert_eq!(locating.outcome(), Some(Ok(found)), "what is known stays so");
    }

    #[test]
    fn what_is_out_of_reach_and_what_nobody_answers_is_told() {
        let mut locating = Locating::default();
        locating.begin(MoveTarget::pose(POSE));
        let _ = locating.ride(PlayerOrderRepr::keep(3));
        assert!(locating.observe(&said(3, PlayerReport::OUT_OF_REACH)));
        assert_eq!(locating.outcome(), Some(Err(LocateError::OutOfReach)));
        locating.begin(MoveTarget::joints(JointPositions([0.1; 6])).linear());
        assert_eq!(locating.ride(PlayerOrderRepr::keep(4)).begin[0], 7);
        locating.forget();
        assert_eq!(locating.outcome(), Some(Err(LocateError::ProgramEnded)));
        // A target that needs no question is known at once.
        locating.begin(MoveTarget::joints(JointPositions([0.1; 6])));
        assert!(locating.outcome().is_some_and(|known| known.is_ok()));
        locating.forget();
        assert!(locating.outcome().is_some_and(|known| known.is_ok()));
    }
}
