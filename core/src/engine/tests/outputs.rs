//! Outputs set by an engine: when the text for them is sent, and the events about them.

use super::bench::Bench;
use crate::command::outputs::{DigitalOutput, Write, WriteOutcome, WriteRefusal};
use crate::engine::ur::UrEvent;
use crate::engine::{Event, Input, LinkId};
use crate::mode::Mode;
use outrigger_wire::time::Duration;

const fn digital(index: u8, high: bool) -> Write {
    Write::Digital { output: DigitalOutput::Standard(index), high }
}

impl Bench {
    fn news(&self) -> Vec<(Write, WriteOutcome)> {
        let news = |event: &Event<UrEvent>| match event {
            Event::Output { write, news } => Some((*write, *news)),
            _ => None,
        };
        self.events.iter().filter_map(news).collect()
    }
}

#[test]
fn an_output_is_set_in_every_mode_with_a_session_and_refused_in_the_one_without() {
    let mut bench = Bench::new(5, 15, crate::engine::ur::UrConfig::default());
    bench.input(Input::Set(digital(1, true)));
    bench.input(Input::Start);
    bench.run(1);
    bench.input(Input::Set(digital(1, true)));
    let refused = (digital(1, true), WriteOutcome::Refused(WriteRefusal::NotConnected));
    assert_eq!(bench.news(), [refused, refused]);

    bench.run_until(10_000, |b| b.engine.unmet(b.now).is_empty());
    let mut high = false;
    let mut set_in = |bench: &mut Bench, mode| {
        high = !high;
        assert_eq!(bench.engine.mode(), mode);
        bench.input(Input::Set(digital(3, high)));
        bench.run(10);
        assert_eq!(bench.peer.digital_outputs, if high { 8 } else { 0 }, "in {mode:?}");
        assert!(
            matches!(bench.news().last(), Some((_, WriteOutcome::Confirmed(_)))),
            "in {mode:?}: {:?}",
            bench.news()
        );
        assert_eq!(bench.settings.last().unwrap().mode, mode);
    };
    set_in(&mut bench, Mode::Monitor);
    bench.request();
    bench.run(10);
    set_in(&mut bench, Mode::Arming);
    bench.run_until(12_000, |b| b.engine.mode() == Mode::Command);
    set_in(&mut bench, Mode::Command);
    bench.input(Input::Release);
    bench.run(10);
    set_in(&mut bench, Mode::Stopping);
}

#[test]
fn outputs_wait_for_a_fresh_state_and_are_refused_where_none_comes() {
    let mut bench = Bench::ready(5, 15);
    bench.stalled = true;
    bench.run(50);
    bench.input(Input::Set(digital(3, true)));
    bench.run(100);
    assert!(bench.settings.is_empty(), "the newest state is old");
    bench.stalled = false;
    bench.run(20);
    assert_eq!(bench.settings.len(), 1, "it waited");

    bench.stalled = true;
    bench.run(50);
    bench.input(Input::Set(digital(3, false)));
    bench.run(600);
    assert_eq!(bench.news().last(), Some(&(digital(3, false), WriteOutcome::Refused(WriteRefusal::LinkStale))));
    assert_eq!(bench.settings.len(), 1);
}

#[test]
fn outputs_wait_while_earlier_text_is_not_acknowledged() {
    let mut bench = Bench::ready(5, 15);
    let age = Duration::from_millis(5);
    bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 90, age });
    bench.input(Input::Set(digital(3, true)));
    bench.run(10);
    assert!(bench.settings.is_empty());
    bench.input(Input::Unacked { link: LinkId::REALTIME, bytes: 0, age: Duration::ZERO });
    bench.run(10);
    assert_eq!(bench.settings.len(), 1);
}

#[test]
fn what_this_software_does_not_have_is_refused_before_anything_is_sent() {
    let mut bench = Bench::ready(3, 15);
    bench.input(Input::Set(Write::ZeroForceTorqueSensor));
    bench.input(Input::Set(Write::SpeedSlider(1.5)));
    bench.input(Input::Set(Write::Payload { mass: f32::NAN, center_of_gravity: None }));
    bench.run(20);
    let impossible =
        |(_, news): &&(Write, WriteOutcome)| matches!(news, WriteOutcome::Refused(WriteRefusal::Impossible(_)));
    assert_eq!(bench.news().iter().filter(impossible).count(), 3, "{:?}", bench.news());
    assert!(bench.settings.is_empty());
}

#[test]
fn with_the_link_goes_what_was_on_its_way() {
    let mut bench = Bench::ready(5, 15);
    bench.mute = true;
    bench.input(Input::Set(digital(3, true)));
    bench.run(10);
    bench.close(LinkId::REALTIME);
    assert_eq!(bench.news().last(), Some(&(digital(3, true), WriteOutcome::Refused(WriteRefusal::NotConnected))));
}

#[cfg(feature = "record")]
#[test]
fn outputs_are_replayed_to_the_same_bytes_between_those_of_the_motion() {
    let mut bench = Bench::moving(5, 15);
    let mut high = false;
    for _ in 0..40 {
        high = !high;
        bench.input(Input::Set(digital(3, high)));
        bench.input(Input::Set(Write::Flag { index: 5, value: high }));
        bench.run(17);
    }
    let replayed = bench.replay().unwrap();
    assert_eq!(bench.settings.len(), 40);
    let dump = bench.dump();
    let recorded = dump.windows(12).filter(|window| window == b"outrigger_io").count();
    assert!(recorded > 5 && replayed.texts > 50, "{recorded} of outputs, {replayed:?}");
}
