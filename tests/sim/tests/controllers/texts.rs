//! Texts outside ASCII: every text of a program is sent with the bytes that the program contained.

use outrigger_sim::controller::Conn;
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;

use crate::common::{Answer, Bench, ideal};

/// The texts outside ASCII that the tested programs contain: the German word for size, with a symbol in UTF-8, and
/// alone in ISO 8859-1.
const SIZES: [&[u8]; 2] = ["Größe ≔ 1".as_bytes(), b"Gr\xF6\xDFe"];

fn with(size: &[u8], program: &str) -> Vec<u8> {
    let parts: Vec<&[u8]> = program.split('@').map(str::as_bytes).collect();
    parts.join(size)
}

/// Takes the robot messages of a type that a client has received.
fn messages(bench: &mut Bench, conn: Conn, kind: u8) -> Vec<Vec<u8>> {
    bench.messages(conn).into_iter().filter(|message| message[4] == 20 && message[14] == kind).collect()
}

#[test]
fn messages_popups_and_errors_are_the_bytes_of_the_program() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15), (10, 12)] {
        for size in SIZES {
            let mut bench = Bench::software(major, minor);
            let primary = bench.connect(Port::Primary);
            let text = "def main():\n textmsg(\"@\", \"!\")\n popup(\"<@>\", \"@\")\n sleep(0.1)\n x = \"@\"\n x[0] = socket_open(x, 1)\nend\n";
            bench.send_bytes(primary, &with(size, text));
            bench.run(50);
            let all = bench.messages(primary);
            let ends = |end: &[u8]| all.iter().any(|message| message[4] == 20 && message.ends_with(end));
            assert!(ends(&[size, b"!"].concat()), "{major}.{minor} {size:?}");
            assert!(ends(&[size, b"<", size, b">"].concat()), "{major}.{minor} {size:?}");
            let shown = String::from_utf8_lossy(&[b"<", size, b">"].concat()).into_owned();
            assert_eq!(bench.controller.pendant().popup, Some(shown), "{major}.{minor}");
        }
    }
    for size in SIZES {
        let mut bench = Bench::software(5, 15);
        let primary = bench.connect(Port::Primary);
        bench.send_bytes(primary, &with(size, "rtde_set_watchdog(\"@\", 10)\n"));
        bench.run(50);
        let errors = messages(&mut bench, primary, 10);
        let found = errors.iter().any(|error| error.windows(size.len()).any(|part| part == size));
        assert!(found, "{errors:?}");
    }
}

#[test]
fn lines_of_interpreter_mode_come_back_as_their_bytes() {
    let mut bench = Bench::software(5, 15);
    let (primary, lines) = (bench.connect(Port::Primary), bench.connect(Port::Interpreter));
    bench.send(primary, "def main():\n interpreter_mode()\nend\n");
    bench.run(50);
    bench.take(primary);
    for size in SIZES {
        bench.send_bytes(lines, &with(size, "textmsg(\"@\")\n"));
        bench.run(50);
        let reply = bench.take(lines);
        assert!(reply.ends_with(&with(size, ": textmsg(\"@\")\n")), "{reply:?}");
        let said = messages(&mut bench, primary, 0);
        assert!(said.iter().any(|message| message.ends_with(size)), "{said:?}");
    }
}

#[test]
fn what_goes_to_a_socket_is_the_bytes_of_the_program() {
    for size in SIZES {
        let mut bench = Bench::software(5, 15);
        bench.serve(5000, Answer::After(std::time::Duration::ZERO));
        let primary = bench.connect(Port::Primary);
        let text = "def main():\n socket_open(\"10.0.0.1\", 5000)\n socket_send_string(\"@\")\n socket_send_line(\"@\")\n \
                    socket_set_var(\"@\", 7)\n socket_send_int(str_len(\"@\"))\n socket_get_var(\"@\")\n sleep(10)\nend\n";
        bench.send_bytes(primary, &with(size, text));
        bench.run(200);
        let conn = bench.accept(5000).unwrap();
        let len = u8::try_from(size.len()).unwrap();
        let expected = [&with(size, "@@\nSET @ 7\n")[..], &[0, 0, 0, len], &with(size, "GET @\n")].concat();
        assert_eq!(bench.take(conn), expected);
    }
}

#[test]
fn a_file_of_the_pendant_says_its_bytes() {
    let mut options = ideal(5, 15);
    let script = "def main():\n textmsg(\"Größe ≔ 1\")\n popup(\"Größe\")\n sleep(1)\nend\n".to_owned();
    options.files.programs.push(ProgramFile { script, ..ProgramFile::named("size.urp") });
    let mut bench = Bench::new(options);
    let (desk, primary) = (bench.connect(Port::Dashboard), bench.connect(Port::Primary));
    assert_eq!(bench.ask(desk, "load size.urp"), "Loading program: /programs/size.urp");
    bench.take(primary);
    assert_eq!(bench.ask(desk, "play"), "Starting program");
    bench.run(50);
    assert_eq!(bench.told(primary).last().map(String::as_str), Some("Größe ≔ 1"));
    assert_eq!(bench.controller.pendant().popup.as_deref(), Some("Größe"));
}
