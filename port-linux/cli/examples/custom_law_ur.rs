//! Moves a UR by a custom control law: the last joint turns until a distance sensor reads 50 mm.
//!
//! ```text
//! cargo run --release -- sim ur                                  a controller; or use the address of a real one below
//! cargo run --release -p outrigger --example custom_law_ur -- 127.0.0.1
//! while sleep 0.02; do echo 0.055; done > /dev/udp/127.0.0.1/5005     a sensor (bash)
//! ```

use outrigger::{Checkpoint, Duration, JointVelocities, Law, Reason, Robot, Samples, Sensor, SourceId, State};

struct Follow;

impl Checkpoint for Follow {}

impl Law<6> for Follow {
    fn step(&mut self, _: &State<6>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<6>, Reason> {
        let error = samples.first(SourceId(0))? - 0.050;
        Ok(JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * error]))
    }
}

fn main() -> Result<(), outrigger::Failure> {
    let robot = Robot::ur(&std::env::args().nth(1).unwrap_or_else(|| "192.168.56.101".into()))?;
    println!("{}", robot.run(Follow, Sensor::udp("127.0.0.1:5005").from("127.0.0.1")?)?);
    Ok(())
}
