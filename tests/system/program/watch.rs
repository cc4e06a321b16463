//! The command `watch` opposite a board: the telemetry of a real engine in virtual time, sent over the loopback
//! interface.

use crate::port;
use outrigger_core::engine::krc::Krc;
use outrigger_core::engine::ur::{LINKS, Ur};
use outrigger_core::engine::{Input, LinkId, Output as EngineOutput};
use std::io::{BufRead as _, BufReader};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use outrigger::config::{AnyConfiguration, RunsOn};
use outrigger_core::engine::krc::KrcEngine;
use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference};
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_remote::telemetry::{
    Chunk, DATAGRAM_MAX, Device, Message, Pace, PeerDatagram, PortReport, Recording, Sampler,
};
use outrigger_tests::scripted::Peer;
use outrigger_wire::fri::{self, MEASUREMENT_LEN, MeasurementRepr};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{Duration, Instant};

/// The size of the simulated board's receive windows \[bytes\]; [`RECORDER`] is that of its recorder. Both are as small
/// as on a real board.
const WINDOW: usize = 2_048;
const RECORDER: usize = 48 << 10;

/// Creates a simulated board that starts with the contents `recorder` in its recorder's memory.
fn board(boot: u32, recorder: &'static mut [u8]) -> Board<'static> {
    let room = |length| -> &'static mut [u8] { vec![0; length].leak() };
    let pace = Pace::default();
    let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
    let memory = Memory { primary: room(WINDOW), realtime: room(WINDOW), rtde: None };
    // Without RTDE a stop at the pendant is not seen, which must be allowed.
    let mut config = UrConfig::default();
    config.mode.pendant.stop = PendantStop::Overridden;
    let engine = UrEngine::new(config, law, memory).expect("a configuration that can be run");
    let engine = engine.with_earlier_recording(recorder).keeping_fallbacks(pace.recording_time(RECORDER));
    let sampler = Sampler::new(Device { board: "bench", build: "test", boot, settings: &[] }, pace);
    let peer = Peer::new(SoftwareVersion::new(5, 15));
    let mut board = Board { engine, peer, sampler, now: Instant::ZERO, stalled: false, sent: Vec::new() };
    board.input(Input::Start);
    board
}

/// Creates a simulated board whose engine commands an arm.
fn commanding() -> Board<'static> {
    let mut board = board(0x00c0_ffee, vec![0xff; RECORDER].leak());
    board.run_until(|engine, now| engine.mode() == Mode::Monitor && engine.unmet(now).is_empty());
    board.input(Input::Request(board.engine.mode_machine().epoch()));
    board.run_until(|engine, _| engine.mode() == Mode::Command);
    board
}

/// Returns the telemetry of a board that commands and falls back because states are missing.
fn telemetry_of_a_fallback() -> Vec<Vec<u8>> {
    let mut board = commanding();
    board.stalled = true;
    board.run_until(|engine, _| engine.mode() == Mode::Stopping);
    board.stalled = false;
    board.run_until(|engine, _| engine.kept_fallback().is_some());
    board.run_until(|engine, _| engine.kept_fallback().is_none());
    board.sent
}

/// Returns the telemetry of the first three seconds after a reset of a board that commanded.
fn telemetry_after_a_reset() -> Vec<Vec<u8>> {
    let before = commanding();
    let mut memory = vec![0xff; RECORDER];
    for (place, left) in memory.chunks_mut(RECORDER / 2).zip(before.engine.recorder().halves()) {
        place[..left.len()].copy_from_slice(left);
    }
    let mut board = board(0x0bad_cafe, memory.leak());
    board.run_until(|_, now| now > Instant::from_micros(3_000_000));
    board.sent
}

/// Returns the telemetry of a board beside a KRC that sends for five seconds. With `silence`, another second without
/// measurements follows.
fn telemetry_beside_a_krc(silence: bool) -> Vec<Vec<u8>> {
    const FILE: &str = "[robot]\nkind = \"krc\"\npeer = \"192.0.2.1\"\n[law]\nkind = \"joint-servo\"\n\
                        [device]\naddress = \"192.0.2.60/24\"\ntelemetry = \"192.0.2.2:47000\"\n";
    let Ok(AnyConfiguration::Krc(RunsOn::Board(configuration))) = AnyConfiguration::parse(FILE) else {
        panic!("a board's")
    };
    let settings = configuration.settings();
    let mut bytes = [0; 4_096];
    let length = settings.to_postcard(&mut bytes).expect("room");
    let device = Device { board: "bench", build: "test", boot: 1, settings: &bytes[..length] };
    let mut sampler = Sampler::<7, Krc>::new(device, Pace::default());
    let law = AnyLaw::new(settings.law).expect("a law");
    let mut engine = KrcEngine::new(settings.config, law, ()).expect("a session");
    let (from, mut sent) = ("192.0.2.1:49938".parse().expect("an address"), vec![]);
    let mut reflected = 0;
    for cycle in 1..=600_u16 {
        let now = Instant::from_micros(10_000 * u64::from(cycle));
        if cycle <= 500 {
            let mut measured = [0; MEASUREMENT_LEN];
            let repr = MeasurementRepr {
                send_seq_count: cycle,
                refl_seq_count: reflected,
                state: 1,
                quality: 3,
                power: 0x7f,
                desired_cmd_sample_time: 0.01,
                safety_limits: 1.0,
                msr_jnt_pos: [0.25; 7],
                ..MeasurementRepr::default()
            };
            repr.emit(&mut measured).expect("room");
            engine.receive_window(LinkId::FRI)[..MEASUREMENT_LEN].copy_from_slice(&measured);
            engine.commit_datagram(LinkId::FRI, MEASUREMENT_LEN, from, now, now);
            engine.handle(now, Input::Tick);
            let Some(EngineOutput::Transmit { bytes, .. }) = engine.poll_output() else { panic!("each is answered") };
            reflected = fri::Command::new_checked(bytes).expect("a command").send_seq_count();
        } else if silence {
            engine.handle(now, Input::Tick);
        } else {
            break;
        }
        while let Some(event) = engine.poll_event() {
            sampler.event(event);
        }
        sampler.observe(&engine, now);
        let mut out = [0; DATAGRAM_MAX];
        while let Some(length) = sampler.poll(now, &mut out) {
            sent.push(out[..length].to_vec());
        }
    }
    sent
}

/// Returns the telemetry of a board that cannot connect to its robot.
fn telemetry_without_a_robot() -> Vec<Vec<u8>> {
    let (mut primary, mut realtime) = ([0; WINDOW], [0; WINDOW]);
    let memory = Memory { primary: &mut primary, realtime: &mut realtime, rtde: None };
    let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
    let engine: UrEngine<'_, AnyLaw<6>> =
        UrEngine::new(UrConfig::default(), law, memory).expect("a configuration that can be run");
    let device = Device { board: "bench", build: "test", boot: 1, settings: &[] };
    let mut sampler = Sampler::<6, Ur<'_>>::new(device, Pace::default());
    let mut troubles = [None; LinkId::MOST];
    troubles[0] = Some("no link: is the cable\u{1b}[2J plugged in?");
    sampler.port(PortReport { troubles, ..PortReport::default() });
    let (mut sent, mut out) = (vec![], [0; DATAGRAM_MAX]);
    for now in (0..5_000).map(|millis| Instant::from_micros(1_000 * millis)) {
        sampler.observe(&engine, now);
        sent.extend(sampler.poll(now, &mut out).map(|length| out[..length].to_vec()));
    }
    sent
}

struct Board<'m> {
    engine: UrEngine<'m, AnyLaw<6>>,
    peer: Peer,
    sampler: Sampler<'m, 6, Ur<'m>>,
    now: Instant,
    stalled: bool,
    sent: Vec<Vec<u8>>,
}

impl<'m> Board<'m> {
    fn run_until(&mut self, done: impl Fn(&UrEngine<'m, AnyLaw<6>>, Instant) -> bool) {
        for _ in 0..20_000 {
            if done(&self.engine, self.now) {
                return;
            }
            self.now = self.now + Duration::from_millis(2);
            self.peer.cycle();
            for link in if self.stalled { &[][..] } else { &LINKS } {
                loop {
                    let bytes = self.peer.read(*link, self.engine.receive_window(*link).len());
                    if bytes.is_empty() {
                        break;
                    }
                    self.engine.receive_window(*link)[..bytes.len()].copy_from_slice(&bytes);
                    self.engine.commit(*link, bytes.len(), self.now, self.now);
                    self.drain();
                }
            }
            self.input(Input::Tick);
            let mut out = [0; DATAGRAM_MAX];
            while let Some(length) = self.sampler.poll(self.now, &mut out) {
                self.sent.push(out[..length].to_vec());
            }
        }
        panic!("still {:?}", self.engine.mode());
    }

    fn input(&mut self, input: Input) {
        self.engine.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        let mut opened = Vec::new();
        while let Some(output) = self.engine.poll_output() {
            match output {
                EngineOutput::Open { link, .. } => opened.push(link),
                EngineOutput::Abort(link) => self.peer.close(link),
                EngineOutput::Listen { .. } => unreachable!("no link of such a controller listens"),
                EngineOutput::Transmit { link, bytes, .. } => self.peer.write(link, bytes),
            }
        }
        while let Some(event) = self.engine.poll_event() {
            self.sampler.event(event);
        }
        self.sampler.observe(&self.engine, self.now);
        for link in opened {
            self.peer.open(link);
            self.input(Input::Opened(link));
        }
    }
}

fn outrigger(arguments: &[&str]) -> Command {
    let mut command = outrigger_system::command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns a free local address for `watch` to listen on.
fn free_port() -> String {
    format!("127.0.0.1:{}", port::free())
}

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// Runs `watch --json`, calls `send` once it listens, and returns its lines and its output once it has ended.
fn watched(arguments: &[&str], listen: &str, send: impl FnOnce()) -> (Vec<String>, Output) {
    let command = ["watch", "127.0.0.1", "--json", "--listen", listen];
    let mut child = outrigger(&[&command, arguments].concat()).spawn().expect("the binary under test");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let first = lines.next().expect("it says that it listens");
    assert!(first.contains("\"kind\":\"listening\""), "{first}");
    send();
    let lines = lines.collect();
    (lines, child.wait_with_output().expect("it ends"))
}

/// Replays the only recording in this directory, whose name must contain `named`, and checks that the replay is
/// identical. Returns the output of `replay`.
fn replayed_of(directory: &Path, named: &str) -> String {
    let files: Vec<_> = std::fs::read_dir(directory).expect("it").map(|file| file.expect("a file").path()).collect();
    assert!(files.len() == 1 && files[0].to_str().expect("text").contains(named), "{files:?}");
    let replayed = outrigger(&["replay", files[0].to_str().expect("text")]).output().expect("it runs");
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert_eq!(replayed.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&replayed.stderr));
    assert!(text.contains("gave the same"), "{text}");
    text
}

/// Returns the indices of the datagrams with the first bytes of a recording. A board sends each recording several
/// times, in passes.
fn beginnings_of_passes(datagrams: &[Vec<u8>]) -> Vec<usize> {
    let begins = |bytes: &Vec<u8>| {
        let datagram = PeerDatagram::<6, Ur<'_>>::decode(bytes).expect("telemetry");
        matches!(datagram.message, Message::Recording(Recording { chunk: Chunk { offset: 0, .. }, .. }))
    };
    (0..).zip(datagrams).filter(|(_, bytes)| begins(bytes)).map(|(place, _)| place).collect()
}

#[test]
fn a_fallback_of_a_board_is_written_and_replays_although_datagrams_were_lost() {
    let datagrams = telemetry_of_a_fallback();
    // If the interval of losses divided the number of datagrams in a pass, each pass would lose the same ones.
    let passes = beginnings_of_passes(&datagrams);
    assert!(passes.len() > 1, "{passes:?}");
    let other_each_time = |of: &usize| passes.windows(2).all(|pair| (pair[1] - pair[0]) % of != 0);
    let lost_of = (7..12).find(other_each_time).expect("a number that divides no pass");
    let (listen, out) = (free_port(), directory("watch-fallback"));
    let (lines, ended) = watched(&["--duration", "3", "--out", out.to_str().expect("text")], &listen, || {
        let board = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let other = UdpSocket::bind("127.0.0.2:0").expect("a socket");
        for (number, datagram) in datagrams.iter().enumerate() {
            if number % lost_of != 3 {
                board.send_to(datagram, &listen).expect("sent");
                // Paced like a board: the kernel's buffer for a socket holds about a hundred datagrams.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            if number % 50 == 0 {
                other.send_to(datagram, &listen).expect("sent");
            }
        }
    });
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let said = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!(said("\"kind\":\"stranger\""), 1);
    assert_eq!(said("\"kind\":\"recording\""), 1, "{lines:#?}");
    assert!(said("bench, build test") >= 1, "{lines:#?}");
    assert!(said("\"mode\":\"Monitor\"") >= 1, "{lines:#?}");

    let text = replayed_of(&out, "00c0ffee-StateStale-1");
    assert!(text.contains("Command → Stopping"), "{text}");
}

#[test]
fn what_led_to_a_reset_of_a_board_is_written_once_and_replays() {
    let datagrams = telemetry_after_a_reset();
    let (listen, out) = (free_port(), directory("watch-reset"));
    let (lines, ended) = watched(&["--duration", "4", "--out", out.to_str().expect("text")], &listen, || {
        let board = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        for datagram in &datagrams {
            board.send_to(datagram, &listen).expect("sent");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let told: Vec<_> = lines.iter().filter(|line| line.contains("\"kind\":\"recording\"")).collect();
    assert!(told.len() == 1 && told[0].contains("of an earlier run, before the board restarted"), "{lines:#?}");
    replayed_of(&out, "0badcafe-before-reset");
}

#[test]
fn lost_datagrams_are_counted_by_their_numbers() {
    let datagrams = telemetry_of_a_fallback();
    let listen = free_port();
    let (lines, _) = watched(&["--duration", "2"], &listen, || {
        let board = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        for datagram in datagrams[..9].iter().chain(&datagrams[14..20]) {
            board.send_to(datagram, &listen).expect("sent");
        }
    });
    assert!(lines.iter().any(|line| line.contains("\"lost_datagrams\":5")), "{lines:#?}");
}

#[test]
fn where_nothing_comes_it_says_what_to_check() {
    let listen = free_port();
    let (_, ended) = watched(&["--duration", "1"], &listen, || {
        let board = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        board.send_to(b"ORTM\xffrest", &listen).expect("sent");
    });
    let text = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(3), "{text}");
    for expected in ["device.telemetry", "firewall", "telemetry of format 255, expected 12"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

fn send_all(datagrams: &[Vec<u8>], listen: &str) {
    let board = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    for datagram in datagrams {
        board.send_to(datagram, listen).expect("sent");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn last_status(lines: &[String]) -> &str {
    lines.iter().rfind(|line| line.contains("\"type\":\"status\"")).expect("a status")
}

#[test]
fn a_board_beside_a_krc_shows_where_its_session_stands_in_both_grades() {
    let (datagrams, listen) = (telemetry_beside_a_krc(false), free_port());
    let (lines, ended) = watched(&["--duration", "2"], &listen, || send_all(&datagrams, &listen));
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let status = last_status(&lines);
    for expected in [
        "\"robot\":\"192.0.2.1\"",
        "\"identity\":\"KRC, a measurement every 10 ms, reported by 127.0.0.1, 0 datagrams lost\"",
        "\"mode\":\"Monitor\",\"grade\":\"Perfect\"",
        "\"krc_state\":\"MON\",\"krc_quality\":\"PERFECT\"",
        "\"q_actual\":[0.25,0.25,0.25,0.25,0.25,0.25,0.25]",
        "\"qd_target\":[0.0,0.0,0.0,0.0,0.0,0.0,0.0]",
        "\"answered_per_10000\":10000",
        "\"trouble\":null",
    ] {
        assert!(status.contains(expected), "{expected} in {status}");
    }
    let measured = status.split_once("\"measurements\":").and_then(|(_, rest)| rest.split(',').next());
    assert!(measured.and_then(|count| count.parse().ok()).is_some_and(|count: u32| count > 480), "{status}");
    let said = |what: &str| lines.iter().any(|line| line.contains(what));
    assert!(said("a KRC sends a measurement every 10 ms") && said("measurements to port 49938"), "{lines:#?}");
}

#[test]
fn a_board_whose_krc_has_fallen_silent_says_so_and_shows_no_joints() {
    let (datagrams, listen) = (telemetry_beside_a_krc(true), free_port());
    let (lines, _) = watched(&["--duration", "2"], &listen, || send_all(&datagrams, &listen));
    let status = last_status(&lines);
    let trouble = "\"trouble\":\"the board receives no measurement from the KRC\"";
    assert!(status.contains(trouble) && status.contains("\"mode\":\"Offline\""), "{status}");
    assert!(!status.contains("q_actual") && !status.contains("jitter_ms"), "{status}");
    assert!(lines.iter().any(|line| line.contains("\"kind\":\"krc-silent\"")), "{lines:#?}");
}

#[test]
fn what_keeps_a_board_from_its_robot_is_said_once_and_shown_as_long_as_it_does() {
    let (datagrams, listen) = (telemetry_without_a_robot(), free_port());
    let (lines, _) = watched(&["--duration", "2"], &listen, || send_all(&datagrams, &listen));
    let said: Vec<_> = lines.iter().filter(|line| line.contains("\"kind\":\"trouble\"")).collect();
    // The control character for the terminal has been removed.
    let trouble = "no link: is the cable [2J plugged in?";
    assert!(matches!(said[..], [once] if once.contains(&format!("primary link: {trouble}"))), "{said:#?}");
    let status = last_status(&lines);
    assert!(status.contains(&format!("\"trouble\":\"{trouble}\"")), "{status}");
}
