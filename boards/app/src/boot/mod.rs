//! The start of a device in stages, which the lamp, the log and telemetry show, so that a failed start can be
//! diagnosed.
//!
//! ```text
//! main:   begin(cause) ── show on the lamp ── reached(Settings) ── reached(Interface) ── reached(Tasks)
//! tasks:  the control loop's first turn: reached(Running)
//! panic handler: panicked(…)        hard fault: faulted(…)
//! ```
//!
//! The record is stored in memory that a reset leaves unchanged.

mod crash_record;
#[cfg(all(feature = "fault-handlers", target_arch = "arm", target_os = "none"))]
mod fault_handlers;

#[cfg(all(target_arch = "arm", target_os = "none"))]
use crate::stack_guard;
use crash_record::{Before, End};
use heapless::String;
use outrigger_core::mode::OperatorConfig;
use outrigger_remote::telemetry::{Boot, CodeAddress, CrashReport};
pub use outrigger_remote::telemetry::{ResetCause, StartStage};

/// The duration of one wait while the lamp shows, at the start, the stage that the previous run reached. The watchdog
/// can be fed between two waits.
pub const MOMENT: embassy_time::Duration = embassy_time::Duration::from_millis(100);
/// The time for which the lamp is on in a flash at the start, and off after it, as a number of [`MOMENT`]s.
const FLASH: u32 = 5;
/// The further time for which the lamp stays off after the last flash, as a number of [`MOMENT`]s.
const PAUSE: u32 = 10;

/// The facts about a start of the firmware: the cause of the reset, the crash record of the previous run, and why the
/// newest settings were rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootRecord {
    cause: ResetCause,
    before: Option<Before>,
    /// The reason why the newest settings in flash are not used; `None` if they are used, or there are none.
    refused: Option<String<96>>,
}

/// The clock that the device's processor runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The clock rate of the processor \[Hz\].
    pub hertz: u32,
    /// The source of the processor's clock.
    pub source: ClockSource,
}

/// The source of the processor's clock, with which the ages of received robot states are measured. A chip's internal
/// oscillator has an error of up to one percent, a crystal of some millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The intended clock of the board: a crystal, or another external clock.
    External,
    /// The chip's own oscillator, because the external clock did not start.
    Internal,
}

impl ClockSource {
    /// Returns whether the clock is accurate enough to measure the ages of received robot states. A board must not
    /// command an arm with its internal oscillator; `tests/tables/clock.md` has the reason.
    #[must_use]
    pub const fn may_command(self) -> bool {
        matches!(self, Self::External)
    }

    /// Returns `operator`, the configuration of the operator's inputs, for a device with this clock. With an inaccurate
    /// clock the engine rejects every request to command the arm, with the reason.
    #[must_use]
    pub const fn operator(self, operator: OperatorConfig) -> OperatorConfig {
        OperatorConfig { clock_is_inexact: !self.may_command(), ..operator }
    }
}

/// Begins the crash record of this run of the firmware, and returns that of the run before, with the `cause` of the
/// reset. After power-up there is none. Must be called first and only once.
#[must_use]
pub fn begin(cause: ResetCause) -> BootRecord {
    let before = crash_record::begin(memory::WORDS);
    // After power-up the memory's content is random.
    let before = before.filter(|_| cause != ResetCause::Power);
    BootRecord { cause, before, refused: None }
}

/// Records that this run of the firmware has reached the start stage `stage`.
pub fn reached(stage: StartStage) {
    crash_record::reached(memory::WORDS, stage);
}

/// Records a panic of the firmware at `location` in the source; for the panic handler.
pub fn panicked(location: Option<&core::panic::Location<'_>>) {
    let (file, line) = location.map_or(("?", 0), |location| (location.file(), location.line()));
    crash_record::panicked(memory::WORDS, file, line);
}

/// Records a fault at the instruction `at`, in a function that returns to `from`, with the exception's frame at the
/// address `frame`; for the handler of hard faults.
#[cfg(all(target_arch = "arm", target_os = "none"))]
pub fn faulted(frame: usize, at: u32, from: u32) {
    let end = match (stack_guard::stack_exceeded(), stack_guard::is_frame_whole(frame)) {
        (false, _) => End::Fault(CodeAddress { at, from }),
        (true, whole) => End::StackOverflow(whole.then_some(CodeAddress { at, from })),
    };
    crash_record::faulted(memory::WORDS, &end);
}

/// Resets the board after all writes to the crash record have completed.
#[cfg(all(target_arch = "arm", target_os = "none"))]
pub fn reset() -> ! {
    crash_record::settle(memory::WORDS);
    cortex_m::peripheral::SCB::sys_reset()
}

impl BootRecord {
    /// Shows on the lamp the stage that the previous run reached, if that run did not reach `Running`: a flash of
    /// half a second for each stage. `wait` waits for a [`MOMENT`].
    pub fn show(&self, mut lamp: impl FnMut(bool), mut wait: impl FnMut()) {
        let mut wait = |moments: u32| (0..moments).for_each(|_| wait());
        let flashes = self.flashes();
        for _ in 0..flashes {
            lamp(true);
            wait(FLASH);
            lamp(false);
            wait(FLASH);
        }
        if flashes > 0 {
            wait(PAUSE);
        }
    }

    /// Returns `true` if there is no valid crash record of a previous run of the firmware, or the cause of this start
    /// is power-up.
    #[must_use]
    pub const fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// Stores `why`, the reason why the newest settings in flash are not used, for all later reports of this start.
    #[cfg(any(test, feature = "provision"))]
    pub(crate) fn refuses_settings(&mut self, why: &str) {
        let mut text = String::new();
        // The text of a refusal fits.
        let _ = text.push_str(why);
        self.refused = Some(text);
    }

    fn flashes(&self) -> u32 {
        let stage = self.before.as_ref().map(|before| before.stage);
        stage.filter(|stage| *stage < StartStage::Running).map_or(0, |stage| stage as u32 + 1)
    }

    /// Returns the facts about this start in the form of telemetry; `stage` is the stage that this run has reached.
    #[must_use]
    pub(crate) fn report(&self, stage: StartStage, clock: Clock) -> Boot<'_> {
        let crash = self.before.as_ref().and_then(|before| before.end.as_ref()).map(|end| match end {
            End::Panic { file, line } => CrashReport::Panic { file, line: *line },
            End::Fault(CodeAddress { at, from }) => CrashReport::Fault { at: *at, from: *from },
            End::StackOverflow(place) => CrashReport::StackOverflow(*place),
        });
        Boot {
            cause: self.cause,
            starts: self.before.as_ref().map_or(1, |before| before.starts.saturating_add(1)),
            before: self.before.as_ref().map(|before| before.stage),
            crash,
            stage,
            clock: clock.hertz,
            is_clock_as_meant: clock.source == ClockSource::External,
            refused: self.refused.as_deref(),
        }
    }

    /// Writes the facts about this start of the firmware, with its clock, to the log.
    pub fn log(&self, clock: Clock) {
        let Boot { cause, starts, before, crash, .. } = self.report(StartStage::Clocks, clock);
        info!("reset by {=str}; start {=u32} since power", cause.name(), starts);
        if let Some(before) = before {
            info!("the run before had come to: {=str}", before.name());
        }
        match crash {
            Some(CrashReport::Panic { file, line }) => info!("it panicked at {=str}, line {=u32}", file, line),
            Some(CrashReport::Fault { at, from }) => info!("it faulted at {=u32:#x}, called from {=u32:#x}", at, from),
            Some(CrashReport::StackOverflow(None)) => info!("its stack was used up (stack overflow)"),
            Some(CrashReport::StackOverflow(Some(CodeAddress { at, from }))) => {
                info!("its stack was used up (stack overflow) at {=u32:#x}, called from {=u32:#x}", at, from);
            }
            None => {}
        }
        let by = match clock.source {
            ClockSource::External => "",
            ClockSource::Internal => {
                ", by the chip's own oscillator: the external clock does not start, nothing is commanded"
            }
        };
        info!("processor at {=u32} Hz{=str}", clock.hertz, by);
    }
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod memory {
    #![expect(unsafe_code, reason = "memory that the start-up code leaves as it is has no initial value")]

    use core::cell::UnsafeCell;
    use core::mem::MaybeUninit;

    use super::crash_record;

    /// The words of the crash record, in memory that the start-up code neither clears nor fills.
    #[repr(align(8))]
    pub(super) struct Kept(UnsafeCell<MaybeUninit<[u32; crash_record::WORDS]>>);

    // SAFETY: words are read and written completely, in single volatile accesses, so an interrupt finds them before or
    // after.
    unsafe impl Sync for Kept {}

    #[unsafe(link_section = ".uninit.outrigger_boot")]
    static KEPT: Kept = Kept(UnsafeCell::new(MaybeUninit::uninit()));

    pub(super) const WORDS: &Kept = &KEPT;

    impl Kept {
        fn place(&self, at: usize) -> *mut u32 {
            self.0.get().cast::<u32>().wrapping_add(at.min(crash_record::WORDS - 1))
        }
    }

    impl crash_record::Words for Kept {
        fn read(&self, at: usize) -> u32 {
            // SAFETY: within the array and aligned; volatile, so that the memory's actual content is read.
            unsafe { self.place(at).read_volatile() }
        }

        fn write(&self, at: usize, word: u32) {
            // SAFETY: as in `read`; no reference to it exists.
            unsafe { self.place(at).write_volatile(word) }
        }
    }
}

#[cfg(not(all(target_arch = "arm", target_os = "none")))]
mod memory {
    use super::crash_record;

    /// An empty crash record, for systems whose memory does not outlive the program.
    pub(super) struct Nothing;

    pub(super) const WORDS: &Nothing = &Nothing;

    impl crash_record::Words for Nothing {
        fn read(&self, _: usize) -> u32 {
            0
        }

        fn write(&self, _: usize, _: u32) {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn begun(stage: StartStage) -> BootRecord {
        let before = Some(Before { starts: 4, stage, end: None });
        BootRecord { cause: ResetCause::Watchdog, before, refused: None }
    }

    #[test]
    fn each_stage_that_was_not_left_flashes_another_number_and_one_that_ran_none() {
        let counted = |begun: &BootRecord| {
            let (flashes, dark) = (RefCell::new(0), RefCell::new(0));
            begun.show(|lit| *flashes.borrow_mut() += u32::from(lit), || *dark.borrow_mut() += 1);
            (flashes.into_inner(), dark.into_inner())
        };
        let all = StartStage::ALL.map(|stage| counted(&begun(stage)).0);
        assert_eq!(all, [1, 2, 3, 4, 0]);
        assert_eq!(counted(&begun(StartStage::Settings)).1, 2 * 2 * FLASH + PAUSE);
        assert_eq!(counted(&BootRecord { cause: ResetCause::Power, before: None, refused: None }), (0, 0));
    }

    #[test]
    fn by_an_oscillator_of_the_chip_every_request_is_refused_and_everybody_can_stop() {
        let operator = OperatorConfig {
            request_input: Some(0),
            acknowledge_input: Some(1),
            stop_input: Some(2),
            request_pin: true,
            acknowledge_pin: true,
            stop_pin: true,
            ..OperatorConfig::default()
        };
        assert_eq!(ClockSource::External.operator(operator), operator);
        let refusing = ClockSource::Internal.operator(operator);
        assert_eq!(refusing, OperatorConfig { clock_is_inexact: true, ..operator });
        assert_eq!(refusing.check(), Ok(()));
    }

    #[test]
    fn what_is_told_is_what_was_kept() {
        let clock = Clock { hertz: 64_000_000, source: ClockSource::Internal };
        let begun = begun(StartStage::Interface);
        let told = begun.report(StartStage::Running, clock);
        assert_eq!((told.starts, told.before, told.stage), (5, Some(StartStage::Interface), StartStage::Running));
        assert_eq!((told.clock, told.is_clock_as_meant, told.crash), (64_000_000, false, None));
        let mut begun = BootRecord { cause: ResetCause::Power, before: None, refused: None };
        let first = begun.report(StartStage::Running, clock);
        assert_eq!((first.starts, first.before, first.refused), (1, None, None));
        begun.refuses_settings("source[1].input");
        assert_eq!(begun.report(StartStage::Running, clock).refused, Some("source[1].input"));
    }
}
