//! The functions with which programs read the arm's state and its geometry (external control 5.3).

use outrigger_sim::arm::Drive;
use outrigger_sim::controller::Options;
use outrigger_sim::model::ArmModel;
use outrigger_sim::port::Port;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use crate::common::{Bench, ideal};

/// Runs statements. Returns the texts and the error of the program.
fn says(options: Options, statements: &str) -> Vec<String> {
    let mut bench = Bench::new(options);
    let primary = bench.connect(Port::Primary);
    bench.run(50);
    bench.told(primary);
    bench.send(primary, &format!("def main():\n{statements}\nend\n"));
    bench.run(4000);
    bench.told(primary)
}

fn numbers(text: &str) -> Vec<f64> {
    let inside = text.trim_start_matches(['p', '[']).trim_end_matches(']');
    inside.split(", ").map(|number| number.parse().unwrap_or_else(|_| panic!("{text}"))).collect()
}

fn near(text: &str, expected: &[f64], tolerance: f64) {
    let found = numbers(text);
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance);
    assert!(same, "{text} is not {expected:?}");
}

#[test]
fn forward_and_inverse_kinematics_agree_on_every_arm() {
    for model in RobotModel::ALL {
        // Each arm with software that supports it.
        let softwares = [(5, 25), (3, 15)].map(|(major, minor)| SoftwareVersion::new(major, minor));
        let software = softwares.into_iter().find(|software| ArmModel::of(*model).runs(*software).is_ok()).unwrap();
        let mut options = Options::new(*model, software);
        options.drive = Drive::IDEAL;
        let q = options.q;
        let statements = " q = [0.3,-1.2,-1.4,-0.9,1.3,0.4]\n tool = p[0.01,0.02,0.1,0.1,-0.2,0.3]\n textmsg(get_inverse_kin(get_forward_kin(q), q))\n \
            textmsg(get_inverse_kin(get_forward_kin(q, tool), q, 1e-10, 1e-10, tool))\n textmsg(get_forward_kin())\n \
            textmsg(get_actual_tcp_pose())\n textmsg(get_inverse_kin(get_actual_tcp_pose()))";
        let told = says(options, statements);
        for text in &told[..2] {
            near(text, &[0.3, -1.2, -1.4, -0.9, 1.3, 0.4], 2e-6);
        }
        assert_eq!(told[2], told[3], "{model:?}");
        near(&told[4], &q, 1e-5);
    }
}

#[test]
fn the_posture_that_is_asked_for_is_the_one_that_comes() {
    let told = says(
        ideal(5, 15),
        " q = [-0.3,-1.2,-1.4,-0.9,1.3,0.4]\n far = [5.9,-1.2,-1.4,-0.9,1.3,0.4]\n x = get_forward_kin(q)\n \
         textmsg(get_inverse_kin(x, qnear=far))\n textmsg(get_inverse_kin(x, [-0.3,-2.6,1.4,-0.3,1.3,0.4]))",
    );
    near(&told[0], &[std::f64::consts::TAU - 0.3, -1.2, -1.4, -0.9, 1.3, 0.4], 1e-5);
    assert!(numbers(&told[1])[2] > 0.0, "elbow the other way: {}", told[1]);
}

#[test]
fn a_pose_without_solution_ends_the_program_and_can_be_asked_for_before() {
    for (major, minor) in [(3, 15), (5, 10), (10, 0)] {
        let told = says(
            ideal(major, minor),
            " textmsg(get_inverse_kin_has_solution(get_actual_tcp_pose()))\n textmsg(get_inverse_kin_has_solution(p[3,0,0,0,0,0]))\n \
             textmsg(get_inverse_kin(p[3,0,0,0,0,0]))\n textmsg(\"never\")",
        );
        assert_eq!(&told[..2], ["True", "False"]);
        assert_eq!(told[2..], ["get_inverse_kin: no solution for p[3, 0, 0, 0, 0, 0]"]);
    }
    let told = says(ideal(5, 9), " a = get_inverse_kin_has_solution(p[3,0,0,0,0,0])");
    assert_eq!(told, ["compile_error_name_not_found:get_inverse_kin_has_solution:"]);
}

#[test]
fn limits_are_known_for_poses_and_joints() {
    let told = says(
        ideal(5, 15),
        " textmsg(is_within_safety_limits(get_actual_tcp_pose()))\n textmsg(is_within_safety_limits(p[2,0,0,0,0,0]))\n \
         textmsg(is_within_safety_limits([0,-1,-1,-1,1,0]))\n textmsg(is_within_safety_limits([7,-1,-1,-1,1,0]))\n \
         textmsg(is_within_safety_limits(get_actual_tcp_pose(), get_actual_joint_positions()))",
    );
    assert_eq!(told, ["True", "False", "True", "False", "True"]);
}

#[test]
fn the_past_of_the_joints_is_kept_as_long_as_the_option_says() {
    let mut options = ideal(5, 15);
    options.joint_history = 100;
    let told = says(
        options,
        " speedj([0,0,0,0,0,1], 100, 0.1)\n now = get_actual_joint_positions_history()\n \
         then = get_actual_joint_positions_history(10)\n textmsg(now[5] - then[5])\n textmsg(get_actual_joint_positions() == now)\n \
         a = get_actual_joint_positions_history(100)",
    );
    near(&told[0], &[0.02], 1e-6);
    assert_eq!(told[1], "True");
    assert_eq!(told[2], "get_actual_joint_positions_history: 100 steps back is further than is kept");
}

#[test]
fn the_arm_is_steady_half_a_second_after_its_last_motion() {
    let told = says(
        ideal(5, 15),
        " sleep(0.6)\n textmsg(is_steady())\n speedj([0,0,0,0,0,0.2], 10, 0.1)\n textmsg(is_steady())\n stopj(10)\n sleep(0.4)\n \
         textmsg(is_steady())\n sleep(0.15)\n textmsg(is_steady())",
    );
    assert_eq!(told, ["True", "False", "False", "True"]);
}

#[test]
fn tool_flange_and_payload_read_as_they_were_set() {
    let told = says(
        ideal(5, 15),
        " set_tcp(p[0,0,0.1,0,0,0])\n textmsg(get_tcp_offset())\n a = get_actual_tool_flange_pose()\n \
         textmsg(point_dist(a, get_actual_tcp_pose()))\n textmsg(point_dist(get_target_tcp_pose(), get_actual_tcp_pose()) < 0.0001)\n \
         set_target_payload(1.5, [0.01, 0.02, 0.03], [0.1, 0.1, 0.1, 0, 0, 0])\n textmsg(get_target_payload())\n \
         textmsg(get_target_payload_cog())\n textmsg(get_target_payload_inertia())\n textmsg(get_target_tcp_speed())",
    );
    assert_eq!(
        told,
        [
            "p[0, 0, 0.1, 0, 0, 0]",
            "0.1",
            "True",
            "1.5",
            "[0.01, 0.02, 0.03]",
            "[0.1, 0.1, 0.1, 0, 0, 0]",
            "[0, 0, 0, 0, 0, 0]"
        ]
    );
}

#[test]
fn the_time_is_a_struct_that_goes_on() {
    let told = says(
        ideal(5, 15),
        " a = time()\n sleep(0.5)\n b = time()\n textmsg(b.sec - a.sec + (b.nanosec - a.nanosec) / 1000000000)\n c = time(2)",
    );
    near(&told[0], &[0.5], 0.003);
    assert_eq!(told[1], "time: mode 2 is not simulated, only 0");
}

#[test]
fn every_question_about_state_has_an_answer() {
    for question in [
        "get_joint_positions()",
        "get_actual_joint_positions()",
        "get_target_joint_positions()",
        "get_actual_joint_speeds()",
        "get_target_joint_speeds()",
        "get_actual_tcp_pose()",
        "get_actual_tcp_speed()",
        "get_target_tcp_pose()",
        "get_target_tcp_speed()",
        "get_target_waypoint()",
        "get_target_joint_accelerations()",
        "get_joint_torques()",
        "get_joint_temp(3)",
        "get_controller_temp()",
        "get_digital_in(1)",
        "get_digital_out(1)",
        "get_standard_digital_in(1)",
        "get_configurable_digital_in(1)",
        "get_tool_digital_in(1)",
        "get_standard_digital_out(1)",
        "get_configurable_digital_out(1)",
        "get_tool_digital_out(1)",
        "get_analog_in(1)",
        "get_standard_analog_in(1)",
        "get_flag(1)",
        "read_output_boolean_register(1)",
        "read_output_integer_register(1)",
        "read_output_float_register(1)",
        "read_input_boolean_register(1)",
    ] {
        let told = says(ideal(5, 25), &format!(" textmsg({question})\n textmsg(\"next\")"));
        assert_eq!(told.last().map(String::as_str), Some("next"), "{question}: {told:?}");
        assert!(told.len() == 2 && !told[0].is_empty() && told[0] != "None", "{question}: {told:?}");
    }
    let told = says(ideal(5, 25), " textmsg(get_joint_temp(6))");
    assert_eq!(told, ["type_error:get_joint_temp:"]);
}
