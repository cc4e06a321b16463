//! Recordings and live data are read by foxglove-sdk 0.30.3, by the authors of the schemas, and by a client written from
//! the specification of their WebSocket protocol.

use std::net::TcpListener;
use std::time::Duration;

use outrigger_sim::port::Port;
use outrigger_sim::tcp::Running;
use outrigger_tests::require::{python, workspace};
use outrigger_wire::robot::SoftwareVersion;

use super::{Q, Understood, run, serve};

/// The distance by which a tool that was computed in single precision may differ from the simulated one \[m\].
const NEAR: f64 = 2e-5;

/// Checks that every message with a schema of Foxglove in a recording is one for foxglove-sdk, and has true values. With
/// `layout`, also that the recording has each topic that the layout for Foxglove shows; old controllers lack some.
pub(super) fn reads_a_recording(software: SoftwareVersion, layout: bool) {
    let server = serve(software);
    let address = server.address(Port::Secondary).ip().to_string();
    let file = std::env::temp_dir().join(format!("foxglove-{}-{software}.mcap", std::process::id()));
    let out = file.to_str().expect("text");
    let words = ["outrigger", "record", &address, "--out", out, "--duration", "4", "--json"];
    outrigger_cli::cli::run_words(&words).expect("a recording");
    let shown = workspace().join("port-linux/cli/examples/foxglove-layout.json").to_string_lossy().into_owned();
    let arguments = [out, &shown];
    let understood = script("foxglove_reads.py", if layout { &arguments } else { &arguments[..1] });
    std::fs::remove_file(&file).expect("it was read");
    {
        let controller = server.controller();
        let arm = controller.truth();
        understood.is("joints", &arm.q);
        understood.is("velocities", &arm.qd);
        understood.is("pose", &arm.tool().position);
    }
    assert!(understood.get("foxglove.Log")[0] > 2.0);
    // At most thirty times a second. On a busy machine states arrive many at once, and so there are fewer.
    let period = understood.get("joints_period")[0];
    assert!((0.033..0.2).contains(&period), "{period} s between messages");
    draws_the_arm(&understood, &server);
    let [scenes, transforms] = ["foxglove.SceneUpdate", "foxglove.FrameTransforms"].map(|name| understood.get(name)[0]);
    assert!((2.0..6.0).contains(&scenes) && transforms > 10.0, "{scenes} scenes, {transforms} transforms");
}

/// Checks that the chain of transforms ends at the tool of the simulated arm, and that each link has its shape.
fn draws_the_arm(understood: &Understood, server: &Running) {
    let controller = server.controller();
    let tool = controller.truth().tool();
    let (position, axis) = (tool.position, tool.z_axis());
    let ahead: Vec<f64> = position.iter().zip(axis).map(|(origin, axis)| origin + axis).collect();
    for (name, truth) in [("tool", &position[..]), ("ahead", &ahead)] {
        let found = understood.get(name);
        assert!(found.iter().zip(truth).all(|(a, b)| (a - b).abs() < NEAR), "{name}: {found:?}, not {truth:?}");
    }
    assert!(understood.get("cylinders")[0] >= 5.0, "{:?} cylinders", understood.get("cylinders"));
}

/// Checks that a client of `outrigger monitor --foxglove` reads true values, and reads on beside clients that send
/// garbage, too much, nothing, or read nothing, and beside a hundred others.
pub(super) fn reads_live_data_beside_bad_clients(software: SoftwareVersion) {
    let server = serve(software);
    let address = server.address(Port::Secondary).ip().to_string();
    let port = free_port();
    let listen = port.to_string();
    let monitor = std::thread::spawn(move || {
        let words = ["outrigger", "monitor", &address, "--foxglove", &listen, "--json", "--duration", "60"];
        outrigger_cli::cli::run_words(&words)
    });
    std::thread::sleep(Duration::from_secs(1));
    let understood = script("foxglove_live.py", &[&format!("ws://127.0.0.1:{port}"), "--misbehave"]);
    is_live(&understood, &server);
    assert!(understood.get("rate_beside")[0] > 5.0, "{:?} per second", understood.get("rate_beside"));
    // The port is in use.
    let words = ["outrigger", "monitor", "127.0.0.1", "--foxglove", &port.to_string(), "--duration", "1"];
    let refused = outrigger_cli::cli::run_words(&words).expect_err("the port is in use");
    assert!(refused.code() == 1 && refused.to_string().contains("--foxglove: cannot listen on"), "{refused}");
    monitor.join().expect("no panic").expect("an orderly end");
}

/// Checks that a client of `outrigger sim ur --foxglove` reads the true values of the simulated arm.
pub(super) fn reads_live_data_of_the_simulator() {
    let (base, port) = (free_base().to_string(), free_port());
    let listen = port.to_string();
    let simulator = std::thread::spawn(move || {
        let words =
            ["outrigger", "sim", "ur", "--port-base", &base, "--foxglove", &listen, "--duration", "15", "--ready"];
        outrigger_cli::cli::run_words(&words)
    });
    std::thread::sleep(Duration::from_secs(2));
    let understood = script("foxglove_live.py", &[&format!("ws://127.0.0.1:{port}")]);
    // The arm of the simulator is where the simulation of this test starts as well.
    let options = outrigger_sim::controller::Options::for_software(SoftwareVersion::new(5, 15));
    understood.is("joints", &options.q);
    assert!(options.q != Q && understood.get("cylinders")[0] >= 5.0);
    simulator.join().expect("no panic").expect("an orderly end");
}

fn is_live(understood: &Understood, server: &Running) {
    {
        let controller = server.controller();
        understood.is("joints", &controller.truth().q);
    }
    understood.is("robot_mode", &[7.0]);
    let (joints, poses) = (understood.get("joints_rate")[0], understood.get("poses_rate")[0]);
    assert!((5.0..32.0).contains(&joints) && poses > 100.0, "{joints} joints, {poses} poses per second");
    draws_the_arm(understood, server);
}

fn script(name: &str, arguments: &[&str]) -> Understood {
    let path = workspace().join("tests/system/clients").join(name).to_string_lossy().into_owned();
    let arguments: Vec<&str> = [&*path].into_iter().chain(arguments.iter().copied()).collect();
    run(&python().to_string_lossy(), &arguments)
}

/// Returns a port of the loopback that was free at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Returns a port base of the simulator that differs between processes.
fn free_base() -> u16 {
    24_000 + u16::try_from(std::process::id() % 200).unwrap_or_default() * 30
}
