//! The set-up calls at the head of every exported program: each exists, takes effect if it can, and refuses invalid
//! arguments.

use crate::common::{Bench, f64_at};
use outrigger_sim::port::Port;

/// The head of a program exported by a pendant of 5.x.
const HEAD: [&str; 19] = [
    "set_gravity([0.0, 0.0, 9.82])",
    "set_safety_mode_transition_hardness(1)",
    "set_standard_analog_input_domain(0, 1)",
    "set_standard_analog_input_domain(1, 0)",
    "set_tool_analog_input_domain(0, 1)",
    "set_tool_analog_input_domain(1, 0)",
    "set_analog_outputdomain(0, 0)",
    "set_input_actions_to_default()",
    "set_standard_digital_input_action(0, \"default\")",
    "set_configurable_digital_input_action(7, \"freedrive\")",
    "set_tool_digital_input_action(1, \"default\")",
    "set_gp_boolean_input_action(127, \"default\")",
    "set_runstate_standard_digital_output_to_value(3, 3)",
    "set_runstate_configurable_digital_output_to_value(5, 2)",
    "set_runstate_tool_digital_output_to_value(1, 0)",
    "set_runstate_standard_analog_output_to_value(1, 1)",
    "set_runstate_gp_boolean_output_to_value(64, 4)",
    "position_deviation_warning(True, 0.8)",
    "position_deviation_warning(False)",
];

/// The further calls at the head of an exported program. They set up the tool or the light at the base, and exist from
/// software 5.0 on.
const TOOL: [&str; 6] = [
    "set_tool_communication(True, 115200, 0, 1, 1.5, 3.5)",
    "set_tool_output_mode(1)",
    "set_tool_digital_output_mode(0, 2)",
    "set_tool_digital_output_mode(1, 3)",
    "set_baselight_solid(0, 128, 255)",
    "set_baselight_iec()\n set_baselight_off()",
];

/// Runs a program. Returns its messages and errors.
fn says(bench: &mut Bench, lines: &[&str]) -> Vec<String> {
    let primary = bench.connect(Port::Primary);
    let lines: String = lines.iter().map(|line| format!(" {line}\n")).collect();
    bench.send(primary, &format!("def main():\n{lines}end\n"));
    bench.run(200);
    bench.told(primary)
}

#[test]
fn the_head_of_an_exported_program_is_taken_on_every_generation() {
    for ((major, minor), tool) in [((3, 0), false), ((3, 15), false), ((5, 0), true), ((5, 15), true), ((10, 12), true)]
    {
        let mut bench = Bench::software(major, minor);
        let tool = if tool { &TOOL[..] } else { &[] };
        let lines = [&HEAD[..], tool, &["textmsg(\"set up\")"]].concat();
        assert_eq!(says(&mut bench, &lines), ["set up"], "{major}.{minor}");
        let io = bench.controller.io();
        assert_eq!((io.analog_in_range, io.tool_analog_in_range, io.analog_out_domain[0]), ([1, 0], [1, 0], 0));
    }
}

#[test]
fn what_client_libraries_write_first_is_taken_on_every_generation() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15)] {
        let mut bench = Bench::software(major, minor);
        let lines = [
            "set_analog_inputrange(0,0)",
            "set_analog_inputrange(3,0)",
            "set_analog_outputdomain(0,0)",
            "set_tool_voltage(0)",
            "set_runstate_outputs([])",
            "set_payload(0.85)",
            "textmsg(\"set up\")",
        ];
        assert_eq!(says(&mut bench, &lines), ["set up"], "{major}.{minor}");
    }
}

#[test]
fn modes_of_the_tool_and_gravity_are_kept_and_read_back() {
    let mut bench = Bench::software(5, 25);
    let rtde = bench.subscribe(
        500.0,
        "tool_output_mode,tool_digital_output0_mode,tool_digital_output1_mode,target_gravity,actual_tool_accelerometer",
    );
    let lines = [
        "set_gravity([0.0, 6.0, 8.0])",
        "set_standard_analog_out(0, 0.5)",
        "textmsg(get_gravity())",
        "textmsg(get_standard_analog_out(0) + get_analog_out(0))",
        "textmsg(get_tool_analog_in(1))",
        "textmsg([get_tool_current(), get_tool_temp()])",
        "textmsg(norm(get_tool_accelerometer_reading()))",
        "force_mode_set_damping(0.25)\n force_mode_set_gain_scaling(0.5)",
        "textmsg([force_mode_get_damping(), force_mode_get_gain_scaling()])",
        "textmsg(get_target_tcp_pose_along_path() == get_target_tcp_pose())",
        "textmsg(get_target_tcp_speed_along_path())",
        "r = random()\n textmsg(r >= 0 and r < 1 and r != random())",
    ];
    let expected = ["[0, 6, 8]", "10", "0", "[0.006, 40]", "10", "[0.25, 0.5]", "True", "[0, 0, 0, 0, 0, 0]", "True"];
    assert_eq!(says(&mut bench, &[&TOOL[..], &lines].concat()), expected);
    let (_, data) = bench.packages(rtde).pop().unwrap();
    assert_eq!(data[1..4], [1, 2, 3]);
    assert_eq!([4, 12, 20].map(|at| f64_at(&data, at)), [0.0, 6.0, 8.0]);
}

#[test]
fn what_is_no_setting_ends_the_program_where_it_stands() {
    for line in [
        "set_standard_analog_input_domain(2, 1)",
        "set_standard_analog_input_domain(0, 2)",
        "set_tool_analog_input_domain(0, \"a\")",
        "set_tool_output_mode(2)",
        "set_tool_digital_output_mode(0, 0)",
        "set_tool_communication(True, 115201, 0, 1, 1.5, 3.5)",
        "set_tool_communication(True, 115200, 3, 1, 1.5, 3.5)",
        "set_tool_communication(True, 115200, 0, 1, 0.5, 3.5)",
        "set_safety_mode_transition_hardness(2)",
        "set_standard_digital_input_action(0, \"pause\")",
        "set_runstate_tool_digital_output_to_value(0, 5)",
        "set_runstate_outputs(1)",
        "position_deviation_warning(True, 1.5)",
        "set_baselight_solid(0, 0, 256)",
        "set_gravity([0, 0])",
    ] {
        let mut bench = Bench::software(5, 15);
        let name = line.split('(').next().unwrap();
        assert_eq!(says(&mut bench, &[line, "textmsg(\"after\")"]), [format!("type_error:{name}:")], "{line}");
    }
}
