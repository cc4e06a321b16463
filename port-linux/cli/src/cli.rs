//! The command line: its commands and options, and the exit code of the process.

mod help;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use outrigger_sim::fault::Fault;
use outrigger_sim::krc;
use outrigger_sim::sensor::Part;

use self::help::{DOCTOR_HELP, KRC_EXAMPLES, SENSOR_EXAMPLES, SIM_EXAMPLES, VIEW_HELP};
use crate::args::{
    CheckConfigArgs, DecodeArgs, ExportArgs, MonitorArgs, RecordArgs, ReplayArgs, RunArgs, ScriptArgs, ViewArgs,
    WatchArgs,
};
use crate::ask::AskArgs;
use crate::board::BoardCommand;
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
use outrigger::show::{be_verbose, complain, use_screen};

/// The command line of `outrigger`.
#[derive(Debug, Parser)]
#[command(
    name = "outrigger",
    version,
    about = "Reads a Universal Robots arm or a KUKA LWR every cycle, judges the link, and steers it from local sensors",
    after_help = "\
ROBOT is HOST[:PORT-BASE]. Without a port base the controller's own ports are used; with base B, \
port p is found at B + p - 29999 (two simulated controllers on one machine: bases 40000 and 41000).

First steps, no robot needed:
  outrigger demo                         watch a co-controller hold a distance, lose its link and recover
  outrigger sim ur --software 5.15       a simulated controller, in one terminal ...
  outrigger monitor 127.0.0.1            ... its state and link in another ...
  outrigger view 127.0.0.1               ... and the arm live on a page in a browser
  outrigger example half-turn > half-turn.toml    a configuration that moves it; `outrigger example` lists all
  outrigger sim krc --remote 127.0.0.1:49938      a simulated KUKA KRC, and in another terminal:
  outrigger monitor 127.0.0.1 --kind krc

First steps with a robot (nothing here moves it):
  outrigger monitor 192.168.56.101       state, link grade, and why commanding would be refused
  outrigger doctor 192.168.56.101        what this host, link and firmware can do, and what to fix
  outrigger monitor 192.168.0.20 --kind krc       a KUKA KRC, which sends to this host by itself

Exit codes: 0 done, 1 bad input, 2 usage, 3 connection, 4 fallback, fault or failed check, 130 ended early by Ctrl-C.
Outrigger performs no safety function: keep the emergency stop in reach."
)]
pub(crate) struct Cli {
    /// Show more detail: each change of the link's grade, and histograms
    #[arg(short, long, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a complete run without hardware: a simulated arm held at a distance by a sensor
    #[command(after_help = "\
A simulated controller, a distance sensor and a co-controller talk over this machine's loopback \
network. A link fault is injected; the demo shows the fallback, acknowledges it, re-arms, and checks \
itself: exit code 4 and the name of the failed check if anything is not as it should be, 130 if q or Ctrl-C \
ended it before it could be judged.

For two seconds it measures for how long this machine keeps programs waiting. Where that is long, the limits of the \
link and the bounds of the checks are widened to it, then time passes slower for both sides; the screen says so. A \
pause that was too long all the same is measured, counted and shown: the stop is judged, and the arm re-armed, at most \
three times.

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
The examples are part of the program; a name may be given without its extension.

Examples:
  outrigger example
  outrigger example half-turn > half-turn.toml
  outrigger sim ur                                       in another terminal
  outrigger run half-turn.toml --robot 127.0.0.1")]
    Example(ExampleArgs),
    /// Show a robot's state and the quality of the link, live
    #[command(after_help = "\
Reads only; nothing is sent to the robot. On a terminal it is a full-screen view (q ends it), piped it \
is one line per second, with --json one JSON object per line. A lost link is reported with its cause \
and reconnected.

With --kind krc ROBOT is the address of a KUKA KRC, which sends by itself to --listen (0.0.0.0: whoever \
sends). Each measurement is answered by the KRC's own setpoint, which moves nothing; the KRL program is \
asked for nothing. Unanswered, a KRC rates its link UNACCEPTABLE.

Examples:
  outrigger monitor 192.168.56.101
  outrigger monitor 127.0.0.1:40000 --seconds 10
  outrigger monitor 127.0.0.1 --json | jq .grade
  outrigger monitor 192.168.0.20 --kind krc
  outrigger monitor 127.0.0.1 --kind krc --listen 127.0.0.1:49940 --json | jq .krc_quality")]
    Monitor(MonitorArgs),
    /// Show a robot live on a page in a browser: the arm in 3D, plots, link, events
    #[command(after_help = VIEW_HELP)]
    View(ViewArgs),
    /// Show a robot's inputs and outputs, or set outputs while any program runs
    #[command(after_help = "\
Without a SETTING it shows what is there: once, or on and on with --live. With some it sets them together, beside \
the program that runs and without disturbing its motion, and says of each whether the controller shows it.

  digital-out.N=on|off         control box, 0 to 7
  configurable-out.N=on|off    control box, 0 to 7; 3.0 and later
  tool-out.N=on|off            tool, 0 and 1
  analog-out.N=5V|12mA|0.5     control box, 0 and 1; a bare share keeps the unit
  tool-voltage=0|12|24         supply of the tool [V]
  flag.N=on|off                0 to 31; no controller shows them
  payload=KG[@X,Y,Z]           mass [kg], centre [m]; with no centre, it stays (3.3 on)
  payload=KG@X,Y,Z/IXX,IYY,IZZ,IXY,IXZ,IYZ   and inertia [kg m^2] (5.10 on)
  tcp=X,Y,Z,RX,RY,RZ           tool centre point from the flange [m, rad as a rotation vector]
  gravity=X,Y,Z                up is where this points from the base [m/s^2], e.g. 0,0,9.82
  speed-slider=0.5             0 to 1; a jump while the arm moves can stop it with a fault
  zero-force-torque            what the sensor reads now becomes zero; 5.0 and later

Where the robot has RTDE (3.4 and later) and nobody else owns the inputs, digital and analog outputs and the slider \
are set by it, everything else by text; --via decides otherwise. In local control a controller takes no text: newer \
ones say so, older ones are silent, and nothing is confirmed. A KRC listens to one computer only: there the run that \
commands it is asked, by `outrigger ask CONFIG set`.
Exit code 4 where something was refused or not confirmed, 3 without a connection.

Examples:
  outrigger io 192.168.56.101
  outrigger io 192.168.56.101 --live
  outrigger io 192.168.56.101 digital-out.3=on tool-voltage=24
  outrigger io 192.168.56.101 analog-out.0=5V payload=1.2@0,0,0.05 --model ur5e
  outrigger io 127.0.0.1:40000 --json | jq .digital_out")]
    Io(IoArgs),
    /// Write a first configuration for a UR robot, with conservative limits, and try it on a simulated arm
    #[command(after_help = "\
Looks at the robot for some seconds, asks what the arm is to do and where the sensor is, and writes a file with a comment to \
everything. A file that exists is left as it is. Then `doctor` looks at the robot with it, and a simulated arm with the same \
software and a simulated sensor can show what it does. Nothing is sent to the robot.
Without a terminal every question needs its argument, and the error says which.
For a KUKA LWR begin with port-linux/docs/kuka-lwr.md.

Examples:
  outrigger init 192.168.56.101
  outrigger init 192.168.56.101 --task standoff --sensor udp:5005 --from 192.168.56.50 --scale 0.001 --out seam.toml
  outrigger init 192.168.56.101 --task servo --model ur5 --software 3.15     the robot is away
  outrigger init 127.0.0.1 --task standoff --sensor udp:5005 --dry-run 30    beside `outrigger sim ur`")]
    Init(Box<InitArgs>),
    /// List every fault of a configuration, or the values that it would put in force
    #[command(after_help = "\
One line per problem: file, line, key, what was found, what was expected, and the nearest name.
Exit code 1 where there is one. A file with [device] is a board's.

Examples:
  outrigger check-config half-turn.toml")]
    CheckConfig(CheckConfigArgs),
    /// Check host, network and robot, and list what to fix before enabling motion
    #[command(after_help = DOCTOR_HELP)]
    Doctor(Box<DoctorArgs>),
    /// Steer a robot according to a configuration. This moves the robot
    #[command(after_help = "\
From Linux only: elsewhere it is refused. One process per robot. It commands when it is asked to and every precondition is met; any fault ends \
commanding, and nothing resumes by itself after that: acknowledge, then request. While commanding lasts, a slider at 0, or a pause \
with any session.path but text, only holds the arm for up to 10 s.
Lines on standard input: request, resume, release, acknowledge, quit; `request 3` names the epoch that
a script has read. A request that was typed before the arm stopped is refused. On a terminal: keys r, c, s, a, q.
Other processes of this user ask it by `outrigger ask`, unless run.expert.requests = false.
With robot.kind = \"krc\" in CONFIG it listens for the measurements of a KUKA KRC (Fast Research Interface) and \
answers each, and at the end says how the link was: shares of grades, fallbacks, round trips and jitter.
SIGINT, SIGTERM and SIGHUP (a closed terminal) stop the arm and confirm standstill; a second SIGINT or SIGTERM, a \
quarter of a second later or more, ends at once. Neither waits for the terminal, a pipe or a disk: what they do not take \
is dropped, counted and told at the end.
Exit code 4 where it did not command again after a fallback; an end that was asked for, by a signal, too, is 0.

Examples:
  outrigger check-config half-turn.toml
  outrigger run half-turn.toml
  outrigger run half-turn.toml --robot 127.0.0.1:40000 --json | tail -n 1
  outrigger run half-turn.toml --web
  outrigger run krc-swing.toml --record swing.mcap")]
    Run(RunArgs),
    /// Follow a motion from a file, from its first waypoint to its last, or move to one target. This moves the robot
    #[command(after_help = "\
FILE is a table, a waypoint a line: t,q0,...,q5 and, where given, qd0,...,qd5 and qdd0,...,qdd5, in seconds, rad, rad/s \
and rad/s2; or JSON with the fields of FollowJointTrajectory; or a recording of ours (.mcap): what the arm did. \
port-linux/docs/motions.md has them in full. From Linux only: elsewhere it is refused.
Everything is checked before anything moves: which waypoint, which joint, which limit. The motion's time goes as fast as \
the robot's speed slider lets it; any fault ends it with the arm at rest; at a terminal you are asked whether it is to go on, except with --to and after Ctrl-C.
A slider at 0 holds the motion for up to 10 s, and the arm goes on by itself when it is moved up. With every --mode but text \
a pause at the pendant holds it, too, and the arm goes on by itself when resumed within 10 s. \
SIGINT stops the arm.
Each joint has to be within 0.02 rad of where the motion begins; if the first waypoint is due later than at 0 s, it begins where the arm is.
--check does not ask the robot: it names the start, which is compared with the arm only when the motion is made.
With --to, the controller moves the arm to one place by itself: by movej, at the joint speed given, or with --linear by movel, the tool on a \
straight line at its own speed. What limits can be checked for a pose or a line is checked before anything moves, and the rest is watched; a \
pose out of reach is refused. With --mode player it makes the motion of the file by itself.
With --to and --mode servo, buffered or player, the controller connects to this host (program.expert.port, 50001): a firewall has to let it in.
Beside a KUKA LWR give a configuration: q0,...,q6, at any period from 1 to 100 ms.
The result is one line, alone on standard output; --json makes it one object. Progress and all else are on standard error, and so is \
the reason of a motion that is not done, which follows the result.
Exit codes: 0 done, 1 a file or a motion that cannot be, 3 connection, 4 it ended before its end, and why, 130 it was ended by Ctrl-C.

Examples:
  outrigger example there > there.csv
  outrigger move 192.168.56.101 there.csv --check
  outrigger move 192.168.56.101 there.csv --report there.html
  outrigger move 192.168.56.101 there.csv --goal-tolerance 0.002 --goal-time 1
  outrigger move 192.168.56.101 recording.mcap
  outrigger move cell.toml plan.json --mode buffered
  outrigger move 192.168.56.101 --to q=0,-1.57,-1.57,-1.57,1.57,0 --speed 0.3
  outrigger move 192.168.56.101 --to pose=0.4,-0.2,0.3,0,3.14,0
  outrigger move 192.168.56.101 --to pose=0.4,-0.2,0.3,0,3.14,0 --linear --speed 0.25
  outrigger move lwr.toml plan.json --report plan.html")]
    Move(MoveArgs),
    /// Control a running session: status, start, stop, outputs, motions
    #[command(
        visible_alias = "ctl",
        after_help = "\
ROBOT is the robot that `outrigger run` or `move` commands from this machine, as the same user; or give its configuration.

  status                   mode, epoch, link, latched reason, and what a request would be refused for
  watch                    the same, and again with each change, at most ten times a second
  start (or request)       to command; answered when it is granted or refused. This moves the robot
  resume                   to go on with a motion that a fallback suspended. This moves the robot
  stop (or release)        to stop the arm; never refused, and ahead of whatever else is asked
  reset (or acknowledge)   to clear the latched reason
  set SETTING ...          outputs, as `outrigger io` takes them; answered when the controller shows them
  impedance stiffness=N[,N...] damping=N[,N...]
                           of a KUKA LWR in impedance control: one number for all joints or axes, or one for each; either \
or both. An arm that something bends moves by it
  sample SOURCE VALUE ...  a reading of a [[source]] with input = \"requests\", 1 to 6 values in its own unit
  move FILE | --to q=...   a motion, while the arm is commanded: it is checked whole before anything moves. It ends with \
this command: Ctrl-C cancels it. This moves the robot
  cancel                   to end that motion, whoever asked for it: the arm comes to rest, and stays commanded
  freedrive [LIMIT=N ...]  a hand moves the arm until Ctrl-C, or for --seconds N; of a run with session.path = \"player\". \
This moves the robot
  force z=-20 ...          the arm pushes or yields along the axes named, likewise. This moves the robot
  stiffen                  to end freedrive or force mode: the arm comes to rest, and stays commanded
  renew                    to renew them on the same connection; this command does so by itself, and another's is refused
  tool-contact on|off      whether a contact of the tool ends a move of the player, and force mode
  hand-back                our program on the controller ends, and the pendant's goes on behind it
  resend                   our program is sent to the controller again
  dashboard WORD           of a board only: power-on, brake-release, unlock-protective-stop, close-popup or close-safety-popup

What acts (request, resume, set, impedance, sample, hand-back, resend, freedrive, force, tool-contact, move, dashboard) carries the epoch that was seen: it counts up with each connection and each \
loss of authority, and another one than the present is refused. Without --epoch it is asked for just before, which means: \
whatever happened until now. A script that has looked at a status gives --epoch. \
request and resume are withdrawn by this command itself (`withdraw`) after --timeout, and after Ctrl-C.

Requests are lines of JSON over a socket of this user's; port-linux/docs/requests.md has keys, answers and errors.
Exit codes: 0 done, 1 not understood by the run, 2 usage, 3 nobody runs beside this robot or answers, 4 refused, not set, \
not reached with --wait, or a motion that did not come to its end, 130 Ctrl-C has cancelled it.

Examples:
  outrigger ask 192.168.56.101 status
  outrigger ask 192.168.56.101 request --wait && echo commanding
  outrigger ask half-turn.toml release --wait
  outrigger ask 127.0.0.1:40000 status --json | jq .epoch
  outrigger ask 127.0.0.1:40000 request --epoch 3
  outrigger ask 127.0.0.1:40000 set digital-out.3=on analog-out.0=5V
  outrigger ask 127.0.0.1:40000 sample seam 0.0503
  outrigger ask half-turn.toml move swing.csv
  outrigger ask half-turn.toml move --to q=0,-1.57,-1.57,-1.57,1.57,0 --speed 0.3
  outrigger ask 127.0.0.1:40000 watch --json
  outrigger ctl half-turn.toml stop --wait                the same as release, by its other name"
    )]
    Ask(AskArgs),
    /// Run the engine again from recordings, and compare its behaviour
    #[command(after_help = "\
DUMP is what `run` wrote for a fallback (run.recordings), or `watch` of a board, or the recording of a whole run \
(run.record). Prints the transitions; exit code 4 with the first difference where the same inputs do \
not give the same transitions and commands. Of several recordings it prints a verdict each; the exit code is 4 where one \
differs, else 1 where one cannot be replayed.

Examples:
  outrigger replay recordings/2026-01-31-12-00-00-UTC-StateStale-0.outrigger
  outrigger replay swing.mcap
  outrigger replay recordings/*")]
    Replay(ReplayArgs),
    /// Record all data that a robot sends to an MCAP file, for Foxglove, PlotJuggler and tables
    #[command(after_help = "\
Reads only; nothing that moves the robot is sent. The file has every field of every message, decoded with a \
schema, and the bytes themselves with their times of arrival. A lost link is reported, logged in the file and \
reconnected. Reading never waits for the disk: where that is too slow, the oldest is dropped, counted and \
logged. Interrupt it (Ctrl-C) or give --seconds: the file is complete either way.
The channels are listed in port-linux/docs/recording.md.

Examples:
  outrigger record 192.168.56.101 --out weld.mcap
  outrigger record 127.0.0.1:40000 --out test.mcap --seconds 60
  outrigger record 192.168.0.20 --kind krc --out lwr.mcap
  outrigger decode --port fri lwr.mcap | jq 'select(.message == \"measurement\") | .msr_jnt_pos'
  outrigger decode --port 30003 weld.mcap | head -n 1
  outrigger export weld.mcap --csv weld.csv")]
    Record(RecordArgs),
    /// Export a table, or the bytes of a port, from a recording
    #[command(after_help = "\
The table has one row per state; columns are the specification's names, vectors as name_0 and on, in the \
units of port-linux/docs/recording.md; arrival_time is in seconds since 1970. pandas and PlotJuggler open it. \
The bytes are those that came, bit by bit: what `decode` reads, and what a parser can be tested with.

Examples:
  outrigger export weld.mcap --csv weld.csv
  outrigger export weld.mcap --csv - --port 30003 | head -n 3
  outrigger export weld.mcap --raw realtime.bin --port 30003
  outrigger export lwr.mcap --raw datagrams.bin --port 49938      49938 stands for FRI")]
    Export(ExportArgs),
    /// Send a program file to the controller, and report its outcome. This may move the robot
    #[command(after_help = "\
A program that runs is replaced at once. Whether the new one started, or what is wrong with it and where, is \
taken from what the controller says on port 30001. Software before 5.0 names no programs: there the only \
proof of a start is that no program ran before and one runs afterwards, and the answer says so. \
With --wait, its messages (textmsg, popup) are printed as they come, until it ends.

With --interpreter the file is a list of statements, as they stand in a program's body, for interpreter mode (port \
30020, software 5.10 and later): a program that takes them is started, each statement is sent once the one before it \
is accepted, and their execution is followed. A block or an expression over several lines is one statement. A \
statement that is discarded ends it: those before it are executed, none behind it is sent. Ctrl-C aborts the motion \
and drops what waits. A run that commands the arm is not disturbed: then nothing is sent.

Exit codes: 0 it runs (with --wait: it ended; with --interpreter: all statements were executed), 1 the controller does \
not take it for a program, or discards a statement, 3 no connection, no news, or local control, 4 it failed while it \
ran, was replaced, or was aborted.

Examples:
  outrigger script 192.168.56.101 weld.script
  outrigger script 192.168.56.101 weld.script --wait
  outrigger script 192.168.56.101 moves.script --interpreter
  echo 'popup(\"hello\")' | outrigger script 127.0.0.1 - --json")]
    Script(ScriptArgs),
    /// Forward the serial line at the tool (RS-485) to a local TCP port or pseudo-terminal
    #[command(after_help = "\
An arm of e-Series or PolyScope X is needed, and UR's URCap \"Tool Communication Forwarder\" on it (on PolyScope 5: rs485), which \
relays the line on port 54321, with a port base B on B + 17, to one client at a time; a second one is connected there and gets no answer. \
The settings are sent as a secondary program, beside the program that runs, in remote control only. They are read back from the \
robot's states; where the robot shows them already, nothing is sent. Set there, they stay when this command ends.
Bytes are passed on as they are, both ways, for one local client at a time. A robot that is lost is connected to again and set up \
again; meanwhile clients are closed, and what is written is dropped. Run one such command for each robot: what is \
written to a second one waits at the robot, and reaches the tool when the first ends. Silences between characters are \
not kept over the network, so clients must tell messages apart by their length. Ctrl-C ends it.
port-linux/docs/tool-line.md shows how to reach a gripper.

Exit codes: 0 ended by Ctrl-C, 1 the local end cannot be made, 2 settings that do not exist, 3 no connection, no such line, no \
URCap, or settings that the robot does not take.

Examples:
  outrigger tool 192.168.56.101 --baud 115200 --voltage 24 --pty /tmp/gripper
  outrigger tool 192.168.56.101 --baud 1000000 --parity even --listen 127.0.0.1:5020
  outrigger sim ur --tool-gripper                                    and, in another terminal:
  outrigger tool 127.0.0.1 --baud 115200 --voltage 24 --pty gripper")]
    Tool(ToolArgs),
    /// Show a board's state and events live, and write its recordings to files
    #[command(after_help = "\
Listens only; nothing is sent to the board. Where it sends to is device.telemetry of its \
configuration. Datagrams of others are ignored and counted. On a terminal it is a full-screen view \
(q ends it), piped it is one line per second and event, with --json one JSON object per line. \
Exit code 3 where nothing of the board arrives within ten seconds, with what to check.

Examples:
  outrigger watch 192.168.56.60
  outrigger watch 192.168.56.60 --out recordings
  outrigger watch 10.0.2.15 --json --seconds 10 | jq .mode")]
    Watch(WatchArgs),
    /// Read or replace the configuration of a board at the bench, over its serial line, without a compiler
    #[command(subcommand)]
    Board(BoardCommand),
    /// Power, brakes, stops and programs of a robot: query, bring up, recover, load, play
    #[command(after_help = "\
Without a command it shows everything the controller tells. What the controller's software does not \
know is refused with the software that does. Commands that change something need remote control on \
e-Series; `bring-up` releases brakes and `play` moves the robot, nothing else here does. \
Exit code 4 where the controller refuses or a goal is not reached, with what to do about it.

Examples:
  outrigger dashboard 192.168.56.101                     everything it tells
  outrigger dashboard 192.168.56.101 bring-up            power on, brakes, until RUNNING
  outrigger dashboard 192.168.56.101 recover             why it stands; out of it once acknowledged
  outrigger dashboard 192.168.56.101 load cell/weld.urp
  outrigger dashboard 192.168.56.101 play
  outrigger dashboard 127.0.0.1:40000 --json | jq .robot_mode")]
    Dashboard(DashboardArgs),
    /// Publish a robot to ROS 2, as UR's driver would, without an installation of it
    #[cfg(feature = "ros2")]
    #[command(after_help = "\
Reads only; nothing is sent to the robot. Topics, types and units are in port-linux/docs/ros2.md: joint_states, /tf, \
tcp_pose_broadcaster/pose, io_and_status_controller/io_states and more, for any controller from CB2 on. What a controller does \
not tell is not published.

A node that only reads joins by every network interface, as any program of ROS 2, and one that commands by 127.0.0.1; --interface \
names one. ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST keeps it to this computer; ROS_DOMAIN_ID, ROS_DISTRO, ROS_LOCALHOST_ONLY and \
ROS_STATIC_PEERS are heeded as well. Where the others have another release of ROS 2, say \
which: some layouts differ. If others do not see it, or see nothing of it, ask `outrigger doctor ROBOT --ros2` with the same options.

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
FILE holds the bytes as they crossed the wire, or is what `outrigger record` wrote; '-' reads standard input.
Names are the specification's, in snake_case; vectors are arrays; enumerations are their numbers.
Data of 30004 carries neither names nor types: names come from --recipe (a recording knows them), types from \
the set-up reply in FILE, or from the names where there is none. Without names, values are a list.
For fri, FILE holds datagrams of either direction one behind the other: measurements of 916 bytes (from the \
robot) and commands of 376 (to it), told apart by their headers. Vectors are in the order of the wire: \
x, y, z, then rotation about z, y, x; frames are three rows of four.
Numbers JSON has no form for are the strings \"NaN\", \"Infinity\" and \"-Infinity\".
Malformed: a message with the byte offset on standard error, exit code 1, and everything before it \
has been printed.

Examples:
  outrigger decode --port 30003 realtime.bin
  outrigger decode --port 30004 --recipe timestamp,actual_q rtde.bin
  outrigger decode --port fri datagrams.bin | jq .msr_jnt_pos
  nc 192.168.56.101 30002 | outrigger decode --port 30002 - | head -n 3")]
    Decode(DecodeArgs),
    /// Generate shell completions
    #[command(after_help = "\
The packages install it. By hand, once:
  outrigger completions bash > ~/.local/share/bash-completion/completions/outrigger
  outrigger completions zsh > DIR/_outrigger             DIR is one of $fpath
  outrigger completions fish > ~/.config/fish/completions/outrigger.fish")]
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command, to a directory
    #[command(after_help = "\
They say what --help says. The packages install them. By hand:
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

/// Prints the reason why a command failed, and which of its output is missing. Returns the exit code of the process.
fn report(ended: Outcome) -> u8 {
    let (messages, code) = ending(ended);
    messages.iter().for_each(|text| complain(text));
    code
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    os::wake_promptly();
    use_screen(&FullScreen);
    let Cli { verbose, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => match without_ros2(&error) {
            Some(failure) => {
                complain(&failure.told());
                return failure.into();
            }
            None if error.use_stderr() => error.exit(),
            None => return report(error.print().or_else(|error| output_closed(&error))).into(),
        },
    };
    if verbose {
        be_verbose();
    }
    let code = report(run(command));
    if worker::is_one_left_behind() {
        // A thread that was left behind may hold resources that an orderly exit would wait for.
        worker::exit_at_once(code);
    }
    code.into()
}

/// Returns a failure with advice how to obtain a build with ROS 2, if the arguments need one and this build lacks
/// it.
fn without_ros2(error: &clap::Error) -> Option<Failure> {
    use clap::error::{ContextKind, ContextValue};
    const HOW: &str = "is part of builds with the feature ros2, which this one and the packages do not have; in the source of this \
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
    run(Cli::try_parse_from(words).map_err(|error| Failure::Usage(error.to_string()))?.command)
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
        Command::Ask(args) => crate::ask::run(&args),
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
