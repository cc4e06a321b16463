//! The assertions that hold in every row of the table of networks, and the figures of a row. Both are taken from the
//! controller's arm and from the packets, not from what the program reports about them.

use std::collections::BTreeMap;
use std::time::Duration;

use outrigger_core::robot::Reason;
use outrigger_emulated::tries::{falls_back_for, nobodys_fallback};
use outrigger_sim::time::SimTime;

use super::peer::{Beside, Glance};
use super::program::Transition;
use super::rows::{Ends, Row, names_the_network};
use super::run::{Left, Word};

/// The joint speed below which every joint must stay for [`RESTS`], so that the arm counts as at rest \[rad/s\].
const REST: f64 = 0.001;
const RESTS: Duration = Duration::from_millis(20);
/// The assumed largest difference between the test's clock and the program's clock.
const CLOCKS: Duration = Duration::from_millis(2);
/// The span before a fallback in which a standstill of the computer that runs the test may have caused it.
const LOOKED_BACK: Duration = Duration::from_millis(140);

/// The measured figures of one test, that is, of a row of the table of network conditions (`tests/tables/network.md`).
pub(super) struct Figures {
    pub(super) commanded: f64,
    pub(super) fallbacks: BTreeMap<&'static str, u32>,
    /// The reasons other than a release why arming ended without commanding, each with its count.
    pub(super) refusals: BTreeMap<String, u32>,
    /// The number of commands that the controller received per state that it sent.
    pub(super) commands: f64,
    pub(super) latest_rest: Duration,
    /// The largest motion of a joint after the end of commanding, or after the loss of all packets that caused it, and
    /// the bound that the program had printed for it \[rad\].
    pub(super) coast: (f64, f64),
    pub(super) turnaround_micros: u64,
}

/// The way in which the arm stopped after commanding had ended.
struct Stop {
    took: Duration,
    /// The largest distance by which a joint moved, from the beginning of the fault if that is known, else from the
    /// transition \[rad\].
    coast: f64,
}

/// Checks the finished run of a row of network conditions and returns its figures.
///
/// # Panics
/// If an assertion fails. The message has the whole output of the program.
pub(super) fn judge(beside: Beside, row: &Row, left: &Left) -> Figures {
    let story = format!(
        "{}, {}\n{}{:?}\n{}{:?}; the arm moved {}",
        beside.name(),
        row.name,
        left.transcript.story(),
        left.words,
        left.errors,
        left.counts,
        moved(&left.arm)
    );
    let transitions = left.transcript.transitions();
    assert!(row.has_happened(&left.counts), "nothing happened: {story}");

    let coast = left.transcript.coast().unwrap_or_else(|| panic!("no bound was printed: {story}"));
    let mut fallbacks = BTreeMap::new();
    let (mut latest_rest, mut farthest) = (Duration::ZERO, 0.0_f64);
    let mut unasked = unasked(&left.arm, SimTime::ZERO, begin_of_command(&transitions, SimTime::ZERO));
    for (number, end) in transitions.iter().enumerate().filter(|(_, transition)| transition.from == "Command") {
        let reason = Reason::ALL.iter().copied().find(|reason| reason.name() == end.reason);
        let reason = reason.unwrap_or_else(|| panic!("{end:?} has no reason: {story}"));
        let next = begin_of_command(&transitions[number..], end.at);
        let stop = stop(left, row, end.at, next).unwrap_or_else(|| panic!("never at rest after {end:?}: {story}"));
        assert!(stop.coast <= coast, "{:.3} rad after {end:?}, {coast} rad were printed: {story}", stop.coast);
        let rest = end.at + stop.took;
        unasked += self::unasked(&left.arm, rest, next);
        assert!(next == SimTime::MAX || asked(left, end.at, next), "began by itself after {end:?}: {story}");
        (latest_rest, farthest) = (latest_rest.max(stop.took), farthest.max(stop.coast));
        if reason == Reason::Released {
            assert!(end.at + CLOCKS >= left.until, "released by nobody: {end:?}: {story}");
            continue;
        }
        let window = left.clock.window(end.at, end.at).and_before(LOOKED_BACK);
        if row.ends(beside) == Ends::Never {
            let excused = nobodys_fallback(reason.name(), window, beside.ending()).passes(reason.name());
            assert!(excused, "it changes something: {story}");
        } else {
            let named: Vec<_> =
                Reason::ALL.iter().copied().filter(|reason| names_the_network(*reason, beside)).collect();
            falls_back_for(reason.name(), &named, window, beside.ending(), || story.clone());
        }
        *fallbacks.entry(reason.name()).or_default() += 1;
    }
    assert_eq!(unasked, 0, "times that the arm was seen to move unasked: {story}");

    let begun = transitions.iter().any(|transition| transition.to == "Command");
    match row.ends(beside) {
        Ends::Never => assert!(begun, "it never commands: {story}"),
        Ends::Maybe => {}
        Ends::Always => {
            let count: u32 = fallbacks.values().sum();
            assert!(count as usize >= left.cuts.len() && count > 0, "nothing came of it: {story}");
        }
    }
    finished(left, &transitions, &story);
    let mut refusals = BTreeMap::new();
    for ended in transitions.iter().filter(|ended| ended.from == "Arming" && ended.to != "Command") {
        if ended.reason != Reason::Released.name() {
            *refusals.entry(ended.reason.clone()).or_default() += 1;
        }
    }
    Figures {
        commanded: commanded(&transitions, left.from, left.until),
        fallbacks,
        refusals,
        commands: left.came.commands as f64 / left.came.states.max(1) as f64,
        latest_rest,
        coast: (farthest, coast),
        turnaround_micros: left
            .transcript
            .summary()
            .and_then(|s| s["turnaround"]["p50_us"].as_u64())
            .unwrap_or_default(),
    }
}

/// Checks that the program ended by itself, with a summary and the documented exit code.
fn finished(left: &Left, transitions: &[Transition], story: &str) {
    let summary = left.transcript.summary().unwrap_or_else(|| panic!("no summary: {story}"));
    assert_eq!(summary["ended_by"], "quit", "{story}");
    match summary["fallback"].as_str() {
        None => assert_eq!(left.code, Some(0), "{story}"),
        Some(reason) => {
            assert_eq!(left.code, Some(4), "{story}");
            assert!(left.errors.contains(reason), "standard error does not name {reason}: {story}");
        }
    }
    let last = transitions.iter().rev().find(|transition| transition.from == "Command");
    let released = last.is_some_and(|last| last.reason == Reason::Released.name());
    if let Some(end) = transitions.last().filter(|end| released && end.from == "Stopping" && end.to == "Monitor") {
        // If the network loses the states of a stop, the rest is not seen, and the summary has that as its reason.
        let rests = end.reason == Reason::Released.name();
        let expected = if rests { serde_json::Value::Null } else { end.reason.as_str().into() };
        assert_eq!(summary["fallback"], expected, "it was released and came to rest: {story}");
    }
}

fn begin_of_command(transitions: &[Transition], after: SimTime) -> SimTime {
    let begins = transitions.iter().find(|transition| transition.to == "Command" && transition.at > after);
    begins.map_or(SimTime::MAX, |transition| transition.at)
}

/// Returns `true` if the simulated operator acknowledged, and then resumed, between these times.
fn asked(left: &Left, from: SimTime, until: SimTime) -> bool {
    let mut words = left.words.iter().filter(|(at, _)| (from..until).contains(at)).map(|(_, word)| *word);
    words.any(|word| word == Word::Acknowledge) && words.any(|word| word == Word::Resume)
}

/// Counts the observations of a moving arm between these times, in which nobody has asked for motion.
fn unasked(arm: &[Glance], from: SimTime, until: SimTime) -> usize {
    let until = SimTime::ZERO + until.since(SimTime::ZERO + CLOCKS);
    arm.iter().filter(|glance| (from..until).contains(&glance.at) && glance.speed() > REST).count()
}

/// Returns how the arm came to rest after commanding had ended at `end`. `None` if it was not at rest before `next`,
/// the next beginning of commanding.
fn stop(left: &Left, row: &Row, end: SimTime, next: SimTime) -> Option<Stop> {
    let seen: Vec<&Glance> = left.arm.iter().filter(|glance| (end..next).contains(&glance.at)).collect();
    let mut rest: Option<&Glance> = None;
    for glance in seen {
        if glance.speed() > REST {
            rest = None;
        } else if glance.at.since(rest.get_or_insert(glance).at) >= RESTS {
            break;
        }
    }
    let rest = rest?;
    // The newest cut before `end`, if it caused this end.
    let length = row.cut.unwrap_or_default();
    let cut = left.cuts.iter().rev().find(|cut| **cut <= end && end <= **cut + length + RESTS).copied();
    let before = left.arm.iter().rev().find(|glance| glance.at <= cut.unwrap_or(end))?;
    Some(Stop { took: rest.at.since(end), coast: rest.distance(before) })
}

/// Describes the spans in which the arm moved, each with its highest speed.
fn moved(arm: &[Glance]) -> String {
    let parts = arm.chunk_by(|one, next| (one.speed() > REST) == (next.speed() > REST));
    let told = parts.filter(|part| part[0].speed() > REST).map(|part| {
        let fastest = part.iter().map(Glance::speed).fold(0.0, f64::max);
        format!("{} to {} at {fastest:.3} rad/s", part[0].at, part[part.len() - 1].at)
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Returns the share of the time in which the program commanded (0 to 1).
fn commanded(transitions: &[Transition], from: SimTime, until: SimTime) -> f64 {
    let within = |at: SimTime| at.max(from).min(until);
    let mut begun = None;
    let mut total = Duration::ZERO;
    for transition in transitions {
        if transition.to == "Command" {
            begun = Some(transition.at);
        } else if let Some(begun) = begun.take() {
            total += within(transition.at).since(within(begun));
        }
    }
    total += begun.map_or(Duration::ZERO, |begun| until.since(within(begun)));
    total.as_secs_f64() / until.since(from).as_secs_f64().max(1e-9)
}
