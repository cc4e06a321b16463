//! The common part of the boards' build scripts: compiles a configuration file into the firmware.

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::{fs, io};

pub use outrigger_core::engine::Ports;

/// Compiles a board's configuration into `image` in the directory `out`, as an
/// [`Image`](outrigger_remote::provision::Image), and sets the environment variable `OUTRIGGER_BUILD` of the crate to
/// the version of the build. The configuration is `board.toml` beside the build script, or the file that
/// `OUTRIGGER_BOARD_CONFIG` names.
///
/// The configuration sets conditions (`cfg`) of the crate:
/// * `requests` if it has `device.expert.requests`. Port and key are in the image.
/// * `dashboard` if it has `device.expert.requests` or `device.expert.brake_release_pin`. The board then sends
///   commands to the controller's dashboard server.
/// * `krc` if it has `robot.kind = "krc"`. There are two kinds of session, and a board has one of them.
///
/// The build script is ended with an error message if
/// * the configuration is wrong; every problem is printed,
/// * a sensor is at a port that is not among the board's `ports`: the board would wait for its readings without end,
/// * the motion has more waypoints than an engine holds, and the crate lacks the feature `motion`, which feeds them.
///
/// # Errors
/// Returns an error if the image could not be written.
pub fn compile_in(out: &Path, ports: &Ports) -> io::Result<()> {
    println!("cargo::rerun-if-env-changed=OUTRIGGER_BOARD_CONFIG");
    let file = var_os("OUTRIGGER_BOARD_CONFIG").map_or("board.toml".into(), PathBuf::from);
    println!("cargo::rerun-if-changed={}", file.display());
    let compiled = crate::compile(&file).unwrap_or_else(|failure| {
        eprintln!("{failure}");
        exit(1)
    });
    if let Err(error) = compiled.device.check_ports(ports) {
        eprintln!("{}: {error}: port-embassy/docs/inputs-reference.md, \"What each board has\"", file.display());
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
    // The image contains the key.
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

    // Two builds are told apart in telemetry by this. A copy without its git history has `unknown`.
    println!("cargo::rustc-env=OUTRIGGER_BUILD={}", git(&["describe", "--always", "--dirty"]));
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"]));
    Ok(())
}

/// Writes the image of the settings to a file that only the user who builds can read, because it contains the key.
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
