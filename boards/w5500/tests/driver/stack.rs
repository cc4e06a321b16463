//! Tests of `embassy-net`'s TCP over the driver, the chip and a cable, with a peer that has another stack.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use embassy_net::tcp::TcpSocket;
use embassy_net::{Config, Ipv4Cidr, StackResources, StaticConfigV4};
use outrigger_emulated::SimTime;
use outrigger_emulated::executor::{BUSY, Task, clock, leak, run_all};
use outrigger_emulated::w5500::{Chip, Pins, Rate, Timing};
use outrigger_w5500::{State, Watch};
use smoltcp::iface::{Config as PeerConfig, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr};

use crate::floods::wire;
use crate::station::{OWN, frame};

const BOARD: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
const PORT: u16 = 30_003;

/// The length of the messages that the peer sends one after the other \[B\].
const MESSAGE: usize = 1_116;
/// The board's answer to each message.
const ANSWER: &[u8] = b"forty-six bytes, as short as most answers are\n";
const PERIOD: Duration = Duration::from_millis(2);

/// Frames at the peer's end of the cable.
#[derive(Default)]
struct Frames {
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
}

struct In(Vec<u8>);
struct Out<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for In {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Out<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut frame = vec![0; length];
        let result = f(&mut frame);
        self.0.push_back(frame);
        result
    }
}

impl Device for Frames {
    type RxToken<'a> = In;
    type TxToken<'a> = Out<'a>;

    fn receive(&mut self, _: Instant) -> Option<(In, Out<'_>)> {
        Some((In(self.incoming.pop_front()?), Out(&mut self.outgoing)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Out<'_>> {
        Some(Out(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ethernet, 1_514);
        capabilities
    }
}

/// The other end of the cable: sends messages, receives answers.
struct Peer {
    frames: Frames,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    next_message: SimTime,
    messages: u32,
    arrived: Vec<u8>,
    /// The time at which the last byte of each answer arrived.
    answers: Vec<SimTime>,
}

fn instant(at: SimTime) -> Instant {
    Instant::from_micros(at.as_micros() as i64)
}

impl Peer {
    fn new() -> Self {
        let mut frames = Frames::default();
        let config = PeerConfig::new(EthernetAddress([2, 0, 0, 0, 0, 2]).into());
        let mut interface = Interface::new(config, &mut frames, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(PEER.into(), 24)).expect("room for one");
        });
        let mut sockets = SocketSet::new(vec![]);
        let buffer = || tcp::SocketBuffer::new(vec![0; 64 * 1024]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        socket.listen(PORT).expect("a port");
        let socket = sockets.add(socket);
        let next_message = SimTime::ZERO;
        Self { frames, interface, sockets, socket, next_message, messages: 0, arrived: vec![], answers: vec![] }
    }

    fn advance(&mut self, now: SimTime) {
        self.interface.poll(instant(now), &mut self.frames, &mut self.sockets);
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.socket);
        if !socket.is_open() {
            socket.listen(PORT).expect("a port");
            // Drops an answer that had begun.
            self.arrived.truncate(self.answers.len() * ANSWER.len());
        }
        if now >= self.next_message {
            self.next_message = now + PERIOD;
            if socket.may_send() {
                let mut message = [self.messages as u8; MESSAGE];
                message[..4].copy_from_slice(&self.messages.to_be_bytes());
                if socket.send_slice(&message).is_ok_and(|sent| sent == MESSAGE) {
                    self.messages += 1;
                }
            }
        }
        let _ = socket.recv(|bytes| {
            self.arrived.extend_from_slice(bytes);
            (bytes.len(), ())
        });
        while self.arrived.len() >= (self.answers.len() + 1) * ANSWER.len() {
            self.answers.push(now);
        }
        self.interface.poll(instant(now), &mut self.frames, &mut self.sockets);
    }

    fn next_event(&mut self, now: SimTime) -> SimTime {
        let stack = self.interface.poll_at(instant(now), &self.sockets);
        let stack = stack.map_or(SimTime::MAX, |at| SimTime::from_micros(at.total_micros().max(0) as u64));
        stack.max(now + Duration::from_micros(1)).min(self.next_message)
    }
}

/// The observations of the board's program.
#[derive(Default)]
struct Program {
    messages: Cell<u32>,
    /// The number of messages that were out of order or not whole.
    wrong: Cell<u32>,
    connections: Cell<u32>,
    answered: RefCell<Vec<SimTime>>,
}

struct Network {
    pins: Pins,
    tasks: Vec<Task>,
    peer: Peer,
    program: Rc<Program>,
    watch: Watch<'static>,
    now: SimTime,
}

impl Network {
    fn new() -> Self {
        clock::begin();
        let pins = Pins::new(Chip::new(Timing::default(), 0x3fff), Rate::default());
        let frames = leak(State::<8, 8>::new());
        let (device, runner, watch) = outrigger_w5500::new(OWN, frames, pins.spi(), pins.interrupt(), pins.reset());
        let address = Ipv4Cidr::new(BOARD, 24);
        let config = Config::ipv4_static(StaticConfigV4 { address, gateway: None, dns_servers: Default::default() });
        let resources = leak(StackResources::<2>::new());
        let (stack, mut net) = embassy_net::new(device, config, resources, 18);
        let program = Rc::new(Program::default());
        let seen = Rc::clone(&program);
        let tasks = vec![
            Task::new(async move {
                runner.run().await;
            }),
            Task::new(async move {
                net.run().await;
            }),
            Task::new(async move {
                let (rx, tx) = (leak([0; 4_096]), leak([0; 2_048]));
                loop {
                    stack.wait_link_up().await;
                    let mut socket = TcpSocket::new(stack, rx, tx);
                    socket.set_nagle_enabled(false);
                    socket.set_timeout(Some(embassy_time::Duration::from_millis(500)));
                    if socket.connect((PEER, PORT)).await.is_ok() {
                        seen.connections.set(seen.connections.get() + 1);
                        follow(&mut socket, &seen).await;
                    }
                    socket.abort();
                    let _ = socket.flush().await;
                    embassy_time::Timer::after_millis(50).await;
                }
            }),
        ];
        Self { pins, tasks, peer: Peer::new(), program, watch, now: SimTime::ZERO }
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            self.settle();
            if self.now >= end {
                return;
            }
            let next = self.pins.next_event().min(clock::next_alarm()).min(self.peer.next_event(self.now));
            self.now = self.now.max(next).min(end);
        }
    }

    fn settle(&mut self) {
        clock::advance(self.now);
        for _ in 0..BUSY {
            self.pins.advance(self.now);
            let mut busy = run_all(&mut self.tasks);
            while let Some((_, frame)) = self.pins.take() {
                self.peer.frames.incoming.push_back(frame);
                busy = true;
            }
            self.peer.advance(self.now);
            while let Some(frame) = self.peer.frames.outgoing.pop_front() {
                self.pins.deliver(frame);
                busy = true;
            }
            if !busy {
                return;
            }
        }
        panic!("the board does not come to rest at {}: {:?}", self.now, self.watch.counts());
    }
}

/// Answers every message of the peer.
async fn follow(socket: &mut TcpSocket<'_>, seen: &Program) {
    let (mut message, mut filled, mut last) = ([0; MESSAGE], 0, None::<u32>);
    loop {
        let Ok(read @ 1..) = socket.read(&mut message[filled..]).await else { return };
        filled += read;
        if filled < MESSAGE {
            continue;
        }
        filled = 0;
        let number = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
        let whole = message[4..].iter().all(|byte| *byte == number as u8);
        if !whole || last.is_some_and(|last| number != last + 1) {
            seen.wrong.set(seen.wrong.get() + 1);
        }
        last = Some(number);
        seen.messages.set(seen.messages.get() + 1);
        let mut rest = ANSWER;
        while !rest.is_empty() {
            let Ok(written @ 1..) = socket.write(rest).await else { return };
            rest = &rest[written..];
        }
        seen.answered.borrow_mut().push(clock::now());
    }
}

#[test]
fn every_message_at_500_hz_is_answered_over_tcp_before_the_next() {
    let mut network = Network::new();
    network.run_for(Duration::from_secs(3));
    let (program, peer) = (&network.program, &network.peer);
    assert_eq!((program.connections.get(), program.wrong.get()), (1, 0));
    assert!(program.messages.get() >= 1_350, "{} messages {:?}", program.messages.get(), network.watch.counts());
    assert!(peer.messages - program.messages.get() <= 1, "{} of {}", program.messages.get(), peer.messages);
    assert!(program.messages.get() as usize - peer.answers.len() <= 1);
    assert!(peer.arrived.chunks_exact(ANSWER.len()).all(|answer| answer == ANSWER));
    // The time from the answer on the board to its last byte at the peer.
    let slowest =
        program.answered.borrow().iter().zip(&peer.answers).map(|(asked, arrived)| arrived.since(*asked)).max();
    assert!(slowest < Some(Duration::from_micros(250)), "{slowest:?}");
    assert_eq!((network.watch.counts().last, network.pins.chip().seen().dropped), (None, 0));
}

/// Checks that every message of the peer is still answered while broadcasts arrive as fast as the board can take them.
/// Answers are later than without broadcasts by the transfer of one broadcast at most.
#[test]
fn messages_are_answered_while_others_flood_the_network() {
    let mut network = Network::new();
    network.run_for(Duration::from_secs(1));
    let mut nanos = network.now.as_micros() * 1_000;
    for number in 0..2_500 {
        nanos += 200_000;
        network.pins.chip().arrive(nanos, frame([0xff; 6], 300, number));
    }
    network.run_for(Duration::from_millis(500));
    let (program, peer) = (&network.program, &network.peer);
    assert_eq!((program.connections.get(), program.wrong.get(), network.pins.chip().seen().dropped), (1, 0, 0));
    assert!(peer.messages - program.messages.get() <= 1, "{} of {}", program.messages.get(), peer.messages);
    let slowest =
        program.answered.borrow().iter().zip(&peer.answers).map(|(asked, arrived)| arrived.since(*asked)).max();
    assert!(slowest < Some(Duration::from_micros(450)), "{slowest:?}");
    assert_eq!(network.watch.counts().last, None);
}

/// Broadcasts arrive as fast as the wire can carry them: most are lost, also messages, and TCP times out. Afterwards
/// everything works as before.
#[test]
fn after_a_flood_that_nobody_could_take_the_program_goes_on() {
    let mut network = Network::new();
    network.run_for(Duration::from_secs(1));
    flood(&mut network, Duration::from_millis(500));
    network.run_for(Duration::from_secs(4));
    let messages = network.program.messages.get();
    network.run_for(Duration::from_secs(1));
    assert!(network.pins.chip().seen().dropped > 5_000);
    assert!((498..=502).contains(&(network.program.messages.get() - messages)), "{:?}", network.watch.counts());
    assert_eq!((network.program.wrong.get(), network.watch.counts().last), (0, None));
}

/// Delivers frames of 300 bytes without a gap for `span`.
fn flood(network: &mut Network, span: Duration) {
    let mut nanos = network.now.as_micros() * 1_000;
    let end = nanos + span.as_nanos() as u64;
    while nanos < end {
        nanos += wire(300);
        network.pins.chip().arrive(nanos, frame([0xff; 6], 300, 1));
    }
}

#[test]
fn after_a_cable_that_was_out_and_after_a_chip_that_forgot_the_program_goes_on() {
    let mut network = Network::new();
    network.run_for(Duration::from_secs(1));
    let at_rate = |network: &mut Network, what: &str| {
        let messages = network.program.messages.get();
        network.run_for(Duration::from_secs(1));
        let more = network.program.messages.get() - messages;
        assert!((498..=502).contains(&more), "{what}: {more} {:?}", network.watch.counts());
    };
    at_rate(&mut network, "first");
    network.pins.plug(false);
    network.run_for(Duration::from_millis(120));
    network.pins.plug(true);
    network.run_for(Duration::from_secs(3));
    at_rate(&mut network, "after the cable");
    network.pins.chip().brown_out();
    network.run_for(Duration::from_secs(3));
    at_rate(&mut network, "after the chip");
    let counts = network.watch.counts();
    assert_eq!((counts.link_lost, counts.resets, network.program.wrong.get()), (1, 2, 0), "{counts:?}");
}
