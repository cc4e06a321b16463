//! Tests the relay with stand-ins for the robot's end of the line, over the kernel's sockets. No verdict depends on
//! a duration: every test waits for the bytes or the messages that it expects.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use outrigger_config::RobotAddress;
use outrigger_core::client::tool_line::{Parity, Setup, SetupOutcome, Shown, ToolCommunication, ToolVoltage};
use outrigger_wire::robot::SoftwareVersion;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::local::Local;
use super::relay::{Ended, connect, relay};
use super::{Forwarding, LocalEnd, forward, setup_report, tool_line_port};
use crate::exit::Failure;
use crate::host::runtime::one_threaded;
use crate::host::target::Target;

const LINE: ToolCommunication = ToolCommunication {
    baud_rate: 115_200,
    parity: Parity::Even,
    stop_bits: 1,
    rx_idle_chars: 1.5,
    tx_idle_chars: 3.5,
    voltage: Some(ToolVoltage::V24),
};

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// Creates a stand-in for the robot's end of the tool line. Returns both ends of its TCP connection: the robot's,
/// and this process's.
async fn robot() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(any()).await.expect("a port");
    let stream = connect(listener.local_addr().expect("an address")).await.expect("it listens");
    (listener.accept().await.expect("a connection").0, stream)
}

/// Opens a local TCP port for clients. Returns it with its address.
async fn port() -> (Local, SocketAddr) {
    let local = Local::make(&LocalEnd::Tcp(any())).await.expect("a port");
    let Local::Tcp { listener, .. } = &local else { panic!("a port") };
    let at = listener.local_addr().expect("an address");
    (local, at)
}

/// Runs the relay of the tool line until the test's future `story` has ended. Returns its result, and the messages that
/// the relay printed.
async fn beside<T>(stream: &TcpStream, local: &mut Local, story: impl Future<Output = T>) -> (T, Vec<String>) {
    let told = RefCell::new(vec![]);
    let mut tell = |text: &str| told.borrow_mut().push(text.to_owned());
    let out = tokio::select! {
        ended = relay(stream, local, &mut tell, std::future::pending) => panic!("{ended:?}"),
        out = story => out,
    };
    (out, told.into_inner())
}

/// Returns a million bytes of every value, more than the buffers between both ends can store.
fn many() -> Vec<u8> {
    (0..1_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn bytes_of_every_value_arrive_whole_both_ways_in_pieces_of_any_size() {
    one_threaded().expect("a runtime").block_on(async {
        for piece in [1_000_000, 5_000, 7] {
            let (robot, stream) = robot().await;
            let (mut local, at) = port().await;
            let bytes = if piece == 7 { many()[..7_000].to_vec() } else { many() };
            let story = async {
                let client = TcpStream::connect(at).await.expect("it listens");
                client.set_nodelay(true).expect("an option");
                robot.set_nodelay(true).expect("an option");
                let (mut client_in, mut client_out) = client.into_split();
                let (mut robot_in, mut robot_out) = robot.into_split();
                let (mut at_robot, mut at_client) = (vec![0; bytes.len()], vec![0; bytes.len()]);
                // The robot's end begins once the client is known to be there: what came before would be nobody's.
                client_out.write_all(&bytes[..1]).await.expect("open");
                robot_in.read_exact(&mut at_robot[..1]).await.expect("open");
                let write = async |out: &mut (dyn tokio::io::AsyncWrite + Unpin), bytes: &[u8]| {
                    for piece in bytes.chunks(piece) {
                        out.write_all(piece).await.expect("open");
                    }
                };
                tokio::join!(
                    write(&mut client_out, &bytes[1..]),
                    write(&mut robot_out, &bytes),
                    async { robot_in.read_exact(&mut at_robot[1..]).await.expect("open") },
                    async { client_in.read_exact(&mut at_client).await.expect("open") },
                );
                (at_robot, at_client)
            };
            let ((at_robot, at_client), _) = beside(&stream, &mut local, story).await;
            assert!(at_robot == bytes && at_client == bytes, "{piece}");
        }
    });
}

#[test]
fn a_second_client_is_refused_and_a_place_that_is_left_is_free_again() {
    one_threaded().expect("a runtime").block_on(async {
        let (mut robot, stream) = robot().await;
        let (mut local, at) = port().await;
        let story = async {
            let mut room = [0; 8];
            let mut first = TcpStream::connect(at).await.expect("it listens");
            first.write_all(b"one").await.expect("open");
            robot.read_exact(&mut room[..3]).await.expect("open");
            let mut second = TcpStream::connect(at).await.expect("it listens");
            assert_eq!(second.read(&mut room).await.unwrap_or(0), 0, "closed at once");
            robot.write_all(b"more").await.expect("open");
            first.read_exact(&mut room[..4]).await.expect("the first goes on");
            let who = [&first, &second].map(|client| client.local_addr().expect("an address"));
            drop(first);
            loop {
                // Until the relay has seen the end of the first, a third is refused as well.
                let mut third = TcpStream::connect(at).await.expect("it listens");
                if third.write_all(b"two").await.is_ok()
                    && tokio::select! {
                        _ = third.read_u8() => false,
                        read = robot.read_exact(&mut room[..3]) => read.is_ok(),
                    }
                {
                    break who;
                }
            }
        };
        let ([first, second], told) = beside(&stream, &mut local, story).await;
        assert_eq!(told[0], format!("Client {first} connected"));
        assert_eq!(
            told[1],
            format!("Refused {second}: another client is connected, and the line is for one at a time")
        );
        assert!(told.contains(&format!("Client {first} disconnected")), "{told:?}");
    });
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_client_that_was_switched_off_without_a_word_is_looked_for() {
    one_threaded().expect("a runtime").block_on(async {
        let (_robot, stream) = robot().await;
        let (mut local, at) = port().await;
        let mut tell = |_: &str| {};
        let _client = TcpStream::connect(at).await.expect("it listens");
        // Until the client is there.
        while !local.has_client() {
            tokio::select! {
                ended = relay(&stream, &mut local, &mut tell, std::future::pending) => panic!("{ended:?}"),
                () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
            }
        }
        let Local::Tcp { client: Some((client, _)), .. } = &local else { panic!("a client") };
        assert!(rustix::net::sockopt::socket_keepalive(client).expect("an option"));
    });
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_client_that_comes_before_the_robot_is_reached_is_closed() {
    one_threaded().expect("a runtime").block_on(async {
        // It takes connections, and says nothing.
        let silent = TcpListener::bind(any()).await.expect("a port");
        let base = silent.local_addr().expect("an address").port() - (Setup::PORT - outrigger_config::FIRST_PORT);
        let address: RobotAddress = format!("127.0.0.1:{base}").parse().expect("a robot");
        let free = TcpListener::bind(any()).await.and_then(|listener| listener.local_addr()).expect("a port");
        let forwarding = Forwarding {
            robot: Target::resolve(&address).expect("an address"),
            line: LINE,
            place: LocalEnd::Tcp(free),
            retry: outrigger_wire::time::Duration::from_secs(1),
        };
        let told = RefCell::new(vec![]);
        let mut tell = |text: &str| told.borrow_mut().push(text.to_owned());
        let story = async {
            while told.borrow().is_empty() {
                drop(TcpStream::connect(free).await);
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            ended = forward(&forwarding, &mut tell, std::future::pending) => panic!("{ended:?}"),
            () = story => {}
        }
        assert!(told.borrow()[0].ends_with(": there is no connection to the robot"), "{told:?}");
    });
}

#[test]
fn what_the_tool_sends_to_nobody_is_dropped_and_the_end_of_the_robot_is_told() {
    one_threaded().expect("a runtime").block_on(async {
        let (mut robot, stream) = robot().await;
        let (mut local, at) = port().await;
        robot.write_all(&many()).await.unwrap_or(());
        drop(robot);
        let mut tell = |_: &str| {};
        let ended = relay(&stream, &mut local, &mut tell, std::future::pending).await.expect("the local end is whole");
        assert!(matches!(ended, Ended::Lost(_)), "{ended:?}");
        let ended = relay(&stream, &mut local, &mut tell, async || "SIGINT").await.expect("the local end is whole");
        assert!(matches!(ended, Ended::Interrupted("SIGINT") | Ended::Lost(_)), "{ended:?}");
        // While there is no robot a client is closed at once.
        let story = async {
            let mut client = TcpStream::connect(at).await.expect("it listens");
            client.read(&mut [0; 8]).await.unwrap_or(0)
        };
        tokio::select! {
            failed = local.refuse_all(&mut tell) => panic!("{failed:?}"),
            read = story => assert_eq!(read, 0),
        }
    });
}

#[cfg(unix)]
#[test]
fn a_pseudo_terminal_carries_bytes_of_every_value_and_its_name_goes_with_it() {
    use crate::host::os::serial;

    let name = std::env::temp_dir().join(format!("outrigger-tool-line-{}", std::process::id()));
    one_threaded().expect("a runtime").block_on(async {
        let (mut robot, stream) = robot().await;
        let mut local = Local::make(&LocalEnd::Pty(name.clone())).await.expect("a pseudo-terminal");
        let taken = Local::make(&LocalEnd::Pty(name.clone())).await.expect_err("the name is taken");
        assert!(matches!(&taken, Failure::BadInput(text) if text.contains("choose another name")), "{taken}");
        // Bytes that a terminal would take for commands, twice around.
        let bytes: Vec<u8> = (0..512_u32).map(|at| at as u8).collect();
        for _ in 0..2 {
            let (name, sent) = (name.clone(), bytes.clone());
            let device = tokio::task::spawn_blocking(move || {
                let mut device = serial::open(&name, 115_200).expect("a device");
                for piece in sent.chunks(5) {
                    device.write_all(piece).expect("open");
                }
                let mut read = vec![0; sent.len()];
                device.read_exact(&mut read).expect("an echo");
                read
            });
            let story = async {
                let mut read = vec![0; bytes.len()];
                robot.read_exact(&mut read).await.expect("open");
                for piece in read.chunks(11) {
                    robot.write_all(piece).await.expect("open");
                }
                device.await.expect("it ends")
            };
            let (read, _) = beside(&stream, &mut local, story).await;
            assert_eq!(read, bytes);
        }
        drop(local);
        assert!(!name.is_symlink());
    });
}

#[cfg(unix)]
#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_reader_of_the_pseudo_terminal_gets_nothing_that_came_while_nobody_read() {
    use crate::host::os::serial;

    /// The number of bytes per write. At most this many bytes may still be in transit when the relay discards the
    /// rest.
    const PIECE: usize = 4096;
    let name = std::env::temp_dir().join(format!("outrigger-tool-line-unread-{}", std::process::id()));
    one_threaded().expect("a runtime").block_on(async {
        let (mut robot, stream) = robot().await;
        let mut local = Local::make(&LocalEnd::Pty(name.clone())).await.expect("a pseudo-terminal");
        let told = RefCell::new(0);
        let mut tell = |_: &str| *told.borrow_mut() += 1;
        let story = async {
            while *told.borrow() == 0 {
                robot.write_all(&[b'o'; PIECE]).await.expect("open");
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            let mut device = serial::open(&name, 115_200).expect("a device");
            robot.write_all(b"new").await.expect("open");
            let reading = tokio::task::spawn_blocking(move || {
                let (mut read, mut room) = (vec![], [0; PIECE]);
                while !read.ends_with(b"new") && read.len() < 2 * PIECE {
                    let count = device.read(&mut room).expect("open");
                    read.extend_from_slice(&room[..count]);
                }
                read
            });
            reading.await.expect("it ends")
        };
        let read = tokio::select! {
            ended = relay(&stream, &mut local, &mut tell, std::future::pending) => panic!("{ended:?}"),
            read = story => read,
        };
        assert!(read.ends_with(b"new"), "{} bytes of old ones", read.len());
    });
}

#[test]
fn a_local_end_that_cannot_be_made_and_a_robot_without_the_urcap_are_told_with_what_to_do() {
    one_threaded().expect("a runtime").block_on(async {
        let (_local, at) = port().await;
        let taken = Local::make(&LocalEnd::Tcp(at)).await.expect_err("the port is taken").to_string();
        assert!(taken.starts_with(&format!("cannot listen on {at}: ")) && taken.contains("another program"), "{taken}");
        let free = TcpListener::bind(any()).await.and_then(|listener| listener.local_addr()).expect("a port");
        let refused = connect(free).await.expect_err("nobody listens");
        assert!(
            matches!(&refused, Failure::Connection(text) if text.contains("Tool Communication Forwarder")),
            "{refused}"
        );
    });
}

#[test]
fn with_a_port_base_the_line_is_found_beside_the_other_ports() {
    let port = |text: &str| tool_line_port(&text.parse::<RobotAddress>().expect("a robot"));
    assert_eq!((port("10.0.0.2"), port("10.0.0.2:40000"), port("10.0.0.2:60000")), (54_321, 40_017, 60_017));
}

#[test]
fn every_end_of_a_set_up_is_told_with_what_was_expected_and_what_the_robot_shows() {
    let at = SocketAddr::from(([10, 0, 0, 2], 30_001));
    let tell = |outcome| setup_report::outcome(&outcome, &LINE, at, Some("busy".into()));
    let settings = "115200 baud, even parity, 1 stop bit, idle characters 1.5 (rx) and 3.5 (tx), tool voltage 24 V";
    assert_eq!(tell(SetupOutcome::Set).expect("done"), format!("Tool line set: {settings}"));
    assert!(tell(SetupOutcome::AlreadySet).expect("done").contains("nothing was sent"));
    let failed = |outcome| tell(outcome).expect_err("it failed");
    let cb3 = failed(SetupOutcome::NoSuchLine(Some(SoftwareVersion::new(3, 15)))).to_string();
    assert!(cb3.contains("software 3.15.0: such an arm has no serial line"), "{cb3}");
    let shown = Shown {
        enabled: false,
        baud_rate: 9_600,
        parity: 7,
        stop_bits: 2,
        rx_idle_chars: 1.0,
        tx_idle_chars: 0.0,
        voltage: Some(12),
    };
    let seen = "the robot shows the line off, 9600 baud, parity 7, 2 stop bits, idle characters 1 (rx) and 0 (tx), tool voltage 12 V";
    for (outcome, hint) in
        [(SetupOutcome::LocalControl(shown), "remote control"), (SetupOutcome::NotTaken(shown), "its message: busy")]
    {
        let text = failed(outcome).to_string();
        assert!(text.contains(settings) && text.contains(seen) && text.contains(hint), "{text}");
    }
    for outcome in [
        SetupOutcome::NoSuchLine(None),
        SetupOutcome::NoState,
        SetupOutcome::Refused,
        SetupOutcome::NoConnection,
        SetupOutcome::NoGreeting,
        SetupOutcome::Closed { sent: true },
        SetupOutcome::Closed { sent: false },
    ] {
        assert_eq!(failed(outcome).code(), 3, "{outcome:?}");
    }
}
