//! Complete sessions, and the conditions that keep and end `Command`.

use super::*;

#[test]
fn one_whole_life() {
    let mut t = Trace::new();
    expect!(t: Offline);
    assert_eq!(t.out(), Silent);
    t.connect();
    state!(t 8 => Silent);
    t.state(8);
    assert_eq!(t.request(), Ok(Mode::Arming));
    assert_eq!(t.out(), Silent, "nothing before the next state, asked before or not");
    state!(t 8 => Hold);
    state!(t 8, program = Some(Activity::Running) => Hold);
    state!(t 8 => Move);
    expect_transition!(t: Arming -> Command);
    assert_eq!(t.machine.accepted_by(), Some(Proof::ProgramRunning));
    state!(t 8, at_rest = false => Move);
    assert_eq!(t.out(), Silent, "one command per state");
    t.last = t.machine.release(t.now);
    expect_transition!(t: Command -> Stopping, Released);
    assert_eq!(t.out(), Hold, "zero at once, not at the next state");
    state!(t 8 => Hold);
    state!(t 8 => Stop);
    state!(t 8, program = Some(Activity::Stopped) => Silent);
    t.rest();
    expect_transition!(t: Stopping -> Monitor, Released);
    expect!(t: Monitor);
    t.arm();
}

#[test]
fn monitor_says_nothing_whatever_happens() {
    let mut t = Trace::connected();
    state!(t 8, safety = SafetyMode::ProtectiveStop => Silent);
    state!(t 8, link_entry = false => Silent);
    for reason in Reason::ALL {
        t.fault(*reason);
        assert_eq!(t.out(), Silent);
    }
    quiet!(t 1_000 => Silent);
    expect!(t: Monitor);
}

#[test]
fn each_bad_reason_in_command_stops_in_that_very_cycle() {
    type Case = (Reason, Out, fn(&mut World));
    let cases: [Case; 8] = [
        (Reason::NotFollowing, Hold, |w| w.following = false),
        (Reason::SourceOutOfRange, Hold, |w| w.sources = Err(Reason::SourceOutOfRange)),
        (Reason::NotRemote, Hold, |w| w.remote = Some(false)),
        (Reason::NotGranted, Hold, |w| w.gate = PeerGate::No),
        (Reason::RobotNotRunning, Silent, |w| w.robot_mode = RobotMode::Idle),
        (Reason::ProtectiveStop, Silent, |w| w.safety = SafetyMode::ProtectiveStop),
        // All conditions fail at once; the one that stopped the arm is latched.
        (Reason::EmergencyStop, Silent, |w| {
            w.safety = SafetyMode::SystemEmergencyStop;
            w.robot_mode = RobotMode::PowerOff;
            w.following = false;
        }),
        (Reason::SafeguardStop, Silent, |w| w.master = Some(MasterSafetyState::SafeguardStop)),
    ];
    for (reason, out, spoil) in cases {
        let mut t = Trace::commanding();
        spoil(&mut t.world);
        t.state(8);
        assert_eq!(t.out(), out, "{reason:?}");
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Stopping, Some(reason)));
        if reason == Reason::EmergencyStop {
            let all = [Reason::EmergencyStop, Reason::RobotNotRunning, Reason::NotFollowing];
            assert_eq!(t.machine.reasons(), all.into_iter().collect());
        }
    }
}

#[test]
fn a_reason_that_says_something_explains_facts_that_are_missing() {
    let mut t = Trace::commanding();
    t.now = t.now + Duration::from_millis(8);
    let evidence = Evidence { safety: None, following: Some(TimedFact::new(false, t.now)), ..t.world.evidence(t.now) };
    t.last = t.machine.observe(t.now, &evidence);
    expect!(t: Stopping, NotFollowing);
    assert!(t.machine.reasons().contains(Reason::EvidenceMissing));
    let mut t = Trace::commanding();
    t.now = t.now + Duration::from_millis(8);
    t.last = t.machine.observe(t.now, &Evidence { safety: None, ..t.world.evidence(t.now) });
    expect!(t: Stopping, EvidenceMissing);
}

#[test]
fn a_low_grade_and_a_moving_arm_are_no_reason_to_leave_command() {
    let mut t = Trace::commanding();
    state!(t 8, link_entry = false, at_rest = false => Move);
    state!(t 8 => Move);
    expect!(t: Command);
}

#[test]
fn a_state_too_old_is_not_answered_and_forty_ms_of_them_stop() {
    let mut t = Trace::commanding();
    state!(t 8, timely = false => Silent);
    state!(t 8, timely = true => Move);
    state!(t 8, timely = false => Silent);
    for _ in 0..4 {
        state!(t 8 => Silent);
    }
    expect!(t: Command);
    state!(t 1 => Hold);
    expect!(t: Stopping, StateStale);
}

#[test]
fn a_link_lost_while_monitoring_is_no_fault() {
    let mut t = Trace::connected();
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect!(t: Offline);
    t.connect();
    quiet!(t 2_000 => Silent);
    expect!(t: Monitor);
    quiet!(t 1 => Silent);
    expect_transition!(t: Monitor -> Offline, StateStale);
    expect!(t: Offline);
}

#[test]
fn a_pause_is_no_fault_and_the_end_of_the_program_is() {
    let mut t = Trace::commanding();
    for _ in 0..200 {
        state!(t 8, program = Some(Activity::Paused) => Move);
    }
    // One program replaces the other: invisible for up to half a second.
    for _ in 0..62 {
        state!(t 8, program = Some(Activity::Stopped) => Move);
    }
    state!(t 8, program = Some(Activity::Running) => Move);
    for _ in 0..62 {
        state!(t 8, program = Some(Activity::Stopped) => Move);
    }
    state!(t 8 => Hold);
    expect!(t: Stopping, ProgramEnded);
}

#[test]
fn an_intent_of_another_epoch_is_refused() {
    let mut t = Trace::connected();
    let before = Intent { epoch: t.machine.epoch(), value: 7 };
    assert_eq!(t.machine.accept(before), Ok(7));
    t.arm();
    assert_eq!(t.machine.accept(before), Ok(7), "arming and commanding are one epoch");
    t.fault(Reason::SourceStale);
    assert_eq!(t.machine.accept(before), Err(Reason::WrongEpoch));
    let now = Intent { epoch: t.machine.epoch(), ..before };
    assert_eq!(t.machine.accept(now), Ok(7));
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    t.connect();
    assert_eq!(t.machine.accept(now), Err(Reason::WrongEpoch), "another connection");
}

#[test]
fn a_peer_that_needs_answers_is_mirrored_until_it_grants() {
    let mut t = Trace::with(|c| c.mirrors = true);
    t.world.program = None;
    t.connect();
    state!(t 1 => Mirror);
    assert_eq!(t.request(), Ok(Mode::Arming));
    for _ in 0..10 {
        state!(t 1 => Mirror);
    }
    state!(t 1, gate = PeerGate::Granted => Move);
    assert_eq!(t.machine.accepted_by(), Some(Proof::PeerState));
    state!(t 1 => Move);
    // The controller leaves its command state: so does the machine.
    state!(t 1, gate = PeerGate::Ready => Hold);
    expect!(t: Stopping, NotGranted);
    for out in [Hold, Stop, Mirror] {
        state!(t 1, at_rest = false => out);
    }
}
