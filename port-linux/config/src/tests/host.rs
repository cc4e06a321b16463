use outrigger_core::command::Limits;
use outrigger_core::engine::ur::FormChoice;
use outrigger_core::law::{AxisConfig, LawConfig, LawKind, Reference};
use outrigger_core::mode::{PendantConfig, PendantStop, ScalingConfig};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Duration;

use crate::*;

fn problems(source: &str) -> Vec<String> {
    Configuration::parse(source).expect_err("a faulty configuration").iter().map(ToString::to_string).collect()
}

const ROBOT: &str = "robot.address = \"192.168.56.101\"\nlaw.kind = \"joint-servo\"\n";

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_name() {
    let source = format!("{ROBOT}[limits]\n\nvelocty = 1.0\n");
    let [problem] = problems(&source).try_into().expect("one problem");
    assert!(problem.starts_with("line 5: limits.velocty: found an unknown key, expected one of "), "{problem}");
    assert!(problem.ends_with("did you mean `velocity`?"), "{problem}");
}

#[test]
fn an_unknown_table_is_named_too() {
    let [problem] = problems(&format!("{ROBOT}[hosts]\ncpu = 1\n")).try_into().expect("one problem");
    assert!(problem.starts_with("line 3: hosts: found an unknown key") && problem.contains("`host`"), "{problem}");
}

#[test]
fn every_problem_is_reported_in_the_order_of_the_file() {
    let source = "law.kind = \"joint-servo\"\nrobot.address = \"10.0.0.2:x\"\nrobot.model = \"ur5f\"\n[limits]\nvelocity = [1, 2]\nacceleration = \"fast\"\n";
    let lines: Vec<_> = problems(source).iter().map(|p| p.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        ["line 2 robot.address", "line 3 robot.model", "line 5 limits.velocity", "line 6 limits.acceleration"]
    );
}

#[test]
fn a_problem_is_one_line_without_commands_to_a_terminal() {
    for source in
        ["[robot]\n\"a\\u001b[2J\\nline 1: forged\" = 3\n", "a = \u{9b}2J\n", "[robot]\naddress = \"\\u001b[2J\"\n"]
    {
        let said = problems(source);
        assert!(!said.is_empty() && said.iter().all(|line| !line.contains(char::is_control)), "{said:?}");
    }
}

#[test]
fn a_problem_says_what_was_found_and_what_was_expected() {
    let source = format!("{ROBOT}[limits]\nvelocity = 99\nacceleration = [1, 2, 3, 4, 5, \"x\"]\n");
    assert_eq!(
        problems(&source),
        [
            "line 4: limits.velocity: found 99, expected one number or 6 in 0.001 to 2π rad/s",
            "line 5: limits.acceleration: found [1, 2, 3, 4, 5, \"x\"], expected one number or 6 in 0.01 to 50.0 rad/s²",
        ]
    );
}

#[test]
fn what_is_missing_is_said_where_it_belongs() {
    assert_eq!(
        problems("law.kind = \"joint-servo\"\n[robot]\n"),
        ["line 2: robot.address: found nothing, expected the robot as \"host\" or \"host:port-base\""]
    );
    let source = format!("{ROBOT}[[source]]\nname = \"a\"\n[[source]]\ninput = \"udp\"\n");
    let found = problems(&source);
    assert!(found[0].starts_with("line 3: source[0].input: found nothing"), "{found:?}");
    assert!(found[1].starts_with("line 5: source[1].name: found nothing"), "{found:?}");
    assert!(found[2].starts_with("line 5: source[1].listen: found nothing"), "{found:?}");
}

#[test]
fn text_that_is_no_toml_is_reported_with_its_line() {
    let [problem] = problems("[robot]\naddress = \n").try_into().expect("one problem");
    assert!(problem.starts_with("line 2: found the end of the line, expected TOML"), "{problem}");
}

#[test]
fn limits_that_cannot_be_held_are_refused_by_the_core() {
    let source = format!("{ROBOT}[limits]\nposition_min = 1.0\nposition_max = -1.0\n");
    let [problem] = problems(&source).try_into().expect("one problem");
    assert!(problem.starts_with("line 4: limits.position_min: found 1.0, expected "), "{problem}");
}

#[test]
fn wrist_3_of_a_small_arm_may_have_no_limit_and_no_other_joint_may() {
    const NONE: f32 = Limits::<6>::NONE;
    let with = |model: &str, limits: &str| format!("{ROBOT}robot.model = \"{model}\"\n[limits]\n{limits}\n");
    let highest = |model: &str, last: &str| with(model, &format!("position_max = [6.2, 6.2, 6.2, 6.2, 6.2, {last}]"));
    for model in ["ur3", "ur3e"] {
        for (last, expected) in [("13.0", 13.0), ("600", 600.0), ("inf", NONE)] {
            let read = Configuration::parse(&highest(model, last)).expect("a limit");
            assert_eq!(read.control.limits.position_max.0, [6.2, 6.2, 6.2, 6.2, 6.2, expected]);
        }
        let endless = with(model, "position_min = [-6, -6, -6, -6, -6, -inf]\nposition_max = [6, 6, 6, 6, 6, inf]");
        let limits = Configuration::parse(&endless).expect("no limit").control.limits;
        assert_eq!((limits.position_min.0[5], limits.position_max.0[5]), (-NONE, NONE));
        let [first] = problems(&with(model, "position_max = [13, 6, 6, 6, 6, 6]")).try_into().expect("one problem");
        assert!(first.contains("expected one number or 6 in -4π to 4π rad, joint 6 at any number"), "{first}");
        let [far] = problems(&highest(model, "629")).try_into().expect("one problem");
        assert!(
            far.contains(
                "limits.position_max: found [6.2, 6.2, 6.2, 6.2, 6.2, 629], expected -200π to 200π rad for joint 6"
            ),
            "{far}"
        );
        let [never] = problems(&with(model, "position_min = [-6, -6, -6, -6, -6, inf]")).try_into().expect("one");
        assert!(never.contains("each lowest angle below its highest"), "{never}");
    }
    for last in ["13.0", "inf", "nan"] {
        let [problem] = problems(&highest("ur5e", last)).try_into().expect("one problem");
        assert!(problem.contains("limits.position_max: found [6.2"), "{problem}");
        assert!(problem.contains("-4π to 4π rad; more for the last where `robot.model` is \"ur3\""), "{problem}");
    }
    // A motion may reach these angles, too.
    let motion = |joints: &str| {
        let limits =
            "position_max = [6, 6, 6, 6, 6, inf]\n[[law.waypoint]]\nat = 0.0\ndegrees = [0, 0, 0, 0, 0, 700]\n";
        with("ur3e", &format!("{limits}[[law.waypoint]]\nat = 60.0\n{joints}"))
    };
    for joints in ["joints = [0, 0, 0, 0, 0, 20.0]", "degrees = [0, 0, 0, 0, 0, 1200]"] {
        assert!(Configuration::parse(&motion(joints)).is_ok(), "{joints}");
    }
    assert!(problems(&motion("joints = [0, 0, 0, 0, 20.0, 0]"))[0].contains("in -13 to 13 rad"));
}

#[test]
fn keys_that_belong_to_another_input_are_refused() {
    let source = format!("{ROBOT}[[source]]\nname = \"d\"\ninput = \"stdin\"\nbaud = 9600\nformat = \"postcard\"\n");
    let found = problems(&source);
    assert!(found[0].starts_with("line 6: source[0].baud: found an unknown key"), "{found:?}");
    assert!(found[1].starts_with("line 7: source[0].format: found \"postcard\""), "{found:?}");
}

#[test]
fn a_single_number_stands_for_every_joint() {
    let configuration = Configuration::parse(&format!("{ROBOT}[limits]\nvelocity = 0.5\n")).expect("valid");
    assert_eq!(configuration.control.limits.velocity.0, [0.5; 6]);
    assert_eq!(configuration.control.limits.acceleration, Limits::<6>::default().acceleration);
}

#[test]
fn a_law_is_required_and_a_source_it_names_must_be_there_with_the_right_count() {
    let [problem] = problems("robot.address = \"a\"\n[law]\n").try_into().expect("one problem");
    let laws = problem.strip_prefix("line 2: law.kind: found nothing, expected the law: ").expect("the laws");
    assert!(laws.starts_with("\"joint-servo\", \"twist\", ") && laws.matches(" or ").count() == 1, "{laws}");
    let offered: Vec<_> = laws.split('"').skip(1).step_by(2).collect();
    assert_eq!(offered, LawKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>());
    let law = "robot.address = \"a\"\n[law]\nkind = \"joint-servo\"\nsensor = \"force\"\n";
    let [problem] = problems(law).try_into().expect("one problem");
    assert_eq!(problem, "line 4: law.sensor: found \"force\", expected a [[source]] with this name in the file");
    let one_value = format!("{law}[[source]]\nname = \"force\"\ninput = \"stdin\"\n");
    let [problem] = problems(&one_value).try_into().expect("one problem");
    assert_eq!(problem, "line 4: law.sensor: found \"force\", expected a source with values = 6");
    Configuration::parse(&format!("{one_value}values = 6\n")).expect("valid");
}

#[test]
fn a_motion_is_judged_by_the_core_and_given_in_one_unit() {
    let head = "robot.address = \"a\"\n[law]\nkind = \"joint-servo\"\nrelative = true\n[[law.waypoint]]\nat = 0.0\n";
    let valid = format!("{head}joints = 0\n[[law.waypoint]]\nat = 20\ndegrees = [-180, 0, 0, 0, 0, 0]\n");
    let configuration = Configuration::parse(&valid).expect("valid");
    let LawConfig::JointServo { reference, .. } = configuration.control.law else { panic!("another law") };
    let Reference::Relative(motion) = reference else { panic!("not relative") };
    assert_eq!(motion.at_nanos(20_000_000_000).positions.0[0], -std::f32::consts::PI);
    let [problem] = problems(&valid.replace("20", "2")).try_into().expect("one problem");
    assert!(
        problem.contains("expected a motion within the velocity limits: joint 1 would reach 2.356 rad/s; its limit is"),
        "{problem}"
    );
    let far = format!("{head}degrees = 0\n[[law.waypoint]]\nat = 300\ndegrees = [0, 0, -400, 0, 0, 0]\n");
    let [problem] = problems(&far.replace("relative = true\n", "")).try_into().expect("one problem");
    assert!(problem.contains("joint 3 would reach -6.981 rad; its limit is -6.2"), "{problem}");
    let early = format!("{head}joints = 0\n[[law.waypoint]]\nat = 0\njoints = 1\n");
    let [problem] = problems(&early).try_into().expect("one problem");
    assert!(
        problem.ends_with("expected a motion from rest to rest: waypoint 1 must be later than the one before"),
        "{problem}"
    );
    // A residual speed at an end counts as zero. A higher one is reported by waypoint and joint.
    let ends = |speed: f32| format!("{valid}expert.velocities = [0, {speed}, 0, 0, 0, 0]\n");
    let configuration = Configuration::parse(&ends(1e-4)).expect("valid");
    let LawConfig::JointServo { reference: Reference::Relative(motion), .. } = configuration.control.law else {
        panic!("another law")
    };
    assert_eq!(motion.last().expect("it has waypoints").setpoint.velocities.max_abs(), 0.0);
    let [problem] = problems(&ends(0.1)).try_into().expect("one problem");
    let said = "expected a motion from rest to rest: waypoint 1 is an end of the motion, where joint 2 must be slower than 0.001 rad/s";
    assert!(problem.ends_with(said), "{problem}");
    let still = format!("{head}joints = 0.5\n[[law.waypoint]]\nat = 20\njoints = 0.5\n");
    Configuration::parse(&still).expect("an arm may be held for a while");
    let twice = format!("{valid}joints = 0\n");
    let [problem] = problems(&twice).try_into().expect("one problem");
    assert!(problem.starts_with("line 10: law.waypoint[1].degrees: found [-180"), "{problem}");
}

#[test]
fn laws_of_the_tool_need_their_source_and_move_no_joint_faster_than_the_slowest_may_go() {
    let head = "robot.address = \"a\"\nlimits.velocity = [1, 2, 2, 2, 2, 0.25]\n[law]\n";
    let found = problems(&format!("{head}kind = \"standoff\"\n"));
    assert!(found[0].starts_with("line 3: law.source: found nothing"), "{found:?}");
    assert!(found[1].starts_with("line 3: law.distance: found nothing"), "{found:?}");
    let source = "[[source]]\nname = \"d\"\ninput = \"stdin\"\n";
    let valid = format!("{head}kind = \"standoff\"\nsource = \"d\"\ndistance = 0.05\n{source}");
    let configuration = Configuration::parse(&valid).expect("valid");
    let LawConfig::Standoff(standoff) = configuration.control.law else { panic!("another law") };
    assert_eq!((standoff.distance, standoff.tool_space.joint_speed), (0.05, 0.25));
    let [problem] = problems(&format!("{head}kind = \"twist\"\n")).try_into().expect("one problem");
    assert_eq!(problem, "line 3: law.source: found nothing, expected a source of six values, or a constant `twist`");
}

/// A configuration of the law `axes`, which moves three axes of the tool: two by one sensor, and one by another.
const AXES: &str = "\
robot.address = \"a\"
limits.velocity = [1, 2, 2, 2, 2, 0.25]
[law]
kind = \"axes\"
[[law.axis]]
along = \"z\"
source = \"gap\"
target = 0.05
slope = -1
[[law.axis]]
along = \"x\"
source = \"wrench\"
target = 10
slope = 5000
range = [-50, 50]
[[law.axis]]
along = \"ry\"
source = \"wrench\"
value = 5
target = 0
slope = -40
reach = 0.2
[[source]]
name = \"gap\"
input = \"udp\"
listen = \"0.0.0.0:5005\"
[[source]]
name = \"wrench\"
input = \"udp\"
listen = \"0.0.0.0:5006\"
values = 6
";

#[test]
fn each_axis_of_the_tool_has_a_sensor_of_its_own() {
    let LawConfig::ToolAxes(law) = Configuration::parse(AXES).expect("valid").control.law else {
        panic!("another law")
    };
    let [x, y, z, rx, ry, rz] = law.axes;
    let (gap, wrench) = (SourceId(0), SourceId(1));
    assert_eq!(z, Some(AxisConfig::new(gap, 0.05, -1.0)));
    assert_eq!(x, Some(AxisConfig { range: Some([-50.0, 50.0]), ..AxisConfig::new(wrench, 10.0, 5_000.0) }));
    assert_eq!(ry, Some(AxisConfig { value: 5, reach: 0.2, ..AxisConfig::new(wrench, 0.0, -40.0) }));
    assert_eq!((y, rx, rz, law.tool_space.joint_speed), (None, None, None, 0.25));
}

#[test]
fn what_is_wrong_with_an_axis_is_told_with_its_key() {
    let told = |from: &str, to: &str| {
        let [problem] = problems(&AXES.replacen(from, to, 1)).try_into().expect("one problem");
        problem
    };
    for (from, to, problem) in [
        ("\"x\"", "\"z\"", "line 11: law.axis[1].along: found \"z\", expected an axis that no other [[law.axis]] has"),
        ("value = 5", "value = 7", "line 19: law.axis[2].value: found 7, expected a whole number in 1 to 6"),
        (
            "source = \"gap\"",
            "source = \"gap\"\nvalue = 2",
            "line 8: law.axis[0].value: found 2, expected 1 to 1, the number of values in a reading of this source",
        ),
        (
            "\"wrench\"",
            "\"push\"",
            "line 12: law.axis[1].source: found \"push\", expected the name of a [[source]]: \"gap\", \"wrench\"",
        ),
        (
            "slope = -1",
            "slope = 0",
            "line 9: law.axis[0].slope: found 0, expected a change of the reading for each m or rad, at least 0.000001 either way",
        ),
        (
            "slope = -1",
            "slope = nan",
            "line 9: law.axis[0].slope: found nan, expected a number in -1000000000.0 to 1000000000.0",
        ),
        (
            "range = [-50, 50]",
            "range = [20, 50]",
            "line 15: law.axis[1].range: found [20, 50], expected two readings with the target between them",
        ),
        ("reach = 0.2", "reach = 0.6", "line 22: law.axis[2].reach: found 0.6, expected at most 0.5 rad about an axis"),
        (
            "along = \"z\"\n",
            "",
            "line 5: law.axis[0].along: found nothing, expected the axis of the tool: \"x\", \"y\", \"z\", \"rx\", \"ry\" or \"rz\"",
        ),
        (
            "target = 10\n",
            "",
            "line 10: law.axis[1].target: found nothing, expected the reading that the axis is moved to",
        ),
    ] {
        assert_eq!(told(from, to), problem);
    }
    let none = format!("{}kind = \"axes\"\n", AXES.split("kind").next().unwrap_or_default());
    let [problem] = problems(&none).try_into().expect("one problem");
    assert_eq!(
        problem,
        "line 3: law.axis: found nothing, expected an [[law.axis]] for each axis of the tool that a sensor moves"
    );
}

#[test]
fn when_to_begin_and_end_is_the_operators_and_never_unless_said() {
    let quiet = Configuration::parse(ROBOT).expect("valid");
    assert_eq!((quiet.run.request, quiet.run.end, quiet.run.recordings), (Start::Operator, End::Never, None));
    let run = "[run]\nrequest = \"start\"\nend = \"done\"\nexpert.settle = 0.5\nrecordings = \"dumps\"\n";
    let eager = Configuration::parse(&format!("{ROBOT}{run}")).expect("valid");
    assert_eq!((eager.run.request, eager.run.end), (Start::Start, End::Done));
    assert_eq!((eager.run.settle.as_millis(), eager.run.recordings), (500, Some("dumps".into())));
    let [problem] = problems(&format!("{ROBOT}[run]\nrequest = \"strat\"\n")).try_into().expect("one problem");
    assert!(problem.ends_with("did you mean `start`?"), "{problem}");
}

#[test]
fn the_engine_is_told_what_the_file_says() {
    let source = format!(
        "{ROBOT}[session]\nsoftware = \"3.15\"\nexpert.take_over = true\nexpert.form = \"bare\"\nexpert.hold = 0.06\nexpert.stale_after = 0.03\n\
         [limits]\nvelocity = 0.5\n[[source]]\nname = \"d\"\ninput = \"stdin\"\nrange = [0, 1]\nexpert.stuck_after = 2\n"
    );
    let config = Configuration::parse(&source).expect("valid").control.engine();
    assert_eq!(config.peer.software, Some(SoftwareVersion::new(3, 15)));
    assert_eq!((config.mode.take_over, config.peer.text.form), (true, FormChoice::Bare));
    assert_eq!((config.peer.text.hold.as_millis(), config.link.stale_after), (60, Some(Duration::from_millis(30))));
    assert_eq!(config.limits.velocity.0, [0.5; 6]);
    let [Some(source), None, ..] = config.sources else { panic!("{:?}", config.sources) };
    assert_eq!((source.min, source.max, source.stuck_after), (0.0, 1.0, Some(Duration::from_secs(2))));
    config.check().expect("what is read can be run");
}

#[test]
fn every_threshold_of_the_core_can_be_set() {
    let source = format!(
        "{ROBOT}[session]\nexpert.offline_after = 3\nexpert.rise_time = 0.2\nexpert.leak_ppm = 100\n\
         expert.shift_hold = 1\nexpert.burst = 0.001\nexpert.following_late_patience = 300\nexpert.following_relative = 0.1\n\
         expert.following_ramp = 2\nexpert.following_scaling_rate = 5\nexpert.scaling_zero_below = 0.002\nexpert.scaling_free_from = 0.02\n\
         expert.scaling_held_states = 5\nexpert.scaling_begin_speed = 0.01\nexpert.scaling_begin_time = 0.2\n\
         expert.scaling_held_timeout = 20\nexpert.pendant_stop = \"overridden\"\nexpert.pendant_at_once = true\nexpert.pendant_left = 4\n\
         expert.pendant_flicker = 3\n[session.expert.grade.ok]\nreceived = 0.9\njitter = 0.003\n\
         [session.expert.grade.bad]\nreceived = 0.8\njitter = 0.005\nmisses = 40\n\
         [operator]\nexpert.request_input = 0\nexpert.acknowledge_input = 17\n"
    );
    let config = Configuration::parse(&source).expect("valid").control.engine();
    let period = Duration::from_millis(2);
    let (link, mode, following) =
        (config.link.stream(period), config.mode_config(period), config.mode.following.of(period));
    assert_eq!(mode.offline_after, Duration::from_secs(3));
    assert_eq!((link.rise_time, link.leak_ppm), (Duration::from_millis(200), 100));
    assert_eq!((link.shift_hold, link.burst), (Duration::from_secs(1), Duration::from_millis(1)));
    assert_eq!((link.limits.ok.received.0, link.limits.ok.jitter), (9_000, Duration::from_millis(3)));
    assert_eq!((link.limits.bad.received.0, link.limits.bad.misses), (8_000, 40));
    assert_eq!(link.limits.perfect.received.0, 9_900, "what is not set is the default");
    assert_eq!((following.late_patience, following.relative), (300, 0.1));
    assert_eq!((following.ramp, following.scaling_rate), (2.0, 5.0));
    let scaling = ScalingConfig {
        zero_below: 0.002,
        free_from: 0.02,
        held_states: 5,
        begin_speed: 0.01,
        begin_time: Duration::from_millis(200),
        held_timeout: Duration::from_secs(20),
    };
    assert_eq!(config.mode.scaling, scaling);
    let pendant = PendantConfig { stop: PendantStop::Overridden, at_once: true, left: 4, flicker: 3 };
    assert_eq!(config.mode.pendant, pendant);
    let operator = config.operator;
    assert_eq!((operator.request_input, operator.acknowledge_input), (Some(0), Some(17)));
}

#[test]
fn more_sensors_than_the_engine_watches_are_refused() {
    let sources: String = (0..5).map(|n| format!("[[source]]\nname = \"s{n}\"\ninput = \"requests\"\n")).collect();
    let [problem] = problems(&format!("{ROBOT}{sources}")).try_into().expect("one problem");
    assert_eq!(problem, "line 16: source[4].name: found \"s4\", expected at most 4 sources");
}

#[test]
fn what_the_core_refuses_is_reported_at_the_key_it_came_from() {
    let [problem] = problems(&format!("{ROBOT}[session]\nexpert.evidence_age = 0.3\nexpert.state_timeout = 0.5\n"))
        .try_into()
        .expect("one");
    assert_eq!(problem, "line 5: session.expert.state_timeout: found 0.5, expected two cycles to evidence_age");
    let [problem] = problems(&format!("{ROBOT}[session]\nexpert.hold = 0.1\nexpert.state_timeout = 0.5\n"))
        .try_into()
        .expect("one");
    assert!(problem.starts_with("line 4: session.expert.hold: found 0.1, expected at least stale_after"), "{problem}");
    let [problem] = problems(&format!("{ROBOT}[session]\nexpert.stale_after = 3.0\n")).try_into().expect("one");
    assert!(
        problem.starts_with("line 4: session.expert.stale_after: found 3.0, expected one that goes with"),
        "{problem}"
    );
    let same = "[operator]\nexpert.request_input = 3\nexpert.acknowledge_input = 3\n";
    let [problem] = problems(&format!("{ROBOT}{same}")).try_into().expect("one");
    assert_eq!(
        problem,
        "line 5: operator.expert.acknowledge_input: found 3, expected another input than request_input"
    );
    let looser = "[session.expert.grade.perfect]\njitter = 0.9\n[session.expert.grade.ok]\njitter = 0.5\n";
    let [problem] = problems(&format!("{ROBOT}{looser}")).try_into().expect("one");
    assert!(problem.starts_with("line 3: session.expert.grade"), "{problem}");
    let [problem] = problems(&format!("{ROBOT}[connect]\nexpert.back_off_min = 10\nexpert.back_off_max = 5\n"))
        .try_into()
        .expect("one");
    assert_eq!(problem, "line 4: connect.expert.back_off_min: found 10, expected at most back_off_max");
}

#[test]
fn a_default_that_another_key_bounds_follows_it() {
    let session = |lines: &str| Configuration::parse(&format!("{ROBOT}[session]\n{lines}\n")).expect(lines).control;
    let follows = |lines: &str| session(lines).session.text.hold.as_micros();
    assert_eq!(
        [follows("expert.stale_after = 0.1"), follows("expert.state_timeout = 0.3"), follows("")],
        [100_000, 300_000, 40_000]
    );
    let short = session("expert.hold = 0.02").session;
    assert_eq!((short.link.stale_after, short.mode.state_timeout), (Some(short.text.hold), Some(short.text.hold)));
    assert_eq!(session("expert.own_stop = 0.5").limits.braking.0, [0.5; 6], "an arm that brakes less needs more room");
    let fast = session("[limits]\nacceleration = [5, 5, 5, 5, 5, 40]").session.text;
    assert_eq!((fast.acceleration, fast.stop_acceleration), (40.0, 10.0));
    assert_eq!(session("[limits]\nacceleration = 5").session.text.acceleration, 10.0, "the default is enough");
    let hard =
        session("software = \"5.15\"\nexpert.form = \"self-ending\"\n[limits]\nexpert.braking = 20").session.text;
    assert_eq!((hard.acceleration, hard.stop_acceleration, hard.own_stop), (10.0, 20.0, 2.0));
    let both = format!("{ROBOT}[session]\nexpert.acceleration = 20\n[limits]\nacceleration = 30\n");
    let [problem] = problems(&both).try_into().expect("one problem");
    let expected =
        "line 6: limits.acceleration: found 30, expected at most 20 rad/s² for joint 1: session.expert.acceleration, ";
    assert!(problem.starts_with(expected), "{problem}");
    // The controller's own stop is known only from a measurement.
    let [problem] = problems(&format!("{ROBOT}[limits]\nexpert.braking = 8\n")).try_into().expect("one problem");
    let expected =
        "line 4: limits.expert.braking: found 8, expected at most 2 rad/s² for joint 1: session.expert.own_stop, ";
    assert!(problem.starts_with(expected), "{problem}");
    // The period of a KRC is unknown until it sends.
    let krc = |stale_after: &str| {
        let text = format!(
            "robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\n[session]\nexpert.stale_after = {stale_after}\n"
        );
        KrcConfiguration::parse(&text).map_err(|problems| problems[0].to_string())
    };
    assert!(krc("0.02").is_ok() && krc("0.15").is_ok());
    let refused = krc("0.0015").expect_err("a millisecond is the shortest period");
    assert_eq!(refused, "line 4: session.expert.stale_after: found 0.0015, expected at least two periods");
}

#[test]
fn who_asks_at_the_start_is_one_alone() {
    let input = "[operator]\nexpert.request_input = 0\n";
    let start = "[run]\nrequest = \"start\"\n";
    let [problem] = problems(&format!("{ROBOT}{input}{start}")).try_into().expect("one problem");
    assert!(
        problem.starts_with(
            "line 6: run.request: found \"start\", expected \"operator\" with operator.expert.request_input"
        ),
        "{problem}"
    );
    let edge = format!("{ROBOT}{input}expert.request_as = \"edge\"\n{start}expert.start_within = 5\n");
    let operator = Configuration::parse(&edge).expect("valid").control.engine().operator;
    assert_eq!((operator.start_within, operator.is_held()), (Some(Duration::from_secs(5)), false));
    let quiet = Configuration::parse(&format!("{ROBOT}{input}")).expect("valid").control.engine().operator;
    assert_eq!((quiet.start_within, quiet.is_held()), (None, true), "held unless said");
    let krc = format!("robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\n{input}{start}");
    let problem = KrcConfiguration::parse(&krc).expect_err("both").iter().map(ToString::to_string).collect::<String>();
    assert!(problem.contains("run.request"), "{problem}");
}

#[test]
fn a_pendant_can_be_locked_on_a_cb3_only() {
    let lock = "[run]\nexpert.lock_pendant = true\n";
    for more in ["", "[session]\nsoftware = \"3.1\"\n", "[session]\nsoftware = \"3.15\"\n"] {
        assert!(Configuration::parse(&format!("{ROBOT}{lock}{more}")).expect("valid").run.lock_pendant);
    }
    for (software, found) in [("3.0", "3.0.0"), ("1.8", "1.8.0"), ("5.15", "5.15.0"), ("10.11", "10.11.0")] {
        let [problem] =
            problems(&format!("{ROBOT}{lock}[session]\nsoftware = \"{software}\"\n")).try_into().expect("one");
        let expected =
            format!("run.expert.lock_pendant: found true, expected false: software {found} has no user roles");
        assert!(problem.contains(&expected), "{problem}");
    }
    let arm =
        |model: &str| format!("robot.address = \"a\"\nrobot.model = \"{model}\"\nlaw.kind = \"joint-servo\"\n{lock}");
    assert!(Configuration::parse(&arm("ur10")).is_ok());
    let [problem] = problems(&arm("ur5e")).try_into().expect("one problem");
    assert!(problem.contains("a ur5e has no user roles that a program can set"), "{problem}");
    let krc = format!("robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\n{lock}");
    let problem =
        KrcConfiguration::parse(&krc).expect_err("no roles").iter().map(ToString::to_string).collect::<String>();
    assert!(problem.contains("run.expert.lock_pendant") && problem.contains("for a KRC"), "{problem}");
}

#[test]
fn every_time_of_an_operator_can_be_set() {
    let more =
        "[operator]\nexpert.stop_input = 5\nexpert.low_for = 0.1\nexpert.released_for = 2\nexpert.low_states = 4\n";
    let operator = Configuration::parse(&format!("{ROBOT}{more}")).expect("valid").control.engine().operator;
    assert_eq!((operator.stop_input, operator.low_states), (Some(5), 4));
    assert_eq!((operator.low_for.as_millis(), operator.released_for.as_millis()), (100, 2_000));
}

#[test]
fn a_sensor_that_anybody_may_feign_is_warned_of_with_what_to_add() {
    let warnings = |from: &str| {
        let source = format!("{ROBOT}[[source]]\nname = \"d\"\ninput = \"udp\"\nlisten = \"0.0.0.0:5005\"\n{from}");
        let sources = Configuration::parse(&source).expect("valid").control.sources;
        sources.iter().filter_map(SourceSettings::warning).collect::<Vec<_>>()
    };
    let [warning] = warnings("").try_into().expect("one warning");
    assert!(warning.contains("from = \"ADDRESS\"") && warning.contains("0.0.0.0:5005"), "{warning}");
    assert_eq!(warnings("from = \"192.168.56.50\"\n"), Vec::<String>::new());
}

#[test]
fn a_port_alone_is_that_port_of_every_local_address() {
    let listens = |at: &str| {
        let source = format!("{ROBOT}[[source]]\nname = \"d\"\ninput = \"udp\"\nlisten = \"{at}\"\n");
        let read = Configuration::parse(&source).ok()?;
        read.control.sources.iter().find_map(|source| match source.input {
            SourceInput::Udp { listen, .. } => Some(listen.to_string()),
            _ => None,
        })
    };
    assert_eq!(listens("5005").as_deref(), Some("0.0.0.0:5005"));
    assert_eq!(listens("127.0.0.1:5005").as_deref(), Some("127.0.0.1:5005"));
    for wrong in ["65536", "-1", "sensor", ":5005", ""] {
        assert_eq!(listens(wrong), None, "{wrong}");
    }
}

#[test]
fn what_the_core_refuses_is_offered_by_no_key_and_each_range_is_the_cores() {
    let told = |line: &str| problems(&format!("{ROBOT}[session.expert]\n{line}\n"));
    let [problem] = told("entry = \"Unacceptable\"").try_into().expect("one problem");
    assert!(problem.contains("expected one of \"Bad\", \"Ok\", \"Perfect\""), "{problem}");
    for (line, key) in [
        ("max_misses = 0", "max_misses"),
        ("stale_after = 0.003", "stale_after"),
        ("leak_ppm = 10001", "leak_ppm"),
        ("evidence_age = 2.1", "evidence_age"),
        ("stop_timeout = 60.1", "stop_timeout"),
        ("program_timeout = 5.1", "program_timeout"),
        ("good_cycles = 0", "good_cycles"),
    ] {
        let [problem] = told(line).try_into().expect("one problem");
        assert!(problem.starts_with(&format!("line 4: session.expert.{key}: found ")), "{problem}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_panic(source in "(\\[?[a-z_.]{0,8}\\]?( = [0-9a-z\"\\[\\]{},.-]{0,12})?\n){0,6}") {
        let _ = Configuration::parse(&source);
    }
}

#[test]
fn further_variables_are_those_that_a_controller_sends_each_once_and_none_beside_a_krc() {
    let of = |list: &str| format!("{ROBOT}run.expert.record_variables = {list}\n");
    let read = Configuration::parse(&of("[\"target_moment\", \"output_int_register_3\"]")).expect("two variables");
    assert_eq!(read.run.record_variables, ["target_moment", "output_int_register_3"]);
    assert_eq!(Configuration::parse(&of("[]")).expect("none").run.record_variables, [""; 0]);
    let wrong = "[\"target_momnt\", \"actual_q\", \"actual_q\", \"timestamp\", 3, \"speed_slider_mask\"]";
    let variable = "expected a variable of RTDE that the controller sends";
    assert_eq!(
        problems(&of(wrong)),
        [
            format!("found \"target_momnt\", {variable}; did you mean \"target_moment\"?"),
            "found \"actual_q\", expected actual_q once".into(),
            "found \"timestamp\", expected no timestamp: it is always recorded".into(),
            "found 3, expected variables of RTDE that the controller sends, e.g. \"target_moment\", as a string".into(),
            format!("found \"speed_slider_mask\", {variable}; did you mean \"speed_scaling\"?"),
        ]
        .map(|problem: String| format!("line 3: run.expert.record_variables: {problem}"))
    );
    let [problem] = problems(&of("\"actual_q\"")).try_into().expect("one problem");
    assert!(problem.ends_with("as an array of strings"), "{problem}");

    // As many names as fit into a request, and one more.
    let names: Vec<String> = ["double", "int"]
        .iter()
        .flat_map(|kind| (0..48).map(move |number| format!("\"output_{kind}_register_{number}\"")))
        .collect();
    let found = problems(&of(&format!("[{}]", names.join(", "))));
    let fit = names.len() - found.len();
    let length = |count: usize| "timestamp".len() + names[..count].iter().map(|name| name.len() - 1).sum::<usize>();
    assert!(length(fit) <= 2048 && length(fit + 1) > 2048, "{fit} of {}", names.len());
    assert!(found[0].ends_with("expected fewer variables: a request holds 2048 bytes of names"), "{}", found[0]);

    let krc = "robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\nrun.expert.record_variables = [\"actual_q\"]\n";
    let problems = KrcConfiguration::parse(krc).expect_err("a KRC has no RTDE");
    let [problem] = problems.try_into().expect("one problem");
    assert!(problem.to_string().contains("no such key for a KRC: these are variables of RTDE"), "{problem}");
}

#[test]
fn topics_of_variables_and_bounds_of_payloads_are_checked_and_a_krc_has_no_variables() {
    let of = |lines: &str| format!("{ROBOT}[ros.expert]\n{lines}\n");
    let read = Configuration::parse(&of("variables = [\"actual_momentum\"]\nmax_payload = 5.0")).expect("both");
    assert_eq!((read.ros.variables, read.ros.max_payload), (vec!["actual_momentum".to_owned()], 5.0));
    let [problem] = problems(&of("variables = [\"actual_momentun\"]")).try_into().expect("one problem");
    assert!(
        problem.starts_with("line 4: ros.expert.variables: ") && problem.ends_with("did you mean \"actual_momentum\"?"),
        "{problem}"
    );
    let [problem] = problems(&of("min_payload = 3.0\nmax_payload = 2.0")).try_into().expect("one problem");
    assert!(problem.contains("ros.expert.min_payload") && problem.contains("at most max_payload, 2 kg"), "{problem}");
    let krc = "robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\nros.expert.variables = [\"actual_q\"]\n";
    let [problem] = KrcConfiguration::parse(krc).expect_err("a KRC has no RTDE").try_into().expect("one problem");
    assert!(problem.to_string().contains("no such key for a KRC: these are variables of RTDE"), "{problem}");
}

#[test]
fn torques_need_a_law_that_commands_them_and_software_that_has_them() {
    let file = |path: &str, software: &str, law: &str| {
        let source = format!(
            "[robot]\naddress = \"10.0.0.1\"\n[session]\npath = \"{path}\"\nsoftware = \"{software}\"\n[law]\n{law}\n\
             [limits.expert]\ntorque = [5, 5, 5, 2, 2, 2]\ntorque_rise = 0.2\ntravel = 0.5\n"
        );
        Configuration::parse(&source).map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let servo = "kind = \"joint-servo\"\n[law.expert]\ntorque_gain = 1.5";
    for (path, software) in [("reverse-torque", "5.23"), ("external-torque", "10.11")] {
        let read = file(path, software, servo).unwrap().control.engine().peer;
        assert_eq!((read.torque.torque.0[3], read.torque.travel, read.path.name()), (2.0, 0.5, path));
        assert_eq!(read.torque.rise, Duration::from_millis(200));
        let told = file(path, software, "kind = \"twist\"\n[law.expert]\ntwist = [0, 0, 0, 0, 0, 0]").unwrap_err();
        assert!(told.iter().any(|told| told.contains("no other law commands torques")), "{told:?}");
    }
    for (path, software) in [("reverse-torque", "5.22"), ("reverse-torque", "10.10"), ("external-torque", "3.15")] {
        let told = file(path, software, servo).unwrap_err();
        assert!(told.iter().any(|told| told.contains("torques need software 5.23, or 10.11")), "{told:?}");
    }
    let told = file("external-torque", "5.23", &format!("{servo}\n[program.expert]\nby = \"nobody\"")).unwrap_err();
    assert!(told.iter().any(|told| told.contains("does not apply our torque limits")), "{told:?}");
}
