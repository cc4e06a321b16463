//! Firmware of the emulated board.
#![no_std]
#![no_main]

use defmt_semihosting as _;
use embassy_executor::Spawner;
use embassy_net::{Config, Ipv4Address, Ipv4Cidr, Stack, StackResources, StaticConfigV4};
use embassy_time::Timer;
use static_cell::StaticCell;

mod clock;
mod executor;
mod host;
mod interrupts;
mod lan9118;
mod mmio;
mod uart;

use host::{Fault, Options};
use lan9118::Lan9118;
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
    let config = Config::ipv4_static(StaticConfigV4 {
        address: Ipv4Cidr::new(Ipv4Address::new(10, 0, 2, 15), 24),
        gateway: Some(Ipv4Address::new(10, 0, 2, 2)),
        dns_servers: Default::default(),
    });
    let (stack, runner) = embassy_net::new(mac, config, RESOURCES.init(StackResources::new()), host::seed());
    spawner.spawn(defmt::unwrap!(net(runner)));
    spawner.spawn(defmt::unwrap!(talk(stack)));
    spawner.spawn(defmt::unwrap!(sense(Uart0::start(115_200))));
    if let Some(time) = options.run_for {
        spawner.spawn(defmt::unwrap!(end(time)));
    }
}

#[embassy_executor::task]
async fn net(mut runner: embassy_net::Runner<'static, &'static mut Lan9118>) -> ! {
    runner.run().await
}

#[embassy_executor::task]
async fn end(after: embassy_time::Duration) {
    Timer::after(after).await;
    defmt::info!("end: {} {}", lan9118::counters(), uart::overruns());
    host::succeed()
}

#[embassy_executor::task]
async fn talk(stack: Stack<'static>) {
    static RX: StaticCell<[u8; 8192]> = StaticCell::new();
    static TX: StaticCell<[u8; 1024]> = StaticCell::new();
    let mut socket = embassy_net::tcp::TcpSocket::new(stack, RX.init([0; 8192]), TX.init([0; 1024]));
    loop {
        let connected = socket.connect((Ipv4Address::new(10, 0, 2, 2), 30_003)).await;
        defmt::info!("connected: {}", connected.is_ok());
        let mut buffer = [0; 64];
        let mut total = 0;
        while let Ok(n) = socket.read(&mut buffer).await {
            if n == 0 {
                break;
            }
            total += n;
            if socket.write(&buffer[..n]).await.is_err() {
                break;
            }
        }
        defmt::info!("closed after {} bytes", total);
        socket.abort();
        Timer::after_millis(500).await;
    }
}

#[embassy_executor::task]
async fn sense(mut uart: Uart0) {
    use embedded_io_async::Read as _;
    let mut buffer = [0; 64];
    loop {
        let Ok(n) = uart.read(&mut buffer).await;
        defmt::info!("uart: {=[u8]}", &buffer[..n]);
    }
}
