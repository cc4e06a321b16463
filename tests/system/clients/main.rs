//! Third-party clients read the simulated controller. The values that they decode must equal those of the simulation.
//!
//! urx 0.11.0 was written against real CB2 and CB3 controllers. Its limits on later software are not tested here. It
//! takes the robot mode package of 3.15 and 5.x, which has 47 B, for that of CB2. Therefore it never sees such a
//! robot running, and reads the fields that depend on the version (masterboard, TCP offset) at wrong offsets. The
//! value that it calls the pose on port 30003 is the *target* pose from CB3 on, because the packet has other fields
//! there than that of CB2.
//!
//! ur_rtde 1.6.5 reads port 30004 and writes inputs there, makes every call of the dashboard, and moves the arm by
//! its control script. UR's own RTDE client reads and writes port 30004 if a copy of it is available, and so do the
//! examples of UR's client library.
//!
//! For FRI 1.0 there is no remote computer that could lawfully be run here: all public ones are built on files of
//! KUKA that may not be used without its consent. A program that only reads measurements is not, and reads those of
//! the simulated KRC if a copy of it is available.

mod commands;
mod contact;
mod control;
mod foxglove;
mod library;

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::process::{Command, ExitCode};
use std::time::Duration;

use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{REAL_PORTS, Running, Server};
use outrigger_sim::{krc, udp};
use outrigger_tests::require::{self, Need, fri_client, python, test, vendor_client, workspace};
use outrigger_wire::robot::SoftwareVersion;

/// The joint angles of the arm \[rad\]. All differ and none is zero, so that a value read from a wrong offset is
/// noticed.
const Q: [f64; 6] = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];
const INPUTS: u32 = 0b1010_0110;

/// The numbers that the script of a third-party client printed, by name.
struct Understood(BTreeMap<String, Vec<f64>>);

impl Understood {
    fn of(output: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let name = words.next()?.to_owned();
            Some((name, words.map(|word| word.parse().expect("a number")).collect()))
        };
        Self(output.lines().filter_map(line).collect())
    }

    fn get(&self, name: &str) -> &[f64] {
        self.0.get(name).unwrap_or_else(|| panic!("the client says nothing of {name}"))
    }

    fn is(&self, name: &str, truth: &[f64]) {
        let found = self.get(name);
        let same = found.len() == truth.len() && found.iter().zip(truth).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(same, "{name}: the client reads {found:?}, the simulation has {truth:?}");
    }
}

/// Serves a controller of this software on a loopback address of its own, because the clients use the standard ports
/// only. The controller echoes RTDE input registers in its output registers.
fn serve(software: SoftwareVersion) -> Running {
    let mut options = Options { q: Q, ..Options::for_software(software) };
    options.rtde.echo = true;
    serve_with(options)
}

fn serve_with(options: Options) -> Running {
    let mut last = None;
    for host in 2..255 {
        let mut controller = Controller::new(options.clone()).expect("a controller that existed");
        controller.act(Action::DigitalInputs(INPUTS));
        match Server::bind(controller, IpAddr::V4(Ipv4Addr::new(127, 0, 30, host)), REAL_PORTS) {
            Ok(server) => return server.spawn().expect("a thread"),
            Err(error) => last = Some(error),
        }
    }
    panic!("no loopback address with ports 29999 to 30013 free: {last:?}");
}

fn read(server: &Running, script: &str, arguments: &[&str]) -> Understood {
    let path = workspace().join("tests/system/clients").join(script).to_string_lossy().into_owned();
    let address = server.address(Port::Secondary).ip().to_string();
    let arguments: Vec<&str> = [&*path, &*address].into_iter().chain(arguments.iter().copied()).collect();
    run(&python().to_string_lossy(), &arguments)
}

fn run(python: &str, arguments: &[&str]) -> Understood {
    Understood::of(&run_text(python, arguments))
}

/// Runs a Python script and returns its output. The time limit is 120 s, longer than any script takes; without it a
/// client would wait up to ten minutes for a missing message.
fn run_text(python: &str, arguments: &[&str]) -> String {
    let output = Command::new("timeout").args(["120", python]).args(arguments).output().expect("Python runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?} failed:\n{stdout}{stderr}");
    stdout.into_owned()
}

/// Checks the values that urx reads correctly on every software. The arm is at rest, so that they do not depend on
/// the time of reading.
fn reads_the_arm(software: SoftwareVersion) -> Understood {
    let server = serve(software);
    let understood = read(&server, "urx_reads.py", &[]);
    let controller = server.controller();
    let arm = controller.truth();
    let pose = arm.tool().to_pose();
    understood.is("secondary.q_actual", &arm.q);
    understood.is("secondary.q_target", &arm.targets.q);
    understood.is("secondary.pose", &pose);
    understood.is("realtime.q_actual", &arm.q);
    understood.is("realtime.pose", &if software.at_least(3, 0) { arm.tool_target() } else { pose });

    let times = understood.get("realtime.time");
    assert!(times.len() > 1);
    for pair in times.windows(2) {
        assert!((pair[1] - pair[0] - controller.period().as_secs_f64()).abs() < 1e-6, "{times:?}");
    }
    let clock = controller.clock().as_secs_f64();
    assert!(times.iter().all(|time| (100.0..clock).contains(time)), "{times:?} of a clock from 100 to {clock}");
    understood
}

fn reads_the_robot(software: SoftwareVersion, robot_mode: f64) {
    let understood = reads_the_arm(software);
    understood.is("secondary.robot_mode", &[robot_mode]);
    understood.is("secondary.digital_in", &[f64::from(INPUTS)]);
    understood.is("secondary.running", &[1.0]);
}

/// Checks ur_rtde's receive and I/O interfaces, at the state rate of the generation.
fn reads_and_writes_by_rtde(software: SoftwareVersion) {
    let server = serve(software);
    let period = server.controller().period();
    let frequency = (1.0 / period.as_secs_f64()).round();
    let understood = read(&server, "ur_rtde_reads.py", &[&frequency.to_string()]);
    let controller = server.controller();
    let arm = controller.truth();
    understood.is("q", &arm.q);
    understood.is("target_q", &arm.targets.q);
    understood.is("pose", &arm.tool().to_pose());
    understood.is("robot_mode", &[7.0]);
    understood.is("safety_mode", &[1.0]);
    understood.is("runtime_state", &[1.0]);
    understood.is("joint_mode", &[253.0; 6]);
    understood.is("digital_in", &[f64::from(INPUTS)]);
    understood.is("scaling", &[1.0]);
    // The number of states that a polling client sees in a second depends on the machine. Their times differ by a
    // whole number of cycles.
    let times = understood.get("times");
    assert!(times.len() > 20, "{} states in a second", times.len());
    for pair in times.windows(2) {
        let cycles = (pair[1] - pair[0]) * frequency;
        assert!(cycles > 0.5 && (cycles - cycles.round()).abs() < 1e-3, "{cycles} cycles between two states");
    }

    understood.is("done", &[1.0; 7]);
    understood.is("int_register", &[-4711.0]);
    understood.is("double_register", &[0.125]);
    understood.is("digital_out", &[f64::from(1_u32 << 3 | 1 << 13 | 1 << 17)]);
    understood.is("analog_out", &[2.5]);
    understood.is("slider", &[0.5]);
    understood.is("switched_off", &[1.0]);
    assert_eq!(controller.registers().0.ints[43], -4711);
    assert_eq!(controller.io().digital_out, 1 << 13 | 1 << 17, "masks: one output at a time");
}

/// Checks UR's own RTDE client at the state rate of the generation: it delivers every state, or counts the ones it
/// skips.
fn ur_reads_and_writes_by_rtde(software: SoftwareVersion) {
    let server = serve(software);
    let frequency = (1.0 / server.controller().period().as_secs_f64()).round();
    let folder = vendor_client().expect("asked for before").to_string_lossy().into_owned();
    let path = workspace().join("tests/system/clients/vendor_rtde.py").to_string_lossy().into_owned();
    let address = server.address(Port::Rtde).ip().to_string();
    let understood = run("python3", &[&path, &folder, &address, &frequency.to_string()]);
    let controller = server.controller();
    let arm = controller.truth();
    understood.is("version", &[f64::from(software.major), f64::from(software.minor)]);
    understood.is("q", &arm.q);
    understood.is("target_q", &arm.targets.q);
    understood.is("pose", &arm.tool().to_pose());
    understood.is("robot_mode", &[7.0]);
    understood.is("safety_mode", &[1.0]);
    understood.is("runtime_state", &[1.0]);
    understood.is("joint_mode", &[253.0; 6]);
    understood.is("digital_in", &[f64::from(INPUTS)]);
    let times = understood.get("times");
    let cycles: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) * frequency).collect();
    assert!(cycles.iter().all(|cycles| *cycles > 0.5 && (cycles - cycles.round()).abs() < 1e-3), "{cycles:?}");
    // The first of these states may also have followed skipped ones.
    let between: f64 = cycles.iter().map(|cycles| cycles.round() - 1.0).sum();
    let skipped = understood.get("skipped")[0];
    assert!(between <= skipped, "{between} states between those read, {skipped} skipped by the client");
    understood.is("int_register", &[-4711.0]);
    understood.is("double_register", &[0.125]);
    understood.is("digital_out", &[f64::from(1_u32 << 3)]);
    println!("{software}: {} states in two seconds, {skipped} skipped by the client, none missing", times.len());
}

/// Checks the control loop example of UR's own RTDE client, with a program on the controller that moves to the pose
/// in the registers.
fn ur_runs_its_control_loop(software: SoftwareVersion) {
    const PROGRAM: &str = include_str!("../../sim/tests/controllers/programs_of_users/rtde_control_loop.script");
    const MOVES: &str = "3";
    let server = serve_with(Options { q: Q, ..Options::for_software(software) });
    let mut secondary = TcpStream::connect(server.address(Port::Secondary)).expect("a connection");
    secondary.write_all(PROGRAM.as_bytes()).expect("the program is taken");
    let folder = vendor_client().expect("asked for before").to_string_lossy().into_owned();
    let path = workspace().join("tests/system/clients/vendor_control_loop.py").to_string_lossy().into_owned();
    let address = server.address(Port::Rtde).ip().to_string();
    let told = run_text("python3", &[&path, &folder, &address, MOVES]);
    let count = |word: &str| told.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("New pose"), count("Move to confirmed")), (4, 3), "{told}");
    let at = server.controller().truth().tool().position;
    let goal = [-0.12, -0.43, 0.14];
    assert!(at.iter().zip(goal).all(|(at, goal)| (at - goal).abs() < 1e-3), "it ended at {at:?}");
}

/// Checks that a third-party program reads the measurements of the simulated KRC for two seconds, one every 10 ms.
fn reads_measurements_of_a_krc() {
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let options = krc::Options { period: Duration::from_millis(10), ..krc::Options::default() };
    let start = options.start;
    let remote = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let server = udp::Server::bind(krc::Krc::new(options).expect("a KRC"), (Ipv4Addr::LOCALHOST, 0).into(), remote);
    let _krc = server.and_then(udp::Server::spawn).expect("a KRC at work");
    let script = fri_client().expect("asked for before");
    let port = port.to_string();
    let arguments = ["--bind", "127.0.0.1", "--ports", &port, "--duration", "2"];
    let output = Command::new("python3").arg(script).args(arguments).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    let heard = &report["ports"][&port];
    let (valid, last) = (heard["valid_fri_packets"].as_u64(), &heard["last_packet"]);
    assert!(valid.is_some_and(|valid| valid > 100) && heard["datagrams"].as_u64() == valid, "{heard}");
    assert_eq!((heard["invalid_packets"].as_u64(), heard["sequence_gaps"].as_u64()), (Some(0), Some(0)), "{heard}");
    let words = ["state", "quality"].map(|key| last[key].as_str());
    assert_eq!(words, [Some("MONITOR"), Some("UNACCEPTABLE")], "nobody answers");
    assert_eq!((last["power_bitfield"].as_u64(), last["control"].as_u64()), (Some(0x7f), Some(1)));
    let near = |value: &serde_json::Value, truth: f64| value.as_f64().is_some_and(|v| (v - truth).abs() < 1e-6);
    assert!(near(&last["measurement_period_s"], 0.01) && near(&last["command_period_s"], 0.01), "{last}");
    let joints = last["joint_position_rad"].as_array().expect("seven");
    assert!(joints.len() == 7 && joints.iter().zip(start).all(|(q, truth)| near(q, truth)), "{last}");
    println!("{} measurements read, none missing", valid.unwrap_or_default());
}

/// Checks that the Python package `mcap` reads a recording of `outrigger record`, by the schemas in the file.
fn reads_a_recording(software: SoftwareVersion) {
    let server = serve(software);
    let address = server.address(Port::Secondary).ip().to_string();
    let name = format!("recording-{}-{software}.mcap", std::process::id());
    let file = std::env::temp_dir().join(name);
    let out = file.to_str().expect("text");
    let words = ["outrigger", "record", &address, "--out", out, "--duration", "2", "--json"];
    outrigger_cli::cli::run_words(&words).expect("a recording");
    let path = workspace().join("tests/system/clients/mcap_reads.py");
    let understood = run(&python().to_string_lossy(), &[&path.to_string_lossy(), &file.to_string_lossy()]);
    std::fs::remove_file(&file).expect("it was read");
    let controller = server.controller();
    let arm = controller.truth();
    let times = understood.get("times");
    assert!(times.len() > 100, "{} states", times.len());
    let period = controller.period().as_secs_f64();
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0] - period).abs() < 1e-6), "{times:?}");
    ["q", "position", "primary_q"].iter().for_each(|name| understood.is(name, &arm.q));
    understood.is("rtde_q", if software.at_least(3, 4) { &arm.q } else { &[] });
    understood.is("pose", &arm.tool().to_pose());
    understood.is("robot_mode", &[if software.at_least(3, 0) { 7.0 } else { 0.0 }]);
    understood.is("digital_in", &[f64::from(INPUTS)]);
    understood.is("lost", &[0.0]);
    assert!(understood.get("log_lines")[0] > 2.0 && understood.get("raw_bytes")[0] > 100.0 * 756.0);
}

fn main() -> ExitCode {
    require::main(vec![
        test("urx_reads_arm_inputs_and_mode_of_a_cb2_with_1_8", &[Need::Python], || {
            reads_the_robot(SoftwareVersion::new(1, 8), 0.0);
        }),
        test("urx_reads_arm_inputs_and_mode_of_a_cb3_with_3_2", &[Need::Python], || {
            reads_the_robot(SoftwareVersion::new(3, 2), 7.0);
        }),
        test("urx_reads_arm_of_an_e_series_with_5_15", &[Need::Python], || {
            reads_the_arm(SoftwareVersion::new(5, 15)).is("secondary.robot_mode", &[7.0]);
        }),
        test("ur_rtde_reads_states_and_writes_outputs_and_registers_of_an_e_series_with_5_15", &[Need::Python], || {
            reads_and_writes_by_rtde(SoftwareVersion::new(5, 15));
        }),
        test("ur_rtde_reads_states_and_writes_outputs_and_registers_of_a_cb3_with_3_15", &[Need::Python], || {
            reads_and_writes_by_rtde(SoftwareVersion::new(3, 15));
        }),
        test("urx_moves_to_joints_and_to_a_pose_and_switches_outputs_of_a_cb2_with_1_8", &[Need::Python], || {
            commands::urx_moves_and_switches(SoftwareVersion::new(1, 8));
        }),
        test("urx_moves_to_joints_and_to_a_pose_and_switches_outputs_of_a_cb3_with_3_2", &[Need::Python], || {
            commands::urx_moves_and_switches(SoftwareVersion::new(3, 2));
        }),
        test("urx_makes_every_move_with_a_cb2_with_1_8", &[Need::Python], || {
            commands::urx_makes_every_move(SoftwareVersion::new(1, 8));
        }),
        test("urx_makes_every_move_with_a_cb3_with_3_15", &[Need::Python], || {
            commands::urx_makes_every_move(SoftwareVersion::new(3, 15));
        }),
        test("ur_rtde_makes_every_call_of_the_dashboard_of_an_e_series_with_5_15", &[Need::Python], || {
            commands::every_call_of_the_dashboard_client(SoftwareVersion::new(5, 15));
        }),
        test("ur_rtde_makes_every_call_of_the_dashboard_of_a_cb3_with_3_15", &[Need::Python], || {
            commands::every_call_of_the_dashboard_client(SoftwareVersion::new(3, 15));
        }),
        test("ur_rtde_asks_every_question_of_an_e_series_with_5_15", &[Need::Python], || {
            control::answers_questions(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_asks_every_question_of_a_cb3_with_3_15", &[Need::Python], || {
            control::answers_questions(SoftwareVersion::new(3, 15), control::Range::Lower);
        }),
        test("ur_rtde_asks_every_question_of_polyscope_x_with_10_11", &[Need::Python], || {
            control::answers_questions(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_asks_for_the_dynamics_and_sets_torques_of_an_e_series_with_5_25", &[Need::Python], || {
            control::knows_the_dynamics(SoftwareVersion::new(5, 25));
        }),
        test("ur_rtde_asks_for_the_dynamics_and_sets_torques_of_polyscope_x_with_10_11", &[Need::Python], || {
            control::knows_the_dynamics(SoftwareVersion::new(10, 11));
        }),
        test("ur_rtde_makes_every_move_with_an_e_series_with_5_15", &[Need::Python], || {
            control::makes_every_move(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_makes_every_move_with_a_cb3_with_3_15_by_the_upper_registers", &[Need::Python], || {
            control::makes_every_move(SoftwareVersion::new(3, 15), control::Range::Upper);
        }),
        test("ur_rtde_makes_every_move_with_polyscope_x_with_10_11", &[Need::Python], || {
            control::makes_every_move(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_streams_speeds_and_positions_to_an_e_series_with_5_15", &[Need::Python], || {
            control::streams_speeds_and_positions(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_streams_speeds_and_positions_to_a_cb3_with_3_15_by_the_upper_registers", &[Need::Python], || {
            control::streams_speeds_and_positions(SoftwareVersion::new(3, 15), control::Range::Upper);
        }),
        test("ur_rtde_streams_speeds_and_positions_to_polyscope_x_with_10_11", &[Need::Python], || {
            control::streams_speeds_and_positions(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_jogs_an_e_series_with_5_15", &[Need::Python], || {
            control::jogs(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_jogs_an_e_series_with_5_15_by_the_upper_registers", &[Need::Python], || {
            control::jogs(SoftwareVersion::new(5, 15), control::Range::Upper);
        }),
        test("ur_rtde_jogs_a_cb3_with_3_15", &[Need::Python], || {
            control::jogs(SoftwareVersion::new(3, 15), control::Range::Lower);
        }),
        test("ur_rtde_jogs_a_cb3_with_3_15_by_the_upper_registers", &[Need::Python], || {
            control::jogs(SoftwareVersion::new(3, 15), control::Range::Upper);
        }),
        test("ur_rtde_jogs_polyscope_x_with_10_11", &[Need::Python], || {
            control::jogs(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_presses_by_force_mode_with_an_e_series_with_5_15", &[Need::Python], || {
            contact::presses_with_a_force(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_presses_by_force_mode_with_a_cb3_with_3_15_by_the_upper_registers", &[Need::Python], || {
            contact::presses_with_a_force(SoftwareVersion::new(3, 15), control::Range::Upper);
        }),
        test("ur_rtde_presses_by_force_mode_with_polyscope_x_with_10_11", &[Need::Python], || {
            contact::presses_with_a_force(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_notices_contacts_of_an_e_series_with_5_15", &[Need::Python], || {
            contact::notices_contacts(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_notices_contacts_of_polyscope_x_with_10_11", &[Need::Python], || {
            contact::notices_contacts(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_lets_a_hand_guide_an_e_series_with_5_15", &[Need::Python], || {
            contact::is_guided_by_hand(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_lets_a_hand_guide_a_cb3_with_3_15_by_the_upper_registers", &[Need::Python], || {
            contact::is_guided_by_hand(SoftwareVersion::new(3, 15), control::Range::Upper);
        }),
        test("ur_rtde_lets_a_hand_guide_polyscope_x_with_10_11", &[Need::Python], || {
            contact::is_guided_by_hand(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("ur_rtde_ends_and_begins_again_with_an_e_series_with_5_15", &[Need::Python], || {
            contact::ends_and_begins_again(SoftwareVersion::new(5, 15), control::Range::Lower);
        }),
        test("ur_rtde_ends_and_begins_again_with_a_cb3_with_3_15_by_the_upper_registers", &[Need::Python], || {
            contact::ends_and_begins_again(SoftwareVersion::new(3, 15), control::Range::Upper);
        }),
        test("ur_rtde_ends_and_begins_again_with_polyscope_x_with_10_11", &[Need::Python], || {
            contact::ends_and_begins_again(SoftwareVersion::new(10, 11), control::Range::Lower);
        }),
        test("urs_client_library_reads_every_message_of_30001_of_an_e_series", &[Need::ClientLibrary], || {
            library::reads_the_primary_interface(SoftwareVersion::new(5, 15));
        }),
        test("urs_client_library_reads_every_message_of_30001_of_a_cb3", &[Need::ClientLibrary], || {
            library::reads_the_primary_interface(SoftwareVersion::new(3, 15));
        }),
        test("urs_client_library_ends_on_kinematics_info_of_9_bytes", &[Need::ClientLibrary], || {
            library::ends_on_short_kinematics_info();
        }),
        test("urs_client_library_reads_30004_and_moves_the_slider_of_an_e_series", &[Need::ClientLibrary], || {
            library::moves_the_slider_by_rtde(SoftwareVersion::new(5, 15));
        }),
        test("urs_client_library_reads_30004_and_moves_the_slider_of_a_cb3", &[Need::ClientLibrary], || {
            library::moves_the_slider_by_rtde(SoftwareVersion::new(3, 15));
        }),
        test("urs_client_library_works_the_dashboard_of_an_e_series", &[Need::ClientLibrary], || {
            library::works_the_dashboard(SoftwareVersion::new(5, 15));
        }),
        test("urs_client_library_works_the_dashboard_of_a_cb3", &[Need::ClientLibrary], || {
            library::works_the_dashboard(SoftwareVersion::new(3, 15));
        }),
        test("urs_client_library_drives_an_e_series_by_external_control", &[Need::ClientLibrary], || {
            library::drives_by_external_control(SoftwareVersion::new(5, 15));
        }),
        test("urs_client_library_drives_a_cb3_by_external_control", &[Need::ClientLibrary], || {
            library::drives_by_external_control(SoftwareVersion::new(3, 15));
        }),
        test("urs_client_library_drives_polyscope_x_by_external_control", &[Need::ClientLibrary], || {
            library::drives_by_external_control(SoftwareVersion::new(10, 11));
        }),
        test("urs_client_library_drives_an_e_series_by_external_control_of_ours", &[Need::ClientLibrary], || {
            library::drives_by_our_program(SoftwareVersion::new(5, 15));
        }),
        test("urs_client_library_drives_a_cb3_by_external_control_of_ours", &[Need::ClientLibrary], || {
            library::drives_by_our_program(SoftwareVersion::new(3, 15));
        }),
        test("urs_client_library_drives_polyscope_x_by_external_control_of_ours", &[Need::ClientLibrary], || {
            library::drives_by_our_program(SoftwareVersion::new(10, 11));
        }),
        test("mcap_reads_a_recording_of_an_e_series_with_5_15", &[Need::Python], || {
            reads_a_recording(SoftwareVersion::new(5, 15));
        }),
        test("mcap_reads_a_recording_of_a_cb2_with_1_8", &[Need::Python], || {
            reads_a_recording(SoftwareVersion::new(1, 8));
        }),
        test("foxgloves_own_package_reads_a_recording_of_an_e_series_with_5_15", &[Need::Python], || {
            foxglove::reads_a_recording(SoftwareVersion::new(5, 15), true);
        }),
        test("foxgloves_own_package_reads_a_recording_of_a_cb2_with_1_8", &[Need::Python], || {
            foxglove::reads_a_recording(SoftwareVersion::new(1, 8), false);
        }),
        test("a_client_by_foxgloves_specification_reads_live_data_beside_bad_clients", &[Need::Python], || {
            foxglove::reads_live_data_beside_bad_clients(SoftwareVersion::new(5, 15));
        }),
        test("a_client_by_foxgloves_specification_reads_the_simulator", &[Need::Python], || {
            foxglove::reads_live_data_of_the_simulator();
        }),
        test("a_reader_of_fri_reads_every_measurement_of_the_simulated_krc", &[Need::FriClient], || {
            reads_measurements_of_a_krc();
        }),
        test(
            "urs_own_client_reads_every_state_at_500_hz_and_writes_outputs_and_registers",
            &[Need::VendorClient],
            || {
                ur_reads_and_writes_by_rtde(SoftwareVersion::new(5, 15));
            },
        ),
        test("urs_own_client_runs_its_control_loop_with_an_e_series", &[Need::VendorClient], || {
            ur_runs_its_control_loop(SoftwareVersion::new(5, 15));
        }),
        test("urs_own_client_runs_its_control_loop_with_a_cb3", &[Need::VendorClient], || {
            ur_runs_its_control_loop(SoftwareVersion::new(3, 15));
        }),
        test(
            "urs_own_client_reads_every_state_at_125_hz_and_writes_outputs_and_registers",
            &[Need::VendorClient],
            || {
                ur_reads_and_writes_by_rtde(SoftwareVersion::new(3, 15));
            },
        ),
    ])
}
