//! A running board: QEMU with its network, its serial lines and its log, in real time.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

use outrigger_sim::time::SimTime;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::set_current_timer_slack;

use super::{Command, Exit, Firmware, Folder, Line, Log, Network, Process, Serial, SerialMode};
use crate::clock::Clock;
use crate::machine_standstills::{self, Window};
use crate::priority::Priority;

/// The longest sleep of [`Board::wait`]; after it, the caller checks all inputs again.
const GLANCE: Duration = Duration::from_millis(20);
/// The time after which frames are offered to QEMU again if it had no room for them.
const RETRY: Duration = Duration::from_micros(300);

/// A running board in QEMU. The board's clock starts with it.
#[derive(Debug)]
pub struct Board<'f> {
    clock: Clock,
    network: Network,
    serial: Serial,
    contact: Serial,
    log: Log<'f>,
    process: Process,
    priority: Priority,
    /// The folder of the sockets; it is dropped last.
    folder: Folder,
}

impl<'f> Board<'f> {
    /// Switches the board on. The firmware receives `options`; the board is ended after `limit` in any case.
    ///
    /// # Errors
    /// Returns the system's error if the board or its network cannot be started.
    pub fn start(firmware: &'f Firmware, options: Vec<String>, limit: Duration) -> io::Result<Self> {
        machine_standstills::watch();
        let folder = Folder::new()?;
        let (network, serial) = (Network::open(&folder)?, Serial::open(&folder, "uart0")?);
        let contact = Serial::open(&folder, "uart2")?;
        let command = Command {
            network: network.mode(),
            serial: serial.mode(),
            bench: SerialMode::Device(format!("{},server=on,wait=off", bench_line(&folder))),
            contact: contact.mode(),
            options,
            limit: Some(limit),
            ..Command::new(firmware.machine(), firmware.elf())
        };
        // Wakes up when asked to, not up to 50 µs later. If granted, this program and QEMU have priority over others.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let priority = Priority::ask();
        let process = Process::start(&command)?;
        let log = Log::new(firmware.table());
        Ok(Self { clock: Clock::start(), network, serial, contact, log, process, priority, folder })
    }

    /// Returns the time since the board was switched on.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.clock.now()
    }

    /// Returns the window between the times `from` and `until`, for queries about standstills of this machine in it.
    #[must_use]
    pub fn window(&self, from: SimTime, until: SimTime) -> Window {
        self.clock.window(from, until)
    }

    /// Returns `true` if the board and this program have priority over other programs on this machine.
    #[must_use]
    pub fn goes_first(&self) -> bool {
        self.priority.is_granted()
    }

    /// Returns the way in which the board ended; `None` while it runs.
    pub fn exit(&mut self) -> Option<Exit> {
        self.process.exit()
    }

    /// Pauses the board while everything else runs on (`still` is `true`), or continues it.
    ///
    /// # Errors
    /// Returns the system's error if the signal cannot be sent.
    pub fn hold(&self, still: bool) -> io::Result<()> {
        self.process.hold(still)
    }

    /// Ends the board. Returns the way in which it ended.
    pub fn end(&mut self) -> Exit {
        self.process.end()
    }

    /// Returns the standard error of QEMU, which includes the message of a firmware that failed.
    #[must_use]
    pub fn complaints(&self) -> &str {
        self.process.complaints()
    }

    /// Returns the address of the board's serial line for settings, in the notation of `outrigger board`.
    #[must_use]
    pub fn bench_line(&self) -> String {
        bench_line(&self.folder)
    }

    /// Returns the next frame that the board has sent; `None` if there is none.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        self.network.receive()
    }

    /// Passes a frame to the board.
    pub fn send(&mut self, frame: Vec<u8>) {
        self.network.send(frame);
    }

    /// Passes bytes to the board's serial port.
    pub fn send_serial(&mut self, bytes: &[u8]) {
        self.serial.send(bytes);
    }

    /// Closes or opens the board's contact by which an operator requests the release of the arm's brakes.
    pub fn set_contact(&mut self, closed: bool) {
        self.contact.send(if closed { b"1" } else { b"0" });
    }

    /// Calls `each` with every line that the board has logged since the previous call.
    pub fn log(&mut self, each: impl FnMut(Line)) {
        let now = self.clock.now();
        let output = self.process.output();
        self.log.receive(now, &output, each);
    }

    /// Sleeps until the board does something, but not beyond `next`.
    pub fn wait(&mut self, next: SimTime) {
        let retry = if self.network.flush() { self.clock.now() + RETRY } else { SimTime::MAX };
        let now = self.clock.now();
        let left = next.min(retry).min(now + GLANCE).since(now);
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut fds = [PollFd::new(&self.network, PollFlags::IN), PollFd::new(&self.process, PollFlags::IN)];
        // Whether or not the wait was interrupted, the next turn checks everything.
        let _ = poll(&mut fds, Some(&timeout));
    }
}

fn bench_line(folder: &Folder) -> String {
    format!("unix:{}", folder.file("uart1").display())
}
