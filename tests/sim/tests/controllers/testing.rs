//! The front door for tests of other people's programs, over kernel sockets.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use outrigger_sim::testing::{self, SimulatedUr};

/// Moves the first joint to `angle` \[rad\] as a program that is tested would.
fn move_base(ur: &SimulatedUr, angle: f64) {
    let mut program = TcpStream::connect(ur.address(30002)).unwrap();
    let text = format!("def move():\n  movej([{angle}, -1.57, -1.57, -1.57, 1.57, 0.0], a=5, v=2)\nend\n");
    program.write_all(text.as_bytes()).unwrap();
    ur.wait_until_at_rest(Duration::from_secs(60));
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn controllers_of_several_versions_run_at_the_same_time_and_move() {
    let all = ["1.8", "3.15", "5.15", "10.7"].map(|software| (software, testing::ur(software).start()));
    for (software, ur) in &all {
        move_base(ur, 0.3);
        assert!((ur.q()[0] - 0.3).abs() < 1e-3 && ur.at_rest(), "{software}: {:?}", ur.q());
        assert!(ur.history().events().any(|event| event.text.contains("program `move` starts")), "{software}");
    }
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn a_test_that_panics_leaves_the_motion_and_the_events() {
    let test = std::thread::Builder::new().name(format!("my::test {}", std::process::id()));
    let failed = test.spawn(|| {
        let ur = testing::ur("5.15").model("ur10e").fault("protective-stop@200ms").start();
        let _other = testing::ur("3.15").start();
        let mut program = TcpStream::connect(ur.address(30002)).unwrap();
        program.write_all(b"speedj([0.5, 0, 0, 0, 0, 0], 1, 60)\n").unwrap();
        ur.wait_until_at_rest(Duration::from_secs(60));
        assert!(ur.q()[0] > 3.0, "the arm did not get there");
    });
    assert!(failed.unwrap().join().is_err());
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).unwrap();
    let name = format!("controllers-my--test-{}", std::process::id());
    let report = target.join("outrigger-report").join(name);
    let events = std::fs::read_to_string(report.with_extension("events.txt")).unwrap();
    assert!(events.contains("safety mode PROTECTIVE_STOP"), "{events}");
    let table = std::fs::read_to_string(report.with_extension("csv")).unwrap();
    let header = table.lines().next().unwrap();
    assert!(header.starts_with("t [s],q0 [rad],") && header.ends_with(",mz [Nm]"), "{header}");
    assert!(table.lines().count() > 60 && table.lines().all(|line| line.split(',').count() == 25));
    let last: Vec<f64> = table.lines().last().unwrap().split(',').map(|value| value.parse().unwrap()).collect();
    assert!(last[0] > 0.5 && (last[7]).abs() < 1e-3, "at rest at the end: {last:?}");
    let other = PathBuf::from(format!("{}-2", report.display()));
    let events = std::fs::read_to_string(other.with_extension("events.txt")).unwrap();
    assert!(!events.contains("PROTECTIVE_STOP"), "{events}");
    for (report, ending) in [(&report, "csv"), (&report, "events.txt"), (&other, "csv"), (&other, "events.txt")] {
        std::fs::remove_file(report.with_extension(ending)).unwrap();
    }
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
#[should_panic(expected = "the arm is not at rest after")]
fn an_arm_that_moves_on_fails_the_wait() {
    let ur = testing::ur("3.15").start();
    let mut program = TcpStream::connect(ur.address(30002)).unwrap();
    program.write_all(b"speedj([0.1, 0, 0, 0, 0, 0], 1, 60)\n").unwrap();
    ur.wait_until_at_rest(Duration::from_secs(2));
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
#[should_panic(expected = "the arm is at rest, but after 0.0 s not yet for 500ms")]
fn a_timeout_below_the_rest_time_is_named() {
    let _ = testing::ur("5.15").start().wait_until_at_rest(Duration::ZERO);
}

#[test]
#[should_panic(expected = "software: expected MAJOR.MINOR or MAJOR.MINOR.BUGFIX, e.g. 5.15, found 'five'")]
fn a_wrong_version_is_named() {
    let _ = testing::ur("five");
}

#[test]
#[should_panic(expected = "model: expected one of ")]
fn a_wrong_model_is_named() {
    let _ = testing::ur("5.15").model("ur4");
}

#[test]
#[should_panic(expected = "fault: ")]
fn a_wrong_fault_is_named() {
    let _ = testing::ur("5.15").fault("stal@2s");
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
#[should_panic(expected = "port: expected one of 29999, ")]
fn a_wrong_port_is_named() {
    let _ = testing::ur("5.15").start().address(30_005);
}
