//! Functions of the manual that nothing here executes: a program that has one compiles, and ends where it calls it.
//!
//! Their parameters are not checked. `manual.tsv` has where each name is from.

use super::{Run, Signature};

const fn named(name: &'static str) -> Signature {
    Signature::new(name, &[], Run::NotSimulated).taking_any()
}

/// Every such function of any software.
pub(super) static NAMED: &[Signature] = &[
    // Encoders of a conveyor, and paths beside the one that is followed.
    named("encoder_enable_pulse_decode").since(3, 0),
    named("encoder_enable_set_tick_count").since(3, 0),
    named("encoder_get_tick_count").since(3, 0),
    named("encoder_set_tick_count").since(3, 0),
    named("encoder_unwind_delta_tick_count").since(3, 0),
    named("path_offset_disable").since(3, 0),
    named("path_offset_enable").since(3, 0),
    named("path_offset_get").since(3, 0),
    named("path_offset_set").since(3, 0),
    named("path_offset_set_alpha_filter").since(3, 0),
    named("path_offset_set_max_offset").since(3, 0),
    // Frames of the world model.
    named("add_frame").since(5, 20).polyscope_x_since(0),
    named("attach_frame").since(5, 20).polyscope_x_since(0),
    named("convert_pose").since(5, 20).polyscope_x_since(0),
    named("delete_all_frames").since(5, 20).polyscope_x_since(0),
    named("delete_frame").since(5, 20).polyscope_x_since(0),
    named("frame_tracking_disable").since(5, 20).polyscope_x_since(0),
    named("frame_tracking_enable").since(5, 20).polyscope_x_since(0),
    named("get_children").since(5, 20).polyscope_x_since(0),
    named("get_frame_parent").since(5, 20).polyscope_x_since(0),
    named("get_pose").since(5, 20).polyscope_x_since(0),
    named("is_frame").since(5, 20).polyscope_x_since(0),
    named("move_frame").since(5, 20).polyscope_x_since(0),
    named("reset_world_model").since(5, 20).polyscope_x_since(0),
    named("set_mass_properties").since(5, 20).polyscope_x_since(0),
    named("set_payload_from_attached_frames").since(5, 20).polyscope_x_since(0),
    // Paths of a tool that stands still.
    named("mc_add_circular").since(5, 0),
    named("mc_add_linear").since(5, 0),
    named("mc_add_path").since(5, 0),
    named("mc_get_target_rtcp_speed").since(5, 0),
    named("mc_initialize").since(5, 0),
    named("mc_load_path").since(5, 0),
    named("mc_run_motion").since(5, 0),
    named("mc_set_pcs").since(5, 0),
    named("mc_set_speed_factor").since(5, 0),
    // Other devices.
    named("eip_reader_factory").since(5, 17).polyscope_x_since(8),
    named("eip_writer_factory").since(5, 17).polyscope_x_since(8),
    named("get_euromap_input"),
    named("get_euromap_output"),
    named("get_rtde_value").since(5, 20).polyscope_x_since(0),
    named("modbus_add_rw_signal").since(5, 0),
    named("modbus_get_error").since(5, 0),
    named("modbus_get_time_since_signal_invalid").since(5, 0),
    named("modbus_reset_connection").since(5, 0),
    named("modbus_set_digital_input_action").since(3, 0),
    named("modbus_set_runstate_dependent_choice"),
    named("modbus_set_signal_watchdog").since(5, 0),
    named("read_port_bit"),
    named("read_port_register"),
    named("ros_action_client_factory").since(10, 0),
    named("set_euromap_output"),
    named("set_euromap_runstate_dependent_choice"),
    named("write_port_bit"),
    named("write_port_register"),
    // Screws, motion and its limits.
    named("end_screw_driving").since(5, 0),
    named("estimate_payload").since(5, 0),
    named("freedrive_mode_no_incorrect_payload_check").since(5, 20).polyscope_x_since(0),
    named("get_actual_joint_accelerations").since(5, 20).polyscope_x_since(0),
    named("get_base_acceleration").since(5, 17).polyscope_x_since(0),
    named("get_tool_digital_output_mode").since(5, 0),
    named("get_tool_output_mode").since(5, 0),
    named("high_holding_torque_disable").since(5, 0),
    named("high_holding_torque_enable").since(5, 0),
    named("jerk_gain_scaling_get").since(5, 20).polyscope_x_since(0),
    named("jerk_gain_scaling_set").since(5, 20).polyscope_x_since(0),
    named("motion_version_get").since(5, 20).polyscope_x_since(0),
    named("motion_version_set").since(5, 20).polyscope_x_since(0),
    named("pause_on_error_code").since(3, 0),
    named("powerdown"),
    named("reset_revolution_counter").since(3, 0),
    named("screw_driving").since(5, 0),
    named("set_base_acceleration").since(5, 0),
    named("set_pos"),
    named("tool_wrench_limit_disable").since(5, 19).polyscope_x_since(0),
    named("tool_wrench_limit_set").since(5, 19).polyscope_x_since(0),
];
