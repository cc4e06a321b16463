//! Firmware of the W5500-EVB-Pico2: its pins and clocks. `outrigger-app` contains the tasks.
#![no_std]
#![no_main]

use core::cell::RefCell;

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::Stack;
use embassy_rp::adc::{self, Adc};
use embassy_rp::flash::Flash;
use embassy_rp::gpio::{Input, Level, Output, Pull};
use embassy_rp::i2c::{self, I2c};
use embassy_rp::peripherals::{DMA_CH0, DMA_CH1, DMA_CH2, DMA_CH3, I2C1, SPI0, SPI1, TRNG, UART0, UART1};
use embassy_rp::spi::{self, Async, Spi};
use embassy_rp::trng::{self, Trng};
use embassy_rp::uart::{self, BufferedUart, BufferedUartRx};
use embassy_rp::watchdog::Watchdog;
use embassy_rp::{bind_interrupts, dma, otp, pac};
use embassy_time::{Delay, Duration, Ticker};
use embedded_hal_bus::spi::ExclusiveDevice;
use outrigger_app::boot::{self, BootRecord, Clock, ClockSource, StartStage};
#[cfg(requests)]
use outrigger_app::requests;
use outrigger_app::{
    AnalogSensor, BusSensor, Handle, NetworkCounts, Ports, Restart, SerialSensor, WrenchSensor, guard_stack,
    hardware_address, task_order,
};
use outrigger_w5500::{Counts, Device, Runner, State, Watch};
use static_cell::{ConstStaticCell, StaticCell};

mod analog_input;
mod flash;
mod reset_cause;
mod sensor_ports;
mod xip;

use analog_input::{Converter, Level3V3};
use flash::Sectors;
use sensor_ports::PORTS;

/// The period after which the watchdog resets the RP2350 if it is not fed.
const PATIENCE: Duration = Duration::from_secs(1);

/// The greatest rate of the W5500's bus \[Hz\]: its data sheet guarantees 33.3 MHz. The divider makes 25 MHz from 150
/// MHz.
const BUS_RATE: u32 = 33_000_000;

/// The clock rate of the SPI bus of the force/torque sensor \[Hz\]: 24 bytes take 0.1 ms, and wires of about 0.1 m are
/// short enough.
const SENSOR_BUS_RATE: u32 = 2_000_000;

type Bus = ExclusiveDevice<Spi<'static, SPI0, Async>, Output<'static>, Delay>;
type SensorBus = ExclusiveDevice<Spi<'static, SPI1, Async>, Output<'static>, Delay>;
type Mac = Runner<'static, Bus, Input<'static>, Output<'static>>;

outrigger_app::board! {
    name: "w5500-evb-pico2",
    driver: Device<'static>,
    flash: Sectors,
    bench: BufferedUart,
    motion: false,
    ports: PORTS,
    contacts: Input<'static>, request: is_low,
    serial: BufferedUartRx,
    analog: Level3V3, counts: 4_095, volts: 3.3,
    bus: I2c<'static, I2C1, i2c::Async>,
    wrench: SensorBus, ready: Input<'static>,
}

bind_interrupts!(struct Irqs {
    I2C1_IRQ => i2c::InterruptHandler<I2C1>;
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>, dma::InterruptHandler<DMA_CH1>, dma::InterruptHandler<DMA_CH2>,
        dma::InterruptHandler<DMA_CH3>;
    TRNG_IRQ => trng::InterruptHandler<TRNG>;
    UART0_IRQ => uart::BufferedInterruptHandler<UART0>;
    UART1_IRQ => uart::BufferedInterruptHandler<UART1>;
});

#[embassy_executor::main(entry = "cortex_m_rt::entry")]
async fn main(spawner: Spawner) {
    let guard = guard_stack();
    static BEGUN: StaticCell<BootRecord> = StaticCell::new();
    let begun = BEGUN.init(boot::begin(reset_cause::cause()));
    reset_cause::watch_over_start();
    let p = embassy_rp::init(Default::default());
    let mut watchdog = Watchdog::new(p.WATCHDOG);
    watchdog.start(PATIENCE);
    reset_cause::concern_everything();
    let is_fast = xip::read_without_commands();
    let mut lamp = Output::new(p.PIN_25, Level::Low);
    begun.show(
        |lit| lamp.set_level(lit.into()),
        || {
            watchdog.feed(PATIENCE);
            embassy_time::block_for(boot::MOMENT);
        },
    );
    let clock = Clock { hertz: embassy_rp::clocks::clk_sys_freq(), source: ClockSource::External };
    begun.log(clock);
    defmt::info!("stack guarded by: {}", guard);
    defmt::info!("flash read without commands: {}", is_fast);

    boot::reached(StartStage::Settings);
    let (settings, image, bench) = choose_settings(Sectors::new(Flash::new_blocking(p.FLASH)), begun);
    let serial = SerialSensor::of(settings.sensors());
    let analog = [1, 2].map(|number| AnalogSensor::of(settings.sensors(), number));

    let mut config = spi::Config::default();
    config.frequency = BUS_RATE;
    let bus = Spi::new(p.SPI0, p.PIN_18, p.PIN_19, p.PIN_16, p.DMA_CH0, p.DMA_CH1, Irqs, config);
    let bus = defmt::unwrap!(ExclusiveDevice::new(bus, Output::new(p.PIN_17, Level::High), Delay));
    let interrupt = Input::new(p.PIN_21, Pull::Up);
    let reset = Output::new(p.PIN_20, Level::High);
    static STATE: ConstStaticCell<State<8, 8>> = ConstStaticCell::new(State::new());
    boot::reached(StartStage::Interface);
    defmt::info!("starting the network interface");
    let chip = otp::get_chipid().unwrap_or_default().to_le_bytes();
    let mac = settings.device.mac.unwrap_or_else(|| hardware_address(&chip));
    // Until the chip answers and its cable is connected, the stack has no link; the log shows the errors meanwhile.
    let (device, mac, chip) = outrigger_w5500::new(mac, STATE.take(), bus, interrupt, reset);
    spawn_first(spawner, frames(mac), task_order::NETWORK);
    let (device, monitor) = guard_link(device, &settings);
    boot::reached(StartStage::Tasks);
    let (mut seed, mut boot) = ([0; 8], [0; 4]);
    let mut random = Trng::new(p.TRNG, Irqs, trng::Config::default());
    random.fill_bytes(&mut seed).await;
    random.fill_bytes(&mut boot).await;

    let (stack, _) = start_network(spawner, device, &settings, u64::from_le_bytes(seed));
    let (robot, device) = make_robot(stack, &settings, &image, u32::from_le_bytes(boot));
    let (handle, shared) = (robot.handle(), robot.shared());
    shared.comes_from(begun, clock, monitor);
    spawn_first(spawner, control(robot, Output::new(p.PIN_4, Level::Low)), task_order::CONTROL);
    spawner.spawn(defmt::unwrap!(keep(shared, handle, stack, lamp, watchdog, chip)));
    spawner.spawn(defmt::unwrap!(watch_link(shared, chip)));
    spawner.spawn(defmt::unwrap!(tell_of_cache()));
    let mut config = uart::Config::default();
    config.baudrate = BENCH_BAUD;
    static HEARD: ConstStaticCell<[u8; 512]> = ConstStaticCell::new([0; 512]);
    static SAID: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    let port = BufferedUart::new(p.UART1, p.PIN_8, p.PIN_9, Irqs, SAID.take(), HEARD.take(), config);
    // Keeps an unconnected line quiet.
    pac::PADS_BANK0.gpio(9).modify(|pad| pad.set_pue(true));
    let serving = bench.serving(device, port, be_patient, || boot::reset());
    spawner.spawn(defmt::unwrap!(serve_bench(serving, handle, shared)));
    spawn_services(spawner, &settings, shared, handle, stack);
    #[cfg(requests)]
    if let Some(port) = requests::Port::of(image.requests) {
        let mut seed = [0; 32];
        random.fill_bytes(&mut seed).await;
        spawner.spawn(defmt::unwrap!(answer(shared, handle, stack, port, seed)));
    }
    let operator = settings.config.operator;
    if operator.has_pins() || settings.device.brake_release_pin {
        let (stop, acknowledge) = (Input::new(p.PIN_5, Pull::Up), Input::new(p.PIN_3, Pull::Up));
        let (request, brakes) = (Input::new(p.PIN_2, Pull::Up), Input::new(p.PIN_15, Pull::Up));
        let pins = [stop, acknowledge, request, brakes];
        spawner.spawn(defmt::unwrap!(contacts(operator, settings.device.brake_release_pin, pins, handle, shared)));
    }
    if let Some(sensor) = serial {
        let mut config = uart::Config::default();
        config.baudrate = sensor.baud;
        static RECEIVED: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
        let port = BufferedUartRx::new(p.UART0, Irqs, p.PIN_1, RECEIVED.take(), config);
        // Keeps an unconnected line quiet.
        pac::PADS_BANK0.gpio(1).modify(|pad| pad.set_pue(true));
        spawner.spawn(defmt::unwrap!(read_serial(sensor, port, handle, shared)));
    }
    if analog.iter().any(Option::is_some) {
        static CONVERTER: StaticCell<RefCell<Converter>> = StaticCell::new();
        let adc = &*CONVERTER.init(RefCell::new(Adc::new_blocking(p.ADC, adc::Config::default())));
        let pins = [adc::Channel::new_pin(p.PIN_26, Pull::None), adc::Channel::new_pin(p.PIN_27, Pull::None)];
        for (sensor, pin) in analog.into_iter().zip(pins) {
            if let Some(sensor) = sensor {
                spawner.spawn(defmt::unwrap!(read_analog(sensor, Level3V3 { adc, pin }, handle, shared)));
            }
        }
    }
    if let Some(sensor) = BusSensor::of(settings.sensors()) {
        // 100 kHz, which is the default.
        let bus = I2c::new_async(p.I2C1, p.PIN_7, p.PIN_6, Irqs, i2c::Config::default());
        spawner.spawn(defmt::unwrap!(read_bus(sensor, bus, handle, shared)));
    }
    if let Some(sensor) = WrenchSensor::of(settings.sensors()) {
        let mut config = spi::Config::default();
        config.frequency = SENSOR_BUS_RATE;
        config.phase = spi::Phase::CaptureOnSecondTransition;
        let bus = Spi::new(p.SPI1, p.PIN_10, p.PIN_11, p.PIN_12, p.DMA_CH2, p.DMA_CH3, Irqs, config);
        let bus = defmt::unwrap!(ExclusiveDevice::new(bus, Output::new(p.PIN_13, Level::High), Delay));
        let data_ready = Input::new(p.PIN_14, Pull::Up);
        spawner.spawn(defmt::unwrap!(read_wrench(sensor, bus, data_ready, handle, shared)));
    }
}

/// Extends the watchdog's period to 16 s, the maximum, because erasing six sectors takes up to 3 s. The following reset
/// ends this.
fn be_patient() {
    pac::WATCHDOG.load().write(|load| load.set_load(0xff_ffff));
}

#[embassy_executor::task]
async fn frames(mac: Mac) -> ! {
    TURNS.give_way(mac.run(), own_priority().await).await
}

#[embassy_executor::task]
async fn control(robot: Robot, cycle: Output<'static>) {
    robot.run(cycle).await;
}

/// Returns the network counts of the W5500 chip for telemetry.
fn network_counts(chip: &Counts) -> NetworkCounts {
    NetworkCounts {
        bad: chip.oversized.saturating_add(chip.lengths),
        unsent: chip.unsent,
        link_losses: chip.link_lost,
        timeouts: chip.timeouts(),
        bus_errors: chip.bus.saturating_add(chip.forgotten),
        // The first one is its start.
        restarts: chip.resets.saturating_sub(1),
    }
}

#[embassy_executor::task]
async fn keep(
    shared: &'static Shared,
    robot: Handle<'static>,
    stack: Stack<'static>,
    mut lamp: Output<'static>,
    mut watchdog: Watchdog,
    chip: Watch<'static>,
) -> ! {
    let feed = || {
        watchdog.feed(PATIENCE);
        shared.set_network(network_counts(&chip.counts()));
    };
    shared.keep(robot, stack, &mut lamp, feed).await
}

/// Logs every 10 s the number of reads from flash, and of those that its cache did not serve.
#[embassy_executor::task]
async fn tell_of_cache() -> ! {
    let mut ticker = Ticker::every(Duration::from_secs(10));
    loop {
        ticker.next().await;
        let (accesses, hits) = xip::count();
        defmt::info!(
            "flash: {=u32} accesses in 10 s, {=u32} of them not in its cache",
            accesses,
            accesses.saturating_sub(hits)
        );
    }
}

/// Restarts the network interface or the board if no frames are received.
#[embassy_executor::task]
async fn watch_link(shared: &'static Shared, chip: Watch<'static>) -> ! {
    let restart = |what| match what {
        Restart::Interface => chip.restart(),
        Restart::Board => boot::reset(),
    };
    shared.watch_link(restart).await
}
