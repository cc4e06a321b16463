//! Checks that blocked outputs do not delay a stop: the real program runs opposite simulated controllers, with an
//! output, a terminal or a disk that accepts nothing. Each time the first zero velocity must reach the controller
//! within 50 ms of a key or a signal, and a second key or signal must end the process within 200 ms.
//!
//! Few tests run at once. A failed test is not repeated: a time may be longer by the span in which a processor of
//! this machine stood still meanwhile, see [`within`].

mod obstacles;
mod program;
mod relay;

use std::fs::File;
use std::process::Stdio;
use std::time::Duration;

use outrigger_emulated::tries::within;

use self::obstacles::{Terminal, full_file, full_pipe, stopped_reader};
use self::program::{Beside, Program, Streams};

/// The time limit from a key or a signal to the first zero velocity at the controller.
const STOPS_WITHIN: Duration = Duration::from_millis(50);
/// The time limit from the second key or signal to the end of the process.
const ENDS_WITHIN: Duration = Duration::from_millis(200);
/// The time limit from the first key or signal to the end of a process whose output accepts nothing. Includes coming
/// to rest and every wait at the end.
const FINISHES_WITHIN: Duration = Duration::from_secs(8);

/// The way in which a test asks the program to stop.
#[derive(Clone, Copy, Debug)]
enum Asks {
    Signal(rustix::process::Signal),
    /// A key that is pressed in a terminal in raw mode.
    Key(u8),
    Line(&'static str),
}

const INTERRUPT: Asks = Asks::Signal(rustix::process::Signal::INT);
const TERMINATE: Asks = Asks::Signal(rustix::process::Signal::TERM);
const CONTROL_C: Asks = Asks::Key(3);

/// Runs the body of a test together with only a few others, because each needs to be scheduled in time. Runs it again
/// if a standstill of this machine made it late.
fn attempt(body: fn()) {
    outrigger_emulated::tries::attempt(std::thread::current().name().unwrap_or_default(), body);
}

/// Stops the arm with `first`, ends the process with `second`, and checks both times.
fn asked_twice(mut program: Program, first: Asks, second: Asks) {
    stopped(&mut program, first);
    std::thread::sleep(Duration::from_millis(50));
    let asked = program.now();
    program.ask(second);
    let code = program.end(FINISHES_WITHIN);
    let took = program.now() - asked;
    assert_eq!(code, Some(4), "{second:?} after {first:?}: asked twice, it is not an orderly end");
    within(
        &format!("{second:?} after {first:?} ended it"),
        took,
        ENDS_WITHIN,
        program.window(asked, took),
        String::new,
    );
}

/// Stops the arm with `first`, lets the process end by itself, and returns its exit code.
fn asked_once(mut program: Program, first: Asks) -> Option<i32> {
    stopped(&mut program, first);
    let asked = program.now();
    let code = program.end(FINISHES_WITHIN);
    assert!(code.is_some(), "{:?} after {first:?} it had not ended", program.now() - asked);
    code
}

fn stopped(program: &mut Program, by: Asks) {
    program.until_it_moves();
    let asked = program.now();
    program.ask(by);
    let took = program.stops_after(asked);
    let took = took.unwrap_or_else(|| panic!("{by:?}: no zero velocity"));
    within(&format!("{by:?}: the first zero velocity"), took, STOPS_WITHIN, program.window(asked, took), String::new);
}

/// Returns streams that write standard output and error into `file`.
fn into(file: &File) -> Streams {
    let to = || Stdio::from(file.try_clone().expect("a descriptor"));
    Streams { input: Stdio::piped(), output: to(), error: to() }
}

fn in_a_blocked_terminal(beside: Beside, first: Asks, second: Option<Asks>) {
    let terminal = Terminal::blocked();
    let before = terminal.is_canonical();
    let program = Program::run(beside, terminal.streams(), &[]).with_keys(terminal.keys());
    match second {
        Some(second) => asked_twice(program, first, second),
        None => drop(asked_once(program, first)),
    }
    assert!(before && terminal.is_canonical(), "the terminal was left in raw mode");
}

#[test]
fn a_key_stops_the_arm_and_control_c_ends_it_although_the_terminal_takes_nothing() {
    attempt(|| in_a_blocked_terminal(Beside::Ur, CONTROL_C, Some(CONTROL_C_AGAIN)));
    attempt(|| in_a_blocked_terminal(Beside::Ur, Asks::Key(b'q'), Some(CONTROL_C)));
}

/// The second request after a first Ctrl-C. It is a signal, because the program counts two Ctrl-C within a quarter of a
/// second as one.
const CONTROL_C_AGAIN: Asks = TERMINATE;

#[test]
fn a_signal_stops_the_arm_and_another_ends_it_although_the_terminal_takes_nothing() {
    attempt(|| in_a_blocked_terminal(Beside::Ur, INTERRUPT, Some(TERMINATE)));
    attempt(|| in_a_blocked_terminal(Beside::Krc, INTERRUPT, Some(Asks::Key(b'q'))));
}

#[test]
fn a_terminal_that_takes_nothing_does_not_keep_the_process() {
    attempt(|| in_a_blocked_terminal(Beside::Ur, Asks::Key(b'q'), None));
    attempt(|| in_a_blocked_terminal(Beside::Krc, CONTROL_C, None));
}

#[test]
fn a_release_by_key_is_not_delayed_by_a_terminal_that_takes_nothing() {
    attempt(|| {
        let terminal = Terminal::blocked();
        let mut program = Program::run(Beside::Ur, terminal.streams(), &[]).with_keys(terminal.keys());
        stopped(&mut program, Asks::Key(b's'));
    });
}

#[test]
fn a_full_pipe_delays_neither_a_signal_nor_a_line_nor_the_end() {
    attempt(|| {
        let pipe = full_pipe();
        asked_twice(Program::run(Beside::Ur, into(&pipe.to), &["--json"]), TERMINATE, INTERRUPT);
    });
    attempt(|| {
        let pipe = full_pipe();
        asked_twice(Program::run(Beside::Krc, into(&pipe.to), &[]), INTERRUPT, TERMINATE);
    });
    attempt(|| {
        let pipe = full_pipe();
        asked_once(Program::run(Beside::Ur, into(&pipe.to), &[]), Asks::Line("quit\n"));
    });
    attempt(|| {
        let pipe = full_pipe();
        asked_once(Program::run(Beside::Krc, into(&pipe.to), &["--json"]), INTERRUPT);
    });
}

#[test]
fn a_reader_that_was_stopped_delays_nothing_and_what_it_missed_is_counted() {
    attempt(|| {
        let reader = stopped_reader();
        let streams = Streams { input: Stdio::piped(), output: reader.pipe().into(), error: Stdio::piped() };
        let mut program = Program::run(Beside::Ur, streams, &["--json"]);
        let told = program.errors();
        asked_once(program, INTERRUPT);
        let told = told.join().expect("text");
        assert!(told.contains("messages were dropped: standard output did not take them"), "{told}");
    });
    attempt(|| {
        let reader = stopped_reader();
        let streams = Streams { input: Stdio::piped(), output: reader.pipe().into(), error: Stdio::null() };
        asked_twice(Program::run(Beside::Ur, streams, &[]), INTERRUPT, TERMINATE);
    });
}

#[test]
fn a_full_disk_behind_the_output_delays_nothing_and_is_told() {
    attempt(|| {
        let full = File::options().write(true).open("/dev/full").expect("a device that is always full");
        let streams = Streams { input: Stdio::piped(), output: full.into(), error: Stdio::piped() };
        let mut program = Program::run(Beside::Ur, streams, &[]);
        let told = program.errors();
        assert_eq!(asked_once(program, INTERRUPT), Some(1), "the summary is not where it should be");
        let told = told.join().expect("text");
        assert!(told.contains("messages were dropped") && told.contains("cannot write the output: No space"), "{told}");
    });
    attempt(|| {
        let full = File::options().write(true).open("/dev/full").expect("a device that is always full");
        asked_twice(Program::run(Beside::Krc, into(&full), &["--json"]), INTERRUPT, TERMINATE);
    });
}

#[test]
fn a_file_that_may_not_grow_ends_no_run() {
    attempt(|| {
        let recording = full_file("may-not-grow.mcap");
        let mut program = Program::run_with_files_of(64 << 10, Beside::Ur, &["--record", &recording]);
        let told = program.errors();
        // By then far more than 64 KiB have been received.
        program.until_it_moves();
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(asked_once(program, INTERRUPT), Some(1), "the recording is not complete");
        let told = told.join().expect("text");
        assert!(told.contains("is not complete: cannot write: File too large"), "{told}");
    });
}

#[test]
fn a_fifo_that_nobody_reads_delays_nothing() {
    attempt(|| {
        let fifo = obstacles::fifo("outside-output.fifo");
        asked_twice(Program::run(Beside::Ur, into(&fifo), &[]), INTERRUPT, TERMINATE);
    });
}

#[test]
fn closed_descriptors_change_nothing() {
    attempt(|| {
        for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
            let program = Program::run_in_a_shell(closed, Beside::Ur);
            assert_eq!(asked_once(program, INTERRUPT), Some(0), "{closed}");
        }
    });
}

#[test]
fn whatever_only_looks_ends_within_a_second_signal_as_well() {
    attempt(|| {
        for command in program::LOOKERS {
            let pipe = full_pipe();
            let mut program = Program::look(command, into(&pipe.to));
            std::thread::sleep(Duration::from_secs(1));
            program.ask(INTERRUPT);
            let code = program.end(FINISHES_WITHIN);
            assert!(code.is_some(), "{command:?} does not end");

            let mut program = Program::look(command, into(&pipe.to));
            std::thread::sleep(Duration::from_secs(1));
            program.ask(INTERRUPT);
            let asked = program.now();
            program.ask(TERMINATE);
            let ended = program.end(FINISHES_WITHIN).is_some();
            let took = program.now() - asked;
            assert!(ended, "{command:?} does not end");
            within(&format!("{command:?} ended"), took, ENDS_WITHIN, program.window(asked, took), String::new);
        }
    });
}

#[test]
fn with_too_few_descriptors_it_says_what_to_do() {
    let mut told = 0;
    for most in 3..24 {
        let (code, said) = program::run_with_descriptors(most);
        assert!(
            !said.contains("panicked") && code.is_some_and(|code| code != 101),
            "{most} descriptors: {code:?}, {said}"
        );
        if said.contains("os error 24") {
            assert!(said.contains("ulimit -n 1024"), "{most} descriptors: {said}");
            told += 1;
        }
    }
    assert!(told >= 3, "only {told} of them were too few");
}
