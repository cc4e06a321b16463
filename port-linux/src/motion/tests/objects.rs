//! Tests JSON with a part that could be read with another meaning than intended.

use super::*;

const POINTS: &str =
    r#""points": [{"positions": [0, 0], "time_from_start": 0}, {"positions": [1, 0.5], "time_from_start": 5}]"#;

fn motion() -> Motion<2> {
    json(&format!("{{{POINTS}}}")).expect("a motion")
}

#[test]
fn tolerances_in_two_objects_are_refused() {
    let list = |angle: &str| format!(r#"[{{"name": "a_0", "position": {angle}}}, {{"name": "a_1"}}]"#);
    for (name, outer, inner) in [
        ("path_tolerance", list("0.1"), list("0.2")),
        ("goal_tolerance", list("0.1"), list("0.1")),
        ("goal_time_tolerance", "1".into(), "0".into()),
    ] {
        let said =
            told(json(&format!(r#"{{"goal": {{"trajectory": {{{POINTS}, "{name}": {inner}}}, "{name}": {outer}}}}}"#)));
        let expected = format!("found '{name}' in two objects, one inside the other, expected it in one: remove one");
        assert_eq!(said, expected);
    }
    let empty = format!(
        r#"{{"goal": {{"trajectory": {{{POINTS}}}, "path_tolerance": {}}}, "path_tolerance": []}}"#,
        list("0.3")
    );
    assert_eq!(json(&empty).expect("a motion").tolerances().path.0, [0.3, 0.2], "an empty list is none");
}

#[test]
fn the_joints_of_two_arms_are_refused() {
    let named = |names: &str| json(&format!(r#"{{"joint_names": {names}, {POINTS}}}"#));
    let remedy = ": put each arm into its own file, and use one naming scheme";
    let mixed = told(named(r#"["left_0", "right_1"]"#));
    assert_eq!(
        mixed,
        format!("joint_names[1]: found 'right_1' together with 'left_0', expected the joints of one arm{remedy}")
    );
    let six = |first: &str| {
        let names = ["shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];
        let names: Vec<String> = names.iter().map(|name| format!("\"right_{name}\"")).collect();
        let names = names.join(", ");
        let text = format!(
            r#"{{"joint_names": ["{first}", {names}], "points": [{{"positions": [0, 1, 2, 3, 4, 5], "time_from_start": 1}}]}}"#
        );
        Motion::<6>::parse(text.as_bytes(), true)
    };
    assert!(six("right_shoulder_pan_joint").is_ok());
    for first in ["left_shoulder_pan_joint", "shoulder_pan_joint"] {
        let said = six(first).expect_err("no motion");
        let expected = format!(
            "joint_names[1]: found 'right_shoulder_lift_joint' together with '{first}', expected the joints of one arm"
        );
        assert!(said.starts_with(&expected), "{said}");
    }
    // The tolerances must be those of the same arm.
    let tolerance = |names: &str, of: [&str; 2]| {
        let [one, other] = of;
        json(&format!(
            r#"{{"trajectory": {{"joint_names": {names}, {POINTS}}}, "goal_tolerance": [{{"name": "{one}"}}, {{"name": "{other}"}}]}}"#
        ))
    };
    assert!(tolerance(r#"["left_0", "left_1"]"#, ["left_1", "left_0"]).is_ok());
    let other = told(tolerance(r#"["left_0", "left_1"]"#, ["right_1", "right_0"]));
    assert_eq!(
        other,
        format!("joint_names[0]: found 'left_0' together with 'right_1', expected the joints of one arm{remedy}")
    );
    let base = told(tolerance(r#"["a_1", "a_2"]"#, ["a_0", "a_1"]));
    assert_eq!(
        base,
        format!("joint_names[0]: found 'a_1' together with 'a_0', expected joints numbered alike{remedy}")
    );
}

#[test]
fn joints_are_numbered_from_zero_or_from_one_as_in_a_table() {
    let named = |names: &str| json(&format!(r#"{{"joint_names": {names}, {POINTS}}}"#));
    assert_eq!(named(r#"["joint_1", "joint_2"]"#).as_ref(), Ok(&motion()));
    assert_eq!(named(r#"["joint_0", "joint_1"]"#).as_ref(), Ok(&motion()));
    assert_eq!(named(r#"["joint_2", "joint_1"]"#).expect("a motion").goal().0, [0.5, 1.0]);
    let hole = told(named(r#"["joint_2", "joint_3"]"#));
    let expected = "joint_names[1]: found 'joint_3', expected a name that ends in its number, from 0 or from 1, or no names at all";
    assert_eq!(hole, expected);
    assert!(told(named(r#"["joint_0", "joint_2"]"#)).starts_with("joint_names[1]: found 'joint_2', expected"));
    let point = r#""points": [{"positions": [0, 1, 2, 3, 4, 5], "time_from_start": 1}]"#;
    let six = |last: &str| {
        let names = r#""joint_1", "joint_2", "joint_3", "joint_4", "joint_5""#;
        Motion::<6>::parse(format!(r#"{{"joint_names": [{names}, "{last}"], {point}}}"#).as_bytes(), true)
    };
    assert_eq!(six("joint_6").expect("a motion").goal().0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let mixed = six("wrist_3_joint").expect_err("no motion");
    assert!(mixed.starts_with("joint_names[0]: found 'joint_1', expected one of shoulder_pan_joint"), "{mixed}");
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
        // A detailed response of a planner.
        format!(r#"{{{good}, "trajectory": [{robot}], "description": ["plan"], "processing_time": [0.1]}}"#),
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
            "found both 'planned_trajectory' and 'executed_trajectory', expected one of them",
        ),
        (
            format!(r#"{{"solution": {robot}, "planned_trajectory": {none}}}"#),
            "found both 'solution' and 'planned_trajectory', expected one of them",
        ),
        // A trajectory that was executed may be a level further inside.
        (
            format!(r#"{{{good}, "planned_trajectory": {robot}, "executed_trajectory": {{"trajectory": {robot}}}}}"#),
            "found both 'planned_trajectory' and 'executed_trajectory', expected one of them",
        ),
        (
            format!(
                r#"{{"planned_trajectory": {robot}, "executed_trajectory": {{"goal": {{"error_code": {{"val": -4}}}}}}}}"#
            ),
            "found both 'planned_trajectory' and 'executed_trajectory', expected one of them",
        ),
        (
            format!(r#"{{"planned_trajectory": {robot}, "executed_trajectory": {{"error_code": {{"val": -4}}}}}}"#),
            "found both 'planned_trajectory' and 'executed_trajectory', expected one of them",
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
    assert!(points.ends_with("of more than 2000000 entries, expected at most that: split the motion"), "{points}");
}

#[test]
fn an_error_of_json_has_a_place_and_no_words_of_a_programmer() {
    for (text, expected) in [
        (
            r#"{"points": [{"positions": [0, NaN]}]}"#,
            "line 1, column 31: found text that is not a value, expected a number, ",
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
        (
            r#"{"pionts": []}"#,
            "line 1, column 9: found the unknown field 'pionts', expected 'points', or one of goal, motion_plan_response, solution, \
             planned_trajectory, executed_trajectory, trajectory, joint_trajectory; correct its name, or remove it",
        ),
        (r#"{"error_code": {}}"#, "line 1, column 17: found an object without the field 'val', expected one with it"),
        (
            "{\"points\": []}\n{}",
            "line 2, column 1: found text after the end of the object, expected none; remove \
                                  it",
        ),
        ("{points: []}", "line 1, column 2: found another character, expected the name of a field in double quotation"),
    ] {
        let said = told(json(text));
        assert!(said.starts_with(expected), "{said}\n{text}");
    }
}
