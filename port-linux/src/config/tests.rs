use super::*;

fn problems(source: &str) -> Vec<String> {
    Configuration::parse(source).expect_err("a faulty configuration").iter().map(ToString::to_string).collect()
}

const ROBOT: &str = "[robot]\naddress = \"192.168.56.101\"\n";

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_name() {
    let source = format!("{ROBOT}[limits]\n\nvelocty = 1.0\n");
    let [problem] = problems(&source).try_into().expect("one problem");
    assert!(problem.starts_with("line 5: limits.velocty: found an unknown key, expected one of "), "{problem}");
    assert!(problem.ends_with("did you mean `velocity`?"), "{problem}");
}

#[test]
fn an_unknown_table_is_named_too() {
    let [problem] = problems(&format!("{ROBOT}[hosts]\ncpu = 1\n")).try_into().expect("one problem");
    assert!(problem.starts_with("line 3: hosts: found an unknown key") && problem.contains("`host`"), "{problem}");
}

#[test]
fn every_problem_is_reported_in_the_order_of_the_file() {
    let source =
        "[robot]\naddress = \"10.0.0.2:x\"\nmodel = \"ur5f\"\n[limits]\nvelocity = [1, 2]\nacceleration = \"fast\"\n";
    let lines: Vec<_> = problems(source).iter().map(|p| p.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        ["line 2 robot.address", "line 3 robot.model", "line 5 limits.velocity", "line 6 limits.acceleration"]
    );
}

#[test]
fn a_problem_says_what_was_found_and_what_was_expected() {
    let source = format!("{ROBOT}[limits]\nvelocity = 99\nacceleration = [1, 2, 3, 4, 5, \"x\"]\n");
    assert_eq!(
        problems(&source),
        [
            "line 4: limits.velocity: found 99, expected one number or 6 in 0.001…6.2831855 [rad/s]",
            "line 5: limits.acceleration: found [1, 2, 3, 4, 5, \"x\"], expected one number or 6 in 0.01…50 [rad/s²]",
        ]
    );
}

#[test]
fn what_is_missing_is_said_where_it_belongs() {
    assert_eq!(
        problems("\n[robot]\n"),
        ["line 2: robot.address: found nothing, expected the robot as \"host\" or \"host:port-base\""]
    );
    let source = format!("{ROBOT}[[source]]\nname = \"a\"\n[[source]]\ninput = \"udp\"\n");
    let found = problems(&source);
    assert!(found[0].starts_with("line 3: source[0].input: found nothing"), "{found:?}");
    assert!(found[1].starts_with("line 5: source[1].name: found nothing"), "{found:?}");
    assert!(found[2].starts_with("line 5: source[1].listen: found nothing"), "{found:?}");
}

#[test]
fn text_that_is_no_toml_is_reported_with_its_line() {
    let [problem] = problems("[robot]\naddress = \n").try_into().expect("one problem");
    assert!(problem.starts_with("line 2: found the end of the line, expected TOML"), "{problem}");
}

#[test]
fn limits_that_cannot_be_held_are_refused_by_the_core() {
    let source = format!("{ROBOT}[limits]\nposition_min = 1.0\nposition_max = -1.0\n");
    let [problem] = problems(&source).try_into().expect("one problem");
    assert!(problem.starts_with("line 4: limits.position_min: found 1.0, expected "), "{problem}");
}

#[test]
fn keys_that_belong_to_another_input_are_refused() {
    let source = format!("{ROBOT}[[source]]\nname = \"d\"\ninput = \"stdin\"\nbaud = 9600\nformat = \"postcard\"\n");
    let found = problems(&source);
    assert!(found[0].starts_with("line 6: source[0].baud: found an unknown key"), "{found:?}");
    assert!(found[1].starts_with("line 7: source[0].format: found \"postcard\""), "{found:?}");
}

#[test]
fn a_single_number_stands_for_every_joint() {
    let configuration = Configuration::parse(&format!("{ROBOT}[limits]\nvelocity = 0.5\n")).expect("valid");
    assert_eq!(configuration.limits.velocity.0, [0.5; 6]);
    assert_eq!(configuration.limits.acceleration, Limits::<6>::default().acceleration);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_panic(source in "(\\[?[a-z_.]{0,8}\\]?( = [0-9a-z\"\\[\\]{},.-]{0,12})?\n){0,6}") {
        let _ = Configuration::parse(&source);
    }
}
