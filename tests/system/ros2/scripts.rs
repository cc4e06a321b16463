//! Scripts in a simulated PolyScope X that exchange data by ROS 2: with the node beside it, with Cyclone DDS and with
//! Fast DDS.

use std::io::Write as _;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;

use crate::cell::{HERE, Program, domain, file, found_by, judge_by, node, test};
use crate::fast::built;

/// Starts a simulated PolyScope X controller with ROS 2 on a free port base, and returns it with that base.
fn simulator(domain: u16) -> (Program, u16) {
    for base in (56_000..60_000).step_by(50) {
        let path = file(".log");
        let log = std::fs::File::create(&path).expect("room");
        let simulator = Command::new(outrigger_system::program())
            .args(["sim", "ur", "--polyscope", "10.12", "--ros", "--domain", &domain.to_string()])
            .args(["--port-base", &base.to_string()])
            .envs(HERE)
            .stdin(Stdio::null())
            .stdout(Stdio::from(log))
            .stderr(Stdio::null())
            .spawn();
        let mut simulator = Program(simulator.expect("it was built"));
        while matches!(simulator.0.try_wait(), Ok(None)) {
            if std::fs::read_to_string(&path).is_ok_and(|said| said.contains("ROS 2: scripts speak")) {
                return (simulator, base);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    panic!("no port base is free");
}

fn speak_with_others() {
    let domain = domain();
    let (_simulator, base) = simulator(domain);
    let _node = node(domain, &format!("127.0.0.1:{base}"));
    let primary = base + 2;
    let found = judge_by("judge_scripts.py", &[&domain.to_string(), &primary.to_string()], |_| {});
    assert_eq!(found["done"], "yes");
    assert!(found["refused"].contains("read-only"), "{found:#?}");
}

/// Checks that a script in a simulated PolyScope X controller can call a service of a Fast DDS server.
fn ask_fast_dds() {
    const SCRIPT: &str = "def asks():\n  said = ros_publisher_factory(\"/cell/said\", \"std_msgs/msg/String\", durability=\"transient_local\")\n  \
        open = ros_service_client_factory(\"/cell/open\", \"std_srvs/srv/Trigger\")\n  answer = open.call(struct())\n  \
        said.write(struct(data=answer.message))\n  while True:\n    sync()\n  end\nend\n";
    let domain = domain();
    let server = built("server");
    let (_simulator, base) = simulator(domain);
    let mut primary = TcpStream::connect(("127.0.0.1", base + 2)).expect("it listens");
    primary.write_all(SCRIPT.as_bytes()).expect("it reads");
    let found = found_by(Command::new("timeout").arg("200").arg(server).arg(domain.to_string()), |_| {});
    assert_eq!(found["said"], "open by Fast DDS");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("scripts_of_a_polyscope_x_speak_with_others", &[Need::Python], speak_with_others),
        test("scripts_of_a_polyscope_x_ask_fast_dds", &[Need::FastDds], ask_fast_dds),
    ]
}
