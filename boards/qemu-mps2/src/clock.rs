//! Time: the CMSDK dual timer as a 64-bit clock with an alarm, behind `embassy-time`.
//!
//! Timer 1 counts down at 25 MHz without end and wraps every 171.8 s (an505: 20 MHz, 214.7 s); its interrupt counts the
//! wraps. Timer 2 runs once per alarm. Both use one interrupt.

use core::cell::{Cell, RefCell};
use core::task::Waker;

use critical_section::{CriticalSection, Mutex};
use embassy_time_driver::Driver;
use embassy_time_queue_utils::Queue;
use outrigger_app::boot::{Clock as Rate, ClockSource};

use crate::interrupts::{self, Interrupt};
use crate::machine;
use crate::mmio::Registers;

const TICKS_PER_MICROSECOND: u32 = machine::THIS.megahertz;
/// The processor's nominal clock, as the machine states it; QEMU runs as fast as it can.
pub(crate) const RATE: Rate = Rate { hertz: TICKS_PER_MICROSECOND * 1_000_000, source: ClockSource::External };
/// The number of whole microseconds in which timer 1 counts through its 32 bits.
const ROUND: u64 = (1 << 32) / TICKS_PER_MICROSECOND as u64;
/// The number of ticks that remain of one round of timer 1 after its whole microseconds.
const LEFT_OVER: u32 = ((1_u64 << 32) % TICKS_PER_MICROSECOND as u64) as u32;
/// The longest time until an alarm \[µs\]; afterwards the queue of alarms is polled again. It fits the timer:
/// 2.5·10⁹ ticks at most.
const LONGEST_ALARM: u64 = 100_000_000;

// Timer 1; timer 2 has the same registers at an offset of 0x20.
const CLOCK_LOAD: usize = 0x00;
const CLOCK_VALUE: usize = 0x04;
const CLOCK_CONTROL: usize = 0x08;
const CLOCK_CLEAR: usize = 0x0c;
const CLOCK_RAISED: usize = 0x10;
/// The offset of timer 1's register with the value that is loaded at the next wrap; writing it does not disturb the
/// count.
const CLOCK_RELOAD: usize = 0x18;
const ALARM_LOAD: usize = 0x20;
const ALARM_CONTROL: usize = 0x28;
const ALARM_CLEAR: usize = 0x2c;
const ALARM_RAISED: usize = 0x30;

const ONE_SHOT: u32 = 1 << 0;
const WIDE: u32 = 1 << 1;
const INTERRUPT: u32 = 1 << 5;
const PERIODIC: u32 = 1 << 6;
const ENABLE: u32 = 1 << 7;

// SAFETY: the dual timer of the MPS2 machines; it counts and interrupts, and reaches no memory.
const TIMER: Registers<0x1000> = unsafe { Registers::new(machine::THIS.timer) };

struct Clock {
    /// The number of wraps of timer 1: the upper word of the time.
    wraps: Mutex<Cell<u32>>,
    queue: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static CLOCK: Clock = Clock {
    wraps: Mutex::new(Cell::new(0)),
    queue: Mutex::new(RefCell::new(Queue::new())),
});

/// Starts the clock `until_wrap` before the first wrap of timer 1, or as long before it as possible if `None`. With a
/// short time, the clock begins at the time of a whole round minus that time, so that a wrap can be tested without
/// waiting for it.
pub(crate) fn start(until_wrap: Option<embassy_time::Duration>) {
    let ticks = until_wrap.and_then(|time| u32::try_from(time.as_micros()).ok()?.checked_mul(TICKS_PER_MICROSECOND));
    TIMER.write::<CLOCK_CONTROL>(PERIODIC | WIDE | INTERRUPT);
    TIMER.write::<CLOCK_LOAD>(ticks.unwrap_or(u32::MAX));
    TIMER.write::<CLOCK_RELOAD>(u32::MAX);
    TIMER.write::<CLOCK_CONTROL>(PERIODIC | WIDE | INTERRUPT | ENABLE);
    TIMER.write::<ALARM_CONTROL>(0);
    interrupts::enable(Interrupt::DualTimer);
}

/// Returns (`wraps`·2³² + `ticks`) / [`TICKS_PER_MICROSECOND`] without a 64-bit division, because it is called several
/// times per control cycle.
const fn microseconds(wraps: u32, ticks: u32) -> u64 {
    // Wraps stay below 2²⁷ for 700 years, so that 21 of each (of 25 MHz; 16 of 20 MHz) do not overflow.
    let rest = wraps * LEFT_OVER;
    let carried = rest % TICKS_PER_MICROSECOND + ticks % TICKS_PER_MICROSECOND;
    let small = rest / TICKS_PER_MICROSECOND + carried / TICKS_PER_MICROSECOND;
    wraps as u64 * ROUND + small as u64 + (ticks / TICKS_PER_MICROSECOND) as u64
}

// Checks the function above at both ends of the ranges of wraps and ticks, and in between.
const _: () = {
    const MOST: u32 = 1 << 27;
    assert!(LEFT_OVER as u64 * MOST as u64 <= u32::MAX as u64);
    let (mut turn, mut ticks) = (0, u32::MAX);
    while turn < 100 {
        let (mut which, wraps, ticks_of_turn) = (0, [turn, MOST - turn], [ticks, turn, u32::MAX - turn]);
        while which < 6 {
            let (wraps, ticks) = (wraps[which / 3], ticks_of_turn[which % 3]);
            let exact = (((wraps as u64) << 32) + ticks as u64) / TICKS_PER_MICROSECOND as u64;
            assert!(microseconds(wraps, ticks) == exact);
            which += 1;
        }
        turn += 1;
        ticks = ticks.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
};

impl Clock {
    #[inline(never)]
    fn now_in(&self, section: CriticalSection<'_>) -> u64 {
        let wraps = self.wraps.borrow(section).get();
        let value = TIMER.read::<CLOCK_VALUE>();
        if TIMER.read::<CLOCK_RAISED>() == 0 {
            return microseconds(wraps, !value);
        }
        // The timer has wrapped, and the interrupt waits until this section ends. The count may remain zero for a tick.
        loop {
            let value = TIMER.read::<CLOCK_VALUE>();
            if value != 0 {
                return microseconds(wraps.wrapping_add(1), !value);
            }
        }
    }

    /// Wakes the tasks that are due and arms the alarm for the next one.
    fn serve(&self, section: CriticalSection<'_>) {
        let mut queue = self.queue.borrow(section).borrow_mut();
        loop {
            let now = self.now_in(section);
            let next = queue.next_expiration(now);
            TIMER.write::<ALARM_CONTROL>(0);
            TIMER.write::<ALARM_CLEAR>(0);
            if next == u64::MAX {
                return;
            }
            // The next iteration finds tasks that became due meanwhile; an alarm with a count of zero would never
            // occur.
            let Some(wait) = next.checked_sub(self.now_in(section)).filter(|wait| *wait > 0) else { continue };
            TIMER.write::<ALARM_LOAD>(wait.min(LONGEST_ALARM) as u32 * TICKS_PER_MICROSECOND);
            TIMER.write::<ALARM_CONTROL>(ONE_SHOT | WIDE | INTERRUPT | ENABLE);
            return;
        }
    }
}

impl Driver for Clock {
    fn now(&self) -> u64 {
        critical_section::with(|section| self.now_in(section))
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|section| {
            let changed = self.queue.borrow(section).borrow_mut().schedule_wake(at, waker);
            if changed {
                self.serve(section);
            }
        });
    }
}

/// The interrupt handler of both timers of the clock.
#[unsafe(no_mangle)]
extern "C" fn DUAL_TIMER() {
    critical_section::with(|section| {
        if TIMER.read::<CLOCK_RAISED>() != 0 {
            // At zero the count has not wrapped yet, and would be taken for the end of the next round.
            while TIMER.read::<CLOCK_VALUE>() == 0 {}
            TIMER.write::<CLOCK_CLEAR>(0);
            let wraps = CLOCK.wraps.borrow(section);
            wraps.set(wraps.get().wrapping_add(1));
        }
        if TIMER.read::<ALARM_RAISED>() != 0 {
            CLOCK.serve(section);
        }
    });
}
