//! Checklist points 6, 7 and 8 of the client interfaces: programs, `speedj` and its time, text without newline.

use crate::common::{Bench, f64_at, ideal};
use outrigger_sim::controller::Action;
use outrigger_sim::firmware::AfterT;
use outrigger_sim::port::Port;

fn base(speed: f64) -> [f64; 6] {
    [speed, 0.0, 0.0, 0.0, 0.0, 0.0]
}

fn speedj(speed: f64, rest: &str) -> String {
    format!("speedj([{speed},0,0,0,0,0],{rest})\n")
}

#[test]
fn a_command_early_in_the_cycle_acts_in_the_next_and_shows_in_the_packet_after_it() {
    let mut bench = Bench::software(3, 5);
    let conn = bench.connect(Port::Realtime);
    bench.next_cycle();
    bench.take(conn);
    bench.run(2);
    bench.send(conn, &speedj(0.5, "40,0.1"));
    bench.cycles(3);
    let seen: Vec<f64> = bench.messages(conn).iter().map(|packet| f64_at(packet, 60)).collect();
    assert_eq!(seen, [0.0, 0.32, 0.5], "nothing yet, 40 rad/s² for one cycle, there");
}

#[test]
fn a_command_late_in_the_cycle_waits_for_the_one_after() {
    let mut bench = Bench::software(3, 5);
    let conn = bench.connect(Port::Realtime);
    bench.next_cycle();
    bench.run(4);
    bench.send(conn, &speedj(0.5, "40,0.1"));
    bench.next_cycle();
    assert_eq!(bench.qd_target(), base(0.0));
    bench.next_cycle();
    assert_eq!(bench.qd_target(), base(0.32));
}

#[test]
fn commands_faster_than_the_cycle_are_queued_and_none_is_lost() {
    let mut bench = Bench::software(3, 5);
    let conn = bench.connect(Port::Realtime);
    bench.next_cycle();
    for speed in [0.1, 0.2, 0.3] {
        bench.send(conn, &speedj(speed, "40,0.1"));
    }
    for speed in [0.1, 0.2, 0.3] {
        bench.next_cycle();
        assert_eq!(bench.qd_target(), base(speed));
    }
}

#[test]
fn a_new_primary_program_replaces_the_old_one_without_a_gap() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Secondary);
    bench.send(conn, "def long():\n speedj([0.2,0,0,0,0,0],40,10)\n set_standard_digital_out(0,True)\nend\n");
    bench.run(20);
    assert_eq!(bench.qd_target(), base(0.2));
    bench.send(conn, &speedj(0.3, "40,0.1"));
    for _ in 0..5 {
        bench.next_cycle();
        assert!(bench.qd_target()[0] >= 0.2, "no dip between the programs");
    }
    assert_eq!(bench.qd_target(), base(0.3));
    bench.run(12_000);
    assert_eq!(bench.controller.io().digital_out, 0, "the old program never went on");
}

#[test]
fn text_without_its_newline_does_not_run() {
    let mut bench = Bench::software(3, 5);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, speedj(0.5, "40,0.1").trim_end());
    bench.run(200);
    assert_eq!((bench.qd_target(), bench.controller.program().0), (base(0.0), false));
    bench.send(conn, "\n");
    bench.run(20);
    assert_eq!(bench.qd_target(), base(0.5));
}

#[test]
fn a_program_may_arrive_byte_by_byte_on_every_port_that_takes_text() {
    for port in [Port::Primary, Port::Secondary, Port::Realtime] {
        let mut bench = Bench::software(3, 5);
        let conn = bench.connect(port);
        for byte in "sec io():\n set_standard_digital_out(3,True)\nend\n".chars() {
            bench.send(conn, &byte.to_string());
            bench.run(1);
        }
        bench.run(20);
        assert_eq!(bench.controller.io().digital_out, 8, "{port:?}");
    }
}

#[test]
fn a_secondary_program_runs_beside_the_primary_one() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(0.2, "40,1"));
    bench.run(20);
    bench.send(conn, "sec io():\n set_tool_digital_out(1,True)\nend\n");
    bench.run(20);
    assert_eq!((bench.qd_target(), bench.controller.io().digital_out), (base(0.2), 1 << 17));
    assert_eq!(bench.controller.program(), (true, false));
}

#[test]
fn a_text_that_does_not_compile_does_not_disturb_the_program_that_runs() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(0.2, "40,1"));
    bench.run(20);
    bench.send(conn, "speedy([1])\n");
    bench.run(20);
    assert_eq!((bench.qd_target(), bench.controller.program().0), (base(0.2), true));
}

#[test]
fn below_3_5_the_arm_keeps_its_speed_after_t_and_from_3_5_it_stops() {
    for ((major, minor), keeps) in
        [((1, 8), true), ((3, 0), true), ((3, 4), true), ((3, 5), false), ((5, 0), false), ((5, 15), false)]
    {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, &speedj(0.2, "10,0.05"));
        bench.run(100);
        assert!(!bench.controller.program().0, "{major}.{minor}: the program is over");
        bench.run(400);
        assert_eq!(bench.qd_target(), base(if keeps { 0.2 } else { 0.0 }), "{major}.{minor}");
    }
}

#[test]
fn what_follows_t_can_be_chosen_whatever_the_version() {
    for (after_t, speed) in [(AfterT::KeepsMoving, 0.2), (AfterT::Stops, 0.0)] {
        let mut options = ideal(3, 10);
        options.after_t = Some(after_t);
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, &speedj(0.2, "10,0.05"));
        bench.run(500);
        assert_eq!(bench.qd_target(), base(speed));
    }
}

#[test]
fn an_arm_that_keeps_moving_does_so_until_a_limit_and_then_stops_protectively() {
    let mut bench = Bench::software(3, 1);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(1.0, "10,0.05"));
    bench.run(8_000);
    assert!(!bench.controller.robot().may_move());
    let q = bench.controller.truth().q[0];
    assert!((6.33..6.40).contains(&q) && bench.controller.truth().at_rest(), "{q}");
}

#[test]
fn without_t_speedj_returns_when_the_speed_is_reached_where_t_is_optional() {
    let program = "def p():\n speedj([0.4,0,0,0,0,0],2.0)\n set_standard_digital_out(0,True)\n sleep(1)\nend\n";
    let mut bench = Bench::software(3, 2);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, program);
    bench.run(190);
    assert_eq!(bench.controller.io().digital_out, 0);
    bench.run(50);
    assert_eq!((bench.controller.io().digital_out, bench.qd_target()), (1, base(0.4)));
}

#[test]
fn on_1_8_and_3_0_speedj_without_t_is_no_program() {
    for (major, minor) in [(1, 8), (3, 0)] {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, &speedj(0.4, "2.0"));
        bench.run(200);
        assert_eq!(bench.qd_target(), base(0.0), "{major}.{minor}");
    }
}

#[test]
fn on_3_0_t_is_a_minimum_and_from_3_1_it_is_the_time() {
    // 0.4 rad/s at 1 rad/s² takes 0.4 s, t is 0.1 s.
    let program = "def p():\n speedj([0.4,0,0,0,0,0],1.0,0.1)\n set_standard_digital_out(0,True)\n sleep(5)\nend\n";
    for ((major, minor), returns_in) in [((3, 0), 400..450), ((3, 1), 100..150)] {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, program);
        let mut millis = 0;
        while bench.controller.io().digital_out == 0 {
            bench.run(1);
            millis += 1;
        }
        assert!(returns_in.contains(&millis), "{major}.{minor}: {millis} ms");
    }
}

#[test]
fn in_a_longer_program_the_last_speed_is_kept_after_speedj_returns() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Primary);
    bench.send(conn, "def p():\n speedj([0.2,0,0,0,0,0],10,0.1)\n sleep(0.5)\n stopj(2.0)\nend\n");
    bench.run(500);
    assert_eq!(bench.qd_target(), base(0.2));
    bench.run(300);
    assert_eq!((bench.qd_target(), bench.controller.program().0), (base(0.0), false));
}

#[test]
fn the_self_ending_form_stops_the_arm_on_every_firmware_when_nothing_follows() {
    for (major, minor) in [(1, 8), (3, 0), (3, 1), (3, 4), (3, 5), (3, 15), (5, 0), (5, 15)] {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Realtime);
        for _ in 0..20 {
            bench.send(conn, "def c():\n speedj([0.2,0,0,0,0,0],10,0.04)\n stopj(10)\nend\n");
            bench.next_cycle();
        }
        assert_eq!(bench.qd_target(), base(0.2), "{major}.{minor}");
        bench.run(400);
        assert_eq!(bench.qd_target(), base(0.0), "{major}.{minor}");
    }
}

#[test]
fn stopj_obeys_its_deceleration_from_3_2() {
    for ((major, minor), millis) in [((3, 1), 160..190), ((3, 2), 90..115), ((5, 15), 95..110)] {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, &speedj(0.5, "10,5"));
        bench.run(200);
        bench.send(conn, "stopj(5)\n");
        let mut passed = 0;
        while bench.qd_target() != base(0.0) {
            bench.run(1);
            passed += 1;
        }
        assert!(millis.contains(&passed), "{major}.{minor}: {passed} ms");
    }
}

#[test]
fn aborting_servoj_stops_the_arm_abruptly_and_speedj_does_not() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, "servoj([0.2,-1.57,-1.57,-1.57,1.57,0],0,0,5,0.1,300)\n");
    bench.run(60);
    assert!(bench.qd_target()[0] > 0.5);
    bench.send(conn, "textmsg(\"hello\")\n");
    bench.run(4);
    assert_eq!(bench.qd_target(), [0.0; 6]);
    bench.send(conn, &speedj(0.5, "10,5"));
    bench.run(100);
    bench.send(conn, "textmsg(\"hello\")\n");
    bench.run(4);
    assert!((0.4..0.5).contains(&bench.qd_target()[0]), "{:?}", bench.qd_target());
}

#[test]
fn a_program_that_asks_for_too_much_speed_ends_in_a_protective_stop() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(4.0, "40,5"));
    bench.run(400);
    assert!(!bench.controller.robot().may_move());
    assert_eq!((bench.qd_target(), bench.controller.program()), (base(0.0), (true, true)));
}

#[test]
fn the_speed_slider_scales_what_a_program_asks_for() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(0.5, "10,5"));
    bench.send(conn, "set speed 0.5\n");
    bench.run(400);
    assert_eq!(bench.qd_target(), base(0.25));
}

#[test]
fn a_paused_program_stands_and_goes_on_where_it_was() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(0.5, "10,5"));
    bench.run(100);
    bench.controller.act(Action::PauseProgram);
    bench.run(200);
    assert_eq!((bench.qd_target(), bench.controller.program()), (base(0.0), (true, true)));
    bench.controller.act(Action::ResumeProgram);
    bench.run(200);
    assert_eq!((bench.qd_target(), bench.controller.program()), (base(0.5), (true, false)));
}

#[test]
fn a_client_that_closes_before_79_bytes_loses_its_program_only_where_the_controller_minds() {
    for minds in [false, true] {
        let mut options = ideal(3, 5);
        options.needs_79_bytes = minds;
        let mut bench = Bench::new(options);
        let conn = bench.controller.connect(Port::Realtime).unwrap();
        bench.controller.write(conn, speedj(0.2, "10,5").as_bytes());
        bench.controller.disconnect(conn);
        bench.run(100);
        assert_eq!(bench.qd_target(), base(if minds { 0.0 } else { 0.2 }));
    }
}

#[test]
fn stop_program_and_an_empty_program_end_the_one_that_runs() {
    for text in ["stop program\n", "def resetProg():\n sleep(0.0)\nend\n"] {
        let mut bench = Bench::software(5, 15);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, &speedj(0.2, "10,50"));
        bench.run(100);
        bench.send(conn, text);
        bench.run(200);
        assert_eq!((bench.qd_target(), bench.controller.program().0), (base(0.0), false));
    }
}

#[test]
fn without_power_no_program_starts() {
    let mut bench = Bench::software(5, 15);
    bench.controller.act(Action::PowerOff);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, &speedj(0.2, "10,50"));
    bench.run(100);
    assert_eq!((bench.controller.program().0, bench.controller.refused_programs()), (false, 1));
}

#[test]
fn a_second_commander_replaces_the_program_and_a_foreign_program_occupies_the_arm() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.controller.act(Action::StartForeignProgram(0.1));
    bench.run(500);
    assert_eq!((bench.qd_target()[5], bench.controller.program().0), (0.1, true));
    bench.send(conn, &speedj(0.2, "10,50"));
    bench.run(100);
    assert_eq!(bench.qd_target(), base(0.2), "a program from a client replaces the foreign one");
    bench.controller.act(Action::SecondCommander(Some(-0.3)));
    bench.run(500);
    assert_eq!(bench.qd_target()[5], -0.3);
}

#[test]
fn a_long_program_starts_late_and_the_old_one_runs_until_then() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Primary);
    bench.send(conn, &speedj(0.2, "10,50"));
    bench.run(100);
    let lines = " set_flag(1,True)\n".repeat(2000);
    bench.send(conn, &format!("def long():\n{lines} set_standard_digital_out(0,True)\n sleep(10)\nend\n"));
    bench.run(150);
    assert_eq!((bench.qd_target()[0], bench.controller.io().digital_out), (0.2, 0));
    bench.run(150);
    assert_eq!((bench.qd_target()[0], bench.controller.io().digital_out), (0.0, 1));
}

/// Returns the tool's position \[m\] and rotation vector \[rad\] from the packet of 30003.
fn tool(bench: &mut Bench, realtime: outrigger_sim::controller::Conn) -> [f64; 6] {
    let packet = bench.messages(realtime).pop().expect("packets flow");
    std::array::from_fn(|at| f64_at(&packet, 444 + 8 * at))
}

#[test]
fn movej_goes_to_a_pose_by_inverse_kinematics_and_to_a_list_joint_by_joint() {
    let start = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];
    // Lowered by 5 cm from the arm's position, by a program and by a line; and joints that look like a pose.
    for line in [
        "movej(p[{x},{y},{z},{rx},{ry},{rz}],2,1)\n",
        "def go():\n t = get_actual_tcp_pose()\n t[2] = t[2] - 0.05\n movej(t,a=2,v=1)\nend\n",
    ] {
        let mut bench = Bench::new(outrigger_sim::controller::Options { q: start, ..ideal(5, 15) });
        let realtime = bench.connect(Port::Realtime);
        bench.cycles(2);
        let mut goal = tool(&mut bench, realtime);
        goal[2] -= 0.05;
        let text = ["{x}", "{y}", "{z}", "{rx}", "{ry}", "{rz}"]
            .iter()
            .zip(goal)
            .fold(line.to_owned(), |text, (name, value)| text.replace(name, &value.to_string()));
        bench.send(realtime, &text);
        bench.run(50);
        assert_eq!(bench.controller.program(), (true, false), "{text}");
        bench.run(2000);
        assert_eq!(bench.controller.program(), (false, false), "it arrived");
        let there = tool(&mut bench, realtime);
        assert!(there.iter().zip(goal).all(|(a, b)| (a - b).abs() < 1e-6), "{there:?} is not {goal:?}");
        let way = bench.controller.truth().q.iter().zip(start).map(|(q, start)| (q - start).abs()).fold(0.0, f64::max);
        assert!(way < 0.3, "the nearest posture, not {way} rad away");
        let joints = [0.2, -1.3, -1.2, -1.1, 1.5, 0.2];
        bench.send(realtime, &format!("movej({joints:?},2,1)\n"));
        bench.run(2000);
        let there = bench.controller.truth().q;
        assert!(there.iter().zip(joints).all(|(a, b)| (a - b).abs() < 1e-5), "{there:?} is not {joints:?}");
    }
}

#[test]
fn a_pose_out_of_reach_and_a_pose_where_joints_are_wanted_end_the_program_with_a_word() {
    for (line, expected) in [
        ("movej(p[3,0,0,0,0,0],1,1)", "movej: no solution for p[3, 0, 0, 0, 0, 0]"),
        ("servoj(p[0.3,0.1,0.4,0,3.1,0],0,0,0.1)", "type_error:servoj:"),
        ("speedj(p[0.1,0,0,0,0,0],1,1)", "type_error:speedj:"),
        ("set_tcp([0,0,0.1,0,0,0])", "type_error:set_tcp:"),
    ] {
        let mut bench = Bench::software(5, 15);
        let conn = bench.connect(Port::Primary);
        bench.send(conn, &format!("{line}\n"));
        bench.run(100);
        let told = bench.messages(conn).into_iter().find(|message| message[4] == 20 && message[14] == 10);
        let told = told.unwrap_or_else(|| panic!("{line} was taken"));
        assert_eq!(String::from_utf8_lossy(&told[23..]), expected);
        assert_eq!(bench.controller.program(), (false, false));
    }
}
