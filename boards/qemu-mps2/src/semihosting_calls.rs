//! The semihosting calls to QEMU's host: options, a seed, and the end of the run.
//!
//! Standard output belongs to the log's frames; plain text goes to standard error.

use core::mem::MaybeUninit;

use embassy_time::Duration;
use outrigger_app::boot::{self, BootRecord};
use semihosting::io::Write as _;
use semihosting::sys::arm_compat::{sys_elapsed, sys_get_cmdline_uninit, sys_time};

/// The options of a run, given in QEMU's `-semihosting-config …,arg=KEY=VALUE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The option `seconds=N`: shuts the device down after this time, and ends QEMU with success once the arm is at
    /// rest.
    pub(crate) run_for: Option<Duration>,
    /// The option `wrap=N`: the device's clock starts N seconds before the first wrap of its 32-bit counter.
    pub(crate) until_wrap: Option<Duration>,
    /// The option `fault=KIND`: `panic`, `memory` or `stack` fails right after boot, to test that failures end QEMU.
    /// `panic-once` and `stack-once` fail only in the first run, and restart as a real board does. `hang` hangs one and
    /// a half seconds after the first start, to test the watchdog.
    pub(crate) fault: Option<Fault>,
    /// The option `order=1`: logs how many polls of other tasks begin while the control loop or the network is ready,
    /// and the longest poll of another task.
    pub(crate) order: bool,
    /// The option `cut=N` or `cut=each`: the power fails in the middle of an operation of the simulated flash, see
    /// [`Cut`].
    pub(crate) cut: Option<Cut>,
}

/// The time of a simulated power failure. An operation of the flash writes a unit or erases a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A single power failure, in this flash operation since QEMU was started, counted from 1.
    At(u32),
    /// A power failure in every run that uses the flash: in the first operation of the first such run, in the second of
    /// the next one, and so on. After a run without a power failure the count begins again.
    Each,
}

/// A failure that the firmware is to cause in itself, as the host requests for a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Panic,
    PanicOnce,
    Memory,
    Hang,
    Stack,
    StackOnce,
}

impl Options {
    /// Returns the options that QEMU's command line gives for this run.
    pub(crate) fn read() -> Self {
        let mut buffer = [MaybeUninit::uninit(); 256];
        let text = sys_get_cmdline_uninit(&mut buffer).ok().and_then(|bytes| core::str::from_utf8(bytes).ok());
        let mut options = Self::default();
        for word in text.unwrap_or_default().split_ascii_whitespace() {
            let Some((key, value)) = word.split_once('=') else { continue };
            let seconds = value.parse().ok().map(Duration::from_secs);
            match (key, value) {
                ("seconds", _) => options.run_for = seconds,
                ("wrap", _) => options.until_wrap = seconds,
                ("order", "1") => options.order = true,
                ("cut", "each") => options.cut = Some(Cut::Each),
                ("cut", count) => options.cut = count.parse().ok().map(Cut::At),
                ("fault", "panic") => options.fault = Some(Fault::Panic),
                ("fault", "panic-once") => options.fault = Some(Fault::PanicOnce),
                ("fault", "memory") => options.fault = Some(Fault::Memory),
                ("fault", "hang") => options.fault = Some(Fault::Hang),
                ("fault", "stack") => options.fault = Some(Fault::Stack),
                ("fault", "stack-once") => options.fault = Some(Fault::StackOnce),
                _ => {}
            }
        }
        options
    }
}

/// Causes the failure that the host requests, unless it is one that occurs later.
pub(crate) fn cause(fault: Option<Fault>, begun: &BootRecord) {
    match fault {
        None | Some(Fault::Hang) => {}
        Some(Fault::PanicOnce | Fault::StackOnce) if !begun.is_first() => {}
        Some(Fault::PanicOnce) => panic!("as asked for"),
        Some(Fault::Panic) => panic!("as asked for"),
        Some(Fault::Memory) => {
            // SAFETY: no address of this machine; the bus fault is intended, and ends the run.
            unsafe { (0xffff_fff0 as *const u32).read_volatile() };
        }
        Some(Fault::Stack | Fault::StackOnce) => {
            descend(0);
        }
    }
}

/// Recurses without end to overflow the stack, with a frame of half a kilobyte per call.
#[inline(never)]
fn descend(depth: u32) -> u32 {
    let frame = core::hint::black_box([depth; 128]);
    if core::hint::black_box(true) { descend(depth + 1).wrapping_add(frame[depth as usize % 128]) } else { depth }
}

/// Returns a number that differs from boot to boot: from the host's time of day, and the running time of QEMU \[ns\].
/// With equal seeds, every boot would use the TCP ports and sequence numbers of the previous one, which the robot still
/// remembers.
pub(crate) fn seed() -> u64 {
    let day = sys_time().unwrap_or_default() as u64;
    let nanoseconds = sys_elapsed().unwrap_or_default();
    // Similar numbers must differ in every bit (the finaliser of SplitMix64).
    let mixed = (day << 32 ^ nanoseconds).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns random bytes of the host's generator (`/dev/urandom`).
#[cfg(requests)]
pub(crate) fn random() -> [u8; 32] {
    use semihosting::io::Read as _;
    let mut bytes = [0; 32];
    let read = semihosting::fs::File::open(c"/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if read.is_err() {
        fail(format_args!("no random numbers of the host"));
    }
    bytes
}

/// Ends QEMU with the exit status of success.
pub(crate) fn succeed() -> ! {
    semihosting::process::exit(0)
}

/// Ends QEMU with the exit status of failure, after a line on its standard error.
fn fail(message: core::fmt::Arguments<'_>) -> ! {
    if let Ok(mut stderr) = semihosting::io::stderr() {
        let _ = writeln!(stderr, "{message}");
    }
    semihosting::process::exit(1)
}

#[panic_handler]
fn panic(information: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    boot::panicked(information.location());
    if Options::read().fault == Some(Fault::PanicOnce) {
        boot::reset()
    }
    fail(format_args!("{information}"))
}

#[cortex_m_rt::exception]
unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
    boot::faulted((&raw const *frame).addr(), frame.pc(), frame.lr());
    if Options::read().fault == Some(Fault::StackOnce) {
        boot::reset()
    }
    // Without room for it, the frame is not valid.
    if outrigger_app::stack_exceeded() {
        fail(format_args!("stack overflow"))
    }
    fail(format_args!("hard fault at {:#010x}, called from {:#010x}", frame.pc(), frame.lr()))
}

#[cortex_m_rt::exception]
unsafe fn DefaultHandler(number: i16) {
    fail(format_args!("interrupt {number} has no handler"))
}
