//! The command `demo` when its user ends it early.

use std::io::BufRead as _;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::service::text;

#[test]
fn a_demo_that_is_ended_early_is_not_judged() {
    for until in ["measuring how long", "Monitor → Arming"] {
        let mut demo = Command::new(outrigger_system::program());
        let demo = demo.arg("demo").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut demo = demo.spawn().expect("the binary under test");
        let mut said =
            std::io::BufReader::new(demo.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
        said.find(|line| line.contains(until)).expect(until);
        kill_process(Pid::from_child(&demo), Signal::INT).expect("it runs");
        let rest: Vec<_> = said.collect();
        let Output { status, stderr, .. } = demo.wait_with_output().expect("its end");
        assert_eq!(status.code(), Some(130), "{rest:?} {}", text(&stderr));
        assert!(text(&stderr).contains("ended early, not judged"), "{}", text(&stderr));
        assert!(rest.iter().all(|line| !line.starts_with("ok ") && !line.contains("verdict")), "{rest:?}");
    }
}
