//! The command `sim sensor`: a run or a board reads exactly the values that it sends.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use outrigger::config::{Configuration, SourceSettings};
use outrigger::host::{Clock, block_on};
use outrigger::sensor::{Arrival, Sources};
use outrigger_wire::sensor::Reading;
use rustix::process::{Pid, Signal, kill_process};

use crate::port;

const PATIENCE: Duration = Duration::from_secs(20);

/// The running `sim sensor`. Dropping it ends the process.
struct Sensor(Child);

impl Drop for Sensor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(outrigger_system::program());
    command.args(["sim", "sensor"]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts `sim sensor` and waits for its first line of output. By then it has opened the socket or device for its
/// readings.
fn started(arguments: &[&str]) -> (Sensor, String) {
    let mut child = command(arguments).spawn().expect("the binary under test");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("it speaks");
    assert!(line.starts_with("simulated sensor"), "{line:?}");
    (Sensor(child), line)
}

fn ended(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command(arguments).output().expect("the binary under test");
    (status.code(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

/// Returns a path that only this test uses.
fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("outrigger-sim-sensor-{}-{name}", std::process::id()))
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = place(name);
    std::fs::write(&path, text).expect("a place for it");
    path
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn listening() -> (UdpSocket, String) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let to = socket.local_addr().expect("an address").to_string();
    (socket, to)
}

fn sources_of(text: &str) -> Vec<SourceSettings> {
    Configuration::parse(text).unwrap_or_else(|problems| panic!("{problems:?}")).control.sources
}

/// Returns the first `count` readings that the sensor inputs `sources` of a run accept.
async fn readings(sources: &mut Sources, count: usize) -> Vec<Reading> {
    let mut read = Vec::new();
    while read.len() < count {
        match sources.next().await.expect("the source is open") {
            Arrival::Reading { reading, .. } => read.push(reading),
            other => panic!("{other:?}"),
        }
    }
    read
}

#[test]
fn a_file_is_replayed_value_by_value_and_then_it_ends() {
    let mut table = String::from("t,seq,fx,fy\n");
    let values = |row: u32| [row as f32 * 0.1 - 0.7, 1e-9 / (row + 1) as f32];
    for row in 0..40 {
        let [x, y] = values(row);
        table += &format!("{},{},{x:?},{y:?}\n", 10.0 + 0.005 * f64::from(row), 100 + 3 * row);
    }
    let table = file("table.csv", &table);
    for format in ["text", "postcard"] {
        let (socket, to) = listening();
        let (code, told) = ended(&["--udp", &to, "--file", shown(&table), "--format", format]);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains("sent 40 messages"), "{told}");
        for row in 0..40 {
            let mut datagram = [0; 512];
            let len = socket.recv(&mut datagram).expect("a datagram for each row");
            let datagram = &datagram[..len];
            let reading = match format {
                "text" => Reading::from_line(datagram, 0).expect("a reading").expect("not blank"),
                _ => Reading::from_datagram(datagram).expect("a reading"),
            };
            assert_eq!((reading.seq, reading.value.as_slice()), (100 + 3 * row, &values(row)[..]));
        }
    }
    std::fs::remove_file(table).expect("it was made here");
}

#[test]
fn a_run_reads_from_its_own_configuration_what_the_script_says() {
    let port = port::free();
    let text = format!(
        "robot.address = \"127.0.0.1\"\nlaw = {{ kind = \"standoff\", source = \"gap\", distance = 0.05 }}\n\
         [[source]]\nname = \"gap\"\ninput = \"udp\"\nlisten = \"0.0.0.0:{port}\"\nformat = \"postcard\"\n\
         scale = -0.001\nexpert.offset = 0.25\n"
    );
    let config = file("host.toml", &text);
    let mut sources = Sources::open(&sources_of(&text), Clock::start(), false).expect("a free port");
    let (_sensor, said) = started(&["--config", shown(&config), "--script", "constant:0.05", "--duration", "60"]);
    assert!(said.contains(&format!("to {}", SocketAddr::from((Ipv4Addr::LOCALHOST, port)))), "{said}");
    let read = block_on(readings(&mut sources, 5)).expect("a reactor");
    for (reading, next) in read.iter().zip(&read[1..]) {
        assert!((reading.value.first() - 0.05).abs() < 1e-7 && next.seq == reading.seq + 1, "{read:?}");
    }
    std::fs::remove_file(config).expect("it was made here");
}

#[test]
fn a_run_opens_the_pseudo_terminal_that_it_made_and_reads_frames() {
    let name = place("pty");
    let uart = format!("pty:{}", shown(&name));
    let script = ["--script", "constant:1", "--script", "3=constant:0.5", "--duration", "60"];
    let (sensor, _) = started(&[&["--uart", &uart, "--form", "frames", "--values", "6"][..], &script].concat());
    let text = format!(
        "robot.address = \"127.0.0.1\"\nlaw = {{ kind = \"joint-servo\", sensor = \"push\" }}\n\
         [[source]]\nname = \"push\"\ninput = \"serial\"\ndevice = \"{}\"\nformat = \"postcard\"\nvalues = 6\n",
        shown(&name)
    );
    let mut sources = Sources::open(&sources_of(&text), Clock::start(), false).expect("the device opens");
    let read = block_on(readings(&mut sources, 3)).expect("a reactor");
    assert!(read.iter().all(|reading| reading.value.as_slice() == [1.0, 1.0, 1.0, 1.5, 1.0, 1.0]), "{read:?}");
    let child = Pid::from_child(&sensor.0);
    kill_process(child, Signal::INT).expect("it runs");
    let mut sensor = sensor;
    assert_eq!(sensor.0.wait().expect("it ends").code(), Some(0));
    let mut told = String::new();
    sensor.0.stdout.take().expect("piped").read_to_string(&mut told).expect("text");
    assert!(told.contains("sent ") && !name.is_symlink(), "{told}");
}

#[test]
fn a_reader_that_does_not_read_does_not_hold_it_and_what_came_is_whole() {
    let arguments = ["--script", "ramp:1", "--rate", "10000", "--duration", "2"];
    let mut sensor = Sensor(command(&arguments).spawn().expect("the binary under test"));
    // The lines are read after the process has ended by itself.
    assert_eq!(sensor.0.wait().expect("it ends").code(), Some(0));
    let (mut lines, mut told) = (String::new(), String::new());
    sensor.0.stdout.take().expect("piped").read_to_string(&mut lines).expect("text");
    sensor.0.stderr.take().expect("piped").read_to_string(&mut told).expect("text");
    assert!(told.contains("dropped: line full"), "{told}");
    let whole: Vec<&str> = lines.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    assert!(whole.len() > 1_000, "{} lines", whole.len());
    let seqs: Vec<u32> = whole
        .iter()
        .map(|line| {
            let reading = Reading::from_line(line.as_bytes(), 0).expect("a reading").expect("not blank");
            reading.seq
        })
        .collect();
    assert!(seqs.is_sorted_by(|one, next| one < next));
}
