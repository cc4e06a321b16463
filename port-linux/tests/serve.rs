//! Readers of a run: `[serve]` and `--record`, beside a motion that does not mind them.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::Server;

/// The example that turns the base joint, with readers.
fn configuration(folder: &Path) -> String {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/half-turn.toml");
    let example = std::fs::read_to_string(example).expect("the example");
    let path = folder.join("served.toml");
    std::fs::write(&path, format!("{example}\n[serve]\nlisten = \"127.0.0.1:0\"\nreaders = 21\n")).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

/// The text of `key` in a line of JSON.
fn text_of(line: &str, key: &str) -> Option<String> {
    Some(line.split_once(&format!("\"{key}\":\""))?.1.split_once('"')?.0.to_owned())
}

#[test]
fn a_motion_with_twenty_readers_that_stand_still_is_the_motion_without_and_is_recorded_as_a_whole() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let recording = folder.join("run.mcap");
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 52_000).expect("free ports");
    let server = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let mut child = Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(["run", &configuration(&folder), "--robot", &robot, "--json", "--record"])
        .arg(&recording)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    let mut said = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let serving = said.find(|line| line.contains("\"kind\":\"serve\"")).expect("it says where it serves");
    let address: SocketAddr = text_of(&serving, "address").expect("an address").parse().expect("an address");

    let still: Vec<_> = (0..20).map(|_| TcpStream::connect(address).expect("a place")).collect();
    let reading = TcpStream::connect(address).expect("a place");
    let lines = std::thread::spawn(move || {
        let lines: Vec<String> = BufReader::new(reading).lines().map_while(Result::ok).collect();
        lines
    });
    // States come: everybody above has been given a place.
    let mut refused = String::new();
    while !refused.contains("\"type\":\"refused\"") {
        refused.clear();
        // One too many, unless the others are still on their way in.
        let mut more = TcpStream::connect(address).expect("a connection");
        let mut start = [0; 64];
        let count = more.read(&mut start).expect("a line");
        refused.push_str(&String::from_utf8_lossy(&start[..count]));
    }
    assert_eq!(refused, "{\"type\":\"refused\",\"readers\":21}\n");

    let last = said.last().expect("a summary");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{last}");
    let error: f64 = last
        .split_once("\"end_error_deg\":[")
        .and_then(|(_, rest)| rest.split_once(',')?.0.parse().ok())
        .expect("an error in the summary");
    assert!(error.abs() < 0.05, "{last}");
    drop(still);

    let lines = lines.join().expect("lines");
    let states: Vec<_> = lines.iter().filter(|line| line.starts_with("{\"type\":\"state\",")).collect();
    assert!(states.len() > 1_000 && states.iter().all(|line| line.contains("\"port\":30003,")), "{}", states.len());
    assert!(lines.iter().any(|line| line.contains("\"kind\":\"transition\"") && line.contains("\"to\":\"Command\"")));

    let bytes = std::fs::read(&recording).expect("the recording");
    let mut sent = String::new();
    let mut states = 0;
    for message in mcap::MessageStream::new(&bytes).expect("a whole file") {
        let message = message.expect("a message");
        match message.channel.topic.as_str() {
            "/raw/30003/sent" => sent.push_str(std::str::from_utf8(&message.data).expect("text")),
            "/realtime" => states += 1,
            _ => {}
        }
    }
    let commands = sent.matches("speedj(").count();
    assert!(
        commands > 500 && sent.trim_end().lines().last().is_some_and(|line| line.starts_with("stopj(")),
        "{commands}"
    );
    assert!(states > commands, "{states} states, {commands} commands");
}
