//! `port-linux` over the kernel's sockets passes the scenarios of `tests/simulated/conformance`, in real time.
//!
//! Real time is only ever waited for, with a limit against hanging; the thresholds of the bench are so wide that a busy machine
//! breaks none.

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
