//! Names the linker's scripts. The memory map is the HAL's: 2 MiB of flash, 512 KiB of AXI SRAM.

fn main() {
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
