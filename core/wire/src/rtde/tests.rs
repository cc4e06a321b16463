//! Tests of the bytes of every package, of both kinds of recipes, and of the registry.

use super::registry::{Direction, Since, exists};
use super::*;
use crate::robot::SoftwareVersion;
use crate::rtde_recipe;

rtde_recipe! {
    struct State, view StateView: outputs {
        timestamp,
        actual_q,
        actual_TCP_pose,
        robot_mode,
        joint_mode,
        actual_digital_input_bits,
        safety_status_bits,
        output_bit_register_64,
        tool_output_mode,
        elbow_position,
    }
}

rtde_recipe! {
    struct Outputs, view OutputsView: inputs { standard_digital_output_mask, standard_digital_output, input_int_register_24 }
}

fn request(bytes: &[u8], protocol: Protocol) -> Request<'_> {
    Request::parse(&Package::new_checked(bytes).unwrap(), protocol).unwrap()
}

fn reply(bytes: &[u8], protocol: Protocol) -> Reply<'_> {
    Reply::parse(&Package::new_checked(bytes).unwrap(), protocol).unwrap()
}

fn emitted(emit: impl Fn(&mut [u8]) -> Result<usize, WireError>) -> Vec<u8> {
    let mut room = [0xa5; 600];
    let size = emit(&mut room).unwrap();
    assert!(room[size..].iter().all(|byte| *byte == 0xa5), "nothing is written behind the package");
    // One byte less is too few, and the error states the necessary number.
    let error = emit(&mut vec![0; size - 1]).unwrap_err();
    assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BufferTooSmall, size as u16, size as u16 - 1));
    room[..size].to_vec()
}

#[test]
fn every_request_has_the_bytes_of_the_specification() {
    let names = NameList(b"timestamp,actual_q");
    let text = TextMessage { level: Level::Warning, message: b"hot", source: Some(b"me") };
    let cases: [(Request<'_>, Protocol, &[u8]); 10] = [
        (Request::ProtocolVersion(2), Protocol::V1, b"\0\x05V\0\x02"),
        (Request::ControllerVersion, Protocol::V1, b"\0\x03v"),
        (Request::SetupOutputs { frequency: None, names }, Protocol::V1, b"\0\x15Otimestamp,actual_q"),
        (
            Request::SetupOutputs { frequency: Some(125.0), names },
            Protocol::V2,
            b"\0\x1dO\x40\x5f\x40\0\0\0\0\0timestamp,actual_q",
        ),
        (Request::SetupInputs { names: NameList(b"speed_slider_mask") }, Protocol::V2, b"\0\x14Ispeed_slider_mask"),
        (Request::Start, Protocol::V2, b"\0\x03S"),
        (Request::Pause, Protocol::V2, b"\0\x03P"),
        (Request::Data { recipe: 7, values: b"\x01\x02" }, Protocol::V2, b"\0\x06U\x07\x01\x02"),
        (Request::Text(text), Protocol::V1, b"\0\x0bM\x03hot\x02me\x02"),
        (Request::Unknown { letter: b'?', payload: b"!" }, Protocol::V2, b"\0\x04?!"),
    ];
    for (value, protocol, bytes) in cases {
        assert_eq!(emitted(|out| value.emit(out)), bytes, "{value:?}");
        assert_eq!(request(bytes, protocol), value);
    }
}

#[test]
fn every_reply_has_the_bytes_of_the_specification() {
    let version = ControllerVersion { major: 5, minor: 15, bugfix: 2, build: 261 };
    let types = TypeList(b"DOUBLE,NOT_FOUND");
    let short = TextMessage { level: Level::Error, message: b"no", source: None };
    let long = TextMessage { source: Some(b"Controller"), ..short };
    let cases: [(Reply<'_>, Protocol, &[u8]); 12] = [
        (Reply::ProtocolVersion { accepted: true }, Protocol::V1, b"\0\x04V\x01"),
        (Reply::ControllerVersion(version), Protocol::V2, b"\0\x13v\0\0\0\x05\0\0\0\x0f\0\0\0\x02\0\0\x01\x05"),
        (Reply::Text(short), Protocol::V1, b"\0\x06M\x01no"),
        (Reply::Text(long), Protocol::V2, b"\0\x12M\x02no\x0aController\x01"),
        (Reply::Outputs { recipe: None, types }, Protocol::V1, b"\0\x13ODOUBLE,NOT_FOUND"),
        (Reply::Outputs { recipe: Some(1), types }, Protocol::V2, b"\0\x14O\x01DOUBLE,NOT_FOUND"),
        (Reply::Inputs { recipe: 0, types: TypeList(b"IN_USE") }, Protocol::V1, b"\0\x0aI\0IN_USE"),
        (Reply::Start { accepted: true }, Protocol::V2, b"\0\x04S\x01"),
        (Reply::Pause { accepted: false }, Protocol::V2, b"\0\x04P\0"),
        (Reply::Data { recipe: None, values: &[9, 8] }, Protocol::V1, b"\0\x05U\x09\x08"),
        (Reply::Data { recipe: Some(9), values: &[8] }, Protocol::V2, b"\0\x05U\x09\x08"),
        (Reply::Unknown { letter: 0, payload: &[] }, Protocol::V1, b"\0\x03\0"),
    ];
    for (value, protocol, bytes) in cases {
        assert_eq!(emitted(|out| value.emit(out)), bytes, "{value:?}");
        assert_eq!(reply(bytes, protocol), value);
    }
    assert_eq!(version.software(), SoftwareVersion { major: 5, minor: 15, bugfix: 2 });
    assert_eq!(ControllerVersion { major: 300, ..version }.software().major, 255);
}

#[test]
fn a_package_has_the_length_it_says() {
    let kind = |bytes: &[u8]| Package::new_checked(bytes).unwrap_err().kind;
    assert_eq!(kind(b""), WireErrorKind::Truncated);
    assert_eq!(kind(b"\0\x04"), WireErrorKind::Truncated);
    assert_eq!(kind(b"\0\x04V"), WireErrorKind::Truncated);
    assert_eq!(kind(b"\0\x04V\x01\x01"), WireErrorKind::BadLength);
    for size in 0..3 {
        assert_eq!(kind(&[0, size, b'V']), WireErrorKind::BadLength);
    }
    assert_eq!(Package::new_checked(b"\xff\xffV").unwrap_err().need, 65_535);
}

#[test]
fn a_payload_too_short_for_its_letter_is_refused_and_a_longer_one_taken() {
    for letter in [b'V', b'v', b'S', b'P', b'M', b'I', b'O', b'U'] {
        let bytes = [0, 3, letter];
        let package = Package::new_checked(&bytes).unwrap();
        let error = Reply::parse(&package, Protocol::V2).unwrap_err();
        assert_eq!((error.kind, error.at), (WireErrorKind::Truncated, 3), "{}", char::from(letter));
    }
    assert_eq!(reply(b"\0\x06S\x01ab", Protocol::V2), Reply::Start { accepted: true });
    let cut = Package::new_checked(b"\0\x07M\x09abc").unwrap();
    assert_eq!(Reply::parse(&cut, Protocol::V2).unwrap_err().need, 9);
}

#[test]
fn packages_that_no_length_can_say_are_not_written() {
    let long = vec![b'x'; 65_533];
    let mut room = vec![0; 70_000];
    let emitted = Request::SetupInputs { names: NameList(&long) }.emit(&mut room);
    assert_eq!(emitted.unwrap_err().kind, WireErrorKind::BadLength);
    let fits = Request::SetupInputs { names: NameList(&long[..65_532]) }.emit(&mut room);
    assert_eq!(fits, Ok(MAX_SIZE));
    let text = TextMessage { level: Level::Info, message: &long[..256], source: Some(b"") };
    assert_eq!(Request::Text(text).emit(&mut room).unwrap_err().kind, WireErrorKind::BadLength);
    let text = TextMessage { source: None, message: b"", ..text };
    assert!(Request::Text(text).emit(&mut room).is_err(), "a client has no short form");
}

#[test]
fn a_comma_after_the_last_item_adds_none() {
    let names = |list: &'static str| NameList(list.as_bytes()).iter().collect::<Vec<_>>();
    assert_eq!(names("a,b"), [b"a", b"b"]);
    assert_eq!(names("a,b,"), [b"a", b"b"]);
    assert_eq!(names("a,,b"), [&b"a"[..], b"", b"b"]);
    assert!(names("").is_empty());
    for list in ["", "a", "a,b", "a,b,", "a,,b", ",a", ",", "a,,"] {
        assert_eq!(super::names(list).map(str::as_bytes).collect::<Vec<_>>(), names(list), "{list}");
    }
    let words: Vec<_> = TypeList(b"BOOL,NOT_FOUND,IN_USE,FLOAT,").iter().collect();
    assert_eq!(words, [TypeWord::Type(DataType::Bool), TypeWord::NotFound, TypeWord::InUse, TypeWord::Other(b"FLOAT")]);
}

#[test]
fn one_list_of_names_gives_request_types_size_view_and_values() {
    assert_eq!(Outputs::NAMES, "standard_digital_output_mask,standard_digital_output,input_int_register_24");
    assert_eq!(Outputs::TYPES, [DataType::Uint8, DataType::Uint8, DataType::Int32]);
    assert_eq!((Outputs::SIZE, Outputs::PACKAGE, Outputs::DIRECTION), (6, 10, Direction::Input));
    assert_eq!(State::SIZE, 8 + 48 + 48 + 4 + 24 + 8 + 4 + 1 + 1 + 24);
    let state = State {
        timestamp: 12.5,
        actual_q: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        actual_TCP_pose: [1.0; 6],
        robot_mode: -1,
        joint_mode: [253; 6],
        actual_digital_input_bits: 1 << 40,
        safety_status_bits: 1,
        output_bit_register_64: true,
        tool_output_mode: 9,
        elbow_position: [f64::MIN, f64::MAX, -0.0],
    };
    let bytes = emitted(|out| state.emit(3, out));
    let Reply::Data { recipe: Some(3), values } = reply(&bytes, Protocol::V2) else { panic!("{bytes:?}") };
    let view = StateView::new(values).unwrap();
    assert_eq!(view.to_values(), state);
    assert_eq!((view.robot_mode(), view.tool_output_mode()), (-1, 9));

    assert_eq!(StateView::new(&values[1..]).unwrap_err().kind, WireErrorKind::Truncated);
    assert_eq!(StateView::new(&[0; State::SIZE + 1]).unwrap_err().kind, WireErrorKind::BadLength);
}

#[test]
fn an_answer_that_is_not_the_recipes_names_the_variable() {
    let check = |words: &'static str| Outputs::check(TypeList(words.as_bytes())).map_err(|e| (e.name, e.problem));
    assert_eq!(check("UINT8,UINT8,INT32"), Ok(()));
    assert_eq!(check("UINT8,UINT8,INT32,"), Ok(()));
    assert_eq!(check("UINT8,UINT8,IN_USE"), Err(("input_int_register_24", Problem::InUse)));
    assert_eq!(check("UINT8,NOT_FOUND,INT32"), Err(("standard_digital_output", Problem::NotFound)));
    assert_eq!(check("UINT8,UINT8,UINT32"), Err(("input_int_register_24", Problem::OtherType)));
    assert_eq!(check("UINT8"), Err(("standard_digital_output", Problem::Unanswered)));
    assert_eq!(check("UINT8,UINT8,INT32,INT32"), Err(("", Problem::Surplus)));
    let error = Outputs::check(TypeList(b"IN_USE")).unwrap_err();
    assert_eq!(error.to_string(), "standard_digital_output_mask: in use by another RTDE client or a fieldbus");
}

#[test]
fn a_variable_that_is_not_found_is_left_out_of_the_next_request() {
    let mut memory = [Field::EMPTY; 4];
    let names = "timestamp,payload_inertia,from_the_future,robot_mode,";
    let mut recipe = DynamicRecipe::new(names, Direction::Output, &mut memory).unwrap();
    assert_eq!(recipe.size(), None, "nobody knows one of the types");
    let asked = emitted(|out| recipe.emit_request(Some(500.0), out));
    let Request::SetupOutputs { frequency: Some(500.0), names: sent } = request(&asked, Protocol::V2) else { panic!() };
    assert_eq!(sent, NameList(names.trim_end_matches(',').as_bytes()));

    recipe.answered(TypeList(b"DOUBLE,NOT_FOUND,UINT8,INT32")).unwrap();
    assert_eq!(recipe.problem(), Some(RecipeError { name: "payload_inertia", problem: Problem::NotFound }));
    let again = emitted(|out| recipe.emit_request(None, out));
    assert_eq!(again[3..], *b"timestamp,from_the_future,robot_mode");
    recipe.answered(TypeList(b"DOUBLE,UINT8,INT32")).unwrap();
    assert_eq!(recipe.size(), Some(13));

    let values = [Value::Double(1.5), Value::Uint8(4), Value::Int32(7)];
    let bytes = emitted(|out| recipe.emit_data(1, &values, out));
    let data = recipe.read(&bytes[4..]).unwrap();
    assert_eq!(data.get("robot_mode"), Some(Value::Int32(7)));
    assert_eq!(data.get("payload_inertia"), None);
    assert_eq!(data.iter().count(), 4);
    assert_eq!(recipe.read(&bytes[3..]).unwrap_err().kind, WireErrorKind::BadLength);
    assert_eq!(recipe.read(&bytes[5..]).unwrap_err().kind, WireErrorKind::Truncated);
    let mut room = [0; 64];
    assert_eq!(recipe.emit_data(1, &values[..2], &mut room).unwrap_err().kind, WireErrorKind::BadType);
    assert_eq!(recipe.emit_data(1, &[values[1]; 3], &mut room).unwrap_err().kind, WireErrorKind::BadType);
}

#[test]
fn an_answer_of_another_length_changes_nothing() {
    let mut memory = [Field::EMPTY; 2];
    let mut recipe = DynamicRecipe::new("timestamp,actual_q", Direction::Output, &mut memory).unwrap();
    assert_eq!(recipe.answered(TypeList(b"NOT_FOUND")).unwrap_err().problem, Problem::Unanswered);
    assert_eq!(recipe.answered(TypeList(b"NOT_FOUND,BOOL,BOOL")).unwrap_err().problem, Problem::Surplus);
    assert_eq!(recipe.size(), Some(56));
    let error = DynamicRecipe::new("a,b,c", Direction::Output, &mut [Field::EMPTY; 2]).unwrap_err();
    assert_eq!((error.name, error.problem), ("c", Problem::NoRoom));
}

#[test]
fn types_beside_the_names_are_those_of_the_registry() {
    const TYPES: [DataType; 3] = types_of("timestamp,actual_q,runtime_state", Direction::Output);
    let (mut one, mut other) = ([Field::EMPTY; 4], [Field::EMPTY; 4]);
    let looked_up = DynamicRecipe::with_optional("timestamp,actual_q", "runtime_state,x", Direction::Output, &mut one);
    let given =
        DynamicRecipe::with_types("timestamp,actual_q", "runtime_state,x", &TYPES, Direction::Output, &mut other);
    let (looked_up, mut given) = (looked_up.unwrap(), given.unwrap());
    assert_eq!(given.fields(), looked_up.fields());
    given.answered(TypeList(b"DOUBLE,BOOL,NOT_FOUND,NOT_FOUND")).unwrap();
    given.forget();
    assert_eq!(given.fields(), looked_up.fields());
}

#[test]
fn registers_are_found_by_number_and_nothing_beside_them() {
    let found = |name| Variable::named(name, Direction::Input).map(Variable::data_type);
    assert_eq!(found("input_int_register_0"), Some(DataType::Int32));
    assert_eq!(found("input_int_register_47"), Some(DataType::Int32));
    assert_eq!(found("input_double_register_24"), Some(DataType::Double));
    assert_eq!(found("input_bit_register_64"), Some(DataType::Bool));
    assert_eq!(found("input_bit_register_127"), Some(DataType::Bool));
    assert_eq!(found("input_bit_registers0_to_31"), Some(DataType::Uint32));
    for name in [
        "",
        "input_int_register_",
        "input_int_register_48",
        "input_int_register_007",
        "input_int_register_7 ",
        "input_int_register_300",
        "input_bit_register_63",
        "input_bit_register_128",
        "timestamp",
        "output_int_register_0",
    ] {
        assert_eq!(found(name), None, "{name}");
    }
    assert!(Variable::named("input_int_register_24", Direction::Output).is_some(), "inputs can be read back");
    let register = Variable::named("input_int_register_24", Direction::Input).unwrap();
    assert_eq!((register.to_string().as_str(), register.register()), ("input_int_register_24", Some(24)));
}

#[test]
fn every_variable_is_found_under_its_own_name() {
    for direction in [Direction::Input, Direction::Output] {
        let mut names = std::collections::BTreeSet::new();
        for variable in Variable::all(direction) {
            let name = variable.to_string();
            assert_eq!(Variable::named(&name, direction), Some(variable), "{name}");
            assert!(names.insert(name));
        }
    }
    assert_eq!(Variable::all(Direction::Input).count(), 13 + 2 + 64 + 48 + 48);
}

#[test]
fn software_before_a_variable_does_not_have_it_and_the_unconfirmed_is_said_to_be() {
    let in_software = |name, major, minor| {
        Variable::named(name, Direction::Output).unwrap().since().reached(SoftwareVersion::new(major, minor))
    };
    assert!(!exists(SoftwareVersion::new(1, 8)) && !exists(SoftwareVersion::new(3, 3)));
    assert_eq!(in_software("timestamp", 3, 3), Some(false));
    assert_eq!(in_software("timestamp", 3, 4), Some(true));
    assert_eq!(in_software("safety_status", 3, 9), Some(false));
    assert_eq!(in_software("safety_status", 3, 10), Some(true));
    assert_eq!(in_software("safety_status", 5, 3), Some(false));
    assert_eq!(in_software("ft_raw_wrench", 3, 15), Some(false));
    assert_eq!(in_software("ft_raw_wrench", 5, 9), Some(true));
    assert_eq!(in_software("actual_robot_energy_consumed", 10, 10), Some(false));
    assert_eq!(in_software("output_int_register_24", 3, 8), Some(false));
    assert_eq!(in_software("control_step", 5, 15), None);
    assert_eq!(in_software("control_step", 1, 8), Some(false));
    let ratio = Variable::named("collision_detection_ratio", Direction::Output).unwrap().since();
    assert_eq!(ratio, Since::Unconfirmed { reported: Some(SoftwareVersion::new(5, 15)) });
}
