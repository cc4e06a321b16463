//! Firmware of the emulated board: its pins and clocks.
#![no_std]
#![no_main]

use defmt_semihosting as _;
use embassy_executor::Spawner;
use embassy_net::{Runner, Stack, StackResources};
use embassy_time::{Duration, Timer};
#[cfg(krc)]
use outrigger_app::krc::{Desk, Memory, Robot, Settings};
use outrigger_app::provision::{self, Built, InForce, Serving, Store};
#[cfg(requests)]
use outrigger_app::requests;
use outrigger_app::telemetry::{self, Outgoing};
#[cfg(not(krc))]
use outrigger_app::ur::{Desk, Memory, Robot, Settings};
use outrigger_app::{Handle, SerialSensor, TelemetryTarget, network};
use static_cell::ConstStaticCell;

mod clock;
mod executor;
mod flash;
mod host;
mod interrupts;
mod lan9118;
mod mmio;
mod pins;
mod uart;
mod watchdog;

use flash::Nor;
use host::Options;
use lan9118::Lan9118;
use pins::Lamp;
use uart::Uart;

/// What telemetry calls this board.
const BOARD: &str = if cfg!(feature = "an500") { "qemu-mps2 an500" } else { "qemu-mps2 an386" };
/// Rate of the serial line at the bench \[Bd\].
const BENCH_BAUD: u32 = 115_200;
/// What `build.rs` made of the board's file: what runs where the flash has nothing better.
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image"));
/// What else this firmware can be told.
const BUILT: Built = Built { requests: cfg!(requests), motion: cfg!(feature = "motion") };

#[cortex_m_rt::entry]
fn main() -> ! {
    let options = Options::read();
    clock::start(options.until_wrap);
    host::cause(options.fault);
    executor::run(|spawner| start(spawner, options))
}

fn start(spawner: Spawner, options: Options) {
    static TOLD: ConstStaticCell<provision::Memory> = ConstStaticCell::new(provision::Memory::new());
    let (in_force, told) = TOLD.take().split();
    let mut store = Store::new(Nor::connect(options.cut));
    let in_force = InForce::<Settings>::choose(&mut store, in_force, IMAGE, BUILT);
    let InForce { settings, image, standing } = defmt::unwrap!(in_force);

    static MAC: ConstStaticCell<Lan9118> = ConstStaticCell::new(Lan9118::new());
    static RESOURCES: ConstStaticCell<StackResources<{ 5 + cfg!(requests) as usize }>> =
        ConstStaticCell::new(StackResources::new());
    let mac = MAC.take();
    defmt::unwrap!(mac.start(settings.device.hardware_address()));
    let seed = host::seed();
    let (stack, runner) = embassy_net::new(mac, network(&settings.device), RESOURCES.take(), seed);

    let (build, boot) = (env!("OUTRIGGER_BUILD"), host::seed() as u32);
    let device = telemetry::Device { board: BOARD, build, boot, settings: image.settings };
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::new());
    let robot = defmt::unwrap!(Robot::new(stack, &settings, device, MEMORY.take()));
    #[cfg(feature = "motion")]
    let robot = robot.with_motion(image.motion);
    let (handle, desk) = (robot.handle(), robot.desk());

    spawner.spawn(defmt::unwrap!(net(runner)));
    spawner.spawn(defmt::unwrap!(control(robot)));
    spawner.spawn(defmt::unwrap!(keep(desk, handle, stack)));
    if let Some(target) = settings.device.telemetry {
        spawner.spawn(defmt::unwrap!(tell(desk, stack, target)));
    }
    #[cfg(requests)]
    if let Some(port) = requests::Port::of(image.requests) {
        spawner.spawn(defmt::unwrap!(answer(desk, handle, stack, port, host::random())));
    }
    if let Some(sensor) = SerialSensor::of(settings.sensors()) {
        spawner.spawn(defmt::unwrap!(read_serial(sensor, Uart::of_sensor(sensor.baud), handle, desk)));
    }
    let serving = Serving {
        standing,
        told,
        board: BOARD,
        build,
        boot,
        port: Uart::at_bench(BENCH_BAUD),
        store,
        patience: watchdog::be_patient,
        reset: || cortex_m::peripheral::SCB::sys_reset(),
    };
    spawner.spawn(defmt::unwrap!(be_told(serving, handle, desk)));
    if let Some(time) = options.run_for {
        spawner.spawn(defmt::unwrap!(end(handle, time)));
    }
    watchdog::start();
}

#[embassy_executor::task]
async fn net(mut runner: Runner<'static, &'static mut Lan9118>) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn control(robot: Robot) {
    let desk = robot.desk();
    robot.run(Lamp::<1>).await;
    if !desk.starts_anew() {
        desk.flush();
        host::succeed()
    }
}

#[embassy_executor::task]
async fn keep(desk: &'static Desk, robot: Handle<'static>, stack: Stack<'static>) -> ! {
    let feed = || {
        watchdog::feed();
        desk.set_bad_frames(lan9118::bad_frames());
    };
    desk.keep(robot, stack, &mut Lamp::<0>, feed).await
}

#[embassy_executor::task]
async fn tell(desk: &'static Desk, stack: Stack<'static>, target: TelemetryTarget) -> ! {
    static MEMORY: ConstStaticCell<Outgoing> = ConstStaticCell::new(Outgoing::new());
    telemetry::send(desk, stack, target, MEMORY.take()).await
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
async fn read_serial(sensor: SerialSensor, port: Uart, robot: Handle<'static>, desk: &'static Desk) -> ! {
    sensor.run(port, robot, desk).await
}

#[embassy_executor::task]
async fn be_told(serving: Serving<Settings, Uart, Nor>, robot: Handle<'static>, desk: &'static Desk) -> ! {
    serving.serve(robot, desk).await
}

/// Ends the run in good order, where the host asked for it.
#[embassy_executor::task]
async fn end(robot: Handle<'static>, after: Duration) {
    Timer::after(after).await;
    robot.shutdown();
}
