//! The way in which code is read from the serial flash.
//!
//! The boot ROM leaves quad reads with the command `EBh` before each, its mode bits 0, at the divisor that it found (`rom_data` of the HAL,
//! `flash_select_xip_read_mode`). Here the flash is told once to take what follows without a command (mode bits `Ah`), at half
//! of the processor's clock: 75 MHz. Commands, widths, wait cycles, divisor and the delay of the sample are those of the maker's SDK
//! for this family of chips: `src/rp2350/boot_stage2/boot2_w25q080.S` of raspberrypi/pico-sdk, made for Winbond's W25Q080 and W25Q16JV.
//! Registers are the HAL's (`rp-pac`, `QMI`: `M0_TIMING`, `M0_RCMD`, `M0_RFMT`).
//!
//! The boot ROM takes the flash out of this after each reset, and before settings are written (`flash_exit_xip` of the same `rom_data`), after
//! which it is read as the boot ROM had it until the reset that follows.

use embassy_rp::pac;
use embassy_rp::pac::qmi::regs::{Rcmd, Rfmt, Timing};
use embassy_rp::pac::qmi::vals::{
    AddrWidth, DataWidth, DummyLen, DummyWidth, PrefixLen, PrefixWidth, SuffixLen, SuffixWidth,
};

/// Reads with four wires for address and data.
const READ_QUAD: u8 = 0xeb;
/// Mode bits behind the address: the next read has no command. The lower four are of no account.
const STAY: u8 = 0xa0;
/// The divisor that makes the clock of the flash from the processor's.
const DIVISOR: u8 = 2;
/// The delay of the sample, in halves of the processor's clock.
const DELAY: u8 = 2;
/// The time for which a burst may be continued, in units of 64 clocks.
const COOLDOWN: u8 = 1;
/// An address of the flash that is read past the cache and leaves it alone (`XIP_NOCACHE_NOALLOC_BASE`).
const UNCACHED: *const u8 = 0x1400_0000 as *const u8;

/// The values for the flash's interface: `first` is the format of the first read, `then` that of all others.
struct Registers {
    timing: u32,
    command: u32,
    first: u32,
    then: u32,
}

impl Registers {
    fn new() -> Self {
        let mut timing = Timing(0);
        timing.set_cooldown(COOLDOWN);
        timing.set_rxdelay(DELAY);
        timing.set_clkdiv(DIVISOR);
        let mut command = Rcmd(0);
        command.set_prefix(READ_QUAD);
        command.set_suffix(STAY);
        let mut format = Rfmt(0);
        format.set_prefix_width(PrefixWidth::S);
        format.set_addr_width(AddrWidth::Q);
        format.set_suffix_width(SuffixWidth::Q);
        format.set_dummy_width(DummyWidth::Q);
        format.set_data_width(DataWidth::Q);
        format.set_prefix_len(PrefixLen::_8);
        format.set_suffix_len(SuffixLen::_8);
        format.set_dummy_len(DummyLen::_16);
        let first = format.0;
        format.set_prefix_len(PrefixLen::NONE);
        Self { timing: timing.0, command: command.0, first, then: format.0 }
    }
}

/// Reads without commands from here on, if the boot ROM found four wires to work. To be called once, with no DMA and on one core.
pub(crate) fn read_without_commands() -> bool {
    let memory = pac::QMI.mem(0);
    if memory.rcmd().read().prefix() != READ_QUAD || memory.rfmt().read().data_width() != DataWidth::Q {
        return false;
    }
    let registers = Registers::new();
    let places = [memory.timing().as_ptr().cast(), memory.rcmd().as_ptr().cast(), memory.rfmt().as_ptr().cast()];
    cortex_m::interrupt::free(|_| switch(places, &registers));
    true
}

/// Runs from RAM and calls nothing: until it ends no code can be read from flash.
#[inline(never)]
#[unsafe(link_section = ".data.xip_switch")]
fn switch([timing, command, format]: [*mut u32; 3], registers: &Registers) {
    // SAFETY: three registers of the flash's interface, which nothing uses meanwhile: no interrupt, no DMA, no other core, and this code
    // and its data lie in RAM. The address is flash, which can be read in either format.
    unsafe {
        timing.write_volatile(registers.timing);
        command.write_volatile(registers.command);
        format.write_volatile(registers.first);
        let _ = UNCACHED.read_volatile();
        format.write_volatile(registers.then);
    }
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}

/// Returns the accesses to the flash since the last call, and those that its cache served. The counters of the chip stop at their end, which 28 s reach at
/// the most, and a write takes them back to 0 (`rp-pac`, `XIP_CTRL`: `CTR_ACC`, `CTR_HIT`).
pub(crate) fn count() -> (u32, u32) {
    let [hits, accesses] = [pac::XIP_CTRL.ctr_hit(), pac::XIP_CTRL.ctr_acc()].map(|counter| {
        let count = counter.read();
        counter.write_value(0);
        count
    });
    (accesses, hits)
}
