//! Names what the code cannot ask for: whether the core limits its stack itself.

use std::env::var;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(stack_limits)");
    // ARMv8-M with its main extension has registers for that.
    if var("TARGET").is_ok_and(|target| target.starts_with("thumbv8m.main")) {
        println!("cargo::rustc-cfg=stack_limits");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
