//! The addresses, interrupts and clock rates of the devices on each machine.
//!
//! All machines have the same devices. Sources: QEMU's `hw/arm/mps2.c`, `hw/arm/mps2-tz.c` and `hw/arm/armsse.c`, 7.2.

/// The addresses, interrupts and clock rate of one emulated MPS2 machine.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// The name of this board in telemetry.
    pub(crate) board: &'static str,
    /// The rate of the clock of timers, watchdog and serial ports \[MHz\].
    pub(crate) megahertz: u32,
    /// The base address of the dual timer's registers.
    pub(crate) timer: usize,
    pub(crate) timer_interrupt: u16,
    /// The base address of the first serial port. Its interrupt, the next field, is that of received bytes.
    pub(crate) uart: usize,
    pub(crate) uart_interrupt: u16,
    /// The base address of the second serial port, over which settings are written at the bench.
    pub(crate) bench: usize,
    pub(crate) bench_interrupt: u16,
    /// The base address of the third serial port, which represents an operator's contact.
    pub(crate) contact: usize,
    /// The base address of the memory for the simulated flash. Nothing is loaded to it, so that a reset leaves it
    /// unchanged.
    pub(crate) kept: usize,
    /// The base address of the Ethernet controller.
    pub(crate) mac: usize,
    pub(crate) mac_interrupt: u16,
    /// The base address of the watchdog, whose interrupt is the NMI.
    pub(crate) watchdog: usize,
    /// The base address of the input/output block of the FPGA.
    pub(crate) fpga: usize,
    /// The number of external interrupts in the emulated machine's vector table.
    pub(crate) interrupts: usize,
}

/// The MPS2 machine with a Cortex-M4F.
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

/// The MPS2 machine with a Cortex-M7; its Ethernet controller has another address.
const AN500: Machine = Machine { board: "qemu-mps2 an500", mac: 0xa000_0000, kept: 0x6000_0000, ..AN386 };

/// The MPS2 machine with a Cortex-M33 with TrustZone. All code here is secure, and the devices are used by their secure
/// addresses, because at the machine's start everything is secure and needs no setup.
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

/// The MPS2 machine for which this firmware was compiled.
pub(crate) const THIS: Machine = match (cfg!(feature = "an500"), cfg!(feature = "an505")) {
    (false, false) => AN386,
    (true, false) => AN500,
    (false, true) => AN505,
    (true, true) => panic!("one machine: an500 or an505"),
};
