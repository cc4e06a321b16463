//! Operator actions by the robot's digital inputs, by this device's pins, and by messages.

use super::bench::Bench;
use crate::engine::ur::{UrConfig, UrEvent};
use crate::engine::{Event, Input, LinkId};
use crate::mode::{Channel, Contact, Epoch, Lapse, Mode, OperatorConfig, Refusal, RequestAs};
use crate::robot::Reason;
use outrigger_wire::time::Duration;

const REQUEST: u64 = 1;
const ACKNOWLEDGE: u64 = 1 << 17;
const STOP: u64 = 1 << 2;

fn lines() -> OperatorConfig {
    OperatorConfig { request_input: Some(0), acknowledge_input: Some(17), ..OperatorConfig::default() }
}

fn with(operator: OperatorConfig) -> UrConfig {
    UrConfig { operator, ..UrConfig::default() }
}

fn ready(major: u8, minor: u8) -> Bench {
    Bench::ready_with(major, minor, with(lines()))
}

/// Returns a bench whose request input requests by a rising edge; its low level does not end commanding.
fn ready_by_edge() -> Bench {
    Bench::ready_with(5, 15, with(OperatorConfig { input_as: RequestAs::Edge, ..lines() }))
}

/// Returns a bench in motion, with the request input still high.
fn moving() -> Bench {
    let mut bench = ready(5, 15);
    press(&mut bench, REQUEST);
    bench.run_until(12_000, |b| b.engine.mode() == Mode::Command);
    bench.run(500);
    bench
}

fn press(bench: &mut Bench, levels: u64) {
    bench.peer.digital_inputs = levels;
    bench.run(100);
}

fn stale(bench: &mut Bench) {
    bench.stalled = true;
    bench.run(120);
    bench.stalled = false;
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Monitor);
    bench.run_until(5_000, |b| b.unmet() == [Reason::Latched]);
}

fn refused(bench: &Bench) -> Vec<Refusal> {
    let refusal = |event: &Event<UrEvent>| if let Event::Refused(refusal) = event { Some(*refusal) } else { None };
    bench.events.iter().filter_map(refusal).collect()
}

fn of_input(reason: Reason) -> Refusal {
    Refusal::of_request(Channel::Input, reason)
}

fn of_message(reason: Reason) -> Refusal {
    Refusal::of_request(Channel::Message, reason)
}

#[test]
fn a_held_input_arms_every_generation_by_its_rise_and_releases_by_its_fall() {
    for (major, minor) in [(1, 8), (3, 15), (5, 15)] {
        let mut bench = ready(major, minor);
        press(&mut bench, REQUEST);
        assert_eq!(bench.engine.mode(), Mode::Arming, "{major}.{minor}");
        press(&mut bench, 0);
        assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Monitor, None), "{major}.{minor}");
        assert_eq!(bench.transitions().last().and_then(|t| t.reason), Some(Reason::Released));
    }
}

#[test]
fn letting_go_of_a_held_input_stops_the_arm_within_two_states() {
    let mut bench = moving();
    bench.peer.digital_inputs = 0;
    let let_go = bench.now;
    bench.run_until(100, |b| b.engine.mode() == Mode::Stopping);
    assert!(bench.now.since(let_go) <= Duration::from_millis(6), "{:?}", bench.now.since(let_go));
    bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
    assert_eq!(bench.engine.latch(), None);
}

#[test]
fn one_low_state_is_a_spike() {
    let mut bench = moving();
    bench.peer.digital_inputs = 0;
    bench.run(2);
    bench.peer.digital_inputs = REQUEST;
    bench.run(500);
    assert_eq!((bench.engine.mode(), refused(&bench)), (Mode::Command, vec![]));
}

#[test]
fn an_edge_arms_and_letting_go_takes_nothing_back() {
    let mut bench = ready_by_edge();
    press(&mut bench, REQUEST);
    press(&mut bench, 0);
    bench.run_until(12_000, |b| b.engine.mode() == Mode::Command);
    bench.input(Input::Release);
    bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
}

#[test]
fn while_a_held_line_is_low_nobodys_request_is_granted() {
    let mut bench = ready(5, 15);
    assert_eq!(bench.unmet(), [Reason::LineLow]);
    bench.request();
    assert_eq!((bench.engine.mode(), refused(&bench)), (Mode::Monitor, vec![of_message(Reason::LineLow)]));
    // Another channel may request while it is high.
    press(&mut bench, REQUEST);
    bench.input(Input::Release);
    bench.request();
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn an_input_that_is_nobodys_asks_for_nothing() {
    let mut bench = ready(5, 15);
    press(&mut bench, !(REQUEST | ACKNOWLEDGE));
    assert_eq!((bench.engine.mode(), bench.transitions().len()), (Mode::Monitor, 1));
    let mut without = Bench::ready(5, 15);
    press(&mut without, u64::MAX);
    assert_eq!(without.engine.mode(), Mode::Monitor);
}

#[test]
fn high_at_boot_and_at_every_connection_is_no_request() {
    let mut bench = Bench::new(5, 15, with(lines()));
    bench.peer.digital_inputs = REQUEST;
    bench.input(Input::Start);
    bench.run_until(10_000, |b| b.engine.mode() == Mode::Monitor && b.unmet().is_empty());
    bench.run(1_000);
    press(&mut bench, 0);
    bench.close(LinkId::REALTIME);
    bench.peer.digital_inputs = REQUEST;
    bench.run_until(10_000, |b| b.engine.mode() == Mode::Monitor && b.unmet().is_empty());
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    press(&mut bench, 0);
    press(&mut bench, REQUEST);
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn high_across_a_fallback_is_no_request_and_an_acknowledgement_is_none_either() {
    for release in [false, true] {
        let mut bench = moving();
        if release {
            bench.input(Input::Release);
            bench.run_until(5_000, |b| b.engine.mode() == Mode::Monitor);
            bench.run(1_000);
        } else {
            stale(&mut bench);
        }
        let fallen = bench.transitions().len();
        press(&mut bench, REQUEST | ACKNOWLEDGE);
        assert_eq!(bench.engine.latch(), None);
        bench.run(1_000);
        assert_eq!(
            (bench.engine.mode(), bench.transitions().len()),
            (Mode::Monitor, fallen),
            "nothing resumes by itself"
        );
        press(&mut bench, 0);
        press(&mut bench, REQUEST);
        assert_eq!(bench.engine.mode(), Mode::Arming);
    }
}

#[test]
fn a_request_before_the_acknowledgement_is_refused_and_spent() {
    let mut bench = moving();
    stale(&mut bench);
    press(&mut bench, 0);
    press(&mut bench, REQUEST);
    assert_eq!(refused(&bench), [of_input(Reason::Latched)]);
    press(&mut bench, REQUEST | ACKNOWLEDGE);
    bench.run(1_000);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Monitor, None));
}

#[test]
fn both_inputs_rising_in_one_state_acknowledge_only_and_the_line_is_told_to_be_held() {
    let mut bench = moving();
    stale(&mut bench);
    press(&mut bench, 0);
    press(&mut bench, REQUEST | ACKNOWLEDGE);
    bench.run(1_000);
    assert_eq!((bench.engine.mode(), bench.engine.latch()), (Mode::Monitor, None));
    assert_eq!(refused(&bench), [of_input(Reason::LineHeld)]);
}

#[test]
fn after_a_release_by_the_line_a_chattering_contact_asks_for_nothing() {
    let mut bench = moving();
    press(&mut bench, 0);
    bench.run_until(800, |b| b.engine.mode() == Mode::Monitor);
    // Low for long enough, but too soon after it was released.
    bench.run(60);
    press(&mut bench, REQUEST);
    assert_eq!((bench.engine.mode(), refused(&bench)), (Mode::Monitor, vec![of_input(Reason::LineHeld)]));
    press(&mut bench, 0);
    bench.run(1_000);
    press(&mut bench, REQUEST);
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn what_rises_while_states_do_not_arrive_is_no_request() {
    let mut bench = ready(5, 15);
    bench.stalled = true;
    bench.run(100);
    bench.peer.digital_inputs = REQUEST;
    bench.run(100);
    bench.stalled = false;
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
    assert_eq!(refused(&bench), [], "it was no request, so none was refused");
}

#[test]
fn an_open_stop_input_stops_and_refuses() {
    let mut bench = Bench::new(5, 15, with(OperatorConfig { stop_input: Some(2), ..OperatorConfig::default() }));
    bench.peer.digital_inputs = STOP;
    let mut bench = bench.started();
    bench.request();
    bench.run_until(12_000, |b| b.engine.mode() == Mode::Command);
    bench.run(500);
    press(&mut bench, 0);
    assert_eq!(bench.engine.mode(), Mode::Stopping);
    bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
    bench.request();
    assert_eq!(refused(&bench), [of_message(Reason::StopOpen)]);
    press(&mut bench, STOP);
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor, "closing it asks for nothing");
}

#[test]
fn a_pin_requests_releases_and_stops_as_an_input_does() {
    let pins = OperatorConfig { request_pin: true, stop_pin: true, acknowledge_pin: true, ..OperatorConfig::default() };
    let mut bench = Bench::new(5, 15, with(pins));
    bench.input(Input::Start);
    bench.run_until(10_000, |b| {
        b.engine.mode() == Mode::Monitor && b.engine.mode_machine().unmet(b.engine.evidence(), b.now).is_empty()
    });
    assert_eq!(bench.unmet(), [Reason::StopOpen, Reason::LineLow], "no pin was seen yet");
    let set = |bench: &mut Bench, contact, high| {
        bench.input(Input::Pin(contact, high));
        bench.run(100);
    };
    set(&mut bench, Contact::Request, true);
    set(&mut bench, Contact::Stop, true);
    bench.run(1_000);
    assert_eq!(bench.engine.mode(), Mode::Monitor, "high at boot");
    for (contact, closed_again) in [(Contact::Request, false), (Contact::Stop, true)] {
        set(&mut bench, Contact::Request, false);
        bench.run(1_000);
        set(&mut bench, Contact::Request, true);
        bench.run_until(12_000, |b| b.engine.mode() == Mode::Command);
        bench.run(500);
        bench.input(Input::Pin(contact, false));
        assert_eq!(bench.engine.mode(), Mode::Stopping, "{contact:?}");
        bench.run_until(2_000, |b| b.engine.mode() == Mode::Monitor);
        if closed_again {
            set(&mut bench, contact, true);
        }
        bench.run(1_000);
        assert_eq!(bench.engine.mode(), Mode::Monitor, "{contact:?}");
    }
    set(&mut bench, Contact::Acknowledge, false);
    set(&mut bench, Contact::Acknowledge, true);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
}

#[test]
fn a_request_that_saw_another_epoch_is_refused_whoever_sends_it() {
    let mut bench = Bench::moving(5, 15);
    let seen = bench.engine.mode_machine().epoch();
    bench.stalled = true;
    bench.run(120);
    bench.stalled = false;
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Monitor);
    bench.input(Input::Acknowledge);
    bench.run_until(5_000, |b| b.unmet().is_empty());
    for input in [Input::Request(seen), Input::Resume(seen), Input::Request(Epoch::from_number(u32::MAX))] {
        bench.input(input);
        bench.run(100);
        assert_eq!(refused(&bench).last(), Some(&of_message(Reason::WrongEpoch)), "{input:?}");
        assert_eq!(bench.engine.mode(), Mode::Monitor, "{input:?}");
    }
    bench.request();
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

fn by_itself() -> UrConfig {
    with(OperatorConfig { start_within: Some(Duration::from_secs(60)), ..OperatorConfig::default() })
}

#[test]
fn the_automatic_request_is_asked_once_and_never_after_a_word_of_an_operator() {
    let release: fn(&mut Bench) = |b| b.input(Input::Release);
    let request: fn(&mut Bench) = |b| b.input(Input::Request(Epoch::from_number(77)));
    let acknowledge: fn(&mut Bench) = |b| b.input(Input::Acknowledge);
    let fault: fn(&mut Bench) = |b| {
        b.stalled = true;
        b.run(120);
        b.stalled = false;
    };
    let all = [
        vec![release, acknowledge],
        vec![request, release, request, acknowledge],
        vec![fault, acknowledge],
        vec![fault, request, acknowledge, acknowledge],
        vec![release, fault, acknowledge],
    ];
    for (number, words) in all.into_iter().enumerate() {
        let mut bench = Bench::new(5, 15, by_itself());
        bench.input(Input::Start);
        bench.run_until(20_000, |b| b.engine.mode() == Mode::Command);
        bench.run(500);
        for word in words {
            word(&mut bench);
            bench.run(2_000);
        }
        bench.run(70_000);
        assert_eq!(bench.engine.mode(), Mode::Monitor, "words {number}");
        assert_eq!(bench.transitions().iter().filter(|t| t.to == Mode::Arming).count(), 1, "words {number}");
    }
}

#[test]
fn an_operator_who_speaks_first_is_the_only_one_to_ask() {
    for word in [Input::Request(Epoch::from_number(9)), Input::Release, Input::Acknowledge] {
        let mut bench = Bench::new(5, 15, by_itself());
        bench.input(Input::Start);
        bench.input(word);
        bench.run(30_000);
        assert_eq!((bench.engine.mode(), bench.transitions().len()), (Mode::Monitor, 1), "{word:?}");
    }
}

#[test]
fn the_automatic_request_lapses_after_its_time_and_says_so() {
    let mut bench = Bench::new(5, 15, by_itself());
    bench.peer.foreign = true;
    bench.input(Input::Start);
    bench.run(61_000);
    bench.peer.foreign = false;
    bench.run(10_000);
    assert_eq!((bench.engine.mode(), bench.unmet()), (Mode::Monitor, vec![]));
    assert!(bench.events.contains(&Event::Lapsed(Lapse::TooLate)));
    bench.request();
    assert_eq!(bench.engine.mode(), Mode::Arming);
}

#[test]
fn the_automatic_request_lapses_beside_a_controller_that_never_answers() {
    let mut bench = Bench::new(5, 15, by_itself());
    bench.silent = (0..=u16::MAX).collect();
    bench.input(Input::Start);
    bench.run(59_000);
    assert!(!bench.events.contains(&Event::Lapsed(Lapse::TooLate)));
    bench.run(2_000);
    assert_eq!((bench.engine.mode(), bench.events.contains(&Event::Lapsed(Lapse::TooLate))), (Mode::Offline, true));
}

#[cfg(feature = "record")]
#[test]
fn the_inputs_are_replayed() {
    let mut bench = moving();
    stale(&mut bench);
    press(&mut bench, ACKNOWLEDGE);
    press(&mut bench, REQUEST);
    let replayed = bench.replay().expect("the same run");
    assert!(replayed.to.since(replayed.from) > Duration::from_millis(200));
    assert_eq!(bench.engine.mode(), Mode::Arming);
}
