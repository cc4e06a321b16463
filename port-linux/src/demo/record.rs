//! What the demo measures, what must hold of it, and the report.

use outrigger_core::engine::ur::UrConfig;
use outrigger_core::link::{Grade, LinkConfig};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::time::{Duration, Instant};
use outrigger_sim::controller::Options;

use super::script::{Fault, Round, Script};
use super::world::{Truth, World};
use crate::report::picture::{FRAMES_PER_SECOND, Frame, Picture};
use crate::report::{Check, Figure, Report, plot::grouped, quantile};

/// The largest standoff error once the arm has settled \[mm\].
const ERROR_BOUND: f64 = 1.0;
/// How long after arming the error does not count yet: the tool comes from afar.
const SETTLING: Duration = Duration::from_secs(4);
/// Joint speeds below this are rest \[rad/s\] …
const REST: f32 = 1e-3;
/// … once they have stayed below it for this long.
const AT_REST_FOR: Duration = Duration::from_millis(50);
/// Time from the request to commanding.
const ARMING_BOUND: Duration = Duration::from_secs(8);

/// Everything noted during the run.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) modes: Vec<(Instant, Mode)>,
    pub(super) grades: Vec<(Instant, Grade)>,
    pub(super) events: Vec<(Instant, String)>,
    /// Age of the newest state whenever the engine was called.
    pub(super) ages: Vec<(Instant, Duration)>,
    /// When each state arrived.
    pub(super) arrivals: Vec<Instant>,
    /// From the end of the read that completed a state to the end of writing the text that it caused.
    pub(super) turnarounds: Vec<Duration>,
    pub(super) truths: Vec<Truth>,
    pub(super) wanted_distance: f64,
    pub(super) bridged: u32,
    /// When a fault was done or put right, in few words.
    pub(super) faults: Vec<(Instant, &'static str)>,
}

/// How the arm came to rest after a fault.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    /// From the fault to the beginning of rest.
    took: Duration,
    /// The fastest joint until then \[rad/s\].
    speed: f32,
    /// How far the farthest joint moved after that \[rad\]: what was queued in the network arrives late.
    later_travel: f32,
}

/// What the bounds are made of.
pub(super) struct Bounds<'a> {
    pub(super) config: &'a UrConfig,
    pub(super) source_age: Duration,
    pub(super) options: &'a Options,
}

impl Bounds<'_> {
    /// The longest time from a fault to rest: it is seen, or the last command runs out, whichever is later; then the
    /// arm brakes, and its drives follow with their lag until the speed counts as rest.
    fn rest(&self, fault: Fault, speed: f32) -> Duration {
        let period = period(self.options);
        let seen = match fault {
            Fault::LinkStall => LinkConfig::stream(period).stale_after + period,
            // Bridged for two cycles, then three zero velocities before the stop.
            Fault::SensorCable => self.source_age + period.times(5),
        };
        let braking = Duration::from_micros((f64::from(speed / self.config.peer.text.stop_acceleration) * 1e6) as u64);
        let lag = Duration::from_micros(self.options.drive.lag.as_micros() as u64);
        seen.max(self.config.peer.text.hold + period) + braking + lag.times(5) + period.times(2)
    }
}

impl Bounds<'_> {
    /// The farthest a joint may move \[rad\] when text arrives that was queued while the link stood still: all of it
    /// arrives at once, so that one command lives for at most two cycles before the zero velocity behind it.
    fn late_travel(&self, speed: f32) -> f32 {
        let cycle = self.options.software.generation().period_micros() as f32 / 1e6;
        speed * (2.0 * cycle + 2.0 * self.options.drive.lag.as_secs_f32())
    }
}

impl Record {
    fn error(&self, truth: &Truth) -> f64 {
        (truth.distance - self.wanted_distance) * 1e3
    }

    /// When the mode that begins at `from` ends.
    fn mode_ends(&self, from: Instant) -> Instant {
        self.modes.iter().map(|(at, _)| *at).find(|at| *at > from).unwrap_or(Instant::from_micros(u64::MAX))
    }

    /// Errors while commanding and settled.
    fn settled_errors(&self) -> Vec<f64> {
        let spans: Vec<_> = self
            .modes
            .iter()
            .filter(|(_, mode)| *mode == Mode::Command)
            .map(|(at, _)| (*at + SETTLING, self.mode_ends(*at)))
            .collect();
        let settled = |at: Instant| spans.iter().any(|(from, to)| (*from..*to).contains(&at));
        self.truths.iter().filter(|truth| settled(truth.at)).map(|truth| self.error(truth)).collect()
    }

    /// How the arm came to rest between `fault` and `until`.
    fn rest_after(&self, fault: Instant, until: Instant) -> Rest {
        let fastest = |truth: &Truth| truth.speeds.iter().fold(0.0_f32, |most, speed| most.max(speed.abs()));
        let mut rest = Rest { took: until.since(fault), ..Rest::default() };
        let mut still_since: Option<Instant> = None;
        let mut rested = false;
        let mut travel = [0.0_f32; 6];
        let mut before = fault;
        for truth in self.truths.iter().filter(|truth| (fault..until).contains(&truth.at)) {
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
        rest
    }

    /// The fastest motion while the mode allows none, leaving out the time that stopping takes.
    fn unasked_speed(&self) -> f32 {
        let mut fastest = 0.0_f32;
        for (from, mode) in &self.modes {
            if matches!(mode, Mode::Monitor | Mode::Arming | Mode::Offline) {
                let span = *from + Duration::from_millis(100)..self.mode_ends(*from);
                let speeds = self.truths.iter().filter(|truth| span.contains(&truth.at)).flat_map(|truth| truth.speeds);
                fastest = speeds.fold(fastest, |most, speed| most.max(speed.abs()));
            }
        }
        fastest
    }

    /// Every check, in the order of the story.
    pub(super) fn checks(&self, script: &Script, bounds: &Bounds<'_>) -> Vec<Check> {
        let mut checks = vec![armed(script), self.error_in_bounds()];
        for round in &script.rounds {
            checks.extend(self.round(round, bounds));
        }
        let unasked = self.unasked_speed();
        checks.push(Check {
            name: "still-when-not-commanding",
            passed: unasked <= REST,
            detail: format!("fastest joint {unasked:.6} rad/s outside Command and Stopping (bound {REST} rad/s)"),
        });
        checks.push(unplanned(script));
        checks.push(Check {
            name: "told-to-the-end",
            passed: script.is_complete(),
            detail: if script.is_complete() {
                "released at the end, and standstill was measured".into()
            } else {
                "the story was not told to its end".into()
            },
        });
        checks
    }

    fn error_in_bounds(&self) -> Check {
        let errors = self.settled_errors();
        let worst = errors.iter().fold(0.0_f64, |most, error| most.max(error.abs()));
        Check {
            name: "error-in-bounds",
            passed: !errors.is_empty() && worst <= ERROR_BOUND,
            detail: format!(
                "RMS {:.3} mm, worst {worst:.3} mm over {} readings of the simulation's own truth (bound {ERROR_BOUND} mm)",
                rms(&errors),
                errors.len()
            ),
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
            (Some(injected), Some((at, reason))) => Some((
                round.fault.expected().contains(&reason),
                format!("{} after {:.1} ms (expected {expected})", reason.name(), ms(at.since(injected))),
            )),
            _ => None,
        };
        let rest = round.injected.zip(round.at_rest).map(|(fault, until)| self.rest_after(fault, until));
        let in_time = rest.map(|Rest { took, speed, .. }| {
            let bound = bounds.rest(round.fault, speed);
            let detail = format!(
                "joints at rest {:.1} ms after the fault, from {speed:.3} rad/s (bound {:.1} ms)",
                ms(took),
                ms(bound)
            );
            (took <= bound, detail)
        });
        let still = rest.map(|Rest { speed, later_travel, .. }| {
            let bound = bounds.late_travel(speed);
            let detail = format!(
                "farthest joint moved {:.3} mrad after it had come to rest (bound {:.3} mrad)",
                later_travel * 1e3,
                bound * 1e3
            );
            (later_travel <= bound, detail)
        });
        let re_armed = round.at_rest.zip(round.re_armed).map(|(rest, armed)| {
            (
                true,
                format!("acknowledged and requested; commanding again {:.1} s after rest", ms(armed.since(rest)) / 1e3),
            )
        });
        let [reason_name, in_time_name, still_name, re_armed_name] = names;
        [(reason_name, reason), (in_time_name, in_time), (still_name, still), (re_armed_name, re_armed)].map(
            |(name, result)| {
                let (passed, detail) = result.unwrap_or((false, "the story did not come to it".into()));
                Check { name, passed, detail }
            },
        )
    }

    /// The moments to be drawn: at work, at rest after the first fault, and at work again.
    fn moments(&self, script: &Script) -> Vec<(Instant, &'static str)> {
        let Some(first) = script.rounds.first() else { return vec![] };
        [
            (first.injected, "keeps its distance"),
            (first.at_rest, "the link stood still: at rest, not commanded"),
            (first.re_armed.map(|at| at + SETTLING), "asked to go on: keeps its distance again"),
        ]
        .into_iter()
        .filter_map(|(at, what)| at.map(|at| (at, what)))
        .collect()
    }

    fn truth_at(&self, at: Instant) -> Option<&Truth> {
        self.truths.get(self.truths.partition_point(|truth| truth.at < at)).or(self.truths.last())
    }

    /// From just before commanding begins to the second that begins it again after the first fault, as it passed.
    pub(super) fn picture(&self, script: &Script, world: &World) -> Picture {
        let begins =
            script.armed.map_or(Instant::ZERO, |at| Instant::from_micros(at.as_micros().saturating_sub(1_500_000)));
        let ends = script.rounds.first().and_then(|round| round.re_armed).map_or(begins, |at| at + SETTLING);
        let step = Duration::from_micros((1e6 / FRAMES_PER_SECOND) as u64);
        let frames = std::iter::successors(Some(begins), |at| Some(*at + step)).take_while(|at| *at < ends);
        let last = |at: Instant| self.events.iter().rev().find(|(when, _)| *when <= at);
        Picture {
            frames: frames
                .filter_map(|at| {
                    let truth = self.truth_at(at)?;
                    Some(Frame {
                        at: at.since(Instant::ZERO).as_secs_f64(),
                        scene: world.scene(truth),
                        mode: self
                            .modes
                            .iter()
                            .rev()
                            .find(|(when, _)| *when <= at)
                            .map_or(Mode::Offline, |(_, mode)| *mode),
                        event: last(at).map_or(String::new(), |(_, text)| text.clone()),
                    })
                })
                .collect(),
            wanted: self.wanted_distance,
        }
    }

    /// The page.
    pub(super) fn report(
        &self,
        script: &Script,
        world: &World,
        config: &UrConfig,
        checks: Vec<Check>,
        facts: Vec<(&'static str, String)>,
    ) -> Report {
        let seconds = |at: Instant| at.since(Instant::ZERO).as_secs_f64();
        let end = self.truths.last().map_or(0.0, |truth| seconds(truth.at));
        let turnarounds: Vec<_> = self.turnarounds.iter().map(|span| ms(*span)).collect();
        let errors = self.settled_errors();
        let stall = script.rounds.iter().find(|round| round.fault == Fault::LinkStall);
        let seen = stall.and_then(|round| Some(ms(round.fell_back?.0.since(round.injected?))));
        let figure = |value: String, unit, name: &str| Figure { value, unit, name: name.into() };
        let number = |value: Option<f64>, decimals: usize| value.map_or("–".into(), |v| format!("{v:.decimals$}"));
        Report {
            lead: format!(
                "A simulated {} with software {} holds its tool {:.0} mm above a workpiece that heaves and has waves. The \
                 distance comes from a sensor by UDP, joint speeds go out as script text in every cycle, all over this \
                 machine's loopback network.",
                super::world::MODEL.name().replace("ur", "UR"),
                super::world::SOFTWARE,
                self.wanted_distance * 1e3
            ),
            figures: vec![
                figure(format!("{:.2}", rms(&errors)), "mm", "standoff error, RMS, settled"),
                figure(
                    number(quantile(&turnarounds, 0.5).map(|v| v * 1e3), 0),
                    "µs",
                    "median from reading a state to having written its command",
                ),
                figure(number(seen, 1), "ms", "from the link's stall to the end of commanding"),
                figure(grouped(turnarounds.len() as u64), "", "states answered"),
            ],
            checks,
            modes: self.modes.iter().map(|(at, mode)| (seconds(*at), *mode)).collect(),
            grades: self.grades.iter().map(|(at, grade)| (seconds(*at), *grade)).collect(),
            faults: self.faults.iter().map(|(at, name)| (seconds(*at), *name)).collect(),
            moments: self
                .moments(script)
                .into_iter()
                .filter_map(|(at, what)| Some((seconds(at), what, world.scene(self.truth_at(at)?))))
                .collect(),
            events: self.events.iter().map(|(at, text)| (seconds(*at), text.clone())).collect(),
            error: self.truths.iter().map(|truth| (seconds(truth.at), self.error(truth))).collect(),
            error_bound: ERROR_BOUND,
            speeds: std::array::from_fn(|joint| {
                let speed = |truth: &Truth| truth.speeds.get(joint).map_or(f64::NAN, |speed| f64::from(*speed));
                self.truths.iter().map(|truth| (seconds(truth.at), speed(truth))).collect()
            }),
            ages: self.ages.iter().map(|(at, age)| (seconds(*at), ms(*age))).collect(),
            age_limit: ms(LinkConfig::stream(period(&world.options)).stale_after),
            speed_limit: f64::from(config.limits.velocity.max_abs()),
            intervals: self.arrivals.iter().zip(self.arrivals.iter().skip(1)).map(|(a, b)| ms(b.since(*a))).collect(),
            turnarounds,
            facts,
            seconds: end,
        }
    }
}

/// A busy machine may end commanding, and rightly; nothing else may.
fn unplanned(script: &Script) -> Check {
    let by_this_machine = |reason: Reason| {
        matches!(
            reason,
            Reason::LocalStall
                | Reason::StateStale
                | Reason::StatesMissed
                | Reason::GradeLow
                | Reason::SourceStale
                | Reason::NotAtRest
        )
    };
    let list: Vec<_> = script
        .unplanned
        .iter()
        .map(|(at, reason)| format!("{} at {:.1} s", reason.name(), ms(at.since(Instant::ZERO)) / 1e3))
        .collect();
    Check {
        name: "no-other-fallback",
        passed: script.unplanned.iter().all(|(_, reason)| by_this_machine(*reason)),
        detail: if list.is_empty() { "none".into() } else { format!("this machine was too busy: {}", list.join(", ")) },
    }
}

fn armed(script: &Script) -> Check {
    let took = script.requested.zip(script.armed).map(|(requested, armed)| armed.since(requested));
    Check {
        name: "armed",
        passed: took.is_some_and(|took| took <= ARMING_BOUND),
        detail: match took {
            Some(took) => {
                format!("commanding {:.2} s after the request (bound {:.0} s)", ms(took) / 1e3, ms(ARMING_BOUND) / 1e3)
            }
            None => "never commanding".into(),
        },
    }
}

/// The controller's cycle.
fn period(options: &Options) -> Duration {
    Duration::from_micros(options.software.generation().period_micros())
}

fn ms(span: Duration) -> f64 {
    span.as_micros() as f64 / 1e3
}

fn rms(values: &[f64]) -> f64 {
    let squares = values.iter().fold(0.0, |sum, value| sum + value * value);
    (squares / values.len().max(1) as f64).sqrt()
}
