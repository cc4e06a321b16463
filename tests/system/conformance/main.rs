//! Runs the conformance scenarios of `tests/simulated/conformance` with `port-linux`, over the kernel's sockets and
//! in real time.
//!
//! Tests only ever wait for an event, with a time limit against hanging. The thresholds of the bench are so wide that
//! a busy machine exceeds none.

#[path = "../../simulated/conformance/bench.rs"]
mod bench;
mod linux;
mod linux_fri;
#[path = "../../simulated/conformance/list.rs"]
#[macro_use]
mod list;
mod relay;
#[path = "../../simulated/conformance/scenarios/mod.rs"]
mod scenarios;

use bench::Bench;

mod port_linux {
    conformance!(crate::linux::LinuxBench);
}
