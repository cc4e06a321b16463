//! Copies the linker scripts to the linker's search path, and compiles the settings in.

use std::env::var_os;
use std::path::PathBuf;
use std::{fs, io};

use outrigger_config::firmware_build::{self, Ports};

#[path = "src/sensor_ports.rs"]
mod sensor_ports;

fn main() -> io::Result<()> {
    let out = PathBuf::from(var_os("OUT_DIR").unwrap_or_default());
    // The linker searches this folder first: no file here may have the requested name.
    let memory = if var_os("CARGO_FEATURE_AN505").is_some() { "memory-an505.x" } else { "memory-an386.x" };
    for (script, name) in [(memory, "memory.x"), ("device.x", "device.x")] {
        fs::copy(script, out.join(name))?;
        println!("cargo::rerun-if-changed={script}");
    }
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "--icf=all", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    firmware_build::compile_in(&out, &sensor_ports::PORTS)
}
