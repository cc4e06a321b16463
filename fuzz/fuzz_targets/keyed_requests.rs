//! Sends any datagrams, among them valid ones in any order and with any damage, to a service that accepts requests
//! authenticated by a key. Checks that each accepted request was sent by a holder of the key and is accepted once, that
//! an answer is not longer than the datagram it answers, and that requests that cause motion are fresh.
#![no_main]

use std::collections::{HashMap, HashSet};

use libfuzzer_sys::fuzz_target;
use outrigger_core::mode::Epoch;
use outrigger_remote::request::keyed::{Caller, Event, Key, Reply, Service};
use outrigger_remote::request::{ClientRequest, FRESH_FOR, Message};
use outrigger_wire::time::Instant;

const ASKS: [ClientRequest<'_>; 7] = [
    ClientRequest::Release,
    ClientRequest::Status,
    ClientRequest::Request(Epoch::from_number(1)),
    ClientRequest::Set { epoch: Epoch::from_number(1), output: "digital-out.3=on" },
    ClientRequest::HandBack(Epoch::from_number(1)),
    ClientRequest::Resend(Epoch::from_number(1)),
    ClientRequest::Withdraw { what: 1 },
];

struct World {
    service: Service<u8>,
    callers: Vec<Caller>,
    now: u64,
    epoch: u32,
    /// All datagrams that were sent by holders of the key.
    sent: Vec<Vec<u8>>,
    requests: HashSet<Vec<u8>>,
    done: HashSet<Vec<u8>>,
    /// The time of issue of each challenge of each session, until it is used.
    issued: HashMap<(Vec<u8>, Vec<u8>), Instant>,
}

impl World {
    fn arrive(&mut self, bytes: &[u8], from: u8) {
        let (now, epoch) = (Instant::from_micros(self.now), Epoch::from_number(self.epoch));
        let window = self.service.receive_window();
        let length = bytes.len().min(window.len());
        window[..length].copy_from_slice(&bytes[..length]);
        let dropped = self.service.counts().sum();
        self.service.commit(now, length, from, epoch);
        let mut asked = false;
        if let Some(request) = self.service.poll_request(epoch) {
            assert!(self.requests.contains(bytes), "somebody with the key asked for it");
            assert!(self.done.insert(bytes.to_vec()), "it is done once");
            if let Ok(ask) = request.ask {
                assert!(ask.epoch().is_none_or(|seen| seen == epoch));
                if ask.causes_motion() {
                    let challenge = (bytes[8..16].to_vec(), bytes[24..28].to_vec());
                    let issued = self.issued.remove(&challenge).expect("issued in this session, and not used");
                    assert!(now.since(issued) <= FRESH_FOR);
                }
            }
            asked = true;
            let ticket = request.ticket;
            self.service.answer(now, ticket, epoch, &Reply::default());
        }
        assert_eq!(self.service.poll_request(epoch), None);
        let counted = self.service.counts().sum() - dropped;
        if let Some((to, answer)) = self.service.poll_output() {
            assert!(to == from && answer.len() <= bytes.len(), "nothing is amplified");
            assert_eq!(counted, 0);
            if asked {
                self.issued.insert((answer[8..16].to_vec(), answer[24..28].to_vec()), now);
            }
            self.sent.push(answer.to_vec());
        } else {
            assert!(!asked && counted == 1, "what is not answered is counted");
        }
        for caller in &mut self.callers {
            let window = caller.receive_window();
            let length = bytes.len().min(window.len());
            window[..length].copy_from_slice(&bytes[..length]);
            caller.commit(now, length);
            match caller.poll_event() {
                Some(Event::Answer(_, reply)) => assert_eq!(reply, Reply::default()),
                Some(Event::NotUnderstood) => panic!("the same version"),
                Some(Event::Open(_)) | None => {}
            }
        }
    }
}

// Each step is a byte that selects an action, and the bytes that the action needs.
fuzz_target!(|bytes: &[u8]| {
    let mut world = World {
        service: Service::new(Key::new(&[7; 32]), [1; 32]),
        callers: vec![],
        now: 0,
        epoch: 1,
        sent: vec![],
        requests: HashSet::new(),
        done: HashSet::new(),
        issued: HashMap::new(),
    };
    let mut rest = bytes;
    while let [step, argument, behind @ ..] = rest {
        rest = behind;
        let argument = usize::from(*argument);
        let who = argument % world.callers.len().max(1);
        let now = Instant::from_micros(world.now);
        match step % 6 {
            0 if world.callers.len() < 8 => {
                let mut caller = Caller::new(Key::new(&[7; 32]), [world.callers.len() as u8; 16], now);
                world.sent.extend(caller.poll_output().map(<[u8]>::to_vec));
                world.callers.push(caller);
            }
            1 => {
                let Some(caller) = world.callers.get_mut(who) else { continue };
                let ask = ASKS[argument / 8 % ASKS.len()];
                if caller.ask(now, Epoch::from_number(1), Message { id: None, challenge: None, ask }).is_ok() {
                    let request = caller.poll_output().expect("a request").to_vec();
                    world.requests.insert(request.clone());
                    world.sent.push(request);
                }
            }
            // A datagram that was sent arrives. They count from the newest, so that a small argument is sufficient.
            2 => {
                let Some(at) = world.sent.len().checked_sub(argument / 2 + 1) else { continue };
                let datagram = world.sent[at].clone();
                world.arrive(&datagram, argument as u8 & 1);
            }
            // A datagram that was damaged on its way.
            3 => {
                let ([at, bits, behind @ ..], Some(mut datagram)) = (rest, world.sent.last().cloned()) else {
                    continue;
                };
                rest = behind;
                let place = usize::from(*at) % datagram.len();
                datagram[place] ^= bits;
                world.arrive(&datagram, argument as u8 & 1);
            }
            // Arbitrary bytes.
            4 => {
                let (datagram, behind) = rest.split_at(rest.len().min(argument * 4));
                rest = behind;
                world.arrive(datagram, 0);
            }
            _ => {
                world.now += argument as u64 * 10_000;
                world.epoch += u32::from(argument == 0);
            }
        }
    }
});
