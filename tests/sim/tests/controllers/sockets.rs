//! The sockets of programs, with servers that answer late, wrongly or not at all (external control 5.1).

use std::time::Duration;

use outrigger_sim::controller::{Action, Conn, Options};
use outrigger_sim::dial::SocketOptions;
use outrigger_sim::port::Port;

use crate::common::{Answer, Bench, ideal};

const SERVER: u16 = 50_000;
const AT_ONCE: Answer = Answer::After(Duration::ZERO);

/// Returns a bench whose server answers, and a client of 30001.
fn bench() -> (Bench, Conn) {
    let mut bench = Bench::software(5, 15);
    bench.serve(SERVER, AT_ONCE);
    let primary = bench.connect(Port::Primary);
    (bench, primary)
}

/// Runs a URScript program that opens a socket to the server and then executes `statements`. Returns the server's end
/// of the connection.
fn opened(bench: &mut Bench, primary: Conn, statements: &str) -> Conn {
    let program = format!("def main():\n socket_open(\"10.0.0.9\", {SERVER})\n{statements}\nend\n");
    bench.send(primary, &program);
    bench.run(20);
    bench.accept(SERVER).expect("the program calls")
}

/// Returns the result of a program's read for these bytes, which the server sends in pieces of this size, one each
/// millisecond.
fn reads(call: &str, bytes: &[u8], piece: usize) -> Vec<String> {
    let (mut bench, primary) = bench();
    let server = opened(&mut bench, primary, &format!(" textmsg({call})\n sleep(10)"));
    bench.told(primary);
    for piece in bytes.chunks(piece) {
        bench.send_bytes(server, piece);
        bench.run(1);
    }
    bench.run(3000);
    bench.told(primary)
}

#[test]
fn every_read_yields_what_the_manual_says_at_once_or_byte_by_byte() {
    for (call, bytes, expected) in [
        ("socket_read_binary_integer(2)", &[0, 0, 0, 100, 0xFF, 0xFF, 0xFF, 0xFE][..], "[2, 100, -2]"),
        ("socket_read_byte_list(4)", &[100, 200, 0, 255], "[4, 100, 200, 0, 255]"),
        ("socket_read_ascii_float(4)", b"( 1.414 , 3.14159, 1.616, -2e0 )", "[4, 1.414, 3.14159, 1.616, -2]"),
        ("socket_read_line()", "grüße\r\nmore\n".as_bytes(), "grüße"),
        ("socket_read_line()", b"\n", ""),
        ("socket_read_string(prefix=\"<\", suffix=\">\")", b"noise<text>rest", "text"),
        ("socket_read_string(prefix=\"ab\", suffix=\"\\n\", interpret_escape=True)", b"aab-\\n\nrest", "-\\n"),
        ("socket_get_var(\"POS_X\")", b"POS_X 42\n", "42"),
    ] {
        for piece in [bytes.len(), 1, 3] {
            let told = reads(call, bytes, piece);
            assert_eq!(told, [expected], "{call} in pieces of {piece}");
        }
    }
}

#[test]
fn a_read_that_gets_nothing_or_rubbish_fails_as_a_value_and_the_program_goes_on() {
    for (call, bytes, expected) in [
        ("socket_read_binary_integer(3)", &b""[..], "[0, -1, -1, -1]"),
        ("socket_read_binary_integer(3)", b"\x00\x00\x00\x01", "[0, -1, -1, -1]"),
        ("socket_read_byte_list(2)", b"a", "[0, -1, -1]"),
        ("socket_read_ascii_float(2)", b"(1.0, two)", "[0, NaN, NaN]"),
        ("socket_read_ascii_float(2)", b"(1.0)", "[0, NaN, NaN]"),
        ("socket_read_ascii_float(2)", b")", "[0, NaN, NaN]"),
        ("socket_read_ascii_float(2)", &[0xEE; 5000], "[0, NaN, NaN]"),
        ("socket_read_line()", b"no end", ""),
        ("socket_read_string()", b"", ""),
        ("socket_read_string(suffix=\"|\")", b"no end", ""),
        ("socket_get_var(\"POS_X\")", b"POS_Y 42\n", "0"),
        ("socket_get_var(\"POS_X\")", b"", "0"),
    ] {
        assert_eq!(reads(call, bytes, 100), [expected], "{call}");
    }
}

#[test]
fn what_a_program_sends_arrives_as_the_manual_says() {
    let (mut bench, primary) = bench();
    let server = opened(
        &mut bench,
        primary,
        " socket_send_int(-2)\n socket_send_byte(200)\n socket_send_string(\"gr\u{fc}n\")\n socket_send_line(\"x\")\n \
         socket_set_var(\"POS_X\", 7)\n textmsg(socket_send_int(1, \"another\"))\n sleep(1)",
    );
    assert_eq!(bench.take(server), b"\xFF\xFF\xFF\xFE\xC8gr\xC3\xBCnx\nSET POS_X 7\n");
    assert_eq!(bench.told(primary), ["False"], "a socket that was never opened");
}

#[test]
fn opening_succeeds_when_it_is_answered_and_gives_up_after_two_seconds() {
    for (answer, expected, takes) in [
        (Some(AT_ONCE), "True", 0.002),
        (Some(Answer::After(Duration::from_millis(1500))), "True", 1.5),
        (Some(Answer::After(Duration::from_millis(2500))), "False", 2.0),
        (Some(Answer::Refuse), "False", 0.002),
        (None, "False", 2.0),
    ] {
        let mut bench = Bench::software(5, 15);
        if let Some(answer) = answer {
            bench.serve(SERVER, answer);
        }
        let primary = bench.connect(Port::Primary);
        let program = format!(
            "def main():\n global steps = 0\n thread count():\n  while True:\n   steps = steps + 1\n   sync()\n  end\n end\n \
             h = run count()\n ok = socket_open(\"10.0.0.9\", {SERVER})\n textmsg(ok, steps)\n sleep(5)\nend\n"
        );
        bench.send(primary, &program);
        bench.run(3000);
        let told = bench.told(primary).pop().expect("it comes back");
        let steps: f64 = told.strip_prefix(expected).unwrap_or_else(|| panic!("{told}")).parse().unwrap();
        assert!((steps * 0.002 - takes).abs() < 0.01, "another thread ran {steps} cycles meanwhile, for {takes} s");
        let rings = bench.accept(SERVER);
        assert_eq!(rings.is_some_and(|conn| bench.controller.is_open(conn)), expected == "True");
    }
}

#[test]
fn a_time_out_of_zero_waits_for_ever_and_others_are_held_to_the_cycle() {
    let (mut bench, primary) = bench();
    let server = opened(&mut bench, primary, " a = socket_read_byte_list(1, \"socket_0\", 0)\n textmsg(a)");
    bench.run(60_000);
    assert_eq!(bench.controller.program(), (true, false));
    bench.send(server, "A");
    bench.run(4);
    assert_eq!(bench.told(primary), ["[1, 65]"]);

    let (mut bench, primary) = self::bench();
    opened(
        &mut bench,
        primary,
        " socket_read_byte_list(1, \"socket_0\", 0.005)\n set_standard_digital_out(0, True)\n sync()",
    );
    assert_eq!(bench.controller.io().digital_out, 1, "over long before the default of 2 s");
}

#[test]
fn a_burst_is_read_within_one_cycle() {
    let (mut bench, primary) = bench();
    let server = opened(
        &mut bench,
        primary,
        " n = 0\n while n < 100:\n  socket_read_binary_integer(1)\n  n = n + 1\n end\n textmsg(\"read\")\n sleep(5)",
    );
    bench.run(10);
    bench.send_bytes(server, &[0; 400]);
    bench.cycles(2);
    assert_eq!(bench.told(primary), ["read"]);
}

#[test]
fn a_server_that_closes_ends_a_read_at_once_and_what_it_sent_before_is_read() {
    let (mut bench, primary) = bench();
    let server = opened(
        &mut bench,
        primary,
        " sleep(0.5)\n textmsg(socket_read_line())\n textmsg(socket_read_byte_list(1, \"socket_0\", 0))\n \
         textmsg(socket_send_int(1))",
    );
    bench.send(server, "last words\n");
    bench.controller.disconnect(server);
    bench.run(600);
    assert_eq!(bench.told(primary), ["last words", "[0, -1]", "False"]);
}

#[test]
fn the_end_of_a_program_however_it_comes_closes_its_sockets() {
    for end in ["stop program\n", "set_flag(1, True)\n"] {
        let (mut bench, primary) = bench();
        let server = opened(&mut bench, primary, " socket_send_line(\"bye\")\n sleep(100)");
        assert!(bench.controller.is_open(server));
        bench.send(primary, end);
        bench.run(20);
        assert_eq!((bench.controller.is_open(server), bench.take(server)), (false, b"bye\n".to_vec()), "{end}");
    }
    let (mut bench, primary) = bench();
    let server = opened(&mut bench, primary, " socket_send_line(\"bye\")");
    assert_eq!((bench.controller.is_open(server), bench.take(server)), (false, b"bye\n".to_vec()));
}

#[test]
fn a_peer_that_never_stops_sending_fills_its_window_and_a_peer_that_never_reads_is_not_waited_for() {
    let (mut bench, primary) = bench();
    let server = opened(
        &mut bench,
        primary,
        " text = \"0123456789012345678901234567890123456789012345678901234567890123\"\n while socket_send_string(text):\n \
         end\n textmsg(\"full\")\n sleep(100)",
    );
    // The bench reads; a server that does not read leaves 64 kB.
    let mut sent = 0;
    loop {
        let taken = bench.controller.write(server, &[0; 4096]);
        sent += taken;
        if taken < 4096 {
            break;
        }
    }
    assert_eq!((sent, bench.controller.room(server)), (64 * 1024, 0));
    assert_eq!(bench.told(primary), ["full"], "within one cycle nobody reads");
}

#[test]
fn what_is_assumed_of_reads_can_be_chosen() {
    let statements = " a = socket_read_binary_integer(1, \"socket_0\", 0.01)\n b = socket_read_binary_integer(1)\n textmsg(a, b)\n \
                      socket_close()\n while True:\n  socket_read_line()\n end";
    for (options, expected, runs) in [
        (SocketOptions::default(), "[0, -1][1, 16909060]", true),
        (SocketOptions { loses_partial_reads: true, ..SocketOptions::default() }, "[0, -1][1, 50595078]", true),
        (SocketOptions { failed_reads_wait: false, ..SocketOptions::default() }, "[0, -1][1, 16909060]", false),
    ] {
        let mut bench = Bench::new(Options { sockets: options, ..ideal(5, 15) });
        bench.serve(SERVER, AT_ONCE);
        let primary = bench.connect(Port::Primary);
        let program = format!("def main():\n socket_open(\"10.0.0.9\", {SERVER})\n{statements}\nend\n");
        bench.send(primary, &program);
        bench.run(8);
        let server = bench.accept(SERVER).expect("the program calls");
        bench.send_bytes(server, &[1, 2]);
        bench.run(30);
        bench.send_bytes(server, &[3, 4, 5, 6]);
        bench.run(1000);
        let told = bench.told(primary);
        assert_eq!((told[0].as_str(), bench.controller.program().0), (expected, runs), "{told:?}");
    }
}

#[test]
fn a_restart_and_a_cut_of_every_connection_end_sockets() {
    for action in [Action::Disconnect, Action::Restart(Duration::from_secs(1))] {
        let (mut bench, primary) = bench();
        let server = opened(
            &mut bench,
            primary,
            " socket_read_line(\"socket_0\", 0)\n write_output_integer_register(0, 1)\n sync()",
        );
        bench.controller.act(action);
        assert!(!bench.controller.is_open(server), "{action:?}");
        bench.run(20);
        let goes_on = action == Action::Disconnect;
        assert_eq!(bench.controller.registers().1.ints[0] == 1, goes_on, "the program sees the end: {action:?}");
    }
}

#[test]
fn a_program_has_at_most_thirty_two_sockets() {
    let (mut bench, primary) = bench();
    let program = format!(
        "def main():\n n = 0\n while socket_open(\"10.0.0.9\", {SERVER}, to_str(n)):\n  n = n + 1\n end\n textmsg(n)\n \
         sleep(100)\nend\n"
    );
    bench.send(primary, &program);
    bench.run(500);
    assert_eq!(bench.told(primary), ["32"]);
}

#[test]
fn a_call_that_does_not_fit_ends_the_program_with_its_name() {
    for call in
        ["socket_read_byte_list(31)", "socket_read_binary_integer(0)", "socket_open(7, 8)", "socket_send_int(\"a\")"]
    {
        let (mut bench, primary) = bench();
        bench.send(primary, &format!("{call}\n"));
        bench.run(50);
        let name = call.split_once('(').unwrap().0;
        assert_eq!(bench.told(primary), [format!("type_error:{name}:")]);
    }
}
