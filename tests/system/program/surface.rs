//! The option `sim ur --surface`: a program on the controller touches the surface, and a distance sensor measures it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::port::Port;
use outrigger_wire::sensor::Reading;

use crate::port;

const PATIENCE: Duration = Duration::from_secs(20);
/// The distance of the simulated surface below the tool at the start \[m\].
const BELOW: f64 = 0.02;

const TOUCH: &str = "\
def touch():
  force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,-60,0,0,0], 2, [0.1,0.1,0.1,0.3,0.3,0.3])
  while tool_contact() == 0:
    sync()
  end
  textmsg(\"touched after \", tool_contact())
  sleep(60)
end
";

/// The running simulator. Dropping it ends the process.
struct Simulator {
    child: Child,
    /// The output of the process, kept open because the process must be able to write to it.
    _said: BufReader<ChildStdout>,
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the simulator on a free port base, and returns it with that base.
fn started(arguments: &[String]) -> (Simulator, u16) {
    for base in (56_000..60_000).step_by(50) {
        let mut child = Command::new(outrigger_system::program())
            .args(["sim", "ur", "--duration", "60", "--port-base", &base.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary under test");
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().expect("piped"));
        let _ = said.read_line(&mut line);
        let simulator = Simulator { child, _said: said };
        if line.starts_with("simulated") {
            return (simulator, base);
        }
    }
    panic!("no port base is free");
}

/// Returns the next distance that the sensor sends \[m\].
fn distance(socket: &UdpSocket) -> f32 {
    let mut datagram = [0; 512];
    let len = socket.recv(&mut datagram).expect("a reading in time");
    let reading = Reading::from_line(&datagram[..len], 0).expect("a reading").expect("not blank");
    reading.value.as_slice()[0]
}

#[test]
fn a_program_touches_the_surface_that_the_sensor_sees() {
    let [x, y, z] = Controller::new(Options::default()).expect("a controller").truth().tool().position;
    let listening = port::free();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, listening)).expect("a free port");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let surface = format!("{x},{y},{},0,0,1,20000", z - BELOW);
    let arguments = ["--surface", &surface, "--distance-to", &format!("127.0.0.1:{listening}")].map(str::to_owned);
    let (_simulator, base) = started(&arguments);
    let first = f64::from(distance(&socket));
    assert!((first - BELOW).abs() < 1e-3, "{first} m, with the tool looking down");

    let primary = base + (Port::Primary.number() - Port::Dashboard.number());
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, primary)).expect("30001");
    client.set_read_timeout(Some(PATIENCE)).expect("a socket");
    client.write_all(TOUCH.as_bytes()).expect("it reads");
    let mut told = Vec::new();
    let mut bytes = [0; 4096];
    while !told.windows(13).any(|window| window == b"touched after") {
        let count = client.read(&mut bytes).expect("states, ten a second");
        assert!(count > 0, "30001 was closed");
        told.extend_from_slice(&bytes[..count]);
    }
    // With 60 N at 20 000 N/m the tool moves 3 mm into the surface.
    let deepest = (0..3_000).map(|_| distance(&socket)).find(|distance| *distance < -0.0025);
    assert!(deepest.is_some(), "the sensor never saw the tool in the surface");
}

/// Checks that `sim sensor`, which reads the pose from the ports of the simulated controller, measures the same
/// distance to a surface as the sensor of `sim ur`.
#[test]
fn a_sensor_of_its_own_sees_the_surface_from_the_tool_of_a_controller() {
    let [x, y, z] = Controller::new(Options::default()).expect("a controller").truth().tool().position;
    let surface = format!("{x},{y},{},0.1,0,1", z - BELOW);
    let sockets = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port"));
    let [by_controller, by_sensor] = sockets;
    let address = |socket: &UdpSocket| {
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        socket.local_addr().expect("an address").to_string()
    };
    let arguments = ["--surface", &surface, "--distance-to", &address(&by_controller)].map(str::to_owned);
    let (_simulator, base) = started(&arguments);
    let mut sensor = Command::new(outrigger_system::program())
        .args(["sim", "sensor", "--duration", "60", "--surface", &surface, "--udp", &address(&by_sensor)])
        .args(["--robot", &format!("127.0.0.1:{base}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary under test");
    let (one, other) = (distance(&by_controller), distance(&by_sensor));
    let ended = sensor.kill().and_then(|()| sensor.wait());
    assert!((one - other).abs() < 1e-4, "{one} m and {other} m");
    ended.expect("it ran until now");
}
