//! Firmware of the emulated board: its pins and clocks.
#![no_std]
#![no_main]

use defmt_semihosting as _;
use embassy_executor::Spawner;
use embassy_net::Stack;
use embassy_time::{Duration, Timer};
use outrigger_app::boot::{self, BootRecord, StartStage};
#[cfg(requests)]
use outrigger_app::requests;
use outrigger_app::{Contacts, Handle, NetworkCounts, OperatorConfig, Ports, SerialSensor, guard_stack, task_order};
use static_cell::{ConstStaticCell, StaticCell};

mod clock;
mod executor;
mod flash;
mod interrupts;
mod lan9118;
mod machine;
mod mmio;
mod pins;
mod semihosting_calls;
mod sensor_ports;
mod task_order_trace;
mod uart;
mod watchdog;

use flash::Nor;
use lan9118::Lan9118;
use pins::Lamp;
use semihosting_calls::{Fault, Options};
use sensor_ports::PORTS;
use uart::Uart;

outrigger_app::board! {
    name: machine::THIS.board,
    driver: &'static mut Lan9118,
    flash: Nor,
    bench: Uart,
    motion: cfg!(feature = "motion"),
    ports: PORTS,
    serial: Uart,
}

#[cortex_m_rt::entry]
fn main() -> ! {
    guard_stack();
    let options = Options::read();
    clock::start(options.until_wrap);
    static BEGUN: StaticCell<BootRecord> = StaticCell::new();
    let begun = BEGUN.init(boot::begin(watchdog::reset_cause()));
    begun.show(Lamp::<0>::switch, || embassy_time::block_for(boot::MOMENT));
    begun.log(clock::RATE);
    semihosting_calls::cause(options.fault, begun);
    executor::run(|spawner| start(spawner, options, begun))
}

fn start(spawner: Spawner, options: Options, begun: &'static mut BootRecord) {
    boot::reached(StartStage::Settings);
    let (settings, image, bench) = choose_settings(Nor::connect(options.cut), begun);

    static MAC: ConstStaticCell<Lan9118> = ConstStaticCell::new(Lan9118::new());
    boot::reached(StartStage::Interface);
    let mac = MAC.take();
    defmt::unwrap!(mac.start(settings.device.hardware_address()));
    let (mac, monitor) = guard_link(mac, &settings);
    boot::reached(StartStage::Tasks);
    let (stack, network) = start_network(spawner, mac, &settings, semihosting_calls::seed());
    let (robot, device) = make_robot(stack, &settings, &image, semihosting_calls::seed() as u32);
    #[cfg(feature = "motion")]
    let robot = robot.with_motion(image.motion);
    let (handle, shared) = (robot.handle(), robot.shared());
    shared.comes_from(begun, clock::RATE, monitor);

    let control = spawn_first(spawner, control(robot), task_order::CONTROL);
    if options.order {
        task_order_trace::tell(control, network);
    }
    spawner.spawn(defmt::unwrap!(keep(shared, handle, stack)));
    spawn_services(spawner, &settings, shared, handle, stack);
    #[cfg(requests)]
    if let Some(port) = requests::Port::of(image.requests) {
        spawner.spawn(defmt::unwrap!(answer(shared, handle, stack, port, semihosting_calls::random())));
    }
    if let Some(sensor) = SerialSensor::of(settings.sensors()) {
        spawner.spawn(defmt::unwrap!(read_serial(sensor, Uart::of_sensor(sensor.baud), handle, shared)));
    }
    if settings.device.brake_release_pin {
        spawner.spawn(defmt::unwrap!(contact(settings.config.operator, handle, shared)));
    }
    let port = Uart::at_bench(BENCH_BAUD);
    let serving = bench.serving(device, port, watchdog::be_patient, || watchdog::reset());
    spawner.spawn(defmt::unwrap!(serve_bench(serving, handle, shared)));
    if let Some(time) = options.run_for {
        spawner.spawn(defmt::unwrap!(end(handle, time)));
    }
    if options.fault == Some(Fault::Hang) && begun.is_first() {
        spawner.spawn(defmt::unwrap!(hang()));
    }
    watchdog::start();
}

#[embassy_executor::task]
async fn control(robot: Robot) {
    let shared = robot.shared();
    robot.run(Lamp::<1>).await;
    if !shared.starts_anew() {
        shared.flush();
        semihosting_calls::succeed()
    }
}

#[embassy_executor::task]
async fn keep(shared: &'static Shared, robot: Handle<'static>, stack: Stack<'static>) -> ! {
    let feed = || {
        watchdog::feed();
        shared.set_network(NetworkCounts { bad: lan9118::bad_frames(), ..NetworkCounts::default() });
    };
    shared.keep(robot, stack, &mut Lamp::<0>, feed).await
}

/// Watches the brake contact, the only contact of this board. An operator's other contacts can only be connected to
/// inputs of the robot's controller.
#[embassy_executor::task]
async fn contact(operator: OperatorConfig, robot: Handle<'static>, shared: &'static Shared) -> ! {
    let operator = OperatorConfig { stop_pin: false, acknowledge_pin: false, request_pin: false, ..operator };
    let mut brakes = uart::Contact::connect();
    let (none, brake_release) = (|| false, || brakes.is_closed());
    Contacts { stop: none, acknowledge: none, request: none, brake_release }.watch(&operator, true, robot, shared).await
}

/// Prevents all other tasks from running 1.5 s after the start, if the host requests it (`fault=hang`).
#[embassy_executor::task]
async fn hang() {
    Timer::after_millis(1_500).await;
    loop {
        // The processor sleeps meanwhile, so that QEMU does not load the host.
        cortex_m::asm::wfi();
    }
}

/// Shuts the robot's task down after the time `after`, if the host requests it (`seconds=N`).
#[embassy_executor::task]
async fn end(robot: Handle<'static>, after: Duration) {
    Timer::after(after).await;
    robot.shutdown();
}
