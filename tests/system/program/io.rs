//! The command `outrigger io` against simulated controllers: its output, its effect and its exit codes.

use std::process::Command;

use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;

fn serve(options: Options) -> Running {
    let controller = Controller::new(options).expect("a controller that existed");
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    Server::bind_from(controller, local, 50_000).expect("free ports").spawn().expect("a thread")
}

fn software(major: u8, minor: u8) -> Options {
    Options::for_software(SoftwareVersion::new(major, minor))
}

struct Ended {
    code: i32,
    said: Vec<String>,
    complained: String,
}

fn io(port_base: u16, arguments: &[&str]) -> Ended {
    let output = Command::new(outrigger_system::program())
        .args(["io", &format!("127.0.0.1:{port_base}")])
        .args(arguments)
        .output()
        .expect("the binary under test");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ended {
        code: output.status.code().expect("an exit code"),
        said: text(output.stdout).lines().map(str::to_owned).collect(),
        complained: text(output.stderr),
    }
}

#[test]
fn what_is_set_is_confirmed_and_then_shown() {
    for (major, minor) in [(3, 15), (5, 15)] {
        let server = serve(software(major, minor));
        let settings = ["digital-out.3=on", "tool-out.1=on", "analog-out.0=5V", "analog-out.1=12mA", "tool-voltage=24"];
        let ended = io(server.port_base(), &[&settings[..], &["speed-slider=0.5", "flag.3=on"]].concat());
        assert_eq!(ended.code, 0, "{:?} {}", ended.said, ended.complained);
        for setting in settings {
            let confirmed = format!("{setting}: confirmed after ");
            assert!(ended.said.iter().any(|line| line.starts_with(&confirmed)), "{setting}: {:?}", ended.said);
        }
        assert!(ended.said.contains(&"flag.3=on: sent; this controller does not report it".to_owned()));

        let shown = io(server.port_base(), &[]).said.join("\n");
        for part in ["out 0 0 0 1 0 0 0 0", "out 0 1", "out 5.00 V, 12.00 mA", "supply 24 V", "50 %"] {
            assert!(shown.contains(part), "{part} in:\n{shown}");
        }
        let json = io(server.port_base(), &["--json"]);
        assert_eq!((json.code, json.said.len()), (0, 1), "{}", json.complained);
        for part in [r#""digital_out":[0,0,0,1,0,0,0,0]"#, r#""analog_out_domain":[1,0]"#, r#""tool_voltage":24.0"#] {
            assert!(json.said[0].contains(part), "{part} in {}", json.said[0]);
        }
    }
}

#[test]
fn an_old_controller_has_other_names_and_fewer_outputs() {
    let server = serve(software(1, 8));
    let ended = io(server.port_base(), &["digital-out.7=on", "tool-out.0=on", "configurable-out.2=on", "--json"]);
    assert_eq!(ended.code, 4);
    assert_eq!(ended.complained, "outrigger: 1 of 3 not set\n");
    let of = |name: &str| ended.said.iter().find(|line| line.contains(name)).cloned().unwrap_or_default();
    assert!(of("configurable-out.2").contains("software 1.8 cannot do this, only 3.0 and later"), "{:?}", ended.said);
    assert!(of("digital-out.7").contains(r#""news":"confirmed","after_ms":"#), "{:?}", ended.said);
    assert!(of("tool-out.0").contains(r#""news":"confirmed""#), "{:?}", ended.said);
}

#[test]
fn in_local_control_nothing_is_set_and_the_reason_is_said_where_the_controller_says_it() {
    for (minor, said) in [(25, "switch it to remote control on its pendant"), (0, "not confirmed")] {
        let server = serve(Options { state: StartState::Local, ..software(5, minor) });
        let ended = io(server.port_base(), &["digital-out.3=on", "--via", "text"]);
        assert_eq!(ended.code, 4, "5.{minor}: {}", ended.complained);
        assert!(ended.said[0].contains(said), "5.{minor}: {:?}", ended.said);
    }
}

#[test]
fn by_rtde_is_set_what_it_has_inputs_for_and_nothing_else() {
    let server = serve(software(5, 15));
    let ended = io(server.port_base(), &["digital-out.1=on", "analog-out.1=2.5V", "flag.3=on", "--via", "rtde"]);
    assert_eq!(ended.code, 4, "{:?} {}", ended.said, ended.complained);
    let of = |name: &str| ended.said.iter().find(|line| line.starts_with(name)).cloned().unwrap_or_default();
    assert!(of("digital-out.1=on").contains("confirmed after"), "{:?}", ended.said);
    assert!(of("analog-out.1=2.5V").contains("confirmed after"), "{:?}", ended.said);
    assert!(of("flag.3=on").contains("RTDE has no input for it"), "{:?}", ended.said);
    let text = io(server.port_base(), &["digital-out.1=off", "--via", "text"]);
    assert_eq!(text.code, 0, "{:?}", text.said);
}

#[test]
fn without_a_controller_it_is_said_what_is_missing() {
    let ended = io(9, &["digital-out.3=on"]);
    assert_eq!((ended.code, ended.said), (3, vec![]));
    assert!(ended.complained.contains("cannot connect to"), "{}", ended.complained);
}
