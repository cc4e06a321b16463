//! Checklist point 9 of the client interfaces: faults of the connections, and their times.

use crate::common::{Bench, f64_at, i32_at, ideal};
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;

fn with(software: (u8, u8), faults: &[&str]) -> Bench {
    let mut options = ideal(software.0, software.1);
    options.faults = faults.iter().map(|spec| Fault::parse(spec).unwrap()).collect();
    Bench::new(options)
}

fn times(bench: &mut Bench, conn: outrigger_sim::controller::Conn) -> Vec<i64> {
    bench.messages(conn).iter().map(|packet| (f64_at(packet, 4) * 1e3).round() as i64).collect()
}

#[test]
fn a_stall_holds_packets_back_and_delivers_them_in_one_burst() {
    let mut bench = with((3, 5), &["stall@1s:200ms"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(1000);
    bench.take_segments(conn);
    bench.run(199);
    assert!(bench.take_segments(conn).is_empty());
    bench.run(1);
    let segments = bench.take_segments(conn);
    let bytes: usize = segments.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(bytes, 26 * 1108, "all of 200 ms, both ends included");
    assert!(segments.iter().all(|(at, _)| *at == SimTime::from_millis(1200)));
    bench.run(80);
    assert_eq!(bench.messages(conn).len(), 10);
}

#[test]
fn a_stall_holds_text_too_and_the_arm_does_not_get_it() {
    let mut bench = with((3, 5), &["stall/up@0:500ms"]);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, "speedj([0.1,0,0,0,0,0],10,5)\n");
    bench.run(490);
    assert_eq!(bench.qd_target()[0], 0.0);
    assert!(!bench.take(conn).is_empty(), "the other direction works");
    bench.run(100);
    assert_eq!(bench.qd_target()[0], 0.1);
}

#[test]
fn who_closes_before_it_has_read_79_bytes_loses_its_program_while_the_fault_lasts() {
    for (port, fault) in [(Port::Primary, "early-close@0:1s"), (Port::Realtime, "early-close/30003@0:1s")] {
        for (after, moves) in [(10, false), (1_100, true)] {
            for resets in [false, true] {
                let mut bench = with((5, 15), &[fault]);
                bench.run(after);
                let conn = bench.controller.connect(port).unwrap();
                bench.controller.write(conn, b"speedj([0.2,0,0,0,0,0],10,5)\n");
                if resets {
                    bench.controller.reset(conn);
                } else {
                    bench.controller.disconnect(conn);
                }
                bench.run(100);
                assert_eq!(bench.qd_target()[0] == 0.2, moves, "{fault}, after {after} ms, resets: {resets}");
            }
        }
    }
    let mut bench = with((5, 15), &["early-close@0"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(100);
    bench.send(conn, "speedj([0.2,0,0,0,0,0],10,5)\n");
    bench.controller.disconnect(conn);
    bench.run(100);
    assert_eq!(bench.qd_target()[0], 0.2, "it has read");
}

#[test]
fn delay_shifts_everything_by_the_same_time() {
    let mut bench = with((5, 15), &["delay/down@0::20ms"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(100);
    let segments = bench.take_segments(conn);
    assert_eq!((segments.len(), segments[0].0), (40, SimTime::from_millis(22)));
}

#[test]
fn nagle_on_the_controller_makes_pairs_until_the_client_sends() {
    let mut bench = with((3, 0), &["nagle/30003@0::16ms"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(400);
    let sizes: Vec<usize> = bench.take_segments(conn).iter().map(|(_, bytes)| *bytes).collect();
    assert!(sizes[3..].iter().all(|size| *size == 2 * 1044), "{sizes:?}");
    let mut lonely = 0;
    for _ in 0..50 {
        bench.next_cycle();
        bench.send(conn, "\n");
        lonely += bench.take_segments(conn).iter().filter(|(_, bytes)| *bytes == 1044).count();
    }
    assert!(lonely > 45, "an acknowledgement that rides on data lets each packet go: {lonely}");
}

#[test]
fn split_and_coalesced_segments_lose_nothing() {
    for spec in ["split@0::7", "split@0::1", "coalesce@0::5", "loss@0::30%"] {
        let mut bench = with((5, 15), &[spec]);
        let clients = [Port::Primary, Port::Realtime].map(|port| bench.connect(port));
        bench.run(2000);
        for (conn, least) in clients.into_iter().zip([15, 800]) {
            let bytes = bench.take(conn);
            let (mut at, mut count) = (0, 0);
            while at + 4 <= bytes.len() && at + i32_at(&bytes, at) as usize <= bytes.len() {
                at += i32_at(&bytes, at) as usize;
                count += 1;
            }
            assert!(count > least, "{spec}: {count}");
        }
    }
}

#[test]
fn skipped_and_repeated_cycles_show_in_the_packets_time() {
    let mut bench = with((3, 5), &["skip@0::10"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(1000);
    let steps: Vec<i64> = times(&mut bench, conn).windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!((steps.iter().filter(|step| **step == 16).count(), steps.iter().max()), (12, Some(&16)));
    let mut bench = with((3, 5), &["repeat@0::10"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(1000);
    let steps: Vec<i64> = times(&mut bench, conn).windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps.iter().filter(|step| **step == 0).count(), 13);
}

#[test]
fn the_clock_jumps_on_every_port_at_once() {
    let mut bench = with((5, 15), &["clock-jump@1s::-50s"]);
    let (realtime, state) = (bench.connect(Port::Realtime), bench.connect(Port::Secondary));
    bench.run(1500);
    let steps: Vec<i64> = times(&mut bench, realtime).windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps.iter().filter(|step| **step != 2).copied().collect::<Vec<_>>(), [-49_998]);
    let stamps: Vec<u64> = bench
        .messages(state)
        .iter()
        .filter(|message| message[4] == 16)
        .map(|message| crate::common::u64_at(message, 10))
        .collect();
    assert!(stamps.windows(2).filter(|pair| pair[1] < pair[0]).count() == 1);
}

#[test]
fn a_dropped_connection_is_closed_and_refused_until_the_end() {
    let mut bench = with((3, 5), &["drop/30003@1s:500ms"]);
    let (realtime, primary) = (bench.connect(Port::Realtime), bench.connect(Port::Primary));
    bench.run(1000);
    assert!(!bench.controller.is_open(realtime) && bench.controller.is_open(primary));
    assert!(bench.controller.connect(Port::Realtime).is_err());
    bench.run(500);
    assert!(bench.controller.connect(Port::Realtime).is_ok());
}

#[test]
fn a_restart_closes_everything_and_comes_back_without_power_and_with_a_new_clock() {
    let mut bench = with((5, 15), &["restart@1s:3s"]);
    let clients = [Port::Dashboard, Port::Primary, Port::Realtime].map(|port| bench.connect(port));
    bench.run(2000);
    assert!(clients.iter().all(|conn| !bench.controller.is_open(*conn)));
    assert!(bench.controller.connect(Port::Primary).is_err());
    bench.run(2500);
    let conn = bench.connect(Port::Realtime);
    bench.run(100);
    let packet = bench.messages(conn).pop().unwrap();
    assert!(f64_at(&packet, 4) < 1.0);
    assert_eq!(f64_at(&packet, 756), 3.0);
}

#[test]
fn truncated_packets_agree_with_their_length() {
    let mut bench = with((5, 15), &["truncated@0::16"]);
    let (realtime, state) = (bench.connect(Port::Realtime), bench.connect(Port::Secondary));
    bench.run(200);
    assert!(bench.messages(realtime).iter().all(|packet| packet.len() == 1204));
    let states = bench.messages(state);
    assert!(states.iter().any(|message| message[4] == 16 && message.len() < 1386));
}

#[test]
fn extended_sub_packages_keep_their_known_part() {
    let mut plain = with((5, 8), &[]);
    let mut extended = with((5, 8), &["extended@0::3"]);
    let [plain, extended] = [&mut plain, &mut extended].map(|bench| {
        let conn = bench.connect(Port::Secondary);
        bench.run(20);
        bench.messages(conn).into_iter().find(|message| message[4] == 16).unwrap()
    });
    assert_eq!(extended.len(), plain.len() + 13 * 3);
    assert_eq!((i32_at(&extended, 5), extended[10..52].to_vec()), (50, plain[10..52].to_vec()));
}

#[test]
fn unknown_and_oversize_messages_come_with_the_state() {
    let mut bench = with((3, 5), &["unknown@0", "oversize@0::20000"]);
    let conn = bench.connect(Port::Primary);
    bench.run(120);
    let messages = bench.messages(conn);
    assert!(messages.iter().any(|message| message[4] == 99));
    assert!(messages.iter().any(|message| message[4] == 25 && message.len() == 20_000));
    let state = messages.iter().rfind(|message| message[4] == 16).unwrap();
    assert_eq!(state[state.len() - 11..state.len() - 6], [0, 0, 0, 11, 77]);
}

#[test]
fn a_polluted_stream_has_state_messages_between_its_packets() {
    let mut bench = with((1, 8), &["polluted@0::17"]);
    let conn = bench.connect(Port::Realtime);
    bench.run(2000);
    let sizes: Vec<usize> = bench.messages(conn).iter().map(Vec::len).collect();
    assert_eq!(sizes.iter().filter(|size| **size == 560).count(), 15);
    assert_eq!(sizes.iter().filter(|size| **size == 9).count(), 15);
    assert_eq!(sizes.iter().filter(|size| **size == 812).count(), 250);
}

#[test]
fn muted_text_is_taken_and_does_nothing() {
    let mut bench = with((3, 5), &["mute@0:1s"]);
    let conn = bench.connect(Port::Realtime);
    bench.send(conn, "speedj([0.1,0,0,0,0,0],10,5)\n");
    bench.run(1100);
    assert_eq!(bench.qd_target()[0], 0.0);
    bench.send(conn, "speedj([0.1,0,0,0,0,0],10,5)\n");
    bench.run(100);
    assert_eq!(bench.qd_target()[0], 0.1);
}

#[test]
fn modes_change_at_the_start_of_a_fault_and_are_set_right_at_its_end() {
    // (fault, safety mode and robot mode during it, after it)
    let cases = [
        ("estop@1s:1s", (7, 3), (1, 3)),
        ("protective-stop@1s:6s", (3, 7), (1, 7)),
        ("safeguard@1s:1s", (5, 7), (1, 7)),
        ("power-off@1s:1s", (1, 3), (1, 7)),
    ];
    for (spec, during, after) in cases {
        let mut bench = with((5, 15), &[spec]);
        let conn = bench.connect(Port::Realtime);
        let modes = |bench: &mut Bench| {
            let packet = bench.messages(conn).pop().unwrap();
            (f64_at(&packet, 812) as i32, f64_at(&packet, 756) as i32)
        };
        bench.run(1500);
        assert_eq!(modes(&mut bench), during, "{spec}");
        bench.run(12_000);
        assert_eq!(modes(&mut bench), after, "{spec}");
    }
}

#[test]
fn slider_pause_second_commander_and_foreign_program_act_and_end() {
    let program = "speedj([0.2,0,0,0,0,0],10,50)\n";
    for (spec, during, after) in [("slider@1s:1s:30%", 0.06, 0.2), ("pause@1s:1s", 0.0, 0.2)] {
        let mut bench = with((5, 15), &[spec]);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, program);
        bench.run(1900);
        assert!((bench.qd_target()[0] - during).abs() < 1e-9, "{spec}: {:?}", bench.qd_target());
        bench.run(1000);
        assert!((bench.qd_target()[0] - after).abs() < 1e-9, "{spec}: {:?}", bench.qd_target());
    }
    for (spec, joint_6) in [("second-commander@1s:1s:0.3", 0.3), ("foreign-program@1s:1s:-0.1", -0.1)] {
        let mut bench = with((5, 15), &[spec]);
        bench.run(1900);
        assert_eq!(bench.qd_target()[5], joint_6, "{spec}");
        bench.run(1000);
        assert_eq!((bench.qd_target()[5], bench.controller.program().0), (0.0, false), "{spec}");
    }
}

#[test]
fn a_digital_input_is_high_for_as_long_as_it_is_pressed_and_leaves_the_others_alone() {
    let mut bench = with((5, 15), &["digital-input@500ms::2", "digital-input@1s:1s:1"]);
    let conn = bench.connect(Port::Realtime);
    for (cycles, bits) in [(400, 0.0), (500, 4.0), (600, 6.0), (600, 4.0)] {
        bench.run(cycles);
        let packets = bench.messages(conn);
        let newest = packets.last().expect("states");
        assert_eq!(f64_at(newest, 684), bits, "digital inputs, `core/docs/protocol/ur-client-interfaces.md 2.2`");
    }
}

#[test]
fn a_client_that_never_reads_costs_bounded_memory_and_gets_whole_messages() {
    let mut bench = with((5, 15), &[]);
    let conn = bench.controller.connect(Port::Realtime).unwrap();
    bench.run(10_000);
    let waiting = bench.controller.pending(conn);
    assert!(waiting <= 2 * 1024 * 1024 && waiting.is_multiple_of(1220), "{waiting}");
}

#[test]
fn a_fault_can_be_injected_while_running() {
    let mut bench = with((5, 15), &[]);
    let conn = bench.connect(Port::Realtime);
    bench.run(100);
    bench.take(conn);
    let now = bench.controller.now();
    bench.controller.inject(Fault::new(
        outrigger_sim::fault::FaultKind::Stall,
        now,
        Some(std::time::Duration::from_millis(50)),
    ));
    bench.run(40);
    assert!(bench.take(conn).is_empty());
    bench.run(20);
    assert_eq!(bench.messages(conn).len(), 30);
}
