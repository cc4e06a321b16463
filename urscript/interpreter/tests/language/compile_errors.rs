//! Tests of compile-time errors and their positions.

use outrigger_interpreter::{Builtins, Limits, Program};
use outrigger_urscript::Version;

fn error_on(version: Version, source: &str) -> String {
    Program::compile(source, &Builtins::of(version)).map(|_| ()).expect_err(source).to_string()
}

fn error(source: &str) -> String {
    error_on(Version::new(5, 15), source)
}

#[test]
fn unknown_names_are_reported_as_the_controller_reports_them() {
    assert_eq!(error("foo()\n"), "1:1: compile_error_name_not_found:foo:");
    assert_eq!(error("def a():\n x = 1\n  textmsg(y)\nend\n"), "3:11: compile_error_name_not_found:y:");
    assert_eq!(error("def a():\n nonsense\nend\n"), "2:2: compile_error_name_not_found:nonsense:");
    assert_eq!(error("def a():\n x[0] = 1\nend\n"), "2:2: compile_error_name_not_found:x:");
    assert_eq!(error("def a():\n run t()\nend\n"), "2:2: compile_error_name_not_found:t:");
    assert_eq!(
        error("def a():\n def f():\n  l = 1\n end\n textmsg(l)\nend\n"),
        "5:10: compile_error_name_not_found:l:"
    );
    assert_eq!(error("def a():\n a()\nend\n"), "2:2: compile_error_name_not_found:a:");
}

#[test]
fn functions_of_later_software_are_unknown_names() {
    let line = "set_standard_digital_out(0,True)\n";
    let expected = "1:1: compile_error_name_not_found:set_standard_digital_out:";
    assert_eq!(error_on(Version::new(1, 8), line), expected);
    assert!(Program::compile(line, &Builtins::of(Version::new(3, 0))).is_ok());
}

#[test]
fn outputs_are_assigned_on_software_that_knew_it_and_on_other_software_they_are_no_name() {
    let line = "digital_out[2]=True\n";
    let unknown = "1:1: compile_error_name_not_found:digital_out:";
    for (major, minor, known) in
        [(1, 5, true), (1, 8, true), (3, 0, true), (3, 15, true), (5, 0, false), (5, 15, false)]
    {
        let builtins = Builtins::of(Version::new(major, minor));
        for (builtins, known) in [(builtins.clone(), known), (builtins.with_assignable_outputs(!known), !known)] {
            let error = Program::compile(line, &builtins).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(error, if known { Ok(()) } else { Err(unknown.into()) }, "{major}.{minor}");
        }
    }
    let cb2 = Version::new(1, 8);
    for (line, expected) in [
        ("digital_out[2]\n", "1:15: compile_error_syntax:expected =, found end of line:"),
        ("digital_out[]=True\n", "1:13: compile_error_syntax:expected a value, found ]:"),
        ("digital_out[1,2]=True\n", "1:14: compile_error_syntax:expected ], found ,:"),
        ("x = digital_out[2]\n", "1:5: compile_error_name_not_found:digital_out:"),
    ] {
        assert_eq!(error_on(cb2, line), expected);
    }
}

#[test]
fn calls_must_fit_their_function() {
    for (source, expected) in [
        ("stopj()\n", "1:1: compile_error_arguments:stopj:missing a:"),
        ("stopj(1,2,3)\n", "1:9: compile_error_arguments:stopj:takes 1:"),
        ("stopj(b=1)\n", "1:7: compile_error_arguments:stopj:has no b:"),
        ("servoj([0], t=1, q=2)\n", "1:18: compile_error_arguments:servoj:q given twice:"),
        ("servoj([0], t=1, 2)\n", "1:18: compile_error_syntax:expected a named argument, found 2:"),
        ("def a():\n def f(x, y=1):\n end\n f()\nend\n", "4:2: compile_error_arguments:f:missing x:"),
        ("sleep 1\n", "1:1: compile_error_name_not_found:sleep:"),
    ] {
        assert_eq!(error(source), expected, "{source}");
    }
    let without_time = "speedj([0,0,0,0,0,0],1.4)\n";
    assert_eq!(error_on(Version::new(1, 8), without_time), "1:1: compile_error_arguments:speedj:missing t:");
    assert_eq!(error_on(Version::new(3, 0), without_time), "1:1: compile_error_arguments:speedj:missing t:");
    assert!(Program::compile(without_time, &Builtins::of(Version::new(3, 1))).is_ok());
    let with_gain = "servoj([0,0,0,0,0,0],0,0,0.008,0.1,300)\n";
    assert_eq!(error_on(Version::new(3, 0), with_gain), "1:32: compile_error_arguments:servoj:takes 4:");
}

#[test]
fn grammar_errors_say_what_was_expected() {
    for (source, expected) in [
        ("def a()\n halt\nend\n", "1:8: compile_error_syntax:expected :, found end of line:"),
        ("def a(x):\nend\n", "1:7: compile_error_syntax:expected ) of a program without parameters, found x:"),
        ("def a():\n halt\n", "3:1: compile_error_syntax:expected a statement, found end of program:"),
        (
            "def a():\nend\nhalt\n",
            "3:1: compile_error_syntax:expected nothing after the end of the program, found halt:",
        ),
        ("end\n", "1:1: compile_error_syntax:expected a statement, found end:"),
        ("x = \n", "2:1: compile_error_syntax:expected a value, found end of program:"),
        ("def a():\n x = # nothing\nend\n", "3:1: compile_error_syntax:expected a value, found end:"),
        ("x = (1\n", "2:1: compile_error_syntax:expected ), found end of program:"),
        ("x = [1 2]\n", "1:8: compile_error_syntax:expected , or ], found 2:"),
        ("x = [1][]\n", "1:9: compile_error_syntax:expected an index, found ]:"),
        ("x = p[1,2,3]\n", "1:5: compile_error_syntax:expected six numbers of a pose, found another number of them:"),
        ("break\n", "1:1: compile_error_syntax:expected a loop around it, found break:"),
        ("if True:\n sec s():\n end\nend\n", "2:2: compile_error_syntax:expected a statement, found sec:"),
        (
            "while True:\n def f():\n  break\n end\nend\n",
            "3:3: compile_error_syntax:expected a loop around it, found break:",
        ),
        ("x = 3000000000\n", "1:5: compile_error_number:3000000000:"),
        ("thread t(x):\nend\n", "1:10: compile_error_syntax:expected ) of a thread without parameters, found x:"),
        ("def a():\n def f(x, x):\n end\nend\n", "2:11: compile_error_name_already_defined:x:"),
        ("1\n", "1:1: compile_error_syntax:expected a statement, found 1:"),
        ("x = 1 x\n", "1:8: compile_error_syntax:expected =, [ or (, found end of line:"),
        ("set speed 2\n", "1:1: compile_error_name_not_found:set:"),
    ] {
        assert_eq!(error(source), expected, "{source}");
    }
}

#[test]
fn nesting_ends_in_an_error_not_in_the_stack() {
    let deep = 50_000;
    for source in [
        format!("x = {}1{}\n", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}{}\n", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}1\n", "-".repeat(deep)),
        format!("x = {}True\n", "not ".repeat(deep)),
        format!("x = {}1\n", "1 + (".repeat(deep)),
        format!("x = {}\n", "sin(".repeat(deep)),
        format!("x = 1\nx{}\n", "[x".repeat(deep)),
        "if True:\n".repeat(deep),
        "while True:\n".repeat(deep),
        format!("def a():\n{}", (0..deep).map(|number| format!("def f{number}():\n")).collect::<String>()),
    ] {
        assert!(error(&source).ends_with("compile_error_nested_too_deep:"), "{}", source.get(..40).unwrap());
    }
    let flat = format!("x = 1{}\n", " + 1 or 2".repeat(10_000));
    assert!(Program::compile(&flat, &Builtins::of(Version::new(5, 15))).is_ok());
}

#[test]
fn a_functions_parameters_are_bounded() {
    let names: Vec<String> = (0..65).map(|number| format!("p{number}")).collect();
    let source = format!("def a():\n def f({}):\n end\nend\n", names.join(","));
    assert_eq!(error(&source), "2:8: compile_error_too_many_parameters:");
}

#[test]
fn a_text_over_the_limit_is_not_read() {
    let limits = Limits { source: 10, ..Limits::default() };
    let builtins = Builtins::of(Version::new(5, 15));
    let refused = Program::compile_within("textmsg(1)\n", &builtins, limits).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "1:1: compile_error_too_long:");
}
