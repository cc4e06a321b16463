//! Clients that send commands: urx moves the arm, ur_rtde uses the dashboard server.

use outrigger_sim::port::Port;
use outrigger_sim::tcp::Running;
use outrigger_tests::require::{python, workspace};
use outrigger_wire::robot::SoftwareVersion;

use super::{INPUTS, Q, Understood, read, run_text, serve};

/// Checks that urx works with a CB-series controller: it reads poses and joints, sets outputs, and moves to joint
/// angles and to a pose.
pub(super) fn urx_moves_and_switches(software: SoftwareVersion) {
    let server = serve(software);
    let understood = read(&server, "urx_commands.py", &[]);
    understood.is("running", &[1.0]);
    understood.is("getj", &Q);
    understood.is("digital_in", &[f64::from(INPUTS)]);
    ["output_2_on", "output_2_off"].iter().for_each(|name| understood.is(name, &[1.0]));
    understood.is("outputs", &[2.0]);
    let controller = server.controller();
    let (arm, io) = (controller.truth(), controller.io());
    assert_eq!((io.digital_out, io.analog_out[0], io.tool_voltage, io.payload), (2, 5.0, 24, 1.5));
    assert_eq!(arm.tcp, [0.0, 0.0, 0.1, 0.0, 0.0, 0.0]);
    // `movej` returns when the arm is near the goal. The arm reaches the goal at the end of the program.
    near(&understood, "movej", understood.get("goal"), 0.02);
    let relative: Vec<f64> = understood.get("movej").iter().map(|q| q - 0.02).collect();
    near(&understood, "there", &relative, 1e-3);
    near(&understood, "lowered", understood.get("lower"), 1e-3);
    let pose = arm.tool().to_pose();
    near(&understood, "lowered", &pose, 1e-3);
}

/// Checks that every kind of move that urx has ends at its goal, and that a stopped move stops on the way.
pub(super) fn urx_makes_every_move(software: SoftwareVersion) {
    let server = serve(software);
    let waits = if software.at_least(3, 3) { "sends" } else { "waits" };
    let understood = read(&server, "urx_moves.py", &[waits]);
    for name in ["movel", "movep", "relative", "movec", "movels", "translate"] {
        near(&understood, name, understood.get(&format!("{name}.wanted")), 1e-3);
    }
    let stopped = understood.get("stopped")[0];
    assert!((0.05..0.45).contains(&stopped), "stopped after {stopped} of 0.5 rad");
    near(&understood, "stays", &[0.0], 1e-3);
    near(&understood, "home", &[0.0; 6], 1e-3);
}

fn near(understood: &Understood, name: &str, truth: &[f64], tolerance: f64) {
    let found = understood.get(name);
    let same = found.len() == truth.len() && found.iter().zip(truth).all(|(a, b)| (a - b).abs() < tolerance);
    assert!(same, "{name}: {found:?} is not {truth:?} within {tolerance}");
}

/// Checks the result of every call of ur_rtde's dashboard client.
pub(super) fn every_call_of_the_dashboard_client(software: SoftwareVersion) {
    let server = serve(software);
    let script = workspace().join("tests/system/clients/ur_rtde_dashboard.py").to_string_lossy().into_owned();
    let told = run_text(&python().to_string_lossy(), &[&script, &address(&server)]);
    let SoftwareVersion { major, minor, .. } = software;
    // On CB3 the client asks neither for the serial number nor for remote control. It recognises only `True` as
    // "saved", which only old software answers.
    let (number, remote) = if software.at_least(5, 0) {
        ("20205500001", "True")
    } else {
        (
            "! getSerialNumber() function is not supported on the dashboard server for PolyScope versions less than 5.6.0",
            "False",
        )
    };
    let expected = format!(
        "isConnected: True\npolyscopeVersion: {major}.{minor}.0.0\ngetRobotModel: UR5\ngetSerialNumber: {number}\n\
         robotmode: Robotmode: RUNNING\nsafetymode: Safetymode: NORMAL\nsafetystatus: Safetystatus: NORMAL\n\
         isInRemoteControl: {remote}\ngetLoadedProgram: No program loaded\nloadURP: ! File not found: none.urp\n\
         loadURP: None\ngetLoadedProgram: Loaded program: /programs/idle.urp\nisProgramSaved: False\n\
         programState: STOPPED idle.urp\nrunning: False\nplay: None\nrunning: True\nprogramState: PLAYING idle.urp\n\
         pause: None\nprogramState: PAUSED idle.urp\nplay: None\nstop: None\nprogramState: STOPPED idle.urp\n\
         popup: None\nclosePopup: None\ncloseSafetyPopup: None\naddToLog: None\npowerOff: None\npowerOn: None\n\
         brakeRelease: None\nunlockProtectiveStop: None\nrestartSafety: None\nsend: None\n\
         receive: Robotmode: POWER_OFF\nquit: None\nisConnected: False\n",
    );
    assert_eq!(told, expected);
}

fn address(server: &Running) -> String {
    server.address(Port::Secondary).ip().to_string()
}
