//! Steps of the laws, to be counted.

use core::hint::black_box;

use outrigger_core::command::Samples;
use outrigger_core::kinematics::DampedLeastSquares;
use outrigger_core::law::Law;
use outrigger_wire::robot::Twist;

use outrigger_cycles::commands::{BENT, CYCLE, DISTANCE, axes, chain, reading, servo, standoff, state};

/// Calls `count` for each computation of the control laws, with its name, its budget of instructions and its code.
pub fn each(mut count: impl FnMut(&str, u32, &mut dyn FnMut())) {
    let (chain, bent) = (chain(), state(BENT));
    count("pose and Jacobian of the tool, six joints", 1_250, &mut || {
        black_box(black_box(&chain).posture(black_box(&bent.positions)));
    });
    let (posture, solver) = (chain.posture(&bent.positions), DampedLeastSquares::default());
    let twist = Twist { linear: [0.01, -0.02, 0.05], angular: [0.01, 0.0, 0.02] };
    count("damped least squares, six joints", 800, &mut || {
        black_box(black_box(solver).solve(black_box(&posture.jacobian), black_box(&twist)));
    });
    let (mut law, samples) = (servo(), reading(DISTANCE));
    count("joint servo on a trajectory, one step", 1_300, &mut || {
        black_box(law.step(black_box(&bent), &Samples::NONE, black_box(CYCLE))).expect("near its path");
    });
    let mut law = axes();
    count("two axes by sensors, one step", 2_800, &mut || {
        black_box(law.step(black_box(&bent), &Samples::new(black_box(&samples)), black_box(CYCLE)))
            .expect("within its reach");
    });
    let mut law = standoff();
    count("standoff, one step", 2_800, &mut || {
        black_box(law.step(black_box(&bent), &Samples::new(black_box(&samples)), black_box(CYCLE)))
            .expect("on its line");
    });
}
