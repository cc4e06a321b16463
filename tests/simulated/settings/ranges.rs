//! Checks every number of every table: values outside its range are rejected with the range, and values up to its
//! ends are accepted.

use std::collections::{BTreeMap, BTreeSet};

use outrigger_config::{AnyConfiguration, Key, ValueKind, Written, keys};
use outrigger_core::law::LawKind;
use outrigger_tests::settings::File;

use super::laws;

const HOST: &str = r#"
[robot]
address = "192.168.56.101"
[limits]
velocity = 1.0
[law]
kind = "joint-servo"
[[law.waypoint]]
at = 0.0
joints = 0
[[law.waypoint]]
at = 40000.0
joints = 0
[[law.waypoint]]
at = 86400.0
joints = 0
"#;
const KRC: &str = r#"
[robot]
kind = "krc"
[limits]
velocity = 1.0
[law]
kind = "joint-servo"
[[law.waypoint]]
at = 0.0
joints = 0
[[law.waypoint]]
at = 40000.0
joints = 0
[[law.waypoint]]
at = 86400.0
joints = 0
"#;
const STANDOFF: &str = "law.kind = \"standoff\"; law.source = \"d\"; law.distance = 0.05";
const AXES: &str = "law.kind = \"axes\"; law.axis[].along = \"z\"; law.axis[].source = \"d\"; law.axis[].target = 0.05; \
    law.axis[].slope = -1";
const TWIST: &str = "law.kind = \"twist\"; law.expert.twist = [0.01, 0, 0, 0, 0, 0]";
const SERVO: &str = "law.sensor = \"d\"; source[].values = 6";
const UDP: &str = "source[].name = \"d\"; source[].input = \"udp\"; source[].listen = \"0.0.0.0:5005\"";
const SERIAL: &str = "source[].name = \"d\"; source[].input = \"serial\"; source[].device = \"/dev/ttyACM0\"";
const SIMULATED: &str = "source[].name = \"d\"; source[].input = \"simulated\"";
const UART: &str = "source[].name = \"d\"; source[].input = \"uart\"";
const ADC: &str = "source[].name = \"d\"; source[].input = \"adc\"";
const ADS131M06: &str = "source[].name = \"d\"; source[].input = \"ads131m06\"; source[].values = 6; \
    source[].expert.matrix = [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]";
const BOARD: &str = "device.address = \"192.168.56.60/24\"; device.telemetry = \"192.168.56.1:47000\"; \
    device.expert.requests = 47001; device.expert.key_file = \"key\"";

/// Returns a configuration file without the waypoints of its motion, which only the law of kind `joint-servo` has.
fn without_motion(base: &str) -> String {
    base.split("[[").next().expect("what is before it").into()
}

/// Returns the configuration files whose numbers are checked: for each kind of controller, law, input and control
/// scheme.
pub(super) fn files() -> Vec<File> {
    let (host, krc) = (File::new(HOST), File::new(KRC));
    let [host_still, krc_still] = [HOST, KRC].map(|base| File::new(&without_motion(base)));
    let mut files = vec![
        host.clone(),
        krc.clone(),
        host.with_all(BOARD),
        krc.with_all(BOARD),
        host.with_all(UDP).with_all(SERVO),
        host_still.with_all(TWIST),
        krc_still.with_all(TWIST),
        host_still.with_all(AXES).with_all(UDP),
        krc_still.with_all(AXES).with_all(UDP),
        host_still.with_all(AXES).with_all(ADC).with_all(BOARD),
        host.with_all("law.sensor = \"d\"").with_all(ADS131M06).with_all(BOARD),
    ];
    for control in ["joint-impedance", "tool-impedance"] {
        let file = krc.with("robot.expert.control", &format!("{control:?}"));
        files.extend([file.clone(), file.with_all(UDP).with_all(SERVO)]);
    }
    for base in [host_still, krc_still] {
        files.extend([UDP, SERIAL, SIMULATED].map(|input| base.with_all(STANDOFF).with_all(input)));
        files.extend([UART, ADC].map(|input| base.with_all(STANDOFF).with_all(input).with_all(BOARD)));
    }
    // A law without a file here uses the one with which its settings are tested.
    let has = |name: &str| files.iter().any(|file| file.text().contains(&format!("kind = \"{name}\"")));
    let others: Vec<_> = LawKind::ALL.iter().filter(|kind| !has(kind.name())).map(|kind| laws::of(*kind)).collect();
    files.into_iter().chain(others.into_iter().map(File::new)).collect()
}

/// Returns the names of the keys of all these files, and of the numeric keys that another choice for one of them adds.
fn known() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files() {
        for key in keys(&file.text()).expect("a file of a kind") {
            let words = if let ValueKind::Words(words) = &key.takes { words.clone() } else { vec![] };
            names.insert(key.name.clone());
            for word in words {
                let chosen = file.with(&key.name, &format!("{word:?}"));
                names.extend(keys(&chosen.text()).into_iter().flatten().filter(numeric).map(|key| key.name));
            }
        }
    }
    names
}

pub(super) const fn numeric(key: &Key) -> bool {
    matches!(key.takes, ValueKind::Whole | ValueKind::Number | ValueKind::Numbers(_))
}

/// Returns the values with this number that a key can be set to: the number, an array of it, or two pairs if the key is
/// a range, with the number as the low and as the high end.
pub(super) fn value(key: &Key, number: &str) -> Vec<String> {
    match (key.name.as_str(), &key.takes, &key.range) {
        ("source[].range" | "law.expert.range" | "law.axis[].range", _, Some(Written { least, most, .. })) => {
            vec![format!("[{number}, {most}]"), format!("[{least}, {number}]")]
        }
        (_, ValueKind::Numbers(count), _) => vec![format!("[{}]", vec![number; *count].join(", "))],
        _ => vec![number.into()],
    }
}

/// Returns the nearest numbers below and above the range of a key, as text for a configuration file.
fn outside(key: &Key, range: &Written) -> [String; 2] {
    if key.takes == ValueKind::Whole {
        let [least, most] = [&range.least, &range.most].map(|end| end.parse::<i64>().expect("a whole number"));
        return [least - 1, most + 1].map(|number| number.to_string());
    }
    let [least, most] = [&range.least, &range.most].map(|end| end.parse::<f32>().expect("a number"));
    // Written with a decimal point, so that the number is not read as an integer.
    [least.next_down(), most.next_up()].map(|number| format!("{number:?}"))
}

fn problems(file: &File) -> Vec<(String, String)> {
    match AnyConfiguration::parse(&file.text()) {
        Ok(_) => vec![],
        Err(problems) => problems.into_iter().map(|problem| (problem.key.clone(), problem.to_string())).collect(),
    }
}

/// The ends of ranges that are rejected with the defaults of other keys, each with the settings that it needs to be
/// accepted, or the reason why no file can accept it.
const BESIDE: &[(&str, End, With)] = &[
    ("host.expert.priority", Least, Beside("host.scheduling = \"fifo\"")),
    ("host.expert.priority", Most, Beside("host.scheduling = \"fifo\"")),
    ("law.axis[].value", Most, Beside("source[].values = 6")),
    ("law.waypoint[].at", Least, Never("the motion begins before the waypoint in its middle")),
    ("law.waypoint[].at", Most, Never("the motion ends after the waypoint in its middle")),
    ("law.waypoint[].degrees", Least, Beside("law.waypoint[].joints =; law.relative = true")),
    ("law.waypoint[].joints", Least, Beside("law.relative = true")),
    ("law.waypoint[].expert.velocities", Least, Never("no joint may be as fast: limits.velocity")),
    ("law.waypoint[].degrees", Most, Beside("law.waypoint[].joints =; law.relative = true")),
    ("law.waypoint[].joints", Most, Beside("law.relative = true")),
    ("law.waypoint[].expert.velocities", Most, Never("no joint may be as fast: limits.velocity")),
    ("limits.expert.braking", Most, Beside("session.expert.own_stop = 50")),
    ("limits.position_max", Least, Never("the lowest angle is below it")),
    ("limits.position_min", Most, Never("the highest angle is above it")),
    ("limits.expert.added_torque", Most, Never("the last joints have less")),
    ("program.expert.lag", Most, Beside("program.expert.ring = 1000")),
    ("robot.expert.torque", Least, Never("the last joints have less")),
    ("robot.expert.torque", Most, Never("the last joints have less")),
    ("session.expert.acceleration", Least, Never("limits.acceleration is 0.01 at least")),
    ("session.expert.arming_timeout", Least, Never("one good cycle of the slowest controller takes longer")),
    (
        "session.expert.good_cycles",
        Most,
        Never("session.expert.arming_timeout is 60 s at most, and longer than they take"),
    ),
    ("session.expert.hold", Least, Never("it is at least session.expert.stale_after")),
    ("session.expert.margin", Most, Never("a period and it are at most session.expert.stale_after")),
    ("session.expert.stale_after", Least, Never("two periods of the fastest controller are longer")),
    ("session.expert.stall", Least, Never("two periods of the fastest controller are longer")),
    ("session.expert.stop_timeout", Least, Never("the stop itself takes longer")),
];

/// The condition under which an end of a key's range is accepted.
#[derive(Clone, Copy, Debug)]
enum With {
    /// The end is accepted together with these settings.
    Beside(&'static str),
    /// The end is accepted in no file, for this reason: the range of this key is wider than the ranges of other keys
    /// permit.
    Never(&'static str),
}

use End::{Least, Most};
use With::{Beside, Never};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Least,
    Most,
}

#[test]
fn every_number_may_be_what_its_range_says_and_nothing_else() {
    let (mut wrong, mut ends) = (vec![], BTreeMap::<(String, End), (bool, bool)>::new());
    for file in files() {
        for key in keys(&file.text()).expect("a file of a kind").into_iter().filter(numeric) {
            let Some(range) = &key.range else {
                wrong.push(format!("{} has no range", key.name));
                continue;
            };
            for number in outside(&key, range) {
                for value in value(&key, &number) {
                    let told = problems(&file.with(&key.name, &value));
                    let name = key.name.replace("[]", "[0]");
                    let at_key = told.iter().any(|(at, text)| {
                        (*at == name || *at == name.replace("[0]", "[1]")) && text.contains(&range.text)
                    });
                    if !at_key {
                        wrong.push(format!("{} = {value}: {told:?}, expected {}", key.name, range.text));
                    }
                }
            }
            for (end, number) in [(Least, &range.least), (Most, &range.most)] {
                let accepted = |file: &File| {
                    value(&key, number).into_iter().any(|value| problems(&file.with(&key.name, &value)).is_empty())
                };
                let beside =
                    BESIDE.iter().find(|(name, at, _)| *name == key.name && *at == end).map(|(.., with)| *with);
                let with = if let Some(Beside(settings)) = beside { accepted(&file.with_all(settings)) } else { false };
                let (alone, beside) = ends.entry((key.name.clone(), end)).or_insert((false, false));
                (*alone, *beside) = (*alone || accepted(&file), *beside || with);
            }
        }
    }
    for ((name, end), (alone, with)) in ends {
        let beside = BESIDE.iter().find(|(key, at, _)| *key == name && *at == end).map(|(.., with)| *with);
        let (expected, why) = match beside {
            None => ((true, false), "it needs nothing"),
            Some(Beside(settings)) => ((false, true), settings),
            Some(Never(why)) => ((false, false), why),
        };
        if (alone, with) != expected {
            wrong.push(format!("{name} at its {end:?}: accepted alone {alone}, with what is beside {with}: {why}"));
        }
    }
    let here: BTreeSet<_> =
        files().iter().flat_map(|file| keys(&file.text()).expect("a file")).map(|k| k.name).collect();
    let skipped: Vec<_> = known().into_iter().filter(|name| !here.contains(name)).collect();
    assert!(skipped.is_empty(), "no file asks for {skipped:?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns numbers for a key from end to end of its range: both ends, and the powers of ten between them.
pub(super) fn steps(range: &Written) -> Vec<String> {
    let [least, most]: [f64; 2] = [&range.least, &range.most].map(|end| end.parse().expect("a number"));
    let whole = !range.least.contains('.') && !range.most.contains('.') && least.fract() == 0.0 && most > 1.0;
    let powers = (-4..5).map(|power| 10_f64.powi(power)).flat_map(|step| [step, -step]);
    let between = powers.filter(|step| least < *step && *step < most && (!whole || step.fract() == 0.0));
    [range.least.clone(), range.most.clone()].into_iter().chain(between.map(|step| step.to_string())).collect()
}

#[test]
fn a_key_that_is_moved_alone_takes_the_defaults_along_or_is_named_itself() {
    let mut wrong = BTreeSet::new();
    for file in files() {
        for key in keys(&file.text()).expect("a file of a kind").into_iter().filter(numeric) {
            // The number of values of a source depends on the law.
            let Some(range) = key.range.as_ref().filter(|_| key.name != "source[].values") else { continue };
            for value in steps(range).iter().flat_map(|number| value(&key, number)) {
                let told = problems(&file.with(&key.name, &value));
                let parts = key.name.split(['.', '[']).next_back().unwrap_or_default();
                let named = told.iter().any(|(at, _)| at.contains(parts) || at == "law.waypoint");
                if !told.is_empty() && !named {
                    wrong.insert(format!("{} = {value}: {told:?}", key.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.into_iter().collect::<Vec<_>>().join("\n"));
}
