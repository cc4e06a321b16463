//! Checks of the configuration keys themselves: each has a row in the tables of settings, and each reaches the code
//! that uses it.

use std::collections::{BTreeMap, BTreeSet};

use outrigger_config::{AnyConfiguration, Key, RunsOn, ValueKind, keys};
use outrigger_core::engine::krc::KrcSettings;
use outrigger_core::engine::ur::UrSettings;
use outrigger_core::law::LawKind;

use super::process::SWING;
use super::row::Row;
use super::{krc, laws, process, ur};
use outrigger_tests::settings::File;

/// The settings that turn the configuration file of a host into that of a board; one without a value is removed.
const DEVICE: &str =
    "device.address = \"192.0.2.60/24\"; source[].input = \"uart\"; source[].listen =; source[].from =";

/// Returns the rows of all tables of settings: the key, the tested value, and the configuration file in which it is
/// set.
pub(super) fn rows() -> Vec<(&'static str, &'static str, File)> {
    fn engine<S>(rows: &'static [Row<S>]) -> impl Iterator<Item = (&'static str, &'static str, File)> {
        rows.iter().map(|row| (row.key, row.value, File::new(row.file).with_all(row.beside)))
    }
    let (ur, krc) = (engine(ur::ROWS), engine(krc::ROWS));
    let process = process::ROWS.iter().map(|row| (row.key, row.value, process::base(row.key).with_all(row.beside)));
    let device = DEVICE_ROWS.iter().map(|(key, value, beside)| (*key, *value, board().with_all(beside)));
    let input = INPUT_ROWS.iter().map(|(key, value, beside)| (*key, *value, board().with_all(beside)));
    let bridges = BRIDGES_ROWS.iter().map(|(key, value)| (*key, *value, bridges()));
    let accepting = ACCEPTING_ROWS.iter().map(|(key, value, _)| (*key, *value, File::new(laws::SERVO)));
    let named = NAME_ROWS.iter().map(|(key, value, beside)| (*key, *value, File::new(SWING).with_all(beside)));
    accepting.chain(named).chain(ur).chain(krc).chain(process).chain(device).chain(input).chain(bridges).collect()
}

const ASKED: &str = "device.expert.requests = 47001; device.expert.key_file = \"key\"";

/// The settings that only a board has: key, tested value, and further settings of the file. Each is compiled into the
/// firmware, which reads all of them.
const DEVICE_ROWS: &[(&str, &str, &str)] = &[
    ("device.address", "\"192.0.2.61/24\"", ""),
    ("device.expert.gateway", "\"192.0.2.9\"", ""),
    ("device.expert.mac", "\"02:00:00:00:00:07\"", ""),
    ("device.telemetry", "\"192.0.2.9:47001\"", ""),
    ("device.expert.telemetry_also", "\"192.0.2.10:47001\"", "device.telemetry = \"192.0.2.9:47000\""),
    ("device.expert.telemetry_period", "0.5", "device.telemetry = \"192.0.2.9:47000\""),
    ("device.request_pin", "true", ""),
    ("device.expert.request_pin_as", "\"edge\"", "device.request_pin = true; device.stop_pin = true"),
    ("device.acknowledge_pin", "true", ""),
    ("device.stop_pin", "true", ""),
    ("device.expert.pin_filter", "0.05", ""),
    ("device.expert.brake_release_pin", "true", ""),
    ("device.expert.requests", "47002", ASKED),
    ("device.expert.key_file", "\"other\"", ASKED),
    ("device.expert.recorder", "65536", ""),
];

/// The settings that only name an object beside a KRC, such as a variable: key, tested value, and further settings.
const NAME_ROWS: &[(&str, &str, &str)] =
    &[("variable[].expert.name", "\"gripper\"", "variable[].expert.at = \"bool.16\"")];

/// The settings without which certain values of other keys are rejected: key, tested value, and those other keys. They
/// change no run.
const ACCEPTING_ROWS: &[(&str, &str, &str)] =
    &[("session.expert.own_stop", "4.0", "limits.expert.braking = 4.0; session.expert.form = \"bare\"")];

/// The settings of a board's sensors: key, tested value, and further settings of the file.
const INPUT_ROWS: &[(&str, &str, &str)] = &[
    ("source[].input", "\"adc\"", ""),
    ("source[].baud", "9600", ""),
    ("source[].expert.rate", "50", "source[].input = \"adc\""),
    ("source[].expert.port", "2", "source[].input = \"adc\""),
    ("source[].format", "\"postcard\"", ""),
    ("source[].scale", "2.0", ""),
    ("source[].expert.offset", "2.0", ""),
];

/// The settings of a force/torque sensor that a board reads through an ADS131M06: key and tested value.
const BRIDGES_ROWS: &[(&str, &str)] = &[
    (
        "source[].expert.matrix",
        "[[9, 0, 0, 0, 0, 0], [0, 8, 0, 0, 0, 0], [0, 0, 7, 0, 0, 0], [0, 0, 0, 6, 0, 0], [0, 0, 0, 0, 5, 0], [0, 0, 0, 0, 0, 4]]",
    ),
    ("source[].expert.unloaded", "[0.1, 0, 0, 0, 0, -0.1]"),
];

/// Returns the configuration file of a board whose law moves the tool by a force/torque sensor, read through an
/// ADS131M06.
fn bridges() -> File {
    let (one_source, _) = laws::TWIST.split_once("[[source]]\nname = \"other\"").expect("another source");
    let rows = "[[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]";
    let sensor = File::new(one_source).with("source[].input", "\"ads131m06\"").with("source[].expert.matrix", rows);
    sensor.with("device.address", "\"192.0.2.60/24\"")
}

fn board() -> File {
    File::new(laws::STANDOFF).with_all(DEVICE)
}

/// Returns configuration files for every kind of controller, host and law, and those of all rows with and without the
/// setting of the row. Each file occurs once.
pub(super) fn files() -> Vec<File> {
    let krc_board = File::new(SWING).with_all("device.address = \"192.0.2.60/24\"");
    let of_laws = LawKind::ALL.iter().map(|kind| File::new(laws::of(*kind)));
    let bases = of_laws.chain([SWING, process::SHORT, process::SENSOR].map(File::new));
    let rows = rows().into_iter().flat_map(|(key, value, file)| [file.with(key, value), file]);
    let mut texts = BTreeSet::new();
    bases.chain([board(), krc_board]).chain(rows).filter(|file| texts.insert(file.text())).collect()
}

/// Returns the part of a configuration file that reaches the running program, as text: for a host, all that was read;
/// for a board, the settings that are compiled in.
fn reaches(file: &File) -> Result<String, String> {
    let text = file.text();
    let problems = |problems: Vec<_>| format!("{problems:?}\n{text}");
    Ok(match AnyConfiguration::parse(&text).map_err(problems)? {
        AnyConfiguration::Ur(RunsOn::Host(read)) => {
            let (engine, around) = (read.control.engine(), (&read.run, &read.host, &read.serve, &read.ros));
            format!("{engine:?} {:?} {around:?}", read.control)
        }
        AnyConfiguration::Krc(RunsOn::Host(read)) => format!("{read:?}"),
        AnyConfiguration::Ur(RunsOn::Board(read)) => {
            let mut bytes = vec![0; 64 << 10];
            let settings = read.settings().expect("an address");
            let length = settings.to_postcard(&mut bytes).expect("room");
            let settings = UrSettings::from_postcard(&bytes[..length]).expect("settings");
            format!("{settings:?} {:?}", read.device.requests)
        }
        AnyConfiguration::Krc(RunsOn::Board(read)) => {
            let mut bytes = vec![0; 64 << 10];
            let length = read.settings().to_postcard(&mut bytes).expect("room");
            let settings = KrcSettings::from_postcard(&bytes[..length]).expect("settings");
            format!("{settings:?} {:?}", read.device.requests)
        }
    })
}

fn asked_for(files: &[File]) -> BTreeSet<Key> {
    files.iter().flat_map(|file| keys(&file.text()).expect("a file of a kind")).collect()
}

/// The keys that need no row: their values select the configuration file with which a row begins.
const KINDS: [&str; 2] = ["robot.kind", "law.kind"];

#[test]
fn every_key_that_the_reader_knows_has_a_row() {
    let rows: BTreeSet<_> = rows().into_iter().map(|(key, ..)| key).collect();
    let keys = asked_for(&files());
    let missing: BTreeSet<_> =
        keys.iter().map(|key| key.name.as_str()).filter(|key| !rows.contains(key) && !KINDS.contains(key)).collect();
    assert!(missing.is_empty(), "set each, and say what shows it: {missing:?}");
    let known: BTreeSet<_> = keys.iter().map(|key| key.name.as_str()).collect();
    let gone: Vec<_> = rows.iter().filter(|key| !known.contains(*key)).collect();
    assert!(gone.is_empty(), "no such keys any more: {gone:?}");
}

/// Returns the configuration file with a board's address, and with its sensors at a UART unless it is for a KRC. The
/// result may be a file that is rejected.
fn for_a_board(file: &File) -> File {
    let text = file.text();
    if !text.contains("[[source]]") || text.contains("kind = \"krc\"") {
        return file.with("device.address", "\"192.0.2.60/24\"");
    }
    file.with_all("device.address = \"192.0.2.60/24\"; source[].listen =; source[].from =; source[].input = \"uart\"")
}

#[test]
fn every_key_reaches_whoever_runs_by_it_in_files_of_every_kind() {
    let mut lost = vec![];
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, value, file) in rows() {
        let beside_a_krc = File::new(SWING);
        for file in [file.clone(), for_a_board(&file), beside_a_krc.clone(), for_a_board(&beside_a_krc)] {
            let known = keys(&file.text()).is_ok_and(|keys| keys.iter().any(|known| known.name == key));
            let (Ok(without), Ok(with)) = (reaches(&file), reaches(&file.with(key, value))) else { continue };
            if known && without == with {
                lost.push(format!("{key} = {value}\n{}", file.text()));
            }
            *seen.entry(key).or_default() += 1;
        }
    }
    assert!(lost.is_empty(), "set, and nothing is told of it: {}", lost.join("\n"));
    let never: Vec<_> = rows().iter().map(|(key, ..)| *key).filter(|key| !seen.contains_key(key)).collect();
    assert!(never.is_empty(), "no file could be read with and without: {never:?}");
}

#[test]
fn what_decides_which_files_are_accepted_decides_it() {
    for (key, value, beside) in ACCEPTING_ROWS {
        let file = File::new(laws::SERVO).with_all(beside);
        let refused = reaches(&file).expect_err("refused without");
        assert!(refused.contains(key), "{refused}");
        reaches(&file.with(key, value)).unwrap_or_else(|problems| panic!("{key} = {value}: {problems}"));
    }
}

#[test]
fn every_word_that_may_be_chosen_is_another_choice() {
    for file in files() {
        for key in keys(&file.text()).expect("a file of a kind") {
            let ValueKind::Words(words) = &key.takes else { continue };
            let mut choices = BTreeMap::new();
            for word in words {
                if let Ok(reached) = reaches(&file.with(&key.name, &format!("{word:?}"))) {
                    choices.entry(reached).or_insert_with(BTreeSet::new).insert(*word);
                }
            }
            let same: Vec<_> = choices.values().filter(|words| words.len() > 1).collect();
            assert!(same.is_empty(), "{}: {same:?} are the same", key.name);
        }
    }
}

#[test]
fn a_board_reads_every_setting_of_its_own() {
    let boards = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../boards");
    let mut sources = String::new();
    let mut folders = vec![boards];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources += &std::fs::read_to_string(path).expect("a source");
            }
        }
    }
    let AnyConfiguration::Ur(RunsOn::Board(read)) = AnyConfiguration::parse(&board().text()).expect("a board's file")
    else {
        panic!("it has a device");
    };
    // The pattern has no `..`, so that a new field must be added here and read below.
    let outrigger_core::engine::Device {
        address: _,
        prefix: _,
        gateway: _,
        mac: _,
        telemetry: _,
        sensors: _,
        recorder: _,
        brake_release_pin: _,
    } = read.settings().expect("an address").device;
    for field in ["address", "prefix", "gateway", "telemetry", "recorder", "brake_release_pin"] {
        assert!(sources.contains(&format!("device.{field}")), "no board reads device.{field}");
    }
    for reads in ["hardware_address()", "sensors()"] {
        assert!(sources.contains(reads), "no board reads {reads}");
    }
}
