//! Port 30004: the protocol, owners of inputs, effects of inputs, and the treatment of slow readers and faulty
//! clients.

use crate::common::{Bench, f64_at, i32_at, ideal};
use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::fault::Fault;
use outrigger_sim::port::Port;
use outrigger_sim::rtde::{RtdeOptions, WatchdogAction};
use outrigger_wire::robot::SoftwareVersion;
use std::time::Duration;

fn with(change: impl FnOnce(&mut RtdeOptions)) -> Bench {
    let mut options = ideal(5, 15);
    change(&mut options.rtde);
    Bench::new(options)
}

/// Sets up RTDE inputs with these names. Returns the recipe number and the type words of the answer.
fn inputs(bench: &mut Bench, conn: Conn, names: &str) -> (u8, String) {
    bench.package(conn, b'I', names.as_bytes());
    let answer = bench.answer(conn, b'I');
    (answer[0], String::from_utf8(answer[1..].to_vec()).unwrap())
}

/// Takes the payloads of the RTDE data packages that a client has received.
fn data(bench: &mut Bench, conn: Conn) -> Vec<Vec<u8>> {
    bench.packages(conn).into_iter().filter(|(letter, _)| *letter == b'U').map(|(_, payload)| payload).collect()
}

#[test]
fn a_list_of_names_beyond_2048_bytes_is_taken_from_5_10_or_as_chosen() {
    let numbers: Vec<String> = (0..48).map(|n| format!("output_double_register_{n},output_int_register_{n}")).collect();
    let names = numbers.join(",");
    assert!(names.len() > 2048, "{}", names.len());
    for (major, minor, most, taken) in [
        (3, 15, None, false),
        (5, 9, None, false),
        (5, 10, None, true),
        (5, 25, None, true),
        (10, 12, None, true),
        (5, 25, Some(2048), false),
        (5, 9, Some(4096), true),
    ] {
        let mut options = ideal(major, minor);
        options.rtde.names = most;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Rtde);
        bench.package(conn, b'V', &[0, 2]);
        bench.package(conn, b'O', &[&125.0_f64.to_be_bytes()[..], names.as_bytes()].concat());
        let (letter, answer) = bench.packages(conn).pop().unwrap();
        assert_eq!(letter, if taken { b'O' } else { b'M' }, "{major}.{minor}");
        if taken {
            assert_eq!((answer[0], answer.split(|byte| *byte == b',').count()), (1, 96));
            bench.package(conn, b'S', b"");
            bench.cycles(10);
            let data = data(&mut bench, conn);
            assert!(data.iter().all(|payload| payload.len() == 1 + 48 * 12) && !data.is_empty());
        }
    }
}

#[test]
fn a_conversation_of_version_2_goes_as_the_specification_has_it() {
    let mut bench = Bench::new(ideal(5, 12));
    let conn = bench.connect(Port::Rtde);
    assert!(bench.packages(conn).is_empty(), "nothing is said unasked");
    bench.package(conn, b'V', &[0, 2]);
    assert_eq!(bench.packages(conn), [(b'V', vec![1])]);
    bench.package(conn, b'v', b"");
    assert_eq!(bench.packages(conn), [(b'v', [[0, 0, 0, 5], [0, 0, 0, 12], [0; 4], [0; 4]].concat())]);
    bench.package(conn, b'O', &[&500.0_f64.to_be_bytes()[..], b"timestamp,actual_q,robot_mode"].concat());
    assert_eq!(bench.packages(conn), [(b'O', b"\x01DOUBLE,VECTOR6D,INT32".to_vec())]);
    bench.cycles(3);
    assert!(bench.packages(conn).is_empty(), "no data before the start");
    bench.package(conn, b'S', b"");
    assert_eq!(bench.packages(conn), [(b'S', vec![1])]);
    bench.cycles(5);
    let packages = data(&mut bench, conn);
    assert_eq!(packages.len(), 5);
    for pair in packages.windows(2) {
        assert!((f64_at(&pair[1], 1) - f64_at(&pair[0], 1) - 0.002).abs() < 1e-9);
    }
    assert_eq!((packages[0][0], packages[0].len(), i32_at(&packages[0], 57)), (1, 61, 7));
    bench.package(conn, b'P', b"");
    assert_eq!(bench.answer(conn, b'P'), [1]);
    bench.cycles(5);
    assert!(bench.packages(conn).is_empty());
    bench.package(conn, b'S', b"");
    bench.cycles(2);
    assert_eq!(data(&mut bench, conn).len(), 2, "the recipe is still there");
}

#[test]
fn version_1_has_no_frequency_and_no_recipe_number() {
    let mut bench = Bench::new(ideal(3, 4));
    let conn = bench.connect(Port::Rtde);
    bench.package(conn, b'O', b"timestamp,");
    assert_eq!(bench.answer(conn, b'O'), b"DOUBLE");
    bench.package(conn, b'S', b"");
    bench.cycles(3);
    let packages = data(&mut bench, conn);
    assert_eq!(packages.len(), 3);
    assert!(packages.iter().all(|values| values.len() == 8));
    bench.package(conn, b'X', b"");
    let text = bench.answer(conn, b'M');
    assert_eq!(text[0], 1, "level, then text to the end");
    assert!(text[1..].starts_with(b"a package has"));
}

#[test]
fn old_software_refuses_version_2_or_the_whole_port() {
    let mut bench = with(|rtde| rtde.highest_protocol = 1);
    let conn = bench.connect(Port::Rtde);
    for (wanted, accepted) in [(0, 0), (2, 0), (3, 0), (1, 1)] {
        bench.package(conn, b'V', &[0, wanted]);
        assert_eq!(bench.answer(conn, b'V'), [accepted], "{wanted}");
    }
    for (major, minor, has) in [(1, 8, false), (3, 3, false), (3, 4, true), (5, 0, true)] {
        assert_eq!(Bench::software(major, minor).controller.connect(Port::Rtde).is_ok(), has, "{major}.{minor}");
    }
}

#[test]
fn a_frequency_divides_the_control_rate_and_is_held_within_it() {
    for (major, minor, frequency, packages) in [
        (5, 15, 500.0, 500),
        (5, 15, 300.0, 500),
        (5, 15, 200.0, 250),
        (5, 15, 125.0, 125),
        (5, 15, 1.0, 1),
        (3, 15, 125.0, 125),
        (3, 15, 50.0, 62),
    ] {
        let mut bench = Bench::new(ideal(major, minor));
        let conn = bench.subscribe(frequency, "timestamp");
        bench.run(1000);
        let found = data(&mut bench, conn).len();
        assert!(found.abs_diff(packages) <= 1, "{found} of {packages} at {frequency} Hz");
    }
    for frequency in [1000.0, 0.0, f64::NAN] {
        let mut bench = Bench::software(5, 15);
        let conn = bench.connect(Port::Rtde);
        bench.package(conn, b'V', &[0, 2]);
        bench.package(conn, b'O', &[&frequency.to_be_bytes()[..], b"timestamp"].concat());
        let letters: Vec<u8> = bench.packages(conn).iter().map(|(letter, _)| *letter).collect();
        assert_eq!(letters, b"VMO", "a warning and the nearest rate");
    }
}

#[test]
fn a_name_that_is_not_found_makes_the_recipe_invalid_until_it_is_asked_for_again() {
    let mut bench = Bench::new(ideal(3, 9));
    let conn = bench.connect(Port::Rtde);
    bench.package(conn, b'V', &[0, 2]);
    bench.package(conn, b'O', &[&125.0_f64.to_be_bytes()[..], b"timestamp,safety_status,nonsense,"].concat());
    assert_eq!(bench.answer(conn, b'O'), b"\0DOUBLE,NOT_FOUND,NOT_FOUND");
    bench.package(conn, b'S', b"");
    assert_eq!(bench.answer(conn, b'S'), [0]);
    bench.package(conn, b'O', &[&125.0_f64.to_be_bytes()[..], b"timestamp"].concat());
    bench.package(conn, b'S', b"");
    assert_eq!(bench.answer(conn, b'S'), [1]);
}

#[test]
fn an_input_belongs_to_one_client_until_its_connection_is_over() {
    let mut bench = Bench::software(5, 15);
    let (one, two) = (bench.connect(Port::Rtde), bench.connect(Port::Rtde));
    assert_eq!(inputs(&mut bench, one, "input_int_register_24"), (1, "INT32".into()));
    assert_eq!(inputs(&mut bench, one, "input_int_register_24,input_bit_register_64"), (2, "INT32,BOOL".into()));
    let refused = inputs(&mut bench, two, "input_double_register_24,input_int_register_24");
    assert_eq!(refused, (0, "DOUBLE,IN_USE".into()));
    assert_eq!(
        inputs(&mut bench, two, "input_double_register_24"),
        (1, "DOUBLE".into()),
        "a refused recipe owns nothing"
    );
    bench.controller.disconnect(one);
    bench.cycles(1);
    assert_eq!(inputs(&mut bench, two, "input_int_register_24"), (2, "INT32".into()));
    bench.controller.reset(two);
    let three = bench.connect(Port::Rtde);
    assert_eq!(inputs(&mut bench, three, "input_int_register_24").0, 1);
}

#[test]
fn a_fieldbus_keeps_the_lower_registers_to_itself() {
    let mut bench = with(|rtde| rtde.fieldbus = true);
    let conn = bench.connect(Port::Rtde);
    let answer = inputs(&mut bench, conn, "input_int_register_23,input_int_register_24,input_bit_registers0_to_31");
    assert_eq!(answer, (0, "IN_USE,INT32,IN_USE".into()));
    let mut bench = Bench::new(ideal(3, 8));
    let conn = bench.connect(Port::Rtde);
    assert_eq!(inputs(&mut bench, conn, "input_int_register_23,input_int_register_24").1, "INT32,NOT_FOUND");
}

#[test]
fn registers_are_written_and_can_be_read_back_and_echoed() {
    let mut bench = with(|rtde| rtde.echo = true);
    let names = "input_int_register_47,output_int_register_47,output_double_register_3,input_bit_registers32_to_63,output_bit_register_127";
    let conn = bench.subscribe(500.0, names);
    let written = "input_int_register_47,input_double_register_3,input_bit_registers32_to_63,input_bit_register_127";
    assert_eq!(inputs(&mut bench, conn, written), (1, "INT32,DOUBLE,UINT32,BOOL".into()));
    let values = [&(-7_i32).to_be_bytes()[..], &2.5_f64.to_be_bytes(), &0x8000_0001_u32.to_be_bytes(), &[1]].concat();
    bench.package(conn, b'U', &[&[1], &values[..]].concat());
    bench.cycles(2);
    let last = data(&mut bench, conn).pop().unwrap();
    assert_eq!((i32_at(&last, 1), i32_at(&last, 5), f64_at(&last, 9)), (-7, -7, 2.5));
    assert_eq!((i32_at(&last, 17).cast_unsigned(), last[21]), (0x8000_0001, 1));
    let (registers, _) = bench.controller.registers();
    assert_eq!((registers.ints[47], registers.bit(32), registers.bit(33), registers.bit(63)), (-7, true, false, true));
}

#[test]
fn masks_say_which_outputs_change() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Rtde);
    let names = "standard_digital_output_mask,standard_digital_output,tool_digital_output_mask,tool_digital_output";
    assert_eq!(inputs(&mut bench, conn, names).0, 1);
    bench.package(conn, b'U', &[1, 0b1010, 0xFF, 0b10, 0b11]);
    assert_eq!(bench.controller.io().digital_out, 0b1010 | 1 << 17);
    bench.package(conn, b'U', &[1, 0b0010, 0x00, 0, 0]);
    assert_eq!(bench.controller.io().digital_out, 0b1000 | 1 << 17);

    let names =
        "standard_analog_output_mask,standard_analog_output_type,standard_analog_output_0,standard_analog_output_1";
    assert_eq!(inputs(&mut bench, conn, names).0, 2);
    let analog =
        |mask, domain, one: f64, two: f64| [&[2, mask, domain][..], &one.to_be_bytes(), &two.to_be_bytes()].concat();
    bench.package(conn, b'U', &analog(0b01, 0b00, 0.5, 1.0));
    assert_eq!((bench.controller.io().analog_out, bench.controller.io().analog_out_domain), ([0.012, 0.0], [0, 1]));
    bench.package(conn, b'U', &analog(0b10, 0b10, 0.5, 1.5));
    assert_eq!(bench.controller.io().analog_out, [0.012, 0.0]);
    assert_eq!(bench.answer(conn, b'M')[0], 2, "a warning");

    assert_eq!(inputs(&mut bench, conn, "speed_slider_mask,speed_slider_fraction").0, 3);
    bench.package(conn, b'U', &[&[3, 0, 0, 0, 1][..], &0.25_f64.to_be_bytes()].concat());
    bench.package(conn, b'U', &[&[3, 0, 0, 0, 0][..], &0.75_f64.to_be_bytes()].concat());
    assert_eq!(bench.controller.robot().slider, 0.25);
}

#[test]
fn a_program_reads_what_clients_write_and_clients_read_what_it_writes() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.subscribe(500.0, "output_int_register_24,output_double_register_0,script_control_line");
    assert_eq!(inputs(&mut bench, conn, "input_int_register_24").0, 1);
    let script = bench.connect(Port::Secondary);
    bench.send(script, "def p():\n while True:\n  write_output_integer_register(24, read_input_integer_register(24) + 1)\n  write_output_float_register(0, 0.5)\n  sync()\n end\nend\n");
    bench.package(conn, b'U', &[1, 0, 0, 0, 41]);
    bench.cycles(10);
    let last = data(&mut bench, conn).pop().unwrap();
    assert_eq!((i32_at(&last, 1), f64_at(&last, 5)), (42, 0.5));
    assert!((2..=6).contains(&i32_at(&last, 13)), "the line that is executed: {}", i32_at(&last, 13));
}

/// Returns a controller whose program moves the arm under an RTDE watchdog of 10 Hz on an input register, and the
/// client that has written the register until now.
fn watched(action: &str) -> (Bench, Conn) {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Rtde);
    assert_eq!(inputs(&mut bench, conn, "input_int_register_24").0, 1);
    let script = bench.connect(Port::Secondary);
    let program = format!(
        "def p():\n rtde_set_watchdog(\"input_int_register_24\", 10, \"{action}\")\n while True:\n  speedj([0.1,0,0,0,0,0], 1, 0.5)\n end\nend\n"
    );
    bench.send(script, &program);
    for _ in 0..10 {
        bench.package(conn, b'U', &[1, 0, 0, 0, 7]);
        bench.run(90);
    }
    assert_eq!(bench.controller.program(), (true, false), "the same value again is an update");
    (bench, conn)
}

#[test]
fn a_watchdog_acts_when_its_input_is_late() {
    let (mut bench, _) = watched("stop");
    assert_eq!(bench.controller.watchdogs().len(), 1);
    bench.run(20);
    assert_eq!(bench.controller.program(), (false, false));
    assert!(bench.controller.watchdogs().is_empty(), "watchdogs end with their program");
    let (mut bench, _) = watched("pause");
    bench.run(20);
    assert_eq!(bench.controller.program(), (true, true));
    let (mut bench, _) = watched("ignore");
    bench.run(500);
    assert_eq!(bench.controller.program(), (true, false));
    assert_eq!(bench.controller.watchdogs()[0].action, WatchdogAction::Ignore);
}

#[test]
fn first_data_may_come_before_the_reply_to_the_start() {
    let mut bench = with(|rtde| rtde.data_before_start_reply = true);
    let conn = bench.connect(Port::Rtde);
    bench.package(conn, b'V', &[0, 2]);
    bench.package(conn, b'O', &[&500.0_f64.to_be_bytes()[..], b"timestamp"].concat());
    bench.package(conn, b'S', b"");
    let letters: Vec<u8> = bench.packages(conn).iter().map(|(letter, _)| *letter).collect();
    assert_eq!(letters, b"VOUS");
}

#[test]
fn a_client_that_does_not_read_is_closed_and_the_others_are_not() {
    let mut bench = Bench::software(5, 15);
    let reader = bench.subscribe(500.0, "timestamp");
    let idle = bench.controller.connect(Port::Rtde).unwrap();
    let request =
        [&b"\0\x05V\0\x02\0\x24O"[..], &500.0_f64.to_be_bytes(), b"actual_q,actual_qd,target_q\0\x03S"].concat();
    let request = {
        let mut request = request;
        request[6] = u8::try_from(3 + 8 + "actual_q,actual_qd,target_q".len()).unwrap();
        request
    };
    assert_eq!(bench.controller.write(idle, &request), request.len());
    bench.run(5_000);
    assert!(bench.controller.is_open(reader));
    assert_eq!(data(&mut bench, reader).len(), 2500);
    let mut read = 0;
    let mut buffer = [0; 4096];
    while let n @ 1.. = bench.controller.read(idle, &mut buffer) {
        read += n;
    }
    assert!(read <= 128 * 1024 && read > 100 * 1024, "{read}");
    assert!(!bench.controller.is_open(idle), "closed when everything has been read");
}

#[test]
fn what_breaks_the_rules_is_answered_by_a_text_or_ends_the_connection() {
    let mut bench = with(|rtde| rtde.names = Some(2048));
    let conn = bench.connect(Port::Rtde);
    bench.package(conn, b'V', &[0, 2]);
    bench.packages(conn);
    let long = vec![b'x'; 2049];
    let bad: [(u8, &[u8]); 6] =
        [(b'?', b""), (b'O', b"short"), (b'U', &[9, 1, 2]), (b'U', b""), (b'M', &[200, 1]), (b'I', &long)];
    for (letter, payload) in bad {
        bench.package(conn, letter, payload);
        let text = bench.answer(conn, b'M');
        assert_eq!((usize::from(text[0]) + 7, *text.last().unwrap()), (text.len(), 1), "text, source RTDE, error");
        assert!(bench.controller.is_open(conn));
    }
    bench.package(conn, b'M', b"\x02hi\x02me\x03");
    assert_eq!(bench.controller.rtde_log(), ["me: hi"]);
    assert_eq!(bench.controller.write(conn, &[0, 2, b'S']), 3);
    bench.cycles(1);
    assert!(!bench.controller.is_open(conn), "no length is below 3");

    let mut bench = with(|rtde| rtde.closes_on_violation = true);
    let conn = bench.connect(Port::Rtde);
    bench.package(conn, b'?', b"");
    bench.cycles(1);
    assert!(!bench.controller.is_open(conn));
}

#[test]
fn a_restart_forgets_registers_owners_and_recipes() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.subscribe(500.0, "timestamp");
    assert_eq!(inputs(&mut bench, conn, "input_int_register_24").0, 1);
    bench.package(conn, b'U', &[1, 0, 0, 0, 7]);
    bench.controller.act(Action::Restart(Duration::from_millis(100)));
    assert!(!bench.controller.is_open(conn));
    bench.run(200);
    assert_eq!(bench.controller.registers().0.ints[24], 0);
    let conn = bench.subscribe(500.0, "timestamp");
    assert_eq!(inputs(&mut bench, conn, "input_int_register_24").0, 1);
    bench.cycles(2);
    let first = f64_at(&data(&mut bench, conn)[0], 1);
    assert!(first < 0.2, "the clock began again: {first}");
}

#[test]
fn faults_of_content_and_of_the_network_reach_this_port() {
    let faulty = |spec: &str| {
        let mut bench = Bench::software(5, 15);
        let conn = bench.subscribe(500.0, "timestamp");
        bench.controller.inject(Fault::parse(spec).unwrap());
        bench.run(100);
        (data(&mut bench, conn), bench)
    };
    let (skipped, _) = faulty("skip/30004@0::10");
    assert_eq!(skipped.len(), 45);
    let (repeated, _) = faulty("repeat/30004@0::10");
    assert_eq!(repeated.len(), 55);
    let (short, _) = faulty("truncated/30004@0::4");
    assert!(short.iter().all(|payload| payload.len() == 5));
    let (strange, _) = faulty("wrong-recipe/30004@0::2");
    assert_eq!(strange.iter().filter(|payload| payload[0] != 1).count(), 25);
    let (stalled, _) = faulty("stall/30004@0");
    assert!(stalled.is_empty());

    let mut bench = Bench::software(5, 15);
    bench.controller.inject(Fault::parse("wrong-type/30004@0").unwrap());
    let conn = bench.connect(Port::Rtde);
    assert_eq!(inputs(&mut bench, conn, "input_int_register_24").1, "UINT64");
    bench.controller.inject(Fault::parse("mute/30004@0").unwrap());
    bench.package(conn, b'v', b"");
    assert!(bench.packages(conn).is_empty());
    let mut bench = Bench::software(5, 15);
    let conn = bench.subscribe(500.0, "timestamp");
    bench.controller.inject(Fault::parse("oversize/30004@0::60000").unwrap());
    bench.cycles(1);
    let sizes: Vec<usize> = bench.packages(conn).iter().map(|(_, payload)| payload.len()).collect();
    assert_eq!(sizes, [59_997, 9]);
}

#[test]
fn clients_of_one_controller_each_have_their_own_version_recipe_and_rate() {
    let mut options = ideal(5, 15);
    options.software = SoftwareVersion { major: 5, minor: 15, bugfix: 2 };
    let mut bench = Bench::new(options);
    let fast = bench.subscribe(500.0, "timestamp,actual_q");
    let slow = bench.subscribe(50.0, "robot_mode");
    let old = bench.connect(Port::Rtde);
    bench.package(old, b'O', b"safety_mode");
    bench.package(old, b'S', b"");
    bench.run(1000);
    assert_eq!(data(&mut bench, fast).len(), 500);
    assert_eq!(data(&mut bench, slow).len(), 50);
    let of_old = data(&mut bench, old);
    assert_eq!((of_old.len(), &of_old[0]), (500, &vec![0, 0, 0, 1]));
}
