//! Tests of the peer opposite a host of its own kind, over a wire, in virtual time.

use outrigger_sim::controller::Options;
use outrigger_sim::port::Port;
use smoltcp::socket::tcp;

use super::*;
use crate::wire::{Conditions, Loss, Wire};

const HOST: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);

/// The network of a test: a host with sockets, the wires in both directions, and the peer.
struct Net {
    now: SimTime,
    peer: Peer,
    up: Wire,
    down: Wire,
    interface: Interface,
    frames: Frames,
    sockets: SocketSet<'static>,
    next_port: u16,
}

impl Net {
    fn new(conditions: Conditions) -> Self {
        let mut frames = Frames::default();
        let config = Config::new(EthernetAddress([2, 0, 0, 0, 0, 15]).into());
        let mut interface = Interface::new(config, &mut frames, Instant::ZERO);
        interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(HOST.into(), 24)).unwrap());
        Self {
            now: SimTime::ZERO,
            peer: Peer::new(
                Controller::new(Options::default()).unwrap(),
                PeerOptions { keep_passages: true, ..PeerOptions::default() },
            ),
            up: Wire::under(1, conditions),
            down: Wire::under(2, conditions),
            interface,
            frames,
            sockets: SocketSet::new(vec![]),
            next_port: 50_000,
        }
    }

    fn connect(&mut self, port: Port) -> SocketHandle {
        let buffer = || tcp::SocketBuffer::new(vec![0; 8192]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        self.next_port += 1;
        let peer = (Ipv4Address::new(10, 0, 2, 2), port.number());
        socket.connect(self.interface.context(), peer, self.next_port).unwrap();
        self.sockets.add(socket)
    }

    fn socket(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(handle)
    }

    fn read(&mut self, handle: SocketHandle) -> Vec<u8> {
        let mut all = vec![];
        let socket = self.socket(handle);
        while let Ok(count) = socket.recv(|bytes| {
            all.extend_from_slice(bytes);
            (bytes.len(), bytes.len())
        }) {
            if count == 0 {
                break;
            }
        }
        all
    }

    /// Runs the host, the wires and the peer from event to event until `end`.
    fn run_until(&mut self, end: SimTime) {
        let mut idle = 0;
        while self.now < end {
            self.interface.poll(instant(self.now), &mut self.frames, &mut self.sockets);
            while let Some(frame) = self.frames.outgoing.pop_front() {
                self.up.send(self.now, &frame);
            }
            while let Some(frame) = self.up.receive(self.now) {
                self.peer.receive(self.now, &frame);
            }
            self.peer.advance(self.now);
            while let Some(frame) = self.peer.transmit() {
                self.down.send(self.now, &frame);
            }
            while let Some(frame) = self.down.receive(self.now) {
                self.frames.incoming.push_back(frame);
            }
            self.interface.poll(instant(self.now), &mut self.frames, &mut self.sockets);
            if !self.frames.outgoing.is_empty() {
                continue;
            }
            let wires = self.up.next_event().min(self.down.next_event());
            let stack = self.interface.poll_at(instant(self.now), &self.sockets);
            let stack = stack.map_or(SimTime::MAX, |at| SimTime::from_micros(at.total_micros() as u64));
            let next = self.peer.next_event().min(wires).min(stack).min(end);
            idle = if next <= self.now { idle + 1 } else { 0 };
            assert!(idle < 10, "the peer wants to be called without end at {}", self.now);
            self.now = self.now.max(next);
        }
    }

    fn run_for(&mut self, millis: u64) {
        self.run_until(self.now + Duration::from_millis(millis));
    }
}

/// Returns the controller times of whole packets of port 30003.
fn times(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(1220).map(|packet| f64::from_be_bytes(packet[4..12].try_into().unwrap())).collect()
}

#[test]
fn a_client_reads_every_state_and_its_text_moves_the_arm() {
    let mut net = Net::new(Conditions { delay: Duration::from_micros(100), ..Conditions::default() });
    let client = net.connect(Port::Realtime);
    net.run_for(10);
    net.socket(client).send_slice(b"speedj([0.1,0,0,0,0,0],1.0,0.5)\n").unwrap();
    let mut bytes = vec![];
    for _ in 0..300 {
        net.run_for(1);
        bytes.extend(net.read(client));
    }
    let times = times(&bytes);
    assert!(times.len() > 145, "{} packets in 300 ms", times.len());
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0] - 0.002).abs() < 1e-9), "{times:?}");
    assert!(net.peer.controller().truth().qd[0] > 0.09);
}

#[test]
fn several_clients_of_one_port_and_of_others_are_served_side_by_side() {
    let mut net = Net::new(Conditions::default());
    let realtime: Vec<_> = (0..3).map(|_| net.connect(Port::Realtime)).collect();
    let primary = net.connect(Port::Primary);
    let dashboard = net.connect(Port::Dashboard);
    net.run_for(11);
    assert_eq!(net.read(dashboard), b"Connected: Universal Robots Dashboard Server\n");
    assert!(!net.read(primary).is_empty());
    let states: Vec<usize> = realtime.iter().map(|client| times(&net.read(*client)).len()).collect();
    assert_eq!(states, [5; 3]);
}

#[test]
fn a_port_refuses_more_clients_than_it_may_have_and_takes_a_new_one_when_one_leaves() {
    let mut net = Net::new(Conditions::default());
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let client = net.connect(Port::Realtime);
            net.run_for(1);
            client
        })
        .collect();
    let late = net.connect(Port::Realtime);
    net.run_for(5);
    assert_eq!(net.socket(late).state(), tcp::State::Closed);
    net.socket(clients[0]).abort();
    net.run_for(5);
    let again = net.connect(Port::Realtime);
    net.run_for(5);
    assert_eq!(net.socket(again).state(), tcp::State::Established);
}

#[test]
fn a_controller_that_restarts_closes_and_refuses_until_it_is_back() {
    let mut net = Net::new(Conditions::default());
    let client = net.connect(Port::Realtime);
    net.run_for(20);
    net.peer.restart(Duration::from_millis(500));
    net.read(client);
    net.run_for(20);
    assert_eq!(net.socket(client).state(), tcp::State::CloseWait);
    let refused = net.connect(Port::Realtime);
    net.run_for(20);
    assert_eq!(net.socket(refused).state(), tcp::State::Closed);
    net.run_for(500);
    let back = net.connect(Port::Realtime);
    net.run_for(20);
    let times = times(&net.read(back));
    assert!(times[0] < 1.0, "the clock began again: {times:?}");
}

#[test]
fn a_client_that_closes_after_its_text_is_still_obeyed() {
    let mut net = Net::new(Conditions::default());
    let client = net.connect(Port::Secondary);
    net.run_for(10);
    net.socket(client).send_slice(b"speedj([0.1,0,0,0,0,0],1.0,0.5)\n").unwrap();
    net.socket(client).close();
    net.run_for(300);
    assert!(net.peer.controller().truth().qd[0] > 0.09);
}

#[test]
fn everything_arrives_in_order_over_a_wire_that_loses_doubles_and_reorders() {
    let bad = Conditions {
        delay: Duration::from_micros(200),
        jitter: Duration::from_millis(1),
        loss: Loss::Share(0.02),
        duplicate: 0.05,
        reorder: Some((0.05, Duration::from_millis(3))),
        corrupt: 0.01,
    };
    let mut net = Net::new(bad);
    let client = net.connect(Port::Realtime);
    let mut bytes = vec![];
    for _ in 0..10_000 {
        net.run_for(1);
        bytes.extend(net.read(client));
    }
    let times = times(&bytes);
    assert!(times.len() > 500, "{} packets in 10 s", times.len());
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0] - 0.002).abs() < 1e-9));
    let counts = net.down.counts();
    assert!(counts.lost > 9 && counts.duplicated > 9 && counts.reordered > 9 && counts.corrupted > 4, "{counts:?}");
}

#[test]
fn datagrams_to_the_telemetry_port_are_collected_with_their_sender() {
    let mut net = Net::new(Conditions::default());
    let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 4], vec![0; 2048]);
    let mut socket = udp::Socket::new(buffer(), buffer());
    socket.bind(47_001).unwrap();
    let to = smoltcp::wire::IpEndpoint::new(Ipv4Address::new(10, 0, 2, 2).into(), 47_000);
    socket.send_slice(b"one", to).unwrap();
    socket.send_slice(b"two", to).unwrap();
    net.sockets.add(socket);
    net.run_for(10);
    let datagrams = net.peer.take_datagrams();
    assert!(datagrams.iter().map(|d| d.bytes.as_slice()).eq([&b"one"[..], b"two"]), "{datagrams:?}");
    assert!(datagrams.iter().all(|d| d.from == (HOST, 47_001)));
    assert!(net.peer.take_datagrams().is_empty());
}

#[test]
fn passages_tell_every_state_and_every_line_in_order() {
    let mut net = Net::new(Conditions { delay: Duration::from_micros(300), ..Conditions::default() });
    let client = net.connect(Port::Realtime);
    net.run_for(11);
    let mut bytes = net.read(client);
    let cut = outrigger_sim::fault::Fault::new(outrigger_sim::fault::FaultKind::Split(7), net.now, None);
    net.peer.controller_mut().inject(cut);
    net.socket(client).send_slice(b"speedj([0,0,0,0,0,0],1,0.1)\nsto").unwrap();
    net.run_for(1);
    net.socket(client).send_slice(b"pj(2)\n").unwrap();
    net.run_for(9);
    bytes.extend(net.read(client));
    net.socket(client).abort();
    net.run_for(5);
    let passages = net.peer.take_passages();
    let (first, last) = (passages.first().unwrap(), passages.last().unwrap());
    assert_eq!((&first.what, &last.what), (&Passing::Opened, &Passing::Closed));
    // The answer to a state whose acknowledgement came with it: 300 µs in each direction.
    let Some(knows) = passages.iter().find_map(|p| if let Passing::Line { knows, .. } = p.what { knows } else { None })
    else {
        panic!("no line, or no state known to it")
    };
    let line = passages.iter().find(|p| matches!(p.what, Passing::Line { .. })).unwrap();
    let states_sent = passages.iter().filter(|p| matches!(p.what, Passing::State(_)) && p.at <= line.at);
    assert_eq!(states_sent.map(|p| p.at).next_back(), Some(knows), "11 ms: the state of 10 ms had been received");
    let lines: Vec<&str> = passages
        .iter()
        .filter_map(|p| if let Passing::Line { text, .. } = &p.what { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(lines, ["speedj([0,0,0,0,0,0],1,0.1)", "stopj(2)"]);
    let states: Vec<f64> =
        passages.iter().filter_map(|p| if let Passing::State(time) = p.what { Some(time) } else { None }).collect();
    let read = times(&bytes);
    assert_eq!(states[..read.len()], read[..]);
    assert!(read.len() >= 9 && states.len() - read.len() <= 2, "{} of {}", read.len(), states.len());
}

#[test]
fn a_program_calls_a_server_over_the_wire_and_one_that_nobody_answers_is_given_up() {
    let mut net = Net::new(Conditions { delay: Duration::from_millis(3), ..Conditions::default() });
    let buffer = || tcp::SocketBuffer::new(vec![0; 8192]);
    let mut listening = tcp::Socket::new(buffer(), buffer());
    listening.listen(50_001).unwrap();
    let server = net.sockets.add(listening);
    let text = net.connect(Port::Secondary);
    net.run_for(50);
    let program = "def main():\n a = socket_open(\"10.0.2.15\", 50001)\n b = socket_open(\"10.0.2.15\", 50009, \"b\")\n c = \
                   socket_open(\"10.0.2.99\", 50001, \"c\")\n socket_send_line(str_cat(a, str_cat(b, c)))\n while True:\n  n = \
                   socket_read_binary_integer(1, \"socket_0\", 0)\n  if n[0] == 0:\n   break\n  end\n  socket_send_int(n[1] + 1)\n \
                   end\n write_output_integer_register(0, 7)\n sleep(100)\nend\n";
    net.socket(text).send_slice(program.as_bytes()).unwrap();
    net.run_for(2500);
    assert_eq!(net.read(server), b"TrueFalseFalse\n", "one answers, one refuses, one is not there");
    net.socket(server).send_slice(&[0, 0, 0, 41, 0, 0]).unwrap();
    net.run_for(50);
    net.socket(server).send_slice(&[1, 0]).unwrap();
    net.run_for(50);
    assert_eq!(net.read(server), [0, 0, 0, 42, 0, 0, 1, 1]);
    net.socket(server).close();
    net.run_for(100);
    assert_eq!(net.peer.controller().registers().1.ints[0], 7, "the program sees the end");
}
