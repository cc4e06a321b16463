//! The command line: its commands and options, and the exit code of the process.

#[cfg(test)]
mod documented_commands;
mod groups;
mod help;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use outrigger_sim::fault::Fault;
use outrigger_sim::krc;
use outrigger_sim::sensor::Part;

use self::groups::grouped;
use self::help::{DOCTOR_HELP, KRC_EXAMPLES, SENSOR_EXAMPLES, SIM_EXAMPLES, VIEW_HELP};
use crate::args::{
    CheckConfigArgs, DecodeArgs, ExportArgs, MonitorArgs, RecordArgs, ReplayArgs, RunArgs, ScriptArgs, ViewArgs,
    WatchArgs,
};
use crate::board::BoardCommand;
use crate::ctl::CtlArgs;
use crate::dashboard::DashboardArgs;
use crate::doctor::DoctorArgs;
use crate::example::ExampleArgs;
use crate::init::InitArgs;
use crate::io::IoArgs;
use crate::manual::{CompletionsArgs, ManualArgs};
use crate::moves::MoveArgs;
use crate::screen::FullScreen;
use crate::simulate::SimUrArgs;
use crate::simulate::krc::SimKrcArgs;
use crate::simulate::sensor::SimSensorArgs;
use crate::tool::ToolArgs;
use outrigger::exit::{Failure, Outcome, ending, output_closed};
use outrigger::host::os;
use outrigger::host::worker;
use outrigger::show::{be_quiet, be_verbose, complain, use_screen};

/// The command line of `outrigger`.
#[derive(Debug, Parser)]
#[command(
    name = "outrigger",
    version,
    about = "Drives Universal Robots arms and the KUKA LWR from local sensors, simulates them, and explains why an arm stopped",
    after_help = "\
ROBOT is HOST[:PORT-BASE]. Without a port base, Outrigger uses the controller's standard ports. With port base B, \
port p is B + p - 29999 (two simulated controllers on one machine: 40000 and 41000).

First steps without a robot:
  outrigger demo                         hold a distance by a sensor, lose the link and recover
  outrigger sim ur                       simulate an e-Series controller in one terminal ...
  outrigger monitor 127.0.0.1            ... show its state and link in another ...
  outrigger view 127.0.0.1               ... and show the arm in a browser
  outrigger example half-turn > half-turn.toml    a configuration that moves it; `outrigger example` lists all

First steps with a robot (these do not move it):
  outrigger monitor 192.168.56.101       state, link quality, and what blocks commanding
  outrigger doctor 192.168.56.101        check host, network and robot, and list what to fix
  outrigger monitor 192.168.0.20 --kind krc       the same for a KUKA KRC, which connects to this host

Exit codes: 0 done, 1 bad input, 2 usage, 3 connection, 4 stop, fault or failed check, 130 Ctrl-C.
Outrigger is not a safety component: keep the emergency stop within reach."
)]
pub(crate) struct Cli {
    /// Show more detail: each change of the link quality, and histograms
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Print results, events and errors only: no progress, no line per second, no full-screen view
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a complete run without hardware: a simulated arm held at a distance by a sensor
    #[command(after_help = "\
A simulated controller, a simulated distance sensor and the control loop run on this machine and exchange data over \
its loopback network. The demo injects a link fault, shows the stop, resets it, starts again, and verifies the result. \
Exit code 4 and the name of the failed check if a check fails; 130 if q or Ctrl-C ended it early.

At first it measures for two seconds how long this machine delays a process. On a busy machine it widens the limits of \
the link and of the checks accordingly, or runs simulated time more slowly, and shows that it does. A longer delay \
during the run is shown, and the arm is started again, at most three times.

Examples:
  outrigger demo
  outrigger demo --web                   the arm, its sensor and its link live on a page in a browser
  outrigger demo --report demo.html      one self-contained page with plots of the run
  outrigger demo --picture demo.svg      half a minute of it as a moving picture
  outrigger demo | cat                   plain lines, for logs")]
    Demo(crate::demo::DemoArgs),
    /// Simulate a controller that drivers can connect to, or a sensor that a board or a run reads
    #[command(subcommand)]
    Sim(SimCommand),
    /// Print an example configuration or program, or the list of them
    #[command(after_help = "\
The examples are built into the program. A name may be given without its extension.

Examples:
  outrigger example
  outrigger example half-turn > half-turn.toml
  outrigger sim ur                                       in another terminal
  outrigger run half-turn.toml --robot 127.0.0.1")]
    Example(ExampleArgs),
    /// Show a robot's state and the quality of the link, live
    #[command(after_help = "\
Reads only; sends nothing to the robot. On a terminal it is a full-screen view (q ends it); in a pipe, one line \
per second; with --json, one JSON object per line. If the link is lost, it reports the cause and reconnects.

With --kind krc, ROBOT is the address of a KUKA KRC, which sends its measurements to --listen (ROBOT 0.0.0.0: accept any \
sender). Each measurement is answered with the KRC's own setpoint, which moves nothing. Without answers a KRC rates its \
link UNACCEPTABLE.

Examples:
  outrigger monitor 192.168.56.101
  outrigger monitor 127.0.0.1:40000 --duration 10
  outrigger monitor 127.0.0.1 --json | jq .grade
  outrigger monitor 127.0.0.1 --foxglove                 live data for Foxglove, at ws://127.0.0.1:8765
  outrigger monitor 192.168.0.20 --kind krc
  outrigger monitor 127.0.0.1 --kind krc --listen 127.0.0.1:49940 --json | jq .krc_quality")]
    Monitor(MonitorArgs),
    /// Show a robot live on a page in a browser: the arm in 3D, plots, link, events
    #[command(after_help = VIEW_HELP)]
    View(ViewArgs),
    /// Show a robot's inputs and outputs, or set outputs while any program runs
    #[command(after_help = "\
Without a SETTING it shows all inputs and outputs: once, or continuously with --live. With SETTINGs it sets them \
together, without disturbing a running program or motion, and reports for each whether the controller confirms it.

  digital-out.N=on|off         control box, 0 to 7
  configurable-out.N=on|off    control box, 0 to 7; 3.0 and later
  tool-out.N=on|off            tool, 0 and 1
  analog-out.N=5V|12mA|0.5     control box, 0 and 1; a number without a unit keeps the unit
  tool-voltage=0|12|24         supply of the tool [V]
  flag.N=on|off                0 to 31; not confirmed by any controller
  payload=KG[@X,Y,Z]           mass [kg], centre [m]; without a centre, the present one is kept (from 3.3)
  payload=KG@X,Y,Z/IXX,IYY,IZZ,IXY,IXZ,IYZ   and inertia [kg m^2] (from 5.10)
  tcp=X,Y,Z,RX,RY,RZ           tool centre point from the flange [m, rad as a rotation vector]
  gravity=X,Y,Z                points upwards in the base frame [m/s^2], e.g. 0,0,9.82
  speed-slider=0.5             0 to 1; a jump while the arm moves can stop it with a fault
  zero-force-torque            set the present reading of the sensor to zero; 5.0 and later

If the robot has RTDE (3.4 and later) and no other client owns its inputs, digital and analog outputs and the slider \
are set by RTDE, everything else by URScript; --via selects one of them. In local control a controller rejects \
URScript: newer software reports it, older software does not, and nothing is confirmed. A KRC accepts one computer \
only: use `outrigger ctl CONFIG set` of the run that commands it.
Exit code 4 if a setting was rejected or not confirmed, 3 without a connection.

Examples:
  outrigger io 192.168.56.101
  outrigger io 192.168.56.101 --live
  outrigger io 192.168.56.101 digital-out.3=on tool-voltage=24
  outrigger io 192.168.56.101 analog-out.0=5V payload=1.2@0,0,0.05 --model ur5e
  outrigger io 127.0.0.1:40000 --json | jq .digital_out")]
    Io(IoArgs),
    /// Write a first configuration for a UR robot, with conservative limits, and try it on a simulated arm
    #[command(after_help = "\
Reads the robot's state for some seconds, asks for the arm's task and the sensor, and writes a file with comments. An \
existing file is not replaced. Then it runs `doctor` with the file, and can try it on a simulated arm with the same \
software and a simulated sensor. It sends nothing to the robot.
Without a terminal each question needs its option; the error names the missing one.
For a KUKA LWR see port-linux/docs/kuka-lwr.md.

Examples:
  outrigger init 192.168.56.101
  outrigger init 192.168.56.101 --task standoff --sensor udp:5005 --from 192.168.56.50 --scale 0.001 --out seam.toml
  outrigger init 192.168.56.101 --task servo --model ur5 --polyscope 3.15     without the robot
  outrigger init 127.0.0.1 --task standoff --sensor udp:5005 --dry-run 30    beside `outrigger sim ur`")]
    Init(Box<InitArgs>),
    /// Check a configuration: list every error, or the resulting settings
    #[command(after_help = "\
One line per error: file, line, key, found and expected value, and the nearest known name.
Exit code 1 if there is an error. A file with [device] is one for a board.

Examples:
  outrigger check-config half-turn.toml")]
    CheckConfig(CheckConfigArgs),
    /// Check host, network and robot, and list what to fix before enabling motion
    #[command(after_help = DOCTOR_HELP)]
    Doctor(Box<DoctorArgs>),
    /// Control a robot by a configuration: from sensors, or along a motion. This moves the robot
    #[command(after_help = "\
On Linux only, one process per robot. The arm is commanded after a start, once every precondition is met. A fault ends \
commanding, and nothing resumes by itself: reset, then start. During commanding, a speed slider at 0 or a pause at the \
pendant holds the arm for up to 10 s (with session.path = \"text\" a pause ends commanding).
Lines on standard input: start, resume, stop, reset, quit; `start 3` names the epoch that a script has read. A start that \
was typed before the arm stopped is rejected. Keys on a terminal: r start, c continue, s stop, a reset, q quit.
Other processes of this user control it with `outrigger ctl`, unless run.expert.requests = false.
With robot.kind = \"krc\" it answers each measurement of a KUKA KRC (Fast Research Interface), and reports link quality, \
stops, round trips and jitter at the end.
SIGINT, SIGTERM and SIGHUP (a closed terminal) stop the arm and confirm standstill. A second SIGINT or SIGTERM, at least a \
quarter of a second later, ends the process at once. Output that a terminal, a pipe or a disk does not accept in time is \
dropped, counted and reported at the end.
Exit code 4 if the arm was not commanded again after a fault; 0 if it was stopped on request or by a signal.

Examples:
  outrigger check-config half-turn.toml
  outrigger run half-turn.toml
  outrigger run half-turn.toml --robot 127.0.0.1:40000 --json | tail -n 1
  outrigger run half-turn.toml --web
  outrigger run half-turn.toml --foxglove
  outrigger run krc-swing.toml --record swing.mcap")]
    Run(RunArgs),
    /// Execute a motion from a file, or move to one target. This moves the robot
    #[command(after_help = "\
FILE is a table with one waypoint per line: t,q0,...,q5 and optionally qd0,...,qd5 and qdd0,...,qdd5 [s, rad, rad/s, \
rad/s2; --degrees for degrees]; or JSON with the fields of FollowJointTrajectory; or a recording (.mcap) of an arm's motion. \
port-linux/docs/motions.md describes the formats. On Linux only.
All waypoints are checked before the arm moves; an error names waypoint, joint and limit. The speed slider scales the motion. A \
fault ends the motion with the arm at rest; on a terminal you can then continue it, except with --to and after Ctrl-C.
A speed slider at 0 holds the motion for up to 10 s; it continues when the slider is raised. With every --mode but stream a \
pause at the pendant holds it as well. SIGINT stops the arm.
Each joint must be within 0.02 rad of the start of the motion. If the first waypoint has a time above 0 s, the motion starts \
from the present position. --check does not connect to the robot, so it cannot compare the start with the arm.
With --to, the controller moves the arm itself: by movej with the given joint speed, or with --linear by movel, the tool on a \
straight line. Limits are checked before the arm moves as far as they can be, and monitored during the motion; a \
pose out of reach is rejected. With --mode player the controller executes the motion of the file itself.
With --to and --mode servo, buffered or player, the controller connects to this host (program.expert.port, 50001), with \
--mode pass-through also on 50003 and 50004: allow these ports in the firewall.
For a KUKA LWR give a configuration; the file has q0,...,q6, at any period from 1 to 100 ms.
Standard output has the result only, as one line, or with --json as one object. Progress, messages and the reason of an \
unfinished motion are on standard error.
Exit codes: 0 done, 1 invalid file or motion, 3 connection, 4 ended early by a fault, 130 ended by Ctrl-C.

Examples:
  outrigger example there > there.csv
  outrigger move 192.168.56.101 there.csv --check
  outrigger move 192.168.56.101 there.csv --report there.html
  outrigger move 192.168.56.101 there.csv --goal-tolerance 0.002 --goal-time 1
  outrigger move 192.168.56.101 recording.mcap
  outrigger move cell.toml plan.json --mode buffered
  outrigger move 192.168.56.101 --to q=0,-1.57,-1.57,-1.57,1.57,0 --speed 0.3
  outrigger move 192.168.56.101 --to q=0,-90deg,-90deg,-90deg,90deg,0 --speed 20deg
  outrigger move 192.168.56.101 --to pose=0.4,-0.2,0.3,0,3.14,0
  outrigger move 192.168.56.101 --to pose=0.4,-0.2,0.3,0,3.14,0 --linear --speed 0.25
  outrigger move lwr.toml plan.json --report plan.html")]
    Move(MoveArgs),
    /// Control a running session: status, start, stop, outputs, motions
    #[command(
        alias = "ask",
        after_help = "\
ROBOT is a robot that `outrigger run` or `move` controls from this machine, as the same user; or give its configuration.

  status                   mode, epoch, link quality, stop reason, and what blocks a start
  watch                    the status, and each change of it, at most ten times per second
  start                    start commanding; answered when granted or rejected. This moves the robot
  resume                   continue a motion that a fault has suspended. This moves the robot
  stop                     stop the arm; never rejected, and handled before all other requests
  reset                    clear the stop reason
  set SETTING ...          set outputs, as `outrigger io` does; answered when the controller confirms them
  impedance stiffness=N[,N...] damping=N[,N...]
                           of a KUKA LWR in impedance control: one number for all joints or axes, or one for each; one \
of the two or both. An arm under load moves when they change
  sample SOURCE VALUE ...  send a reading to a [[source]] with input = \"requests\", 1 to 6 values in its own unit
  move FILE | --to q=...   execute a motion while the arm is commanded; it is checked before the arm moves. Ctrl-C cancels \
it. This moves the robot
  cancel                   cancel that motion, whichever client requested it: the arm stops, and stays commanded
  freedrive [LIMIT=N ...]  let a hand move the arm until Ctrl-C, or for --duration; with session.path = \"player\". \
This moves the robot
  force z=-20 ...          push or yield along the given axes, in the same way. This moves the robot
  stiffen                  end freedrive or force mode: the arm stops, and stays commanded
  renew                    for programs, on the connection that began them; freedrive and force renew themselves
  tool-contact on|off      let a contact of the tool end a move of the player, and force mode
  hand-back                end Outrigger's program on the controller; the pendant's program continues
  resend                   send Outrigger's program to the controller again
  dashboard WORD           for a board only: power-on, brake-release, unlock-protective-stop, close-popup or close-safety-popup

Requests that act (start, resume, set, impedance, sample, hand-back, resend, freedrive, force, tool-contact, move, dashboard) \
contain an epoch: a number that grows with each connection and each stop. A request with an old epoch is rejected. \
Without --epoch the present one is read just before; a script that decides by an earlier status gives --epoch. \
start and resume are withdrawn after --timeout and after Ctrl-C.

Requests are lines of JSON on a socket of this user; port-linux/docs/requests-reference.md lists keys, answers and errors. The former \
names `ask`, request, release and acknowledge of ctl, start, stop and reset still work.
Exit codes: 0 done, 1 not understood by the run, 2 usage, 3 no run for this robot or no answer, 4 rejected, not confirmed, \
not reached with --wait, or an unfinished motion, 130 cancelled by Ctrl-C.

Examples:
  outrigger ctl 192.168.56.101 status
  outrigger ctl 192.168.56.101 start --wait && echo commanding
  outrigger ctl half-turn.toml stop --wait
  outrigger ctl 127.0.0.1:40000 status --json | jq .epoch
  outrigger ctl 127.0.0.1:40000 start --epoch 3
  outrigger ctl 127.0.0.1:40000 set digital-out.3=on analog-out.0=5V
  outrigger ctl 127.0.0.1:40000 sample seam 0.0503
  outrigger ctl half-turn.toml move swing.csv
  outrigger ctl half-turn.toml move --to q=0,-1.57,-1.57,-1.57,1.57,0 --speed 0.3
  outrigger ctl 127.0.0.1:40000 watch --json"
    )]
    Ctl(CtlArgs),
    /// Replay recordings through the control engine, and compare its behaviour
    #[command(after_help = "\
DUMP is the file that `run` writes after a fault (run.recordings) or `watch` for a board, or the recording of a whole run \
(run.record). Prints the transitions. Exit code 4, with the first difference, if the same inputs do not give the same \
transitions and commands. For several recordings it prints one verdict each; exit code 4 if one differs, else 1 if one \
cannot be replayed.

Examples:
  outrigger replay recordings/2026-01-31-12-00-00-UTC-StateStale-0.outrigger
  outrigger replay swing.mcap
  outrigger replay recordings/*")]
    Replay(ReplayArgs),
    /// Record all data that a robot sends to an MCAP file, for Foxglove, PlotJuggler and tables
    #[command(after_help = "\
Reads only; sends nothing that moves the robot. The file has every field of every message, decoded with a \
schema, and the received bytes with their times of arrival. If the link is lost, the cause is reported and logged in the \
file, and the link is established again. If the disk is too slow, the oldest data are dropped, counted and \
logged. End it by Ctrl-C or --duration: the file is complete in both cases.
The channels are listed in port-linux/docs/recording-reference.md.

Examples:
  outrigger record 192.168.56.101 --out weld.mcap
  outrigger record 127.0.0.1:40000 --out test.mcap --duration 60
  outrigger record 192.168.0.20 --kind krc --out lwr.mcap
  outrigger decode --port fri lwr.mcap | jq 'select(.message == \"measurement\") | .msr_jnt_pos'
  outrigger decode --port 30003 weld.mcap | head -n 1
  outrigger export weld.mcap --csv weld.csv")]
    Record(RecordArgs),
    /// Export a table, or the bytes of a port, from a recording
    #[command(after_help = "\
The table has one row per state and the specification's names as columns, vectors as name_0, name_1 ..., with the \
unit at the end (actual_q_0_rad). t begins at zero; arrival_time_s is in seconds since 1970. pandas and PlotJuggler open it. \
The bytes are exactly those received, for `decode` or for tests of a parser.

Examples:
  outrigger export weld.mcap --csv weld.csv
  outrigger export weld.mcap --csv - --port 30003 | head -n 3
  outrigger export weld.mcap --raw realtime.bin --port 30003
  outrigger export lwr.mcap --raw datagrams.bin --port 49938      49938 stands for FRI")]
    Export(ExportArgs),
    /// Send a program file to the controller, and report its outcome. This may move the robot
    #[command(after_help = "\
A running program is replaced at once. The messages of the controller on port 30001 show if the new program has \
started, or its error with the line. Software before 5.0 does not name programs: there a start is only concluded from a \
program that runs now and did not before, and the result says so. \
With --wait, the messages of the program (textmsg, popup) are printed until it ends.

With --interpreter the file is a list of statements for interpreter mode (port 30020, software 5.10 and later). A \
program that accepts statements is started; each statement is sent after the previous one is accepted, and their \
execution is followed. A block or an expression over several lines is one statement. If a statement is discarded, those \
before it are executed and none after it is sent. Ctrl-C aborts the motion and drops the waiting statements. While a \
run commands the arm, nothing is sent.

Exit codes: 0 it runs (with --wait: it ended; with --interpreter: all statements were executed), 1 the controller \
rejects it or discards a statement, 3 no connection, no messages, or local control, 4 it failed while it \
ran, was replaced, or was aborted.

Examples:
  outrigger script 192.168.56.101 weld.script
  outrigger script 192.168.56.101 weld.script --wait
  outrigger script 192.168.56.101 moves.script --interpreter
  echo 'popup(\"hello\")' | outrigger script 127.0.0.1 - --json")]
    Script(ScriptArgs),
    /// Forward the serial line at the tool (RS-485) to a local TCP port or pseudo-terminal
    #[command(after_help = "\
Needs an e-Series or PolyScope X robot with UR's URCap \"Tool Communication Forwarder\" (on PolyScope 5: rs485), which \
forwards the line on port 54321 (with a port base B: B + 17) to one client at a time; a second client gets no answer. \
The settings are sent as a secondary program, beside the running program, in remote control only, and confirmed by the \
robot's states; if the robot has them already, nothing is sent. They stay when this command ends.
Bytes are forwarded unchanged in both directions, for one local client at a time. If the robot is lost, this command \
connects and sets it up again; meanwhile local clients are disconnected and written bytes are dropped. Run one such command \
per robot: bytes written to a second one wait at the robot, and reach the tool when the first ends. The network does not \
preserve pauses between characters, so clients must find the end of a message by its length. Ctrl-C ends it.
port-linux/docs/tool-line.md shows how to reach a gripper.

Exit codes: 0 ended by Ctrl-C, 1 no local port or pseudo-terminal, 2 invalid settings, 3 no connection, no tool line, no \
URCap, or settings not accepted by the robot.

Examples:
  outrigger tool 192.168.56.101 --baud 115200 --voltage 24 --pty /tmp/gripper
  outrigger tool 192.168.56.101 --baud 1000000 --parity even --listen 127.0.0.1:5020
  outrigger sim ur --tool-gripper                                    and, in another terminal:
  outrigger tool 127.0.0.1 --baud 115200 --voltage 24 --pty gripper")]
    Tool(ToolArgs),
    /// Show a board's state and events live, and write its recordings to files
    #[command(after_help = "\
Listens only; sends nothing to the board. The board sends to the address device.telemetry of its \
configuration. Datagrams of other senders are ignored and counted. On a terminal it is a full-screen view \
(q ends it); in a pipe, one line per second and event; with --json, one JSON object per line. \
Exit code 3, with what to check, if nothing arrives from the board within ten seconds.

Examples:
  outrigger watch 192.168.56.60
  outrigger watch 192.168.56.60 --out recordings
  outrigger watch 10.0.2.15 --json --duration 10 | jq .mode")]
    Watch(WatchArgs),
    /// Read or replace the configuration of a board at the bench, over its serial line, without a compiler
    #[command(subcommand)]
    Board(BoardCommand),
    /// Power, brakes, stops and programs of a robot: query, bring up, recover, load, play
    #[command(after_help = "\
Without a command it shows everything that the dashboard server reports. A command that the controller's software does \
not have is rejected, with the software that has it. Commands that change something need remote control on \
e-Series. `bring-up`, `recover` and `brake-release` release the brakes; only `play` moves the robot. \
Exit code 4, with what to do, if the controller rejects a command or a goal is not reached.

Examples:
  outrigger dashboard 192.168.56.101                     all values
  outrigger dashboard 192.168.56.101 bring-up            power on, brakes, until RUNNING
  outrigger dashboard 192.168.56.101 recover             why it stopped; recover after an acknowledgement
  outrigger dashboard 192.168.56.101 load cell/weld.urp
  outrigger dashboard 192.168.56.101 play
  outrigger dashboard 127.0.0.1:40000 --json | jq .robot_mode")]
    Dashboard(DashboardArgs),
    /// Publish a robot to ROS 2, as UR's driver would, without an installation of it
    #[cfg(feature = "ros2")]
    #[command(after_help = "\
Reads only; sends nothing to the robot. Topics, types and units are in port-linux/docs/ros2.md: joint_states, /tf, \
tcp_pose_broadcaster/pose, io_and_status_controller/io_states and more, for any controller from CB2 on. Values that a \
controller does not report are not published.

A node that only reads uses every network interface, as other ROS 2 programs do; one that commands uses 127.0.0.1. --interface \
selects one. ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST limits it to this computer; ROS_DOMAIN_ID, ROS_DISTRO, ROS_LOCALHOST_ONLY \
and ROS_STATIC_PEERS are used as well. If other computers have another release of ROS 2, name it with --distro, because \
some message layouts differ. If others do not find the node or receive nothing, run `outrigger doctor ROBOT --ros2` with the same options.

Examples:
  outrigger ros2 192.168.56.101
  outrigger ros2 192.168.56.101 --interface 192.168.1.20 --distro humble
  outrigger ros2 192.168.56.101 --interface 192.168.1.20 --peer 192.168.7.30
  outrigger ros2 127.0.0.1:40000 --namespace /cell/arm1 --tf-prefix arm1_
  outrigger ros2 192.168.56.101 --surface native --namespace serial
  outrigger ros2 192.168.0.20 --kind krc
  ros2 topic echo /joint_states                on any machine with ROS 2 in one of these networks")]
    Ros2(Box<crate::ros2::Ros2Args>),
    /// Print recorded traffic as one JSON object per message
    #[command(after_help = "\
FILE has the bytes as received, or is a recording of `outrigger record`; '-' reads standard input.
Names are those of the specification, in snake_case; vectors are arrays; enumerations are numbers.
Data of 30004 has neither names nor types: names come from --recipe (a recording has them), types from \
the set-up reply in FILE, or else from the names. Without names, values are a list.
For fri, FILE has datagrams of both directions one after another: measurements of 916 bytes (from the \
robot) and commands of 376 bytes (to it), distinguished by their headers. Vectors are in the order of the wire: \
x, y, z, then rotation about z, y, x; frames are three rows of four.
Numbers that JSON cannot represent are the strings \"NaN\", \"Infinity\" and \"-Infinity\".
Malformed data: an error with the byte offset on standard error and exit code 1, after everything before it \
has been printed.

Examples:
  outrigger decode --port 30003 realtime.bin
  outrigger decode --port 30004 --recipe timestamp,actual_q rtde.bin
  outrigger decode --port fri datagrams.bin | jq .msr_jnt_pos
  nc 192.168.56.101 30002 | outrigger decode --port 30002 - | head -n 3")]
    Decode(DecodeArgs),
    /// Generate shell completions
    #[command(after_help = "\
The packages install them. To install them yourself:
  outrigger completions bash > ~/.local/share/bash-completion/completions/outrigger
  outrigger completions zsh > DIR/_outrigger             DIR is one of $fpath
  outrigger completions fish > ~/.config/fish/completions/outrigger.fish")]
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command, to a directory
    #[command(after_help = "\
The pages have the texts of --help. The packages install them. To install them yourself:
  outrigger manual ~/.local/share/man/man1
  man outrigger-run")]
    Manual(ManualArgs),
}

#[derive(Debug, Subcommand)]
enum SimCommand {
    /// A Universal Robots controller: ports 29999, 30001-30004, 30011-30013, 30020 from 5.10; from 10.11 on 80 and no
    /// 29999
    #[command(after_help = SIM_EXAMPLES, after_long_help = format!("{SIM_EXAMPLES}\n\nFaults:\n{}", Fault::help()))]
    Ur(Box<SimUrArgs>),
    /// A KUKA KRC with an LWR 4+, limited to its Fast Research Interface (UDP)
    #[command(after_help = KRC_EXAMPLES, after_long_help = krc_help())]
    Krc(Box<SimKrcArgs>),
    /// A sensor on a serial line, a socket or an address: by a script, from a file, or in front of a surface
    #[command(after_help = SENSOR_EXAMPLES, after_long_help = sensor_help())]
    Sensor(Box<SimSensorArgs>),
}

fn sensor_help() -> String {
    format!("{SENSOR_EXAMPLES}\n\nParts of a script:\n{}", Part::help())
}

fn krc_help() -> String {
    let (faults, assumptions) = (krc::Fault::help(), krc::Assumption::help());
    format!("{KRC_EXAMPLES}\n\nFaults:\n{faults}\nAssumptions, with their defaults:\n{assumptions}")
}

/// Prints the reason why a command failed, and the errors of outputs that could not be written. Returns the exit code
/// of the process.
fn report(ended: Outcome) -> u8 {
    let (messages, code) = ending(ended);
    messages.iter().for_each(|text| complain(text));
    code
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    main_with(std::env::args_os()).into()
}

/// Runs the command line `words`, of which the first is the name of the program, and returns the exit code. Some
/// commands end the process by themselves.
#[must_use]
pub fn main_with(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    os::wake_promptly();
    use_screen(&FullScreen);
    let Cli { verbose, quiet, command } = match parse(words) {
        Ok(cli) => cli,
        Err(error) => match without_ros2(&error) {
            Some(failure) => {
                complain(&failure.told());
                return failure.code();
            }
            None if error.use_stderr() => error.exit(),
            None => return report(error.print().or_else(|error| output_closed(&error))),
        },
    };
    if verbose {
        be_verbose();
    }
    if quiet {
        be_quiet();
    }
    let code = report(run(command));
    if worker::is_one_left_behind() {
        // A thread that was left behind may hold resources that an orderly exit would wait for.
        worker::exit_at_once(code);
    }
    code
}

/// Returns a failure with advice how to obtain a build with ROS 2, if the arguments need one and this build lacks
/// it.
fn without_ros2(error: &clap::Error) -> Option<Failure> {
    use clap::error::{ContextKind, ContextValue};
    const HOW: &str = "is part of the packages of a release and of builds with the feature ros2, which this one does not have; in the source of this \
                       version (port-linux/docs/install.md): cargo install --path port-linux/cli --features ros2";
    if cfg!(feature = "ros2") {
        return None;
    }
    let word = match (error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::InvalidArg)) {
        (Some(ContextValue::String(word)), _) if word == "ros2" => "`outrigger ros2`",
        (_, Some(ContextValue::String(word))) if word == "--ros2" => "--ros2",
        (_, Some(ContextValue::String(word))) if word == "--ros" => "--ros",
        _ => return None,
    };
    Some(Failure::Usage(format!("{word} {HOW}")))
}

/// Runs the command given by these arguments, the first of which is the program's name.
///
/// # Errors
/// The command's own errors; [`Failure::Usage`] for invalid arguments.
pub fn run_words(words: &[&str]) -> Outcome {
    run(parse(words).map_err(|error| Failure::Usage(error.to_string()))?.command)
}

/// Parses the arguments of a command line, the first of which is the program's name.
fn parse(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Cli, clap::Error> {
    let mut command = grouped(Cli::command());
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn run(command: Command) -> Outcome {
    match command {
        Command::Sim(SimCommand::Ur(args)) => crate::simulate::run(&args),
        Command::Sim(SimCommand::Krc(args)) => crate::simulate::krc::run(&args),
        Command::Sim(SimCommand::Sensor(args)) => crate::simulate::sensor::run(&args),
        Command::Demo(args) => crate::demo::run(&args),
        Command::Example(args) => crate::example::run(&args),
        Command::Monitor(args) => crate::dispatch::monitor(&args),
        Command::View(args) => crate::dispatch::view(&args),
        Command::Io(args) => crate::io::run(&args),
        Command::Init(args) => crate::init::run(&args),
        Command::CheckConfig(args) => crate::dispatch::check_config(&args),
        Command::Doctor(args) => crate::dispatch::doctor(&args),
        Command::Run(args) => crate::dispatch::run(&args),
        Command::Move(args) => crate::dispatch::moved(&args),
        Command::Ctl(args) => crate::ctl::run(&args),
        Command::Replay(args) => crate::dispatch::replay(&args),
        Command::Export(args) => crate::export::run(&args),
        Command::Record(args) => crate::dispatch::record(&args),
        Command::Script(args) => crate::script::run(&args),
        Command::Tool(args) => crate::tool::run(&args),
        Command::Watch(args) => crate::watch::run(&args),
        Command::Board(command) => crate::board::run(&command),
        Command::Dashboard(args) => crate::dashboard::run(&args),
        #[cfg(feature = "ros2")]
        Command::Ros2(args) => crate::dispatch::ros2(&args),
        Command::Decode(args) => crate::decode::run(&args),
        Command::Completions(args) => crate::manual::completions(&args, Cli::command()),
        Command::Manual(args) => crate::manual::manual(&args, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_option_has_the_same_names_in_every_command() {
        fn check(command: &clap::Command, found: &mut usize) {
            for arg in command.get_arguments() {
                let expected = match arg.get_id().as_str() {
                    "seconds" => (Some("duration"), None),
                    "software" => (Some("polyscope"), None),
                    "json" => (Some("json"), Some('j')),
                    "out" => (Some("out"), Some('o')),
                    _ => continue,
                };
                assert_eq!((arg.get_long(), arg.get_short()), expected, "{} {arg}", command.get_name());
                *found += 1;
            }
            command.get_subcommands().for_each(|part| check(part, found));
        }
        let mut found = 0;
        check(&Cli::command(), &mut found);
        assert!(found > 20, "{found}");
    }

    #[test]
    fn a_run_is_started_stopped_and_reset_by_either_name() {
        let parsed = |command: &str, word: &str| {
            format!("{:?}", Cli::parse_from(["outrigger", command, "127.0.0.1", word]).command)
        };
        for (new, old) in [("start", "request"), ("stop", "release"), ("reset", "acknowledge")] {
            assert_eq!(parsed("ctl", new), parsed("ask", old));
        }
    }

    #[cfg(not(feature = "ros2"))]
    #[test]
    fn a_build_without_ros2_says_how_to_get_it_and_of_other_words_what_clap_says() {
        let told = |words: &[&str]| {
            let words = std::iter::once(&"outrigger").chain(words);
            without_ros2(&Cli::try_parse_from(words).expect_err("no such words")).map(|failure| failure.to_string())
        };
        for words in [
            &["ros2"] as &[_],
            &["ros2", "--help"],
            &["ros2", "10.0.0.1", "--domain", "7"],
            &["doctor", "10.0.0.1", "--ros2"],
            &["sim", "ur", "--ros"],
        ] {
            assert!(told(words).is_some_and(|told| told.ends_with("--features ros2")), "{words:?}");
        }
        assert_eq!(told(&["ros3"]), None);
        assert_eq!(told(&["doctor", "10.0.0.1", "--rods"]), None);
    }
}
