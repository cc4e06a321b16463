//! Tests tables with a part that could be read with another meaning than intended.

use super::*;

/// Checks that the reader rejects a table of a motion with an error that begins with `begin` and ends with `end`.
fn rejected(text: &str, begin: &str, end: &str) {
    let said = told(table(text));
    assert!(said.starts_with(begin) && said.ends_with(end), "{text:?}: {said}");
}

#[test]
fn a_unit_that_is_not_converted_is_refused_in_a_comment_and_in_a_name() {
    for (comment, unit) in [
        ("# times in ms", "ms"),
        ("# Positions [mrad]", "mrad"),
        ("# Zeit in Millisekunden", "millisekunden"),
        ("# period: µs", "µs"),
        ("# milli-radians", "milli-radians"),
        ("# times in milli seconds", "milli seconds"),
        ("# angles in mdeg", "mdeg"),
        ("# angles: arcmin", "arcmin"),
        ("# angles in gon", "gon"),
        ("# in revolutions", "revolutions"),
        ("# angles [turns]", "turns"),
        ("# times in hours", "hours"),
        ("# time [min]", "min"),
        ("# time (min)", "min"),
        ("# 3 joints, in us", "us"),
        ("# time_ns", "ns"),
        ("# speeds in rad/us", "us"),
        ("# speed in RPM", "rpm"),
    ] {
        let begin = format!("found a comment that mentions {unit}, expected times in s, and angles in rad or degrees");
        rejected(&format!("{comment}\n0,0,0\n1,1,1\n"), &format!("line 1, column 1: {begin}"), "remove the comment");
        rejected(&format!("0,0,0\n1,1,1\n{comment}\n"), &format!("line 3, column 1: {begin}"), "remove the comment");
    }
    let remedy = "; times are read in s, angles in rad, or in degrees with the suffix _deg: convert the numbers";
    let named = "line 1, column 1: found column 't_ms', expected 't', 'time' or 'timestamp'";
    rejected("t_ms,q0,q1\n0,0,0\n1,1,1\n", named, remedy);
    let named = "line 1, column 2: found column 'q0_mrad', expected 'q0'";
    rejected("t,q0_mrad,q1_mrad\n0,0,0\n1,1,1\n", named, remedy);
    assert!(table("# seconds and rad, from the atoms of a museum\n0,0,0\n1,1,1\n").is_ok());
}

#[test]
fn an_ordinary_comment_is_a_remark() {
    for remark in [
        "recorded by us",
        "made in the US",
        "made in US",
        "tool offset 12 mm",
        "took 5 minutes",
        "sampled every 8 ms",
        "period: 8000 µs",
        "a time step of 8ms",
        "an 8-ms cycle",
        "robot A1, cell 3",
        "DIN A4 fixture",
        "E2 welding",
        "Q2 2026 campaign",
        "angles in rad, not degrees",
        "in rad, not in degrees",
        "rad instead of degrees",
        "6 degrees of freedom",
        "all degrees of freedom",
        "policy grad norm",
        "up to 5º",
        "min speed",
        "the tool turns",
    ] {
        let found = table(&format!("# {remark}\n0,0,0\n1,1,1\n"));
        assert!(found.is_ok(), "{remark}: {found:?}");
    }
    for remark in [
        "angles in degrees, not rad",
        "[grad]",
        "q (grad)",
        "in grad",
        "Winkel: Grad",
        "q in °",
        "q0_deg",
        "degrees, rad/s",
    ] {
        let begin = "line 1, column 1: found a comment that mentions degrees";
        rejected(&format!("# {remark}\n0,0,0\n1,1,1\n"), begin, "remove the comment");
    }
    for joints in ["q1 q0", "J1 to J6 are all", "q0_rad and q1_rad"] {
        rejected(&format!("# {joints}\n0,0,0\n1,1,1\n"), "line 1, column ", "remove the comment");
    }
}

#[test]
fn a_header_of_a_time_in_another_unit_is_not_to_be_left_out() {
    for name in ["timeMs", "t_s", "time [s]", "tick"] {
        let begin = format!("line 1, column 1: found column '{}', expected 't'", name.to_lowercase());
        rejected(&format!("{name},q0,q1\n0,0,0\n1,1,1\n"), &begin, "and name the column t");
    }
}

#[test]
fn columns_of_two_sources_are_refused_beside_each_other() {
    for (names, column, found, expected) in [
        ("t actual_q_0 q1", 3, "q1", "'actual_q_1'"),
        ("t q0 target_q_1", 3, "target_q_1", "'q1'"),
        ("t actual_q_0 actual_q_1 qd0 qd1", 4, "qd0", "'actual_qd_0'"),
        ("t actual_q_0 actual_q_1 target_qd_0 target_qd_1", 4, "target_qd_0", "'actual_qd_0'"),
        (
            "t actual_q_0 actual_q_1 actual_qd_0 actual_qd_1 target_qdd_0 target_qdd_1",
            6,
            "target_qdd_0",
            "no further column with columns named actual_q_",
        ),
    ] {
        let begin = format!("line 1, column {column}: found column '{found}', expected {expected}; ");
        rejected(&format!("{names}\n"), &begin, "or leave out the header");
    }
    assert!(table("t,q_0,q_1,qd0,qd1\n0,0,0,0,0\n1,1,1,0,0\n").is_ok());
}

#[test]
fn an_index_of_pandas_is_named_as_what_it_is() {
    let begin =
        "line 1, column 1: found no name for the first column, expected 't', 'time' or 'timestamp': pandas writes";
    for text in [
        ",t,q0,q1\n0,0,0,0\n1,1,1,1\n",
        "\"\",\"t\",\"q0\",\"q1\"\n0,0,0,0\n",
        "Unnamed: 0,t,q0,q1\n0,0,0,0\n",
        ";t;q0;q1\n0;0;0;0\n",
        // Without names the index would be read as the time.
        ",0,1\n0,0,0\n1,1,1\n",
        ",0,1,2\n0,0,0,0\n1,1,1,1\n",
    ] {
        rejected(text, begin, "to_csv(index=False), or remove the column");
    }
}

#[test]
fn a_header_may_be_repeated_below_its_comment_and_a_spreadsheet_may_name_the_separator() {
    let expected = table("0,0,0\n1,0.5,1\n").expect("a motion");
    for text in [
        "# t,q0,q1\nt,q0,q1\n0,0,0\n1,0.5,1\n",
        "# t q0 q1\n\ntime;q1;q2\n0;0;0\n1;0,5;1\n",
        "sep=;\r\nt;q0;q1\r\n0;0;0\r\n1;0,5;1\r\n",
        "\u{feff}\"sep=,\"\n0,0,0\n1,0.5,1\n",
        "SEP=\t\n0\t0\t0\n1\t0,5\t1\n",
    ] {
        assert_eq!(table(text).as_ref(), Ok(&expected), "{text:?}");
    }
    let other = "line 2, column 1: found column names again, expected one header before the first row";
    rejected("# t,q0,q1\nt,q0_deg,q1_deg\n0,0,0\n", other, "row");
    rejected("# t,q0,q1\nt,q1,q0\n0,0,0\n", "line 2, column 1: found 't', expected a number", "number");
    rejected("sep=|\n0|0|0\n", "line 1, column 5: found the separator '|', expected ; or , or a tab", "");
    rejected("sep=;\n0,0,0\n", "line 2, column 1: found 1 columns, expected 3", "");
    rejected("0,0,0\nsep=;\n", "line 2, column 2: found 1 numbers, expected 3", "");
}

#[test]
fn commas_that_may_be_decimal_marks_are_refused() {
    // Three numbers with two decimal commas, or five without any.
    for text in [
        "0,0,5,1,2\n1,1,5,1,3\n",
        "0,0,0,0,0\n1,0,0,0,0\n",
        "# speeds too\n0,0,5,1,2\n",
        // Five numbers with two decimal commas, or seven.
        "0,0,5,1,-2,-3,0\n1,0,5,1,-2,-3,0\n",
        // 0 s and 1,5e-05 rad.
        "0,0,0,0,0e0\n1,1,5e-05,1,5e-5\n",
    ] {
        let begin = "found only whole numbers between commas, which may be decimal commas, expected decimal points";
        let said = told(table(text));
        assert!(said.contains(begin) && said.ends_with("or write a header above them"), "{text:?}: {said}");
    }
    for text in [
        // There is no ambiguity with names, a decimal point, a sign, an exponent before decimals, or the minimum
        // number of columns.
        "t,q0,q1,qd0,qd1\n0,0,0,0,0\n1,1,1,0,0\n",
        "0,0,0,0,0\n1,1.0,1,0,0\n",
        "0,0,0,0,0\n1e0,1e0,1e0,0,0\n",
        "0,0,0,0,0\n1,-1,-1,0,0\n2,-2,-1,0,0\n",
        "0,0,0\n1,1,1\n",
    ] {
        assert!(table(text).is_ok(), "{text:?}: {:?}", table(text));
    }
    let halves = "; for decimal commas, separate columns by semicolons or tabs";
    rejected("t,q0,q1\n0,0,0\n0,5,1,2\n", "line 3, column 4: found 4 numbers, expected 3 as in line 1", halves);
    let quoted = "line 2, column 4: found 5 numbers, expected 3 as in line 1";
    rejected("t,q0,q1\n0,\"0,5\",\"1,5\"\n", quoted, halves);
}

#[test]
fn a_time_that_does_not_rise_is_refused_before_the_lines_below_are_read() {
    let order = "line 2, column 1: waypoint 1 must be later than the one before";
    rejected("0,0.5,0\n0,0.5,0\n1,x,0\n", order, "before");
    rejected("0,0.5,0\n0.0000001,0.5,0\n1,x,0\n", order, "before");
    // If the commas are decimal marks, the first fields need not increase.
    let commas = "line 1, column 1: found only whole numbers between commas";
    rejected("0,0,5,1,2\n0,5,5,1,3\n", commas, "above them");
    let named = "line 3, column 1: waypoint 1 must be later";
    rejected("t,q0,q1,qd0,qd1\n0,0,5,1,2\n0,5,5,1,3\n", named, "before");
}

#[test]
fn a_table_has_as_many_rows_as_json_has_points() {
    let mut text: String = (0..=2_000_000).map(|row| format!("{:.3},0,0\n", f64::from(row) * 1e-3)).collect();
    let begin = "line 2000001, column 1: found more than 2000000 rows, expected at most that";
    rejected(&std::mem::take(&mut text), begin, "split the motion");
}

#[test]
fn a_line_of_units_and_a_separator_at_the_end_have_a_remedy() {
    let remove = "expected a number; remove the line of units";
    for text in ["t;q0;q1\n[s];[rad];[rad]\n0;0;0\n", "# t;q0;q1\n[s];[rad];[rad]\n0;0;0\n"] {
        rejected(text, "line 2, column 1: found '[s]'", remove);
    }
    let convert = "convert the numbers, and remove the line of units";
    rejected("t;q0;q1\n[ms];[rad];[rad]\n0;0;0\n", "line 2, column 1: found '[ms]', expected a number; ", convert);
    rejected("t;q0;q1\nms;rad;rad\n0;0;0\n", "line 2, column 1: found 'ms'", "expected a number");
    let separator = "; remove the separator at the end of the line";
    rejected("0;0;0;\n1;1;1;\n", "line 1, column 4: found 4 columns, expected 3", separator);
    rejected("t;q0;q1;\n0;0;0;\n", "line 1, column 4: found no name for the last column", separator);
    rejected("t,q0,q1\n0,0,0,\n", "line 2, column 4: found 4 numbers, expected 3 as in line 1", separator);
    let comment = "line 1, column 4: found no name for the last column; remove the separator";
    rejected("# t,q0,q1,\n0,0,0\n", comment, "or remove the comment");
}

#[test]
fn both_decimal_marks_in_one_table_are_refused() {
    for (text, place, found, expected) in [
        ("0;0;0\n1;1,5;2.5\n", "line 2, column 3", "2.5", "comma"),
        ("0;0.5;0\n1;1;2\n2;1,250;2\n", "line 3, column 2", "1,250", "point"),
        ("0\t0\t0,5\n1.0\t1\t2\n", "line 2, column 1", "1.0", "comma"),
    ] {
        let begin = format!("{place}: found '{found}', expected a decimal {expected} as in line ");
        rejected(text, &begin, "use one decimal mark in the whole table");
    }
}

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
