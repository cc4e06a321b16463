//! The negotiation from the connection to the first data.

use super::bench::{Bench, Seen};
use crate::client::rtde::{ClientConfig, Input, WriteError};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::{Level, Protocol, Reply, TextMessage, Value};
use outrigger_wire::time::Duration;

const INPUTS: &str = "input_int_register_24,input_double_register_24";

fn text(message: &[u8]) -> Reply<'_> {
    Reply::Text(TextMessage { level: Level::Error, message, source: None })
}

#[test]
fn everything_is_negotiated_one_question_after_the_other() {
    let mut bench = Bench::new("timestamp,actual_q", "", &[INPUTS, "speed_slider_mask"]);
    bench.open();
    assert_eq!(bench.letters(), "VvOIIS");
    assert_eq!(bench.service.asked[2].1, [&500.0_f64.to_be_bytes()[..], b"timestamp,actual_q"].concat());
    bench.cycle();
    let told = bench.others();
    let expected =
        ["Protocol(V2)", "Controller(", "Outputs", "Inputs { recipe: 0 }", "Inputs { recipe: 1 }", "Started"];
    assert_eq!(told.len(), expected.len(), "{told:?}");
    assert!(told.iter().zip(expected).all(|(told, expected)| told.starts_with(expected)), "{told:?}");
    assert_eq!(bench.client.inputs()[1].number(), Some(2));
    assert!(bench.client.is_flowing());
}

#[test]
fn a_service_that_knows_version_1_only_sends_data_without_a_number_at_its_own_rate() {
    let mut bench = Bench::new("timestamp,actual_q", "", &[INPUTS]);
    bench.service.highest_protocol = 1;
    bench.open();
    assert_eq!((bench.client.protocol(), bench.letters().as_str()), (Protocol::V1, "VvOIS"));
    assert_eq!(bench.service.asked[2].1, b"timestamp,actual_q", "no frequency");
    bench.events.clear();
    bench.cycle();
    let Some(Seen::Data { values, .. }) = bench.events.pop() else { panic!("{:?}", bench.events) };
    assert_eq!(values[1].1, Some(Value::Vector6d([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
    assert_eq!(bench.client.cadence().period, Duration::from_millis(2));
}

#[test]
fn a_frequency_beyond_the_controllers_is_asked_for_as_its_own() {
    let mut bench = Bench::new("timestamp", "", &[]);
    bench.service = crate::peer::rtde::Service::new(SoftwareVersion::new(3, 15));
    bench.open();
    assert_eq!(bench.service.asked[2].1, [&125.0_f64.to_be_bytes()[..], b"timestamp"].concat());
    assert_eq!(bench.client.cadence().period, Duration::from_millis(8));
}

#[test]
fn optional_outputs_that_the_controller_lacks_are_absent_and_not_zero() {
    let mut bench = Bench::new("timestamp,actual_q", "payload,robot_mode,control_step", &[]);
    bench.service.missing = vec!["payload", "control_step"];
    bench.open();
    assert_eq!(bench.letters(), "VvOOS");
    let told = bench.others();
    let absent: Vec<_> = told.iter().filter(|event| event.starts_with("Absent")).collect();
    assert!(absent[0].contains("payload") && absent[1].contains("control_step") && absent.len() == 2, "{told:?}");
    bench.cycle();
    let Some(Seen::Data { values, .. }) = bench.events.pop() else { panic!("{:?}", bench.events) };
    let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.is_some())).collect();
    let expected =
        [("timestamp", true), ("actual_q", true), ("payload", false), ("robot_mode", true), ("control_step", false)];
    assert_eq!(values, expected);
}

#[test]
fn a_needed_output_that_the_controller_lacks_is_named() {
    let mut bench = Bench::new("timestamp,safety_status", "payload", &[]);
    bench.service.missing = vec!["safety_status"];
    bench.open();
    let told = bench.others();
    let last = told.last().unwrap();
    assert_eq!(last, "Failed(Outputs(RecipeError { name: \"safety_status\", problem: NotFound }))");
    assert_eq!((bench.letters().as_str(), bench.client.poll_timeout()), ("VvO", None));
    bench.cycle();
    assert!(bench.events.is_empty(), "nothing more comes of it");
}

#[test]
fn a_controller_that_has_none_of_the_outputs_is_told() {
    let mut bench = Bench::new("", "payload", &[]);
    bench.service.missing = vec!["payload"];
    bench.open();
    assert_eq!(bench.others().last().unwrap(), "Failed(NoOutputs)");
}

#[test]
fn an_optional_output_of_a_type_nobody_knows_is_left_out() {
    let mut bench = Bench::new("timestamp", "robot_mode", &[]);
    bench.service.words = vec![("robot_mode", "QUATERNION")];
    bench.open();
    bench.cycle();
    assert!(bench.others().iter().any(|event| event.contains("robot_mode") && event.contains("OtherType")));
    assert!(bench.client.is_flowing());
    let mut bench = Bench::new("timestamp,robot_mode", "", &[]);
    bench.service.words = vec![("robot_mode", "QUATERNION")];
    bench.open();
    let told = bench.others();
    assert_eq!(told.last().unwrap(), "Failed(Outputs(RecipeError { name: \"robot_mode\", problem: OtherType }))");
}

#[test]
fn an_output_of_another_type_than_the_registrys_is_read_as_it_is_sent() {
    let mut bench = Bench::new("timestamp,robot_mode", "", &[]);
    bench.service.words = vec![("robot_mode", "DOUBLE")];
    bench.open();
    assert!(bench.others().iter().any(|event| event.starts_with("OtherType") && event.contains("answered: Double")));
    bench.cycle();
    let Some(Seen::Data { values, .. }) = bench.events.pop() else { panic!("{:?}", bench.events) };
    assert_eq!(values[1].1, Some(Value::Double(0.5)));
}

#[test]
fn inputs_in_use_are_asked_for_again_and_then_refused_while_outputs_go_on() {
    let mut bench = Bench::new("timestamp", "", &[INPUTS, "speed_slider_mask"]);
    bench.service.in_use = vec!["input_double_register_24"];
    bench.open();
    assert_eq!(bench.letters(), "VvOI");
    bench.wait(1_000);
    assert_eq!(bench.letters(), "VvOIII");
    bench.wait(1_500);
    assert_eq!(bench.letters(), "VvOIIIIIIS", "five times, then the next recipe, then the start");
    let told = bench.others();
    let in_use = told.iter().filter(|event| event.starts_with("InUse { recipe: 0, name: \"input_double_register_24\""));
    assert_eq!(in_use.count(), 4);
    let refused =
        "InputsRefused { recipe: 0, error: RecipeError { name: \"input_double_register_24\", problem: InUse } }";
    assert!(told.iter().any(|event| event == refused), "{told:?}");
    bench.cycle();
    assert!(matches!(bench.events.last(), Some(Seen::Data { .. })));
    assert_eq!(bench.client.write(0, &[Value::Int32(1), Value::Double(0.0)]), Err(WriteError::NotSetUp));
    assert_eq!(bench.client.write(1, &[Value::Uint32(1)]), Ok(()));
}

#[test]
fn inputs_that_come_free_are_taken() {
    let mut bench = Bench::new("timestamp", "", &[INPUTS]);
    bench.service.in_use = vec!["input_int_register_24"];
    bench.open();
    bench.wait(600);
    bench.service.in_use.clear();
    bench.wait(600);
    assert_eq!(bench.letters(), "VvOIIIS");
    assert_eq!(bench.client.inputs()[0].number(), Some(1));
}

#[test]
fn inputs_that_are_missing_numbered_zero_or_of_another_type_are_refused_at_once() {
    let refused = |change: fn(&mut Bench)| {
        let mut bench = Bench::new("timestamp", "", &[INPUTS]);
        change(&mut bench);
        bench.open();
        assert_eq!(bench.letters(), "VvOIS");
        bench.others().into_iter().find(|event| event.starts_with("InputsRefused")).unwrap()
    };
    assert!(refused(|b| b.service.missing = vec!["input_int_register_24"]).contains("NotFound"));
    assert!(refused(|b| b.service.numbers_nothing = true).contains("problem: Refused"));
    assert!(refused(|b| b.service.words = vec![("input_double_register_24", "INT32")]).contains("OtherType"));
}

#[test]
fn a_comma_behind_the_last_name_is_no_name() {
    let mut bench = Bench::new("timestamp,actual_q,", "robot_mode,", &["speed_slider_mask,"]);
    bench.open();
    assert!(bench.service.asked[2].1.ends_with(b"timestamp,actual_q,robot_mode"));
    assert_eq!(bench.service.asked[3].1, b"speed_slider_mask");
    bench.cycle();
    assert!(bench.client.is_flowing());
}

#[test]
fn a_start_that_is_refused_is_told() {
    let mut bench = Bench::new("timestamp", "", &[]);
    bench.service.silent_on = vec![b'S'];
    bench.open();
    bench.service.send(&Reply::Start { accepted: false });
    bench.exchange();
    assert_eq!(bench.others().last().unwrap(), "Failed(NotStarted)");
}

#[test]
fn data_may_come_before_the_answer_to_the_start_or_instead_of_it() {
    let mut bench = Bench::new("timestamp", "", &[]);
    bench.service.silent_on = vec![b'S'];
    bench.open();
    let data = Reply::Data { recipe: Some(crate::peer::rtde::OUTPUTS), values: &[0; 8] };
    bench.service.send(&data);
    bench.service.send(&Reply::Start { accepted: true });
    bench.exchange();
    assert!(matches!(&bench.events[3..], [Seen::Other(started), Seen::Data { .. }] if started == "Started"));
    bench.wait(1_500);
    assert!(bench.client.is_flowing());
    assert_eq!(bench.client.counts().unexpected, 0);
}

#[test]
fn texts_and_answers_of_others_between_a_question_and_its_answer_are_no_hindrance() {
    let mut bench = Bench::new("timestamp", "", &[]);
    bench.service.open();
    bench.handle(Input::Opened);
    bench.service.send(&text(b"hello"));
    bench.service.send(&Reply::Pause { accepted: true });
    bench.service.send(&Reply::Unknown { letter: b'?', payload: b"!" });
    bench.service.send(&Reply::Data { recipe: None, values: b"1234567" });
    bench.exchange();
    bench.cycle();
    let counts = *bench.client.counts();
    assert_eq!((counts.texts, counts.unexpected, counts.stream.unknown, counts.unknown_recipes), (1, 1, 1, 1));
    assert!(bench.client.is_flowing() && counts.data == 1);
}

#[test]
fn what_is_not_answered_is_asked_again_and_then_given_up() {
    for (silent, letters) in [(b'V', "VVV"), (b'v', "Vvvv"), (b'O', "VvO"), (b'I', "VvOI"), (b'S', "VvOISSS")] {
        let mut bench = Bench::new("timestamp", "", &[INPUTS]);
        bench.service.silent_on = vec![silent];
        bench.open();
        bench.wait(10_000);
        assert_eq!(bench.letters(), letters);
        assert!(bench.others().last().unwrap().starts_with("Failed(NoReply("));
    }
}

#[test]
fn a_controller_whose_safety_settings_are_not_confirmed_is_waited_for() {
    let unconfirmed = text(b"SafetySetup has not been confirmed yet");
    let config = ClientConfig { unconfirmed_timeout: Duration::from_secs(60), ..ClientConfig::default() };
    let mut bench = Bench::with(config, "timestamp", "", &[]);
    bench.service.silent_on = vec![b'V'];
    bench.open();
    bench.service.send(&unconfirmed);
    bench.exchange();
    bench.wait(50_000);
    assert_eq!(bench.others().iter().filter(|event| *event == "Unconfirmed").count(), 1);
    bench.service.silent_on.clear();
    bench.wait(1_000);
    bench.cycle();
    assert!(bench.client.is_flowing());

    let mut bench = Bench::with(config, "timestamp", "", &[]);
    bench.service.silent_on = vec![b'V'];
    bench.open();
    bench.service.send(&unconfirmed);
    bench.exchange();
    bench.wait(70_000);
    assert_eq!(bench.others().last().unwrap(), "Failed(Unconfirmed)");
}

#[test]
fn a_new_connection_negotiates_everything_anew() {
    let mut bench = Bench::new("timestamp", "payload", &[INPUTS]);
    bench.service.missing = vec!["payload"];
    bench.service.in_use = vec!["input_int_register_24"];
    bench.open();
    bench.wait(2_100);
    bench.cycle();
    assert!(bench.client.is_flowing() && bench.client.inputs()[0].number().is_none());
    bench.handle(Input::Closed);
    assert_eq!((bench.client.is_flowing(), bench.client.poll_timeout()), (false, None));
    // An update later.
    bench.service = crate::peer::rtde::Service::new(SoftwareVersion::new(5, 16));
    bench.events.clear();
    bench.open();
    bench.cycle();
    assert_eq!(bench.letters(), "VvOIS");
    assert_eq!(bench.client.counts().data, 1, "counts are of one connection");
    let Some(Seen::Data { values, .. }) = bench.events.pop() else { panic!("{:?}", bench.events) };
    assert_eq!(values[1], ("payload".to_owned(), Some(Value::Double(0.5))));
    assert_eq!(bench.client.inputs()[0].number(), Some(1));
}

#[test]
fn names_that_do_not_fit_are_told_before_they_are_sent() {
    let names = "actual_TCP_pose,".repeat(16).leak();
    let mut bench = Bench::new(names, "", &[]);
    bench.open();
    assert!(bench.others().last().unwrap().starts_with("Failed(Request("));
    assert_eq!(bench.letters(), "Vv");
}
