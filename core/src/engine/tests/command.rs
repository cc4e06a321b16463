//! Arming, commanding and stopping, on every kind of firmware.

use super::bench::{Bench, Sent, refused};
use crate::engine::ur::{FormChoice, TextConfig, UrConfig, UrOptions};
use crate::engine::{Event, Input, LinkId};
use crate::mode::{Mode, ModeTuning, PendantStop};
use crate::robot::Reason;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

const FIRMWARES: [(u8, u8); 7] = [(1, 8), (3, 0), (3, 1), (3, 3), (3, 5), (3, 15), (5, 15)];

#[test]
fn every_firmware_is_armed_commanded_and_brought_to_rest() {
    for (major, minor) in FIRMWARES {
        let mut bench = Bench::moving(major, minor);
        bench.input(Input::Release);
        bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
        let modes: Vec<_> = bench.transitions().iter().map(|t| t.to).collect();
        assert_eq!(modes, [Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping, Mode::Monitor]);
        assert_eq!(bench.peer.qd, [0.0; 6], "{major}.{minor}");
        assert_eq!(bench.engine.latch(), None, "a release is no fault");
    }
}

#[cfg(feature = "rtde")]
#[test]
fn arming_sends_zero_velocity_to_every_state_and_nothing_else() {
    let mut bench = Bench::with_rtde(5, 15, UrConfig::default()).started();
    let begun = bench.now;
    bench.request();
    bench.run(100);
    let sent = bench.sent_since(begun);
    // The second one is sent when the first is shown to run.
    assert!(sent.len() >= 46, "{} texts in 50 cycles", sent.len());
    assert!(sent.iter().all(|sent| sent.mode == Mode::Arming && sent.is_zero()));
}

#[test]
fn command_answers_every_state_once() {
    let mut bench = Bench::moving(5, 15);
    let begun = bench.now;
    bench.run(400);
    let sent = bench.sent_since(begun);
    assert!((198..=202).contains(&sent.len()), "{} texts in 200 cycles", sent.len());
    assert!(sent.iter().all(Sent::is_moving));
}

#[test]
fn the_form_of_the_text_follows_the_full_version() {
    let text = |major, minor, form| {
        let text = TextConfig { form, ..TextConfig::default() };
        let bench = Bench::moving_with(
            major,
            minor,
            UrConfig { peer: UrOptions { text, ..UrOptions::default() }, ..UrConfig::default() },
        );
        bench.sent.last().unwrap().text.clone()
    };
    for (major, minor) in [(1, 8), (3, 0), (3, 1), (3, 2), (3, 4)] {
        let text = text(major, minor, FormChoice::ByVersion);
        assert!(text.starts_with("def ") && text.contains("stopj("), "{major}.{minor}: {text}");
        assert_eq!(text.contains("sleep("), (3..5).contains(&major) && (1..3).contains(&minor), "{text}");
    }
    for (major, minor) in [(3, 5), (3, 15), (5, 0), (5, 1), (5, 15)] {
        assert!(text(major, minor, FormChoice::ByVersion).starts_with("speedj("), "{major}.{minor}");
    }
    assert!(text(5, 15, FormChoice::SelfEnding).starts_with("def "));
    assert!(text(1, 8, FormChoice::Bare).starts_with("speedj("));
}

#[test]
fn stopping_is_zero_velocity_then_one_stop_then_silence() {
    let mut bench = Bench::moving(5, 15);
    let moving = bench.sent.len();
    bench.input(Input::Release);
    bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
    bench.run(1_000);
    let (zeros, rest) = bench.sent[moving..].split_at(3);
    assert!(zeros.iter().all(Sent::is_zero));
    assert!(rest.len() == 1 && rest[0].is_stop(), "{rest:?}");
}

#[test]
fn text_dropped_in_local_control_is_never_commanded_over() {
    let mut bench = Bench::ready(5, 15);
    bench.peer.local = true;
    bench.request();
    bench.run(12_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    assert!(!bench.transitions().iter().any(|t| t.to == Mode::Command));
    let latch = bench.engine.latch();
    assert!(matches!(latch, Some(Reason::NotGranted | Reason::ArmingTimeout)), "{latch:?}");
    assert!(!bench.sent.iter().any(Sent::is_moving));
}

#[test]
fn a_controller_that_reports_other_software_than_configured_is_not_commanded() {
    let configured = |major, minor, bugfix| {
        let software = Some(SoftwareVersion { major, minor, bugfix });
        UrConfig { peer: UrOptions { software, ..UrOptions::default() }, ..UrConfig::default() }
    };
    for (software, other) in [((3, 15, 0), true), ((5, 14, 0), true), ((5, 15, 7), true), ((5, 15, 0), false)] {
        let mut bench = Bench::new(5, 15, configured(software.0, software.1, software.2));
        bench.input(Input::Start);
        bench.run(3_000);
        assert_eq!(bench.unmet().contains(&Reason::OtherController), other, "{software:?}: {:?}", bench.unmet());
        bench.request();
        bench.run(1_000);
        assert_eq!(bench.engine.mode() == Mode::Monitor, other, "{software:?}");
        assert_eq!(bench.sent.is_empty(), other);
    }
    // A value that is not reported is no mismatch.
    let mut bench = Bench::new(5, 15, configured(5, 14, 0));
    bench.refused = vec![30_001, 30_002];
    bench.input(Input::Start);
    bench.run(3_000);
    assert!(!bench.unmet().contains(&Reason::OtherController), "{:?}", bench.unmet());
}

#[test]
fn nothing_is_commanded_where_a_stop_at_the_pendant_cannot_be_seen() {
    let allowed = {
        let mut config = UrConfig::default();
        config.mode.pendant.stop = PendantStop::Overridden;
        config
    };
    let rtde = cfg!(feature = "rtde");
    for (major, minor, with_rtde, seen) in
        [(1, 8, true, false), (3, 1, true, false), (3, 15, true, rtde), (5, 15, true, rtde), (5, 15, false, false)]
    {
        let what = format!("{major}.{minor}, RTDE {with_rtde}");
        let begun = |config| {
            let mut bench = Bench::seeing_stops(major, minor, config, with_rtde);
            bench.input(Input::Start);
            bench.run(5_000);
            bench
        };
        let mut bench = begun(UrConfig::default());
        assert_eq!(bench.unmet(), if seen { vec![] } else { vec![Reason::PendantUnseen] }, "{what}");
        bench.request();
        bench.run(3_000);
        assert_eq!((bench.engine.mode() == Mode::Command, bench.sent.is_empty()), (seen, !seen), "{what}");
        assert!(!bench.engine.overrides_pendant(), "{what}");
        if !seen {
            assert!(bench.events.contains(&refused(Reason::PendantUnseen)), "{what}");
        }
        // If a stop can be detected, it still is.
        let bench = begun(allowed);
        assert!(bench.unmet().is_empty() && !bench.engine.overrides_pendant(), "{what}");
        let bench = bench.commanding();
        assert_eq!(bench.engine.overrides_pendant(), !seen, "{what}");
        assert_eq!(bench.events.contains(&Event::PendantOverridden), !seen, "{what}");
    }
}

#[test]
fn by_a_clock_that_is_inexact_every_request_is_refused() {
    for start_within in [None, Some(Duration::from_secs(60))] {
        let mut config = UrConfig::default();
        (config.operator.clock_is_inexact, config.operator.start_within) = (true, start_within);
        let mut bench = Bench::new(5, 15, config);
        bench.input(Input::Start);
        bench.run(3_000);
        assert_eq!(bench.unmet(), [Reason::ClockInexact]);
        bench.request();
        assert!(bench.events.contains(&refused(Reason::ClockInexact)));
        bench.run(3_000);
        assert_eq!((bench.engine.mode(), bench.sent.is_empty()), (Mode::Monitor, true));
    }
}

#[test]
fn a_running_program_is_only_taken_over_with_leave_and_is_ended_first() {
    let mut bench = Bench::ready(3, 15);
    bench.peer.foreign = true;
    bench.run(500);
    bench.request();
    assert_eq!(bench.events.last(), Some(&refused(Reason::ForeignProgram)));
    assert!(bench.sent.is_empty() && bench.peer.foreign);

    let mode = ModeTuning { take_over: true, ..ModeTuning::default() };
    let mut bench = Bench::ready_with(3, 15, UrConfig { mode, ..UrConfig::default() });
    bench.peer.foreign = true;
    bench.run(500);
    bench.request();
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Command);
    assert!(bench.sent[0].is_stop(), "{:?}", bench.sent[0]);
    assert!(!bench.peer.foreign);
}

#[test]
fn without_a_primary_link_the_packet_proves_it_where_it_has_a_program_state() {
    let mut with_state = Bench::new(5, 15, UrConfig::default());
    with_state.refused = vec![30_001, 30_002];
    with_state.input(Input::Start);
    with_state.run(3_000);
    with_state.request();
    with_state.run_until(3_000, |b| b.engine.mode() == Mode::Command);

    let mut without = Bench::new(3, 1, UrConfig::default());
    without.refused = vec![30_001, 30_002];
    without.input(Input::Start);
    without.run(5_000);
    assert_eq!(without.unmet(), [Reason::AcceptanceUnknown]);
    without.request();
    assert_eq!(without.events.last(), Some(&refused(Reason::AcceptanceUnknown)));
}

#[test]
fn a_protective_stop_ends_commanding_without_another_word() {
    let mut bench = Bench::moving(5, 15);
    bench.peer.safety = 3;
    let at = bench.now;
    bench.run(3);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Stopping, Some(Reason::ProtectiveStop)));
    bench.run(2_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    assert!(
        bench.sent_since(at).iter().filter(|s| s.mode != Mode::Command).count() == 0,
        "no text for a stopped robot"
    );
    bench.peer.safety = 1;
    bench.run(500);
    bench.request();
    assert_eq!(bench.events.last(), Some(&refused(Reason::Latched)), "nothing resumes by itself");
    bench.input(Input::Acknowledge);
    bench.request();
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn a_second_commander_is_noticed_and_stopped_for() {
    let mut bench = Bench::moving(5, 15);
    bench.mute = true;
    bench.peer.write(LinkId::REALTIME, b"speedj([0,-0.5,0,0,0,0],5,10)\n");
    bench.run_until(500, |b| b.engine.mode() == Mode::Stopping);
    assert_eq!(bench.engine.latch(), Some(Reason::NotFollowing));
}

#[test]
fn local_control_in_mid_motion_ends_commanding() {
    let mut bench = Bench::moving(5, 15);
    bench.peer.local = true;
    bench.run_until(1_000, |b| b.engine.mode() == Mode::Stopping);
    assert_eq!(bench.engine.latch(), Some(Reason::NotFollowing));
    bench.run(1_000);
    assert_eq!(bench.peer.qd, [0.0; 6], "the arm stopped by itself when t had passed");
    assert_eq!(bench.engine.mode(), Mode::Monitor);
}

#[test]
fn a_refused_command_stops_the_arm_in_the_same_cycle() {
    let mut config = UrConfig::default();
    config.limits.position_max.0[0] = 0.3;
    let mut bench = Bench::moving_with(3, 15, config);
    bench.run_until(4_000, |b| b.engine.mode() == Mode::Stopping);
    assert_eq!(bench.engine.latch(), Some(Reason::PositionLimit));
    let fell = bench.transitions().last().unwrap().at;
    assert!(bench.sent_since(fell)[0].is_zero(), "zero velocity in the cycle of the refusal");
    bench.run(2_000);
    assert!(bench.peer.q[0] < 0.3, "{}", bench.peer.q[0]);
}

#[test]
fn a_motion_is_suspended_by_a_fault_and_goes_on_only_when_asked_to_resume() {
    let mut bench = Bench::moving(5, 15);
    bench.peer.safety = 3;
    bench.run(1_000);
    bench.peer.safety = 1;
    bench.run(1_000);
    let stopped_at = bench.peer.q[0];
    bench.input(Input::Acknowledge);
    bench.resume();
    bench.run_until(3_000, |b| b.engine.mode() == Mode::Command);
    bench.run(8_000);
    assert!(stopped_at < 0.5 && (bench.peer.q[0] - 1.0).abs() < 1e-3, "{stopped_at} then {}", bench.peer.q[0]);
}

#[test]
fn shutdown_brings_the_arm_to_rest_before_anything_is_closed() {
    let mut bench = Bench::moving(3, 1);
    bench.input(Input::Shutdown);
    assert!(!bench.engine.is_finished());
    bench.run_until(3_000, |b| b.engine.is_finished());
    assert_eq!(bench.peer.qd, [0.0; 6]);
    assert!(bench.sent.last().unwrap().is_stop());
    bench.request();
    assert_eq!(bench.engine.mode(), Mode::Offline);
}

#[test]
fn a_law_that_needs_no_sensor_is_not_asked_for_one_and_one_that_does_is_not_armed_without() {
    let mut bench = Bench::ready(5, 15);
    *bench.engine.law_mut() = {
        use crate::law::{JointServo, JointServoConfig, Reference, SensorFeedForward};
        use outrigger_wire::sensor::SourceId;
        let sensor = Some(SensorFeedForward { source: SourceId(1), gain: 1.0 });
        JointServo::new(Reference::Hold, JointServoConfig { sensor, ..JointServoConfig::default() })
    };
    bench.run(10);
    bench.request();
    assert_eq!(bench.events.last(), Some(&refused(Reason::SourceStale)));
}

#[test]
fn the_default_hold_is_longer_than_the_time_a_stall_needs_to_be_seen() {
    let config = UrConfig::default();
    let period = Duration::from_millis(8);
    assert!(config.link.stream(period).stale_after <= config.peer.text.hold);
}
