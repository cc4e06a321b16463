//! Tests of programs and their effects, cycle by cycle.

use crate::support::{BUDGET, Recorder, run, said, trace};
use outrigger_interpreter::{Builtins, Machine, Program, ProgramKind, Step, ThreadId};
use outrigger_urscript::Version;

/// Evaluates a URScript expression and returns its value as `textmsg` prints it.
fn value(expression: &str) -> String {
    said(&format!("textmsg({expression})\n")).concat()
}

#[test]
fn a_single_line_is_a_program() {
    assert_eq!(trace("speedj([0.1,0,0,0,0,0],1.4,0.016)\n"), "0: speedj([0.1, 0, 0, 0, 0, 0], 1.4, 0.016)\n2: done");
}

#[test]
fn the_next_statement_runs_in_the_cycle_in_which_the_last_one_returned() {
    assert_eq!(
        trace("def outrigger():\n speedj([0,0,0,0,0,0],1.4)\n sleep(0.016)\n stopj(4.0)\nend\n"),
        "0: speedj([0, 0, 0, 0, 0, 0], 1.4, None)\n0: sleep(0.016)\n2: stopj(4)\n4: done"
    );
}

#[test]
fn operators_bind_as_they_do_on_the_controller() {
    for (expression, expected) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 / 2", "3.5"),
        ("6 / 3", "2"),
        ("7 % 4 - 1", "2"),
        ("-2 * -3", "6"),
        ("2 - 3 - 4", "-5"),
        ("1 < 2 and 2 < 1", "False"),
        ("True or False and False", "True"),
        ("not 1 == 2", "True"),
        ("not True or True", "True"),
        ("True xor True", "False"),
        ("1 == 1.0", "True"),
        ("[1,2] == [1,2.0]", "True"),
        ("\"a\" != \"b\"", "True"),
        ("1e3 + .5", "1000.5"),
        ("2 >= 2", "True"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn and_and_or_leave_their_right_side_alone_when_the_left_decides() {
    assert_eq!(value("False and get_flag(0)"), "False");
    assert_eq!(value("1 or get_flag(0)"), "True");
    assert_eq!(value("1 and \"text\""), "True");
}

#[test]
fn lists_poses_and_strings_are_indexed_from_zero() {
    assert_eq!(value("[1,2,3][2]"), "3");
    assert_eq!(value("p[0.1,0,0,0,0,3.5][5]"), "3.5");
    assert_eq!(value("[[1,2],[3,4]][1,0]"), "3");
    assert_eq!(value("[[1,2],[3,4]][1][0]"), "3");
    assert_eq!(
        said("def a():\n x = [1, 2]\n y = x\n y[0] = 5\n textmsg(x, y)\n m = [x, y]\n m[1,1] = 7\n textmsg(m)\nend\n"),
        ["[1, 2][5, 2]", "[[1, 2], [5, 7]]"]
    );
}

#[test]
fn branches_take_the_first_condition_that_holds() {
    let source = |x: i32| {
        format!(
            "def a():\n x = {x}\n if x == 1:\n  textmsg(\"one\")\n elif x == 2:\n  textmsg(\"two\")\n elif x == 3:\n \
             else:\n  textmsg(\"many\")\n end\n textmsg(\"end\")\nend\n"
        )
    };
    assert_eq!(said(&source(1)), ["one", "end"]);
    assert_eq!(said(&source(2)), ["two", "end"]);
    assert_eq!(said(&source(3)), ["end"]);
    assert_eq!(said(&source(4)), ["many", "end"]);
}

#[test]
fn loops_break_and_continue() {
    let source = "def a():\n i = 0\n while True:\n  i = i + 1\n  if i == 2:\n   continue\n  end\n  if i > 4:\n   break\n  \
                  end\n  j = 0\n  while j < 1:\n   j = j + 1\n   textmsg(i)\n   break\n  end\n end\n textmsg(\"end\")\nend\n";
    assert_eq!(said(source), ["1", "3", "4", "end"]);
}

#[test]
fn functions_take_names_and_defaults_and_may_be_called_before_they_are_defined() {
    let source = "def a():\n textmsg(f(1))\n textmsg(f(1, c=5))\n textmsg(f(b=7, a=2))\n def f(a, b=10, c=a+1):\n  \
                  return a + b * c\n end\nend\n";
    assert_eq!(said(source), ["21", "51", "23"]);
}

#[test]
fn functions_without_a_value_return_none() {
    assert_eq!(said("def a():\n def f():\n  return\n end\n def g():\n end\n textmsg(f(), g())\nend\n"), ["NoneNone"]);
}

#[test]
fn a_function_assigns_to_its_own_variable_unless_the_name_is_global() {
    let source = "def a():\n x = 1\n def f():\n  x = 2\n  y = 3\n  local x = 9\n  return x\n end\n def g():\n  x = 4\n  \
                  global z = 5\n end\n textmsg(f())\n textmsg(x)\n g()\n textmsg(x, z)\nend\n";
    assert_eq!(said(source), ["9", "1", "45"]);
}

#[test]
fn arguments_are_copies() {
    let source = "def a():\n x = [1]\n def f(l):\n  l[0] = 2\n  return l\n end\n textmsg(f(x), x)\nend\n";
    assert_eq!(said(source), ["[2][1]"]);
}

#[test]
fn several_statements_may_stand_on_one_line() {
    assert_eq!(said("def a(): i = 0 while i < 2: textmsg(i) i = i + 1 end end\n"), ["0", "1"]);
}

#[test]
fn a_value_may_stand_on_the_next_line_after_a_comment_or_without_one() {
    // The first assignment is from the control script of ur_rtde.
    let source = "def a():\n global offset = # where the registers begin\n 0\n local f = 2 * # times\n\n 3.5\n \
                  g = [1, # one\n 2]\n b = not\n False\n textmsg(offset, f)\n textmsg(g,\n b)\nend\n";
    assert_eq!(said(source), ["07", "[1, 2]True"]);
}

#[test]
fn an_assigned_output_is_a_call_and_a_variable_of_that_name_a_variable() {
    let calls = |source| {
        let builtins = Builtins::of(Version::new(3, 15));
        let mut machine = Machine::new(Program::compile(source, &builtins).unwrap());
        let mut host = Recorder::default();
        assert_eq!(machine.step(&mut host, BUDGET), Step::Done);
        host.calls.iter().map(|(_, name, args)| format!("{name}{args:?}")).collect::<Vec<_>>()
    };
    let expected = ["set_digital_out[Int(2), Bool(true)]", "set_digital_out[Int(3), Bool(false)]"];
    assert_eq!(calls("def a():\n digital_out[2]=True\n n = 2\n digital_out[n + 1] = not True\nend\n"), expected);
    assert!(calls("def a():\n digital_out = [False, False]\n digital_out[1] = True\nend\n").is_empty());
}

#[test]
fn halt_ends_the_program_at_once() {
    assert_eq!(said("def a():\n textmsg(1)\n halt\n textmsg(2)\nend\n"), ["1"]);
}

#[test]
fn threads_share_the_cycle_and_join_waits() {
    let source = "def a():\n thread t():\n  sync()\n  textmsg(\"t1\")\n  sync()\n  textmsg(\"t2\")\n end\n h = run t()\n \
                  textmsg(\"m0\")\n sync()\n textmsg(\"m1\")\n join h\n textmsg(\"joined\")\nend\n";
    assert_eq!(
        trace(source),
        "0: textmsg(m0, )\n0: sync()\n0: sync()\n1: textmsg(m1, )\n1: textmsg(t1, )\n1: sync()\n2: textmsg(t2, )\n\
         3: textmsg(joined, )\n3: done"
    );
}

#[test]
fn the_end_of_the_main_thread_ends_all() {
    let source = "def a():\n thread t():\n  while True:\n   sync()\n  end\n end\n run t()\n sleep(0.016)\nend\n";
    assert_eq!(trace(source), "0: sleep(0.016)\n0: sync()\n1: sync()\n2: done");
}

#[test]
fn kill_ends_a_thread_with_its_children_and_is_harmless_afterwards() {
    let source = "def a():\n thread child():\n  while True:\n   textmsg(\"c\")\n   sync()\n  end\n end\n thread t():\n  \
                  run child()\n  while True:\n   textmsg(\"t\")\n   sync()\n  end\n end\n h = 0\n kill h\n h = run t()\n \
                  sync()\n kill h\n kill h\n join h\n sleep(0.016)\n textmsg(\"end\")\nend\n";
    let heard = said(source);
    assert_eq!(heard, ["t", "c", "end"]);
}

#[test]
fn a_thread_that_computes_too_long_goes_on_in_the_next_cycle() {
    let program = Program::compile("while True:\n i = 1\nend\n", &Builtins::of(Version::new(5, 15))).unwrap();
    let mut machine = Machine::new(program);
    let mut host = Recorder::default();
    for _ in 0..10 {
        assert_eq!(machine.step(&mut host, 100), Step::Overrun(ThreadId::MAIN));
    }
}

#[test]
fn a_critical_section_keeps_the_others_out_when_the_budget_is_spent() {
    let order = |enter: &str, exit: &str| {
        let source = format!(
            "def a():\n thread t():\n  textmsg(\"t\")\n end\n run t()\n {enter}\n i = 0\n while i < 100:\n  i = i + 1\n \
             end\n textmsg(\"m\")\n {exit}\n sleep(1)\nend\n"
        );
        let mut machine = Machine::new(Program::compile(&source, &Builtins::of(Version::new(5, 15))).unwrap());
        let mut host = Recorder::default();
        while matches!(machine.step(&mut host, 50), Step::Overrun(_)) {}
        let spoken = host.calls.iter().filter(|(_, name, _)| *name == "textmsg");
        spoken.map(|(_, _, args)| args[0].to_string()).collect::<String>()
    };
    assert_eq!(order("", ""), "tm");
    assert_eq!(order("enter_critical", "exit_critical"), "mt");
}

#[test]
fn a_secondary_program_has_one_cycle() {
    assert_eq!(trace("sec io():\n set_flag(1,True)\nend\n"), "0: set_flag(1, True)\n0: done");
    for busy in ["sleep(0.1)", "while True:\n end"] {
        let (_, end) = run(&format!("sec io():\n {busy}\nend\n"));
        let Step::Error(fault) = end else { panic!("{end:?}") };
        assert_eq!(fault.to_string(), "2:2: Runtime is too much behind");
    }
}

#[test]
fn run_time_errors_name_their_place() {
    for (body, expected) in [
        ("x = [1,2]\n x[2] = 0", "3:2: index_out_of_range:2:2:"),
        ("x = [1,2][-1]", "2:11: index_out_of_range:-1:2:"),
        ("x = 1 - \"a\"", "2:8: type_error:-:String:"),
        ("x = 1 / 0", "2:8: domain_error:/:"),
        ("if [1]:\n end", "2:2: type_error:condition:List:"),
        ("textmsg(x)\n x = 1", "2:10: variable_not_assigned:"),
        ("get_digital_out(1)", "2:2: not_provided:get_digital_out:"),
        ("get_flag(1)", "2:2: flag is stuck"),
        ("def f():\n  f()\n end\n f()", "3:3: limit:frames:"),
        ("x = [1]\n while True:\n  x = [x]\n end", "4:7: limit:list:"),
        ("x = [1]\n while True:\n  x[0] = x\n end", "4:3: limit:list:"),
        ("thread t():\n  while True:\n   sync()\n  end\n end\n while True:\n  run t()\n end", "8:3: limit:threads:"),
        ("x = p[\"a\",0,0,0,0,0]", "2:6: type_error:p[]:a value that is no number:"),
    ] {
        let (_, end) = run(&format!("def a():\n {body}\nend\n"));
        let Step::Error(fault) = end else { panic!("{body}: {end:?}") };
        assert_eq!(fault.to_string(), expected, "{body}");
    }
}

#[test]
fn a_program_that_ended_stays_ended() {
    let mut machine = Machine::new(Program::compile("set_flag(1,True)\n", &Builtins::of(Version::new(5, 15))).unwrap());
    let mut host = Recorder::default();
    assert_eq!(machine.step(&mut host, BUDGET), Step::Done);
    assert_eq!(machine.step(&mut host, BUDGET), Step::Done);
    assert_eq!(host.calls.len(), 1);
}

#[test]
fn programs_know_their_kind_and_name() {
    let compile = |source| Program::compile(source, &Builtins::of(Version::new(5, 15))).unwrap();
    let kind = |source| {
        let program = compile(source);
        (program.kind(), program.name().map(String::from))
    };
    assert_eq!(kind("\n# note\ndef a():\nend\n"), (ProgramKind::Primary, Some("a".into())));
    assert_eq!(kind("sec b():\nend\n"), (ProgramKind::Secondary, Some("b".into())));
    assert_eq!(kind("halt\n"), (ProgramKind::Line, None));
}
