//! JSON with a part that would be read another way than it was meant.

use super::*;

const POINTS: &str =
    r#""points": [{"positions": [0, 0], "time_from_start": 0}, {"positions": [1, 0.5], "time_from_start": 5}]"#;

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
