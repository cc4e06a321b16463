//! The node: carries the topics, services and actions of the surface over DDS, beside a session of the library
//! `outrigger`.
//!
//! A [`Node`] is a companion of a session, configured by its [`Settings`]. [`Watching`] examines a domain that a node
//! would join. [`dds`] is the transport for a program whose endpoints are opened and closed while it runs.

mod action;
mod again;
mod bytes;
mod census;
mod companion;
mod confined;
mod dashboard;
pub mod dds;
mod discovery_wait;
mod doctor;
mod face;
mod farewell;
#[cfg(test)]
mod filled;
mod followed;
mod forward;
mod hand_back;
mod health;
mod interrupted;
mod learned;
mod listing;
mod offers;
mod origin;
mod outcome;
mod parameters;
mod peers;
mod pendant;
mod place;
mod probe;
mod quality;
mod remarked;
mod returning;
mod script;
mod serial;
mod settings;
mod stamps;
mod surface;
mod touch;
mod wanted;

pub use self::companion::Node;
pub use self::doctor::{Report, Watching};
pub use self::settings::Settings;
use crate::native;

/// The RTDE variables from which Surface D is filled, in addition to the variables for Surface N.
const OF_DRIVER: &[&str] =
    &["actual_current", "tool_analog_input_types", "standard_analog_input0", "standard_analog_input1", "tool_mode"];

/// Returns the variables that are read beside those of the session; `further` are those with topics of their own.
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
