//! Data, pauses, inputs, texts, and unexpected packages.

use super::bench::{Bench, RECEIVE, Seen};
use crate::client::Output;
use crate::client::rtde::{ClientConfig, Input, WriteError};
use crate::link::Sequence;
use crate::peer::rtde::{OUTPUTS, Service};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::{Level, Reply, TextMessage, Value};
use outrigger_wire::rtde_recipe;
use outrigger_wire::time::Duration;

fn flowing(outputs: &'static str) -> Bench {
    let mut bench = Bench::new(outputs, "", &["input_int_register_24,speed_slider_fraction"]);
    bench.open();
    bench.cycle();
    bench.events.clear();
    bench
}

#[test]
fn missing_packages_are_counted_by_the_controllers_clock() {
    for outputs in ["timestamp", "control_step", "timestamp,control_step"] {
        let mut bench = flowing(outputs);
        bench.cycle();
        bench.micros += 6_000;
        bench.step += 3;
        bench.now = bench.now + Duration::from_millis(6);
        bench.cycle();
        bench.cycle();
        bench.publish();
        bench.exchange();
        let expected = [Sequence::InOrder, Sequence::Lost(3), Sequence::InOrder, Sequence::Duplicate].map(Some);
        assert_eq!(bench.sequences(), expected, "{outputs}");
        let cadence = *bench.client.cadence();
        assert_eq!((cadence.missing, cadence.longest_gap, cadence.repeated, cadence.late), (3, 3, 1, 0));
    }
}

#[test]
fn packages_of_a_divided_rate_are_in_order() {
    let config = ClientConfig { frequency: 100, ..ClientConfig::default() };
    let mut bench = Bench::with(config, "timestamp,control_step", "", &[]);
    bench.open();
    for _ in 0..4 {
        (bench.micros, bench.step) = (bench.micros + 8_000, bench.step + 4);
        bench.now = bench.now + Duration::from_millis(8);
        bench.cycle();
    }
    assert_eq!(bench.client.cadence().period, Duration::from_millis(10));
    assert_eq!(bench.sequences()[1..], [Some(Sequence::InOrder); 3]);
}

#[test]
fn a_recipe_without_a_clock_counts_nothing() {
    let mut bench = flowing("actual_q");
    (0..3).for_each(|_| bench.cycle());
    assert_eq!(bench.sequences(), [None; 3]);
    assert_eq!(bench.client.counts().data, 4);
}

#[test]
fn a_package_that_took_more_than_a_period_longer_is_late() {
    let mut bench = flowing("timestamp");
    bench.now = bench.now + Duration::from_millis(1);
    bench.cycle();
    bench.now = bench.now + Duration::from_millis(5);
    bench.cycle();
    let late = |seen: &Seen| matches!(seen, Seen::Data { late: true, .. });
    assert_eq!(bench.events.iter().map(late).collect::<Vec<_>>(), [false, true]);
    assert_eq!((bench.client.cadence().late, bench.client.cadence().missing), (1, 0));
}

#[test]
fn a_clock_that_begins_anew_or_jumps_is_a_new_epoch_and_no_gap() {
    let mut bench = flowing("timestamp,control_step");
    (bench.micros, bench.step) = (0, 0);
    bench.cycle();
    bench.cycle();
    bench.micros += 60_000_000;
    bench.cycle();
    let expected = [Sequence::NewEpoch, Sequence::InOrder, Sequence::NewEpoch].map(Some);
    assert_eq!(bench.sequences(), expected);
    assert_eq!((bench.client.cadence().restarts, bench.client.cadence().missing), (2, 0));
}

#[test]
fn a_pause_lets_what_is_under_way_through_and_is_no_gap() {
    let mut bench = flowing("timestamp");
    bench.handle(Input::Pause);
    bench.publish();
    bench.exchange();
    bench.micros += 400_000;
    bench.wait(400);
    assert!(matches!(&bench.events[..], [Seen::Data { .. }, Seen::Other(paused)] if paused == "Paused"));
    assert_eq!(bench.client.write(0, &[Value::Int32(1), Value::Double(1.0)]), Err(WriteError::NotStarted));
    assert_eq!(bench.client.poll_timeout(), None, "a pause lasts as long as it lasts");
    bench.events.clear();
    bench.handle(Input::Start);
    bench.exchange();
    bench.cycle();
    assert_eq!(bench.sequences(), [Some(Sequence::First)]);
}

#[test]
fn data_that_stops_flowing_is_told() {
    let mut bench = flowing("timestamp");
    bench.wait(1_990);
    assert!(bench.events.is_empty());
    bench.wait(20);
    assert_eq!(bench.others(), ["Failed(Silent)"]);
}

#[test]
fn inputs_are_written_as_one_whole_package() {
    let mut bench = flowing("timestamp");
    assert_eq!(bench.client.write(0, &[Value::Int32(-2), Value::Double(0.5)]), Ok(()));
    bench.exchange();
    let whole = [&[1][..], &(-2_i32).to_be_bytes(), &0.5_f64.to_be_bytes()].concat();
    assert_eq!(bench.service.asked.last(), Some(&(b'U', whole)));

    let asked = bench.service.asked.len();
    for wrong in [&[Value::Int32(1)][..], &[Value::Double(1.0), Value::Double(1.0)], &[Value::Int32(1); 3]] {
        assert!(matches!(bench.client.write(0, wrong), Err(WriteError::Values(_))), "{wrong:?}");
    }
    assert_eq!(bench.client.write(1, &[]), Err(WriteError::NotSetUp));
    bench.exchange();
    assert_eq!(bench.service.asked.len(), asked, "nothing is written of what is refused");
}

#[test]
fn inputs_known_when_compiling_are_written_by_their_names() {
    rtde_recipe! { struct Slider, view SliderView: inputs { input_int_register_24, speed_slider_fraction } }
    let mut bench = flowing("timestamp");
    let slider = Slider { input_int_register_24: 3, speed_slider_fraction: 0.25 };
    assert_eq!(bench.client.write_with(0, |number, out| slider.emit(number, out)), Ok(()));
    bench.exchange();
    let (_, payload) = bench.service.asked.last().unwrap();
    assert_eq!(SliderView::new(&payload[1..]).unwrap().to_values(), slider);
}

#[test]
fn what_finds_no_room_is_not_written_in_part() {
    let mut bench = flowing("timestamp");
    let mut written = 0;
    while bench.client.write(0, &[Value::Int32(written), Value::Double(0.0)]).is_ok() {
        written += 1;
    }
    let Some(Output::Transmit(bytes)) = bench.client.poll_output() else { panic!("nothing to write") };
    let bytes = bytes.to_vec();
    assert_eq!(bytes.len(), usize::try_from(written).unwrap() * 16);
    assert_eq!(bench.client.write(0, &[Value::Int32(0), Value::Double(0.0)]), Ok(()));
}

#[test]
fn texts_go_both_ways() {
    let mut bench = flowing("timestamp");
    bench.client.say(Level::Info, "hello", "Outrigger").unwrap();
    bench.exchange();
    assert_eq!(bench.service.asked.last(), Some(&(b'M', b"\x05hello\x09Outrigger\x03".to_vec())));
    bench.client.say(Level::Info, &"x".repeat(400), "").unwrap_err();
    let text = TextMessage { level: Level::Warning, message: b"too hot", source: Some(b"RTDE") };
    bench.service.send(&Reply::Text(text));
    bench.exchange();
    assert!(bench.others().last().unwrap().starts_with("Text(TextMessage { level: Warning"));
}

#[test]
fn nothing_is_said_without_a_connection_nor_told_of_one_that_has_failed() {
    let mut bench = flowing("timestamp");
    bench.handle(Input::Closed);
    assert_eq!(bench.client.say(Level::Info, "hello", ""), Err(WriteError::NotConnected));
    assert_eq!(bench.client.poll_output(), None);
    assert_eq!(bench.client.poll_timeout(), None);

    let mut bench = flowing("timestamp");
    bench.others();
    // Not a valid length of a package; more bytes arrive before the connection is closed.
    bench.service.out.extend([0, 1]);
    bench.exchange();
    assert!(matches!(&bench.others()[..], [failed] if failed.starts_with("Failed(LostSync")));
    let text = TextMessage { level: Level::Warning, message: &[b'x'; 90], source: Some(b"RTDE") };
    for _ in 0..20 {
        bench.service.out.extend([0, 1]);
        bench.service.send(&Reply::Text(text));
        bench.exchange();
    }
    assert_eq!(bench.events, []);
    assert_eq!(bench.client.say(Level::Info, "hello", ""), Err(WriteError::NotConnected));
}

#[test]
fn data_of_unknown_recipes_and_of_another_length_is_counted_and_left_alone() {
    let mut bench = flowing("timestamp");
    for recipe in [0, 1, 6, 8, 255] {
        bench.service.send(&Reply::Data { recipe: Some(recipe), values: &[0; 8] });
    }
    for length in [0, 7, 9, 900] {
        bench.service.send(&Reply::Data { recipe: Some(OUTPUTS), values: &vec![0; length] });
    }
    bench.exchange();
    let counts = *bench.client.counts();
    assert_eq!((counts.unknown_recipes, counts.stream.malformed, counts.data), (5, 4, 1));
    assert!(bench.others().contains(&"UnknownRecipe(Some(255))".to_owned()));
    bench.cycle();
    assert_eq!(bench.client.counts().data, 2, "the stream goes on");
}

#[test]
fn packages_longer_than_the_memory_are_skipped() {
    let mut bench = flowing("timestamp");
    let huge = [&[0xff, 0xff, b'M'][..], &vec![b'x'; 65_532]].concat();
    bench.service.out.extend(&huge);
    bench.exchange();
    bench.cycle();
    assert_eq!((bench.client.counts().stream.oversize, bench.client.dropped_bytes()), (1, 65_535));
    assert_eq!(bench.client.counts().data, 2);
    assert!(huge.len() > RECEIVE);
}

#[test]
fn a_length_below_the_header_ends_the_connection() {
    for length in 0..3 {
        let mut bench = flowing("timestamp");
        bench.service.out.extend([0, length, b'U', 0, 0]);
        bench.exchange();
        let told = bench.others();
        assert!(told.len() == 1 && told[0].starts_with("Failed(LostSync("), "{told:?}");
    }
}

#[test]
fn a_controller_of_125_hz_has_a_period_of_8_ms() {
    let mut bench = Bench::new("timestamp", "", &[]);
    bench.service = Service::new(SoftwareVersion::new(3, 4));
    bench.open();
    bench.cycle();
    bench.micros += 6_000;
    bench.cycle();
    assert_eq!(bench.sequences(), [Some(Sequence::First), Some(Sequence::InOrder)]);
}
