//! Traces of whole links: the arrival of states, and the decisions of the monitor.

use super::*;
use crate::robot::Reason;
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

/// A tested [`LinkMonitor`] and a simulated controller that publishes a state every `period` \[µs\].
struct Trace {
    monitor: LinkMonitor,
    period: u64,
    now: u64,
    changes: Vec<GradeChange>,
}

impl Trace {
    fn of(config: LinkConfig) -> Self {
        assert_eq!(config.check(), Ok(()));
        let period = config.period.as_micros();
        Self { monitor: LinkMonitor::new(config), period, now: 1_000_000, changes: Vec::new() }
    }

    fn stream(period_millis: u64) -> Self {
        Self::of(LinkConfig::stream(Duration::from_millis(period_millis)))
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    /// Reads the state of the cycle `cycle` at `at` µs.
    fn read(&mut self, cycle: u64, at: u64) -> Observation {
        self.now = at;
        let observation =
            self.monitor.observe(ControllerTime::from_micros(cycle * self.period), self.now(), self.now());
        self.changes.extend(observation.change);
        observation
    }

    /// Lets the monitor read the states of these cycles, each `late(cycle)` µs after it was published.
    fn run(&mut self, cycles: core::ops::Range<u64>, mut late: impl FnMut(u64) -> u64) {
        for cycle in cycles {
            let _ = self.read(cycle, 1_000_000 + cycle * self.period + late(cycle));
        }
    }

    /// Lets time pass without a state.
    fn silence(&mut self, micros: u64) -> Option<GradeChange> {
        self.now += micros;
        let change = self.monitor.tick(self.now());
        self.changes.extend(change);
        change
    }

    fn grade(&self) -> Grade {
        self.monitor.grade()
    }
}

/// Returns a generator of seeded noise in 0 … `below` (exclusive).
fn noise(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut x = seed | 1;
    move |below| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % below
    }
}

#[test]
fn the_grade_climbs_one_step_per_window_and_never_before_a_hundred_cycles() {
    let mut link = Trace::stream(2);
    link.run(0..99, |_| 0);
    assert_eq!(link.grade(), Grade::Unacceptable);
    link.run(99..199, |_| 0);
    assert_eq!(link.grade(), Grade::Unacceptable, "known since a hundred cycles, good for less than a window");
    link.run(199..200, |_| 0);
    assert_eq!(link.grade(), Grade::Bad);
    link.run(200..500, |_| 0);
    assert_eq!(link.grade(), Grade::Perfect);
    let steps: Vec<_> = link.changes.iter().map(|c| (c.from, c.to)).collect();
    assert_eq!(steps, [(Grade::Unacceptable, Grade::Bad), (Grade::Bad, Grade::Ok), (Grade::Ok, Grade::Perfect)]);
    assert_eq!(link.changes[0].cause.metric, Metric::Samples);
}

#[test]
fn ordinary_scheduler_jitter_at_500_hz_is_perfect() {
    let mut link = Trace::stream(2);
    let mut random = noise(7);
    // 0 … 0.3 ms, and one wake-up in fifty up to 2 ms late.
    link.run(0..5_000, move |_| if random(50) == 0 { random(2_000) } else { random(300) });
    assert_eq!(link.grade(), Grade::Perfect);
    assert_eq!(link.changes.len(), 3, "{:?}", link.changes);
}

#[test]
fn a_rare_wake_up_5_ms_late_costs_a_fraction_of_a_second() {
    let mut link = Trace::stream(2);
    link.run(0..1_000, |_| 0);
    let mut perfect = 0_u32;
    for cycle in 1_000..6_000 {
        // Once in two seconds; the states behind it are read in one burst.
        let late = [7_000, 5_000, 3_000, 1_000].get(cycle as usize % 1_000).copied().unwrap_or(0);
        let _ = link.read(cycle, 1_000_000 + cycle * 2_000 + late);
        perfect += u32::from(link.grade() == Grade::Perfect);
        assert!(link.grade() >= Grade::Ok);
    }
    assert!(perfect > 4_000, "{perfect} of 5000");
}

#[test]
fn steady_pairs_of_an_old_controller_are_good_enough_to_begin() {
    let mut link = Trace::stream(8);
    // Nagle and a delayed ACK: the even one waits for the odd one.
    link.run(0..1_000, |cycle| if cycle % 2 == 0 { 8_000 } else { 0 });
    assert_eq!(link.grade(), Grade::Ok);
    assert!(link.monitor.entry());
}

#[test]
fn a_backlog_after_a_stall_is_old_however_late_it_is_read() {
    let mut link = Trace::stream(2);
    link.run(0..500, |_| 0);
    // Nothing is read for 60 ms, then thirty states at once.
    let burst = 1_000_000 + 530 * 2_000;
    for cycle in 500..530 {
        let seen = link.read(cycle, burst);
        assert_eq!(seen.sequence, Sequence::InOrder);
        let true_age = burst - (1_000_000 + cycle * 2_000);
        assert!(seen.age.as_micros().abs_diff(true_age) < 20, "{seen:?}");
        assert_eq!(link.monitor.answer(link.now()) == Answer::Moving, true_age <= 4_000);
    }
    assert_eq!(link.grade(), Grade::Unacceptable);
    let _ = link.read(530, burst);
    assert_eq!(link.monitor.answer(link.now()), Answer::Moving);
    assert_eq!(link.monitor.staying(link.now()), Ok(()));
}

#[test]
fn one_state_is_answered_once() {
    let mut link = Trace::stream(8);
    assert_eq!(link.monitor.answer(link.now()), Answer::Nothing);
    let _ = link.read(0, 1_000_000);
    assert_eq!(link.monitor.answer(link.now()), Answer::Moving);
    link.now += 12_001;
    assert_eq!(link.monitor.answer(link.now()), Answer::Still);
    assert_eq!(link.monitor.answered(), Some(Instant::from_micros(1_000_000)));
    assert_eq!(link.monitor.answer(link.now()), Answer::Nothing);
    assert_eq!(link.monitor.answered(), None);
    link.monitor.written(Duration::from_micros(12_001));
    let turnaround = &link.monitor.histograms().turnaround;
    assert_eq!((turnaround.count(), turnaround.longest().as_micros()), (1, 12_001));
    // Read again, it is a duplicate.
    assert_eq!(link.read(0, 1_013_000).sequence, Sequence::Duplicate);
    assert_eq!(link.monitor.answer(link.now()), Answer::Nothing);
}

#[test]
fn silence_is_seen_by_every_measure_and_named() {
    let mut link = Trace::stream(2);
    link.run(0..600, |_| 0);
    assert_eq!(link.silence(2_900), None);
    assert_eq!(link.monitor.consecutive_misses(link.now()), 0);
    // 3 misses: more than Perfect allows. 6: than Ok. 11: than Bad.
    for (until, grade) in [(7_000, Grade::Ok), (13_000, Grade::Bad), (23_000, Grade::Unacceptable)] {
        let to_go = until - link.monitor.age(link.now()).expect("seen").as_micros();
        let change = link.silence(to_go).expect("the grade falls");
        assert_eq!((change.to, change.cause.metric), (grade, Metric::Misses));
    }
    assert_eq!(link.monitor.staying(link.now()), Ok(()));
    let _ = link.silence(17_001);
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::StateStale));
    assert_eq!(link.monitor.figures(link.now()).next.metric, Metric::Age);
    assert_eq!(link.monitor.next_deadline(link.now()), None);
}

#[test]
fn deadlines_lead_to_the_moment_the_state_is_stale() {
    let mut link = Trace::stream(8);
    link.run(0..10, |_| 0);
    let mut wakes = 0;
    while let Some(deadline) = link.monitor.next_deadline(link.now()) {
        assert!(deadline > link.now(), "a deadline in the past would spin");
        link.now = deadline.as_micros();
        wakes += 1;
    }
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::StateStale));
    assert_eq!(wakes, 5);
    assert_eq!(link.monitor.age(link.now()), Some(Duration::from_micros(40_001)));
}

#[test]
fn our_own_stall_is_named_before_the_bytes_queued_behind_it() {
    let mut link = Trace::stream(2);
    link.run(0..600, |_| 0);
    let due = link.monitor.next_deadline(link.now());
    link.now += 100_000;
    let late = link.monitor.local_stall(link.now(), due);
    assert_eq!(late, due.map(|due| link.now().since(due)));
    let change = link.monitor.tick(link.now()).expect("the grade falls");
    assert_eq!((change.to, change.cause.metric), (Grade::Unacceptable, Metric::LocalStall));
    assert_eq!((u64::from(change.cause.measured), change.cause.limit), (late.unwrap_or_default().as_micros(), 40_000));
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::LocalStall));
    // Fresh bytes do not revoke the stall.
    let _ = link.read(649, 1_000_000 + 649 * 2_000);
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::LocalStall));
    assert_eq!(link.monitor.figures(link.now()).local_stalls, 1);
}

#[test]
fn a_state_that_went_stale_while_we_slept_is_blamed_on_us() {
    let mut link = Trace::stream(2);
    link.run(0..600, |_| 0);
    let due = link.monitor.next_deadline(link.now());
    // 38 ms after the deadline: no stall yet, but the newest state is 41 ms old.
    link.now = due.expect("expects a state").as_micros() + 38_000;
    assert_eq!(link.monitor.local_stall(link.now(), due), None);
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::LocalStall));
}

#[test]
fn a_fall_is_kept_as_it_was_measured_until_the_next_one() {
    let mut link = Trace::stream(2);
    link.run(0..600, |_| 0);
    assert_eq!(link.monitor.figures(link.now()).fell, None, "it has only risen");
    // Four states are missing: Perfect allows two misses in a row.
    let _ = link.read(604, 1_000_000 + 604 * 2_000);
    let fell_at = link.now();
    link.run(605..700, |_| 0);
    let low = link.monitor.grade_low(link.now());
    let fell = low.fell.expect("it fell");
    assert_eq!((low.grade, low.needed, fell.from, fell.to), (Grade::Ok, Grade::Ok, Grade::Perfect, Grade::Ok));
    let cause = GradeCause { metric: Metric::Misses, grade: Grade::Perfect, measured: 4, limit: 2 };
    assert_eq!((fell.cause, fell.at, fell.late), (cause, fell_at, Duration::ZERO));
    // The fall also lowered the share received; this recovers later, and limits the next grade: with the margin, and as
    // measured now.
    assert_eq!((low.next.metric, low.next.grade), (Metric::Received, Grade::Perfect));
    link.run(700..1_200, |_| 0);
    let risen = link.monitor.grade_low(link.now());
    assert_eq!((risen.grade, risen.fell), (Grade::Perfect, Some(fell)), "to rise is no fall");
}

#[test]
fn a_fall_says_how_late_this_device_was_and_which_stall_it_was() {
    let mut link = Trace::stream(2);
    link.run(0..600, |_| 0);
    // 10 ms late, and the states that waited meanwhile are read at once.
    let due = link.monitor.next_deadline(link.now());
    let now = link.now + 14_000;
    assert_eq!(link.monitor.local_stall(Instant::from_micros(now), due), None, "shorter than the limit");
    let late = Instant::from_micros(now).since(due.expect("expects a state"));
    let _ = link.monitor.tick(Instant::from_micros(now));
    let fell = link.monitor.figures(Instant::from_micros(now)).fell.expect("it fell");
    assert_eq!((fell.cause.metric, fell.late), (Metric::Misses, late));
    // A longer stall, then a shorter one, which the second fall is by.
    for (cycle, stall) in [(700, 100_000), (1_500, 60_000)] {
        link.run(cycle..cycle + 600, |_| 0);
        let (due, now) = (link.monitor.next_deadline(link.now()), link.now + stall);
        let late = link.monitor.local_stall(Instant::from_micros(now), due).expect("a stall");
        link.now = now;
        let fell = link.monitor.tick(link.now()).expect("it falls");
        assert_eq!((fell.cause.metric, u64::from(fell.cause.measured)), (Metric::LocalStall, late.as_micros()));
    }
}

#[test]
fn a_clock_that_goes_back_or_far_ahead_is_a_new_epoch() {
    for jump in [-2_i64, -400, 501, 100_000] {
        let mut link = Trace::stream(2);
        link.run(1_000..1_600, |_| 0);
        let cycle = 1_600_u64.wrapping_add_signed(jump);
        let seen = link.read(cycle, 1_000_000 + 1_600 * 2_000);
        assert_eq!((seen.sequence, seen.fault), (Sequence::NewEpoch, Some(Reason::ClockJump)), "jump {jump}");
        assert_eq!(seen.change.map(|c| (c.to, c.cause.metric)), Some((Grade::Unacceptable, Metric::Epoch)));
        assert_eq!(link.monitor.epoch(), 1);
        let figures = link.monitor.figures(link.now());
        assert_eq!((figures.interval.count, figures.sequence.accepted, figures.jitter), (0, 1, Duration::ZERO));
        // Cycles from before the restart do not count for rising again.
        let start = link.now;
        for (next, at) in (1..199).map(|n| (cycle + n, start + n * 2_000)) {
            let _ = link.read(next, at);
        }
        assert_eq!(link.grade(), Grade::Unacceptable);
    }
}

#[test]
fn a_controller_that_stood_still_is_old_and_then_a_new_epoch() {
    let mut link = Trace::stream(2);
    link.run(0..600, |_| 0);
    let _ = link.silence(1_000_000);
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::StateStale));
    // The clock continues where it stopped: every state appears one second older than its time stamp.
    link.run(600..1_599, |_| 1_000_000);
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::StateStale));
    assert_eq!(link.grade(), Grade::Unacceptable);
    link.run(1_599..1_605, |_| 1_000_000);
    // Fresh again by the new map, but a window of good cycles is still required.
    assert_eq!((link.monitor.epoch(), link.monitor.staying(link.now())), (1, Err(Reason::GradeLow)));
    link.run(1_605..2_100, |_| 1_000_000);
    assert_eq!((link.grade(), link.monitor.staying(link.now())), (Grade::Perfect, Ok(())));
}

#[test]
fn skipped_cycles_are_lost_ones_and_lower_the_share_received() {
    let mut link = Trace::stream(8);
    link.run(0..600, |_| 0);
    let seen = link.read(601, 1_000_000 + 601 * 8_000);
    assert_eq!((seen.sequence, seen.deviation, seen.fault), (Sequence::Lost(1), Some(0), None));
    assert_eq!(link.monitor.figures(link.now()).received, Some(9_900));
    assert_eq!(link.grade(), Grade::Perfect, "one of a hundred is allowed");
    // Six at once are more than the 40 ms within which a state must be fresh.
    let seen = link.read(608, 1_000_000 + 608 * 8_000);
    assert_eq!((seen.sequence, seen.fault), (Sequence::Lost(6), Some(Reason::StatesMissed)));
    assert_eq!(seen.change.map(|c| (c.to, c.cause.metric)), Some((Grade::Unacceptable, Metric::Misses)));
}

#[test]
fn cycles_skipped_without_taking_their_time_count_as_misses() {
    let mut link = Trace::stream(8);
    link.run(0..600, |_| 0);
    // The stamp is four cycles ahead of the arrival.
    let seen = link.read(604, 1_000_000 + 600 * 8_000);
    assert_eq!((seen.sequence, seen.deviation), (Sequence::Lost(4), Some(-32_000)));
    assert_eq!(seen.change.map(|c| (c.to, c.cause.metric)), Some((Grade::Bad, Metric::Misses)));
}

#[test]
fn a_hole_seen_only_by_the_state_that_ends_it_counts_as_misses() {
    let mut link = Trace::stream(8);
    link.run(0..600, |_| 0);
    let seen = link.read(600, 1_000_000 + 603 * 8_000);
    assert_eq!(link.monitor.consecutive_misses(link.now()), 2, "it is old itself");
    assert_eq!(seen.change.map(|c| (c.to, c.cause.metric)), Some((Grade::Bad, Metric::Misses)));
}

#[test]
fn more_misses_than_configured_end_commanding_before_the_state_is_stale() {
    let mut link = Trace::of(LinkConfig { max_misses: 3, ..LinkConfig::stream(Duration::from_millis(8)) });
    link.run(0..1_000, |_| 0);
    let _ = link.silence(35_000);
    assert_eq!(link.monitor.staying(link.now()), Ok(()));
    let _ = link.silence(1_100);
    assert_eq!(link.monitor.staying(link.now()), Err(Reason::StatesMissed));
}

#[test]
fn states_older_than_motion_may_answer_are_counted() {
    let mut link = Trace::stream(8);
    link.run(0..100, |cycle| if cycle % 10 == 9 { 12_100 } else { 0 });
    link.monitor.account();
    assert_eq!(link.monitor.figures(link.now()).late, 10);
}

#[test]
fn the_grade_flips_at_most_once_per_window_around_a_threshold() {
    let mut link = Trace::stream(8);
    let mut random = noise(3);
    // Jitter around the 0.8 ms between Perfect and Ok.
    link.run(0..10_000, move |_| random(2_400));
    let flips = link.changes.len();
    assert!(flips <= 2 + 2 * 10_000 / 100, "{flips}");
    assert!(link.grade() >= Grade::Ok);
}

#[test]
fn unacceptable_for_a_whole_window_ends_commanding() {
    let mut link = Trace::stream(8);
    link.run(0..600, |_| 0);
    // Every state comes, but late by turns: jitter far beyond Bad, age below S.
    let mut random = noise(11);
    let start = 1_000_000 + 600 * 8_000;
    let mut ended = None;
    for cycle in 600..900 {
        let _ = link.read(cycle, 1_000_000 + cycle * 8_000 + random(2) * 25_000);
        match link.monitor.staying(link.now()) {
            Ok(()) => {}
            Err(reason) => {
                ended = Some((reason, link.now - start));
                break;
            }
        }
    }
    let (reason, after) = ended.expect("it ends");
    assert_eq!(reason, Reason::GradeLow);
    assert!((800_000..1_000_000).contains(&after), "{after} µs");
}

#[test]
fn a_datagram_link_needs_answers_to_be_graded() {
    let config = LinkConfig::datagram(Duration::from_millis(1));
    let mut monitor = LinkMonitor::new(config);
    let mut answers = Answers::<u16>::new(config.period);
    let mut graded = Vec::new();
    for cycle in 0..1_000_u64 {
        let now = Instant::from_micros(1_000_000 + cycle * 1_000);
        // FRI counts in 16 bits and wraps here.
        let counter = (65_300 + cycle) as u16;
        if cycle >= 300 {
            let _ = answers.reflected(counter.wrapping_sub(1), now);
            answers.sent(counter, now + Duration::from_micros(600));
            monitor.set_answers(answers.figures(now));
        }
        let seen = monitor.observe_counter(counter, now, now);
        assert!(matches!(seen.sequence, Sequence::First | Sequence::InOrder), "{cycle}: {seen:?}");
        graded.extend(seen.change.map(|c| (cycle, c.to)));
    }
    assert!(graded[0].0 >= 400, "{graded:?}");
    assert_eq!(monitor.grade(), Grade::Perfect);
    assert_eq!(monitor.figures(Instant::ZERO).sequence.lost, 0);
}

/// Returns the monitor of a datagram link that is perfect apart from these figures of the answers to our packets.
fn datagrams_answered(figures: AnswerFigures) -> LinkMonitor {
    let mut monitor = LinkMonitor::new(LinkConfig::datagram(Duration::from_millis(1)));
    monitor.set_answers(figures);
    for cycle in 0..1_000_u16 {
        let now = Instant::from_micros(1_000_000 + u64::from(cycle) * 1_000);
        let _ = monitor.observe_counter(cycle, now, now);
    }
    monitor
}

const ANSWERED: AnswerFigures = AnswerFigures {
    rate: 10_000,
    judged: 100,
    consecutive_misses: 0,
    late: 0,
    round_trip: Some(Duration::from_micros(300)),
    shortest: None,
    latency_variation: None,
};

#[test]
fn each_answer_figure_grades_a_datagram_link() {
    let cases = [
        (ANSWERED, Grade::Perfect, Metric::Samples),
        (AnswerFigures { judged: 99, ..ANSWERED }, Grade::Unacceptable, Metric::Samples),
        (AnswerFigures { rate: 9_400, ..ANSWERED }, Grade::Bad, Metric::Answered),
        (AnswerFigures { consecutive_misses: 2, ..ANSWERED }, Grade::Bad, Metric::Unanswered),
        // The round trip includes the peer's wait for its next cycle.
        (AnswerFigures { round_trip: Some(Duration::from_micros(990)), ..ANSWERED }, Grade::Perfect, Metric::Samples),
    ];
    for (figures, grade, held_by) in cases {
        let monitor = datagrams_answered(figures);
        assert_eq!((monitor.grade(), monitor.figures(Instant::ZERO).next.metric), (grade, held_by), "{figures:?}");
    }
}

#[test]
fn a_restarted_peer_has_answered_nothing_yet() {
    let mut monitor = datagrams_answered(ANSWERED);
    for counter in [40_000_u16, 40_001] {
        let now = Instant::from_micros(2_001_000);
        let _ = monitor.observe_counter(counter, now, now);
    }
    assert_eq!((monitor.epoch(), monitor.figures(Instant::ZERO).answers), (1, None));
}

#[test]
fn any_stamps_and_arrivals_leave_the_monitor_consistent() {
    let mut random = noise(99);
    for kind in [LinkConfig::stream, LinkConfig::datagram] {
        let mut monitor = LinkMonitor::new(kind(Duration::from_millis(2)));
        let mut now = Instant::ZERO;
        for _ in 0..20_000 {
            now = if random(1_000) == 0 {
                Instant::from_micros(random(1 << 60))
            } else {
                now + Duration::from_micros(random(5_000))
            };
            let stamp = if random(20) == 0 { random(1 << 60) } else { now.as_micros() / 2_000 * 2_000 };
            let before = monitor.epoch();
            let seen = monitor.observe(ControllerTime::from_micros(stamp), now, now);
            assert_eq!(monitor.epoch() > before, seen.sequence == Sequence::NewEpoch);
            assert_eq!(seen.fault == Some(Reason::ClockJump), seen.sequence == Sequence::NewEpoch);
            if let Some(deadline) = monitor.next_deadline(now) {
                assert!(deadline > now);
            }
            let _ = monitor.figures(now);
        }
    }
}
