//! The native half of the Python package `outrigger_robot`.
//!
//! It binds the library for hosts and the simulated controllers: there is no other process and no socket between
//! Python and the control loop. The loop runs in a thread of its own, which never takes the interpreter's lock. Calls
//! that wait release the lock, and look for Ctrl-C every 5 ms, states every 20 ms.

mod commanding;
mod connection;
mod decode;
mod error;
mod guide;
mod history;
mod motion;
mod process_bound;
mod recording;
mod robot;
mod run;
mod services;
mod session;
mod simulator;
mod simulator_krc;
mod state;
mod states;
mod stepped;
mod stream;
mod vendor;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `outrigger` with the words of a command line, of which the first is the name of the program, and
/// returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| outrigger_cli::cli::main_with(words))
}

/// Robots, simulated controllers and the command of Outrigger.
#[pymodule]
fn outrigger_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<robot::Robot>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<states::States>()?;
    module.add_class::<state::State>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<guide::Guide>()?;
    module.add_class::<error::Stop>()?;
    module.add_class::<simulator::SimulatedUr>()?;
    module.add_class::<stepped::SteppedUr>()?;
    module.add_class::<simulator_krc::SimulatedKrc>()?;
    module.add_class::<history::History>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<recording::RecordedStop>()?;
    module.add_class::<recording::Event>()?;
    module.add_class::<recording::Replay>()?;
    module.add_function(wrap_pyfunction!(recording::open, module)?)?;
    module.add_class::<decode::Messages>()?;
    module.add_function(wrap_pyfunction!(decode::decode, module)?)?;
    module.add_function(wrap_pyfunction!(decode::decode_file, module)?)?;
    error::add_to(module)
}
