//! Measures the costs on microcontrollers and compares them with the budgets: flash, RAM, stack, instructions, panics.
//!
//! `cargo run --release -p outrigger-bench --bin board_budgets` builds every board and compares the measured costs with
//! the committed table; `OUTRIGGER_BLESS=1` writes the table anew. `.ci/run budgets` does the same. With the argument
//! `parts` it does so for the costs of each part in addition to the lean engine, which takes eight more builds:
//! `.ci/run parts`, every night. With `engine` it builds the engine and the emulated board only, and compares them with
//! the budgets alone: `.ci/run engine_budgets`, with every change.

mod calls;
mod image;
mod table;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use calls::Calls;
use image::{GROUPS, Image, run};
use outrigger_core::State;
use outrigger_core::command::Sources;
use outrigger_core::command::outputs::Outputs;
use outrigger_core::engine::Event;
use outrigger_core::engine::ur::{PrimaryFacts, UrConfig, UrEvent};
use outrigger_core::law::AnyLaw;
use outrigger_core::link::{Histograms, LinkMonitor};
use outrigger_core::mode::{Evidence, Following, ModeMachine, Operator};
use outrigger_embassy::{Buffers, BuffersWithRtde, SmallBuffers, Windows};

/// The flash budget of the lean configuration \[B\], for our code and the compiler's routines for it. Lean means one
/// law, states from port 30003 and no feature of the core.
const LEAN_FLASH: u64 = 68 * 1024 + 512;
/// The RAM budget of the lean configuration \[B\], for one session with its socket buffers.
const LEAN_SESSION: u64 = 20 * 1024;
/// The flash budget of the engine with all parts that `board-parts.md` lists \[B\], and its RAM budgets for one session
/// without (`SESSION`) and with RTDE (`RTDE_SESSION`). Programs on the controller take 42 kB of the flash and 4.7 kB of
/// the RAM. Port 30003 has room for five packets, so that a lost packet causes no timeout.
const FLASH: u64 = 154 * 1024;
const SESSION: u64 = 29 * 1024;
const RTDE_SESSION: u64 = 34 * 1024;
/// The parts of the engine that a board can leave out: a description of each, and the feature of `tests/thumb/probe`
/// that includes it.
const PARTS: [(&str, &str); 7] = [
    ("feature `texts` of the core: errors in a configuration and messages of the controller", "outrigger-core/texts"),
    ("feature `outputs`", "outrigger-core/outputs"),
    ("feature `histograms`", "outrigger-core/histograms"),
    ("feature `trajectories`", "outrigger-core/trajectories"),
    ("any of the laws, in place of joint servo", "laws"),
    ("feature `rtde`, and states from there: `Memory::rtde`", "rtde"),
    ("feature `programs`: commands by a program on the controller, four of them", "programs"),
];
/// The budget of the code that writes settings, checkpoints and telemetry, and reads settings, in any image \[B\].
const SERIALISATION: u64 = 34 * 1024;
/// The groups of crates whose code counts towards the flash budgets: our crates, and the routines of the compiler and
/// of the core library that they call. Code that a board adds is excluded.
const OURS: [&str; 4] = ["core", "urscript", "port-embassy", "core library"];
/// The environment variable with the path of the configuration that is built into a board's firmware instead of its
/// own.
const SETTINGS: &str = "OUTRIGGER_BOARD_CONFIG";
/// The board whose firmware for a KRC is measured: one board represents all.
const BESIDE_KRC: &str = "qemu-mps2";
/// The firmware images for which the report lists the size of the code by module.
const IN_MODULES: [&str; 4] = ["engine, smallest", "engine, lean", "qemu-mps2", "qemu-mps2, KRC"];
/// The size of the smallest module that is listed \[B\].
const LEAST_MODULE: u64 = 256;
/// An image and a source file in which the check for panics ignores a panic: the peripheral access crate's assertion of
/// an interrupt line's number, which the report attributes to the file of its caller. Panics of the sensor driver
/// itself are found on the other board that has it.
const ELSEWHERE: (&str, &str) = ("nucleo-h743zi", "port-embassy/src/sensor/ads131m06.rs");
/// The highest number of lines shown in which the measured table differs from the committed one.
const DIFFERENCES: usize = 40;

fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).to_path_buf()
}

/// Builds the package in `folder` and returns its program.
fn build(folder: &Path, arguments: &[&str]) -> PathBuf {
    program(cargo(folder).args(["build", "--locked"]).args(arguments))
}

/// Runs this Cargo command, which builds a program, and returns the path of the program.
fn program(command: &mut Command) -> PathBuf {
    let said = run(command.arg("--message-format=json-render-diagnostics"));
    let executable = said.lines().filter_map(|line| line.split_once("\"executable\":\"")).next_back();
    executable.and_then(|(_, rest)| rest.split('"').next()).expect("a program").into()
}

/// Returns a command of Cargo in another workspace, which has its own settings.
fn cargo(folder: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(folder).env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS").env_remove(SETTINGS);
    command
}

/// The images that a report is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The engine for size, with and without its optional parts, and the emulated board.
    Engine,
    /// The engine with each profile, every board, and one board for a KRC.
    All,
}

/// Builds the firmware of each board in the scope, and that of one board for a KRC. Returns the names and the paths of
/// the programs.
fn boards(scope: Scope) -> Vec<(String, PathBuf)> {
    let folder = root().join("boards");
    let entries = std::fs::read_dir(&folder).expect("boards").flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join(".cargo").is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    if scope == Scope::Engine {
        names.retain(|name| name == BESIDE_KRC);
    }
    let built = |name: String| (name.clone(), build(&folder.join(name), &["--release"]));
    let mut all: Vec<(String, PathBuf)> = names.into_iter().map(built).collect();
    if scope == Scope::Engine {
        return all;
    }
    // Both forms of a firmware are built to the same path.
    if let Some((_, elf)) = all.iter_mut().find(|(name, _)| name == BESIDE_KRC) {
        let kept = elf.with_extension("ur");
        std::fs::copy(&*elf, &kept).expect("room for a copy");
        *elf = kept;
    }
    let krc =
        program(cargo(&folder.join(BESIDE_KRC)).args(["build", "--locked", "--release"]).env(SETTINGS, "krc.toml"));
    all.push((format!("{BESIDE_KRC}, KRC"), krc));
    all
}

/// Builds the probe, a program with the engine alone, and returns its path. The Cargo `profile` decides between speed
/// and size.
fn engine(profile: &str, arguments: &[&str]) -> PathBuf {
    let common = ["--profile", profile, "--target", "thumbv7em-none-eabihf"];
    build(&root().join("tests/thumb/probe"), &[&common, arguments].concat())
}

/// Builds the engine optimised for size, with only these features of the probe, and copies it to a path that the next
/// build does not overwrite. Returns that path.
fn lean(features: &str) -> PathBuf {
    let elf = engine("smallest", &["--no-default-features", "--features", &format!("engine_only,{features}")]);
    let kept = elf.with_extension("lean");
    std::fs::copy(&elf, &kept).expect("room for a copy");
    kept
}

/// Returns the size of the image's static variable whose name ends with `name` \[B\]; 0 if there is none.
fn static_of(image: &Image, name: &str) -> u64 {
    image.statics.iter().find(|(_, symbol)| symbol.ends_with(name)).map_or(0, |(size, _)| *size)
}

/// Runs the programs that count instructions in QEMU, as `.ci/run instructions` does. Returns the name, the count and
/// the budget, if there is one, of each counted operation.
fn instructions() -> Vec<(String, u64, Option<u64>)> {
    let said = |(program, features)| {
        let folder = root().join("tests/thumb/instructions");
        run(cargo(&folder).args(["run", "-q", "--release", "--locked", "--bin", program, "--features", features]))
    };
    let read = |line: &str| {
        let (left, right) = line.split_once(" instructions, ")?;
        let (name, count) = left.trim().rsplit_once(' ')?;
        let budget = right.strip_prefix("budget").and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        Some((name.trim().to_owned(), count.parse().ok()?, budget))
    };
    let programs = [("outrigger-instructions", ""), ("krc", ""), ("programs", "programs")];
    programs.map(said).iter().flat_map(|said| said.lines()).filter_map(read).collect()
}

/// The report of a run: a table of the measured costs, and the entries that exceed their budgets.
struct Report {
    text: String,
    over: Vec<String>,
}

impl Report {
    fn line(&mut self, cells: &[&dyn std::fmt::Display]) {
        for cell in cells {
            let _ = write!(self.text, "| {cell} ");
        }
        self.text.push_str("|\n");
    }

    fn head(&mut self, cells: &[&str]) {
        let row: Vec<&dyn std::fmt::Display> = cells.iter().map(|cell| cell as _).collect();
        self.line(&row);
        self.line(&vec![&"---" as &dyn std::fmt::Display; cells.len()]);
    }

    fn budget(&mut self, name: &str, measured: u64, budget: u64) {
        self.line(&[&name, &measured, &budget]);
        if measured > budget {
            self.over.push(format!("{name}: {measured}, budget {budget}"));
        }
    }

    fn say(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// Returns the size of our code and of the constants in an image \[B\].
fn flash(image: &Image) -> u64 {
    image.code_of(&OURS) + image.constants
}

/// Builds the lean engine with each of [`PARTS`] alone, and reports the flash and RAM that the part adds.
fn parts() -> Report {
    let least = Image::read(&lean(""));
    let mut report = Report { text: PARTS_TEXT.into(), over: Vec::new() };
    report.head(&["part", "flash [B]", "RAM [B]"]);
    for (name, feature) in PARTS {
        let image = Image::read(&lean(feature));
        let more = |a: u64, b: u64| i64::try_from(a).unwrap_or(0) - i64::try_from(b).unwrap_or(0);
        report.line(&[&name, &more(flash(&image), flash(&least)), &more(image.ram, least.ram)]);
    }
    report
}

fn report(scope: Scope) -> Report {
    // Before the engine with all features, which is built to the same path.
    let least = ("engine, lean".to_owned(), lean(""));
    let profiles: &[&str] = match scope {
        Scope::Engine => &["smallest"],
        Scope::All => &["release", "small", "smallest"],
    };
    let images: Vec<(String, PathBuf, Image)> = profiles
        .iter()
        .map(|profile| (format!("engine, {profile}"), engine(profile, &["--features", "engine_only"])))
        .chain([least])
        .chain(boards(scope))
        .map(|(name, elf)| (name, elf.clone(), Image::read(&elf)))
        .collect();
    let mut report = Report { text: INTRODUCTION.into(), over: Vec::new() };

    report.head(&["what", "measured", "budget"]);
    for (name, count, budget) in instructions() {
        let name = format!("instructions: {name}");
        match budget {
            Some(budget) => report.budget(&name, count, budget),
            None => report.line(&[&name, &count, &"–"]),
        }
    }
    let named =
        |wanted: &str| images.iter().find(|(name, ..)| name == wanted).map(|(.., image)| image).expect("an engine");
    let (small, least) = (named("engine, smallest"), named("engine, lean"));
    // No engine contains the port. With all features it is that of the largest board in the scope, lean that of the board
    // with only a serial sensor.
    let port = images.iter().map(|(.., image)| image.code["port-embassy"]).max().unwrap_or(0);
    let lean_port = named("qemu-mps2").code["port-embassy"];
    report.budget(
        "flash of the lean engine, its loop, port-embassy and library: code, all constants [B]",
        flash(least) + lean_port,
        LEAN_FLASH,
    );
    report.budget("flash of the smallest engine with everything, the same [B]", flash(small) + port, FLASH);
    let serialisation = images.iter().map(|(.., image)| image.code["serialisation"]).max().unwrap_or(0);
    report.budget("serialisation in the image that has most of it [B]", serialisation, SERIALISATION);
    let windows = size_of::<Windows>() as u64;
    let mut session = |what: &str, image: &Image, sockets: usize, budget: u64| {
        let (engine, rtde, sockets) = (static_of(image, "::ENGINE"), static_of(image, "::RTDE"), sockets as u64);
        let (name, sum) = match (rtde, engine + windows + sockets) {
            (0, sum) => {
                (format!("RAM of a {what}: engine {engine}, its windows {windows}, socket buffers {sockets} [B]"), sum)
            }
            (rtde, sum) => (
                format!(
                    "RAM of a {what}: engine {engine}, its windows {windows}, RTDE {rtde}, socket buffers {sockets} [B]"
                ),
                sum + rtde,
            ),
        };
        report.budget(&name, sum, budget);
    };
    session("lean session", least, size_of::<SmallBuffers>(), LEAN_SESSION);
    let without_rtde = Image {
        statics: small.statics.iter().filter(|(_, name)| !name.ends_with("::RTDE")).cloned().collect(),
        ..small.clone()
    };
    session("session without RTDE", &without_rtde, size_of::<Buffers>(), SESSION);
    session("session with RTDE", small, size_of::<BuffersWithRtde>(), RTDE_SESSION);

    report.say(MEMORY);
    report.head(&["part", "RAM [B]"]);
    for (what, size) in memory() {
        report.line(&[&what, &size]);
    }

    report.say("\n## Code by crate [B]\n\n");
    report.head(&[&["crate"], &*images.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>()].concat());
    let mut row = |name: &str, of: &dyn Fn(&Image) -> u64| {
        let sizes: Vec<u64> = images.iter().map(|(.., image)| of(image)).collect();
        let cells = std::iter::once(&name as &dyn std::fmt::Display);
        report.line(&cells.chain(sizes.iter().map(|size| size as _)).collect::<Vec<_>>());
    };
    for group in GROUPS {
        row(group, &|image| image.code[group]);
    }
    row("constants (no crate known)", &|image| image.constants);
    row("**flash**", &|image| image.flash);
    row("**RAM** without the stack", &|image| image.ram);

    report.say(MODULES);
    let shown: Vec<_> = images.iter().filter(|(name, ..)| IN_MODULES.contains(&name.as_str())).collect();
    report.head(&[&["module"], &*shown.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>()].concat());
    let mut modules: Vec<&String> = shown.iter().flat_map(|(.., image)| image.modules.keys()).collect();
    modules.sort_unstable();
    modules.dedup();
    for module in modules {
        let sizes: Vec<u64> = shown.iter().map(|(.., image)| image.modules.get(module).copied().unwrap_or(0)).collect();
        if sizes.iter().any(|size| *size >= LEAST_MODULE) {
            let cells = std::iter::once(module as &dyn std::fmt::Display);
            report.line(&cells.chain(sizes.iter().map(|size| size as _)).collect::<Vec<_>>());
        }
    }

    report.say("\n## Statics of at least 256 B\n\n");
    report.head(&["image", "static", "B"]);
    for (name, _, image) in &images {
        for (size, symbol) in image.statics.iter().filter(|(size, _)| *size >= 256) {
            report.line(&[name, &format!("`{symbol}`"), size]);
        }
    }

    report.say(STACK);
    report.head(&[
        "image",
        "deepest chain of calls [B]",
        "begins in",
        "largest frame after boot [B]",
        "calls through pointers",
    ]);
    let calls: Vec<_> = images.iter().map(|(name, elf, _)| (name, elf, Calls::read(elf))).collect();
    for (name, elf, calls) in &calls {
        let deepest = calls.deepest().expect("functions");
        let (largest, of) = calls.largest_frame(elf);
        report.line(&[name, &deepest.bytes, &format!("`{}`", deepest.from), &largest, &calls.blind()]);
        // The region below a board's stack detects pointer changes smaller than itself.
        if !name.starts_with("engine") && largest >= GUARD {
            report.over.push(format!("{name}: {of} has a frame of {largest} B, and the guard has {GUARD} B"));
        }
    }
    report.say(TASKS);
    report.head(&["image", "task", "deepest chain of calls [B]"]);
    for (name, elf, calls) in &calls {
        for (task, bytes) in calls.tasks(elf) {
            report.line(&[name, &format!("`{task}`"), &bytes]);
        }
    }

    report.say(PANICS);
    report.head(&["image", "file"]);
    for (name, elf, calls) in &calls {
        for file in calls.panics(elf) {
            let ours = ["core/src/", "core/remote/src/", "core/wire/src/", "urscript/src/", "port-embassy/src/"]
                .iter()
                .any(|start| file.starts_with(start));
            // At opt-level z, which the lean engine also has, some checks remain.
            let for_size = name.contains("small") || name.contains("lean");
            if ours && !for_size && (name.as_str(), file.as_str()) != ELSEWHERE {
                report.over.push(format!("{name}: a panic is reachable in {file}"));
            }
            report.line(&[name, &format!("`{file}`")]);
        }
    }
    report
}

/// Returns the memory that the parts of a session with all features need \[B\], with this machine's layout. No part
/// has a pointer, and lengths of lists are wider here by some bytes.
fn memory() -> [(&'static str, usize); 16] {
    let sockets = size_of::<Buffers<0>>();
    [
        ("socket buffers: states from 30003, five packets", size_of::<Buffers>() - sockets),
        ("the other two: messages of 30001, text to 30003", sockets),
        ("windows: the longest state of 30001, and one packet of 30003", size_of::<Windows>()),
        (
            "engine: the link's figures over 100 cycles, without histograms",
            size_of::<LinkMonitor>() - size_of::<Histograms>(),
        ),
        ("engine: its three histograms", size_of::<Histograms>()),
        ("engine: events that wait, messages of the controller among them", 16 * size_of::<Event<UrEvent>>()),
        ("engine: the law, 16 waypoints in it", size_of::<AnyLaw<6>>()),
        ("engine: the configuration", size_of::<UrConfig>()),
        (
            "engine: what was sent in the last cycles, to compare the controller's target with",
            size_of::<Following<6>>(),
        ),
        ("engine: what the controller told of itself: limits, kinematics, terminals", size_of::<PrimaryFacts>()),
        ("engine: outputs that wait or are to be confirmed", size_of::<Outputs>()),
        ("engine: sensors", size_of::<Sources>()),
        ("engine: the last state", size_of::<State<6>>()),
        ("engine: the mode machine", size_of::<ModeMachine>()),
        ("engine: evidence for and against commanding", size_of::<Evidence>()),
        ("engine: operator", size_of::<Operator>()),
    ]
}

fn main() -> ExitCode {
    let (name, report) = match std::env::args().nth(1).as_deref() {
        None => (Some("board-budgets.md"), report(Scope::All)),
        Some("engine") => (None, report(Scope::Engine)),
        Some("parts") => (Some("board-parts.md"), parts()),
        Some(other) => {
            eprintln!("{other}: expected nothing, `engine` or `parts`");
            return ExitCode::from(2);
        }
    };
    let mut good = name.is_none_or(|name| compare_or_write(name, &report.text));
    for over in &report.over {
        eprintln!("over budget: {over}");
        good = false;
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares `text` with the committed table, or writes it there if `OUTRIGGER_BLESS` is 1. Returns whether they agree.
fn compare_or_write(name: &str, text: &str) -> bool {
    let table = root().join("tests/tables").join(name);
    if std::env::var_os("OUTRIGGER_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&table, text).expect("a table to write");
        return true;
    }
    let differ = table::differences(&std::fs::read_to_string(&table).unwrap_or_default(), text);
    if !differ.is_empty() {
        eprintln!("tests/tables/{name} is not what is measured; OUTRIGGER_BLESS=1 writes it anew");
        // After an inserted or removed line all others are shifted and differ, too.
        differ.iter().take(DIFFERENCES).for_each(|line| eprintln!("{line}"));
    }
    differ.is_empty()
}

const INTRODUCTION: &str = "\
# What a microcontroller pays

Made by `OUTRIGGER_BLESS=1 cargo run --release -p outrigger-bench --bin board_budgets`, held every night by `.ci/run budgets`: it fails
where a budget is exceeded, or where a number here is off by more than a hundredth and 256.

*engine* is the engine beside one robot with every law, states by RTDE, and the loop around it, without network, recorder and
error texts (`tests/thumb/probe`), built for speed (`release`, opt-level 3) and for size (`small`: s, `smallest`: z); *lean* is the
smallest with joint servo alone, states from port 30003, and no feature of the core; the others are the firmware of `boards/*`, built for speed (port-embassy for size), with recorder and telemetry; *KRC* is the firmware beside
a KUKA LWR, which has the other session. Targets are Cortex-M4F, M7 and M33 with their single-precision
unit. Instructions are counted in QEMU, exactly; they say nothing of cycles. Where there is no budget a number is held by
this table alone.

An instruction belongs to the crate of the innermost function that is not the standard library's, in whatever it was
inlined; *core library* is what is left, compiler routines among it. Constants carry no trace of their crate. The flash
budget is about core, urscript, port-embassy without its guard of the link (ARP, link watchdog, heartbeat, address) and the core library; what they are made with (zerocopy, heapless) is counted as core.

";

const PARTS_TEXT: &str = "\
# What each part of a board costs

Made by `OUTRIGGER_BLESS=1 cargo run --release -p outrigger-bench --bin board_budgets parts`, held every night by `.ci/run parts`: it
fails where a number here is off by more than 1 % and 256 B.

What the lean engine grows by with each part alone. Flash is code and constants of the core, urscript and what they are made with; RAM is
without socket buffers. The lean engine, and what is counted, are explained in [`board-budgets.md`](board-budgets.md); what a board may
leave out, and how, is in [`boards/README.md`](../../boards/README.md).

";

const MEMORY: &str = "
## What the RAM of a session is

With everything, without RTDE; the largest parts. 20 KiB were aimed at: without histograms, texts and outputs
([`board-parts.md`](board-parts.md)) and with four packets it is the lean session that keeps to them. What is left are windows over a hundred cycles, by
which a link is graded, and what is compared with the controller's target.

";

const MODULES: &str = "
## Code of the core by module [B]

Where the rows *core* above come from, for the engine and for one board: what has at least 256 B in one of them.

";

const STACK: &str = "
## Stack

Sum of the frames along the deepest chain of direct calls, read from the instructions: an upper bound for what that
function needs, and none for calls through pointers (tasks are polled, and formatted, through them). Interrupts come on
top.

";

/// The size of the guard below the stack of a board whose core has no limit registers.
const GUARD: u64 = outrigger_app::GUARD as u64;

const TASKS: &str = "
Of each task of a board, what one poll of it needs: they are polled one after the other, so the stack is as deep as the
deepest of them, the executor and the interrupts together (which have a stack of their own, of 4 096 B).

";

const PANICS: &str = "
## Who can panic

Source files with a call of a panic in the linked image; of inlined functions the innermost that is not the standard
library's. `core`, `urscript` and `port-embassy` must not be among them, in what
is built for speed. Left out: that an `async fn` polled after its end panics, for nobody does it. What the compiler made
one of several places names none of them: in tasks, the stack's `RefCell`s mostly.

";
