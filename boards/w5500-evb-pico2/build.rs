//! Compiles the settings in, and copies the memory map to the linker's search path.

use std::env::var_os;
use std::path::PathBuf;
use std::{fs, io};

use outrigger_config::firmware_build::{self, Ports};

#[path = "src/sensor_ports.rs"]
mod sensor_ports;

fn main() -> io::Result<()> {
    let out = PathBuf::from(var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=memory.x");
    fs::copy("memory.x", out.join("memory.x"))?;
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "--icf=all", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    firmware_build::compile_in(&out, &sensor_ports::PORTS)
}
