//! Analyses the instructions of an image: the deepest stack, and the functions that can panic.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::image::{inlined, llvm, outside_the_library, without_hash};

/// The functions of a linked image by their address.
pub(crate) struct Calls {
    functions: BTreeMap<u64, Function>,
}

#[derive(Default)]
struct Function {
    name: String,
    /// The bytes that the function itself puts on the stack, of all branches together.
    frame: u64,
    /// The address of each call, and that of the called function.
    calls: Vec<(u64, u64)>,
    /// The number of calls through a pointer, whose target is not known.
    blind: usize,
}

/// The chain of calls that needs the most stack.
pub(crate) struct Deepest {
    pub(crate) bytes: u64,
    /// The function with which the deepest chain begins.
    pub(crate) from: String,
}

impl Calls {
    pub(crate) fn read(elf: &Path) -> Self {
        let text = llvm("llvm-objdump", &["-d", "--demangle", "--no-show-raw-insn"], elf);
        let mut functions = BTreeMap::new();
        let mut current: Option<(u64, Function)> = None;
        for line in text.lines() {
            if let Some((address, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
                functions.extend(current.take());
                let address = u64::from_str_radix(address.trim(), 16).expect("an address");
                current = Some((address, Function { name: without_hash(name).into(), ..Function::default() }));
            } else if let (Some((start, function)), Some((at, instruction))) = (&mut current, line.split_once(':')) {
                let at = u64::from_str_radix(at.trim(), 16).unwrap_or(0);
                function.take(*start, at, instruction.trim());
            }
        }
        functions.extend(current);
        Self { functions }
    }

    /// Returns the deepest chain of direct calls.
    pub(crate) fn deepest(&self) -> Option<Deepest> {
        let mut known = HashMap::new();
        let all = self.functions.iter().map(|(at, function)| (self.depth(*at, &mut known), &function.name));
        all.max_by_key(|(bytes, _)| *bytes).map(|(bytes, name)| Deepest { bytes, from: name.clone() })
    }

    /// Returns the largest frame of one function that runs after the boot \[B\]; a guard below the stack must be larger
    /// than it. The functions that boot a board and its `main` are excluded: they run once and from the near end of the
    /// stack, which is far larger.
    pub(crate) fn largest_frame(&self, elf: &Path) -> (u64, &str) {
        let boots = |function: &&Function| {
            ["main", "outrigger_qemu_mps2::start", "outrigger_qemu_mps2::executor::run"].contains(&&*function.name)
                || function.name.contains("embassy_main_task")
                || self.task(function, elf).as_deref() == Some("main")
        };
        let others = self.functions.values().filter(|function| !boots(function));
        others.map(|function| (function.frame, &*function.name)).max().unwrap_or_default()
    }

    /// Returns each task of a firmware by its name in the source, with the stack that the deepest chain below its
    /// poll function needs \[B\].
    pub(crate) fn tasks(&self, elf: &Path) -> BTreeMap<String, u64> {
        let mut known = HashMap::new();
        let mut tasks = BTreeMap::new();
        for (at, function) in &self.functions {
            if let Some(name) = self.task(function, elf) {
                let deepest = tasks.entry(name).or_insert(0);
                *deepest = self.depth(*at, &mut known).max(*deepest);
            }
        }
        tasks
    }

    /// Returns the task whose poll this function is; `None` if it is no poll.
    fn task(&self, function: &Function, elf: &Path) -> Option<String> {
        if !function.name.contains("TaskStorage") || !function.name.ends_with("::poll") {
            return None;
        }
        let sites: Vec<u64> = function.calls.iter().map(|(at, _)| *at).collect();
        let places = inlined(elf, &sites).into_iter().flatten();
        Some(places.filter_map(|place| task_at(&place)).next().unwrap_or_else(|| "(not known)".into()))
    }

    /// Returns the number of calls through pointers, which no chain follows.
    pub(crate) fn blind(&self) -> usize {
        self.functions.values().map(|function| function.blind).sum()
    }

    fn depth(&self, at: u64, known: &mut HashMap<u64, u64>) -> u64 {
        if let Some(depth) = known.get(&at) {
            return *depth;
        }
        // A recursive call adds nothing, because the depth of recursion cannot be determined here.
        known.insert(at, 0);
        let Some(function) = self.functions.get(&at) else { return 0 };
        let below = function.calls.iter().map(|(_, to)| self.depth(*to, known)).max().unwrap_or(0);
        known.insert(at, function.frame + below);
        function.frame + below
    }

    /// Returns the source files with a call that panics: for each such call the innermost file outside of the
    /// standard library.
    pub(crate) fn panics(&self, elf: &Path) -> BTreeSet<String> {
        let is_panic = |name: &str| {
            ["core::panicking::", "core::option::", "core::result::", "core::slice::index::", "core::str::slice_error"]
                .iter()
                .any(|start| name.trim_start_matches('<').starts_with(start))
                || name.starts_with("core::cell::panic")
        };
        let starts: BTreeSet<u64> = self
            .functions
            .iter()
            .filter(|(_, function)| is_panic(&function.name) && !function.name.contains("async_fn_resumed"))
            .map(|(at, _)| *at)
            .collect();
        let callers = self.functions.values().filter(|function| !is_panic(&function.name));
        let sites: Vec<u64> = callers
            .flat_map(|function| &function.calls)
            .filter(|(_, to)| starts.contains(to))
            .map(|(at, _)| *at)
            .collect();
        let files = inlined(elf, &sites);
        files.iter().filter_map(|frames| outside_the_library(frames)).map(place).collect()
    }
}

/// Returns the task in a board's `main.rs`, or in the file with the common tasks, that contains a line.
fn task_at(place: &str) -> Option<String> {
    let (file, line) = place.rsplit_once(':')?;
    let line: usize = line.split_whitespace().next()?.parse().ok()?;
    if !file.contains("boards/") || !["/src/main.rs", "/app/src/board.rs"].iter().any(|end| file.ends_with(end)) {
        return None;
    }
    let source = std::fs::read_to_string(file).ok()?;
    let name = |line: &str| {
        let function = line.trim_start().strip_prefix("async fn ")?;
        function.split('(').next().map(str::to_owned)
    };
    let above: Vec<&str> = source.lines().take(line).collect();
    // Code that a macro generates has the line of the macro call, which is above the function.
    above.iter().rev().find_map(|line| name(line)).or_else(|| source.lines().find_map(name))
}

impl Function {
    fn take(&mut self, start: u64, at: u64, instruction: &str) {
        let (operation, operands) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
        let operation = operation.trim_end_matches(".w");
        match operation {
            "push" => self.frame += 4 * registers(operands),
            "vpush" => self.frame += 8 * registers(operands),
            "sub" | "subw" if operands.starts_with("sp, ") => self.frame += immediate(operands),
            "str" | "strd" if operands.contains("[sp, #-") && operands.ends_with("]!") => {
                self.frame += immediate(operands.trim_end_matches("]!"));
            }
            "blx" => self.blind += 1,
            _ if operation.starts_with('b') => {
                let target = operands.split_whitespace().next().and_then(|word| word.strip_prefix("0x"));
                let target = target.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                // A jump out of the function is a call that does not return; one within it appears as `<name+0x…>`.
                if let Some(target) = target.filter(|to| *to != start && !operands.contains("+0x")) {
                    self.calls.push((at, target));
                }
            }
            _ => {}
        }
    }
}

/// Returns the number of registers in a list such as `{r4, r5, lr}`, ranges included.
fn registers(list: &str) -> u64 {
    let number = |register: &str| register.trim_start_matches(['r', 'd', 's']).parse::<u64>().ok();
    list.trim_matches(['{', '}'])
        .split(", ")
        .map(|item| match item.split_once('-').map(|(a, b)| (number(a), number(b))) {
            Some((Some(first), Some(last))) => last - first + 1,
            _ => 1,
        })
        .sum()
}

/// Returns the number after the last `#`, without its sign.
fn immediate(operands: &str) -> u64 {
    let digits = operands.rsplit('#').next().unwrap_or_default().trim_start_matches('-');
    let digits = digits.split([' ', ',']).next().unwrap_or_default();
    digits.strip_prefix("0x").map_or_else(|| digits.parse(), |hex| u64::from_str_radix(hex, 16)).unwrap_or(0)
}

/// Returns a file's path from its crate on, without the line, because lines change.
fn place(at: &str) -> String {
    let (file, line) = at.rsplit_once(':').unwrap_or((at, ""));
    if line.starts_with('?') || line.starts_with('0') {
        return "(several places that the compiler made one)".into();
    }
    if file.contains("/library/") {
        return "(core library)".into();
    }
    let from = [
        "/index.crates.io-",
        "/core/src/",
        "/core/remote/src/",
        "/core/wire/src/",
        "/urscript/src/",
        "/port-embassy/src/",
        "/boards/",
    ];
    match from.iter().find_map(|mark| file.find(mark).map(|at| (at, *mark))) {
        Some((at, "/index.crates.io-")) => file[at + 1..].split_once('/').map_or(file, |(_, path)| path).into(),
        Some((at, _)) => file[at + 1..].into(),
        None => file.into(),
    }
}
