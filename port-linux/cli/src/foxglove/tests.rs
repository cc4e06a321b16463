//! Tests the server with clients that are bytes on a socket.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use outrigger::feed::{CAPACITY, Feed, Tap};
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_wire::realtime::Repr;
use outrigger_wire::robot::{Pose, RobotModel};
use outrigger_wire::time::Instant;

use super::*;

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n";
/// The time within which the server answers, on a machine with other work.
const SOON: Duration = Duration::from_secs(20);

/// A server for an e-Series arm whose states are put into its feed by hand.
struct Served {
    server: Option<Server>,
    feed: Option<Feed>,
    tap: Option<Tap>,
    address: SocketAddr,
    millis: u64,
}

impl Served {
    fn start() -> Self {
        let bound = bind(Some(SocketAddr::from(([127, 0, 0, 1], 0)))).expect("a free port");
        let (feed, address) = (Feed::new(CAPACITY), bound.address);
        let chain = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
        let arm = ArmGeometry::of_chain(move || Some(chain));
        let server = Server::start(bound, &named("test"), feed.reader(), arm, 0).expect("a thread");
        let mut tap = Tap::new(feed.clone());
        tap.opened(Instant::ZERO, 30_003);
        Self { server: Some(server), feed: Some(feed), tap: Some(tap), address, millis: 0 }
    }

    /// Puts states of the next 100 ms into the feed.
    fn states(&mut self) {
        for _ in 0..50 {
            self.millis += 2;
            let mut bytes = vec![0; 1220];
            let repr = Repr { time: 1.0, q_actual: [0.25; 6], robot_mode: 7.0, safety_mode: 1.0, ..Repr::default() };
            repr.emit(1220, &mut bytes).expect("room");
            let tap = self.tap.as_mut().expect("before the end");
            tap.received(Instant::from_micros(self.millis * 1_000), &bytes);
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a socket");
        stream
    }

    /// Connects a client that has sent its request.
    fn client(&self) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(REQUEST.as_bytes()).expect("it reads");
        stream
    }

    /// Puts states into the feed until the bytes that a client receives contain `text`.
    fn until(&mut self, stream: &mut TcpStream, text: &str) -> Vec<u8> {
        let (mut all, mut piece) = (vec![], vec![0; 65_536]);
        for _ in 0..SOON.as_millis() / 50 {
            self.states();
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => all.extend_from_slice(&piece[..count]),
                Err(_) => {}
            }
            if all.windows(text.len()).any(|part| part == text.as_bytes()) {
                return all;
            }
        }
        panic!("{text} does not arrive: {}", String::from_utf8_lossy(&all));
    }

    fn finish(mut self) -> Counts {
        drop((self.tap.take(), self.feed.take()));
        self.server.take().expect("once").finish()
    }
}

/// Returns a text message of a client: shorter than 126 bytes, masked with zeros.
fn message(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).expect("a short text"), 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    frame
}

/// Returns the number of the channel `topic` in the advertisements of a server.
fn channel(received: &[u8], topic: &str) -> u64 {
    let text = String::from_utf8_lossy(received);
    let (before, _) = text.split_once(&format!(",\"topic\":\"{topic}\"")).expect("it is advertised");
    let number = before.rsplit_once("\"id\":").expect("a number").1;
    number.parse().expect("a number")
}

#[test]
fn a_client_gets_what_it_has_subscribed_to_and_cannot_command() {
    let mut served = Served::start();
    let mut client = served.client();
    let received = served.until(&mut client, "\"topic\":\"/arm\"");
    let text = String::from_utf8_lossy(&received).into_owned();
    assert!(text.starts_with("HTTP/1.1 101 ") && text.contains("\"capabilities\":[]"), "{text}");
    assert!(!text.contains("/raw/"), "bytes of connections are not offered");
    let joints = channel(&received, "/joints");
    let ask = format!("{{\"op\":\"subscribe\",\"subscriptions\":[{{\"id\":7,\"channelId\":{joints}}}]}}");
    client.write_all(&message(&ask)).expect("it reads");
    served.until(&mut client, r#"{"name":"elbow_joint","position":0.25,"#);
    client.write_all(&message(r#"{"op":"advertise","channels":[]}"#)).expect("it reads");
    served.until(&mut client, "capability, such as clientPublish");
    let counts = served.finish();
    assert!(
        counts.text().starts_with(
            "foxglove: 1 clients, 0 refused, 0 disconnected for what they sent or did not read, 0 messages"
        ),
        "{}",
        counts.text()
    );
}

#[test]
fn garbage_a_crowd_and_a_client_that_never_reads_do_not_concern_another() {
    let mut served = Served::start();
    let mut good = served.client();
    served.until(&mut good, "\"topic\":\"/arm\"");
    served.connect().write_all(&[0xff; 10_000]).expect("the kernel takes it");
    let foreign = REQUEST.replace("Host: here", "Host: here\r\nOrigin: https://example.org");
    served.connect().write_all(foreign.as_bytes()).expect("the kernel takes it");
    let still = served.client();
    let crowd: Vec<TcpStream> = (0..100).map(|_| served.client()).collect();
    let closed = |mut stream: &TcpStream| {
        let mut piece = [0; 4096];
        (0..20).find_map(|_| match stream.read(&mut piece) {
            Ok(0) => Some(true),
            Ok(_) => Some(false),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Some(true),
            Err(_) => None,
        })
    };
    let refused = crowd.iter().filter(|stream| closed(stream) == Some(true)).count();
    assert!((68..=75).contains(&refused), "{refused} of 100 refused beside 2 others");
    let still_there = still.peek(&mut [0]).is_ok_and(|count| count == 1);
    assert!(still_there, "a client that reads nothing is connected for a while");
    good.write_all(&message("{\"op\":\"none\"}")).expect("it reads");
    served.until(&mut good, "message not accepted");
    drop((still, crowd));
    let counts = served.finish().json();
    assert!(counts.contains(&format!("\"refused\":{},", refused + 2)), "{counts}");
}

#[test]
fn a_client_that_sends_too_much_at_once_or_in_all_is_told_so_and_disconnected() {
    let mut served = Served::start();
    let (mut at_once, mut in_all) = (served.client(), served.client());
    for client in [&mut at_once, &mut in_all] {
        served.until(client, "\"topic\":\"/arm\"");
    }
    // A frame of 8193 bytes.
    at_once.write_all(&[0x81, 0xfe, 0x20, 0x01, 0, 0, 0, 0]).expect("it reads");
    served.until(&mut at_once, "a message of more than 8192 bytes");
    let frame: Vec<u8> = [0x8a, 0x80 | 100, 0, 0, 0, 0].into_iter().chain([0; 100]).collect();
    for _ in 0..(1 << 20) / frame.len() {
        in_all.write_all(&frame).expect("less than 1 MiB");
    }
    let _ = in_all.write_all(&frame);
    in_all.set_read_timeout(Some(SOON)).expect("a socket");
    while in_all.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
    let counts = served.finish();
    assert_eq!((counts.clients, counts.refused, counts.disconnected), (2, 0, 2));
}

/// Returns the counters after one client, which `behave` plays, was served with little patience.
fn after(patience: Patience, flood: bool, behave: impl FnOnce(TcpStream) + Send + 'static) -> Counts {
    let mut live = Live::default();
    let channel = outrigger::record::Sink::add_channel(&mut live, "/a", Some(("a", "{}"))).expect("room");
    let served = clients::Served { live: live.clone(), info: "{}".into(), patience, counts: Arc::default() };
    let counts = Arc::clone(&served.counts);
    let runtime = outrigger::host::runtime::one_threaded().expect("a runtime");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
        client.set_read_timeout(Some(SOON)).expect("a socket");
        let accepted = listener.accept().await.expect("a client").0;
        let client = std::thread::spawn(move || behave(client));
        let flooded = async {
            loop {
                let _ = outrigger::record::Sink::write(&mut live, channel, 0, &[b' '; 10_000]);
                tokio::time::sleep(Duration::from_millis(u64::from(!flood) * 50 + 1)).await;
            }
        };
        tokio::select! {
            () = clients::attend(accepted, served) => {}
            () = flooded => {}
        }
        client.join().expect("no panic");
    });
    *counts.lock().expect("no panic")
}

/// Reads the answer to a request, and asks for the messages of channel 0.
fn subscribed(client: &mut TcpStream) {
    client.write_all(REQUEST.as_bytes()).expect("it reads");
    let mut answer = [0; 12];
    client.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 101");
    let ask = r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":0}]}"#;
    client.write_all(&message(ask)).expect("it reads");
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_client_that_is_silent_vanishes_or_never_reads_leaves_its_place() {
    let [short, long] = [Duration::from_millis(100), Duration::from_secs(60)];
    let end = |mut client: TcpStream| while client.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {};
    let silent = after(Patience { request: short, asleep: long, ping: long }, false, end);
    assert_eq!((silent.clients, silent.refused, silent.disconnected), (0, 1, 0));
    let answers_no_ping = move |mut client: TcpStream| {
        subscribed(&mut client);
        end(client);
    };
    let vanished = after(Patience { request: long, asleep: long, ping: short }, false, answers_no_ping);
    assert_eq!((vanished.clients, vanished.refused, vanished.disconnected), (1, 0, 1));
    let never_reads = |mut client: TcpStream| {
        subscribed(&mut client);
        std::thread::sleep(Duration::from_secs(2));
    };
    let deaf = after(Patience { request: long, asleep: 5 * short, ping: long }, true, never_reads);
    assert_eq!((deaf.clients, deaf.refused, deaf.disconnected), (1, 0, 1));
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_client_that_answers_pings_stays() {
    let [short, long] = [Duration::from_millis(100), Duration::from_secs(60)];
    let answers = move |mut client: TcpStream| {
        subscribed(&mut client);
        for _ in 0..20 {
            client.write_all(&[0x8a, 0x80, 0, 0, 0, 0]).expect("it is connected");
            std::thread::sleep(short / 2);
        }
    };
    let stayed = after(Patience { request: long, asleep: long, ping: short }, false, answers);
    assert_eq!((stayed.clients, stayed.refused, stayed.disconnected), (1, 0, 0));
}

#[test]
fn an_address_in_use_is_named_and_so_is_who_can_reach_another() {
    let bound = bind(Some(SocketAddr::from(([127, 0, 0, 1], 0)))).expect("a free port");
    let again = bind(Some(bound.address)).err().expect("it is in use");
    let told = again.to_string();
    assert!(told.starts_with(&format!("--foxglove: cannot listen on {}: ", bound.address)), "{told}");
    let text = announced(&bound);
    assert!(text.contains("this machine only; read-only: nobody can command"), "{text}");
    let all = announced(&bind(Some(SocketAddr::from(([0, 0, 0, 0], 0)))).expect("a free port"));
    assert!(all.contains("ws://THIS-MACHINE:") && all.contains("without a password"), "{all}");
}
