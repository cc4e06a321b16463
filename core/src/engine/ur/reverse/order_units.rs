//! The conversion of requests to the integers in the orders of our program that executes moves.

use crate::command::ForceMode;
use outrigger_wire::player_messages::PlayerOrderRepr;
use outrigger_wire::program_messages::What;
use outrigger_wire::robot::Wrench;

/// Returns a value in millionths of its unit, rounded.
pub(super) fn micro(value: f32) -> i32 {
    let micro = value * 1e6;
    (micro + 0.5_f32.copysign(micro)) as i32
}

/// Returns the order that starts force mode with the parameters `mode`, with other fields as in `keep`. In the order, the
/// limit of a compliant axis is above 0, and that of any other axis below.
pub(super) fn force(mode: &ForceMode, keep: PlayerOrderRepr) -> PlayerOrderRepr {
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
    use crate::command::JointMove;
    use outrigger_wire::robot::Pose;

    #[test]
    fn the_least_speed_of_a_move_is_the_least_that_an_order_carries() {
        assert_eq!(micro(JointMove::<6>::LEAST), 1);
    }

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
