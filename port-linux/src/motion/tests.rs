use super::*;
use outrigger_core::law::Quantity;
use outrigger_wire::robot::JointVelocities;
use proptest::strategy::Strategy as _;

mod objects;
mod tables;

fn table(text: &str) -> Result<Motion<2>, String> {
    Motion::parse(text.as_bytes(), false)
}

fn json(text: &str) -> Result<Motion<2>, String> {
    Motion::parse(text.as_bytes(), true)
}

fn told(result: Result<Motion<2>, String>) -> String {
    result.expect_err("no motion")
}

#[test]
fn a_table_has_its_columns_by_count_and_names_are_checked() {
    let bare = table("0,0,0\n1,1,0.5\n2.5,0,0\n").expect("a motion");
    let named = table("# to and fro\nt,q0,q1\n\n0,0,0\r\n1, 1, 0.5\n2.5,0,0\n").expect("the same");
    assert_eq!(bare, named);
    assert_eq!((bare.waypoints().len(), bare.duration()), (3, StdDuration::from_millis(2_500)));
    let full = table("0,0,0,0,0,0,0\n1,1,1,0.5,0.5,0.1,-0.1\n2,2,2,0,0,0,0\n").expect("a motion");
    let middle = full.waypoints()[1];
    assert_eq!(middle.setpoint.velocities, JointVelocities([0.5; 2]));
    assert_eq!(middle.accelerations.map(|a| a.0), Some([0.1, -0.1]));
    let swapped = told(table("t,q1,q0\n0,0,0\n"));
    assert!(swapped.starts_with("line 1, column 3: found column 'q0', expected 'q2'; "), "{swapped}");
}

#[test]
fn speeds_that_are_not_given_are_those_of_a_smooth_motion() {
    let motion = table("0,0,0\n1,1,1\n3,2,0\n4,2,0\n").expect("a motion");
    let speeds: Vec<[f32; 2]> = motion.waypoints().iter().map(|way| way.setpoint.velocities.0).collect();
    // Slopes of 1 for a second and ½ for two seconds; the other joint turns back.
    assert!((speeds[1][0] - 5.0 / 6.0).abs() < 1e-6, "{speeds:?}");
    assert_eq!([speeds[0], speeds[3]], [[0.0; 2]; 2]);
    assert_eq!([speeds[1][1], speeds[2][0], speeds[2][1]], [0.0; 3]);
}

#[test]
fn a_table_that_is_none_is_refused_with_its_line_and_column() {
    for (text, expected) in [
        ("", "found no waypoint, expected lines of t,q0,…"),
        ("# nothing\n", "found no waypoint, expected lines of t,q0,…"),
        (
            "0,0\n",
            "line 1, column 2: found 2 columns, expected 3 (t and 2 angles), 5 (and 2 speeds) or 7 (and 2 accelerations)",
        ),
        ("0,0,0\n1,0\n", "line 2, column 3: found 2 numbers, expected 3 as in line 1"),
        ("0,0,0\n1,x,0\n", "line 2, column 2: found 'x', expected a number"),
        ("t,q0,q1\ns,rad,rad\n0,0,0\n", "line 2, column 1: found 's', expected a number; remove the line of units"),
        ("0,0,0\n1,\"0\",0\n", "line 2, column 2: found '\"0\"', expected a number without quotation marks"),
        ("0,0,0\n1,NaN,0\n", "line 2, column 2: found NaN, expected a finite number"),
        ("0,0,0\n1,1e39,0\n", "line 2, column 2: found 1e39, expected a number from -1e6 to 1e6"),
        ("0,0,0\n1,-2e6,0\n", "line 2, column 2: found -2e6, expected a number from -1e6 to 1e6"),
        ("0,nan,0\n", "line 1, column 2: found NaN, expected a finite number"),
        (
            "inf,0,0\n",
            "line 1, column 1: found time inf s, expected 0 to 86400 s; if these are clock times, subtract the first from all \
          (`outrigger move --from-first-time` does)",
        ),
        ("0,0,0\r1,1,1\r", "line 1, column 6: found a carriage return alone, expected lines that end in LF or CR LF"),
        // A comma after a tab is a separator, and does not start a number.
        (
            "0\t0\t,8\n",
            "line 1, column 2: found 2 columns, expected 3 (t and 2 angles), 5 (and 2 speeds) or 7 (and 2 accelerations)",
        ),
        ("0\t0\t0\n1\t0\t,8\n", "line 2, column 3: found ',8', expected a number"),
        // Accelerations after empty speeds are not taken for speeds.
        ("0\t0\t0\t\t\t0\t0\n", "line 1, column 4: found '', expected a number"),
        ("0;0;0\n1;0;8,\n", "line 2, column 3: found '8,', expected a number"),
        ("0,0,0\n-1,0,0\n", "line 2, column 1: found time -1 s, expected 0 to 86400 s"),
        ("0,0,0\n\n2,0,0\n1,1,1\n", "line 4, column 1: waypoint 2 must be later than the one before"),
        ("0,0,0\n1,0,0\n1,0,0\n", "line 3, column 1: waypoint 2 must be later than the one before"),
        ("0,0,0\n1,0,0,0.1,0\n", "line 2, column 4: found 5 numbers, expected 3 as in line 1"),
        (
            "0,0,0,0,0\n1,0,0,0.1,0\n",
            "line 2, column 4: waypoint 1 is an end of the motion, where joint 1 must be slower than 0.001 rad/s",
        ),
        (
            "0,0,0,0,-0.1\n1,0,0,0,0\n",
            "line 1, column 5: waypoint 0 is an end of the motion, where joint 2 must be slower than 0.001 rad/s",
        ),
        (
            "0,0,0\n1,0.5,0.",
            "line 2, column 9: found no newline at the end, expected one: is the file complete? If it is, add a \
             newline",
        ),
        ("{\"points\": []}\n", "line 1, column 1: found JSON, expected a table: rename the file to .json"),
        ("0;0;0\n0,5;1;0,0,1\n", "line 2, column 3: found '0,0,1', expected a number"),
        (
            "0,0,0\n1,0 0,0\n",
            "line 2, column 2: found '0 0', expected a number; separate all columns by commas, or all by semicolons or blanks",
        ),
    ] {
        assert_eq!(told(table(text)), expected, "{text:?}");
    }
    assert_eq!(
        told(Motion::parse(b"0,0,0\n1,\xff,0\n", false)),
        "line 2, column 3: found bytes that are not text, expected numbers"
    );
    let utf_16 = told(Motion::parse(b"\xff\xfe0\0,\0", false));
    assert!(utf_16.starts_with("line 1, column 1: found UTF-16, expected UTF-8"), "{utf_16}");
}

#[test]
fn tables_of_other_programs_are_the_same_motion() {
    let expected = table("0,0,0\n1,1,0.5\n2.5,0,0\n").expect("a motion");
    for text in [
        // A table of a spreadsheet, of a spreadsheet in another country, and as text with tabs.
        "\u{feff}t,q0,q1\r\n0,0,0\r\n1,1,0.5\r\n2.5,0,0\r\n",
        "t;q0;q1\r\n0;0;0\r\n1;1;0,5\r\n2,5;0;0\r\n",
        "0;0;0\n1;1;0.5\n2.5;0;0\n",
        "0\t0\t0\n1\t1\t0,5\n2,5\t0\t0\n",
        "0,0\t0,0\t0,0\n1,0\t1,0\t0,5\n2,5\t0,0\t0,0\n",
        "0,0 0,0 0,0\n1,0 1,0 0,5\n2,5 0,0 0,0\n",
        // Tables of UR's recorder with the controller's clock, of MATLAB and of NumPy.
        "timestamp actual_q_0 actual_q_1\n9010.25 0 0\n9011.25 1 0.5\n9012.75 0 0\n",
        "time,q1,q2\n0,0,0\n1,1,0.5\n2.5,0,0\n",
        "# t q0 q1\n0.0e+00 0.0e+00 0.0e+00\n1.0e+00 1.0e+00 5.0e-01\n2.5e+00 0.0e+00 0.0e+00\n",
        "# a remark, with commas\n  0   0   0\n  1   1   0.5\n  2.5 0   0\n",
    ] {
        assert_eq!(table(text).as_ref(), Ok(&expected), "{text}");
    }
    let degrees = "t,q0_deg,q1_deg,qd0_deg,qd1_deg\n0,0,0,0,0\n1,180,-90,90,0\n2,0,0,0,0\n";
    let named = table(degrees).expect("a motion").waypoints()[1].setpoint;
    let half = std::f32::consts::FRAC_PI_2;
    assert_eq!((named.positions.0, named.velocities.0), ([2.0 * half, -half], [half, 0.0]));
    // The header is also accepted after a `#`, where other remarks are skipped.
    assert_eq!(table(&format!("# {degrees}")).expect("a motion").waypoints()[1].setpoint, named);
    let asked = Reading { degrees: true, ..Reading::default() };
    let by_option = Motion::<2>::parse_as(degrees.replace("_deg", "").as_bytes(), false, asked).expect("a motion");
    assert_eq!(by_option.waypoints()[1].setpoint, named);
    let both = Motion::<2>::parse_as(degrees.as_bytes(), false, asked).expect("a motion");
    assert_eq!(both.waypoints()[1].setpoint, named, "once is enough");
    let point = r#"{"points": [{"positions": [180, -90], "velocities": [0, 0], "time_from_start": 2}]}"#;
    let json = Motion::<2>::parse_as(point.as_bytes(), true, asked).expect("a motion");
    assert_eq!(json.goal().0, named.positions.0);
}

#[test]
fn the_times_of_a_clock_are_questioned_and_begin_with_the_first_where_that_is_asked_for() {
    let clock = "9010.081,0,0\n9011.081,1,1\n9013.081,0,0\n";
    let said = told(table(clock));
    assert!(
        said.starts_with("line 1, column 1: the first waypoint is due at 9010.081 s, and the arm would take that long"),
        "{said}"
    );
    assert!(said.contains("--from-first-time") && said.contains("add a waypoint at 0 s"), "{said}");
    let epoch = told(table(&clock.replace("901", "1701234501")));
    assert!(epoch.contains("expected 0 to 86400 s; if these are clock times"), "{epoch}");
    let point = r#"{"points": [{"positions": [0, 0], "time_from_start": {"sec": 9010, "nanosec": 0}},
        {"positions": [1, 1], "time_from_start": {"sec": 9012, "nanosec": 0}}]}"#;
    let in_json = told(json(point));
    assert!(in_json.starts_with("points[0]: time_from_start: the first waypoint is due at 9010 s"), "{in_json}");
    let asked = Reading { from_first_time: true, ..Reading::default() };
    let begins = Motion::<2>::parse_as(clock.as_bytes(), false, asked).expect("a motion");
    assert_eq!((begins.waypoints()[0].at, begins.duration()), (Duration::ZERO, StdDuration::from_secs(3)));
    assert_eq!(
        Motion::<2>::parse_as(point.as_bytes(), true, asked).expect("a motion").duration(),
        StdDuration::from_secs(2)
    );
    let back = Motion::<2>::parse_as(b"9010,0,0\n9000,1,1\n", false, asked).expect_err("back in time");
    assert_eq!(back, "line 2, column 1: found time 9000 s, expected none before the first time, 9010 s");
    // A first waypoint after one minute is accepted.
    assert_eq!(table("60,1,1\n").expect("a motion").duration(), StdDuration::from_secs(60));
}

#[test]
fn speeds_at_the_ends_below_the_bound_count_as_none_in_a_table_and_in_json() {
    for speed in [0.0, 1e-15, -3e-17, 4e-7, 1e-4, -9.9e-4] {
        let text = format!("0,0,0,0,{speed}\n1,1,1,0.5,0.5\n2,2,2,{speed},0\n");
        let point = |at: u8, v: [f64; 2]| {
            format!(r#"{{"positions": [{at}, {at}], "velocities": [{}, {}], "time_from_start": {at}}}"#, v[0], v[1])
        };
        let points = [point(0, [0.0, speed]), point(1, [0.5; 2]), point(2, [speed, 0.0])].join(", ");
        for motion in [table(&text), json(&format!("{{\"points\": [{points}]}}"))] {
            let motion = motion.expect("a motion");
            let speeds: Vec<_> = motion.waypoints().iter().map(|way| way.setpoint.velocities.0).collect();
            assert_eq!(speeds, [[0.0; 2], [0.5; 2], [0.0; 2]], "{speed}");
        }
    }
    let end = r#"{"points": [{"positions": [0, 0], "time_from_start": 0},
        {"positions": [1, 1], "velocities": [0, 0.1], "time_from_start": 5}]}"#;
    let expected = "points: waypoint 1 is an end of the motion, where joint 2 must be slower than 0.001 rad/s";
    assert_eq!(told(json(end)), expected);
    // A motion that starts later starts at rest at the arm's position, and may pass its first waypoint with a speed.
    assert!(table("1,0,0,0.2,0\n2,1,1,0,0\n").is_ok());
}

#[test]
fn what_moveit_puts_around_a_trajectory_is_taken_off() {
    let points =
        r#""points": [{"positions": [0, 0], "time_from_start": 0}, {"positions": [1, 1], "time_from_start": 5}]"#;
    let expected = json(&format!("{{{points}}}")).expect("a motion");
    let none = r#""multi_dof_joint_trajectory": {"joint_names": [], "points": []}"#;
    let robot = format!(r#"{{"joint_trajectory": {{{points}}}, {none}}}"#);
    for text in [
        robot.clone(),
        format!(r#"{{"trajectory": {robot}}}"#),
        format!(r#"{{"goal": {{"trajectory": {robot}}}}}"#),
        format!(r#"{{"model_id": "ur5e", "trajectory": [{robot}], "trajectory_start": {{}}}}"#),
        format!(r#"{{"motion_plan_response": {{"group_name": "arm", "trajectory": {robot}}}}}"#),
    ] {
        assert_eq!(json(&text).as_ref(), Ok(&expected), "{text}");
    }
    let two = told(json(&format!(r#"{{"trajectory": [{robot}, {robot}]}}"#)));
    assert_eq!(two, "trajectory: found 2 trajectories, expected one: put each into its own file");
    let platform = robot.replace(r#""points": []"#, r#""points": [{}]"#);
    let said = told(json(&platform));
    assert!(said.starts_with("found points in multi_dof_joint_trajectory, expected none"), "{said}");
}

#[test]
fn a_comment_that_names_columns_or_degrees_is_obeyed_or_refused() {
    let rows = "0,0,0\n1,1,0.5\n";
    let plain = table(rows).expect("a motion");
    for remark in
        ["to and fro", "a remark, with commas", "the second axis is free", "2026-11-27 12:00, cell 4", "time: noon", ""]
    {
        assert_eq!(table(&format!("# {remark}\n{rows}")).as_ref(), Ok(&plain), "{remark}");
    }
    let remedy = "; a header is t, q0 to the last joint, optionally qd0 ... and qdd0 ..., with the suffix _deg for degrees; remove other \
                  columns, or leave out the header, or remove the comment";
    for (comment, expected) in [
        ("# t,q1,q0", "found column 'q0', expected 'q2'"),
        ("## t q1 q0", "found column 'q0', expected 'q2'"),
        ("# t,q0_degrees,q1_degrees", "found column 'q0_degrees', expected 'q0'"),
        ("# t,q0_deg,q1", "found column 'q1', expected 'q1_deg'"),
        ("# seconds, base, shoulder", "found column 'seconds', expected 't', 'time' or 'timestamp'"),
        ("# when J1 J2", "found column 'when', expected 't', 'time' or 'timestamp'"),
        ("# t A2 A1", "found column 'a2', expected 'q0'"),
        ("# time elbow base", "found column 'elbow', expected 'q0'"),
    ] {
        let said = told(table(&format!("{comment}\n{rows}")));
        let place = said.strip_prefix("line 1, column ").and_then(|rest| rest.split_once(": ")).map(|(_, what)| what);
        assert_eq!(place, Some(format!("{expected}{remedy}").as_str()), "{comment}: {said}");
    }
    // Units in words: accepted with the option or with a header, otherwise rejected.
    let degrees = format!("# angles in degrees\n{rows}");
    assert!(told(table(&degrees)).starts_with("line 1, column 1: found a comment that mentions degrees"));
    for remark in ["joint angles_deg", "Winkel in Grad", "up to so many º"] {
        let said = told(table(&format!("# {remark}\n{rows}")));
        assert!(said.contains("a comment that mentions degrees"), "{remark}: {said}");
    }
    let speeds = told(table("# in degrees\nt,q0,q1,qd0_deg,qd1_deg\n0,0,0,0,0\n1,1,1,0,0\n"));
    assert!(speeds.contains("a comment that mentions degrees"), "{speeds}");
    let below = told(table(&format!("{rows}# angles in degrees\n")));
    assert!(below.starts_with("line 3, column 1: found a comment that mentions degrees"), "{below}");
    let asked = Reading { degrees: true, ..Reading::default() };
    let turned = Motion::<2>::parse_as(degrees.as_bytes(), false, asked).expect("a motion");
    assert!((turned.goal().0[0] - 1_f32.to_radians()).abs() < 1e-6);
    assert_eq!(table(&format!("# in degrees\nt,q0_deg,q1_deg\n{rows}")).as_ref(), Ok(&turned));
    // The same header again is accepted, another one is not.
    assert_eq!(table(&format!("# t,q0,q1\n{rows}# t q0 q1\n")).as_ref(), Ok(&plain));
    let second = told(table(&format!("# t,q0,q1\n# t,q0_deg,q1_deg\n{rows}")));
    assert_eq!(second, "line 2, column 1: found column names again, expected one header before the first row");
    let later = told(table(&format!("{rows}# t,q0_deg,q1_deg\n2,0,0\n")));
    assert_eq!(later, "line 3, column 1: found column names again, expected one header before the first row");
}

#[test]
fn json_with_a_part_that_is_not_understood_is_refused() {
    let points =
        r#""points": [{"positions": [0, 0], "time_from_start": 0}, {"positions": [1, 1], "time_from_start": 5}]"#;
    let plain = json(&format!("{{{points}}}")).expect("a motion");
    let second = |time: &str| {
        format!("{{{}}}", points.replace("\"time_from_start\": 5", &format!("\"time_from_start\": {time}")))
    };
    assert_eq!(json(&second(r#"{"secs": 5, "nsecs": 0}"#)).as_ref(), Ok(&plain));
    let point = |field: &str| {
        format!("{{{}}}", points.replace("\"positions\": [1, 1]", &format!("\"positions\": [1, 1], {field}")))
    };
    assert_eq!(json(&point(r#""effort": [], "velocities": null"#)).as_ref(), Ok(&plain));
    let good = format!(
        r#"{{"trajectory": {{"joint_trajectory": {{{points}}}}}, "error_code": {{"val": 1, "message": "", "source": ""}}}}"#
    );
    assert_eq!(json(&good).as_ref(), Ok(&plain));
    for (text, expected) in [
        (
            second(r#"{"sec": 2, "nanosec": "900000000"}"#),
            "found the text \"900000000\", expected a number; write it without quotation marks",
        ),
        (second(r#"{"sec": 2, "nanoseconds": 9}"#), "found the unknown field 'nanoseconds', expected "),
        (second(r#"{"sec": 2, "secs": 3}"#), "found the field 'sec' twice, expected it once; remove one"),
        (
            second(r#"{"sec": 2, "nanosec": 2e9}"#),
            "found an invalid 'nanosec', expected a whole number from 0 to 999999999",
        ),
        (second(r#"{"sec": 2, "nanosec": 0.9}"#), "found an invalid 'nanosec'"),
        (point(r#""effort": [30, 5]"#), "points[1]: found effort, expected none"),
        (
            format!(r#"{{{points}, "multi_dof_trajectory": {{"point": []}}}}"#),
            "found the unknown field 'point', expected one of `points`",
        ),
        (second("{}"), "found neither 'sec' nor 'nanosec', expected one of them"),
        (second("\"5\""), "found the text \"5\", expected seconds, or an object with 'sec' and 'nanosec'"),
        (second("[5, 0]"), "found a list, expected seconds"),
        (point(r#""position": [2, 2]"#), "the unknown field 'position'"),
        (point(r#""positions": [2, 2]"#), "the field 'positions' twice"),
        (point(r#""velocities": 0"#), "found 0, expected a list; write it in [ ]"),
        (format!(r#"{{{points}, "joint_name": ["a_1", "a_0"]}}"#), "the unknown field 'joint_name'"),
        (format!("{{{points}, {points}}}"), "the field 'points' twice"),
        (format!(r#"{{"trajectory": {{{points}}}, {points}}}"#), "found both 'trajectory' and 'points'"),
        (
            format!(r#"{{"trajectory": {{{points}}}, "joint_trajectory": {{{points}}}}}"#),
            "found both 'joint_trajectory' and 'trajectory'",
        ),
        (
            format!(r#"{{"trajectory": {{{points}}}, "joint_names": ["a_1", "a_0"]}}"#),
            "found 'joint_names' next to 'trajectory', expected them next to 'points'",
        ),
        (
            format!(r#"{{"goal": {{"trajectory": {{{points}}}, "path_tolerances": []}}}}"#),
            "the unknown field 'path_tolerances'",
        ),
        (good.replace("\"val\": 1", "\"val\": -2"), "found error_code -2, expected 1: the planner did not succeed"),
        (r#"{"points": [[[0, 0], null, null, 0]]}"#.into(), "found a list, expected an object"),
        (second("1e400"), "found a number out of range"),
        (
            format!("{{{}}}", points.replace("[1, 1]", "[1, 1e39]")),
            "points[1]: positions[1]: found 1e39, expected a number from -1e6 to 1e6",
        ),
    ] {
        let said = told(json(&text));
        assert!(said.contains(expected), "{said}\n{text}");
        assert!(!said.contains(" at line "), "the place is named once: {said}");
    }
}

proptest::proptest! {
    #[test]
    fn whatever_a_table_has_it_is_a_motion_or_a_line_and_a_column(
        bytes in proptest::prop_oneof![
            proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80),
            proptest::collection::vec(proptest::sample::select(b"0123456789.,;+-eE \t\r\n#\"tqd_gaN\xef\xbb\xbf".to_vec()), 0..80),
            // These lines are almost valid.
            "(t,q0,q1\n|t;q1;q2\n|timestamp actual_q_0 actual_q_1\n|# remark\n)?([0-9]{1,3}[,; ][0-9.-]{0,4}[,; ][0-9.-]{1,4}[\r]?\n){0,4}"
                .prop_map(String::into_bytes),
        ],
        (degrees, from_first_time, is_json) in proptest::prelude::any::<(bool, bool, bool)>(),
    ) {
        let reading = Reading { degrees, from_first_time };
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
        match Motion::<2>::parse_as(&bytes, is_json, reading) {
            Ok(motion) => proptest::prop_assert!(motion.waypoints().iter().all(is_finite)),
            Err(_) if is_json => {}
            Err(said) if said.starts_with("found no waypoint") => {}
            Err(said) => {
                let place = said.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
                let place = place.and_then(|(place, _)| place.split_once(", column "));
                let place = place.and_then(|(line, column)| Some((line.parse::<usize>().ok()?, column.parse::<usize>().ok()?)));
                proptest::prop_assert!(place.is_some_and(|(line, column)| (1..=lines).contains(&line) && column > 0), "{}", said);
            }
        }
    }
}

#[test]
fn a_goal_of_ros_is_read_with_its_joints_in_its_own_order() {
    let goal = r#"{"goal": {"trajectory": {"joint_names": ["left_1", "left_0"], "points": [
        {"positions": [0.2, 0.1], "velocities": [], "time_from_start": {"sec": 0, "nanosec": 500000000}},
        {"positions": [0.4, 0.3], "velocities": [0, 0], "accelerations": [0.5, 0], "time_from_start": 2}
    ]}, "path_tolerance": [], "goal_time_tolerance": {"sec": 0, "nanosec": 0}}}"#;
    let motion = json(goal).expect("a motion");
    let [first, last] = motion.waypoints() else { panic!("{motion:?}") };
    assert_eq!((first.setpoint.positions.0, first.at.as_micros()), ([0.1, 0.2], 500_000));
    assert_eq!((last.setpoint.positions.0, last.accelerations.map(|a| a.0)), ([0.3, 0.4], Some([0.0, 0.5])));
    let names = r#"{"joint_names": ["ur_wrist_2_joint", "ur_shoulder_pan_joint", "ur_elbow_joint",
        "ur_shoulder_lift_joint", "ur_wrist_1_joint", "ur_wrist_3_joint"], "points": [{"positions": [4, 0, 2, 1, 3, 5], "time_from_start": 1}]}"#;
    let six = Motion::<6>::parse(names.as_bytes(), true).expect("a motion");
    assert_eq!(six.goal().0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn json_that_is_no_motion_is_refused_with_its_point() {
    let point =
        |inner: &str| format!("{{\"points\": [{{\"positions\": [0, 0], \"time_from_start\": 0}}, {{{inner}}}]}}");
    for (text, expected) in [
        (
            "{".to_owned(),
            "line 1, column 1: found the end of the file inside an object, expected the rest; is the file complete?",
        ),
        ("[]".into(), "line 1, column 1: found a list, expected an object; write its fields in { }"),
        (
            "{}".into(),
            "found no list 'points', expected one at the top level or inside goal, motion_plan_response, solution, \
             planned_trajectory, executed_trajectory, trajectory, joint_trajectory",
        ),
        ("{\"points\": []}".into(), "points: found no waypoint, expected at least one"),
        (point("\"positions\": [0, 0]"), "points[1]: found no 'time_from_start'"),
        (point("\"time_from_start\": 1"), "points[1]: found no 'positions'"),
        (point("\"positions\": [0], \"time_from_start\": 1"), "points[1]: found 1 positions, expected 2"),
        (
            point("\"positions\": [0, \"a\"], \"time_from_start\": 1"),
            "line 1, column 78: found the text \"a\", expected a number; write it without quotation marks",
        ),
        (
            point("\"positions\": [0, 0], \"time_from_start\": -1"),
            "points[1]: time_from_start: found time -1 s, expected 0 to 86400 s",
        ),
        (
            point("\"positions\": [0, 0], \"time_from_start\": 0"),
            "points: waypoint 1 must be later than the one before",
        ),
        (
            "{\"points\": [], \"path_tolerance\": [{\"name\": \"a_1\"}]}".into(),
            "path_tolerance: found 1 joints, expected all 2 or none",
        ),
        ("{\"points\": [], \"joint_names\": [\"a_1\", \"b_1\"]}".into(), "joint_names[1]: found 'b_1' twice"),
        ("{\"points\": [], \"joint_names\": [\"a_1\"]}".into(), "found 1 joint_names, expected 2"),
    ] {
        assert_eq!(told(json(&text)), expected, "{text}");
    }
}

/// Reads a ROS trajectory goal as JSON, with two fixed points and these tolerances.
fn goal(tolerances: &str) -> Result<Motion<2>, String> {
    let points = r#"[{"positions": [0, 0], "time_from_start": 0}, {"positions": [1, 1], "time_from_start": 5}]"#;
    json(&format!(r#"{{"goal": {{"trajectory": {{"points": {points}}}, {tolerances}}}}}"#))
}

#[test]
fn tolerances_of_a_goal_are_taken_over_joint_by_joint_as_ros_means_them() {
    let told = r#""path_tolerance": [{"name": "a_1", "position": 0.3}, {"name": "a_0", "position": -1, "velocity": 0}],
        "goal_tolerance": [{"name": "a_0", "position": 0.01}, {"name": "a_1"}],
        "goal_time_tolerance": {"sec": 1, "nanosec": 500000000}"#;
    let tolerances = *goal(told).expect("a motion").tolerances();
    assert_eq!(tolerances.path.0, [f32::INFINITY, 0.3]);
    assert_eq!(tolerances.goal.0, [0.01, 0.1]);
    assert_eq!(tolerances.goal_time, Some(Duration::from_millis(1_500)));
    let none = r#""path_tolerance": [], "goal_tolerance": null, "goal_time_tolerance": {"sec": 0, "nanosec": 0}"#;
    assert_eq!(goal(none).expect("a motion").tolerances(), &Tolerances::DEFAULT);
    let joints = |inner: &str| format!(r#""goal_tolerance": [{{"name": "a_0", {inner}}}, {{"name": "a_1"}}]"#);
    for (text, expected) in [
        (
            joints("\"position\": -2"),
            "goal_tolerance[0]: found position -2, expected 0.001 to 6.3 rad, 0 for the default, or -1 for none",
        ),
        (
            joints("\"velocity\": 0.1"),
            "goal_tolerance[0]: found a velocity, but only the position is checked: remove it or set it to 0",
        ),
        (
            r#""path_tolerance": [{"name": "a_1"}, {"name": "a_1"}]"#.into(),
            "path_tolerance: name[1]: found 'a_1' twice",
        ),
        (
            r#""component_goal_tolerance": [{}]"#.into(),
            "found component_goal_tolerance, which an arm does not have: remove it or leave it empty",
        ),
        (
            r#""goal_time_tolerance": -2"#.into(),
            "found goal_time_tolerance -2 s, expected 0 to 86400 s (0: no limit), or -1 (no limit)",
        ),
    ] {
        assert_eq!(goal(&text).expect_err("no motion"), expected, "{text}");
    }
}

#[test]
fn a_motion_beyond_the_limits_is_told_by_waypoint_and_joint() {
    let motion = table("0,0,0,0,0\n10,1,1,0,0\n10.5,1,2,0,0\n20,0,0,0,0\n").expect("a motion");
    let Err(MotionError::Beyond { to, excess }) = motion.check(&Limits::default()) else { panic!("it fits") };
    assert_eq!((to, excess.joint, excess.quantity), (2, 1, Quantity::Velocity));
    let text = motion.check(&Limits::default()).expect_err("the same").to_string();
    assert!(text.starts_with("on the way to waypoint 2 joint 2 would reach "), "{text}");
    let alone = table("0,0,99\n").expect("a motion").check(&Limits::default());
    assert!(alone.is_err_and(|unfit| unfit.to_string().starts_with("on the way to waypoint 0 joint 2 would reach 99")));
}

#[test]
fn a_million_waypoints_are_read_and_judged() {
    let mut text = String::from("t,q0,q1\n");
    for i in 0..1_000_000_u32 {
        let t = f64::from(i) * 0.008;
        // Whole periods, so that it is at rest at both ends.
        let angle = 0.5 - 0.5 * (t * 127.0 * std::f64::consts::TAU / 7_999.992).cos();
        text.push_str(&format!("{t:.3},{angle:.8},0.1\n"));
    }
    let motion = table(&text).expect("a motion");
    assert_eq!(motion.waypoints().len(), 1_000_000);
    motion.check(&Limits::default()).expect("within the limits");
}
