//! The emulated board's firmware, built with Cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use defmt_decoder::Table;

use super::command::PROGRAM;
use super::{Folder, Machine};

/// The name of the firmware's package and program.
const PACKAGE: &str = "outrigger-qemu-mps2";
/// The environment variable with the path of the configuration that the build compiles in.
const CONFIGURATION: &str = "OUTRIGGER_BOARD_CONFIG";

/// The rustc flags for the processor of `mps2-an500`.
const M7: &str = r#"target.thumbv7em-none-eabihf.rustflags=["-Ctarget-cpu=cortex-m7"]"#;

/// A prerequisite for building or running the firmware that is not installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// QEMU for Arm is not installed.
    Qemu,
    /// This target of the Rust compiler is not installed.
    Target(&'static str),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Qemu => write!(f, "no {PROGRAM}: on Debian, `apt-get install qemu-system-arm`"),
            Self::Target(target) => write!(f, "the compiler cannot build for {target}: `rustup target add {target}`"),
        }
    }
}

/// Returns the missing prerequisites for building and running the firmware for `machine`.
#[must_use]
pub fn missing(machine: Machine) -> Vec<Missing> {
    let wanted = machine.target();
    let qemu = Command::new(PROGRAM).arg("--version").output().is_ok_and(|output| output.status.success());
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = Command::new(rustc).args(["--print", "target-libdir", "--target", wanted]).output();
    let target = library.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
    [(qemu, Missing::Qemu), (target, Missing::Target(wanted))]
        .into_iter()
        .filter_map(|(has, part)| (!has).then_some(part))
        .collect()
}

/// The reason why there is no firmware to run.
#[derive(Debug)]
pub enum Unbuilt {
    /// A prerequisite for the build is missing; contains all that are missing.
    Missing(Vec<Missing>),
    /// The build failed; contains the output of Cargo.
    Cargo(String),
    /// A file could not be read or written, or Cargo could not be started; contains the path concerned and the system's
    /// error.
    Io(PathBuf, std::io::Error),
    /// The program has no tables for its log, or tables that cannot be read.
    NoLog(String),
}

impl std::fmt::Display for Unbuilt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing(parts) => {
                let parts: Vec<String> = parts.iter().map(Missing::to_string).collect();
                f.write_str(&parts.join("\n"))
            }
            Self::Cargo(output) => write!(f, "the firmware does not build:\n{output}"),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::NoLog(error) => write!(f, "no log can be read of this firmware: {error}"),
        }
    }
}

impl std::error::Error for Unbuilt {}

/// The built firmware of the emulated board.
#[derive(Debug)]
pub struct Firmware {
    machine: Machine,
    elf: PathBuf,
    table: Table,
    /// The folder with a copy of the program, so that a later build does not replace it.
    _folder: Option<Folder>,
}

impl Firmware {
    /// Builds the firmware with `configuration` compiled in, or the board's own configuration if it is `None`. The
    /// compiler's progress goes to standard error if `loud` is `true`.
    ///
    /// # Errors
    /// Returns an [`Unbuilt`] if a prerequisite is missing, the build fails or its result cannot be read.
    pub fn build(machine: Machine, configuration: Option<&Path>, loud: bool) -> Result<Self, Unbuilt> {
        // Only one build per machine at a time, because a machine has only one place for the program.
        static BUILDING: [Mutex<()>; Machine::NAMED.len()] = [const { Mutex::new(()) }; Machine::NAMED.len()];
        let _building = BUILDING[machine as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let lacking = missing(machine);
        if !lacking.is_empty() {
            return Err(Unbuilt::Missing(lacking));
        }
        let board = board();
        let mut target = board.join("target");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(&board)
            .args(["build", "--release", "--locked", "--target", machine.target()])
            .stdin(Stdio::null());
        if machine != Machine::An386 {
            // Each machine other than the default has a folder of its own, so that their builds do not replace each
            // other.
            target.push(machine.name());
            cargo.args(["--features", machine.name()]);
        }
        if machine == Machine::An500 {
            cargo.args(["--config", M7]);
        }
        cargo.arg("--target-dir").arg(&target);
        match configuration {
            Some(path) => cargo.env(CONFIGURATION, path),
            None => cargo.env_remove(CONFIGURATION),
        };
        let io = |path: &Path, error| Unbuilt::Io(path.to_owned(), error);
        if loud {
            let status = cargo.status().map_err(|error| io(&board, error))?;
            status.success().then_some(()).ok_or_else(|| Unbuilt::Cargo("see above".into()))?;
        } else {
            let output = cargo.output().map_err(|error| io(&board, error))?;
            let said = || Unbuilt::Cargo(String::from_utf8_lossy(&output.stderr).into_owned());
            output.status.success().then_some(()).ok_or_else(said)?;
        }
        let built = target.join(machine.target()).join("release").join(PACKAGE);
        let folder = Folder::new().map_err(|error| io(&built, error))?;
        let elf = folder.file(PACKAGE);
        std::fs::copy(&built, &elf).map_err(|error| io(&built, error))?;
        Ok(Self { _folder: Some(folder), ..Self::open(machine, &elf)? })
    }

    /// Opens a program that has already been built.
    ///
    /// # Errors
    /// [`Unbuilt::Io`] if it cannot be read, [`Unbuilt::NoLog`] if it has no readable tables for its log.
    pub fn open(machine: Machine, elf: &Path) -> Result<Self, Unbuilt> {
        let bytes = std::fs::read(elf).map_err(|error| Unbuilt::Io(elf.to_owned(), error))?;
        let table = Table::parse(&bytes)
            .map_err(|error| Unbuilt::NoLog(error.to_string()))?
            .ok_or_else(|| Unbuilt::NoLog("it has no `.defmt` section".into()))?;
        Ok(Self { machine, elf: elf.to_owned(), table, _folder: None })
    }

    /// Returns the machine that the program is built for.
    #[must_use]
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Returns the path of the program.
    #[must_use]
    pub fn elf(&self) -> &Path {
        &self.elf
    }

    /// Returns the tables by which the program's log is decoded.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }
}

/// Returns the path of the emulated board's package.
fn board() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards/qemu-mps2")
}
