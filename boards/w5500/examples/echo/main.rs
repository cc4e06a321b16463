//! A TCP server over the driver that returns the bytes it receives, and a client that sends to it: two programs of two
//! boards.
//!
//! On a board, [`network`] gets its SPI bus and pins, and an executor runs the tasks; all else is the same. Here both
//! chips are models, joined by a cable, in virtual time:
//!
//! ```sh
//! cargo run -p outrigger-w5500 --example echo
//! ```

use std::cell::RefCell;
use std::rc::Rc;

// Provides the critical sections of a process.
use critical_section as _;
use embassy_net::tcp::TcpSocket;
use embassy_net::{Config, Ipv4Address, Ipv4Cidr, Stack, StackResources, StaticConfigV4};
use embedded_hal::digital::OutputPin;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;
use embedded_io_async::{Read as _, Write as _};
use outrigger_emulated::executor::{Task, clock, leak};
use outrigger_w5500::{State, Watch};

use simulated_chips::Board;

mod simulated_chips;

const SERVER: Ipv4Address = Ipv4Address::new(192, 0, 2, 1);
const CLIENT: Ipv4Address = Ipv4Address::new(192, 0, 2, 2);
const PORT: u16 = 7;

/// Returns a network stack on a W5500 chip, the handle on the chip's driver, and the tasks of both.
fn network(
    spi: impl SpiDevice + 'static,
    interrupt: impl Wait + 'static,
    reset: impl OutputPin + 'static,
    address: Ipv4Address,
) -> (Stack<'static>, Watch<'static>, [Task; 2]) {
    let hardware = [2, 0, 0, 0, 0, address.octets()[3]];
    // On a board, a static for each `leak`.
    let state = leak(State::<8, 8>::new());
    let (device, driver, watch) = outrigger_w5500::new(hardware, state, spi, interrupt, reset);
    let config = StaticConfigV4 { address: Ipv4Cidr::new(address, 24), gateway: None, dns_servers: Default::default() };
    // On a board, a seed of its random number generator.
    let resources = leak(StackResources::<2>::new());
    let (stack, mut runner) = embassy_net::new(device, Config::ipv4_static(config), resources, 0x5eed);
    let tasks = [Task::new(async move { driver.run().await }), Task::new(async move { runner.run().await })];
    (stack, watch, tasks)
}

/// The task of the server: returns every byte of one connection after the other.
async fn serve(stack: Stack<'static>) {
    let (rx, tx) = (leak([0; 2_048]), leak([0; 2_048]));
    loop {
        let mut socket = TcpSocket::new(stack, rx, tx);
        if socket.accept(PORT).await.is_err() {
            continue;
        }
        let mut bytes = [0; 512];
        while let Ok(read @ 1..) = socket.read(&mut bytes).await {
            if socket.write_all(&bytes[..read]).await.is_err() {
                break;
            }
        }
        socket.close();
        let _ = socket.flush().await;
    }
}

/// The task of the echo client: sends `text` to the server and returns its answer.
async fn ask(stack: Stack<'static>, text: &[u8]) -> Vec<u8> {
    stack.wait_link_up().await;
    let (rx, tx) = (leak([0; 2_048]), leak([0; 2_048]));
    let mut socket = TcpSocket::new(stack, rx, tx);
    socket.connect((SERVER, PORT)).await.expect("a server");
    let mut answer = vec![0; text.len()];
    for (part, place) in text.chunks(1_024).zip(answer.chunks_mut(1_024)) {
        socket.write_all(part).await.expect("a connection");
        socket.read_exact(place).await.expect("all bytes");
    }
    socket.close();
    answer
}

fn main() {
    clock::begin();
    let server = Board::new();
    let (stack, server_driver, tasks) = network(server.spi(), server.interrupt(), server.reset(), SERVER);
    let server = server.with(tasks.into_iter().chain([Task::new(serve(stack))]));

    let text: Vec<u8> = (0..20_000_u32).map(|number| number as u8).collect();
    let answer = Rc::new(RefCell::new(None));
    let client = Board::new();
    let (stack, client_driver, tasks) = network(client.spi(), client.interrupt(), client.reset(), CLIENT);
    let (asked, put) = (text.clone(), Rc::clone(&answer));
    let asking = Task::new(async move { *put.borrow_mut() = Some(ask(stack, &asked).await) });
    let client = client.with(tasks.into_iter().chain([asking]));

    let took = simulated_chips::run(&mut [server, client], || answer.borrow().is_some());
    assert_eq!(answer.take(), Some(text), "the answer");
    println!("20 000 bytes there and back, {} ms after the start of both boards", took.as_micros() / 1_000);
    for (name, driver) in [("server", server_driver), ("client", client_driver)] {
        assert_eq!(driver.counts().last, None, "{name}: an error");
        println!("{name}: {:?}", driver.counts());
    }
}

#[test]
fn every_byte_comes_back() {
    main();
}
