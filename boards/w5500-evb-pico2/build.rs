//! Compiles `board.toml` in, and puts the memory map where the linker finds it.

use std::env::var_os;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("settings"), outrigger_config::compile(Path::new("board.toml"))?)?;
    println!("cargo::rerun-if-changed=board.toml");
    fs::copy("memory.x", out.join("memory.x"))?;
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}
