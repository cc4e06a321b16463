//! `outrigger board` over the serial line of the emulated board: new settings are written while the power fails at
//! every write to the flash.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use outrigger_emulated::qemu::{Command as Qemu, Folder, Log, Process, SerialMode};

use super::tap::program;
use super::*;

/// The size of a write to the flash of the emulated board \[bytes\].
const UNIT: usize = 32;
/// The number of flash sectors that a copy of the settings occupies.
const SECTORS: usize = 3;
/// A limit on the attempts to write settings. It is higher than the number of flash operations, each of which the power
/// failure interrupts once.
const ATTEMPTS: usize = 500;
/// The number of attempts to read the settings, each of half a second or more, in which a started board must answer.
const TRIES: usize = 20;

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("a_board_is_told_at_the_bench_and_power_that_goes_at_every_write_leaves_one_good_copy", BOARD, every_cut),
        timed("a_board_that_commands_is_told_nothing", BOARD, commanded),
    ]
}

/// An emulated board without a robot. Its power fails in each operation of its flash in turn.
struct Board {
    program: String,
    line: String,
    process: Process,
    log: Log<'static>,
    lines: Vec<String>,
    folder: Folder,
}

impl Board {
    fn start(machine: Machine) -> Self {
        let firmware = firmware(machine, SLOW);
        let folder = Folder::new().expect("a folder");
        let line = format!("unix:{}", folder.file("bench").display());
        let command = Qemu {
            bench: SerialMode::Device(format!("{line},server=on,wait=off")),
            options: vec!["cut=each".into()],
            limit: Some(Duration::from_secs(900)),
            ..Qemu::new(firmware.machine(), firmware.elf())
        };
        let process = Process::start(&command).expect("QEMU starts");
        let log = Log::new(firmware.table());
        Self { program: program(), line, process, log, lines: vec![], folder }
    }

    /// Runs `outrigger board` with these arguments. Returns its output, exit code and standard error.
    fn ask(&mut self, words: &[&str]) -> (String, Option<i32>, String) {
        let mut command = Command::new(&self.program);
        let Output { status, stdout, stderr } =
            command.arg("board").args(words).args(["--port", &self.line]).output().expect("the program runs");
        let lines = &mut self.lines;
        self.log.receive(SimTime::ZERO, &self.process.output(), |line| lines.push(line.text));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&stdout), status.code(), text(&stderr))
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.file(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// Returns `true` if the board runs exactly the settings in `file`, or without a file those that were compiled in.
    fn runs(&mut self, file: Option<&Path>) -> bool {
        let path = file.map(|file| file.display().to_string());
        let (said, status, complaints) = self.ask(&[&["show"], path.as_deref().as_slice()].concat());
        assert_eq!(status, Some(0), "{said}{complaints}{:?}", self.lines);
        match file {
            None => said.contains(": runs compiled-in settings, "),
            Some(_) => said.contains("in flash, number ") && said.contains("these settings are the same as in "),
        }
    }

    /// Repeats `outrigger board` with `words` until the power lasts to its end, and returns the number of power
    /// failures. Afterwards the board must run the settings `after`, and after each failure still `before`. With
    /// `default` it may then also run `after` already, if both copies of the settings are erased.
    fn until_done(&mut self, words: &[&str], before: Option<&Path>, after: Option<&Path>) -> usize {
        for cuts in 0..ATTEMPTS {
            let (said, status, complaints) = self.ask(words);
            if status == Some(0) {
                assert!(self.runs(after), "{words:?} after {cuts} cuts: {said}{:?}", self.lines);
                return cuts;
            }
            let interrupted = complaints.contains("the board restarted before all was ");
            assert!(
                status == Some(4) && interrupted,
                "{words:?} after {cuts} cuts: {said}{complaints}{:?}",
                self.lines
            );
            let good = self.runs(before) || words == ["default"] && self.runs(after);
            assert!(good, "{words:?} after {cuts} cuts: {said}{complaints}{:?}", self.lines);
        }
        panic!("{words:?}: never done: {:?}", self.lines)
    }
}

fn of_a_krc() -> PathBuf {
    require::workspace().join("tests/emulated/boards/krc.toml")
}

/// Returns the number of flash operations that write settings of this size \[bytes\]: the erased sectors, the write
/// units and the header.
fn operations(bytes: usize) -> usize {
    SECTORS + bytes.div_ceil(UNIT) + 1
}

fn every_cut(machine: Machine) {
    let mut board = Board::start(machine);
    assert!((0..TRIES).any(|_| board.ask(&["show"]).1 == Some(0)), "no answer: {:?}", board.process.complaints());
    assert!(board.runs(None));

    let text = std::fs::read_to_string(closed_loop::configuration(SLOW)).expect("the configuration");
    let other = |distance: &str| text.replace("distance = 0.05", &format!("distance = {distance}"));
    let (first, second) = (board.file("first.toml", &other("0.06")), board.file("second.toml", &other("0.07")));
    let [one, two] = [&first, &second].map(|file| file.display().to_string());

    let (said, ..) = board.ask(&["show", &one]);
    assert!(said.contains("these settings are different from "), "{said}");
    let length = |said: &str| -> usize {
        let number = said.split_once("is valid: ").and_then(|(_, rest)| rest.split(' ').next());
        number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
    };

    // Settings that this firmware cannot run are rejected. Nothing is written, so the power does not fail.
    let beside_another = board.file("other.toml", &std::fs::read_to_string(of_a_krc()).expect("a file"));
    let (said, status, complaints) = board.ask(&["set", &beside_another.display().to_string()]);
    assert!(status == Some(1) && complaints.contains("robot.kind"), "{said}{complaints}");
    assert!(board.runs(None));

    // A sensor without a port is rejected too: the board would wait for it forever.
    let on_bus = text.replace("input = \"uart\"", "input = \"gp2y0e03\"");
    let (said, status, complaints) = board.ask(&["set", &board.file("bus.toml", &on_bus).display().to_string()]);
    let told = "source[0].input: found I2C bus 1, and this board has none";
    assert!(status == Some(1) && complaints.contains(told) && complaints.contains("inputs.md"), "{said}{complaints}");
    let refused = |line: &String| line.contains("settings: those that were told now are refused: source[0].input");
    assert!(board.lines.iter().any(refused), "{:?}", board.lines);
    assert!(board.runs(None));

    // The first settings are written to one copy, the second settings to the other.
    let bytes = length(&board.ask(&["set", &one]).0);
    // This was the first attempt, cut in its first operation.
    let cuts = 1 + board.until_done(&["set", &one], None, Some(&first));
    assert_eq!(cuts, operations(bytes), "of {bytes} bytes: {:?}", board.lines);
    let cuts = board.until_done(&["set", &two], Some(&first), Some(&second));
    assert_eq!(cuts, operations(bytes), "{:?}", board.lines);
    // `default` erases both copies, the one in force last.
    let cuts = board.until_done(&["default"], Some(&second), None);
    assert_eq!(cuts, 2 * SECTORS, "{:?}", board.lines);

    let cut = board.lines.iter().filter(|line| line.starts_with("flash: the power goes in operation ")).count();
    assert_eq!(cut, 2 * operations(bytes) + 2 * SECTORS, "the board and the command count the same cuts");
    println!(
        "{cut} cuts: {} writes of an image of {bytes} bytes, twice, and {} erasures",
        operations(bytes),
        2 * SECTORS
    );
}

fn commanded(machine: Machine) {
    let program = program();
    let mut bench = commanding(machine, SLOW);
    let line = bench.bench_line();
    let since = bench.now();
    let file = closed_loop::configuration(SLOW);
    let mut child = Command::new(&program)
        .args(["board", "set", &file.display().to_string(), "--port", &line])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let ended = |child: &mut Child| child.try_wait().expect("a child").is_some();
    assert!(bench.run_until(PATIENCE, |_| ended(&mut child)), "{}", bench.record().story(since));
    let Output { status, stdout, stderr } = child.wait_with_output().expect("what it said");
    let said = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(status.code() == Some(4) && said.contains("the board is in mode Command"), "{said}");
    bench.run_for(Duration::from_millis(500));
    undisturbed(&bench, SLOW, since);
    never_reset(&mut bench);
}
