//! Both ports pass the same scenarios: what a port does is counts, order, modes and reasons, never milliseconds.
//!
//! | bench | port | opposite it | time |
//! |---|---|---|---|
//! | [`embassy`] | `port-embassy` over `embassy-net` and frames in memory | the simulated controller behind smoltcp | virtual |
//! | [`linux`] | `port-linux` over kernel TCP | the simulated controller behind kernel TCP, and a relay between | real |
//!
//! What a board's chip adds to the first: [`embassy_w5500`].
//!
//! Beside a KRC each port has scenarios of its own, [`embassy_fri`] to the byte and in virtual time, [`linux_fri`] in real time.
//! A peer that connects to us ([`embassy_listening`]) is known to `port-embassy` alone: no socket of `port-linux` listens for
//! connections, as no controller asks for it.
//!
//! A scenario is a function over a [`Bench`]; `conformance!` makes a test of it for each port. Real time is only ever
//! waited for, with a limit against hanging; the thresholds of that bench are so wide that a busy machine breaks none.

mod bench;
mod embassy;
mod embassy_fri;
mod embassy_listening;
mod embassy_rtde;
mod embassy_w5500;
mod linux;
mod linux_fri;
mod only_embassy;
mod relay;
mod scenarios;

use bench::Bench;

macro_rules! conformance {
    ($($module:ident { $($scenario:ident),+ $(,)? })+) => {
        mod port_embassy {
            $(mod $module { $(#[test] fn $scenario() {
                crate::scenarios::$module::$scenario::<crate::embassy::EmbassyBench>();
            })+ })+
        }
        mod port_linux {
            $(mod $module { $(#[test] fn $scenario() {
                crate::scenarios::$module::$scenario::<crate::linux::LinuxBench>();
            })+ })+
        }
    };
}

conformance! {
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
