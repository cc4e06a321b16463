//! Tables with a part that would be read another way than it was meant.

use super::*;

#[test]
fn a_message_quotes_little_of_a_file_and_no_control_characters() {
    let long = "x".repeat(50_000);
    let steering = "\u{1b}[2J";
    for said in [
        told(table(&format!("0,0,0\n1,{long},0\n"))),
        told(table(&format!("t,{long},q1\n"))),
        told(table(&format!("0,0,0\n1,{steering},0\n"))),
        told(table(&format!("t,{steering},q1\n"))),
        told(table("1e308,0,0\n")),
        told(table(&format!("{}\n", ",".repeat(1 << 20)))),
        told(json(r#"{"goal_time_tolerance": 1e308, "points": []}"#)),
        told(json(&format!("{{\"{long}\": 1}}"))),
        told(json(r#"{"\u001b[2J": 1}"#)),
        told(json(&format!(r#"{{"points": [], "joint_names": ["{long}", "a_1"]}}"#))),
        told(json(r#"{"points": [], "joint_names": ["\u001b[2J", "a_1"]}"#)),
    ] {
        assert!(said.len() < 600 && !said.contains(char::is_control), "{} bytes: {:?}", said.len(), said.get(..200));
    }
}

#[test]
fn a_message_shows_the_characters_of_a_file_that_nobody_sees() {
    for hidden in [
        '\u{feff}', '\u{200b}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{ad}', '\u{a0}',
        '\u{3164}',
    ] {
        let escaped = hidden.escape_unicode().to_string();
        for said in [
            told(table(&format!("0,0,0\n1,0{hidden}0,0\n"))),
            told(table(&format!("t,q{hidden}0,q1\n0,0,0\n"))),
            told(json(&format!(r#"{{"{hidden}points": []}}"#))),
        ] {
            assert!(!said.contains(hidden) && said.contains(&escaped), "{escaped}: {said}");
        }
    }
    // Letters of any language and quotation marks are visible.
    assert!(told(table("0,0,0\n1,\"ä\\é中',0\n")).contains("found '\"ä\\é中'', expected a number"));
}
