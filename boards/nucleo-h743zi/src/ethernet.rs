//! The Ethernet controller of the chip, for `outrigger-eqos`: its registers, clocks, pins and interrupt.
//!
//! The HAL's own driver is not used. Release 0.6.0 writes an address of the stack as tail pointer, and writes OWN
//! without a barrier after the other words (`embassy-stm32-0.6.0/src/eth/v2/descriptors.rs:109-124`, `:173-175`,
//! `:244-248`).

use core::task::Waker;

use embassy_stm32::Peri;
use embassy_stm32::eth::{CRSPin, MDCPin, MDIOPin, RXD0Pin, RXD1Pin, RefClkPin, TXD0Pin, TXD1Pin, TXEnPin};
use embassy_stm32::gpio::{AfType, Flex, OutputType, Pin, Speed};
use embassy_stm32::interrupt::{self, InterruptExt, typelevel};
use embassy_stm32::pac;
use embassy_stm32::pac::syscfg::vals::EthSelPhy;
use embassy_stm32::peripherals::{ETH, ETH_SMA};
use outrigger_app::NetworkCounts;
use outrigger_eqos::{Bus, Counters, Interface, RingMemory, Shared};

/// The state that the Ethernet interrupt handler and the driver share.
pub(crate) static SHARED: Shared = Shared::new();

/// The rate of the Ethernet controller's bus \[MHz\]: half of the core's, see `chip::config`.
const MEGAHERTZ: u32 = 200;

pub(crate) type Mac = Interface<'static, Controller, &'static mut RingMemory<8>, &'static mut RingMemory<16>>;

/// The memory of the DMA rings. All data is in AXI SRAM, which the DMA can access. The data cache is off, so the core
/// and the DMA see the same bytes.
pub(crate) struct Rings {
    transmit: RingMemory<8>,
    receive: RingMemory<16>,
}

impl Rings {
    pub(crate) const fn new() -> Self {
        Self { transmit: RingMemory::new(), receive: RingMemory::new() }
    }
}

/// Returns the frame and error counts of the Ethernet interface for telemetry.
pub(crate) fn counts() -> NetworkCounts {
    let Counters { bad, unsent, link_losses, timeouts, bus_errors, restarts, .. } = SHARED.counters();
    NetworkCounts { bad, unsent, link_losses, timeouts, bus_errors, restarts }
}

/// The handler of the Ethernet controller's interrupt.
pub(crate) struct Handler;

impl typelevel::Handler<typelevel::ETH> for Handler {
    unsafe fn on_interrupt() {
        SHARED.interrupt(&Controller(()));
    }
}

/// The Ethernet controller of this chip.
pub(crate) struct Controller(());

impl Controller {
    fn register(at: usize) -> *mut u32 {
        // The registers end at 0x1174; each is a word.
        debug_assert!(at < 0x1200 && at.is_multiple_of(4));
        pac::ETH.as_ptr().wrapping_byte_add(at).cast()
    }
}

impl Bus for Controller {
    fn read(&self, register: usize) -> u32 {
        // SAFETY: a register of this device, see `register`; reading has no effect on memory.
        unsafe { Self::register(register).read_volatile() }
    }

    fn write(&self, register: usize, value: u32) {
        // SAFETY: as in `read`. The DMA only writes to the rings' memory, which only the driver uses.
        unsafe { Self::register(register).write_volatile(value) }
    }

    fn order(&self) {
        cortex_m::asm::dmb();
    }

    fn complete(&self) {
        cortex_m::asm::dsb();
    }

    fn enable(&self) {
        critical_section::with(|_| {
            pac::RCC.ahb1enr().modify(|clocks| {
                clocks.set_ethen(true);
                clocks.set_ethtxen(true);
                clocks.set_ethrxen(true);
            });
            // The controller samples the kind of its transceiver's interface at the end of its reset.
            pac::RCC.ahb1rstr().modify(|resets| resets.set_ethrst(true));
            pac::SYSCFG.pmcr().modify(|mode| mode.set_eth_sel_phy(EthSelPhy::RMII));
            // Read back: a write to another bus may still be in progress (ST's HAL does the same before its reset).
            let _ = pac::SYSCFG.pmcr().read();
            pac::RCC.ahb1rstr().modify(|resets| resets.set_ethrst(false));
            let _ = pac::RCC.ahb1rstr().read();
        });
    }

    fn now(&self) -> u64 {
        embassy_time::Instant::now().as_micros()
    }

    fn wake_at(&self, at: u64, waker: &Waker) {
        embassy_time_driver::schedule_wake(embassy_time::Instant::from_micros(at).as_ticks(), waker);
    }
}

/// Connects the pins of the transceiver's two interfaces: received and transmitted data, and its registers.
#[expect(clippy::too_many_arguments, reason = "one for each pin, and a type that says which")]
pub(crate) fn wire(
    ref_clk: Peri<'static, impl RefClkPin<ETH>>,
    crs: Peri<'static, impl CRSPin<ETH>>,
    rx_d0: Peri<'static, impl RXD0Pin<ETH>>,
    rx_d1: Peri<'static, impl RXD1Pin<ETH>>,
    tx_d0: Peri<'static, impl TXD0Pin<ETH>>,
    tx_d1: Peri<'static, impl TXD1Pin<ETH>>,
    tx_en: Peri<'static, impl TXEnPin<ETH>>,
    mdio: Peri<'static, impl MDIOPin<ETH_SMA>>,
    mdc: Peri<'static, impl MDCPin<ETH_SMA>>,
) {
    alternate(ref_clk.af_num(), ref_clk);
    alternate(crs.af_num(), crs);
    alternate(rx_d0.af_num(), rx_d0);
    alternate(rx_d1.af_num(), rx_d1);
    alternate(tx_d0.af_num(), tx_d0);
    alternate(tx_d1.af_num(), tx_d1);
    alternate(tx_en.af_num(), tx_en);
    alternate(mdio.af_num(), mdio);
    alternate(mdc.af_num(), mdc);
}

fn alternate(function: u8, pin: Peri<'static, impl Pin>) {
    let mut pin = Flex::new(pin);
    pin.set_as_af_unchecked(function, AfType::output(OutputType::PushPull, Speed::VeryHigh));
    // The connection must remain: dropping the pin would remove it.
    core::mem::forget(pin);
}

/// Returns the Ethernet interface of the chip. It is not started; its first poll starts it.
pub(crate) fn interface(
    _controller: Peri<'static, ETH>,
    _management: Peri<'static, ETH_SMA>,
    address: [u8; 6],
    rings: &'static mut Rings,
) -> Mac {
    let Rings { transmit, receive } = rings;
    interrupt::ETH.unpend();
    // SAFETY: the handler is bound in `main.rs`, and the state that it shares with the driver is made for that.
    unsafe { interrupt::ETH.enable() };
    Interface::new(Controller(()), &SHARED, address, MEGAHERTZ, transmit, receive)
}
