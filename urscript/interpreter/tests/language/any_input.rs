//! Tests that no input causes a panic, a hang or unbounded memory, in whatever pieces it arrives.

use crate::support::Recorder;
use outrigger_interpreter::{Assembled, Builtins, LineAssembler, Machine, Program, Step};
use outrigger_urscript::Version;
use proptest::prelude::*;

/// Generates texts of pieces of URScript programs, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "def ",
        "sec ",
        "thread ",
        "a",
        "b",
        "f",
        "()",
        ".read()",
        ".write(",
        "(",
        ")",
        ":",
        "\n",
        "\n ",
        "end",
        "\nend\n",
        "if ",
        "elif ",
        "else",
        "while ",
        "True",
        "False",
        "None",
        "x",
        " = ",
        "=",
        "1",
        "2.5",
        "-",
        "+",
        "*",
        "/",
        "%",
        "[",
        "]",
        "p[",
        ",",
        " and ",
        " or ",
        " not ",
        " xor ",
        "==",
        "<",
        "return ",
        "break\n",
        "continue\n",
        "halt\n",
        "run ",
        "join ",
        "kill ",
        "global ",
        "local ",
        "enter_critical\n",
        "exit_critical\n",
        "pause\n",
        "sync()\n",
        "sleep(0.01)\n",
        "textmsg(",
        "\"text\"",
        "\"",
        "#",
        "stopj(1)\n",
        "x = [1,2]\n",
        "x[0] = x\n",
        "f()\n",
        " def f():\n f()\n end\n",
        "while True:\n",
        " ",
        "\t",
        "power on\n",
        "set speed 0.5\n",
        "1e",
        ".",
        "ü",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Generates URScript programs that compile.
fn programs() -> impl Strategy<Value = String> {
    let statement = prop::sample::select(vec![
        "x = 1",
        "x = x + 1",
        "x = x * 1.5 - y[0]",
        "y = [x, 2, 3]",
        "y[0] = x",
        "y = [y, y]",
        "x = y[1]",
        "x = z[5]",
        "z = p[0,0,0,0,0,x]",
        "z[2] = x",
        "x = f(x)",
        "x = f(1, b=x)",
        "x = g(x)",
        "x = x / (x - 3)",
        "return x",
        "halt",
        "sync()",
        "sleep(0.02)",
        "t = run w()",
        "join t",
        "kill t",
        "enter_critical",
        "exit_critical",
        "global x = 3",
        "textmsg(\"x=\", x)",
        "s = str_cat(s, x)",
        "x = -norm(x) % 7",
    ]);
    let condition =
        prop::sample::select(vec!["x", "x == 1 or y == 2", "x < 5 and not s", "True", "x >= y[0] xor True"]);
    let block = statement.prop_map(String::from).prop_recursive(4, 24, 5, move |inner| {
        let body = prop::collection::vec(inner, 1..5).prop_map(|lines| lines.join("\n"));
        prop_oneof![
            body.clone(),
            (condition.clone(), body.clone(), body.clone())
                .prop_map(|(condition, yes, no)| format!("if {condition}:\n{yes}\nelse:\n{no}\nend")),
            (condition.clone(), body)
                .prop_map(|(condition, body)| format!("while {condition}:\n{body}\nif x > 3:\nbreak\nend\nend")),
        ]
    });
    prop::collection::vec(block, 1..8).prop_map(|blocks| {
        let head = "def a():\n x = 0\n y = [1, 2, 3]\n z = p[0,0,0,0,0,0]\n s = \"\"\n t = 0\n def f(a, b=2):\n  \
                    return a + b\n end\n def g(n):\n  if n > 50:\n   return n\n  end\n  return g(n + 1)\n end\n \
                    thread w():\n  sync()\n  x = f(x)\n end";
        format!("{head}\n {}\nend\n", blocks.join("\n").replace('\n', "\n "))
    })
}

/// Compiles and runs a text for a bounded time, also on software whose objects have methods.
fn exercise(text: &str) -> Option<Step> {
    let _ = exercise_on(Version::new(10, 12), text);
    exercise_on(Version::new(5, 15), text)
}

fn exercise_on(version: Version, text: &str) -> Option<Step> {
    let program = Program::compile(text, &Builtins::of(version)).ok()?;
    let mut machine = Machine::new(program);
    let mut host = Recorder::default();
    let mut last = Step::Frame;
    for _ in 0..20 {
        last = machine.step(&mut host, 500);
    }
    Some(last)
}

/// Feeds `bytes` to a line assembler, in pieces of the lengths `cuts` and then the rest. Returns the programs and lines
/// that it found, and the number of those that it skipped because of their length.
fn assemble(bytes: &[u8], cuts: &[usize], limit: usize) -> (Vec<Assembled>, u64) {
    let mut assembler = LineAssembler::new(limit);
    let mut found = Vec::new();
    let mut rest = bytes;
    for cut in cuts.iter().copied().chain([usize::MAX]) {
        let (mut piece, after) = rest.split_at(cut.min(rest.len()));
        rest = after;
        while let Some(complete) = assembler.next(&mut piece) {
            found.push(complete);
        }
        assert!(piece.is_empty());
    }
    (found, assembler.oversize())
}

proptest! {
    #[test]
    fn any_bytes_are_assembled_and_compiled_to_something(bytes: Vec<u8>) {
        for complete in assemble(&bytes, &[], 1 << 16).0 {
            if let Assembled::Program(text) = complete {
                exercise(&text);
            }
        }
    }

    #[test]
    fn any_order_of_the_languages_pieces_compiles_or_is_refused(text in pieces()) {
        exercise(&text);
        for complete in assemble(text.as_bytes(), &[], 1 << 16).0 {
            if let Assembled::Program(text) = complete {
                exercise(&text);
            }
        }
    }

    #[test]
    fn any_program_ends_or_waits_within_its_budget(text in programs()) {
        prop_assert!(exercise(&text).is_some(), "does not compile:\n{}", text);
    }

    #[test]
    fn any_split_of_a_stream_gives_the_same_programs(
        texts in prop::collection::vec(prop_oneof![pieces(), programs()], 1..6),
        cuts in prop::collection::vec(0_usize..40, 0..60),
        limit in prop_oneof![Just(20_usize), Just(200), Just(1 << 16)],
    ) {
        let bytes = texts.concat().into_bytes();
        let whole = assemble(&bytes, &[], limit);
        prop_assert_eq!(&assemble(&bytes, &cuts, limit), &whole);
        prop_assert_eq!(&assemble(&bytes, &vec![1; bytes.len()], limit), &whole);
        for complete in whole.0 {
            if let Assembled::Program(text) = complete {
                prop_assert!(text.ends_with('\n') && text.len() <= limit);
            }
        }
    }

    #[test]
    fn any_lines_are_run_or_discarded_by_interpreter_mode(lines in prop::collection::vec(pieces(), 1..12)) {
        let builtins = Builtins::of(Version::new(5, 15));
        let source = "def a():\n x = 0\n def f():\n  interpreter_mode()\n end\n while True:\n  f()\n end\nend\n";
        let mut machine = Machine::new(Program::compile(source, &builtins).unwrap());
        let mut host = Recorder::default();
        for line in lines {
            let _ = machine.step(&mut host, 500);
            let accepted = machine.statements().interpreted;
            let taken = machine.interpret(&line.replace('\n', " "), &builtins).is_ok();
            prop_assert_eq!(machine.statements().interpreted, accepted + u32::from(taken));
        }
        for _ in 0..10 {
            let _ = machine.step(&mut host, 500);
        }
    }

    #[test]
    fn bytes_after_the_last_newline_do_nothing(text in pieces(), tail in "[^\n]{0,40}") {
        let mut bytes = text.into_bytes();
        bytes.push(b'\n');
        let before = assemble(&bytes, &[], 1 << 16);
        bytes.extend_from_slice(tail.as_bytes());
        prop_assert_eq!(assemble(&bytes, &[], 1 << 16), before);
    }
}
