//! The way from `Monitor` to `Command`: the preconditions of a request, and the reasons that end arming.

use super::*;

#[test]
fn each_missing_precondition_refuses_the_request_and_names_itself() {
    type Case = (Reason, fn(&mut World));
    let cases: [Case; 13] = [
        (Reason::GradeLow, |w| w.link_entry = false),
        (Reason::RobotNotRunning, |w| w.robot_mode = RobotMode::Idle),
        (Reason::ProtectiveStop, |w| w.safety = SafetyMode::ProtectiveStop),
        (Reason::SafeguardStop, |w| w.safety = SafetyMode::SafeguardStop),
        (Reason::EmergencyStop, |w| w.safety = SafetyMode::RobotEmergencyStop),
        (Reason::EmergencyStop, |w| w.master = Some(MasterSafetyState::ExternalEmergencyStop)),
        (Reason::SafetyFault, |w| w.master = Some(MasterSafetyState::Fault)),
        (Reason::SafetyNotNormal, |w| w.master = Some(MasterSafetyState::Booting)),
        (Reason::NotRemote, |w| w.remote = Some(false)),
        (Reason::SourceStale, |w| w.sources = Err(Reason::SourceStale)),
        (Reason::NotAtRest, |w| w.at_rest = false),
        (Reason::ForeignProgram, |w| w.program = Some(Activity::Running)),
        (Reason::NotGranted, |w| w.gate = PeerGate::No),
    ];
    for (reason, spoil) in cases {
        let mut t = Trace::connected();
        spoil(&mut t.world);
        t.state(8);
        assert_eq!(t.machine.unmet(&t.evidence, t.now), ReasonSet::EMPTY.with(reason));
        assert_eq!(t.request(), Err(reason));
        expect!(t: Monitor);
        // A refused request is consumed: nothing starts when everything is good again.
        t.world = GOOD;
        for _ in 0..200 {
            state!(t 8 => Silent);
        }
        expect!(t: Monitor);
        t.arm();
    }
}

#[test]
fn numbers_newer_than_this_version_are_never_commanded_and_the_advice_claims_nothing_of_them() {
    const NUMBERS: [i32; 7] = [i32::MIN, -2, 21, 24, 77, 255, i32::MAX];
    let spoilt = NUMBERS.iter().flat_map(|raw| {
        let (robot, safety) =
            (RobotMode::from_raw(outrigger_wire::robot::Generation::Cb3, *raw), SafetyMode::from_raw(*raw));
        [
            World { robot_mode: robot, ..GOOD },
            World { safety, ..GOOD },
            World { master: Some(MasterSafetyState::from_raw(*raw)), ..GOOD },
        ]
    });
    for world in spoilt.chain([World { safety: SafetyMode::from_raw(23), ..GOOD }]) {
        let mut t = Trace::connected();
        t.world = world;
        t.state(8);
        let reason = t.request().unwrap_err();
        assert!(matches!(reason, Reason::RobotNotRunning | Reason::SafetyNotNormal), "{world:?}: {reason:?}");
        for claim in ["restart", "violation", "fault", "pressed", "close the", "unlock"] {
            let said = [reason.text(), reason.advice()].concat();
            assert!(!said.contains(claim), "{reason:?} says '{claim}' of a number without a name");
        }
        // It also ends commanding, without any text that could move the arm.
        t.world = GOOD;
        t.state(8);
        t.arm();
        t.world = world;
        state!(t 8 => Silent);
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Stopping, Some(reason)));
    }
}

#[test]
fn each_fact_older_than_300_ms_is_not_held() {
    let forget: [fn(&mut Evidence); 7] = [
        |e| e.link_entry = None,
        |e| e.robot_mode = None,
        |e| e.safety = None,
        |e| e.sources = None,
        |e| e.at_rest = None,
        |e| e.gate = None,
        |e| e.acceptance.program_running = e.acceptance.program_running.map(|h| TimedFact { at: Instant::ZERO, ..h }),
    ];
    for spoil in forget {
        let mut t = Trace::connected();
        spoil(&mut t.evidence);
        assert_eq!(t.request(), Err(Reason::EvidenceMissing));
    }
    let mut t = Trace::connected();
    t.now = t.now + Duration::from_millis(300);
    assert_eq!(t.machine.unmet(&t.evidence, t.now), ReasonSet::EMPTY);
    t.now = t.now + Duration::from_micros(1);
    assert_eq!(t.request(), Err(Reason::EvidenceMissing));
}

#[test]
fn a_request_without_a_link_is_refused() {
    let mut t = Trace::new();
    assert_eq!(t.request(), Err(Reason::LinkClosed));
    expect!(t: Offline);
}

#[test]
fn no_grant_in_ten_seconds_falls_back() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    // Local mode: the text is dropped, isProgramRunning stays false.
    for _ in 0..1_250 {
        state!(t 8 => Hold);
    }
    state!(t 8 => Silent);
    expect_transition!(t: Arming -> Monitor, NotGranted);
    expect!(t: Monitor, NotGranted);
}

#[test]
fn granted_but_never_good_enough_times_out() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    t.world.program = Some(Activity::Running);
    for cycle in 0..1_250 {
        t.world.timely = cycle % 3 != 2;
        t.state(8);
        assert_eq!(t.out(), Hold);
        assert!(t.machine.good_cycles() < 3);
    }
    state!(t 8 => Silent);
    expect!(t: Monitor, ArmingTimeout);
}

#[test]
fn a_program_seen_running_before_the_request_is_no_acceptance() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    let mut evidence = t.world.evidence(t.now);
    evidence.acceptance.program_running = Some(TimedFact::new(Activity::Running, t.now));
    for _ in 0..10 {
        t.now = t.now + Duration::from_millis(8);
        let message = evidence.acceptance;
        evidence = Evidence { acceptance: message, ..t.world.evidence(t.now) };
        assert_eq!(t.machine.observe(t.now, &evidence), None);
        assert_eq!(t.out(), Hold);
    }
    expect!(t: Arming);
}

#[test]
fn taking_over_a_running_program_is_granted_once_that_has_ended_and_ours_runs() {
    let mut t = Trace::with(|c| c.take_over = true);
    t.connect();
    state!(t 8, program = Some(Activity::Running) => Silent);
    assert_eq!(t.request(), Ok(Mode::Arming));
    for _ in 0..5 {
        state!(t 8, program = Some(Activity::Running) => Hold);
    }
    state!(t 8, program = Some(Activity::Stopped) => Hold);
    expect!(t: Arming);
    state!(t 8, program = Some(Activity::Running) => Move);
    expect!(t: Command);
}

#[test]
fn a_firmware_without_any_proof_is_refused_unless_configured() {
    let mut t = Trace::connected();
    state!(t 8, program = None => Silent);
    assert_eq!(t.request(), Err(Reason::AcceptanceUnknown));
    let mut t = Trace::with(|c| c.acceptance_unknown = true);
    t.connect();
    state!(t 8, program = None => Silent);
    assert_eq!(t.request(), Ok(Mode::Arming));
    state!(t 8 => Hold);
    state!(t 8 => Hold);
    state!(t 8 => Move);
}

#[test]
fn a_mirrored_counter_outranks_the_program_state() {
    let mut t = Trace::connected();
    state!(t 8, mirrored = Some(false) => Silent);
    assert_eq!(t.request(), Ok(Mode::Arming));
    for _ in 0..10 {
        state!(t 8, program = Some(Activity::Running) => Hold);
    }
    state!(t 8, mirrored = Some(true) => Move);
    assert_eq!(t.machine.accepted_by(), Some(Proof::MirroredCounter));
}

#[test]
fn each_precondition_lost_while_arming_falls_back_at_once() {
    type Case = (Reason, fn(&mut World));
    let cases: [Case; 9] = [
        (Reason::GradeLow, |w| w.link_entry = false),
        (Reason::RobotNotRunning, |w| w.robot_mode = RobotMode::PowerOff),
        (Reason::ProtectiveStop, |w| w.safety = SafetyMode::ProtectiveStop),
        (Reason::NotRemote, |w| w.remote = Some(false)),
        (Reason::SourceStuck, |w| w.sources = Err(Reason::SourceStuck)),
        (Reason::ForeignMotion, |w| w.following = false),
        (Reason::ForeignMotion, |w| (w.following, w.at_rest) = (false, false)),
        (Reason::NotAtRest, |w| w.at_rest = false),
        (Reason::NotGranted, |w| w.gate = PeerGate::No),
    ];
    for (reason, spoil) in cases {
        let mut t = Trace::connected();
        assert_eq!(t.request(), Ok(Mode::Arming));
        state!(t 8, program = Some(Activity::Running) => Hold);
        spoil(&mut t.world);
        state!(t 8 => Silent);
        assert_eq!((t.machine.mode(), t.machine.latch()), (Mode::Monitor, Some(reason)));
        t.world = GOOD;
        t.state(8);
        assert_eq!(t.request(), Err(Reason::Latched));
        assert_eq!(t.machine.acknowledge(), Ok(()));
        t.arm();
    }
}

#[test]
fn a_controller_that_knows_remote_control_must_show_it() {
    let mut t = Trace::with(|c| c.require_remote = true);
    t.connect();
    assert_eq!(t.request(), Err(Reason::EvidenceMissing));
    state!(t 8, remote = Some(true) => Silent);
    t.arm();
}

#[test]
fn a_link_lost_while_arming_latches_but_leaves_nothing_unknown() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    state!(t 8 => Hold);
    t.last = t.machine.link_lost(t.now, Reason::LinkClosed);
    expect!(t: Offline, LinkClosed);
    assert!(!t.machine.is_motion_unknown());
    assert_eq!(t.machine.acknowledge(), Ok(()));
}

#[test]
fn releasing_while_arming_goes_back_without_a_latch() {
    let mut t = Trace::connected();
    assert_eq!(t.request(), Ok(Mode::Arming));
    state!(t 8 => Hold);
    t.last = t.machine.release(t.now);
    expect_transition!(t: Arming -> Monitor, Released);
    expect!(t: Monitor);
}
