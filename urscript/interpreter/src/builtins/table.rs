//! The table of all functions with their parameters and the first software that has them.

use super::super::error::FaultKind;
use super::super::limits::Limits;
use super::super::pure::{self, lists, poses, strings};
use super::super::value::Value;
use super::Order;
use super::{Default, FIRST, Param, Run, Signature};

const fn param(name: &'static str, default: Default) -> Param {
    Param { name, default, since: FIRST, optional_since: FIRST, alias: "" }
}

pub(super) const fn req(name: &'static str) -> Param {
    param(name, Default::Required)
}

pub(super) const fn opt(name: &'static str) -> Param {
    param(name, Default::None)
}

pub(super) const fn float(name: &'static str, default: f64) -> Param {
    param(name, Default::Float(default))
}

const fn boolean(name: &'static str, default: bool) -> Param {
    param(name, Default::Bool(default))
}

pub(super) const fn host(name: &'static str, params: &'static [Param]) -> Signature {
    Signature::new(name, params, Run::Host)
}

const fn host_since(major: u8, minor: u8, name: &'static str, params: &'static [Param]) -> Signature {
    host(name, params).since(major, minor)
}

const fn here(
    name: &'static str,
    params: &'static [Param],
    run: fn(&[Value], &Limits) -> Result<Value, FaultKind>,
) -> Signature {
    Signature::new(name, params, Run::Here(run))
}

const fn not_simulated(name: &'static str, params: &'static [Param]) -> Signature {
    Signature::new(name, params, Run::NotSimulated)
}

pub(super) const fn int(name: &'static str, default: i32) -> Param {
    param(name, Default::Int(default))
}

const INVERSE: &[Param] =
    &[req("x"), opt("qnear"), float("maxPositionError", 1e-10), float("maxOrientationError", 1e-10), opt("tcp")];

const EXTERNAL_SENSOR: &[Param] =
    &[req("enable"), float("sensor_mass", 0.0), opt("sensor_measuring_offset"), opt("sensor_cog")];

const fn interpreter(name: &'static str, params: &'static [Param], order: Order) -> Signature {
    Signature::new(name, params, Run::Interpreter(order)).since(5, 10)
}

const fn text(name: &'static str, default: &'static str) -> Param {
    param(name, Default::Text(default))
}

const SOCKET: Param = param("socket_name", Default::Text("socket_0"));

/// The parameters of the functions that open ROS 2 publishers and subscribers; times in seconds.
const TOPIC: &[Param] = &[
    req("topic"),
    req("type").alias("msg_type"),
    text("history", "default"),
    int("depth", 1),
    text("reliability", "default"),
    text("durability", "default"),
    float("deadline", 0.0),
    float("lifespan", 0.0),
    text("liveliness", "default"),
    float("lease_duration", 0.0),
];

/// The built-in functions of any controller software whose parameters are known, except the configuration functions
/// in [`SETUP`](super::SETUP).
pub(super) static ALL: &[Signature] = &[
    // Time.
    host("sleep", &[req("t")]),
    host("sync", &[]),
    host("pause", &[]),
    host("get_steptime", &[]),
    // Motion. `t` of speedj became optional with 3.1 or 3.2; the vendor's notes and drivers differ.
    host("speedj", &[req("qd"), req("a"), opt("t").optional_since(3, 1)]),
    host("speedl", &[req("xd"), req("a"), opt("t").optional_since(3, 1), opt("aRot").since(3, 1)]),
    host("stopj", &[req("a")]),
    host("stopl", &[req("a"), opt("aRot").since(3, 1)]),
    host(
        "servoj",
        &[
            req("q"),
            float("a", 0.0),
            float("v", 0.0),
            opt("t"),
            float("lookahead_time", 0.1).since(3, 1),
            float("gain", 300.0).since(3, 1),
        ],
    ),
    host("movej", &[req("q"), float("a", 1.4), float("v", 1.05), float("t", 0.0), float("r", 0.0)]),
    host("movel", &[req("pose"), float("a", 1.2), float("v", 0.25), float("t", 0.0), float("r", 0.0)]),
    host("movep", &[req("pose"), float("a", 1.2), float("v", 0.25), float("r", 0.0)]),
    host(
        "movec",
        &[
            req("pose_via"),
            req("pose_to"),
            float("a", 1.2),
            float("v", 0.25),
            float("r", 0.0),
            int("mode", 0).since(3, 1),
        ],
    ),
    host("servoc", &[req("pose"), float("a", 1.2), float("v", 0.25), float("r", 0.0)]),
    host_since(5, 21, "optimovej", &[req("goal"), float("a", 0.3), float("v", 0.3), float("r", 0.0)])
        .polyscope_x_since(8),
    host_since(5, 21, "optimovel", &[req("goal"), float("a", 0.3), float("v", 0.3), float("r", 0.0)])
        .polyscope_x_since(8),
    // Torques. The older name was used in one released script of a client. The first software of each on PolyScope X is
    // from clients.
    host_since(5, 22, "torque_command", &[req("torque"), boolean("friction_comp", true)]).polyscope_x_since(10),
    host_since(
        5,
        23,
        "direct_torque",
        &[req("torque"), opt("friction_comp"), opt("viscous_scale"), opt("coulomb_scale")],
    )
    .polyscope_x_since(11),
    // State.
    host("get_joint_positions", &[]),
    host("get_actual_joint_positions", &[]),
    host("get_target_joint_positions", &[]),
    host("get_actual_joint_speeds", &[]),
    host("get_target_joint_speeds", &[]),
    host("get_actual_tcp_pose", &[]),
    host("get_actual_tcp_speed", &[]),
    host("is_steady", &[]),
    host("get_target_tcp_pose", &[]),
    host("get_target_tcp_speed", &[]),
    host("get_target_waypoint", &[]),
    host("get_tcp_offset", &[]),
    host("get_joint_torques", &[]),
    host("get_joint_temp", &[req("j")]),
    host("get_controller_temp", &[]),
    host_since(3, 3, "get_actual_tool_flange_pose", &[]),
    host_since(3, 3, "get_actual_joint_positions_history", &[int("steps", 0)]),
    host_since(3, 3, "get_target_payload", &[]),
    host_since(3, 3, "get_target_payload_cog", &[]),
    host_since(5, 10, "get_target_payload_inertia", &[]),
    host_since(5, 22, "get_target_joint_accelerations", &[]).polyscope_x_since(10),
    host_since(3, 3, "is_within_safety_limits", &[req("pose"), opt("qNear")]),
    host_since(5, 11, "time", &[int("mode", 0)]),
    // Kinematics and dynamics.
    host("get_forward_kin", &[opt("q"), opt("tcp")]),
    host("get_inverse_kin", INVERSE),
    host_since(3, 15, "get_inverse_kin_has_solution", INVERSE).e_series_since(10),
    host_since(5, 22, "get_mass_matrix", &[opt("q"), boolean("include_rotors_inertia", false)]).polyscope_x_since(10),
    host_since(5, 22, "get_coriolis_and_centrifugal_torques", &[opt("q"), opt("qd")]).polyscope_x_since(10),
    host_since(5, 22, "get_jacobian", &[opt("q"), opt("tcp")]).polyscope_x_since(10),
    host_since(5, 22, "get_jacobian_time_derivative", &[opt("q"), opt("qd"), opt("tcp")]).polyscope_x_since(10),
    // Force. A client in use also zeroes the sensor on CB3; the first software is unconfirmed.
    host("get_tcp_force", &[]),
    host("force", &[]),
    host_since(3, 3, "zero_ftsensor", &[]),
    host("force_mode", &[req("task_frame"), req("selection_vector"), req("wrench"), req("type"), req("limits")]),
    host("end_force_mode", &[]),
    host_since(3, 5, "force_mode_set_damping", &[req("damping")]),
    // The vendor's own program also uses these two on CB3; the manuals for CB3 do not list them.
    host_since(3, 14, "force_mode_set_gain_scaling", &[req("scaling")]).e_series_since(0),
    host_since(3, 14, "tool_contact", &[opt("direction")]).e_series_since(4),
    host_since(3, 8, "protective_stop", &[]),
    host("freedrive_mode", &[opt("freeAxes").since(5, 0), opt("feature").since(5, 0)]),
    host("end_freedrive_mode", &[]),
    host_since(5, 0, "get_freedrive_status", &[]),
    host("teach_mode", &[]),
    host("end_teach_mode", &[]),
    // An external sensor. The newer name was added in 3.14.1 and 5.9.1; the host distinguishes these bug-fix versions.
    host_since(3, 3, "enable_external_ft_sensor", EXTERNAL_SENSOR),
    host_since(3, 14, "ft_rtde_input_enable", EXTERNAL_SENSOR),
    // Inputs and outputs. The numbered forms of CB2 remain, deprecated.
    host("set_digital_out", &[req("n"), req("b")]),
    host("get_digital_out", &[req("n")]),
    host("get_digital_in", &[req("n")]),
    host("set_analog_out", &[req("n"), req("f")]),
    host("get_analog_in", &[req("n")]),
    host("set_analog_outputdomain", &[req("port"), req("domain")]),
    host("set_analog_inputrange", &[req("port"), req("range")]),
    host("set_tool_voltage", &[req("voltage")]),
    host("set_flag", &[req("n"), req("b")]),
    host("get_flag", &[req("n")]),
    host_since(3, 0, "set_standard_digital_out", &[req("n"), req("b")]),
    host_since(3, 0, "set_configurable_digital_out", &[req("n"), req("b")]),
    host_since(3, 0, "set_tool_digital_out", &[req("n"), req("b")]),
    host_since(3, 0, "set_standard_analog_out", &[req("n"), req("f")]),
    host_since(3, 0, "get_standard_digital_in", &[req("n")]),
    host_since(3, 0, "get_configurable_digital_in", &[req("n")]),
    host_since(3, 0, "get_tool_digital_in", &[req("n")]),
    host_since(3, 0, "get_standard_digital_out", &[req("n")]),
    host_since(3, 0, "get_configurable_digital_out", &[req("n")]),
    host_since(3, 0, "get_tool_digital_out", &[req("n")]),
    host_since(3, 0, "get_standard_analog_in", &[req("n")]),
    // Registers, since RTDE exists (it is not known which of them are older).
    host_since(3, 4, "read_input_boolean_register", &[req("address")]),
    host_since(3, 4, "read_input_integer_register", &[req("address")]),
    host_since(3, 4, "read_input_float_register", &[req("address")]),
    host_since(3, 4, "read_output_boolean_register", &[req("address")]),
    host_since(3, 4, "read_output_integer_register", &[req("address")]),
    host_since(3, 4, "read_output_float_register", &[req("address")]),
    host_since(3, 4, "write_output_boolean_register", &[req("address"), req("value")]),
    host_since(3, 4, "write_output_integer_register", &[req("address"), req("value")]),
    host_since(3, 4, "write_output_float_register", &[req("address"), req("value")]),
    host_since(
        3,
        4,
        "rtde_set_watchdog",
        &[req("variable_name"), req("min_frequency"), param("action", Default::Text("pause"))],
    ),
    // Set-up.
    host("set_payload", &[req("m"), opt("cog")]),
    host_since(3, 3, "set_payload_mass", &[req("m")]),
    host_since(3, 3, "set_payload_cog", &[req("cog")]),
    // After 5.10; earlier software applies the payload at once.
    host_since(5, 10, "set_target_payload", &[req("m"), req("cog"), opt("inertia"), float("transition_time", 0.0)]),
    host("set_gravity", &[req("d")]),
    host("set_tcp", &[req("pose"), opt("tcp_name").since(5, 12)]),
    // Operator.
    host("textmsg", &[req("s1"), param("s2", Default::Text(""))]),
    host(
        "popup",
        &[
            req("s"),
            param("title", Default::Text("Popup")),
            boolean("warning", false),
            boolean("error", false),
            boolean("blocking", false),
        ],
    ),
    // Computed by the interpreter itself.
    here("norm", &[req("a")], pure::norm),
    here("floor", &[req("f")], pure::floor),
    here("ceil", &[req("f")], pure::ceil),
    here("sqrt", &[req("f")], pure::sqrt),
    here("pow", &[req("base"), req("exponent")], pure::pow),
    here("log", &[req("b"), req("f")], pure::log),
    here("sin", &[req("f")], pure::sin),
    here("cos", &[req("f")], pure::cos),
    here("tan", &[req("f")], pure::tan),
    here("asin", &[req("f")], pure::asin),
    here("acos", &[req("f")], pure::acos),
    here("atan", &[req("f")], pure::atan),
    here("atan2", &[req("x"), req("y")], pure::atan2),
    here("d2r", &[req("d")], pure::d2r),
    here("r2d", &[req("r")], pure::r2d),
    here("get_list_length", &[req("v")], lists::get_list_length),
    here("length", &[req("v")], lists::length),
    here("size", &[req("v")], lists::size),
    here("make_list", &[req("length"), req("initial_value"), opt("capacity")], lists::make_list)
        .since(3, 14)
        .e_series_since(9),
    here("transpose", &[req("m")], lists::transpose).since(3, 14).e_series_since(9),
    here("normalize", &[req("v")], lists::normalize),
    here("integer_to_binary_list", &[req("x")], lists::integer_to_binary_list),
    here("binary_list_to_integer", &[req("l")], lists::binary_list_to_integer),
    here("str_at", &[req("src"), req("index")], strings::str_at),
    here("str_cat", &[req("op1"), req("op2")], strings::str_cat),
    here("str_empty", &[req("str")], strings::str_empty),
    here("str_find", &[req("src"), req("target"), int("start_from", 0)], strings::str_find),
    here("str_len", &[req("str")], strings::str_len),
    here("str_sub", &[req("src"), req("index"), int("len", -1)], strings::str_sub),
    here("to_num", &[req("str")], strings::to_num),
    here("to_str", &[req("val")], strings::to_str),
    // The function's name in UR's paper on ROS 2 (`core/docs/protocol/ros2-surface.md` 4.1).
    here("to_string", &[req("val")], strings::to_str).since(10, 7),
    here("pose_add", &[req("p_1"), req("p_2")], poses::pose_add),
    here("pose_dist", &[req("p_from"), req("p_to")], poses::pose_dist),
    here("pose_inv", &[req("p_from")], poses::pose_inv),
    here("pose_sub", &[req("p_to"), req("p_from")], poses::pose_sub),
    here("pose_trans", &[req("p_from"), req("p_from_to")], poses::pose_trans),
    here("point_dist", &[req("p_from"), req("p_to")], poses::point_dist),
    here("interpolate_pose", &[req("p_from"), req("p_to"), req("alpha")], poses::interpolate_pose),
    here("wrench_trans", &[req("T_from_to"), req("w_from")], poses::wrench_trans),
    here("rotvec2rpy", &[req("rotation_vector")], poses::rotvec2rpy),
    here("rpy2rotvec", &[req("rpy_vector")], poses::rpy2rotvec),
    here("inv", &[req("m")], poses::inv),
    // Sockets. The first software with a separate timeout for reads is not known.
    host("socket_open", &[req("address"), req("port"), SOCKET]),
    host("socket_close", &[SOCKET]),
    host("socket_read_binary_integer", &[req("number"), SOCKET, float("timeout", 2.0)]),
    host("socket_read_byte_list", &[req("number"), SOCKET, float("timeout", 2.0)]),
    host("socket_read_ascii_float", &[req("number"), SOCKET, float("timeout", 2.0)]),
    host("socket_read_line", &[SOCKET, float("timeout", 2.0)]),
    host(
        "socket_read_string",
        &[
            SOCKET,
            param("prefix", Default::Text("")),
            param("suffix", Default::Text("")),
            boolean("interpret_escape", false),
            float("timeout", 2.0),
        ],
    ),
    host("socket_send_byte", &[req("value"), SOCKET]),
    host("socket_send_int", &[req("value"), SOCKET]),
    host("socket_send_string", &[req("str"), SOCKET]),
    host("socket_send_line", &[req("str"), SOCKET]),
    host("socket_get_var", &[req("name"), SOCKET]),
    host("socket_set_var", &[req("name"), req("value"), SOCKET]),
    // ROS 2 in PolyScope X (`core/docs/protocol/ros2-surface.md` 4.1): UR's sample names the topic, its type msg_type,
    // durability and reliability; the rest is UNCONFIRMED.
    host_since(10, 7, "ros_publisher_factory", TOPIC),
    host_since(10, 7, "ros_subscriber_factory", TOPIC),
    host_since(10, 7, "ros_service_client_factory", &[req("service"), req("type").alias("srv_type")]),
    // Interpreter mode. The vendor states that 5.10 added it; an earlier 5.x may have had it. PolyScope X is assumed to
    // have it.
    interpreter("interpreter_mode", &[boolean("clearQueueOnEnter", true), boolean("clearOnEnd", true)], Order::Enter),
    interpreter("end_interpreter", &[], Order::End),
    interpreter("clear_interpreter", &[], Order::Clear),
    // Not simulated: other devices would have to answer.
    not_simulated("rpc_factory", &[req("type"), req("url")]).since(3, 0),
    not_simulated(
        "modbus_add_signal",
        &[
            req("IP"),
            req("slave_number"),
            req("signal_address"),
            req("signal_type"),
            req("signal_name"),
            opt("sequential_mode"),
            // UR's example for a WAGO coupler requires 5.14 for it.
            opt("register_count").since(5, 14),
        ],
    ),
    not_simulated("modbus_delete_signal", &[req("signal_name")]),
    not_simulated("modbus_get_signal_status", &[req("signal_name"), opt("is_secondary_program")]),
    not_simulated("modbus_send_custom_command", &[req("IP"), req("slave_number"), req("function_code"), req("data")]),
    not_simulated(
        "modbus_set_output_register",
        &[req("signal_name"), req("register_value"), opt("is_secondary_program")],
    ),
    not_simulated("modbus_set_output_signal", &[req("signal_name"), req("digital_value"), opt("is_secondary_program")]),
    not_simulated("modbus_set_signal_update_frequency", &[req("signal_name"), req("update_frequency")]),
    not_simulated("conveyor_pulse_decode", &[req("type"), req("A"), opt("B")]),
    not_simulated("get_conveyor_tick_count", &[]),
    not_simulated("set_conveyor_tick_count", &[req("tick_count"), opt("absolute_encoder_resolution")]),
    not_simulated("stop_conveyor_tracking", &[opt("a"), opt("aRot")]),
    not_simulated(
        "track_conveyor_circular",
        &[req("center"), req("ticks_per_revolution"), opt("rotate_tool"), opt("encoder_index")],
    ),
    not_simulated("track_conveyor_linear", &[req("direction"), req("ticks_per_meter"), opt("encoder_index")]),
    // Not simulated: the pendant or the client of 30001 would have to answer.
    not_simulated("request_boolean_from_primary_client", &[req("popup_message")]),
    not_simulated("request_float_from_primary_client", &[req("popup_message")]),
    not_simulated("request_integer_from_primary_client", &[req("popup_message")]),
    not_simulated("request_string_from_primary_client", &[req("popup_message")]),
];
