//! Checks keys in a wrong place, and a value in place of a table: each is reported once, and hides no other problem.

use crate::AnyConfiguration;

fn problems(source: &str) -> Vec<String> {
    let problems = AnyConfiguration::parse(source).expect_err(source);
    problems.iter().map(ToString::to_string).collect()
}

const LAW: &str = "law.kind = \"joint-servo\"\n";

#[test]
fn a_value_in_place_of_a_table_hides_no_other_problem() {
    let krc = "robot.kind = \"krc\"\nrobot.expert = 3\nrobot.handshake = \"x\"\nlimits.velocity = 99\n";
    let [expert, handshake, velocity] = problems(&format!("{krc}{LAW}")).try_into().expect("three problems");
    assert_eq!(expert, "line 2: robot.expert: found 3, expected a table: [robot.expert]");
    assert!(handshake.starts_with("line 3: robot.handshake: found \"x\""), "{handshake}");
    assert!(velocity.starts_with("line 4: limits.velocity: found 99"), "{velocity}");
    // The table has no keys for a controller of Universal Robots.
    let ur = "robot.address = \"a\"\nrobot.expert = 3\nlimits.velocity = 99\n";
    let [expert, velocity] = problems(&format!("{ur}{LAW}")).try_into().expect("two problems");
    assert!(expert.starts_with("line 2: robot.expert: found an unknown key, expected one of `address`"), "{expert}");
    assert!(velocity.starts_with("line 3: limits.velocity: found 99"), "{velocity}");
    let found = problems(&format!("robot = 3\nlimits = 4\n{LAW}"));
    assert_eq!(found[0], "line 1: robot: found 3, expected a table: [robot]");
    assert_eq!(found.last().expect("more"), "line 2: limits: found 4, expected a table: [limits]");
    let [problem] = problems("robot.kind = 3\nlimits = 4\n").try_into().expect("one problem");
    assert!(problem.starts_with("line 1: robot.kind: found 3"), "{problem}");
    let source = "robot.address = \"a\"\n[[source]]\nname = \"d\"\ninput = \"simulated\"\nexpert = \"x\"\nvalues = 9\n";
    let [expert, values] = problems(&format!("{LAW}{source}")).try_into().expect("two problems");
    assert_eq!(expert, "line 6: source[0].expert: found \"x\", expected a table: [source[0].expert]");
    assert!(values.starts_with("line 7: source[0].values: found 9"), "{values}");
}

#[test]
fn a_key_in_its_old_place_is_missing_nowhere() {
    let variable =
        "robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\n[[variable]]\nname = \"x\"\nat = \"int.3\"\nstart = 4\n";
    let moved = |line: usize, key: &str, place: &str| {
        format!("line {line}: {key}: found a key that has moved, expected {place}")
    };
    let expected = [
        moved(4, "variable[0].name", "variable[0].expert.name"),
        moved(5, "variable[0].at", "variable[0].expert.at"),
        moved(6, "variable[0].start", "variable[0].expert.start"),
    ];
    assert_eq!(problems(variable), expected);
    let device = "robot.address = \"10.0.0.2\"\nlaw.kind = \"joint-servo\"\n[device]\naddress = \"10.0.0.3/24\"\n";
    let requests = "requests = 5005\nexpert.key_file = \"key\"\n";
    let expected = [moved(5, "device.requests", "device.expert.requests")];
    assert_eq!(problems(&format!("{device}{requests}")), expected);
    // A wrong value of a moved key is reported at the same time.
    let [key, value] = problems(&format!("{LAW}robot.address = \"a\"\n[session]\nhold = 7\n")).try_into().expect("two");
    assert_eq!(key, moved(4, "session.hold", "session.expert.hold"));
    assert!(value.starts_with("line 4: session.expert.hold: found 7, expected a number in"), "{value}");
    let address = "[law]\nkind = \"joint-servo\"\n[robot.expert]\naddress = \"a\"\n";
    let [problem] = problems(address).try_into().expect("one problem");
    assert_eq!(
        problem,
        "line 3: robot.expert: found an unknown key, expected one of `address`, `kind`, `model`, `tcp`"
    );
    let velocity = format!("{LAW}robot.address = \"a\"\n[limits.expert]\nvelocity = 0.5\n");
    assert_eq!(problems(&velocity), [moved(4, "limits.expert.velocity", "limits.velocity")]);
}

#[test]
fn a_name_that_a_board_has_not_is_told_with_its_reason_in_either_place() {
    for place in ["name", "expert.name"] {
        let file = format!(
            "robot.kind = \"krc\"\nlaw.kind = \"joint-servo\"\ndevice.address = \"10.0.0.3/24\"\n[[variable]]\n\
             {place} = \"x\"\nexpert.at = \"int.3\"\n"
        );
        let [problem] = problems(&file).try_into().expect("one problem");
        let expected = "line 5: variable[0].expert.name: found \"x\", expected no such key in a board's file: ";
        assert!(problem.starts_with(expected), "{problem}");
    }
}
