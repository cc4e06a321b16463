//! Tests of `check-config`, and of the messages of other commands about a configuration before they connect anywhere.

use std::path::{Path, PathBuf};

use outrigger::config::AnyConfiguration;

use super::command_line::{folder, outrigger, text};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}
#[test]
fn every_example_is_a_valid_configuration() {
    let files = std::fs::read_dir(examples()).expect("the examples");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    let configurations: Vec<_> = files.iter().filter(|file| file.extension().is_some_and(|e| e == "toml")).collect();
    assert!(!configurations.is_empty());
    for file in configurations {
        if let Err(failure) = AnyConfiguration::load(file) {
            panic!("{failure}");
        }
    }
}
#[test]
fn a_configuration_that_is_not_there_is_bad_input() {
    let output = outrigger(&["run", "no-such.toml"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot read no-such.toml"), "{}", text(&output.stderr));
}
#[test]
fn check_config_says_what_would_be_in_force_and_the_worst_case() {
    let half_turn = examples().join("half-turn.toml");
    let output = outrigger(&["check-config", half_turn.to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for expected in [
        "is valid",
        "127.0.0.1",
        "joint-servo",
        "commands automatically, once",
        "software 3.1.0: worst-case stopping distance",
    ] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
}
#[test]
fn check_config_names_every_problem_with_file_line_and_nearest_name() {
    let faulty = folder("faulty").join("faulty.toml");
    std::fs::write(&faulty, "[robot]\naddress = \"a\"\n[law]\nkind = \"joint-serv\"\n[limits]\nvelocty = 1\n")
        .expect("room");
    let output = outrigger(&["check-config", faulty.to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<_> = text(&output.stderr).lines().collect();
    assert!(
        matches!(lines.as_slice(), [kind, key]
        if kind.contains("faulty.toml: line 4: law.kind: found \"joint-serv\"") && kind.contains("`joint-servo`")
        && key.contains("faulty.toml: line 6: limits.velocty") && key.contains("`velocity`")),
        "{lines:#?}"
    );
}
/// Returns a file with a sensor that accepts datagrams from any address.
fn open_to_anybody(name: &str, more: &str) -> String {
    let file = folder(name).join(name);
    let text = "robot.address = \"127.0.0.1\"\nlaw = { kind = \"standoff\", source = \"d\", distance = 0.05 }\n\
                source = [{ name = \"d\", input = \"udp\", listen = \"0.0.0.0:5005\" }]\n";
    std::fs::write(&file, format!("{text}{more}")).expect("room");
    file.to_str().expect("a path").into()
}
const ENDS: &str = "a stop or pause at the pendant ends commanding";
const REFUSED: &str = "a stop pressed at the pendant cannot be seen here, and nothing is commanded";
const OVERRIDDEN: &str = "a stop pressed at the pendant is overridden by the next command";
const ANYBODY: &str = "source \"d\" accepts readings from any sender at 0.0.0.0:5005: add from = \"ADDRESS\"";
#[test]
fn check_config_says_what_becomes_of_a_stop_at_the_pendant_and_warns_of_open_sources() {
    let said = |more: &str| {
        let output = outrigger(&["check-config", &open_to_anybody("pendant-check.toml", more)], b"");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let of = |said: &str, software: &str| {
        let line = said.lines().find(|line| line.contains(&format!("pendant    software {software}")));
        line.unwrap_or_else(|| panic!("{software} in {said}")).to_owned()
    };
    let either = said("");
    assert!(either.contains(&format!("warning    {ANYBODY}")), "{either}");
    // Software before 3.4 has no RTDE, and 30003 shows no stop.
    for (software, expected) in [("3.1.0", REFUSED), ("3.15.0", ENDS), ("5.15.0", ENDS)] {
        assert!(of(&either, software).contains(expected), "{either}");
    }
    let by_30003 = said("connect.expert.states = \"realtime\"\nsession.software = \"5.15\"\n");
    assert!(of(&by_30003, "5.15.0").contains(REFUSED) && !by_30003.contains("3.1.0"), "{by_30003}");
    let whole = said("session.path = \"player\"\nsession.software = \"5.15\"\n");
    assert!(of(&whole, "5.15.0").contains("a pause holds the motion, which continues if resumed"), "{whole}");
    let allowed = said(
        "connect.expert.states = \"realtime\"\nsession.software = \"5.15\"\nsession.expert.pendant_stop = \"overridden\"\n",
    );
    assert!(of(&allowed, "5.15.0").contains(OVERRIDDEN), "{allowed}");
}
#[test]
fn check_config_names_the_range_of_the_law_and_that_of_the_sensor_and_rounds_them() {
    let said = |range: &str| {
        let file = folder("ranges").join("ranges.toml");
        let lines = format!(
            "robot.address = \"127.0.0.1\"\nlaw = {{ kind = \"standoff\", source = \"d\", distance = 0.15 }}\n\
             source = [{{ name = \"d\", input = \"udp\", listen = \"0.0.0.0:5005\"{range} }}]\n"
        );
        std::fs::write(&file, lines).expect("room");
        let output = outrigger(&["check-config", file.to_str().expect("a path")], b"");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    // In 32 bits 0.15 + 0.2 is 0.35000002.
    let law = "0.15 m; law.expert.range 0 to 0.35 m; approaches at most 0.05 m without a reading in it\n";
    let both = said(", range = [0.01, 0.5]");
    for expected in [law, "1 value(s), at most 0.1 s old, source.range 0.01 to 0.5\n"] {
        assert!(both.contains(expected), "{expected} in {both}");
    }
    let none = said("");
    assert!(none.contains("1 value(s), at most 0.1 s old, no source.range\n"), "{none}");
}
#[test]
fn doctor_refuses_a_file_that_is_faulty_or_for_another_kind_of_robot() {
    let krc = examples().join("krc-swing.toml");
    let half_turn = examples().join("half-turn.toml");
    let faulty = open_to_anybody("doctor-faulty.toml", "limits.velocty = 1\n");
    for (file, more, code, expected) in [
        (krc.to_str().expect("a path"), vec![], 2, "for a KRC: add --kind krc"),
        (half_turn.to_str().expect("a path"), vec!["--kind", "krc"], 2, "for a UR arm: leave --kind krc out"),
        (&faulty, vec![], 1, "doctor-faulty.toml: line 4: limits.velocty"),
    ] {
        let output = outrigger(&[&["doctor", "127.0.0.1", "--config", file], more.as_slice()].concat(), b"");
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(code) && error.contains(expected), "{file}: {error}");
    }
}
#[test]
fn replay_refuses_what_is_no_recording() {
    let output = outrigger(&["replay", examples().join("half-turn.toml").to_str().expect("a path")], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("this is not a dump"), "{}", text(&output.stderr));
}
