//! Requests that are authenticated by a key, over a network that loses, repeats and reorders datagrams.

use std::net::Ipv4Addr;

use outrigger_core::mode::{Epoch, Mode};
use outrigger_emulated::qemu::Folder;
use outrigger_emulated::wire::{Conditions, Loss};
use outrigger_remote::request::keyed::{Caller, Event, Key, Reply, Verdict};
use outrigger_remote::request::{ClientRequest, Message};
use outrigger_sim::controller::{Action, StartState};
use outrigger_wire::dashboard::Outcome;
use outrigger_wire::robot::RobotMode;
use outrigger_wire::time::Instant;

use super::*;

const PORT: u16 = 47_001;
const BOARD_AT: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
/// The time limit from a release, the request to end commanding, until commanding has ended.
const RELEASE_BOUND: Duration = Duration::from_millis(100);
/// The time for which a test presses the board's button for the release of the brakes.
const PRESS: Duration = Duration::from_millis(200);
pub(crate) const KEY: [u8; 32] = *b"a key that stands in a test only";

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("who_has_the_key_requests_and_releases_and_nobody_else_does", BOARD, |machine| {
            let text = std::fs::read_to_string(closed_loop::configuration(SLOW)).expect("the configuration");
            let firmware = with_a_port(machine, &text);
            let mut bench = Bench::start(&firmware, setup(SLOW)).expect("QEMU starts");
            heard(&mut bench, SimTime::ZERO, &["connected"]);
            // The grade of the link takes seconds to rise.
            bench.run_for(Duration::from_secs(4));
            let bad = Conditions {
                loss: Loss::Share(0.1),
                duplicate: 0.1,
                reorder: Some((0.1, Duration::from_millis(3))),
                ..Conditions::default()
            };

            // The board does not answer a client with another key.
            let mut stranger = Teller::new(&bench, [9; 32], 1);
            assert_eq!(stranger.event(&mut bench, Duration::from_millis(600)), None);

            // A request with another epoch than the current one is rejected.
            let mut teller = Teller::new(&bench, KEY, 2);
            let Some(Event::Open(epoch)) = teller.event(&mut bench, PATIENCE) else { panic!("no session") };
            let old = Epoch::from_number(epoch.number().wrapping_sub(1));
            assert_eq!(teller.ask(&mut bench, ClientRequest::Request(old)).1.verdict, Verdict::WrongEpoch);

            let asked = bench.now();
            let (_, reply) = teller.ask(&mut bench, ClientRequest::Request(epoch));
            assert_eq!((reply.verdict, reply.mode), (Verdict::Done, Mode::Arming));
            let request = teller.last.clone();
            heard(&mut bench, asked, &["armed"]);

            let released = bench.now();
            let (_, reply) = teller.ask(&mut bench, ClientRequest::Release);
            assert!(reply.verdict == Verdict::Done && reply.mode != Mode::Command, "{reply:?}");
            bench.run_for(Duration::from_secs(1));
            let (now, status) = teller.ask(&mut bench, ClientRequest::Status);
            assert!(now != epoch && status.mode == Mode::Monitor, "{now:?} {status:?}");

            // A recorded datagram has no effect when it is sent again, whole or in part.
            for bytes in [&request[..], &request[..83], &teller.last.clone()] {
                bench.send(BOARD_AT, PORT, bytes);
            }
            bench.run_for(Duration::from_secs(1));
            assert!(bench.record().said(released, &["armed"]).is_none(), "{}", bench.record().story(released));

            // A request that was delayed does not move the arm either, although its epoch is still the current one.
            teller.ask(&mut bench, ClientRequest::Status);
            let held = teller.held_back(&mut bench, ClientRequest::Request(now));
            bench.run_for(Duration::from_secs(3));
            bench.send(BOARD_AT, PORT, &held);
            let Some(Event::Answer(still, reply)) = teller.event(&mut bench, PATIENCE) else { panic!("no answer") };
            assert_eq!((still, reply.verdict, reply.mode), (now, Verdict::NotFresh, Mode::Monitor));
            assert!(bench.record().said(released, &["armed"]).is_none(), "{}", bench.record().story(released));

            // A client that gives up withdraws its request by a later message. That stops the arm only if this very
            // request armed it.
            let asked = bench.now();
            assert_eq!(teller.ask(&mut bench, ClientRequest::Request(now)).1.verdict, Verdict::Done);
            let what = teller.caller.counter();
            heard(&mut bench, asked, &["armed"]);
            teller.ask(&mut bench, ClientRequest::Withdraw { what: what - 1 });
            bench.run_for(Duration::from_millis(200));
            assert!(bench.record().said(asked, &["released"]).is_none(), "it was a status");
            let withdrawn = bench.now();
            assert_eq!(teller.ask(&mut bench, ClientRequest::Withdraw { what }).1.verdict, Verdict::Done);
            heard(&mut bench, withdrawn, &["released"]);

            // On a bad network each message is executed once. These are status messages, because the link to the
            // robot is now too bad for commanding.
            bench.up.set(bad);
            bench.down.set(bad);
            for _ in 0..10 {
                assert_eq!(teller.ask(&mut bench, ClientRequest::Status).1.verdict, Verdict::Done);
            }
            never_reset(&mut bench);
        }),
        timed("a_release_takes_effect_beside_a_thousand_clients_that_hang", BOARD, beside_clients_that_hang),
        timed("who_has_the_key_makes_the_robot_ready_and_nothing_moves_before_a_request", BOARD, makes_ready),
        timed("a_contact_releases_the_brakes_once_and_nothing_moves_before_a_request", BOARD, releases_brakes),
        timed("without_a_key_no_port_is_open_and_no_dashboard_is_called", BOARD, |machine| {
            let mut setup = setup(SLOW);
            setup.controller.state = StartState::Idle;
            let mut bench = connected(machine, setup);
            let (mut stranger, clients) = (Teller::new(&bench, KEY, 1), bench.controller().clients());
            assert_eq!(stranger.event(&mut bench, Duration::from_secs(1)), None);
            assert!(bench.record().datagrams.iter().all(|datagram| datagram.from.1 != PORT));
            assert_eq!((bench.controller().clients(), mode(&bench)), (clients, RobotMode::Idle));
            never_reset(&mut bench);
        }),
    ]
}

/// Checks that a release ends commanding in time while a thousand clients with the key have asked for sessions and then
/// stay silent.
fn beside_clients_that_hang(machine: Machine) {
    let text = std::fs::read_to_string(closed_loop::configuration(SLOW)).expect("the configuration");
    let firmware = with_a_port(machine, &text);
    let mut bench = Bench::start(&firmware, setup(SLOW)).expect("QEMU starts");
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    // The grade of the link takes seconds to rise.
    bench.run_for(Duration::from_secs(4));
    let mut teller = Teller::new(&bench, KEY, 2);
    let Some(Event::Open(epoch)) = teller.event(&mut bench, PATIENCE) else { panic!("no session") };
    let asked = bench.now();
    let (_, reply) = teller.ask(&mut bench, ClientRequest::Request(epoch));
    assert_eq!((reply.verdict, reply.mode), (Verdict::Done, Mode::Arming));
    heard(&mut bench, asked, &["armed"]);

    let welcomed =
        |bench: &Bench<'_>| bench.record().datagrams.iter().filter(|datagram| datagram.from.1 == PORT).count();
    let before = welcomed(&bench);
    for number in 0..1_000_u16 {
        let mut nonce = [3; 16];
        nonce[..2].copy_from_slice(&number.to_be_bytes());
        let mut client = Caller::new(Key::new(&KEY), nonce, now(&bench));
        bench.send(BOARD_AT, PORT, client.poll_output().expect("a hello"));
        if number % 10 == 9 {
            bench.run_for(Duration::from_millis(20));
        }
    }
    assert!(welcomed(&bench) - before >= 20, "{} have a session", welcomed(&bench) - before);
    undisturbed(&bench, SLOW, asked);
    let released = bench.now();
    let (_, reply) = teller.ask(&mut bench, ClientRequest::Release);
    assert!(reply.verdict == Verdict::Done && reply.mode != Mode::Command, "{reply:?}");
    let (stopped, _) = heard(&mut bench, released, &["released"]);
    let took = stopped.since(released);
    within("released", took, RELEASE_BOUND, bench.window(released, stopped), || bench.record().story(released));
    never_reset(&mut bench);
}

fn mode(bench: &Bench<'_>) -> RobotMode {
    bench.controller().robot().mode(bench.controller().now())
}

/// Waits until the simulated robot is in this mode.
fn becomes(bench: &mut Bench<'_>, wanted: RobotMode) {
    let came = bench.run_until(PATIENCE, |bench| mode(bench) == wanted);
    assert!(came, "{:?}, not {wanted:?}\n{}", mode(bench), bench.record().story(SimTime::ZERO));
}

/// Checks that a client with the key can power the arm on and release its brakes through the board, and that the board
/// commands only after a separate request.
fn makes_ready(machine: Machine) {
    let text = std::fs::read_to_string(closed_loop::configuration(SLOW)).expect("the configuration");
    let firmware = with_a_port(machine, &text);
    let mut setup = setup(SLOW);
    setup.controller.state = StartState::PowerOff;
    let mut bench = Bench::start(&firmware, setup).expect("QEMU starts");
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    let clients = bench.controller().clients();

    // A client with another key is not answered, and the dashboard server is not contacted.
    let mut stranger = Teller::new(&bench, [9; 32], 1);
    assert_eq!(stranger.event(&mut bench, Duration::from_millis(600)), None);
    assert_eq!((bench.controller().clients(), mode(&bench)), (clients, RobotMode::PowerOff));

    let mut teller = Teller::new(&bench, KEY, 2);
    let Some(Event::Open(epoch)) = teller.event(&mut bench, PATIENCE) else { panic!("no session") };
    let ask = |teller: &mut Teller, bench: &mut Bench<'_>, epoch, how| {
        teller.ask(bench, ClientRequest::Dashboard { epoch, how }).1
    };
    let old = Epoch::from_number(epoch.number().wrapping_sub(1));
    assert_eq!(ask(&mut teller, &mut bench, old, "power-on").verdict, Verdict::WrongEpoch);
    assert_eq!(ask(&mut teller, &mut bench, epoch, "play").verdict, Verdict::BadValue);
    assert_eq!(mode(&bench), RobotMode::PowerOff);

    for (how, wanted) in [("power-on", RobotMode::Idle), ("brake-release", RobotMode::Running)] {
        let reply = ask(&mut teller, &mut bench, epoch, how);
        assert_eq!((reply.verdict, reply.mode), (Verdict::Dashboard(Outcome::Taken), Mode::Monitor), "{how}");
        becomes(&mut bench, wanted);
        bench.run_for(Duration::from_millis(500));
        assert_eq!(bench.controller().clients(), clients, "its connection is closed");
    }
    // Enough time for every precondition to hold. Nothing is commanded without a request.
    bench.run_for(Duration::from_secs(4));
    let now = bench.now();
    assert!(bench.record().commands(SimTime::ZERO, now).is_empty(), "{}", bench.record().story(SimTime::ZERO));
    assert!(bench.record().motion(SimTime::ZERO, now).iter().all(|motion| motion.speed == 0.0));
    let (epoch, status) = teller.ask(&mut bench, ClientRequest::Status);
    assert_eq!((status.mode, status.latch), (Mode::Monitor, None), "{status:?}");

    // After a request the arm is commanded. Then nothing more is sent to the dashboard server.
    let asked = bench.now();
    let (_, reply) = teller.ask(&mut bench, ClientRequest::Request(epoch));
    assert_eq!((reply.verdict, reply.mode), (Verdict::Done, Mode::Arming), "{reply:?}");
    heard(&mut bench, asked, &["armed"]);
    let reply = ask(&mut teller, &mut bench, epoch, "brake-release");
    assert_eq!((reply.verdict, reply.mode), (Verdict::Dashboard(Outcome::Commanding), Mode::Command), "{reply:?}");
    assert_eq!(bench.controller().clients(), clients);
    assert_eq!(teller.ask(&mut bench, ClientRequest::Release).1.verdict, Verdict::Done);
    bench.run_for(Duration::from_secs(1));
    never_reset(&mut bench);
}

/// Checks the button at the board that releases the brakes. It needs no key, and works while the input that requests
/// commanding is held high.
fn releases_brakes(machine: Machine) {
    let text = std::fs::read_to_string(closed_loop::configuration(SLOW)).expect("the configuration");
    let folder = Folder::new().expect("a folder");
    let file = folder.file("board.toml");
    std::fs::write(&file, format!("{text}\nexpert.brake_release_pin = true\n")).expect("a file");
    let firmware = Firmware::build(machine, Some(&file), false).unwrap_or_else(|error| panic!("{error}"));
    let mut setup = setup(SLOW);
    setup.controller.state = StartState::PowerOff;
    let mut bench = Bench::start(&firmware, setup).expect("QEMU starts");
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    let clients = bench.controller().clients();

    // Without power the button has no effect, and the board logs the reason.
    let pressed = bench.now();
    bench.press_for_brakes(PRESS);
    heard(&mut bench, pressed, &["brake release refused: NoPower"]);
    assert_eq!((bench.controller().clients(), mode(&bench)), (clients, RobotMode::PowerOff));
    bench.controller_mut().act(Action::PowerOn);
    becomes(&mut bench, RobotMode::Idle);

    // The request line is raised, which is refused, and then held.
    let raised = bench.now();
    bench.request();
    heard(&mut bench, raised, &["refused"]);
    // The first press is too short. The second one lasts as long as releasing the brakes.
    bench.press_for_brakes(Duration::from_millis(5));
    bench.run_for(Duration::from_millis(500));
    assert_eq!(mode(&bench), RobotMode::Idle, "{}", bench.record().story(raised));
    let pressed = bench.now();
    bench.press_for_brakes(Duration::from_secs(2));
    heard(&mut bench, pressed, &["brake release: Taken"]);
    becomes(&mut bench, RobotMode::Running);
    bench.run_for(Duration::from_millis(500));
    assert_eq!(bench.controller().clients(), clients, "its connection is closed");

    // The brakes are released already, so another press has no effect.
    let again = bench.now();
    bench.press_for_brakes(PRESS);
    heard(&mut bench, again, &["brake release refused: Running"]);
    // Enough time for every precondition to hold, with the line still high. Nothing is commanded.
    bench.run_for(Duration::from_secs(4));
    let now = bench.now();
    assert!(bench.record().commands(SimTime::ZERO, now).is_empty(), "{}", bench.record().story(SimTime::ZERO));
    assert!(bench.record().motion(SimTime::ZERO, now).iter().all(|motion| motion.speed == 0.0));
    assert!(bench.record().said(SimTime::ZERO, &["arming", "armed"]).is_none());

    // Once the line is lowered and raised again, the arm is commanded. Then the button has no effect.
    let asked = armed(&mut bench).asked;
    let pressed = bench.now();
    bench.press_for_brakes(PRESS);
    heard(&mut bench, pressed, &["brake release refused: Commanding"]);
    assert!(bench.record().said(asked, &["released", "fallback"]).is_none(), "{}", bench.record().story(asked));
    let sent = bench.record().story(SimTime::ZERO).matches("brake release: ").count();
    assert_eq!((sent, bench.controller().clients()), (1, clients));
    never_reset(&mut bench);
}

/// Builds the firmware for the configuration `text`, with requests over the network in place of those by the robot's
/// digital inputs.
pub(crate) fn with_a_port(machine: Machine, text: &str) -> Firmware {
    let folder = Folder::new().expect("a folder");
    let text: String = text.split_inclusive('\n').filter(|line| !line.contains("_input = ")).collect();
    let file = folder.file("board.toml");
    std::fs::write(&file, format!("{text}\nexpert.requests = {PORT}\nexpert.key_file = \"key\"\n")).expect("a file");
    let digits: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    let key = folder.file("key");
    std::fs::write(&key, digits).expect("a file");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("its mode");
    Firmware::build(machine, Some(&file), false).unwrap_or_else(|error| panic!("{error}"))
}

/// A network client that sends authenticated requests to the board.
pub(crate) struct Teller {
    caller: Caller,
    /// The number of datagrams of the board that the client has processed, of all that the test has recorded.
    seen: usize,
    /// The newest datagram that the client has sent.
    last: Vec<u8>,
}

impl Teller {
    pub(crate) fn new(bench: &Bench<'_>, key: [u8; 32], nonce: u8) -> Self {
        let caller = Caller::new(Key::new(&key), [nonce; 16], now(bench));
        Self { caller, seen: bench.record().datagrams.len(), last: vec![] }
    }

    pub(crate) fn ask(&mut self, bench: &mut Bench<'_>, ask: ClientRequest<'_>) -> (Epoch, Reply) {
        // A message that causes motion needs the challenge of a recent answer.
        if ask.causes_motion() && !self.caller.is_fresh(now(bench)) {
            self.ask(bench, ClientRequest::Status);
        }
        let seen = ask.epoch().unwrap_or_default();
        self.caller
            .ask(now(bench), seen, Message { id: None, challenge: None, ask })
            .expect("short enough, in a session");
        match self.event(bench, PATIENCE) {
            Some(Event::Answer(epoch, reply)) => (epoch, reply),
            other => panic!("{ask:?}: {other:?}\n{}", bench.record().story(SimTime::ZERO)),
        }
    }

    /// Returns the datagram of a request without sending it.
    fn held_back(&mut self, bench: &mut Bench<'_>, ask: ClientRequest<'_>) -> Vec<u8> {
        let seen = ask.epoch().unwrap_or_default();
        self.caller.ask(now(bench), seen, Message { id: None, challenge: None, ask }).expect("short enough");
        self.caller.poll_output().expect("a request").to_vec()
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
