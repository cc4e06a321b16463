//! Tests that the library rejects invalid arguments before anything is opened.

use outrigger::{Checkpoint, Duration, Failure, JointVelocities, Law, Reason, Robot, Samples, Sensor, State};

/// A law that holds the arm still.
struct Hold;

impl Checkpoint for Hold {}

impl Law<6> for Hold {
    fn step(&mut self, _: &State<6>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<6>, Reason> {
        Ok(JointVelocities([0.0; 6]))
    }
}

#[test]
fn what_is_no_address_is_refused_by_what_was_expected() {
    let usage = |refused: Result<(), Failure>, expected: &str| match refused {
        Err(Failure::Usage(text)) => assert!(text.contains(expected), "{text}"),
        other => panic!("{other:?}, expected {expected}"),
    };
    usage(Robot::ur("").map(drop), "expected a host name or address");
    usage(Robot::ur("10.0.0.1:30003").map(drop), "one of the controller's own ports");
    usage(Robot::krc("the robot", "0.0.0.0:49938").map(drop), "'the robot' is no IP address of a KRC");
    usage(Robot::krc("10.0.0.1", "49938").map(drop), "'49938' is no local address and port, e.g. 0.0.0.0:49938");
    usage(Sensor::udp("0.0.0.0:5005").from("distance").map(drop), "'distance' is no IP address of a sensor");
    usage(Sensor::serial("/dev/ttyACM0", 115_200).from("10.0.0.1").map(drop), "a serial device has no sender");
    let robot = Robot::ur("192.0.2.1").expect("an address").quiet();
    usage(
        robot.run(Hold, Sensor::udp("5005")).map(drop),
        "expected a local address and port, e.g. 0.0.0.0:5005, found '5005'",
    );
    let five = || (1..=5).map(|number| Sensor::udp(&format!("0.0.0.0:500{number}")));
    usage(robot.run(Hold, five()).map(drop), "found 5 sensors, expected at most 4");
    let odd = Sensor::udp("127.0.0.1:0").range(1.0, 0.0);
    match robot.run(Hold, odd) {
        Err(Failure::BadInput(text)) => assert!(text.contains("source 0: expected finite min below max"), "{text}"),
        other => panic!("{other:?}"),
    }
}
