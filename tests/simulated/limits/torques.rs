//! Joint torques: the laws that move the arm by them, and the bounds that every run keeps.
//!
//! The speed that a torque causes depends on the joint's load, which no configuration knows. Therefore a bound of
//! speed or position counts as kept if no torque loads the arm any more a few control cycles after the bound is
//! reached, and the arm then comes to rest with its stop.

use std::time::Duration as Span;

use outrigger_core::command::Limits;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference, SensorFeedForward};
use outrigger_sim::controller::Controller;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Motion, REST, Rig, SENSOR, Sensor};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::SampleValue;
use outrigger_wire::time::Duration;

use super::drawn::Drawn;
use super::ways::{Readings, Strike, Worst};

/// The tolerance of the tested bounds: a fraction of a speed or a torque, and an angle \[rad\] for positions.
const BEYOND: f64 = 0.02;
/// The largest number of control cycles with torque after a cycle in which a joint is beyond a bound.
const CYCLES: usize = 3;

/// Draws a law that commands torques. A sensor demands speeds, some of them above a joint's limit. Torques accelerate
/// the joints to them, mostly with the largest that are permitted.
pub(super) fn pushes(file: &mut Drawn<'_>, limits: &Limits<6>) -> Option<(AnyLaw<6>, Sensor)> {
    let fastest = limits.velocity.0.map(f64::from);
    let (period, most) = (file.draw().span(0.001, 0.05), file.draw().of(&[0.5, 0.9, 0.99, 1.5]));
    let mut readings = Readings::new(file.draw());
    let mut config = JointServoConfig {
        proportional: 0.0,
        derivative: 0.0,
        path_tolerance: 6.3,
        sensor: Some(SensorFeedForward { source: SENSOR, gain: 1.0 }),
        ..JointServoConfig::default()
    };
    file.section("servo.", |file| {
        if file.stands("torque_gain") {
            config.torque_gain = file.within(0.01, 100.0) as f32;
        }
    });
    config.check().ok()?;
    let read = move |controller: &Controller| {
        let shares = readings.at(controller);
        SampleValue::new(&std::array::from_fn::<f32, 6, _>(|joint| (most * shares[joint] * fastest[joint]) as f32))
    };
    let sensor = Sensor { id: SENSOR, period: Span::from_micros(period.as_micros()), read: Box::new(read) };
    Some((AnyLaw::JointServo(JointServo::new(Reference::Hold, config)), sensor))
}

/// The torques of which the joints of the simulated arm are capable \[Nm\].
pub(super) const STRONGEST: [f32; 6] = [150.0, 150.0, 150.0, 28.0, 28.0, 28.0];

/// Returns a description of a joint that is beyond a bound of speed or position in this cycle, if there is one.
fn beyond(now: &Motion, from: &[f64; 6], config: &UrConfig) -> Option<String> {
    let Limits { velocity, position_min, position_max, braking, .. } = &config.limits;
    let braking = braking.iter().fold(config.peer.text.stop_acceleration, f32::min);
    let travel = f64::from(config.peer.torque.travel) + BEYOND;
    (0..6).find_map(|joint| {
        let (q, v) = (now.q[joint], now.qd[joint]);
        let rests = q + v * v.abs() / (2.0 * f64::from(braking));
        let low = (f64::from(position_min.0[joint]) - BEYOND).min(from[joint] - BEYOND);
        let high = (f64::from(position_max.0[joint]) + BEYOND).max(from[joint] + BEYOND);
        let fast = v.abs() > f64::from(velocity.0[joint]) * (1.0 + BEYOND) + 1e-6;
        let what = if fast {
            "its speed"
        } else if rests < low - 1e-6 || rests > high + 1e-6 {
            "its range"
        } else if (rests - from[joint]).abs() > travel + 1e-6 {
            "its travel"
        } else {
            return None;
        };
        Some(format!("joint {joint} at {q:.4} rad, {v:.4} rad/s is beyond {what} at {}", now.at))
    })
}

/// Checks the recorded motion of a run with torques. Returns whether the arm moved, its worst values, and the first
/// violated bound.
pub(super) fn judge(
    rig: &Rig<'_>,
    config: &UrConfig,
    software: SoftwareVersion,
    struck: Option<(Strike, SimTime)>,
) -> (bool, Worst, Option<String>) {
    let motion = &rig.record().motion;
    let (mut worst, mut broken) = (Worst::NOTHING, None);
    let limits = config.peer.torque;
    let period = Duration::from_micros(software.generation().period_micros());
    let change = limits.change_in(period);
    // The position at which torques began, and the number of cycles since a bound was exceeded while the arm has not
    // been at rest.
    let (mut from, mut over): (Option<[f64; 6]>, Option<(usize, String)>) = (None, None);
    let mut before = [0.0; 6];
    for now in motion {
        let Some(torque) = now.torque else {
            (from, before) = (None, [0.0; 6]);
            if now.speed() < REST {
                over = None;
            }
            continue;
        };
        let began = *from.get_or_insert(now.q);
        for joint in 0..6 {
            let (most, step) = (f64::from(limits.torque.0[joint]), f64::from(change.0[joint]));
            let (size, changed) = (torque[joint].abs(), (torque[joint] - before[joint]).abs());
            worst.acceleration = worst.acceleration.max(changed / step);
            if size > most * (1.0 + BEYOND) + 1e-5 {
                broken.get_or_insert(format!("joint {joint} has {size:.3} of {most:.3} Nm at {}", now.at));
            }
            if changed > step * (1.0 + BEYOND) + 1e-5 {
                broken.get_or_insert(format!("joint {joint} has {changed:.3} of {step:.3} Nm more at {}", now.at));
            }
            let fastest = f64::from(config.limits.velocity.0[joint]);
            worst.speed = worst.speed.max(now.qd[joint].abs() / fastest);
        }
        before = torque;
        if let Some((cycles, what)) = &mut over {
            *cycles += 1;
            if *cycles > CYCLES {
                broken.get_or_insert(format!("{what}, and torques go on"));
            }
        } else if let Some(what) = beyond(now, &began, config) {
            over = Some((0, what));
        }
    }
    if let Some((strike, at)) = struck {
        let late = silent_within(strike, config, software);
        let pushed = motion.iter().filter(|motion| motion.torque.is_some()).map(|motion| motion.at).max();
        let after = pushed.map(|pushed| pushed.since(at)).unwrap_or_default();
        worst.stopping = after.as_secs_f64() / late.as_secs_f64();
        if after > late {
            broken.get_or_insert(format!("torques for {after:?} of {late:?} after {strike:?} at {at}"));
        }
        if let Some(last) = motion.last().filter(|last| last.speed() > REST) {
            broken.get_or_insert(format!("{:.3} rad/s at the end, {}", last.speed(), last.at));
        }
    }
    let moved = motion.iter().any(|motion| motion.speed() > 1e-3);
    (moved, worst, broken)
}

/// Returns the longest time for which torques may continue after `strike`, the cause for the end of commanding.
fn silent_within(strike: Strike, config: &UrConfig, software: SoftwareVersion) -> Span {
    let period = Duration::from_micros(software.generation().period_micros());
    let path = config.path_timing(software, period);
    let stale = config.link.stream(period).stale_after.max(config.mode.of(period).state_timeout);
    let oldest = config.sources.iter().flatten().map(|source| source.max_age).max().unwrap_or_default();
    let seen = match strike {
        Strike::Death | Strike::Reset => Duration::ZERO,
        Strike::Cable | Strike::Release => stale,
        Strike::Sensors => stale.max(oldest + period.times(4)),
    };
    Span::from_micros((seen + path.latency + path.hold + period.times(4)).as_micros())
}
