//! Compiles the settings in, and names the linker's scripts. The memory map is the HAL's: 2 MiB of flash, 512 KiB of
//! AXI SRAM.

use std::env::var_os;
use std::io;
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let out = PathBuf::from(var_os("OUT_DIR").unwrap_or_default());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    outrigger_config::firmware::compile_in(&out)
}
