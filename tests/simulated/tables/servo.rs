//! Half a turn of the base joint and back in four seconds: the delay and the error.

use std::f64::consts::PI;
use std::time::Duration;

use outrigger_core::law::JointServoConfig;
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Motion, Record, Rig, Setup};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time as core;

use super::text::{hold, in_parallel, markdown};

const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
];

/// The time to the turning point, and the time back \[s\].
pub(super) const HALF: f64 = 2.0;

/// Returns the reference position of the base joint `t` \[s\] after the start \[rad\]: cubic to −π, at rest there,
/// cubic back.
fn reference(t: f64) -> f64 {
    let cubic = |s: f64| s * s * (3.0 - 2.0 * s);
    let t = t.clamp(0.0, 2.0 * HALF);
    if t < HALF { -PI * cubic(t / HALF) } else { -PI * (1.0 - cubic((t - HALF) / HALF)) }
}

pub(super) fn trajectory(back: bool) -> Trajectory<6> {
    let at = |base: f32, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([base, 0.0, 0.0, 0.0, 0.0, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: core::Duration::from_millis(millis),
    };
    let waypoints = [at(0.0, 0), at(-std::f32::consts::PI, 2_000), at(0.0, 4_000)];
    Trajectory::through(if back { &waypoints } else { &waypoints[..2] }).unwrap()
}

/// The figures of a run: reaction, delay and errors of the base joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    /// The number of control cycles from the state that the first moving command answers to the first motion of the
    /// target and of the joint.
    reaction: [f64; 2],
    /// The delay of the motion as a whole that fits best \[ms\].
    pub(super) delay: f64,
    /// The largest distance of the joint from the reference delayed by `delay` \[deg\].
    pub(super) worst: f64,
    /// The distance from the goal one second after the end \[deg\].
    pub(super) end: f64,
}

/// Runs the base joint to −180° and, if `back`, to the start again.
fn run(software: SoftwareVersion, feedback: bool, back: bool) -> Figures {
    let mut config = JointServoConfig { path_tolerance: 1.0, ..JointServoConfig::default() };
    if !feedback {
        config.proportional = 0.0;
        config.derivative = 0.0;
    }
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(Setup::servo(software, trajectory(back), config), &mut buffers);
    rig.command();
    rig.run_for(Duration::from_secs(5));
    assert_eq!(rig.engine().mode(), Mode::Command, "{}", rig.record().story());
    figures(rig.record(), rig.controller.period(), if back { 2.0 * HALF } else { HALF })
}

/// Returns the figures of a motion that ends after `length` \[s\].
pub(super) fn figures(record: &Record, period: Duration, length: f64) -> Figures {
    let first = record.commands.iter().find(|command| command.moves()).unwrap();
    // The trajectory begins with the state that was answered by the first command in `Command`.
    let commanded = record.commands.iter().find(|command| command.mode == Mode::Command).unwrap();
    let start = published(commanded.at, commanded.state_age);
    let answered = published(first.at, first.state_age);
    let reaction = |moves: fn(&Motion) -> bool| {
        let first = record.motion.iter().find(|motion| motion.at > answered && moves(motion)).unwrap();
        (first.at.since(answered).as_secs_f64() / period.as_secs_f64()) - 1.0
    };
    let begun = record.motion_at(start).unwrap().q[0];
    let after = |t: f64| start + Duration::from_secs_f64(t);
    let way = |t: f64| record.motion_at(after(t)).unwrap().q[0] - begun;

    let samples: Vec<(f64, f64)> = record
        .motion
        .iter()
        .filter(|motion| motion.at >= start)
        .map(|motion| (motion.at.since(start).as_secs_f64(), motion.q[0] - begun))
        .filter(|(t, _)| *t <= length)
        .collect();
    let misfit = |delay: f64| samples.iter().map(|(t, q)| (q - reference(t - delay)).powi(2)).sum::<f64>();
    let delays = (-500..=2_000).map(|tenths| f64::from(tenths) * 1e-4);
    let delay = delays.min_by(|a, b| misfit(*a).total_cmp(&misfit(*b))).unwrap();
    let worst = samples.iter().map(|(t, q)| (q - reference(t - delay)).abs()).fold(0.0, f64::max);
    Figures {
        reaction: [reaction(|motion| motion.target_speed() > 0.0), reaction(|motion| motion.speed() > 0.0)],
        delay: delay * 1e3,
        worst: worst.to_degrees(),
        end: (way(length + 1.0) - reference(length)).to_degrees(),
    }
}

fn published(at: SimTime, age: Duration) -> SimTime {
    SimTime::from_micros(at.as_micros() - age.as_micros() as u64)
}

#[test]
fn half_a_turn_and_back_ends_where_it_should_with_feedback_and_drifts_without() {
    let cases: Vec<(SoftwareVersion, bool)> =
        [true, false].into_iter().flat_map(|feedback| SOFTWARE.map(|software| (software, feedback))).collect();
    let rows = in_parallel(&cases, |(software, feedback)| {
        let (there, back) = (run(software, feedback, false), run(software, feedback, true));
        let what = format!("{software}, feedback {feedback}: {there:?}, {back:?}");
        let Figures { reaction: [target, joint], delay, worst, end } = back;
        assert!((1.0..=2.0).contains(&target) && joint <= 2.0, "{what}");
        if feedback {
            assert!(end.abs() < 0.05 && there.end.abs() < 0.05, "{what}");
        } else {
            assert!(there.end.abs() > 0.5, "nothing corrects the drives' error: {what}");
        }
        vec![
            format!("{}.{}", software.major, software.minor),
            if feedback { "with" } else { "without" }.to_owned(),
            format!("{target:.0} / {joint:.0}"),
            format!("{delay:+.1} ms"),
            format!("{worst:.2}°"),
            format!("{:.3}°", there.end.abs()),
            format!("{:.3}°", end.abs()),
        ]
    });
    let columns =
        ["software", "feedback", "reaction, cycles", "delay", "worst on the way", "error at −180°", "error at the end"];
    hold("servo.md", &(HEAD.to_owned() + &markdown(&columns, &rows)));
}

const HEAD: &str = "# Half a turn of the base joint and back in 4 s

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::servo`, in virtual time.

The base joint goes to −180° in 2 s and back in 2 s, cubic in between (at most 135 °/s), by `speedj` computed in each
control cycle. *With* feedback: P = 20 /s and D = 0.1 on the measured joint, and the reference's own speed. *Without*: its
own speed alone.

* *reaction*: whole control cycles from the state that the first moving command answers to the cycle in which the
  controller's target, and the joint, begin to move;
* *delay*: the shift in time of the whole motion that fits it best; negative where the joint is ahead of its reference;
* *worst on the way*: largest distance from the reference, shifted by that delay;
* *error at −180°*: one second after a motion that ends there; *error at the end*: one second after the way back.

What the simulation assumes: text that arrives within 3 ms of a state (0.75 ms on e-Series) runs in the next cycle; the
drives answer one cycle late, with a first-order lag of 10 ms, and turn 0.5 % faster or slower than they are told. That
error is the same on the way back, and so cancels out there: it shows at −180°. The network takes 100 µs. There is no
gravity, friction or flexibility.

For comparison, figures of Andersen's report of 2015 on the ROS driver, from a real arm: the driver of that time -1.5° off
and 160–170 ms late, `servoj` 0.3° off, `speedj` one or two cycles late.

";
