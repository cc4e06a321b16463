//! The list of scenarios that both ports pass. `conformance!(bench)` makes a test of each scenario for that bench.

macro_rules! conformance {
    ($bench:ty) => {
        conformance! { $bench;
            commanding {
                it_connects_learns_the_version_and_says_nothing,
                it_arms_on_request_and_moves_after_a_hundred_good_cycles,
                each_state_is_answered_once_at_most,
                a_release_ends_in_zero_velocities_and_one_stopj,
                a_shutdown_stops_the_arm_first_and_closes_everything,
                local_control_is_never_commanded_and_left_by_connecting_anew,
                a_protective_stop_is_a_fallback_without_a_word,
            }
            links {
                a_refused_connection_is_tried_at_the_other_port_and_again_with_growing_pauses,
                a_closed_connection_is_a_fallback_and_only_a_new_request_moves_the_arm_again,
                a_reset_connection_is_a_fallback_and_a_new_session_follows,
                silence_is_a_fallback_and_then_the_end_of_the_session,
                text_that_is_not_taken_is_a_fallback_and_then_the_end_of_the_connection,
                a_restarted_controller_is_found_again_without_power,
            }
            streams {
                bytes_that_come_in_tiny_pieces_lose_nothing,
                a_flood_of_bytes_that_mean_nothing_does_not_hold_up_the_control_path,
                a_flood_of_samples_does_not_hold_up_the_control_path,
            }
        }
    };
    ($bench:ty; $($module:ident { $($scenario:ident),+ $(,)? })+) => {
        $(mod $module { $(#[test] fn $scenario() {
            crate::scenarios::$module::$scenario::<$bench>();
        })+ })+
    };
}
