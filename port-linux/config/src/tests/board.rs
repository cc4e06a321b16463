use std::net::Ipv4Addr;

use outrigger_core::bridges::BridgeRate;
use outrigger_core::engine::{PortKind, Sensor, SensorInput, TelemetryTarget};
use outrigger_core::law::{AnyLaw, LawConfig};
use outrigger_wire::sensor::{Form, Scale};
use outrigger_wire::time::Duration;

use crate::*;

const BOARD: &str = "\
robot.address = \"10.0.2.2\"
[law]
kind = \"standoff\"
source = \"distance\"
distance = 0.05
[[source]]
name = \"distance\"
input = \"uart\"
scale = 0.001
range = [0.01, 0.5]
[device]
address = \"10.0.2.15/24\"
";

fn problems(source: &str) -> Vec<String> {
    Board::parse(source).expect_err("a faulty configuration").iter().map(ToString::to_string).collect()
}

fn compiled(source: &str) -> UrSettings {
    Board::parse(source).expect("valid").settings().expect("an address")
}

#[test]
fn the_file_and_the_firmware_say_the_same() {
    let device =
        "expert.gateway = \"10.0.2.1\"\ntelemetry = \"10.0.2.2:47000\"\nrequest_pin = true\nexpert.recorder = 65536\n";
    let settings = compiled(&format!("{BOARD}{device}"));
    let mut bytes = vec![0; 16 << 10];
    let length = settings.to_postcard(&mut bytes).expect("room");
    let settings = UrSettings::from_postcard(&bytes[..length]).expect("settings");
    assert_eq!(settings.robot, Ipv4Addr::new(10, 0, 2, 2));
    let expected = Sensor {
        input: SensorInput::Serial { baud: 115_200, form: Form::Lines },
        scale: Scale { factor: 0.001, offset: 0.0 },
    };
    assert_eq!(settings.device.sensors, [Some(expected), None, None, None]);
    assert_eq!((settings.device.address, settings.device.prefix), (Ipv4Addr::new(10, 0, 2, 15), 24));
    assert_eq!(settings.device.gateway, Some(Ipv4Addr::new(10, 0, 2, 1)));
    let listener = TelemetryTarget {
        address: Ipv4Addr::new(10, 0, 2, 2),
        port: 47_000,
        also: None,
        period: Duration::from_millis(100),
    };
    assert_eq!(settings.device.telemetry, Some(listener));
    let operator = settings.config.operator;
    assert_eq!((operator.request_pin, operator.acknowledge_pin, operator.stop_pin), (true, false, false));
    assert_eq!(settings.device.recorder, Some(65_536));
    settings.config.check().expect("what is read can be run");
    let LawConfig::Standoff(law) = &settings.law else { panic!("another law") };
    assert_eq!(law.distance, 0.05);
    AnyLaw::new(settings.law.clone()).expect("what is read can be run");
}

#[test]
fn the_same_file_steers_a_host_and_a_board_alike() {
    let host = BOARD.split("[device]").next().unwrap_or_default().replace("\"uart\"", "\"stdin\"");
    let host = Configuration::parse(&host).expect("valid").control.engine();
    assert_eq!(compiled(BOARD).config, host);
}

#[test]
fn a_port_base_moves_the_ports_that_are_connected_to() {
    let ports = compiled(&BOARD.replace("10.0.2.2\"", "10.0.2.2:40000\"")).config.peer.connect.ports;
    assert_eq!((ports.primary, ports.secondary, ports.realtime), (Some(40_002), Some(40_003), 40_004));
    assert_eq!(compiled(BOARD).config.peer.connect.ports.realtime, 30_003);
}

#[test]
fn tables_of_the_other_kind_of_file_are_refused_as_such() {
    let found = problems(&format!("{BOARD}[run]\nend = \"done\"\n[host]\ncpu = 1\n"));
    let expected = "found a table, expected no such table: it is for a host's file, but this file, with [device], is \
                    for a board";
    assert_eq!(found, [format!("line 13: run: {expected}"), format!("line 15: host: {expected}")]);
    let host = BOARD.replace("\"uart\"", "\"stdin\"");
    let [problem] = Configuration::parse(&host).expect_err("a board's file").try_into().expect("one problem");
    let text = "line 11: device: found a table, expected no such table: it is for a board's file, but this file is \
                for a host";
    assert_eq!(problem.to_string(), text);
}

#[test]
fn inputs_of_a_host_are_none_of_a_board() {
    let [problem] = problems(&BOARD.replace("\"uart\"", "\"udp\"")).try_into().expect("one problem");
    assert!(
        problem.starts_with("line 8: source[0].input: found \"udp\", expected one of \"uart\", \"adc\""),
        "{problem}"
    );
}

#[test]
fn a_board_has_one_serial_port_and_one_analogue_input() {
    let second = "[[source]]\nname = \"force\"\ninput = \"uart\"\n";
    let [problem] = problems(&format!("{BOARD}{second}")).try_into().expect("one problem");
    assert_eq!(
        problem,
        "line 15: source[1].input: found \"uart\", expected another one than that of \"distance\": a board has one serial port for sensors"
    );
    let analog = "[[source]]\nname = \"force\"\ninput = \"adc\"\nvalues = 2\nformat = \"postcard\"\n";
    let [problem] = problems(&format!("{BOARD}{analog}")).try_into().expect("one problem");
    assert!(problem.starts_with("line 17: source[1].format"), "{problem}");
    let [problem] =
        problems(&format!("{BOARD}{}", analog.replace("format = \"postcard\"\n", ""))).try_into().expect("one");
    assert_eq!(problem, "line 16: source[1].values: found 2, expected 1: an analogue input has one value");
}

#[test]
fn a_distance_sensor_at_the_bus_is_one_value_and_not_asked_for_what_it_is_too_slow_for() {
    let on_bus = |more: &str| format!("{BOARD}[[source]]\nname = \"below\"\ninput = \"gp2y0e03\"\n{more}");
    let sensors = compiled(&on_bus("")).device.sensors;
    assert_eq!(sensors[1].map(|sensor| sensor.input), Some(SensorInput::Gp2y0e03));
    for (more, said) in [
        ("max_age = 0.09\n", "source[1].max_age: found 0.09, expected at least 0.1 s"),
        ("values = 2\n", "source[1].values: found 2, expected 1: a distance"),
        ("format = \"postcard\"\n", "source[1].format: found \"postcard\", expected no value"),
    ] {
        let [problem] = problems(&on_bus(more)).try_into().expect("one problem");
        assert!(problem.contains(said), "{problem}");
    }
}

const WRENCH: &str = r#"[[source]]
name = "wrench"
input = "ads131m06"
values = 6
expert.matrix = [[9, 0, 0, 0, 0, 0], [0, 8, 0, 0, 0, 0], [0, 0, 7, 0, 0, 0], [0, 0, 0, 6, 0, 0], [0, 0, 0, 0, 5, 0], [0, 0, 0, 0, 1, 4]]
"#;

#[test]
fn a_force_sensor_has_its_matrix_row_by_row_and_six_values() {
    let sensors = compiled(&format!("{BOARD}{WRENCH}expert.rate = 500\nexpert.unloaded = [0.1, 0, 0, 0, 0, -0.1]\n"))
        .device
        .sensors;
    let Some(SensorInput::Ads131m06 { rate, bridges }) = sensors[1].map(|sensor| sensor.input) else {
        panic!("{sensors:?}")
    };
    assert_eq!(
        (rate, bridges.matrix[5], bridges.unloaded[5]),
        (BridgeRate::Hz500, [0.0, 0.0, 0.0, 0.0, 1.0, 4.0], -0.1)
    );
    for (from, to, said) in [
        ("values = 6\n", "", "source[1].values: found nothing, expected 6: three forces"),
        (
            "values = 6\n",
            "values = 6\nexpert.rate = 300\n",
            "source[1].expert.rate: found 300, expected 250, 500 or 1000",
        ),
        (
            "values = 6\n",
            "values = 6\nexpert.rate = 250\nmax_age = 0.01\n",
            "source[1].max_age: found 0.01, expected at least 0.012",
        ),
        ("[9, 0, 0, 0, 0, 0], ", "", "source[1].expert.matrix: found [[0, 8"),
        ("[9, 0, 0, 0, 0, 0]", "[9, 0, 0, 0, 0]", "expected six rows (Fx Fy Fz"),
        ("[9, 0", "[nan, 0", "source[1].expert.matrix: found [[nan"),
        ("[9, 0", "[1e10, 0", "expected finite factors of -1e9 to 1e9"),
        ("[9, 0, 0,", "[0, 8, 0,", "six rows that measure six different things"),
        (
            "values = 6\n",
            "values = 6\nexpert.unloaded = 1.3\n",
            "source[1].expert.unloaded: found 1.3, expected one number or 6 in -1.2 to 1.2 V",
        ),
    ] {
        let found = problems(&format!("{BOARD}{}", WRENCH.replacen(from, to, 1)));
        let [problem] = &found[..] else { panic!("{said}: {found:?}") };
        assert!(problem.contains(said), "{problem}");
    }
}

#[test]
fn analogue_inputs_have_numbers_and_a_sensor_each() {
    let second = |port| {
        format!(
            "{BOARD}[[source]]\nname = \"a\"\ninput = \"adc\"\n[[source]]\nname = \"b\"\ninput = \"adc\"\nexpert.port = {port}\n"
        )
    };
    let sensors = compiled(&second(2)).device.sensors;
    let ports = sensors.map(|sensor| sensor.map(|sensor| sensor.input.port()));
    assert_eq!(ports, [Some((PortKind::Serial, 1)), Some((PortKind::Analog, 1)), Some((PortKind::Analog, 2)), None]);
    let [problem] = problems(&second(1)).try_into().expect("one problem");
    assert!(
        problem.contains("source[2].expert.port: found 1, expected another one than that of \"a\": each analogue"),
        "{problem}"
    );
}

#[test]
fn what_a_board_cannot_do_without_is_said() {
    let without = BOARD.replace("address = \"10.0.2.15/24\"\n", "");
    let [problem] = problems(&without).try_into().expect("one problem");
    assert!(problem.starts_with("line 11: device.address: found nothing, expected the board's own"), "{problem}");
    let [problem] = problems(&BOARD.replace("10.0.2.2", "ur.lab")).try_into().expect("one problem");
    assert!(problem.starts_with("line 1: robot.address: found \"ur.lab\", expected the robot's IPv4"), "{problem}");
}

#[test]
fn addresses_that_are_none_are_refused() {
    for (line, key) in [
        ("expert.gateway = \"10.0.3.1\"", "expert.gateway"),
        ("expert.gateway = \"x\"", "expert.gateway"),
        ("expert.mac = \"01:00:00:00:00:01\"", "expert.mac"),
        ("expert.mac = \"02:00:00:00:00\"", "expert.mac"),
        ("expert.mac = \"02:00:00:00:00:+1\"", "expert.mac"),
        ("telemetry = \"10.0.2.2\"", "telemetry"),
        ("telemetry = \"10.0.2.2:0\"", "telemetry"),
        ("expert.recorder = 100", "expert.recorder"),
    ] {
        let [problem] = problems(&format!("{BOARD}{line}\n")).try_into().expect("one problem");
        assert!(problem.starts_with(&format!("line 13: device.{key}: found ")), "{problem}");
    }
    let [problem] = problems(&BOARD.replace("/24", "/31")).try_into().expect("one problem");
    assert!(problem.starts_with("line 12: device.address"), "{problem}");
}

#[test]
fn a_file_is_a_boards_where_it_has_a_device() {
    assert!(matches!(AnyConfiguration::parse(BOARD), Ok(AnyConfiguration::Ur(RunsOn::Board(_)))));
    let host = "robot.address = \"a\"\nlaw.kind = \"joint-servo\"\n";
    assert!(matches!(AnyConfiguration::parse(host), Ok(AnyConfiguration::Ur(RunsOn::Host(_)))));
}

#[test]
fn compiling_says_the_file_and_everything_wrong_with_it() {
    let folder = std::env::temp_dir().join(format!("outrigger-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("board.toml");
    std::fs::write(&file, BOARD).expect("written");
    let Compiled { vendor: Vendor::Ur, bytes, .. } = compile(&file).expect("valid") else {
        panic!("it is for another robot")
    };
    assert_eq!(UrSettings::from_postcard(&bytes).expect("settings").robot, Ipv4Addr::new(10, 0, 2, 2));
    std::fs::write(&file, format!("{BOARD}gatway = \"x\"\nexpert.recorder = 1\n")).expect("written");
    let failure = compile(&file).expect_err("faulty").to_string();
    let lines: Vec<_> = failure.lines().collect();
    assert!(lines[0].contains("board.toml: line 13: device.gatway: found an unknown key"), "{failure}");
    assert!(lines[1].contains("board.toml: line 14: device.expert.recorder"), "{failure}");
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(compile(&file).expect_err("gone").to_string().starts_with("cannot read "));
}

#[test]
fn a_boards_edge_needs_something_else_that_releases() {
    let edge = "request_pin = true\nexpert.request_pin_as = \"edge\"\n";
    let [problem] = problems(&format!("{BOARD}{edge}")).try_into().expect("one problem");
    assert!(
        problem.starts_with(
            "line 14: device.expert.request_pin_as: found \"edge\", expected \"held\", or device.stop_pin"
        ),
        "{problem}"
    );
    let operator = compiled(&format!("{BOARD}{edge}stop_pin = true\nexpert.pin_filter = 0.05\n")).config.operator;
    assert_eq!((operator.stop_pin, operator.pin_filter.as_millis()), (true, 50));
    let input = "[operator]\nexpert.request_input = 0\nexpert.request_as = \"edge\"\n";
    let [problem] = problems(&format!("{BOARD}{input}")).try_into().expect("one problem");
    assert!(problem.starts_with("line 15: operator.expert.request_as: found \"edge\""), "{problem}");
    let stopped = compiled(&format!("{BOARD}{input}expert.stop_input = 2\n")).config.operator;
    assert!(stopped.can_release() && !stopped.is_held());
}

#[test]
fn a_contact_for_the_brakes_is_told_to_the_firmware_and_is_no_operators() {
    let without = compiled(BOARD);
    let with = compiled(&format!("{BOARD}expert.brake_release_pin = true\n"));
    assert_eq!((without.device.brake_release_pin, with.device.brake_release_pin), (false, true));
    assert_eq!(with.config.operator, without.config.operator);
    let [problem] = problems(&format!("{BOARD}expert.brake_release_pin = 1\n")).try_into().expect("one problem");
    assert!(
        problem.starts_with("line 13: device.expert.brake_release_pin: found 1, expected true or false"),
        "{problem}"
    );
}

#[test]
fn a_port_for_requests_needs_a_key_and_the_key_stands_in_no_settings() {
    let requests = |keys: &str| Board::parse(&format!("{BOARD}{keys}")).expect("valid").device.requests;
    assert_eq!(requests(""), None);
    let expected = RequestPort { port: 47_001, key_file: "bench.key".into() };
    assert_eq!(requests("expert.requests = 47001\nexpert.key_file = \"bench.key\"\n"), Some(expected));
    let without = problems(&format!("{BOARD}expert.requests = 47001\n"));
    assert!(without[0].contains("key_file") && without[0].contains("requests need one"), "{without:?}");
    let without = problems(&format!("{BOARD}expert.key_file = \"bench.key\"\n"));
    assert!(without[0].contains("requests = PORT"), "{without:?}");
    assert_eq!(problems(&format!("{BOARD}expert.requests = 70000\nexpert.key_file = \"bench.key\"\n")).len(), 1);

    let folder = std::env::temp_dir().join(format!("outrigger-board-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, key) = (folder.join("board.toml"), folder.join("bench.key"));
    std::fs::write(&file, format!("{BOARD}expert.requests = 47001\nexpert.key_file = \"bench.key\"\n"))
        .expect("a file");
    assert!(compile(&file).expect_err("no key").to_string().contains("bench.key"));
    std::fs::write(&key, "0123456789abcdef".repeat(4)).expect("a file");
    #[cfg(unix)]
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("its mode");
    let compiled = compile(&file).expect("settings");
    let (port, key) = compiled.requests.expect("a port");
    assert_eq!(
        (port, key[..2].to_vec(), compiled.key_file),
        (47_001, vec![0x01, 0x23], Some(folder.join("bench.key")))
    );
    assert!(!compiled.bytes.windows(4).any(|bytes| *bytes == key[..4]), "telemetry shows the settings");
    std::fs::remove_dir_all(folder).expect("it was there");
}
