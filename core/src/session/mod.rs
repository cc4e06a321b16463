//! Engines that speak with one controller, without sockets, clocks or tasks.
//!
//! **One input, then drain `poll_output` and `poll_event` until both are `None`, then sleep until `poll_timeout`.**
//!
//! An engine reads no clock, allocates nothing and does not panic: time is an argument, memory is handed in when it is
//! made, and any bytes on any link end in a value, an event or a counted skip.

mod io;

pub use io::{Endpoint, Input, LinkId, Output};
