//! The QEMU process: it is started, its output is read, and it is always ended.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};

use super::command::{Command, PROGRAM};

/// The way in which a board ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The firmware ended by itself and reported success.
    Success,
    /// The firmware, or QEMU, ended with this exit status.
    Failure(i32),
    /// The time limit of the run was reached.
    TimedOut,
    /// The board was ended by this program, or QEMU by a signal.
    Killed,
}

/// The exit status of `timeout` when the time is over.
const TIMED_OUT: i32 = 124;
/// The longest time that QEMU may take to end after it is asked to.
const GRACE: Duration = Duration::from_secs(3);

/// A running QEMU. It is ended when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdout: ChildStdout,
    stderr: ChildStderr,
    exit: Option<Exit>,
    /// The output of QEMU's standard error, which includes the message of a failed firmware.
    complaints: String,
}

impl Process {
    /// Starts QEMU.
    ///
    /// # Errors
    /// Returns the system's error, with a hint, if QEMU cannot be started.
    pub fn start(command: &Command) -> io::Result<Self> {
        let words = command.words();
        let (program, arguments) = words.split_first().ok_or(ErrorKind::InvalidInput)?;
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("cannot start {PROGRAM}: {error}")))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(ErrorKind::BrokenPipe.into());
        };
        fcntl_setfl(&stdout, fcntl_getfl(&stdout)? | OFlags::NONBLOCK)?;
        fcntl_setfl(&stderr, fcntl_getfl(&stderr)? | OFlags::NONBLOCK)?;
        Ok(Self { child, stdout, stderr, exit: None, complaints: String::new() })
    }

    /// Returns the bytes that arrived on standard output since the last call.
    pub fn output(&mut self) -> Vec<u8> {
        self.complaints.push_str(&String::from_utf8_lossy(&drain(&mut self.stderr)));
        drain(&mut self.stdout)
    }

    /// Returns the text that had arrived on standard error by the last call of [`output`](Self::output), from the start
    /// on.
    #[must_use]
    pub fn complaints(&self) -> &str {
        &self.complaints
    }

    /// Waits until there is output, or the process has ended.
    pub fn wait(&self) {
        // Whether or not the wait was interrupted, the caller checks afterwards.
        let _ = poll(&mut [PollFd::new(&self.stdout, PollFlags::IN)], None);
    }

    /// Pauses QEMU, as a host does (`still` is `true`), or continues it.
    ///
    /// # Errors
    /// Returns the system's error if a signal cannot be sent.
    pub fn hold(&self, still: bool) -> io::Result<()> {
        let signal = if still { Signal::STOP } else { Signal::CONT };
        let child = self.child.id();
        // If `timeout` limits QEMU's time, it is the parent of QEMU.
        let below = std::fs::read_to_string(format!("/proc/{child}/task/{child}/children"))?;
        let pids = below.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
        let own = i32::try_from(child).ok().and_then(Pid::from_raw);
        for pid in pids.chain(own) {
            kill_process(pid, signal)?;
        }
        Ok(())
    }

    /// Returns the way in which QEMU ended; `None` while it runs.
    pub fn exit(&mut self) -> Option<Exit> {
        if self.exit.is_none() {
            self.exit = self.child.try_wait().ok().flatten().map(exit_of);
        }
        self.exit
    }

    /// Ends QEMU and waits until it has ended. Returns the way in which it ended.
    pub fn end(&mut self) -> Exit {
        if let Some(exit) = self.exit() {
            return exit;
        }
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // A request to end instead of a kill: `timeout` passes it on to QEMU, and would leave QEMU behind if it
            // were killed.
            let _ = kill_process(pid, Signal::TERM);
        }
        for _ in 0..GRACE.as_millis() {
            if self.exit().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.exit.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        *self.exit.insert(Exit::Killed)
    }
}

impl AsFd for Process {
    /// Returns a descriptor that is readable when QEMU has written output.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match status.code() {
        Some(0) => Exit::Success,
        Some(TIMED_OUT) => Exit::TimedOut,
        Some(code) => Exit::Failure(code),
        None => Exit::Killed,
    }
}

fn drain(from: &mut impl Read) -> Vec<u8> {
    let mut all = vec![];
    let mut chunk = [0; 4096];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return all,
            Ok(count) => all.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return all,
        }
    }
}
