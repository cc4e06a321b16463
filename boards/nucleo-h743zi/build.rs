//! Compiles `board.toml` in, and names the linker's scripts. The memory map is the HAL's: 2 MiB of flash, 512 KiB of
//! AXI SRAM.

use std::env::var_os;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("settings"), outrigger_config::compile(Path::new("board.toml"))?)?;
    println!("cargo::rerun-if-changed=board.toml");
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}
