//! Moves that the controller executes, from the request to the end, and from any reason to standstill.

use super::*;

const FIRST: MoveNumber = MoveNumber::new(1).unwrap();
const SECOND: MoveNumber = MoveNumber::new(2).unwrap();

/// Returns a trace (a mode machine with scripted evidence) in `Command`, with a program of ours that waits for a move.
fn waiting() -> Trace {
    let mut t = Trace::commanding();
    state!(t 8, mirror = Some(Mirrored::Idle) => Move);
    t
}

fn delegate(t: &mut Trace) -> Result<MoveNumber, Reason> {
    t.machine.delegate(t.now, &t.evidence)
}

/// Returns a trace (a mode machine with scripted evidence) with a move that was requested and started.
fn running() -> Trace {
    let mut t = waiting();
    assert_eq!(delegate(&mut t), Ok(FIRST));
    for _ in 0..24 {
        state!(t 8 => Hold);
    }
    state!(t 8 => Start);
    state!(t 8, mirror = Some(Mirrored::Running(FIRST)), at_rest = false, slowing = false => Keep);
    t
}

#[test]
fn a_move_begins_after_200_ms_of_rest_and_the_next_one_after_its_end_at_once() {
    let mut t = running();
    assert_eq!(t.machine.drive(), Drive::Delegated(FIRST));
    for _ in 0..1_000 {
        state!(t 8 => Keep);
    }
    assert_eq!(delegate(&mut t), Err(Reason::NotAtRest));
    state!(t 8, mirror = Some(Mirrored::Ended(FIRST)) => Keep);
    assert_eq!(delegate(&mut t), Err(Reason::NotAtRest));
    state!(t 8, at_rest = true => Keep);
    state!(t 192 => Keep);
    assert_eq!(delegate(&mut t), Ok(SECOND));
    state!(t 8 => Start);
    state!(t 8, mirror = Some(Mirrored::Running(SECOND)), at_rest = false => Keep);
    state!(t 8, mirror = Some(Mirrored::Idle), at_rest = true => Keep);
    for _ in 0..1_000 {
        // Nothing begins by itself.
        state!(t 8 => Keep);
    }
    assert_eq!(t.machine.stream(t.now, &t.evidence), Ok(()));
    assert_eq!(t.machine.drive(), Drive::Streamed);
    state!(t 8 => Move);
    expect!(t: Command);
}

#[test]
fn a_move_is_refused_where_it_must_not_begin() {
    let mut t = Trace::connected();
    assert_eq!(delegate(&mut t), Err(Reason::NotCommanding));
    t.arm();
    assert_eq!(delegate(&mut t), Err(Reason::EvidenceMissing), "no program of ours");
    state!(t 8, mirror = Some(Mirrored::Running(SECOND)) => Move);
    assert_eq!(delegate(&mut t), Err(Reason::OtherMove));
    state!(t 8, mirror = Some(Mirrored::Idle), at_rest = false => Move);
    assert_eq!(delegate(&mut t), Err(Reason::NotAtRest));
    state!(t 8, at_rest = true, paused = true => Move);
    assert_eq!(delegate(&mut t), Err(Reason::HeldByScaling));
    state!(t 8, paused = false => Move);
    t.now = t.now + Duration::from_millis(101);
    assert_eq!(delegate(&mut t), Err(Reason::EvidenceMissing), "the mirror is old");
    expect!(t: Command);
}

#[test]
fn a_number_that_is_shown_already_is_passed_over() {
    let mut t = Trace::commanding();
    state!(t 8, mirror = Some(Mirrored::Ended(FIRST)) => Move);
    assert_eq!(delegate(&mut t), Ok(SECOND));
}

#[test]
fn an_arm_that_moves_before_the_start_gets_none() {
    let mut t = waiting();
    assert_eq!(delegate(&mut t), Ok(FIRST));
    state!(t 8 => Hold);
    state!(t 8, at_rest = false => Hold);
    expect_transition!(t: Command -> Stopping, NotAtRest);
}

#[test]
fn a_move_that_is_not_shown_within_half_a_second_was_not_begun() {
    let mut t = waiting();
    assert_eq!(delegate(&mut t), Ok(FIRST));
    t.state(200);
    assert_eq!(t.out(), Hold);
    expect!(t: Stopping, StateStale);
    let mut t = waiting();
    assert_eq!(delegate(&mut t), Ok(FIRST));
    for _ in 0..24 {
        state!(t 8 => Hold);
    }
    state!(t 8 => Start);
    for _ in 0..62 {
        state!(t 8 => Keep);
    }
    state!(t 8 => Cancel);
    expect_transition!(t: Command -> Stopping, MoveNotStarted);
}

#[test]
fn what_ends_a_move() {
    type Case = (Reason, fn(&mut World));
    let cases: [Case; 5] = [
        (Reason::OtherMove, |w| w.mirror = Some(Mirrored::Running(SECOND))),
        (Reason::OtherMove, |w| w.mirror = Some(Mirrored::Ended(SECOND))),
        (Reason::NotFollowing, |w| w.following = false),
        (Reason::ProgramEnded, |w| w.program = Some(Activity::Stopped)),
        (Reason::ProtectiveStop, |w| w.safety = SafetyMode::ProtectiveStop),
    ];
    for (reason, happens) in cases {
        let mut t = running();
        happens(&mut t.world);
        state!(t 8 => Cancel);
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Stopping, Some(reason)));
    }
    let mut t = running();
    for _ in 0..12 {
        state!(t 8, mirror = None => Keep);
    }
    state!(t 8 => Cancel);
    expect!(t: Stopping, MoveUnseen);
    let mut t = running();
    quiet!(t 200 => Silent);
    expect!(t: Command);
    quiet!(t 1 => Cancel);
    expect!(t: Stopping, StateStale);
}

#[test]
fn what_ends_streaming_because_states_are_missing_ends_no_move() {
    for reason in [Reason::StateStale, Reason::StatesMissed, Reason::LocalStall, Reason::GradeLow] {
        let mut t = running();
        t.fault(reason);
        expect!(t: Command);
        state!(t 8 => Keep);
        let mut t = waiting();
        assert_eq!(delegate(&mut t), Ok(FIRST));
        t.fault(reason);
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Stopping, Some(reason)), "not begun yet");
    }
}

#[test]
fn a_move_that_slows_down_when_it_is_cancelled_needs_no_stop_and_its_program_is_kept_alive() {
    let mut t = running();
    t.last = t.machine.release(t.now);
    assert_eq!(t.out(), Cancel);
    for _ in 0..100 {
        state!(t 8, slowing = true => Cancel);
    }
    state!(t 8, mirror = Some(Mirrored::Ended(FIRST)) => Keep);
    state!(t 8, at_rest = true => Silent);
    expect_transition!(t: Stopping -> Monitor, Released);
    expect!(t: Monitor);
    state!(t 8 => Silent);
    let mut t = running();
    t.machine.set_config(ModeConfig {
        delegated: DelegatedConfig { resident: true, ..t.machine.config().delegated },
        ..*t.machine.config()
    });
    t.last = t.machine.release(t.now);
    state!(t 8, slowing = true, mirror = Some(Mirrored::Ended(FIRST)) => Keep);
    state!(t 200, at_rest = true => Silent);
    expect!(t: Monitor);
    state!(t 8 => Keep);
}

#[test]
fn a_move_that_does_not_slow_down_within_100_ms_is_stopped() {
    let mut t = running();
    t.fault(Reason::SourceStale);
    assert_eq!(t.out(), Cancel);
    for _ in 0..12 {
        state!(t 8 => Cancel);
    }
    state!(t 8 => Stop);
    for _ in 0..25 {
        state!(t 8, at_rest = true => Silent);
    }
    expect_transition!(t: Stopping -> Monitor, SourceStale);
    // No wait either if no state shows it; and no keep-alive is sent to the program.
    let mut t = running();
    t.fault(Reason::SourceStale);
    assert_eq!(t.out(), Cancel);
    assert_eq!(t.machine.next_deadline(), Some(t.now + Duration::from_micros(100_001)));
    quiet!(t 100 => Silent);
    quiet!(t 1 => Stop);
    quiet!(t 1_000 => Silent);
}

#[test]
fn an_arm_at_rest_whose_move_was_not_seen_to_end_is_stopped_all_the_same() {
    let mut t = waiting();
    assert_eq!(delegate(&mut t), Ok(FIRST));
    for _ in 0..24 {
        state!(t 8 => Hold);
    }
    state!(t 8 => Start);
    // The program may not have read the move yet.
    t.last = t.machine.release(t.now);
    assert_eq!(t.out(), Cancel);
    for _ in 0..24 {
        state!(t 8 => Cancel);
    }
    state!(t 8 => Stop);
    expect!(t: Stopping);
    for _ in 0..24 {
        state!(t 8 => Silent);
    }
    state!(t 8 => Silent);
    expect_transition!(t: Stopping -> Monitor, Released);
}

#[test]
fn a_pause_does_not_lose_the_move_and_must_not_last() {
    let mut t = Trace::connected();
    t.world.mirrored = Some(false);
    t.state(8);
    t.world.mirrored = Some(true);
    t.arm();
    state!(t 8, mirror = Some(Mirrored::Idle) => Move);
    assert_eq!(delegate(&mut t), Ok(FIRST));
    for _ in 0..25 {
        t.state(8);
        let _ = t.out();
    }
    state!(t 8, mirror = Some(Mirrored::Running(FIRST)), at_rest = false => Keep);
    // A paused program mirrors nothing new.
    state!(t 8, paused = true, mirror = None, mirrored = Some(false), at_rest = true => Keep);
    for _ in 0..1_125 {
        state!(t 8 => Keep);
    }
    state!(t 8, paused = false, mirrored = Some(true), mirror = Some(Mirrored::Running(FIRST)) => Keep);
    state!(t 8, pendant = Pendant::Paused, mirror = None => Keep);
    for _ in 0..1_249 {
        state!(t 8 => Keep);
    }
    state!(t 8 => Cancel);
    expect!(t: Stopping);
    assert_eq!(t.machine.latch(), None, "a pause at the pendant is no fault");
}

#[test]
fn a_move_is_held_by_a_pause_until_its_end_is_shown() {
    let mut t = running();
    state!(t 8, pendant = Pendant::Paused, mirror = None => Keep);
    assert_eq!(t.machine.held_by(&t.evidence), Some(Reason::ProgramPaused));
    state!(t 8, pendant = Pendant::Go, mirror = Some(Mirrored::Ended(FIRST)), at_rest = true => Keep);
    assert_eq!(t.machine.held_by(&t.evidence), None);
    state!(t 8, paused = true, mirror = None => Keep);
    assert_eq!(t.machine.held_by(&t.evidence), None, "nothing goes on after the end");
}

#[test]
fn a_program_counts_as_paused_only_by_what_is_fresh() {
    let mut t = running();
    t.world.program = Some(Activity::Paused);
    t.state(8);
    let age = Duration::from_millis(100);
    assert!(t.evidence.has_paused_program(t.now, age));
    assert!(!t.evidence.has_paused_program(t.now + age + Duration::from_micros(1), age), "nobody has said so since");
}

#[test]
fn a_pause_at_the_pendant_and_a_slider_at_0_end_a_move_for_their_own_reasons() {
    // With the slider at 0 as well, the pendant is the cause: moving the slider up would not help.
    for (pendant, slider, why) in [
        (Pendant::Paused, false, Reason::ProgramPaused),
        (Pendant::Paused, true, Reason::ProgramPaused),
        (Pendant::Go, true, Reason::HeldByScaling),
    ] {
        let mut t = running();
        state!(t 8, pendant = pendant, paused = slider, mirror = None => Keep);
        for _ in 0..1_249 {
            state!(t 8 => Keep);
        }
        state!(t 8 => Cancel);
        let last = t.last.map(|change| (change.to, change.reason));
        assert_eq!(last, Some((Mode::Stopping, Some(why))), "{pendant:?}, slider at 0: {slider}");
        assert_eq!(t.machine.latch(), (why == Reason::HeldByScaling).then_some(why));
    }
}

#[test]
fn a_robot_that_takes_no_text_is_told_to_cancel_and_stopped_as_soon_as_it_takes_text() {
    let mut t = running();
    state!(t 8, safety = SafetyMode::ProtectiveStop, mirror = None, at_rest = true, slowing = true => Cancel);
    for _ in 0..24 {
        state!(t 8 => Cancel);
    }
    expect!(t: Stopping, ProtectiveStop);
    state!(t 8 => Cancel);
    expect_transition!(t: Stopping -> Monitor, ProtectiveStop);
    assert!(t.machine.is_motion_unknown(), "the program may be paused only");
    for _ in 0..1_000 {
        state!(t 8 => Cancel);
    }
    assert_eq!(t.machine.acknowledge(), Err(Reason::MotionUnknown));
    state!(t 8, safety = SafetyMode::Normal => Stop);
    for _ in 0..25 {
        assert!(t.machine.is_motion_unknown());
        state!(t 8 => Silent);
    }
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.machine.acknowledge(), Ok(()));
}

#[test]
fn after_a_reconnect_only_a_program_that_shows_our_move_is_stopped() {
    let lost = || {
        let mut t = running();
        t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
        t.world = World { program: Some(Activity::Running), ..GOOD };
        t.connect();
        t
    };
    let mut t = lost();
    for _ in 0..100 {
        state!(t 8 => Cancel);
    }
    assert!(t.machine.is_motion_unknown(), "at rest, but nobody knows for how long");
    state!(t 8, mirror = Some(Mirrored::Running(FIRST)) => Stop);
    state!(t 8, mirror = None => Silent);
    let mut t = lost();
    state!(t 8, mirror = Some(Mirrored::Idle) => Silent);
    state!(t 200 => Silent);
    assert!(!t.machine.is_motion_unknown());
    let mut t = lost();
    state!(t 8, program = Some(Activity::Stopped) => Silent);
    state!(t 200 => Silent);
    assert!(!t.machine.is_motion_unknown());
}

/// Requests that the controller ends the present move early; fails if there is no move that can be ended.
#[cfg(feature = "programs")]
fn end(t: &Trace, of: &mut MoveEnd) -> Result<MoveNumber, Reason> {
    of.ask(&t.machine, t.now)
}

#[cfg(feature = "programs")]
fn observed(t: &Trace, of: &mut MoveEnd) -> Option<Reason> {
    of.observe(&t.machine, &t.evidence, t.machine.config(), t.now)
}

#[cfg(feature = "programs")]
#[test]
fn a_move_is_cancelled_until_its_end_is_shown_and_the_next_one_is_another() {
    let mut of = MoveEnd::default();
    let mut t = waiting();
    assert_eq!((end(&t, &mut of), of.cancels(&t.machine)), (Err(Reason::NotCommanding), None));
    assert_eq!(delegate(&mut t), Ok(FIRST));
    assert_eq!(end(&t, &mut of), Ok(FIRST), "it is to begin");
    let mut t = running();
    assert_eq!(end(&t, &mut of), Ok(FIRST));
    for _ in 0..10 {
        state!(t 8 => Keep);
        assert_eq!((observed(&t, &mut of), of.cancels(&t.machine)), (None, Some(FIRST)));
    }
    state!(t 8, mirror = Some(Mirrored::Ended(FIRST)) => Keep);
    assert_eq!((observed(&t, &mut of), of.cancels(&t.machine)), (None, None));
    assert_eq!(end(&t, &mut of), Err(Reason::NotCommanding), "it has ended");
    state!(t 8, at_rest = true => Keep);
    state!(t 192 => Keep);
    assert_eq!(delegate(&mut t), Ok(SECOND));
    state!(t 8 => Start);
    state!(t 8, mirror = Some(Mirrored::Running(SECOND)), at_rest = false => Keep);
    assert_eq!((observed(&t, &mut of), of.cancels(&t.machine)), (None, None), "nobody asks for the end of this one");
    state!(t 8, mirror = Some(Mirrored::Idle) => Keep);
    assert_eq!(end(&t, &mut of), Err(Reason::NotCommanding), "a program that waits executes none");
}

#[cfg(feature = "programs")]
#[test]
fn a_move_that_does_not_end_is_a_fault_in_time_and_pauses_are_none() {
    let mut t = running();
    let mut of = MoveEnd::default();
    let patience = t.machine.config().stop_timeout;
    assert_eq!(end(&t, &mut of), Ok(FIRST));
    let begun = t.now;
    while t.now.since(begun) < patience {
        state!(t 8 => Keep);
        // A repeated request does not extend the time.
        assert_eq!(end(&t, &mut of), Ok(FIRST));
        if t.now.since(begun) <= patience {
            assert_eq!(observed(&t, &mut of), None);
        }
    }
    state!(t 8 => Keep);
    assert_eq!(observed(&t, &mut of), Some(Reason::NotAtRest));
    state!(t 8, paused = true => Keep);
    assert_eq!(observed(&t, &mut of), None, "it is heard once the pause ends");
    state!(t 8, paused = false => Keep);
    assert_eq!((observed(&t, &mut of), of.cancels(&t.machine)), (None, Some(FIRST)));
    t.machine.release(t.now);
    assert_eq!((observed(&t, &mut of), of.cancels(&t.machine)), (None, None), "the machine cancels it by itself");
}
