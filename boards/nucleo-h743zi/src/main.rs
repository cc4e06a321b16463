//! Firmware of the Nucleo-H743ZI: its pins and clocks.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::{Ipv4Address, Ipv4Cidr, StackResources, StaticConfigV4};
use embassy_stm32::adc::{Adc, AdcConfig, Averaging, SampleTime};
use embassy_stm32::eth::{self, Ethernet, GenericPhy, PacketQueue, Sma};
use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::gpio::{Level, Output, Pull, Speed};
use embassy_stm32::interrupt::typelevel::{EXTI9_5, EXTI15_10};
use embassy_stm32::peripherals::{ETH, ETH_SMA, RNG, USART2};
use embassy_stm32::rng::{self, Rng};
use embassy_stm32::usart::{self, BufferedUart};
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{bind_interrupts, uid};
use embassy_time::Timer;
use panic_probe as _;
use static_cell::ConstStaticCell;

mod clocks;

bind_interrupts!(struct Irqs {
    ETH => eth::InterruptHandler;
    EXTI9_5 => exti::InterruptHandler<EXTI9_5>;
    EXTI15_10 => exti::InterruptHandler<EXTI15_10>;
    RNG => rng::InterruptHandler<RNG>;
    USART2 => usart::BufferedInterruptHandler<USART2>;
});

type Mac = Ethernet<'static, ETH, GenericPhy<Sma<'static, ETH_SMA>>>;

#[embassy_executor::main(entry = "cortex_m_rt::entry")]
async fn main(spawner: Spawner) {
    let p = embassy_stm32::init(clocks::config());
    let mut watchdog = IndependentWatchdog::new(p.IWDG1, 1_000_000);
    watchdog.unleash();
    if let Some(mut core) = cortex_m::Peripherals::take() {
        core.SCB.enable_icache();
    }
    let mut lamp = Output::new(p.PB0, Level::Low, Speed::Low);
    let mut cycle = Output::new(p.PE11, Level::Low, Speed::High);
    let request = ExtiInput::new(p.PC13, p.EXTI13, Pull::Down, Irqs);
    let acknowledge = ExtiInput::new(p.PE9, p.EXTI9, Pull::Down, Irqs);

    static QUEUE: ConstStaticCell<PacketQueue<8, 8>> = ConstStaticCell::new(PacketQueue::new());
    let phy = GenericPhy::new(Sma::new(p.ETH_SMA, p.PA2, p.PC1), 0);
    let mac = Ethernet::new_with_phy(
        QUEUE.take(),
        p.ETH,
        Irqs,
        p.PA1,
        p.PA7,
        p.PC4,
        p.PC5,
        p.PG13,
        p.PB13,
        p.PG11,
        hardware_address(),
        phy,
    );
    let seed = Rng::new(p.RNG, Irqs).next_u64();
    static RESOURCES: ConstStaticCell<StackResources<4>> = ConstStaticCell::new(StackResources::new());
    let config = embassy_net::Config::ipv4_static(StaticConfigV4 {
        address: Ipv4Cidr::new(Ipv4Address::new(192, 168, 1, 50), 24),
        gateway: None,
        dns_servers: Default::default(),
    });
    let (stack, runner) = embassy_net::new(mac, config, RESOURCES.take(), seed);
    spawner.spawn(defmt::unwrap!(net(runner)));

    let mut uart_config = usart::Config::default();
    uart_config.baudrate = 115_200;
    uart_config.eager_reads = Some(1);
    uart_config.rx_pull = Pull::Up;
    static RECEIVED: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    static SENT: ConstStaticCell<[u8; 16]> = ConstStaticCell::new([0; 16]);
    let uart = BufferedUart::new(p.USART2, p.PD6, p.PD5, SENT.take(), RECEIVED.take(), Irqs, uart_config);
    let Ok(uart) = uart else { defmt::panic!("the serial port cannot run at this rate") };
    let mut adc =
        Adc::new_with_config(p.ADC1, AdcConfig { averaging: Some(Averaging::Samples16), ..Default::default() });
    let mut input = p.PA3;
    loop {
        lamp.toggle();
        cycle.toggle();
        watchdog.pet();
        Timer::after_millis(100).await;
        let raw = adc.blocking_read(&mut input, SampleTime::CYCLES64_5);
        defmt::info!("{} {} {} {}", stack.is_link_up(), raw, request.is_high(), acknowledge.is_high());
        let _ = &uart;
    }
}

/// Locally administered, and this chip's own.
fn hardware_address() -> [u8; 6] {
    let id = uid::uid();
    [0x02, id[0], id[2], id[4], id[6], id[8]]
}

#[embassy_executor::task]
async fn net(mut runner: embassy_net::Runner<'static, Mac>) -> ! {
    runner.run().await
}
