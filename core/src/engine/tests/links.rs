//! The effect of links on a session: pieces, stalls, backlogs, silence, loss.

use super::bench::{Bench, Sent};
use crate::engine::ur::{DownCause, UrConfig, UrEvent};
use crate::engine::{Event, Input, LinkId};
use crate::link::Grade;
use crate::mode::{Channel, Mode, Refusal};
use crate::robot::Reason;
use outrigger_wire::primary;
use outrigger_wire::robot::MessageSource;
use outrigger_wire::time::Duration;

#[test]
fn pieces_of_any_size_give_the_same_texts() {
    let run = |most| {
        let mut bench = Bench::new(5, 15, Default::default());
        bench.read_most = most;
        bench.input(Input::Start);
        bench.run(2_000);
        bench.request();
        bench.run(3_000);
        let texts: Vec<_> = bench.sent.iter().map(|sent| (sent.at, sent.text.clone())).collect();
        (texts, bench.transitions())
    };
    let whole = run(usize::MAX);
    assert!(whole.0.len() > 1_000);
    for most in [1, 7, 333, 1219] {
        assert_eq!(run(most), whole, "pieces of {most}");
    }
}

#[test]
fn a_silent_network_stops_the_arm_before_its_states_come_back() {
    for (major, minor) in [(1, 8), (3, 1), (3, 15), (5, 15)] {
        let mut bench = Bench::moving(major, minor);
        bench.stalled = true;
        let stalled = bench.now;
        bench.run_until(100, |b| b.engine.mode() == Mode::Stopping);
        let detection = bench.now.since(stalled);
        assert!(detection <= Duration::from_millis(40 + 9), "{detection:?} on {major}.{minor}");
        assert_eq!(bench.engine.latch(), Some(Reason::StateStale));
        assert!(bench.sent_since(bench.now)[0].is_zero(), "zero velocity at once");
        bench.run(200);
        let sent = bench.sent_since(stalled + Duration::from_millis(1));
        assert!(sent.last().unwrap().is_stop(), "the stop is written although nothing is heard");
        assert_eq!(bench.peer.qd, [0.0; 6]);
    }
}

#[test]
fn a_request_on_states_that_have_gone_stale_is_refused_at_once() {
    for (major, minor) in [(1, 8), (3, 1), (3, 15), (5, 15)] {
        for entry in [Grade::Bad, Grade::Ok, Grade::Perfect] {
            let mut config = UrConfig::default();
            config.link.entry = Some(entry);
            let mut bench = Bench::ready_with(major, minor, config);
            assert_eq!(bench.unmet(), []);
            bench.stalled = true;
            bench.run(49);
            assert_eq!(bench.unmet(), [Reason::GradeLow], "{major}.{minor}, entry by {entry:?}");
            let before = bench.sent.len();
            bench.request();
            bench.run(100);
            assert!(bench.transitions().iter().all(|t| t.to != Mode::Arming), "{major}.{minor}");
            assert_eq!(bench.sent.len(), before, "and nothing is sent");
            bench.stalled = false;
            bench.run(3_000);
            assert_eq!(bench.unmet(), [], "{major}.{minor}: once they come again");
        }
    }
}

#[test]
fn a_backlog_is_answered_once_and_without_motion_while_it_is_old() {
    let mut bench = Bench::moving(5, 15);
    bench.stalled = true;
    bench.run(30);
    let before = bench.sent.len();
    assert_eq!(bench.engine.mode(), Mode::Command);
    bench.stalled = false;
    bench.deliver();
    assert_eq!(bench.sent.len(), before + 1, "fifteen states, one answer");
    bench.run(100);
    assert_eq!(bench.engine.mode(), Mode::Command, "a gap shorter than the limit is no fault");
}

#[test]
fn this_device_standing_still_is_named_before_the_bytes_that_waited() {
    let mut bench = Bench::moving(5, 15);
    bench.sleep_through(300);
    bench.deliver();
    let transition = *bench.transitions().last().unwrap();
    assert_eq!((transition.to, transition.reason), (Mode::Stopping, Some(Reason::LocalStall)));
    let stall = bench.events.iter().position(|e| matches!(e, Event::LocalStall { .. })).unwrap();
    let grade = bench.events.iter().rposition(|e| matches!(e, Event::Grade(_))).unwrap();
    assert!(stall < grade, "the stall explains the grade");
}

#[test]
fn unacknowledged_text_ends_commanding_and_then_the_connection() {
    let mut bench = Bench::moving(3, 15);
    let unacked = |bench: &mut Bench, millis| {
        let age = Duration::from_millis(millis);
        bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 90, age });
    };
    unacked(&mut bench, 5);
    assert_eq!(bench.engine.mode(), Mode::Command);
    unacked(&mut bench, 41);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Stopping, Some(Reason::Unacknowledged)));
    assert!(bench.sent.last().unwrap().is_zero());
    bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 0, age: Duration::ZERO });
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor, "acknowledged in time: the connection is kept");

    let mut bench = Bench::moving(3, 15);
    unacked(&mut bench, 501);
    assert!(!bench.open[LinkId::REALTIME.index()], "queued text is dropped with the connection");
    let down = |e: &Event<UrEvent>| matches!(e, Event::Peer(UrEvent::Down { cause: DownCause::Unacknowledged, .. }));
    assert!(bench.events.iter().any(down));
    assert_eq!(bench.engine.mode(), Mode::Offline);
    assert!(bench.engine.mode_machine().is_motion_unknown());
}

#[test]
fn motion_that_waits_in_the_network_is_dropped_once_its_time_is_over() {
    let waits = |bench: &mut Bench, millis| {
        let age = Duration::from_millis(millis);
        bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 90, age });
    };
    let is_open = |bench: &Bench| bench.open[LinkId::REALTIME.index()];
    // Written before commanding ended; `hold` is 40 ms.
    let mut bench = Bench::moving(5, 15);
    waits(&mut bench, 3);
    let released = bench.now;
    bench.input(Input::Release);
    bench.run(36);
    assert!(is_open(&bench), "the stop has its chance to arrive behind it");
    assert!(bench.sent_since(released).iter().filter(|sent| sent.is_zero()).count() >= 3);
    bench.run(4);
    assert!(!is_open(&bench), "it would move an arm that rests");
    assert_eq!(bench.engine.mode(), Mode::Offline);

    // The texts of the stop itself request no motion.
    let mut bench = Bench::moving(5, 15);
    bench.input(Input::Release);
    bench.run(4);
    waits(&mut bench, 1);
    bench.run(100);
    assert!(is_open(&bench));
}

#[test]
fn no_motion_is_queued_behind_text_that_does_not_get_through() {
    let mut bench = Bench::moving(5, 15);
    let before = bench.sent.len();
    for _ in 0..8 {
        bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 90, age: Duration::from_millis(6) });
        bench.run(2);
    }
    assert_eq!((bench.engine.mode(), bench.sent.len()), (Mode::Command, before));
    bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 0, age: Duration::ZERO });
    bench.run(100);
    assert_eq!(bench.engine.mode(), Mode::Command);
    assert!(bench.sent.len() >= before + 48);
}

#[test]
fn an_old_report_of_unacknowledged_bytes_ages_by_itself() {
    let mut bench = Bench::moving(3, 15);
    bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 90, age: Duration::from_millis(10) });
    bench.run(29);
    assert_eq!(bench.engine.mode(), Mode::Command);
    bench.run(3);
    assert_eq!(bench.engine.mode(), Mode::Stopping);
}

#[test]
fn a_closed_link_in_mid_motion_leaves_the_motion_unknown_until_rest_is_measured() {
    let mut bench = Bench::moving(3, 1);
    assert!(bench.engine.grade() >= Grade::Ok);
    bench.close(LinkId::REALTIME);
    assert_eq!(bench.engine.mode(), Mode::Offline);
    assert_eq!(bench.engine.grade(), Grade::Unacceptable, "that of the session before is none");
    assert_eq!(bench.engine.latch(), Some(Reason::LinkClosed));
    bench.input(Input::Acknowledge);
    assert_eq!(
        bench.events.last(),
        Some(&Event::Refused(Refusal::of_acknowledge(Channel::Message, Reason::MotionUnknown)))
    );
    bench.run(1_500);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    assert!(!bench.engine.mode_machine().is_motion_unknown(), "the program ended in rest by itself");
    bench.input(Input::Acknowledge);
    assert_eq!(bench.engine.latch(), None);
}

#[test]
fn losing_the_primary_link_ends_commanding_when_its_evidence_is_old() {
    let mut bench = Bench::moving(5, 15);
    bench.refused = vec![30_001, 30_002];
    bench.close(LinkId::PRIMARY);
    bench.run(200);
    assert_eq!(bench.engine.mode(), Mode::Command);
    bench.run_until(600, |b| b.engine.mode() == Mode::Stopping);
    assert_eq!(bench.engine.latch(), Some(Reason::EvidenceMissing));
    bench.run(1_000);
    assert!(bench.open[LinkId::REALTIME.index()], "the session goes on without");
    assert_eq!(bench.engine.mode(), Mode::Monitor);
}

#[test]
fn a_primary_link_that_comes_back_in_time_is_not_even_noticed() {
    let mut bench = Bench::moving(5, 15);
    bench.close(LinkId::PRIMARY);
    bench.run(2_000);
    assert_eq!(bench.engine.mode(), Mode::Command);
    assert!(bench.engine.peer().is_up(LinkId::PRIMARY));
}

#[test]
fn a_silent_real_time_link_is_given_up_and_opened_again() {
    let mut bench = Bench::ready(5, 15);
    bench.stalled = true;
    bench.run(2_100);
    assert_eq!(bench.engine.mode(), Mode::Offline);
    bench.stalled = false;
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    assert_eq!(bench.asked, [30_001, 30_003, 30_001, 30_003]);
}

#[test]
fn garbage_on_a_link_is_counted_and_the_stream_found_again() {
    let mut bench = Bench::ready(3, 15);
    let before = bench.engine.peer().counts(LinkId::REALTIME).messages;
    bench.bytes(LinkId::REALTIME, &[0x5a; 3_000]);
    bench.run(500);
    let counts = *bench.engine.peer().counts(LinkId::REALTIME);
    assert!(counts.lost_sync >= 1 && counts.messages > before + 40, "{counts:?}");
    assert_eq!(bench.engine.mode(), Mode::Monitor);
}

#[test]
fn a_controller_clock_that_jumps_ends_commanding() {
    let mut bench = Bench::moving(5, 15);
    bench.peer.micros += 60_000_000;
    bench.run(4);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Stopping, Some(Reason::ClockJump)));
    assert!(bench.events.contains(&Event::ClockJump(1)));
    assert!(bench.sent.iter().rev().take(2).any(Sent::is_zero));
}

#[test]
fn the_timeout_is_in_the_past_while_anything_is_queued() {
    let mut bench = Bench::ready(5, 15);
    bench.engine.handle(bench.now, Input::Request(bench.engine.mode_machine().epoch()));
    assert!(bench.engine.poll_timeout().is_some_and(|at| at <= bench.now));
    while bench.engine.poll_event().is_some() {}
    assert!(bench.engine.poll_timeout().is_some_and(|at| at > bench.now));
}

#[test]
fn a_controller_that_says_it_is_in_local_control_is_believed_and_left_by_reconnecting() {
    let mut bench = Bench::moving(5, 15);
    bench.bytes(LinkId::PRIMARY, &refusal());
    bench.mute = true;
    bench.run(1_000);
    assert!(bench.engine.mode_machine().reasons().contains(Reason::NotFollowing));
    assert!(bench.unmet().contains(&Reason::NotRemote), "a later message does not take it back");
    let connections = bench.asked.len();
    bench.mute = false;
    bench.input(Input::Acknowledge);
    bench.run(2_000);
    assert_eq!(bench.asked[connections..], [30_001, 30_003]);
    assert_eq!(bench.unmet(), []);
}

#[test]
fn text_of_somebody_else_that_is_refused_does_not_end_commanding() {
    let mut bench = Bench::moving(5, 15);
    for _ in 0..5 {
        bench.bytes(LinkId::PRIMARY, &refusal());
        bench.run(700);
        assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Command, None));
    }
    // It is no reason against starting either, if we had sent nothing.
    bench.input(Input::Release);
    bench.run(3_000);
    bench.bytes(LinkId::PRIMARY, &refusal());
    bench.run(100);
    assert_eq!(bench.unmet(), []);
}

/// Returns error code 210: text is not taken in local control.
fn refusal() -> Vec<u8> {
    let error = primary::ErrorCode {
        code: 210,
        argument: 0,
        detail: primary::ErrorDetail::Report { report_level: 2, data_type: 0, data: 0, text: primary::Text(b"") },
    };
    let payload = primary::RobotMessagePayload::ErrorCode(error);
    let mut message = [0; 64];
    let size = primary::RobotMessage::emit(0, MessageSource::Controller, &payload, &mut message).unwrap();
    message[..size].to_vec()
}
