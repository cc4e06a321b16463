//! Prints the states of a UR as they arrive; nothing is requested of it.
//!
//! ```text
//! cargo run --release -p outrigger --example states -- 127.0.0.1
//! ```

fn main() -> Result<(), outrigger::Failure> {
    let robot = outrigger::Robot::ur(&std::env::args().nth(1).unwrap_or_else(|| "192.168.56.101".into()))?;
    for state in robot.states()? {
        println!("{:?}", state?.positions);
    }
    Ok(())
}
