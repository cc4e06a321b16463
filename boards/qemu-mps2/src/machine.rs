//! Where each machine has its devices, which interrupts are theirs, and how fast its clock runs.
//!
//! They are the same devices on all of them. Sources: QEMU's `hw/arm/mps2.c`, `hw/arm/mps2-tz.c` and `hw/arm/armsse.c`, 7.2.

/// One machine.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// What telemetry calls this board.
    pub(crate) board: &'static str,
    /// Ticks per microsecond of the clock that timers, watchdog and serial ports count.
    pub(crate) megahertz: u32,
    /// The dual timer.
    pub(crate) timer: usize,
    pub(crate) timer_interrupt: u16,
    /// The first serial port; its interrupt is that of received bytes.
    pub(crate) uart: usize,
    pub(crate) uart_interrupt: u16,
    /// The second one, at the bench.
    pub(crate) bench: usize,
    pub(crate) bench_interrupt: u16,
    /// The third one, which stands for a contact.
    pub(crate) contact: usize,
    /// Memory that nothing is loaded to, and that a reset therefore leaves as it is.
    pub(crate) kept: usize,
    /// The network controller.
    pub(crate) mac: usize,
    pub(crate) mac_interrupt: u16,
    /// The watchdog, whose interrupt is the NMI.
    pub(crate) watchdog: usize,
    /// The input/output block of the FPGA.
    pub(crate) fpga: usize,
    /// External interrupts in its vector table.
    pub(crate) interrupts: usize,
}

/// Cortex-M4F.
const AN386: Machine = Machine {
    board: "qemu-mps2 an386",
    megahertz: 25,
    timer: 0x4000_2000,
    timer_interrupt: 10,
    uart: 0x4000_4000,
    uart_interrupt: 0,
    bench: 0x4000_5000,
    bench_interrupt: 2,
    contact: 0x4000_6000,
    kept: 0x2100_0000,
    mac: 0x4020_0000,
    mac_interrupt: 13,
    watchdog: 0x4000_8000,
    fpga: 0x4002_8000,
    interrupts: 32,
};

/// Cortex-M7: its network controller stands elsewhere.
const AN500: Machine = Machine { board: "qemu-mps2 an500", mac: 0xa000_0000, kept: 0x6000_0000, ..AN386 };

/// Cortex-M33 with TrustZone. Everything here is secure code, and the devices are taken by their secure addresses: as the
/// machine starts, nothing is given to the other world, and nothing has to be set up.
const AN505: Machine = Machine {
    board: "qemu-mps2 an505",
    megahertz: 20,
    timer: 0x5000_2000,
    timer_interrupt: 5,
    uart: 0x5020_0000,
    uart_interrupt: 32,
    bench: 0x5020_1000,
    bench_interrupt: 34,
    contact: 0x5020_2000,
    kept: 0x8000_0000,
    mac: 0x5200_0000,
    mac_interrupt: 48,
    watchdog: 0x5008_1000,
    fpga: 0x5030_2000,
    interrupts: 124,
};

/// The one that this program is for.
pub(crate) const THIS: Machine = match (cfg!(feature = "an500"), cfg!(feature = "an505")) {
    (false, false) => AN386,
    (true, false) => AN500,
    (false, true) => AN505,
    (true, true) => panic!("one machine: an500 or an505"),
};
