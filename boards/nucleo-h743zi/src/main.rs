//! Firmware of the Nucleo-H743ZI: its pins and clocks. What runs on them is `outrigger-app`.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_net::{Stack, StackResources};
use embassy_stm32::adc::{Adc, AdcConfig, Averaging};
use embassy_stm32::gpio::{Input, Level, Output, Pull, Speed};
use embassy_stm32::peripherals::{IWDG1, RNG, USART2};
use embassy_stm32::rng::{self, Rng};
use embassy_stm32::usart::{self, BufferedUart};
use embassy_stm32::wdg::IndependentWatchdog;
use embassy_stm32::{bind_interrupts, uid};
use outrigger_app::boot::{self, Begun, Stage};
#[cfg(krc)]
use outrigger_app::krc::{Desk, Memory, Robot, Settings};
#[cfg(requests)]
use outrigger_app::requests;
use outrigger_app::telemetry::{self, Outgoing};
#[cfg(not(krc))]
use outrigger_app::ur::{Desk, Memory, Robot, Settings};
use outrigger_app::{
    AnalogSensor, Contacts, Ear, Guarded, Handle, Neighbour, OperatorConfig, Revive, SerialSensor, TelemetryTarget,
    guard_stack, hardware_address, network,
};
use static_cell::{ConstStaticCell, StaticCell};

mod chip;
mod ethernet;
mod level;

use ethernet::{Mac, Rings};
use level::Level3V3;

static SETTINGS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/settings"));
/// And of where it takes requests, with the key.
#[cfg(requests)]
static REQUESTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/requests"));

/// Time without food after which the watchdog resets the chip \[µs\].
const PATIENCE: u32 = 1_000_000;

bind_interrupts!(struct Irqs {
    ETH => ethernet::Handler;
    RNG => rng::InterruptHandler<RNG>;
    USART2 => usart::BufferedInterruptHandler<USART2>;
});

#[embassy_executor::main(entry = "cortex_m_rt::entry")]
async fn main(spawner: Spawner) {
    chip::issue_reads_one_by_one();
    let guard = guard_stack();
    static BEGUN: StaticCell<Begun> = StaticCell::new();
    let begun = &*BEGUN.init(boot::begin(chip::reset_cause()));
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

    boot::reached(Stage::Settings);
    let settings = defmt::unwrap!(Settings::from_postcard(SETTINGS));
    let serial = SerialSensor::of(settings.sensors());
    let analog = AnalogSensor::of(settings.sensors());

    boot::reached(Stage::Interface);
    defmt::info!("starting the network interface");
    ethernet::wire(p.PA1, p.PA7, p.PC4, p.PC5, p.PG13, p.PB13, p.PG11, p.PA2, p.PC1);
    static RINGS: ConstStaticCell<Rings> = ConstStaticCell::new(Rings::new());
    let mac = settings.device.mac.unwrap_or_else(|| hardware_address(&uid::uid()));
    let mac = ethernet::interface(p.ETH, p.ETH_SMA, mac, RINGS.take());
    static EAR: StaticCell<Ear> = StaticCell::new();
    let ear = &*EAR.init(Ear::new(settings.robot));
    let mac = Guarded::new(mac, Neighbour::toward(settings.robot, &settings.device), ear);
    boot::reached(Stage::Tasks);
    let mut random = Rng::new(p.RNG, Irqs);
    let seed = random.next_u64();
    static RESOURCES: ConstStaticCell<StackResources<{ 5 + cfg!(requests) as usize }>> =
        ConstStaticCell::new(StackResources::new());
    let (stack, runner) = embassy_net::new(mac, network(&settings.device), RESOURCES.take(), seed);
    spawner.spawn(defmt::unwrap!(net(runner)));

    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::new());
    let device = telemetry::Device {
        board: "nucleo-h743zi",
        build: env!("OUTRIGGER_BUILD"),
        // Not of the seed: telemetry can be read by anybody.
        boot: random.next_u32(),
        settings: SETTINGS,
    };
    let robot = defmt::unwrap!(Robot::new(stack, &settings, device, MEMORY.take()));
    let (handle, desk) = (robot.handle(), robot.desk());
    desk.comes_from(begun, chip::clock(clock), ear);
    spawner.spawn(defmt::unwrap!(control(robot, Output::new(p.PE11, Level::Low, Speed::High))));
    spawner.spawn(defmt::unwrap!(keep(desk, handle, stack, lamp, watchdog)));
    spawner.spawn(defmt::unwrap!(revive(desk)));
    if let Some(target) = settings.device.telemetry {
        spawner.spawn(defmt::unwrap!(tell(desk, stack, target)));
    }
    #[cfg(requests)]
    if let Some(port) = requests::Port::of(REQUESTS) {
        let mut seed = [0; 32];
        random.fill_bytes(&mut seed);
        spawner.spawn(defmt::unwrap!(answer(desk, handle, stack, port, seed)));
    }
    let operator = settings.config.operator;
    if operator.has_pins() {
        let (stop, acknowledge) = (Input::new(p.PE13, Pull::Up), Input::new(p.PE9, Pull::Up));
        let button = Input::new(p.PC13, Pull::Down);
        spawner.spawn(defmt::unwrap!(contacts(operator, stop, acknowledge, button, handle)));
    }
    if let Some(sensor) = serial {
        let mut config = usart::Config::default();
        config.baudrate = sensor.baud;
        // A reading is stamped when its last byte arrives, not one idle character later.
        config.eager_reads = Some(1);
        // A line that nobody drives is quiet.
        config.rx_pull = Pull::Up;
        static RECEIVED: ConstStaticCell<[u8; 256]> = ConstStaticCell::new([0; 256]);
        static SENT: ConstStaticCell<[u8; 1]> = ConstStaticCell::new([0]);
        let port = BufferedUart::new(p.USART2, p.PD6, p.PD5, SENT.take(), RECEIVED.take(), Irqs, config);
        let Ok(port) = port else { defmt::panic!("the serial port cannot run at {} Bd", sensor.baud) };
        spawner.spawn(defmt::unwrap!(read_serial(sensor, port, handle, desk)));
    }
    if let Some(sensor) = analog {
        let config = AdcConfig { averaging: Some(Averaging::Samples16), ..Default::default() };
        let level = Level3V3 { adc: Adc::new_with_config(p.ADC1, config), pin: p.PA3 };
        spawner.spawn(defmt::unwrap!(read_analog(sensor, level, handle, desk)));
    }
}

#[embassy_executor::task]
async fn net(mut runner: embassy_net::Runner<'static, Guarded<Mac>>) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn control(robot: Robot, cycle: Output<'static>) {
    robot.run(cycle).await;
}

#[embassy_executor::task]
async fn keep(
    desk: &'static Desk,
    robot: Handle<'static>,
    stack: Stack<'static>,
    mut lamp: Output<'static>,
    mut watchdog: IndependentWatchdog<'static, IWDG1>,
) -> ! {
    let feed = || {
        watchdog.pet();
        desk.set_bad_frames(ethernet::SHARED.counters().bad);
        while let Some(news) = ethernet::SHARED.news() {
            defmt::info!("network: {}", news);
        }
    };
    desk.keep(robot, stack, &mut lamp, feed).await
}

/// What hears nothing any more is started anew.
#[embassy_executor::task]
async fn revive(desk: &'static Desk) -> ! {
    let restart = |what| match what {
        Revive::Interface => ethernet::SHARED.restart(),
        Revive::Board => cortex_m::peripheral::SCB::sys_reset(),
    };
    desk.revive(restart).await
}

#[cfg(requests)]
#[embassy_executor::task]
async fn answer(
    desk: &'static Desk,
    robot: Handle<'static>,
    stack: Stack<'static>,
    port: requests::Port,
    seed: [u8; 32],
) {
    static MEMORY: ConstStaticCell<requests::Memory> = ConstStaticCell::new(requests::Memory::new());
    requests::serve(desk, robot, stack, port, seed, MEMORY.take()).await;
}

#[embassy_executor::task]
async fn tell(desk: &'static Desk, stack: Stack<'static>, target: TelemetryTarget) -> ! {
    static MEMORY: ConstStaticCell<Outgoing> = ConstStaticCell::new(Outgoing::new());
    telemetry::send(desk, stack, target, MEMORY.take()).await
}

#[embassy_executor::task]
async fn contacts(
    operator: OperatorConfig,
    stop: Input<'static>,
    acknowledge: Input<'static>,
    button: Input<'static>,
    robot: Handle<'static>,
) -> ! {
    let (stop, acknowledge, request) = (|| stop.is_low(), || acknowledge.is_low(), || button.is_high());
    Contacts { stop, acknowledge, request }.watch(&operator, robot).await
}

#[embassy_executor::task]
async fn read_serial(
    sensor: SerialSensor,
    port: BufferedUart<'static>,
    robot: Handle<'static>,
    desk: &'static Desk,
) -> ! {
    sensor.run(port, robot, desk).await
}

#[embassy_executor::task]
async fn read_analog(sensor: AnalogSensor, level: Level3V3, robot: Handle<'static>, desk: &'static Desk) -> ! {
    sensor.run(level, u16::MAX, 3.3, robot, desk).await
}
