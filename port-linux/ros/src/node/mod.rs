//! The node of ROS 2: carries its topics, services and actions over DDS, beside a session of the library
//! `outrigger`.
//!
//! A [`Node`] is a companion of a session, configured by its [`Settings`]. [`Watching`] examines a domain that a node
//! would join. [`dds`] is the transport for a program whose endpoints are opened and closed while it runs.

mod action;
mod arm_serial_number;
mod contact_watch;
mod controller_queries;
mod dashboard;
mod dashboard_services;
pub mod dds;
mod discovery_probe;
mod discovery_wait;
mod doctor;
mod domain_selection;
mod endpoint_opener;
mod farewell;
mod feed_readings;
mod goal_motion;
mod hand_back;
mod health;
mod interruption_detector;
mod joint_command_topics;
mod log_limiter;
mod lost_participants;
mod multicast_filter;
mod node_thread;
mod offered_endpoints;
mod parameters;
mod participant_registry;
mod qos_policies;
mod raw_messages;
mod rematch_messages;
mod requests;
mod script_upload;
mod settings;
mod stamp_clock;
mod state_stamps;
#[cfg(test)]
mod topic_page_tests;
mod trajectory_action;
mod trajectory_result;
mod unicast_peers;

pub use self::doctor::{Report, Watching};
pub use self::node_thread::Node;
pub use self::settings::Settings;
use crate::native;

/// The RTDE variables from which the topics of UR's driver are filled, in addition to those for PolyScope X.
const OF_DRIVER: &[&str] =
    &["actual_current", "tool_analog_input_types", "standard_analog_input0", "standard_analog_input1", "tool_mode"];

/// Returns the RTDE variables that are read beside those of the session; `further` are those with topics of their own.
fn variables(further: &[String]) -> Vec<String> {
    // The timestamp comes with any of them; naming it again would give a recording the same column twice.
    let ours = OF_DRIVER.iter().chain(native::VARIABLES).filter(|name| **name != "timestamp");
    let mut names: Vec<String> = vec![];
    for name in ours.copied().chain(further.iter().map(String::as_str)) {
        if !names.iter().any(|known| known == name) {
            names.push((*name).to_owned());
        }
    }
    names
}
