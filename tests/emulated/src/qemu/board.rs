//! A board that runs: QEMU with its network, its serial line and its log, in real time.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

use outrigger_sim::time::SimTime;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::set_current_timer_slack;

use super::{Command, Exit, Firmware, Folder, Line, Log, Network, Process, Serial, SerialMode};
use crate::clock::Clock;
use crate::priority::Priority;
use crate::standstill::{self, Window};

/// How long it is waited at most before everything is looked at again.
const GLANCE: Duration = Duration::from_millis(20);
/// How soon QEMU is given frames again that it had no room for.
const RETRY: Duration = Duration::from_micros(300);

/// A board that runs. Its clock starts with it.
#[derive(Debug)]
pub struct Board<'f> {
    clock: Clock,
    network: Network,
    serial: Serial,
    contact: Serial,
    log: Log<'f>,
    process: Process,
    priority: Priority,
    /// Removed last.
    folder: Folder,
}

impl<'f> Board<'f> {
    /// Switches it on; the firmware is told `options`, and the board is ended after `limit`, whatever happens.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn start(firmware: &'f Firmware, options: Vec<String>, limit: Duration) -> io::Result<Self> {
        standstill::watch();
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
        // Wake up when asked to, not up to 50 µs later; and before others, QEMU as well, where that is granted.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let priority = Priority::ask();
        let process = Process::start(&command)?;
        let log = Log::new(firmware.table());
        Ok(Self { clock: Clock::start(), network, serial, contact, log, process, priority, folder })
    }

    /// The present: the time since it was switched on.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.clock.now()
    }

    /// Between these times, for what the machine did then.
    #[must_use]
    pub fn window(&self, from: SimTime, until: SimTime) -> Window {
        self.clock.window(from, until)
    }

    /// Whether board and program go before other programs on this machine.
    #[must_use]
    pub fn goes_first(&self) -> bool {
        self.priority.is_granted()
    }

    /// How it ended, if it has.
    pub fn exit(&mut self) -> Option<Exit> {
        self.process.exit()
    }

    /// Keeps it from running while the rest of the world goes on; and lets it go on.
    ///
    /// # Errors
    /// What the system says.
    pub fn hold(&self, still: bool) -> io::Result<()> {
        self.process.hold(still)
    }

    /// Ends it.
    pub fn end(&mut self) -> Exit {
        self.process.end()
    }

    /// What QEMU, or a firmware that failed, had to say.
    #[must_use]
    pub fn complaints(&self) -> &str {
        self.process.complaints()
    }

    /// The line that it is told settings over, as `outrigger board` names it.
    #[must_use]
    pub fn bench_line(&self) -> String {
        bench_line(&self.folder)
    }

    /// The next frame that it has sent.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        self.network.receive()
    }

    /// A frame arrives at it.
    pub fn send(&mut self, frame: Vec<u8>) {
        self.network.send(frame);
    }

    /// Bytes arrive at its serial port.
    pub fn send_serial(&mut self, bytes: &[u8]) {
        self.serial.send(bytes);
    }

    /// The contact for the arm's brakes closes, or opens.
    pub fn set_contact(&mut self, closed: bool) {
        self.contact.send(if closed { b"1" } else { b"0" });
    }

    /// What it has logged since the last call.
    pub fn log(&mut self, each: impl FnMut(Line)) {
        let now = self.clock.now();
        let output = self.process.output();
        self.log.receive(now, &output, each);
    }

    /// Sleeps until it does something, but not beyond `next`.
    pub fn wait(&mut self, next: SimTime) {
        let retry = if self.network.flush() { self.clock.now() + RETRY } else { SimTime::MAX };
        let now = self.clock.now();
        let left = next.min(retry).min(now + GLANCE).since(now);
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut fds = [PollFd::new(&self.network, PollFlags::IN), PollFd::new(&self.process, PollFlags::IN)];
        // Interrupted or not, the next turn looks at everything.
        let _ = poll(&mut fds, Some(&timeout));
    }
}

fn bench_line(folder: &Folder) -> String {
    format!("unix:{}", folder.file("uart1").display())
}
