//! Outputs that accept nothing: full pipes, a stopped reader, a FIFO without a reader, and a blocked terminal.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::program::Streams;

/// A full pipe whose reading end stays open but is never read.
pub(super) struct Pipe {
    _from: OwnedFd,
    pub(super) to: File,
}

pub(super) fn full_pipe() -> Pipe {
    let (from, to) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
    let to = File::from(to);
    fill(&to);
    Pipe { _from: from, to }
}

/// Writes until the file accepts nothing more.
fn fill(file: &File) {
    let flags = fcntl_getfl(file).expect("its flags");
    fcntl_setfl(file, flags | OFlags::NONBLOCK).expect("they are its own");
    let mut file = file;
    for length in [1024, 1] {
        while file.write(&vec![b'.'; length]).is_ok() {}
    }
    fcntl_setfl(file, flags).expect("they are its own");
}

/// A reader process that is stopped, and its full pipe.
pub(super) struct Reader {
    child: Child,
    to: File,
}

impl Reader {
    pub(super) fn pipe(&self) -> File {
        self.to.try_clone().expect("a descriptor")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn stopped_reader() -> Reader {
    let (from, to) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
    let child = Command::new("cat").stdin(Stdio::from(from)).stdout(Stdio::null()).spawn().expect("cat");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::STOP)
        .expect("ours");
    let status = || std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("its state");
    while !status().contains(") T ") {
        std::thread::yield_now();
    }
    let to = File::from(to);
    fill(&to);
    Reader { child, to }
}

/// Creates a full FIFO that no process reads.
pub(super) fn fifo(name: &str) -> File {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("a FIFO");
    // Opened for reading and writing, so that opening it does not block.
    let fifo = File::options().read(true).write(true).open(path).expect("ours");
    fill(&fifo);
    fifo
}

/// Returns the path of a file that does not exist yet. The caller limits the size to which it may grow.
pub(super) fn full_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path.to_str().expect("text").to_owned()
}

/// A pseudo terminal whose output is full.
pub(super) struct Terminal {
    controller: OwnedFd,
    side: File,
}

impl Terminal {
    pub(super) fn blocked() -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).expect("a size");
        let path = ptsname(&controller, Vec::new()).expect("its name").into_string().expect("ASCII");
        let side = File::options().read(true).write(true).open(&path).expect("its other side");
        fill(&side);
        Self { controller, side }
    }

    pub(super) fn streams(&self) -> Streams {
        let side = || Stdio::from(self.side.try_clone().expect("a descriptor"));
        Streams { input: side(), output: side(), error: side() }
    }

    /// Returns the end of the terminal that keys are written to.
    pub(super) fn keys(&self) -> File {
        self.controller.try_clone().expect("a descriptor").into()
    }

    /// Returns `true` if the terminal is not in raw mode.
    pub(super) fn is_canonical(&self) -> bool {
        tcgetattr(&self.side).expect("a terminal").local_modes.contains(LocalModes::ICANON)
    }
}
