//! Orders that the network holds back and then delivers at once: the highest speed and acceleration of the joints, on
//! every path.

use std::time::Duration;

use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::fault::FaultKind;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};

use super::text::{hold, in_parallel, markdown};

/// The newest CB3 software, an e-Series version, and PolyScope X.
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15), SoftwareVersion::new(10, 11)];
/// The times for which no data arrive, twice a second \[ms\].
const SILENCES: [u64; 4] = [5, 15, 30, 60];
/// The speed limit of each joint, and the commanded speed \[rad/s\].
const FASTEST: f32 = 1.0;
/// The default stopping acceleration \[rad/s²\].
const STEEPEST: f64 = 10.0;

/// The highest speed and acceleration that the controller was given for a joint after orders had been held back, and
/// the reason if commanding ended.
#[derive(Debug)]
struct Burst {
    /// The highest commanded speed \[rad/s\].
    fastest: f64,
    /// The highest commanded acceleration \[rad/s²\].
    steepest: f64,
    ended: Option<Reason>,
}

fn burst(software: SoftwareVersion, way: Way, silence: u64) -> Burst {
    let mut setup = Setup::sweep(software, FASTEST);
    way.choose(&mut setup.config);
    setup.config.limits.velocity = JointVelocities([FASTEST; 6]);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    let begun = rig.now();
    for _ in 0..8 {
        rig.run_for(Duration::from_millis(500));
        if rig.engine().mode() != Mode::Command {
            break;
        }
        rig.fault(FaultKind::Stall, Some(Duration::from_millis(silence)));
    }
    rig.run_for(Duration::from_secs(1));
    let motion: Vec<_> = rig.record().motion.iter().filter(|motion| motion.at >= begun).collect();
    let fastest = motion.iter().map(|motion| motion.target_speed()).fold(0.0, f64::max);
    let accelerations = motion.windows(2).map(|pair| {
        let changes = pair[0].qd_target.iter().zip(pair[1].qd_target).map(|(before, after)| (after - before).abs());
        changes.fold(0.0, f64::max) / pair[1].at.since(pair[0].at).as_secs_f64()
    });
    let steepest = accelerations.fold(0.0, f64::max);
    Burst { fastest, steepest, ended: rig.record().fallback().map(|(_, reason)| reason) }
}

#[test]
fn orders_that_come_late_and_together_make_no_joint_faster_than_its_limit() {
    let cases: Vec<_> = Way::ALL.into_iter().flat_map(|way| SILENCES.map(|silence| (way, silence))).collect();
    let rows = in_parallel(&cases, |(way, silence)| {
        let cells = SOFTWARE.map(|software| {
            let Burst { fastest, steepest, ended } = burst(software, way, silence);
            let what =
                format!("{software}, {}, {silence} ms: {fastest} rad/s, {steepest} rad/s², {ended:?}", way.name());
            assert!(fastest <= f64::from(FASTEST) * 1.02, "{what}");
            assert!(steepest <= STEEPEST * 1.02, "{what}");
            let end = ended.map_or_else(String::new, |reason| format!(", {}", reason.name()));
            format!("{fastest:.2}, {steepest:.1}{end}")
        });
        [vec![way.name(), silence.to_string()], cells.to_vec()].concat()
    });
    let columns = ["path", "silence \\[ms\\]", "3.15", "5.15", "10.11"];
    let made = format!(
        "# Orders that come late and together\n\nThe base joint is to turn at its limit of {FASTEST:.1} rad/s, with an acceleration of at \
         most 2 rad/s², or {STEEPEST:.0} rad/s² to rest. Twice a second nothing arrives for a while, in either direction, and then \
         everything at once. Of each path: the highest speed \\[rad/s\\] and acceleration \\[rad/s²\\] that the controller was given for \
         a joint, and the reason where commanding ended. Made by `tests/simulated/tables/bursts.rs`.\n\n{}",
        markdown(&columns, &rows)
    );
    hold("bursts.md", &made);
}
