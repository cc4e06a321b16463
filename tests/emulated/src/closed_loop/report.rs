//! The report on a run, with the checks that a run must pass.

use outrigger_core::engine::ur::link_name;
use std::time::Duration;

use outrigger_core::engine::LinkId;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Options;
use outrigger_sim::time::SimTime;

use super::{DISTANCE, Plan, Round, Story, Trouble, ending_standstill, stale_after, unplanned};
use crate::bench::{Answers, Bench, REST, Record};
use crate::machine_standstills;
use crate::qemu::{Exit, Machine};
use crate::telemetry::Telemetry;
use crate::tries::Verdict;

/// The largest permitted root mean square of the error of the distance to the workpiece \[m\].
const ERROR: f64 = 0.001;
/// The largest permitted share of states (0 … 1) that newer states overtake, because the emulated board shares its
/// processor.
const OVERTAKEN: f64 = 0.2;
/// The time by which the machine on which the emulator runs may delay the rest of the arm.
const HOST: Duration = Duration::from_millis(60);
/// The default deceleration of a stop \[rad/s²\], which `boards/standoff.toml` leaves unchanged.
const STOP: f64 = 10.0;
/// The default time for which the last command holds, which `boards/standoff.toml` leaves unchanged.
const HOLD: Duration = Duration::from_millis(40);

/// One check of a run of the closed loop.
#[derive(Clone, Debug)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// If `true`, the check passed.
    pub passed: bool,
    /// The observed values and the expected ones.
    pub detail: String,
}

/// The result of a run of the closed loop.
#[derive(Clone, Debug)]
pub struct Report {
    /// The checks, in the order of the sequence.
    pub checks: Vec<Check>,
    /// The measured values, each with its name.
    pub figures: Vec<(&'static str, String)>,
}

impl Report {
    /// Returns the checks that the run did not pass.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }

    pub(super) fn new(plan: &Plan, machine: Machine, story: &Story, bench: &Bench<'_>) -> Self {
        let record = bench.record();
        let period = bench.controller().period();
        let answers: Vec<Answers> =
            story.commanding.iter().map(|(from, until)| Answers::of(&record.commands(*from, *until))).collect();
        let mut checks = vec![connects(plan, story), graded(record), armed(story), holds(story, record)];
        checks.push(answered(&answers, period));
        for round in &story.rounds {
            checks.extend(judged(plan, round, period, bench));
        }
        checks.push(all_troubles(story));
        checks.push(only_when_hurt(plan, story, bench));
        let telemetry = Telemetry::of(&record.datagrams);
        checks.push(told(&telemetry));
        checks.push(sourced(plan, &telemetry));
        checks.push(replayed(&telemetry, story));
        checks.push(ends(story, bench));
        Self { checks, figures: figures(plan, machine, story, &answers, bench.goes_first(), period) }
    }
}

fn connects(plan: &Plan, story: &Story) -> Check {
    let wanted = plan.software.to_string();
    let (passed, detail) = match &story.connected {
        None => (false, "the board's log tells of no connection".into()),
        Some((at, text)) => (text.contains(&wanted), format!("{at} after power on: {text} (software {wanted})")),
    };
    Check { name: "connects-and-knows-version", passed, detail }
}

fn graded(record: &Record) -> Check {
    let grade = record.log.iter().find(|line| {
        line.text.starts_with("link quality:") && (line.text.contains("-> Ok") || line.text.contains("-> Perfect"))
    });
    let detail = grade.map_or("the link never reached Ok".into(), |line| format!("{} {}", line.at, line.text));
    Check { name: "grade-is-ok", passed: grade.is_some(), detail }
}

fn armed(story: &Story) -> Check {
    let detail = story.armed.map_or("the board never commanded".into(), |at| format!("{at} after power on"));
    Check { name: "arms-on-request", passed: story.armed.is_some(), detail }
}

fn holds(story: &Story, record: &Record) -> Check {
    let errors: Vec<(f64, f64)> =
        story.settled.iter().filter_map(|(from, until)| record.distance_error(DISTANCE, *from, *until)).collect();
    let rms = (errors.iter().map(|(rms, _)| rms * rms).sum::<f64>() / errors.len().max(1) as f64).sqrt();
    let worst = errors.iter().fold(0.0, |most: f64, (_, worst)| most.max(*worst));
    Check {
        name: "holds-the-standoff",
        passed: !errors.is_empty() && rms <= ERROR,
        detail: format!(
            "RMS {:.3} mm, worst {:.3} mm, of the simulation's own truth (bound {:.1} mm)",
            rms * 1e3,
            worst * 1e3,
            ERROR * 1e3
        ),
    }
}

fn answered(answers: &[Answers], period: Duration) -> Check {
    let total = |count: fn(&Answers) -> usize| answers.iter().map(count).sum::<usize>();
    let (states, commands, overtaken) = (total(|a| a.states), total(|a| a.commands), total(Answers::overtaken));
    let unasked = total(|a| a.unasked);
    let share = overtaken as f64 / states.max(1) as f64;
    Check {
        name: "answers-every-state-once",
        passed: states > 0 && unasked == 0 && share <= OVERTAKEN,
        detail: format!(
            "{states} states of {} ms, {commands} commands, {unasked} beyond one per state (bound 0), {:.2} % of the \
             states overtaken by a newer one (bound {:.0} %: a busy machine)",
            period.as_millis(),
            share * 100.0,
            OVERTAKEN * 100.0
        ),
    }
}

/// Checks the board's reaction to one disturbance. A standstill of the machine during a measurement is no fault of the
/// board: it extends the permitted times by its length, and the board may report it as its own.
fn judged(plan: &Plan, round: &Round, period: Duration, bench: &Bench<'_>) -> [Check; 4] {
    let names = match round.trouble {
        Trouble::LinkStall => ["link-stall-reason", "link-stall-rest", "link-stall-stays", "link-stall-arms-again"],
        Trouble::SensorCable => ["sensor-reason", "sensor-rest", "sensor-stays", "sensor-arms-again"],
    };
    let [reason, rest, stays, again] = names;
    let expected: Vec<&str> = round.trouble.expected().iter().map(|reason| reason.name()).collect();
    let said = round.fallback.as_ref().map(|(_, text)| text.as_str());
    let seen = machine_standstills::seen();
    let named = round.fallback.as_ref().is_some_and(|(at, text)| {
        let window = bench.window(round.at, *at).and_before(stale_after(plan.software));
        let least = ending_standstill(plan.software);
        let excused = &[Reason::LocalStall];
        Verdict::of_reason(text, round.trouble.expected(), excused, seen.longest(window), least).passes(text)
    });
    let bound = round.trouble.seen_within(period).max(HOLD) + HOLD + braking(round) + period * 2 + HOST;
    let late = HOLD + braking(round) + period * 2 + HOST;
    let soon = |what: &str, from: SimTime, took: Option<Duration>, bound: Duration| {
        let Some(took) = took else { return false };
        let stood = seen.total(bench.window(from, from + took));
        Verdict::of_time(took, bound, stood).passes(&format!("{what} after {took:?} (bound {bound:?})"))
    };
    let rests = soon(rest, round.at, round.rest, bound) && soon(rest, round.over, round.late, late);
    [
        Check {
            name: reason,
            passed: named,
            detail: format!("{} (asked for: {})", said.unwrap_or("no fallback"), expected.join(" or ")),
        },
        Check {
            name: rest,
            passed: rests,
            detail: match round.rest.zip(round.late) {
                None => "the arm did not come to rest".into(),
                Some((rest, after)) => format!(
                    "every joint at rest {} after the fault, from {:.3} rad/s (bound {}); moved by what arrived late for \
                     {} (bound {})",
                    millis(rest),
                    round.speed,
                    millis(bound),
                    millis(after),
                    millis(late)
                ),
            },
        },
        Check {
            name: stays,
            passed: round.unasked == 0,
            detail: format!(
                "{} commands or motions over {REST} rad/s before somebody asked again, the acknowledgement included \
                 (bound 0)",
                round.unasked
            ),
        },
        Check {
            name: again,
            passed: round.armed_again.is_some(),
            detail: round.armed_again.map_or("it does not".into(), |at| {
                format!("{:.1} s after the fault, on request", at.since(round.at).as_secs_f64())
            }),
        },
    ]
}

fn millis(span: Duration) -> String {
    format!("{:.0} ms", span.as_secs_f64() * 1e3)
}

/// Checks that commanding does not end without a disturbance, except because of a standstill of the machine.
fn only_when_hurt(plan: &Plan, story: &Story, bench: &Bench<'_>) -> Check {
    let fails = |(at, text): &&(SimTime, String)| !unplanned(bench, plan.software, *at, text).passes(text);
    let own: Vec<&str> = story.unplanned.iter().filter(fails).map(|(_, text)| text.as_str()).collect();
    Check {
        name: "falls-back-only-when-hurt",
        passed: own.is_empty(),
        detail: format!(
            "{} fallbacks nobody caused, {} of them without a standstill of this machine (bound 0) {}",
            story.unplanned.len(),
            own.len(),
            own.join("; ")
        ),
    }
}

/// Returns the longest time in which the arm comes to rest: it brakes, and its drives follow with a lag.
fn braking(round: &Round) -> Duration {
    let lag = Options::default().drive.lag.as_secs_f64();
    let decay = (STOP * lag / REST).max(1.0).ln() * lag;
    Duration::from_secs_f64(round.speed.max(0.1) / STOP + decay)
}

fn all_troubles(story: &Story) -> Check {
    Check {
        name: "story-is-complete",
        passed: story.rounds.len() == 2,
        detail: format!(
            "{} of 2 faults were caused, {} fallbacks nobody caused",
            story.rounds.len(),
            story.unplanned.len()
        ),
    }
}

fn told(telemetry: &Telemetry) -> Check {
    let Telemetry { datagrams, unreadable, missing, boots, board, modes, .. } = telemetry;
    let commands = modes.contains("Command");
    Check {
        name: "telemetry-decodes",
        passed: *datagrams > 0 && *unreadable == 0 && *boots == 1 && commands && !board.is_empty(),
        detail: format!(
            "{datagrams} datagrams of {board}, {unreadable} not read (bound 0), {missing} missing, {boots} start of the \
             board (bound 1), modes {}",
            modes.iter().copied().collect::<Vec<_>>().join(" ")
        ),
    }
}

/// Checks that the states come from RTDE if the software has RTDE.
fn sourced(plan: &Plan, telemetry: &Telemetry) -> Check {
    let by_rtde = plan.software.at_least(3, 4);
    let wanted = if by_rtde { LinkId::RTDE } else { LinkId::REALTIME };
    let names: Vec<&str> = telemetry.states.iter().map(|link| link_name(*link)).collect();
    Check {
        name: "states-from-the-right-link",
        passed: !names.is_empty() && telemetry.states.iter().all(|link| *link == wanted),
        detail: format!("sessions with states by: {} (wanted {})", names.join(" "), link_name(wanted)),
    }
}

/// Runs the board's engine again on every complete recording, on this machine, and checks that it sends the same bytes.
/// There must be at least one such recording for each disturbance.
fn replayed(telemetry: &Telemetry, story: &Story) -> Check {
    let runs: Vec<_> = telemetry.recordings.values().filter_map(|(_, recording)| recording.replayed()).collect();
    let texts: u32 = runs.iter().flatten().map(|replayed| replayed.texts).sum();
    let differing: Vec<String> = runs.iter().filter_map(|run| run.as_ref().err().map(ToString::to_string)).collect();
    Check {
        name: "replays-bit-identically",
        passed: runs.len() >= story.rounds.len() && differing.is_empty() && texts > 0,
        detail: format!(
            "{} of {} recordings came whole and were run again: {texts} texts, the same to the bit; {}",
            runs.len(),
            telemetry.recordings.len(),
            if differing.is_empty() { "none differs".into() } else { differing.join("; ") }
        ),
    }
}

fn ends(story: &Story, bench: &Bench<'_>) -> Check {
    let mut detail = match story.exit {
        Some(Exit::Success) => "the board shut down with the arm at rest".to_owned(),
        Some(exit) => format!("the board ended by {exit:?}"),
        None => "the board did not end".to_owned(),
    };
    if !bench.complaints().is_empty() {
        detail.push_str(": ");
        detail.push_str(bench.complaints().trim());
    }
    Check { name: "ends-without-a-reset", passed: story.exit == Some(Exit::Success), detail }
}

fn figures(
    plan: &Plan,
    machine: Machine,
    story: &Story,
    answers: &[Answers],
    first: bool,
    period: Duration,
) -> Vec<(&'static str, String)> {
    let mut all = Answers::default();
    for some in answers {
        all.turnarounds.extend_from_slice(&some.turnarounds);
    }
    all.turnarounds.sort_unstable();
    let scheduling = if first { "before other programs" } else { "like any program; root would let it go first" };
    let mut figures = vec![
        ("board", format!("mps2-{} ({}) in QEMU, {scheduling}", machine.name(), machine.processor())),
        ("controller", format!("simulated, software {}, a state every {} ms", plan.software, period.as_millis())),
        (
            "state to command, controller's end",
            format!(
                "p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms, within a cycle {:.2} %",
                all.quantile(0.5).as_secs_f64() * 1e3,
                all.quantile(0.99).as_secs_f64() * 1e3,
                all.quantile(1.0).as_secs_f64() * 1e3,
                all.within(period) * 100.0
            ),
        ),
    ];
    for (upper, count) in all.histogram() {
        figures.push(("", format!("up to {:>7.3} ms {count:>7}", upper.as_secs_f64() * 1e3)));
    }
    for (at, text) in &story.unplanned {
        figures.push(("fallback nobody caused", format!("{at} {text}")));
    }
    figures
}
