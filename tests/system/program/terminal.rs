//! The full-screen view when its terminal is closed.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::Winsize;

/// The time limit for the process to end after its terminal was closed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program on a terminal that is closed once the view has printed something. Returns the exit status, `None`
/// if the program does not end.
fn with_a_terminal_that_goes_away(arguments: &[&str]) -> Option<ExitStatus> {
    // The terminal is not the controlling one of the program, so that no SIGHUP is sent.
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
    let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&controller, size).expect("a size");
    let path = ptsname(&controller, Vec::new()).expect("its name").into_string().expect("ASCII");
    let side = || File::options().read(true).write(true).open(&path).expect("its other side");
    let mut command = Command::new(outrigger_system::program());
    let mut child =
        command.args(arguments).stdin(side()).stdout(side()).stderr(side()).spawn().expect("the binary under test");
    drop(command);

    let mut screen = File::from(controller);
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("monitor") {
        let mut bytes = [0; 4096];
        let count = screen.read(&mut bytes).expect("a view");
        said.extend_from_slice(&bytes[..count]);
    }
    drop(screen);

    let id = rustix::process::Pid::from_child(&child);
    let (ended, end) = channel();
    std::thread::spawn(move || ended.send(child.wait().expect("a child")));
    let status = end.recv_timeout(PATIENCE).ok();
    if status.is_none() {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
    }
    status
}

#[test]
fn a_view_whose_terminal_is_closed_ends_the_command() {
    let listen = ["monitor", "127.0.0.1", "--kind", "krc", "--listen", "127.0.0.1:0"];
    let status = with_a_terminal_that_goes_away(&listen).expect("it ends");
    assert_eq!(status.code(), Some(3), "nothing came from a KRC: {status}");
}
