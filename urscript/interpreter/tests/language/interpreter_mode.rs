//! Tests of statements that are sent to a running program (external control 3).

use outrigger_interpreter::{
    Builtins, CompileErrorKind, Discard, FaultKind, Limits, Machine, Program, Statements, Step, Value,
};
use outrigger_urscript::Version;

use crate::support::{BUDGET, Recorder};

/// A URScript program in interpreter mode, to which the tests send statements line by line.
struct Session {
    machine: Machine,
    host: Recorder,
    builtins: Builtins,
}

impl Session {
    /// Compiles a program and runs its first cycle.
    fn begin(source: &str) -> Self {
        Self::within(source, Limits::default())
    }

    fn within(source: &str, limits: Limits) -> Self {
        let builtins = Builtins::of(Version::new(5, 15));
        let program = Program::compile_within(source, &builtins, limits).unwrap();
        let mut session = Self { machine: Machine::new(program), host: Recorder::default(), builtins };
        assert_eq!(session.cycle(), Step::Frame);
        session
    }

    fn cycle(&mut self) -> Step {
        self.machine.step(&mut self.host, BUDGET)
    }

    fn send(&mut self, line: &str) -> Result<u32, Discard> {
        self.machine.interpret(line, &self.builtins)
    }

    /// Sends a line, which must be accepted, and runs one cycle.
    fn run(&mut self, line: &str) -> Step {
        self.send(line).unwrap_or_else(|discard| panic!("{line}: {discard:?}"));
        self.cycle()
    }

    /// Returns the texts of `textmsg` since the last call.
    fn said(&mut self) -> Vec<String> {
        let spoken = self.host.calls.drain(..).filter(|(_, name, _)| *name == "textmsg");
        spoken.map(|(_, _, args)| args.iter().map(Value::to_string).collect()).collect()
    }
}

const PLAIN: &str = "def main():\n g = 1\n interpreter_mode()\n textmsg(\"left \", g)\nend\n";

#[test]
fn lines_run_in_order_in_the_scope_of_the_call_until_the_mode_is_left() {
    let mut session = Session::begin(
        "def main():\n g = 1\n def inner(a):\n  local b = 5\n  interpreter_mode()\n  return a + b\n end\n r = inner(10)\n \
         textmsg(r, g)\nend\n",
    );
    assert_eq!([session.send("a = a + 1 b = 7"), session.send("g = g + 1")], [Ok(1), Ok(2)]);
    assert_eq!(session.cycle(), Step::Frame);
    assert_eq!(session.run("new = a * 2"), Step::Frame);
    assert_eq!(session.run("textmsg(new, g)"), Step::Frame);
    assert_eq!(session.said(), ["222"]);
    assert_eq!(session.run("end_interpreter()"), Step::Done);
    assert_eq!(session.said(), ["182"], "what the lines changed stays, as far as the scope is left with it");
}

#[test]
fn a_line_that_takes_time_holds_up_those_behind_it() {
    let mut session = Session::begin(PLAIN);
    assert_eq!([session.send("sleep(0.024)"), session.send("textmsg(\"after\")")], [Ok(1), Ok(2)]);
    let expected = [(0, 2), (0, 2), (0, 2), (2, 0)];
    for (executed, waiting) in expected {
        assert_eq!(session.cycle(), Step::Frame);
        assert_eq!(session.machine.statements(), Statements { executed, interpreted: 2, cleared: 0, waiting });
    }
    assert_eq!(session.said(), ["after"]);
}

#[test]
fn functions_on_one_line_are_known_to_later_lines_until_they_are_cleared() {
    let mut session = Session::begin(PLAIN);
    assert_eq!(session.run("def twice(x=2): return x * 2 end"), Step::Frame);
    assert_eq!(session.run("thread beside(): textmsg(\"beside\") end h = run beside() join h"), Step::Frame);
    assert_eq!(session.run("textmsg(twice(4), twice())"), Step::Frame);
    let again = session.send("def twice(): end");
    assert!(
        matches!(again, Err(Discard::Compile(error)) if matches!(error.kind, CompileErrorKind::NameAlreadyDefined(_)))
    );
    // Lines behind the one that clears are already compiled without the names.
    session.send("clear_interpreter()").unwrap();
    assert!(matches!(session.send("textmsg(twice(4))"), Err(Discard::Compile(_))));
    assert_eq!(session.run("def twice(x): return x + x end textmsg(twice(5))"), Step::Frame);
    assert_eq!(session.said(), ["beside", "84", "10"]);
    let Statements { executed, cleared, waiting, .. } = session.machine.statements();
    assert_eq!((executed, cleared, waiting), (5, 4, 0));
}

#[test]
fn what_does_not_compile_is_discarded_whole_and_leaves_nothing_behind() {
    let mut session = Session::begin(PLAIN);
    for line in [
        "textmsg(1) nothing()",
        "def f(): textmsg(1)",
        "def f(): end textmsg(missing)",
        "global other = 1",
        "def f(): global other = 1 end",
        "break",
        "end",
        "x = = 1",
        "sec s(): end",
        "\u{0}",
    ] {
        assert!(matches!(session.send(line), Err(Discard::Compile(_))), "{line}");
    }
    assert_eq!(session.run("def f(): textmsg(\"f \", g) end global g = 5 f()"), Step::Frame);
    assert_eq!(session.said(), ["f 5"]);
    assert_eq!(session.machine.statements().interpreted, 1);
}

#[test]
fn lines_are_accepted_only_in_interpreter_mode() {
    let mut session = Session::begin("def main():\n sleep(0.02)\n interpreter_mode()\n sleep(1)\nend\n");
    assert_eq!(session.send("x = 1"), Err(Discard::NotInterpreting));
    (0..4).for_each(|_| assert_eq!(session.cycle(), Step::Frame));
    assert!(session.machine.interprets());
    assert_eq!(session.run("end_interpreter()"), Step::Frame);
    assert_eq!(session.send("x = 1"), Err(Discard::NotInterpreting));
    let mut session = Session::begin(PLAIN);
    assert_eq!(session.run("halt"), Step::Done);
    assert_eq!(session.send("x = 1"), Err(Discard::NotInterpreting));
}

#[test]
fn the_mode_is_for_the_main_thread_is_not_nested_and_may_be_ended_by_another_thread() {
    for (source, line) in [
        ("def main():\n thread t():\n  interpreter_mode()\n end\n h = run t()\n join h\nend\n", None),
        (PLAIN, Some("interpreter_mode()")),
    ] {
        let program = Program::compile(source, &Builtins::of(Version::new(5, 15))).unwrap();
        let mut machine = Machine::new(program);
        let mut step = machine.step(&mut Recorder::default(), BUDGET);
        if let Some(line) = line {
            machine.interpret(line, &Builtins::of(Version::new(5, 15))).unwrap();
            step = machine.step(&mut Recorder::default(), BUDGET);
        }
        assert!(matches!(&step, Step::Error(fault) if matches!(fault.kind, FaultKind::Interpreter(_))), "{step:?}");
    }
    let mut session = Session::begin(
        "def main():\n thread t():\n  sleep(0.016)\n  end_interpreter()\n end\n run t()\n interpreter_mode()\n textmsg(\"out\")\nend\n",
    );
    let steps: Vec<Step> = (0..4).map(|_| session.cycle()).collect();
    assert_eq!(steps.last(), Some(&Step::Done));
    assert_eq!(session.said(), ["out"]);
}

#[test]
fn statements_left_over_wait_for_the_next_time_unless_it_begins_by_clearing() {
    for (clears, expected) in [("False", vec!["between", "late"]), ("True", vec!["between"])] {
        let mut session = Session::begin(&format!(
            "def main():\n interpreter_mode(False, False)\n textmsg(\"between\")\n interpreter_mode({clears}, True)\nend\n"
        ));
        session.send("end_interpreter()").unwrap();
        session.send("textmsg(\"late\")").unwrap();
        assert_eq!(session.cycle(), Step::Frame);
        assert_eq!(session.said(), expected);
        assert_eq!(session.run("end_interpreter()"), Step::Done);
    }
}

#[test]
fn statements_that_have_not_begun_can_be_skipped() {
    let mut session = Session::begin(PLAIN);
    for line in ["sleep(0.02)", "textmsg(1)", "textmsg(2)"] {
        session.send(line).unwrap();
    }
    assert_eq!(session.cycle(), Step::Frame);
    session.machine.skip();
    (0..4).for_each(|_| assert_eq!(session.cycle(), Step::Frame));
    assert_eq!((session.said(), session.machine.statements().waiting), (vec![], 0));
}

#[test]
fn a_run_time_error_in_a_line_ends_the_program_and_a_cleared_function_is_one() {
    let mut session = Session::begin(PLAIN);
    assert!(matches!(session.run("x = [1][5]"), Step::Error(_)));
    let mut session = Session::begin(PLAIN);
    for line in ["def f(): clear_interpreter() end", "f()", "f()"] {
        session.send(line).unwrap();
    }
    let step = session.cycle();
    assert!(matches!(&step, Step::Error(fault) if matches!(fault.kind, FaultKind::Interpreter(_))), "{step:?}");
}

#[test]
fn too_many_statements_are_refused_until_they_are_cleared_and_a_stream_may_go_on_for_ever() {
    let mut session = Session::within(PLAIN, Limits { statements: 10, ..Limits::default() });
    for _ in 0..10 {
        assert_eq!(session.run("g = g + 1"), Step::Frame);
    }
    assert_eq!(session.send("g = 1"), Err(Discard::TooMany));
    let mut session = Session::within(PLAIN, Limits { statements: 10, ..Limits::default() });
    for round in 0..20_000 {
        let line = if round % 9 == 8 {
            "clear_interpreter()"
        } else {
            "def f(): return 1 end g = g + f() clear_interpreter()"
        };
        assert_eq!(session.run(line), Step::Frame);
    }
    assert_eq!(session.machine.statements().executed, 20_000);
}

#[test]
fn software_before_5_10_has_no_interpreter_mode_unless_told() {
    let source = "def main():\n interpreter_mode()\nend\n";
    for (major, minor, has) in [(3, 15, false), (5, 9, false), (5, 10, true), (10, 11, true)] {
        let builtins = Builtins::of(Version::new(major, minor));
        assert_eq!(Program::compile(source, &builtins).is_ok(), has);
        assert_eq!(Program::compile(source, &builtins.with_interpreter_mode(!has)).is_ok(), !has);
    }
}
