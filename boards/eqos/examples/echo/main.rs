//! A TCP server over the driver that returns the bytes it receives, and a client that sends to it: two programs of two
//! boards.
//!
//! On a board, only [`Controller`] and the memory of the rings differ (`boards/nucleo-h743zi/src/ethernet.rs`), and an
//! executor runs the tasks. Here both controllers are models, joined by a cable, in virtual time:
//!
//! ```sh
//! cargo run -p outrigger-eqos --example echo
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

// Provides the critical sections of a process.
use critical_section as _;
use embassy_net::tcp::TcpSocket;
use embassy_net::{Config, Ipv4Address, Ipv4Cidr, Runner, Stack, StackResources, StaticConfigV4};
use embassy_time::Instant;
use embedded_io_async::{Read as _, Write as _};
use outrigger_emulated::executor::{Task, clock, leak};
use outrigger_eqos::{Bus, Interface};

use model::{ModelCells, Port, Side};
use simulated_boards::Board;

#[path = "../../tests/model/mod.rs"]
mod model;
mod simulated_boards;

const SERVER: Ipv4Address = Ipv4Address::new(192, 0, 2, 1);
const CLIENT: Ipv4Address = Ipv4Address::new(192, 0, 2, 2);
const PORT: u16 = 7;

/// The registers of a simulated Ethernet controller, and the clock. On a chip `read` and `write` are volatile, `order`
/// is `dmb`, and `complete` is `dsb`.
struct Controller(Port);

impl Bus for Controller {
    fn read(&self, register: usize) -> u32 {
        self.0.read(register)
    }

    fn write(&self, register: usize, value: u32) {
        self.0.write(register, value);
    }

    fn order(&self) {
        self.0.order();
    }

    fn complete(&self) {
        self.0.complete();
    }

    fn enable(&self) {
        self.0.enable();
    }

    fn now(&self) -> u64 {
        Instant::now().as_micros()
    }

    fn wake_at(&self, at: u64, waker: &Waker) {
        embassy_time_driver::schedule_wake(Instant::from_micros(at).as_ticks(), waker);
    }
}

/// The interface type for `embassy-net`. On a board the rings are `&'static mut RingMemory<4>` and `RingMemory<8>`.
type Mac = Interface<'static, Controller, ModelCells, ModelCells>;

/// Returns a network stack on a simulated Ethernet controller, and the stack's task.
fn network(port: &Port, address: Ipv4Address) -> (Stack<'static>, Runner<'static, Mac>) {
    let hardware = [2, 0, 0, 0, 0, address.octets()[3]];
    let (transmit, receive) = (port.cells(Side::Tx), port.cells(Side::Rx));
    let mac = Interface::new(Controller(port.clone()), port.shared, hardware, 200, transmit, receive);
    let config = StaticConfigV4 { address: Ipv4Cidr::new(address, 24), gateway: None, dns_servers: Default::default() };
    // On a board, a seed of its random number generator.
    embassy_net::new(mac, Config::ipv4_static(config), leak(StackResources::<2>::new()), 0x5eed)
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
    let (server, client) = (simulated_boards::controller(1), simulated_boards::controller(2));
    let (stack, mut runner) = network(&server, SERVER);
    let tasks = vec![Task::new(async move { runner.run().await }), Task::new(serve(stack))];
    let server = Board { port: server, tasks };

    let text: Vec<u8> = (0..20_000_u32).map(|number| number as u8).collect();
    let answer = Rc::new(RefCell::new(None));
    let (stack, mut runner) = network(&client, CLIENT);
    let (asked, put) = (text.clone(), Rc::clone(&answer));
    let tasks = vec![
        Task::new(async move { runner.run().await }),
        Task::new(async move { *put.borrow_mut() = Some(ask(stack, &asked).await) }),
    ];
    let client = Board { port: client, tasks };

    let mut boards = [server, client];
    let took = simulated_boards::run(&mut boards, || answer.borrow().is_some());
    assert_eq!(answer.take(), Some(text), "the answer");
    println!("20 000 bytes there and back, {} ms after the start of both boards", took.as_micros() / 1_000);
    for (name, board) in ["server", "client"].into_iter().zip(&boards) {
        println!("{name}: {:?}", board.port.shared.counters());
        while let Some(news) = board.port.shared.news() {
            println!("    {news:?}");
        }
    }
}

#[test]
fn every_byte_comes_back() {
    main();
}
