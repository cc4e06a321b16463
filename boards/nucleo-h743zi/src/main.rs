//! Firmware of the Nucleo-H743ZI: its pins and clocks. `outrigger-app` contains the tasks.
#![no_std]
#![no_main]

use core::cell::RefCell;

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::Stack;
use embassy_stm32::adc::{Adc, AdcChannel as _, AdcConfig, Averaging};
use embassy_stm32::dma;
use embassy_stm32::exti::{self, ExtiInput};
use embassy_stm32::flash::Flash;
use embassy_stm32::gpio::{Input, Level, Output, Pull, Speed};
use embassy_stm32::i2c::{self, I2c};
use embassy_stm32::mode::Async;
use embassy_stm32::peripherals::{DMA1_CH0, DMA1_CH1, DMA1_CH2, DMA1_CH3, I2C1, IWDG1, RNG, USART2, USART3};
use embassy_stm32::rng::{self, Rng};
use embassy_stm32::spi::{self, Spi};
use embassy_stm32::time::Hertz;
use embassy_stm32::usart::{self, BufferedUart};
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{bind_interrupts, interrupt, uid};
use embassy_time::Delay;
use embedded_hal_bus::spi::ExclusiveDevice;
use outrigger_app::boot::{self, BootRecord, StartStage};
#[cfg(requests)]
use outrigger_app::requests;
use outrigger_app::{
    AnalogSensor, BusSensor, Handle, Ports, Restart, SerialSensor, WrenchSensor, guard_stack, hardware_address,
    task_order,
};
use static_cell::{ConstStaticCell, StaticCell};

mod analog_input;
mod chip;
mod ethernet;
mod flash;
mod sensor_ports;

use analog_input::{Converter, Level3V3};
use ethernet::{Mac, Rings};
use flash::Sectors;
use sensor_ports::PORTS;

/// The rate of the I²C bus of the distance sensor.
const BUS_RATE: Hertz = Hertz(100_000);
/// The clock rate of the SPI bus of the force/torque sensor: 24 bytes take 0.1 ms, and wires of about 0.1 m are short
/// enough.
const SENSOR_BUS_RATE: Hertz = Hertz(2_000_000);

type SensorBus = ExclusiveDevice<Spi<'static, Async, spi::mode::Master>, Output<'static>, Delay>;

/// The period after which the watchdog resets the chip if it is not fed \[µs\].
const PATIENCE: u32 = 1_000_000;

outrigger_app::board! {
    name: "nucleo-h743zi",
    driver: Mac,
    flash: Sectors,
    bench: BufferedUart<'static>,
    motion: false,
    ports: PORTS,
    contacts: Input<'static>, request: is_high,
    serial: BufferedUart<'static>,
    analog: Level3V3, counts: u16::MAX, volts: 3.3,
    bus: I2c<'static, Async, i2c::Master>,
    wrench: SensorBus, ready: ExtiInput<'static, Async>,
}

bind_interrupts!(struct Irqs {
    ETH => ethernet::Handler;
    DMA1_STREAM0 => dma::InterruptHandler<DMA1_CH0>;
    DMA1_STREAM1 => dma::InterruptHandler<DMA1_CH1>;
    DMA1_STREAM2 => dma::InterruptHandler<DMA1_CH2>;
    DMA1_STREAM3 => dma::InterruptHandler<DMA1_CH3>;
    EXTI15_10 => exti::InterruptHandler<interrupt::typelevel::EXTI15_10>;
    I2C1_EV => i2c::EventInterruptHandler<I2C1>;
    I2C1_ER => i2c::ErrorInterruptHandler<I2C1>;
    RNG => rng::InterruptHandler<RNG>;
    USART2 => usart::BufferedInterruptHandler<USART2>;
    USART3 => usart::BufferedInterruptHandler<USART3>;
});

#[embassy_executor::main(entry = "cortex_m_rt::entry")]
async fn main(spawner: Spawner) {
    chip::issue_reads_one_by_one();
    let guard = guard_stack();
    static BEGUN: StaticCell<BootRecord> = StaticCell::new();
    let begun = BEGUN.init(boot::begin(chip::reset_cause()));
    chip::watch_the_start();
    let clock = chip::find_clock();
    let p = embassy_stm32::init(chip::config(clock));
    let mut watchdog = IndependentWatchdog::new(p.IWDG1, PATIENCE);
    watchdog.unleash();
    chip::cache_instructions();
    let mut lamp = Output::new(p.PB0, Level::Low, Speed::Low);
    begun.show(
        |lit| lamp.set_level(lit.into()),
        || {
            watchdog.pet();
            embassy_time::block_for(boot::MOMENT);
        },
    );
    begun.log(chip::clock(clock));
    defmt::info!("stack guarded by: {}", guard);

    boot::reached(StartStage::Settings);
    let (mut settings, image, bench) = choose_settings(Sectors::new(Flash::new_blocking(p.FLASH)), begun);
    settings.config.operator = clock.operator(settings.config.operator);
    let serial = SerialSensor::of(settings.sensors());
    let analog = [1, 2].map(|number| AnalogSensor::of(settings.sensors(), number));
    let on_bus = BusSensor::of(settings.sensors());

    boot::reached(StartStage::Interface);
    defmt::info!("starting the network interface");
    ethernet::wire(p.PA1, p.PA7, p.PC4, p.PC5, p.PG13, p.PB13, p.PG11, p.PA2, p.PC1);
    static RINGS: ConstStaticCell<Rings> = ConstStaticCell::new(Rings::new());
    let mac = settings.device.mac.unwrap_or_else(|| hardware_address(&uid::uid()));
    let mac = ethernet::interface(p.ETH, p.ETH_SMA, mac, RINGS.take());
    let (mac, monitor) = guard_link(mac, &settings);
    boot::reached(StartStage::Tasks);
    let mut random = Rng::new(p.RNG, Irqs);
    let (stack, _) = start_network(spawner, mac, &settings, random.next_u64());
    let (robot, device) = make_robot(stack, &settings, &image, random.next_u32());
    let (handle, shared) = (robot.handle(), robot.shared());
    shared.comes_from(begun, chip::clock(clock), monitor);
    spawn_first(spawner, control(robot, Output::new(p.PE11, Level::Low, Speed::High)), task_order::CONTROL);
    spawner.spawn(defmt::unwrap!(keep(shared, handle, stack, lamp, watchdog)));
    spawner.spawn(defmt::unwrap!(watch_link(shared)));
    if !clock.may_command() {
        spawner.spawn(defmt::unwrap!(await_clock(shared)));
    }
    let mut config = usart::Config::default();
    config.baudrate = BENCH_BAUD;
    config.rx_pull = Pull::Up;
    static HEARD: ConstStaticCell<[u8; 512]> = ConstStaticCell::new([0; 512]);
    static SAID: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
    match BufferedUart::new(p.USART3, p.PD9, p.PD8, SAID.take(), HEARD.take(), Irqs, config) {
        Ok(port) => {
            let serving = bench.serving(device, port, chip::be_patient, || boot::reset());
            spawner.spawn(defmt::unwrap!(serve_bench(serving, handle, shared)));
        }
        Err(_) => defmt::error!("nothing can be told at the bench: USART3 cannot run at its rate"),
    }
    spawn_services(spawner, &settings, shared, handle, stack);
    #[cfg(requests)]
    if let Some(port) = requests::Port::of(image.requests) {
        let mut seed = [0; 32];
        random.fill_bytes(&mut seed);
        spawner.spawn(defmt::unwrap!(answer(shared, handle, stack, port, seed)));
    }
    let operator = settings.config.operator;
    if operator.has_pins() || settings.device.brake_release_pin {
        let (stop, acknowledge) = (Input::new(p.PE13, Pull::Up), Input::new(p.PE9, Pull::Up));
        let (button, brakes) = (Input::new(p.PC13, Pull::Down), Input::new(p.PE14, Pull::Up));
        let pins = [stop, acknowledge, button, brakes];
        spawner.spawn(defmt::unwrap!(contacts(operator, settings.device.brake_release_pin, pins, handle, shared)));
    }
    if let Some(sensor) = serial {
        let mut config = usart::Config::default();
        config.baudrate = sensor.baud;
        // A reading gets its time stamp when its last byte arrives, not one idle character later.
        config.eager_reads = Some(1);
        // Keeps an unconnected line quiet.
        config.rx_pull = Pull::Up;
        static RECEIVED: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
        static SENT: ConstStaticCell<[u8; 1]> = ConstStaticCell::new([0]);
        let port = BufferedUart::new(p.USART2, p.PD6, p.PD5, SENT.take(), RECEIVED.take(), Irqs, config);
        let Ok(port) = port else { defmt::panic!("the serial port cannot run at {} Bd", sensor.baud) };
        spawner.spawn(defmt::unwrap!(read_serial(sensor, port, handle, shared)));
    }
    if analog.iter().any(Option::is_some) {
        let config = AdcConfig { averaging: Some(Averaging::Samples16), ..Default::default() };
        static CONVERTER: StaticCell<RefCell<Converter>> = StaticCell::new();
        let adc = &*CONVERTER.init(RefCell::new(Adc::new_with_config(p.ADC1, config)));
        for (sensor, pin) in analog.into_iter().zip([p.PA3.degrade_adc(), p.PC0.degrade_adc()]) {
            if let Some(sensor) = sensor {
                spawner.spawn(defmt::unwrap!(read_analog(sensor, Level3V3 { adc, pin }, handle, shared)));
            }
        }
    }
    if let Some(sensor) = on_bus {
        let mut config = i2c::Config::default();
        config.frequency = BUS_RATE;
        let bus = I2c::new(p.I2C1, p.PB8, p.PB9, p.DMA1_CH0, p.DMA1_CH1, Irqs, config);
        spawner.spawn(defmt::unwrap!(read_bus(sensor, bus, handle, shared)));
    }
    if let Some(sensor) = WrenchSensor::of(settings.sensors()) {
        let mut config = spi::Config::default();
        config.mode = spi::MODE_1;
        config.frequency = SENSOR_BUS_RATE;
        let bus = Spi::new(p.SPI1, p.PA5, p.PB5, p.PA6, p.DMA1_CH2, p.DMA1_CH3, Irqs, config);
        let select = Output::new(p.PD14, Level::High, Speed::Low);
        let bus = defmt::unwrap!(ExclusiveDevice::new(bus, select, Delay));
        let data_ready = ExtiInput::new(p.PD15, p.EXTI15, Pull::Up, Irqs);
        spawner.spawn(defmt::unwrap!(read_wrench(sensor, bus, data_ready, handle, shared)));
    }
}

#[embassy_executor::task]
async fn control(robot: Robot, cycle: Output<'static>) {
    robot.run(cycle).await;
}

#[embassy_executor::task]
async fn keep(
    shared: &'static Shared,
    robot: Handle<'static>,
    stack: Stack<'static>,
    mut lamp: Output<'static>,
    mut watchdog: IndependentWatchdog<'static, IWDG1>,
) -> ! {
    let feed = || {
        watchdog.pet();
        shared.set_network(ethernet::counts());
        while let Some(news) = ethernet::SHARED.news() {
            defmt::info!("network: {}", news);
        }
    };
    shared.keep(robot, stack, &mut lamp, feed).await
}

/// Restarts the network interface or the board if no frames are received.
#[embassy_executor::task]
async fn watch_link(shared: &'static Shared) -> ! {
    let restart = |what| match what {
        Restart::Interface => ethernet::SHARED.restart(),
        Restart::Board => boot::reset(),
    };
    shared.watch_link(restart).await
}

/// Waits for an external clock that starts late, and then restarts the board.
#[embassy_executor::task]
async fn await_clock(shared: &'static Shared) -> ! {
    shared.await_clock(chip::is_clock_there, || boot::reset()).await
}
