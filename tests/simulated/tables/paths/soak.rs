//! A long motion on every path: counters wrap around, rings neither fill nor run empty, and the arm keeps following.

use std::time::Duration;

use outrigger_core::mode::Mode;
use outrigger_tests::cosim::{Buffers, Rig, Way};
use outrigger_wire::robot::SoftwareVersion;

use super::super::text::in_parallel;
use super::{called, wished};

/// The default duration on each path \[s\]: more than 65 536 orders at 500 Hz, after which their counter wraps
/// around.
const SECONDS: u32 = 140;
/// The environment variable that sets another duration in seconds; `.ci/nightly` sets it.
const WISHED: &str = "OUTRIGGER_SOAK_SECONDS";
/// The speed of the base joint \[rad/s\], which changes its direction every second.
const SPEED: f32 = 0.2;

const SOFTWARE: [SoftwareVersion; 2] = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];

#[test]
fn every_path_goes_on_for_as_long_as_it_is_asked_to() {
    let seconds = std::env::var(WISHED).map_or(SECONDS, |seconds| seconds.parse().expect("a number of seconds"));
    let all: Vec<_> = SOFTWARE.into_iter().flat_map(|software| Way::ALL.map(|path| (software, path))).collect();
    in_parallel(&all, |(software, path)| to_and_fro(software, path, seconds));
}

fn to_and_fro(software: SoftwareVersion, path: Way, seconds: u32) {
    let (setup, wish) = wished(software, path, SPEED);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    for second in 0..seconds {
        let speed = if second % 2 == 0 { SPEED } else { -SPEED };
        wish.set(Some(speed));
        rig.run_for(Duration::from_secs(1));
        let what = format!("{}, {}, second {second}", called(software), path.name());
        assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
        let moves = rig.controller.truth().qd[0];
        assert!((moves - f64::from(speed)).abs() < 0.01, "{what}: {moves} rad/s");
    }
}
