//! Firmware of the emulated board: its pins and clocks.
#![no_std]
#![no_main]

use defmt_semihosting as _;
use embassy_executor::{Metadata, SpawnError, SpawnToken, Spawner};
use embassy_net::{Runner, Stack, StackResources};
use embassy_time::{Duration, Timer};
use outrigger_app::boot::{self, Begun, Stage};
#[cfg(dashboard)]
use outrigger_app::dashboard;
#[cfg(krc)]
use outrigger_app::krc::{Desk, Memory, Robot, Settings};
use outrigger_app::provision::{self, Built, InForce, Serving, Store};
#[cfg(requests)]
use outrigger_app::requests;
use outrigger_app::telemetry::{self, Outgoing};
use outrigger_app::turns::{self, Turns};
#[cfg(not(krc))]
use outrigger_app::ur::{Desk, Memory, Robot, Settings};
use outrigger_app::{
    Contacts, Ear, Guarded, Handle, Neighbour, NetworkCounts, OperatorConfig, Ports, SerialSensor, TelemetryTarget,
    guard_stack, network,
};
use static_cell::{ConstStaticCell, StaticCell};

mod clock;
mod executor;
mod flash;
mod host;
mod interrupts;
mod lan9118;
mod machine;
mod mmio;
mod order;
mod pins;
mod ports;
mod uart;
mod watchdog;

use flash::Nor;
use host::{Fault, Options};
use lan9118::Lan9118;
use pins::Lamp;
use ports::PORTS;
use uart::Uart;

/// Rate of the serial line at the bench \[Bd\].
const BENCH_BAUD: u32 = 115_200;
/// What `build.rs` made of the board's file: what runs where the flash has nothing better.
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image"));
/// What else this firmware can be told.
const BUILT: Built =
    Built { requests: cfg!(requests), motion: cfg!(feature = "motion"), dashboard: cfg!(dashboard), ports: PORTS };

#[cortex_m_rt::entry]
fn main() -> ! {
    guard_stack();
    let options = Options::read();
    clock::start(options.until_wrap);
    static BEGUN: StaticCell<Begun> = StaticCell::new();
    let begun = BEGUN.init(boot::begin(watchdog::reset_cause()));
    begun.show(Lamp::<0>::switch, || embassy_time::block_for(boot::MOMENT));
    begun.log(clock::RATE);
    host::cause(options.fault, begun);
    executor::run(|spawner| start(spawner, options, begun))
}

fn start(spawner: Spawner, options: Options, begun: &'static mut Begun) {
    boot::reached(Stage::Settings);
    static TOLD: ConstStaticCell<provision::Memory> = ConstStaticCell::new(provision::Memory::new());
    let (in_force, told) = TOLD.take().split();
    let mut store = Store::new(Nor::connect(options.cut));
    let in_force = InForce::<Settings>::choose(&mut store, in_force, IMAGE, BUILT);
    let InForce { settings, image, standing } = defmt::unwrap!(in_force);
    if let Some(why) = standing.refused() {
        begun.refuses_settings(why);
    }

    static MAC: ConstStaticCell<Lan9118> = ConstStaticCell::new(Lan9118::new());
    static RESOURCES: ConstStaticCell<StackResources<{ 6 + cfg!(requests) as usize + cfg!(dashboard) as usize }>> =
        ConstStaticCell::new(StackResources::new());
    boot::reached(Stage::Interface);
    let mac = MAC.take();
    defmt::unwrap!(mac.start(settings.device.hardware_address()));
    static EAR: StaticCell<Ear> = StaticCell::new();
    let ear = &*EAR.init(Ear::new(settings.robot));
    boot::reached(Stage::Tasks);
    let seed = host::seed();
    let mac = Guarded::new(mac, Neighbour::toward(settings.robot, &settings.device), ear);
    let (stack, runner) = embassy_net::new(mac, network(&settings.device), RESOURCES.take(), seed);

    let (board, build, start) = (machine::THIS.board, env!("OUTRIGGER_BUILD"), host::seed() as u32);
    let device = telemetry::Device { board, build, boot: start, settings: image.settings };
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::new());
    let robot = defmt::unwrap!(Robot::new(stack, &settings, device, MEMORY.take()));
    #[cfg(feature = "motion")]
    let robot = robot.with_motion(image.motion);
    let (handle, desk) = (robot.handle(), robot.desk());
    desk.comes_from(begun, clock::RATE, ear);

    let network = spawn_first(spawner, net(runner), turns::NETWORK);
    spawner.spawn(defmt::unwrap!(note_turns()));
    let control = spawn_first(spawner, control(robot), turns::CONTROL);
    if options.order {
        order::tell(control, network);
    }
    spawner.spawn(defmt::unwrap!(keep(desk, handle, stack)));
    if let Some(target) = settings.device.telemetry {
        spawner.spawn(defmt::unwrap!(tell(desk, stack, target)));
    }
    #[cfg(dashboard)]
    spawner.spawn(defmt::unwrap!(errands(desk, handle, stack)));
    #[cfg(requests)]
    if let Some(port) = requests::Port::of(image.requests) {
        spawner.spawn(defmt::unwrap!(answer(desk, handle, stack, port, host::random())));
    }
    if let Some(sensor) = SerialSensor::of(settings.sensors()) {
        spawner.spawn(defmt::unwrap!(read_serial(sensor, Uart::of_sensor(sensor.baud), handle, desk)));
    }
    if settings.device.brake_release_pin {
        spawner.spawn(defmt::unwrap!(contact(settings.config.operator, handle, desk)));
    }
    let serving = Serving {
        standing,
        told,
        board,
        build,
        boot: start,
        port: Uart::at_bench(BENCH_BAUD),
        store,
        patience: watchdog::be_patient,
        reset: || watchdog::reset(),
    };
    spawner.spawn(defmt::unwrap!(be_told(serving, handle, desk)));
    if let Some(time) = options.run_for {
        spawner.spawn(defmt::unwrap!(end(handle, time)));
    }
    if options.fault == Some(Fault::Hang) && begun.is_first() {
        spawner.spawn(defmt::unwrap!(hang()));
    }
    watchdog::start();
}

/// The time of the last turn of the rest of the tasks.
static TURNS: Turns = Turns::new();

/// Spawns a task that goes before others, and returns the executor's number of it.
fn spawn_first<S>(spawner: Spawner, task: Result<SpawnToken<S>, SpawnError>, priority: u8) -> u32 {
    let task = defmt::unwrap!(task);
    task.metadata().set_priority(priority);
    let id = task.id();
    spawner.spawn(task);
    id
}

/// Sets the priority of the task that runs.
async fn own_priority() -> impl Fn(u8) {
    let task = Metadata::for_current_task().await;
    move |priority| task.set_priority(priority)
}

#[embassy_executor::task]
async fn note_turns() -> ! {
    TURNS.note().await
}

#[embassy_executor::task]
async fn net(mut runner: Runner<'static, Guarded<&'static mut Lan9118>>) -> ! {
    TURNS.give_way(runner.run(), own_priority().await).await
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
        desk.set_network(NetworkCounts { bad: lan9118::bad_frames(), ..NetworkCounts::default() });
    };
    desk.keep(robot, stack, &mut Lamp::<0>, feed).await
}

#[embassy_executor::task]
async fn tell(desk: &'static Desk, stack: Stack<'static>, target: TelemetryTarget) -> ! {
    static MEMORY: ConstStaticCell<Outgoing> = ConstStaticCell::new(Outgoing::new());
    telemetry::send(desk, stack, target, MEMORY.take()).await
}

#[cfg(dashboard)]
#[embassy_executor::task]
async fn errands(desk: &'static Desk, robot: Handle<'static>, stack: Stack<'static>) -> ! {
    static MEMORY: ConstStaticCell<dashboard::Memory> = ConstStaticCell::new(dashboard::Memory::new());
    dashboard::carry_out(desk, robot, stack, MEMORY.take()).await
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

/// The one contact that this board has: an operator's others are at the robot.
#[embassy_executor::task]
async fn contact(operator: OperatorConfig, robot: Handle<'static>, desk: &'static Desk) -> ! {
    let operator = OperatorConfig { stop_pin: false, acknowledge_pin: false, request_pin: false, ..operator };
    let mut brakes = uart::Contact::connect();
    let (none, brake_release) = (|| false, || brakes.is_closed());
    Contacts { stop: none, acknowledge: none, request: none, brake_release }.watch(&operator, true, robot, desk).await
}

/// Keeps every other task from its turn, as asked for.
#[embassy_executor::task]
async fn hang() {
    Timer::after_millis(1_500).await;
    loop {
        // The processor sleeps meanwhile: QEMU must not keep the host from its turn, too.
        cortex_m::asm::wfi();
    }
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
