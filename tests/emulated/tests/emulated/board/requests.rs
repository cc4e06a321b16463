//! Requests with a key, over a network that loses, doubles and reorders datagrams.

use std::net::Ipv4Addr;

use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::request::keyed::{Caller, Event, Key, Reply, Verdict};
use outrigger_core::request::{Ask, Message};
use outrigger_core::time::Instant;
use outrigger_emulated::qemu::Folder;
use outrigger_emulated::wire::{Conditions, Loss};

use super::*;

const PORT: u16 = 47_001;
const BOARD_AT: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
pub(crate) const KEY: [u8; 32] = *b"a key that stands in a test only";

pub(crate) fn tests() -> Vec<Timed> {
    vec![timed("who_has_the_key_requests_and_releases_and_nobody_else_does", BOARD, |machine| {
        let text = std::fs::read_to_string(closed_loop::configuration(SLOW)).expect("the configuration");
        let firmware = with_a_port(machine, &text);
        let mut bench = Bench::start(&firmware, setup(SLOW)).expect("QEMU starts");
        heard(&mut bench, SimTime::ZERO, &["connected"]);
        // The link's grade rises in seconds.
        bench.run_for(Duration::from_secs(4));
        let bad = Conditions {
            loss: Loss::Share(0.1),
            duplicate: 0.1,
            reorder: Some((0.1, Duration::from_millis(3))),
            ..Conditions::default()
        };

        // Another key is not answered.
        let mut stranger = Teller::new(&bench, [9; 32], 1);
        assert_eq!(stranger.event(&mut bench, Duration::from_millis(600)), None);

        // Nor is what acts done with another epoch than the present.
        let mut teller = Teller::new(&bench, KEY, 2);
        let Some(Event::Open(epoch)) = teller.event(&mut bench, PATIENCE) else { panic!("no session") };
        let old = Epoch::from_number(epoch.number().wrapping_sub(1));
        assert_eq!(teller.ask(&mut bench, Ask::Request(old)).1.verdict, Verdict::WrongEpoch);

        let asked = bench.now();
        let (_, reply) = teller.ask(&mut bench, Ask::Request(epoch));
        assert_eq!((reply.verdict, reply.mode), (Verdict::Done, Mode::Arming));
        let request = teller.last.clone();
        heard(&mut bench, asked, &["armed"]);

        let released = bench.now();
        let (_, reply) = teller.ask(&mut bench, Ask::Release);
        assert!(reply.verdict == Verdict::Done && reply.mode != Mode::Command, "{reply:?}");
        bench.run_for(Duration::from_secs(1));
        let (now, status) = teller.ask(&mut bench, Ask::Status);
        assert!(now != epoch && status.mode == Mode::Monitor, "{now:?} {status:?}");

        // What was recorded is of no use, nor is it in pieces.
        for bytes in [&request[..], &request[..79], &teller.last.clone()] {
            bench.send(BOARD_AT, PORT, bytes);
        }
        bench.run_for(Duration::from_secs(1));
        assert!(bench.record().said(released, &["armed"]).is_none(), "{}", bench.record().story(released));

        // On a bad network what is asked once is done once. The robot's own link would not be commanded over.
        bench.up.set(bad);
        bench.down.set(bad);
        for _ in 0..10 {
            assert_eq!(teller.ask(&mut bench, Ask::Status).1.verdict, Verdict::Done);
        }
        never_reset(&mut bench);
    })]
}

/// The firmware of the configuration `text`, asked over the network in place of the robot's inputs.
pub(crate) fn with_a_port(machine: Machine, text: &str) -> Firmware {
    let folder = Folder::new().expect("a folder");
    let text: String = text.split_inclusive('\n').filter(|line| !line.contains("_input = ")).collect();
    let file = folder.file("board.toml");
    std::fs::write(&file, format!("{text}\nrequests = {PORT}\nkey_file = \"key\"\n")).expect("a file");
    let digits: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    let key = folder.file("key");
    std::fs::write(&key, digits).expect("a file");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("its mode");
    Firmware::build(machine, Some(&file), false).unwrap_or_else(|error| panic!("{error}"))
}

/// Who asks.
pub(crate) struct Teller {
    caller: Caller,
    /// How many datagrams of the record were looked at.
    seen: usize,
    /// What was sent last.
    last: Vec<u8>,
}

impl Teller {
    pub(crate) fn new(bench: &Bench<'_>, key: [u8; 32], nonce: u8) -> Self {
        let caller = Caller::new(Key::new(&key), [nonce; 16], now(bench));
        Self { caller, seen: bench.record().datagrams.len(), last: vec![] }
    }

    pub(crate) fn ask(&mut self, bench: &mut Bench<'_>, ask: Ask<'_>) -> (Epoch, Reply) {
        let seen = ask.epoch().unwrap_or_default();
        self.caller.ask(now(bench), seen, Message { id: None, ask }).expect("short enough, in a session");
        match self.event(bench, PATIENCE) {
            Some(Event::Answer(epoch, reply)) => (epoch, reply),
            other => panic!("{ask:?}: {other:?}\n{}", bench.record().story(SimTime::ZERO)),
        }
    }

    pub(crate) fn event(&mut self, bench: &mut Bench<'_>, within: Duration) -> Option<Event> {
        let mut event = None;
        bench.run_until(within, |bench| {
            self.caller.handle(now(bench));
            if let Some(bytes) = self.caller.poll_output() {
                self.last = bytes.to_vec();
                bench.send(BOARD_AT, PORT, bytes);
            }
            for datagram in &bench.record().datagrams[self.seen..] {
                if datagram.from.1 == PORT {
                    self.caller.receive_window()[..datagram.bytes.len()].copy_from_slice(&datagram.bytes);
                    self.caller.commit(now(bench), datagram.bytes.len());
                }
            }
            self.seen = bench.record().datagrams.len();
            event = self.caller.poll_event();
            event.is_some()
        });
        event
    }
}

fn now(bench: &Bench<'_>) -> Instant {
    Instant::from_micros(bench.now().as_micros())
}
