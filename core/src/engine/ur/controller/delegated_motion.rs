//! The motion that the controller executes by itself, by the program that carries the commands.

use super::super::reverse::{Reverse, exclusive, shared};
use super::Ur;
#[cfg(feature = "programs")]
use crate::command::Guidance;
use crate::command::JointMove;
#[cfg(feature = "motions")]
use crate::command::{Destination, LocateError, MoveTarget};
use crate::engine::controller::Delegated;
use crate::engine::cycle::MotionProgress;
use crate::law::FeedError;
use crate::mode::MoveNumber;
#[cfg(feature = "programs")]
use crate::mode::OperatorAction;
#[cfg(feature = "programs")]
use crate::robot::Reason;
use crate::trajectory::{Leg, Waypoint};
#[cfg(feature = "motions")]
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::robot::State;
use outrigger_wire::time::{Duration, Instant};

impl Delegated<6> for Ur<'_> {
    #[cfg(feature = "programs")]
    fn word_for_program(&mut self, word: OperatorAction, free: Result<(), Reason>, now: Instant) -> Result<(), Reason> {
        exclusive(&mut self.program).ok_or(Reason::NoSuchProgram)?.told(word, free, now)
    }

    fn executed(&mut self, state: &State<6>, now: Instant) -> MotionProgress {
        exclusive(&mut self.program).map(|program| program.executed(state, now)).unwrap_or_default()
    }

    fn delegated(&mut self, number: MoveNumber, asked: JointMove<6>, state: &State<6>) {
        exclusive(&mut self.program).into_iter().for_each(|program| program.delegated(number, asked, state));
    }

    #[cfg(feature = "motions")]
    fn locate(&mut self, target: MoveTarget<6>) -> Result<(), Reason> {
        exclusive(&mut self.program).ok_or(Reason::NoSuchProgram)?.locate(target)
    }

    #[cfg(feature = "motions")]
    fn located(&self) -> Option<Result<Destination<6>, LocateError>> {
        shared(&self.program).and_then(Reverse::located)
    }

    fn asked(&self) -> Option<JointMove<6>> {
        shared(&self.program).and_then(Reverse::asked_move)
    }

    #[cfg(feature = "programs")]
    fn can_guide(&self) -> Result<(), Reason> {
        shared(&self.program).ok_or(Reason::NoSuchProgram)?.can_guide()
    }

    #[cfg(feature = "programs")]
    fn guided(&mut self, what: Guidance, beside: bool) {
        exclusive(&mut self.program).into_iter().for_each(|program| program.guided(what, beside));
    }

    #[cfg(feature = "programs")]
    fn move_ends(&mut self) {
        exclusive(&mut self.program).into_iter().for_each(Reverse::move_ends);
    }

    #[cfg(feature = "programs")]
    fn stop_at_contact(&mut self, stops: bool) -> Result<(), Reason> {
        let program = exclusive(&mut self.program).ok_or(Reason::NoSuchProgram)?;
        program.can_guide()?;
        // The first software that has `tool_contact`.
        let software = self.identity.ok_or(Reason::LinkClosed)?.software;
        let tells = if software.major < 5 { software.at_least(3, 14) } else { software.at_least(5, 4) };
        if !tells {
            return Err(Reason::PathUnfit);
        }
        program.stop_at_contact(stops);
        Ok(())
    }

    fn leg_room(&self) -> usize {
        shared(&self.program).map_or(0, Reverse::leg_room)
    }

    fn leg_to(&self, to: &Waypoint<6>, last: bool) -> Result<Leg<6>, FeedError> {
        shared(&self.program).ok_or(FeedError::NoMotion)?.leg_to(to, last)
    }

    fn lead_on(&mut self, to: &Waypoint<6>, last: bool) {
        exclusive(&mut self.program).into_iter().for_each(|program| program.lead_on(to, last));
    }

    fn led(&self) -> Option<Duration> {
        shared(&self.program).and_then(Reverse::led)
    }

    #[cfg(feature = "motions")]
    fn hold_to(&mut self, tolerances: Tolerances<6>) -> Result<(), FeedError> {
        exclusive(&mut self.program).ok_or(FeedError::NoMotion)?.hold_to(tolerances)
    }

    #[cfg(feature = "motions")]
    fn tolerated(&self) -> Option<&Watch<6>> {
        shared(&self.program)?.tolerated()
    }
}
