//! A comparison of all channels by which motion commands reach a controller of Universal Robots: the arm's motion
//! when the co-controller vanishes, the precision of a law, and the operations at the pendant that end a motion.

mod faults;
mod kill;
mod law;
mod soak;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use outrigger_tests::cosim::{SENSOR, Sensor, Setup, Way};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::SampleValue;

use super::text::hold;

/// The speed of the base joint that a sensor commands \[rad/s\]; `None` while the sensor is lost.
type Wish = Rc<Cell<Option<f32>>>;

/// Returns a set-up in which the base joint turns with the speed that a sensor measures, and the cell by which a test
/// changes that speed. `path` is the channel of the commands, the only difference between the rows of a table.
fn wished(software: SoftwareVersion, path: Way, speed: f32) -> (Setup, Wish) {
    let wish = Wish::new(Cell::new(Some(speed)));
    let mut setup = Setup::sweep(software, speed);
    path.choose(&mut setup.config);
    let said = Rc::clone(&wish);
    let read = Box::new(move |_: &_| SampleValue::new(&[said.get()?, 0.0, 0.0, 0.0, 0.0, 0.0]));
    setup.sensors = vec![Sensor { id: SENSOR, period: Duration::from_millis(2), read }];
    (setup, wish)
}

/// Returns the name of a software version in a table.
fn called(software: SoftwareVersion) -> String {
    format!("{}.{}", software.major, software.minor)
}

#[test]
fn every_path_ends_its_motion_in_time_and_follows_a_law() {
    hold("paths.md", &(HEAD.to_owned() + &kill::section() + &law::section() + &faults::section()));
}

const HEAD: &str = "# Every path of commands beside the others

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::paths`, in virtual time, seed 1.

From one row to the next of a table nothing but the path differs (`session.path`). States come over RTDE where the software has
it. The controller runs the programs themselves, as they are in `urscript/programs`. What the simulation assumes stands in
`kill.md`.
";
