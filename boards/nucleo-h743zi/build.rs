//! Compiles the settings in, and names the linker's scripts. The memory map is the HAL's: 2 MiB of flash, 512 KiB of
//! AXI SRAM.

use std::env::var_os;
use std::path::PathBuf;
use std::{fs, io, process};

fn main() -> io::Result<()> {
    let out = PathBuf::from(var_os("OUT_DIR").unwrap_or_default());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }

    println!("cargo::rerun-if-env-changed=OUTRIGGER_BOARD_CONFIG");
    let file = var_os("OUTRIGGER_BOARD_CONFIG").map_or("board.toml".into(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", file.display());
    let settings = outrigger_config::compile(&file).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        process::exit(1)
    });
    fs::write(out.join("settings"), settings)
}
