//! The texts that `--help` prints below the options, if they are long or differ between builds.

#[cfg(not(feature = "ros2"))]
pub(super) const DOCTOR_HELP: &str = "\
Reads only; nothing is sent to the robot (a KRC gets its own setpoint back; see `monitor --help`). The verdict comes first; \
-v adds histograms and the last ten seconds of the link. Exit code 4 where something is to be fixed.

Examples:
  outrigger doctor 192.168.56.101
  outrigger doctor half-turn.toml
  outrigger doctor 192.168.56.101 --config half-turn.toml
  outrigger doctor 192.168.0.20 --kind krc
  outrigger doctor 127.0.0.1:40000 --model ur5 --duration 20";

#[cfg(feature = "ros2")]
pub(super) const DOCTOR_HELP: &str = "\
Reads only; nothing is sent to the robot (a KRC gets its own setpoint back; see `monitor --help`). The verdict comes first; \
-v adds histograms and the last ten seconds of the link. Exit code 4 where something is to be fixed.

With --ros2 it also listens in the domain of ROS 2 that `outrigger ros2` would join by the same options, and offers nothing there. It \
says: another node of the same name; another program that offers the same services or publishes the same topics; readers that would \
get nothing, for how they ask; other message types or another release of ROS 2; why nobody is heard, and what to try; and which topics \
this robot cannot fill.

Examples:
  outrigger doctor 192.168.56.101
  outrigger doctor half-turn.toml
  outrigger doctor 192.168.56.101 --config half-turn.toml
  outrigger doctor 192.168.0.20 --kind krc
  outrigger doctor 127.0.0.1:40000 --model ur5 --duration 20
  outrigger doctor 192.168.56.101 --ros2 --interface 192.168.1.20
  outrigger doctor arm.toml --ros2 --domain 7 --peer 192.168.1.30";

pub(super) const VIEW_HELP: &str = "\
Reads only: the robot gets no command, and nothing can be sent from the page. It prints an address: open it in any \
browser of this machine, as often as you like. The page shows up to 60 states a second: the arm in 3D, joint angles and \
speeds, the age of the newest state with the limit that ends commanding, how good the link is, force and speed slider, \
and what happened with what to do about it. Opened late, it has the last 30 s; a bar below shows any moment of the last \
ten minutes again. ? on the page explains its words and keys. When the page is first opened, the dashboard server of a \
UR controller is asked for the arm's serial number.

The page needs no network: it asks this process and nobody else. Unless --web says otherwise, only this machine reaches \
it. With --web and another address of this machine, whoever reaches that address can watch, without a password; use \
ssh -L 8750:127.0.0.1:8750 HOST where that is too many. A browser that is slow, or asleep, misses states; how many is \
shown on the page and counted at the end. The robot's link is judged as before, whoever looks.

`outrigger run CONFIG.toml --web` and `outrigger demo --web` show the same page of a run and of the demo, with the law's \
error and the sensors. They do not ask for the serial number.

Examples:
  outrigger view 192.168.56.101
  outrigger view 127.0.0.1:40000 --web 127.0.0.1:9000
  outrigger view 192.168.56.101 --web 0.0.0.0:8750
  outrigger view 127.0.0.1 --kind krc
  outrigger demo --web";

pub(super) const SIM_EXAMPLES: &str = "\
It starts RUNNING, NORMAL, in remote control, with no program. The drive is not ideal: one cycle of \
latency, a first-order lag and 0.5 % velocity error (--ideal-drive has none of them). The pendant has one program, idle.urp.
It prints a line for each client that connects or leaves, each program that arrives, and each fault that starts or ends, at most \
thirty in ten seconds; what is left out is counted.

Examples:
  outrigger sim ur --polyscope 3.15
  outrigger sim ur --polyscope 5.15 --fault stall@5s:200ms
  outrigger sim ur --model ur10e --port-base 40000 --state protective-stop
  outrigger sim ur --port-base 0 --ready > ready.json     free ports; the file says which once clients can connect
  outrigger sim ur --program weld.urp=weld.script     and, in another terminal: nc 127.0.0.1 29999
                                                      load weld.urp, play, programState, stop, quit
  outrigger sim ur --surface 0,0,0.2,0,0,1 --distance-to 127.0.0.1:5000     a table, and a sensor that looks at it
  outrigger sim ur --polyscope 10.12 --robot-api-port 8080     PolyScope X, and in another terminal:
    curl http://127.0.0.1:8080/universal-robots/robot-api/robotstate/v1/robotmode";

pub(super) const KRC_EXAMPLES: &str = "\
Sends a measurement every period to a remote computer that listens on ADDR:PORT (49938 is usual) and carries out its \
commands as a KRC would: monitor and command state, quality, limits, single missing answers bridged. The arm is \
a model of an LWR 4+ with joint position, joint impedance and Cartesian impedance control. BOOL[1] to BOOL[8] of \
the commands are its digital outputs, BOOL[16] closes a gripper whose opening is REA[16]. What KUKA has not \
published is assumed: --assume changes each assumption, and --help lists them.

Examples:
  outrigger sim krc --remote 127.0.0.1:49938
  outrigger sim krc --remote 127.0.0.1:49938 --period-ms 2 --fault drop@5s:2s:5%
  outrigger sim krc --remote 127.0.0.1:49938 --krl isir --mode t1 --first-counter 65530
  outrigger sim krc --remote 127.0.0.1:49938 --assume max-bridge=1 --assume start-quality=perfect
  outrigger sim krc --remote 127.0.0.1:49938 --motion ptp:20:30,23,0,-80,0,52,0 --motion lin:50:0,0,-100
  outrigger sim krc --remote 127.0.0.1:49938 --surface 0.5:10000 --fault hand@10s:2s:30";

pub(super) const SENSOR_EXAMPLES: &str = "\
Stands in for a sensor on a bench: a value, a swing, a recording, or the distance to a surface in front of a robot's tool; and \
for a broken one. Numbers of scripts and tables are in SI units, as a law reckons; with --config (or --scale and --offset) they \
are sent in the unit that the source reads. Lines of a --file are sent in the unit that they are in.
Ctrl-C ends it, with counts of what was sent. It never waits for a reader: what a line has no room for is dropped and counted, \
and sequence numbers go on, so that it shows. A sensor that was held up leaves out what it missed.
A table has a first line t,v0,... or t,seq,v0,..., times in s and a reading a line; a file without one has lines as \
a sensor sends them, [seq=N] VALUE ....
--surface reads a UR controller; a KRC sends its states to one computer only.

Examples, as text on this terminal:
  outrigger sim sensor --script constant:0.05
  outrigger sim sensor --script sine:0.01,0.5,0.05 --script noise:0.0002 --decimals 4 --duration 5
A host run that listens to datagrams, from its own configuration; and a board on a serial adapter:
  outrigger sim sensor --config cell.toml --script constant:0.05
  outrigger sim sensor --config board.toml --uart /dev/ttyUSB0 --script sine:0.01,0.5,0.05
A run with input = \"serial\", device = \"sensor\"; and the emulated board, started with
OUTRIGGER_UART=unix:uart.sock,server=on,wait=off:
  outrigger sim sensor --uart pty:sensor --script constant:0.05
  outrigger sim sensor --uart unix:uart.sock --form frames --values 6 --script 0=sine:0.1,0.2
A sensor that breaks after 10 s; one that loses every twentieth reading, on a line that hurts every hundredth:
  outrigger sim sensor --udp 127.0.0.1:5005 --script constant:0.05 --script freeze@10s
  outrigger sim sensor --udp 127.0.0.1:5005 --script constant:0.05 --script dropout:5% --script flip:1%
A recording, and what a tool sees of a table that is 0.2 m high and heaves:
  outrigger sim sensor --udp 127.0.0.1:5005 --file force.csv --loop
  outrigger sim sensor --udp 127.0.0.1:5005 --surface 0,0,0.2,0,0,1 --robot 127.0.0.1 --script sine:0.005,0.2";
