//! Analyses the content of a linked image: bytes of code by crate, and the statics.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A linked image and its sizes \[B\].
#[derive(Clone)]
pub(crate) struct Image {
    /// The size of all content of flash; `ram` is the size of all content of RAM without the stack.
    pub(crate) flash: u64,
    pub(crate) ram: u64,
    /// The size of constants, whose crate cannot be determined.
    pub(crate) constants: u64,
    /// The size of code by group of crates.
    pub(crate) code: BTreeMap<&'static str, u64>,
    /// The size of the core's code by module: `engine/ur`, `link`.
    pub(crate) modules: BTreeMap<String, u64>,
    /// The static variables of the image by size, largest first.
    pub(crate) statics: Vec<(u64, String)>,
}

/// The group with those parts of port-embassy that only a board's application uses. No engine needs them, so the
/// flash budgets exclude them.
const LINK_GUARD: &str = "port-embassy: guard of the link";

/// The groups by which the code of an image is summed, in the order of the rows of the table of sizes.
pub(crate) const GROUPS: [&str; 11] = [
    "core",
    "urscript",
    "port-embassy",
    LINK_GUARD,
    "serialisation",
    "app",
    "board",
    "network stack",
    "HAL",
    "executor, time, log",
    "core library",
];

impl Image {
    /// Reads the sizes of a linked image from its ELF file.
    ///
    /// # Panics
    /// If a tool cannot read the image.
    pub(crate) fn read(elf: &Path) -> Self {
        let sections: BTreeMap<String, u64> = llvm("llvm-size", &["-A", "-d"], elf)
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
            })
            .collect();
        let of = |names: &[&str]| names.iter().filter_map(|name| sections.get(*name)).sum::<u64>();
        let constants = of(&[".rodata", ".vector_table", ".data"]);
        let mut instructions = Vec::new();
        let mut statics = Vec::new();
        for line in llvm("llvm-nm", &["--print-size", "--demangle"], elf).lines() {
            let mut words = line.splitn(4, ' ');
            let mut hex = || words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
            let (Some(address), Some(size)) = (hex(), hex()) else { continue };
            match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
                ("t" | "T" | "w" | "W", _) => instructions.extend((address & !1..(address & !1) + size).step_by(2)),
                ("b" | "B" | "d" | "D", name) => statics.push((size, without_hash(name).to_owned())),
                _ => {}
            }
        }
        instructions.sort_unstable();
        instructions.dedup();
        statics.sort_unstable_by(|a, b| b.cmp(a));
        let mut code: BTreeMap<&'static str, u64> = GROUPS.iter().map(|group| (*group, 0)).collect();
        let mut modules = BTreeMap::new();
        for frames in inlined(elf, &instructions) {
            // The innermost function outside of the standard library, whatever it was inlined into.
            let file = outside_the_library(&frames).unwrap_or_default();
            *code.entry(group_of(file)).or_default() += 2;
            if let Some(module) = module_of(file) {
                *modules.entry(module).or_default() += 2;
            }
        }
        let (flash, ram) = (of(&[".text"]) + constants, of(&[".data", ".bss", ".uninit"]));
        Self { flash, ram, constants, code, modules, statics }
    }

    /// Returns the code size of `groups` \[B\].
    pub(crate) fn code_of(&self, groups: &[&str]) -> u64 {
        groups.iter().map(|group| self.code[group]).sum()
    }
}

/// Returns source file and line of each address, the innermost inlined function first.
pub(crate) fn inlined(elf: &Path, addresses: &[u64]) -> Vec<Vec<String>> {
    let mut child = Command::new("addr2line")
        .args(["-a", "-i", "-e"])
        .arg(elf)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("addr2line, of binutils");
    let asked: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let mut stdin = child.stdin.take().expect("a pipe");
    let feeder = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().expect("addr2line");
    feeder.join().expect("a thread").expect("addr2line reads");
    let mut all = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if line.starts_with("0x") {
            all.push(Vec::new());
        } else if let Some(frames) = all.last_mut() {
            frames.push(line.to_owned());
        }
    }
    all
}

/// Returns the innermost file outside of the standard library; if there is none, the outermost file.
pub(crate) fn outside_the_library(frames: &[String]) -> Option<&str> {
    let outside = frames.iter().find(|file| !file.contains("/library/") && !file.contains("??"));
    outside.or(frames.last()).map(String::as_str)
}

fn group_of(file: &str) -> &'static str {
    let own = [
        ("/library/", "core library"),
        ("/port-embassy/src/hardware_address.rs", LINK_GUARD),
        ("/port-embassy/src/arp_claim.rs", LINK_GUARD),
        ("/port-embassy/src/arp_guard.rs", LINK_GUARD),
        ("/port-embassy/src/frame_monitor.rs", LINK_GUARD),
        ("/port-embassy/src/heartbeat.rs", LINK_GUARD),
        ("/port-embassy/src/link_watchdog.rs", LINK_GUARD),
        ("/port-embassy/src/", "port-embassy"),
        ("/urscript/src/", "urscript"),
        ("/boards/app/", "app"),
        ("/boards/w5500/", "network stack"),
        ("/boards/", "board"),
        ("/tests/", "board"),
        ("/core/src/postcard/", "serialisation"),
        ("/core/src/", "core"),
        ("/core/remote/src/", "core"),
        ("/core/wire/src/", "core"),
    ];
    let Some(foreign) = file.split_once("/index.crates.io-").and_then(|(_, rest)| rest.split('/').nth(1)) else {
        return own.iter().find(|(mark, _)| file.contains(mark)).map_or("core library", |(_, group)| *group);
    };
    match foreign.rsplit_once('-').map_or(foreign, |(name, _)| name) {
        // The dependencies of the core.
        "zerocopy" | "heapless" | "embedded-io-async" => "core",
        "postcard" | "serde" | "serde_core" | "cobs" => "serialisation",
        "smoltcp" | "managed" | "embassy-net" | "embassy-net-driver" | "embassy-net-driver-channel" | "byteorder" => {
            "network stack"
        }
        name if name.starts_with("embassy-stm32") || name.starts_with("embassy-rp") || name.contains("metapac") => {
            "HAL"
        }
        "cortex-m" | "cortex-m-rt" | "vcell" | "rp-pac" | "embassy-hal-internal" => "HAL",
        _ => "executor, time, log",
    }
}

/// Returns the core's module that a file belongs to: the name of its folder or of the file itself; inside the engine
/// the name of the next level.
fn module_of(file: &str) -> Option<String> {
    let (of, path) = ["/core/src/", "/core/remote/src/", "/core/wire/src/"]
        .into_iter()
        .find_map(|of| Some((of, file.split_once(of)?.1)))?;
    let path = path.split(".rs").next()?;
    let wire = (of == "/core/wire/src/").then_some("wire");
    let mut parts = wire.into_iter().chain(path.split('/').filter(|part| *part != "mod"));
    let module = parts.next()?;
    match (module, parts.next()) {
        ("engine" | "wire" | "client" | "robot", Some(below)) => Some(format!("{module}/{below}")),
        _ => Some(module.to_owned()),
    }
}

/// Returns the output of a tool of the component `llvm-tools` for an image.
///
/// # Panics
/// If the component is not installed.
pub(crate) fn llvm(name: &str, arguments: &[&str], elf: &Path) -> String {
    let rustc = |argument: &str| run(Command::new("rustc").args(argument.split(' ')));
    let version = rustc("-vV");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let folder = Path::new(rustc("--print sysroot").trim()).join("lib/rustlib").join(host).join("bin");
    run(Command::new(folder.join(name)).args(arguments).arg(elf))
}

/// Returns the output of a command.
///
/// # Panics
/// If it fails, with its output.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

pub(crate) fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 => path,
        _ => name,
    }
}
