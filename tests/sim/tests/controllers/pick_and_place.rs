//! A program in the style of users that carries parts to a grid. The test checks the arm's position when the gripper
//! opens and closes.

use outrigger_sim::controller::{Action, Options};
use outrigger_sim::kinematics::Frame;
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;

use crate::common::Bench;

const PROGRAM: &str = include_str!("programs_of_users/pick_and_place.script");
/// The pose at which the tested program takes parts: the tool points down, its x axis is −y of the base and its y axis
/// is −x.
const PICK: [f64; 6] = [0.45, -0.3, 0.25, -2.221_441_469, 2.221_441_469, 0.0];
const CORNER: [f64; 6] = [0.45, 0.25, 0.25, -2.221_441_469, 2.221_441_469, 0.0];
/// The duration of a gripper motion in cycles.
const GRIPPER: u32 = 40;

fn text(pose: [f64; 6]) -> String {
    format!("p{pose:?}")
}

#[test]
fn twelve_parts_are_taken_and_put_down_within_a_millimetre() {
    for (major, minor) in [(3, 15), (5, 15), (10, 12)] {
        // The drives of a real arm: late, slow and with a small error.
        let mut bench = Bench::new(Options::for_software(SoftwareVersion::new(major, minor)));
        let primary = bench.connect(Port::Primary);
        bench.run(20);
        bench.told(primary);
        bench.send(primary, &PROGRAM.replace("PICK", &text(PICK)).replace("CORNER", &text(CORNER)));
        bench.run(200);
        let (mut gripped, mut wait) = (false, 0);
        let mut places = vec![];
        for _ in 0..60_000 {
            bench.next_cycle();
            let closed = bench.controller.io().digital_out & 1 != 0;
            if closed != gripped {
                gripped = closed;
                wait = GRIPPER;
                places.push((closed, bench.controller.truth().tool().position));
            }
            wait = u32::saturating_sub(wait, 1);
            if wait == 1 {
                bench.controller.act(Action::DigitalInputs(u32::from(gripped)));
            }
            if !bench.controller.program().0 {
                break;
            }
        }
        bench.run(50);
        assert_eq!(bench.told(primary).last().map(String::as_str), Some("parts: 12"), "{major}.{minor}");
        assert_eq!(places.len(), 24, "{major}.{minor}");
        let corner = Frame::from_pose(&CORNER);
        for (number, (closed, at)) in places.into_iter().enumerate() {
            let part = number / 2;
            let [column, row] = [part % 4, part / 4].map(|n| n as f64 * 0.06);
            let [x, y, z] = corner.position;
            let should = if closed { [PICK[0], PICK[1], PICK[2]] } else { [x - row, y - column, z] };
            let off = (0..3).map(|axis| (at[axis] - should[axis]).powi(2)).sum::<f64>().sqrt();
            assert!(off < 1e-3, "{major}.{minor} part {part} closed {closed}: {at:?} is not {should:?}");
        }
    }
}
