//! The mode in which code is read from the serial flash.
//!
//! The boot ROM uses quad reads with the command `EBh` before each and mode bits 0, at the divisor that it found
//! (`rom_data` of the HAL, `flash_select_xip_read_mode`). Here the flash is switched once to reads without a command
//! (mode bits `Ah`), at half of the processor's clock: 75 MHz. Commands, widths, wait cycles, divisor and the delay of
//! the sample are those of the vendor's SDK for this family of chips: `src/rp2350/boot_stage2/boot2_w25q080.S` of
//! raspberrypi/pico-sdk, made for Winbond's W25Q080 and W25Q16JV. Registers are the HAL's (`rp-pac`, `QMI`:
//! `M0_TIMING`, `M0_RCMD`, `M0_RFMT`).
//!
//! The boot ROM ends this mode after each reset, and before settings are written (`flash_exit_xip` of the same
//! `rom_data`). Afterwards the flash is read in the boot ROM's mode until the following reset.

use embassy_rp::pac;
use embassy_rp::pac::qmi::regs::{Rcmd, Rfmt, Timing};
use embassy_rp::pac::qmi::vals::{
    AddrWidth, DataWidth, DummyLen, DummyWidth, PrefixLen, PrefixWidth, SuffixLen, SuffixWidth,
};

/// The flash command to read with four wires for address and data.
const READ_QUAD: u8 = 0xeb;
/// The mode bits behind the address that make the next read have no command. The lower four are ignored.
const STAY: u8 = 0xa0;
/// The divisor from the processor's clock to the clock of the flash.
const DIVISOR: u8 = 2;
/// The delay with which data of the flash is sampled, in half cycles of the processor's clock.
const DELAY: u8 = 2;
/// The time for which a burst of reads may be continued, in units of 64 clocks.
const COOLDOWN: u8 = 1;
/// An address of the flash that is read without using or changing the cache (`XIP_NOCACHE_NOALLOC_BASE`).
const UNCACHED: *const u8 = 0x1400_0000 as *const u8;

/// The values of the registers of the flash's interface: `first` is the format of the first read, `then` that of all
/// others.
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

/// Switches to reads without commands, if the boot ROM uses four wires; returns whether it did. Call it once, with no
/// DMA and on one core.
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

/// Writes the registers of the flash's interface. The function runs from RAM and calls no function, because until
/// its end no code can be read from flash.
#[inline(never)]
#[unsafe(link_section = ".data.xip_switch")]
fn switch([timing, command, format]: [*mut u32; 3], registers: &Registers) {
    // SAFETY: three registers of the flash's interface, which nothing uses meanwhile: no interrupt, no DMA, no other
    // core, and this code and its data are in RAM. The address is flash, which can be read in either format.
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

/// Returns the number of accesses to the flash since the last call, and the number of those that its cache served. The
/// chip's counters saturate, after 28 s at the earliest, and a write resets them to 0 (`rp-pac`, `XIP_CTRL`: `CTR_ACC`,
/// `CTR_HIT`).
pub(crate) fn count() -> (u32, u32) {
    let [hits, accesses] = [pac::XIP_CTRL.ctr_hit(), pac::XIP_CTRL.ctr_acc()].map(|counter| {
        let count = counter.read();
        counter.write_value(0);
        count
    });
    (accesses, hits)
}
