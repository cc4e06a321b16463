//! The loss of the process, of its host or of the cable in the middle of a motion.

use std::time::Duration;

use outrigger_tests::cosim::{Buffers, CrashPoint, Motion, REST, Rig, Way, rest_bound, stop_deceleration};
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};

use super::super::text::{in_parallel, markdown, millis};
use super::{called, wished};

/// The versions of `kill.md`, and PolyScope X.
const SOFTWARE: [SoftwareVersion; 13] = [
    SoftwareVersion::new(1, 6),
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 4),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 0),
    SoftwareVersion::new(5, 9),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(5, 25),
    SoftwareVersion::new(10, 11),
];

/// The speed of the base joint at the loss \[rad/s\].
const SPEED: f32 = 0.8;
/// The observed time: longer than any stop, and too short for the arm to reach the end of its range.
const WATCHED: Duration = Duration::from_secs(3);
/// The time in which the last command has certainly arrived at the controller.
const ARRIVED: Duration = Duration::from_micros(200);

/// The part of the set-up that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Process,
    Host,
    Cable,
}

const LOSSES: [Loss; 3] = [Loss::Process, Loss::Host, Loss::Cable];

fn cell(software: SoftwareVersion, path: Way, loss: Loss) -> String {
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(wished(software, path, SPEED).0, &mut buffers);
    rig.command();
    rig.run_for(Duration::from_secs(1));
    // Just after a command has arrived: the worst moment.
    rig.run_past_a_command();
    rig.run_for(ARRIVED);
    let lost = rig.now();
    let motion = *rig.record().motion_at(lost).unwrap();
    let what = format!("{loss:?}, {software}, {}", path.name());
    assert!((motion.qd[0] - f64::from(SPEED)).abs() < 0.03, "{what}: {motion:?}\n{}", rig.record().story());
    match loss {
        Loss::Process => rig.kill(CrashPoint::Reset),
        Loss::Host => rig.kill(CrashPoint::Silent),
        Loss::Cable => rig.cut_cable(None),
    }
    rig.run_for(WATCHED);
    let story = rig.record().story();
    let rest = rig.record().rest_after(lost).unwrap_or_else(|| panic!("{what}: never at rest\n{story}"));
    let bound = bound(&rig, motion);
    assert!(rest <= bound, "{what}: {rest:?}, bound {bound:?}\n{story}");
    assert!(!rig.controller.program().0, "{what}: the program has ended\n{story}");
    let coast = (rig.controller.truth().q[0] - motion.q[0]).abs();
    let printed = printed(software, path);
    assert!(coast <= f64::from(printed), "{what}: {coast} rad, where {printed} is printed\n{story}");
    format!("{} / {}, {:.1}°", millis(rest), millis(bound), coast.to_degrees())
}

/// Returns the worst-case distance that a joint still turns after a loss \[rad\], as `check-config` and `doctor` print
/// it for the speed of this table.
fn printed(software: SoftwareVersion, path: Way) -> f32 {
    let mut config = wished(software, path, SPEED).0.config;
    config.limits.velocity = JointVelocities([SPEED; 6]);
    config.coast_without_us(software).expect("something ends it on every path").joints[0]
}

/// Returns the time until the arm must be at rest after a loss: the timeout that ends the program, then its stop.
fn bound(rig: &Rig<'_>, motion: Motion) -> Duration {
    let text = rig.engine().config().peer.text;
    let deceleration = stop_deceleration(rig.controller.options(), f64::from(text.stop_acceleration));
    let late = if without_t(rig) { rig.controller.period() } else { Duration::ZERO };
    let reaction = Duration::from_micros(text.hold.as_micros()) + late;
    rest_bound(&rig.controller, motion.target_speed(), deceleration, reaction)
}

/// Returns whether text has no `t`, as on 3.1 and 3.2: `speedj` returns one cycle after its speed is reached, and
/// `sleep` follows.
fn without_t(rig: &Rig<'_>) -> bool {
    rig.record().commands.iter().any(|command| command.text.contains("sleep("))
}

pub(super) fn section() -> String {
    let all = SOFTWARE.into_iter().flat_map(|software| Way::ALL.map(|path| (software, path)));
    let cases: Vec<(SoftwareVersion, Way)> = all.filter(|(software, path)| path.fits(*software)).collect();
    let rows = in_parallel(&cases, |(software, path)| {
        let mut row = vec![called(software), path.name()];
        row.extend(LOSSES.map(|loss| cell(software, path, loss)));
        let printed = printed(software, path);
        row.push(format!("{printed:.3} rad, {:.1}°", printed.to_degrees()));
        row
    });
    let columns = ["software", "path", "process killed", "host silent", "cable out", "worst case"];
    format!(
        "
## The process, its host or the cable is gone

Time from the loss to rest of the *simulated joint* (below {REST} rad/s for good), measured / bound, in ms, and how far the joint
turned in it. The base joint moves at {SPEED} rad/s, and the loss comes just after a command has arrived, which is the worst
moment. Killed: the kernel resets every connection of the process. Silent: not another byte, and nobody resets anything.

The time-out is 40 ms on every path: `t` of the last text, or that of a program's read, or of its cycles without a new order in its
registers. Bound: time-out, v/a, two cycles and the drives' lag, as in `kill.md`. The program has ended then, too. A read notices a
reset at once, and one that looks into registers does not; where `servoj` gets nothing new, its target stands after two cycles,
before the time-out. Software that a path does not fit stands without it: commanding is refused there (`PathUnfit`).

Worst case: what `outrigger check-config` prints for `limits.velocity = {SPEED}`. It also has the longest way of a command, and before 3.2,
and wherever the controller may choose the stop itself, `session.expert.own_stop` (2 rad/s²) in place of the stop that is simulated.

{}",
        markdown(&columns, &rows)
    )
}
