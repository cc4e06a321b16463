//! Delays of a controller, selected by options.

use std::time::Duration;

use crate::common::{Bench, ideal};
use outrigger_sim::controller::Options;
use outrigger_sim::port::Port;
use outrigger_sim::undocumented_delays::Compiling;

const AT: &str = "[0.2,-1.57079633,-1.57079633,-1.57079633,1.57079633,0.0]";

#[test]
fn how_early_text_must_be_there_can_be_chosen() {
    // 4 ms after a cycle of 8 ms has begun, 4 ms before the next.
    for (intake, speed) in [(None, 0.0), (Some(Duration::from_millis(3)), 0.32), (Some(Duration::ZERO), 0.32)] {
        let mut bench = Bench::new(Options { intake, ..ideal(3, 5) });
        let conn = bench.connect(Port::Realtime);
        bench.next_cycle();
        bench.run(4);
        bench.send(conn, "speedj([0.5,0,0,0,0,0],40,0.1)\n");
        bench.next_cycle();
        assert_eq!(bench.qd_target()[0], speed, "{intake:?}");
    }
}

#[test]
fn how_late_a_long_program_starts_can_be_chosen() {
    let lines = " set_flag(1,True)\n".repeat(998);
    let started = |compiling| {
        let mut bench = Bench::new(Options { compiling, ..ideal(5, 15) });
        let conn = bench.connect(Port::Primary);
        bench.send(conn, &format!("def long():\n{lines} sleep(10)\nend\n"));
        let cycles = bench.controller.cycles();
        while !bench.controller.program().0 {
            bench.next_cycle();
        }
        // Cycles of 2 ms.
        (bench.controller.cycles() - cycles) * 2
    };
    let millis = Duration::from_millis;
    assert_eq!(started(Compiling::NONE), 2);
    // 1001 lines.
    assert_eq!(started(Compiling { free_lines: 1, per_line: millis(1) }), 1002);
    assert_eq!(started(Compiling::default()), 102);
}

#[test]
fn servoj_without_its_filter_is_there_within_a_cycle() {
    let mut options = ideal(3, 5);
    options.servoj.filters = false;
    let mut bench = Bench::new(options);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &format!("servoj({},0,0,0.5,0.1,300)\n", AT.replace("0.2", "0.02")));
    bench.cycles(2);
    assert!((bench.controller.truth().targets.q[0] - 0.02).abs() < 1e-12);
    assert!(bench.controller.robot().may_move());
}

#[test]
fn the_filter_of_servoj_before_3_1_can_be_chosen() {
    let way = |lookahead| {
        let mut options = ideal(1, 8);
        options.servoj.lookahead = lookahead;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, &format!("servoj({AT},0,0,0.5)\n"));
        bench.run(100);
        bench.controller.truth().targets.q[0]
    };
    let [short, usual] = [0.03, 0.1].map(way);
    assert!(short > 0.15 && usual < 0.14 && usual > 0.05, "{short} and {usual} rad");
}

#[test]
fn a_servoj_that_replaces_another_finds_the_arm_braked_where_that_is_chosen() {
    let speed = |deceleration| {
        let mut options = ideal(3, 5);
        options.servoj.replaced_deceleration = deceleration;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Realtime);
        let line = format!("servoj({AT},0,0,0.5,0.1,300)\n");
        bench.send(conn, &line);
        bench.run(40);
        let before = bench.qd_target()[0];
        bench.send(conn, &line);
        bench.cycles(2);
        (before, bench.qd_target()[0])
    };
    let ((before, goes_on), (same, braked)) = (speed(0.0), speed(20.0));
    assert_eq!(before, same);
    // 20 rad/s² for 8 ms, part of which the filter restores within the cycle.
    assert!((0.05..0.16).contains(&(goes_on - braked)), "{goes_on} and {braked} rad/s");
}
