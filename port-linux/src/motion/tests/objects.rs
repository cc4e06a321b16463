//! JSON with a part that would be read another way than it was meant.

use super::*;

const POINTS: &str =
    r#""points": [{"positions": [0, 0], "time_from_start": 0}, {"positions": [1, 0.5], "time_from_start": 5}]"#;

fn motion() -> Motion<2> {
    json(&format!("{{{POINTS}}}")).expect("a motion")
}

#[test]
fn results_of_moveit_are_read_where_they_have_one_whole_trajectory() {
    let robot = format!(r#"{{"joint_trajectory": {{{POINTS}}}, "multi_dof_joint_trajectory": {{"points": []}}}}"#);
    let none = r#"{"joint_trajectory": {"joint_names": [], "points": []}}"#;
    let good = r#""error_code": {"val": 1}"#;
    for text in [
        format!(r#"{{"start_state": {{}}, "solution": {robot}, "fraction": 1.0, {good}}}"#),
        format!(r#"{{{good}, "trajectory_start": {{}}, "planned_trajectory": {robot}, "planning_time": 0.1}}"#),
        format!(r#"{{{good}, "planned_trajectory": {robot}, "executed_trajectory": {none}}}"#),
    ] {
        assert_eq!(json(&text).as_ref(), Ok(&motion()), "{text}");
    }
    for (text, expected) in [
        (
            format!(r#"{{"solution": {robot}, "fraction": 0.6, {good}}}"#),
            "found fraction 0.6, expected 1: the planner found only a part of the path; plan again",
        ),
        (
            format!(r#"{{"solution": {robot}, "error_code": {{"val": -4}}}}"#),
            "found error_code -4, expected 1: the planner did not succeed",
        ),
        (
            format!(r#"{{{good}, "planned_trajectory": {robot}, "executed_trajectory": {robot}}}"#),
            "found 'planned_trajectory' and 'executed_trajectory' beside each other, expected one of them",
        ),
        (
            format!(r#"{{"solution": {robot}, "planned_trajectory": {none}}}"#),
            "found 'solution' and 'planned_trajectory' beside each other, expected one of them",
        ),
    ] {
        assert_eq!(told(json(&text)), expected, "{text}");
    }
}

#[test]
fn a_list_has_a_bound_where_it_is_read() {
    let many = |entry: &str, count: usize| vec![entry; count].join(",");
    let names = told(json(&format!(r#"{{{POINTS}, "joint_names": [{}]}}"#, many("\"\"", 100_000))));
    assert!(
        names.ends_with(": found a list of more than 64 entries, expected at most that: no arm has so many joints"),
        "{names}"
    );
    let positions = told(json(&format!(r#"{{"points": [{{"positions": [{}]}}]}}"#, many("0", 100_000))));
    assert!(positions.starts_with("line 1, column ") && positions.contains("more than 64 entries"), "{positions}");
    let points = told(json(&format!(r#"{{"points": [{}]}}"#, many("{}", 2_000_001))));
    assert!(points.ends_with("of more than 2000000 entries, expected at most that: cut the motion in two"), "{points}");
}

#[test]
fn an_error_of_json_has_a_place_and_no_words_of_a_programmer() {
    for (text, expected) in [
        (
            r#"{"points": [{"positions": [0, NaN]}]}"#,
            "line 1, column 31: found text that is no value, expected a number, ",
        ),
        (
            r#"{"points": [{"positions": [0, 0,]}]}"#,
            "line 1, column 33: found a comma before a closing bracket, expected none",
        ),
        (r#"{"points": [{"positions": [0 0]}]}"#, "line 1, column 30: found another character, expected `,` or `]`"),
        (
            r#"{"points": [{"positions": "0"}]}"#,
            "line 1, column 29: found the text \"0\", expected a list; write it in [ ]",
        ),
        (r#"{"points": [{"positions": [null, 0]}]}"#, "line 1, column 31: found null, expected a number; correct it"),
        (
            r#"{"joint_names": [1, 2]}"#,
            "line 1, column 18: found 1, expected a text; write it in double quotation marks",
        ),
        (r#"{"error_code": {}}"#, "line 1, column 17: found an object without the field 'val', expected one with it"),
        ("{\"points\": []}\n{}", "line 2, column 1: found text behind the end of the object, expected none; remove it"),
        ("{points: []}", "line 1, column 2: found another character, expected the name of a field in double quotation"),
    ] {
        let said = told(json(text));
        assert!(said.starts_with(expected), "{said}\n{text}");
    }
}
