//! Freedrive and force mode by our program on the controller that executes moves: the parameters, the order, and
//! contacts.

use super::Reverse;
use super::order_units::force;
use crate::command::Guidance;
use crate::mode::MoveNumber;
use crate::robot::{Authority, Reason};
use outrigger_wire::player_messages::PlayerOrderRepr;
use outrigger_wire::program_messages::What;

impl Reverse {
    /// Checks that the program supports freedrive and force mode.
    ///
    /// # Errors
    /// `NoSuchProgram` if it does not.
    pub(in crate::engine::ur) fn can_guide(&self) -> Result<(), Reason> {
        if self.is_player() { Ok(()) } else { Err(Reason::NoSuchProgram) }
    }

    /// Takes the parameters of freedrive or force mode, for the start that is ordered next, or for force mode together
    /// with the move that runs.
    pub(in crate::engine::ur) const fn guided(&mut self, what: Guidance, beside: bool) {
        match what {
            Guidance::Force(mode) if beside => self.player.beside = Some(mode),
            Guidance::Force(_) | Guidance::Freedrive => self.player.assign(what),
        }
    }

    /// Sets whether a contact of the tool ends the motion that the program executes.
    pub(in crate::engine::ur) const fn stop_at_contact(&mut self, stops: bool) {
        self.player.watches = stops;
    }

    /// Orders the program to start freedrive or force mode. Only `keep` makes another order of this kind, for force
    /// mode together with a move. Returns `true` if the order was made.
    pub(super) fn guide(&mut self, _authority: Authority<'_>, number: MoveNumber) -> Result<bool, Reason> {
        let keep = PlayerOrderRepr { number: number.get(), ..PlayerOrderRepr::keep(self.counter) };
        let order = match self.player.guidance.ok_or(Reason::Internal)? {
            Guidance::Freedrive => PlayerOrderRepr { what: What::Freedrive, ..keep },
            Guidance::Force(mode) => force(&mode, keep),
        };
        Ok(self.tell(order))
    }
}
