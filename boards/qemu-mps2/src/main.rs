//! Firmware of the emulated board.
#![no_std]
#![no_main]

use defmt_semihosting as _;
use embassy_executor::Spawner;
use embassy_net::{Ipv4Address, Ipv4Cidr, Stack, StackResources, StaticConfigV4};
use embassy_time::{Duration, Timer};
use outrigger_app::{Desk, Memory, Robot};
use outrigger_core::command::{SourceConfig, SourceId};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference, SensorFeedForward};
use outrigger_core::sensor::Form;
use outrigger_core::session::Config;
use static_cell::{ConstStaticCell, StaticCell};

mod clock;
mod executor;
mod host;
mod interrupts;
mod lan9118;
mod mmio;
mod pins;
mod uart;
mod watchdog;

use host::{Fault, Options};
use lan9118::Lan9118;
use pins::Lamp;
use uart::Uart0;

#[cortex_m_rt::entry]
fn main() -> ! {
    let options = Options::read();
    clock::start(options.until_wrap);
    match options.fault {
        None => {}
        Some(Fault::Panic) => panic!("as asked for"),
        // SAFETY: no address of this machine; the bus fault is what is wanted, and nothing comes after it.
        Some(Fault::Memory) => unsafe {
            (0xffff_fff0 as *const u32).read_volatile();
        },
    }
    executor::run(|spawner| start(spawner, options))
}

fn start(spawner: Spawner, options: Options) {
    static MAC: StaticCell<Lan9118> = StaticCell::new();
    let mac = MAC.init(Lan9118::new([2, 0, 10, 0, 2, 15]));
    defmt::unwrap!(mac.start());
    static RESOURCES: StaticCell<StackResources<4>> = StaticCell::new();
    let config = embassy_net::Config::ipv4_static(StaticConfigV4 {
        address: Ipv4Cidr::new(Ipv4Address::new(10, 0, 2, 15), 24),
        gateway: Some(Ipv4Address::new(10, 0, 2, 2)),
        dns_servers: Default::default(),
    });
    let (stack, runner) = embassy_net::new(mac, config, RESOURCES.init(StackResources::new()), host::seed());
    static MEMORY: ConstStaticCell<Memory> = ConstStaticCell::new(Memory::new());
    let source = SourceId(0);
    let mut config = Config::default();
    config.sources[0] = Some(SourceConfig::new(source, 6, -1.0, 1.0));
    let servo =
        JointServoConfig { sensor: Some(SensorFeedForward { source, gain: 1.0 }), ..JointServoConfig::default() };
    let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, servo));
    let robot = Robot::new(stack, Ipv4Address::new(10, 0, 2, 2), config, law, MEMORY.take());
    let robot = defmt::unwrap!(robot);
    let (handle, desk) = (robot.handle(), robot.desk());
    spawner.spawn(defmt::unwrap!(net(runner)));
    spawner.spawn(defmt::unwrap!(control(robot)));
    spawner.spawn(defmt::unwrap!(sense(Uart0::start(115_200), source, handle)));
    spawner.spawn(defmt::unwrap!(keep(desk, stack)));
    if let Some(time) = options.run_for {
        spawner.spawn(defmt::unwrap!(end(handle, time)));
    }
    watchdog::start();
}

#[embassy_executor::task]
async fn net(mut runner: embassy_net::Runner<'static, &'static mut Lan9118>) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn control(robot: Robot) {
    robot.run(Lamp::<1>).await;
    host::succeed()
}

#[embassy_executor::task]
async fn sense(uart: Uart0, source: SourceId, handle: outrigger_app::Handle<'static>) -> ! {
    outrigger_app::sense(uart, Form::Frames, source, handle).await
}

#[embassy_executor::task]
async fn keep(desk: &'static Desk, stack: Stack<'static>) -> ! {
    desk.keep(stack, &mut Lamp::<0>, watchdog::feed).await
}

#[embassy_executor::task]
async fn end(handle: outrigger_app::Handle<'static>, after: Duration) {
    Timer::after(after).await;
    defmt::info!("end: {} {}", lan9118::counters(), uart::overruns());
    handle.shutdown();
}
