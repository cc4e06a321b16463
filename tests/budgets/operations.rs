//! The operations whose cost is budgeted: what a control cycle does, one entry per row of the README's table.

use std::hint::black_box;

use outrigger_core::wire::realtime::{Packet, Repr};
use outrigger_urscript::{SpeedJ, SpeedJForm, Version};

/// One budgeted operation.
pub(crate) struct Operation {
    /// What is done.
    pub(crate) name: &'static str,
    /// Budget on x86-64 \[ns\].
    pub(crate) budget: u32,
    /// Does it once, with everything it needs prepared beforehand.
    pub(crate) run: Box<dyn FnMut()>,
}

/// Every operation, prepared.
pub(crate) fn all() -> Vec<Operation> {
    vec![realtime_packet(), speedj_line()]
}

fn operation(name: &'static str, budget: u32, run: impl FnMut() + 'static) -> Operation {
    Operation { name, budget, run: Box::new(run) }
}

fn realtime_packet() -> Operation {
    let mut bytes = vec![0; 1220];
    Repr { time: 12.5, q_actual: [0.5; 6], ..Repr::default() }.emit(1220, &mut bytes).expect("a packet");
    operation("real-time packet of 1220 B, all fields to host order", 150, move || {
        let packet = Packet::new_checked(black_box(&bytes)).expect("a packet");
        black_box(packet.to_repr());
    })
}

fn speedj_line() -> Operation {
    let mut room = [0; SpeedJ::MAX_LEN];
    let version = Version::new(5, 15);
    let command =
        SpeedJ { velocities: [0.123_456, -0.5, 1.25, -2.0, 0.000_1, 3.0], acceleration: 1.4, time: Some(0.02) };
    operation("speedj line, bare", 150, move || {
        let written = black_box(command).render(SpeedJForm::Bare, version, black_box(&mut room));
        black_box(written).expect("a text");
    })
}
