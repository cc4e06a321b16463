//! Moves a KUKA arm through its KRC by a custom control law: the last joint of an LWR turns until a distance sensor
//! reads 50 mm.
//!
//! ```text
//! cargo run --release -- sim krc --remote 127.0.0.1:49938       or a real KRC, and 0.0.0.0:49938 behind the --
//! cargo run --release -p outrigger --example custom_law_krc -- 127.0.0.1:49938
//! while sleep 0.02; do echo 0.055; done > /dev/udp/127.0.0.1/5006     a sensor (bash)
//! ```

use outrigger::{Checkpoint, Duration, JointVelocities, Law, Reason, Robot, Samples, Sensor, SourceId, State};

struct Follow;

impl Checkpoint for Follow {}

impl Law<7> for Follow {
    fn step(&mut self, _: &State<7>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<7>, Reason> {
        let error = samples.first(SourceId(0))? - 0.050;
        Ok(JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * error]))
    }
}

fn main() -> Result<(), outrigger::Failure> {
    let robot = Robot::krc("0.0.0.0", &std::env::args().nth(1).unwrap_or_else(|| "0.0.0.0:49938".into()))?;
    println!("{}", robot.run(Follow, Sensor::udp("127.0.0.1:5006").from("127.0.0.1")?)?);
    Ok(())
}
