//! Threads of a program share each control cycle (external control 5.1, and point 8 of 5.4).

use std::time::Duration;

use outrigger_sim::controller::Conn;
use outrigger_sim::port::Port;

use crate::common::{Answer, Bench, ideal};

const SERVER: u16 = 50_001;

/// A program in the style of drivers: one thread reads setpoints from a socket, one servos to the newest, one counts;
/// each with critical sections around the calls that take time.
const SHARING: &str = r#"def sharing():
  global new = False
  global q = get_actual_joint_positions()
  global base = q[0]
  global got = 0
  global cycles = 0
  global alone = True
  thread servo():
    while True:
      enter_critical
      alone = False
      if new:
        new = False
        servoj(q, t=get_steptime(), lookahead_time=0.03, gain=2000)
      else:
        sync()
      end
      alone = True
      exit_critical
    end
  end
  thread count():
    while True:
      cycles = cycles + 1
      write_output_integer_register(1, cycles)
      sync()
    end
  end
  socket_open("10.0.0.9", 50001)
  a = run servo()
  b = run count()
  while True:
    enter_critical
    read = socket_read_binary_integer(1, "socket_0", 0)
    if read[0] == 1:
      q[0] = base + read[1] / 1000000
      new = True
      got = got + 1
    end
    exit_critical
    write_output_integer_register(0, got)
  end
end
"#;

#[test]
fn three_threads_share_every_cycle_with_critical_sections_around_servoj_and_a_socket_read() {
    for (major, minor) in [(3, 15), (5, 15)] {
        let mut bench = Bench::software(major, minor);
        bench.serve(SERVER, Answer::After(Duration::ZERO));
        let primary = bench.connect(Port::Primary);
        bench.send(primary, SHARING);
        bench.run(200);
        assert_eq!(bench.told(primary), [""; 0]);
        let server = bench.accept(SERVER).expect("it calls");
        let start = bench.controller.truth().q[0];
        let counts = |bench: &Bench| {
            let ints = &bench.controller.registers().1.ints;
            (ints[0], ints[1])
        };
        let (_, before) = counts(&bench);
        bench.cycles(100);
        assert_eq!(counts(&bench), (0, before + 100), "a thread that waits in its critical section holds up nobody");
        for step in 1..=200_i32 {
            bench.send_bytes(server, &(step * 500).to_be_bytes());
            bench.cycles(1);
        }
        assert_eq!(counts(&bench), (200, before + 300), "one set-point and one count in every cycle");
        bench.cycles(200);
        let moved = bench.controller.truth().q[0] - start;
        assert!((moved - 0.1).abs() < 1e-3, "{moved}");
        assert_eq!((bench.told(primary), bench.controller.program().0), (vec![], true));
    }
}

#[test]
fn a_thread_that_never_waits_lets_the_others_run_until_the_program_is_too_much_behind() {
    let mut bench = Bench::software(5, 15);
    let primary = bench.connect(Port::Primary);
    let program = "def main():\n thread spin():\n  while True:\n   x = 1\n  end\n end\n a = run spin()\n n = 0\n while True:\n  n = \
                   n + 1\n  write_output_integer_register(0, n)\n  sync()\n end\nend\n";
    bench.send(primary, program);
    bench.cycles(60);
    let counted = bench.controller.registers().1.ints[0];
    assert!(counted > 40 && bench.controller.program().0, "{counted}");
    bench.run(1000);
    assert_eq!(bench.told(primary), ["Runtime is too much behind"]);
    assert_eq!(bench.controller.program(), (false, false));
}

/// Runs a program that reads numbers from a peer that sends without a pause, after the statements `beside`. Returns the
/// bench and a client of 30001.
fn flooded(beside: &str) -> (Bench, Conn) {
    let mut bench = Bench::software(5, 15);
    bench.serve(SERVER, Answer::After(Duration::from_millis(2)));
    let primary = bench.connect(Port::Primary);
    let program = "def main():\nBESIDE socket_open(\"10.0.0.9\", 50001)\n n = 0\n while True:\n  \
                   a = socket_read_binary_integer(1, \"socket_0\", 0)\n  n = n + a[0]\n  \
                   write_output_integer_register(0, n)\n end\nend\n";
    bench.send(primary, &program.replace("BESIDE", beside));
    bench.run(50);
    let server = bench.accept(SERVER).expect("the program calls");
    for _ in 0..400 {
        if !bench.controller.program().0 {
            break;
        }
        let room = bench.controller.room(server).min(8000) / 4 * 4;
        bench.send_bytes(server, &[7; 8000][..room]);
        bench.cycles(1);
    }
    (bench, primary)
}

#[test]
fn a_peer_that_sends_without_a_pause_does_not_put_a_program_behind() {
    let (bench, _) = flooded("");
    let read = bench.controller.registers().1.ints[0];
    assert!(bench.controller.program().0 && read > 10_000, "{read} numbers");
}

#[test]
fn a_thread_that_never_waits_is_behind_also_beside_one_that_reads() {
    let (mut bench, primary) = flooded(" thread spin():\n  while True:\n   x = 1\n  end\n end\n run spin()\n");
    bench.run(100);
    assert_eq!(bench.told(primary), ["Runtime is too much behind"]);
    assert!(!bench.controller.program().0);
}

#[test]
fn how_long_a_program_may_compute_without_waiting_is_an_option() {
    for (overruns, ends) in [(10, true), (1000, false)] {
        let mut bench = Bench::new(outrigger_sim::controller::Options { overruns, ..ideal(5, 15) });
        let primary = bench.connect(Port::Primary);
        bench.send(primary, "def main():\n while True:\n  x = 1\n end\nend\n");
        bench.cycles(100);
        assert_eq!(bench.controller.program().0, !ends, "after {overruns} cycles");
    }
}

#[test]
fn computing_for_some_cycles_is_suspended_and_goes_on() {
    let mut bench = Bench::software(5, 15);
    let primary = bench.connect(Port::Primary);
    let program = "def main():\n n = 0\n while n < 50000:\n  n = n + 1\n end\n textmsg(n)\n sleep(10)\nend\n";
    bench.send(primary, program);
    bench.run(1000);
    assert_eq!(bench.told(primary), ["50000"]);
}

#[test]
fn sleeping_takes_as_long_as_it_says_however_long_a_cycle_is() {
    for (major, minor, period) in [(3, 15, 8), (5, 15, 2)] {
        for (sleep, times, takes) in [("0.01", 100, 1000), ("0.0005", 800, 400), ("0.003", 200, 600), ("0", 100, 0)] {
            let mut bench = Bench::software(major, minor);
            let primary = bench.connect(Port::Primary);
            let program = format!(
                "def main():\n n = 0\n while n < {times}:\n  sleep({sleep})\n  n = n + 1\n end\n \
                 write_output_integer_register(0, 1)\n sleep(100)\nend\n"
            );
            bench.send(primary, &program);
            let mut began = None;
            while bench.controller.registers().1.ints[0] == 0 {
                bench.next_cycle();
                if bench.controller.program().0 {
                    began.get_or_insert(bench.controller.now());
                }
            }
            let took = bench.controller.now().since(began.expect("it runs")).as_millis();
            assert!(took.abs_diff(takes) <= period, "{times} times {sleep} s took {took} ms on {major}.{minor}");
        }
    }
}

#[test]
fn the_thread_with_most_of_its_cycle_left_goes_first() {
    let mut bench = Bench::software(3, 15);
    let primary = bench.connect(Port::Primary);
    // Within one cycle of 8 ms: 2 + 2 + 2 ms of one thread, 3 + 3 ms of the other.
    let program = "def main():\n global order = \"\"\n thread two():\n  sleep(0.002)\n  order = str_cat(order, \"a2 \")\n  \
                   sleep(0.002)\n  order = str_cat(order, \"a4 \")\n  sleep(0.002)\n  order = str_cat(order, \"a6 \")\n end\n \
                   thread three():\n  sleep(0.003)\n  order = str_cat(order, \"b3 \")\n  sleep(0.003)\n  order = \
                   str_cat(order, \"b6 \")\n end\n run two()\n run three()\n sync()\n textmsg(order)\n sleep(1)\nend\n";
    bench.send(primary, program);
    bench.run(100);
    assert_eq!(bench.told(primary), ["a2 b3 a4 a6 b6 "], "of equals, the one that runs goes on");
}

#[test]
fn killed_finished_and_never_started_threads_are_joined_and_killed_without_harm() {
    let mut bench = Bench::software(5, 15);
    let primary = bench.connect(Port::Primary);
    let program = "def main():\n thread short():\n  sync()\n end\n h = 0\n kill h\n join h\n h = run short()\n join h\n kill h\n join \
                   h\n h = run short()\n kill h\n join h\n textmsg(\"done\")\n sleep(10)\nend\n";
    bench.send(primary, program);
    bench.run(100);
    assert_eq!(bench.told(primary), ["done"]);
}
