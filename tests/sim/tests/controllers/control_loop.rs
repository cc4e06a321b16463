//! A program that moves to the positions in input registers, and a client that writes them, as in the example of UR's
//! own RTDE client.

use outrigger_sim::controller::Conn;
use outrigger_sim::port::Port;

use crate::common::{Bench, i32_at, ideal};

const PROGRAM: &str = include_str!("programs_of_users/rtde_control_loop.script");
const GOALS: [[f64; 6]; 2] = [[-0.12, -0.43, 0.14, 0.0, 3.11, 0.04], [-0.12, -0.51, 0.21, 0.0, 3.11, 0.04]];
const SETPOINT: &str = "input_double_register_0,input_double_register_1,input_double_register_2,\
                        input_double_register_3,input_double_register_4,input_double_register_5";

fn recipe(bench: &mut Bench, conn: Conn, names: &str) -> u8 {
    bench.package(conn, b'I', names.as_bytes());
    bench.packages(conn).iter().find(|(letter, _)| *letter == b'I').expect("a reply").1[0]
}

#[test]
fn the_arm_goes_where_registers_say_and_stops_when_their_writer_is_silent() {
    for (major, minor) in [(3, 15), (5, 15), (10, 11)] {
        let mut bench = Bench::new(ideal(major, minor));
        let conn = bench.subscribe(if major == 3 { 125.0 } else { 500.0 }, "output_int_register_0");
        let setpoint = recipe(&mut bench, conn, SETPOINT);
        let watchdog = recipe(&mut bench, conn, "input_int_register_0");
        let script = bench.connect(Port::Secondary);
        bench.send(script, PROGRAM);
        bench.packages(conn);
        let (mut request, mut moves) = (0_i32, 0);
        for _ in 0..3_000 {
            bench.run(8);
            let states = bench.packages(conn);
            let Some((_, state)) = states.iter().rev().find(|(letter, _)| *letter == b'U') else { continue };
            match (request, i32_at(state, 1)) {
                (0, 1) if moves < 4 => {
                    let goal = GOALS[moves % 2].map(f64::to_be_bytes).concat();
                    bench.package(conn, b'U', &[&[setpoint][..], &goal].concat());
                    request = 1;
                }
                (1, 0) => {
                    let pose = bench.controller.truth().tool().to_pose();
                    let off = (0..3).map(|axis| (pose[axis] - GOALS[moves % 2][axis]).abs()).fold(0.0, f64::max);
                    assert!(off < 1e-3, "{major}.{minor}, move {moves}: {off} m beside the goal");
                    moves += 1;
                    request = 0;
                }
                _ => {}
            }
            bench.package(conn, b'U', &[&[watchdog][..], &request.to_be_bytes()].concat());
            if moves == 4 {
                break;
            }
        }
        assert_eq!(moves, 4, "{major}.{minor}");
        assert!(bench.controller.program().0);
        bench.run(1_100);
        assert!(!bench.controller.program().0, "{major}.{minor}: a watchdog of 1 Hz");
    }
}
