//! Motion that a hand or a force makes, by the player on the controller: what was asked for, its order, and contacts.

use super::Reverse;
use super::player::micro;
use crate::command::{ForceMode, Guidance};
use crate::mode::MoveNumber;
use crate::robot::{Authority, Reason, Wrench};
use crate::wire::player::PlayerOrderRepr;
use crate::wire::program::What;

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

/// Beside the move that runs.
pub(super) fn beside(mode: &ForceMode, keep: PlayerOrderRepr) -> PlayerOrderRepr {
    force(mode, keep)
}

/// In the program's units. An axis that gives way has a limit above 0, another one below.
fn force(mode: &ForceMode, keep: PlayerOrderRepr) -> PlayerOrderRepr {
    let ForceMode { task_frame, selection, wrench, kind, limits, damping, gain_scaling } = *mode;
    let [x, y, z] = task_frame.position;
    let [rx, ry, rz] = task_frame.rotation;
    let Wrench { force: [fx, fy, fz], torque: [tx, ty, tz] } = wrench;
    let mut signed = limits.map(|limit| micro(limit).max(1));
    for (limit, gives_way) in signed.iter_mut().zip(selection) {
        if !gives_way {
            *limit = limit.saturating_neg();
        }
    }
    let thousandths = |value: f32| (value * 1e3 + 0.5) as u16;
    PlayerOrderRepr {
        what: What::Force,
        time: PlayerOrderRepr::force_settings(kind.number(), thousandths(damping), thousandths(gain_scaling)),
        positions: [x, y, z, rx, ry, rz].map(micro),
        velocities: [fx, fy, fz, tx, ty, tz].map(micro),
        accelerations: signed,
        ..keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robot::Pose;

    #[test]
    fn a_force_mode_stands_in_one_order() {
        let mode = ForceMode {
            task_frame: Pose { position: [0.1, 0.0, 0.0], rotation: [0.0, 0.0, -1.5] },
            selection: [false, false, true, false, false, false],
            limits: [0.01, 0.01, 0.15, 0.02, 0.02, 0.02],
            ..ForceMode::pushing([0.0, 0.0, -20.5])
        };
        let order = force(&mode, PlayerOrderRepr { number: 7, ..PlayerOrderRepr::keep(3) });
        assert_eq!((order.what, order.number, order.counter), (What::Force, 7, 3));
        assert_eq!(order.positions, [100_000, 0, 0, 0, 0, -1_500_000]);
        assert_eq!(order.velocities, [0, 0, -20_500_000, 0, 0, 0]);
        assert_eq!(order.accelerations, [-10_000, -10_000, 150_000, -20_000, -20_000, -20_000]);
        assert_eq!(order.time, PlayerOrderRepr::force_settings(2, 25, 500));
    }
}
