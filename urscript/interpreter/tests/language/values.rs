//! Tests of operators with lists, matrices, structs and whole numbers, and of the first software that accepts them.

use crate::support::{error_of, said};
use outrigger_interpreter::{Builtins, Machine, Program, Step};
use outrigger_urscript::Version;

/// Evaluates an expression and returns its value as `textmsg` prints it.
fn value(expression: &str) -> String {
    said(&format!("textmsg({expression})\n")).concat()
}

/// Returns the texts of the `textmsg` calls in a body of `def main():`.
fn says(body: &str) -> Vec<String> {
    said(&format!("def main():\n{body}\nend\n"))
}

#[test]
fn lists_and_matrices_are_calculated_with() {
    for (expression, expected) in [
        ("[1, 2, 3] + [10, 20, 30]", "[11, 22, 33]"),
        ("[1, 2] * [3, 4]", "[3, 8]"),
        ("[4, 9] / [2, 2]", "[2, 4.5]"),
        ("[7, 8.5] % [4, 4]", "[3, 0.5]"),
        ("[1, 2] * 2", "[2, 4]"),
        ("2 - [1, 2]", "[1, 0]"),
        ("[[1, 2], [3, 4]] + [[1, 1], [1, 1]]", "[[2, 3], [4, 5]]"),
        ("[[1, 2], [3, 4]] * 0.5", "[[0.5, 1], [1.5, 2]]"),
        ("[[1, 2], [3, 4]] * [[5, 6], [7, 8]]", "[[19, 22], [43, 50]]"),
        ("[[1, 2], [3, 4], [5, 6]] * [1, 10]", "[21, 43, 65]"),
        ("[[1], [2], [3]] * [[1, 10]]", "[[1, 10], [2, 20], [3, 30]]"),
        ("[[1, 2, 3]] * [[1], [2], [3]]", "[[14]]"),
        ("-1 * [[1.5]]", "[[-1.5]]"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn what_does_not_fit_together_is_an_error_with_both_sizes() {
    for (expression, expected) in [
        ("[1, 2] + [1, 2, 3]", "length_error:+:2:3:"),
        ("[[1, 2], [3, 4]] * [[1, 2, 3]]", "length_error:*:2:1:"),
        ("[[1, 2], [3, 4]] * [1, 2, 3]", "length_error:*:2:3:"),
        ("[1, \"a\"] + 1", "type_error:+:String:"),
        ("p[0,0,0,0,0,0] * [1]", "type_error:*:Pose:"),
        ("[2147483647] + 1", "integer_overflow:+:"),
        ("[1, 0] / 0", "domain_error:/:"),
    ] {
        let error = error_of(&format!("textmsg({expression})\n"));
        assert!(error.ends_with(expected), "{expression}: {error}");
    }
}

#[test]
fn before_3_14_and_5_9_there_is_no_arithmetic_of_lists_unless_that_is_chosen() {
    let ends_well = |version, choose: Option<bool>| {
        let builtins = Builtins::of(version);
        let builtins = choose.map_or(builtins.clone(), |arrays| builtins.with_arrays(arrays));
        let mut machine = Machine::new(Program::compile("a = [1] + [2]\n", &builtins).unwrap());
        matches!(machine.step(&mut crate::support::Recorder::default(), 1000), Step::Done)
    };
    let versions = [(1, 8), (3, 13), (3, 14), (5, 8), (5, 9), (10, 0)].map(|(major, minor)| Version::new(major, minor));
    assert_eq!(versions.map(|version| ends_well(version, None)), [false, false, true, false, true, true]);
    assert!(ends_well(Version::new(1, 8), Some(true)) && !ends_well(Version::new(5, 15), Some(false)));
}

#[test]
fn plus_joins_a_text_with_what_is_beside_it() {
    for (expression, expected) in [
        ("\"SET \" + \"POS\" + \" \" + to_str(7)", "SET POS 7"),
        ("\"n = \" + 1 + 2", "n = 12"),
        ("1 + 2 + \" parts\"", "3 parts"),
        ("[1, 2.5] + \"!\"", "[1, 2.5]!"),
        ("\"\" + p[1,2,3,4,5,6]", "p[1, 2, 3, 4, 5, 6]"),
        ("\"done: \" + True", "done: True"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
    assert_eq!(says(" s = \"a\"\n s = s + str_cat(\"b\", 3)\n textmsg(s)"), ["ab3"]);
    assert!(error_of("textmsg(\"a\" - \"b\")\n").ends_with("type_error:-:String:"));
    let long = format!("textmsg(\"{0}\" + \"{0}\")\n", "x".repeat(600));
    assert!(error_of(&long).ends_with("limit:text:"));
}

#[test]
fn texts_are_joined_from_5_0_on_unless_that_is_chosen() {
    let ends_well = |version, choose: Option<bool>| {
        let builtins = Builtins::of(version);
        let builtins = choose.map_or(builtins.clone(), |joins| builtins.with_joined_texts(joins));
        let mut machine = Machine::new(Program::compile("a = \"1\" + 2\n", &builtins).unwrap());
        matches!(machine.step(&mut crate::support::Recorder::default(), 1000), Step::Done)
    };
    let versions = [(1, 8), (3, 15), (5, 0), (10, 0)].map(|(major, minor)| Version::new(major, minor));
    assert_eq!(versions.map(|version| ends_well(version, None)), [false, false, true, true]);
    assert!(ends_well(Version::new(1, 8), Some(true)) && !ends_well(Version::new(5, 15), Some(false)));
}

#[test]
fn a_product_is_bounded_in_time_and_in_size() {
    let column = vec!["[1]"; 300].join(",");
    let row = vec!["1"; 300].join(",");
    let program = format!("def main():\n a = [{column}]\n b = [[{row}]]\n textmsg(a * b)\nend\n");
    assert!(error_of(&program).ends_with("limit:list:"), "90 000 elements");
    let program = format!(
        "def main():\n a = [{column}] * [[{}]]\n b = [[{row}]] * a\n a = a * b\nend\n",
        vec!["1"; 200].join(",")
    );
    assert!(error_of(&program).contains("length_error"), "300 x 200 times 1 x 200");
}

#[test]
fn elements_of_a_matrix_are_written_one_by_one() {
    assert_eq!(
        says(" m = [[1, 2], [3, 4]]\n c = m\n m[1, 0] = 9\n m[0][1] = 8\n textmsg(m)\n textmsg(c)"),
        ["[[1, 8], [9, 4]]", "[[1, 2], [3, 4]]"]
    );
}

#[test]
fn arguments_are_copies() {
    assert_eq!(
        says(" def change(a):\n  a[0] = 9\n  return a\n end\n b = [1, 2]\n c = change(b)\n textmsg(b)\n textmsg(c)"),
        ["[1, 2]", "[9, 2]"]
    );
}

#[test]
fn structs_have_members_by_name_and_by_place_and_copy() {
    assert_eq!(
        says(
            " s = struct(sec=1, list=[1, 2], inner=struct(end=0.5))\n t = s\n s.sec = 7\n s.list[1] = 5\n s.inner.end = 2\n \
             textmsg(s.sec + s.list[1])\n textmsg(s[0])\n textmsg(t.sec)\n textmsg(s.inner.end)\n textmsg(t)"
        ),
        ["12", "7", "1", "2", "{sec: 1, list: [1, 2], inner: {end: 0.5}}"]
    );
}

#[test]
fn a_member_that_is_not_there_and_one_of_another_type_are_errors() {
    for (statement, expected) in [
        ("textmsg(s.b)", "no_member:b:"),
        ("s.b = 1", "no_member:b:"),
        ("s.a = \"text\"", "type_error:member:String:"),
        ("textmsg(s[3])", "index_out_of_range:3:1:"),
        ("textmsg(s.a.b)", "type_error:[]:Int:"),
    ] {
        let error = error_of(&format!("def main():\n s = struct(a=1)\n {statement}\nend\n"));
        assert!(error.ends_with(expected), "{statement}: {error}");
    }
}

#[test]
fn structs_came_with_later_software() {
    let source = "a = struct(b=1)\n";
    let compiles = |builtins: &Builtins| Program::compile(source, builtins).is_ok();
    assert!(compiles(&Builtins::of(Version::new(5, 15))));
    let old = Builtins::of(Version::new(3, 15));
    assert!(!compiles(&old) && compiles(&old.with_structs(true)));
}

#[test]
fn a_variable_called_p_is_indexed_and_six_values_are_a_pose() {
    assert_eq!(
        says(
            " def scale(p, factor):\n  p[0] = p[0] * factor\n  p[5] = p[5] * factor\n  return p\n end\n \
             textmsg(scale(p[1,2,3,4,5,6], 2))\n p = [4, 5]\n textmsg(p[1])"
        ),
        ["p[2, 2, 3, 4, 5, 12]", "5"]
    );
}

#[test]
fn a_function_that_is_known_and_not_simulated_ends_the_program_with_its_name() {
    let error = error_of("def main():\n textmsg(1)\n c = rpc_factory(\"xmlrpc\", \"http://127.0.0.1\")\nend\n");
    assert_eq!(error, "3:6: not_simulated:rpc_factory:");
}
