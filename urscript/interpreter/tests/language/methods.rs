//! Tests of methods of host objects: the values that have them, their arguments, and the first software.

use crate::support::BUDGET;
use outrigger_interpreter::{Builtins, Call, CallResult, Host, Machine, Program, Step, Value};
use outrigger_urscript::Version;

/// A host of URScript programs that returns numbered objects for calls of factories, and records all calls.
#[derive(Default)]
struct Objects {
    count: u32,
    read: i32,
    calls: Vec<String>,
}

fn message(data: i32) -> Value {
    let list = Value::List(vec![Value::Int(10), Value::Int(20)]);
    Value::Struct(vec![("data".into(), Value::Int(data)), ("list".into(), list)])
}

impl Host for Objects {
    fn call(&mut self, call: Call<'_>) -> CallResult {
        let args: Vec<String> = call.args.iter().map(|value| format!("{}:{value}", value.kind())).collect();
        self.calls.push(format!("{}({})", call.name, args.join(", ")));
        CallResult::Value(match call.name {
            "ros_publisher_factory" | "ros_subscriber_factory" => {
                self.count += 1;
                Value::Handle(self.count)
            }
            ".read" => {
                self.read += 1;
                message(self.read)
            }
            ".read_history" => Value::List(vec![message(1), message(2)]),
            ".wait" => Value::Bool(true),
            ".call" => Value::List(vec![Value::Int(0); 100_000]),
            _ => Value::None,
        })
    }
}

/// Runs a body of `def main():` and returns the calls that reached the host, without those of factories, and the
/// program's end.
fn called(body: &str) -> (Vec<String>, Step) {
    let source = format!("def main():\n{body}\nend\n");
    let builtins = Builtins::of(Version::new(10, 7));
    let program = Program::compile(&source, &builtins).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let mut host = Objects::default();
    let end = Machine::new(program).step(&mut host, BUDGET);
    host.calls.retain(|call| !call.starts_with("ros_"));
    (host.calls, end)
}

fn calls(body: &str) -> Vec<String> {
    let (calls, end) = called(body);
    assert_eq!(end, Step::Done, "{body}");
    calls
}

fn fault(body: &str) -> String {
    match called(body) {
        (_, Step::Error(fault)) => fault.to_string(),
        (calls, end) => panic!("{body}: {calls:?} {end:?}"),
    }
}

fn compile_error(version: Version, body: &str) -> String {
    let source = format!("def main():\n{body}\nend\n");
    Program::compile(&source, &Builtins::of(version)).map(|_| ()).expect_err(&source).to_string()
}

const P: &str = " p = ros_publisher_factory(\"/a\", \"T\")\n";
const S: &str = " s = ros_subscriber_factory(\"/a\", \"T\")\n";

#[test]
fn the_object_is_the_first_argument() {
    assert_eq!(
        calls(&format!("{P} p.write(struct(data=1))\n p.close()")),
        [".write(Handle:1, Struct:{data: 1})", ".close(Handle:1)"]
    );
    assert_eq!(calls(&format!("{P} p.write(message=7)")), [".write(Handle:1, Int:7)"]);
    // Two objects, and a copy of one.
    assert_eq!(calls(&format!("{P}{S} t = s\n t.close()\n p.close()")), [".close(Handle:2)", ".close(Handle:1)"]);
}

#[test]
fn a_method_is_called_on_whatever_has_the_object() {
    for (body, call) in [
        (" l = [0, s]\n l[1].close()", ".close(Handle:1)"),
        (" l = struct(inner=struct(end=s))\n l.inner.end.close()", ".close(Handle:1)"),
        (" def give():\n  return s\n end\n give().close()", ".close(Handle:1)"),
        (" ros_subscriber_factory(\"/b\", \"T\").close()", ".close(Handle:2)"),
        // The value need not have the method, nor be an object: the host decides.
        (" n = 5\n n.close()", ".close(Int:5)"),
    ] {
        assert_eq!(calls(&format!("{}{body}", S.replace(" s =", " global s ="))), [call], "{body}");
    }
}

#[test]
fn what_a_method_returns_is_a_value_with_members_and_elements() {
    for (expression, expected) in [
        ("s.read().data", "Int:1"),
        ("s.read().list[1] + 1", "Int:21"),
        ("s.read_history(2)[1].data * 2", "Int:4"),
        ("-s.read().data", "Int:-1"),
        ("s.wait(0.5) and s.read().data == 1", "Bool:True"),
        ("(s).read().data", "Int:1"),
        ("[s.read().data, s.read().data]", "List:[1, 2]"),
    ] {
        // The data of the first message that is read is 1.
        let calls = calls(&format!("{S} textmsg({expression})"));
        let said = calls.last().unwrap();
        assert_eq!(said, &format!("textmsg({expected}, String:)"), "{expression}");
    }
    assert_eq!(calls(&format!("{S} if s.wait(1):\n  s.read()\n end")), [".wait(Handle:1, Int:1)", ".read(Handle:1)"]);
}

#[test]
fn members_may_be_called_like_methods() {
    let body =
        " a = struct(read=3, write=[1, 2])\n a.read = a.read + 1\n a.write[1] = 5\n textmsg(a.read)\n textmsg(a)";
    assert_eq!(calls(body), ["textmsg(Int:4, String:)", "textmsg(Struct:{read: 4, write: [1, 5]}, String:)"]);
}

#[test]
fn an_object_is_no_number_and_no_condition() {
    assert!(fault(&format!("{S} a = s + 1")).ends_with("type_error:+:Handle:"), "{}", fault(&format!("{S} a = s + 1")));
    let condition = fault(&format!("{S} if s:\n  sync()\n end"));
    assert!(condition.contains("Handle"), "{condition}");
    assert_eq!(
        calls(&format!("{S}{P} t = s\n textmsg(s == t)\n textmsg(s == p)")),
        ["textmsg(Bool:True, String:)", "textmsg(Bool:False, String:)"]
    );
}

#[test]
fn what_a_host_was_told_by_others_is_bounded() {
    let fault = fault(&format!("{S} a = s.call(1)"));
    assert!(fault.contains("list"), "{fault}");
}

#[test]
fn arguments_of_factories_are_checked() {
    let version = Version::new(10, 7);
    for (body, expected) in [
        (
            " s = ros_publisher_factory(\"/a\", \"T\", msg_type=\"T\")",
            "2:39: compile_error_arguments:ros_publisher_factory:type given twice:",
        ),
        (
            " s = ros_publisher_factory(\"/a\", type=\"T\", msg_type=\"T\")",
            "2:44: compile_error_arguments:ros_publisher_factory:type given twice:",
        ),
        (" s = ros_publisher_factory(\"/a\")", "2:6: compile_error_arguments:ros_publisher_factory:missing type:"),
    ] {
        assert_eq!(compile_error(version, body), expected, "{body}");
    }
}

#[test]
fn a_method_that_no_object_has_ends_the_program_that_calls_it() {
    for (body, expected) in [
        (" s.nonsense()", "3:4: no_method:nonsense:Handle:"),
        (" s.read(1)", "3:4: no_method:read:Handle:"),
        (" s.write()", "3:4: no_method:write:Handle:"),
        (" s.write(1, 2)", "3:4: no_method:write:Handle:"),
        (" s.write(handle=1)", "3:4: no_method:write:Handle:"),
        (" s.write(1, message=1)", "3:4: no_method:write:Handle:"),
        (" x = [1]\n x.grip(1, force=2)", "4:4: no_method:grip:List:"),
        (" x = 2 * s.grip([1, 2], s.read())", "3:12: no_method:grip:Handle:"),
    ] {
        assert_eq!(fault(&format!("{S}{body}")), expected, "{body}");
    }
    // A method call that is not reached has no effect.
    assert_eq!(calls(" g = 0\n if g:\n  g.close(1)\n  x = g.is_open() == True and g.width() > 1\n end"), [""; 0]);
}

#[test]
fn methods_of_handles_that_are_not_simulated_compile_and_their_factory_is_named() {
    for (major, minor) in [(3, 0), (3, 15), (5, 0), (5, 15), (10, 6), (10, 12)] {
        for line in ["  c.set_title(\"x\")", "  if not c.is_ready():\n   sync()\n  end", "  x = 1 + c.read(2)[0]"] {
            let source =
                format!("def main():\n\n c = rpc_factory(\"xmlrpc\", \"http://127.0.0.1:9/RPC2\")\n{line}\nend\n");
            let program = Program::compile(&source, &Builtins::of(Version::new(major, minor)));
            let mut machine = Machine::new(program.unwrap_or_else(|error| panic!("{major}.{minor}: {error}")));
            let Step::Error(fault) = machine.step(&mut Objects::default(), BUDGET) else { panic!("{source}") };
            assert_eq!(fault.to_string(), "3:6: not_simulated:rpc_factory:", "{major}.{minor}");
        }
    }
}

#[test]
fn nesting_ends_in_an_error_not_in_the_stack() {
    let deep = 50_000;
    for body in [
        format!(" s = 1\n x = s{}", ".call(s".repeat(deep)),
        format!(" s = 1\n s{}", ".call(s".repeat(deep)),
        format!(" s = 1\n x = s{}", "[s.call(s".repeat(deep)),
    ] {
        let error = compile_error(Version::new(10, 7), &body);
        assert!(error.ends_with("compile_error_nested_too_deep:"), "{}", &error[..100.min(error.len())]);
    }
    // Methods of results are called one after the other, without recursion.
    assert_eq!(calls(&format!(" s = 1\n s{}", ".close()".repeat(1_000))).len(), 1_000);
}

#[test]
fn before_3_0_nothing_has_methods() {
    let version = Version::new(1, 8);
    for (body, expected) in [
        (" a = [1]\n a.read()", "3:8: compile_error_syntax:expected =, found (:"),
        (" a = [1]\n textmsg(a.read())", "3:16: compile_error_syntax:expected , or ), found (:"),
    ] {
        assert_eq!(compile_error(version, body), expected);
    }
    for (major, minor) in [(1, 8), (3, 15), (5, 25), (10, 6)] {
        let error = compile_error(Version::new(major, minor), " ros_publisher_factory(1, 2)");
        assert_eq!(error, "2:2: compile_error_name_not_found:ros_publisher_factory:", "{major}.{minor}");
    }
}
