//! Functions with which a pendant configures the controller, and the functions that read the settings. `manual.tsv`
//! lists the source of each name.

use super::Signature;
use super::table::{float, host, req};

/// The built-in functions that configure a controller, and those that read its settings, of any controller software.
pub(super) static SETUP: &[Signature] = &[
    // A pendant writes these at the beginning of every program: terminals, the tool's connector, inputs with an action,
    // outputs that follow the state of the program.
    host("set_standard_analog_input_domain", &[req("port"), req("domain")]).since(3, 0),
    host("set_tool_analog_input_domain", &[req("port"), req("domain")]).since(3, 0),
    host(
        "set_tool_communication",
        &[
            req("enabled"),
            req("baud_rate"),
            req("parity"),
            req("stop_bits"),
            req("rx_idle_chars"),
            req("tx_idle_chars"),
        ],
    )
    .since(5, 0),
    host("set_tool_output_mode", &[req("mode")]).since(5, 0),
    host("set_tool_digital_output_mode", &[req("n"), req("mode")]).since(5, 0),
    host("set_input_actions_to_default", &[]).since(3, 0),
    host("set_standard_digital_input_action", &[req("port"), req("action")]).since(3, 0),
    host("set_configurable_digital_input_action", &[req("port"), req("action")]).since(3, 0),
    host("set_tool_digital_input_action", &[req("port"), req("action")]).since(3, 0),
    host("set_gp_boolean_input_action", &[req("port"), req("action")]).since(3, 0),
    host("set_runstate_outputs", &[req("outputs")]),
    host("set_runstate_standard_digital_output_to_value", &[req("outputId"), req("state")]).since(3, 0),
    host("set_runstate_configurable_digital_output_to_value", &[req("outputId"), req("state")]).since(3, 0),
    host("set_runstate_tool_digital_output_to_value", &[req("outputId"), req("state")]).since(3, 0),
    host("set_runstate_standard_analog_output_to_value", &[req("outputId"), req("state")]).since(3, 0),
    host("set_runstate_gp_boolean_output_to_value", &[req("outputId"), req("state")]).since(3, 0),
    host("set_safety_mode_transition_hardness", &[req("type")]).since(3, 0),
    host("position_deviation_warning", &[req("enabled"), float("threshold", 0.8)]).since(3, 0),
    host("set_baselight_off", &[]).since(5, 0),
    host("set_baselight_iec", &[]).since(5, 0),
    host("set_baselight_solid", &[req("r"), req("g"), req("b")]).since(5, 0),
    // Reading of settings, and of the tool.
    host("get_analog_out", &[req("n")]),
    host("get_standard_analog_out", &[req("n")]).since(3, 0),
    host("get_tool_analog_in", &[req("n")]).since(3, 0),
    host("get_gravity", &[]).since(5, 17).polyscope_x_since(0),
    host("get_tool_current", &[]).since(3, 0),
    host("get_tool_temp", &[]).since(5, 17).polyscope_x_since(0),
    host("get_tool_accelerometer_reading", &[]).since(3, 0),
    host("force_mode_get_damping", &[]).since(5, 20).polyscope_x_since(0),
    host("force_mode_get_gain_scaling", &[]).since(5, 20).polyscope_x_since(0),
    host("get_target_tcp_pose_along_path", &[]).since(3, 0),
    host("get_target_tcp_speed_along_path", &[]).since(3, 0),
    host("random", &[]).since(3, 0),
];
