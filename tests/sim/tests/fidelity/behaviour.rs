//! Behaviours other than functions: interfaces, programs, motion, the operator's side.

use crate::page::Mark::{self, Absent, Assumed, Clients, Manual, NotSimulated, Recorded};
use crate::page::{Line, Section};

/// Returns the marks of a behaviour that CB3 and later generations have: `mark`, and `Absent` for CB2.
const fn from_cb3(mark: Mark) -> [Mark; 4] {
    [Absent, mark, mark, mark]
}

/// Returns the marks of a behaviour that e-Series and PolyScope X have: `mark`, and `Absent` for CB2 and CB3.
const fn from_e_series(mark: Mark) -> [Mark; 4] {
    [Absent, Absent, mark, mark]
}

const fn everywhere(mark: Mark) -> [Mark; 4] {
    [mark; 4]
}

const fn line(what: &'static str, marks: [Mark; 4], option: &'static str, tests: &'static [&'static str]) -> Line {
    Line { what, marks, option, tests }
}

pub(crate) const SECTIONS: &[Section] = &[
    Section {
        title: "Interfaces",
        lines: &[
            line(
                "30001 and 30002: sizes, order and content of sub-packages, burst after connecting",
                [Recorded, Recorded, Recorded, Assumed],
                "Options::polyscope_x",
                &["sub_packages_come_in_the_recorded_order", "state_messages_have_the_sizes_that_were_observed"],
            ),
            line(
                "kinematics info of 9 B in periodic states",
                [Absent, Absent, Assumed, Assumed],
                "Options::short_kinematics",
                &["kinematics_of_nine_bytes_come_with_periodic_states_only_where_that_is_chosen"],
            ),
            line(
                "30003: packet and rate by software",
                [Recorded, Clients, Clients, Assumed],
                "PolyScopeXOptions::realtime",
                &["real_time_packets_come_once_per_cycle_in_the_size_of_the_firmware_with_exact_times"],
            ),
            line(
                "30011 to 30013: the same, read only",
                [Absent, Manual, Manual, Assumed],
                "PolyScopeXOptions::read_only",
                &["read_only_ports_exist_from_3_10", "read_only_ports_stream_and_do_not_run_text"],
            ),
            line(
                "30004: recipes, owners of inputs, registers, watchdogs",
                from_cb3(Manual),
                "Options::rtde",
                &[
                    "a_conversation_of_version_2_goes_as_the_specification_has_it",
                    "a_watchdog_acts_when_its_input_is_late",
                ],
            ),
            line(
                "29999: requests and replies",
                [Manual, Manual, Manual, Absent],
                "Options::dashboard",
                &["every_request_is_answered_as_specified_from_the_software_that_brought_it"],
            ),
            line(
                "the Robot API over HTTP",
                [Absent, Absent, Absent, Manual],
                "Options::robot_api",
                &["each_generation_has_its_ports"],
            ),
            line(
                "54321: the tool's serial line by UR's URCap; a second client waits for the first",
                from_e_series(Clients),
                "Options::tool_line",
                &[
                    "only_arms_with_such_a_line_have_the_port_and_only_with_the_urcap",
                    "a_second_client_waits_without_a_word_until_the_first_is_gone",
                    "messages_in_pieces_of_any_size_are_answered_and_slow_lines_take_their_time",
                ],
            ),
            line(
                "the tool's serial line: a gripper that nobody sells answers only with its own settings and supply; nothing is \
                 garbled where they differ",
                from_e_series(Assumed),
                "ToolGripper::serial",
                &[
                    "a_gripper_closes_and_opens_and_says_where_it_is_until_it_has_arrived",
                    "the_gripper_is_silent_unless_line_and_supply_are_what_it_needs",
                ],
            ),
            line(
                "a restart switches the tool's serial line and supply off",
                from_e_series(Assumed),
                "",
                &["a_restart_ends_the_relay_and_takes_the_settings_with_it"],
            ),
            line(
                "services that are switched off",
                from_e_series(Manual),
                "Options::services_off",
                &["a_service_that_is_off_closes_its_connections_and_refuses_until_it_is_on"],
            ),
        ],
    },
    Section {
        title: "Programs",
        lines: &[
            line(
                "text that arrives late in a cycle runs one cycle later",
                everywhere(Recorded),
                "Options::intake",
                &[
                    "a_command_early_in_the_cycle_acts_in_the_next_and_shows_in_the_packet_after_it",
                    "a_command_late_in_the_cycle_waits_for_the_one_after",
                    "how_early_text_must_be_there_can_be_chosen",
                ],
            ),
            line(
                "long programs start late",
                everywhere(Manual),
                "Options::compiling",
                &[
                    "a_long_program_starts_late_and_the_old_one_runs_until_then",
                    "how_late_a_long_program_starts_can_be_chosen",
                ],
            ),
            line(
                "the filter of `servoj`, and what it is before 3.1",
                everywhere(Assumed),
                "Options::servoj",
                &["servoj_without_its_filter_is_there_within_a_cycle", "the_filter_of_servoj_before_3_1_can_be_chosen"],
            ),
            line(
                "what of the arm's speed is left where one `servoj` replaces another",
                everywhere(Assumed),
                "Options::servoj",
                &["a_servoj_that_replaces_another_finds_the_arm_braked_where_that_is_chosen"],
            ),
            line(
                "what follows the time of `speedj`",
                everywhere(Manual),
                "Options::after_t",
                &[
                    "below_3_5_the_arm_keeps_its_speed_after_t_and_from_3_5_it_stops",
                    "what_follows_t_can_be_chosen_whatever_the_version",
                ],
            ),
            line(
                "`stopj` obeys its argument from 3.2",
                everywhere(Manual),
                "Options::fixed_stop_deceleration",
                &["stopj_obeys_its_deceleration_from_3_2"],
            ),
            line(
                "the end of a program that used `servoj` is abrupt, that of others is not",
                everywhere(Clients),
                "Options::end_deceleration",
                &["aborting_servoj_stops_the_arm_abruptly_and_speedj_does_not"],
            ),
            line(
                "a client that closes before 79 bytes loses its program",
                everywhere(Clients),
                "Options::needs_79_bytes",
                &[
                    "a_client_that_closes_before_79_bytes_loses_its_program_only_where_the_controller_minds",
                    "who_closes_before_it_has_read_79_bytes_loses_its_program_while_the_fault_lasts",
                ],
            ),
            line(
                "secondary programs run beside the primary one",
                everywhere(Manual),
                "",
                &["a_secondary_program_runs_beside_the_primary_one"],
            ),
            line(
                "errors of compilation, with line and column, on 30001",
                everywhere(Clients),
                "",
                &["an_error_of_compilation_is_told_on_30001_and_on_no_other_port"],
            ),
            line(
                "`play` of a loaded program: URScript in a file stands for the pendant's own language",
                everywhere(Assumed),
                "Options::files",
                &["a_played_program_runs_its_script_and_shows_on_every_port"],
            ),
            line(
                "programs of the pendant's own language (.urp), URCaps other than External Control's",
                everywhere(NotSimulated),
                "",
                &[],
            ),
            line(
                "step labels of exported programs (`$ 3 \"MoveJ\" \"breakAfter\"`) are passed over",
                everywhere(Manual),
                "",
                &["labels_are_passed_over_at_any_indent_and_their_lines_count", "programs_as_pendants_write_them_run"],
            ),
            line(
                "`+` joins a text with what is beside it: one laboratory's program does so, since which software is UNCONFIRMED",
                [Absent, Absent, Assumed, Assumed],
                "Builtins::with_joined_texts",
                &["plus_joins_a_text_with_what_is_beside_it", "texts_are_joined_from_5_0_on_unless_that_is_chosen"],
            ),
            line(
                "texts outside ASCII are the bytes of the program wherever they go out",
                everywhere(Assumed),
                "",
                &[
                    "messages_popups_and_errors_are_the_bytes_of_the_program",
                    "what_goes_to_a_socket_is_the_bytes_of_the_program",
                    "lines_of_interpreter_mode_come_back_as_their_bytes",
                ],
            ),
            line(
                "methods of handles from `rpc_factory` and others compile; the program ends at the factory",
                [Absent, NotSimulated, NotSimulated, NotSimulated],
                "",
                &["methods_of_handles_that_are_not_simulated_compile_and_their_factory_is_named"],
            ),
            line(
                "`digital_out[n] = x` is `set_digital_out(n, x)`",
                [Clients, Clients, Absent, Absent],
                "Options::assignable_outputs",
                &["urx_moves_to_joints_and_to_a_pose_and_switches_outputs_of_a_cb2_with_1_8"],
            ),
            line(
                "only one thread may command motion: a second one ends the program; the words are assumed",
                everywhere(Manual),
                "",
                &["two_threads_that_move_the_arm_end_the_program_and_one_after_the_other_do_not"],
            ),
            line(
                "what speaks ROS 2: each operation takes a control cycle at least",
                [Absent, Absent, Absent, Manual],
                "RosOptions::cycles",
                &["an_operation_takes_as_many_cycles_as_the_option_says"],
            ),
            line(
                "what speaks ROS 2: whole numbers are those of 32 bits",
                [Absent, Absent, Absent, Manual],
                "",
                &["a_number_of_64_bits_is_its_lower_32"],
            ),
            line(
                "what speaks ROS 2: a message is read once, and what a program has open ends with it",
                [Absent, Absent, Absent, Assumed],
                "",
                &[
                    "history_is_kept_as_deep_as_it_is_asked_for_and_read_from_its_oldest",
                    "what_is_closed_is_of_no_use_any_more",
                ],
            ),
            line(
                "what speaks ROS 2: a call that nobody answers",
                [Absent, Absent, Absent, Assumed],
                "RosOptions::call_timeout",
                &["a_call_without_an_answer_waits_or_gives_up_as_the_option_says"],
            ),
            line(
                "the programs that ur_rtde uploads",
                [Absent, Clients, Clients, Clients],
                "",
                &[
                    "ur_rtde_makes_every_move_with_a_cb3_with_3_15_by_the_upper_registers",
                    "ur_rtde_makes_every_move_with_an_e_series_with_5_15",
                    "ur_rtde_presses_by_force_mode_with_an_e_series_with_5_15",
                    "ur_rtde_lets_a_hand_guide_an_e_series_with_5_15",
                    "ur_rtde_ends_and_begins_again_with_an_e_series_with_5_15",
                ],
            ),
            line(
                "calls of ur_rtde that wait for a contact",
                [Absent, Absent, Clients, Clients],
                "",
                &["ur_rtde_notices_contacts_of_an_e_series_with_5_15"],
            ),
            line(
                "the program for the control loop among the examples of UR's RTDE client",
                [Absent, Clients, Clients, Clients],
                "",
                &[
                    "the_arm_goes_where_registers_say_and_stops_when_their_writer_is_silent",
                    "urs_own_client_runs_its_control_loop_with_an_e_series",
                ],
            ),
            line(
                "the URCap of External Control: `request_program`, header and body",
                [Absent, Clients, Clients, Assumed],
                "Options::external_control",
                &["playing_the_loaded_program_asks_the_computer_and_runs_what_it_answers"],
            ),
            line(
                "Outrigger's program with External Control's messages, modes and commands",
                [Absent, Clients, Clients, Clients],
                "",
                &[
                    "positions_are_followed_and_gaps_are_bridged_at_constant_speed",
                    "silence_beyond_the_time_out_is_a_controlled_stop_and_the_end",
                    "every_kind_of_move_takes_its_goal_as_joints_or_as_a_pose",
                    "urs_client_library_drives_a_cb3_by_external_control_of_ours",
                ],
            ),
            line(
                "a program with External Control's messages and modes",
                [Absent, Absent, Clients, Clients],
                "",
                &[
                    "streamed_positions_are_followed_and_a_gap_is_bridged_at_constant_speed",
                    "a_streamed_spline_passes_its_points",
                    "urs_client_library_drives_an_e_series_by_external_control",
                ],
            ),
            line(
                "interpreter mode on 30020",
                [Absent, Absent, Clients, Assumed],
                "Options::interpreter",
                &["every_line_has_one_answer_and_states_tell_how_far_the_program_is"],
            ),
            line(
                "buffered `servoj` of the vendor's article: a ring of 1000 positions, two threads, registers",
                [Absent, Absent, Manual, Manual],
                "",
                &["a_ring_of_a_thousand_positions_is_played_in_order_while_the_slider_moves"],
            ),
        ],
    },
    Section {
        title: "Operator and safety",
        lines: &[
            line(
                "local and remote control gate texts and requests",
                from_e_series(Clients),
                "Options::local_mode",
                &[
                    "local_mode_ignores_text_silently_on_old_e_series_software",
                    "newer_software_answers_with_c210_and_gives_rights_only_to_new_connections",
                ],
            ),
            line(
                "local control closes 30003",
                from_e_series(Assumed),
                "Options::local_closes_realtime",
                &["whether_local_control_closes_30003_can_be_chosen"],
            ),
            line(
                "protective, safeguard and emergency stops: what runs on, what ends, what must be acknowledged",
                everywhere(Manual),
                "Options::stop_deceleration",
                &[
                    "a_protective_stop_is_unlocked_after_five_seconds_and_the_program_waits_for_play",
                    "an_opened_safeguard_pauses_and_closing_it_does_not_resume",
                    "an_emergency_stop_ends_the_program_and_takes_the_power",
                ],
            ),
            line(
                "stops on 30001: the form of error codes and safety modes; of 3.3 to 3.13 it is not known",
                [Manual, Clients, Manual, Assumed],
                "Options::later_reports",
                &["each_stop_is_reported_by_a_code_and_the_safety_mode_in_the_form_of_its_software"],
            ),
            line(
                "the code C209 of protective_stop()",
                from_cb3(Clients),
                "StopCodes::called",
                &["a_program_that_stops_itself_is_reported_once_as_c209"],
            ),
            line(
                "the codes of all other stops, from the vendor's list",
                everywhere(Assumed),
                "Options::stop_codes",
                &["the_code_of_a_stop_and_the_form_of_its_reports_can_be_chosen"],
            ),
            line(
                "a line or an arc to where the arm cannot be: a protective stop, before the arm moves",
                from_cb3(Clients),
                "StopCodes::reach",
                &["a_line_to_where_the_arm_cannot_be_is_a_protective_stop_until_the_program_is_stopped"],
            ),
            line(
                "joints beyond their range as a goal: the program ends; its words are assumed",
                from_cb3(Clients),
                "StopCodes::joint_limit",
                &["joints_beyond_their_range_end_the_program_with_a_code_before_the_arm_moves"],
            ),
            line(
                "a move that its joints are too slow for: speed scaling",
                [Assumed, Clients, Clients, Clients],
                "",
                &["a_time_that_is_too_short_slows_the_move_down_until_no_joint_is_too_fast"],
            ),
            line(
                "a `servoj` that its joints are too slow for: speed scaling; no jump of a set-point is a stop",
                [Assumed, Manual, Manual, Manual],
                "",
                &["a_servoj_that_its_joints_are_too_slow_for_is_slowed_down_and_lasts_longer"],
            ),
            line(
                "a `speedj` that is faster than a joint: a protective stop",
                everywhere(Assumed),
                "StopCodes::speed",
                &["a_speedj_that_is_faster_than_a_joint_is_a_protective_stop"],
            ),
            line("tighter limits of reduced mode, planes, tool orientation", everywhere(NotSimulated), "", &[]),
            line(
                "`actual_TCP_force` and `get_tcp_force`: torques about the tool centre point, from e-Series on about the flange",
                [Assumed, Clients, Clients, Clients],
                "",
                &[
                    "a_sensor_in_the_wrist_tells_the_torque_about_the_flange",
                    "a_force_at_the_tool_is_published_there_on_every_generation",
                ],
            ),
            line(
                "`ft_raw_wrench`: about the flange and along its axes, whatever the zero",
                from_e_series(Manual),
                "",
                &[
                    "the_raw_value_is_about_the_flange_and_along_its_axes_whatever_the_zero",
                    "the_raw_value_of_the_sensor_is_the_same_force_about_the_flange",
                ],
            ),
            line(
                "a surface in the way of the tool: a spring and a damper at the tool centre point",
                everywhere(Assumed),
                "Options::surface",
                &["a_surface_is_pressed_with_the_wanted_force_on_every_generation"],
            ),
            line(
                "force mode: the speed in free air and the one against a surface; that it ends where it has led the arm",
                everywhere(Assumed),
                "ForceOptions::free_damping",
                &[
                    "in_free_air_ten_newtons_move_the_arm_as_far_as_the_damping_lets_them",
                    "force_mode_after_a_move_ends_and_begins_again_where_the_arm_is",
                    "force_mode_that_is_renewed_in_every_cycle_keeps_the_arm_where_it_yielded",
                ],
            ),
            line("collision", everywhere(NotSimulated), "", &[]),
        ],
    },
];
