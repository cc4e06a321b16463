//! What the build scripts of boards have in common.

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{fs, io};

pub use outrigger_core::engine::Ports;

/// Writes all that a board is told, an [`Image`](outrigger_remote::provision::Image), to `image` in the directory `out`, and
/// names the build in the variable `OUTRIGGER_BUILD` of the crate that is built. The file is `board.toml` beside the build script, or what `OUTRIGGER_BOARD_CONFIG` names.
///
/// A file with `device.expert.requests` sets the condition `requests`; port and key are in the image. That, and `device.expert.brake_release_pin`,
/// sets the condition `dashboard`: commands are put to the controller's dashboard server.
///
/// A file with `robot.kind = "krc"` sets the condition `krc` of that crate: there are two sessions, and a board has one.
///
/// A motion of more waypoints than an engine holds takes a crate with a feature `motion`.
///
/// A file that names a sensor at a port that is not among the board's `ports` ends the build script, as does one with more than can be
/// fed: the board would wait for it without end.
///
/// A file that is wrong ends the build script with every problem there is.
///
/// # Errors
/// The settings could not be written.
pub fn compile_in(out: &Path, ports: &Ports) -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=OUTRIGGER_BOARD_CONFIG");
    let file = var_os("OUTRIGGER_BOARD_CONFIG").map_or("board.toml".into(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", file.display());
    let compiled = crate::compile(&file).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        exit(1)
    });
    if let Err(error) = compiled.device.check_ports(ports) {
        eprintln!("{}: {error}: port-embassy/docs/inputs.md, \"What each board has\"", file.display());
        exit(1)
    }
    println!("cargo::rustc-check-cfg=cfg(requests)");
    if compiled.requests.is_some() {
        println!("cargo::rustc-cfg=requests");
    }
    println!("cargo::rustc-check-cfg=cfg(dashboard)");
    if compiled.requests.is_some() || compiled.device.brake_release_pin {
        println!("cargo::rustc-cfg=dashboard");
    }
    // With the key in it.
    write_for_this_user(&out.join("image"), &compiled.image())?;
    if let Some(key_file) = &compiled.key_file {
        println!("cargo::rerun-if-changed={}", key_file.display());
    }
    if !compiled.motion.is_empty() && var_os("CARGO_FEATURE_MOTION").is_none() {
        eprintln!(
            "{}: law.waypoint: found more than {} waypoints; build with --features motion, which feeds them while the motion runs",
            file.display(),
            outrigger_core::trajectory::MAX_WAYPOINTS
        );
        exit(1)
    }
    println!("cargo::rustc-check-cfg=cfg(krc)");
    if compiled.vendor == crate::Vendor::Krc {
        println!("cargo::rustc-cfg=krc");
    }

    // What tells two builds apart in telemetry. Of a copy without its history nothing is known.
    println!("cargo::rustc-env=OUTRIGGER_BUILD={}", git(&["describe", "--always", "--dirty"]));
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"]));
    Ok(())
}

/// A key is for who builds, and for nobody else on this machine.
fn write_for_this_user(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(path)?, bytes)
}

fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
    output.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
