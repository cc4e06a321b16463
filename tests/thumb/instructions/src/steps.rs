//! The steps that are counted. Budgets of the README come first; the others are slightly above the counts, so that
//! growth is noticed.

use core::hint::black_box;

use outrigger_urscript::{SpeedJ, SpeedJForm, Version};
use outrigger_wire::realtime::{Packet, Repr};

/// Calls `count` for each step of a control cycle outside of the law, with its name, its budget of instructions and its
/// code.
pub fn each(mut count: impl FnMut(&str, u32, &mut dyn FnMut())) {
    let mut bytes = [0; 1220];
    let repr = Repr { time: 12.5, q_actual: [0.5; 6], qd_actual: [-0.25; 6], q_target: [0.5; 6], ..Repr::default() };
    repr.emit(1220, &mut bytes).expect("room");
    count("real-time packet of 1220 B: the fields a law needs", 1_000, &mut || {
        let packet = Packet::new_checked(black_box(&bytes)).expect("a packet");
        black_box((packet.time(), packet.q_actual(), packet.qd_actual(), packet.q_target(), packet.qd_target()));
        black_box((packet.robot_mode(), packet.safety_mode(), packet.program_state(), packet.speed_scaling()));
    });
    count("the same packet to a state in f32, with pose and force", 3_000, &mut || {
        let packet = Packet::new_checked(black_box(&bytes)).expect("a packet");
        let _ = black_box(packet.to_state());
    });

    let version = Version::new(5, 15);
    let command =
        SpeedJ { velocities: [0.123_456, -0.5, 1.25, -2.0, 0.000_1, 3.0], acceleration: 1.4, time: Some(0.02) };
    let mut room = [0; SpeedJ::MAX_LEN];
    count("speedj line, bare", 1_500, &mut || {
        let written = black_box(command).render(SpeedJForm::Bare, version, black_box(&mut room));
        black_box(written).expect("a text");
    });
}
