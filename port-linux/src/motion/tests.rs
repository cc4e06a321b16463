use super::*;
use outrigger_core::law::Quantity;
use outrigger_core::robot::JointVelocities;

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
    assert_eq!(told(table("t,q1,q0\n0,0,0\n")), "line 1: found column 'q1', expected 'q0'");
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
fn a_table_that_is_none_is_refused_with_its_line() {
    for (text, expected) in [
        ("", "found no waypoint, expected lines of t,q0,…"),
        ("# nothing\n", "found no waypoint, expected lines of t,q0,…"),
        ("0,0\n", "line 1: found 2 columns, expected 3 (t and 2 angles), 5 (and 2 speeds) or 7 (and 2 accelerations)"),
        ("0,0,0\n1,0\n", "line 2: found 2 numbers, expected 3 as in line 1"),
        ("0,0,0\n1,x,0\n", "line 2: found 'x' in column 2, expected a number"),
        ("0,0,0\n1,NaN,0\n", "line 2: found NaN in column 2, expected a finite number"),
        ("0,0,0\n1,1e39,0\n", "line 2: waypoint 1 has a number that is NaN or infinite"),
        ("0,0,0\n-1,0,0\n", "line 2: found time -1, expected 0 to 86400 s"),
        ("0,0,0\n\n2,0,0\n1,1,1\n", "line 4: waypoint 2 must be later than the one before"),
        ("0,0,0\n1,0,0\n1,0,0\n", "line 3: waypoint 2 must be later than the one before"),
        ("0,0,0\n1,0,0,0.1,0\n", "line 2: found 5 numbers, expected 3 as in line 1"),
        ("0,0,0,0,0\n1,0,0,0.1,0\n", "line 2: waypoint 1 is an end of the motion, where joint 1 must be slower than 0.001 rad/s"),
        ("0,0,0,0.1,0\n1,0,0,0,0\n", "line 1: waypoint 0 is an end of the motion, where joint 1 must be slower than 0.001 rad/s"),
        ("0,0,0\n1,0.5,0.", "line 2: found no end of this line, expected one: is the file whole?"),
    ] {
        assert_eq!(told(table(text)), expected, "{text:?}");
    }
    assert_eq!(
        told(Motion::parse(b"0,0,0\n1,\xff,0\n", false)),
        "line 2: found bytes that are no text, expected numbers"
    );
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
    // Where the motion begins later it begins at rest where the arm stands, and may pass its first waypoint.
    assert!(table("1,0,0,0.2,0\n2,1,1,0,0\n").is_ok());
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
    let names = r#"{"joint_names": ["tool0_wrist_2_joint", "shoulder_pan_joint", "elbow_joint", "shoulder_lift_joint",
        "wrist_1_joint", "wrist_3_joint"], "points": [{"positions": [4, 0, 2, 1, 3, 5], "time_from_start": 1}]}"#;
    let six = Motion::<6>::parse(names.as_bytes(), true).expect("a motion");
    assert_eq!(six.goal().0, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn json_that_is_no_motion_is_refused_with_its_point() {
    let point =
        |inner: &str| format!("{{\"points\": [{{\"positions\": [0, 0], \"time_from_start\": 0}}, {{{inner}}}]}}");
    for (text, expected) in [
        ("{".to_owned(), "line 1, column 1: EOF while parsing an object at line 1 column 1"),
        ("[]".into(), "found no object, expected one with 'points'"),
        ("{}".into(), "found no list 'points'"),
        ("{\"points\": []}".into(), "points: found no waypoint, expected at least one"),
        (point("\"positions\": [0, 0]"), "points[1]: found no 'time_from_start'"),
        (point("\"time_from_start\": 1"), "points[1]: found no 'positions'"),
        (point("\"positions\": [0], \"time_from_start\": 1"), "points[1]: found 1 positions, expected 2"),
        (
            point("\"positions\": [0, \"a\"], \"time_from_start\": 1"),
            "points[1]: positions[1]: found \"a\", expected a number",
        ),
        (
            point("\"positions\": [0, 0], \"time_from_start\": -1"),
            "points[1]: found time_from_start -1 s, expected 0 to 86400 s",
        ),
        (
            point("\"positions\": [0, 0], \"time_from_start\": 0"),
            "points: waypoint 1 must be later than the one before",
        ),
        (
            "{\"points\": [], \"path_tolerance\": [{\"name\": \"a_1\"}]}".into(),
            "path_tolerance: found 1 joints, expected all 2 or none",
        ),
        ("{\"points\": [], \"joint_names\": [\"a_1\", \"b_1\"]}".into(), "joint_names[1]: found 'b_1' a second time"),
        ("{\"points\": [], \"joint_names\": [\"a_1\"]}".into(), "found 1 joint_names, expected 2"),
    ] {
        assert_eq!(told(json(&text)), expected, "{text}");
    }
}

/// A goal with these tolerances beside its points.
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
        (joints("\"position\": \"a\""), "goal_tolerance[0]: found position \"a\", expected a number"),
        (
            joints("\"velocity\": 0.1"),
            "goal_tolerance[0]: found a velocity, and only the position is compared: leave it out or 0",
        ),
        (
            r#""path_tolerance": [{"name": "a_1"}, {"name": "a_1"}]"#.into(),
            "path_tolerance: name[1]: found 'a_1' a second time",
        ),
        (
            r#""component_goal_tolerance": [{}]"#.into(),
            "found component_goal_tolerance, which an arm has none of: leave it out or empty",
        ),
        (
            r#""goal_time_tolerance": -2"#.into(),
            "found goal_time_tolerance -2 s, expected 0 to 86400 s, of which 0 is any, or -1: any",
        ),
    ] {
        assert_eq!(goal(&text).expect_err("no motion"), expected, "{text}");
    }
}

#[test]
fn a_motion_beyond_the_limits_is_told_by_waypoint_and_joint() {
    let motion = table("0,0,0,0,0\n10,1,1,0,0\n10.5,1,2,0,0\n20,0,0,0,0\n").expect("a motion");
    let Err(Unfit::Beyond { to, excess }) = motion.check(&Limits::default()) else { panic!("it fits") };
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
        // Whole swings, so that it is at rest at both ends.
        let angle = 0.5 - 0.5 * (t * 127.0 * std::f64::consts::TAU / 7_999.992).cos();
        text.push_str(&format!("{t:.3},{angle:.8},0.1\n"));
    }
    let motion = table(&text).expect("a motion");
    assert_eq!(motion.waypoints().len(), 1_000_000);
    motion.check(&Limits::default()).expect("within the limits");
}
