//! Motion that a hand or a force makes, by the player on the controller: what was asked for, its order, and contacts.

use super::Reverse;
use super::units::force;
use crate::command::Guidance;
use crate::mode::MoveNumber;
use crate::robot::{Authority, Reason};
use outrigger_wire::player::PlayerOrderRepr;
use outrigger_wire::program::What;

impl Reverse {
    /// Whether the program lets a hand or a force move the arm on this software.
    ///
    /// # Errors
    /// `NoSuchProgram` where it is none that does.
    pub(in crate::engine::ur) fn can_guide(&self) -> Result<(), Reason> {
        if self.is_player() { Ok(()) } else { Err(Reason::NoSuchProgram) }
    }

    /// The arm is to give way so, by a verdict that comes, or beside the move that runs.
    pub(in crate::engine::ur) const fn guided(&mut self, what: Guidance, beside: bool) {
        match what {
            Guidance::Force(mode) if beside => self.player.beside = Some(mode),
            Guidance::Force(_) | Guidance::Freedrive => self.player.assign(what),
        }
    }

    /// Whether a contact of the tool ends the motion that the program makes.
    pub(in crate::engine::ur) const fn stop_at_contact(&mut self, stops: bool) {
        self.player.watches = stops;
    }

    /// The arm gives way from now on: the only function that makes an order of it.
    pub(super) fn guide(&mut self, _authority: Authority<'_>, number: MoveNumber) -> Result<bool, Reason> {
        let keep = PlayerOrderRepr { number: number.get(), ..PlayerOrderRepr::keep(self.counter) };
        let order = match self.player.guidance.ok_or(Reason::Internal)? {
            Guidance::Freedrive => PlayerOrderRepr { what: What::Freedrive, ..keep },
            Guidance::Force(mode) => force(&mode, keep),
        };
        Ok(self.tell(order))
    }
}
