//! Recorded traffic of real controllers: core and oracle must both find every value that its index names.

use std::process::ExitCode;

use outrigger_tests::oracle::{self, Cell, Collector, Seen, Value, common_name, difference};
use outrigger_tests::require::{self, Need, captures, test};
use outrigger_wire::frame::{Assembler, Framing};
use outrigger_wire::primary::{Message, MessageKind};
use outrigger_wire::realtime;

/// The values that must be found in one part of a recorded stream. Numbers are compared to the last digit written.
struct Expected {
    file: &'static str,
    /// The key of the part's table in the independent decoder (`outrigger_tests::oracle`), such as `0/29`.
    part: &'static str,
    /// The fields to be found: the name in the specification, and its values in order. Text begins with a quote.
    fields: &'static [(&'static str, &'static str)],
}

const CB2_STATE: &str = "secondary_cb2-1.8.bin";
const URSIM_STATE: &str = "primary_first_ursim-5.8-ur5e.bin";
const CB3_BURST: &str = "secondary_connect_cb3-3.10.bin";
const ESERIES_BURST: &str = "secondary_connect_eseries-5.12.2.bin";
const CB2_REALTIME: &str = "realtime_cb2-1.8_reencoded.bin";

#[rustfmt::skip]
const EXPECTED: &[Expected] = &[
    Expected { file: CB2_STATE, part: "0/29", fields: &[("timestamp", "57918"), ("robotMode", "0")] },
    Expected { file: CB2_STATE, part: "1/251", fields: &[
        ("q_actual", "-3.859885 -2.262535 2.391686 -1.996109 2.875521 -2.082074"),
    ] },
    Expected { file: CB2_STATE, part: "4/53", fields: &[
        ("X", "0.170797"), ("Y", "-0.109594"), ("Z", "0.413732"),
        ("Rx", "1.306526"), ("Ry", "-0.398935"), ("Rz", "-0.848902"),
    ] },
    Expected { file: CB2_STATE, part: "3/64", fields: &[
        ("digitalInputBits", "0"), ("digitalOutputBits", "0"), ("masterBoardTemperature", "23.5"),
        ("robotVoltage48V", "48.1"), ("robotCurrent", "0.703667"), ("masterIOCurrent", "0.004"),
        ("masterSafetyState", "8"), ("masterOnOffState", "2"), ("euromap67InterfaceInstalled", "0"),
    ] },
    Expected { file: CB2_STATE, part: "2/37", fields: &[
        ("toolVoltage48V", "45.5"), ("toolCurrent", "0.006"), ("toolTemperature", "40"), ("toolMode", "253"),
    ] },
    Expected { file: CB2_STATE, part: "8/10", fields: &[("ctrl_bits", "81927"), ("teach_button", "1")] },

    Expected { file: URSIM_STATE, part: "0/47", fields: &[
        ("timestamp", "25643784000"), ("robotMode", "7"), ("targetSpeedFraction", "0.97"),
    ] },
    Expected { file: URSIM_STATE, part: "1/251", fields: &[("q_actual", "-1.6007 -1.7271 -2.203 -0.808 1.5951 -0.031")] },
    Expected { file: URSIM_STATE, part: "4/101", fields: &[
        ("X", "-0.143969"), ("Y", "-0.43562"), ("Z", "0.20203"),
        ("Rx", "-0.001221"), ("Ry", "3.116277"), ("Rz", "0.038892"),
    ] },
    Expected { file: URSIM_STATE, part: "5/225", fields: &[
        ("checksum", "4294967295 4294967295 4294967295 4294967295 4294967295 4294967295"),
        ("DHtheta", "0 0 0 0 0 0"), ("DHa", "0 -0.425 -0.3922 0 0 0"), ("DHd", "0.1625 0 0 0.1333 0.0997 0.0996"),
        ("DHalpha", "1.570796327 0 0 1.570796327 -1.570796327 0"), ("calibration_status", "0"),
    ] },
    Expected { file: URSIM_STATE, part: "6/445", fields: &[
        ("robotType", "1"), ("robotSubType", "3"), ("masterboardVersion", "6"), ("controllerBoxType", "4"),
        ("jointMinLimit", "-6.335545 -6.335545 -6.335545 -6.335545 -6.335545 -6.335545"),
        ("jointMaxLimit", "6.335545 6.335545 6.335545 6.335545 6.335545 6.335545"),
        ("jointMaxSpeed", "3.341593 3.341593 3.341593 3.341593 3.341593 3.341593"),
        ("jointMaxAcceleration", "40 40 40 40 40 40"),
    ] },

    Expected { file: CB3_BURST, part: "20/3", fields: &[
        ("timestamp", "18446744073709551615"), ("source", "-2"), ("projectName", "'URControl"),
        ("majorVersion", "3"), ("minorVersion", "10"), ("bugfixVersion", "0"), ("buildNumber", "0"),
        ("buildDate", "'03-05-2019, 06:39:00"),
    ] },
    Expected { file: CB3_BURST, part: "20/12", fields: &[("first", "510"), ("second", "259"), ("third", "1")] },
    Expected { file: CB3_BURST, part: "24", fields: &[
        ("internal", "0.15 25 0 3 0.2 0.2 0.2 0.2 0.2 0.2 0.0523599 0.0523599 0.0523599 0.0523599 0.0523599 0.0523599 \
                      0 0 0 0.0174533 0.001 0.01"),
    ] },
    Expected { file: ESERIES_BURST, part: "20/3", fields: &[
        ("majorVersion", "5"), ("minorVersion", "12"), ("bugfixVersion", "2"), ("buildDate", "'28-06-2022, 11:30:43"),
    ] },
    Expected { file: ESERIES_BURST, part: "20/12", fields: &[("first", "0"), ("second", "0"), ("third", "1")] },

    Expected { file: CB2_REALTIME, part: "realtime_cb2", fields: &[
        ("Time", "1504.03"), ("q actual", "1.0455 -3.0191 1.79928 -1.92684 0.516016 -0.0157542"),
        ("I actual", "-0.141234 2.34493 -1.05589 0.0838773 0.218081 -0.247057"),
        ("Tool Accelerometer values", "9.97947 0.497475 0.860093"),
        ("TCP force", "-26.8163 -4.86466 -16.7654 2.40645 7.18445 -1.81036"),
        ("Tool vector", "0.32087 0.193182 0.603869 -1.22156 1.20834 -1.22965"),
        ("Motor temperatures", "30.1 29 28.5 31.2 34.3 35.2"), ("Controller Timer", "0.025572"),
        ("Test value", "8"), ("Robot Mode", "0"), ("Joint Modes", "253 253 253 253 253 253"),
    ] },
];

fn main() -> ExitCode {
    const NEEDS: &[Need] = &[Need::Captures];
    require::main(vec![
        test("the_oracle_reads_every_value_of_the_index", NEEDS, the_oracle_reads_every_value_of_the_index),
        test("the_core_reads_every_value_of_the_index", NEEDS, the_core_reads_every_value_of_the_index),
        test("core_and_oracle_agree_on_every_field", NEEDS, core_and_oracle_agree_on_every_field),
        test("the_oracle_covers_every_byte_of_every_recording", NEEDS, the_oracle_covers_every_byte_of_every_recording),
    ])
}

fn read(file: &str) -> Vec<u8> {
    std::fs::read(captures().join(file)).expect("a recording named by the index")
}

/// Returns every part of a recording: the key of its table, its size \[B\], and the fields that the independent decoder
/// reads.
fn parts(file: &str) -> Vec<(String, usize, Vec<Cell>)> {
    let tables = oracle::tables();
    let bytes = read(file);
    if file == CB2_REALTIME {
        return vec![("realtime_cb2".into(), bytes.len(), oracle::decode_realtime(&tables["realtime_cb2"], &bytes))];
    }
    let mut parts = Vec::new();
    for message in oracle::messages(&bytes).expect("whole messages") {
        let described: Vec<(String, &[u8])> = match message[4] {
            16 => oracle::sub_packages(message).unwrap().into_iter().map(|p| (oracle::key_of(p), p)).collect(),
            20 => vec![(format!("20/{}", message[14]), message)],
            kind => vec![(kind.to_string(), message)],
        };
        for (key, bytes) in described {
            let cells = oracle::decode(&tables[key.as_str()], None, bytes).expect("a complete part");
            parts.push((key, bytes.len(), cells));
        }
    }
    parts
}

/// Returns every part of a recording as the driver's own decoder reads it, cut from the stream by the driver's own
/// assembler.
fn core_parts(file: &str) -> Vec<(String, Vec<Seen>)> {
    let bytes = read(file);
    if file == CB2_REALTIME {
        let mut collector = Collector::default();
        realtime::Packet::new_checked(&bytes).expect("a packet").visit(&mut collector);
        return vec![("realtime_cb2".into(), collector.seen)];
    }
    let mut memory = vec![0; 2048];
    let mut assembler = Assembler::new(Framing::Primary, &mut memory).expect("room");
    assembler.window()[..bytes.len()].copy_from_slice(&bytes);
    assembler.commit(bytes.len());
    let mut parts = Vec::new();
    while let Some(message) = assembler.next_frame() {
        let message = Message::new_checked(message.expect("a message")).expect("a message");
        let mut whole = Collector::default();
        match message.kind() {
            MessageKind::RobotState(packages) => {
                for package in packages {
                    let (package, mut collector) = (package.expect("a sub-package"), Collector::default());
                    package.visit(&mut collector);
                    let Value::Integer(size) = collector.seen[0].value else { panic!("a size first") };
                    parts.push((format!("{}/{size}", package.package_type()), collector.seen));
                }
                continue;
            }
            MessageKind::RobotMessage(robot) => {
                // Some messages have a form that depends on the software of the version message; these do not.
                message.visit(None, &mut whole).expect("a robot message");
                parts.push((format!("20/{}", robot.robot_message_type), whole.seen));
            }
            MessageKind::Internal { message_type, .. } => {
                message.visit(None, &mut whole).expect("skipped");
                parts.push((message_type.to_string(), whole.seen));
            }
            MessageKind::ProgramState(_) => panic!("no recording has one"),
        }
    }
    assert_eq!((assembler.buffered(), assembler.dropped()), (0, 0), "{file}");
    parts
}

/// Checks that the decoded value `found` equals `written`, to as many digits as `written` has.
fn assert_matches(written: &str, found: &Value, what: &str) {
    let held = match found {
        Value::Text(text) => written.strip_prefix('\'').is_some_and(|w| w.as_bytes() == text),
        Value::Integer(number) => written.parse() == Ok(*number),
        Value::F32(bits) => near(written, f64::from(f32::from_bits(*bits))),
        Value::F64(bits) => near(written, f64::from_bits(*bits)),
    };
    assert!(held, "{what}: expected {written}, found {found:?}");
}

fn near(written: &str, found: f64) -> bool {
    let decimals = written.split_once('.').map_or(0, |(_, d)| d.len());
    let last_digit = 10f64.powi(-i32::try_from(decimals).expect("few digits"));
    (written.parse::<f64>().expect("a number") - found).abs() <= 0.501 * last_digit
}

/// Checks every value of `EXPECTED` against the values that `find` returns for its file, part and name.
fn assert_index(find: impl Fn(&str, &str, &str) -> Vec<Value>) {
    for expected in EXPECTED {
        for (name, written) in expected.fields {
            let found = find(expected.file, expected.part, name);
            let what = format!("{} {} {name}", expected.file, expected.part);
            let written: Vec<&str> =
                if written.starts_with('\'') { vec![written] } else { written.split(' ').collect() };
            assert_eq!(written.len(), found.len(), "{what}");
            for (written, found) in written.iter().zip(found) {
                assert_matches(written, &found, &what);
            }
        }
    }
}

fn the_oracle_reads_every_value_of_the_index() {
    assert_index(|file, part, name| {
        let parts = parts(file);
        let (_, _, cells) = parts.iter().find(|p| p.0 == part).expect(part);
        cells.iter().filter(|c| c.name == name).map(|c| c.value.clone()).collect()
    });
}

fn the_core_reads_every_value_of_the_index() {
    assert_index(|file, part, name| {
        let parts = core_parts(file);
        let (_, seen) = parts.iter().find(|p| p.0 == part).expect(part);
        let name = common_name(name);
        seen.iter().filter(|s| common_name(s.name()) == name).map(|s| s.value.clone()).collect()
    });
}

fn core_and_oracle_agree_on_every_field() {
    for file in [CB2_STATE, URSIM_STATE, CB3_BURST, ESERIES_BURST, CB2_REALTIME] {
        let (core, oracle) = (core_parts(file), parts(file));
        assert_eq!(core.len(), oracle.len(), "{file}");
        for ((core_key, seen), (key, _, cells)) in core.into_iter().zip(oracle) {
            assert_eq!(core_key, key, "{file}");
            assert_eq!(difference(&seen, &cells), None, "{file} {key}");
        }
    }
}

fn the_oracle_covers_every_byte_of_every_recording() {
    for (file, order) in [
        (CB2_STATE, "0/29 1/251 4/53 3/64 2/37 7/61 8/10"),
        (URSIM_STATE, "0/47 1/251 4/101 5/225 9/53 3/75 2/37 6/445 7/61 8/9 10/43 11/26 12/8"),
        (CB3_BURST, "20/3 20/12 24"),
        (ESERIES_BURST, "20/3 20/12"),
        (CB2_REALTIME, "realtime_cb2"),
    ] {
        let parts = parts(file);
        let keys: Vec<&str> = parts.iter().map(|p| p.0.as_str()).collect();
        assert_eq!(keys.join(" "), order, "{file}");
        for (key, bytes, cells) in &parts {
            let end = cells.last().map(|c| c.end);
            assert_eq!(end, Some(*bytes), "{file} {key}");
        }
    }
}
