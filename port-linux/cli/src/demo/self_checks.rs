//! The demo's self-checks: pure functions of a run's record, its scenario and the bounds in force.

use outrigger_core::engine::ur::UrConfig;
use outrigger_core::link::{GradeChange, Metric};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Options;
use outrigger_wire::time::{Duration, Instant};

use super::machine_pauses::Pauses;
use super::pause_allowance::{Allowance, period};
use super::record::{Record, ms, rms};
use super::scenario_steps::{Fault, RE_ARMINGS, Round, SETTLING, Script, Stop};
use super::simulated_cell::Truth;
use crate::report::{Check, Verdict};

/// The joint speed below which the arm counts as being at standstill \[rad/s\].
const REST: f32 = 1e-3;
/// The time for which the joint speeds must stay below [`REST`] until the arm counts as being at standstill.
const AT_REST_FOR: Duration = Duration::from_millis(50);
/// The longest permitted time from the simulated operator's first request to the beginning of commanding.
const ARMING_BOUND: Duration = Duration::from_secs(8);
/// The time within which the arm must be at standstill after the session's mode has changed to one that permits no
/// motion.
const STOPPING: Duration = Duration::from_millis(100);

/// The way in which the arm came to standstill after a fault.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    /// The time from the fault to the beginning of the arm's standstill.
    took: Duration,
    /// The highest speed of any joint between the fault and standstill \[rad/s\].
    speed: f32,
    /// The farthest travel of a joint after the beginning of standstill \[rad\], caused by commands that were queued in
    /// the network and arrive late.
    later_travel: f32,
}

/// The bounds of the demo's self-checks, computed from the values in the fields.
pub(super) struct Bounds<'a> {
    pub(super) allowance: Allowance,
    pub(super) options: &'a Options,
    /// The measured pauses of this machine, which explain unexpected ends of commanding.
    pub(super) pauses: &'a Pauses,
}

impl Bounds<'_> {
    fn config(&self) -> UrConfig {
        self.allowance.config()
    }

    /// Returns the longest permitted time from a fault at `from` until the arm is at rest. The arm brakes once the
    /// fault is noticed or the last command has expired, whichever is later, and its drives follow with their lag. A
    /// pause of the machine between `from` and `until` is added if it was longer than half of the age limit of robot
    /// states.
    fn rest(&self, fault: Fault, speed: f32, from: Instant, until: Instant) -> Duration {
        let seen = self.seen(fault).max(self.config().peer.text.hold + period());
        seen + self.slack().max(self.paused_between(from, until)) + self.braking(speed)
    }

    /// Returns the longest time from a fault to the moment at which a limit of the session is exceeded, so that the
    /// fault is noticed.
    fn seen(&self, fault: Fault) -> Duration {
        match fault {
            Fault::LinkStall => self.allowance.stale_after() + period(),
            // Readings are bridged for two cycles, then three zero velocities precede the stop.
            Fault::SensorCable => self.allowance.source_age() + period().times(5),
        }
    }

    /// Returns the longest permitted time from a fault at `from` to the end of commanding, which was at `until`. A
    /// control loop that is woken late, within the limits, notices the fault late.
    fn fallback(&self, fault: Fault, from: Instant, until: Instant) -> Duration {
        let late = self.allowance.stale_after().percent(50);
        self.seen(fault) + late + self.slack().max(self.paused_between(from, until))
    }

    /// Returns the longest pause of the machine between `from` and `until`; zero if it was no longer than half of the
    /// age limit of robot states.
    fn paused_between(&self, from: Instant, until: Instant) -> Duration {
        let paused = self.pauses.longest(from, until);
        if paused > self.allowance.stale_after().percent(50) { paused } else { Duration::ZERO }
    }

    /// Returns the longest permitted time from the end of commanding until the arm is at rest, if a pause of the
    /// machine of length `paused` ended commanding. `speed` is that of the fastest joint \[rad/s\].
    fn rest_from_stop(&self, speed: f32, paused: Duration) -> Duration {
        self.config().peer.text.hold + period() + self.slack() + paused + self.braking(speed)
    }

    fn braking(&self, speed: f32) -> Duration {
        let stop = self.config().peer.text.stop_acceleration;
        let braking = Duration::from_micros((f64::from(speed / stop) * 1e6) as u64);
        let lag = Duration::from_micros(self.options.drive.lag.as_micros() as u64);
        braking + lag.times(5) + period().times(2)
    }

    /// Returns the time by which pauses of the machine within the limits may delay the arm's standstill, for both sides
    /// of the link.
    fn slack(&self) -> Duration {
        self.allowance.extra().times(2)
    }

    /// Returns the farthest permitted travel of a joint \[rad\] when the commands arrive that were queued while the
    /// link was stalled. All of them arrive at once, so that one command is in force for at most two cycles before the
    /// zero velocity after it.
    fn late_travel(&self, speed: f32) -> f32 {
        let lag = self.options.drive.lag.as_secs_f32();
        speed * (2.0 * period().as_secs_f32() + 2.0 * lag + self.allowance.extra().as_secs_f32())
    }

    /// Returns the length of the pause of this machine that explains why commanding ended at `at` for `reason`:
    /// directly before that, and longer than half of the limit in force. Pauses longer than a tenth of the limit are
    /// added up. Commanding ends some time after `fell`, the link's fall to a grade that is too low: that is explained
    /// by pauses directly before the fall, also by ones that cause more than half of the permitted value of the figure
    /// that lowered the grade. `None` if no pause explains it.
    pub(super) fn paused(
        pauses: &Pauses,
        allowance: &Allowance,
        at: Instant,
        reason: Reason,
        fell: Option<GradeChange>,
    ) -> Option<Duration> {
        let limit = match reason {
            Reason::LocalStall | Reason::StateStale | Reason::StatesMissed | Reason::GradeLow | Reason::NotAtRest => {
                allowance.stale_after()
            }
            Reason::SourceStale => allowance.source_age(),
            _ => return None,
        };
        let fell = fell.filter(|_| reason == Reason::GradeLow);
        let at = fell.map_or(at, |fell| fell.at);
        let before = |span: Duration| Instant::from_micros(at.as_micros().saturating_sub(span.as_micros()));
        // A pause is recorded when it is over, by threads that were paused as well.
        let (from, until) = (before(limit.times(2)), at + limit.percent(50));
        let longest = pauses.longest(from, until);
        let together = pauses.covered(before(limit.percent(150)), until, limit.percent(10));
        let grade = allowance.config().link.stream(period()).limits.bad;
        let lowered = match fell.map(|fell| fell.cause.metric) {
            Some(Metric::Jitter) => pauses.jitter(at, period()) > grade.jitter.percent(50),
            Some(Metric::Misses) => longest > period().times(grade.misses.into()).percent(50),
            _ => false,
        };
        (longest.max(together) > limit.percent(50) || lowered).then_some(longest.max(together))
    }
}

impl Record {
    pub(super) fn error(&self, truth: &Truth) -> f64 {
        (truth.distance - self.wanted_distance) * 1e3
    }

    /// Returns the time at which the session's mode that begins at `from` ends; the end of time for the last mode.
    fn mode_ends(&self, from: Instant) -> Instant {
        self.modes.iter().map(|(at, _)| *at).find(|at| *at > from).unwrap_or(Instant::from_micros(u64::MAX))
    }

    /// Returns the errors of the distance from tool to workpiece \[mm\] while the arm was commanded and had settled.
    /// The time directly before a pause of this machine ended commanding is left out.
    pub(super) fn settled_errors(&self, script: &Script) -> Vec<f64> {
        let paused = |end: Instant| {
            let stop = script.by_this_machine().find(|(stop, _)| stop.at == end);
            stop.map_or(Duration::ZERO, |(_, paused)| paused.times(2))
        };
        let end = |from: Instant| {
            let end = self.mode_ends(from);
            Instant::from_micros(end.as_micros().saturating_sub(paused(end).as_micros()))
        };
        let commanding = self.modes.iter().filter(|(_, mode)| *mode == Mode::Command);
        let spans: Vec<_> = commanding.map(|(at, _)| (*at + SETTLING, end(*at))).collect();
        let settled = |at: Instant| spans.iter().any(|(from, to)| *from <= at && at < *to);
        self.truths.iter().filter(|truth| settled(truth.at)).map(|truth| self.error(truth)).collect()
    }

    /// Finds the arm's standstill between `fault` and `until`. Returns `None` without a record of the arm in that
    /// time.
    fn rest_after(&self, fault: Instant, until: Instant) -> Option<Rest> {
        let fastest = |truth: &Truth| truth.speeds.iter().fold(0.0_f32, |most, speed| most.max(speed.abs()));
        let mut rest = Rest { took: until.since(fault), ..Rest::default() };
        let mut still_since: Option<Instant> = None;
        let mut rested = false;
        let mut travel = [0.0_f32; 6];
        let mut before = fault;
        let mut readings = self.truths.iter().filter(|truth| (fault..until).contains(&truth.at)).peekable();
        readings.peek()?;
        for truth in readings {
            let speed = fastest(truth);
            if speed > REST {
                still_since = None;
            } else {
                let since = *still_since.get_or_insert(truth.at);
                if !rested && truth.at.since(since) >= AT_REST_FOR {
                    (rest.took, rested) = (since.since(fault), true);
                }
            }
            if rested {
                let seconds = truth.at.since(before).as_secs_f32();
                for (travelled, speed) in travel.iter_mut().zip(truth.speeds) {
                    *travelled += speed.abs() * seconds;
                }
            } else {
                rest.speed = rest.speed.max(speed);
            }
            before = truth.at;
        }
        rest.later_travel = travel.into_iter().fold(0.0, f32::max);
        Some(rest)
    }

    /// Returns the speed of the fastest joint \[rad/s\] while the session's mode permits no motion, apart from the time
    /// that the arm has for stopping. Returns `None` without a reading in that time.
    fn unasked_speed(&self, bounds: &Bounds<'_>) -> Option<f32> {
        let mut fastest = None;
        for (from, mode) in &self.modes {
            if matches!(mode, Mode::Monitor | Mode::Arming | Mode::Offline) {
                let span = *from + STOPPING + bounds.slack()..self.mode_ends(*from);
                let speeds = self.truths.iter().filter(|truth| span.contains(&truth.at)).flat_map(|truth| truth.speeds);
                fastest = speeds.fold(fastest, |most: Option<f32>, speed| Some(most.unwrap_or(0.0).max(speed.abs())));
            }
        }
        fastest
    }

    /// Returns the results of all self-checks of the demo, in the order of its scenario.
    pub(super) fn checks(&self, script: &Script, bounds: &Bounds<'_>) -> Vec<Check> {
        let mut checks = vec![armed(script), self.error_in_bounds(script, bounds)];
        for round in &script.rounds {
            checks.extend(self.round(round, bounds));
        }
        let unasked = self.unasked_speed(bounds);
        checks.push(Check {
            name: "still-when-not-commanding",
            verdict: Verdict::of(unasked.is_some_and(|unasked| unasked <= REST)),
            detail: unasked.map_or_else(nothing_measured, |unasked| {
                format!("fastest joint {unasked:.6} rad/s outside Command and Stopping (limit {REST} rad/s)")
            }),
        });
        let (begun, requests) = self.begun();
        checks.push(Check {
            name: "commanding-only-when-requested",
            verdict: Verdict::of(begun <= requests),
            detail: format!("arming began {begun} times after {requests} starts"),
        });
        checks.extend(self.machine_stops(script, bounds));
        checks.push(unexplained(script));
        checks.push(Check {
            name: "completed",
            verdict: Verdict::of(script.is_complete()),
            detail: if script.is_complete() {
                "stopped at the end; standstill was measured".into()
            } else {
                "the demo did not run to its end".into()
            },
        });
        checks
    }

    /// Returns the number of times that arming began, and the number of those that had a request of the operator as
    /// their cause; each request is the cause of one at most.
    fn begun(&self) -> (usize, usize) {
        let arming: Vec<_> = self.modes.iter().filter(|(_, mode)| *mode == Mode::Arming).map(|(at, _)| *at).collect();
        let (mut requests, mut causes) = (self.requests.iter().peekable(), 0);
        for at in &arming {
            if requests.next_if(|request| *request <= at).is_some() {
                causes += 1;
            }
        }
        (arming.len(), causes)
    }

    /// Checks the ends of commanding that pauses of this machine caused: they must be [`RE_ARMINGS`] at most, and the
    /// arm must have stopped in time after each. If so, the verdict is [`Verdict::Counted`]. Returns `None` if there
    /// was no such end.
    fn machine_stops(&self, script: &Script, bounds: &Bounds<'_>) -> Option<Check> {
        let mut good = true;
        let lines: Vec<_> = script
            .by_this_machine()
            .map(|(Stop { at, reason, at_rest, .. }, paused)| {
                let rest = at_rest.and_then(|until| self.rest_after(*at, until));
                let bound = rest.map(|rest| bounds.rest_from_stop(rest.speed, paused));
                good &= rest.zip(bound).is_some_and(|(rest, bound)| rest.took <= bound);
                let stopped = stopped(*at_rest, rest.zip(bound));
                format!(
                    "{} at {:.1} s after a pause of {:.0} ms, {stopped}",
                    reason.name(),
                    ms(at.since(Instant::ZERO)) / 1e3,
                    ms(paused)
                )
            })
            .collect();
        let within = lines.len() <= RE_ARMINGS;
        let detail = format!("{} of at most {RE_ARMINGS}: {}", lines.len(), lines.join("; "));
        let verdict = if good && within { Verdict::Counted } else { Verdict::Failed };
        (!lines.is_empty()).then_some(Check { name: "paused-by-this-machine", verdict, detail })
    }

    fn error_in_bounds(&self, script: &Script, bounds: &Bounds<'_>) -> Check {
        let bound = bounds.allowance.error();
        let errors = self.settled_errors(script);
        let worst = errors.iter().fold(0.0_f64, |most, error| most.max(error.abs()));
        Check {
            name: "error-in-bounds",
            verdict: Verdict::of(!errors.is_empty() && worst <= bound),
            detail: rms(&errors).map_or_else(nothing_measured, |rms| {
                format!(
                    "RMS {rms:.3} mm, worst {worst:.3} mm over {} true distances of the simulation (limit {bound:.1} mm)",
                    errors.len()
                )
            }),
        }
    }

    fn round(&self, round: &Round, bounds: &Bounds<'_>) -> [Check; 4] {
        let names = match round.fault {
            Fault::LinkStall => [
                "link-stall-reason",
                "link-stall-at-rest-in-time",
                "link-stall-queued-text-harmless",
                "link-stall-re-armed",
            ],
            Fault::SensorCable => [
                "sensor-cable-reason",
                "sensor-cable-at-rest-in-time",
                "sensor-cable-still-afterwards",
                "sensor-cable-re-armed",
            ],
        };
        let expected: Vec<_> = round.fault.expected().iter().map(|reason| reason.name()).collect();
        let expected = expected.join(" or ");
        let reason = match (round.injected, round.fell_back) {
            (Some(injected), Some((at, reason))) => {
                let (took, bound) = (at.since(injected), bounds.fallback(round.fault, injected, at));
                let detail = format!(
                    "{} after {:.1} ms (expected {expected}, limit {:.1} ms)",
                    reason.name(),
                    ms(took),
                    ms(bound)
                );
                Some((round.fault.expected().contains(&reason) && took <= bound, detail))
            }
            _ => None,
        };
        let span = round.injected.zip(round.at_rest);
        let rest = span.and_then(|(fault, until)| self.rest_after(fault, until));
        let in_time = span.zip(rest).map(|((injected, until), Rest { took, speed, .. })| {
            let bound = bounds.rest(round.fault, speed, injected, until);
            let detail = format!(
                "standstill {:.1} ms after the fault, from {speed:.3} rad/s (limit {:.1} ms)",
                ms(took),
                ms(bound)
            );
            (took <= bound, detail)
        });
        let unmeasured = || (span.is_some() && rest.is_none()).then(|| (false, nothing_measured()));
        let still = rest.map(|Rest { speed, later_travel, .. }| {
            let bound = bounds.late_travel(speed);
            let detail = format!(
                "largest joint movement after standstill {:.3} mrad (limit {:.3} mrad)",
                later_travel * 1e3,
                bound * 1e3
            );
            (later_travel <= bound, detail)
        });
        let re_armed = round.at_rest.zip(round.re_armed).map(|(rest, armed)| {
            (true, format!("reset and started; commanding again {:.1} s after standstill", ms(armed.since(rest)) / 1e3))
        });
        let [reason_name, in_time_name, still_name, re_armed_name] = names;
        let (in_time, still) = (in_time.or_else(unmeasured), still.or_else(unmeasured));
        [(reason_name, reason), (in_time_name, in_time), (still_name, still), (re_armed_name, re_armed)].map(
            |(name, result)| {
                let (passed, detail) = result.unwrap_or_else(|| (false, "the demo ended before this check".into()));
                Check { name, verdict: Verdict::of(passed), detail }
            },
        )
    }
}

/// Returns the text in the result of a self-check for which there was no reading.
fn nothing_measured() -> String {
    "not measured: no readings".into()
}

/// Describes how the arm came to rest after an unexpected end of commanding, with the permitted time. `rest` is `None`
/// without readings up to `at_rest`.
fn stopped(at_rest: Option<Instant>, rest: Option<(Rest, Duration)>) -> String {
    match (at_rest, rest) {
        (None, _) => "no standstill".into(),
        (Some(_), None) => nothing_measured(),
        (Some(_), Some((rest, bound))) => {
            format!("standstill {:.1} ms later (limit {:.1} ms)", ms(rest.took), ms(bound))
        }
    }
}

/// Checks that every fallback has its cause in the scenario or in a measured pause of this machine.
fn unexplained(script: &Script) -> Check {
    let list: Vec<_> = script
        .stops
        .iter()
        .filter(|stop| stop.paused.is_none())
        .map(|stop| format!("{} at {:.1} s", stop.reason.name(), ms(stop.at.since(Instant::ZERO)) / 1e3))
        .collect();
    Check {
        name: "no-other-fallback",
        verdict: Verdict::of(list.is_empty()),
        detail: if list.is_empty() {
            "none".into()
        } else {
            format!("neither an injected fault nor a pause of this machine explains {}", list.join(", "))
        },
    }
}

fn armed(script: &Script) -> Check {
    let took = script.requested.zip(script.armed).map(|(requested, armed)| armed.since(requested));
    Check {
        name: "armed",
        verdict: Verdict::of(took.is_some_and(|took| took <= ARMING_BOUND)),
        detail: match took {
            Some(took) => {
                format!("commanding {:.2} s after the start (limit {:.0} s)", ms(took) / 1e3, ms(ARMING_BOUND) / 1e3)
            }
            None => "commanding never began".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_without_readings_is_not_one_without_rest() {
        let rest = Rest { took: Duration::from_millis(120), ..Rest::default() };
        let bound = Duration::from_millis(400);
        assert_eq!(stopped(None, None), "no standstill");
        assert_eq!(stopped(Some(Instant::ZERO), None), "not measured: no readings");
        assert_eq!(stopped(Some(Instant::ZERO), Some((rest, bound))), "standstill 120.0 ms later (limit 400.0 ms)");
    }
}
