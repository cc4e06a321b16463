//! Firmware of the W5500-EVB-Pico2: its pins and clocks.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::{Ipv4Address, Ipv4Cidr, StackResources, StaticConfigV4};
use embassy_net_wiznet::chip::W5500;
use embassy_net_wiznet::{Device, State};
use embassy_rp::adc::{self, Adc};
use embassy_rp::gpio::{Input, Level, Output, Pull};
use embassy_rp::peripherals::{DMA_CH0, DMA_CH1, SPI0, TRNG, UART0};
use embassy_rp::spi::{self, Async, Spi};
use embassy_rp::trng::{self, Trng};
use embassy_rp::uart::{self, BufferedUartRx};
use embassy_rp::watchdog::Watchdog;
use embassy_rp::{bind_interrupts, dma, otp, pac};
use embassy_time::{Delay, Duration, Timer};
use embedded_hal_bus::spi::ExclusiveDevice;
use panic_probe as _;
use static_cell::ConstStaticCell;

bind_interrupts!(struct Irqs {
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>, dma::InterruptHandler<DMA_CH1>;
    TRNG_IRQ => trng::InterruptHandler<TRNG>;
    UART0_IRQ => uart::BufferedInterruptHandler<UART0>;
});

type Bus = ExclusiveDevice<Spi<'static, SPI0, Async>, Output<'static>, Delay>;

#[embassy_executor::main(entry = "cortex_m_rt::entry")]
async fn main(spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let mut watchdog = Watchdog::new(p.WATCHDOG);
    watchdog.start(Duration::from_secs(1));
    let mut lamp = Output::new(p.PIN_25, Level::Low);
    let mut cycle = Output::new(p.PIN_4, Level::Low);
    let request = Input::new(p.PIN_2, Pull::Up);
    let acknowledge = Input::new(p.PIN_3, Pull::Up);

    let mut spi_config = spi::Config::default();
    spi_config.frequency = 33_000_000;
    let bus = Spi::new(p.SPI0, p.PIN_18, p.PIN_19, p.PIN_16, p.DMA_CH0, p.DMA_CH1, Irqs, spi_config);
    let bus = defmt::unwrap!(ExclusiveDevice::new(bus, Output::new(p.PIN_17, Level::High), Delay));
    static STATE: ConstStaticCell<State<8, 4>> = ConstStaticCell::new(State::new());
    let (interrupt, reset) = (Input::new(p.PIN_21, Pull::Up), Output::new(p.PIN_20, Level::High));
    let mac = embassy_net_wiznet::new(hardware_address(), STATE.take(), bus, interrupt, reset).await;
    let Ok((device, chip)) = mac else { defmt::panic!("the W5500 does not answer") };
    spawner.spawn(defmt::unwrap!(frames(chip)));

    let mut seed = [0; 8];
    Trng::new(p.TRNG, Irqs, trng::Config::default()).fill_bytes(&mut seed).await;
    static RESOURCES: ConstStaticCell<StackResources<4>> = ConstStaticCell::new(StackResources::new());
    let config = embassy_net::Config::ipv4_static(StaticConfigV4 {
        address: Ipv4Cidr::new(Ipv4Address::new(192, 168, 1, 50), 24),
        gateway: None,
        dns_servers: Default::default(),
    });
    let (stack, runner) = embassy_net::new(device, config, RESOURCES.take(), u64::from_le_bytes(seed));
    spawner.spawn(defmt::unwrap!(net(runner)));

    let mut uart_config = uart::Config::default();
    uart_config.baudrate = 115_200;
    static RECEIVED: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    let uart = BufferedUartRx::new(p.UART0, Irqs, p.PIN_1, RECEIVED.take(), uart_config);
    // A line that nobody drives is quiet.
    pac::PADS_BANK0.gpio(1).modify(|pad| pad.set_pue(true));

    let mut adc = Adc::new_blocking(p.ADC, adc::Config::default());
    let mut input = adc::Channel::new_pin(p.PIN_26, Pull::None);
    loop {
        lamp.toggle();
        cycle.toggle();
        watchdog.feed(Duration::from_secs(1));
        Timer::after_millis(100).await;
        let raw = adc.blocking_read(&mut input);
        defmt::info!("{} {} {} {}", stack.is_link_up(), raw, request.is_low(), acknowledge.is_low());
        let _ = &uart;
    }
}

/// Locally administered, and this chip's own.
fn hardware_address() -> [u8; 6] {
    let [a, b, c, d, e, ..] = otp::get_chipid().unwrap_or_default().to_le_bytes();
    [0x02, a, b, c, d, e]
}

#[embassy_executor::task]
async fn frames(chip: embassy_net_wiznet::Runner<'static, W5500, Bus, Input<'static>, Output<'static>>) -> ! {
    chip.run().await
}

#[embassy_executor::task]
async fn net(mut runner: embassy_net::Runner<'static, Device<'static>>) -> ! {
    runner.run().await
}
