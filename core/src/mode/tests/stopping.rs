//! The way from the first reason to measured standstill, with the link and without.

use super::*;

#[test]
fn safety_that_is_not_known_stops_but_does_not_silence() {
    let mut t = Trace::commanding();
    for (at, out) in [Hold, Hold, Stop, Silent].into_iter().enumerate() {
        t.now = t.now + Duration::from_millis(8);
        let evidence = Evidence { safety: Some(TimedFact::new(Safety::Unknown, t.now)), ..t.world.evidence(t.now) };
        t.last = t.machine.observe(t.now, &evidence);
        assert_eq!(t.out(), out, "state {at}");
    }
    expect!(t: Stopping, EvidenceMissing);
}

#[test]
fn silence_in_command_stops_after_forty_ms_and_the_stop_needs_no_states() {
    let mut t = Trace::commanding();
    let due = t.machine.next_deadline().expect("commanding has a deadline");
    assert_eq!(due, t.now + Duration::from_micros(40_001));
    quiet!(t 40 => Silent);
    quiet!(t 1 => Hold);
    expect_transition!(t: Command -> Stopping, StateStale);
    assert_eq!(t.machine.next_deadline(), Some(t.now + Duration::from_millis(12)));
    quiet!(t 11 => Silent);
    quiet!(t 1 => Hold);
    quiet!(t 12 => Stop);
    quiet!(t 12 => Silent);
    quiet!(t 1_000 => Silent);
    expect!(t: Stopping, StateStale);
}

#[test]
fn standstill_never_measured_ends_in_motion_unknown() {
    let mut t = Trace::commanding();
    t.fault(Reason::LocalStall);
    for out in [Hold, Hold, Stop, Silent] {
        state!(t 8, at_rest = false => out);
    }
    quiet!(t 4_968 => Silent);
    expect!(t: Stopping, LocalStall);
    quiet!(t 1 => Silent);
    expect_transition!(t: Stopping -> Monitor, StopTimeout);
    assert!(t.machine.reasons().contains(Reason::MotionUnknown));
    assert_eq!(t.machine.acknowledge(), Err(Reason::MotionUnknown));
    assert_eq!(t.request(), Err(Reason::MotionUnknown));
    // Rest right after the reconnect may have been measured before; 200 ms of it count.
    state!(t 8, at_rest = true => Silent);
    assert!(t.machine.is_motion_unknown());
    state!(t 200 => Silent);
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.request(), Err(Reason::Latched));
    assert_eq!(t.machine.acknowledge(), Ok(()));
    state!(t 8, program = Some(Activity::Stopped) => Silent);
    t.arm();
}

#[test]
fn rest_measured_before_the_stop_is_no_rest() {
    let mut t = Trace::commanding();
    // The law's speed was zero all along: the arm was at rest, until the last command.
    t.fault(Reason::SourceStale);
    for out in [Hold, Hold, Stop, Silent, Silent] {
        state!(t 8, at_rest = true => out);
    }
    expect!(t: Stopping, SourceStale);
    state!(t 160 => Silent);
    expect!(t: Monitor, SourceStale);
}

#[test]
fn a_link_lost_while_commanding_leaves_motion_unknown() {
    let mut t = Trace::commanding();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect_transition!(t: Command -> Offline, LinkClosed);
    assert_eq!(t.out(), Silent);
    assert_eq!(t.machine.acknowledge(), Err(Reason::MotionUnknown));
    t.world = GOOD;
    t.world.at_rest = false;
    t.connect();
    expect!(t: Monitor, LinkClosed);
    assert!(t.machine.is_motion_unknown());
    // At rest after the reconnect, measured.
    for _ in 0..25 {
        state!(t 8, at_rest = true => Silent);
    }
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.machine.acknowledge(), Ok(()));
    t.arm();
}

#[test]
fn an_arm_still_moving_by_our_last_command_gets_one_stop_after_the_reconnect() {
    let mut t = Trace::commanding();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    t.world = World { at_rest: false, moving_by_us: true, ..GOOD };
    t.world.safety = SafetyMode::ProtectiveStop;
    t.connect();
    state!(t 8 => Silent);
    state!(t 8, safety = SafetyMode::Normal => Stop);
    for _ in 0..100 {
        state!(t 8 => Silent);
    }
    expect!(t: Monitor, LinkClosed);
}

#[test]
fn a_stray_arm_gets_its_stop_only_where_text_is_known_to_be_allowed() {
    type Case = fn(&mut Evidence, Instant);
    let cases: [Case; 3] = [
        |e, _| e.robot_mode = None,
        |e, _| e.safety = None,
        |e, at| e.master_safety = Some(TimedFact::new(MasterSafetyState::Fault, at)),
    ];
    for spoil in cases {
        let mut t = Trace::commanding();
        t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
        t.world = World { at_rest: false, ..GOOD };
        t.connect();
        t.now = t.now + Duration::from_millis(8);
        let mut evidence = World { moving_by_us: true, ..t.world }.evidence(t.now);
        spoil(&mut evidence, t.now);
        t.last = t.machine.observe(t.now, &evidence);
        assert_eq!(t.out(), Silent);
        state!(t 8, moving_by_us = true => Stop);
    }
}

#[test]
fn a_stray_stop_not_yet_said_is_withdrawn_when_the_reason_for_it_goes() {
    let stray = || {
        let mut t = Trace::commanding();
        t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
        t.world = World { at_rest: false, moving_by_us: true, ..GOOD };
        t.connect();
        t
    };
    let mut t = stray();
    t.fault(Reason::EmergencyStop);
    assert_eq!(t.out(), Silent);
    let mut t = stray();
    state!(t 8, moving_by_us = false => Silent);
    state!(t 8, moving_by_us = true => Stop);
}

#[test]
fn somebody_elses_motion_after_a_reconnect_is_left_alone() {
    let mut t = Trace::commanding();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    t.world = World { at_rest: false, moving_by_us: false, ..GOOD };
    t.connect();
    for _ in 0..100 {
        state!(t 8 => Silent);
    }
}

#[test]
fn a_protective_stop_is_met_with_silence_even_after_it_is_unlocked() {
    let mut t = Trace::commanding();
    state!(t 8, at_rest = false, safety = SafetyMode::ProtectiveStop => Silent);
    expect!(t: Stopping, ProtectiveStop);
    state!(t 8 => Silent);
    state!(t 8, safety = SafetyMode::Normal => Silent);
    state!(t 8 => Silent);
    t.rest();
    expect_transition!(t: Stopping -> Monitor, ProtectiveStop);
    expect!(t: Monitor, ProtectiveStop);
}

#[test]
fn a_stop_told_by_a_message_silences_before_the_packet_shows_it() {
    let mut t = Trace::commanding();
    t.fault(Reason::EmergencyStop);
    assert_eq!(t.out(), Silent);
    // The next packet was sent before the button was pressed.
    state!(t 8 => Silent);
    expect!(t: Stopping, EmergencyStop);
}

#[test]
fn a_robot_that_stops_running_half_way_hears_no_more() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    assert_eq!(t.out(), Hold);
    state!(t 8, at_rest = false, robot_mode = RobotMode::PowerOff => Silent);
    state!(t 8, robot_mode = RobotMode::Running => Silent);
    state!(t 8 => Silent);
}

#[test]
fn the_first_reason_is_latched_and_the_others_are_kept() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    t.fault(Reason::StateStale);
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect!(t: Offline, SourceStale);
    let all = [Reason::StateStale, Reason::LinkClosed, Reason::MotionUnknown, Reason::SourceStale];
    assert_eq!(t.machine.reasons(), all.into_iter().collect());
}

#[test]
fn a_fault_while_stopping_by_request_is_latched() {
    let mut t = Trace::commanding();
    t.last = t.machine.release(t.now);
    expect!(t: Stopping);
    t.fault(Reason::Unacknowledged);
    for out in [Hold, Hold, Stop] {
        state!(t 8, at_rest = false => out);
    }
    t.rest();
    expect!(t: Monitor, Unacknowledged);
}

#[test]
fn acknowledging_is_refused_while_stopping_and_moves_nothing() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    assert_eq!(t.machine.acknowledge(), Err(Reason::NotAtRest));
    for out in [Hold, Hold, Stop] {
        state!(t 8, at_rest = false => out);
    }
    assert_eq!(t.request(), Err(Reason::NotAtRest));
    t.rest();
    assert_eq!(t.machine.acknowledge(), Ok(()));
    for _ in 0..300 {
        state!(t 8 => Silent);
    }
    expect!(t: Monitor);
}

#[test]
fn a_program_stopped_at_the_pendant_is_a_release_and_nothing_is_said_while_the_arm_slows_down() {
    let mut t = Trace::commanding();
    state!(t 8, pendant = Pendant::Wait => Silent);
    expect!(t: Command);
    state!(t 8, pendant = Pendant::Stopped, at_rest = false => Silent);
    expect_transition!(t: Command -> Stopping, ProgramStopped);
    expect!(t: Stopping);
    for _ in 0..10 {
        state!(t 8 => Silent);
        state!(t 8, slowing = false => Silent);
        state!(t 8 => Silent);
        state!(t 8, slowing = true => Silent);
    }
    t.rest();
    expect_transition!(t: Stopping -> Monitor, ProgramStopped);
    state!(t 8, pendant = Pendant::Go, program = Some(Activity::Stopped) => Silent);
    t.arm();
}

#[test]
fn an_arm_that_does_not_slow_down_after_such_a_stop_gets_one() {
    let mut t = Trace::commanding();
    state!(t 8, pendant = Pendant::Stopped, at_rest = false, slowing = false => Silent);
    state!(t 8 => Silent);
    state!(t 8 => Silent);
    state!(t 8 => Stop);
    state!(t 8 => Silent);
    t.rest();
    expect!(t: Monitor);
    // The stop is sent, too, if no state shows whether the arm slows down.
    let mut t = Trace::commanding();
    state!(t 8, pendant = Pendant::Stopped, at_rest = false => Silent);
    quiet!(t 40 => Silent);
    quiet!(t 1 => Stop);
    quiet!(t 500 => Silent);
}

#[test]
fn a_text_paused_at_the_pendant_is_replaced_by_one_stop_and_a_protective_stop_comes_first() {
    let mut t = Trace::commanding();
    state!(t 8, pendant = Pendant::TextPaused, at_rest = false => Stop);
    expect_transition!(t: Command -> Stopping, ProgramPaused);
    state!(t 8 => Silent);
    t.rest();
    expect_transition!(t: Stopping -> Monitor, ProgramPaused);
    assert_eq!(t.machine.latch(), None);
    for pendant in [Pendant::Paused, Pendant::TextPaused, Pendant::Stopped] {
        let mut t = Trace::commanding();
        state!(t 8, pendant = pendant, safety = SafetyMode::ProtectiveStop => Silent);
        expect!(t: Stopping, ProtectiveStop);
    }
}

#[cfg(feature = "programs")]
#[test]
fn a_program_that_is_paused_halts_its_motion_until_the_arm_has_rested_after_it() {
    let mut t = Trace::commanding();
    state!(t 8, pendant = Pendant::Paused, at_rest = false => Hold);
    assert_eq!(t.machine.halted_by(&t.evidence, t.now), Some(Reason::ProgramPaused));
    for _ in 0..100 {
        state!(t 8, at_rest = true => Hold);
    }
    expect!(t: Command);
    // Rest before the program resumes proves nothing: the remainder of the old command may still move the arm.
    for _ in 0..24 {
        state!(t 8, pendant = Pendant::Go => Hold);
        assert_eq!(t.machine.halted_by(&t.evidence, t.now), Some(Reason::NotAtRest));
    }
    state!(t 8 => Move);
    assert!(!t.machine.is_halted());
    // A pause that is too long is no fault, and its program is replaced.
    state!(t 8, pendant = Pendant::Paused => Hold);
    t.fault(Reason::ProgramPaused);
    expect_transition!(t: Command -> Stopping, ProgramPaused);
    assert_eq!((t.out(), t.machine.latch()), (Stop, None));
}

#[cfg(feature = "programs")]
#[test]
fn a_motion_that_a_pause_has_halted_goes_on_only_where_it_could_begin() {
    let mut t = Trace::commanding();
    state!(t 8, pendant = Pendant::Paused, at_rest = true => Hold);
    for _ in 0..50 {
        state!(t 8, pendant = Pendant::Go, link_entry = false => Hold);
    }
    assert_eq!(t.machine.halted_by(&t.evidence, t.now), Some(Reason::GradeLow));
    state!(t 8, link_entry = true => Move);
}

/// Checks that commanding does not end because the program reports back nothing new in a pause and in the first states
/// after it. It ends after the usual timeout.
#[cfg(feature = "programs")]
#[test]
fn what_was_mirrored_before_a_pause_does_not_end_commanding_after_it() {
    let mut t = Trace::connected();
    t.world.mirrored = Some(false);
    t.state(8);
    t.world.mirrored = Some(true);
    t.arm();
    let before = t.evidence.acceptance.mirrored_counter;
    let mirrors_as_before = |t: &mut Trace, pendant| {
        t.now = t.now + Duration::from_millis(8);
        t.world.pendant = pendant;
        t.evidence = t.world.evidence(t.now);
        t.evidence.acceptance.mirrored_counter = before;
        t.machine.observe(t.now, &t.evidence);
        t.machine.mode()
    };
    for _ in 0..300 {
        assert_eq!(mirrors_as_before(&mut t, Pendant::Paused), Mode::Command);
    }
    for _ in 0..62 {
        assert_eq!(mirrors_as_before(&mut t, Pendant::Go), Mode::Command);
    }
    // The program has the usual timeout, and no more.
    assert_eq!(mirrors_as_before(&mut t, Pendant::Go), Mode::Stopping);
}

#[test]
fn a_state_that_shows_rest_after_the_time_out_is_rest() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    for out in [Hold, Hold, Stop, Silent] {
        state!(t 8, at_rest = false => out);
    }
    // The state arrives before anything else wakes the machine.
    state!(t 5_000, at_rest = true => Silent);
    expect_transition!(t: Stopping -> Monitor, SourceStale);
    assert!(!t.machine.is_motion_unknown());
}

/// Returns a trace (a mode machine with scripted evidence) in which a protective stop ended commanding and paused our
/// program; at rest in `Monitor`.
fn paused_by_a_protective_stop() -> Trace {
    let mut t = Trace::commanding();
    t.world.program = Some(Activity::Paused);
    state!(t 8, safety = SafetyMode::ProtectiveStop => Silent);
    for _ in 0..30 {
        state!(t 8, at_rest = true => Silent);
    }
    expect!(t: Monitor, ProtectiveStop);
    t
}

#[test]
fn a_program_of_ours_that_a_protective_stop_paused_is_ended_once_when_the_robot_takes_text_again() {
    let mut t = paused_by_a_protective_stop();
    for _ in 0..100 {
        state!(t 8 => Silent);
    }
    state!(t 8, safety = SafetyMode::Normal => Stop);
    for _ in 0..100 {
        state!(t 8 => Silent);
    }
    expect!(t: Monitor, ProtectiveStop);
}

#[test]
fn a_program_that_was_not_ours_any_more_is_left_alone_when_it_is_paused() {
    for ended in [Activity::Stopped, Activity::Running] {
        let mut t = paused_by_a_protective_stop();
        state!(t 8, program = Some(ended) => Silent);
        t.world.program = Some(Activity::Paused);
        for _ in 0..10 {
            state!(t 8, safety = SafetyMode::Normal => Silent);
        }
    }
}

#[test]
fn a_program_that_is_paused_after_a_stop_of_ours_was_said_is_left_alone() {
    let mut t = Trace::commanding();
    t.fault(Reason::SourceStale);
    for out in [Hold, Hold, Stop, Silent] {
        state!(t 8, at_rest = true => out);
    }
    state!(t 200 => Silent);
    t.world.program = Some(Activity::Paused);
    for safety in [SafetyMode::ProtectiveStop, SafetyMode::Normal] {
        for _ in 0..10 {
            state!(t 8, safety = safety => Silent);
        }
    }
}
