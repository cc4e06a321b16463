//! UR's client library, in C++: its examples, built from a copy of it, opposite the simulated controller.
//!
//! The library's driver uploads the External Control program, either UR's own or Outrigger's in its place. The
//! program connects to fixed ports of this host, so these examples run one after the other. A test relies on the
//! result that an example prints. If the example moves the arm, the test also checks that the simulated arm has
//! moved.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;
use outrigger_sim::surface::Surface;
use outrigger_sim::tcp::Running;
use outrigger_tests::require::client_library;
use outrigger_urscript::{ExternalControlProgram, ScriptText, ScriptValue, Version};
use outrigger_wire::robot::SoftwareVersion;

use super::{Q, serve_with};

/// The time limit of an example program of UR's client library, longer than any of them takes here \[s\].
const PATIENCE: &str = "120";
/// Guards the ports 50001 to 50004, which the uploaded program connects to.
static REVERSE_PORTS: Mutex<()> = Mutex::new(());
/// The examples of UR's client library that drive the arm by External Control: name, duration argument \[s\] if it
/// takes one, and the text that it prints at its end.
const DRIVERS: [(&str, Option<u32>, &str); 8] = [
    ("driver_example", None, "Movement done"),
    ("trajectory_point_interface_example", None, ""),
    ("spline_example", None, ""),
    ("trajectory_streaming_example", None, ""),
    ("instruction_executor", None, ""),
    ("force_mode_example", Some(3), ""),
    ("freedrive_example", Some(3), ""),
    ("tool_contact_example", Some(10), "Tool contact detected"),
];

fn serve(software: SoftwareVersion, short_kinematics: bool) -> Running {
    let mut options = Options { q: Q, short_kinematics, ..Options::for_software(software) };
    options.files.programs.push(ProgramFile::named("wait_program.urp"));
    serve_with(options)
}

/// Serves a simulated controller with a contact surface 30 mm below the tool.
fn serve_over_a_surface(software: SoftwareVersion) -> Running {
    let options = Options { q: Q, ..Options::for_software(software) };
    let [x, y, z] = Controller::new(options.clone()).expect("a controller that existed").truth().tool().position;
    serve_with(Options { surface: Surface::new([x, y, z - 0.03], [0.0, 0.0, 1.0], 20_000.0, 100.0), ..options })
}

/// Returns the folder of UR's client library, already built. Its examples name their files relative to it.
fn folder() -> PathBuf {
    client_library().expect("asked for before")
}

/// Creates a folder like that of UR's client library, in which Outrigger's External Control program replaces UR's. The
/// values that the library fills in at run time remain placeholders, under the library's names.
fn folder_with_our_program(software: SoftwareVersion) -> PathBuf {
    let mut values =
        ExternalControlProgram::new([127, 0, 0, 1].into()).values().expect("the values that UR's driver has");
    for (name, value) in &mut values {
        let place = match *name {
            "BEGIN" => "{{BEGIN_REPLACE}}",
            "HOST" => "{{SERVER_IP_REPLACE}}",
            "REVERSE_PORT" => "{{SERVER_PORT_REPLACE}}",
            "TRAJECTORY_PORT" => "{{TRAJECTORY_SERVER_PORT_REPLACE}}",
            "COMMAND_PORT" => "{{SCRIPT_COMMAND_SERVER_PORT_REPLACE}}",
            _ => continue,
        };
        *value = ScriptValue::Text(place);
    }
    let version = Version::new(software.major, software.minor);
    let mut text: ScriptText<'_> = ExternalControlProgram::node(&values, version).expect("a template of ours");
    let mut script = vec![0; text.len()];
    assert_eq!(text.read(&mut script), script.len());

    let place = std::env::temp_dir().join(format!("outrigger-external-control-{}-{software}", std::process::id()));
    std::fs::create_dir_all(place.join("resources")).expect("a folder for our program");
    std::fs::write(place.join("resources/external_control.urscript"), script).expect("a file for our program");
    let examples = place.join("examples");
    if !examples.exists() {
        std::os::unix::fs::symlink(folder().join("examples"), examples).expect("a link to the examples' files");
    }
    place
}

/// Runs an example program of UR's client library, with this duration \[s\] if it takes one. Returns whether it ended
/// with exit code 0, and its output.
fn example(server: &Running, name: &str, seconds: Option<u32>) -> (bool, String) {
    example_in(&folder(), server, name, seconds)
}

fn example_in(place: &Path, server: &Running, name: &str, seconds: Option<u32>) -> (bool, String) {
    let address = server.address(Port::Primary).ip().to_string();
    let output = Command::new("timeout")
        .arg(PATIENCE)
        .arg(folder().join("build/examples").join(name))
        .arg(address)
        .args(seconds.map(|seconds| seconds.to_string()))
        .current_dir(place)
        .output()
        .expect("the example runs");
    let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), told)
}

fn ends_well(server: &Running, name: &str, seconds: Option<u32>) -> String {
    ends_well_in(&folder(), server, name, seconds)
}

fn ends_well_in(place: &Path, server: &Running, name: &str, seconds: Option<u32>) -> String {
    let (ended, told) = example_in(place, server, name, seconds);
    // At its end an example may write to a socket that it has already closed. `force_mode_example` expects the
    // calibration checksum of an e-Series arm and complains on CB3.
    let cb3 = name == "force_mode_example" && server.controller().options().software.major < 5;
    let own = |line: &&str| {
        line.contains("Attempt to write on a non-connected socket")
            || cb3 && ["Calibration checksum", "ur_calibration"].iter().any(|words| line.contains(words))
    };
    let bad = |line: &&str| ["ERROR", "FATAL", "terminate called"].iter().any(|word| line.contains(word));
    let complaints: Vec<&str> = told.lines().filter(bad).filter(|line| !own(line)).collect();
    let end: String = told.lines().rev().take(12).collect::<Vec<_>>().join("\n");
    assert!(ended && complaints.is_empty(), "{name}: {complaints:?}\n{end}");
    told
}

/// Checks that UR's client library parses every message of three seconds, and that the geometry of the arm is in the
/// first state.
pub(super) fn reads_the_primary_interface(software: SoftwareVersion) {
    let server = serve(software, false);
    let told = ends_well(&server, "primary_pipeline_example", Some(3));
    let count = |word: &str| told.matches(word).count();
    let SoftwareVersion { major, minor, .. } = software;
    assert_eq!(count(&format!("version: {major}.{minor}.0")), 1, "{software}");
    assert!((28..=32).contains(&count("JOINT_DATA")), "{software}: {} states", count("JOINT_DATA"));
    assert_eq!(count("checksum: ["), 1, "{software}: the first state alone carries kinematics");
    let geometry = ends_well(&server, "primary_pipeline_calibration_example", Some(1));
    assert!(geometry.contains("dh_a: [0 -0.425 -0.3922"), "{geometry}");
}

/// Checks that UR's client library fails on kinematics info of 9 B. That is why no controller in use can be sending
/// it periodically.
pub(super) fn ends_on_short_kinematics_info() {
    let server = serve(SoftwareVersion::new(5, 15), true);
    let (ended, told) = example(&server, "primary_pipeline_example", Some(3));
    let states = told.matches("JOINT_DATA").count();
    assert!(!ended || states < 10, "{states} states were read");
}

/// Checks that UR's client library receives states at 50 Hz and moves the speed slider.
pub(super) fn moves_the_slider_by_rtde(software: SoftwareVersion) {
    let server = serve(software, false);
    let told = ends_well(&server, "rtde_client_example", Some(5));
    let shown = told.matches("target_speed_fraction: [").count();
    assert!(shown > 200, "{shown} states in 5 s at 50 Hz");
    assert!(told.contains("[####----------------]") || told.contains("[###-----------------]"), "it moved");
}

/// Checks a dashboard session of UR's client library, from power off to a played, paused and stopped program, and back.
pub(super) fn works_the_dashboard(software: SoftwareVersion) {
    let server = serve(software, false);
    let told = ends_well(&server, "dashboard_example", None);
    assert!(told.contains("Program state: STOPPED wait_program.urp"), "{told}");
    assert!(told.contains("Power off command success: 1"), "{told}");
}

/// Checks that UR's client library drives the arm with UR's program: streamed joints, trajectories of points, splines
/// and streams, force mode, freedrive and tool contact.
pub(super) fn drives_by_external_control(software: SoftwareVersion) {
    drives(&folder(), software);
}

/// Checks the same examples as [`drives_by_external_control`], with Outrigger's program in place of UR's on the
/// controller.
pub(super) fn drives_by_our_program(software: SoftwareVersion) {
    let place = folder_with_our_program(software);
    drives(&place, software);
    std::fs::remove_dir_all(place).expect("our own folder");
}

fn drives(place: &Path, software: SoftwareVersion) {
    let _alone = REVERSE_PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, seconds, says) in DRIVERS {
        let contact = name == "tool_contact_example";
        // `instruction_executor` asks for a straight line on which joints of a UR5 would be too fast, and for
        // `optimovel` at its full share where that exists, with the same effect. The simulated controller stops
        // protectively there. Whether a real one does is not known. `tool_contact_example` needs 5.x.
        let optimal = name == "instruction_executor" && (software.major < 5 || software.at_least(5, 21));
        if optimal || contact && software.major < 5 {
            println!("{software} {name}: not asked for");
            continue;
        }
        let server = if contact { serve_over_a_surface(software) } else { serve(software, false) };
        let before = server.controller().truth().q;
        let told = ends_well_in(place, &server, name, seconds);
        assert!(told.contains("Robot control program is running"), "{name}: {told}");
        assert!(told.contains(says), "{name} does not say {says:?}: {told}");
        let moved = server.controller().truth().q.iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // In freedrive no hand moves the arm.
        assert_eq!(moved > 1e-3, name != "freedrive_example", "{software} {name}: ended {moved} rad from its begin");
        println!("{software} {name}: ended {moved:.3} rad from its begin");
    }
}
