//! Sets a cfg for a fact that the code cannot determine itself: whether the core checks its stack pointer in
//! hardware.

use std::env::var;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(stack_limits)");
    // ARMv8-M with its main extension has registers for that.
    if var("TARGET").is_ok_and(|target| target.starts_with("thumbv8m.main")) {
        println!("cargo::rustc-cfg=stack_limits");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
