//! Puts the linker's scripts where it finds them, and compiles the settings in.

use std::env::var_os;
use std::path::PathBuf;
use std::{fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(var_os("OUT_DIR").unwrap_or_default());
    for script in ["memory.x", "device.x"] {
        fs::copy(script, out.join(script))?;
        println!("cargo::rerun-if-changed={script}");
    }
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    outrigger_config::firmware::compile_in(&out)
}
