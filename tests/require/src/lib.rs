//! The requirements of tests that need more than a plain machine.
//!
//! If a requirement is missing, the test is *ignored, and the reason is shown*. `OUTRIGGER_REQUIRE` turns that into a
//! failure: `all`, or names of [`Need`]s separated by commas. It is for targets with `harness = false`, run by `main`.

pub mod committed;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A requirement of a test that a plain machine may lack: a program, a toolchain, recordings or a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Recorded network traffic, in the folder `OUTRIGGER_CAPTURES`, else in `../shared/captures` beside the
    /// repository.
    Captures,
    /// The pinned nightly toolchain.
    Nightly,
    /// `qemu-system-arm`.
    Qemu,
    /// The compiler's targets for Cortex-M4F and Cortex-M33.
    Thumb,
    /// The permission to change network interfaces and scheduling.
    Root,
    /// Python with the clients that `.ci/setup` installs, see [`python`].
    Python,
    /// `chromium` and `chromedriver`.
    Chromium,
    /// A C++ compiler, and Debian's Fast DDS for it.
    FastDds,
    /// UR's own RTDE client, which is in no registry, see [`vendor_client`]; not part of `all`.
    VendorClient,
    /// The compiled examples of UR's client library, see [`client_library`]; not part of `all`.
    ClientLibrary,
    /// A third-party reader of FRI measurements, see [`fri_client`]; not part of `all`.
    FriClient,
}

impl Need {
    /// Returns the name of the requirement in the list `OUTRIGGER_REQUIRE`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Captures => "captures",
            Self::Nightly => "nightly",
            Self::Qemu => "qemu",
            Self::Thumb => "thumb",
            Self::Root => "root",
            Self::Python => "python",
            Self::Chromium => "chromium",
            Self::FastDds => "fast-dds",
            Self::VendorClient => "vendor-client",
            Self::ClientLibrary => "client-library",
            Self::FriClient => "fri-client",
        }
    }

    /// Returns the reason why the requirement is missing on this machine; `None` if it is met.
    #[must_use]
    pub fn missing(self) -> Option<String> {
        match self {
            Self::Captures => {
                let folder = captures();
                (!folder.join("INDEX.md").is_file())
                    .then(|| format!("needs recorded traffic: no {}; set OUTRIGGER_CAPTURES", folder.display()))
            }
            Self::Nightly => without("rustup", &["run", NIGHTLY, "rustc", "--version"]),
            Self::Qemu => without("qemu-system-arm", &["--version"])
                .map(|reason| format!("{reason}: on Debian, apt-get install qemu-system-arm")),
            Self::Thumb => {
                let there = |target: &&str| {
                    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
                    let folder = asked.map(|o| PathBuf::from(String::from_utf8_lossy(&o.stdout).trim())).ok();
                    folder.is_some_and(|folder| folder.is_dir())
                };
                let lacking = THUMB.into_iter().find(|target| !there(target));
                lacking.map(|target| format!("needs the compiler's target: rustup target add {target}"))
            }
            Self::Root => {
                // The root of a container may lack it: tested in a namespace that ends with the test.
                without("unshare", &["--net", "ip", "tuntap", "add", "dev", "tap0", "mode", "tap"])
                    .map(|reason| format!("needs root: {reason}; on Debian, apt-get install iproute2"))
            }
            Self::Python => without(
                &python().to_string_lossy(),
                &["-c", "import urx, rtde_receive, mcap, lz4, cyclonedds, rosbags"],
            )
            .map(|reason| format!("{reason}: run .ci/setup, or set OUTRIGGER_PYTHON")),
            Self::Chromium => ["chromium", "chromedriver"]
                .into_iter()
                .find_map(|program| without(program, &["--version"]))
                .map(|reason| format!("{reason}: on Debian, apt-get install chromium chromium-driver")),
            Self::FastDds => without(
                "c++",
                &["-E", "-include", "fastdds/dds/domain/DomainParticipant.hpp", "-x", "c++", "/dev/null"],
            )
            .map(|reason| format!("{reason}: on Debian 12, apt-get install g++ libfastrtps-dev")),
            Self::FriClient => {
                let there = fri_client().is_some_and(|script| script.is_file());
                (!there).then(|| {
                    "needs a reader of FRI's measurements: lwr_hw/scripts/fri_receive_only.py of \
                     https://github.com/hari-robotics/kuka-lwr-ros2; set OUTRIGGER_FRI_CLIENT to that file"
                        .to_owned()
                })
            }
            Self::ClientLibrary => {
                let there =
                    client_library().is_some_and(|folder| folder.join("build/examples/rtde_client_example").is_file());
                (!there).then(|| {
                    "needs the examples of UR's client library: git clone \
                     https://github.com/UniversalRobots/Universal_Robots_Client_Library, cmake -B build and cmake --build build \
                     there, and set OUTRIGGER_CLIENT_LIBRARY to that folder"
                        .to_owned()
                })
            }
            Self::VendorClient => {
                let there = vendor_client().is_some_and(|folder| folder.join("rtde/rtde.py").is_file());
                (!there).then(|| {
                    "needs UR's own RTDE client: git clone \
                     https://github.com/UniversalRobots/RTDE_Python_Client_Library, and set OUTRIGGER_VENDOR_CLIENT to \
                     that folder"
                        .to_owned()
                })
            }
        }
    }

    #[cfg(feature = "harness")]
    fn required(self) -> bool {
        let list = std::env::var("OUTRIGGER_REQUIRE").unwrap_or_default();
        let elsewhere = matches!(self, Self::VendorClient | Self::ClientLibrary | Self::FriClient);
        list.split(',').any(|name| (name == "all" && !elsewhere) || name == self.name())
    }
}

/// The compiler's targets for the emulated boards.
const THUMB: [&str; 2] = ["thumbv7em-none-eabihf", "thumbv8m.main-none-eabihf"];

/// The nightly toolchain to which fuzzing is pinned; `.ci/versions` has the same name.
pub const NIGHTLY: &str = "nightly-2026-05-20";

/// The name of the Python environment with the third-party clients; `.ci/versions` has the same name.
const CLIENTS: &str =
    "urx-0.11.0+ur_rtde-1.6.5+mcap-1.6.0+cyclonedds-11.0.1+rosbags-0.11.9+foxglove-sdk-0.30.3+websockets-17.4";

/// Returns the root of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the path of the folder with recorded network traffic, whether or not it exists.
#[must_use]
pub fn captures() -> PathBuf {
    std::env::var_os("OUTRIGGER_CAPTURES").map_or_else(|| workspace().join("../shared/captures"), PathBuf::from)
}

/// Returns the path of a Python interpreter with the packages of `.ci/setup`: `OUTRIGGER_PYTHON`, otherwise that of the
/// environment which `.ci/setup` creates in the user's cache.
#[must_use]
pub fn python() -> PathBuf {
    if let Some(python) = std::env::var_os("OUTRIGGER_PYTHON") {
        return python.into();
    }
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    cache.join("outrigger/python").join(CLIENTS).join("bin/python")
}

/// Returns the path of a Python program that reads FRI measurements and answers none: `OUTRIGGER_FRI_CLIENT`.
#[must_use]
pub fn fri_client() -> Option<PathBuf> {
    std::env::var_os("OUTRIGGER_FRI_CLIENT").map(PathBuf::from)
}

/// Returns the path of a copy of UR's own RTDE client: `OUTRIGGER_VENDOR_CLIENT`.
#[must_use]
pub fn vendor_client() -> Option<PathBuf> {
    std::env::var_os("OUTRIGGER_VENDOR_CLIENT").map(PathBuf::from)
}

/// Returns the path of a copy of UR's client library, compiled in its folder `build`: `OUTRIGGER_CLIENT_LIBRARY`.
#[must_use]
pub fn client_library() -> Option<PathBuf> {
    std::env::var_os("OUTRIGGER_CLIENT_LIBRARY").map(PathBuf::from)
}

fn without(program: &str, arguments: &[&str]) -> Option<String> {
    let found = Command::new(program).args(arguments).output().is_ok_and(|o| o.status.success());
    (!found).then(|| format!("needs `{program} {}`", arguments.join(" ")))
}

#[cfg(feature = "harness")]
mod harness;

#[cfg(feature = "harness")]
pub use harness::{main, main_at_once, main_one_by_one, test};
