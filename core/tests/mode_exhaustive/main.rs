//! Explores every short sequence of events, from boot and from the middle of each mode, against the invariants of the
//! mode machine. Sequences that lead to the same machine at the same time are continued once: the 20⁸ from boot (3 ·
//! 10¹⁰) lead to some 10⁵ worlds. `operator_exhaustive.rs` covers the permission to request.
//!
//! The rules are implemented here a second time, from what can be observed from outside:
//!
//! * `Move` in `Command` only, once per state, never for an old one; a fault is never followed by one.
//! * `Command` is entered from `Arming` only, after the good cycles and with acceptance shown since.
//! * `Arming` begins by a request only, without latch, with every precondition held; so nothing resumes by itself.
//! * `Stopping` sends a fixed number of zero commands, then stop exactly once, then nothing; rest counts only if
//!   measured after.
//! * Nothing is sent to a robot known to have stopped by itself.
//! * The first reason stays latched, and no reason is lost, until acknowledged.
//! * Losing the connection to a commanded arm leaves `MotionUnknown`, and only measured rest clears it.
//! * Every transition is in the table for that event, and reported; epochs change with authority.
//! * `Start` is sent in `Command` only, once for each accepted move, with its number, in answer to a timely state at
//!   rest; out of streamed drive only after rest was measured under zero velocity.
//! * Between two `Start`s the end of the first was shown, and rest measured after it.
//! * While a move may run no `Hold` and no `Move` is sent; until the law is requested to continue, no `Move`.
//! * After any reason, and also to a robot that accepts no text, `Cancel` is sent in the first cycle; then in answer to
//!   every state until the end of the move is shown, and never without a state.
//! * `Stop` follows if the arm is not seen to slow down, or if it rests but the end is not shown; not before.
//! * While the controller executes a move, missing states end it only by the machine's own limit.
//! * A mirror that is too old, a move that is not begun in time, a foreign move, an arm off its course, a program that
//!   has ended and a pause that is too long each end commanding; a move as expected, or a paused one, does not.
//! * Outside of `Command` and `Stopping` a move that may run is `MotionUnknown`, until its end is shown and rest
//!   measured after it. No foreign program is stopped for it.
//! * Without further events, every mode ends in `Offline` by its timeouts, in a bounded number of wake-ups.

mod moves;
mod picture;
mod seen;
mod world;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use outrigger_core::mode::{Drive, Mode, MoveNumber};
use outrigger_core::robot::Reason;

use crate::seen::{Event, Seen, alphabet};
use crate::world::World;

/// Runs `check`, and on a failure prints the events that led there.
fn explained<T>(trace: impl Fn() -> Vec<Event>, check: impl FnOnce() -> T) -> T {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or_else(|cause| {
        eprintln!("after these events:");
        for event in trace() {
            eprintln!("    {event:?}");
        }
        std::panic::resume_unwind(cause)
    })
}

/// Returns a 128-bit hash of a world, the mode machine with its simulated surroundings. Two of 10⁶ worlds have the same
/// one with a probability below 10⁻²⁶.
fn fingerprint(world: &World) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, world).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// Explores every sequence of up to `depth` events after `prefix`, with the robot states of `Seen::STREAMED`. Returns
/// the number of distinct worlds (states of mode machine and surroundings).
fn explore(prefix: &[Event], depth: usize) -> usize {
    explore_among(&alphabet(&Seen::STREAMED), prefix, depth)
}

/// Explores as [`explore`] does, with the given events in place of its own.
fn explore_among(events: &[Event], prefix: &[Event], depth: usize) -> usize {
    let mut start = World::boot();
    for event in prefix {
        start.step(*event);
    }
    let mut known = HashSet::from([fingerprint(&start)]);
    // Each with the path that led there, for the report of a failure.
    let mut ways: Vec<(usize, Event)> = vec![(0, Event::Tick)];
    let mut frontier = vec![(0, start)];
    for level in 0..depth {
        let mut next = Vec::new();
        for (at, world) in frontier {
            for event in events {
                let way = || {
                    let mut back: Vec<Event> = vec![*event];
                    let mut at = at;
                    while at != 0 {
                        back.push(ways[at].1);
                        at = ways[at].0;
                    }
                    prefix.iter().copied().chain(back.into_iter().rev()).collect()
                };
                let after = explained(way, || {
                    let mut after = world.clone();
                    after.step(*event);
                    after
                });
                if !known.insert(fingerprint(&after)) {
                    continue;
                }
                explained(way, || after.check_left_alone());
                if level + 1 < depth {
                    next.push((ways.len(), after));
                    ways.push((at, *event));
                }
            }
        }
        frontier = next;
    }
    known.len()
}

const TO_MONITOR: [Event; 2] = [Event::Established, Event::State(Seen::Idle)];
const TO_ARMING: [Event; 3] = [Event::Established, Event::State(Seen::Idle), Event::Request];
const TO_COMMAND: [Event; 6] = [
    Event::Established,
    Event::State(Seen::Idle),
    Event::Request,
    Event::State(Seen::Accepted),
    Event::State(Seen::Accepted),
    Event::State(Seen::Moving),
];

/// Returns the world at the end of `events`, the mode machine with its surroundings. Asserts its mode, because the
/// tests that begin there are meaningless in another mode.
fn reaches(events: &[Event], mode: Mode) -> World {
    let mut world = World::boot();
    for event in events {
        world.step(*event);
    }
    assert_eq!(world.machine.mode(), mode);
    world
}

fn then(events: &[Event], more: &[Event]) -> Vec<Event> {
    [events, more].concat()
}

#[test]
fn the_prefixes_lead_where_they_say() {
    let _ = reaches(&TO_MONITOR, Mode::Monitor);
    let _ = reaches(&TO_ARMING, Mode::Arming);
    let _ = reaches(&TO_COMMAND, Mode::Command);
    let _ = reaches(&then(&TO_COMMAND, &[Event::Release]), Mode::Stopping);
    let lost = reaches(&then(&TO_COMMAND, &[Event::LinkLost]), Mode::Offline);
    assert!(lost.machine.is_motion_unknown());
}

#[test]
fn every_short_sequence_from_boot_keeps_the_invariants() {
    let worlds = explore(&[], 8);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_from_arming_keeps_the_invariants() {
    let worlds = explore(&TO_ARMING, 6);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_from_command_keeps_the_invariants() {
    let worlds = explore(&TO_COMMAND, 6);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_from_stopping_keeps_the_invariants() {
    let said = [Event::Release, Event::State(Seen::Moving), Event::State(Seen::Moving), Event::State(Seen::Moving)];
    let worlds = explore(&then(&TO_COMMAND, &said), 6);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_after_losing_sight_of_the_arm_keeps_the_invariants() {
    let worlds = explore(&then(&TO_COMMAND, &[Event::LinkLost, Event::Established]), 7);
    assert!(worlds > 50_000, "{worlds} worlds");
}

/// The events after `TO_COMMAND` until a program of ours waits for a move, while the law still moves the arm.
const WAITS: [Event; 1] = [Event::State(Seen::Waits)];
/// The events after `TO_COMMAND` until the output `Start` begins a move by the controller: request, zero velocity,
/// rest.
const STARTS: [Event; 4] =
    [Event::State(Seen::Waits), Event::Delegate, Event::State(Seen::Waits), Event::State(Seen::Waits)];
const RUNS: [Event; 1] = [Event::State(Seen::RunsOn)];
const ENDS: [Event; 3] = [Event::State(Seen::Ended), Event::State(Seen::Ended), Event::State(Seen::Ended)];

const FIRST: MoveNumber = MoveNumber::new(1).unwrap();

fn explore_moves(prefix: &[Event], depth: usize) -> usize {
    explore_among(&alphabet(&Seen::DELEGATED), prefix, depth)
}

#[test]
fn every_short_sequence_around_the_beginning_of_a_move_keeps_the_invariants() {
    let worlds = explore_moves(&then(&TO_COMMAND, &WAITS), 5);
    assert!(worlds > 50_000, "{worlds} worlds");
    let worlds = explore_moves(&then(&TO_COMMAND, &STARTS), 5);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_while_a_move_runs_keeps_the_invariants() {
    let running = then(&then(&TO_COMMAND, &STARTS), &RUNS);
    assert_eq!(reaches(&running, Mode::Command).machine.drive(), Drive::Delegated(FIRST));
    let worlds = explore_moves(&running, 5);
    assert!(worlds > 50_000, "{worlds} worlds");
    let paused = then(&running, &[Event::State(Seen::Paused), Event::State(Seen::Paused)]);
    let worlds = explore_moves(&paused, 4);
    assert!(worlds > 10_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_after_a_move_keeps_the_invariants() {
    let ended = then(&then(&then(&TO_COMMAND, &STARTS), &RUNS), &ENDS);
    let worlds = explore_moves(&ended, 5);
    assert!(worlds > 50_000, "{worlds} worlds");
}

#[test]
fn every_short_sequence_while_a_move_is_cancelled_keeps_the_invariants() {
    let running = then(&then(&TO_COMMAND, &STARTS), &RUNS);
    for reason in [Event::Release, Event::Fault(Reason::EmergencyStop), Event::State(Seen::Protective)] {
        let worlds = explore_moves(&then(&running, &[reason]), 5);
        assert!(worlds > 15_000, "{worlds} worlds");
    }
}

#[test]
fn every_short_sequence_after_losing_sight_of_a_move_keeps_the_invariants() {
    let running = then(&then(&TO_COMMAND, &STARTS), &RUNS);
    let lost = then(&running, &[Event::LinkLost, Event::Established]);
    let worlds = explore_moves(&lost, 5);
    assert!(worlds > 15_000, "{worlds} worlds");
    let stopped = [Event::State(Seen::Protective), Event::State(Seen::Protective), Event::State(Seen::Protective)];
    let left = then(&running, &stopped);
    assert!(reaches(&left, Mode::Monitor).machine.is_motion_unknown());
    let worlds = explore_moves(&left, 5);
    assert!(worlds > 15_000, "{worlds} worlds");
}

#[test]
fn long_random_walks_keep_the_invariants_and_visit_everything() {
    let visited = walk(&alphabet(&Seen::STREAMED), 40, helpful);
    assert_eq!(visited.len(), Mode::ALL.len());
}

#[test]
fn long_random_walks_with_moves_keep_the_invariants_and_begin_many() {
    let visited = walk(&alphabet(&Seen::DELEGATED), 80, helpful_with_moves);
    let moves = visited.iter().filter(|(_, drive)| *drive != Drive::Streamed).count();
    assert!(moves > 100, "{moves} moves");
}

/// Makes `walks` long random walks, each from boot. Returns each mode with the drive in it (by law, or by a move of the
/// controller) that they visited.
fn walk(events: &[Event], walks: u64, helpful: fn(&World) -> Event) -> HashSet<(Mode, Drive)> {
    let mut visited = HashSet::new();
    for seed in 1..=walks {
        let mut world = World::boot();
        let mut walked = Vec::new();
        let mut x = seed;
        for _ in 0..2_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let roll = (x >> 33) as usize;
            // Three of four steps lead towards command, or walks would hardly ever leave Monitor.
            let event = if !roll.is_multiple_of(4) { helpful(&world) } else { events[roll / 4 % events.len()] };
            walked.push(event);
            explained(|| walked.clone(), || world.step(event));
            visited.insert((world.machine.mode(), world.machine.drive()));
        }
    }
    visited
}

/// Returns the event by which an operator would come closer to commanding the arm.
fn helpful(world: &World) -> Event {
    match world.machine.mode() {
        Mode::Offline => Event::Established,
        Mode::Monitor if world.machine.latch().is_some() && !world.machine.is_motion_unknown() => Event::Acknowledge,
        Mode::Monitor if world.seen.is_some_and(|(seen, at)| seen == Seen::Idle && at == world.now) => Event::Request,
        Mode::Monitor => Event::State(Seen::Idle),
        Mode::Arming => Event::State(Seen::Accepted),
        Mode::Command => Event::State(Seen::Moving),
        Mode::Stopping => Event::State(Seen::Idle),
    }
}

/// Returns the event by which an operator would come closer to executing one move after the other.
fn helpful_with_moves(world: &World) -> Event {
    let seen = world.seen.map(|(seen, _)| seen);
    match (world.machine.mode(), seen) {
        (Mode::Command, Some(Seen::Waits)) if world.machine.drive() == Drive::Streamed => Event::Delegate,
        (Mode::Command, _) if world.machine.drive() == Drive::Streamed => Event::State(Seen::Waits),
        (Mode::Command, Some(Seen::Waits)) => Event::State(if world.may_run() { Seen::Runs } else { Seen::Waits }),
        (Mode::Command, Some(Seen::Ended)) if !world.may_run() => Event::Delegate,
        (Mode::Command, _) => Event::State(if world.may_run() { Seen::Ended } else { Seen::Waits }),
        _ => helpful(world),
    }
}
